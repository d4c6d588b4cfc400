"""Sectors of the accesses of a kernel: exact for given arguments, and within bounds for all."""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest
from tiers import sampled
from work import bytes_of

from tt_layout import parse_ir
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.global_memory.sectors import count_sectors, lanes_of
from tt_layout.audit.axis import AxisInfo, axis_info
from tt_layout.audit.global_memory.access_shape import AccessShape, Addresses
from tt_layout.audit.global_memory.cost import Sectors, access_sectors, run_bounds
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.given import GivenValues
from tt_layout.ir.ssa import read_functions

KERNEL = """
#l = {layout}
#r = #ttg.slice<{{dim = 1, parent = #l}}>
#c = #ttg.slice<{{dim = 0, parent = #l}}>
module attributes {{"ttg.num-warps" = 4 : i32}} {{
tt.func @f(%p: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, %stride: i32{hint}, %n: i32) {{
  %r = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32, #r>
  %c = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32, #c>
  %r2 = tt.expand_dims %r {{axis = 1 : i32}} : tensor<{rows}xi32, #r> -> tensor<{rows}x1xi32, #l>
  %c2 = tt.expand_dims %c {{axis = 0 : i32}} : tensor<{columns}xi32, #c> -> {row}
  %s = tt.splat %stride : i32 -> tensor<{rows}x1xi32, #l>
  %o = arith.muli %r2, %s : tensor<{rows}x1xi32, #l>
  %ro = tt.broadcast %o : tensor<{rows}x1xi32, #l> -> {ints}
  %co = tt.broadcast %c2 : {row} -> {ints}
  %off = arith.addi %ro, %co : {ints}
  %ps = tt.splat %p : !tt.ptr<{element}> -> {pointers}
  %ptr = tt.addptr %ps, %off : {pointers}, {ints}
  %nn = tt.splat %n : i32 -> {ints}
  %mask = arith.cmpi slt, %co, %nn : {ints}
  %v = tt.load %ptr, %mask : {pointers}
  tt.return
}}
}}
"""

ELEMENTS = {"i8": 1, "f16": 2, "f32": 4, "i64": 8}


