"""The report of ``tt-layout audit``: the findings of a dump's kernels, and their tables."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from shlex import quote
from typing import TYPE_CHECKING, Any, Generic

from tt_layout.audit.audit import Audit, audit_module, explained
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.kernel import kernels_of
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.modules.layouts import LayoutRow
from tt_layout.audit.operations.multiplications import Multiplication
from tt_layout.audit.passes import PassHistory
from tt_layout.audit.shares import Shares
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.values.executions import UNPLACED, Executions
from tt_layout.audit.values.given import GivenValues
from tt_layout.audit.values.structure import LoopStage
from tt_layout.dumps.large import FEW, ManyModules, audits_in_brief
from tt_layout.enums import MemorySpace
from tt_layout.folding import fold
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.file_aliases import split_module, whole_modules
from tt_layout.ir.module import Module
from tt_layout.ir.operations import Location, MovementOperation, layout_of
from tt_layout.ir.short_names import short_layout, short_operation, short_type
from tt_layout.kernels.metadata import KernelMetadata
from tt_layout.mlir.source import Source
from tt_layout.records import dataclass
from tt_layout.reports.advice_text import DumpArgument
from tt_layout.reports.allocation import allocation_lines
from tt_layout.reports.audit_data import JSON_VERSION, audit_data
from tt_layout.reports.findings_report import whole_kernels
from tt_layout.reports.first_screen import SCREEN, WIDTH, first_screen
from tt_layout.reports.fitted import Fitted, Paragraph, Table
from tt_layout.reports.kernel_overview import KernelOverview
from tt_layout.reports.pass_tables import history_data, module_lines
from tt_layout.reports.printed import Printed
from tt_layout.reports.program_source import ANYWHERE, ProgramSource
from tt_layout.reports.report import GAP, Line
from tt_layout.safe_text import safe
from tt_layout.surface import everything, values_of
from tt_layout.wording import count, plural

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from tt_layout.reports.measured import Measurements

    Audits = TypeVar("Audits", bound=Iterable[Audit], default=Iterable[Audit], covariant=True)
else:  # defaults of type variables are of Python 3.13
    from typing import TypeVar

    Audits = TypeVar("Audits", covariant=True)

SPARE = ("kind", "warps", "uses")
"""Columns that are left out on a narrow terminal; the layout's name and attribute tell the kind."""

_INTEGERS = ("i1", "i8", "i16", "i32", "i64", "index")

_BESIDE_LOOPS = {
    LoopStage.BODY: "loop",
    LoopStage.PROLOGUE: "before the loop",
    LoopStage.EPILOGUE: "after the loop",
}


@dataclass(frozen=True, repr=False, eq=False)
class AuditReport(Printed, Generic[Audits]):
    """The audits of a dump's modules.

    Attributes:
        file: the name of the dump.
        audits: one for each module, possibly made on demand.
        is_whole: whether all tables, index and mask types, and findings are shown.
        has_tables: whether tables are shown below the first screen.
        histories: one for each compilation in a dump of passes, requested after the audits.
        lists_passes: whether each of their modules has a line of its own.
        hint: the last line, for a reader at a terminal; None for none.
        brief: many modules that were already audited, in place of audits; None for none.
        top: how many kernels of many modules are listed; None for all.
        by_line: whether data movements are in the order of the text.
        program: where the lines of the user's program are found.
        measured: counters of Nsight Compute; None without them.
        argument: the dump as a command line names and reads it; None if ``tt-layout apply`` does
            not take it.
        modules: plain data of the modules, made one by one; None if it is made from the audits.
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
    modules: Iterator[dict[str, Any]] | None = None

    def __eq__(self, other: object) -> bool:
        """Tell whether another report has the same data."""
        if not isinstance(other, AuditReport):
            return NotImplemented
        are_kept = isinstance(self.audits, Sequence) and isinstance(other.audits, Sequence)
        return self is other or (are_kept and self.data() == other.data())

    def __hash__(self) -> int:
        """Return a hash of the dump's name: equal reports have equal names."""
        return hash(self.file)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the dump and the values; unpickling audits it again."""
        audits = tuple(self.audits)
        lines = tuple(audit.module.line for audit in audits)
        values = audits[0].audited.given
        values = GivenValues(dict(values.values), values.product)
        return _audit_again, (self.file, audits[0].module.source, lines, values, audits[0].known)

    @property
    def whole(self) -> AuditReport[Audits]:
        """The report with all findings, tables, and index and mask types."""
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
            yield from self._in_brief(audits_in_brief(self.file, rest))
        else:
            yield from self._each(rest)
            for history in self.histories:
                yield Line()
                yield from module_lines(history, is_whole=self.lists_passes)
        yield from self._last

    @property
    def _shows_each(self) -> bool:
        """Whether more than the first screens is shown."""
        shows_more = self.is_whole or self.has_tables or self.lists_passes
        return shows_more or self.measured is not None

    def _in_brief(self, modules: ManyModules) -> Iterator[Line | Fitted]:
        """Yield a line for each kernel of many modules, then the worst modules."""
        yield from KernelOverview(modules.kernels, (), self.top).lines()
        yield Line()
        yield from self._each(modules.worst)

    def _each(self, audits: Iterable[Audit]) -> Iterator[Line | Fitted]:
        """Yield the lines and tables of modules, separated by empty lines."""
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
        if self.modules is not None:
            modules = self.modules
        elif isinstance(self.audits, Sequence):  # else they are written one by one
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
        """Return one module as plain data, with its measured counters if there are any."""
        audit = explained(audit)
        data = audit_data(audit, self._shares(audit))
        if self.measured is not None:
            from tt_layout.reports.measured import measured_data

            data["measured"] = measured_data(self.measured.of(audit))
        return data

    @property
    def _hint_lines(self) -> int:
        """Lines of a terminal's hint, reserved in a pipe, too, so that both print the same."""
        return _height(page_command(self.file))

    def _module_lines(self, audit: Audit, dump: DumpArgument | None) -> Iterator[Line | Fitted]:
        """Yield the lines and tables of one module."""
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
            text = f"@{function} loads numbers that wait for each other: lines"
            yield Paragraph(safe(f"{text} {' -> '.join(map(str, at))}"), indent=4)
        yield from allocation_lines(audit)
        yield from layout_lines(audit, is_whole=self.is_whole)


