"""``#ttg.shared_linear``: shared memory given by its bases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.span import F2Span
from tt_layout.algebra.tiles import dim_names
from tt_layout.encodings.base import Bases, Shape, SharedEncoding, Violation
from tt_layout.encodings.forms import BASES, INTEGER, Form, Key, Style, optional
from tt_layout.encodings.rules import check_basis_lengths
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.releases import Release


@dataclass(frozen=True, kw_only=True)
class SharedLinear(SharedEncoding):
    """Shared memory given by the element at each power-of-two offset.

    Attributes:
        offset, block: the basis vectors, least significant first; they may move in several
            dimensions (a swizzle) or be zero (unused memory).
        alignment: bytes to which the buffer must be aligned.

    Example:
        >>> swizzled = SharedLinear(offset=((0, 1), (1, 1)), alignment=16)
        >>> print(swizzled)
        #ttg.shared_linear<{offset = [[0, 1], [1, 1]]}, alignment = 16>
        >>> swizzled.format_tensor_view([2, 2])
        '[[(0:0),(0:1)]\\n[ (1:1),(1:0)]]\\n'

    Source:
        Triton, TritonGPUAttrDefs.td, SharedLinearEncodingAttr.
    """

    offset: Bases
    block: Bases = ()
    alignment: int

    mnemonic = "shared_linear"
    rules = (Rule("alignment", Must.POWER),)
    forms = (
        Form(
            f"ttg.{mnemonic}",
            Release.V3_6,
            (
                Key("offset", BASES, field="offset"),
                optional("block", BASES, (), "block"),
                Key("alignment", INTEGER, field="alignment"),
            ),
            style=Style.ALIGNED,
        ),
    )

    @property
    def rank(self) -> int:
        """The length of the basis vectors."""
        return next((len(basis) for basis in (*self.offset, *self.block)), 0)

    def _layout(self) -> LinearLayout:
        bases = [("offset", self.offset), ("block", self.block)]
        return LinearLayout.from_bases(bases, dim_names(self.rank), require_surjective=False)

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        yield from super().violations()
        if not self.rank:
            yield Violation(f"{self.key('offset')} must have at least one basis", ("offset",))
            return
        names = ("offset", "block")
        if wrong := [v for name in names for v in check_basis_lengths(self, name, self.rank)]:
            yield from wrong
            return
        layout = self._layout()
        if not layout.is_surjective():
            sizes = [size for _, size in layout.out_sizes]
            message = f"the bases must reach every element of the shape they span ({sizes})"
            yield Violation(message, ("offset",))
        elif self.release == Release.V3_6 and not self._has_whole_parts():
            message = "until 3.6 every CTA must hold a whole part of the tensor"
            yield Violation(message, ("block",), Release.V3_6)
        nonzero = [layout.flatten(v) for v in (*self.offset, *self.block) if any(v)]
        if F2Span(nonzero).rank < len(nonzero):
            yield Violation("the nonzero bases must be independent of each other", ("offset",))

    def _has_whole_parts(self) -> bool:
        """Return whether each CTA holds one block of the tensor, cut along its dimensions."""
        bases = [("offset", self.offset)]
        part = LinearLayout.from_bases(bases, dim_names(self.rank), require_surjective=False)
        sizes = [size for _, size in part.out_sizes]
        is_cut = not any(x % size for basis in self.block for x, size in zip(basis, sizes))
        return part.is_surjective() and is_cut

    def checked_shape(self, shape: Sequence[int]) -> Shape:
        """Return the shape; raise unless the bases span it."""
        sizes = super().checked_shape(shape)
        base_sizes = [size for _, size in self._layout().out_sizes]
        if base_sizes != list(sizes):
            raise LayoutError(f"this #{self.name} is for the shape {base_sizes}, got {list(sizes)}")
        return sizes

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the bases as they are."""
        return self._layout()
