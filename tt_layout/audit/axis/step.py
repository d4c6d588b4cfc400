"""An operation as the rules of the axis analysis see it."""

from __future__ import annotations

from collections.abc import Callable

from tt_layout.audit.axis.info import AxisInfo
from tt_layout.ir.ssa import SsaOperation, ValueType
from tt_layout.tuples import NamedTuple


class Step(NamedTuple):
    """An operation, and what is known of what it takes.

    Attributes:
        operation: the operation.
        operands: what is known of each operand.
        types: of the operands.
        result: the type of the first result.
    """

    operation: SsaOperation
    operands: tuple[AxisInfo, ...]
    types: tuple[ValueType, ...]
    result: ValueType

    @property
    def is_tensor(self) -> bool:
        """Whether the result is a tensor."""
        return self.result.is_tensor

    @property
    def whole(self) -> tuple[int, ...]:
        """The constancy of a result of which all elements are equal."""
        return self.result.shape if self.is_tensor else (1,) * self.operands[0].rank


Rule = Callable[[Step], "AxisInfo | None"]
"""What is known of the result of an operation; None for nothing."""
