"""Bases alone as JSON: ``{"register": [[0, 1]], "lane": [[1, 0], [2, 0]], "warp": []}``."""

from __future__ import annotations

import json
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.notation.context import Context
from tt_layout.notation.functions import encoding_of_function, layout_of, over_shape, read_back
from tt_layout.notation.notation import Notation
from tt_layout.notation.notations.json import is_json_of_layout
from tt_layout.notation.result import TensorSpec, Translation


def recognises(text: str) -> bool:
    """Tell whether a text is an object other than that of ``--to json``."""
    return text.lstrip().startswith("{") and not is_json_of_layout(text)


def read(text: str, context: Context) -> Encoding:
    """Return the attribute with the bases.

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
    return layout_of(numbers, [str(name) for name in outs], [_number(n) for n in outs.values()])


def _vectors(name: str, value: Any) -> list[tuple[int, ...]]:
    if not isinstance(value, list) or not all(isinstance(vector, list) for vector in value):
        raise LayoutError(f"the bases of {name} must be lists of numbers such as [[0, 1]]")
    return [tuple(map(_number, vector)) for vector in value]


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise LayoutError(f"a basis has whole numbers, got {value!r}")
    return value


NOTATION = Notation(recognises, read, write)
