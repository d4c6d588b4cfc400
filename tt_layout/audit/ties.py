"""Operations of a dump tied to the assembly that they became, by their place in the program.

The compiler moves code, and gives what it makes of several operations the place of one: a tie says
that lines have one place of the program, no more.  The instructions of a data movement are those of
its place that move data the way it does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tt_layout.audit.audit import Audit
from tt_layout.grouping import grouped
from tt_layout.ir.data_movements import MovementKind
from tt_layout.kernels.assembly import Assembly, AssemblyLines, ProgramPlace
from tt_layout.records import dataclass

_SHARED = r"(?:ld|st)\.(?:\w+\.)*shared|(?:ld|st)matrix|shfl|ds_|v_permlane|v_.*dpp|prmt|redux"
_BECOMES: Mapping[str, str] = {
    MovementKind.CONVERSION: _SHARED,
    MovementKind.LOCAL_LOAD: r"ld\.(?:\w+\.)*shared|ldmatrix|ds_(?:read|load)|tcgen05\.ld",
    MovementKind.LOCAL_STORE: r"st\.(?:\w+\.)*shared|stmatrix|ds_(?:write|store)|tcgen05\.st",
    MovementKind.ALLOCATION: r"st\.(?:\w+\.)*shared|stmatrix|ds_(?:write|store)|tcgen05\.",
    MovementKind.GLOBAL_LOAD: r"ld\.(?:\w+\.)*global|(?:global|buffer|flat)_load",
    MovementKind.GLOBAL_STORE: r"st\.(?:\w+\.)*global|(?:global|buffer|flat)_store",
    MovementKind.GLOBAL_ATOMIC: r"(?:atom|red)\.|(?:global|buffer|flat)_atomic",
    MovementKind.COPY_IN: (
        r"cp\.async(?!\.(?:commit|wait))|(?:global|buffer)_load|tensor_load|ds_(?:write|store)"
    ),
    MovementKind.COPY_OUT: (
        r"cp\.(?:async(?!\.(?:commit|wait))|reduce)|tensor_store|(?:global|buffer)_store"
    ),
    MovementKind.COPY_WITHIN: r"tcgen05\.cp",
    MovementKind.REDUCTION: _SHARED,
    MovementKind.SCAN: _SHARED,
    MovementKind.GATHER: _SHARED,
    MovementKind.HISTOGRAM: rf"{_SHARED}|atom|red\.",
}
"""Group of a data movement -> regular expression for the start of its instructions."""


@dataclass(frozen=True)
class Ties:
    """The ties of a module to the assembly of its kernel.

    Attributes:
        assembly: the kernel's assembly.
        places: line of the dump -> location of its operation in the program.
        pieces: location in the program -> lines of assembly that come from it.
    """

    assembly: Assembly
    places: Mapping[int, ProgramPlace]
    pieces: Mapping[ProgramPlace, Sequence[AssemblyLines]]

    def instructions(self, line: int, group: str) -> list[tuple[str, list[int]]]:
        """Return the instructions of a data movement, with the lines of each.

        Args:
            line: line in the dump.
            group: group of the data movement.
        """
        pattern = _BECOMES.get(group)
        found: dict[str, list[int]] = {}
        for piece in self.pieces.get(self.places[line], ()) if line in self.places else ():
            for number, name in self.assembly.instructions(piece):
                if pattern is not None and re.match(pattern, name):
                    found.setdefault(name, []).append(number)
        return list(found.items())


def ties_of(audit: Audit) -> Ties | None:
    """Return the ties of a module; None without the assembly of its kernel."""
    known = audit.known.assembly
    assembly = known.read() if known is not None else None
    if assembly is None:
        return None
    pieces = grouped(assembly.pieces, lambda piece: piece.place)
    # An operation without a place of its own has that of its text in the dump that was compiled.
    dumps = {place.file for place in pieces if place.file.endswith(".ttgir")}
    dump = next(iter(dumps)) if len(dumps) == 1 else None
    places = {}
    for function in audit.audited.functions:
        for entry in audit.audited.operations_of(function.name):
            location = function.location(entry.operation)
            if location is not None:
                name = location.file.replace("\\", "/").rpartition("/")[2]
                places[entry.operation.line] = ProgramPlace(name, location.line, location.column)
            elif dump is not None:
                line, column = entry.operation.line, entry.operation.column
                places[line] = ProgramPlace(dump, line, column)
    return Ties(assembly, places, pieces)
