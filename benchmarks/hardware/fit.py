"""Fit the constants of `tt_layout.audit.time.constants` on timed configurations, and judge them.

usage: fit.py FILE.. [--gpu h200] [--triton 3.6] [--draws N] [--cache FILE] [--seed N]
              [--no-fit]

FILE has the rows of ``sweep.py``, packed by xz or not.  What a dump is compiled to depends on the
release of Triton: that of a row, or --triton for rows that do not say it.  Each kernel is judged by
the constants that are best for the others: rank correlation within a problem, time of the first
choice and of the best of five over the best (the five that `rank --top` lists), median of
|log2(estimate / time)|; once with the dump alone and once with the registers and spills of the
compiled kernel.  --no-fit judges the constants as they are.
The programs of the dumps are kept in the cache, since reading them takes most of the time.
"""

from __future__ import annotations

import argparse
import json
import lzma
import pickle
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tt_layout.audit.audit import audit_module
from tt_layout.audit.kernel import kernels_of
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.time.constants import FITTED, Constants
from tt_layout.audit.time.estimate import read_program
from tt_layout.audit.time.launch import launch_time
from tt_layout.audit.time.selection import Candidate, selected
from tt_layout.audit.time.steps import Program
from tt_layout.audit.values.given import parse_values, program_counts
from tt_layout.hardware import find_target
from tt_layout.ir import parse_ir
from tt_layout.releases import Release

NEAR = 1.1
"""A configuration whose time is within this factor of the best is as good."""

RANGES = {
    "dram": (600, 1400),
    "cap": (10, 40),
    "unroll": (15, 80),
    "indexing": (0.1, 0.6),
    "power": (2.5, 6),
    "launch": (2, 4),
    "start": (100, 800),
    "tail": (0.3, 1),
    "spill": (1, 4),
    "collapse": (1, 5),
    "wait": (20, 100),
}


class Timed(NamedTuple):
    """A timed configuration."""

    name: str
    microseconds: float
    registers: int
    spilled: int
    program: Program

    def known(self, *, is_compiled: bool) -> Program:
        if not is_compiled:
            return self.program
        return replace(self.program, used=self.registers, spilled=self.spilled)


class Judged(NamedTuple):
    """How well a problem is estimated."""

    correlation: float
    first: float
    five: float
    error: float
    ordered: float
    near: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--triton", default="3.6", help="release that compiled the rows")
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--no-fit", action="store_true")
    chosen = parser.parse_args()
    rows = _rows(chosen.files, chosen.gpu, chosen.cache, chosen.triton)
    draws = [FITTED] if chosen.no_fit else list(_draws(chosen.draws, chosen.seed))
    for is_compiled in (False, True):
        print("with compiled registers" if is_compiled else "dump alone")
        found = [_judged(rows, chosen.gpu, draw, is_compiled=is_compiled) for draw in draws]
        _report(draws, found)


def _draws(number: int, seed: int) -> Iterator[Constants]:
    yield FITTED
    chance = random.Random(seed)
    for _ in range(number):
        some = chance.sample(list(RANGES), 3)
        yield FITTED._replace(**{name: chance.uniform(*RANGES[name]) for name in some})


def _rows(files: Sequence[Path], gpu: str, cache: Path | None, triton: str) -> list[Timed]:
    if cache is not None and cache.exists():
        with cache.open("rb") as kept:
            found: list[Timed] = pickle.load(kept)
            return found
    rows = [timed for file in files for timed in _read(file, gpu, triton)]
    if cache is not None:
        with cache.open("wb") as out:
            pickle.dump(rows, out)
    return rows


def _read(file: Path, gpu: str, triton: str) -> Iterator[Timed]:
    shared = SharedWork(explains=False)
    packed = file.suffix == ".xz"
    with lzma.open(file, "rt") if packed else file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            program = _program({"triton": triton} | row, gpu, shared) if "ttgir" in row else None
            if program is not None:
                yield Timed(row["name"], row["us"], row["n_regs"], row["n_spills"], program)


