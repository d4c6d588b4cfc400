"""Hold bounds of launches against what a GPU measured of them.

usage: judge_bounds.py FOLDER [--only TEXT]

FOLDER has ``launches.jsonl``: a row a launch with its ``name``, ``dump`` (the TTGIR beside it),
``grid``, ``spills``, ``values`` (scalar arguments; of a pointer its address modulo 512) and
``counters`` of Nsight Compute, among them ``sm__cycles_elapsed.max`` and
``gpu__time_duration.sum``.  Prints for each launch the largest bound and its part of the measured
time, then in how many it is below that time, how large it is without spills and with 4 programs
for each multiprocessor and more, and how often the busiest resource of Nsight is the largest of
the three that are compared.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tt_layout.audit.audit import audit_module
from tt_layout.audit.bounds import kernel_bounds
from tt_layout.audit.values.given import PROGRAM_COUNTS, GivenValues
from tt_layout.ir.file_aliases import whole_modules
from tt_layout.mlir.source import read_source

COMPARED = "LSU", "DRAM", "tensor cores"


class Judged(NamedTuple):
    """A launch: the part of its time that each bound is, and what Nsight says is busy."""

    name: str
    parts: Mapping[str, float]
    busy: Mapping[str, float]
    qualifies: bool
    seconds: float

    @property
    def largest(self) -> str:
        return max(self.parts, key=lambda name: self.parts[name])

    @property
    def is_right(self) -> bool:
        own, measured = (
            max(COMPARED, key=lambda name: numbers.get(name, 0))
            for numbers in (self.parts, self.busy)
        )
        return own == measured


def judged(folder: Path, row: Mapping[str, Any]) -> Judged:
    """Return a launch with its bounds."""
    begun = time.process_time()
    counters, grid = row["counters"], tuple(row["grid"])
    [module] = whole_modules(read_source(str(folder / row["dump"])), None, None)
    counts = dict(zip(PROGRAM_COUNTS, (*grid, 1, 1, 1)[:3]))
    names = {
        value.name.lstrip("%")
        for one in audit_module(module).audited.functions
        for value in one.arguments
    }
    known = {name: value for name, value in row["values"].items() if name in names}
    audit = audit_module(module, given=GivenValues({**known, **counts}))
    function = next(
        name
        for name in {one.operation.function for one in audit.movements}
        if name == row["kernel"]
    )
    found = kernel_bounds(audit, function, grid)
    cycles = counters["sm__cycles_elapsed.max"]
    seconds = counters["gpu__time_duration.sum"] * 1e-9
    parts = {bound.resource: bound.cycles / cycles for bound in found.bounds}
    parts["DRAM"] = found.seconds(found.of("DRAM")) / seconds
    moved = sum(counters.get(f"dram__bytes_{way}.sum", 0) for way in ("read", "write"))
    sms = found.rates.multiprocessors
    tensor = found.of("tensor cores").cycles
    busy = {
        "LSU": counters["l1tex__data_pipe_lsu_wavefronts.sum"] / sms / cycles,
        "DRAM": moved / found.rates.dram_bytes / seconds,
        # Its counters are of instructions, whose sizes differ: the FLOPs are those of the dump.
        "tensor cores": tensor / cycles,
    }
    qualifies = not row["spills"] and found.programs >= 4 * sms
    return Judged(row["name"], parts, busy, qualifies, time.process_time() - begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="launches whose names have this text")
    chosen = parser.parse_args()
    lines = (chosen.folder / "launches.jsonl").read_text().splitlines()
    rows = [row for row in map(json.loads, lines) if chosen.only in row["name"]]
    found = []
    for row in rows:
        one = judged(chosen.folder, row)
        found.append(one)
        own = one.parts[one.largest]
        busiest = max(one.busy, key=lambda name: one.busy[name])
        print(
            f"{own:5.2f} {'q' if one.qualifies else ' '} {'=' if one.is_right else '#'} "
            f"{one.largest:17} {busiest:12} {one.busy[busiest]:.2f} "
            f"{one.seconds:5.1f} s  {one.name}",
            {name: round(part, 2) for name, part in one.parts.items() if part > 0.02},
            flush=True,
        )
    below = sum(one.parts[one.largest] <= 1 for one in found)
    right = sum(one.is_right for one in found)
    parts = [one.parts[one.largest] for one in found if one.qualifies]
    large = sum(part >= 0.6 for part in parts)
    print(f"below the time: {below} of {len(found)}; the busiest resource: {right} of {len(found)}")
    print(f"at least 0.6: {large} of {len(parts)}, median {median(parts or [0]):.2f}")


if __name__ == "__main__":
    main()
