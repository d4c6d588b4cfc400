"""Intel's layouts: the expectations of the compiler's own unit tests, and definitions as loops."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiers import slow

import tt_layout
from tt_layout.analyses.conversion.sub_groups import sub_group_step
from tt_layout.analyses.shared_memory.banks import bank_conflicts
from tt_layout.audit.axis import axis_info
from tt_layout.audit.rules.block_loads import SAME, Distances
from tt_layout.encodings import Encoding
from tt_layout.encodings.dot_op import DotOperand
from tt_layout.encodings.dpas import Dpas
from tt_layout.encodings.subgroup_2d_block import Subgroup2dBlock
from tt_layout.errors import LayoutError
from tt_layout.hardware.intel import register_file
from tt_layout.ir import parse_ir
from tt_layout.ir.ssa import read_functions

EXAMPLES = Path(__file__).parents[2] / "examples" / "intel"
UNIT_TESTS = Path(__file__).parents[1] / "data" / "intel-bases.jsonl"
INPUTS = ("register", "lane", "warp")
TEXT = (
    "repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, "
    "warpsPerCTA = [2, 2], repCluster = [1, 2]"
)


def dpas_of(row: Mapping[str, Any]) -> Dpas:
    """Return the dpas of an expectation."""
    return Dpas(
        repeat_count=row["repeatCount"],
        systolic_depth=row["systolicDepth"],
        execution_size=row["executionSize"],
        ops_per_channel=row["opsPerChan"],
        threads_per_warp=row["threadsPerWarp"],
        warps_per_cta=tuple(row["warpsPerCTA"]),
        rep_cluster=tuple(row["repCluster"]),
        fp4_k_pack=row["fp4KPack"],
    )


def encoding_of(row: Mapping[str, Any]) -> Encoding:
    """Return what an expectation, other than of scales, is of."""
    if row["kind"] == "dpas":
        dpas = dpas_of(row)
        is_result = row["opIdx"] == 2
        return dpas if is_result else DotOperand(op_idx=row["opIdx"], parent=dpas, k_width=1)
    return Subgroup2dBlock(
        warps_per_cta=tuple(row["warpsPerCTA"]),
        instr_shape=tuple(row["instrShape"]),
        num_blocks=row["numBlocks"],
        order=tuple(row["order"]),
        k_width=row["kWidth"],
    )


def test_the_expectations_of_the_compilers_unit_tests() -> None:
    rows = [json.loads(line) for line in UNIT_TESTS.read_text().splitlines()]
    assert len(rows) == 36
    for row in rows:
        shape = tuple(row["shape"])
        if row.get("scaled"):
            layout = dpas_of(row).scales_layout(row["opIdx"], shape)
        else:
            layout = encoding_of(row).to_linear_layout(shape)
        bases = dict(layout.bases)
        assert [bases.get(name, []) for name in INPUTS] == [row[name] for name in INPUTS], row


# -- definitions as loops over the elements ---------------------------------------------------

Place = tuple[int, int, set[int]]
"""Register, lane, and the warps that hold an element."""


def mixed(*digits: tuple[int, int]) -> int:
    """Return the number of digits and their bases, the lowest first."""
    number, weight = 0, 1
    for digit, base in digits:
        number += digit % base * weight
        weight *= base
    return number


def result_place(dpas: Dpas, shape: tuple[int, int], m: int, n: int) -> Place:
    """Return where element (m, n) of C is: rows of the instruction go round over the lanes."""
    rows, columns = dpas.repeat_count, dpas.execution_size
    (rep_m, rep_n), (warps_m, warps_n) = dpas.rep_cluster, dpas.warps_per_cta
    at_once = dpas.threads_per_warp // columns
    tile_m, tile_n = m // rows, n // columns
    more_n = shape[1] // (columns * rep_n * warps_n)
    register = mixed(
        (m % rows // at_once, rows // at_once),
        (tile_n, rep_n),
        (tile_m, rep_m),
        (tile_n // (rep_n * warps_n), more_n),
        (tile_m // (rep_m * warps_m), 1 << 30),
    )
    warp = mixed((tile_n // rep_n, warps_n), (tile_m // rep_m, warps_m))
    return register, mixed((n, columns), (m, at_once)), {warp}


def a_place(dpas: Dpas, shape: tuple[int, int], m: int, k: int) -> Place:
    """Return where element (m, k) of A is: two bytes of a row belong to one lane."""
    rows, packed = dpas.repeat_count, max(1, dpas.ops_per_channel // 2)
    rep_m, (warps_m, warps_n) = dpas.rep_cluster[0], dpas.warps_per_cta
    across = dpas.k_size // packed
    at_once = -(-dpas.threads_per_warp // across)
    tile_m = m // rows
    register = mixed(
        (k, packed),
        (m % rows // at_once, rows // at_once),
        (tile_m, rep_m),
        (k // dpas.k_size, max(1, shape[1] // dpas.k_size)),
        (tile_m // (rep_m * warps_m), 1 << 30),
    )
    own = tile_m // rep_m % warps_m
    warps = {mixed((n, warps_n), (own, warps_m)) for n in range(warps_n)}
    return register, mixed((k // packed, across), (m, at_once)), warps


def b_place(dpas: Dpas, shape: tuple[int, int], k: int, n: int) -> Place:
    """Return where element (k, n) of B is: a lane has the channels of its column."""
    ops, columns = dpas.ops_per_channel, dpas.execution_size
    rep_n, (warps_m, warps_n) = dpas.rep_cluster[1], dpas.warps_per_cta
    at_once = dpas.threads_per_warp // columns
    channel, tile_n = k // ops, n // columns
    register = mixed(
        (k, ops),
        (channel % 8 // at_once, 8 // at_once),
        (tile_n, rep_n),
        (k // dpas.k_size, max(1, shape[0] // dpas.k_size)),
        (tile_n // (rep_n * warps_n), 1 << 30),
    )
    own = tile_n // rep_n % warps_n
    warps = {mixed((own, warps_n), (m, warps_m)) for m in range(warps_m)}
    return register, mixed((n, columns), (channel, at_once)), warps


def block_place(block: Subgroup2dBlock, shape: tuple[int, int], row: int, column: int) -> Place:
    """Return where an element of a 2D block load is: lanes go along its rows."""
    height, width = block.instr_shape
    packed = max(1, width // 16)
    across = width // packed
    at_once = 16 // across
    wide = width * block.num_blocks
    shared = block.order[0]
    counts = [1 if d == shared else block.warps_per_cta[d] for d in range(2)]
    tile = row // height, column // wide
    register = mixed(
        (column, packed),
        (row % height // at_once, height // at_once),
        (column // width, block.num_blocks),
        (tile[0] // counts[0], max(1, shape[0] // (height * counts[0]))),
        (tile[1] // counts[1], 1 << 30),
    )
    sizes = block.warps_per_cta
    others = [range(sizes[d]) if d == shared else (tile[d] % sizes[d],) for d in range(2)]
    warps = {mixed((j, sizes[1]), (i, sizes[0])) for i in others[0] for j in others[1]}
    return register, mixed((column // packed, across), (row, at_once)), warps


def cases(rng: random.Random) -> Iterator[tuple[Encoding, tuple[int, int], Callable[..., Place]]]:
    """Yield random layouts with a shape that they cover and their definition."""

    def power(*bits: int) -> int:
        return 1 << rng.choice(bits)

    while True:
        columns = power(3, 4)
        dpas = Dpas(
            repeat_count=power(2, 3),
            execution_size=columns,
            ops_per_channel=power(0, 1, 2),
            threads_per_warp=max(16, columns) * power(0, 1),
            warps_per_cta=(power(0, 1, 2), power(0, 1, 2)),
            rep_cluster=(power(0, 1, 2), power(0, 1)),
        )
        if dpas.threads_per_warp // columns > dpas.repeat_count:
            continue  # an instruction of fewer rows than the lanes have
        m = dpas.repeat_count * dpas.rep_cluster[0] * dpas.warps_per_cta[0] * power(0, 1)
        n = columns * dpas.rep_cluster[1] * dpas.warps_per_cta[1] * power(0, 1)
        k = dpas.k_size * power(0, 1, 2)
        yield dpas, (m, n), result_place
        yield DotOperand(op_idx=0, parent=dpas, k_width=1), (m, k), a_place
        yield DotOperand(op_idx=1, parent=dpas, k_width=1), (k, n), b_place
        block = Subgroup2dBlock(
            warps_per_cta=(power(0, 1, 2), power(0, 1, 2)),
            instr_shape=(power(3, 4, 5), power(3, 4, 5)),
            num_blocks=power(0, 1),
            order=rng.choice([(0, 1), (1, 0)]),
            k_width=power(0, 1, 2),
        )
        sizes = [block.instr_shape[0], block.instr_shape[1] * block.num_blocks]
        sizes = [
            size * (1 if d == block.order[0] else block.warps_per_cta[d]) * power(0, 1)
            for d, size in enumerate(sizes)
        ]
        yield block, (sizes[0], sizes[1]), block_place


@pytest.mark.parametrize("count", [15, slow(2000)])
def test_random_layouts_are_what_their_definitions_say(count: int) -> None:
    rng = random.Random(29)
    for _, (encoding, shape, place) in zip(range(count), cases(rng)):
        layout = encoding.to_linear_layout(shape)
        sizes = [layout.get_in_dim_size(name) for name in INPUTS]
        grid = np.indices(sizes).reshape(3, -1)
        held = layout.apply(dict(zip(INPUTS, grid)) | {"block": 0})
        parent = encoding.parent if isinstance(encoding, DotOperand) else encoding
        seen = set()
        for at in rng.sample(range(grid.shape[1]), min(grid.shape[1], 64)):
            element = int(held["dim0"][at]), int(held["dim1"][at])
            register, lane, warps = place(parent, shape, *element)
            assert tuple(grid[:2, at]) == (register, lane), (encoding, shape, element)
            assert int(grid[2, at]) in warps, (encoding, shape, element)
            seen.add(element)
        assert seen


# -- texts -------------------------------------------------------------------------------------


def test_the_shapes_follow_from_the_rest_whatever_is_written() -> None:
    given = f"#ttig.dpas<{{{TEXT}, A = [1, 1], B = [2], C = [3]}}>"
    assert str(tt_layout.parse_layout(given)).endswith("A = [8, 16], B = [16, 32], C = [8, 32]}>")


def test_a_batch_has_shapes_of_three_dimensions() -> None:
    text = TEXT.replace("[2, 2]", "[2, 1, 1]").replace("[1, 2]", "[1, 1, 2]")
    found = str(tt_layout.parse_layout(f"#ttig.dpas<{{{text}}}>"))
    assert "A = [1, 8, 16], B = [1, 16, 32], C = [1, 8, 32]" in found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("repeatCount = 8", "repeatCount = 9", "repeatCount must be in 1..8, got 9"),
        ("opsPerChan = 2", "opsPerChan = 3", "opsPerChan must be 1, 2 or 4, got 3"),
        ("systolicDepth = 8", "systolicDepth = 4", "systolicDepth must be 8, got 4"),
        ("repCluster = [1, 2]", "repCluster = [1]", "repCluster must have 2 or 3 entries, got [1]"),
        (
            "threadsPerWarp = 16",
            "threadsPerWarp = 8",
            "threadsPerWarp must be at least executionSize = 16, got 8",
        ),
        (
            "opsPerChan = 2",
            "opsPerChan = 2, fp4KPack = 2",
            "fp4KPack = 2 needs opsPerChan = 4, got 2",
        ),
        ("opsPerChan = 2", "opsPerChan = 4, fp4KPack = 3", "fp4KPack must be 2, got 3"),
    ],
)
def test_what_the_compiler_refuses_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(LayoutError, match=re.escape(message)):
        tt_layout.parse_layout(f"#ttig.dpas<{{{TEXT.replace(old, new)}}}>")


def test_a_layout_that_no_compiler_maps_is_refused_by_name() -> None:
    text = "#ttig.warp<{sizePerThread = [8, 1], threadsPerWarp = [1, 16], order = [1, 0]}>"
    with pytest.raises(LayoutError, match=r"#ttig\.warp has no linear layout"):
        tt_layout.parse_layout(text)


def test_a_block_load_is_printed_as_the_compiler_spaces_it() -> None:
    text = (
        "#ttig.subgroup_2d_block<{warpsPerCTA = [8, 4], instrShape = [32, 16], numBlocks=2, "
        "order=[0, 1], kWidth=2, threadsPerWarp=16}>"
    )
    assert str(tt_layout.parse_layout(text.replace("=", " = "))) == text


# -- conversions -------------------------------------------------------------------------------


def converted(before: str, after: str, shape: str, bits: int = 32) -> str:
    """Return how Intel's compiler converts a tensor between two blocked layouts."""
    ends = [
        tt_layout.parse_layout(f"#ttg.blocked<{{{text}}}>").to_linear_layout(
            [int(size) for size in shape.split("x")]
        )
        for text in (before, after)
    ]
    return str(sub_group_step(ends[0], ends[1], bits))


