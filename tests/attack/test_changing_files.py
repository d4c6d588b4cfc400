"""Dumps that change while they are read: one message, and no result of a text that is gone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Run, runner
from test_pieces import SIZE, tuned

from tt_layout.dumps import dump as opened
from tt_layout.dumps import large
from tt_layout.dumps.pieces import Piece, pieces_of

pytestmark = [
    pytest.mark.attack,
    pytest.mark.usefixtures("bounded"),
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names"),
]


@pytest.fixture
def run(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    monkeypatch.chdir(tmp_path)
    return runner(capsysbinary, monkeypatch)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def edit(path: Path) -> None:
    """Change a letter in the last piece; the size and every line stay."""
    data = path.read_bytes()
    path.write_bytes(data[:-200] + data[-200:].replace(b"return", b"retorn"))


def fill(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"module {}\n")


CHANGES: dict[Callable[[Path], None], str] = {
    truncate: "it changed while it was read",
    edit: "it changed while it was read",
    fill: "it changed while it was read",
    empty: "it changed while it was read",
    Path.unlink: "No such file or directory",
    make_pipe: "it is a pipe, not a file",
    make_folder: "Is a directory",
    grow: "",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("processes", [1, 2])
def test_a_dump_that_changes_while_it_is_read_is_one_message(
    processes: int,
    change: Callable[[Path], None],
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After it has been cut, before its pieces are read."""
    path = Path("tuned.mlir")
    path.write_text(tuned(40))

    def cut_and_changed(file: str) -> tuple[Piece, ...]:
        found = pieces_of(file, SIZE)
        assert len(found) > 3
        change(path)
        return found

    monkeypatch.setattr(opened, "pieces_of", cut_and_changed)
    monkeypatch.setattr(large, "processors", lambda: processes)
    outcome = run("audit", str(path))
    told = " ".join((outcome.out + outcome.err).split())
    assert "Traceback" not in told
    if not CHANGES[change]:
        assert outcome.status == 0
        return
    assert outcome.status == 2
    assert told.count(CHANGES[change]) == 1
    assert outcome.err.count("error: ") == 1
