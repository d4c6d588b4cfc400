"""The page as it is used: by pointer, by keyboard, by address."""

from __future__ import annotations

import pytest

from browser.conftest import Open
from browser.kinds import KINDS, kind, laid
from browser.open_page import MOST_DRAWN, Opened
from tt_layout.page import EmbeddedDump

SWAPPED = (
    "#ttg.linear<{register = [[0, 1]], lane = [[0, 4], [0, 2], [1, 0], [2, 0], [4, 0]], "
    "warp = [[0, 8], [8, 0]], block = []}>"
)
BIG = (KINDS["blocked"][0], "tensor<256x256xf16>")


def click(page: Opened, grid: str, x: int, y: int, *keys: str) -> None:
    page.at(grid, x, y)
    for key in keys:
        page.page.keyboard.down(key)
    page.page.mouse.down()
    page.page.mouse.up()
    for key in keys:
        page.page.keyboard.up(key)


# -- selections -------------------------------------------------------------------------------


def test_a_pin_stays_until_it_is_clicked_again(open_page: Open) -> None:
    page = open_page(kind("blocked"))
    page.page.set_viewport_size({"width": 1900, "height": 1300})  # both pinned elements in sight
    page.settle()
    click(page, "tensor", 5, 3)
    page.page.mouse.move(5, 5)
    page.settle()
    assert page.said == "Element (3, 5), held by T14:1: register 1, lane 14, warp 0"
    assert len(page.hover_rings("tensor")) == len(page.hover_rings("hardware")) == 1
    page.shot("pinned")
    click(page, "hardware", 3, 2, "Shift")
    assert page.address["p"] == "element:3,5;element:0,14"
    assert len(page.hover_rings("tensor")) == 2
    page.page.click("#pins button >> nth=0")
    assert page.address["p"] == "element:0,14"
    click(page, "hardware", 3, 2)
    assert page.address == {}


def test_a_cell_that_holds_nothing_says_so(open_page: Open) -> None:
    page = open_page(kind("padded_shared"))
    page.at("hardware", 7, 2)  # 128 elements, then 8 of padding
    assert page.said == "Padding, no element"
    page.at("hardware", 8, 2)
    assert page.said == "Element (1, 0) at offset 128, slot 136, byte 272, bank 4"
    page = open_page(kind("tensor_memory"))
    page.at("hardware", 1, 0)
    assert page.said == "row 0, column 1: empty"


def test_an_element_in_two_banks_names_both(open_page: Open) -> None:
    page = open_page(kind("doubles"), fragment="c=bank&s=bank&p=bank:0,2")
    page.at("tensor", 2, 0)
    assert page.said == "Element (0, 2) at offset 2, byte 16, banks 4-5"
    assert page.page.inner_text("#pins").startswith("banks 4-5 ")
    swatches = page.page.locator(".swatch").all_inner_texts()
    assert (swatches[0], swatches[-1], len(swatches)) == ("0-1", "30-31", 16)
    page.shot("two-banks")


def test_the_bits_of_an_element_are_worked_out(open_page: Open) -> None:
    page = open_page(kind("shared_linear"))
    page.at("tensor", 3, 3)
    assert page.said == "Element (3, 3) at offset 24, byte 48, bank 12"
    assert page.page.inner_text("#matrix-sum") == (
        "offset 24, byte 48, bank 12: offset bit 3 (1, 1) ⊕ offset bit 4 (2, 2) = (3, 3)"
    )
    lit = page.page.eval_on_selector_all(
        "#matrix-table thead .on", "all => all.map(x => x.innerText)"
    )
    assert lit == ["3", "4"]


