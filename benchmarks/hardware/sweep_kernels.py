"""Kernels of many kinds for ``sweep.py``, each with several configurations.

``problems`` yields them; ``configurations`` yields each with its arguments, of one element each
where they are compiled only.
"""

# ruff: noqa: N803

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl


class Configuration(NamedTuple):
    """A kernel with arguments and constants."""

    name: str
    kernel: Any
    grid: tuple[int, ...]
    arguments: tuple[Any, ...]
    constants: dict[str, Any]
    warps: int
    stages: int

    @property
    def options(self) -> dict[str, Any]:
        return {**self.constants, "num_warps": self.warps, "num_stages": self.stages}


@triton.jit
def count_values(x, counts, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.arange(0, BINS), tl.histogram(tl.load(x + at), BINS))


@triton.jit
def add_rows(rows, index, table, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    to = tl.load(index + m)
    tl.atomic_add(table + to[:, None] * N + n[None, :], tl.load(rows + m[:, None] * N + n[None, :]))


@triton.jit
def gathered_product(a, index, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    rows = tl.load(index + m)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + (i + k)[None, :])
        y = tl.load(b + (i + k)[:, None] * N + n[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16))


@triton.jit
def persistent_product(
    a, b, c, M, N, K, SMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    across = tl.cdiv(N, BN)
    k = tl.arange(0, BK)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * across, SMS):
        m = (tile // across) * BM + tl.arange(0, BM)
        n = (tile % across) * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), tl.float32)
        for i in range(0, K, BK):
            x = tl.load(a + m[:, None] * K + (i + k)[None, :])
            y = tl.load(b + (i + k)[:, None] * N + n[None, :])
            total = tl.dot(x, y, total)
        tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16))


@triton.jit
def described_product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        total = tl.dot(da.load([m, i]), db.load([i, n]), total)
    dc.store([m, n], total.to(tl.float16))


