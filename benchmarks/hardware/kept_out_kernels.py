"""Kernels of kinds that no other module here has, written when ``held_back_kernels`` had judged.

``problems`` yields them as ``sweep_kernels.problems`` does: gradients of attention that atomics add
up, a cache of fp8, tiles that TMA adds up and images that it cuts out, a flattened persistent
product, blocks of fp8 with scales in partitions of warps, dropped attention, a drawn projection,
the delta rule, latent attention, losses of products, a symmetric product; and those of
``kept_out_row_kernels``.
"""

# ruff: noqa: N803

from __future__ import annotations

import itertools
from collections.abc import Iterator

import kept_out_row_kernels
import torch
import triton
import triton.language as tl
from sweep_kernels import Make, Problem


@triton.jit
def gradients_of_attention(
    q, k, v, dout, logs, deltas, dq, dk, dv, T, scale,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    head, d = tl.program_id(1) * T, tl.arange(0, D)
    n = head + tl.program_id(0) * BN + tl.arange(0, BN)
    at = n[:, None] * D + d[None, :]
    keys, values = tl.load(k + at), tl.load(v + at)
    dkeys, dvalues = tl.zeros((BN, D), tl.float32), tl.zeros((BN, D), tl.float32)
    for i in range(0, T, BM):
        m = head + i + tl.arange(0, BM)
        to = m[:, None] * D + d[None, :]
        query, gradient = tl.load(q + to), tl.load(dout + to)
        scores = tl.dot(query, tl.trans(keys)) * scale
        shares = tl.exp2(scores - tl.load(logs + m)[:, None])
        dvalues = tl.dot(tl.trans(shares.to(tl.bfloat16)), gradient, dvalues)
        dshares = tl.dot(gradient, tl.trans(values)) - tl.load(deltas + m)[:, None]
        dscores = (shares * dshares).to(tl.bfloat16)
        dkeys = tl.dot(tl.trans(dscores), query, dkeys)
        tl.atomic_add(dq + to, tl.dot(dscores, keys), sem="relaxed")
    tl.store(dk + at, (dkeys * scale).to(tl.bfloat16))
    tl.store(dv + at, dvalues.to(tl.bfloat16))


@triton.jit
def cache_of_eight(
    q, keys, values, key_scales, value_scales, out, T, scale,
    SPLITS: tl.constexpr, D: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    row, part = tl.program_id(0), tl.program_id(1)
    h, d = tl.arange(0, 16), tl.arange(0, D)
    query = tl.load(q + (row * 16 + h)[:, None] * D + d[None, :])
    best = tl.full((16,), -1e30, tl.float32)
    weight = tl.zeros((16,), tl.float32)
    total = tl.zeros((16, D), tl.float32)
    for i in range(part * (T // SPLITS), (part + 1) * (T // SPLITS), BN):
        n = row * T + i + tl.arange(0, BN)
        kept = tl.load(keys + n[None, :] * D + d[:, None]).to(tl.bfloat16)
        scores = tl.dot(query, kept) * (tl.load(key_scales + n) * scale)[None, :]
        larger = tl.maximum(best, tl.max(scores, 1))
        shares = tl.exp2(scores - larger[:, None])
        shrunk = tl.exp2(best - larger)
        weight = weight * shrunk + tl.sum(shares, 1)
        shares *= tl.load(value_scales + n)[None, :]
        kept = tl.load(values + n[:, None] * D + d[None, :]).to(tl.bfloat16)
        total = tl.dot(shares.to(tl.bfloat16), kept, total * shrunk[:, None])
        best = larger
    at = (row * SPLITS + part) * 16 + h
    tl.store(out + at[:, None] * D + d[None, :], total / weight[:, None])


@triton.jit
def added_tiles(
    a, b, c, M, N, K, PARTS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n, part = tl.program_id(0) * BM, tl.program_id(1) * BN, tl.program_id(2)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(part * (K // PARTS), (part + 1) * (K // PARTS), BK):
        total = tl.dot(da.load([m, i]), db.load([i, n]), total)
    dc.atomic_add([m, n], total)


@triton.jit
def cut_images(
    x, w, bias, y, H, W, C, K,
    BH: tl.constexpr, BW: tl.constexpr, BK: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    dx = tl.make_tensor_descriptor(x, [H, W, C], [W * C, C, 1], [BH, BW, BC])
    dw = tl.make_tensor_descriptor(w, [9 * C, K], [K, 1], [BC, BK])
    dy = tl.make_tensor_descriptor(y, [H, W, K], [W * K, K, 1], [BH, BW, BK])
    row, column = tl.program_id(0) // (W // BW) * BH, tl.program_id(0) % (W // BW) * BW
    k = tl.program_id(1) * BK
    total = tl.zeros((BH * BW, BK), tl.float32)
    for tap in range(9):
        for i in range(0, C, BC):
            pixels = dx.load([row + tap // 3 - 1, column + tap % 3 - 1, i])
            pixels = tl.reshape(pixels, (BH * BW, BC))
            total = tl.dot(pixels, dw.load([tap * C + i, k]), total)
    total = tl.maximum(total + tl.load(bias + k + tl.arange(0, BK))[None, :], 0.0)
    dy.store([row, column, k], tl.reshape(total.to(tl.float16), (BH, BW, BK)))


@triton.jit
def flattened_product(
    a, b, c, M, N, K, SMS: tl.constexpr, WIDE: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN // 2])
    group = WIDE * (N // BN)
    for tile in tl.range(tl.program_id(0), M // BM * (N // BN), SMS, flatten=True):
        m = (tile // group * WIDE + tile % group % WIDE) * BM
        n = tile % group // WIDE * BN
        total = tl.zeros((BM, BN), tl.float32)
        for i in range(0, K, BK):
            total = tl.dot(da.load([m, i]), db.load([n, i]).T, total)
        halves = tl.permute(tl.reshape(total, (BM, 2, BN // 2)), (0, 2, 1))
        left, right = tl.split(halves)
        dc.store([m, n], left.to(tl.bfloat16))
        dc.store([m, n + BN // 2], right.to(tl.bfloat16))


@triton.jit
def scaled_blocks_in_partitions(
    a, b, left, right, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    rows = left + m + tl.arange(0, BM)
    total = tl.zeros((BM, BN), tl.float32)
    for i in tl.range(0, K, BK, warp_specialize=True):
        part = tl.dot(da.load([m, i]), db.load([n, i]).T)
        scale = tl.load(right + n // 128 * (K // 128) + i // 128)
        total += part * (tl.load(rows + i // 128 * M) * scale)[:, None]
    dc.store([m, n], total.to(tl.bfloat16))


@triton.jit
def dropped_attention(
    q, k, v, out, seed, T, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    head, d = tl.program_id(1) * T, tl.arange(0, D)
    m = head + tl.program_id(0) * BM + tl.arange(0, BM)
    query = tl.load(q + m[:, None] * D + d[None, :])
    best = tl.full((BM,), -1e30, tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for i in range(0, T, BN):
        n = i + tl.arange(0, BN)
        keys = tl.load(k + (head + n)[None, :] * D + d[:, None])
        scores = tl.dot(query, keys) * scale
        larger = tl.maximum(best, tl.max(scores, 1))
        shares = tl.exp2(scores - larger[:, None])
        shrunk = tl.exp2(best - larger)
        weight = weight * shrunk + tl.sum(shares, 1)
        survives = tl.rand(seed, m[:, None] * T + n[None, :]) > 0.1
        shares = tl.where(survives, shares, 0.0).to(tl.float16)
        values = tl.load(v + (head + n)[:, None] * D + d[None, :])
        total = tl.dot(shares, values, total * shrunk[:, None])
        best = larger
    total = total / (0.9 * weight)[:, None]
    tl.store(out + m[:, None] * D + d[None, :], total.to(tl.float16))


@triton.jit
def drawn_projection(x, y, seed, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        signs = tl.randint(seed, (i + k)[:, None] * N + n[None, :]) & 1
        drawn = (2 * signs.to(tl.int32) - 1).to(tl.bfloat16)
        total = tl.dot(tl.load(x + m[:, None] * K + (i + k)[None, :]), drawn, total)
    tl.store(y + m[:, None] * N + n[None, :], (total * 0.0156).to(tl.bfloat16))


@triton.jit
def delta_rule(q, k, v, rates, out, T, D: tl.constexpr, V: tl.constexpr, BV: tl.constexpr):
    head, d = tl.program_id(1) * T, tl.arange(0, D)
    e = tl.program_id(0) * BV + tl.arange(0, BV)
    state = tl.zeros((D, BV), tl.float32)
    for t in range(T):
        key = tl.load(k + (head + t) * D + d).to(tl.float32)
        value = tl.load(v + (head + t) * V + e).to(tl.float32)
        query = tl.load(q + (head + t) * D + d).to(tl.float32)
        value -= tl.sum(state * key[:, None], 0)
        state += key[:, None] * (value * tl.load(rates + head + t))[None, :]
        total = tl.sum(state * query[:, None], 0)
        tl.store(out + (head + t) * V + e, total.to(tl.bfloat16))


@triton.jit
def latent_attention(
    q, cache, out, T, HEADS, scale, SPLITS: tl.constexpr, D: tl.constexpr, TURNED: tl.constexpr,
    BH: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    row, part = tl.program_id(0), tl.program_id(2)
    h, d = tl.program_id(1) * BH + tl.arange(0, BH), tl.arange(0, D)
    r, wide = D + tl.arange(0, TURNED), D + TURNED
    at = (row * HEADS + h)[:, None] * wide
    query, turned = tl.load(q + at + d[None, :]), tl.load(q + at + r[None, :])
    best = tl.full((BH,), -1e30, tl.float32)
    weight = tl.zeros((BH,), tl.float32)
    total = tl.zeros((BH, D), tl.float32)
    for i in range(part * (T // SPLITS), (part + 1) * (T // SPLITS), BN):
        n = (row * T + i + tl.arange(0, BN)) * wide
        latent = tl.load(cache + n[None, :] + d[:, None])
        scores = tl.dot(query, latent)
        scores = tl.dot(turned, tl.load(cache + n[None, :] + r[:, None]), scores) * scale
        larger = tl.maximum(best, tl.max(scores, 1))
        shares = tl.exp2(scores - larger[:, None])
        shrunk = tl.exp2(best - larger)
        weight = weight * shrunk + tl.sum(shares, 1)
        total = tl.dot(shares.to(tl.bfloat16), tl.trans(latent), total * shrunk[:, None])
        best = larger
    to = ((row * HEADS + h) * SPLITS + part) * D
    tl.store(out + to[:, None] + d[None, :], total / weight[:, None])


@triton.jit
def losses_of_products(
    x, w, losses, K, V, PARTS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    m, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BK)
    part = tl.program_id(1)
    best = tl.full((BM,), -1e30, tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    for j in range(part * (V // PARTS), (part + 1) * (V // PARTS), BN):
        n = j + tl.arange(0, BN)
        logits = tl.zeros((BM, BN), tl.float32)
        for i in range(0, K, BK):
            left = tl.load(x + m[:, None] * K + (i + k)[None, :])
            logits = tl.dot(left, tl.load(w + n[None, :] * K + (i + k)[:, None]), logits)
        larger = tl.maximum(best, tl.max(logits, 1))
        shares = tl.exp(logits - larger[:, None])
        weight = weight * tl.exp(best - larger) + tl.sum(shares, 1)
        best = larger
    tl.store(losses + m * PARTS + part, best + tl.log(weight))


@triton.jit
def symmetric_product(x, c, M, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    first, other = tl.program_id(0) * BM, tl.program_id(1) * BN
    if other >= first + BM:
        return
    m, n, k = first + tl.arange(0, BM), other + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        left = tl.load(x + m[:, None] * K + (i + k)[None, :])
        total = tl.dot(left, tl.load(x + n[None, :] * K + (i + k)[:, None]), total)
    product = total.to(tl.bfloat16)
    tl.store(c + m[:, None] * M + n[None, :], product)
    tl.store(c + n[:, None] * M + m[None, :], tl.trans(product))


def problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield each problem: its name, kernel, arguments, and grid, constants, warps, stages.

    Args:
        make: a tensor of a shape and a type.
        integers: a tensor of random integers below the first of its arguments, of a shape.
    """
    yield from _cached_problems(make)
    yield from _descriptor_problems(make)
    yield from _attention_problems(make)
    yield from _matrix_problems(make)
    yield from kept_out_row_kernels.problems(make, integers)


def _cached_problems(make: Make) -> Iterator[Problem]:
    """Yield the problem of a cache of fp8."""
    brain, eight, single = torch.bfloat16, torch.float8_e4m3fn, torch.float32
    rows, length = 64, 8192
    yield (
        "cache_of_eight",
        cache_of_eight,
        (
            make((rows, 16, 128), brain), make((rows, length, 128), eight),
            make((rows, length, 128), eight), make((rows, length), single),
            make((rows, length), single), make((rows * 16, 16, 128), single), length, 0.12,
        ),
        [
            ((rows, p), {"SPLITS": p, "D": 128, "BN": n}, w, s)
            for p, n, w, s in itertools.product((4, 16), (32, 64, 128), (2, 4), (2, 4))
        ],
    )  # fmt: skip


def _descriptor_problems(make: Make) -> Iterator[Problem]:
    """Yield the problems of TMA."""
    half, brain, single = torch.float16, torch.bfloat16, torch.float32
    eight, product = torch.float8_e4m3fn, itertools.product
    yield (
        "added_tiles_descriptors",
        added_tiles,
        (
            make((1024, 8192), brain), make((8192, 1024), brain), make((1024, 1024), single),
            1024, 1024, 8192,
        ),
        [
            ((1024 // m, 1024 // n, p), {"PARTS": p, "BM": m, "BN": n, "BK": 64}, w, s)
            for p, m, n, w, s in product((2, 4, 8), (64, 128), (64, 128), (4, 8), (2, 4))
            if w == (8 if m * n == 16384 else 4)
        ],
    )  # fmt: skip
    high, wide, channels = 512, 128, 256
    yield (
        "cut_images_descriptors",
        cut_images,
        (
            make((high, wide, channels), half), make((9 * channels, channels), half),
            make((channels,), single), make((high, wide, channels), half), high, wide, channels,
            channels,
        ),
        [
            (
                (high // h * (wide // v), channels // k),
                {"BH": h, "BW": v, "BK": k, "BC": c}, w, s,
            )
            for h, v, k, c, w, s in product((4, 8), (8, 16), (64, 128), (64,), (4, 8), (2, 3))
            if w == (4 if h * v * k < 16384 else 8)
        ],
    )  # fmt: skip
    yield (
        "flattened_product_descriptors",
        flattened_product,
        (
            make((4096, 1024), brain), make((4096, 1024), brain), make((4096, 4096), brain),
            4096, 4096, 1024,
        ),
        [
            ((132,), {"SMS": 132, "WIDE": g, "BM": m, "BN": n, "BK": 64}, w, s)
            for g, m, n, w, s in product((1, 8), (64, 128), (128, 256), (4, 8), (2, 3))
            if w == 8 or m * n < 32768
        ],
    )  # fmt: skip
    yield (
        "scaled_blocks_in_partitions_descriptors",
        scaled_blocks_in_partitions,
        (
            make((4096, 4096), eight), make((4096, 4096), eight), make((32, 4096), single),
            make((32, 32), single), make((4096, 4096), brain), 4096, 4096, 4096,
        ),
        [
            ((4096 // m, 4096 // n), {"BM": m, "BN": n, "BK": k}, w, s)
            for m, n, k, w, s in product((64, 128), (64, 128), (64, 128), (4, 8), (2, 4))
            if m * n < 16384 or w == 8
        ],
    )  # fmt: skip


def _attention_problems(make: Make) -> Iterator[Problem]:
    """Yield the problems of attention and of its gradients."""
    half, brain, single, product = torch.float16, torch.bfloat16, torch.float32, itertools.product
    heads, length = 32, 2048
    whole, rows = (heads * length, 64), (heads * length,)
    yield (
        "gradients_of_attention",
        gradients_of_attention,
        (
            make(whole, brain), make(whole, brain), make(whole, brain), make(whole, brain),
            make(rows, single), make(rows, single), make(whole, single), make(whole, brain),
            make(whole, brain), length, 0.18,
        ),
        [
            ((length // n, heads), {"D": 64, "BM": m, "BN": n}, w, s)
            for m, n, w, s in product((32, 64, 128), (64, 128), (4, 8), (1, 2))
        ],
    )  # fmt: skip
    yield (
        "dropped_attention",
        dropped_attention,
        (make(whole, half), make(whole, half), make(whole, half), make(whole, half), 17, length,
         0.18),
        [
            ((length // m, heads), {"D": 64, "BM": m, "BN": n}, w, s)
            for m, n, w, s in product((64, 128), (32, 64, 128), (4, 8), (2, 3))
        ],
    )  # fmt: skip
    rows, heads, length = 32, 128, 4096
    yield (
        "latent_attention",
        latent_attention,
        (
            make((rows * heads, 576), brain), make((rows * length, 576), brain),
            make((rows * heads * 8, 512), single), length, heads, 0.1,
        ),
        [
            (
                (rows, heads // h, p),
                {"SPLITS": p, "D": 512, "TURNED": 64, "BH": h, "BN": n}, w, s,
            )
            for p, h, n, w, s in product((2, 8), (16, 64), (16, 32, 64), (4, 8), (1, 2))
            if w == (4 if h == 16 else 8)
        ],
    )  # fmt: skip
    heads, length = 64, 512
    yield (
        "delta_rule",
        delta_rule,
        (
            make((heads, length, 64), brain), make((heads, length, 64), brain),
            make((heads, length, 128), brain), make((heads, length), single),
            make((heads, length, 128), brain), length,
        ),
        [
            ((128 // v, heads), {"D": 64, "V": 128, "BV": v}, w, 3)
            for v, w in product((8, 16, 32, 64, 128), (1, 2, 4, 8))
            if 4 * w <= v <= 64 * w
        ],
    )  # fmt: skip


def _matrix_problems(make: Make) -> Iterator[Problem]:
    """Yield the other problems with tensor cores that load by pointers."""
    half, brain, single, product = torch.float16, torch.bfloat16, torch.float32, itertools.product
    yield (
        "drawn_projection",
        drawn_projection,
        (make((8192, 4096), brain), make((8192, 256), brain), 23, 4096, 256),
        [
            ((8192 // m, 256 // n), {"BM": m, "BN": n, "BK": k}, w, 2)
            for m, n, k, w in product((64, 128), (64, 128, 256), (32, 64), (4, 8))
            if n < 256 or w == 8
        ],
    )
    yield (
        "losses_of_products",
        losses_of_products,
        (make((4096, 1024), half), make((16384, 1024), half), make((4096, 8), single), 1024, 16384),
        [
            ((4096 // m, 8), {"PARTS": 8, "BM": m, "BN": n, "BK": k}, w, s)
            for m, n, k, w, s in product((64, 128), (64, 128, 256), (32, 64), (4, 8), (3,))
            if w == 8 or m * n < 16384
        ],
    )
    yield (
        "symmetric_product",
        symmetric_product,
        (make((4096, 2048), brain), make((4096, 4096), brain), 4096, 2048),
        [
            ((4096 // m, 4096 // n), {"BM": m, "BN": n, "BK": k}, w, s)
            for m, n, k, w, s in product((64, 128), (64, 128), (32, 64), (4, 8), (2, 4))
            if m >= n and (w == 8 or m * n < 16384)
        ],
    )
