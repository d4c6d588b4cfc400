"""Registers and spills read from the files of compiled kernels, against the compilers' tools."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import tt_layout
from compiler.wheel import Wheel

PROGRAM = Path(__file__).with_name("compiled_kernels.py")


def test_the_files_beside_a_dump_say_what_the_tools_report(wheel: Wheel, tmp_path: Path) -> None:
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    command = [wheel.python, str(PROGRAM), str(tmp_path)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    truth = json.loads(result.stdout)
    assert len(truth) == 2
    assert any(spilled for _, spilled in truth.values()), "one of them is meant to spill"
    for path, reported in truth.items():
        [summary] = tt_layout.audit_ir(path).data()["modules"][0]["summary"]
        assert [summary["registers_per_thread"], summary["spilled"]] == reported
        assert summary["registers_source"] in ("twice.cubin", "twice.amdgcn")
        assert summary["spills"] == ("yes" if reported[1] else "no")
