"""The few configurations that are run: the fastest, and others that are not like it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command import Run, runner
from test_time import chain, estimated, kernel

import tt_layout
from tt_layout.audit.time.selection import Candidate, selected
from tt_layout.library import autotuning

GRID = 1320


def dump(length: int, warps: int = 4) -> str:
    """Return a kernel of some steps, one behind the other, whose block is the same for all."""
    text = kernel(chain(length))
    if warps != 4:
        text = text.replace('"ttg.num-warps" = 4', f'"ttg.num-warps" = {warps}')
        text = text.replace("warpsPerCTA = [4]", f"warpsPerCTA = [{warps}]")
        text = text.replace("sizePerThread = [4]", f"sizePerThread = [{16 // warps}]")
    return text


def candidate(seconds: float, *traits: int, end: float | None = None) -> Candidate:
    possible = ((seconds, 1.0),) if end is None else ((seconds, 0.5), (end, 0.5))
    return Candidate(sum(time * weight for time, weight in possible), possible, traits)


class TestSelection:
    def test_the_first_is_estimated_to_be_fastest(self) -> None:
        some = [candidate(2, 1, 4, 3), candidate(1, 1, 4, 3), candidate(3, 1, 4, 3)]
        assert selected(some, 1) == [1]
        assert sorted(selected(some, 5)) == [0, 1, 2]
        assert selected([], 5) == []

    def test_neighbours_leave_places_to_others(self) -> None:
        alike = [candidate(1 + n / 1000, 1, 4, n) for n in range(6)]
        some = [*alike, candidate(1.03, 2, 8, 6)]
        assert set(selected(some, 3)) > {0, 6}

    def test_what_is_far_slower_is_not_run(self) -> None:
        alike = [candidate(1 + n / 1000, 1, 4, n) for n in range(6)]
        assert 6 not in selected([*alike, candidate(4, 2, 8, 6)], 5)

    def test_what_may_be_fast_is_tried(self) -> None:
        """Beside one that is surely slow, one that is so in the mean alone."""
        sure, open_ended = candidate(1.2, 2, 8, 3), candidate(0.9, 2, 8, 3, end=1.5)
        assert open_ended.seconds == pytest.approx(sure.seconds)
        assert selected([candidate(1, 1, 4, 3), sure, open_ended], 2) == [0, 2]

    def test_the_range_of_the_registers_is_what_it_may_take(self) -> None:
        found = estimated(kernel(chain(4)))
        program = replace(found.program, needed=240, fewest=200, most=330, programs=100)
        candidate = replace(found, program=program).launching(132).candidate
        fewest, most = candidate.possible[1:]
        assert fewest[0] < candidate.seconds < most[0]
        assert sum(weight for _, weight in candidate.possible) == pytest.approx(1)


class TestSurfaces:
    NAMES = ((4, 4), (5, 4), (6, 4), (60, 8))

    @pytest.fixture
    def run(
        self, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> Run:
        return runner(capsysbinary, monkeypatch)

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for length, warps in self.NAMES:
            (tmp_path / f"{length}-{warps}.ttgir").write_text(dump(length, warps))
        return tmp_path

    def test_rank_lists_those_that_the_autotuner_runs(
        self, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(autotuning, "can_fork", lambda: False)
        top = ("--grid", str(GRID), "--gpu", "h100", "--top", "2", "--format", "json")
        rows = json.loads(run("rank", str(folder), *top).out)["configurations"]
        assert [(Path(row["file"]).stem, row["place"]) for row in rows] == [("4-4", 1), ("60-8", 4)]

        def compiled(length: int, num_warps: int) -> str:
            return dump(length, num_warps)

        def config(length: int, warps: int) -> Any:
            return SimpleNamespace(all_kwargs=lambda: {"length": length, "num_warps": warps})

        prune = tt_layout.perf_model(compiled, (GRID,), gpu="h100").pruning(top_k=2)
        configs = [config(*names) for names in self.NAMES]
        kept = prune["early_config_prune"](configs, {})
        assert [configs.index(one) for one in kept] == [0, 3]

    def test_what_has_no_estimate_fills_places_that_are_left(self) -> None:
        def compiled(length: int) -> str:
            if length == 7:
                raise RuntimeError("refused")
            return dump(length)

        configs: list[Any] = [
            SimpleNamespace(all_kwargs=lambda length=length: {"length": length})
            for length in (7, 4)
        ]
        for number, wanted in ((1, [1]), (2, [1, 0])):
            prune = tt_layout.perf_model(compiled, (GRID,), gpu="h100").pruning(top_k=number)
            kept = prune["early_config_prune"](configs, {})
            assert [configs.index(one) for one in kept] == wanted
