"""Time every configuration of some kernels on a GPU: a line of JSON for each.

usage: sweep.py FOLDER [--kernels MODULE] [--only TEXT] [--minutes N] [--processes N]
                [--compile-only]

Needs PyTorch and Triton (3.4 or later) and a GPU; tt-layout is not needed.  ``sweep_kernels.py``
beside it has the kernels, and ``further_kernels.py`` others that no model saw; FOLDER gets
``rows.jsonl``.

A row has ``name`` (the problem), ``kernel``, ``grid``, ``constants``, ``warps``, ``stages``,
``values`` (numbers; of a pointer its address modulo 512), ``us`` (the median of three runs),
``n_regs``, ``n_spills`` (words), ``shared``, ``ttgir``, ``gpu``, ``triton``; or ``error`` where a
configuration was refused.  ``fit.py`` reads them.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from pathlib import Path
from typing import Any

REPEATED_MS = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kernels", default="sweep_kernels", help="the module that has them")
    parser.add_argument("--only", default="", help="problems whose names have this text")
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--processes", type=int, default=14)
    parser.add_argument("--compile-only", action="store_true", help="compile; time nothing")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * chosen.minutes
    if chosen.processes > 1:
        context = multiprocessing.get_context("spawn")
        shares = [
            (chosen.kernels, chosen.only, at, chosen.processes) for at in range(chosen.processes)
        ]
        with context.Pool(chosen.processes) as pool:
            pool.map_async(compile_share, shares, chunksize=1).get(timeout=60 * chosen.minutes)
    print(f"compiled, {end - time.monotonic():.0f} s left", flush=True)
    if chosen.compile_only:
        return
    from sweep_kernels import configurations

    with (chosen.folder / "rows.jsonl").open("w", buffering=1) as out:
        for number, configuration in enumerate(
            configurations(chosen.only, chosen.kernels, is_real=True)
        ):
            if time.monotonic() > end:
                print(f"the time is over before configuration {number}")
                break
            out.write(json.dumps({"i": number, **row(configuration)}) + "\n")


def compile_share(share: tuple[str, str, int, int]) -> None:
    """Compile a part of the configurations, so that Triton's cache has them."""
    from sweep_kernels import configurations

    kernels, only, at, every = share
    for number, one in enumerate(configurations(only, kernels, is_real=False)):
        if number % every == at:
            try:
                one.kernel.warmup(*one.arguments, grid=one.grid, **one.options)
            except Exception as error:  # refused, which the row says when it is timed
                print(f"{one.name} {one.constants}: {error!r:.120}", flush=True)


def row(one: Any) -> dict[str, Any]:
    """Return the row of a configuration."""
    import torch
    import triton

    arguments = dict(zip(one.kernel.arg_names, one.arguments))
    found: dict[str, Any] = {
        "name": one.name,
        "kernel": one.kernel.__name__,
        "grid": one.grid,
        "constants": one.constants,
        "warps": one.warps,
        "stages": one.stages,
        "values": {
            name: value if isinstance(value, (int, float)) else _address(value)
            for name, value in arguments.items()
        },
        "gpu": torch.cuda.get_device_name(),
        "triton": triton.__version__,
    }

    def launch() -> Any:
        return one.kernel[one.grid](*one.arguments, **one.options)

    try:
        compiled = launch()
        torch.cuda.synchronize()
        times = [
            triton.testing.do_bench(launch, warmup=3, rep=REPEATED_MS, return_mode="median")
            for _ in range(3)
        ]
    except Exception as error:  # refused: that is what its row says
        return {**found, "error": f"{error!r:.200}"}
    found |= {
        "us": 1000 * sorted(times)[1],
        "n_regs": compiled.n_regs,
        "n_spills": compiled.n_spills,
        "shared": compiled.metadata.shared,
        "hash": compiled.hash,
        "ttgir": compiled.asm["ttgir"],
    }
    return found


def _address(value: Any) -> int:
    """Return the address of a tensor modulo 512; 0 for what has none."""
    return value.data_ptr() % 512 if hasattr(value, "data_ptr") else 0


if __name__ == "__main__":
    main()
