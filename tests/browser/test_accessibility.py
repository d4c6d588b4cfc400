"""The page for eyes, keyboards and screen readers of every kind: axe-core finds nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browser.open_page import Opened
from browser.pages import LONG, MATMUL, PAGES, page_named, with_long_names, with_passes
from tt_layout.kernels.assembly import AssemblyText
from tt_layout.kernels.metadata import KernelMetadata
from tt_layout.page.dump import page_of_dump

LAPTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
NARROWEST = {"width": 320, "height": 844}  # at which WCAG asks that text reflows (1.4.10)
SMALL_LAPTOP = {"width": 1100, "height": 700}
PAPER = {"width": 794, "height": 1123}  # A4 at 96 dots an inch


@pytest.fixture(scope="module")
def axe(request: pytest.FixtureRequest) -> str:
    """Return the script of axe-core."""
    path = request.config.getoption("--axe")
    if path is None:
        pytest.skip("--axe names no axe.min.js of axe-core")
    return Path(path).read_text(encoding="utf-8")


def show(open_file: Any, name: str, scheme: str = "light") -> Opened:
    page: Opened = open_file(page_named(name), scheme=scheme)
    resize(page, LAPTOP)
    return page


def resize(page: Opened, window: dict[str, int]) -> None:
    page.page.set_viewport_size(window)
    page.settle()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= window["width"]


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(name: str, axe: str, open_file: Any) -> None:
    page = show(open_file, name)
    page.shot(f"look-{name}-light")
    page.page.evaluate(axe)
    page.page.click("#edit summary")
    assert page.page.evaluate(VIOLATIONS, STANDARDS) == []
    page.page.emulate_media(color_scheme="dark")
    page.settle()
    page.shot(f"look-{name}-dark")
    assert page.page.evaluate(VIOLATIONS, ["color-contrast"]) == []


def test_axe_finds_nothing_where_assembly_stands_beside_a_dump(axe: str, open_file: Any) -> None:
    text = '.file 1 "make.py"\n.loc 1 36 41\nldmatrix.sync %r1, [%r2];\nst.local.b32 [%r1], %r2;\n'
    known = KernelMetadata(assembly=AssemblyText("k.ptx", None, text))
    page = open_file(page_of_dump(MATMUL, [], known=known).html, "y=assembly")
    page.page.evaluate(axe)
    for window in (LAPTOP, PHONE):
        resize(page, window)
        assert page.page.evaluate(VIOLATIONS, STANDARDS) == []
    resize(page, NARROWEST)


@pytest.mark.parametrize("name", PAGES)
def test_the_tab_key_reaches_every_control_and_shows_where_it_is(
    name: str, open_file: Any, tabs: dict[str, list[Any]]
) -> None:
    tabs.clear()  # in a window where a page was left already, focus goes to its first control
    page = show(open_file, name)
    wanted: list[str] = page.page.evaluate(CONTROLS)
    stops = next(k for k, control in enumerate(wanted, 1) if control.endswith("-stage"))
    assert stops <= 10 or name == "playground"  # where examples come first; a link skips them
    seen: list[str] = []
    for _ in wanted:
        page.page.keyboard.press("Tab")
        where = page.page.evaluate(FOCUSED)
        assert where["isShown"], where
        seen.append(where["name"])
    assert seen == wanted
    page.page.keyboard.press("Tab")  # it leaves the page: nothing holds it
    assert page.page.evaluate("document.activeElement === document.body")
    for _ in range(3):
        page.page.keyboard.press("Shift+Tab")
    assert page.page.evaluate(FOCUSED)["name"] == wanted[-3]


@pytest.mark.parametrize("name", PAGES)
def test_it_fits_a_laptop_a_phone_and_paper(name: str, open_file: Any) -> None:
    page = show(open_file, name, "dark")
    if name in ("layout", "pair", "access"):
        box = page.page.locator("#matrix-table").bounding_box()
        assert box["y"] + box["height"] <= LAPTOP["height"]
    resize(page, SMALL_LAPTOP)
    resize(page, PHONE)
    page.shot(f"look-{name}-phone")
    page.page.click("#edit summary")
    resize(page, NARROWEST)
    page.page.click("#edit summary")
    page.page.emulate_media(media="print")
    resize(page, PAPER)
    assert page.poor_contrasts() == []
    page.shot(f"look-{name}-print")


def test_the_names_of_passes_may_be_long(open_file: Any) -> None:
    page: Opened = open_file(
        page_of_dump(with_passes(with_long_names(MATMUL), LONG, LONG), []).html
    )
    for window in (LAPTOP, SMALL_LAPTOP, PHONE, NARROWEST):
        resize(page, window)


@pytest.mark.parametrize("name", PAGES)
def test_no_text_of_a_grid_is_written_over_another(name: str, open_file: Any) -> None:
    page = show(open_file, name)
    page.page.evaluate(RECORD_TEXTS)
    for window in (PHONE, NARROWEST, LAPTOP):
        page.page.evaluate("written.clear()")
        resize(page, window)
        assert page.page.evaluate("written.size")
        assert page.page.evaluate(OVERLAPPING) == [], window


RECORD_TEXTS = """() => {
  window.written = new Map();
  const write = CanvasRenderingContext2D.prototype.fillText;
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    written.delete(this.canvas);
    clear.call(this, ...box);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right } = this.measureText(text);
    const high = parseFloat(this.font.match(/[\\d.]+px/)[0]) / 2 - 2;
    const box = { text, left: x - left, right: x + right, top: y - high, bottom: y + high };
    written.set(this.canvas, [...(written.get(this.canvas) ?? []), box]);
    write.call(this, text, x, y);
  };
}"""

OVERLAPPING = """() => [...written.values()].flatMap(boxes => boxes.flatMap((one, k) =>
  boxes.slice(k + 1)
    .filter(other => one.left < other.right && other.left < one.right &&
                     one.top < other.bottom && other.top < one.bottom)
    .map(other => [one.text, other.text])))"""

STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

VIOLATIONS = """async runOnly => {
  const { violations } = await axe.run({ runOnly, preload: false });
  return violations.map(({ id, help, nodes }) => [id, help, nodes.map(node => node.html)]);
}"""

NAME = """const name = node => node.id || (node.matches(".stage") ?
  `${node.closest(".pane").id}-stage` : node.textContent.trim().slice(0, 30));"""

CONTROLS = f"""() => {{
  {NAME}
  const some = "a[href], button, input, select, textarea, summary, [tabindex]";
  return [...document.querySelectorAll(some)]
    .filter(node => node.checkVisibility() && !node.disabled && node.tabIndex >= 0)
    .map(name);
}}"""

FOCUSED = f"""() => {{
  {NAME}
  const node = document.activeElement;
  const frame = node.matches(".stage") ? node.closest(".scroller") : node;
  const {{ outlineStyle, outlineWidth }} = getComputedStyle(frame);
  const isOutlined = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  const {{ left, top, right, bottom }} = frame.getBoundingClientRect();
  const isInSight = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
  return {{ name: name(node), isShown: isOutlined && isInSight && right > left }};
}}"""
