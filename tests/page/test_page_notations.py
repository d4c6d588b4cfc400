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

from tt_layout.analyses.layouts.shortest import shortest
from tt_layout.encodings.parsing import parse_layout
from tt_layout.errors import LayoutError
from tt_layout.mlir.types import parse_type
from tt_layout.notation.context import Context
from tt_layout.notation.refusal import RefusedError
from tt_layout.notation.registry import read_layout
from tt_layout.notation.translation import translate
from tt_layout.page.playground import EXAMPLES
from tt_layout.placement import PlacedLayout, place

BUFFER_OF_ONE = "!ttg.memdesc<64xi8, #x, #smem>"
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


def mfma(shape: str, warps: str, more: str = "") -> str:
    values = f"warpsPerCTA = {warps}, instrShape = {shape}, isTransposed = true{more}"
    return f"amd_mfma<{{version = 3, {values}}}>"


def wmma(version: int, layout: str, more: str = "", transposed: str = "false") -> str:
    values = f"isTranspose = {transposed}, ctaLayout = {{{layout}}}{more}"
    return f"amd_wmma<{{version = {version}, {values}}}>"


ROWS = (
    "blocked<{{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]{}}}>"
)
MMA = "nvidia_mma<{{versionMajor = {}, versionMinor = 0, warpsPerCTA = [4, 1]{}, instrShape = {}}}>"
CORES = (
    "nvmma_shared<{{swizzlingByteWidth = 64, transposed = {}, elementBitWidth = 16, rank = {}}}>"
)
RDNA = wmma(1, "warp = [[0, 1], [1, 0]]")
RDNA_4 = wmma(2, "register = [[0, 1]], warp = [[0, 2], [1, 0]]", transposed="true")
SPLIT, CLUSTER = ", CGALayout = [[1, 0]]", ", CGALayout = [[0, 1], [1, 0]]"
SHORTEST = [
    ("swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>", BUFFER),
    (f"swizzled_shared<{{vec = 4, perPhase = 2, maxPhase = 4, order = [0, 1]{SPLIT}}}>", BUFFER),
    ("swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>", BUFFER_OF_ONE),
    (CORES.format("false", 2).replace(", rank = 2", ""), BUFFER),
    (CORES.format("true", 2).replace(", rank = 2", SPLIT), BUFFER),
    (CORES.format("false", 3), "!ttg.memdesc<4x64x64xf16, #x, #smem>"),
    ("padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>", BUFFER),
    (ROWS.format(""), TENSOR),
    (ROWS.format(SPLIT), TENSOR),
    (ROWS.format(CLUSTER), TENSOR),
    (f"slice<{{dim = 0, parent = #ttg.{ROWS.format('')}}}>", "tensor<64xf16>"),
    (f"slice<{{dim = 1, parent = #ttg.{ROWS.format(SPLIT)}}}>", "tensor<64xf16>"),
    (MMA.format(2, "", "[16, 8]"), TENSOR),
    (MMA.format(2, SPLIT, "[16, 8]"), "tensor<128x64xf32>"),
    (MMA.format(3, "", "[16, 64, 16]"), "tensor<128x128xf32>"),
    (f"dot_op<{{opIdx = 1, parent = #ttg.{MMA.format(2, '', '[16, 8]')}, kWidth = 2}}>", TENSOR),
    (mfma("[16, 16, 16]", "[2, 2]"), "tensor<64x64xf32>"),
    (mfma("[32, 32, 8]", "[2, 2]", ", tilesPerWarp = [2, 2]"), "tensor<256x256xf32>"),
    (mfma("[4, 64, 4]", "[4, 1]", SPLIT), "tensor<128x128xf32>"),
    (mfma("[16, 16, 16]", "[2, 1]", ", elementBitWidth = 64"), "tensor<64x64xf64>"),
    (f"dot_op<{{opIdx = 0, parent = #ttg.{mfma('[32, 32, 8]', '[2, 2]')}, kWidth = 4}}>", TENSOR),
    (RDNA, "tensor<64x64xf32>"),
    (RDNA_4, "tensor<64x64xf32>"),
    (wmma(2, "warp = [[1, 0], [2, 0]]", SPLIT), "tensor<128x64xf32>"),
    (wmma(3, "warp = [[1, 0]]", ", instrShape = [32, 16, 64]"), "tensor<128x64xf32>"),
    (f"dot_op<{{opIdx = 1, parent = #ttg.{RDNA_4}, kWidth = 8}}>", "tensor<64x64xf16>"),
]
"""Layouts with parameters, each with a type over which its bases are shown as it again."""


ALIGNED = [
    ("gl.SharedLinearLayout([[0, 1], [0, 2], [1, 0], [2, 0]], [], 16)", "swizzled_shared"),
    ("gl.SharedLinearLayout([[0, 1], [0, 2], [1, 0], [2, 0]], [], 512)", "shared_linear"),
]
"""A buffer whose alignment parameters would lose keeps its bases."""


def bases_of(layout: str, type_text: str) -> str:
    """Return a layout in a notation that only has its bases."""
    tensor, encoding = parse_type(type_text), parse_layout(f"#ttg.{layout}")
    notation = "cute" if layout.startswith("padded") else "linear-layout"
    return translate(encoding, notation, tensor.shape, element_bits=tensor.element_bits).text


@pytest.mark.parametrize("part", [6, slow(1)])
def test_the_shortest_attribute_of_another_notation_is_shown(part: int) -> None:
    """Bases once stood there of a CuTe text, and of wmma, slices and several CTAs."""
    texts = [(bases_of(*one), one[1]) for one in SHORTEST[::part]]
    texts += [(text, "!ttg.memdesc<4x4xf16>") for text, _ in ALIGNED]
    answers = [answer["attribute"] for answer in asked(texts)]
    own = [placed(*one) for one in texts]
    assert answers == [str(shortest(one.encoding, one.shape, one.element_bits)) for one in own]
    assert [answer for answer in answers if "linear" in answer] == [answers[-1]]
    for (layout, _), answer in zip(SHORTEST[::part], answers):
        if layout.startswith(("blocked", "amd_mfma")):  # others are the same as one another
            assert answer == f"#ttg.{layout}"


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
