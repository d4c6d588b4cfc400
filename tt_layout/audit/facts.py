"""Facts that the verdict on a kernel rests on, as plain values, and their differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tt_layout.tuples import NamedTuple
from tt_layout.wording import shown

SPILLS = {"no": 0, "unlikely": 0, "may": 1, "likely": 2, "yes": 2}
"""Words for whether registers are spilled -> how bad that is."""

ESTIMATED = frozenset({"unlikely", "may", "likely"})
"""Words for kernels whose registers are estimated."""

Fact = int | float | str | None


class KernelFacts(NamedTuple):
    """Plain facts of a kernel; None where a fact is not known.

    Attributes:
        errors: number of findings that keep the kernel from compiling or starting.
        spills: one of `SPILLS`.
        spilled: registers per thread that the compiled kernel spills.
        without_instruction: multiplications that no matrix instruction computes.
        cycles: cycles of its data movements in one program, as far as costs are known.
        bound_cycles: the lower bound that the verdict names, for a launch or one program.
        ctas: CTAs that a multiprocessor holds.
        bound_by: the resource of that bound.
        limited_by: the resources that allow no more CTAs, joined by ``+``.
        registers: registers per thread, compiled or estimated.
        shared_bytes: shared memory of a CTA.
        instructions: matrix instructions with their counts in the text.
        findings: number of findings of each kind.
        finding_cycles: cycles that findings waste in one program.
        estimate_us: estimated microseconds of a launch, where its grid is known.
    """

    errors: int = 0
    spills: str | None = None
    spilled: int | None = None
    without_instruction: int = 0
    cycles: float = 0
    bound_cycles: float | None = None
    ctas: int | None = None
    bound_by: str | None = None
    limited_by: str | None = None
    registers: int | None = None
    shared_bytes: int | None = None
    instructions: str = ""
    findings: dict[str, int] = {}  # noqa: RUF012 - never written to
    finding_cycles: float = 0
    estimate_us: float | None = None


class Compared(NamedTuple):
    """Rule for comparing a fact of two kernels.

    Attributes:
        words: name of the fact, as a noun.
        is_decisive: whether it alone makes a kernel worse or better; earlier fields of
            `KernelFacts` take precedence.
        is_less_worse: whether a smaller value is worse.
        is_tolerant: whether a tolerance applies to it.
        error: relative change below which values count as equal.
    """

    words: str
    is_decisive: bool = False
    is_less_worse: bool = False
    is_tolerant: bool = False
    error: float = 1e-9


TIME_ERROR = 0.1
"""Relative difference of two estimated times that means nothing."""

COMPARED: Mapping[str, Compared] = {
    "errors": Compared("errors", is_decisive=True),
    "spills": Compared("spills", is_decisive=True),
    "spilled": Compared("spilled registers", is_decisive=True),
    "without_instruction": Compared(
        "multiplications without a matrix instruction", is_decisive=True
    ),
    "estimate_us": Compared(
        "estimated time in us", is_decisive=True, is_tolerant=True, error=TIME_ERROR
    ),
    "cycles": Compared("cycles of data movements", is_decisive=True, is_tolerant=True),
    "bound_cycles": Compared("lower bound in cycles", is_decisive=True, is_tolerant=True),
    "ctas": Compared("CTAs of a multiprocessor", is_decisive=True, is_less_worse=True),
    "bound_by": Compared("bound by"),
    "limited_by": Compared("CTAs limited by"),
    "registers": Compared("registers per thread", is_tolerant=True),
    "shared_bytes": Compared("bytes of shared memory", is_tolerant=True),
    "instructions": Compared("matrix instructions"),
    "finding_cycles": Compared("cycles that findings waste", is_tolerant=True),
}
"""Fact -> how it is compared; findings are compared kind by kind."""


class Difference(NamedTuple):
    """A fact in which two kernels differ.

    Attributes:
        name: name of the fact, or ``findings`` and their kind.
        words: the fact, as a noun.
        before, after: its values; None where one is not known.
        worse: 1 if the second is worse, -1 if it is better, 0 if undecided.
    """

    name: str
    words: str
    before: Fact
    after: Fact
    worse: int = 0

    @property
    def text(self) -> str:
        """The fact before and after.

        Example:
            >>> Difference("ctas", "CTAs of a multiprocessor", 2, 1, 1).text
            'CTAs of a multiprocessor: 2 before, 1 after'
        """
        return f"{self.words}: {in_words(self.before)} before, {in_words(self.after)} after"


def in_words(fact: Fact) -> str:
    """Return a fact as text."""
    if fact is None:
        return "not known"
    return (fact or "none") if isinstance(fact, str) else shown(round(fact, 1))


def differences(
    before: KernelFacts, after: KernelFacts, tolerance: float = 0
) -> tuple[Difference, ...]:
    """Return the facts in which two kernels differ, in the order of `KernelFacts`.

    Args:
        before, after: the kernels.
        tolerance: relative change that is ignored.

    Example:
        >>> before, after = KernelFacts(registers=205, ctas=2), KernelFacts(registers=398, ctas=1)
        >>> found = differences(before, after)
        >>> [difference.text for difference in found][1]
        'registers per thread: 205 before, 398 after'
        >>> is_worse(found)
        True
    """
    compared = dict(COMPARED)
    if ESTIMATED & {before.spills, after.spills}:
        words = f"{COMPARED['registers'].words} (estimate)"
        compared["registers"] = COMPARED["registers"]._replace(words=words)
    pairs = [
        (name, how, getattr(before, name), getattr(after, name)) for name, how in compared.items()
    ]
    for kind in sorted(before.findings.keys() | after.findings.keys()):
        how = Compared(f"findings of {kind}")
        old, new = before.findings.get(kind, 0), after.findings.get(kind, 0)
        pairs.append((f"findings {kind}", how, old, new))
    return tuple(_differing(pairs, tolerance))


def _differing(
    pairs: Sequence[tuple[str, Compared, Fact, Fact]], tolerance: float
) -> Iterator[Difference]:
    for name, how, before, after in pairs:
        old, new = _number(before), _number(after)
        change = new - old if old is not None and new is not None else 0
        share = max(tolerance, how.error) if how.is_tolerant else 0
        if before == after or (change and abs(change) <= share * abs(old or 0)):
            continue
        worse = ((change > 0) - (change < 0)) * how.is_decisive
        yield Difference(name, how.words, before, after, -worse if how.is_less_worse else worse)


def _number(fact: Fact) -> float | None:
    return SPILLS.get(fact) if isinstance(fact, str) else fact


def is_worse(differences: Sequence[Difference]) -> bool | None:
    """Tell whether a kernel became worse: by the first fact that decides; None where none does."""
    return next((difference.worse > 0 for difference in differences if difference.worse), None)
