"""Tensor memory access: what a dump says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner

from tt_layout import LayoutError
from tt_layout.analyses.global_memory.descriptor_messages import TmaMessages, tma_messages
from tt_layout.encodings.nvmma_shared import NvmmaShared

DUMP = """
#rows = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4],
                     threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0]}>}>
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


@pytest.mark.parametrize(
    ("shape", "is_im2col", "found"),
    [
        ((16, 64), False, ((16, 64), 1)),
        ((64, 256), False, ((64, 64), 4)),
        ((1024, 64), False, ((256, 64), 4)),
        ((1024, 64), True, ((1024, 64), 1)),
    ],
)
def test_boxes_are_as_wide_as_the_swizzle(
    shape: tuple[int, int], is_im2col: bool, found: tuple[tuple[int, int], int]
) -> None:
    shared = NvmmaShared(swizzling_byte_width=128, element_bit_width=16)
    box, messages = found
    expected = TmaMessages(box=box, messages=messages)
    assert tma_messages(shared, shape, is_im2col=is_im2col) == expected


def test_boxes_of_padded_fp4_hold_half_as_many_elements() -> None:
    shared = NvmmaShared(swizzling_byte_width=128, element_bit_width=8, fp4_padded=True)
    assert tma_messages(shared, (64, 256)) == TmaMessages(box=(64, 64), messages=4)


def test_a_cta_moves_its_part() -> None:
    shared = NvmmaShared(swizzling_byte_width=128, element_bit_width=16, cga=((1, 0),))
    assert tma_messages(shared, (128, 64)) == TmaMessages(box=(64, 64), messages=1)


def test_a_convolution_has_at_most_1024_pixels() -> None:
    shared = NvmmaShared(swizzling_byte_width=128, element_bit_width=16)
    with pytest.raises(LayoutError, match="up to 1024 pixels per CTA, got 2048"):
        tma_messages(shared, (2048, 64), is_im2col=True)


def test_audit_counts_messages(run: Run, tmp_path: Path) -> None:
    gather, scatter = audited(run, tmp_path, DUMP)["data_movements"]
    assert gather["cost"] == {
        "text": "16 x cp.async.bulk.tensor.2d.tile::gather4 of 4x64 per CTA",
        "instruction": "cp.async.bulk.tensor.2d.tile::gather4",
        "messages": 16,
        "box": [4, 64],
    }
    assert scatter["cost"]["instruction"] == "cp.async.bulk.tensor.2d.tile::scatter4"
    copies = f"""{DUMP.partition("    ttng.")[0]}
    ttng.async_tma_reduce add, %desc[%y, %y] %buffer : TILE, BUFFER
    ttng.async_tma_copy_global_to_local %desc[%y, %y, %y, %y] offsets = [%o, %o] %buffer, %bar,
      %pred : PIXELS, BAR -> BUFFER
    tt.return
  }}
}}
"""
    copies = copies.replace("TILE", "!tt.tensordesc<32x128xbf16, #wide>")
    copies = copies.replace("PIXELS", "!ttng.tensordesc_im2col<32x128xbf16, #wide>")
    texts = [row["cost"]["text"] for row in audited(run, tmp_path, copies)["data_movements"]]
    assert texts == [
        "2 x cp.reduce.async.bulk.tensor.2d of 32x64 per CTA",
        "2 x cp.async.bulk.tensor.4d of 32x64 per CTA",
    ]


def test_indices_of_rows_must_lie_in_one_thread(run: Run, tmp_path: Path) -> None:
    apart = DUMP.replace("sizePerThread = [1, 4]", "sizePerThread = [1, 1]")
    findings = audited(run, tmp_path, apart)["findings"]
    assert ["indices of 4 rows" in finding["message"] for finding in findings] == [True, True]
