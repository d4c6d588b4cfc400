"""The page of one or two layouts, or of a dump: its layouts, and the report of its kernels.

The report has the findings, data movements and assembly of each module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import PurePath
from typing import Any

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.finding_groups import similar_findings
from tt_layout.audit.findings import Finding
from tt_layout.audit.fits import kernel_fits
from tt_layout.audit.global_memory.first_request import first_request
from tt_layout.audit.kernel import kernel_names, kernels_of
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.passes import pass_history
from tt_layout.audit.registers import live_by_line
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.suggestion import EVERYWHERE
from tt_layout.audit.ties import ties_of
from tt_layout.audit.values.executions import is_in_loop
from tt_layout.audit.values.given import GivenValues, check_names
from tt_layout.encodings import Encoding
from tt_layout.encodings.alias_table import unknown_alias
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.figures.mma import DrawnProduct
from tt_layout.ir.data_movements import GLOBAL_KINDS, MovementKind
from tt_layout.ir.file_aliases import LAST, whole_modules
from tt_layout.ir.module import Module
from tt_layout.ir.operations import layout_of
from tt_layout.ir.passes import PassRun, pass_runs
from tt_layout.ir.reader import check_lines
from tt_layout.ir.types import IRType
from tt_layout.kernels.assembly import MAX_BYTES, ProgramPlace
from tt_layout.kernels.metadata import NO_METADATA, KernelMetadata
from tt_layout.mlir.languages import no_mlir, refuse_other_mlir
from tt_layout.mlir.source import Source
from tt_layout.page import EmbeddedDump, PageLayout, build
from tt_layout.page.kernel_time import times_data, waited_lines
from tt_layout.page.multiplications import check_multiplication, multiplication_data
from tt_layout.placement import PlacedLayout, place
from tt_layout.releases import Release
from tt_layout.reports.advice_text import advice_lines, gain_text, note_message
from tt_layout.reports.audit import AuditReport
from tt_layout.reports.explanation import Explainer
from tt_layout.reports.finding_text import MAX_SHOWN
from tt_layout.reports.first_screen import head_texts
from tt_layout.reports.fits import fit_text
from tt_layout.reports.formats.html import GENERATOR, to_page
from tt_layout.reports.program_source import NO_PROGRAM, ProgramSource
from tt_layout.reports.progress import Watch, unwatched
from tt_layout.safe_text import safe
from tt_layout.surface import PAGE, shown_on
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count

NumberOf = Callable[[IRType | None], "int | None"]
"""Which of the page's layouts a type has; None where the page has none of it."""

CONTEXT = 12
"""Lines of the program above and below one that is shown."""

MAX_FILES = 64
"""Files of the program that lines are taken from."""

MAX_NAME = 64
"""Characters of a layout in a type that a page takes as its name."""

_Key = tuple["str | None", "Encoding | LayoutError | None", str]
"""A layout as written and as read, and the type that it is placed over: an entry of the page."""


def module_data(audit: Audit, number: int, number_of: NumberOf) -> dict[str, Any]:
    """Return the data of a module.

    Args:
        audit: its audit.
        number: its number in the dump, from 1.
        number_of: maps a type to the number of its layout on the page.
    """
    module, adviser = audit.module, Adviser(audit)
    explainer = Explainer(adviser)
    ranks = [(entry.errors, entry.weight * (entry.programs or 1)) for entry in kernels_of(audit)]
    errors, weight = max(ranks, default=(0, 0.0))
    aliases = [module.aliases[name].line for name in module.aliases.attributes()]
    summary = list(audit.notes_above)
    for kernel in kernels_of(adviser):
        verdict, *counts = head_texts(kernel)
        summary += f"{kernel.heading}: {verdict}", "; ".join(counts)
    return {
        "number": number,
        "kernels": kernel_texts(audit),
        "rank": [int(errors > 0), round(weight)],
        "first": min([module.line, *map(module.line_in_source, aliases)]),
        "line": module.line,
        "pass": module.pass_name,
        "stage": module.stage,
        "target": module.target,
        "summary": summary,
        "times": list(times_data(kernels_of(adviser))),
        "fits": list(map(fit_text, kernel_fits(audit.audited, audit.known))),
        "findings": list(_findings(adviser)),
        "notes": [
            {"lines": [note.finding.line], "message": note_message(adviser, note)}
            for note in audit.notes
        ],
        "movements": [_movement(row, audit, number_of, explainer) for row in audit.movements],
        "multiplications": list(_multiplications(audit)),
        "registers": _registers(audit),
        "pressure": "; ".join(entry.text for entry in audit.registers),
    }


