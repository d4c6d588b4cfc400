"""Arguments of the library that cannot be: an error that names them, never one of Python's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import numpy as np
import pytest

import tt_layout
from tt_layout import LayoutError, LinearLayout
from tt_layout.analyses.global_memory.global_access import global_access
from tt_layout.analyses.layouts.builders import (
    coalesced_blocked,
    default_blocked,
    default_nvmma,
)
from tt_layout.analyses.layouts.point import holders, locate
from tt_layout.analyses.layouts.properties import layout_info, shared_info
from tt_layout.analyses.shared_memory.swizzle import find_swizzle
from tt_layout.encodings.parsing import parse_layout
from tt_layout.notation.translation import translate

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)


class Endless(list[Any]):
    """A list that yields for ever."""

    def __iter__(self) -> Iterator[Any]:
        return repeat((0, 0))


LAYOUT = parse_layout(BLOCKED).to_linear_layout([64, 64])
ANY: Any = 3
NONE: Any = None
TEXT: Any = "64"
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"

CALLS: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "width 0": (lambda: global_access(LAYOUT, 0), LayoutError, "element_bits"),
    "no shape": (lambda: default_blocked([]), LayoutError, "the shape"),
    "no shape of nvmma": (lambda: default_nvmma([], element_bits=16), LayoutError, "the shape"),
    "no shape coalesced": (
        lambda: coalesced_blocked([], 4, element_bits=16),
        LayoutError,
        "the shape",
    ),
    "elements of 0 bytes": (
        lambda: find_swizzle([BLOCKED], [BLOCKED], [64, 64], elem_bytes=0),
        LayoutError,
        "elem_bytes",
    ),
    "no layouts": (
        lambda: tt_layout.convert(ANY, ANY, [64, 64]),
        LayoutError,
        "expected a layout: text",
    ),
    "no shape of a layout": (
        lambda: tt_layout.info(BLOCKED, ANY),
        LayoutError,
        "expected a shape such as",
    ),
    "no width": (
        lambda: tt_layout.conflicts(BLOCKED, BLOCKED, [64, 64]),
        LayoutError,
        "the width of an element is needed",
    ),
    "no layout": (lambda: layout_info(NONE), TypeError, "layout must be"),
    "no integers": (lambda: holders(LAYOUT, [ANY, NONE]), TypeError, r"element\[1\]"),
    "text as a sequence": (
        lambda: coalesced_blocked("64x64xf16", 8, order=TEXT),
        TypeError,
        "order must be a sequence or None, got '64'",
    ),
    "half bytes in memory": (
        lambda: tt_layout.place(parse_layout(PLAIN), "!ttg.memdesc<16x16xi4>"),
        LayoutError,
        "elements in memory must be whole bytes, got 4 bits",
    ),
    "no sequence": (lambda: default_blocked(ANY), TypeError, "shape must be a sequence"),
    "a shape of text": (
        lambda: tt_layout.parse_layout(BLOCKED).to_linear_layout(TEXT),
        LayoutError,
        "the shape",
    ),
    "no release": (lambda: tt_layout.Release.parse(ANY), TypeError, "the release"),
    "no module": (lambda: tt_layout.read_functions(ANY), TypeError, "module must be a Module"),
    "no shared layout": (lambda: shared_info(ANY), TypeError, "layout must be"),
    "an interval of nothing": (
        lambda: locate(LAYOUT, {}, padding=[(0, 8)]),
        LayoutError,
        "padding of 8 after every 0 elements",
    ),
    "half a padding": (
        lambda: locate(LAYOUT, {}, padding=[ANY]),
        TypeError,
        r"padding\[0\] must be 2 values",
    ),
    "a shape of nothing": (
        lambda: default_nvmma([0, 0], element_bits=16),
        LayoutError,
        "every dimension must be a power of two",
    ),
    "half a basis": (
        lambda: default_nvmma([64, 64], element_bits=16, cga=((1,),)),
        LayoutError,
        "a basis of cga",
    ),
    "no name": (lambda: LAYOUT.vectors(ANY), TypeError, "the name must be a str"),
    "no names": (lambda: LAYOUT.sublayout([ANY], []), TypeError, r"ins\[0\] must be a str"),
    "no end": (
        lambda: default_blocked(range(1 << 40)),
        LayoutError,
        "shape has more than",
    ),
    "no bases": (lambda: LinearLayout.from_bases([ANY], ["x"]), TypeError, "bases must be"),
    "no size": (lambda: LinearLayout.identity_1d(NONE, "a", "b"), TypeError, "size must be"),
    "inverted and 3": (lambda: LAYOUT.invert_and_compose(ANY), TypeError, "the outer layout"),
    "no operand": (lambda: tt_layout.operand_shared(NONE, "64x32xf16"), LayoutError, "operand"),
    "no encoding": (lambda: translate(NONE, "2.1"), TypeError, "encoding"),
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


def test_numbers_of_numpy_are_numbers() -> None:
    shape: Any = np.array([64, 64])
    order: Any = np.array([1, 0])
    assert parse_layout(BLOCKED).to_linear_layout(shape) == LAYOUT
    found = default_blocked(shape, num_warps=int(np.int64(4)), order=order)
    assert found.order == (1, 0)
    assert type(found.order[0]) is int


def test_a_stride_counts_in_the_size_as_triton_has_it() -> None:
    """triton.tools.LinearLayout.strided_1d(1, 4, "a", "b").out_dims == [("b", 4)]."""
    assert LinearLayout.strided_1d(1, 4, "a", "b").out_dims == [("b", 4)]
    assert LinearLayout.strided_1d(4, 4, "a", "b").out_dims == [("b", 16)]
    assert LinearLayout.identity_1d(1, "a", "b").out_dims == [("b", 1)]


def test_lists_that_yield_for_ever_have_as_many_entries_as_they_say() -> None:
    assert LAYOUT.with_vectors("lane", Endless([4, 4])).vectors("lane") == ((0, 0), (0, 0))
    with pytest.raises(TypeError, match="expected MLIR text"):
        tt_layout.audit_ir(Endless([4, 4]))
