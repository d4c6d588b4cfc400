"""The page shows what an access costs, and follows an edit."""

from __future__ import annotations

from typing import Any

import pytest
from test_page_costs import BLOCKED, MMA, Pair, library, main_lines

from browser.conftest import Open
from browser.kinds import KINDS, laid
from browser.open_page import MOST_DRAWN, Opened
from tt_layout.analyses.shared_memory.swizzle import find_swizzle
from tt_layout.reports.conflicts import evidence

COLUMNS = BLOCKED.format([1, 1], [32, 1], [1, 4], [0, 1])
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
SWIZZLED = PLAIN.replace("maxPhase = 1", "maxPhase = 32")
SPOILT = "32 wavefronts per instruction, at least 1: 31 extra wavefronts"
FREE = "1 wavefront per instruction, conflict-free"


def opened(open_page: Open, shared: str = PLAIN, **more: Any) -> Opened:
    """Open rows in shared memory compared with columns in registers."""
    return open_page(
        laid(shared, "!ttg.memdesc<64x32xf32>", "rows"),
        laid(COLUMNS, "tensor<64x32xf32>", "columns"),
        **{"fragment": "v=layout&x=1", **more},
    )


def verdict(page: Opened) -> str:
    return str(page.page.inner_text("#access-verdict"))


def test_an_access_is_shown_either_way_round(open_page: Open) -> None:
    page = opened(open_page)
    access = library(Pair(COLUMNS, PLAIN, [64, 32], 4, "sm90"))[False]
    lines = [page.page.inner_text("#access-what"), verdict(page)]
    lines += page.page.locator("#access-details li").all_inner_texts()
    assert lines == main_lines(access)
    assert page.page.inner_text("#access-evidence") == evidence(access.target)
    numbers = page.page.locator("#access-numbers strong").all_inner_texts()
    assert numbers == ["512", "496", "32"]  # 16 instructions, 31 extra wavefronts of each
    assert not page.page.is_visible("#comparison")
    page.shot("access")
    page.choose_layout(1)  # now the columns, beside the rows
    assert page.address == {"l": "1", "x": "0"}
    assert verdict(page) == SPOILT
    page.shot("access-other")


def test_a_pair_that_is_no_access_has_no_section(open_page: Open) -> None:
    tensor = (KINDS["tensor_memory"][0], "!ttg.memdesc<128x32xf16>")
    rows = BLOCKED.format([1, 8], [4, 8], [4, 1], [1, 0])
    held = laid(rows, "tensor<128x32xf16>")
    page = open_page(held, laid(*tensor), held)
    for other in ("1", "2"):
        page.select("compare", other)
        assert not page.page.is_visible("#access")
        assert page.page.is_visible("#comparison")


def test_a_swizzle_that_is_edited_takes_the_conflicts_away(open_page: Open) -> None:
    page = opened(open_page)
    assert (
        len([mark for mark in page.ask(what="marks", grid="hardware") if mark["isInConflict"]])
        == 32
    )
    page.page.click("#edit summary")
    page.fill("edit-attribute", SWIZZLED)
    assert verdict(page) == FREE
    assert page.page.locator("#access-numbers strong").all_inner_texts() == ["16", "0", "0"]
    marks = page.ask(what="marks", grid="hardware")
    assert (len(marks), any(mark["isInConflict"] for mark in marks)) == (32, False)
    page.shot("access-edited")
    page.page.click("#reset")
    assert verdict(page) == SPOILT
    offsets = [[1 << bit, 0] for bit in range(6)] + [[0, 1 << bit] for bit in range(5)]
    page.fill("edit-offset", str(offsets))
    transposed = f"#ttg.shared_linear<{{offset = {offsets}}}, alignment = 16>"
    access = library(Pair(COLUMNS, transposed, [64, 32], 4, "sm90"))[False]
    assert [page.page.inner_text("#access-what"), verdict(page)] == main_lines(access)
    page.fill("edit-type", "!ttg.memdesc<64x32xf16>")
    assert "32 bits in registers, but 16 bits in memory" in verdict(page)


def test_the_padding_counts(open_page: Open) -> None:
    padded = "#ttg.padded_shared<[32:+1] {order = [1, 0], shape = [64, 32]}>"
    page = opened(open_page, padded, fragment="v=layout&x=1&w=store")
    assert verdict(page) == FREE
    cells = [(mark["x0"], mark["y"]) for mark in page.ask(what="marks", grid="hardware")]
    assert cells[:4] == [(0, 0), (1, 1), (2, 2), (3, 3)]
    page.shot("access-padded")


