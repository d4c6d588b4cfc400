"""The palette: told apart by everybody, legible everywhere, and swizzles show in it."""

from __future__ import annotations

import gzip
import json
import math
import re
from colorsys import rgb_to_hls
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from vision import contrast, least_distances

from tt_layout.colour import (
    CELLS,
    EMPTY,
    HUE_THRESHOLD,
    HUES,
    INK,
    MARK,
    PAGE,
    PALETTES,
    PASTEL_HUE_THRESHOLD,
    PASTEL_THRESHOLD,
    RULE,
    SHADES,
    TERMINAL,
    THRESHOLD,
    rgb,
    style,
    terminal_rgb,
)
from tt_layout.encodings.parsing import parse_layout
from tt_layout.figures.drawing import draw
from tt_layout.figures.drawn import Colouring, DrawnLayout
from tt_layout.figures.tensor import element_groups
from tt_layout.mlir.types import parse_type
from tt_layout.placement import PlacedLayout, place
from tt_layout.views.groups import default_grouping

Numbers = npt.NDArray[np.int64]

MAX_ELEMENTS = 1 << 15
DISTANCES = least_distances([rgb(colour) for colour in CELLS])
APART = DISTANCES + np.eye(len(CELLS))


def test_any_two_colours_are_told_apart_by_everybody() -> None:
    assert APART.min() > THRESHOLD


def test_hues_are_further_apart() -> None:
    assert APART[::SHADES, ::SHADES].min() > HUE_THRESHOLD


def test_pastel_colours_are_told_apart_and_have_dark_text() -> None:
    apart = least_distances([rgb(colour) for colour in PALETTES["pastel"]])
    apart = apart + np.eye(len(apart))
    assert len(apart) == HUES * SHADES
    assert apart.min() > PASTEL_THRESHOLD
    assert apart[::SHADES, ::SHADES].min() > PASTEL_HUE_THRESHOLD
    assert all(contrast(rgb(INK), rgb(fill)) >= 10 for fill in PALETTES["pastel"])


def test_text_is_readable_on_every_cell() -> None:
    for fill in (*CELLS, EMPTY, PAGE):
        assert contrast(rgb(INK), rgb(fill)) >= 4.5
    for colour in (RULE, MARK):
        assert contrast(rgb(colour), rgb(PAGE)) >= 4.5


def test_black_text_is_on_no_brown_and_no_olive() -> None:
    for fill in CELLS:
        hue, lightness, _ = rgb_to_hls(*(part / 255 for part in rgb(fill)))
        if 15 < 360 * hue < 100 and lightness < 0.95:
            assert contrast(rgb(INK), rgb(fill)) >= 6.8, fill


def test_terminals_show_the_same_colours_with_black_text_whatever_their_ground() -> None:
    assert terminal_rgb(16) == rgb(INK) == (0, 0, 0)
    for place_ in range(HUES * SHADES):
        number = TERMINAL[place_ // SHADES][place_ % SHADES]
        assert rgb(CELLS[place_]) == terminal_rgb(number)
        assert style(place_) == b"\x1b[38;5;16;48;5;%03dm" % number


def test_colours_of_terminals_are_a_cube_of_6_steps_and_24_greys() -> None:
    steps = 0, 95, 135, 175, 215, 255
    cube = [(red, green, blue) for red in steps for green in steps for blue in steps]
    greys = [(grey, grey, grey) for grey in range(8, 239, 10)]
    assert [terminal_rgb(number) for number in range(16, 256)] == [*cube, *greys]


def corpus() -> dict[str, PlacedLayout]:
    """Return every swizzle of shared memory that the compiler was asked for, over one tensor."""
    path = Path(__file__).parents[1] / "truth" / "triton-3.9.0.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    found = {}
    for row in rows:
        is_swizzle = re.match(r"#ttg\.(swizzled|nvmma|amd_rotating)_shared", row["attr"])
        if not is_swizzle or "bases" not in row or math.prod(row["shape"]) > MAX_ELEMENTS:
            continue
        sizes = "".join(f"{size}x" for size in row["shape"])
        tensor = parse_type(f"!ttg.memdesc<{sizes}{row['elem']}>")
        placed = place(parse_layout(row["attr"]), tensor)
        if any(phases(placed, axis) is not None for axis in range(len(placed.shape))):
            found[f"{row['attr']} {sizes}{row['elem']}"] = placed
    return found


def phases(placed: PlacedLayout, axis: int) -> Numbers | None:
    """Return what the swizzle adds to the place of each row, by xor; None where it adds nothing."""
    vectors = dict(placed.layout.in_bases)["offset"]
    fast = next((at for at, step in enumerate(vectors[0]) if step), 0) if vectors else 0
    if axis == fast:
        return None
    added = np.zeros(placed.shape[axis], np.int64)
    for vector in vectors:
        if [at for at, step in enumerate(vector) if step and at != fast] == [axis]:
            added[np.arange(len(added)) & vector[axis] != 0] ^= vector[fast]
    return added if added.any() else None


@pytest.mark.slow
def test_neighbouring_phases_of_every_swizzle_are_told_apart() -> None:
    layouts = corpus()
    assert len(layouts) >= 80, len(layouts)
    for name, placed in layouts.items():
        colouring = Colouring(placed, default_grouping(placed))
        groups = element_groups(DrawnLayout(placed), colouring)
        colours = colouring.colours(groups).reshape(placed.shape)
        for axis in range(len(placed.shape)):
            added = phases(placed, axis)
            if added is None:
                continue
            rows = np.flatnonzero(added[1:] != added[:-1])
            before, after = colours.take(rows, axis), colours.take(rows + 1, axis)
            is_held = (before >= 0) & (after >= 0)
            assert DISTANCES[before[is_held], after[is_held]].min(initial=1) > HUE_THRESHOLD, name


def test_cells_in_the_order_of_memory_show_a_swizzle_too() -> None:
    """There a chunk is that of the tensor's row: the columns of a plain memory are straight."""
    rows = "#ttg.swizzled_shared<{{vec = 8, perPhase = 1, maxPhase = {}, order = [1, 0]}}>"
    counts = []
    for most in (1, 8):
        layout, tensor = parse_layout(rows.format(most)), parse_type("!ttg.memdesc<8x64xf16>")
        grid = draw(DrawnLayout(place(layout, tensor)), view="banks").grids[0]
        counts.append({len(set(column)) for column in grid.colours.T.tolist()})
    assert counts == [{1}, {8}]
