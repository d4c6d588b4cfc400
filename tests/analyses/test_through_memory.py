"""What goes through shared memory or shuffles: its instructions, registers and bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_modules import ROWS, TILE, module_of

from tt_layout import parse_layout
from tt_layout.algebra.arrays import distinct
from tt_layout.algebra.linear_layout import Basis, LinearLayout
from tt_layout.analyses.conversion.conversion import without_replication
from tt_layout.analyses.conversion.exchange import through_memory
from tt_layout.analyses.conversion.optimal_swizzling import Swizzler
from tt_layout.analyses.conversion.scratch import buffer
from tt_layout.analyses.conversion.shuffles import Shuffles, conversion_shuffles
from tt_layout.analyses.multiplications.matrix_instructions import Operand
from tt_layout.analyses.shared_memory.joined_accesses import Joined, join_neighbours, pair_up
from tt_layout.analyses.tensor_memory.registers import (
    packed_registers,
    register_layouts,
    split_columns,
)
from tt_layout.audit.audit import audit_module
from tt_layout.audit.operations.multiplications import Multiplication
from tt_layout.audit.values.executions import Executions
from tt_layout.hardware import find_target
from tt_layout.ir.operations import OperationPosition


def load(name: str, of: str) -> str:
    return f"    {name} = ttg.local_load {of} : {TILE} -> tensor<32x64xf32, #rows>\n"


def test_amd_pairs_the_loads_of_a_scan_at_their_distances() -> None:
    """Two chunks of four warps: each joins four sums of the first, and three of the second."""
    line = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], "
    source = f"tensor<512xf32, {line}order = [0]}}>>"
    body = f"""
    %a = arith.constant dense<1.0> : {source}
    %r = "tt.scan"(%a) <{{axis = 0 : i32}}> ({{
    ^bb0(%m: f32, %n: f32):
      %s = arith.addf %m, %n : f32
      tt.scan.return %s : f32
    }}) : ({source}) -> {source}"""
    [row] = audit_module(module_of(body, target="hip:gfx942", warps=4)).movements
    assert row.cost is not None
    loads = "1 x ds_read_b128, 1 x ds_read_b96"
    assert loads in row.cost.text


def converted(src: str, dst: str, shape: list[int]) -> Swizzler:
    before, after = (
        without_replication(parse_layout(text).to_linear_layout(shape)) for text in (src, dst)
    )
    return Swizzler.of(before, after, 8, find_target("sm90"))


BLOCKED = (
    "#ttg.blocked<{{sizePerThread = {}, threadsPerWarp = {}, warpsPerCTA = {}, order = {}, "
    "CGALayout = [{}]}}>"
)


@pytest.mark.parametrize(
    ("src", "dst", "shape", "vector"),
    [
        (
            BLOCKED.format([1, 1], [4, 8], [4, 1], [1, 0], [1, 0]),
            BLOCKED.format([1, 1], [32, 1], [2, 2], [1, 0], [1, 0]),
            [8, 8],
            (8,),
        ),
        (
            BLOCKED.format([1, 2], [4, 8], [1, 4], [1, 0], [1, 0]),
            BLOCKED.format([1, 1], [16, 2], [4, 1], [0, 1], [0, 1]),
            [64, 8],
            (16,),
        ),
        (
            BLOCKED.format([1, 2], [4, 8], [2, 2], [0, 1], "").replace(", CGALayout = []", ""),
            BLOCKED.format([1, 1], [32, 1], [4, 1], [0, 1], "").replace(", CGALayout = []", ""),
            [64, 32],
            (64, 32),
        ),
    ],
)
def test_bits_of_warps_that_fill_up_a_bank(
    src: str, dst: str, shape: list[int], vector: tuple[int, ...]
) -> None:
    """Any of the source's; of the destination's those that are no CTA of the source."""
    assert converted(src, dst, shape).plain().vector == vector


def test_elements_are_packed_as_the_operands_hold_them() -> None:
    """Of 64 along K, A has 32 bytes of two, B all: no operand has less than one in a place."""
    a, b = (Operand(parse_layout(ROWS), shape, "e2m1") for shape in ((64, 32), (64, 64)))
    product = Multiplication(
        "f",
        "tt.dot_scaled",
        OperationPosition(0, 0),
        1,
        1,
        None,
        (1, 64, 64, 64),
        a,
        b,
        b,
        None,
        (None, None),
        Executions(1, "1", None),
    )
    assert product.packing == (2, 1)
    assert replace(product, a=b, b=a).packing == (1, 1)
    assert replace(product, sizes=(1, 64, 64, 32)).packing == (1, 1)


@pytest.mark.parametrize(
    ("src_ctas", "dst_ctas", "load"),
    [
        ("", "", "ldmatrix"),
        (", CGALayout = [[1, 0]]", ", CGALayout = [[1, 0]]", "ldmatrix"),
        (", CGALayout = [[1, 0]]", ", CGALayout = [[0, 1]]", "ld.shared"),
    ],
)
def test_ldmatrix_reads_what_the_cta_itself_has(src_ctas: str, dst_ctas: str, load: str) -> None:
    src = ROWS.replace("[1, 4]", "[1, 8]").replace("[8, 1]", "[4, 1]")
    mma = (
        "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], "
        f"instrShape = [16, 8]{dst_ctas}}}>"
    )
    dst = f"#ttg.dot_op<{{opIdx = 0, parent = {mma}, kWidth = 2}}>"
    layouts = (to_linear(text, [128, 64]) for text in (src.replace("}>", f"{src_ctas}}}>"), dst))
    before, after = layouts
    assert buffer(before, after, 16, find_target("sm90")).load.name == load


def to_linear(text: str, shape: list[int]) -> LinearLayout:
    return parse_layout(text).to_linear_layout(shape)


def test_a_conversion_within_threads_needs_no_shuffle() -> None:
    before = LinearLayout.from_bases([("register", [[1], [2]]), ("lane", [[4]])], ["dim0"])
    after = LinearLayout.from_bases([("register", [[2], [1]]), ("lane", [[4]])], ["dim0"])
    for target in map(find_target, ("sm90", "gfx942")):
        assert conversion_shuffles(before, after, 32, target) == Shuffles(0, 0)


def test_loads_of_what_went_through_memory_are_loads() -> None:
    rows = LinearLayout.from_bases(
        [("register", [[1]]), ("lane", [[1 << n] for n in range(1, 6)]), ("warp", [[0]])], ["dim0"]
    )
    found = through_memory(rows, 4, [0], find_target("gfx942"))
    assert [step.instruction for step in (*found.stores, *found.loads)] == [
        "ds_write_b64",
        "ds_read_b64",
    ]


@pytest.mark.parametrize(
    ("rows", "columns", "stride", "bits", "found"),
    [
        (64, 1, 1, 16, ([], [])),  # one column: a register holds the element alone
        (128, 2, 2, 16, ([(0, 1)], [])),  # columns that nothing is between
        (128, 4, 4, 8, ([], [(0, 1), (0, 2)])),
        (64, 4, 1, 8, None),  # a column of 32 bits has elements that are no neighbours
        (256, 1, 1, 16, None),  # or of other rows
    ],
)
def test_elements_that_share_a_register(
    rows: int, columns: int, stride: int, bits: int, found: tuple[list[Basis], list[Basis]] | None
) -> None:
    text = f"blockM = 64, blockN = 1, colStride = {stride}"
    memory = parse_layout(f"#ttng.tensor_memory_encoding<{text}>").to_linear_layout([rows, columns])
    assert packed_registers(memory, bits) == found


def test_memory_holds_the_elements_of_one_cta() -> None:
    rows = LinearLayout.from_bases(
        [("lane", [[1], [2]]), ("warp", [[0]]), ("block", [[4]])], ["dim0"]
    )
    assert through_memory(rows, 4, [0], find_target("sm90")).scratch_bytes == 4 * 4


def test_distinct_values_may_be_far_apart() -> None:
    found, places = distinct(np.array([1 << 60, -(1 << 60), 1 << 60]))
    assert (found.tolist(), places.tolist()) == ([-(1 << 60), 1 << 60], [1, 0, 1])


@pytest.mark.parametrize(("strides", "form"), [(255, "2st64"), (256, "")])
def test_two_addresses_are_at_most_255_strides_apart(strides: int, form: str) -> None:
    """The offsets of ds_read2st64_b32 have 8 bits, and count 64 words."""
    pieces = [Joined(4, 4), Joined(4 + strides * 64 * 4, 4)]
    assert list(pair_up(pieces, pairs=True)) == [(4, form)]


def test_what_shares_columns_with_no_neighbour_has_no_register_layout() -> None:
    attr = "#ttng.tensor_memory_encoding<blockM = 64, blockN = 1, colStride = 1>"
    memory = parse_layout(attr).to_linear_layout([64, 4])
    assert register_layouts(memory, 8, 4) == []


def test_one_register_is_split_from_the_last_lane() -> None:
    attr = "#ttng.tensor_memory_encoding<blockM = 64, blockN = 2, colStride = 1>"
    memory = parse_layout(attr).to_linear_layout([64, 2])
    [whole] = [one.layout for one in register_layouts(memory, 32, 4) if one.variant == "32x32b"]
    split = split_columns(whole, 32)
    assert split is not None
    assert list(split.vectors("register")) == [(0, 1)]
    assert list(split.vectors("lane")) == [*list(whole.vectors("lane"))[:-1], (0, 0)]


@pytest.mark.parametrize(
    ("alignment", "pairs", "joined"),
    [
        (8, False, [Joined(0, 8)]),
        (8, True, [Joined(0, 8)]),
        (4, False, [Joined(0, 4), Joined(4, 4)]),
        (4, True, [Joined(0, 8, is_split=True)]),
        (0, False, [Joined(0, 4), Joined(4, 4)]),
        (0, True, [Joined(0, 4), Joined(4, 4)]),
    ],
)
def test_two_words_are_joined_where_their_alignment_or_an_instruction_allows_it(
    alignment: int, pairs: bool, joined: list[Joined]
) -> None:
    assert join_neighbours([0, 4], 4, alignment, pairs=pairs) == joined
