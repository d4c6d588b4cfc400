"""The register layouts of tensor memory, against those that Gluon of Triton 3.9.0 offers."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from compiler.agreement import Comparison
from compiler.test_analyses import Lowerer
from compiler.test_tensor_memory import ELEMENTS
from compiler.wheel import Question, Wheel
from tt_layout import LayoutError, LinearLayout, parse_layout
from tt_layout.analyses.tensor_memory.access import TILES
from tt_layout.analyses.tensor_memory.registers import layout_for_tile, split_columns
from tt_layout.mlir.types import element_bits

QUESTIONS = 300
NAMES = {"f32": "float32", "f16": "float16", "i8": "int8"}


@pytest.fixture(scope="module")
def lowerer(wheel: Wheel) -> Lowerer:
    return Lowerer(wheel.python)


def questions(seed: int) -> list[Question]:
    r = Random(seed)
    found: list[Question] = []
    while len(found) < QUESTIONS:
        if r.random() < 0.2:
            attr, tiles, elem = "#ttng.tensor_memory_scales_encoding<>", None, "i8"
            shape = [1 << r.randint(5, 8), 1 << r.randint(0, 5)]
        else:
            block, stride = [r.choice([64, 128]), 1 << r.randint(0, 8)], r.choice([1, 1, 1, 2, 4])
            tiles, elem = {"block": block, "stride": stride}, r.choice(ELEMENTS[stride])
            shape = [block[0] * r.choice([1, 1, 2]), 1 << r.randint(0, 8)]
            attr = (
                f"#ttng.tensor_memory_encoding<blockM = {block[0]}, blockN = {block[1]}, "
                f"colStride = {stride}>"
            )
        try:
            parse_layout(attr).to_linear_layout(shape)
        except LayoutError:
            continue
        asked: Question = {"registers": tiles, "shape": shape, "elem": NAMES[elem], "attr": attr}
        found.append({**asked, "warps": r.choice([4, 4, 8, 16]), "bits": element_bits(elem)})
    return found


def expected(asked: Question) -> dict[str, LinearLayout | None]:
    memory = parse_layout(asked["attr"]).to_linear_layout(asked["shape"])
    bits, warps = asked["bits"], asked["warps"]
    found = {tile.shape: layout_for_tile(memory, bits, warps, tile) for tile in TILES}
    whole = found["32x32b"]
    return {**found, "32x32b_splitn": split_columns(whole, bits) if whole else None}


def test_layouts_of_registers(lowerer: Lowerer, seed: int, tally: Counter[str]) -> None:
    asked, comparison = questions(seed), Comparison(tally)
    for one, answer in zip(asked, lowerer.ask(asked)):
        for variant, own in expected(one).items():
            theirs = answer.get(variant)
            if not isinstance(theirs, list):
                ours = "refused" if own is None else "offered"
                where = f"{variant}: both refuse"
            else:
                names = ("register", "lane", "warp", "block")
                mine = own and [[list(v) for v in own.vectors(name)] for name in names]
                ours = "refused" if mine == theirs else f"{mine}"
                where = f"{variant}: same bases"
            if ours == "refused":
                comparison.agree(where)
            else:
                comparison.disagree(variant, one, f"{ours}\n    {theirs}")
    comparison.check()
    assert sum(count for said, count in tally.items() if "same" in said) > QUESTIONS
