"""Figures: their size, their labels, and that what is drawn is what the library says."""

from __future__ import annotations

import io
import re
import runpy
import shlex
import struct
import zlib
from dataclasses import replace
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from command import BLOCKED, TYPE, Run, runner
from test_terminal import SEED, SWIZZLED
from tiers import slow
from work import bytes_of, calls_of

import tt_layout
from tt_layout.colour import CELLS, PALETTES
from tt_layout.encodings.parsing import parse_layout
from tt_layout.errors import LayoutError
from tt_layout.figures.drawing import draw
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.figures.model import NOTHING, PLAIN, Figure, Grid
from tt_layout.figures.page_layout import ADVANCE, FITS, cell_size, lay_out_figure
from tt_layout.figures.pdf import to_pdf
from tt_layout.figures.svg import tile_of, to_svg
from tt_layout.figures.tensor import grid_shape
from tt_layout.mlir.types import parse_type
from tt_layout.placement import place
from tt_layout.views.selection import EVERYTHING, Selection

ROOT = Path(__file__).parents[2]
GALLERY = runpy.run_path(str(ROOT / "docs" / "gallery" / "make.py"))
NAMES = list(GALLERY["FIGURES"])
COLUMNS = GALLERY["COLUMNS"]
VOLUME = (
    "#ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [2, 4, 4], "
    "warpsPerCTA = [2, 1, 1], order = [2, 1, 0]}>"
)
OPERAND = (
    "#ttg.dot_op<{opIdx = 1, parent = #ttg.amd_mfma<{version = 1, warpsPerCTA = [1, 4], "
    "instrShape = [32, 32, 8], isTransposed = false}>, kWidth = 2}>"
)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


@pytest.fixture(scope="session")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gallery")
    GALLERY["make"](folder)
    return folder


def held(layout: str, tensor: str, selection: Selection = EVERYTHING) -> DrawnLayout:
    return DrawnLayout(place(parse_layout(layout), parse_type(tensor)), selection)


def labels(root: ElementTree.Element) -> list[str]:
    return [span.text or "" for span in root.iter(f"{SVG}tspan")]


def test_the_gallery_has_ten_figures_and_is_up_to_date(gallery: Path) -> None:
    assert len(NAMES) >= 10
    for name in NAMES:
        kept = (ROOT / "docs" / "gallery" / f"{name}.svg").read_text(encoding="utf-8")
        assert (gallery / f"{name}.svg").read_text(encoding="utf-8") == kept, name


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_the_gallery_is_shown() -> None:
    shown = re.findall(r"\(gallery/([\w-]+)\.svg\)", page("plot.md") + page("learn.md"))
    assert set(shown) == set(NAMES)
    of_learning = {name for name in NAMES if name.startswith("learn-")}
    assert (
        set(re.findall(r"\(gallery/([\w-]+)\.svg\)", page("plot.md"))) == set(NAMES) - of_learning
    )


def test_each_parameter_is_explained_by_a_figure_and_the_command_that_draws_it() -> None:
    text = page("learn.md")
    shown = re.findall(r"^\$ (tt-layout plot .*(?:\n> .*)*)$", text, re.MULTILINE)
    commands = [re.sub(r"(?:\\| *)\n> ", " ", command) for command in shown]
    drawn = {}
    for command in commands:
        *arguments, _, file = shlex.split(command)
        drawn[file.removesuffix(".svg")] = tuple(arguments[2:])
    assert drawn == {name: GALLERY["FIGURES"][name] for name in drawn}
    assert {name for name in NAMES if name.startswith("learn-")} <= set(drawn)
    after = [text[text.index(f"-o {name}.svg") :] for name in drawn]
    assert all(f"](gallery/{name}.svg)" in rest[:400] for name, rest in zip(drawn, after))
    words = ["sizePerThread", "threadsPerWarp", "warpsPerCTA", "order", "#ttg.slice", "dot_op"]
    words += ["#ttg.nvidia_mma", "vec", "perPhase", "maxPhase", "#ttg.linear", "basis"]
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_whole_and_nothing_is_clipped(gallery: Path, name: str) -> None:
    root = ElementTree.parse(gallery / f"{name}.svg").getroot()
    width, height = map(float, root.get("viewBox", "").split()[2:])
    shown = float(root.get("width", ""))
    assert shown <= 1440
    assert float(root.get("height", "")) == pytest.approx(height * shown / width, abs=0.6)
    for text in root.findall(f"{SVG}text"):
        x, y = float(text.get("x", "")), float(text.get("y", ""))
        room = len(text.text or "") * int(text.get("font-size", "")) * ADVANCE
        left = x - {"middle": room / 2, "end": room}.get(text.get("text-anchor", ""), 0)
        assert -1 <= left <= left + room <= width + 1, text.text
        assert 10 <= y <= height - 2, text.text


