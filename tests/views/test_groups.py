"""Groups of cells that share a colour."""

from __future__ import annotations

import pytest

from tt_layout import parse_layout
from tt_layout.mlir.types import parse_type
from tt_layout.placement import place
from tt_layout.views.groups import chunk_bytes, fast_axis

LINEAR = "#ttg.shared_linear<{{offset = {}}}, alignment = 16>"
SWIZZLED = "#ttg.swizzled_shared<{{vec = 4, perPhase = 1, maxPhase = 4, order = {}}}>"


@pytest.mark.parametrize(
    ("layout", "tensor", "axis", "size"),
    [
        (SWIZZLED.format([1, 0]), "tensor<16x16xf16>", 1, 8),
        (SWIZZLED.format([0, 1]), "tensor<16x16xf16>", 0, 8),
        (SWIZZLED.format([0]).replace("maxPhase = 4", "maxPhase = 1"), "tensor<64xf16>", 0, 16),
        # the first two slots hold the same element
        (LINEAR.format([[0, 0], [0, 1], [1, 0]]), "tensor<2x2xf16>", 1, 16),
        (LINEAR.format([[0], [1]]), "tensor<2xf16>", 0, 16),
        (SWIZZLED.format([0]).replace("maxPhase = 4", "maxPhase = 1"), "tensor<1xf16>", 0, 16),
    ],
)
def test_memory_is_contiguous_along_the_dimension_of_its_first_step(
    layout: str, tensor: str, axis: int, size: int
) -> None:
    placed = place(parse_layout(layout), parse_type(tensor))
    assert (fast_axis(placed), chunk_bytes(placed)) == (axis, size)
