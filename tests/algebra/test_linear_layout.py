"""The laws of linear layouts, on all small maps and on seeded random ones.

What a layout means is computed here once more, by `meaning`, with plain ints and loops.
"""

from __future__ import annotations

import functools
import itertools
import operator
import random
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pytest
from tiers import slow

from tt_layout import LayoutError, LinearLayout
from tt_layout.algebra.arrays import F2Map, count_zeros
from tt_layout.algebra.span import F2Span

Point = dict[str, int]


def meaning(layout: LinearLayout, point: Mapping[str, int]) -> Point:
    """Evaluate a layout by its definition: the xor of the bases of all bits set."""
    names = [name for name, _ in layout.out_dims]
    result = dict.fromkeys(names, 0)
    for dim, vectors in layout.bases:
        for bit, vector in enumerate(vectors):
            if point[dim] & (1 << bit):
                for name, component in zip(names, vector):
                    result[name] ^= component
    return result


def grid(sizes: Mapping[str, int]) -> Iterator[Point]:
    """Yield every point of a box."""
    for values in itertools.product(*(range(size) for size in sizes.values())):
        yield dict(zip(sizes, values))


def in_sizes(layout: LinearLayout) -> dict[str, int]:
    return {name: 1 << len(vectors) for name, vectors in layout.bases}


def table(layout: LinearLayout) -> dict[tuple[tuple[str, int], ...], Point]:
    """Return the value at every point."""
    return {tuple(p.items()): meaning(layout, p) for p in grid(in_sizes(layout))}


def image(layout: LinearLayout) -> set[tuple[tuple[str, int], ...]]:
    """Return the outputs that are reached, whatever the order of the dimensions."""
    return {tuple(sorted(value.items())) for value in table(layout).values()}


def all_small_maps() -> Iterator[LinearLayout]:
    """Yield every map from 2 + 1 bits to 1 + 2 bits."""
    vectors = list(itertools.product(range(2), range(4)))
    for a0, a1, b0 in itertools.product(vectors, repeat=3):
        bases = [("a", [a0, a1]), ("b", [b0])]
        yield LinearLayout.from_bases(bases, ["x", "y"], [2, 4], require_surjective=False)


SMALL = list(all_small_maps())


def random_map(
    choose: random.Random, ins: list[str], outs: list[str], sizes: list[int] | None = None
) -> LinearLayout:
    sizes = sizes or [1 << choose.randrange(4) for _ in outs]
    bases = [
        (name, [[choose.randrange(size) for size in sizes] for _ in range(choose.randrange(4))])
        for name in ins
    ]
    return LinearLayout.from_bases(bases, outs, sizes, require_surjective=False)


@pytest.fixture
def choose(seed: int) -> random.Random:
    return random.Random(seed)


@pytest.fixture(params=[25, slow(1)])
def step(request: pytest.FixtureRequest) -> int:
    """Return which part of the maps is tried: every step-th."""
    return int(request.param)


