"""Context of a layout text: its tensor, and fields that some notations leave open."""

from __future__ import annotations

from tt_layout.algebra.linear_layout import is_power_of_two
from tt_layout.encodings.base import Shape
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError
from tt_layout.mlir.types import TensorType
from tt_layout.releases import Release
from tt_layout.surface import argument
from tt_layout.tuples import NamedTuple

WARP_LANES = 32


class Context(NamedTuple):
    """Context in which a text is read.

    Attributes:
        name: name of the text in messages.
        shape: shape of the tensor; None if no type is given.
        element_bits: width of an element, where the type determines it.
        memory_space: the memory space in which the layout must live; None for any.
        release: the release whose rules hold; None for the newest that knows the text.
        threads_per_warp: lanes of a warp, for notations that only count threads.
        num_warps: warps of a CTA, for layouts that the compiler would choose.

    Example:
        >>> from tt_layout.mlir.types import parse_type
        >>> Context().over(parse_type("!ttg.memdesc<64x64xf16>")).memory_space
        'shared memory'
    """

    name: str = "<layout>"
    shape: Shape | None = None
    element_bits: int | None = None
    memory_space: MemorySpace | None = None
    release: Release | None = None
    threads_per_warp: int = WARP_LANES
    num_warps: int = 4

    def over(self, tensor: TensorType | None) -> Context:
        """Return the context for the tensor of a type; a memory space that is set stays."""
        if tensor is None:
            return self
        space = self.memory_space or (
            MemorySpace.REGISTERS if tensor.is_tensor else MemorySpace.SHARED
        )
        return self._replace(
            shape=tensor.shape, element_bits=tensor.element_bits, memory_space=space
        )

    def tensor_shape(self, notation: str) -> Shape:
        """Return the shape of the tensor.

        Raises:
            LayoutError: there is none, or a size is not a power of two.
        """
        if self.shape is None:
            message = f"{notation} does not determine the shape of the tensor"
            example = argument("shape_or_type", "tensor<64x64xf16>")
            raise LayoutError(f"{message}: give its type, such as {example}")
        if not all(map(is_power_of_two, self.shape)):
            raise LayoutError(f"every dimension must be a power of two, got {list(self.shape)}")
        return self.shape
