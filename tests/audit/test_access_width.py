"""The instructions of accesses to global memory: how wide, how many, and what they are called."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from tiers import slow

from tt_layout import parse_ir
from tt_layout.audit.axis import axis_info
from tt_layout.audit.global_memory.operands import FORMS, in_todays_form, operands
from tt_layout.audit.global_memory.width import AccessAnalysis, Width, access_width
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.hardware import find_target
from tt_layout.ir.ssa import Operation, Value, read_functions
from tt_layout.releases import Release

DATA = Path(__file__).parents[1] / "data" / "h100-global-memory.jsonl.gz"


def widths(text: str, release: Release | None = None) -> list[Width]:
    """Return the instructions of the accesses of a dump."""
    [module] = parse_ir(text, release=release)
    functions = read_functions(module)
    target = find_target(module.gpu or "")
    found = []
    for function in functions:
        kernel = AccessAnalysis(function, axis_info(function, functions), PlacedLayouts(), target)
        accesses = [o for o in function.walk() if o.name in FORMS]
        found += [access_width(kernel, operation) for operation in accesses]
    return [width for width in found if width is not None]


@pytest.mark.parametrize("step", [27, slow(1)])
def test_instructions_of_kernels_that_a_gpu_ran(step: int) -> None:
    """Triton 3.6 compiled them: it moves registers that repeat an element again."""
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][::step]
    for row in rows:
        found: Counter[str] = Counter()
        for width in widths(row["ttgir"], Release.V3_6):
            assert width.instruction is not None
            is_copy = width.instruction.startswith("cp.async")
            found[f"{width.instruction}{f' {width.width_bytes}' * is_copy}"] += width.instructions
        expected: Counter[str] = Counter()
        for name, count in row["ptx"].items():
            copied = re.fullmatch(r"(cp[\w.]+) , , 0x(\w+)", name)
            expected[f"{copied[1]} {int(copied[2], 16)}" if copied else name] += count
        assert found == expected, row["case"]


def kernel(
    access: str,
    element: str = "f16",
    *,
    target: str = "cuda:90",
    lanes: int = 32,
    size: int = 8,
    pointer: str = "{tt.divisibility = 16 : i32}",
    offset: str = "%r",
) -> str:
    """Return a module with one access to a vector of 1024 elements."""
    layout = (
        f"#ttg.blocked<{{sizePerThread = [{size}], threadsPerWarp = [{lanes}], "
        "warpsPerCTA = [4], order = [0]}>"
    )
    ints, bits, values = (f"tensor<1024x{t}, #l>" for t in ("i32", "i1", element))
    pointers = f"tensor<1024x!tt.ptr<{element}>, #l>"
    text = access.format(ints=ints, bits=bits, values=values, pointers=pointers)
    return f"""
