"""Locations of operations in the user's program."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tt_layout.ir.operations import Location
from tt_layout.ir.tokens import LOCATION
from tt_layout.mlir.aliases import Definition
from tt_layout.mlir.source import QUOTED, STRING, Source

_PIECE = re.compile(
    rf"""[^"\#()]*(?:
        "(?P<file>{STRING})"\s*:\s*(?P<line>\d{{1,9}})\s*:\s*(?P<column>\d{{1,9}})
      | {QUOTED}
      | \#(?P<alias>[\w$-]+)
      | (?P<open>\((?<!loc\())
      | (?P<close>\)))""",
    re.VERBOSE,
)
MAX_PIECES = 100
MAX_LENGTH = 1 << 12  # characters of a location that are looked at
MAX_NESTING = 64


class Locations:
    """Resolves locations through their aliases; remembers what it has found.

    Of a call site the callee counts, of fused locations the first that names a file.
    """

    def __init__(self, source: Source, definitions: Mapping[str, Definition]) -> None:
        self._text = source.text
        self._definitions = definitions
        self._found: dict[str, Location | None] = {}

    def of_text(self, text: str) -> Location | None:
        """Return the location that the content of ``loc(...)`` leads to."""
        alias = text[1:]
        if text.startswith("#") and alias in self._definitions:
            return self._alias(alias, 0)
        return self._resolve(text, 0, 0)

    def of_operation(self, start: int | None) -> Location | None:
        """Return the location whose text, behind ``loc(``, begins at an offset."""
        return self._resolve(self._text, start, 0) if start is not None else None

    def _resolve(self, text: str, offset: int, nesting: int) -> Location | None:
        """Return the first location that the text within ``loc(...)`` leads to."""
        depth, end = 0, offset + MAX_LENGTH
        for _ in range(MAX_PIECES):
            piece = _PIECE.match(text, offset, end)
            if piece is None:
                return None
            offset = piece.end()
            if piece.group("file") is not None:
                return Location(piece["file"], int(piece["line"]), int(piece["column"]))
            if piece.group("alias") is not None:
                location = self._alias(piece["alias"], nesting)
                if location is not None:
                    return location
            depth += (piece.group("open") is not None) - (piece.group("close") is not None)
            if depth < 0:
                return None
        return None

    def _alias(self, name: str, nesting: int) -> Location | None:
        if name in self._found:
            return self._found[name]
        self._found[name] = None  # no location is its own
        definition = self._definitions.get(name)
        if definition is not None and nesting < MAX_NESTING:
            match = LOCATION.match(self._text, definition.value)
            if match is not None:
                self._found[name] = self._resolve(self._text, match.end(), nesting + 1)
        return self._found[name]
