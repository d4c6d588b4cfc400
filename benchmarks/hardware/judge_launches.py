"""Compare what is predicted of launches with what a GPU counted of them.

usage: judge_launches.py FOLDER [--release 3.6] [--only TEXT] [--rows FILE]

FOLDER has ``launches.jsonl``: a row a launch with its ``name``, ``dump`` (the TTGIR beside it) and
``values`` (scalar arguments; of a pointer its address modulo 512), and ``ncu/NAME.csv``, the raw
page of Nsight Compute.  Prints each number that differs, and how many do not; --rows writes every
number as a line of JSON, to compare two versions of this package with.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tt_layout.audit.audit import audit_module
from tt_layout.audit.measured.comparison import ComparedCounter
from tt_layout.audit.values.given import GivenValues, parse_values
from tt_layout.ir.file_aliases import whole_modules
from tt_layout.mlir.source import read_source
from tt_layout.releases import Release
from tt_layout.reports.measured import Measurements

ARBITRATION = "arbitration with other traffic"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--release", type=Release.parse)
    parser.add_argument("--only", default="", help="launches whose names have this text")
    parser.add_argument("--rows", type=Path)
    chosen = parser.parse_args()
    lines = (chosen.folder / "launches.jsonl").read_text().splitlines()
    launches = [json.loads(line) for line in lines]
    rows = [
        row
        for launch in launches
        if chosen.only in launch["name"]
        for row in judged(chosen.folder, launch, chosen.release)
    ]
    if chosen.rows is not None:
        chosen.rows.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for row in rows:
        if row["verdict"] not in ("equal", "rough"):
            print(told(row))
    for line in summary(rows):
        print(line)


def judged(
    folder: Path, launch: Mapping[str, Any], release: Release | None
) -> Iterator[dict[str, Any]]:
    """Yield the numbers of a launch beside those predicted."""
    source = read_source(str(folder / launch["dump"]))
    given = values_of(launch)
    page = Measurements(read_source(str(folder / "ncu" / f"{launch['name']}.csv")))
    for module in whole_modules(source, release):
        for compared in page.of(audit_module(module, given=given)):
            for one in compared.counters:
                yield {
                    "launch": launch["name"],
                    "counter": one.counter.name,
                    "measured": one.measured,
                    "predicted": one.predicted,
                    "verdict": verdict(one),
                    "reason": one.reason,
                    "cause": one.cause,
                }


def values_of(launch: Mapping[str, Any]) -> GivenValues:
    """Return the integer arguments of a launch."""
    numbers = {name: one for name, one in launch["values"].items() if isinstance(one, int)}
    return parse_values([f"{name}={number}" for name, number in numbers.items()], {})


def verdict(one: ComparedCounter) -> str:
    """Return how a number stands to that predicted."""
    if one.counter.access == "global access":
        return "rough" if not one.differs else "rough, far"
    if one.predicted is None:
        return "not predicted"
    if one.differs:
        return "arbitration" if one.cause == ARBITRATION else "differs"
    is_equal = abs(one.predicted - one.measured) <= 0.02 * one.measured
    return "equal" if is_equal else "at most"


def told(row: Mapping[str, Any]) -> str:
    """Return a row as a line."""
    predicted = "?" if row["predicted"] is None else f"{row['predicted']:g}"
    why = "; ".join(filter(None, (row["reason"], row["cause"])))
    numbers = f"measured {row['measured']:g}, predicted {predicted}"
    return f"{row['launch']}: {row['counter']}: {numbers}: {row['verdict']} ({why})"


def summary(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield how many numbers have which verdict, wavefronts of shared memory by themselves."""
    shared = [row for row in rows if row["counter"].startswith("shared") and is_turns(row)]
    rough = [row for row in rows if row["verdict"].startswith("rough")]
    rest = [row for row in rows if row not in shared and row not in rough]
    groups = (("numbers", rest), ("wavefronts of shared memory", shared), ("rough", rough))
    for name, group in groups:
        found = Counter(row["verdict"] for row in group)
        yield f"{name}: {len(group)}: {', '.join(f'{n} {v}' for v, n in found.most_common())}"
    wrong = {row["launch"] for row in rest + shared if row["verdict"] not in GOOD}
    yield f"launches: {len({row['launch'] for row in rows} - wrong)} right in all of them"


GOOD = ("equal", "at most", "arbitration")


def is_turns(row: Mapping[str, Any]) -> bool:
    """Tell whether a row counts wavefronts."""
    return bool(row["counter"].endswith("wavefronts"))


if __name__ == "__main__":
    main()
