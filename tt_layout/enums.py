"""Enums whose values are printed in reports, and enums shared by all rooms."""

from __future__ import annotations

from enum import Enum

UNORDERED, INNER_TREE = "unordered", "inner_tree"
ORDERINGS = (UNORDERED, INNER_TREE)
"""Values of the attribute ``reduction_ordering`` of Meta's Triton; others have the first only."""


class TextEnum(str, Enum):
    """An enum of strings: printed, compared and written to JSON as their values.

    Example:
        >>> MemorySpace.SHARED, f"{MemorySpace.SHARED}"
        ('shared memory', 'shared memory')
    """

    __hash__ = str.__hash__  # that of an enum asks for its name, and differs from its value's

    def __repr__(self) -> str:
        return str.__repr__(self)

    def __str__(self) -> str:
        return str.__str__(self)

    def __format__(self, spec: str) -> str:
        return str.__format__(self, spec)


class MemorySpace(TextEnum):
    """Memory space of a tensor's elements."""

    REGISTERS = "registers"
    SHARED = "shared memory"
    TENSOR = "tensor memory"
    GLOBAL = "global memory"


class TypeKind(TextEnum):
    """Kind of an MLIR type."""

    TENSOR = "tensor"
    MEMORY = "memdesc"
    POINTER = "ptr"
    """To a tensor, as block pointers are; one to an element is a scalar."""
    DESCRIPTOR = "tensordesc"
    SCALAR = "scalar"
    OTHER = "other"
