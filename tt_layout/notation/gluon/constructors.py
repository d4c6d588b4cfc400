"""Table of Gluon's classes: name and arguments for each encoding.

Source:
    Triton 3.9, triton/experimental/gluon/language: _layouts.py, amd/_layouts.py,
    amd/cdna5/_layouts.py, nvidia/blackwell and nvidia/rubin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tt_layout.encodings import Encoding
from tt_layout.encodings.amd_mfma import AmdMfma
from tt_layout.encodings.amd_wmma import DEFAULT_INSTRUCTION, AmdWmma
from tt_layout.encodings.blocked import Blocked
from tt_layout.encodings.dot_op import DotOperand
from tt_layout.encodings.linear import GenericLinear, Linear
from tt_layout.encodings.nvidia_mma import NvidiaMma
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.encodings.padded_shared import PaddedShared
from tt_layout.encodings.partitioned_shared import PartitionedShared
from tt_layout.encodings.shared_linear import SharedLinear
from tt_layout.encodings.slice import Slice
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.encodings.tensor_memory import TensorMemory, TensorMemoryScales
from tt_layout.notation.checking import spanned
from tt_layout.notation.refusal import Reason, refused
from tt_layout.tuples import NamedTuple

Arguments = dict[str, Any]
_CGA = {"cga_layout": "cga"}
_BASES = {"reg_bases": "register", "lane_bases": "lane", "warp_bases": "warp"}


class Constructor(NamedTuple):
    """Gluon's form of a class.

    Attributes:
        name: below ``gl``.
        arguments: keyword -> field, or nothing, in the order in which Gluon has them.
        optional: keyword -> the default, which is not written.
        parts: keyword -> the fields that its numbers fill, one each.
        to_call: arguments that no field holds as it is, from an encoding.
        from_call: its inverse: the fields they stand for.
        applies: whether it can express an encoding of its class.
        helper: a static method of the class and its arguments, where they are fewer.
    """

    name: str
    arguments: Mapping[str, str]
    optional: Mapping[str, Any] = {}
    parts: Mapping[str, tuple[str, ...]] = {}
    to_call: Callable[[Any], Arguments] = lambda encoding: {}
    from_call: Callable[[Arguments], dict[str, Any]] = lambda arguments: {}
    applies: Callable[[Any], bool] = lambda encoding: True
    helper: Callable[[Any], tuple[str, Arguments] | None] = lambda encoding: None


_NO_CGA: Mapping[str, Any] = {"cga_layout": ()}
_LINEAR = Constructor(
    "DistributedLinearLayout",
    {**_BASES, "block_bases": "block", "shape": ""},
    to_call=lambda linear: {"shape": tuple(size for _, size in linear.natural_layout.out_sizes)},
)


def _mfma_call(mfma: AmdMfma) -> Arguments:
    if not mfma.version:
        raise refused(Reason.NO_FORM, "gl.amd.AMDMFMALayout needs a version of 1 to 4, got 0")
    if len(mfma.instr_shape) != 3:
        message = "gl.amd.AMDMFMALayout needs instrShape [M, N, K], and K is not known"
        raise refused(Reason.NO_FORM, f"{message}, got {list(mfma.instr_shape)}")
    return {}


def _wmma_call(wmma: AmdWmma) -> Arguments:
    register, warp = wmma.cta_layout
    return {"warp_bases": warp, "reg_bases": register, "rank": wmma.rank}


def _wmma_fields(arguments: Arguments) -> dict[str, Any]:
    cta_layout = arguments.get("reg_bases", ()), arguments.get("warp_bases", ())
    return {"cta_layout": cta_layout, "rank_key": arguments.get("rank")}


def _nvmma_call(nvmma: NvmmaShared) -> Arguments:
    if nvmma.element_bit_width not in (8, 16, 32, 64):
        message = f"gl.NVMMASharedLayout has no elements of {nvmma.element_bit_width} bits"
        raise refused(Reason.NO_FORM, message)
    return {"rank": nvmma.rank or 2}


def _padded_call(padded: PaddedShared) -> Arguments:
    """Return the CTAs, which Gluon counts in whole tiles, and the shape."""
    part = spanned(padded.offset or (), padded.rank)
    cga = tuple(tuple(x // n for x, n in zip(basis, part)) for basis in padded.block)
    if _blocks(cga, part) != padded.block:
        message = "gl.PaddedSharedLayout counts CTAs as wholes, but these are interleaved: block"
        raise refused(Reason.NO_FORM, f"{message} = {[list(basis) for basis in padded.block]}")
    vectors = (*(padded.offset or ()), *padded.block)
    return {"cga_layout": cga, "shape": spanned(vectors, padded.rank)}


def _identity_call(padded: PaddedShared) -> tuple[str, Arguments] | None:
    """Return the method for offsets that walk through a shape in an order, if they do."""
    if padded.offset_order is None:
        return None
    call = _padded_call(padded)
    arguments: Arguments = {
        "interval_padding_pairs": padded.paddings,
        "shape": call["shape"],
        "order": padded.offset_order,
    }
    if call["cga_layout"]:
        arguments["cga_layout"] = call["cga_layout"]
    return "with_identity_for", arguments


def _padded_fields(arguments: Arguments) -> dict[str, Any]:
    rank = len(arguments["shape"])
    part = spanned(arguments["offset_bases"], rank)
    return {"block": _blocks(arguments["cga_layout"], part), "rank_key": rank}


def _blocks(cga: Sequence[Sequence[int]], part: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Convert bases of CTAs from parts of the tensor to elements."""
    return tuple(tuple(x * n for x, n in zip(basis, part)) for basis in cga)


