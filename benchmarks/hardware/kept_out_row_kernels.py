"""The kernels of the problems of ``kept_out_kernels`` that multiply no matrices.

``problems`` yields them as ``sweep_kernels.problems`` does: gradients of a sampled image by
atomics, searched places, least hashes, blocks with exponents of their own, floats of four bits,
stepped weights, summed areas, decoded differences, pairs in order, halved thresholds, forces of
bodies, tiles for Winograd's convolution, a bilateral filter, heat in a volume.
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
def gradient_of_sampling(dy, places, dx, W, C: tl.constexpr, BP: tl.constexpr):
    p, c = tl.program_id(0) * BP + tl.arange(0, BP), tl.arange(0, C)
    u = tl.sigmoid(tl.load(places + 2 * p)) * (W - 2)
    v = tl.sigmoid(tl.load(places + 2 * p + 1)) * (W - 2)
    top, left = tl.floor(u), tl.floor(v)
    below, right = u - top, v - left
    first = (top.to(tl.int32) * W + left.to(tl.int32)) * C
    gradient = tl.load(dy + p[:, None] * C + c[None, :]).to(tl.float32)
    for corner in tl.static_range(4):
        h, w = corner // 2, corner % 2
        share = (below if h else 1 - below) * (right if w else 1 - right)
        to = (first + (h * W + w) * C)[:, None] + c[None, :]
        tl.atomic_add(dx + to, (gradient * share[:, None]).to(tl.float16), sem="relaxed")


@triton.jit
def searched_places(x, edges, places, LEVELS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at)
    low = tl.zeros((BLOCK,), tl.int32)
    for level in range(LEVELS):
        width = (1 << (LEVELS - 1)) >> level
        low = tl.where(tl.load(edges + low + width) <= value, low + width, low)
    tl.store(places + at, low)


@triton.jit
def blocks_with_exponents(x, y, exponents, BLOCKS: tl.constexpr):
    g, n = tl.program_id(0) * BLOCKS + tl.arange(0, BLOCKS), tl.arange(0, 32)
    at = g[:, None] * 32 + n[None, :]
    values = tl.load(x + at).to(tl.float32)
    largest = tl.max(tl.abs(values), 1).to(tl.int32, bitcast=True)
    exponent = tl.minimum(tl.maximum(((largest >> 23) & 255) - 8, 1), 253)
    inverse = ((254 - exponent) << 23).to(tl.float32, bitcast=True)
    tl.store(y + at, (values * inverse[:, None]).to(tl.float8e4nv))
    tl.store(exponents + g, exponent.to(tl.uint8))


@triton.jit
def stepped_weights(
    weights, gradients, means, squares, rate, decay, N, BLOCK: tl.constexpr, AHEAD: tl.constexpr
):
    first, step = tl.program_id(0) * BLOCK, tl.num_programs(0) * BLOCK
    for i in tl.range(first, N, step, num_stages=AHEAD):
        at = i + tl.arange(0, BLOCK)
        weight = tl.load(weights + at).to(tl.float32)
        gradient = tl.load(gradients + at).to(tl.float32)
        mean = 0.9 * tl.load(means + at) + 0.1 * gradient
        square = 0.999 * tl.load(squares + at) + 0.001 * gradient * gradient
        weight -= rate * (mean / (tl.sqrt(tl.abs(square)) + 1e-8) + decay * weight)
        tl.store(weights + at, weight.to(tl.bfloat16))
        tl.store(means + at, mean)
        tl.store(squares + at, square)


@triton.jit
def summed_areas(x, y, H, W: tl.constexpr, BH: tl.constexpr):
    h, w = tl.arange(0, BH), tl.arange(0, W)
    above = tl.zeros((W,), tl.float32)
    for i in range(0, H, BH):
        at = (tl.program_id(0) * H + i + h)[:, None] * W + w[None, :]
        sums = tl.cumsum(tl.cumsum(tl.load(x + at).to(tl.float32), 1), 0) + above[None, :]
        tl.store(y + at, sums)
        above = tl.sum(tl.where((h == BH - 1)[:, None], sums, 0.0), 0)


@triton.jit
def decoded_differences(differences, firsts, scales, y, T, ROWS: tl.constexpr, BT: tl.constexpr):
    m, t = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, BT)
    level, scale = tl.load(firsts + m), tl.load(scales + m)
    for i in range(0, T, BT):
        at = m[:, None] * T + (i + t)[None, :]
        steps = tl.load(differences + at).to(tl.int32)
        levels = tl.cumsum(steps, 1) + level[:, None]
        tl.store(y + at, levels.to(tl.float32) * scale[:, None])
        level += tl.sum(steps, 1)


@triton.jit
def _in_order(keys, places, STAGE: tl.constexpr, STRIDE: tl.constexpr, ROWS: tl.constexpr,
              N: tl.constexpr):  # fmt: skip
    """Exchange the pairs of one step of a bitonic sort that are out of order."""
    pairs: tl.constexpr = ROWS * N // (2 * STRIDE)
    one, two = tl.split(tl.permute(tl.reshape(keys, (pairs, 2, STRIDE)), (0, 2, 1)))
    first, second = tl.split(tl.permute(tl.reshape(places, (pairs, 2, STRIDE)), (0, 2, 1)))
    at = tl.arange(0, pairs) * (2 * STRIDE) & (N - 1)
    rises = (at & (1 << STAGE)) == 0
    moves = (one > two) == rises[:, None]
    keys = tl.join(tl.where(moves, two, one), tl.where(moves, one, two))
    places = tl.join(tl.where(moves, second, first), tl.where(moves, first, second))
    keys = tl.reshape(tl.permute(keys, (0, 2, 1)), (ROWS, N))
    return keys, tl.reshape(tl.permute(places, (0, 2, 1)), (ROWS, N))


@triton.jit
def pairs_in_order(x, ordered, places, N: tl.constexpr, LEVELS: tl.constexpr, ROWS: tl.constexpr):
    m, n = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, N)
    at = m[:, None] * N + n[None, :]
    keys, where = tl.load(x + at), tl.broadcast_to(n[None, :], (ROWS, N))
    for stage in tl.static_range(1, LEVELS + 1):
        for step in tl.static_range(stage):
            keys, where = _in_order(keys, where, stage, 1 << (stage - 1 - step), ROWS, N)
    tl.store(ordered + at, keys)
    tl.store(places + at, where)


@triton.jit
def halved_thresholds(logits, y, KEPT, STEPS, N: tl.constexpr, ROWS: tl.constexpr):
    m, n = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, N)
    at = m[:, None] * N + n[None, :]
    values = tl.load(logits + at).to(tl.float32)
    low, high = tl.min(values, 1), tl.max(values, 1)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        above = tl.sum((values > middle[:, None]).to(tl.int32), 1)
        low = tl.where(above > KEPT, middle, low)
        high = tl.where(above > KEPT, high, middle)
    tl.store(y + at, tl.where(values > low[:, None], values, -1e30))


@triton.jit
def _differences(a, b, c, d):
    return a - c, b + c, c - b, b - d


@triton.jit
def _column(at, step):
    """Load four pixels below each other, and take the differences of Winograd's transform."""
    a, b = tl.load(at), tl.load(at + step)
    return _differences(a, b, tl.load(at + 2 * step), tl.load(at + 3 * step))


