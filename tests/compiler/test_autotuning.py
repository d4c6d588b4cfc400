"""Triton's own autotuner, with configurations left out that fit no GPU, or take longer."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import click
import numpy
import rich
import yaml

from compiler.wheel import Wheel

ROOT = Path(__file__).parent.parent.parent
PROGRAM = Path(__file__).with_name("autotuned_program.py")
PACKAGES = {str(Path(str(module.__file__)).parents[1]) for module in (click, numpy, rich, yaml)}


def test_one_compilation_prunes_configurations_of_all_stages(wheel: Wheel, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sorted(PACKAGES)]),
        "TRITON_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [wheel.python, str(PROGRAM)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    # Of a list that is estimated in copies of the process two are tried, and compiled.
    # 101,376 bytes of an sm86 hold six rings of 16,384, of seven stages, and no more.
    assert json.loads(result.stdout) == {
        "kept": [3, 7],
        "compiled_to_prune": [3],
        "tried": 2,
        "compiled": {"3": 32768, "7": 98304},
        "fastest": {"tried": 2, "compiled": 2},
        "alike": True,
    }
