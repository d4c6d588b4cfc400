"""Types of a dump: kind, shape, element type and layout.

    type ::= `tensor<` dims element (`,` layout)? `>`
           | memdesc? `<` dims element (`,` item)* `>`
           | `!tt.ptr<` tensor (`,` space)? `>`
           | `!tt.tensordesc<` (tensor | dims element (`,` layout)?) `>`
    memdesc ::= `!ttg.memdesc` | `!tt.memdesc` | `!triton_gpu.memdesc`
    dims ::= ((integer | `?` | `*`) `x`)*

The grammar is wider than that of ``-t``: scalars, unknown element types and unknown encodings are
read as far as possible.

Source:
    MLIR's language reference, "Types"; Triton, TritonTypes.td and TritonGPUTypes.td.
"""

from __future__ import annotations

import re

from tt_layout.encodings import Encoding
from tt_layout.enums import TypeKind
from tt_layout.errors import LayoutError, PlaceholderError, UnmappedError
from tt_layout.mlir.source import STRING, Source
from tt_layout.mlir.syntax import AliasNode, Node, Parser, WordNode
from tt_layout.mlir.types import TensorType, closing, element_bits, parse_shape
from tt_layout.tuples import NamedTuple

KINDS = {
    "tensor": TypeKind.TENSOR,
    "!ttg.memdesc": TypeKind.MEMORY,
    "!tt.memdesc": TypeKind.MEMORY,
    "!triton_gpu.memdesc": TypeKind.MEMORY,
    "!tt.ptr": TypeKind.POINTER,
    "!tt.tensordesc": TypeKind.DESCRIPTOR,
    "!ttng.tensordesc_im2col": TypeKind.DESCRIPTOR,
    "": TypeKind.MEMORY,
}
"""How a type begins -> its kind; nothing before ``<`` is how some operations shorten it."""

_AROUND_TENSORS = (TypeKind.POINTER, TypeKind.DESCRIPTOR)
_HEAD = re.compile(r"([!\w.]*)\s*<")
_INNER = re.compile(r"\s*tensor\s*<")
_ELEMENT = re.compile(r"\s*(!?[A-Za-z_][\w.$]*)")
_ALLOCATION = re.compile(r"\d+(?:x\d+)*")

_SPACED = re.compile(
    r"[^\S ]|[ ]{2}|[ ][\]>}),]|[\[<{(][ ]|,\S|[^ ]=|=[^ ]|[ ]:[ ]?\+|:[ ]\+|\+[ ]"
)
_PIECES = re.compile(rf'"{STRING}"|:\s*\+|[,=:]|[^\s",=:]+|"')
_PLUS = re.compile(r"^:\s*\+")
_GLUE = {",": ", ", "=": " = ", ":": " : "}


class IRType(NamedTuple):
    """A type of a dump, independent of its position.

    Attributes:
        text: the type as written.
        kind: ``tensor``, ``memdesc``, ``ptr`` (to a tensor) or ``tensordesc``.
        shape: sizes of the dimensions.
        element_type: as written, such as ``f16`` or ``!tt.ptr<f32>``.
        layout: the layout as written, such as ``#blocked``; None where there is none.
        encoding: the layout, or the error of it or of the type; None where there is none.
        allocation: the shape of the buffer of which a memdesc is a part; None if it is the whole.
    """

    text: str
    kind: TypeKind
    shape: tuple[int, ...]
    element_type: str
    layout: str | None
    encoding: Encoding | LayoutError | None
    allocation: tuple[int, ...] | None = None

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor in registers."""
        return self.kind is TypeKind.TENSOR

    @property
    def is_memory(self) -> bool:
        """Whether it is a buffer in memory, a memdesc."""
        return self.kind is TypeKind.MEMORY

    @property
    def is_descriptor(self) -> bool:
        """Whether it describes a tensor in global memory."""
        return self.kind is TypeKind.DESCRIPTOR

    @property
    def is_im2col(self) -> bool:
        """Whether it describes one whose copies take pixels and have offsets of a filter."""
        return self.is_descriptor and "im2col" in self.text

    @property
    def element_bits(self) -> int | None:
        """Width of an element in bits; None where the type does not determine it."""
        return element_bits(self.element_type)

    @property
    def without_linear(self) -> str:
        """The reason why a type has no linear layout, in a few words."""
        if self.layout is None or isinstance(self.encoding, PlaceholderError):
            return "no layout yet"
        if isinstance(self.encoding, UnmappedError):
            return f"{self.layout} has no linear layout"
        if isinstance(self.encoding, Encoding) and any(size & (size - 1) for size in self.shape):
            return f"{'x'.join(map(str, self.shape))} is not a power of two"
        return f"{self.layout} is refused"

    @property
    def moved_element(self) -> str:
        """The element type; for pointers, that of their pointee."""
        element = self.element_type
        if not element.startswith("!tt.ptr<"):
            return element
        return element.removeprefix("!tt.ptr<").partition(",")[0].removesuffix(">")

    @property
    def plain(self) -> str:
        """Sizes and element type of moved data, such as ``16x16xf16``."""
        return "".join(f"{size}x" for size in self.shape) + self.moved_element

    @property
    def bare(self) -> str:
        """The type without its layout, such as ``tensor<16x16xf16>``."""
        sizes = "".join(f"{size}x" for size in self.shape)
        allocation = "x".join(str(size) for size in self.allocation or ())
        return f"{self.kind}<{sizes}{self.element_type}{' of ' if allocation else ''}{allocation}>"

    def tensor_type(self) -> TensorType:
        """Return the type over which a layout is placed; for a part of a buffer, the buffer's type.

        A pointer to a tensor counts as the tensor, a descriptor as its shared memory.

        Example:
            >>> part = IRType("..", TypeKind.MEMORY, (8, 8), "f16", "#s", None, (3, 16, 16))
            >>> part.tensor_type().span.text
            '!ttg.memdesc<16x16xf16>'
        """
        shape, allocation = self.shape, self.allocation or ()
        if allocation:
            extra = len(shape) - len(allocation)
            shape = (*shape[: max(0, extra)], *allocation[max(0, -extra) :])
        is_tensor = self.kind in (TypeKind.TENSOR, TypeKind.POINTER)
        kind = TypeKind.TENSOR if is_tensor else TypeKind.MEMORY
        sizes = "".join(f"{size}x" for size in shape)
        text = f"{'' if is_tensor else '!ttg.'}{kind}<{sizes}{self.element_type}>"
        return TensorType(kind, shape, self.element_type, None, Source(text).span(0, len(text)))

    @property
    def elements(self) -> int:
        """The number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count


