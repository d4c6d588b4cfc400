"""``--fail-on``: the findings that an audit fails on."""

from __future__ import annotations

import click

from tt_layout.audit.rules import kinds
from tt_layout.reports.watched_findings import ALL, Watcher
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
