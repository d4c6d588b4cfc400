"""The package against Triton 3.9.0 itself."""

from __future__ import annotations

import json
import re
from collections import Counter

from compiler.agreement import IGNORED_KEYS, ON_PURPOSE, Comparison, ours
from compiler.algebra import our_answer, random_questions
from compiler.corpus import Row, rows_of
from compiler.generate import random_cases
from compiler.wheel import Wheel

CASES = 1200
DAMAGED_SHARE = 0.2
ALGEBRA_QUESTIONS = 3000

OLD_POINTER = re.compile(r"!tt\.ptr<\w+, ?\d+>")


def test_random_cases_agree(wheel: Wheel, seed: int, tally: Counter[str]) -> None:
    cases = random_cases(seed, CASES, DAMAGED_SHARE)
    comparison = Comparison(tally)
    for case, answer in zip(cases, wheel.ask([case.question() for case in cases])):
        excuses = ON_PURPOSE if case.damage else {}
        comparison.compare(case, answer, ours(case.question(), "3.9"), excuses)
    comparison.check()


def test_the_release_need_not_be_said(seed: int) -> None:
    """What 3.9 reads is read the same when no release is named."""
    for case in random_cases(seed, 500):
        assert ours(case.question(), None) == ours(case.question(), "3.9"), case


def test_layouts_of_upstream_tests_agree(tally: Counter[str]) -> None:
    comparison = Comparison(tally)
    for row in rows_of("triton-3.9.0-lit.jsonl"):
        mine = ours(row, "3.9")
        if "reject" in row and OLD_POINTER.search(row["elem"]) and mine.crash is None:
            comparison.agree("refused by the wheel for a pointer type of older releases")
        else:
            comparison.compare(row, stored_answer(row), mine, IGNORED_KEYS)
    comparison.check()


def stored_answer(row: Row) -> Row:
    """Return a row of the corpus in the form in which our own wheel answers."""
    names = {"tensor_sha": "tensor", "hw_sha": "hardware", "reject": "refused"}
    answer = {names.get(key, key): value for key, value in row.items()}
    if "type" in row:
        start = row["type"].index("#")
        end = -1 if row["kind"] == "tensor" else row["type"].rindex(", #")
        answer["text"] = row["type"][start:end]
    return answer


def test_wheel_says_the_same_as_the_corpus(wheel: Wheel) -> None:
    """Our own way of asking the wheel gives the answers of the corpus."""
    rows = rows_of("triton-3.9.0-lit.jsonl")[::10]
    names = ("attr", "shape", "elem", "kind")
    answers = wheel.ask([{name: row[name] for name in names} for row in rows])
    for row, answer in zip(rows, answers):
        stored = stored_answer(row)
        for name in ("text", "bases", "tensor", "hardware", "abort"):
            assert answer.get(name) == stored.get(name), row


def test_algebra_agrees(wheel: Wheel, seed: int, tally: Counter[str]) -> None:
    questions = random_questions(seed, ALGEBRA_QUESTIONS)
    comparison = Comparison(tally)
    for question, answer in zip(questions, wheel.ask(questions)):
        mine = our_answer(question)
        op = question["op"].strip("_")
        if "abort" in answer or "refused" in answer:
            how = "refuse" if "refused" in mine else "answer"
            comparison.agree(f"{op}: the wheel dies, we {how}")
        elif json.loads(json.dumps(mine)) == answer:
            comparison.agree(f"{op}: same")
        else:
            comparison.disagree(op, question, f"{mine}\n    {answer}")
    comparison.check()
