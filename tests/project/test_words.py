"""Habits of speech that are kept out of what users read: docs, help, messages and the page.

`words.md` of the project's beginnings lists them; what is tested here is what a pattern can find.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tt_layout.cli.main import cli

ROOT = Path(__file__).parents[2]
HABITS = {
    "Of X, Y is": r"(?:^|[.;] )Of (?:[a-z]+ ){0,5}[a-z]+,? (?:the|it|only|both|each|is|are|a|one) ",
    "a verb first": r"(?:^|[.;] )[A-Z][a-z]+(?:ed|own|old|aid|rawn|aken) (?:is|are|was|were) ",
    "stand": r"\bst(?:ands?|ood)\b(?! (?:out|for (?:a|an|the) ))",
    "lie": r"\b(?:lies|lying)\b",
    "tell": r"\b(?:tells?|told)\b",
    "dear": r"\bdear(?:er|est)\b",
    "likewise": r"\b[Ll]ikewise\b",
    "way out": r"\bthe way out\b",
    "come from which": r"\bcomes? from which\b",
}
"""Habit -> a pattern of it."""

KEPT = ("where types tell",)
"""Texts that stay: meanings of features, which may not change while their version does not."""


def sentences(text: str) -> Iterator[str]:
    """Yield paragraphs, items and cells of a page, without code."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*] |\d+\. ))", text):
        if block.lstrip().startswith("|"):
            yield from (cell.strip() for cell in block.split("|"))
        elif not block.startswith("    "):
            yield " ".join(re.sub(r"^\s*(?:[-*] |\d+\. )", "", block).split())


def faults(text: str) -> list[str]:
    """Return the habits of a text, each with what is around it.

    Example:
        >>> faults("Compared are files.")
        ['a verb first: Compared are files.']
    """
    plain = re.sub(r"`[^`]*`", "`x`", text)
    for kept in KEPT:
        plain = plain.replace(kept, "")
    return [
        f"{habit}: {' '.join(plain[max(0, m.start() - 30) : m.end() + 30].split())}"
        for habit, pattern in HABITS.items()
        for m in re.finditer(pattern, plain)
    ]


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_docs(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [fault for one in sentences(text) for fault in faults(one)] == []


def helps() -> Iterator[tuple[str, str]]:
    """Yield the name of each command and its help."""
    context = click.Context(cli, info_name="tt-layout", **cli.context_settings)
    yield "", cli.get_help(context)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        own = click.Context(command, info_name=name, parent=context)
        yield name, command.get_help(own)
        if isinstance(command, click.Group):
            for sub in command.list_commands(own):
                inner = command.get_command(own, sub)
                assert inner is not None
                yield f"{name} {sub}", inner.get_help(click.Context(inner, parent=own))


@pytest.mark.slow
def test_help() -> None:
    found = {name: faults(" ".join(text.split())) for name, text in helps()}
    assert {name: own for name, own in found.items() if own} == {}


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the strings of a module that are not its docstrings, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, node.value


MODULES = sorted((ROOT / "tt_layout").rglob("*.py"))


@pytest.mark.slow
def test_messages() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {fault}"
        for path in MODULES
        for line, text in messages(path)
        if " " in text
        for fault in faults(text)
    ]
    assert found == []


SCRIPTS = [*sorted((ROOT / "tt_layout" / "page").glob("*.js")), ROOT / "tt_layout/page/page.html"]


def test_page() -> None:
    found = []
    for path in SCRIPTS:
        text = re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.S)
        texts = re.findall(r"\"[^\"\n]*\"|`[^`]*`|>[^<>]+<", text)
        found += [
            f"{path.name}: {fault}" for one in texts if " " in one for fault in faults(one[1:-1])
        ]
    assert found == []
