"""A suggestion carried out in the text of a module."""

from __future__ import annotations

from collections.abc import Sequence

from tt_layout.audit.modules.audited_module import FullOperation
from tt_layout.audit.suggestions.conversions import Side, side_of
from tt_layout.audit.suggestions.flow import Flow
from tt_layout.audit.suggestions.suggestion import EVERYWHERE, FORWARD, Suggestion
from tt_layout.audit.suggestions.trial import Exchange
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.ir.module import Module
from tt_layout.ir.ssa import SsaOperation
from tt_layout.rewriting.dump_text import DumpText, plain

ALIAS = "relaid"
"""The name of a layout that had none."""


def carried_out(module: Module, full: FullOperation, suggestion: Suggestion) -> str:
    """Return the text of a module in which a suggestion is followed.

    Args:
        module: the only one of its source.
        full: the operation that the suggestion is for.
        suggestion: what to do.

    Raises:
        LayoutError: what has to change is written in a way that is not followed.
    """
    text = DumpText(module)
    if suggestion.where == EVERYWHERE:
        text.redefine(suggestion.replaced, suggestion.encoding)
    else:
        _OneSide(text, full, suggestion).change()
    return text.result()


class _OneSide:
    """What is on one side of a conversion takes the layout of the other side."""

    def __init__(self, text: DumpText, full: FullOperation, suggestion: Suggestion) -> None:
        self.text = text
        self.conversion = full.operation
        self.flow = Flow(full.function)
        self.exchange = Exchange({suggestion.replaced: suggestion.encoding})
        self.encoding: Encoding = suggestion.encoding
        side = side_of(self.flow, full.operation, suggestion.where)
        if side is None:
            raise LayoutError("the operations around the conversion are not followed")
        self.side: Side = side
        self.is_forward = suggestion.where == FORWARD

    def change(self) -> None:
        """Change the text."""
        source, result = self.conversion.operands[0], self.conversion.results[0].name
        self.text.define(self.encoding, _free_alias(self.text.module))
        for operation in (*self.side.inner, *self.side.ends):
            is_end = operation.name.endswith(".convert_layout")
            self.text.retype(operation.line, self.exchange, [0] if is_end else None)
        for name, takers in self.side.inputs.items():
            self._give(name, takers)
        if self.side.is_free:
            source = self._anew(source)
        for use in self.flow.uses.get(result, ()):
            self.text.use(use.operation, result, source)
        self.text.drop(self.conversion)

    def _give(self, name: str, takers: Sequence[SsaOperation]) -> None:
        """Let operations take a value from outside in the new layout."""
        is_free = self.flow.is_free(name)
        new = self._anew(name) if is_free else self._converted(name, takers)
        for taker in takers:
            self.text.use(taker, name, new)

    def _anew(self, name: str) -> str:
        """Compute a value once more in the new layout; return its name."""
        waiting, seen = [name], set[str]()
        while waiting:
            value = waiting.pop()
            if value in seen or not self._changes(value):
                continue
            seen.add(value)
            waiting += self.flow.function.definitions[value].operands
        names = {plain(value): self.text.fresh(value) for value in seen}
        for value in seen:
            self.text.copy_once(self.flow.function.definitions[value], self.exchange, names)
        return names.get(plain(name), name)

    def _changes(self, name: str) -> bool:
        """Tell whether a value is of another type in the new layout."""
        old = self.flow.function.type_of(name)
        return old is not None and self.exchange.type(old) is not old

    def _converted(self, name: str, takers: Sequence[SsaOperation]) -> str:
        """Convert a value where it is first taken; return the name of the result."""
        old = self.flow.function.type_of(name)
        assert old is not None
        types = f"{self.text.type(old)} -> {self.text.type(self.exchange.type(old))}"
        new, first = self.text.fresh(name), min(takers, key=lambda taker: taker.line)
        line = f"{new} = {self.conversion.name} {plain(name)} : {types}"
        self.text.insert(line + self.text.location(first), first, before=True)
        return new


def _free_alias(module: Module) -> str:
    """Return a name that no alias has."""
    number, name = 0, ALIAS
    while name in module.aliases:
        number += 1
        name = f"{ALIAS}{number}"
    return name
