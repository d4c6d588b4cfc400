"""Kernels that access global memory in many ways; imported where Triton is."""

# ruff: noqa: N803 - constants of kernels are written as Triton's tutorials write them
# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, z, n, BLOCK: tl.constexpr):
    """The first tutorial: masked by the number of elements."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    tl.store(z + places, tl.load(x + places, inside) + tl.load(y + places, inside), inside)


@triton.jit
def strided(x, y, n, BLOCK: tl.constexpr):
    """An argument is the distance of neighbours."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + places, tl.load(x + places * n))


@triton.jit
def shifted(x, y, n, BLOCK: tl.constexpr):
    """An argument is where the data begins."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + places, tl.load(x + n + places))


@triton.jit
def wrapped(x, y, n, BLOCK: tl.constexpr):
    """A remainder without a hint."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + places, tl.load(x + places % n))


@triton.jit
def hinted(x, y, n, BLOCK: tl.constexpr):
    """A remainder with hints, as the tutorial on matmul has it."""
    places = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) % n
    places = tl.max_contiguous(tl.multiple_of(places, BLOCK), BLOCK)
    tl.store(y + places, tl.load(x + places))


@triton.jit
def hinted_by_4(x, y, n, BLOCK: tl.constexpr):
    """Hints of less than the whole."""
    places = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) % n
    places = tl.max_contiguous(tl.multiple_of(places, 4), 4)
    tl.store(y + places, tl.load(x + places))


