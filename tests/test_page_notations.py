"""Texts in every notation mean in the page what they mean in the library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from compiler.generate import random_cases
from compiler.round_trip import given
from page_scripts import scripts
from test_notation import BUFFER, FAULTS, REGISTERS, SHARED, TENSOR
from tiers import slow

from tt_layout.encodings.parsing import parse_layout
from tt_layout.errors import LayoutError
from tt_layout.mlir.types import parse_type
from tt_layout.notation.context import Context
from tt_layout.notation.refusal import RefusedError
from tt_layout.notation.registry import read_layout
from tt_layout.notation.translation import translate
from tt_layout.page.examples import EXAMPLES
from tt_layout.placement import PlacedLayout, place

GLUON = "gl.BlockedLayout([1, 2], [8, 4], [2, 2], [1, 0])"
SWAPPED = "gl.BlockedLayout([2, 1], [4, 8], [2, 2], [0, 1])"
NOTATIONS = ("gluon", "cute", "linear-layout", "bases", "tlx", "json")
OTHER_WORDS = {
    "(64,64):(64,4096)",
    "gl.SliceLayout(0if 1 else 2, 1)",
    '{"register": [[true]]}',
    "{",
}
"""Faults that Python's own words name otherwise than JavaScript's."""


def placed(text: str, type_text: str, lanes: int = 32) -> PlacedLayout:
    """Return the layout of a text over a type; `16x16xf16` leaves open in which memory it is."""
    over = parse_type(type_text)
    context = Context(threads_per_warp=lanes).over(over)
    if type_text[0].isdigit():
        context = context._replace(memory_space=None)
    encoding = read_layout(text, context)
    if type_text[0].isdigit() and encoding.memory_space != "registers":
        over = parse_type(f"!ttg.memdesc<{type_text}>")
    return place(encoding, over)


def assert_alike(answer: dict[str, Any], own: PlacedLayout, text: str) -> None:
    assert "error" not in answer, (text, answer)
    assert answer["ins"] == [[n, [list(v) for v in vs]] for n, vs in own.layout.in_bases], text
    assert answer["outs"] == [list(pair) for pair in own.layout.out_sizes], text
    assert answer["padding"] == [list(pair) for pair in own.padding], text
    assert answer["release"] == str(own.encoding.release), text


def translated(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yield random layouts in every notation that expresses them, each with its type."""
    for case in random_cases(seed, count):
        own = given(case.question(), "3.9")
        if own is None:
            continue
        sizes = "x".join(map(str, own.shape))
        type_text = f"{sizes}x{case.elem}"
        is_held = own.encoding.memory_space == "registers"
        type_text = f"tensor<{type_text}>" if is_held else f"!ttg.memdesc<{type_text}>"
        for target in NOTATIONS:
            try:
                result = translate(own.encoding, target, own.shape, element_bits=own.element_bits)
            except RefusedError:
                continue
            yield result.text, type_text


def asked(texts: list[tuple[str, str]]) -> list[Any]:
    questions = [
        {"what": "notation", "attribute": text, "type": type_text, "release": ""}
        for text, type_text in texts
    ]
    return scripts().ask_all(questions)


@pytest.mark.slow
@pytest.mark.parametrize("cases", [10, slow(45)])
def test_texts_of_every_notation_mean_what_the_library_reads(cases: int, seed: int) -> None:
    texts = [(text, TENSOR) for text in REGISTERS] + [(text, BUFFER) for text in SHARED]
    texts += [(example.layout, example.type) for example in EXAMPLES]
    texts += [(example.other, example.type) for example in EXAMPLES if example.other]
    texts += list(translated(cases, seed))
    assert len(texts) > 3 * cases
    for (text, type_text), answer in zip(texts, asked(texts)):
        assert_alike(answer, placed(text, type_text), text)


def test_faults_and_releases_are_those_of_the_library() -> None:
    texts = [(text, TENSOR) for text in FAULTS]
    for (text, _), answer in zip(texts, asked(texts)):
        assert answer.get("error"), text
        if text not in OTHER_WORDS:
            assert FAULTS[text] in answer["error"], text
    blocked = "sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]"
    texts = [
        (f"#ttg.blocked<{{{blocked}}}>", "tensor<32xf16>"),
        (f"#triton_gpu.blocked<{{{blocked}}}>", "tensor<32xf16>"),
        ("gl.BlockedLayout([2], [32], [1], [0], [1], [1], [0])", "tensor<32xf16>"),
    ]
    answers = asked(texts)
    assert [answer["release"] for answer in answers] == ["3.9", "3.2", "3.5"]
    for (text, type_text), answer in zip(texts, answers):
        assert_alike(answer, placed(text, type_text), text)


@pytest.mark.parametrize(
    ("layout", "type_text"),
    [
        ("swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>", BUFFER),
        (
            "nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>",
            BUFFER,
        ),
        ("padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>", BUFFER),
        (
            "blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
            "order = [1, 0]}>",
            TENSOR,
        ),
        (
            "nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], "
            "instrShape = [16, 8]}>",
            TENSOR,
        ),
    ],
)
def test_the_shortest_attribute_of_another_notation_is_shown(layout: str, type_text: str) -> None:
    """A CuTe text once stood there as its bases."""
    sizes = parse_type(type_text)
    encoding = parse_layout(f"#ttg.{layout}")
    cute = translate(encoding, "cute", sizes.shape, element_bits=sizes.element_bits).text
    [answer] = asked([(cute, type_text)])
    assert answer["attribute"] == str(encoding)


@pytest.mark.parametrize(
    ("text", "type_text"),
    [
        ("((2,2,2,2,2,2),1):((4,0,1,2,0,0),0)", "tensor<16xf32>"),
        ("((4,8),(2,1)):((32,1),(16,8))", "tensor<16x16xf32>"),
    ],
)
def test_a_cute_layout_that_leaves_elements_out_is_refused(text: str, type_text: str) -> None:
    """Not quietly extended to another layout."""
    with pytest.raises(LayoutError, match="it reaches") as refused:
        placed(text, type_text)
    [answer] = asked([(text, type_text)])
    assert answer["error"] in str(refused.value)


OF_64 = "((4,16),(2,2)):((32,1),(16,128))"


@pytest.mark.parametrize(
    ("text", "type_text"),
    [
        (OF_64, "16x16xf32"),
        ("make_layout_tv(thr_layout=(16,8):(8,1), val_layout=(1,8):(8,1))", "tensor<16x64xf16>"),
        ("gl.CoalescedLayout()", "tensor<32x64xf32>"),
    ],
)
def test_warps_have_64_lanes_where_that_is_chosen(text: str, type_text: str) -> None:
    for lanes in (32, 64):
        question = {"attribute": text, "type": type_text, "release": "", "lanes": lanes}
        answer = scripts().ask(what="notation", **question)
        assert_alike(answer, placed(text, type_text, lanes), text)
        assert len(dict(map(tuple, answer["ins"]))["lane"]) == {32: 5, 64: 6}[lanes]


def test_what_each_example_is_the_result_of_is_worked_out() -> None:
    """The page asks of every layout that is typed; an exception would stop it."""
    questions = [
        {"what": "multiplication", "attribute": one.layout, "type": one.type, "release": ""}
        for one in EXAMPLES
    ]
    answers = scripts().ask_all(questions)
    assert sum(answer is not None for answer in answers) >= 5
