"""The page without a layout of its own: texts in every notation, examples, links to share."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pytest
from test_page_notations import OF_64, placed

from browser.conftest import Open
from browser.open_page import Opened
from browser.test_page_in_browser import UNNAMED
from tt_layout.page.dump import page_of
from tt_layout.page.playground import EXAMPLES, playground

GLUON = "gl.BlockedLayout([1, 2], [8, 4], [2, 2], [1, 0])"
WORKLOADS = Path(__file__).parent.parent.parent / "examples" / "workloads"
WITH_CONFLICTS = WORKLOADS / "int8_matmul-gfx942.ttgir"
SWAPPED = "gl.BlockedLayout([2, 1], [4, 8], [2, 2], [0, 1])"


@pytest.fixture
def page(open_file: Open) -> Opened:
    return open_file(playground())


# -- in use -----------------------------------------------------------------------------------


def errors_of(page: Opened) -> dict[str, str]:
    boxes = ("layout", "type", "other")
    said = {box: page.page.inner_text(f"#text-{box}-error") for box in boxes}
    return {box: text for box, text in said.items() if text}


def test_it_starts_with_an_example_and_each_is_one_click(page: Opened) -> None:
    assert page.page.input_value("#text-layout") == EXAMPLES[0].layout
    assert page.page.get_attribute("#example-0", "aria-pressed") == "true"
    assert (page.address, errors_of(page)) == ({}, {})
    for example, shown in zip(EXAMPLES, page.page.evaluate(CLICKED)):
        wanted = [example.layout, example.type, example.other]
        assert shown == [*wanted, "true", bool(example.other), ""], example
    assert page.address["a"] == EXAMPLES[-1].layout


CLICKED = """() => [...document.querySelectorAll(".example")].map((button) => {
  const [of, all] = [(id) => document.getElementById(id), document.querySelectorAll(".error")];
  button.click();
  const texts = ["layout", "type", "other"].map((box) => of(`text-${box}`).value);
  const errors = [...all].map((node) => node.textContent).join("");
  const isPair = !of("other").hidden || !of("cycles").hidden;
  return [...texts, button.getAttribute("aria-pressed"), isPair, errors];
})"""


def test_a_link_restores_what_was_typed(page: Opened) -> None:
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.fill("text-type", "16x16xf16")
    page.fill("text-layout", GLUON)
    page.fill("text-other", SWAPPED)
    assert "240 of 256 elements move" in page.page.inner_text("#comparison-words")
    page.select("text-release", "3.6")
    page.select("scope", "warp")
    page.settle()
    page.page.wait_for_timeout(200)
    wanted = {"a": GLUON, "t": "16x16xf16", "o": SWAPPED, "r": "3.6", "s": "warp"}
    assert page.address == wanted
    page.page.click("#copy-link")
    page.page.locator("#copied", has_text="Link copied").wait_for()
    copied = page.page.evaluate("navigator.clipboard.readText()")
    page.go(copied.split("#")[1])
    for box, text in (("layout", GLUON), ("type", "16x16xf16"), ("other", SWAPPED)):
        assert page.page.input_value(f"#text-{box}") == text
    assert page.page.input_value("#text-release") == "3.6"
    assert page.page.input_value("#scope") == "warp"
    assert "240 of 256 elements move" in page.page.inner_text("#comparison-words")
    assert page.address == wanted
    page.page.click("#swap")
    assert (page.address["a"], page.address["o"]) == (SWAPPED, GLUON)


def test_the_lanes_are_kept_in_the_link_and_in_an_edit(page: Opened, open_file: Open) -> None:
    page.fill("text-type", "16x16xf32")
    page.fill("text-layout", OF_64)
    page.fill("text-other", "")
    assert "warpsPerCTA = [2, 1]" in page.page.inner_text("#attribute")
    page.select("text-lanes", "64")
    page.page.wait_for_timeout(200)
    assert "warpsPerCTA = [1, 1]" in page.page.inner_text("#attribute")
    page.select("colour", "lane")
    assert page.address == {"a": OF_64, "t": "16x16xf32", "h": "64"}
    page.go(urlencode(page.address))
    assert page.page.input_value("#text-lanes") == "64"
    assert "warpsPerCTA = [1, 1]" in page.page.inner_text("#attribute")
    page.go(urlencode({"a": OF_64, "t": "16x16xf32", "h": "7"}))
    assert "warpsPerCTA = [2, 1]" in page.page.inner_text("#attribute")
    page = open_file(page_of({"layout": placed(OF_64, "tensor<16x16xf32>", 64)}))
    page.page.click("#edit summary")
    page.fill("edit-attribute", OF_64.replace("(16,128)", "(128,16)"))
    assert "warp = []" in page.page.inner_text("#attribute")


def test_what_is_wrong_is_said_and_the_view_stays(page: Opened) -> None:
    shown = page.page.inner_text("#attribute")
    page.fill("text-layout", "gl.BlockedLayout([1, 4], [4, 8], [4, 1])")
    assert errors_of(page) == {"layout": "gl.BlockedLayout needs order"}
    assert page.page.get_attribute("#text-layout", "aria-invalid") == "true"
    assert page.page.inner_text("#attribute") == shown
    page.fill("text-type", "16x")
    assert list(errors_of(page)) == ["type"]
    page.fill("text-type", "16x64xf16")
    page.fill("text-layout", EXAMPLES[0].layout)
    page.fill("text-other", "(8,8")
    assert list(errors_of(page)) == ["other"]
    page.fill("text-other", "")
    assert errors_of(page) == {}
    assert not page.page.is_visible("#other")
    cluster = page.page.inner_text("#attribute").replace("}>", ", CGALayout = [[1, 0]]}>")
    page.fill("text-layout", cluster)
    assert errors_of(page) == {}
    missing = "#ttg.blocked has no key 'CGALayout' in Triton 3.5; Triton 3.6 to 3.9 has it"
    for release, message in {
        "3.5": missing,
        "2.1": "Triton 2.1 has no attribute #ttg.blocked",
    }.items():
        page.select("text-release", release)
        page.page.wait_for_timeout(200)
        assert errors_of(page) == {"layout": message}


def test_bases_are_edited_as_on_any_page(page: Opened) -> None:
    page.go(urlencode({"a": GLUON, "t": "16x16xf16"}))
    page.page.click("#edit summary")
    assert not page.page.is_visible("#edit-attribute")
    page.fill("edit-lane", "[[0, 4], [0, 2], [1, 0], [2, 0], [4, 0]]")
    assert page.page.inner_text("#attribute").startswith("#ttg.linear<")
    assert page.address.keys() == {"a", "t", "b"}
    page.select("compare", "0")
    assert "128 of 256 elements move" in page.page.inner_text("#comparison-words")
    page.page.click("#reset")
    assert page.page.inner_text("#attribute").startswith("#ttg.blocked<")


def test_an_instruction_is_shown_as_a_whole(page: Opened) -> None:
    names = [example.name for example in EXAMPLES]
    page.page.click(f"#example-{names.index('mma.sync')}")
    title = "mma.sync.m16n8k16: D = A x B + D"
    assert page.page.inner_text("#multiplication-title") == title
    assert page.address["v"] == "mma"
    page.fill("text-type", "32x8xf32")
    assert "M = 32, N = 8" in page.page.inner_text("#multiplication .about")
    page.fill("text-layout", GLUON)
    assert page.page.is_visible("#tensor")
    assert not page.page.is_visible("#view")
    page.page.click(f"#example-{names.index('v_mfma')}")
    assert page.page.is_visible("#multiplication")
    page.shot("playground-instruction")
    page.page.click(f"#example-{names.index('nvidia_mma')}")
    assert page.page.is_visible("#tensor")
    page.select("view", "mma")
    assert page.page.is_visible("#multiplication")


def test_a_broken_address_is_survived(page: Opened) -> None:
    for text in ("a=nonsense", "a=%23ttg.blocked%3C", "a=(8,8):(8,1)&t=x&r=99", "l=7&x=9&o=("):
        page.go(text)
        assert page.page.inner_text("#attribute").startswith("#ttg.blocked<")
        assert bool(errors_of(page)) is text.startswith("a=")


def test_it_can_be_read_and_reached(open_file: Open) -> None:
    page = open_file(playground(), fragment=urlencode({"a": "(", "o": "("}), scheme="dark")
    assert page.poor_contrasts() == []
    assert page.page.evaluate(UNNAMED) == []
    page.shot("playground-errors")
    seen = []
    for _ in range(9):
        page.page.keyboard.press("Tab")
        seen.append(page.page.evaluate("document.activeElement.id"))
    texts = [f"text-{box}" for box in ("layout", "type", "release", "lanes")]
    assert seen == ["skip", "copy-link", "open-dump", *texts, "swap", "text-other"]
    for width in (1440, 1100, 1000, 390):
        page.page.set_viewport_size({"width": width, "height": 844})
        page.settle()
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.page.evaluate(BROKEN_HEADINGS) == []


BROKEN_HEADINGS = """() => [...document.querySelectorAll(".pane h2")].filter((node) => {
  const range = document.createRange();
  range.selectNodeContents(node);
  const lines = new Set([...range.getClientRects()].map(({ top }) => top)).size;
  return lines > node.textContent.split(" ").length;
}).map(({ textContent }) => textContent)"""


def test_on_paper_the_texts_are_left_out(page: Opened) -> None:
    names = [example.name for example in EXAMPLES]
    page.page.click(f"#example-{names.index('a bank conflict')}")
    page.page.emulate_media(media="print")
    assert not page.page.is_visible("#playground")
    assert page.page.is_visible("#attribute")
    assert page.poor_contrasts() == []
    tops = [page.page.locator(f"#{part}").bounding_box()["y"] for part in ("access", "matrix")]
    assert tops[0] < tops[1]


def test_a_dump_is_opened_and_closed_again(page: Opened) -> None:
    """What is worked out in the page is shown; what only the audit concludes is said not to be."""
    page.page.set_viewport_size({"width": 1440, "height": 900})
    page.page.set_input_files("#dump-file", WITH_CONFLICTS)
    page.page.locator("#dump-name", has_text="int8").wait_for()  # a file is read when it can be
    assert page.page.title() == "int8_matmul-gfx942.ttgir · tt-layout"
    assert "tt-layout page FILE" in page.page.inner_text("#summary")
    assert page.page.inner_text("#movement-title") == "Line 74: ttg.local_load"
    assert page.page.input_value("#view") == "cycles"
    assert page.page.is_visible("#suggested")
    assert "%" not in page.page.inner_text("#findings")
    assert page.page.evaluate("document.documentElement.scrollHeight") <= 900
    assert page.poor_contrasts() == []
    assert page.address == {}
    page.shot("opened-dump")
    page.page.click("#close-dump")
    assert page.page.is_visible("#text-layout")
    page.fill("text-layout", "module {\n  %0 = tt.load %1 : f32\n}")
    assert "no layout" in page.page.inner_text("#text-layout-error")
    page.fill("text-layout", WITH_CONFLICTS.read_text(encoding="utf-8"))
    assert page.page.inner_text("#dump-name") == "pasted dump"
