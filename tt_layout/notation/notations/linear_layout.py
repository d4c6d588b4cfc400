"""Notation of linear layouts as the compiler prints them, one line per basis.

     - register=1 -> (0, 1)
     - lane=1 -> (1, 0)
       lane=2 -> (2, 0)
     - warp is a size 1 dimension
    where out dims are: [dim0 (size 4), dim1 (size 2)]

What stands around a basis does not count, so that lines of a debug log are read as they are.

Source:      Triton, lib/Tools/LinearLayout.cpp, ``LinearLayout::toString``.
"""

from __future__ import annotations

import re

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError, quoted
from tt_layout.notation.context import Context
from tt_layout.notation.functions import encoding_of_function, layout_of, over_shape, read_back
from tt_layout.notation.notation import Notation
from tt_layout.notation.result import TensorSpec, Translation

_BASIS = re.compile(r"\b\w+\s*=\s*\d+\s*->\s*\(|\w is a size 1 dimension")
_LINE = re.compile(
    r"(?P<input>\w+)\s*=\s*(?P<value>\d{1,18})\s*->\s*\((?P<basis>[\d,\s]*)\)"
    r"|(?P<single>\w+) is a size 1 dimension"
)
MAX_DIGITS = 18
_OUTS = re.compile(r"out dims are:\s*\[([^\]]*)\]")
_OUT = re.compile(r"(\w+)\s*\(size (\d{1,18})\)")


def recognises(text: str) -> bool:
    """Return whether a text has a basis."""
    return _BASIS.search(text) is not None


def read(text: str, context: Context) -> Encoding:
    """Return the attribute with the bases of a text.

    Raises:
        LayoutError: no attribute has them.
    """
    return encoding_of_function(read_linear_layout(text))


def write(encoding: Encoding, tensor: TensorSpec) -> Translation:
    """Return the linear layout as the compiler prints it.

    Raises:
        RefusedError: there is no shape, or no attribute has its bases.
    """
    shape, layout = over_shape(encoding, tensor)
    text = str(layout)
    return read_back(encoding, text, read_linear_layout(text), shape, tensor)


def read_linear_layout(text: str) -> LinearLayout:
    """Parse a printed linear layout.

    Raises:
        LayoutError: the text shows none, or bases that do not belong together.

    Example:
        >>> read_linear_layout("register=1 -> (0, 1), lane=1 -> (1, 0)").out_dims
        [('dim0', 2), ('dim1', 2)]
    """
    bases: dict[str, list[tuple[int, ...]]] = {}
    for match in _LINE.finditer(text):
        if match["single"] is not None:
            bases.setdefault(match["single"], [])
            continue
        vectors = bases.setdefault(match["input"], [])
        if vectors and int(match["value"]) == 1:
            message = f"{match['input']}=1 comes again: the text has two layouts"
            raise LayoutError(f"{message}; give one of them")
        if int(match["value"]) != 1 << len(vectors):
            message = f"expected the basis of {match['input']}={1 << len(vectors)}"
            raise LayoutError(f"{message}, got that of {match['input']}={match['value']}")
        vectors.append(_basis(match["basis"]))
    if not bases:
        raise LayoutError("expected bases such as register=1 -> (0, 1)")
    outs = _OUTS.search(text)
    sizes = _OUT.findall(outs.group(1)) if outs else []
    return layout_of(bases, [name for name, _ in sizes], [int(size) for _, size in sizes])


def _basis(text: str) -> tuple[int, ...]:
    """Return the numbers between the brackets of a basis."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() and len(part) <= MAX_DIGITS for part in parts):
        raise LayoutError(f"expected a basis such as (0, 1), got {quoted(f'({text})')}")
    return tuple(map(int, parts))


NOTATION = Notation(recognises, read, write)
