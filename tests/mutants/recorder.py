"""A pytest plugin: which test executes which line, and how long each takes.

    python -m pytest -p mutants.recorder --record DIR -n 0

``DIR/coverage`` has a context for each test, ``DIR/seconds.jsonl`` its duration.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", metavar="DIR", help="where to write what each test executes")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder(Path(config.getoption("record"))))


class Recorder:
    """Switches the context of the coverage with each test.

    Args:
        folder: where the record goes.
    """

    def __init__(self, folder: Path) -> None:
        from coverage import Coverage

        folder.mkdir(parents=True, exist_ok=True)
        self._seconds = (folder / "seconds.jsonl").open("a", encoding="utf-8")
        self._coverage = Coverage(data_file=folder / "coverage", source=["tt_layout"])
        self._coverage.start()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        yield
        self._coverage.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self._seconds.write(json.dumps([report.nodeid, round(report.duration, 3)]) + "\n")
            self._seconds.flush()

    def pytest_unconfigure(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        self._seconds.close()
