"""The two tiers of the tests: the plain run, and what CI adds to it with ``-m slow``.

A sweep runs over a sample in the plain run and over everything in the slow tier::

    @pytest.mark.parametrize("step", [20, slow(1)])
    def test_every_row(step: int) -> None:
        for row in rows[::step]:
"""

from __future__ import annotations

from typing import Any

import pytest


def slow(*values: object) -> Any:
    """Return parameters of a test that run in the slow tier only."""
    return pytest.param(*values, marks=pytest.mark.slow)
