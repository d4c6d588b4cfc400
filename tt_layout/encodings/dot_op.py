"""``#ttg.dot_op``: an operand of a matrix multiplication, as its parent's instruction reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.tiles import (
    broadcast_nd,
    combine_cta_cga_with_shape,
    identity,
    identity_nd,
    row_major,
)
from tt_layout.encodings.amd_mfma import AmdMfma
from tt_layout.encodings.amd_wmma import AmdWmma
from tt_layout.encodings.base import DistributedEncoding, Encoding, Shape, Violation
from tt_layout.encodings.blocked import Blocked
from tt_layout.encodings.cga import cga_layout, without_dim
from tt_layout.encodings.dpas import Dpas
from tt_layout.encodings.forms import BOOLEAN, INTEGER, LAYOUT, Form, Key, Style, Values, optional
from tt_layout.encodings.instruction_tiles import (
    MFMA_LANES,
    MFMA_LONG_OPERAND,
    MFMA_OPERAND,
    MMA_OPERANDS,
    MMA_OPERANDS_OF_8_ROWS,
    WARP,
    tile_layout,
)
from tt_layout.encodings.nvidia_mma import NvidiaMma
from tt_layout.encodings.rules import power_problem, violation_of
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.releases import Release

REGISTER_BITS = 32
WMMA_WIDTHS = {1: (8, 16), 2: (4, 8, 16)}
"""Version of WMMA -> the kWidth its operands may have; version 3 takes any but 0."""

_OP_IDX = Key("opIdx", INTEGER, field="op_idx")
_IMPLIED_OP_IDX = Key("opIdx", INTEGER, field="op_idx", silent_default=0)
_PARENT = Key("parent", LAYOUT, field="parent")


def _unless_over(version: int) -> Callable[[Values], bool]:
    """Return a test for operands of other parents than a major version of mma."""

    def is_over_other(values: Values) -> bool:
        parent = values["parent"]
        return not (isinstance(parent, NvidiaMma) and parent.version_major == version)

    return is_over_other


_IS_V1_ROW = Key("isMMAv1Row", BOOLEAN, default=None, omitted=_unless_over(1))
_PRINTED_FOR_AMPERE = Key("kWidth", INTEGER, field="k_width", default=None, omitted=_unless_over(2))
_K_WIDTH = optional("kWidth", INTEGER, 0, "k_width")


def wmma_widths(version: int, release: Release) -> tuple[int, ...] | None:
    """Return the values of kWidth for operands of a version of WMMA; None for any."""
    if release <= Release.V3_1:
        return (16,)
    if release <= Release.V3_4:
        return {1: (16,), 2: (8,) if release == Release.V3_2 else (8, 16)}.get(version)
    if release == Release.V3_6 and version == 3:
        return (2, 8, 16)
    return WMMA_WIDTHS.get(version)


def _default_k_width(element_bits: int | None) -> int:
    """Return the number of elements that fill a 32-bit register."""
    if element_bits is None:
        message = "this dot_op has no kWidth: its layout depends on the width of an element"
        raise LayoutError(f"{message}, which is not known")
    return max(1, REGISTER_BITS // element_bits)


def _normalize_k_width(values: Values) -> Values:
    """Require kWidth only where 2.1 to 2.3 allow it; elsewhere it is 0."""
    parent = values["parent"]
    takes = isinstance(parent, NvidiaMma) and parent.version_major != 1
    if values["kWidth"] is not None and not takes:
        raise LayoutError("kWidth is only for an mma parent of Ampere or later")
    return {**values, "kWidth": values["kWidth"] or 0}


@dataclass(frozen=True, kw_only=True)
class DotOperand(DistributedEncoding):
    """An operand of ``tt.dot``, in the registers that the instruction of ``parent`` reads.

    Warps that differ only along the result's other dimension hold the same elements.

    Attributes:
        op_idx: 0 for A (M x K), 1 for B (K x N).
        parent: the layout of the result: nvidia_mma, amd_mfma, amd_wmma, dpas or blocked.
        k_width: adjacent elements along K in one lane; 0 for blocked, and if an old release does
            not print it: then as many as fill 32 bits.

    Example:
        >>> mma = NvidiaMma(version_major=2, warps_per_cta=(1, 1), instr_shape=(16, 8))
        >>> DotOperand(op_idx=1, parent=mma, k_width=2).to_linear_layout([16, 8]).bases[:2]
        [('register', [[1, 0], [8, 0]]), ('lane', [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]])]

    Source:
        PTX ISA and AMD matrix instruction calculator; Triton,
        lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp,
        DotOperandEncodingAttr::toLinearLayout.
    """

    op_idx: int
    parent: Encoding
    k_width: int = 0

    mnemonic = "dot_op"
    rules = (Rule("op_idx", Must.ONE_OF, (0, 1), since=Release.V3_0),)
    forms = (
        Form(f"triton_gpu.{mnemonic}", Release.V2022, (_IMPLIED_OP_IDX, _PARENT)),
        Form(
            f"triton_gpu.{mnemonic}",
            Release.V2_0,
            (_IMPLIED_OP_IDX, _PARENT, _IS_V1_ROW),
        ),
        Form(
            f"triton_gpu.{mnemonic}",
            Release.V2_1,
            (_IMPLIED_OP_IDX, _PARENT, _PRINTED_FOR_AMPERE),
            normalize=_normalize_k_width,
            from_fields=lambda dot, element_bits: {"kWidth": dot.k_width or None},
        ),
        Form(
            f"triton_gpu.{mnemonic}",
            Release.V3_0,
            (_OP_IDX, _PARENT, _K_WIDTH),
            style=Style.BRACED_STRUCT,
        ),
        Form(
            f"ttg.{mnemonic}",
            Release.V3_3,
            (_OP_IDX, _PARENT, _K_WIDTH),
            style=Style.BRACED_STRUCT,
        ),
    )

    @property
    def rank(self) -> int | None:
        """The rank of the parent."""
        return self.parent.rank

    def parents(self) -> Iterator[Encoding]:
        """Yield the parent."""
        yield self.parent

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        yield from super().violations()
        if not isinstance(self.parent, (NvidiaMma, AmdMfma, AmdWmma, Dpas, Blocked)):
            message = (
                "the parent of a dot_op must be nvidia_mma, amd_mfma, amd_wmma, dpas or blocked, "
                f"got #{self.parent.name}"
            )
            yield Violation(message, ("parent",), Release.V3_0)
            return
        yield from violation_of(self._k_width_problem(), "k_width", Release.V3_0)
        if self.k_width:
            yield from violation_of(
                power_problem(self.key("k_width"), self.k_width), "k_width", since=None
            )
        parent = self.parent
        if isinstance(parent, NvidiaMma) and parent.version_major == 1:
            message = "the operands of Volta's mma have no linear layout"
            yield Violation(message, ("parent",), since=None)

    def _k_width_problem(self) -> str | None:
        """Return the broken rule of kWidth, or opIdx, for the parent; None without one."""
        parent, width, key = self.parent, self.k_width, self.key("k_width")
        if isinstance(parent, NvidiaMma):
            return self._nvidia_problem(parent)
        if isinstance(parent, AmdMfma):
            return None if width else f"{key} must be given for an amd_mfma parent"
        if isinstance(parent, AmdWmma):
            return self._wmma_problem(parent)
        if isinstance(parent, Dpas):
            return None  # only tt.dot asks for one width; the layout has none
        return f"{key} must be 0 for a blocked parent, got {width}" if width else None

    def _nvidia_problem(self, parent: NvidiaMma) -> str | None:
        width, major, key = self.k_width, parent.version_major, self.key("k_width")
        if major == 3 and self.release <= Release.V3_2:
            return f"{key} must be 0 for a Hopper parent until 3.2, got {width}" if width else None
        if major in (2, 3) and not width and self.release >= Release.V3_0:
            return f"{key} must be given for an Ampere or Hopper parent"
        if major == 3 and self.op_idx == 1:
            return f"{self.key('op_idx')} must be 0 for a Hopper parent: only A may be in registers"
        if major not in (2, 3) and width:
            return f"{key} must be 0 for this parent, got {width}"
        return None

    def _wmma_problem(self, parent: AmdWmma) -> str | None:
        width, key = self.k_width, self.key("k_width")
        allowed = wmma_widths(parent.version, self.release)
        if allowed is None:
            return None if width or self.release <= Release.V3_2 else f"{key} must not be 0"
        if width in allowed:
            return None
        widths = " or ".join(map(str, allowed))
        return f"{key} must be {widths} for WMMA version {parent.version}, got {width}"

    @property
    def k_dim(self) -> int:
        """The dimension that the multiplication sums over."""
        rank = self.rank or 2
        return rank - 1 if self.op_idx == 0 else rank - 2

    @property
    def other_dim(self) -> int:
        """M for A, N for B."""
        rank = self.rank or 2
        return rank - 2 if self.op_idx == 0 else rank - 1

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the operand's tile, over the parent's warps, repeated over the tensor."""
        parent = self.parent
        if isinstance(parent, NvidiaMma):
            width = self.k_width or _default_k_width(element_bits)
            return self._over_nvidia_mma(parent, shape, width)
        if isinstance(parent, AmdMfma):
            return self._over_amd_mfma(parent, shape)
        if isinstance(parent, AmdWmma):
            return self._over_amd_wmma(parent, shape)
        if isinstance(parent, Dpas):
            return parent.operand_layout(self.op_idx, shape)
        assert isinstance(parent, Blocked)
        return self._over_blocked(parent, shape)

    def _cover_order(self) -> list[int]:
        return [self.k_dim, self.other_dim, 0][: self.rank]

    def _over_nvidia_mma(self, parent: NvidiaMma, shape: Shape, width: int) -> LinearLayout:
        rank = parent.rank
        m = parent.tile_shape[rank - 2] if parent.version_major == 2 else parent.tile_shape[0]
        has_8_rows = m == 8 and self.release >= Release.V3_8
        tiles = MMA_OPERANDS_OF_8_ROWS if has_8_rows else MMA_OPERANDS
        m = m if has_8_rows else max(m, 16)
        axes = {"k": self.k_dim, "mn"[self.op_idx]: self.other_dim}
        tile = tile_layout(tiles[self.op_idx], axes, {"width": width, "m": m})
        warps = broadcast_nd("warp", parent.warps_per_cta, parent.warp_order, self.k_dim)
        cga = cga_layout(without_dim(parent.cga, self.k_dim), rank)
        return combine_cta_cga_with_shape(tile * warps, cga, shape, self._cover_order())

    def _over_amd_mfma(self, parent: AmdMfma, shape: Shape) -> LinearLayout:
        k_dim, other, width = self.k_dim, self.other_dim, self.k_width
        extent = parent.instr_shape[self.op_idx]
        sizes = {"width": width, "other": extent, WARP: MFMA_LANES}
        operand = MFMA_LONG_OPERAND if extent == MFMA_LANES else MFMA_OPERAND
        tile = tile_layout(operand, {"k": k_dim, "other": other}, sizes)
        depth = tile.get_out_dim_size(f"dim{k_dim}")
        tile = tile * identity(max(1, shape[k_dim] // depth), "register", k_dim)
        tile = tile * identity(parent.tiles[other], "register", other)
        warps = identity_nd("warp", parent.warps_per_cta, row_major(parent.rank))
        cga = cga_layout(parent.cga, parent.rank)
        return combine_cta_cga_with_shape(tile * warps, cga, shape, self._cover_order())

    def _over_amd_wmma(self, parent: AmdWmma, shape: Shape) -> LinearLayout:
        tile = parent.operand_tile(self.op_idx, self.k_width, self.k_dim)
        # A warp repeats along K first in 3.7; before, it does if it has several tiles.
        has_several = parent.tiles_per_warp[self.other_dim] > 1
        if self.release == Release.V3_7 or (self.release < Release.V3_7 and has_several):
            depth = max(2 * self.k_width, parent.instr_shape[2])
            tile = tile * identity(max(1, shape[self.k_dim] // depth), "register", self.k_dim)
        if self.release >= Release.V3_7:
            warps = parent.cta_tiles(broadcast_dim=self.k_dim)
        else:  # there are several tiles to a warp along M or N only
            tiles = identity(parent.tiles_per_warp[self.other_dim], "register", self.other_dim)
            order = row_major(parent.rank)
            warps = tiles * broadcast_nd("warp", parent.warps_per_cta, order, self.k_dim)
        tile = tile * warps
        tile = tile.transpose_outs([f"dim{d}" for d in self._cover_order()])
        keeps_k = self.release <= Release.V3_7
        cga = parent.cga if keeps_k else without_dim(parent.cga, self.k_dim)
        return combine_cta_cga_with_shape(
            tile, cga_layout(cga, parent.rank), shape, self._cover_order()
        )

    def _over_blocked(self, parent: Blocked, shape: Shape) -> LinearLayout:
        sizes = [*parent.size_per_thread]
        sizes[self.k_dim] = shape[self.k_dim]
        tile = (
            identity_nd("register", sizes, parent.order)
            * broadcast_nd("lane", parent.threads_per_warp, parent.order, self.k_dim)
            * broadcast_nd("warp", parent.warps_per_cta, parent.order, self.k_dim)
        )
        cga = cga_layout(without_dim(parent.cga, self.k_dim), parent.rank)
        return combine_cta_cga_with_shape(tile, cga, shape, parent.order)
