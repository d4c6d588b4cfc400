"""Reductions, scans, gathers and histograms in audits.

The counts were read from the PTX of Triton 3.9.0; `tests/compiler` compares random ones.
"""

from __future__ import annotations

import json
import re

import pytest

from tt_layout import parse_ir
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.conversion.exchange import scan
from tt_layout.analyses.conversion.reduction import reduction
from tt_layout.audit.audit import Audit, audit_module
from tt_layout.hardware import find_target
from tt_layout.reports.audit_data import audit_data
from tt_layout.reports.comparison import changes

ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], "
    "order = [1, 0]}>"
)
LINE = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>"
COLUMN = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], "
COLUMN += "order = [1, 0]}>"
PAIRS = "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 8], "
TURNED = PAIRS + "order = [1, 0]}>"
PAIRS += "order = [0, 1]}>"


def audited(body: str, *, target: str = "cuda:90", attributes: str = "") -> Audit:
    head = f'"ttg.num-warps" = 8 : i32, ttg.target = "{target}"{attributes}'
    aliases = f"#rows = {ROWS}\n#line = {LINE}\n#column = {COLUMN}\n#pairs = {PAIRS}\n"
    aliases += f"#turned = {TURNED}"
    function = f"  tt.func @f(%x: i32, %q: !tt.ptr<f32>) {{\n{body}\n    tt.return\n  }}"
    [module] = parse_ir(f"{aliases}\nmodule attributes {{{head}}} {{\n{function}\n}}")
    return audit_module(module)


def combine(name: str, source: str, result: str, axis: int, element: str = "f32") -> str:
    add = "addf" if element.startswith("f") else "addi"
    return f"""
    %a = arith.constant dense<1> : {source}
    %r = "tt.{name}"(%a) <{{axis = {axis} : i32}}> ({{
    ^bb0(%m: {element}, %n: {element}):
      %s = arith.{add} %m, %n : {element}
      tt.{name}.return %s : {element}
    }}) : ({source}) -> {result}"""


ROW_SUMS = "tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>"
COLUMN_SUMS = "tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>>"
PAIR_SUMS = "tensor<16xi32, #ttg.slice<{dim = 0, parent = #pairs}>>"
EXPECTED = {
    "within lanes": (combine("reduce", "tensor<64x32xf32, #rows>", ROW_SUMS, 1), (6, 0, 0, 0, 0)),
    "over warps": (
        combine("reduce", "tensor<64x32xf32, #rows>", COLUMN_SUMS, 0),
        (20, 0, 2, 2, 1024),
    ),
    "to a scalar": (combine("reduce", "tensor<1024xf32, #line>", "f32", 0), (8, 0, 1, 1, 32)),
    "by one instruction": (
        combine("reduce", "tensor<1024xi32, #line>", "i32", 0, "i32"),
        (0, 2, 1, 1, 32),
    ),
    "by one instruction for each of two groups": (
        combine("reduce", "tensor<16x16xi32, #pairs>", PAIR_SUMS, 0, "i32"),
        (0, 2, 0, 0, 0),
    ),
    "scan": (
        combine("scan", "tensor<256xf32, #line>", "tensor<256xf32, #line>", 0),
        (6, 0, 1, 2, 32),
    ),
    "gather within warps": (
        "    %a = arith.constant dense<1.0> : tensor<8x128xf32, #column>\n"
        "    %i = arith.constant dense<1> : tensor<8x256xi32, #column>\n"
        "    %g = tt.gather %a[%i] {axis = 1 : i32} : (tensor<8x128xf32, #column>, "
        "tensor<8x256xi32, #column>) -> tensor<8x256xf32, #column>",
        (32, 0, 0, 0, 0),
    ),
    "gather within threads": (
        "    %a = arith.constant dense<1.0> : tensor<1x128xf32, #column>\n"
        "    %i = arith.constant dense<0> : tensor<1x128xi32, #column>\n"
        "    %g = tt.gather %a[%i] {axis = 0 : i32} : (tensor<1x128xf32, #column>, "
        "tensor<1x128xi32, #column>) -> tensor<1x128xf32, #column>",
        (0, 0, 0, 0, 0),
    ),
    "gather over lanes of other columns": (
        "    %a = arith.constant dense<1.0> : tensor<16x16xf32, #pairs>\n"
        "    %i = arith.constant dense<1> : tensor<16x16xi32, #turned>\n"
        "    %g = tt.gather %a[%i] {axis = 0 : i32} : (tensor<16x16xf32, #pairs>, "
        "tensor<16x16xi32, #turned>) -> tensor<16x16xf32, #turned>",
        (0, 0, 1, 1, 1024),
    ),
    "gather over warps": (
        "    %a = arith.constant dense<1.0> : tensor<512xf32, #line>\n"
        "    %i = arith.constant dense<1> : tensor<256xi32, #line>\n"
        "    %g = tt.gather %a[%i] {axis = 0 : i32} : (tensor<512xf32, #line>, "
        "tensor<256xi32, #line>) -> tensor<256xf32, #line>",
        (0, 0, 2, 1, 2048),
    ),
    "histogram": (
        "    %a = arith.constant dense<1> : tensor<512xi32, #line>\n"
        "    %h = tt.histogram %a : tensor<512xi32, #line> -> tensor<16xi32, #line>",
        (0, 0, 3, 1, 128),
    ),
}
"""Case -> body; shuffles and reductions over lanes, stores and loads per warp, bytes of scratch."""