@triton.jit
def tiles_for_winograd(x, y, W, C, TILES, BT: tl.constexpr, BC: tl.constexpr):
    t, c = tl.program_id(0) * BT + tl.arange(0, BT), tl.program_id(1) * BC + tl.arange(0, BC)
    row, column = t // (W // 2) * 2, t % (W // 2) * 2
    at = x + (row * (W + 2) + column)[:, None] * C + c[None, :]
    to = y + t[:, None] * C + c[None, :]
    one, two = _column(at, (W + 2) * C), _column(at + C, (W + 2) * C)
    three, four = _column(at + 2 * C, (W + 2) * C), _column(at + 3 * C, (W + 2) * C)
    for i in tl.static_range(4):
        p, q, r, s = _differences(one[i], two[i], three[i], four[i])
        tl.store(to + (4 * i) * TILES * C, p)
        tl.store(to + (4 * i + 1) * TILES * C, q)
        tl.store(to + (4 * i + 2) * TILES * C, r)
        tl.store(to + (4 * i + 3) * TILES * C, s)


@triton.jit
def bilateral_filter(x, y, W, near, alike, WIDE: tl.constexpr, BH: tl.constexpr, BW: tl.constexpr):
    h = tl.program_id(0) * BH + WIDE + tl.arange(0, BH)
    w = tl.program_id(1) * BW + WIDE + tl.arange(0, BW)
    stride = W + 2 * WIDE
    at = h[:, None] * stride + w[None, :]
    here = tl.load(x + at)
    weight, total = tl.zeros((BH, BW), tl.float32), tl.zeros((BH, BW), tl.float32)
    for i in tl.static_range(-WIDE, WIDE + 1):
        for j in tl.static_range(-WIDE, WIDE + 1):
            there = tl.load(x + at + i * stride + j)
            apart = there - here
            share = tl.exp2(-near * (i * i + j * j) - alike * apart * apart)
            weight += share
            total += share * there
    tl.store(y + at, total / weight)


