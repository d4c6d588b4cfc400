"""Notation of bases as JSON with all that reading back needs; see ``docs/translate.md``."""

from __future__ import annotations

import json
import re
from typing import Any

from tt_layout.arguments import integer, integers
from tt_layout.encodings import Encoding
from tt_layout.encodings.parsing import parse_layout
from tt_layout.errors import LayoutError
from tt_layout.notation.checking import known_shape
from tt_layout.notation.context import Context
from tt_layout.notation.notation import Notation
from tt_layout.notation.result import TensorSpec, Translation
from tt_layout.releases import Release
from tt_layout.tuples import NamedTuple

VERSION = 1
_ATTRIBUTE = re.compile(r'"attribute"\s*:')


class TypedLayout(NamedTuple):
    """A layout, and the tensor that its notation determines."""

    encoding: Encoding
    tensor: TensorSpec = TensorSpec()


def write(encoding: Encoding, tensor: TensorSpec) -> Translation:
    """Return the JSON of a layout over a shape.

    Raises:
        RefusedError: there is no shape.
    """
    shape = known_shape(encoding, tensor, "the bases depend on the shape")
    tensor = tensor._replace(shape=shape)
    data = _data(encoding, tensor)
    bases = ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in data["bases"].items())
    lines = [
        f"  {json.dumps(key)}: " + (f"{{\n{bases}\n  }}" if key == "bases" else json.dumps(value))
        for key, value in data.items()
    ]
    text = "{\n" + ",\n".join(lines) + "\n}"
    read_json(text)
    return Translation(text, (shape,))


def _data(encoding: Encoding, tensor: TensorSpec) -> dict[str, Any]:
    layout = encoding.to_linear_layout(tensor.shape or (), element_bits=tensor.element_bits)
    return {
        "version": VERSION,
        "attribute": encoding.written(),
        "release": str(encoding.release),
        "memory": encoding.memory_space,
        "shape": list(tensor.shape or ()),
        "element_bits": tensor.element_bits,
        "bases": dict(layout.bases),
        "out_dims": dict(layout.out_dims),
        "padding": [list(pair) for pair in encoding.padding],
    }


def is_json_of_layout(text: str) -> bool:
    """Return whether a text is JSON that names an attribute, in the format of this module.

    Example:
        >>> is_json_of_layout('{"version": 1, "attribute": "#ttg.blocked<{}>"}')
        True
    """
    return text.lstrip().startswith("{") and _ATTRIBUTE.search(text) is not None


def read(text: str, context: Context) -> Encoding:
    """Return the encoding of the JSON.

    Raises:
        LayoutError: the text is not such JSON, or its bases are not those of its attribute.
    """
    return read_json(text).encoding


def read_json(text: str) -> TypedLayout:
    """Parse the JSON of a layout.

    Raises:
        LayoutError: the text is not such JSON, or its bases are not those of its attribute.

    Example:
        >>> shared = parse_layout("#ttg.shared_linear<{offset = [[1]]}, alignment = 16>")
        >>> read_json(write(shared, TensorSpec((2,))).text).encoding == shared
        True
    """
    try:
        data = json.loads(text)
        if data["version"] != VERSION:
            message = f"expected version {VERSION} of the JSON, got {data['version']!r}"
            raise LayoutError(message)
        release = Release.parse(data["release"])
        bits = data["element_bits"]
        tensor = TensorSpec(
            integers("shape", data["shape"]),
            None if bits is None else integer("element_bits", bits),
        )
        encoding = parse_layout(data["attribute"], release=release, name="attribute")
        expected = _data(encoding, tensor)
    except LayoutError:
        raise
    except RecursionError:
        raise LayoutError("this is not the JSON of a layout: its brackets nest too deep") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else error
        raise LayoutError(f"this is not the JSON of a layout: {reason}") from None
    for key in ("memory", "bases", "out_dims", "padding"):
        if list_of(data.get(key)) != list_of(expected[key]):
            message = f"{key} of the JSON is not that of its attribute over {data['shape']}"
            raise LayoutError(f"{message}: {data.get(key)} should be {expected[key]}")
    return TypedLayout(encoding, tensor)


def list_of(value: Any) -> Any:
    """Return a value with dictionaries as lists, so that their order counts."""
    return list(value.items()) if isinstance(value, dict) else value


NOTATION = Notation(is_json_of_layout, read, write)
