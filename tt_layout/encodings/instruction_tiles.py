"""Tiles of instructions over registers, lanes and tensor memory, as data.

A tile is a list of steps: an input, the axis that it goes through, and the extent.  The axes are m,
n and k of the instruction's matrices; encodings map each to a dimension of the tensor.  The page's
scripts read the same data.

Source:
    PTX ISA, "Matrix Fragments" and "tcgen05 data layouts"; AMD matrix instruction calculator;
    Triton, lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp; intel-xpu-backend-for-triton,
    third_party/intel/lib/Dialect/TritonIntelGPU/IR/LinearLayoutConversions.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.releases import Release
from tt_layout.tuples import NamedTuple

FILL = "fill"
"""As many as are left up to the size of the axis."""

WARP = "warp"
"""As many as are left of the lanes of a warp."""

REPEATED = ""
"""The axis of an input that leads nowhere: its bits repeat what is there."""

_INPUTS = ("register", "lane", "row", "col")
MFMA_LANES = 64
MFMA_RUNS = {32: 4, 64: 1}
"""Bits of an element of the result -> ``run`` of `MFMA_RESULT`."""


class Steps(NamedTuple):
    """An input that goes through an axis of a tile, its lowest bit from one element to the next.

    Attributes:
        input: ``register`` or ``lane``; ``row`` or ``col`` of tensor memory.
        axis: its name; earlier steps through it are inside.
        extent: positions of the input; or FILL, WARP, the name of a size.
    """

    input: str
    axis: str
    extent: int | str


Tile = tuple[Steps, ...]


def tile_layout(tile: Tile, axes: Mapping[str, int], sizes: Mapping[str, int]) -> LinearLayout:
    """Return the layout of a tile.

    Args:
        tile: its steps.
        axes: axis -> the tensor's dimension.  Of several along one dimension the first is
            innermost; an axis that is left out is repeated.
        sizes: axis -> its size, if it is filled; WARP -> lanes of a warp; and the sizes that
            steps name.

    Example:
        >>> rows = Steps("register", "n", 2), Steps("lane", "n", FILL), Steps("lane", "m", WARP)
        >>> tile_layout(rows, {"m": 0, "n": 1}, {"n": 8, WARP: 32}).bases
        [('register', [[0, 1]]), ('lane', [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]])]
    """
    walked: dict[str, list[tuple[str, int]]] = {steps.input: [] for steps in tile}
    spans = dict.fromkeys([*axes, *(steps.axis for steps in tile)], 1)
    for name, axis, extent in tile:
        if extent == FILL:
            size = sizes[axis] // spans[axis]
        elif extent == WARP:
            size = sizes[WARP] >> len(walked[name])
        else:
            size = sizes[extent] if isinstance(extent, str) else extent
        bits = range(log2(max(1, size)))
        walked[name] += [(axis, spans[axis] << bit) for bit in bits]
        spans[axis] <<= len(bits)
    dims = list(dict.fromkeys(axes.values()))
    totals = dict.fromkeys(dims, 1)
    scales: dict[str, int] = {}
    for axis, dim in axes.items():
        scales[axis] = totals[dim]
        totals[dim] *= spans[axis]

    def vector(axis: str, step: int) -> tuple[int, ...]:
        return tuple(step * scales[axis] if axes.get(axis) == dim else 0 for dim in dims)

    names = sorted(walked, key=_INPUTS.index)
    bases = tuple((name, tuple(vector(*step) for step in walked[name])) for name in names)
    return LinearLayout(bases, tuple((f"dim{dim}", size) for dim, size in totals.items()))


def _tile(*steps: tuple[str, str, int | str]) -> Tile:
    return tuple(Steps(*step) for step in steps)


MMA_RESULT = _tile(
    ("register", "n", 2),
    ("lane", "n", "lanes"),
    ("lane", "m", 8),
    ("register", "m", FILL),
    ("register", "n", FILL),
)
"""Of mma.sync and wgmma; 4 ``lanes`` along n."""

MMA_OPERANDS = (
    _tile(
        ("register", "k", "width"),
        ("lane", "k", 4),
        ("lane", "m", 8),
        ("register", "m", FILL),
        ("register", "k", 2),
    ),
    _tile(("register", "k", "width"), ("lane", "k", 4), ("lane", "n", 8), ("register", "k", 2)),
)
"""A and B of mma.sync and A of wgmma; ``width`` elements side by side."""

MMA_OPERANDS_OF_8_ROWS = (
    _tile(("register", "k", "width"), ("lane", "k", 4), ("lane", "m", 8)),
    _tile(("register", "k", "width"), ("lane", "k", 4), ("lane", "n", 8)),
)
"""A and B of m8n8k4, of doubles."""

VOLTA_RESULT = _tile(
    ("lane", "m", 2),
    ("register", "m", "rows"),
    ("register", "n", 2),
    ("lane", "n", 2),
    ("lane", "m", 2),
    ("lane", "outer n", 2),
    ("lane", "m", 2),
    ("register", "outer n", 2),
    ("register", "mid n", "columns"),
)
"""Of mma.m8n8k4; ``mid n`` lies between n and outer n."""

VOLTA_READS = tuple(
    (2 if flags & 0b0101 else 4, 2 if flags & 0b0010 and not flags & 0b1000 else 1)
    for flags in range(16)
)
"""How A and B are read, the flags of versionMinor -> ``rows`` and ``columns`` of `VOLTA_RESULT`."""

MFMA_INSTRUCTIONS = {
    (32, 32): Release.V3_0,
    (16, 16): Release.V3_0,
    (64, 4): Release.V3_5,
    (4, 64): Release.V3_5,
}
"""M and N of a result -> the first release that takes it."""


MFMA_RESULT = _tile(
    ("register", "along", "run"),
    ("lane", "across", FILL),
    ("lane", "along", WARP),
    ("register", "along", FILL),
)
"""``along`` is m; n where the result is transposed."""

MFMA_OPERAND = _tile(("register", "k", "width"), ("lane", "other", FILL), ("lane", "k", WARP))
MFMA_LONG_OPERAND = (*MFMA_OPERAND, Steps("register", "k", 16))
"""That of 64 rows of 64x4, and of 64 columns of 4x64."""

WMMA_INSTRUCTIONS = {
    1: {(16, 16, 16): Release.V3_0},
    2: {(16, 16, 16): Release.V3_2, (16, 16, 32): Release.V3_6},
    3: {
        (16, 16, 4): Release.V3_6,
        (16, 16, 32): Release.V3_6,
        (16, 16, 64): Release.V3_6,
        (16, 16, 128): Release.V3_6,
        (32, 16, 64): Release.V3_8,
        (32, 16, 128): Release.V3_8,
    },
}
"""Version -> the instruction shapes [M, N, K] that it has -> the first release that takes them."""

_WMMA_RESULT = _tile(
    ("register", "m", 8), ("lane", "n", 16), ("lane", "m", 2), ("register", "m", FILL)
)
WMMA_RESULTS = {
    1: _tile(("lane", "n", 16), ("lane", "m", 2), ("register", "m", FILL)),
    2: _WMMA_RESULT,
    3: _WMMA_RESULT,
}
_WMMA_OPERAND = _tile(
    ("register", "k", "width"),
    ("lane", "other", 16),
    ("lane", "k", 2),
    ("register", "k", FILL),
    ("register", "other", FILL),
)
WMMA_OPERANDS = {
    1: _tile(("register", "k", "width"), ("lane", "other", 16), ("lane", REPEATED, 2)),
    2: _WMMA_OPERAND,
    3: _WMMA_OPERAND,
}

DPAS_RESULT = _tile(("lane", "n", FILL), ("lane", "m", WARP), ("register", "m", FILL))
DPAS_OPERANDS = (
    _tile(
        ("register", "k", "packed"),
        ("lane", "k", FILL),
        ("lane", "m", WARP),
        ("register", "m", FILL),
    ),
    _tile(
        ("register", "k", "channel"),
        ("lane", "n", FILL),
        ("lane", "k", WARP),
        ("register", "k", FILL),
    ),
)
"""Of Intel's XMX: a lane holds the ``channel`` elements of a channel of B, and of A those that are
``packed`` into 16 bits."""

DPAS_SCALES = {
    op_idx: _tile(("register", "k", "packed"), ("lane", axis, FILL), ("lane", REPEATED, WARP))
    for op_idx, axis in {3: "m", 4: "n"}.items()
}
"""Operand -> its scales: 3 those of A, 4 those of B."""

BLOCK_LOAD = _tile(
    ("register", "column", "packed"),
    ("lane", "column", FILL),
    ("lane", "row", WARP),
    ("register", "row", FILL),
)
"""A block of Intel's 2D block loads."""

_STRIDE = Steps("col", REPEATED, "stride")
_GAP = Steps("col", REPEATED, "gap")
_ROWS = Steps("row", "m", FILL)
_COLUMNS = Steps("col", "n", FILL)
TENSOR_MEMORY = {
    "whole": (_STRIDE, _ROWS, _GAP, _COLUMNS),
    "halved": (
        _STRIDE,
        Steps("row", "m", 16),
        _GAP,
        _COLUMNS,
        Steps("row", "next", 2),
        Steps("row", "m", 4),
    ),
    "twocta_lhs": (_STRIDE, _ROWS, _GAP, _COLUMNS, Steps("row", REPEATED, 2)),
    "twocta_rhs": (_ROWS, Steps("col", "n", "half"), Steps("row", "n", 2)),
}
"""Tiles of tensor memory: ``stride`` columns to an element; 2 of ``gap`` in padded fp4.

Of ``halved``, 64 rows on one CTA, rows 16 to 31 of each slice hold the ``next`` tile.
"""

SCALES = _tile(("row", "m", 32), ("row", REPEATED, 4), ("col", "k", 4), ("col", "m", 2))
"""64 x 4 scales, stored in all four slices."""