def blocked(size: str, threads: str, warps: str) -> str:
    return (
        f"sizePerThread = [{size}], threadsPerWarp = [{threads}], warpsPerCTA = [{warps}], "
        "order = [0, 1]"
    )


@pytest.mark.parametrize(
    ("before", "after", "shape", "bits", "step"),
    [
        # The unit tests of the compiler: sub-group-transpose.mlir
        (("16, 1", "1, 16", "1, 1"), ("1, 16", "16, 1", "1, 1"), "16x16", 16, "transpose"),
        (("16, 1", "1, 16", "1, 1"), ("1, 16", "16, 1", "1, 1"), "16x16", 1, "transpose"),
        (("16, 1", "1, 16", "4, 4"), ("1, 16", "16, 1", "4, 4"), "64x64", 32, "transpose"),
        (("32, 1", "1, 32", "2, 2"), ("1, 32", "32, 1", "2, 2"), "64x64", 32, "transpose"),
        # What is none of them
        (("16, 1", "1, 16", "4, 1"), ("1, 16", "16, 1", "1, 4"), "64x64", 32, None),
        (("16, 1", "1, 16", "1, 1"), ("1, 16", "16, 1", "1, 1"), "16x16", 128, None),
        (("16, 1", "1, 16", "1, 1"), ("16, 1", "1, 16", "1, 1"), "16x16", 32, None),
    ],
)
def test_conversions_within_sub_groups(
    before: Any, after: Any, shape: str, bits: int, step: str | None
) -> None:
    expected = f"sub-group {step}" if step is not None else "None"
    assert converted(blocked(*before), blocked(*after), shape, bits) == expected


