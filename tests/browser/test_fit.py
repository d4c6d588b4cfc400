"""What fits a laptop's window and paper, what points beyond it, and the cycles of an access."""

from __future__ import annotations

import pytest

from browser.conftest import Open
from browser.kinds import kind, laid
from browser.open_page import Opened
from browser.test_access import PLAIN, opened

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


def test_on_paper_there_are_no_controls_and_what_is_left_out_is_said(open_page: Open) -> None:
    page = open_page(kind("nvidia_mma_v2"), scheme="dark")
    page.page.emulate_media(media="print")
    page.page.locator("#hardware .about", has_text="; rows 0 to 30 of 128").wait_for()
    assert page.page.inner_text("#tensor .about").endswith(", dim0 down, dim1 across")
    for part in ("controls", "theme", "edit", "keys"):
        assert not page.page.is_visible(f"#{part}"), part
    for part in ("tensor", "hardware", "legend", "matrix"):
        assert page.page.is_visible(f"#{part}"), part
    assert page.poor_contrasts() == []
    page.shot("print")


PAINTED = """grid => {
  const canvas = document.querySelectorAll(`#${grid} canvas`)[1];
  const { width, height } = canvas;
  return canvas.getContext("2d").getImageData(0, 0, width, height).data.some(Boolean);
}"""
