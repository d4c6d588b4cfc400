"""``#ttg.nvidia_mma``: the result of a tensor core instruction of Volta, Ampere or Hopper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tt_layout.algebra.linear_layout import LinearLayout, is_power_of_two
from tt_layout.algebra.tiles import (
    combine_cta_cga_with_shape,
    dim_names,
    ensure_layout_not_larger_than,
    ensure_layout_not_smaller_than,
    identity_nd,
    row_major,
)
from tt_layout.encodings.base import Bases, DistributedEncoding, Shape, Violation
from tt_layout.encodings.cga import (
    CGA_LAYOUT,
    PRINTED_SPLIT,
    cga_layout,
    cga_violations,
    normalize_split,
    own_rank,
    rank_by,
    split_form,
    split_keys,
)
from tt_layout.encodings.forms import INTEGER, INTEGERS, Form, Key
from tt_layout.encodings.instruction_tiles import (
    MMA_RESULT,
    VOLTA_READS,
    VOLTA_RESULT,
    tile_layout,
)
from tt_layout.encodings.rules import violation_of
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.mlir.syntax import IntegerNode, Node
from tt_layout.records import dataclass
from tt_layout.releases import Release
from tt_layout.surface import argument
from tt_layout.wording import count

_MAJOR = Key("versionMajor", INTEGER, field="version_major", silent_default=0)
_MINOR = Key("versionMinor", INTEGER, field="version_minor", default=0)
_WARPS = Key("warpsPerCTA", INTEGERS, field="warps_per_cta", silent_default=())
_INSTR = Key("instrShape", INTEGERS, field="instr_shape", silent_default=())
_RANK = rank_by("warpsPerCTA")
_SPLIT_KEYS = (_MAJOR, _MINOR, _WARPS, *split_keys(_RANK), _INSTR)
_NORMALIZE = normalize_split(_RANK)


def _is_not_volta(nodes: Mapping[str, Node]) -> bool:
    major = nodes.get("versionMajor")
    return not (isinstance(major, IntegerNode) and major.value == 1)


@dataclass(frozen=True, kw_only=True)
class NvidiaMma(DistributedEncoding):
    """The accumulator of a tensor core instruction, tiled over warps.

    Attributes:
        version_major: 1 Volta (until 3.8), 2 Ampere (mma.sync), 3 Hopper (wgmma).
        version_minor: for Volta a set of flags: bit 0 and 1 say that A and B are
            row-major, bit 2 and 3 that they are read 4 wide; without meaning otherwise.
        warps_per_cta: warps along each dimension.  The last dimension is the fastest, for
            Hopper (and in 2.0) dimension 0.
        instr_shape: the instruction's tile: Ampere ``[16, 8]`` (``[8, 8]`` for fp64, one
            more dimension in front for batches), Hopper ``[16, n, k]``.
        cga: the bases of ``block``; none for one CTA.

    Example:
        >>> NvidiaMma(version_major=2, warps_per_cta=(1, 1), instr_shape=(16, 8)
        ...     ).to_linear_layout([16, 8]).bases[:2]
        [('register', [[0, 1], [8, 0]]), ('lane', [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]])]

    Source:
        Triton, lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp,
        NvidiaMmaEncodingAttr::toLinearLayout; Volta: the index arithmetic of the releases
        2.1 to 3.1, read off lowered code.
    """

    version_major: int
    version_minor: int = 0
    warps_per_cta: Shape
    instr_shape: Shape = ()
    cga: Bases = ()

    mnemonic = "nvidia_mma"
    has_width = False
    rules = (Rule("warps_per_cta", Must.POWERS, since=None),)
    ignores_unknown_keys = True
    forms = (
        Form(
            "triton_gpu.mma",
            Release.V2022,
            (Key("version", INTEGER, field="version_major"), _WARPS),
        ),
        Form("triton_gpu.mma", Release.V2_0, (_MAJOR, _MINOR, _WARPS)),
        split_form(
            "triton_gpu.mma",
            Release.V2_2,
            (
                _MAJOR,
                _MINOR,
                _WARPS,
                *PRINTED_SPLIT,
                Key("instrShape", INTEGERS, field="instr_shape", default=()),
            ),
        ),
        split_form(f"triton_gpu.{mnemonic}", Release.V3_0, _SPLIT_KEYS, _NORMALIZE),
        split_form(f"ttg.{mnemonic}", Release.V3_3, _SPLIT_KEYS, _NORMALIZE),
        split_form(
            f"ttg.{mnemonic}",
            Release.V3_4,
            (_MAJOR, _MINOR, _WARPS, *split_keys(own_rank), _INSTR),
            _NORMALIZE,
        ),
        Form(
            f"ttg.{mnemonic}",
            Release.V3_6,
            (_MAJOR, _MINOR, _WARPS, CGA_LAYOUT, _INSTR),
        ),
        Form(
            f"ttg.{mnemonic}",
            Release.V3_9,
            (_MAJOR, _MINOR, _WARPS, CGA_LAYOUT, _INSTR),
            supports=_is_not_volta,
        ),
    )

    @property
    def rank(self) -> int:
        """The length of ``warps_per_cta``."""
        return len(self.warps_per_cta)

    @property
    def tile_shape(self) -> Shape:
        """The instruction's tile; m16n8 in 2.1 and before, which do not write it."""
        return self.instr_shape or ((16, 8) if self.release <= Release.V2_3 else ())

    @property
    def warp_order(self) -> list[int]:
        """The dimensions in the order in which warps follow each other, the fastest first."""
        if self.version_major == 3:
            return [0, 1]
        if self.version_major == 1 or self.release <= Release.V2_0:
            return list(range(self.rank))
        return row_major(self.rank)

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        yield from super().violations()
        if self.version_major == 1:
            key = self.key("version_major")
            reading = argument("release", "3.8")
            message = f"Volta ({key} = 1) is refused since Triton 3.9; {reading} reads it"
            yield Violation(message, ("version_major",), Release.V3_9, has_meaning=True)
        elif self.version_major not in (2, 3):
            key = self.key("version_major")
            message = f"{key} must be 2 (Ampere) or 3 (Hopper), got {self.version_major}"
            yield Violation(message, ("version_major",), Release.V3_9)
            return
        yield from cga_violations(self, self.rank)
        yield from violation_of(self._instr_shape_problem(), "instr_shape", since=None)

    def _instr_shape_problem(self) -> str | None:
        """Return the fault of an instrShape without a linear layout; None if there is none."""
        shape, key = self.tile_shape, self.key("instr_shape")
        if self.version_major == 1:
            return None if self.rank == 2 and not self.cga else "Volta has rank 2 and one CTA"
        if self.version_major == 2:
            if self.rank in (2, 3) and len(shape) == self.rank and _tiles(*shape[-2:]):
                return None
            return (
                f"{key} must have {count(self.rank, 'entry')}, [.., m, n] with m and n powers of "
                f"two of at least 8, such as [16, 8], got {list(shape)}"
            )
        if self.rank == 2 and len(shape) == 3 and shape[0] == 16 and _tiles(*shape[:2]):
            return None
        return (
            f"{key} must be [16, n, k] with n a power of two of at least 8, and rank 2, "
            f"got {list(shape)} and rank {self.rank}"
        )

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the instruction's tile, over the warps, repeated over the tensor."""
        if self.version_major == 1:
            return self._volta_layout(shape)
        rank = self.rank
        outer, inner = rank - 2, rank - 1
        m, n = self.tile_shape[outer], self.tile_shape[inner]
        lanes = 4
        if self.version_major == 3 and self.release in (Release.V3_0, Release.V3_1):
            # 3.0 and 3.1 first drop lanes where n exceeds the tensor
            lanes = max(1, 4 * min(shape[1], self.tile_shape[1]) // self.tile_shape[1])
        sizes = {"m": m, "n": n * lanes // 4, "lanes": lanes}
        tile = tile_layout(MMA_RESULT, {"m": outer, "n": inner}, sizes)
        warps = identity_nd("warp", self.warps_per_cta, self.warp_order)
        cga = cga_layout(self.cga, rank)
        layout = combine_cta_cga_with_shape(tile * warps, cga, shape, row_major(rank))
        return layout if lanes == 4 else _with_free_lanes(layout, lanes)

    def _volta_layout(self, shape: Shape) -> LinearLayout:
        """Return the layout of mma.m8n8k4: quads of lanes, two of them per 16 rows."""
        rows, columns = VOLTA_READS[self.version_minor % len(VOLTA_READS)]
        axes = {"m": 0, "n": 1, "mid n": 1, "outer n": 1}
        tile = tile_layout(VOLTA_RESULT, axes, {"rows": rows, "columns": columns})
        tile = tile * identity_nd("warp", self.warps_per_cta, self.warp_order)
        sizes = dict(zip(dim_names(2), shape))
        grown = ensure_layout_not_smaller_than(tile, sizes) * cga_layout(self.cga, 2)
        # The registers of a dimension stand together: those of the tile, then those that repeat it.
        by_dim = sorted(grown.vectors("register"), key=lambda basis: basis[1] > 0)
        return ensure_layout_not_larger_than(grown.with_vectors("register", by_dim), sizes)


def _tiles(m: int, n: int) -> bool:
    return m >= 8 and n >= 8 and is_power_of_two(m) and is_power_of_two(n)


def _with_free_lanes(layout: LinearLayout, lanes: int) -> LinearLayout:
    """Restore the lanes that replicate elements."""
    used = lanes.bit_length() - 1
    vectors = list(layout.vectors("lane"))
    free = [(0, 0)] * (2 - used)
    return layout.with_vectors("lane", (*vectors[:used], *free, *vectors[used:]))