def _program(row: Mapping[str, Any], gpu: str, shared: SharedWork) -> Program | None:
    [module] = parse_ir(row["ttgir"], release=Release.parse(row["triton"]))
    texts = [
        f"{name}={value}"
        for name, value in row["values"].items()
        if isinstance(value, int) and f"%{name}: " in row["ttgir"]
    ]
    given = replace(parse_values(texts, program_counts(row["grid"])), product=find_target(gpu))
    audit = audit_module(module, shared, given, is_judged=False)
    x, y, z = (*row["grid"], 1, 1)[:3]
    [kernel] = kernels_of(audit, (x, y, z))
    assert kernel.symbol is not None
    return read_program(audit, kernel.symbol, (x, y, z))


def _judged(
    rows: Sequence[Timed], gpu: str, constants: Constants, *, is_compiled: bool
) -> dict[str, Judged]:
    target = find_target(gpu)
    rates = target.product
    assert rates is not None
    assert rates.timing is not None
    problems: dict[str, list[tuple[float, Candidate]]] = {}
    for row in rows:
        program = row.known(is_compiled=is_compiled)
        found = launch_time(program, target, rates, rates.timing, constants)
        candidate = Candidate.of(program, found)
        problems.setdefault(row.name, []).append((row.microseconds, candidate))
    return {name: _judge(pairs) for name, pairs in problems.items()}


def _judge(pairs: Sequence[tuple[float, Candidate]]) -> Judged:
    candidates = [candidate for _, candidate in pairs]
    times = np.array([microseconds for microseconds, _ in pairs])
    estimates = np.array([1e6 * candidate.seconds for candidate in candidates])
    order = np.argsort(estimates, kind="stable")
    best = times.min()
    apart = np.triu(np.maximum.outer(times, times) > NEAR * np.minimum.outer(times, times), 1)
    right = np.subtract.outer(times, times) * np.subtract.outer(estimates, estimates) > 0
    return Judged(
        correlation=_correlation(_ranks(times), _ranks(estimates)),
        first=float(times[order[0]] / best),
        five=float(times[selected(candidates, 5)].min() / best),
        error=float(np.median(np.abs(np.log2(estimates / times)))),
        ordered=float(right[apart].mean()) if apart.any() else 1.0,
        near=float((times < NEAR * best).mean()),
    )


def _ranks(numbers: np.ndarray) -> np.ndarray:
    _, inverse, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middles: np.ndarray = (ends - (counts - 1) / 2)[inverse]
    return middles


def _correlation(first: np.ndarray, second: np.ndarray) -> float:
    if not first.std() or not second.std():
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def _kernel(problem: str) -> str:
    """Return the kernel of a problem: its name without sizes."""
    return "_".join(part for part in problem.split("_") if not part.isdigit())


def _report(draws: Sequence[Constants], found: Sequence[Mapping[str, Judged]]) -> None:
    """Print each problem, judged by the draw that is best for the other kernels, and the means."""
    problems = list(found[0])
    picked: dict[str, Judged] = {}
    used: list[Constants] = []
    for name in problems:
        others = [one for one in problems if _kernel(one) != _kernel(name)] or problems
        losses = [sum(_loss(draw[one]) for one in others) for draw in found]
        at = int(np.argmin(losses))
        picked[name] = found[at][name]
        used.append(draws[at])
        print(f"  {name:28}", " ".join(f"{key} {value:.2f}" for key, value in _named(picked[name])))
    spread = [one for one in picked.values() if one.near <= 1 / 3]
    alike = [one for one in picked.values() if one.near > 1 / 3]
    means = {key: np.mean([dict(_named(one))[key] for one in picked.values()]) for key in KEYS}
    print("  means:", " ".join(f"{key} {value:.3f}" for key, value in means.items()))
    print(
        f"  rank correlation where times differ: {np.mean([one.correlation for one in spread]):.3f}"
    )
    if alike:
        print(
            f"  pairs in order where many are alike: {np.mean([one.ordered for one in alike]):.3f}"
        )
    for name in RANGES:
        numbers = [getattr(one, name) for one in used]
        print(f"  {name}: {min(numbers):.3g} to {max(numbers):.3g} over the folds")


KEYS = Judged._fields


def _named(one: Judged) -> list[tuple[str, float]]:
    return list(zip(KEYS, one))


def _loss(one: Judged) -> float:
    return (1 - one.correlation) + 0.5 * one.error + 0.5 * (one.first - 1) + 2 * (one.five - 1)


if __name__ == "__main__":
    main()
