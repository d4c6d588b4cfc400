"""Every kind of layout in the browser: hovering links the tensor and the hardware, both ways."""

from __future__ import annotations

import itertools
import re

import pytest

from browser.conftest import Open
from browser.kinds import KINDS, kind
from browser.open_page import Opened
from tt_layout.analyses.layouts.layout_difference import place_label
from tt_layout.page import PageLayout

NAMED = 6  # holders that the page names


def holders(layout: PageLayout, element: list[int]) -> list[str]:
    """Return who holds an element, by trying all places."""
    names = layout.placed.layout.get_in_dim_names()
    sizes = [layout.placed.layout.get_in_dim_size(name) for name in names]
    wanted = dict(zip(layout.placed.layout.get_out_dim_names(), element))
    places = (
        dict(zip(reversed(names), place))
        for place in itertools.product(*(range(size) for size in reversed(sizes)))
    )
    found = [place for place in places if layout.placed.layout.apply(place) == wanted]
    if layout.placed.memory_space == "tensor memory":
        found = [place for place in found if not place["col"] & unused_columns(layout)]
    return [place_label(place, layout.placed.layout) for place in found]


def unused_columns(layout: PageLayout) -> int:
    return sum(1 << bit for bit, v in enumerate(layout.placed.layout.vectors("col")) if not any(v))


def shows_ring(page: Opened, grid: str, cell: list[int]) -> bool:
    x, y = page.ask(what="where", grid=grid, cell=cell)
    page.settle()
    return any(abs(left - x) <= 2 and abs(top - y) <= 2 for left, top in page.hover_rings(grid))


def covers(page: Opened, grid: str, cells: list[list[int]]) -> bool:
    """Tell whether each of these cells, many of them side by side, is ringed."""
    script = """([grid, x, y]) => {
      const pen = document.querySelectorAll(`#${grid} canvas`)[1].getContext("2d");
      return pen.getImageData(x - 20, y - 20, 40, 40).data.some(Boolean);
    }"""
    for cell in cells:
        spot = page.ask(what="where", grid=grid, cell=cell)
        page.settle()
        if not page.page.evaluate(script, [grid, *spot]):
            return False
    return True


@pytest.mark.parametrize("name", KINDS)
def test_hovering_links_both_ways(name: str, open_page: Open) -> None:
    layout = kind(name)
    page = open_page(layout)
    sizes = [size for _, size in layout.placed.layout.out_sizes]
    element = [0] * (len(sizes) - 2) + [size * 3 // 4 for size in sizes[-2:]]
    [cell] = page.ask(what="cells", grid="tensor", element=element)
    page.point("tensor", *page.ask(what="where", grid="tensor", cell=cell))
    assert page.said.startswith(f"Element ({', '.join(map(str, element))})")
    assert shows_ring(page, "tensor", cell)

    said = page.said.replace("column", "col")
    for holder in holders(layout, element)[:NAMED]:
        number = re.sub(r"^(B\d+:)?(partition (\d+) )?offset ", r"\1", holder)
        assert re.search(rf"\b{re.escape(number)}\b", said), (holder, said)
    places = page.ask(what="cells", grid="hardware", element=element)
    assert len(places) == len(holders(layout, element))
    assert covers(page, "hardware", places)
    page.shot(f"kind-{name}")

    page.point("hardware", *page.ask(what="where", grid="hardware", cell=places[-1]))
    assert f"Element ({', '.join(map(str, element))})" in page.said
    assert shows_ring(page, "tensor", cell)
    assert page.page.inner_text("#matrix-sum").endswith(f"= ({', '.join(map(str, element))})")


@pytest.mark.parametrize("name", ["blocked", "nvidia_mma_v2", "swizzled_shared", "tensor_memory"])
def test_groups_light_up(name: str, open_page: Open) -> None:
    page = open_page(kind(name), scheme="dark")
    scopes = page.page.eval_on_selector_all("#scope option", "all => all.map(one => one.value)")
    assert len(scopes) > 2
    for scope in scopes[1:]:
        page.select("scope", scope)
        page.point("tensor", *page.ask(what="where", grid="tensor", cell=[3, 2]))
        page.page.mouse.down()
        page.page.mouse.up()
        page.shot(f"group-{name}-{scope}-dark")
        lit = page.page.evaluate(LIT, "tensor")
        assert 0 < lit < 1
        assert page.address["p"].startswith(f"{scope}:")


@pytest.mark.parametrize("name", KINDS)
def test_every_colouring_can_be_chosen(name: str, open_page: Open) -> None:
    page = open_page(kind(name))
    ids = page.page.eval_on_selector_all("#colour option", "all => all.map(one => one.value)")
    assert ids[-1] == "none"
    for colour in ids:
        page.select("colour", colour)
        page.settle()
        assert page.page.evaluate("location.hash + ''") in ("", f"#c={colour}")


LIT = """grid => {
  const canvas = document.querySelectorAll(`#${grid} canvas`)[1];
  const { width, height } = canvas;
  const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  let veiled = 0;
  for (let at = 3; at < data.length; at += 4) veiled += data[at] > 0;
  return veiled / (width * height);
}"""
