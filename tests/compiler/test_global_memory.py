"""Widths, names and counts of accesses to global memory, against assembly of Triton 3.9.0.

Kernels of all kinds are compiled to PTX and to AMD's assembly; every operation of the TTGIR has
its line as its location, which leads back from the instructions.  LLVM moves code between
lines: an access agrees if its line has the instructions expected, or if the kernel as a whole
has of them as many as expected.  It also copies the bodies of loops.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from compiler.access_variants import variants
from compiler.agreement import Comparison
from compiler.wheel import INSIDE, Answer, Question, Wheel
from tt_layout import parse_ir
from tt_layout.audit.axis import axis_info
from tt_layout.audit.global_memory.operands import FORMS
from tt_layout.audit.global_memory.width import AccessAnalysis, access_width
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.hardware import find_target
from tt_layout.ir.ssa import read_functions

VARIANTS = 189  # each kernel for each target
MOST_DIFFERENT = 0.02


class Assembler(Wheel):
    """The wheel, asked what it makes of kernels."""

    def _run(self, *arguments: str) -> str:
        script = str(INSIDE.with_name("accesses.py"))
        return super()._run(*(script if a == str(INSIDE) else a for a in arguments))


class Access(NamedTuple):
    """An access of a kernel: its line, whether a loop is around it, and what it should become."""

    line: int
    operation: str
    is_in_loop: bool
    name: str
    instructions: int


def accesses(text: str) -> Iterator[Access]:
    """Yield the accesses of a dump; scalars are loads and stores of one element."""
    [module] = parse_ir(text)
    functions = read_functions(module)
    target = find_target(module.gpu or "")
    for function in functions:
        kernel = AccessAnalysis(function, axis_info(function, functions), PlacedLayouts(), target)
        loops = [o for o in function.walk() if o.name in ("scf.for", "scf.while")]
        inside = {o.line for loop in loops for o in loop.walk() if o is not loop}
        for operation in function.walk():
            width = access_width(kernel, operation) if operation.name in FORMS else None
            if width is not None and width.instruction is not None:
                is_copy = width.instruction.startswith("cp.async")
                name = width.instruction + f" {width.width_bytes}" * is_copy
                is_in_loop = operation.line in inside
                yield Access(
                    operation.line, operation.name, is_in_loop, plain(name), width.instructions
                )


def plain(name: str) -> str:
    """Return an instruction of AMD without what LLVM chooses: signs, and halves of registers."""
    name = re.sub(r"_d16(?:_hi)?(?=_|$)", "", name)
    name = re.sub(r"load_(?:sbyte|ubyte)$", "load_byte", name)
    name = re.sub(r"load_(?:sshort|ushort|short)$", "load_short", name)
    return re.sub(r"load_[iub](8|16)$", r"load_\1", name)


SCALAR = re.compile(r"tt\.load %\w+ : !tt\.ptr<i32>")
LOOP = re.compile(r"ld\.relaxed\.gpu\.global\.b32|global_load_(?:dword|dwordx2|b32|b64)")
"""What a loop around a comparison begins with."""


def found(answer: Answer, expected: Counter[str]) -> tuple[dict[int, Counter[str]], Counter[str]]:
    """Return the instructions of each line, and those of the kernel on tensors.

    Left out are loads of scalars, and what comes with atomics: the first loads of loops, and
    pairs that a mask cuts.
    """
    by_line: dict[int, Counter[str]] = {}
    for line, names in answer["instructions"].items():
        counts = by_line.setdefault(int(line), Counter())
        for name, count in names.items():
            counts[plain(name)] += count
    whole = sum(by_line.values(), Counter())
    whole -= Counter({"ld.global.b32": len(SCALAR.findall(answer["ttgir"]))})
    if any("atom" in name for name in expected):
        is_paired = any("_pk_" in name for name in expected)
        extra = {n for n in whole if LOOP.fullmatch(n) or (is_paired and "cmpswap" in n)}
        whole = Counter({n: c for n, c in whole.items() if n not in extra - expected.keys()})
    return by_line, whole


def copies_bodies(known: list[Access], whole: Counter[str]) -> bool:
    """Tell whether a kernel has what is outside of loops once, and what is inside repeatedly."""
    once = total(a for a in known if not a.is_in_loop)
    often = total(a for a in known if a.is_in_loop)
    rest = Counter(whole)
    rest.subtract(once)
    return all(
        rest[name] > 0 and rest[name] % often[name] == 0 if often[name] else rest[name] == 0
        for name in {*once, *often, *whole}
    )


def total(known: Iterator[Access] | list[Access]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for access in known:
        counts[access.name] += access.instructions
    return counts


@pytest.mark.slow
def test_instructions_of_accesses(wheel: Wheel, seed: int, tally: Counter[str]) -> None:
    """Of a few the causes are in docs/global-memory.md: what LLVM joins, or finds equal."""
    asked, comparison = list(variants(seed, VARIANTS)), Comparison(tally)
    compiled = 0
    for question, answer in zip(asked, Assembler(wheel.python).ask(asked)):
        if "ttgir" in answer:
            compiled += 1
            compare(question, answer, comparison)
        else:
            comparison.agree(f"{question['target']}: the wheel gives no code")
    assert compiled >= 0.8 * VARIANTS
    differing, shown = len(comparison.disagreements), "\n".join(comparison.disagreements)
    assert differing <= MOST_DIFFERENT * sum(tally.values()), shown


def compare(question: Question, answer: Answer, comparison: Comparison) -> None:
    known = list(accesses(answer["ttgir"]))
    expected = total(known)
    by_line, whole = found(answer, expected)
    wrong = {name for name in {*expected, *whole} if expected[name] != whole[name]}
    if copies_bodies(known, whole):
        wrong = set()
    for access in known:
        here, there = {access.name: access.instructions}, dict(by_line.get(access.line, {}))
        where = f"{question['target']}, {access.operation}"
        if access.name not in wrong or there == here:
            comparison.agree(where)
        else:
            comparison.disagree(where, question, f"line {access.line}: {here}, got {there}")
