"""`compare` against brute force: every element's holders, looked up one by one."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from tiers import slow

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.layouts.layout_difference import LayoutDifference, compare, place_label
from tt_layout.encodings.parsing import parse_layout
from tt_layout.errors import LayoutError

Holders = dict[tuple[int, ...], set[tuple[int, ...]]]


def holders(layout: LinearLayout) -> Holders:
    """Element -> all places that hold it, a place being its coordinates."""
    names = layout.get_in_dim_names()
    found: Holders = {}
    for place in itertools.product(*(range(layout.get_in_dim_size(n)) for n in names)):
        element = tuple(layout.apply(dict(zip(names, place))).values())
        found.setdefault(element, set()).add(place)
    return found


def elements(layout: LinearLayout) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(size) for _, size in layout.out_sizes)))


def random_layout(rng: random.Random, sizes: dict[str, int], memory: str) -> LinearLayout:
    """A layout of mostly unit steps, some zero, some swizzled; it need not be surjective."""
    names = list(sizes)
    steps = [
        tuple(1 << bit if other == name else 0 for other in names)
        for name in names
        for bit in range(sizes[name].bit_length() - 1)
    ]
    rng.shuffle(steps)
    vectors = [*steps, *((0,) * len(names) for _ in range(rng.choice((0, 0, 1, 2))))]
    if rng.random() < 0.3 and len(steps) > 1:
        at = rng.randrange(len(steps))
        vectors[at] = tuple(a ^ b for a, b in zip(vectors[at], vectors[at - 1]))
    if rng.random() < 0.1:
        vectors = vectors[1:]
    rng.shuffle(vectors)
    dims = ["register", "lane", "warp", "block"] if memory == "register" else ["offset", "block"]
    cuts = sorted(rng.randrange(len(vectors) + 1) for _ in dims[1:])
    parts = [vectors[a:b] for a, b in zip([0, *cuts], [*cuts, len(vectors)])]
    bases = list(zip(dims, parts))
    return LinearLayout.from_bases(bases, names, list(sizes.values()), require_surjective=False)


def mutated(rng: random.Random, layout: LinearLayout) -> LinearLayout:
    """The layout with two bases exchanged, one xored into another, or nothing changed."""
    flat = [(name, vector) for name, vectors in layout.in_bases for vector in vectors]
    vectors = [vector for _, vector in flat]
    if len(vectors) > 1 and rng.random() < 0.9:
        a, b = rng.sample(range(len(vectors)), 2)
        if rng.random() < 0.7:
            vectors[a], vectors[b] = vectors[b], vectors[a]
        else:
            vectors[a] = tuple(x ^ y for x, y in zip(vectors[a], vectors[b]))
    moved = iter(vectors)
    bases = tuple((name, tuple(next(moved) for _ in own)) for name, own in layout.in_bases)
    return LinearLayout(bases, layout.out_sizes)


def check_against_brute_force(before: LinearLayout, after: LinearLayout) -> None:
    comparison = compare(before, after)
    was, now = holders(before), holders(after)
    names = before.get_in_dim_names()
    moved = [e for e in elements(before) if was.get(e, set()) != now.get(e, set())]
    assert comparison.moved == len(moved)
    assert comparison.elements == math.prod(size for _, size in before.out_sizes)
    assert comparison.same_map == (before == after)
    if before.is_surjective() and after.is_surjective():
        assert [m.element for m in comparison.first_moves] == moved[:3]
    for move in comparison.first_moves:
        for label, layout, found in ((move.before, before, was), (move.after, after, now)):
            places = sorted(found.get(move.element, ()), key=lambda p: tuple(reversed(p)))
            labels = [place_label(dict(zip(names, place)), layout) for place in places]
            expected = "|".join(labels[:4]) + ("|.." if len(labels) > 4 else "")
            assert label == (expected or None)
    check_bits(comparison, before, after)
    check_permutes(comparison, before, after)


def check_bits(comparison: LayoutDifference, before: LinearLayout, after: LinearLayout) -> None:
    """Bits named as swapped are swapped; bits not named are equal."""
    named = set()
    for change in comparison.changes:
        named |= set(change.positions)
        cycle = change.positions
        if change.kind in ("swapped", "exchanged", "permuted"):
            for (dim, bit), (to_dim, to_bit) in zip(cycle, (*cycle[1:], cycle[0])):
                assert before.vectors(dim)[bit] == after.vectors(to_dim)[to_bit]
            assert len(cycle) > 2 or change.kind != "permuted"
    for layout, other in ((before, after), (after, before)):
        for dim, vectors in layout.in_bases:
            for bit, vector in enumerate(vectors):
                same = bit < len(other.vectors(dim)) and other.vectors(dim)[bit] == vector
                assert same == ((dim, bit) not in named)


def check_permutes(comparison: LayoutDifference, before: LinearLayout, after: LinearLayout) -> None:
    """An input is reordered if, all other inputs fixed, it reaches the same elements as often."""
    names = before.get_in_dim_names()
    if any(before.get_in_dim_size(n) != after.get_in_dim_size(n) for n in names):
        return
    for dim in names:
        reached = [_reached_along(layout, dim) for layout in (before, after)]
        expected = before != after and reached[0] == reached[1] and dim not in ("offset", "block")
        assert (dim in comparison.permuted_inputs) == expected


def _reached_along(layout: LinearLayout, dim: str) -> dict[tuple[int, ...], list[object]]:
    names = layout.get_in_dim_names()
    groups: dict[tuple[int, ...], list[object]] = {}
    for place in itertools.product(*(range(layout.get_in_dim_size(n)) for n in names)):
        others = tuple(x for n, x in zip(names, place) if n != dim)
        groups.setdefault(others, []).append(tuple(layout.apply(dict(zip(names, place))).values()))
    return {others: sorted(group, key=str) for others, group in groups.items()}


SHAPES = ({"dim0": 8}, {"dim0": 4, "dim1": 4}, {"dim0": 2, "dim1": 2, "dim2": 4})


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [40, slow(1000)])
@pytest.mark.parametrize("memory", ["register", "offset"])
def test_random_pairs_agree_with_brute_force(memory: str, pairs: int) -> None:
    rng = random.Random(memory)
    for _ in range(pairs):
        sizes = rng.choice(SHAPES)
        before = random_layout(rng, sizes, memory)
        unrelated = rng.random() < 0.3
        after = random_layout(rng, sizes, memory) if unrelated else mutated(rng, before)
        check_against_brute_force(before, after)


BLOCKED = (
    "#ttg.blocked<{{sizePerThread = {0}, threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = {1}}}>"
)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (([1, 1], [1, 0]), ([1, 1], [1, 0]), ""),
        (
            ([1, 2], [1, 0]),
            ([2, 1], [1, 0]),
            "register bit 0 was (0, 1), is (1, 0); lane bit 0 was (0, 2), is (0, 1); ",
        ),
    ],
)
def test_words(
    before: tuple[list[int], list[int]], after: tuple[list[int], list[int]], words: str
) -> None:
    texts = [BLOCKED.format(*own) for own in (before, after)]
    layouts = [parse_layout(text).to_linear_layout([16, 16]) for text in texts]
    assert str(compare(*layouts)).startswith(words)


def test_layouts_of_different_tensors_are_refused() -> None:
    small, large = (LinearLayout.identity_1d(size, "lane", "dim0") for size in (4, 8))
    with pytest.raises(LayoutError, match="got shapes 4 and 8"):
        compare(small, large)


def test_layouts_of_different_memories_are_refused() -> None:
    lanes, offsets = (LinearLayout.identity_1d(4, name, "dim0") for name in ("lane", "offset"))
    with pytest.raises(LayoutError, match="lane, the other offset"):
        compare(lanes, offsets)


def test_cost_does_not_grow_with_the_tensor() -> None:
    text = BLOCKED.format([1, 4], [1, 0])
    layouts = [parse_layout(text.replace("[4, 8]", own)) for own in ("[4, 8]", "[8, 4]")]
    comparison = compare(*(own.to_linear_layout([1 << 20, 1 << 20]) for own in layouts))
    assert comparison.elements == 1 << 40
    assert 0 < comparison.moved < comparison.elements
