"""Notation of TLX, Triton's low-level extensions.

    tlx.swizzled_layout(3, 3, 3, order=[1, 0])        CuTe's Swizzle<B,M,S> over shared memory
    tlx.layout(shape=((32, 4), (8,)), stride=...)     a thread-value layout of registers

Its other classes are those of Gluon by other names.  A swizzle has the phases that it makes of
rows of the tensor, and so depends on its shape.  The index of an element counts with the last
dimension fastest, unlike CuTe's own.

Source:      facebookexperimental/triton, third_party/tlx: Transforms/DumpLayout.cpp, and
             python/test/unit/language/test_tlx_layout.py.
"""

from __future__ import annotations

import re
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout, is_power_of_two, log2
from tt_layout.algebra.tiles import row_major
from tt_layout.analyses.layouts.shortest import shortest
from tt_layout.encodings import Encoding
from tt_layout.encodings.base import DistributedEncoding, Shape
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.errors import LayoutError
from tt_layout.notation.checking import check_same, known_shape
from tt_layout.notation.context import Context
from tt_layout.notation.cute.registers import registers_of, thread_value
from tt_layout.notation.cute.text import cute_of
from tt_layout.notation.cute.writing import (
    USUAL_LANES,
    check_disjoint,
    flat_strides,
    lanes_note,
    modes_of,
)
from tt_layout.notation.gluon.calls import GluonCall, encoding_of_call
from tt_layout.notation.gluon.signatures import own_name
from tt_layout.notation.gluon.text import read_call
from tt_layout.notation.gluon.tlx_classes import CLASSES, check_one_cta
from tt_layout.notation.notation import Notation
from tt_layout.notation.refusal import Reason, refused
from tt_layout.notation.result import TensorSpec, Translation
from tt_layout.releases import LATEST

NAMES = ("swizzled_layout", "swizzled_shared_layout_encoding", "make_default", "layout")
_HEAD = re.compile(rf"\s*(?:\w+\.)*(?:{'|'.join(map(re.escape, (*NAMES, *CLASSES)))})\s*\(")
_SWIZZLE = ("B", "M", "S", "order")
_PHASES = ("vectorSize", "perPhase", "maxPhase", "order")
_CTAS = ("numCTAs", "numCTAsPerCGA", "numCTASplit", "numCTAOrder")
_NAMED = ("vector_size", "per_phase", "max_phase", "order")
"""What a port of TLX calls the arguments of ``swizzled_layout``."""


def recognises(text: str) -> bool:
    """Return whether a text begins like a constructor of TLX."""
    return _HEAD.match(text) is not None


def read(text: str, context: Context) -> Encoding:
    """Return the encoding of a constructor over the tensor.

    Raises:
        LayoutError: it is not such a constructor, or depends on a shape that is not known.
    """
    shape = context.shape and context.tensor_shape("TLX")
    return read_tlx(text, shape, context.threads_per_warp)


def read_tlx(text: str, shape: Shape | None, threads_per_warp: int = USUAL_LANES) -> Encoding:
    """Parse a TLX constructor over a shape, for warps of ``threads_per_warp`` lanes.

    Raises:
        LayoutError: the text is not such a call, or does not fit the shape.

    Example:
        >>> print(read_tlx("tlx.swizzled_layout(3, 0, 6, order=[1, 0])", (128, 64)))
        #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 8, order = [1, 0]}>
    """
    call = read_call(text)
    name = own_name(call.name)
    if name not in NAMES:
        return encoding_of_call(call, LATEST)
    if name == "make_default":
        rank = _arguments(call, ("rank",))["rank"]
        order = tuple(row_major(rank)) if isinstance(rank, int) and 0 < rank < 32 else None
        return _checked({"vectorSize": 1, "perPhase": 1, "maxPhase": 1, "order": order})
    if name == "swizzled_shared_layout_encoding":
        arguments = _arguments(call, _PHASES, _CTAS)
        for word in _CTAS[:3]:
            check_one_cta(word, arguments.get(word, ()))
        return _checked(arguments)
    if shape is None:
        raise LayoutError(f"tlx.{name} depends on the shape of the tensor: give its type")
    if name == "swizzled_layout" and set(_NAMED[:3]) & call.keywords.keys():
        named = _arguments(call, _NAMED)
        return _checked(dict(zip(_PHASES, (named[word] for word in _NAMED))))
    if name == "swizzled_layout":
        return _swizzled(_arguments(call, _SWIZZLE), shape)
    arguments = _arguments(call, ("shape", "stride"))
    cute = cute_of(arguments["shape"], arguments["stride"])
    if not is_power_of_two(threads_per_warp):
        raise LayoutError(f"the lanes of a warp must be a power of two, got {threads_per_warp}")
    return registers_of(thread_value(cute, shape, is_row_major=True), shape, threads_per_warp)


