"""``tt-layout rank``: configurations of a kernel by their estimated time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from tt_layout.cli.output import emit, note
from tt_layout.cli.parameters import (
    FileParameter,
    chosen_release,
    format_option,
    release_option,
)
from tt_layout.cli.values import gpu_option, grid_option, read_values, value_option, values_option

if TYPE_CHECKING:
    from tt_layout.audit.values.given import GivenValues
    from tt_layout.releases import Release
    from tt_layout.reports.kernel_overview import PassedOver
    from tt_layout.reports.ranking import Configuration, DumpReader

FEW = 12
"""Dumps for which no other processes are started."""

_reader: DumpReader | None = None


@click.command(
    "rank",
    help="""\
    List configurations of a kernel by their estimated time, the fastest first.

    FILE is the dump of a configuration, or a folder with all of them, such as Triton's cache; what
    was compiled beside a dump gives its registers. No GPU is needed. Without --grid as many
    programs of each are taken as store the same bytes.
    """,
)
@click.argument("files", nargs=-1, required=True, type=FileParameter(), metavar="FILE")
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="List only the N fastest.")
@value_option
@values_option
@grid_option
@gpu_option
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
    from tt_layout.cli.batch import files_of
    from tt_layout.errors import LayoutError
    from tt_layout.mlir.source import WHAT_DUMPS_ARE
    from tt_layout.reports.kernel_overview import PassedOver
    from tt_layout.reports.ranking import Ranking
    from tt_layout.wording import count

    is_given = bool(values) or (values_file, grid, gpu) != (None, None, None)
    given = read_values(values, values_file, grid, gpu) if is_given else None
    names = files_of(files)
    if not names:
        raise LayoutError(f"found no dump in {', '.join(files)}: {WHAT_DUMPS_ARE}")
    configurations: list[Configuration] = []
    for read_file in _read(names, given, chosen_release()):
        if isinstance(read_file, PassedOver):
            note(f"{read_file.file}: {read_file.reason}")
        else:
            configurations += read_file
    if not configurations:
        raise LayoutError(f"none of {count(len(names), 'file')} has a kernel that can be read")
    if given is not None:
        check_names(
            given,
            {name: None for configuration in configurations for name in configuration.arguments},
        )
    emit(Ranking(configurations, top), output_format)


def _read(
    names: Sequence[str], given: GivenValues | None, release: Release | None
) -> Iterator[list[Configuration] | PassedOver]:
    """Yield the kernels of each dump, in order; several processes read many of them."""
    from tt_layout.reports.ranking import DumpReader
    from tt_layout.worker import processors

    number = min(processors(), len(names) // FEW)
    if number < 2:
        yield from map(DumpReader(given, release).read, names)
        return
    from tt_layout.cli.processes import processes

    with processes(number, _start, given, release) as pool:
        yield from pool.imap(_read_one, names, chunksize=4)


def _start(given: GivenValues | None, release: Release | None) -> None:
    global _reader  # what a process keeps from file to file
    from tt_layout.reports.ranking import DumpReader

    _reader = DumpReader(given, release)


def _read_one(name: str) -> list[Configuration] | PassedOver:
    assert _reader is not None
    return _reader.read(name)
