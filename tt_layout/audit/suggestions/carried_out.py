"""A suggestion carried out in the text of a module."""

from __future__ import annotations

from collections.abc import Iterator

from tt_layout.audit.audit import Audit
from tt_layout.audit.modules.audited_module import FullOperation
from tt_layout.audit.suggestions.advice import Advice
from tt_layout.audit.suggestions.carried import is_followed
from tt_layout.audit.suggestions.conversions import region_of
from tt_layout.audit.suggestions.dump_text import DumpText, plain
from tt_layout.audit.suggestions.flow import Flow
from tt_layout.audit.suggestions.regions import Region
from tt_layout.audit.suggestions.rewiring import (
    Version,
    changes,
    computed_anew,
    rewired_uses,
)
from tt_layout.audit.suggestions.suggestion import EVERYWHERE, Suggestion
from tt_layout.audit.suggestions.trial import Exchange
from tt_layout.errors import LayoutError
from tt_layout.ir.module import Module
from tt_layout.ir.ssa import SsaOperation, Value
from tt_layout.ir.ssa.control_flow import last_operations

ALIAS = "relaid"
"""The name of a layout that had none."""


def carried_out(audit: Audit, full: FullOperation, suggestion: Suggestion) -> str:
    """Return the text of a module in which a suggestion is followed.

    Args:
        audit: of a module that is the only one of its source.
        full: the operation that the suggestion is for.
        suggestion: what to do.

    Raises:
        LayoutError: what has to change is written in a way that is not followed.
    """
    text = DumpText(audit.module)
    if suggestion.where == EVERYWHERE:
        text.redefine(suggestion.replaced, suggestion.encoding)
    else:
        assert audit.audited is not None
        advice = Advice(audit, audit.audited)
        flow, exchange = advice.flow(full.function), suggestion.exchange
        ends = suggestion.replaced, suggestion.encoding
        region = region_of(advice, full, suggestion.where, *ends)
        if region is None:
            raise LayoutError("the operations around the conversion are not followed")
        text.define(suggestion.encoding, _free_alias(audit.module))
        _Relaid(text, flow, full.operation, exchange, region).change()
    return text.result()


class _Relaid:
    """Change the layout of one side of a conversion."""

    def __init__(
        self,
        text: DumpText,
        flow: Flow,
        conversion: SsaOperation,
        exchange: Exchange,
        region: Region,
    ) -> None:
        self.text, self.flow, self.conversion = text, flow, conversion
        self.exchange, self.region = exchange, region

    def change(self) -> None:
        """Change the text."""
        for operation in self.region.operations:
            self._retype(operation)
        for operation in self.flow.function.walk():
            if is_followed(operation):
                self._retype_carried(operation)
        names: dict[tuple[Value, Version], str] = {}
        for use in rewired_uses(self.flow, self.conversion, self.exchange, self.region):
            key = use.new, use.version
            if key not in names:
                names[key] = self._version(*key)
            self.text.use(use.taker, use.old.name, names[key])
        self.text.drop(self.conversion)

    def _retype(self, operation: SsaOperation) -> None:
        """Exchange the layouts of an operation: of a conversion, of one end."""
        ends: list[int] | None = None
        if operation.traits.same_elements:
            ends = [0 if changes(self.flow, self.exchange, operation.operands[0]) else 1]
        last = operation.line
        if operation.regions:  # its types stand behind them
            last = self.flow.behind[operation.results[0]].line - 1
        for line in range(operation.line, last + 1):
            self.text.retype(line, self.exchange, ends)

    def _retype_carried(self, operation: SsaOperation) -> None:
        """Exchange the layouts that a loop or a branch writes of what it hands over."""
        for first, last, values in _written(operation):
            if not self.region.carried.isdisjoint(values):
                types = map(self.flow.function.type_of, values)
                taken = [value in self.region.carried for value in values]
                self.text.retype_some(range(first, last + 1), [*zip(types, taken)], self.exchange)

    def _version(self, value: Value, version: Version) -> str:
        """Return the name of a version of a value, which is written where it is new."""
        if version is Version.KEPT:
            return value.name
        if version is Version.ANEW:
            return self._anew(value)
        return self._converted(value, is_back=version is Version.CONVERTED_BACK)

    def _anew(self, value: Value) -> str:
        """Compute a value once more in the new layout; return its name."""
        changed = computed_anew(self.flow, self.exchange, value)
        names = {plain(v.name): self.text.fresh(v.name) for v in changed}
        for operation in filter(None, (v.definition for v in changed)):
            self.text.copy_once(operation, self.exchange, names)
        return names.get(plain(value.name), value.name)

    def _converted(self, value: Value, *, is_back: bool = False) -> str:
        """Convert a value behind its definition; return the name of the result."""
        old = self.flow.function.type_of(value)
        assert old is not None
        types = [self.text.type(old), self.text.type(self.exchange.type(old))]
        source, target = reversed(types) if is_back else types
        new, behind = self.text.fresh(value.name), self.flow.behind[value]
        line = f"{new} = {self.conversion.name} {plain(value.name)} : {source} -> {target}"
        self.text.insert(line + self.text.location(self.conversion), behind, before=True)
        return new


def _written(operation: SsaOperation) -> Iterator[tuple[int, int, list[Value]]]:
    """Yield the lines on which a loop or a branch writes types, and the values of those types."""
    results, first = list(operation.results), operation.line
    if operation.name != "scf.while":
        yield first, first, results
        for region in operation.regions:
            yield from ((last.line, last.line, results) for last in last_operations(region))
        return
    before, after = operation.regions
    arguments, counterparts = (list(part[0].arguments) for part in (before, after))
    yield first, first, arguments + results
    for condition in last_operations(before):
        yield condition.line, condition.line, results
        yield condition.line + 1, after[0].operations[0].line - 1, counterparts
    yield from ((last.line, last.line, arguments) for last in last_operations(after))


def _free_alias(module: Module) -> str:
    """Return a name that no alias has."""
    number, name = 0, ALIAS
    while name in module.aliases:
        number += 1
        name = f"{ALIAS}{number}"
    return name
