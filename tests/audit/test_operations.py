"""Every operation of the dialects: costed, or in a table of the docs that says why not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from textwrap import fill

import pytest

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.ir.data_movements import OPERATIONS, Family

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "data-movements.md"
SECTIONS = ("Costed", "Move data, without a cost", "Move nothing")
OLD = ("experimental_", "insert_slice_tma", "store_async")
"""How names of earlier releases begin, which the list of today's operations lacks."""

COSTED_AS = {
    Family.GLOBAL: "[global memory](global-memory.md)",
    Family.ATOMIC: "atomics in [global memory](global-memory.md)",
    Family.CONVERSION: "a [conversion](analyses.md#tt-layout-convert)",
    Family.EXCHANGE: "an exchange between threads, as above",
    Family.SHARED: "[shared memory](bank-conflicts.md)",
    Family.INDEXED: "shared memory, with an access for each element; "
    "the wavefronts depend on the indices",
    Family.SLICE: "a store to shared memory, with pointers a load before it",
    Family.TMA: "[TMA messages](analyses.md#tma)",
    Family.TDM: "messages of gfx1250's [tensor data mover](analyses.md#tensor-data-mover)",
    Family.TENSOR_MEMORY: "[tensor memory](analyses.md#tensor-memory)",
    Family.MULTIPLICATION: "[multiplications](analyses.md#matrix-instructions), "
    "with operands read from memory",
    Family.FUNCTION: "shared memory: arguments of partitions, allocations of the called function",
}
"""Words of the docs for each family."""


@cache
def defined() -> list[str]:
    lines = (ROOT / "tests" / "data" / "operations.txt").read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines if not line.startswith("#")]


def bare(name: str) -> str:
    return name.partition(".")[2]