@pytest.mark.parametrize("name", NAMES)
def test_names_do_not_overlap(gallery: Path, name: str) -> None:
    root = ElementTree.parse(gallery / f"{name}.svg").getroot()
    boxes = []
    for text in root.findall(f"{SVG}text"):
        x, y, size = (float(text.get(key, "")) for key in ("x", "y", "font-size"))
        room = len(text.text or "") * size * ADVANCE
        left = x - {"middle": room / 2, "end": room}.get(text.get("text-anchor", ""), 0)
        boxes.append((left, left + room, y - size * 0.75, y, text.text))
    for number, (left, right, top, bottom, text_) in enumerate(boxes):
        for other in boxes[number + 1 :]:
            apart = right <= other[0] + 1 or other[1] <= left + 1
            assert apart or bottom <= other[2] or other[3] <= top, (text_, other)


def test_labels_are_those_of_the_view() -> None:
    root = ElementTree.fromstring(to_svg(draw(held(BLOCKED, TYPE))))
    text = parse_layout(BLOCKED).format_tensor_view([4, 4])
    assert labels(root) == re.findall(r"T\d+:\d+", text)


@pytest.mark.parametrize("tensor", ["tensor<16x16xf16>", "tensor<8x16xf16>", "tensor<64x32xf16>"])
def test_all_holders_agree_with_the_view(tensor: str) -> None:
    layout = held(SEED, tensor)
    cells = (
        layout.encoding.format_tensor_view(layout.placed.shape).replace("[", "").replace("]", "")
    )
    first = [cell.strip() for cell in re.split(r"[,\n]", re.sub(r"\|[^,\n]*", "", cells))]
    drawn = draw(layout).grids[0].labels
    assert drawn is not None
    shown = [re.split(r"[|+]", text)[0] for row in drawn for text in row]
    assert shown == [cell for cell in first if cell]


def test_hardware_labels_are_those_of_the_view() -> None:
    drawn = draw(held(BLOCKED, TYPE), view="hardware").grids[0].labels
    text = parse_layout(BLOCKED).format_hardware_view([4, 4])
    assert drawn is not None
    assert [f"({t})" for row in drawn for t in row] == re.findall(r"\(\d+,\d+\)", text)


def test_banks_hold_what_the_view_says() -> None:
    drawn = draw(held(SWIZZLED, "!ttg.memdesc<8x16xf16>"), view="banks").grids[0].labels
    text = parse_layout(SWIZZLED).format_hardware_view([8, 16]).replace(" ", "")
    assert drawn is not None
    assert [f"({t})" for row in drawn for t in row if t] == re.findall(r"\(\d+,\d+\)", text)


@pytest.mark.parametrize(
    ("element", "names"),
    [
        ("f16", [(0, 2, "0"), (2, 2, "1"), (4, 2, "2")]),
        ("f32", [(0, 1, "0"), (1, 1, "1"), (2, 1, "2")]),
        ("f64", [(0, 1, "0-1"), (1, 1, "2-3"), (2, 1, "4-5")]),
    ],
)
def test_banks_are_named_over_their_columns(
    element: str, names: list[tuple[int, int, str]]
) -> None:
    grid = draw(held(SWIZZLED, f"!ttg.memdesc<64x64x{element}>"), view="banks").grids[0]
    assert list(grid.groups[:3]) == names


def test_conflicts_are_outlined() -> None:
    shared = held(SWIZZLED.replace("maxPhase = 4", "maxPhase = 1"), "!ttg.memdesc<32x32xf32>")
    figure = draw(shared, held(COLUMNS, "tensor<32x32xf32>"))
    marks = figure.grids[0].marks
    assert marks is not None
    assert marks[:, 0].all()
    assert not marks[:, 1:].any()
    assert figure.notes[0] == "load: ld.shared.b32, 32 wavefronts per instruction, at best 1"
    free = draw(
        held(GALLERY["PHASED"], "!ttg.memdesc<32x32xf32>"), held(COLUMNS, "tensor<32x32xf32>")
    )
    assert free.grids[0].marks is not None
    assert not free.grids[0].marks.any()


def test_only_the_rows_that_an_access_touches_are_drawn() -> None:
    shared = held(SWIZZLED.replace("maxPhase = 4", "maxPhase = 1"), "!ttg.memdesc<64x64xf32>")
    figure = draw(shared, held(COLUMNS, "tensor<64x64xf32>"))
    grid = figure.grids[0]
    assert figure.notes[-1] == "showing 32 of the 128 rows touched"
    assert grid.rows == tuple(str(256 * row) for row in range(32))
    assert ((grid.colours >= 0).sum(axis=1) == 1).all()


