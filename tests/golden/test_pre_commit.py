"""The hook of pre-commit, run by pre-commit itself: a commit of any file that a manifest names."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from test_watching import KERNEL

pytest.importorskip("pre_commit")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CONFIG = """\
repos:
  - repo: {root}
    rev: {commit}
    hooks:
      - id: tt-layout-check
"""
CASE = "  - {{name: {0}, file: {0}, views: [audit]}}\n"
NAMES = ("kernel.ttgir", "kernel.ttir", "kernel.mlir", "kernel.llir", "kernel.log", "kernel")


def run(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    names = {
        f"GIT_{role}_{key}": "x@y" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")
    }
    environment: Mapping[str, str] = {**os.environ, **names, **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def commit() -> str:
    result = run(ROOT, "git", "rev-parse", "HEAD")
    if result.returncode:
        pytest.skip("pre-commit installs from a repository, and this is none")
    return result.stdout.strip()


def test_a_commit_of_what_a_manifest_names_is_checked(tmp_path: Path, commit: str) -> None:
    """Commit a change of each kind of file in one repository: installing takes longest."""
    folder, home = tmp_path / "repository", str(tmp_path / "home")
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text(KERNEL)
    (folder / "layouts.yaml").write_text("cases:\n" + "".join(map(CASE.format, NAMES)))
    (folder / ".pre-commit-config.yaml").write_text(CONFIG.format(root=ROOT, commit=commit))
    check = sys.executable, "-m", "tt_layout", "check"
    assert run(folder, *check, "--update", CI="").returncode == 0
    assert run(folder, "git", "init", "-q").returncode == 0
    run(folder, "git", "add", "-A")
    assert run(folder, "git", "commit", "-q", "-m", "Begin").returncode == 0

    hook = sys.executable, "-m", "pre_commit", "run"
    for name in NAMES:
        (folder / name).write_text(KERNEL.replace("1024", "2048"))
        run(folder, "git", "add", name)
        result = run(folder, *hook, PRE_COMMIT_HOME=home)
        assert result.returncode == 1, name + result.stdout + result.stderr
        assert f"changed: {name}.audit" in result.stdout
        (folder / name).write_text(KERNEL)
        run(folder, "git", "add", name)
    (folder / "other.py").touch()
    run(folder, "git", "add", "other.py")
    assert run(folder, *hook, PRE_COMMIT_HOME=home).returncode == 0
