"""Kernels of eleven further families, to judge the last fit by."""

# ruff: noqa: N803, C408 - constants are written as Triton's tutorials write them

from __future__ import annotations

import triton
import triton.language as tl
from families import Space


@triton.jit
def widened(a, b, c, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """A product whose left operand is widened, scaled and kept in registers."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B):
        left = tl.load(a + rows[:, None] * stride + (k + inner)[None, :])
        right = tl.load(b + (k + inner)[:, None] * stride + columns[None, :])
        left = (left.to(tl.float32) * 0.125).to(b.dtype.element_ty)
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * stride + columns[None, :], total.to(c.dtype.element_ty))


@triton.jit
def query_gradient(
    q, k, v, dout, lse, delta, dq, length, scale,
    M: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """The gradient of the queries of attention in 64-bit indices: a score is an operand."""
    begin = tl.program_id(0).to(tl.int64) * M
    rows, depth = begin + tl.arange(0, M), tl.arange(0, D)
    inside = (rows < length)[:, None]
    query = tl.load(q + rows[:, None] * D + depth[None, :], mask=inside, other=0.0)
    gradient = tl.load(dout + rows[:, None] * D + depth[None, :], mask=inside, other=0.0)
    weight = tl.load(lse + rows, mask=rows < length, other=0.0)
    drop = tl.load(delta + rows, mask=rows < length, other=0.0)
    total = tl.zeros((M, D), tl.float32)
    for start in range(0, length, N):
        own = start + tl.arange(0, N).to(tl.int64)
        valid = own < length
        key = tl.load(k + own[None, :] * D + depth[:, None], mask=valid[None, :], other=0.0)
        value = tl.load(v + own[None, :] * D + depth[:, None], mask=valid[None, :], other=0.0)
        score = tl.dot(query, key) * scale
        seen = (rows[:, None] >= own[None, :]) & valid[None, :]
        part = tl.where(seen, tl.exp2(score - weight[:, None]), 0.0)
        change = part * (tl.dot(gradient, value) - drop[:, None])
        total += tl.dot(change.to(key.dtype), tl.trans(key))
    tl.store(dq + rows[:, None] * D + depth[None, :], total.to(dq.dtype.element_ty), mask=inside)


@triton.jit
def carried_state(q, k, v, g, out, length, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """Linear attention in chunks: a state in registers is operand and sum."""
    depth, width, chunk = tl.arange(0, D), tl.arange(0, N), tl.arange(0, M)
    columns = tl.program_id(0) * N + width
    state = tl.zeros((D, N), tl.float32)
    for start in range(0, length, M):
        rows = start + chunk
        decay = tl.load(g + rows)
        query = tl.load(q + rows[:, None] * D + depth[None, :])
        key = tl.load(k + rows[None, :] * D + depth[:, None])
        value = tl.load(v + rows[:, None] * stride_of(D) + columns[None, :])
        score = tl.dot(query, key)
        score = tl.where(chunk[:, None] >= chunk[None, :], score, 0.0) * decay[:, None]
        result = tl.dot(query, state.to(query.dtype)) + tl.dot(score.to(value.dtype), value)
        state = tl.dot(key, value, state * 0.9)
        tl.store(out + rows[:, None] * stride_of(D) + columns[None, :], result.to(tl.float16))


@triton.jit
def stride_of(D: tl.constexpr):
    return D * 4


@triton.jit
def group_norm(x, w, b, y, count, group, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """Mean and variance of rows that are read twice."""
    base = x + tl.program_id(0) * group * count
    rows = tl.arange(0, ROWS)[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    square = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(0, count, WIDTH):
        inside = start + columns < count
        part = tl.load(base + rows * count + start + columns, mask=inside, other=0.0).to(tl.float32)
        total += part
        square += part * part
    mean = tl.sum(total) / count
    scale = tl.rsqrt(tl.sum(square) / count - mean * mean + 1e-5)
    for start in range(0, count, WIDTH):
        inside = start + columns < count
        part = tl.load(base + rows * count + start + columns, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(w + start + columns, mask=inside)
        shift = tl.load(b + start + columns, mask=inside)
        result = (part - mean) * scale * weight + shift
        place = tl.program_id(0) * group * count + rows * count + start + columns
        tl.store(y + place, result.to(y.dtype.element_ty), mask=inside)


@triton.jit
def rotary(x, cos, sin, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """A rotary embedding of both halves of a head, in place."""
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    half = tl.arange(0, WIDTH)[None, :]
    first = tl.load(x + rows * width + half, mask=half < width // 2, other=0.0).to(tl.float32)
    last = x + rows * width + half + width // 2
    second = tl.load(last, mask=half < width // 2, other=0.0).to(tl.float32)
    turned = tl.load(cos + rows * width + half, mask=half < width // 2)
    beside = tl.load(sin + rows * width + half, mask=half < width // 2)
    left = (first * turned - second * beside).to(y.dtype.element_ty)
    right = (second * turned + first * beside).to(y.dtype.element_ty)
    tl.store(y + rows * width + half, left, mask=half < width // 2)
    tl.store(y + rows * width + half + width // 2, right, mask=half < width // 2)


@triton.jit
def online_entropy(x, target, loss, lse, width, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """Entropy over a vocabulary that is read in pieces."""
    row = tl.program_id(0).to(tl.int64)
    most = float("-inf")
    total = 0.0
    smooth = 0.0
    for start in range(0, width, WIDTH * ROWS):
        places = start + tl.arange(0, WIDTH * ROWS)
        part = tl.load(x + row * width + places, mask=places < width, other=float("-inf"))
        part = part.to(tl.float32)
        higher = tl.maximum(most, tl.max(part))
        total = total * tl.exp(most - higher) + tl.sum(tl.exp(part - higher))
        smooth += tl.sum(tl.where(places < width, part, 0.0))
        most = higher
    chosen = tl.load(target + row)
    value = tl.load(x + row * width + chosen).to(tl.float32)
    tl.store(lse + row, most + tl.log(total))
    tl.store(loss + row, most + tl.log(total) - value * 0.9 - smooth * 0.1 / width)


@triton.jit
def lion(p, g, m, scale, rate, decay, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """A step of an optimizer with a scale for each element."""
    places = tl.program_id(0).to(tl.int64) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    inside = places < count
    weight = tl.load(p + places, mask=inside).to(tl.float32)
    change = tl.load(g + places, mask=inside).to(tl.float32)
    average = tl.load(m + places, mask=inside)
    factor = tl.load(scale + places, mask=inside)
    mixed = average * 0.9 + change * 0.1
    step = tl.where(mixed > 0, 1.0, tl.where(mixed < 0, -1.0, 0.0)) * factor
    weight = weight * (1.0 - rate * decay) - rate * step
    tl.store(p + places, weight.to(p.dtype.element_ty), mask=inside)
    tl.store(m + places, average * 0.99 + change * 0.01, mask=inside)


@triton.jit
def depthwise(x, w, bias, y, length, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """A causal convolution of four taps along the rows, with a sigmoid."""
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = (tl.program_id(1) * WIDTH + tl.arange(0, WIDTH))[None, :]
    total = tl.zeros((ROWS, WIDTH), tl.float32) + tl.load(bias + columns)
    for tap in tl.static_range(4):
        own = rows + tap - 3
        inside = (own >= 0) & (own < length) & (columns < width)
        part = tl.load(x + own * width + columns, mask=inside, other=0.0).to(tl.float32)
        total += part * tl.load(w + columns * 4 + tap)
    result = total * tl.sigmoid(total)
    inside = (rows < length) & (columns < width)
    tl.store(y + rows * width + columns, result.to(y.dtype.element_ty), mask=inside)


@triton.jit
def state_update(s, x, a, b, c, y, stride, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """One step of a state-space model: a state is read, updated, written, and summed up."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)
    place = rows[:, None] * stride + columns[None, :]
    state = tl.load(s + place)
    step = tl.load(x + rows).to(tl.float32)
    decay = tl.exp(tl.load(a + place) * step[:, None])
    state = state * decay + tl.load(b + columns)[None, :] * step[:, None]
    tl.store(s + place, state)
    tl.store(y + rows, tl.sum(state * tl.load(c + columns)[None, :], 1).to(y.dtype.element_ty))


@triton.jit
def bin_counts(x, place, counts, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Keys of a radix sort: their digits, their places by a running sum, and how many of each."""
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    keys = tl.load(x + rows * width + columns, mask=columns < width, other=0)
    digits = (keys >> 4) & 15
    for digit in range(0, 16):
        own = (digits == digit).to(tl.int32)
        before = tl.cumsum(own, 1) - own
        tl.store(place + rows * width + columns, before, mask=(own > 0) & (columns < width))
        tl.atomic_add(counts + digit, tl.sum(own))


@triton.jit
def two_products(x, gate, up, y, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """The gated layer of a network: two products of one operand, joined at their ends."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    first = tl.zeros((M, N), tl.float32)
    second = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B):
        inside = k + inner < K
        left = tl.load(x + rows[:, None] * stride + (k + inner)[None, :], mask=inside[None, :])
        place = (k + inner)[:, None] * stride + columns[None, :]
        first = tl.dot(left, tl.load(gate + place, mask=inside[:, None]), first)
        second = tl.dot(left, tl.load(up + place, mask=inside[:, None]), second)
    result = first * tl.sigmoid(first) * second
    tl.store(y + rows[:, None] * stride + columns[None, :], result.to(y.dtype.element_ty))


_H, _F, _B, _I = "*fp16", "*fp32", "*bf16", "i32"
_MATMUL = dict(M=(16, 64, 128, 256), N=(32, 64, 128, 256), B=(32, 64, 128))
_ROWS = dict(ROWS=(1, 2, 4, 8, 16, 32), WIDTH=(64, 128, 256, 512))
_FLAT = dict(WIDTH=(256, 512, 1024, 2048, 4096), ROWS=(1, 2))
_GRADIENT = dict(lse=_F, delta=_F, length=_I, scale="fp32")

SPACES = (
    Space(
        widened,
        [
            dict(a=_F, b=_F, c=_F, K=_I, stride=_I),
            dict(a="*fp8e5", b=_B, c=_B, K=_I, stride=_I),
            dict(a=_F, b="*fp8e5", c=_F, K=_I, stride=_I),
            dict(a="*i8", b=_H, c=_F, K=_I, stride=_I),
        ],
        _MATMUL,
        (4, 8),
    ),
    Space(
        query_gradient,
        [dict(q=t, k=t, v=t, dout=t, dq=t) | _GRADIENT for t in (_H, _F)],
        dict(M=(32, 64, 128), N=(16, 32, 64), D=(64, 128)),
        (4, 8),
    ),
    Space(
        carried_state,
        [dict(q=t, k=t, v=t, g=_F, out=_H, length=_I) for t in (_H, _F)],
        dict(D=(32, 64, 128), M=(16, 32, 64), N=(32, 64)),
        (4, 8),
    ),
    Space(
        two_products,
        [dict(x=_H, gate=_H, up=_H, y=_H, K=_I, stride=_I)],
        _MATMUL,
        (4, 8),
    ),
    Space(
        group_norm,
        [dict(x=t, w=_F, b=_F, y=t, count=_I, group=_I) for t in (_H, _F)],
        dict(WIDTH=(256, 512, 1024), ROWS=(1, 2, 4, 8, 16)),
    ),
    Space(rotary, [dict(x=t, cos=_F, sin=_F, y=t, width=_I) for t in (_H, _F)], _ROWS),
    Space(online_entropy, [dict(x=_H, target="*i64", loss=_F, lse=_F, width=_I)], _FLAT),
    Space(
        lion,
        [dict(p=t, g=t, m=_F, scale=_F, rate="fp32", decay="fp32", count=_I) for t in (_H, _F)],
        _FLAT,
    ),
    Space(depthwise, [dict(x=_H, w=_F, bias=_F, y=_H, length=_I, width=_I)], _ROWS),
    Space(state_update, [dict(s=_F, x=_H, a=_F, b=_F, c=_F, y=_H, stride=_I)], _ROWS),
    Space(bin_counts, [dict(x="*i32", place="*i32", counts="*i32", width=_I)], _ROWS),
)