@triton.jit
def forces_of_bodies(x, y, z, masses, out, N, BI: tl.constexpr, BJ: tl.constexpr):
    i = tl.program_id(0) * BI + tl.arange(0, BI)
    u, v, w = tl.load(x + i)[:, None], tl.load(y + i)[:, None], tl.load(z + i)[:, None]
    p, q, r = tl.zeros((BI,), tl.float32), tl.zeros((BI,), tl.float32), tl.zeros((BI,), tl.float32)
    for first in range(0, N, BJ):
        j = first + tl.arange(0, BJ)
        a = tl.load(x + j)[None, :] - u
        b = tl.load(y + j)[None, :] - v
        c = tl.load(z + j)[None, :] - w
        inverse = tl.rsqrt(a * a + b * b + c * c + 0.01)
        pull = tl.load(masses + j)[None, :] * inverse * inverse * inverse
        p += tl.sum(pull * a, 1)
        q += tl.sum(pull * b, 1)
        r += tl.sum(pull * c, 1)
    tl.store(out + i, p)
    tl.store(out + N + i, q)
    tl.store(out + 2 * N + i, r)


@triton.jit
def least_hashes(tokens, factors, terms, least, T, HASHES, BH: tl.constexpr, BT: tl.constexpr):
    document, h = tl.program_id(0), tl.program_id(1) * BH + tl.arange(0, BH)
    factor = tl.load(factors + h).to(tl.uint32)[:, None]
    term = tl.load(terms + h).to(tl.uint32)[:, None]
    best = tl.full((BH,), 0xFFFFFFFF, tl.uint32)
    for i in range(0, T, BT):
        token = tl.load(tokens + document * T + i + tl.arange(0, BT)).to(tl.uint32)
        mixed = token[None, :] * factor + term
        mixed = (mixed ^ (mixed >> 15)) * 0x2C1B3C6D
        mixed = mixed ^ (mixed >> 13)
        best = tl.minimum(best, tl.min(mixed, 1))
    tl.store(least + document * HASHES + h, best.to(tl.int32))


@triton.jit
def heat_in_a_volume(x, y, rate, DEPTH, STRIDE, PLANE, BH: tl.constexpr, BW: tl.constexpr):
    h = tl.program_id(0) * BH + 1 + tl.arange(0, BH)
    w = tl.program_id(1) * BW + 32 + tl.arange(0, BW)
    first = tl.program_id(2) * DEPTH
    at = h[:, None] * STRIDE + w[None, :] + first * PLANE
    below, here = tl.load(x + at), tl.load(x + at + PLANE)
    for z in range(1, DEPTH + 1):
        plane = x + at + z * PLANE
        above = tl.load(plane + PLANE)
        around = tl.load(plane - 1) + tl.load(plane + 1)
        around += tl.load(plane - STRIDE) + tl.load(plane + STRIDE)
        tl.store(y + at + z * PLANE, here + rate * (around + below + above - 6 * here))
        below, here = here, above