@pytest.mark.parametrize(
    "edited",
    [
        "#ttg.padded_shared<[32:+1] {order = [1, 0], shape = [64, 32]}>",
        "#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [64, 32]}>",
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 32}>",
    ],
)
def test_memory_can_be_written_as_another_kind(edited: str, open_page: Open) -> None:
    page = opened(open_page, fragment="v=layout&x=1&w=store&g=sm80")
    page.page.click("#edit summary")
    page.fill("edit-attribute", edited)
    assert page.page.inner_text("#edit-attribute-error") == ""
    access = library(Pair(COLUMNS, edited, [64, 32], 4, "sm80"))[True]
    assert [page.page.inner_text("#access-what"), verdict(page)] == main_lines(access)[:2]
    page.shot(f"access-as-{edited[5:8]}")


def test_bits_that_are_no_whole_bytes_are_refused_in_words(open_page: Open) -> None:
    page = open_page(
        laid(PLAIN, "tensor<64x32xi4>", "rows"),
        laid(COLUMNS, "tensor<64x32xi4>", "columns"),
        fragment="v=layout&x=1",
    )
    assert verdict(page) == "elements in shared memory must be whole bytes, but these have 4 bits"
    assert not page.page.is_visible("#access-shown")
    assert page.ask(what="marks", grid="hardware") == []


def test_a_store_and_another_target(open_page: Open) -> None:
    operand = f"#ttg.dot_op<{{opIdx = 0, parent = {MMA}, kWidth = 2}}>"
    page = open_page(
        laid(operand, "tensor<64x32xf16>", "a"),
        laid(PLAIN, "!ttg.memdesc<64x32xf16>", "b"),
        fragment="v=layout&x=1",
    )
    assert page.page.inner_text("#access-what").startswith("load: 4 x ldmatrix.x4 per warp")
    assert "rows" in page.page.inner_text("#access-details")
    page.select("access-kind", "store")
    assert "stmatrix" in page.page.inner_text("#access-what")
    page.select("access-target", "sm80")
    assert "st.shared.b32" in page.page.inner_text("#access-what")
    assert "assumed (" in page.page.inner_text("#access-evidence")
    assert page.address == {"x": "1", "v": "layout", "w": "store", "g": "sm80"}
    page.select("access-target", "sm90")
    page.select("access-kind", "load")
    assert page.address == {"x": "1", "v": "layout"}


def test_warps_of_64_lanes_are_of_another_target(open_page: Open) -> None:
    wide = BLOCKED.format([1, 8], [16, 4], [4, 1], [1, 0])
    page = open_page(
        laid(wide, "tensor<64x64xf16>", "a"), laid(PLAIN, "!ttg.memdesc<64x64xf16>", "b"),
        fragment="v=layout&x=1&g=sm80", target="gfx950",
    )  # fmt: skip
    options = page.page.locator("#access-target option").all_inner_texts()
    assert options == ["gfx90a, AMD CDNA2", "gfx942, AMD CDNA3", "gfx950, AMD CDNA4"]
    assert page.page.input_value("#access-target") == "gfx950"
    assert page.page.input_value("#banks") == "64"
    assert "drawn" not in page.page.inner_text("#access-evidence")
    page.select("banks", "32")
    assert "64 banks, drawn as 32" in page.page.inner_text("#access-evidence")
    page.select("banks", "64")
    page.shot("access-64-banks")


@pytest.mark.parametrize("fragment", ["x=1&w=x&g=sm1&m=1", "x=1&g=", "x=1&w=&m="])
def test_a_broken_address_shows_the_usual_access(fragment: str, open_page: Open) -> None:
    page = opened(open_page, fragment=fragment)
    assert (page.page.inner_text("#access-what")[:4], verdict(page)) == ("load", SPOILT)
    assert page.page.is_checked("#access-shown")


# -- the marks --------------------------------------------------------------------------------

SHADES_OF_ELEMENTS = """elements => elements.map(element =>
  ["hardware", "other"].map(grid => window.ttLayout({ what: "shade", grid, element })))"""