@pytest.mark.parametrize(
    ("name", "text", "element"),
    [
        ("blocked", "3,5", "(3, 5)"),
        ("blocked", "( 3, 5 )", "(3, 5)"),
        ("blocked", "T37:1", "(1, 11)"),
        ("blocked", "t37", "(1, 10)"),
        ("blocked", "warp 2", "(8, 0)"),
        ("blocked", "warp 2 lane 3 register 1", "(8, 7)"),
        ("clusters", "B1:T3:0", "(8, 6)"),
        ("swizzled_shared", "offset 96", "(1, 40)"),
        ("swizzled_shared", "bank 4", "(0, 8)"),
        ("doubles", "bank 5", "(0, 2)"),
        ("partitioned_shared", "partition 1 offset 4", "(4, 4)"),
        ("tensor_memory", "R7:C4", "(7, 2)"),
        ("slice", "17", "(17)"),
        ("rank3", "5,2,7", "(5, 2, 7)"),
    ],
)
def test_a_search_pins_what_it_finds(name: str, text: str, element: str, open_page: Open) -> None:
    page = open_page(kind(name))
    page.page.keyboard.press("/")
    page.page.keyboard.type(text)
    page.page.keyboard.press("Enter")
    page.settle()
    assert page.page.inner_text("#search-error") == ""
    assert element in page.said
    assert page.address["p"].endswith(":" + element.strip("()").replace(" ", ""))
    assert page.page.locator("#pins button").count() == 1


@pytest.mark.parametrize("text", ["99,0", "1,2,3", "T999", "warp 9", "offset 3", "hello", "1,2 3"])
def test_a_search_says_what_is_wrong(text: str, open_page: Open) -> None:
    page = open_page(kind("blocked"))
    page.page.fill("#search", text)
    page.page.press("#search", "Enter")
    assert page.page.inner_text("#search-error") != ""
    assert page.page.get_attribute("#search", "aria-invalid") == "true"
    assert page.address == {}


# -- keyboard and screen readers --------------------------------------------------------------


def test_the_keyboard_is_enough(open_page: Open) -> None:
    page = open_page(kind("blocked"), kind("linear"))
    page.focus("tensor", right=2, down=1)
    assert page.said.startswith("Element (1, 2), held by T5:0")
    assert page.page.inner_text("#tensor-cell").startswith("Element (1, 2), held by T5:0")
    assert page.page.get_attribute("#tensor-cell", "aria-colindex") == "3"
    page.shot("keyboard")
    page.page.keyboard.press("End")
    assert page.said.startswith("Element (1, 15)")
    page.page.keyboard.press("Control+End")
    assert page.said.startswith("Element (15, 15)")
    page.page.keyboard.press("PageUp")
    page.page.keyboard.press("Home")
    assert page.said.startswith("Element (0, 0)")
    page.page.keyboard.press("Enter")
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Shift+Enter")
    assert page.address["p"] == "element:0,0;element:1,0"
    page.page.keyboard.press("Escape")
    assert page.address == {}


def test_tabs_go_from_the_top_to_the_bottom(open_page: Open) -> None:
    page = open_page(kind("blocked"), kind("linear"))
    seen = []
    for _ in range(30):
        page.page.keyboard.press("Tab")
        seen.append(page.page.evaluate(FOCUSED))
    wanted = ["skip", "layout-filter", "colour", "scope", "compare", "search", "tensor", "hardware"]
    places = [seen.index(name) for name in wanted]
    assert places == sorted(places)
    assert "edit" in seen


FOCUSED = """() => {
  const node = document.activeElement;
  const named = node.closest("#tensor, #hardware, #edit, #matrix");
  return named && !node.id ? named.id : node.id;
}"""


def test_every_control_has_a_name_and_a_role(open_page: Open) -> None:
    page = open_page(kind("rank3"), kind("rank3"), fragment="x=1")
    page.page.click("#edit summary")
    unnamed = page.page.evaluate(UNNAMED)
    assert unnamed == []
    grid = page.page.locator("#tensor .stage")
    assert grid.get_attribute("role") == "grid"
    assert grid.get_attribute("aria-rowcount") == "4"
    assert page.page.get_attribute("#said", "aria-live") == "polite"


