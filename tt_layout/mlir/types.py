"""Tensor types as MLIR writes them: shape, element type, encoding and memory space.

    type    ::= `tensor<` dims element (`,` encoding)? `>`
              | `!ttg.memdesc<` dims element (`,` item)* `>`       also `!tt.memdesc`
    dims    ::= (integer `x`)+
    item    ::= encoding | memory space | `mutable` | allocation dims

Source:
    MLIR's language reference, "Types"; Triton, TritonGPUTypes.td, MemDescType.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from tt_layout.arguments import integers
from tt_layout.enums import TypeKind
from tt_layout.errors import LayoutError
from tt_layout.mlir.source import Source, Span
from tt_layout.mlir.syntax import AliasNode, AttributeNode, Parser, WordNode
from tt_layout.tuples import NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Sizes: TypeAlias = "Sequence[int] | npt.NDArray[np.integer[Any]]"
    ShapeOrType: TypeAlias = "Sizes | str | TensorType"
    """Sizes such as ``[64, 64]`` or ``"64x64"``, or a type such as ``"64x64xf16"``."""
else:
    ShapeOrType = Any  # `checks_arguments` reads annotations; `sizes_of` refuses what is neither

_HEAD = re.compile(r"\s*(tensor|!(?:ttg|tt|triton_gpu)\.memdesc)\s*<")
_DIM = re.compile(r"\s*(-?\d+|\?|\*)\s*x")
_SHORT = re.compile(r"\s*[\d?*-]+\s*x")
_FLOATS = {"f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64, "f80": 80, "f128": 128}
_SMALL_FLOAT = re.compile(r"f(4|6|8)E\d+M\d+[A-Z0-9]*")
_INTEGER = re.compile(r"[su]?i([1-9]\d{0,6})")
POINTER_BITS = 64
_NAME = re.compile(r"!?[A-Za-z_][\w.]*")
_ALLOCATION = re.compile(r"\d+(?:x\d+)*")
MAX_RANK = 64
_ANGLE = re.compile(r"[<>]")
_EXAMPLE = "such as tensor<16x16xf16>"
_SIZES = re.compile(r"\s*\d{1,18}(?:\s*x\s*\d{1,18})*\s*", re.ASCII)
_PYTHON_NAME = re.compile(r"(?<=x)\s*(?:bfloat|float|fp|int)(?=\d{1,3}\s*$)", re.ASCII)
_PYTHON_NAMES = {"bfloat": "bf", "float": "f", "fp": "f", "int": "i"}


class TensorType(NamedTuple):
    """A tensor in registers or a buffer in memory.

    Attributes:
        kind: ``tensor`` or ``memdesc``.
        shape: sizes of the dimensions.
        element_type: the element type as written, such as ``f16`` or ``!tt.ptr<f32>``.
        encoding: the syntax tree of the layout in the type, if there is one.
        span: the span of the type.

    Example:
        >>> parse_type("!ttg.memdesc<2x64x64xf16>").shape
        (2, 64, 64)
    """

    kind: TypeKind
    shape: tuple[int, ...]
    element_type: str
    encoding: AttributeNode | AliasNode | None
    span: Span

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor in registers."""
        return self.kind is TypeKind.TENSOR

    @property
    def element_bits(self) -> int | None:
        """Width of an element in bits; None where the type does not determine it."""
        return element_bits(self.element_type)


@lru_cache(maxsize=1024)
def element_bits(element_type: str) -> int | None:
    """Return the width of an element type in bits; None if it has no fixed one.

    Example:
        >>> [element_bits(name) for name in ("f16", "i1", "f8E5M2", "!tt.ptr<f32>", "index")]
        [16, 1, 8, 64, None]
    """
    if element_type.startswith("!tt.ptr"):
        return POINTER_BITS
    if match := _INTEGER.fullmatch(element_type):
        return int(match.group(1))
    if match := _SMALL_FLOAT.fullmatch(element_type):
        return int(match.group(1))
    return _FLOATS.get(element_type)


def parse_type(text: str, *, name: str = "<type>") -> TensorType:
    """Parse a tensor type.

    Args:
        text: a type such as ``tensor<16x16xf16>``, ``!ttg.memdesc<16x16xf16>``, or ``16x16xf16``
            for a tensor, whose element type may be Python's (``fp16``, ``bfloat16``, ``int8``).
        name: name of the text in messages.

        Raises:
            LayoutError: the text is not such a type; the error points at the fault.

    Example:
        >>> parse_type("tensor<16x16xf16>").shape, parse_type("16x16xf16").shape
        ((16, 16), (16, 16))
    """
    if _SHORT.match(text):
        text = _PYTHON_NAME.sub(lambda name: _PYTHON_NAMES[name.group().strip()], text)
        return parse_type(f"tensor<{text.strip()}>", name=name)
    source = Source(text, name)
    match = _HEAD.match(text)
    if match is None:
        message = f"expected a tensor type {_EXAMPLE}, got {text.strip()[:40]!r}"
        raise LayoutError(message, source.span(0, max(1, len(text))))
    shape, offset = parse_shape(source, match.end())
    if not shape:
        message = f"expected dimensions and an element type {_EXAMPLE}"
        raise LayoutError(message, source.span(offset, offset + 1))
    element, offset = _parse_element(source, offset)
    parser = Parser(source, offset)
    if match.group(1) != "tensor":
        encoding = _parse_rest(parser)
    else:
        encoding = parser.parse_attribute() if parser.accept(",") else None
    parser.expect(">", "to close the type")
    parser.expect_end("type")
    kind = TypeKind.TENSOR if match.group(1) == "tensor" else TypeKind.MEMORY
    return TensorType(kind, shape, element, encoding, source.span(0, len(text)))


