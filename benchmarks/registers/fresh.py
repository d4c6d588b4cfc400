"""Kernels to judge the estimate by after the last fit: sizes that a seed draws, kinds of their own.

Of the families that nothing was fitted to, and of four that the fit never saw in any size.
"""

# ruff: noqa: N803, C408 - constants are written as Triton's tutorials write them

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import triton
import triton.language as tl
from kernels import (
    Variant,
    attention_backward,
    chunk,
    norm_backward,
    persistent,
    recurrence,
    softmax,
    types_of,
)


@triton.jit
def rotary(x, cosine, sine, y, stride, ROWS: tl.constexpr, HALF: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inner = tl.arange(0, HALF)
    place = rows[:, None] * stride + inner[None, :]
    angle = rows[:, None] * HALF + inner[None, :]
    first = tl.load(x + place).to(tl.float32)
    second = tl.load(x + place + HALF).to(tl.float32)
    along, across = tl.load(cosine + angle), tl.load(sine + angle)
    tl.store(y + place, (first * along - second * across).to(tl.float16))
    tl.store(y + place + HALF, (second * along + first * across).to(tl.float16))


@triton.jit
def group_norm(x, w, b, y, stride, CHANNELS: tl.constexpr, PIXELS: tl.constexpr):
    channels, pixels = tl.arange(0, CHANNELS), tl.arange(0, PIXELS)
    place = tl.program_id(0) * stride + channels[:, None] * PIXELS + pixels[None, :]
    values = tl.load(x + place).to(tl.float32)
    count = CHANNELS * PIXELS
    mean = tl.sum(tl.sum(values, 1), 0) / count
    apart = values - mean
    scale = tl.rsqrt(tl.sum(tl.sum(apart * apart, 1), 0) / count + 1e-5)
    gain, shift = tl.load(w + channels)[:, None], tl.load(b + channels)[:, None]
    tl.store(y + place, (apart * scale * gain + shift).to(tl.float16))


@triton.jit
def convolution(x, w, y, width, depth, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """Three by three, as a matmul whose left operand is gathered from the image."""
    pixels = tl.program_id(0) * M + tl.arange(0, M)
    filters = tl.program_id(1) * N + tl.arange(0, N)
    row, column = pixels // width, pixels % width
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for step in range(0, 9 * depth, B):
        tap, channel = (step + inner) // depth, (step + inner) % depth
        down, right = row[:, None] + tap[None, :] // 3, column[:, None] + tap[None, :] % 3
        inside = (down < width) & (right < width)
        place = (down * width + right) * depth + channel[None, :]
        image = tl.load(x + place, mask=inside, other=0.0)
        kernel = tl.load(w + (step + inner)[:, None] * N + filters[None, :])
        total = tl.dot(image, kernel, total)
    tl.store(y + pixels[:, None] * N + filters[None, :], tl.maximum(total, 0.0).to(tl.float16))


@triton.jit
def top(x, y, stride, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    place = rows[:, None] * stride + tl.arange(0, WIDTH)[None, :]
    tl.store(y + place, tl.sort(tl.load(x + place), descending=True))


class _Space(NamedTuple):
    """The sizes that a kernel is drawn from."""

    kernel: Any
    types: dict[str, str]
    sizes: dict[str, Sequence[int]]
    warps: Sequence[int] = (1, 2, 4, 8)


_HALF, _FLOAT = "*fp16", "*fp32"
_MATMUL = dict(M=(64, 128), N=(64, 128, 256), B=(32, 64))
_ROWS = dict(ROWS=(2, 4, 8, 16, 32), WIDTH=(256, 512, 1024, 2048, 4096))
_SPACES = (
    _Space(persistent, types_of(persistent), _MATMUL, (4, 8)),
    _Space(
        attention_backward, types_of(attention_backward), dict(M=(32, 64), D=(32, 64, 128)), (4, 8)
    ),
    _Space(norm_backward, types_of(norm_backward), dict(WIDTH=(1024, 2048, 4096, 8192, 16384))),
    _Space(softmax, types_of(softmax), _ROWS),
    _Space(recurrence, types_of(recurrence), _ROWS),
    _Space(chunk, types_of(chunk), dict(T=(16, 32, 64), D=(32, 64, 128)), (4, 8)),
    _Space(
        rotary,
        dict(x=_HALF, cosine=_FLOAT, sine=_FLOAT, y=_HALF, stride="i32"),
        dict(ROWS=(16, 32, 64, 128), HALF=(32, 64, 128)),
    ),
    _Space(
        group_norm,
        dict(x=_HALF, w=_FLOAT, b=_FLOAT, y=_HALF, stride="i32"),
        dict(CHANNELS=(8, 16, 32), PIXELS=(256, 512, 1024)),
    ),
    _Space(
        convolution,
        dict(x=_HALF, w=_HALF, y=_HALF, width="i32", depth="i32"),
        _MATMUL,
        (4, 8),
    ),
    _Space(
        top,
        dict(x=_FLOAT, y=_FLOAT, stride="i32"),
        dict(ROWS=(8, 16, 32, 64), WIDTH=(64, 128, 256)),
    ),
)
_MOST = 256
"""Elements per thread of the largest tensor: beyond, a compilation takes minutes."""


def drawn(seed: int, targets: Sequence[str]) -> Iterator[tuple[Variant, str]]:
    """Yield kernels in sizes and for targets drawn by a seed, each kernel in turn, without end."""
    chance = random.Random(seed)
    while True:
        for space in _SPACES:
            target = chance.choice(targets)
            lanes = 64 if target.startswith("gfx9") else 32
            while True:
                sizes = {name: chance.choice(own) for name, own in space.sizes.items()}
                warps = chance.choice(space.warps)
                elements = math.prod(list(sizes.values())[:2]) / (lanes * warps)
                if 16 <= elements <= _MOST:
                    break
            yield Variant(space.kernel, space.types, sizes, warps), target