def heading(module: Module, file: str, *notes: str) -> Iterator[Line]:
    """Yield the lines above a module: its location, what of it was not read, and notes."""
    of_pass = f", {module.stage} {module.pass_name}" if module.pass_name is not None else ""
    yield Line(safe(f"{file}:{module.line}{of_pass}"))
    if module.choice is not None:
        which = f"module {module.choice.number} of {module.choice.last}"
        yield Line(f"{GAP}{which}: the last before the conversion to LLVM whose loops are known")
    if module.error is not None:
        notes = (f"not all of it was read: {module.error.message}", *notes)
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
            facts.append(f"{count(number, unit)}{' per warp' if unit == 'thread' else ''}")
    ctas, shared = module.number("num-ctas"), module.number("shared")
    facts += [count(ctas, "CTA")] if ctas is not None else []
    facts += [f"{shared} bytes of shared memory"] if shared is not None else []
    if facts:
        yield Line(GAP + ", ".join(facts))


def or_dash(number: int | None) -> str:
    """Return a number, or a dash where there is none."""
    return "-" if number is None else str(number)


def ends_of(operation: MovementOperation) -> list[str]:
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
    """Unpickle a report: audit the modules of a dump that begin on the given lines."""
    shared = SharedWork()
    modules = whole_modules(source, None, None, is_partial=True)
    audits = [
        audit_module(module, shared, given, known) for module in modules if module.line in lines
    ]
    return AuditReport(name, tuple(audits))


# -- layouts ---------------------------------------------------------------------------------------


def layout_lines(audit: Audit, *, is_whole: bool) -> Iterator[Line | Fitted]:
    """Yield the table of a module's layouts."""
    if not audit.layouts:
        return
    ends = (end for row in audit.movements for end in (row.operation.source, row.operation.target))
    data = {(end.layout or "", end.bare) for end in ends if end is not None}
    for product in audit.multiplications:
        data |= {(str(end.encoding), end.element) for end in (product.a, product.b, product.d)}
    shown = [row for row in audit.layouts if is_whole or not _is_index(row, data)]
    yield Line()
    yield Line("layouts")
    if shown:
        yield _layout_table(shown)
    folded = len(audit.layouts) - len(shown)
    if folded:
        types = f"{count(folded, 'type')} of indices, pointers and masks"
        yield Paragraph(
            f"and {types}: {everything()} lists {'them' if folded != 1 else 'it'}", "  ", 2
        )


def _is_index(row: LayoutRow, data: set[tuple[str, str]]) -> bool:
    """Tell whether a type holds pointers, or integers that are never data."""
    if row.error is not None or "!tt.ptr<" in row.type:
        return row.error is None
    element = row.type.partition("<")[2].rpartition(">")[0].partition(" of ")[0].rpartition("x")[2]
    is_moved = (row.layout, row.type) in data or (row.attribute, element) in data
    return element in _INTEGERS and not is_moved


