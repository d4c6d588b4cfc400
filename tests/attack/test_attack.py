"""The attacks of the harness, all of them in CI: ``pytest -m attack tests/attack``."""

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


@pytest.mark.parametrize("section", SECTIONS)
def test_nothing_fails(section: str) -> None:
    tried, failed = run(section)
    assert tried
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("kind", ["inputs", "calls"])
def test_mutated_inputs_and_wrong_calls(kind: str, seed: int, tally: Counter[str]) -> None:
    outcome = run_all(kind, 500, seed, processes=1)
    tally.update(outcome.counts)
    assert outcome.counts.total() == 500
    assert not outcome.failures


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("command", WRITING)
def test_nothing_is_torn(way: str, command: str, seed: int) -> None:
    times = 50 if (way, command) == ("killed", "check --update") else 8
    assert run_torn(way, command, times, seed) == []
