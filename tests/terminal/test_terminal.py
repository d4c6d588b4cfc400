"""Colours, margins and compact text: on terminals, and never where there is none."""

from __future__ import annotations

import io
import os
import re
from itertools import product
from pathlib import Path

import pytest
from click import unstyle
from command import BLOCKED, TYPE, Run, runner
from terminals import ESCAPE, on_terminal, screen
from tiers import sampled, slow

from tt_layout.encodings.parsing import parse_layout
from tt_layout.folding import fold
from tt_layout.mlir.types import parse_type
from tt_layout.placement import place
from tt_layout.reports.writing import terminal_columns as columns_of_stream
from tt_layout.terminal.options import DisplayOptions
from tt_layout.terminal.present import Presentation, colouring, is_linear, paint, paint_lines
from tt_layout.views import box, frames
from tt_layout.views.kinds import KINDS
from tt_layout.views.printed import print_view
from tt_layout.views.request import ViewRequest
from tt_layout.views.selection import EVERYTHING, Selection

pytest.importorskip("pty")

ROOT = Path(__file__).parents[2]
SEED = (
    "#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], "
    "warpsPerCTA = [1, 2], order = [1, 0]}>"
)
"""The first example of blocked layouts in Triton's definitions of attributes."""

SWIZZLED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>"
PADDED = "#ttg.padded_shared<[16:+4] {order = [1, 0], shape = [4, 16]}>"
SLICE = (
    "#ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 4], "
    "threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>}>"
)
DEEP = (
    "#ttg.blocked<{sizePerThread = [1, 1, 1, 2], threadsPerWarp = [2, 2, 2, 4], "
    "warpsPerCTA = [1, 1, 2, 2], order = [3, 2, 1, 0]}>"
)
SCALES = "#ttng.tensor_memory_scales_encoding<>"
PART = Selection(((3, 9), (5, 21)))

VIEWS = [
    (SEED, "tensor<16x16xf16>", ()),
    (SEED, "tensor<16x16xf16>", ("--slice", "3:9,2:5")),
    (SEED, "tensor<4x8xf16>", ()),
    (SEED, "tensor<16x16xf16>", ("--use-hw-view", "--warp", "1", "--lane", "3:9")),
    (SWIZZLED, "!ttg.memdesc<8x16xf16>", ()),
    (SWIZZLED, "!ttg.memdesc<8x16xf16>", ("--slice", "2:4,3:9")),
    (SWIZZLED, "!ttg.memdesc<8x16xf16>", ("--use-hw-view",)),
    (PADDED, "!ttg.memdesc<3x4x16xf16>", ()),
    (PADDED, "!ttg.memdesc<3x4x16xf16>", ("--use-hw-view", "--offset", "14:22")),
    (SCALES, "!ttg.memdesc<64x4xi8>", ()),
    (SCALES, "!ttg.memdesc<64x4xi8>", ("--use-hw-view",)),
]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


@pytest.mark.parametrize(("layout", "tensor", "more"), VIEWS)
def test_colours_change_nothing_else(
    run: Run, layout: str, tensor: str, more: tuple[str, ...]
) -> None:
    plain = run("-l", layout, "-t", tensor, *more)
    coloured = run("-l", layout, "-t", tensor, *more, "--color", "always")
    assert coloured.status == 0
    assert "\x1b[" in coloured.out
    assert unstyle(coloured.out) == plain.out


@pytest.mark.parametrize("narrow", [(), ("--slice", "0:12,0:6"), ("--compact",)])
@pytest.mark.parametrize(("layout", "tensor"), [(SEED, "16x64xf16"), (BLOCKED, "64x8xf16")])
def test_coordinates_change_no_colour(
    run: Run, layout: str, tensor: str, narrow: tuple[str, ...]
) -> None:
    command = "-l", layout, "-t", tensor, "--color", "always", *narrow
    bare, numbered = (
        [line for line in run(*command, *more).out.splitlines() if "\x1b[" in line]
        for more in ((), ("--header",))
    )
    assert len(bare) == len(numbered) >= 12
    assert all(below.endswith(line) for below, line in zip(numbered, bare))


