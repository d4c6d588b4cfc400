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
    """Raise an error if a cluster has more than one CTA.

    Raises:
        LayoutError: the list has other numbers than one.
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


def _padded_bases(
    interval_padding_pairs: Any, offset_bases: Any, shape: Any, block_bases: Any = None
) -> GluonCall:
    blocks = () if block_bases is None else block_bases
    return GluonCall("PaddedSharedLayout", (interval_padding_pairs, offset_bases, blocks, shape))


def _shared_linear(offset_bases: Any, block_bases: Any = None, alignment: Any = 16) -> GluonCall:
    blocks = () if block_bases is None else block_bases
    return GluonCall("SharedLinearLayout", (offset_bases, blocks, alignment))


def _tensor_memory(
    blockM: Any,  # noqa: N803
    blockN: Any,  # noqa: N803
    colStride: Any,  # noqa: N803
    CTASplitM: Any,  # noqa: N803
    CTASplitN: Any,  # noqa: N803
) -> GluonCall:
    check_one_cta("CTASplitM and CTASplitN", (CTASplitM, CTASplitN))
    return GluonCall("TensorMemoryLayout", ((blockM, blockN), colStride))


def _tensor_memory_of(shape: Any) -> GluonCall:
    return GluonCall("TensorMemoryLayout", (integers("shape", shape), 1))


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
    "padded_shared_layout_encoding.with_bases": _padded_bases,
    "shared_linear_layout_encoding": _shared_linear,
    "tensor_memory_layout_encoding.make_default": _tensor_memory_of,
    "tensor_memory_layout_encoding": _tensor_memory,
    "nv_mma_shared_layout_encoding.make_default": _default,
    "nv_mma_shared_layout_encoding": _nv_mma,
}
"""Class of TLX, or function of it -> the call of Gluon for its arguments."""
