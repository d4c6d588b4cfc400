"""Values that are not known, and why."""

from __future__ import annotations

from collections.abc import Sequence

from tt_layout.algebra.arrays import Ints
from tt_layout.audit.values.spread import ProgramTensor
from tt_layout.ir.ssa.model import Operation
from tt_layout.records import dataclass


@dataclass(frozen=True)
class Unknown:
    """Why a value is not known.

    Attributes:
        names: arguments and program ids whose values would help.
        reasons: causes that no argument removes, such as ``tt.load on line 12``.
    """

    names: frozenset[str] = frozenset()
    reasons: frozenset[str] = frozenset()

    def __or__(self, other: Unknown) -> Unknown:
        return Unknown(self.names | other.names, self.reasons | other.reasons)

    @staticmethod
    def because(reason: str) -> Unknown:
        """Return an unknown value with one reason."""
        return Unknown(reasons=frozenset([reason]))


class UnknownError(Exception):
    """Something is unknown that the question depends on.

    Attributes:
        unknown: why.
    """

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(unknown)
        self.unknown = unknown


SingleValue = Ints | Unknown
"""The value of one program, or why it is unknown."""

Evaluated = Ints | ProgramTensor | Unknown
"""A value of one program, or of several, or why it is unknown."""


def unknowns(values: Sequence[Evaluated]) -> Unknown | None:
    """Return why some of the values are unknown, all reasons together; None if all are known."""
    total = None
    for value in values:
        if isinstance(value, Unknown):
            total = value if total is None else total | value
    return total


def operation_text(operation: Operation) -> str:
    """Return the name and the line of an operation, for a reason."""
    return f"{operation.name} on line {operation.line}"
