"""What fits a laptop's window and paper, what points beyond it, and the cycles of an access."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser.conftest import Open
from browser.kinds import kind, laid
from browser.open_page import Opened
from browser.test_access import PLAIN, opened
from tt_layout.page.playground import EXAMPLES, Example, playground

LAPTOP = {"width": 1440, "height": 900}


def on_laptop(page: Opened) -> Opened:
    page.page.set_viewport_size(LAPTOP)
    page.go()
    page.settle()
    return page


@pytest.mark.parametrize("name", ["blocked", "nvidia_mma_v2", "swizzled_shared"])
def test_grids_and_matrix_fit_a_laptop(name: str, open_page: Open) -> None:
    page = on_laptop(open_page(kind(name)))
    for part in ("tensor", "hardware", "legend", "matrix", "matrix-table"):
        box = page.page.locator(f"#{part}").bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= LAPTOP["height"], part
        assert box["x"] + box["width"] <= LAPTOP["width"], part
    assert page.page.evaluate("document.documentElement.scrollWidth") <= LAPTOP["width"]
    page.shot(f"laptop-{name}")


WINDOWS = [(1440, 900), (1920, 1080)]
LABELLED = (26, 14)
"""Pixels of a cell that has room for its text."""


def drawn(page: Opened, example: Example, size: tuple[int, int]) -> list[dict[str, Any]]:
    """Show an example of the playground in a window; return what its grids draw."""
    page.page.set_viewport_size({"width": size[0], "height": size[1]})
    page.page.click(f"#example-{EXAMPLES.index(example)}")
    page.settle()
    found: list[dict[str, Any]] = page.ask(what="drawn")
    return found


@pytest.mark.parametrize("size", WINDOWS)
def test_examples_are_whole_and_fill_the_window_and_large_cells_have_text(
    size: tuple[int, int], open_file: Open
) -> None:
    page = open_file(playground())
    labelled = 0
    for example in EXAMPLES:
        grids = drawn(page, example, size)
        for grid in grids:
            drawn_size = [own * count for own, count in zip(grid["cell"], grid["cells"])]
            assert all(own <= room for own, room in zip(drawn_size, grid["room"])), example
            if all(own >= least for own, least in zip(grid["cell"], LABELLED)):
                assert grid["label"], example
        labelled += any(grid["label"] for grid in grids)
        box = page.page.locator("#panes").bounding_box()
        assert box["y"] + box["height"] <= size[1], example
        is_large = all(max(grid["cell"]) >= LARGE for grid in grids)
        assert is_large or box["height"] > 0.7 * (size[1] - box["y"]), example
    assert labelled >= {900: 11, 1080: 25}[size[1]]


LARGE = 30  # pixels of a cell that need not be larger


def test_the_cells_of_an_instruction_have_their_whole_text_on_a_laptop(open_file: Open) -> None:
    [example] = [one for one in EXAMPLES if one.name == "mma.sync"]
    [grid] = drawn(open_file(playground()), example, WINDOWS[0])
    assert grid["label"]["lines"] in ("whole", "halves")


def test_the_matrix_stands_beside_the_grids(open_file: Open) -> None:
    page = open_file(playground())
    for name in ("blocked", "a bank conflict", "mma.sync"):
        [example] = [one for one in EXAMPLES if one.name == name]
        drawn(page, example, WINDOWS[0])
        box = {part: page.page.locator(f"#{part}").bounding_box() for part in ("panes", "matrix")}
        assert box["matrix"]["x"] >= box["panes"]["x"] + box["panes"]["width"], name
        assert page.page.evaluate("document.documentElement.scrollWidth") <= WINDOWS[0][0]


def test_larger_cells_keep_what_was_pointed_at_in_sight(open_file: Open) -> None:
    page = open_file(playground())
    [example] = [one for one in EXAMPLES if one.name == "mma.sync"]
    drawn(page, example, WINDOWS[0])
    x, y = page.ask(what="where", grid="multiplication", cell=[20, 30])
    page.point("multiplication", x, y)
    for _ in range(3):
        page.page.click("#multiplication .zoom button:last-child")
    page.settle()
    scrolled = "node => [node.scrollLeft, node.scrollTop]"
    assert min(page.page.locator("#multiplication .scroller").evaluate(scrolled)) > 0
    box = page.page.locator("#multiplication .stage").bounding_box()
    page.page.mouse.move(box["x"] + x, box["y"] + y)
    page.settle()
    before = page.said
    page.page.keyboard.down("Control")
    page.page.mouse.wheel(0, -100)
    page.page.keyboard.up("Control")
    page.settle()
    assert page.said == before
    assert page.ask(what="drawn")[0]["cell"][0] > 22 * 2.5


def test_what_is_out_of_sight_is_pointed_at(open_page: Open) -> None:
    page = on_laptop(open_page(laid(PLAIN, "!ttg.memdesc<64x32xf32>", "rows")))
    assert not page.page.evaluate(PAINTED, "hardware")
    x, y = page.ask(what="where", grid="tensor", cell=[0, 63])
    page.page.evaluate("document.querySelector('#hardware .scroller').scrollTop = 0")
    page.point("tensor", x, y)
    assert "(63, 0)" in page.said
    assert page.page.evaluate(PAINTED, "hardware")
    page.shot("pointer")


def test_cycles_are_shown_one_after_the_other(open_page: Open) -> None:
    page = opened(open_page)
    shown = page.page.locator("#cycle-at")
    assert shown.inner_text() == "all 32 wavefronts"
    page.page.click("#cycle-on")
    assert shown.inner_text() == "wavefront 1 of 32: lane 0"
    page.page.click("#cycle-on")
    assert shown.inner_text() == "wavefront 2 of 32: lane 1"
    page.at("hardware", 0, 0)
    assert "touched" not in page.said
    page.at("hardware", 0, 1)
    assert "touched by lane 1" in page.said
    page.page.click("#cycle-back")
    page.page.click("#cycle-back")
    assert shown.inner_text() == "all 32 wavefronts"
    page.page.click("#cycle-play")
    assert page.page.inner_text("#cycle-play") == "Stop"
    assert shown.inner_text() == "wavefront 1 of 32: lane 0"
    shown.filter(has_text="wavefront 2 of 32").wait_for()
    page.page.click("#cycle-play")
    assert page.page.inner_text("#cycle-play") == "Play"
    page.shot("cycle")


def test_what_is_printed_has_the_grids_in_light_colours(open_page: Open, tmp_path: Path) -> None:
    """A canvas drawn anew while it is printed would be blank."""
    pdf = pytest.importorskip("pypdfium2")
    page = opened(open_page, fragment="x=1", scheme="dark")
    page.page.pdf(path=tmp_path / "page.pdf", print_background=True)
    [first, *_] = pdf.PdfDocument(tmp_path / "page.pdf")
    drawn = np.asarray(first.render(scale=1).to_pil()).astype(int)
    is_coloured = np.ptp(drawn, axis=2) > 40
    assert is_coloured.mean() > 0.02  # the legend alone is 0.006
    assert (drawn.min(axis=2) > 200).mean() > 0.8  # white paper
    assert page.page.locator("img").count() == 0
    page.settle()
    assert page.page.evaluate("document.documentElement.className") == ""


def test_on_paper_there_are_no_controls_and_what_is_left_out_is_said(open_page: Open) -> None:
    page = open_page(laid(PLAIN, "!ttg.memdesc<4096x32xf32>", "rows"), scheme="dark")
    page.page.emulate_media(media="print")
    page.page.locator(
        "#hardware .about", has_text=re.compile(r"; rows 0 to \d+ of 4096")
    ).wait_for()
    assert ", dim0 down, dim1 across; rows 0 to " in page.page.inner_text("#tensor .about")
    for part in ("#controls", "#theme", "#edit", "#keys", "details:not([open])"):
        assert not page.page.locator(f"{part} >> visible=true").count(), part
    for part in ("tensor", "hardware", "legend", "matrix"):
        assert page.page.is_visible(f"#{part}"), part
    assert page.poor_contrasts() == []
    page.shot("print")


PAINTED = """grid => {
  const canvas = document.querySelectorAll(`#${grid} canvas`)[1];
  const { width, height } = canvas;
  return canvas.getContext("2d").getImageData(0, 0, width, height).data.some(Boolean);
}"""