def kernel_texts(audit: Audit) -> list[str]:
    """Return the names of a module's kernels."""
    return [f"@{name}" for name in kernel_names(audit) if name is not None]


def _registers(audit: Audit) -> list[tuple[int, int]]:
    """Return the live registers per thread from each line at which their number changes."""
    changes: list[tuple[int, int]] = []
    for line, live in sorted(live_by_line(audit.audited).items()):
        if not changes or changes[-1][1] != live:
            changes.append((line, live))
    return changes


def _multiplications(audit: Audit) -> Iterator[dict[str, Any]]:
    """Yield the multiplications whose matrices can be drawn, each with its line."""
    for entry in audit.multiplications:
        with suppress(LayoutError):
            product = DrawnProduct(
                (entry.a, entry.b, entry.d),
                entry.first,
                entry.title,
                entry.packing,
                entry.scales,
            )
            yield {"line": entry.line, **multiplication_data(product)}


def _findings(adviser: Adviser) -> Iterator[dict[str, Any]]:
    """Yield groups of findings, the most expensive with their remedies."""
    for number, group in enumerate(similar_findings(adviser.audit.findings)):
        first = group[0]
        advice = advice_lines(adviser, first, is_whole=False) if number < MAX_SHOWN else ()
        yield {
            "lines": [entry.line for entry in group],
            "share": gain_text(adviser, group),
            "message": first.problem,
            "kind": first.kind,
            "advice": list(filter(None, advice)),
            "suggested": _suggested(adviser, first) if number < MAX_SHOWN else None,
        }


def _suggested(adviser: Adviser, finding: Finding) -> str | None:
    """Return the layout that all accesses to the shared memory of a finding should have."""
    everywhere = (entry for entry in adviser.suggestions(finding) if entry.where == EVERYWHERE)
    return next((str(entry.encoding) for entry in everywhere), None)


def programs(
    audits: Iterable[Audit], source: ProgramSource, waited: Iterable[tuple[str, int]] = ()
) -> dict[str, list[tuple[int, str]]]:
    """Return the text of the program around the source lines of data movements.

    Only these lines are embedded, so that a file named in a dump does not end up as a whole in a
    page that is passed on.

    Args:
        audits: audits of the modules.
        source: where the files of the program are.
        waited: files and lines of the steps on critical paths, which are also shown.

    Returns:
        File -> its pieces, each as the number of its first line and its text.
    """
    rows = (row.operation.location for audit in audits for row in audit.movements)
    moved = ((location.file, location.line) for location in rows if location is not None)
    numbers: dict[str, set[int]] = {}
    for file, line in chain(moved, waited):
        if file in numbers or len(numbers) < MAX_FILES:
            numbers.setdefault(file, set()).add(line)
    pieces = ((file, _pieces(*source.lines(file), lines)) for file, lines in numbers.items())
    return {file: shown for file, shown in pieces if shown}


