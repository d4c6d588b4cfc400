"""Kernels of kinds that no other module here has, written when ``withheld_kernels`` had judged.

``problems`` yields them as ``sweep_kernels.problems`` does: votes of points, kept values in order,
graded colours, gates of a graph, cast blocks that are turned, gates of fp8, rows of a softmax and
products of batches by TMA, persistent attention behind the diagonal, gradients in partitions of
warps, chunks of a state space, trimmed means, priced options, an enlarged image, a norm that is
quantized, a Fourier transform of two factors, packed nibbles, medians of an image, capped
attention of groups.
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
def votes_of_points(x, y, votes, ANGLES, STEP, RADII: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    right, up = tl.load(x + at), tl.load(y + at)
    for i in range(ANGLES):
        angle = i * STEP
        radius = right * tl.cos(angle) + up * tl.sin(angle)
        place = tl.minimum(tl.maximum(radius * 64 + RADII // 2, 0), RADII - 1).to(tl.int32)
        tl.atomic_add(votes + i * RADII + place, 1, sem="relaxed")


@triton.jit
def kept_values(x, least, kept, places, count, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at)
    is_kept = values > least
    behind = tl.cumsum(is_kept.to(tl.int32), 0)
    first = tl.atomic_add(count, tl.sum(is_kept.to(tl.int32), 0))
    to = (first + behind - 1) & (SIZE - 1)
    tl.store(kept + to, values, mask=is_kept)
    tl.store(places + to, at, mask=is_kept)


@triton.jit
def graded_colours(pixels, table, out, N, SIDE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r = tl.sigmoid(tl.load(pixels + at)) * (SIDE - 1)
    g = tl.sigmoid(tl.load(pixels + N + at)) * (SIDE - 1)
    b = tl.sigmoid(tl.load(pixels + 2 * N + at)) * (SIDE - 1)
    i, j, k = tl.floor(r), tl.floor(g), tl.floor(b)
    p, q, s = r - i, g - j, b - k
    cell = (i.to(tl.int32) * SIDE + j.to(tl.int32)) * SIDE + k.to(tl.int32)
    for channel in tl.static_range(3):
        plane = table + channel * SIDE * SIDE * SIDE + cell
        total = tl.zeros((BLOCK,), tl.float32)
        for corner in tl.static_range(8):
            u, v, w = corner // 4, corner // 2 % 2, corner % 2
            share = (p if u else 1 - p) * (q if v else 1 - q) * (s if w else 1 - s)
            total += share * tl.load(plane + (u * SIDE + v) * SIDE + w)
        tl.store(out + channel * N + at, total)


@triton.jit
def gates_of_a_graph(
    x, sources, targets, edges, out, C, DEGREE: tl.constexpr, NODES: tl.constexpr, BC: tl.constexpr
):
    n = tl.program_id(0) * NODES + tl.arange(0, NODES)
    e = tl.arange(0, DEGREE)
    neighbours = tl.load(edges + n[:, None] * DEGREE + e[None, :])
    scores = tl.load(sources + neighbours) + tl.load(targets + n)[:, None]
    scores = tl.where(scores > 0, scores, 0.2 * scores)
    shares = tl.exp(scores - tl.max(scores, 1)[:, None])
    shares = shares / tl.sum(shares, 1)[:, None]
    for i in range(0, C, BC):
        c = i + tl.arange(0, BC)
        rows = tl.load(x + neighbours[:, :, None] * C + c[None, None, :]).to(tl.float32)
        total = tl.sum(rows * shares[:, :, None], 1)
        tl.store(out + n[:, None] * C + c[None, :], total.to(tl.float16))


@triton.jit
def cast_blocks_turned(x, y, turned, scales, M, N, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    m, n = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
    values = tl.load(x + m[:, None] * N + n[None, :]).to(tl.float32)
    scale = tl.maximum(tl.max(tl.max(tl.abs(values), 1), 0), 1e-6) / 448
    eight = (values / scale).to(tl.float8e4nv)
    tl.store(y + m[:, None] * N + n[None, :], eight)
    tl.store(turned + n[:, None] * M + m[None, :], tl.trans(eight))
    tl.store(scales + i * (N // BN) + j, scale)


@triton.jit
def gates_of_eight(
    x, gates, ups, y, scales, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    gate, up = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        left = tl.load(x + m[:, None] * K + (i + k)[None, :])
        at = n[None, :] * K + (i + k)[:, None]
        gate = tl.dot(left, tl.load(gates + at), gate)
        up = tl.dot(left, tl.load(ups + at), up)
    values = gate * tl.sigmoid(gate) * up
    scale = tl.maximum(tl.max(tl.abs(values), 1), 1e-6) / 448
    tl.store(y + m[:, None] * N + n[None, :], (values / scale[:, None]).to(tl.float8e4nv))
    tl.store(scales + m * tl.num_programs(1) + tl.program_id(1), scale)


@triton.jit
def softmax_by_blocks(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    target = tl.make_tensor_descriptor(y, [M, N], [N, 1], [BM, BN])
    m = tl.program_id(0) * BM
    best = tl.full((BM,), -1e30, tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    for i in range(0, N, BN):
        values = source.load([m, i]).to(tl.float32) * 1.4427
        larger = tl.maximum(best, tl.max(values, 1))
        weight = weight * tl.exp2(best - larger) + tl.sum(tl.exp2(values - larger[:, None]), 1)
        best = larger
    for i in range(0, N, BN):
        values = source.load([m, i]).to(tl.float32) * 1.4427
        shares = tl.exp2(values - best[:, None]) / weight[:, None]
        target.store([m, i], shares.to(tl.bfloat16))


@triton.jit
def products_of_batches(
    a, b, bias, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    batches = tl.num_programs(2)
    da = tl.make_tensor_descriptor(a, [batches * M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [batches * K, N], [N, 1], [BK, BN])
    dc = tl.make_tensor_descriptor(c, [batches * M, N], [N, 1], [BM, BN])
    batch, n = tl.program_id(2), tl.program_id(1) * BN
    m = batch * M + tl.program_id(0) * BM
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        total = tl.dot(da.load([m, i]), db.load([batch * K + i, n]), total)
    total += tl.load(bias + batch * N + n + tl.arange(0, BN))[None, :]
    total = total * tl.sigmoid(1.702 * total)
    dc.store([m, n], total.to(tl.bfloat16))


@triton.jit
def persistent_attention(
    q, k, v, out, T, HEADS, scale, SMS: tl.constexpr, D: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    d, blocks = tl.arange(0, D), T // BM
    for unit in range(tl.program_id(0), blocks * HEADS, SMS):
        head, first = unit % HEADS * T, (blocks - 1 - unit // HEADS) * BM
        m = first + tl.arange(0, BM)
        query = tl.load(q + (head + m)[:, None] * D + d[None, :])
        best = tl.full((BM,), -1e30, tl.float32)
        weight = tl.zeros((BM,), tl.float32)
        total = tl.zeros((BM, D), tl.float32)
        for i in range(0, first + BM, BN):
            n = i + tl.arange(0, BN)
            keys = tl.load(k + (head + n)[None, :] * D + d[:, None])
            scores = tl.dot(query, keys) * scale
            scores = tl.where(m[:, None] >= n[None, :], scores, -1e30)
            larger = tl.maximum(best, tl.max(scores, 1))
            shares = tl.exp2(scores - larger[:, None])
            shrunk = tl.exp2(best - larger)
            weight = weight * shrunk + tl.sum(shares, 1)
            values = tl.load(v + (head + n)[:, None] * D + d[None, :])
            total = tl.dot(shares.to(tl.bfloat16), values, total * shrunk[:, None])
            best = larger
        at = (head + m)[:, None] * D + d[None, :]
        tl.store(out + at, (total / weight[:, None]).to(tl.bfloat16))


@triton.jit
def gradients_in_partitions(
    x, dy, dw, T, M, N, WIDE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    dx = tl.make_tensor_descriptor(x, [T, M], [M, 1], [BK, BM])
    dd = tl.make_tensor_descriptor(dy, [T, N], [N, 1], [BK, BN])
    do = tl.make_tensor_descriptor(dw, [M, N], [N, 1], [BM, BN])
    group = WIDE * (N // BN)
    first = tl.program_id(0) // group * WIDE
    m = (first + tl.program_id(0) % group % WIDE) * BM
    n = tl.program_id(0) % group // WIDE * BN
    total = tl.zeros((BM, BN), tl.float32)
    for i in tl.range(0, T, BK, warp_specialize=True):
        total = tl.dot(dx.load([i, m]).T, dd.load([i, n]), total)
    do.store([m, n], total)


@triton.jit
def chunks_of_states(
    x, steps, decays, b, c, y, T, HEADS,
    D: tl.constexpr, STATES: tl.constexpr, CHUNK: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    chunk, head, s = tl.program_id(0), tl.program_id(1), tl.arange(0, STATES)
    t, d = chunk * CHUNK + tl.arange(0, CHUNK), tl.program_id(2) * BD + tl.arange(0, BD)
    step = tl.load(steps + head * T + t)
    passed = tl.cumsum(step * tl.load(decays + head), 0)
    left = tl.load(c + t[:, None] * STATES + s[None, :])
    scores = tl.dot(left, tl.load(b + t[None, :] * STATES + s[:, None]))
    apart = tl.exp(passed[:, None] - passed[None, :]) * step[None, :]
    scores = tl.where(t[:, None] >= t[None, :], scores * apart, 0.0)
    at = (t * HEADS + head)[:, None] * D + d[None, :]
    tl.store(y + at, tl.dot(scores.to(tl.bfloat16), tl.load(x + at)).to(tl.bfloat16))


@triton.jit
def trimmed_means(x, y, N: tl.constexpr, CUT: tl.constexpr, ROWS: tl.constexpr):
    m, n = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, N)
    ordered = tl.sort(tl.load(x + m[:, None] * N + n[None, :]).to(tl.float32), 1)
    inner = tl.where((n >= CUT) & (n < N - CUT), 1.0, 0.0)
    tl.store(y + m, tl.sum(ordered * inner[None, :], 1) / (N - 2 * CUT))


@triton.jit
def priced_options(strikes, prices, seed, DAYS, drift, spread, PATHS: tl.constexpr):
    option, p = tl.program_id(0), tl.program_id(1) * PATHS + tl.arange(0, PATHS)
    strike = tl.load(strikes + option)
    level, mean = tl.zeros((PATHS,), tl.float32), tl.zeros((PATHS,), tl.float32)
    for day in range(0, DAYS, 4):
        draws = tl.randn4x(seed + option, day * 4096 + p)
        for i in tl.static_range(4):
            level += drift + spread * draws[i]
            mean += tl.exp(level)
    gained = tl.maximum(100 * mean / DAYS - strike, 0.0)
    part = option * tl.num_programs(1) + tl.program_id(1)
    tl.store(prices + part, tl.sum(gained, 0) / PATHS)


@triton.jit
def enlarged_image(x, w, y, W, C, K, BP: tl.constexpr, BK: tl.constexpr, BC: tl.constexpr):
    p, k = tl.program_id(0) * BP + tl.arange(0, BP), tl.program_id(1) * BK + tl.arange(0, BK)
    c, side = tl.arange(0, BC), tl.program_id(2)
    row, column = p // W, p % W
    total = tl.zeros((BP, BK), tl.float32)
    for tap in range(4):
        h, v = row + tap // 2 - 1 + side // 2, column + tap % 2 - 1 + side % 2
        inside = (h >= 0) & (h < W) & (v >= 0) & (v < W)
        for i in range(0, C, BC):
            at = (h * W + v)[:, None] * C + (i + c)[None, :]
            pixels = tl.load(x + at, mask=inside[:, None], other=0.0)
            taps = ((side * 4 + tap) * C + i + c)[:, None] * K + k[None, :]
            total = tl.dot(pixels, tl.load(w + taps), total)
    to = (2 * row + side // 2) * (2 * W) + 2 * column + side % 2
    tl.store(y + to[:, None] * K + k[None, :], tl.maximum(total, 0.0).to(tl.float16))


@triton.jit
def quantized_norm(x, residual, w, kept, y, scales, N: tl.constexpr, ROWS: tl.constexpr):
    m, n = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, N)
    at = m[:, None] * N + n[None, :]
    values = tl.load(x + at).to(tl.float32) + tl.load(residual + at).to(tl.float32)
    tl.store(kept + at, values.to(tl.bfloat16))
    root = tl.rsqrt(tl.sum(values * values, 1) / N + 1e-6)
    normed = values * root[:, None] * tl.load(w + n)[None, :]
    scale = tl.maximum(tl.max(tl.abs(normed), 1), 1e-6) / 127
    tl.store(y + at, tl.floor(normed / scale[:, None] + 0.5).to(tl.int8))
    tl.store(scales + m, scale)


@triton.jit
def fourier_of_two(re, im, cosines, sines, out_re, out_im, SIDE: tl.constexpr, TIMES: tl.constexpr):
    i, j = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    inner = i * SIDE + j
    c, s = tl.load(cosines + inner), tl.load(sines + inner)
    angle = -6.2831853 / (SIDE * SIDE) * (i * j).to(tl.float32)
    p, q = tl.cos(angle), tl.sin(angle)
    for time in range(TIMES):
        first = (tl.program_id(0) * TIMES + time) * SIDE * SIDE
        a, b = tl.load(re + first + inner), tl.load(im + first + inner)
        real, imaginary = tl.dot(c, a) - tl.dot(s, b), tl.dot(c, b) + tl.dot(s, a)
        a = (real * p - imaginary * q).to(tl.float16)
        b = (real * q + imaginary * p).to(tl.float16)
        real, imaginary = tl.dot(a, c) - tl.dot(b, s), tl.dot(a, s) + tl.dot(b, c)
        to = first + j * SIDE + i
        tl.store(out_re + to, real.to(tl.float16))
        tl.store(out_im + to, imaginary.to(tl.float16))


@triton.jit
def packed_nibbles(x, words, scales, GROUP: tl.constexpr, GROUPS: tl.constexpr):
    g = tl.program_id(0) * GROUPS + tl.arange(0, GROUPS)
    n = tl.arange(0, GROUP)
    values = tl.load(x + g[:, None] * GROUP + n[None, :]).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(values), 1), 1e-6) / 7
    levels = tl.floor(values / scale[:, None] + 8.5).to(tl.int32)
    levels = tl.reshape(levels, (GROUPS, GROUP // 8, 8))
    packed = tl.sum(levels << (4 * tl.arange(0, 8))[None, None, :], 2)
    at = g[:, None] * (GROUP // 8) + tl.arange(0, GROUP // 8)[None, :]
    tl.store(words + at, packed)
    tl.store(scales + g, scale)


@triton.jit
def _ordered(one, two):
    return tl.minimum(one, two), tl.maximum(one, two)


@triton.jit
def medians_of_an_image(x, y, W, BY: tl.constexpr, BX: tl.constexpr):
    i = tl.program_id(0) * BY + 1 + tl.arange(0, BY)
    j = tl.program_id(1) * BX + 1 + tl.arange(0, BX)
    at = i[:, None] * (W + 2) + j[None, :]
    a, b, c = tl.load(x + at - W - 3), tl.load(x + at - W - 2), tl.load(x + at - W - 1)
    d, e, f = tl.load(x + at - 1), tl.load(x + at), tl.load(x + at + 1)
    g, h, k = tl.load(x + at + W + 1), tl.load(x + at + W + 2), tl.load(x + at + W + 3)
    a, b = _ordered(a, b)
    b, c = _ordered(b, c)
    a, b = _ordered(a, b)
    d, e = _ordered(d, e)
    e, f = _ordered(e, f)
    d, e = _ordered(d, e)
    g, h = _ordered(g, h)
    h, k = _ordered(h, k)
    g, h = _ordered(g, h)
    low = tl.maximum(tl.maximum(a, d), g)
    high = tl.minimum(tl.minimum(c, f), k)
    b, e = _ordered(b, e)
    middle = tl.maximum(b, tl.minimum(e, h))
    low, middle = _ordered(low, middle)
    tl.store(y + at, tl.maximum(low, tl.minimum(middle, high)))


@triton.jit
def capped_attention(
    q, k, v, slopes, out, T, SHARED, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    head, d = tl.program_id(1), tl.arange(0, D)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    query = tl.load(q + (head * T + m)[:, None] * D + d[None, :])
    slope, first = tl.load(slopes + head), head // SHARED * T
    best = tl.full((BM,), -1e30, tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for i in range(0, T, BN):
        n = i + tl.arange(0, BN)
        at = (first + n)[:, None] * D + d[None, :]
        scores = tl.dot(query, tl.trans(tl.load(k + at))) * scale
        turned = tl.exp2(2.885 * scores)
        scores = 30 * (1 - 2 / (turned + 1)) - slope * tl.abs(m[:, None] - n[None, :])
        larger = tl.maximum(best, tl.max(scores, 1))
        shares = tl.exp2(scores - larger[:, None])
        shrunk = tl.exp2(best - larger)
        weight = weight * shrunk + tl.sum(shares, 1)
        total = tl.dot(shares.to(tl.float16), tl.load(v + at), total * shrunk[:, None])
        best = larger
    at = (head * T + m)[:, None] * D + d[None, :]
    tl.store(out + at, (total / weight[:, None]).to(tl.float16))


def problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield each problem: its name, kernel, arguments, and grid, constants, warps, stages.

    Args:
        make: a tensor of a shape and a type.
        integers: a tensor of random integers below the first of its arguments, of a shape.
    """
    yield from _scattered_problems(make, integers)
    yield from _narrow_problems(make)
    yield from _descriptor_problems(make)
    yield from _matrix_problems(make)
    yield from _row_problems(make, integers)


