"""The tools of an agent: each method is one, whose types and description the agent reads.

Texts of dumps are given as they are, or as a path below the one folder that the user named.  Every
argument has a limit, which its schema states.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from typing import Annotated, Any

from pydantic import Field

from tt_layout.audit.finding_groups import numbered
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.values.given import launch_values
from tt_layout.dumps.dump import Dump, Reading
from tt_layout.editing.dump import MAX_TEXT
from tt_layout.editing.explained import explained_line
from tt_layout.errors import LayoutError
from tt_layout.files import files_below, is_inside
from tt_layout.hardware import DEFAULT_TARGET
from tt_layout.ir.file_aliases import split_module
from tt_layout.ir.module import Module
from tt_layout.kernels.chosen_compiler import Compiler, choose_compiler
from tt_layout.library.features import features
from tt_layout.library.layouts import convert, translate
from tt_layout.library.memory import conflicts, swizzle
from tt_layout.library.pictures import plot
from tt_layout.mlir.source import SUFFIXES, Source, read_source
from tt_layout.mlir.wrappers import unwrapped
from tt_layout.records import dataclass
from tt_layout.releases import Release
from tt_layout.reports.audit import AuditReport, heading
from tt_layout.reports.audit_ir import audit_ir, given_values
from tt_layout.reports.finding_text import all_findings
from tt_layout.reports.fitted import Fitted
from tt_layout.reports.printed import Printed
from tt_layout.reports.program_source import NO_PROGRAM, ProgramSource
from tt_layout.reports.report import Line
from tt_layout.rewriting.apply import cure
from tt_layout.rewriting.report import AppliedReport
from tt_layout.surface import AGENT, argument, shown_on
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count
from tt_layout.wording import size as size_text

MAX_LAYOUT = 1 << 16
"""Characters of a layout."""

MAX_LAYOUTS = 16
"""Layouts of which a swizzle is looked for."""

MAX_NAME = 1 << 10
"""Characters of a name, a type, a GPU."""

MAX_VALUES = 256
"""Values of arguments."""

MAX_MEMORY = 600 << 20
"""Bytes that an answer may take, with the library."""

MAX_SECONDS = 10
"""Of the processor that an answer may take."""

Text = Annotated[
    str,
    Field(
        description="MLIR text of a .ttgir dump, or a path below the server's folder, which the"
        " tool dumps lists; FILE@2 is the second module",
        max_length=MAX_TEXT,
    ),
]
Layout = Annotated[
    str,
    Field(
        description="a layout in any notation: an attribute such as #ttg.blocked<{...}>, Gluon such"
        " as gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]), CuTe, a printed linear layout",
        max_length=MAX_LAYOUT,
    ),
]
Layouts = list[Annotated[str, Field(max_length=MAX_LAYOUT)]]
TensorType = Annotated[
    str, Field(description="the tensor, such as 128x64xf16", max_length=MAX_NAME)
]
Gpu = Annotated[
    str | None,
    Field(
        description="such as sm90, gfx942 or pvc; by default one with the layout's warp size",
        max_length=MAX_NAME,
    ),
]
Product = Annotated[
    str | None,
    Field(
        description="a product such as h100 or mi325x; by default the first of the dump's chip",
        max_length=MAX_NAME,
    ),
]
Name = Annotated[str, Field(max_length=MAX_NAME)]
Integer = Annotated[int, Field(ge=-(1 << 63), lt=1 << 64)]
Values = Annotated[
    dict[Name, Integer] | None,
    Field(
        description="values of the kernel's arguments by name; for a pointer, its address"
        " modulo 512",
        max_length=MAX_VALUES,
    ),
]

Grid = Annotated[
    list[Annotated[int, Field(ge=1, lt=1 << 31)]] | None,
    Field(description="programs of the launch along x, y and z", min_length=1, max_length=3),
]
ReleaseName = Annotated[
    str | None,
    Field(
        description="release of Triton whose rules hold, such as 3.4; by default the newest that"
        " knows the text",
        max_length=MAX_NAME,
    ),
]
First = Annotated[int, Field(description="number of the first, from 1", ge=1, le=MAX_TEXT)]
Most = Annotated[int, Field(description="how many at once", ge=1, le=1000)]

DESCRIPTIONS = {
    "dumps": "List the dumps below the server's folder: path and size.",
    "audit": "Report what is slow in a Triton kernel: bank conflicts, layout conversions, narrow or"
    " uncoalesced accesses, spills; with the line, the cost and what to write instead.",
    "findings": "List all findings of a kernel, a limited number at a time, each with its advice."
    " An audit counts those that it leaves out.",
    "explain": "Explain a line of a dump in words: what the operation does, its layouts, which uses"
    " need which of them, its cost and live registers, and what in a program changes that.",
    "kernel_features": "Return the numbers of a kernel: counts, bytes, registers, occupancy,"
    " bounds, shares.",
    "apply_suggestion": "Return a dump with the suggestion for a finding applied, audited"
    " again, and what it saves. Triton runs the new text with ir_override.",
    "conflicts": "Count the shared-memory bank conflicts of a store and a load of a tensor.",
    "swizzle": "Find the shared layout with the fewest bank conflicts.",
    "convert": "Show what it takes to convert a tensor from one layout to another: nothing,"
    " shuffles or shared memory.",
    "translate_layout": "Write a layout in another notation, or in the spelling of another"
    " release of Triton.",
    "picture": "Draw who holds each element of a tensor, as PNG.",
}
"""Tool -> what the agent reads of it."""


class Refusal(NamedTuple):
    """The error message for a question without an answer."""

    message: str


class _OutOfTime(BaseException):
    """The time limit of an answer; a BaseException, so that no error handler catches it."""


def answered(tools: AgentTools, name: str, arguments: Mapping[str, Any]) -> object:
    """Return the answer of a tool, in this process, within limits of memory and time."""
    limit_memory()
    try:
        with _limited_time(), shown_on(AGENT):
            choose_compiler(tools.compiler)
            return getattr(tools, name)(**arguments)
    except (LayoutError, TypeError, RecursionError) as error:
        return Refusal(str(error) or "it is nested too deeply")
    except MemoryError:
        return Refusal(f"it takes more than {MAX_MEMORY >> 20} MiB of memory")
    except _OutOfTime:
        return Refusal(f"it takes more than {MAX_SECONDS} seconds of the processor")


@contextmanager
def _limited_time() -> Iterator[None]:
    """Interrupt the block after the limit of processor time, where the system can."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def end(*_: object) -> None:
        raise _OutOfTime

    signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@cache
