"""One pass over a dump: text to modules.

A part of a dump is a module, or functions without one.  A new part begins at a ``// -----``
split, at an ``IR Dump Before/After`` header, at a module operation after another, and at
alias definitions after a module where another module follows.
"""

from __future__ import annotations

import copyreg
import re
from collections.abc import Callable, Iterator

from tt_layout.arguments import checks_arguments
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir.build import build_module
from tt_layout.ir.dump_part import Part, RawOperation
from tt_layout.ir.module import Module
from tt_layout.ir.repeated import MAX_LENGTH, KnownTexts
from tt_layout.ir.scope import Interner
from tt_layout.ir.tokens import (
    BEFORE_NAME,
    DEPTHS,
    HEADER,
    LOCATION,
    NEXT,
    OPERATION,
    SPLIT,
    TOKENS,
    WORD,
)
from tt_layout.mlir.source import Source
from tt_layout.releases import Release

REPORT_EVERY = 1 << 20  # characters between two reports of progress
MAX_LINE = 64 << 20  # characters; IR has no longer lines
MAX_MODULES = 30_000
"""Modules of a text, or of a piece of one: an empty one takes as long as kilobytes of a kernel."""
MAX_DIALECT = 64  # characters of the name of a dialect
NEXT_HEADER = "\n// -----// IR Dump "
"""What follows a text that is the same as one before where it is read again."""
MAX_BROKEN = 200  # characters of a type without an end that are looked at


