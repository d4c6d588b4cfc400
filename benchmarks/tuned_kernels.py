"""Kernels as autotuning compiles them: the same two, for other blocks, warps and stages.

usage: TRITON_PYTHON benchmarks/tuned_kernels.py COUNT

TRITON_PYTHON is the Python of an environment that holds triton==3.9.0; no GPU is needed.  Prints
the IR of so many configurations, drawn from all that there are, before it is lowered to LLVM.  The
modules differ in types, constants and the loads ahead of the loop; they share most lines, all
locations and most aliases.
"""

# ruff: noqa: N803 - constants of kernels are written as Triton's tutorials write them

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any, NamedTuple

import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend


@triton.jit
def matmul(
    a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """Return a @ b, the blocks of a few rows of blocks by turns."""
    program = tl.program_id(0)
    wide = GROUP * tl.cdiv(N, BN)
    first = program // wide * GROUP
    high = min(tl.cdiv(M, BM) - first, GROUP)
    at_m, at_n = first + program % wide % high, program % wide // high
    rows = (at_m * BM + tl.arange(0, BM)) % M
    columns = (at_n * BN + tl.arange(0, BN)) % N
    inner = tl.arange(0, BK)
    a_ptrs = a + rows[:, None] * stride_am + inner[None, :] * stride_ak
    b_ptrs = b + inner[:, None] * stride_bk + columns[None, :] * stride_bn
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = tl.load(a_ptrs, mask=inner[None, :] < K - k * BK, other=0.0)
        right = tl.load(b_ptrs, mask=inner[:, None] < K - k * BK, other=0.0)
        total = tl.dot(left, right, total)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    rows = at_m * BM + tl.arange(0, BM)
    columns = at_n * BN + tl.arange(0, BN)
    places = c + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(places, total.to(tl.float16), mask=inside)


@triton.jit
def attention(q, k, v, out, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Attend to all keys, block by block; depth is D."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    depth, inside = tl.arange(0, D), rows[:, None] < length
    query = tl.load(q + rows[:, None] * D + depth[None, :], mask=inside, other=0.0)
    best = tl.full((BM,), float("-inf"), tl.float32)
    weight, total = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        keys = start + tl.arange(0, BN)
        across, down = keys[None, :] < length, keys[:, None] < length
        key = tl.load(k + keys[None, :] * D + depth[:, None], mask=across, other=0.0)
        scores = tl.where(across, tl.dot(query, key) * scale, float("-inf"))
        now = tl.maximum(best, tl.max(scores, 1))
        share, shrink = tl.exp2(scores - now[:, None]), tl.exp2(best - now)
        weight = weight * shrink + tl.sum(share, 1)
        value = tl.load(v + keys[:, None] * D + depth[None, :], mask=down, other=0.0)
        total = tl.dot(share.to(tl.float16), value, total * shrink[:, None])
        best = now
    places = out + rows[:, None] * D + depth[None, :]
    tl.store(places, (total / weight[:, None]).to(tl.float16), mask=inside)


class Configuration(NamedTuple):
    """A kernel, the types of its arguments, its constants, its options and its GPU."""

    kernel: Any
    signature: dict[str, str]
    constants: dict[str, int]
    options: dict[str, int]
    gpu: int


STRIDES = ("stride_am", "stride_ak", "stride_bk", "stride_bn", "stride_cm", "stride_cn")
MATMUL = dict.fromkeys("abc", "*fp16") | dict.fromkeys((*"MNK", *STRIDES), "i32")
ATTENTION = dict.fromkeys(("q", "k", "v", "out"), "*fp16") | {"length": "i32", "scale": "fp32"}
SIZES, WARPS, GPUS = (32, 64, 128, 256), (2, 4, 8), (80, 90)


def configurations() -> Iterator[Configuration]:
    """Yield every configuration."""
    for m, n, k, group, warps, stages, gpu in product(
        SIZES, SIZES, SIZES[:3], (4, 8), WARPS, (2, 3, 4, 5), GPUS
    ):
        constants, options = {"BM": m, "BN": n, "BK": k, "GROUP": group}, (warps, stages)
        yield Configuration(matmul, MATMUL, constants, _options(*options), gpu)
    for m, n, depth, warps, stages, gpu in product(
        (16, *SIZES), (16, *SIZES[:3]), SIZES, WARPS, (1, 2, 3, 4), GPUS
    ):
        constants, options = {"BM": m, "BN": n, "D": depth}, (warps, stages)
        yield Configuration(attention, ATTENTION, constants, _options(*options), gpu)


def _options(warps: int, stages: int) -> dict[str, int]:
    return {"num_warps": warps, "num_stages": stages}


def compiled(one: Configuration) -> str:
    """Return the IR of a configuration before it is lowered to LLVM."""
    aligned = {
        (index,): [["tt.divisibility", 16]]
        for index, kind in enumerate(one.signature.values())
        if kind != "fp32"
    }
    whole = one.signature | dict.fromkeys(one.constants, "constexpr")
    source = ASTSource(one.kernel, whole, constexprs=one.constants, attrs=aligned)
    target = GPUTarget("cuda", one.gpu, 32)
    backend = make_backend(target)
    options, stages = backend.parse_options(dict(one.options)), dict[str, Any]()
    backend.add_stages(stages, options, source.language)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    implementation = backend.get_codegen_implementation(options)
    found = source.make_ir(target, options, implementation, backend.get_module_map(), context)
    metadata: dict[str, Any] = {}
    for stage in ("ttir", "ttgir"):
        found = stages[stage](found, metadata)
    return str(found)


if __name__ == "__main__":
    chosen = Random(7).sample(list(configurations()), int(sys.argv[1]))
    for configuration in chosen:
        print(compiled(configuration))
