"""Kernels for ``autotune.py``, each with the list of configurations that its project's has.

``lists`` yields them.  They are written after Triton's tutorials (matrix product, attention),
flash-linear-attention (output of a chunk), Liger-Kernel (cross entropy) and PyTorch's templates (a
product whose weights are of 8 bits): names, blocks, warps and stages are of those kinds.
"""

# ruff: noqa: N803

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl


class TunedKernel(NamedTuple):
    """A kernel with its arguments, and the list of its configurations.

    Attributes:
        name: of the list.
        kernel: the function of ``triton.jit``.
        arguments: by name, without what a configuration gives.
        grid: programs along each axis, from the arguments by name.
        configs: the list.
        key: names of the arguments for which it is tuned anew.
    """

    name: str
    kernel: Any
    arguments: Mapping[str, Any]
    grid: Callable[[Mapping[str, Any]], tuple[int, ...]]
    configs: list[triton.Config]
    key: list[str]


@triton.jit
def matmul(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    program = tl.program_id(0)
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    wide = GROUP * across
    first = program // wide * GROUP
    high = min(down - first, GROUP)
    at_m, at_n = first + program % wide % high, program % wide // high
    m = (at_m * BM + tl.arange(0, BM)) % M
    n = (at_n * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    left, right = a + m[:, None] * K + k[None, :], b + k[:, None] * N + n[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        x = tl.load(left, mask=k[None, :] < K - i * BK, other=0.0)
        y = tl.load(right, mask=k[:, None] < K - i * BK, other=0.0)
        total = tl.dot(x, y, total)
        left += BK
        right += BK * N
    m = at_m * BM + tl.arange(0, BM)
    n = at_n * BN + tl.arange(0, BN)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16), mask=inside)


@triton.jit
def attention(q, k, v, out, T, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1) * T * D
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + head + m[:, None] * D + d[None, :])
    best = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for i in range(0, T, BN):
        n = i + tl.arange(0, BN)
        keys = tl.load(k + head + n[None, :] * D + d[:, None])
        scores = tl.dot(query, keys) * scale
        larger = tl.maximum(best, tl.max(scores, 1))
        shares = tl.exp2(scores - larger[:, None])
        shrunk = tl.exp2(best - larger)
        weight = weight * shrunk + tl.sum(shares, 1)
        values = tl.load(v + head + n[:, None] * D + d[None, :])
        total = tl.dot(shares.to(tl.float16), values, total * shrunk[:, None])
        best = larger
    tl.store(out + head + m[:, None] * D + d[None, :], (total / weight[:, None]).to(tl.float16))


@triton.jit
def chunk_output(
    q, k, v, h, decay, out, T, scale,
    KD: tl.constexpr, VD: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    chunk, head = tl.program_id(1), tl.program_id(2)
    t = chunk * BT + tl.arange(0, BT)
    v_at = tl.program_id(0) * BV + tl.arange(0, BV)
    states = h + (head * tl.cdiv(T, BT) + chunk) * KD * VD
    within = tl.zeros((BT, BT), tl.float32)
    total = tl.zeros((BT, BV), tl.float32)
    for i in range(0, KD, BK):
        k_at = i + tl.arange(0, BK)
        queries = tl.load(q + head * T * KD + t[:, None] * KD + k_at[None, :])
        keys = tl.load(k + head * T * KD + t[None, :] * KD + k_at[:, None])
        state = tl.load(states + k_at[:, None] * VD + v_at[None, :])
        total = tl.dot(queries, state, total)
        within = tl.dot(queries, keys, within)
    g = tl.load(decay + head * T + t)
    total = total * tl.exp(g)[:, None]
    at = tl.arange(0, BT)
    within = tl.where(at[:, None] >= at[None, :], within * tl.exp(g[:, None] - g[None, :]), 0.0)
    values = tl.load(v + head * T * VD + t[:, None] * VD + v_at[None, :])
    total = (total + tl.dot(within.to(tl.bfloat16), values)) * scale
    tl.store(out + head * T * VD + t[:, None] * VD + v_at[None, :], total.to(tl.bfloat16))


@triton.jit
def cross_entropy(logits, labels, losses, N, count, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    begin = logits + row * N
    best, total = -float("inf"), 0.0
    for i in range(0, N, BLOCK):
        at = i + tl.arange(0, BLOCK)
        x = tl.load(begin + at, mask=at < N, other=-float("inf")).to(tl.float32)
        larger = tl.maximum(best, tl.max(x, 0))
        total = total * tl.exp(best - larger) + tl.sum(tl.exp(x - larger), 0)
        best = larger
    label = tl.load(labels + row)
    wanted = tl.load(begin + label).to(tl.float32)
    tl.store(losses + row, (best + tl.log(total) - wanted) / count)
    for i in range(0, N, BLOCK):
        at = i + tl.arange(0, BLOCK)
        x = tl.load(begin + at, mask=at < N, other=-float("inf")).to(tl.float32)
        gradient = (tl.exp(x - best) / total - tl.where(at == label, 1.0, 0.0)) / count
        tl.store(begin + at, gradient.to(tl.bfloat16), mask=at < N)


@triton.jit
def weight_only_product(
    a, q, scales, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (i + k)[None, :], mask=m[:, None] < M, other=0.0)
        y = tl.load(q + n[None, :] * K + (i + k)[:, None])
        total = tl.dot(x, y.to(tl.bfloat16), total)
    total *= tl.load(scales + n)[None, :]
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.bfloat16), mask=m[:, None] < M)


