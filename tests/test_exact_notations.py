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
