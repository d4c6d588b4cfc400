"""The messages of tensor memory, against what Triton 3.9.0 lowers loads and stores to."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from compiler.agreement import Comparison
from compiler.generate import shuffled
from compiler.test_analyses import Lowerer, laid
from compiler.wheel import Answer, Question, Wheel
from tt_layout import LayoutError, LinearLayout, parse_layout
from tt_layout.analyses.tensor_memory.access import HALVES, TILES, Cell, Tile, tensor_memory_access
from tt_layout.mlir.types import element_bits

QUESTIONS = 400
ELEMENTS = {1: ("f32", "f16", "i8"), 2: ("f16", "i8"), 4: ("i8",)}
"""Columns from one element to the next -> elements that may be so far apart."""


@pytest.fixture(scope="module")
def lowerer(wheel: Wheel) -> Lowerer:
    return Lowerer(wheel.python)


def memory(r: Random) -> tuple[str, tuple[int, int], str]:
    """Return an attribute of tensor memory with a shape and an element."""
    if r.random() < 0.15:
        shape = (1 << r.randint(4, 8), 1 << r.randint(0, 5))
        return "#ttng.tensor_memory_scales_encoding<>", shape, "i8"
    block_m, stride = r.choice([64, 128, 128]), r.choice([1, 1, 1, 2, 4])
    block_n, columns = 1 << r.randint(1, 7), 1 << r.randint(1, 8)
    attr = f"blockM = {block_m}, blockN = {block_n}, colStride = {stride}"
    shape = (block_m * r.choice([1, 1, 2]), columns)
    return f"#ttng.tensor_memory_encoding<{attr}>", shape, r.choice(ELEMENTS[stride])


def held_by(r: Random, where: LinearLayout, tile: Tile, warps: int) -> dict[str, list[list[int]]]:
    """Return a layout of registers that walks through tensor memory as a message does."""
    names = where.get_out_dim_names()

    def element(cell: Cell) -> list[int]:
        point = where.apply({"row": cell[0], "col": cell[1], "block": 0})
        return [point[name] for name in names]

    columns = where.get_in_dim_size("col")
    rows = [(1 << k, 0) for k in range(5)]
    cells = [(0, 1 << k) for k in range(columns.bit_length() - 1)] + rows
    lane = list(tile.lane)
    if tile is HALVES:
        lane.append(r.choice([(16, 0), (0, columns // 2)]))
    rest = [element(cell) for cell in cells if cell not in lane]
    rest = [vector for vector in rest if any(vector)]
    if r.random() < 0.3:
        rest = shuffled(r, rest)
    more = [rest.pop() if rest else [0, 0] for _ in range(warps)]
    found = {"register": rest, "lane": [element(cell) for cell in lane]}
    return {**found, "warp": [element((32, 0)), element((64, 0)), *more]}


def question(r: Random) -> Question | None:
    """Return a register layout for a piece of tensor memory; most of them can be moved."""
    attr, shape, elem = memory(r)
    try:
        where = parse_layout(attr).to_linear_layout(shape, element_bits=element_bits(elem))
        more = r.choice([0, 0, 1])
        bases = held_by(r, where, r.choice([*TILES, TILES[0], HALVES]), more)
    except LayoutError:
        return None
    if r.random() < 0.15:
        one, other = (r.choice([name for name in bases if bases[name]]) for _ in range(2))
        a, b = r.randrange(len(bases[one])), r.randrange(len(bases[other]))
        bases[one][a], bases[other][b] = bases[other][b], bases[one][a]
    text = ", ".join(f"{name} = {vectors}" for name, vectors in bases.items())
    asked: Question = {
        "messages": [f"#ttg.linear<{{{text}, block = []}}>", attr],
        "shape": list(shape),
    }
    asked |= {"elem": elem, "target": "sm100", "warps": 4 << more, "threads": 32, "ctas": 1}
    if r.random() < 0.2:
        asked["maxnreg"] = r.choice([80, 128, 256])
    return asked if laid(asked["messages"][0], shape) is not None else None


def questions(seed: int) -> list[Question]:
    r = Random(seed)
    found: list[Question] = []
    while len(found) < QUESTIONS:
        asked = question(r)
        if asked is not None:
            found.append(asked)
    return found


def expected(asked: Question) -> list[list[Any]] | LayoutError:
    """Return the messages of a store and then a load; or why there are none."""
    register, attr = asked["messages"]
    bits, shape = element_bits(asked["elem"]), asked["shape"]
    assert bits is not None
    where = parse_layout(attr).to_linear_layout(shape, element_bits=bits)
    held = laid(register, shape)
    assert held is not None
    found: list[list[Any]] = []
    for is_store in (True,) if "scales" in attr else (True, False):
        try:
            message = tensor_memory_access(
                held,
                where,
                bits,
                is_store=is_store,
                max_registers=asked.get("maxnreg", 256),
            )
        except LayoutError as error:
            return error
        half = "" if message.half_offset is None else message.half_offset
        found += [[message.name, row << 16 | column, half] for row, column in message.offsets]
    return found


def compare(comparison: Comparison, asked: Question, answer: Answer) -> None:
    found = expected(asked)
    if isinstance(found, LayoutError) and "messages" in answer:
        comparison.disagree("we refuse what the wheel takes", asked, f"{found}\n    {answer}")
    elif isinstance(found, LayoutError):
        comparison.agree("both refuse")
    elif "messages" not in answer:
        comparison.disagree("we take what the wheel refuses", asked, f"{found}\n    {answer}")
    elif found != answer["messages"]:
        comparison.disagree("messages", asked, f"{found}\n    {answer}")
    else:
        comparison.agree(f"same messages of {str(found[0][0]).split('.')[4]}")


def test_messages_of_tensor_memory(lowerer: Lowerer, seed: int, tally: Counter[str]) -> None:
    comparison, asked = Comparison(tally), questions(seed)
    for one, answer in zip(asked, lowerer.ask(asked)):
        compare(comparison, one, answer)
    comparison.check()
    assert sum(count for said, count in tally.items() if said.startswith("same")) > QUESTIONS // 3
