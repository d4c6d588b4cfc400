"""Forms of attributes that only some releases read."""

from __future__ import annotations

import pytest
from small_modules import NVMMA, ROWS

from tt_layout import LayoutError, parse_layout


def test_lists_of_two_lengths_were_read_until_2_1() -> None:
    text = "#triton_gpu.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32], warpsPerCTA = [4], "
    assert parse_layout(f"{text}order = [0]}}>", release="2.1")
    with pytest.raises(LayoutError, match="must have one length"):
        parse_layout(f"{text}order = [0]}}>", release="2.2")


def test_padded_pairs_of_4_bits_are_read_but_have_no_layout() -> None:
    text = NVMMA.format(64, 8, ", fp4Padded = true")
    encoding = parse_layout(text)
    with pytest.raises(
        LayoutError, match="fp4Padded = true needs swizzlingByteWidth = 128, got 64"
    ):
        encoding.to_linear_layout([64, 64])


@pytest.mark.parametrize(("release", "is_read"), [("3.3", True), ("3.4", False)])
def test_ctas_may_be_empty_lists_until_3_3(release: str, is_read: bool) -> None:
    text = ROWS.replace("}>", ", CTAsPerCGA = [], CTASplitNum = [], CTAOrder = []}>")
    if is_read:
        assert parse_layout(text, release=release).to_linear_layout([64, 64])
        return
    with pytest.raises(LayoutError):
        parse_layout(text, release=release)
