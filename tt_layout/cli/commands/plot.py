"""``tt-layout plot``: layouts as figures; with ``-o FILE.html``, the page of ``tt-layout page``."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from tt_layout.cli.pages import dump_page, layouts_page, placed
from tt_layout.cli.parameters import (
    DrawnParameter,
    FileParameter,
    InferredOption,
    LayoutArgument,
    aliases_option,
    chosen_release,
    reading_options,
    source_option,
    tensor_option,
)
from tt_layout.cli.selection import read_selection, selection_options
from tt_layout.cli.values import read_values, value_option, values_option
from tt_layout.cli.written_files import STDOUT, destination, force_option, stem
from tt_layout.colour import GROUPINGS, PALETTES
from tt_layout.encodings import Encoding
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.figures.drawing import VIEWS
from tt_layout.figures.model import Figure
from tt_layout.hardware import DEFAULT_TARGET, target_names
from tt_layout.ir.file_aliases import split_module
from tt_layout.mlir.languages import read_mlir
from tt_layout.mlir.source import read_source
from tt_layout.mlir.types import TensorType, parse_type


def _svg(figure: Figure, fit: str) -> bytes:
    from tt_layout.figures.svg import to_svg

    return to_svg(figure, fit).encode()


def _png(figure: Figure, fit: str) -> bytes:
    from tt_layout.figures.png import to_png

    return to_png(figure, fit)


def _pdf(figure: Figure, fit: str) -> bytes:
    from tt_layout.figures.pdf import to_pdf

    return to_pdf(figure, fit)


FORMATS: dict[str, Callable[[Figure, str], bytes]] = {".svg": _svg, ".png": _png, ".pdf": _pdf}


@click.command(
    "plot",
    help="""\
    Draw a layout, or two side by side, as SVG, PNG or PDF.

    The layouts are in any notation, FILE:ALIAS, or FILE:LINE of a data movement. For a register
    layout and a shared layout, the figure shows the banks of an access. For pages, use tt-layout
    page.
    """,
)
@click.argument(
    "layout", cls=LayoutArgument, type=DrawnParameter(), metavar="[LAYOUT]", required=False
)
@click.argument(
    "other", cls=LayoutArgument, type=DrawnParameter(), metavar="[OTHER_LAYOUT]", required=False
)
@tensor_option("The tensor type.")
@click.option(
    "-i",
    "path",
    cls=InferredOption,
    type=FileParameter(),
    metavar="FILE",
    help="The dump that --view mma and --view sectors draw from.",
)
@source_option
@click.option(
    "-o",
    "output",
    type=FileParameter(),
    metavar="FILE",
    help="Write to FILE.svg, .png or .pdf; .html makes the page of tt-layout page. - is SVG on"
    " standard output; by default, on a terminal, an .svg in this folder named after the"
    " layout or the dump.",
)
@force_option
@aliases_option
@click.option(
    "--view",
    cls=InferredOption,
    type=click.Choice(VIEWS),
    metavar="VIEW",
    help=f"The figure to draw, tensor by default: {', '.join(VIEWS)}.",
)
@click.option("--color-by", type=click.Choice(GROUPINGS), help="Colour cells by this.")
@click.option(
    "--palette",
    type=click.Choice(sorted(PALETTES, reverse=True)),
    default="strong",
    show_default=True,
    help="The colours of cells; pastel has large cells, for talks.",
)
@click.option(
    "--access",
    cls=InferredOption,
    type=click.Choice(["load", "store"]),
    default="load",
    show_default=True,
    help="The access whose banks are drawn.",
)
@click.option(
    "--target",
    cls=InferredOption,
    default=DEFAULT_TARGET,
    show_default=True,
    metavar="TARGET",
    help=f"The GPU whose banks are drawn: {target_names()}.",
)
@click.option(
    "--operand", metavar="TYPE", help="The element type of A and B in --view mma, such as f16."
)
@click.option(
    "--line",
    cls=InferredOption,
    type=click.IntRange(min=1),
    metavar="N",
    help="With -i: the line of the multiplication, or of the access.",
)
@click.option("--axis", type=int, metavar="N", help="The dimension that --view reduce adds along.")
@click.option(
    "--fit",
    type=click.Choice(["paper", "screen", "none"]),
    default="screen",
    show_default=True,
    help="Shrink large figures to this size.",
)
@value_option
@values_option
@selection_options
@reading_options
def command(
    layout: Encoding | None,
    other: Encoding | None,
    tensor: TensorType | None,
    path: str | None,
    source: str | None,
    output: str | None,
    alias_groups: tuple[tuple[str, ...], ...],
    **display: Any,
) -> None:
    """Draw a layout, or two side by side, as SVG, PNG or PDF."""
    ending = ".svg" if output in (None, STDOUT) else os.path.splitext(output or "")[1].lower()
    if ending not in (*FORMATS, ".html"):
        raise LayoutError(f"-o must end in .svg, .png, .pdf or .html, got {output!r}")
    if path is not None:
        _of_dump(path, layout, source, output, ending, alias_groups, display)
        return
    if source is not None:
        raise LayoutError("--source shows the program of a dump: give the dump with -i")
    if layout is None or tensor is None:
        missing = (
            "layout: give one, or a dump with -i" if layout is None else "tensor type: give -t"
        )
        raise LayoutError(f"no {missing}")
    encodings = [encoding for encoding in (layout, other) if encoding is not None]
    place = destination(output, layout.mnemonic, ending, force=display["force"])
    place.write(_drawn(encodings, tensor, ending, display))


def _of_dump(
    path: str,
    layout: Encoding | None,
    source: str | None,
    output: str | None,
    ending: str,
    alias_groups: tuple[tuple[str, ...], ...],
    display: dict[str, Any],
) -> None:
    """Write the figure of a line of a dump, or the page of the whole dump.

    Raises:
        LayoutError: it is neither.
    """
    if layout is None and ending != ".html" and display["view"] in _OF_A_LINE:
        line = f"-{display['line']}" if display["line"] is not None else ""
        place = destination(output, f"{stem(path)}{line}", ending, force=display["force"])
        figure = _OF_A_LINE[display["view"]](path, display)
        place.write(_file(figure, ending, display))
        return
    if layout is not None or ending != ".html":
        if os.path.isfile(file := split_module(path).path):
            read_mlir(file)
        message = "-i makes a page of all layouts of a file: -o must be an .html"
        raise LayoutError(f"{message}, without LAYOUT; for one figure give FILE:ALIAS")
    names = [name for group in alias_groups for name in group]
    place = destination(output, stem(path), ending, force=display["force"])
    place.write(dump_page(path, names, source, display["line"]))


def _drawn(
    encodings: list[Encoding], tensor: TensorType, ending: str, display: dict[str, Any]
) -> bytes:
    """Return the content of the figure of one or two layouts."""
    selection = read_selection(display)
    if ending == ".html":
        selection.check_options("a page")
        return layouts_page(
            encodings,
            tensor,
            target=display["target"],
            is_multiplied=display["view"] == "mma",
            operand=display["operand"],
        )
    from tt_layout.figures.drawing import draw
    from tt_layout.figures.drawn import DrawnLayout

    figure = draw(
        *(DrawnLayout(encoding, selection) for encoding in placed(encodings, tensor)),
        access=display["access"],
        target=display["target"],
        view=display["view"],
        color_by=display["color_by"],
        operand=display["operand"],
        axis=display["axis"],
    )
    return _file(figure, ending, display)


def _file(figure: Figure, ending: str, display: dict[str, Any]) -> bytes:
    """Return the content of a figure's file, in the requested colours and size."""
    return FORMATS[ending](replace(figure, palette=display["palette"]), display["fit"])


