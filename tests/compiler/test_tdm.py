"""Instructions of gfx1250's tensor data mover, against what Triton 3.9.0 lowers copies to."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from compiler.agreement import Comparison
from compiler.generate import split
from compiler.test_analyses import Lowerer, laid
from compiler.wheel import Question, Wheel
from tt_layout import LayoutError, parse_layout
from tt_layout.analyses.global_memory.descriptor_messages import TdmMessages, tdm_copy, tdm_rows

QUESTIONS = 120
OPERATIONS = ("copy in", "copy in", "copy in", "copy out", "gather", "scatter")
BITS = {"f16": 16, "f32": 32, "i8": 8}


@pytest.fixture(scope="module")
def lowerer(wheel: Wheel) -> Lowerer:
    return Lowerer(wheel.python)


def memory(r: Random, shape: list[int], operation: str) -> str:
    """Return a layout of a buffer; the mover can write to most of them."""
    order = list(reversed(range(len(shape))))
    if r.random() < 0.3:
        phases = 1 if r.random() < 0.9 else 2
        return (
            f"#ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = {phases}, order = {order}}}>"
        )
    parts = 1
    if operation == "copy in" and r.random() < 0.5:
        dim, partitions, groups = r.randrange(len(shape)), r.choice([2, 4]), r.choice([1, 2, 4])
        parts = partitions * groups
    if parts > 1 and shape[dim] >= parts:
        shape = [size // parts if d == dim else size for d, size in enumerate(shape)]
    else:
        parts = 1
    # The wheel leaves the limits of intervals to what makes the descriptor.
    interval = min(max(shape[-1] * r.choice([1, 1, 1, 2]), 8), 256)
    pairs = f"{interval}:+{r.choice([4, 8, 16])}"
    if r.random() < 0.05:
        pairs += f", {4 * interval}:+4"
    inner = f"#ttg.padded_shared<[{pairs}] {{order = {order}, shape = {shape}}}>"
    if parts == 1:
        return inner
    return (
        f"#ttg.partitioned_shared<{{numPartitions = {partitions}, numGroups = {groups}, "
        f"partitionDim = {dim}, partitionLayout = {inner}}}>"
    )


def question(r: Random) -> Question:
    """Return a copy between global and shared memory; most of them can be lowered."""
    operation, elem = r.choice(OPERATIONS), r.choice(list(BITS))
    is_indexed = operation in ("gather", "scatter")
    rank = 2 if is_indexed else r.choice([1, 2, 2, 2, 3])
    shape = split(r, rank, r.randint(4 * rank, 12))
    warps = 1 << r.randint(0, 3)
    asked: Question = {"tdm": operation, "memory": memory(r, shape, operation), "shape": shape}
    asked |= {"elem": elem, "target": "gfx1250", "warps": warps, "threads": 32, "ctas": 1}
    if is_indexed:
        lanes = 1 if r.random() < 0.9 else 2
        parent = (
            f"#ttg.blocked<{{sizePerThread = [{r.choice([4, 8, 8, 16])}, 1], threadsPerWarp = "
            f"[{lanes}, {32 // lanes}], warpsPerCTA = [{warps}, 1], order = [0, 1]}}>"
        )
        asked["indices"] = f"#ttg.slice<{{dim = 1, parent = {parent}}}>"
        asked["index"] = r.choice(["i32", "i16"])
    return asked


def expected(asked: Question) -> TdmMessages | LayoutError:
    """Return the instructions; or why there are none."""
    try:
        shared, shape, way = parse_layout(asked["memory"]), asked["shape"], asked["tdm"]
        shared.to_linear_layout(shape)
        if "indices" in asked:
            rows = laid(asked["indices"], shape[:1])
            assert rows is not None
            bits = int(asked["index"][1:])
            return tdm_rows(shared, shape, rows, bits, is_scatter=way == "scatter")
        bits, is_store = BITS[asked["elem"]], way == "copy out"
        return tdm_copy(shared, shape, bits, asked["warps"], is_store=is_store)
    except LayoutError as error:
        return error


def test_instructions_of_the_mover(lowerer: Lowerer, seed: int, tally: Counter[str]) -> None:
    r, comparison = Random(seed), Comparison(tally)
    asked = [question(r) for _ in range(QUESTIONS)]
    for one, answer in zip(asked, lowerer.ask(asked)):
        found = expected(one)
        if isinstance(found, LayoutError) or "count" not in answer:
            is_same = isinstance(found, LayoutError) and "count" not in answer
            if is_same:
                comparison.agree("both refuse")
            else:
                comparison.disagree("refused", one, f"{found}\n    {answer}")
        elif answer["count"] != found.instructions:
            comparison.disagree("instructions", one, f"{found}\n    {answer}")
        else:
            comparison.agree(f"same instructions of a {one['tdm']}")
    comparison.check()
    assert sum(count for said, count in tally.items() if "same" in said) > QUESTIONS // 2