def _scattered_problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield the problems of atomics and tables."""
    half, single, product = torch.float16, torch.float32, itertools.product
    points = 1 << 16
    yield (
        "votes_of_points",
        votes_of_points,
        (
            make((points,), single), make((points,), single), integers(1, 180 * 512), 180,
            0.01745,
        ),
        [
            ((points // b,), {"RADII": 512, "BLOCK": b}, w, 3)
            for b, w in product((64, 128, 256, 512, 1024, 2048), (1, 2, 4, 8))
            if b >= 32 * w
        ],
    )  # fmt: skip
    size = 1 << 24
    yield (
        "kept_values",
        kept_values,
        (make((size,), single), 0.5, make((size,), single), integers(1, size), integers(1, 1)),
        [
            ((size // b,), {"SIZE": size, "BLOCK": b}, w, 3)
            for b, w in product((512, 1024, 2048, 4096, 8192), (1, 2, 4, 8))
            if 32 * w <= b <= 2048 * w
        ],
    )
    pixels = 1 << 22
    yield (
        "graded_colours",
        graded_colours,
        (
            make((3, pixels), single), make((3, 34, 33, 33), single), make((3, pixels), single),
            pixels,
        ),
        [
            ((pixels // b,), {"SIDE": 33, "BLOCK": b}, w, 3)
            for b, w in product((128, 256, 512, 1024, 2048), (1, 2, 4, 8))
            if 32 * w <= b <= 512 * w
        ],
    )  # fmt: skip
    nodes, channels = 1 << 16, 128
    yield (
        "gates_of_a_graph",
        gates_of_a_graph,
        (
            make((nodes, channels), half), make((nodes,), single), make((nodes,), single),
            integers(nodes, nodes * 16), make((nodes, channels), half), channels,
        ),
        [
            ((nodes // n,), {"DEGREE": 16, "NODES": n, "BC": c}, w, 3)
            for n, c, w in product((1, 2, 4), (32, 64, 128), (1, 2, 4))
            if n * c <= 256 * w
        ],
    )  # fmt: skip


def _narrow_problems(make: Make) -> Iterator[Problem]:
    """Yield the problems of fp8 that load by pointers."""
    brain, eight, single = torch.bfloat16, torch.float8_e4m3fn, torch.float32
    product = itertools.product
    yield (
        "cast_blocks_turned",
        cast_blocks_turned,
        (
            make((8192, 4096), brain), make((8192, 4096), eight), make((4096, 8192), eight),
            make((1 << 16,), single), 8192, 4096,
        ),
        [
            ((8192 // m, 4096 // n), {"BM": m, "BN": n}, w, 3)
            for m, n, w in product((32, 64, 128), (32, 64, 128), (2, 4, 8))
        ],
    )  # fmt: skip
    yield (
        "gates_of_eight",
        gates_of_eight,
        (
            make((4096, 4096), eight), make((2048, 4096), eight), make((2048, 4096), eight),
            make((4096, 2048), eight), make((4096 * 32,), single), 2048, 4096,
        ),
        [
            ((4096 // m, 2048 // n), {"BM": m, "BN": n, "BK": k}, w, s)
            for m, n, k, w, s in product((64, 128), (64, 128), (64, 128), (4, 8), (2, 4))
            if m * n < 16384 or w == 8
        ],
    )  # fmt: skip


def _descriptor_problems(make: Make) -> Iterator[Problem]:
    """Yield the problems of TMA."""
    brain, single, product = torch.bfloat16, torch.float32, itertools.product
    yield (
        "softmax_descriptors",
        softmax_by_blocks,
        (make((8192, 4096), brain), make((8192, 4096), brain), 8192, 4096),
        [
            ((8192 // m,), {"BM": m, "BN": n}, w, s)
            for m, n, w, s in product((8, 16), (64, 128, 256), (2, 4, 8), (1, 3))
            if 128 * w <= m * n <= 1024 * w
        ],
    )
    yield (
        "batches_descriptors",
        products_of_batches,
        (
            make((16, 1024, 1024), brain), make((16, 1024, 1024), brain), make((16, 1024), single),
            make((16, 1024, 1024), brain), 1024, 1024, 1024,
        ),
        [
            ((1024 // m, 1024 // n, 16), {"BM": m, "BN": n, "BK": k}, w, s)
            for m, n, k, w, s in product((64, 128), (64, 128, 256), (32, 64), (4, 8), (3,))
            if m * n < 32768 or w == 8
        ],
    )  # fmt: skip
    yield (
        "gradients_in_partitions_descriptors",
        gradients_in_partitions,
        (
            make((4096, 2048), brain), make((4096, 4096), brain), make((2048, 4096), single),
            4096, 2048, 4096,
        ),
        [
            ((2048 // m * (4096 // n),), {"WIDE": 8, "BM": m, "BN": n, "BK": k}, w, s)
            for m, n, k, w, s in product((64, 128), (64, 128), (32, 64), (4, 8), (2, 3))
            if m * n < 16384 or w == 8
        ],
    )  # fmt: skip


def _matrix_problems(make: Make) -> Iterator[Problem]:
    """Yield the problems with tensor cores that load by pointers."""
    half, brain, single, product = torch.float16, torch.bfloat16, torch.float32, itertools.product
    heads, length = 32, 2048
    whole = (heads * length, 128)
    yield (
        "persistent_attention",
        persistent_attention,
        (
            make(whole, brain), make(whole, brain), make(whole, brain), make(whole, brain), length,
            heads, 0.12,
        ),
        [
            ((132 * c,), {"SMS": 132 * c, "D": 128, "BM": m, "BN": n}, w, s)
            for c, m, n, w, s in product((1, 2), (64, 128), (32, 64), (4, 8), (2, 3))
            if c == 1 or m == 64
        ],
    )  # fmt: skip
    heads, length = 32, 4096
    yield (
        "capped_attention",
        capped_attention,
        (
            make((heads * length, 64), half), make((8 * length, 64), half),
            make((8 * length, 64), half), make((heads,), single), make((heads * length, 64), half),
            length, 4, 0.004,
        ),
        [
            ((length // m, heads), {"D": 64, "BM": m, "BN": n}, w, s)
            for m, n, w, s in product((64, 128), (32, 64, 128), (4, 8), (2, 3))
        ],
    )  # fmt: skip
    length, heads = 1 << 14, 32
    yield (
        "chunks_of_states",
        chunks_of_states,
        (
            make((length, heads, 64), brain), make((heads, length), single), make((heads,), single),
            make((length, 64), brain), make((length, 64), brain), make((length, heads, 64), brain),
            length, heads,
        ),
        [
            ((length // 128, heads, 64 // d), {"D": 64, "STATES": 64, "CHUNK": 128, "BD": d}, w, 3)
            for d, w in product((16, 32, 64), (1, 2, 4, 8))
        ],
    )  # fmt: skip
    side, channels = 128, 256
    yield (
        "enlarged_image",
        enlarged_image,
        (
            make((side * side, channels), half), make((16 * channels, 128), half),
            make((4 * side * side, 128), half), side, channels, 128,
        ),
        [
            ((side * side // p, 128 // k, 4), {"BP": p, "BK": k, "BC": c}, w, s)
            for p, k, c, w, s in product((64, 128), (64, 128), (32, 64), (4, 8), (2, 3))
            if p * k < 16384 or w == 8
        ],
    )  # fmt: skip
    batch = 2048
    yield (
        "fourier_of_two",
        fourier_of_two,
        (
            make((batch, 4096), half), make((batch, 4096), half), make((4096,), half),
            make((4096,), half), make((batch, 4096), half), make((batch, 4096), half),
        ),
        [
            ((batch // t,), {"SIDE": 64, "TIMES": t}, w, s)
            for t, w, s in product((1, 2, 4, 8), (2, 4, 8, 16), (1, 2))
            if t > 1 or s == 1
        ],
    )  # fmt: skip


def _row_problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield the problems of rows: sorts, random numbers, norms, packed words, medians."""
    half, brain, single, product = torch.float16, torch.bfloat16, torch.float32, itertools.product
    yield (
        "trimmed_means",
        trimmed_means,
        (make((1 << 14, 256), half), make((1 << 14,), single)),
        [
            (((1 << 14) // m,), {"N": 256, "CUT": 32, "ROWS": m}, w, 3)
            for m, w in product((1, 2, 4, 8), (1, 2, 4, 8))
            if m < 8 * w
        ],
    )
    options, paths = 512, 2048
    yield (
        "priced_options",
        priced_options,
        (make((options,), single), make((options * 16,), single), 11, 252, 0.0001, 0.01),
        [
            ((options, paths // p), {"PATHS": p}, w, 3)
            for p, w in product((128, 256, 512, 1024, 2048), (1, 2, 4, 8, 16))
            if 32 * w <= p <= 512 * w
        ],
    )
    yield (
        "quantized_norm",
        quantized_norm,
        (
            make((8192, 4096), brain), make((8192, 4096), brain), make((4096,), single),
            make((8192, 4096), brain), make((8192, 4096), torch.int8), make((8192,), single),
        ),
        [
            ((8192 // m,), {"N": 4096, "ROWS": m}, w, 3)
            for m, w in product((1, 2, 4), (1, 2, 4, 8, 16, 32))
            if m <= w
        ],
    )  # fmt: skip
    size = 1 << 25
    yield (
        "packed_nibbles",
        packed_nibbles,
        (make((size,), half), integers(1, size // 8), make((size // 64,), single)),
        [
            ((size // (64 * g),), {"GROUP": 64, "GROUPS": g}, w, 3)
            for g, w in product((8, 16, 32, 64, 128), (1, 2, 4, 8))
            if w <= g <= 16 * w
        ],
    )
    wide = 4096
    yield (
        "medians_of_an_image",
        medians_of_an_image,
        (make((wide + 2, wide + 2), single), make((wide + 2, wide + 2), single), wide),
        [
            ((wide // b, wide // c), {"BY": b, "BX": c}, w, 3)
            for b, c, w in product((1, 4, 16), (64, 128, 256), (1, 2, 4, 8))
            if 32 * w <= b * c <= 1024 * w
        ],
    )
