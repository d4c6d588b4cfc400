"""Tensor memory access: what a dump says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner

DUMP = """
#rows = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  tt.func @f(%desc: DESC, %x: INDICES, %y: i32, %bar: BAR, %buffer: BUFFER, %pred: i1) {
    ttng.async_tma_gather %desc[%x, %y] %buffer, %bar, %pred : DESC, INDICES, i32, BAR, BUFFER, i1
    ttng.async_tma_scatter %desc[%x, %y] %buffer : DESC, INDICES, i32, BUFFER
    tt.return
  }
}
"""
TYPES = {
    "DESC": "!tt.tensordesc<1x128xbf16, #wide>",
    "INDICES": "tensor<32xi32, #rows>",
    "BAR": "!ttg.memdesc<1xi64, #bar, #smem, mutable>",
    "BUFFER": "!ttg.memdesc<32x128xbf16, #wide, #smem, mutable>",
}


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def audited(run: Run, folder: Path, text: str) -> dict[str, Any]:
    for name, type_text in TYPES.items():
        text = text.replace(name, type_text)
    (folder / "dump.mlir").write_text(text)
    [module] = json.loads(run("audit", str(folder / "dump.mlir"), "--format", "json").out)[
        "modules"
    ]
    return dict(module)


def test_gathers_move_rows_and_not_their_indices(run: Run, tmp_path: Path) -> None:
    module = audited(run, tmp_path, DUMP)
    for movement in module["data_movements"]:
        assert (movement["bytes"], movement["type"]) == (32 * 128 * 2, "memdesc<32x128xbf16>")
    gather, scatter = module["data_movements"]
    assert (gather["from"]["layout"], gather["to"]["layout"]) == ("global memory", "#wide")
    assert (scatter["from"]["layout"], scatter["to"]["layout"]) == ("#wide", "global memory")


def test_a_descriptor_of_one_row_is_no_finding(run: Run, tmp_path: Path) -> None:
    assert audited(run, tmp_path, DUMP)["findings"] == []


def test_a_descriptor_too_narrow_for_its_swizzle_is_one(run: Run, tmp_path: Path) -> None:
    narrow = DUMP.replace("DESC", "!tt.tensordesc<1x32xbf16, #wide>")
    [finding] = audited(run, tmp_path, narrow)["findings"]
    assert "must have at least 64 elements per CTA" in finding["message"]
