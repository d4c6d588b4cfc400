"""A placed layout: a layout attribute over a tensor type.

Everything that is printed, drawn or counted starts here: an attribute alone is a rule for any
shape; over a type it is one linear layout.
"""

from __future__ import annotations

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.rendering import Renderers
from tt_layout.encodings import DistributedEncoding, Encoding, SharedEncoding
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError
from tt_layout.mlir.types import TensorType
from tt_layout.records import dataclass
from tt_layout.releases import Release

DEFAULT_ALIGNMENT = 16
"""Bytes to which shared memory is aligned that asks for no more."""

ASSUMED_BITS = 32
"""The width of elements whose type does not determine it."""


@dataclass(frozen=True, repr=False)
class PlacedLayout:
    """A layout attribute over a tensor type; made by `place`.

    Attributes:
        encoding: the layout attribute.
        tensor: the type.
        layout: the linear layout; of one buffer of a multi-buffered memdesc.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> from tt_layout.mlir.types import parse_type
        >>> text = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>"
        >>> placed = place(parse_layout(text), parse_type("!ttg.memdesc<3x2x2xf16>"))
        >>> placed.shape, placed.buffers, placed.element_bytes, placed.memory_space
        ((2, 2), 3, 2, 'shared memory')
    """

    encoding: Encoding
    tensor: TensorType
    layout: LinearLayout

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the tensor's dimensions; of one buffer of a multi-buffered memdesc."""
        return tuple(size for _, size in self.layout.out_sizes)

    @property
    def is_multi_buffered(self) -> bool:
        """Whether the type has a leading dimension that counts buffers of one layout."""
        return len(self.tensor.shape) > len(self.shape)

    @property
    def buffers(self) -> int:
        """The number of buffers; 1 where the type does not count them."""
        return self.tensor.shape[0] if self.is_multi_buffered else 1

    @property
    def element_bits(self) -> int | None:
        """Width of an element in bits; None where the type does not determine it."""
        return self.tensor.element_bits

    @property
    def element_bytes(self) -> int:
        """Bytes of an element: 1 where it is smaller, 4 where its width is not known."""
        return max(1, (self.element_bits or ASSUMED_BITS) // 8)

    @property
    def memory_space(self) -> MemorySpace:
        """Memory space of the tensor."""
        return self.encoding.memory_space

    @property
    def is_distributed(self) -> bool:
        """Whether the tensor lives in registers."""
        return isinstance(self.encoding, DistributedEncoding)

    @property
    def is_shared(self) -> bool:
        """Whether the tensor lives in shared memory."""
        return isinstance(self.encoding, SharedEncoding)

    @property
    def padding(self) -> tuple[tuple[int, int], ...]:
        """Pairs of an interval and the padding after it, in elements; shared memory only."""
        return self.encoding.padding

    def _repr_svg_(self) -> str:
        return Renderers.svg(self)

    def __repr__(self) -> str:
        sizes = "x".join(map(str, self.tensor.shape))
        return f"<PlacedLayout: {self.encoding.mnemonic} over {sizes}>"

    @property
    def type_text(self) -> str:
        """The type as it was given."""
        return self.tensor.span.text.strip()


def alignment_of(encoding: Encoding) -> int:
    """Return the alignment of a buffer in shared memory, in bytes.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> alignment_of(parse_layout("#ttg.shared_linear<{offset = [[1]]}, alignment = 64>"))
        64
    """
    inner: Encoding = getattr(encoding, "partition_layout", encoding)
    alignment: int = getattr(inner, "alignment", DEFAULT_ALIGNMENT)
    return alignment


def place(encoding: Encoding, tensor: TensorType) -> PlacedLayout:
    """Place an encoding over a tensor type; over one buffer of a multi-buffered memdesc.

    Args:
        encoding: the layout.
        tensor: the type; a memdesc may have one leading dimension more than the layout.

    Raises:
        LayoutError: the layout does not fit the type, at which the error points.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> from tt_layout.mlir.types import parse_type
        >>> lanes = parse_layout("#ttg.linear<{register = [], lane = [[1], [2]], warp = [], \
block = []}>")
        >>> place(lanes, parse_type("tensor<4xf32>")).layout.vectors("lane")
        ((1,), (2,))
        >>> place(lanes, parse_type("tensor<4x4xf32>"))
        Traceback (most recent call last):
            ...
        tt_layout.errors.LayoutError: <type>:1:1: error: #ttg.linear is for 1 dimension, but the \
shape [4, 4] has 2
        tensor<4x4xf32>
        ^^^^^^^^^^^^^^^
    """
    try:
        shape = buffer_shape(encoding, tensor)
        layout = encoding.to_linear_layout(shape, element_bits=tensor.element_bits)
    except LayoutError as error:
        raise error.at(tensor.span) from None
    return PlacedLayout(encoding, tensor, layout)


def buffer_shape(encoding: Encoding, tensor: TensorType) -> tuple[int, ...]:
    """Return the shape that an encoding places: the type's, without a leading count of buffers.

    Raises:
        LayoutError: the layout is not for such a type.
    """
    has_index = encoding.may_be_multi_buffered and len(tensor.shape) == (encoding.rank or 0) + 1
    is_shared = isinstance(encoding, SharedEncoding)
    if tensor.is_tensor and has_index and is_shared and encoding.release < Release.V3_3:
        return tensor.shape[1:]  # until 2.3 there were no memdescs; later spellings agree
    if tensor.is_tensor:
        return tensor.shape
    if isinstance(encoding, DistributedEncoding):
        message = f"#{encoding.name} is for tensors in registers, but a memdesc is in memory"
        raise LayoutError(f"{message}; write tensor<...>")
    if tensor.element_bits is not None:
        encoding.check_element(tensor.element_bits)
    return tensor.shape[1:] if has_index else tensor.shape
