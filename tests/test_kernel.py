"""A kernel: one record that every report prints, each fact computed once when it is asked for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread

import pytest
from command import Run, runner

import tt_layout
from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds import Bounds
from tt_layout.audit.bounds import bounds as bounds_module
from tt_layout.audit.bounds.bounds import Grid
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.lazy import lazy
from tt_layout.library.features import features

ROOT = Path(__file__).parent.parent
DUMP = str(ROOT / "examples/kernels/matmul-sm90.ttgir")


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def first_kernel() -> Kernel:
    [audit] = tt_layout.audit_ir(DUMP).audits
    [kernel] = kernels_of(audit)
    return kernel


def test_a_fact_is_computed_once_and_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = bounds_module.kernel_bounds

    def counted(audit: Audit, function: str | None, grid: Grid | None) -> Bounds | None:
        calls.append(function)
        return real(audit, function, grid)

    monkeypatch.setattr("tt_layout.audit.shares.kernel_bounds", counted)
    kernel = first_kernel()
    assert not calls
    assert kernel.bounds is kernel.bounds
    assert len(calls) == 1


def test_threads_that_ask_different_objects_do_not_wait_for_each_other() -> None:
    meeting = Barrier(2, timeout=10)

    class Slow:
        @lazy
        def value(self) -> int:
            return meeting.wait()

    objects = Slow(), Slow()
    threads = [Thread(target=lambda one=one: one.value) for one in objects]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {vars(one)["value"] for one in objects} == {0, 1}


def test_a_planted_fact_is_in_every_report_of_a_kernel(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known = first_kernel().registers
    assert known is not None
    planted = replace(known, needed=123, live=123, limit=234, compiled=None)
    monkeypatch.setattr("tt_layout.audit.kernel.worst", lambda found: planted)
    words = "about 123 of 234 registers per thread"
    assert words in run("audit", DUMP).out
    assert words in run("audit", "--all", DUMP).out
    assert words in str(tt_layout.audit_ir(DUMP))
    [summary] = json.loads(run("audit", DUMP, "--format", "json").out)["modules"][0]["summary"]
    assert (summary["registers_per_thread"], summary["registers_limit"]) == (123, 234)
    own = features(DUMP)
    assert (own["registers"], own["live_registers"], own["registers_limit"]) == (123, 123, 234)
    page = tmp_path / "page.html"
    assert run("page", DUMP, "-o", str(page)).status == 0
    assert words in page.read_text(encoding="utf-8")
