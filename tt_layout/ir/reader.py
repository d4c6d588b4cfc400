"""Reader of dumps: text to modules in one pass.

A part of a dump is a module, or functions without one.  A new part begins at a ``// -----``
split, at an ``IR Dump Before/After`` header, at a module operation after another, and at
alias definitions after a module where another module follows.

Most passes leave a module unchanged.  The header of the next pass is then followed by the same
text, and the module that was read is reused at another position.

    // -----// IR Dump Before A //----- //
    module { .. }                               read, and known by its text
    // -----// IR Dump Before B //----- //
    module { .. }                               the same text: that module at this place
"""

from __future__ import annotations

import copyreg
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tt_layout.arguments import checks_arguments
from tt_layout.enums import TypeKind
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir.data_movements import DATA_MOVEMENTS
from tt_layout.ir.dump_part import MAX_NESTING, Part
from tt_layout.ir.module import (
    AttributeValue,
    LazyAliases,
    Module,
    ModulePlace,
    PlacedName,
    TypeUses,
)
from tt_layout.ir.operations import MovementOperation
from tt_layout.ir.scope import Interner, Scope
from tt_layout.ir.tokens import (
    HEADER,
    LOCATION,
    SPLIT,
    TOKENS,
    WORD,
    broken_type,
)
from tt_layout.ir.types import IRType
from tt_layout.mlir.source import Source
from tt_layout.releases import Release

_HEAD = re.compile(r'"?[\w.]+"?\s*(?:@(?:[\w$.-]+|"[^"\n]*")\s*)?attributes\s*\{', re.ASCII)
_TAIL = re.compile(r"\}\s*\)\s*\{")
MAX_LENGTH = 1 << 16  # characters of a module that is looked for among those read before

_FUNCTION = re.compile(r'[^@"]*@(?:"([^"\n]*)"|([\w$.-]+))')
_GENERIC_FUNCTION = re.compile(r'\bsym_name\s*=\s*"([^"\n]*)"')
_REGION = re.compile(r"\(\s*\{|\n[ \t]*\n")
_WARPS = re.compile(r"num_warps\s*\(\s*(\d{1,4})\s*\)")
_OWN_WARPS = re.compile(r'"ttg\.num-warps"\s*=\s*(\d{1,4})')
MAX_HEAD = 1 << 16  # characters in which the name of a function is looked for

MAX_TEXTS = 64
"""Texts that are remembered; of those met last."""

MAX_REPEATED = 1 << 22
"""Characters of a text that is remembered."""

REPORT_EVERY = 1 << 20  # characters between two reports of progress
MAX_LINE = 64 << 20  # characters; IR has no longer lines
MAX_MODULES = 30_000
"""Modules of a text, or of a piece of one: an empty one takes as long as kilobytes of a kernel."""
MAX_DIALECT = 64  # characters of the name of a dialect
NEXT_HEADER = "\n// -----// IR Dump "
"""What follows a text that is the same as one before where it is read again."""


# -- modules from notes ----------------------------------------------------------------------------


def module_attributes(source: Source, part: Part) -> dict[str, AttributeValue]:
    """Return the attributes of the module of a part: numbers, strings and truth values.

    Values of other kinds are kept as text.  The generic form has the attributes at its end.
    """
    if part.module is None:
        return {}
    text = source.text
    head = _HEAD.match(text, part.module)
    begin = head.end() if head is not None else None
    for offset in part.closed if begin is None else ():
        tail = _TAIL.match(text, offset)
        if tail is not None:
            begin = tail.end()
            break
    if begin is None:
        return {}
    from tt_layout.ir.ssa.attributes import parse_dictionary

    return parse_dictionary(text[begin - 1 : part.end], 0)[0]


def build_module(source: Source, part: Part, interner: Interner) -> Module:
    """Build the module of a part."""
    scope = Scope(source, part, interner)
    types = [scope.type(text, first) for text, first in zip(part.texts, part.first_offsets)]
    functions = tuple(_function(scope.own, offset) for offset in part.functions)
    start = part.module if part.module is not None else part.start
    aliases = part.aliases.defined if part.has_aliases else part.aliases
    warps = [n for p in (_WARPS, _OWN_WARPS) for n in p.findall(source.text, part.start, part.end)]
    return Module(
        attributes=module_attributes(source, part),
        aliases=LazyAliases(aliases, scope.alias, scope.is_location),
        types=_type_uses(scope.own, part, types),
        functions=functions,
        moves=tuple([PlacedName(name, *scope.own.line_column(at)) for at, name in part.moves]),
        partition_warps=frozenset(int(number) for number in warps),
        symbols=scope,
        stands_alone=part.stands_alone(source.text),
        place=_place(source, part, source.line_column(start)[0]),
        read_operations=_operations,
        error=part.cut_off(source) or _too_deep(scope.own, part, functions),
    )


