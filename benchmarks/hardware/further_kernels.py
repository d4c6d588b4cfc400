"""Kernels of further kinds for ``sweep.py --kernels further_kernels``: they judge, nothing is
fitted on them.

``problems`` yields them as ``sweep_kernels.problems`` does.
"""

# ruff: noqa: N803

from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch
import triton
import triton.language as tl
from sweep_kernels import Make, Problem


@triton.jit
def layer_norm_backward(dy, x, w, dw, N, ROWS: tl.constexpr, BN: tl.constexpr):
    n = tl.arange(0, BN)
    total = tl.zeros((BN,), tl.float32)
    first = tl.program_id(0) * ROWS
    for row in range(first, first + ROWS):
        v = tl.load(x + row * N + n).to(tl.float32)
        d = tl.load(dy + row * N + n).to(tl.float32)
        mean = tl.sum(v, 0) / N
        centred = v - mean
        scale = tl.rsqrt(tl.sum(centred * centred, 0) / N + 1e-5)
        total += d * centred * scale
        g = d * tl.load(w + n).to(tl.float32)
        tl.store(dy + row * N + n, ((g - tl.sum(g, 0) / N) * scale).to(tl.float16))
    tl.atomic_add(dw + n, total)


@triton.jit
def online_cross_entropy(logits, labels, losses, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best, total = -float("inf"), 0.0
    for i in range(0, N, BLOCK):
        v = tl.load(logits + row * N + i + tl.arange(0, BLOCK)).to(tl.float32)
        larger = tl.maximum(best, tl.max(v, 0))
        total = total * tl.exp(best - larger) + tl.sum(tl.exp(v - larger), 0)
        best = larger
    label = tl.load(labels + row)
    wanted = tl.load(logits + row * N + label).to(tl.float32)
    tl.store(losses + row, best + tl.log(total) - wanted)


@triton.jit
def dequantized_product(
    a, q, scales, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (i + k)[None, :])
        y = tl.load(q + (i + k)[:, None] * N + n[None, :])
        s = tl.load(scales + (i // 64) * N + n)
        total = tl.dot(x, (y.to(tl.float16) * s[None, :]), total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16))


@triton.jit
def decoded(q, keys, values, out, T, SPLITS: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    head, part = tl.program_id(0), tl.program_id(1)
    d = tl.arange(0, D)
    query = tl.load(q + head * D + d).to(tl.float32)
    best, total = -float("inf"), 0.0
    gathered = tl.zeros((D,), tl.float32)
    length = T // SPLITS
    for i in range(part * length, (part + 1) * length, BN):
        at = (i + tl.arange(0, BN))[:, None] * D + d[None, :] + head * T * D
        scores = tl.sum(tl.load(keys + at).to(tl.float32) * query[None, :], 1)
        larger = tl.maximum(best, tl.max(scores, 0))
        weights = tl.exp(scores - larger)
        kept = tl.exp(best - larger)
        total = total * kept + tl.sum(weights, 0)
        gathered = gathered * kept + tl.sum(
            tl.load(values + at).to(tl.float32) * weights[:, None], 0
        )
        best = larger
    tl.store(out + (head * SPLITS + part) * D + d, gathered / total)


@triton.jit
def embedded(table, index, out, N, ROWS: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    rows = tl.load(index + m)
    tl.store(out + m[:, None] * N + n[None, :], tl.load(table + rows[:, None] * N + n[None, :]))


@triton.jit
def transposed(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    v = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(y + n[:, None] * M + m[None, :], tl.trans(v))


@triton.jit
def multiplied_vector(a, x, y, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    total = tl.zeros((BM,), tl.float32)
    for i in range(0, N, BN):
        n = i + tl.arange(0, BN)
        total += tl.sum(
            tl.load(a + m[:, None] * N + n[None, :]).to(tl.float32) * tl.load(x + n)[None, :], 1
        )
    tl.store(y + m, total)


@triton.jit
def block_sparse_product(
    a, b, c, rows, starts, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    p = tl.program_id(0)
    m = p * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, 16):
        block = tl.load(rows + p * 16 + i)
        x = tl.load(a + m[:, None] * (16 * BK) + (i * BK + k)[None, :])
        y = tl.load(b + (block * BK + k)[:, None] * N + n[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16))


@triton.jit
def stencilled(x, y, W, BY: tl.constexpr, BX: tl.constexpr):
    r = tl.program_id(0) * BY + tl.arange(0, BY) + 1
    s = tl.program_id(1) * BX + tl.arange(0, BX)
    at = r[:, None] * W + s[None, :]
    middle = tl.load(x + at)
    left = tl.load(x + at - 1, mask=(s > 0)[None, :], other=0.0)
    right = tl.load(x + at + 1, mask=(s < W - 1)[None, :], other=0.0)
    tl.store(y + at, 0.2 * (middle + left + right + tl.load(x + at - W) + tl.load(x + at + W)))


@triton.jit
def depthwise(x, w, y, T, C, BT: tl.constexpr, BC: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT) + 4
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    total = tl.zeros((BT, BC), tl.float32)
    for tap in tl.static_range(4):
        weight = tl.load(w + tap * C + c).to(tl.float32)
        total += tl.load(x + (t - tap)[:, None] * C + c[None, :]).to(tl.float32) * weight[None, :]
    tl.store(y + t[:, None] * C + c[None, :], (total * tl.sigmoid(total)).to(tl.float16))


@triton.jit
def _compose(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def recurrent(a, b, y, T, C, BT: tl.constexpr, BC: tl.constexpr):
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    t = tl.arange(0, BT)
    state = tl.zeros((BC,), tl.float32)
    for i in range(0, T, BT):
        at = (i + t)[:, None] * C + c[None, :]
        decay, inputs = tl.load(a + at), tl.load(b + at)
        product, scanned = tl.associative_scan((decay, inputs), 0, _compose)
        states = scanned + product * state[None, :]
        tl.store(y + at, states)
        state = tl.sum(tl.where((t == BT - 1)[:, None], states, 0.0), 0)


@triton.jit
def summed(x, out, N, BLOCK: tl.constexpr, STEPS: tl.constexpr):
    first = tl.program_id(0) * BLOCK * STEPS
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(STEPS):
        total += tl.load(x + first + i * BLOCK + tl.arange(0, BLOCK)).to(tl.float32)
    tl.atomic_add(out, tl.sum(total, 0))


@triton.jit
def noisy(x, y, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) + 0.1 * tl.randn(seed, at))


@triton.jit
def split_product(
    a, b, c, N, K, SPLITS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    first = tl.program_id(2) * (K // SPLITS)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(first, first + K // SPLITS, BK):
        x = tl.load(a + m[:, None] * K + (i + k)[None, :])
        y = tl.load(b + (i + k)[:, None] * N + n[None, :])
        total = tl.dot(x, y, total)
    tl.atomic_add(c + m[:, None] * N + n[None, :], total)


@triton.jit
def gated(a, gate, up, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    first = tl.zeros((BM, BN), tl.float32)
    second = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (i + k)[None, :])
        at = (i + k)[:, None] * N + n[None, :]
        first = tl.dot(x, tl.load(gate + at), first)
        second = tl.dot(x, tl.load(up + at), second)
    out = first * tl.sigmoid(first) * second
    tl.store(c + m[:, None] * N + n[None, :], out.to(tl.float16))


def problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield each problem: its name, kernel, arguments, and grid, constants, warps, stages.

    Args:
        make: a tensor of a shape and a type.
        integers: a tensor of random integers below the first of its arguments, of a shape.
    """
    half, single, byte = torch.float16, torch.float32, torch.int8
    product = itertools.product
    x, dy, w = make((16384, 2048), half), make((16384, 2048), half), make((2048,), half)
    yield (
        "layer_norm_backward",
        layer_norm_backward,
        (dy, x, w, make((2048,), single), 2048),
        [
            ((16384 // r,), {"ROWS": r, "BN": 2048}, w, 3)
            for r, w in product((8, 32, 128), (2, 4, 8, 16))
        ],
    )
    logits = make((4096, 32768), half)
    yield (
        "cross_entropy",
        online_cross_entropy,
        (logits, integers(32768, 4096), make((4096,), single), 32768),
        [((4096,), {"BLOCK": b}, w, 3) for b, w in product((1024, 4096, 16384), (4, 8, 16))],
    )
    a, c = make((2048, 4096), half), make((2048, 4096), half)
    yield (
        "dequantized_product",
        dequantized_product,
        (a, make((4096, 4096), byte), make((64, 4096), half), c, 4096, 4096),
        [
            ((2048 // m, 4096 // n), {"BM": m, "BN": n, "BK": 64}, w, s)
            for m, n, w, s in product((64, 128), (64, 128), (4, 8), (2, 3, 4))
        ],
    )
    keys, values = make((64, 8192, 128), half), make((64, 8192, 128), half)
    yield (
        "decoding",
        decoded,
        (make((64, 128), half), keys, values, make((64 * 32, 128), single), 8192),
        [
            ((64, p), {"SPLITS": p, "BN": n, "D": 128}, w, 3)
            for p, n, w in product((4, 16), (32, 64, 128), (2, 4, 8))
        ],
    )
    table = make((65536, 1024), half)
    yield (
        "embedding",
        embedded,
        (table, integers(65536, 65536), make((65536, 1024), half), 1024),
        [
            ((65536 // r, 1024 // n), {"ROWS": r, "BN": n}, w, 3)
            for r, n, w in product((1, 4, 16), (256, 1024), (2, 4, 8))
        ],
    )
    square, turned = make((8192, 8192), half), make((8192, 8192), half)
    yield (
        "transpose",
        transposed,
        (square, turned, 8192, 8192),
        [
            ((8192 // m, 8192 // n), {"BM": m, "BN": n}, w, 3)
            for m, n, w in product((32, 64, 128), (32, 64, 128), (2, 4, 8))
        ],
    )
    yield (
        "matrix_vector",
        multiplied_vector,
        (square, make((8192,), single), make((8192,), single), 8192),
        [
            ((8192 // m,), {"BM": m, "BN": n}, w, 3)
            for m, n, w in product((1, 4, 16), (512, 2048), (2, 4, 8))
        ],
    )
    blocks, dense = make((4096, 16 * 64), half), make((8192, 2048), half)
    yield (
        "block_sparse",
        block_sparse_product,
        (blocks, dense, make((4096, 2048), half), integers(128, 4096), None, 2048, 1024),
        [
            ((4096 // m, 2048 // n), {"BM": m, "BN": n, "BK": 64}, w, s)
            for m, n, w, s in product((64, 128), (64, 128), (4, 8), (2, 3))
        ],
    )
    image, drawn = make((8194, 8192), single), make((8194, 8192), single)
    yield (
        "stencil",
        stencilled,
        (image, drawn, 8192),
        [
            ((8192 // y, 8192 // x), {"BY": y, "BX": x}, w, 3)
            for y, x, w in product((1, 4, 16), (256, 1024), (2, 4, 8))
        ],
    )
    signal, taps = make((65540, 2048), half), make((4, 2048), half)
    yield (
        "depthwise",
        depthwise,
        (signal, taps, make((65540, 2048), half), 65536, 2048),
        [
            ((65536 // t, 2048 // c), {"BT": t, "BC": c}, w, 3)
            for t, c, w in product((8, 32, 128), (64, 256), (2, 4, 8))
        ],
    )
    decay, inputs = make((4096, 4096), single), make((4096, 4096), single)
    yield (
        "recurrence",
        recurrent,
        (decay, inputs, make((4096, 4096), single), 4096, 4096),
        [
            ((4096 // c,), {"BT": t, "BC": c}, w, 3)
            for t, c, w in product((16, 64, 128), (16, 32), (2, 4))
        ],
    )
    size = 1 << 26
    flat = make((size,), half)
    yield (
        "sum",
        summed,
        (flat, make((1,), single), size),
        [
            ((size // (b * s),), {"BLOCK": b, "STEPS": s}, w, 3)
            for b, s, w in product((1024, 4096), (1, 8, 64), (4, 8))
        ],
    )
    numbers, drawn_numbers = make((1 << 24,), single), make((1 << 24,), single)
    yield (
        "noise",
        noisy,
        (numbers, drawn_numbers, 5),
        [(((1 << 24) // b,), {"BLOCK": b}, w, 3) for b, w in product((512, 1024, 4096), (2, 4, 8))],
    )
    wide, tall = make((256, 16384), half), make((16384, 1024), half)
    yield (
        "split_product",
        split_product,
        (wide, tall, make((256, 1024), single), 1024, 16384),
        [
            ((256 // m, 1024 // n, p), {"SPLITS": p, "BM": m, "BN": n, "BK": 64}, 4, s)
            for m, n, p, s in product((64, 128), (64, 128), (4, 16, 64), (2, 3))
        ],
    )
    tokens, gate, up = make((2048, 2048), half), make((2048, 4096), half), make((2048, 4096), half)
    yield (
        "gated_product",
        gated,
        (tokens, gate, up, make((2048, 4096), half), 4096, 2048),
        [
            ((2048 // m, 4096 // n), {"BM": m, "BN": n, "BK": k}, w, s)
            for m, n, k, w, s in product((64, 128), (64, 128), (32, 64), (4, 8), (2, 3))
        ],
    )
