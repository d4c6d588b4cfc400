"""The structure of the package: who imports whom, how long things are, who may print."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from tiers import sampled

import tt_layout

ROOT = Path(__file__).parents[2]
PACKAGE = Path(tt_layout.__file__).parent
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))

# One way through: text -> syntax tree -> encoding -> linear layout -> view or analysis -> output.
# What a module imports, wherever in it, ranks lower than itself or lies in the same room, and
# nothing is imported in a circle: neither rooms nor the modules of one room.
RANKS = {
    "safe_text": -1,
    "wording": -1,
    "folding": -1,
    "lazy": -2,
    "grouping": -2,
    "records": -2,
    "tuples": -2,
    "surface": -1,
    "errors": 0,
    "version": 0,
    "enums": 0,
    "worker": 0,
    "arguments": 1,
    "files": 1,
    "releases": 1,
    "colour": 1,
    "hardware": 1,
    "npot": 1,
    "algebra": 2,
    "mlir": 2,
    "encodings": 3,
    "placement": 4,
    "ir": 4,
    "kernels": 4,
    "views": 5,
    "analyses": 5,
    "terminal": 6,
    "figures": 6,
    "audit": 6,
    "notation": 6,
    "dumps": 7,
    "reports": 8,
    "page": 9,
    "golden": 9,
    "watching": 9,
    "rewriting": 9,
    "pytest_plugin": 10,
    "library": 10,
    "editing": 10,
    "servers": 11,
    "cli": 12,
    "watch": 13,
    "__init__": 13,
    "__main__": 13,
}
"""Every part of the package -> its rank."""

EDGE = {"cli", "watch", "__main__"}
"""What talks to the user; nothing else prints or exits."""

MAX_MODULE_LINES = 800
MAX_FUNCTION_LINES = 80


@cache
def tree(module: Path) -> ast.Module:
    return ast.parse((PACKAGE / module).read_text(encoding="utf-8"))


@cache
def nodes(module: Path) -> list[ast.AST]:
    return list(ast.walk(tree(module)))


def part(module: Path) -> str:
    """Return what the table of ranks calls a module: its folder, or its own name."""
    return module.parts[0].removesuffix(".py")


def imported(node: ast.AST) -> list[str]:
    """Return the modules of the package that a statement imports, as dotted names."""
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        home = node.module or ""
        names = [f"{home}.{a.name}" if is_module(f"{home}.{a.name}") else home for a in node.names]
    elif isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        return []
    return [name for name in names if name.split(".")[0] == "tt_layout" and is_module(name)]


@cache
def is_module(name: str) -> bool:
    path = PACKAGE.joinpath(*name.split(".")[1:])
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


@cache
def arrows() -> list[tuple[str, str, int]]:
    """Return importer, imported and line of every import, in functions or not."""
    return [
        (dotted(module), name, getattr(node, "lineno", 0))
        for module in MODULES
        for node in nodes(module)
        for name in imported(node)
        if name != dotted(module)
    ]


def dotted(module: Path) -> str:
    parts = [*module.with_suffix("").parts]
    return ".".join(["tt_layout", *(parts[:-1] if parts[-1] == "__init__" else parts)])


def room(name: str) -> str:
    """Return the part of the package that a dotted name lies in."""
    return [*name.split("."), "__init__"][1]


def test_every_part_has_a_rank() -> None:
    assert {part(module) for module in MODULES} == set(RANKS)


@pytest.mark.slow
def test_imports_go_downwards() -> None:
    upward = [
        f"{importer}:{line} imports {name}"
        for importer, name, line in arrows()
        if room(importer) != room(name) and RANKS[room(name)] >= RANKS[room(importer)]
    ]
    assert not upward, "\n".join(upward)


@pytest.mark.slow
def test_no_imports_in_a_circle() -> None:
    """Neither do rooms import each other in a circle, nor the modules of one room."""
    modules = [(importer, name) for importer, name, _ in arrows()]
    rooms = [(room(a), room(b)) for a, b in modules if room(a) != room(b)]
    found = [" <-> ".join(circle) for circle in [*circles(rooms), *circles(modules)]]
    assert not found, "\n".join(found)


def circles(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the groups of names in which each reaches each other: Tarjan's components."""
    reached: dict[str, set[str]] = {}
    for importer, name in pairs:
        reached.setdefault(importer, set()).add(name)
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(reached.get(name, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            circle = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(circle) > 1:
                found.append(sorted(circle))

    for name in sorted(reached):
        if name not in index:
            visit(name)
    return sorted(found, key=len)


def test_a_circle_is_named_whole() -> None:
    pairs = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("e", "f"), ("f", "g"), ("g", "e")]
    assert circles(pairs) == [["b", "c"], ["e", "f", "g"]]
    assert circles([("a", "b"), ("a", "c"), ("b", "c")]) == []


def constants_between(body: list[ast.stmt]) -> list[int]:
    """Return the lines of constants between definitions; none where some are made by these."""
    definitions = [node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    if not definitions:
        return []
    names = {node.name for node in definitions}
    first, last = definitions[0].lineno, definitions[-1].lineno
    constants = [
        node
        for node in body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and first < node.lineno < last
    ]
    used = {n.id for node in constants for n in ast.walk(node) if isinstance(n, ast.Name)}
    return [] if used & names else [node.lineno for node in constants]


@pytest.mark.slow
def test_constants_are_above_functions() -> None:
    found = [f"{m}:{line}" for m in MODULES for line in constants_between(tree(m).body)]
    assert not found, "\n".join(found)


def test_a_constant_between_functions_is_found() -> None:
    assert constants_between(ast.parse("def f(): ...\nA = 1\ndef g(): ...").body) == [2]
    assert constants_between(ast.parse("def f(): ...\nA = 1\nB = f()\ndef g(): ...").body) == []


def docstrings(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the strings that stand as statements of their own."""
    for child in ast.walk(node):
        value = child.value if isinstance(child, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value


def code_lines(text: list[str], node: ast.AST, first: int, last: int) -> int:
    """Count the lines from first to last that are code: no docstring, comment or empty line."""
    if last - first < MAX_FUNCTION_LINES:
        return last - first
    told = {
        number
        for string in docstrings(node)
        for number in range(string.lineno, (string.end_lineno or string.lineno) + 1)
    }
    code = (n for n in range(first, last + 1) if n not in told)
    return sum(1 for n in code if text[n - 1].strip() and not text[n - 1].lstrip().startswith("#"))


@pytest.mark.slow
def test_modules_and_functions_are_short() -> None:
    """What explains the code does not count: the essays at the heads of modules are welcome."""
    long = []
    for module in MODULES:
        syntax, text = tree(module), (PACKAGE / module).read_text(encoding="utf-8").splitlines()
        if (size := code_lines(text, syntax, 1, len(text))) > MAX_MODULE_LINES:
            long.append(f"{module}: {size} lines")
        for node in nodes(module):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                size = code_lines(text, node, node.lineno, node.end_lineno or node.lineno)
                if size > MAX_FUNCTION_LINES:
                    long.append(f"{module}:{node.lineno}: {node.name}: {size} lines")
    assert not long, "\n".join(long)


PROGRAMS = {"watching/__main__.py", "kernels/inside_triton.py"}
"""Modules that are run by a process of their own, and so may end it."""


@pytest.mark.slow
def test_only_the_command_line_prints_or_exits() -> None:
    forbidden = {"print", "sys.exit", "exit", "quit", "click.echo", "os._exit"}
    found = [
        f"{module}:{node.lineno} calls {called}"
        for module in MODULES
        if part(module) not in EDGE and str(module) not in PROGRAMS
        for node in nodes(module)
        if isinstance(node, ast.Call)
        if isinstance(node.func, (ast.Name, ast.Attribute))
        if (called := ast.unparse(node.func)) in forbidden
    ]
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_every_module_and_public_name_says_what_it_is() -> None:
    silent = [str(module) for module in MODULES if not ast.get_docstring(tree(module))]
    silent += [
        f"{module}:{node.lineno}: {node.name}"
        for module in MODULES
        for node in nodes(module)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        if not ast.get_docstring(node)
    ]
    assert not silent, "\n".join(silent)


PRIVATE = r"(?<![A-Za-z0-9_])_[A-Za-z]\w*"
DEFINED = re.compile(rf"(?:def|class) ({PRIVATE})|self\.({PRIVATE})\b.*=|^({PRIVATE})\b.*=", re.M)
ASKED = re.compile(
    rf"(?<!self)\.({PRIVATE})\b|\bimport (?:\w+, )*({PRIVATE})|setattr\(.*\"({PRIVATE})"
)
LISTED = re.compile(rf"^    ({PRIVATE}),$", re.M)


def names_in(pattern: re.Pattern[str], texts: Iterable[str]) -> set[str]:
    """Return names that a pattern finds in texts."""
    found = (match.groups() for text in texts for match in pattern.finditer(text))
    return {name for groups in found for name in groups if name}


def test_no_test_asks_for_a_private_name() -> None:
    package = [(PACKAGE / module).read_text(encoding="utf-8") for module in MODULES]
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    known = names_in(DEFINED, package) - names_in(DEFINED, tests) - {"_repr_html_", "_fields"}
    assert len(known) > 1000
    assert known & names_in(ASKED, tests) == set()


def modules_loaded(script: str) -> set[str]:
    """Run a script in a fresh Python; return the modules that are loaded at its end."""
    command = [sys.executable, "-c", script + "\nprint(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("name", ["tt_layout", "tt_layout.cli.main"])
def test_importing_is_cheap(name: str) -> None:
    """Neither numpy nor rich nor yaml is loaded before it is needed."""
    unneeded = {"numpy", "rich", "yaml", "tt_layout.encodings", "tt_layout.views"}
    assert modules_loaded(f"import sys, {name}") & unneeded == set()


MOST_AT_START = 56
"""Modules of the package that print a small view, of which each costs about half a millisecond.

With these the process takes 1.0 to 1.1 times as long as ``import numpy, click``; it shall stay
below 1.2.  Two of them, `records` and `tuples`, make the classes of the others cheaper.  Import
what few runs need where they need it.
"""


@pytest.mark.slow
def test_a_small_view_is_printed_with_few_modules() -> None:
    given = ["-l", LAYOUTS[0].strip("'"), "-t", "tensor<16x16xf16>"]
    quiet = "sys.stdout, out = open(os.devnull, 'w'), sys.stdout"
    script = f"import os, sys\nsys.argv = ['tt-layout', *{given}]\n{quiet}\n"
    script += "from tt_layout.__main__ import main\ntry: main()\n"
    script += "except SystemExit as e: assert not e.code\n"
    script += "import gc\nassert gc.get_threshold()[0] >= 100_000\nsys.stdout = out"
    loaded = modules_loaded(script)
    own = {name for name in loaded if name.partition(".")[0] == "tt_layout"}
    own -= {"tt_layout.__main__"}
    assert len(own) <= MOST_AT_START, sorted(own)
    unneeded = loaded - modules_loaded("import sys, numpy, click") - own
    assert (
        not {
            "difflib",
            "json",
            "locale",
            "logging",
            "numpy.typing",
            "pathlib",
            "rich",
            "subprocess",
            "tempfile",
            "yaml",
        }
        & unneeded
    )


def test_wrong_usage_is_reported_without_numpy() -> None:
    run = "try: c.main(['-t', 'x'])\nexcept SystemExit: pass"
    script = f"import sys, tt_layout.cli.main as c\n{run}"
    assert modules_loaded(script) & {"rich", "yaml"} == set()


def test_the_commands_are_listed_without_importing_any() -> None:
    script = "import sys, tt_layout.cli.main as c\ntry: c.main(['--help'])\nexcept SystemExit: pass"
    loaded = modules_loaded(script)
    assert not {name for name in loaded if name.startswith("tt_layout.cli.commands.")}
    assert "numpy" not in loaded


@pytest.mark.slow
def test_the_playground_is_written_without_numpy(tmp_path: Path) -> None:
    run = f"try: c.main(['page', '-o', {str(tmp_path / 'index.html')!r}])\nexcept SystemExit: pass"
    loaded = modules_loaded(f"import sys, tt_layout.cli.main as c\n{run}")
    assert not {"numpy", "rich", "yaml", "tt_layout.views", "tt_layout.figures"} & loaded
    assert (tmp_path / "index.html").exists()


LAYOUTS = (
    "'#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], "
    "order = [1, 0]}>'",
    "'#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>'",
)
OVER = "'-t', 'tensor<16x32xf16>'"
WITHOUT_VIEWS = {
    "info": f"{LAYOUTS[0]}, {OVER}",
    "conflicts": f"{LAYOUTS[0]}, {LAYOUTS[1]}, {OVER}",
    "diff": f"{LAYOUTS[0]}, {LAYOUTS[0]}, {OVER}",
    "swizzle": f"{LAYOUTS[0]}, {OVER}",
    "translate": f"{LAYOUTS[0]}, '--to', '3.4', {OVER}",
    "audit": repr(str(ROOT / "examples" / "kernels" / "attention-sm80.ttgir")),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", sampled(WITHOUT_VIEWS, 6))
def test_what_shows_no_view_loads_none(command: str) -> None:
    run = f"c.main([{command!r}, {WITHOUT_VIEWS[command]}])"
    quiet = "sys.stdout, out = open(os.devnull, 'w'), sys.stdout"
    script = f"import os, sys, tt_layout.cli.main as c\n{quiet}\ntry: {run}\n"
    loaded = modules_loaded(f"{script}except SystemExit as e: assert not e.code\nsys.stdout = out")
    assert f"tt_layout.cli.commands.{command}" in loaded
    assert not {name for name in loaded if name.startswith("tt_layout.views")}


UNASKED = {"numpy.ma", "tt_layout.reports.compared_dumps", "tt_layout.reports.comparison"}
"""Masked arrays, which `numpy.unique` loads, and what compares dumps: a twentieth of an audit.

The oldest numpy loads masked arrays by itself.
"""

MOST_PATTERNS = 175
"""Regular expressions that an audit compiles before it begins; each takes a tenth of a millisecond.

Write what few dumps need, such as the signs of other languages, as text that `re` compiles then.
"""


def test_an_audit_loads_and_compiles_little_that_it_does_not_use() -> None:
    dump = str(ROOT / "examples" / "kernels" / "attention-sm80.ttgir")
    lines = (
        "import os, re, sys",
        "made, compiled = [], re.compile",
        "re.compile = lambda *given: made.append(given) or compiled(*given)",
        "import tt_layout.cli.main as c",
        "sys.stdout, out = open(os.devnull, 'w'), sys.stdout",
        f"try: c.main(['audit', '--grid', '4', {dump!r}])",
        "except SystemExit as e: assert not e.code",
        "sys.stdout = out",
        "print(*(f'pattern-{number}' for number in range(len(made))))",
    )
    loaded = modules_loaded("\n".join(lines))
    assert "tt_layout.audit.bounds.footprint" in loaded
    assert not (loaded & UNASKED) - modules_loaded("import sys, numpy")
    assert len({name for name in loaded if name.startswith("pattern-")}) <= MOST_PATTERNS