def _pieces(first: int, lines: Sequence[str], numbers: Iterable[int]) -> list[tuple[int, str]]:
    """Return lines by number with the lines around them, as far as they exist."""
    pieces: list[tuple[int, str]] = []
    end = 0
    for number in sorted(numbers):
        at = number - first
        if not 0 <= at < len(lines):
            continue
        start, stop = max(at - CONTEXT, end), min(at + CONTEXT + 1, len(lines))
        text = "".join(lines[start:stop])
        if pieces and start == end:
            pieces[-1] = pieces[-1][0], pieces[-1][1] + text
        else:
            pieces.append((start + first, text))
        end = stop
    return [(number, text.removesuffix("\n")) for number, text in pieces]


def _movement(
    row: MovementRow, audit: Audit, number_of: NumberOf, explainer: Explainer
) -> dict[str, Any]:
    operation, cost, executions = row.operation, row.cost, row.executions
    moved, location = operation.moved or operation.target, operation.location
    is_allocation = operation.group is MovementKind.ALLOCATION
    source = None if is_allocation else operation.source
    details = cost.details.data(operation.line) if cost is not None else {}
    request = None  # the first of a global access, if it depends only on arguments
    if operation.group in GLOBAL_KINDS:
        request = first_request(operation, audit.audited, supposes=True)
    full = audit.audited.in_full(operation)
    return {
        "line": operation.line,
        "name": operation.name,
        "group": operation.group,
        "function": operation.function,
        "type": moved.bare if moved is not None else None,
        "from": None if is_allocation and source is None else layout_of(source),
        "to": layout_of(operation.target),
        "layouts": [number_of(source), number_of(operation.target)],
        "bytes": operation.bytes,
        "runs": executions.text,
        "inLoop": is_in_loop(executions),
        "cost": cost.text if cost is not None else None,
        "weight": cost.cycles if cost is not None else 0,
        "cycles": round(row.cycles or 0),
        "facts": {
            name: value
            for name, value in details.items()
            if isinstance(value, (int, str)) and not isinstance(value, bool)
        },
        "location": location._asdict() if location is not None else None,
        "request": request._asdict() if request is not None else None,
        "explained": explainer.explanation(full) if full is not None else (),
    }


# -- assembly --------------------------------------------------------------------------------------


def embedded_assembly(
    audits: Sequence[Audit], modules: Sequence[dict[str, Any]]
) -> dict[str, Any] | None:
    """Return the assembly of a dump, and tie each of its modules to it.

    Args:
        audits: audits of the modules.
        modules: their data, in the same order; tied modules get ``tied``, and their data
            movements ``became``.
    """
    numbers: dict[ProgramPlace, int] = {}
    embedded = None
    for audit, module in zip(audits, modules):
        ties = ties_of(audit)
        if ties is None:
            if (left_out := audit.known.assembly) is not None:
                most = f"{MAX_BYTES >> 20} MiB"
                reason = f"cannot be read, or is more than {most}: the page is without it"
                module["summary"].append(f"{safe(left_out.name)} {reason}")
            continue
        assembly = ties.assembly
        pieces = [
            [piece.first, piece.last, numbers.setdefault(piece.place, len(numbers))]
            for piece in assembly.pieces
        ]
        module["tied"] = {
            line: numbers.setdefault(place, len(numbers)) for line, place in ties.places.items()
        }
        for movement in module["movements"]:
            found = ties.instructions(movement["line"], movement["group"])
            movement["became"] = [[name, len(lines), lines[0]] for name, lines in found]
        registers = audit.known.registers
        spilled = registers.spilled if registers is not None else None
        embedded = {
            "name": safe(assembly.name),
            "text": assembly.text,
            "pieces": pieces,
            "spills": assembly.spills,
            "about": _spills_text(len(assembly.spills), spilled, assembly.name),
        }
    return embedded and embedded | {"places": [list(place) for place in numbers]}


def _spills_text(lines: int, spilled: int | None, name: str) -> str:
    """Return a text on the spilled registers, and their lines."""
    if lines:
        return f"{count(lines, 'line')} spill registers or reload them"
    if not spilled:
        return "no register is spilled" if spilled == 0 else ""
    where = "PTX does not show where: ptxas chooses it" if name.endswith(".ptx") else ""
    return "; ".join(filter(None, [f"{count(spilled, 'register')} spilled", where]))


