"""Costs of data movements that an earlier module of the dump had, too.

A pass leaves most functions as they are.  What an audit reports of a data movement depends on the
text of the functions, on the types of the operation and on the GPU; where all of these are as
before, so is the cost, but for the lines in it.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import NamedTuple

from tt_layout.audit.cost import Cost
from tt_layout.audit.values.executions import Executions
from tt_layout.audit.values.given import GivenValues
from tt_layout.ir.module import Module
from tt_layout.ir.operations import Operation

_LINE = re.compile(r"\bline \d")
"""A line within a sentence."""


class KnownRow(NamedTuple):
    """What was said of a data movement.

    Attributes:
        operation: the operation of which it was said.
    """

    operation: Operation
    cost: Cost | None
    executions: Executions
    refusal: str | None
    cost_unknown: str | None = None

    @property
    def is_movable(self) -> bool:
        """Whether nothing in it speaks of another operation or of a line."""
        texts = [self.executions.text, self.refusal or "", self.cost_unknown or ""]
        if self.cost is not None:
            limit = self.cost.details.get("limited_by")
            if limit is not None and limit["line"] != self.operation.line:
                return False
            texts += [self.cost.text, self.cost.finding or ""]
            texts += map(str, self.cost.details.get("unknown", ()))
        return not any(_LINE.search(text) for text in texts)

    def moved_to(self, operation: Operation) -> KnownRow:
        """Return the same for an operation that stands elsewhere in the dump."""
        down = operation.line - self.operation.line
        executions, cost = self.executions, self.cost
        if executions.loop is not None:
            loop = executions.loop
            executions = executions._replace(loop=loop._replace(line=loop.line + down))
        if cost is not None and cost.details.get("limited_by") is not None:
            limit = cost.details["limited_by"]
            limit = {**limit, "line": limit["line"] + down}
            cost = cost._replace(details={**cost.details, "limited_by": limit})
        return self._replace(operation=operation, cost=cost, executions=executions)


class KnownRows:
    """What was said of the data movements of a dump so far.

    Attributes:
        given: what the arguments are of which it was said.
    """

    def __init__(self) -> None:
        self.given = GivenValues()
        self._numbers: dict[str, int] = {}
        self._rows: dict[Hashable, KnownRow] = {}
        self._module: Module | None = None
        self._functions: dict[str, int] = {}
        self._texts: tuple[int, ...] = ()

    def give(self, given: GivenValues) -> None:
        """Forget what was said if it was said of other arguments."""
        if given != self.given:
            self.given = given
            self._rows.clear()

    def find(self, module: Module, operation: Operation) -> KnownRow | None:
        """Return what was reported of an operation like this one, for this one."""
        key = self._key(module, operation)
        known = self._rows.get(key) if key is not None else None
        return known.moved_to(operation) if known is not None else None

    def add(self, module: Module, row: KnownRow) -> None:
        """Note what was reported of an operation."""
        key = self._key(module, row.operation)
        if key is not None and row.is_movable:
            self._rows[key] = row

    def _key(self, module: Module, operation: Operation) -> Hashable | None:
        """Return what determines an operation's row; None where that is not known."""
        if module is not self._module:
            self._enter(module)
        line = self._functions.get(operation.function or "")
        if line is None:
            return None
        # A row holds its operation, so the encodings live as long as their numbers are compared.
        types = tuple((t.text, id(t.encoding)) for t in operation.types)
        place = operation.line - line, operation.column, operation.location
        warps = module.number("num-warps"), module.number("num-ctas")
        return self._texts, place, types, operation.name, module.gpu, warps

    def _enter(self, module: Module) -> None:
        """Number the texts of a module's functions."""
        self._module, self._functions, self._texts = module, {}, ()
        texts = [_text(module, function.line, function.column) for function in module.functions]
        names = [function.name for function in module.functions]
        if None in texts or len(set(names)) != len(names):
            return
        numbers = self._numbers
        self._texts = tuple(numbers.setdefault(text or "", len(numbers)) for text in texts)
        self._functions = {function.name: function.line for function in module.functions}


def _text(module: Module, line: int, column: int) -> str | None:
    """Return the text of a function that ends at a brace below its beginning; else None."""
    source = module.source
    start = source.offset(line, column)
    end = source.text.find("\n" + " " * (column - 1) + "}", start)
    return source.text[start:end] if end >= 0 else None
