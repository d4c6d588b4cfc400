"""``tt-layout rank``: configurations of a kernel by their estimated time."""

from __future__ import annotations

import click

from tt_layout.cli.output import emit, note
from tt_layout.cli.parameters import (
    FileParameter,
    chosen_release,
    format_option,
    release_option,
)
from tt_layout.cli.values import launch_options, read_values

FEW = 12
"""Dumps for which no other processes are started."""


@click.command(
    "rank",
    help="""\
    List configurations of a kernel by their estimated time, the fastest first.

    FILE is the dump of a configuration, or a folder with all of them, such as Triton's cache. A
    compiled kernel beside a dump gives its registers. No GPU is needed. Without --grid each
    configuration gets as many programs as store the same number of bytes.
    """,
)
@click.argument("files", nargs=-1, required=True, type=FileParameter(), metavar="FILE")
@click.option(
    "--top", type=click.IntRange(min=1), metavar="N", help="List only the N that are worth running."
)
@launch_options
@release_option
@format_option
def command(
    files: tuple[str, ...],
    top: int | None,
    values: tuple[str, ...],
    values_file: str | None,
    grid: str | None,
    gpu: str | None,
    output_format: str,
) -> None:
    """List configurations of a kernel by their estimated time."""
    from tt_layout.audit.values.given import check_names
    from tt_layout.dumps.dump import Reading
    from tt_layout.dumps.many import files_of
    from tt_layout.dumps.processes import results_of
    from tt_layout.errors import LayoutError
    from tt_layout.reports.ranking import Configuration, Ranking, configurations_by
    from tt_layout.wording import count
    from tt_layout.worker import processors

    given = read_values(values, values_file, grid, gpu)
    names = files_of(files)
    configurations: list[Configuration] = []
    number = min(processors(), len(names) // FEW)
    reading = Reading(release=chosen_release(), given=given)
    with results_of(names, configurations_by, reading, processes=number, chunksize=4) as read_files:
        for read_file in read_files:
            configurations += read_file.configurations
            for left_out in read_file.unread:
                note(f"{left_out.file}: {left_out.reason}")
    if not configurations:
        raise LayoutError(f"none of {count(len(names), 'file')} has a kernel that can be read")
    if given is not None:
        check_names(
            given,
            {name: None for configuration in configurations for name in configuration.arguments},
        )
    emit(Ranking(configurations, top), output_format)
