"""``#ttg.amd_mfma``: the result of a matrix core instruction of AMD's CDNA."""

from __future__ import annotations

from collections.abc import Iterator

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.tiles import combine_cta_cga_with_shape, identity, product
from tt_layout.encodings.base import Bases, DistributedEncoding, Shape, Violation
from tt_layout.encodings.cga import (
    CGA_LAYOUT,
    cga_layout,
    cga_violations,
    normalize_split,
    own_rank,
    rank_by,
    split_form,
    split_from_fields,
    split_keys,
    split_to_fields,
)
from tt_layout.encodings.forms import (
    BOOLEAN,
    INTEGER,
    INTEGERS,
    Form,
    Key,
    Values,
    WordKind,
    optional,
)
from tt_layout.encodings.instruction_tiles import (
    MFMA_INSTRUCTIONS,
    MFMA_LANES,
    MFMA_RESULT,
    MFMA_RUNS,
    WARP,
    tile_layout,
)
from tt_layout.encodings.rules import check_length
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.releases import Release

_WARPS = Key("warpsPerCTA", INTEGERS, field="warps_per_cta")
_INSTR = Key("instrShape", INTEGERS, field="instr_shape")
_TRANSPOSED = Key("isTransposed", BOOLEAN, field="is_transposed", silent_default=False)
_VERSION = Key("version", INTEGER, field="version", silent_default=0)
_RANK = rank_by("warpsPerCTA")


def _all_ones(values: Values) -> bool:
    return all(tiles == 1 for tiles in values["tilesPerWarp"])


_TILES = Key("tilesPerWarp", INTEGERS, field="tiles_per_warp", default=(), omitted=_all_ones)
_BIT_WIDTH = optional("elementBitWidth", INTEGER, 32, "element_bit_width")
_ELEMENT_TYPE = optional(
    "elementType",
    WordKind({"f32": "f32", "f64": "f64", "i32": "i32"}),
    "f32",
    part_of="element_bit_width",
)
_KEYS_3_0 = (
    Key("versionMajor", INTEGER, field="version", silent_default=0),
    Key("versionMinor", INTEGER, default=0),
    _WARPS,
    _INSTR,
    _TRANSPOSED,
    *split_keys(_RANK),
)
_KEYS_3_4 = (*_KEYS_3_0[:-3], *split_keys(own_rank))


def _normalize_two_entries(values: Values) -> Values:
    """Fill in the CTA split parameters, and cut instrShape to [M, N] as its releases do."""
    if values.get("versionMinor"):
        raise LayoutError(f"versionMinor must be 0, got {values['versionMinor']}")
    values = normalize_split(_RANK)(values)
    return {**values, "instrShape": values["instrShape"][:2]}


def _to_fields_3_5(values: Values) -> Values:
    width = 64 if values["elementType"] == "f64" else 32
    return {**split_to_fields(values), **_tiles_to_fields(values), "element_bit_width": width}


def _from_fields_3_5(mfma: AmdMfma, element_bits: int | None) -> Values:
    element_type = "f64" if mfma.element_bit_width == 64 else "f32"
    return {**split_from_fields(mfma, element_bits), "elementType": element_type}


def _tiles_to_fields(values: Values) -> Values:
    return {"tiles_per_warp": () if _all_ones(values) else values["tilesPerWarp"]}


