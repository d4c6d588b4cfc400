"""A matrix instruction in one figure: each cell names who holds its element."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from command import Run, runner

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.instruction_operands import operands_of
from tt_layout.encodings.instruction_tiles import WMMA_INSTRUCTIONS
from tt_layout.encodings.parsing import parse_layout
from tt_layout.errors import LayoutError
from tt_layout.figures.drawing import draw
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.figures.model import PLAIN, Figure
from tt_layout.figures.page_layout import lay_out_figure
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
MFMA = (
    "#ttg.amd_mfma<{{version = {}, warpsPerCTA = [1, 1], instrShape = [{}, {}, {}], "
    "isTransposed = {}}}>"
)
WMMA = (
    "#ttg.amd_wmma<{{version = {}, isTranspose = {}, ctaLayout = {{warp = []}}, instrShape = {}}}>"
)

BATCH = AMPERE.format("1, 16, 8").replace("[1, 1]", "[1, 1, 1]")

Case = tuple[str, str, str]
"""The layout of D, its type, and the element type of A and B."""


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def cases() -> Iterator[Case]:
    for element, result in [("f16", "f32"), ("f32", "f32"), ("i8", "i32")]:
        yield AMPERE.format("16, 8"), f"tensor<16x8x{result}>", element
    yield AMPERE.format("8, 8"), "tensor<8x8xf64>", "f64"
    for n, k, element in [(8, 16, "f16"), (64, 16, "bf16"), (32, 32, "f8E4M3FN"), (16, 8, "f32")]:
        yield HOPPER.format(f"{n}, {k}"), f"tensor<64x{n}xf32>", element
    sizes = [(3, 32, 32, 8, "f16"), (3, 16, 16, 16, "f16"), (3, 16, 16, 4, "f32"),
             (3, 32, 32, 16, "i8"), (4, 32, 32, 16, "bf16"), (4, 16, 16, 32, "f16"),
             (4, 16, 16, 128, "f8E4M3FN"), (3, 16, 16, 32, "f8E4M3FNUZ")]  # fmt: skip
    for (version, m, n, k, element), transposed in product(sizes, ("false", "true")):
        result = "i32" if element == "i8" else "f32"
        yield MFMA.format(version, m, n, k, transposed), f"tensor<{m}x{n}x{result}>", element
    for version, shapes in WMMA_INSTRUCTIONS.items():
        for (m, n, k), transposed in product(sorted(shapes), ("false", "true")):
            element = {4: "f32", 16: "f16", 32: "f16"}.get(k, "i8")
            tensor = f"tensor<{m}x{n}xf32>"
            yield WMMA.format(version, transposed, [m, n, k]), tensor, element


def holders(layout: LinearLayout, letter: str) -> dict[tuple[int, ...], set[str]]:
    """Return who holds each element, one location after the other."""
    found: dict[tuple[int, ...], set[str]] = {}
    sizes = {name: layout.get_in_dim_size(name) for name in ("register", "lane", "warp")}
    for register, lane, warp in product(*(range(size) for size in sizes.values())):
        where = layout.apply({"register": register, "lane": lane, "warp": warp, "block": 0})
        thread = lane + sizes["lane"] * warp
        found.setdefault(tuple(where.values()), set()).add(f"T{thread}:{letter}{register}")
    return found


def drawn(case: Case, color_by: str | None = None) -> Figure:
    layout, tensor, element = case
    placed = place(parse_layout(layout), parse_type(tensor))
    return draw(DrawnLayout(placed), view="mma", operand=element, color_by=color_by)


@pytest.mark.parametrize("case", list(cases()))
def test_every_cell_names_who_holds_it(case: Case) -> None:
    figure = drawn(case)
    layout, tensor, element = case
    d_type = parse_type(tensor)
    operands = operands_of(parse_layout(layout), d_type.shape, d_type.element_type, element)[:3]
    for grid, letter, operand in zip(figure.grids, "abd", operands):
        if operand is None:
            assert (grid.colours == PLAIN).all()
            continue
        assert grid.shape == operand.shape
        assert grid.labels is not None
        expected = holders(operand.encoding.to_linear_layout(operand.shape), letter)
        for row, labels in enumerate(grid.labels):
            for column, label in enumerate(labels):
                named = set(re.findall(r"T\d+:[abd]\d+", label))
                count = len(named) + int((re.findall(r"\+(\d+)", label) or ["0"])[0])
                held = expected[row, column]
                assert named <= held, (letter, row, column)
                assert count == len(held), (letter, row, column)


def test_the_figure_of_m16n8k16_is_that_of_the_ptx_manual() -> None:
    a, b, d = (grid.labels for grid in drawn(next(cases())).grids)
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
    figure = drawn(next(cases()))
    a, b, d = lay_out_figure(figure).grids
    assert (a.y, b.x) == (d.y, d.x)
    assert a.x + a.size[0] < d.x
    assert b.y + b.size[1] < d.y
    assert (a.grid.column_step, b.grid.row_step) == (8, 8)


KERNELS = Path(__file__).parent.parent / "examples" / "kernels"


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


@pytest.mark.parametrize(
    ("layout", "tensor", "message"),
    [
        (AMPERE.format("16, 8").replace("Major = 2", "Major = 1"), "tensor<16x8xf32>", "K"),
        ("#ttng.tensor_memory_scales_encoding<>", "!ttg.memdesc<64x8xi8>", "K"),
        (BATCH, "tensor<2x16x8xf32>", "rank 3"),
    ],
)
def test_what_is_no_result_is_refused(layout: str, tensor: str, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        drawn((layout, tensor, "f16"))
    with pytest.raises(LayoutError, match="coloured by lane, warp, thread, register"):
        drawn(next(cases()), "bank")
