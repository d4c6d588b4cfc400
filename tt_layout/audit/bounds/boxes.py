"""Boxes of a tensor in global memory that copies by a descriptor move.

A descriptor has the sizes of the tensor and its strides only when a kernel runs, but a copy names
the coordinates of its box.  Boxes at different coordinates are different bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.kinds import kinds_of_runs
from tt_layout.audit.values.spread import numbers
from tt_layout.audit.values.unknown import Evaluated, Unknown, UnknownError
from tt_layout.ir.ssa import Function, Operation, Value
from tt_layout.tuples import NamedTuple

Coordinates = tuple[int, ...]


class Boxes(NamedTuple):
    """Distinct boxes of equal size.

    Attributes:
        number: their number.
        low, high: least and greatest coordinates of their first elements; empty without boxes.
    """

    number: int
    low: Coordinates = ()
    high: Coordinates = ()

    def joined(self, other: Boxes) -> Boxes:
        """Return two sets of boxes that share none.

        Example:
            >>> Boxes(1, (0, 64), (0, 64)).joined(Boxes(2, (0, 128), (8, 128)))
            Boxes(number=3, low=(0, 64), high=(8, 128))
        """
        if not self.number or not other.number:
            return other if other.number else self
        low, high = map(min, self.low, other.low), map(max, self.high, other.high)
        return Boxes(self.number + other.number, tuple(low), tuple(high))

    def extents(self, box: Sequence[int]) -> Coordinates:
        """Return the sizes of the least tensor that holds all boxes.

        Example:
            >>> Boxes(3, (0, 64), (8, 128)).extents((8, 64))
            (16, 128)
        """
        return tuple(high - low + size for low, high, size in zip(self.low, self.high, box))

    def range(self, hull: Boxes, box: Sequence[int]) -> tuple[int, int]:
        """Return the positions of the first element, and behind the last, in a row-major tensor.

        Args:
            hull: boxes that the tensor just holds.
            box: sizes of a box.

        Example:
            >>> Boxes(1, (8, 128), (8, 128)).range(Boxes(3, (0, 64), (8, 128)), (8, 64))
            (1088, 2048)
        """
        sizes = hull.extents(box)
        strides = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
        first = sum((at - origin) * s for at, origin, s in zip(self.low, hull.low, strides))
        last = sum(
            (at - origin + size - 1) * s
            for at, origin, size, s in zip(self.high, hull.low, box, strides)
        )
        return first, last + 1


EMPTY = Boxes(0)


class BoxCopy(NamedTuple):
    """A copy between global and shared memory of a box at some coordinates.

    Attributes:
        operation: the copy.
        descriptor: descriptor of the tensor.
        coordinates: coordinates of the first element of the box.
        predicate: flag that is false where nothing is copied; None without one.
        box: sizes of the box.
        element_bytes: bytes of an element.
    """

    operation: Operation
    descriptor: Value
    coordinates: tuple[Value, ...]
    predicate: Value | None
    box: tuple[int, ...]
    element_bytes: float

    @classmethod
    def of(cls, function: Function, operation: Operation) -> BoxCopy | None:
        """Return an operation as a copy of a box; None if it is none.

        Gathers and scatters have a tensor of coordinates, and im2col has offsets beside them.
        """
        if operation.movement is None or not operation.operands:
            return None
        descriptor, *others = operation.operands
        ir_type = function.type_of(descriptor)
        if ir_type is None or not ir_type.is_descriptor or ir_type.is_im2col:
            return None
        rank = len(ir_type.shape)
        coordinates, behind = others[:rank], others[rank:]
        if not 0 < len(coordinates) == rank:
            return None
        if not all(value.type.is_scalar and value.type.is_integer for value in coordinates):
            return None
        flags = [value for value in behind if value.type.is_scalar and value.type.integer_bits == 1]
        return cls(
            operation,
            descriptor,
            tuple(coordinates),
            flags[-1] if flags else None,
            ir_type.shape,
            (ir_type.element_bits or 8) / 8,
        )

    def beside(self, function: Function) -> Iterator[BoxCopy]:
        """Yield all copies by its descriptor."""
        copies = (BoxCopy.of(function, user) for user in self.descriptor.users)
        yield from (copy for copy in copies if copy is not None)


def boxes_of(copy: BoxCopy, evaluator: Evaluator) -> Boxes | None:
    """Return the boxes that a copy moves in one program; None where they are not known.

    Branches that loaded values decide are taken.
    """
    asked = [*copy.coordinates, *((copy.predicate,) if copy.predicate is not None else ())]

    def moved(values: Sequence[Evaluated]) -> Boxes | None:
        places = [numbers(value) for value in values if not isinstance(value, Unknown)]
        if len(places) < len(values):
            return None
        runs = np.stack(np.broadcast_arrays(*places), axis=-1)
        rank = len(copy.coordinates)
        firsts = np.unique(runs[runs[:, rank:].all(axis=1), :rank], axis=0)
        if not len(firsts):
            return EMPTY
        low, high = firsts.min(axis=0).tolist(), firsts.max(axis=0).tolist()
        return Boxes(len(firsts), tuple(low), tuple(high))

    try:
        kinds = kinds_of_runs(evaluator, copy.operation, asked, moved, [])
    except UnknownError:
        return None
    boxes = EMPTY
    for _, part in kinds:
        if part is None:
            return None
        boxes = boxes.joined(part)
    return boxes
