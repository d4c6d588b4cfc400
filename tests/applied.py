"""A suggestion applied to the text of a dump, to audit it again."""

from __future__ import annotations

import re

from tt_layout.audit.audit import Audit
from tt_layout.audit.suggestions.flow import Flow
from tt_layout.audit.suggestions.suggestion import EVERYWHERE, FORWARD, Suggestion
from tt_layout.ir.ssa import SsaFunction, SsaOperation

NEW = "of_suggestion"
"""The alias of the layout that is used instead."""


def applied(text: str, audit: Audit, line: int, suggestion: Suggestion) -> str:
    """Return a dump in which a suggestion for a line is followed."""
    if suggestion.where == EVERYWHERE:
        definition = re.escape(suggestion.old) + r" = .*"
        changed, count = re.subn(
            definition, lambda _: f"{suggestion.old} = {suggestion.encoding}", text
        )
        assert count == 1
        return changed
    return _Edit(text, audit, line, suggestion).text()


class _Edit:
    """The lines of a dump, in which the values on one side of a conversion get another layout."""

    def __init__(self, text: str, audit: Audit, line: int, suggestion: Suggestion) -> None:
        assert audit.audited is not None
        self.suggestion = suggestion
        self.lines = text.split("\n")
        [full] = [one for one in audit.audited.operations if one.operation.line == line]
        self.function: SsaFunction = full.function
        self.conversion = full.operation
        self.flow = Flow(full.function)

    def text(self) -> str:
        source, result = self.conversion.operands[0], self.conversion.results[0].name
        taken = [o for o in self.function.walk() if o.line in self.suggestion.lines]
        inner = {value.name for operation in taken for value in operation.results}
        inner |= {result if self.suggestion.where == FORWARD else source}
        for operation in taken:
            if operation.name.endswith("convert_layout"):
                self._retype(operation, count=1)
            else:
                self._retype(operation)
                for name in operation.operands:
                    if name not in inner and self.flow.is_tensor(name):
                        self._give(name, operation)
        if not taken:
            self._recompute(source)
            source += NEW
        self.lines[self.conversion.line - 1] = ""
        body = "\n".join(self.lines).replace(f"{result} ", f"{source} ")
        body = re.sub(rf"{re.escape(result)}(?![\w#])", source, body)
        return f"#{NEW} = {self.suggestion.encoding}\n{body}"

    def _renamed(self, text: str, count: int = 0) -> str:
        return re.sub(rf"{re.escape(self.suggestion.old)}(?!\w)", f"#{NEW}", text, count=count)

    def _retype(self, operation: SsaOperation, count: int = 0) -> None:
        at = operation.line - 1
        self.lines[at] = self._renamed(self.lines[at], count)

    def _give(self, name: str, operation: SsaOperation) -> None:
        """Let an operation take a value of the other layout."""
        at = operation.line - 1
        if self._is_free(name):
            self._recompute(name)
        else:
            old = self.function.values[name].text
            conversion = f"ttg.convert_layout {name} : {old} -> {self._renamed(old)}"
            self.lines[at] = f"{name}{NEW} = {conversion}\n{self.lines[at]}"
        self.lines[at] = re.sub(rf"{re.escape(name)}(?=[\s,:)])(?! =)", name + NEW, self.lines[at])
        self.lines[at] = self.lines[at].replace(
            f"convert_layout {name}{NEW}", f"convert_layout {name}"
        )

    def _is_free(self, name: str) -> bool:
        from tt_layout.audit.suggestions.conversions import is_free

        return is_free(self.flow, name)

    def _recompute(self, name: str) -> None:
        """Compute a value a second time, in the other layout."""
        waiting, done = [name], set[str]()
        while waiting:
            value = waiting.pop()
            if value in done:
                continue
            done.add(value)
            operation = self.function.definitions[value]
            line = self.lines[operation.line - 1].split("\n")[0]
            operands = [one for one in operation.operands if self.flow.is_tensor(one)]
            for one in [value, *operands]:
                line = re.sub(rf"{re.escape(one)}(?![\w#])", one + NEW, line)
            self.lines[operation.line - 1] += "\n" + self._renamed(line)
            waiting += operands
