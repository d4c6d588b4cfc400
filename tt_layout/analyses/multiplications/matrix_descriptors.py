"""Descriptors by which matrix instructions read shared memory.

``wgmma`` and ``tcgen05.mma`` take a matrix as tiles of 8 rows of 16 bytes times the swizzle, the
*core matrices*.  A descriptor contains how wide they are swizzled, and how many bytes are between
neighbours: the *leading* offset along the rows of a core matrix, the *stride* offset across them.
A layout of shared memory can be read when it begins with a core matrix, in one of two directions,
and repeats it evenly over what one instruction takes.

Source:
    PTX ISA, "matrix descriptor"; Triton,
    third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/DotOpToLLVM/MMAHelpers.h, getDescriptor, and
    getNvmmaSmemAttrs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.errors import LayoutError

SWIZZLES = (0, 32, 64, 128)
CORE_BYTES = 16  # of a row that is not swizzled

Strides = Mapping[int, tuple[int, ...]]
"""Dimension -> offsets of single bits of its coordinate, in elements."""


@dataclass(frozen=True, kw_only=True)
class Descriptor:
    """Descriptor of a matrix in shared memory.

    Attributes:
        swizzle_bytes: 0, 32, 64 or 128.
        leading_bytes: from one core matrix to the next along its rows; 0 where there is no next.
        stride_bytes: and across its rows.
        transposed: whether dimension 0 is the one along the rows of a core matrix.
    """

    swizzle_bytes: int
    leading_bytes: int
    stride_bytes: int
    transposed: bool


@lru_cache(maxsize=1024)
def matrix_descriptor(
    shared: LinearLayout, element_bits: int, tile: tuple[int, int], *, outer_dim: int
) -> Descriptor:
    """Return the descriptor of a matrix in shared memory.

    Args:
        shared: where the matrix is; of a part of a buffer the whole buffer.
        element_bits: width of an element.
        tile: rows and columns that one instruction takes.
        outer_dim: the dimension along M or N: 0 of A, 1 of B.

    Raises:
        LayoutError: no descriptor expresses the layout, or the tile does not fit it.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> text = ("#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, "
        ...     "elementBitWidth = 16}>")
        >>> shared = parse_layout(text).to_linear_layout([128, 64])
        >>> matrix_descriptor(shared, 16, (64, 16), outer_dim=0)
        Descriptor(swizzle_bytes=128, leading_bytes=0, stride_bytes=1024, transposed=False)
    """
    strides = _strides(shared)
    for dim in (0, 1):
        if tile[dim] > 1 << len(strides[dim]):
            sizes = " x ".join(str(1 << len(strides[d])) for d in (0, 1))
            raise LayoutError(
                f"one instruction takes {tile[0]} x {tile[1]} elements, but the buffer has {sizes}"
            )
    for swizzle, transposed, core in _cores(element_bits):
        if _begins_with(strides, core):
            return _descriptor(strides, core, element_bits, tile, outer_dim, (swizzle, transposed))
    raise LayoutError(
        "no descriptor expresses the layout: it must begin with 8 rows of 16, 32, 64 or 128 bytes, "
        "swizzled as nvmma_shared swizzles them"
    )


def _strides(shared: LinearLayout) -> Strides:
    """Return the offsets of single bits of both coordinates.

    Raises:
        LayoutError: the layout is not of a matrix in the memory of one CTA.
    """
    if "offset" not in shared.get_in_dim_names() or shared.num_out_dims != 2:
        raise LayoutError("a descriptor is for a matrix in shared memory")
    inverse = shared.pseudoinvert()
    at = inverse.get_out_dim_names().index("offset")
    names = inverse.get_in_dim_names()
    return {d: tuple(vector[at] for vector in inverse.vectors(names[d])) for d in (0, 1)}


def _cores(element_bits: int) -> Iterator[tuple[int, bool, Strides]]:
    """Yield the core matrices as swizzle, transposition and offsets, in the order of trying."""
    for padded, swizzle, transposed in product((False, True), SWIZZLES, (False, True)):
        rows, columns = _core(swizzle, max(8, element_bits), padded)
        if element_bits == 4:
            rows, columns = tuple(2 * r for r in rows), (1, *(2 * c for c in columns))
        yield swizzle, transposed, {0: columns, 1: rows} if transposed else {0: rows, 1: columns}


def _core(swizzle: int, bits: int, padded: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the offsets of single bits of row and column of a core matrix.

    Args:
        swizzle: bytes of a row; 0 for 16 that are not swizzled.
        bits: width of an element.
        padded: whether each 8 of 16 columns stay empty, for packed fp4; tried for all widths.
    """
    width = 8 * max(CORE_BYTES, swizzle) // bits
    vector, phase_rows = 128 // bits, 128 // max(CORE_BYTES, swizzle)
    phases = max(1, swizzle // CORE_BYTES)
    offsets = [(0, 1 << bit) for bit in range(log2(width))]
    offsets += [(row, vector * (row // phase_rows % phases)) for row in (1, 2, 4)]
    if padded:
        offsets = [(row, column // 16 * 8 + column % 8) for row, column in offsets]
    layout = LinearLayout.from_bases([("offset", offsets)], ["dim0", "dim1"])
    inverse = layout.pseudoinvert()
    rows, columns = (tuple(v[0] for v in inverse.vectors(name)) for name in ("dim0", "dim1"))
    return rows, columns


def _begins_with(strides: Strides, core: Strides) -> bool:
    """Return whether the first bits of both coordinates match a tile that no other bit enters."""
    mask = 0
    for offset in (*core[0], *core[1]):
        mask |= offset
    return all(
        strides[d][: len(core[d])] == core[d]
        and not any(o & mask for o in strides[d][len(core[d]) :])
        for d in (0, 1)
    )


def _descriptor(
    strides: Strides,
    core: Strides,
    bits: int,
    tile: tuple[int, int],
    outer_dim: int,
    mode: tuple[int, bool],
) -> Descriptor:
    swizzle, transposed = mode
    leading = 0 if transposed else 1
    if not swizzle and (outer_dim == 0) == transposed:
        leading = 1 - leading  # as the hardware has it without a swizzle
    grown = dict(core)
    for d in (0, 1):
        steps = range(log2(tile[d]) - len(core[d]))
        grown[d] = (*core[d], *(_next(strides, core, d, tile) << step for step in steps))
    if not _begins_with(strides, grown):
        raise LayoutError(
            "no descriptor expresses the layout: core matrices must follow each other evenly over "
            f"the {tile[0]} x {tile[1]} elements of one instruction"
        )
    return Descriptor(
        swizzle_bytes=swizzle,
        leading_bytes=_next(strides, core, leading, tile) * bits // 8,
        stride_bytes=_next(strides, core, 1 - leading, tile) * bits // 8,
        transposed=transposed,
    )


def _next(strides: Strides, core: Strides, dim: int, tile: tuple[int, int]) -> int:
    """Return the offset of the next core matrix along a dimension; 0 without one."""
    bits = len(core[dim])
    return strides[dim][bits] if log2(tile[dim]) > bits else 0