def test_a_vector_that_all_lanes_hold_is_shuffled() -> None:
    """As in sub-group-shuffle.mlir: sixteen elements, of which each lane gets all."""
    own, every = (
        tt_layout.parse_layout(f"#ttg.slice<{{dim = 1, parent = #ttg.blocked<{{{text}}}>}}>")
        for text in (blocked("1, 16", "16, 1", "1, 1"), blocked("16, 1", "1, 16", "1, 1"))
    )
    ends = [each.to_linear_layout([16]) for each in (own, every)]
    assert str(sub_group_step(ends[0], ends[1], 16)) == "sub-group shuffle"


# -- dumps -------------------------------------------------------------------------------------

MATMUL = Path(__file__).parents[2] / "examples" / "intel" / "matmul.ttgir"


def findings(text: str) -> list[tuple[str, str]]:
    """Return the kinds and messages of the findings of a dump."""
    return [
        (one["kind"], one["message"])
        for module in tt_layout.audit_ir(text).data()["modules"]
        for one in module["findings"]
    ]


def test_an_operand_that_is_gathered_is_a_finding() -> None:
    gathered = [message for kind, message in findings(MATMUL.read_text()) if kind == "block-loads"]
    why = "the distance of its rows is known to be a multiple of only 2 bytes; 16 are needed"
    assert gathered == [f"tt.load is not a 2D block load, so it is lowered to gathers: {why}"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("ttig.support_2d_block_io, ", "", "the module does not say that the GPU has them"),
        ("%ldb: i32)", "%ldb: i32 {tt.divisibility = 16 : i32})", "the compiler did not mark it"),
        ("%bo = arith.addi %bk2, %n2", "%bo = arith.addi %bk2, %bk2", "no dimension is contiguous"),
    ],
)
def test_the_rule_that_is_broken_is_named(old: str, new: str, why: str) -> None:
    text = MATMUL.read_text()
    assert old in text
    [message] = [m for kind, m in findings(text.replace(old, new)) if kind == "block-loads"]
    assert why in message


