"""Further kernels for the estimate of registers: what the first families leave out."""

# ruff: noqa: N803, C408 - constants are written as Triton's tutorials write them

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import triton
import triton.language as tl


@triton.jit
def fma_dot(a, b, c, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B):
        left = tl.load(a + rows[:, None] * stride + (k + inner)[None, :])
        right = tl.load(b + (k + inner)[:, None] * stride + columns[None, :])
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(c + rows[:, None] * stride + columns[None, :], total)


@triton.jit
def grouped(a, b, c, m, n, K, sa, sb, sc, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """The product of Triton's tutorial: programs in groups, masks along K."""
    program = tl.program_id(0)
    tall, wide = tl.cdiv(m, M), tl.cdiv(n, N)
    group = program // (8 * wide)
    first = group * 8
    size = min(tall - first, 8)
    row = first + (program % (8 * wide)) % size
    column = (program % (8 * wide)) // size
    rows = (row * M + tl.arange(0, M)) % m
    columns = (column * N + tl.arange(0, N)) % n
    inner = tl.arange(0, B)
    left = a + rows[:, None] * sa + inner[None, :]
    right = b + inner[:, None] * sb + columns[None, :]
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, tl.cdiv(K, B)):
        x = tl.load(left, mask=inner[None, :] < K - k * B, other=0.0)
        y = tl.load(right, mask=inner[:, None] < K - k * B, other=0.0)
        total = tl.dot(x, y, total)
        left += B
        right += B * sb
    rows = row * M + tl.arange(0, M)
    columns = column * N + tl.arange(0, N)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    result = total.to(c.dtype.element_ty)
    tl.store(c + rows[:, None] * sc + columns[None, :], result, mask=inside)