#l = {layout}
#s = #ttg.shared_linear<{{offset = [[1], [2], [8], [4], [16], [32], [64], [128], [256], [512]]}},
                         alignment = 16>
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "{target}"}} {{
tt.func @f(%x: !tt.ptr<{element}> {pointer}, %n: i32, %v: {values}, %c: i1,
           %m: !ttg.memdesc<1024x{element}, #s, #ttg.shared_memory, mutable>) {{
  %r = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : {ints}
  %s = tt.splat %x : !tt.ptr<{element}> -> {pointers}
  %ns = tt.splat %n : i32 -> {ints}
  %rn = arith.addi %r, %ns : {ints}
  %p = tt.addptr %s, {offset} : {pointers}, {ints}
  %in = arith.cmpi slt, %r, %ns : {ints}
  %all = tt.splat %c : i1 -> {bits}
  {text}
  tt.return
}}
}}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (kernel("%0 = tt.load %p : {pointers}"), "1 x ld.global.v4.b32, 16 bytes"),
        (kernel("%0 = tt.load %p, %all : {pointers}"), "1 x ld.global.v4.b32, 16 bytes"),
        (kernel("%0 = tt.load %p, %in : {pointers}"), "8 x ld.global.b16, 2 bytes"),
        (kernel("%0 = tt.load %p : {pointers}", offset="%rn"), "8 x ld.global.b16, 2 bytes"),
        (kernel("%0 = tt.load %p : {pointers}", pointer=""), "8 x ld.global.b16, 2 bytes"),
        (kernel("%0 = tt.load %p : {pointers}", size=2), "4 x ld.global.b32, 4 bytes"),
        (kernel("%0 = tt.load %p : {pointers}", "f64", size=4), "4 x ld.global.v2.b64, 16 bytes"),
        (kernel("%0 = tt.load %p : {pointers}", "f64", size=4, target="cuda:100"),
         "4 x ld.global.v2.b64, 16 bytes"),
        (kernel("%0 = tt.load %p : {pointers}", "f64", size=4, target="cuda:100",
                pointer="{tt.divisibility = 32 : i32}"), "2 x ld.global.v4.b64, 32 bytes"),
        (kernel("%0 = tt.load %p cacheModifier = cg evictionPolicy = evict_first : {pointers}"),
         "1 x ld.global.cg.L1::evict_first.L2::cache_hint.v4.b32, 16 bytes"),
        (kernel("%0 = tt.load %p {{cachePolicy = #tt.cache_policy<cache_modifier = ca, "
                "eviction_policy = evict_last>}} : {pointers}"),
         "1 x ld.global.ca.L1::evict_last.L2::cache_hint.v4.b32, 16 bytes"),
        (kernel("%0 = tt.load %p {{isVolatile = true}} : {pointers}"),
         "1 x ld.volatile.global.v4.b32, 16 bytes"),
        (kernel("tt.store %p, %v cacheModifier = cs : {pointers}"),
         "1 x st.global.cs.v4.b32, 16 bytes"),
        (kernel('"tt.store"(%p, %v) <{{cache = 6 : i32, evict = 1 : i32}}> : '
                "({pointers}, {values}) -> ()"), "1 x st.global.wt.v4.b32, 16 bytes"),
        (kernel("%0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %v : ({pointers}, {values}) -> "
                "{values}"), "1 x atom.global.gpu.relaxed.add.noftz.v8.f16, 16 bytes"),
        (kernel("%0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %v : ({pointers}, {values}) -> "
                "{values}", target="cuda:80"),
         "4 x atom.global.gpu.relaxed.add.noftz.f16x2, 4 bytes"),
        (kernel("%0 = tt.atomic_rmw max, acq_rel, sys, %p, %v, %all : ({pointers}, {values}, "
                "{bits}) -> {values}", "i32"), "8 x atom.global.sys.acq_rel.max.s32, 4 bytes"),
        (kernel("%0 = tt.atomic_cas acq_rel, gpu, %p, %v, %v : ({pointers}, {values}, {values}) "
                "-> {values}", "i64"), "8 x atom.global.acq_rel.gpu.cas.b64, 8 bytes"),
        (kernel("%0 = ttg.async_copy_global_to_local %p, %m : {pointers} -> <1024xf16, #s, "
                "#ttg.shared_memory, mutable>"), "2 x cp.async.ca.shared.global, 8 bytes"),
        (kernel("%0 = ttg.async_copy_global_to_local %p, %m {{contiguity = 4 : i32}} : "
                "{pointers} -> <1024xf16, #s, #ttg.shared_memory, mutable>", pointer=""),
         "2 x cp.async.ca.shared.global, 8 bytes"),
        (kernel("%0 = tt.load %p : {pointers}", target="hip:gfx942", lanes=64, size=4),
         "1 x global_load_dwordx2, 8 bytes"),
        (kernel("%0 = tt.load %p : {pointers}", target="hip:gfx942", lanes=64, size=4, pointer=""),
         "1 x global_load_dwordx2, 8 bytes"),
        (kernel("%q = tt.addptr %p, %ns : {pointers}, {ints}\n%0 = tt.load %q : {pointers}",
                target="hip:gfx942", lanes=64, size=4), "1 x global_load_dwordx2, 8 bytes"),
        (kernel("%0 = tt.load %p : {pointers}", target="hip:gfx1100", offset="%rn"),
         "8 x global_load_u16, 2 bytes"),
        (kernel("tt.store %p, %v : {pointers}", "i8", target="hip:gfx1100", size=1),
         "8 x global_store_b8, 1 bytes"),
        (kernel("%0 = amdg.buffer_load %x[%r], %all : {values}", target="hip:gfx1250"),
         "1 x buffer_load_b128, 16 bytes"),
        (kernel("%0 = amdg.buffer_load %x[%rn] {{contiguity = 8 : i32}} : {values}",
                target="hip:gfx942", lanes=64, size=4), "1 x buffer_load_dwordx4, 16 bytes"),
        (kernel("amdg.buffer_store %v, %x[%r], %in : {values}", target="hip:gfx950", lanes=64,
                size=4), "4 x buffer_store_short, 2 bytes"),
        (kernel("%0 = amdg.buffer_atomic_rmw fadd, relaxed, gpu, %v, %x[%r] : {values}",
                target="hip:gfx942", lanes=64, size=4), "2 x buffer_atomic_pk_add_f16, 4 bytes"),
        (kernel("%0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %v : ({pointers}, {values}) -> "
                "{values}", "f32", target="hip:gfx1100"),
         "8 x global_atomic_cmpswap_b32, 4 bytes"),
        (kernel("%0 = ttg.async_copy_global_to_local %p, %m : {pointers} -> <1024xf16, #s, "
                "#ttg.shared_memory, mutable>", target="hip:gfx1250"),
         "2 x global_load_async_to_lds_b64, 8 bytes"),
        (kernel("%0 = amdg.buffer_load_to_local %x[%r] into %m : <f32>[{ints}] -> <1024xf32, #s, "
                "#ttg.shared_memory, mutable>", "f32", target="hip:gfx950", lanes=64, size=4),
         "1 x buffer_load_dwordx4 lds, 16 bytes"),
    ],
)  # fmt: skip
def test_instructions(text: str, expected: str) -> None:
    [width] = widths(text)
    assert f"{width.instructions} x {width.instruction}, {width.width_bytes} bytes" == expected


def test_operands_by_both_forms() -> None:
    attributes = {"operandSegmentSizes": "array<i32: 1, 1, 0, 1, 0>"}
    p, o, m, v, s = map(Value, ("%p", "%o", "%m", "%v", "%s"))
    generic = Operation("amdg.buffer_load", (p, o, m), (), attributes)
    assert operands(generic) == {"pointer": p, "offsets": o, "mask": m}
    custom = Operation("amdg.buffer_store", (v, p, o, m, s), (), {"stride": "%s"})
    assert operands(custom) == {"value": v, "pointer": p, "offsets": o, "mask": m, "stride": s}


def test_undefined_operands_have_no_width() -> None:
    assert widths(kernel("%0 = tt.load %nothing : {pointers}")) == []
    assert widths(kernel("%0 = tt.load %p, %nothing : {pointers}")) == []


def test_an_access_of_an_old_release_keeps_its_attributes() -> None:
    taken = tuple(map(Value, ("%p", "%b", "%i", "%m")))
    attributes = {"contiguity": "4 : i32", "operandSegmentSizes": "array<i32: 1, 1, 1, 1, 0>"}
    old = Operation("triton_gpu.insert_slice_async", taken, attributes=attributes)
    assert in_todays_form(old).attributes == {"contiguity": "4 : i32", "mask": "%m"}
