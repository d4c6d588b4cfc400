"""The first screen of the playground and of dumps, on a laptop and on a phone."""

from __future__ import annotations

import re
from typing import Any

import pytest

from browser.conftest import Open
from browser.open_page import Opened
from browser.test_dump import KERNELS, MODULE, MODULE_LINES, SHARED, open_dump
from browser.test_playground import errors_of
from tt_layout.page.playground import EXAMPLES, playground

LAPTOP, PHONE = (1440, 900), (390, 844)
SIZES = pytest.mark.parametrize("size", [LAPTOP, PHONE])
SMALL = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 32, order = [1, 0]}>"


def at_size(page: Opened, size: tuple[int, int]) -> Opened:
    page.page.set_viewport_size({"width": size[0], "height": size[1]})
    page.go()
    page.settle()
    return page


def show(page: Opened, name: str) -> list[dict[str, Any]]:
    """Choose an example; return what the grids draw."""
    number = next(k for k, example in enumerate(EXAMPLES) if example.name == name)
    page.page.evaluate("document.getElementById('examples-box').open = true")
    page.page.click(f"#example-{number}")
    page.settle()
    drawn: list[dict[str, Any]] = page.ask(what="drawn")
    return drawn


def is_in_first_screen(page: Opened, selector: str) -> bool:
    """Tell whether an element is in sight, above the line of what is selected."""
    page.page.evaluate("window.scrollTo(0, 0)")
    box = page.page.locator(selector).bounding_box()
    end = page.page.locator("#selection").bounding_box()["y"]
    return bool(box["y"] >= 0 and box["y"] + box["height"] <= end)


# -- the playground -----------------------------------------------------------------------------


@SIZES
def test_it_opens_on_a_blocked_layout_with_a_label_in_every_cell(
    size: tuple[int, int], open_file: Open
) -> None:
    page = at_size(open_file(playground()), size)
    assert page.page.input_value("#text-layout").startswith("#ttg.blocked<{sizePerThread")
    assert page.page.input_value("#text-type") == "16x16xf16"
    tensor, registers = page.ask(what="drawn")
    assert (tensor["cells"], registers["cells"]) == ([16, 16], [32, 8])
    assert all(grid["label"] for grid in (tensor, registers))
    texts = page.ask(what="texts", grid="tensor")
    assert all(re.fullmatch(r"T\d+:\d+", text) for row in texts for text in row)
    assert is_in_first_screen(page, "#tensor")
    page.shot(f"first-{size[0]}")


def test_an_instruction_of_mma_has_labels_and_its_repeats_are_named(open_file: Open) -> None:
    page = at_size(open_file(playground()), LAPTOP)
    tensor, registers = show(page, "nvidia_mma")
    assert (tensor["cells"], registers["cells"]) == ([8, 16], [32, 4])
    assert tensor["label"]["lines"] == "whole"
    assert registers["label"]
    about = page.page.inner_text("#tensor .about")
    assert about.replace("×", "x") == (  # noqa: RUF001
        "16 x 8 of 32 x 32, one instruction; the same again: warp 1 at (0, 8), "
        "warp 2 at (16, 0), register 4 at (0, 16)"
    )
    page.focus("tensor", right=1, down=8)
    assert "held by T0:3" in page.said
    page.page.fill("#search", "20,9")  # of another warp: it is in no cell
    page.page.keyboard.press("Enter")
    assert page.ask(what="cells", grid="tensor", element=[20, 9]) == []
    assert page.ask(what="cells", grid="hardware", element=[20, 9]) == []
    assert page.address["v"] == "tile"
    page.go(page.page.evaluate("location.hash.slice(1)"))
    assert page.ask(what="drawn")[0]["cells"] == [8, 16]
    page.select("view", "layout")
    page.settle()
    assert page.ask(what="drawn")[0]["cells"] == [32, 32]


