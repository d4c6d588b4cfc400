"""Large dumps of many modules: audited piece by piece, by several processes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, count
from typing import NamedTuple

from tt_layout.audit.audit import Audit
from tt_layout.audit.kernel import Kernel
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.values.given import GivenValues, check_names
from tt_layout.cli.dump_modules import shown_progress, whole
from tt_layout.cli.processes import processes
from tt_layout.ir.module import Module
from tt_layout.ir.passes import chosen_modules
from tt_layout.ir.reader import check_lines, iterate_ir
from tt_layout.ir.scope import Interner
from tt_layout.kernels.metadata import KernelMetadata
from tt_layout.mlir.pieces import Piece
from tt_layout.releases import Release
from tt_layout.reports.audit import FEW
from tt_layout.reports.kernel_overview import MAX_KNOWN
from tt_layout.reports.many_modules import WORST, ManyModules, brief_kernels, worst_first
from tt_layout.reports.opened import OpenedDump, audit_with
from tt_layout.worker import processors

MOST_PROCESSES = 8
"""Each has a piece and what it knows of earlier ones in memory."""


class Settings(NamedTuple):
    """How a dump is audited.

    Attributes:
        is_partial: whether it may be cut off.
        release: whose rules hold; None for those that fit.
        given: what the arguments of its kernels are.
        known: what is known of its compiled kernel.
    """

    is_partial: bool
    release: Release | None
    given: GivenValues | None
    known: KernelMetadata


class PieceKernels(NamedTuple):
    """Kernels of a piece of a dump.

    Attributes:
        kernels: of the modules that were audited.
        audited: how many these are.
        modules: how many modules there are.
        arguments: names of those with values.
    """

    kernels: tuple[Kernel, ...]
    audited: int
    modules: int
    arguments: tuple[str, ...]


def large_in_brief(dump: OpenedDump, settings: Settings, top: int | None) -> ManyModules | None:
    """Return the modules of a large dump in brief; None where one process has to audit them.

    That is so of small dumps, of those with a compilation in several pieces, and where only one
    process can run.

    Args:
        dump: as it was opened.
        settings: how it is audited.
        top: how many kernels are listed; None for all.

    Raises:
        LayoutError: it cannot be audited, or a value is given for an argument that no module has.
    """
    number = min(processors(), MOST_PROCESSES, len(dump.pieces))
    if number < 2 or not all(piece.is_separate for piece in dump.pieces):
        return None
    pieces = _audited(dump.pieces, settings, number)
    if sum(part.audited for part in pieces) <= FEW:
        return None
    if settings.given is not None:
        check_names(settings.given, [name for part in pieces for name in part.arguments])
    kernels = worst_first([kernel for part in pieces for kernel in part.kernels])
    lines = list(dict.fromkeys(kernel.line for kernel in kernels))[:WORST]
    firsts = [*accumulate((part.modules for part in pieces), initial=1)]
    worst = tuple(_audit_at(line, dump.pieces, firsts, settings) for line in lines)
    return ManyModules.of(kernels, worst, top)


def _audited(pieces: Sequence[Piece], settings: Settings, number: int) -> list[PieceKernels]:
    """Return the kernels of each piece.

    Raises:
        LayoutError: one cannot be audited.
    """
    size, read = sum(piece.size for piece in pieces), 0
    kernels_by_piece: list[PieceKernels] = []
    with processes(number, _start, settings) as pool, shown_progress(size) as show:
        for piece, kernels in zip(pieces, pool.imap(_read_in_process, pieces)):
            kernels_by_piece.append(kernels)
            read += piece.size
            show(read)
    return kernels_by_piece


def _audit_at(
    line: int, pieces: Sequence[Piece], firsts: Sequence[int], settings: Settings
) -> Audit:
    """Return the audit of the module that begins on a line.

    Args:
        line: of the dump.
        pieces: of the dump.
        firsts: the number of the first module of each.
        settings: how it is audited.
    """
    at = bisect_right(pieces, line, key=lambda part: part.first_line) - 1
    modules = _modules(pieces[at], settings, Interner(settings.release))
    chosen = chosen_modules(modules, firsts[at])
    module = next(part for part in chosen if part.line == line)
    return audit_with(module, SharedWork(), None, settings.given, settings.known).audit


def _modules(piece: Piece, settings: Settings, interner: Interner) -> Iterator[Module]:
    source = piece.read()
    check_lines(source)
    modules = iterate_ir(source, settings.release, interner=interner)
    return whole(modules, settings.is_partial)


class _PieceReader:
    """Audits pieces one by one, with what it knows of earlier ones."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._forget()

    def _forget(self) -> None:
        """Begin with nothing known of earlier pieces."""
        self._shared, self._known = SharedWork(explains=False), 0
        self._interner = Interner(self._settings.release, keeps_text=False)

    def read(self, piece: Piece) -> PieceKernels:
        """Return the kernels of a piece.

        Raises:
            LayoutError: it cannot be audited.
        """
        if self._known > MAX_KNOWN:
            self._forget()
        self._known += piece.size
        settings, numbers = self._settings, count()
        modules = _modules(piece, settings, self._interner)
        counted = (module for module, _ in zip(modules, numbers))
        kernels: list[Kernel] = []
        arguments: dict[str, None] = {}
        audited = 0
        for module in chosen_modules(counted):
            audit = audit_with(module, self._shared, None, settings.given, settings.known).audit
            arguments.update(dict.fromkeys(audit.arguments))
            kernels += brief_kernels(piece.file, audit)
            audited += 1
        return PieceKernels(tuple(kernels), audited, next(numbers), tuple(arguments))


_reader: _PieceReader | None = None


def _start(settings: Settings) -> None:
    global _reader  # what a process keeps from piece to piece
    _reader = _PieceReader(settings)


def _read_in_process(piece: Piece) -> PieceKernels:
    assert _reader is not None
    return _reader.read(piece)
