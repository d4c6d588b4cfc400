"""``tt-layout audit``: the layouts of a dump, and its data movements."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

import click

from tt_layout.audit.audit import SORTS, Audit, audit_module, changes, sort_movements
from tt_layout.audit.audited_module import SharedWork
from tt_layout.audit.kernel_metadata import metadata_beside
from tt_layout.audit.values.given import GivenValues, check_names
from tt_layout.cli.batch import overview
from tt_layout.cli.output import emit
from tt_layout.cli.parameters import chosen_release, format_option, release_option
from tt_layout.cli.values import read_values, value_option, values_option
from tt_layout.errors import FileLocation, LayoutError, NothingFoundError
from tt_layout.ir import Module
from tt_layout.ir.file_aliases import split_module, whole_modules
from tt_layout.ir.reader import check_lines
from tt_layout.mlir.source import Source, read_source
from tt_layout.reports.audit import AuditReport
from tt_layout.reports.comparison import Comparison, ComparisonReport, NamedModule
from tt_layout.reports.program_source import ProgramSource


class NamedSource(NamedTuple):
    """A dump, and the number of the module that is meant in it; None for all."""

    source: Source
    number: int | None


def open_dump(name: str) -> NamedSource:
    """Return the dump, and the module of it, that a name such as ``FILE@3`` stands for."""
    path, number = split_module(name)
    return NamedSource(read_source(path), number)


PROGRESS_FROM = 4 << 20  # characters of a dump from which a terminal shows a progress bar


def read_modules(source: Source, is_partial: bool, number: int | None = None) -> Iterator[Module]:
    """Yield the modules of a dump, or the one of a number; a terminal shows a progress bar.

    Raises:
        LayoutError: there is no IR in it, or it is truncated.
    """
    check_lines(source)
    is_empty = True
    with _progress(len(source.text)) as report:
        modules = whole_modules(source, chosen_release(), number, is_partial=True, report=report)
        for module in modules:
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
    sources: Sequence[NamedSource], is_partial: bool, output_format: str, *, is_diff: bool
) -> int:
    """Show what the compiler knows of each value.

    Raises:
        LayoutError: a comparison was asked for, too.
    """
    from tt_layout.reports.axis_info import AxisInfoReport

    if is_diff:
        raise LayoutError("--axis-info and --diff exclude each other")
    if len(sources) > 1:
        raise LayoutError(f"--axis-info takes one file, got {len(sources)}")
    [(source, number)] = sources
    emit(AxisInfoReport(source.name, read_modules(source, is_partial, number)), output_format)
    return 0


Pair = tuple[NamedModule, NamedModule]


def pairs(sources: Sequence[NamedSource], is_partial: bool) -> list[Pair]:
    """Return the modules to compare.

    Of one dump each module with the next; of two, module by module where both have equally
    many, and otherwise the last of each.

    Raises:
        LayoutError: there is only one module.
    """
    read = [
        [NamedModule(source.name, m) for m in read_modules(source, is_partial, number)]
        for source, number in sources
    ]
    if len(read) == 1:
        [modules] = read
        if len(modules) < 2:
            message = "--diff of one file compares its modules, but it has only one"
            raise LayoutError(message, FileLocation(sources[0].source.name))
        return list(pairwise(modules))
    before, after = read
    return list(zip(before, after)) if len(before) == len(after) else [(before[-1], after[-1])]


@click.command(
    "audit",
    short_help="Show the layouts and data movements of a dump.",
    help="""\
    Show the layouts of a .ttgir file or dump, and its data movements.

    FILE is MLIR text, whatever operations are in it; - is stdin. Each of its modules is audited,
    or one: FILE@3, FILE@last. Of several files, and of a folder with all .mlir, .ttir and .ttgir
    files below it, each kernel has a line, the worst first. Exits 0; 1 with --diff if data
    movements were added or removed; 2 on error.
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
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="List only the N worst kernels of several files.",
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
    top: int | None,
    is_whole: bool,
    program: str | None,
    values: tuple[str, ...],
    values_file: str | None,
    output_format: str,
) -> int:
    """Show the layouts of a .ttgir file or dump, and its data movements."""
    given = read_values(values, values_file) if values or values_file is not None else None
    if is_diff and len(files) > 2:
        raise LayoutError(f"audit --diff takes one file or two, got {len(files)}")
    if not (is_diff or is_axis_info) and (len(files) > 1 or os.path.isdir(files[0])):
        release = chosen_release()
        found = overview(files, is_partial=partial, release=release, given=given, top=top)
        emit(found, output_format)
        return 0
    sources = [open_dump(path) for path in files]
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
    [(source, number)] = sources
    audits = _audits(read_modules(source, partial, number), given)
    report = AuditReport(
        source.name,
        (sort_movements(audit, sort) for audit in audits),
        is_whole,
        by_line=sort == "line",
        program=ProgramSource(program),
        known=metadata_beside(source.name),
    )
    emit(report, output_format)
    return 0
