"""Output of reports: in a format, plain in a pipe and coloured on a terminal.

Text that is longer than a terminal goes through a pager if one can be used.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

import click

from tt_layout.errors import LayoutError
from tt_layout.reports.writing import DEFAULT_SIZE, terminal_size, write

if TYPE_CHECKING:
    from tt_layout.dumps.audits import PassedOver
    from tt_layout.reports.report import Report
    from tt_layout.reports.watched_findings import Watcher

KEPT = 1 << 22
"""Bytes of a report that are kept in memory until all of it has been made."""

MAX_NAMED = 20
"""Findings, or dumps without an audit, that are named on standard error."""

Chunk = bytes | memoryview
PAGER = "less"
LESS = "RSPs arrow keys scroll, sideways too; q quits$"
"""What ``LESS`` is where it is unset: colours are shown, lines are not folded, the prompt helps."""
_CARETS = r" *\^+"
"""The pattern of the second line of an excerpt."""
SCREENS = 3  # of text that is shown without a pager


def emit(report: Any, output_format: str = "text") -> None:
    """Write a report to standard output, once it is complete.

    Args:
        report: a report that follows the protocol of the format.
        output_format: the name of one of `tt_layout.reports.formats`.

        Raises:
            LayoutError: the report does not follow it.
    """
    from tt_layout.reports.writing import write

    with _made(_texts(report, output_format)) as (size, chunks):
        write(chunks, None, size=size)


def _texts(report: Any, output_format: str) -> Iterator[str]:
    """Yield the text of a report in chunks."""
    if output_format == "text" and sys.stdout.isatty():
        from tt_layout.terminal.options import DisplayOptions

        yield terminal_text(report, has_colours=DisplayOptions().has_colours(on_terminal=True))
        return
    from tt_layout.reports.formats import format_named

    chosen = format_named(output_format)
    if not isinstance(report, chosen.needs):
        raise LayoutError(f"--format {output_format} is for {chosen.scope}")
    yield from chosen.texts(report)


@contextmanager
def _made(texts: Iterable[str]) -> Iterator[tuple[int, Iterable[bytes]]]:
    """Complete a text before any of it is written; yield its size in bytes, and its chunks.

    A long one is kept in a temporary file, so that the report of a large dump takes little memory.
    """
    chunks: Iterator[bytes] = (text.encode("utf-8", "backslashreplace") for text in texts)
    kept: list[bytes] = []
    size = 0
    for chunk in chunks:
        kept.append(chunk)
        size += len(chunk)
        if size > KEPT:
            break
    else:
        yield size, kept
        return
    from tt_layout.files import scratch

    with scratch() as file:
        file.writelines(kept)
        kept.clear()
        file.writelines(chunks)
        size = file.tell()
        file.seek(0)
        yield size, iter(lambda: file.read(KEPT), b"")


def note(text: str) -> None:
    """Print a note beside a report, on standard error."""
    click.echo(fitted(f"note: {text}", sys.stderr), err=True)


def tell_failures(watcher: Watcher, passed_over: Sequence[PassedOver] = ()) -> int:
    """Name the findings that the audit fails on, on standard error; return the exit status.

    Args:
        watcher: collector of the findings.
        passed_over: dumps without an audit.

    Raises:
        LayoutError: the audit may fail on findings, and there are such dumps, or no kernel.
    """
    from tt_layout.safe_text import safe

    failures = watcher.failures
    for failure in failures[:MAX_NAMED]:
        where = f"{safe(failure.file)}:{failure.line}"
        click.echo(
            f"failed on {failure.finding.kinds[0]}: {where}: {safe(failure.finding.message)}",
            err=True,
        )
    if len(failures) > MAX_NAMED:
        click.echo(f"failed on {len(failures) - MAX_NAMED} more findings", err=True)
    if watcher.has_limits:
        refuse_unread("--fail-on", passed_over)
        if not watcher.kernels:
            raise LayoutError("--fail-on is for the findings of kernels, but there is no kernel")
    return 1 if failures else 0


def refuse_unread(option: str, passed_over: Sequence[PassedOver]) -> None:
    """Refuse to pass dumps that were not read.

    Args:
        option: the option that needs all of them.
        passed_over: dumps without an audit.

    Raises:
        LayoutError: there are any.
    """
    if not passed_over:
        return
    from tt_layout.wording import count

    number = len(passed_over)
    skipped = "1 was skipped: mend it" if number == 1 else f"{number} were skipped: mend them"
    lines = [f"{option} needs every dump to be read, but {skipped}, or name the others alone"]
    lines += [f"{unread.file}: {unread.reason}" for unread in passed_over[:MAX_NAMED]]
    if number > MAX_NAMED:
        lines.append(count(number - MAX_NAMED, "more dump"))
    raise LayoutError("\n".join(lines))


def fitted(text: str, stream: IO[str]) -> str:
    """Fold text to the width of a stream's terminal, if it is one."""
    if not stream.isatty():
        return text
    from tt_layout.folding import fold
    from tt_layout.reports.writing import terminal_columns

    return fold(text, terminal_columns(stream))


