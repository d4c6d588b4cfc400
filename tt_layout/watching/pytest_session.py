"""A session of pytest whose kernels are watched; with xdist those of all its processes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack
from typing import Any

import pytest

from tt_layout.errors import LayoutError
from tt_layout.kernels.seen import from_plain, to_plain
from tt_layout.reports.report import plain_text
from tt_layout.reports.watched_findings import read_limits
from tt_layout.watching.places import in_test
from tt_layout.watching.report import WatchReport, write_report
from tt_layout.watching.session import collecting

CHANNEL = "tt_layout_kernels"
"""What a worker of xdist calls the kernels that it has seen."""


class WatchedTests:
    """Watches from when pytest is configured to the end of its session.

    Args:
        config: of pytest.
        kinds: of findings that the session fails on; empty for none.
        path: of the file that the report is written to; None for none.

    Raises:
        pytest.UsageError: there is no such kind of finding.
    """

    def __init__(self, config: pytest.Config, kinds: str, path: str | None) -> None:
        try:
            self._limits = read_limits([kinds]) if kinds else {}
        except LayoutError as error:
            way_out = "write --tt-audit= before a path"
            raise pytest.UsageError(f"--tt-audit: {error.message}; {way_out}") from None
        self._config, self._path = config, path
        self._stack = ExitStack()
        self._seen = self._stack.enter_context(collecting())
        self._report: WatchReport | None = None
        self._failures: list[str] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, None, None]:
        """Let what is compiled be that of the test."""
        with in_test(item.nodeid):
            yield

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker of xdist has seen."""
        found = getattr(node, "workeroutput", {}).get(CHANNEL, [])
        self._seen.record.add(map(from_plain, found))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Audit the kernels, or hand them to the process that does."""
        self._stack.close()
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[CHANNEL] = [to_plain(kernel) for kernel in self._seen.kernels]
            return
        self._report = self._seen.report
        self._failures = self._report.failures(self._limits)
        if self._path is not None:
            write_report(self._report, self._path, self._limits)
        if self._failures and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the table, and what the session fails on."""
        if self._report is None:
            return
        terminalreporter.section("kernels")
        terminalreporter.write(plain_text(self._report))
        for failure in self._failures:
            terminalreporter.write_line(f"failed on {failure}", red=True)

    def pytest_unconfigure(self) -> None:
        """Take the hooks back."""
        self._stack.close()
