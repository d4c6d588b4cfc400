"""The action that compares the kernels of a pull request: its steps are run, on a fork."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_watching import FAKE_JIT, KERNEL

from tt_layout.dumps.cache import kernels_in_report
from tt_layout.errors import LayoutError

CI = Path(__file__).parents[2] / "examples" / "ci"
TESTS = """\
import triton.runtime.jit as jit

class Tensor:
    def data_ptr(self):
        return 512

def copy(x, s): ...
def scale(x, s): ...

def test_copy():
    jit.JITFunction(copy).run(Tensor(), 1, grid=(65536,), warmup=False)

def test_scale():
    jit.JITFunction(scale).run(Tensor(), 1, grid=(65536,), warmup=False)
"""
EXPRESSION = re.compile(r"\$\{\{ *([\w.]+) *\}\}")


class Actions:
    """A small runner of workflows: each ``run:`` is run, with its variables.

    Attributes:
        repository: in which they run.
        artefacts: name -> the folder that was kept.
    """

    def __init__(self, repository: Path, base: Path, **known: str) -> None:
        self.repository, self._base, self._known = repository, base, known
        self.artefacts: dict[str, Path] = {}
        commands = base / "bin"
        commands.mkdir()
        for name, text in (
            ("tt-layout", f'exec "{sys.executable}" -m tt_layout "$@"'),
            ("python", f'exec "{sys.executable}" "$@"'),
            ("pip", ":"),
            ("gh", f'echo "$@" >> "{base}/said"; [ "$1" != api ] || cat "{base}/head"'),
        ):
            (commands / name).write_text(f"#!/bin/sh\n{text}\n")
            (commands / name).chmod(0o755)
        left_out = ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST")
        self._environment = {k: v for k, v in os.environ.items() if k not in left_out} | {
            "PATH": os.pathsep.join([str(commands), os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join([".", str(CI.parent.parent), *sys.path[1:]]),
            "GITHUB_STEP_SUMMARY": str(base / "summary.md"),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_PLUGINS": "tt_layout.pytest_plugin",
        }

    def workflow(self, name: str) -> Iterator[subprocess.CompletedProcess[str]]:
        """Run the steps of the jobs of a workflow."""
        read = yaml.safe_load((self.repository / ".github" / "workflows" / name).read_text())
        for job in read["jobs"].values():
            yield from self._steps(job["steps"], {})

    def _steps(
        self, steps: list[dict[str, Any]], inputs: dict[str, str]
    ) -> Iterator[subprocess.CompletedProcess[str]]:
        for step in steps:
            given = {key: self._value(text, inputs) for key, text in step.get("with", {}).items()}
            used = step.get("uses", "")
            if used.startswith("./"):
                action = yaml.safe_load((self.repository / used / "action.yml").read_text())
                defaults = {name: one["default"] for name, one in action["inputs"].items()}
                usual = {name: self._value(text, {}) for name, text in defaults.items()}
                yield from self._steps(action["runs"]["steps"], usual | given)
            elif "upload-artifact" in used:
                kept = self._base / "kept" / given["name"]
                shutil.copytree(self.repository / given["path"], kept)
                self.artefacts[given["name"]] = kept
            elif "download-artifact" in used:
                place = self.repository / given["path"]
                shutil.rmtree(place, ignore_errors=True)
                shutil.copytree(self.artefacts[given["name"]], place)
            elif "run" in step:
                yield self._run(step, inputs)

    def _run(
        self, step: dict[str, Any], inputs: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        assert "${{" not in step["run"]  # what is given goes by variables: it is no script
        own = {key: self._value(text, inputs) for key, text in step.get("env", {}).items()}
        return subprocess.run(
            ["bash", "-e", "-c", step["run"]],
            cwd=self.repository,
            env=self._environment | own,
            capture_output=True,
            text=True,
        )

    def _value(self, text: Any, inputs: dict[str, str]) -> str:
        known = self._known | {f"inputs.{key}": value for key, value in inputs.items()}
        return EXPRESSION.sub(lambda match: known[match[1]], str(text))


def git(folder: Path, *words: str) -> str:
    """Run git in a folder; return what it prints."""
    who = "-c", "user.name=a", "-c", "user.email=a@b.c"
    return subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def fork(tmp_path: Path) -> Path:
    """Return a clone of a repository with two kernels, one of which a commit made worse."""
    origin = tmp_path / "origin"
    runtime = origin / "triton" / "runtime"
    runtime.mkdir(parents=True)
    for folder in (origin / "triton", runtime):
        (folder / "__init__.py").touch()
    (origin / "triton" / "knobs.py").write_text("class compilation: listener = None\n")
    texts = FAKE_JIT.replace("TEXT}", "TEXTS[self.fn.__name__]}").replace(
        '"hash": "12", "name": "copy"', '"hash": self.fn.__name__, "name": self.fn.__name__'
    )
    body = texts[: texts.index('TEXT = """')]
    (runtime / "jit.py").write_text(f"{body}\nfrom kernels import TEXTS\n")
    kernels = {name: KERNEL.replace("@strided", f"@{name}") for name in ("copy", "scale")}
    (origin / "kernels.py").write_text(f"TEXTS = {kernels!r}\n")
    (origin / "test_kernels.py").write_text(TESTS)
    shutil.copytree(CI / ".github", origin / ".github")
    git(origin, "init", "-q", "-b", "main")
    git(origin, "add", "-A")
    git(origin, "commit", "-q", "-m", "main")
    git(tmp_path, "clone", "-q", str(origin), "fork")
    far = "%t = arith.constant dense<64> : tensor<1024xi32, #blocked>"
    kernels["scale"] = re.sub(r"%t = tt\.splat .*", far, kernels["scale"])
    (tmp_path / "fork" / "kernels.py").write_text(f"TEXTS = {kernels!r}\n")
    git(tmp_path / "fork", "commit", "-q", "-a", "-m", "worse")
    return tmp_path / "fork"


