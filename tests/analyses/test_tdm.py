"""What the tensor data mover of gfx1250 makes of copies: worked examples, and what it refuses."""

from __future__ import annotations

import pytest

from tt_layout import LayoutError, parse_ir, parse_layout
from tt_layout.analyses.global_memory.descriptor_messages import (
    TdmMessages,
    hinted_warps,
    tdm_copy,
    tdm_rows,
)
from tt_layout.audit.audit import Audit, audit_module

ROWS = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [128, 64]}>"
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = %d, order = [1, 0]}>"
PARTS = (
    "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 0, "
    "partitionLayout = #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [16, 64]}>}>"
)
INDICES = (
    "#ttg.linear<{register = [[1], [2], [4], [8]], lane = [[0], [0], [0], [0], [%d]], "
    "warp = [[0], [0]], block = []}>"
)


@pytest.mark.parametrize(
    ("warps", "instructions", "box"),
    [(2, 4, (16, 64)), (4, 2, (16, 64)), (8, 1, (16, 64)), (16, 1, (8, 64))],
)
def test_no_box_reaches_from_one_piece_to_the_next(
    warps: int, instructions: int, box: tuple[int, int]
) -> None:
    found = tdm_copy(parse_layout(PARTS), [128, 64], 16, warps, is_store=False)
    assert (found.instructions, found.box) == (instructions, box)


def test_warps_cut_the_first_dimensions_first() -> None:
    plain = parse_layout(PLAIN % 1)
    assert tdm_copy(plain, [2, 64], 16, 8, is_store=True).box == (1, 16)


def test_warps_that_are_left_cut_the_rows_of_buffers_side_by_side() -> None:
    columns = PARTS.replace("numGroups = 4, partitionDim = 0", "numGroups = 2, partitionDim = 1")
    buffers = parse_layout(columns.replace("[64:+8]", "[16:+8]").replace("[16, 64]", "[128, 16]"))
    found = tdm_copy(buffers, [128, 64], 16, 16, is_store=False)
    assert (found.instructions, found.box) == (1, (32, 16))


@pytest.mark.parametrize(
    ("layout", "shape", "is_store", "message"),
    [
        (PLAIN % 2, [128, 64], False, "does not swizzle: maxPhase must be 1, got 2"),
        (PLAIN % 1, [1 << 16, 1], False, "at most 65535 elements along a dimension"),
        (ROWS.replace("64:+8", "32:+8"), [128, 64], True, "must follow every row of 64 elements"),
        (ROWS.replace("64:+8", "64:+8, 128:+8"), [128, 64], False, "at one interval, got 2"),
        (ROWS.replace("64:+8", "2:+8"), [128, 64], False, "2 to 256 dwords apart, got 1"),
        (ROWS.replace("64:+8", "64:+1"), [128, 64], False, "must be 1 to 128 dwords, got 0"),
        (PARTS, [128, 64], True, "not to #ttg.partitioned_shared"),
        (
            "#ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>",
            [128, 64],
            False,
            "not to #ttg.nvmma_shared",
        ),
    ],
)
def test_what_the_mover_cannot_do(
    layout: str, shape: list[int], is_store: bool, message: str
) -> None:
    with pytest.raises(LayoutError, match=message):
        tdm_copy(parse_layout(layout), shape, 16, 4, is_store=is_store)


def test_fewer_warps_than_buffers() -> None:
    with pytest.raises(LayoutError, match="a copy to 2 buffers needs as many warps, got 1"):
        tdm_copy(parse_layout(PARTS), [128, 64], 16, 1, is_store=False)


def test_rows_by_their_numbers() -> None:
    indices = parse_layout(INDICES % 0).to_linear_layout([16])
    plain = parse_layout(PLAIN % 1)
    found = tdm_rows(plain, [16, 64], indices, 32, is_scatter=True)
    assert found == TdmMessages("tensor_store_from_lds", 2, (8, 64), 1)
    assert tdm_rows(plain, [16, 64], indices, 16, is_scatter=False).instructions == 1
    across = parse_layout(INDICES % 16).to_linear_layout([32])
    with pytest.raises(LayoutError, match="the same in all lanes"):
        tdm_rows(plain, [32, 64], across, 32, is_scatter=False)


@pytest.mark.parametrize("hint", [0, 0x69, 0x1B, 0x7, 0x100])
def test_hints_that_name_no_corner_of_the_warps(hint: int) -> None:
    with pytest.raises(LayoutError, match="warp_used_hint must name warps"):
        hinted_warps(hint, 8)


