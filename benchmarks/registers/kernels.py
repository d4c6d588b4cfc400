"""Kernels of many kinds, each in several sizes, to see how many registers the compilers take.

Half of the families (`FITTED`) is for fitting the figures of the estimate, the other for judging.
"""

# ruff: noqa: N803, C408 - constants are written as Triton's tutorials write them

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    left = a + rows[:, None] * stride + inner[None, :]
    right = b + inner[:, None] * stride + columns[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, K, B):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += B
        right += B * stride
    tl.store(c + rows[:, None] * stride + columns[None, :], total.to(tl.float16))


@triton.jit
def persistent(a, b, c, K, tiles, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    inner = tl.arange(0, B)
    wide = stride // N
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        rows = (tile // wide) * M + tl.arange(0, M)
        columns = (tile % wide) * N + tl.arange(0, N)
        total = tl.zeros((M, N), tl.float32)
        for k in range(0, K, B):
            left = tl.load(a + rows[:, None] * stride + (k + inner)[None, :])
            right = tl.load(b + (k + inner)[:, None] * stride + columns[None, :])
            total = tl.dot(left, right, total)
        result = (total * tl.sigmoid(total)).to(tl.float16)
        tl.store(c + rows[:, None] * stride + columns[None, :], result)


@triton.jit
def int8_matmul(a, b, c, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.int32)
    for k in range(0, K, B):
        left = tl.load(a + rows[:, None] * stride + (k + inner)[None, :])
        right = tl.load(b + (k + inner)[:, None] * stride + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * stride + columns[None, :], total)


@triton.jit
def attention(q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    depth = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + depth[None, :])
    most = tl.full((M,), float("-inf"), tl.float32)
    weight = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for start in range(0, length, N):
        columns = start + tl.arange(0, N)
        keys = tl.load(k + columns[None, :] * D + depth[:, None])
        scores = tl.dot(query, keys) * scale
        new = tl.maximum(most, tl.max(scores, 1))
        shares = tl.exp2(scores - new[:, None])
        decay = tl.exp2(most - new)
        weight = weight * decay + tl.sum(shares, 1)
        values = tl.load(v + columns[:, None] * D + depth[None, :])
        total = tl.dot(shares.to(tl.float16), values, total * decay[:, None])
        most = new
    total = total / weight[:, None]
    tl.store(out + rows[:, None] * D + depth[None, :], total.to(tl.float16))


@triton.jit
def attention_backward(
    q, k, v, dout, weight, delta, dk, dv, length, scale, M: tl.constexpr, D: tl.constexpr
):
    keys = tl.program_id(0) * M + tl.arange(0, M)
    depth = tl.arange(0, D)
    key = tl.load(k + keys[:, None] * D + depth[None, :])
    value = tl.load(v + keys[:, None] * D + depth[None, :])
    key_total = tl.zeros((M, D), tl.float32)
    value_total = tl.zeros((M, D), tl.float32)
    for start in range(0, length, M):
        rows = start + tl.arange(0, M)
        query = tl.load(q + rows[:, None] * D + depth[None, :])
        error = tl.load(dout + rows[:, None] * D + depth[None, :])
        scores = tl.dot(key, tl.trans(query)) * scale
        share = tl.exp2(scores - tl.load(weight + rows)[None, :])
        value_total = tl.dot(share.to(tl.float16), error, value_total)
        change = tl.dot(value, tl.trans(error)) - tl.load(delta + rows)[None, :]
        key_total = tl.dot((share * change).to(tl.float16), query, key_total)
    place = keys[:, None] * D + depth[None, :]
    tl.store(dk + place, key_total.to(tl.float16))
    tl.store(dv + place, value_total.to(tl.float16))


@triton.jit
def layer_norm(x, w, b, out, stride, width, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, WIDTH)
    inside = columns < width
    values = tl.load(x + row * stride + columns, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, 0) / width
    apart = tl.where(inside, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(apart * apart, 0) / width + 1e-5)
    result = apart * scale * tl.load(w + columns, mask=inside) + tl.load(b + columns, mask=inside)
    tl.store(out + row * stride + columns, result.to(tl.float16), mask=inside)


@triton.jit
def norm_backward(x, w, dy, dx, dw, stride, rows, WIDTH: tl.constexpr):
    columns = tl.arange(0, WIDTH)
    gain = tl.load(w + columns).to(tl.float32)
    total = tl.zeros((WIDTH,), tl.float32)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row * stride + columns).to(tl.float32)
        change = tl.load(dy + row * stride + columns).to(tl.float32)
        scale = tl.rsqrt(tl.sum(value * value, 0) / WIDTH + 1e-6)
        unit = value * scale
        total += change * unit
        inner = change * gain
        mean = tl.sum(inner * unit, 0) / WIDTH
        tl.store(dx + row * stride + columns, ((inner - unit * mean) * scale).to(tl.float16))
    tl.store(dw + tl.program_id(0) * WIDTH + columns, total)


@triton.jit
def softmax(x, y, stride, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)
    place = rows[:, None] * stride + columns[None, :]
    inside = (columns < width)[None, :]
    values = tl.load(x + place, mask=inside, other=float("-inf")).to(tl.float32)
    shares = tl.exp(values - tl.max(values, 1)[:, None])
    result = shares / tl.sum(shares, 1)[:, None]
    tl.store(y + place, result.to(tl.float16), mask=inside)


@triton.jit
def entropy(x, target, loss, dx, stride, width, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, WIDTH)
    inside = columns < width
    values = tl.load(x + row * stride + columns, mask=inside, other=float("-inf")).to(tl.float32)
    label = tl.load(target + row)
    most = tl.max(values, 0)
    shares = tl.exp(values - most)
    total = tl.sum(shares, 0)
    picked = tl.sum(tl.where(columns == label, values, 0.0), 0)
    tl.store(loss + row, tl.log(total) + most - picked)
    slope = shares / total - tl.where(columns == label, 1.0, 0.0)
    tl.store(dx + row * stride + columns, slope.to(tl.float16), mask=inside)


@triton.jit
def scan(x, y, stride, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    place = rows[:, None] * stride + tl.arange(0, WIDTH)[None, :]
    values = tl.load(x + place).to(tl.float32)
    tl.store(y + place, tl.cumsum(values, 1) + values)


@triton.jit
def _combine(a, x, b, y):
    return a * b, x * b + y


@triton.jit
def recurrence(a, x, y, stride, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    place = rows[:, None] * stride + tl.arange(0, WIDTH)[None, :]
    decay = tl.load(a + place).to(tl.float32)
    value = tl.load(x + place).to(tl.float32)
    _, state = tl.associative_scan((decay, value), 1, _combine)
    tl.store(y + place, state.to(tl.float16))


@triton.jit
def reduction(x, y, z, stride, length, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    columns = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    square = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(0, length, ROWS):
        rows = start + tl.arange(0, ROWS)
        values = tl.load(x + rows[:, None] * stride + columns[None, :]).to(tl.float32)
        total += values
        square += values * values
    tl.store(y + columns, tl.sum(total, 0))
    tl.store(z + columns, tl.max(square, 0))


@triton.jit
def chunk(q, k, v, g, out, length, T: tl.constexpr, D: tl.constexpr):
    """Gated linear attention over chunks: a state of D by D, decays by a scan."""
    rows, depth = tl.arange(0, T), tl.arange(0, D)
    state = tl.zeros((D, D), tl.float32)
    for start in range(0, length, T):
        place = (start + rows)[:, None] * D + depth[None, :]
        gate = tl.cumsum(tl.load(g + place).to(tl.float32), 0)
        query = (tl.load(q + place) * tl.exp(gate)).to(tl.float16)
        key = (tl.load(k + place) * tl.exp(-gate)).to(tl.float16)
        value = tl.load(v + place)
        scores = tl.where(rows[:, None] >= rows[None, :], tl.dot(query, tl.trans(key)), 0.0)
        result = tl.dot(scores.to(tl.float16), value) + tl.dot(query, state.to(tl.float16))
        tl.store(out + place, result.to(tl.float16))
        state += tl.dot(tl.trans(key), value)


class Variant(NamedTuple):
    """A kernel in a size.

    Attributes:
        kernel: the function.
        types: of its arguments.
        constants: the blocks.
        warps: of a program.
    """

    kernel: Any
    types: dict[str, str]
    constants: dict[str, int]
    warps: int

    @property
    def name(self) -> str:
        """What its dump is called."""
        sizes = "x".join(map(str, self.constants.values()))
        return f"{self.kernel.__name__}-{sizes}-w{self.warps}"


_HALF, _FLOAT, _BYTE = "*fp16", "*fp32", "*i8"
_SIZES: tuple[tuple[Any, dict[str, str], tuple[dict[str, int], ...], tuple[int, ...]], ...] = (
    (
        matmul,
        dict(a=_HALF, b=_HALF, c=_HALF, K="i32", stride="i32"),
        (dict(M=64, N=64, B=32), dict(M=128, N=128, B=64), dict(M=256, N=128, B=32)),
        (2, 4, 8),
    ),
    (
        persistent,
        dict(a=_HALF, b=_HALF, c=_HALF, K="i32", tiles="i32", stride="i32"),
        (dict(M=64, N=128, B=32), dict(M=128, N=256, B=32)),
        (4, 8),
    ),
    (
        int8_matmul,
        dict(a=_BYTE, b=_BYTE, c="*i32", K="i32", stride="i32"),
        (dict(M=64, N=64, B=64), dict(M=128, N=256, B=64)),
        (4, 8),
    ),
    (
        attention,
        dict(q=_HALF, k=_HALF, v=_HALF, out=_HALF, length="i32", scale="fp32"),
        (dict(M=64, N=32, D=64), dict(M=128, N=64, D=128), dict(M=128, N=64, D=256)),
        (4, 8),
    ),
    (
        attention_backward,
        {
            **dict(q=_HALF, k=_HALF, v=_HALF, dout=_HALF, weight=_FLOAT, delta=_FLOAT),
            **dict(dk=_HALF, dv=_HALF, length="i32", scale="fp32"),
        },
        (dict(M=32, D=64), dict(M=64, D=128)),
        (4, 8),
    ),
    (
        layer_norm,
        dict(x=_HALF, w=_HALF, b=_HALF, out=_HALF, stride="i32", width="i32"),
        (dict(WIDTH=1024), dict(WIDTH=8192), dict(WIDTH=4096)),
        (1, 4),
    ),
    (
        norm_backward,
        dict(x=_HALF, w=_HALF, dy=_HALF, dx=_HALF, dw=_FLOAT, stride="i32", rows="i32"),
        (dict(WIDTH=2048), dict(WIDTH=8192), dict(WIDTH=4096)),
        (2, 8),
    ),
    (
        softmax,
        dict(x=_HALF, y=_HALF, stride="i32", width="i32"),
        (dict(ROWS=4, WIDTH=512), dict(ROWS=8, WIDTH=2048), dict(ROWS=8, WIDTH=1024)),
        (1, 4, 8),
    ),
    (
        entropy,
        dict(x=_HALF, target="*i64", loss=_FLOAT, dx=_HALF, stride="i32", width="i32"),
        (dict(WIDTH=2048), dict(WIDTH=16384), dict(WIDTH=8192)),
        (2, 8),
    ),
    (
        scan,
        dict(x=_HALF, y=_FLOAT, stride="i32"),
        (dict(ROWS=8, WIDTH=128), dict(ROWS=16, WIDTH=1024), dict(ROWS=8, WIDTH=1024)),
        (1, 4),
    ),
    (
        recurrence,
        dict(a=_HALF, x=_HALF, y=_HALF, stride="i32"),
        (dict(ROWS=4, WIDTH=256), dict(ROWS=16, WIDTH=512), dict(ROWS=8, WIDTH=512)),
        (1, 4),
    ),
    (
        reduction,
        dict(x=_HALF, y=_FLOAT, z=_FLOAT, stride="i32", length="i32"),
        (
            dict(ROWS=32, WIDTH=64),
            dict(ROWS=64, WIDTH=256),
            dict(ROWS=32, WIDTH=128),
            dict(ROWS=128, WIDTH=256),
        ),
        (1, 4),
    ),
    (
        chunk,
        dict(q=_HALF, k=_HALF, v=_HALF, g=_FLOAT, out=_HALF, length="i32"),
        (dict(T=32, D=64), dict(T=64, D=128)),
        (4, 8),
    ),
)

FITTED = frozenset(
    {"matmul", "attention", "layer_norm", "scan", "reduction", "int8_matmul", "entropy"}
)
"""Families for fitting; the others are for judging."""


def variants() -> Iterator[Variant]:
    """Yield every kernel in every size, with each number of warps; a size of each kernel first."""
    for place in range(max(len(sizes) for _, _, sizes, _ in _SIZES)):
        for kernel, types, sizes, warps in _SIZES:
            for count in warps if place < len(sizes) else ():
                yield Variant(kernel, types, sizes[place], count)


def types_of(kernel: Any) -> dict[str, str]:
    """Return the types of a kernel's arguments."""
    return next(types for one, types, _, _ in _SIZES if one is kernel)
