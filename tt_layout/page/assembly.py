"""The assembly of a kernel as the page gets it, tied to the lines of dump and program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tt_layout.audit.audit import Audit
from tt_layout.audit.ties import ties_of
from tt_layout.kernels.assembly import MAX_BYTES, Place
from tt_layout.safe_text import safe
from tt_layout.wording import count


def embedded_assembly(
    audits: Sequence[Audit], modules: Sequence[dict[str, Any]]
) -> dict[str, Any] | None:
    """Return the assembly of a dump, and tie each of its modules to it.

    Args:
        audits: of the modules.
        modules: the page's data of them, in the same order; those that are tied get ``tied``, and
            their data movements ``became``.
    """
    numbers: dict[Place, int] = {}
    embedded = None
    for audit, module in zip(audits, modules):
        ties = ties_of(audit)
        if ties is None:
            if (left_out := audit.known.assembly) is not None:
                most = f"{MAX_BYTES >> 20} MiB"
                reason = f"cannot be read, or is more than {most}: the page is without it"
                module["summary"].append(f"{safe(left_out.name)} {reason}")
            continue
        assembly = ties.assembly
        pieces = [
            [piece.first, piece.last, numbers.setdefault(piece.place, len(numbers))]
            for piece in assembly.pieces
        ]
        module["tied"] = {
            line: numbers.setdefault(place, len(numbers)) for line, place in ties.places.items()
        }
        for movement in module["movements"]:
            found = ties.instructions(movement["line"], movement["group"])
            movement["became"] = [[name, len(lines), lines[0]] for name, lines in found]
        registers = audit.known.registers
        spilled = registers.spilled if registers is not None else None
        embedded = {
            "name": safe(assembly.name),
            "text": assembly.text,
            "pieces": pieces,
            "spills": assembly.spills,
            "about": _spills_text(len(assembly.spills), spilled, assembly.name),
        }
    return embedded and embedded | {"places": [list(place) for place in numbers]}


def _spills_text(lines: int, spilled: int | None, name: str) -> str:
    """Return what is known of spilled registers, and of where they are."""
    if lines:
        return f"{count(lines, 'line')} spill registers or load what was spilled"
    if not spilled:
        return "no register is spilled" if spilled == 0 else ""
    where = "PTX does not show where: ptxas chooses it" if name.endswith(".ptx") else ""
    return "; ".join(filter(None, [f"{count(spilled, 'register')} spilled", where]))