def _multiplication(path: str, display: dict[str, Any]) -> Figure:
    """Return the figure of the first instruction of a multiplication in a dump.

    Raises:
        LayoutError: there is none at the line, or several and no line is given.
    """
    from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
    from tt_layout.audit.operations.multiplications import multiplications
    from tt_layout.figures.mma import DrawnProduct, product_figure
    from tt_layout.ir.file_aliases import whole_modules

    line: int | None = display["line"]
    file, module = split_module(path)
    modules = whole_modules(read_source(file), chosen_release(), module)
    audited = (AuditedModule(dumped, SharedWork()) for dumped in modules)
    every = [product for kernels in audited for product in multiplications(kernels)]
    chosen = [product for product in every if line in (None, product.line)]
    if not chosen or (line is None and len(chosen) > 1):
        lines = ", ".join(str(product.line) for product in every) or "none"
        what = "no multiplication at that line" if line else "--line must say which multiplication"
        raise LayoutError(f"{what}; the file has some at lines: {lines}", FileLocation(file))
    first = chosen[0]
    types = first.a, first.b, first.d
    drawn = DrawnProduct(types, first.first, first.title, first.packing, first.scales)
    return product_figure(drawn, display["color_by"])


def _request(path: str, display: dict[str, Any]) -> Figure:
    """Return the figure of the first request of an access in a dump.

    Raises:
        LayoutError: no line is given, or nothing on it accesses global memory.
    """
    from tt_layout.audit.global_memory.first_request import first_request
    from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
    from tt_layout.audit.values.given import check_names, checked_arguments
    from tt_layout.figures.drawn import DrawnLayout
    from tt_layout.figures.sectors import request_figure, sectors_figure
    from tt_layout.ir.data_movements import GLOBAL_KINDS
    from tt_layout.ir.movement_lines import movement_on_line

    if display["line"] is None:
        raise LayoutError("--line must say which access")
    module, operation = movement_on_line(path, display["line"])
    numbers = read_values(display["values"], display["values_file"])
    audited = AuditedModule(module, SharedWork(), numbers)
    if numbers is not None:
        check_names(numbers, checked_arguments(numbers, audited.functions))
    request = first_request(operation, audited)
    ends = [end for end in (operation.source, operation.target) if end is not None]
    if operation.group not in GLOBAL_KINDS or not ends:
        message = f"{operation.name} does not access global memory"
        raise LayoutError(message, FileLocation(path, operation.line))
    end = ends[0]
    assert isinstance(end.encoding, Encoding)
    if request is not None:
        title = f"{operation.name}, line {operation.line}", end.text
        units = {"sector_bytes": request.sector_bytes, "line_bytes": request.line_bytes}
        return request_figure(title, request.starts, request.width_bytes, **units)
    held = parse_type(f"tensor<{end.plain}>", name="type")
    [drawn] = placed([end.encoding], held)
    figure = sectors_figure(DrawnLayout(drawn))
    advice = "tt-layout audit names the --value that its addresses need"
    return replace(figure, notes=(*figure.notes, advice))


_OF_A_LINE = {"mma": _multiplication, "sectors": _request}
"""Views that are of an operation on a line of a dump."""
