"""``tt-layout apply``: a dump with the fixes of its findings applied."""

from __future__ import annotations

import os

import click

from tt_layout.cli.compiling import compile_options, compiled_option, known_of
from tt_layout.cli.output import emit, note
from tt_layout.cli.parameters import FileParameter, chosen_release, format_option, release_option
from tt_layout.cli.values import launch_options, read_values
from tt_layout.dumps.dump import open_dump
from tt_layout.errors import LayoutError
from tt_layout.files import make_folder
from tt_layout.ir.file_aliases import split_module
from tt_layout.reports.progress import watched
from tt_layout.reports.writing import write
from tt_layout.rewriting.apply import cure
from tt_layout.rewriting.report import AppliedReport, override_path


@click.command(
    "apply",
    short_help="Show or write a dump with a fix of its audit applied.",
    help="""\
    Show or write a dump with the fixes of tt-layout audit applied.

    FILE is a .ttgir file, or a module of a dump, as FILE@last. Without -o the changed lines are
    shown. The new text is audited again, and written only if it saves what the audit predicted.
    If no finding has a fix, the dump stays as it is. Exits 0; 1 with --exit-code if there is
    nothing to apply; 2 if there is no such finding, or its fix cannot be applied.
    """,
)
@click.argument("file", type=FileParameter(), metavar="FILE")
@click.option(
    "--finding",
    "numbers",
    multiple=True,
    type=click.IntRange(min=1),
    metavar="N",
    help="The number of the finding in the audit; by default the first with a fix. Repeatable.",
)
@click.option("--all", "is_all", is_flag=True, help="Every finding with a fix, except small ones.")
@click.option("-o", "output", type=FileParameter(), metavar="FILE", help="Write to FILE.")
@click.option(
    "--override",
    type=FileParameter(),
    metavar="DIR",
    help="Write to Triton's override folder; FILE is then in a folder of TRITON_KERNEL_DUMP.",
)
@click.option(
    "--exit-code", "is_exit_code", is_flag=True, help="Exit 1 if there is nothing to apply."
)
@compiled_option
@compile_options
@launch_options
@release_option
@format_option
def command(
    file: str,
    numbers: tuple[int, ...],
    is_all: bool,
    output: str | None,
    override: str | None,
    compiled: tuple[str, ...],
    values: tuple[str, ...],
    values_file: str | None,
    grid: str | None,
    gpu: str | None,
    is_exit_code: bool,
    output_format: str,
) -> int:
    """Show or write a dump with suggestions applied."""
    if output is not None and override is not None:
        raise LayoutError("-o and --override exclude each other")
    if is_all and numbers:
        raise LayoutError("--all and --finding exclude each other")
    dump = open_dump(file)
    target = output
    if override is not None:
        target = override_path(split_module(file).path, override)
    cured = cure(
        dump.source,
        numbers,
        is_all=is_all,
        module=dump.number,
        release=chosen_release(),
        given=read_values(values, values_file, grid, gpu),
        known=known_of(dump, compiled).known,
        watch=watched,
    )
    if target is not None:
        if override is not None:
            make_folder(os.path.dirname(target))
        content = cured.text.encode("utf-8", "surrogateescape")
        write([content], target, size=len(content))
    emit(AppliedReport(cured, file, target, override), output_format)
    if cured.steps and target is None:
        note("nothing was written: -o FILE writes the new dump")
    return int(is_exit_code and not cured.steps)
