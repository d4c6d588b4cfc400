"""``tt-layout apply``: a dump with what is suggested for its findings carried out."""

from __future__ import annotations

import os

import click

from tt_layout.cli.output import emit
from tt_layout.cli.parameters import FileParameter, chosen_release, format_option, release_option
from tt_layout.cli.values import gpu_option, read_values, value_option, values_option
from tt_layout.errors import LayoutError
from tt_layout.ir.file_aliases import split_module
from tt_layout.mlir.source import read_source
from tt_layout.reports.writing import write
from tt_layout.rewriting.apply import cure
from tt_layout.rewriting.report import AppliedReport, override_path


@click.command(
    "apply",
    short_help="Write a dump with a suggestion carried out.",
    help="""\
    Write a dump with suggestions of tt-layout audit carried out.

    FILE is a .ttgir file, or a module of a dump, as FILE@last. The new text is audited again, and
    nothing is written unless it saves what was promised. The report says what changed, and how to
    make Triton run it. Exits 2 if a suggestion cannot be carried out.
    """,
)
@click.argument("file", type=FileParameter(), metavar="FILE")
@click.option(
    "--finding",
    "numbers",
    multiple=True,
    type=click.IntRange(min=1),
    metavar="N",
    help="The finding, as the audit counts it; by default the first with a suggestion. Repeatable.",
)
@click.option(
    "--all", "is_all", is_flag=True, help="Every finding with a suggestion, but for small ones."
)
@click.option("-o", "output", type=FileParameter(), metavar="FILE", help="Write to FILE.")
@click.option(
    "--override",
    type=FileParameter(),
    metavar="DIR",
    help="Write to Triton's override folder; FILE is then in a folder of TRITON_KERNEL_DUMP.",
)
@value_option
@values_option
@gpu_option
@release_option
@format_option
def command(
    file: str,
    numbers: tuple[int, ...],
    is_all: bool,
    output: str | None,
    override: str | None,
    values: tuple[str, ...],
    values_file: str | None,
    gpu: str | None,
    output_format: str,
) -> None:
    """Write a dump with suggestions carried out."""
    if (output is None) == (override is None):
        raise LayoutError("say where to write: -o FILE, or --override DIR")
    if is_all and numbers:
        raise LayoutError("--all and --finding exclude each other")
    path, module = split_module(file)
    target = output if output is not None else override_path(path, str(override))
    has_values = values or values_file is not None or gpu is not None
    cured = cure(
        read_source(path),
        numbers,
        is_all=is_all,
        module=module,
        release=chosen_release(),
        given=read_values(values, values_file, gpu=gpu) if has_values else None,
    )
    if override is not None:
        os.makedirs(os.path.dirname(target), exist_ok=True)
    content = cured.text.encode("utf-8", "surrogateescape")
    write([content], target, size=len(content))
    emit(AppliedReport(cured, file, target, override), output_format)
