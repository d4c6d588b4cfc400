"""Bytes of global memory that copies by descriptors touch, from the coordinates of their boxes."""

from __future__ import annotations

import pytest

from tt_layout.audit.audit import audit_module
from tt_layout.audit.bounds.bounds import kernel_bounds
from tt_layout.audit.bounds.footprint import footprint
from tt_layout.audit.values.given import parse_values, program_counts
from tt_layout.ir import parse_ir

ELEMENT = 2
BOX = 128 * 64 * ELEMENT

KERNEL = """
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#barrier = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copies(%source: !tt.tensordesc<tensor<128x64xf16, #shared>>, %tiles: i32,
                         %columns: i32, %data: !tt.ptr<i32>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %rows = arith.constant 128 : i32
    %width = arith.constant 64 : i32
    %step = arith.constant 132 : i32
    %true = arith.constant true
    %id = tt.get_program_id x : i32
    %loaded = tt.load %data : !tt.ptr<i32>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #barrier, #ttg.shared_memory, mutable>
    %buffer = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #ttg.shared_memory, mutable>
    scf.for %tile = %id to %tiles step %step : i32 {
      %quotient = arith.divsi %tile, %columns : i32
      %row = arith.muli %quotient, %rows : i32
      scf.for %k = %zero to %columns step %one : i32 {
        %column = arith.muli %k, %width : i32
        %is_first = arith.cmpi slt, %k, %one : i32
        ttng.async_tma_copy_global_to_local %source[ROW, COLUMN] %buffer, %bar, PREDICATE :
          !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<1xi64, #barrier,
          #ttg.shared_memory, mutable> -> !ttg.memdesc<128x64xf16, #shared, #ttg.shared_memory,
          mutable>
      }
    }
    tt.return
  }
}
"""


def touched(
    row: str, column: str, predicate: str = "%true", *, values: tuple[str, ...] = ()
) -> float | None:
    """Bytes that the copy of a launch of 132 programs touches; None where they are not known."""
    text = KERNEL.replace("ROW", row).replace("COLUMN", column).replace("PREDICATE", predicate)
    [module] = parse_ir(text)
    given = parse_values(values or ("tiles=1024", "columns=32"), program_counts((132,)))
    audit = audit_module(module, given=given)
    [copy] = [row.operation for row in audit.movements if "async_tma" in row.operation.name]
    traffic = footprint(audit, "copies", (132, 1, 1)).accesses.get(copy.position)
    return traffic.bytes if traffic is not None else None


@pytest.mark.parametrize(
    ("row", "column", "boxes"),
    [
        ("%zero", "%zero", 1),
        ("%zero", "%column", 32),  # all programs share the columns
        ("%row", "%zero", 29),  # the first and the last program reach 29 of 32 rows of boxes
        ("%row", "%column", 29 * 32),  # each box by many programs, in many iterations
    ],
)
def test_a_box_is_counted_once(row: str, column: str, boxes: int) -> None:
    assert touched(row, column) == boxes * BOX


def test_what_a_predicate_leaves_out_is_not_touched() -> None:
    assert touched("%zero", "%column", "%is_first") == BOX


def test_boxes_at_coordinates_that_nobody_knows_are_not_counted() -> None:
    assert touched("%loaded", "%zero") is None
    assert touched("%row", "%zero", values=("tiles=1024",)) is None


def test_overlapping_boxes_are_as_much_as_the_tensor_that_holds_them() -> None:
    assert touched("%zero", "%k") == 128 * (64 + 31) * ELEMENT


def test_a_persistent_kernel_moves_its_tensors_once() -> None:
    text = KERNEL.replace("ROW", "%row").replace("COLUMN", "%column").replace("PREDICATE", "%true")
    [module] = parse_ir(text)
    given = parse_values(("tiles=1024", "columns=32"), program_counts((132,)))
    bounds = kernel_bounds(audit_module(module, given=given), "copies", (132, 1, 1))
    assert bounds is not None
    assert bounds.memory.bytes == pytest.approx(29 * 32 * BOX, rel=1e-3)


@pytest.mark.parametrize(
    "operation",
    [
        "ttg.warp_specialize(%source) : (DESCRIPTOR) -> ()",
        "ttng.tensormap_fenceproxy_acquire %source : DESCRIPTOR",
        "tt.call @other(%source, %zero, %zero) : (DESCRIPTOR, i32, i32) -> ()",
        "ttng.async_tma_copy_global_to_local %source[] %buffer : DESCRIPTOR, BUFFER",
        "ttng.async_tma_copy_global_to_local %source[%zero] %buffer : DESCRIPTOR, i32, BUFFER",
    ],
)
def test_other_uses_of_a_descriptor_move_no_box(operation: str) -> None:
    """Nor do copies that are torn, or of another rank."""
    buffer = "!ttg.memdesc<128x64xf16, #shared, #ttg.shared_memory, mutable>"
    operation = operation.replace("DESCRIPTOR", "!tt.tensordesc<tensor<128x64xf16, #shared>>")
    text = KERNEL.replace(
        "    tt.return", f"    {operation.replace('BUFFER', buffer)}\n    tt.return"
    )
    text = text.replace("ROW", "%zero").replace("COLUMN", "%column").replace("PREDICATE", "%true")
    [module] = parse_ir(text)
    given = parse_values(("tiles=1024", "columns=32"), program_counts((132,)))
    counted = footprint(audit_module(module, given=given), "copies", (132, 1, 1))
    assert counted.bytes == 32 * BOX
