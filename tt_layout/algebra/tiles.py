"""Building blocks of layouts: identity and broadcast tiles, and their fit to a shape.

Names are those of Triton's own helpers where it has them.

Source:
    Triton, lib/Tools/LayoutUtils.cpp and
    lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from tt_layout.algebra.linear_layout import Basis, LinearLayout, along, log2


def dim_names(rank: int) -> list[str]:
    """Return ``dim0, dim1, ...``.

    Example:
        >>> dim_names(2)
        ['dim0', 'dim1']
    """
    return [f"dim{d}" for d in range(rank)]


def row_major(rank: int) -> list[int]:
    """Return the order in which the last dimension is the fastest.

    Example:
        >>> row_major(3)
        [2, 1, 0]
    """
    return list(range(rank - 1, -1, -1))


def step_along(rank: int, dim: int, size: int) -> Basis:
    """Return the basis vector of a step along one dimension.

    Example:
        >>> step_along(3, 1, 8)
        (0, 8, 0)
    """
    return tuple(size if d == dim else 0 for d in range(rank))


def identity(size: int, in_dim: str, dim: int) -> LinearLayout:
    """Return the identity from ``in_dim`` to tensor dimension ``dim``."""
    return LinearLayout.identity_1d(size, in_dim, f"dim{dim}")


def zeros(size: int, in_dim: str, dim: int) -> LinearLayout:
    """Return ``size`` inputs that all map to 0 in tensor dimension ``dim``."""
    return LinearLayout.zeros_1d(size, in_dim, f"dim{dim}")


def product(factors: Sequence[LinearLayout]) -> LinearLayout:
    """Return the product of layouts, the first one innermost."""
    result = LinearLayout.empty()
    for factor in factors:
        result = result * factor
    return result


def identity_nd(in_dim: str, sizes: Sequence[int], order: Sequence[int]) -> LinearLayout:
    """Return a tile of ``sizes`` that ``in_dim`` walks through in ``order``.

    Example:
        >>> identity_nd("lane", [2, 4], order=[1, 0]).bases
        [('lane', [[1, 0], [2, 0], [0, 1]])]
    """
    return _identity_nd(in_dim, tuple(sizes), tuple(order))


@lru_cache(maxsize=1024)
def _identity_nd(in_dim: str, sizes: tuple[int, ...], order: tuple[int, ...]) -> LinearLayout:
    return product([identity(sizes[d], in_dim, d) for d in order])


def broadcast_nd(
    in_dim: str, sizes: Sequence[int], order: Sequence[int], broadcast_dim: int
) -> LinearLayout:
    """Return the tile of `identity_nd` with one dimension broadcast."""
    return product(
        [(zeros if d == broadcast_dim else identity)(sizes[d], in_dim, d) for d in order]
    )


def ensure_layout_not_smaller_than(layout: LinearLayout, shape: Mapping[str, int]) -> LinearLayout:
    """Grow a layout to a shape by repeating its first input dimension, dimension by dimension.

    Example:
        >>> tile = LinearLayout.identity_1d(2, "register", "dim0")
        >>> ensure_layout_not_smaller_than(tile, {"dim0": 8}).bases
        [('register', [[1], [2], [4]])]
    """
    repeats: list[Basis] = []
    rank = len(layout.out_sizes)
    for at, (name, size) in enumerate(layout.out_sizes):
        bits = range(log2(size), log2(shape[name]))
        repeats += [along(1 << bit, at, rank) for bit in bits]
    if not repeats:
        return layout
    (first, vectors), *others = layout.in_bases
    sizes = tuple([(name, max(size, shape[name])) for name, size in layout.out_sizes])
    return LinearLayout._sound(((first, (*vectors, *repeats)), *others), sizes)


def ensure_layout_not_larger_than(
    layout: LinearLayout, shape: Mapping[str, int], *, drop_registers: bool = False
) -> LinearLayout:
    """Clip a layout to a shape: bases beyond it become 0, which replicates elements.

    Args:
        layout: any layout.
        shape: the largest size of each output dimension.
        drop_registers: remove such register bases altogether.

    Example:
        >>> tile = LinearLayout.identity_1d(8, "lane", "dim0")
        >>> ensure_layout_not_larger_than(tile, {"dim0": 2}).bases
        [('lane', [[1], [0], [0]])]
    """
    if all(size <= shape[dim] for dim, size in layout.out_sizes):
        return layout
    bases = [(name, list(vectors)) for name, vectors in layout.in_bases]
    sizes = dict(layout.out_sizes)
    for at, (dim, size) in enumerate(layout.out_sizes):
        present = {vector[at] for _, vectors in bases for vector in vectors if vector[at]}
        dropped = (size // min(size, shape[dim])).bit_length() - 1
        clipped = set(sorted(present, reverse=True)[:dropped])
        bases = [(n, _clip(n, vs, at, clipped, drop_registers)) for n, vs in bases]
        sizes[dim] = min(size, shape[dim])
    return LinearLayout._sound(tuple((n, tuple(vs)) for n, vs in bases), tuple(sizes.items()))


def _clip(
    name: str, vectors: Sequence[Basis], at: int, clipped: set[int], drop_registers: bool
) -> list[Basis]:
    if drop_registers and name == "register":
        return [vector for vector in vectors if vector[at] not in clipped]
    return [
        (*vector[:at], 0, *vector[at + 1 :]) if vector[at] in clipped else vector
        for vector in vectors
    ]


def combine_cta_cga_with_shape(
    cta: LinearLayout,
    cga: LinearLayout,
    shape: Sequence[int],
    order: Sequence[int],
    *,
    drop_registers: bool = False,
) -> LinearLayout:
    """Tile a tensor with the layout of one CTA, and arrange the CTAs of a cluster around it.

    Args:
        cta: the tile, without the input ``block``.
        cga: the layout from ``block`` to the tensor's dimensions.
        shape: the tensor's sizes.
        order: dimensions in which the tile repeats, the fastest first.
        drop_registers: see `ensure_layout_not_larger_than`.

    Returns:
        The layout of the whole tensor, output dimensions in their natural order.
    """
    names = dim_names(len(shape))
    sizes = dict(zip(names, shape))
    clipped = ensure_layout_not_larger_than(cga._in_order(names), sizes)
    per_cta = {n: max(1, sizes[n] // clipped.get_out_dim_size(n)) for n in names}
    tile = cta._in_order([f"dim{d}" for d in order])
    tile = ensure_layout_not_smaller_than(tile, per_cta)
    tile = ensure_layout_not_larger_than(tile, per_cta, drop_registers=drop_registers)
    return (tile * clipped)._in_order(names)
