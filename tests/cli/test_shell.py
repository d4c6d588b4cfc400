"""The command line for people: help with examples, commands that were meant, completion."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from command import Run, runner
from tiers import slow

from tt_layout.cli.groups import EXAMPLES
from tt_layout.cli.main import cli

ROOT = Path(__file__).parents[2]
BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
DUMP = f"""#blocked = {BLOCKED}
#shared = #ttg.swizzled_shared<{{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
  tt.func @kernel(%a: tensor<64x64xf16, #blocked>) {{
    %0 = ttg.local_alloc %a : (tensor<64x64xf16, #blocked>) ->
      !ttg.memdesc<64x64xf16, #shared, #smem>
    tt.return
  }}
}}
"""

WITH_SUGGESTION = Path(__file__).parents[2] / "examples" / "workloads" / "int8_matmul-gfx942.ttgir"
"""A dump of which a suggestion can be applied."""


@pytest.fixture
def run(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("kernel.ttgir").write_text(DUMP)
    return runner(capfdbinary, monkeypatch)


def commands() -> Iterator[str]:
    """Yield every command and group, those of groups behind the names of their groups."""
    context = click.Context(cli)
    yield ""
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if isinstance(command, click.Group):
            yield from (f"{name} {own}" for own in command.list_commands(context))
        yield name


def test_every_command_has_examples() -> None:
    assert list(EXAMPLES) == sorted(EXAMPLES)
    assert sorted(commands()) == list(EXAMPLES)


SERVERS = ("lsp", "mcp")
"""Commands that need an extra, which the plain run may lack."""


def words_of(command: str) -> list[str]:
    """Return the words of a command, in which a line may end as a space."""
    return [re.sub(r"\s+", " ", word) for word in shlex.split(command)]


@pytest.mark.parametrize("name", [slow(name) if name in SERVERS else name for name in EXAMPLES])
def test_the_examples_of_a_help_run(name: str, run: Run) -> None:
    """They are what the help shows, and none of them fails."""
    shown = run(*name.split(), "--help").out
    if name == "apply":
        Path("kernel.ttgir").write_text(WITH_SUGGESTION.read_text())
    if name == "check":
        run("init", "kernel.ttgir", "-o", "layouts.yaml")
        run("check", "layouts.yaml", "--update")
    block = shown.split("Examples:\n")[1].replace("\\\n", "")
    commands = re.split(r"^ +(?=tt-layout)", block, flags=re.MULTILINE)[1:]
    lines = [words_of(command) for command in commands]
    assert lines == [words_of(example) for example in EXAMPLES[name]]
    for program, *arguments in lines:
        assert program == "tt-layout"
        outcome = run(*arguments)
        assert outcome.status == (1 if name == "diff" else 0), outcome.err


@pytest.mark.parametrize(("name", "heading"), [("", "Your kernel"), ("suggest", "Commands")])
def test_no_summary_is_cut_off(
    name: str, heading: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = run(*name.split(), "--help").out.split(f"{heading}:\n")[1]
    assert "..." not in listed


def test_without_arguments_the_help_is_shown(run: Run) -> None:
    outcome = run()
    assert outcome == run("--help")
    assert outcome.status == 0


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["confilcts"], "conflicts"),
        (["transalte", "x"], "translate"),
        (["suggest", "nvma"], "nvmma"),
    ],
)
def test_a_misspelled_command_is_named(words: list[str], near: str, run: Run) -> None:
    outcome = run(*words)
    assert outcome.status == 2
    assert f"no such command {words[-1] if near == 'nvmma' else words[0]!r}" in outcome.err
    assert f"did you mean {near!r}?" in outcome.err


def test_a_layout_in_the_place_of_a_command_is_shown(run: Run) -> None:
    wanted = run("-l", BLOCKED, "-t", "tensor<16x64xf16>")
    assert wanted.status == 0
    for text in (BLOCKED, "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])"):
        assert run(text, "-t", "16x64xf16") == wanted


@pytest.mark.parametrize("element", ["3,5", "(3,5)", "(3, 5)", "[3, 5]"])
def test_an_element_may_have_brackets(element: str, run: Run) -> None:
    outcome = run("where", BLOCKED, "-t", "64x64xf16", "--element", element)
    assert outcome.out.startswith("1 location holds (3, 5)\n")


def test_wide_warps_are_of_amd_by_default(run: Run) -> None:
    wide = BLOCKED.replace("[4, 8]", "[8, 8]")
    shared = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
    outcome = run("conflicts", wide, shared, "-t", "64x64xf16")
    assert outcome.status == 0
    assert (
        outcome.out == run("conflicts", wide, shared, "-t", "64x64xf16", "--target", "gfx942").out
    )
    assert outcome.err == ("note: warps of 64 lanes are of AMD CDNA3; --target picks another GPU\n")
    assert run("conflicts", BLOCKED, shared, "-t", "64x64xf16").err == ""


COMPLETIONS = [
    (["con"], ["conflicts", "convert"]),
    (["info", "--tri"], ["--triton"]),
    (["info", "--triton", "3.8"], ["3.8"]),
    (["info", "kernel.ttgir:"], ["kernel.ttgir:blocked", "kernel.ttgir:shared"]),
    (["conflicts", "kernel.ttgir:blocked", "kernel.ttgir:sh"], ["kernel.ttgir:shared"]),
    (["conflicts", "x", "y", "--target", "sm9"], ["sm90"]),
    (["suggest", "co"], ["coalesced"]),
    (["info", "kernel.ttgir:6"], ["kernel.ttgir:6"]),
    (["info", "nowhere.ttgir:"], []),
]


@pytest.mark.parametrize(("words", "wanted"), COMPLETIONS)
def test_a_shell_completes(words: list[str], wanted: list[str], run: Run) -> None:
    found = ShellComplete(cli, {}, "tt-layout", "_X").get_completions(words[:-1], words[-1])
    assert [item.value for item in found] == wanted
    assert all(item.type == "plain" for item in found)


@pytest.mark.parametrize("words", [["audit", "ker"], ["info", "ker"], ["-i", "ker"]])
def test_a_shell_completes_files_itself(words: list[str], run: Run) -> None:
    found = ShellComplete(cli, {}, "tt-layout", "_X").get_completions(words[:-1], words[-1])
    assert [(item.type, item.value) for item in found] == [("file", "ker")]


SHELLS = {
    "bash": ("tt-layout info kernel.ttgir:b", "2"),
    "zsh": ("tt-layout info kernel.ttgir:b", "2"),
    "fish": ("tt-layout info ", "kernel.ttgir:b"),
}
"""Shell -> the words that its script passes on, and which of them is completed."""


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_of_the_shells(shell: str, tmp_path: Path) -> None:
    """Each script asks the program, which answers in the form that the script reads."""
    (tmp_path / "kernel.ttgir").write_text(DUMP)
    words, at = SHELLS[shell]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    program = [sys.executable, "-m", "tt_layout"]

    def answer(**variables: str) -> str:
        own = {**environment, **variables}
        done = subprocess.run(program, cwd=tmp_path, env=own, capture_output=True, text=True)
        return done.stdout

    assert "tt-layout" in answer(_TT_LAYOUT_COMPLETE=f"{shell}_source")
    found = answer(_TT_LAYOUT_COMPLETE=f"{shell}_complete", COMP_WORDS=words, COMP_CWORD=at)
    assert found.startswith("plain")
    assert "kernel.ttgir:blocked" in found.replace("\\:", ":")
    assert ("#ttg.blocked<{" in found) == (shell != "bash")