class TypeSyntax(NamedTuple):
    """A type before its layout is looked up; ``layout`` is the layout's syntax tree."""

    kind: TypeKind
    shape: tuple[int, ...]
    element_type: str
    layout: Node | None
    allocation: tuple[int, ...] | None


def parse_syntax(source: Source, offset: int) -> TypeSyntax:
    """Parse the type that begins at an offset of a source.

    Raises:
        LayoutError: it is truncated, or is not a type.

    Example:
        >>> parse_syntax(Source("!ttg.memdesc<2x8xf16, #s, #smem>"), 0)[:3]
        ('memdesc', (2, 8), 'f16')
    """
    head = _HEAD.match(source.text, offset)
    assert head is not None
    kind = KINDS[head.group(1)]
    inner = _INNER.match(source.text, head.end()) if kind in _AROUND_TENSORS else None
    shape, position = parse_shape(source, (inner or head).end())
    element, position = _parse_element(source, position)
    parser = Parser(source, position)
    layout, allocation = _parse_items(parser)
    parser.expect(">", "to close the type")
    if inner is not None:
        if parser.accept(","):  # the address space of a pointer
            parser.parse_value()
        parser.expect(">", "to close the type")
    return TypeSyntax(kind, shape, element, layout, allocation)


def _parse_element(source: Source, offset: int) -> tuple[str, int]:
    """Return the element type at an offset, of any dialect, and the offset after it."""
    match = _ELEMENT.match(source.text, offset)
    if match is None:
        raise LayoutError("expected an element type", source.span(offset, offset + 1))
    end = match.end()
    if source.text.startswith("<", end):
        end = closing(source, end)
    return one_line(source.text[match.start(1) : end]), end


def _parse_items(parser: Parser) -> tuple[Node | None, tuple[int, ...] | None]:
    """Parse the items after the element type; return the layout and the shape of the allocation.

    The layout is the first item that is neither a word (``mutable``) nor a list of dimensions.
    """
    layout: Node | None = None
    sizes: tuple[int, ...] | None = None
    while parser.accept(","):
        written = _ALLOCATION.match(parser.source.text, parser.start)
        if written is not None and (layout is not None or "x" in written.group()):
            sizes = tuple(int(size[:20]) for size in written.group().split("x"))
            parser.end = written.end()
            parser.advance()
            continue
        item = parser.parse_value()
        if parser.accept(":"):  # the type of an attribute, which means nothing here
            parser.parse_value()
        if layout is None and not isinstance(item, WordNode):
            layout = item
    return layout, sizes


def layout_text(node: Node) -> str:
    """Return a layout as written, on one line."""
    if isinstance(node, AliasNode):
        return f"#{node.name}"
    return one_line(node.span.text)


def one_line(text: str) -> str:
    """Return an attribute or a type with the white space that MLIR prints.

    Example:
        >>> one_line("#ttg.slice<{dim=0 ,\\n  parent = #ttg.linear<{register = [ [0,1] ]}>}>")
        '#ttg.slice<{dim = 0, parent = #ttg.linear<{register = [[0, 1]]}>}>'
    """
    if _SPACED.search(text) is None:
        return text
    pieces = (_PLUS.sub(":+", piece) for piece in _PIECES.findall(text))
    return "".join(_GLUE.get(piece, piece) for piece in pieces).replace("]{", "] {")
