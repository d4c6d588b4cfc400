"""Opening dumps by name or from an object: a file, one of its modules, a log, a compiled kernel."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

from tt_layout.audit.values.given import GivenValues
from tt_layout.dumps.pieces import Piece, pieces_of
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir.file_aliases import LAST, module_at, split_line, split_module, whole_modules
from tt_layout.ir.module import Module
from tt_layout.ir.passes import chosen_modules
from tt_layout.ir.reader import check_lines, iterate_ir
from tt_layout.ir.scope import Interner
from tt_layout.kernels.metadata import (
    NO_METADATA,
    KernelMetadata,
    metadata_beside,
    metadata_of_kernel,
)
from tt_layout.kernels.seen import Launch, SeenKernel
from tt_layout.kernels.trace import KernelLog, ProgramText, is_trace_name, read_trace
from tt_layout.mlir.languages import no_mlir, refuse_other_mlir
from tt_layout.mlir.source import Source, read_source
from tt_layout.mlir.wrappers import unwrapped
from tt_layout.releases import Release
from tt_layout.tuples import NamedTuple

NO_TEXT = "the log has no TTGIR of the kernel"

TEXT = "<text>"
"""The name of a text that comes from no file."""

STAGE = "ttgir"
"""What a compiled kernel calls the text in which layouts stand."""

YOUNG = 1
"""Generation of garbage up to which a piece is looked for: most are read without a collection."""

Modules = Iterator[Module]

Report = Callable[[int], None]
"""Takes how much is done by now."""

Progress = Callable[[int], AbstractContextManager[Report]]
"""Gives what takes how much of a total is done."""


@contextmanager
def silent(total: int) -> Iterator[Report]:
    """Give a function that takes the progress and ignores it."""
    yield lambda done: None


class Reading(NamedTuple):
    """How dumps are read and audited.

    Attributes:
        is_partial: whether truncated dumps are accepted.
        release: the Triton release whose rules hold; None to infer it.
        given: values of kernel arguments.
        way_out: advice for a truncated dump; None for none.
        progress: shows how many characters of a dump have been read.
    """

    is_partial: bool = False
    release: Release | None = None
    given: GivenValues | None = None
    way_out: str | None = None
    progress: Progress = silent


AS_IT_IS = Reading()
"""Reads whole dumps, with inferred rules and no values."""


class Dump(NamedTuple):
    """A dump with its metadata.

    Attributes:
        source: its text; the first piece of a dump in pieces.
        number: the number of the selected module; None for all.
        known: metadata of the compiled kernel.
        launch: launch of its kernel; None where it is not known.
        programs: program texts that came with it.
        pieces: the pieces in which it is read, if not as a whole.
    """

    source: Source
    number: int | None = None
    known: KernelMetadata = NO_METADATA
    launch: Launch | None = None
    programs: tuple[ProgramText, ...] = ()
    pieces: tuple[Piece, ...] = ()

    def modules(self, reading: Reading = AS_IT_IS, interner: Interner | None = None) -> Modules:
        """Yield its modules, or the selected one.

        Args:
            reading: how it is read.
            interner: objects shared with other dumps of the same release.

        Raises:
            LayoutError: there is no IR in it or no such module, a line is too long, or it is
                truncated and that is not accepted.
        """
        refuse_other_mlir(self.source)
        is_empty = True
        for module in self.modules_of_part(reading, interner):
            is_empty = False
            yield module
        if is_empty:
            raise no_mlir(self.source)

    def meant(self, reading: Reading = AS_IT_IS, interner: Interner | None = None) -> Modules:
        """Yield one module for each compilation, or the selected module.

        Args:
            reading, interner: as for `modules`, with its errors.
        """
        modules = self.modules(reading, interner)
        return chosen_modules(modules) if self.number is None else modules

    def modules_of_part(self, reading: Reading, interner: Interner | None) -> Modules:
        """Yield its modules like `modules`, but there may be none, as in a piece of a dump."""
        interner = interner or Interner(reading.release, keeps_text=not self.pieces)
        size, above = sum(piece.size for piece in self.pieces) or len(self.source.text), 0
        with reading.progress(size) as report:
            for source in self._sources():
                check_lines(source)
                modules = self._modules_of(
                    source, reading, partial(_below, report, above), interner
                )
                for module in modules:
                    if module.error is not None and not reading.is_partial:
                        raise (
                            module.error.hint(reading.way_out) if reading.way_out else module.error
                        )
                    yield module
                above += len(source.text)

    def _modules_of(
        self, source: Source, reading: Reading, report: Report, interner: Interner
    ) -> Modules:
        if self.pieces:
            return iterate_ir(source, reading.release, report, interner)
        return whole_modules(
            source,
            reading.release,
            self.number,
            is_partial=True,
            report=report,
            interner=interner,
        )

    def _sources(self) -> Iterator[Source]:
        """Yield its text, or its pieces one after the other.

        Raises:
            LayoutError: a piece cannot be read.
        """
        yield self.source
        for piece in self.pieces[1:]:
            gc.collect(YOUNG)  # modules and their text refer to each other
            yield piece.read()


def _below(report: Report, above: int, read: int) -> None:
    report(above + read)


class Opened(NamedTuple):
    """The dumps behind a name.

    Attributes:
        dumps: one dump, or the kernels of a log.
        unread: location in a log and the reason why it is left out.
    """

    dumps: tuple[Dump, ...]
    unread: tuple[tuple[str, str], ...] = ()


def is_log(name: str) -> bool:
    """Tell whether a name means all kernels of a log."""
    path, number = split_module(name)
    return number is None and is_trace_name(path)


def open_dump(name: str, *, in_pieces: bool = False) -> Dump:
    """Open a dump, and select the module that ``FILE@3`` or ``FILE:13`` names.

    Args:
        name: name of the file; ``-`` is standard input.
        in_pieces: whether a large dump may be read piece by piece.

    Raises:
        LayoutError: it cannot be read, or is a log of several kernels.
    """
    file, line = split_line(name)
    dump, *rest = open_dumps(file, in_pieces=in_pieces and line is None).dumps
    if rest:
        message = f"the log has {len(rest) + 1} kernels: {file}@1 is the first"
        raise LayoutError(message, FileLocation(file))
    return dump if line is None else dump._replace(number=module_at(dump.source, line))


def open_dumps(name: str, *, in_pieces: bool = False) -> Opened:
    """Open one dump, or the kernels of a log of tritonparse.

    Args:
        name: name of a file, possibly with the number of a module.
        in_pieces: whether a large dump may be read piece by piece.

    Raises:
        LayoutError: it cannot be read.
    """
    path, number = split_module(name)
    if not is_trace_name(path):
        pieces = pieces_of(path) if in_pieces and number is None else ()
        source = pieces[0].read() if pieces else read_source(path)
        return Opened((Dump(source, number, metadata_beside(path), pieces=pieces),))
    trace = read_trace(path)
    count = len(trace.kernels)
    at = count if number == LAST else number
    if at is not None and not 1 <= at <= count:
        message = f"there is no kernel {at}: the log has {count}"
        raise LayoutError(message, FileLocation(path))
    chosen = range(1, count + 1) if at is None else [at]
    named = [(f"{path}@{one}", trace.kernels[one - 1]) for one in chosen]
    unread = [(f"{path}:{one.line}", one.reason) for one in trace.unread] if at is None else []
    unread += [(name, NO_TEXT) for name, kernel in named if kernel.compiled.text is None]
    dumps = [
        _logged(name, kernel, trace) for name, kernel in named if kernel.compiled.text is not None
    ]
    if not dumps:
        raise LayoutError("; ".join(reason for _, reason in unread), FileLocation(path))
    return Opened(tuple(dumps), tuple(unread))


def _logged(name: str, kernel: SeenKernel, trace: KernelLog) -> Dump:
    """Return the dump of a kernel in a log."""
    compiled = kernel.compiled
    program = trace.programs.get(compiled.key)
    return Dump(
        Source(compiled.text or "", name),
        None,
        compiled.known._replace(name=compiled.name),
        kernel.launch,
        (program,) if program is not None else (),
    )


def open_object(source: Any) -> Dump:
    """Open whatever holds a dump: a text of several lines, a path, or a compiled kernel.

    Args:
        source: MLIR text, a path as `open_dump` takes it, or anything with ``asm["ttgir"]``.

    Raises:
        LayoutError: it cannot be read, or the kernel was not compiled for a GPU.
        TypeError: it is none of these.

    Example:
        >>> open_object("module {\\n}\\n").source.name
        '<text>'
    """
    texts = getattr(source, "asm", None)
    if texts is not None:
        try:
            text = texts[STAGE]
        except (KeyError, TypeError):
            raise LayoutError(f"the kernel has no {STAGE}: it was not compiled for a GPU") from None
        name = getattr(source, "name", None)
        title = f"{name}.{STAGE}" if isinstance(name, str) else f"<{STAGE}>"
        return Dump(Source(str(text), title), known=metadata_of_kernel(source))
    if isinstance(source, str) and "\n" in source:
        return Dump(Source(unwrapped(source), TEXT))
    if isinstance(source, (str, os.PathLike)):
        return open_dump(os.fspath(source))
    message = f'expected MLIR text, a path, modules, or a compiled kernel with asm["{STAGE}"]'
    raise TypeError(f"{message}, got {type(source).__name__}")
