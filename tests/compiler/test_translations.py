"""What `translate` writes, read by the wheels that it is written for."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tt_layout
from compiler.agreement import Comparison, shape_of
from compiler.corpus import rows_of
from compiler.generate import random_cases
from compiler.round_trip import ALL_TARGETS, REASONS, Given, check_targets, given
from compiler.wheel import Wheel
from tt_layout.encodings import Encoding
from tt_layout.mlir.types import element_bits
from tt_layout.notation.refusal import RefusedError
from tt_layout.notation.translation import translate

READS = Path(__file__).with_name("reads.py")
CASES = 1000
SHARES = 4  # for as many processes

Question = dict[str, Any]
Answer = dict[str, Any]


class Written(NamedTuple):
    """A translation to be read by a wheel.

    Attributes:
        question: for the wheel.
        canonical: what it should print.
        original: the attribute that was translated, of 3.9.
    """

    question: Question
    canonical: str
    original: str


def ask(python: str, questions: Sequence[Question]) -> list[Answer]:
    """Return the answer of a wheel to each question, from as many processes as there are CPUs."""
    parts = min(os.cpu_count() or 1, len(questions)) or 1
    with ThreadPoolExecutor(parts) as pool:
        shares = list(pool.map(ask_one_process, [python] * parts, split(questions, parts)))
    return [shares[k % parts][k // parts] for k in range(len(questions))]


def split(questions: Sequence[Question], parts: int) -> list[Sequence[Question]]:
    return [questions[k::parts] for k in range(parts)]


def ask_one_process(python: str, questions: Sequence[Question]) -> list[Answer]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "questions")
        path.write_text("".join(json.dumps(question) + "\n" for question in questions))
        command = [python, str(READS), str(path)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def cases(seed: int) -> Iterator[tuple[Question, Encoding, Sequence[int]]]:
    """Yield random cases and those of upstream's tests, as far as they have a layout."""
    rows = [case.question() for case in random_cases(seed, CASES)]
    rows += [row for row in rows_of("triton-3.9.0-lit.jsonl") if "type" in row]
    for row in rows:
        try:
            encoding = tt_layout.parse_layout(row["attr"], release="3.9")
            shape = shape_of(encoding, row)
            encoding.to_linear_layout(shape, element_bits=element_bits(row["elem"]))
        except tt_layout.LayoutError:
            continue
        yield {name: row[name] for name in ("attr", "shape", "elem", "kind")}, encoding, shape


def written_for(release: str, seed: int, tally: Counter[str]) -> list[Written]:
    """Return the translations of all cases to a release; count what is refused."""
    found = []
    for question, encoding, shape in cases(seed):
        bits = element_bits(question["elem"])
        try:
            text = translate(encoding, release, shape, element_bits=bits).text
        except RefusedError as error:
            tally[f"refused: {REASONS[error.reason]}"] += 1
            continue
        canonical = str(tt_layout.parse_layout(text, release=release))
        found.append(Written({**question, "attr": text}, canonical, question["attr"]))
    return found


def check_readable(python: str, release: str, seed: int, tally: Counter[str], newest: str) -> None:
    """Check that a wheel reads all that is written for it, and prints it as we do.

    Args:
        python: of the wheel.
        release: of the wheel.
        seed: of the random cases.
        tally: of the outcomes.
        newest: python of the wheel of 3.9; what it cannot read itself tells nothing.
    """
    comparison = Comparison(tally)
    texts = written_for(release, seed, tally)
    answers = ask(python, [own.question for own in texts])
    unread = []
    for own, answer in zip(texts, answers):
        if answer.get("printed") == own.canonical:
            comparison.agree("read and printed the same")
        else:
            unread.append((own, answer))
    originals = ask(newest, [{**own.question, "attr": own.original} for own, _ in unread])
    for (own, answer), original in zip(unread, originals):
        if "printed" not in original:
            comparison.agree("apart: 3.9 dies of the original, too")
        else:
            comparison.disagree("not read", own.question, answer)
    comparison.check()
    assert tally["read and printed the same"] > CASES // 2


def test_3_9_reads_what_is_written_for_it(wheel: Wheel, seed: int, tally: Counter[str]) -> None:
    check_readable(wheel.python, "3.9", seed, tally, wheel.python)


def test_3_4_reads_what_is_written_for_it(
    request: pytest.FixtureRequest, wheel: Wheel, seed: int, tally: Counter[str]
) -> None:
    python = request.config.getoption("--triton-3-4-python")
    if python is None:
        tally["not run: --triton-3-4-python names no wheel"] += 1
        return
    assert Wheel(python).version.startswith("3.4.")
    check_readable(python, "3.4", seed, tally, wheel.python)


def test_constructors_of_gluon_make_the_same_layout(
    wheel: Wheel, seed: int, tally: Counter[str]
) -> None:
    comparison = Comparison(tally)
    questions, layouts = [], []
    for question, encoding, shape in cases(seed):
        bits = element_bits(question["elem"])
        try:
            text = translate(encoding, "gluon", shape, element_bits=bits).text
        except RefusedError as error:
            tally[f"refused: {error.message.split(chr(44))[0].split(chr(59))[0]}"] += 1
            continue
        questions.append({**question, "gluon": text, "inner": list(shape)})
        layouts.append(encoding.to_linear_layout(shape, element_bits=bits))
    for question, layout, answer in zip(questions, layouts, ask(wheel.python, questions)):
        found = answer.get("bases")
        wanted = {name: own for name, own in layout.bases if name in (found or ())}
        is_same_text = "made" in answer and answer["made"] == answer["printed"]
        if found is not None and found == wanted:
            comparison.agree(f"same bases, {'same' if is_same_text else 'another'} attribute")
        elif found is None and is_same_text:
            comparison.agree("no bases in the wheel, same attribute")
        elif "printed" not in answer:
            comparison.agree("apart: the wheel dies of the attribute itself")
        else:
            comparison.disagree("constructor", question, answer)
    comparison.check()
    assert sum(count for what, count in tally.items() if what.startswith("same")) > CASES // 2


@cache
def cases_of_the_corpora() -> list[Given]:
    """Return the layouts of all corpora, each once."""
    found: dict[Given | None, None] = {}
    for row in rows_of("triton-3.9.0-lit.jsonl"):
        found[given(row, "3.9")] = None
    for row in rows_of("era-examples.jsonl"):
        if "printed" in row and "attr" in row:
            found[given({**row, "attr": row["printed"]}, row["wheels"][-1])] = None
    for row in rows_of("era-layouts.jsonl"):
        typed = {"elem": "f16", "kind": "shared" if "shared" in row["attr"] else "tensor"}
        found[given({**row, **typed}, row["wheels"][-1])] = None
    return [own for own in found if own is not None]


@pytest.mark.parametrize("share", range(SHARES))
def test_every_case_of_the_corpora_is_read_back(share: int, tally: Counter[str]) -> None:
    """Every case for every target; the plain tests take a share of them."""
    for own in cases_of_the_corpora()[share::SHARES]:
        check_targets(own, ALL_TARGETS, tally)
