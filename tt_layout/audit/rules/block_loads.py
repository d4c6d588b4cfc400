"""``block-loads``: on Intel GPUs, an operand of a DPAS that is not loaded as 2D blocks.

What: loads of operands of ``dpas`` without ``ttig.block_io``: the compiler lowers them to gathers
    without a message

Cost: not counted: no document gives the cost of a gather

Why: one 2D block load fetches up to 32 rows of 64 bytes in the layout that the matrix
    instruction reads.  A gather fetches an element for each lane.

How to fix: the message names the rule that is broken.  Make rows of the tensor contiguous in
    memory, their distance a multiple of 16 bytes, and the pointer a multiple of 4 bytes.

When it does not pay: an operand that is loaded once, before the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import gcd

from tt_layout.audit.axis import axis_info
from tt_layout.audit.axis.info import AxisInfo
from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.findings import Counted, Finding, Occurrence, Urgency
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.encodings import Encoding
from tt_layout.ir.names import stated
from tt_layout.ir.operations import MovementOperation
from tt_layout.ir.ssa import Function, Operation, Region, Value
from tt_layout.ir.ssa.control_flow import flow_of
from tt_layout.records import dataclass
from tt_layout.wording import count

PITCH_BYTES, BASE_BYTES = 16, 4
SUPPORT = "ttig.support_2d_block_io"
BLOCK_IO = "ttig.block_io"

SAME = 0
"""The distance of elements that are equal; every number divides it."""

_SUMS = ("arith.addi", "arith.subi", "tt.addptr")


@dataclass(frozen=True)
class GatheredOperand(Occurrence):
    """A load of an operand that becomes gathers.

    Attributes:
        why: the rule of the compiler that is broken.
    """

    kind = "block-loads"
    order = 25
    heading = "gathered"
    urgency = Urgency.IDLE_TENSOR_CORES

    why: str

    @classmethod
    def find(cls, rows: Sequence[MovementRow], conclusions: Conclusions) -> Iterator[Finding]:
        """Yield the loads of operands of ``dpas`` that are not marked as 2D block loads."""
        audited = conclusions.audited
        if not audited.module.is_intel:
            return

        @cache
        def distances_of(function: Function) -> Distances:
            return Distances(function, axis_info(function, audited.functions))

        for row in rows:
            if row.operation.name == "tt.load" and _is_operand(row.operation):
                why = _why_gathered(row.operation, audited, distances_of)
                if why is not None:
                    yield Finding.of_movement(row, cls(why))

    @property
    def words(self) -> str:
        """That it is gathered, and why."""
        return f"is not a 2D block load, so it is lowered to gathers: {self.why}"

    @property
    def counted(self) -> Counted:
        """Operands."""
        return Counted("operand", " not loaded as 2D blocks")


def _is_operand(operation: MovementOperation) -> bool:
    """Tell whether a load brings an operand, or a result, of ``dpas`` to registers."""
    encoding = operation.target.encoding if operation.target is not None else None
    encodings = encoding.lineage() if isinstance(encoding, Encoding) else ()
    return any(layout.mnemonic == "dpas" for layout in encodings)


def _why_gathered(
    operation: MovementOperation,
    audited: AuditedModule,
    distances_of: Callable[[Function], Distances],
) -> str | None:
    """Return the rule that keeps a load from being one of 2D blocks; None of one that is."""
    full = audited.in_full(operation)
    if (
        full is None
        or stated(full.operation.attributes, BLOCK_IO) is not None
        or not full.operation.operands
    ):
        return None
    if stated(audited.module.attributes, SUPPORT) is None:
        return f"the module does not say that the GPU has them ({SUPPORT})"
    shape = operation.target.shape if operation.target is not None else ()
    if len(shape) < 2:
        return "they are for tensors of two dimensions or more"
    pointers, distances = full.operation.operands[0], distances_of(full.function)
    info = distances.known.get(pointers)
    if info is None or info.rank != len(shape):
        return "nothing is known of its addresses"
    width = (pointers.type.bits or 8) // 8
    pitches = [distances.divisor(pointers, dim) * width for dim in range(len(shape))]
    return _broken_rule(info, shape, pitches)


def _broken_rule(info: AxisInfo, shape: tuple[int, ...], pitches: Sequence[int]) -> str:
    """Return the rule that the addresses of a load break.

    Args:
        info: AxisInfo of its pointers.
        shape: shape of the tensor.
        pitches: per dimension, a divisor of the distance of neighbours, in bytes.
    """
    rank = len(shape)
    fast = next((d for d in (rank - 1, rank - 2) if info.contiguity[d] == shape[d]), None)
    if fast is None:
        longest = max(info.contiguity[-2:])
        return f"no dimension is contiguous as a whole, but at most {count(longest, 'element')}"
    other = rank - 1 if fast == rank - 2 else rank - 2
    base = info.divisibility[fast]
    if pitches[other] % PITCH_BYTES:
        return f"the distance of its rows {_needed(pitches[other], PITCH_BYTES)}"
    if base % BASE_BYTES:
        return f"its base {_needed(base, BASE_BYTES)}"
    return "the compiler did not mark it, though its addresses would allow it"


def _needed(divisor: int, needed: int) -> str:
    """Describe the known and the required divisor of a number of bytes."""
    return f"is known to be a multiple of only {count(divisor, 'byte')}; {needed} are needed"


# -- distances of neighbours -----------------------------------------------------------------------


class Distances:
    """The distances of the elements of a function's tensors.

    Each is taken to be that of equal elements, and becomes less until nothing changes any more.

    Attributes:
        function: the function.
        known: AxisInfo of its values.
    """

    def __init__(self, function: Function, known: Mapping[Value, AxisInfo]) -> None:
        self.function = function
        self.known = known
        self._flow = flow_of(function)
        self._divisors = dict.fromkeys(self._dimensions(function.body), SAME)
        before: dict[tuple[Value, int], int] = {}
        while before != self._divisors:
            before = dict(self._divisors)
            for (value, dim), divisor in before.items():
                self._divisors[value, dim] = gcd(divisor, self._from_sources(value, dim))

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
            yield from _dimensions_of(block.arguments)
            for operation in block.operations:
                for inner in operation.regions:
                    yield from self._dimensions(inner)
                yield from _dimensions_of(operation.results)

    def _from_sources(self, value: Value, dim: int) -> int:
        """Return the divisor of a value, as far as it is known of those that it comes from."""
        sources = self._flow.into(value)
        if sources:
            return gcd(*(self.divisor(edge.source, dim) for edge in sources))
        producer = value.definition
        return 1 if producer is None else self._of_result(producer, dim)

    def _of_result(self, operation: Operation, dim: int) -> int:
        """Return the divisor of an operation's result."""
        operands = operation.operands
        if operation.name in ("tt.splat", "arith.constant"):
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


def _dimensions_of(values: Sequence[Value]) -> Iterator[tuple[Value, int]]:
    for value in values:
        for dim in range(len(value.type.shape)):
            yield value, dim
