"""The package against definitions written out as loops; see brute_force.py."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from random import Random

import brute_force
import pytest
from brute_force import Pairs, Swizzle, TensorMemoryTile, Triple, elements
from tiers import slow

import tt_layout
from tt_layout import LinearLayout

SWIZZLES = list(itertools.product([1, 2, 4, 8], [1, 2, 4], [1, 2, 4, 8]))
STEPS = pytest.mark.parametrize("step", [37, slow(1)])
"""Of the cases that a test loops over, every step-th is tried; 17 divides no number of them."""


def layout_of(attr: str, shape: Sequence[int], release: str | None = None) -> LinearLayout:
    return tt_layout.parse_layout(attr, release=release).to_linear_layout(shape)


def at(layout: LinearLayout, **place: int) -> tuple[int, ...]:
    return tuple(layout.apply(place).values())


def swizzle_text(name: str, swizzle: Swizzle, rest: str = "") -> str:
    return (
        f"#{name}<{{vec = {swizzle.vec}, perPhase = {swizzle.per_phase}, "
        f"maxPhase = {swizzle.max_phase}, order = {list(swizzle.order)}{rest}}}>"
    )


# -- padding --------------------------------------------------------------------------------

PAIRS = [
    [(2, 2)],
    [(2, 1), (4, 2)],
    [(4, 4)],
    [(8, 1), (2, 4)],
    [(16, 8), (64, 4)],
    [(128, 16)],
    [(1, 1)],
    [(32, 2), (8, 1), (4, 16)],
]


def padded_text(pairs: Pairs, order: Sequence[int], shape: Sequence[int]) -> str:
    intervals = ", ".join(f"{interval}:+{pad}" for interval, pad in pairs)
    return f"#ttg.padded_shared<[{intervals}] {{order = {list(order)}, shape = {list(shape)}}}>"


@pytest.mark.parametrize("shape", [(8,), (4, 8), slow((16, 16)), slow((2, 4, 8)), (1, 1)])
def test_padded_positions_and_size(shape: tuple[int, ...]) -> None:
    for pairs, order in itertools.product(PAIRS, itertools.permutations(range(len(shape)))):
        encoding = tt_layout.parse_layout(padded_text(pairs, order, shape))
        view = encoding.format_hardware_view(shape)
        shown = dict(re.findall(r"Offset: (\d+) -> (.*)", view))
        slots = ["pad"] * brute_force.padded_size(math.prod(shape), pairs)
        digits = [len(str(size)) for size in shape]
        for element in elements(shape):
            index = brute_force.in_order(element, shape, order)
            cell = ",".join(str(x).rjust(width) for x, width in zip(element, digits))
            slots[brute_force.padded_position(index, pairs)] = f"({cell})"
        assert shown == {str(slot): cell for slot, cell in enumerate(slots)}


def test_examples_of_the_padding_documentation() -> None:
    assert [brute_force.padded_position(i, [(2, 2)]) for i in range(6)] == [0, 1, 4, 5, 8, 9]
    pairs = [(2, 1), (4, 2)]
    positions = [brute_force.padded_position(i, pairs) for i in range(8)]
    assert positions == [0, 1, 3, 4, 8, 9, 11, 12]
    assert brute_force.padded_size(8, pairs) == 13


# -- swizzles -------------------------------------------------------------------------------

SHAPES = [(8, 16), (16, 8), (64, 4), (2, 32), (2, 8, 16)]


@STEPS
@pytest.mark.parametrize("shape", SHAPES)
def test_swizzled_shared(shape: tuple[int, ...], step: int) -> None:
    orders = list(itertools.permutations(range(len(shape))))
    cases = list(itertools.product(SWIZZLES, orders))
    for (vec, per_phase, max_phase), order in cases[step // 2 :: step]:
        swizzle = Swizzle(vec, per_phase, max_phase, order)
        layout = layout_of(swizzle_text("ttg.swizzled_shared", swizzle), shape)
        for element in elements(shape):
            offset = brute_force.swizzled_offset(element, shape, swizzle)
            assert at(layout, offset=offset) == element, swizzle


@STEPS
@pytest.mark.parametrize("shape", SHAPES)
def test_rotating_shared(shape: tuple[int, ...], step: int) -> None:
    orders = list(itertools.permutations(range(len(shape))))
    cases = list(itertools.product(SWIZZLES, orders))
    for (vec, per_phase, max_phase), order in cases[step // 2 :: step]:
        swizzle = Swizzle(vec, per_phase, max_phase, order)
        layout = layout_of(swizzle_text("ttg.amd_rotating_shared", swizzle), shape)
        for element in elements(shape):
            offset = brute_force.rotating_offset(element, shape, shape, swizzle)
            assert at(layout, offset=offset) == element, swizzle


@STEPS
@pytest.mark.parametrize("split", [(2, 1), (1, 2), (2, 2)])
def test_rotating_shared_of_several_ctas(split: tuple[int, int], step: int) -> None:
    shape = (32, 16)
    extent = [size // parts for size, parts in zip(shape, split)]
    bases = [[int(d == moved) for d in range(2)] for moved in range(2) if split[moved] == 2]
    for vec, per_phase, max_phase in SWIZZLES[step // 2 :: step]:
        swizzle = Swizzle(vec, per_phase, max_phase, (1, 0))
        rest = f", CGALayout = {bases}"
        layout = layout_of(swizzle_text("ttg.amd_rotating_shared", swizzle, rest), shape)
        for block, element in itertools.product(range(1 << len(bases)), elements(extent)):
            start = at(layout, block=block)
            offset = brute_force.rotating_offset(element, shape, extent, swizzle)
            wanted = tuple(x + first for x, first in zip(element, start))
            assert at(layout, offset=offset, block=block) == wanted, swizzle


@STEPS
@pytest.mark.parametrize("order", [(1, 0), (0, 1), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize("phases", [(4, 2), (2, 4), (1, 8)])
def test_leading_offset(order: tuple[int, ...], phases: tuple[int, int], step: int) -> None:
    cases = itertools.product([4, 8, 16], [(8, 1), (16, 2), (32, 1), (8, 4)])
    for vec, (rows, columns) in list(cases)[step // 2 :: step]:
        swizzle = Swizzle(vec, *phases, order)
        shape = [2] * len(order)
        shape[order[0]], shape[order[1]] = columns * vec * phases[1], rows
        text = swizzle_text("triton_gpu.shared", swizzle, ", hasLeadingOffset = true")
        layout = layout_of(text, shape, "3.2")
        for element in elements(shape):
            offset = brute_force.leading_offset(element, shape, swizzle)
            assert at(layout, offset=offset) == element, (swizzle, shape)


# -- CTAs -----------------------------------------------------------------------------------

TRIPLES = [
    Triple((2, 1), (2, 1), (1, 0)),
    Triple((4, 2), (2, 2), (0, 1)),
    Triple((2, 4), (1, 4), (1, 0)),
    Triple((4, 4), (2, 1), (0, 1)),
    Triple((8, 2), (4, 2), (1, 0)),
    Triple((2, 2), (1, 1), (0, 1)),
]


@pytest.mark.parametrize("triple", TRIPLES)
@pytest.mark.parametrize(
    ("release", "text"),
    [
        ("2.3", "#triton_gpu.blocked<{{{tile}, {ctas}}}>"),
        ("3.2", "#triton_gpu.blocked<{{{tile}, {ctas}}}>"),
        ("3.5", "#ttg.blocked<{{{tile}, {ctas}}}>"),
        ("3.2", "#triton_gpu.shared<{{{swizzle}, {ctas}}}>"),
        ("3.5", "#ttg.swizzled_shared<{{{swizzle}, {ctas}}}>"),
    ],
)
def test_old_cta_triples(triple: Triple, release: str, text: str) -> None:
    tile = "sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]"
    swizzle = "vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]"
    ctas = (
        f"CTAsPerCGA = {list(triple.per_cga)}, CTASplitNum = {list(triple.split)}, "
        f"CTAOrder = {list(triple.order)}"
    )
    shape = (32, 64)
    layout = layout_of(text.format(tile=tile, swizzle=swizzle, ctas=ctas), shape, release)
    for cta in range(math.prod(triple.per_cga)):
        assert at(layout, block=cta) == triple.start(cta, shape)


# -- partitions -----------------------------------------------------------------------------


@STEPS
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize(("partitions", "groups"), [(2, 1), (2, 4), (4, 2), (4, 1)])
def test_partitioned_shared(dim: int, partitions: int, groups: int, step: int) -> None:
    piece = (8, 16)
    shape = [size * (partitions * groups if d == dim else 1) for d, size in enumerate(piece)]
    for vec, per_phase, max_phase in SWIZZLES[::3][step // 3 :: step]:
        swizzle = Swizzle(vec, per_phase, max_phase, (1, 0))
        inner = swizzle_text("ttg.swizzled_shared", swizzle)
        layout = layout_of(partitioned_text(inner, dim, partitions, groups), shape)
        for element in elements(shape):
            local, piece_shape, partition, group = brute_force.partitioned_place(
                element, shape, dim, partitions, groups
            )
            offset = brute_force.swizzled_offset(local, piece_shape, swizzle)
            offset += group * math.prod(piece_shape)
            assert at(layout, offset=offset, partition=partition) == element


def partitioned_text(inner: str, dim: int, partitions: int, groups: int) -> str:
    return (
        f"#ttg.partitioned_shared<{{numPartitions = {partitions}, numGroups = {groups}, "
        f"partitionDim = {dim}, partitionLayout = {inner}}}>"
    )


@pytest.mark.parametrize("pairs", PAIRS[:5])
def test_padding_runs_on_through_the_pieces_of_a_partition(pairs: list[tuple[int, int]]) -> None:
    partitions, groups, piece = 2, 2, (4, 8)
    shape = (16, 8)
    inner = padded_text(pairs, (1, 0), piece)
    encoding = tt_layout.parse_layout(partitioned_text(inner, 0, partitions, groups))
    _, *buffers = re.split(r"Partition: \d+:\n", encoding.format_hardware_view(shape))
    assert len(buffers) == partitions
    for element in elements(shape):
        local, piece_shape, partition, group = brute_force.partitioned_place(
            element, shape, 0, partitions, groups
        )
        index = brute_force.in_order(local, piece_shape, (1, 0)) + group * math.prod(piece)
        slot = brute_force.padded_position(index, pairs)
        cell = f"({element[0]:2},{element[1]})"
        assert f"Offset: {slot} -> {cell}\n" in buffers[partition]
    size = brute_force.padded_size(math.prod(shape) // partitions, pairs)
    assert [buffer.count("Offset:") for buffer in buffers] == [size] * partitions


# -- tensor memory --------------------------------------------------------------------------


@STEPS
@pytest.mark.parametrize("block_m", [64, 128])
@pytest.mark.parametrize("has_two_ctas", [False, True])
def test_tensor_memory(block_m: int, has_two_ctas: bool, step: int) -> None:
    cases = itertools.product([2, 8], [1, 4], [1, 2, 4], [2, 4, 16], [False, True])
    for block_n, stride, repeat, columns, is_fp4 in list(cases)[step // 2 :: step]:
        if is_fp4 and stride != 1:
            continue
        tile = TensorMemoryTile(block_m, block_n, stride, has_two_ctas, is_fp4)
        rows = block_m * repeat
        layout = layout_of(tensor_memory_text(tile), [rows * (2 if has_two_ctas else 1), columns])
        for i, j in elements((rows, columns)):
            row, column = tile.cell(i, j, rows, columns)
            assert at(layout, row=row, col=column) == (i, j), tile
            if has_two_ctas:
                assert at(layout, row=row, col=column, block=1) == (i + rows, j), tile


def tensor_memory_text(tile: TensorMemoryTile) -> str:
    ctas = ", CGALayout = [[1, 0]], twoCTAs = true" if tile.two_ctas else ""
    fp4 = ", fp4Padded = true" if tile.fp4_padded else ""
    return (
        f"#ttng.tensor_memory_encoding<blockM = {tile.block_m}, blockN = {tile.block_n}, "
        f"colStride = {tile.col_stride}{ctas}{fp4}>"
    )


@STEPS
@pytest.mark.parametrize("k_first", [False, True])
def test_tensor_memory_scales(k_first: bool, step: int) -> None:
    order = "blockRepOrder = kThenMn" if k_first else ""
    cases = itertools.product([16, 32, 64, 128, 256, 512], [1, 2, 4, 8, 16])
    for rows, columns in list(cases)[step // 2 :: step]:
        layout = layout_of(f"#ttng.tensor_memory_scales_encoding<{order}>", [rows, columns])
        for i, j in elements((rows, columns)):
            row, column = brute_force.scale_cell(i, j, rows, columns, k_first)
            for copy in range(4):
                assert at(layout, row=row + 32 * copy, col=column) == (i, j)


# -- Volta ----------------------------------------------------------------------------------

VOLTA = {
    (0,): "reg 2.0 4.0 0.1 0.8 0.32 lane 1.0 0.2 8.0 0.4 16.0 warp 32.0 0.16",
    (1, 4, 15): "reg 2.0 32.0 0.1 0.8 0.32 lane 1.0 0.2 4.0 0.4 8.0 warp 16.0 0.16",
    (2,): "reg 2.0 4.0 0.1 0.16 0.4 lane 1.0 0.2 8.0 0.8 16.0 warp 32.0 0.32",
    (3, 7): "reg 2.0 32.0 0.1 0.16 0.4 lane 1.0 0.2 4.0 0.8 8.0 warp 16.0 0.32",
}
"""versionMinor -> bases of warpsPerCTA = [2, 2] over 64 x 64, as wheels 2.1 to 3.1 lower them."""


def volta_text(minor: int, warps: tuple[int, int]) -> str:
    return (
        f"#triton_gpu.mma<{{versionMajor = 1, versionMinor = {minor}, "
        f"warpsPerCTA = {list(warps)}}}>"
    )


@pytest.mark.parametrize("places_asked", [16, slow(512)])
@pytest.mark.parametrize("minor", range(16))
def test_volta(minor: int, places_asked: int) -> None:
    for warps, shape in itertools.product(
        [(1, 1), (2, 2), (4, 1), (1, 4)], [(128, 128), (128, 256)]
    ):
        layout = layout_of(volta_text(minor, warps), shape, "2.1")
        sizes = [layout.get_in_dim_size(name) for name in ("register", "lane", "warp")]
        places = itertools.product(*map(range, sizes))
        for register, lane, warp in Random(minor).sample(list(places), places_asked):
            wanted = brute_force.volta_element(register, lane, warp, minor, warps, shape)
            assert at(layout, register=register, lane=lane, warp=warp) == wanted


@pytest.mark.parametrize("minors", VOLTA)
def test_volta_bases_of_the_wheels(minors: tuple[int, ...]) -> None:
    names = {"reg": "register", "lane": "lane", "warp": "warp"}
    wanted: dict[str, list[list[int]]] = {"block": []}
    for word in VOLTA[minors].split():
        if word in names:
            current = wanted.setdefault(names[word], [])
        else:
            current.append([int(step) for step in word.split(".")])
    for minor in minors:
        assert dict(layout_of(volta_text(minor, (2, 2)), [64, 64], "2.1").bases) == wanted
