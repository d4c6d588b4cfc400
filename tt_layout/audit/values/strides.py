"""Strides of a tensor's elements along a dimension, from the operations.

Addresses are mostly sums of ranges times numbers or arguments.  Of these the distance is known
without a value: of ``a + rows[:, None] * stride_am + inner[None, :] * stride_ak`` it is, along the
second dimension, ``stride_ak`` elements.
"""

from __future__ import annotations

from typing import NamedTuple

from tt_layout.audit.values.evaluator import yielded
from tt_layout.audit.values.structure import Structure
from tt_layout.ir.ssa import Block, SsaFunction, SsaOperation, Value, integers
from tt_layout.ir.ssa.attributes import constant_value

MAX_DEPTH = 100
"""Operations from a value back to where it begins."""


class Stride(NamedTuple):
    """A number, or a number times an argument.

    Attributes:
        number: of elements, of pointers of bytes.
        argument: of the function; empty for none.
    """

    number: int
    argument: str = ""

    def plus(self, other: Stride, sign: int = 1) -> Stride | None:
        """Return a sum or a difference; None where it is neither of the two."""
        if not other.number or not self.number or other.argument == self.argument:
            name = self.argument or other.argument
            number = self.number + sign * other.number
            return Stride(number, name if number else "")
        return None

    def times(self, other: Stride) -> Stride | None:
        """Return a product; None where it has two arguments."""
        if self.argument and other.argument:
            return None
        number = self.number * other.number
        return Stride(number, (self.argument or other.argument) if number else "")


SAME = Stride(0)
"""The distance of equal elements."""


class Strides:
    """The distances between the elements of a function's tensors.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa import read_functions
        >>> [module] = parse_ir('''
        ... tt.func @f(%n: i32) {
        ...   %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
        ...   %s = tt.splat %n : i32 -> tensor<64xi32>
        ...   %x = arith.muli %r, %s : tensor<64xi32>
        ...   %y = arith.remsi %r, %s : tensor<64xi32>
        ...   tt.return
        ... }''')
        >>> [function] = read_functions(module)
        >>> strides, values = Strides(function, Structure(function)), function.values
        >>> strides.along(values["%x"], 0), strides.along(values["%y"], 0)
        (Stride(number=1, argument='%n'), None)
    """

    def __init__(self, function: SsaFunction, structure: Structure) -> None:
        self._structure = structure
        self._arguments = frozenset(function.arguments)
        self._known: dict[tuple[Value, int], Stride | None] = {}
        self._depth = 0

    def along(self, value: Value, dim: int) -> Stride | None:
        """Return how far the elements of a value are apart along a dimension.

        None where that differs, or is not seen.  No sum or product is taken to overflow.
        """
        key = value, dim
        if key not in self._known:
            self._depth += 1
            self._known[key] = self._find(value, dim) if self._depth < MAX_DEPTH else None
            self._depth -= 1
        return self._known[key]

    def _find(self, value: Value, dim: int) -> Stride | None:
        shape = value.type.shape
        if dim >= len(shape):
            return None
        if shape[dim] == 1:
            return SAME
        operation = value.definition
        if operation is None:
            return self._iterated(value, dim)
        if operation.name in ("tt.splat", "tt.make_range"):
            return SAME if operation.name == "tt.splat" else Stride(1)
        if operation.name == "arith.constant":
            return SAME if constant_value(operation.attributes.get("value")) is not None else None
        stride = self._moved(operation, dim) if len(operation.operands) == 1 else None
        return stride or self._computed(operation, dim)

    def _moved(self, operation: SsaOperation, dim: int) -> Stride | None:
        """Return the distance behind an operation that puts elements elsewhere."""
        source = operation.operands[0]
        if operation.name == "tt.expand_dims":
            return self.along(source, dim - (dim > (operation.integer("axis") or 0)))
        if operation.name == "tt.trans":
            order = integers(operation.attributes.get("order"))
            return self.along(source, order[dim]) if dim < len(order) else None
        is_kept = _keeps(operation) or operation.name == "tt.broadcast"
        return self.along(source, dim) if is_kept else None

    def _computed(self, operation: SsaOperation, dim: int) -> Stride | None:
        """Return the distance behind an operation of each element by itself."""
        if not operation.traits.elementwise:
            return None
        strides = [self.along(operand, dim) for operand in operation.operands]
        present = [stride for stride in strides if stride is not None]
        if len(present) < len(strides):
            return None
        if all(stride == SAME for stride in present):
            return SAME
        if len(present) < 2:
            return None
        if operation.name == "arith.muli":
            return self._product(operation, present)
        if operation.name in ("arith.addi", "arith.subi"):
            return present[0].plus(present[1], -1 if operation.name == "arith.subi" else 1)
        if operation.name == "tt.addptr":
            bits = operation.operands[0].type.bits
            size = Stride(max(1, (bits or 0) // 8)) if bits is not None else None
            scaled = present[1].times(size) if size is not None else None
            return present[0].plus(scaled) if scaled is not None else None
        return None

    def _product(self, operation: SsaOperation, strides: list[Stride]) -> Stride | None:
        """Return the distance of elements that are all multiplied by one number."""
        for stride, factor in zip(strides, operation.operands[::-1]):
            scale = self._everywhere(factor)
            if scale is not None:
                return stride.times(scale)
        return None

    def _everywhere(self, value: Value) -> Stride | None:
        """Return the constant of all elements of a value; None if they differ or are not known."""
        for _ in range(MAX_DEPTH):
            if value in self._arguments:
                is_number = value.type.is_scalar and (value.type.integer_bits or 0) >= 16
                return Stride(1, value.name) if is_number else None
            operation = value.definition
            if operation is None:
                return None
            if operation.name == "arith.constant":
                number = constant_value(operation.attributes.get("value"))
                return Stride(number) if number is not None else None
            if not (_keeps(operation) or operation.traits.repeats) or len(operation.operands) != 1:
                return None
            value = operation.operands[0]
        return None

    def _iterated(self, value: Value, dim: int) -> Stride | None:
        """Return the distance of what a loop iterates, if each iteration leaves it as it was."""
        loop = value.owner.owner if isinstance(value.owner, Block) else None
        initial = self._structure.first_value(value)
        if loop is None or initial is None or not loop.traits.counted:
            return None
        first = self.along(initial, dim)
        arguments = loop.regions[0][0].arguments[1:]
        passed = yielded(loop, 0)
        if first is None or value not in arguments or len(passed) != len(arguments):
            return None
        before = dict(self._known)
        self._known[value, dim] = first
        if self.along(passed[arguments.index(value)], dim) == first:
            return first
        self._known = before  # what was concluded from it does not hold
        return None


def _keeps(operation: SsaOperation) -> bool:
    """Tell whether the elements of a result are those of the operand, in their places."""
    return operation.traits.signed_cast or operation.traits.same_elements
