"""The first minute at a terminal: help of one width, errors of one style, poor terminals."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command import Run, runner
from terminals import ESCAPE, on_terminal, shell_on_terminal
from test_command_goldens import ROW

import tt_layout.cli.output
import tt_layout.reports.progress
from tt_layout.cli.groups import SUMMARIES

ROOT = Path(__file__).parents[2]
DUMP = str(ROOT / "examples" / "kernels" / "matmul-sm90.ttgir")
VIEW = ("-l", ROW, "-t", "tensor<16x16xf16>")
ERROR = re.compile(r"(\S.*: )?error: [^\s]")


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["", *SUMMARIES])
def test_help_has_one_width(command: str) -> None:
    shown = {
        on_terminal(*filter(None, [command]), "--help", columns=columns)[1]
        for columns in (80, 100, 200)
    }
    [text] = shown
    assert 70 < max(map(len, text.decode().splitlines())) <= 80


@pytest.mark.parametrize(
    "arguments",
    [
        ("-l", "#ttg.blocked<{", "-t", "64x64xf16"),
        ("-l", ROW),
        ("--vew", "tensor"),
        ("infos",),
        ("info", "--formt", "x"),
        ("info",),
        ("audit", "missing.ttgir"),
        ("missing.ttgir",),
        ("page", "missing.ttgir"),
        ("plot", ROW, "-t", "64x64xf16", "--view", "none"),
        ("translate", ROW, "--to", "nothing"),
        ("check", "missing.yaml"),
        ("conflicts", ROW, ROW, "-t", "64x64xf16"),
        ("where", ROW, "-t", "64x64xf16", "--thread", "x"),
        ("apply", DUMP, "--finding", "0"),
        ("cute", "(("),
        ("suggest", "nothing"),
    ],
)
def test_errors_have_one_style(arguments: tuple[str, ...], run: Run) -> None:
    done = run(*arguments)
    assert done.status == 2
    assert done.out == ""
    first, *rest = done.err.splitlines()
    assert ERROR.match(first), first
    assert not any(re.match(r"(Error|Usage|Try)\b", line) for line in rest)


POOR: dict[str, dict[str, Any]] = {
    "dumb": {"TERM": "dumb"},
    "no name": {"TERM": ""},
    "C": {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "no colour": {"NO_COLOR": "1"},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", POOR)
@pytest.mark.parametrize("arguments", [VIEW, ("audit", DUMP), ("info", *VIEW[1:])])
def test_a_poor_terminal_shows_readable_text(kind: str, arguments: tuple[str, ...]) -> None:
    status, shown, errors = on_terminal(*arguments, columns=80, shows_errors=False, **POOR[kind])
    usual = ESCAPE.sub(b"", on_terminal(*arguments, columns=80)[1])
    assert status == 0, errors
    text = ESCAPE.sub(b"", shown)
    has_legend = arguments == VIEW and kind in ("dumb", "no colour")  # which is of colours
    assert usual.startswith(text) if has_legend else text == usual
    assert text.count(b"\n") > 6
    if kind in ("dumb", "no colour"):
        assert b"\x1b" not in shown


SPELT = {
    "C": ({**POOR["C"]}, "gr\u00f6\u00dfe"),
    "latin": ({"PYTHONIOENCODING": "ascii:strict", "LC_ALL": "C.UTF-8"}, "gr\u00f6\u00dfe"),
    "cyrillic": ({"PYTHONIOENCODING": "koi8-r:strict"}, "gr\\xf6\\xdfe"),
}
"""Environments, and how an error spells a name that is not of ASCII in each."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", SPELT)
def test_no_letter_is_lost_where_a_terminal_cannot_spell_it(kind: str, tmp_path: Path) -> None:
    """A report is UTF-8 in every locale, and a message what its stream can be made to write."""
    variables, name = SPELT[kind]
    dump = Path(DUMP).read_text(encoding="utf-8").replace("@matmul", '@"gr\u00f6\u00dfe"')
    (tmp_path / "k.ttgir").write_text(dump, encoding="utf-8")
    (tmp_path / "bad.mlir").write_text("#a = #ttg.gr\u00f6\u00dfe<{}>\n", encoding="utf-8")
    program = f"{sys.executable} -m tt_layout"
    shown = shell_on_terminal(
        f"{program} audit k.ttgir; echo [$?]; {program} info bad.mlir:a -t 8xf32; echo [$?]",
        columns=80,
        folder=tmp_path,
        environment={**os.environ, **variables, "PYTHONPATH": str(ROOT)},
    )
    report, _, message = shown.partition("[0]\n")
    assert report.startswith("k.ttgir:15\n@gr\u00f6\u00dfe, sm90")
    assert message.startswith("bad.mlir:1:13: error: ")
    assert f"\n#a = #ttg.{name}<{{}}>\n" in message
    assert message.endswith("[2]\n")
    assert "Traceback" not in message


