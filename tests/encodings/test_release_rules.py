"""Layouts that another release than the newest gives the same attribute, as its wheel answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tt_layout
from tt_layout.errors import LayoutError
from tt_layout.mlir.types import parse_type
from tt_layout.notation.refusal import RefusedError
from tt_layout.notation.translation import translate
from tt_layout.placement import buffer_shape

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "release-rules.jsonl")
    .read_text()
    .splitlines()
]
OPERAND = (
    "#ttg.dot_op<{opIdx = 0, parent = #ttg.amd_wmma<{version = 2, isTranspose = false, "
    "ctaLayout = {warp = [[1, 0]]}, CGALayout = [[0, 1]]}>, kWidth = 8}>"
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['release']}-{row['attr'][:60]}")
def test_the_bases_are_those_of_the_wheel(row: dict[str, Any]) -> None:
    encoding = tt_layout.parse_layout(row["attr"], release=row["release"])
    assert dict(encoding.to_linear_layout(row["shape"]).bases) == row["bases"]


@pytest.mark.parametrize(
    ("release", "version", "widths"),
    [
        ("3.2", 2, {8}),
        ("3.3", 2, {8, 16}),
        ("3.6", 3, {2, 8, 16}),
        ("3.7", 3, {2, 4, 8, 16}),
    ],
)
def test_widths_of_operands_of_wmma(release: str, version: int, widths: set[int]) -> None:
    warps = ", warpsPerCTA = [4, 1]" if release < "3.7" else ", ctaLayout = {warp = [[1, 0]]}"
    shape = ", instrShape = [16, 16, 32]" if version == 3 else ""
    dialect, side = ("triton_gpu", "") if release == "3.2" else ("ttg", ", isTranspose = false")
    parent = f"amd_wmma<{{version = {version}{side}{warps}{shape}}}>"
    found = set()
    for width in (2, 4, 8, 16):
        text = f"#{dialect}.dot_op<{{opIdx = 0, parent = #{dialect}.{parent}, kWidth = {width}}}>"
        try:
            tt_layout.parse_layout(text, release=release).check_layout()
            found.add(width)
        except tt_layout.LayoutError as error:
            assert "kWidth must be" in str(error)  # noqa: PT017
    assert found == widths


def test_until_3_2_lanes_of_wgmma_repeat_what_a_narrow_tensor_lacks() -> None:
    """Later it is the registers that do."""
    text = (
        "#triton_gpu.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], "
        "CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0], instrShape = [16, 16, 16]}>"
    )
    free = {}
    for release in ("3.0", "3.1", "3.2"):
        layout = tt_layout.parse_layout(text, release=release).to_linear_layout([64, 8])
        masks = layout.get_free_variable_masks()
        free[release] = {name: mask for name, mask in masks.items() if mask}
    assert free == {"3.0": {"lane": 2}, "3.1": {"lane": 2}, "3.2": {"register": 4}}


def test_a_version_of_mfma_may_be_left_out_as_the_wheels_do() -> None:
    text = (
        "#triton_gpu.amd_mfma<{warpsPerCTA = [4, 1], instrShape = [32, 32], isTransposed = true}>"
    )
    layouts = [tt_layout.parse_layout(text, release=release) for release in ("3.0", "3.2")]
    full = tt_layout.parse_layout(text.replace("<{", "<{versionMajor = 0, "), release="3.0")
    assert layouts[0] == full
    assert str(layouts[0]) == str(layouts[1])


def test_unpacked_tensor_memory_needs_the_width_of_an_element() -> None:
    text = "#ttng.tensor_memory_encoding<blockM = 64, blockN = 32, unpacked = true>"
    memory = tt_layout.parse_layout(text, release="3.4")
    assert memory.to_linear_layout([64, 32], element_bits=16)
    with pytest.raises(tt_layout.LayoutError, match="needs the element type"):
        memory.to_linear_layout([64, 32])


def test_a_translation_to_a_release_that_reads_the_text_otherwise_is_refused() -> None:
    """Until 3.7 the CTAs of a cluster share K of an operand of WMMA; since 3.8 each has all."""
    encoding = tt_layout.parse_layout(OPERAND)
    with pytest.raises(RefusedError):
        translate(encoding, "3.7", [32, 64], element_bits=16)
    assert translate(encoding, "3.8", [32, 64], element_bits=16).text == OPERAND


def test_buffers_of_a_tensor_in_shared_memory_are_counted_until_3_2() -> None:
    """Since then they are those of a memdesc, and a tensor has the rank of its layout."""
    tensor = parse_type("tensor<3x8x16xf16>")
    for release, shape in (("3.2", (8, 16)), ("3.3", (3, 8, 16))):
        dialect = "triton_gpu" if release < "3.3" else "ttg"
        name = "shared" if release < "3.3" else "swizzled_shared"
        text = f"#{dialect}.{name}<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>"
        assert buffer_shape(tt_layout.parse_layout(text, release=release), tensor) == shape


def test_tensor_memory_narrower_than_its_block_is_since_3_8() -> None:
    text = "#ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>"
    assert tt_layout.parse_layout(text, release="3.8").to_linear_layout([128, 16])
    with pytest.raises(tt_layout.LayoutError, match="at least blockN = 32 columns, got 16"):
        tt_layout.parse_layout(text, release="3.7").to_linear_layout([128, 16])


@pytest.mark.parametrize(("version", "release"), [(1, "3.5"), (2, "3.5"), (1, "3.6")])
def test_tiles_of_the_first_wmma_are_transposed_since_3_6(version: int, release: str) -> None:
    text = f"#ttg.amd_wmma<{{version = {version}, isTranspose = true, warpsPerCTA = [2, 2]}}>"
    if (version, release) != (1, "3.5"):
        assert tt_layout.parse_layout(text, release=release).rank == 2
        return
    with pytest.raises(LayoutError, match=r"isTranspose = true needs version 2 until Triton 3\.5"):
        tt_layout.parse_layout(text, release=release)
