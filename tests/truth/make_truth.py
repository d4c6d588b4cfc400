"""Asks Triton 3.9.0 about many layouts and stores its answers beside this file.

usage, from the folder of the tests: python -m truth.make_truth COMPILER_PYTHON

The cases are the same in every run, and so is the file.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from compiler.generate import Case, random_cases
from compiler.wheel import Answer, Wheel

PATH = Path(__file__).with_name("triton-3.9.0.jsonl.gz")
SEED = 390
COUNT = 2400
SAID = ("text", "bases", "tensor", "hardware")

Row = dict[str, Any]


def row_of(case: Case, answer: Answer) -> Row:
    """Return what is stored: what the wheel says, as far as it gets."""
    said = {name: value for name, value in answer.items() if name in SAID}
    if said["text"] == case.attr:
        del said["text"]
    return {**case.question(), **said}


def written(rows: Iterable[Row]) -> bytes:
    lines = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    return gzip.compress(lines.encode(), mtime=0)


def read_rows() -> list[Row]:
    """Return the stored answers, each with ``text``."""
    with gzip.open(PATH, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return [{"text": row["attr"], **row} for row in rows]


def main() -> None:
    wheel = Wheel(sys.argv[1])
    if wheel.version != "3.9.0":
        sys.exit(f"the stored answers are those of Triton 3.9.0, got {wheel.version}")
    cases = random_cases(SEED, COUNT)
    answers = wheel.ask([case.question() for case in cases])
    rows = [row_of(case, answer) for case, answer in zip(cases, answers) if "text" in answer]
    PATH.write_bytes(written(rows))


if __name__ == "__main__":
    main()
