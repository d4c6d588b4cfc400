"""Loads of which registers have the same address: merged where no computed mask is between them."""

from __future__ import annotations

import re

import pytest

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.values.given import GivenValues

KERNEL = """
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2],
                   order = [1, 0]}>
#s = #ttg.slice<{dim = 0, parent = #b}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "TARGET",
                   "ttg.threads-per-warp" = 32 : i32} {
tt.func public @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %j = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #s>
  %j2 = tt.expand_dims %j {axis = 0 : i32} : tensor<256xi32, #s> -> tensor<1x256xi32, #b>
  %c = arith.constant dense<COLUMNS> : tensor<1x256xi32, #b>
  %ns = tt.splat %n : i32 -> tensor<1x256xi32, #b>
  %m0 = arith.cmpi slt, %j2, BOUND : tensor<1x256xi32, #b>
  %m = tt.broadcast %m0 : tensor<1x256xi1, #b> -> tensor<16x256xi1, #b>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1x256x!tt.ptr<f32>, #b>
  %q = tt.addptr %ps, %j2 : tensor<1x256x!tt.ptr<f32>, #b>, tensor<1x256xi32, #b>
  %qb = tt.broadcast %q : tensor<1x256x!tt.ptr<f32>, #b> -> tensor<16x256x!tt.ptr<f32>, #b>
  %v = tt.load %qb MASK : tensor<16x256x!tt.ptr<f32>, #b>
  tt.return
}
}
"""

STORED = "%z = arith.constant dense<0.0> : tensor<16x256xf32, #b>\n  "


def load(
    mask: str = "", bound: str = "%c", columns: int = 256, attribute: str = ""
) -> GlobalDetails:
    text = KERNEL.replace("MASK", f"{mask} {attribute}").replace("BOUND", bound)
    text = text.replace("COLUMNS", str(columns)).replace("TARGET", "cuda:90")
    [module] = parse_ir(text)
    given = GivenValues({"p": 0, "n": 256})
    [cost] = [row.cost for row in audit_module(module, given=given).movements]
    assert cost is not None
    assert isinstance(cost.details, GlobalDetails)
    return cost.details


@pytest.mark.parametrize(
    ("mask", "bound", "columns", "instructions"),
    [
        ("", "%c", 256, 1),
        (", %m", "%c", 256, 1),  # LLVM knows the mask: no predicate is between the loads
        (", %m", "%c", 200, 8),  # some lanes have nothing to load: a predicate
        (", %m", "%ns", 256, 32),  # 8 rows of 4 elements, each by itself under the mask
    ],
)
def test_a_row_that_is_broadcast_is_loaded_once(
    mask: str, bound: str, columns: int, instructions: int
) -> None:
    """As counted in the assembly of the wheels 3.6 and 3.9."""
    found = load(mask, bound, columns)
    assert found.instructions == instructions


def test_requests_are_those_of_the_instructions_that_are_left() -> None:
    once, each = load(), load(", %m", "%ns")
    assert (once.requests, once.sectors) == (4, 64)  # of 4 warps, two of which have the same row
    assert (each.requests, each.sectors) == (128, 2048)


def test_volatile_loads_stay() -> None:
    assert load(attribute="{isVolatile = true}").instructions == 8


NARROW = """
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
tt.func public @f(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %o = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #b>
  %c = arith.constant dense<COLUMNS> : tensor<2048xi32, #b>
  %mask = arith.cmpi slt, %o, %c : tensor<2048xi32, #b>
  %ps = tt.splat %x : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>, #b>
  %pp = tt.addptr %ps, %o : tensor<2048x!tt.ptr<f32>, #b>, tensor<2048xi32, #b>
  %v = tt.load %pp, %mask : tensor<2048x!tt.ptr<f32>, #b>
  tt.store %pp, %v, %mask : tensor<2048x!tt.ptr<f32>, #b>
  tt.return
}
}
"""


@pytest.mark.parametrize(("columns", "kept"), [(2048, 4), (1600, 4), (1536, 3), (1000, 2)])
def test_constant_masks_leave_out_what_no_lane_does_on_nvidia(columns: int, kept: int) -> None:
    [module] = parse_ir(NARROW.replace("COLUMNS", str(columns)))
    costs = [row.cost for row in audit_module(module).movements]
    found = [c.details.instructions for c in costs if c and isinstance(c.details, GlobalDetails)]
    assert found == [kept, kept]


@pytest.mark.parametrize("mask", ["", ", %m"])
def test_of_amds_stores_to_one_address_the_last_one_is_left(mask: str) -> None:
    """As the wheel 3.9 compiles it for gfx1250: of 8 rows one is stored, but under masks each."""
    store = f"tt.store %qb, %z{mask} : tensor<16x256x!tt.ptr<f32>, #b>"
    text = re.sub(r"%v = tt\.load .*", STORED + store, KERNEL).replace("BOUND", "%ns")
    text = text.replace("COLUMNS", "256").replace("TARGET", "hip:gfx1250")
    [module] = parse_ir(text)
    [row] = audit_module(module).movements
    assert row.cost is not None
    assert isinstance(row.cost.details, GlobalDetails)
    assert row.cost.details.instructions == (32 if mask else 1)