def test_a_pipe_gets_plain_text(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    expected = run("-l", BLOCKED, "-t", TYPE, "--color", "never")
    assert "\x1b" not in expected.out
    assert run("-l", BLOCKED, "-t", TYPE) == expected
    assert run("-l", BLOCKED, "-t", TYPE, "--color-by", "lane") == expected


def test_a_terminal_gets_colours() -> None:
    status, shown, told = on_terminal("-l", BLOCKED, "-t", TYPE)
    assert (status, told) == (0, "")
    assert b"\x1b[38;5;16;48;5;069mT0:0, T0:1, " in shown
    assert b"[ T6:0, T6:1, T7:0, T7:1]]\nlegend: " in ESCAPE.sub(b"", shown)


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [((), {"NO_COLOR": "1"}), slow(("--color", "never"), {}), slow((), {"TERM": "dumb"})],
)
def test_colours_can_be_refused(arguments: tuple[str, ...], variables: dict[str, str]) -> None:
    _, shown, _ = on_terminal(
        "-l", BLOCKED, "-t", TYPE, *arguments, columns=200, shows_errors=False, **variables
    )
    assert b"\x1b" not in shown
    assert b"T7:1]]" in shown


@pytest.mark.slow
def test_a_file_gets_plain_text_even_from_a_terminal(tmp_path: Path) -> None:
    for number, more in enumerate([(), ("--legend",)]):
        out = tmp_path / str(number)
        on_terminal("-l", BLOCKED, "-t", TYPE, "-o", str(out), *more)
        assert b"\x1b" not in out.read_bytes()


REPLICATED = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)
TITLE = re.compile(r"(dim1|lane) (\d+)(?:-(\d+))? of (\d+)")
LEGEND = re.compile(r"(legend|colour): ")
SCREENS = (80, 100, 120, 200)


def joined(shown: bytes, heading_lines: int) -> tuple[list[str], list[range]]:
    """Return the lines of a view of which a terminal shows parts, and the columns of each part."""
    found: dict[str, list[str]] = {}
    columns: list[range] = []
    lines = ESCAPE.sub(b"", shown).decode().splitlines()[heading_lines:]
    row, section = 0, ""
    for line in (line for line in lines if not LEGEND.match(line)):
        if match := TITLE.fullmatch(line):
            first, last = int(match[2]), int(match[3] or match[2])
            columns.append(range(first, last + 1))
            row = 0
        elif line.startswith("Warp"):
            section, row = line, 0
            found.setdefault(section, [])
        else:
            cells = re.findall(r"\([^)]*\)|[^\s,()][^,()]*", line.strip("[]"))
            found.setdefault(f"{section}{row}", []).extend(cell.strip() for cell in cells)
            row += 1
    return [f"{name}: {', '.join(cells)}" for name, cells in found.items()], columns


@pytest.mark.slow
@pytest.mark.parametrize("columns", sampled(SCREENS, 2))
@pytest.mark.parametrize("more", [(), ("--use-hw-view", "--warp", "1:3")])
def test_a_terminal_shows_every_column(run: Run, columns: int, more: tuple[str, ...]) -> None:
    arguments = "-l", REPLICATED, "-t", "tensor<16x16xf16>", *more, "--no-pager"
    status, shown, told = on_terminal(*arguments, columns=columns)
    text = ESCAPE.sub(b"", shown).decode()
    assert (status, told) == (0, "")
    assert max(map(len, text.splitlines())) <= columns
    heading = len(fold(f"Print layout attribute: {REPLICATED}", columns).splitlines())
    whole, parts = joined(shown, heading)
    assert whole == joined(run(*arguments).out.encode(), 1)[0]
    size = max(map(len, parts), default=0)
    assert size % 4 == 0
    assert len(parts) > 1


@pytest.mark.slow
def test_parts_are_of_one_width_and_say_what_they_show() -> None:
    arguments = "-l", REPLICATED, "-t", "tensor<16x16xf16>"
    for columns, titles in ((80, ["0-3", "4-7", "8-11", "12-15"]), (200, ["0-7", "8-15"])):
        _, shown, _ = on_terminal(*arguments, columns=columns)
        found = re.findall(r"^dim1 (.*) of 16$", ESCAPE.sub(b"", shown).decode(), re.M)
        assert found == titles


WMMA = "#ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[0, 1], [1, 0]]}}>"


