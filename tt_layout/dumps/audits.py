"""Audits and kernels of dumps, made one by one with work shared between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tt_layout.audit.audit import Audit, audit_of, check_product
from tt_layout.audit.findings import FindingLine
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.modules.audited_module import (
    AuditedModule,
    SharedWork,
    TextConclusions,
    nameless_text,
)
from tt_layout.audit.modules.launch_values import values_of
from tt_layout.audit.rules.registers import Spills
from tt_layout.audit.values.given import GivenValues, check_names
from tt_layout.dumps.dump import Dump, Modules, Reading, open_dumps, silent
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target
from tt_layout.ir.module import Module
from tt_layout.ir.scope import Interner
from tt_layout.kernels.chosen_compiler import chosen_compiler
from tt_layout.kernels.metadata import KernelMetadata
from tt_layout.kernels.seen import Launch
from tt_layout.mlir.source import UNPLACED, data_in_file
from tt_layout.tuples import NamedTuple

MAX_KNOWN = 1 << 24
"""Characters of dumps after which what is known of them is forgotten, to bound the memory."""

MAX_NAMELESS = 1 << 12
"""Modules for which a conclusion is kept that names no function, for others of their text."""

MAX_DUMPS = 1 << 10
"""Dumps of which the kernels are kept, for others of the same text."""

MARK = "$"
"""The character of a mark that is in no name, nor anywhere else in a text that is marked."""

_NAME = re.compile(r"(%[\w$.-]+)", re.ASCII)
_MARK = re.compile(r"%\$(\d+)", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
"""A string: what looks like a name in it is an operand of an assembler."""

T = TypeVar("T")


class AuditWithValues(NamedTuple):
    """An audit, and the reason why the values of the launch were not used; None if they were."""

    audit: Audit
    reason: str | None = None


def audit_with(
    module: Module,
    shared: SharedWork,
    launch: Launch | None,
    given: GivenValues | None,
    known: KernelMetadata,
    *,
    is_judged: bool = True,
    is_concluded: bool = True,
) -> AuditWithValues:
    """Audit a module with the values of a launch if they fit.

    Args:
        module: the module of a kernel.
        shared: work shared with other modules.
        launch: the launch of the kernel; None where it is not known.
        given: values that take precedence over those of the launch.
        known: metadata of the compiled kernel.
        is_judged: whether to look for findings.
        is_concluded: whether all is concluded at once; otherwise when it is asked for.

    Raises:
        LayoutError: a given value does not fit its argument.
    """

    def audit(given: GivenValues | None) -> Audit:
        audited = AuditedModule(module, shared, given)
        opened = audit_of(audited, given, known, is_judged=is_judged)
        return opened.concluded() if is_concluded else opened

    if launch is None:
        return AuditWithValues(audit(given))
    try:
        return AuditWithValues(audit(values_of(module, launch, given, shared)))
    except LayoutError as error:
        return AuditWithValues(audit(given), error.message)


class Auditor:
    """Auditor of dumps, one by one, with work shared between them.

    Args:
        reading: how dumps are read.
        explains: whether findings explain what would make accesses wider.
        is_brief: whether only a table of kernels is wanted, as `SharedWork` has it.
        is_judged: whether to look for findings.
        keeps_text: whether texts of types are kept, for dumps that share many.

    Attributes:
        interner: objects shared by dumps that are read at about the same time.
    """

    def __init__(
        self,
        reading: Reading,
        *,
        explains: bool = True,
        is_brief: bool = False,
        is_judged: bool = True,
        keeps_text: bool = True,
    ) -> None:
        self._reading, self._explains, self._is_brief = reading, explains, is_brief
        self._is_judged, self._keeps_text = is_judged, keeps_text
        self._arguments: dict[str, None] = {}
        self._chips: dict[Target | None, None] = {}
        self._concluded = TextConclusions[Any](MAX_NAMELESS)
        self._forget()

    def _forget(self) -> None:
        """Forget the work shared with earlier modules."""
        self._shared = SharedWork(explains=self._explains, is_brief=self._is_brief)
        self._characters = 0
        self.interner = Interner(self._reading.release, keeps_text=self._keeps_text)

    def audits(self, dump: Dump, modules: Modules | None = None) -> Iterator[Audit]:
        """Yield the audits of a dump's modules.

        Args:
            dump: the dump.
            modules: the modules to audit; by default those of `Dump.meant`.

        Raises:
            LayoutError: it cannot be read, or a given value does not fit its argument.
        """
        for module in modules or dump.meant(self._reading, self.interner):
            yield self._audit(dump, module, self._shared_for(module))

    def once(
        self, dump: Dump, modules: Modules, conclude: Callable[[Audit], T]
    ) -> Iterator[tuple[Module, T]]:
        """Yield modules with the conclusions from their audits.

        Modules whose texts differ only in the names of functions share one audit.

        Args:
            dump: a dump whose launch is not known.
            modules: the modules to audit.
            conclude: function of an audit, independent of the module's line and of the names of
                its functions; always the same function.

        Raises:
            LayoutError: as for `audits`.
        """
        for module in modules:
            shared = self._shared_for(module)

            def answer(module: Module = module, shared: SharedWork = shared) -> T:
                return conclude(self._audit(dump, module, shared))

            yield module, self._concluded.once(nameless_text(module), answer)

    def data(
        self, dump: Dump, modules: Modules | None, conclude: Callable[[Audit], dict[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        """Yield the plain data of modules, made once for equal texts and moved to their lines.

        Args:
            dump: a dump whose launch is not known.
            modules: the modules to audit; by default those of `Dump.meant`.
            conclude: function from an audit to its data; always the same function.

        Raises:
            LayoutError: as for `audits`.
        """
        for module in modules or dump.meant(self._reading, self.interner):
            shared = self._shared_for(module)
            named = {"pass": module.pass_name, "stage": module.stage}
            if UNPLACED in module.span.text:  # what is written so would be taken for a line
                yield {**conclude(self._audit(dump, module, shared)), **named}
                continue
            shared.modules.give(self._reading.given or GivenValues())

            def answer(module: Module = module, shared: SharedWork = shared) -> dict[str, Any]:
                return conclude(self._audit(dump, module.unplaced, shared))

            data = shared.modules.once(module, conclude, answer, has_lines=False)
            yield {**data_in_file(data, module.place.first_line - 1), **named}

    def _shared_for(self, module: Module) -> SharedWork:
        """Return the work shared with earlier modules, for the audit of the next one."""
        if self._characters > MAX_KNOWN:
            self._forget()
        self._characters += module.span.end - module.span.start
        return self._shared

    def _audit(self, dump: Dump, module: Module, shared: SharedWork) -> Audit:
        audit = audit_with(
            module,
            shared,
            dump.launch,
            self._reading.given,
            dump.known,
            is_judged=self._is_judged,
            is_concluded=self._explains,  # the lines of an overview need a part of it
        ).audit
        self._arguments.update(dict.fromkeys(audit.arguments))
        self._chips[audit.chip] = None
        return audit

    def check_given(self) -> None:
        """Check that the given values and GPU belong to audited modules.

        Raises:
            LayoutError: no module has such an argument, or none is for such a GPU.
        """
        given = self._reading.given
        if given is not None:
            check_names(given, self._arguments)
            check_product(given, self._chips)


class PassedOver(NamedTuple):
    """A file without an audit, and the reason."""

    file: str
    reason: str


def or_passed_over(name: str, read: Callable[[], T]) -> T | PassedOver:
    """Return the result of reading a file, or the reason why there is none."""
    try:
        return read()
    except LayoutError as error:
        return PassedOver(name, error.message)
    except RecursionError:
        return PassedOver(name, "it is nested too deeply")


class FileKernels(NamedTuple):
    """The kernels of a dump, and the names of their arguments where values were given.

    Attributes:
        unread: kernels of a log that are left out.
    """

    kernels: tuple[Kernel, ...]
    arguments: tuple[str, ...] = ()
    unread: tuple[PassedOver, ...] = ()

    def with_names(self, names: Sequence[str]) -> FileKernels:
        """Replace marks in findings of registers by the names that they stand for."""

        def named(kernel: Kernel) -> Kernel:
            lines = tuple([_with_names(line, names) for line in kernel.finding_lines])
            return kernel.with_values(finding_lines=lines)

        return self._replace(kernels=tuple(map(named, self.kernels)))


def _with_names(line: FindingLine, names: Sequence[str]) -> FindingLine:
    if line.kinds != (Spills.kind,):
        return line
    return line._replace(message=_MARK.sub(lambda at: names[int(at[1])], line.message))


class KernelReader:
    """Reader of the kernels of dumps, one by one, each with the facts for a line of an overview.

    Args:
        reading: how dumps are read.
        explains: whether findings explain what would make accesses wider; without, and without
            bounds, kernels hold what a table of them shows.
        has_bounds: whether facts include the bounds, which take a quarter of an audit.
    """

    def __init__(
        self, reading: Reading, *, explains: bool = True, has_bounds: bool = False
    ) -> None:
        self._has_bounds = has_bounds
        self._is_listed = not (explains or has_bounds)
        self._auditor = Auditor(
            reading._replace(progress=silent), explains=explains, is_brief=self._is_listed
        )
        self._reading = reading
        self._known = TextConclusions[FileKernels](MAX_DUMPS)
        self._of_nameless = TextConclusions[FileKernels | None](MAX_DUMPS)

    def read(self, name: str) -> FileKernels | PassedOver:
        """Return the kernels of a dump, or the reason why there are none."""
        return or_passed_over(name, lambda: self._kernels(name))

    def _kernels(self, name: str) -> FileKernels:
        settled: list[Kernel] = []
        arguments: dict[str, None] = {}
        opened = open_dumps(name)
        for dump in opened.dumps:
            place = dump.source.name if dump.number is None else name
            found = self._known_kernels(dump)
            settled += (kernel.with_values(file=place) for kernel in found.kernels)
            arguments.update(dict.fromkeys(found.arguments))
        unread = tuple(PassedOver(*unread) for unread in opened.unread)
        return FileKernels(tuple(settled), tuple(arguments), unread)

    def _known_kernels(self, dump: Dump) -> FileKernels:
        """Return the kernels of a dump; equal dumps, or dumps equal up to names, are audited once.

        Each process of a program may have compiled the same kernels into a folder of its own, and a
        compiler may name the values of one kernel differently.
        """
        around = f"{dump.source.first_line} {(dump.number, dump.launch, dump.known)!r}"

        def concluded() -> FileKernels:
            # names may matter where values are given by name, or a compiler reads the text
            are_given = self._reading.given is not None or dump.launch is not None
            has_names = are_given or chosen_compiler() is not None
            nameless = marked(dump.source.text) if not has_names else None
            if nameless is None:
                return self._audited(dump)
            found = self._of_nameless.once(
                f"{around}\0{nameless.text}", lambda: self._without_names(dump, nameless)
            )
            return found.with_names(nameless.names) if found is not None else self._audited(dump)

        return self._known.once(f"{around}\0{dump.source.text}", concluded)

    def _without_names(self, dump: Dump, nameless: MarkedText) -> FileKernels | None:
        """Return the kernels of a dump with marks for names; None if a text has one elsewhere."""
        try:
            found = self._audited(dump._replace(source=replace(dump.source, text=nameless.text)))
        except LayoutError:  # it may quote the text
            return None
        said = (vars(kernel) for kernel in found.with_names(nameless.names).kernels)
        return None if found.arguments or any(map(has_mark, said)) else found

    def _audited(self, dump: Dump) -> FileKernels:
        kernels: list[Kernel] = []
        arguments: dict[str, None] = {}
        for audit in self._auditor.audits(dump):
            arguments.update(dict.fromkeys(audit.arguments))
            kernels += (
                kernel.settled(has_bounds=self._has_bounds, is_listed=self._is_listed)
                for kernel in kernels_of(audit)
            )
        return FileKernels(tuple(kernels), tuple(arguments))


class MarkedText(NamedTuple):
    """A text with marks for the names of values.

    Attributes:
        text: with a number in each mark.
        names: by these numbers.
    """

    text: str
    names: Sequence[str]


def marked(text: str) -> MarkedText | None:
    """Replace the names of values in a text by marks; None where a string or a mark is in the way.

    Names only occur in messages: a conclusion from the marked text that has no mark in it holds for
    the dump.  Findings of registers have names as they are, and get them back; where there is
    another mark the dump itself is audited.

    Example:
        >>> marked("%b = arith.addi %a, %b : i32")
        MarkedText(text='%$0 = arith.addi %$1, %$0 : i32', names=('%b', '%a'))
        >>> print(marked("%b = asm \\"mov %0, %1\\""))
        None
    """
    if MARK in text or any("%" in string for string in _STRING.findall(text)):
        return None
    parts, marks = _NAME.split(text), _Marks()
    parts[1::2] = map(marks.__getitem__, parts[1::2])
    return MarkedText("".join(parts), tuple(marks))


class _Marks(dict[str, str]):
    """Marks by the names that they stand for, numbered in the order in which they are asked for."""

    def __missing__(self, name: str) -> str:
        mark = self[name] = f"%{MARK}{len(self)}"
        return mark


def has_mark(value: object) -> bool:
    """Tell whether plain data has a mark."""
    if isinstance(value, str):
        return MARK in value
    if value is None or isinstance(value, (int, float)):
        return False
    if isinstance(value, Mapping):
        return any(map(has_mark, value)) or any(map(has_mark, value.values()))
    return isinstance(value, Iterable) and any(map(has_mark, value))