@dataclass(frozen=True, kw_only=True)
class AmdMfma(DistributedEncoding):
    """The accumulator of a matrix core instruction (CDNA), tiled over warps of 64 lanes.

    Attributes:
        version: generation of the matrix core, 0 to 4; without influence on the layout.
        warps_per_cta: warps along each dimension; the last is the fastest (until 3.1, if
            transposed, dimension 0).
        instr_shape: ``[M, N]`` or ``[M, N, K]``, M x N one of 32x32, 16x16, 64x4, 4x64.
        is_transposed: whether a lane's run is along N rather than M.
        cga: the bases of ``block``; none for one CTA.
        tiles_per_warp: adjacent tiles of one warp along each dimension; none means 1.
        element_bit_width: 32, or 64 for fp64 results.

    Example:
        >>> AmdMfma(version=3, warps_per_cta=(1, 1), instr_shape=(16, 16, 16),
        ...         is_transposed=False).to_linear_layout([16, 16]).bases[0]
        ('register', [[1, 0], [2, 0]])

    Source:
        AMD matrix instruction calculator; Triton,
        lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp,
        AMDMfmaEncodingAttr::toLinearLayout.
    """

    version: int
    warps_per_cta: Shape
    instr_shape: Shape
    is_transposed: bool
    cga: Bases = ()
    tiles_per_warp: Shape = ()
    element_bit_width: int = 32

    mnemonic = "amd_mfma"
    has_width = False
    rules = (
        Rule("version", Must.WITHIN, (0, 3), last=Release.V3_2),
        Rule("version", Must.WITHIN, (0, 4), first=Release.V3_3),
        Rule("element_bit_width", Must.ONE_OF, (*MFMA_RUNS,)),
        Rule("tiles_per_warp", Must.POWERS, since=None),
        Rule("warps_per_cta", Must.POWERS, since=None),
        Rule("warps_per_cta", Must.LENGTH, (2, 3), since=None),
        Rule("is_transposed", Must.ONE_OF, (True,), since=None, when=("instr_shape", (64, 4))),
    )
    ignores_unknown_keys = True
    forms = (
        split_form(f"triton_gpu.{mnemonic}", Release.V3_0, _KEYS_3_0, _normalize_two_entries),
        split_form(f"ttg.{mnemonic}", Release.V3_3, _KEYS_3_0, _normalize_two_entries),
        split_form(f"ttg.{mnemonic}", Release.V3_4, _KEYS_3_4, _normalize_two_entries),
        Form(
            f"ttg.{mnemonic}",
            Release.V3_5,
            (_VERSION, _WARPS, _TILES, _INSTR, _TRANSPOSED, *split_keys(own_rank), _ELEMENT_TYPE),
            normalize=_normalize_two_entries,
            to_fields=_to_fields_3_5,
            from_fields=_from_fields_3_5,
        ),
        Form(
            f"ttg.{mnemonic}",
            Release.V3_6,
            (_VERSION, _WARPS, _INSTR, _TRANSPOSED, CGA_LAYOUT, _TILES, _BIT_WIDTH),
            to_fields=_tiles_to_fields,
        ),
    )

    @property
    def rank(self) -> int:
        """The length of ``warps_per_cta``."""
        return len(self.warps_per_cta)

    @property
    def tiles(self) -> Shape:
        """Tiles per warp along each dimension, with defaults filled in."""
        has_all = len(self.tiles_per_warp) == self.rank
        return self.tiles_per_warp if has_all else (1,) * self.rank

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        yield from super().violations()
        instructions = [mn for mn, since in MFMA_INSTRUCTIONS.items() if since <= self.release]
        if self.instr_shape[:2] not in instructions:
            shapes = ", ".join(f"[{m}, {n}]" for m, n in instructions)
            key = self.key("instr_shape")
            message = f"{key} must begin with one of {shapes}, got {list(self.instr_shape)}"
            yield Violation(message, ("instr_shape",))
        yield from cga_violations(self, self.rank)
        if any(tiles != 1 for tiles in self.tiles_per_warp):
            yield from check_length(self, "tiles_per_warp", self.rank, since=None)

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the instruction's tile, over warps, repeated first along N, then along M."""
        rank = self.rank
        rows, cols = rank - 2, rank - 1
        m, n = self.instr_shape[:2]
        along, across = (cols, rows) if self.is_transposed else (rows, cols)
        extents = {rows: m, cols: n}
        sizes = {"along": extents[along], "across": extents[across], WARP: MFMA_LANES}
        sizes["run"] = MFMA_RUNS[self.element_bit_width]
        warps_n, tiles_n = self.warps_per_cta[cols], self.tiles[cols]
        tensor_repeats = -(-shape[cols] // (n * warps_n * tiles_n))
        tile = product(
            [
                tile_layout(MFMA_RESULT, {"along": along, "across": across}, sizes),
                identity(tiles_n, "register", cols),
                identity(warps_n, "warp", cols),
                identity(tensor_repeats, "register", cols),
                identity(self.tiles[rows], "register", rows),
                identity(self.warps_per_cta[rows], "warp", rows),
            ]
        )
        if rank == 3:
            tile = tile * identity(self.warps_per_cta[0], "warp", 0)
        if self.is_transposed and self.release <= Release.V3_1:
            # the warps along dimension 0 are the fastest
            names = tile.get_out_dim_names()
            places = [names.index(f"dim{d}") for d in range(self.rank)]
            by_dim = sorted(
                tile.vectors("warp"), key=lambda v: next(d for d, at in enumerate(places) if v[at])
            )
            tile = tile.with_vectors("warp", by_dim)
        order = [cols, rows, 0][:rank]
        return combine_cta_cga_with_shape(tile, cga_layout(self.cga, rank), shape, order)
