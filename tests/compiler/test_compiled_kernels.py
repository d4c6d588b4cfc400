"""Registers and spills read from the files of compiled kernels, against the compilers' tools."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("option", ["--compiler-python", "--triton-3-4-python"])
def test_a_dump_that_is_handed_over_has_the_registers_that_the_tools_report(
    option: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = request.config.getoption(option)
    if python is None:
        pytest.skip("there is no such release")
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    command = [python, str(PROGRAM), str(tmp_path)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    for name, reported in json.loads(result.stdout).items():
        dump = tmp_path / f"{len(os.listdir(tmp_path))}.ttgir"  # with no compiled file beside it
        dump.write_text(Path(name).read_text(encoding="utf-8"))
        with tt_layout.compiling(python) as compiler:
            known = tt_layout.audit_ir(dump).audits[0].known
        assert known.compile_note is None
        assert known.registers is not None
        if "cuda" not in dump.read_text():  # maxnreg of the option is not in the text
            assert [*known.registers[:2]] == reported
        assert known.registers.source == f"Triton {compiler.release}"