@pytest.mark.parametrize("width", SCREENS)
@pytest.mark.parametrize("view", ["tensor", "hardware"])
@pytest.mark.parametrize("tensor", ["tensor<16x16xf16>", slow("tensor<8x16xf32>")])
def test_no_column_is_left_alone(view: str, tensor: str, width: int) -> None:
    """Five blocks of three columns were once followed by one of a single column."""
    placed = place(parse_layout(WMMA), parse_type(tensor))
    printed = print_view(ViewRequest(placed, KINDS[view]))
    text = b"".join(Presentation([printed], DisplayOptions(), screen(width)).chunks()).decode()
    titles = [match for line in text.splitlines() if (match := TITLE.fullmatch(line))]
    sizes = {int(match[3] or match[2]) - int(match[2]) + 1 for match in titles}
    assert not sizes or min(sizes) >= max(sizes) - 1 or min(sizes) % 4 == 0


WIDTHS = (1, 7, 24, 40, 80, 200)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "tensor"),
    [
        (BLOCKED, TYPE),
        slow(SEED, "tensor<16x64xf16>"),
        (SLICE, "tensor<64xf16>"),
        slow(DEEP, "tensor<2x4x8x16xf32>"),
        (SWIZZLED, "!ttg.memdesc<3x8x16xf16>"),
        (PADDED, "!ttg.memdesc<4x16xf16>"),
        (SCALES, "!ttg.memdesc<64x4xi8>"),
    ],
)
def test_no_line_is_wider_than_the_terminal(layout: str, tensor: str) -> None:
    placed = place(parse_layout(layout), parse_type(tensor))
    kinds = [kind for kind in KINDS.values() if placed.memory_space in kind.makers]
    for kind, header, width in product(kinds, [False, True], WIDTHS):
        printed = print_view(ViewRequest(placed, kind))
        options = DisplayOptions(color="always", header=header, legend=True)
        text = b"".join(Presentation([printed], options, screen(width)).chunks()).decode()
        assert max(map(len, unstyle(text).splitlines())) <= width


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "more", "is_paged"), [(22, (), True), (23, (), False), (22, ("--no-pager",), False)]
)
def test_more_than_three_screens_go_through_a_pager(
    rows: int, more: tuple[str, ...], is_paged: bool
) -> None:
    """67 lines are more than three screens of 22 lines, and less than three of 23."""
    arguments = "-l", SEED, "-t", "tensor<64x4xf16>", *more
    status, shown, _ = on_terminal(*arguments, LINES=str(rows), PAGER="sed s/^/paged:/")
    lines = shown.decode().splitlines()
    assert (status, len(lines)) == (0, 67)
    assert {line.startswith("paged:") for line in lines} == {is_paged}


def test_a_pager_gets_whole_lines(run: Run) -> None:
    arguments = "-l", REPLICATED, "-t", "tensor<128x128xf16>"
    _, shown, _ = on_terminal(*arguments, columns=80, PAGER="cat")
    text = ESCAPE.sub(b"", shown).decode()
    assert text.startswith(run(*arguments).out)
    assert "\ncolour: warp 0, " in text


def test_less_shows_all_of_a_line_sideways(tmp_path: Path) -> None:
    """Nothing is lost where ``less`` may quit by itself: it is told not to."""
    fake = tmp_path / "less"
    fake.write_text('#!/bin/sh\necho "LESS=$LESS"\ncat > /dev/null\n')
    fake.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    arguments = "-l", REPLICATED, "-t", "tensor<128x128xf16>"
    _, shown, _ = on_terminal(*arguments, PATH=path, PAGER="less", LESS="-F -X")
    assert shown == b"LESS=-F -X -R -S -+F\n"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["false", "sh -c 'exit 3'", "no-such-pager", "'"])
def test_a_pager_that_fails_costs_a_note_at_most(command: str, run: Run) -> None:
    arguments = "-l", SEED, "-t", "tensor<256x256xf16>"
    status, shown, told = on_terminal(*arguments, columns=4000, PAGER=command)
    assert status == 0
    if told:
        assert re.fullmatch(r"note: the pager failed with status \d: .*; --no-pager .*\n", told)
    else:
        assert ESCAPE.sub(b"", shown).decode().startswith(run(*arguments).out)


@pytest.mark.slow
def test_a_pager_that_is_closed_ends_nothing_else() -> None:
    arguments = "-l", SEED, "-t", "tensor<1024x1024xf16>"
    status, shown, told = on_terminal(*arguments, PAGER="head -n 2")
    assert (status, told) == (0, "")
    assert len(shown.splitlines()) == 2


