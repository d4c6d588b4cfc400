"""Messages of the tensor memory accelerator, against what Triton 3.9.0 lowers copies to."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from compiler.agreement import Comparison
from compiler.generate import split
from compiler.test_analyses import Lowerer, laid
from compiler.wheel import Question, Wheel
from tt_layout import LayoutError, parse_layout
from tt_layout.analyses.global_memory.descriptor_messages import (
    TmaMessages,
    gather_messages,
    tma_messages,
)
from tt_layout.encodings.nvmma_shared import NvmmaShared

QUESTIONS = 60
OPERATIONS = ("copy in", "copy in", "copy out", "reduce", "im2col", "gather", "scatter")
SHARED_MEMORY = 17  # bits of the elements of a buffer


@pytest.fixture(scope="module")
def lowerer(wheel: Wheel) -> Lowerer:
    return Lowerer(wheel.python)


def question(r: Random) -> Question:
    """Return a copy between global and shared memory; most of them can be lowered."""
    operation = r.choice(OPERATIONS)
    elements = [("f16", 16), ("f32", 32), ("bf16", 16), ("i8", 8)]
    elem, bits = r.choice(elements[:3] if operation == "reduce" else elements)
    rank = 2 if operation in OPERATIONS[4:] else r.choice([1, 2, 2, 2, 3, 4])
    is_indexed = operation in ("gather", "scatter")
    fp4 = elem == "i8" and rank > 1 and operation in ("copy in", "im2col") and r.random() < 0.3
    width = 128 if fp4 else r.choice([0, 32, 64, 128]) if rank > 1 else 0
    text = f"swizzlingByteWidth = {width}, transposed = false, elementBitWidth = {bits}"
    text += ", fp4Padded = true" * fp4 + f", rank = {rank}" * (rank != 2)
    warps = 1 << r.randint(0, 3)
    shape = split(r, rank, r.randint(3 * rank, min(SHARED_MEMORY, 9 * rank)))
    if is_indexed:
        shape = [max(8, shape[0]), max(256 // bits, shape[1])]
    asked: Question = {"tma": operation, "memory": f"#ttg.nvmma_shared<{{{text}}}>"}
    asked |= {"shape": list(shape), "elem": elem, "target": "sm100"}
    asked |= {"warps": warps, "threads": 32, "ctas": 1}
    if is_indexed:
        parent = (
            f"#ttg.blocked<{{sizePerThread = [1, {r.choice([4, 4, 8])}], threadsPerWarp = [32, 1],"
            f" warpsPerCTA = [1, {warps}], order = [1, 0]}}>"
        )
        asked["indices"] = f"#ttg.slice<{{dim = 0, parent = {parent}}}>"
    return asked


def expected(asked: Question) -> TmaMessages | LayoutError:
    """Return the messages; or why there are none."""
    shared, shape = parse_layout(asked["memory"]), asked["shape"]
    assert isinstance(shared, NvmmaShared)
    try:
        if "indices" in asked:
            indices = laid(asked["indices"], shape[:1])
            assert indices is not None
            return gather_messages(shared, shape, indices)
        return tma_messages(shared, shape, is_im2col=asked["tma"] == "im2col")
    except LayoutError as error:
        return error


def issued(asked: Question, found: TmaMessages) -> int:
    """Return how many messages stand in the code: each warp issues its share of them."""
    warps: int = asked["warps"]
    if "indices" in asked:
        indices = laid(asked["indices"], asked["shape"][:1])
        assert indices is not None
        warps >>= indices.get_free_variable_masks()["warp"].bit_count()
    return -(-found.messages // warps)


def test_messages(lowerer: Lowerer, seed: int, tally: Counter[str]) -> None:
    r, comparison = Random(seed), Comparison(tally)
    drawn = [question(r) for _ in range(4 * QUESTIONS)]
    asked = [one for one in drawn if isinstance(expected(one), TmaMessages)][:QUESTIONS]
    for one, answer in zip(asked, lowerer.ask(asked)):
        found = expected(one)
        assert isinstance(found, TmaMessages)
        if "count" not in answer:
            comparison.disagree("we take what the wheel refuses", one, f"{found}\n    {answer}")
        elif answer["count"] != issued(one, found):
            comparison.disagree("messages", one, f"{found}\n    {answer}")
        else:
            comparison.agree(f"same messages of a {one['tma']}")
    comparison.check()
    assert tally.total() > QUESTIONS // 2
