"""Outline of a dump: modules, aliases, functions and loops; folding ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tt_layout.audit.audit import Audit
from tt_layout.editing.piece import EditedPiece
from tt_layout.enums import TextEnum
from tt_layout.ir.ssa import Function, Operation
from tt_layout.tuples import NamedTuple

_BRACES = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|[{}]|\n')


class SymbolKind(TextEnum):
    """Kind of a symbol."""

    MODULE = "module"
    FUNCTION = "function"
    LOOP = "loop"
    ALIAS = "alias"


class Symbol(NamedTuple):
    """A named part of a dump, and the symbols in it.

    Attributes:
        name: its name in the list.
        detail: text beside the name.
        kind: its kind.
        line, last: the first and the last line, from 1.
        children: the symbols in it.
    """

    name: str
    detail: str
    kind: SymbolKind
    line: int
    last: int
    children: tuple[Symbol, ...] = ()

    def down(self, lines: int) -> Symbol:
        """Return the symbol moved down by a number of lines."""
        children = tuple(child.down(lines) for child in self.children)
        return self._replace(line=self.line + lines, last=self.last + lines, children=children)


def symbols(piece: EditedPiece) -> list[Symbol]:
    """Return the outline of a piece."""
    ends = dict(folds(piece))
    return [_module(piece, audit, ends) for audit in (piece.audits if piece.is_read else ())]


def _module(piece: EditedPiece, audit: Audit, ends: dict[int, int]) -> Symbol:
    module = audit.module
    aliases = [
        Symbol(f"#{name}", _kind(audit, name), SymbolKind.ALIAS, line, line)
        for name in module.aliases.attributes()
        for line in (module.line_in_source(module.aliases[name].line),)
    ]
    functions = [_function(function, ends) for function in audit.audited.functions]
    parts = (*aliases, *functions)
    last = max([symbol.last for symbol in parts], default=module.line)
    name = module.pass_name or "module"
    line = min([module.line, *(symbol.line for symbol in parts)])
    return Symbol(name, module.target or "", SymbolKind.MODULE, line, max(last, line), parts)


def _kind(audit: Audit, name: str) -> str:
    encoding = audit.module.aliases[name].encoding
    return getattr(encoding, "mnemonic", "")


def _function(function: Function, ends: dict[int, int]) -> Symbol:
    body = (operation for block in function.body for operation in block.operations)
    children = tuple(loop for operation in body for loop in _loops(operation, ends))
    last = max([ends.get(function.line, function.line), *(child.last for child in children)])
    return Symbol(f"@{function.name}", "", SymbolKind.FUNCTION, function.line, last, children)


def _loops(operation: Operation, ends: dict[int, int]) -> Iterator[Symbol]:
    """Yield the loops in an operation, including itself."""
    inner = tuple(
        loop
        for region in operation.regions
        for block in region
        for nested in block.operations
        for loop in _loops(nested, ends)
    )
    if not operation.traits.loop:
        yield from inner
        return
    last = max(
        [ends.get(operation.line, operation.line), *(inner_loop.last for inner_loop in inner)]
    )
    yield Symbol(operation.name, "", SymbolKind.LOOP, operation.line, last, inner)


def folds(piece: EditedPiece) -> list[tuple[int, int]]:
    """Return the first and the last line of each region of several lines.

    Example:
        >>> from tt_layout.editing.piece import PieceCache
        >>> folds(EditedPiece("module {\\n  scf.for {\\n    a.b\\n  }\\n}\\n", PieceCache()))
        [(2, 4), (1, 5)]
    """
    line, opened = 1, list[int]()
    ranges: list[tuple[int, int]] = []
    for match in _BRACES.finditer(piece.text):
        token = match.group()
        if token == "\n":
            line += 1
        elif token == "{":
            opened.append(line)
        elif token == "}" and opened:
            first = opened.pop()
            if line > first:
                ranges.append((first, line))
    return ranges
