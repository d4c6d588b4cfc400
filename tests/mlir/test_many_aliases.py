"""Files of many aliases: only what is used is read, and what is made is limited."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command import Run, runner
from tiers import slow
from work import calls_of

from tt_layout.cli.commands.init import manifest_text
from tt_layout.encodings.alias_table import AliasTable
from tt_layout.ir.used_types import UsedTypes
from tt_layout.mlir.aliases import FileDefinitions
from tt_layout.mlir.source import Source

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, %d], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)


def aliases(count: int) -> str:
    """Return the definitions of aliases, of which every fourth is written alike."""
    return "".join(f"#a{n} = {BLOCKED % (1 << n % 4)}\n" for n in range(count))


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "many.mlir"
    path.write_text(aliases(3000))
    return path


def test_layouts_written_alike_are_read_once() -> None:
    def calls(count: int) -> int:
        source = Source(aliases(count))
        table = AliasTable(source, FileDefinitions(source))
        names, unused = table.layout_names(), UsedTypes({}, None)
        return calls_of(lambda: manifest_text(table, names, "f", None, ("tensor",), unused))

    assert calls(1100) - calls(100) < 1000 * 120, "reading a layout takes thousands"


def test_a_first_manifest_has_only_so_many_cases(file: Path, run: Run) -> None:
    outcome = run("init", file.name, "--max-cases", "2999")
    assert outcome.status == 2
    assert "more than 2999 aliases of the file are layouts; --max-cases allows" in outcome.err
    assert run("init", file.name, "--max-cases", "3000").status == 0


def test_one_alias_is_read_without_the_others(file: Path, run: Run) -> None:
    file.write_text(aliases(10) + "#broken = #ttg.blocked<{\n")
    for arguments in (["info", f"{file.name}:a7"], ["-i", file.name, "--alias-names", "a7"]):
        assert run(*arguments, "-t", "tensor<64x64xf16>").status == 0


@pytest.mark.slow
def test_an_unknown_alias_is_compared_with_some(file: Path, run: Run) -> None:
    outcome = run("info", f"{file.name}:zzz", "-t", "tensor<64x64xf16>")
    assert "there is no alias #zzz; the layouts are #a0, #a1, " in outcome.err
    assert "and at least 992 more" in outcome.err


@pytest.mark.slow
def test_only_so_many_views_are_shown(
    file: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tt_layout.views.files.MAX_VIEWS", 2999)
    outcome = run("-i", file.name)
    assert (outcome.status, outcome.out) == (2, "")
    assert "more than 2999 views to show; --alias-names chooses some" in outcome.err
    assert run("-i", file.name, "--alias-names", "a1,a2").out.count("Print layout") == 2


@pytest.mark.parametrize("name", ["n\ncases: [] #.mlir", slow("\x1b[31m.mlir")])
@pytest.mark.slow
def test_the_name_of_a_file_is_no_line_of_the_manifest(name: str, file: Path, run: Run) -> None:
    file.rename(name)
    assert run("init", name, "--max-cases", "3000").status == 0
    assert Path("layouts.yaml").read_text().count("\ncases:") == 1
    assert run("check", "--list").status == 0


def test_a_name_that_is_not_utf8_is_refused(file: Path, run: Run) -> None:
    name = os.fsdecode(b"\xff.mlir")
    file.rename(name)
    outcome = run("init", name)
    assert outcome.status == 2
    assert "the name of the file is not UTF-8" in outcome.err