@pytest.mark.parametrize("name", EXPECTED)
def test_counts(name: str) -> None:
    body, counts = EXPECTED[name]
    [row] = audited(body).movements
    assert row.cost is not None
    details = row.cost.details.data(1)
    instructions = [sum(s["instructions"] for s in details[k]) for k in ("stores", "loads")]
    assert (
        details["shuffles_per_warp"],
        details["lane_reductions_per_warp"],
        *instructions,
        details["scratch_bytes"],
    ) == counts


@pytest.mark.parametrize(
    ("chip", "element", "combiner", "reductions"),
    [
        ("100", "f32", "maxnumf", 2),
        ("103", "f32", "maxnumf", 2),
        ("110", "f32", "maxnumf", 0),
        ("120", "f32", "maxnumf", 0),
        ("120", "i32", "maxsi", 2),
        ("100", "f32", "addf", 0),
        ("90", "i64", "addi", 3),
        ("90", "i64", "andi", 2),
        ("90", "i64", "maxsi", 2),
        ("100", "i64", "minui", 2),
        ("75", "i64", "addi", 0),
    ],
)
def test_which_gpus_combine_lanes_by_instructions(
    chip: str, element: str, combiner: str, reductions: int
) -> None:
    body = combine("reduce", f"tensor<1024x{element}, #line>", element, 0, element)
    body = re.sub(r"arith\.add\w", f"arith.{combiner}", body)
    [row] = audited(body, target=f"cuda:{chip}").movements
    assert row.cost is not None
    assert row.cost.details.data(1)["lane_reductions_per_warp"] == reductions


def test_a_reduction_alone_is_no_empty_audit() -> None:
    audit = audited(combine("reduce", "tensor<64x32xf32, #rows>", COLUMN_SUMS, 0))
    [total] = audit.totals
    assert (total.operation, total.bytes) == ("reduce", 64 * 32 * 4)
    assert json.loads(json.dumps(audit_data(audit)))["data_movements"][0]["group"] == "reduction"


@pytest.mark.parametrize(("target", "bpermutes"), [("gfx942", 16), ("gfx950", None)])
def test_amd_exchanges_near_lanes_on_registers(target: str, bpermutes: int | None) -> None:
    rows = ROWS.replace("[4, 8]", "[8, 8]")
    body = combine("reduce", "tensor<64x32xf32, #rows>", COLUMN_SUMS, 0).replace("#rows", rows)
    [row] = audited(body, target=f"hip:{target}").movements
    assert row.cost is not None
    details = row.cost.details.data(1)
    assert details.get("bpermutes_per_warp") == bpermutes
    assert [step["instruction"] for step in details["loads"]] == ["ds_read_b128"]
    assert details["scratch_bytes"] == 1024


HISTOGRAM = """
    %a = arith.constant dense<1> : tensor<2048xi32, #wide>
    %r = tt.histogram %a : tensor<2048xi32, #wide> -> tensor<512xi32, #wide>"""
OF_AMD = {
    "scan": (
        combine("scan", "tensor<512xf32, #one>", "tensor<512xf32, #one>", 0),
        (28, ""),
    ),
    "histogram": (HISTOGRAM, (0, "1 x ds_write2st64_b32, 8 x ds_add_u32, 1 x ds_read_b64")),
}
"""Case -> body; ``ds_bpermute_b32`` and accesses in the assembly of Triton 3.9.0."""


