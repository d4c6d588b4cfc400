"""The bases of other releases than the newest, as their wheels give them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

import tt_layout
from compiler.agreement import Comparison, Ours, ours
from compiler.corpus import rows_of
from compiler.generate import random_case
from compiler.wheel import Answer, Question, Wheel
from tt_layout.mlir.types import element_bits
from tt_layout.notation.releases.eras import respelled
from tt_layout.releases import Release

CASES = 400


def test_bases_of_the_corpus(tally: Counter[str]) -> None:
    comparison = Comparison(tally)
    for row in rows_of("releases-bases.jsonl"):
        encoding = tt_layout.parse_layout(row["attr"], release=row["release"])
        layout = encoding.to_linear_layout(row["shape"], element_bits=element_bits(row["elem"]))
        found = {name: own for name, own in layout.bases if name in row["bases"]}
        if found == row["bases"]:
            comparison.agree(f"{row['release']}: same bases")
        else:
            comparison.disagree("bases", row, found)
    comparison.check()


def random_questions(release: Release, seed: int, count: int) -> list[Question]:
    """Return random attributes of 3.9 as another release spells them, whatever it makes of them."""
    r, found = Random(seed), dict[str, Question]()
    while len(found) < count:
        case = random_case(r)
        try:
            encoding = tt_layout.parse_layout(case.attr, release="3.9")
            written = respelled(encoding, release, element_bits(case.elem))
        except tt_layout.LayoutError:
            continue
        assert written.spelling is not None
        question = {**case.question(), "attr": written.spelling.written(), "views": False}
        found[json.dumps(question)] = question
    return list(found.values())


def without_ctas(question: Question, answer: Answer, release: str) -> Answer:
    """Return an answer about tensor memory without the CTAs, its last columns until 3.7."""
    if question["kind"] != "tmem" or "bases" not in answer or release >= "3.8":
        return answer
    try:
        encoding = tt_layout.parse_layout(question["attr"], release=release)
        bits = element_bits(question["elem"])
        layout = encoding.to_linear_layout(question["shape"], element_bits=bits)
    except tt_layout.LayoutError:
        return answer
    blocks = [list(vector) for vector in layout.vectors("block")]
    col: Sequence[Any] = answer["bases"]["col"]
    if not blocks or col[-len(blocks) :] != blocks:
        return answer
    return {**answer, "bases": {**answer["bases"], "col": col[: -len(blocks)]}}


def test_random_bases(
    request: pytest.FixtureRequest, wheel: Wheel, seed: int, tally: Counter[str]
) -> None:
    """Views are compared with those of 3.9 elsewhere; 3.5 has no bases to ask for, texts only."""
    comparison = Comparison(tally)
    for python in (wheel.python, *request.config.getoption("--other-triton-python")):
        other = Wheel(python)
        release = Release.parse(other.version)
        questions = random_questions(release, seed, CASES)
        for question, answer in zip(questions, other.ask(questions)):
            mine: Ours = ours(question, str(release))
            comparison.compare(question, without_ctas(question, answer, str(release)), mine, {})
    comparison.check()
