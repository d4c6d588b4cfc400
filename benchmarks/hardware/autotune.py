"""Tune kernels by Triton's autotuner, whole and with the five that `tt_layout.perf_model` names.

usage: autotune.py FOLDER [--only NAME,..] [--top 5]

Needs PyTorch, Triton (3.5 or later), a GPU, and tt_layout on the path.  ``autotune_kernels.py``
beside it has the lists.  Each list is tuned twice, each time by a process of its own with an empty
cache.  Whole lists are tuned beside each other, but only one process times a kernel at a time, and
the time that the others wait for it does not count; then those of five are, one list after the
other, since each estimates its configurations on all processors.  FOLDER gets ``summary.json``
with, for each list, the time of both tunings and the loss: the time of the kernel that the five
lead to over the best of all, less one, both of the whole tuning; and ``rows.jsonl.xz``, a line for
each configuration as ``sweep.py`` writes it.
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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

MODES = ("whole", "top")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="names of lists, with commas between")
    parser.add_argument("--top", type=int, default=5)
    parser.add_argument("--mode", choices=MODES, help="of a process that tunes one list")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    if chosen.mode is not None:
        print(json.dumps(tuned(chosen.only, chosen.mode, chosen.top, chosen.folder)))
        return
    names = list(filter(None, chosen.only.split(","))) or list(_names())
    found = _together(names, chosen.folder, chosen.top)
    report = [judged(name, found[name, "whole"], found[name, "top"]) for name in names]
    (chosen.folder / "summary.json").write_text(json.dumps(report, indent=1))
    for entry in report:
        print(json.dumps({key: value for key, value in entry.items() if key != "times"}))
    with lzma.open(chosen.folder / "rows.jsonl.xz", "wt") as out:
        for name in names:
            part = chosen.folder / f"{name}.rows"
            if part.exists():
                out.write(part.read_text())
                part.unlink()


def _names() -> Iterator[str]:
    import autotune_kernels

    for one in autotune_kernels.lists(lambda *_: None, lambda *_: None):
        yield one.name


def _together(names: list[str], folder: Path, top: int) -> dict[tuple[str, str], Any]:
    """Return what the process of each list and mode found."""
    found = {}
    started = {name: _started(name, "whole", folder, top) for name in names}
    for name, process in started.items():
        found[name, "whole"] = _found(name, "whole", folder, process)
    for name in names:
        found[name, "top"] = _found(name, "top", folder, _started(name, "top", folder, top))
    return found


def _started(name: str, mode: str, folder: Path, top: int) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, str(folder), "--top", str(top)]
    with (folder / f"{name}-{mode}.log").open("w") as log:
        return subprocess.Popen(
            [*command, "--only", name, "--mode", mode],
            env={**os.environ, "TRITON_CACHE_DIR": tempfile.mkdtemp(prefix=f"{name}-{mode}-")},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )


def _found(name: str, mode: str, folder: Path, process: subprocess.Popen[str]) -> Any:
    printed, _ = process.communicate()
    log = folder / f"{name}-{mode}.log"
    text = log.read_text()
    log.unlink()
    if process.returncode:
        print(f"{name} {mode} failed: {text[-1500:]}")
        return None
    return json.loads(printed.splitlines()[-1])


def judged(name: str, whole: Any, top: Any) -> dict[str, Any]:
    """Return the loss and the part of the time of tuning that is left."""
    if whole is None or top is None:
        return {"name": name, "failed": True}
    times = {config: us for config, us in whole["times"].items() if us is not None}
    best = min(times, key=lambda config: times[config])
    taken = times.get(top["best"])
    return {
        "name": name,
        "gpu": whole["gpu"],
        "configurations": len(whole["times"]),
        "seconds": {
            "whole": whole["seconds"],
            "top": top["seconds"],
            "model": top["model_seconds"],
        },
        "part": top["seconds"] / whole["seconds"],
        "best": best,
        "chosen": top["best"],
        "loss": taken / times[best] - 1 if taken is not None else None,
        "best_estimated": min(top["estimates"], key=lambda config: top["estimates"][config]),
        "times": {
            config: [us, top["estimates"].get(config)] for config, us in whole["times"].items()
        },
    }


def tuned(name: str, mode: str, top: int, folder: Path) -> dict[str, Any]:
    """Tune a list in this process, and return what that took and what it found."""
    import autotune_kernels
    import torch
    import triton

    import tt_layout

    lock = Path(tempfile.gettempdir(), "tt_layout_autotune.lock").open("w")  # noqa: SIM115
    waited = 0.0

    def timed(call: Callable[[], Any], quantiles: Any) -> Any:
        nonlocal waited
        call()  # compiled, while another process may be timing
        torch.cuda.synchronize()
        began = time.perf_counter()
        fcntl.flock(lock, fcntl.LOCK_EX)
        waited += time.perf_counter() - began
        try:
            return triton.testing.do_bench(call, quantiles=quantiles)
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)

    def make(shape: tuple[int, ...], kind: torch.dtype) -> torch.Tensor:
        if kind == torch.int8:
            return torch.randint(-127, 127, shape, device="cuda").to(kind)
        return (0.1 * torch.randn(*shape, device="cuda")).to(kind)

    def integers(below: int, count: int) -> torch.Tensor:
        return torch.randint(0, below, (count,), dtype=torch.int32, device="cuda")

    chosen = next(one for one in autotune_kernels.lists(make, integers) if one.name == name)
    model = tt_layout.perf_model(chosen.kernel, chosen.grid)
    prune = model.pruning(top)
    took = 0.0

    few = prune["early_config_prune"]

    def timed_prune(*positional: Any, **named: Any) -> list[Any]:
        nonlocal took
        began = time.perf_counter()
        configs = few(*positional, **named)
        took = time.perf_counter() - began
        return configs

    prune["early_config_prune"] = timed_prune
    prune = prune if mode == "top" else None
    tune = triton.autotune(chosen.configs, chosen.key, prune_configs_by=prune, do_bench=timed)
    kernel = tune(chosen.kernel)
    torch.cuda.synchronize()
    began = time.perf_counter()
    kernel[chosen.grid](**chosen.arguments)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - began - waited
    estimates = {
        str(config): model(**chosen.arguments, **config.all_kwargs())
        for config in (chosen.configs if mode == "top" else ())
    }
    times = {
        str(config): 1000 * found[0] if found[0] != float("inf") else None
        for config, found in kernel.configs_timings.items()
    }
    if mode == "whole":
        with (folder / f"{name}.rows").open("w") as out:
            for config in chosen.configs:
                microseconds = times[str(config)]
                if microseconds is not None:
                    out.write(json.dumps(_row(chosen, config, microseconds)) + "\n")
    return {
        "gpu": torch.cuda.get_device_name(),
        "seconds": seconds,
        "waited": waited,
        "model_seconds": took,
        "best": str(kernel.best_config),
        "times": times,
        "estimates": estimates,
    }


def _row(chosen: Any, config: Any, microseconds: float) -> dict[str, Any]:
    """Return the row of a configuration, as `fit.py` reads it."""
    given = {**chosen.arguments, **config.kwargs}
    compiled = chosen.kernel[chosen.grid](**chosen.arguments, **config.all_kwargs())
    return {
        "name": chosen.name,
        "kernel": chosen.kernel.__name__,
        "grid": chosen.grid(given),
        "constants": config.kwargs,
        "warps": config.num_warps,
        "stages": config.num_stages,
        "config": str(config),
        "values": {
            name: value if isinstance(value, (int, float)) else 0
            for name, value in chosen.arguments.items()
        },
        "us": microseconds,
        "n_regs": compiled.n_regs,
        "n_spills": compiled.n_spills,
        "shared": compiled.metadata.shared,
        "ttgir": compiled.asm["ttgir"],
    }


if __name__ == "__main__":
    main()
