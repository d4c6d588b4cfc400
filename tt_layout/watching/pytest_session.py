"""A pytest session whose kernels are watched, with xdist in all its processes."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import ExitStack, nullcontext
from typing import Any

import pytest

from tt_layout.errors import LayoutError
from tt_layout.kernels.compiling import compiling
from tt_layout.kernels.seen import from_plain, to_plain
from tt_layout.reports.report import plain_text
from tt_layout.reports.watched_findings import read_limits
from tt_layout.safe_text import safe
from tt_layout.watching.places import in_test
from tt_layout.watching.processes import is_followed
from tt_layout.watching.report import ReportFile, WatchReport
from tt_layout.watching.session import WatchedKernels, collecting

CHANNEL = "tt_layout_kernels"
"""Key of a worker's output under which it hands over what it has seen."""

VERSION = 1
"""Of what is handed over: a text of JSON, because xdist carries plain data alone."""


class WatchedTests:
    """Plugin that watches from the configuration of pytest to the end of its session.

    Args:
        config: the configuration of pytest.
        kinds: kinds of findings that the session fails on; empty for none.
        path: the file that the report is written to; None for none.
        force: whether it replaces any file.

    Raises:
        pytest.UsageError: there is no such kind of finding, or the file cannot be written, or is
            not an earlier report.
    """

    def __init__(self, config: pytest.Config, kinds: str, path: str | None, force: bool) -> None:
        try:
            self._limits = read_limits([kinds]) if kinds else {}
        except LayoutError as error:
            way_out = "write --tt-audit= before a path"
            raise pytest.UsageError(f"--tt-audit: {error.message}; {way_out}") from None
        self._config, self._file = config, None
        if path is not None:
            self._file = ReportFile(os.path.abspath(path), None if force else "--tt-audit-force")
            if (reason := self._file.why_not()) is not None:
                raise pytest.UsageError(f"--tt-audit-report: cannot write {path}: {reason}")
        self._problem: str | None = None
        self._stack = ExitStack()
        is_worker = hasattr(config, "workeroutput")
        # The kernels of a worker that the first process follows are in its journal.
        self._hands_over = is_worker and not is_followed()
        self._seen = WatchedKernels()
        if not is_worker or self._hands_over:
            self._seen = self._stack.enter_context(collecting())
        self._report: WatchReport | None = None
        self._failures: list[str] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, None, None]:
        """Attribute compilations to the test."""
        with in_test(item.nodeid):
            yield

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the events of an xdist worker; one that sends none is a failure."""
        name = f"worker {node.gateway.id}"
        text = getattr(node, "workeroutput", {}).get(CHANNEL)
        if text is None:
            self._seen.lost.append(f"{name} ended before it handed over what it had seen")
            return
        handed = json.loads(text)
        if handed["version"] != VERSION:
            self._seen.lost.append(f"{name} has another version of tt-layout")
            return
        self._seen.record.add(map(from_plain, handed["kernels"]))
        if handed["failure"] is not None:
            self._seen.lost.append(f"{name}: {handed['failure']}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Audit the kernels, or send them to the process that does."""
        self._stack.close()
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            kernels = self._seen.kernels if self._hands_over else ()
            handed = {
                "version": VERSION,
                "kernels": list(map(to_plain, kernels)),
                "failure": self._seen.failure,
            }
            output[CHANNEL] = json.dumps(handed)
            return
        python = self._config.getoption("--tt-audit-compile")
        with compiling(python or None) if python is not None else nullcontext():
            self._report = self._seen.report
        self._failures = self._seen.failures(self._limits)
        if self._file is not None:
            self._problem = self._file.write(self._report, self._limits)
        if self._failures and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the table, and the findings that the session fails on."""
        if self._report is None:
            return
        terminalreporter.section("kernels")
        terminalreporter.write(plain_text(self._report))
        for failure in self._failures:
            terminalreporter.write_line(f"failed on {failure}", red=True)
        if self._problem is not None:
            terminalreporter.write_line(f"warning: {safe(self._problem)}", yellow=True)

    def pytest_unconfigure(self) -> None:
        """Remove the hooks."""
        self._stack.close()
