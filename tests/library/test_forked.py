"""Calls in copies of a process: what they answer, and what is missing where they fail."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from multiprocessing import active_children
from threading import Event, Thread
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest
from test_time import chain, kernel

import tt_layout
from tt_layout.ir.ssa import Function
from tt_layout.library import autotuning
from tt_layout.library.autotuning import answers_of, can_fork
from tt_layout.worker import processors, renew_locks

pytestmark = pytest.mark.skipif(not can_fork(), reason="this system does not copy processes")

HERE = os.getpid()


class TestAnswers:
    def test_all_are_asked_in_copies(self) -> None:
        answers = answers_of(lambda number: 10.0 * number + (os.getpid() == HERE), 7, workers=3)
        assert answers == {number: 10.0 * number for number in range(7)}
        assert active_children() == []

    @pytest.mark.parametrize(
        ("fails", "answered"),
        [
            (lambda: 1 // 0, [0, 2, 3]),
            (lambda: None, [0, 2, 3]),
            (lambda: os._exit(1), [0, 2]),
            (lambda: os.kill(os.getpid(), 9), [0, 2]),
        ],
        ids=["raises", "says nothing", "exits", "is killed"],
    )
    def test_what_fails_is_missing(
        self, fails: Callable[[], float | None], answered: list[int]
    ) -> None:
        found = answers_of(lambda number: fails() if number == 1 else 5.0, 4, workers=2)
        assert found == dict.fromkeys(answered, 5.0)

    @pytest.mark.slow
    def test_what_takes_too_long_is_ended(self) -> None:
        def answer(number: int) -> float:
            if number == 1:
                sleep(600)
            return 5.0

        assert answers_of(answer, 2, workers=2, seconds=3) == {0: 5.0}
        assert active_children() == []

    def test_what_a_copy_prints_is_not_seen(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert answers_of(lambda number: float(os.write(1, b"seen")), 1) == {0: 4.0}
        assert capfd.readouterr().out == ""


class Driver:
    """A driver of Triton whose GPU answers only the process that began with it."""

    def get_current_device(self) -> int:
        if os.getpid() != HERE:
            raise RuntimeError("Cannot re-initialize CUDA in forked subprocess")
        return 0

    def get_current_stream(self, device: int) -> int:
        return self.get_current_device()

    def get_current_target(self) -> str:
        return "cuda"


class TestListsOfConfigurations:
    @pytest.fixture
    def runtime(self, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
        runtime = SimpleNamespace(driver=SimpleNamespace(active=Driver()))
        runtime.driver.set_active = lambda driver: vars(runtime.driver).update(active=driver)
        monkeypatch.setitem(sys.modules, "triton.runtime", runtime)
        return runtime

    @staticmethod
    def config(**options: Any) -> SimpleNamespace:
        return SimpleNamespace(all_kwargs=lambda: options)

    def test_a_list_is_estimated_in_copies(self, runtime: SimpleNamespace) -> None:
        compiled_here = []

        def run(LENGTH: int, **arguments: Any) -> SimpleNamespace:  # noqa: N803
            runtime.driver.active.get_current_device()
            if os.getpid() == HERE:
                compiled_here.append(LENGTH)
            return SimpleNamespace(asm={"ttgir": kernel(chain(LENGTH))})

        driver = runtime.driver.active
        model = tt_layout.perf_model(SimpleNamespace(run=run), (132,), gpu="h100")
        prune = model.pruning(top_k=2)
        configs = [self.config(LENGTH=length) for length in (400, 4, 40, 4)]
        kept = prune["early_config_prune"](configs, {"n": 4}, grid=(132,))
        times = [model(n=4, grid=(132,), **config.all_kwargs()) for config in configs]
        assert (kept, compiled_here) == ([configs[1], configs[2]], [400])
        assert times[0] > times[2] > times[1] == times[3]
        assert (prune["perf_model"], prune["top_k"]) == (model, 2)
        assert runtime.driver.active is driver
        alone = tt_layout.perf_model(lambda **_: kernel(chain(40)), (132,), gpu="h100")
        assert alone() == times[2]

    @pytest.mark.parametrize("forks", [True, False])
    def test_configurations_of_the_same_dump_are_one(
        self, runtime: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, forks: bool
    ) -> None:
        def run(LENGTH: int, num_stages: int, **arguments: Any) -> SimpleNamespace:  # noqa: N803
            if LENGTH == 7:
                raise RuntimeError("refused")
            length = LENGTH + (num_stages == 4)
            return SimpleNamespace(asm={"ttgir": kernel(chain(length))})

        monkeypatch.setattr(autotuning, "can_fork", lambda: forks)
        model = tt_layout.perf_model(SimpleNamespace(run=run), (132,), gpu="h100")
        chosen = [(4, 2, 0), (4, 3, 0), (4, 4, 0), (4, 3, 64), (7, 2, 0), (7, 3, 0)]
        configs = [
            self.config(LENGTH=length, num_stages=stages, maxnreg=most)
            for length, stages, most in chosen
        ]
        kept = model.estimate_all(configs, {})
        assert [configs.index(config) for config in kept] == [0, 2, 3, 4, 5]

    def test_what_fails_in_a_copy_is_compiled_here(self, runtime: SimpleNamespace) -> None:
        def run(LENGTH: int, **arguments: Any) -> SimpleNamespace:  # noqa: N803
            if os.getpid() != HERE:
                raise RuntimeError("only a GPU knows")
            return SimpleNamespace(asm={"ttgir": kernel(chain(LENGTH))})

        model = tt_layout.perf_model(SimpleNamespace(run=run), (132,), gpu="h100")
        model.estimate_all([self.config(LENGTH=length) for length in (4, 40)], {})
        assert model(LENGTH=4) < model(LENGTH=40) < 1000

    def test_the_gpu_is_asked_for_its_name_before(
        self, runtime: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        name = "NVIDIA H100 80GB HBM3"
        monkeypatch.setattr(
            autotuning, "device_name", lambda: name if os.getpid() == HERE else None
        )

        def run(LENGTH: int, **arguments: Any) -> SimpleNamespace:  # noqa: N803
            return SimpleNamespace(asm={"ttgir": kernel(chain(LENGTH))})

        found = []
        for gpu in (None, "h100"):
            model = tt_layout.perf_model(SimpleNamespace(run=run), (4096,), gpu=gpu)
            model.estimate_all([self.config(LENGTH=length) for length in (4, 40)], {})
            found.append(model(LENGTH=40))
        assert found[0] == found[1]


HAS_LOCKS = hasattr(cached_property(len), "lock")
"""Whether a property that keeps its value has a lock, as before Python 3.12."""


@pytest.fixture
def held() -> Iterator[Any]:
    """Yield a property of the package whose lock another thread holds."""
    kept, done, is_held = vars(Function)["values"], Event(), Event()

    def hold() -> None:
        with kept.lock:
            is_held.set()
            done.wait()

    thread = Thread(target=hold)
    thread.start()
    is_held.wait()
    yield kept
    done.set()
    thread.join()


@pytest.mark.skipif(not HAS_LOCKS, reason="this Python has no such locks")
def test_a_copy_of_a_process_waits_for_no_thread_of_the_other(held: Any) -> None:
    assert not held.lock.acquire(blocking=False)
    child = os.fork()
    if not child:
        os._exit(0 if held.lock.acquire(blocking=False) else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not HAS_LOCKS, reason="this Python has no such locks")
def test_renewed_locks_are_free(held: Any) -> None:
    renew_locks()
    assert held.lock.acquire(blocking=False)
    held.lock.release()


def test_processors_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert processors() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    assert processors() == 8
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processors() == 1