@pytest.mark.parametrize(
    ("name", "tile"),
    [("wgmma", [8, 16]), ("amd_wmma", [16, 16]), ("dpas", [16, 8])],
)
def test_other_instructions_have_a_tile(name: str, tile: list[int], open_file: Open) -> None:
    page = at_size(open_file(playground()), LAPTOP)
    show(page, name)
    page.select("view", "tile")
    page.settle()
    tensor, registers = page.ask(what="drawn")
    assert tensor["cells"] == tile
    held = page.ask(what="texts", grid="hardware")
    elements = {text for row in held for text in row}
    assert elements == {f"{y},{x}" for y in range(tile[1]) for x in range(tile[0])}
    assert all(grid["label"] for grid in (tensor, registers))


def test_a_layout_of_one_instruction_or_of_none_has_no_tile(open_file: Open) -> None:
    page = at_size(open_file(playground()), LAPTOP)
    for name in ("blocked", "amd_mfma", "dot_op", "an accumulator through a swizzle"):
        show(page, name)
        options = page.page.locator("#view option").all_inner_texts()
        assert "one instruction" not in options, name


def test_cells_of_elements_that_are_held_twice_say_so(open_file: Open) -> None:
    page = at_size(open_file(playground()), LAPTOP)
    tensor, registers = show(page, "blocked, with copies")
    assert "(+)" in page.page.inner_text("#tensor .about")
    assert tensor["label"]["lines"] == "short"
    assert registers["label"], "the registers have labels, too"
    texts = page.ask(what="texts", grid="tensor")
    assert all(re.fullmatch(r"T\d+:\d+\+", text) for row in texts for text in row)
    page.page.evaluate(RECORD_TEXTS)
    page.page.set_viewport_size({"width": 1441, "height": 900})
    page.settle()
    drawn = page.page.evaluate("window.drawnTexts")
    assert {"T0+", "T123+"} <= set(drawn)


RECORD_TEXTS = """() => {
  const drawing = CanvasRenderingContext2D.prototype;
  const original = drawing.fillText;
  window.drawnTexts = [];
  drawing.fillText = function (text, ...more) {
    window.drawnTexts.push(text);
    return original.call(this, text, ...more);
  };
}"""


def test_after_a_typo_the_pictures_are_dimmed_and_the_way_out_is_named(open_file: Open) -> None:
    page = at_size(open_file(playground()), LAPTOP)
    opacity = "getComputedStyle(document.querySelector('#tensor canvas')).opacity"
    right = page.page.input_value("#text-layout")
    assert page.page.evaluate(opacity) == "1"
    page.fill("text-layout", right.replace("sizePerThread", "sizePerThred"))
    assert errors_of(page)["layout"].startswith(
        "#ttg.blocked has no key 'sizePerThred'; did you mean 'sizePerThread'? it takes "
    )
    assert float(page.page.evaluate(opacity)) < 0.5
    assert "text before" in page.page.inner_text("#stale")
    page.fill("text-layout", right.replace("blocked", "bloked"))
    assert errors_of(page)["layout"].endswith("did you mean #ttg.blocked?")
    page.fill("text-layout", right)
    page.fill("text-other", "gl.BlokedLayout([1, 2], [8, 4], [2, 2], [1, 0])")
    assert errors_of(page)["other"].endswith("did you mean BlockedLayout?")
    assert float(page.page.evaluate(opacity)) < 0.5
    page.fill("text-other", "")
    assert page.page.evaluate(opacity) == "1"
    assert page.page.inner_text("#stale") == ""


def test_a_suggestion_for_one_access_says_so(open_file: Open) -> None:
    page = at_size(open_file(playground()), LAPTOP)
    show(page, "ldmatrix without a swizzle")
    assert page.page.inner_text("#suggested h2") == "Best for this load alone"
    about = page.page.inner_text("#suggested .about")
    assert about.startswith(
        "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
    )
    assert about.endswith("tt-layout swizzle takes the store, too")
    page.select("access-kind", "store")
    page.settle()
    assert "this store alone" in page.page.inner_text("#suggested h2")


# -- dumps --------------------------------------------------------------------------------------


def several() -> str:
    """Return a dump of three kernels: the second conflicts, the third has three passes."""
    harmless = MODULE.replace(SHARED, SMALL).replace("@f", "@harmless")
    passes = [
        f"// -----// IR Dump Before {name} ({name}) //----- //\n"
        + MODULE.replace(SHARED, SMALL.replace("32", str(phases))).replace("@f", "@changed")
        for name, phases in (("Coalesce", 1), ("Swizzle", 8), ("CSE", 32))
    ]
    return "".join([harmless, MODULE, *passes])


