"""``#ttg.nvmma_shared``: shared memory as the tensor cores and TMA of Hopper read it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.tiles import (
    dim_names,
    ensure_layout_not_larger_than,
    ensure_layout_not_smaller_than,
    identity,
    product,
    row_major,
)
from tt_layout.encodings.base import Bases, Shape, SharedEncoding, Violation
from tt_layout.encodings.cga import (
    CGA_LAYOUT,
    SPLIT_NAMES,
    cga_layout,
    cga_violations,
    normalize_split,
    shape_per_cta,
    split_keys,
    split_of_bases,
    split_to_fields,
)
from tt_layout.encodings.forms import BOOLEAN, INTEGER, Form, Key, Values, optional
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.releases import Release

BOX_LIMIT = 256  # elements of a TMA box along each dimension
CORE_ROWS = 8  # rows of the core matrix whose swizzle repeats

_WIDTH = Key("swizzlingByteWidth", INTEGER, field="swizzling_byte_width")
_TRANSPOSED = Key("transposed", BOOLEAN, field="transposed", default=False)
_BIT_WIDTH = Key("elementBitWidth", INTEGER, field="element_bit_width")
_FP4 = optional("fp4Padded", BOOLEAN, False, "fp4_padded")


def _rank_of_split(values: Values) -> int:
    """Return 2, the rank of split parameters that are not written."""
    return 2


_SPLIT = tuple(key._replace(default=None) for key in split_keys(_rank_of_split))


def _split_with_rank_to_fields(values: Values) -> Values:
    rank = len(values[SPLIT_NAMES[0]])
    return {**split_to_fields(values), "rank_key": rank if rank != 2 else None}


def _hides_rank(values: Values) -> bool:
    return values["rank"] in (None, 2) or bool(values["CGALayout"])


def _rank_to_fields(values: Values) -> Values:
    """Drop a rank that CGALayout, or the default, determines already."""
    implied = len(values["CGALayout"][0]) if values["CGALayout"] else 2
    return {"rank_key": None if values["rank"] == implied else values["rank"]}


def _split_with_rank_from_fields(nvmma: NvmmaShared, element_bits: int | None) -> Values:
    return split_of_bases(nvmma.cga, nvmma.rank or 2)


def _rank_from_fields(nvmma: NvmmaShared, element_bits: int | None) -> Values:
    return {"rank": None if nvmma.rank == 2 else nvmma.rank}


_RANK_KEY = Key(
    "rank",
    INTEGER,
    field="rank_key",
    default=None,
    omitted=_hides_rank,
    required_by_parser=lambda values: values["rank"] not in (None, 2),
)


@dataclass(frozen=True, kw_only=True)
class NvmmaShared(SharedEncoding):
    """Shared memory in core matrices of 8 rows, swizzled as wgmma, tcgen05 and TMA expect.

    Attributes:
        swizzling_byte_width: bytes in a row of the core matrix: 32, 64 or 128; 0 for none.
        transposed: whether dimension 0 is contiguous, rather than the last one.
        element_bit_width: bits of an element.
        fp4_padded: whether each 8 bytes of packed fp4 are followed by 8 unused ones.
        cga: the bases of ``block``; none for one CTA.
        rank_key: the rank, where it is written; None where nothing determines it, which means 2
            (until 3.5: any).

    Example:
        >>> NvmmaShared(swizzling_byte_width=32, element_bit_width=16
        ...     ).to_linear_layout([8, 16]).bases[0]
        ('offset', [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8]])

    Source:
        PTX ISA, "Shared Memory Matrix Layout"; Triton,
        lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp, nvmmaSharedToLinearLayout.
    """

    swizzling_byte_width: int
    transposed: bool = False
    element_bit_width: int
    fp4_padded: bool = False
    cga: Bases = ()
    rank_key: int | None = None

    mnemonic = "nvmma_shared"
    has_width = False
    rules = (
        Rule("swizzling_byte_width", Must.ONE_OF, (0, 32, 64, 128), since=Release.V3_7),
        Rule("element_bit_width", Must.WITHIN, (1, None), since=Release.V3_7),
        Rule("element_bit_width", Must.ONE_OF, (8, 16, 32, 64, 128), since=None),
        Rule("element_bit_width", Must.ONE_OF, (8,), since=None, when=("fp4_padded", True)),
        Rule("swizzling_byte_width", Must.ONE_OF, (128,), since=None, when=("fp4_padded", True)),
    )
    forms = (
        Form(
            f"ttg.{mnemonic}",
            Release.V3_3,
            (_WIDTH, _TRANSPOSED, _BIT_WIDTH, _FP4, *_SPLIT),
            normalize=normalize_split(_rank_of_split),
            to_fields=_split_with_rank_to_fields,
            from_fields=_split_with_rank_from_fields,
        ),
        Form(
            f"ttg.{mnemonic}",
            Release.V3_6,
            (_WIDTH, _TRANSPOSED, _BIT_WIDTH, _FP4, CGA_LAYOUT, _RANK_KEY),
            from_fields=_rank_from_fields,
        ),
        Form(
            f"ttg.{mnemonic}",
            Release.V3_8,
            (_WIDTH, _TRANSPOSED, _BIT_WIDTH, _FP4, CGA_LAYOUT, _RANK_KEY),
            from_fields=_rank_from_fields,
            to_fields=_rank_to_fields,
        ),
    )

    @property
    def rank(self) -> int | None:
        """The rank written, else that of the CTA layout, else 2."""
        if self.rank_key is not None:
            return self.rank_key
        if self.cga:
            return len(self.cga[0])
        return None if self.release <= Release.V3_5 else 2

    @property
    def alignment(self) -> int:
        """Bytes to which the buffer must be aligned."""
        return 128 * max(1, self.swizzling_byte_width // 16)

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        yield from super().violations()
        if self.rank is not None and self.rank < 1:
            message = f"{self.key('rank_key')} must be positive, got {self.rank}"
            yield Violation(message, ("rank_key",), since=None)
            return
        if self.cga:
            needs_rank = self.release in (Release.V3_6, Release.V3_7) and self.rank_key is None
            yield from cga_violations(self, 2 if needs_rank else self.rank or 2)

    def checked_shape(self, shape: Sequence[int]) -> Shape:
        """Return the shape; raise if the swizzle does not fit into it."""
        sizes = super().checked_shape(shape)
        if not sizes:
            raise LayoutError(f"#{self.name} needs at least one dimension, got the shape []")
        if not self.swizzling_byte_width:
            return sizes
        if len(sizes) < 2:
            raise LayoutError(f"a swizzled #{self.name} needs rank 2 or more, got {list(sizes)}")
        inner = 0 if self.transposed else len(sizes) - 1
        needed = self.core_columns // (2 if self.fp4_padded else 1)
        box = self.box(sizes)
        width = min(shape_per_cta(self.cga, sizes)[inner], BOX_LIMIT)
        if width < needed:
            raise LayoutError(
                f"the contiguous dimension {inner} must have at least {needed} elements per CTA "
                f"for {self.key('swizzling_byte_width')} = {self.swizzling_byte_width}, got {width}"
            )
        rows, _ = self._collapsed(box)
        if rows < CORE_ROWS:
            message = f"the dimensions across must hold at least {CORE_ROWS} rows, got {rows}"
            raise LayoutError(message)
        return sizes

    @property
    def core_columns(self) -> int:
        """Elements in a row of the core matrix, including unused ones of fp4."""
        return 8 * self.swizzling_byte_width // self.element_bit_width

    def box(self, shape: Shape) -> list[int]:
        """Return the shape of one TMA box."""
        box = shape_per_cta(self.cga, shape)
        inner = 0 if self.transposed else len(shape) - 1
        if self.release >= Release.V3_4:
            box = [min(size, BOX_LIMIT) for size in box]
        if self.swizzling_byte_width:
            box[inner] = self.core_columns // (2 if self.fp4_padded else 1)
        return box

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the core matrices, box by box, CTA by CTA."""
        tile = self._swizzled_box(shape) if self.swizzling_byte_width else self._plain_box(shape)
        names = dim_names(len(shape))
        per_cta = dict(zip(names, shape_per_cta(self.cga, shape)))
        tile = ensure_layout_not_smaller_than(tile, per_cta)
        tile = ensure_layout_not_larger_than(tile, per_cta)
        cga = cga_layout(self.cga, len(shape)).transpose_outs(names)
        cga = ensure_layout_not_larger_than(cga, dict(zip(names, shape)))
        return (tile * cga).transpose_outs(names)

    def _plain_box(self, shape: Shape) -> LinearLayout:
        """Return a box without swizzle, output dimensions from the last to the first."""
        rank, box = len(shape), self.box(shape)
        order = row_major(rank)
        if not self.transposed or self.release <= Release.V3_7:
            tile = product([identity(box[d], "offset", d) for d in order])
        else:
            # Sizes and dimensions are paired as 3.9 pairs them, one place apart for rank 3
            # and more; growing and clipping to the shape repairs what does not fit.
            sizes = [*box[1:], box[0]]
            tile = product([identity(sizes[j], "offset", (j - 1) % rank) for j in order])
        return tile.transpose_outs([f"dim{d}" for d in order])

    def _swizzled_box(self, shape: Shape) -> LinearLayout:
        """Return a box of core matrices, output dimensions in natural order."""
        rank, box = len(shape), self.box(shape)
        rotated = [*box[1:], box[0]] if self.transposed else box
        flat = dict(zip(("dim0", "dim1"), self._collapsed(box)))
        tile = ensure_layout_not_smaller_than(self._core_matrix(), flat)
        sizes = [(f"dim{d}", rotated[d]) for d in row_major(rank)]
        tile = tile.transpose_outs(["dim1", "dim0"]).reshape_outs(sizes)
        tile = tile.transpose_outs(dim_names(rank))
        if not self.transposed:
            return tile
        # Position j of the rotated box is dimension j + 1; its last one is dimension 0.
        natural = [rank - 1, *range(rank - 1)]
        offset = tuple(tuple(v[j] for j in natural) for v in tile.vectors("offset"))
        sizes = [(f"dim{d}", size) for d, size in enumerate(box)]
        return LinearLayout((("offset", offset),), tuple(sizes))

    def _collapsed(self, box: Sequence[int]) -> tuple[int, int]:
        """Return the rows and columns of a box as a matrix of core matrices."""
        if self.transposed:
            return box[-1], math.prod(box[:-1])
        return math.prod(box[:-1]), box[-1]

    def _core_matrix(self) -> LinearLayout:
        """Return 8 rows of ``swizzling_byte_width`` bytes, each xored by its phase."""
        vec = 128 // self.element_bit_width
        per_phase, max_phase = 128 // self.swizzling_byte_width, self.swizzling_byte_width // 16
        columns = [1 << bit for bit in range(self.core_columns.bit_length() - 1)]
        offsets = [(0, column) for column in columns]
        offsets += [(row, vec * (row // per_phase % max_phase)) for row in (1, 2, 4)]
        if self.fp4_padded:
            offsets = [(row, column // 16 * 8 + column % 8) for row, column in offsets]
        width = self.core_columns // (2 if self.fp4_padded else 1)
        return LinearLayout.from_bases([("offset", offsets)], ["dim0", "dim1"], [CORE_ROWS, width])
