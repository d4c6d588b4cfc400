"""Tests that compile kernels, under ``--tt-audit``, in one process and in several."""

from __future__ import annotations

import runpy
from pathlib import Path

from compiler.wheel import Wheel

ROOT = Path(__file__).parent.parent.parent


def test_every_kernel_is_seen_in_one_process_and_in_several(wheel: Wheel, tmp_path: Path) -> None:
    """Of the examples, for a GPU that is not there; the benchmark asks it of whole projects."""
    suites = runpy.run_path(str(ROOT / "benchmarks" / "audited_tests.py"))
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    for name in ("vector_add", "column_major"):
        text = (ROOT / "examples" / "narrow" / f"{name}.ttgir").read_text(encoding="utf-8")
        (dumps / f"{name}.ttgir").write_text(text, encoding="utf-8")
    tests = suites["written_tests"](tmp_path / "tests", dumps)
    alone, beside = (
        suites["run"](wheel.python, tests, processes, is_audited=True) for processes in (0, 2)
    )
    assert alone.kernels == beside.kernels
    assert len(alone.kernels) == alone.kept == beside.kept == 2
