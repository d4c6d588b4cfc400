"""Which of two kernels is worse, by facts that a baseline, a difference and a comment compare."""

from __future__ import annotations

import pytest

from tt_layout.audit.facts import COMPARED, KernelFacts, differences, is_worse

WORSE: dict[str, tuple[KernelFacts, KernelFacts]] = {
    "errors": (KernelFacts(), KernelFacts(errors=1)),
    "spills": (KernelFacts(spills="may"), KernelFacts(spills="likely")),
    "spilled": (KernelFacts(spilled=0), KernelFacts(spilled=8)),
    "without_instruction": (KernelFacts(), KernelFacts(without_instruction=1)),
    "estimate_us": (KernelFacts(estimate_us=10.0), KernelFacts(estimate_us=12.0)),
    "cycles": (KernelFacts(cycles=100), KernelFacts(cycles=101)),
    "bound_cycles": (KernelFacts(bound_cycles=100), KernelFacts(bound_cycles=101)),
    "ctas": (KernelFacts(ctas=2), KernelFacts(ctas=1)),
}
"""Fact that decides -> a kernel, and one that is worse by it alone."""


def test_every_fact_that_decides_is_tried() -> None:
    assert set(WORSE) == {name for name, how in COMPARED.items() if how.is_decisive}


@pytest.mark.parametrize("name", WORSE)
def test_a_kernel_is_worse_by_one_fact(name: str) -> None:
    before, after = WORSE[name]
    [found] = differences(before, after)
    assert (found.name, found.worse) == (name, 1)
    assert is_worse([found]) is True
    assert is_worse(differences(after, before)) is False
    assert is_worse(differences(before, before)) is None


def test_what_comes_first_decides() -> None:
    """A kernel that spills is worse though it moves less."""
    spilling = KernelFacts(spills="yes", cycles=10, ctas=4)
    assert is_worse(differences(KernelFacts(spills="no", cycles=100, ctas=1), spilling)) is True


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("no", "no", "registers per thread"),
        ("unlikely", "unlikely", "registers per thread (estimate)"),
        ("no", "may", "registers per thread (estimate)"),
    ],
)
def test_registers_that_were_not_compiled_are_said_to_be_an_estimate(
    before: str, after: str, words: str
) -> None:
    found = differences(
        KernelFacts(spills=before, registers=96), KernelFacts(spills=after, registers=128)
    )
    assert f"{words}: 96 before, 128 after" in [difference.text for difference in found]


def test_estimates_within_their_error_are_one() -> None:
    assert differences(KernelFacts(estimate_us=10.0), KernelFacts(estimate_us=10.9)) == ()
    assert differences(KernelFacts(cycles=100), KernelFacts(cycles=105), tolerance=0.1) == ()
    [lost] = differences(KernelFacts(ctas=10), KernelFacts(ctas=9), tolerance=0.5)
    assert lost.worse == 1, "a lost CTA is none of rounding"
