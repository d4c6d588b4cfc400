"""Resolution of aliases to modules, if several of a file define one name.

A dump of passes defines nearly every name again in each module.  ``FILE`` then means the last
module that defines the name, and ``FILE@2`` the second one of the file, as ``tt-layout audit``
counts them.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from tt_layout.encodings.alias_table import AliasTable
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir.dump_part import PartDefinitions
from tt_layout.ir.module import Module
from tt_layout.ir.passes import chosen_modules, pass_runs
from tt_layout.ir.reader import iterate_ir, iterate_parts
from tt_layout.ir.scope import Interner
from tt_layout.mlir.aliases import FileDefinitions
from tt_layout.mlir.languages import refuse_file, refuse_other_mlir
from tt_layout.mlir.source import Source, read_source
from tt_layout.records import dataclass
from tt_layout.releases import Release
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count as counted

_NUMBERED = re.compile(r"(.+)@(\d{1,9}|last)", re.DOTALL)
_ON_LINE = re.compile(r"(.+):(\d{1,9})", re.DOTALL)

LAST = -1
"""The number that stands for the last module of a file; of a dump of passes, the last that has
layouts, before the conversion to LLVM."""


class FileName(NamedTuple):
    """A file name with an optional module number.

    Attributes:
        module: the module, from 1, or `LAST`; None if none is given.
    """

    path: str
    module: int | None = None


class ModuleAliases(NamedTuple):
    """The aliases of a file, or of one of its modules.

    Attributes:
        table: the aliases.
        note: which module was chosen, and how to choose another; None if there was no choice.
    """

    table: AliasTable
    note: str | None = None


class _Module(NamedTuple):
    """The attribute aliases visible in a module, and its first line."""

    line: int
    definitions: PartDefinitions


def split_module(name: str) -> FileName:
    """Split ``FILE@2`` or ``FILE@last`` into the file and the module.

    If a file of exactly this name exists, it is that file.

    Example:
        >>> split_module("dump.mlir@2"), split_module("dump.mlir")
        (FileName(path='dump.mlir', module=2), FileName(path='dump.mlir', module=None))
        >>> split_module("dump.mlir@last").module == LAST
        True
    """
    match = _NUMBERED.fullmatch(name)
    if match is None or os.path.lexists(name):
        return FileName(name)
    return FileName(match[1], LAST if match[2] == "last" else int(match[2]))


def split_line(name: str) -> tuple[str, int | None]:
    """Split ``FILE:13``, as reports write it, into the file and the line.

    If a file of exactly this name exists, it is that file.

    Example:
        >>> split_line("dump.mlir"), split_line(f"{__file__}:13")[1]
        (('dump.mlir', None), 13)
    """
    match = _ON_LINE.fullmatch(name)
    if match is None or os.path.lexists(name) or not os.path.isfile(match[1]):
        return name, None
    return match[1], int(match[2])


def module_at(source: Source, line: int) -> int:
    """Return the number of the module of a line; lines before the first module belong to it."""
    number = 1
    for count, module in enumerate(iterate_ir(source), 1):
        if module.line > line:
            break
        number = count
    return number


def named_modules(name: str) -> Iterator[Module]:
    """Yield the modules that ``FILE``, ``FILE@2`` or ``FILE@last`` names, truncated or not.

    Raises:
        LayoutError: the file cannot be read, or there is no such module.
    """
    path, number = split_module(name)
    return whole_modules(read_source(path), None, number, is_partial=True)


def no_module(number: int, count: int, source: Source) -> LayoutError:
    """Return the error for a module that a file does not have."""
    modules = counted(count, "module")
    message = f"there is no module {number}: the file has {modules}"
    return LayoutError(message, FileLocation(source.name))


def whole_modules(
    source: Source,
    release: Release | None = None,
    number: int | None = None,
    *,
    is_partial: bool = False,
    report: Callable[[int], None] | None = None,
    interner: Interner | None = None,
) -> Iterator[Module]:
    """Yield the modules of a dump, or one of them.

    Args:
        source: the dump.
        release: the release whose rules hold; None to infer it.
        number: the module, from 1, or `LAST`; None for all.
        is_partial: whether a truncated dump is accepted.
        report: called with the number of characters read.
        interner: objects shared with other dumps of the same release.

        Raises:
            LayoutError: there is no such module, the dump is truncated, or the language of the text
                has no modules.
    """
    refuse_other_mlir(source)
    modules = _checked(iterate_ir(source, release, report, interner), is_partial)
    if number == LAST:
        yield from deque(chosen_modules(modules), maxlen=1)
        return
    count = 0
    for count, module in enumerate(modules, 1):
        if number in (None, count):
            yield module
    if count == 0:
        refuse_file(source)
    if number is not None and not 1 <= number <= count:
        raise no_module(number, count, source)


def _checked(modules: Iterator[Module], is_partial: bool) -> Iterator[Module]:
    """Yield modules, checking that they are whole.

    Raises:
        LayoutError: one is truncated, and that is not accepted.
    """
    for module in modules:
        if module.error is not None and not is_partial:
            raise module.error
        yield module


def _last_number(source: Source) -> int:
    """Return the number of the last module."""
    [run] = deque(pass_runs(iterate_ir(source)), maxlen=1)
    return run.first + run.meant


@dataclass(frozen=True)
class FileAliases:
    """The aliases of a file, over all of its modules.

    Example:
        >>> shared = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = %d, order = [0]}>"
        >>> module = f"#a = {shared}\\nmodule {{\\n}}\\n"
        >>> found = FileAliases(Source(module % 1 + module % 2, "dump.mlir")).choose(["a"])
        >>> found.table.layout("a").max_phase
        2
        >>> found.note
        'dump.mlir has 2 modules that define #a; taken is module 2, on line 5; dump.mlir@1 is \
another'
    """

    source: Source

    def choose(self, names: Sequence[str] = (), module: int | None = None) -> ModuleAliases:
        """Return the aliases of the file, or of one module if several define a name.

        Args:
            names: the requested aliases; by default any layouts.
            module: the number of the module, from 1, or `LAST`; by default the last that defines
                the requested aliases.

        Raises:
            LayoutError: the file has no such module.
        """
        if module is None and self._whole.repeated is None:
            return ModuleAliases(AliasTable(self.source, self._whole))
        count = len(self._modules)
        if module is None:
            numbers = [number for number in range(1, count + 1) if self._defines(number, names)]
            taken = numbers[-1] if numbers else count
            return ModuleAliases(self._table(taken), self._note(numbers, names))
        module = _last_number(self.source) if module == LAST else module
        if not 1 <= module <= count:
            raise no_module(module, count, self.source)
        return ModuleAliases(self._table(module))

    @cached_property
    def _whole(self) -> FileDefinitions:
        """The definitions of the whole file, if its names are unique."""
        return FileDefinitions(self.source)

    @cached_property
    def _modules(self) -> Sequence[_Module]:
        return [
            _Module(
                self.source.line_column(part.start if part.module is None else part.module)[0],
                part.aliases,
            )
            for part in iterate_parts(self.source)
        ]

    def _table(self, number: int) -> AliasTable:
        return AliasTable(self.source, self._modules[number - 1].definitions)

    def _defines(self, number: int, names: Sequence[str]) -> bool:
        """Tell whether a module defines all of some aliases; without names, any layout."""
        if names:
            definitions = self._modules[number - 1].definitions
            return all(name in definitions for name in names)
        try:
            return self._table(number).has_layouts
        except LayoutError:
            return True  # so that using it reports what is wrong

    def _note(self, numbers: Sequence[int], names: Sequence[str]) -> str | None:
        """Return a note that the last of some modules was chosen; None if all have its aliases."""

        def starts(number: int) -> list[int | None]:
            definitions = self._modules[number - 1].definitions
            return [definitions[name].start for name in names] or [definitions.last]

        different = [number for number in numbers if starts(number) != starts(numbers[-1])]
        if not different:
            return None
        file, taken = self.source.name, numbers[-1]
        what = ", ".join(f"#{name}" for name in names) or "layouts"
        line = self._modules[taken - 1].line
        return (
            f"{file} has {len(numbers)} modules that define {what}; taken is module {taken}, on "
            f"line {line}; {file}@{different[-1]} is another"
        )
