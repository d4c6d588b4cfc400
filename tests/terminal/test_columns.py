"""Columns, legends and brackets of views on terminals."""

from __future__ import annotations

import os
import re

import pytest
from command import Run, runner

from tt_layout import LayoutError, parse_layout
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.mlir.types import parse_type
from tt_layout.placement import place
from tt_layout.terminal.options import DisplayOptions
from tt_layout.terminal.present import Presentation
from tt_layout.views.distributed import tensor_view
from tt_layout.views.frames import Brackets
from tt_layout.views.kinds import KINDS
from tt_layout.views.printed import print_view
from tt_layout.views.request import ViewRequest
from tt_layout.views.view import BareLayout


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


WIDE = (
    "#ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], "
    "order = [1, 0]}>"
)


def test_numbers_of_columns_that_would_touch_are_left_out(run: Run) -> None:
    arguments = "-l", WIDE, "-t", "tensor<32x128xf16>", "--compact", "--header"
    lines = run(*arguments, "--slice", "0:2,98:104").out.splitlines()[1:]
    assert lines == [
        "dim0   98 99 100   102",
        "   0 [ 0  0  0  0  0  0  ]",
        "   1 [ 1  1  1  1  1  1  ]",
    ]


@pytest.mark.parametrize(
    ("color_by", "last"),
    [
        ("warp", " ... 15"),
        ("lane", " ... 31"),
        ("thread", " ... 511 (repeats every 32)"),
    ],
)
def test_a_legend_says_that_colours_repeat(color_by: str, last: str, run: Run) -> None:
    layout = WIDE.replace("[1, 128]", "[1, 1]").replace("[32, 1]", "[1, 32]")
    layout = layout.replace("warpsPerCTA = [1, 1]", "warpsPerCTA = [4, 4]")
    shown = ("--legend", "--color", "always", "--color-by", color_by)
    out = run("-l", layout, "-t", "tensor<4x128xf16>", *shown).out
    assert out.splitlines()[-1].endswith(f"\x1b[0m{last}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "shown"), [(12, 1), (20, 2), (30, 3), (34, 4), (42, 4), (60, 4), (66, 8), (72, 8)]
)
def test_more_columns_than_four_are_shown_by_fours(width: int, shown: int) -> None:
    layout = WIDE.replace("[1, 128]", "[2, 2]").replace("[32, 1]", "[4, 8]")
    placed = place(parse_layout(layout), parse_type("tensor<8x64xf16>"))
    printed = print_view(ViewRequest(placed, KINDS["tensor"]))
    terminal = os.terminal_size((width, 24))
    text = b"".join(Presentation([printed], DisplayOptions(), terminal).chunks())
    columns = f"0-{shown - 1}" if shown > 1 else "0"
    assert re.findall(rb"^dim1 .*$", text, re.M)[0].decode() == f"dim1 {columns} of 64"


def test_compact_names_the_cta_where_there_are_two(run: Run) -> None:
    layout = WIDE.replace("[1, 128]", "[1, 1]").replace("[32, 1]", "[1, 32]")
    two = layout.replace("}>", ", CGALayout = [[1, 0]]}>")
    lines = run("-l", two, "-t", "tensor<2x32xf16>", "--compact").out.splitlines()[1:]
    assert [re.findall(r"B\d:\d+", line) for line in lines] == [
        [f"B{block}:{lane}" for lane in range(32)] for block in range(2)
    ]


def test_a_view_is_of_a_tensor() -> None:
    nothing = LinearLayout.from_bases([("register", [])], [])
    with pytest.raises(LayoutError, match="at least one output dimension"):
        tensor_view(BareLayout(nothing))


def test_lines_that_close_no_outer_bracket_have_no_fillers() -> None:
    brackets = Brackets((4, 2, 4))
    assert [brackets.closing_width(line, 1) for line in range(8)] == [2, 3, 2, 3, 2, 3, 2, 4]
    assert not any(brackets.has_fillers(line, 1) for line in range(8))