@pytest.fixture
def small(step: int) -> list[LinearLayout]:
    return SMALL[step // 2 :: step]


@pytest.fixture
def maps(choose: random.Random, small: list[LinearLayout], step: int) -> list[LinearLayout]:
    """Small maps, and random ones with more dimensions."""
    drawn = (random_map(choose, ["a", "b", "c"], ["x", "y"]) for _ in range(150 // step))
    return [*small, *drawn]


# -- evaluation ---------------------------------------------------------------------------------


def test_apply_is_the_definition(maps: list[LinearLayout]) -> None:
    for layout in maps:
        for point in grid(in_sizes(layout)):
            assert layout.apply(point) == meaning(layout, point)


def test_the_law_of_linearity(small: list[LinearLayout]) -> None:
    for layout in small:
        for p, q in itertools.product(grid(in_sizes(layout)), repeat=2):
            both = layout.apply({name: p[name] ^ q[name] for name in p})
            assert both == {n: layout.apply(p)[n] ^ layout.apply(q)[n] for n in ("x", "y")}


def test_arrays_are_evaluated_as_their_elements(maps: list[LinearLayout]) -> None:
    for layout in maps[::7]:
        sizes = in_sizes(layout)
        axes = np.meshgrid(*(np.arange(size) for size in sizes.values()), indexing="ij")
        arrays = layout.apply(dict(zip(sizes, axes)))
        assert [array.dtype for array in arrays.values()] == [np.int64, np.int64]
        for values in itertools.product(*(range(size) for size in sizes.values())):
            expected = meaning(layout, dict(zip(sizes, values)))
            assert {name: int(array[values]) for name, array in arrays.items()} == expected


def test_arrays_broadcast_with_each_other_and_with_ints() -> None:
    layout = LinearLayout.from_bases([("a", [[1], [2]]), ("b", [[4]]), ("c", [[8]])], ["x"])
    rows, columns = np.arange(4)[:, None], np.arange(2, dtype=np.uint8)[None, :]
    assert layout.apply({"a": rows, "b": columns, "c": 1})["x"].tolist() == [
        [8, 12],
        [9, 13],
        [10, 14],
        [11, 15],
    ]


def test_an_input_left_out_is_zero() -> None:
    layout = LinearLayout.from_bases([("a", [[1], [2]]), ("b", [[4]])], ["x"])
    assert layout.apply({"a": 3}) == {"x": 3}
    assert layout.apply({}) == {"x": 0}


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"lane": 8}, "lane must be in 0..7, got 8"),
        ({"lane": -1}, "lane must be in 0..7, got -1"),
        ({"lane": np.array([0, 9])}, "lane must be in 0..7, got 9"),
        ({"lane": np.array([-2, 1])}, "lane must be in 0..7, got -2"),
        ({"line": 0}, "unknown input dimension 'line'; this layout has lane"),
    ],
)
def test_inputs_outside_the_layout_are_refused(point: dict[str, object], message: str) -> None:
    layout = LinearLayout.identity_1d(8, "lane", "dim0")
    with pytest.raises(LayoutError) as error:
        layout.apply(point)
    assert str(error.value) == message


def test_the_matrix_view_multiplies_as_the_layout_maps(maps: list[LinearLayout]) -> None:
    for layout in maps:
        matrix = layout.get_matrix_view()
        for point in grid(in_sizes(layout)):
            bits = [point[n] >> k & 1 for n, vs in layout.bases for k in range(len(vs))]
            product = [sum(m * b for m, b in zip(row, bits)) % 2 for row in matrix]
            value, flat, shift = meaning(layout, point), 0, 0
            for name, size in layout.out_dims:
                flat |= value[name] << shift
                shift += size.bit_length() - 1
            assert sum(bit << k for k, bit in enumerate(product)) == flat


# -- properties ---------------------------------------------------------------------------------


def test_surjective_injective_invertible_are_what_they_say(maps: list[LinearLayout]) -> None:
    for layout in maps:
        reached, inputs, outputs = len(image(layout)), 1, 1
        for size in in_sizes(layout).values():
            inputs *= size
        for _, size in layout.out_dims:
            outputs *= size
        assert layout.is_surjective() == (reached == outputs)
        assert layout.is_injective() == (reached == inputs)
        assert layout.is_invertible() == (reached == inputs == outputs)


def test_a_free_bit_reaches_nothing_new(maps: list[LinearLayout]) -> None:
    for layout in maps:
        masks, reached = layout.get_free_variable_masks(), {0}
        for dim, vectors in layout.bases:
            for bit, vector in enumerate(vectors):
                flat = layout.flatten(vector)
                assert (masks[dim] >> bit & 1) == (flat in reached)
                reached |= {flat ^ other for other in reached}


def test_bases_and_out_dims_make_the_layout_again(maps: list[LinearLayout]) -> None:
    for layout in maps:
        sizes = [size for _, size in layout.out_dims]
        names = layout.get_out_dim_names()
        again = LinearLayout.from_bases(layout.bases, names, sizes, require_surjective=False)
        assert again == layout
        assert hash(again) == hash(layout)


def test_what_is_read_is_a_copy() -> None:
    layout = LinearLayout.identity_1d(4, "lane", "dim0")
    layout.bases[0][1].append([7])
    layout.out_dims.clear()
    assert layout == LinearLayout.identity_1d(4, "lane", "dim0")


