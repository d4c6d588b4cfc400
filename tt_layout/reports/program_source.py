"""Lines of the user's program, found by the locations in a dump."""

from __future__ import annotations

import os
from functools import lru_cache
from io import StringIO

from tt_layout.errors import LayoutError
from tt_layout.files import is_inside, read_bytes
from tt_layout.ir.operations import Location
from tt_layout.kernels.trace import ProgramText
from tt_layout.safe_text import safe, shortened
from tt_layout.tuples import NamedTuple

MAX_BYTES = 4 << 20  # of a program's file that is read
MAX_LINE = 160  # characters of a line that are shown
ENDING = ".py"


class ProgramSource(NamedTuple):
    """The user's source files.

    A dump from elsewhere may name any file of this machine: wherever the text is passed on to
    others, ``within`` bounds what is read.

    Attributes:
        folder: a folder in which files are found by the end of their path, and only there.
            Without one only absolute paths are read, as the dump has them.
        programs: texts that came with the dump, which take precedence over files.
        within: folders; a file must be below one of them once links are followed; None for
            anywhere.
    """

    folder: str | None = None
    programs: tuple[ProgramText, ...] = ()
    within: tuple[str, ...] | None = None

    def line(self, location: Location | None) -> str | None:
        """Return the text of a line; None where there is no such Python file.

        Example:
            >>> ProgramSource().line(Location("nowhere.py", 3, 1)) is None
            True
        """
        if location is None:
            return None
        first, lines = self.lines(location.file)
        at = location.line - first
        if not 0 <= at < len(lines):
            return None
        return shortened(safe(lines[at].strip()), MAX_LINE) or None

    def lines(self, file: str) -> tuple[int, tuple[str, ...]]:
        """Return the lines of a Python file, with their ends, and the number of the first.

        There are none if there is no such file, or it may not be read.

        Example:
            >>> ProgramSource(programs=(ProgramText("a.py", 7, "x = 1"),)).lines("a.py")
            (7, ('x = 1',))
        """
        if not file.endswith(ENDING):
            return 1, ()
        for program in self.programs:
            if program.file == file:
                return program.start, tuple(program.text.splitlines(True))
        path = self.path(file)
        return 1, _lines(path) if path is not None else ()

    def path(self, file: str) -> str | None:
        """Return the file of a location; None if there is none that may be read."""
        within = self.within
        if self.folder is None:
            return file if os.path.isabs(file) and _is_within(file, within) else None
        within = (self.folder,) if within is None else within
        parts = [
            part for part in file.replace(os.sep, "/").split("/") if part not in ("", ".", "..")
        ]
        for start in range(len(parts)):
            path = os.path.join(self.folder, *parts[start:])
            if os.path.isfile(path) and _is_within(path, within):
                return path
        return None


NO_PROGRAM = ProgramSource(within=())
"""No file is read."""

ANYWHERE = ProgramSource()
"""Files are read where the dump has their absolute paths: for whoever asked, on the screen."""


def near(dump: str | None) -> ProgramSource:
    """Return the source files below the working directory, and below the folder of a dump if any.

    Example:
        >>> near("kernels/a.ttgir").path("/elsewhere/a.py") is None
        True
    """
    folders = [os.getcwd()]
    if dump is not None:
        folders.append(os.path.dirname(os.path.realpath(dump)))
    return ProgramSource(within=tuple(folders))


def _is_within(path: str, folders: tuple[str, ...] | None) -> bool:
    """Tell whether a file, once links are followed, is a Python file below one of the folders."""
    if folders is None:
        return True
    try:
        is_python = os.path.realpath(path).endswith(ENDING)
        return is_python and any(is_inside(path, folder) for folder in folders)
    except (OSError, ValueError):  # it is no name of a file
        return False


@lru_cache(maxsize=64)
def _lines(path: str) -> tuple[str, ...]:
    """Return the lines of a regular file of reasonable size; none for anything else."""
    try:
        text = read_bytes(path, MAX_BYTES).decode(errors="replace")
    except LayoutError:
        return ()
    return tuple(StringIO(text, newline=None))
