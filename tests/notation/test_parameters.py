"""Parameters of layouts in other notations: kept, renamed, or refused by name."""

from __future__ import annotations

import pytest
from small_modules import NVMMA, ROWS

from tt_layout import LayoutError, parse_layout
from tt_layout.notation.context import Context
from tt_layout.notation.gluon.text import read_gluon
from tt_layout.notation.notations.tlx import read_tlx
from tt_layout.notation.refusal import RefusedError
from tt_layout.notation.registry import NOTATIONS
from tt_layout.notation.translation import translate

LEADING = (
    "#triton_gpu.shared<{{vec = {}, perPhase = {}, maxPhase = {}, order = {}, "
    "hasLeadingOffset = true}}>"
)


SWIZZLED = "#ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = {}, order = [1, 0]}}>"


@pytest.mark.parametrize(
    ("shape", "order", "more"), [([64, 64], [1, 0], ""), ([1, 64, 64], [2, 1, 0], ", rank = 3")]
)
def test_leading_offsets_keep_their_rank(shape: list[int], order: list[int], more: str) -> None:
    encoding = parse_layout(LEADING.format(8, 1, 8, order), release="3.2")
    written = translate(encoding, "3.9", shape, element_bits=16).text
    assert written == NVMMA.format(128, 16, more)


@pytest.mark.parametrize(
    ("width", "bits", "fields"),
    [(32, 16, (8, 4, 2)), (64, 16, (8, 2, 4)), (64, 8, (16, 2, 4)), (128, 32, (4, 1, 8))],
)
def test_phases_of_a_leading_offset(width: int, bits: int, fields: tuple[int, ...]) -> None:
    encoding = parse_layout(NVMMA.format(width, bits, ""))
    written = translate(encoding, "3.2", [64, 64], element_bits=bits).text
    assert written == LEADING.format(*fields, [1, 0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (NVMMA.format(128, 16, ""), "not shared memory as #ttg.nvmma_shared"),
        (
            "#ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>",
            "not tensor memory as #ttng.tensor_memory_encoding",
        ),
        (ROWS.replace("}>", ", CGALayout = [[1, 0]]}>"), "does not distinguish CTAs from warps"),
    ],
)
def test_what_tlx_has_no_constructor_for(text: str, words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        translate(parse_layout(text), "tlx", [64, 64], element_bits=16)


@pytest.mark.parametrize(
    ("element", "width"), [("gl.float64", 64), ("gl.float32", 32), ("gl.float16", 32)]
)
def test_the_element_of_an_old_mfma_is_its_width(element: str, width: int) -> None:
    text = "version=3, instr_shape=[16, 16], transposed=True, warps_per_cta=[4, 1]"
    found = read_gluon(f"gl.amd.AMDMFMALayout({text}, elem_type={element})")
    assert ("elementType = f64" in str(found)) is (width == 64)


@pytest.mark.parametrize(
    ("phases", "size", "written"),
    [
        (2, 2, "Swizzle<1,0,1> o (2,2):(2,1)"),
        (2, 4, "Swizzle<1,0,2> o (4,4):(4,1)"),
        (8, 8, "Swizzle<3,0,3> o (8,8):(8,1)"),
        (32, 32, "Swizzle<5,0,5> o (32,32):(32,1)"),
    ],
)
def test_swizzles_of_every_width(phases: int, size: int, written: str) -> None:
    assert translate(parse_layout(SWIZZLED.format(phases)), "cute", [size, size]).text == written


def test_no_swizzle_is_wider_than_five_bits() -> None:
    with pytest.raises(RefusedError, match="nor one Swizzle"):
        translate(parse_layout(SWIZZLED.format(64)), "cute", [64, 64])


def test_a_transposed_leading_offset_stays_transposed() -> None:
    encoding = parse_layout(LEADING.format(8, 1, 8, [0, 1]), release="3.2")
    written = translate(encoding, "3.9", [64, 64], element_bits=16).text
    assert written == NVMMA.format(128, 16, "").replace("= false", "= true")


def test_an_error_in_a_constructor_names_it() -> None:
    with pytest.raises(LayoutError) as caught:
        read_gluon("gl.nvidia.blackwell.TensorMemoryScalesLayout([3, 1])")
    assert str(caught.value).startswith("TensorMemoryScalesLayout:1:")


@pytest.mark.parametrize(("bits", "is_read"), [(0, True), (31, True), (32, False)])
def test_a_swizzle_of_tlx_has_numbers_below_32(bits: int, is_read: bool) -> None:
    text = f"tlx.swizzled_layout({bits}, 3, 3, [1, 0])"
    if is_read:
        assert read_tlx(text, (64, 64))
        return
    with pytest.raises(LayoutError, match="from 0 to 31"):
        read_tlx(text, (64, 64))


def test_the_notation_of_attributes_names_what_is_wrong() -> None:
    with pytest.raises(LayoutError, match=r"^here:1:"):
        NOTATIONS["linear"].read("#ttg.linear<{", Context("here"))
