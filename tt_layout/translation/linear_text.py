"""A linear layout as the compiler prints it, and its bases alone as JSON.

     - register=1 -> (0, 1)
     - lane=1 -> (1, 0)
       lane=2 -> (2, 0)
     - warp is a size 1 dimension
    where out dims are: [dim0 (size 4), dim1 (size 2)]

    {"register": [[0, 1]], "lane": [[1, 0], [2, 0]], "warp": [], "block": []}

What stands around a basis does not count, so that lines of a debug log are read as they are.

Source:      Triton, lib/Tools/LinearLayout.cpp, ``LinearLayout::toString``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.padding import format_padding
from tt_layout.algebra.tiles import dim_names
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError, quoted
from tt_layout.translation.checking import check_same, known_shape, padding_of
from tt_layout.translation.linear import encoding_of_layout
from tt_layout.translation.refusal import Reason, refused
from tt_layout.translation.result import TensorSpec, Translation

_LINE = re.compile(
    r"(?P<input>\w+)\s*=\s*(?P<value>\d{1,18})\s*->\s*\((?P<basis>[\d,\s]*)\)"
    r"|(?P<single>\w+) is a size 1 dimension"
)
MAX_DIGITS = 18
_OUTS = re.compile(r"out dims are:\s*\[([^\]]*)\]")
_OUT = re.compile(r"(\w+)\s*\(size (\d{1,18})\)")
_DIM = re.compile(r"dim(\d{1,2})")


def read_linear_layout(text: str) -> LinearLayout:
    """Return the linear layout that a text shows.

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
        own = bases.setdefault(match["input"], [])
        if int(match["value"]) != 1 << len(own):
            message = f"expected the basis of {match['input']}={1 << len(own)}"
            raise LayoutError(f"{message}, got that of {match['input']}={match['value']}")
        own.append(_basis(match["basis"]))
    if not bases:
        raise LayoutError("expected bases such as register=1 -> (0, 1)")
    outs = _OUTS.search(text)
    sizes = _OUT.findall(outs.group(1)) if outs else []
    return _layout(bases, [name for name, _ in sizes], [int(size) for _, size in sizes])


def _basis(text: str) -> tuple[int, ...]:
    """Return the numbers between the brackets of a basis."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() and len(part) <= MAX_DIGITS for part in parts):
        raise LayoutError(f"expected a basis such as (0, 1), got {quoted(f'({text})')}")
    return tuple(map(int, parts))


def _layout(
    bases: Mapping[str, Sequence[Sequence[int]]], names: Sequence[str], sizes: Sequence[int]
) -> LinearLayout:
    if not names:
        rank = next((len(vector) for own in bases.values() for vector in own), 0)
        return LinearLayout.from_bases(bases, dim_names(rank), require_surjective=False)
    return LinearLayout.from_bases(bases, names, sizes, require_surjective=False)


def read_bases(text: str) -> LinearLayout:
    """Return the linear layout of an object of bases; perhaps with ``out_dims`` beside it.

    Raises:
        LayoutError: the text is not such JSON.

    Example:
        >>> read_bases('{"offset": [[1], [2]]}').out_dims
        [('dim0', 4)]
    """
    try:
        data = json.loads(text)
        bases = data["bases"] if isinstance(data.get("bases"), (dict, list)) else data
        outs = dict(data["out_dims"]) if bases is not data and "out_dims" in data else {}
        pairs = dict(bases)
    except RecursionError:
        raise LayoutError("this is not the JSON of bases: its brackets nest too deep") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise LayoutError(f"this is not the JSON of bases: {error}") from None
    numbers = {str(name): _vectors(str(name), own) for name, own in pairs.items()}
    if not numbers:
        raise LayoutError('expected bases such as {"register": [[0, 1]], "lane": [[1, 0]]}')
    return _layout(numbers, [str(name) for name in outs], [_number(n) for n in outs.values()])


def _vectors(name: str, value: Any) -> list[tuple[int, ...]]:
    if not isinstance(value, list) or not all(isinstance(vector, list) for vector in value):
        raise LayoutError(f"the bases of {name} must be lists of numbers such as [[0, 1]]")
    return [tuple(map(_number, vector)) for vector in value]


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise LayoutError(f"a basis has whole numbers, got {value!r}")
    return value


def encoding_of_function(layout: LinearLayout) -> Encoding:
    """Return the attribute of a linear layout in either direction, its dimensions in order.

    Raises:
        LayoutError: its outputs are not the dimensions of a tensor, or no attribute has its bases.

    Example:
        >>> identity = LinearLayout.identity_1d(4, "dim0", "offset")
        >>> print(encoding_of_function(identity))
        #ttg.shared_linear<{offset = [[1], [2]]}, alignment = 16>
    """
    if layout.in_bases and all(_DIM.fullmatch(name) for name in layout.get_in_dim_names()):
        if not layout.is_invertible():
            raise LayoutError("this layout leads from a tensor to its locations and has no inverse")
        layout = layout.invert()
    rank = layout.num_out_dims
    if sorted(layout.get_out_dim_names()) != sorted(dim_names(rank)):
        shown = ", ".join(layout.get_out_dim_names())
        raise LayoutError(f"the outputs must be dim0, dim1, ..., got {shown}")
    return encoding_of_layout(layout.transpose_outs(dim_names(rank)))


def to_linear_layout_text(encoding: Encoding, tensor: TensorSpec) -> Translation:
    """Return the linear layout as the compiler prints it.

    Raises:
        RefusedError: there is no shape, or no attribute has its bases.
    """
    shape, layout = _linear(encoding, tensor)
    text = str(layout)
    return _checked(encoding, text, read_linear_layout(text), shape, tensor)


def to_bases(encoding: Encoding, tensor: TensorSpec) -> Translation:
    """Return the bases as JSON.

    Raises:
        RefusedError: there is no shape, or no attribute has its bases.
    """
    shape, layout = _linear(encoding, tensor)
    text = json.dumps(dict(layout.bases))
    return _checked(encoding, text, read_bases(text), shape, tensor)


def _linear(encoding: Encoding, tensor: TensorSpec) -> tuple[tuple[int, ...], LinearLayout]:
    shape = known_shape(encoding, tensor, "the bases depend on the shape")
    if padding := padding_of(encoding):
        raise refused(Reason.PADDING, format_padding(padding))
    return shape, encoding.to_linear_layout(shape, element_bits=tensor.element_bits)


def _checked(
    encoding: Encoding,
    text: str,
    found: LinearLayout,
    shape: tuple[int, ...],
    tensor: TensorSpec,
) -> Translation:
    """Return a text that was read back as the same layout."""
    try:
        after = encoding_of_function(found)
    except LayoutError as error:
        raise refused(Reason.NO_FORM, error.message) from None
    return Translation(text, check_same(encoding, after, tensor._replace(shape=shape)))
