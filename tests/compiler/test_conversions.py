"""The instructions of conversions through shared memory, against PTX of Triton 3.9.0."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest

from compiler.agreement import Comparison
from compiler.test_analyses import Lowerer, laid, random_pairs
from compiler.wheel import Answer, Question, Wheel
from tt_layout import LinearLayout
from tt_layout.analyses.conversion.compiled_conversion import compiled_conversion
from tt_layout.analyses.conversion.conversion import classify
from tt_layout.mlir.types import element_bits

DRAWN, ASSEMBLED = 400, 85
ELEMENTS = ("i1", "i8", "f16", "bf16", "f32", "i64", "f64")
GPUS = ("sm80", "sm90", "sm100")


@pytest.fixture(scope="module")
def assembler(wheel: Wheel) -> Lowerer:
    return Lowerer(wheel.python)


def layouts(question: Question) -> tuple[LinearLayout, LinearLayout]:
    src, dst = (laid(attr, question["shape"]) for attr in question["assemble"])
    assert src is not None
    assert dst is not None
    return src, dst


def questions(seed: int) -> list[Question]:
    """Return conversions of NVIDIA's warps that go through shared memory."""
    r, found = Random(seed), []
    for pair in random_pairs(seed, DRAWN):
        is_generic = any("generic_linear" in attr for attr in pair["convert"])
        if pair["threads"] != 32 or pair["warps"] > 32 or is_generic:
            continue
        target = "sm90" if pair["ctas"] > 1 else r.choice(GPUS)
        pair |= {"assemble": pair.pop("convert"), "elem": r.choice(ELEMENTS), "target": target}
        if classify(*layouts(pair)).needs_shared_memory:
            found.append(pair)
    return found[:ASSEMBLED]


def plain(operation: str) -> str:
    """Return an instruction by the bytes that it moves: ``v2.b16`` is ``b32``."""
    if matrix := re.match(r"((?:ld|st)matrix)\b.*(\.x\d)(\.trans)?", operation):
        return "".join(filter(None, matrix.groups()))
    access = re.fullmatch(r"((?:ld|st)\.shared(?:::cluster)?)(?:\.v(\d))?\.b(\d+)", operation)
    return f"{access[1]} {int(access[2] or 1) * int(access[3])}" if access else operation


def expected(question: Question) -> Counter[str]:
    bits = element_bits(question["elem"])
    assert bits is not None
    found = compiled_conversion(*layouts(question), bits, question["target"])
    assert found is not None
    steps = [step for step in (found.store, found.load) if step is not None]
    return Counter({plain(step.instruction): step.instructions for step in steps})


def operations(answer: Answer) -> Counter[str]:
    found: Counter[str] = Counter()
    for operation, count in answer["operations"].items():
        found[plain(operation)] += count
    return found


def test_instructions_of_conversions(assembler: Lowerer, seed: int, tally: Counter[str]) -> None:
    comparison, asked = Comparison(tally), questions(seed)
    for question, answer in zip(asked, assembler.ask(asked)):
        where = f"{question['target']}{', a cluster' * (question['ctas'] > 1)}"
        if "operations" not in answer:
            comparison.agree(f"{where}: the wheel gives no code")
        elif operations(answer) == expected(question):
            comparison.agree(f"{where}: same instructions")
        else:
            comparison.disagree(where, question, f"{expected(question)}\n    {answer}")
    comparison.check()
    assert sum(count for said, count in tally.items() if said.endswith("same instructions")) > 75
