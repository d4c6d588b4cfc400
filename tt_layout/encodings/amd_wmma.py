"""``#ttg.amd_wmma``: the result of a matrix instruction of AMD's RDNA and gfx1250."""

from __future__ import annotations

from collections.abc import Iterator

from tt_layout.algebra.linear_layout import LinearLayout, is_power_of_two
from tt_layout.algebra.tiles import (
    combine_cta_cga_with_shape,
    dim_names,
    identity,
    row_major,
    step_along,
)
from tt_layout.encodings.base import Bases, DistributedEncoding, Shape, Violation
from tt_layout.encodings.cga import (
    CGA_LAYOUT,
    cga_layout,
    cga_violations,
    normalize_split,
    rank_by,
    split_from_fields,
    split_keys,
    split_to_fields,
    without_dim,
)
from tt_layout.encodings.forms import (
    BOOLEAN,
    INTEGER,
    INTEGERS,
    BasesByDimKind,
    Form,
    Key,
    Values,
    optional,
)
from tt_layout.encodings.instruction_tiles import (
    WMMA_INSTRUCTIONS,
    WMMA_OPERANDS,
    WMMA_RESULTS,
    tile_layout,
)
from tt_layout.encodings.rules import basis_length_problem, violation_of
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.releases import Release

DEFAULT_INSTRUCTION = (16, 16, 16)
_RANK = rank_by("warpsPerCTA")
_VERSION = Key("version", INTEGER, field="version", silent_default=0)
_TRANSPOSE = Key("isTranspose", BOOLEAN, field="is_transpose", default=False)
_WARPS = Key("warpsPerCTA", INTEGERS, part_of="cta_layout")
_INSTR = optional("instrShape", INTEGERS, DEFAULT_INSTRUCTION, "instr_shape")
_CTA_LAYOUT = Key(
    "ctaLayout", BasesByDimKind(("register", "warp"), required=("warp",)), field="cta_layout"
)
_TILES = Key(
    "tilesPerWarp",
    INTEGERS,
    part_of="cta_layout",
    default=(),
    omitted=lambda values: all(tiles == 1 for tiles in values["tilesPerWarp"]),
)
_RANK_KEY = Key(
    "rank",
    INTEGER,
    default=None,
    omitted=lambda values: True,
    required_by_parser=lambda values: values["rank"] not in (None, 2),
)


def cta_layout_of(warps_per_cta: Shape, tiles_per_warp: Shape) -> tuple[Bases, Bases]:
    """Return today's ``ctaLayout`` for the lists of 3.6 and before.

    Per dimension, the last one fastest: the tiles of a warp, then the warps.

    Example:
        >>> cta_layout_of((2, 2), (2, 2))
        (((0, 1), (1, 0)), ((0, 2), (2, 0)))
    """
    rank = len(warps_per_cta)
    tiles = tiles_per_warp or (1,) * rank
    register: list[Shape] = []
    warp: list[Shape] = []
    for d in row_major(rank):
        bits = range(tiles[d].bit_length() - 1)
        register += [step_along(rank, d, 1 << bit) for bit in bits]
        bits = range(warps_per_cta[d].bit_length() - 1)
        warp += [step_along(rank, d, tiles[d] << bit) for bit in bits]
    return tuple(register), tuple(warp)


def _lists_to_fields(values: Values) -> Values:
    """Convert ``warpsPerCTA`` and ``tilesPerWarp`` to fields."""
    warps, tiles = values["warpsPerCTA"], values.get("tilesPerWarp", ())
    fields: Values = {"rank_key": len(warps)}
    if not all(map(is_power_of_two, (*warps, *tiles))) or len(tiles) not in (0, len(warps)):
        problem = "warpsPerCTA and tilesPerWarp must be powers of two, one for each dimension"
        return {**fields, "no_layout_reason": f"{problem}, got {list(warps)} and {list(tiles)}"}
    return {**fields, "cta_layout": cta_layout_of(warps, tiles)}


def _split_and_lists_to_fields(values: Values) -> Values:
    return {**_lists_to_fields(values), **split_to_fields(values)}


def _lists_from_fields(wmma: AmdWmma, element_bits: int | None) -> Values:
    """Convert fields to the lists that make up ``ctaLayout``.

    Raises:
        LayoutError: it does not consist of such lists.
    """
    tiles, warps = wmma.tiles_per_warp, wmma.warps_per_cta
    if cta_layout_of(warps, tiles) != wmma.cta_layout:
        shown = _CTA_LAYOUT.kind.show(wmma.cta_layout)
        raise LayoutError(f"warpsPerCTA and tilesPerWarp cannot express ctaLayout = {shown}")
    return {"warpsPerCTA": warps, "tilesPerWarp": tiles}