def _configs(names: str, *choices: tuple[int, ...]) -> list[triton.Config]:
    """Return each choice of constants, and of warps and stages, which are the last two."""
    return [
        triton.Config(dict(zip(names.split(), chosen)), num_warps=chosen[-2], num_stages=chosen[-1])
        for chosen in product(*choices)
    ]


def _matmul_configs() -> list[triton.Config]:
    blocks = [
        (128, 256, 64), (64, 256, 32), (128, 128, 32), (128, 64, 32), (64, 128, 32),
        (128, 32, 32), (64, 32, 32), (32, 64, 32), (128, 256, 128), (256, 128, 128),
        (256, 64, 128), (64, 256, 128), (128, 128, 128), (128, 64, 64), (64, 128, 64),
        (128, 32, 64), (256, 128, 64), (128, 128, 64), (64, 64, 64), (64, 64, 32),
    ]  # fmt: skip
    return [
        triton.Config({"BM": m, "BN": n, "BK": k, "GROUP": 8}, num_warps=w, num_stages=s)
        for (m, n, k), w, s in product(blocks, (4, 8), (3, 4))
    ]


def lists(make: Callable[..., Any], integers: Callable[..., Any]) -> Iterator[TunedKernel]:
    """Yield each list of configurations with its kernel and arguments.

    Args:
        make: a tensor of a shape and a type.
        integers: a tensor of random integers below the first of its arguments, of a shape.
    """
    half, brain, single, byte = torch.float16, torch.bfloat16, torch.float32, torch.int8
    yield TunedKernel(
        "matmul",
        matmul,
        {
            "a": make((4096, 4096), half),
            "b": make((4096, 4096), half),
            "c": make((4096, 4096), half),
            "M": 4096,
            "N": 4096,
            "K": 4096,
        },
        lambda given: (
            triton.cdiv(given["M"], given["BM"]) * triton.cdiv(given["N"], given["BN"]),
        ),
        _matmul_configs(),
        ["M", "N", "K"],
    )
    heads, length, depth = 32, 4096, 64
    q, k, v, out = (make((heads, length, depth), half) for _ in range(4))
    yield TunedKernel(
        "attention",
        attention,
        {"q": q, "k": k, "v": v, "out": out, "T": length, "scale": 0.18, "D": depth},
        lambda given: (triton.cdiv(given["T"], given["BM"]), heads),
        _configs("BM BN", (64, 128), (32, 64, 128), (4, 8), (2, 3, 4, 5)),
        ["T"],
    )
    heads, length = 64, 4096
    chunks = length // 64
    yield TunedKernel(
        "chunk_output",
        chunk_output,
        {
            "q": make((heads, length, 128), brain),
            "k": make((heads, length, 128), brain),
            "v": make((heads, length, 256), brain),
            "h": make((heads, chunks, 128, 256), brain),
            "decay": make((heads, length), single),
            "out": make((heads, length, 256), brain),
            "T": length,
            "scale": 0.09,
            "KD": 128,
            "VD": 256,
            "BT": 64,
        },
        lambda given: (256 // given["BV"], chunks, 64),
        _configs("BK BV", (32, 64, 128), (32, 64, 128), (2, 4, 8), (2, 3)),
        ["T"],
    )
    rows, words = 4096, 65536
    yield TunedKernel(
        "cross_entropy",
        cross_entropy,
        {
            "logits": make((rows, words), brain),
            "labels": integers(words, rows),
            "losses": make((rows,), single),
            "N": words,
            "count": rows,
        },
        lambda given: (rows,),
        _configs("BLOCK", (1024, 2048, 4096, 8192, 16384, 32768), (4, 8, 16, 32), (2, 3)),
        ["N"],
    )
    yield TunedKernel(
        "weight_only_product",
        weight_only_product,
        {
            "a": make((64, 4096), brain),
            "q": make((11008, 4096), byte),
            "scales": make((11008,), single),
            "c": make((64, 11008), brain),
            "M": 64,
            "N": 11008,
            "K": 4096,
        },
        lambda given: (given["N"] // given["BN"], triton.cdiv(given["M"], given["BM"])),
        _configs("BM BN BK", (16, 64), (32, 64, 128), (64, 128), (4, 8), (2, 3, 4)),
        ["M", "N", "K"],
    )
