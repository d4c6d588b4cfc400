"""Texts of each surface: options, arguments of Python, members of a question."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tt_layout
from tt_layout.surface import AGENT, COMMAND_LINE, everything, shown_on

EXAMPLES = Path(__file__).parents[2] / "examples"
MATMUL = "kernels/matmul-sm90.ttgir"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*|tt-layout [a-z]+ ")

Ask = Callable[..., str]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return what a tool answers, in this process."""
    pytest.importorskip("pydantic")
    from tt_layout.servers import agent_tools

    monkeypatch.setattr(agent_tools, "limit_memory", lambda: None)
    tools = agent_tools.AgentTools(str(EXAMPLES))

    def asked(name: str, **arguments: Any) -> str:
        return str(agent_tools.answered(tools, name, arguments))

    return asked


def test_each_surface_says_how_everything_is_shown() -> None:
    said = [everything()]
    for surface in (COMMAND_LINE, AGENT):
        with shown_on(surface):
            said.append(everything())
    assert said == [".whole", "--all", "the tool findings"]
    assert everything() == ".whole"


def test_findings_are_counted_as_the_reader_asks_for_them(ask: Ask) -> None:
    dump = EXAMPLES / MATMUL
    assert str(tt_layout.audit_ir(str(dump))).endswith(".whole lists it")
    told = ask("audit", dump=MATMUL)
    assert told.startswith(f"{MATMUL}:15\n")
    assert told.endswith("the tool findings lists it")


def test_a_list_of_dumps_has_parts(ask: Ask) -> None:
    first = ask("dumps", most=2).splitlines()
    total = int(first[-1].split(" ")[4])
    assert first[-1] == f'1 to 2 of {total} dumps; the next: "first": 3'
    names = [line.partition("  ")[0] for line in ask("dumps").splitlines()[:-1]]
    assert names == sorted(names)
    assert len(names) == total
    assert all((EXAMPLES / name).is_file() for name in names)
    assert ask("dumps", first=total + 1) == f"none from {total + 1} on, of {total} dumps"


@pytest.mark.slow
def test_findings_have_parts(ask: Ask) -> None:
    dump = "kernels/attention-gfx942.ttgir"
    whole = ask("findings", dump=dump).splitlines()
    total = int(re.match(r"1 to (\d+) of", whole[-1])[1])  # type: ignore[index]
    parts = [ask("findings", dump=dump, first=at, most=1).splitlines() for at in (1, total)]
    assert parts[0][:2] == whole[:2]
    assert parts[0][-1].endswith('; the next: "first": 2')
    assert parts[-1][-1].startswith(f"{total} to {total} of ")
    assert "the next" not in parts[-1][-1]


def test_a_launch_and_a_release_are_members(ask: Ask) -> None:
    assert "assuming" not in ask("audit", dump=MATMUL, grid=[64, 1])
    assert "assuming 64 programs" not in ask("audit", dump=MATMUL)
    assert "unknown Triton release '99'" in ask("audit", dump=MATMUL, release="99")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("kernels/*.ttgir")))
def test_no_text_names_an_option(name: str, ask: Ask) -> None:
    dump = f"kernels/{name}"
    told = [ask("audit", dump=dump), ask("findings", dump=dump)]
    report = tt_layout.audit_ir(str(EXAMPLES / dump))
    told += [str(report), str(report.whole)]
    for text in told:
        assert OPTION.search(text) is None, text


def test_a_page_asks_for_values_in_words() -> None:
    from tt_layout.mlir.source import Source
    from tt_layout.page.dump import page_of_dump

    kernel = Path(__file__).parents[2] / "examples" / "kernels" / "attention-gfx942.ttgir"
    page = page_of_dump(Source(kernel.read_text(encoding="utf-8"), "k.ttgir"), []).html
    assert "exact with the value of length" in page
    assert "--value" not in page
