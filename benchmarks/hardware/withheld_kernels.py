"""Kernels of kinds that no other module here has, written when ``sealed_kernels`` had judged.

``problems`` yields them as ``sweep_kernels.problems`` does: levels of neighbours, scattered maxima,
a product in streams, rows of a codebook, rotated rows that are cached, products of fp8 with scales
of rows, tiles turned by TMA, gates in partitions of warps, running sums in logarithms, places of
sorted keys, a partial sort, drawn tokens, a dilated sequence, a norm of groups, attention in a
window, weights of 8 bits times a vector.
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
def levels_of_neighbours(x, counts, STEPS, BINS: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros((BINS * BINS,), tl.int32)
    for i in range(STEPS):
        at = (tl.program_id(0) * STEPS + i) * BLOCK + tl.arange(0, BLOCK)
        total += tl.histogram(tl.load(x + at) * BINS + tl.load(x + at + 1), BINS * BINS)
    tl.atomic_add(counts + tl.arange(0, BINS * BINS), total)


@triton.jit
def scattered_maxima(groups, values, best, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_max(best + tl.load(groups + at), tl.load(values + at), sem="relaxed")


@triton.jit
def product_in_streams(
    a, b, c, M, N, K, SMS: tl.constexpr, PARTS: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    across, k = N // BN, tl.arange(0, BK)
    for unit in range(tl.program_id(0), M // BM * across * PARTS, SMS):
        tile, first = unit // PARTS, unit % PARTS * (K // PARTS)
        m = tile // across * BM + tl.arange(0, BM)
        n = tile % across * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), tl.float32)
        for i in range(first, first + K // PARTS, BK):
            left = tl.load(a + m[:, None] * K + (i + k)[None, :])
            total = tl.dot(left, tl.load(b + (i + k)[:, None] * N + n[None, :]), total)
        tl.atomic_add(c + m[:, None] * N + n[None, :], total, sem="relaxed")


@triton.jit
def rows_of_a_codebook(codes, book, x, y, K, BN: tl.constexpr, BK: tl.constexpr):
    n, j = tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, 8)
    total = tl.zeros((BN, BK, 8), tl.float32)
    for i in range(0, K, BK):
        k = i + tl.arange(0, BK)
        code = tl.load(codes + n[:, None] * K + k[None, :]) & 255
        weights = tl.load(book + code[:, :, None] * 8 + j[None, None, :]).to(tl.float32)
        total += weights * tl.load(x + k[:, None] * 8 + j[None, :])[None, :, :].to(tl.float32)
    tl.store(y + n, tl.sum(tl.sum(total, 2), 1))


@triton.jit
def cached_rotation(
    x, turns, places, slots, cache, HALF: tl.constexpr, HEADS: tl.constexpr, ROWS: tl.constexpr
):
    m, d = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, HALF)
    h = tl.arange(0, HEADS)
    inner = h[None, :, None] * (2 * HALF) + d[None, None, :]
    angle = tl.load(turns + tl.load(places + m)[:, None] * HALF + d[None, :])[:, None, :]
    at = m[:, None, None] * (HEADS * 2 * HALF) + inner
    left, right = tl.load(x + at).to(tl.float32), tl.load(x + at + HALF).to(tl.float32)
    to = tl.load(slots + m)[:, None, None] * (HEADS * 2 * HALF) + inner
    c, s = tl.cos(angle), tl.sin(angle)
    tl.store(cache + to, (left * c - right * s).to(tl.bfloat16))
    tl.store(cache + to + HALF, (right * c + left * s).to(tl.bfloat16))


@triton.jit
def product_of_scaled_rows(
    a, b, rows, columns, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        total = tl.dot(da.load([m, i]), db.load([n, i]).T, total)
    p, q = m + tl.arange(0, BM), n + tl.arange(0, BN)
    total *= tl.load(rows + p)[:, None] * tl.load(columns + q)[None, :]
    tl.store(c + p[:, None] * N + q[None, :], total.to(tl.bfloat16))


@triton.jit
def turned_tiles(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    target = tl.make_tensor_descriptor(y, [N, M], [M, 1], [BN, BM])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    target.store([n, m], source.load([m, n]).T)


@triton.jit
def gates_in_partitions(
    x, gates, ups, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    dx = tl.make_tensor_descriptor(x, [M, K], [K, 1], [BM, BK])
    dg = tl.make_tensor_descriptor(gates, [K, N], [N, 1], [BK, BN])
    du = tl.make_tensor_descriptor(ups, [K, N], [N, 1], [BK, BN])
    dy = tl.make_tensor_descriptor(y, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    gate, up = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    for i in tl.range(0, K, BK, warp_specialize=True):
        left = dx.load([m, i])
        gate = tl.dot(left, dg.load([i, n]), gate)
        up = tl.dot(left, du.load([i, n]), up)
    dy.store([m, n], (gate * tl.sigmoid(gate) * up).to(tl.float16))


@triton.jit
def _sum_of_logarithms(one, two):
    return tl.maximum(one, two) + tl.log(1 + tl.exp(-tl.abs(one - two)))


@triton.jit
def running_logarithms(x, y, N: tl.constexpr, ROWS: tl.constexpr):
    m, n = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, N)
    at = m[:, None] * N + n[None, :]
    tl.store(y + at, tl.associative_scan(tl.load(x + at), 1, _sum_of_logarithms))


@triton.jit
def places_of_sorted_keys(keys, places, N: tl.constexpr, ROWS: tl.constexpr):
    m, n = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, N)
    at = m[:, None] * N + n[None, :]
    pairs = (tl.load(keys + at).to(tl.int64) << 32) | n[None, :]
    tl.store(places + at, (tl.sort(pairs, 1) & 0xFFFFFFFF).to(tl.int32))


@triton.jit
def partial_sort(x, y, N: tl.constexpr, KEPT: tl.constexpr, ROWS: tl.constexpr):
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    values = tl.load(x + m[:, None] * N + tl.arange(0, N)[None, :])
    kept = tl.topk(values, KEPT, 1)
    tl.store(y + m[:, None] * KEPT + tl.arange(0, KEPT)[None, :], kept)


@triton.jit
def drawn_tokens(logits, tokens, V, seed, BLOCK: tl.constexpr):
    row, n = tl.program_id(0), tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    where = tl.zeros((BLOCK,), tl.int32)
    for i in range(0, V, BLOCK):
        at = row * V + i + n
        chance = -tl.log(1e-9 - tl.log(tl.rand(seed, at) + 1e-9))
        value = tl.load(logits + at).to(tl.float32) + chance
        where = tl.where(value > best, i + n, where)
        best = tl.maximum(best, value)
    chosen = tl.argmax(best, 0)
    tl.store(tokens + row, tl.sum(tl.where(n == chosen, where, 0), 0))


@triton.jit
def dilated_sequence(
    x, w, bias, y, T, C, K, DILATION, BT: tl.constexpr, BK: tl.constexpr, BC: tl.constexpr
):
    t, k = tl.program_id(0) * BT + tl.arange(0, BT), tl.program_id(1) * BK + tl.arange(0, BK)
    c = tl.arange(0, BC)
    total = tl.zeros((BT, BK), tl.float32)
    for tap in range(7):
        before = t % T - tap * DILATION
        for i in range(0, C, BC):
            at = (t - tap * DILATION)[:, None] * C + (i + c)[None, :]
            frames = tl.load(x + at, mask=(before >= 0)[:, None], other=0.0)
            weights = tl.load(w + (tap * C + i + c)[:, None] * K + k[None, :])
            total = tl.dot(frames, weights, total)
    total += tl.load(bias + k)[None, :]
    tl.store(y + t[:, None] * K + k[None, :], (total * tl.sigmoid(total)).to(tl.bfloat16))


@triton.jit
def norm_of_groups(x, w, y, P, C, GROUP: tl.constexpr, BP: tl.constexpr):
    g = tl.program_id(1) * GROUP + tl.arange(0, GROUP)
    one, two = tl.zeros((BP, GROUP), tl.float32), tl.zeros((BP, GROUP), tl.float32)
    first = tl.program_id(0) * P
    for i in range(0, P, BP):
        p = first + i + tl.arange(0, BP)
        values = tl.load(x + p[:, None] * C + g[None, :]).to(tl.float32)
        one += values
        two += values * values
    mean = tl.sum(tl.sum(one, 1), 0) / (P * GROUP)
    scale = tl.rsqrt(tl.sum(tl.sum(two, 1), 0) / (P * GROUP) - mean * mean + 1e-5)
    weight = tl.load(w + g)[None, :] * scale
    for i in range(0, P, BP):
        p = first + i + tl.arange(0, BP)
        values = tl.load(x + p[:, None] * C + g[None, :]).to(tl.float32)
        tl.store(y + p[:, None] * C + g[None, :], ((values - mean) * weight).to(tl.float16))


@triton.jit
def attention_in_a_window(
    q, k, v, out, T, WINDOW, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    head, d = tl.program_id(1) * T, tl.arange(0, D)
    first = tl.program_id(0) * BM
    m = first + tl.arange(0, BM)
    query = tl.load(q + (head + m)[:, None] * D + d[None, :])
    best = tl.full((BM,), -1e30, tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for i in range(tl.maximum(first - WINDOW, 0), first + BM, BN):
        n = i + tl.arange(0, BN)
        at = (head + n)[:, None] * D + d[None, :]
        scores = tl.dot(query, tl.trans(tl.load(k + at))) * scale
        behind = m[:, None] - n[None, :]
        scores = tl.where((behind >= 0) & (behind <= WINDOW), scores, -1e30)
        larger = tl.maximum(best, tl.max(scores, 1))
        shares = tl.exp2(scores - larger[:, None])
        shrunk = tl.exp2(best - larger)
        weight = weight * shrunk + tl.sum(shares, 1)
        total = tl.dot(shares.to(tl.bfloat16), tl.load(v + at), total * shrunk[:, None])
        best = larger
    at = (head + m)[:, None] * D + d[None, :]
    tl.store(out + at, (total / weight[:, None]).to(tl.bfloat16))


@triton.jit
def narrow_weights(w, scales, x, y, K, GROUPS, BN: tl.constexpr, GROUP: tl.constexpr):
    n, k = tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, GROUP)
    total = tl.zeros((BN,), tl.float32)
    for g in range(GROUPS):
        weights = tl.load(w + n[:, None] * K + (g * GROUP + k)[None, :]).to(tl.float32)
        inputs = tl.load(x + g * GROUP + k).to(tl.float32)
        total += tl.sum(weights * inputs[None, :], 1) * tl.load(scales + n * GROUPS + g)
    tl.store(y + n, total)


def problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield each problem: its name, kernel, arguments, and grid, constants, warps, stages.

    Args:
        make: a tensor of a shape and a type.
        integers: a tensor of random integers below the first of its arguments, of a shape.
    """
    yield from _integer_problems(make, integers)
    yield from _matrix_problems(make)
    yield from _descriptor_problems(make)
    yield from _row_problems(make, integers)


