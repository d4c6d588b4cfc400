"""PTX and AMDGCN of a compiled kernel, with the source location of each line.

Source:
    PTX ISA, "Debugging Directives: .loc, .file"; LLVM, AMDGPUUsage, and the comments with which its
    assembly printer marks spills ("Folded Spill").
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from tt_layout.errors import LayoutError
from tt_layout.files import read_bytes
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

ENDINGS = (".ptx", ".amdgcn")
"""How the files of assembly end that ties are read from."""

MAX_BYTES = 2 << 20
"""Of a file of assembly that is read: one more is left out, with the reason."""

_DEBUG = re.compile(r"^[ \t]*\.section[ \t]+\.debug_", re.MULTILINE)
_FILE = re.compile(r'^[ \t]*\.file[ \t]+(\d{1,9})[ \t]+((?:"[^"\n]*"[ \t]*){1,2})', re.MULTILINE)
_PLACE = re.compile(r"[ \t]*\.loc[ \t]+(\d{1,9})[ \t]+(\d{1,9})[ \t]+(\d{1,9})")
_INSTRUCTION = re.compile(r"\s*(?:@!?%?\w+\s+)?([a-z][a-z0-9_]*(?:[.:]+\w+)*)(?=[\s;]|$)")
_SPILL = re.compile(r"; (?:\d{1,9}-byte )?Folded (?:Spill|Reload)|\b(?:ld|st)\.local\b")
_END = re.compile(r"\}\s*$|\s*s_endpgm\b")


class ProgramPlace(NamedTuple):
    """A place in the program: the end of a file's path, line and column."""

    file: str
    line: int
    column: int


class AssemblyLines(NamedTuple):
    """Consecutive lines of assembly with one source location.

    Attributes:
        first, last: the first and the last line, from 1.
        place: the location in the program.
    """

    first: int
    last: int
    place: ProgramPlace


@dataclass(frozen=True)
class Assembly:
    """The assembly of a compiled kernel.

    Attributes:
        name: name of its file, without folders.
        text: the code, without debug sections.
        pieces: the lines with a known source location.
        spills: lines that spill or reload registers.
    """

    name: str
    text: str
    pieces: tuple[AssemblyLines, ...]
    spills: tuple[int, ...]

    def instructions(self, piece: AssemblyLines) -> Iterator[tuple[int, str]]:
        """Yield line and name of each instruction of a piece."""
        for number in range(piece.first, piece.last + 1):
            name = instruction_of(self.lines[number - 1])
            if name is not None:
                yield number, name

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.text.split("\n")


class AssemblyText(NamedTuple):
    """Available assembly, read on demand.

    Attributes:
        name: name of its file, without folders.
        path: path of the file; None if the text is given.
        text: the assembly.
    """

    name: str
    path: str | None = None
    text: str | None = None

    def read(self) -> Assembly | None:
        """Return the assembly; None where it cannot be read, or is too large."""
        text = self.text
        if self.path is not None:
            try:
                text = read_bytes(self.path, MAX_BYTES).decode(errors="replace")
            except LayoutError:
                return None
        if text is None or len(text) > MAX_BYTES:
            return None
        return read_assembly(text, self.name)


def assembly_beside(path: str) -> AssemblyText | None:
    """Return the assembly beside a dump, as Triton's cache has it; None without any.

    Example:
        >>> assembly_beside("nowhere/kernel.ttgir") is None
        True
    """
    stem, _ = os.path.splitext(path)
    files = (f"{stem}{ending}" for ending in ENDINGS)
    found = next(filter(os.path.isfile, files), None)
    return AssemblyText(os.path.basename(found), found) if found is not None else None


def assembly_in(texts: Mapping[str, Any]) -> AssemblyText | None:
    """Return the assembly among the stages of a compiled kernel; None without any.

    Example:
        >>> assembly_in({"ptx": "ret;"})
        AssemblyText(name='kernel.ptx', path=None, text='ret;')
    """
    for ending in ENDINGS:
        text = texts.get(ending[1:])
        if isinstance(text, str):
            return AssemblyText(f"kernel{ending}", None, text)
    return None


@lru_cache(maxsize=2)
def read_assembly(text: str, name: str) -> Assembly:
    r"""Read the pieces and the spills of assembly, once for all modules of a dump.

    Args:
        text: PTX or AMDGCN.
        name: name of its file.

    Example:
        >>> text = '.file 1 "/a/k.py"\n.loc 1 7 3\nst.local.b32 [%r1], %r2;\n'
        >>> read = read_assembly(text, "k.ptx")
        >>> read.pieces, read.spills
        ((AssemblyLines(first=3, last=3, place=ProgramPlace(file='k.py', line=7, column=3)),), (3,))
    """
    files = {match[1]: _end_of(match[2]) for match in _FILE.finditer(text)}
    debug = _DEBUG.search(text)
    text = text[: debug.start()] if debug is not None else text
    pieces: list[AssemblyLines] = []
    spills: list[int] = []
    place: ProgramPlace | None = None
    for number, line in enumerate(text.split("\n"), 1):
        at = _PLACE.match(line)
        if at is not None:
            file, source_line, column = at.groups()
            is_known = file in files and int(source_line) > 0
            place = ProgramPlace(files[file], int(source_line), int(column)) if is_known else None
            continue
        if _SPILL.search(line) is not None:
            spills.append(number)
        if place is not None and instruction_of(line) is not None:
            last = pieces[-1] if pieces else None
            if last is not None and last.place == place and last.last >= number - 2:
                pieces[-1] = last._replace(last=number)
            else:
                pieces.append(AssemblyLines(number, number, place))
        if _END.match(line) is not None:
            place = None
    return Assembly(name, text.rstrip("\n"), tuple(pieces), tuple(spills))


def instruction_of(line: str) -> str | None:
    r"""Return the name of a line's instruction; None if it has none.

    Example:
        >>> instruction_of("\t@%p1 ld.global.v4.b32 \t{ %r1 }, [ %rd1 + 0 ];")
        'ld.global.v4.b32'
        >>> instruction_of("; %bb.0:"), instruction_of("\ts_waitcnt vmcnt(0)")
        (None, 's_waitcnt')
    """
    match = _INSTRUCTION.match(line)
    return match[1] if match is not None else None


def _end_of(names: str) -> str:
    """Return the last part of the path in the strings of a directive."""
    last: str = re.findall(r'"([^"]*)"', names)[-1]
    return last.replace("\\", "/").rpartition("/")[2]
