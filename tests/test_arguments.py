"""Arguments of the library that cannot be: an error that names them, never one of Python's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tt_layout
from tt_layout import LayoutError, LinearLayout
from tt_layout.encodings.parsing import parse_layout

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)
LAYOUT = parse_layout(BLOCKED).to_linear_layout([64, 64])
ANY: Any = 3
NONE: Any = None

CALLS: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "width 0": (lambda: tt_layout.global_access(LAYOUT, 0), LayoutError, "element_bits"),
    "no shape": (lambda: tt_layout.default_blocked([]), LayoutError, "the shape"),
    "no shape of nvmma": (lambda: tt_layout.default_nvmma([], 16), LayoutError, "the shape"),
    "no shape coalesced": (
        lambda: tt_layout.coalesced_blocked([], 16, 4),
        LayoutError,
        "the shape",
    ),
    "elements of 0 bytes": (
        lambda: tt_layout.find_swizzle([BLOCKED], [BLOCKED], [64, 64], elem_bytes=0),
        LayoutError,
        "elem_bytes",
    ),
    "no layouts": (lambda: tt_layout.conversion(ANY, ANY), TypeError, "the layout"),
    "no layout": (lambda: tt_layout.layout_info(NONE), TypeError, "the layout"),
    "no operand": (lambda: tt_layout.operand_shared(NONE, [64, 32], 16), TypeError, "operand"),
    "no encoding": (lambda: tt_layout.translate(NONE, "2.1"), TypeError, "encoding"),
    "no inputs": (lambda: LAYOUT.apply(NONE), TypeError, "inputs"),
    "composed with 3": (lambda: LAYOUT.compose(ANY), TypeError, "the outer layout"),
    "times 3": (lambda: LAYOUT * ANY, TypeError, "the outer layout"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_named(name: str) -> None:
    call, kind, argument = CALLS[name]
    with pytest.raises(kind, match=argument) as raised:
        call()
    assert len(str(raised.value)) < 300


def test_a_stride_counts_in_the_size_as_triton_has_it() -> None:
    """triton.tools.LinearLayout.strided_1d(1, 4, "a", "b").out_dims == [("b", 4)]."""
    assert LinearLayout.strided_1d(1, 4, "a", "b").out_dims == [("b", 4)]
    assert LinearLayout.strided_1d(4, 4, "a", "b").out_dims == [("b", 16)]
    assert LinearLayout.identity_1d(1, "a", "b").out_dims == [("b", 1)]
