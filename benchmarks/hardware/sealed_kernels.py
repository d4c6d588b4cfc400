"""Kernels of kinds that no other module here has, written when ``fresh_kernels`` had judged.

``problems`` yields them as ``sweep_kernels.problems`` does: places of a radix sort, a Hadamard
transform, pooled bags, random walks, a gated recurrence, absolute distances, products of groups,
a persistent norm, triangular systems, running maxima, the nucleus of a distribution, a sampled
image, statistics of channels, attention in partitions of warps and over chosen blocks of fp8, a
convolution of a volume.
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
def radix_places(keys, starts, ordered, SHIFT: tl.constexpr, BLOCK: tl.constexpr):
    block, d = tl.program_id(0), tl.arange(0, 16)
    key = tl.load(keys + block * BLOCK + tl.arange(0, BLOCK))
    alike = (((key >> SHIFT) & 15)[:, None] == d[None, :]).to(tl.int32)
    place = tl.load(starts + block * 16 + d)[None, :] + tl.cumsum(alike, 0) - alike
    tl.store(ordered + tl.sum(alike * place, 1), key)


@triton.jit
def hadamard(x, y, N: tl.constexpr, LEVELS: tl.constexpr, ROWS: tl.constexpr):
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = m[:, None] * N + tl.arange(0, N)[None, :]
    values = tl.load(x + at).to(tl.float32)
    for level in tl.static_range(LEVELS):
        pairs = tl.reshape(values, (ROWS, N >> (level + 1), 2, 1 << level))
        left, right = tl.split(tl.permute(pairs, (0, 1, 3, 2)))
        pairs = tl.join(left + right, left - right)
        values = tl.reshape(tl.permute(pairs, (0, 1, 3, 2)), (ROWS, N))
    tl.store(y + at, (values * 0.044).to(tl.float16))


@triton.jit
def pooled_bags(table, index, weights, out, N, BAG, BAGS: tl.constexpr, BN: tl.constexpr):
    bag = tl.program_id(0) * BAGS + tl.arange(0, BAGS)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BAGS, BN), tl.float32)
    for i in range(BAG):
        row, weight = tl.load(index + bag * BAG + i), tl.load(weights + bag * BAG + i)
        chosen = tl.load(table + row[:, None] * N + n[None, :]).to(tl.float32)
        total += weight[:, None] * chosen
    tl.store(out + bag[:, None] * N + n[None, :], total.to(tl.float16))


@triton.jit
def random_walks(spots, out, seed, STEPS, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    spot = tl.load(spots + at)
    place, mean = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for i in range(STEPS):
        a, b, c, d = tl.randn4x(seed, at * STEPS + i)
        place += 0.02 * (a + b + c + d) - 0.0008
        mean += spot * tl.exp(place)
    tl.store(out + at, tl.maximum(mean / STEPS - 1.0, 0.0))


@triton.jit
def gated_recurrence(x, gates, states, y, T, H: tl.constexpr, BM: tl.constexpr):
    m, h = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, H)
    place = h[:, None] * H + h[None, :]
    opens, renews = tl.load(gates + place), tl.load(states + place)
    state = tl.zeros((BM, H), tl.float32)
    for t in range(T):
        at = (m * T + t)[:, None] * (2 * H) + h[None, :]
        before = state.to(tl.float16)
        opened = tl.sigmoid(tl.dot(before, opens) + tl.load(x + at).to(tl.float32))
        renewed = tl.dot(before, renews) + tl.load(x + at + H).to(tl.float32)
        state += opened * (2 * tl.sigmoid(2 * renewed) - 1 - state)
        tl.store(y + (m * T + t)[:, None] * H + h[None, :], state.to(tl.float16))


@triton.jit
def absolute_distances(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        k = i + tl.arange(0, BK)
        left = tl.load(a + m[:, None] * K + k[None, :])
        right = tl.load(b + n[:, None] * K + k[None, :])
        total += tl.sum(tl.abs(left[:, None, :] - right[None, :, :]), 2)
    tl.store(c + m[:, None] * N + n[None, :], total)


@triton.jit
def products_of_groups(
    a, b, c, GROUPS, M, N, K,
    SMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    da = tl.make_tensor_descriptor(a, [GROUPS * M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [GROUPS * K, N], [N, 1], [BK, BN])
    dc = tl.make_tensor_descriptor(c, [GROUPS * M, N], [N, 1], [BM, BN])
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), GROUPS * down * across, SMS):
        group, inner = tile // (down * across), tile % (down * across)
        m, n = group * M + inner // across * BM, inner % across * BN
        total = tl.zeros((BM, BN), tl.float32)
        for i in range(0, K, BK):
            total = tl.dot(da.load([m, i]), db.load([group * K + i, n]), total)
        dc.store([m, n], total.to(tl.bfloat16))


@triton.jit
def persistent_norm(x, w, y, M, N: tl.constexpr, PROGRAMS: tl.constexpr, AHEAD: tl.constexpr):
    n = tl.arange(0, N)
    weight = tl.load(w + n)
    for row in tl.range(tl.program_id(0), M, PROGRAMS, num_stages=AHEAD):
        values = tl.load(x + row * N + n).to(tl.float32)
        scale = tl.rsqrt(tl.sum(values * values, 0) / N + 1e-6)
        tl.store(y + row * N + n, (values * scale * weight).to(tl.bfloat16))


@triton.jit
def triangular_systems(left, right, out, SIZE: tl.constexpr, BATCH: tl.constexpr):
    b, r = tl.program_id(0) * BATCH + tl.arange(0, BATCH), tl.arange(0, SIZE)
    at = b[:, None] * SIZE + r[None, :]
    x = tl.load(right + at)
    for j in range(SIZE):
        column = tl.load(left + at * SIZE + j, mask=(r >= j)[None, :], other=0.0)
        here = (r == j)[None, :]
        pivot = tl.sum(tl.where(here, column, 0.0), 1)
        found = tl.sum(tl.where(here, x, 0.0), 1) / pivot
        x = tl.where(here, found[:, None], x - column * found[:, None])
    tl.store(out + at, x)


@triton.jit
def _larger(v1, i1, v2, i2):
    newer = v2 > v1
    return tl.where(newer, v2, v1), tl.where(newer, i2, i1)


@triton.jit
def running_maxima(x, values, places, N: tl.constexpr, ROWS: tl.constexpr):
    m, n = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, N)
    at = m[:, None] * N + n[None, :]
    where = tl.broadcast_to(n[None, :], (ROWS, N))
    best, where = tl.associative_scan((tl.load(x + at).to(tl.float32), where), 1, _larger)
    tl.store(values + at, best)
    tl.store(places + at, where)


@triton.jit
def nucleus(logits, least, kept, N: tl.constexpr, ROWS: tl.constexpr):
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    values = tl.load(logits + m[:, None] * N + tl.arange(0, N)[None, :])
    shares = tl.exp(values - tl.max(values, 1)[:, None])
    shares = tl.sort(shares / tl.sum(shares, 1)[:, None], 1, descending=True)
    inside = tl.cumsum(shares, 1) - shares < 0.9
    tl.store(least + m, tl.min(tl.where(inside, shares, 1.0), 1))
    tl.store(kept + m, tl.sum(inside.to(tl.int32), 1))


@triton.jit
def sampled_image(image, places, y, W, C: tl.constexpr, BP: tl.constexpr):
    p, c = tl.program_id(0) * BP + tl.arange(0, BP), tl.arange(0, C)
    u = tl.abs(tl.load(places + 2 * p)) * (W // 5)
    v = tl.abs(tl.load(places + 2 * p + 1)) * (W // 5)
    left, top = tl.floor(u), tl.floor(v)
    right, below = u - left, v - top
    column, row = left.to(tl.int32), top.to(tl.int32)
    total = tl.zeros((BP, C), tl.float32)
    for corner in tl.static_range(4):
        h, w = row + corner // 2, column + corner % 2
        share = (below if corner // 2 else 1 - below) * (right if corner % 2 else 1 - right)
        inside = ((h < W) & (w < W))[:, None]
        at = (h * W + w)[:, None] * C + c[None, :]
        total += share[:, None] * tl.load(image + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + p[:, None] * C + c[None, :], total.to(tl.float16))


@triton.jit
def statistics_of_channels(
    x, sums, squares, C, STEPS: tl.constexpr, BP: tl.constexpr, BC: tl.constexpr
):
    first = tl.program_id(0) * STEPS * BP
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    one, two = tl.zeros((BC,), tl.float32), tl.zeros((BC,), tl.float32)
    for i in range(STEPS):
        p = first + i * BP + tl.arange(0, BP)
        values = tl.load(x + p[:, None] * C + c[None, :]).to(tl.float32)
        one += tl.sum(values, 0)
        two += tl.sum(values * values, 0)
    tl.atomic_add(sums + c, one)
    tl.atomic_add(squares + c, two)


@triton.jit
def attention_in_partitions(
    q, k, v, out, T, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr
):
    head = tl.program_id(1) * T
    rows = tl.num_programs(1) * T
    dq = tl.make_tensor_descriptor(q, [rows, D], [D, 1], [BM, D])
    dk = tl.make_tensor_descriptor(k, [rows, D], [D, 1], [BN, D])
    dv = tl.make_tensor_descriptor(v, [rows, D], [D, 1], [BN, D])
    do = tl.make_tensor_descriptor(out, [rows, D], [D, 1], [BM, D])
    m = head + tl.program_id(0) * BM
    query = dq.load([m, 0])
    best = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for i in tl.range(0, T, BN, warp_specialize=True):
        scores = tl.dot(query, dk.load([head + i, 0]).T) * scale
        larger = tl.maximum(best, tl.max(scores, 1))
        shares = tl.exp2(scores - larger[:, None])
        shrunk = tl.exp2(best - larger)
        weight = weight * shrunk + tl.sum(shares, 1)
        total = tl.dot(shares.to(tl.float16), dv.load([head + i, 0]), total * shrunk[:, None])
        best = larger
    do.store([m, 0], (total / weight[:, None]).to(tl.float16))


@triton.jit
def attention_over_blocks(
    q, k, v, blocks, out, T, CHOSEN, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    head, d = tl.program_id(1), tl.arange(0, D)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    query = tl.load(q + (head * T + m)[:, None] * D + d[None, :])
    best = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for i in range(CHOSEN // BN):
        block = tl.load(blocks + tl.program_id(0) * BM // 64 * (CHOSEN // BN) + i)
        n = block * BN + tl.arange(0, BN)
        keys = tl.load(k + (head * T + n)[None, :] * D + d[:, None])
        scores = tl.dot(query, keys) * scale
        larger = tl.maximum(best, tl.max(scores, 1))
        shares = tl.exp2(scores - larger[:, None])
        shrunk = tl.exp2(best - larger)
        weight = weight * shrunk + tl.sum(shares, 1)
        values = tl.load(v + (head * D + d)[None, :] * T + n[:, None])
        total = tl.dot(shares.to(tl.float8e4nv), values, total * shrunk[:, None])
        best = larger
    at = (head * T + m)[:, None] * D + d[None, :]
    tl.store(out + at, (total / weight[:, None]).to(tl.bfloat16))


@triton.jit
def convolved_volume(x, w, y, W, C, K, BP: tl.constexpr, BK: tl.constexpr, BC: tl.constexpr):
    p, k = tl.program_id(0) * BP + tl.arange(0, BP), tl.arange(0, BK)
    c = tl.arange(0, BC)
    depth, row, column = p // (W * W), p // W % W, p % W
    total = tl.zeros((BP, BK), tl.float32)
    for tap in range(27):
        z, h, v = depth + tap // 9 - 1, row + tap // 3 % 3 - 1, column + tap % 3 - 1
        inside = (z >= 0) & (z < W) & (h >= 0) & (h < W) & (v >= 0) & (v < W)
        at = ((z * W + h) * W + v) * C
        for i in range(0, C, BC):
            voxels = tl.load(x + at[:, None] + (i + c)[None, :], mask=inside[:, None], other=0.0)
            weights = tl.load(w + (tap * C + i + c)[:, None] * K + k[None, :])
            total = tl.dot(voxels, weights, total)
    tl.store(y + p[:, None] * K + k[None, :], tl.maximum(total, 0).to(tl.float16))


def problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield each problem: its name, kernel, arguments, and grid, constants, warps, stages.

    Args:
        make: a tensor of a shape and a type.
        integers: a tensor of random integers below the first of its arguments, of a shape.
    """
    yield from _integer_problems(make, integers)
    yield from _matrix_problems(make, integers)
    yield from _row_problems(make)


