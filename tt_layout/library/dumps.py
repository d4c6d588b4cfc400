"""The page of a dump, or of a kernel that Triton has compiled."""

from __future__ import annotations

import os
from typing import Any

from tt_layout.errors import LayoutError
from tt_layout.ir.file_aliases import FileName, split_module
from tt_layout.library.pictures import Page
from tt_layout.mlir.source import Source, read_source
from tt_layout.releases import Release
from tt_layout.reports.audit_ir import STAGE


def explore_ir(source: Any, *, release: Release | None = None) -> Page:
    """Return the page of every layout of a dump, each over the types that it is used with.

    Args:
        source: MLIR text, the path of a dump (``FILE@3`` means one of its modules), or a
            compiled kernel: anything with ``asm["ttgir"]``.
        release: of Triton, whose rules hold.

    Raises:
        LayoutError: it is none of these, or no layout of the dump is used with a type that it fits.

    Example:
        >>> explore_ir('''module {
        ...   %0 = my.op : tensor<4xf32, #ttg.linear<{register = [[1], [2]], lane = [],
        ...     warp = [], block = []}>>
        ... }''')
        <Page: <text>>
    """
    from tt_layout.page.dump import page_of_dump

    dump, module = _opened(source)
    return Page(page_of_dump(dump, [], release, module), dump.name)


def _opened(source: Any) -> tuple[Source, int | None]:
    """Return the text of a dump, and the module of it that is meant."""
    texts = getattr(source, "asm", None)
    if texts is not None:
        try:
            text = texts[STAGE]
        except (KeyError, TypeError):
            raise LayoutError(f"the kernel has no {STAGE}: it was not compiled for a GPU") from None
        return Source(str(text), str(getattr(source, "name", None) or f"<{STAGE}>")), None
    if isinstance(source, str) and "\n" in source:
        return Source(source, "<text>"), None
    if isinstance(source, (str, os.PathLike)):
        file: FileName = split_module(os.fspath(source))
        return read_source(file.path), file.module
    message = f'expected MLIR text, a path, or a compiled kernel with asm["{STAGE}"]'
    raise LayoutError(f"{message}, got {type(source).__name__}")
