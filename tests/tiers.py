"""The two tiers of the tests: the plain run, and what CI adds to it with ``-m slow``.

A sweep runs over a sample in the plain run and over everything in the slow tier::

    @pytest.mark.parametrize("step", [20, slow(1)])
    def test_every_row(step: int) -> None:
        for row in rows[::step]:
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def slow(*values: object) -> Any:
    """Return parameters of a test that run in the slow tier only."""
    return pytest.param(*values, marks=pytest.mark.slow)


def sampled(values: Iterable[object], every: int) -> list[Any]:
    """Return parameters of which every so-many-th runs in the plain run, the first included."""
    return [value if at % every == 0 else slow(value) for at, value in enumerate(values)]