def test_a_column_that_is_too_wide_goes_on_below() -> None:
    arguments = "-l", SEED, "-t", "tensor<2x2xf16>"
    _, shown, told = on_terminal(*arguments, columns=20)
    text = ESCAPE.sub(b"", shown).decode()
    assert max(map(len, text.splitlines())) <= 20
    assert told == ""
    holders = {f"T{thread}:{register}" for thread in range(64) for register in range(4)}
    assert holders <= set(re.findall(r"T\d+:\d", re.sub(r"\s", "", text)))


def test_places_of_shared_memory_are_shown_on_a_terminal(run: Run) -> None:
    arguments = "-l", SWIZZLED, "-t", "!ttg.memdesc<8x16xf16>", "--use-hw-view"
    status, shown, told = on_terminal(*arguments)
    assert (status, told) == (0, "")
    assert ESCAPE.sub(b"", shown).decode().startswith(run(*arguments).out)


def test_what_goes_on_below_keeps_its_colours() -> None:
    tensor = parse_type("!ttg.memdesc<4x16xf16>")
    printed = print_view(ViewRequest(place(parse_layout(PADDED), tensor), KINDS["hardware"]))
    options = DisplayOptions(color="always")
    whole, folded = (
        b"".join(Presentation([printed], options, screen(width)).chunks()) for width in (None, 17)
    )
    for text in (whole, folded):
        assert len(ESCAPE.findall(text)) > 64
    cells, parts = (text.partition(b"Offset")[2] for text in (whole, folded))
    assert cell_colours(parts) == cell_colours(cells)


@pytest.mark.slow
def test_a_long_heading_goes_on_below_itself() -> None:
    _, shown, _ = on_terminal("-l", SLICE, "-t", "tensor<64xf16>", "--legend", columns=80)
    lines = ESCAPE.sub(b"", shown).decode().splitlines()
    assert lines[:3] == [
        "Print layout attribute: #ttg.slice<{dim = 1,",
        "    parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8],",
        "    warpsPerCTA = [4, 1], order = [1, 0]}>}>",
    ]
    assert lines[-3:] == [
        "legend: T<thread>:<register>, | between several holders;",
        "    4 warps of 32 lanes with 4 registers",
        "colour: warp 0, warp 1, warp 2, warp 3",
    ]


def test_folding_changes_nothing_but_spaces() -> None:
    texts = f"Print layout attribute: {SLICE}", "note: see --slice :,8:16; or -h"
    for text, width in product(texts, range(1, 100)):
        folded = fold(text, width)
        assert re.sub(r"\s", "", folded) == text.replace(" ", "")
        assert max(map(len, folded.splitlines())) <= width
        assert all(line == line.rstrip() for line in folded.splitlines())


def test_a_line_ends_behind_an_open_brace_rather_than_behind_an_equals_sign() -> None:
    folded = fold(
        "tensor<128x64xf32, #ttg.slice<{dim = 1, parent = #ttg.blocked<{order = [1, 0]}>}>>",
        26,
    )
    assert folded == (
        "tensor<128x64xf32,\n   #ttg.slice<{dim = 1,\n   parent = #ttg.blocked<{\n"
        "   order = [1, 0]}>}>>"
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("long_name{(<b c>)}({<d", "long_other>})"),
        ("long_name{(<b", "c>)}[(d long_other)]"),
        ("long_name[b c][d", "long_other]"),
        ("long_name[[b", "c]][{[d long_other]}]"),
    ],
)
def test_a_square_bracket_weighs_as_much_as_two_round_ones_or_braces_or_four_angles(
    first: str, second: str
) -> None:
    """A line ends in the lightest brackets, behind the last word within as light ones."""
    whole = f"{first} {second}"
    assert fold(whole, len(whole) - 4).split("\n")[0] == first


def test_a_row_that_was_cut_is_cut_again_where_it_is_too_long() -> None:
    row = "  + a b c d e..."
    assert [fold(row, width) for width in (17, 16, 12)] == [row, row, "  + a b c..."]


