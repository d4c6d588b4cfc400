"""A multiplication on the page: what its figure shows, and links between its matrices."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scaled_dumps import DUMPS, LINE

from browser.conftest import Open
from browser.kinds import KINDS
from browser.open_page import Opened
from browser.pages import KERNELS
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.operations.multiplications import multiplications
from tt_layout.encodings.parsing import parse_layout
from tt_layout.figures.drawing import draw
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.figures.mma import DrawnProduct, product_figure
from tt_layout.ir.file_aliases import whole_modules
from tt_layout.mlir.source import Source, read_source
from tt_layout.mlir.types import parse_type
from tt_layout.page.dump import page_of, page_of_dump
from tt_layout.placement import PlacedLayout, place

AMPERE = (
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], "
    "instrShape = [16, 8]}>"
)
SMALL = AMPERE, "tensor<16x8xf32>"
CASES = {
    "mma.sync": SMALL,
    "wgmma": KINDS["nvidia_mma_v3"],
    "mfma": KINDS["amd_mfma"],
    "wmma": KINDS["amd_wmma"],
    "tcgen05": (
        "#ttng.tensor_memory_encoding<blockM = 128, blockN = 16, colStride = 1>",
        "!ttg.memdesc<128x16xf32>",
    ),
    "operand": (f"#ttg.dot_op<{{opIdx = 0, parent = {AMPERE}, kWidth = 2}}>", "tensor<16x8xf32>"),
}
DOT = 125  # a line of the dump


def placed(case: tuple[str, str]) -> PlacedLayout:
    return place(parse_layout(case[0]), parse_type(case[1]))


def show(open_file: Any, case: tuple[str, str], fragment: str = "") -> Opened:
    page: Opened = open_file(page_of({"layout": placed(case)}, is_multiplied=True), fragment)
    return page


def first_holder(label: str) -> str:
    return re.split(r"[|+ ]", label)[0]


def headed(page: Opened) -> str:
    """Return the title of a figure as the page has it: the instruction, and below it the sizes."""
    sizes = page.page.inner_text("#multiplication .about").split(";")[0]
    return f"{page.page.inner_text('#multiplication-title')} of {sizes}"


def test_each_cell_names_whom_the_figure_names(open_file: Any) -> None:
    layouts = {name: placed(case) for name, case in CASES.items()}
    page: Opened = open_file(page_of(layouts, is_multiplied=True))
    for number, (name, layout) in enumerate(layouts.items()):
        page.choose_layout(number)
        figure = draw(DrawnLayout(layout), view="mma")
        matrices = page.ask(what="multiplied")
        assert len(matrices) == len(figure.grids) == 3
        for matrix, grid in zip(matrices, figure.grids):
            assert grid.labels is not None
            expected = [[first_holder(label) for label in row] for row in grid.labels]
            assert [[first_holder(text) for text in row] for row in matrix["texts"]] == expected
        assert page.page.inner_text("#attribute") == figure.title[0]
        assert headed(page) == figure.title[1]
        swatches = page.page.locator(".swatch").all_inner_texts()
        assert swatches == [text.split()[-1] for _, text in figure.legend][: len(swatches)]
        page.shot(f"multiplication-{name}")


def point(page: Opened, number: int, x: int, y: int) -> list[list[list[str]]]:
    """Point at a cell of A, B or D; return the texts of all."""
    matrices = page.ask(what="multiplied")
    left, top = matrices[number]["at"]
    page.at("multiplication", left + x, top + y)
    return [matrix["texts"] for matrix in matrices]


def test_an_element_lights_what_it_is_multiplied_with(open_file: Any) -> None:
    page = show(open_file, SMALL)
    x, y, every = 5, 3, range(16)
    row, column, cell = {(c, y) for c in every}, {(x, r) for r in every}, {(x, y)}
    expected = [
        (cell, {(c, x) for c in every}, row),
        ({(y, r) for r in every}, cell, column),
        (row, column, cell),
    ]
    for number, name in enumerate("ABD"):
        texts = point(page, number, x, y)
        for shown, wanted in zip(page.ask(what="lit"), expected[number]):
            for r, cells in enumerate(shown):
                assert cells == [(c, r) in wanted for c in range(len(cells))]
        assert page.said.startswith(f"{name} ({y}, {x}), held by {texts[number][y][x]}; ")


A_TYPE, B_TYPE, D_TYPE = (
    "tensor<32x128xi8, #a>",
    "tensor<256x32xf8E4M3FN, #b>",
    "tensor<32x32xf32, #mma>",
)
PACKED = f"""\
#mma = #ttg.amd_mfma<{{version = 4, warpsPerCTA = [1, 1], instrShape = [16, 16, 128], \
isTransposed = true}}>
#a = #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = 16}}>
#b = #ttg.dot_op<{{opIdx = 1, parent = #mma, kWidth = 16}}>
module attributes {{"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func @f(%a: {A_TYPE}, %b: {B_TYPE}, %d: {D_TYPE}) {{
    %0 = tt.dot_scaled %a, %b, %d lhs = e2m1 rhs = e4m3 {{fastMath = false}} : \
{A_TYPE} * {B_TYPE} -> {D_TYPE}
    tt.return
  }}
}}
"""


def test_a_packed_element_is_multiplied_with_two(open_file: Any) -> None:
    page = open_file(page_of_dump(Source(PACKED, "a.ttgir"), [], line=6).html)
    page.page.set_viewport_size({"width": 1400, "height": 1400})
    page.settle()
    point(page, 0, 5, 3)
    assert page.said.endswith("; times rows 10 to 11 of B, goes into row 3 of D")
    _, b, d = page.ask(what="lit")
    assert [r for r, row in enumerate(b) if all(row)] == [10, 11]
    assert [r for r, row in enumerate(d) if all(row)] == [3]
    point(page, 1, 2, 11)
    assert page.said.endswith("; times column 5 of A, goes into column 2 of D")
    a, _, _ = page.ask(what="lit")
    assert [x for x in range(len(a[0])) if any(row[x] for row in a)] == [5]


def show_scaled(open_file: Any, name: str, fragment: str = "") -> Opened:
    page: Opened = open_file(
        page_of_dump(Source(DUMPS[name], "a.ttgir"), [], line=LINE).html, fragment
    )
    page.page.set_viewport_size({"width": 1440, "height": 1600})
    page.settle()
    return page


@pytest.mark.parametrize("name", DUMPS)
def test_scales_stand_where_the_figure_has_them(name: str, open_file: Any) -> None:
    page = show_scaled(open_file, name)
    figure = product_figure(scaled_product(name), None)
    matrices = page.ask(what="multiplied")
    assert len(matrices) == len(figure.grids) == 5
    for matrix, grid in zip(matrices, figure.grids):
        assert (len(matrix["texts"]), len(matrix["texts"][0])) == grid.shape
        assert grid.labels is not None
        if "in shared memory" not in grid.title:  # of which the figure has offsets
            expected = [[first_holder(label) for label in row] for row in grid.labels]
            assert [[first_holder(text) for text in row] for row in matrix["texts"]] == expected
    for axis in (0, 1):
        starts = [matrix["at"][axis] for matrix in matrices]
        places = [place[1 - axis] for place in figure.places]
        assert sorted(zip(starts, places)) == sorted(zip(starts, places), key=lambda two: two[1])
        assert len(set(zip(starts, places))) == len(set(places)) == 3
    page.shot(f"multiplication-scaled-{name}")


@pytest.mark.parametrize("name", DUMPS)
def test_a_scale_lights_what_it_scales(name: str, open_file: Any) -> None:
    page, product = show_scaled(open_file, name), scaled_product(name)
    (m, n, k), blocks, of = product.sizes, product.sizes[2] // product.block, product.packing
    axes = ["mk", "kn", "mn", "mk", "kn"]
    sizes = [(m, k // of[0]), (k // of[1], n), (m, n), (m, blocks), (blocks, n)]

    def meant(number: int, cell: tuple[int, int]) -> dict[str, set[int]]:
        """Return the elements along the axes of a matrix that a cell, its row first, is of."""
        wholes = {"m": m, "n": n, "k": k}
        steps = [wholes[axis] // size for axis, size in zip(axes[number], sizes[number])]
        spans = (range(at * step, (at + 1) * step) for at, step in zip(cell, steps))
        return {axis: set(span) for axis, span in zip(axes[number], spans)}

    for number, cell in [(3, (3, blocks - 1)), (4, (blocks - 1, 2)), (0, (3, 5)), (2, (3, 2))]:
        point(page, number, *cell[::-1])
        wanted = meant(number, cell)
        for other, lit in enumerate(page.ask(what="lit")):
            for y, x in np.ndindex(sizes[other]):
                own = meant(other, (y, x))
                meets = all(own[axis] & wanted[axis] for axis in own.keys() & wanted.keys())
                assert lit[y][x] == meets, (number, other, y, x)


def test_scales_are_said_and_kept_in_the_address(open_file: Any) -> None:
    page = show_scaled(open_file, "mfma")
    for number, x, y, said in [
        (0, 40, 3, "A (3, 40), held by T35:a8; times row 20 of B, goes into row 3 of D, "
         "scaled by (3, 1) of the scales"),
        (1, 2, 20, "; times columns 40 to 41 of A, goes into column 2 of D, "
         "scaled by (1, 2) of the scales"),
        (3, 1, 3, "scales of A (3, 1), held by T19:s0; scales columns 32 to 63 of row 3 of A"),
        (4, 2, 1, "scales of B (1, 2), held by T18:s0; scales rows 16 to 31 of column 2 of B"),
    ]:  # fmt: skip
        point(page, number, x, y)
        assert page.said.endswith(said)
    page.page.mouse.down()
    page.page.mouse.up()
    assert page.address["q"] == "scales of B,2,1"
    page.go("l=3&q=scales+of+B,2,1")
    assert page.said.startswith("scales of B (1, 2), held by ")
    page.focus("multiplication")
    page.page.keyboard.press("Control+Home")
    page.page.keyboard.press("Control+End")
    assert page.page.inner_text("#multiplication-cell").startswith("D (15, 15), held by ")
    page.go("q=scales+of+D,2,1")
    assert page.said == ""


def scaled_product(name: str) -> DrawnProduct:
    """Return the multiplication of a dump with scales."""
    [module] = whole_modules(Source(DUMPS[name], "a.ttgir"), None, None)
    [one] = multiplications(AuditedModule(module, SharedWork()))
    return DrawnProduct((one.a, one.b, one.d), one.first, one.title, one.packing, one.scales)


def test_a_lane_lights_what_it_holds_in_all(open_file: Any) -> None:
    page = show(open_file, SMALL, "s=lane")
    texts = point(page, 1, 6, 9)
    [thread] = re.findall(r"T\d+:", texts[1][9][6])
    for shown, labels in zip(page.ask(what="lit"), texts):
        assert shown == [[label.startswith(thread) for label in row] for row in labels]
    assert page.said.endswith(f"; lane {thread[1:-1]}")


def test_a_line_of_a_dump_shows_its_multiplication(open_file: Any) -> None:
    page = open_file(
        page_of_dump(read_source(str(KERNELS / "matmul-sm80.ttgir")), [], line=DOT).html
    )
    assert page.page.is_visible("#multiplication")
    assert not page.page.is_visible("#tensor")
    assert page.page.input_value("#layout-filter").startswith("#mma on ")
    assert page.page.inner_text("#attribute").startswith(f"tt.dot, line {DOT}: 128x64x16 f16 x f16")
    page.page.click(f"#line-{DOT - 1} code")
    assert not page.page.is_visible("#multiplication")
    assert page.page.is_visible("#tensor")
    page.page.click(f"#line-{DOT} code")
    assert page.page.is_visible("#multiplication")
    page.select("view", "layout")
    assert page.page.is_visible("#tensor")
    assert page.address["v"] == "layout"


def test_the_address_keeps_what_is_lit(open_page: Open, open_file: Any) -> None:
    page: Opened = open_file(page_of({"layout": placed(SMALL)}))
    assert page.page.is_visible("#tensor")
    page.select("view", "mma")
    point(page, 0, 5, 3)
    page.page.mouse.down()
    page.page.mouse.up()
    assert page.address == {"v": "mma", "q": "A,5,3"}
    page.go("v=mma&q=A,5,3&c=register")
    assert page.said.startswith("A (3, 5), held by ")
    assert page.page.input_value("#colour") == "register"
    page.focus("multiplication")
    page.page.keyboard.press("Control+End")
    assert page.page.inner_text("#multiplication-cell").startswith("D (15, 7), held by T31:d3")
    page.page.keyboard.press("Escape")
    assert page.address == {"v": "mma", "c": "register"}
    for broken in ("v=mma&q=D,99,99", "v=mma&q=X,1,1&c=bank", "v=no&q=A"):
        page.go(broken)
        assert page.said == ""
    page.page.click("#edit summary")
    page.fill("edit-register", "[[8, 0], [0, 1]]")
    assert page.page.is_visible("#tensor")


def test_it_follows_what_is_edited(open_file: Any) -> None:
    page = show(open_file, SMALL)
    page.page.click("#edit summary")
    page.fill("edit-attribute", KINDS["amd_mfma"][0])
    page.fill("edit-type", KINDS["amd_mfma"][1])
    figure = draw(DrawnLayout(placed(KINDS["amd_mfma"])), view="mma")
    assert headed(page) == figure.title[1]
    page.fill("edit-attribute", KINDS["blocked"][0])
    assert not page.page.is_visible("#view")
    assert page.page.is_visible("#tensor")


def test_its_operands_are_of_the_element_that_is_asked_for(open_file: Any) -> None:
    page = open_file(page_of({"layout": placed(SMALL)}, is_multiplied=True, operand="i8"))
    figure = draw(DrawnLayout(placed(SMALL)), view="mma", operand="i8")
    assert headed(page) == figure.title[1]
    assert "K = 32" in figure.title[1]


def test_a_layout_of_no_multiplication_has_no_choice(open_file: Any) -> None:
    page = open_file(page_of({"layout": placed(KINDS["blocked"])}), "v=mma")
    assert page.page.is_visible("#tensor")
    assert not page.page.is_visible("#view")
