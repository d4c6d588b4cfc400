"""Kernels that Inductor launches, and modules that are watched by their names."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command import Run, runner

from tt_layout.kernels.seen import Launch, Record
from tt_layout.watching.__main__ import main as watch_main
from tt_layout.watching.inductor_hooks import INDUCTOR, InductorHooks, inductor_launch


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def test_a_launch_of_inductor_has_its_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    class Grid:
        @classmethod
        def from_meta(cls, meta: Any, config: Any) -> Grid:
            assert (meta, config) == ("meta", "config")
            return cls()

        def eval_slow(self, arguments: Any) -> tuple[int, int, int]:
            return (arguments["xnumel"] // 128, 1, 1)

    monkeypatch.setitem(sys.modules, INDUCTOR, SimpleNamespace(GridExpr=Grid))

    def launcher(xnumel: int, stream: int) -> None:
        """Stand for what Inductor generates."""

    tuner = SimpleNamespace(inductor_meta="meta")
    vars(launcher)["config"] = "config"
    assert inductor_launch(tuner, launcher, (512,), {"stream": 7}) == Launch(
        (4, 1, 1), (("xnumel", 512),)
    )


def test_a_module_that_is_watched_is_first_looked_for_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("here", "elsewhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "watched_one.py").write_text(f"import sys\nsys.argv += ['{folder}']")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "elsewhere"), *sys.path])
    monkeypatch.setattr(sys, "argv", ["watch"])
    assert watch_main(["-m", "watched_one"]) == 0
    assert sys.argv[1:] == ["here"]
    assert watch_main([str(tmp_path / "elsewhere" / "watched_one.py")]) == 0
    assert sys.argv[1:] == ["elsewhere"]


def test_trials_of_inductor_are_no_launches() -> None:
    """It launches each choice many times, to measure which is the quickest."""
    heard: list[Any] = []
    triton: Any = SimpleNamespace(guard=heard.append)
    run = InductorHooks(Record(), triton)._run(lambda tuner, **named: tuner)
    assert run("tuner", benchmark_run=True) == "tuner"
    assert not heard
    assert run("tuner", benchmark_run=False) == "tuner"
    assert len(heard) == 1
