"""The same layout in another spelling: exact, or refused with the reason.

Every target is a function to text and one back.  What is returned has been read back and
found to be the same layout, on all bases; nothing else is ever returned.

Stored:      nothing; a target is a line in TARGETS, a release needs none.
Read next:   `eras`, then `linear`, `gluon`, `cute`, `as_json`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tt_layout.errors import LayoutError
from tt_layout.releases import LATEST, Release
from tt_layout.translation.refusal import RefusedError

if TYPE_CHECKING:
    from tt_layout.encodings import Encoding

Shape = tuple[int, ...]


class Over(NamedTuple):
    """What a layout is translated for.

    Attributes:
        shape: the tensor's; None where no type is given.
        element_bits: width of an element; None where it is not known.
    """

    shape: Shape | None = None
    element_bits: int | None = None


class Translation(NamedTuple):
    """A layout in another spelling.

    Attributes:
        text: the spelling.
        shapes: over which it was found to be the same layout.
        notes: what the spelling leaves out although the layout is the same.
    """

    text: str
    shapes: tuple[Shape, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


def _linear(encoding: Encoding, over: Over) -> Translation:
    from tt_layout.translation.linear import to_linear

    return to_linear(encoding, over)


def _gluon(encoding: Encoding, over: Over) -> Translation:
    from tt_layout.translation.gluon import to_gluon

    return to_gluon(encoding, over)


def _cute(encoding: Encoding, over: Over) -> Translation:
    from tt_layout.translation.cute import to_cute

    return to_cute(encoding, over)


def _json(encoding: Encoding, over: Over) -> Translation:
    from tt_layout.translation.as_json import to_json

    return to_json(encoding, over)


TARGETS: Mapping[str, Callable[[Encoding, Over], Translation]] = {
    "linear": _linear,
    "gluon": _gluon,
    "cute": _cute,
    "json": _json,
}
"""Name of a target -> the function to it; a release is a target, too."""


def translate(
    encoding: Encoding,
    to: str | Release,
    shape: Sequence[int] | None = None,
    *,
    element_bits: int | None = None,
) -> Translation:
    """Return the same layout in another spelling.

    Args:
        encoding: the layout.
        to: a release such as ``"3.4"``, or ``linear``, ``gluon``, ``cute`` or ``json``.
        shape: the tensor's; ``linear``, ``cute`` and ``json`` need it.  Without it, a
            release is checked over shapes that hold the layout's whole tile.
        element_bits: width of an element, which some old spellings depend on.

    Raises:
        RefusedError: the target cannot express the layout, or not exactly.
        LayoutError: the target is unknown, or the layout does not fit the shape.

    Example:
        >>> import tt_layout
        >>> swizzled = tt_layout.parse_layout(
        ...     "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>")
        >>> print(translate(swizzled, "2.1"))
        #triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
        >>> print(translate(swizzled, "cute", [64, 64]))
        Swizzle<3,3,3> o (64,64):(64,1)
        >>> print(translate(swizzled, "gluon"))
        gl.SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0])
    """
    over = Over(tuple(shape) if shape is not None else None, element_bits)
    if isinstance(to, str) and to in TARGETS:
        return TARGETS[to](encoding, over)
    from tt_layout.translation.eras import to_release

    return to_release(encoding, _release(to), over)


def _release(to: str | Release) -> Release:
    if isinstance(to, Release):
        return to
    try:
        return Release.parse(to)
    except LayoutError:
        names = f"{', '.join(TARGETS)}, {Release.V2022} and {Release.V2_0} to {LATEST}"
        raise LayoutError(f"unknown target {to!r}; known are {names}") from None


__all__ = ["TARGETS", "Over", "RefusedError", "Translation", "translate"]
