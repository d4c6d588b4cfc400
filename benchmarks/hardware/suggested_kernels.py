"""Kernels to judge suggestions by: some with needless conversions or bank conflicts, some without.

`launches(seed)` draws their layouts, shapes and element types; another seed holds out others.
Needs PyTorch and a Triton with Gluon; a GPU only to launch them.
"""

# ruff: noqa: N803

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8}
PROGRAMS = 132 * 16
"""Of most launches: several waves of an H100."""

SIDE = 2048
"""Of the matrices that are multiplied."""


class Launch(NamedTuple):
    """A kernel with what it is launched with.

    Attributes:
        name: its own name and its variant.
        kernel, grid: what is launched.
        arguments: makes the arguments that are no constants; the last tensor is the result.
        constants: its constant arguments.
        warps: of a program.
    """

    name: str
    kernel: Any
    grid: tuple[int, ...]
    arguments: Callable[[], list[Any]]
    constants: dict[str, Any]
    warps: int


# Layouts


def rows(vector: int, lanes: int, warps: int = 4) -> gl.BlockedLayout:
    """Return a layout whose threads hold pieces of rows."""
    return gl.BlockedLayout([1, vector], [32 // lanes, lanes], [warps, 1], [1, 0])


def columns(vector: int, lanes: int, warps: int = 4) -> gl.BlockedLayout:
    """Return a layout whose threads hold pieces of columns."""
    return gl.BlockedLayout([vector, 1], [lanes, 32 // lanes], [1, warps], [0, 1])


def squares(size: int, warps: int = 4) -> gl.BlockedLayout:
    """Return a layout whose threads hold squares."""
    return gl.BlockedLayout([size, size], [4, 8], [warps, 1], [1, 0])


def mma(down: int = 2, across: int = 2) -> gl.NVMMADistributedLayout:
    """Return the layout of the result of mma.sync."""
    return gl.NVMMADistributedLayout([2, 0], [down, across], [16, 8])


def swizzled(vec: int, phase: int, most: int, *order: int) -> gl.SwizzledSharedLayout:
    """Return a layout of shared memory."""
    return gl.SwizzledSharedLayout(vec, phase, most, [*order] or [1, 0])


# Programs in Gluon with conversions


@gluon.jit
def places(at, row, column, width, BM: gl.constexpr, BN: gl.constexpr, L: gl.constexpr):
    m = row + gl.arange(0, BM, layout=gl.SliceLayout(1, L))
    n = column + gl.arange(0, BN, layout=gl.SliceLayout(0, L))
    return at + m[:, None] * width + n[None, :]


@gluon.jit
def weighted_tiles(
    X, W, Y, count, BM: gl.constexpr, BN: gl.constexpr, A: gl.constexpr, B: gl.constexpr
):
    """Add the same tiles with other weights in each program."""
    total = gl.zeros([BM, BN], gl.float32, layout=B)
    for i in range(count):
        x = gl.load(places(X, i % 4 * BM, 0, BN, BM, BN, A)).to(gl.float32)
        w = gl.load(W + gl.program_id(0) * count + i)
        total += gl.convert_layout(x, B) * w
    gl.store(places(Y, gl.program_id(0) * BM, 0, BN, BM, BN, B), total)


@gluon.jit
def sinkhorn(X, Y, count, BM: gl.constexpr, BN: gl.constexpr, A: gl.constexpr, B: gl.constexpr):
    """Normalise rows in one layout, columns in another, in turns."""
    x = gl.load(places(X, gl.program_id(0) * BM, 0, BN, BM, BN, A)).to(gl.float32)
    for _ in range(count):
        x = x / gl.sum(x, 1)[:, None]
        y = gl.convert_layout(x, B)
        y = y / gl.sum(y, 0)[None, :]
        x = gl.convert_layout(y, A)
    gl.store(places(Y, gl.program_id(0) * BM, 0, BN, BM, BN, A), x)


@gluon.jit
def row_steps(X, Y, count, BM: gl.constexpr, BN: gl.constexpr, A: gl.constexpr, B: gl.constexpr):
    """Take the softmax of rows again and again: the greatest in one layout, the sum in another."""
    x = gl.load(places(X, gl.program_id(0) * BM, 0, BN, BM, BN, A)).to(gl.float32)
    for _ in range(count):
        top = gl.max(gl.convert_layout(x, B), 1)
        e = gl.exp(x - gl.convert_layout(top, gl.SliceLayout(1, A))[:, None])
        f = gl.convert_layout(e, B)
        x = x * 0.5 + gl.convert_layout(f / gl.sum(f, 1)[:, None], A)
    gl.store(places(Y, gl.program_id(0) * BM, 0, BN, BM, BN, A), x)


@gluon.jit
def until_small(X, Y, count, BM: gl.constexpr, BN: gl.constexpr, A: gl.constexpr, B: gl.constexpr):
    """Carry two values through a while loop, one of them in another layout than it is taken in."""
    x = gl.load(places(X, gl.program_id(0) * BM, 0, BN, BM, BN, A)).to(gl.float32)
    y = gl.zeros([BM, BN], gl.float32, layout=B)
    i = 0
    while i < count:
        y = y * 0.5 + gl.convert_layout(x, B)
        x = x * x + 0.125
        i += 1
    gl.store(places(Y, gl.program_id(0) * BM, 0, BN, BM, BN, B), y)


@gluon.jit
def one_of_two(X, Y, count, BM: gl.constexpr, BN: gl.constexpr, A: gl.constexpr, B: gl.constexpr):
    """Go one way or the other at each step, and come back to the first layout."""
    x = gl.load(places(X, gl.program_id(0) * BM, 0, BN, BM, BN, A)).to(gl.float32)
    for i in range(count):
        y = gl.convert_layout(x, B)
        y = y * y + 0.25 if (i + gl.program_id(0)) % 2 == 0 else y * 0.75
        x = gl.convert_layout(y, A)
    gl.store(places(Y, gl.program_id(0) * BM, 0, BN, BM, BN, A), x)


@gluon.jit
def worked(x, WORK: gl.constexpr):
    for _ in gl.static_range(WORK):
        x = x * x + 0.125
    return x


@gluon.jit
def worked_tiles(
    X,
    Y,
    count,
    BM: gl.constexpr,
    BN: gl.constexpr,
    A: gl.constexpr,
    B: gl.constexpr,
    WORK: gl.constexpr,
):
    """Work on tiles in two layouts, more or less of it."""
    x = gl.load(places(X, gl.program_id(0) * BM, 0, BN, BM, BN, A)).to(gl.float32)
    for _ in range(count):
        y = worked(gl.convert_layout(x, B), WORK)
        x = worked(gl.convert_layout(y, A), WORK)
    gl.store(places(Y, gl.program_id(0) * BM, 0, BN, BM, BN, A), x)


@gluon.jit
def scaled_rows(
    X, S, Y, count, BM: gl.constexpr, BN: gl.constexpr, A: gl.constexpr, B: gl.constexpr
):
    """Scale the rows of tiles by a vector that is made in the layout of other tiles."""
    x = gl.load(places(X, gl.program_id(0) * BM, 0, BN, BM, BN, B)).to(gl.float32)
    m = gl.arange(0, BM, layout=gl.SliceLayout(1, A))
    for i in range(count):
        s = gl.load(S + i % 4 * BM + m)
        x = x * gl.convert_layout(s, gl.SliceLayout(1, B))[:, None] + 0.5
    gl.store(places(Y, gl.program_id(0) * BM, 0, BN, BM, BN, B), x)


@gluon.jit
def masked_tiles(
    X, Y, count, limit, BM: gl.constexpr, BN: gl.constexpr, A: gl.constexpr, B: gl.constexpr
):
    """Load with a mask in one layout, add in the other."""
    m = gl.arange(0, BM, layout=gl.SliceLayout(1, A))
    n = gl.arange(0, BN, layout=gl.SliceLayout(0, A))
    total = gl.zeros([BM, BN], gl.float32, layout=B)
    for i in range(count):
        k = (n < limit)[None, :] & (m >= 0)[:, None]
        x = gl.load(X + (i % 4 * BM + m)[:, None] * BN + n[None, :], mask=k, other=0.0).to(
            gl.float32
        )
        total = gl.maximum(total, gl.convert_layout(gl.exp(x), B))
    gl.store(places(Y, gl.program_id(0) * BM, 0, BN, BM, BN, B), total)


@gluon.jit
def relaid_copy(X, Y, width, BM: gl.constexpr, BN: gl.constexpr, A: gl.constexpr, B: gl.constexpr):
    """Copy a band of tiles, loaded in one layout and stored in another."""
    for column in range(0, width, BN):
        x = gl.load(places(X, gl.program_id(0) * BM, column, width, BM, BN, A))
        y = gl.convert_layout(x, B)
        gl.store(places(Y, gl.program_id(0) * BM, column, width, BM, BN, B), y * y)


@gluon.jit
def long_vectors(X, Y, count, N: gl.constexpr, A: gl.constexpr, B: gl.constexpr):
    """Add vectors that are loaded with one element a thread."""
    n = gl.arange(0, N, layout=A)
    total = gl.zeros([N], gl.float32, layout=B)
    for i in range(count):
        total += gl.convert_layout(gl.load(X + i % 4 * N + n).to(gl.float32), B) * (i + 1)
    gl.store(Y + gl.program_id(0) * N + gl.arange(0, N, layout=B), total)


@gluon.jit
def scaled_products(
    X,
    W,
    S,
    Y,
    K,
    BM: gl.constexpr,
    BN: gl.constexpr,
    BK: gl.constexpr,
    MMA: gl.constexpr,
    LX: gl.constexpr,
    LW: gl.constexpr,
    SX: gl.constexpr,
    SW: gl.constexpr,
    OUT: gl.constexpr,
):
    """Multiply matrices whose blocks have scales, and add the products in another layout."""
    first: gl.constexpr = gl.DotOperandLayout(0, MMA, 2)
    second: gl.constexpr = gl.DotOperandLayout(1, MMA, 2)
    m, n = gl.program_id(0) * BM, gl.program_id(1) * BN
    a = gl.allocate_shared_memory(gl.float16, [BM, BK], SX)
    b = gl.allocate_shared_memory(gl.float16, [BK, BN], SW)
    total = gl.zeros([BM, BN], gl.float32, layout=OUT)
    for k in range(0, K, BK):
        x = gl.load(places(X, m, k, K, BM, BK, LX))
        w = gl.load(places(W, k, n, gl.num_programs(1) * BN, BK, BN, LW))
        a.store(x)
        b.store(w)
        part = mma_v2(a.load(first), b.load(second), gl.zeros([BM, BN], gl.float32, layout=MMA))
        total += gl.convert_layout(part, OUT) * gl.load(S + k // BK)
    gl.store(places(Y, m, n, gl.num_programs(1) * BN, BM, BN, OUT), total)


# Programs in Gluon with buffers


@gluon.jit
def staged_columns(
    X,
    Y,
    count,
    BM: gl.constexpr,
    BN: gl.constexpr,
    A: gl.constexpr,
    S: gl.constexpr,
    B: gl.constexpr,
):
    """Write tiles to shared memory row by row, read them column by column, and add the columns."""
    s = gl.allocate_shared_memory(X.dtype.element_ty, [BM, BN], S)
    total = gl.zeros([BN], gl.float32, layout=gl.SliceLayout(0, B))
    for i in range(count):
        s.store(gl.load(places(X, (gl.program_id(0) % 64 + i) * BM, 0, BN, BM, BN, A)))
        total += gl.sum(s.load(B).to(gl.float32), 0)
    n = gl.arange(0, BN, layout=gl.SliceLayout(0, B))
    gl.store(Y + gl.program_id(0) * BN + n, total)


@gluon.jit
def ring(
    X,
    W,
    Y,
    K,
    BM: gl.constexpr,
    BN: gl.constexpr,
    BK: gl.constexpr,
    MMA: gl.constexpr,
    LX: gl.constexpr,
    LW: gl.constexpr,
    SX: gl.constexpr,
    SW: gl.constexpr,
    DEPTH: gl.constexpr,
):
    """Multiply matrices through a ring of buffers that asynchronous copies fill."""
    first: gl.constexpr = gl.DotOperandLayout(0, MMA, 2)
    second: gl.constexpr = gl.DotOperandLayout(1, MMA, 2)
    m, n, width = gl.program_id(0) * BM, gl.program_id(1) * BN, gl.num_programs(1) * BN
    a = gl.allocate_shared_memory(gl.float16, [DEPTH, BM, BK], SX)
    b = gl.allocate_shared_memory(gl.float16, [DEPTH, BK, BN], SW)
    for i in gl.static_range(DEPTH - 1):
        async_copy.async_copy_global_to_shared(a.index(i), places(X, m, i * BK, K, BM, BK, LX))
        async_copy.async_copy_global_to_shared(b.index(i), places(W, i * BK, n, width, BK, BN, LW))
        async_copy.commit_group()
    total = gl.zeros([BM, BN], gl.float32, layout=MMA)
    for i in range(K // BK - DEPTH + 1):  # but for the last ones
        at = (i + DEPTH - 1) * BK
        slot = (i + DEPTH - 1) % DEPTH
        async_copy.wait_group(DEPTH - 2)
        gl.thread_barrier()
        total = mma_v2(a.index(i % DEPTH).load(first), b.index(i % DEPTH).load(second), total)
        async_copy.async_copy_global_to_shared(a.index(slot), places(X, m, at, K, BM, BK, LX))
        async_copy.async_copy_global_to_shared(b.index(slot), places(W, at, n, width, BK, BN, LW))
        async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(places(Y, m, n, width, BM, BN, MMA), total.to(gl.float16))


@gluon.jit
def unpacked_products(
    X,
    W,
    Y,
    K,
    BM: gl.constexpr,
    BN: gl.constexpr,
    BK: gl.constexpr,
    MMA: gl.constexpr,
    LX: gl.constexpr,
    LW: gl.constexpr,
    SX: gl.constexpr,
    SW: gl.constexpr,
):
    """Multiply by weights of eight bits, unpacked on their way out of shared memory."""
    first: gl.constexpr = gl.DotOperandLayout(0, MMA, 2)
    second: gl.constexpr = gl.DotOperandLayout(1, MMA, 2)
    m, n, width = gl.program_id(0) * BM, gl.program_id(1) * BN, gl.num_programs(1) * BN
    a = gl.allocate_shared_memory(gl.float16, [BM, BK], SX)
    b = gl.allocate_shared_memory(gl.int8, [BK, BN], SW)
    total = gl.zeros([BM, BN], gl.float32, layout=MMA)
    for k in range(0, K, BK):
        a.store(gl.load(places(X, m, k, K, BM, BK, LX)))
        b.store(gl.load(places(W, k, n, width, BK, BN, LW)))
        total = mma_v2(a.load(first), b.load(second).to(gl.float16), total)
    gl.store(places(Y, m, n, width, BM, BN, MMA), total.to(gl.float16))


@gluon.jit
def exchanged_halves(
    X,
    Y,
    count,
    BM: gl.constexpr,
    BN: gl.constexpr,
    A: gl.constexpr,
    S: gl.constexpr,
    B: gl.constexpr,
):
    """Transpose tiles in place, there and back, with a factor."""
    x = gl.load(places(X, gl.program_id(0) * BM, 0, BN, BM, BN, A))
    s = gl.allocate_shared_memory(X.dtype.element_ty, [BM, BN], S)
    for _ in range(count):
        s.store(x)
        y = s.load(B)
        s.store(y * 0.5)
        x = s.load(A) + x
    gl.store(places(Y, gl.program_id(0) * BM, 0, BN, BM, BN, A), x)


# Programs in Triton


@triton.jit
def transposing_copy(X, Y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = (m < M)[:, None] & (n < N)[None, :]
    x = tl.load(X + m[:, None] * N + n[None, :], mask=k)
    tl.store(Y + n[None, :] * M + m[:, None], x, mask=k)


@triton.jit
def column_softmax(X, Y, N, M: tl.constexpr, BN: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    at = m[:, None] * N + n[None, :]
    x = tl.load(X + at, mask=(n < N)[None, :], other=0.0).to(tl.float32)
    x = tl.exp(x - tl.max(x, 0)[None, :])
    tl.store(Y + at, x / tl.sum(x, 0)[None, :], mask=(n < N)[None, :])


@triton.jit
def every_other(X, Y, N, STEP: tl.constexpr, B: tl.constexpr):
    n = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(Y + n, tl.load(X + n * STEP, mask=n < N) * 2, mask=n < N)


@triton.jit
def gram(X, Y, K, B: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    k = tl.arange(0, BK)
    total = tl.zeros((B, B), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(X + m[:, None] * K + at + k[None, :])
        w = tl.load(X + n[:, None] * K + at + k[None, :])
        total = tl.dot(x, tl.trans(w), total)
    tl.store(Y + m[:, None] * tl.num_programs(1) * B + n[None, :], total)


@triton.jit
def row_running_sums(X, Y, BM: tl.constexpr, N: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    at = m[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(X + at).to(tl.float32)
    tl.store(Y + at, tl.cumsum(x, 1) / tl.sum(x, 1)[:, None])


@triton.jit
def masked_columns(X, Y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BN,), tl.float32)
    for at in range(0, M, BM):
        m = at + tl.arange(0, BM)
        x = tl.load(
            X + m[:, None] * N + n[None, :], mask=(m < M)[:, None] & (n < N)[None, :], other=0.0
        )
        total += tl.sum(x.to(tl.float32), 0)
    tl.store(Y + n, total, mask=n < N)


@triton.jit
def chained_products(X, W, V, Y, BM: tl.constexpr, D: tl.constexpr, COUNT: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(X + m[:, None] * D + d[None, :])
    total = tl.zeros((BM, D), tl.float32)
    for i in range(COUNT):
        at = (i * D + d)[:, None] * D + d[None, :]
        p = tl.dot(q, tl.trans(tl.load(W + at)))
        p = tl.exp(p - tl.max(p, 1)[:, None])
        total = tl.dot(p.to(q.dtype), tl.load(V + at), total)
    tl.store(Y + m[:, None] * D + d[None, :], total)


# Launches


def tensor(dtype: str, *shape: int) -> torch.Tensor:
    """Return random numbers from a quarter to one, small integers of eight bits."""
    if dtype == "i8":
        return torch.randint(-4, 5, shape, dtype=torch.int8, device=DEVICE)
    return (torch.rand(*shape, device=DEVICE) * 0.75 + 0.25).to(DTYPES[dtype])


DEVICE = "cuda"

PAIRS: list[tuple[gl.BlockedLayout, gl.BlockedLayout]] = [
    (rows(4, 16), rows(8, 8)),
    (rows(4, 16), columns(4, 16)),
    (rows(2, 32), rows(4, 8)),
    (rows(1, 32), rows(4, 16)),
    (squares(2), rows(4, 16)),
    (rows(8, 8), squares(4)),
    (columns(2, 16), rows(2, 16)),
    (rows(4, 8), gl.BlockedLayout([2, 4], [8, 4], [2, 2], [1, 0])),
]
"""Layouts of tiles, before and after a conversion."""


def converting(random: Random) -> Iterator[Launch]:
    """Yield programs with conversions of tiles, most of them with many programs."""
    kernels = [weighted_tiles, sinkhorn, row_steps, until_small, one_of_two, masked_tiles]
    for kernel in (*kernels, relaid_copy, worked_tiles):
        for number, (a, b) in enumerate(random.sample(PAIRS, 6 if kernel is worked_tiles else 3)):
            shape = random.choice([(64, 64), (32, 64), (64, 128)])
            constants = {"BM": shape[0], "BN": shape[1], "A": a, "B": b}
            if kernel is worked_tiles:
                constants["WORK"] = [0, 4, 16, 64, 64, 256][number]
            programs = random.choice([PROGRAMS, PROGRAMS, 100])
            count = random.choice([4, 8, 16])
            yield Launch(
                f"{kernel.fn.__name__}-{number}",
                kernel,
                (programs,),
                _tiles(kernel, random.choice(["f32", "f16"]), shape, programs, count),
                constants,
                4,
            )


def _tiles(
    kernel: Any, dtype: str, shape: tuple[int, int], programs: int, count: int
) -> Callable[[], list[Any]]:
    """Return what makes the arguments of a program that converts tiles."""
    bm, bn = shape

    def arguments() -> list[Any]:
        if kernel is relaid_copy:
            place = programs * bm, bn * count
            return [tensor(dtype, *place), tensor(dtype, *place), place[1]]
        result = tensor("f32", programs * bm, bn)
        if kernel is weighted_tiles:
            return [tensor(dtype, 4 * bm, bn), tensor("f32", programs, count), result, count]
        if kernel is masked_tiles:
            return [tensor(dtype, 4 * bm, bn), result, count, bn - 16]
        return [tensor(dtype, programs * bm, bn), result, count]

    return arguments


def vectors(random: Random) -> Iterator[Launch]:
    """Yield programs with conversions of vectors."""
    for number, (one, other) in enumerate(
        random.sample([(1, 4), (1, 8), (2, 4), (4, 2), (1, 2)], 3)
    ):
        a, b = (gl.BlockedLayout([v], [32], [4], [0]) for v in (one, other))
        size = random.choice([1024, 2048, 4096])
        count = random.choice([8, 16])
        yield Launch(
            f"long_vectors-{number}",
            long_vectors,
            (PROGRAMS,),
            lambda size=size, count=count: [
                tensor("f32", 4, size),
                tensor("f32", PROGRAMS, size),
                count,
            ],
            {"N": size, "A": a, "B": b},
            4,
        )
    for number, (a, b) in enumerate(random.sample(PAIRS, 2)):
        yield Launch(
            f"scaled_rows-{number}",
            scaled_rows,
            (PROGRAMS,),
            lambda: [
                tensor("f32", PROGRAMS * 64, 64),
                tensor("f32", 4, 64),
                tensor("f32", PROGRAMS * 64, 64),
                16,
            ],
            {"BM": 64, "BN": 64, "A": a, "B": b},
            4,
        )


def products(random: Random) -> Iterator[Launch]:
    """Yield products of matrices, of which buffers have conflicts or sums are converted."""
    plain, good = swizzled(8, 1, 1), (swizzled(8, 2, 4), swizzled(8, 1, 8))
    for number in range(6):
        k = random.choice([512, 1024])
        bm, bn, bk = random.choice([(64, 64, 32), (128, 64, 32), (64, 128, 32), (64, 64, 64)])
        shared = random.choice([(plain, plain), (good[0], plain), (plain, good[1]), good])
        tile = {
            "BM": bm,
            "BN": bn,
            "BK": bk,
            "MMA": mma(),
            "LX": rows(8, bk // 8),
            "LW": rows(8, bn // 8),
            "SX": shared[0],
            "SW": shared[1],
        }
        shape = (SIDE // bm, SIDE // bn)

        def sources(dtype: str, k: int = k) -> list[Any]:
            return [tensor("f16", SIDE, k), tensor(dtype, k, SIDE)]

        if number < 2:
            yield Launch(
                f"ring-{number}",
                ring,
                shape,
                lambda s=sources, k=k: [*s("f16"), tensor("f16", SIDE, SIDE), k],
                {**tile, "DEPTH": random.choice([2, 3])},
                4,
            )
        elif number < 4:
            tile["LW"] = rows(16, bn // 16)
            tile["SW"] = swizzled(random.choice([1, 4, 16]), 1, 1)
            yield Launch(
                f"unpacked_products-{number}",
                unpacked_products,
                shape,
                lambda s=sources, k=k: [*s("i8"), tensor("f16", SIDE, SIDE), k],
                tile,
                4,
            )
        else:
            tile |= {"SX": good[0] if bk == 32 else good[1], "SW": good[1], "OUT": rows(4, 16)}
            yield Launch(
                f"scaled_products-{number}",
                scaled_products,
                shape,
                lambda s=sources, k=k: [*s("f16"), tensor("f32", 64), tensor("f32", SIDE, SIDE), k],
                tile,
                4,
            )


def staged(random: Random) -> Iterator[Launch]:
    """Yield programs that go through shared memory against the grain."""
    for kernel in (staged_columns, exchanged_halves):
        for number in range(5):
            dtype = random.choice(["f32", "f16"])
            v = 4 if dtype == "f32" else 8
            bm, bn = random.choice([(64, 64), (128, 32), (32, 128)])
            a = rows(v, min(32, bn // v))
            b = random.choice([columns(1, 32), columns(v, min(32, bm // v)), columns(2, 16)])
            s = random.choice(
                [
                    swizzled(1, 1, 1),
                    swizzled(v, 1, 1),
                    swizzled(1, 1, 1, 0, 1),
                    swizzled(1, 1, 32),
                    swizzled(v, 4, 2),
                ]
            )
            count = random.choice([2, 4, 8])

            def arguments(kernel=kernel, dtype=dtype, bm=bm, bn=bn, count=count) -> list[Any]:
                if kernel is staged_columns:
                    return [tensor(dtype, 80 * bm, bn), tensor("f32", PROGRAMS, bn), count]
                return [tensor(dtype, PROGRAMS * bm, bn), tensor(dtype, PROGRAMS * bm, bn), count]

            constants = {"BM": bm, "BN": bn, "A": a, "S": s, "B": b}
            yield Launch(
                f"{kernel.fn.__name__}-{number}", kernel, (PROGRAMS,), arguments, constants, 4
            )


def in_triton(random: Random) -> Iterator[Launch]:
    """Yield programs whose layouts the compiler chooses."""

    def f():
        return random.choice(["f32", "f16"])

    for number in range(2):
        dtype, b = f(), random.choice([32, 64])
        yield Launch(
            f"transposing_copy-{number}",
            transposing_copy,
            (4096 // b, 4096 // b),
            lambda d=dtype: [tensor(d, 4096, 4096), tensor(d, 4096, 4096), 4096, 4096],
            {"BM": b, "BN": b},
            4,
        )
        dtype, rows_ = f(), random.choice([128, 256])
        yield Launch(
            f"column_softmax-{number}",
            column_softmax,
            (4000 // 32,),
            lambda d=dtype, r=rows_: [tensor(d, r, 4000), tensor(d, r, 4000), 4000],
            {"M": rows_, "BN": 32},
            4,
        )
        dtype, step = f(), random.choice([2, 3, 8])
        yield Launch(
            f"every_other-{number}",
            every_other,
            (2048,),
            lambda d=dtype, s=step: [tensor(d, s << 21), tensor(d, 1 << 21), 1 << 21],
            {"STEP": step, "B": 1024},
            4,
        )
        dtype, b = f(), random.choice([32, 64])
        yield Launch(
            f"gram-{number}",
            gram,
            (1024 // b, 1024 // b),
            lambda d=dtype: [tensor(d, 1024, 512), tensor("f32", 1024, 1024), 512],
            {"B": b, "BK": 32},
            4,
        )
        dtype, n = f(), random.choice([256, 1024])
        yield Launch(
            f"row_running_sums-{number}",
            row_running_sums,
            (PROGRAMS,),
            lambda d=dtype, n=n: [tensor(d, PROGRAMS * 4, n), tensor("f32", PROGRAMS * 4, n)],
            {"BM": 4, "N": n},
            4,
        )
        dtype = f()
        yield Launch(
            f"masked_columns-{number}",
            masked_columns,
            (128,),
            lambda d=dtype: [tensor(d, 1000, 4090), tensor("f32", 4096), 1000, 4090],
            {"BM": 32, "BN": 32},
            4,
        )
        d = random.choice([32, 64])
        yield Launch(
            f"chained_products-{number}",
            chained_products,
            (PROGRAMS // 2,),
            lambda d=d: [
                tensor("f16", PROGRAMS * 32, d),
                tensor("f16", 16 * d, d),
                tensor("f16", 16 * d, d),
                tensor("f32", PROGRAMS * 32, d),
            ],
            {"BM": 64, "D": d, "COUNT": 16},
            4,
        )


def launches(seed: int) -> Iterator[Launch]:
    """Yield all kernels, their variants drawn by a seed."""
    for family in (converting, vectors, products, staged, in_triton):
        yield from family(Random(f"{family.__name__} {seed}"))
