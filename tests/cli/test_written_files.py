"""Pages and figures without ``-o``: a file on a terminal, standard output in a pipe."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from command import BLOCKED, TYPE, Run, runner
from terminals import on_terminal

from tt_layout.reports import progress

DUMP = Path(__file__).parents[2] / "examples" / "kernels" / "softmax-sm90.ttgir"


@pytest.fixture
def run(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    monkeypatch.chdir(tmp_path)
    shutil.copy(DUMP, "k.ttgir")
    return runner(capfdbinary, monkeypatch)


LAYOUT = (BLOCKED, "-t", TYPE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("page", "k.ttgir"), "k.html"),
        (("page", "k.ttgir:20"), "k.html"),
        (("page", *LAYOUT), "blocked.html"),
        (("page",), "playground.html"),
        (("plot", *LAYOUT), "blocked.svg"),
        (("plot", "k.ttgir:blocked"), "blocked.svg"),
    ],
)
def test_a_terminal_is_told_the_file(arguments: tuple[str, ...], name: str, run: Run) -> None:
    piped = run(*arguments).out
    assert not Path(name).exists()
    status, shown, _ = on_terminal(*arguments)
    assert (status, shown.decode()) == (0, f"wrote {name}\n")
    assert Path(name).read_text(encoding="utf-8") == piped
    assert on_terminal(*arguments)[0] == 0, "what it wrote itself it replaces"
    assert run(*arguments, "-o", "-").out == piped
    assert not Path("-").exists()


def test_the_page_of_a_dump_without_layouts_is_replaced(run: Run) -> None:
    Path("k.ttgir").write_text("module {\n}\n")
    for _ in range(2):
        assert run("page", "k.ttgir", "-o", "k.html").status == 0


@pytest.mark.slow
@pytest.mark.parametrize("command", ["page", "plot"])
def test_the_file_of_somebody_else_is_left_alone(command: str, run: Run) -> None:
    name = f"blocked.{'html' if command == 'page' else 'svg'}"
    Path(name).write_bytes(b"mine")
    status, shown, told = on_terminal(command, *LAYOUT)
    assert (status, shown) == (2, b"")
    assert told == REFUSED.format(name=name)
    assert Path(name).read_bytes() == b"mine"
    assert on_terminal(command, *LAYOUT, "--force")[0] == 0
    Path(name).write_bytes(b"")
    assert on_terminal(command, *LAYOUT)[0] == 0


REFUSED = (
    "{name}: error: a file of this name is there that tt-layout did not write; "
    "--force replaces it, -o names another\n"
)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["svg", "pdf", "png", "html"])
def test_a_named_output_replaces_its_own_kind_only(ending: str, run: Run) -> None:
    if ending == "png":
        pytest.importorskip("PIL")
    name = f"out.{ending}"
    plot = ("plot", *LAYOUT, "-o", name)
    for content in (None, b""):
        if content is not None:
            Path(name).write_bytes(content)
        assert run(*plot).status == 0
        assert run(*plot).status == 0, "what it wrote itself it replaces"
    made = Path(name).read_bytes()
    start = {"pdf": b"%PDF-1.4\n", "png": b"\x89PNG\r\n\x1a\n"}.get(ending, b"")
    Path(name).write_bytes(start + b"mine")
    refused = run(*plot)
    assert (refused.status, refused.err) == (2, REFUSED.format(name=name))
    assert Path(name).read_bytes() == start + b"mine"
    assert run(*plot, "--force").status == 0
    assert Path(name).read_bytes() == made


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_costs_one_message(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("tt_layout.files.replacing", refused)
    status, shown, told = on_terminal("page", "k.ttgir")
    assert (status, shown) == (2, b"")
    message = "k.html: error: cannot write: Permission denied; -o names another file\n"
    assert told == message


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [("page", "many.mlir", "-o", "k.html"), ("check", "--update")]
)
def test_a_terminal_shows_how_far_it_is(
    arguments: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    Path("many.mlir").write_text(Path("k.ttgir").read_text(encoding="utf-8") * 3, encoding="utf-8")
    assert run("init", "k.ttgir").status == 0
    monkeypatch.setattr(progress, "PATIENCE", 1e9)
    _, quiet, _ = on_terminal(*arguments, columns=80, shows_errors=True)
    assert b"\x1b" not in quiet, "nothing is shown of what is done soon"
    monkeypatch.setattr(progress, "PATIENCE", -1)
    if "check" in arguments:
        for golden in Path().glob("*.txt"):
            golden.unlink()
    _, shown, _ = on_terminal(*arguments, columns=80, shows_errors=True)
    assert re.search(rb"3/3", shown)
    assert "\u2501".encode() in shown


@pytest.mark.slow
def test_a_terminal_shows_how_many_findings_are_carried_out(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(DUMP.parent / "attention-gfx950.ttgir", "a.ttgir")
    monkeypatch.setattr(progress, "PATIENCE", -1)
    status, shown, _ = on_terminal("apply", "a.ttgir", "--all", "-o", "b.ttgir", shows_errors=True)
    assert status == 0
    assert re.search(rb"(\d+)/\1", shown)
