"""Spellings of layouts from where people have them: lines of dumps and logs, functions of Gluon."""

from __future__ import annotations

import pytest

import tt_layout

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)


@pytest.mark.parametrize("line", [f"#blocked = {BLOCKED}", f"\n  #b1={BLOCKED}\n"])
def test_a_line_of_a_dump_is_its_layout(line: str) -> None:
    assert tt_layout.parse_layout(line) == tt_layout.parse_layout(BLOCKED)


def test_a_fault_in_a_line_is_pointed_at() -> None:
    with pytest.raises(tt_layout.LayoutError, match=r"<layout>:1:21: error: .* has no key"):
        tt_layout.parse_layout("#b = #ttg.blocked<{sizePerThreads = [1]}>".replace("#b", "#bl"))


def test_two_layouts_are_said_to_be_two() -> None:
    with pytest.raises(tt_layout.LayoutError, match=r"has 2 layouts, #a, #b: give one of them"):
        tt_layout.parse_layout(f"#a = {BLOCKED}\n#b = {BLOCKED}")
    log = str(tt_layout.to_linear_layout(BLOCKED, [16, 64]))
    assert tt_layout.to_linear_layout(log, [16, 64]).bases
    with pytest.raises(tt_layout.LayoutError, match=r"register=1 comes again: .* two layouts"):
        tt_layout.parse_layout(f"{log}\n{log}")


MADE = {
    "gl.PaddedSharedLayout.with_identity_for([[64, 8]], [16, 64], order=[1, 0])": (
        "PaddedSharedLayout(interval_padding_pairs=[[64, 8]], offset_bases=[[0, 1], [0, 2], "
        "[0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0], [8, 0]], cga_layout=[], "
        "shape=[16, 64])"
    ),
    "gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)": (
        "NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)"
    ),
    "gl.NVMMASharedLayout.get_default_for([64, 16], dtype=gl.float8e5, transposed=True)": (
        "NVMMASharedLayout(swizzle_byte_width=64, element_bitwidth=8, rank=2, transposed=True)"
    ),
    "NVMMASharedLayout.get_default_for([4, 64], tl.bfloat16)": (
        "NVMMASharedLayout(swizzle_byte_width=0, element_bitwidth=16, rank=2)"
    ),
}
"""Functions of Gluon, and the objects that they return in the wheel of 3.9.0."""


@pytest.mark.parametrize("text", MADE)
def test_functions_of_gluon(text: str) -> None:
    assert tt_layout.parse_layout(text) == tt_layout.parse_layout(MADE[text])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gl.NVMMASharedLayout.get_default_for([64, 64])", "missing 1 required positional"),
        ("gl.NVMMASharedLayout.get_default_for([64, 64], gl.thing)", "dtype must be an element"),
        ("gl.PaddedSharedLayout.with_identity_for([[4, 4]], [4, 4], [1, 1])", "a permutation"),
        ("gl.PaddedSharedLayout.with_identity_for([[4, 4]], [4, 3], [1, 0])", "power of two"),
        ("gl.PaddedSharedLayout.with_identity_for(4, 4, 4)", "must be a sequence"),
    ],
)
def test_functions_of_gluon_called_wrongly(text: str, message: str) -> None:
    with pytest.raises(tt_layout.LayoutError, match=message):
        tt_layout.parse_layout(text)


def test_notebooks_show_layouts_as_people_read_them() -> None:
    encoding = tt_layout.parse_layout(BLOCKED)
    for shown in (encoding, tt_layout.translate(BLOCKED, to="linear-layout", shape_or_type=[4, 4])):
        html = shown._repr_html_()
        assert html.startswith("<pre")
        assert "sizePerThread" in html or "register=1" in html
    load = tt_layout.conflicts(BLOCKED, "(64,64):(64,1)", "64x64xf16").conflicts.load
    assert load is not None
    assert "4 wavefronts per instruction" in load._repr_html_()
    assert "<title>#ttg.blocked" in tt_layout.plot(BLOCKED, [16, 16]).svg
