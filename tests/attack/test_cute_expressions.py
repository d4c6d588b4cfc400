"""Hostile expressions of CuTe: each is one message with a caret, in bounded time and memory."""

from __future__ import annotations

import pytest

from tt_layout import LayoutError
from tt_layout.mlir.types import parse_type
from tt_layout.notation.context import Context
from tt_layout.notation.cute.expression import evaluate
from tt_layout.notation.registry import read_layout

DOUBLED = "".join(f"using A{i} = Shape<A{i - 1},A{i - 1}>;" for i in range(1, 60))
NESTED = "".join(f"using A{i} = Shape<_4,A{i - 1}>;" for i in range(1, 1000))

pytestmark = [
    pytest.mark.attack,
    pytest.mark.usefixtures("bounded"),
    pytest.mark.parametrize("bounded", [300], indirect=True, ids=["300 MB"]),
]

HOSTILE = {
    "1,000 brackets": "(" * 1000 + "4" + ")" * 1000 + ":1",
    "1,000 calls": "coalesce(" * 1000 + "4:1" + ")" * 1000,
    "1,000 templates": "Layout<" * 1000 + "_4" + ">" * 1000,
    "1,000 brackets of strides": "4:" + "(" * 1000 + "1" + ")" * 1000,
    "1,000 names in names": f"using A0 = Shape<_2,_2>;{NESTED}Layout<A999>{{}}",
    "a shape of 2 to the 60": f"using A0 = Shape<_2,_2>;{DOUBLED}Layout<A59>{{}}",
    "a template of 1 MB": "Layout<Shape<" + ",".join(["_2"] * 260_000) + ">>",
    "a number of 1 MB": "Layout<Shape<_" + "1" * 1_000_000 + ">>",
    "a tuple of 1 MB": "(" + ",".join(["2"] * 500_000) + "):1",
    "sizes that do not divide": "composition((6,2):(1,7), (5,3):(4,1))",
    "a complement of negative strides": "complement(4:-2, 16)",
    "an inverse of negative strides": "right_inverse((4,4):(-1,4))",
    "negative strides by name": "make_layout((4,4), make_stride(-1, _4{}))",
    "negative strides of types": "Layout<Shape<_4,_4>,Stride<Int<-1>,_4>>{}",
    "negative strides of words": "using A = Int<0 - 4>; (4,4):(A{},1)",
    "no end": "make_layout((4,4",
    "a size of 0": "zipped_divide((8,6):(1,8), (0,3))",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_expression_is_one_message_with_a_caret(name: str) -> None:
    with pytest.raises(LayoutError) as caught:
        evaluate(HOSTILE[name], "EXPRESSION")
    message, excerpt, caret = caught.value.printed().splitlines()
    assert message.startswith("EXPRESSION:1:")
    assert set(caret.strip()) == {"^"}
    assert len(excerpt) < 2000


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_expression_is_no_layout_either(name: str) -> None:
    with pytest.raises(LayoutError) as caught:
        read_layout(HOSTILE[name], Context(name="-l").over(parse_type("tensor<16x16xf16>")))
    message, *rest = caught.value.printed().splitlines()
    assert message.startswith("-l:1:")
    assert set(rest[-1].strip()) == {"^"}