@triton.jit
def floats_of_four(words, table, scales, y, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    at = first + tl.arange(0, BLOCK)
    word = tl.load(words + at).to(tl.int32)
    scale = tl.load(scales + at // (GROUP // 2))
    high, low = tl.load(table + (word >> 4)) * scale, tl.load(table + (word & 15)) * scale
    values = tl.interleave(high, low).to(tl.bfloat16)
    tl.store(y + 2 * first + tl.arange(0, 2 * BLOCK), values)


def problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield each problem: its name, kernel, arguments, and grid, constants, warps, stages.

    Args:
        make: a tensor of a shape and a type.
        integers: a tensor of random integers below the first of its arguments, of a shape.
    """
    yield from _scattered_problems(make, integers)
    yield from _packed_problems(make)
    yield from _row_problems(make, integers)
    yield from _image_problems(make)


def _scattered_problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield the problems of atomics, searches and hashes."""
    half, single, product = torch.float16, torch.float32, itertools.product
    points, wide = 1 << 18, 512
    yield (
        "gradient_of_sampling",
        gradient_of_sampling,
        (
            make((points, 64), half), make((points, 2), single), make((wide * wide, 64), half),
            wide,
        ),
        [
            ((points // p,), {"C": 64, "BP": p}, w, 3)
            for p, w in product((2, 4, 8, 16, 32, 64), (1, 2, 4, 8))
            if 32 * w <= 64 * p <= 1024 * w
        ],
    )  # fmt: skip
    size = 1 << 22
    yield (
        "searched_places",
        searched_places,
        (make((size,), single), make((1 << 16,), single), integers(1, size)),
        [
            ((size // b,), {"LEVELS": 16, "BLOCK": b}, w, 3)
            for b, w in product((64, 128, 256, 512, 1024, 2048), (1, 2, 4, 8))
            if 32 * w <= b <= 512 * w
        ],
    )
    documents, length, hashes = 1 << 14, 256, 128
    yield (
        "least_hashes",
        least_hashes,
        (
            integers(1 << 30, documents * length), integers(1 << 30, hashes),
            integers(1 << 30, hashes), integers(1, documents * hashes), length, hashes,
        ),
        [
            ((documents, hashes // h), {"BH": h, "BT": t}, w, 3)
            for h, t, w in product((16, 64, 128), (16, 64, 256), (1, 2, 4))
            if 128 * w <= h * t <= 4096 * w
        ],
    )  # fmt: skip


def _row_problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield the problems of rows: scans, sorts, thresholds, steps."""
    half, brain, single, product = torch.float16, torch.bfloat16, torch.float32, itertools.product
    size = 1 << 25
    yield (
        "stepped_weights",
        stepped_weights,
        (
            make((size,), brain), make((size,), brain), make((size,), single),
            make((size,), single), 0.001, 0.1, size,
        ),
        [
            ((132 * c,), {"BLOCK": b, "AHEAD": a}, w, 3)
            for c, b, a, w in product((2, 8), (512, 1024, 4096), (1, 3), (4, 8))
            if 64 * w <= b <= 512 * w
        ],
    )  # fmt: skip
    images, side = 1024, 256
    yield (
        "summed_areas",
        summed_areas,
        (make((images, side, side), half), make((images, side, side), single), side),
        [
            ((images,), {"W": side, "BH": h}, w, 3)
            for h, w in product((2, 4, 8, 16, 32, 64), (1, 2, 4, 8))
            if 32 * w <= h * side <= 2048 * w
        ],
    )
    rows, length = 4096, 1 << 14
    yield (
        "decoded_differences",
        decoded_differences,
        (
            make((rows, length), torch.int8), integers(1000, rows), make((rows,), single),
            make((rows, length), single), length,
        ),
        [
            ((rows // m,), {"ROWS": m, "BT": t}, w, 3)
            for m, t, w in product((1, 4), (256, 512, 1024, 2048), (1, 2, 4, 8))
            if 128 * w <= m * t <= 1024 * w
        ],
    )  # fmt: skip
    rows = 1 << 15
    yield (
        "pairs_in_order",
        pairs_in_order,
        (make((rows, 128), single), make((rows, 128), single), integers(1, rows * 128)),
        [
            ((rows // m,), {"N": 128, "LEVELS": 7, "ROWS": m}, w, 3)
            for m, w in product((1, 2, 4, 8, 16), (1, 2, 4, 8))
            if w <= 2 * m and m <= 4 * w
        ],
    )
    yield (
        "halved_thresholds",
        halved_thresholds,
        (make((8192, 4096), half), make((8192, 4096), single), 50, 24),
        [
            ((8192 // m,), {"N": 4096, "ROWS": m}, w, 3)
            for m, w in product((1, 2, 4), (1, 2, 4, 8, 16))
            if m <= w
        ],
    )
    bodies = 1 << 14
    yield (
        "forces_of_bodies",
        forces_of_bodies,
        (
            make((bodies,), single), make((bodies,), single), make((bodies,), single),
            make((bodies,), single), make((3, bodies), single), bodies,
        ),
        [
            ((bodies // i,), {"BI": i, "BJ": j}, w, 3)
            for i, j, w in product((16, 32, 64), (32, 128), (1, 2, 4, 8))
            if 128 * w <= i * j <= 2048 * w
        ],
    )  # fmt: skip


def _image_problems(make: Make) -> Iterator[Problem]:
    """Yield the problems of images and volumes."""
    half, single, product = torch.float16, torch.float32, itertools.product
    wide, channels = 256, 128
    tiles = wide * wide // 4
    yield (
        "tiles_for_winograd",
        tiles_for_winograd,
        (
            make(((wide + 2) * (wide + 2), channels), half), make((16, tiles, channels), half),
            wide, channels, tiles,
        ),
        [
            ((tiles // t, channels // c), {"BT": t, "BC": c}, w, 3)
            for t, c, w in product((2, 8, 32), (32, 64, 128), (1, 2, 4))
            if 64 * w <= t * c <= 1024 * w
        ],
    )  # fmt: skip
    wide = 4096
    yield (
        "bilateral_filter",
        bilateral_filter,
        (make((wide + 4, wide + 4), single), make((wide + 4, wide + 4), single), wide, 0.1, 1.5),
        [
            ((wide // h, wide // v), {"WIDE": 2, "BH": h, "BW": v}, w, 3)
            for h, v, w in product((1, 4, 16), (32, 128, 512), (1, 2, 4, 8))
            if 32 * w <= h * v <= 512 * w
        ],
    )
    deep, side, stride = 128, 512, 576
    plane = (side + 2) * stride
    yield (
        "heat_in_a_volume",
        heat_in_a_volume,
        (
            make((deep + 2, plane), single), make((deep + 2, plane), single), 0.1, 32, stride,
            plane,
        ),
        [
            ((side // h, side // v, deep // 32), {"BH": h, "BW": v}, w, 3)
            for h, v, w in product((1, 4, 8, 16), (64, 128, 256), (2, 4, 8))
            if 32 * w <= h * v <= 256 * w
        ],
    )  # fmt: skip


def _packed_problems(make: Make) -> Iterator[Problem]:
    """Yield the problems of floats of eight and of four bits."""
    brain, eight, single = torch.bfloat16, torch.float8_e4m3fn, torch.float32
    product, size = itertools.product, 1 << 25
    yield (
        "blocks_with_exponents",
        blocks_with_exponents,
        (make((size,), brain), make((size,), eight), make((size // 32,), torch.uint8)),
        [
            ((size // (32 * g),), {"BLOCKS": g}, w, 3)
            for g, w in product((8, 16, 32, 64, 128, 256), (1, 2, 4, 8))
            if 2 * w <= g <= 32 * w
        ],
    )
    yield (
        "floats_of_four",
        floats_of_four,
        (
            make((size,), torch.uint8), make((16,), single), make((size // 32,), single),
            make((2 * size,), brain),
        ),
        [
            ((size // b,), {"GROUP": 64, "BLOCK": b}, w, 3)
            for b, w in product((256, 512, 1024, 2048, 4096), (1, 2, 4, 8))
            if 64 * w <= b <= 1024 * w
        ],
    )  # fmt: skip
