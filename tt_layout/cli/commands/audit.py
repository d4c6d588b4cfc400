"""``tt-layout audit``: the layouts of a dump, and its data movements."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import click

from tt_layout.audit.audit import SORTS, Audit, audit_module, changes, sort_movements
from tt_layout.audit.audited_module import SharedWork
from tt_layout.audit.values.given import GivenValues, check_names
from tt_layout.cli.output import emit
from tt_layout.cli.parameters import chosen_release, format_option, release_option
from tt_layout.cli.values import read_values, value_option, values_option
from tt_layout.errors import FileLocation, LayoutError, NothingFoundError
from tt_layout.ir import Module, iterate_ir
from tt_layout.ir.reader import check_lines
from tt_layout.mlir.source import Source, dumps_below, read_source
from tt_layout.reports.audit import AuditReport
from tt_layout.reports.audited_folder import AuditedFolder, PassedOver
from tt_layout.reports.comparison import Comparison, ComparisonReport, NamedModule
from tt_layout.reports.program_source import ProgramSource

PROGRESS_FROM = 4 << 20  # characters of a dump from which a terminal shows a progress bar


def read_modules(source: Source, is_partial: bool) -> Iterator[Module]:
    """Yield the modules of a dump; a terminal shows a progress bar.

    Raises:
        LayoutError: there is no IR in it, or it is truncated.
    """
    check_lines(source)
    is_empty = True
    with _progress(len(source.text)) as report:
        for module in iterate_ir(source, chosen_release(), report):
            if module.error is not None and not is_partial:
                raise module.error.hint("--partial audits what there is")
            is_empty = False
            yield module
    if is_empty:
        message = "found no MLIR in it: no module, function, layout alias or tensor type"
        raise NothingFoundError(message, FileLocation(source.name))


@contextmanager
def _progress(size: int) -> Iterator[Callable[[int], None] | None]:
    if size < PROGRESS_FROM or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    columns = BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(file=sys.__stderr__), transient=True) as progress:
        task = progress.add_task("", total=size)
        yield lambda done: progress.update(task, completed=done)


def _audits(modules: Iterator[Module], given: GivenValues | None) -> Iterator[Audit]:
    """Yield the audit of each module.

    Raises:
        LayoutError: a value is given for an argument that no module has.
    """
    shared = SharedWork()
    arguments: dict[str, None] = {}
    for module in modules:
        audit = audit_module(module, shared, given)
        arguments.update(dict.fromkeys(audit.arguments))
        yield audit
    if given is not None:
        check_names(given, arguments)


def _axis_info(
    sources: Sequence[Source], is_partial: bool, output_format: str, *, is_diff: bool
) -> int:
    """Show what the compiler knows of each value.

    Raises:
        LayoutError: a comparison was asked for, too.
    """
    from tt_layout.reports.axis_info import AxisInfoReport

    if is_diff:
        raise LayoutError("--axis-info and --diff exclude each other")
    [source] = sources
    emit(AxisInfoReport(source.name, read_modules(source, is_partial)), output_format)
    return 0


Reporter = Callable[[str, Iterable[Audit]], AuditReport]
"""Makes the report of a file from its name and the audits of its modules."""


def _reports_below(
    folder: str, is_partial: bool, reporter: Reporter
) -> Iterator[AuditReport | PassedOver]:
    """Yield the report of each dump in a folder and below it, or why it has none.

    Raises:
        LayoutError: a dump is cut off.
    """
    for path in dumps_below(folder):
        try:
            audits = list(_audits(read_modules(read_source(path), is_partial), None))
        except NothingFoundError as error:
            yield PassedOver(path, error.message)
        else:
            yield reporter(path, audits)


Pair = tuple[NamedModule, NamedModule]


def pairs(sources: Sequence[Source], is_partial: bool) -> list[Pair]:
    """Return the modules to compare.

    Of one dump each module with the next; of two, module by module where both have equally
    many, and otherwise the last of each.

    Raises:
        LayoutError: there is only one module.
    """
    read = [[NamedModule(s.name, m) for m in read_modules(s, is_partial)] for s in sources]
    if len(read) == 1:
        [modules] = read
        if len(modules) < 2:
            message = "--diff of one file compares its modules, but it has only one"
            raise LayoutError(message, FileLocation(sources[0].name))
        return list(pairwise(modules))
    before, after = read
    return list(zip(before, after)) if len(before) == len(after) else [(before[-1], after[-1])]


@click.command(
    "audit",
    short_help="Show the layouts and data movements of a dump.",
    help="""\
    Show the layouts of a .ttgir file or dump, and its data movements.

    FILE is MLIR text, whatever operations are in it; - is stdin. With several modules in it,
    each is audited. Of a folder, each .mlir, .ttir and .ttgir file is. Exits 0; 1 with --diff if
    data movements were added or removed; 2 on error.
    """,
)
@click.argument("files", nargs=-1, required=True, metavar="FILE")
@click.option(
    "--diff",
    "is_diff",
    is_flag=True,
    help="Compare the data movements of two files, or of the modules of one.",
)
@click.option(
    "--axis-info",
    "is_axis_info",
    is_flag=True,
    help="Show what the compiler knows of each value instead: contiguity and so on.",
)
@click.option("--partial", is_flag=True, help="Accept a truncated dump.")
@click.option(
    "--sort",
    type=click.Choice(SORTS),
    default="line",
    show_default=True,
    help="The order of data movements.",
)
@click.option("--all", "is_whole", is_flag=True, help="List index and mask types, too.")
@click.option(
    "--source",
    "program",
    metavar="DIR",
    help="Show the lines of the program, whose files are in this folder.",
)
@value_option
@values_option
@release_option
@format_option
def command(
    files: tuple[str, ...],
    is_diff: bool,
    is_axis_info: bool,
    partial: bool,
    sort: str,
    is_whole: bool,
    program: str | None,
    values: tuple[str, ...],
    values_file: str | None,
    output_format: str,
) -> int:
    """Show the layouts of a .ttgir file or dump, and its data movements."""
    if len(files) > 1 + is_diff:
        takes = "at most two files with --diff" if is_diff else "one file, or two with --diff"
        raise LayoutError(f"audit takes {takes}, got {len(files)}")
    given = read_values(values, values_file) if values or values_file is not None else None

    def reporter(file: str, audits: Iterable[Audit]) -> AuditReport:
        in_order = (sort_movements(audit, sort) for audit in audits)
        source = ProgramSource(program)
        return AuditReport(file, in_order, is_whole, by_line=sort == "line", program=source)

    if os.path.isdir(files[0]) and not (is_diff or is_axis_info):
        if given is not None:
            raise LayoutError("--value is for one dump, not for a folder")
        emit(AuditedFolder(files[0], _reports_below(files[0], partial, reporter)), output_format)
        return 0
    sources = [read_source(path) for path in files]
    if is_axis_info:
        return _axis_info(sources, partial, output_format, is_diff=is_diff)
    if is_diff:
        comparisons = [
            Comparison(before, after, changes(before.module, after.module))
            for before, after in pairs(sources, partial)
        ]
        comparison = ComparisonReport(comparisons)
        emit(comparison, output_format)
        return 0 if comparison.is_same else 1
    audits = _audits(read_modules(sources[0], partial), given)
    emit(reporter(sources[0].name, audits), output_format)
    return 0