def written(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


@cache
def costed() -> list[str]:
    return [name for name in in_order() if OPERATIONS[bare(name)].family is not None]


STAYING = """
    addptr alloc approx_divf arrive_barrier_named assume_uniform async_commit_group
    async_tdm_intrinsic_wait async_tdm_wait async_tma_store_token_wait async_tma_store_wait
    async_wait barrier bitcast broadcast cat clampf clc_advance clc_get_program_id clc_is_canceled
    clock64 cluster_arrive cluster_barrier cluster_barrier_arrive cluster_barrier_wait
    cluster_size_1d cluster_wait concat cond_barrier elementwise_inline_asm expand_dims
    extern_elementwise extract_desc extract_slice fence fence_async_shared
    fence_mbarrier_init_release_cluster fp4_to_fp fp_to_fp func get_num_programs get_program_id
    global_scratch_alloc grid_dependency_launch_dependents grid_dependency_wait in_thread_transpose
    inline_asm int_to_ptr join local_dealloc make_range map_elementwise map_elementwise.return
    map_to_remote_buffer mask mask.return memdesc_dynamic_subslice memdesc_index memdesc_reinterpret
    memdesc_reshape memdesc_subslice memdesc_trans memory_counter_wait mfma_commit mulhiui
    packed_arith precise_divf precise_sqrt predicate_stage ptr_to_int reduce.return register_handoff
    register_resident reinterpret_tensor_descriptor rematerialized_range reshape return
    scaled_downcast_fp4 scaled_downcast_fp8 scaled_upcast_fp4 scaled_upcast_fp8 scan.return splat
    split subtiled_region subtiled_region_yield tc_gen5_commit tcgen5_global_alloc tmem_subslice
    tmem_wait trans unsplat wait_barrier_named warp_group_dot_wait warp_id warp_return
    warp_specialize.partitions warp_yield
"""
MOVES_NOTHING = frozenset(STAYING.split())
"""What such operations say stays in a thread's registers, names a place, waits or orders."""


@cache
def in_order() -> list[str]:
    """Return the operations that have a row, in the order of the rows."""
    order = list(OPERATIONS)
    listed = [name for name in defined() if bare(name) in OPERATIONS]
    return sorted(listed, key=lambda name: order.index(bare(name)))


def table(heading: str, names: Iterable[str], words: Callable[[str], str]) -> list[str]:
    """Return a table of operations by what is said of them."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(words(name), []).append(name)
    rows = (f"| {written(group)} | {text} |" for text, group in groups.items())
    return [f"| operations | {heading} |", "|---|---|", *rows]


def words_of_family(name: str) -> str:
    family = OPERATIONS[bare(name)].family
    assert family is not None
    return COSTED_AS[family]


def tables() -> dict[str, str]:
    """Return what the docs say of every operation, by the heading."""
    lacking = [name for name in in_order() if OPERATIONS[bare(name)].no_cost]
    nothing = [name for name in defined() if bare(name) in MOVES_NOTHING]
    by_dialect = [
        [name for name in nothing if name.startswith(f"{dialect}.")]
        for dialect in ("tt", "ttg", "ttng", "amdg", "ttig")
    ]
    still = ";\n".join(fill(written(names), 100) for names in by_dialect)
    parts = (
        table("as", costed(), words_of_family),
        table("why", lacking, lambda name: OPERATIONS[bare(name)].no_cost),
        [f"{still}."],
    )
    return {section: "\n".join(part) + "\n" for section, part in zip(SECTIONS, parts)}


def test_every_operation_is_a_row_or_moves_nothing() -> None:
    known = [*OPERATIONS, *MOVES_NOTHING]
    assert len(known) == len(set(known))
    assert set(map(bare, defined())) <= set(known)
    unknown = set(known) - set(map(bare, defined()))
    assert {name for name in unknown if not name.startswith(OLD)} == {
        "alloc_tensor", "dot_async", "insert_slice", "insert_slice_async", "insert_slice_async_v2",
    }  # fmt: skip


def test_a_row_says_what_it_costs_or_why_that_is_not_known() -> None:
    for name, row in OPERATIONS.items():
        assert (row.family is None) == bool(row.no_cost), name


@pytest.mark.parametrize("section", SECTIONS)
def test_the_docs_have_the_table(section: str) -> None:
    assert f"\n### {section}\n" in PAGE.read_text(encoding="utf-8")
    assert tables()[section] in PAGE.read_text(encoding="utf-8")


def write_tables() -> None:
    """Write the tables into the docs."""
    text = PAGE.read_text(encoding="utf-8")
    for section, found in tables().items():
        start = text.index(MARKS[section], text.index(f"\n### {section}\n"))
        end = text.index("\n\n", start) if section != SECTIONS[-1] else len(text) - 1
        text = text[:start] + found.rstrip("\n") + text[end:]
    PAGE.write_text(text, encoding="utf-8")


MARKS = dict(zip(SECTIONS, ("| operations", "| operations", "`tt.")))
"""How what is generated of a section begins."""


# -- examples of what is costed -----------------------------------------------------------------

ALIASES = """
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [LANES8, 8], warpsPerCTA = [4, 1],
                     order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [LANES], warpsPerCTA = [4],
                      order = [0]}>
#lanes = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [LANES], warpsPerCTA = [4],
                       order = [0]}>
#indices = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4],
    threadsPerWarp = [LANES, 1], warpsPerCTA = [1, 4], order = [1, 0]}>}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>
#tma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1],
                        instrShape = [16, 8]}>
#wgmma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1],
                          instrShape = [16, 64, 16]}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#tmemS = #ttng.tensor_memory_scales_encoding<>
#tcols = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1],
                       order = [0, 1]}>
#mfma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [4, 1], instrShape = [32, 32, 64],
                       isTransposed = true}>