def _operations(module: Module, numbers: Sequence[int]) -> tuple[MovementOperation, ...]:
    """Read the operations that move data, by a reader that knows what it has read elsewhere."""
    from tt_layout.ir.ssa.reader import SsaReader, movements

    reader = module.symbols.interner.once(SsaReader)
    return tuple(movements(module, reader.on_demand(module), numbers))


def _too_deep(source: Source, part: Part, functions: Sequence[PlacedName]) -> LayoutError | None:
    """Return an error if regions are nested so deeply that not all of them are read."""
    if part.too_deep is None:
        return None
    number = bisect_left(part.functions, part.too_deep) - 1
    where = f" of @{functions[number].name}" if number >= 0 else ""
    message = (
        f"the regions{where} are nested more than {MAX_NESTING} deep, "
        "and what is in those below is not read"
    )
    return LayoutError(message, source.span(part.too_deep, part.too_deep + 1))


def _place(source: Source, part: Part, line: int) -> ModulePlace:
    return ModulePlace(source.span(part.start, part.end), line, part.pass_name, part.stage)


def _type_uses(source: Source, part: Part, types: list[IRType | None]) -> TypeUses:
    """Return the uses of types, without those of undefined aliases."""
    offsets, numbers = part.offsets, part.type_numbers
    missing = {number for number, ir_type in enumerate(types) if ir_type is None}
    if missing:
        kept = [i for i, number in enumerate(numbers) if number not in missing]
        offsets = type(offsets)("q", (offsets[i] for i in kept))
        numbers = type(numbers)("l", (numbers[i] for i in kept))
    placeholder = IRType("", TypeKind.TENSOR, (), "", None, None)
    by_text = {text: ir_type for text, ir_type in zip(part.texts, types) if ir_type is not None}
    every = [ir_type or placeholder for ir_type in types]
    return TypeUses(source, every, by_text, offsets, numbers)


def _function(source: Source, offset: int) -> PlacedName:
    match = _FUNCTION.match(source.text, offset, offset + MAX_HEAD)
    if source.text[offset] == '"':
        region = _REGION.search(source.text, offset)
        end = region.start() if region is not None else len(source.text)
        match = _GENERIC_FUNCTION.search(source.text, offset, min(end, offset + MAX_HEAD))
    name = next((group for group in match.groups() if group), "") if match else ""
    return PlacedName(name, *source.line_column(offset))


# -- repeated modules ------------------------------------------------------------------------------


class KnownTexts:
    """Cache of the texts between headers of a dump."""

    def __init__(self) -> None:
        self._known: dict[str, Module] = {}
        self._repeats: dict[Part, Module] = {}

    def repeats(self, part: Part, text: str) -> bool:
        """Tell whether a text has been read before; if so, remember its module for the part."""
        earlier = self._known.pop(text, None)
        if earlier is None:
            return False
        self._known[text] = earlier
        self._repeats[part] = earlier
        return True

    def add(self, part: Part, module: Module) -> None:
        """Keep the module of a part that is all of the text between two headers.

        Modules with errors are not kept, since these point at positions.
        """
        if part.between_headers is None or module.error is not None or not module.stands_alone:
            return
        if any(isinstance(t.encoding, LayoutError) for t in module.types.distinct):
            return
        start, end = part.between_headers
        if end - start > MAX_REPEATED:
            return
        if len(self._known) >= MAX_TEXTS:
            del self._known[next(iter(self._known))]
        self._known[module.source.text[start:end]] = module

    def module(self, source: Source, part: Part) -> Module | None:
        """Return the module of a part whose text has been read before; None for other parts."""
        module = self._repeats.pop(part, None)
        if module is None:
            return None
        down = source.line_column(part.start)[0] - module.place.first_line
        return replace(module, place=_place(source, part, module.line + down))


# -- the pass over a dump --------------------------------------------------------------------------


@checks_arguments
def parse_ir(text: str, *, name: str = "<ir>", release: Release | None = None) -> list[Module]:
    """Return the modules of a text in MLIR.

    A wrong layout or type is replaced by its error, and a truncated module has an ``error``:
    reading fails only for a very large number of modules.

    Args:
        text: a ``.ttgir`` file, a dump of many modules, or part of one.
        name: name of the text in messages.
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
        interner: objects shared with other sources of the same release.
    """
    interner, texts = interner or Interner(release), KnownTexts()
    for part in _Scanner(source, report, texts).parts():
        module = texts.module(source, part)
        if module is None and not part.is_empty:
            module = build_module(source, part, interner)
            texts.add(part, module)
        if module is not None:
            yield module


def _read_again(source: Source, release: Release | None, line: int) -> Module:
    return next(module for module in iterate_ir(source, release) if module.line == line)


def _reduced(module: Module) -> tuple[object, ...]:
    """Reduce a module for pickling: unpickling reads it again."""
    return _read_again, (module.source, module.symbols.release, module.line)


copyreg.pickle(Module, _reduced)  # type: ignore[arg-type]


def iterate_parts(source: Source) -> Iterator[Part]:
    """Yield the parts of a source, each as soon as it has been read."""
    return (part for part in _Scanner(source).parts() if not part.is_empty)


