"""``tt-layout page``: a page of a dump or of one or two layouts, or one to type layouts in."""

from __future__ import annotations

import click

from tt_layout.cli.compiling import compile_options
from tt_layout.cli.parameters import (
    FileParameter,
    InferredOption,
    LayoutArgument,
    LayoutParameter,
    aliases_option,
    reading_options,
    source_option,
    tensor_option,
)
from tt_layout.cli.values import grid_option, read_values, value_option, values_option
from tt_layout.cli.written_files import destination, force_option, stem
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.hardware import DEFAULT_TARGET, target_names
from tt_layout.mlir.types import TensorType

PLAYGROUND = "playground"


@click.command(
    "page",
    help="""\
    Write an HTML page of a dump, of a layout, or of two to compare.

    FILE:13 opens on that line. Without FILE or LAYOUT it is a page into which you type layouts. Put
    the page on any web server, or open the file: it loads nothing else, and sends nothing.
    """,
)
@click.argument(
    "layout", cls=LayoutArgument, type=LayoutParameter(), metavar="[FILE|LAYOUT]", required=False
)
@click.argument(
    "other", cls=LayoutArgument, type=LayoutParameter(), metavar="[OTHER_LAYOUT]", required=False
)
@tensor_option("The tensor type.")
@click.option(
    "-o",
    "output",
    type=FileParameter(),
    metavar="FILE",
    help="Write to FILE; - is standard output. By default, on a terminal, a file in this folder"
    " named after the dump or the layout.",
)
@force_option
@click.option(
    "-i", "path", cls=InferredOption, type=FileParameter(), metavar="FILE", help="The dump."
)
@source_option
@aliases_option
@click.option(
    "--line",
    cls=InferredOption,
    type=click.IntRange(min=1),
    metavar="N",
    help="The line of the dump to open on.",
)
@click.option(
    "--target",
    cls=InferredOption,
    default=DEFAULT_TARGET,
    show_default=True,
    metavar="TARGET",
    help=f"The GPU that the page of a layout starts with: {target_names()}.",
)
@value_option
@values_option
@grid_option
@compile_options
@reading_options
def command(
    layout: Encoding | None,
    other: Encoding | None,
    tensor: TensorType | None,
    output: str | None,
    force: bool,
    path: str | None,
    source: str | None,
    alias_groups: tuple[tuple[str, ...], ...],
    line: int | None,
    target: str,
    values: tuple[str, ...],
    values_file: str | None,
    grid: str | None,
) -> None:
    """Make one HTML file: of a dump, of a layout, of two, or to type layouts in."""
    from tt_layout.cli.pages import dump_page, layouts_page
    from tt_layout.reports.writing import refuse_input

    refuse_input(output, path)
    if path is not None and layout is not None:
        raise LayoutError("a page shows a dump or layouts, not both")
    if path is None and (source is not None or line is not None):
        raise LayoutError("--source and --line are for the page of a dump: give one")
    if path is None and (values or values_file is not None or grid is not None):
        raise LayoutError("--value, --values and --grid are for the page of a dump: give one")
    if layout is not None and tensor is None:
        raise LayoutError("no tensor type: give -t")
    name = stem(path) if path is not None else layout.mnemonic if layout is not None else PLAYGROUND
    place = destination(output, name, ".html", force=force)
    if path is not None:
        names = [name for group in alias_groups for name in group]
        given = read_values(values, values_file, grid)
        content = dump_page(path, names, source, line, given)
    elif layout is None or tensor is None:
        from tt_layout.page.playground import playground

        content = playground().encode()
    else:
        content = layouts_page(
            [encoding for encoding in (layout, other) if encoding], tensor, target=target
        )
    place.write(content)
