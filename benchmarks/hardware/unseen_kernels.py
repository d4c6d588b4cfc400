"""Kernels of kinds that neither `sweep_kernels` nor `further_kernels` has: they judge, once.

``problems`` yields them as ``sweep_kernels.problems`` does: scattered atomics, gathers through
tables, fp8 with scales of blocks, TMA, persistent and warp-specialised products, scans, selection,
random numbers, convolutions.
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
def scattered_counts(keys, counts, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(keys + at), 1)


@triton.jit
def graph_messages(x, source, target, weight, out, N, EDGES: tl.constexpr, BN: tl.constexpr):
    e = tl.program_id(0) * EDGES + tl.arange(0, EDGES)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    rows, to = tl.load(source + e), tl.load(target + e)
    message = tl.load(x + rows[:, None] * N + n[None, :]).to(tl.float32)
    tl.atomic_add(
        out + to[:, None] * N + n[None, :], message * tl.load(weight + e)[:, None], sem="relaxed"
    )


@triton.jit
def paged_decoding(
    q, keys, values, pages, out, T, SPLITS: tl.constexpr, PAGE: tl.constexpr, D: tl.constexpr
):
    sequence, part = tl.program_id(0), tl.program_id(1)
    d, n = tl.arange(0, D), tl.arange(0, PAGE)
    h = tl.arange(0, 16)
    query = tl.load(q + (sequence * 16 + h)[:, None] * D + d[None, :])
    best = tl.full((16,), -float("inf"), tl.float32)
    weight = tl.zeros((16,), tl.float32)
    total = tl.zeros((16, D), tl.float32)
    first = part * (T // PAGE // SPLITS)
    for i in range(first, first + T // PAGE // SPLITS):
        page = tl.load(pages + sequence * (T // PAGE) + i)
        at = (page * PAGE + n)[:, None] * D + d[None, :]
        scores = tl.dot(query, tl.trans(tl.load(keys + at))) * 0.09
        larger = tl.maximum(best, tl.max(scores, 1))
        shares = tl.exp(scores - larger[:, None])
        shrunk = tl.exp(best - larger)
        weight = weight * shrunk + tl.sum(shares, 1)
        total = total * shrunk[:, None]
        total = tl.dot(shares.to(tl.float16), tl.load(values + at), total)
        best = larger
    at = ((sequence * SPLITS + part) * 16 + h)[:, None] * D + d[None, :]
    tl.store(out + at, total / weight[:, None])


@triton.jit
def block_scaled_product(
    a, b, left, right, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (i + k)[None, :])
        y = tl.load(b + n[None, :] * K + (i + k)[:, None])
        scale = tl.load(left + m * (K // 128) + i // 128)
        other = tl.load(right + (n // 128) * (K // 128) + i // 128)
        total += tl.dot(x, y) * scale[:, None] * other[None, :]
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.bfloat16))


@triton.jit
def persistent_described(
    a, b, c, M, N, K, SMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    across = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * across, SMS):
        m, n = tile // across * BM, tile % across * BN
        total = tl.zeros((BM, BN), tl.float32)
        for i in range(0, K, BK):
            total = tl.dot(da.load([m, i]), db.load([n, i]).T, total)
        dc.store([m, n], tl.maximum(total, 0.0).to(tl.float16))


@triton.jit
def specialized_described(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for i in tl.range(0, K, BK, warp_specialize=True):
        total = tl.dot(da.load([m, i]), db.load([n, i]).T, total)
    dc.store([m, n], total.to(tl.float16))


@triton.jit
def described_attention(
    q, k, v, out, T, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr
):
    head = tl.program_id(1) * T
    rows = tl.num_programs(1) * T
    dk = tl.make_tensor_descriptor(k, [rows, D], [D, 1], [BN, D])
    dv = tl.make_tensor_descriptor(v, [rows, D], [D, 1], [BN, D])
    first = tl.program_id(0) * BM
    m, d = first + tl.arange(0, BM), tl.arange(0, D)
    query = tl.load(q + (head + m)[:, None] * D + d[None, :])
    best = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for i in range(0, first + BM, BN):
        scores = tl.dot(query, dk.load([head + i, 0]).T) * scale
        inside = m[:, None] >= (i + tl.arange(0, BN))[None, :]
        scores = tl.where(inside, scores, -1e9)
        larger = tl.maximum(best, tl.max(scores, 1))
        shares = tl.exp2(scores - larger[:, None])
        shrunk = tl.exp2(best - larger)
        weight = weight * shrunk + tl.sum(shares, 1)
        total = tl.dot(shares.to(tl.float16), dv.load([head + i, 0]), total * shrunk[:, None])
        best = larger
    at = (head + m)[:, None] * D + d[None, :]
    tl.store(out + at, (total / weight[:, None]).to(tl.float16))


@triton.jit
def _compose(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def selective_scan(x, step, a, b, c, y, T, C, STATES: tl.constexpr, BT: tl.constexpr):
    channel, t = tl.program_id(0), tl.arange(0, BT)
    s = tl.arange(0, STATES)
    rate = tl.load(a + channel * STATES + s)
    state = tl.zeros((STATES,), tl.float32)
    for i in range(0, T, BT):
        delta = tl.load(step + channel * T + i + t)
        inputs = tl.load(x + channel * T + i + t) * delta
        decay = tl.exp(delta[:, None] * rate[None, :])
        at = (i + t)[:, None] * STATES + s[None, :]
        product, scanned = tl.associative_scan(
            (decay, inputs[:, None] * tl.load(b + at)), 0, _compose
        )
        states = scanned + product * state[None, :]
        tl.store(y + channel * T + i + t, tl.sum(states * tl.load(c + at), 1))
        state = tl.sum(tl.where((t == BT - 1)[:, None], states, 0.0), 0)


@triton.jit
def _within_segments(v1, f1, v2, f2):
    return tl.where(f2 != 0, v2, v1 + v2), f1 | f2


@triton.jit
def segmented_sums(x, begins, y, N, ROWS: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = m[:, None] * N + tl.arange(0, BN)[None, :]
    flags = (tl.load(begins + at) & 7) == 0
    sums, _ = tl.associative_scan((tl.load(x + at), flags.to(tl.int32)), 1, _within_segments)
    tl.store(y + at, sums)


@triton.jit
def routed(logits, chosen, N: tl.constexpr, TOP: tl.constexpr, ROWS: tl.constexpr):
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    x = tl.load(logits + m[:, None] * N + tl.arange(0, N)[None, :]).to(tl.float32)
    shares = tl.exp(x - tl.max(x, 1)[:, None])
    best = tl.topk(shares / tl.sum(shares, 1)[:, None], TOP)
    tl.store(chosen + m[:, None] * TOP + tl.arange(0, TOP)[None, :], best)


@triton.jit
def rounded_by_chance(x, y, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r0, r1, r2, r3 = tl.randint4x(seed, at)
    step = tl.num_programs(0) * BLOCK
    for part in tl.static_range(4):
        drawn = r0 if part == 0 else r1 if part == 1 else r2 if part == 2 else r3
        drawn = drawn.to(tl.uint32, bitcast=True)
        bits = tl.load(x + part * step + at).to(tl.uint32, bitcast=True)
        bits = (bits + (drawn & 0xFFFF)) & 0xFFFF0000
        tl.store(y + part * step + at, bits.to(tl.float32, bitcast=True).to(tl.bfloat16))


@triton.jit
def depthwise_image(x, w, y, H, W, C, BP: tl.constexpr, BC: tl.constexpr):
    pixel = tl.program_id(0) * BP + tl.arange(0, BP)
    row, column = pixel // W, pixel % W
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    total = tl.zeros((BP, BC), tl.float32)
    for r in tl.static_range(3):
        for s in tl.static_range(3):
            h, v = row + r - 1, column + s - 1
            inside = (h >= 0) & (h < H) & (v >= 0) & (v < W)
            at = (h * W + v)[:, None] * C + c[None, :]
            pixels = tl.load(x + at, mask=inside[:, None], other=0.0).to(tl.float32)
            total += pixels * tl.load(w + (r * 3 + s) * C + c).to(tl.float32)[None, :]
    tl.store(y + pixel[:, None] * C + c[None, :], total.to(tl.float16))


@triton.jit
def convolution_weights(
    x,
    dy,
    dw,
    W,
    P,
    C,
    K,
    SPLITS: tl.constexpr,
    BC: tl.constexpr,
    BK: tl.constexpr,
    BP: tl.constexpr,
):
    tap, part = tl.program_id(1), tl.program_id(2)
    across = K // BK
    c = tl.program_id(0) // across * BC + tl.arange(0, BC)
    k = tl.program_id(0) % across * BK + tl.arange(0, BK)
    p = tl.arange(0, BP)
    total = tl.zeros((BC, BK), tl.float32)
    for i in range(part * (P // SPLITS), (part + 1) * (P // SPLITS), BP):
        moved = i + p + (tap // 3) * W + tap % 3
        pixels = tl.load(x + moved[None, :] * C + c[:, None])
        total = tl.dot(pixels, tl.load(dy + (i + p)[:, None] * K + k[None, :]), total)
    tl.atomic_add(dw + (tap * C + c)[:, None] * K + k[None, :], total)


@triton.jit
def expert_product(
    x, tokens, experts, weights, scale, out, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    block = tl.program_id(0)
    at = block * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    token, expert = tl.load(tokens + at), tl.load(experts + block * BM // 128)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        rows = tl.load(x + token[:, None] * K + (i + k)[None, :])
        y = tl.load(weights + (expert * K + i + k)[:, None] * N + n[None, :])
        total = tl.dot(rows, y, total)
    total *= tl.load(scale + at)[:, None]
    tl.store(out + at[:, None] * N + n[None, :], total.to(tl.bfloat16))


@triton.jit
def linear_attention(
    q, k, v, out, T, D: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr
):
    head, d = tl.program_id(1), tl.arange(0, D)
    e = tl.program_id(0) * BV + tl.arange(0, BV)
    state = tl.zeros((D, BV), tl.float32)
    for i in range(0, T, BT):
        t = i + tl.arange(0, BT)
        queries = tl.load(q + (head * T + t)[:, None] * D + d[None, :])
        keys = tl.load(k + (head * T + t)[None, :] * D + d[:, None])
        values = tl.load(v + (head * T + t)[:, None] * V + e[None, :])
        within = tl.dot(queries, keys)
        within = tl.where(t[:, None] >= t[None, :], within, 0.0).to(tl.bfloat16)
        total = tl.dot(within, values, tl.dot(queries, state.to(tl.bfloat16)))
        state = tl.dot(keys, values, state)
        tl.store(out + (head * T + t)[:, None] * V + e[None, :], total.to(tl.bfloat16))


def problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield each problem: its name, kernel, arguments, and grid, constants, warps, stages.

    Args:
        make: a tensor of a shape and a type.
        integers: a tensor of random integers below the first of its arguments, of a shape.
    """
    half, brain, single, eight = torch.float16, torch.bfloat16, torch.float32, torch.float8_e4m3fn
    product = itertools.product
    size = 1 << 24
    yield (
        "scattered_counts",
        scattered_counts,
        (integers(1 << 20, size), integers(1, 1 << 20)),
        [
            ((size // b,), {"BLOCK": b}, w, 3)
            for b, w in product((256, 512, 1024, 4096), (1, 2, 4, 8))
            if b >= 32 * w
        ],
    )
    edges = 1 << 17
    yield (
        "graph_messages",
        graph_messages,
        (
            make((16384, 256), half), integers(16384, edges), integers(16384, edges),
            make((edges,), single), make((16384, 256), single), 256,
        ),
        [
            ((edges // e, 256 // n), {"EDGES": e, "BN": n}, w, 3)
            for e, n, w in product((2, 8, 32), (64, 256), (1, 2, 4, 8))
        ],
    )  # fmt: skip
    cache = make((65536, 128), half), make((65536, 128), half)
    yield (
        "paged_decoding",
        paged_decoding,
        (
            make((64 * 16, 128), half),
            *cache,
            integers(512, 64 * 64),
            make((1 << 18, 128), single),
            4096,
        ),
        [
            ((64, s), {"SPLITS": s, "PAGE": p, "D": 128}, w, stages)
            for s, p, w, stages in product((2, 8), (64, 128), (2, 4, 8), (2, 3))
        ],
    )
    a8, b8 = make((4096, 4096), eight), make((4096, 4096), eight)
    yield (
        "block_scaled_product",
        block_scaled_product,
        (
            a8, b8, make((4096, 32), single), make((32, 32), single), make((4096, 4096), brain),
            4096, 4096,
        ),
        [
            ((4096 // m, 4096 // n), {"BM": m, "BN": n, "BK": 128}, w, s)
            for m, n, w, s in product((64, 128), (64, 128), (4, 8), (2, 3, 4))
        ],
    )  # fmt: skip
    a, b, c = (make((4096, 4096), half) for _ in range(3))
    yield (
        "persistent_descriptors",
        persistent_described,
        (a, b, c, 4096, 4096, 4096),
        [
            ((132,), {"SMS": 132, "BM": m, "BN": n, "BK": 64}, w, s)
            for m, n, w, s in product((64, 128), (128, 256), (4, 8), (2, 3, 4))
        ],
    )
    yield (
        "specialized_descriptors",
        specialized_described,
        (a, b, c, 4096, 4096, 4096),
        [
            ((4096 // m, 4096 // n), {"BM": m, "BN": n, "BK": k}, 4, s)
            for m, n, k, s in product((64, 128), (64, 128, 256), (32, 64), (2, 3))
        ],
    )
    heads, length = 32, 4096
    yield (
        "attention_descriptors",
        described_attention,
        (*(make((heads * length, 128), half) for _ in range(4)), length, 0.13),
        [
            ((length // m, heads), {"BM": m, "BN": n, "D": 128}, w, s)
            for m, n, w, s in product((64, 128), (32, 64, 128), (4, 8), (2, 3))
        ],
    )
    rows, long = 4096, 2048
    yield (
        "selective_scan",
        selective_scan,
        (
            make((rows, long), single), make((rows, long), single), make((rows, 16), single),
            make((long, 16), single), make((long, 16), single), make((rows, long), single),
            long, rows,
        ),
        [
            ((rows,), {"STATES": 16, "BT": t}, w, 3)
            for t, w in product((32, 64, 128, 256), (1, 2, 4, 8))
        ],
    )  # fmt: skip
    yield (
        "segmented_sums",
        segmented_sums,
        (make((16384, 1024), single), integers(64, 1 << 24), make((16384, 1024), single), 1024),
        [
            ((16384 // m,), {"ROWS": m, "BN": 1024}, w, 3)
            for m, w in product((1, 2, 4, 8), (1, 2, 4, 8))
        ],
    )
    yield (
        "routing",
        routed,
        (make((65536, 128), half), make((65536, 8), single)),
        [
            ((65536 // m,), {"N": 128, "TOP": 8, "ROWS": m}, w, 3)
            for m, w in product((4, 16, 64, 128), (1, 2, 4, 8))
        ],
    )
    yield (
        "rounded_by_chance",
        rounded_by_chance,
        (make((size,), single), make((size,), brain), 17),
        [
            ((size // 4 // b,), {"BLOCK": b}, w, 3)
            for b, w in product((256, 512, 1024, 2048), (1, 2, 4, 8))
        ],
    )
    yield (
        "depthwise_image",
        depthwise_image,
        (
            make((256 * 256, 256), half),
            make((9, 256), half),
            make((256 * 256, 256), half),
            256,
            256,
            256,
        ),
        [
            ((65536 // p, 256 // k), {"BP": p, "BC": k}, w, 3)
            for p, k, w in product((8, 32, 128), (64, 256), (2, 4, 8))
        ],
    )
    pixels = 128 * 128
    yield (
        "convolution_weights",
        convolution_weights,
        (
            make((pixels + 1024, 128), half), make((pixels, 128), half),
            make((9 * 128, 128), single), 128, pixels, 128, 128,
        ),
        [
            ((128 // m * (128 // n), 9, s), {"SPLITS": s, "BC": m, "BK": n, "BP": p}, w, 3)
            for m, n, s, p, w in product((64, 128), (64, 128), (8, 32), (32, 64), (4, 8))
        ],
    )  # fmt: skip
    yield (
        "expert_product",
        expert_product,
        (
            make((4096, 2048), brain), integers(4096, 8192), integers(16, 64),
            make((16 * 2048, 2048), brain), make((8192,), single), make((8192, 2048), brain),
            2048, 2048,
        ),
        [
            ((8192 // m, 2048 // n), {"BM": m, "BN": n, "BK": k}, w, s)
            for m, n, k, w, s in product((64, 128), (64, 128), (32, 64), (4, 8), (2, 3))
        ],
    )  # fmt: skip
    yield (
        "linear_attention",
        linear_attention,
        (
            make((128 * 2048, 64), brain), make((128 * 2048, 64), brain),
            make((128 * 2048, 128), brain), make((128 * 2048, 128), brain), 2048,
        ),
        [
            ((128 // e, 128), {"D": 64, "V": 128, "BT": t, "BV": e}, w, s)
            for t, e, w, s in product((32, 64, 128), (32, 64, 128), (4, 8), (2, 3))
        ],
    )  # fmt: skip
