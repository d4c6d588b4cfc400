"""Hold what binds a kernel without a grid against what binds its launch.

usage: judge_waves.py [--launches FOLDER] [--sweep FILE ..] [--of-each N]

Without a grid an audit assumes a full wave, or says that it depends on the grid.  The launch is
audited with its grid and arguments.  Judged are the kernels of ``examples`` with usual
sizes; FOLDER, which has ``launches.jsonl`` with ``name``, ``dump`` (the TTGIR beside it),
``grid`` and ``values``; and FILEs, compressed by xz, with lines of ``name``, ``grid``,
``values`` and ``ttgir``, N of each name.  Prints ``=`` where both agree, ``#`` where not, ``?``
where no resource is named without a grid, and how many there are of each.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.bounds import KernelBounds, kernel_bounds
from tt_layout.audit.values.given import PROGRAM_COUNTS, GivenValues
from tt_layout.ir import parse_ir

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = ("kernels", "workloads", "narrow")

_ROWS = {f"{name}_{matrix}": 4096 for name in ("stride", "row") for matrix in "abc"}
_PRODUCT = {**_ROWS, "K": 4096, "inner_a": 1, "m": 4096, "n": 4096}

USUAL: Mapping[str, tuple[Sequence[int], Mapping[str, int]]] = {
    "matmul": ((32, 64), _PRODUCT),
    "grouped_matmul": ((64, 64), _PRODUCT),
    "workloads/grouped_matmul": ((224,), {"K": 4096, "N_WHOLE": 14336, "count": 8}),
    "int8_matmul": ((64, 64), _PRODUCT),
    "split_k": ((64, 64, 4), _PRODUCT),
    "attention": ((64,), {"length": 4096, "start": 0}),
    "attention_backward": ((64,), {"length": 4096}),
    "softmax": ((4096,), {"stride": 1024, "width": 1024}),
    "layer_norm": ((4096,), {"stride": 1024, "width": 1024, "n": 1024}),
    "scan": ((1024,), {"stride": 64}),
    "vector_add": ((4096,), {"n": 4096 * 1024}),
    "column_major": ((1024,), {"stride": 1024}),
    "convolution": ((1568,), {"HEIGHT": 224, "WIDTH": 224}),
}
"""Kernel of the examples -> a usual grid, and arguments."""


class Case(NamedTuple):
    """A launch of a kernel."""

    name: str
    text: str
    grid: Sequence[int]
    values: Mapping[str, Any]


def examples() -> Iterator[Case]:
    """Yield the kernels of the examples."""
    for folder in FOLDERS:
        for path in sorted((EXAMPLES / folder).glob("*.ttgir")):
            name = f"{folder}/{path.stem}"
            kernel = name.partition("-")[0]
            usual = USUAL.get(kernel) or USUAL[kernel.partition("/")[2]]
            yield Case(name, path.read_text(), *usual)


def launches(folder: Path) -> Iterator[Case]:
    """Yield the launches of a folder."""
    for row in map(json.loads, (folder / "launches.jsonl").read_text().splitlines()):
        yield Case(row["name"], (folder / row["dump"]).read_text(), row["grid"], row["values"])


def swept(file: Path, number: int) -> Iterator[Case]:
    """Yield some configurations of each problem of a sweep."""
    rows: dict[str, list[Any]] = {}
    with lzma.open(file, "rt") as lines:
        for row in map(json.loads, lines):
            if row.get("ttgir"):
                rows.setdefault(row["name"], []).append(row)
    for name, configurations in rows.items():
        for row in random.Random(1).sample(configurations, number):
            yield Case(f"{name} {row['constants']}", row["ttgir"], row["grid"], row["values"])


def both(case: Case) -> tuple[KernelBounds, KernelBounds] | None:
    """Return the bounds without a grid and those of the launch; None where no rates are known."""
    [module] = parse_ir(case.text)
    plain = audit_module(module)
    function = _largest(plain)
    alone = kernel_bounds(plain, function)
    names = {v.name.lstrip("%") for f in plain.audited.functions for v in f.arguments}
    own = {k: v for k, v in case.values.items() if k in names and isinstance(v, int)}
    counts = dict(zip(PROGRAM_COUNTS, (*case.grid, 1, 1, 1)[:3]))
    launched = audit_module(module, given=GivenValues({**own, **counts}))
    whole = kernel_bounds(launched, function, tuple(case.grid))
    return (alone, whole) if alone is not None and whole is not None else None


def _largest(audit: Audit) -> str | None:
    """Return the function of a module with most data movements."""
    return Counter(row.operation.function for row in audit.movements).most_common(1)[0][0]


def mark(alone: KernelBounds, whole: KernelBounds) -> str:
    """Return whether the resource without a grid is that of the launch."""
    if alone.binding is None:
        return "?"
    return "=" if whole.largest and alone.binding.resource == whole.largest.resource else "#"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--launches", type=Path)
    parser.add_argument("--sweep", type=Path, nargs="*", default=[])
    parser.add_argument("--of-each", type=int, default=3)
    chosen = parser.parse_args()
    cases = [*examples(), *(launches(chosen.launches) if chosen.launches else ())]
    for file in chosen.sweep:
        cases += swept(file, chosen.of_each)
    marks = Counter[str]()
    for case in cases:
        bounds = both(case)
        if bounds is None:
            continue
        alone, whole = bounds
        judged = mark(alone, whole)
        marks[judged] += 1
        names = alone.binding or alone.within, whole.largest
        print(judged, *(one.resource if one else "-" for one in names), case.name, sep="  ")
    named = marks["="] + marks["#"]
    print(f"{marks['=']} of {named} named are those of the launch; {marks['?']} are not named")


if __name__ == "__main__":
    main()
