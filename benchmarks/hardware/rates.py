"""Time single instructions of Triton kernels: gathers, shuffles, comparisons, code that is fetched.

usage: rates.py OUT [--only TEXT]

Needs PyTorch, Triton and a GPU; tt-layout is not needed.  A line of JSON for each: ``ns`` for which
an instruction of a warp keeps a multiprocessor busy, with ``warps`` on it.  ``gather``: every
lane, or every ``run`` lanes, at a random place of a table of ``bytes``.  ``code``: ``bytes`` of
instructions behind each other, in a loop that programs begin at moments of their own, or at once.
"""

# ruff: noqa: N803

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl

ROUNDS = {"gather": 512, "code": 24}
MOST_ROUNDS = 16384
REPEATED = 64
FMA = "fma.rn.f32 $0, $0, $0, $0;"
SHUFFLE = "shfl.sync.bfly.b32 $0, $1, 1, 0x1f, 0xffffffff;"
SWAP = "{.reg .pred p; setp.gt.f32 p, $1, 0f3F000000; selp.f32 $0, $1, 0f3E800000, p;}"
INTEGER = "{.reg .pred p; setp.gt.s32 p, $1, 7; selp.b32 $0, $1, 9, p;}"
KINDS = {
    "shuffle": SHUFFLE,
    "comparison and choice of f32": SWAP,
    "comparison and choice of i32": INTEGER,
    "shuffle, comparison and choice": SHUFFLE + SWAP.replace("$1", "$0"),
    "exclusive or": "xor.b32 $0, $1, 0x5a5a5a5a;",
    "sum of i32": "add.s32 $0, $1, 12345;",
    "product of i32": "mul.lo.s32 $0, $1, 12345;",
    "maximum of i32": "max.s32 $0, $1, 12345;",
    "maximum of f32": "max.f32 $0, $1, 0f3F000000;",
    "count of bits": "popc.b32 $0, $1;",
    "fused product of f32": "fma.rn.f32 $0, $1, 0f3F000000, 0f3F000000;",
}


@triton.jit
def gather(table, seeds, out, rounds, MASK: tl.constexpr, RUN: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    state = tl.load(seeds + at)
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(rounds):
        state = state * 1664525 + 1013904223
        total += tl.load(table + (((state >> 7) & MASK) * RUN + at % RUN))
    tl.store(out + at, total)


@triton.jit
def instructions(seeds, out, rounds, TEXT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(seeds + at)
    for _ in range(rounds):
        x = tl.inline_asm_elementwise(TEXT, "=r,r", [x], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(out + at, x)


@triton.jit
def code(seeds, out, rounds, apart, TEXT: tl.constexpr, TIMES: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(seeds + at)
    for _ in range((tl.program_id(0) * 7919 % 64) * apart):
        x = tl.inline_asm_elementwise(
            "fma.rn.f32 $0, $0, $0, $0;", "=r,0", [x], dtype=tl.int32, is_pure=False, pack=1
        )
    for _ in range(rounds):
        for _ in tl.static_range(TIMES):
            x = tl.inline_asm_elementwise(TEXT, "=r,0", [x], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(out + at, x)


def microseconds(launch: Callable[[], Any]) -> float:
    """Return the time of a launch, the best of five."""
    launch()
    times = []
    for _ in range(5):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        launch()
        end.record()
        end.synchronize()
        times.append(1e3 * begin.elapsed_time(end))
    return float(min(times))


def cases(processors: int) -> Iterator[tuple[dict[str, Any], Callable[[int], Any], int]]:
    """Yield what is timed, its launch of some rounds, and the instructions of a round by an SM."""
    seeds = torch.randint(0, 1 << 31, (1 << 22,), dtype=torch.int32, device="cuda")
    out = torch.empty(1 << 22, dtype=torch.int32, device="cuda")
    table = torch.zeros(1 << 24, dtype=torch.float32, device="cuda")
    sums = torch.empty(1 << 22, dtype=torch.float32, device="cuda")
    for kilobytes in (4, 16, 32, 64, 128, 192, 256, 512, 2048, 32768):
        for run in (1, 2, 4, 8, 16, 32):
            if run > 1 and kilobytes not in (32, 256, 32768):
                continue
            for warps, ctas in ((4, 2), (4, 8), (4, 16), (16, 4)):
                places = 1 << int(math.log2(kilobytes * 256 / run))
                same = seeds.view(-1, run)[:, :1].expand(-1, run).reshape(-1).contiguous()
                what = {"what": "gather", "bytes": 4 * places * run, "run": run}
                yield (
                    what | {"warps": warps * ctas},
                    lambda rounds, same=same, places=places, run=run, warps=warps, ctas=ctas: (
                        gather[(processors * ctas,)](
                            table, same, sums, rounds, places - 1, run, 32 * warps, num_warps=warps
                        )
                    ),
                    warps * ctas,
                )
    for name, text in KINDS.items():
        for warps, ctas in ((1, 4), (4, 1), (4, 4), (4, 8), (16, 1)):
            yield (
                {"what": name, "warps": warps * ctas},
                lambda rounds, text=text, warps=warps, ctas=ctas: instructions[
                    (processors * ctas,)
                ](seeds, out, rounds, text, 256 * warps, num_warps=warps),
                8 * warps * ctas,
            )
    for kilobytes in (8, 16, 24, 32, 40, 48, 64, 96, 128, 192, 256):
        for warps, ctas in ((1, 4), (1, 16), (4, 4), (4, 8), (16, 2)):
            for apart in (0, 8 * kilobytes):  # the last begin half an iteration later
                what = {"what": "code", "bytes": 1024 * kilobytes, "apart": apart > 0}
                yield (
                    what | {"warps": warps * ctas, "of a program": warps},
                    lambda rounds, k=kilobytes, warps=warps, ctas=ctas, apart=apart: code[
                        (processors * ctas,)
                    ](seeds, out, rounds, apart, FMA * REPEATED, k, 32 * warps, num_warps=warps),
                    warps * ctas * REPEATED * kilobytes,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="what has this text")
    chosen = parser.parse_args()
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    with chosen.out.open("w", buffering=1) as out:
        out.write(
            json.dumps({"gpu": torch.cuda.get_device_name(), "triton": triton.__version__}) + "\n"
        )
        for what, launch, number in cases(processors):
            if chosen.only not in what["what"]:
                continue
            rounds = ROUNDS.get(what["what"], MOST_ROUNDS)
            long, short = (microseconds(partial(launch, n)) for n in (3 * rounds, rounds))
            ns = 1e3 * (long - short) / (2 * rounds * number)
            out.write(json.dumps(what | {"ns": round(ns, 4)}) + "\n")


if __name__ == "__main__":
    main()
