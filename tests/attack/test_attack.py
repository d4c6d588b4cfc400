"""The attacks of the harness, other ones of each section every day: ``pytest -m attack``."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from fuzz import run_all, run_reading
from harness import SECTIONS, run
from mutated_readings import to_editor
from torn import WAYS, WRITING
from torn import run as run_torn

pytestmark = [
    pytest.mark.attack,
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the devices of Linux"),
]


SAMPLE = 40  # attacks of a section; harness.py runs all
TRIED = 120  # mutations of a kind; fuzz.py tries as many as are asked for


@pytest.mark.parametrize("section", SECTIONS)
def test_nothing_fails(section: str, seed: int) -> None:
    tried, failed = run(section, SAMPLE, seed)
    assert tried
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("kind", ["inputs", "calls", "readings", "questions"])
def test_mutated_inputs_and_wrong_calls(kind: str, seed: int, tally: Counter[str]) -> None:
    outcome = run_all(kind, TRIED, seed, processes=1)
    tally.update(outcome.counts)
    assert outcome.counts.total() == TRIED
    assert not outcome.failures


FALLEN = {
    "3700, 3078": '{"jsonrpc": "2.0", "id": 7, "method": "textDocument/codeAction", "params": '
    '{"textDocument": {"uri": "file:///work/dump.ttgir"}, "range": {"start": {"line": 0, '
    '"character": 0}, "end": {"line": 40, "character": 0}}, "context": {"diagnostics": "%s"}}}'
    % ("x" * 100_000),
    "3700, 3963": '{"jsonrpc": "2.0", "id": 7, "method": ""}',
    "3740, 3728": json.dumps({"jsonrpc": "2.0", "id": 7, "method": "x" * 100_000}),
    "3740, 55379": '{"jsonrpc": "2.0", "id": 7, "method": %s}' % ("9" * 4201),
    "q124": '{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": [[]]}}',
}
"""Messages of editors that fell once, by the seed and the number of their try; each is mended."""


@pytest.mark.parametrize("name", FALLEN)
def test_what_fell_is_mended(name: str) -> None:
    assert run_reading(to_editor(FALLEN[name])).fault is None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("command", WRITING)
def test_nothing_is_torn(way: str, command: str, seed: int) -> None:
    times = 20 if (way, command) == ("killed", "check --update") else 6
    assert run_torn(way, command, times, seed) == []
