"""``#ttig.dpas``: the result of a matrix instruction of Intel's XMX."""

from __future__ import annotations

from collections.abc import Iterator

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.tiles import combine_cta_cga_with_shape, identity, product, zeros
from tt_layout.encodings.base import DistributedEncoding, Shape, Violation
from tt_layout.encodings.cga import cga_layout
from tt_layout.encodings.forms import INTEGER, INTEGERS, Form, Key, Values, optional
from tt_layout.encodings.instruction_tiles import (
    DPAS_OPERANDS,
    DPAS_RESULT,
    DPAS_SCALES,
    WARP,
    tile_layout,
)
from tt_layout.encodings.rules import check_length
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.records import dataclass
from tt_layout.releases import Release

SYSTOLIC_DEPTH = 8
CHANNEL_BITS = 32
"""Divided by the bits of an element, tf32, 16 or 8, they are the operations of a channel."""

_MATRICES = ("A", "B", "C")


def matrix_shapes(
    repeats: int, channels: int, columns: int, cluster: Shape
) -> tuple[Shape, Shape, Shape]:
    """Return the shapes of A, B and C of one warp's instruction.

    Args:
        repeats: rows of an instruction's A.
        channels: columns of its A, K.
        columns: columns of its B.
        cluster: instructions of a warp along each dimension.

    Example:
        >>> matrix_shapes(8, 16, 16, (4, 2))
        ((32, 16), (16, 32), (32, 32))
    """
    if len(cluster) < 2:
        return (), (), ()
    batch = (1,) * (len(cluster) - 2)
    m, n = repeats * cluster[-2], columns * cluster[-1]
    return (*batch, m, channels), (*batch, channels, n), (*batch, m, n)


def _with_shapes(values: Values) -> Values:
    """Replace A, B and C by the values that follow from the other keys."""
    shapes = matrix_shapes(
        values["repeatCount"],
        values["systolicDepth"] * values["opsPerChan"],
        values["executionSize"],
        values["repCluster"],
    )
    return {**values, **dict(zip(_MATRICES, shapes))}


def _with_cluster(values: Values) -> Values:
    """Fill in one instruction per warp where, as until 3.0, none is written."""
    cluster = values["repCluster"] or (1,) * len(values["warpsPerCTA"])
    return _with_shapes({**values, "repCluster": cluster})


def _keys(cluster: Key) -> tuple[Key, ...]:
    return (
        Key("repeatCount", INTEGER, field="repeat_count", silent_default=0),
        Key("systolicDepth", INTEGER, field="systolic_depth", silent_default=0),
        Key("executionSize", INTEGER, field="execution_size", silent_default=0),
        Key("opsPerChan", INTEGER, field="ops_per_channel", silent_default=0),
        optional("fp4KPack", INTEGER, None, "fp4_k_pack"),
        Key("threadsPerWarp", INTEGER, field="threads_per_warp", silent_default=0),
        Key("warpsPerCTA", INTEGERS, field="warps_per_cta", silent_default=()),
        cluster,
        *(Key(name, INTEGERS, default=()) for name in _MATRICES),
    )


_CLUSTER = Key("repCluster", INTEGERS, field="rep_cluster", silent_default=())
_KEYS = _keys(_CLUSTER)


