"""The example repository: each step of its workflow is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

EXAMPLE = Path(__file__).parents[2] / "examples" / "ci"


@pytest.mark.slow
def test_every_step_of_the_workflow_passes(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "repository")
    workflow = yaml.safe_load((EXAMPLE / ".github" / "workflows" / "kernels.yml").read_text())
    steps = [step["run"] for step in workflow["jobs"]["kernels"]["steps"] if "run" in step]
    assert steps.pop(0) == "pip install tt-layout"
    assert sum("tt-layout" in step for step in steps) == 3
    commands = tmp_path / "bin"
    commands.mkdir()
    command = commands / "tt-layout"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tt_layout "$@"\n')
    command.chmod(0o755)
    environment = os.environ | {
        "PATH": os.pathsep.join([str(commands), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(sys.path[1:]),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "CI": "true",
    }
    for step in steps:
        result = subprocess.run(
            ["sh", "-e", "-c", step],
            cwd=tmp_path / "repository",
            env=environment,
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, step + result.stdout + result.stderr
    assert "| cheaper | `@copy` |" in (tmp_path / "summary.md").read_text()