def test_blocks_have_two_dimensions() -> None:
    row = "tensor<64x!tt.ptr<f16>, #ttg.slice<{dim = 0, parent = #dpas}>>"
    text = MATMUL.read_text().replace(
        "      %bv = tt.load", f"      %bias = tt.load %row : {row}\n      %bv = tt.load"
    )
    text = text.replace(
        "    %acc:2 =", f"    %row = tt.splat %b : !tt.ptr<f16> -> {row}\n    %acc:2 ="
    )
    messages = [message for kind, message in findings(text) if kind == "block-loads"]
    assert any("they are for tensors of two dimensions or more" in one for one in messages)


ERAS = [
    [],
    [("ttig.support_2d_block_io", "ttig.support_sg_2d_block")],
    [
        ("ttig.support_2d_block_io", "triton_intel_gpu.support_sg_2d_block"),
        ("ttig.", "triton_intel_gpu."),
    ],
]


@pytest.mark.parametrize("renamings", ERAS)
def test_the_names_of_every_era_say_the_same(renamings: list[tuple[str, str]]) -> None:
    text = MATMUL.read_text()
    for today, former in renamings:
        text = text.replace(today, former)
    [(kind, message)] = [found for found in findings(text) if found[0] == "block-loads"]
    assert "the distance of its rows" in message, kind


