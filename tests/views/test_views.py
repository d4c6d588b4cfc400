"""The printed views against their definitions, written out with plain loops."""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from collections.abc import Callable

import pytest
from tiers import slow
from work import bytes_of

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError
from tt_layout.views import box, frames, shared, whole_text
from tt_layout.views.cells import Cells
from tt_layout.views.kinds import HARDWARE, KINDS, TENSOR
from tt_layout.views.selection import EVERYTHING, Selection
from tt_layout.views.view import BareLayout, View

BOTH = (TENSOR, HARDWARE)
"""The views that are of every memory space."""

Vectors = list[list[int]]
DISTRIBUTED = ("register", "lane", "warp", "block")
SHARED = ("offset", "block")
PARTITIONED = ("offset", "block", "partition")
TENSOR_MEMORY = ("row", "col", "block")


# -- the definitions ------------------------------------------------------------------------


def sizes_of(layout: LinearLayout) -> list[int]:
    return [size for _, size in layout.out_dims]


def element_at(layout: LinearLayout, **place: int) -> tuple[int, ...]:
    element = [0] * layout.num_out_dims
    for name, vectors in layout.bases:
        for bit, vector in enumerate(vectors):
            if place.get(name, 0) >> bit & 1:
                element = [a ^ b for a, b in zip(element, vector)]
    return tuple(element)


def tuple_text(layout: LinearLayout, element: tuple[int, ...], joint: str) -> str:
    padded = (str(x).rjust(len(str(size))) for x, size in zip(element, sizes_of(layout)))
    return f"({joint.join(padded)})"


def bracketed(shape: list[int], texts: list[str], separator: str) -> str:
    """The texts in nested brackets, one line along the last dimension each."""

    def trailing_zeros(point: tuple[int, ...]) -> int:
        return next((i for i, x in enumerate(reversed(point)) if x), len(point))

    points = list(itertools.product(*map(range, shape)))
    out, starts = "", True
    for point, following, text in zip(points, [*points[1:], (0,) * len(shape)], texts):
        if starts:
            out += ("[" * trailing_zeros(point)).ljust(len(shape))
        starts = following[-1] == 0
        out += text + "]" * trailing_zeros(following) + ("\n" if starts else separator)
    return out


def holder_texts(
    layout: LinearLayout, outer: str, inner: str, places: list[dict[str, int]]
) -> list[str]:
    """For every element the labels of the places that hold it, joined by bars."""
    blocks = layout.get_in_dim_size("block")
    rows = layout.get_in_dim_size("row") * layout.get_in_dim_size("lane")
    outers = rows * layout.get_in_dim_size("warp")
    inners = layout.get_in_dim_size("register") * layout.get_in_dim_size("col")
    width = len(outer) + len(str(outers)) + len(inner) + len(str(inners))
    width += len(f"B{blocks}:") if blocks > 1 else 0
    held: dict[tuple[int, ...], list[str]] = {}
    for place in places:
        thread = place.get("lane", 0) + place.get("warp", 0) * layout.get_in_dim_size("lane")
        text = f"{outer}{place.get('row', thread)}{inner}{place.get('col', place.get('register'))}"
        text = f"B{place['block']}:{text}" if blocks > 1 else text
        held.setdefault(element_at(layout, **place), []).append(text.rjust(width))
    return ["|".join(held.get(x, [])) for x in itertools.product(*map(range, sizes_of(layout)))]


def all_places(layout: LinearLayout, names: list[str]) -> list[dict[str, int]]:
    ranges = [range(layout.get_in_dim_size(name)) for name in names]
    return [dict(zip(names, point)) for point in itertools.product(*ranges)]


def expected_distributed(layout: LinearLayout, kind: str) -> str:
    if kind == TENSOR:
        places = all_places(layout, ["block", "warp", "lane", "register"])
        return bracketed(sizes_of(layout), holder_texts(layout, "T", ":", places), ", ")
    out = ""
    blocks, warps, registers, lanes = (
        range(layout.get_in_dim_size(name)) for name in ("block", "warp", "register", "lane")
    )
    for block in blocks:
        out += f"Block{block}:\n" if len(blocks) > 1 else ""
        for warp in warps:
            out += f"Warp{warp}:\n"
            for r in registers:
                elements = (
                    element_at(layout, register=r, lane=lane, warp=warp, block=block)
                    for lane in lanes
                )
                out += ", ".join(tuple_text(layout, x, ",") for x in elements) + "\n"
    return out