def test_colours_take_no_room_in_a_folded_line() -> None:
    coloured = ", ".join(f"\x1b[38;5;27mwarp {number}\x1b[0m" for number in range(8))
    folded = fold(coloured, 30)
    assert unstyle(folded) == fold(unstyle(coloured), 30)
    assert re.sub(r"\n +", " ", folded) == coloured


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "more", "variables", "is_shown"),
    [
        (80, (), {}, True),
        (80, ("--color", "never"), {}, False),
        (80, (), {"NO_COLOR": "1"}, False),
        (12, (), {}, False),
        (12, ("--legend",), {}, True),
    ],
)
def test_colours_have_a_legend_where_there_is_room(
    columns: int, more: tuple[str, ...], variables: dict[str, str], is_shown: bool
) -> None:
    arguments = "-l", SEED, "-t", "tensor<4x4xf16>", *more
    _, shown, _ = on_terminal(*arguments, columns=columns, shows_errors=False, **variables)
    assert (b"legend:" in ESCAPE.sub(b"", shown)) == is_shown


def test_one_warp_is_coloured_by_lane() -> None:
    one = SEED.replace("[1, 2], order", "[1, 1], order")
    _, shown, _ = on_terminal("-l", one, "-t", "tensor<16x8xf16>")
    assert b"lane 0\x1b[0m, " in shown


def test_an_audit_ends_with_the_command_for_its_page() -> None:
    path = str(ROOT / "examples" / "kernels" / "softmax-sm90.ttgir")
    _, shown, _ = on_terminal("audit", path, columns=200)
    last = ESCAPE.sub(b"", shown).decode().splitlines()[-1]
    assert last == f"as a page: tt-layout page {path} -o softmax-sm90.html"


def test_a_terminal_that_does_not_tell_its_width_has_the_usual_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **__: os.terminal_size((0, 0)))
    stream = io.StringIO()
    assert columns_of_stream(stream) is None
    monkeypatch.setattr(stream, "isatty", lambda: True)
    assert columns_of_stream(stream) == 80


def test_compact_is_the_diagram_of_the_seed(run: Run) -> None:
    lines = run("-l", SEED, "-t", "tensor<16x16xf16>", "--compact").out.splitlines()[1:]
    assert lines[0] == lines[1] == "[ 0  0  1  1  2  2  3  3  ; 32 32 33 33 34 34 35 35 ]"
    assert lines[2] == lines[3] == "[ 4  4  5  5  6  6  7  7  ; 36 36 37 37 38 38 39 39 ]"
    assert lines[-1] == "[ 28 28 29 29 30 30 31 31 ; 60 60 61 61 62 62 63 63 ]"


def test_compact_names_all_holders(run: Run) -> None:
    outcome = run("-l", BLOCKED, "-t", "tensor<2x4xf16>", "--compact")
    assert outcome.out.splitlines()[1] == "[ {0,4} {0,4} {1,5} {1,5} ]"


def test_header_names_rows_and_columns(run: Run) -> None:
    lines = run("-l", BLOCKED, "-t", TYPE, "--header", "--slice", "1:3,2:4").out.splitlines()[1:]
    assert lines == ["dim0      2     3", "   1 [[T3:0, T3:1]", "   2 [ T5:0, T5:1]]"]


def test_header_names_registers_and_lanes(run: Run) -> None:
    lines = run("-l", BLOCKED, "-t", TYPE, "--header", "--use-hw-view").out.splitlines()[1:4]
    assert lines == [
        "Warp0:",
        "register     0      1      2      3",
        "       0 (0,0), (0,2), (1,0), (1,2)",
    ]


def test_header_numbers_the_columns_of_shared_memory(run: Run) -> None:
    more = "--header", "--slice", "2:4,3:6"
    lines = run("-l", SWIZZLED, "-t", "!ttg.memdesc<8x16xf16>", *more).out.splitlines()
    assert lines[1:] == [
        "dim0        3      4      5",
        "   2 [[(2: 1),(2: 6),(2: 7)]",
        "   3 [ (3: 0),(3: 7),(3: 6)]]",
    ]


@pytest.mark.slow
def test_columns_that_fit_beside_the_longest_row_number_are_not_cut() -> None:
    selection = Selection(slices=((9998, 10002), None))
    tensor = parse_type("tensor<16384x4xf16>")
    printed = print_view(ViewRequest(place(parse_layout(BLOCKED), tensor), selection=selection))
    for width in range(24, 60):
        options = DisplayOptions("never", header=True)
        text = b"".join(Presentation([printed], options, screen(width)).chunks())
        lines = [line for line in text.splitlines() if re.search(rb"T\d+:", line)]
        assert all(re.match(rb" *\d+ \[", line) for line in lines)


