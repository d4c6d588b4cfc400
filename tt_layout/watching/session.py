"""`tt_layout.watch`: every kernel that Triton compiles or launches inside a block."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import IO

from tt_layout.errors import LayoutError
from tt_layout.kernels.seen import Record, SeenKernel
from tt_layout.reports.watched_findings import Limits, read_limits
from tt_layout.watching.inductor_hooks import HEURISTICS, InductorHooks
from tt_layout.watching.patches import Patches, once_imported
from tt_layout.watching.report import WatchReport, report_of, write_report
from tt_layout.watching.triton_hooks import TritonHooks

TRITON = "triton.runtime.jit"


class Seen:
    """What a watched program compiled and launched, and its audit.

    Example:
        >>> Seen().kernels
        ()
    """

    def __init__(self) -> None:
        self.record = Record()
        self.process = os.getpid()
        self.failure: str | None = None
        self._report: WatchReport | None = None

    @property
    def kernels(self) -> tuple[SeenKernel, ...]:
        """The kernels in the order in which they were seen, with their launches."""
        return self.record.kernels

    @property
    def report(self) -> WatchReport:
        """The audit of each kernel with the arguments of its launches, the worst first."""
        kernels = self.kernels
        if self._report is None or self._report.seen != kernels:
            self._report = report_of(kernels, self.failure)
        return self._report

    def failed(self, error: Exception) -> None:
        """Keep the first failure of the hooks, which is reported with the audit."""
        if self.failure is None:
            self.failure = f"{type(error).__name__}: {error}"

    def __str__(self) -> str:
        """Return the table."""
        return str(self.report)

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


@contextmanager
def collecting() -> Iterator[Seen]:
    """Collect what is compiled and launched inside the block; nothing is audited yet.

    Triton and Inductor are followed from when the program imports them, or at once if it has.
    """
    seen, patches = Seen(), Patches()
    triton = TritonHooks(seen.record, seen.failed)
    inductor = InductorHooks(seen.record, triton)
    with ExitStack() as stack:
        stack.callback(patches.undo)
        for name, attach in ((TRITON, triton.attach), (HEURISTICS, inductor.attach)):
            guarded = partial(triton.guard, partial(attach, patches))
            stack.enter_context(once_imported(name, guarded))
        yield seen


@contextmanager
def watch(
    *,
    fail_on: str | Sequence[str] = (),
    out: str | os.PathLike[str] | IO[str] | None = None,
) -> Iterator[Seen]:
    """Audit every kernel that Triton compiles, or loads from its cache, inside the block.

    Where kernels are launched, the arguments and the grid of the launch are used.  A failure of
    the watching itself never reaches the program: it is named below the table.

    Args:
        fail_on: kinds of findings, such as ``"conflicts=500,registers"``, as ``--fail-on`` of
            ``tt-layout audit`` takes them.
        out: where the table goes at the end: a file (``.html``, ``.json``, ``.xml`` as JUnit,
            any other as text), a stream, or None for standard error.

    Yields:
        What is seen; ``str()`` of it is the table, ``report`` the audit as a value.

    Raises:
        LayoutError: at the end of the block, naming each finding that ``fail_on`` asks for; or at
            its beginning, if there is no such kind.

    Example:
        >>> import io
        >>> table = io.StringIO()
        >>> with watch(out=table) as seen:
        ...     pass  # compile or launch kernels
        >>> print(table.getvalue(), end="")
        no kernel was compiled or launched
    """
    limits = read_limits([fail_on] if isinstance(fail_on, str) else fail_on) if fail_on else {}
    stream = out if out is not None else sys.stderr
    with collecting() as seen:
        try:
            yield seen
        except BaseException:
            _finish(seen, stream, limits)
            raise
    failures = _finish(seen, stream, limits)
    if failures:
        raise LayoutError("\n".join(["the kernels have findings that are watched for", *failures]))


def _finish(seen: Seen, out: str | os.PathLike[str] | IO[str], limits: Limits) -> list[str]:
    """Write the report; return a line for each failure."""
    if os.getpid() != seen.process:
        return []  # a copy of the program, whose parent reports
    report = seen.report
    write_report(report, out, limits)
    return report.failures(limits)
