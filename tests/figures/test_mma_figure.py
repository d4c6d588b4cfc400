"""A matrix instruction in one figure: each cell names who holds its element."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from command import Run, runner
from scaled_dumps import MFMA_SCALES
from tiers import sampled

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.multiplications.matrix_instructions import Operand
from tt_layout.colour import COLOURS
from tt_layout.encodings.instruction_tiles import WMMA_INSTRUCTIONS
from tt_layout.encodings.parsing import parse_layout
from tt_layout.errors import LayoutError
from tt_layout.figures.drawing import draw
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.figures.mma import DrawnProduct, product_figure
from tt_layout.figures.model import PLAIN, Figure
from tt_layout.figures.page_layout import lay_out_figure
from tt_layout.figures.svg import to_svg
from tt_layout.mlir.types import parse_type
from tt_layout.placement import place

AMPERE = (
    "#ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], "
    "instrShape = [{}]}}>"
)
HOPPER = (
    "#ttg.nvidia_mma<{{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], "
    "instrShape = [16, {}]}}>"
)
MFMA = "#ttg.amd_mfma<{{version = {}, warpsPerCTA = [1, 1], isTransposed = {}, instrShape = {}}}>"
WMMA = (
    "#ttg.amd_wmma<{{version = {}, isTranspose = {}, ctaLayout = {{warp = []}}, instrShape = {}}}>"
)

BATCH = AMPERE.format("1, 16, 8").replace("[1, 1]", "[1, 1, 1]")
TMEM = "#ttng.tensor_memory_encoding<blockM = {}, blockN = {}, colStride = {}>"

MMA_CHOICES = "f16 16 2, bf16 16 2, f32 8 1, i8 32 4, f8E4M3FN 32 4, f8E5M2 32 4"
MFMA_CHOICES = """
1-4 32x32x2 f32 1, 1-4 16x16x4 f32 1, 1-4 4x64x16 f32 1, 1-4 64x4x16 f32 1,
2-4 16x16x4 f64 1, 3-3 16x16x8 f32 2, 3-3 32x32x4 f32 2,
1-4 32x32x8 f16 4, 1-4 16x16x16 f16 4, 4-4 32x32x16 f16 8, 4-4 16x16x32 f16 8,
1-4 4x64x64 f16 4, 1-4 64x4x64 f16 4,
1-2 32x32x4 bf16 2, 1-2 16x16x8 bf16 2, 2-4 32x32x8 bf16 4, 2-4 16x16x16 bf16 4,
4-4 32x32x16 bf16 8, 4-4 16x16x32 bf16 8, 2-4 4x64x64 bf16 4, 2-4 64x4x64 bf16 4,
3-3 32x32x16 f8E4M3FNUZ 8, 3-3 16x16x32 f8E5M2FNUZ 8, 4-4 32x32x16 f8E4M3FN 8,
4-4 16x16x32 f8E5M2 8, 4-4 32x32x64 f8E4M3FN 16, 4-4 16x16x128 f8E5M2 16,
1-2 32x32x8 i8 4, 1-2 16x16x16 i8 4, 3-4 32x32x16 i8 8, 3-4 16x16x32 i8 8,
4-4 32x32x32 i8 16, 4-4 16x16x64 i8 16, 1-4 4x64x64 i8 4, 1-4 64x4x64 i8 4
"""
WMMA_CHOICES = """
1-1 16x16x16 f16 16, 1-1 16x16x16 bf16 16, 1-1 16x16x16 i8 16,
2-2 16x16x16 f16 8, 2-2 16x16x16 bf16 8, 2-2 16x16x16 i8 8, 2-2 16x16x16 f8E4M3FN 8,
2-2 16x16x32 i4 16, 3-3 16x16x4 f32 2, 3-3 16x16x32 f16 8, 3-3 16x16x32 bf16 8,
3-3 16x16x64 i8 8, 3-3 16x16x64 f8E4M3FN 8, 3-3 16x16x128 f8E5M2 8,
3-3 32x16x64 i8 16, 3-3 32x16x128 f8E4M3FN 16
"""
"""Versions, M x N x K, element of A and B, and kWidth of the layouts that Triton 3.9.0 chooses.

