"""Mutants: the package with one small thing changed.

A mutant changes one operator, constant, condition, statement or argument.  What only people read
(docstrings, annotations, f-strings) is left alone, and so are assertions.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parent.parent.parent / "tt_layout"

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.Pow: ast.Mult,
}
_TEXT = (ast.JoinedStr, ast.List, ast.Tuple)
_GARBAGE = frozenset({"gc.disable", "gc.freeze", "gc.set_threshold"})
"""Calls that only spare Python a search for garbage: without them all is as before, but slower."""

_OF_TYPES = frozenset({"TypeVar", "ParamSpec"})
"""Calls whose keywords only the checker of types reads."""


class Mutant(NamedTuple):
    """One change of one module.

    Attributes:
        module: its path in the package.
        function: the outermost function that it is in, as ``Class.method``; empty where the
            change is made when the module is loaded.
        line: the line that it begins in.
        start, end: the characters that are replaced.
        before, after: the text there.
    """

    module: str
    function: str
    line: int
    start: int
    end: int
    before: str
    after: str

    @property
    def key(self) -> str:
        """What it is called in the file of results."""
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.module}:{self.line}: {before} -> {after}"

    @property
    def room(self) -> str:
        """The folder that it is in, or the module."""
        return self.module.split("/")[0]

    def applied(self, text: str) -> str:
        """Return the text of the module with the change."""
        assert text[self.start : self.end] == self.before
        return text[: self.start] + self.after + text[self.end :]


class _Finder(ast.NodeVisitor):
    """Finds the mutants of a module."""

    def __init__(self, module: str, text: str) -> None:
        self._module, self._text = module, text
        self._starts = [0]
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._lines = text.splitlines()
        self._classes: list[str] = []
        self._function = ""
        self.found: list[Mutant] = []

    def _at(self, line: int, byte: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:byte].decode())

    def _add(self, node: ast.expr | ast.stmt, after: str) -> None:
        start = self._at(node.lineno, node.col_offset)
        end = self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)
        before = self._text[start:end]
        self.found.append(
            Mutant(self._module, self._function, node.lineno, start, end, before, after)
        )

    def _replace(self, node: ast.expr, new: ast.expr) -> None:
        self._add(node, f"({ast.unparse(ast.fix_missing_locations(new))})")

    # -- where it does not look --------------------------------------------------------------

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave text alone."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """Leave what helps the checker of types alone."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Look at the value only."""
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """Leave annotations alone."""

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Look at defaults and the body."""
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        outer = self._function
        self._function = outer or ".".join([*self._classes, node.name])
        for each in node.body:
            self.visit(each)
        self._function = outer

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - names of ast

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Look at the body."""
        self._classes.append(node.name)
        for each in node.body:
            self.visit(each)
        self._classes.pop()

    # -- what it changes ---------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> None:
        """Make a condition true, and false."""
        test = ast.unparse(node.test)
        if test == "TYPE_CHECKING":
            return
        if test != "not TYPE_CHECKING":  # it is true for whoever runs the code
            self._add(node.test, "True")
        self._add(node.test, "False")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """Leave out a statement."""
        if isinstance(node.value, ast.Constant) or _called(node.value) in _GARBAGE:
            return
        is_yield = isinstance(node.value, (ast.YieldFrom, ast.Yield))
        self._add(node, "if False: yield" if is_yield else "pass")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        """Return None."""
        if node.value is not None and not isinstance(node.value, ast.Constant):
            self._add(node, "return None")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Compare otherwise."""
        for at, operator in enumerate(node.ops):
            new = copy.deepcopy(node)
            new.ops[at] = _COMPARISONS[type(operator)]()
            self._replace(node, new)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Calculate otherwise."""
        sides = (node.left, node.right)
        is_text = any(
            isinstance(side, _TEXT)
            or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
            for side in sides
        )
        if not is_text and type(node.op) in _OPERATORS:
            new = copy.deepcopy(node)
            new.op = _OPERATORS[type(node.op)]()
            self._replace(node, new)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Calculate otherwise."""
        if type(node.op) in _OPERATORS and not isinstance(node.value, _TEXT):
            new = copy.deepcopy(node)
            new.op = _OPERATORS[type(node.op)]()
            self._add(node, ast.unparse(new))
        self.visit(node.value)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Exchange and with or."""
        new = copy.deepcopy(node)
        new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._replace(node, new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Leave out a sign or a not."""
        self._replace(node, copy.deepcopy(node.operand))
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Take always the one, and always the other."""
        self._replace(node, copy.deepcopy(node.body))
        self._replace(node, copy.deepcopy(node.orelse))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Add one to a number, turn a truth value."""
        if isinstance(node.value, bool):
            self._add(node, str(not node.value))
        elif isinstance(node.value, int):
            self._add(node, str(node.value + 1))

    def visit_Call(self, node: ast.Call) -> None:
        """Leave out a keyword argument."""
        if _called(node) in _OF_TYPES:
            return
        for at, keyword in enumerate(node.keywords):
            if keyword.arg is not None:
                new = copy.deepcopy(node)
                del new.keywords[at]
                self._replace(node, new)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Let every element pass."""
        for test in node.ifs:
            self._add(test, "True")
        self.generic_visit(node)


def _called(node: ast.expr) -> str:
    """Return the name of what is called; nothing where that is no call."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def mutants_of(path: Path) -> list[Mutant]:
    """Return every mutant of a module."""
    text = path.read_text(encoding="utf-8")
    finder = _Finder(path.relative_to(PACKAGE).as_posix(), text)
    finder.visit(ast.parse(text))
    return finder.found


def sample(count: int, seed: int, at_least: int = 3) -> list[Mutant]:
    """Return mutants of all rooms: some of each, the rest as their code is large."""
    everything = [mutant for path in sorted(PACKAGE.rglob("*.py")) for mutant in mutants_of(path)]
    chance = random.Random(seed)
    chance.shuffle(everything)
    rooms: dict[str, list[Mutant]] = {}
    for mutant in everything:
        rooms.setdefault(mutant.room, []).append(mutant)
    chosen = [mutant for room in rooms.values() for mutant in room[:at_least]]
    taken = {mutant.key for mutant in chosen}
    rest = (mutant for mutant in everything if mutant.key not in taken)
    return [*chosen, *_some(rest, count - len(chosen))]


def _some(mutants: Iterator[Mutant], count: int) -> Sequence[Mutant]:
    return [mutant for _, mutant in zip(range(max(0, count)), mutants)]
