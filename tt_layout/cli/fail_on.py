"""``--fail-on`` and annotations: what an audit says to CI."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from tt_layout.audit.rules import kinds
from tt_layout.cli.output import emit_text
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.watched_findings import ALL, NamedFinding, Watcher
from tt_layout.safe_text import safe

MAX_NAMED = 20  # findings that are named on standard error

fail_on_option = click.option(
    "--fail-on",
    "fail_on",
    multiple=True,
    metavar="KIND[=CYCLES],...",
    help="Exit 1 for findings of these kinds that waste as many cycles: "
    f"{', '.join(kinds())}, {ALL}.",
)


def tell_failures(watcher: Watcher) -> int:
    """Name on standard error what the audit fails on; return the exit status."""
    failures = watcher.failures
    for failure in failures[:MAX_NAMED]:
        where = f"{safe(failure.file)}:{failure.finding.line}"
        click.echo(
            f"failed on {failure.finding.kinds[0]}: {where}: {safe(failure.finding.message)}",
            err=True,
        )
    if len(failures) > MAX_NAMED:
        click.echo(f"failed on {len(failures) - MAX_NAMED} more findings", err=True)
    return 1 if failures else 0


def annotate(watcher: Watcher, program: ProgramSource) -> None:
    """Print an annotation of GitHub Actions for each finding, at the line of the program."""
    text = "".join(f"{line}\n" for line in _annotations(watcher, program))
    emit_text(text)


def _annotations(watcher: Watcher, program: ProgramSource) -> Iterator[str]:
    from tt_layout.golden.report import annotation

    for named in watcher.found:
        path, line = _place(named, program)
        level = "error" if watcher.is_failure(named.finding) else "warning"
        yield annotation(named.finding.message, path, line, named.finding.kinds[0], level)


def _place(named: NamedFinding, program: ProgramSource) -> tuple[str, int]:
    """Return the file and line to annotate: of the program where it is there, else of the dump."""
    location = named.finding.location
    if location is None:
        return named.file, named.finding.line
    path = program.path(location[0]) or location[0]
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative, location[1]