The instructions are those of its tables, MfmaGroup.cpp and WmmaGroup.cpp.  The table's bf16 of
4x64x2 is not here: K is 32 of sixteen products of 4x4x2, side by side.
"""


class Case(NamedTuple):
    """An instruction.

    Attributes:
        layout: that of D.
        tensor: its type.
        element: the element type of A and B.
        k: how much of K it takes.
        widths: the kWidth of A and of B; 0 for one that is in shared memory.
    """

    layout: str
    tensor: str
    element: str
    k: int
    widths: tuple[int, int]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def result(element: str) -> str:
    """Return the element type of D."""
    return {"i8": "i32", "i4": "i32", "f64": "f64"}.get(element, "f32")


def nvidia_cases() -> Iterator[Case]:
    choices = [one.split() for one in MMA_CHOICES.split(", ")]
    for element, k, width in choices:
        tensor = f"tensor<16x8x{result(element)}>"
        yield Case(AMPERE.format("16, 8"), tensor, element, int(k), (int(width),) * 2)
    yield Case(AMPERE.format("8, 8"), "tensor<8x8xf64>", "f64", 4, (1, 1))
    for (element, k, width), log_n in product(choices, range(3, 9)):
        tensor = f"tensor<64x{1 << log_n}x{result(element)}>"
        yield Case(HOPPER.format(f"{1 << log_n}, {k}"), tensor, element, int(k), (int(width), 0))
    for element, k, _ in choices:
        tensor = f"!ttg.memdesc<128x64x{result(element)}>"
        yield Case(TMEM.format(128, 64, 1), tensor, element, int(k), (0, 0))
    for m, log_n, stride in product((64, 128), range(3, 9), (1, 2)):
        tensor = f"!ttg.memdesc<{m}x{1 << log_n}x{'f32' if stride == 1 else 'f16'}>"
        yield Case(TMEM.format(m, 1 << log_n, stride), tensor, "f16", 16, (0, 0))


def amd_cases() -> Iterator[Case]:
    for form, choices in (MFMA, MFMA_CHOICES), (WMMA, WMMA_CHOICES):
        for one, flag in product(choices.replace("\n", " ").strip().split(", "), (False, True)):
            versions, sizes, element, width = one.split()
            m, n, k = map(int, sizes.split("x"))
            if (m == 64 and not flag) or (m == 32 > n and flag):
                continue
            first, last = map(int, versions.split("-"))
            for version in range(first, last + 1):
                layout = form.format(version, str(flag).lower(), [m, n, k])
                if element == "f64":
                    layout = layout.replace("}>", ", elementBitWidth = 64}>")
                yield Case(
                    layout, f"tensor<{m}x{n}x{result(element)}>", element, k, (int(width),) * 2
                )


def locations(layout: LinearLayout) -> dict[tuple[int, ...], list[tuple[int, int]]]:
    """Return the locations of each element: thread and register, or row and column of memory.

    Of tensor memory a basis of zeros is a row or column that nothing is in.
    """
    is_memory = "row" in layout.get_in_dim_names()
    points, numbers = np.zeros((1, len(layout.get_out_dim_names())), np.int64), np.zeros(1, int)
    for bit, vector in enumerate(v for _, vectors in layout.in_bases for v in vectors):
        if any(vector) or not is_memory:
            points = np.concatenate([points, points ^ np.array(vector)])
            numbers = np.concatenate([numbers, numbers | 1 << bit])
    slow, fast = np.divmod(numbers, 1 << len(layout.in_bases[0][1]))
    first, second = (fast, slow) if is_memory else (slow, fast)
    found = defaultdict(list)
    for point, location in zip(points.tolist(), zip(first.tolist(), second.tolist())):
        found[tuple(point)].append(location)
    return found


def drawn(case: Case, color_by: str | None = None) -> Figure:
    placed = place(parse_layout(case.layout), parse_type(case.tensor))
    return draw(DrawnLayout(placed), view="mma", operand=case.element, color_by=color_by)


def named_numbers(figure: Figure) -> dict[int, int]:
    """Return the colour of each number that the legend names; further ones repeat."""
    named = [(text.split()[-1], colour) for colour, text in figure.legend if "..." not in text]
    return {int(number): colour for number, colour in named}


def operands(case: Case) -> Iterator[tuple[str, tuple[int, ...], LinearLayout | None]]:
    """Yield the letter, the shape and the layout of A, B and D; no layout in shared memory."""
    d = parse_type(case.tensor)
    m, n = d.shape
    for number, shape in enumerate([(m, case.k), (case.k, n)]):
        width, layout = case.widths[number], None
        if width:
            dot = f"#ttg.dot_op<{{opIdx = {number}, parent = {case.layout}, kWidth = {width}}}>"
            layout = parse_layout(dot).to_linear_layout(shape)
        yield "ab"[number], shape, layout
    yield "d", d.shape, place(parse_layout(case.layout), d).layout


@pytest.mark.parametrize(
    ("sizes", "element", "width", "step"), [((16, 16, 16), "f16", 4, 4), ((16, 16, 4), "f32", 1, 0)]
)
def test_lines_stand_between_groups_of_several_elements_along_k(
    sizes: tuple[int, int, int], element: str, width: int, step: int
) -> None:
    layout = MFMA.format(3, "false", [*sizes])
    case = Case(layout, "tensor<16x16xf32>", element, sizes[2], (width, width))
    a, b, _ = drawn(case).grids
    assert (a.row_step, a.column_step, b.row_step, b.column_step) == (0, step, step, 0)


@pytest.mark.slow
@pytest.mark.parametrize("case", sampled([*nvidia_cases(), *amd_cases()], 21))
def test_every_cell_names_who_holds_it(case: Case) -> None:
    figures = drawn(case, "thread"), drawn(case, "register")
    slows, fasts = map(named_numbers, figures)
    for grid, other, (letter, shape, layout) in zip(*(f.grids for f in figures), operands(case)):
        assert grid.shape == shape
        if layout is None:
            assert (grid.colours == PLAIN).all()
            continue
        form = f"T{{}}:{letter}{{}}" if "lane" in layout.get_in_dim_names() else "R{}:C{}"
        for (row, column), held in locations(layout).items():
            colours = grid.colours[row, column], other.colours[row, column]
            assert colours in {
                (slows.get(slow, slow % COLOURS), fasts.get(fast, fast % COLOURS))
                for slow, fast in held
            }
            if grid.labels is not None:
                first, *others = re.split(r"[|+]", grid.labels[row][column])
                names = [form.format(*location) for location in held]
                assert first in names
                assert "".join(others) in (set(names) - {first} or {""}) | {str(len(held) - 1)}


def test_every_instruction_of_wmma_is_drawn() -> None:
    drawn_too = [case.layout for case in amd_cases()]
    for version, shapes in WMMA_INSTRUCTIONS.items():
        for m, n, k in shapes:
            assert any(
                f"<{{version = {version}," in one and f"[{m}, {n}, {k}]" in one for one in drawn_too
            )


def test_the_figure_of_m16n8k16_is_that_of_the_ptx_manual() -> None:
    a, b, d = (grid.labels for grid in drawn(next(nvidia_cases())).grids)
    assert a is not None
    assert b is not None
    assert d is not None
    for lane in range(32):
        group, inner = divmod(lane, 4)
        for i in range(8):
            row = group + (0 if i % 4 < 2 else 8)
            assert a[row][inner * 2 + (i & 1) + (8 if i >= 4 else 0)] == f"T{lane}:a{i}"
        for i in range(4):
            assert b[inner * 2 + (i & 1) + (8 if i >= 2 else 0)][group] == f"T{lane}:b{i}"
            assert d[group + (8 if i >= 2 else 0)][inner * 2 + (i & 1)] == f"T{lane}:d{i}"


def test_matrices_meet_where_they_are_multiplied() -> None:
    figure = drawn(next(nvidia_cases()))
    a, b, d = lay_out_figure(figure).grids
    assert (a.y, b.x) == (d.y, d.x)
    assert a.x + a.size[0] < d.x
    assert b.y + b.size[1] < d.y
    assert (a.grid.column_step, b.grid.row_step) == (8, 8)


@pytest.mark.parametrize(
    ("layout", "tensor", "step"),
    [
        (AMPERE.format("16, 8"), "tensor<16x8xf32>", 8),
        (MFMA.format(3, "false", [16, 16, 16]), "tensor<16x16xf32>", 4),
        (WMMA.format(2, "false", [16, 16, 16]), "tensor<16x16xf32>", 8),
        (WMMA.format(1, "false", [16, 16, 16]), "tensor<16x16xf32>", 0),
        (TMEM.format(64, 8, 1), "!ttg.memdesc<64x8xf32>", 0),
    ],
)
def test_strong_lines_stand_between_groups_along_k(layout: str, tensor: str, step: int) -> None:
    figure = drawn(Case(layout, tensor, "f16", 16, (0, 0)))
    a, b, d = figure.grids
    assert (a.column_step, b.row_step, d.row_step, d.column_step) == (step, step, 0, 0)
    assert (a.row_title, a.column_title, b.row_title, b.column_title) == ("m", "k", "k", "n")
    assert any("thick lines" in note for note in figure.notes) == bool(step)
    assert ('stroke-width="2"' in to_svg(figure)) == bool(step)


KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


def test_the_multiplication_of_a_dump_is_drawn(run: Run, tmp_path: Path) -> None:
    dump, out = KERNELS / "matmul-sm90.ttgir", tmp_path / "a.svg"
    lines = [
        number
        for number, text in enumerate(dump.read_text().splitlines(), 1)
        if "ttng.warp_group_dot " in text
    ]
    outcome = run("plot", "-i", str(dump), "--line", str(lines[0]), "--view", "mma", "-o", str(out))
    assert (outcome.status, outcome.err) == (0, "")
    text = out.read_text(encoding="utf-8")
    assert "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16" in text
    assert "T127:d31" in text
    outcome = run("plot", "-i", str(dump), "--line", "1", "--view", "mma", "-o", str(out))
    assert (outcome.status, outcome.out) == (2, "")
    assert f"no multiplication at that line; the file has some at lines: {lines[0]}" in outcome.err


SCALED = """
#mma = {mma}
#a = #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = 16}}>
#b = #ttg.dot_op<{{opIdx = 1, parent = #mma, kWidth = 16}}>
module attributes {{"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func @f(%a: {a}, %b: {b}, %d: tensor<32x32xf32, #mma>) {{
    %0 = tt.dot_scaled %a, %b, %d lhs = {lhs} rhs = {rhs} {{fastMath = false}} : {a} * {b} -> \
tensor<32x32xf32, #mma>
    tt.return
  }}
}}
"""
FORMATS = {"e4m3": ("f8E4M3FN", 1), "e5m2": ("f8E5M2", 1), "e2m1": ("i8", 2)}


@pytest.mark.parametrize(("lhs", "rhs"), [("e4m3", "e4m3"), ("e2m1", "e2m1"), ("e5m2", "e2m1")])
def test_a_packed_operand_has_a_cell_for_two_elements(
    run: Run, tmp_path: Path, lhs: str, rhs: str
) -> None:
    (a, of_a), (b, of_b) = FORMATS[lhs], FORMATS[rhs]
    types = f"tensor<32x{256 // of_a}x{a}, #a>", f"tensor<{256 // of_b}x32x{b}, #b>"
    dump, out = tmp_path / "a.ttgir", tmp_path / "a.svg"
    mma = MFMA.format(4, "true", [16, 16, 128])
    dump.write_text(SCALED.format(mma=mma, a=types[0], b=types[1], lhs=lhs, rhs=rhs))
    assert run("plot", "-i", str(dump), "--view", "mma", "-o", str(out)).status == 0
    text = out.read_text(encoding="utf-8")
    assert f">A (16 x {128 // of_a})<" in text
    assert f">B ({128 // of_b} x 16)<" in text
    assert ("each cell of A has 2" in text, "each cell of B has 2" in text) == (of_a > 1, of_b > 1)
    assert ": 32x32x256 " in text
    assert "v_mfma_f32_16x16x128_f8f6f4" in text


def test_scales_stand_beside_what_they_scale() -> None:
    case = Case(MFMA.format(4, "true", [16, 16, 128]), "tensor<32x32xf32>", "", 256, (16, 16))
    encodings = [
        parse_layout(f"#ttg.dot_op<{{opIdx = {number}, parent = {case.layout}, kWidth = 16}}>")
        for number in (0, 1)
    ]
    elements = "f8E4M3FN", "i8"
    a, b = (Operand(*one) for one in zip(encodings, [(32, 256), (128, 32)], elements))
    d = Operand(parse_layout(case.layout), (32, 32), "f32")
    scales = Operand(parse_layout(MFMA_SCALES), (32, 8), "i8")
    figure = product_figure(
        DrawnProduct((a, b, d), (16, 16, 128), ("x", "y"), (1, 2), (scales, scales)), None
    )
    assert [grid.shape for grid in figure.grids] == [
        (16, 128),
        (64, 16),
        (16, 16),
        (16, 4),
        (4, 16),
    ]
    placed = lay_out_figure(figure).grids
    assert [placed[0].y, placed[1].x] == [placed[3].y, placed[4].x]
    assert len({(grid.x, grid.y) for grid in placed}) == 5
    of_a, of_b = (grid.labels for grid in figure.grids[3:])
    assert of_a == [[f"T{row + 16 * block}:s0" for block in range(4)] for row in range(16)]
    assert of_b == [list(column) for column in zip(*of_a)]
    assert (figure.grids[3].column_title, figure.grids[4].row_title) == ("block", "block")
    assert any("each scale is of a block of 32 along K" in note for note in figure.notes)


@pytest.mark.parametrize(
    ("layout", "tensor", "message"),
    [
        (AMPERE.format("16, 8").replace("Major = 2", "Major = 1"), "tensor<16x8xf32>", "Volta"),
        (MFMA.format(1, "false", [4, 64, 2]), "tensor<4x64xf32>", "only 2 of K"),
        ("#ttng.tensor_memory_scales_encoding<>", "!ttg.memdesc<64x8xi8>", "K"),
        (BATCH, "tensor<2x16x8xf32>", "rank 3"),
    ],
)
def test_what_is_no_result_is_refused(layout: str, tensor: str, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        drawn(Case(layout, tensor, "f16", 0, (0, 0)))
    with pytest.raises(LayoutError, match="coloured by lane, warp, thread, register"):
        drawn(next(nvidia_cases()), "bank")