SHADE = """([grid, x, y]) => {
  const pen = document.querySelector(`#${grid} canvas`).getContext("2d");
  return [...pen.getImageData(x, y, 1, 1).data].slice(0, 3);
}"""


def shades(page: Opened, cell: tuple[int, int]) -> list[list[int]]:
    """Return the colours 1 and 2 pixels within the top of a cell, and in its middle."""
    x, middle = page.ask(what="where", grid="hardware", cell=cell)
    page.settle()
    _, next_middle = page.ask(what="where", grid="hardware", cell=(cell[0], cell[1] + 1))
    top = middle - (next_middle - middle) / 2
    return [page.page.evaluate(SHADE, ["hardware", x, y]) for y in (top + 0.5, top + 1.5, middle)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_touched_is_framed_and_where_lanes_wait_more_thickly(
    scheme: str, open_page: Open
) -> None:
    page = opened(open_page, scheme=scheme)
    page.page.set_viewport_size({"width": 2200, "height": 1700})
    page.settle()
    ink = [29, 31, 36] if scheme == "light" else [234, 232, 227]
    assert [shade == ink for shade in shades(page, (0, 3))] == [True, True, False]
    pale = shades(page, (1, 3))
    assert ink not in pale
    page.page.click("#edit summary")
    page.fill("edit-attribute", SWIZZLED)
    assert [shade == ink for shade in shades(page, (1, 1))] == [True, False, False]
    page.page.uncheck("#access-shown")
    assert ink not in shades(page, (1, 1))
    assert page.address["m"] == "none"
    page.shot(f"access-unmarked-{scheme}")
    page.go("x=1&m=none")
    assert not page.page.is_checked("#access-shown")
    assert shades(page, (1, 3))[2] != pale[2]  # not paled either


def luminance(colour: list[int]) -> float:
    channels = [channel / 255 for channel in colour]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722)))


@pytest.mark.parametrize(("scheme", "label"), [("light", "5a5e68"), ("dark", "a7abb5")])
@pytest.mark.parametrize("colour", ["bank", "line"])
def test_labels_of_paled_cells_can_be_read(
    scheme: str, label: str, colour: str, open_page: Open
) -> None:
    page = opened(open_page, scheme=scheme, fragment=f"v=layout&x=1&c={colour}")
    ink = luminance([*bytes.fromhex(label)])
    cells = [(k, 50) for k in range(32)] if colour == "bank" else [(1, k) for k in range(63)]
    for cell in cells:
        paper = luminance(shades(page, cell)[2])
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5


def test_a_selected_group_is_not_paled(open_page: Open) -> None:
    page = opened(open_page, fragment="v=layout&x=1&s=bank")
    pale = shades(page, (1, 3))[2]
    page.at("hardware", 1, 40)
    vivid = shades(page, (1, 3))[2]
    assert luminance(vivid) < luminance(pale)
    page.shot("access-group")
    page.page.mouse.move(5, 5)
    assert shades(page, (1, 3))[2] == pale


def test_the_grid_says_who_touches_a_cell(open_page: Open) -> None:
    page = opened(open_page)
    page.at("hardware", 0, 3)
    turns = "touched by lane 3, one of 32 words in conflict in bank 0"
    assert page.said.endswith(f"; {turns}")
    page.at("hardware", 1, 3)
    assert "touched" not in page.said
    page.focus("hardware", down=3)
    assert turns in page.page.inner_text("#hardware-cell")
    page.page.focus("#access-shown")
    page.page.keyboard.press("Space")
    assert page.address == {"x": "1", "v": "layout", "m": "none"}
    page.focus("hardware", down=3)
    assert "touched" not in page.page.inner_text("#hardware-cell")


def test_lanes_that_share_a_word_are_named_together(open_page: Open) -> None:
    row = BLOCKED.format([1, 1], [1, 32], [4, 1], [1, 0])
    page = open_page(
        laid(PLAIN, "!ttg.memdesc<64x32xi8>", "rows"),
        laid(row, "tensor<64x32xi8>", "row"),
        fragment="v=layout&x=1",
    )
    page.at("hardware", 5, 0)
    assert page.said.endswith("; touched by lanes 4-7")


