"""An access to global memory as its lanes see it, and the addresses that they get."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.global_memory.global_access import LINE_BYTES, SECTOR_BYTES
from tt_layout.analyses.global_memory.sectors import Lanes, lanes_of
from tt_layout.audit.values.unknown import Known, Unknown
from tt_layout.ir.ssa import Value
from tt_layout.tuples import NamedTuple

MAX_AT_ONCE = 1 << 22
"""Addresses of an execution that are looked at: several arrays of so many are made."""


class AccessShape(NamedTuple):
    """How the lanes of an access stand, without its addresses.

    Attributes:
        layout: of the tensor of pointers.
        vector: elements that a thread moves at once.
        width_bytes: the same in bytes.
        one_holder: whether one holder of each element alone takes part.
        repeats: whether registers that repeat an element are moved again.
        sector_bytes, line_bytes: the units of memory.
        has_banks: whether words of several lines are handed over at once, as NVIDIA does.
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
        """Why the lanes are not looked at one by one; None where they are."""
        begins = (1 << self.layout.total_in_bits) // self.vector
        if begins <= MAX_AT_ONCE:
            return None
        return Unknown.because(f"{begins} addresses, more than the {MAX_AT_ONCE} counted")


class Addresses(NamedTuple):
    """The values that determine the addresses of an access.

    Attributes:
        pointer: pointers, or the scalar that offsets count from.
        offsets: in elements; None where the pointers suffice.
        mask: None for an access without one.
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
    """Return which elements the lanes of an access begin at."""
    return lanes_of(shape.layout, shape.vector, one_holder=shape.one_holder, repeats=shape.repeats)


def lane_addresses(
    lanes: Lanes, addresses: Addresses, values: list[Known]
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the byte address at which each lane begins, and whether the mask is true there.

    Args:
        lanes: which elements the lanes begin at.
        addresses: the values that determine the addresses.
        values: of its names, all of them known.
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
