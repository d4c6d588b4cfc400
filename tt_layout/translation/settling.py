"""What an old spelling leaves to the tensor, filled in from the tensor.

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
from tt_layout.translation import Over


@singledispatch
def settled(encoding: Encoding, over: Over) -> Encoding:
    """Return the encoding with every field that the tensor tells.

    Example:
        >>> unpacked = TensorMemory(block_m=128, block_n=8, col_stride=None)
        >>> print(settled(unpacked, Over(element_bits=16)))
        #ttng.tensor_memory_encoding<blockM = 128, blockN = 8, colStride = 2>
    """
    return encoding


@settled.register
def _(encoding: NvmmaShared, over: Over) -> Encoding:
    if encoding.rank is not None or over.shape is None:
        return encoding
    return replace(encoding, rank_key=len(over.shape))


@settled.register
def _(encoding: TensorMemory, over: Over) -> Encoding:
    if encoding.col_stride is not None or over.element_bits is None:
        return encoding
    return replace(encoding, col_stride=max(1, CELL_BITS // over.element_bits))


@settled.register
def _(encoding: PaddedShared, over: Over) -> Encoding:
    if encoding.offset is not None or over.shape is None:
        return encoding
    layout = encoding.to_linear_layout(over.shape)
    offset, block = layout.vectors("offset"), layout.vectors("block")
    rank = encoding.rank
    return replace(encoding, offset=offset, block=block, order=None, cga=(), rank_key=rank)


@settled.register
def _(encoding: NvidiaMma, over: Over) -> Encoding:
    return replace(encoding, instr_shape=encoding.tile_shape)


@settled.register
def _(encoding: DotOperand, over: Over) -> Encoding:
    parent = settled(encoding.parent, over)
    width = encoding.k_width
    is_implied = isinstance(parent, NvidiaMma) and not width and over.element_bits is not None
    if is_implied and over.element_bits:
        width = max(1, REGISTER_BITS // over.element_bits)
    return replace(encoding, parent=parent, k_width=width)


@settled.register
def _(encoding: Slice, over: Over) -> Encoding:
    shape = over.shape and (*over.shape[: encoding.dim], 1, *over.shape[encoding.dim :])
    return replace(encoding, parent=settled(encoding.parent, Over(shape, over.element_bits)))