UNNAMED = """() => [...document.querySelectorAll("button, input, select, textarea, [role=grid]")]
  .filter(node => node.checkVisibility())
  .filter(node => !(node.getAttribute("aria-label") || node.getAttribute("aria-labelledby") ||
    node.labels?.length || node.innerText.trim()))
  .map(node => node.outerHTML)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["blocked", "swizzled_shared", "tensor_memory", "rank3"])
def test_all_text_can_be_read(name: str, scheme: str, open_page: Open) -> None:
    page = open_page(kind(name), kind(name), scheme=scheme, fragment="x=1&p=element:0,0")
    page.page.click("#edit summary")
    page.fill("edit-attribute", "#ttg.blocked<{")
    for colour in page.page.eval_on_selector_all("#colour option", "all => all.map(o => o.value)"):
        page.select("colour", colour)
        assert page.poor_contrasts() == []


# -- slices -----------------------------------------------------------------------------------


def test_dimensions_beyond_two_are_sliced(open_page: Open) -> None:
    page = open_page(kind("rank3"))
    page.page.fill("#slice-at input[type=number]", "5")
    page.page.press("#slice-at input[type=number]", "Enter")
    page.at("tensor", 6, 2)
    assert page.said.startswith("Element (5, 2, 6)")
    assert page.address["d"] == "1,2,5,0,0"
    page.select("slice-rows", "0")
    page.at("tensor", 6, 7)
    assert page.said.startswith("Element (7, 0, 6)")
    page.select("slice-columns", "0")  # taken by the rows: they swap
    page.at("tensor", 3, 6)
    assert page.said.startswith("Element (3, 0, 6)")
    page.shot("slice")
    page.page.focus("#slice-at-1")
    page.page.keyboard.press("ArrowRight")
    assert page.address["d"].endswith(",1,0")
    assert page.page.evaluate("document.activeElement.id") == "slice-at-1"
    page.go(page.page.evaluate("location.hash").removeprefix("#"))
    page.at("tensor", 3, 6)
    assert page.said.startswith("Element (3, 1, 6)")


# -- comparing --------------------------------------------------------------------------------


def test_what_moves_between_two_layouts(open_page: Open) -> None:
    page = open_page(kind("blocked"), laid(SWAPPED, "tensor<16x16xf16>", "swapped"))
    page.select("compare", "1")
    words = page.page.eval_on_selector_all(
        "#comparison-words li", "all => all.map(x => x.innerText)"
    )
    assert words == ["128 of 256 elements move", "lane bits 0 and 1 swapped"]
    page.at("tensor", 2, 0)
    assert page.said == "Element (0, 2), held by T1:0; moves, in swapped held by T2:0"
    [cell] = page.ask(what="cells", grid="other", element=[0, 2])
    assert cell == [2, 0]
    assert len(page.hover_rings("other")) == 1
    page.shot("compare")
    page.at("other", 0, 0)
    assert page.said == "Element (0, 0), held by T0:0; stays, in swapped held by T0:0"
    assert page.address == {"x": "1"}


def test_layouts_of_two_memories_are_linked(open_page: Open) -> None:
    page = open_page(
        laid(KINDS["blocked"][0], "tensor<64x64xf16>", "registers"), kind("swizzled_shared")
    )
    page.select("compare", "1")
    page.at("tensor", 8, 1)
    assert "also, in swizzled_shared held by offset 64" in page.said
    page.select("scope", "warp")
    click(page, "hardware", 0, 0)
    page.shot("compare-memories")


def test_a_pair_is_compared_from_the_start(open_page: Open) -> None:
    swapped = laid(SWAPPED, "tensor<16x16xf16>", "swapped")
    page = open_page(kind("blocked"), swapped, is_pair=True)
    assert "128 of 256 elements move" in page.page.inner_text("#comparison-words")
    assert page.address == {}
    page.choose_layout(1)
    assert page.page.inner_text("#comparison-title") == "Compared with blocked"
    assert page.address == {"l": "1"}
    page.select("compare", "-1")
    assert page.address == {"l": "1", "x": "none"}
    page.go("x=none")
    assert not page.page.is_visible("#comparison")
    page = open_page(kind("blocked"), kind("rank3"), is_pair=True)
    page.choose_layout(1)
    assert page.address == {"l": "1"}


def test_an_edit_is_compared_with_what_was_before(open_page: Open) -> None:
    page = open_page(kind("blocked"))
    assert not page.page.is_visible("#compare")
    page.page.click("#edit summary")
    page.fill("edit-attribute", SWAPPED)
    page.select("compare", "0")
    assert "128 of 256 elements move" in page.page.inner_text("#comparison-words")
    page.shot("compare-edit")


# -- editing ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "edited", "at_offset_or_thread"),
    [
        ("blocked", SWAPPED, "T2:0"),
        ("linear", SWAPPED, "T2:0"),
        ("nvidia_mma_v1", KINDS["blocked"][0], "T1:0"),
        (
            "swizzled_shared",
            "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [0, 1]}>",
            "offset 128",
        ),
        (
            "amd_rotating_shared",
            "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>",
            "offset 2",
        ),
    ],
)
def test_the_view_follows_the_attribute(
    name: str, edited: str, at_offset_or_thread: str, open_page: Open
) -> None:
    page = open_page(kind(name))
    page.page.click("#edit summary")
    page.fill("edit-attribute", edited)
    assert page.page.inner_text("#edit-attribute-error") == ""
    page.at("tensor", 2, 0)
    if name == "swizzled_shared":  # its second column is the second row: xored by phase 2
        assert "at offset 130" in page.said
    else:
        assert at_offset_or_thread in page.said
    assert page.page.inner_text("#attribute") == edited
    fragment = page.page.evaluate("location.hash").removeprefix("#")
    page.go(fragment)
    assert page.page.inner_text("#attribute") == edited
    page.page.click("#edit summary")
    page.page.click("#reset")
    assert page.page.inner_text("#attribute") == KINDS[name][0]
    assert page.address == {}


def test_the_view_follows_the_bases(open_page: Open) -> None:
    page = open_page(kind("blocked"))
    page.page.click("#edit summary")
    page.fill("edit-lane", "[[0, 4], [0, 2], [1, 0], [2, 0], [4, 0]]")
    page.at("tensor", 2, 0)
    assert page.said.startswith("Element (0, 2), held by T2:0")
    assert page.page.inner_text("#attribute") == SWAPPED
    assert page.page.input_value("#edit-attribute") == SWAPPED
    page.shot("edit")
    page.go(page.page.evaluate("location.hash").removeprefix("#"))
    assert page.page.inner_text("#attribute") == SWAPPED


@pytest.mark.parametrize("name", ["tensor_memory", "partitioned_shared", "padded_shared"])
def test_bases_of_kinds_that_have_no_other_text_can_be_edited(name: str, open_page: Open) -> None:
    page = open_page(kind(name))
    page.page.click("#edit summary")
    box = "edit-col" if name == "tensor_memory" else "edit-offset"
    page.fill(box, page.page.input_value(f"#{box}").replace("[0, 1]", "[0, 9]", 1))
    assert page.page.inner_text(f"#{box}-error") == ""
    assert "b" in page.address
    page.shot(f"edit-{name}")


@pytest.mark.parametrize(
    ("box", "text", "message"),
    [
        ("edit-attribute", "#ttg.blocked<{", "expected a name"),
        ("edit-attribute", KINDS["blocked"][0].replace("[8, 4]", "[8, 3]"), "power of two"),
        ("edit-attribute", KINDS["blocked"][0].replace("[1, 0]", "[1, 1]"), "permutation"),
        (
            "edit-attribute",
            KINDS["nvidia_mma_v2"][0].replace("16, 8]", "16, 4]"),
            "instrShape must",
        ),
        ("edit-attribute", KINDS["nvidia_mma_v1"][0], "Volta (versionMajor = 1) is refused"),
        ("edit-attribute", KINDS["dot_op"][0].replace("kWidth = 2", "kWidth = 3"), "power of two"),
        ("edit-attribute", KINDS["slice"][0].replace("dim = 1", "dim = 2"), "a dimension of the"),
        ("edit-attribute", "#ttg.hexagonal<{}>", "#ttg.hexagonal is not a layout attribute"),
        ("edit-attribute", "#triton_gpu.blocked<{}>", "Triton 3.9 has no attribute #triton_gpu"),
        ("edit-attribute", "#gluon.auto_encoding", "is a placeholder"),
        ("edit-attribute", "#blocked", "#blocked is the name of a layout"),
        ("edit-attribute", KINDS["swizzled_shared"][0], "this layout is of registers"),
        ("edit-attribute", "blocked", "begins with #"),
        ("edit-attribute", KINDS["blocked"][0] + " x", "expected the end"),
        ("edit-type", "tensor<16x15xf16>", "power of two"),
        ("edit-type", "tensor<16xf16>", "2 dimensions"),
        ("edit-type", "16x16", "expected a type"),
        ("edit-lane", "[[0, 4], [0]]", "2 numbers"),
        ("edit-lane", "[[0, 16]]", "outside the shape"),
        ("edit-lane", "[[0, -1]]", "negative"),
        ("edit-lane", "[[0, 1]", "found the end"),
        ("edit-attribute", "#ttg.padded_shared<[8:4] {order = [1, 0]}>", "expected +"),
        ("edit-attribute", "#ttg.padded_shared<[8:+4] {order = [1, 0]}>", "order and shape"),
        ("edit-attribute", "#ttg.padded_shared<[8:+3] {order = [0], shape = [4]}>", "power of"),
        (
            "edit-attribute",
            "#ttg.padded_shared<[8:+4] {offset = [[1, 1]], block = []}>",
            "one power of two, got [1, 1]",
        ),
        (
            "edit-attribute",
            "#ttg.padded_shared<[8:+4] {offset = [[1, 0], [0, 1]], block = []}>",
            "for the shape [2, 2]",
        ),
        (
            "edit-attribute",
            "#ttg.nvmma_shared<{swizzlingByteWidth = 48, elementBitWidth = 16}>",
            "0, 32, 64 or 128, got 48",
        ),
        (
            "edit-attribute",
            "#ttg.nvmma_shared<{swizzlingByteWidth = 128, elementBitWidth = 16}>",
            "at least 64 elements, got 16",
        ),
    ],
)
def test_an_edit_says_what_is_wrong_with_it(
    box: str, text: str, message: str, open_page: Open
) -> None:
    page = open_page(kind("blocked"))
    page.page.click("#edit summary")
    page.fill(box, text)
    assert message in page.page.inner_text(f"#{box}-error")
    assert page.page.get_attribute(f"#{box}", "aria-invalid") == "true"
    assert page.page.inner_text("#attribute") == KINDS["blocked"][0]
    if message == "permutation":
        page.shot("edit-error")


@pytest.mark.parametrize(("release", "registers"), [("2.1", 1), ("3.8", 1), ("3.9", 0)])
def test_an_edit_is_read_under_the_release(release: str, registers: int, open_page: Open) -> None:
    attribute, type_text = KINDS["blocked"]
    attribute = attribute.replace("ttg", "triton_gpu") if release == "2.1" else attribute
    page = open_page(laid(attribute, type_text, release=release))
    page.page.click("#edit summary")
    page.fill("edit-type", "tensor<8x1xf16>")  # until 3.8 the second register is kept as a copy
    bases = page.page.input_value("#edit-register")
    assert bases.count("[0, 0]") == registers


def test_the_shape_can_be_edited(open_page: Open) -> None:
    page = open_page(kind("blocked"))
    page.page.click("#edit summary")
    page.fill("edit-type", "tensor<8x64xf32>")
    assert page.page.get_attribute("#tensor .stage", "aria-colcount") == "64"
    assert page.address["t"] == "tensor<8x64xf32>"


# -- the address ------------------------------------------------------------------------------


def test_the_address_keeps_the_whole_state(open_page: Open) -> None:
    layouts = [kind("swizzled_shared"), laid(KINDS["doubles"][0], "!ttg.memdesc<64x64xf16>", "b")]
    page = open_page(*layouts)
    page.choose_layout(1)
    page.select("compare", "0")
    page.select("colour", "line")
    page.select("scope", "bank")
    page.select("banks", "64")
    click(page, "tensor", 3, 2)
    wanted = {"l": "1", "x": "0", "c": "line", "s": "bank", "k": "64", "p": "bank:2,3"}
    assert page.address == wanted
    fragment = page.page.evaluate("location.hash").removeprefix("#")
    page.go(fragment)
    assert page.address == wanted
    assert page.page.inner_text("#name") == "b"
    assert page.page.input_value("#colour") == "line"
    assert page.page.input_value("#banks") == "64"
    assert page.page.inner_text("#pins").startswith("bank ")
    page.shot("address")


def test_a_changed_address_is_followed(open_page: Open) -> None:
    page = open_page(kind("blocked"), kind("linear"))
    page.page.evaluate("location.hash = 'l=1&p=warp:3,5'")
    page.settle()
    assert page.page.inner_text("#name") == "linear"
    assert page.page.inner_text("#pins").startswith("warp ")


@pytest.mark.parametrize(
    "fragment",
    [
        "l=99&x=-1&c=nonsense&s=nonsense&p=nonsense;;:&d=9,9&k=7",
        "a=%23ttg.blocked%3C&t=x",
        "b={bad",
        "b=null",
        'b={"lane":[[0,99]]}',
        "p=element:99,99;warp:1",
        "d=0,0,0,0",
        "l=1.5&l=abc",
    ],
)
def test_a_broken_address_is_survived(fragment: str, open_page: Open) -> None:
    page = open_page(kind("blocked"), fragment=fragment)
    assert page.page.inner_text("#name") == "blocked"
    page.at("tensor", 1, 1)
    assert page.said.startswith("Element (1, 1), held by T4:1")


# -- themes, hostile names, speed -------------------------------------------------------------


def test_the_theme_follows_the_system_and_the_switch(open_page: Open) -> None:
    page = open_page(kind("blocked"), scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.page.evaluate(ground)
    page.page.click("#theme")
    assert page.page.inner_text("#theme") == "Theme: light"
    light = page.page.evaluate(ground)
    assert dark != light
    page.page.click("#theme")
    assert page.page.evaluate(ground) == dark
    page.page.emulate_media(color_scheme="light")
    page.page.click("#theme")
    assert page.page.evaluate(ground) == light


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 1000, 700, 380])
def test_nothing_is_wider_than_the_window(width: int, scheme: str, open_page: Open) -> None:
    page = open_page(kind("rank3"), scheme=scheme)
    page.page.set_viewport_size({"width": width, "height": 900})
    page.settle()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    page.shot(f"width-{width}-{scheme}")


def test_hostile_names_are_only_text(open_page: Open) -> None:
    name = "</script><img src=x onerror=alert(1)><script>alert(2)</script>{{data}}"
    layout = laid(*KINDS["blocked"], name)
    page = open_page(layout, layout, title=name, dump=EmbeddedDump(name, name))
    assert page.page.inner_text("#name") == name
    assert page.page.locator("img").count() == 0


def test_no_global_name_is_left_but_the_one_for_tests(open_page: Open) -> None:
    page = open_page(kind("blocked"))
    names = page.page.evaluate("""() => {
      const frame = document.createElement("iframe");
      document.body.append(frame);
      const usual = new Set(Object.getOwnPropertyNames(frame.contentWindow));
      frame.remove();
      return Object.getOwnPropertyNames(window)
        .filter(name => !usual.has(name) && !/^[0-9]+$/.test(name));
    }""")
    assert {name for name in names if not name.startswith("__")} <= {"ttLayout", "visualViewport"}


def test_hovering_over_256x256_draws_what_is_in_sight(open_page: Open) -> None:
    """Not every one of the 65536 elements."""
    page = open_page(laid(*BIG))
    page.select("scope", "warp")
    counts = page.drawn_while_hovering("tensor")
    page.at("tensor", 100, 80)
    page.shot("256x256")
    assert any(counts)
    assert max(counts) < MOST_DRAWN


@pytest.mark.parametrize("shape", ["1x1", "1", "4096x4096", "1048576", "1073741824x1", "2x2x2x2x2"])
def test_shapes_of_all_sizes(shape: str, open_page: Open) -> None:
    rank = shape.count("x") + 1
    ones, order = [1] * rank, list(range(rank))[::-1]
    attribute = (
        f"#ttg.blocked<{{sizePerThread = {ones}, threadsPerWarp = {[*ones[1:], 32]}, "
        f"warpsPerCTA = {[*ones[1:], 4]}, order = {order}}}>"
    )
    page = open_page(laid(attribute, f"tensor<{shape}xf16>"))
    page.focus("tensor")
    assert page.said.startswith(f"Element ({', '.join(['0'] * rank)})")
    page.page.keyboard.press("Control+End")
    last = ", ".join(str(int(size) - 1) for size in shape.split("x")[-2:])
    assert last in page.said
    page.shot(f"shape-{shape}")