def test_header_numbers_the_columns_of_tensor_memory(run: Run) -> None:
    more = "--header", "--use-hw-view", "--row", "2:4", "--column", "0:3"
    out = run("-l", SCALES, "-t", "!ttg.memdesc<64x4xi8>", *more).out
    assert out.splitlines()[1:] == [
        "             0       1       2",
        "Row  2: ( 2,0), ( 2,1), ( 2,2)",
        "Row  3: ( 3,0), ( 3,1), ( 3,2)",
    ]


def test_no_option_adds_to_a_plain_view() -> None:
    request = ViewRequest(place(parse_layout(BLOCKED), parse_type(TYPE)))
    printed = print_view(request)
    text = b"".join(Presentation([printed], DisplayOptions()).chunks())
    assert text == b"".join([printed.heading, *request.view().chunks(), printed.ending])


def test_legend_explains_notation_and_colours(run: Run) -> None:
    plain = run("-l", BLOCKED, "-t", TYPE, "--legend").out.splitlines()[-1]
    assert plain.startswith("legend: T<thread>:<register>")
    coloured = run("-l", BLOCKED, "-t", TYPE, "--legend", "--color", "always").out
    assert "\x1b[38;5;16;48;5;069mwarp 0\x1b[0m, \x1b[38;5;16;48;5;215mwarp 1\x1b[0m" in coloured


def test_colours_follow_the_group(run: Run) -> None:
    out = run("-l", BLOCKED, "-t", TYPE, "--color", "always", "--color-by", "register").out
    assert "\x1b[38;5;16;48;5;069mT7:0" in out
    assert "\x1b[38;5;16;48;5;215mT7:1" in out


def cell_colours(text: bytes) -> list[tuple[str, str]]:
    """Return the characters of cells, each with the colour that it has."""
    colour, found = "", []
    for part in re.split(r"(\x1b\[[0-9;]*m)", text.decode()):
        if part.startswith("\x1b"):
            colour = part.removesuffix("\x1b[0m")
        else:
            found += [(c, colour) for c in part if c.isalnum()]
    return found


@pytest.mark.parametrize("color_by", ["warp", "lane", "thread", "register", "row", "column"])
def test_colours_of_whole_lines_are_those_of_every_cell(color_by: str) -> None:
    placed = place(parse_layout(SEED), parse_type("tensor<32x32xf16>"))
    for kind, part in [("tensor", EVERYTHING), ("hardware", EVERYTHING), ("tensor", PART)]:
        request = ViewRequest(placed, KINDS[kind], part)
        view = request.view()
        colours_of = colouring(view, placed, color_by)
        assert is_linear(view, placed)
        lines = b"".join(paint_lines(view, colours_of))
        cells = b"".join(paint(view.pieces(), view, colours_of))
        assert cell_colours(lines) == cell_colours(cells)
        assert unstyle(lines.decode()) == view.text()


def test_colours_of_long_runs_take_little_room() -> None:
    placed = place(parse_layout(SEED), parse_type("tensor<256x256xf16>"))
    view = ViewRequest(placed).view()
    painted = b"".join(paint_lines(view, colouring(view, placed, "warp")))
    assert len(painted) < 1.5 * view.size


@pytest.mark.parametrize(
    "arguments",
    [
        (str(ROOT / "examples" / "blocked.mlir"), "-t", "tensor<32x32xf16>"),
        (str(ROOT / "examples" / "kernels" / "matmul-sm90.ttgir"), "--alias-names", "shared"),
    ],
)
def test_colours_of_a_dump(run: Run, arguments: tuple[str, ...]) -> None:
    plain = run("-i", *arguments)
    coloured = run("-i", *arguments, "--color", "always")
    assert "\x1b[" in coloured.out
    assert unstyle(coloured.out) == plain.out


