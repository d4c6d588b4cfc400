"""The few of many configurations that are worth running: not simply those estimated to be fastest.

Estimates err, and those of configurations that are alike err alike: five neighbours are right or
wrong together.  So the first is the one estimated to be fastest, and each other is the one from
which most is expected to be gained over all before it, where errors are normal in the logarithm.
The difference of two has less of an error the more alike they are.  What a configuration may take
by the range of its registers counts with its weight: one that is fast if fewer are needed may be
worth a try.

Read next:    `tt_layout.audit.time.launch`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import erf, exp, log, pi, sqrt

from tt_layout.audit.time.launch import LaunchTime
from tt_layout.audit.time.steps import Program
from tt_layout.tuples import NamedTuple

SPREAD = 0.2
"""Standard deviation of an estimate's logarithmic error: half of 1,022 are within 14 %."""

ALIKE = 0.3
"""Fraction of the variance that two share for each equal trait; all three leave a tenth.

It was chosen: by .2 to .3 the best of five of the sweeps is as good."""


class Candidate(NamedTuple):
    """A configuration that may be worth running.

    Attributes:
        seconds: its estimated time.
        possible: its possible times in seconds, each with its weight.
        traits: size of a program, warps, stages: equal traits mean similar errors.
    """

    seconds: float
    possible: tuple[tuple[float, float], ...]
    traits: tuple[Hashable, ...]

    @classmethod
    def of(cls, program: Program, launch: LaunchTime) -> Candidate:
        """Return the candidate of a launch."""
        size = launch.programs, round(program.stored)
        return cls(launch.seconds, launch.possible, (size, program.warps, program.stages))

    def gain(self, other: Candidate) -> float:
        """Return the expected logarithm of the speedup over another; slower counts as 0.

        Example:
            >>> fast, slow = Candidate(1, ((1, 1),), (1, 4, 3)), Candidate(2, ((2, 1),), (2, 4, 3))
            >>> fast.gain(slow) > 0.69 > 0.01 > slow.gain(fast) > 0
            True
        """
        same = sum(own == their for own, their in zip(self.traits, other.traits))
        spread = SPREAD * sqrt(2 * (1 - ALIKE * same))
        return sum(
            weight * _positive(log(other.seconds / seconds), spread)
            for seconds, weight in self.possible
        )


def selected(candidates: Sequence[Candidate], number: int) -> list[int]:
    """Return the indices of the few that are worth running, the first estimated to be fastest.

    Args:
        candidates: all configurations.
        number: the most that are run.

    Example:
        >>> alike = [Candidate(1 + n / 100, ((1 + n / 100, 1),), (1, 4, 3)) for n in range(3)]
        >>> selected([*alike, Candidate(1.05, ((1.05, 1),), (2, 8, 3))], 2)
        [0, 3]
    """
    left = sorted(range(len(candidates)), key=lambda index: candidates[index].seconds)
    gains = dict.fromkeys(left, float("inf"))
    chosen: list[int] = []
    while gains and len(chosen) < number:
        # Of equal gains, as of all in the beginning, the first: it is estimated to be faster.
        one = max(gains, key=lambda index: gains[index])
        del gains[one]
        chosen.append(one)
        for index, gain in gains.items():
            gains[index] = min(gain, candidates[index].gain(candidates[one]))
    return chosen


def _positive(mean: float, spread: float) -> float:
    """Return the mean of the positive part of a normal variable."""
    at = mean / spread
    return spread * exp(-at * at / 2) / sqrt(2 * pi) + mean * (1 + erf(at / sqrt(2))) / 2