def _layout_table(rows: Sequence[LayoutRow]) -> Table:
    header = ["layout", "kind", "on", "uses", "registers", "contiguous", "replication", "warps"]
    cells = [_layout_cells(row) for row in rows]
    colours = {at: "red" for at, row in enumerate(rows) if row.error is not None}
    return Table(header, cells, ["uses", "registers", "warps"], colours, spare=SPARE)


def _layout_cells(row: LayoutRow) -> list[str]:
    # The layout implies "tensor" or "memdesc".
    bare = row.type.removeprefix("tensor<").removeprefix("memdesc<").removesuffix(">")
    cells = [short_layout(row.layout), row.kind or "?", safe(bare), str(row.uses)]
    if row.kind == "" or row.error is not None:
        return cells + ["?"] * 4
    return [
        *cells,
        or_dash(row.registers),
        "x".join(str(count) for count in row.contiguity) if row.contiguity else "-",
        " ".join(f"{dim}:{count}" for dim, count in row.replication) or "-",
        or_dash(row.size("warp")),
    ]


# -- data movements and multiplications ------------------------------------------------------------


def kernel_lines(audit: Audit, *, by_line: bool) -> Iterator[Line | Fitted]:
    """Yield the tables of every kernel of a module."""
    names = [row.operation.function for row in audit.movements]
    names += [product.function for product in audit.multiplications]
    for function in dict.fromkeys(names):
        of = f" of @{safe(function)}" if function is not None else ""
        rows = audit.movements_of(function)
        if rows:
            yield from _section(f"data movements{of}", _movement_table(audit, rows, by_line))
        products = audit.products_of(function)
        if products:
            yield from _section(f"multiplications{of}", _multiplication_table(products))
        yield from _intensity(audit, function)
        if rows:
            yield from _section(f"totals{of}", _totals(audit, function))


def _section(title: str, element: Fitted) -> Iterator[Line | Fitted]:
    """Yield a title and what is below it."""
    yield Line()
    yield Line(title)
    yield element


def _intensity(audit: Audit, function: str | None) -> Iterator[Fitted]:
    intensity = audit.intensity_of(function)
    if intensity is not None and intensity.flops_per_byte is not None:
        flops, size = count(intensity.flops or 0, "FLOP"), intensity.global_bytes or 0
        counts = f"{flops} for {count(size, 'byte')} of global memory"
        per_byte = f"{intensity.flops_per_byte:.1f} FLOPs per byte"
        yield Paragraph(f"{counts} in one program: {per_byte}", GAP, len(GAP))


# -- data movements ---------------------------------------------------------------------------


def _movement_table(audit: Audit, rows: Sequence[MovementRow], by_line: bool) -> Table:
    """Return the table of data movements; by line, with a heading above those of each loop."""
    file, places = _places([row.operation.location for row in rows])
    header = ["line", file, "operation", "of", "from -> to", "runs", "cost"]
    wrong = {f.line: "red" if f.is_error else "yellow" for f in audit.findings}
    cells: list[Sequence[str] | str] = []
    colours: dict[int, str] = {}
    last: tuple[object, ...] | None = None
    for row, place in zip(rows, places):
        heading = _loop_heading(row.executions)
        loop = row.executions.loop
        key = (loop, row.executions.text)
        if by_line and key != last:
            last = key
            cells += [heading] if heading else []
        if row.operation.line in wrong:
            colours[len(cells)] = wrong[row.operation.line]
        mark = "| " if by_line and loop is not None and loop.is_body else ""
        cells.append(
            [
                f"{mark}{row.operation.line}",
                place,
                short_operation(row.operation.name),
                short_type(row.operation.moved or row.operation.target),
                _ends(row.operation),
                runs(row.executions),
                cost_text(row),
            ]
        )
    table = Table(header, cells, ["line"], colours, has_tail=True)
    hidden = ["runs"] if by_line or not any(map(is_repeated, rows)) else []
    if not any(places):
        hidden.append(file)
    return table.without(*hidden)


def _places(locations: Sequence[Location | None]) -> tuple[str, list[str]]:
    """Return the heading and the cells of the column of locations.

    A file common to all is the heading; several lose their folders where that is unambiguous.
    """
    files = {location.file for location in locations if location is not None}
    if len(files) == 1:
        name = safe(os.path.basename(files.pop()))
        return name or "at", [f"{p.line}:{p.column}" if p is not None else "" for p in locations]
    names = {file: os.path.basename(file) or file for file in files}
    if len({*names.values()}) < len(files):
        names = {file: file for file in files}
    shown = (p._replace(file=names[p.file]) if p is not None else None for p in locations)
    return "location", [safe(str(place)) if place is not None else "" for place in shown]


