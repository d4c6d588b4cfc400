"""One pass over a dump: text to modules.

A part of a dump is a module, or functions without one.  A new part begins at a ``// -----``
split, at an ``IR Dump Before/After`` header, at a module operation after another, and at
alias definitions after a module where another module follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir.build import Interner, build_module
from tt_layout.ir.module import Module
from tt_layout.ir.part import Part, RawOperation
from tt_layout.ir.tokens import FIRST_LINE, HEADER, SPLIT, TOKENS
from tt_layout.mlir.source import Source
from tt_layout.releases import Release

REPORT_EVERY = 1 << 20  # characters between two reports of progress
MAX_LINE = 64 << 20  # characters; IR has no longer lines
_NOT_BEFORE_NAME = frozenset('"!#@.$_%')


def parse_ir(text: str, *, name: str = "<ir>", release: Release | None = None) -> list[Module]:
    """Return the modules of a text in MLIR.

    Reading never fails: a layout or type that is wrong has its error in its place, and a
    module that is cut off has it in ``error``.

    Args:
        text: a ``.ttgir`` file, a dump of many modules, or part of one.
        name: what messages call the text.
        release: the release of Triton whose rules hold; by default, for each attribute, the
            newest that knows all of its keys.

    Example:
        >>> [module] = parse_ir('''
        ... #s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>
        ... module attributes {"ttg.num-warps" = 4 : i32} {
        ...   %0 = my.op : !ttg.memdesc<8x8xf16, #s, #ttg.shared_memory>
        ... }''')
        >>> module.attributes["ttg.num-warps"], module.aliases["s"].encoding.max_phase
        (4, 2)
        >>> [use] = module.types
        >>> use.kind, use.shape, use.element_type, use.encoding.mnemonic, use.line, use.column
        ('memdesc', (8, 8), 'f16', 'swizzled_shared', 4, 16)
    """
    return list(iterate_ir(Source(text, name), release))


def iterate_ir(
    source: Source,
    release: Release | None = None,
    report: Callable[[int], None] | None = None,
) -> Iterator[Module]:
    """Yield the modules of a source, each as soon as it has been read.

    Args:
        source: the text.
        release: as for `parse_ir`.
        report: called now and then with the number of characters read.
    """
    interner = Interner(release)
    for part in iterate_parts(source, report):
        yield build_module(source, part, interner)


def iterate_parts(source: Source, report: Callable[[int], None] | None = None) -> Iterator[Part]:
    """Yield the parts of a source that modules are made of, each as soon as it has been read."""
    return (part for part in _Scanner(source, report).parts() if not part.is_empty)


def check_lines(source: Source) -> None:
    """Raise if a line is so long that the text cannot be IR."""
    start, line = 0, 1
    while len(source.text) - start > MAX_LINE:
        end = source.text.find("\n", start)
        end = len(source.text) if end < 0 else end
        if end - start > MAX_LINE:
            message = (
                f"the line has {end - start} characters, more than "
                f"the {MAX_LINE} that a line may have"
            )
            raise LayoutError(message, FileLocation(source.name, line))
        start, line = end + 1, line + 1


class _Scanner:
    """Walks over the tokens of a source and collects them into parts."""

    def __init__(self, source: Source, report: Callable[[int], None] | None) -> None:
        self.source = source
        self.text = source.text
        self.report = report
        self.part = Part(0)
        self.previous: Part | None = None
        self.operation: RawOperation | None = None
        self.done: list[Part] = []

    def parts(self) -> Iterator[Part]:
        """Yield the parts, each when its end is known."""
        actions: dict[str | None, Callable[[re.Match[str]], None]] = {
            "comment": self._comment,
            "alias": self._alias,
            "next_alias": self._alias,
            "module": self._module,
            "func": self._function,
            "close": self._close,
            "operation": self._end_operation,
            "type": self._type,
            "broken": self._broken,
            "short": self._short,
            "arrow": self._arrow,
            "type_alias": self._type_alias,
            "move": self._move,
            "generic": self._generic,
        }
        next_report = REPORT_EVERY
        for match in self._tokens():
            kind = match.lastgroup
            if kind is None:
                continue
            actions[kind](match)
            if self.done:
                yield from self.done
                self.done.clear()
            if match.start() >= next_report:
                next_report += REPORT_EVERY
                if self.report is not None:
                    self.report(match.start())
        self._separate(len(self.text))
        yield from self.done

    def _tokens(self) -> Iterator[re.Match[str]]:
        first = FIRST_LINE.match(self.text)
        if first is not None:
            yield first
        yield from TOKENS.finditer(self.text, first.end() if first is not None else 0)

    # -- parts ------------------------------------------------------------------------------

    def _separate(
        self, offset: int, pass_name: str | None = None, stage: str | None = None
    ) -> None:
        """End the part and whatever it could refer to; begin another."""
        self.operation = None
        if self.previous is not None:
            # Aliases at the end of a text belong to the module above them.
            self.previous.absorb(self.part)
            self.done.append(self.previous)
            self.previous = None
        else:
            self.done.append(self.part)
        self.part.end = offset
        self.done[-1].end = offset
        self.part = Part(offset, pass_name=pass_name, stage=stage)

    def _succeed(self, offset: int) -> None:
        """Begin another part that may use the aliases of this one."""
        self._confirm()
        self.operation = None
        self.part.end = offset
        self.done.append(self.part)
        self.part = Part(offset, inherited={**self.part.inherited, **self.part.aliases})

    def _confirm(self) -> None:
        """The part is one of its own: the one before it is finished."""
        if self.previous is not None:
            self.done.append(self.previous)
            self.previous = None

    def _comment(self, match: re.Match[str]) -> None:
        if not match.group().startswith("// -----") or not self._begins_line(match.start()):
            return
        header = HEADER.match(match.group())
        if header is not None:
            self._separate(match.start(), header.group(2), header.group(1).lower())
        elif SPLIT.match(match.group()):
            self._separate(match.start())

    def _begins_line(self, offset: int) -> bool:
        start = self.text.rfind("\n", 0, offset) + 1
        return not self.text[start:offset].strip()

    def _alias(self, match: re.Match[str]) -> None:
        self.operation = None
        name, start = match.group(match.lastgroup or 0), match.start(match.lastgroup or 0)
        part = self.part
        is_location = self.text.startswith("loc(", _skip_space(self.text, match.end()))
        if part.module is not None and not (is_location and name not in part.aliases):
            # An alias after a module: the module below it has it, if there is one.
            part.end = start
            self.part = Part(start, inherited={**part.inherited, **part.aliases})
            self._confirm()
            self.previous = part
        elif name in part.aliases and part.functions:
            self._succeed(start)
        self.part.define(name, start, match.end())

    def _module(self, match: re.Match[str]) -> None:
        self.operation = None
        indent = len(match.group("indent"))
        if self.part.module is not None:
            if indent > self.part.indent:
                return  # a module in a module
            self._succeed(match.start("module"))
        self._confirm()
        self.part.open_module(match.start("module"), indent)

    def _function(self, match: re.Match[str]) -> None:
        self.operation = None
        self._confirm()
        self.part.open_function(match.start("func"), len(match.group("indent")))

    def _close(self, match: re.Match[str]) -> None:
        self.operation = None
        self.part.close_region(match.start("close"), len(match.group("indent")))

    # -- operations and types ---------------------------------------------------------------

    def _end_operation(self, match: re.Match[str]) -> None:
        self.operation = None

    def _move(self, match: re.Match[str]) -> None:
        before = self.text[match.start() - 1] if match.start() else " "
        if not (before.isalnum() or before in _NOT_BEFORE_NAME):
            self._begin_operation(match.group("move"), match.start("move"))

    def _generic(self, match: re.Match[str]) -> None:
        self._begin_operation(match.group("generic"), match.start("generic") - 1)

    def _begin_operation(self, name: str, offset: int) -> None:
        self.operation = RawOperation(name, offset, len(self.part.functions))
        self.part.operations.append(self.operation)

    def _arrow(self, match: re.Match[str]) -> None:
        if self.operation is not None:
            self.operation.arrow = len(self.operation.types)

    def _type(self, match: re.Match[str]) -> None:
        self._use(match.group("type"), match.start())

    def _short(self, match: re.Match[str]) -> None:
        self._arrow(match)
        self._use(match.group("short"), match.start("short"))

    def _broken(self, match: re.Match[str]) -> None:
        line_end = self.text.find("\n", match.start(), match.start() + 200)
        end = line_end if line_end >= 0 else match.start() + 200
        self._use(self.text[match.start() : end], match.start())

    def _type_alias(self, match: re.Match[str]) -> None:
        if self.operation is not None:
            self._use(match.group("type_alias"), match.start())

    def _use(self, text: str, offset: int) -> None:
        part = self.part
        number = part.texts.setdefault(text, len(part.texts))
        if number == len(part.firsts):
            part.firsts.append(offset)
        part.offsets.append(offset)
        part.numbers.append(number)
        if self.operation is not None:
            self.operation.types.append(number)
            self.operation.end = offset + len(text)


def _skip_space(text: str, offset: int) -> int:
    """Return the offset of the next character that is no blank; looks at a few only."""
    while offset < len(text) and text[offset] in " \t\r\n":
        offset += 1
    return offset
