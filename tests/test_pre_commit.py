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

ROOT = Path(__file__).parent.parent
CONFIG = """\
repos:
  - repo: {root}
    rev: {commit}
    hooks:
      - id: tt-layout-check
"""
MANIFEST = """\
cases:
  - {{name: kernel, file: {name}, views: [audit]}}
"""


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


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the folder in which pre-commit installs the package once for all tests."""
    return tmp_path_factory.mktemp("home")


@pytest.mark.parametrize(
    "name", ["kernel.ttgir", "kernel.ttir", "kernel.mlir", "kernel.llir", "kernel.log", "kernel"]
)
def test_a_commit_of_what_a_manifest_names_is_checked(
    tmp_path: Path, home: Path, commit: str, name: str
) -> None:
    (tmp_path / name).write_text(KERNEL)
    (tmp_path / "layouts.yaml").write_text(MANIFEST.format(name=name))
    (tmp_path / ".pre-commit-config.yaml").write_text(CONFIG.format(root=ROOT, commit=commit))
    check = sys.executable, "-m", "tt_layout", "check"
    assert run(tmp_path, *check, "--update", CI="").returncode == 0
    assert run(tmp_path, "git", "init", "-q").returncode == 0
    run(tmp_path, "git", "add", "-A")
    assert run(tmp_path, "git", "commit", "-q", "-m", "Begin").returncode == 0

    hook = sys.executable, "-m", "pre_commit", "run"
    (tmp_path / name).write_text(KERNEL.replace("1024", "2048"))
    run(tmp_path, "git", "add", name)
    result = run(tmp_path, *hook, PRE_COMMIT_HOME=str(home))
    assert result.returncode == 1, result.stdout + result.stderr
    assert "changed: kernel.audit" in result.stdout
    (tmp_path / name).write_text(KERNEL)
    run(tmp_path, "git", "add", name)
    (tmp_path / "other.py").touch()
    run(tmp_path, "git", "add", "other.py")
    assert run(tmp_path, *hook, PRE_COMMIT_HOME=str(home)).returncode == 0
