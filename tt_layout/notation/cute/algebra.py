"""CuTe's algebra: layouts of any integers, and the functions that make layouts of layouts.

A layout is a function from coordinates to integers: nested sizes, and a stride for each of them.
A coordinate is a number, which counts through all sizes with the first the fastest, or a tuple of
them.  What is written ``(4,(2,3)):(6,(1,2))`` is ``Layout((4, (2, 3)), (6, (1, 2)))`` here.

Sources:
    CUTLASS, media/docs/cpp/cute/01_layout.md and 02_layout_algebra.md: the definitions.
    CUTLASS, include/cute/layout.hpp: what is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import prod
from typing import Union

from tt_layout.errors import LayoutError
from tt_layout.notation.cute.text import NOT_NEGATIVE
from tt_layout.records import dataclass

Nested = Union[int, "tuple[Nested, ...]"]
"""An integer, or a tuple of such."""

MAX_DEPTH = 64
"""Brackets in brackets."""

MAX_MODES = 512
"""Sizes of a layout, all brackets counted, so that no expression takes long."""


@dataclass(frozen=True)
class Layout:
    """Nested sizes with a stride for each.

    Attributes:
        shape: the sizes, each at least 1.
        stride: as nested as the shape.

    Raises:
        LayoutError: shape and stride are nested in different ways, a size is below 1, or a stride
            below 0.

    Example:
        >>> layout = Layout((4, (2, 3)), (6, (1, 2)))
        >>> str(layout), layout(5), layout((1, (1, 0)))
        ('(4,(2,3)):(6,(1,2))', 7, 7)
    """

    shape: Nested
    stride: Nested

    def __post_init__(self) -> None:
        _check_congruent(self.shape, self.stride)
        if any(size < 1 for size in leaves(self.shape)):
            raise LayoutError(f"the sizes of a layout are at least 1, got {written(self.shape)}")
        if any(stride < 0 for stride in leaves(self.stride)):
            raise LayoutError(f"{NOT_NEGATIVE}, got {written(self.stride)}")

    def __str__(self) -> str:
        return f"{written(self.shape)}:{written(self.stride)}"

    def __call__(self, coordinate: Nested) -> int:
        """Return the integer at a coordinate."""
        return _index(coordinate, self.shape, self.stride)

    @property
    def modes(self) -> tuple[Layout, ...]:
        """The layouts of the top level; of one without brackets the layout itself."""
        if isinstance(self.shape, int) or isinstance(self.stride, int):
            return (self,)
        return tuple(map(Layout, self.shape, self.stride))

    @property
    def flat(self) -> list[tuple[int, int]]:
        """Its sizes with their strides, all on one level."""
        return [*zip(leaves(self.shape), leaves(self.stride))]

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return prod(leaves(self.shape))

    @property
    def cosize(self) -> int:
        """One more than the largest integer that the layout leads to."""
        return 1 + sum((size - 1) * stride for size, stride in self.flat)


Tiler = Union[int, None, Layout, "tuple[Tiler, ...]"]
"""What composes or divides: a layout, a size for one with stride 1, a tuple of them for each mode,
or None for nothing."""


def leaves(nested: Nested) -> Iterator[int]:
    """Yield the integers of nested tuples."""
    if isinstance(nested, int):
        yield nested
    else:
        for entry in nested:
            yield from leaves(entry)


def written(nested: Nested) -> str:
    """Return nested integers as CuTe writes them.

    Example:
        >>> written((4, (2, 3))), written(8), written((8,))
        ('(4,(2,3))', '8', '(8)')
    """
    return str(nested) if isinstance(nested, int) else f"({','.join(map(written, nested))})"


def compact(shape: Nested, order: Sequence[int] | None = None) -> Layout:
    """Return the layout of a shape without gaps.

    Args:
        shape: nested sizes.
        order: which of the top-level modes comes first, second, ..; the first by default.

    Raises:
        LayoutError: the order has another number of modes, or there are more than `MAX_MODES`.

    Example:
        >>> str(compact((4, (2, 3)))), str(compact((4, 8), order=(1, 0)))
        ('(4,(2,3)):(1,(4,8))', '(4,8):(8,1)')
    """
    if next(islice(leaves(shape), MAX_MODES, None), None) is not None:
        raise LayoutError(f"a layout has at most {MAX_MODES} sizes here")
    if order is None:
        return _compact_from(shape, 1)[0]
    modes = shape if isinstance(shape, tuple) else (shape,)
    if len(order) != len(modes):
        raise LayoutError(f"the order {written(tuple(order))} is not for {len(modes)} modes")
    made: dict[int, Layout] = {}
    step = 1
    for k in sorted(range(len(modes)), key=lambda mode: order[mode]):
        made[k], step = _compact_from(modes[k], step)
    return joined(made[k] for k in range(len(modes)))


def _compact_from(shape: Nested, step: int) -> tuple[Layout, int]:
    """Return the layout without gaps whose first stride is given, and the stride behind it."""
    if isinstance(shape, int):
        return Layout(shape, step if shape > 1 else 0), step * shape
    strides: list[Nested] = []
    for entry in shape:
        made, step = _compact_from(entry, step)
        strides.append(made.stride)
    return Layout(shape, tuple(strides)), step


def joined(modes: Iterable[Layout]) -> Layout:
    """Return the layout with these modes."""
    entries = tuple(modes)
    return Layout(tuple(entry.shape for entry in entries), tuple(entry.stride for entry in entries))


def _of_modes(modes: Sequence[tuple[int, int]]) -> Layout:
    """Return the layout of flat modes; without brackets where there is one, ``1:0`` for none."""
    if len(modes) < 2:
        return Layout(*modes[0]) if modes else Layout(1, 0)
    return joined(Layout(*mode) for mode in modes)


def _check_congruent(shape: Nested, stride: Nested, depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        raise LayoutError(f"a layout has at most {MAX_DEPTH} brackets in brackets")
    if isinstance(shape, int) and isinstance(stride, int):
        return
    if isinstance(shape, int) or isinstance(stride, int) or len(shape) != len(stride):
        message = f"shape {written(shape)} and stride {written(stride)} are nested differently"
        raise LayoutError(message)
    for size, step in zip(shape, stride):
        _check_congruent(size, step, depth + 1)


def _index(coordinate: Nested, shape: Nested, stride: Nested) -> int:
    """Return the integer at a coordinate; a number counts through all sizes."""
    if isinstance(shape, int) or isinstance(stride, int):
        if isinstance(coordinate, tuple) or isinstance(stride, tuple):
            raise LayoutError(f"the coordinate {written(coordinate)} is not for {written(shape)}")
        return coordinate * stride
    if isinstance(coordinate, tuple):
        if len(coordinate) != len(shape):
            raise LayoutError(f"the coordinate {written(coordinate)} is not for {written(shape)}")
        return sum(map(_index, coordinate, shape, stride))
    total = 0
    for k, (size, step) in enumerate(zip(shape, stride)):
        count = prod(leaves(size))
        is_last = k == len(shape) - 1
        total += _index(coordinate if is_last else coordinate % count, size, step)
        coordinate //= count
    return total


# -- simpler layouts of the same function -------------------------------------------------------


def coalesce(layout: Layout, profile: Tiler = None) -> Layout:
    """Return the layout with the fewest modes that is the same function of numbers.

    Args:
        layout: any.
        profile: a tuple to coalesce within its modes only.

    Example:
        >>> str(coalesce(Layout((2, (1, 6)), (1, (6, 2))))), str(coalesce(Layout((2, 4), (4, 1))))
        ('12:1', '(2,4):(4,1)')
    """
    if isinstance(profile, tuple):
        return _by_mode(coalesce, layout, profile)
    modes: list[tuple[int, int]] = []
    for size, stride in layout.flat:
        if size == 1:
            continue
        if modes and modes[-1][0] * modes[-1][1] == stride:
            modes[-1] = modes[-1][0] * size, modes[-1][1]
        else:
            modes.append((size, stride))
    return _of_modes(modes)


def filtered(layout: Layout, profile: Tiler = None) -> Layout:
    """Return a layout without the modes of stride 0 and size 1, coalesced: CuTe's ``filter``.

    Example:
        >>> str(filtered(Layout((2, 4, 3), (1, 0, 2))))
        '6:1'
    """
    if isinstance(profile, tuple):
        return _by_mode(filtered, layout, profile)
    return coalesce(_of_modes([(size, stride) for size, stride in layout.flat if stride]))


def flattened(layout: Layout) -> Layout:
    """Return a layout with all sizes on one level.

    Example:
        >>> str(flattened(Layout((4, (2, 3)), (6, (3, 1)))))
        '(4,2,3):(6,3,1)'
    """
    return _of_modes(layout.flat)


def without_zeros(layout: Layout) -> Layout:
    """Return a layout whose sizes of stride 0 are 1: CuTe's ``filter_zeros``.

    Example:
        >>> str(without_zeros(Layout((4, (8, 2)), (0, (1, 0)))))
        '(1,(8,1)):(0,(1,0))'
    """

    def filled(shape: Nested, stride: Nested) -> Nested:
        if isinstance(shape, tuple) and isinstance(stride, tuple):
            return tuple(map(filled, shape, stride))
        return shape if stride else 1

    return Layout(filled(layout.shape, layout.stride), layout.stride)


def _by_mode(
    function: Callable[[Layout, Tiler], Layout], layout: Layout, tiler: tuple[Tiler, ...]
) -> Layout:
    """Apply a function to each mode with its part of a tiler; further modes stay."""
    modes = layout.modes
    if len(tiler) > len(modes):
        raise LayoutError(f"{len(tiler)} tilers are too many for {layout}")
    made = [function(mode, part) for mode, part in zip(modes, tiler)]
    return joined([*made, *modes[len(tiler) :]])


# -- composition and what follows from it -------------------------------------------------------


def composition(outer: Layout, inner: Tiler) -> Layout:
    """Return the function ``i -> outer(inner(i))`` as a layout, as nested as the inner one.

    Raises:
        LayoutError: no layout is that function, because sizes and strides do not divide.

    Example:
        >>> str(composition(Layout((6, 2), (8, 2)), Layout((4, 3), (3, 1))))
        '((2,2),3):((24,2),8)'
    """
    if inner is None:
        return outer
    if isinstance(inner, tuple):
        return _by_mode(composition, outer, inner)
    if isinstance(inner, int):
        inner = compact(inner)
    if isinstance(inner.shape, tuple):
        return joined(composition(outer, mode) for mode in inner.modes)
    [(size, stride)] = inner.flat
    if stride == 0:
        return Layout(size, 0)
    return _of_modes(_picked(coalesce(outer), size, stride, f"{outer} o {inner}"))


def _picked(outer: Layout, size: int, stride: int, what: str) -> list[tuple[int, int]]:
    """Return the modes of a coalesced layout at the first ``size`` multiples of a stride."""
    *modes, last = outer.flat
    result: list[tuple[int, int]] = []
    step, rest = stride, size
    for mode_size, mode_stride in modes:
        if rest > 1 and mode_size % step and step % mode_size:
            message = f"{what}: stride {step} and size {mode_size} do not divide each other"
            raise LayoutError(message)
        taken = min(max(1, mode_size // step), rest)
        if rest % taken:
            raise LayoutError(f"{what}: size {rest} is not divided by {taken}")
        if taken > 1:
            result.append((taken, step * mode_stride))
        rest //= taken
        step = -(-step // mode_size)
    if rest > 1 or not result:
        result.append((rest, step * last[1]))
    return result


def complement(layout: Tiler, cosize: int = 1) -> Layout:
    """Return the layout of the integers that a layout leaves out, up to a cosize.

    Raises:
        LayoutError: the layout leads to an integer twice.

    Example:
        >>> str(complement(Layout(4, 2), 24)), str(complement(Layout((2, 2), (1, 6)), 24))
        ('(2,3):(1,8)', '(3,2):(2,12)')
    """
    layout = as_layout(layout)
    result: list[tuple[int, int]] = []
    end = 1
    for stride, size in sorted((stride, size) for size, stride in layout.flat):
        if stride == 0 or size == 1:
            continue
        if stride < end:
            raise LayoutError(f"{layout} has no complement: it leads to an integer twice")
        result.append((stride // end, end))
        end = size * stride
    result.append((-(-cosize // end), end))
    return coalesce(_of_modes(result))


def right_inverse(layout: Tiler) -> Layout:
    """Return the longest layout with ``layout(inverse(i)) == i``.

    Example:
        >>> str(right_inverse(Layout((4, 8), (8, 1))))
        '(8,4):(4,1)'
    """
    layout = as_layout(layout)
    result: list[tuple[int, int]] = []
    steps = [*leaves(compact(tuple(size for size, _ in layout.flat)).stride)]
    by_stride = sorted((stride, size, step) for (size, stride), step in zip(layout.flat, steps))
    end = 1
    for stride, size, step in by_stride:
        if size == 1 or stride == 0:
            continue
        if stride != end:
            break
        result.append((size, step))
        end = size * stride
    return coalesce(_of_modes(result))


def left_inverse(layout: Tiler) -> Layout:
    """Return a layout with ``inverse(layout(i)) == i``.

    Raises:
        LayoutError: there is none: the layout leads to an integer twice, or strides do not divide.

    Example:
        >>> str(left_inverse(Layout((4, 8), (1, 8))))
        '(4,2,8):(1,32,4)'
    """
    layout = as_layout(layout)
    result = right_inverse(joined([layout, complement(layout)]))
    if result.size < layout.cosize:
        raise LayoutError(f"{layout} has no left inverse: its strides do not divide each other")
    return result


def as_layout(tiler: Tiler) -> Layout:
    """Return a tiler that is one layout, or a size, as a layout.

    Raises:
        LayoutError: it is something else.
    """
    if isinstance(tiler, int):
        return compact(tiler)
    if not isinstance(tiler, Layout):
        raise LayoutError("expected one layout, got a tuple or nothing")
    return tiler


# -- divisions ----------------------------------------------------------------------------------


def logical_divide(layout: Layout, tiler: Tiler) -> Layout:
    """Return a layout in tiles: each mode has what is in a tile, and then the tiles.

    Example:
        >>> str(logical_divide(Layout((4, 2, 3), (2, 1, 8)), Layout(4, 2)))
        '((2,2),(2,3)):((4,1),(2,8))'
    """
    if tiler is None:
        return layout
    if isinstance(tiler, tuple):
        return _by_mode(logical_divide, layout, tiler)
    divisor = as_layout(tiler)
    return composition(layout, joined([divisor, complement(divisor, layout.size)]))


def zipped_divide(layout: Layout, tiler: Tiler) -> Layout:
    """Return a layout in tiles: first all that is in a tile, then all tiles.

    Example:
        >>> str(zipped_divide(compact((8, 6)), (4, 3)))
        '((4,3),(2,2)):((1,8),(4,24))'
    """
    return _unzipped(logical_divide, layout, tiler)


def tiled_divide(layout: Layout, tiler: Tiler) -> Layout:
    """Divide as `zipped_divide`, with each mode of the tiles on the top level."""
    return _with_modes_behind(zipped_divide(layout, tiler))


def flat_divide(layout: Layout, tiler: Tiler) -> Layout:
    """Divide as `zipped_divide`, with all modes on the top level."""
    return _with_all_modes(zipped_divide(layout, tiler))


def _with_modes_behind(zipped: Layout) -> Layout:
    """Return a zipped layout with each mode of its second half on the top level."""
    first, rest = zipped.modes
    return joined([first, *rest.modes])


def _with_all_modes(zipped: Layout) -> Layout:
    """Return a zipped layout with each mode of both halves on the top level."""
    first, rest = zipped.modes
    return joined([*first.modes, *rest.modes])


def _unzipped(split: Callable[[Layout, Tiler], Layout], layout: Layout, tiler: Tiler) -> Layout:
    """Return the first parts of all modes that a function splits in two, and then the second."""
    if tiler is None:
        return joined([Layout(1, 0), layout])
    if not isinstance(tiler, tuple):
        return split(layout, tiler)
    modes = layout.modes
    if len(tiler) > len(modes):
        raise LayoutError(f"{len(tiler)} tilers are too many for {layout}")
    parts = [_unzipped(split, mode, part_tiler).modes for mode, part_tiler in zip(modes, tiler)]
    firsts, seconds = ([part[k] for part in parts] for k in (0, 1))
    return joined([joined(firsts), joined([*seconds, *modes[len(tiler) :]])])


# -- products -----------------------------------------------------------------------------------


def logical_product(layout: Layout, tiler: Tiler) -> Layout:
    """Return a layout that is repeated as another says: the layout, and then its copies.

    Example:
        >>> str(logical_product(Layout((2, 2), (4, 1)), Layout(6, 1)))
        '((2,2),(2,3)):((4,1),(2,8))'
    """
    if tiler is None:
        return layout
    if isinstance(tiler, tuple):
        return _by_mode(logical_product, layout, tiler)
    copies = as_layout(tiler)
    free = complement(layout, layout.size * copies.cosize)
    return joined([layout, composition(free, copies)])


def zipped_product(layout: Layout, tiler: Tiler) -> Layout:
    """Return a repeated layout: all modes of the layout, then those of its copies."""
    return _unzipped(logical_product, layout, tiler)


def tiled_product(layout: Layout, tiler: Tiler) -> Layout:
    """Multiply as `zipped_product`, with each mode of the copies on the top level."""
    return _with_modes_behind(zipped_product(layout, tiler))


def flat_product(layout: Layout, tiler: Tiler) -> Layout:
    """Multiply as `zipped_product`, with all modes on the top level."""
    return _with_all_modes(zipped_product(layout, tiler))


def blocked_product(block: Layout, tiler: Layout) -> Layout:
    """Return a block that is repeated along each mode of a tiler, the block the fastest.

    Example:
        >>> str(blocked_product(Layout((2, 5), (5, 1)), Layout((3, 4), (1, 3))))
        '((2,3),(5,4)):((5,10),(1,30))'
    """
    return _interleaved(block, tiler, (0, 1))


def raked_product(block: Layout, tiler: Layout) -> Layout:
    """Return a block that is repeated along each mode of a tiler, the tiler the fastest.

    Example:
        >>> str(raked_product(Layout((2, 5), (5, 1)), Layout((3, 4), (1, 3))))
        '((3,2),(4,5)):((10,5),(30,1))'
    """
    return _interleaved(block, tiler, (1, 0))


def _interleaved(block: Layout, tiler: Layout, order: tuple[int, int]) -> Layout:
    """Return the product with the modes of block and copies in pairs, in an order."""
    rank = max(len(block.modes), len(tiler.modes))
    product = logical_product(padded(block, rank), padded(tiler, rank))
    sides = [entry.modes for entry in product.modes]
    pairs = [joined(pair[k] for k in order) for pair in zip(*sides)]
    return pairs[0] if isinstance(block.shape, int) and rank == 1 else joined(pairs)


def padded(layout: Layout, rank: int) -> Layout:
    """Return a layout with modes of size 1 behind its own, so that it has a rank."""
    modes = layout.modes
    return joined([*modes, *[Layout(1, 0)] * (rank - len(modes))]) if rank > 1 else layout


def tile_to_shape(block: Layout, shape: Nested, order: Sequence[int] | None = None) -> Layout:
    """Return a block that is repeated until it fills a shape.

    Args:
        block: such as an atom of shared memory.
        shape: a size for each mode.
        order: which mode is filled first, second, ..; the first by default.

    Raises:
        LayoutError: the block does not divide the shape.

    Example:
        >>> str(tile_to_shape(Layout((8, 64), (64, 1)), (128, 64)))
        '((8,16),(64,1)):((64,512),(1,0))'
    """
    sizes = [prod(leaves(entry)) for entry in (shape if isinstance(shape, tuple) else (shape,))]
    tile = padded(block, len(sizes))
    modes = [mode.size for mode in tile.modes]
    if len(modes) != len(sizes) or any(size % mode for size, mode in zip(sizes, modes)):
        message = f"the block {written(tuple(modes))} does not divide the shape {written(shape)}"
        raise LayoutError(message)
    counts = tuple(size // mode for size, mode in zip(sizes, modes))
    return blocked_product(tile, compact(counts, order))


# -- parts --------------------------------------------------------------------------------------

Coordinate = Union[int, None, "tuple[Coordinate, ...]"]
"""A coordinate that leaves modes open, as None."""


def sliced(layout: Layout, coordinate: Coordinate) -> tuple[Layout, int]:
    """Return the part of a layout that a coordinate leaves open, and where it begins.

    Raises:
        LayoutError: the coordinate is not for the layout.

    Example:
        >>> part, offset = sliced(Layout((4, 8), (8, 1)), (2, None))
        >>> str(part), offset
        ('(8):(1)', 16)
    """
    modes, offset = _sliced(layout, coordinate)
    if not modes:
        return Layout(1, 0), offset
    return (joined(modes) if isinstance(coordinate, tuple) else modes[0]), offset


def _sliced(layout: Layout, coordinate: Coordinate) -> tuple[list[Layout], int]:
    if coordinate is None:
        return [layout], 0
    if isinstance(coordinate, int):
        return [], layout(coordinate)
    modes = layout.modes
    if len(coordinate) != len(modes):
        raise LayoutError(f"a coordinate of {len(coordinate)} modes is not for {layout}")
    parts = [_sliced(mode, place) for mode, place in zip(modes, coordinate)]
    return [mode for result, _ in parts for mode in result], sum(offset for _, offset in parts)


def local_tile(layout: Layout, tiler: Tiler, coordinate: Coordinate) -> tuple[Layout, int]:
    """Return one tile of a layout, or the tiles that a coordinate leaves open, and the offset.

    Example:
        >>> part, offset = local_tile(compact((8, 6)), (4, 3), (1, 0))
        >>> str(part), offset
        ('(4,3):(1,8)', 4)
    """
    first, rest = zipped_divide(layout, tiler).modes
    tiles, offset = _sliced(rest, coordinate)
    return joined([*first.modes, *tiles]) if tiles or len(first.modes) > 1 else first, offset


def local_partition(layout: Layout, threads: Layout, number: int) -> tuple[Layout, int]:
    """Return the elements of one thread, of threads that stand on a layout as another says.

    Example:
        >>> part, offset = local_partition(compact((8, 6)), Layout((2, 3), (3, 1)), 4)
        >>> str(part), offset
        ('(4,2):(2,24)', 9)
    """
    sizes = tuple(mode.size for mode in threads.modes)
    first, rest = zipped_divide(layout, sizes if len(sizes) > 1 else sizes[0]).modes
    for coordinate in range(threads.size):
        if threads(coordinate) == number:
            return rest, first(coordinate)
    raise LayoutError(f"no thread of {threads} has number {number}")


# -- elements of another width ------------------------------------------------------------------


def upcast(layout: Layout, count: int) -> Layout:
    """Return a layout of elements as that of elements that are wider by a factor.

    Raises:
        LayoutError: an element would be parted.

    Example:
        >>> str(upcast(Layout((8, 64), (64, 1)), 4))
        '(8,16):(16,1)'
    """

    def wider(size: int, stride: int) -> tuple[int, int]:
        if stride == 0:
            return size, 0
        if stride % count == 0:
            return size, stride // count
        inside = count // stride if count % stride == 0 else 0
        if not inside or (size % inside and inside % size):
            raise LayoutError(f"{layout} cannot be recast: {count} elements are not one of another")
        return max(1, size // inside), 1

    return _each_leaf(layout, wider)


def downcast(layout: Layout, count: int) -> Layout:
    """Return a layout of elements as that of elements that are narrower by a factor.

    Example:
        >>> str(downcast(Layout((8, 16), (16, 1)), 4))
        '(8,64):(64,1)'
    """

    def narrower(size: int, stride: int) -> tuple[int, int]:
        return (size * count, stride) if stride == 1 else (size, stride * count)

    return _each_leaf(layout, narrower)


def recast(layout: Layout, new_bits: int, old_bits: int) -> Layout:
    """Return a layout of elements of some bits as that of elements of others.

    Raises:
        LayoutError: neither width divides the other, or an element would be parted.

    Example:
        >>> str(recast(Layout((8, 64), (64, 1)), 32, 16))
        '(8,32):(32,1)'
    """
    if new_bits % old_bits == 0:
        return upcast(layout, new_bits // old_bits)
    if old_bits % new_bits == 0:
        return downcast(layout, old_bits // new_bits)
    raise LayoutError(f"elements of {old_bits} bits cannot be recast to {new_bits} bits")


def _each_leaf(layout: Layout, change: Callable[[int, int], tuple[int, int]]) -> Layout:
    if isinstance(layout.shape, int):
        [(size, stride)] = layout.flat
        return Layout(*change(size, stride))
    return joined(_each_leaf(mode, change) for mode in layout.modes)


# -- threads and values -------------------------------------------------------------------------


def thread_value(threads: Layout, values: Layout) -> tuple[Nested, Layout]:
    """Return the tile that threads with some values each cover, and who holds what of it.

    It is what ``make_layout_tv`` and ``make_tiled_copy`` make of their layouts: the layout leads
    from (thread, value) to the index of an element in the tile.

    Example:
        >>> tile, layout = thread_value(Layout((4, 8), (8, 1)), Layout((2, 1), (1, 0)))
        >>> tile, str(layout)
        ((8, 8), '((8,4),2):((8,2),1)')
    """
    tile = raked_product(threads, values)
    shape = tuple(mode.size for mode in tile.modes)
    sizes = compact((threads.size, values.size))
    return shape, composition(right_inverse(tile), sizes)