def _arguments(
    call: GluonCall, words: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the arguments of a call: all required words, and any optional ones."""
    name, allowed = own_name(call.name), (*words, *optional)
    if len(call.positional) > len(allowed):
        raise LayoutError(f"tlx.{name} takes {len(allowed)} arguments, got {len(call.positional)}")
    values = dict(zip(allowed, call.positional))
    for word in call.keywords:
        if word in values or word not in allowed:
            problem = "is given twice" if word in values else "is not an argument"
            raise LayoutError(f"{word} {problem} of tlx.{name}; it takes {', '.join(allowed)}")
    arguments = {**values, **call.keywords}
    if missing := [word for word in words if word not in arguments]:
        raise LayoutError(f"tlx.{name} needs {', '.join(missing)}")
    return arguments


def _checked(arguments: dict[str, Any]) -> Encoding:
    numbers, order = [arguments[word] for word in _PHASES[:3]], arguments["order"]
    is_order = isinstance(order, tuple) and all(isinstance(d, int) for d in order)
    if not is_order or not all(isinstance(n, int) for n in numbers):
        message = f"{', '.join(_PHASES[:3])} must be numbers and order a list of dimensions"
        raise LayoutError(f"{message}, got {[*numbers, order]}")
    vec, per_phase, max_phase = numbers
    encoding = SwizzledShared(vec=vec, per_phase=per_phase, max_phase=max_phase, order=order)
    encoding.check_parse()
    return encoding


def _swizzled(arguments: dict[str, Any], shape: Shape) -> Encoding:
    order = arguments["order"]
    numbers = [arguments[word] for word in _SWIZZLE[:3]]
    if not all(isinstance(n, int) and 0 <= n < 32 for n in numbers):
        raise LayoutError(f"B, M and S must be numbers from 0 to 31, got {numbers}")
    is_order = isinstance(order, tuple) and sorted(map(str, order)) == sorted(
        map(str, range(len(order)))
    )
    if not is_order or len(order) not in (len(shape), len(shape) - 1):
        raise LayoutError(f"order must be a permutation of 0..{len(shape) - 1}, got {order}")
    shape = shape[-len(order) :]  # a leading dimension counts buffers
    bits, base, shift = numbers
    per_phase, rest = divmod(1 << (shift + base), shape[order[0]])
    if rest:
        message = f"Swizzle<{bits},{base},{shift}> swizzles within rows of {shape[order[0]]}"
        raise LayoutError(f"{message}, which #ttg.swizzled_shared does not")
    phases = {"vectorSize": 1 << base, "perPhase": per_phase, "maxPhase": 1 << bits}
    return _checked({**phases, "order": order})


def write(encoding: Encoding, tensor: TensorSpec) -> Translation:
    """Return the constructor of a layout in TLX over a shape.

    Raises:
        RefusedError: there is no shape, or TLX has no constructor for the layout.
    """
    shape = known_shape(encoding, tensor, "tlx counts phases and elements by the shape")
    lanes = USUAL_LANES
    named = shortest(encoding, shape, tensor.element_bits)
    if isinstance(named, SwizzledShared):
        text = _swizzle_call(named, shape)
    elif isinstance(encoding, DistributedEncoding):
        layout = encoding.to_linear_layout(shape, element_bits=tensor.element_bits)
        text, lanes = _layout_call(layout), layout.get_in_dim_size("lane")
    else:
        message = f"tlx.swizzled_layout is for #ttg.swizzled_shared, not {encoding.memory_space} as"
        raise refused(Reason.NO_FORM, f"{message} #{encoding.name}")
    try:
        after = read_tlx(text, shape, lanes)
    except LayoutError as error:
        raise refused(Reason.NO_FORM, error.message) from None
    shapes = check_same(encoding, after, tensor._replace(shape=shape))
    return Translation(text, shapes, lanes_note(lanes))


def _swizzle_call(encoding: SwizzledShared, shape: Shape) -> str:
    numbers = encoding.vec, encoding.per_phase, encoding.max_phase
    if type(encoding) is not SwizzledShared or encoding.cga or encoding.has_leading_offset:
        raise refused(Reason.NO_FORM, f"tlx.swizzled_layout cannot express {encoding}")
    if not all(map(is_power_of_two, (*numbers, *shape))):
        raise refused(Reason.NO_FORM, "a swizzle of TLX has powers of two")
    base, bits = log2(encoding.vec), log2(encoding.max_phase)
    shift = log2(shape[encoding.order[0]]) + log2(encoding.per_phase) - base
    if shift < 0:
        raise refused(Reason.NO_FORM, f"vec = {encoding.vec} is longer than a phase")
    return f"tlx.swizzled_layout({bits}, {base}, {shift}, order={list(encoding.order)})"


def _layout_call(layout: LinearLayout) -> str:
    if layout.vectors("block"):
        raise refused(Reason.NO_FORM, "tlx.layout does not distinguish CTAs from warps")
    by_rows = layout.transpose_outs(layout.get_out_dim_names()[::-1])
    flat = [flat_strides(by_rows, names) for names in (("lane", "warp"), ("register",))]
    check_disjoint(flat)
    groups = [modes_of(strides_of_mode) for strides_of_mode in flat]
    sizes, strides = (tuple(tuple(mode[at] for mode in group) for group in groups) for at in (0, 1))
    return f"tlx.layout(shape={sizes}, stride={strides})"


NOTATION = Notation(recognises, read, write)
