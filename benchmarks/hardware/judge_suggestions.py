"""Carry out what is suggested for the kernels of `suggested_kernels`, and time it on this GPU.

    python judge_suggestions.py ROWS.jsonl [--seed 24] [--only NAME]
    python judge_suggestions.py ROWS.jsonl --table

A row is a suggestion with its verdict and both times, or a kernel for which nothing is suggested.
Each kernel has a process of its own; only one at a time uses the GPU.  Needs Triton and PyTorch.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]

import measure_override

from tt_layout import LayoutError
from tt_layout.audit.audit import audit_module
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.values.given import PROGRAM_COUNTS, GivenValues
from tt_layout.ir import parse_ir
from tt_layout.mlir.source import Source
from tt_layout.reports.finding_text import similar_findings
from tt_layout.rewriting.apply import AppliedSuggestion, cure

PROCESSES = 10
LOCK = Path(tempfile.gettempdir(), "judge_suggestions.lock")

measure_override.ROUNDS = 21
measure_override.MILLISECONDS = 5.0


def suggested(text: str, given: GivenValues) -> Iterator[tuple[AppliedSuggestion, str] | str]:
    """Yield what is suggested for each finding, and the dump with it; or why that cannot be."""
    [module] = parse_ir(text)
    audit = audit_module(module, given=given)
    adviser, texts = Adviser(audit), set[str]()
    for number, group in enumerate(similar_findings(audit.findings), 1):
        if any(adviser.suggestions(finding) for finding in group):
            try:
                cured = cure(Source(text, "dump"), [number], given=given)
            except LayoutError as error:
                yield error.message
            else:
                if cured.text not in texts:  # else it is that of a finding before
                    yield cured.steps[0], cured.text
                texts.add(cured.text)


def given_of(names: list[str], arguments: list[Any], grid: tuple[int, ...]) -> GivenValues:
    """Return what arguments of a kernel are in a launch."""
    values = dict(zip(PROGRAM_COUNTS, grid))
    for name, value in zip(names, arguments):
        if hasattr(value, "data_ptr"):
            values[name] = value.data_ptr() % 512
        elif isinstance(value, int):
            values[name] = int(value)
    return GivenValues(values)


def judged(
    name: str,
    compiled: Callable[..., Any],
    measured: Callable[[str], measure_override.Measured],
    given: GivenValues,
    folder: Path,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each suggestion for a kernel, or one without a suggestion.

    Args:
        name: of the kernel.
        compiled: compiles it, with options.
        measured: times it beside the dump of a file.
        given: its arguments and the grid.
        folder: where dumps are written.
    """
    before = compiled()
    text = before.asm["ttgir"]
    (folder / f"{name}.ttgir").write_text(text)
    common = {"kernel": name, "values": dict(given.values), "n": 0}
    for number, found in enumerate(suggested(text, given), 1):
        common["n"] = number
        if isinstance(found, str):
            yield {**common, "refused": found}
            continue
        step, changed = found
        path = folder / f"{name}--{number}.ttgir"
        path.write_text(changed)
        after = compiled(ir_override=str(path))
        times = measured(str(path))
        suggestion, share = step.suggestion, step.share
        yield {
            **common,
            "line": step.finding.line,
            "where": suggestion.where,
            "old": str(suggestion.replaced),
            "new": str(suggestion.encoding),
            "saved": suggestion.saved,
            "part": share.part,
            "share": share.percent,
            "verdict": str(share.verdict),
            "before": times.before,
            "after": times.after,
            "change": times.change,
            "apart": times.difference,
            "registers": [before.n_regs, after.n_regs],
            "spills": [before.n_spills, after.n_spills],
        }
    if not common["n"]:
        yield {**common, "verdict": "none"}


def rows_of(wanted: str, seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of one kernel of ours."""
    import suggested_kernels
    import torch

    launch = next(one for one in suggested_kernels.launches(seed) if one.name == wanted)
    options = {**launch.constants, "num_warps": launch.warps}
    suggested_kernels.DEVICE = "meta"
    shapes = launch.arguments()
    suggested_kernels.DEVICE = "cuda"
    torch.manual_seed(seed)

    def compiled(**more: Any) -> Any:
        kernel = launch.kernel.warmup(*shapes, grid=launch.grid, **options, **more)
        kernel._init_handles()
        return kernel

    def measured(path: str) -> measure_override.Measured:
        with LOCK.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            arguments = launch.arguments()
            result = [one for one in arguments if isinstance(one, torch.Tensor)][-1]

            def launched(**more: Any) -> torch.Tensor:
                launch.kernel[launch.grid](*arguments, **options, **more)
                return result

            return measure_override.measure(launched, path)

    names = [name for name in launch.kernel.arg_names if name not in launch.constants]
    given = given_of(names, shapes, launch.grid)
    yield from judged(launch.name, compiled, measured, given, folder)


def run_all(output: Path, seed: int) -> None:
    """Judge all kernels, each in a process."""
    import suggested_kernels

    folder = output.parent / "dumps"
    folder.mkdir(parents=True, exist_ok=True)

    def run(name: str) -> None:
        command = [sys.executable, __file__, str(output), "--seed", str(seed), "--only", name]
        done = subprocess.run(command, capture_output=True, text=True)
        said = done.stdout.strip() or json.dumps({"kernel": name, "failed": done.stderr[-1500:]})
        with output.open("a") as file:
            file.write(said + "\n")

    with ThreadPoolExecutor(PROCESSES) as pool:
        list(pool.map(run, [one.name for one in suggested_kernels.launches(seed)]))


VERDICTS = ("apply", "may pay", "small", "unknown")


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of two tables: how many by verdict, and all of them."""
    timed = [row for row in rows if "change" in row]
    yield "| | suggestions | faster by more than 3 % | slower by more than 2 % |"
    yield "|---|---|---|---|"
    for verdict in VERDICTS:
        own = [row["change"] for row in timed if row["verdict"] == verdict]
        if own:
            faster, slower = sum(x < -0.03 for x in own), sum(x > 0.02 for x in own)
            yield f"| {verdict} | {len(own)} | {faster} | {slower} |"
    yield ""
    yield "| kernel | changed | to | share | verdict | ms before | ms after | change | registers |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in sorted(timed, key=lambda row: (VERDICTS.index(row["verdict"]), row["kernel"])):
        kind = row["new"].split("<")[0].removeprefix("#ttg.")
        registers, change = " -> ".join(map(str, row["registers"])), 100 * row["change"]
        yield (
            f"| `{row['kernel']}` | {row['where']} | `{kind}` | {row['share']} | {row['verdict']} "
            f"| {row['before']:.4f} | {row['after']:.4f} | {change:+.1f} % | {registers} |"
        )


def main() -> None:
    """Judge, or print what was judged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--seed", type=int, default=24)
    parser.add_argument("--only")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        rows = [json.loads(line) for line in options.rows.read_text().splitlines()]
        sys.stdout.write("\n".join(table(rows)) + "\n")
    elif options.only is None:
        run_all(options.rows, options.seed)
    else:
        for row in rows_of(options.only, options.seed, options.rows.parent / "dumps"):
            sys.stdout.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