@dataclass(frozen=True, kw_only=True)
class Dpas(DistributedEncoding):
    """The accumulator of Intel's dot product accumulate systolic, tiled over sub-groups.

    A sub-group is a warp of 8, 16 or 32 lanes.  There is always one CTA.

    Attributes:
        repeat_count: rows of C that one instruction computes, 1 to 8.
        systolic_depth: steps of the systolic array, 8.
        execution_size: columns of C: 16, or 8 on DG2.
        ops_per_channel: elements of A and B that 32 bits hold.
        threads_per_warp: lanes.
        warps_per_cta: warps along each dimension; the last is the fastest.
        rep_cluster: adjacent instructions of one warp along each dimension.
        fp4_k_pack: 2 where two fp4 elements share a byte; None otherwise.

    Example:
        >>> Dpas(repeat_count=8, execution_size=16, ops_per_channel=2, threads_per_warp=16,
        ...      warps_per_cta=(1, 1), rep_cluster=(1, 1)).to_linear_layout([8, 16]).bases[:2]
        [('register', [[1, 0], [2, 0], [4, 0]]), ('lane', [[0, 1], [0, 2], [0, 4], [0, 8]])]

    Source:
        intel-xpu-backend-for-triton,
        third_party/intel/lib/Dialect/TritonIntelGPU/IR/LinearLayoutConversions.cpp,
        DPAStoLinearLayout; docs of DPAS in Intel's oneAPI SYCL extension joint_matrix.
    """

    repeat_count: int
    systolic_depth: int = SYSTOLIC_DEPTH
    execution_size: int
    ops_per_channel: int
    threads_per_warp: int
    warps_per_cta: Shape
    rep_cluster: Shape
    fp4_k_pack: int | None = None

    mnemonic = "dpas"
    rules = (
        Rule("repeat_count", Must.WITHIN, (1, 8)),
        Rule("ops_per_channel", Must.ONE_OF, (1, 2, 4)),
        Rule("systolic_depth", Must.ONE_OF, (SYSTOLIC_DEPTH,)),
        Rule("rep_cluster", Must.LENGTH, (2, 3)),
        Rule("fp4_k_pack", Must.ONE_OF, (None, 2)),
        Rule("ops_per_channel", Must.ONE_OF, (4,), when=("fp4_k_pack", 2)),
        Rule("repeat_count", Must.POWER, since=None),
        Rule("execution_size", Must.POWER, since=None),
        Rule("threads_per_warp", Must.POWER, since=None),
        Rule("warps_per_cta", Must.POWERS, since=None),
        Rule("rep_cluster", Must.POWERS, since=None),
    )
    ignores_unknown_keys = True
    forms = (
        Form(
            f"triton_intel_gpu.{mnemonic}",
            Release.V3_0,
            _keys(_CLUSTER._replace(default=())),
            normalize=_with_cluster,
        ),
        Form(f"ttig.{mnemonic}", Release.V3_4, _KEYS, normalize=_with_shapes),
    )

    @property
    def rank(self) -> int:
        """The length of ``rep_cluster``."""
        return len(self.rep_cluster)

    @property
    def k_size(self) -> int:
        """The elements along K that one instruction sums over."""
        return self.systolic_depth * self.ops_per_channel

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        yield from super().violations()
        if self.threads_per_warp < self.execution_size:
            message = (
                f"{self.key('threads_per_warp')} must be at least "
                f"{self.key('execution_size')} = {self.execution_size}, "
                f"got {self.threads_per_warp}"
            )
            yield Violation(message, ("threads_per_warp",))
        yield from check_length(self, "warps_per_cta", self.rank, since=None)

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the instruction's tile over a cluster and warps, repeated along N, then M."""
        rows, cols = self.rank - 2, self.rank - 1
        sizes = {"m": self.repeat_count, "n": self.execution_size, WARP: self.threads_per_warp}
        tile = product(
            [
                tile_layout(DPAS_RESULT, {"m": rows, "n": cols}, sizes),
                identity(self.rep_cluster[cols], "register", cols),
                identity(self.rep_cluster[rows], "register", rows),
                identity(self.warps_per_cta[cols], "warp", cols),
                identity(self.warps_per_cta[rows], "warp", rows),
            ]
        )
        return self._over(shape, tile, (cols, rows))

    def operand_layout(self, op_idx: int, shape: Shape) -> LinearLayout:
        """Return the layout of A or B; warps along the other's dimension hold the same elements.

        Args:
            op_idx: 0 for A, 1 for B.
            shape: the operand's sizes.
        """
        rows, cols = self.rank - 2, self.rank - 1
        k_dim, other = (cols, rows) if op_idx == 0 else (rows, cols)
        extent = self.repeat_count if op_idx == 0 else self.execution_size
        sizes = {
            "k": self.k_size,
            "mn"[op_idx]: extent,
            "packed": max(1, self.ops_per_channel // 2),
            "channel": self.ops_per_channel,
            WARP: self.threads_per_warp,
        }
        axes = {"mn"[op_idx]: other, "k": k_dim}
        warps = {
            k_dim: zeros(self.warps_per_cta[k_dim], "warp", k_dim),
            other: identity(self.warps_per_cta[other], "warp", other),
        }
        tile = product(
            [
                tile_layout(DPAS_OPERANDS[op_idx], axes, sizes),
                identity(self.rep_cluster[other], "register", other),
                warps[cols],
                warps[rows],
            ]
        )
        return self._over(shape, tile, (k_dim, other))

    def scales_layout(self, op_idx: int, shape: Shape) -> LinearLayout:
        """Return the layout of the scales of a block-scaled A or B, one for each 32 along K.

        Dumps have it as ``#ttg.linear``.

        Args:
            op_idx: 3 for those of A, 4 for those of B.
            shape: their sizes; K is the last, also for B.
        """
        rows, cols = self.rank - 2, self.rank - 1
        other, axis = (rows, "m") if op_idx == 3 else (cols, "n")
        packed = 2 if self.ops_per_channel * (self.fp4_k_pack or 1) == 8 else 1
        sizes = {
            "m": self.repeat_count,
            "n": self.execution_size,
            "packed": packed,
            WARP: self.threads_per_warp,
        }
        shared = {cols: rows, rows: cols}[other]
        warps = {
            other: identity(self.warps_per_cta[other], "warp", rows),
            shared: zeros(self.warps_per_cta[shared], "warp", cols),
        }
        tile = product(
            [
                tile_layout(DPAS_SCALES[op_idx], {axis: rows, "k": cols}, sizes),
                identity(self.rep_cluster[other], "register", rows),
                warps[cols],
                warps[rows],
            ]
        )
        return self._over(shape, tile, (cols, rows))

    def _over(self, shape: Shape, tile: LinearLayout, order: tuple[int, int]) -> LinearLayout:
        """Tile the tensor with the warps of a batch, in this order."""
        if self.rank == 3:
            tile = tile * identity(self.warps_per_cta[0], "warp", 0)
        ranked = (*order, 0)[: self.rank]
        return combine_cta_cga_with_shape(tile, cga_layout((), self.rank), shape, ranked)
