"""`tt_layout.watch`: every kernel that Triton compiles or launches inside a block.

SIGTERM first raises an exception, so that the block ends in order, and then takes effect.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from typing import IO, Any

from tt_layout.errors import LayoutError
from tt_layout.kernels.seen import Record, SeenKernel
from tt_layout.reports.watched_findings import Limits, read_limits
from tt_layout.safe_text import safe
from tt_layout.watching.inductor_hooks import INDUCTOR, InductorHooks
from tt_layout.watching.journal import Journal, ProcessLog, process_logs
from tt_layout.watching.patches import Patches, once_imported
from tt_layout.watching.processes import keep_in_forks, session_folder
from tt_layout.watching.report import ReportFile, WatchReport, put, report_of, write_table
from tt_layout.watching.triton_hooks import TRITON, TritonHooks


class _Terminated(BaseException):
    """SIGTERM reached the process inside the block."""


@contextmanager
def raised_termination() -> Iterator[None]:
    """Let SIGTERM raise inside the block; after it the process ends by the signal as usual.

    A handler of the program is kept, as is the signal's effect outside the main thread and in
    processes forked inside the block.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    owner = os.getpid()

    def terminate(number: int, frame: Any) -> None:
        if os.getpid() != owner:
            _end_by(number)
        raise _Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    except _Terminated:
        _end_by(signal.SIGTERM)
    finally:
        if signal.getsignal(signal.SIGTERM) is terminate:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end_by(number: int) -> None:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


class WatchedKernels:
    """The kernels that a watched program compiled and launched, with their audit.

    Example:
        >>> WatchedKernels().kernels
        ()
    """

    def __init__(self) -> None:
        self.record = Record()
        self.process = os.getpid()
        self.folder: str | None = None
        self.lost: list[str] = []
        self._logs: tuple[ProcessLog, ...] = ()
        self._report: WatchReport | None = None

    @property
    def kernels(self) -> tuple[SeenKernel, ...]:
        """The kernels of all processes, with their launches; those of this process first."""
        together = Record(None)
        for kernels in self._by_process:
            together.add(kernels)
        return together.kernels

    @property
    def report(self) -> WatchReport:
        """The audit of each kernel with the arguments of its launches, the worst first."""
        self.gather()
        state = self.kernels, self.processes, self.failure
        if self._report is None or self._report.state != state:
            self._report = report_of(*state)
        return self._report

    @property
    def processes(self) -> int:
        """Number of processes that compiled or launched kernels."""
        return sum(map(bool, self._by_process))

    @property
    def failure(self) -> str | None:
        """The first failure of the hooks in any process, or of a process that sent nothing."""
        return next(self._unseen, None)

    @property
    def _unseen(self) -> Iterator[str]:
        failures = [self.record.failure, *(log.failure for log in self._logs), *self.lost]
        return filter(None, failures)

    def failures(self, limits: Limits) -> list[str]:
        """Return a line for each finding that is a failure, and for what was not seen or read."""
        unseen = self._unseen if limits else ()
        return [*self.report.failures(limits), *(f"what was not seen: {text}" for text in unseen)]

    @property
    def _by_process(self) -> Iterator[tuple[SeenKernel, ...]]:
        yield self.record.kernels
        for log in self._logs:
            yield log.kernels

    def gather(self) -> None:
        """Read the journals of the other processes so far."""
        if self.folder is not None and os.getpid() == self.process:
            self._logs = tuple(process_logs(self.folder))

    def close(self) -> None:
        """Read the journals for the last time, before their folder is removed."""
        self.gather()
        self.folder = None

    def __str__(self) -> str:
        """Return the table."""
        return str(self.report)

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