def sizes_of(over: ShapeOrType) -> tuple[tuple[int, ...], int | None]:
    """Return the sizes of a shape or a type, and the element width if it is known.

    Raises:
        LayoutError: a text is neither a shape nor a type.
        TypeError: the argument is not a sequence of integers.

    Example:
        >>> sizes_of("64x64"), sizes_of("64x64xfp16"), sizes_of([4])
        (((64, 64), None), ((64, 64), 16), ((4,), None))
    """
    if isinstance(over, str):
        if _SIZES.fullmatch(over):
            return tuple(map(int, over.split("x"))), None
        over = parse_type(over)
    if isinstance(over, TensorType):
        return over.shape, over.element_bits
    return integers("the shape", over), None


def sizes_and_width(
    over: ShapeOrType, element_bits: int | None = None
) -> tuple[tuple[int, ...], int]:
    """Return the sizes of a type and the element width, which may be passed separately.

    Raises:
        LayoutError: no width is known, or a text is neither a shape nor a type.
        TypeError: the argument is not a sequence of integers.

    Example:
        >>> sizes_and_width("64x64xf16"), sizes_and_width([64, 64], 8)
        (((64, 64), 16), ((64, 64), 8))
    """
    sizes, bits = sizes_of(over)
    bits = bits if element_bits is None else element_bits
    if bits is None:
        shown = "x".join(map(str, sizes))
        raise LayoutError(f"the width of an element is needed: give a type such as '{shown}xf16'")
    return sizes, bits


def parse_shape(source: Source, offset: int) -> tuple[tuple[int, ...], int]:
    """Return the sizes of a type, if it has any, and the offset of its element type.

    Raises:
        LayoutError: a size is not known, not positive or too large, or there are too many.
    """
    shape: list[int] = []
    while match := _DIM.match(source.text, offset):
        span = source.span(*match.span(1))
        if match.group(1) in "?*":
            raise LayoutError(f"every dimension must be known, got {match.group(1)!r}", span)
        size = int(match.group(1)[:40])  # a longer number is refused, and cheaply
        if size >= 1 << 63:
            raise LayoutError("the dimension does not fit into 64 bits", span)
        if size <= 0:
            raise LayoutError(f"every dimension must be positive, got {size}", span)
        shape.append(size)
        if len(shape) > MAX_RANK:
            raise LayoutError(f"a type may have {MAX_RANK} dimensions at most", span)
        offset = match.end()
    return tuple(shape), offset


def _parse_element(source: Source, offset: int) -> tuple[str, int]:
    """Return the element type at an offset, and the offset after it."""
    text = source.text
    offset += len(text[offset:]) - len(text[offset:].lstrip())
    match = _NAME.match(text, offset)
    name = match.group() if match else ""
    end = match.end() if match else offset
    if name in ("!tt.ptr", "vector", "complex"):
        if not text.startswith("<", end):
            raise LayoutError("expected '<' after the element type", source.span(end, end + 1))
        end = closing(source, end)
        return text[offset:end], end
    if match is None or (element_bits(name) is None and name != "index"):
        shown = repr(name or text[offset : offset + 10])
        message = f"expected an element type such as f16, i8 or !tt.ptr<f32>, got {shown}"
        raise LayoutError(message, source.span(offset, max(end, offset + 1)))
    return name, end


def closing(source: Source, offset: int) -> int:
    """Return the offset after the ``<...>`` that begins at ``offset``."""
    depth = 0
    for match in _ANGLE.finditer(source.text, offset):
        depth += 1 if match.group() == "<" else -1
        if depth == 0:
            return match.end()
    raise LayoutError("expected '>' to close the element type", source.span(offset, offset + 1))


def _parse_rest(parser: Parser) -> AttributeNode | AliasNode | None:
    """Parse the items after the element type of a memdesc; return the encoding in them."""
    encoding: AttributeNode | AliasNode | None = None
    while parser.accept(","):
        if parser.kind == "number":
            _skip_allocation(parser)
            continue
        item = parser.parse_value()
        is_space = isinstance(item, AttributeNode) and item.body is None
        if isinstance(item, (AttributeNode, AliasNode)) and encoding is None and not is_space:
            encoding = item
        elif not isinstance(item, (AttributeNode, AliasNode, WordNode)):
            raise LayoutError(f"unexpected {item.span.text!r} in the type", item.span)
    return encoding


def _skip_allocation(parser: Parser) -> None:
    """Skip the allocation dims ``3x64x64`` at the end of a memdesc."""
    match = _ALLOCATION.match(parser.source.text, parser.start)
    if match is None:
        raise parser.fail("allocation dimensions such as 3x64x64")
    parser.end = match.end()
    parser.advance()
