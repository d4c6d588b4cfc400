"""Lines of the user's program, which a dump names as locations."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tt_layout.ir.operations import Location
from tt_layout.kernels.trace import ProgramText
from tt_layout.safe_text import safe, shortened

MAX_BYTES = 4 << 20  # of a program's file that is read
MAX_LINE = 160  # characters of a line that are shown


class ProgramSource(NamedTuple):
    """Where the files of the user's program are.

    Attributes:
        folder: a folder in which a file is looked for by the end of its path.  Without one
            only absolute paths are read, as the dump has them.
        programs: texts that came with the dump, which go before files.
    """

    folder: str | None = None
    programs: tuple[ProgramText, ...] = ()

    def line(self, location: Location | None) -> str | None:
        """Return the text of a line; None where there is no such file of Python.

        Example:
            >>> ProgramSource().line(Location("nowhere.py", 3, 1)) is None
            True
        """
        if location is None or location.line < 1 or not location.file.endswith(".py"):
            return None
        lines = self._lines(location.file)
        if location.line > len(lines):
            return None
        return shortened(safe(lines[location.line - 1].strip()), MAX_LINE) or None

    def text(self, file: str) -> str | None:
        """Return the whole text of a file of Python; None where there is none."""
        lines = self._lines(file) if file.endswith(".py") else ()
        return "".join(lines) or None

    def _lines(self, file: str) -> tuple[str, ...]:
        for program in self.programs:
            if program.file == file:
                return ("",) * (program.start - 1) + tuple(program.text.splitlines(True))
        path = self.path(file)
        return _lines(path) if path is not None else ()

    def path(self, file: str) -> str | None:
        """Return the file that a location means; None where there is none."""
        if self.folder is None:
            return file if os.path.isabs(file) else None
        parts = [part for part in Path(file).parts if part not in ("/", "..")]
        for start in range(len(parts)):
            path = os.path.join(self.folder, *parts[start:])
            if os.path.isfile(path):
                return path
        return None


NO_PROGRAM = ProgramSource()
"""Files are read only where the dump has their absolute paths."""


@lru_cache(maxsize=64)
def _lines(path: str) -> tuple[str, ...]:
    """Return the lines of a regular file of reasonable size; none of anything else."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > MAX_BYTES:
            return ()
        with open(path, encoding="utf-8", errors="replace") as file:
            return tuple(file)
    except OSError:
        return ()