def test_the_text_lists_every_basis() -> None:
    layout = LinearLayout.from_bases([("lane", [[0, 1], [1, 1]]), ("warp", [])], ["x", "y"])
    assert str(layout) == (
        " - lane=1 -> (0, 1)\n"
        "   lane=2 -> (1, 1)\n"
        " - warp is a size 1 dimension\n"
        "where out dims are: [x (size 2), y (size 2)]"
    )


# -- products -----------------------------------------------------------------------------------


def test_a_product_concatenates_the_bits_of_every_dimension(
    choose: random.Random, step: int
) -> None:
    for _ in range(300 // step):
        inner = random_map(choose, choose.sample("abc", 2), choose.sample("xyz", 2))
        outer = random_map(choose, choose.sample("abc", 2), choose.sample("xyz", 2))
        both = inner * outer
        low, high = in_sizes(inner), in_sizes(outer)
        assert set(in_sizes(both)) == {*low, *high}
        scale = dict(inner.out_dims)
        for point in grid(in_sizes(both)):
            fast = meaning(inner, {n: point[n] % low[n] for n in low})
            slow = meaning(outer, {n: point[n] // low.get(n, 1) for n in high})
            for name, value in meaning(both, point).items():
                assert value == fast.get(name, 0) + scale.get(name, 1) * slow.get(name, 0)


def test_products_are_associative_and_the_empty_layout_changes_nothing(
    choose: random.Random,
) -> None:
    for _ in range(100):
        a, b, c = (random_map(choose, ["a", "b"], ["x", "y"]) for _ in range(3))
        assert (a * b) * c == a * (b * c)
        assert LinearLayout.empty() * a == a == a * LinearLayout.empty()


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        (["a", "b"], ["c"], ["a", "b", "c"]),
        (["a", "b"], ["c", "b"], ["a", "c", "b"]),
        (["b"], ["a", "b", "c"], ["a", "b", "c"]),
        (["a", "b"], ["b", "a"], ["a", "b"]),
        (["a", "b"], ["b", "c", "a"], ["b", "c", "a"]),
        (["b", "a"], ["a", "c", "b"], ["a", "c", "b"]),
        (["b", "c"], ["a", "c", "b"], ["a", "c", "b"]),
        (["a", "b"], ["b", "a", "c"], ["a", "b", "c"]),
    ],
)
def test_the_dimensions_of_a_product_keep_the_order_of_both(
    first: list[str], second: list[str], merged: list[str]
) -> None:
    """Those that contradict each other are merged as Triton 3.9.0 does."""

    def layout(names: list[str]) -> LinearLayout:
        return LinearLayout.from_bases([(n, []) for n in names], names, [1] * len(names))

    product = layout(first) * layout(second)
    assert product.get_in_dim_names() == merged
    assert product.get_out_dim_names() == merged


# -- composition and inverses -------------------------------------------------------------------


def test_compose_applies_one_after_the_other(choose: random.Random) -> None:
    for _ in range(200):
        outer = random_map(choose, ["x", "y"], ["u", "v"])
        sizes = in_sizes(outer)
        inner = random_map(choose, ["a", "b"], ["y", "x"], [sizes["y"], sizes["x"]])
        composed = inner.compose(outer)
        for point in grid(in_sizes(inner)):
            assert meaning(composed, point) == meaning(outer, meaning(inner, point))


def test_invert_and_compose_solves_for_every_input(step: int) -> None:
    for inner, outer in list(itertools.product(SMALL[::5], SMALL[::7]))[::step]:
        if image(inner) <= image(outer):
            solution = inner.invert_and_compose(outer)
            assert solution.out_dims == list(in_sizes(outer).items())
            for point in grid(in_sizes(inner)):
                assert meaning(outer, meaning(solution, point)) == meaning(inner, point)
        else:
            with pytest.raises(LayoutError, match="does not reach"):
                inner.invert_and_compose(outer)


@pytest.mark.slow
def test_invert_and_compose_in_whatever_order_the_outputs_are(choose: random.Random) -> None:
    solved = 0
    for _ in range(300):
        inner = random_map(choose, ["a", "b"], ["x", "y"], [2, 4])
        outer = random_map(choose, ["a", "c", "d"], ["y", "x"], [8, 4])
        if image(inner) <= image(outer):
            solution, solved = inner.invert_and_compose(outer), solved + 1
            for point in grid(in_sizes(inner)):
                assert meaning(outer, meaning(solution, point)) == meaning(inner, point)
    assert solved > 20


def test_a_dimension_that_both_share_unchanged_is_mapped_to_itself() -> None:
    inner = LinearLayout.from_bases([("lane", [[1], [0]]), ("block", [[4]])], ["x"], [8], False)
    outer = LinearLayout.from_bases([("offset", [[1], [2]]), ("block", [[4]])], ["x"], [8])
    assert inner.invert_and_compose(outer).bases == [
        ("lane", [[1, 0], [0, 0]]),
        ("block", [[0, 1]]),
    ]


def test_of_several_solutions_the_one_without_free_bits_is_taken() -> None:
    copies = LinearLayout.from_bases([("offset", [[0], [2], [1], [1]])], ["x"])
    wanted = LinearLayout.identity_1d(4, "lane", "x")
    assert wanted.invert_and_compose(copies).bases == [("lane", [[4], [2]])]


def test_pseudoinverses_are_right_inverses(maps: list[LinearLayout]) -> None:
    for layout in maps:
        if not layout.is_surjective():
            with pytest.raises(LayoutError):
                layout.pseudoinvert()
            continue
        inverse = layout.pseudoinvert()
        for point in grid(dict(layout.out_dims)):
            assert meaning(layout, meaning(inverse, point)) == point


def test_inverses_undo_from_both_sides(maps: list[LinearLayout]) -> None:
    for layout in maps:
        if not layout.is_invertible():
            with pytest.raises(LayoutError, match="only an invertible layout has an inverse"):
                layout.invert()
            continue
        inverse = layout.invert()
        for point in grid(in_sizes(layout)):
            assert meaning(inverse, meaning(layout, point)) == point
        assert inverse.invert() == layout


def test_the_span_expresses_exactly_what_it_holds(choose: random.Random) -> None:
    for _ in range(300):
        columns = [choose.randrange(32) for _ in range(choose.randrange(7))]
        span, sums = F2Span(columns), {0}
        for column in columns:
            sums |= {column ^ other for other in sums}
        assert 1 << span.rank == len(sums)
        for vector in range(32):
            mask = span.express(vector)
            assert (mask is None) == (vector not in sums)
            if mask is not None:
                assert mask & ~span.pivots == 0
                total = 0
                for index, column in enumerate(columns):
                    total ^= column if mask >> index & 1 else 0
                assert total == vector


# -- rearranging --------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [[1, 1, 0, 0, 2], [0, 3, 1, 2, 3], [1, 2, 4, 7, 0]])
def test_zeros_of_a_box_are_those_of_its_points(function: list[int]) -> None:
    rows, columns = [[*itertools.combinations(range(n + 1), 2)] for n in (4, 8)]
    for (top, bottom), (left, right) in itertools.product(rows, columns):
        points = itertools.product(range(top, bottom), range(left, right))
        values = [
            functools.reduce(
                operator.xor, (v for bit, v in enumerate(function) if 8 * r + c >> bit & 1), 0
            )
            for r, c in points
        ]
        ranges = [(top, bottom), (left, right)]
        assert count_zeros(F2Map(tuple(function)), ranges, [4, 8]) == values.count(0)


def test_transposing_changes_the_order_and_nothing_else(maps: list[LinearLayout]) -> None:
    for layout in maps:
        ins, outs = layout.get_in_dim_names()[::-1], layout.get_out_dim_names()[::-1]
        turned = layout.transpose_ins(ins).transpose_outs(outs)
        assert (turned.get_in_dim_names(), turned.get_out_dim_names()) == (ins, outs)
        for point in grid(in_sizes(layout)):
            assert turned.apply(point) == layout.apply(point)


def test_a_sublayout_keeps_the_values_of_what_is_left(maps: list[LinearLayout]) -> None:
    for layout in maps:
        part = layout.sublayout(["b"], ["y"])
        assert part.out_dims == [("y", dict(layout.out_dims)["y"])]
        for value in range(in_sizes(layout)["b"]):
            assert part.apply({"b": value})["y"] == layout.apply({"b": value})["y"]


def test_reshaping_the_outputs_keeps_the_flat_value(choose: random.Random) -> None:
    for _ in range(100):
        layout = random_map(choose, ["a", "b"], ["x", "y"], [4, 8])
        reshaped = layout.reshape_outs([("u", 2), ("v", 16), ("w", 1)])
        for point in grid(in_sizes(layout)):
            before, after = meaning(layout, point), meaning(reshaped, point)
            assert before["x"] + 4 * before["y"] == after["u"] + 2 * after["v"]


def test_zero_bases_are_removed_from_one_dimension_only() -> None:
    layout = LinearLayout.from_bases([("register", [[0], [1], [0]]), ("lane", [[0]])], ["x"])
    assert layout.remove_zero_bases("register").bases == [("register", [[1]]), ("lane", [[0]])]


# -- building, as upstream's own unit tests have it ---------------------------------------------


def test_identity_maps_each_index_to_itself() -> None:
    layout = LinearLayout.identity_1d(8, "idx", "idx")
    assert [layout.apply({"idx": i})["idx"] for i in range(8)] == list(range(8))
    assert layout.is_invertible()
    assert (layout.num_in_dims, layout.num_out_dims) == (1, 1)


def test_strides_scale_the_index() -> None:
    layout = LinearLayout.strided_1d(4, 8, "i", "o")
    assert [layout.apply({"i": i})["o"] for i in range(4)] == [0, 8, 16, 24]
    assert layout.out_dims == [("o", 32)]
    assert not layout.is_surjective()


def test_zeros_map_each_index_to_zero() -> None:
    layout = LinearLayout.zeros_1d(8, "i", "o")
    assert {layout.apply({"i": i})["o"] for i in range(8)} == {0}
    assert layout.out_dims == [("o", 1)]
    assert layout.is_surjective()
    assert not LinearLayout.zeros_1d(8, "i", "o", outDimSize=4).is_surjective()


def test_size_one_has_dimensions_and_size_zero_has_none() -> None:
    one = LinearLayout.identity_1d(1, "i", "o")
    assert (one.bases, one.out_dims) == ([("i", [])], [("o", 1)])
    assert LinearLayout.identity_1d(0, "i", "o") == LinearLayout.empty()
    assert LinearLayout.zeros_1d(0, "i", "o") == LinearLayout.empty()


def test_two_identities_on_one_dimension_make_a_longer_one() -> None:
    product = LinearLayout.identity_1d(4, "i", "o") * LinearLayout.identity_1d(8, "i", "o")
    assert product == LinearLayout.identity_1d(32, "i", "o")


def test_two_identities_on_other_dimensions_stay_apart() -> None:
    product = LinearLayout.identity_1d(8, "i0", "o0") * LinearLayout.identity_1d(4, "i1", "o1")
    for i0, i1 in itertools.product(range(8), range(4)):
        assert product.apply({"i0": i0, "i1": i1}) == {"o0": i0, "o1": i1}


def test_repetition_inside_and_outside_of_a_tile() -> None:
    tile, copies = LinearLayout.identity_1d(4, "lane", "x"), LinearLayout.zeros_1d(2, "lane", "x")
    assert (tile * copies).bases == [("lane", [[1], [2], [0]])]
    assert (copies * tile).bases == [("lane", [[0], [1], [2]])]


def test_a_dict_of_bases_is_as_good_as_pairs() -> None:
    pairs = [("a", [[1, 0]]), ("b", [[0, 1]])]
    assert LinearLayout.from_bases(dict(pairs), ["x", "y"]) == LinearLayout.from_bases(
        pairs, ["x", "y"]
    )


def test_sizes_are_inferred_from_the_largest_component() -> None:
    layout = LinearLayout.from_bases([("a", [[0, 1], [0, 2], [1, 3]])], ["x", "y"])
    assert layout.out_dims == [("x", 2), ("y", 4)]


def test_matrix_views() -> None:
    assert LinearLayout.identity_1d(4, "i", "o").get_matrix_view() == [[1, 0], [0, 1]]
    assert LinearLayout.strided_1d(4, 2, "i", "o").get_matrix_view() == [[0, 0], [1, 0], [0, 1]]
    rows_first = LinearLayout.from_bases([("i", [[0, 1]]), ("j", [[1, 0]])], ["x", "y"])
    assert rows_first.get_matrix_view() == [[0, 1], [1, 0]]


def test_views_are_those_of_the_command() -> None:
    lanes = LinearLayout.identity_1d(2, "lane", "dim0")
    assert lanes.get_distributed_view(False) == "[T0:0, T1:0]\n"
    assert lanes.get_distributed_view(True) == "Warp0:\n(0), (1)\n"
    offsets = LinearLayout.from_bases([("offset", [[1]]), ("block", [])], ["dim0"])
    assert offsets.get_shared_view(False) == "[(0),(1)]\n"
    assert offsets.get_shared_view(True) == "Block: 0:\nOffset: 0 -> (0)\nOffset: 1 -> (1)\n"


# -- what is not a layout --------------------------------------------------------------------------

LANES = LinearLayout.identity_1d(4, "lane", "x")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: LinearLayout.identity_1d(3, "i", "o"), "must be powers of two, got 3 and 1"),
        (lambda: LinearLayout.strided_1d(4, 3, "i", "o"), "must be powers of two, got 4 and 3"),
        (lambda: LinearLayout.zeros_1d(6, "i", "o"), "size must be a power of two, got 6"),
        (lambda: LinearLayout.zeros_1d(4, "i", "o", 3), "size of o must be a power of two, got 3"),
        (
            lambda: LinearLayout.from_bases([("i", [[1, 2]])], ["o"]),
            "one component per output dimension (1), got [1, 2]",
        ),
        (
            lambda: LinearLayout.from_bases([("i", [[1, 2]])], ["o"], [4]),
            "one component per output dimension (1), got [1, 2]",
        ),
        (
            lambda: LinearLayout.from_bases([("i", [[4]])], ["o"], [4]),
            "basis [4] of i is outside of the sizes [4]",
        ),
        (
            lambda: LinearLayout.from_bases([("i", [[-1]])], ["o"], [4]),
            "basis [-1] of i is outside of the sizes [4]",
        ),
        (
            lambda: LinearLayout.from_bases([("i", [[1]])], ["o"], [2, 2]),
            "one size per output dimension (1), got [2, 2]",
        ),
        (
            lambda: LinearLayout.from_bases([("i", [[2]])], ["o"]),
            "the layout must reach every output, but does not",
        ),
        (
            lambda: LinearLayout.from_bases([("i", []), ("i", [])], ["o"]),
            "dimension names must differ from each other, got ['i', 'i']",
        ),
        (
            lambda: LinearLayout.from_bases([], ["o", "o"]),
            "dimension names must differ from each other, got ['o', 'o']",
        ),
        (
            lambda: LANES.compose(LinearLayout.identity_1d(4, "y", "z")),
            "the output dimensions are ['x'], got ['y']",
        ),
        (
            lambda: LANES.compose(LinearLayout.identity_1d(2, "x", "z")),
            "x has size 4, but the outer layout takes only 2",
        ),
        (
            lambda: LANES.invert_and_compose(LinearLayout.identity_1d(4, "i", "y")),
            "the output dimensions are ['x'], got ['y']",
        ),
        (
            lambda: LANES.invert_and_compose(LinearLayout.identity_1d(2, "i", "x")),
            "x has size 4, but the outer layout reaches only 2",
        ),
        (
            lambda: LANES.invert_and_compose(LinearLayout.strided_1d(2, 2, "i", "x")),
            "the outer layout does not reach [1], so it cannot be inverted there",
        ),
        (
            lambda: LANES.transpose_ins(["warp"]),
            "the input dimensions are ['lane'], got ['warp']",
        ),
        (
            lambda: LANES.transpose_outs(["x", "x"]),
            "the output dimensions are ['x'], got ['x', 'x']",
        ),
        (
            lambda: LANES.reshape_outs([("u", 2)]),
            "cannot reshape outputs [('x', 4)] to [('u', 2)]",
        ),
    ],
)
def test_what_is_no_layout_is_refused_with_the_reason(
    build: Callable[[], LinearLayout], message: str
) -> None:
    with pytest.raises(LayoutError) as error:
        build()
    assert message in str(error.value)
