"""``#ttig.subgroup_2d_block``: the registers that a 2D block load of Intel's sub-groups fills."""

from __future__ import annotations

from collections.abc import Iterator

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.tiles import broadcast_nd, combine_cta_cga_with_shape, identity
from tt_layout.encodings.base import Bases, DistributedEncoding, Shape, Violation
from tt_layout.encodings.cga import (
    cga_layout,
    cga_violations,
    normalize_split,
    rank_by,
    split_form,
    split_keys,
)
from tt_layout.encodings.forms import INTEGER, INTEGERS, Key
from tt_layout.encodings.instruction_tiles import BLOCK_LOAD, WARP, tile_layout
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.records import dataclass
from tt_layout.releases import Release

LANES = 16
_TIGHT = "="
_KEYS = (
    Key("warpsPerCTA", INTEGERS, field="warps_per_cta", silent_default=()),
    *split_keys(rank_by("warpsPerCTA")),
    Key("instrShape", INTEGERS, field="instr_shape", silent_default=()),
    Key("numBlocks", INTEGER, field="num_blocks", silent_default=0, sign=_TIGHT),
    Key("order", INTEGERS, field="order", silent_default=(), sign=_TIGHT),
    Key("kWidth", INTEGER, field="k_width", silent_default=0, sign=_TIGHT),
    Key("threadsPerWarp", INTEGER, field="threads_per_warp", silent_default=0, sign=_TIGHT),
)


@dataclass(frozen=True, kw_only=True)
class Subgroup2dBlock(DistributedEncoding):
    """The blocks of memory that one 2D block load distributes over the lanes of a sub-group.

    Warps that differ only along the first dimension of ``order`` hold the same elements.

    Attributes:
        warps_per_cta: warps along each dimension; the last is the fastest.
        instr_shape: rows and columns of a block.
        num_blocks: blocks side by side along dimension 1.
        order: the dimension along which warps repeat, then the other.
        k_width: without influence on the layout.
        threads_per_warp: 16.
        cga: the bases of ``block``; none for one CTA.

    Example:
        >>> Subgroup2dBlock(warps_per_cta=(1, 1), instr_shape=(8, 16), num_blocks=2,
        ...                 order=(1, 0), k_width=2).to_linear_layout([8, 32]).bases[0]
        ('register', [[1, 0], [2, 0], [4, 0], [0, 16]])

    Source:
        intel-xpu-backend-for-triton,
        third_party/intel/lib/Dialect/TritonIntelGPU/IR/LinearLayoutConversions.cpp,
        subgroup2DBlockToLinearLayout.
    """

    warps_per_cta: Shape
    instr_shape: Shape
    num_blocks: int
    order: Shape
    k_width: int
    threads_per_warp: int = LANES
    cga: Bases = ()

    mnemonic = "subgroup_2d_block"
    rules = (
        Rule("instr_shape", Must.LENGTH, (2,)),
        Rule("order", Must.LENGTH, (2,)),
        Rule("warps_per_cta", Must.LENGTH, (2,)),
        Rule("k_width", Must.ONE_OF, (1, 2, 4)),
        Rule("threads_per_warp", Must.ONE_OF, (LANES,)),
        Rule("order", Must.PERMUTATION, since=None),
        Rule("warps_per_cta", Must.POWERS, since=None),
        Rule("instr_shape", Must.POWERS, since=None),
        Rule("num_blocks", Must.POWER, since=None),
    )
    ignores_unknown_keys = True
    forms = (
        split_form(
            f"ttig.{mnemonic}",
            Release.V3_4,
            _KEYS,
            normalize_split(rank_by("warpsPerCTA")),
        ),
    )

    @property
    def rank(self) -> int:
        """Two: blocks are of rows and columns."""
        return 2

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        yield from super().violations()
        yield from cga_violations(self, self.rank)

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return a block over the lanes, the blocks side by side, and the warps."""
        height, width = self.instr_shape
        sizes = {"row": height, "column": width, "packed": max(1, width // LANES), WARP: LANES}
        block = tile_layout(BLOCK_LOAD, {"row": 0, "column": 1}, sizes)
        tile = block * identity(self.num_blocks, "register", 1)
        warps = broadcast_nd("warp", self.warps_per_cta, (1, 0), self.order[0])
        return combine_cta_cga_with_shape(tile * warps, cga_layout(self.cga, 2), shape, (0, 1))
