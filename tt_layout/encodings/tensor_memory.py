"""``#ttng.tensor_memory_encoding`` and its scales: the tensor memory of Blackwell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.tiles import (
    dim_names,
    ensure_layout_not_larger_than,
    identity,
    product,
)
from tt_layout.encodings.base import Bases, Shape, TensorMemoryBase, Violation
from tt_layout.encodings.cga import (
    CGA_LAYOUT,
    cga_layout,
    cga_violations,
    shape_per_cta,
)
from tt_layout.encodings.forms import BOOLEAN, INTEGER, Form, Key, Style, Values, WordKind, optional
from tt_layout.encodings.instruction_tiles import SCALES, TENSOR_MEMORY, tile_layout
from tt_layout.encodings.rules import power_problem
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.releases import Release

CELL_BITS = 32  # of one column in one row

_BLOCK_M = Key("blockM", INTEGER, field="block_m")
_BLOCK_N = Key("blockN", INTEGER, field="block_n")
_COL_STRIDE = Key("colStride", INTEGER, field="col_stride")
CTA_MODES = ("default", "twocta_lhs", "twocta_rhs")


_SPLITS = tuple(optional(name, INTEGER, 1, part_of="cga") for name in ("CTASplitM", "CTASplitN"))
_TWO_CTAS = optional("twoCTAs", BOOLEAN, False, "two_ctas")
_CTA_MODE = optional(
    "ctaMode", WordKind({mode: mode for mode in CTA_MODES}), "default", "cta_mode", is_fork=True
)
_FP4 = optional("fp4Padded", BOOLEAN, False, "fp4_padded")
_BLOCK_ORDER = optional(
    "blockRepOrder", WordKind({"mnThenK": False, "kThenMn": True}), False, "k_before_mn"
)


def _splits_to_fields(values: Values) -> Values:
    """Convert CTASplitM and CTASplitN to the bases of ``block``, M first."""
    for name in ("CTASplitM", "CTASplitN"):
        if (problem := power_problem(name, values[name])) is not None:
            raise LayoutError(problem)
    rows = [(1 << bit, 0) for bit in range(values["CTASplitM"].bit_length() - 1)]
    columns = [(0, 1 << bit) for bit in range(values["CTASplitN"].bit_length() - 1)]
    return {"cga": (*rows, *columns)}


def _splits_from_fields(memory: Any, element_bits: int | None) -> Values:
    """Convert the bases of ``block`` to CTASplitM and CTASplitN.

    Raises:
        LayoutError: they are not of that form.
    """
    rows, columns = (sum(bool(basis[d]) for basis in memory.cga) for d in (0, 1))
    values = {"CTASplitM": 1 << rows, "CTASplitN": 1 << columns}
    if _splits_to_fields(values)["cga"] != memory.cga:
        bases = [list(basis) for basis in memory.cga]
        raise LayoutError(f"CTASplitM and CTASplitN cannot express CGALayout = {bases}")
    return values


def _stride_from_fields(memory: TensorMemory, element_bits: int | None) -> Values:
    """Convert the fields to the column stride.

    Raises:
        LayoutError: it depends on the width of an element.
    """
    if memory.col_stride is None:
        raise LayoutError("colStride depends on the width of an element: give the type")
    return {"colStride": memory.col_stride}


def _stride_and_splits_from_fields(memory: TensorMemory, element_bits: int | None) -> Values:
    return {
        **_stride_from_fields(memory, element_bits),
        **_splits_from_fields(memory, element_bits),
    }


def _unpacked_to_fields(values: Values) -> Values:
    return {**_splits_to_fields(values), "col_stride": None if values["unpacked"] else 1}


def _unpacked_from_fields(memory: TensorMemory, element_bits: int | None) -> Values:
    """Convert the fields to ``unpacked``, which is true of 32-bit elements.

    Raises:
        LayoutError: it does so, or not, depending on its width, which is not known.
    """
    stride = memory.col_stride
    if element_bits is None and stride not in (None, 1):
        bits = CELL_BITS // (stride or 1)
        message = f"unpacked expresses colStride = {stride} only for elements of {bits} bits"
        raise LayoutError(f"{message}: give the type")
    unpacked = stride is None or (element_bits is not None and stride * element_bits == CELL_BITS)
    return {**_splits_from_fields(memory, element_bits), "unpacked": unpacked}


@dataclass(frozen=True, kw_only=True)
class TensorMemory(TensorMemoryBase):
    """An accumulator or operand in tensor memory: 128 rows of 32-bit cells.

    Attributes:
        block_m: rows of an instruction's tile, 64 or 128.
        block_n: columns of an instruction's tile.
        col_stride: columns from one element to the next: 1, 2 or 4.  None means that an
            element fills a cell whatever its width (``unpacked = true``, until 3.5).
        cga: the bases of ``block``; none for one CTA.
        two_ctas: whether two CTAs work on one tile.
        fp4_padded: whether packed fp4 leaves every second column unused.
        cta_mode: how two CTAs share a tile, in Meta's fork only: ``twocta_lhs`` repeats its rows,
            ``twocta_rhs`` puts the right half of its columns below the left half.

    Example:
        >>> TensorMemory(block_m=128, block_n=4, col_stride=2).to_linear_layout([128, 4]).bases[1]
        ('col', [[0, 0], [0, 1], [0, 2]])

    Source:
        PTX ISA, "tcgen05 data layouts"; Triton,
        lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp, tensorMemoryToLinearLayout.
    """

    block_m: int
    block_n: int
    col_stride: int | None
    cga: Bases = ()
    two_ctas: bool = False
    fp4_padded: bool = False
    cta_mode: str = "default"

    mnemonic = "tensor_memory_encoding"
    rules = (
        Rule("block_m", Must.ONE_OF, (64, 128), since=Release.V3_6),
        Rule("col_stride", Must.ONE_OF, (None, 1, 2, 4), since=Release.V3_6),
        Rule("col_stride", Must.ONE_OF, (1,), since=Release.V3_8, when=("fp4_padded", True)),
        Rule("block_n", Must.POWER, since=None),
        Rule("block_n", Must.WITHIN, (None, 512), since=None),
    )
    forms = (
        Form(
            f"ttng.{mnemonic}",
            Release.V3_3,
            (_BLOCK_M, _BLOCK_N, Key("unpacked", BOOLEAN, part_of="col_stride"), *_SPLITS),
            style=Style.STRUCT,
            to_fields=_unpacked_to_fields,
            from_fields=_unpacked_from_fields,
        ),
        Form(
            f"ttng.{mnemonic}",
            Release.V3_6,
            (_BLOCK_M, _BLOCK_N, _COL_STRIDE, *_SPLITS, _TWO_CTAS),
            style=Style.STRUCT,
            to_fields=_splits_to_fields,
            from_fields=_stride_and_splits_from_fields,
        ),
        Form(
            f"ttng.{mnemonic}",
            Release.V3_8,
            (
                _BLOCK_M,
                _BLOCK_N,
                _COL_STRIDE,
                CGA_LAYOUT,
                _TWO_CTAS,
                _CTA_MODE,
                _FP4,
            ),
            style=Style.STRUCT,
            from_fields=_stride_from_fields,
        ),
    )

    @property
    def rank(self) -> int:
        """Always 2."""
        return 2

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        yield from super().violations()
        yield from cga_violations(self, 2)
        if self.two_ctas and (not self.cga or self.cga[0] != (1, 0)):
            two, cga = self.key("two_ctas"), self.key("cga")
            message = f"{two} = true needs [1, 0] as the first entry of {cga}"
            yield Violation(message, ("two_ctas",), Release.V3_8, in_forks=bool(self.cga))

    def checked_shape(self, shape: Sequence[int]) -> Shape:
        """Return the shape; raise unless a tile fits into each CTA's part of it.

        Fewer columns than blockN are allowed only since 3.8, where CTAs do not split them.
        """
        sizes = super().checked_shape(shape)
        rows, columns = shape_per_cta(self.cga, sizes)
        if rows < self.block_m:
            message = f"a CTA must hold at least blockM = {self.block_m} rows, got {rows}"
            raise LayoutError(message)
        is_split = any(basis[1] for basis in self.cga)
        if (is_split or self.release <= Release.V3_7) and columns < self.block_n:
            message = f"a CTA must hold at least blockN = {self.block_n} columns, got {columns}"
            raise LayoutError(message)
        return sizes

    def check_element(self, bits: int) -> None:
        """Raise an error if an element with its stride does not fit into a cell."""
        stride = self.col_stride or 1
        if bits * stride > CELL_BITS and self.release >= Release.V3_6:
            message = f"an element times colStride must fit {CELL_BITS} bits"
            raise LayoutError(f"{message}, got {bits} bits and colStride = {stride}")
        if bits > 16 and self.release == Release.V3_5 and self.col_stride == 1:
            raise LayoutError(f"unpacked = false is for 16 bits at most, got {bits} bits")
        if bits not in (16, 32) and self.release == Release.V3_5 and self.col_stride is None:
            raise LayoutError(f"unpacked = true is for 16 or 32 bits, got {bits} bits")

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return a tile, repeated along the columns over the CTA's part of the tensor."""
        rows, columns = shape_per_cta(self.cga, shape)
        tile = self._tile(rows, columns, self._stride(element_bits)).transpose_outs(dim_names(2))
        repeats = [n // tile.get_out_dim_size(f"dim{d}") for d, n in enumerate((rows, columns))]
        tile = tile * identity(repeats[0], "col", 0) * identity(repeats[1], "col", 1)
        layout = tile * cga_layout(self.cga, 2)
        return layout.transpose_ins(["row", "col", "block"]).transpose_outs(dim_names(2))

    def _tile(self, rows: int, columns: int, stride: int) -> LinearLayout:
        """Return the tile of an instruction in a CTA's part of the tensor."""
        width = min(self.block_n, columns)
        sizes = {"m": self.block_m, "n": width, "half": max(1, width // 2)}
        sizes |= {"stride": stride, "gap": 2 if self.fp4_padded else 1}
        axes = {"m": 0, "n": 1}
        if self.cta_mode != "default":
            return tile_layout(TENSOR_MEMORY[self.cta_mode], axes, sizes)
        if not self._is_halved:
            tile = tile_layout(TENSOR_MEMORY["whole"], axes, sizes)
            return _with_last_column_as_row(tile) if self.block_m == 64 else tile
        if rows > self.block_m:
            axes["next"] = 0
        elif columns > width:
            axes["next"] = 1
        return tile_layout(TENSOR_MEMORY["halved"], axes, sizes)

    def _stride(self, element_bits: int | None) -> int:
        if self.col_stride is not None:
            return self.col_stride
        if element_bits is None:
            raise LayoutError("unpacked = true needs the element type to know the column stride")
        return max(1, CELL_BITS // element_bits)

    @property
    def _is_halved(self) -> bool:
        """Whether the tile has 64 rows on one CTA (until 3.7, or two): 16 in each 32-row slice."""
        is_shared = self.two_ctas and self.release >= Release.V3_8
        return self.block_m == 64 and not is_shared and self.cta_mode == "default"


def _with_last_column_as_row(tile: LinearLayout) -> LinearLayout:
    """Move the last column basis behind the row bases."""
    if not tile.vectors("col"):
        raise LayoutError("blockM = 64 with twoCTAs needs at least 2 columns, got 1")
    *columns, last = tile.vectors("col")
    return tile.with_vectors("col", columns).with_vectors("row", (*tile.vectors("row"), last))


@dataclass(frozen=True, kw_only=True)
class TensorMemoryScales(TensorMemoryBase):
    """Scales of a block-scaled matrix multiplication in tensor memory.

    Attributes:
        cga: the bases of ``block``; none for one CTA.
        k_before_mn: whether blocks repeat along K before M or N.

    Example:
        >>> TensorMemoryScales().to_linear_layout([128, 4]).bases[1]
        ('col', [[0, 1], [0, 2], [32, 0], [64, 0]])

    Source:
        PTX ISA, "tcgen05 block scaling"; Triton,
        lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp.
    """

    cga: Bases = ()
    k_before_mn: bool = False

    mnemonic = "tensor_memory_scales_encoding"
    forms = (
        Form(
            f"ttng.{mnemonic}",
            Release.V3_3,
            _SPLITS,
            style=Style.STRUCT,
            to_fields=_splits_to_fields,
            from_fields=_splits_from_fields,
        ),
        Form(
            f"ttng.{mnemonic}",
            Release.V3_8,
            (
                CGA_LAYOUT,
                _BLOCK_ORDER,
            ),
            style=Style.STRUCT,
        ),
    )

    @property
    def may_be_multi_buffered(self) -> bool:
        """Until 3.4; since then scales are refused more than one buffer."""
        return self.release <= Release.V3_4

    @property
    def rank(self) -> int:
        """Always 2."""
        return 2

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        yield from cga_violations(self, 2)

    def check_element(self, bits: int) -> None:
        """Raise an error unless scales are bytes."""
        if bits != 8 and self.release >= Release.V3_5:
            raise LayoutError(f"scales have elements of 8 bits, got {bits}")

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return blocks of 64 x 4 scales, each stored in all four 32-row slices."""
        rows, columns = shape_per_cta(self.cga, shape)
        blocks, depth = -(-rows // 64), -(-columns // 4)
        tile = tile_layout(SCALES, {"m": 0, "k": 1}, {})
        if blocks > 1:
            tile, blocks = tile * identity(2, "col", 0), blocks // 2
        repeats = [identity(blocks, "col", 0), identity(depth, "col", 1)]
        tile = product([tile, *(reversed(repeats) if self.k_before_mn else repeats)])
        per_cta = {"dim0": rows, "dim1": columns}
        tile = ensure_layout_not_larger_than(tile, per_cta) * cga_layout(self.cga, 2)
        return tile.transpose_ins(["row", "col", "block"]).transpose_outs(dim_names(2))