def _integer_problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield the problems of places: places of keys, gathers, random numbers, distances, systems."""
    half, single, product = torch.float16, torch.float32, itertools.product
    size = 1 << 22
    yield (
        "radix_places",
        radix_places,
        (integers(1 << 16, size), integers(size - 2048, size // 8), integers(2, size)),
        [
            ((size // b,), {"SHIFT": s, "BLOCK": b}, w, 3)
            for s, b, w in product((4,), (128, 256, 512, 1024, 2048), (1, 2, 4, 8))
            if b >= 32 * w
        ],
    )
    bags = 1 << 14
    yield (
        "pooled_bags",
        pooled_bags,
        (
            make((1 << 18, 256), half), integers(1 << 18, bags * 32), make((bags, 32), single),
            make((bags, 256), half), 256, 32,
        ),
        [
            ((bags // m, 256 // n), {"BAGS": m, "BN": n}, w, 3)
            for m, n, w in product((1, 4, 16), (64, 256), (1, 2, 4, 8))
            if m * n >= 32 * w
        ],
    )  # fmt: skip
    walks = 1 << 18
    yield (
        "random_walks",
        random_walks,
        (make((walks,), single), make((walks,), single), 11, 64),
        [
            ((walks // b,), {"BLOCK": b}, w, 3)
            for b, w in product((128, 256, 512, 1024, 2048), (1, 2, 4, 8))
            if b >= 32 * w
        ],
    )
    yield (
        "absolute_distances",
        absolute_distances,
        (make((2048, 256), single), make((2048, 256), single), make((2048, 2048), single), 2048,
         256),
        [
            ((2048 // m, 2048 // n), {"BM": m, "BN": n, "BK": k}, w, 3)
            for m, n, k, w in product((16, 32, 64), (32, 64), (4, 16), (4, 8))
        ],
    )  # fmt: skip
    systems = 1 << 15
    yield (
        "triangular_systems",
        triangular_systems,
        (make((systems, 32, 32), single), make((systems, 32), single), make((systems, 32), single)),
        [
            ((systems // b,), {"SIZE": 32, "BATCH": b}, w, 3)
            for b, w in product((1, 2, 4, 8, 16, 64), (1, 2, 4, 8))
            if b >= w
        ],
    )
    points = 1 << 19
    yield (
        "sampled_image",
        sampled_image,
        (make((512, 512, 32), half), make((points, 2), single), make((points, 32), half), 512),
        [
            ((points // p,), {"C": 32, "BP": p}, w, 3)
            for p, w in product((16, 32, 64, 128, 256), (1, 2, 4, 8))
        ],
    )


def _matrix_problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield the problems with tensor cores."""
    half, brain, eight = torch.float16, torch.bfloat16, torch.float8_e4m3fn
    product = itertools.product
    yield (
        "gated_recurrence",
        gated_recurrence,
        (
            make((4096, 128, 128), half), make((64, 64), half), make((64, 64), half),
            make((4096, 128, 64), half), 128,
        ),
        [
            ((4096 // m,), {"H": 64, "BM": m}, w, s)
            for m, w, s in product((16, 32, 64, 128), (2, 4, 8), (1, 3))
        ],
    )  # fmt: skip
    yield (
        "products_of_groups_descriptors",
        products_of_groups,
        (
            make((8 * 768, 2048), brain), make((8 * 2048, 2048), brain),
            make((8 * 768, 2048), brain), 8, 768, 2048, 2048,
        ),
        [
            ((132,), {"SMS": 132, "BM": m, "BN": n, "BK": k}, w, s)
            for m, n, k, w, s in product((64, 128), (128, 256), (32, 64), (4, 8), (3, 4))
            if m * n < 32768 or (w == 8 and k * s < 256)
        ],
    )  # fmt: skip
    heads, length = 32, 2048
    whole = (heads * length, 64)
    yield (
        "attention_in_partitions_descriptors",
        attention_in_partitions,
        (make(whole, half), make(whole, half), make(whole, half), make(whole, half), length, 0.18),
        [
            ((length // m, heads), {"BM": m, "BN": n, "D": 64}, w, s)
            for m, n, w, s in product((64, 128), (32, 64, 128), (4, 8), (2, 3))
        ],
    )
    wide = (heads * length * 2, 128)
    yield (
        "attention_over_blocks",
        attention_over_blocks,
        (
            make(wide, eight), make(wide, eight), make(wide, eight), integers(32, 64 * 32),
            make(wide, brain), 2 * length, 1024, 0.12,
        ),
        [
            ((2 * length // m, heads), {"D": 128, "BM": m, "BN": n}, w, s)
            for m, n, w, s in product((64, 128), (32, 64, 128), (4, 8), (2, 3))
        ],
    )  # fmt: skip
    voxels = 64**3
    yield (
        "convolved_volume",
        convolved_volume,
        (
            make((voxels, 32), half), make((27 * 32, 64), half), make((voxels, 64), half),
            64, 32, 64,
        ),
        [
            ((voxels // p,), {"BP": p, "BK": 64, "BC": c}, w, s)
            for p, c, w, s in product((32, 64, 128, 256), (16, 32), (4, 8), (2, 3))
            if p < 256 or w == 8
        ],
    )  # fmt: skip


def _row_problems(make: Make) -> Iterator[Problem]:
    """Yield the problems of rows: transforms, norms, scans, sorts, statistics."""
    half, brain, single = torch.float16, torch.bfloat16, torch.float32
    product = itertools.product
    yield (
        "hadamard",
        hadamard,
        (make((1 << 15, 512), half), make((1 << 15, 512), half)),
        [
            (((1 << 15) // m,), {"N": 512, "LEVELS": 9, "ROWS": m}, w, 3)
            for m, w in product((1, 2, 4, 8, 16), (1, 2, 4, 8))
            if m < 16 or w > 1
        ],
    )
    yield (
        "persistent_norm",
        persistent_norm,
        (make((32768, 2048), brain), make((2048,), single), make((32768, 2048), brain), 32768),
        [
            ((programs,), {"N": 2048, "PROGRAMS": programs, "AHEAD": s}, w, 3)
            for programs, s, w in product((132, 264, 528, 1056), (1, 3), (2, 4, 8))
        ],
    )
    rows = (1 << 14, 1024)
    yield (
        "running_maxima",
        running_maxima,
        (make(rows, half), make(rows, single), make(rows, single)),
        [
            ((rows[0] // m,), {"N": 1024, "ROWS": m}, w, 3)
            for m, w in product((1, 2, 4, 8), (1, 2, 4, 8))
        ],
    )
    yield (
        "nucleus",
        nucleus,
        (make((1 << 15, 256), single), make((1 << 15,), single), make((1 << 15,), single)),
        [
            (((1 << 15) // m,), {"N": 256, "ROWS": m}, w, 3)
            for m, w in product((1, 2, 4, 8, 16), (1, 2, 4, 8))
        ],
    )
    pixels = 1 << 18
    yield (
        "statistics_of_channels",
        statistics_of_channels,
        (make((pixels, 256), half), make((256,), single), make((256,), single), 256),
        [
            ((pixels // (p * s), 256 // c), {"STEPS": s, "BP": p, "BC": c}, w, 3)
            for s, p, c, w in product((1, 8, 32), (32, 128), (64, 128), (4, 8))
        ],
    )
