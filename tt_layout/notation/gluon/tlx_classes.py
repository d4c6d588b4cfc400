"""TLX classes that wrap Gluon's, as calls of Gluon's classes.

Source:
    facebookexperimental/triton db4666f, third_party/tlx: language/tlx/types.py and
    dialect/triton_tlx.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tt_layout.algebra.tiles import row_major
from tt_layout.arguments import integers
from tt_layout.errors import LayoutError
from tt_layout.notation.gluon.calls import GluonCall
from tt_layout.notation.gluon.helpers import default_for, with_identity_for


def check_one_cta(word: str, counts: object) -> None:
    """Raise if a cluster has more than one CTA.

    Raises:
        LayoutError: it is a list with other numbers than one.
    """
    if not isinstance(counts, tuple) or any(count != 1 for count in counts):
        raise LayoutError(f"{word} must be all ones: clusters are not read, got {counts}")


def gluon_call(call: GluonCall) -> GluonCall:
    """Return Gluon's call for one of TLX; any other call as it is.

    Raises:
        LayoutError: the class takes other arguments, or there is no such class of Gluon.

    Example:
        >>> gluon_call(GluonCall("tlx.dot_operand_layout", (1, GluonCall("parent")))).name
        'DotOperandLayout'
    """
    for name, made in CLASSES.items():
        if call.name.endswith(f".{name}") or call.name == name:
            try:
                return made(*call.positional, **call.keywords)
            except TypeError as error:
                raise LayoutError(f"tlx.{name} cannot be called so: {error}") from None
    return call


def _mfma(*positional: Any, **keywords: Any) -> GluonCall:
    return GluonCall("AMDMFMALayout", positional, keywords)


def _slice(dim: Any, parent: Any) -> GluonCall:
    return GluonCall("SliceLayout", (dim, parent))


def _operand(operand_index: Any, parent: Any, k_width: Any = 8) -> GluonCall:
    return GluonCall("DotOperandLayout", (operand_index, parent, k_width))


def _padded(interval_padding_pairs: Any, shape: Any, order: Any = None) -> GluonCall:
    order = row_major(len(integers("shape", shape))) if order is None else order
    return with_identity_for(interval_padding_pairs, shape, order)


def _default(shape: Any, elemType: Any, fp4Padded: Any = False) -> GluonCall:  # noqa: N803
    return default_for(shape, elemType, fp4_padded=fp4Padded)


def _nv_mma(
    shape: Sequence[int],
    order: Any,
    elemType: Any,  # noqa: N803
    numCTAsPerCGA: Any,  # noqa: N803
    numCTASplit: Any,  # noqa: N803
    numCTAOrder: Any,  # noqa: N803
    fp4Padded: Any,  # noqa: N803
    swizzled: Any,
) -> GluonCall:
    check_one_cta("numCTAsPerCGA", numCTAsPerCGA)
    check_one_cta("numCTASplit", numCTASplit)
    dims = tuple(row_major(len(integers("shape", shape))))
    turned = (0, *dims[:-1])
    if order not in (dims, turned):
        raise LayoutError(f"order must be {list(dims)} or {list(turned)}, got {order}")
    transposed = order != dims
    made = default_for(shape, elemType, transposed, fp4Padded)
    return made if swizzled else made._replace(positional=(0, *made.positional[1:]))


CLASSES: Mapping[str, Callable[..., GluonCall]] = {
    "amd_mfma_layout": _mfma,
    "slice_layout": _slice,
    "dot_operand_layout": _operand,
    "padded_shared_layout_encoding.with_identity_for": _padded,
    "nv_mma_shared_layout_encoding.make_default": _default,
    "nv_mma_shared_layout_encoding": _nv_mma,
}
"""Class of TLX, or function of it -> the call of Gluon for its arguments."""