def test_buffers_without_an_element_are_drawn_empty() -> None:
    piece = SWIZZLED.replace("order = [1, 0]", "order = [1, 0], CGALayout = [[0, 2], [0, 1]]")
    layout = f"#ttg.partitioned_shared<{{partitionLayout = {piece}, partitionDim = 1, "
    drawn = held(layout + "numPartitions = 4, numGroups = 1}>", "tensor<2x4xi8>")
    figure = draw(drawn, view="banks")
    assert all((grid.colours == NOTHING).all() for grid in figure.grids)


@pytest.mark.parametrize("most", [1, 2, 8, 32])
def test_cycles_serve_every_lane_once_and_no_bank_twice(most: int) -> None:
    shared = GALLERY["PHASED"].replace("maxPhase = 32", f"maxPhase = {most}")
    pair = held(shared, "!ttg.memdesc<32x32xf32>"), held(COLUMNS, "tensor<32x32xf32>")
    figure = draw(*pair, view="cycles")
    grid = figure.grids[0]
    assert grid.labels is not None
    assert grid.shape == (32 // most, 32)
    served = [text for row in grid.labels for text in row if text]
    assert sorted(map(int, served)) == list(range(32))
    assert f"{32 // most} wavefront" in figure.notes[0]


def test_legends_name_what_is_drawn_and_nothing_else() -> None:
    part = draw(held(SEED, "tensor<64x64xf16>", Selection(((0, 2), (0, 4)))), color_by="lane")
    assert part.legend == ((0, "lane 0"), (1, "1"))
    many = draw(held(SEED, "tensor<128x128xf16>"), color_by="row").legend
    assert many[0] == (0, "row 0")
    assert many[-1] == (PLAIN, "... 127; colours repeat")
    padded = draw(held(GALLERY["PADDED"], "!ttg.memdesc<16x64xf16>"), view="banks")
    assert padded.legend[-1] == (NOTHING, "padding, or behind the end")
    assert 'fill="url(#hatch)"' in to_svg(padded)
    full = draw(held(GALLERY["SWIZZLED"], "!ttg.memdesc<8x64xf16>"), view="banks")
    assert NOTHING not in dict(full.legend)


HALF = "#ttng.tensor_memory_encoding<blockM = 64, blockN = 8, colStride = 1>"


def test_copies_in_registers_of_tensor_memory_take_no_room() -> None:
    mma = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"  # noqa: E501

    def copied(k_width: int) -> Figure:
        operand = f"#ttg.dot_op<{{opIdx = 0, parent = {mma}, kWidth = {k_width}}}>"
        memory = HALF.replace("blockN = 8", "blockN = 128")
        return draw(*(held(text, "tensor<64x64xf16>") for text in (memory, operand)))

    assert bytes_of(lambda: copied(65536)) < 16 << 20
    assert copied(65536).grids[0] == copied(64).grids[0]


LANES = (
    "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [64, 1], warpsPerCTA = [1, 4], "
    "order = [0, 1]}>"
)
NARROW = "#ttg.swizzled_shared<{{vec = {}, perPhase = 1, maxPhase = {}, order = [1, 0]}}>"
STEPS = [
    (NARROW.format(1, 8), COLUMNS, "!ttg.memdesc<32x32xf32>", "sm90", "load", (1, 4, 4)),
    (GALLERY["PLAIN"], GALLERY["MMA"], "!ttg.memdesc<32x64xf16>", "sm90", "store", (4, 8, 32)),
    (NARROW.format(4, 8), LANES, "!ttg.memdesc<64x64xf32>", "gfx942", "load", (2, 4, 16)),
    (NARROW.format(4, 8), LANES, "!ttg.memdesc<64x64xf32>", "gfx950", "load", (1, 8, 16)),
    (NARROW.format(8, 2), GALLERY["OPERAND"], "!ttg.memdesc<32x64xf16>", "sm80", "load",
     (4, 4, 16)),
    ("#ttg.padded_shared<[32:+2] {order = [1, 0], shape = [32, 32]}>", COLUMNS,
     "!ttg.memdesc<32x32xf32>", "sm90", "load", (1, 2, 2)),
]  # fmt: skip
"""Memory, registers, type, GPU, access; phases, cycles of each, cycles of the instruction."""


@pytest.mark.parametrize(("memory", "registers", "tensor", "target", "access", "counts"), STEPS)
def test_the_cycles_of_an_instruction_are_drawn_phase_by_phase(
    memory: str, registers: str, tensor: str, target: str, access: str, counts: tuple[int, ...]
) -> None:
    pair = held(memory, tensor), held(registers, tensor.replace("!ttg.memdesc", "tensor"))
    figure = draw(*pair, view="cycles", target=target, access=access)
    grid, (phases, cycles, in_all) = figure.grids[0], counts
    assert grid.labels is not None
    assert len(grid.rows) == phases * cycles
    assert grid.row_step == (cycles if phases > 1 else 0)
    unit = "wavefronts" if target.startswith("sm") else "cycles"
    assert f"{in_all} {unit} per instruction" in figure.notes[0]
    lanes = {int(text.split("+")[0]) for row in grid.labels for text in row if text}
    warp = 64 if target.startswith("gfx") else 32
    assert lanes == set(range(warp))
    assert figure.legend[0] == (0, "lane 0")
    halves = 1 + any("two addresses" in note for note in figure.notes)
    assert phases * cycles * halves == in_all


@pytest.mark.parametrize(
    ("layouts", "tensor", "view"),
    [
        ((HALF,), "!ttg.memdesc<64x8xf32>", "hardware"),
        ((HALF, HALF), "!ttg.memdesc<64x8xf32>", None),
        ((HALF,), "!ttg.memdesc<64x8xf32>", "mma"),
        ((GALLERY["PADDED"],), "!ttg.memdesc<16x64xf16>", "banks"),
        ((GALLERY["LONG"], GALLERY["SQUARE"]), "tensor<8x16xf16>", None),
        ((GALLERY["SPREAD"],), "tensor<64x64xf32>", "sectors"),
        ((GALLERY["MMA_ONE"],), "tensor<16x8xf32>", "mma"),
        ((SEED,), "tensor<64x64xf16>", None),
    ],
)
def test_every_colour_is_in_the_legend(
    layouts: tuple[str, ...], tensor: str, view: str | None
) -> None:
    figure = draw(*(held(layout, tensor) for layout in layouts), view=view)
    drawn_ = {number for grid in figure.grids for number in np.unique(grid.colours).tolist()}
    named = {number for number, text in figure.legend if not text.startswith("...")}
    assert drawn_ - {PLAIN} <= named <= drawn_


def test_what_has_not_moved_is_pale() -> None:
    pair = held(GALLERY["LONG"], "tensor<8x16xf16>"), held(GALLERY["SQUARE"], "tensor<8x16xf16>")
    figure = draw(*pair)
    moved = int((figure.grids[1].colours != PLAIN).sum())
    assert f"{moved} of 128 elements move" in figure.notes


PARTS = [
    (SEED, "tensor<16x32xf16>", ((3, 9), (5, 21))),
    (SEED, "tensor<16x32xf16>", (None, (8, 9))),
    (GALLERY["OPERAND"], "tensor<32x32xf16>", ((8, 24), (0, 12))),
    (GALLERY["SLICE"], "tensor<32xf32>", ((6, 17),)),
    (SWIZZLED, "!ttg.memdesc<16x64xf16, #smem>", ((2, 5), (30, 41))),
    (GALLERY["SCALES"], "!ttg.memdesc<64x8xi8, #tmem>", ((30, 34), (2, 7))),
    (VOLUME, "tensor<4x8x8xf16>", ((1, 3), (2, 4), None)),
]


@pytest.mark.parametrize(("layout", "tensor", "slices"), PARTS)
def test_a_slice_is_a_part_of_the_whole(
    layout: str, tensor: str, slices: tuple[tuple[int, int] | None, ...]
) -> None:
    whole = held(layout, tensor)
    (all_,), (part,) = draw(whole).grids, draw(held(layout, tensor, Selection(slices))).grids
    box = tuple(slice(*one) if one else slice(None) for one in slices)
    assert all_.labels is not None
    assert part.labels is not None
    expected = np.array(all_.labels).reshape(whole.placed.shape)[box].ravel().tolist()
    assert [text for row in part.labels for text in row] == expected
    colours = all_.colours.reshape(whole.placed.shape)[box].ravel().tolist()
    assert part.colours.ravel().tolist() == colours


def test_the_names_of_a_slice_are_coordinates() -> None:
    slices = Selection(((1, 3), (2, 4), (5, 7)))
    grid = draw(held(VOLUME, "tensor<4x8x8xf16>", slices)).grids[0]
    assert (grid.rows, grid.columns) == (("1,2", "1,3", "2,2", "2,3"), ("5", "6"))
    grid = draw(held(GALLERY["SLICE"], "tensor<32xf32>", Selection(((6, 17),)))).grids[0]
    assert (grid.rows, grid.columns[0], grid.columns[-1]) == (("6",), "6", "16")


def test_a_part_of_the_hardware() -> None:
    part = Selection(warps=(1, 2), registers=(1, 4), lanes=(3, 20))
    all_ = draw(held(SEED, "tensor<16x32xf16>"), view="hardware").grids[0]
    grid = draw(held(SEED, "tensor<16x32xf16>", part), view="hardware").grids[0]
    assert grid.rows == ("W1 r1", "W1 r2", "W1 r3")
    assert all_.labels is not None
    rows = [all_.labels[all_.rows.index(name)][3:20] for name in grid.rows]
    assert grid.labels == rows


def test_a_slice_of_a_huge_tensor_costs_no_more_than_the_slice() -> None:
    part = Selection(((1 << 19, (1 << 19) + 4), (0, 8)))
    assert draw(held(SEED, "tensor<1048576x1048576xf16>", part)).grids[0].shape == (4, 8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--slice", "0:2,0:2", "--view", "matrix"], "slices cannot be selected in a matrix"),
        (["--slice", "0:2,0:2", "--view", "hardware"], "slices cannot be selected in a hardware"),
        (["--lane", "2"], "lanes cannot be selected in a tensor figure; it has slices"),
        (["--slice", "0:9,0:2"], "dim0 8 is outside 0..3"),
        (["--view", "matrix", "--color-by", "warp"], "is coloured by input dimension"),
    ],
)
def test_what_a_figure_cannot_show(
    run: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    outcome = run("plot", BLOCKED, "-t", TYPE, *arguments, "-o", str(tmp_path / "a.svg"))
    assert outcome.status == 2
    assert message in outcome.err
    assert not list(tmp_path.iterdir())


def test_the_matrix_is_that_of_the_layout() -> None:
    layout = held(SEED, "tensor<16x16xf16>")
    drawn = draw(layout, view="matrix").grids[0].labels
    assert drawn is not None
    matrix = np.array([[int(text) for text in row] for row in drawn])
    assert matrix.tolist() == np.array(layout.layout.get_matrix_view()).tolist()


def test_layouts_of_different_shapes_are_not_compared() -> None:
    """On a layout of rank 1 the type is a ring of rows."""
    rows = SWIZZLED.replace("[1, 0]", "[0]")
    pair = (held(layout, "!ttg.memdesc<8x16xf16>") for layout in (SWIZZLED, rows))
    with pytest.raises(LayoutError, match="over one tensor, got shapes 8x16 and 16"):
        draw(*pair)


def test_replicas_are_compared_without_listing_them() -> None:
    """The registers of a thread repeat its elements 2^27 times."""
    wide = OPERAND.replace("kWidth = 2", "kWidth = 134217728")
    pair = (held(layout, "tensor<8x16xf16>") for layout in (wide, OPERAND))
    assert bytes_of(lambda: draw(*pair)) < 16 << 20


def test_titles_hold_no_control_characters() -> None:
    figure = replace(draw(held(BLOCKED, TYPE)), title=("a\x1b[31m\nb\u202e",))
    assert {text.text for text in lay_out_figure(figure).texts} >= {"a?[31m?b?"}
    assert ElementTree.fromstring(to_svg(figure))[0].text == "a?[31m?b?"


def test_a_tile_is_the_smallest_that_repeats() -> None:
    tile = np.array([[0, 1], [2, 3], [0, 2], [1, 1]])
    assert (tile_of(np.tile(tile, (8, 16))) == tile).all()


@pytest.mark.parametrize(("size", "limit"), [(64, 500), (128, 1500)])
def test_svg_is_small_and_little_work(size: int, limit: int) -> None:
    texts = []
    calls = calls_of(lambda: texts.append(to_svg(draw(held(SEED, f"tensor<{size}x{size}xf16>")))))
    assert calls < 20 * size * size
    assert len(texts[0]) < limit * 1000
    assert len(labels(ElementTree.fromstring(texts[0]))) == size * size


@pytest.mark.slow
@pytest.mark.parametrize("color_by", ["warp", "lane", "register"])
def test_an_overview_has_no_labels_and_is_small(color_by: str) -> None:
    figure = draw(held(SEED, "tensor<1024x1024xf16>"), color_by=color_by)
    text = to_svg(figure)
    assert len(text) < 200_000
    assert labels(ElementTree.fromstring(text)) == []


@pytest.mark.parametrize(
    ("rows", "note"), [(16, []), (64, ["showing 16 of the 64 lines of banks"])]
)
def test_a_figure_of_a_swizzle_says_what_part_it_shows(rows: int, note: list[str]) -> None:
    layout = "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>"
    figure = draw(held(layout, f"!ttg.memdesc<{rows}x64xf16, #smem>"), view="swizzle")
    assert [text for text in figure.notes if text.startswith("showing")] == note


@pytest.mark.parametrize("size", [16, slow(128)])
def test_png_has_the_size_of_the_setting(size: int) -> None:
    pytest.importorskip("PIL")
    from tt_layout.figures.png import to_png

    figure = draw(held(SEED, f"tensor<{size}x{size}xf16>"))
    data = to_png(figure)
    width, height = struct.unpack(">II", data[16:24])
    setting = lay_out_figure(figure)
    assert (width, height) in ((setting.width * s, setting.height * s) for s in (1, 2))


@pytest.mark.slow
@pytest.mark.parametrize("fit", FITS)
def test_a_wide_figure_fits(fit: str) -> None:
    figure = draw(held(SEED, "tensor<128x128xf16>"))
    natural, (most, high) = lay_out_figure(figure).width, FITS[fit]
    root = ElementTree.fromstring(to_svg(figure, fit))
    width = int(root.get("width", ""))
    assert 0.8 * min(most, natural) < width <= min(most, natural)
    assert root.get("viewBox", "").split()[2] == str(width)
    small = draw(held(SEED, "tensor<8x8xf16>"))
    assert to_svg(small, fit) == to_svg(small)
    tall = draw(held(GALLERY["TMEM"], "!ttg.memdesc<128x8xf32>"))
    root = ElementTree.fromstring(to_svg(tall, fit))
    natural = lay_out_figure(tall).height
    assert 0.8 * min(high, natural) < int(root.get("height", "")) <= min(high, natural)


@pytest.mark.parametrize("fit", FITS)
def test_headings_keep_their_size_however_much_cells_shrink(fit: str) -> None:
    pair = held(SEED, "tensor<64x128xf16>"), held(GALLERY["MMA"], "tensor<64x128xf32>")
    root = ElementTree.fromstring(to_svg(draw(*pair), fit))
    width, height = (int(root.get(name, "")) for name in ("width", "height"))
    assert root.get("viewBox") == f"0 0 {width} {height}"
    texts = [node for node in root if node.tag.endswith("text")]
    assert {node.get("font-size") for node in texts} == {"10", "11"}
    assert any(node.get("font-weight") == "bold" for node in texts)


def test_what_repeats_is_drawn_once_where_all_of_it_would_be_huge() -> None:
    layout = (
        "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], "
        "order = [1, 0]}>"
    )
    figure = draw(held(layout, "tensor<32768x4xf16>"), view="tensor", color_by="lane")
    placed = lay_out_figure(figure)
    assert placed.height < 1100
    assert any("... repeats 512 times down" in text.text for text in placed.texts)
    whole = draw(held(layout, "tensor<512x4xf16>"), view="tensor", color_by="lane")
    assert not any("repeats" in text.text for text in lay_out_figure(whole).texts)


def test_pastel_cells_have_thread_and_register_in_two_lines() -> None:
    figure = replace(draw(held(SEED, "tensor<8x8xf16>")), palette="pastel")
    text = to_svg(figure)
    assert CELLS[0] not in text
    assert PALETTES["pastel"][0] in text
    assert ">T0<" in text
    assert ">V0" in text
    assert lay_out_figure(figure).grids[0].height == 50
    assert to_pdf(figure)[:8] == b"%PDF-1.4"


def test_png_fits_too() -> None:
    pytest.importorskip("PIL")
    from tt_layout.figures.png import to_png

    data = to_png(draw(held(SEED, "tensor<32x64xf16>")), "paper")
    assert 600 < struct.unpack(">I", data[16:20])[0] <= 2 * 680


@pytest.mark.slow
@pytest.mark.parametrize("size", [16, 1024])
def test_pdf_is_whole(size: int) -> None:
    figure = draw(held(SEED, f"tensor<{size}x{size}xf16>"))
    data = to_pdf(figure, "paper")
    start = int(data.rsplit(b"startxref\n", 1)[1].split()[0])
    assert data[start:].startswith(b"xref\n")
    offsets = [int(line.split()[0]) for line in data[start:].split(b"\n")[3:] if b" n" in line]
    for number, offset in enumerate(offsets, 1):
        assert data[offset:].startswith(b"%d 0 obj" % number)
    width = float(re.findall(rb"MediaBox\[0 0 ([\d.]+)", data)[0])
    assert width <= 680 * 0.75
    texts = b"".join(
        zlib.decompress(part)
        for part in re.findall(rb"FlateDecode/Length \d+>>\nstream\n(.*?)\nendstream", data, re.S)
    )
    assert (b"(T0:0|T8:0) Tj" in texts or b"(T0:0) Tj" in texts) == (size == 16)


def test_without_pillow_the_message_says_what_to_install(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "PIL.Image", None)
    outcome = run("plot", BLOCKED, "-t", TYPE, "-o", str(tmp_path / "a.png"))
    assert outcome.status == 2
    assert "pip install 'tt-layout[png]'" in outcome.err
    assert not (tmp_path / "a.png").exists()


def test_labels_fit_their_cells() -> None:
    for layout, tensor in [(SEED, "tensor<128x128xf16>"), (BLOCKED, "tensor<2x4xf16>")]:
        grid = draw(held(layout, tensor)).grids[0]
        assert grid.labels is not None
        longest = max(len(text) for row in grid.labels for text in row)
        assert longest * 11 * ADVANCE < cell_size(grid)[0]


@pytest.mark.parametrize("tensor", ["tensor<16xf16>", "tensor<2x4x8xf16>", "tensor<1x1xf16>"])
def test_other_ranks_are_drawn(tensor: str) -> None:
    rank = len(parse_type(tensor).shape)
    ones = ", ".join(["1"] * (rank - 1))
    front = f"{ones}, " if ones else ""
    layout = (
        f"#ttg.blocked<{{sizePerThread = [{front}2], threadsPerWarp = [{front}4], "
        f"warpsPerCTA = [{front}1], order = {list(reversed(range(rank)))}}}>"
    )
    for view in ("tensor", "hardware", "matrix"):
        ElementTree.fromstring(to_svg(draw(held(layout, tensor), view=view)))


@pytest.mark.slow
def test_a_page_is_made(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("tt_layout.page")
    path = tmp_path / "page.html"
    assert run("plot", BLOCKED, "-t", TYPE, "-o", str(path)).status == 0
    assert path.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html")


def test_a_page_of_a_ring_and_registers_is_of_one_buffer(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    arguments = (SWIZZLED, BLOCKED, "-t", "!ttg.memdesc<3x8x16xf16>", "-o", str(path))
    assert run("plot", *arguments).status == 0
    found = re.findall(r'"type":"(.*?)"', path.read_text(encoding="utf-8"))
    inner = [text.replace("\\u003c", "<").replace("\\u003e", ">") for text in found]
    assert inner == ["!ttg.memdesc<3x8x16xf16>", "tensor<8x16xf16>"]


def test_a_page_of_a_dump_is_made(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("tt_layout.page")
    dump = tmp_path / "kernel.ttgir"
    dump.write_text(
        f"#a = {BLOCKED}\nmodule {{\n  tt.func @f(%x: tensor<4x4xf16, #a>) {{\n"
        "    tt.return\n  }\n}\n"
    )
    path = tmp_path / "page.html"
    outcome = run("plot", "-i", str(dump), "-o", str(path))
    assert (outcome.status, outcome.err) == (0, "")
    assert '"#a"' in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((BLOCKED, "-t", TYPE, "-o", "a.gif"), "must end in .svg, .png, .pdf or .html"),
        ((BLOCKED, "-o", "a.svg"), "no tensor type"),
        (("-t", TYPE, "-o", "a.svg"), "no layout"),
        (("#ttg.blocked<{}>", "-t", TYPE, "-o", "a.svg"), "error"),
        ((BLOCKED, "-t", "tensor<3x4xf16>", "-o", "a.svg"), "power of two"),
        ((BLOCKED, "-t", TYPE, "-o", "a.svg", "--view", "compare"), "needs two layouts"),
        ((BLOCKED, "-t", TYPE, "-o", "a.svg", "--view", "banks"), "banks need a shared layout"),
        ((BLOCKED, BLOCKED, "-t", TYPE, "-o", "a.svg", "--view", "matrix"), "one layout"),
        ((BLOCKED, "-t", TYPE, "-o", "a.svg", "--color-by", "bank"), "does not suit"),
        ((BLOCKED, "-t", "tensor<65536x65536xf16>", "-o", "a.svg"), "cells"),
        (("-i", "a.ttgir", "-o", "a.svg"), "-o must be an .html"),
    ],
)
def test_bad_input_is_refused(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    outcome = run("plot", *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("target", "columns"), [("gfx942", 32), ("gfx950", 64)])
def test_an_access_is_drawn_over_all_banks_of_its_gpu(target: str, columns: int) -> None:
    registers = BLOCKED.replace("[2, 2]", "[8, 8]")
    shared, kept = held(SWIZZLED, "!ttg.memdesc<64x64xf32>"), held(registers, "tensor<64x64xf32>")
    figure = draw(shared, access="load", other=kept, target=target)
    assert figure.grids[0].shape[1] == columns


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_titles_are_bold_in_every_file(ending: str) -> None:
    """In PNG by pixels: the last line of the title has more ink than the same in regular type."""
    figure = draw(held(BLOCKED, TYPE))
    if ending == "svg":
        assert f'font-weight="bold" xml:space="preserve">{escape(TYPE)}' in to_svg(figure)
        return
    image = pytest.importorskip("PIL.Image")
    from tt_layout.figures.png import to_png

    inks = []
    for title in (("x", "mmmm"), ("mmmm", "x")):
        data = to_png(replace(figure, title=title))
        inks.append(255 - np.asarray(image.open(io.BytesIO(data)).convert("L"), np.int64)[:100])
    lines = [ink.sum(axis=1) for ink in inks]
    assert lines[0].sum() > lines[1].sum()


@pytest.mark.parametrize(("columns", "is_beside"), [(16, True), (64, False)])
def test_compared_layouts_stand_beside_each_other_where_they_fit(
    columns: int, is_beside: bool
) -> None:
    tensor = f"tensor<8x{columns}xf16>"
    figure = draw(held(GALLERY["LONG"], tensor), held(GALLERY["SQUARE"], tensor))
    before, after = lay_out_figure(figure).grids
    assert (before.y == after.y, before.x == after.x) == (is_beside, not is_beside)


def test_png_and_svg_have_the_same_typefaces_in_the_same_order() -> None:
    from tt_layout.figures.png import FONT_FILES
    from tt_layout.figures.svg import FONT

    families = [family.replace(" ", "").lower() for family in FONT.split(",")[:-1]]
    for family, (regular, bold, _) in zip(families, FONT_FILES):
        assert all(name.lower().startswith(family[:6]) for name in (regular, bold))
    assert len(families) == len(FONT_FILES)


def test_only_a_collection_has_more_than_one_typeface() -> None:
    from tt_layout.figures.png import FONT_FILES

    for regular, bold, face in FONT_FILES:
        assert bool(face) == (regular == bold) == bold.endswith(".ttc")


def test_cycles_of_some_lanes_are_those_of_their_phases() -> None:
    rows = "gl.BlockedLayout([1, 8], [32, 2], [4, 1], [1, 0])"
    plain = "gl.SwizzledSharedLayout(1, 1, 1, [1, 0])"

    def drawn(selection: Selection) -> str:
        chosen = tt_layout.plot(
            rows, plain, "64x64xi8", view="cycles", target="gfx942", selection=selection
        )
        return chosen.svg

    part = drawn(Selection(lanes=(17, 18)))
    assert "showing the phases of lanes 16 to 31" in part
    assert len(part) < len(drawn(EVERYTHING))
    with pytest.raises(LayoutError, match="it has lanes"):
        drawn(Selection(warps=(0, 1)))


def test_a_second_layout_of_cute_that_has_the_shape_of_the_tensor_is_of_memory(run: Run) -> None:
    rows = "gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])"
    kinds = {}
    for second in ("(64,64):(64,1)", "(32,128):(1,32)", "Swizzle<3,3,3> o (64,64):(64,1)"):
        kinds[second] = "bank" in run("plot", rows, second, "-t", "64x64xf16").out
    assert list(kinds.values()) == [True, False, True]
    both = run("plot", "(32,4):(4,1)", "(32,4):(1,32)", "-t", "32x4xf16")
    assert both.status == 0, both.err
    assert "<title>- #ttg.linear" in both.out  # two layouts of threads and values are compared


CONFLICT = """
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1],
  warpsPerCTA = [1, 4], order = [0, 1]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = MAX, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
tt.func public @f(%m: !ttg.memdesc<32x32xf32, #s, #smem, mutable>) {
  %v = ttg.local_load %m : !ttg.memdesc<32x32xf32, #s, #smem, mutable> -> tensor<32x32xf32, #b>
  tt.return
}
}
"""


@pytest.mark.parametrize(("phases", "has_cycles"), [(1, True), (32, False)])
def test_a_conflict_on_a_line_is_drawn_by_cycles(
    phases: int, has_cycles: bool, run: Run, tmp_path: Path
) -> None:
    dump = tmp_path / "k.ttgir"
    dump.write_text(CONFLICT.replace("MAX", str(phases)), encoding="utf-8")
    drawn = run("plot", f"{dump}:8")
    assert drawn.status == 0, drawn.err
    asked = run("plot", f"{dump}:8", "--view", "cycles" if has_cycles else "banks").out
    assert drawn.out == asked != run("plot", f"{dump}:8", "--view", "copy").out


@pytest.mark.parametrize(("columns", "has_lines"), [(128, True), (140, False)])
def test_cells_of_six_pixels_have_lines_between_them_and_smaller_ones_none(
    columns: int, has_lines: bool
) -> None:
    image = pytest.importorskip("PIL.Image")
    from tt_layout.figures.png import to_png

    figure = Figure(("plain",), (Grid(np.zeros((4, columns), np.int64)),))
    layout = lay_out_figure(figure)
    [placed] = layout.grids
    assert (placed.width == placed.height == 6) == has_lines
    pixels = np.asarray(image.open(io.BytesIO(to_png(figure))).convert("L"))
    scale = len(pixels) // layout.height
    row = pixels[(placed.y + 2) * scale, (placed.x + 1) * scale :][: 20 * scale]
    assert (len(np.unique(row)) > 1) == has_lines
    assert ('stroke-opacity=".45"' in to_svg(figure)) == has_lines
    drawn = zlib.decompress(to_pdf(figure).split(b"stream\n")[1])
    assert drawn.count(b" l S") == (130 if has_lines else 0)


@pytest.mark.parametrize(("size", "grid"), [(4096, (128, 32)), (8192, (8, 1024))])
def test_a_tensor_of_one_dimension_has_short_rows_while_they_are_few(
    size: int, grid: tuple[int, int]
) -> None:
    assert grid_shape((size,)) == grid
