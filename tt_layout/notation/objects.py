"""Python objects that represent layouts: of this package, Gluon, Triton's tools and CuTe.

An object is known by the name of its class and by its fields; nothing of Triton or CUTLASS is
imported.  What a Gluon object means, the release says that it comes from, if that is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError, shown
from tt_layout.notation.context import Context
from tt_layout.notation.functions import encoding_of_function
from tt_layout.notation.gluon.calls import BARRIER, GluonCall
from tt_layout.notation.gluon.constructors import CONSTRUCTORS
from tt_layout.notation.gluon.signatures import own_name
from tt_layout.notation.notations.bases import bases_of
from tt_layout.notation.notations.gluon import resolve
from tt_layout.notation.registry import read_layout
from tt_layout.notation.result import Translation
from tt_layout.placement import PlacedLayout
from tt_layout.releases import Release

GLUON = {*(own_name(one.name) for _, one in CONSTRUCTORS), BARRIER, "AutoLayout", "CoalescedLayout"}
"""The classes of Gluon."""
CUTE = {"Layout", "ComposedLayout"}
"""Classes of CuTe's Python libraries, whose ``str`` is CuTe notation."""


def encoding_of(layout: object, context: Context) -> Encoding:
    """Return the encoding of a text or an object.

    Args:
        layout: text in any notation; an encoding; a linear layout, ours or of
            ``triton.tools``, or its bases by name or in pairs; a translation; an object of Gluon
            or CuTe.
        context: the tensor and the rules.

    Raises:
        LayoutError: it is something else, or no attribute expresses it.

    Example:
        >>> print(encoding_of(LinearLayout.identity_1d(2, "offset", "dim0"), Context()))
        #ttg.shared_linear<{offset = [[1]]}, alignment = 16>
    """
    if isinstance(layout, Encoding):
        return layout
    if isinstance(layout, str):
        return read_layout(layout, context)
    if isinstance(layout, PlacedLayout):
        return layout.encoding
    if isinstance(layout, Translation) and layout.encoding is not None:
        return layout.encoding
    try:
        return _of_object(_unwrapped(layout), context)
    except LayoutError as error:  # an object has no line or column, but a name
        raise LayoutError(f"{context.name.strip('<>')}: {error.message}") from None


def _of_object(layout: Any, context: Context) -> Encoding:
    name = _class_name(layout)
    if name in GLUON:
        release = context.release or _release_of(layout)
        return resolve(call_of(layout), context._replace(release=release))
    if name in CUTE:
        return read_layout(str(layout), context)
    if isinstance(layout, LinearLayout) or name == "LinearLayout":
        return encoding_of_function(_linear(layout))
    if isinstance(layout, Mapping) or (isinstance(layout, (list, tuple)) and layout):
        return encoding_of_function(bases_of(layout))
    expected = "a layout: text, an encoding, a LinearLayout, or an object of Gluon or CuTe"
    raise LayoutError(f"expected {expected}; got {shown(layout)}")


def _class_name(layout: object) -> str:
    """Return the name of an object's first class that is known; else of its own."""
    names = [cls.__name__ for cls in type(layout).__mro__]
    return next((name for name in names if name in GLUON | CUTE), names[0])


def _unwrapped(value: Any) -> Any:
    """Return the value of a ``constexpr``; any other value as it is."""
    return value.value if type(value).__name__ == "constexpr" else value


def call_of(layout: Any) -> GluonCall:
    """Return the call that makes a Gluon object.

    Raises:
        LayoutError: a field is neither a number nor a list nor a layout.
    """
    names = [f.name for f in fields(layout)] if is_dataclass(layout) else list(vars(layout))
    name = type(layout).__name__
    class_name = name if name in GLUON else _class_name(layout)
    if class_name == BARRIER:
        class_name = "SwizzledSharedLayout"
    return GluonCall(class_name, (), {field: _argument(getattr(layout, field)) for field in names})


def _argument(value: Any) -> Any:
    value = _unwrapped(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Iterable):
        return tuple(map(_argument, value))
    return call_of(value) if _class_name(value) in GLUON else str(value)


def _release_of(layout: object) -> Release | None:
    """Return the Triton release of an object, if it is loaded and known."""
    root = type(layout).__module__.partition(".")[0]
    version = getattr(sys.modules.get(root), "__version__", None) if root == "triton" else None
    try:
        return Release.parse(version) if isinstance(version, str) else None
    except LayoutError:
        return None


def _linear(layout: Any) -> LinearLayout:
    """Convert a linear layout of Triton's tools."""
    if isinstance(layout, LinearLayout):
        return layout
    try:
        bases = [
            (str(name), [tuple(map(int, v)) for v in vectors]) for name, vectors in layout.bases
        ]
        outs = [(str(name), int(size)) for name, size in layout.out_dims]
    except (AttributeError, TypeError, ValueError) as error:
        raise LayoutError(f"this LinearLayout has no bases and out_dims: {error}") from None
    names, sizes = [name for name, _ in outs], [size for _, size in outs]
    return LinearLayout.from_bases(bases, names, sizes, require_surjective=False)
