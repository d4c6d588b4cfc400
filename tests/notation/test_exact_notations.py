"""What a notation leaves out or cannot hold is refused or noted, never made up."""

from __future__ import annotations

import pytest

import tt_layout
from tt_layout.errors import LayoutError
from tt_layout.notation.context import Context
from tt_layout.notation.refusal import RefusedError
from tt_layout.notation.registry import read_layout
from tt_layout.notation.translation import translate

WIDE = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)
REPEATED = (
    "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, "
    "CGALayout = [[0, 0]]}>"
)

REFUSED = {
    "((2,2,2,2,2,2),1):((4,0,1,2,0,0),0)": "it reaches 8 of 16 elements of the shape \\[16\\]",
    "tlx.swizzled_layout(3, 3, 3, order=[1, 0], vec=2)": "vec is not an argument of tlx",
    "tlx.swizzled_layout(3, 3, 3, [1, 0], B=2)": "B is given twice of tlx",
    "tlx.swizzled_layout(vector_size=8, per_phase=1, max_phase=8, B=3, order=[0])": "B is not an",
    "tlx.swizzled_shared_layout_encoding(8, 1, 8, [1, 0], [1, 1], [2, 1])": "clusters are not read",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_text_that_means_something_else_is_refused(text: str) -> None:
    shape = (64, 64) if text.startswith("tlx") else (16,)
    with pytest.raises(LayoutError, match=REFUSED[text]):
        read_layout(text, Context(shape=shape))


def test_arguments_of_a_port_are_told_apart_by_their_names() -> None:
    text = "tlx.swizzled_layout(vector_size=4, per_phase=2, max_phase=8, order=[1, 0])"
    expected = "#ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 8, order = [1, 0]}>"
    assert str(read_layout(text, Context(shape=(64, 64)))) == expected


MFMA = "tlx.amd_mfma_layout(version=4, instr_shape=[16, 16, 32], transposed=True, warps_per_cta=[2, 2])"  # noqa: E501
CLASSES = {
    MFMA: f"gl.amd.AMDMFMALayout{MFMA.removeprefix('tlx.amd_mfma_layout')}",
    f"tlx.dot_operand_layout(0, {MFMA})": (
        "gl.DotOperandLayout(0, gl.amd.AMDMFMALayout(4, [16, 16, 32], True, [2, 2]), 8)"
    ),
    f"tlx.slice_layout(1, parent={MFMA})": (
        "gl.SliceLayout(1, gl.amd.AMDMFMALayout(4, [16, 16, 32], True, [2, 2]))"
    ),
    "tlx.padded_shared_layout_encoding.with_identity_for([(64, 16)], [64, 64])": (
        "gl.PaddedSharedLayout.with_identity_for([[64, 16]], [64, 64], [1, 0])"
    ),
    "tlx.padded_shared_layout_encoding.with_identity_for([(64, 16)], [64, 64], order=[0, 1])": (
        "gl.PaddedSharedLayout.with_identity_for([[64, 16]], [64, 64], [0, 1])"
    ),
    "tlx.padded_shared_layout_encoding.with_bases([(4, 2)], [[0, 1], [1, 0], [0, 2]], [2, 4])": (
        "gl.PaddedSharedLayout([[4, 2]], [[0, 1], [1, 0], [0, 2]], [], [2, 4])"
    ),
    "tlx.shared_linear_layout_encoding([[0, 1], [1, 1], [0, 2]], alignment=32)": (
        "gl.SharedLinearLayout([[0, 1], [1, 1], [0, 2]], [], 32)"
    ),
    "tlx.tensor_memory_layout_encoding(128, 64, 1, CTASplitM=1, CTASplitN=1)": (
        "gl.nvidia.blackwell.TensorMemoryLayout([128, 64], 1)"
    ),
    "tlx.tensor_memory_layout_encoding.make_default([64, 32])": (
        "gl.nvidia.blackwell.TensorMemoryLayout([64, 32], 1)"
    ),
    "tlx.nv_mma_shared_layout_encoding.make_default([64, 64], tl.float16)": (
        "gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)"
    ),
    "tlx.nv_mma_shared_layout_encoding([64, 32], [0, 1], tl.float16, [1, 1], [1, 1], [1, 0], "
    "False, True)": "gl.NVMMASharedLayout.get_default_for([64, 32], gl.float16, transposed=True)",
    "tlx.nv_mma_shared_layout_encoding([64, 32], [1, 0], tl.float16, [1, 1], [1, 1], [1, 0], "
    "fp4Padded=False, swizzled=False)": "gl.NVMMASharedLayout(0, 16)",
}


@pytest.mark.parametrize("text", CLASSES)
def test_classes_of_tlx_are_those_of_gluon(text: str) -> None:
    assert read_layout(text, Context()) == read_layout(CLASSES[text], Context())


def test_classes_of_tlx_take_their_own_arguments() -> None:
    rest = "tl.float16, [1, 1], {}, [1, 0], False, True)"
    head = f"tlx.nv_mma_shared_layout_encoding([64, 32], {{}}, {rest}"
    for text, message in {
        head.format([1, 0], [2, 1]): "numCTASplit must be all ones",
        head.format([1, 1], [1, 1]): "order must be",
        "tlx.tensor_memory_layout_encoding(128, 64, 1, 2, 1)": "must be all ones",
        "tlx.padded_shared_layout_encoding.with_bases([(4, 2)], [[0, 1]])": "cannot be called so",
        "tlx.dot_operand_layout(0)": "cannot be called so",
        "tlx.amd_mfma_layout(4, [16, 16, 32], True)": "needs warps_per_cta",
    }.items():
        with pytest.raises(LayoutError, match=message):
            read_layout(text, Context())


@pytest.mark.parametrize("notation", ["cute", "tlx"])
def test_a_warp_of_64_lanes_is_noted_and_read_back(notation: str) -> None:
    encoding, shape = tt_layout.parse_layout(WIDE), (32, 64)
    found = translate(encoding, notation, shape)
    assert found.notes == ("the text counts threads only; read it with 64 lanes per warp",)
    after = read_layout(found.text, Context(shape=shape, threads_per_warp=64))
    assert after.to_linear_layout(shape).bases == encoding.to_linear_layout(shape).bases


def test_memory_of_several_ctas_has_no_cute_layout() -> None:
    with pytest.raises(RefusedError, match="the tensor is repeated in CTAs"):
        translate(tt_layout.parse_layout(REPEATED), "cute", (64, 64))