DUMP = f"""
#rows = {ROWS}
#plain = {PLAIN % 2}
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250"}} {{
tt.func @f(%d: !tt.tensordesc<128x64xf16, #rows>, %m: MEMORY, %n: !ttg.memdesc<128x64xf16, #plain>) {{
  %0 = amdg.async_tdm_copy_global_to_local %d into %m : !tt.tensordesc<128x64xf16, #rows> -> MEMORY
  %1 = amdg.async_tdm_copy_global_to_local %d into %m {{warp_used_hint = 3 : i32}} : !tt.tensordesc<128x64xf16, #rows> -> MEMORY
  amdg.async_tdm_copy_local_to_global %d from %n : !ttg.memdesc<128x64xf16, #plain> -> !tt.tensordesc<128x64xf16, #rows>
}}
}}
""".replace("MEMORY", "!ttg.memdesc<128x64xf16, #rows, #ttg.shared_memory, mutable>")  # noqa: E501


def audited() -> Audit:
    [module] = parse_ir(DUMP)
    return audit_module(module)


def test_the_audit_of_a_dump() -> None:
    audit = audited()
    assert [row.cost.text if row.cost else None for row in audit.movements] == [
        "1 x tensor_load_to_lds of 32x64 per warp",
        "1 x tensor_load_to_lds of 64x64 per warp, of 2 of 4 warps",
        None,
    ]
    assert any("does not swizzle" in finding.message for finding in audit.findings)


@pytest.mark.parametrize("element", ["index", "!acme.number"])
def test_elements_of_unknown_width_have_no_cost(element: str) -> None:
    [module] = parse_ir(DUMP.replace("xf16", f"x{element}"))
    movements = audit_module(module).movements
    assert len(movements) == 3
    assert not any(row.cost for row in movements)


BARRIER = """
#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#l = #ttg.linear<{register = [[1], [2], [4]], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]],
                  block = []}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func @f(%d: !tt.tensordesc<8x64xf16>, %x: tensor<8xi32, #l>, %m: MEMORY, %b: BARRIER) {
  %0 = amdg.async_tdm_gather %d[%x] to %m, barrier = %b : tensor<8xi32, #l>, MEMORY, BARRIER -> DESC
  %v = ttg.local_load %m : MEMORY -> tensor<8x64xf16>
}
}
"""


def test_a_barrier_is_not_what_is_moved() -> None:
    text = BARRIER
    for name, kind in (
        ("MEMORY", "!ttg.memdesc<8x64xf16, #rows, #ttg.shared_memory, mutable>"),
        ("BARRIER", "!ttg.memdesc<1xi64, #bar, #ttg.shared_memory, mutable>"),
        ("DESC", "!tt.tensordesc<8x64xf16>"),
    ):
        text = text.replace(name, kind)
    [module] = parse_ir(text)
    audit = audit_module(module)
    assert not audit.findings
    row = audit.movements[0]
    assert row.cost is not None
    assert row.cost.text == "1 x tensor_load_to_lds of 8x64 per warp, of 1 of 4 warps"


FUSED = """
#rows = #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250"} {
tt.func @f(%d: FROM, %e: AND, %m: TO, %n: WITH) {
  %0 = amdg.async_tdm_fused_copy_global_to_local %d, %e into %m, %n {warp_used_hints = array<i32: 3, HINT>} : FROM, AND -> TO, WITH
  tt.return
}
}
"""  # noqa: E501


def fused(hint: int | str) -> Audit:
    text = FUSED.replace("HINT", str(hint))
    for name, kind in (
        ("FROM", "!tt.tensordesc<64x64xf16, #rows>"),
        ("AND", "!tt.tensordesc<32x32xf32, #flat>"),
        ("TO", "!ttg.memdesc<64x64xf16, #rows, #ttg.shared_memory, mutable>"),
        ("WITH", "!ttg.memdesc<32x32xf32, #flat, #ttg.shared_memory, mutable>"),
    ):
        text = text.replace(name, kind)
    [module] = parse_ir(text)
    return audit_module(module)


def test_several_copies_in_one() -> None:
    """The compiler's own test of such copies finds one instruction for two, too."""
    [row] = fused(12).movements
    assert row.operation.bytes == 64 * 64 * 2 + 32 * 32 * 4
    assert row.cost is not None
    assert row.cost.text == "1 x tensor_load_to_lds of 32x64 by 2 warps, of 16x32 by 2 warps"
    assert row.cost.details.data(1)["warps"] == [2, 2]


def test_more_warps_than_copies_are_not_understood() -> None:
    [row] = fused("4, 8").movements
    assert row.cost is None


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        (28, "must name warps that differ in some bits of their numbers"),
        (6, "must name other warps for each copy, got [3, 6]"),
    ],
)
def test_warps_that_several_copies_in_one_cannot_have(hint: int, message: str) -> None:
    [finding] = [f for f in fused(hint).findings if "warp" in f.message]
    assert message in finding.message
