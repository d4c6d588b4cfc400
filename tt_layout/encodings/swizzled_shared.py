"""``#ttg.swizzled_shared`` and ``#ttg.amd_rotating_shared``: rows xored by their phase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.tiles import combine_cta_cga_with_shape, identity, product
from tt_layout.encodings.base import Bases, Shape, SharedEncoding, Violation
from tt_layout.encodings.cga import (
    CGA_LAYOUT,
    PRINTED_SPLIT,
    cga_layout,
    cga_violations,
    normalize_split,
    rank_by,
    shape_per_cta,
    split_form,
    split_keys,
    split_rank_violations,
)
from tt_layout.encodings.forms import BOOLEAN, INTEGER, INTEGERS, Form, Key
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.records import dataclass
from tt_layout.releases import Release

_KEYS = (
    Key("vec", INTEGER, field="vec", silent_default=0),
    Key("perPhase", INTEGER, field="per_phase", silent_default=0),
    Key("maxPhase", INTEGER, field="max_phase", silent_default=0),
    Key("order", INTEGERS, field="order", silent_default=()),
)
_RANK = rank_by("order")
_LEADING_OFFSET = Key("hasLeadingOffset", BOOLEAN, field="has_leading_offset", default=False)
_SPLIT_KEYS = _KEYS + split_keys(_RANK)
_NORMALIZE = normalize_split(_RANK)


@dataclass(frozen=True, kw_only=True)
class SwizzledShared(SharedEncoding):
    """Shared memory in rows; vectors of a row are xored by the row's phase.

    Element (row, column) is stored at ``row * columns + (column ^ vec * phase)`` with
    ``phase = row // perPhase % maxPhase``, so that a column does not fall into one bank.

    Attributes:
        vec: adjacent elements that stay together.
        per_phase: rows that share a phase.
        max_phase: number of phases.
        order: dimensions from the fastest varying to the slowest.
        cga: the bases of ``block``; none for one CTA.
        has_leading_offset: until 3.2, what is nvmma_shared today.

    Example:
        >>> SwizzledShared(vec=1, per_phase=1, max_phase=4, order=(1, 0)
        ...     ).to_linear_layout([4, 4]).bases[0]
        ('offset', [[0, 1], [0, 2], [1, 1], [2, 2]])

    Source:
        Triton, TritonGPUAttrDefs.td, SwizzledSharedEncodingAttr, and
        lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp, swizzledSharedToLinearLayout.
    """

    vec: int
    per_phase: int
    max_phase: int
    order: Shape
    cga: Bases = ()
    has_leading_offset: bool = False

    mnemonic = "swizzled_shared"
    has_width = False
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("order", Must.PERMUTATION, since=Release.V3_4),
        Rule("order", Must.SOME, since=None),
        Rule("vec", Must.POWER, since=None),
        Rule("per_phase", Must.POWER, since=None),
        Rule("max_phase", Must.POWER, since=None),
    )
    forms: ClassVar[tuple[Form, ...]] = (
        Form("triton_gpu.shared", Release.V2022, _KEYS),
        split_form(
            "triton_gpu.shared",
            Release.V2_2,
            (*_KEYS, *PRINTED_SPLIT, _LEADING_OFFSET),
        ),
        split_form(
            "triton_gpu.shared",
            Release.V3_0,
            (*_SPLIT_KEYS, _LEADING_OFFSET),
            _NORMALIZE,
        ),
        split_form(f"ttg.{mnemonic}", Release.V3_3, _SPLIT_KEYS, _NORMALIZE),
        Form(f"ttg.{mnemonic}", Release.V3_6, (*_KEYS, CGA_LAYOUT)),
    )

    @property
    def rank(self) -> int:
        """The length of ``order``."""
        return len(self.order)

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        yield from super().violations()
        yield from cga_violations(self, self.rank)
        yield from self._split_violations()
        if self.has_leading_offset and self.rank > 1:
            yield from self._leading_offset_violations()

    def _split_violations(self) -> Iterator[Violation]:
        yield from split_rank_violations(self, self.rank, since=Release.V3_4)

    def _leading_offset_violations(self) -> Iterator[Violation]:
        if (self.per_phase, self.max_phase) not in ((4, 2), (2, 4), (1, 8)):
            message = (
                "with hasLeadingOffset, perPhase and maxPhase must be 4 and 2, 2 and 4, or "
                f"1 and 8, got {self.per_phase} and {self.max_phase}"
            )
            yield Violation(message, ("max_phase",), since=None)
        if self.vec not in (1, 2, 4, 8, 16):
            message = f"with hasLeadingOffset, vec must hold 16 bytes of elements, got {self.vec}"
            yield Violation(message, ("vec",), since=None)
        if tuple(sorted(self.order[:2])) != (self.rank - 2, self.rank - 1):
            message = "with hasLeadingOffset, the last two dimensions must be the fastest"
            yield Violation(f"{message}, got order {list(self.order)}", ("order",), since=None)

    def checked_shape(self, shape: Sequence[int]) -> Shape:
        """Return the shape; raise unless the encoding can be placed over it."""
        sizes = super().checked_shape(shape)
        if self.has_leading_offset and self.rank > 1:
            self._core_matrices().checked_shape(sizes[-2:])
        return sizes

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the rows, each with its phase xored into the column."""
        if self.has_leading_offset and self.rank > 1:
            return self._leading_offset_layout(shape)
        return self._swizzled(shape, shape_per_cta(self.cga, shape))

    def _swizzled(self, shape: Shape, extent: Sequence[int]) -> LinearLayout:
        """Return the layout with rows and columns of ``extent``, fitted to the tensor."""
        cga = cga_layout(self.cga, self.rank)
        if self.rank == 1:
            tile = identity(shape_per_cta(self.cga, shape)[0], "offset", 0)
            return combine_cta_cga_with_shape(tile, cga, shape, [0])
        column, row, *further = self.order
        names = [f"dim{column}", f"dim{row}"]
        columns, rows = extent[column], extent[row]
        bases = [(1 << bit, 0) for bit in range(columns.bit_length() - 1)]
        bases += [(self.swizzle(1 << b) % columns, 1 << b) for b in range(rows.bit_length() - 1)]
        plane = LinearLayout.from_bases([("offset", bases)], names, [columns, rows])
        tile = product([plane, *(identity(extent[d], "offset", d) for d in further)])
        return combine_cta_cga_with_shape(tile, cga, shape, [row, column, *further])

    def swizzle(self, row: int) -> int:
        """Return the mask that is xored into the columns of a row, in elements."""
        return self.vec * (row // self.per_phase % self.max_phase)

    def _core_matrices(self) -> NvmmaShared:
        """Return today's encoding of the fastest two dimensions, without its later box limit."""
        return NvmmaShared(
            release=Release.V3_3,
            swizzling_byte_width=16 * self.max_phase,
            transposed=self.order[0] < self.order[1],
            element_bit_width=128 // self.vec,
        )

    def _leading_offset_layout(self, shape: Shape) -> LinearLayout:
        """Return core matrices over the fastest two dimensions, the others outside."""
        column, row, *further = self.order
        core = self._core_matrices()._core_matrix()
        plane = LinearLayout.from_bases(
            [("offset", [(v[1], v[0]) for v in core.vectors("offset")])],
            [f"dim{column}", f"dim{row}"],
        )
        tile = product([plane, *(identity(shape[d], "offset", d) for d in further)])
        cga = cga_layout(self.cga, self.rank)
        return combine_cta_cga_with_shape(tile, cga, shape, [row, column, *further])


@dataclass(frozen=True, kw_only=True)
class AmdRotatingShared(SwizzledShared):
    """Shared memory like `SwizzledShared`, whose phases rotate from one block of rows to the next.

    The phase of a row is ``phase ^ block`` with ``block = row // (perPhase * maxPhase) %
    maxPhase``.

    Attributes:
        vec, per_phase, max_phase, order, cga: as in `SwizzledShared`.

    Example:
        >>> AmdRotatingShared(vec=1, per_phase=1, max_phase=2, order=(1, 0)
        ...     ).to_linear_layout([8, 4]).bases[0]
        ('offset', [[0, 1], [0, 2], [1, 1], [2, 1], [4, 0]])

    Source:
        Triton, TritonGPUAttrDefs.td, AMDRotatingSharedEncodingAttr; addresses confirmed on
        lowered stores.
    """

    mnemonic = "amd_rotating_shared"
    has_width = False
    rules = tuple(rule._replace(since=None) for rule in SwizzledShared.rules)
    forms = (
        split_form(f"ttg.{mnemonic}", Release.V3_4, _SPLIT_KEYS, _NORMALIZE),
        Form(f"ttg.{mnemonic}", Release.V3_6, (*_KEYS, CGA_LAYOUT)),
    )

    def _split_violations(self) -> Iterator[Violation]:
        yield from ()  # taken whatever their rank

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the rows over the whole tensor; CTAs that split it leave holes."""
        return self._swizzled(shape, shape)

    def swizzle(self, row: int) -> int:
        """Return the mask that is xored into the columns of a row, in elements."""
        phase = row // self.per_phase % self.max_phase
        block = row // (self.per_phase * self.max_phase) % self.max_phase
        return self.vec * (phase ^ block)
