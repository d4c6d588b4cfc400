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
from tiers import slow

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module

HEAD = """
#l = {layout}
module attributes {{"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32,
                   "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"}} {{
tt.func @f(%x0: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %n: i32, %s: i32,
           %i: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}) {{
  %pid = tt.get_program_id x : i32
  %k = arith.constant 1024 : i32
  %b = arith.muli %pid, %k : i32
  %bs = tt.splat %b : i32 -> INTS
  %ns = tt.splat %n : i32 -> INTS
  %ss = tt.splat %s : i32 -> INTS
  %is = tt.splat %i : !tt.ptr<i32> -> PLACES
"""
OF_A_VECTOR = """\
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : INTS
  %q = arith.addi %bs, %r : INTS
"""
OF_A_MATRIX = """\
  %r0 = tt.make_range {end = 64 : i32, start = 0 : i32} : COLUMN
  %r1 = tt.expand_dims %r0 {axis = 0 : i32} : COLUMN -> tensor<1x64xi32, #l>
  %r = tt.broadcast %r1 : tensor<1x64xi32, #l> -> INTS
  %d0 = tt.make_range {end = 16 : i32, start = 0 : i32} : ROW
  %d1 = tt.expand_dims %d0 {axis = 1 : i32} : ROW -> tensor<16x1xi32, #l>
  %d = tt.broadcast %d1 : tensor<16x1xi32, #l> -> INTS
  %w = arith.muli %d, %ss : INTS
  %t = arith.addi %w, %r : INTS
  %q = arith.addi %bs, %t : INTS
"""
ACCESS = "  %x = tt.load"
TAIL = """\
  %z = arith.constant dense<0> : INTS
  %o = arith.addi {offsets}, %z : INTS
  %xs = tt.splat %x0 : !tt.ptr<f16> -> POINTERS
  %p = tt.addptr %xs, %o : POINTERS, INTS
  %x = tt.load %p{mask} : POINTERS
  %y = arith.addf %x, %x : HALVES
  tt.store %p, %y : POINTERS
  tt.return
}}
}}
"""
LAYOUT = (
    "#ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
)
MATRIX_LAYOUT = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
TYPES = {
    "INTS": "i32",
    "BITS": "i1",
    "POINTERS": "!tt.ptr<f16>",
    "HALVES": "f16",
    "PLACES": "!tt.ptr<i32>",
}
SLICES = {"COLUMN": (64, 0), "ROW": (16, 1)}
"""Name of a type -> its element; of a slice -> its size, and the dimension that it lacks."""

Numbers = np.ndarray[Any, np.dtype[np.int32]]
CONSTANTS = (1, 2, 3, 4, 5, 8, 12, 16, 32, 63, 64, 100, 128, 256, -8)
ARGUMENTS = {"%n": (0, 7, 16, 77, 512, 1000, 1024), "%s": (1, 2, 3, 8, 16, 48, 1024)}
CASES = list(product((0, 1, 3), *ARGUMENTS.values()))
"""The number of the program, n and s."""