@pytest.mark.slow
@pytest.mark.parametrize("columns", [20, 0])
@pytest.mark.parametrize("arguments", [VIEW, ("audit", DUMP), ("info", *VIEW[1:])])
def test_a_narrow_terminal_and_one_of_unknown_size(
    columns: int, arguments: tuple[str, ...]
) -> None:
    status, shown, errors = on_terminal(*arguments, columns=columns, PAGER="cat")
    text = ESCAPE.sub(b"", shown).decode()
    assert status == 0, errors
    assert "Traceback" not in text + errors
    assert text.strip()
    if not columns:
        assert shown == on_terminal(*arguments, columns=80, PAGER="cat")[1]
    elif arguments[0] != "-l":
        assert max(map(len, text.splitlines())) <= columns


LARGE = ("-l", ROW, "-t", "tensor<128x128xf16>")


@pytest.mark.slow
@pytest.mark.parametrize("pager", ["no-such-pager", "true", "head -n 1", "false"])
def test_a_pager_that_is_missing_or_quits_early_is_no_error(pager: str) -> None:
    status, shown, errors = on_terminal(*LARGE, columns=80, shows_errors=True, PAGER=pager)
    text = shown.decode() + errors
    assert status == 0, text
    assert "Traceback" not in text
    assert "rror" not in text
    if pager == "no-such-pager":  # nothing is lost: all of it is printed
        assert text.count("T0:") > 10


def test_a_terminal_that_cannot_scroll_gets_no_pager(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = SimpleNamespace(isatty=lambda: True)
    streams = SimpleNamespace(stdin=terminal, stdout=terminal)
    monkeypatch.setattr(tt_layout.cli.output, "sys", streams)
    monkeypatch.setenv("PAGER", "cat")
    for name, command in (("xterm", ["cat"]), ("dumb", [])):
        monkeypatch.setenv("TERM", name)
        assert tt_layout.cli.output.pager_command() == command


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """Make a folder with a page in it that nobody can write to."""
    folder = tmp_path / "locked"
    folder.mkdir()
    shutil.copy(DUMP, folder / "k.ttgir")
    (folder / "k.html").touch()
    folder.chmod(0o500)
    yield folder
    folder.chmod(0o700)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX")
@pytest.mark.parametrize(
    ("output", "way_out"), [("", "; -o names another file"), ("-o k.html", ""), ("-o new.html", "")]
)
def test_a_page_in_a_read_only_folder_is_one_message(
    output: str, way_out: str, read_only: Path
) -> None:
    prefix = ""
    if os.geteuid() == 0:  # the superuser may write everywhere
        if shutil.which("setpriv") is None:
            pytest.skip("no setpriv")
        prefix = "setpriv --inh-caps=-all --bounding-set=-all "
    shown = shell_on_terminal(
        f"{prefix}{sys.executable} -m tt_layout page k.ttgir {output}; echo [$?]",
        columns=100,
        folder=read_only,
        environment={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    name = output.removeprefix("-o ") or "k.html"
    denied = f"{name}: error: cannot write: Permission denied{way_out}\n[2]\n"
    assert re.sub("\x1b.*?[A-Za-z]|\r", "", shown).endswith(denied)
    assert shown.count("error") == 1
    assert sorted(path.name for path in read_only.iterdir()) == ["k.html", "k.ttgir"]
    assert (read_only / "k.html").read_bytes() == b""


@pytest.mark.slow
def test_init_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tt_layout.reports.progress, "PATIENCE", -1.0)
    (tmp_path / "k.mlir").write_text(f"#a = {ROW}\n#b = {ROW}\n#c = {ROW}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    arguments = ("init", "k.mlir", "--view", "info", "-o", "layouts.yaml")
    status, shown, errors = on_terminal(*arguments, shows_errors=True)
    assert status == 0, (shown, errors)
    assert "/3" in ESCAPE.sub(b"", shown).decode()


def test_the_readme_says_where_a_dump_comes_from() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for word in ("Triton's cache", 'kernel.asm["ttgir"]', "MLIR_ENABLE_DUMP", "tt_layout.watch"):
        assert word in text
    assert "(docs/dumps.md)" in text


def test_the_hardware_view_is_beside_the_view(run: Run) -> None:
    lines = run("--help").out.splitlines()
    [at] = [number for number, line in enumerate(lines) if line.startswith("  --view ")]
    assert lines[at + 1].startswith("  --use-hw-view ")


@pytest.mark.slow
def test_goldens_of_a_dump_are_few_and_one_line_says_how_to_write_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(DUMP, "kernel.ttgir")
    assert run("init", "kernel.ttgir").status == 0
    outcome = run("check")
    assert outcome.status == 1
    assert re.fullmatch(
        r"no golden files yet for \d checks; write them with: tt-layout check --update\n",
        outcome.out + outcome.err,
    )
    assert run("check", "--update").status == 0
    written = [path for path in tmp_path.iterdir() if path.name != "kernel.ttgir"]
    assert sum(path.stat().st_size for path in written) < Path(DUMP).stat().st_size


def test_a_map_of_banks_is_printed_once(run: Run) -> None:
    columns = "gl.BlockedLayout([1, 1], [32, 1], [4, 1], [0, 1])"
    shown = run("conflicts", columns, "(128,32):(32,1)", "-t", "128x32xf32").out
    assert shown.count("where lanes conflict") == 1
    assert "the same lanes meet in the same banks as in the store" in shown