def _loop_heading(executions: Executions) -> str:
    """Return the heading of data movements that run equally often; empty for once."""
    loop = executions.loop
    if loop is None:
        return _times(executions) if _is_repeated(executions) else ""
    times = f", {_times(executions)}" if not executions.is_once else ""
    return f"{_BESIDE_LOOPS[loop.part]} of line {loop.line}{times}"


def _times(executions: Executions) -> str:
    """Return how often an operation runs, and in which programs."""
    text, number = executions.text, executions.number
    number = executions.first if number is None else number
    if executions.is_unknown:
        return executions.times
    equals = f" = {number}" if number is not None and text != str(number) else ""
    times = f"{text}{equals} {plural('time', text in ('1', 'at most 1'))}"
    if number is None or not executions.programs:
        return times
    options = values_of(executions.programs)
    return f"{times} in program 0; another with {options}"


def is_repeated(row: MovementRow) -> bool:
    """Return whether an operation is inside, before or after a loop, or may not run."""
    return row.executions.loop is not None or _is_repeated(row.executions)


def _is_repeated(executions: Executions) -> bool:
    return not executions.is_once and executions != UNPLACED


def runs(executions: Executions) -> str:
    """Return how often an operation runs, and whether that is before or after the loop."""
    text, number, loop = executions.text, executions.number, executions.loop
    if number is not None and text != str(number):
        text += f" = {number}"
    return f"{text}, {loop.part}" if loop is not None and not loop.is_body else text


def cost_text(row: MovementRow) -> str:
    """Format the cost of a data movement, or the reason why it is not known."""
    if row.cost is not None:
        return row.cost.text
    return f"n/a ({safe(row.cost_unknown)})" if row.cost_unknown is not None else "-"


def _ends(operation: MovementOperation) -> str:
    """Return the source and the destination of a movement, for a cell."""
    target = short_layout(layout_of(operation.target)).replace(MemorySpace.GLOBAL, "global")
    if operation.group is MovementKind.ALLOCATION:
        return target
    source = short_layout(layout_of(operation.source)).replace(MemorySpace.GLOBAL, "global")
    if operation.group is MovementKind.COPY_IN and operation.source is not None:
        source = f"global by {source}"
    return f"{source} -> {target}"


# -- multiplications and totals ---------------------------------------------------------------


def _multiplication_table(products: Sequence[Multiplication]) -> Table:
    file, places = _places([product.location for product in products])
    header = ["line", file, "operation", "of", "A", "B", "FLOPs", "runs", "instructions"]
    rows = [_multiplication_cells(product, place) for product, place in zip(products, places)]
    table = Table(header, rows, ["line", "FLOPs"], has_tail=True)
    is_once = all(
        product.executions.is_once and product.executions.loop is None for product in products
    )
    hidden = ["runs"] if is_once else []
    if not any(places):
        hidden.append(file)
    return table.without(*hidden)


def _multiplication_cells(product: Multiplication, place: str) -> list[str]:
    instruction, fma = product.instruction, product.fma
    without = fma.text if fma is not None else "-"
    return [
        str(product.line),
        place,
        short_operation(product.name),
        safe(product.text),
        product.a.where.removesuffix(" memory"),
        product.b.where.removesuffix(" memory"),
        str(product.flops),
        runs(product.executions),
        f"{instruction.instructions} x {instruction.name} per {instruction.issuer}"
        if instruction is not None
        else without,
    ]


def _totals(audit: Audit, function: str | None) -> Table:
    """Return the cycles of one program by operation, with their shares, the largest first."""
    totals = audit.totals_of(function)
    cycles = sum(total.cycles for total in totals)
    costed = {
        row.operation.name.rpartition(".")[2]
        for row in audit.movements_of(function)
        if not row.has_unknown_cost
    }
    rows = [
        [
            total.operation,
            str(total.count),
            f"{total.cycles:.0f}" if total.operation in costed else "n/a",
            f"{100 * total.cycles / cycles:.0f} %" if cycles and total.operation in costed else "-",
        ]
        for total in sorted(totals, key=lambda total: -total.cycles)
    ]
    header = ["operation", "count", "cycles", "share"]
    return Table(header, rows, header[1:])
