"""Translation of a layout to another release or notation.

What is returned has been read back and found to be the same layout, on all bases; nothing else
is ever returned.
"""

from __future__ import annotations

from collections.abc import Sequence

from tt_layout.arguments import checks_arguments
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.notation.registry import NOTATIONS
from tt_layout.notation.result import TensorSpec, Translation
from tt_layout.releases import LATEST, Release


@checks_arguments
def translate(
    encoding: Encoding,
    to: str | Release,
    shape: Sequence[int] | None = None,
    *,
    element_bits: int | None = None,
) -> Translation:
    """Translate a layout to the spelling of a release or to another notation.

    Args:
        encoding: the layout.
        to: a release such as ``"3.4"``, or the name of a notation, such as ``gluon``.
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
    if isinstance(to, str) and to in NOTATIONS:
        return NOTATIONS[to].write(encoding, tensor)._replace(encoding=encoding)
    from tt_layout.notation.releases.eras import to_release

    return to_release(encoding, _release(to), tensor)._replace(encoding=encoding)


def _release(to: str | Release) -> Release:
    if isinstance(to, Release):
        return to
    try:
        return Release.parse(to)
    except LayoutError:
        names = f"{', '.join(NOTATIONS)}, {Release.V2022} and {Release.V2_0} to {LATEST}"
        raise LayoutError(f"unknown target {to!r}; known are {names}") from None