@triton.jit
def weights8(a, b, s, c, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """Weights of a byte, widened for a product of halves."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    scale = tl.load(s + columns)
    for k in range(0, K, B):
        left = tl.load(a + rows[:, None] * stride + (k + inner)[None, :])
        right = tl.load(b + (k + inner)[:, None] * stride + columns[None, :]).to(tl.float16)
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * stride + columns[None, :], (total * scale).to(tl.float16))


@triton.jit
def weights4(a, b, s, c, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """Weights of four bits, unpacked for a product of halves."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B):
        left = tl.load(a + rows[:, None] * stride + (k + inner)[None, :])
        word = tl.load(b + ((k + inner) // 2)[:, None] * stride + columns[None, :])
        scale = tl.load(s + (k // 64) * stride + columns)
        part = (word >> ((inner % 2) * 4)[:, None].to(tl.int8)) & 0xF
        right = ((part - 8).to(tl.float16) * scale[None, :]).to(tl.float16)
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * stride + columns[None, :], total.to(tl.float16))


@triton.jit
def split_k(a, b, c, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.program_id(2) * B + tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B * 4):
        left = tl.load(a + rows[:, None] * stride + (k + inner)[None, :])
        right = tl.load(b + columns[None, :] * stride + (k + inner)[:, None])
        total = tl.dot(left, right, total)
    tl.atomic_add(c + rows[:, None] * stride + columns[None, :], total)


@triton.jit
def wide_attention(q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    depth = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + depth[None, :])
    most = tl.full((M,), float("-inf"), tl.float32)
    weight = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for start in range(0, length, N):
        columns = start + tl.arange(0, N)
        inside = columns < length
        keys = tl.load(k + columns[None, :] * D + depth[:, None], mask=inside[None, :], other=0.0)
        scores = tl.where(inside[None, :], tl.dot(query, keys) * scale, float("-inf"))
        new = tl.maximum(most, tl.max(scores, 1))
        shares = tl.exp2(scores - new[:, None])
        decay = tl.exp2(most - new)
        weight = weight * decay + tl.sum(shares, 1)
        values = tl.load(v + columns[:, None] * D + depth[None, :], mask=inside[:, None], other=0.0)
        total = total * decay[:, None] + tl.dot(shares.to(values.dtype), values)
        most = new
    tl.store(out + rows[:, None] * D + depth[None, :], (total / weight[:, None]).to(tl.bfloat16))


@triton.jit
def paged(q, k, v, pages, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Decoding: keys and values through a table of pages."""
    rows, depth = tl.arange(0, M), tl.arange(0, D)
    head = tl.program_id(0)
    query = tl.load(q + (head * M + rows)[:, None] * D + depth[None, :])
    most = tl.full((M,), float("-inf"), tl.float32)
    weight = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for start in range(0, length, N):
        columns = start + tl.arange(0, N)
        page = tl.load(pages + columns // 16, mask=columns < length, other=0)
        place = page * 16 + columns % 16
        keys = tl.load(k + place[None, :] * D + depth[:, None])
        scores = tl.where((columns < length)[None, :], tl.dot(query, keys) * scale, float("-inf"))
        new = tl.maximum(most, tl.max(scores, 1))
        shares = tl.exp2(scores - new[:, None])
        decay = tl.exp2(most - new)
        weight = weight * decay + tl.sum(shares, 1)
        values = tl.load(v + place[:, None] * D + depth[None, :])
        total = tl.dot(shares.to(tl.float16), values, total * decay[:, None])
        most = new
    result = (total / weight[:, None]).to(tl.float16)
    tl.store(out + (head * M + rows)[:, None] * D + depth[None, :], result)


@triton.jit
def swiglu(x, y, z, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    place = rows[:, None] * width + columns[None, :]
    inside = (columns < width)[None, :]
    gate = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(y + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(z + place, (gate * tl.sigmoid(gate) * up).to(tl.float16), mask=inside)


@triton.jit
def adam(p, g, m, v, rate, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    place = tl.program_id(0) * WIDTH * ROWS + tl.arange(0, WIDTH * ROWS)
    inside = place < count
    weight = tl.load(p + place, mask=inside)
    slope = tl.load(g + place, mask=inside).to(tl.float32)
    first = tl.load(m + place, mask=inside) * 0.9 + slope * 0.1
    second = tl.load(v + place, mask=inside) * 0.999 + slope * slope * 0.001
    tl.store(m + place, first, mask=inside)
    tl.store(v + place, second, mask=inside)
    tl.store(p + place, weight - rate * first / (tl.sqrt(second) + 1e-8), mask=inside)


@triton.jit
def dropout(x, y, seed, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    place = tl.program_id(0) * WIDTH * ROWS + tl.arange(0, WIDTH * ROWS)
    keep = tl.rand(seed, place) > 0.1
    value = tl.load(x + place, mask=place < count)
    tl.store(y + place, tl.where(keep, value / 0.9, 0.0), mask=place < count)


@triton.jit
def gather_rows(x, index, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    source = tl.load(index + rows)
    values = tl.load(x + source[:, None] * width + columns[None, :])
    tl.store(y + rows[:, None] * width + columns[None, :], values)


@triton.jit
def scatter_add(dy, index, dx, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    target = tl.load(index + rows)
    values = tl.load(dy + rows[:, None] * width + columns[None, :]).to(tl.float32)
    tl.atomic_add(dx + target[:, None] * width + columns[None, :], values)


@triton.jit
def transposition(x, y, height, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    values = tl.load(x + rows[:, None] * width + columns[None, :])
    tl.store(y + columns[:, None] * height + rows[None, :], tl.trans(values))


@triton.jit
def conv1d(x, w, y, length, stride, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """Four taps along time, of each channel alone."""
    channels = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    steps = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for tap in tl.static_range(4):
        at = steps - tap
        place = at[:, None] * stride + channels[None, :]
        value = tl.load(x + place, mask=(at >= 0)[:, None], other=0.0).to(tl.float32)
        total += value * tl.load(w + tap * stride + channels).to(tl.float32)[None, :]
    result = total * tl.sigmoid(total)
    tl.store(y + steps[:, None] * stride + channels[None, :], result.to(tl.float16))


@triton.jit
def stencil(x, y, height, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = 1 + tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = 1 + tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for down in tl.static_range(-1, 2):
        for right in tl.static_range(-1, 2):
            place = (rows + down)[:, None] * width + (columns + right)[None, :]
            total += tl.load(x + place) * (1.0 / (2 + down * right))
    tl.store(y + rows[:, None] * width + columns[None, :], total)


@triton.jit
def gemv(a, x, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(0, width, WIDTH):
        columns = start + tl.arange(0, WIDTH)
        part = tl.load(a + rows[:, None] * width + columns[None, :]).to(tl.float32)
        total += part * tl.load(x + columns).to(tl.float32)[None, :]
    tl.store(y + rows, tl.sum(total, 1))


@triton.jit
def rms_twice(x, w, y, width, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """A norm that goes over its rows twice, block by block."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    square = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(0, width, WIDTH):
        columns = start + tl.arange(0, WIDTH)
        value = tl.load(x + rows[:, None] * width + columns[None, :]).to(tl.float32)
        square += value * value
    scale = tl.rsqrt(tl.sum(square, 1) / width + 1e-6)
    for start in range(0, width, WIDTH):
        columns = start + tl.arange(0, WIDTH)
        place = rows[:, None] * width + columns[None, :]
        value = tl.load(x + place).to(tl.float32)
        gain = tl.load(w + columns).to(tl.float32)[None, :]
        tl.store(y + place, (value * scale[:, None] * gain).to(tl.float16))


@triton.jit
def quantize(x, y, s, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Groups of 64 with a scale of their own."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    value = tl.load(x + rows[:, None] * width + columns[None, :]).to(tl.float32)
    parts = tl.reshape(value, (ROWS, WIDTH // 64, 64))
    scale = tl.max(tl.abs(parts), 2) / 127.0 + 1e-9
    whole = tl.reshape(parts / scale[:, :, None], (ROWS, WIDTH))
    tl.store(y + rows[:, None] * width + columns[None, :], whole.to(tl.int8))
    groups = tl.arange(0, WIDTH // 64)
    tl.store(s + rows[:, None] * (width // 64) + groups[None, :], scale)


@triton.jit
def best(x, value, place, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)
    values = tl.load(x + rows[:, None] * width + columns[None, :])
    most, at = tl.max(values, 1, return_indices=True)
    tl.store(value + rows, most)
    tl.store(place + rows, at)


@triton.jit
def sort(x, y, stride, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    place = rows[:, None] * stride + tl.arange(0, WIDTH)[None, :]
    tl.store(y + place, tl.sort(tl.load(x + place)))


@triton.jit
def convolution2d(x, w, y, width, depth, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """Three by three, tap by tap."""
    pixels = tl.program_id(0) * M + tl.arange(0, M)
    filters = tl.program_id(1) * N + tl.arange(0, N)
    row, column = pixels // width, pixels % width
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for tap in range(9):
        down, right = row + tap // 3 - 1, column + tap % 3 - 1
        inside = (down >= 0) & (down < width) & (right >= 0) & (right < width)
        for channel in range(0, depth, B):
            place = (down * width + right)[:, None] * depth + (channel + inner)[None, :]
            image = tl.load(x + place, mask=inside[:, None], other=0.0)
            kernel = tl.load(w + (tap * depth + channel + inner)[:, None] * N + filters[None, :])
            total = tl.dot(image, kernel, total)
    tl.store(y + pixels[:, None] * N + filters[None, :], tl.maximum(total, 0.0).to(tl.float16))


class Space(NamedTuple):
    """The sizes and types that a kernel is drawn from."""

    kernel: Any
    types: Sequence[dict[str, str]]
    sizes: dict[str, Sequence[int]]
    warps: Sequence[int] = (1, 2, 4, 8)
    stages: Sequence[int] = (1, 2, 3, 4)
    stages_from: str = ""


_H, _F, _B, _I = "*fp16", "*fp32", "*i8", "i32"
_MATMUL = dict(M=(16, 32, 64, 128, 256), N=(32, 64, 128, 256), B=(16, 32, 64, 128))
_ROWS = dict(ROWS=(1, 2, 4, 8, 16, 32, 64), WIDTH=(64, 128, 256, 512, 1024, 2048))
_ABC = [dict(a=_H, b=_H, c=_H), dict(a="*bf16", b="*bf16", c="*bf16")]
_LONG = dict(m=_I, n=_I, K=_I, sa=_I, sb=_I, sc=_I)

SPACES = (
    Space(
        fma_dot,
        [dict(a=_F, b=_F, c=_F, K=_I, stride=_I)],
        dict(M=(16, 32, 64, 128), N=(16, 32, 64, 128), B=(16, 32, 64, 256)),
    ),
    Space(
        grouped,
        [
            one | _LONG
            for one in (*_ABC, dict(a=_F, b=_F, c=_F), dict(a="*fp8e5", b="*fp8e5", c=_H))
        ],
        _MATMUL,
        (4, 8),
    ),
    Space(weights8, [dict(a=_H, b=_B, s=_F, c=_H, K=_I, stride=_I)], _MATMUL, (4, 8)),
    Space(weights4, [dict(a=_H, b=_B, s=_H, c=_H, K=_I, stride=_I)], _MATMUL, (4, 8)),
    Space(split_k, [dict(a=_H, b=_H, c=_F, K=_I, stride=_I)], _MATMUL, (4, 8)),
    Space(
        wide_attention,
        [dict(q="*bf16", k="*bf16", v="*bf16", out="*bf16", length=_I, scale="fp32")],
        dict(M=(16, 32, 64, 128), N=(16, 32, 64, 128), D=(64, 128, 256, 512)),
        (4, 8),
    ),
    Space(
        paged,
        [dict(q=_H, k=_H, v=_H, pages="*i32", out=_H, length=_I, scale="fp32")],
        dict(M=(16, 32), N=(16, 32, 64, 128), D=(64, 128, 256)),
        (2, 4, 8),
    ),
    Space(swiglu, [dict(x=_H, y=_H, z=_H, width=_I)], _ROWS),
    Space(
        adam,
        [dict(p=_F, g=_H, m=_F, v=_F, rate="fp32", count=_I)],
        dict(WIDTH=(256, 512, 1024, 2048, 4096), ROWS=(1, 2)),
    ),
    Space(
        dropout,
        [dict(x=_F, y=_F, seed=_I, count=_I)],
        dict(WIDTH=(256, 512, 1024, 2048, 4096), ROWS=(1, 2)),
    ),
    Space(
        gather_rows,
        [dict(x=_H, index="*i64", y=_H, width=_I), dict(x=_F, index="*i32", y=_F, width=_I)],
        _ROWS,
    ),
    Space(scatter_add, [dict(dy=_H, index="*i64", dx=_F, width=_I)], _ROWS),
    Space(
        transposition,
        [dict(x=_H, y=_H, height=_I, width=_I), dict(x=_F, y=_F, height=_I, width=_I)],
        dict(ROWS=(16, 32, 64, 128), WIDTH=(16, 32, 64, 128)),
    ),
    Space(
        conv1d,
        [dict(x=_H, w=_H, y=_H, length=_I, stride=_I)],
        dict(ROWS=(4, 8, 16, 32, 64), WIDTH=(64, 128, 256, 512)),
    ),
    Space(
        stencil,
        [dict(x=_F, y=_F, height=_I, width=_I)],
        dict(ROWS=(1, 2, 4, 8, 16, 32), WIDTH=(64, 128, 256, 512)),
    ),
    Space(gemv, [dict(a=_H, x=_H, y=_F, width=_I), dict(a=_F, x=_F, y=_F, width=_I)], _ROWS),
    Space(rms_twice, [dict(x=_H, w=_H, y=_H, width=_I)], _ROWS),
    Space(quantize, [dict(x=_H, y=_B, s=_F, width=_I)], _ROWS),
    Space(best, [dict(x=_F, value=_F, place="*i32", width=_I)], _ROWS),
    Space(
        sort,
        [dict(x=_F, y=_F, stride=_I), dict(x="*i32", y="*i32", stride=_I)],
        dict(ROWS=(4, 8, 16, 32), WIDTH=(32, 64, 128, 256)),
    ),
    Space(convolution2d, [dict(x=_H, w=_H, y=_H, width=_I, depth=_I)], _MATMUL, (4, 8)),
)

FITTED = frozenset(
    {
        "fma_dot",
        "grouped",
        "weights8",
        "wide_attention",
        "swiglu",
        "dropout",
        "gather_rows",
        "transposition",
        "conv1d",
        "gemv",
        "quantize",
    }
)
"""Families for fitting; the others are for judging."""

MOST = 200
"""Elements per thread of the largest tensor: beyond, a compilation takes minutes."""


class Draw(NamedTuple):
    """A kernel in a size, for a target."""

    kernel: Any
    types: dict[str, str]
    constants: dict[str, int]
    warps: int
    stages: int
    target: str

    @property
    def name(self) -> str:
        sizes = "x".join(map(str, self.constants.values()))
        first = next(iter(self.types.values())).strip("*")
        return f"{self.kernel.__name__}-{first}-{sizes}-w{self.warps}-s{self.stages}-{self.target}"


def drawn(seed: int, targets: Sequence[str], spaces: Sequence[Space] = SPACES) -> Iterator[Draw]:
    """Yield kernels in sizes and for targets drawn by a seed, each kernel in turn, without end."""
    chance = random.Random(seed)
    while True:
        for space in spaces:
            target = chance.choice(targets)
            lanes = 64 if target.startswith("gfx9") else 32
            while True:
                sizes = {name: chance.choice(own) for name, own in space.sizes.items()}
                warps = chance.choice(space.warps)
                pairs = itertools.combinations(sizes.values(), 2)
                largest = max(map(math.prod, pairs), default=math.prod(sizes.values()))
                elements = largest / (lanes * warps)
                if 2 <= elements <= MOST:
                    break
            stages = chance.choice(space.stages) if {"B", "N"} & set(sizes) else 3
            types = chance.choice(space.types)
            yield Draw(space.kernel, types, sizes, warps, stages, target)
