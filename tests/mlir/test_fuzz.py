"""Whatever the input, the end is an answer or a LayoutError, and it takes little work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from mutations import mutated
from tiers import slow
from truth.make_truth import read_rows
from work import calls_of

import tt_layout
from tt_layout.encodings.alias_table import AliasTable
from tt_layout.errors import LayoutError
from tt_layout.mlir.aliases import FileDefinitions
from tt_layout.mlir.source import Source
from tt_layout.mlir.types import parse_type
from tt_layout.views.kinds import KINDS
from tt_layout.views.view import BareLayout

ATTRIBUTES = [150, slow(5000)]
FILES = [120, slow(3000)]
TYPES = [150, slow(3000)]
COUNTED = 800  # then one in four
CALLS_FOR_ONE = 500_000  # half a second, as machines are
MAX_VIEW_BYTES = 1 << 17  # longer views are made by the same code, only slower

FILE_TEXTS = [
    "#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], "
    "order = [0]}>\n#b = #ttg.slice<{dim = 0, parent = #c}>\n#c = #ttg.slice<{dim = 0, "
    "parent = #d}>\n#d = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 4, 8], "
    "warpsPerCTA = [2, 2, 1], order = [2, 1, 0]}>\nmodule {\n}\n",
    "#a = #b\n#b = #c\n#c = #a\n#d = #ttg.slice<{dim = 0, parent = #a}>\n",
    "#a = {order = [1, 0]}\n#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, "
    "order = [1, 0]}>\n#smem = #ttg.shared_memory\n#p = #ttg.partitioned_shared<{numPartitions = "
    "2, numGroups = 2, partitionDim = 0, partitionLayout = #shared}>\n",
]
TYPE_TEXTS = [
    "tensor<16x16xf16>",
    "tensor<32x!tt.ptr<f32>, #ttg.blocked<{order = [0]}>>",
    "!ttg.memdesc<2x64x64xf16, #shared, #ttg.shared_memory, mutable, 4x64x64>",
]

Question = tuple[str, Callable[[], str]]


def random_shape(r: Random, shape: list[int]) -> list[int]:
    """Return mostly the shape that suits the text, else any, sound or not."""
    if r.random() < 0.8:
        return shape
    sizes = [1, 2, 4, 8, 16, 32, 64, 128, 3, 0, -1, 1 << 20, 1 << 40]
    return [r.choice(sizes) for _ in range(r.choice([0, 1, 1, 2, 2, 2, 3, 4]))]


def outcome(ask: Callable[[], str], *, is_counted: bool) -> str:
    """Return how a question ended; anything but a LayoutError goes on its way.

    Counting its calls takes as long as the question itself.
    """
    answers = []

    def answer() -> None:
        try:
            answers.append(ask())
        except LayoutError as error:
            answers.append("LayoutError" if str(error) else "an error without a message")

    if is_counted:
        assert calls_of(answer) < CALLS_FOR_ONE
    else:
        answer()
    return answers[0]


def ask_layout(r: Random, text: str, shape: list[int]) -> str:
    release = r.choice([None, None, None, None, "3.9", "3.9", "3.5", "2.1"])
    encoding = tt_layout.parse_layout(text, release=release)
    layout = encoding.to_linear_layout(shape, element_bits=r.choice([None, 8, 16, 64]))
    placed = BareLayout(layout, encoding.padding, encoding.memory_space)
    views = [kind.view(placed) for kind in KINDS.values()]
    if max(view.size for view in views) > MAX_VIEW_BYTES:
        return "layout"
    for view in views:
        assert len(view.text()) == view.size
    return "layout and views"


def ask_file(text: str) -> str:
    source = Source(text)
    document = AliasTable(source, FileDefinitions(source))
    for name in document.layout_names():
        document.layout(name)
    return "file"


def ask_type(text: str) -> str:
    parse_type(text)
    return "type"


def run(tally: Counter[str], count: int, question: Callable[[], Question]) -> None:
    for number in range(count):
        shown, ask = question()
        try:
            tally[outcome(ask, is_counted=number < COUNTED or number % 4 == 0)] += 1
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error}\nfor {shown!r}")


@pytest.mark.slow
@pytest.mark.parametrize("count", ATTRIBUTES)
def test_attributes(count: int, seed: int, tally: Counter[str]) -> None:
    r, rows = Random(seed), read_rows()

    def question() -> Question:
        row = r.choice(rows)
        text, shape = mutated(r, row["attr"]), random_shape(r, row["shape"])
        return f"{text} over {shape}", lambda: ask_layout(r, text, shape)

    run(tally, count, question)


@pytest.mark.slow
@pytest.mark.parametrize("count", FILES)
def test_files(count: int, seed: int, tally: Counter[str]) -> None:
    r = Random(seed)

    def question() -> Question:
        text = mutated(r, r.choice(FILE_TEXTS))
        return text, lambda: ask_file(text)

    run(tally, count, question)


@pytest.mark.parametrize("count", TYPES)
def test_types(count: int, seed: int, tally: Counter[str]) -> None:
    r = Random(seed)

    def question() -> Question:
        text = mutated(r, r.choice(TYPE_TEXTS))
        return text, lambda: ask_type(text)

    run(tally, count, question)