@contextmanager
def collecting() -> Iterator[WatchedKernels]:
    """Collect the kernels compiled and launched inside the block, without auditing them.

    Triton and Inductor are followed once the program has imported them, in this process and in
    those that it forks or starts, whose journals are read at the end.
    """
    seen, patches = WatchedKernels(), Patches()
    triton = TritonHooks(seen.record, seen.record.failed)
    inductor = InductorHooks(seen.record, triton)
    with ExitStack() as stack:
        seen.folder = stack.enter_context(session_folder())
        stack.callback(seen.close)
        keep_in_forks(seen.record, Journal(seen.folder))
        stack.callback(patches.undo)
        for name, attach in ((TRITON, triton.attach), (INDUCTOR, inductor.attach)):
            guarded = partial(triton.guard, partial(attach, patches))
            stack.enter_context(once_imported(name, guarded))
        yield seen


@contextmanager
def watch(
    *,
    fail_on: str | Sequence[str] = (),
    out: str | os.PathLike[str] | IO[str] | None = None,
    force: bool = False,
) -> Iterator[WatchedKernels]:
    """Audit every kernel that Triton compiles, or loads from its cache, inside the block.

    The arguments and the grid of a launch are used where there is one.  A failure of the watching
    itself never reaches the program: it is named below the table.

    Args:
        fail_on: kinds of findings, such as ``"conflicts=500,registers"``, as ``--fail-on`` of
            ``tt-layout audit`` takes them.
        out: the destination of the table: a file (``.html``, ``.json``, ``.xml`` as JUnit, any
            other as text), a stream, or None for standard error.  Folders are made.  A file that
            is not an earlier report is not replaced: then, and if the file cannot be written, the
            report goes to a temporary file, which a line on standard error names.
        force: whether the report replaces any file.

    Yields:
        The kernels seen so far; ``str()`` of it is the table, ``report`` the audit as a value.

        Raises:
            LayoutError: at the end of the block, naming each finding that ``fail_on`` covers, and
                what was not seen; or at its beginning, if there is no such kind.

    Example:
        >>> import io
        >>> table = io.StringIO()
        >>> with watch(out=table) as seen:
        ...     pass  # compile or launch kernels
        >>> print(table.getvalue(), end="")
        no kernel was compiled or launched
    """
    limits = read_limits([fail_on] if isinstance(fail_on, str) else fail_on) if fail_on else {}
    with _watching(limits, _target(out, None if force else "force=True")) as seen:
        yield seen


def watch_program(
    out: str | os.PathLike[str] | None, *, force: bool
) -> AbstractContextManager[WatchedKernels]:
    """Watch like `watch`, for a command with the option ``--force``."""
    return _watching({}, _target(out, None if force else "--force"))


def _target(
    out: str | os.PathLike[str] | IO[str] | None, force: str | None
) -> ReportFile | IO[str] | None:
    """Return the destination of the report, and warn at once if it cannot be written."""
    if not isinstance(out, (str, os.PathLike)):
        return out
    target = ReportFile(os.path.abspath(out), force)
    if (reason := target.why_not()) is not None:
        _warn(f"no report can be written to {os.fspath(out)}: {reason}")
    return target


@contextmanager
def _watching(limits: Limits, target: ReportFile | IO[str] | None) -> Iterator[WatchedKernels]:
    with raised_termination(), collecting() as seen:
        try:
            yield seen
        except BaseException:
            _finish(seen, target, limits)
            raise
    failures = _finish(seen, target, limits)
    if failures:
        raise LayoutError("\n".join(["the kernels fail what is watched for", *failures]))


def _finish(seen: WatchedKernels, out: ReportFile | IO[str] | None, limits: Limits) -> list[str]:
    """Write the report; return a line for each failure.

    No error is raised here: the program has run, and its own result counts.
    """
    if os.getpid() != seen.process:
        return []  # a copy of the program, whose parent reports
    try:
        report = seen.report
        if isinstance(out, ReportFile):
            problem = out.write(report, limits)
        else:
            problem = write_table(report, out if out is not None else sys.stderr)
        failures = seen.failures(limits)
    except Exception as error:
        problem = f"cannot report the kernels: {type(error).__name__}: {error}"
        failures = [problem] if limits else []
    if problem is not None:
        _warn(problem)
    return failures


def _warn(text: str) -> None:
    """Print a warning on standard error, if it is open."""
    with suppress(OSError, ValueError):
        put(sys.stderr, f"tt-layout: warning: {safe(text)}\n")
