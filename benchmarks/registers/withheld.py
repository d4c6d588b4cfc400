"""Kernels that judge the estimate of registers once more: written before its latest fit."""

# ruff: noqa: N803 - constants are written as Triton's tutorials write them

from __future__ import annotations

import triton
import triton.language as tl
from families import Space
from varied import ATTENTION, BRAIN, FLAT, FLOAT, HALF, INDEX, MATMUL, ROWS, alike


@triton.jit
def hard_gate(x, gate, y, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    inside = places < count
    own = tl.load(gate + places, mask=inside).to(tl.float32)
    own = own * tl.minimum(tl.maximum(own + 3, 0.0), 6.0) / 6
    own = own * tl.load(x + places, mask=inside).to(tl.float32)
    tl.store(y + places, own.to(y.dtype.element_ty), mask=inside)


@triton.jit
def huber(x, target, loss, dx, limit, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """A loss and its gradient."""
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    inside = places < count
    own = tl.load(x + places, mask=inside).to(tl.float32) - tl.load(target + places, mask=inside)
    far = tl.abs(own)
    is_near = far <= limit
    tl.store(loss + places, tl.where(is_near, own * own / 2, limit * (far - limit / 2)), inside)
    tl.store(dx + places, tl.where(is_near, own, tl.where(own > 0, limit, -limit)), inside)


@triton.jit
def unit_rows(x, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    place, inside = rows * width + columns, columns < width
    own = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
    length = tl.sqrt(tl.sum(own * own, 1))[:, None]
    tl.store(y + place, (own / tl.maximum(length, 1e-12)).to(y.dtype.element_ty), mask=inside)


@triton.jit
def sloped_softmax(x, y, slope, scale, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """A softmax whose scores fall with the distance."""
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    place, inside = rows * width + columns, columns < width
    own = tl.load(x + place, mask=inside, other=-float("inf")).to(tl.float32) * scale
    own -= slope * tl.abs(rows - columns).to(tl.float32)
    own = tl.exp(own - tl.max(own, 1)[:, None])
    tl.store(y + place, (own / tl.sum(own, 1)[:, None]).to(y.dtype.element_ty), mask=inside)


@triton.jit
def embedded(table, places, word, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Rows of two tables added up: of a word, and of its place."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)[None, :]
    inside = columns < width
    own = tl.load(table + tl.load(word + rows)[:, None] * width + columns, mask=inside)
    own += tl.load(places + rows[:, None] * width + columns, mask=inside)
    tl.store(y + rows[:, None] * width + columns, own, mask=inside)


@triton.jit
def dropped(x, residual, keep, y, rate, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """What a mask of bytes keeps, beside a residual."""
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    inside = places < count
    kept = tl.load(keep + places, mask=inside) != 0
    own = tl.where(kept, tl.load(x + places, mask=inside).to(tl.float32) / (1 - rate), 0.0)
    own += tl.load(residual + places, mask=inside).to(tl.float32)
    tl.store(y + places, own.to(y.dtype.element_ty), mask=inside)


@triton.jit
def squared_columns(x, w, y, length, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Weighted sums of squares of columns, over blocks of rows."""
    columns = (tl.program_id(0) * WIDTH + tl.arange(0, WIDTH))[None, :]
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(0, length, ROWS):
        rows = (start + tl.arange(0, ROWS))[:, None]
        own = tl.load(x + rows * width + columns, mask=columns < width, other=0.0).to(tl.float32)
        total += own * own * tl.load(w + rows)
    tl.store(y + columns, tl.sum(total, 0)[None, :], mask=columns < width)


@triton.jit
def largest_so_far(x, y, length, width, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """The largest of each column, row by row."""
    columns = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    most = tl.full((WIDTH * ROWS,), -float("inf"), tl.float32)
    for row in range(length):
        most = tl.maximum(most, tl.load(x + row * width + columns).to(tl.float32))
        tl.store(y + row * width + columns, most.to(y.dtype.element_ty))


@triton.jit
def distances(x, centres, norms, y, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """Squared distances of rows: a product, and the lengths of both."""
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    own = tl.zeros((M,), tl.float32)
    for start in range(0, K, B):
        along = start + tl.arange(0, B)
        left = tl.load(x + rows[:, None] * stride + along[None, :])
        right = tl.load(centres + columns[:, None] * stride + along[None, :])
        total = tl.dot(left, tl.trans(right), total)
        own += tl.sum(left.to(tl.float32) * left.to(tl.float32), 1)
    far = own[:, None] + tl.load(norms + columns)[None, :] - 2 * total
    tl.store(y + rows[:, None] * stride + columns[None, :], tl.sqrt(tl.maximum(far, 0.0)))


@triton.jit
def sigmoid_attention(
    q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr
):
    """Attention whose scores need no sum: each is a sigmoid."""
    rows, depth = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + depth[None, :])
    total = tl.zeros((M, D), tl.float32)
    for start in range(0, length, N):
        columns = start + tl.arange(0, N)
        key = tl.load(k + columns[:, None] * D + depth[None, :])
        value = tl.load(v + columns[:, None] * D + depth[None, :])
        share = tl.sigmoid(tl.dot(query, tl.trans(key)) * scale)
        total = tl.dot(share.to(value.dtype), value, total)
    tl.store(out + rows[:, None] * D + depth[None, :], total.to(out.dtype.element_ty))


SPACES = (
    Space(hard_gate, alike("x gate y", count=INDEX), FLAT),
    Space(huber, alike("x", target=FLOAT, loss=FLOAT, dx=FLOAT, limit="fp32", count=INDEX), FLAT),
    Space(unit_rows, alike("x y", width=INDEX), ROWS),
    Space(sloped_softmax, alike("x y", slope="fp32", scale="fp32", width=INDEX), ROWS),
    Space(embedded, alike("table places y", word="*i32", width=INDEX), ROWS),
    Space(dropped, alike("x residual y", keep="*i8", rate="fp32", count=INDEX), FLAT),
    Space(squared_columns, alike("x", w=FLOAT, y=FLOAT, length=INDEX, width=INDEX), ROWS),
    Space(largest_so_far, alike("x y", length=INDEX, width=INDEX), FLAT),
    Space(
        distances,
        alike("x centres", (HALF, BRAIN), norms=FLOAT, y=FLOAT, K=INDEX, stride=INDEX),
        MATMUL,
        (4, 8),
    ),
    Space(
        sigmoid_attention,
        alike("q k v out", (HALF, BRAIN), length=INDEX, scale="fp32"),
        ATTENTION,
        (4, 8),
    ),
)
