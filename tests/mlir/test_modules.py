"""Files with several modules: which of them an alias is meant of, and that it is said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command import Run, runner

from tt_layout.encodings.alias_table import unknown_alias
from tt_layout.ir import parse_ir
from tt_layout.ir.file_aliases import FileAliases
from tt_layout.mlir.source import Source


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


BLOCKED = (
    "#ttg.blocked<{{sizePerThread = [1, {}], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], "
    "order = [1, 0]}}>"
)
SHARED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
LOCATIONS = "".join(f'#loc{number} = loc("a.py":{number}:1)\n' for number in range(60))
TYPE = "tensor<16x32xf16>"
HEADER = "// -----// IR Dump Before {} (tritongpu) ('builtin.module' operation) //----- //\n"


def module(aliases: str, name: str = "Coalesce") -> str:
    body = "  %0 = tt.load %p : tensor<16x32xf16, #blocked>\n"
    return f"{HEADER.format(name)}{aliases}{LOCATIONS}module {{\n{body}}}\n"


FIRST = f"#blocked = {BLOCKED.format(2)}\n"
LAST = f"#blocked = {BLOCKED.format(4)}\n#shared = {SHARED}\n"
DUMP = module(FIRST) + module(FIRST, "Pipeline") + module(LAST, "Prefetch")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a dump of three passes in it."""
    monkeypatch.chdir(tmp_path)
    Path("dump.mlir").write_text(DUMP)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "size", "note"),
    [
        ("dump.mlir", 4, "taken is module 3, on line 194; dump.mlir@2 is another"),
        ("dump.mlir@1", 2, None),
        ("dump.mlir@2", 2, None),
        ("dump.mlir@3", 4, None),
    ],
)
def test_an_alias_is_that_of_the_last_module_or_of_the_one_named(
    file: str, size: int, note: str | None, folder: Path, run: Run
) -> None:
    outcome = run("info", f"{file}:blocked", "-t", TYPE)
    assert outcome.out.startswith(BLOCKED.format(size))
    said = f"note: dump.mlir has 3 modules that define #blocked; {note}\n" if note else ""
    assert (outcome.status, outcome.err) == (0, said)
    views = run("-i", file, "--alias-names=blocked", "-t", TYPE)
    assert views.out.startswith(f"Print layout attribute: #blocked = {BLOCKED.format(size)}\n")
    assert (views.status, views.err) == (0, said)


def test_nothing_is_said_where_there_is_no_choice(folder: Path, run: Run) -> None:
    """A name that one module alone defines, or that modules share."""
    assert run("info", "dump.mlir:shared", "-t", TYPE).err == ""
    shared = f"#blocked = {BLOCKED.format(2)}\nmodule {{\n}}\nmodule {{\n}}\n"
    Path("shared.mlir").write_text(shared)
    for file in ("shared.mlir", "shared.mlir@1", "shared.mlir@2"):
        outcome = run("info", f"{file}:blocked", "-t", TYPE)
        assert (outcome.status, outcome.err) == (0, "")


def test_aliases_of_several_modules_are_taken_together_where_their_names_differ() -> None:
    text = module(f"#a = {SHARED}\n", "A") + module(f"#b = {SHARED}\n", "B")
    found = FileAliases(Source(text.replace(LOCATIONS, ""), "dump.mlir")).choose(["a", "b"])
    assert (found.note, found.table.layout("a")) == (None, found.table.layout("b"))


def test_an_alias_above_holds_in_every_module_below() -> None:
    first, second = parse_ir(f"#a = {SHARED}\nmodule {{\n}}\nmodule {{\n}}\n")
    assert [*first.aliases] == [*second.aliases] == ["a"]


def test_a_file_of_that_very_name_is_itself(folder: Path, run: Run) -> None:
    Path("dump@2").write_text(f"#blocked = {BLOCKED.format(8)}\n")
    assert run("info", "dump@2:blocked", "-t", TYPE).out.startswith(BLOCKED.format(8))


