"""Notation of CuTe: ``(8,4):(4,1)``, ``Swizzle<3,3,3> o (64,64):(64,1)``, thread-value layouts.

The notation is of any function.  Which one is meant, the tensor decides: a layout of a buffer in
shared memory leads from its coordinates to offsets, one of registers from thread and value to
the index of an element.
"""

from __future__ import annotations

import math
import re

from tt_layout.algebra.linear_layout import is_power_of_two
from tt_layout.encodings import Encoding
from tt_layout.encodings.base import Shape
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError
from tt_layout.notation.context import Context
from tt_layout.notation.cute.memory import memory_of
from tt_layout.notation.cute.registers import read_registers
from tt_layout.notation.cute.text import Cute, plain, read_cute
from tt_layout.notation.cute.writing import to_cute
from tt_layout.notation.notation import Notation

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
