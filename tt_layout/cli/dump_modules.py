"""Dumps that are named on the command line, and their modules."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from tt_layout.cli.parameters import chosen_release
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir import Module
from tt_layout.ir.file_aliases import module_at, split_line, whole_modules
from tt_layout.ir.reader import check_lines
from tt_layout.ir.scope import Interner
from tt_layout.mlir.languages import no_mlir, refuse_other_mlir
from tt_layout.reports.opened import OpenedDump, open_dumps
from tt_layout.reports.progress import progress_bar

PROGRESS_FROM = 4 << 20  # characters of a dump from which a terminal shows a progress bar


def open_dump(name: str, *, in_pieces: bool = False) -> OpenedDump:
    """Return the dump, and the module of it, that ``FILE@3`` or ``FILE:13`` stands for.

    Args:
        name: of the file.
        in_pieces: whether a large dump may be read piece by piece.

    Raises:
        LayoutError: it cannot be read, or is a log of several kernels.
    """
    file, line = split_line(name)
    dump, *rest = open_dumps(file, in_pieces=in_pieces and line is None).dumps
    if rest:
        message = f"the log has {len(rest) + 1} kernels: {file}@1 is the first"
        raise LayoutError(message, FileLocation(file))
    if line is None:
        return dump
    return dump._replace(number=module_at(dump.source, line))


def read_modules(dump: OpenedDump, is_partial: bool) -> Iterator[Module]:
    """Yield the modules of a dump, or the one that is meant; a terminal shows a progress bar.

    Raises:
        LayoutError: there is no IR in it, or it is truncated.
    """
    is_empty = True
    refuse_other_mlir(dump.source)
    size = sum(piece.size for piece in dump.pieces) or len(dump.source.text)
    with shown_progress(size) as report:
        for module in whole(_modules(dump, report), is_partial):
            is_empty = False
            yield module
    if is_empty:
        raise no_mlir(dump.source)


def whole(modules: Iterable[Module], is_partial: bool) -> Iterator[Module]:
    """Yield modules.

    Raises:
        LayoutError: one is truncated, and none may be.
    """
    for module in modules:
        if module.error is not None and not is_partial:
            raise module.error.hint("--partial audits what there is")
        yield module


def _modules(dump: OpenedDump, report: Callable[[int], None]) -> Iterator[Module]:
    """Yield the modules of a dump, truncated ones among them.

    Raises:
        LayoutError: a line is too long, or there is no such module.
    """
    release, above = chosen_release(), 0
    interner = Interner(release, keeps_text=not dump.pieces)
    for source in dump.sources():
        check_lines(source)
        show = partial(_report_below, report, above)
        yield from whole_modules(
            source, release, dump.number, is_partial=True, report=show, interner=interner
        )
        above += len(source.text)


def _report_below(report: Callable[[int], None], above: int, read: int) -> None:
    report(above + read)


@contextmanager
def shown_progress(size: int) -> Iterator[Callable[[int], None]]:
    """Give what takes how much of a dump is read; of a large one a terminal shows it."""
    if size < PROGRESS_FROM or not sys.stderr.isatty():
        yield lambda read: None
        return
    with progress_bar(size, "TaskProgressColumn") as show:
        yield show
