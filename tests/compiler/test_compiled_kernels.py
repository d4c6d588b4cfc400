"""Registers and spills read from the files of compiled kernels, against the compilers' tools."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import tt_layout
from compiler.wheel import Wheel
from tt_layout.audit.audit import Audit

PROGRAM = Path(__file__).with_name("compiled_kernels.py")
MATMUL = Path(__file__).parents[2] / "examples" / "kernels" / "matmul-sm90.ttgir"


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


COPY = """
#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copy(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %0 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #a>
    %1 = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #a>
    %2 = tt.addptr %1, %0 : tensor<512x!tt.ptr<f32>, #a>, tensor<512xi32, #a>
    %3 = tt.load %2 : tensor<512x!tt.ptr<f32>, #a>
    %4 = arith.addf %3, %3 : tensor<512xf32, #a>
    tt.store %2, %4 : tensor<512x!tt.ptr<f32>, #a>
    tt.return
  }
}
"""


def one_audit(dump: Path | str) -> Audit:
    [audit] = tt_layout.audit_ir(dump).audits
    return audit


@pytest.fixture(autouse=True)
def _fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))


def test_a_dump_that_is_handed_over_has_the_registers_that_the_tools_report(
    wheel: Wheel, tmp_path: Path
) -> None:
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    command = [wheel.python, str(PROGRAM), str(tmp_path)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    for name, reported in json.loads(result.stdout).items():
        with tt_layout.compiling(wheel.python):
            audit = one_audit(Path(name).read_text(encoding="utf-8"))
        assert audit.known.compile_note is None
        assert audit.known.registers is not None
        assert audit.known.registers.source == f"Triton {wheel.version}"
        if "cuda" not in name and "gfx" in name:  # maxnreg of the other is no part of its text
            assert [*audit.known.registers[:2]] == reported


@pytest.mark.parametrize("option", ["--compiler-python", "--triton-3-4-python"])
def test_each_release_reads_what_it_can(option: str, request: pytest.FixtureRequest) -> None:
    python = request.config.getoption(option)
    if python is None:
        pytest.skip("there is no such release")
    with tt_layout.compiling(python) as compiler:
        small = one_audit(COPY)
        large = one_audit(MATMUL)
    assert small.known.registers is not None
    assert 8 <= small.known.registers.used <= 32
    if compiler.release == "3.4.0":
        note = "Triton 3.4.0 does not read it: custom op 'ttg.memdesc_index' is unknown"
        assert large.known.compile_note == f"{note}; registers are estimates"
    else:
        assert large.known.compile_note is None
        assert large.known.registers is not None
