"""The buffers that a function allocates in shared memory: how large each is, and its alignment.

Source:
    Triton, lib/Analysis/Allocation.cpp, getExplicitValueSize and addPartitionBuffers.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from tt_layout.algebra.padding import padded_size
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.encodings import Encoding, SharedEncoding
from tt_layout.encodings.partitioned_shared import PartitionedShared
from tt_layout.ir.ssa import SsaFunction, SsaOperation
from tt_layout.ir.types import IRType
from tt_layout.placement import PlacedLayout, alignment_of


class Piece(NamedTuple):
    """A part of shared memory that an allocation returns.

    Attributes:
        bytes: its size; None where it is not known.
        alignment: of its offset, in bytes.
        partitions: how many such there are, each in another partition.
    """

    bytes: int | None
    alignment: int
    partitions: int = 1


def allocated(
    operation: SsaOperation, function: SsaFunction, layouts: PlacedLayouts
) -> Piece | None:
    """Return the piece of an allocation; None if its type does not determine it."""
    ir_type = function.type_of(operation.results[0])
    if ir_type is None or ir_type.element_bits is None:
        return None
    encoding = ir_type.encoding
    if not isinstance(encoding, SharedEncoding):
        return None
    alignment = operation.integer("alignment") or alignment_of(encoding)
    elements = _elements(ir_type, encoding, layouts)
    size = padded_size(elements, encoding.padding) * ir_type.element_bits // 8
    if not isinstance(encoding, PartitionedShared):
        return Piece(size, alignment)
    pieces = encoding.num_partitions * encoding.num_groups
    return Piece(size // pieces * encoding.num_groups, alignment, encoding.num_partitions)


def _elements(ir_type: IRType, encoding: Encoding, layouts: PlacedLayouts) -> int:
    """Return the slots of a CTA's part of a buffer, or of several, without padding."""
    placed = layouts.of(ir_type)
    split = 1
    if isinstance(placed, PlacedLayout):
        split <<= sum(1 for vector in placed.layout.vectors("block") if any(vector))
    # Where two values of 4 bits are in a byte, memory holds each of them in a byte of its own.
    return prod(ir_type.shape) // split << bool(getattr(encoding, "fp4_padded", False))
