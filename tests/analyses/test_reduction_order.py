"""The order of additions in reductions, against the compiler's rules written as loops."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tiers import slow

import tt_layout
from tt_layout import LayoutError, LinearLayout
from tt_layout.analyses.conversion.reduction_order import (
    AddStep,
    ReductionTree,
    reduction_tree,
)
from tt_layout.enums import INNER_TREE
from tt_layout.hardware import find_target
from tt_layout.releases import Release
from tt_layout.reports.reduce import brackets, sum_text

TARGETS = ("sm80", "sm90", "sm100", "gfx942", "gfx950", "gfx11", "gfx1250")
ROWS = "gl.BlockedLayout([1, 4], [4, 8], [1, 4], [1, 0])"
Node = frozenset  # of the two nodes that are added, in any order
_SIZES = {"register": 3, "warp": 2}


def laid(r: Random, lanes: int) -> LinearLayout:
    """Return a layout whose bits are put anywhere, two dimensions, without repeats."""
    names = [name for name, size in {**_SIZES, "lane": lanes}.items() for _ in range(size)]
    bits = [[0, 1 << at] for at in range(len(names) - 2)] + [[1, 0], [2, 0]]
    r.shuffle(bits)
    bases: dict[str, list[list[int]]] = {name: [] for name in ("register", "lane", "warp")}
    for name, bit in zip(names, bits):
        bases[name].append(bit)
    return LinearLayout.from_bases(bases, ["dim0", "dim1"])


def nodes_of(tree: ReductionTree) -> object:
    """Return the sum of element 0 as nested pairs."""

    def node(steps: int, first: int) -> object:
        if not steps:
            return first
        offsets = tree.steps[steps - 1].offsets
        found = node(steps - 1, first)
        for offset in offsets[1:]:
            found = Node((found, node(steps - 1, first ^ offset)))
        return found

    return node(len(tree.steps), 0)


def definition(layout: LinearLayout, axis: int, halves: bool, rows: bool, packed: bool) -> object:
    """Return the same by carrying the reduction out: threads, then shuffles, then warps."""
    lanes, warps = (layout.get_in_dim_size(name) for name in ("lane", "warp"))
    held: dict[tuple[int, int], dict[tuple[int, ...], object]] = {}
    for warp in range(warps):
        for lane in range(lanes):
            own: dict[tuple[int, ...], list[int]] = {}
            for register in range(layout.get_in_dim_size("register")):
                at = {"register": register, "lane": lane, "warp": warp}
                element = list(layout.apply(at).values())
                along, element[axis] = element[axis], 0
                own.setdefault(tuple(element), []).append(along)
            held[warp, lane] = {
                k: threaded(v, layout, axis, halves, packed) for k, v in own.items()
            }
    moving = [b for b, vector in enumerate(layout.vectors("lane")) if vector[axis]]
    order = sorted(moving, reverse=True)
    if rows and 1 << len(moving) == lanes:
        order = [b for b in (3, 2, 1, 0, 4, 5) if b in moving]
    crossed = [b for b, vector in enumerate(layout.vectors("warp")) if vector[axis]]
    for where, bit in [*((1, b) for b in order), *((0, b) for b in reversed(crossed))]:
        before = {key: dict(value) for key, value in held.items()}
        for key in held:
            other = (key[0] ^ (1 - where << bit), key[1] ^ (where << bit))
            for name in held[key]:
                held[key][name] = Node((before[key][name], before[other][name]))
    return next(v[0, 0] for v in held.values() if (0, 0) in v)


def threaded(
    terms: list[int], layout: LinearLayout, axis: int, halves: bool, packed: bool
) -> object:
    """Return what a thread makes of its elements along the axis, in the order of registers."""
    values: list[object] = list(terms)
    if not halves:
        found = values[0]
        for value in values[1:]:
            found = Node((found, value))
        return found
    if packed and len(values) >= 4 and layout.vectors("register")[0][axis]:
        parts = [threaded(terms[half::2], layout, axis, True, False) for half in (0, 1)]
        return Node(parts)
    while len(values) > 1:
        values = [Node(values[at : at + 2]) for at in range(0, len(values), 2)]
    return values[0]


@pytest.mark.parametrize("count", [4, slow(140)])
def test_trees_of_random_layouts(seed: int, count: int) -> None:
    r = Random(seed)
    for number in range(count):
        target = find_target(TARGETS[number % len(TARGETS)])
        layout, axis = laid(r, 6 if target.lanes == 64 else 5), r.randint(0, 1)
        element = r.choice(["f16", "f32", "f64"])
        bits = int(element[1:])
        tree = reduction_tree(layout, axis, element, target, Release.V3_9)
        packed = bits in target.packed_sums
        expected = definition(layout, axis, True, target.adds_rows, packed)
        assert nodes_of(tree) == expected, (target.name, element, layout)
        try:
            old = reduction_tree(layout, axis, element, target, Release.V3_6)
        except LayoutError:
            continue
        assert nodes_of(old) == definition(layout, axis, False, target.adds_rows, False)


@pytest.mark.parametrize(("warps", "by_rows"), [(4, False), (5, True)])
def test_a_warp_that_adds_what_as_many_warps_hold_adds_by_rows(warps: int, by_rows: bool) -> None:
    """The sums of 32 warps are one in each lane, and are added as 32 lanes of a warp are."""
    bits = [[1 << bit] for bit in range(5 + warps)]
    layout = LinearLayout.from_bases([("lane", bits[:5]), ("warp", bits[5:])], ["dim0"])
    tree = reduction_tree(layout, 0, "f32", find_target("gfx1100"), Release.V3_6)
    names = [step.instruction for step in tree.steps]
    rows = [*(f"row_shr:{lanes}" for lanes in (8, 4, 2, 1)), "v_permlanex16"]
    assert names[:5] == rows
    assert names[5:] == (rows if by_rows else [f"shuffle xor {1 << bit}" for bit in (3, 2, 1, 0)])


def test_sum_is_that_of_the_brackets(seed: int) -> None:
    report = tt_layout.reduce(ROWS, "4x64xf32", 1)
    values = np.random.default_rng(seed).standard_normal((4, 64)).astype(np.float32)
    text = brackets(report.tree.steps)
    for row, found in zip(values, report.tree.sum(values)):
        names = {f"x{at}": value for at, value in enumerate(row)}
        code = "".join(f"x{word}" if word.isdigit() else word for word in split(text))
        assert eval(code, names) == found


def split(text: str) -> list[str]:
    """Return the numbers of a text, and what is between them."""
    parts = [""]
    for letter in text:
        if parts[-1] and letter.isdigit() != parts[-1][-1].isdigit():
            parts.append("")
        parts[-1] += letter
    return parts


def test_trees_of_equal_steps_only_are_equal() -> None:
    """Layouts that tell lanes apart otherwise add otherwise; the first addition says how."""
    target, lanes = find_target("sm90"), [[1], [2], [4], [8], [16]]
    layouts = [
        LinearLayout.from_bases([("register", [[32]]), ("lane", own)], ["dim0"])
        for own in (lanes, lanes[::-1])
    ]
    up, down = (reduction_tree(one, 0, "f32", target, Release.V3_9) for one in layouts)
    assert up.difference(up) is None
    found = up.difference(down)
    assert found is not None
    assert found[:] == (2, (0, 32), (16, 48), (1, 33))
    half = LinearLayout.from_bases([("lane", lanes)], ["dim0"])
    with pytest.raises(LayoutError, match="is of 64 elements, the other of 32: their sums cannot"):
        up.difference(reduction_tree(half, 0, "f32", target, Release.V3_9))


def test_inner_tree_adds_neighbours_first_whatever_the_layout() -> None:
    for text in (ROWS, "gl.BlockedLayout([1, 2], [2, 16], [2, 2], [1, 0])"):
        tree = tt_layout.reduce(text, "64x256xf32", 1, ordering=INNER_TREE).tree
        assert [step.offsets for step in tree.steps] == [(0, 1 << bit) for bit in range(8)]


def test_integers_give_the_same_bits_in_any_order() -> None:
    tree = tt_layout.reduce("gl.BlockedLayout([1], [32], [4], [0])", "128xi32", 0).tree
    assert tree.is_exact
    assert tree.steps[0].instruction == "redux.sync.add"


REFUSED = {
    "registers of two dimensions": (
        LinearLayout.from_bases([("register", [[1, 1], [0, 1]])], ["dim0", "dim1"]),
        "bit 0 of the register moves by",
    ),
    "lanes that are not neighbours": (
        LinearLayout.from_bases([("lane", [[0, 1], [1, 0], [0, 2]])], ["dim0", "dim1"]),
        "unless the bits of a dimension are together",
    ),
    "lanes of another dimension on both sides": (
        LinearLayout.from_bases(
            [("lane", [[1, 0], [0, 1], [2, 0]]), ("warp", [[0, 2]])], ["dim0", "dim1"]
        ),
        r"bits \[1\] of the lane move along dimension 1",
    ),
    "CTAs": (LinearLayout.from_bases([("block", [[0, 1]])], ["dim0", "dim1"]), "across CTAs"),
}


@pytest.mark.parametrize(("layout", "message"), REFUSED.values(), ids=REFUSED)
def test_what_a_release_does_not_reduce_is_refused(layout: LinearLayout, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        reduction_tree(layout, 1, "f32", find_target("sm90"), Release.V3_6)


def test_figure_has_a_row_for_each_step() -> None:
    """A cell names the first element of the sum that an element is in after the step."""
    tree = tt_layout.reduce(ROWS, "4x64xf32", 1).tree
    figure = tt_layout.plot(ROWS, "4x64xf32", view="reduce", axis=1).figure
    [grid] = figure.grids
    assert grid.labels is not None
    done = 0
    for number, row in enumerate(grid.labels):
        done |= tree.steps[number - 1].bits if number else 0
        assert row == [str(element & ~done) for element in range(64)]
    with pytest.raises(LayoutError, match="needs axis"):
        tt_layout.plot(ROWS, "4x64xf32", view="reduce")


def test_intels_order_is_not_known() -> None:
    text = "gl.BlockedLayout([1, 4], [1, 16], [1, 4], [1, 0])"
    with pytest.raises(LayoutError, match="Intel's"):
        tt_layout.reduce(text, "4x64xf32", 1, threads_per_warp=16)


def test_up_to_four_terms_of_a_step_are_written_out() -> None:
    four, five = (AddStep("registers", tuple(range(terms))) for terms in (4, 5))
    assert sum_text(four, 1) == "s1(i) = x(i) + x(i+1) + x(i+2) + x(i+3)"
    assert sum_text(five, 1) == "s1(i) = x(i) + x(i+1) + .. + x(i+4), one after the other: +0-4"
