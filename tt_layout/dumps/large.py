"""Dumps of many modules, as from autotuning: a line for each kernel, and the worst in full.

Screens of hundreds of kernels help nobody, and a cheaper alternative takes longer to find than an
expensive operation: it is looked for only in the modules that are shown.  A large dump is audited
piece by piece, by several processes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import accumulate, count
from typing import TypeVar

from tt_layout.audit.audit import Audit
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.values.given import check_names
from tt_layout.dumps.audits import Auditor
from tt_layout.dumps.dump import Dump, Modules, Reading, silent
from tt_layout.dumps.pieces import Piece
from tt_layout.dumps.processes import results_of
from tt_layout.ir.module import Module
from tt_layout.ir.passes import chosen_modules
from tt_layout.kernels.metadata import KernelMetadata
from tt_layout.tuples import NamedTuple
from tt_layout.worker import processors

MOST_PROCESSES = 8
"""Each has a piece and what it knows of earlier ones in memory."""

FEW = 12
"""Modules of a dump that have a first screen each; more of them have a line for each kernel."""

WORST = 3
"""Modules that are shown in full, of those with the worst kernels."""


T = TypeVar("T")


class ManyModules(NamedTuple):
    """A summary of the modules of a dump.

    Attributes:
        kernels: all of their kernels, the worst first.
        worst: the audits of the worst modules, the worst first.
    """

    kernels: Sequence[Kernel]
    worst: tuple[Audit, ...]


class NamelessKernels(NamedTuple):
    """The kernels of a module's text, independent of its line and of the names of its functions.

    Attributes:
        kernels: the kernels as named in the audited module.
        functions: the number in the module of the function that names each kernel; None if the
            name comes from elsewhere.
        arguments: names of the arguments with given values.
    """

    kernels: Sequence[Kernel]
    functions: Sequence[int | None]
    arguments: tuple[str, ...]

    def placed(self, file: str, module: Module) -> list[Kernel]:
        """Return the kernels of a module with this text."""
        names = [function.name for function in module.functions]
        return [
            kernel.with_values(
                file=file,
                line=module.line,
                function=kernel.function if number is None else names[number],
            )
            for kernel, number in zip(self.kernels, self.functions)
        ]


class PieceKernels(NamedTuple):
    """Kernels of a piece of a dump.

    Attributes:
        kernels: kernels of the audited modules.
        audited: number of audited modules.
        modules: number of modules.
        arguments: names of the arguments with values.
    """

    kernels: tuple[Kernel, ...]
    audited: int
    modules: int
    arguments: tuple[str, ...]


def audits_in_brief(file: str, audits: Iterable[Audit]) -> ManyModules:
    """Summarize audited modules, keeping only the worst audits.

    Args:
        file: the name of the dump.
        audits: the audits of its modules.
    """
    kernels, worst = _ranked(
        (audit, [_in_brief(kernel) for kernel in kernels_of(audit, file=file)]) for audit in audits
    )
    return ManyModules(kernels, tuple(worst))


def in_brief(dump: Dump, modules: Modules, reading: Reading) -> ManyModules:
    """Summarize the modules of a dump; those with equal texts are audited once.

    Args:
        dump: the dump.
        modules: the modules to audit.
        reading: how it is read and audited.

    Raises:
        LayoutError: it cannot be audited, or a value is given for an argument that no module has.
    """
    auditor = Auditor(reading, explains=False)
    concluded = auditor.once(dump, modules, _nameless_kernels)
    name = dump.source.name
    kernels, worst = _ranked((module, brief.placed(name, module)) for module, brief in concluded)
    auditor.check_given()
    return ManyModules(kernels, tuple(Auditor(reading).audits(dump, iter(worst))))


def _ranked(entries: Iterable[tuple[T, Sequence[Kernel]]]) -> tuple[list[Kernel], list[T]]:
    """Return all kernels and the entries with the worst of them, both the worst first."""
    kernels: list[Kernel] = []
    numbers = count()

    def ranked() -> Iterator[tuple[tuple[object, ...], int, T]]:
        for entry, lines in entries:
            kernels.extend(lines)
            if lines:
                yield min(line.rank for line in lines), next(numbers), entry

    worst = [entry for _, _, entry in nsmallest(WORST, ranked())]
    return _worst_first(kernels), worst


def large_in_brief(dump: Dump, reading: Reading) -> ManyModules | None:
    """Summarize the modules of a large dump with several processes; None if one has to audit them.

    That holds for small dumps, for those with a compilation in several pieces, and where only one
    process can run.

    Args:
        dump: the dump.
        reading: how it is read and audited.

    Raises:
        LayoutError: it cannot be audited, or a value is given for an argument that no module has.
    """
    processes = min(processors(), MOST_PROCESSES, len(dump.pieces))
    if processes < 2 or not all(piece.is_separate for piece in dump.pieces):
        return None
    pieces = _audited(dump, reading, processes)
    if sum(part.audited for part in pieces) <= FEW:
        return None
    if reading.given is not None:
        check_names(reading.given, [name for part in pieces for name in part.arguments])
    kernels = _worst_first(kernel for part in pieces for kernel in part.kernels)
    lines = list(dict.fromkeys(kernel.line for kernel in kernels))[:WORST]
    firsts = [*accumulate((part.modules for part in pieces), initial=1)]
    worst = tuple(_audit_at(line, dump, firsts, reading) for line in lines)
    return ManyModules(kernels, worst)


def _audited(dump: Dump, reading: Reading, processes: int) -> list[PieceKernels]:
    """Return the kernels of each piece.

    Raises:
        LayoutError: one cannot be audited.
    """
    pieces, read = dump.pieces, 0
    kernels_by_piece: list[PieceKernels] = []
    results = results_of(
        pieces, _piece_reader, reading._replace(progress=silent), dump.known, processes=processes
    )
    with results as answers, reading.progress(sum(piece.size for piece in pieces)) as show:
        for piece, kernels in zip(pieces, answers):
            kernels_by_piece.append(kernels)
            read += piece.size
            show(read)
    return kernels_by_piece


def _audit_at(line: int, dump: Dump, firsts: Sequence[int], reading: Reading) -> Audit:
    """Return the audit of the module that begins on a line.

    Args:
        line: the line of the dump.
        dump: the dump in pieces.
        firsts: the number of the first module of each piece.
        reading: how it is read.
    """
    at = bisect_right(dump.pieces, line, key=lambda part: part.first_line) - 1
    piece = _dump_of(dump.pieces[at], dump.known)
    auditor = Auditor(reading._replace(progress=silent))
    modules = chosen_modules(piece.modules_of_part(reading, auditor.interner), firsts[at])
    return next(auditor.audits(piece, (module for module in modules if module.line == line)))


def _dump_of(piece: Piece, known: KernelMetadata) -> Dump:
    """Return a piece of a dump as a dump of its own."""
    return Dump(piece.read(), known=known, pieces=(piece,))


def _piece_reader(reading: Reading, known: KernelMetadata) -> Callable[[Piece], PieceKernels]:
    """Return a function that audits pieces one by one, with work shared between them."""
    auditor = Auditor(reading, explains=False, keeps_text=False)

    def read(piece: Piece) -> PieceKernels:
        dump, numbers = _dump_of(piece, known), count()
        modules = dump.modules_of_part(reading, auditor.interner)
        counted = (module for module, _ in zip(modules, numbers))
        kernels: list[Kernel] = []
        arguments: dict[str, None] = {}
        audited = 0
        concluded = auditor.once(dump, chosen_modules(counted), _nameless_kernels)
        for module, brief in concluded:
            arguments.update(dict.fromkeys(brief.arguments))
            kernels += brief.placed(piece.file, module)
            audited += 1
        return PieceKernels(tuple(kernels), audited, next(numbers), tuple(arguments))

    return read


def _in_brief(kernel: Kernel) -> Kernel:
    """Return the overview line of a kernel."""
    settled = kernel.settled(has_bounds=False)
    # the worst finding, without its message, which may name a line
    worst = tuple(finding._replace(message="") for finding in settled.finding_lines[:1])
    return settled.with_values(text="", signature="", finding_lines=worst)


def _nameless_kernels(audit: Audit) -> NamelessKernels:
    """Return the overview lines of a module's kernels."""
    numbers: dict[str | None, int] = {
        function.name: number for number, function in enumerate(audit.module.functions)
    }
    kernels = kernels_of(audit)
    functions = [
        numbers.get(kernel.symbol) if kernel.launched_as is None else None for kernel in kernels
    ]
    return NamelessKernels([_in_brief(kernel) for kernel in kernels], functions, audit.arguments)


def _worst_first(kernels: Iterable[Kernel]) -> list[Kernel]:
    return sorted(kernels, key=lambda kernel: kernel.rank)
