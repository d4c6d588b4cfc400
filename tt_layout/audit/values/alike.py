"""Values and accesses that are computed alike, by a number for all that they are computed from.

An edit leaves most of a kernel as it is, and passes that unroll repeat it: accesses to global
memory that are computed alike cost the same, wherever they stand.

    %a = tt.load %p : tensor<64x!tt.ptr<f16>, #blocked>     a number
    %b = tt.load %p : tensor<64x!tt.ptr<f16>, #blocked>     the same, here or in an edited text
    %c = tt.load %q : tensor<64x!tt.ptr<f16>, #blocked>     another, as %q is another sum

What a region computes, or is in one, has none: it follows from all that is in the region.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import count
from typing import Generic, TypeVar

from tt_layout.ir.ssa import SsaFunction, SsaOperation, Value
from tt_layout.ir.ssa.attributes import Attribute

T = TypeVar("T")

MAX_NUMBERS = 1 << 17
"""Operations that are told apart; then all are forgotten."""


class KnownAnswers(Generic[T]):
    """Answers about operations by what they are computed from."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._next = count()
        self._answers: dict[Hashable, dict[Hashable, T]] = {}

    def within(self, context: Hashable) -> dict[Hashable, T]:
        """Return the answers that hold under a context."""
        return self._answers.setdefault(context, {})

    def numbers(self, function: SsaFunction) -> Mapping[SsaOperation, int]:
        """Return a number for each operation that follows from its operands alone.

        Types are told apart as they are written: aliases are for the context.
        """
        if len(self._numbers) > MAX_NUMBERS:
            self._numbers.clear()
            self._answers.clear()
        values = {
            value: self._number((at, value.name, value.text, *_plain(attributes)))
            for at, (value, attributes) in enumerate(
                zip(function.arguments, function.argument_attributes)
            )
        }
        found: dict[SsaOperation, int] = {}
        for block in function.body if len(function.body) == 1 else ():
            for operation in block.operations:
                number = self._operation(function, operation, values)
                if number is not None:
                    found[operation] = number
                    for at, result in enumerate(operation.results):
                        values[result] = self._number((number, at))
        return found

    def _operation(
        self, function: SsaFunction, operation: SsaOperation, values: Mapping[Value, int]
    ) -> int | None:
        operands = tuple([values.get(value) for value in operation.operands])
        if operation.regions or None in operands:
            return None
        kept: list[Hashable] = []
        for key, attribute in operation.attributes.items():
            is_name = isinstance(attribute, str) and attribute[:1] == "%"
            named = function.values.get(str(attribute)) if is_name else None
            kept += _entry(key, attribute if named is None else values.get(named, -1))
        types = tuple([value.text for value in (*operation.operands, *operation.results)])
        return self._number((operation.name, operands, types, *kept))

    def _number(self, what: Hashable) -> int:
        number = self._numbers.get(what)
        if number is None:
            number = self._numbers[what] = next(self._next)  # never again that of another
        return number


def _plain(attributes: Mapping[str, Attribute]) -> Iterator[Hashable]:
    for key, attribute in attributes.items():
        yield from _entry(key, attribute)


def _entry(key: str, attribute: Attribute) -> tuple[Hashable, ...]:
    """Return an attribute in parts: 1 is not True."""
    return key, attribute, attribute is True or attribute is False
