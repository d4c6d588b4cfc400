"""Accesses whose bytes are hard to tell from a dump, for ``sweep.py``.

``problems`` yields them as ``sweep_kernels.problems`` does: rows that begin anywhere, elements some
elements apart, reversed rows, masks and addresses that data decide, bags of rows of a table.
"""

# ruff: noqa: N803

from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch
import triton
import triton.language as tl
from sweep_kernels import Make, Problem

ELEMENTS = 1 << 23
"""Elements that a problem moves, apart from bags and norms."""

BLOCK = 1024


@triton.jit
def layer_norm(x, weight, out, stride, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    row = tl.load(x + tl.program_id(0) * stride + columns, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(row, 0) / n
    centred = tl.where(inside, row - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / n + 1e-5)
    factor = tl.load(weight + columns, mask=inside)
    tl.store(out + tl.program_id(0) * stride + columns, centred * scale * factor, mask=inside)


@triton.jit
def apart_loads(x, y, S: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at * S))


@triton.jit
def apart_stores(x, y, S: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at * S, tl.load(x + at))


@triton.jit(do_not_specialize_on_alignment=["x", "y"])
def apart_copies(x, y, S: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at * S, tl.load(x + at * S))


@triton.jit(do_not_specialize=["first"])
def offset_loads(x, y, first, S: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + first + at * S))


@triton.jit(do_not_specialize=["s"])
def given_stride(x, y, s, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at * s))


@triton.jit(do_not_specialize=["n"])
def reversed_loads(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + (n - 1 - at)))


@triton.jit
def scaled_places(x, y, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + (at.to(tl.float32) * scale).to(tl.int32)))


@triton.jit
def kept_elements(x, flags, y, percent, EACH: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.load(flags + at // EACH) < percent
    tl.store(y + at, tl.load(x + at, mask=kept, other=0.0))


@triton.jit
def stored_elements(x, flags, y, percent, EACH: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.load(flags + at // EACH) < percent
    tl.store(y + at, tl.load(x + at), mask=kept)


@triton.jit
def bag_of_rows(table, index, out, length, D: tl.constexpr):
    columns = tl.arange(0, D)
    total = tl.zeros((D,), tl.float32)
    for i in range(length):
        row = tl.load(index + tl.program_id(0) * length + i)
        total += tl.load(table + row * D + columns)
    tl.store(out + tl.program_id(0) * D + columns, total)


def problems(make: Make, integers: Make) -> Iterator[Problem]:
    """Yield the name of each problem, its kernel, its arguments, and the choices."""
    yield from _norms(make)
    yield from _distances(make)
    yield from _data(make, integers)


def _norms(make: Make) -> Iterator[Problem]:
    half, rows = torch.float16, 65536
    x, out, weight = (make((size,), half) for size in (rows * 1024 + 16, rows * 1024 + 16, 1024))
    for first, n, grid in itertools.product((0, 1), (1000, 777, 1023), (2112, 16384, rows)):
        yield (
            f"norm_from_{first}_of_{n}",
            layer_norm,
            (x[first:], weight, out[first:], 1024, n),
            [((grid,), {"BLOCK": 1024}, 4, 3)],
        )
    n, choices = 1024, [((grid,), {"BLOCK": 1024}, 4, 3) for grid in (2112, 16384, rows)]
    yield f"norm_from_0_of_{n}", layer_norm, (x, weight, out, 1024, n), choices


def _distances(make: Make) -> Iterator[Problem]:
    grid = (ELEMENTS // BLOCK,)
    for kind in (torch.float32, torch.float16):
        bits = torch.finfo(kind).bits
        x, y = make((ELEMENTS * 16 + 64,), kind), make((ELEMENTS * 16 + 64,), kind)
        for first, (name, kernel) in itertools.product(
            (0, 1),
            {"loads": apart_loads, "stores": apart_stores, "copies": apart_copies}.items(),
        ):
            yield (
                f"apart_{name}_{bits}_from_{first}",
                kernel,
                (x[first:], y[first:]),
                [(grid, {"S": s, "BLOCK": BLOCK}, 4, 3) for s in (1, 2, 4, 8, 16)],
            )
        for first in (0, 3):
            yield (
                f"offset_loads_{bits}_from_{first}",
                offset_loads,
                (x, y, first),
                [(grid, {"S": s, "BLOCK": BLOCK}, 4, 3) for s in (1, 2, 8)],
            )
        for s in (1, 2, 8):
            choices = [(grid, {"BLOCK": BLOCK}, 4, 3)]
            yield f"given_stride_{bits}_of_{s}", given_stride, (x, y, s), choices
        for n in (ELEMENTS, ELEMENTS + 3):
            choices = [(grid, {"BLOCK": BLOCK}, 4, 3)]
            yield f"reversed_loads_{bits}_of_{n}", reversed_loads, (x, y, n), choices
        for scale in (0.5, 1.0, 2.0, 7.3):
            choices = [(grid, {"BLOCK": BLOCK}, 4, 3)]
            yield f"scaled_places_{bits}_by_{scale}", scaled_places, (x, y, scale), choices


def _data(make: Make, integers: Make) -> Iterator[Problem]:
    grid, single = (ELEMENTS // BLOCK,), torch.float32
    x, y = make((ELEMENTS,), single), make((ELEMENTS,), single)
    flags = integers(100, ELEMENTS).to(torch.int8)
    for percent, each, (name, kernel) in itertools.product(
        (0, 1, 10, 50, 100),
        (1, 32, BLOCK),
        {"kept": kept_elements, "stored": stored_elements}.items(),
    ):
        yield (
            f"{name}_{percent}_percent_in_{each}",
            kernel,
            (x, flags, y, percent),
            [(grid, {"EACH": each, "BLOCK": BLOCK}, 4, 3)],
        )
    del x, y, flags
    bags, length = 8192, 32
    for columns in (128, 32):
        out = make((bags, columns), single)
        for rows in (1, 128, 4096, 1 << 16, 1 << 18, 1 << 21):
            yield (
                f"bag_of_{rows}_rows_of_{columns}",
                bag_of_rows,
                (make((rows, columns), single), integers(rows, bags * length), out, length),
                [((bags,), {"D": columns}, 1, 3)],
            )