MEMORY = [
    np.random.default_rng(number).integers(0, 1 << 12, 4096, np.int32)
    for number in range(len(CASES))
]
"""What is loaded, in each of `CASES`, at the rest of an index modulo 4096."""

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
    shape: tuple[int, ...]
    lines: list[str] = field(default_factory=list)
    values: dict[str, list[Numbers]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ones = np.ones(self.shape, np.int32)
        columns = ones.cumsum(axis=-1, dtype=np.int32) - 1
        down = ones.cumsum(axis=0, dtype=np.int32) - 1
        starts = [columns + down * s * (len(self.shape) > 1) for _, _, s in CASES]
        self.values = {
            "%r": [columns for _ in CASES],
            "%q": [start + 1024 * pid for start, (pid, _, _) in zip(starts, CASES)],
            "%ns": [ones * n for _, n, _ in CASES],
            "%ss": [ones * s for _, _, s in CASES],
        }
        if len(self.shape) > 1:
            self.values |= {"%d": [down for _ in CASES], "%t": starts}

    @property
    def text(self) -> str:
        """The lines before and of the expression."""
        is_matrix = len(self.shape) > 1
        own = "  " + "\n  ".join(self.lines) + "\n"
        head = HEAD.format(layout=MATRIX_LAYOUT if is_matrix else LAYOUT)
        return head + (OF_A_MATRIX if is_matrix else OF_A_VECTOR) + own

    def add(self, text: str, values: list[Numbers], kind: str = "INTS") -> str:
        """Append an operation; return the name of its result."""
        name = f"%e{len(self.lines)}"
        self.lines.append(f"{name} = {text} : {kind}")
        self.values[name] = values
        return name

    def loaded(self, index: str) -> str:
        """Append a load of what lies at an index; return its name."""
        self.lines.append(f"%p{len(self.lines)} = tt.addptr %is, {index} : PLACES, INTS")
        values = [memory[at % 4096] for memory, at in zip(MEMORY, self.values[index])]
        return self.add(f"tt.load %p{len(self.lines) - 1}", values, "PLACES")

    def constant(self) -> str:
        number = self.r.choice(CONSTANTS)
        values = [np.full(self.shape, number, np.int32) for _ in CASES]
        return self.add(f"arith.constant dense<{number}>", values)

    def combined(self, name: str, left: str, right: str) -> str:
        values = [OPERATIONS[name](a, b) for a, b in zip(self.values[left], self.values[right])]
        return self.add(f"arith.{name} {left}, {right}", values)

    def drawn(self) -> str:
        """Append an expression of a few operations; return its name."""
        found = self.r.choice(["%r", "%q", "%q", "%t" if "%t" in self.values else "%r"])
        for _ in range(self.r.randint(1, 3)):
            name = self.r.choice(list(OPERATIONS))
            others = ["%ns", "%ss", "%q", "%r"] if name in ("addi", "muli") else []
            other = self.r.choice([*others, "", "", ""]) or self.constant()
            found = self.combined(name, found, other)
            if self.r.random() < 0.1:
                found = self.loaded(found)
        return found

    def mask(self) -> str:
        """Append a mask, in bits."""
        name, left = self.r.choice(list(PREDICATES)), self.r.choice(["%q", "%r", self.drawn()])
        right = self.r.choice(["%ns", self.constant()])
        both = zip(self.values[left], self.values[right])
        values = [PREDICATES[name](a, b).astype(np.int32) for a, b in both]
        return self.add(f"arith.cmpi {name}, {left}, {right}", values)

    def kernel(self, offsets: str, mask: str | None) -> str:
        """Return the kernel that accesses memory at some offsets."""
        text = self.text + TAIL.format(offsets=offsets, mask=f", {mask}" if mask else "")
        dims = "x".join(map(str, self.shape))
        for name, element in TYPES.items():
            text = text.replace(name, f"tensor<{dims}x{element}, #l>")
        for name, (size, dim) in SLICES.items():
            kind = f"tensor<{size}xi32, #ttg.slice<{{dim = {dim}, parent = #l}}>>"
            text = text.replace(name, kind)
        return text


def drawn(r: Random) -> tuple[str, Expression, str, str | None]:
    """Return a kernel, its values, and the names of its offsets and of its mask."""
    one = Expression(r, r.choice([(1024,), (16, 64)]))
    offsets = one.drawn()
    mask = one.mask() if r.random() < 0.4 else None
    return one.kernel(offsets, mask), one, offsets, mask


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
    begins = np.diff(values, prepend=values[..., :1] - 2) != 1
    return not (values[begins] % number).any()


CLAIMS: Sequence[tuple[str, Callable[[Numbers, int], bool]]] = (
    (r"add tl\.max_contiguous\(tl\.multiple_of\(offsets, \d+\), (\d+)\)", contiguous),
    (r"add tl\.max_constancy\((?:offsets|mask), (\d+)\)", equal),
    (r"groups of (\d+) neighbours have one address each", equal),
    (r"multiple of \d+: add tl\.multiple_of\(offset, (\d+)\)", multiples),
)


ON_THE_DATA = "depend on the data: only if"


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


def advised(text: str) -> dict[str, Any]:
    """Return what limits the access of a kernel, and what is advised against it."""
    for row in audit_module(parse_ir(text)[0]).movements:
        line = row.operation.line
        if row.cost is not None and text.split("\n")[line - 1].startswith(ACCESS):
            found: dict[str, Any] | None = row.cost.details.data(line).get("limited_by")
            return found or {"advice": ""}
    raise AssertionError(text)


def check(seed: int, count: int, tally: Counter[str]) -> None:
    r = Random(seed)
    for _ in range(count):
        text, one, offsets, mask = drawn(r)
        limited = advised(text)
        promised = list(promises(limited["advice"]))
        tally["promises" if promised else "nothing is promised"] += 1
        for at, said, least, holds in promised:
            if ON_THE_DATA in said:  # and no case has such data
                tally["on condition of the data"] += 1
                break
            names = meant(text, limited["line"], said.split("; and ")[at], offsets, mask)
            is_true = [
                all(holds(one.values[name][k], least) for k in applies(said)) for name in names
            ]
            assert is_true[0] or (at and is_true[-1]), f"{limited['advice']}\n{text}"


@pytest.mark.slow
@pytest.mark.parametrize("count", [6, slow(300)])
def test_what_is_promised_is_true(count: int, seed: int, tally: Counter[str]) -> None:
    check(seed, count, tally)


ROWS = """\
  %thirty_two = arith.constant dense<32> : INTS
  %stride = arith.divsi %ss, %thirty_two : INTS
  %by = arith.muli %d, STRIDE : INTS
  %e = arith.addi BY, %r : INTS
"""


@pytest.mark.parametrize(
    ("by", "stride", "change"),
    [
        ("%by", "%stride", "the offset that // gives is not always a multiple of 8: none"),
        ("%d", "%stride", "the numbers of rows are not multiples of 8: multiply them by a stride"),
        ("%by", "%thirty_two", ""),
    ],
    ids=["a quotient", "none", "a multiple"],
)
def test_every_row_has_to_begin_at_a_multiple(by: str, stride: str, change: str) -> None:
    """The first of all rows does, whatever their stride is."""
    lines = ROWS.replace("STRIDE", stride).replace("BY", by)
    one = Expression(Random(0), (16, 64), lines.strip().split("\n"))
    advice = advised(one.kernel("%e", None))["advice"]
    assert advice.startswith(change)
    assert "tl.multiple_of" not in advice