CONSTRUCTORS: tuple[tuple[type[Encoding], Constructor], ...] = (
    (
        Blocked,
        Constructor(
            "BlockedLayout",
            {
                "size_per_thread": "size_per_thread",
                "threads_per_warp": "threads_per_warp",
                "warps_per_cta": "warps_per_cta",
                "order": "order",
                **_CGA,
            },
            _NO_CGA,
        ),
    ),
    (Slice, Constructor("SliceLayout", {"dim": "dim", "parent": "parent"})),
    (Linear, _LINEAR),
    (GenericLinear, _LINEAR),
    (
        DotOperand,
        Constructor(
            "DotOperandLayout",
            {"operand_index": "op_idx", "parent": "parent", "k_width": "k_width"},
        ),
    ),
    (
        NvidiaMma,
        Constructor(
            "NVMMADistributedLayout",
            {"version": "", "warps_per_cta": "warps_per_cta", "instr_shape": "instr_shape", **_CGA},
            _NO_CGA,
            {"version": ("version_major", "version_minor")},
        ),
    ),
    (
        AmdMfma,
        Constructor(
            "amd.AMDMFMALayout",
            {
                "version": "version",
                "instr_shape": "instr_shape",
                "transposed": "is_transposed",
                "warps_per_cta": "warps_per_cta",
                "element_bitwidth": "element_bit_width",
                "tiles_per_warp": "tiles_per_warp",
                **_CGA,
            },
            {"element_bitwidth": 32, "tiles_per_warp": (), **_NO_CGA},
            to_call=_mfma_call,
        ),
    ),
    (
        AmdWmma,
        Constructor(
            "amd.AMDWMMALayout",
            {
                "version": "version",
                "transposed": "is_transpose",
                "warp_bases": "",
                "reg_bases": "",
                "instr_shape": "instr_shape",
                **_CGA,
                "rank": "",
            },
            {"reg_bases": (), "instr_shape": DEFAULT_INSTRUCTION, "rank": 2, **_NO_CGA},
            to_call=_wmma_call,
            from_call=_wmma_fields,
        ),
    ),
    (
        NvmmaShared,
        Constructor(
            "NVMMASharedLayout",
            {
                "swizzle_byte_width": "swizzling_byte_width",
                "element_bitwidth": "element_bit_width",
                "rank": "rank_key",
                "transposed": "transposed",
                "fp4_padded": "fp4_padded",
                **_CGA,
            },
            {"rank": 2, "transposed": False, "fp4_padded": False, **_NO_CGA},
            to_call=_nvmma_call,
        ),
    ),
    (
        SwizzledShared,
        Constructor(
            "SwizzledSharedLayout",
            {
                "vec": "vec",
                "per_phase": "per_phase",
                "max_phase": "max_phase",
                "order": "order",
                **_CGA,
            },
            _NO_CGA,
        ),
    ),
    (
        PaddedShared,
        Constructor(
            "PaddedSharedLayout",
            {
                "interval_padding_pairs": "paddings",
                "offset_bases": "offset",
                "cga_layout": "",
                "shape": "",
            },
            to_call=_padded_call,
            from_call=_padded_fields,
            helper=_identity_call,
        ),
    ),
    (
        SharedLinear,
        Constructor(
            "SharedLinearLayout",
            {"offset_bases": "offset", "block_bases": "block", "alignment": "alignment"},
            {"block_bases": ()},
        ),
    ),
    (
        PartitionedShared,
        Constructor(
            "amd.cdna5.PartitionedSharedLayout",
            {
                "num_partitions": "num_partitions",
                "num_groups": "num_groups",
                "partition_dim": "partition_dim",
                "partition_layout": "partition_layout",
            },
        ),
    ),
    (
        TensorMemory,
        Constructor(
            "nvidia.blackwell.TensorMemoryLayout",
            {
                "block": "",
                "col_stride": "col_stride",
                **_CGA,
                "two_ctas": "two_ctas",
                "fp4_padded": "fp4_padded",
            },
            {**_NO_CGA, "two_ctas": False, "fp4_padded": False},
            {"block": ("block_m", "block_n")},
        ),
    ),
    (
        TensorMemoryScales,
        Constructor(
            "nvidia.blackwell.TensorMemoryScalesLayout",
            _CGA,
            _NO_CGA,
            applies=lambda scales: not scales.k_before_mn,
        ),
    ),
    (
        TensorMemoryScales,
        Constructor(
            "nvidia.rubin.TensorMemoryScalesLayout",
            {**_CGA, "block_rep_order": ""},
            _NO_CGA,
            to_call=lambda scales: {"block_rep_order": "kThenMn"},
            from_call=lambda arguments: {"k_before_mn": arguments["block_rep_order"] == "kThenMn"},
        ),
    ),
)
"""The classes and their constructors; of several for a class, the first that applies."""
