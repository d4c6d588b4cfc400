"""Judge the times that suggestions are priced by on kernels that were timed with and without them.

usage: judge_times.py ROWS.. [--gpu h100] [--cold]

A row has ``kernel``, ``ttgir``, ``values``, ``grid``, and of each change ``where``, ``new`` (the
layout), and the microseconds ``before`` and ``after``, as ``suggested-h100.jsonl.xz`` has them.
Those were replayed from a graph, so that a launch whose bytes fit into the second-level cache found
them there, and its launch took a microsecond: the ratio is judged so, unless --cold is given.  The
verdict is that of an audit.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tt_layout.audit.audit import audit_module
from tt_layout.audit.kernel import kernels_of
from tt_layout.audit.shares import Verdict
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.carried_out import carried_out
from tt_layout.audit.time.constants import FITTED
from tt_layout.audit.time.estimate import Estimate
from tt_layout.audit.time.launch import launch_time
from tt_layout.audit.values.given import GivenValues, program_counts
from tt_layout.errors import LayoutError
from tt_layout.hardware import find_product
from tt_layout.ir import parse_ir
from tt_layout.releases import Release

CACHED_BYTES = 40e6
"""Bytes of a launch that the second-level cache of an H100 keeps for the next."""

COMPILED = Release.V3_6
"""The release of Triton that compiled them."""

REPLAYED = FITTED._replace(launch=1)


class Change(NamedTuple):
    """A change that was timed.

    Attributes:
        kernel: what was changed.
        measured, predicted: the part of the time that is left; the second None without an estimate.
        verdict: of the audit.
    """

    kernel: str
    measured: float
    predicted: float | None
    verdict: Verdict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="+", type=Path)
    parser.add_argument("--gpu", default="h100")
    parser.add_argument("--cold", action="store_true", help="no bytes are in the cache")
    chosen = parser.parse_args()
    changes: list[Change] = []
    for path in chosen.rows:
        with lzma.open(path, "rt") if path.suffix == ".xz" else path.open() as lines:
            for line in lines:
                changes += judged(json.loads(line), chosen.gpu, is_cold=chosen.cold)
    for change in sorted(changes):
        predicted = f"{change.predicted:.2f}" if change.predicted is not None else "   -"
        print(f"{change.kernel:44} {change.measured:5.2f} {predicted} {change.verdict}")
    report(changes)


def judged(row: dict[str, Any], gpu: str, *, is_cold: bool) -> Iterator[Change]:
    """Yield the changes of a kernel."""
    x, y, z = (*row["grid"], 1, 1)[:3]
    values = {**program_counts((x, y, z)), **row["values"]}
    given = GivenValues(values, find_product(gpu))
    [module] = parse_ir(row["ttgir"], release=COMPILED)
    audit = audit_module(module, given=given)
    adviser, left = Adviser(audit), list(row["changes"])
    for finding in audit.findings:
        for suggestion in adviser.suggestions(finding):
            key = suggestion.where, str(suggestion.encoding)
            timed = next((one for one in left if (one["where"], one["new"]) == key), None)
            if timed is None:
                continue
            left.remove(timed)
            assert audit.audited is not None
            assert finding.movement is not None
            full = audit.audited.in_full(finding.movement.operation)
            assert full is not None
            try:
                [changed] = parse_ir(carried_out(audit, full, suggestion), release=COMPILED)
            except LayoutError:
                continue
            after = audit_module(changed, given=given, is_judged=False)
            times = [_seconds(one, (x, y, z), is_cold=is_cold) for one in (audit, after)]
            predicted = times[1] / times[0] if times[0] and times[1] else None
            verdict = adviser.share(finding, suggestion).verdict
            yield Change(row["kernel"], timed["after"] / timed["before"], predicted, verdict)
    for timed in left:
        print(f"{row['kernel']}: not suggested any more: {timed['where']}, {timed['new'][:60]}")


def _seconds(audit: Any, grid: tuple[int, int, int], *, is_cold: bool) -> float | None:
    [kernel] = kernels_of(audit, grid)
    estimate = kernel.estimate
    if not isinstance(estimate, Estimate):
        return None
    rates = estimate.chip.product
    if is_cold or rates is None or rates.timing is None:
        return estimate.seconds
    program = estimate.program
    if program.first_bytes < CACHED_BYTES:
        program = replace(program, first_bytes=0, moved_bytes=0)
    return launch_time(program, estimate.chip, rates, rates.timing, REPLAYED).seconds


def report(changes: list[Change]) -> None:
    """Print how many are faster that were to be, and how near the ratios are."""
    applied = [change.measured for change in changes if change.verdict is Verdict.APPLY]
    faster = [change for change in changes if change.measured < 0.97]
    told = sum(change.verdict is Verdict.APPLY for change in faster)
    ratios = [
        change.predicted / change.measured for change in changes if change.predicted is not None
    ]
    near = sum(abs(ratio - 1) <= 0.15 for ratio in ratios)
    print(f"{len(changes)} changes; of {len(applied)} to apply {sum(x < 0.97 for x in applied)}")
    print(
        f"  are faster by more than 3 %, {sum(x > 1.02 for x in applied)} slower by more than 2 %"
    )
    print(f"of {len(faster)} that are faster by more than 3 % {told} are to apply")
    print(f"the ratio is within 15 % in {near} of {len(ratios)}")


if __name__ == "__main__":
    main()
