"""Reports on terminals: every line fits, nothing is left out, and no word is cut."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from textwrap import wrap

import pytest
from command import Run, runner
from terminals import ESCAPE, on_terminal
from test_command_goldens import COMMANDS, GOLDENS, ROW
from tiers import sampled
from work import calls_of

from tt_layout.audit.rules import rules
from tt_layout.cli.output import terminal_text
from tt_layout.dumps.audits import PassedOver
from tt_layout.folding import fold
from tt_layout.reports.fitted import Paragraph, Table
from tt_layout.reports.kernel_overview import KernelOverview, Screenful
from tt_layout.reports.report import Line

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
DUMP = str(KERNELS / "matmul-sm90.ttgir")
OTHER = str(KERNELS / "matmul-sm80.ttgir")
WIDTHS = (80, 100, 120)
REPORTS = {
    **{
        name: arguments
        for name, arguments in COMMANDS.items()
        if not {"--help", "json", "-o"} & set(arguments)
    },
    "audit-all": ["audit", "--all", DUMP],
    "audit-amd": ["audit", "--all", str(KERNELS / "attention-gfx942.ttgir")],
    "audit-diff": ["audit", "--diff", DUMP, OTHER],
    "audit-fits": ["audit", "--fits", DUMP],
    "audit-axis-info": ["audit", "--axis-info", DUMP],
    "audit-folder": ["audit", DUMP, OTHER, str(KERNELS / "attention-gfx942.ttgir"), "--top", "9"],
    "audit-baseline": ["audit", DUMP, "--baseline", OTHER],
    "apply-dump": ["apply", str(KERNELS / "attention-gfx942.ttgir")],
    "translate": ["translate", ROW, "-t", "64x64xf16", "--to", "cute"],
    "info-copies": ["info", ROW, "-t", "16x16xf16"],
    "cute-table": ["cute", "zipped_divide((8,6):(1,8), (4, 3))", "--table"],
}
WIDE = ROW.replace("[1, 4], threads", "[1, 8], threads").replace("[4, 8]", "[8, 4]")
HINT = "as a page: tt-layout page"
WORD = re.compile(r"[A-Za-z]{3,}")


@pytest.fixture
def run(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    shutil.copytree(GOLDENS / "given", tmp_path / "given")
    monkeypatch.chdir(tmp_path / "given")
    monkeypatch.setenv("CI", "true")
    return runner(capfdbinary, monkeypatch)


def words(text: str) -> set[str]:
    return set(WORD.findall(text.partition(HINT)[0]))


@pytest.mark.slow
@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", sampled(list(REPORTS), 6))
def test_a_report_fits_and_cuts_no_word(name: str, columns: int, run: Run) -> None:
    plain = run(*REPORTS[name])
    status, shown, _ = on_terminal(*REPORTS[name], columns=columns)
    text = ESCAPE.sub(b"", shown).decode()
    assert status == plain.status
    assert max(map(len, text.splitlines()), default=0) <= columns
    assert words(text) <= words(plain.out)
    if not name.startswith(
        ("audit", "apply")
    ):  # of which columns and findings that have no room are left out
        assert words(text) == words(plain.out)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["diff", "convert-shared", "where-element", "audit-folder"])
def test_a_narrow_terminal_loses_nothing(name: str, run: Run) -> None:
    plain = run(*REPORTS[name])
    _, shown, _ = on_terminal(*REPORTS[name], columns=20)
    text = ESCAPE.sub(b"", shown).decode()
    assert max(map(len, text.splitlines())) <= 20
    letters = [sorted(set(re.findall(r"\w", one))) for one in (text, plain.out)]
    assert letters[0] == letters[1]


@pytest.mark.slow
@pytest.mark.parametrize("columns", WIDTHS)
def test_a_cycle_of_bits_is_broken_between_bits(columns: int) -> None:
    _, shown, _ = on_terminal("diff", ROW, WIDE, "-t", "64x64xf16", columns=columns)
    lines = ESCAPE.sub(b"", shown).decode().splitlines()
    start = next(at for at, line in enumerate(lines) if "permuted" in line)
    assert lines[start].endswith(" ->")
    assert lines[start + 1].startswith("      ")


class Wide:
    """A report of a table that is wider than most terminals."""

    def lines(self) -> list[Line | Table]:
        header = ["line", "operation", "conversions", "narrow loads", "narrow stores", "where"]
        rows = [["7", "convert_layout", "12", "-", "3", "a_file_of_a_program.py"]]
        return [Table(header, rows, ["line"])]

    def data(self) -> dict[str, object]:
        return {}


@pytest.mark.parametrize("width", [24, 40, 60, 80])
def test_no_header_is_cut_and_dashes_go(width: int) -> None:
    text = terminal_text(Wide(), has_colours=False, width=width)
    assert max(map(len, text.splitlines())) <= width
    shown = text.split()
    for word in ("operation", "conversions", "stores", "where"):
        assert word in shown
    assert "loads" not in shown
    assert "a_file_of_a_program.py" in text.replace("\n", "").replace(" ", "")


def test_what_has_no_room_stands_below_its_row_with_its_name() -> None:
    text = terminal_text(Wide(), has_colours=False, width=40)
    assert text.splitlines() == [
        "  line  operation       conversions",
        "     7  convert_layout  12",
        "          narrow stores 3, where",
        "          a_file_of_a_program.py",
    ]


EXAMPLES = KERNELS.parent


@pytest.mark.slow
@pytest.mark.parametrize("columns", WIDTHS)
def test_a_folder_fills_at_most_a_screen(columns: int, run: Run) -> None:
    files = [
        *map(str, sorted(KERNELS.glob("*-sm*.ttgir"))),
        *map(str, sorted((EXAMPLES / "narrow").glob("*.ttgir"))),
    ]
    plain = run("audit", *files)
    kernels = [line for line in plain.out.splitlines()[1:] if "@" in line]
    _, shown, _ = on_terminal("audit", *files, columns=columns)
    text = ESCAPE.sub(b"", shown).decode().rpartition("\x1b")[2]
    lines = text[text.index("cycles  kernel") :].splitlines()
    assert len(lines) <= 22
    told = " ".join(" ".join(lines).split())
    listed = sum("@" in line for line in lines)
    left, clean = (int(number) for number in re.findall(r"(\d+) (?:more )?kernels? with", told))
    assert listed + left + clean == len(kernels)
    assert ": --top N lists more" in told
    all_of_them = run("audit", *files, "--top", "99").out
    assert all_of_them == plain.out


def test_a_folder_without_findings_is_counted(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a").mkdir()
    for name in ("b", "c"):
        shutil.copy(KERNELS / "softmax-sm90.ttgir", tmp_path / "a" / f"{name}.ttgir")
    (tmp_path / "a" / "broken.ttgir").write_text("module {", encoding="utf-8")
    _, shown, _ = on_terminal("audit", str(tmp_path / "a"), columns=100)
    text = ESCAPE.sub(b"", shown).decode()
    assert "  2 kernels without findings\n" in text
    assert "broken.ttgir skipped: " in " ".join(text.split())


def test_a_heading_that_fits_is_not_folded() -> None:
    heading = "h" * 40 + " " + "i" * 36
    assert [line.text for line in Paragraph(heading, "", 4).fold(80)] == [heading]
    assert [line.text for line in Paragraph("one two", "- ", 4).fold(12)] == ["- one two"]
    folded = [line.text for line in Paragraph("aaaa bbbb cccc dddd", "", 4).fold(14)]
    assert folded == ["aaaa bbbb cccc", "    dddd"]


def test_no_two_columns_of_findings_look_alike() -> None:
    headings = [rule.heading for rule in rules()]
    assert len({heading.split()[-1] for heading in headings}) == len(headings)
    assert not any(one.startswith(f"{other} ") for one in headings for other in headings)


def test_a_line_is_folded_in_as_many_steps_however_many_words_it_has() -> None:
    def calls(text: str) -> int:
        return calls_of(lambda: list(Paragraph(text).fold(80)))

    few, many = ("w" * 79 + " ") * 50, "w " * 40 * 50
    assert len(list(Paragraph(few).fold(80))) == len(list(Paragraph(many).fold(80))) == 50
    assert calls(many) < 1.1 * calls(few)


@pytest.mark.parametrize("text", ["  led", "a" * 30 + " b", "a  b   c " * 9, "a " + "b" * 30])
def test_folding_is_that_of_the_library(text: str) -> None:
    for width in range(12, 40):
        lines = [line.text for line in Paragraph(text, "- ", 4).fold(width)]
        at_words = wrap(text, width, initial_indent="- ", subsequent_indent=" " * 4)
        assert lines == (at_words if len(text) + 2 > width else [f"- {text.rstrip()}"])


FIX = (
    "fix: replace #ttg.blocked<[1, 1], [1, 32], [4, 1], [1, 0]> with #ttg.blocked<{sizePerThread = "
    "[1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"
)


def test_no_line_ends_within_a_parameter() -> None:
    """Lines once ended with "order =", and the next began with "0]}>"."""
    for width in range(39, 160):
        lines = [line.text for line in Paragraph(FIX, indent=2).fold(width)]
        assert " ".join(map(str.strip, lines)) == FIX
        assert all(len(line) <= width for line in lines)
        assert not [line for line in lines if re.search(r"=$|\[[\d, ]*$", line)], width
    narrow = [line.text for line in Paragraph(FIX, indent=2).fold(16)]
    assert "".join(narrow).replace(" ", "") == FIX.replace(" ", "")


def test_a_row_of_a_diff_that_was_cut_is_cut_again() -> None:
    """It was folded, so that its end stood alone below it."""
    row = "  -[[  T0:0|  T4:0,   T0:1|  T4:1,   T0:2|  T4:2,   T0:3|  T4:3,   T1:0|  T5:0,   T1..."
    assert fold(row, 40) == "  -[[  T0:0|  T4:0,   T0:1|  T4:1,   ..."
    assert fold(row, 120) == row
    assert "\n" in fold(row.removesuffix("..."), 40)


@pytest.mark.parametrize("screen", [None, 20])
def test_what_was_skipped_is_folded_below_itself(screen: int | None) -> None:
    """Further lines stand behind an indent, or each looks like another file."""
    overview = KernelOverview((), (PassedOver("k.ttgir", "it " + "is long " * 9),), None, screen)
    told = next(iter(overview.lines()))
    assert isinstance(told, (Paragraph, Screenful))
    first, *further = [line.text for line in told.fold(30)]
    assert first.startswith("k.ttgir skipped: it is long")
    assert further
    assert all(line.startswith("  is ") or line.startswith("  long") for line in further)


def test_a_screen_names_few_of_the_files_that_were_skipped() -> None:
    """A folder may have hundreds; a pipe lists them."""
    skipped = tuple(PassedOver(f"{number}.ttgir", "it is empty") for number in range(9))
    [screen] = KernelOverview((), skipped, None, 20).lines()
    assert isinstance(screen, Screenful)
    told = [line.text for line in screen.fold(80)]
    named = [f"{number}.ttgir skipped: it is empty" for number in range(3)]
    assert told == [*named, "6 more files skipped; a pipe lists them"]
    assert len([*KernelOverview((), skipped).lines()]) == 9
