"""The targets of a translation: releases, and a table of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tt_layout.arguments import checks_arguments
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.releases import LATEST, Release
from tt_layout.translation.result import TensorSpec, Translation


def _linear(encoding: Encoding, tensor: TensorSpec) -> Translation:
    from tt_layout.translation.linear import to_linear

    return to_linear(encoding, tensor)


def _gluon(encoding: Encoding, tensor: TensorSpec) -> Translation:
    from tt_layout.translation.gluon import to_gluon

    return to_gluon(encoding, tensor)


def _cute(encoding: Encoding, tensor: TensorSpec) -> Translation:
    from tt_layout.translation.cute import to_cute

    return to_cute(encoding, tensor)


def _json(encoding: Encoding, tensor: TensorSpec) -> Translation:
    from tt_layout.translation.as_json import to_json

    return to_json(encoding, tensor)


def _bases(encoding: Encoding, tensor: TensorSpec) -> Translation:
    from tt_layout.translation.linear_text import to_bases

    return to_bases(encoding, tensor)


def _linear_layout(encoding: Encoding, tensor: TensorSpec) -> Translation:
    from tt_layout.translation.linear_text import to_linear_layout_text

    return to_linear_layout_text(encoding, tensor)


def _tlx(encoding: Encoding, tensor: TensorSpec) -> Translation:
    from tt_layout.translation.tlx import to_tlx

    return to_tlx(encoding, tensor)


TARGETS: Mapping[str, Callable[[Encoding, TensorSpec], Translation]] = {
    "linear": _linear,
    "gluon": _gluon,
    "cute": _cute,
    "json": _json,
    "linear-layout": _linear_layout,
    "bases": _bases,
    "tlx": _tlx,
}
"""Name of a target -> the function to it; a release is a target, too."""


@checks_arguments
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
        to: a release such as ``"3.4"``, or one of `TARGETS`, such as ``gluon``.
        shape: the tensor's; all but releases and ``gluon`` need it.  Without it, a
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
    tensor = TensorSpec(tuple(shape) if shape is not None else None, element_bits)
    if isinstance(to, str) and to in TARGETS:
        return TARGETS[to](encoding, tensor)
    from tt_layout.translation.eras import to_release

    return to_release(encoding, _release(to), tensor)


def _release(to: str | Release) -> Release:
    if isinstance(to, Release):
        return to
    try:
        return Release.parse(to)
    except LayoutError:
        names = f"{', '.join(TARGETS)}, {Release.V2022} and {Release.V2_0} to {LATEST}"
        raise LayoutError(f"unknown target {to!r}; known are {names}") from None