@pytest.mark.parametrize("name", OF_AMD)
def test_counts_of_amd(name: str) -> None:
    body, (bpermutes, accesses) = OF_AMD[name]
    wide = (
        "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>"
    )
    body = body.replace("#wide", wide).replace("#one", wide.replace("[4]", "[1]"))
    [row] = audited(body, target="hip:gfx942").movements
    assert row.cost is not None
    assert row.cost.details.data(1).get("bpermutes_per_warp", 0) == bpermutes
    assert accesses in row.cost.text


def test_an_atomic_on_a_number_is_one_threads() -> None:
    body = (
        "    %p = tt.get_program_id x : i32\n    %t = arith.constant true\n"
        "    %r = tt.atomic_rmw add, acq_rel, gpu, %n, %x, %t : (!tt.ptr<i32>, i32, i1) -> i32\n"
        "    %y = arith.addi %r, %x : i32"
    )
    audit = audited(body)
    [row] = audit.movements
    assert row.cost is not None
    assert (row.operation.bytes, row.cost.details.data(1)["threads"]) == (4, 1)
    assert row.cost.details.data(1)["result"]["scratch_bytes"] == 4
    [memory] = audit.shared_memory
    assert [(each.kind, each.bytes) for each in memory.allocations] == [("scratch", 4)]


def test_the_result_of_an_atomic_that_warps_repeat_goes_through_shared_memory() -> None:
    pointers, values = "tensor<32x!tt.ptr<f32>, #line>", "tensor<32xf32, #line>"
    body = (
        f"    %a = tt.splat %q : !tt.ptr<f32> -> {pointers}\n"
        f"    %v = arith.constant dense<1.0> : {values}\n"
        f"    %r = tt.atomic_rmw fadd, relaxed, gpu, %a, %v : ({pointers}, {values}) -> {values}\n"
        f"    tt.store %a, %r : {pointers}"
    )
    atomic, _ = audited(body).movements
    assert atomic.cost is not None
    assert atomic.cost.details.data(1)["result"]["stores"][0]["instruction"] == "st.shared.b32"


def test_differences_of_dumps_have_them() -> None:
    none, one = (audited(body).module for body in ("", EXPECTED["scan"][0]))
    [change] = changes(audit_module(none), audit_module(one))
    assert (change.sign, change.operation.name) == ("+", "tt.scan")


# -- shared memory ------------------------------------------------------------------------------

SHARED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"


def buffer(name: str, rows: int) -> str:
    kind = f"!ttg.memdesc<{rows}x64xf32, {SHARED}, #ttg.shared_memory, mutable>"
    return f"    {name} = ttg.local_alloc : () -> {kind}"


def test_buffers_share_memory_that_are_never_live_together() -> None:
    [memory] = audited(f"{buffer('%a', 32)}\n{buffer('%b', 64)}").shared_memory
    assert [(each.value, each.bytes, each.offset) for each in memory.allocations] == [
        ("%a", 8192, 0),
        ("%b", 16384, 0),
    ]
    assert (memory.bytes, memory.limit) == (16384, 232448)


def test_more_than_the_gpu_has_is_a_finding() -> None:
    audit = audited(buffer("%a", 512), target="cuda:86")
    [finding] = audit.findings
    assert finding.message == "@f takes 131072 bytes of shared memory, but a CTA may have 101376"


def test_what_the_module_states_stands_beside_it() -> None:
    [memory] = audited(buffer("%a", 32), attributes=", ttg.shared = 8200 : i32").shared_memory
    assert (memory.stated, memory.bytes) == (8200, 8192)


def test_barriers_stay_where_the_module_says_so() -> None:
    kind = (
        "!ttg.memdesc<1xi64, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, "
        "order = [0]}>, #ttg.shared_memory, mutable>"
    )
    body = "\n".join(
        f"    {name} = ttg.local_alloc : () -> {kind}\n    ttng.init_barrier {name}, 1 : {kind}"
        for name in ("%a", "%b")
    )
    offsets = {
        shared: [a.offset for a in memory.allocations]
        for shared in (8, 24)
        for memory in audited(body, attributes=f", ttg.shared = {shared} : i32").shared_memory
    }
    assert offsets == {8: [0, 0], 24: [0, 16]}


def test_a_function_that_calls_itself_ends() -> None:
    [memory] = audited(f"{buffer('%a', 32)}\n    tt.call @f(%x) : (i32) -> ()").shared_memory
    assert [each.kind for each in memory.allocations] == ["buffer", "call"]
    assert memory.bytes is None


