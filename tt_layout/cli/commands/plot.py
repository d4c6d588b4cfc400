"""``tt-layout plot``: layouts as figures, and as a page to play with."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from tt_layout.cli.parameters import read_layout, read_release, read_type, release_option
from tt_layout.cli.selection import read_selection, selection_options
from tt_layout.encodings import DistributedEncoding, Encoding
from tt_layout.errors import LayoutError
from tt_layout.figures.drawing import VIEWS
from tt_layout.figures.model import Figure
from tt_layout.mlir.types import TensorType
from tt_layout.placement import buffer_shape, place
from tt_layout.releases import Release
from tt_layout.reports.output import write

COLOR_BY = ("warp", "lane", "register", "block", "bank", "row", "column")


def _svg(figure: Figure) -> bytes:
    from tt_layout.figures.svg import to_svg

    return to_svg(figure).encode()


def _png(figure: Figure) -> bytes:
    from tt_layout.figures.png import to_png

    return to_png(figure)


FORMATS: dict[str, Callable[[Figure], bytes]] = {".svg": _svg, ".png": _png}


@click.command("plot")
@click.argument("layout", metavar="ATTR", required=False)
@click.argument("other", metavar="[OTHER]", required=False)
@click.option("-t", "tensor", metavar="TYPE", help="Tensor type.")
@click.option("-i", "path", metavar="FILE", help="One page of every layout of a dump.")
@click.option("-o", "output", required=True, metavar="FILE", help="FILE.svg, .png or .html.")
@click.option("--alias-names", multiple=True, metavar="A,B", help="Only these aliases of -i.")
@click.option("--view", type=click.Choice(VIEWS), help="What is shown; tensor by default.")
@click.option("--color-by", type=click.Choice(COLOR_BY), help="What has its own colour.")
@click.option(
    "--access", type=click.Choice(["load", "store"]), default="load", help="Banks: of OTHER."
)
@click.option("--target", default="nvidia", metavar="NAME", help="Banks and pages: the GPU.")
@selection_options
@release_option
def command(
    layout: str | None,
    other: str | None,
    tensor: str | None,
    path: str | None,
    output: str,
    alias_names: tuple[str, ...],
    triton: str | None,
    **looks: Any,
) -> None:
    """Draw a layout, two side by side, or make a page of the layouts of a dump.

    ATTR and OTHER are attributes, or FILE:ALIAS. Of one layout of registers and one of shared
    memory, the banks of an access are drawn.
    """
    ending, release = os.path.splitext(output)[1].lower(), read_release(triton)
    if ending not in (*FORMATS, ".html"):
        raise LayoutError(f"-o must end in .svg, .png or .html, got {output!r}")
    if path is not None:
        if layout is not None or ending != ".html":
            message = "-i makes a page of all layouts of a file: -o must be an .html"
            raise LayoutError(f"{message}, without ATTR; for one figure give FILE:ALIAS")
        _write(output, _dump_page(path, alias_names, release))
        return
    if layout is None or tensor is None:
        what = "layout: give ATTR, or a dump with -i" if layout is None else "tensor type: give -t"
        raise LayoutError(f"no {what}")
    texts = [text for text in (layout, other) if text is not None]
    _write(output, _drawn(texts, tensor, release, ending, looks))


def _drawn(
    texts: list[str],
    tensor: str,
    release: Release | None,
    ending: str,
    looks: dict[str, Any],
) -> bytes:
    """Return the file of one layout or two."""
    tensor_type = read_type(tensor)
    named = [(n, read_layout(text, release, n)) for n, text in zip(("ATTR", "OTHER"), texts)]
    types = _types([encoding for _, encoding in named], tensor_type)
    selection = read_selection(looks)
    if ending == ".html":
        selection.check_options("a page")
        from tt_layout.page.dump import page_of

        titles = _titles([encoding for _, encoding in named])
        layouts = [place(e, over) for (_, e), over in zip(named, types)]
        return page_of(dict(zip(titles, layouts)), looks["target"]).encode()
    from tt_layout.figures.drawing import draw
    from tt_layout.figures.drawn import DrawnLayout

    placed = [place(encoding, over) for (_, encoding), over in zip(named, types)]
    figure = draw(
        *(DrawnLayout(one, selection) for one in placed),
        access=looks["access"] or "load",
        target=looks["target"] or "nvidia",
        view=looks["view"],
        color_by=looks["color_by"],
    )
    return FORMATS[ending](figure)


def _titles(encodings: list[Encoding]) -> list[str]:
    """Return what a page calls its layouts."""
    if len(encodings) == 1:
        return ["layout"]
    if len({encoding.memory_space for encoding in encodings}) == 1:
        return ["before", "after"]
    return [encoding.mnemonic for encoding in encodings]


def _types(encodings: list[Encoding], tensor: TensorType) -> list[TensorType]:
    """Return the type of each; of registers beside memory, the tensor that is stored or loaded."""
    if tensor.kind == "tensor" or len(encodings) == 1:
        return [tensor for _ in encodings]
    buffers = [e for e in encodings if not isinstance(e, DistributedEncoding)]
    shape = buffer_shape(buffers[0], tensor) if buffers else tensor.shape
    sizes = "".join(f"{size}x" for size in shape)
    held = read_type(f"tensor<{sizes}{tensor.element_type}>")
    return [held if isinstance(e, DistributedEncoding) else tensor for e in encodings]


def _dump_page(path: str, alias_names: tuple[str, ...], release: Release | None) -> bytes:
    from tt_layout.mlir.source import read_source
    from tt_layout.page.dump import page_of_dump

    names = [n.strip().removeprefix("#") for part in alias_names for n in part.split(",") if n]
    return page_of_dump(read_source(path), names, release).encode()


def _write(output: str, content: bytes) -> None:
    write([content], output, size=len(content))
