"""The page of one layout, of two, or of every layout of a dump."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import PurePath
from typing import Any, NamedTuple

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.passes import pass_history
from tt_layout.audit.values.given import GivenValues, check_names
from tt_layout.encodings import Encoding
from tt_layout.encodings.alias_table import unknown_alias
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir.file_aliases import LAST, whole_modules
from tt_layout.ir.module import Module
from tt_layout.ir.passes import PassRun, pass_runs
from tt_layout.ir.reader import check_lines
from tt_layout.ir.types import IRType
from tt_layout.kernels.metadata import NO_METADATA, KernelMetadata
from tt_layout.mlir.languages import no_mlir, refuse_other_mlir
from tt_layout.mlir.source import Source
from tt_layout.page import EmbeddedDump, PageLayout, build
from tt_layout.page.kernel_report import embedded_assembly, module_data, programs
from tt_layout.page.kernel_time import waited_lines
from tt_layout.page.multiplications import check_multiplication
from tt_layout.placement import PlacedLayout, place
from tt_layout.releases import Release
from tt_layout.reports.audit import AuditReport
from tt_layout.reports.formats.html import to_page
from tt_layout.reports.program_source import NO_PROGRAM, ProgramSource
from tt_layout.reports.progress import Watch, unwatched
from tt_layout.surface import COMMAND_LINE, shown_on
from tt_layout.wording import count

MAX_NAME = 64
"""Characters of a layout in a type that a page takes as its name."""

_Key = tuple["str | None", "Encoding | LayoutError | None", str]
"""A layout as written and as read, and the type that it is placed over: an entry of the page."""


@shown_on(COMMAND_LINE)
def page_of(
    named: dict[str, PlacedLayout],
    target: str | None = None,
    *,
    is_multiplied: bool = False,
    operand: str | None = None,
) -> str:
    """Return the page of named layouts; two of them are compared.

    Args:
        named: one layout or two.
        target: the GPU whose shared memory is meant.
        is_multiplied: whether the multiplication that the first is the result of is shown first.
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
        layouts: of the dump, each over the types that it is used with.
        dump: what the page shows besides.
        target: its GPU; None where it names none.
        audits: of its modules.
    """

    layouts: Sequence[PageLayout]
    dump: EmbeddedDump
    target: str | None
    audits: Sequence[Audit] = ()

    @property
    @shown_on(COMMAND_LINE)
    def html(self) -> str:
        """The page, read beside a shell; of a dump without any layout the report of its audit."""
        if not self.layouts:
            return to_page(self.dump.name, AuditReport(self.dump.name, self.audits))
        return build(self.layouts, title=self.dump.name, dump=self.dump, target=self.target)


@shown_on(COMMAND_LINE)
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
        release: whose rules hold.
        number: only this module, counted from 1; all by default.
        program: where the lines of the user's program are found; those that data movements come
            from are embedded, with some around them.
        line: the line that the page opens on; None for that of the first finding.
        known: what is known of the compiled kernel.
        given: what the arguments of its kernels are.
        watch: what passes the modules on, and may show how many are done.

    Raises:
        LayoutError: an alias is wrong or not used, there is no such module, line or argument, or
            the dump is cut off.
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
    """Check that a dump is not cut off, and has a line."""
    check_lines(source)
    if line is not None and line > (most := source.text.count("\n") + 1):
        message = f"the file has {count(most, 'line')}, got line {line}"
        raise LayoutError(message, FileLocation(source.name))


def _runs(source: Source, release: Release | None, number: int | None) -> list[PassRun]:
    """Return the modules that a page shows, each with those of the same compilation."""
    if number not in (None, LAST):
        modules = whole_modules(source, release, number)
        return [PassRun(number or 1, (module,), 0) for module in modules]
    runs = list(pass_runs(whole_modules(source, release)))
    return runs if number is None else runs[-1:]


def _passes(run: PassRun, shared: SharedWork) -> Iterator[dict[str, Any]]:
    """Yield the passes that changed the cost: the module each made, the cycles before and after."""
    for change in pass_history(run, shared).of_cost:
        made = change.after
        cycles = [layout and round(layout) for layout in (change.before.cycles, made.cycles)]
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
    """A layout of a dump on a type, the line that defines it if any, and those that use it."""

    name: str
    line: int | None
    encoding: Encoding
    type: IRType
    lines: set[int]


def used_layouts(module: Module, names: list[str]) -> Iterator[_Used]:
    """Yield the aliases over each type, then the layouts that are written in the types."""
    lines: dict[int, set[int]] = {}
    for use in module.types:
        lines.setdefault(id(use.type), set()).add(use.line)
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
                yield _Used(f"#{alias.name}", alias.line, alias.encoding, layout, uses)
    for layout, uses in () if names else types:
        is_alias = (layout.layout or "").removeprefix("#") in module.aliases
        if isinstance(layout.encoding, Encoding) and not is_alias:
            written = layout.layout or ""
            name = written if len(written) <= MAX_NAME else layout.encoding.mnemonic
            yield _Used(name, None, layout.encoding, layout, uses)
