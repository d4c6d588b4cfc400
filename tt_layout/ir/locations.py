"""Where in the user's program an operation comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tt_layout.ir.operations import Location
from tt_layout.mlir.aliases import Definition
from tt_layout.mlir.source import Source

_LOC = re.compile(r"[^\n]*?\bloc\(")
_PIECE = re.compile(
    r"""[^"\#()\n]*(?:
        "(?P<file>(?:[^"\\\n]|\\.)*)":(?P<line>\d{1,9}):(?P<column>\d{1,9})
      | "(?:[^"\\\n]|\\.)*"
      | \#(?P<alias>[\w$-]+)
      | (?P<open>\()
      | (?P<close>\)))""",
    re.VERBOSE,
)
MAX_PIECES = 1000
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
        if text.startswith("#") and f"#{alias}" in self._definitions:
            return self._alias(alias, 0)
        return self._resolve(text, 0, 0)

    def of_operation(self, end: int) -> Location | None:
        """Return the location that follows an offset on its line."""
        match = _LOC.match(self._text, end)
        return self._resolve(self._text, match.end(), 0) if match is not None else None

    def _resolve(self, text: str, offset: int, nesting: int) -> Location | None:
        """Return the first place that the text within ``loc(...)`` leads to."""
        depth = 0
        for _ in range(MAX_PIECES):
            piece = _PIECE.match(text, offset)
            if piece is None:
                return None
            offset = piece.end()
            if piece.group("file") is not None:
                return Location(piece["file"], int(piece["line"]), int(piece["column"]))
            if piece.group("alias") is not None:
                found = self._alias(piece["alias"], nesting)
                if found is not None:
                    return found
            depth += (piece.group("open") is not None) - (piece.group("close") is not None)
            if depth < 0:
                return None
        return None

    def _alias(self, name: str, nesting: int) -> Location | None:
        if name in self._found:
            return self._found[name]
        self._found[name] = None  # no location is its own
        definition = self._definitions.get(f"#{name}")
        if definition is not None and nesting < MAX_NESTING:
            match = _LOC.match(self._text, definition.value)
            if match is not None:
                self._found[name] = self._resolve(self._text, match.end(), nesting + 1)
        return self._found[name]
