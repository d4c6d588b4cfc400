"""Estimates of `tt_layout.watch` beside measured times, for what `torch.compile` makes of 50 nets.

usage: nets.py FOLDER [--only TEXT] [--minutes 8] [--processes 6]

Needs PyTorch, Triton, a GPU, and tt_layout on the path.  ``net_kinds.py`` beside it has the nets.
Each is compiled, warmed up, watched once, and profiled by torch's profiler; one process has the GPU
at a time when it is profiled.  FOLDER gets ``kernels.jsonl.xz``: a line for each kernel of a net,
with its estimate, bound and measured time of a launch in microseconds, how often it is launched,
grid, values, registers, spills and TTGIR; and ``summary.json``: what ``judge`` finds in them, over
all kernels and for each net.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import lzma
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

RUNS = 10
"""Runs of a net that are profiled."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="nets whose names have this text")
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--part", type=int, help="of the nets, for a process")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    if chosen.part is not None:
        run_part(chosen)
        return
    parts = [chosen.folder / f"part-{part}" for part in range(chosen.processes)]
    started = []
    for part, path in enumerate(parts):
        command = [sys.executable, __file__, *sys.argv[1:], "--part", str(part)]
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": tempfile.mkdtemp()}
        environment.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "4")
        environment["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
        started.append(
            subprocess.Popen(
                command,
                env=environment,
                stdout=path.with_suffix(".log").open("w"),
                stderr=subprocess.STDOUT,
            )
        )
    for process in started:
        process.wait()
    rows: list[dict[str, Any]] = []
    with lzma.open(chosen.folder / "kernels.jsonl.xz", "wt") as out:
        for path in parts:
            for line in path.read_text().splitlines() if path.exists() else ():
                out.write(line + "\n")
                row = json.loads(line)
                row.pop("ttgir", None)
                rows.append(row)
    logs = "\n".join(path.with_suffix(".log").read_text()[-3000:] for path in parts)
    (chosen.folder / "nets.log").write_text(logs)
    for path in parts:
        path.unlink(missing_ok=True)
        path.with_suffix(".log").unlink(missing_ok=True)
    found = judge(rows)
    (chosen.folder / "summary.json").write_text(json.dumps(found, indent=1))
    print(json.dumps({key: value for key, value in found.items() if key != "nets"}))


def run_part(chosen: argparse.Namespace) -> None:
    """Run every so many-th net, until the time is over."""
    import torch
    from net_kinds import nets

    end = time.monotonic() + 60 * chosen.minutes
    torch.set_grad_enabled(False)
    with (chosen.folder / f"part-{chosen.part}").open("w", buffering=1) as out:
        for number, (name, make) in enumerate(nets()):
            if chosen.only not in name or number % chosen.processes != chosen.part:
                continue
            if time.monotonic() > end:
                print(f"the time is over before {name}", flush=True)
                break
            began = time.monotonic()
            try:
                for row in rows_of(name, make):
                    out.write(json.dumps(row) + "\n")
            except Exception:  # the others go on
                print(name, traceback.format_exc()[-1200:], flush=True)
                out.write(json.dumps({"net": name, "error": traceback.format_exc()[-300:]}) + "\n")
            print(name, f"{time.monotonic() - began:.1f} s", flush=True)
            torch._dynamo.reset()
            torch.cuda.empty_cache()


def rows_of(name: str, make: Any) -> Iterator[dict[str, Any]]:
    """Yield a row for each kernel that a net launches, and one for all that Triton did not make."""
    import torch

    torch.manual_seed(0)
    with torch.device("cuda"):
        net, inputs = make()
    trained = getattr(net, "is_trained", False)
    compiled = torch.compile(net)

    def run() -> None:
        if not trained:
            compiled(*inputs)
            return
        with torch.enable_grad():
            compiled(*inputs).float().pow(2).mean().backward()
        net.zero_grad(set_to_none=True)

    yield from watched_rows(name, run)


def watched_rows(name: str, run: Callable[[], Any]) -> Iterator[dict[str, Any]]:
    """Yield a row for each kernel that a function launches, watched once and then profiled.

    The profiler knows a kernel by its name: of two kernels of one name there is no row.
    """
    import torch

    import tt_layout

    with tt_layout.watch(out=open(os.devnull, "w")) as seen:
        run()
        torch.cuda.synchronize()
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    with Path(tempfile.gettempdir(), "tt_layout_nets.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiled:
            for _ in range(RUNS):
                run()
            torch.cuda.synchronize()
    times: dict[str, list[float]] = {}
    for event in profiled.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            times.setdefault(event.name, []).append(event.device_time)
    launched = [kernel for kernel in seen.report.kernels if sum(kernel.seen.launches.values())]
    named = Counter(kernel.seen.compiled.name for kernel in launched)
    found = set()
    for place, kernel in enumerate(seen.report.kernels):
        title = kernel.seen.compiled.name
        launches = sum(kernel.seen.launches.values())
        measured = times.get(title)
        if not launches or measured is None or named[title] > 1:
            continue
        found.add(title)
        audit, launch = kernel.audit, kernel.seen.launch
        known = kernel.seen.compiled.known.registers
        facts = audit.facts if audit is not None else None
        yield {
            "net": name,
            "name": title,
            "gpu": torch.cuda.get_device_name(),
            "place": place,
            "launches": launches,
            "us": float(np.median(measured)),
            "total_us": float(np.sum(measured)) / RUNS,
            "estimate_us": 1e6 * kernel.seconds / launches if kernel.seconds is not None else None,
            "bound_us": facts.bound_cycles / CYCLES if facts and facts.bound_cycles else None,
            "bound_by": facts.bound_by if facts else None,
            "grid": launch.grid,
            "values": dict(launch.values),
            "n_regs": known.used if known is not None else None,
            "n_spills": known.spilled if known is not None else None,
            "why": kernel.reason,
            "cure": kernel.cure,
            "ttgir": kernel.seen.compiled.text,
        }
    rest = sum(sum(taken) for title, taken in times.items() if title not in found)
    yield {"net": name, "rest_us": rest / RUNS}


CYCLES = 1980
"""Of a microsecond, as the bounds of an H100 and H200 count them."""

LAUNCH_US = 2.3
"""What a launch takes beside its kernel, which the profiler does not see and an estimate has."""


def judge(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how well the estimates of kernels, and their sums over nets, fit what was measured."""
    kernels = [row for row in rows if row.get("estimate_us") is not None]
    missing = [row for row in rows if "us" in row and row.get("estimate_us") is None]
    nets: dict[str, list[dict[str, Any]]] = {}
    for row in kernels:
        nets.setdefault(row["net"], []).append(row)
    summed = {
        name: (
            sum(row["estimate_us"] * row["launches"] for row in owned),
            sum((row["us"] + LAUNCH_US) * row["launches"] for row in owned),
        )
        for name, owned in nets.items()
    }
    named = [name for name, owned in nets.items() if len(owned) > 3 and _worst_named(owned)]
    several = [name for name, owned in nets.items() if len(owned) > 3]
    return {
        "kernels": len(kernels),
        "without an estimate": len(missing),
        "errors": [row["net"] for row in rows if "error" in row],
        "of kernels": _agreement([(row["estimate_us"], row["us"] + LAUNCH_US) for row in kernels]),
        "of nets": _agreement(list(summed.values())),
        "nets whose three that lose most are in the first five": [len(named), len(several)],
        "nets": summed,
    }


def _worst_named(owned: Sequence[dict[str, Any]]) -> bool:
    """Tell whether the three that lose most, over their bounds, are in the first five watched."""

    def lost(row: dict[str, Any]) -> float:
        above: float = max(0.0, row["us"] - (row["bound_us"] or 0)) * row["launches"]
        return above

    first = sorted(owned, key=lambda row: int(row["place"]))[:5]
    worst = sorted(owned, key=lost, reverse=True)[:3]
    return all(row in first for row in worst)


def _agreement(pairs: Sequence[tuple[float, float]]) -> dict[str, float]:
    if len(pairs) < 3:
        return {}
    estimates, times = np.array(pairs).T
    apart = np.abs(np.log2(estimates / times))

    def ranks(numbers: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.argsort(np.argsort(numbers))
        return found

    return {
        "rank correlation": float(np.corrcoef(ranks(estimates), ranks(times))[0, 1]),
        "within a factor of two": float((apart <= 1).mean()),
        "median of |log2|": float(np.median(apart)),
    }


if __name__ == "__main__":
    main()
