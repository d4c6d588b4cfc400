"""Accesses of which constants alone make the mask false."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module

KERNEL = """
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942",
                   "ttg.threads-per-warp" = 64 : i32} {
tt.func public @f(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %o = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #b>
  %c = arith.constant dense<COLUMNS> : tensor<4096xi32, #b>
  %id = tt.get_program_id x : i32
  %s = tt.splat SCALAR : i32 -> tensor<4096xi32, #b>
  %mask = arith.cmpi slt, %o, BOUND : tensor<4096xi32, #b>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>, #b>
  %pp = tt.addptr %ps, %o : tensor<4096x!tt.ptr<f32>, #b>, tensor<4096xi32, #b>
  %v = tt.load %pp, %mask : tensor<4096x!tt.ptr<f32>, #b>
  tt.store %pp, %v, %mask : tensor<4096x!tt.ptr<f32>, #b>
  tt.return
}
}
"""


def instructions(columns: int, bound: str = "%c", scalar: str = "%n") -> list[int]:
    text = KERNEL.replace("COLUMNS", str(columns)).replace("BOUND", bound)
    [module] = parse_ir(text.replace("SCALAR", scalar))
    rows: list[Any] = [row.cost for row in audit_module(module).movements]
    return [cost.details.instructions for cost in rows]


@pytest.mark.parametrize(("columns", "kept"), [(4096, 4), (2560, 3), (1536, 2), (1024, 1)])
def test_instructions_that_no_lane_takes_part_in_are_left_out(columns: int, kept: int) -> None:
    assert instructions(columns) == [kept, kept]


@pytest.mark.parametrize("scalar", ["%n", "%id"])
def test_what_an_argument_or_the_program_decides_leaves_none_out(scalar: str) -> None:
    assert instructions(1024, "%s", scalar) == [16, 16]  # each element by itself: the mask


def test_one_of_two_masks_is_enough_where_constants_make_it_false() -> None:
    """As the wheel 3.9 compiles a real kernel whose values are half as wide as its block."""
    both = """%few = arith.cmpi slt, %o, %c : tensor<4096xi32, #b>
  %some = arith.cmpi slt, %s, %o : tensor<4096xi32, #b>
  %mask = arith.andi %few, %some : tensor<4096xi1, #b>"""
    text = re.sub(r"%mask = .*", both, KERNEL).replace("COLUMNS", "1024")
    [module] = parse_ir(text.replace("SCALAR", "%n"))
    rows: list[Any] = [row.cost for row in audit_module(module).movements]
    assert [cost.details.instructions for cost in rows] == [4, 4]  # of 16: the mask is no run


def test_an_access_that_is_never_made_costs_nothing_and_is_not_called_narrow() -> None:
    text = KERNEL.replace("COLUMNS", "0").replace("BOUND", "%c").replace("SCALAR", "%n")
    [module] = parse_ir(text.replace("tt.divisibility = 16", "tt.divisibility = 4"))
    audit = audit_module(module)
    costs: list[Any] = [row.cost for row in audit.movements]
    assert [cost.cycles for cost in costs] == [0, 0]
    assert [cost.details.limited_by for cost in costs] == [None, None]
    assert costs[0].text == "0 x global_load_dword: its mask is false for all lanes"
    assert not audit.findings


BUFFER = """
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942",
                   "ttg.threads-per-warp" = 64 : i32} {
tt.func public @f(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %o = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #b>
  %c = arith.constant dense<1024> : tensor<4096xi32, #b>
  %z = arith.constant dense<1.0> : tensor<4096xf32, #b>
  %mask = arith.cmpi slt, %o, %c : tensor<4096xi32, #b>
  %v = amdg.buffer_load %x[%o], %maskOTHER {contiguity = 4 : i32}
      : !tt.ptr<f32> -> tensor<4096xf32, #b>
  tt.return
}
}
"""


@pytest.mark.parametrize(("other", "kept"), [("", 2), (", %z", 1)])
def test_what_is_beyond_a_buffer_is_loaded_once_or_not_at_all(other: str, kept: int) -> None:
    [module] = parse_ir(BUFFER.replace("OTHER", other))
    [cost] = [row.cost for row in audit_module(module).movements]
    assert cost is not None
    assert cost.details.data(1)["instructions"] == kept


def test_what_is_beyond_a_buffer_is_stored_once() -> None:
    """As the wheel 3.9 compiles real kernels for gfx942 and gfx1250: 2 of 8 stores are left."""
    store = "amdg.buffer_store %z, %x[%o], %mask : !tt.ptr<f32> -> tensor<4096xf32, #b>"
    text = re.sub(r"%v = amdg\.buffer_load [^\n]*\n[^\n]*", store, BUFFER)
    [module] = parse_ir(text)
    [cost] = [row.cost for row in audit_module(module).movements]
    assert cost is not None
    assert cost.details.data(1)["instructions"] == 1 + 1
