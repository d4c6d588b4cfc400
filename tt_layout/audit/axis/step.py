"""An operation as the rules of the axis analysis see it."""

from __future__ import annotations

from collections.abc import Callable

from tt_layout.audit.axis.info import AxisInfo
from tt_layout.ir.ssa import SsaOperation, ValueType
from tt_layout.tuples import NamedTuple


class Step(NamedTuple):
    """An operation and the AxisInfo of its operands.

    Attributes:
        operation: the operation.
        operands: AxisInfo of each operand.
        types: types of the operands.
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
"""Rule that returns the AxisInfo of an operation's result; None where nothing is known."""
