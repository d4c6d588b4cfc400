"""The structure of the package: who imports whom, how long things are, who may print."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tt_layout

PACKAGE = Path(tt_layout.__file__).parent
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))

# One way through: text -> syntax tree -> encoding -> linear layout -> view -> output.
# What a module imports when it is loaded ranks no higher than itself, and nothing is imported
# in a circle.
RANKS = {
    "errors": 0,
    "f2": 0,
    "source": 1,
    "releases": 1,
    "padding": 1,
    "syntax": 2,
    "linear_layout": 2,
    "types": 3,
    "layout_utils": 3,
    "f2map": 3,
    "views": 4,
    "encodings": 4,
    "parsing": 5,
    "document": 5,
    "subject": 5,
    "printing": 5,
    "output": 5,
    "cli": 7,
    "__main__": 8,
}
ANALYSES = 6
"""Rank of every other module: it asks something of layouts, and the command line asks it."""

APART = {("views", "encodings"), ("encodings", "views"), ("linear_layout", "syntax")}
"""Pairs that know nothing of each other when they are loaded."""

EDGE = {"cli", "arguments", "commands"}
"""What talks to the user; nothing else prints or exits."""

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 40


def tree(module: Path) -> ast.Module:
    return ast.parse((PACKAGE / module).read_text(encoding="utf-8"))


def part(module: Path) -> str:
    """Return what the table of ranks calls a module: its folder, or its own name."""
    return module.parts[0].removesuffix(".py")


def rank(name: str) -> int:
    return RANKS.get(name, ANALYSES)


def imported(node: ast.stmt) -> list[str]:
    """Return the names of the package's parts that a statement imports."""
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        if node.module == "tt_layout":
            return [a.name for a in node.names if (PACKAGE / f"{a.name}.py").exists()]
        names = [node.module or ""]
    elif isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        return []
    return [n.split(".")[1] for n in names if n.startswith("tt_layout.")]


def loaded(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements that run when a module is imported."""
    for child in ast.iter_child_nodes(node):
        is_type_checking = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) or is_type_checking:
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from loaded(child)


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_go_downwards(module: Path) -> None:
    own = part(module)
    if own == "__init__":
        assert {n for s in loaded(tree(module)) for n in imported(s)} <= {"errors"}
        return
    for statement in loaded(tree(module)):
        for name in imported(statement):
            if name == own:
                continue
            place = f"{module}:{statement.lineno} imports {name}"
            assert rank(name) <= rank(own), f"{place}, which ranks above it"
            assert (own, name) not in APART, f"{place}; these two are kept apart"


def test_no_imports_in_a_circle() -> None:
    arrows = {
        (part(m), name) for m in MODULES for s in loaded(tree(m)) for name in imported(s)
    }
    arrows -= {(a, b) for a, b in arrows if a == b}
    parts = {name for arrow in arrows for name in arrow}
    while leaves := parts - {a for a, b in arrows if b in parts and a in parts}:
        parts -= leaves
    assert parts == set()


def test_encodings_reach_views_only_inside_functions_and_views_no_encodings_at_all() -> None:
    for module in MODULES:
        names = {n for s in ast.walk(tree(module)) if isinstance(s, ast.stmt) for n in imported(s)}
        if part(module) == "views":
            assert not names & {"encodings", "syntax", "types", "parsing", "document"}, module
        if part(module) in ("syntax", "source", "errors", "f2"):
            assert not names & {"encodings", "views", "linear_layout"}, module


def docstrings(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the strings that stand as statements of their own."""
    for child in ast.walk(node):
        value = child.value if isinstance(child, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value


def code_lines(text: list[str], node: ast.AST, first: int, last: int) -> int:
    """Count the lines from first to last that are code: no docstring, comment or empty line."""
    told = {
        number
        for string in docstrings(node)
        for number in range(string.lineno, (string.end_lineno or string.lineno) + 1)
    }
    code = (n for n in range(first, last + 1) if n not in told)
    return sum(1 for n in code if text[n - 1].strip() and not text[n - 1].lstrip().startswith("#"))


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_modules_and_functions_are_short(module: Path) -> None:
    """What explains the code does not count: the essays at the heads of modules are welcome."""
    syntax, text = tree(module), (PACKAGE / module).read_text(encoding="utf-8").splitlines()
    assert code_lines(text, syntax, 1, len(text)) <= MAX_MODULE_LINES
    for node in ast.walk(syntax):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            size = code_lines(text, node, node.lineno, node.end_lineno or node.lineno)
            assert size <= MAX_FUNCTION_LINES, f"{module}:{node.lineno}: {node.name}"


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_only_the_command_line_prints_or_exits(module: Path) -> None:
    if part(module) in EDGE:
        return
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in {"print", "sys.exit", "exit", "quit", "click.echo", "os._exit"}, (
                f"{module}:{node.lineno} calls {called}"
            )


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_and_public_name_says_what_it_is(module: Path) -> None:
    syntax = tree(module)
    assert ast.get_docstring(syntax), module
    for node in ast.walk(syntax):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{module}:{node.lineno}: {node.name}"


def modules_loaded(script: str) -> set[str]:
    """Run a script in a fresh Python; return the modules that are loaded at its end."""
    command = [sys.executable, "-c", script + "\nprint(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("name", ["tt_layout", "tt_layout.cli"])
def test_importing_is_cheap(name: str) -> None:
    """Neither numpy nor rich nor yaml is loaded before it is needed."""
    unneeded = {"numpy", "rich", "yaml", "tt_layout.encodings", "tt_layout.views"}
    assert modules_loaded(f"import sys, {name}") & unneeded == set()


def test_wrong_usage_is_reported_without_numpy() -> None:
    script = "import sys, tt_layout.cli as c\ntry: c.main(['-t', 'x'])\nexcept SystemExit: pass"
    assert modules_loaded(script) & {"rich", "yaml"} == set()