def expected_shared(
    layout: LinearLayout, kind: str, padding: tuple[tuple[int, int], ...] = ()
) -> str:
    shape = sizes_of(layout)
    blocks, partitions = (layout.get_in_dim_size(name) for name in ("block", "partition"))
    offsets = range(math.prod(shape) // blocks // partitions)
    if kind == TENSOR:
        elements = [
            element_at(layout, block=b, partition=p, offset=o)
            for b, p, o in itertools.product(range(blocks), range(partitions), offsets)
        ]
        texts = [tuple_text(layout, x, ":") for x in elements]
        return bracketed(shape, texts or [""] * math.prod(shape), ",")
    slots = {o + sum(o // interval * pad for interval, pad in padding): o for o in offsets}
    out = ""
    for b in range(blocks):
        out += f"Block: {b}:\n"
        for p in range(partitions):
            out += f"Partition: {p}:\n" if "partition" in layout.get_in_dim_names() else ""
            for slot in range(max(slots, default=-1) + 1):
                text = "pad"
                if slot in slots:
                    element = element_at(layout, block=b, partition=p, offset=slots[slot])
                    text = tuple_text(layout, element, ",")
                out += f"Offset: {slot} -> {text}\n"
    return out


def holds_nothing(layout: LinearLayout, place: dict[str, int]) -> bool:
    bases = dict(layout.bases)
    columns = [not any(v) for v in bases["col"]]
    rows = [not any(v) and bit not in (5, 6) for bit, v in enumerate(bases["row"])]
    return any(place["col"] >> bit & 1 for bit, empty in enumerate(columns) if empty) or any(
        place["row"] >> bit & 1 for bit, empty in enumerate(rows) if empty
    )


def expected_tensor_memory(layout: LinearLayout, kind: str) -> str:
    places = all_places(layout, ["block", "row", "col"])
    if kind == TENSOR:
        held = [place for place in places if not holds_nothing(layout, place)]
        return bracketed(sizes_of(layout), holder_texts(layout, "R", ":C", held), ", ")
    out, blocks = "", layout.get_in_dim_size("block")
    digits = len(str(layout.get_in_dim_size("row")))
    for place in places:
        if place["col"] == 0:
            if place["row"] == 0 and blocks > 1:
                out += f"Block{place['block']}:\n"
            out += f"Row{str(place['row']).rjust(digits)}: "
        text = tuple_text(layout, element_at(layout, **place), ",")
        out += "-".rjust(len(text)) if holds_nothing(layout, place) else text
        out += "\n" if place["col"] == layout.get_in_dim_size("col") - 1 else ", "
    return out


def view_in(memory_space: MemorySpace) -> Callable[..., View]:
    """Return the function that shows a linear layout of a memory space by any kind of view."""

    def view(
        layout: LinearLayout,
        kind: str,
        selection: Selection = EVERYTHING,
        padding: tuple[tuple[int, int], ...] = (),
    ) -> View:
        return KINDS[kind].view(BareLayout(layout, padding, memory_space), selection)

    return view


distributed_view = view_in(MemorySpace.REGISTERS)
shared_view = view_in(MemorySpace.SHARED)
tensor_memory_view = view_in(MemorySpace.TENSOR)


# -- random layouts -------------------------------------------------------------------------


def random_layout(rng: random.Random, names: tuple[str, ...], max_bits: int = 9) -> LinearLayout:
    """A layout that may permute, mix, repeat and miss elements."""
    rank = rng.randint(1, 4)
    shape = [1] * rank
    for _ in range(rng.randint(0, max_bits)):
        shape[rng.randrange(rank)] *= 2
    vectors = [
        [(axis == d) << bit for d in range(rank)]
        for axis in range(rank)
        for bit in range(shape[axis].bit_length() - 1)
    ]
    rng.shuffle(vectors)
    for _ in range(rng.choice([0, 0, len(vectors)]) if len(vectors) > 1 else 0):
        a, b = rng.sample(range(len(vectors)), 2)
        vectors[a] = [x ^ y for x, y in zip(vectors[a], vectors[b])]
    del vectors[: rng.choice([0, 0, 0, 1, 2])]
    for _ in range(rng.choice([0, 0, 1, 2])):
        copied = rng.choice(vectors) if vectors and rng.random() < 0.5 else [0] * rank
        vectors.insert(rng.randint(0, len(vectors)), copied)
    weights = [rng.random() ** 2 for _ in names]
    bases: dict[str, Vectors] = {name: [] for name in names}
    for vector in vectors:
        bases[rng.choices(names, weights)[0]].append(vector)
    outs = [f"dim{d}" for d in range(rank)]
    return LinearLayout.from_bases(bases, outs, shape, require_surjective=False)


def assert_prints(view: View, expected: str, seed: int | None = None) -> None:
    assert view.text() == expected, seed
    assert view.size == len(expected), seed
    assert b"".join(view.chunks()).decode() == expected, seed
    assert b"".join(piece.text.tobytes() for piece in view.pieces()).decode() == expected, seed


SEEDS = pytest.mark.parametrize("seeds", [range(2), slow(range(2, 60))], ids=str)


@SEEDS
def test_distributed_views_are_as_defined(seeds: range) -> None:
    for seed in seeds:
        layout = random_layout(random.Random(seed), DISTRIBUTED)
        for kind in BOTH:
            assert_prints(distributed_view(layout, kind), expected_distributed(layout, kind), seed)


@SEEDS
def test_shared_views_are_as_defined(seeds: range) -> None:
    for seed in seeds:
        names = PARTITIONED if seed % 3 == 0 else SHARED
        layout = random_layout(random.Random(seed), names, max_bits=11)
        for kind in BOTH:
            assert_prints(shared_view(layout, kind), expected_shared(layout, kind), seed)


@SEEDS
def test_padded_hardware_views_show_every_slot(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        layout = random_layout(rng, PARTITIONED if seed % 3 == 0 else SHARED)
        intervals = rng.sample([1, 2, 4, 8, 64, 256], rng.randint(1, 3))
        padding = tuple((interval, 1 << rng.randint(0, 4)) for interval in intervals)
        view = shared_view(layout, HARDWARE, padding=padding)
        assert_prints(view, expected_shared(layout, HARDWARE, padding), seed)


def test_padded_tensor_view_is_that_of_the_elements() -> None:
    layout = random_layout(random.Random(1), SHARED)
    padded = shared_view(layout, TENSOR, padding=((4, 2),))
    assert padded.text() == shared_view(layout, TENSOR).text()


@SEEDS
def test_tensor_memory_views_are_as_defined(seeds: range) -> None:
    for seed in seeds:
        layout = random_layout(random.Random(seed), TENSOR_MEMORY, max_bits=10)
        for kind in BOTH:
            expected = expected_tensor_memory(layout, kind)
            assert_prints(tensor_memory_view(layout, kind), expected, seed)


# -- cells ----------------------------------------------------------------------------------


def written(view: View) -> list[list[str]]:
    """Return what the text says in each cell, where the view says that it stands."""
    found: list[list[str]] = []
    for piece in view.pieces():
        assert piece.is_heading or piece.first == len(found)
        text = piece.text.tobytes().decode()
        for starts, ends in zip(piece.starts.tolist(), piece.ends.tolist()):
            texts = [text[start:end].replace(" ", "") for start, end in zip(starts, ends)]
            texts = [t.replace(":", ",") if t.startswith("(") else t for t in texts]
            found.append([t for t in texts if t not in ("", "-", "pad")])
    return found


def named(view: View, blocks: int, lanes: int) -> list[list[str]]:
    """Return what the numbers of each cell say, in the notation of the text."""
    found: list[list[str]] = []
    for cells in view.cells():
        names = [*cells.locations]
        for number, (element, is_mapped) in enumerate(zip(cells.elements, cells.are_mapped)):
            holders = zip(*(cells.locations[name][number].tolist() for name in names))
            places = [dict(zip(names, holder)) for holder in holders]
            if not is_mapped:
                found.append([])
            elif view.content.shows_locations:
                found.append([label(place, blocks, lanes) for place in places])
            else:
                found.append([f"({','.join(map(str, element.tolist()))})"])
    return found


def label(place: dict[str, int], blocks: int, lanes: int) -> str:
    front = f"B{place['block']}:" if blocks > 1 else ""
    if "row" in place:
        return f"{front}R{place['row']}:C{place['col']}"
    return f"{front}T{place['warp'] * lanes + place['lane']}:{place['register']}"


@SEEDS
def test_cells_are_what_the_text_says(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        monkeypatch.setattr(frames, "BLOCK_BYTES", 1 << rng.randint(6, 12))
        padding = ((1 << rng.randint(0, 3), rng.randint(0, 5)),) * rng.randint(0, 1)
        for names, show in (
            (DISTRIBUTED, distributed_view),
            (PARTITIONED if seed % 3 == 0 else SHARED, shared_view),
            (TENSOR_MEMORY, tensor_memory_view),
        ):
            layout = random_layout(rng, names, max_bits=8)
            for kind in BOTH:
                view = show(layout, kind, padding=padding if show is shared_view else ())
                sizes = layout.get_in_dim_size("block"), layout.get_in_dim_size("lane")
                if view.shape.fields.count:  # there is a text where there is an element
                    assert written(view) == named(view, *sizes), (seed, kind)


def test_cells_come_a_bounded_number_at_a_time() -> None:
    view = distributed_view(row_major(1 << 20, 1 << 20), HARDWARE)
    found: list[Cells] = []
    assert bytes_of(lambda: found.append(next(view.cells()))) < 8 << 20
    assert len(found[0].elements) < 1 << 16


def test_slices_of_tensor_memory_hold_copies() -> None:
    bases = {"row": [[1], [2], [4], [8], [0], [0], [16]], "col": []}
    layout = LinearLayout.from_bases(bases, ["dim0"])
    text = tensor_memory_view(layout, TENSOR).text()
    assert text.startswith("[  R0:C0| R32:C0,   R1:C0| R33:C0, ")


# -- bracket frames, by hand ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ([2, 2], "[[T0:0, T0:1]\n[ T0:2, T0:3]]\n"),
        ([2, 1, 2], "[[[T0:0, T0:1]]\n[[ T0:2, T0:3]]]\n"),
        ([2, 1], "[[T0:0]\n[ T0:1]]\n"),
        ([1], "[T0:0]\n"),
    ],
)
def test_brackets(shape: list[int], expected: str) -> None:
    names = [f"dim{d}" for d in range(len(shape))]
    sizes = list(zip(reversed(names), reversed(shape)))
    flat = LinearLayout.identity_1d(math.prod(shape), "register", "flat")
    layout = flat.reshape_outs(sizes).transpose_outs(names)
    assert distributed_view(layout, TENSOR).text() == expected


def test_positions_that_no_block_fills_are_empty() -> None:
    bases = {"offset": [], "block": [[1], [0]]}
    layout = LinearLayout.from_bases(bases, ["dim0"])
    assert_prints(shared_view(layout, TENSOR), "[,]\n")


# -- selections -----------------------------------------------------------------------------


def random_range(rng: random.Random, size: int) -> tuple[int, int]:
    start = rng.randrange(size)
    return start, rng.randint(start + 1, size)


@SEEDS
def test_a_slice_is_the_bracket_frame_over_it(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        layout = random_layout(rng, DISTRIBUTED)
        shape = sizes_of(layout)
        places = all_places(layout, ["block", "warp", "lane", "register"])
        texts = dict(
            zip(
                itertools.product(*map(range, shape)),
                holder_texts(layout, "T", ":", places),
            )
        )
        slices = tuple(random_range(rng, size) for size in shape)
        inside = [texts[x] for x in itertools.product(*(range(*bounds) for bounds in slices))]
        expected = bracketed([stop - start for start, stop in slices], inside, ", ")
        assert_prints(distributed_view(layout, TENSOR, Selection(slices=slices)), expected)


@SEEDS
def test_a_slice_of_shared_memory_keeps_places_of_the_frame(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        layout = random_layout(rng, SHARED)
        shape = sizes_of(layout)
        whole = shared_view(layout, TENSOR).text()
        cells = whole.replace("\n", ",").replace("[", "").replace("]", "").replace(" (", "(")
        texts = dict(zip(itertools.product(*map(range, shape)), cells.split(",")))
        slices = tuple(random_range(rng, size) for size in shape)
        inside = [texts[x] for x in itertools.product(*(range(*bounds) for bounds in slices))]
        sliced = shared_view(layout, TENSOR, Selection(slices=slices))
        expected = bracketed([stop - start for start, stop in slices], inside, ",")
        assert sliced.text().replace(" ", "") == expected.replace(" ", "")
        assert sliced.size == len(sliced.text())


def test_selected_registers_lanes_warps_and_blocks() -> None:
    bases = {
        "register": [[1, 0], [0, 1]],
        "lane": [[0, 2], [0, 4], [2, 0]],
        "warp": [[4, 0], [8, 0]],
        "block": [[16, 0]],
    }
    layout = LinearLayout.from_bases(bases, ["dim0", "dim1"])
    chosen = Selection(blocks=(1, 2), warps=(1, 3), registers=(1, 3), lanes=(2, 5))
    expected = "Block1:\n"
    for warp in (1, 2):
        expected += f"Warp{warp}:\n"
        for register in (1, 2):
            elements = (
                element_at(layout, block=1, warp=warp, register=register, lane=lane)
                for lane in (2, 3, 4)
            )
            expected += ", ".join(tuple_text(layout, x, ",") for x in elements) + "\n"
    assert_prints(distributed_view(layout, HARDWARE, chosen), expected)


@pytest.mark.parametrize("padding", [(), ((4, 2), (64, 8))])
@pytest.mark.parametrize("offsets", [(0, 1), (7, 12), (95, 1013), (999, 1001)])
def test_selected_offsets(offsets: tuple[int, int], padding: tuple[tuple[int, int], ...]) -> None:
    bases = {"offset": [[1 << bit] for bit in range(10)], "block": [[1 << 10]]}
    layout = LinearLayout.from_bases(bases, ["dim0"])
    lines = expected_shared(layout, HARDWARE, padding).split("Block: 1:\n")[1].splitlines()
    chosen = Selection(blocks=(1, 2), offsets=offsets)
    expected = "\n".join(["Block: 1:", *lines[slice(*offsets)]]) + "\n"
    assert_prints(shared_view(layout, HARDWARE, chosen, padding), expected)


def test_selected_rows_and_columns() -> None:
    bases = {"row": [[1, 0], [2, 0], [4, 0], [8, 0]], "col": [[0, 1], [0, 0], [0, 2]]}
    layout = LinearLayout.from_bases(bases, ["dim0", "dim1"])
    view = tensor_memory_view(layout, HARDWARE, Selection(rows=(9, 11), columns=(1, 5)))
    assert_prints(
        view,
        "Row 9: ( 9,1),      -,      -, ( 9,2)\nRow10: (10,1),      -,      -, (10,2)\n",
    )


@pytest.mark.parametrize(
    ("selection", "kind", "message"),
    [
        (Selection(lanes=(30, 41)), HARDWARE, "lane 40 is outside 0..31"),
        (Selection(lanes=(40, 41)), HARDWARE, "lane 40 is outside 0..31"),
        (Selection(registers=(-1, 1)), HARDWARE, "register -1 is outside 0..3"),
        (Selection(warps=(1, 1)), HARDWARE, "warp 1:1 selects nothing"),
        (Selection(slices=((0, 129),)), TENSOR, "dim0 128 is outside 0..127"),
        (Selection(slices=(None, None)), TENSOR, "slices must have one entry"),
        (Selection(lanes=(0, 1)), TENSOR, "lanes cannot be selected in a tensor view"),
        (Selection(slices=((0, 1),)), HARDWARE, "slices cannot be selected in a hardware view"),
        (Selection(offsets=(0, 1)), HARDWARE, "offsets cannot be selected"),
    ],
)
def test_wrong_selections(selection: Selection, kind: str, message: str) -> None:
    bases = {"register": [[1], [2]], "lane": [[4], [8], [16], [32], [64]]}
    layout = LinearLayout.from_bases({**bases, "warp": [[0], [0]], "block": []}, ["dim0"])
    with pytest.raises(LayoutError, match=message.replace(".", r"\.")):
        distributed_view(layout, kind, selection)


def test_a_view_refuses_other_kinds_of_layouts() -> None:
    layout = LinearLayout.identity_1d(4, "offset", "dim0")
    with pytest.raises(LayoutError, match="got one from offset"):
        distributed_view(layout, TENSOR)


# -- large layouts --------------------------------------------------------------------------


def row_major(rows: int, columns: int) -> LinearLayout:
    """A layout of 4 x 32 threads, with all registers beyond."""
    bits = [[0, 1 << bit] for bit in range(columns.bit_length() - 1)]
    bits += [[1 << bit, 0] for bit in range(rows.bit_length() - 1)]
    bases = {"register": bits[:2] + bits[9:], "lane": bits[2:7], "warp": bits[7:9], "block": []}
    return LinearLayout.from_bases(bases, ["dim0", "dim1"], [rows, columns])


def test_only_what_is_shown_is_computed() -> None:
    layout = row_major(1 << 20, 1 << 20)
    assert bytes_of(lambda: look_at_parts(layout)) < 2 << 20


def look_at_parts(layout: LinearLayout) -> None:
    """Print a corner and two registers of a layout of 2^20 rows and columns."""
    corner = Selection(slices=((5, 21), ((1 << 20) - 64, 1 << 20)))
    view = distributed_view(layout, TENSOR, corner)
    assert view.size == len(view.text())
    assert "T127:172031]]" in view.text()
    registers = Selection(warps=(3, 4), registers=(1 << 32, (1 << 32) + 2))
    assert distributed_view(layout, HARDWARE, registers).text().startswith("Warp3:\n( 524288,")
    assert distributed_view(layout, TENSOR).size > 1 << 43


def test_the_first_chunk_of_a_huge_view_comes_at_once() -> None:
    view = distributed_view(row_major(1 << 20, 1 << 20), TENSOR)
    chunks = []
    assert bytes_of(lambda: chunks.append(next(view.chunks()))) < 8 << 20
    assert len(chunks[0]) < 1 << 20


@pytest.mark.parametrize("kind", BOTH)
@SEEDS
def test_small_pages_and_blocks_print_the_same(
    seeds: range, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        monkeypatch.setattr(box, "ROW_BYTES", 1 << rng.randint(4, 7))
        monkeypatch.setattr(box, "PAGE_BYTES", 1 << rng.randint(8, 11))
        monkeypatch.setattr(frames, "BLOCK_BYTES", 1 << rng.randint(6, 8))
        monkeypatch.setattr(shared, "LOW_DIGITS", 1)
        monkeypatch.setattr(shared, "BLOCK_LINES", 10)
        monkeypatch.setattr(shared, "PAGE_LINES", 30)
        monkeypatch.setattr(shared, "RUN", 1 << rng.randint(0, 4))
        layout = random_layout(rng, DISTRIBUTED)
        assert_prints(distributed_view(layout, kind), expected_distributed(layout, kind), seed)
        layout = random_layout(rng, SHARED)
        assert_prints(shared_view(layout, kind), expected_shared(layout, kind), seed)


@pytest.mark.slow
@pytest.mark.parametrize("padding", [(), ((128, 4), (1024, 16))])
def test_offsets_of_five_digits(padding: tuple[tuple[int, int], ...]) -> None:
    bits = [[1 << bit, 0] for bit in range(7)] + [[1 << bit, 1 << bit] for bit in range(7)]
    layout = LinearLayout.from_bases({"offset": bits, "block": []}, ["dim0", "dim1"])
    view = shared_view(layout, HARDWARE, padding=padding)
    assert_prints(view, expected_shared(layout, HARDWARE, padding))
    chosen = shared_view(layout, HARDWARE, Selection(offsets=(9998, 12345)), padding)
    assert chosen.text().splitlines()[1:] == view.text().splitlines()[9999:12346]


def test_long_lines_of_lanes_have_one_header() -> None:
    bits = [[1 << bit] for bit in range(16)]
    layout = LinearLayout.from_bases({"lane": bits[1:], "register": bits[:1]}, ["dim0"])
    view = distributed_view(layout, HARDWARE)
    assert len(list(view.chunks())) > 2
    lanes = [", ".join(f"({2 * lane + r:5})" for lane in range(1 << 15)) for r in range(2)]
    assert_prints(view, "\n".join(["Warp0:", *lanes]) + "\n")


def test_long_lines_come_in_pieces() -> None:
    layout = row_major(1, 1 << 16)
    chunks = list(distributed_view(layout, TENSOR).chunks())
    assert max(map(len, chunks)) < 1 << 19 < sum(map(len, chunks))
    assert b"".join(chunks).decode() == distributed_view(layout, TENSOR).text()


@pytest.mark.slow
def test_long_lines_are_as_defined() -> None:
    layout = row_major(1, 1 << 16)
    assert_prints(distributed_view(layout, TENSOR), expected_distributed(layout, TENSOR))


# -- digests of views as Triton 3.9.0 prints them -------------------------------------------


def parse_bases(text: str) -> dict[str, Vectors]:
    """Read ``lane 0.1 1.0; warp -``: a dimension, then its vectors or a dash."""
    bases: dict[str, Vectors] = {"block": []}
    for part in text.split("; "):
        name, *vectors = part.split()
        bases[name] = [[int(x) for x in v.split(".")] for v in vectors if v != "-"]
    return bases


DIGESTS = [
    (
        [8, 4, 8],
        "register 0.0.1 0.0.2 2.0.0 4.0.0; lane 0.0.4 0.0.0 1.0.0 0.1.0 0.2.0; warp 0.0.0 0.0.0",
        "6e8ac921",
        "599b82fc",
    ),
    (
        [32, 32],
        "register 0.1 0.2 0.4; lane 0.8 0.0 0.0 1.0 2.0; warp 4.0 8.0; block 0.16 16.0",
        "a79ce0f3",
        "e62329ff",
    ),
    (
        [8, 16],
        "register 4.0 2.0 1.0 0.8; lane 0.0 0.4 0.2 0.0 0.0; warp 0.1",
        "dd918466",
        "4d2e7fdc",
    ),
    (
        [32],
        "register 4 8 16; lane 0 0 0 1 2; warp -",
        "cdd8dbfc",
        "ca35ac5c",
    ),
    (
        [16, 4],
        "register 1.0 0.1 8.0; lane 2.0 0.0 0.0 0.0 0.2; warp 4.0 0.0",
        "74285fd3",
        "219b02f5",
    ),
    (
        [64, 16],
        "register 0.1 0.8 8.0 16.0 32.0; lane 0.2 0.4 1.0 2.0 4.0; warp -",
        "2414cab1",
        "87005777",
    ),
    (
        [2, 32, 16],
        "register 0.0.1 0.8.0 0.16.0 1.0.0; lane 0.0.2 0.0.4 0.1.0 0.2.0 0.4.0; warp 0.0.8 0.0.0",
        "723133aa",
        "922049a1",
    ),
    (
        [128, 64],
        "register 0.1 8.0 0.8 0.32 64.0; lane 0.2 0.4 1.0 2.0 4.0; warp 16.0 32.0 0.16",
        "8664f4be",
        "bf45e9db",
    ),
    (
        [32, 32],
        "register 1.0 8.0 16.0 0.16; lane 2.0 4.0 0.1 0.2 0.4; warp 0.8 0.0",
        "994ec1b8",
        "193d0237",
    ),
    (
        [16, 2],
        "register 0.1 0.0 0.0 0.0; lane 0.0 0.0 1.0 2.0 4.0; warp 0.0 0.0; block 8.0",
        "38a3e547",
        "67bae0c7",
    ),
    (
        [256, 256],
        "register 1.0 2.0 8.0 16.0 0.32 0.128 32.0 128.0; lane 0.1 0.2 0.4 0.8 0.16 4.0; "
        "warp 0.64 64.0",
        "a62ae8ac",
        "d3f639e0",
    ),
    (
        [128, 64],
        "register 0.1 0.2 0.16 0.32 16.0 64.0; lane 1.0 2.0 4.0 8.0 0.4 0.8; warp 32.0",
        "d978c2dd",
        "53b78a06",
    ),
    (
        [256, 2],
        "register 4.0 8.0 32.0 64.0 128.0; lane 0.1 0.0 0.0 0.0 1.0 2.0; warp 0.0 16.0",
        "67701779",
        "71af1d08",
    ),
    (
        [32, 128],
        "register 0.1 0.2 0.64 4.0 8.0 16.0; lane 1.0 2.0 0.4 0.8 0.16 0.32; warp -",
        "a45ca056",
        "c0a9fab9",
    ),
    (
        [64, 64],
        "register 1.0 2.0 4.0 8.0 16.0 32.0 0.0; lane 0.1 0.2 0.4 0.8 0.16 0.32; warp -",
        "4ffb7d54",
        "7c817f37",
    ),
    (
        [64, 64],
        "register 0.1 0.2 0.8 0.16 0.0; lane 1.0 2.0 4.0 8.0 16.0 0.4; warp 32.0; block 0.32",
        "31420eab",
        "5df6c0c2",
    ),
    (
        [64, 32],
        "register 2.0 4.0 8.0 0.16 16.0 32.0; lane 0.1 0.2 0.4 0.8 1.0; warp -",
        "6ab79b31",
        "22304b2d",
    ),
    (
        [16, 256],
        "register 0.1 0.2 0.4 0.16 0.64 0.128; lane 1.0 2.0 4.0 8.0 0.8; warp 0.32",
        "98a30e2b",
        "7aafa7a0",
    ),
    (
        [64, 64],
        "register 1.0 2.0 4.0 8.0 32.0 0.16; lane 0.1 0.2 0.4 0.8 16.0; warp 0.32 0.0",
        "28f5e7a0",
        "c642738a",
    ),
    (
        [64, 8],
        "register 0.1 0.2 0.4 1.0; lane 0.0 0.0 2.0 4.0 8.0; warp 16.0 32.0",
        "4eec1fb0",
        "cba27e9b",
    ),
    (
        [16, 32],
        "offset 0.1 0.2 0.4 0.8 0.16 1.0 2.2 4.4 8.0",
        "3d38a038",
        "1a2a995f",
    ),
    (
        [8, 128],
        "offset 0.1 0.2 0.4 0.8 0.16 0.32 1.0 2.0 4.0; block 0.0 0.64",
        "dd8aefd5",
        "3665da2d",
    ),
    (
        [8, 64],
        "offset 0.1 0.2 0.4 0.0 0.8 0.16 0.32 1.8 2.16 4.32",
        "c6f0719c",
        "5cd65904",
    ),
    (
        [64, 4, 32],
        "offset 1.0.0 2.0.0 4.0.0 8.0.0 16.0.0 0.0.4 8.0.8 16.0.16 0.1.0 0.2.0 0.0.1 0.0.2 32.0.0",
        "84f05100",
        "ae1c9031",
    ),
    (
        [4, 16, 2],
        "offset 0.1.0 0.2.0 1.0.0 0.0.1 0.0.0 0.0.0 0.0.0 0.4.0 0.8.0 2.0.0",
        "c20fde00",
        "04c19acf",
    ),
    (
        [512, 64],
        "offset 0.1 0.2 0.4 0.8 0.16 0.32 1.8 2.16 4.32 8.0 16.0 32.0 64.0 128.0 256.0",
        "871001cc",
        "193f7591",
    ),
]


@pytest.mark.parametrize(("shape", "text", "tensor_digest", "hardware_digest"), DIGESTS)
def test_views_have_the_digests_of_triton(
    shape: list[int], text: str, tensor_digest: str, hardware_digest: str
) -> None:
    names = [f"dim{d}" for d in range(len(shape))]
    layout = LinearLayout.from_bases(parse_bases(text), names, shape, require_surjective=False)
    view = shared_view if text.startswith("offset") else distributed_view
    for kind, digest in ((TENSOR, tensor_digest), (HARDWARE, hardware_digest)):
        printed = view(layout, kind).text().encode()
        assert hashlib.sha256(printed).hexdigest()[:8] == digest


def test_a_long_text_is_that_of_its_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is written where it stays, or put together."""
    layouts = [
        (TENSOR, BareLayout(LinearLayout.identity_1d(1 << 11, "register", "dim0"))),
        (HARDWARE, BareLayout(LinearLayout.identity_1d(1 << 11, "warp", "dim0"))),
        (TENSOR, BareLayout(LinearLayout.zeros_1d(4, "lane", "dim0", 1 << 9))),
    ]
    offsets = LinearLayout.identity_1d(1 << 14, "offset", "dim0")
    layouts += [
        (HARDWARE, BareLayout(offsets, padding, MemorySpace.SHARED)) for padding in ((), ((4, 2),))
    ]
    for kind, placed in layouts:
        view = KINDS[kind].view(placed)
        together = b"".join(view.chunks()).decode()
        assert view.text() == together
        with monkeypatch.context() as patched:
            patched.setattr(whole_text, "LEAST", 2)
            assert view.text() == together