def test_the_access_is_reached_by_the_keyboard(open_page: Open) -> None:
    page = opened(open_page)
    wanted = ["compare", "access-kind", "access-target", "access-shown"]
    seen = []
    for _ in range(30):
        page.page.keyboard.press("Tab")
        seen.append(page.page.evaluate("document.activeElement.id"))
        if seen[-1] == "access-kind":
            page.page.keyboard.press("ArrowDown")
            assert page.page.inner_text("#access-what").startswith("store")
    assert [name for name in seen if name in wanted] == wanted


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_access_can_be_read(scheme: str, open_page: Open) -> None:
    page = opened(open_page, scheme=scheme)
    assert page.poor_contrasts() == []
    page.page.click("#edit summary")
    page.fill("edit-attribute", SWIZZLED)
    assert page.poor_contrasts() == []
    page.fill("edit-type", "!ttg.memdesc<64x32xi8>")
    assert verdict(page).endswith("two tensors")
    assert page.poor_contrasts() == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_access_fits_the_window(width: int, scheme: str, open_page: Open) -> None:
    page = opened(open_page, scheme=scheme)
    page.page.set_viewport_size({"width": width, "height": 900})
    page.settle()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    page.shot(f"access-{width}-{scheme}")


def test_hovering_beside_256x256_draws_what_is_in_sight(open_page: Open) -> None:
    """Not every one of the 65536 elements."""
    page = open_page(
        laid(PLAIN, "!ttg.memdesc<256x256xf16>", "rows"),
        laid(COLUMNS, "tensor<256x256xf16>", "columns"),
        fragment="v=layout&x=1",
    )
    page.select("scope", "line")
    counts = page.drawn_while_hovering("hardware")
    assert any(counts)
    assert max(counts) < MOST_DRAWN


def test_the_cycles_are_what_an_access_opens_on(open_page: Open) -> None:
    """A row for each cycle, a column for each bank, and in its cell the lane that is served."""
    page = opened(open_page, fragment="x=1")
    access = library(Pair(COLUMNS, PLAIN, [64, 32], 4, "sm90"))[False]
    assert page.page.input_value("#view") == "cycles"
    assert not page.page.is_visible("#tensor")
    assert page.page.is_visible("#hardware")
    [chart, *_] = page.ask(what="drawn")
    assert chart["cells"] == [32, access.wavefronts_per_instruction]
    assert chart["label"]
    texts = page.ask(what="texts", grid="cycles")
    assert texts == [[str(cycle), *[""] * 31] for cycle in range(32)]
    page.at("cycles", 0, 5)
    assert page.said.startswith("Element (5, 0)")
    page.at("cycles", 3, 5)
    assert page.said == "Bank 3 is idle in wavefront 6"
    page.select("view", "layout")
    assert page.page.is_visible("#tensor")
    assert page.address["v"] == "layout"


def test_a_swizzle_shortens_the_chart(open_page: Open) -> None:
    page = opened(open_page, SWIZZLED, fragment="x=1")
    assert page.ask(what="texts", grid="cycles") == [[str(lane) for lane in range(32)]]
    assert verdict(page) == FREE


def test_below_the_chart_is_that_of_the_suggested_layout(open_page: Open) -> None:
    page = opened(open_page, fragment="x=1")
    found = find_swizzle([], [COLUMNS], [64, 32], elem_bytes=4, target="sm90").best
    assert found is not None
    about = page.page.inner_text("#suggested .about")
    about, _, note = about.partition("; ")
    assert note == "tt-layout swizzle takes the store, too"
    assert about == f"{found.encoding}: 4 wavefronts per instruction, conflict-free"
    [texts] = page.ask(what="texts", grid="suggested")
    assert texts == [str(bank // 4) for bank in range(32)]  # 16 bytes of each lane
    drawn, suggested, _ = page.ask(what="drawn")
    assert drawn["label"]
    assert suggested["label"]
    page.page.click("#edit summary")
    page.fill("edit-attribute", SWIZZLED)
    assert not page.page.is_visible("#suggested")


def test_a_colour_means_one_thing_in_both_layouts(open_page: Open) -> None:
    """Not chunk 0 of memory beside warp 0 of registers."""
    page = opened(open_page, fragment="v=layout&x=1&c=chunk")
    same = page.page.evaluate(SHADES_OF_ELEMENTS, [[0, 0], [0, 8], [5, 17], [63, 31]])
    assert len(same) == 4
    assert all(memory == registers for memory, registers in same)
    assert len({memory for memory, _ in same}) > 1
