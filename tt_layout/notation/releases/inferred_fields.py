"""Inference of the fields that an old spelling omits, from the tensor.

Until 3.5, a padded_shared has no shape, a tensor memory that is ``unpacked`` no stride and an
nvmma_shared no rank; until 2.1, an mma has no instruction shape and a dot_op no kWidth.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from tt_layout.encodings import Encoding
from tt_layout.encodings.dot_op import REGISTER_BITS, DotOperand
from tt_layout.encodings.nvidia_mma import NvidiaMma
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.encodings.padded_shared import PaddedShared
from tt_layout.encodings.slice import Slice
from tt_layout.encodings.tensor_memory import CELL_BITS, TensorMemory
from tt_layout.notation.result import TensorSpec


@singledispatch
def with_inferred_fields(encoding: Encoding, tensor: TensorSpec) -> Encoding:
    """Return the encoding with every field that the tensor determines.

    Example:
        >>> unpacked = TensorMemory(block_m=128, block_n=8, col_stride=None)
        >>> print(with_inferred_fields(unpacked, TensorSpec(element_bits=16)))
        #ttng.tensor_memory_encoding<blockM = 128, blockN = 8, colStride = 2>
    """
    return encoding


@with_inferred_fields.register
def _(encoding: NvmmaShared, tensor: TensorSpec) -> Encoding:
    if encoding.rank is not None or tensor.shape is None:
        return encoding
    return replace(encoding, rank_key=len(tensor.shape))


@with_inferred_fields.register
def _(encoding: TensorMemory, tensor: TensorSpec) -> Encoding:
    if encoding.col_stride is not None or tensor.element_bits is None:
        return encoding
    return replace(encoding, col_stride=max(1, CELL_BITS // tensor.element_bits))


@with_inferred_fields.register
def _(encoding: PaddedShared, tensor: TensorSpec) -> Encoding:
    if encoding.offset is not None or tensor.shape is None:
        return encoding
    layout = encoding.to_linear_layout(tensor.shape)
    offset, block = layout.vectors("offset"), layout.vectors("block")
    rank = encoding.rank
    return replace(encoding, offset=offset, block=block, order=None, cga=(), rank_key=rank)


@with_inferred_fields.register
def _(encoding: NvidiaMma, tensor: TensorSpec) -> Encoding:
    return replace(encoding, instr_shape=encoding.tile_shape)


@with_inferred_fields.register
def _(encoding: DotOperand, tensor: TensorSpec) -> Encoding:
    parent = with_inferred_fields(encoding.parent, tensor)
    width = encoding.k_width
    is_implied = isinstance(parent, NvidiaMma) and not width and tensor.element_bits is not None
    if is_implied and tensor.element_bits:
        width = max(1, REGISTER_BITS // tensor.element_bits)
    return replace(encoding, parent=parent, k_width=width)


@with_inferred_fields.register
def _(encoding: Slice, tensor: TensorSpec) -> Encoding:
    shape = tensor.shape and (*tensor.shape[: encoding.dim], 1, *tensor.shape[encoding.dim :])
    return replace(
        encoding,
        parent=with_inferred_fields(encoding.parent, TensorSpec(shape, tensor.element_bits)),
    )