@triton.jit
def small_products(a, b, c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    p = tl.program_id(0)
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    k = tl.arange(0, BK)
    x = tl.load(a + p * BM * BK + m[:, None] * BK + k[None, :])
    y = tl.load(b + p * BK * BN + k[:, None] * BN + n[None, :])
    tl.store(c + p * BM * BN + m[:, None] * BN + n[None, :], tl.dot(x, y).to(tl.float16))


@triton.jit
def scanned(x, y, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    at = m[:, None] * N + tl.arange(0, BN)[None, :]
    tl.store(y + at, tl.cumsum(tl.exp(tl.load(x + at)), 1))


@triton.jit
def sorted_rows(x, y, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    at = m[:, None] * N + tl.arange(0, BN)[None, :]
    tl.store(y + at, tl.sort(tl.load(x + at), 1))


@triton.jit
def dropped_out(x, y, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at).to(tl.float32)
    v = 0.5 * v * (1 + tl.erf(v * 0.7071))
    tl.store(y + at, tl.where(tl.rand(seed, at) > 0.1, v / 0.9, 0.0))


@triton.jit
def convolved(x, w, y, H, W, C, K, BP: tl.constexpr, BK: tl.constexpr, BC: tl.constexpr):
    pixel = tl.program_id(0) * BP + tl.arange(0, BP)
    row, column = pixel // W, pixel % W
    k = tl.program_id(1) * BK + tl.arange(0, BK)
    total = tl.zeros((BP, BK), tl.float32)
    for step in range(0, 9 * (C // BC)):
        r, s, c0 = step // 3 % 3 - 1, step % 3 - 1, step // 9 * BC
        c = c0 + tl.arange(0, BC)
        h, v = row + r, column + s
        inside = (h >= 0) & (h < H) & (v >= 0) & (v < W)
        pixels = tl.load(x + (h * W + v)[:, None] * C + c[None, :], mask=inside[:, None], other=0.0)
        weights = tl.load(w + ((step % 9) * C + c)[:, None] * K + k[None, :])
        total = tl.dot(pixels, weights, total)
    tl.store(y + pixel[:, None] * K + k[None, :], total.to(tl.float16))


@triton.jit
def normalized(x, residual, w, y, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    at = m[:, None] * N + n[None, :]
    v = tl.load(x + at).to(tl.float32) + tl.load(residual + at).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, 1) / N + 1e-5)
    tl.store(residual + at, v.to(tl.float16))
    tl.store(y + at, (v * scale[:, None] * tl.load(w + n)[None, :]).to(tl.float16))


@triton.jit
def rotated(x, cosines, sines, y, HALF: tl.constexpr, HEADS: tl.constexpr):
    token = tl.program_id(0)
    h = tl.arange(0, HEADS)
    d = tl.arange(0, HALF)
    at = token * HEADS * 2 * HALF + h[:, None] * 2 * HALF + d[None, :]
    a = tl.load(x + at).to(tl.float32)
    b = tl.load(x + at + HALF).to(tl.float32)
    c = tl.load(cosines + token * HALF + d)[None, :]
    s = tl.load(sines + token * HALF + d)[None, :]
    tl.store(y + at, (a * c - b * s).to(tl.float16))
    tl.store(y + at + HALF, (b * c + a * s).to(tl.float16))


@triton.jit
def quantized(x, y, scales, GROUP: tl.constexpr, ROWS: tl.constexpr):
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = m[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    v = tl.load(x + at).to(tl.float32)
    scale = tl.max(tl.abs(v), 1) / 448.0
    tl.store(scales + m, scale)
    tl.store(y + at, (v / scale[:, None]).to(tl.float8e4nv))


@triton.jit
def largest(x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    where = tl.zeros((BLOCK,), tl.int32)
    for i in range(0, N, BLOCK):
        at = i + tl.arange(0, BLOCK)
        v = tl.load(x + row * N + at).to(tl.float32)
        where = tl.where(v > best, at, where)
        best = tl.maximum(best, v)
    winner = tl.argmax(best, 0)
    tl.store(y + row, tl.sum(tl.where(tl.arange(0, BLOCK) == winner, where, 0), 0))


Make = Callable[..., Any]
Problem = tuple[str, Any, tuple[Any, ...], list[tuple[tuple[int, ...], dict[str, Any], int, int]]]


def problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield each problem: its name, kernel, arguments, and grid, constants, warps, stages.

    Args:
        make: a tensor of a shape and a type.
        integers: a tensor of random integers below the first of its arguments, of a shape.
    """
    half, single, eight = torch.float16, torch.float32, torch.float8_e4m3fn
    size = 1 << 24
    x, counts = integers(256, size), integers(1, 256)
    yield (
        "histogram",
        count_values,
        (x, counts),
        [
            ((size // b,), {"BINS": 256, "BLOCK": b}, w, 3)
            for b, w in itertools.product((1024, 4096, 16384), (2, 4, 8))
        ],
    )
    rows, table = make((32768, 1024), single), make((4096, 1024), single)
    yield (
        "embedding_backward",
        add_rows,
        (rows, integers(4096, 32768), table, 1024),
        [
            ((32768 // m, 1024 // n), {"BM": m, "BN": n}, w, 3)
            for m, n, w in itertools.product((1, 4, 16), (256, 1024), (2, 4, 8))
        ],
    )
    a, b, c = make((8192, 2048), half), make((2048, 2048), half), make((4096, 2048), half)
    yield (
        "gathered_product",
        gathered_product,
        (a, integers(8192, 4096), b, c, 2048, 2048),
        [
            ((4096 // m, 2048 // n), {"BM": m, "BN": n, "BK": k}, w, s)
            for m, n, k, w, s in itertools.product((64, 128), (64, 128), (32, 64), (4, 8), (2, 3))
        ],
    )
    a, b, c = (make((4096, 4096), half) for _ in range(3))
    sms = 132
    yield (
        "persistent_product",
        persistent_product,
        (a, b, c, 4096, 4096, 4096),
        [
            ((sms,), {"SMS": sms, "BM": m, "BN": n, "BK": 64}, w, s)
            for m, n, w, s in itertools.product((64, 128), (128, 256), (4, 8), (3, 4))
        ],
    )
    yield (
        "descriptors",
        described_product,
        (a, b, c, 4096, 4096, 4096),
        [
            ((4096 // m, 4096 // n), {"BM": m, "BN": n, "BK": 64}, w, s)
            for m, n, w, s in itertools.product((64, 128), (128, 256), (4, 8), (2, 3))
        ],
    )
    small = tuple(make((16384, 4096), half) for _ in range(3))
    yield (
        "small_products",
        small_products,
        small,
        [((16384,), {"BM": 64, "BN": 64, "BK": 64}, w, 3) for w in (1, 2, 4, 8)],
    )
    a8, b8 = make((4096, 4096), eight), make((4096, 4096), eight)
    yield (
        "fp8_product",
        gathered_product,
        (a8, integers(4096, 4096), b8, c, 4096, 4096),
        [
            ((4096 // m, 4096 // n), {"BM": m, "BN": n, "BK": k}, w, 3)
            for m, n, k, w in itertools.product((64, 128), (64, 128), (64, 128), (4, 8))
        ],
    )
    f, g = make((16384, 2048), single), make((16384, 2048), single)
    for name, kernel in (("scan", scanned), ("sort", sorted_rows)):
        yield (
            name,
            kernel,
            (f, g, 2048),
            [
                ((16384 // m,), {"BM": m, "BN": 2048}, w, 3)
                for m, w in itertools.product((1, 2), (2, 4, 8, 16))
            ],
        )
    h, o = make((size,), half), make((size,), half)
    yield (
        "dropout",
        dropped_out,
        (h, o, 17),
        [
            ((size // b,), {"BLOCK": b}, w, 3)
            for b, w in itertools.product((512, 1024, 4096), (2, 4, 8))
        ],
    )
    image, weights, out = (
        make((128 * 128, 128), half),
        make((9 * 128, 256), half),
        make((128 * 128, 256), half),
    )
    yield (
        "convolution",
        convolved,
        (image, weights, out, 128, 128, 128, 256),
        [
            ((16384 // p, 256 // k), {"BP": p, "BK": k, "BC": c}, w, s)
            for p, k, c, w, s in itertools.product((64, 128), (64, 128), (32, 64), (4, 8), (2, 3))
        ],
    )
    n0, n1, n2 = (make((16384, 4096), half) for _ in range(3))
    yield (
        "rmsnorm",
        normalized,
        (n0, n1, make((4096,), half), n2, 4096),
        [
            ((16384 // m,), {"BM": m, "BN": 4096}, w, 3)
            for m, w in itertools.product((1, 2, 4), (2, 4, 8, 16))
        ],
    )
    q, p = make((16384, 32, 128), half), make((16384, 32, 128), half)
    turns = make((16384, 64), single), make((16384, 64), single)
    yield (
        "rotary",
        rotated,
        (q, *turns, p),
        [((16384,), {"HALF": 64, "HEADS": 32}, w, 3) for w in (1, 2, 4, 8, 16)],
    )
    v, packed, scales = make((size // 128, 128), half), make((size // 128, 128), eight), None
    scales = make((size // 128,), single)
    yield (
        "quantization",
        quantized,
        (v, packed, scales),
        [
            ((size // 128 // r,), {"GROUP": 128, "ROWS": r}, w, 3)
            for r, w in itertools.product((8, 32, 128), (2, 4, 8))
        ],
    )
    yield (
        "argmax",
        largest,
        (n0, integers(1, 16384), 4096),
        [
            ((16384,), {"BLOCK": b}, w, 3)
            for b, w in itertools.product((512, 1024, 4096), (2, 4, 8))
        ],
    )


def configurations(
    only: str = "", kernels: str = "sweep_kernels", *, is_real: bool
) -> Iterator[Configuration]:
    """Yield every configuration of the problems whose names have a text.

    Args:
        only: the text.
        kernels: the module that has them.
        is_real: whether tensors are as large as they are, on the GPU.
    """

    def make(shape: Sequence[int], kind: torch.dtype) -> torch.Tensor:
        if not is_real:
            return torch.empty(16, dtype=kind, device="cuda")
        return torch.randn(*shape, device="cuda").to(kind)

    def integers(below: int, count: int) -> torch.Tensor:
        shape = (count,) if is_real else (16,)
        return torch.randint(0, below, shape, dtype=torch.int32, device="cuda")

    chosen = importlib.import_module(kernels).problems(make, integers)
    for name, kernel, arguments, choices in chosen:
        if only in name:
            if "descriptors" in name:
                triton.set_allocator(_scratch)
            for grid, constants, warps, stages in choices:
                yield Configuration(name, kernel, grid, arguments, constants, warps, stages)
        del arguments


def _scratch(size: int, alignment: int, stream: int | None) -> torch.Tensor:
    return torch.empty(size, dtype=torch.int8, device="cuda")