@checks_arguments
def parse_ir(text: str, *, name: str = "<ir>", release: Release | None = None) -> list[Module]:
    """Return the modules of a text in MLIR.

    A layout or type that is wrong has its error in its place, and a module that is cut off
    has it in ``error``: reading fails for nothing but very many modules.

    Args:
        text: a ``.ttgir`` file, a dump of many modules, or part of one.
        name: what messages call the text.
        release: the release of Triton whose rules hold; by default, for each attribute, the
            newest that knows all of its keys.

    Raises:
        LayoutError: the text has more than `MAX_MODULES` modules.

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
    interner: Interner | None = None,
) -> Iterator[Module]:
    """Yield the modules of a source, each as soon as it has been read.

    Args:
        source: the text.
        release: as for `parse_ir`.
        report: called now and then with the number of characters read.
        interner: what other sources share with this one, for the same release.
    """
    interner, texts = interner or Interner(release), KnownTexts()
    for part in _Scanner(source, report, texts).parts():
        module = texts.moved(source, part, interner)
        if module is None and not part.is_empty:
            module = build_module(source, part, interner)
            texts.add(part, module)
        if module is not None:
            yield module


def _read_again(source: Source, release: Release | None, line: int) -> Module:
    return next(module for module in iterate_ir(source, release) if module.line == line)


def _reduced(module: Module) -> tuple[object, ...]:
    """Return how a module crosses processes: the other side reads it again."""
    return _read_again, (module.source, module.meanings.release, module.line)


copyreg.pickle(Module, _reduced)  # type: ignore[arg-type]


def iterate_parts(source: Source, report: Callable[[int], None] | None = None) -> Iterator[Part]:
    """Yield the parts of a source that modules are made of, each as soon as it has been read."""
    return (part for part in _Scanner(source, report).parts() if not part.is_empty)


def check_lines(source: Source) -> None:
    """Raise if a line is so long that the text cannot be IR."""
    text, start = source.text, 0
    while len(text) - start > MAX_LINE:
        last = text.rfind("\n", start, start + MAX_LINE + 1)
        if last < 0:
            end = text.find("\n", start)
            length = (len(text) if end < 0 else end) - start
            message = (
                f"the line has {length} characters, more than the {MAX_LINE} that a line may have"
            )
            raise LayoutError(message, FileLocation(source.name, source.line_column(start)[0]))
        start = last + 1


class _Scanner:
    """Walks over the tokens of a source and collects them into parts."""

    def __init__(
        self,
        source: Source,
        report: Callable[[int], None] | None,
        known: KnownTexts | None = None,
    ) -> None:
        self.source = source
        self.known = known or KnownTexts()
        self.text = source.text
        self.report = report
        self.part = Part(0)
        self.previous: Part | None = None
        self.done: list[Part] = []
        self.types: dict[str, Callable[[re.Match[str]], int]] = {
            "tensor": self._tensor,
            "type": self._type,
            "broken_tensor": self._broken_tensor,
            "broken": self._broken,
            "short": self._short,
        }
        self.skip: int | None = None  # where to go on, behind what has been read
        self.begun: int | None = None  # behind the last header, while all is one part

    def parts(self) -> Iterator[Part]:
        """Yield the parts, each when its end is known."""
        actions: dict[str, Callable[[re.Match[str]], object]] = {
            "split": self._split,
            "definition": self._attribute_alias,
            "type_definition": self._type_alias,
            "module": self._module,
            "generic_module": self._module,
            "function": self._function,
            "generic_function": self._function,
            "open": lambda match: self.part.open_region(),
            "close": lambda match: self.part.close_region(match.start()),
            "move": self._move,
            "generic_move": self._generic_move,
            **self.types,
        }
        next_report, count = REPORT_EVERY, 0
        for match in self._tokens():
            actions[match.lastgroup or ""](match)
            if self.done:
                count += len(self.done)
                if count > MAX_MODULES:
                    raise self._too_many(match.start())
                yield from self.done
                self.done.clear()
                self._step_over_known()
            if match.start() >= next_report:
                next_report += REPORT_EVERY
                if self.report is not None:
                    self.report(match.start())
        self._end_part(len(self.text))
        if count + sum(not part.is_empty for part in self.done) > MAX_MODULES:
            raise self._too_many(len(self.text))
        yield from self.done

    def _too_many(self, offset: int) -> LayoutError:
        """Return the error for more modules than a text may have."""
        message = f"the text has more than {MAX_MODULES} modules: give them in several files"
        line = self.source.line_column(offset)[0]
        return LayoutError(message, FileLocation(self.source.name, line))

    def _tokens(self) -> Iterator[re.Match[str]]:
        """Yield tokens, except those within an operation, which is read at once."""
        position: int | None = 0
        while position is not None:
            self.skip = None
            for match in TOKENS.finditer(self.text, position):
                if match.lastgroup is not None:
                    yield match
                    if self.skip is not None:
                        break
            position = self.skip

    def _step_over_known(self) -> None:
        """Go on at the next header if what follows this one has been read before."""
        if self.begun is None:
            return
        end = self.text.find(NEXT_HEADER, self.begun, self.begun + MAX_LENGTH)
        if end >= 0 and self.known.repeats(self.part, self.begun, self.text[self.begun : end]):
            self.skip, self.begun = end + 1, None

    # -- parts ------------------------------------------------------------------------------

    def _end_part(
        self, offset: int, pass_name: str | None = None, stage: str | None = None
    ) -> None:
        """End the part and whatever it could refer to; begin another."""
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

    def _begin_with_aliases(self, offset: int) -> None:
        """Begin another part that may use the aliases of this one."""
        self.begun = None
        self._finish_previous()
        self.part.end = offset
        self.done.append(self.part)
        self.part = Part(offset, above=self.part)

    def _finish_previous(self) -> None:
        """Hand out the part before this one: nothing more belongs to it."""
        if self.previous is not None:
            self.begun = None
            self.done.append(self.previous)
            self.previous = None

    def _split(self, match: re.Match[str]) -> None:
        if not self._begins_line(match.start()):
            return
        header = HEADER.match(match.group("split"))
        if header is not None:
            if self.begun is not None and self.previous is None:
                self.part.between_headers = self.begun, match.start() - 1
            self._end_part(match.start(), header.group(2), header.group(1).lower())
            self.begun = match.end()
        elif SPLIT.match(match.group("split")):
            self._end_part(match.start())
            self.begun = None

    def _begins_line(self, offset: int) -> bool:
        start = self.text.rfind("\n", 0, offset) + 1
        return not self.text[start:offset].strip()

    def _attribute_alias(self, match: re.Match[str]) -> None:
        name, defined = match.group("definition"), self.part.aliases.defined
        value = match.end()
        is_location = self.text.startswith("loc(", value) or bool(LOCATION.match(self.text, value))
        self._begin_aliases(match.start(), name in defined, is_location)
        self.part.aliases.define(name, match.start(), match.end())

    def _type_alias(self, match: re.Match[str]) -> None:
        name = match.group("type_definition")
        self._begin_aliases(match.start(), name in self.part.type_aliases.defined, False)
        self.part.type_aliases.define(name, match.start(), match.end())

    def _begin_aliases(self, start: int, is_defined: bool, is_location: bool) -> None:
        """Begin another part for an alias that does not belong to this one."""
        part = self.part
        if part.module is not None and (is_defined or not is_location):
            # An alias after a module: the module below it has it, if there is one.
            part.end = start
            self.part = Part(start, above=part)
            self._finish_previous()
            self.previous = part
        elif is_defined and part.functions:
            self._begin_with_aliases(start)

    def _module(self, match: re.Match[str]) -> None:
        start = self._name_start(match.start())
        if self.part.module is not None:
            if self.part.depth:
                return  # a module in a module
            self._begin_with_aliases(start)
        self._finish_previous()
        self.part.open_module(start)

    def _function(self, match: re.Match[str]) -> None:
        self._finish_previous()
        self.part.open_function(self._name_start(match.start()))

    def _name_start(self, offset: int) -> int:
        """Return the offset of a name by the offset of its last word."""
        return self._word_start(offset - 1) if self.text[offset - 1 : offset] == "." else offset

    # -- operations and types ---------------------------------------------------------------

    def _move(self, match: re.Match[str]) -> None:
        start = self._word_start(match.start())
        self._operation(self.text[start : match.end()], start, match.end())

    def _word_start(self, end: int) -> int:
        """Return the offset at which the word begins that ends at an offset."""
        text, start = self.text, end
        while start and end - start < MAX_DIALECT and text[start - 1] in WORD:
            start -= 1
        return start

    def _generic_move(self, match: re.Match[str]) -> None:
        self._operation(match.group("generic_move"), match.start(), match.end())

    def _operation(self, name: str, start: int, end_of_name: int) -> None:
        """Note an operation and the types of it; go on where it ends."""
        operation = RawOperation(name, start, len(self.part.functions))
        self.part.operations.append(operation)
        self.skip, depth = len(self.text), 0
        for match in OPERATION.finditer(self.text, end_of_name):
            kind = match.lastgroup
            if kind is None:
                continue
            depth += DEPTHS.get(kind, 0)
            if depth < 0 or kind in NEXT or (kind == "name" and self._is_name(match.start())):
                self.skip = match.start()
                return
            self._add(operation, kind, match)
            if operation.location is not None:
                self.skip = match.end()
                return

    def _is_name(self, dot: int) -> bool:
        """Return whether a dot is that of an operation's name, not of a value's or a type's."""
        start = self._word_start(dot)
        return start == 0 or self.text[start - 1] not in BEFORE_NAME

    def _add(self, operation: RawOperation, kind: str, match: re.Match[str]) -> None:
        """Note a part of an operation."""
        if kind in ("arrow", "short"):
            operation.arrow = len(operation.types)
        if kind in self.types:
            operation.types.append(self.types[kind](match))
        elif kind == "type_alias":
            operation.types.append(self._use(match.group(), match.start()))
        elif kind == "location":
            operation.location = match.end()

    def _tensor(self, match: re.Match[str]) -> int:
        """Note the use of a type that begins with ``tensor``; return its number."""
        start = match.start() - len("tenso")
        return self._use(self.text[start : match.end()], start)

    def _type(self, match: re.Match[str]) -> int:
        """Note the use of a type that begins with ``!``; return its number."""
        start = self.text.rindex("!", 0, match.start())
        return self._use(self.text[start : match.end()], start)

    def _broken_tensor(self, match: re.Match[str]) -> int:
        return self._use_broken(match.start() - len("tenso"))

    def _broken(self, match: re.Match[str]) -> int:
        return self._use_broken(self.text.rindex("!", 0, match.start()))

    def _short(self, match: re.Match[str]) -> int:
        """Note the use of a memdesc that is written without its name; return its number."""
        return self._use(match.group("short"), match.start("short"))

    def _use_broken(self, start: int) -> int:
        """Note the use of a type without an end; return its number."""
        line_end = self.text.find("\n", start, start + MAX_BROKEN)
        end = line_end if line_end >= 0 else start + MAX_BROKEN
        return self._use(self.text[start:end], start)

    def _use(self, text: str, offset: int) -> int:
        part = self.part
        number = part.texts.setdefault(text, len(part.texts))
        if number == len(part.first_offsets):
            part.first_offsets.append(offset)
        part.offsets.append(offset)
        part.type_numbers.append(number)
        return number