def fitted_error(text: str, stream: IO[str]) -> str:
    """Fit an error to a stream's terminal, if it is one: messages are folded, excerpts cut."""
    from tt_layout.folding import fold
    from tt_layout.mlir.source import narrowed
    from tt_layout.reports.writing import terminal_columns

    columns = terminal_columns(stream) if stream.isatty() else None
    if columns is None:
        return text
    lines = text.split("\n")
    shown = []
    for line, following in zip(lines, [*lines[1:], ""]):
        if re.fullmatch(_CARETS, following):
            shown.append(narrowed(line, following, columns))
        elif not re.fullmatch(_CARETS, line):
            shown.append(fold(line, columns))
    return "\n".join(shown)


def terminal_text(report: Report, *, has_colours: bool, width: int | None = None) -> str:
    """Return the text of a report for a terminal.

    Args:
        report: the report.
        has_colours: whether the text has colours.
        width: the columns; by default those of the terminal.
    """
    from shutil import get_terminal_size

    from click import style

    from tt_layout.folding import fold
    from tt_layout.reports.report import safe_elements
    from tt_layout.reports.writing import DEFAULT_SIZE

    columns = width or get_terminal_size(DEFAULT_SIZE).columns or DEFAULT_SIZE.columns
    lines = []
    for line in safe_elements(report, columns):
        for text in fold(line.text, columns).split("\n"):
            lines.append(style(text, fg=line.colour) if has_colours and line.colour else text)
    return "".join(f"{line}\n" for line in lines)


def write_paged(fitted: Iterable[Chunk], unfitted: Iterable[Chunk], size: int) -> None:
    """Write to standard output, through ``PAGER`` if the text is longer than three screens.

    Args:
        fitted: chunks of the text, folded to the terminal.
        unfitted: chunks of the text in whole lines, for a pager.
        size: size of the text in bytes.
    """
    rest = iter(fitted)
    command = pager_command()
    if not command:
        write(rest, None, size=size)
        return
    lines = terminal_size(sys.stdout) or DEFAULT_SIZE
    shown, is_long = _screens(rest, SCREENS * lines.lines)
    if not is_long:
        write(shown, None, size=size)
    elif not _page(command, unfitted):
        write(chain(shown, rest), None, size=size)


def pager_command() -> list[str]:
    """Return the command of the pager; empty if there is none or it cannot be used."""
    is_used = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    if not is_used or os.environ.get("TERM") == "dumb":
        return []
    from shutil import which

    try:
        command = shlex.split(os.environ.get("PAGER", PAGER))
    except ValueError:
        return []
    return command if command and which(command[0]) else []


def _screens(chunks: Iterator[Chunk], rows: int) -> tuple[list[bytes], bool]:
    """Return chunks up to a number of lines, and whether there are more lines."""
    shown, lines = [], 0
    for chunk in chunks:
        shown.append(bytes(chunk))
        lines += shown[-1].count(b"\n")
        if lines > rows:
            return shown, True
    return shown, False


def _page(command: list[str], chunks: Iterable[Chunk]) -> bool:
    """Pass text to a pager until it ends; tell whether the pager could be run."""
    import subprocess

    sys.stdout.flush()
    options = os.environ.get("LESS")
    # Of lines that are cut nothing is lost unless less quits after one screen of them.
    less = LESS if options is None else f"{options} -R -S -+F"
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, "LESS": less})
    except OSError:
        return False
    assert process.stdin is not None
    with suppress(BrokenPipeError, KeyboardInterrupt):  # the pager gets an interrupt, too
        for chunk in chunks:
            process.stdin.write(chunk)
    with suppress(BrokenPipeError):  # of what is left in the buffer
        process.stdin.close()
    while process.poll() is None:
        with suppress(KeyboardInterrupt):
            process.wait()
    if process.returncode > 0:
        failed = f"the pager failed with status {process.returncode}: {' '.join(command)}"
        note(f"{failed}; --no-pager shows the text")
    return True
