"""Dumps to audit, by name: a file, one of its modules, or each kernel of a log."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.modules.launch_values import values_of
from tt_layout.audit.values.given import GivenValues
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir.file_aliases import LAST, split_module
from tt_layout.ir.module import Module
from tt_layout.kernels.metadata import NO_METADATA, KernelMetadata, metadata_beside
from tt_layout.kernels.seen import Launch, SeenKernel
from tt_layout.kernels.trace import KernelLog, ProgramText, is_trace_name, read_trace
from tt_layout.mlir.pieces import Piece, pieces_of
from tt_layout.mlir.source import Source, read_source

NO_TEXT = "the log has no TTGIR of the kernel"


class OpenedDump(NamedTuple):
    """A dump, and what is known of it besides.

    Attributes:
        source: its text; of one in pieces the first.
        number: of the module that is meant; None for all.
        known: what is known of the compiled kernel.
        launch: how its kernel was launched; None where that is not known.
        programs: texts of the program that came with it.
        pieces: in which it is read, if not as a whole.
    """

    source: Source
    number: int | None
    known: KernelMetadata
    launch: Launch | None = None
    programs: tuple[ProgramText, ...] = ()
    pieces: tuple[Piece, ...] = ()

    def sources(self) -> Iterator[Source]:
        """Yield its text, or one piece after the other.

        Raises:
            LayoutError: a piece cannot be read.
        """
        if not self.pieces:
            yield self.source
        for piece in self.pieces:
            yield piece.read()


class AuditWithValues(NamedTuple):
    """An audit, and why the values of the launch were not used; None where they were."""

    audit: Audit
    reason: str | None = None


def is_log(name: str) -> bool:
    """Return whether a name means all kernels of a log."""
    path, number = split_module(name)
    return number is None and is_trace_name(path)


class Opened(NamedTuple):
    """Content behind a name.

    Attributes:
        dumps: one, or the kernels of a log.
        unread: place in a log -> why what is there is left out.
    """

    dumps: tuple[OpenedDump, ...]
    unread: tuple[tuple[str, str], ...] = ()


def open_dumps(name: str, *, in_pieces: bool = False) -> Opened:
    """Open one dump, or the kernels of a log of tritonparse.

    Args:
        name: of a file, perhaps with the number of a module.
        in_pieces: whether a large dump may be read piece by piece.

    Raises:
        LayoutError: it cannot be read.
    """
    path, number = split_module(name)
    if not is_trace_name(path):
        pieces = pieces_of(path) if in_pieces and number is None else ()
        if pieces:
            metadata = metadata_beside(path)
            return Opened((OpenedDump(pieces[0].read(), None, metadata, pieces=pieces),))
        return Opened((OpenedDump(read_source(path), number, metadata_beside(path)),))
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
        _dump(name, kernel, trace) for name, kernel in named if kernel.compiled.text is not None
    ]
    if not dumps:
        raise LayoutError("; ".join(reason for _, reason in unread), FileLocation(path))
    return Opened(tuple(dumps), tuple(unread))


def _dump(name: str, kernel: SeenKernel, trace: KernelLog) -> OpenedDump:
    compiled = kernel.compiled
    program = trace.programs.get(compiled.key)
    return OpenedDump(
        Source(compiled.text or "", name),
        None,
        compiled.known._replace(name=compiled.name),
        kernel.launch,
        (program,) if program is not None else (),
    )


def audit_with(
    module: Module,
    shared: SharedWork,
    launch: Launch | None,
    given: GivenValues | None = None,
    known: KernelMetadata = NO_METADATA,
    *,
    is_judged: bool = True,
) -> AuditWithValues:
    """Return the audit of a module with the values of a launch, if they fit.

    Args:
        module: of a kernel.
        shared: what is known of other modules.
        launch: of the kernel; None where that is not known.
        given: values that go before those of the launch.
        known: what is known of the kernel as compiled.
        is_judged: whether findings are looked for.

    Raises:
        LayoutError: a given value does not fit its argument.
    """
    audit = partial(audit_module, module, shared, known=known, is_judged=is_judged)
    if launch is None:
        return AuditWithValues(audit(given=given))
    try:
        return AuditWithValues(audit(given=values_of(module, launch, given, shared)))
    except LayoutError as error:
        return AuditWithValues(audit(given=given), error.message)
