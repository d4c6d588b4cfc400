"""Hold the estimate of registers against what the compilers took.

usage: judge.py FOLDER... [--rows]

FOLDER is what make.py has written.  For each target, of the families that nothing was fitted to
and of all, dumps among them: the correlation with registers and spills, the precision and recall
of ``spills``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.registers import RegisterPressure, module_registers
from tt_layout.audit.registers.pressure import worst
from tt_layout.ir.file_aliases import whole_modules
from tt_layout.mlir.source import read_source


class Row(NamedTuple):
    """A kernel: what was estimated, and what the compiler took."""

    name: str
    target: str
    is_fitted: bool | None
    found: RegisterPressure
    registers: int
    spilled: int

    @property
    def truth(self) -> int:
        return self.registers + self.spilled


def rows_of(folder: Path) -> list[Row]:
    """Return the kernels that compiled."""
    found = []
    lines = map(json.loads, (folder / "truth.jsonl").read_text().splitlines())
    for one in {each["name"]: each for each in lines if "error" not in each}.values():
        [module] = whole_modules(read_source(str(folder / f"{one['name']}.ttgir")), None, None)
        pressure = worst(module_registers(AuditedModule(module, SharedWork())))
        if pressure is not None:
            facts = one["target"], one["is_fitted"], pressure, one["registers"], one["spilled"]
            found.append(Row(one["name"], *facts))
    return found


def told(rows: Sequence[Row]) -> str:
    """Return how well kernels are told."""
    truth, guess = ([row.truth for row in rows], [row.found.needed for row in rows])
    correlation = np.corrcoef(truth, guess)[0, 1] if len(rows) > 2 else float("nan")
    hit = sum(row.found.spills and row.spilled > 0 for row in rows)
    said, did = (sum(row.found.spills for row in rows), sum(row.spilled > 0 for row in rows))
    return (
        f"{len(rows):4} kernels, correlation {correlation:.3f}, {did} spill, {said} told, "
        f"precision {hit / max(1, said):.2f}, recall {hit / max(1, did):.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--rows", action="store_true", help="print every kernel")
    chosen = parser.parse_args()
    rows = [row for folder in chosen.folders for row in rows_of(folder)]
    if chosen.rows:
        for row in sorted(rows, key=lambda row: (row.target, row.name)):
            print(
                row.target,
                row.name,
                row.found.needed,
                row.registers,
                row.spilled,
                row.found.limit,
                "fitted" * bool(row.is_fitted),
            )
    held_out = [row for row in rows if row.is_fitted is False]
    for title, own in (("held out", held_out), ("all", rows)):
        for target in dict.fromkeys(row.target for row in rows):
            print(f"{title:9} {target:8}", told([row for row in own if row.target == target]))
        print(f"{title:9} {'each':8}", told(own))
    large = [row for row in rows if row.spilled > 100]
    missed = [row.name for row in large if not row.found.spills]
    print(f"more than 100 spills: {len(large)}, not told: {', '.join(missed) or 'none'}")


if __name__ == "__main__":
    main()