def test_the_base_is_named_where_the_rows_are_far_enough_apart() -> None:
    text = MATMUL.read_text().replace("%ldb: i32)", "%ldb: i32 {tt.divisibility = 16 : i32})")
    text = text.replace("%b: !tt.ptr<f16> {tt.divisibility = 16 : i32}", "%b: !tt.ptr<f16>")
    [message] = [m for kind, m in findings(text) if kind == "block-loads"]
    assert "its base is known to be a multiple of only 1 byte; 4 are needed" in message


def test_a_loop_that_loads_blocks_only_has_no_finding() -> None:
    text = MATMUL.read_text().replace(
        "tt.load %bp0 :", 'tt.load %bp0 {ttig.block_io = "row_major"} :'
    )
    assert not [message for kind, message in findings(text) if kind == "block-loads"]


def test_conversions_are_those_of_sub_groups_and_nothing_else_has_a_cost() -> None:
    [module] = tt_layout.audit_ir(MATMUL).data()["modules"]
    rows = [row for row in module["data_movements"] if "convert" in row["operation"]]
    costs = [row["cost"]["text"] for row in rows]
    assert costs == [
        "shared memory, 768 cycles, 16384 bytes of scratch",
        "shared memory, 768 cycles, 16384 bytes of scratch",
        "shared memory, sub-group transpose, >= 512 cycles, 17408 bytes of scratch",
    ]
    [transposed] = [row["cost"] for row in rows if "sub_group_step" in row["cost"]]
    steps = (transposed["compiled"][step] for step in ("store", "load"))
    assert [(step["instructions"], step["wavefronts"]) for step in steps] == [(32, None), (2, None)]
    assert all(row["cost"] is None for row in module["data_movements"] if row not in rows)


def test_more_shared_memory_than_a_work_group_has_is_an_error() -> None:
    text = MATMUL.read_text().replace("ttg.shared = 17408", "ttg.shared = 266240")
    assert (
        "refused",
        "@matmul takes 266240 bytes of shared memory, but a CTA may have 131072",
    ) in findings(text)


def test_shared_memory_is_of_the_function_that_no_other_calls() -> None:
    text = MATMUL.read_text().replace("ttg.shared = 17408", "ttg.shared = 266240")
    text = text.replace(
        "  tt.func public @matmul(",
        "  tt.func private @first(%x: i32) {\n    tt.return\n  }\n  tt.func public @matmul(",
    ).replace(
        "    %c0 = arith.constant 0 : i32\n",
        "    %c0 = arith.constant 0 : i32\n    tt.call @first(%c0) : (i32) -> ()\n",
    )
    [message] = [message for kind, message in findings(text) if kind == "refused"]
    assert message.startswith("@matmul takes 266240 bytes")


ENDS = [
    f"#ttg.blocked<{{{blocked(*own)}}}>"
    for own in (("16, 1", "1, 16", "1, 1"), ("1, 16", "16, 1", "1, 1"), ("1, 1", "1, 16", "1, 1"))
]
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"


def test_the_report_of_a_conversion_counts_nothing_of_another_vendor() -> None:
    report = str(tt_layout.convert(ENDS[0], ENDS[1], "16x16xf32"))
    assert "through shared memory\n  on Intel's GPUs a sub-group transpose" in report
    assert "at least 16 cycles to store and 16 to load" in report
    assert "store: 16 x sub-group block store per warp\n" in report
    assert report.endswith("load: 1 x load of 16 elements per warp")
    assert "wavefront" not in report