@pytest.mark.slow
def test_a_pull_request_of_a_fork_gets_a_comment_on_what_became_slower(
    fork: Path, tmp_path: Path
) -> None:
    """Four processes of Python are started: the tests twice, as the action does it."""
    head, base = git(fork, "rev-parse", "HEAD"), git(fork, "rev-parse", "HEAD~1")
    actions = Actions(
        fork,
        tmp_path,
        **{
            "github.event.pull_request.base.sha": base,
            "github.event.pull_request.number": "7",
            "github.event.workflow_run.id": "1",
            "github.event.workflow_run.head_sha": head,
            "github.token": "t",
            "github.repository": "a/b",
        },
    )
    for result in actions.workflow("before-and-after.yml"):
        assert result.returncode == 0, result.args[-1] + result.stdout + result.stderr
    kept = actions.artefacts["kernels"]
    comment = (kept / "comment.md").read_text()
    assert comment.startswith("**Kernels**: 2 kernels: 1 more expensive, 0 new, 0 changed, ")
    [row] = [line for line in comment.splitlines() if "`@" in line]
    assert row.startswith("| more expensive | `@scale")
    assert re.search(r"estimated time in us [\d.]+ -> [\d.]+", row), row
    assert json.loads((kept / "after.json").read_text())["kernels"][0]["name"] == "scale"
    (tmp_path / "head").write_text(f"{head}\n")
    for result in actions.workflow("comment.yml"):
        assert result.returncode == 0, result.stdout + result.stderr
    said = (tmp_path / "said").read_text().splitlines()
    assert said[-1].startswith("pr comment 7 --repo a/b --edit-last --create-if-none")
    assert (fork / "comment.md").read_text() == comment
    # The artefact is text of somebody else: neither its number nor its commit is believed.
    (tmp_path / "head").write_text("0\n")
    [result] = actions.workflow("comment.yml")
    assert (result.returncode, "at another commit" in result.stdout) == (1, True)
    (kept / "number").write_text("7; echo\n")
    [result] = actions.workflow("comment.yml")
    assert (result.returncode, "names no pull request" in result.stdout) == (1, True)
    assert (tmp_path / "said").read_text().count("pr comment") == 1


@pytest.mark.parametrize("status", [0, 1, 2, 137])
def test_a_comparison_that_fails_ends_the_action(status: int, tmp_path: Path) -> None:
    """A kernel that became slower is commented on; one that cannot be compared is no good news."""
    action = yaml.safe_load((CI / ".github/actions/before-and-after/action.yml").read_text())
    [step] = [one for one in action["runs"]["steps"] if one.get("name") == "Compare the kernels"]
    (tmp_path / "kernels").mkdir()
    command = tmp_path / "tt-layout"
    command.write_text(f"#!/bin/sh\necho said\nexit {status}\n")
    command.chmod(0o755)
    own = {"NUMBER": "7", "TOLERANCE": "10", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    result = subprocess.run(
        ["bash", "-e", "-c", step["run"]], cwd=tmp_path, env={**os.environ, **own, "PATH": path}
    )
    assert (result.returncode == 0) is (status <= 1)
    assert (tmp_path / "kernels" / "number").exists() is (status <= 1)
    if status <= 1:
        assert (tmp_path / "summary").read_text() == "said\n"


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"kernels": 1}', '{"kernels": [{"audit": {}}]}', "[" * 100_000]
)
def test_a_file_that_is_no_report_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "k.json").write_text(text)
    with pytest.raises(LayoutError, match="expected the JSON of watched kernels"):
        kernels_in_report(str(tmp_path / "k.json"))


def test_kernels_without_an_audit_are_named(tmp_path: Path) -> None:
    path = tmp_path / "k.json"
    kernel = {"name": "copy", "audit": None, "reason": "found no MLIR in it"}
    path.write_text(json.dumps({"kernels": [kernel], "failure": "ImportError: x"}))
    report = kernels_in_report(str(path))
    assert (report.kernels, report.unread) == (
        (),
        (
            (f"@copy of {path}", "found no MLIR in it"),
            (str(path), "not all was seen: ImportError: x"),
        ),
    )
