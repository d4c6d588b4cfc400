"""Notation of CuTe: ``(8,4):(4,1)``, ``Swizzle<3,3,3> o (64,64):(64,1)``, thread-value layouts.

The notation is of any function.  Which one is meant, the tensor decides: a layout of a buffer in
shared memory leads from its coordinates to offsets, one of registers from thread and value to
the index of an element.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from tt_layout.algebra.linear_layout import LinearLayout, is_power_of_two, log2
from tt_layout.algebra.padding import Padding, padded
from tt_layout.algebra.tiles import dim_names, row_major
from tt_layout.encodings import Encoding
from tt_layout.encodings.base import Shape
from tt_layout.encodings.padded_shared import PaddedShared
from tt_layout.encodings.shared_linear import SharedLinear
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError
from tt_layout.notation.context import Context
from tt_layout.notation.cute.algebra import written
from tt_layout.notation.cute.registers import read_registers
from tt_layout.notation.cute.text import Cute, check_linear, plain, read_cute
from tt_layout.notation.cute.writing import to_cute
from tt_layout.notation.notation import Notation
from tt_layout.placement import DEFAULT_ALIGNMENT

_LAYOUT = re.compile(r"[_(),\s]*-?\d[\d_(),\s-]*:[\d_(),\s-]*")
_HEAD = re.compile(
    r"\s*(?:\(?(?:Swizzle|Sw|S)[<(]|TiledCopy|TiledMMA|Tiler_MN:"
    r"|(?:\w+(?:\.|::))*(?:Layout|ComposedLayout|composition|make_layout(?:_tv)?"
    r"|make_composed_layout)\s*[<(])"
)
_ALGEBRA = re.compile(
    r"\s*(?:(?:using|auto)\s|\w+\s*=\s|(?:\w+(?:\.|::))*(?:coalesce|filter|complement"
    r"|(?:right|left)_inverse|(?:logical|zipped|tiled|flat)_(?:divide|product)"
    r"|(?:blocked|raked)_product|tile_to_shape|recast(?:_layout)?|upcast|downcast|slice_?"
    r"|local_tile|local_partition|make_ordered_layout"
    r"|make_tiled_copy(?:_tv|_[ABC])?|make_tiled_mma|TiledMMA|MMA_Atom|decltype|UniversalFMA|SM\d+_\w+"
    r"|Layout_(?:MN|K)_\w+_Atom)\s*[<({])"
)
_THREADS = re.compile(r"make_layout_tv|Tiler_MN|TiledCopy|TiledMMA")


def recognises(text: str) -> bool:
    """Return whether a text is a shape and a stride, or begins as CuTe has layouts or algebra."""
    heads = _HEAD.match(text) or _ALGEBRA.match(text)
    return _LAYOUT.fullmatch(text) is not None or heads is not None


def read(text: str, context: Context) -> Encoding:
    """Return the encoding of a CuTe text over the tensor.

    Raises:
        LayoutError: there is no tensor, or the layout does not fit it.
    """
    if _ALGEBRA.match(text):
        from tt_layout.notation.cute.expression import evaluated_layout

        text = evaluated_layout(text, context)
    elif _THREADS.search(text):
        return _registers(text, context)
    cute = read_cute(text)
    shape = context.tensor_shape("CuTe notation")
    if _is_of_memory(cute, shape, context):
        sizes = len(cute.parts)
        return memory_of(cute, shape[1:] if sizes == len(shape) - 1 > 0 else shape)
    return _registers(text, context)


def _registers(text: str, context: Context) -> Encoding:
    lanes = context.threads_per_warp
    if not is_power_of_two(lanes):
        raise LayoutError(f"the lanes of a warp must be a power of two, got {lanes}")
    return read_registers(plain(text), context.tensor_shape("CuTe notation"), lanes)


def _is_of_memory(cute: Cute, shape: Shape, context: Context) -> bool:
    """Return whether a layout maps coordinates to offsets."""
    if cute.swizzle is not None or context.memory_space is MemorySpace.SHARED:
        return True
    if context.memory_space is MemorySpace.REGISTERS:
        return False
    sizes = tuple(math.prod(mode.size for mode in part) for part in cute.parts)
    return sizes == shape


NOTATION = Notation(recognises, read, write=to_cute)


# -- attributes of shared memory -------------------------------------------------------------------


def memory_of(cute: Cute, shape: Shape) -> Encoding:
    """Return the shared layout whose offsets are those of a CuTe layout.

    Args:
        cute: from the coordinates of a tensor; a mode for each dimension, or modes that count
            its elements, the first dimension fastest.
        shape: shape of the tensor.

    Raises:
        LayoutError: the layout does not fit the shape, or no attribute expresses it.

    Example:
        >>> from tt_layout.notation.cute.text import read_cute
        >>> print(memory_of(read_cute("Swizzle<1,0,1> o (2,2):(2,1)"), (2, 2)))
        #ttg.shared_linear<{offset = [[0, 1], [1, 1]]}, alignment = 16>
        >>> print(memory_of(read_cute("(2,2):(4,1)"), (2, 2)))
        #ttg.padded_shared<[2:+2] {order = [1, 0], shape = [2, 2]}>
    """
    strides = _by_dimension(cute, shape)
    everything = [stride for bits in strides for stride in bits]
    if len(everything) != len(set(everything)) or 0 in everything:
        raise LayoutError("two elements have one offset, which no attribute expresses")
    padding = _padding_of(everything)
    if padding and cute.swizzle is not None:
        message = "a swizzle over strides with gaps is not expressed by any attribute"
        raise LayoutError(f"{message}; got {cute}")
    ranks = {stride: 1 << at for at, stride in enumerate(sorted(everything))}
    offsets = [[ranks[stride] for stride in bits] for bits in strides]
    swizzle = cute.swizzle
    if swizzle is not None:
        offsets = [[swizzle(offset) for offset in bits] for bits in offsets]
    names = dim_names(len(shape))
    bases = [(name, [(offset,) for offset in values]) for name, values in zip(names, offsets)]
    inverse = LinearLayout.from_bases(bases, ["offset"]).invert()
    vectors = inverse.vectors("offset")
    encoding: Encoding
    if not vectors:  # a single element, for which shared_linear has no bases
        order = tuple(row_major(len(shape)))
        encoding = SwizzledShared(vec=1, per_phase=1, max_phase=1, order=order)
    elif padding:
        encoding = PaddedShared(paddings=tuple(padding), offset=vectors, rank_key=len(shape))
    else:
        encoding = SharedLinear(offset=vectors, alignment=DEFAULT_ALIGNMENT)
    encoding.check_parse()
    return encoding


def _by_dimension(cute: Cute, shape: Shape) -> list[list[int]]:
    """Return the offset of each bit of each coordinate, before the swizzle."""
    plain = Cute(cute.parts).bit_values()
    sizes = [1 << len(bits_of_mode) for bits_of_mode in plain]
    if len(sizes) == len(shape) and sizes != list(shape):
        error = LayoutError(f"the CuTe layout is for the shape {sizes}, got {list(shape)}")
        if any(size % part for size, part in zip(shape, sizes)):
            raise error
        raise error.hint(f"tile_to_shape(.., {written(tuple(shape))}) repeats it")
    bits = iter([stride for bits_of_mode in plain for stride in bits_of_mode])
    wanted = [log2(size) if is_power_of_two(size) else 0 for size in shape]
    if sum(wanted) != sum(map(len, plain)):
        message = f"the CuTe layout has 2^{sum(map(len, plain))} elements"
        raise LayoutError(f"{message}, but the shape is {list(shape)}")
    return [[next(bits) for _ in range(count)] for count in wanted]


def _padding_of(strides: Sequence[int]) -> Padding:
    """Return the pairs of interval and padding that turn 1, 2, 4, ... into these strides.

    Raises:
        LayoutError: there are none.

    Example:
        >>> _padding_of([1, 2, 4, 8]), _padding_of([1, 2, 6, 12]), _padding_of([6, 1, 2])
        ((), ((4, 2),), ((4, 2),))
    """
    pairs: list[tuple[int, int]] = []
    for bit, stride in enumerate(sorted(strides)):
        gap = stride - padded(1 << bit, tuple(pairs))
        if gap < 0:
            check_linear([strides])
            raise LayoutError(f"two elements have one offset: strides {sorted(strides)} overlap")
        if gap:
            pairs.append((1 << bit, gap))
    return tuple(pairs)
