"""Operations that rearrange tensors, on whole arrays.

An array has the shape of its tensor.  What the compiler leaves to the layouts (`tt.cat`, a
reshape that may reorder) is done as its lowering does it: registers stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tt_layout.algebra.arrays import Ints, all_values
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.global_memory.sectors import flat_bases
from tt_layout.audit.values.arithmetic import UndefinedError


def splat(value: Ints, shape: Sequence[int]) -> Ints:
    """Return a tensor that holds one number everywhere."""
    return np.broadcast_to(value.reshape(()), tuple(shape))


def broadcast(values: Ints, shape: Sequence[int]) -> Ints:
    """Return a tensor whose dimensions of size 1 are repeated."""
    return np.broadcast_to(values, tuple(shape))


def reshape(values: Ints, shape: Sequence[int]) -> Ints:
    """Return a tensor of another shape with its elements in the same row-major order."""
    return values.reshape(tuple(shape))


def join(values: Sequence[Ints]) -> Ints:
    """Return a tensor with the operands side by side along a new last dimension."""
    return np.stack(list(values), axis=-1)


def split(values: Ints, index: int) -> Ints:
    """Return one half of a tensor whose last dimension has two elements."""
    half: Ints = values[..., index]
    return half


def gather(values: Ints, indices: Ints, axis: int) -> Ints:
    """Return the elements at these indices along a dimension.

    Raises:
        UndefinedError: an index is outside of the dimension.
    """
    if ((indices < 0) | (indices >= values.shape[axis])).any():
        raise UndefinedError(f"an index outside of the {values.shape[axis]} elements gathered")
    gathered_values: Ints = np.take_along_axis(values, indices, axis)
    return gathered_values


def extract(values: Ints, offsets: Sequence[int], shape: Sequence[int]) -> Ints:
    """Return the part of a tensor that begins at these offsets."""
    part: Ints = values[tuple(slice(o, o + size) for o, size in zip(offsets, shape))]
    if part.shape != tuple(shape):
        raise UndefinedError("a slice that reaches beyond the tensor")
    return part


def concatenate(parts: Sequence[Ints], shape: Sequence[int]) -> Ints:
    """Return a tensor that the operands tile, the last dimension first.

    Example:
        >>> a, b = np.zeros((1, 2), int), np.ones((1, 2), int)
        >>> concatenate([a, b], (1, 4)).tolist(), concatenate([a, b], (2, 2)).tolist()
        ([[0, 0, 1, 1]], [[0, 0], [1, 1]])
    """
    size = parts[0].shape
    grid = tuple(joined // extent for joined, extent in zip(shape, size))
    tiles = np.stack(list(parts)).reshape(*grid, *size)
    rank = len(size)
    order = [axis for pair in zip(range(rank), range(rank, 2 * rank)) for axis in pair]
    joined: Ints = tiles.transpose(order).reshape(tuple(shape))
    return joined


def by_register(
    parts: Sequence[Ints],
    layouts: Sequence[LinearLayout],
    result: LinearLayout,
    shape: Sequence[int],
) -> Ints:
    """Return the tensor whose registers are those of the operands, one operand after another.

    Args:
        parts: the operands.
        layouts: their layouts.
        result: the layout of the result.
        shape: its shape.

    Raises:
        UndefinedError: there are more or fewer registers than the result has.
    """
    values = [part.reshape(-1)[_elements(layout)] for part, layout in zip(parts, layouts)]
    registers = np.concatenate(values, axis=-1)
    places = _elements(result)
    if registers.shape != places.shape:
        raise UndefinedError("registers that do not fit the layout of the result")
    numbers = np.zeros(int(np.prod(shape)), np.int64)
    numbers[places.reshape(-1)] = registers.reshape(-1)
    return numbers.reshape(tuple(shape))


def _elements(layout: LinearLayout) -> Ints:
    """Return the element of each place, of shape ``[lanes, warps, blocks, registers]``."""
    bits = [flat_bases(layout, dim) for dim in ("lane", "warp", "block", "register")]
    lane, warp, block, register = (all_values(basis) for basis in bits)
    return lane[:, None, None, None] ^ warp[:, None, None] ^ block[:, None] ^ register
