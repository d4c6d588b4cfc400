"""Measure what a GPU reads, writes and copies of its memory in a second.

usage: bandwidth.py OUT

Needs PyTorch, Triton and a GPU; tt-layout is not needed.  OUT gets a line of JSON for each kind and
size of a program: ``bytes`` that were moved in a second, of 4 GiB, the best of ten launches.
"""

# ruff: noqa: N803 - constants of kernels are written as Triton's tutorials write them

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl

ELEMENTS = 1 << 30
LAUNCHES = 10


@triton.jit
def read(x, y, BLOCK: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)
    values = tl.load(x + program * BLOCK + tl.arange(0, BLOCK))
    tl.store(y + program, tl.sum(values))


@triton.jit
def write(x, y, BLOCK: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)
    tl.store(x + program * BLOCK + tl.arange(0, BLOCK), tl.zeros([BLOCK], tl.float32))


@triton.jit
def copy(x, y, BLOCK: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)
    at = program * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    chosen = parser.parse_args()
    x = torch.zeros(ELEMENTS, device="cuda")
    y = torch.empty_like(x)
    with chosen.out.open("w", encoding="utf-8") as out:
        gpu = torch.cuda.get_device_name()
        out.write(json.dumps({"gpu": gpu, "triton": triton.__version__}) + "\n")
        for kernel, moved in ((read, 4), (write, 4), (copy, 8)):
            for block, warps in ((1024, 4), (2048, 4), (4096, 8), (8192, 8)):

                def launch(kernel: Any = kernel, block: int = block, warps: int = warps) -> None:
                    kernel[(ELEMENTS // block,)](x, y, BLOCK=block, num_warps=warps)

                seconds = best(launch)
                row = {"what": kernel.fn.__name__, "block": block, "warps": warps}
                row["bytes"] = round(moved * ELEMENTS / seconds)
                out.write(json.dumps(row) + "\n")


def best(launch: Callable[[], None]) -> float:
    """Return the seconds of the quickest of some launches."""
    launch()
    found = []
    for _ in range(LAUNCHES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        launch()
        end.record()
        torch.cuda.synchronize()
        found.append(begin.elapsed_time(end) / 1e3)
    return min(found)


if __name__ == "__main__":
    main()
