"""``#ttg.partitioned_shared``: a tensor distributed over several shared-memory buffers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.tiles import ensure_layout_not_larger_than, identity
from tt_layout.encodings.base import Encoding, Shape, SharedEncoding, Violation
from tt_layout.encodings.forms import INTEGER, LAYOUT, Form, Key
from tt_layout.encodings.padded_shared import PaddedShared
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.releases import Release


@dataclass(frozen=True, kw_only=True)
class PartitionedShared(SharedEncoding):
    """A tensor cut into pieces along one dimension, distributed over several buffers in turn.

    Attributes:
        num_partitions: buffers; a power of two of at least 2.
        num_groups: pieces that each buffer gets.
        partition_dim: the dimension that is cut.
        partition_layout: the shared-memory layout of a piece.

    Example:
        >>> import tt_layout
        >>> dealt = tt_layout.parse_layout(
        ...     "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = 0, "
        ...     "partitionLayout = #ttg.shared_linear<{offset = [[1]]}, alignment = 16>}>")
        >>> dealt.to_linear_layout([8]).bases
        [('offset', [[1], [4]]), ('block', []), ('partition', [[2]])]

    Source:
        Triton, TritonGPUAttrDefs.td, PartitionedSharedEncodingAttr; addresses confirmed on
        lowered stores.
    """

    num_partitions: int
    num_groups: int
    partition_dim: int
    partition_layout: Encoding

    mnemonic = "partitioned_shared"
    rules = (
        Rule("num_partitions", Must.WITHIN, (2, None)),
        Rule("num_partitions", Must.POWER),
        Rule("num_groups", Must.POWER),
    )
    forms = (
        Form(
            f"ttg.{mnemonic}",
            Release.V3_8,
            (
                Key("numPartitions", INTEGER, field="num_partitions"),
                Key("numGroups", INTEGER, field="num_groups"),
                Key("partitionDim", INTEGER, field="partition_dim"),
                Key("partitionLayout", LAYOUT, field="partition_layout"),
            ),
        ),
    )

    @property
    def rank(self) -> int | None:
        """The rank of a piece."""
        return self.partition_layout.rank

    @property
    def padding(self) -> tuple[tuple[int, int], ...]:
        """The padding of the pieces; it continues from one piece of a buffer to the next."""
        return self.partition_layout.padding

    def parents(self) -> Iterator[Encoding]:
        """Yield the layout of a piece."""
        yield self.partition_layout

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        yield from super().violations()
        if not isinstance(self.partition_layout, SharedEncoding):
            name = self.partition_layout.name
            key = self.key("partition_layout")
            message = f"{key} must be a shared-memory layout, got #{name}"
            yield Violation(message, ("partition_layout",))
        elif self.rank is not None and self.partition_dim >= self.rank:
            last = self.rank - 1
            key = self.key("partition_dim")
            message = f"{key} must be a dimension (0..{last}), got {self.partition_dim}"
            yield Violation(message, ("partition_dim",))
        if isinstance(self.partition_layout, PartitionedShared):
            message = "a partitioned_shared within another has no linear layout"
            yield Violation(message, ("partition_layout",), since=None)

    def _piece(self, shape: Sequence[int]) -> Shape:
        parts = self.num_partitions * self.num_groups
        return tuple(s // parts if d == self.partition_dim else s for d, s in enumerate(shape))

    def checked_shape(self, shape: Sequence[int]) -> Shape:
        """Return the shape; raise if it cannot be cut into that many pieces."""
        sizes = super().checked_shape(shape)
        parts, extent = self.num_partitions * self.num_groups, sizes[self.partition_dim]
        if extent < parts:
            message = (
                f"dimension {self.partition_dim} is cut into {parts} pieces, "
                f"but has only {extent} elements"
            )
            raise LayoutError(message)
        inner, piece = self.partition_layout, self._piece(sizes)
        if not isinstance(inner, PaddedShared) or inner.own_shape is None:
            inner.checked_shape(piece)
        elif any(spanned < needed for spanned, needed in zip(inner.own_shape, piece)):
            message = f"a piece is {list(piece)}, but the layout of a piece is for"
            raise LayoutError(f"{message} {list(inner.own_shape)}")
        return sizes

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return a piece's layout; pieces alternate between buffers, then extend them.

        A padded layout is taken for its own shape, even where a piece is smaller: the first
        buffers then hold more than one piece, and the last ones nothing.
        """
        inner = self.partition_layout.layout_for(self._piece(shape), element_bits)
        partitions = identity(self.num_partitions, "partition", self.partition_dim)
        groups = identity(self.num_groups, "offset", self.partition_dim)
        sizes = {f"dim{d}": size for d, size in enumerate(shape)}
        layout = ensure_layout_not_larger_than(inner * partitions * groups, sizes)
        return layout.transpose_ins(["offset", "block", "partition"])