def menu(page: Opened) -> list[Any]:
    """Return the menu of kernels: a name, or a name with what is below it."""
    found: list[Any] = page.page.evaluate(
        "[...document.getElementById('module').children].map((one) => one.label && "
        "one.tagName === 'OPTGROUP' ? [one.label, ...[...one.children].map((k) => k.textContent)]"
        " : one.textContent)"
    )
    return found


def test_several_kernels_open_on_the_worst_and_are_called_by_name(open_file: Open) -> None:
    page = open_dump(open_file, several())
    assert page.page.input_value("#module") == "1"
    assert page.page.inner_text("#summary li").startswith("@f, sm90")
    harmless, worst, changed = menu(page)
    assert [harmless, worst] == ["@harmless, 1 finding", "@f, 2 findings"]
    assert changed[0].startswith("@changed")
    assert all(re.search(r"^\d: \w+, .* → \d+ cycles$", one) for one in changed[1:])
    assert page.page.is_hidden("#movement-steps"), "no module of this kernel stands beside it"
    assert page.page.inner_text("#module-label").startswith("Kernel")
    page.select("module", "3")
    page.settle()
    assert page.page.inner_text("#summary li").startswith("@changed")
    page.shot("kernels")


def test_the_worst_is_the_first_of_two_as_well(open_file: Open) -> None:
    harmless = MODULE.replace(SHARED, SMALL).replace("@f", "@harmless")
    page = open_dump(open_file, MODULE + harmless)
    assert page.page.input_value("#module") == "0"
    page.go(f"n={MODULE_LINES + 6}")
    assert page.page.input_value("#module") == "1"


def test_a_narrow_store_shows_which_lanes_ask_for_which_sectors(open_file: Open) -> None:
    text = (KERNELS / "matmul-gfx942.ttgir").read_text(encoding="utf-8")
    page = open_dump(open_file, text)
    assert "stores 8 bytes" in page.page.inner_text("#movement-findings")
    assert page.page.input_value("#view") == "sectors"
    assert page.page.inner_text("#cycles h2") == "Sectors of the first request"
    about = page.page.inner_text("#cycles .about")
    assert about.startswith("512 bytes asked for, 32 sectors of 64 bytes moved in 32 lines of 128")
    assert about.endswith("drawn as if stride_c = 4096, which the dump leaves open")
    rows = page.ask(what="texts", grid="cycles")
    assert [set(filter(None, row)) for row in rows[:2]] == [{"0", "32"}, {"1", "33"}]


@SIZES
def test_labels_of_several_lanes_fit_their_cells(size: tuple[int, int], open_file: Open) -> None:
    """12+1 was measured as 63 is, so that two of them ran into each other."""
    text = (KERNELS / "attention-gfx942.ttgir").read_text(encoding="utf-8")
    page = at_size(open_dump(open_file, text), size)
    labels = [label for [*row] in page.ask(what="texts", grid="cycles") for label in row]
    assert "12+1" in labels
    [chart, *_] = page.ask(what="drawn")
    assert chart["label"]["lines"] == "halves"
    page.page.evaluate(RECORD_TEXTS)
    page.page.set_viewport_size({"width": size[0] + 1, "height": size[1]})
    page.settle()
    drawn = page.page.evaluate("window.drawnTexts")
    assert {"12", "+1"} <= set(drawn)
    assert "12+1" not in drawn


@pytest.mark.parametrize("text", [MODULE, several()])
def test_the_first_picture_of_a_dump_is_in_the_first_screen_of_a_phone(
    text: str, open_file: Open
) -> None:
    page = at_size(open_dump(open_file, text), PHONE)
    first = page.page.evaluate(
        "'#' + [...document.querySelectorAll('.pane')].find((pane) => !pane.hidden).id"
    )
    assert is_in_first_screen(page, first)
    assert page.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    page.shot("phone-dump")
