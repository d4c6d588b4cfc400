"""Results of many dumps that are kept: what was audited before is not audited again."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from command import Run, runner
from test_baseline import dump, write

from tt_layout.dumps import cache as result_cache
from tt_layout.dumps.audits import FileKernels, KernelReader, PassedOver
from tt_layout.dumps.cache import from_plain, to_plain
from tt_layout.files import CacheFolder, make_folder


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the dumps that are read from now on."""
    names: list[str] = []
    before = KernelReader.read

    def counted(reader: KernelReader, name: str) -> object:
        names.append(name)
        return before(reader, name)

    monkeypatch.setattr(KernelReader, "read", counted)
    return names


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {f"k{at}": dump(f"k{at}", wide=1 << at % 3) for at in range(9)}
    write(tmp_path / "dumps", texts, 1)
    (tmp_path / "dumps" / "broken.ttgir").write_text("nothing\n")
    return tmp_path


def test_a_second_audit_reads_what_is_new(run: Run, folder: Path, read: list[str]) -> None:
    arguments = ["audit", str(folder / "dumps"), "--cache", str(folder / "kept")]
    first = run(*arguments)
    assert (first.status, len(read)) == (0, 10)
    read.clear()
    second = run(*arguments)
    assert second == first
    assert [Path(name).name for name in read] == ["broken.ttgir"], "it is told why again"
    read.clear()
    assert run(*arguments, "--value", "n=7", "--format", "json").status == 0
    assert len(read) == 10, "another way to audit"
    read.clear()
    path = next((folder / "dumps").glob("*/k3.ttgir"))
    path.write_text(dump("k3", wide=8))
    path.with_suffix(".json").write_text('{"name": "renamed"}')
    assert "@renamed" in run(*arguments).out
    assert len(read) == 2


def test_a_cache_that_is_there_is_not_written_to_before_something_is_kept(tmp_path: Path) -> None:
    """It may be one that others made, and that may only be read."""
    CacheFolder(str(tmp_path / "kept")).write("0" * 64, b"{}")

    def files() -> list[tuple[str, int, int]]:
        return [
            (entry.name, entry.stat().st_ino, entry.stat().st_mtime_ns)
            for entry in sorted((tmp_path / "kept").iterdir())
        ]

    before = files()
    CacheFolder(str(tmp_path / "kept"))
    assert files() == before


@pytest.mark.skipif(os.name == "nt", reason="this system has no modes")
def test_only_its_owner_may_look_into_a_cache(tmp_path: Path) -> None:
    """Whatever the user's own files are for others."""
    before = os.umask(0)
    try:
        CacheFolder(str(tmp_path / "kept")).write("0" * 64, b"{}")
        make_folder(str(tmp_path / "shared"))
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("kept", "shared")]
    assert modes == [0o700, 0o777]


def test_results_move_with_their_dumps(run: Run, folder: Path, read: list[str]) -> None:
    kept = str(folder / "kept")
    before = run("audit", str(folder / "dumps"), "--cache", kept, "--format", "json")
    (folder / "dumps").rename(folder / "moved")
    read.clear()
    after = run("audit", str(folder / "moved"), "--cache", kept, "--format", "json")
    assert len(read) == 1
    assert after.out == before.out.replace("/dumps/", "/moved/")


def test_a_broken_result_is_made_again(run: Run, folder: Path, read: list[str]) -> None:
    arguments = ["audit", str(folder / "dumps"), "--cache", str(folder / "kept")]
    first = run(*arguments)
    results = sorted((folder / "kept").rglob("*.result"))
    for path, text in zip(results, ["", "{", "[]", '{"kernels": [[1]]}', "null", "7", '"x"']):
        path.write_text(text)
    read.clear()
    assert run(*arguments) == first
    assert len(read) == 7 + 1
    assert len(json.loads(results[0].read_text())["kernels"]) == 1


def test_the_folder_is_bounded(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = folder / "kept"
    arguments = ["audit", str(folder / "dumps"), "--cache", str(kept)]
    assert run(*arguments).status == 0
    before = {path: path.stat().st_size for path in kept.rglob("*.result")}
    monkeypatch.setattr(result_cache, "MAX_BYTES", 3 * max(before.values()))
    write(folder / "dumps", {"more": dump("more")}, 3)
    assert run(*arguments).status == 0
    after = {path: path.stat().st_size for path in kept.rglob("*.result")}
    assert 0 < sum(after.values()) <= result_cache.MAX_BYTES
    assert set(after) - set(before), "what was made last stays"


@pytest.mark.slow
def test_several_processes_share_a_folder(folder: Path) -> None:
    command = [sys.executable, "-m", "tt_layout", "audit", "dumps", "--cache", "kept"]
    processes = [
        subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    found = [process.communicate() for process in processes]
    assert {process.returncode for process in processes} == {0}
    assert len(set(found)) == 1
    assert len(list((folder / "kept").rglob("*.result"))) == 9


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_is_refused(run: Run, folder: Path, name: str) -> None:
    (folder / "file").write_text("")
    outcome = run("audit", str(folder / "dumps"), "--cache", str(folder / name))
    assert outcome.status == 2
    assert "cannot keep results there" in outcome.err


def test_what_was_passed_over_moves_with_its_dump() -> None:
    kept = FileKernels((), ("n",), (PassedOver("a.ttgir@2", "it ends too early"),))
    moved = from_plain(to_plain(kept, "a.ttgir"), "b.ttgir")
    assert moved.unread == (PassedOver("b.ttgir@2", "it ends too early"),)