#bytes = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#smem = #ttg.shared_memory
"""

LINE = "tensor<1024xf32, #line>"
LINE_I = "tensor<1024xi32, #line>"
POINTERS = "tensor<1024x!tt.ptr<f32>, #line>"
POINTERS_I = "tensor<1024x!tt.ptr<i32>, #line>"
ROW = "tensor<64x64xf16, #row>"
ROW_I = "tensor<64x64xi32, #row>"
BUFFER = "!ttg.memdesc<64x64xf16, #shared, #smem, mutable>"
BUFFER_I = "!ttg.memdesc<64x64xi32, #shared, #smem, mutable>"
FLAT = "!ttg.memdesc<1024xf32, #flat, #smem, mutable>"
TMA = "!ttg.memdesc<64x64xf16, #tma, #smem, mutable>"
DESC = "!tt.tensordesc<64x64xf16, #tma>"
DESC_ROW = "!tt.tensordesc<1x64xf16, #tma>"
PADDED = "!ttg.memdesc<64x64xf16, #padded, #smem, mutable>"
PDESC = "!tt.tensordesc<64x64xf16, #padded>"
BARRIER = "!ttg.memdesc<1xi64, #flat, #smem, mutable>"
TMEM = "!ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>"
TENSOR = "tensor<128x64xf32, #tcols>"
A = "!ttg.memdesc<128x64xf16, #tma, #smem>"
B = "!ttg.memdesc<64x64xf16, #tma, #smem>"
A8 = "!ttg.memdesc<128x256xf8E5M2, #tmem, #ttng.tensor_memory>"
B8 = "!ttg.memdesc<256x64xf8E5M2, #bytes, #smem>"
SCALES = ["!ttg.memdesc<128x8xi8, #tmemS, #ttng.tensor_memory>"]
SCALES += ["!ttg.memdesc<64x8xi8, #tmemS, #ttng.tensor_memory>"]
FP4 = [f"#ttg.dot_op<{{opIdx = {k}, parent = #mfma, kWidth = 16}}>" for k in (0, 1)]
SUM = """({{
^bb0(%m: f32, %n: f32):
  %s = arith.addf %m, %n : f32
  tt.{0}.return %s : f32
}})"""

EXAMPLES = {
    "tt.load": ("", f"%r = tt.load %pp : {POINTERS}"),
    "tt.store": ("", f"tt.store %pp, %v : {POINTERS}"),
    "tt.atomic_rmw": (
        "",
        f"%r = tt.atomic_rmw fadd, relaxed, gpu, %pp, %v : ({POINTERS}, {LINE}) -> {LINE}",
    ),
    "tt.atomic_cas": (
        "",
        f"%r = tt.atomic_cas relaxed, gpu, %qq, %w, %w : ({POINTERS_I}, {LINE_I}, {LINE_I}) "
        f"-> {LINE_I}",
    ),
    "ttg.async_copy_global_to_local": (
        f"%m: {FLAT}",
        f"%r = ttg.async_copy_global_to_local %pp, %m : {POINTERS} -> {FLAT}",
    ),
    "amdg.buffer_load": ("gfx942", f"%r = amdg.buffer_load %p[%o] : {LINE}"),
    "amdg.buffer_load_to_local": (
        f"gfx942 %m: {FLAT}",
        f"%l = ttg.convert_layout %o : {LINE_I} -> tensor<1024xi32, #lanes>\n"
        "%r = amdg.buffer_load_to_local %p[%l] into %m : "
        "<f32>[tensor<1024xi32, #lanes>] -> <1024xf32, #flat, #smem, mutable>",
    ),
    "amdg.buffer_store": ("gfx942", f"amdg.buffer_store %v, %p[%o] : !tt.ptr<f32> -> {LINE}"),
    "amdg.buffer_atomic_rmw": (
        "gfx942",
        f"%r = amdg.buffer_atomic_rmw fadd, relaxed, gpu, %v, %p[%o] : {LINE}",
    ),
    "amdg.buffer_atomic_cas": (
        "gfx942",
        f"%r = amdg.buffer_atomic_cas relaxed, gpu, %w, %w, %q[%o] : {LINE_I}",
    ),
    "amdg.async_copy_local_to_global": (
        f"gfx1250 %m: {FLAT}",
        f"%r = amdg.async_copy_local_to_global %m, %pp : {FLAT} -> {POINTERS}",
    ),
    "ttg.convert_layout": (
        f"%a: {ROW}",
        f"%r = ttg.convert_layout %a : {ROW} -> tensor<64x64xf16, #mma>",
    ),
    "tt.reduce": (
        "",
        f'%r = "tt.reduce"(%v) <{{axis = 0 : i32}}> {SUM.format("reduce")} : ({LINE}) -> f32',
    ),
    "tt.scan": (
        "",
        f'%r = "tt.scan"(%v) <{{axis = 0 : i32, reverse = false}}> '
        f"{SUM.format('scan')} : ({LINE}) -> {LINE}",
    ),
    "tt.gather": ("", f"%r = tt.gather %v[%o] {{axis = 0 : i32}} : ({LINE}, {LINE_I}) -> {LINE}"),
    "tt.histogram": ("", f"%r = tt.histogram %o : {LINE_I} -> tensor<128xi32, #line>"),
    "ttg.local_alloc": (f"%a: {ROW}", f"%r = ttg.local_alloc %a : ({ROW}) -> {BUFFER}"),
    "ttg.local_load": (f"%m: {BUFFER}", f"%r = ttg.local_load %m : {BUFFER} -> {ROW}"),
    "ttg.local_store": (
        f"%m: {BUFFER}, %a: {ROW}",
        f"ttg.local_store %a, %m : {ROW} -> {BUFFER}",
    ),
    "amdg.local_load_packed_tranposed": (
        "gfx950 %m: !ttg.memdesc<64x64xi8, #shared, #smem, mutable>",
        "%r = amdg.local_load_packed_tranposed %m : "
        "!ttg.memdesc<64x64xi8, #shared, #smem, mutable> -> tensor<64x64xi8, #row>",
    ),
    "amdg.local_load_packed_transposed": (
        "gfx950 %m: !ttg.memdesc<64x64xi8, #shared, #smem, mutable>",
        "%r = amdg.local_load_packed_transposed %m : "
        "!ttg.memdesc<64x64xi8, #shared, #smem, mutable> -> tensor<64x64xi8, #row>",
    ),
    "ttg.local_gather": (
        f"%m: {BUFFER}, %x: {ROW_I}",
        f"%r = ttg.local_gather %m[%x] {{axis = 0 : i32}} : {BUFFER}, {ROW_I} -> {ROW}",
    ),
    "ttg.local_scatter": (
        f"%m: {BUFFER}, %x: {ROW_I}, %a: {ROW}",
        f"ttg.local_scatter %m[%x], %a {{axis = 0 : i32}} : {BUFFER}, {ROW_I}, {ROW}",
    ),
    "ttg.local_atomic_scatter_rmw": (
        f"%m: {BUFFER_I}, %x: {ROW_I}, %k: tensor<64x64xi1, #row>",
        "%r = ttg.local_atomic_scatter_rmw add, %m[%x], %x, %k {axis = 0 : i32} : "
        f"({BUFFER_I}, {ROW_I}, {ROW_I}, tensor<64x64xi1, #row>) -> {ROW_I}",
    ),
    "ttng.async_tma_copy_global_to_local": (
        f"%d: {DESC}, %m: {TMA}, %b: {BARRIER}, %t: i1",
        f"ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %t : {DESC}, {BARRIER} -> {TMA}",
    ),
    "ttng.async_tma_copy_local_to_global": (
        f"%d: {DESC}, %m: {TMA}",
        f"ttng.async_tma_copy_local_to_global %d[%i, %i] %m : {DESC}, {TMA}",
    ),
    "ttng.async_tma_reduce": (
        f"%d: {DESC}, %m: {TMA}",
        f"ttng.async_tma_reduce add, %d[%i, %i] %m : {DESC}, {TMA}",
    ),
    "ttng.async_tma_gather": (
        f"%d: {DESC_ROW}, %m: {TMA}, %b: {BARRIER}, %t: i1, %x: tensor<64xi32, #indices>",
        "ttng.async_tma_gather %d[%x, %i] %m, %b, %t : "
        f"{DESC_ROW}, tensor<64xi32, #indices>, i32, {BARRIER}, {TMA}, i1",
    ),
    "ttng.async_tma_scatter": (
        f"%d: {DESC_ROW}, %m: {TMA}, %x: tensor<64xi32, #indices>",
        f"ttng.async_tma_scatter %d[%x, %i] %m : {DESC_ROW}, tensor<64xi32, #indices>, i32, {TMA}",
    ),
    "amdg.async_tdm_copy_global_to_local": (
        f"gfx1250 %d: {PDESC}, %m: {PADDED}, %t: i32",
        "%r = amdg.async_tdm_copy_global_to_local %d[%i, %i] into %m, pred = %t : "
        f"{PDESC} -> {PADDED}",
    ),
    "amdg.async_tdm_fused_copy_global_to_local": (
        f"gfx1250 %d: {PDESC}, %m: {PADDED}, %k: {PADDED}",
        "%r = amdg.async_tdm_fused_copy_global_to_local %d, %d into %m, %k "
        "{warp_used_hints = array<i32: 3, 12>} : "
        f"{PDESC}, {PDESC} -> {PADDED}, {PADDED}",
    ),
    "amdg.async_tdm_copy_local_to_global": (
        f"gfx1250 %d: {PDESC}, %m: {PADDED}",
        f"amdg.async_tdm_copy_local_to_global %d[%i, %i] from %m : {PADDED} -> {PDESC}",
    ),
    "amdg.async_tdm_gather": (
        f"gfx1250 %d: {PDESC}, %m: {PADDED}, %x: tensor<64xi32, #indices>, %t: i32",
        "%r = amdg.async_tdm_gather %d[%x, %i] into %m, pred = %t : "
        f"tensor<64xi32, #indices>, {PADDED} -> {PDESC}",
    ),
    "amdg.async_tdm_scatter": (
        f"gfx1250 %d: {PDESC}, %m: {PADDED}, %x: tensor<64xi32, #indices>",
        "amdg.async_tdm_scatter %d[%x, %i] from %m : "
        f"tensor<64xi32, #indices>, {PADDED} -> {PDESC}",
    ),
    "ttng.tmem_alloc": (
        f"blackwell %a: {TENSOR}",
        f"%r = ttng.tmem_alloc %a : ({TENSOR}) -> {TMEM}",
    ),
    "ttng.tmem_load": (f"blackwell %m: {TMEM}", f"%r = ttng.tmem_load %m : {TMEM} -> {TENSOR}"),
    "ttng.tmem_store": (
        f"blackwell %m: {TMEM}, %a: {TENSOR}, %t: i1",
        f"ttng.tmem_store %a, %m, %t : {TENSOR} -> {TMEM}",
    ),
    "ttng.tmem_copy": (
        f"blackwell %a: !ttg.memdesc<128x64xf32, #shared, #smem>, %m: {TMEM}",
        f"ttng.tmem_copy %a, %m : !ttg.memdesc<128x64xf32, #shared, #smem>, {TMEM}",
    ),
    "tt.dot": (
        "%a: tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, "
        "%b: tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, "
        "%c: tensor<64x64xf32, #mma>",
        "%r = tt.dot %a, %b, %c : "
        "tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * "
        "tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> "
        "tensor<64x64xf32, #mma>",
    ),
    "ttng.warp_group_dot": (
        f"%a: !ttg.memdesc<64x64xf16, #tma, #smem>, %b: {B}, %c: tensor<64x64xf32, #wgmma>",
        f"%r = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x64xf16, #tma, #smem> * {B} -> "
        "tensor<64x64xf32, #wgmma>",
    ),
    "tt.dot_scaled": (
        f"gfx950 %a: tensor<128x128xi8, {FP4[0]}>, %b: tensor<128x128xi8, {FP4[1]}>, "
        "%c: tensor<128x128xf32, #mfma>",
        "%r = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = e2m1 {fastMath = false} : "
        f"tensor<128x128xi8, {FP4[0]}> * tensor<128x128xi8, {FP4[1]}> -> "
        "tensor<128x128xf32, #mfma>",
    ),
    "ttng.tc_gen5_mma_scaled": (
        f"blackwell %a: {A8}, %b: {B8}, %m: {TMEM}, %s: {SCALES[0]}, %e: {SCALES[1]}, %t: i1",
        "ttng.tc_gen5_mma_scaled %a, %b, %m, %s, %e, %t, %t lhs = e5m2 rhs = e5m2 : "
        f"{A8}, {B8}, {TMEM}, {SCALES[0]}, {SCALES[1]}",
    ),
    "ttng.tc_gen5_mma": (
        f"blackwell %a: {A}, %b: {B}, %m: {TMEM}, %t: i1",
        f"ttng.tc_gen5_mma %a, %b, %m, %t, %t : {A}, {B}, {TMEM}",
    ),
}
"""Costed operation -> what kind of GPU and arguments it needs, and itself."""


def module(head: str, body: str) -> str:
    kind, arguments = re.fullmatch(r"(blackwell|gfx\w+|)\s*(.*)", head).groups()  # type: ignore[union-attr]
    target = {"": "cuda:90", "blackwell": "cuda:100"}.get(kind, f"hip:{kind}")
    lanes = 64 if target in ("hip:gfx942", "hip:gfx950") else 32
    aliases = ALIASES.replace("LANES8", str(lanes // 8)).replace("LANES", str(lanes))
    given = ", ".join(filter(None, ["%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %i: i32", arguments]))
    return f"""{aliases}
