"""Reports: one shape, one way out, the same text in a pipe, tables that fit on a terminal."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import click
import pytest
from command import Run, runner

from tt_layout.cli.groups import SUMMARIES
from tt_layout.cli.main import cli
from tt_layout.cli.output import emit, terminal_text
from tt_layout.reports.fitted import Fitted, Table
from tt_layout.reports.report import Line, plain_text

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
TABLE = Table(["name", "count"], [["a" * 30, "10"], ["[red]b[/]", "9"]], ["count"])
BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], "
    "order = [0, 1]}>"
)


class Sample:
    """A report with everything that a report may have."""

    def lines(self) -> Iterator[Line | Fitted]:
        yield Line("heading", "green")
        yield TABLE
        yield Line()

    def data(self) -> dict[str, Any]:
        return {"version": 1, "items": iter([{"a": [1, 2]}, {}]), "none": iter([]), "text": "\n"}


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def test_plain_text_is_aligned() -> None:
    lines = plain_text(Sample()).splitlines()
    assert lines[:2] == ["heading", f"  {'name':30}  count"]
    assert lines[3:] == [f"  {'[red]b[/]':30}      9", ""]


@pytest.mark.parametrize("width", [100, 20])
@pytest.mark.parametrize("kind", ["xterm", "dumb"])
def test_a_table_fits_the_terminal(kind: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", kind)
    text = terminal_text(Sample(), has_colours=True, width=width)
    plain = COLOUR.sub("", text)
    assert plain != text
    assert max(map(len, plain.splitlines()[1:])) <= width
    assert re.sub(r"\s", "", plain).count("a") >= 30, "nothing is cut off"
    assert "[red]b[/]" in plain, "what looks like markup stays text"


def test_a_terminal_without_colours_shows_plain_text() -> None:
    assert terminal_text(Sample(), has_colours=False, width=80) == plain_text(Sample())


def test_json_is_that_of_the_standard_library(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    emit(Sample(), "json")
    expected = {"version": 1, "items": [{"a": [1, 2]}, {}], "none": [], "text": "\n"}
    out = capfdbinary.readouterr().out.decode()
    assert json.loads(out) == expected
    assert out == json.dumps(expected, indent=2) + "\n"


def test_a_terminal_has_colours_unless_they_are_unwanted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    def written() -> str:
        terminal = Terminal(io.BytesIO(), encoding="utf-8")
        monkeypatch.setattr(sys, "stdout", terminal)
        emit(Sample())
        data: bytes = terminal.buffer.getvalue()  # type: ignore[attr-defined]
        return data.decode()

    assert written().startswith("\x1b[32mheading\x1b[0m\n")
    monkeypatch.setenv("NO_COLOR", "1")
    assert written().startswith("heading\n")


def test_every_command_fits_on_a_line_of_the_help() -> None:
    assert sorted(SUMMARIES) == cli.list_commands(click.Context(cli))
    for summary in SUMMARIES.values():
        assert len(summary) <= 66
        assert summary.endswith(".")


def test_a_misspelled_command_is_a_usage_error(run: Run) -> None:
    outcome = run("inof", BLOCKED)
    assert outcome.status == 2
    assert "no such command 'inof'" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", BLOCKED, "-t", "tensr<2xf16>"], "-t:1:1: error: expected a tensor type"),
        (["info", "nothing", "-t", "tensor<2xf16>"], "LAYOUT must be an attribute"),
        (["info", "#ttg.blokked<{}>", "-t", "tensor<2xf16>"], "LAYOUT:1:1: error: "),
        (["info", BLOCKED, "-t", "tensor<2x2xf16>", "--memory-order", "x"], "--memory-order takes"),
        (["info", BLOCKED, "-t", "tensor<2x2xf16>", "--triton", "9.9"], "unknown Triton release"),
        (["conflicts", BLOCKED, BLOCKED, "-t", "tensor<2xf16>", "--target", "x"], "unknown target"),
        (["-l", BLOCKED, "-t", "tensor<2x2xf16>", "--max-text", "big"], "expected a size such as"),
    ],
)
def test_parameters_name_themselves_in_errors(arguments: list[str], message: str, run: Run) -> None:
    outcome = run(*arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err


def test_the_release_holds_wherever_it_stands(run: Run) -> None:
    small = (
        "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [1], warpsPerCTA = [1], order = [0]}>"
    )
    after = run("info", small, "-t", "tensor<2xf16>", "--triton", "3.8").out
    before = run("info", "--triton", "3.8", small, "-t", "tensor<2xf16>").out
    assert after == before
    assert after != run("info", small, "-t", "tensor<2xf16>").out
