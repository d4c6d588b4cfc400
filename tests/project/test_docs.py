"""README and docs are true: commands are run and their output compared byte for byte.

Run this file as a script to write what the commands of the README print now into it.
"""

from __future__ import annotations

import doctest
import inspect
import lzma
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner
from tiers import slow

import tt_layout
from tt_layout.encodings import FORMS, Encoding

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAX_README_LINES = 245
PAGES = (
    "README.md", "docs/usage.md", "docs/attributes.md", "docs/tour.md", "docs/apply.md",
    "docs/learn.md", "docs/cute.md",
)  # fmt: skip
"""Pages whose blocks of commands run one by one, all of them in a shell in the slow tier."""
ATTRIBUTES = (ROOT / "docs" / "attributes.md").read_text(encoding="utf-8")
SETUP, DEVELOPMENT = re.findall(r"^```bash\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A command of a page and the output that stands below it."""

    block: str
    command: str
    output: str


def examples(text: str = README) -> Iterator[Example]:
    """Yield the ``$`` commands of all console blocks; ``>`` lines continue a command."""
    blocks = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for number, block in enumerate(blocks):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines(keepends=True)
            more = 1
            while more < len(lines) and lines[more].startswith("> "):
                more += 1
            command = lines[0] + "".join(line[2:] for line in lines[1:more])
            yield Example(str(number), command, "".join(lines[more:]))


EXAMPLES = [
    replace(example, block=f"{page}-{example.block}")
    for page in PAGES
    for example in examples((ROOT / page).read_text(encoding="utf-8"))
]


Shell = tuple[Path, dict[str, str]]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Return a directory to work in, and an environment in which ``tt-layout`` is ours."""
    return new_shell(tmp_path)


def new_shell(tmp_path: Path) -> Shell:
    """Return a directory to work in below another, and its environment."""
    command = tmp_path / "bin" / "tt-layout"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tt_layout "$@"\n')
    command.chmod(0o755)
    place = tmp_path / "work"
    shutil.copytree(ROOT / "examples", place / "examples")
    path = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    return place, {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


TERMINAL_BLOCKS = re.findall(r"^```console (\d+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
"""Columns of a terminal, and the commands and what it shows, which is not what a pipe gets."""


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "block"), TERMINAL_BLOCKS)
def test_a_terminal_shows_what_stands_below_the_command(
    columns: str, block: str, shell: Shell
) -> None:
    for example in examples(f"```console\n{block}```"):
        shown = printed(example.command, columns, shell)
        assert shown == example.output, example.command
        assert max(map(len, shown.splitlines()), default=0) <= int(columns)


def test_the_first_screen_shows_what_the_tool_is_for() -> None:
    """A view of each side of a blocked layout, and a check that fails: before any heading."""
    first, _, second = README.partition("\n## ")
    for text in (
        "#ttg.blocked<{",
        "--use-hw-view",
        "tt-layout init",
        "tt-layout check",
        "\nchanged: ",
    ):
        assert text in first
    assert max(map(len, re.sub(r"\]\([^)]*\)", "]", first).splitlines())) <= 110
    assert second.index("#ttg.swizzled_shared") < second.index("tt-layout audit")


def test_the_speed_is_that_of_the_page_on_speed() -> None:
    page = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    ratios = [int(n) for n in re.findall(r"view, 1024x1024 .* (\d+)x \|$", page, re.MULTILINE)]
    assert f"| {min(ratios)} to {max(ratios)} times as fast as the compiler's printer |" in README


def output_of(command: str, shell: Shell) -> str:
    """Run a command as bash runs it."""
    place, environment = shell
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def words_of(command: str) -> list[str] | None:
    """Return the words of a command of ours that needs no shell: no pipe, no other program."""
    reader = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    program, *arguments = reader
    needs_shell = any(set(word) <= set("();<>|&") for word in arguments) or "$(" in command
    return arguments if program == "tt-layout" and not needs_shell else None


def blocks() -> Iterator[Any]:
    """Yield a block and whether it runs in a shell: all do so in the slow tier."""
    for block in dict.fromkeys(example.block for example in EXAMPLES):
        words = [words_of(example.command) for example in EXAMPLES if example.block == block]
        if None not in words:
            yield block, False
        yield slow(block, True)


@pytest.mark.parametrize(("block", "in_shell"), list(blocks()))
def test_every_command_prints_what_stands_below_it(
    block: str, in_shell: bool, shell: Shell, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shell[0])
    for example in (example for example in EXAMPLES if example.block == block):
        if in_shell:
            output = output_of(example.command, shell)
        else:
            outcome = run(*(words_of(example.command) or []))
            output = outcome.out + outcome.err
        assert output == example.output, example.command


@pytest.mark.slow
def test_the_examples_of_the_analyses_are_true(
    run: Run, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shell[0])
    guide = (ROOT / "docs" / "analyses.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    [dump] = [text for kind, text in blocks if kind == "mlir"]
    Path("kernel.mlir").write_text(dump, encoding="utf-8")
    console = "".join(text for kind, text in blocks if kind == "console")
    examples = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", console, re.MULTILINE)
    assert len(examples) > 10
    for command, output in examples:
        words = words_of(command)
        shown = output_of(command, shell) if words is None else run(*words).out
        assert shown == output, command


EXECUTED_PAGES = ("notations.md", "shell.md")
PIPED_PAGES = (
    "coming-from.md", "data-movements.md", "global-memory.md", "reductions.md", "translate.md",
)  # fmt: skip
"""Pages whose commands stand for themselves; those of the second need a shell, which takes long."""


@pytest.mark.parametrize("page", [*EXECUTED_PAGES, *map(slow, PIPED_PAGES)])
def test_the_commands_of_a_page_print_what_stands_below_them(
    page: str, run: Run, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shell[0])
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = list(examples(text))
    assert found
    for example in found:
        words = words_of(example.command)
        outcome = None if words is None else run(*words)
        shown = output_of(example.command, shell) if outcome is None else outcome.out + outcome.err
        assert shown == example.output, example.command


PLACEHOLDERS = {
    "FILE": "kernel.ttgir",
    "DUMP": "passes.mlir",
    "BEFORE": "kernel.ttgir",
    "AFTER": "dumps/new.ttgir",
    "FILE:ALIAS": "kernel.ttgir:mma",
    "kernel.ttgir:139": "dumps/new.ttgir:139",
    "LAYOUT": "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])",
    "OTHER_LAYOUT": "gl.BlockedLayout([8, 1], [8, 4], [1, 4], [0, 1])",
    "TYPE": "64x64xf16",
    "FILE.svg": "figure.svg",
    "FILE.png": "figure.png",
    "inductor/triton": "dumps",
    "torch_trace/": "dumps",
    "tl_out/": "dumps",
    "~/.triton/cache": "dumps",
    "FOLDER": "dumps",
    "dumps-of-main": "dumps",
    "dumps-of-pull-request": "dumps",
}
"""What readers have in the place of a word of a command."""
MENTIONED_PAGES = (
    "audit.md",
    "baseline.md",
    "dumps.md",
    "page.md",
    "plot.md",
    "registers.md",
    "time.md",
)
"""Pages whose commands are of the reader's files."""
ELSEWHERE = ("--ncu", "trace.ndjson", "--compact", "kernels.json")
"""What commands have that other tests run: test_measured, _traces, _terminal, _example_ci."""


def mentioned(page: str) -> Iterator[list[str]]:
    """Yield the words of the commands of a page, with files in the place of the reader's."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for line in re.findall(r"^(?:    |\$ )(tt-layout .*)", text, re.MULTILINE):
        command = re.split(r"  +", line)[0]
        if not re.search(r"[\[|]", command) and not any(part in command for part in ELSEWHERE):
            _, *words = shlex.split(command)
            yield [PLACEHOLDERS.get(word, word) for word in words]


@pytest.mark.slow
@pytest.mark.parametrize("page", MENTIONED_PAGES)
def test_the_commands_that_a_page_mentions_run(
    page: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    examples = ROOT / "examples"
    passes = lzma.decompress((ROOT / "tests" / "data" / "matmul-sm80-passes.mlir.xz").read_bytes())
    Path("dumps").mkdir()
    shutil.copy(examples / "workloads" / "int8_matmul-gfx942.ttgir", "kernel.ttgir")
    shutil.copy(examples / "kernels" / "matmul-sm80.ttgir", "dumps/new.ttgir")
    Path("passes.mlir").write_bytes(passes)
    found = list(mentioned(page))
    assert found
    for words in found:
        outcome = run(*words)
        assert outcome.status in (0, 1), (words, outcome.err)


RUN_BY = {
    "agents.md": "servers/test_agents.py",
    "analyses.md": "project/test_docs.py",
    "check.md": "golden/test_check.py",
    "editors.md": "servers/test_language_server.py",
    "features.md": "reports/test_features.py",
    "third-parties.md": "encodings/test_third_parties.py",
    "watch.md": "watching/test_watching.py",
}
"""Pages whose commands are run where what they are about is tested."""


def test_no_page_has_commands_that_nobody_runs() -> None:
    here = {Path(page).name for page in PAGES}
    here |= {*EXECUTED_PAGES, *PIPED_PAGES, *MENTIONED_PAGES, *RUN_BY}
    command = re.compile(r"^(?:    |\$ )?(?:tt-layout|python -m tt_layout)\b", re.MULTILINE)
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    left = [
        page.name
        for page in pages
        if page.name not in here and command.search(page.read_text(encoding="utf-8"))
    ]
    assert left == []
    assert all((ROOT / "tests" / name).exists() for name in RUN_BY.values())


def test_there_are_commands_to_run() -> None:
    assert len(EXAMPLES) > 10


def test_the_first_command_prints_what_stands_below_it(shell: Shell) -> None:
    """Setting up is left to the CI script, which runs the whole of it."""
    setup, command = SETUP.split("&&\n")
    assert setup == "python3 -m venv .venv && .venv/bin/pip install -q . "
    below = README.split(SETUP)[1]
    match = re.match(r"```\n\n```text\n(.*?)```\n", below, re.DOTALL)
    assert match is not None
    assert output_of(command.removeprefix(".venv/bin/"), shell) == match.group(1)


def test_the_second_command_sets_up_and_runs_the_tests() -> None:
    assert [part.strip() for part in DEVELOPMENT.split("&&")] == [
        "python3 -m venv .venv",
        ".venv/bin/pip install -q -e '.[test]'",
        ".venv/bin/pytest -q -n auto",
    ]


def test_ci_runs_the_two_set_up_commands_as_they_stand_here() -> None:
    shown = subprocess.run(
        ["bash", ".ci/readme-command", "1"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert shown.stdout == SETUP
    shown = subprocess.run(
        ["bash", ".ci/readme-command", "2"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert shown.stdout == DEVELOPMENT
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.count(".ci/readme-command 1") == script.count(".ci/readme-command 2") == 1


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/library.md"])
def test_the_library_section_is_true(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, Any] = {}
    for block in blocks:
        examples = doctest.DocTestParser().get_doctest(block, names, page, page, 0)
        names = examples.globs
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        assert runner.run(examples, clear_globs=False).failed == 0


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "page.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    exec(code, {})
    assert Path("accumulator.html").read_text(encoding="utf-8").startswith("<!")


def rows() -> list[list[str]]:
    """Return the rows of the table of attributes."""
    table = ATTRIBUTES.split("| attribute | what it is | example | the real tool |\n")[1]
    lines = table.split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_the_example_of_an_attribute_is_canonical_and_has_a_meaning(row: list[str]) -> None:
    name, text = row[0].split("`")[1], row[2].strip("`")
    encoding = tt_layout.parse_layout(text)
    assert str(encoding) == text
    assert encoding.name.split(".")[1] == name
    said = r"prints|aborts|refuses( since 3\.9)?|has no such attribute"
    assert re.fullmatch(said, row[3])
    shape = [128] * (encoding.rank or 2)
    if name in ("linear", "generic_linear", "shared_linear", "partitioned_shared"):
        shape = [8] if encoding.rank == 1 else [2, 2]
    if name == "padded_shared":
        shape = [16, 128]
    assert encoding.to_linear_layout(shape, element_bits=16).is_surjective()


def test_every_attribute_has_a_row() -> None:
    described = {row[0].split("`")[1] for row in rows()}
    assert described == {name.split(".")[1] for name in FORMS}


def classes() -> list[type[Encoding]]:
    return sorted({cls for name in FORMS for _, cls in FORMS[name]}, key=lambda cls: cls.__name__)


@pytest.mark.parametrize("encoding", classes(), ids=lambda cls: str(cls.__name__))
def test_every_encoding_explains_itself(encoding: type[Encoding]) -> None:
    """Its docstring, not an inherited one, shows an example and names its source."""
    text = inspect.cleandoc(encoding.__dict__["__doc__"])
    assert "\nAttributes:\n" in text
    assert "\nExample:\n" in text
    assert ">>> " in text
    assert "\nSource:\n" in text


def test_every_release_since_2022_is_named() -> None:
    assert str(min(tt_layout.Release)) == "2022"
    usage = (ROOT / "docs" / "usage.md").read_text(encoding="utf-8")
    assert "2022, or 2.0 and any later one" in usage


def test_the_readme_is_short() -> None:
    assert README.count("\n") <= MAX_README_LINES


def test_the_index_of_the_docs_has_every_page() -> None:
    listed = re.findall(
        r"^\| \[.*\]\((\w[\w-]*\.md)\)", (ROOT / "docs" / "README.md").read_text(), re.M
    )
    assert sorted([*listed, "README.md"]) == sorted(p.name for p in (ROOT / "docs").glob("*.md"))


def test_the_architecture_names_every_room() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.split("## The rooms")[1].split("## The way of a text")[0]
    rooms = {
        path.name.removesuffix(".py")
        for path in Path(tt_layout.__file__).parent.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert set(re.findall(r"`(\w+)`", table)) >= rooms - {"__init__", "__main__"}


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "tests/README.md"])
def test_the_files_that_are_named_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    folders = r"tt_layout|tests|docs|benchmarks|examples|\.ci"
    paths = re.findall(rf"`((?:{folders})/[\w./-]+)`", text)
    paths += [f"tests/{name}.py" for name in re.findall(r"`(\w+/test_\w+)`", text)]
    assert paths
    assert [p for p in paths if "NAME" not in p and not (ROOT / p).exists()] == []


SCRIPTS = (
    "run",
    "interpreter",
    "packages",
    "pythons-between",
    "readme-command",
    "site",
    "try-wheel",
)


def test_no_path_of_one_machine_is_written_down() -> None:
    names = ["README.md", "CHANGELOG.md", *(f".ci/{name}" for name in SCRIPTS)]
    for name in names:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.search(r"(^|[\s\"'(=])/(home|root|work|Users)/", text), name


def rewritten(text: str, shell: Shell) -> str:
    """Return the README with what its commands print now."""

    def block(match: re.Match[str]) -> str:
        parts = [f"```console{match[1] or ''}\n"]
        for example in examples(f"```console\n{match[2]}```"):
            parts.append("$ " + example.command.rstrip("\n").replace("\n", "\n> ") + "\n")
            parts.append(printed(example.command, match[1], shell))
        return "".join([*parts, "```"])

    pattern = r"^```console( \d+)?\n(.*?)^```$"
    return re.sub(pattern, block, text, flags=re.MULTILINE | re.DOTALL)


def printed(command: str, columns: str | None, shell: Shell) -> str:
    """Return what a command prints into a pipe, or shows on a terminal of so many columns."""
    if columns is None:
        return output_of(command, shell)
    from terminals import shell_on_terminal

    place, environment = shell
    kept = {name: text for name, text in environment.items() if name != "CI"}
    return shell_on_terminal(command, columns=int(columns), folder=place, environment=kept)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        readme = ROOT / "README.md"
        readme.write_text(rewritten(README, new_shell(Path(temporary))), encoding="utf-8")
