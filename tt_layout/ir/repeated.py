"""Modules that a dump prints again: read once, and moved to where they stand.

Most passes leave a module as it is.  The header of the next pass is then followed by the same text
as before, and what was read of it holds but for its place.

    // -----// IR Dump Before A //----- //
    module { .. }                               read, and known by its text
    // -----// IR Dump Before B //----- //
    module { .. }                               the same text: that module, so many characters
                                                (`shift`) and lines (`down`) further down
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from tt_layout.errors import LayoutError
from tt_layout.ir.dump_part import Part
from tt_layout.ir.module import Alias, LazyAliases, Module
from tt_layout.ir.scope import Interner, Scope
from tt_layout.mlir.source import Source

MAX_TEXTS = 64
"""Texts that are remembered; of those met last."""

MAX_LENGTH = 1 << 22
"""Characters of a text that is remembered."""


class KnownText(NamedTuple):
    """Content of a text between two headers.

    Attributes:
        start: where the text begins.
        part: its one part.
        module: the module of it.
    """

    start: int
    part: Part
    module: Module


class KnownTexts:
    """The texts between headers of a dump that have been read."""

    def __init__(self) -> None:
        self._known: dict[str, KnownText] = {}
        self._repeats: dict[Part, tuple[KnownText, int]] = {}

    def repeats(self, part: Part, start: int, text: str) -> bool:
        """Return whether a text has been read before; if so, add the part that begins with it."""
        earlier = self._known.pop(text, None)
        if earlier is None:
            return False
        self._known[text] = earlier
        self._repeats[part] = earlier, start - earlier.start
        return True

    def add(self, part: Part, module: Module) -> None:
        """Note what was read of a part, if it was all between two headers.

        What points at its place, such as errors do, is not remembered.
        """
        if part.between_headers is None or module.error is not None or not module.stands_alone:
            return
        if any(isinstance(t.encoding, LayoutError) for t in module.types.distinct):
            return
        start, end = part.between_headers
        if end - start > MAX_LENGTH:
            return
        if len(self._known) >= MAX_TEXTS:
            del self._known[next(iter(self._known))]
        self._known[module.source.text[start:end]] = KnownText(start, part, module)

    def moved(self, source: Source, part: Part, interner: Interner) -> Module | None:
        """Return the module of a part whose text had been read before; None of another."""
        if part not in self._repeats:
            return None
        repeated, shift = self._repeats.pop(part)
        module = repeated.module
        down = source.line_column(part.start)[0] - source.line_column(repeated.part.start)[0]
        aliases = _MovedAliases(source, repeated.part, shift, interner)
        return replace(
            module,
            line=module.line + down,
            pass_name=part.pass_name,
            stage=part.stage,
            aliases=LazyAliases(module.aliases, aliases.read, module.aliases.is_location),
            types=module.types.moved(shift),
            functions=tuple([f._replace(line=f.line + down) for f in module.functions]),
            operations=tuple([o._replace(line=o.line + down) for o in module.operations]),
            span=source.span(part.start, part.end),
        )


class _MovedAliases:
    """The aliases of a part as they stand further down."""

    def __init__(self, source: Source, part: Part, shift: int, interner: Interner) -> None:
        self._source = source
        self._part = part
        self._shift = shift
        self._interner = interner

    @cached_property
    def _scope(self) -> Scope:
        part = Part(self._part.start + self._shift)
        part.aliases = self._part.aliases.moved(self._shift)
        part.type_aliases = self._part.type_aliases.moved(self._shift)
        return Scope(self._source, part, self._interner)

    def read(self, name: str) -> Alias:
        """Return the value of an alias."""
        return self._scope.alias(name)
