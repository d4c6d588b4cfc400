"""``tt-layout check`` of several manifests: folders, patterns, names, errors, what git changed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from command import BLOCKED, TYPE, Outcome, Run, runner

from tt_layout.errors import MAX_ERRORS

CASES = "cases:\n- {{name: {name}, file: kernel.mlir, alias: kept, type: '{type}'}}\n"


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def manifest(path: str, name: str = "tile", include: str = "") -> None:
    """Write a manifest of one case, and the file that it names."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    text = f"include: {include}\n" if include else ""
    Path(path).write_text(text + CASES.format(name=name, type=TYPE))
    (Path(path).parent / "kernel.mlir").write_text(f"#kept = {BLOCKED}\n")


@pytest.fixture
def folder(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the current folder one of three manifests, each of a case of the same name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    for path in ("all/layouts.yaml", "all/attention/layouts.yaml", "all/b/rows.layouts.yaml"):
        manifest(path)
    assert run("check", "all", "--update") == Outcome(0, "3 written\n", "")
    return tmp_path


def spoil(path: str) -> None:
    Path(path).write_text(Path(path).read_text().replace("[1, 2]", "[2, 1]"))


def test_a_folder_has_the_manifests_below_it(folder: Path, run: Run) -> None:
    assert run("check", "all") == Outcome(0, "3 passed\n", "")
    spoil("all/attention/kernel.mlir")
    result = run("check", "all")
    assert result.status == 1
    assert "changed: attention/tile.tensor (all/attention/layouts.yaml:2)" in result.out
    assert "accept with: tt-layout check all --only attention/tile.tensor --update" in result.out
    assert run("check", "all", "--only", "attention/tile.tensor", "--update").status == 0
    assert run("check", "all") == Outcome(0, "3 passed\n", "")


def test_several_manifests_are_named_from_here(folder: Path, run: Run) -> None:
    paths = "all/attention/layouts.yaml", "all/b"
    assert run("check", *paths) == Outcome(0, "2 passed\n", "")
    listed = run("check", *paths, "--list").out.splitlines()
    assert [line.partition("  ")[0] for line in listed] == [
        "all/attention/tile.tensor",
        "all/b/tile.tensor",
    ]
    assert run("check", *paths, paths[0], "--list").out.splitlines() == listed


def test_a_manifest_that_is_included_is_read_once(folder: Path, run: Run) -> None:
    Path("all/b/layouts.yaml").write_text("include: [rows.layouts.yaml]")
    assert run("check", "all") == Outcome(0, "3 passed\n", "")
    manifest("all/layouts.yaml", include="['**/*layouts.yaml']")
    assert run("check", "all") == Outcome(0, "3 passed\n", "")
    assert run("check", "all/layouts.yaml") == Outcome(0, "3 passed\n", "")


def test_a_pattern_includes_what_it_matches(folder: Path, run: Run) -> None:
    manifest("all/layouts.yaml", include="['*/layouts.yaml']")
    assert run("check", "all/layouts.yaml") == Outcome(0, "2 passed\n", "")
    manifest("all/layouts.yaml", include="['*/x.yaml']")
    result = run("check", "all/layouts.yaml")
    assert result.status == 2
    assert "all/layouts.yaml:1:11: error: no file matches '*/x.yaml'" in result.err


def test_names_are_those_of_a_folder(folder: Path, run: Run) -> None:
    manifest("all/other.layouts.yaml")
    result = run("check", "all")
    assert result.status == 2
    assert "the name 'tile' is used twice; first at all/layouts.yaml:2" in result.err


def test_what_differs_is_kept_in_folders_of_their_own(folder: Path, run: Run) -> None:
    spoil("all/attention/kernel.mlir")
    spoil("all/b/kernel.mlir")
    assert run("check", "all", "--keep-actual", "new").status == 1
    kept = sorted(str(path.relative_to("new")) for path in Path("new").rglob("*.txt"))
    assert kept == ["attention/tile.tensor.txt", "b/tile.tensor.txt"]
    facts = (json.loads(path.read_text()) for path in Path("all").rglob("*.facts.json"))
    assert [list(entries) for entries in facts] == [["tile.tensor"]] * 3


def test_errors_are_capped_and_counted(folder: Path, run: Run) -> None:
    names = "".join(f"- {{name: tile{at}}}\n" for at in range(30))
    Path("all/b/rows.layouts.yaml").write_text(f"cases:\n{names}")
    Path("all/attention/layouts.yaml").write_text("case: []")
    result = run("check", "all")
    assert (result.status, result.out) == (2, "")
    assert result.err.count(": error: ") == MAX_ERRORS
    assert result.err.endswith("11 more errors of 31\n")
    assert "all/attention/layouts.yaml:1:1: error: a manifest has no key 'case'" in result.err
    assert json.loads(run("check", "all", "--format", "json").out)["counts"]["error"] == 31


def test_a_folder_without_a_manifest_says_so(tmp_path: Path, run: Run) -> None:
    result = run("check", str(tmp_path))
    assert result.status == 2
    assert "there is no manifest below: no file layouts.yaml or *.layouts.yaml" in result.err


# -- what git changed -----------------------------------------------------------------------------


def git(*arguments: str) -> None:
    names = {
        f"GIT_{role}_{key}": "x@y" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")
    }
    subprocess.run(
        ["git", *arguments], check=True, env={**os.environ, **names}, capture_output=True
    )


@pytest.fixture
def repository(folder: Path) -> Path:
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "Begin")
    return folder