def check_lines(source: Source) -> None:
    """Raise an error if a line is so long that the text cannot be IR."""
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
    """Scanner of the tokens of a source, which collects them into parts."""

    def __init__(
        self,
        source: Source,
        report: Callable[[int], None] | None = None,
        known: KnownTexts | None = None,
    ) -> None:
        self.source = source
        self.known = known or KnownTexts()
        self.text = source.text
        self.report = report
        self.part = Part(0)
        self.previous: Part | None = None
        self.done: list[Part] = []
        self.count = 0
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
            "open": lambda match: self.part.open_region(match.start()),
            "close": lambda match: self.part.close_region(match.start()),
            "operation": self._operation,
            "generic_operation": self._generic_operation,
            **dict.fromkeys(("tensor", "type", "broken_tensor", "broken"), self._type),
            "short": self._short,
            "type_alias": self._alias_use,
        }
        next_report = REPORT_EVERY
        for match in self._tokens():
            actions[match.lastgroup or ""](match)
            if self.done:
                yield from self._hand_out(match.start())
                self._step_over_known()
            if match.start() >= next_report:
                next_report += REPORT_EVERY
                if self.report is not None:
                    self.report(match.start())
        self._end_part(len(self.text))
        yield from self._hand_out(len(self.text))

    def _hand_out(self, offset: int) -> Iterator[Part]:
        """Yield the finished parts, up to the maximum number of modules."""
        self.count += sum(not part.is_empty for part in self.done)
        if self.count > MAX_MODULES:
            message = f"the text has more than {MAX_MODULES} modules: give them in several files"
            line = self.source.line_column(offset)[0]
            raise LayoutError(message, FileLocation(self.source.name, line))
        yield from self.done
        self.done.clear()

    def _tokens(self) -> Iterator[re.Match[str]]:
        """Yield tokens, except those within an operation, which is read as a whole."""
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
        """Skip to the next header if the text after this one has been read before."""
        if self.begun is None:
            return
        end = self.text.find(NEXT_HEADER, self.begun, self.begun + MAX_LENGTH)
        if end >= 0 and self.known.repeats(self.part, self.text[self.begun : end]):
            self.skip, self.begun = end + 1, None

    # -- parts ------------------------------------------------------------------------------

    def _end_part(
        self, offset: int, pass_name: str | None = None, stage: str | None = None
    ) -> None:
        """End the part and the scope of its aliases; begin another."""
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
        """Finish the previous part: nothing more belongs to it."""
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
        elif SPLIT.match(match.group("split")) and not self._is_inside(match.start()):
            self._end_part(match.start())
            self.begun = None

    def _is_inside(self, offset: int) -> bool:
        """Tell whether an indented comment is inside an open module."""
        return self.part.depth > 0 and self.text[max(0, offset - 1)] in " \t"

    def _begins_line(self, offset: int) -> bool:
        start = self.text.rfind("\n", 0, offset) + 1
        return not self.text[start:offset].strip()

    def _attribute_alias(self, match: re.Match[str]) -> None:
        name, defined = match.group("definition"), self.part.aliases.defined
        value = match.end()
        is_location = self.text.startswith("loc(", value) or bool(LOCATION.match(self.text, value))
        if name in defined or not is_location:
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

    def _operation(self, match: re.Match[str]) -> None:
        """Record an operation that moves data."""
        if match.group("operation") in DATA_MOVEMENTS:
            start = self._word_start(match.start())
            self.part.moves.append((start, self.text[start : match.end()]))

    def _word_start(self, end: int) -> int:
        """Return the start of the word that ends at an offset."""
        text, start = self.text, end
        while start and end - start < MAX_DIALECT and text[start - 1] in WORD:
            start -= 1
        return start

    def _generic_operation(self, match: re.Match[str]) -> None:
        name = match.group("generic_operation")
        if name.rpartition(".")[2] in DATA_MOVEMENTS:
            self.part.moves.append((match.start(), name))

    def _type(self, match: re.Match[str]) -> None:
        """Record the use of a type; of one without an end, of what is kept of it."""
        kind, end = match.lastgroup, match.start()
        is_tensor = kind in ("tensor", "broken_tensor")
        start = end - len("tenso") if is_tensor else self.text.rindex("!", 0, end)
        is_whole = kind in ("tensor", "type")
        text = self.text[start : match.end()] if is_whole else broken_type(self.text, start)
        self._use(text, start)

    def _short(self, match: re.Match[str]) -> None:
        """Record the use of a memdesc that is written without its name."""
        self._use(match.group("short"), match.start("short"))

    def _alias_use(self, match: re.Match[str]) -> None:
        """Record the use of a type alias."""
        if match.group("type_alias") in self.part.type_aliases:
            self._use(match.group(), match.start())

    def _use(self, text: str, offset: int) -> None:
        part = self.part
        number = part.texts.setdefault(text, len(part.texts))
        if number == len(part.first_offsets):
            part.first_offsets.append(offset)
        part.offsets.append(offset)
        part.type_numbers.append(number)
