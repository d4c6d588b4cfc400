"""Pages that `page` and `plot` write: of a dump, or of one or two layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tt_layout.cli.output import note
from tt_layout.cli.parameters import chosen_release
from tt_layout.encodings import DistributedEncoding, Encoding
from tt_layout.mlir.types import TensorType, parse_type
from tt_layout.placement import buffer_shape, place
from tt_layout.safe_text import safe
from tt_layout.wording import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tt_layout.audit.values.given import GivenValues
    from tt_layout.placement import PlacedLayout


def layouts_page(
    encodings: Sequence[Encoding],
    tensor: TensorType,
    *,
    target: str,
    is_multiplied: bool = False,
    operand: str | None = None,
) -> bytes:
    """Return the page of one or two layouts.

    Args:
        encodings: the layouts.
        tensor: their type.
        target: the GPU that the page starts with.
        is_multiplied: whether the multiplication whose result has the first layout is shown.
        operand: the element type of its A and B; None for the usual one.
    """
    from tt_layout.page.dump import page_of

    if len(encodings) == 1:
        titles = ["layout"]
    elif len({encoding.memory_space for encoding in encodings}) == 1:
        titles = ["before", "after"]
    else:
        titles = [encoding.mnemonic for encoding in encodings]
    named = dict(zip(titles, placed(encodings, tensor)))
    return page_of(named, target, is_multiplied=is_multiplied, operand=operand).encode()


def dump_page(
    path: str,
    names: list[str],
    folder: str | None,
    line: int | None,
    given: GivenValues | None = None,
) -> bytes:
    """Return the page of a dump; print on standard error the source files whose lines it embeds.

    Args:
        path: the dump, possibly with a module: ``dump.mlir@2``.
        names: the aliases to show; all if there are none.
        folder: the folder of the program's files.  Without it, only lines of files below the
            working directory and the folder of the dump are embedded.
        line: the line that the page opens on; None for that of the first finding.
        given: the values of the kernels' arguments.
    """
    from tt_layout.ir.file_aliases import split_module
    from tt_layout.kernels.metadata import metadata_beside
    from tt_layout.mlir.source import read_source
    from tt_layout.page.dump import page_of_dump
    from tt_layout.reports.program_source import ProgramSource, near
    from tt_layout.reports.progress import watched

    file, module = split_module(path)
    program = near(file) if folder is None else ProgramSource(folder)
    metadata = metadata_beside(file)
    source, release = read_source(file), chosen_release()
    page = page_of_dump(
        source, names, release, module, program, line, metadata, given=given, watch=watched
    )
    if programs := page.dump.programs:
        first = safe(next(iter(programs)))
        which = first if len(programs) == 1 else f"{first} and others"
        files = count(len(programs), "file")
        note(f"the page has lines of {files} of the program: {which}")
    return page.html.encode()


def placed(encodings: Sequence[Encoding], tensor: TensorType) -> list[PlacedLayout]:
    """Place one or two layouts over their types."""
    return [place(e, over) for e, over in zip(encodings, _types(encodings, tensor))]


def _types(encodings: Sequence[Encoding], tensor: TensorType) -> list[TensorType]:
    """Return the type of each; for registers beside memory, the tensor that is stored or loaded."""
    if tensor.is_tensor or len(encodings) == 1:
        return [tensor for _ in encodings]
    buffers = [e for e in encodings if not isinstance(e, DistributedEncoding)]
    shape = buffer_shape(buffers[0], tensor) if buffers else tensor.shape
    sizes = "".join(f"{size}x" for size in shape)
    accessed = parse_type(f"tensor<{sizes}{tensor.element_type}>", name="-t")
    return [accessed if isinstance(e, DistributedEncoding) else tensor for e in encodings]