def test_standard_input_may_have_modules(run: Run) -> None:
    outcome = run("-i", "-@1", "-t", TYPE, stdin=DUMP.encode())
    assert outcome.out.startswith(f"Print layout attribute: #blocked = {BLOCKED.format(2)}")


def test_views_of_one_module_or_of_all(folder: Path, run: Run) -> None:
    def sizes(file: str) -> list[str]:
        return re.findall(r"#blocked = .*?sizePerThread = \[1, (\d)", run("-i", file).out)

    assert sizes("dump.mlir") == ["2", "4"]
    assert sizes("dump.mlir@2") == ["2"]


@pytest.mark.parametrize(("file", "sizes"), [("dump.mlir", ["4"]), ("dump.mlir@2", ["2"])])
def test_a_page_of_the_last_module_or_of_one(
    file: str, sizes: list[str], folder: Path, run: Run
) -> None:
    assert run("plot", "-i", file, "-o", "page.html").status == 0
    text = Path("page.html").read_text(encoding="utf-8")
    found = re.findall(r'"attribute":"#ttg.blocked.*?sizePerThread = \[1, (\d)', text)
    assert found == sizes
    assert "no module 4" in run("plot", "-i", "dump.mlir@4", "-o", "page.html").err


@pytest.mark.parametrize(
    "command", [["info", "dump.mlir@4:blocked", "-t"], ["-i", "dump.mlir@4", "-t"]]
)
def test_a_module_that_is_not_there(command: list[str], folder: Path, run: Run) -> None:
    message = "dump.mlir: error: there is no module 4: the file has 3 modules\n"
    assert run(*command, TYPE).err == message
    assert run("-i", "dump.mlir@0").err == message.replace("module 4", "module 0")


@pytest.mark.parametrize(("file", "size"), [("dump.mlir", 4), ("dump.mlir@1", 2)])
def test_a_manifest_of_a_dump(file: str, size: int, folder: Path, run: Run) -> None:
    assert run("init", file, "-t", TYPE, "--view", "tensor").status == 0
    assert f"file: {file}" in Path("layouts.yaml").read_text().replace('"', "")
    assert run("check", "--update").status == 0
    assert BLOCKED.format(size) in Path("blocked.tensor.txt").read_text()
    assert run("check").status == 0


def test_a_name_that_one_module_defines_twice_is_refused(folder: Path, run: Run) -> None:
    Path("dump.mlir").write_text(DUMP + module(FIRST + LAST))
    outcome = run("info", "dump.mlir:blocked", "-t", TYPE)
    assert outcome.status == 2
    assert "the alias #blocked is defined twice; first on line 198" in outcome.err
    assert run("info", "dump.mlir@3:blocked", "-t", TYPE).status == 0


@pytest.mark.parametrize(
    ("alias", "hint"),
    [
        ("bloked", "did you mean #blocked?"),
        ("mma", "the layouts are #blocked, #shared"),
    ],
)
def test_an_unknown_alias_names_layouts_not_locations(
    alias: str, hint: str, folder: Path, run: Run
) -> None:
    error = f"dump.mlir: error: there is no alias #{alias}; {hint}\n"
    assert run("info", f"dump.mlir:{alias}", "-t", TYPE).err == error
    assert run("-i", "dump.mlir", f"--alias-names={alias}", "-t", TYPE).err == error
    assert run("-i", "dump.mlir", f"--alias-names={alias}").err == error
    page = ("plot", "-i", "dump.mlir", f"--alias-names={alias}", "-o", "page.html")
    assert run(*page).err == error
    case = f"{{name: x, file: dump.mlir, alias: {alias}, type: '{TYPE}'}}"
    Path("layouts.yaml").write_text(f"version: 1\ncases:\n  - {case}\n")
    assert f"there is no alias #{alias} in dump.mlir; {hint}" in run("check").out


def test_a_long_list_of_layouts_is_cut() -> None:
    message = unknown_alias("x", (f"layout{number}" for number in range(50)))
    assert message.endswith("#layout6, #layout7 and 42 more")
    assert unknown_alias("x", ()) == "there is no alias #x, nor any other that is a layout"
