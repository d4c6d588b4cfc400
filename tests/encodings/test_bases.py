"""Bases of layouts: ranks, replication, and those that depend on each other."""

from __future__ import annotations

import pytest
from small_modules import NVMMA, ROWS

from tt_layout import LayoutError, parse_layout
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.layouts.layout_difference import compare
from tt_layout.analyses.layouts.properties import shared_info
from tt_layout.analyses.tensor_memory.registers import register_layouts
from tt_layout.encodings.cga import split_of_bases
from tt_layout.encodings.slice import Slice


def test_a_difference_names_replication() -> None:
    before = LinearLayout.from_bases([("lane", [[1], [2]]), ("warp", [[4]])], ["dim0"])
    after = LinearLayout.from_bases([("lane", [[1], [2]]), ("warp", [[4], [0]])], ["dim0"])
    words = compare(before, after).words()
    assert words[-2:] == ["warps: 2, now 4", "replication over warps: 1, now 2"]


def test_bases_that_depend_on_each_other_are_pointed_at() -> None:
    text = "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 1], [1, 0]]}, alignment = 16>"
    with pytest.raises(LayoutError, match="must be independent of each other") as caught:
        parse_layout(text)
    assert str(caught.value).splitlines()[2].index("^") == text.index("[[0, 1]")


def test_bases_of_offsets_are_for_one_shape() -> None:
    layout = parse_layout("#ttg.shared_linear<{offset = [[0, 1], [1, 0]]}, alignment = 16>")
    assert layout.to_linear_layout([2, 2]).out_sizes == (("dim0", 2), ("dim1", 2))
    with pytest.raises(LayoutError, match=r"is for the shape \[2, 2\], got \[2, 4\]"):
        layout.to_linear_layout([2, 4])


def test_no_element_is_without_bits() -> None:
    text = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 0}>"
    with pytest.raises(LayoutError, match="elementBitWidth must be at least 1, got 0") as caught:
        parse_layout(text, release="3.7")
    assert str(caught.value).splitlines()[2].index("^") == text.index("0}>")
    with pytest.raises(LayoutError, match="must be at least 1"):
        parse_layout(text, release="3.6").to_linear_layout([8, 8])


@pytest.mark.parametrize(
    ("cga", "per_cga", "order"),
    [
        (((0, 0), (1, 0)), (2, 2), (1, 0)),  # dim1 is not moved in: it is repeated first
        (((0, 0), (0, 1)), (2, 2), (0, 1)),
        (((0, 0), (0, 0)), (1, 4), (1, 0)),
        (((1, 0), (0, 0)), (4, 1), (0, 1)),
    ],
)
def test_a_repeating_cta_in_front_is_of_a_dimension_that_none_moves_in(
    cga: tuple[tuple[int, ...], ...], per_cga: tuple[int, ...], order: tuple[int, ...]
) -> None:
    values = split_of_bases(cga, 2)
    assert (values["CTAsPerCGA"], values["CTAOrder"]) == (per_cga, order)


def test_a_slice_has_a_rank_where_its_parent_has_one() -> None:
    """Only nvmma_shared of releases until 3.5 has none; it is no parent, which is said later."""
    text = NVMMA.format(128, 16, "")
    whole = parse_layout(text, release="3.5")
    assert whole.rank is None
    assert Slice(dim=0, parent=whole).rank is None
    assert Slice(dim=0, parent=parse_layout(ROWS)).rank == 1


HALVES = {
    (64, 2, 8): ([], [0, 0], [0, 1]),
    (64, 2, 4): ([], [0, 1], None),
    (64, 32, 4): ([[0, 1], [0, 2], [0, 4], [0, 8]], [0, 16], None),
    (128, 2, 8): ([], [16, 0], [0, 1]),
}
"""Rows, columns, warps -> registers, the last bit of the lane, the third of the warp."""


@pytest.mark.parametrize("case", HALVES)
def test_what_the_upper_lanes_of_half_the_rows_hold(case: tuple[int, int, int]) -> None:
    rows, columns, warps = case
    attr = f"#ttng.tensor_memory_encoding<blockM = {rows}, blockN = {columns}, colStride = 1>"
    memory = parse_layout(attr).to_linear_layout([rows, columns])
    [found] = [each for each in register_layouts(memory, 32, warps) if each.variant == "32x32b"]
    registers, lane, warp = HALVES[case]
    vectors = {name: list(map(list, found.layout.vectors(name))) for name in ("lane", "warp")}
    assert [list(v) for v in found.layout.vectors("register")] == registers
    assert vectors["lane"][-1] == lane
    assert vectors["warp"][2:] == ([] if warp is None else [warp])


def test_a_basis_of_padded_memory_is_a_power_of_two() -> None:
    text = "#ttg.padded_shared<[16:+4] {offset = [[3, 0], [0, 1]], block = []}>"
    with pytest.raises(LayoutError, match="must be one power of two, got") as caught:
        parse_layout(text)
    assert str(caught.value).splitlines()[2].index("^") == text.index("[[3")


@pytest.mark.parametrize(
    ("offset", "message"),
    [
        ("[[1, 0], [0, 1], [1, 0]]", "the bases of offset must differ from each other"),
        ("[[1, 0], [0, 2]]", "offset and block must reach every element"),
    ],
)
def test_bases_of_padded_memory_reach_every_element_once(offset: str, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        parse_layout(f"#ttg.padded_shared<[16:+4] {{offset = {offset}, block = []}}>")


@pytest.mark.parametrize(
    ("fields", "given"),
    [
        ("offset = [[1, 0], [0, 1]], order = [1, 0], block = []", "order, offset, block"),
        ("order = [1, 0], block = []", "order, block"),
        ("", "neither"),
    ],
)
def test_padded_memory_is_given_in_one_way(fields: str, given: str) -> None:
    with pytest.raises(LayoutError, match=f"offset and block, got {given}\n"):
        parse_layout(f"#ttg.padded_shared<[16:+4] {{{fields}}}>")


def test_split_parameters_of_three_dimensions_keep_the_rank() -> None:
    ctas = "CTAsPerCGA = [1, 1, 1], CTASplitNum = [1, 1, 1], CTAOrder = [2, 1, 0]"
    text = NVMMA.format(128, 16, f", {ctas}")
    assert parse_layout(text, release="3.4").rank == 3


def test_offsets_of_registers_are_no_shared_layout() -> None:
    with pytest.raises(LayoutError, match="it has no input offset"):
        shared_info(parse_layout(ROWS).to_linear_layout([32, 32]), 16)


def test_a_layout_is_made_for_each_width_that_it_depends_on() -> None:
    blocked = (
        "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
    )
    sliced = (
        "#ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 2], "
        "threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>}>"
    )
    memory = "#ttng.tensor_memory_encoding<blockM = 128, blockN = 32, unpacked = true>"
    for text, shape, is_one in [(blocked, [64], 1), (sliced, [64], 1), (memory, [128, 32], 0)]:
        layout = parse_layout(text)
        narrow, wide = (layout.to_linear_layout(shape, element_bits=bits) for bits in (16, 32))
        assert (narrow is wide) == is_one
