"""The report of ``tt-layout audit``: the faults of a dump's kernels, and their operations."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from shlex import quote
from typing import TYPE_CHECKING, Any, Generic

from tt_layout.audit.audit import Audit, audit_module, explained
from tt_layout.audit.kernel import kernels_of
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.passes import PassHistory
from tt_layout.audit.shares import Shares
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.values.given import GivenValues
from tt_layout.dumps.large import FEW, ManyModules, in_brief
from tt_layout.enums import MemorySpace
from tt_layout.folding import fold
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.file_aliases import split_module, whole_modules
from tt_layout.ir.module import Module
from tt_layout.ir.operations import Operation, layout_of
from tt_layout.kernels.metadata import KernelMetadata
from tt_layout.mlir.source import Source
from tt_layout.reports.advice_text import DumpArgument
from tt_layout.reports.allocation import allocation_lines
from tt_layout.reports.audit_data import JSON_VERSION, audit_data
from tt_layout.reports.audit_tables import kernel_lines, layout_lines
from tt_layout.reports.findings_report import whole_kernels
from tt_layout.reports.first_screen import SCREEN, WIDTH, first_screen
from tt_layout.reports.fitted import Fitted, Paragraph
from tt_layout.reports.kernel_overview import KernelOverview
from tt_layout.reports.pass_tables import history_data, module_lines
from tt_layout.reports.printed import Printed
from tt_layout.reports.program_source import ANYWHERE, ProgramSource
from tt_layout.reports.report import GAP, Line
from tt_layout.safe_text import safe
from tt_layout.wording import count

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from tt_layout.reports.measured import Measurements

    Audits = TypeVar("Audits", bound=Iterable[Audit], default=Iterable[Audit], covariant=True)
else:  # defaults of type variables are of Python 3.13
    from typing import TypeVar

    Audits = TypeVar("Audits", covariant=True)


@dataclass(frozen=True, repr=False, eq=False)
class AuditReport(Printed, Generic[Audits]):
    """The audits of a dump's modules.

    Attributes:
        file: the name of the dump.
        audits: one for each module, perhaps made as they are asked for.
        is_whole: whether everything is shown: tables, index and mask types, every finding.
        has_tables: whether tables are shown below the first screen.
        histories: of each compilation of a dump of passes, asked for after the audits.
        lists_passes: whether each of their modules has a line of its own.
        hint: the last line, for a reader at a terminal; None for none.
        brief: many modules that were audited already, in place of audits; None for none.
        top: how many kernels of many modules are listed; None for all.
        by_line: whether data movements stand in the order of the text.
        program: where the lines of the user's program are found.
        measured: what Nsight Compute counted; None without it.
        argument: the dump as a command line names and reads it; None where ``tt-layout apply``
            takes none.
    """

    file: str
    audits: Audits
    is_whole: bool = False
    by_line: bool = True
    program: ProgramSource = ANYWHERE
    measured: Measurements | None = None
    has_tables: bool = False
    histories: Iterable[PassHistory] = ()
    lists_passes: bool = False
    hint: str | None = None
    top: int | None = None
    brief: ManyModules | None = None
    argument: DumpArgument | None = None

    def __eq__(self, other: object) -> bool:
        """Tell whether another report says the same."""
        if not isinstance(other, AuditReport):
            return NotImplemented
        are_kept = isinstance(self.audits, Sequence) and isinstance(other.audits, Sequence)
        return self is other or (are_kept and self.data() == other.data())

    def __hash__(self) -> int:
        """Number reports, those with equal texts alike."""
        return hash(self.file)

    def __reduce__(self) -> tuple[Any, ...]:
        """Cross processes as the dump and the values: the other side audits it again."""
        audits = tuple(self.audits)
        lines = tuple(audit.module.line for audit in audits)
        audited = audits[0].audited
        values = audited.given if audited is not None else GivenValues()
        values = GivenValues(dict(values.values), values.product)
        return _audit_again, (self.file, audits[0].module.source, lines, values, audits[0].known)

    @property
    def whole(self) -> AuditReport[Audits]:
        """The report that shows everything: each finding, all tables, index and mask types."""
        return replace(self, is_whole=True)

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the lines and tables of every module, or of the worst of many."""
        if self.brief is not None:
            yield from self._in_brief(self.brief)
            yield from self._last
            return
        audits = iter(self.audits)
        first = deque(islice(audits, FEW + 1))
        rest = chain((first.popleft() for _ in range(len(first))), audits)
        if len(first) > FEW and not self._shows_each:
            yield from self._in_brief(in_brief(self.file, rest))
        else:
            yield from self._each(rest)
            for history in self.histories:
                yield Line()
                yield from module_lines(history, is_whole=self.lists_passes)
        yield from self._last

    @property
    def _shows_each(self) -> bool:
        """Whether more is asked for than the first screens."""
        shows_more = self.is_whole or self.has_tables or self.lists_passes
        return shows_more or self.measured is not None

    def _in_brief(self, modules: ManyModules) -> Iterator[Line | Fitted]:
        """Yield a line for each kernel of many modules, and the worst modules below."""
        yield from KernelOverview(modules.kernels, (), self.top).lines()
        yield Line()
        yield from self._each(modules.worst)

    def _each(self, audits: Iterable[Audit]) -> Iterator[Line | Fitted]:
        """Yield the lines and tables of modules, an empty line between them."""
        waiting = iter(audits)
        first = [*islice(waiting, 2)]
        dump = self.argument
        for number, audit in enumerate(chain(first, waiting)):
            if number:
                yield Line()
            is_one = len(first) == 1
            if dump is not None and not is_one:
                dump = dump._replace(file=f"{self.file}:{audit.module.line}")
            yield from self._module_lines(audit, dump)

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/audit-json.md``."""
        modules: Iterable[dict[str, Any]] = map(self._module_data, self.audits)
        if isinstance(self.audits, Sequence):  # else they are written one by one
            modules = list(modules)
        data = {"version": JSON_VERSION, "file": self.file, "modules": modules}
        if self.histories:
            passes = map(history_data, self.histories)
            data["passes"] = list(passes) if isinstance(self.audits, Sequence) else passes
        return data

    @property
    def _last(self) -> list[Line]:
        return [Line(safe(self.hint))] if self.hint is not None else []

    def _shares(self, audit: Audit) -> Shares:
        return Shares(audit, self.measured.launched() if self.measured is not None else None)

    def _module_data(self, audit: Audit) -> dict[str, Any]:
        """Return one module; with what was measured, where anything was."""
        audit = explained(audit)
        data = audit_data(audit, self._shares(audit))
        if self.measured is not None:
            from tt_layout.reports.measured import measured_data

            data["measured"] = measured_data(self.measured.of(audit))
        return data

    @property
    def _hint_lines(self) -> int:
        """The lines that a hint takes, which a pipe does not have: it says the same otherwise."""
        return _height(page_command(self.file))

    def _module_lines(self, audit: Audit, dump: DumpArgument | None) -> Iterator[Line | Fitted]:
        """Yield the lines and tables of one module, which ``tt-layout apply`` takes as a dump."""
        audit = explained(audit)
        adviser = Adviser(audit, self._shares(audit))
        kernels = kernels_of(adviser)
        yield from (top := [*heading(audit.module, self.file, *audit.notes_above)])
        if self.is_whole:
            yield from whole_kernels(kernels, adviser, self.program, dump)
        else:
            used = sum(_height(line.text) for line in top) + self._hint_lines
            room = SCREEN * max(1, len(kernels)) - used
            yield from first_screen(kernels, adviser, self.program, room, dump)
        if self.measured is not None:
            from tt_layout.reports.measured import measured_lines

            yield from measured_lines(self.measured.of(audit))
        if self.has_tables or self.is_whole:
            yield from self._tables(audit)

    def _tables(self, audit: Audit) -> Iterator[Line | Fitted]:
        """Yield the tables of one module."""
        yield Line()
        yield from target_line(audit.module)
        yield from kernel_lines(audit, by_line=self.by_line)
        for function, at in audit.load_chains:
            text = f"@{function} loads numbers each of which waits for the last: lines"
            yield Paragraph(safe(f"{text} {' -> '.join(map(str, at))}"), indent=4)
        yield from allocation_lines(audit)
        yield from layout_lines(audit, is_whole=self.is_whole)


def heading(module: Module, file: str, *notes: str) -> Iterator[Line]:
    """Yield the lines above a module: where it is, and what is to be said of it first."""
    of_pass = f", {module.stage} {module.pass_name}" if module.pass_name is not None else ""
    yield Line(safe(f"{file}:{module.line}{of_pass}"))
    if module.choice is not None:
        which = f"module {module.choice.number} of {module.choice.last}"
        yield Line(f"{GAP}{which}: the last before the conversion to LLVM whose loops are known")
    for note in notes:
        yield Line(GAP + safe(note))


def _height(text: str) -> int:
    """Return the lines that a text takes on a terminal of the least width."""
    return fold(text, WIDTH).count("\n") + 1


def page_command(file: str) -> str:
    """Return the command that makes the page of a dump.

    Example:
        >>> page_command("dumps/k.ttgir@2")
        'as a page: tt-layout page dumps/k.ttgir@2 -o k.html'
    """
    stem = os.path.splitext(os.path.basename(split_module(file).path))[0]
    return f"as a page: tt-layout page {quote(file)} -o {quote(stem)}.html"


def target_line(module: Module) -> Iterator[Line]:
    """Yield a module's own attributes."""
    facts = [f"target {module.target}"] if module.target is not None else []
    for attribute, unit in (("num-warps", "warp"), ("threads-per-warp", "thread")):
        number = module.number(attribute)
        if number is not None:
            facts.append(f"{count(number, unit)}{' per warp' * (unit == 'thread')}")
    ctas, shared = module.number("num-ctas"), module.number("shared")
    facts += [count(ctas, "CTA")] if ctas is not None else []
    facts += [f"{shared} bytes of shared memory"] if shared is not None else []
    if facts:
        yield Line(GAP + ", ".join(facts))


def or_dash(number: int | None) -> str:
    """Return a number, or a dash where there is none."""
    return "-" if number is None else str(number)


def ends_of(operation: Operation) -> list[str]:
    """Return the subject of a movement, its source and its destination."""
    moved = operation.moved or operation.target
    bare = safe(moved.bare) if moved is not None else "-"
    if operation.group is MovementKind.ALLOCATION:
        return [bare, "-", safe(layout_of(operation.target))]
    source = layout_of(operation.source)
    if operation.group is MovementKind.COPY_IN and operation.source is not None:
        source = f"{MemorySpace.GLOBAL} by {source}"
    return [bare, safe(source), safe(layout_of(operation.target))]


def _audit_again(
    name: str,
    source: Source,
    lines: Sequence[int],
    given: GivenValues,
    known: KernelMetadata,
) -> AuditReport:
    """Return the report of a dump's modules that begin on some lines, in another process."""
    shared = SharedWork()
    modules = whole_modules(source, None, None, is_partial=True)
    audits = [
        audit_module(module, shared, given, known) for module in modules if module.line in lines
    ]
    return AuditReport(name, tuple(audits))
