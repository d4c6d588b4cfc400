"""A piece of a dump that can be read on its own: modules under one header.

A header of a pass, or a split, ends the scope of all names.  A piece is read and audited on demand,
and again only when its own text changes; its lines count from the first of the piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from threading import Lock

from tt_layout.audit.audit import STEP, Audit, audit_of
from tt_layout.audit.findings import Finding, Judgement, Urgency
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation, SharedWork
from tt_layout.audit.shares import Shares
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.enums import TextEnum
from tt_layout.errors import LayoutError
from tt_layout.grouping import grouped
from tt_layout.ir.reader import iterate_ir
from tt_layout.ir.scope import Interner
from tt_layout.ir.tokens import ENDS
from tt_layout.mlir.source import Source, UnplacedLine, in_file, unmarked
from tt_layout.reports.advice_text import note_message
from tt_layout.reports.explanation import Explainer
from tt_layout.tuples import NamedTuple

LARGE = 100_000
"""Characters of a piece from which on it is not answered about as a whole at once."""

STEP_LINES = 30
"""Lines that are diagnosed first before another question may be answered."""

MAX_AHEAD = 16
"""Findings of a module on which advice is looked for before anybody asks."""

MAX_KNOWN = 64
"""Pieces after which what is known of layouts is forgotten, so that no old text is kept."""


class Severity(TextEnum):
    """Severity of a diagnosis."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Diagnosis(NamedTuple):
    """A message at a line of a dump.

    Attributes:
        line: the line, from 1.
        name: the subject as written in the line.
        message: one sentence.
        kind: kind of the finding; ``text`` for text that cannot be read.
        severity: its severity.
    """

    line: int
    name: str
    message: str
    kind: str
    severity: Severity


class PieceCache:
    """Cache shared by the pieces of a dump.

    Attributes:
        read: number of pieces read and audited.
        reading: lock held while a piece is read, since lines of other pieces are shared.
    """

    def __init__(self) -> None:
        self.read = 0
        self.reading = Lock()
        self._renew()

    def _renew(self) -> None:
        self._work, self.interner = SharedWork(), Interner(None)

    def work(self) -> SharedWork:
        """Return the shared work of the next piece: layouts, lines and costs, no conclusions."""
        self.read += 1
        if self.read % MAX_KNOWN == 0:
            self._renew()
        work = SharedWork()
        work.layouts, work.reader = self._work.layouts, self._work.reader.of_lines()
        work.prices = self._work.prices
        return work