@triton.jit
def quotients(x, y, n, BLOCK: tl.constexpr):
    """Quotients and remainders of constants."""
    places = tl.arange(0, BLOCK)
    tl.store(y + places, tl.load(x + (places // 4) * 8 + places % 4))
    tl.store(y + BLOCK + places, tl.load(x + places // 2))


@triton.jit
def bits(x, y, n, BLOCK: tl.constexpr):
    """Arithmetic on bits, which the analysis knows little of."""
    places = tl.arange(0, BLOCK)
    tl.store(y + (places ^ 1), tl.load(x + (places & 63)))
    tl.store(y + (places << 1), tl.load(x + (places | 1)))


@triton.jit
def chosen(x, y, n, BLOCK: tl.constexpr):
    """Addresses that a condition chooses."""
    places = tl.arange(0, BLOCK)
    near = tl.where(places < 64, places, places + n)
    far = tl.where(n > 64, places, places + 8)
    tl.store(y + places, tl.load(x + near) + tl.load(x + far))
    tl.store(y + tl.minimum(places, n), tl.load(x + tl.maximum(places, 4)))


@triton.jit
def gather(x, y, indices, n, BLOCK: tl.constexpr):
    """Addresses that are loaded."""
    places = tl.arange(0, BLOCK)
    tl.store(y + places, tl.load(x + tl.load(indices + places)))
    tl.store(y + n + places, tl.load(x + tl.load(indices) + places))


@triton.jit
def tile(x, y, row, col, M: tl.constexpr, N: tl.constexpr):
    """A tile by two strides."""
    rows, cols = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    places = rows * row + cols * col
    tl.store(y + places, tl.load(x + places))


@triton.jit
def masked_tile(x, y, row, m, n, M: tl.constexpr, N: tl.constexpr):
    """A tile masked along both dimensions."""
    rows = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    cols = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    inside = (rows < m) & (cols < n)
    tl.store(y + rows * row + cols, tl.load(x + rows * row + cols, inside, 0), inside)


@triton.jit
def masked_rows(x, y, row, m, M: tl.constexpr, N: tl.constexpr):
    """A tile masked along the slow dimension."""
    rows = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    cols = tl.arange(0, N)[None, :]
    tl.store(y + rows * row + cols, tl.load(x + rows * row + cols, rows < m), rows < m)


@triton.jit
def transposed(x, y, row, col, M: tl.constexpr, N: tl.constexpr):
    """Read row by row, written column by column."""
    rows, cols = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(y + rows + cols * col, tl.load(x + rows * row + cols))


@triton.jit
def column_major(x, y, row, col, M: tl.constexpr, N: tl.constexpr):
    """A layout that follows the rows, and memory that follows the columns."""
    rows, cols = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    values = tl.load(x + rows * row + cols)
    tl.store(y + rows + cols * col, values + tl.load(x + rows + cols * col))


@triton.jit
def broadcast_row(x, y, row, M: tl.constexpr, N: tl.constexpr):
    """A row added to each row, loaded as a whole tile and as a vector."""
    rows, cols = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    vector = tl.load(x + tl.arange(0, N))
    whole = tl.load(x + N + cols + rows * 0)
    tl.store(y + rows * row + cols, whole + vector[None, :])


@triton.jit
def row_sums(x, y, row, n, M: tl.constexpr, N: tl.constexpr):
    """A reduction: the results are repeated over lanes and warps."""
    rows, cols = tl.arange(0, M), tl.arange(0, N)
    values = tl.load(x + rows[:, None] * row + cols[None, :], cols[None, :] < n, 0)
    tl.store(y + rows, tl.sum(values.to(tl.float32), 1))


@triton.jit
def scalars(x, y, n):
    """A value of a program."""
    tl.store(y + n, tl.load(x + n) + tl.load(x + n + 1))


@triton.jit
def modified(x, y, n, BLOCK: tl.constexpr):
    """Cache modifiers, eviction policies, volatile."""
    places = tl.arange(0, BLOCK)
    one = tl.load(x + places, cache_modifier=".cg")
    two = tl.load(x + BLOCK + places, cache_modifier=".ca")
    three = tl.load(x + 2 * BLOCK + places, eviction_policy="evict_first")
    four = tl.load(x + 3 * BLOCK + places, eviction_policy="evict_last")
    five = tl.load(x + 4 * BLOCK + places, volatile=True)
    tl.store(y + places, one, cache_modifier=".cs")
    tl.store(y + BLOCK + places, two, cache_modifier=".wt")
    tl.store(y + 2 * BLOCK + places, three, eviction_policy="evict_first")
    tl.store(y + 3 * BLOCK + places, four, cache_modifier=".cg")
    tl.store(y + 4 * BLOCK + places, five)


@triton.jit
def walking(x, y, n, step, BLOCK: tl.constexpr):
    """Pointers that a loop carries on."""
    places = tl.arange(0, BLOCK)
    source, target = x + places, y + places
    for _ in range(n):
        tl.store(target, tl.load(source))
        source += step
        target += BLOCK


@triton.jit
def layer_norm(x, w, b, y, stride, n, BLOCK: tl.constexpr):
    """The tutorial's forward pass, but for the statistics that it keeps."""
    x += tl.program_id(0) * stride
    y += tl.program_id(0) * stride
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x + cols, cols < n, 0.0).to(tl.float32)
    mean = tl.sum(total, 0) / n
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        inside = cols < n
        scale, shift = tl.load(w + cols, inside), tl.load(b + cols, inside)
        value = tl.load(x + cols, inside, 0.0).to(tl.float32) - mean
        tl.store(y + cols, value * scale + shift, inside)


@triton.jit
def atomic_add(x, y, n, BLOCK: tl.constexpr):
    """Sums, the old values unused."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y + places, tl.load(x + places), places < n)


@triton.jit
def atomic_add_used(x, y, n, BLOCK: tl.constexpr):
    """Sums, the old values used."""
    places = tl.arange(0, BLOCK)
    old = tl.atomic_add(y + places, tl.load(x + places), sem="relaxed")
    tl.store(x + places, old)


@triton.jit
def atomic_max(x, y, n, BLOCK: tl.constexpr):
    """The greatest, and other operations."""
    places = tl.arange(0, BLOCK)
    value = tl.load(x + places)
    tl.atomic_max(y + places, value)
    tl.atomic_min(y + BLOCK + places, value)
    tl.atomic_xchg(y + 2 * BLOCK + places, value)


@triton.jit
def atomic_bits(x, y, n, BLOCK: tl.constexpr):
    """Bits of integers, and a comparison."""
    places = tl.arange(0, BLOCK)
    value = tl.load(x + places)
    tl.atomic_and(y + places, value)
    tl.atomic_or(y + BLOCK + places, value)
    tl.atomic_xor(y + 2 * BLOCK + places, value)
    tl.store(x + places, tl.atomic_cas(y + 3 * BLOCK + places, value, value))


@triton.jit
def matmul(a, b, c, K, row_a, row_b, row_c, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """Pipelined, the loads asynchronous where the GPU can."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    a_places = a + rows[:, None] * row_a + inner[None, :]
    b_places = b + inner[:, None] * row_b + cols[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, K, B):
        total = tl.dot(tl.load(a_places), tl.load(b_places), total)
        a_places += B
        b_places += B * row_b
    tl.store(c + rows[:, None] * row_c + cols[None, :], total.to(c.dtype.element_ty))


@triton.jit
def masked_matmul(
    a, b, c, m, n, k, row_a, row_b, row_c, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr
):
    """The inner dimension masked, the outer ones wrapped."""
    rows = (tl.program_id(0) * M + tl.arange(0, M)) % m
    cols = (tl.program_id(1) * N + tl.arange(0, N)) % n
    inner = tl.arange(0, B)
    a_places = a + rows[:, None] * row_a + inner[None, :]
    b_places = b + inner[:, None] * row_b + cols[None, :]
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, B):
        left = tl.load(a_places, inner[None, :] < k - start, 0.0)
        right = tl.load(b_places, inner[:, None] < k - start, 0.0)
        total = tl.dot(left, right, total)
        a_places += B
        b_places += B * row_b
    out_rows = tl.program_id(0) * M + tl.arange(0, M)
    out_cols = tl.program_id(1) * N + tl.arange(0, N)
    inside = (out_rows[:, None] < m) & (out_cols[None, :] < n)
    places = c + out_rows[:, None] * row_c + out_cols[None, :]
    tl.store(places, total.to(c.dtype.element_ty), inside)
