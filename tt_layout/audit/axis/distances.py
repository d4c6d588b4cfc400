"""Distances between neighbours along a dimension, as far as powers of two divide them.

The divisibility of an axis analysis is that of the elements themselves; two rows may be a multiple
of 16 bytes apart although neither is at such an address.

Source:
    intel-xpu-backend-for-triton, third_party/intel/lib/Analysis/StrideInfo.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd

from tt_layout.audit.axis.info import AxisInfo
from tt_layout.ir.ssa import Region, SsaFunction, SsaOperation, Value
from tt_layout.ir.ssa.control_flow import ControlFlow

SAME = 0
"""The distance of elements that are equal; every number divides it."""

_SUMS = ("arith.addi", "arith.subi", "tt.addptr")


class Distances:
    """The distances of the elements of a function's tensors.

    Each is taken to be that of equal elements, and becomes less until nothing changes any more.

    Attributes:
        function: the function.
        known: what the axis analysis says of its values.
    """

    def __init__(self, function: SsaFunction, known: Mapping[Value, AxisInfo]) -> None:
        self.function = function
        self.known = known
        self._flow = ControlFlow(function)
        self._divisors = dict.fromkeys(self._dimensions(function.body), SAME)
        while self._sweep():
            pass

    def divisor(self, value: Value, dim: int) -> int:
        """Return the divisor of the distance of neighbours along a dimension; SAME if equal.

        Args:
            value: the value; of a pointer the distance is in its elements.
            dim: the dimension.
        """
        return self._divisors.get((value, dim), 1)

    def _dimensions(self, region: Region) -> Iterator[tuple[Value, int]]:
        """Yield each value and dimension, results behind the regions that they come from."""
        for block in region:
            yield from _of_values(block.arguments)
            for operation in block.operations:
                for inner in operation.regions:
                    yield from self._dimensions(inner)
                yield from _of_values(operation.results)

    def _sweep(self) -> bool:
        """Tell whether a distance became less when each was asked once more."""
        before = dict(self._divisors)
        for (value, dim), divisor in before.items():
            self._divisors[value, dim] = gcd(divisor, self._now(value, dim))
        return self._divisors != before

    def _now(self, value: Value, dim: int) -> int:
        """Return the divisor of a value, as far as it is known of those that it comes from."""
        sources = self._flow.into(value)
        if sources:
            return gcd(*(self.divisor(edge.source, dim) for edge in sources))
        producer = value.definition
        return 1 if producer is None else self._of(producer, dim)

    def _of(self, operation: SsaOperation, dim: int) -> int:
        """Return the divisor of what an operation returns."""
        operands = operation.operands
        if operation.name == "tt.splat" or operation.name == "arith.constant":
            return SAME
        if len(operands) < 1 + (operation.name == "arith.muli"):
            return 1  # the dump is not a valid one
        if operation.name in _SUMS:
            return gcd(*(self.divisor(operand, dim) for operand in operands[:2]))
        if operation.name == "arith.muli":
            return self._product(operands[0], operands[1], dim)
        if operation.name == "tt.broadcast":
            shape = operands[0].type.shape
            return SAME if shape[dim : dim + 1] == (1,) else self.divisor(operands[0], dim)
        if operation.name == "tt.expand_dims":
            axis = operation.attributes.get("axis")
            if dim == axis:
                return SAME
            return self.divisor(operands[0], dim - (isinstance(axis, int) and dim > axis))
        if operation.traits.integer_cast or operation.traits.same_elements:
            return self.divisor(operands[0], dim)
        return 1

    def _product(self, left: Value, right: Value, dim: int) -> int:
        """Return the divisor of a product of which one factor is equal along the dimension."""
        distances = self.divisor(left, dim), self.divisor(right, dim)
        if distances[1] == SAME:
            return distances[0] * self._factor(right, dim)
        return distances[1] * self._factor(left, dim) if distances[0] == SAME else 1

    def _factor(self, value: Value, dim: int) -> int:
        info = self.known.get(value)
        return info.divisibility[dim] if info is not None else 1


def _of_values(values: Sequence[Value]) -> Iterator[tuple[Value, int]]:
    for value in values:
        for dim in range(len(value.type.shape)):
            yield value, dim
