"""Kernels that real wheels compile, watched: no GPU, another listener beside, a second look."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import click
import numpy
import pytest
import rich
import yaml

ROOT = Path(__file__).parent.parent.parent
PROGRAM = Path(__file__).with_name("watched_program.py")
PACKAGES = {str(Path(str(module.__file__)).parents[1]) for module in (click, numpy, rich, yaml)}


@pytest.mark.parametrize(
    ("option", "target"), [("--compiler-python", "gfx942"), ("--triton-3-4-python", "sm80")]
)
def test_every_kernel_is_seen_once(
    request: pytest.FixtureRequest, option: str, target: str, tmp_path: Path
) -> None:
    """A kernel that the cache has, and one that is refused, change nothing."""
    python = request.config.getoption(option)
    if python is None:
        pytest.skip(f"needs {option}")
    out = tmp_path / "kernels.json"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sorted(PACKAGES)]),
        "TRITON_CACHE_DIR": str(tmp_path / "cache"),
        "TT_LAYOUT_WATCH": str(out),
    }
    arguments = [python, "-m", "tt_layout.watching", str(PROGRAM), target]
    for _ in range(2):  # the second run finds everything in the cache
        result = subprocess.run(arguments, env=environment, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        assert result.stdout == "refused\nheard 4\n"
        found = json.loads(out.read_text())
        assert found["failure"] is None
        kernels = found["kernels"]
        named = sorted((one["name"], one["audit"]["target"]) for one in kernels)
        assert named == [("copy", target), ("copy", "sm90"), ("multiply", "sm90")]
        assert all(f"{PROGRAM.name}:" in one["compiled_by"] for one in kernels)
