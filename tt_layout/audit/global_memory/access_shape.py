"""The elements of a global access by lane, and the lanes' addresses."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.global_memory.global_access import LINE_BYTES, SECTOR_BYTES
from tt_layout.analyses.global_memory.sectors import Lanes, lanes_of
from tt_layout.audit.values.unknown import SingleValue, Unknown
from tt_layout.ir.ssa import Value
from tt_layout.tuples import NamedTuple

MAX_AT_ONCE = 1 << 22
"""The most addresses of an execution that are evaluated, in several arrays."""


class AccessShape(NamedTuple):
    """Assignment of elements to the lanes of an access, without addresses.

    Attributes:
        layout: layout of the tensor of pointers.
        vector: elements that an instruction moves per thread.
        width_bytes: bytes that an instruction moves per thread.
        one_holder: whether only one holder of each element takes part.
        repeats: whether registers that repeat an element are moved again.
        sector_bytes, line_bytes: the units of memory.
        has_banks: whether a wavefront may have words of several lines, as on NVIDIA.
    """

    layout: LinearLayout
    vector: int
    width_bytes: int
    one_holder: bool
    repeats: bool
    sector_bytes: int = SECTOR_BYTES
    line_bytes: int = LINE_BYTES
    has_banks: bool = True

    @property
    def too_large(self) -> Unknown | None:
        """Why lanes are not evaluated one by one; None if they are."""
        begins = (1 << self.layout.total_in_bits) // self.vector
        if begins <= MAX_AT_ONCE:
            return None
        return Unknown.because(f"{begins} addresses, more than the {MAX_AT_ONCE} counted")


class Addresses(NamedTuple):
    """The values that determine the addresses of an access.

    Attributes:
        pointer: pointers, or the scalar base of the offsets.
        offsets: offsets in elements; None where the pointers suffice.
        mask: mask of the access; None without one.
        element_bytes: bytes of an element.
    """

    pointer: Value
    offsets: Value | None
    mask: Value | None
    element_bytes: int

    @property
    def all(self) -> list[Value]:
        """All of them."""
        return [v for v in (self.pointer, self.offsets, self.mask) if v is not None]


@lru_cache(maxsize=64)
def shape_lanes(shape: AccessShape) -> Lanes:
    """Return the first element of each lane of an access."""
    return lanes_of(shape.layout, shape.vector, one_holder=shape.one_holder, repeats=shape.repeats)


def lane_addresses(
    lanes: Lanes, addresses: Addresses, values: list[SingleValue]
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the byte address at which each lane begins, and whether the mask is true there.

    Args:
        lanes: first elements of the lanes.
        addresses: the values that determine the addresses.
        values: their numbers, all of them known.
    """
    arrays = [value for value in values if not isinstance(value, Unknown)]
    at = arrays[0]
    if addresses.offsets is not None:
        at = at + arrays[1] * addresses.element_bytes
    chosen = np.ones(lanes.elements.shape, np.bool_)
    if addresses.mask is not None:
        mask = np.broadcast_to(arrays[-1], at.shape)
        chosen = mask.reshape(-1)[lanes.elements] != 0
    return at.reshape(-1)[lanes.elements], chosen
