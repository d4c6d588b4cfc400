"""Dumps that are named on the command line, and their modules."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tt_layout.cli.parameters import chosen_release
from tt_layout.errors import FileLocation, LayoutError, NothingFoundError
from tt_layout.ir import Module
from tt_layout.ir.file_aliases import module_at, split_line, whole_modules
from tt_layout.ir.reader import check_lines
from tt_layout.mlir.source import Source
from tt_layout.reports.opened import OpenedDump, open_dumps
from tt_layout.reports.progress import progress_bar

PROGRESS_FROM = 4 << 20  # characters of a dump from which a terminal shows a progress bar


def open_dump(name: str) -> OpenedDump:
    """Return the dump, and the module of it, that ``FILE@3`` or ``FILE:13`` stands for.

    Raises:
        LayoutError: it cannot be read, or is a log of several kernels.
    """
    file, line = split_line(name)
    dump, *others = open_dumps(file).dumps
    if others:
        message = f"the log has {len(others) + 1} kernels: {file}@1 is the first"
        raise LayoutError(message, FileLocation(file))
    if line is None:
        return dump
    return dump._replace(number=module_at(dump.source, line))


def read_modules(source: Source, is_partial: bool, number: int | None = None) -> Iterator[Module]:
    """Yield the modules of a dump, or the one of a number; a terminal shows a progress bar.

    Raises:
        LayoutError: there is no IR in it, or it is truncated.
    """
    check_lines(source)
    is_empty = True
    with _progress(len(source.text)) as report:
        modules = whole_modules(source, chosen_release(), number, is_partial=True, report=report)
        for module in modules:
            if module.error is not None and not is_partial:
                raise module.error.hint("--partial audits what there is")
            is_empty = False
            yield module
    if is_empty:
        message = "found no MLIR in it: no module, function, layout alias or tensor type"
        raise NothingFoundError(message, FileLocation(source.name))


@contextmanager
def _progress(size: int) -> Iterator[Callable[[int], None] | None]:
    if size < PROGRESS_FROM or not sys.stderr.isatty():
        yield None
        return
    with progress_bar(size, "TaskProgressColumn") as show:
        yield show