def limit_memory() -> None:
    """Limit the memory of this process from now on, where the system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            addressed, resident = map(int, file.read().split()[:2])
        most = (addressed - resident) * resource.getpagesize() + MAX_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


class AgentTools:
    """The tools.

    Args:
        root: the folder below which dumps, and lines of the programs that they name, may be read;
            None for no file at all.
        source: the folder in which these programs are found; None for the root.
        compiler: compiles dumps, for exact registers; None for none.
    """

    def __init__(
        self,
        root: str | None = None,
        source: str | None = None,
        compiler: Compiler | None = None,
    ) -> None:
        self.compiler = compiler
        self._root = os.path.realpath(root) if root is not None else None
        self._program = NO_PROGRAM
        if source is not None:
            self._program = ProgramSource(os.path.realpath(source))
        elif self._root is not None:
            self._program = ProgramSource(within=(self._root,))

    def named(self) -> Iterator[tuple[str, str, Callable[..., object]]]:
        """Yield the name, the description and the function of each tool."""
        for name, description in DESCRIPTIONS.items():
            yield name, description, getattr(self, name)

    def _dump(self, dump: str) -> tuple[Source, int | None]:
        """Return a dump under its requested name, and the selected module.

        Raises:
            LayoutError: it is too large, or a file that may not be read.
        """
        if "\n" in dump:
            source, number = Source(unwrapped(dump), "<text>"), None
        else:
            path, number = split_module(dump)
            source = Source(self._file(path).text, path)
        if len(source.text) > MAX_TEXT:
            size = len(source.text)
            raise LayoutError(f"the dump has {size} characters, more than {MAX_TEXT}")
        return source, number

    def _file(self, name: str) -> Source:
        try:
            path = os.path.realpath(os.path.join(self._folder, name))
            is_below = is_inside(path, self._folder)
        except (OSError, ValueError):  # it is no name of a file
            is_below = False
        if not is_below:
            raise LayoutError(f"only files below {self._folder} may be read, got {name!r}")
        return read_source(path)

    @property
    def _folder(self) -> str:
        """The folder below which files may be read.

        Raises:
            LayoutError: the user named none.
        """
        if self._root is None:
            message = "the server was started without --root FOLDER, and reads no file"
            raise LayoutError(f"{message}: give the text of the dump")
        return self._root

    def _modules(self, dump: str, release: str | None, *, is_partial: bool = True) -> list[Module]:
        """Return the modules of a dump to audit.

        Raises:
            LayoutError: the dump cannot be read or has none, it is truncated and that is not
                accepted, or there is no such release.
        """
        source, number = self._dump(dump)
        rules = Release.parse(release) if release is not None else None
        return list(Dump(source, number).meant(Reading(is_partial=is_partial, release=rules)))

    def _audited(
        self,
        dump: str,
        values: Mapping[str, int] | None,
        grid: Sequence[int] | None,
        release: str | None,
        gpu: str | None,
    ) -> AuditReport:
        report = audit_ir(self._modules(dump, release), launch_values(values, grid), gpu=gpu)
        return replace(report, program=self._program)

    # -- dumps ------------------------------------------------------------------------------

    def dumps(self, first: First = 1, most: Most = 200) -> str:
        """Return a line for each dump, in the order of their paths."""
        folder = self._folder
        names = sorted(
            os.path.relpath(path, folder)
            for path in files_below(folder, lambda _: None)
            if path.endswith(SUFFIXES)
        )
        shown = names[first - 1 : first - 1 + most]
        told = [f"{name}  {_size(os.path.join(folder, name))}" for name in shown]
        told.append(_position(first, len(shown), len(names)))
        return "\n".join(told)

    def audit(
        self,
        dump: Text,
        values: Values = None,
        gpu: Product = None,
        grid: Grid = None,
        release: ReleaseName = None,
    ) -> str:
        """Return the report of a dump."""
        return str(self._audited(dump, values, grid, release, gpu))

    def findings(
        self,
        dump: Text,
        first: First = 1,
        most: Most = 20,
        values: Values = None,
        gpu: Product = None,
        grid: Grid = None,
        release: ReleaseName = None,
    ) -> str:
        """Return findings of a dump from a number on."""
        return str(FindingsPage(self._audited(dump, values, grid, release, gpu), first, most))

    def explain(
        self,
        dump: Text,
        line: Annotated[int, Field(description="line of the dump, from 1", ge=1, le=MAX_TEXT)],
    ) -> str:
        """Return a line in words."""
        source, _ = self._dump(dump)
        return str(explained_line(source.name, source.text, line))

    def kernel_features(
        self,
        dump: Text,
        values: Values = None,
        kernel: Annotated[
            str | None,
            Field(description="name of the kernel, if the dump has several", max_length=MAX_NAME),
        ] = None,
        gpu: Product = None,
        grid: Grid = None,
        release: ReleaseName = None,
    ) -> dict[str, int | float | str | bool | None]:
        """Return the features of a kernel."""
        modules = self._modules(dump, release, is_partial=False)  # numbers say nothing of gaps
        return dict(features(modules, values, grid=grid, function=kernel, gpu=gpu))

    def apply_suggestion(
        self,
        dump: Text,
        finding: Annotated[
            int | None,
            Field(description="its number in the audit; by default the first", ge=1, le=MAX_TEXT),
        ] = None,
        values: Values = None,
        gpu: Product = None,
        grid: Grid = None,
        release: ReleaseName = None,
    ) -> str:
        """Return the report of an applied suggestion, and the new text."""
        source, number = self._dump(dump)
        change = cure(
            source,
            [finding] if finding is not None else [],
            module=number,
            release=Release.parse(release) if release is not None else None,
            given=given_values(launch_values(values, grid), gpu),
        )
        done = AppliedReport(change, source.name)
        return f"{done}\n\n{done.text}"

    # -- layouts ----------------------------------------------------------------------------

    def conflicts(
        self, registers: Layout, shared: Layout, tensor: TensorType, gpu: Gpu = None
    ) -> str:
        """Return the report of an access."""
        return str(conflicts(registers, shared, tensor, target=gpu))

    def swizzle(
        self,
        writers: Annotated[
            Layouts,
            Field(
                description="layouts that store the tensor", min_length=1, max_length=MAX_LAYOUTS
            ),
        ],
        readers: Annotated[
            Layouts,
            Field(description="layouts that load it; [] for the same", max_length=MAX_LAYOUTS),
        ],
        tensor: TensorType,
        gpu: Annotated[
            str | None,
            Field(description="such as sm90 or gfx942; by default sm90", max_length=MAX_NAME),
        ] = None,
    ) -> str:
        """Return the report of a search."""
        return str(swizzle(writers, readers, tensor, target=gpu or DEFAULT_TARGET))

    def convert(self, source: Layout, target: Layout, tensor: TensorType, gpu: Gpu = None) -> str:
        """Return the report of a conversion."""
        return str(convert(source, target, tensor, target=gpu))

    def translate_layout(
        self,
        layout: Layout,
        to: Annotated[
            str,
            Field(
                description="gluon, cute, tlx, linear, bases, json, or a release such as 3.4",
                max_length=MAX_NAME,
            ),
        ],
        tensor: Annotated[
            str | None, Field(description="needed by some notations", max_length=MAX_NAME)
        ] = None,
    ) -> str:
        """Return the text in another notation."""
        return translate(layout, tensor, to=to).text

    def picture(self, layout: Layout, tensor: TensorType) -> bytes:
        """Return the picture of a layout."""
        return plot(layout, tensor).png


def _size(path: str) -> str:
    try:
        return size_text(os.path.getsize(path))
    except OSError:
        return "gone"


def _position(first: int, shown: int, total: int) -> str:
    """Return a line on the part of a list that is shown, and how to request the next."""
    if not shown:
        return f"none from {first} on, of {count(total, 'dump')}" if total else "no dumps"
    last = first + shown - 1
    text = f"{first} to {last} of {count(total, 'dump')}"
    return text if last == total else f"{text}; the next: {argument('first', last + 1)}"


@dataclass(frozen=True, repr=False)
class FindingsPage(Printed):
    """A page of a dump's groups of findings, in the order of the report.

    Attributes:
        report: the report of the dump.
        first: index of the first group of findings, from 1, counted over all modules.
        most: the maximum number of groups.
    """

    report: AuditReport
    first: int = 1
    most: int = 20

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the groups below the heading of their module, and where the next page begins."""
        passed = found = 0
        end = self.first + self.most
        for audit in self.report.audits:
            groups = numbered(audit.findings)
            begin = max(0, self.first - 1 - passed)
            shown = groups[begin : max(begin, end - 1 - passed)]
            if shown or audit.module.error is not None:
                yield from heading(audit.module, self.report.file)
                yield from all_findings(Adviser(audit), self.report.program, shown)
            passed += len(groups)
            found += len(audit.findings)
        yield Line(self._position(passed, found))

    def _position(self, groups: int, findings: int) -> str:
        """Return a line on the position of the page, and how to request the next."""
        if not groups:
            return "no findings"
        total = count(findings, "finding")
        if groups != findings:
            total += f", {groups} with those alike together"
        last = min(groups, self.first + self.most - 1)
        if self.first > groups:
            return f"none from {self.first} on, of {total}"
        shown = f"{self.first} to {last} of {total}"
        return shown if last == groups else f"{shown}; the next: {argument('first', last + 1)}"