def _split_and_lists_from_fields(wmma: AmdWmma, element_bits: int | None) -> Values:
    return {**_lists_from_fields(wmma, element_bits), **split_from_fields(wmma, element_bits)}


def _rank_to_fields(values: Values) -> Values:
    register, warp = values["ctaLayout"]
    ranks = [len(basis) for basis in (*register, *warp, *values["CGALayout"])]
    is_implied = values["rank"] == (ranks[0] if ranks else 2)
    return {"rank_key": None if is_implied else values["rank"]}


@dataclass(frozen=True, kw_only=True)
class AmdWmma(DistributedEncoding):
    """The accumulator of a WMMA instruction, tiled over warps of 32 lanes.

    Attributes:
        version: 1 RDNA3, 2 RDNA4, 3 gfx1250.
        is_transpose: whether rows and columns of the tile are exchanged.
        cta_layout: bases of ``register`` and of ``warp``, in units of instruction tiles.
        rank_key: the rank where the bases do not determine it; None otherwise.
        cga: the bases of ``block``; none for one CTA.
        instr_shape: ``[M, N, K]``; see WMMA_INSTRUCTIONS.

    Example:
        >>> AmdWmma(version=1, cta_layout=((), ((0, 1),))).to_linear_layout([16, 32]).bases[:2]
        [('register', [[2, 0], [4, 0], [8, 0]]), ('lane', [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0]])]

    Source:
        AMD matrix instruction calculator; Triton,
        lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp,
        AMDWmmaEncodingAttr::toLinearLayout.
    """

    version: int
    is_transpose: bool = False
    cta_layout: tuple[Bases, Bases] = ((), ())
    rank_key: int | None = None
    cga: Bases = ()
    instr_shape: Shape = DEFAULT_INSTRUCTION

    mnemonic = "amd_wmma"
    has_width = False
    rules = (
        Rule("version", Must.WITHIN, (1, 2), since=Release.V3_3, last=Release.V3_5),
        Rule("version", Must.WITHIN, (1, 3), since=Release.V3_3, first=Release.V3_6),
    )
    ignores_unknown_keys = True
    forms = (
        Form(
            f"triton_gpu.{mnemonic}",
            Release.V3_0,
            (_WARPS, *split_keys(_RANK)),
            normalize=normalize_split(_RANK),
            to_fields=lambda values: {**_split_and_lists_to_fields(values), "version": 1},
            from_fields=_split_and_lists_from_fields,
        ),
        Form(
            f"triton_gpu.{mnemonic}",
            Release.V3_2,
            (_VERSION, _WARPS, *split_keys(_RANK)),
            normalize=normalize_split(_RANK),
            to_fields=_split_and_lists_to_fields,
            from_fields=_split_and_lists_from_fields,
        ),
        Form(
            f"ttg.{mnemonic}",
            Release.V3_3,
            (_VERSION, _TRANSPOSE, _WARPS, *split_keys(_RANK)),
            normalize=normalize_split(_RANK),
            to_fields=_split_and_lists_to_fields,
            from_fields=_split_and_lists_from_fields,
        ),
        Form(
            f"ttg.{mnemonic}",
            Release.V3_6,
            (_VERSION, _TRANSPOSE, _WARPS, CGA_LAYOUT, _TILES, _INSTR),
            to_fields=_lists_to_fields,
            from_fields=_lists_from_fields,
        ),
        Form(
            f"ttg.{mnemonic}",
            Release.V3_7,
            (_VERSION, _TRANSPOSE, _RANK_KEY, _CTA_LAYOUT, CGA_LAYOUT, _INSTR),
            to_fields=_rank_to_fields,
            from_fields=lambda wmma, element_bits: {"rank": wmma.rank},
        ),
    )

    @property
    def rank(self) -> int:
        """The rank given, else the length of the bases, else 2."""
        lengths = [len(basis) for basis in (*self.cta_layout[0], *self.cta_layout[1], *self.cga)]
        return self.rank_key or (lengths[0] if lengths else 2)

    @property
    def tiles_per_warp(self) -> Shape:
        """The tiles of a warp along each dimension."""
        return self._counts(self.cta_layout[0])

    @property
    def warps_per_cta(self) -> Shape:
        """The warps along each dimension."""
        return self._counts(self.cta_layout[1])

    def _counts(self, bases: Bases) -> Shape:
        return tuple(1 << sum(bool(basis[d]) for basis in bases) for d in range(self.rank))

    @property
    def tile_shape(self) -> Shape:
        """Rows and columns of an instruction's result, exchanged if transposed."""
        m, n = self.instr_shape[:2]
        return (n, m) if self.is_transpose else (m, n)

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        yield from super().violations()
        if self.version not in WMMA_INSTRUCTIONS:
            return
        if self.instr_shape not in WMMA_INSTRUCTIONS[self.version]:
            shapes = ", ".join(str(list(shape)) for shape in WMMA_INSTRUCTIONS[self.version])
            message = (
                f"{self.key('instr_shape')} of version {self.version} must be one of {shapes}, "
                f"got {list(self.instr_shape)}"
            )
            yield Violation(message, ("instr_shape",), Release.V3_6)
        elif (since := WMMA_INSTRUCTIONS[self.version][self.instr_shape]) > self.release:
            shape = list(self.instr_shape)
            message = f"{self.key('instr_shape')} {shape} is known since Triton {since}"
            yield Violation(message, ("instr_shape",), Release.V3_6)
        if self.is_transpose and self.version == 1 and self.release <= Release.V3_5:
            message = f"{self.key('is_transpose')} = true needs version 2 until Triton 3.5"
            yield Violation(message, ("is_transpose",), Release.V3_3)
        if self.rank not in (2, 3):
            message = f"#{self.name} is for rank 2 or 3, got rank {self.rank}"
            yield Violation(message, ("cta_layout",), since=None)
            return
        yield from cga_violations(self, self.rank)
        for name, bases in zip(("register", "warp"), self.cta_layout):
            named = f"{self.key('cta_layout')}.{name}"
            problem = basis_length_problem(named, bases, self.rank)
            yield from violation_of(problem, "cta_layout")
            if problem is not None:
                return
        if not self.cta_tiles().is_surjective():
            message = f"{self.key('cta_layout')} must reach every tile of those that it spans"
            yield Violation(message, ("cta_layout",), since=None)

    def cta_tiles(self, broadcast_dim: int | None = None) -> LinearLayout:
        """Return the arrangement of instruction tiles over registers and warps.

        Args:
            broadcast_dim: a dimension whose components become 0; registers that move only
                along it are left out.
        """
        register, warp = self.cta_layout
        if broadcast_dim is not None:
            register, warp = without_dim(register, broadcast_dim), without_dim(warp, broadcast_dim)
            register = tuple(basis for basis in register if any(basis))
        bases = [("register", register), ("warp", warp)]
        return LinearLayout.from_bases(bases, dim_names(self.rank), require_surjective=False)

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the instruction's tile, over registers and warps, repeated over the tensor."""
        is_by_dimension = self.release <= Release.V3_6
        tiles = self._tiles_by_dimension(shape) if is_by_dimension else self.cta_tiles()
        cga = cga_layout(self.cga, self.rank)
        m, n = self.instr_shape[:2]
        dims = (
            (self.rank - 1, self.rank - 2) if self.is_transpose else (self.rank - 2, self.rank - 1)
        )
        axes = dict(zip("mn", dims))
        tile = tile_layout(WMMA_RESULTS[self.version], axes, {"m": m, "n": n}) * tiles
        return combine_cta_cga_with_shape(tile, cga, shape, row_major(self.rank))

    def _tiles_by_dimension(self, shape: Shape) -> LinearLayout:
        """Return the arrangement of tiles until 3.6: along one dimension after the other.

        Along the last they cover the whole tensor; where CTAs share it, some repeat elements.
        """
        tiles = LinearLayout.empty()
        for d in row_major(self.rank):
            is_batch = d < self.rank - 2  # along which a warp has one tile, whatever is written
            tiles *= identity(1 if is_batch else self.tiles_per_warp[d], "register", d)
            tiles *= identity(self.warps_per_cta[d], "warp", d)
            if d == self.rank - 1:
                reach = tiles.get_out_dim_size(f"dim{d}") * self.tile_shape[1]
                tiles *= identity(max(1, shape[d] // reach), "register", d)
        return tiles

    def operand_tile(self, op_idx: int, k_width: int, k_dim: int) -> LinearLayout:
        """Return the tile of an operand: elements of a lane, and lanes along and across K."""
        other = self.rank - 2 if k_dim == self.rank - 1 else self.rank - 1
        sizes = {"width": k_width, "other": self.tile_shape[op_idx], "k": self.instr_shape[2]}
        return tile_layout(WMMA_OPERANDS[self.version], {"k": k_dim, "other": other}, sizes)
