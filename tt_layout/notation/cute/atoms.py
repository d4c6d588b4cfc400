"""Element types of CuTe, and the atoms of shared memory that its names stand for.

Sources:
    CUTLASS, include/cute/atom/mma_traits_sm90_gmma.hpp: the atoms of shared memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tt_layout.errors import LayoutError, quoted
from tt_layout.notation.cute.algebra import Layout
from tt_layout.notation.cute.text import Swizzle
from tt_layout.notation.cute.values import Composed, Name

_WIDTHS = {
    "half_t": 16, "half": 16, "bfloat16_t": 16, "float": 32, "tfloat32_t": 32, "double": 64,
    "bool": 8, "char": 8, "float_e4m3_t": 8, "float_e5m2_t": 8, "float_ue8m0_t": 8,
    "float_e2m1_t": 4, "float_e2m3_t": 6, "float_e3m2_t": 6, "TFloat32": 32, "BFloat16": 16,
    "Float8E4M3FN": 8, "Float8E5M2": 8,
}  # fmt: skip
"""Bits of the types whose name does not end in them."""

_SIZED = re.compile(r"(?:u?int|Int|Uint|Float)(\d{1,3})(?:_t)?")
_ATOM = re.compile(r"Layout_(?P<major>MN|K)_(?P<kind>INTER|SW32|SW64|SW128)_Atom(?P<bits>_Bits)?")
_SWIZZLE_BITS = {"INTER": 0, "SW32": 1, "SW64": 2, "SW128": 3}
_ATOM_ROWS = 8
_ATOM_BITS = 128  # of a row without a swizzle


def bits_of(value: Any) -> int:
    """Return the bits of a type, or a number of bits."""
    if isinstance(value, int) and value > 0:
        return value
    own = re.split(r"::|\.", value.text.rstrip("(){} "))[-1] if isinstance(value, Name) else ""
    if own in _WIDTHS:
        return _WIDTHS[own]
    if match := _SIZED.fullmatch(own):
        return int(match[1])
    raise LayoutError(f"the bits of {shown(value)} are not known; give a number")


def shared_atom(name: str, template: Sequence[Any]) -> Layout | Composed | None:
    """Return an atom of shared memory for `wgmma` and TMA; None for any other name."""
    match = _ATOM.fullmatch(name)
    if match is None:
        return None
    bits = 1 if match["bits"] else bits_of(template[0] if template else None)
    count = _SWIZZLE_BITS[match["kind"]]
    row = (_ATOM_BITS << count) // bits
    is_k = match["major"] == "K"
    rows = Layout((_ATOM_ROWS, row), (row, 1)) if is_k else Layout((row, _ATOM_ROWS), (1, row))
    base = 7 - (bits.bit_length() - 1)  # 16 bytes stay together
    return Composed(Swizzle(count, base, 3), 0, rows) if count else rows


def shown(value: Any) -> str:
    """Return a value as messages quote it."""
    if isinstance(value, Name):
        return quoted(value.text)
    return "_" if value is None else quoted(str(value))
