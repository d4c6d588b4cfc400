"""Short names of types, layouts and operations in reports."""

from __future__ import annotations

import re

from tt_layout.ir.types import IRType
from tt_layout.safe_text import safe, shortened

MAX_LAYOUT = 60  # characters of a layout that is written out where it is used

_SLICE = re.compile(r"#(?:ttg|triton_gpu)\.slice<\{dim = (\d+), parent = (.*)\}>")
_OPERAND = re.compile(
    r"#(?:ttg|triton_gpu)\.dot_op<\{opIdx = (\d), parent = (.*?)(?:, kWidth = (\d+))?\}>"
)

_ENDINGS = ("_global_to_local", "_local_to_global")


def short_layout(text: str) -> str:
    """Return a layout as tables show it, with slices and operands abbreviated.

    Example:
        >>> short_layout("#ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>")
        'dot_op(0, #mma, 2)'
        >>> short_layout("#ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 0, parent = #a}>}>")
        'slice(1, slice(0, #a))'
    """
    if match := _SLICE.fullmatch(text):
        return f"slice({match[1]}, {short_layout(match[2])})"
    if match := _OPERAND.fullmatch(text):
        width = f", {match[3]}" if match[3] is not None else ""
        return f"dot_op({match[1]}, {short_layout(match[2])}{width})"
    return shortened(safe(text), MAX_LAYOUT)


def short_type(ir_type: IRType | None) -> str:
    """Return the type of moved data: its sizes, and the element that pointers point to.

    Example:
        >>> from tt_layout.enums import TypeKind
        >>> short_type(IRType("", TypeKind.TENSOR, (64, 32), "!tt.ptr<f16>", None, None))
        '64x32xf16'
    """
    if ir_type is None:
        return "-"
    allocation = f" of {'x'.join(map(str, ir_type.allocation))}" if ir_type.allocation else ""
    return safe(ir_type.plain + allocation)


def short_operation(name: str) -> str:
    """Return the name of an operation without its dialect and without redundant words.

    Example:
        >>> short_operation("ttg.async_copy_global_to_local"), short_operation("tt.load")
        ('async_copy', 'load')
    """
    bare = name.rpartition(".")[2]
    for ending in _ENDINGS:
        bare = bare.removesuffix(ending)
    return bare
