"""Parts of buffers: where they lie, and what accesses to them cost there."""

from __future__ import annotations

import numpy as np
import pytest

from tt_layout import parse_ir, parse_layout
from tt_layout.analyses.global_memory.async_copy import async_copy_wavefronts
from tt_layout.audit.audit import audit_module
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.operations.buffer_parts import part_origin, part_start
from tt_layout.audit.values.given import GivenValues
from tt_layout.placement import PlacedLayout

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], "
    "order = [1, 0]}>"
)
PHASED = "#ttg.swizzled_shared<{vec = 8, perPhase = 8, maxPhase = 8, order = [1, 0]}>"
PADDED = "#ttg.padded_shared<[64:+1] {order = [1, 0], shape = [64, 64]}>"


def memdesc(shape: str, whole: str = "", element: str = "f16") -> str:
    return f"!ttg.memdesc<{shape}x{element}, #shared, #smem, mutable{', ' * bool(whole)}{whole}>"


def dump(*body: str, shared: str, target: str = "hip:gfx942", blocked: str = BLOCKED) -> str:
    lanes = 64 if "gfx9" in target else 32
    numbers = {"num-warps": 1, "num-ctas": 1, "threads-per-warp": lanes}
    attributes = ", ".join(f'"ttg.{name}" = {count} : i32' for name, count in numbers.items())
    lines = "\n".join(f"    {line}" for line in body)
    return f"""\
#blocked = {blocked}
#shared = {shared}
#smem = #ttg.shared_memory
module attributes {{{attributes}, ttg.target = "{target}"}} {{
  tt.func @f(%i: i32, %p: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}) {{
    %c2 = arith.constant 2 : i32
{lines}
    tt.return
  }}
}}
"""


def costs(text: str) -> list[str]:
    """Return the costs of the loads and stores of shared memory, in words."""
    [module] = parse_ir(text)
    rows = audit_module(module).movements
    return [row.cost.text for row in rows if row.cost is not None]


LOAD = "tensor<8x64xf16, #blocked>"


def test_a_part_is_loaded_as_it_lies() -> None:
    """Its rows may be swizzled by where it begins, so that registers are xored, not added."""
    part, whole = memdesc("8x64", "64x64"), memdesc("8x64")
    text = dump(
        f"%0 = ttg.local_alloc : () -> {memdesc('64x64')}",
        f"%1 = ttg.memdesc_subslice %0[8, 0] : {memdesc('64x64')} -> {part}",
        f"%2 = ttg.local_load %1 : {part} -> {LOAD}",
        f"%3 = ttg.local_alloc : () -> {whole}",
        f"%4 = ttg.local_load %3 : {whole} -> {LOAD}",
        shared=PHASED,
    )
    of_part, of_whole = costs(text)
    assert of_part.startswith("2 x ds_read_b64, ")
    assert of_whole.startswith("1 x ds_read2_b64, ")


VIEWS = [
    f"%0 = ttg.local_alloc : () -> {memdesc('3x64x64')}",
    f"%1 = ttg.memdesc_index %0[%c2] : {memdesc('3x64x64')} -> {memdesc('64x64')}",
    f"%2 = ttg.memdesc_subslice %1[0, 32] : {memdesc('64x64')} -> {memdesc('64x32', '64x64')}",
    f"%3 = ttg.memdesc_subslice %2[16, 0] : {memdesc('64x32', '64x64')} -> "
    f"{memdesc('16x32', '64x64')}",
    f"%4 = ttg.memdesc_trans %3 {{order = array<i32: 1, 0>}} : {memdesc('16x32', '64x64')} -> "
    f"{memdesc('32x16', '64x64')}",
    f"%5 = ttg.memdesc_index %0[%i] : {memdesc('3x64x64')} -> {memdesc('64x64')}",
    f"%6 = ttg.memdesc_subview %0[%c2, %c2, %i] : {memdesc('3x64x64')} -> "
    f"{memdesc('64x32', '3x64x64')}",
    f"%7 = ttg.memdesc_reshape %1 : {memdesc('64x64')} -> {memdesc('4096')}",
]
BUFFER = 2 * (64 * 64 + 64)  # bytes, with a slot of padding after each row of 64


@pytest.mark.parametrize(
    ("name", "first", "shift", "start"),
    [
        ("%0", (0, 0), 0, 0),
        ("%1", (0, 0), 2 * BUFFER, 2 * BUFFER),
        ("%2", (0, 32), 2 * BUFFER, 2 * BUFFER + 64),
        ("%3", (16, 32), 2 * BUFFER, 2 * BUFFER + 64 + 16 * 130),
        ("%4", (32, 16), 2 * BUFFER, None),
        ("%5", (0, 0), None, 0),
        ("%6", (2, 0), None, 2 * 130),
    ],
)
def test_values_are_followed_to_their_allocation(
    name: str, first: tuple[int, ...], shift: int | None, start: int | None
) -> None:
    [module] = parse_ir(dump(*VIEWS[:7], shared=PADDED))
    audited = AuditedModule(module, SharedWork())
    [function] = audited.functions
    found = part_origin(function.values[name], audited.evaluator(function), audited.layouts)
    assert found == (first, shift)
    ir_type = function.type_of(function.values[name])
    assert ir_type is not None
    placed = audited.layouts.of(ir_type)
    assert isinstance(placed, PlacedLayout)
    if start is not None:
        assert part_start(found, placed) == start


