"""Conversion of a CuTe thread-value layout to bases of registers, lanes and warps.

    ((4,8),(2,2)):((32,1),(16,8))                  index of the element of the whole tensor
    Tiler_MN: (16,8)  TiledLayout_TV: ...          index in a tile, which repeats over the tensor
    make_layout_tv((4,8):(8,1), (2,1):(1,1))       a thread layout and a value layout

A notation of threads does not know warps: a warp is as wide as the reader says.  Tiles repeat in
registers, the first dimension fastest, as CuTe partitions a tensor.

Source:      CUTLASS, include/cute/atom/copy_atom.hpp; make_layout_tv of the Python DSL.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.algebra.span import F2Span
from tt_layout.algebra.tiles import dim_names, row_major
from tt_layout.encodings import Encoding
from tt_layout.encodings.base import Bases, Shape
from tt_layout.errors import LayoutError
from tt_layout.notation.cute.text import Cute, Mode, check_linear, plain, read_cute
from tt_layout.notation.functions import encoding_of_layout
from tt_layout.tuples import NamedTuple

_TILED = re.compile(r"Tiler_MN:\s*(\S+?)(?=Tiled)TiledLayout_TV:(.*?)(?:Copy_Atom.*)?", re.DOTALL)
_TILED_HEAD = re.compile(r"(?:TiledCopy|TiledMMA)?(?=Tiler_MN:)")
_MAKE = re.compile(r"(?:\w+\.)*make_layout_tv\((.*)\)")


class TiledBits(NamedTuple):
    """Elements of a tile by thread, value and CTA.

    Attributes:
        thread, value, cta: the coordinates at each bit of their numbers.
        tile: the sizes of the tile.
    """

    thread: Bases
    value: Bases
    cta: Bases
    tile: Shape


def read_registers(text: str, shape: Shape, threads_per_warp: int) -> Encoding:
    """Return the register layout of a tensor under a thread-value layout.

    Args:
        text: text in one of the three notations above.
        shape: shape of the tensor.
        threads_per_warp: lanes of a warp, a power of two.

    Raises:
        LayoutError: the text is not such a layout, or does not fit the shape.

    Example:
        >>> print(read_registers("((2,2),2):((1,4),2)", (4, 2), 2))
        #ttg.linear<{register = [[2, 0]], lane = [[1, 0]], warp = [[0, 1]], block = []}>
        >>> print(read_registers("make_layout_tv((2,2):(2,1), (1,2):(2,1))", (2, 8), 4))
        #ttg.linear<{register = [[0, 1], [0, 4]], lane = [[0, 2], [1, 0]], warp = [], block = []}>
    """
    return registers_of(_read(plain(text), shape), shape, threads_per_warp)


def registers_of(tiled: TiledBits, shape: Shape, threads_per_warp: int) -> Encoding:
    """Return the register layout whose tiles repeat over a tensor.

    Raises:
        LayoutError: the tile does not divide the shape, or threads leave elements out.
    """
    if len(tiled.tile) != len(shape) or any(n % t for n, t in zip(shape, tiled.tile)):
        message = f"the tile {list(tiled.tile)} does not divide the shape {list(shape)}"
        raise LayoutError(message)
    lanes = log2(threads_per_warp)
    repeats: list[Shape] = []
    for d, (part, size) in enumerate(zip(tiled.tile, shape)):
        for bit in range(log2(size // part)):
            repeats.append(tuple(part << bit if d == k else 0 for k in range(len(shape))))
    bases = (
        ("register", (*tiled.value, *repeats)),
        ("lane", tiled.thread[:lanes]),
        ("warp", tiled.thread[lanes:]),
        ("block", tiled.cta),
    )
    layout = LinearLayout(bases, tuple(zip(dim_names(len(shape)), shape)))
    vectors = [
        layout.flatten(vector) for _, vectors_of_input in bases for vector in vectors_of_input
    ]
    reached, count = 1 << F2Span(vectors).rank, math.prod(shape)
    if reached < count:
        message = f"it reaches {reached} of {count} elements"
        raise LayoutError(f"{message} of the shape {list(shape)}; give the shape that it covers")
    return encoding_of_layout(layout)


def _read(text: str, shape: Shape) -> TiledBits:
    if match := _MAKE.fullmatch(text):
        return _product(*map(read_cute, _arguments(match.group(1))))
    if match := _TILED.fullmatch(_TILED_HEAD.sub("", text, count=1)):
        sizes = read_cute(f"{match.group(1)}:{re.sub('[0-9]+', '0', match.group(1))}")
        tile = tuple(_size(part) for part in sizes.parts)
        return thread_value(read_cute(match.group(2)), tile)
    return thread_value(read_cute(text), shape)


def thread_value(cute: Cute, tile: Shape, *, is_row_major: bool = False) -> TiledBits:
    """Return the elements of a tile under a layout of (thread, value) or (thread, value, CTA).

    Args:
        cute: to the index of an element.
        tile: its sizes.
        is_row_major: whether the index counts with the last dimension fastest, as TLX has it.

    Raises:
        LayoutError: the layout has other modes, reaches beyond the tile, or is not linear.
    """
    if len(cute.parts) not in (2, 3):
        message = "a thread-value layout has two modes, (thread, value), or three with the CTA"
        raise LayoutError(f"{message}; got {len(cute.parts)}")
    check_linear(Cute(cute.parts).bit_values())
    parts = [
        [_point(index, tile, is_row_major) for index in indices] for indices in cute.bit_values()
    ]
    thread, value, *cta = map(tuple, parts)
    return TiledBits(thread, value, cta[0] if cta else (), tile)


def _point(index: int, shape: Shape, is_row_major: bool) -> Shape:
    """Return the coordinates of an element by its index."""
    rest = index
    point = [0] * len(shape)
    for d in row_major(len(shape)) if is_row_major else range(len(shape)):
        point[d] = rest % shape[d]
        rest //= shape[d]
    if rest:
        message = f"it reaches index {index}, but the shape {list(shape)} has "
        raise LayoutError(f"{message}{math.prod(shape)} elements")
    return tuple(point)


def _arguments(text: str) -> list[str]:
    """Return the two layouts between the brackets of a call."""
    depth = 0
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            return [_value_of(text[:at]), _value_of(text[at + 1 :])]
    raise LayoutError("make_layout_tv takes a thread layout and a value layout")


def _value_of(text: str) -> str:
    return text.partition("=")[2] or text


def _product(threads: Cute, values: Cute) -> TiledBits:
    """Return the layout in which each thread holds a block of values: CuTe's raked product."""
    if len(threads.parts) != len(values.parts):
        raise LayoutError("the thread layout and the value layout must have as many modes")
    inner = [_size(part) for part in values.parts]
    tile = tuple(_size(part) * inside for part, inside in zip(threads.parts, inner))
    thread = _numbered(threads, "thread", lambda d, step: step * inner[d])
    return TiledBits(thread, _numbered(values, "value", lambda d, step: step), (), tile)


def _size(part: Sequence[Mode]) -> int:
    return math.prod(mode.size for mode in part)


def _numbered(cute: Cute, name: str, scaled: Callable[[int, int], int]) -> Bases:
    """Return the coordinates at each bit of the numbers that a layout gives them."""
    check_linear(cute.bit_values())
    bases = [
        (f"dim{d}", [(value,) for value in values]) for d, values in enumerate(cute.bit_values())
    ]
    numbers = LinearLayout.from_bases(bases, [name], require_surjective=False)
    if not numbers.is_invertible():
        raise LayoutError(f"the {name} layout must number its {name}s from 0 without gaps")
    vectors = numbers.invert().vectors(name)
    return tuple(tuple(scaled(d, step) for d, step in enumerate(v)) for v in vectors)