@shown_on(PAGE)
def page_of(
    named: dict[str, PlacedLayout],
    target: str | None = None,
    *,
    is_multiplied: bool = False,
    operand: str | None = None,
) -> str:
    """Return the page of named layouts; two of them are compared.

    Args:
        named: one layout or two, by name.
        target: the GPU of shared memory.
        is_multiplied: whether the multiplication whose result has the first layout is shown first.
        operand: the element type of its A and B; None for the usual one.

    Raises:
        LayoutError: one is too large for a browser, or there is no such target or multiplication.
    """
    if is_multiplied:
        for placed in named.values():
            check_multiplication(placed, operand)
    layouts = [PageLayout(placed, name) for name, placed in named.items()]
    return build(
        layouts,
        is_pair=len(layouts) == 2,
        target=target,
        is_multiplied=is_multiplied,
        operand=operand,
    )


class DumpPage(NamedTuple):
    """The page of a dump, before it is built.

    Attributes:
        layouts: layouts of the dump, each over the types that it is used with.
        dump: the other data of the dump.
        target: its GPU; None if it names none.
        audits: audits of its modules.
    """

    layouts: Sequence[PageLayout]
    dump: EmbeddedDump
    target: str | None
    audits: Sequence[Audit] = ()

    @property
    @shown_on(PAGE)
    def html(self) -> str:
        """The page; for a dump without any layout, the report of its audit."""
        if not self.layouts:
            report = AuditReport(self.dump.name, self.audits)
            return to_page(self.dump.name, report, GENERATOR)
        return build(self.layouts, title=self.dump.name, dump=self.dump, target=self.target)


@shown_on(PAGE)
def page_of_dump(
    source: Source,
    names: list[str],
    release: Release | None = None,
    number: int | None = None,
    program: ProgramSource = NO_PROGRAM,
    line: int | None = None,
    known: KernelMetadata = NO_METADATA,
    *,
    given: GivenValues | None = None,
    watch: Watch = unwatched,
) -> DumpPage:
    """Return the page of the layouts of a dump, each over the types that it is used with.

    Args:
        source: the dump.
        names: only these aliases; all by default.
        release: the release whose rules hold.
        number: only this module, from 1; all by default.
        program: where the lines of the user's program are found; the source lines of data
            movements are embedded, with lines around them.
        line: the line that the page opens on; None for that of the first finding.
        known: metadata of the compiled kernel.
        given: values of kernel arguments.
        watch: passes the modules through, and may show the progress.

        Raises:
            LayoutError: an alias is wrong or not used, the module, line or argument is missing, or
                the dump is truncated.
    """
    _check_line(source, line)
    refuse_other_mlir(source)
    shared, pages = SharedWork(), []
    missing, unnamed = dict.fromkeys(names), dict[str, None]()
    placed: dict[_Key, _Used] = {}
    runs = _runs(source, release, number)
    for run in watch(runs):
        module = run.chosen
        missing = {name: None for name in missing if name not in module.aliases}
        if missing:
            unnamed |= dict.fromkeys(module.aliases.attributes())
        for used in used_layouts(module, names):
            placed.setdefault(_key_of(used.type), used._replace(lines=set())).lines.update(
                used.lines
            )
        pages.append((run.first + run.meant, audit_module(module, shared, given, known)))
    if given is not None:
        check_names(given, {name: None for _, audit in pages for name in audit.arguments})
    if missing:
        raise LayoutError(unknown_alias(next(iter(missing)), unnamed), FileLocation(source.name))
    layouts, numbers = _placed(placed)
    if not layouts and (placed or names or not pages):
        raise no_mlir(source, "no layout of the file is used with a type that it fits")

    def number_of(ir_type: IRType | None) -> int | None:
        return None if ir_type is None else numbers.get(_key_of(ir_type))

    target = next((audit.module.gpu for _, audit in pages if audit.module.gpu), None)
    modules = [module_data(audit, k, number_of) for k, audit in watch(pages)]
    waited = waited_lines(time for module in modules for time in module["times"])
    texts = programs((audit for _, audit in pages), program, waited)
    name = PurePath(source.name).name  # folders of one machine mean nothing on another
    passes = [
        {**layout, "kernels": module["kernels"]}
        for run, module in zip(runs, modules)
        if len(run.modules) > 1
        for layout in _passes(run, shared)
    ]
    assembly = embedded_assembly([audit for _, audit in pages], modules)
    dump = EmbeddedDump(name, source.text, modules, texts, line, passes, assembly)
    return DumpPage(layouts, dump, target, [audit for _, audit in pages])