module attributes {{"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "{target}",
                   "ttg.threads-per-warp" = {lanes} : i32}} {{
tt.func @f({given}) {{
  %o = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : {LINE_I}
  %v = arith.constant dense<1.0> : {LINE}
  %w = arith.constant dense<1> : {LINE_I}
  %ps = tt.splat %p : !tt.ptr<f32> -> {POINTERS}
  %pp = tt.addptr %ps, %o : {POINTERS}, {LINE_I}
  %qs = tt.splat %q : !tt.ptr<i32> -> {POINTERS_I}
  %qq = tt.addptr %qs, %o : {POINTERS_I}, {LINE_I}
  {body}
  tt.return
}}
}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_costed(name: str) -> None:
    [read] = parse_ir(module(*EXAMPLES[name]))
    audit = audit_module(read)
    found = [row.cost for row in audit.movements if row.operation.name == name]
    products = [one.instruction for one in audit.multiplications if one.name == name]
    unknown = [row.cost_unknown or row.refusal for row in audit.movements]
    assert [*found, *products], unknown
    assert None not in (*found, *products), (unknown, audit.findings)


def test_fused_copies_are_one_instruction() -> None:
    name = "amdg.async_tdm_fused_copy_global_to_local"
    [read] = parse_ir(module(*EXAMPLES[name]))
    [cost] = [row.cost for row in audit_module(read).movements if row.operation.name == name]
    assert cost is not None
    data = cost.details.data(1)
    assert (data["instructions"], len(data["boxes"])) == (1, 2)


IN_SHARED_MEMORY = {
    "ttg.warp_specialize": "ttg.warp_specialize(%p)\ndefault {\n  ttg.warp_yield\n}\n"
    "partition0(%z: !tt.ptr<f32>) num_warps(4) {\n  ttg.warp_return\n} : (!tt.ptr<f32>) -> ()",
    "tt.call": "tt.call @f(%p, %q, %i) : (!tt.ptr<f32>, !tt.ptr<i32>, i32) -> ()",
}
"""Operations that are in the table of shared memory."""


@pytest.mark.parametrize("name", IN_SHARED_MEMORY)
def test_example_takes_shared_memory(name: str) -> None:
    [read] = parse_ir(module("", IN_SHARED_MEMORY[name]))
    [memory] = audit_module(read).shared_memory
    assert name in {allocation.operation for allocation in memory.allocations}


def test_every_costed_operation_has_an_example() -> None:
    assert {*EXAMPLES, *IN_SHARED_MEMORY} == set(costed())


if __name__ == "__main__":
    write_tables()


@pytest.mark.parametrize(("kind", "element", "cycles"), [("fadd", "f32", 3.5), ("add", "i32", 1)])
def test_an_addition_of_floats_in_shared_memory_is_a_loop(
    kind: str, element: str, cycles: float
) -> None:
    buffer, row = BUFFER_I.replace("i32", element), ROW_I.replace("i32", element)
    mask = "tensor<64x64xi1, #row>"
    head = f"%m: {buffer}, %x: {ROW_I}, %a: {row}, %k: {mask}"
    body = f"%r = ttg.local_atomic_scatter_rmw {kind}, %m[%x], %a, %k {{axis = 0 : i32}} : "
    body += f"({buffer}, {ROW_I}, {row}, {mask}) -> {row}"
    [read] = parse_ir(module(head, body))
    [cost] = [one.cost for one in audit_module(read).movements if "atomic" in one.operation.name]
    assert cost is not None
    assert cost.cycles == 4 * cost.details.data(1)["instructions"] * cycles
    assert ("a loop of 3.5 cycles" in cost.text) == (element == "f32")