def test_types_that_differ_in_their_elements_share_a_view(run: Run) -> None:
    text = run("-i", str(ROOT / "examples" / "kernels" / "matmul-sm90.ttgir")).out
    headings = re.findall(r"^Print layout attribute: #(\w+) = .* on (.*)$", text, re.M)
    types = [types.split(" (")[0].split(", ") for _, types in headings]
    assert ["tensor<128x32xi32>", "tensor<128x32x!tt.ptr<f16>>", "tensor<128x32xi1>"] in types
    shapes = [
        (name, re.match(r"[\w<]*?<(?:\d+x)*", one[0])) for (name, _), one in zip(headings, types)
    ]
    assert len({(name, shape and shape[0]) for name, shape in shapes}) == len(headings)
    assert "memdesc<3x128x32xf16> (each of the 3 buffers" in text


def test_colours_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of lines get the same colours as whole ones, and nothing but a piece is kept."""
    request = ViewRequest(place(parse_layout(SEED), parse_type("tensor<16x16xf16>")))
    view = request.view()
    colours_of = colouring(view, request.placed, "warp")
    whole = b"".join(paint_lines(view, colours_of))
    monkeypatch.setattr(box, "ROW_BYTES", 32)
    monkeypatch.setattr(frames, "BLOCK_BYTES", 64)
    view = request.view()
    for painted in (
        list(paint_lines(view, colours_of)),
        list(paint(view.pieces(), view, colours_of)),
    ):
        assert len(painted) == 32
        assert cell_colours(b"".join(painted)) == cell_colours(whole)


@pytest.mark.parametrize(
    ("layout", "tensor", "arguments", "message"),
    [
        (BLOCKED, TYPE, ("--color-by", "bank", "--color", "always"), "--color-by bank"),
        (SWIZZLED, "!ttg.memdesc<8x16xf16>", ("--compact",), "--compact shows threads"),
        (BLOCKED, TYPE, ("--compact", "--use-hw-view"), "leave --use-hw-view out"),
        (BLOCKED, TYPE, ("--color", "pink"), "'pink' is not one of"),
    ],
)
def test_options_that_do_not_suit_are_refused(
    run: Run, layout: str, tensor: str, arguments: tuple[str, ...], message: str
) -> None:
    outcome = run("-l", layout, "-t", tensor, *arguments)
    assert outcome.status == 2
    assert message in outcome.err


def test_a_dump_without_a_view_has_nothing_to_colour(run: Run) -> None:
    outcome = run("-i", "-", "--compact", stdin=f"#a = {BLOCKED}\nmodule {{\n}}\n".encode())
    assert outcome.status == 2
    assert "this view has no colours and no thread numbers" in outcome.err


def test_types_of_one_shape_share_a_view(run: Run, tmp_path: Path) -> None:
    dump = tmp_path / "a.ttgir"
    types = ("tensor<4x4xf16", "tensor<4x4xi32", "tensor<4x4x!tt.ptr<f16>", "tensor<4x8xf16")
    values = ", ".join(f"%{number}: {text}, #a>" for number, text in enumerate(types))
    dump.write_text(
        f"#a = {BLOCKED}\nmodule {{\n  tt.func @f({values}) {{\n    tt.return\n  }}\n}}\n"
    )
    headings = [line for line in run("-i", str(dump)).out.splitlines() if "on tensor" in line]
    assert [line.partition(" on ")[2] for line in headings] == [
        "tensor<4x4xf16>, tensor<4x4xi32>, tensor<4x4x!tt.ptr<f16>>",
        "tensor<4x8xf16>",
    ]


def test_what_continues_a_line_stands_below_a_second_column_in_the_first_third() -> None:
    text = "a word    that stands far to the right of it and goes on"
    assert fold(text, 36).split("\n") == [
        "a word    that stands far to the",
        "          right of it and goes on",
    ]
    assert fold(text, 29).split("\n") == [
        "a word    that stands far to",
        "   the right of it and goes",
        "   on",
    ]


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_an_excerpt_fits_a_terminal_with_its_carets_below_what_is_wrong(columns: int) -> None:
    status, shown, _ = on_terminal(
        "-l", SEED.replace("order = [1, 0]", "order = [1, 1]"), "-t", TYPE,
        columns=columns, shows_errors=True,
    )  # fmt: skip
    *message, line, carets = ESCAPE.sub(b"", shown).decode().splitlines()
    assert status == 2
    assert max(map(len, [*message, line, carets])) <= columns
    assert line[carets.index("^") : len(carets)] == "[1, 1]"
    assert line.startswith("...")