def test_nothing_is_allocated_before_layouts_are_chosen() -> None:
    [module] = parse_ir(
        "tt.func @f(%a: tensor<64xf32>) {\n"
        "  %0 = tt.histogram %b : tensor<64xi32> -> tensor<16xi32>\n  tt.return\n}"
    )
    assert audit_module(module).shared_memory == ()


def test_until_triton_3_8_a_shuffle_for_each_bit_turns_a_scan_round() -> None:
    """16 registers of a reversed scan: as the wheels compile it for sm90, 160 shuffles and 32."""
    lanes = [[4], [8], [16], [32], [64]]
    bases = [
        ("register", [[1], [2], [512], [1024]]),
        ("lane", lanes),
        ("warp", [[128], [256]]),
    ]
    layout = LinearLayout.from_bases(bases, ["dim0"])
    found = [
        scan(layout, 0, (32,), find_target("sm90"), (0,), is_reversed=True, turns_by_bits=by_bits)
        for by_bits in (True, False)
    ]
    assert [one and one.shuffles for one in found] == [160 + 24, 32 + 24]


@pytest.mark.parametrize(("gpu", "turns"), [("gfx942", 1), ("gfx950", 3)])
def test_three_instructions_turn_the_lanes_of_a_reversed_scan(gpu: str, turns: int) -> None:
    """As the wheel 3.9 compiles it: one ``ds_bpermute_b32``, or two swaps and a mirrored row."""
    layout = LinearLayout.from_bases([("lane", [[1 << bit] for bit in range(6)])], ["dim0"])
    forwards, back = (
        scan(layout, 0, (32,), find_target(gpu), (0,), is_reversed=way) for way in (False, True)
    )
    assert forwards is not None
    assert back is not None
    assert back.shuffles - forwards.shuffles == 2 * turns


def test_of_warps_that_repeat_a_scan_one_stores() -> None:
    """64 numbers over 4 warps: two of them store a partial result, all load it."""
    lanes = [[1], [2], [4], [8], [16]]
    bases = [("lane", lanes), ("warp", [[32], [0]])]
    found = scan(LinearLayout.from_bases(bases, ["dim0"]), 0, (32,), find_target("sm90"), (0,))
    assert found is not None
    assert [step.wavefronts for step in (*found.stores, *found.loads)] == [2, 4]


def test_joined_loads_of_a_scan_take_two_wavefronts_at_128_bits() -> None:
    """As an H100 counted of a scan of 2048 numbers: 4 loads of each warp, 8 wavefronts."""
    lanes = [[4], [8], [16], [32], [64]]
    registers, warps = [[1], [2], [1024]], [[128], [256], [512]]
    bases = [("register", registers), ("lane", lanes), ("warp", warps)]
    found = scan(LinearLayout.from_bases(bases, ["dim0"]), 0, (32,), find_target("sm90"), (0,))
    assert found is not None
    [load] = found.loads
    assert (load.instruction, load.instructions) == ("ld.shared.v4.b32", 4)
    assert load.wavefronts == 8 * 4 * 2


@pytest.mark.parametrize(
    ("bits", "names"),
    [
        (32, ["ds_read_b128", "ds_read_b96"]),
        (16, ["ds_read_b96", "ds_read_u16"]),
        (64, ["ds_read_b128", "ds_read_b64"]),
    ],
)
def test_amd_joins_12_bytes_that_a_scan_loads(bits: int, names: list[str]) -> None:
    """Seven numbers that all lanes load: as the wheel 3.9 compiles them for gfx942 and gfx950."""
    lanes = [[1 << bit] for bit in range(6)]
    bases = [("register", [[256]]), ("lane", lanes), ("warp", [[64], [128]])]
    layout = LinearLayout.from_bases(bases, ["dim0"])
    found = scan(layout, 0, (bits,), find_target("gfx942"), (0,))
    assert found is not None
    assert [step.instruction for step in found.loads] == names


def test_a_sum_of_64_bits_is_loaded_in_one_wavefront() -> None:
    """All lanes load the same, as an H100 counted of a sum of i64 by threads."""
    lanes = [[1], [2], [4], [8], [16]]
    bases = [("lane", lanes), ("warp", [[32], [64]])]
    src = LinearLayout.from_bases(bases, ["dim0"])
    found = reduction(src, 0, (64,), find_target("sm90"), by_threads=True)
    assert found.loads[-1].wavefronts == 4
