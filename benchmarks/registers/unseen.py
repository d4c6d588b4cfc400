"""Kernels of eight further families, compiled to judge a fit, and part of the next one."""

# ruff: noqa: N803, C408 - constants are written as Triton's tutorials write them

from __future__ import annotations

import triton
import triton.language as tl
from families import Space


@triton.jit
def small_fma(a, b, bias, c, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """A product of floats in full precision whose right operand is transposed, with a bias."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B):
        left = tl.load(a + rows[:, None] * stride + (k + inner)[None, :])
        right = tl.load(b + columns[None, :] * stride + (k + inner)[:, None])
        total = tl.dot(left, right, total, input_precision="ieee")
    total = tl.maximum(total + tl.load(bias + columns)[None, :], 0.0)
    tl.store(c + rows[:, None] * stride + columns[None, :], total)


@triton.jit
def scaled_gemm(
    a, b, scale_a, scale_b, c, m, n, K, sa, sb, sc,
    M: tl.constexpr, N: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    """A product of bf16 or fp8 with a scale of each row and column, masked at its edges."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    left = a + (rows % m)[:, None] * sa + inner[None, :]
    right = b + (columns % n)[None, :] * sb + inner[:, None]
    for k in range(0, tl.cdiv(K, B)):
        x = tl.load(left, mask=inner[None, :] < K - k * B, other=0.0)
        y = tl.load(right, mask=inner[:, None] < K - k * B, other=0.0)
        total = tl.dot(x, y, total)
        left += B
        right += B
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    total *= tl.load(scale_a + rows, mask=rows < m, other=0.0)[:, None]
    total *= tl.load(scale_b + columns, mask=columns < n, other=0.0)[None, :]
    place = c + rows[:, None] * sc + columns[None, :]
    tl.store(place, total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def causal(q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Attention that looks back, with heads of 128 to 512."""
    begin = tl.program_id(0) * M
    rows, depth = begin + tl.arange(0, M), tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + depth[None, :], mask=rows[:, None] < length, other=0.0)
    most = tl.full((M,), float("-inf"), tl.float32)
    weight = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for start in range(0, begin + M, N):
        columns = start + tl.arange(0, N)
        keys = tl.load(k + columns[None, :] * D + depth[:, None])
        scores = tl.dot(query, keys) * scale
        scores = tl.where(rows[:, None] >= columns[None, :], scores, float("-inf"))
        new = tl.maximum(most, tl.max(scores, 1))
        shares = tl.exp2(scores - new[:, None])
        decay = tl.exp2(most - new)
        weight = weight * decay + tl.sum(shares, 1)
        values = tl.load(v + columns[:, None] * D + depth[None, :])
        total = tl.dot(shares.to(tl.float16), values, total * decay[:, None])
        most = new
    result = (total / weight[:, None]).to(tl.float16)
    tl.store(out + rows[:, None] * D + depth[None, :], result, mask=rows[:, None] < length)


@triton.jit
def bytes_by_row(a, b, s, c, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """A product of bytes whose right operand is stored row by row."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.int32)
    for k in range(0, K, B):
        left = tl.load(a + rows[:, None] * stride + (k + inner)[None, :])
        right = tl.load(b + (k + inner)[:, None] * stride + columns[None, :])
        total = tl.dot(left, right, total)
    result = total.to(tl.float32) * tl.load(s + columns)[None, :]
    tl.store(c + rows[:, None] * stride + columns[None, :], result.to(tl.float16))


@triton.jit
def gelu_stream(x, residual, y, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """Blocks that a program takes one after the other."""
    size: tl.constexpr = WIDTH * ROWS
    for block in range(tl.program_id(0), tl.cdiv(count, size), tl.num_programs(0)):
        place = block * size + tl.arange(0, size)
        inside = place < count
        value = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
        value += tl.load(residual + place, mask=inside, other=0.0).to(tl.float32)
        inner = 0.7978845608 * (value + 0.044715 * value * value * value)
        value = value / (1.0 + tl.exp(-2.0 * inner))
        tl.store(y + place, value.to(tl.float16), mask=inside)


@triton.jit
def bag(table, index, weights, y, length, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Rows of a table, gathered and summed with weights."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for step in range(0, length):
        source = tl.load(index + rows * length + step)
        weight = tl.load(weights + rows * length + step)
        place = source[:, None] * width + columns[None, :]
        values = tl.load(table + place, mask=(columns < width)[None, :], other=0.0)
        total += values.to(tl.float32) * weight[:, None]
    place = rows[:, None] * width + columns[None, :]
    tl.store(y + place, total.to(tl.float16), mask=(columns < width)[None, :])


@triton.jit
def joined(decay, value, further, step):
    return decay * further, value * further + step


@triton.jit
def gated_scan(a, x, y, stride, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """A linear recurrence along the first axis, gated by a sigmoid."""
    rows = tl.arange(0, ROWS)
    columns = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    place = rows[:, None] * stride + columns[None, :]
    gate = tl.sigmoid(tl.load(a + place).to(tl.float32))
    step = tl.load(x + place).to(tl.float32) * (1.0 - gate)
    _, state = tl.associative_scan((gate, step), 0, joined)
    tl.store(y + place, state.to(tl.float16))


@triton.jit
def routed(x, value, place, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """The experts of each token: keys of score and place, sorted, and the shares of the first."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)
    scores = tl.load(x + rows[:, None] * width + columns[None, :])
    bits = scores.to(tl.int32, bitcast=True).to(tl.int64)
    keys = tl.sort((bits << 32) | columns[None, :].to(tl.int64), 1, descending=True)
    best = (keys >> 32).to(tl.int32).to(tl.float32, bitcast=True)
    shares = tl.exp(best - tl.max(best, 1)[:, None])
    shares = shares / tl.sum(shares, 1)[:, None]
    target = rows[:, None] * width + columns[None, :]
    tl.store(value + target, shares)
    tl.store(place + target, (keys & 0xFFFFFFFF).to(tl.int32))


_H, _F, _B, _I = "*fp16", "*fp32", "*i8", "i32"
_MATMUL = dict(M=(16, 32, 64, 128, 256), N=(32, 64, 128, 256), B=(32, 64, 128))
_ROWS = dict(ROWS=(1, 2, 4, 8, 16, 32, 64), WIDTH=(64, 128, 256, 512, 1024))
_SCALES = dict(
    scale_a=_F, scale_b=_F, c="*bf16", m=_I, n=_I, K=_I, sa=_I, sb=_I, sc=_I
)  # fmt: skip

SPACES = (
    Space(
        small_fma,
        [dict(a=_F, b=_F, bias=_F, c=_F, K=_I, stride=_I)],
        dict(M=(16, 32, 64), N=(16, 32, 64), B=(16, 32, 64)),
    ),
    Space(
        scaled_gemm,
        [dict(a="*bf16", b="*bf16") | _SCALES, dict(a="*fp8e5", b="*fp8e5") | _SCALES],
        _MATMUL,
        (4, 8),
    ),
    Space(
        causal,
        [dict(q=_H, k=_H, v=_H, out=_H, length=_I, scale="fp32")],
        dict(M=(16, 32, 64, 128), N=(16, 32, 64), D=(128, 256, 512)),
        (4, 8),
    ),
    Space(bytes_by_row, [dict(a=_B, b=_B, s=_F, c=_H, K=_I, stride=_I)], _MATMUL, (4, 8)),
    Space(
        gelu_stream,
        [dict(x=_H, residual=_H, y=_H, count=_I)],
        dict(WIDTH=(256, 512, 1024, 2048, 4096), ROWS=(1, 2)),
    ),
    Space(
        bag,
        [dict(table=_H, index="*i64", weights=_F, y=_H, length=_I, width=_I)],
        _ROWS,
    ),
    Space(gated_scan, [dict(a=_H, x=_H, y=_H, stride=_I)], _ROWS),
    Space(
        routed,
        [dict(x=_F, value=_F, place="*i32", width=_I)],
        dict(ROWS=(1, 2, 4, 8, 16), WIDTH=(16, 32, 64, 128)),
    ),
)
