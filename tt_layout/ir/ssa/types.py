"""Types of values without layouts, read without the aliases of the module."""

from __future__ import annotations

import re
from functools import lru_cache

from tt_layout.enums import TypeKind
from tt_layout.mlir.types import element_bits
from tt_layout.tuples import NamedTuple

_TENSOR = re.compile(
    r"(tensor|!tt?g?\.memdesc|!triton_gpu\.memdesc|)<\s*((?:\d{1,19}x)*)", re.ASCII
)
_ELEMENT = re.compile(r"!tt\.ptr<.*|[^,<>]+(?:<[^<>]*>)?")
_POINTER = re.compile(r"!tt\.ptr<\s*([^,<>]+(?:<[^<>]*>)?)[^<>]*>")
_INTEGER = re.compile(r"[su]?i(\d{1,3})|index")


class ValueType(NamedTuple):
    """A type without its layout.

    Attributes:
        kind: ``other`` for a descriptor or an unknown type.
        shape: sizes of the dimensions; empty for a scalar.
        element: the element type as written; for a scalar, the type itself.
        pointee: the type that an element points to; None if it is not a pointer.
    """

    kind: TypeKind
    shape: tuple[int, ...]
    element: str
    pointee: str | None

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor in registers."""
        return self.kind is TypeKind.TENSOR

    @property
    def is_memory(self) -> bool:
        """Whether it is a buffer in memory, a memdesc."""
        return self.kind is TypeKind.MEMORY

    @property
    def is_scalar(self) -> bool:
        """Whether it is one number or pointer."""
        return self.kind is TypeKind.SCALAR

    @property
    def is_integer(self) -> bool:
        """Whether the elements are integers, including ``index``."""
        return _integer_bits(self.element) is not None

    @property
    def integer_bits(self) -> int | None:
        """The width of integer elements, 64 for ``index``; None if they are not integers."""
        return _integer_bits(self.element)

    @property
    def bits(self) -> int | None:
        """The width of an element, for a pointer that of its pointee; None if unknown."""
        return element_bits(self.pointee or self.element)


@lru_cache(maxsize=1 << 10)
def _integer_bits(element: str) -> int | None:
    match = _INTEGER.fullmatch(element)
    return int(match.group(1) or 64) if match is not None else None


@lru_cache(maxsize=1 << 14)
def value_type(text: str) -> ValueType:
    """Parse a type.

    Example:
        >>> value_type("tensor<8x4x!tt.ptr<f16, 1>, #a>")
        ValueType(kind='tensor', shape=(8, 4), element='!tt.ptr<f16, 1>', pointee='f16')
        >>> value_type("i32").integer_bits, value_type("!tt.ptr<bf16>").bits
        (32, 16)
    """
    match = _TENSOR.match(text)
    if match is None:
        pointer = _POINTER.fullmatch(text)
        is_scalar = pointer is not None or (text != "" and not text.startswith("!"))
        kind = TypeKind.SCALAR if is_scalar else TypeKind.OTHER
        return ValueType(kind, (), text, pointer.group(1).strip() if pointer else None)
    shape = tuple(int(size) for size in match.group(2).split("x")[:-1])
    kind = TypeKind.TENSOR if match.group(1) == "tensor" else TypeKind.MEMORY
    pointer = _POINTER.match(text, match.end())
    if pointer is not None:
        return ValueType(kind, shape, pointer.group(), pointer.group(1).strip())
    element = _ELEMENT.match(text, match.end())
    return ValueType(kind, shape, element.group().strip() if element else "", None)


def with_element(text: str, element: str) -> str:
    """Return a type with other elements, its shape and layout kept.

    Example:
        >>> with_element("tensor<8x!tt.ptr<f16>, #a>", "f16"), with_element("i32", "i1")
        ('tensor<8xf16, #a>', 'i1')
    """
    old = value_type(text)
    if not old.is_tensor:
        return element
    match = _TENSOR.match(text)
    assert match is not None
    return text[: match.end()] + element + text[match.end() + len(old.element) :]


def pointed_at(text: str) -> str:
    """Return the type of a value loaded through a pointer type; any other type unchanged.

    Example:
        >>> pointed_at("tensor<8x!tt.ptr<f16>, #a>"), pointed_at("!tt.ptr<tensor<8xf16>>")
        ('tensor<8xf16, #a>', 'tensor<8xf16>')
    """
    if text.startswith("!tt.ptr<"):
        inner = text.removeprefix("!tt.ptr<")[:-1]
        tensor = re.match(r"tensor<.*>", inner)
        return tensor.group() if tensor is not None else inner.partition(",")[0]
    pointee = value_type(text).pointee
    return text if pointee is None else with_element(text, pointee)
