"""Reports on terminals: every line fits, nothing is left out, and no word is cut."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from command import Run, runner
from terminals import ESCAPE, on_terminal
from test_command_goldens import COMMANDS, GOLDENS, ROW
from tiers import sampled

from tt_layout.reports.fitted import Table
from tt_layout.reports.report import Line
from tt_layout.reports.terminal_text import terminal_text

KERNELS = Path(__file__).parent.parent / "examples" / "kernels"
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
    "audit-folder": ["audit", DUMP, OTHER, str(KERNELS / "attention-gfx942.ttgir")],
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


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", sampled(list(REPORTS), 6))
def test_a_report_fits_and_cuts_no_word(name: str, columns: int, run: Run) -> None:
    plain = run(*REPORTS[name])
    status, shown, _ = on_terminal(*REPORTS[name], columns=columns)
    text = ESCAPE.sub(b"", shown).decode()
    assert status == plain.status
    assert max(map(len, text.splitlines()), default=0) <= columns
    assert words(text) <= words(plain.out)
    if not name.startswith("audit"):  # of which columns and findings that have no room are left out
        assert words(text) == words(plain.out)


@pytest.mark.parametrize("name", ["diff", "convert-shared", "where-element", "audit-folder"])
def test_a_narrow_terminal_loses_nothing(name: str, run: Run) -> None:
    plain = run(*REPORTS[name])
    _, shown, _ = on_terminal(*REPORTS[name], columns=20)
    text = ESCAPE.sub(b"", shown).decode()
    assert max(map(len, text.splitlines())) <= 20
    letters = [sorted(set(re.findall(r"\w", one))) for one in (text, plain.out)]
    assert letters[0] == letters[1]


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
