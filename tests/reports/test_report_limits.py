"""Limits of reports: digits, excerpts, counts, and what may be shown of an argument."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from small_modules import ROWS, TILE, module_of

from tt_layout import LayoutError, parse_layout
from tt_layout.audit.audit import audit_module
from tt_layout.errors import FileLocation, SeveralError, shown
from tt_layout.mlir.types import parse_type
from tt_layout.page.playground import EXAMPLES
from tt_layout.reports import progress
from tt_layout.reports.audit import AuditReport
from tt_layout.reports.conflicts import collision_lines
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.reduce import reduction_difference, reduction_report
from tt_layout.reports.watched_findings import read_limits
from tt_layout.reports.writing import with_progress
from tt_layout.safe_text import abridged, safe_lines


def alloc(name: str) -> str:
    return f"    {name} = ttg.local_alloc : () -> {TILE}\n"


@pytest.mark.parametrize(
    ("text", "safe"),
    [("::stop::x", "?:stop::x"), ("##[group]y", "?#[group]y"), ("a # b : c", "a # b : c")],
)
def test_each_kind_of_command_of_a_ci_is_made_harmless(text: str, safe: str) -> None:
    assert safe_lines(text) == safe


@pytest.mark.parametrize(
    ("coloured", "safe"), [(False, "plain\n?[31mred?[0m"), (True, "plain\n\x1b[31mred\x1b[0m")]
)
def test_only_colours_of_our_own_remain(coloured: bool, safe: str) -> None:
    assert safe_lines("plain\n\x1b[31mred\x1b[0m", coloured=coloured) == safe


def test_a_wrong_argument_is_shown_up_to_a_hundred_characters() -> None:
    assert shown("a" * 98) == f"'{'a' * 98}' of str"
    assert "a" * 98 not in shown("a" * 99)


def test_several_errors_begin_with_the_first() -> None:
    first, second = LayoutError("a", FileLocation("x", 1)), LayoutError("b", FileLocation("x", 2))
    both = SeveralError([first, second])
    assert (both.message, both.location) == (first.message, first.location)
    assert SeveralError([first]).message == "a"


def test_a_summary_has_a_place_where_no_excerpt_shows_it() -> None:
    with pytest.raises(LayoutError) as caught:
        parse_layout("#ttg.blocked<{order = [0]}>")
    assert caught.value.summary == caught.value.message
    assert LayoutError("a").summary == "a"
    assert LayoutError("a", FileLocation("x.ttgir", 7)).summary == "x.ttgir:7: error: a"


@pytest.mark.parametrize(("digits", "is_taken"), [(15, True), (16, False)])
def test_a_threshold_has_fifteen_digits_at_most(digits: int, is_taken: bool) -> None:
    text = f"conflicts={'9' * digits}"
    if is_taken:
        assert read_limits([text]) == {"conflicts": float("9" * digits)}
        return
    with pytest.raises(LayoutError, match="is a number of cycles"):
        read_limits([text])


def test_examples_of_instructions_show_the_multiplication() -> None:
    assert {one.view for one in EXAMPLES if one.group == "Instructions"} == {"mma"}


@pytest.mark.parametrize(("banks", "more"), [(4, None), (5, "  and 1 more bank")])
def test_banks_beyond_the_first_are_counted(banks: int, more: str | None) -> None:
    collisions = [SimpleNamespace(bank=n, lanes=[0, 1], words=[n, n + 32]) for n in range(banks)]
    access: Any = SimpleNamespace(collisions=collisions, instruction=SimpleNamespace(matrices=0))
    lines = [line.text for line in collision_lines(access)]
    assert lines[4:] == ([more] if more else [])


def test_reports_of_different_kernels_differ() -> None:
    texts = "", alloc("%a")
    first, second, same = (
        AuditReport("a", (audit_module(module_of(text)),)) for text in (*texts, texts[0])
    )
    assert first == same
    assert first != second


def test_a_difference_of_reductions_has_both_trees() -> None:
    before, after = (parse_layout(text) for text in (ROWS, ROWS.replace("[4, 8]", "[2, 16]")))
    found = reduction_difference(before, after, parse_type("tensor<64x64xf32>"), 1).data()
    trees = [reduction_report(one, parse_type("tensor<64x64xf32>"), 1) for one in (before, after)]
    assert [found["before"]["steps"], found["after"]["steps"]] == [
        one.data()["steps"] for one in trees
    ]
    assert found["before"]["steps"] != found["after"]["steps"]


def test_a_program_is_read_by_its_absolute_path(tmp_path: Path) -> None:
    """A relative path is of the machine that compiled the kernel."""
    (tmp_path / "a.py").write_text("x = 1\ny = 2\n")
    assert ProgramSource().lines(str(tmp_path / "a.py")) == (1, ("x = 1\n", "y = 2\n"))
    assert ProgramSource().lines("a.py") == (1, ())


def test_a_program_that_cannot_be_read_has_no_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError

    (tmp_path / "a.py").write_text("x = 1")
    monkeypatch.setattr("os.open", refuse)
    assert ProgramSource().lines(str(tmp_path / "a.py")) == (1, ())


def test_a_word_is_cut_where_half_of_the_room_would_be_left() -> None:
    text = "words abcdefghijklmnopqrstuvwxyz ended"
    assert abridged(text, 32) == "words abcdefgh ... tuvwxyz ended"
    assert abridged(text.replace("words", "wordily").replace("ended", "finished"), 31) == (
        "wordily ... finished"
    )


@pytest.mark.parametrize(
    ("total", "is_terminal", "shown"), [(24, True, [24]), (23, True, []), (24, False, [])]
)
def test_progress_is_shown_of_much_work_on_a_terminal(
    total: int, is_terminal: bool, shown: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    monkeypatch.setattr(progress, "progress_bar", lambda *_: nullcontext(told.append))
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    with progress.dumps_shown(total) as show:
        show(total)
    assert told == shown


def test_progress_is_what_is_written_by_then(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(progress, "progress_bar", lambda *_, **__: nullcontext(told.append))
    assert [*with_progress([b"ab", b"", b"cde"], 5)] == [b"ab", b"", b"cde"]
    assert told == [2, 2, 5]
