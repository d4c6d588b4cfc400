"""``tt-layout audit``: the layouts of a dump, and its data movements."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import click

from tt_layout.audit.audit import SORTS, Audit, sort_movements
from tt_layout.audit.passes import Compilations
from tt_layout.audit.rules import kinds
from tt_layout.cli.compiling import compile_options, compiled_option, known_of
from tt_layout.cli.output import emit, note, refuse_unread, tell_failures
from tt_layout.cli.parameters import FileParameter, chosen_release, npot_option, release_option
from tt_layout.cli.values import launch_options, read_values
from tt_layout.dumps.audits import Auditor
from tt_layout.dumps.dump import Dump, Modules, Reading, is_log, open_dump
from tt_layout.dumps.large import FEW, ManyModules, in_brief, large_in_brief
from tt_layout.dumps.many import ManyKernels, many_kernels
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.files import user_cache
from tt_layout.ir.passes import has_passes
from tt_layout.kernels.trace import ProgramText
from tt_layout.mlir.source import read_source
from tt_layout.reports.advice_text import DumpArgument
from tt_layout.reports.audit import AuditReport, page_command
from tt_layout.reports.audit_data import audit_data
from tt_layout.reports.formats import format_named, formats, formats_of, in_words
from tt_layout.reports.kernel_overview import EachKernel, KernelOverview
from tt_layout.reports.program_source import ProgramSource
from tt_layout.reports.progress import characters_shown, dumps_shown
from tt_layout.reports.report import Report
from tt_layout.reports.watched_findings import ALL, Watcher, read_limits
from tt_layout.reports.writing import terminal_size
from tt_layout.tuples import NamedTuple

if TYPE_CHECKING:
    from tt_layout.reports.measured import Measurements

REPORTS = AuditReport, Watcher, EachKernel
"""What an audit prints, without ``--baseline``, of one dump or many."""

FORMATS = formats_of(*REPORTS)
OF_BASELINE = [form.name for form in formats() if form.scope == "--baseline"]
"""Formats that only ``--baseline`` has."""


class Options(NamedTuple):
    """The options of an audit, by their names on the command line."""

    is_diff: bool
    is_bits: bool
    pass_name: str | None
    is_passes: bool
    is_axis_info: bool
    is_fits: bool
    partial: bool
    sort: str
    top: int | None
    has_tables: bool
    is_whole: bool
    program: str | None
    fail_on: tuple[str, ...]
    values: tuple[str, ...]
    values_file: str | None
    grid: str | None
    gpu: str | None
    ncu: str | None
    compiled: tuple[str, ...]
    baseline: str | None
    tolerance: float
    cache: str | None

    @property
    def compares(self) -> bool:
        """Whether dumps, or the modules of one, are compared."""
        return self.is_diff or self.pass_name is not None

    @property
    def shows_each(self) -> bool:
        """Whether more than the first screen of a module is shown."""
        return self.is_whole or self.has_tables or self.is_passes or self.ncu is not None

    @property
    def shows_one(self) -> bool:
        """Whether another report replaces that of one dump."""
        return self.is_axis_info or self.is_fits

    @property
    def reports(self) -> tuple[type, ...]:
        """The classes of reports that determine the possible formats."""
        if self.baseline is not None:
            from tt_layout.reports.compared_dumps import BaselineReport

            return (BaselineReport,)
        return (Report,) if self.compares or self.shows_one else REPORTS

    def watcher(self, *programs: ProgramText) -> Watcher:
        """Return a watcher of the findings that the audit fails on.

        Args:
            programs: program texts that came with the dump.
        """
        limits = read_limits(self.fail_on) if self.fail_on else {}
        return Watcher(limits, ProgramSource(self.program, programs))

    @property
    def words(self) -> tuple[str, ...]:
        """The options with which another command reads a dump in the same way."""
        release = chosen_release()
        options = [
            *(("--value", value) for value in self.values),
            ("--values", self.values_file),
            ("--grid", self.grid),
            ("--gpu", self.gpu),
            *(("--compiled", file) for file in self.compiled),
            ("--triton", str(release) if release is not None else None),
        ]
        return tuple(word for name, value in options if value for word in (name, value))

    @property
    def reading(self) -> Reading:
        """Settings for reading dumps, from these options and ``--triton``."""
        return Reading(
            self.partial,
            chosen_release(),
            read_values(self.values, self.values_file, self.grid, self.gpu),
            "--partial audits what there is",
            characters_shown,
        )


@click.command(
    "audit",
    help="""\
    Report costly data movements in a dump, with the reason and a fix.

    FILE is MLIR text with any operations; - is stdin. All its modules are audited; in a dump of
    passes, the last before the conversion to LLVM. FILE@3, FILE@last and FILE:13 select one.
    Several files, or a folder with all .mlir, .ttir and .ttgir files below it, give a line for
    each kernel, the worst first. Exits 0; 1 with --fail-on if there is such a finding (with
    --diff a new one), else with --diff if anything changed; 2 on error, and with --fail-on or
    --baseline if one of several files cannot be read.
    """,
)
@click.argument("files", nargs=-1, required=True, type=FileParameter(), metavar="FILE")
@click.option(
    "--diff",
    "is_diff",
    is_flag=True,
    help="Compare the data movements of two files, or of the modules of one.",
)
@click.option(
    "--bits",
    "is_bits",
    is_flag=True,
    help="With --diff, compare the bits of reductions instead.",
)
@click.option(
    "--pass",
    "pass_name",
    metavar="NAME",
    help="Show what this pass of a dump of passes changed.",
)
@click.option(
    "--passes",
    "is_passes",
    is_flag=True,
    help="List each module of a dump of passes; with --diff show what each pass changed.",
)
@click.option(
    "--axis-info",
    "is_axis_info",
    is_flag=True,
    help="Show instead what the compiler knows about each value, such as its contiguity.",
)
@click.option(
    "--fits",
    "is_fits",
    is_flag=True,
    help="Show instead which GPUs have enough shared memory, and the deepest multi-buffering.",
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
    help="List only the N worst kernels of several files or many modules.",
)
@click.option(
    "--tables",
    "has_tables",
    is_flag=True,
    help="Show tables, too: data movements, multiplications, shared memory, layouts.",
)
@click.option(
    "--all",
    "is_whole",
    is_flag=True,
    help="Show everything: each finding, all tables, index and mask types.",
)
@click.option(
    "--source",
    "program",
    type=FileParameter(),
    metavar="DIR",
    help="Show the lines of the program, whose files are in this folder.",
)
@click.option(
    "--ncu",
    type=FileParameter(),
    metavar="FILE",
    help="Show what Nsight Compute counted: its raw page or source page as CSV.",
)
@compiled_option
@compile_options
@click.option(
    "--baseline",
    type=FileParameter(),
    metavar="FOLDER",
    help="Compare kernel by kernel with the dumps in this folder; exit 1 if any is more expensive.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0,
    metavar="PERCENT",
    help="With --baseline: how much more expensive a kernel may become.",
)
@click.option(
    "--cache",
    type=FileParameter(),
    metavar="FOLDER",
    callback=lambda context, option, value: user_cache() if value == "auto" else value,
    help="Keep the results of many dumps in this folder and reuse them; auto: in the "
    "user's cache folder.",
)
@click.option(
    "--fail-on",
    "fail_on",
    multiple=True,
    metavar="KIND[=CYCLES],...",
    help="Exit 1 for findings of these kinds, if they waste at least CYCLES: "
    f"{', '.join(kinds())}, {ALL}.",
)
@launch_options
@release_option
@npot_option
@click.option(
    "--format",
    "output_format",
    type=click.Choice([*FORMATS, *OF_BASELINE]),
    default="text",
    show_default=True,
    help=f"Print {in_words(FORMATS)}; with --baseline also {in_words(OF_BASELINE)}.",
)
def command(files: tuple[str, ...], output_format: str, **options: Any) -> int:
    """Show what the kernels of a dump do badly, their data movements and layouts."""
    chosen = Options(**options)
    are_many = len(files) > 1 or os.path.isdir(files[0]) or is_log(files[0])
    _check_combination(chosen, output_format, are_many=are_many)
    if chosen.baseline is not None:
        return _against_baseline(chosen.baseline, files, chosen, output_format)
    if chosen.compares:
        return _compare(files, chosen, output_format)
    if chosen.shows_one:
        return _show_one(files, chosen, output_format)
    if are_many or issubclass(EachKernel, format_named(output_format).needs):
        return _list_kernels(files, chosen, output_format)
    return _report(files[0], chosen, output_format)


def _check_combination(chosen: Options, output_format: str, *, are_many: bool) -> None:
    """Check that the options can be combined.

    Raises:
        LayoutError: they cannot.
    """
    if sum([chosen.compares, chosen.is_axis_info, chosen.is_fits]) > 1:
        raise LayoutError("--axis-info, --fits and --diff exclude each other")
    if chosen.is_bits and not chosen.is_diff:
        raise LayoutError("--bits compares two dumps: give --diff, too")
    if chosen.fail_on and (chosen.baseline is not None or chosen.is_bits or chosen.shows_one):
        raise LayoutError(
            "--fail-on is for findings: --axis-info, --baseline, --bits and --fits have none"
        )
    if output_format not in formats_of(*chosen.reports):
        raise LayoutError(f"--format {output_format} is for {format_named(output_format).scope}")
    is_report = not (are_many or chosen.compares or chosen.shows_one)
    is_report &= output_format in formats_of(AuditReport)
    for option, value in (("--ncu", chosen.ncu), ("--compiled", chosen.compiled)):
        if value and not is_report:
            raise LayoutError(f"{option} is for the report of one dump")


def _report(file: str, chosen: Options, output_format: str) -> int:
    """Show the report of one dump."""
    annotates = _annotates(output_format)
    is_brief = output_format == "text" and not (chosen.fail_on or chosen.shows_each)
    dump = known_of(open_dump(file, in_pieces=is_brief), chosen.compiled)
    reading = chosen.reading
    measured = _measurements(chosen.ncu) if chosen.ncu is not None else None
    watcher = chosen.watcher(*dump.programs)
    passes = Compilations(reading.given, FEW if is_brief else None)
    has_histories = not annotates and has_passes(dump.source.text)
    modules = None
    if has_histories and dump.number is None:
        modules = passes.chosen(dump.modules(reading))
    brief = None
    if is_brief:
        brief, modules = _in_brief(dump, modules or dump.meant(reading), reading)
    is_data = output_format == "json" and not chosen.fail_on and measured is None
    data = (
        _checked_data(dump, reading, modules, chosen.sort)
        if is_data and dump.launch is None
        else None
    )
    audits = _checked_audits(dump, reading, modules)
    if chosen.fail_on or annotates:
        audits = watcher.pass_on(file, audits)
    audits = measured.watched(audits) if measured is not None else audits
    if annotates:
        deque(audits, maxlen=0)
        emit(watcher, output_format)
        return tell_failures(watcher)
    report = AuditReport(
        dump.source.name,
        (sort_movements(audit, chosen.sort) for audit in audits),
        chosen.is_whole,
        by_line=chosen.sort == "line",
        program=watcher.program,
        measured=measured,
        has_tables=chosen.has_tables,
        histories=passes.histories() if has_histories else (),
        lists_passes=chosen.is_passes,
        hint=page_command(file) if sys.stdout.isatty() else None,
        top=chosen.top,
        brief=brief,
        argument=DumpArgument(file, chosen.words) if file != "-" else None,
        modules=data,
    )
    emit(report, output_format)
    return tell_failures(watcher)


def _in_brief(dump: Dump, modules: Modules, reading: Reading) -> tuple[ManyModules | None, Modules]:
    """Return a dump's modules in brief if there are many, and an iterator over those not yet read.

    Raises:
        LayoutError: it cannot be audited, or a value is given for an argument that no module has.
    """
    brief = large_in_brief(dump, reading)
    if brief is not None:
        return brief, modules
    first = deque(islice(modules, FEW + 1))
    are_many = len(first) > FEW
    modules = chain((first.popleft() for _ in range(len(first))), modules)
    return in_brief(dump, modules, reading) if are_many else None, modules


def _checked_audits(dump: Dump, reading: Reading, modules: Modules | None) -> Iterator[Audit]:
    """Yield the audits of a dump.

    Raises:
        LayoutError: at the end, if a value is given for an argument that no module has.
    """
    auditor = Auditor(reading, keeps_text=not dump.pieces)
    yield from auditor.audits(dump, modules)
    auditor.check_given()


def _checked_data(
    dump: Dump, reading: Reading, modules: Modules | None, sort: str
) -> Iterator[dict[str, Any]]:
    """Yield the plain data of a dump's modules.

    Raises:
        LayoutError: at the end, if a value is given for an argument that no module has.
    """
    auditor = Auditor(reading, keeps_text=not dump.pieces)
    yield from auditor.data(dump, modules, lambda audit: audit_data(sort_movements(audit, sort)))
    auditor.check_given()


def _annotates(output_format: str) -> bool:
    """Tell whether a format prints findings alone."""
    return issubclass(Watcher, format_named(output_format).needs)


def _measurements(path: str) -> Measurements:
    """Read a page of Nsight Compute.

    Raises:
        LayoutError: it is not one, or it is the binary report that pages are printed from.
    """
    from tt_layout.reports.measured import Measurements

    if path.endswith((".ncu-rep", ".ncu-repz")):
        message = f"is a report: give what ncu --import {path} --csv --page raw prints"
        raise LayoutError(message, FileLocation(path))
    return Measurements(read_source(path, is_dump=False))


def _list_kernels(files: Sequence[str], chosen: Options, output_format: str) -> int:
    """Show a line for each kernel of several dumps, or print each in a format of kernels."""
    watcher, reading = chosen.watcher(), chosen.reading
    if issubclass(EachKernel, format_named(output_format).needs):
        each = EachKernel(files, reading, watcher, note)
        emit(each, output_format)
        return tell_failures(watcher, each.passed_over)
    listed = many_kernels(
        files,
        reading,
        cache=chosen.cache,
        explains=output_format != "text" or bool(chosen.fail_on),
        progress=dumps_shown,
    )
    if not (listed.kernels or listed.passed_over):
        note(f"no kernel was found in {', '.join(files)}")
    screen = terminal_size(sys.stdout) if chosen.top is None and output_format == "text" else None
    overview = KernelOverview(*listed, chosen.top, screen.lines if screen is not None else None)
    for kernel in listed.kernels:
        watcher.keep(kernel.file, kernel.line, kernel.finding_lines)
    if _annotates(output_format):
        for skipped in listed.passed_over if not watcher.has_limits else ():
            note(f"{skipped.file} skipped: {skipped.reason}")
        emit(watcher, output_format)
    else:
        emit(overview, output_format)
    return tell_failures(watcher, listed.passed_over)


def _compare(files: Sequence[str], chosen: Options, output_format: str) -> int:
    """Show the differences between two dumps, or between the passes or modules of one."""
    from tt_layout.reports.compared_dumps import ALL as EVERY_PASS
    from tt_layout.reports.compared_dumps import Comparing

    if chosen.is_bits:
        bits = Comparing(chosen.reading).bits(files)
        emit(bits, output_format)
        return 0 if bits.is_same else 1
    watcher = chosen.watcher() if chosen.fail_on else None
    shown = EVERY_PASS if chosen.is_passes else chosen.pass_name
    report = Comparing(chosen.reading, watcher).report(files, shown)
    emit(report, output_format)
    if watcher is not None:
        return tell_failures(watcher)
    return 0 if report.is_same else 1


def _against_baseline(
    baseline: str, files: Sequence[str], chosen: Options, output_format: str
) -> int:
    """Show the changes of each kernel since another folder, or another report.

    Raises:
        LayoutError: there is more than one folder to compare, a dump in one was skipped, or there
            is no kernel.
    """
    from tt_layout.dumps.cache import kernels_in_report
    from tt_layout.reports.compared_dumps import BaselineReport, changes_between

    if len(files) != 1:
        raise LayoutError(f"--baseline compares with one folder or file, got {len(files)}")
    names = baseline, files[0]
    if all(name.endswith(".json") for name in names):
        reports = map(kernels_in_report, names)
        listed = [ManyKernels(report.kernels, report.unread) for report in reports]
    else:
        read = partial(many_kernels, reading=chosen.reading, cache=chosen.cache, has_bounds=True)
        listed = [read([name], progress=dumps_shown) for name in names]
    before, after = ((name, many.kernels) for name, many in zip(names, listed))
    changes = changes_between(before, after, chosen.tolerance / 100)
    report = BaselineReport(
        changes, tuple(passed for many in listed for passed in many.passed_over)
    )
    emit(report, output_format)
    refuse_unread("--baseline", report.passed_over)
    if not changes:
        raise LayoutError(f"--baseline compares kernels, but neither {' nor '.join(names)} has one")
    return 1 if report.is_worse else 0


def _show_one(files: Sequence[str], chosen: Options, output_format: str) -> int:
    """Show the AxisInfo of each value, or the GPUs that the kernels fit.

    Raises:
        LayoutError: there are several files.
    """
    from tt_layout.reports.axis_info import AxisInfoReport
    from tt_layout.reports.fits import FitsReport

    if len(files) > 1:
        option = "--fits" if chosen.is_fits else "--axis-info"
        raise LayoutError(f"{option} takes one file, got {len(files)}")
    dump = open_dump(files[0])
    modules = dump.meant(chosen.reading)
    if chosen.is_fits:
        emit(FitsReport(dump.source.name, modules, dump.known), output_format)
    else:
        emit(AxisInfoReport(dump.source.name, modules), output_format)
    return 0
