"""``tt-layout check``: the cases of a manifest against their golden files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import click

from tt_layout.cli.compiling import compile_options
from tt_layout.cli.output import fitted
from tt_layout.cli.parameters import FileParameter
from tt_layout.errors import FileLocation, LayoutError, SeveralError
from tt_layout.golden.manifest import (
    DEFAULT_PATH,
    MAX_CASES,
    USUAL_CASES,
    Check,
    Manifest,
    read_manifests,
)
from tt_layout.golden.report import JSON_VERSION, CheckReport, UnreadReport, place_of, summary
from tt_layout.golden.runner import (
    HEAD,
    Outcome,
    Results,
    State,
    accept,
    changed_files,
    checks_of,
    keep_facts,
    keep_in,
    leave,
    orphans,
    orphans_of,
    record,
    run_checks,
    select,
)
from tt_layout.reports.formats import format_named, formats_of, in_words
from tt_layout.reports.progress import counted
from tt_layout.safe_text import safe_lines
from tt_layout.worker import processors

FORMATS = formats_of(CheckReport)


@click.command(
    "check",
    help="""\
    Compare layouts with their golden files.

    Each MANIFEST is a file, or a folder with manifests in it or below it; by default layouts.yaml.
    Exits 0 if the output of every case is that of its golden file; 1 if one differs or has no
    golden file, or if a golden file has no case; 2 if a case cannot be run or nothing was compared.
    """,
)
@click.argument("manifests", nargs=-1, type=FileParameter(), metavar="[MANIFEST]...")
@click.option("--update", is_flag=True, help="Update the golden files.")
@click.option("--force", is_flag=True, help="With --update: also if CI is set.")
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Run only these cases, or case.view, such as 'mma-*'.",
)
@click.option(
    "--changed",
    "is_changed",
    is_flag=True,
    help="Run only cases of files that git says are new or changed.",
)
@click.option(
    "--since",
    metavar="COMMIT",
    help="Run only cases of files that changed since this commit, such as main.",
)
@click.option("--list", "lists", is_flag=True, help="List the cases without running them.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help=f"Print {in_words(FORMATS)}.",
)
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="The largest number of processes."
)
@click.option(
    "-o", "output", type=FileParameter(), metavar="FILE", help="Write the report to this file."
)
@click.option(
    "--keep-actual",
    type=FileParameter(),
    metavar="DIR",
    help="Write what differs into this folder, in CI too; by default beside the golden files.",
)
@click.option(
    "--max-cases",
    type=click.IntRange(1, MAX_CASES),
    default=USUAL_CASES,
    show_default=True,
    metavar="COUNT",
    help="Refuse manifests with more cases.",
)
@compile_options
def command(
    manifests: tuple[str, ...],
    update: bool,
    force: bool,
    only: tuple[str, ...],
    is_changed: bool,
    since: str | None,
    lists: bool,
    output_format: str,
    jobs: int | None,
    output: str | None,
    keep_actual: str | None,
    max_cases: int,
) -> int:
    """Check that layouts print what their golden files hold."""
    from tt_layout.reports.writing import refuse_input

    if force and not update:
        raise LayoutError("--force needs --update; give both")
    if update and not force and _is_ci():
        message = "--update is refused if CI is set: update where you can review the change"
        raise LayoutError(f"{message}; --force does it anyway")
    paths = manifests or (DEFAULT_PATH,)
    for path in paths:
        refuse_input(output, path)
    cases = _read(paths, output_format, max_cases, output)
    checks, orphaned = select(cases, only), () if only or lists else orphans(cases)
    if is_changed or since is not None:
        changed = changed_files(cases, since or HEAD)
        checks, orphaned = checks_of(checks, changed), orphans_of(orphaned, cases, changed)
        if not checks and not orphaned:
            click.echo(f"no case uses a file that changed since {since or HEAD}", err=True)
            return 0
    if lists:
        _list(checks, output_format)
        return 0
    keep = _keep(update, keep_actual)
    outcomes = counted(map(keep, run_checks(checks, jobs or processors())), len(checks))
    results = Results(cases.paths, (*outcomes, *orphaned))
    if update:
        keep_facts(cases, results.outcomes)
    report = _text(CheckReport(results), output_format)
    is_shown = output_format == "text" and output is None
    _write(fitted(report, sys.stdout) if is_shown else report, output)
    if output is not None:
        click.echo(summary(results), err=True)
    return results.status


def _keep(update: bool, keep_actual: str | None) -> Callable[[Outcome], Outcome]:
    """Choose whether outcomes are accepted, kept for review, or ignored."""
    if update:
        return accept
    if keep_actual is not None:
        return partial(keep_in, keep_actual)
    return leave if _is_ci() else record


def _is_ci() -> bool:
    return os.environ.get("CI", "").lower() not in ("", "0", "false", "no")


def _read(
    paths: tuple[str, ...], output_format: str, max_cases: int, output: str | None
) -> Manifest:
    """Return the manifests; if one cannot be read, report that in the output format."""
    try:
        if paths == (DEFAULT_PATH,) and not os.path.exists(DEFAULT_PATH):
            message = "there is no manifest in this folder; tt-layout init writes one"
            raise LayoutError(message, FileLocation(DEFAULT_PATH))
        return read_manifests(paths, max_cases)
    except LayoutError as error:
        if output_format != "text":
            errors = error.errors if isinstance(error, SeveralError) else (error,)
            failed = (
                Outcome(
                    state=State.ERROR,
                    golden=Path(one.location.file if one.location is not None else paths[0]),
                    error=one,
                )
                for one in errors
            )
            report = UnreadReport(Results(paths, tuple(failed)))
            # Workflow commands are for the log of the job.
            target = output if output_format != "github" else None
            _write(_text(report, output_format), target)
        raise


def _text(report: CheckReport, output_format: str) -> str:
    return "".join(format_named(output_format).texts(report))


def _list(checks: Sequence[Check], output_format: str) -> None:
    if output_format == "json":
        import json

        listed = [
            {"name": check.case.name, "kind": check.kind, **_where(check)} for check in checks
        ]
        _write(json.dumps({"version": JSON_VERSION, "checks": listed}, indent=2) + "\n", None)
    else:
        _write(safe_lines("\n".join(map(_listed, checks))) + "\n", None)


def _where(check: Check) -> dict[str, str | int]:
    path, line = place_of(check)
    return {"file": path, "line": line}


def _listed(check: Check) -> str:
    return "{}  {file}:{line}".format(check.label, **_where(check))


def _write(report: str, output: str | None) -> None:
    from tt_layout.reports.writing import write

    data = report.encode("utf-8", "backslashreplace")
    write([data], output, size=len(data))
