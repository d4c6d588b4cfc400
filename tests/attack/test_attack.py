"""The attacks of the harness, other ones of each section every day: ``pytest -m attack``."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from fuzz import run_all
from harness import SECTIONS, run
from torn import WAYS, WRITING
from torn import run as run_torn

pytestmark = [
    pytest.mark.attack,
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the devices of Linux"),
]


SAMPLE = 40  # attacks of a section; harness.py runs all


@pytest.mark.parametrize("section", SECTIONS)
def test_nothing_fails(section: str, seed: int) -> None:
    tried, failed = run(section, SAMPLE, seed)
    assert tried
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("kind", ["inputs", "calls"])
def test_mutated_inputs_and_wrong_calls(kind: str, seed: int, tally: Counter[str]) -> None:
    outcome = run_all(kind, 250, seed, processes=1)
    tally.update(outcome.counts)
    assert outcome.counts.total() == 250
    assert not outcome.failures


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("command", WRITING)
def test_nothing_is_torn(way: str, command: str, seed: int) -> None:
    times = 20 if (way, command) == ("killed", "check --update") else 6
    assert run_torn(way, command, times, seed) == []
