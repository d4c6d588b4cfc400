"""Numbers of a kernel as text over its arguments, such as ``ceildiv(%K, 64)``."""

from __future__ import annotations

from tt_layout.audit.values.given import program_value
from tt_layout.ir.ssa.model import Operation, Value
from tt_layout.tuples import NamedTuple

MAX_TEXT = 80
MAX_DEPTH = 24
MAX_VALUES = 256
"""The most values in one text."""

_DIVISIONS = frozenset({"arith.divsi", "arith.divui"})
_INFIX = {
    "arith.addi": ("+", 1),
    "arith.subi": ("-", 1),
    "arith.muli": ("*", 2),
    "arith.divsi": ("/", 2),
    "arith.divui": ("/", 2),
}
"""Operation -> its sign and precedence."""

_FUNCTIONS = {
    "arith.minsi": "min",
    "arith.minui": "min",
    "arith.maxsi": "max",
    "arith.maxui": "max",
    "arith.remsi": "mod",
    "arith.remui": "mod",
    "arith.ceildivsi": "ceildiv",
    "arith.ceildivui": "ceildiv",
}
PRODUCT, ATOM = 2, 3
"""Precedence of a product, and of a name or a call."""


class Expression(NamedTuple):
    """A number as text.

    Attributes:
        text: the text.
        binding: precedence of the last operation; `ATOM` for a name or a call.
        constant: the number, if it is constant.
    """

    text: str
    binding: int = ATOM
    constant: int | None = None

    def within(self, binding: int) -> str:
        """Return the text as an operand of an operation with a precedence."""
        return self.text if self.binding >= binding else f"({self.text})"


def expression(value: Value) -> Expression:
    """Return a scalar of a function over its arguments.

    A value that is neither an argument nor arithmetic stands under its own name, and so does
    one whose text is too long, or computed from itself.
    """
    return _Writer().write(value)


class _Writer:
    """Writes the values that one number is computed from, each once.

    They make a graph: `MAX_VALUES` of them are followed, `MAX_DEPTH` deep; others stand under
    their own names.
    """

    def __init__(self) -> None:
        self._written: dict[Value, Expression] = {}

    def write(self, value: Value, depth: int = 0) -> Expression:
        """Return a value as text."""
        if value in self._written:
            return self._written[value]
        operation, name = value.definition, Expression(value.name)
        if operation is None or depth > MAX_DEPTH or len(self._written) == MAX_VALUES:
            return name
        self._written[value] = name  # what it is within itself
        written = self._of_operation(operation, depth)
        if written is not None and len(written.text) <= MAX_TEXT:
            self._written[value] = written
        return self._written[value]

    def _of_operation(self, operation: Operation, depth: int) -> Expression | None:
        name = operation.name
        if name == "arith.constant":
            value = operation.integer("value")
            return None if value is None else Expression(str(value), ATOM, value)
        if operation.traits.by_program:
            return Expression(program_value(operation))
        if len(operation.operands) != _operands_of(operation):
            return None
        if operation.traits.integer_cast:
            return self.write(operation.operands[0], depth + 1)
        if name in _DIVISIONS and (rounded := self._rounded_up(operation, depth)) is not None:
            return rounded
        a, b = (self.write(operand, depth + 1) for operand in operation.operands)
        if name in _FUNCTIONS:
            return Expression(f"{_FUNCTIONS[name]}({a.text}, {b.text})")
        sign, binding = _INFIX[name]
        return Expression(f"{a.within(binding)} {sign} {b.within(binding + 1)}", binding)

    def _rounded_up(self, operation: Operation, depth: int) -> Expression | None:
        """Return ``(x + c - 1) / c`` as the division that it stands for."""
        divisor = self.write(operation.operands[1], depth + 1)
        total = operation.operands[0].definition
        if divisor.constant is None or total is None or total.name != "arith.addi":
            return None
        if len(total.operands) != _operands_of(total):
            return None
        added = self.write(total.operands[1], depth + 1)
        if added.constant != divisor.constant - 1:
            return None
        return ceildiv(self.write(total.operands[0], depth + 1), divisor)


def _operands_of(operation: Operation) -> int | None:
    """Return how many operands an operation has that is written out; None for others."""
    if operation.traits.integer_cast:
        return 1
    return 2 if operation.name in _INFIX or operation.name in _FUNCTIONS else None


def ceildiv(dividend: Expression, divisor: Expression) -> Expression:
    """Return a quotient that is rounded up.

    Example:
        >>> ceildiv(Expression("%K"), Expression("64", constant=64)).text
        'ceildiv(%K, 64)'
        >>> ceildiv(Expression("%K"), Expression("1", constant=1)).text
        '%K'
    """
    if divisor.constant == 1:
        return dividend
    if dividend.constant is not None and divisor.constant:
        value = -(-dividend.constant // divisor.constant)
        return Expression(str(value), ATOM, value)
    return Expression(f"ceildiv({dividend.text}, {divisor.text})")


def trip_count_text(loop: Operation) -> Expression:
    """Return how often the body of an ``scf.for`` runs, 0 times where that is negative."""
    lower, upper, step = (expression(bound) for bound in loop.operands[:3])
    span = upper
    if lower.constant is not None and upper.constant is not None:
        number = max(0, upper.constant - lower.constant)
        span = Expression(str(number), ATOM, number)
    elif lower.constant != 0:
        span = Expression(f"{upper.within(1)} - {lower.within(2)}", 1)
    return ceildiv(span, step)