def test_what_is_chosen_by_an_argument_is_known_with_it() -> None:
    [module] = parse_ir(dump(*VIEWS[:7], shared=PADDED))
    audited = AuditedModule(module, SharedWork(), GivenValues({"i": 1}))
    [function] = audited.functions
    found = part_origin(function.values["%5"], audited.evaluator(function), audited.layouts)
    assert found == ((0, 0), BUFFER)


def test_a_chain_of_any_length_is_followed() -> None:
    whole = memdesc("64x64")
    views = [
        f"%{n + 1} = ttg.memdesc_subslice %{n}[0, 0] : {whole} -> {whole}" for n in range(3000)
    ]
    [module] = parse_ir(dump(f"%0 = ttg.local_alloc : () -> {whole}", *views, shared=PADDED))
    audited = AuditedModule(module, SharedWork())
    [function] = audited.functions
    found = part_origin(function.values["%3000"], audited.evaluator(function), audited.layouts)
    assert found == ((0, 0), 0)


COPIED = (
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 16], warpsPerCTA = [1, 1], "
    "order = [1, 0]}>"
)


@pytest.mark.parametrize("whole", ["32x32", "64x64", "32x128"])
def test_asynchronous_copies_into_a_part(whole: str) -> None:
    shared = "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>"
    rows, columns = (int(size) for size in whole.split("x"))
    first = rows - 32, columns - 32
    buffer = memdesc(whole)
    part = memdesc("32x32", whole if whole != "32x32" else "")
    slice_ = [f"%1 = ttg.memdesc_subslice %0[{first[0]}, {first[1]}] : {buffer} -> {part}"]
    numbers = "tensor<32xi32, #ttg.slice<{dim = %d, parent = #blocked}>>"
    pointers = "tensor<32x32x!tt.ptr<f16>, #blocked>"
    offsets = "tensor<32x32xi32, #blocked>"
    body = [
        f"%0 = ttg.local_alloc : () -> {buffer}",
        *(slice_ if part != buffer else []),
        f"%r = tt.make_range {{end = 32 : i32, start = 0 : i32}} : {numbers % 1}",
        f"%r1 = tt.expand_dims %r {{axis = 1 : i32}} : {numbers % 1} -> tensor<32x1xi32, #blocked>",
        f"%c = tt.make_range {{end = 32 : i32, start = 0 : i32}} : {numbers % 0}",
        f"%c1 = tt.expand_dims %c {{axis = 0 : i32}} : {numbers % 0} -> tensor<1x32xi32, #blocked>",
        "%s = arith.constant dense<64> : tensor<32x1xi32, #blocked>",
        "%r2 = arith.muli %r1, %s : tensor<32x1xi32, #blocked>",
        f"%r3 = tt.broadcast %r2 : tensor<32x1xi32, #blocked> -> {offsets}",
        f"%c3 = tt.broadcast %c1 : tensor<1x32xi32, #blocked> -> {offsets}",
        f"%o = arith.addi %r3, %c3 : {offsets}",
        f"%q = tt.splat %p : !tt.ptr<f16> -> {pointers}",
        f"%a = tt.addptr %q, %o : {pointers}, {offsets}",
        f"%t = ttg.async_copy_global_to_local %a, %{'1' if part != buffer else '0'} : "
        f"{pointers} -> {part}",
    ]
    [module] = parse_ir(dump(*body, shared=shared, target="cuda:80", blocked=COPIED))
    audit = audit_module(module, given=GivenValues({"p": 0}))
    cost = audit.movements[-1].cost
    assert cost is not None
    assert cost.details.data(1)["width_bytes"] == 4
    assert cost.details.data(1)["wavefronts"] == expected_wavefronts(shared, (rows, columns), first)


def expected_wavefronts(shared: str, whole: tuple[int, int], first: tuple[int, int]) -> int:
    """Count the same lane by lane: two columns each, 16 lanes along a row."""
    inverse = parse_layout(shared).to_linear_layout(whole).pseudoinvert()
    source = np.zeros((16, 32), np.int64)
    target = np.zeros((16, 32), np.int64)
    for instruction in range(16):
        for lane in range(32):
            row, column = 2 * instruction + lane // 16, 2 * (lane % 16)
            source[instruction, lane] = 2 * (64 * row + column)
            place = {"dim0": row + first[0], "dim1": column + first[1]}
            target[instruction, lane] = 2 * inverse.apply(place)["offset"]
    active = np.ones((16, 32), bool)
    return int(async_copy_wavefronts(source, target, active, 4).sum())


@pytest.mark.parametrize(("target", "traps"), [("cuda:90", True), ("hip:gfx1201", False)])
def test_padding_that_misaligns_an_access_is_a_finding(target: str, traps: bool) -> None:
    whole = memdesc("64x64")
    text = dump(
        f"%0 = ttg.local_alloc : () -> {whole}",
        f"%1 = ttg.local_load %0 : {whole} -> tensor<64x64xf16, #blocked>",
        shared=PADDED,
        target=target,
        blocked=BLOCKED.replace("[1, 4]", "[1, 8]").replace("[8, 8]", "[4, 8]"),
    )
    [module] = parse_ir(text)
    messages = [finding.message for finding in audit_module(module).findings]
    assert any("is misaligned and traps" in message for message in messages) == traps