def _check_line(source: Source, line: int | None) -> None:
    """Check that a dump is not truncated, and has a line."""
    check_lines(source)
    if line is not None and line > (most := source.text.count("\n") + 1):
        message = f"the file has {count(most, 'line')}, got line {line}"
        raise LayoutError(message, FileLocation(source.name))


def _runs(source: Source, release: Release | None, number: int | None) -> list[PassRun]:
    """Return the compilations of the modules that a page shows."""
    if number not in (None, LAST):
        modules = whole_modules(source, release, number)
        return [PassRun(number or 1, (module,), 0) for module in modules]
    runs = list(pass_runs(whole_modules(source, release)))
    return runs if number is None else runs[-1:]


def _passes(run: PassRun, shared: SharedWork) -> Iterator[dict[str, Any]]:
    """Yield the passes that changed the cost: the resulting module, the cycles before and after."""
    for change in pass_history(run, shared).of_cost:
        made = change.after
        cycles = [number and round(number) for number in (change.before.cycles, made.cycles)]
        yield {"number": made.number, "line": made.line, "pass": change.name, "cycles": cycles}


def _key_of(ir_type: IRType) -> _Key:
    return ir_type.layout, ir_type.encoding, ir_type.tensor_type().span.text


def _placed(found: dict[_Key, _Used]) -> tuple[list[PageLayout], dict[_Key, int]]:
    """Return the layouts that fit their types, and the number of each."""
    layouts: list[PageLayout] = []
    numbers = {}
    for key, used in found.items():
        with suppress(LayoutError):  # the type is not one that the layout is for
            placed = place(used.encoding, used.type.tensor_type())
            layouts.append(PageLayout(placed, used.name, used.line, tuple(sorted(used.lines))))
            numbers[key] = len(layouts) - 1
    return layouts, numbers


class _Used(NamedTuple):
    """A layout of a dump over a type, the line that defines it if any, and its uses."""

    name: str
    line: int | None
    encoding: Encoding
    type: IRType
    lines: set[int]


def used_layouts(module: Module, names: list[str]) -> Iterator[_Used]:
    """Yield the aliases over each type, then the layouts written in types."""
    lines: dict[int, set[int]] = {}
    for use in module.types:
        lines.setdefault(id(use.type), set()).add(module.line_in_source(use.line))
    types = [
        (t, lines.get(id(t), set())) for t in module.types.distinct if t.is_tensor or t.is_memory
    ]
    for alias in module.aliases.values():
        if isinstance(alias.encoding, LayoutError):
            raise alias.encoding
        if alias.encoding is None or (names and alias.name not in names):
            continue
        for layout, uses in types:
            if layout.layout == f"#{alias.name}":
                line = module.line_in_source(alias.line)
                yield _Used(f"#{alias.name}", line, alias.encoding, layout, uses)
    for layout, uses in () if names else types:
        is_alias = (layout.layout or "").removeprefix("#") in module.aliases
        if isinstance(layout.encoding, Encoding) and not is_alias:
            written = layout.layout or ""
            name = written if len(written) <= MAX_NAME else layout.encoding.mnemonic
            yield _Used(name, None, layout.encoding, layout, uses)
