"""Pages that `page` and `plot` make: of a dump, of one layout, or of two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tt_layout.cli.parameters import chosen_release
from tt_layout.encodings import DistributedEncoding, Encoding
from tt_layout.mlir.types import TensorType, parse_type
from tt_layout.placement import buffer_shape, place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tt_layout.placement import PlacedLayout


def layouts_page(
    encodings: Sequence[Encoding],
    tensor: TensorType,
    *,
    target: str,
    is_multiplied: bool = False,
    operand: str | None = None,
) -> bytes:
    """Return the page of one layout or two.

    Args:
        encodings: the layouts.
        tensor: their type.
        target: the GPU that the page starts with.
        is_multiplied: whether the multiplication that the first is the result of is shown.
        operand: the element type of its A and B; None for the usual one.
    """
    from tt_layout.page.dump import page_of

    named = dict(zip(_titles(encodings), placed(encodings, tensor)))
    return page_of(named, target, is_multiplied=is_multiplied, operand=operand).encode()


def dump_page(path: str, names: list[str], folder: str | None, line: int | None) -> bytes:
    """Return the page of a dump.

    Args:
        path: the dump, perhaps with a module: ``dump.mlir@2``.
        names: only these aliases; all if there are none.
        folder: where the files of the program are.
        line: the line that the page opens on; None for that of the first finding.
    """
    from tt_layout.ir.file_aliases import split_module
    from tt_layout.kernels.metadata import metadata_beside
    from tt_layout.mlir.source import read_source
    from tt_layout.page.dump import page_of_dump
    from tt_layout.reports.program_source import ProgramSource
    from tt_layout.reports.progress import watched

    file, module = split_module(path)
    source, program, known = read_source(file), ProgramSource(folder), metadata_beside(file)
    release = chosen_release()
    page = page_of_dump(source, names, release, module, program, line, known, watch=watched)
    return page.encode()


def placed(encodings: Sequence[Encoding], tensor: TensorType) -> list[PlacedLayout]:
    """Return one layout or two over their types."""
    return [place(e, over) for e, over in zip(encodings, _types(encodings, tensor))]


def _titles(encodings: Sequence[Encoding]) -> list[str]:
    """Return what a page calls its layouts."""
    if len(encodings) == 1:
        return ["layout"]
    if len({encoding.memory_space for encoding in encodings}) == 1:
        return ["before", "after"]
    return [encoding.mnemonic for encoding in encodings]


def _types(encodings: Sequence[Encoding], tensor: TensorType) -> list[TensorType]:
    """Return the type of each; of registers beside memory, the tensor that is stored or loaded."""
    if tensor.is_tensor or len(encodings) == 1:
        return [tensor for _ in encodings]
    buffers = [e for e in encodings if not isinstance(e, DistributedEncoding)]
    shape = buffer_shape(buffers[0], tensor) if buffers else tensor.shape
    sizes = "".join(f"{size}x" for size in shape)
    accessed = parse_type(f"tensor<{sizes}{tensor.element_type}>", name="-t")
    return [accessed if isinstance(e, DistributedEncoding) else tensor for e in encodings]
