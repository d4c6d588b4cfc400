"""Which of two kernels is worse, by facts that a baseline, a difference and a comment compare."""

from __future__ import annotations

import pytest

from tt_layout.audit.facts import COMPARED, Facts, differences, is_worse

WORSE: dict[str, tuple[Facts, Facts]] = {
    "errors": (Facts(), Facts(errors=1)),
    "spills": (Facts(spills="may"), Facts(spills="likely")),
    "spilled": (Facts(spilled=0), Facts(spilled=8)),
    "without_instruction": (Facts(), Facts(without_instruction=1)),
    "estimate_us": (Facts(estimate_us=10.0), Facts(estimate_us=12.0)),
    "cycles": (Facts(cycles=100), Facts(cycles=101)),
    "bound_cycles": (Facts(bound_cycles=100), Facts(bound_cycles=101)),
    "ctas": (Facts(ctas=2), Facts(ctas=1)),
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
    spilling = Facts(spills="yes", cycles=10, ctas=4)
    assert is_worse(differences(Facts(spills="no", cycles=100, ctas=1), spilling)) is True


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
    found = differences(Facts(spills=before, registers=96), Facts(spills=after, registers=128))
    assert f"{words}: 96 before, 128 after" in [difference.text for difference in found]


def test_estimates_within_their_error_are_one() -> None:
    assert differences(Facts(estimate_us=10.0), Facts(estimate_us=10.9)) == ()
    assert differences(Facts(cycles=100), Facts(cycles=105), tolerance=0.1) == ()
    [lost] = differences(Facts(ctas=10), Facts(ctas=9), tolerance=0.5)
    assert lost.worse == 1, "a lost CTA is none of rounding"