def kernel(r: Random) -> str:
    def powers(product: int) -> list[int]:
        first = 1 << r.randint(0, product.bit_length() - 1)
        return [first, product // first]

    order = r.sample([0, 1], 2)
    layout = (
        f"#ttg.blocked<{{sizePerThread = {powers(r.choice([1, 4, 8]))}, "
        f"threadsPerWarp = {powers(32)}, warpsPerCTA = {powers(4)}, order = {order}}}>"
    )
    rows, columns = powers(1 << r.randint(7, 10))
    hint = " {tt.divisibility = 16 : i32}" if r.random() < 0.5 else ""
    element = r.choice(list(ELEMENTS))
    return KERNEL.format(
        layout=layout,
        rows=rows,
        columns=columns,
        hint=hint,
        element=element,
        row=f"tensor<1x{columns}xi32, #l>",
        ints=f"tensor<{rows}x{columns}xi32, #l>",
        pointers=f"tensor<{rows}x{columns}x!tt.ptr<{element}>, #l>",
    )


class Access:
    """The load of a kernel's text, moved one element at a time."""

    def __init__(self, text: str) -> None:
        [module] = parse_ir(text)
        [self.function] = read_functions(module)
        self.pointers = self.function.values["%ptr"]
        [self.load] = [o for o in self.function.walk() if o.name == "tt.load"]
        ir_type = self.function.type_of(self.pointers)
        assert ir_type is not None
        layout = PlacedLayouts().linear(ir_type)
        assert layout is not None
        self.bytes = (self.function.values["%ptr"].type.bits or 8) // 8
        self.shape = AccessShape(layout, 1, self.bytes, False, False)
        self.info = axis_info(self.function)[self.pointers]

    def sectors(self, *, masked: bool, **given: int) -> Sectors:
        evaluator = Evaluator(self.function, GivenValues(given))
        addresses = Addresses(
            self.pointers, None, self.function.values["%mask"] if masked else None, self.bytes
        )
        return access_sectors(evaluator, self.load, self.shape, addresses, self.info)


@pytest.mark.slow
@pytest.mark.parametrize("seed", sampled(range(40), 20))
def test_bounds_hold_for_all_arguments(seed: int) -> None:
    r = Random(seed)
    access = Access(kernel(r))
    unknown = access.sectors(masked=False)
    assert unknown.unknown is not None
    assert unknown.unknown.names == {"stride"}
    assert unknown.first is None
    bounds = unknown.bounds
    assert bounds is not None
    assert 1 <= bounds.least <= bounds.most
    for _ in range(5):
        stride = 16 * r.choice([0, 1, 2, 3, 8, 64, 100])
        if "{tt.divisibility = 16 : i32}, %n" not in kernel(Random(seed)):
            stride += r.choice([0, 1, 3])
        base = r.choice([0, 16, 48, 128])
        evaluator = Evaluator(access.function, GivenValues({"p": base, "stride": stride}))
        lanes = lanes_of(access.shape.layout)
        pointers = evaluator.value(access.pointers)
        assert isinstance(pointers, np.ndarray)
        at = pointers.reshape(-1)[lanes.elements].reshape(-1, 32)
        for row in at:
            count = count_sectors(row[None], np.ones((1, 32), bool), access.bytes)
            assert bounds.least <= count.sectors <= bounds.most


def test_a_mask_that_is_unknown_leaves_the_most() -> None:
    access = Access(kernel(Random(3)))
    masked = access.sectors(masked=True, stride=64)
    assert masked.first is None
    assert masked.unknown is not None
    assert masked.unknown.names == {"n"}
    whole = access.sectors(masked=False, stride=64)
    assert masked.most == whole.first
    known = access.sectors(masked=True, stride=64, n=3)
    assert known.first is not None
    assert whole.first is not None
    assert known.first.sectors <= whole.first.sectors
    nothing = access.sectors(masked=True, stride=64, n=0)
    assert nothing.first is not None
    assert (nothing.first.requests, nothing.first.sectors) == (0, 0)
    bounds = access.sectors(masked=True).bounds
    assert bounds is not None
    assert bounds.least == 1


def test_a_hint_that_the_arguments_break_is_a_reason() -> None:
    text = kernel(Random(0)).replace("f16", "f32")
    access = Access(text)
    wide = access.shape._replace(vector=1, width_bytes=16)
    evaluator = Evaluator(access.function, GivenValues({"stride": 1}))
    addresses = Addresses(access.pointers, None, None, access.bytes)
    found = access_sectors(evaluator, access.load, wide, addresses, access.info)
    assert found.unknown is not None
    assert "is misaligned" in str(found.unknown.reasons)


def test_one_run_per_request_is_exact_without_arguments() -> None:
    text = """
#l = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32} {
tt.func @f(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #l>
  %s = tt.splat %n : i32 -> tensor<128xi32, #l>
  %o = arith.addi %r, %s : tensor<128xi32, #l>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>, #l>
  %ptr = tt.addptr %ps, %o : tensor<128x!tt.ptr<f16>, #l>, tensor<128xi32, #l>
  %v = tt.load %ptr : tensor<128x!tt.ptr<f16>, #l>
  tt.return
}
}"""
    access = Access(text)
    bounds = run_bounds(access.shape._replace(vector=4, width_bytes=8), access.info)
    assert (bounds.least, bounds.most) == (8, 9)
    aligned = access.info._replace(divisibility=(32,))
    bounds = run_bounds(access.shape._replace(vector=4, width_bytes=8), aligned)
    assert (bounds.least, bounds.most) == (8, 8)


def test_an_offset_that_overflows_is_named() -> None:
    access = Access(kernel(Random(5)))
    found = access.sectors(masked=False, stride=1 << 30)
    assert found.first is not None
    [overflow] = found.overflows
    assert re.fullmatch(r"arith\.muli on line \d+", overflow)
    assert access.sectors(masked=False, stride=1 << 10).overflows == ()


@pytest.mark.slow
def test_bounds_of_a_large_tensor_hold_a_few_arrays_at_a_time() -> None:
    layout = LinearLayout.from_bases(
        [("register", [[1 << b] for b in range(5, 20)]), ("lane", [[1 << b] for b in range(5)])],
        ["dim0"],
    )
    shape = AccessShape(layout, 1, 1, False, False)
    array = 8 << 20  # bytes of a number for each lane of each request
    held = bytes_of(lambda: run_bounds(shape, AxisInfo((1,), (1,), (1,))))
    assert held < 20 * array
