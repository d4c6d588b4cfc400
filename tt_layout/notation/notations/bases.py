"""Notation of bases alone, as JSON: ``{"register": [[0, 1]], "lane": [[1, 0], [2, 0]]}``.

They are read as Python writes them, too: in single quotes, as tuples, as a list of pairs, and as
the ``LinearLayout(in_bases=.., out_sizes=..)`` that ours print.
"""

from __future__ import annotations

import ast
import json
import operator
import re
from collections.abc import Mapping
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError, shown
from tt_layout.notation.context import Context
from tt_layout.notation.functions import encoding_of_function, layout_of, over_shape, read_back
from tt_layout.notation.notation import Notation
from tt_layout.notation.notations.json import is_json_of_layout
from tt_layout.notation.result import TensorSpec, Translation

_HEAD = re.compile(r"""\s*(?:\{|[\[(]\s*[\[(]\s*['"]|LinearLayout\()""")
_OWN = re.compile(r"\s*LinearLayout\(\s*in_bases=(.*?),\s*out_sizes=(.*)\)\s*", re.DOTALL)


def recognises(text: str) -> bool:
    """Return whether a text is an object or pairs, other than that of ``--to json``."""
    return _HEAD.match(text) is not None and not is_json_of_layout(text)


def read(text: str, context: Context) -> Encoding:
    """Return the attribute with these bases.

    Raises:
        LayoutError: the text is not such JSON, or no attribute has these bases.
    """
    return encoding_of_function(read_bases(text))


def write(encoding: Encoding, tensor: TensorSpec) -> Translation:
    """Return the bases as JSON.

    Raises:
        RefusedError: there is no shape, or no attribute has its bases.
    """
    shape, layout = over_shape(encoding, tensor)
    text = json.dumps(dict(layout.bases))
    return read_back(encoding, text, read_bases(text), shape, tensor)


def read_bases(text: str) -> LinearLayout:
    """Parse an object of bases, with ``out_dims`` beside it or not.

    Raises:
        LayoutError: the text is neither such JSON nor Python.

    Example:
        >>> read_bases('{"offset": [[1], [2]]}').out_dims
        [('dim0', 4)]
        >>> read_bases("[('register', [[0, 1]]), ('lane', [(1, 0)])]").out_dims
        [('dim0', 2), ('dim1', 2)]
    """
    try:
        return bases_of(_data(text))
    except (RecursionError, MemoryError):
        raise LayoutError("this is not the JSON of bases: its brackets nest too deep") from None
    except (ValueError, SyntaxError) as error:
        if isinstance(error, LayoutError):
            raise
        raise LayoutError(f"this is not the JSON of bases: {error}") from None


def _data(text: str) -> Any:
    """Parse JSON or a Python literal."""
    match = _OWN.fullmatch(text)
    if match is not None:
        return {"bases": ast.literal_eval(match[1]), "out_dims": ast.literal_eval(match[2])}
    try:
        return json.loads(text)
    except ValueError as error:
        if "'" not in text and "(" not in text:
            raise
        try:
            return ast.literal_eval(text.strip())
        except SyntaxError:
            raise error from None


def bases_of(data: Any) -> LinearLayout:
    """Return the linear layout of bases by name or in pairs, with ``out_dims`` beside or not.

    Raises:
        LayoutError: they are not bases.

    Example:
        >>> bases_of({"offset": [[1], [2]]}).bases
        [('offset', [[1], [2]])]
    """
    try:
        bases = data.get("bases") if isinstance(data, Mapping) else None
        if not isinstance(bases, (Mapping, list, tuple)):
            bases = data
        outs = dict(data["out_dims"]) if bases is not data and "out_dims" in data else {}
        pairs = dict(bases)
    except (ValueError, TypeError, AttributeError) as error:
        raise LayoutError(f"this is not the JSON of bases: {error}") from None
    numbers = {str(name): _vectors(str(name), vectors) for name, vectors in pairs.items()}
    if not numbers:
        raise LayoutError('expected bases such as {"register": [[0, 1]], "lane": [[1, 0]]}')
    return layout_of(numbers, [str(name) for name in outs], [_number(n) for n in outs.values()])


def _vectors(name: str, value: Any) -> list[tuple[int, ...]]:
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, (list, tuple)) or not all(map(_is_vector, value)):
        raise LayoutError(f"the bases of {name} must be lists of numbers such as [[0, 1]]")
    return [tuple(map(_number, vector)) for vector in value]


def _is_vector(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 1


def _number(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise LayoutError(f"a basis has whole numbers, got {shown(value)}")
    return operator.index(value)


NOTATION = Notation(recognises, read, write)
