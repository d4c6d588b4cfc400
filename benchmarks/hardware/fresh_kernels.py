"""Kernels of kinds that no other module here has, written after ``unseen_kernels`` had judged.

``problems`` yields them as ``sweep_kernels.problems`` does: weighted bins, sparse rows, a hashed
grid, sums of discounted rewards, persistent products of fp8 and partitions of warps with an
epilogue, nearest centroids, dropout before a norm, a strided image.
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
def weighted_bins(rows, columns, weights, image, W, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    to = tl.load(rows + at) * W + tl.load(columns + at)
    tl.atomic_add(image + to, tl.load(weights + at), sem="relaxed")


@triton.jit
def sparse_rows(x, columns, values, y, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = m[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    products = tl.load(values + at) * tl.load(x + tl.load(columns + at))
    tl.store(y + m, tl.sum(products, 1))


@triton.jit
def _corner(table, i, j, k, level, SIZE: tl.constexpr):
    place = (i * 1) ^ (j * 2654435761) ^ (k * 805459861)
    return tl.load(table + level * SIZE + (place & (SIZE - 1)).to(tl.int32))


@triton.jit
def hashed_grid(
    points, table, out, P, LEVELS: tl.constexpr, SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y, z = tl.load(points + at), tl.load(points + P + at), tl.load(points + 2 * P + at)
    for level in range(LEVELS):
        scale = tl.exp2(level * 0.5) * 16.0
        u, v, w = tl.abs(x) * scale, tl.abs(y) * scale, tl.abs(z) * scale
        i, j, k = tl.floor(u), tl.floor(v), tl.floor(w)
        a, b, c = u - i, v - j, w - k
        i, j, k = i.to(tl.uint32), j.to(tl.uint32), k.to(tl.uint32)
        total = tl.zeros((BLOCK,), tl.float32)
        for di in tl.static_range(2):
            for dj in tl.static_range(2):
                for dk in tl.static_range(2):
                    share = (a if di else 1 - a) * (b if dj else 1 - b) * (c if dk else 1 - c)
                    total += share * _corner(table, i + di, j + dj, k + dk, level, SIZE)
        tl.store(out + level * P + at, total)


@triton.jit
def _discounted(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def discounted_sums(rewards, values, ends, out, T, ROWS: tl.constexpr, BT: tl.constexpr):
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    t = tl.arange(0, BT)
    carried = tl.zeros((ROWS,), tl.float32)
    for i in range(T - BT, -1, -BT):
        at = m[:, None] * (T + 1) + (i + t)[None, :]
        left = tl.where(tl.load(ends + at) == 0, 0.99, 0.0)
        error = tl.load(rewards + at) + left * tl.load(values + at + 1) - tl.load(values + at)
        decay, sums = tl.associative_scan((left * 0.95, error), 1, _discounted, reverse=True)
        sums += decay * carried[:, None]
        tl.store(out + at, sums)
        carried = tl.sum(tl.where((t == 0)[None, :], sums, 0.0), 1)


@triton.jit
def persistent_eight(
    a, b, c, scale, M, N, K,
    SMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    down = tl.cdiv(M, BM)
    for tile in range(tl.program_id(0), down * tl.cdiv(N, BN), SMS):
        m, n = tile % down * BM, tile // down * BN
        total = tl.zeros((BM, BN), tl.float32)
        for i in range(0, K, BK):
            total = tl.dot(da.load([m, i]), db.load([n, i]).T, total)
        scaled = total * scale
        dc.store([m, n], (scaled / (1 + tl.exp(-scaled))).to(tl.bfloat16))


@triton.jit
def specialized_epilogue(
    a, b, bias, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(1) * BM, tl.program_id(0) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for i in tl.range(0, K, BK, warp_specialize=True):
        total = tl.dot(da.load([m, i]), db.load([i, n]), total)
    total += tl.load(bias + n + tl.arange(0, BN))[None, :]
    dc.store([m, n], (total * tl.sigmoid(1.7 * total)).to(tl.bfloat16))


@triton.jit
def nearest_centroids(
    x, centroids, norms, chosen, K, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    points = tl.load(x + m[:, None] * D + d[None, :])
    best = tl.full((BM,), float("inf"), tl.float32)
    where = tl.zeros((BM,), tl.int32)
    for i in range(0, K, BN):
        n = i + tl.arange(0, BN)
        others = tl.load(centroids + n[None, :] * D + d[:, None])
        far = tl.load(norms + n)[None, :] - 2 * tl.dot(points, others)
        least, at = tl.min(far, 1, return_indices=True)
        where = tl.where(least < best, i + at, where)
        best = tl.minimum(best, least)
    tl.store(chosen + m, where)


@triton.jit
def dropped_norm(x, residual, w, y, kept, seed, N: tl.constexpr, ROWS: tl.constexpr):
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    n = tl.arange(0, N)
    at = m[:, None] * N + n[None, :]
    survives = tl.rand(seed, at) > 0.1
    values = tl.where(survives, tl.load(x + at).to(tl.float32) / 0.9, 0.0)
    values += tl.load(residual + at).to(tl.float32)
    tl.store(kept + at, values.to(tl.bfloat16))
    mean = tl.sum(values, 1) / N
    centred = values - mean[:, None]
    scale = tl.rsqrt(tl.sum(centred * centred, 1) / N + 1e-5)
    tl.store(y + at, (centred * scale[:, None] * tl.load(w + n)[None, :]).to(tl.bfloat16))


@triton.jit
def strided_image(x, w, y, W, C, K, BP: tl.constexpr, BK: tl.constexpr, BC: tl.constexpr):
    pixel = tl.program_id(0) * BP + tl.arange(0, BP)
    k, c = tl.program_id(1) * BK + tl.arange(0, BK), tl.arange(0, BC)
    half = W // 2
    row, column = pixel // half * 2, pixel % half * 2
    total = tl.zeros((BP, BK), tl.float32)
    for step in range(0, 16 * C, BC):
        tap, channel = step // C, step % C
        h, v = row + tap // 4 - 1, column + tap % 4 - 1
        inside = (h >= 0) & (h < W) & (v >= 0) & (v < W)
        at = (h * W + v)[:, None] * C + (channel + c)[None, :]
        pixels = tl.load(x + at, mask=inside[:, None], other=0.0)
        total = tl.dot(pixels, tl.load(w + (step + c)[:, None] * K + k[None, :]), total)
    tl.store(y + pixel[:, None] * K + k[None, :], tl.maximum(total, 0.2 * total).to(tl.float16))


def problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield each problem: its name, kernel, arguments, and grid, constants, warps, stages.

    Args:
        make: a tensor of a shape and a type.
        integers: a tensor of random integers below the first of its arguments, of a shape.
    """
    half, brain, single, eight = torch.float16, torch.bfloat16, torch.float32, torch.float8_e4m3fn
    product = itertools.product
    size = 1 << 23
    yield (
        "weighted_bins",
        weighted_bins,
        (
            integers(512, size), integers(512, size), make((size,), single),
            make((512, 512), single), 512,
        ),
        [
            ((size // b,), {"BLOCK": b}, w, 3)
            for b, w in product((128, 512, 2048, 8192), (1, 2, 4, 8))
            if b >= 32 * w
        ],
    )  # fmt: skip
    rows = 1 << 17
    yield (
        "sparse_rows",
        sparse_rows,
        (
            make((rows,), single), integers(rows, rows * 64), make((rows * 64,), single),
            make((rows,), single),
        ),
        [
            ((rows // m,), {"WIDTH": 64, "ROWS": m}, w, 3)
            for m, w in product((4, 16, 64, 128), (1, 2, 4, 8))
        ],
    )  # fmt: skip
    points = 1 << 19
    yield (
        "hashed_grid",
        hashed_grid,
        (make((3, points), single), make((16, 1 << 19), half), make((16, points), single), points),
        [
            ((points // b,), {"LEVELS": 16, "SIZE": 1 << 19, "BLOCK": b}, w, 3)
            for b, w in product((128, 256, 512, 1024), (1, 2, 4, 8))
            if b >= 32 * w
        ],
    )
    agents, length = 8192, 2048
    wide = (agents, length + 1)
    yield (
        "discounted_sums",
        discounted_sums,
        (
            make(wide, single), make(wide, single), integers(64, agents * (length + 1)),
            make(wide, single), length,
        ),
        [
            ((agents // m,), {"ROWS": m, "BT": t}, w, 3)
            for m, t, w in product((1, 4, 16), (64, 256, 1024), (1, 4, 8))
            if 32 * w <= m * t <= 8192
        ],
    )  # fmt: skip
    a8, b8 = make((8192, 4096), eight), make((4096, 4096), eight)
    yield (
        "persistent_eight_descriptors",
        persistent_eight,
        (a8, b8, make((8192, 4096), brain), 0.01, 8192, 4096, 4096),
        [
            ((132,), {"SMS": 132, "BM": m, "BN": n, "BK": 128}, w, s)
            for m, n, w, s in product((64, 128), (128, 256), (4, 8), (2, 3, 4))
        ],
    )
    yield (
        "specialized_epilogue_descriptors",
        specialized_epilogue,
        (
            make((8192, 2048), brain), make((2048, 4096), brain), make((4096,), single),
            make((8192, 4096), brain), 8192, 4096, 2048,
        ),
        [
            ((4096 // n, 8192 // m), {"BM": m, "BN": n, "BK": k}, w, s)
            for m, n, k, w, s in product((64, 128), (64, 128, 256), (64, 128), (4, 8), (2, 3))
        ],
    )  # fmt: skip
    yield (
        "nearest_centroids",
        nearest_centroids,
        (
            make((1 << 17, 64), half), make((2048, 64), half), make((2048,), single),
            integers(2, 1 << 17), 2048,
        ),
        [
            (((1 << 17) // m,), {"D": 64, "BM": m, "BN": n}, w, s)
            for m, n, w, s in product((64, 128), (32, 64, 128), (4, 8), (2, 3))
        ],
    )  # fmt: skip
    yield (
        "dropped_norm",
        dropped_norm,
        (
            make((32768, 1024), brain), make((32768, 1024), brain), make((1024,), single),
            make((32768, 1024), brain), make((32768, 1024), brain), 17,
        ),
        [
            ((32768 // m,), {"N": 1024, "ROWS": m}, w, 3)
            for m, w in product((1, 2, 4, 8), (1, 2, 4, 8))
        ],
    )  # fmt: skip
    yield (
        "strided_image",
        strided_image,
        (
            make((256 * 256, 64), half), make((16 * 64, 128), half), make((128 * 128, 128), half),
            256, 64, 128,
        ),
        [
            ((16384 // p, 128 // k), {"BP": p, "BK": k, "BC": c}, w, s)
            for p, k, c, w, s in product((64, 128), (64, 128), (32, 64), (4, 8), (2, 3))
        ],
    )  # fmt: skip
