"""The page and the figures call the same things alike: titles, grids, colours."""

from __future__ import annotations

from typing import Any

import pytest

from browser.kinds import KINDS
from browser.open_page import Opened
from browser.pages import BUFFER, OPERAND, ROWS, TENSOR
from tt_layout.colour import GROUPINGS
from tt_layout.encodings.parsing import parse_layout
from tt_layout.figures.drawing import draw
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.figures.model import Figure
from tt_layout.mlir.types import parse_type
from tt_layout.page.dump import page_of
from tt_layout.placement import place

MMA = KINDS["nvidia_mma_v2"][0]
SHOWN = {
    "layout": {"layout": (MMA, TENSOR)},
    "pair": {"before": (ROWS, TENSOR), "after": (MMA, TENSOR)},
    "access": {
        "swizzled_shared": (KINDS["swizzled_shared"][0], BUFFER),
        "dot_op": (OPERAND, TENSOR),
    },
}


def both(open_file: Any, layouts: dict[str, tuple[str, str]]) -> tuple[Opened, Figure]:
    placed = {name: place(parse_layout(a), parse_type(t)) for name, (a, t) in layouts.items()}
    return open_file(page_of(placed)), draw(*map(DrawnLayout, placed.values()))


@pytest.mark.parametrize("name", SHOWN)
def test_titles_are_those_of_the_figure(name: str, open_file: Any) -> None:
    page, figure = both(open_file, SHOWN[name])
    lines = page.page.locator("#titles p:visible").all_inner_texts()
    assert (*lines, page.page.inner_text("#type")) == figure.title
    grids = page.page.locator(".pane:visible h2").all_inner_texts()
    for grid in figure.grids:
        assert grid.title == "" or any(title.endswith(f" of {grid.title}") for title in grids)


def test_colours_are_called_as_in_the_figure(open_file: Any) -> None:
    names = ["blocked", "nvidia_mma_v2", "swizzled_shared", "tensor_memory"]
    placed = [place(parse_layout(KINDS[n][0]), parse_type(KINDS[n][1])) for n in names]
    page: Opened = open_file(page_of(dict(zip(names, placed))))
    for number, drawn in enumerate(map(DrawnLayout, placed)):
        page.choose_layout(number)
        assert legend(page) == first_of(draw(drawn))
        colours = page.page.eval_on_selector_all(
            "#colour option", "all => all.map(one => one.value)"
        )
        for colour in {*GROUPINGS} & {*colours}:
            page.select("colour", colour)
            assert legend(page) == first_of(draw(drawn, color_by=colour))


def legend(page: Opened) -> str:
    """Return the first entry of the page's legend, with what all entries are."""
    title: str = page.page.inner_text("#legend .about >> nth=0")
    swatches = page.page.locator("#legend .swatch")
    return f"{title} {swatches.first.inner_text() if swatches.count() else 0}"


def first_of(figure: Figure) -> str:
    return figure.legend[0][1]
