"""Hints for random offsets and masks: what they promise is true of the numbers.

An expression is built as the text of a kernel and, beside it, as numbers: for several programs and
arguments.  What is advised is held against those.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from test_advice import INTS, module
from tiers import slow

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module

LAYOUT = (
    "#ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
)
Numbers = np.ndarray[Any, np.dtype[np.int32]]
CONSTANTS = (1, 2, 3, 4, 5, 8, 12, 16, 32, 63, 64, 100, 128, 256, -8)
ARGUMENTS = {"%n": (0, 7, 16, 77, 512, 1000, 1024), "%s": (1, 2, 3, 8, 16, 48, 1024)}
CASES = list(product((0, 1, 3), *ARGUMENTS.values()))
"""The number of the program, n and s."""

RANGE = np.arange(1024, dtype=np.int32)
OPERATIONS: Mapping[str, Callable[[Numbers, Numbers], Numbers]] = {
    "addi": lambda a, b: a + b,
    "muli": lambda a, b: a * b,
    "divsi": lambda a, b: (np.sign(a) * np.sign(b) * (abs(a) // abs(b))).astype(np.int32),
    "remsi": lambda a, b: (np.sign(a) * (abs(a) % abs(b))).astype(np.int32),
    "andi": lambda a, b: a & b,
    "xori": lambda a, b: a ^ b,
}
PREDICATES: Mapping[str, Callable[[Numbers, Numbers], Any]] = {
    "slt": lambda a, b: a < b,
    "sge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
}


@dataclass
class Expression:
    """Lines of a kernel, and what its values are in each of `CASES`: 1,024 numbers."""

    r: Random
    lines: list[str] = field(default_factory=list)
    values: dict[str, list[Numbers]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ones = np.ones(1024, np.int32)
        self.values = {
            "%r": [RANGE for _ in CASES],
            "%q": [RANGE + 1024 * pid for pid, _, _ in CASES],
            "%ns": [ones * n for _, n, _ in CASES],
            "%ss": [ones * s for _, _, s in CASES],
        }

    def add(self, text: str, values: list[Numbers], kind: str = INTS) -> str:
        """Append an operation; return the name of its result."""
        name = f"%e{len(self.lines)}"
        self.lines.append(f"{name} = {text} : {kind}")
        self.values[name] = values
        return name

    def constant(self) -> str:
        number = self.r.choice(CONSTANTS)
        values = [np.full(1024, number, np.int32) for _ in CASES]
        return self.add(f"arith.constant dense<{number}>", values)

    def combined(self, name: str, left: str, right: str) -> str:
        values = [OPERATIONS[name](a, b) for a, b in zip(self.values[left], self.values[right])]
        return self.add(f"arith.{name} {left}, {right}", values)

    def drawn(self) -> str:
        """Append an expression of a few operations; return its name."""
        found = self.r.choice(["%r", "%q", "%q"])
        for _ in range(self.r.randint(1, 3)):
            name = self.r.choice(list(OPERATIONS))
            others = ["%ns", "%ss", "%q", "%r"] if name in ("addi", "muli") else []
            other = self.r.choice([*others, "", "", ""]) or self.constant()
            found = self.combined(name, found, other)
        return found

    def mask(self) -> str:
        """Append a mask, in bits."""
        name, left = self.r.choice(list(PREDICATES)), self.r.choice(["%q", "%r", self.drawn()])
        right = self.r.choice(["%ns", self.constant()])
        both = zip(self.values[left], self.values[right])
        values = [PREDICATES[name](a, b).astype(np.int32) for a, b in both]
        return self.add(f"arith.cmpi {name}, {left}, {right}", values)


def drawn(r: Random) -> tuple[str, Expression, str, str | None]:
    """Return a kernel, its values, and the names of its offsets and of its mask."""
    one = Expression(r)
    offsets = one.drawn()
    mask = one.mask() if r.random() < 0.4 else None
    zero = f"%z = arith.constant dense<0> : {INTS}\n  %o = arith.addi {offsets}, %z : {INTS}"
    access = f"%x = tt.load %p{', ' + mask if mask else ''} : {{pointers}}"
    text = module("\n  ".join([*one.lines, zero]), access, layout=LAYOUT)
    return text, one, offsets, mask


def contiguous(values: Numbers, number: int) -> bool:
    """Tell whether groups of neighbours are contiguous, and begin at multiples of their number."""
    groups = values.reshape(-1, number)
    is_run = bool((np.diff(groups, axis=1) == 1).all())
    return is_run and not (groups[:, 0] % number).any()


def equal(values: Numbers, number: int) -> bool:
    """Tell whether groups of neighbours are equal."""
    groups = values.reshape(-1, number)
    return bool((groups == groups[:, :1]).all())


def multiples(values: Numbers, number: int) -> bool:
    """Tell whether the first of each group that is contiguous is a multiple."""
    begins = np.flatnonzero(np.diff(values, prepend=values[0] - 2) != 1)
    return not (values[begins] % number).any()


CLAIMS: Sequence[tuple[str, Callable[[Numbers, int], bool]]] = (
    (r"add tl\.max_contiguous\(tl\.multiple_of\(offsets, \d+\), (\d+)\)", contiguous),
    (r"add tl\.max_constancy\((?:offsets|mask), (\d+)\)", equal),
    (r"groups of (\d+) neighbours have one address each", equal),
    (r"multiple of \d+: add tl\.multiple_of\(offset, (\d+)\)", multiples),
)


def applies(text: str) -> list[int]:
    """Return the cases that advice is about: those in which its conditions hold."""
    conditions = re.findall(r"(?:unless|make) (\w+) (?:is )?a multiple of (\d+)", text)
    at = {"n": 1, "s": 2}
    return [
        number
        for number, case in enumerate(CASES)
        if not any(case[at[name]] % int(factor) for name, factor in conditions)
    ]


def promises(advice: str) -> Iterator[tuple[int, str, int, Callable[[Numbers, int], bool]]]:
    """Yield what is promised: a piece's number, all up to it, a number, and what has to hold."""
    pieces = advice.split("; and ")
    for at, piece in enumerate(pieces):
        for pattern, holds in CLAIMS:
            if match := re.search(pattern, piece):
                yield at, "; and ".join(pieces[: at + 1]), int(match[1]), holds