class EditedPiece:
    """A piece of a dump.

    Args:
        text: the text of the piece.
        cache: shared with other pieces.
    """

    def __init__(self, text: str, cache: PieceCache) -> None:
        self.text = text
        self._cache = cache
        self._diagnoses: tuple[Diagnosis, ...] | None = None
        self._placed: tuple[int, tuple[Diagnosis, ...]] | None = None
        self._advisers: dict[int, Adviser] = {}
        self._explainers: dict[int, Explainer] = {}

    @property
    def is_large(self) -> bool:
        """Whether its full diagnosis takes long."""
        return len(self.text) > LARGE

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.text.split("\n")

    def line(self, number: int) -> str:
        """Return a line by its number from 1; empty beyond the last."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    @property
    def modules(self) -> tuple[AuditedModule, ...]:
        """Its modules, read but not yet audited: their types, layouts and values.

        Raises:
            LayoutError: it is nested too deeply.
        """
        with self._cache.reading:
            return self._modules

    @cached_property
    def _modules(self) -> tuple[AuditedModule, ...]:
        work = self._cache.work()
        source = Source(unmarked(self.text), "<dump>", UnplacedLine(1))
        try:
            modules = iterate_ir(source, interner=self._cache.interner)
            read = tuple(AuditedModule(module, work) for module in modules)
            for audited in read:
                audited.functions  # noqa: B018 (read here, once for all threads)
        except RecursionError:
            raise LayoutError("it is nested too deeply") from None
        return read

    @cached_property
    def audits(self) -> tuple[Audit, ...]:
        """The audit of each module, computed on demand.

        Raises:
            LayoutError: it is nested too deeply.
        """
        try:
            return tuple(map(audit_of, self.modules))
        except RecursionError:
            raise LayoutError("it is nested too deeply") from None

    @cached_property
    def is_read(self) -> bool:
        """Whether the piece can be audited."""
        try:
            return bool(self.audits)
        except LayoutError:
            return False

    def module_at(self, line: int) -> AuditedModule | None:
        """Return the module at a line; None if nothing is read."""
        try:
            modules = self.modules
        except LayoutError:
            return None
        before = [audited for audited in modules if audited.module.line <= line]
        return before[-1] if before else next(iter(modules), None)

    def audit_at(self, line: int) -> Audit | None:
        """Return the audit of the module at a line; None if nothing is read."""
        if not self.is_read:
            return None
        before = [audit for audit in self.audits if audit.module.line <= line]
        return before[-1] if before else self.audits[0]

    @cached_property
    def kernels(self) -> Mapping[int, list[Kernel]]:
        """The kernels of all modules by the line of their function."""
        by_line: dict[int, list[Kernel]] = {}
        for audit in self.audits if self.is_read else ():
            lines = {function.name: function.line for function in audit.audited.functions}
            for kernel in kernels_of(audit):
                if kernel.symbol in lines:
                    by_line.setdefault(lines[kernel.symbol], []).append(kernel)
        return by_line

    def kernels_on(self, line: int) -> Sequence[Kernel]:
        """Return the kernels of a line; audit only if it has a function."""
        functions = (each for audited in self.modules for each in audited.functions)
        is_one = any(function.line == line for function in functions)
        return self.kernels.get(line, ()) if is_one else ()

    def adviser(self, audit: Audit) -> Adviser:
        """Return the cached adviser of one of its modules, which keeps its searches."""
        line = audit.module.line
        if line not in self._advisers:
            self._advisers[line] = Adviser(audit)
        return self._advisers[line]

    def explainer(self, audit: Audit) -> Explainer:
        """Return the cached explainer of one of its modules."""
        line = audit.module.line
        if line not in self._explainers:
            self._explainers[line] = Explainer(self.adviser(audit))
        return self._explainers[line]

    # -- what stands on a line --------------------------------------------------------------

    @cached_property
    def operations(self) -> Mapping[int, list[FullOperation]]:
        """The operations of all functions by their lines."""
        audits = self.audits if self.is_read else ()
        operations = (full for audit in audits for full in audit.audited.operations)
        return grouped(operations, lambda full: full.operation.line)

    # -- what is wrong ----------------------------------------------------------------------

    def steps(self) -> Iterator[Sequence[Diagnosis]]:
        """Yield its diagnoses in short steps, between which other questions may be answered.

        Known diagnoses are not repeated; lines count from the first of the piece.
        """
        found = list[Diagnosis]()
        for step in self._steps() if self._diagnoses is None else ():
            found += step
            yield step
        if self._diagnoses is None:
            self._diagnoses = tuple(found)

    def _steps(self) -> Iterator[Sequence[Diagnosis]]:
        try:
            audits = self.audits
        except LayoutError as error:
            yield [Diagnosis(1, "", error.message, "text", Severity.ERROR)]
            return
        for audit in audits:
            yield [*_of_text(audit)]
            for _ in audit.steps():
                yield ()
            said = _of_rules(audit, Judgement(audit.findings, audit.notes), Shares(audit))
            while step := [*islice(said, STEP)]:
                yield step

    def steps_between(self, first: int, last: int, down: int) -> Iterator[list[Diagnosis]]:
        """Yield its diagnoses of some lines, without auditing other lines.

        The share of a finding in its kernel's time would take the whole kernel, so each is a
        warning.  The piece begins ``down`` lines below the top of the dump.
        """
        for audit in self.audits if self.is_read else ():
            yield []  # it is read
            audit.registers  # noqa: B018 (a rule asks for them, whichever lines are meant)
            yield []
            for begin in range(first, last + 1, STEP_LINES):
                lines = range(begin, min(begin + STEP_LINES, last + 1))
                yield _below(_of_rules(audit, audit.found_on(lines), None), down)

    def ahead(self) -> Iterator[tuple[()]]:
        """Search for advice on the first findings of each kind of data movement, one per step.

        The first search of a kind takes a while, even after edits of the text.
        """
        for audit in self.audits if self.is_read else ():
            firsts: dict[object, Finding] = {}
            for finding in audit.findings:
                if finding.movement is not None:
                    operation = finding.movement.operation
                    firsts.setdefault((finding.kind, *operation.types), finding)
            for finding in islice(firsts.values(), MAX_AHEAD):
                self.adviser(audit).best(finding)
                yield ()

    @property
    def is_diagnosed(self) -> bool:
        """Whether its diagnoses are known, so that only their lines may change."""
        return self._diagnoses is not None

    def diagnoses(self, down: int) -> tuple[Diagnosis, ...]:
        """Return its diagnoses if it begins ``down`` lines below the top of the dump."""
        if self._placed is None or self._placed[0] != down:
            for _ in self.steps():
                pass
            self._placed = down, tuple(_below(self._diagnoses or (), down))
        return self._placed[1]


def _below(diagnoses: Iterable[Diagnosis], down: int) -> list[Diagnosis]:
    """Return the diagnoses of a piece that begins ``down`` lines below the top of the dump."""
    return [
        diagnosis._replace(
            line=int(diagnosis.line) + down, message=in_file(diagnosis.message, down)
        )
        for diagnosis in diagnoses
    ]


def _of_text(audit: Audit) -> Iterator[Diagnosis]:
    error = audit.module.error
    if error is not None:
        line = getattr(error.location, "line", None) or audit.module.line
        yield Diagnosis(line, "", error.message, "text", Severity.ERROR)


def _of_rules(audit: Audit, found: Judgement, shares: Shares | None) -> Iterator[Diagnosis]:
    for finding in found.findings:
        what = finding.line, finding.name, finding.message, finding.kind
        if finding.is_error:
            severity = Severity.ERROR
        elif shares is None or finding.urgency != Urgency.CYCLES:
            severity = Severity.WARNING
        else:
            is_small = shares.of(finding.function, finding.weight).is_small
            severity = Severity.NOTE if is_small else Severity.WARNING
        yield Diagnosis(*what, severity)
    adviser = Adviser(audit, shares)
    for note in found.notes:
        finding, message = note.finding, note_message(adviser, note)
        yield Diagnosis(finding.line, finding.name, message, finding.kind, Severity.NOTE)


def cut(text: str) -> list[str]:
    """Cut a dump into pieces that cover it.

    Example:
        >>> cut("module {\\n}\\n// -----\\nmodule {\\n}\\n")
        ['module {\\n}\\n', '// -----\\nmodule {\\n}\\n']
    """
    starts = [0, *(match.start() for match in ENDS.finditer(text) if match.start())]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)])]
