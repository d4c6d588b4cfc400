"""Figures of the package's style, with limits that are only ever lowered.

``tests/ir/test_traits.py`` counts the files that spell names of operations,
``tests/project/test_architecture.py`` the lines of modules and functions.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tt_layout

PACKAGE = Path(tt_layout.__file__).parent

MOST_CLAUSES = 0.02
"""Share of docstrings whose first line is a relative clause."""

MOST_NAMELESS = 0.007
"""Share of variables and parameters called by none of their own names."""

MOST_FILES_OF_ONE_IMPORTER = 45
"""Modules that one other module alone imports."""

MOST_IDS = 3
"""Calls of ``id``, which key a dictionary by an object."""

CLAUSE = re.compile(
    r"(?:(?:Return|Yield|Tell|Say) (?:what|where|the same)|What|Where|Of|The same"
    r"|(?:Return )?[Hh]ow (?:far|often|much|many))\b"
)

NAMELESS = frozenset(["each", "found", "given", "known", "more", "one", "others", "own", "whole"])

pytestmark = pytest.mark.slow


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of each module, by its dotted name."""
    return {
        ".".join(("tt_layout", *path.relative_to(PACKAGE).with_suffix("").parts)): ast.parse(
            path.read_text(encoding="utf-8")
        )
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def nodes() -> Iterator[tuple[str, ast.AST]]:
    """Yield every node with the name of its module."""
    return ((module, node) for module, tree in trees().items() for node in ast.walk(tree))


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [
        (module, text)
        for module, node in nodes()
        if isinstance(node, documented) and (text := ast.get_docstring(node)) is not None
    ]
    clauses = [f"{module}: {text.splitlines()[0]}" for module, text in texts if CLAUSE.match(text)]
    assert len(clauses) <= MOST_CLAUSES * len(texts), "\n".join(clauses)


def variables() -> Iterator[tuple[str, str]]:
    """Yield the name of each variable that is assigned, and of each parameter, with its module."""
    for module, node in nodes():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield module, node.id
        elif isinstance(node, ast.arg):
            yield module, node.arg


def test_variables_have_names_of_their_own() -> None:
    names = list(variables())
    nameless = Counter(f"{module}: {name}" for module, name in names if name in NAMELESS)
    assert nameless.total() <= MOST_NAMELESS * len(names), nameless.most_common()


def test_few_modules_have_one_importer() -> None:
    importers = defaultdict(set)
    for module, node in nodes():
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                importers[node.module].add(module)
                importers[f"{node.module}.{alias.name}"].add(module)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                importers[alias.name].add(module)
    alone = [m for m in trees() if not m.endswith("__init__") and len(importers[m]) == 1]
    assert len(alone) <= MOST_FILES_OF_ONE_IMPORTER, "\n".join(alone)


def test_few_dictionaries_are_keyed_by_the_address_of_an_object() -> None:
    calls = [
        f"{module}:{node.lineno}"
        for module, node in nodes()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"
    ]
    assert len(calls) <= MOST_IDS, "\n".join(calls)


def test_class_names_are_unique() -> None:
    homes = defaultdict(list)
    for module, node in nodes():
        if isinstance(node, ast.ClassDef):
            homes[node.name].append(module)
    shared = {name: modules for name, modules in homes.items() if len(modules) > 1}
    assert not shared