def test_only_cases_of_what_changed_are_run(repository: Path, run: Run) -> None:
    unchanged = Outcome(0, "", "no case uses a file that changed since HEAD\n")
    assert run("check", "all", "--changed") == unchanged
    spoil("all/b/kernel.mlir")
    result = run("check", "all", "--changed")
    assert (result.status, result.out.splitlines()[-1]) == (1, "1 changed")
    assert run("check", "all", "--changed", "--list").out.startswith("b/tile.tensor  ")
    git("add", "-A")
    assert run("check", "all", "--changed").status == 1
    git("commit", "-q", "-m", "Spoil")
    assert run("check", "all", "--changed") == unchanged
    assert run("check", "all", "--since", "HEAD~1").status == 1


def test_goldens_and_manifests_that_changed_count(repository: Path, run: Run) -> None:
    Path("all/attention/tile.tensor.txt").unlink()
    assert run("check", "all", "--changed").out.endswith(
        "no golden files yet for 1 check; write them with: tt-layout check all --update\n"
    )
    git("checkout", "-q", ".")
    Path("all/x.tensor.txt").touch()
    result = run("check", "all", "--changed")
    assert (result.status, result.out.splitlines()[-1]) == (1, "1 golden without a case")
    manifest("all/new/layouts.yaml")
    assert (
        run("check", "all", "--changed").out.splitlines()[-1]
        == "1 without a golden, 1 golden without a case"
    )


def test_a_manifest_that_changed_alone_has_its_cases_run(repository: Path, run: Run) -> None:
    path = Path("all/b/rows.layouts.yaml")
    path.write_text(f"{path.read_text()}# nothing new\n")
    listed = run("check", "all", "--changed", "--list").out
    assert [line.partition("  ")[0] for line in listed.splitlines()] == ["b/tile.tensor"]


def test_what_changed_on_the_other_branch_does_not_count(repository: Path, run: Run) -> None:
    git("checkout", "-q", "-b", "mine")
    spoil("all/b/kernel.mlir")
    git("commit", "-q", "-a", "-m", "Mine")
    git("checkout", "-q", "main")
    spoil("all/attention/kernel.mlir")
    git("commit", "-q", "-a", "-m", "Theirs")
    git("checkout", "-q", "mine")
    listed = run("check", "all", "--since", "main", "--list").out
    assert [line.partition("  ")[0] for line in listed.splitlines()] == ["b/tile.tensor"]


def test_git_says_why_it_cannot_tell(
    repository: Path,
    run: Run,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = run("check", "all", "--since", "--output=x")
    assert result.status == 2
    assert "git cannot list the changed files: " in result.err
    assert not Path("x").exists()
    other = tmp_path_factory.mktemp("other")
    monkeypatch.chdir(other)
    manifest("layouts.yaml")
    result = run("check", "--changed")
    assert (result.status, result.out) == (2, "")
    assert "not a git repository" in result.err


def test_outcomes_are_described_up_to_25(folder: Path, run: Run) -> None:
    rows = [
        f"- {{name: tile{at}, layout: '{BLOCKED}', type: 'tensor<{2 * at + 3}x16xf16>'}}\n"
        for at in range(30)
    ]
    Path("all/b/rows.layouts.yaml").write_text(f"cases:\n{''.join(rows)}")
    result = run("check", "all/b/rows.layouts.yaml")
    assert result.status == 2
    assert result.out.count("cannot be run: tile") == 25
    assert "\n6 more; --format json has them all\n" in result.out  # and a golden without a case
