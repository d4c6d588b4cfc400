"""Compile kernels with 1 to 5 stages, and keep what each takes of shared memory.

    TRITON_PYTHON benchmarks/registers/stages.py FOLDER [TARGET...]

TRITON_PYTHON as for make.py; no GPU is needed.  FOLDER gets a dump for each kernel, GPU and number
of stages, and shared.jsonl: the bytes of ``metadata.shared``.  What is there is not made again.
"""

# ruff: noqa: N803 - constants are written as Triton's tutorials write them

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import kernels
import triton
import triton.language as tl
from kernels import Variant
from make import TARGETS, compiled

STAGES = range(1, 6)
GPUS = ("sm80", "sm90", "sm100", "gfx942", "gfx950", "gfx1250")


@triton.jit
def described(a, b, c, K, width, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """A matmul whose tensors are descriptors: copies by TMA, with barriers, or by AMD's TDM."""
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    left = tl.make_tensor_descriptor(a, [4096, K], [K, 1], [M, B])
    right = tl.make_tensor_descriptor(b, [K, width], [width, 1], [B, N])
    out = tl.make_tensor_descriptor(c, [4096, width], [width, 1], [M, N])
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B):
        total = tl.dot(left.load([row, k]), right.load([k, column]), total)
    out.store([row, column], total.to(tl.float16))


@triton.jit
def gathered(a, b, c, places, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """A matmul whose right rows are at places that the same loop loads."""
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B):
        left = tl.load(a + rows[:, None] * stride + (k + inner)[None, :])
        at = tl.load(places + k + inner)
        right = tl.load(b + at[:, None] * stride + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * stride + columns[None, :], total.to(tl.float16))


_POINTER = dict.fromkeys("abc", "*fp16")
_CHOSEN = {
    "matmul": {"M": 128, "N": 128, "B": 64},
    "int8_matmul": {"M": 64, "N": 64, "B": 64},
    "attention": {"M": 64, "N": 32, "D": 64},
    "attention_backward": {"M": 32, "D": 64},
}


def variants() -> Iterator[Variant]:
    """Yield six kernels in a size."""
    types = {one.kernel.__name__: one.types for one in kernels.variants()}
    for name, sizes in _CHOSEN.items():
        yield Variant(getattr(kernels, name), types[name], sizes, 4)
    types = {**_POINTER, "K": "i32", "width": "i32"}
    yield Variant(described, types, {"M": 128, "N": 64, "B": 64}, 4)
    types = {**_POINTER, "places": "*i32", "K": "i32", "stride": "i32"}
    yield Variant(gathered, types, {"M": 64, "N": 64, "B": 64}, 4)


def main(folder: Path, targets: list[str]) -> None:
    """Compile what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    truth = folder / "shared.jsonl"
    known = {json.loads(line)["name"] for line in truth.open()} if truth.exists() else set()
    for variant in variants():
        for target in targets or GPUS:
            for stages in STAGES:
                name = f"{variant.name}-{target}-s{stages}"
                if name in known:
                    continue
                found = {"name": name, "kernel": variant.name, "target": target, "stages": stages}
                try:
                    kernel = compiled(variant, TARGETS[target], num_stages=stages)
                    found["shared"] = kernel.metadata.shared
                    (folder / f"{name}.ttgir").write_text(kernel.asm["ttgir"])
                except Exception as error:  # a kernel that does not compile is a result, too
                    found["error"] = f"{type(error).__name__}: {str(error)[:300]}"
                with truth.open("a") as file:
                    file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