def test_a_shuffle_brings_every_register_from_every_lane() -> None:
    linear = "#ttg.linear<{{register = {}, lane = {}, warp = [], block = []}}>"
    lanes = [[1], [2], [4], [8]]
    ends = linear.format([], lanes), linear.format(lanes, [[0]] * 4)
    report = tt_layout.convert(*ends, "16xf32")
    assert report.data()["kind"] == "shuffles"
    assert report.data()["compiled"]["shuffles"] == 16
    text = str(report)
    assert "a sub-group shuffle" in text
    assert "16 shuffles per warp" in text
    assert "shared memory" not in text
    assert "cycle" not in text


# -- shared memory -----------------------------------------------------------------------------


def turns(words: list[int]) -> int:
    """Return the most different words that are asked of one of 16 banks."""
    banks = [word % 16 for word in set(words)]
    return max(banks.count(bank) for bank in banks)


@pytest.mark.parametrize(("stride", "cycles"), [(1, 1), (2, 2), (16, 16)])
def test_the_examples_of_the_document(stride: int, cycles: int) -> None:
    """Work-items a word apart have the full bandwidth, 16 words apart a sixteenth of it."""
    for lanes in (16, 32):
        registers = f"#ttg.blocked<{{{blocked('1, 1', f'{lanes}, 1', f'1, {stride}')}}}>"
        report = tt_layout.conflicts(registers, PLAIN, f"{lanes}x{stride}xf32", target="pvc")
        access = report.conflicts.load
        assert (access.width_bytes, access.wavefronts_per_instruction) == (4, cycles * lanes // 16)


def random_access(rng: random.Random) -> tuple[str, str, tuple[int, int], int]:
    """Return a register layout, a shared layout, a shape and the bytes of an element."""
    lanes = rng.choice((16, 32))
    rows = rng.choice([1 << bit for bit in range(lanes.bit_length())])
    sizes = rng.choice((1, 2, 4)), rng.choice((1, 2, 4))
    order = rng.choice(("0, 1", "1, 0"))
    registers = (
        f"#ttg.blocked<{{sizePerThread = [{sizes[0]}, {sizes[1]}], threadsPerWarp = "
        f"[{rows}, {lanes // rows}], warpsPerCTA = [1, 1], order = [{order}]}}>"
    )
    vec, phases = rng.choice((1, 2, 4)), rng.choice((1, 2, 4, 8))
    shared = (
        f"#ttg.swizzled_shared<{{vec = {vec}, perPhase = 1, maxPhase = {phases}, order = [1, 0]}}>"
    )
    return registers, shared, (rows * sizes[0] * 2, max(32, lanes // rows * sizes[1])), 4


@pytest.mark.slow
def test_accesses_as_a_loop_over_lanes_and_words_counts_them() -> None:
    rng = random.Random(7)
    for _ in range(150):
        registers, shared, shape, size = random_access(rng)
        ends = [tt_layout.parse_layout(text) for text in (registers, shared)]
        layout, memory = (end.to_linear_layout(shape, element_bits=8 * size) for end in ends)
        access = bank_conflicts(ends[0], ends[1], shape, elem_bytes=size, target="bmg").load
        lanes = layout.get_in_dim_size("lane")
        at = {
            tuple(memory.apply({"offset": offset, "block": 0}).values()): offset
            for offset in range(memory.get_in_dim_size("offset"))
        }
        words = access.width_bytes // 4
        expected = 0
        for first in range(0, lanes, 16 // words):
            touched = []
            for lane in range(first, min(lanes, first + 16 // words)):
                place = {"register": 0, "lane": lane, "warp": 0, "block": 0}
                start = at[tuple(layout.apply(place).values())]
                touched += [start // words * words + word for word in range(words)]
            expected += turns(touched)
        assert access.wavefronts_per_instruction == expected, (registers, shared, shape)


def test_an_access_of_a_dump_has_the_cycles_of_the_document() -> None:
    text = f"""
    #rows = {ENDS[2]}
    #columns = {ENDS[1]}
    #plain = {PLAIN}
    #smem = #ttg.shared_memory
    module attributes {{"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 16 : i32,
        ttg.target = "xpu"}} {{
      tt.func @k(%x: tensor<16x16xf32, #rows>) {{
        %b = ttg.local_alloc %x : (tensor<16x16xf32, #rows>)
            -> !ttg.memdesc<16x16xf32, #plain, #smem>
        %y = ttg.local_load %b : !ttg.memdesc<16x16xf32, #plain, #smem>
            -> tensor<16x16xf32, #columns>
        tt.return
      }}
    }}
    """
    [module] = tt_layout.audit_ir(text).data()["modules"]
    costs = [row["cost"]["text"] for row in module["data_movements"]]
    assert costs == [
        "16 x store.slm.d32, 1 cycle each",
        "4 x load.slm.d32x4, 16 cycles each, 12 from conflicts",
    ]
    assert module["costed_for"] == "pvc"


def test_of_no_other_cost_is_anything_assumed() -> None:
    [module] = tt_layout.audit_ir(MATMUL).data()["modules"]
    unknown = {row["cost_unknown"] for row in module["data_movements"] if row["cost"] is None}
    assert unknown == {"no document says what it costs on Intel's GPUs"}
    totals = str(tt_layout.audit_ir(MATMUL).whole).partition("totals of @matmul")[2]
    assert re.search(r"load +2 +n/a +-\n", totals)
    rows = f"#ttg.blocked<{{{blocked('1, 1', '1, 32', '1, 1')}}}>"
    with pytest.raises(LayoutError, match="no document gives its order"):
        tt_layout.reduce(rows, "32x32xf32", axis=1, target="pvc")


@pytest.mark.slow
@pytest.mark.parametrize("length", [40, 3_000])
def test_the_distances_of_a_chain_that_uses_each_value_twice(length: int) -> None:
    sums = "\n".join(
        f"  %x{i + 1} = arith.addi %x{i}, %x{i} : tensor<16xi32>" for i in range(length)
    )
    [module] = parse_ir(
        "tt.func @f() {\n"
        "  %x0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n"
        f"{sums}\n  tt.return\n}}"
    )
    [function] = read_functions(module)
    assert Distances(function, {}).divisor(function.values[f"%x{length}"], 0) == 1


def test_the_distances_of_what_goes_round_a_loop() -> None:
    [module] = parse_ir("""tt.func @f(%n: i32) {
  %c = arith.constant 1 : i32
  %eight = arith.constant dense<8> : tensor<16xi32>
  %x = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %y = arith.muli %x, %eight : tensor<16xi32>
  %r:2 = scf.for %i = %c to %n step %c iter_args(%a = %eight, %b = %y)
      -> (tensor<16xi32>, tensor<16xi32>) : i32 {
    %d = arith.addi %a, %b : tensor<16xi32>
    scf.yield %d, %b : tensor<16xi32>, tensor<16xi32>
  }
  tt.return
}""")
    [function] = read_functions(module)
    distances = Distances(function, axis_info(function))
    assert [distances.divisor(function.values[f"%r#{number}"], 0) for number in range(2)] == [8, 8]
    assert distances.divisor(function.values["%eight"], 0) == SAME


def test_tensors_are_held_against_both_register_files() -> None:
    """A lane of 16 has 128 words of the usual file, one of 8 has 256, and one of 32 has 64."""
    text = (EXAMPLES / "matmul.ttgir").read_text()
    expected = "tensors take 80 of 128 registers per lane, of 256 with the large register file"
    assert expected in str(tt_layout.audit_ir(text))
    assert [register_file(lanes).usual for lanes in (8, 16, 32)] == [256, 128, 64]


def test_the_large_register_file_starts_half_as_many_warps() -> None:
    """Intel's backend/compiler.py refuses grf_mode 256 with more than 32 warps."""
    text = (EXAMPLES / "matmul.ttgir").read_text()
    many = re.sub(r'("ttg.num-warps" = )\d+', r"\g<1>64", text)
    [audit] = tt_layout.audit_ir(many).audits
    assert [register_file(16).limit(warps) for warps in (32, 33, 64)] == [256, 128, 128]
    assert "of 128 registers per lane; the large register file starts at most 32 warps" in str(
        tt_layout.audit_ir(many)
    )
    assert audit.module.is_intel


def test_a_load_without_operands_is_stepped_over() -> None:
    text = MATMUL.read_text()
    [load] = re.findall(r"tt\.load (%\w+) :", text)[:1]
    assert findings(text.replace(f"tt.load {load} :", "tt.load %:"))