def meant(text: str, line: int, piece: str, offsets: str, mask: str | None) -> list[str]:
    """Return what a piece of advice may be about: the value of the line, the offsets or the mask.

    The line is that of the first piece; others are about what is left then.
    """
    name = text.split("\n")[line - 1].split("=")[0].strip()
    whole = mask if "(mask" in piece and mask is not None else offsets
    is_whole = "have one address" in piece or not name.startswith("%e")
    return [whole] if is_whole else [name, whole]


def check(seed: int, count: int, tally: Counter[str]) -> None:
    r = Random(seed)
    for _ in range(count):
        text, one, offsets, mask = drawn(r)
        rows = audit_module(parse_ir(text)[0]).movements
        details = [row.cost.details.data() for row in rows if row.cost is not None]
        for limited in (found for d in details if (found := d.get("limited_by"))):
            promised = list(promises(limited["advice"]))
            tally["promises" if promised else "nothing is promised"] += 1
            for at, said, least, holds in promised:
                names = meant(text, limited["line"], said.split("; and ")[at], offsets, mask)
                is_true = [
                    all(holds(one.values[name][k], least) for k in applies(said)) for name in names
                ]
                assert is_true[0] or (at and is_true[-1]), f"{limited['advice']}\n{text}"


@pytest.mark.parametrize("count", [6, slow(300)])
def test_what_is_promised_is_true(count: int, seed: int, tally: Counter[str]) -> None:
    check(seed, count, tally)
