"""Enums whose members are the words that reports print, and those that every room needs."""

from __future__ import annotations

from enum import Enum


class TextEnum(str, Enum):
    """An enum whose members are strings: printed, compared and written to JSON as their values.

    Example:
        >>> MemorySpace.SHARED, f"{MemorySpace.SHARED}"
        ('shared memory', 'shared memory')
    """

    def __repr__(self) -> str:
        return str.__repr__(self)

    def __str__(self) -> str:
        return str.__str__(self)

    def __format__(self, spec: str) -> str:
        return str.__format__(self, spec)


class MemorySpace(TextEnum):
    """Where the elements of a tensor live."""

    REGISTERS = "registers"
    SHARED = "shared memory"
    TENSOR = "tensor memory"
    GLOBAL = "global memory"


class TypeKind(TextEnum):
    """What a type of a dump is a type of."""

    TENSOR = "tensor"
    MEMORY = "memdesc"
    POINTER = "ptr"
    """To a tensor, as block pointers are; one to an element is a scalar."""
    DESCRIPTOR = "tensordesc"
    SCALAR = "scalar"
    OTHER = "other"
