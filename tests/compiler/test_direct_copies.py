"""Layouts that AMD's copies to shared memory can write, against what the wheel lowers."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler.test_analyses import Lowerer
from compiler.wheel import Wheel
from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module

EXAMPLES = Path(__file__).parents[2] / "examples"
PADDED = re.compile(
    r"^(#\w+) = #ttg\.padded_shared<\[(\d+):\+(\d+)\] \{offset = (\[.*\]), block = \[\]\}>", re.M
)


def variants(text: str, r: random.Random) -> Iterator[str]:
    """Yield a dump with paddings at other intervals, and rows in another order."""
    for match in PADDED.finditer(text):
        name, interval, pad, bases = match[1], int(match[2]), match[3], json.loads(match[4])
        row = interval.bit_length() - 1
        rows = r.sample(bases[row:], len(bases) - row)
        at = r.randrange(len(bases) - 1)
        exchanged = [*bases]
        exchanged[at], exchanged[-1] = exchanged[-1], exchanged[at]
        for every, offset in (
            (interval // 2, bases),
            (interval * 2, bases),
            (interval, bases[:row] + rows),
            (interval, exchanged),
        ):
            new = f"{name} = #ttg.padded_shared<[{every}:+{pad}] {{offset = {offset}, block = []}}>"
            yield text.replace(match[0], new)


@pytest.mark.parametrize("target", ["gfx950"])
def test_what_copies_can_write(
    wheel: Wheel, seed: int, tally: Counter[str], target: str, request: pytest.FixtureRequest
) -> None:
    r = random.Random(seed)
    paths = sorted(EXAMPLES.glob(f"*/*-{target}.ttgir"))
    texts = [text for path in paths for text in variants(path.read_text(encoding="utf-8"), r)]
    chosen = r.sample(texts, min(len(texts), int(request.config.getoption("--kernels"))))
    answers = Lowerer(wheel.python).ask([{"kernel": text} for text in chosen])
    for text, answer in zip(chosen, answers):
        [module] = parse_ir(text)
        is_refused = any(finding.is_error for finding in audit_module(module).findings)
        tally["refused" if is_refused else "written"] += 1
        assert is_refused == ("operations" not in answer), text
