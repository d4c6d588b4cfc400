"""Compare what a profiler counted of random kernels with what `audit` reports of them.

usage: global_check.py FOLDER [COUNTERS.csv [OUT.jsonl]]

FOLDER is what `global_kernels.py` writes, COUNTERS.csv what ncu printed while
`launch_kernels.py` launched its kernels.  Prints how many loads and stores agree in requests and
sectors, and each that does not; OUT receives a line per kernel with its counters.  Without
counters, the kernels that `audit` cannot count or that reach too far are dropped from the folder:
do that before launching them.  Needs tt-layout, but no GPU.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.audit.values.evaluator import Evaluator, Unknown
from tt_layout.audit.values.given import GivenValues
from tt_layout.ir.ssa import read_functions

METRICS = {
    ("load", "requests"): "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    ("load", "sectors"): "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    ("store", "requests"): "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    ("store", "sectors"): "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
}
REACH = 1 << 26
"""Bytes from a pointer that a kernel may go; `launch_kernels.py` has twice as many."""

Counts = dict[tuple[str, str], int]


def predicted(row: dict[str, Any]) -> Counts:
    """Return requests and sectors of the load and the store, over all programs of the grid.

    Raises:
        ValueError: some of them are unknown.
    """
    [module] = parse_ir(row["ttgir"])
    counts: Counter[tuple[str, str]] = Counter(dict.fromkeys(METRICS, 0))
    for given in programs(row):
        for movement in audit_module(module, given=given).movements:
            kind = movement.operation.name.removeprefix("tt.")
            if kind not in ("load", "store"):
                continue
            details = movement.cost.details.data() if movement.cost is not None else {}
            for unit in ("requests", "sectors"):
                number = details.get(f"total_{unit}")
                if number is None:
                    raise ValueError(f"{unit} unknown: {details.get('unknown')}")
                counts[kind, unit] += number
    return dict(counts)


def programs(row: dict[str, Any]) -> Iterator[GivenValues]:
    """Yield the arguments and ids of each program of the grid."""
    for x in range(row["grid"][0]):
        for y in range(row["grid"][1]):
            yield GivenValues({**row["args"], "program_id_x": x, "program_id_y": y})


def reach(row: dict[str, Any]) -> int:
    """Return how many bytes from its pointers a kernel goes at most, masked or not."""
    [module] = parse_ir(row["ttgir"])
    [function] = read_functions(module)
    accesses = [o for o in function.walk() if o.name in ("tt.load", "tt.store")]
    farthest = 0
    for given in programs(row):
        evaluator = Evaluator(function, given)
        for access in accesses:
            for [addresses] in evaluator.each_execution(access, access.operands[:1]):
                if isinstance(addresses, Unknown):
                    raise ValueError(f"addresses unknown: {addresses}")
                farthest = max(farthest, int(abs(addresses).max()))
    return farthest


def read_rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "kernels.jsonl").read_text().splitlines()]


def read_counters(path: str) -> list[dict[str, str]]:
    """Return the rows of ncu's raw page, one per launch; the row of units has no ID."""
    lines = Path(path).read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith('"ID"'))
    return [row for row in csv.DictReader(lines[first:]) if row["ID"]]


def drop_unknown(folder: Path) -> None:
    """Keep the kernels that can be counted."""
    kept = []
    for row in read_rows(folder):
        try:
            predicted(row)
            if reach(row) > REACH:
                raise ValueError("it reaches too far")
        except ValueError as error:
            print(f"dropped {row['binary']}: {error}")
            (folder / row["binary"]).unlink()
        else:
            kept.append(row)
    text = "".join(json.dumps(row) + "\n" for row in kept)
    (folder / "kernels.jsonl").write_text(text)
    print(f"{len(kept)} kernels")


def compare(folder: Path, counters: str, out: str | None) -> int:
    rows, launches = read_rows(folder), read_counters(counters)
    if len(rows) != len(launches):
        raise SystemExit(f"{len(rows)} kernels, but {len(launches)} launches were counted")
    agree: Counter[str] = Counter()
    lines, wrong = [], 0
    for row, launch in zip(rows, launches):
        measured = {key: round(float(launch[m].replace(",", ""))) for key, m in METRICS.items()}
        expected = predicted(row)
        for kind in ("load", "store"):
            pairs = [(expected[kind, u], measured[kind, u]) for u in ("requests", "sectors")]
            is_right = all(a == b for a, b in pairs)
            agree[f"{kind}s as counted" if is_right else f"{kind}s otherwise"] += 1
            if not is_right:
                wrong += 1
                print(f"{row['binary']} {kind}: requests, sectors expected and counted: {pairs}")
        found = {f"{kind}_{unit}": number for (kind, unit), number in measured.items()}
        lines.append(json.dumps({**row, "counters": found}) + "\n")
    if out is not None:
        Path(out).write_text("".join(lines))
    for what, number in sorted(agree.items()):
        print(f"{number:6d}  {what}")
    return 1 if wrong else 0


def main(folder: str, counters: str | None = None, out: str | None = None) -> int:
    if counters is None:
        drop_unknown(Path(folder))
        return 0
    return compare(Path(folder), counters, out)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