def _integer_problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield the problems of counts, atomics, tables and random numbers."""
    half, brain, single, product = torch.float16, torch.bfloat16, torch.float32, itertools.product
    size = 1 << 24
    yield (
        "levels_of_neighbours",
        levels_of_neighbours,
        (integers(16, size + 1), integers(1, 256), 8),
        [
            ((size // (8 * b),), {"BINS": 16, "BLOCK": b}, w, 3)
            for b, w in product((256, 512, 1024, 2048, 4096), (1, 2, 4, 8))
            if b >= 64 * w
        ],
    )
    size = 1 << 22
    yield (
        "scattered_maxima",
        scattered_maxima,
        (integers(1 << 16, size), integers(1 << 30, size), integers(1, 1 << 16)),
        [
            ((size // b,), {"BLOCK": b}, w, 3)
            for b, w in product((128, 256, 512, 1024, 2048, 4096), (1, 2, 4, 8))
            if b >= 32 * w
        ],
    )
    wide = 8192
    yield (
        "rows_of_a_codebook",
        rows_of_a_codebook,
        (
            integers(256, wide * (wide // 8)), make((256, 8), half), make((wide,), half),
            make((wide,), single), wide // 8,
        ),
        [
            ((wide // n,), {"BN": n, "BK": k}, w, 3)
            for n, k, w in product((1, 2, 4, 8), (32, 64, 128), (1, 2, 4, 8))
            if 32 * w <= n * k <= 128 * w
        ],
    )  # fmt: skip
    tokens, heads = 1 << 14, 8
    yield (
        "cached_rotation",
        cached_rotation,
        (
            make((tokens, heads, 128), brain), make((4096, 64), single), integers(4096, tokens),
            integers(2 * tokens, tokens), make((2 * tokens, heads, 128), brain),
        ),
        [
            ((tokens // m,), {"HALF": 64, "HEADS": heads, "ROWS": m}, w, 3)
            for m, w in product((1, 2, 4, 8), (1, 2, 4, 8))
        ],
    )  # fmt: skip
    rows, words = 1024, 32768
    yield (
        "drawn_tokens",
        drawn_tokens,
        (make((rows, words), half), integers(1, rows), words, 23),
        [
            ((rows,), {"BLOCK": b}, w, 3)
            for b, w in product((256, 512, 1024, 2048, 4096), (2, 4, 8, 16))
            if 32 * w <= b <= 1024 * w
        ],
    )


def _matrix_problems(make: Make) -> Iterator[Problem]:
    """Yield the problems with tensor cores that load by pointers."""
    half, brain, single, product = torch.float16, torch.bfloat16, torch.float32, itertools.product
    yield (
        "product_in_streams",
        product_in_streams,
        (
            make((2048, 4096), half), make((4096, 2048), half), make((2048, 2048), single),
            2048, 2048, 4096,
        ),
        [
            ((132,), {"SMS": 132, "PARTS": p, "BM": m, "BN": n, "BK": 64}, w, s)
            for p, m, n, w, s in product((1, 2, 4), (64, 128), (128, 256), (4, 8), (3, 4))
            if m * n == 16384 or (w == 8 and s == 3)
        ],
    )  # fmt: skip
    frames = 1 << 15
    yield (
        "dilated_sequence",
        dilated_sequence,
        (
            make((frames, 256), brain), make((7 * 256, 256), brain), make((256,), single),
            make((frames, 256), brain), 4096, 256, 256, 4,
        ),
        [
            ((frames // t, 256 // k), {"BT": t, "BK": k, "BC": c}, w, s)
            for t, k, c, w, s in product((64, 128), (64, 128), (32, 64), (4, 8), (2, 3))
        ],
    )  # fmt: skip
    heads, length = 32, 4096
    whole = (heads * length, 64)
    yield (
        "attention_in_a_window",
        attention_in_a_window,
        (
            make(whole, brain), make(whole, brain), make(whole, brain), make(whole, brain), length,
            512, 0.18,
        ),
        [
            ((length // m, heads), {"D": 64, "BM": m, "BN": n}, w, s)
            for m, n, w, s in product((64, 128), (32, 64, 128), (4, 8), (2, 3))
            if n <= m
        ],
    )  # fmt: skip


def _descriptor_problems(make: Make) -> Iterator[Problem]:
    """Yield the problems of TMA."""
    half, brain, eight, single = torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float32
    product = itertools.product
    yield (
        "scaled_rows_descriptors",
        product_of_scaled_rows,
        (
            make((4096, 4096), eight), make((4096, 4096), eight), make((4096,), single),
            make((4096,), single), make((4096, 4096), brain), 4096, 4096, 4096,
        ),
        [
            ((4096 // m, 4096 // n), {"BM": m, "BN": n, "BK": k}, w, s)
            for m, n, k, w, s in product((64, 128), (64, 128, 256), (64, 128), (4, 8), (3,))
            if m * n < 32768 or w == 8
        ],
    )  # fmt: skip
    yield (
        "turned_tiles_descriptors",
        turned_tiles,
        (make((8192, 4096), half), make((4096, 8192), half), 8192, 4096),
        [
            ((8192 // m, 4096 // n), {"BM": m, "BN": n}, w, 3)
            for m, n, w in product((32, 64, 128), (32, 64, 128), (2, 4, 8))
        ],
    )
    yield (
        "gates_in_partitions_descriptors",
        gates_in_partitions,
        (
            make((4096, 2048), half), make((2048, 2048), half), make((2048, 2048), half),
            make((4096, 2048), half), 4096, 2048, 2048,
        ),
        [
            ((4096 // m, 2048 // n), {"BM": m, "BN": n, "BK": k}, w, s)
            for m, n, k, w, s in product((64, 128), (64, 128), (32, 64), (4, 8), (2, 3))
            if m * n < 16384 or w == 8
        ],
    )  # fmt: skip


def _row_problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield the problems of rows: scans, sorts, norms, sums."""
    half, single, product = torch.float16, torch.float32, itertools.product
    yield (
        "running_logarithms",
        running_logarithms,
        (make((1 << 14, 1024), single), make((1 << 14, 1024), single)),
        [
            (((1 << 14) // m,), {"N": 1024, "ROWS": m}, w, 3)
            for m, w in product((1, 2, 4, 8), (1, 2, 4, 8))
            if m < 8 * w
        ],
    )
    yield (
        "places_of_sorted_keys",
        places_of_sorted_keys,
        (integers(1 << 30, 1 << 21), integers(1, 1 << 21)),
        [
            ((4096 // m,), {"N": 512, "ROWS": m}, w, 3)
            for m, w in product((1, 2, 4, 8), (1, 2, 4, 8))
            if m < 8 * w
        ],
    )
    yield (
        "partial_sort",
        partial_sort,
        (make((1 << 14, 512), single), make((1 << 14, 16), single)),
        [
            (((1 << 14) // m,), {"N": 512, "KEPT": 16, "ROWS": m}, w, 3)
            for m, w in product((1, 2, 4, 8), (1, 2, 4, 8))
            if m < 8 * w
        ],
    )
    images, pixels, channels = 64, 1024, 512
    yield (
        "norm_of_groups",
        norm_of_groups,
        (
            make((images * pixels, channels), half), make((channels,), single),
            make((images * pixels, channels), half), pixels, channels,
        ),
        [
            ((images, channels // g), {"GROUP": g, "BP": p}, w, 3)
            for g, p, w in product((32, 64), (16, 32, 64, 128), (2, 4, 8))
        ],
    )  # fmt: skip
    wide = 8192
    yield (
        "narrow_weights",
        narrow_weights,
        (
            make((wide, wide), torch.int8), make((wide, wide // 128), single),
            make((wide,), half), make((wide,), single), wide, wide // 128,
        ),
        [
            ((wide // n,), {"BN": n, "GROUP": 128}, w, s)
            for n, w, s in product((4, 8, 16, 32), (1, 2, 4, 8), (2, 4))
            if n < 32 * w
        ],
    )  # fmt: skip
