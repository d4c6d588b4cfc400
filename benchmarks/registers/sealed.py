"""Kernels that judge the estimate of registers: written before the last fit, looked at after it."""

# ruff: noqa: N803 - constants are written as Triton's tutorials write them

from __future__ import annotations

import triton
import triton.language as tl
from families import Space
from varied import ATTENTION, BRAIN, FLAT, FLOAT, HALF, INDEX, MATMUL, ROWS, alike


@triton.jit
def elu_backward(y, dy, dx, alpha, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    inside = places < count
    own = tl.load(y + places, mask=inside).to(tl.float32)
    change = tl.load(dy + places, mask=inside).to(tl.float32)
    change = tl.where(own > 0, change, change * (own + alpha))
    tl.store(dx + places, change.to(dx.dtype.element_ty), mask=inside)


@triton.jit
def grey(x, y, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """Three colours beside one another to one."""
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    inside = places < count
    red = tl.load(x + places * 3, mask=inside).to(tl.float32)
    green = tl.load(x + places * 3 + 1, mask=inside).to(tl.float32)
    blue = tl.load(x + places * 3 + 2, mask=inside).to(tl.float32)
    total = 0.299 * red + 0.587 * green + 0.114 * blue
    tl.store(y + places, total.to(y.dtype.element_ty), mask=inside)


@triton.jit
def bilinear(x, y, height, width, factor, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """An image made smaller or larger: four neighbours of each element."""
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    down, right = rows * factor, columns * factor
    top, left = down.to(tl.int32), right.to(tl.int32)
    below, beside = tl.minimum(top + 1, height - 1), tl.minimum(left + 1, width - 1)
    first = tl.load(x + top * width + left).to(tl.float32)
    second = tl.load(x + top * width + beside).to(tl.float32)
    third = tl.load(x + below * width + left).to(tl.float32)
    fourth = tl.load(x + below * width + beside).to(tl.float32)
    along, across = right - left, down - top
    upper, lower = first + (second - first) * along, third + (fourth - third) * along
    own = upper + (lower - upper) * across
    tl.store(y + rows * WIDTH + columns, own.to(y.dtype.element_ty))


@triton.jit
def momentum(p, g, m, rate, decay, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    weight = tl.load(p + places).to(tl.float32)
    average = tl.load(m + places) * 0.9 + tl.load(g + places).to(tl.float32) + decay * weight
    tl.store(m + places, average)
    tl.store(p + places, (weight - rate * average).to(p.dtype.element_ty))


@triton.jit
def norm_to_bytes(x, w, y, s, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """A norm whose result is quantized, row by row."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)[None, :]
    place, inside = rows[:, None] * width + columns, columns < width
    own = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
    own = own * tl.rsqrt(tl.sum(own * own, 1) / width + 1e-6)[:, None]
    own = own * tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
    most = tl.max(tl.abs(own), 1) / 127.0 + 1e-8
    tl.store(s + rows, most)
    tl.store(y + place, (own / most[:, None]).to(tl.int8), mask=inside)


@triton.jit
def causal_softmax(x, y, width, scale, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    inside = (columns <= rows) & (columns < width)
    own = tl.load(x + rows * width + columns, mask=inside, other=float("-inf")).to(tl.float32)
    share = tl.exp2((own - tl.max(own, 1)[:, None]) * scale)
    share = share / tl.sum(share, 1)[:, None]
    tl.store(y + rows * width + columns, share.to(y.dtype.element_ty), mask=columns < width)


@triton.jit
def norm_gradient(x, w, dy, mean, scale, dx, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)[None, :]
    place, inside = rows[:, None] * width + columns, columns < width
    factor = tl.load(scale + rows)[:, None]
    own = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
    own = (own - tl.load(mean + rows)[:, None]) * factor
    change = tl.load(dy + place, mask=inside, other=0.0).to(tl.float32)
    change = change * tl.load(w + columns, mask=inside).to(tl.float32)
    first, second = tl.sum(own * change, 1)[:, None] / width, tl.sum(change, 1)[:, None] / width
    result = (change - own * first - second) * factor
    tl.store(dx + place, result.to(dx.dtype.element_ty), mask=inside)


@triton.jit
def least_of_rows(x, value, place, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)[None, :]
    own = tl.load(x + rows[:, None] * width + columns, mask=columns < width, other=float("inf"))
    least, at = tl.min(own.to(tl.float32), 1, return_indices=True)
    tl.store(value + rows, least)
    tl.store(place + rows, at)


@triton.jit
def _segment(a, x, b, y):
    return a | b, tl.where(b != 0, y, x + y)


@triton.jit
def segment_sums(flags, x, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Sums that begin anew at each flag."""
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    place = rows * width + tl.arange(0, WIDTH)[None, :]
    flag = tl.load(flags + place).to(tl.int32)
    _, total = tl.associative_scan((flag, tl.load(x + place).to(tl.float32)), 1, _segment)
    tl.store(y + place, total)


@triton.jit
def sparse_row(values, index, starts, x, y, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """A row of a sparse matrix times a vector."""
    row = tl.program_id(0)
    begin, end = tl.load(starts + row), tl.load(starts + row + 1)
    total = tl.zeros((WIDTH * ROWS,), tl.float32)
    for start in range(begin, end, WIDTH * ROWS):
        places = start + tl.arange(0, WIDTH * ROWS)
        inside = places < end
        at = tl.load(index + places, mask=inside, other=0)
        own = tl.load(values + places, mask=inside, other=0.0).to(tl.float32)
        total += own * tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row, tl.sum(total, 0))


@triton.jit
def norm_in_pieces(x, w, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    square = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(0, width, WIDTH):
        columns = start + tl.arange(0, WIDTH)[None, :]
        own = tl.load(x + rows * width + columns, mask=columns < width, other=0.0).to(tl.float32)
        square += own * own
    scale = tl.rsqrt(tl.sum(square, 1) / width + 1e-6)[:, None]
    for start in range(0, width, WIDTH):
        columns = start + tl.arange(0, WIDTH)[None, :]
        own = tl.load(x + rows * width + columns, mask=columns < width, other=0.0).to(tl.float32)
        weight = tl.load(w + columns, mask=columns < width, other=0.0).to(tl.float32)
        result = (own * scale * weight).to(y.dtype.element_ty)
        tl.store(y + rows * width + columns, result, mask=columns < width)


@triton.jit
def joined_heads(parts, sizes, y, count, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Parts of an attention that was split along its keys, put together."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)[None, :]
    most = tl.full((ROWS,), float("-inf"), tl.float32)
    weight = tl.zeros((ROWS,), tl.float32)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for part in range(0, count):
        size = tl.load(sizes + part * width + rows)
        own = tl.load(parts + (part * width + rows)[:, None] * WIDTH + columns).to(tl.float32)
        higher = tl.maximum(most, size)
        decay, share = tl.exp(most - higher), tl.exp(size - higher)
        total = total * decay[:, None] + own * share[:, None]
        weight = weight * decay + share
        most = higher
    result = total / weight[:, None]
    tl.store(y + rows[:, None] * WIDTH + columns, result.to(y.dtype.element_ty))


@triton.jit
def nibbles_times_vector(a, x, s, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(0, width, WIDTH):
        columns = start + tl.arange(0, WIDTH)
        word = tl.load(a + rows[:, None] * width + columns[None, :])
        low, high = (word & 15).to(tl.float32) - 8, ((word >> 4) & 15).to(tl.float32) - 8
        even = tl.load(x + 2 * columns).to(tl.float32)
        total += low * even[None, :] + high * tl.load(x + 2 * columns + 1).to(tl.float32)[None, :]
    tl.store(y + rows, tl.sum(total, 1) * tl.load(s + rows))


@triton.jit
def moving_average(x, y, rate, length, width, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    columns = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    average = tl.load(x + columns, mask=columns < width, other=0.0).to(tl.float32)
    for step in range(1, length):
        own = tl.load(x + step * width + columns, mask=columns < width, other=0.0).to(tl.float32)
        average += rate * (own - average)
        tl.store(y + step * width + columns, average, mask=columns < width)


@triton.jit
def batched_small(a, b, c, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """A product of small matrices, one for each program."""
    batch = tl.program_id(0)
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, B)
    left = tl.load(a + batch * M * B + rows[:, None] * B + inner[None, :])
    right = tl.load(b + batch * B * N + inner[:, None] * N + columns[None, :])
    total = tl.maximum(tl.dot(left, right), 0.0)
    place = c + batch * M * N + rows[:, None] * N + columns[None, :]
    tl.store(place, total.to(c.dtype.element_ty))


@triton.jit
def low_rank(x, w, down, up, y, K, n, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """A product with an adapter of rank 16 beside it."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner, rank = tl.arange(0, B), tl.arange(0, 16)
    total = tl.zeros((M, N), tl.float32)
    side = tl.zeros((M, 16), tl.float32)
    for k in range(0, K, B):
        own = tl.load(x + rows[:, None] * K + (k + inner)[None, :])
        total = tl.dot(own, tl.load(w + (k + inner)[:, None] * n + columns[None, :]), total)
        side = tl.dot(own, tl.load(down + (k + inner)[:, None] * 16 + rank[None, :]), side)
    further = tl.load(up + rank[:, None] * n + columns[None, :])
    total = tl.dot(side.to(further.dtype), further, total)
    tl.store(y + rows[:, None] * n + columns[None, :], total.to(y.dtype.element_ty))


@triton.jit
def window_attention(
    q, k, v, out, length, window, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr
):
    """Attention to the last keys alone, with capped scores."""
    begin = tl.program_id(0) * M
    rows, depth = begin + tl.arange(0, M), tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + depth[None, :], mask=rows[:, None] < length, other=0.0)
    most = tl.full((M,), float("-inf"), tl.float32)
    weight = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for start in range(tl.maximum(begin - window, 0), begin + M, N):
        columns = start + tl.arange(0, N)
        keys = tl.load(k + columns[None, :] * D + depth[:, None], mask=columns[None, :] < length)
        scores = tl.dot(query, keys) * 0.05
        scores = 50 * (1 - 2 / (1 + tl.exp(2 * scores)))
        apart = rows[:, None] - columns[None, :]
        scores = tl.where((apart >= 0) & (apart < window), scores, float("-inf"))
        higher = tl.maximum(most, tl.max(scores, 1))
        shares = tl.exp(scores - higher[:, None])
        decay = tl.exp(most - higher)
        weight = weight * decay + tl.sum(shares, 1)
        values = tl.load(v + columns[:, None] * D + depth[None, :], mask=columns[:, None] < length)
        total = tl.dot(shares.to(values.dtype), values, total * decay[:, None])
        most = higher
    result = (total / weight[:, None]).to(out.dtype.element_ty)
    tl.store(out + rows[:, None] * D + depth[None, :], result, mask=rows[:, None] < length)


@triton.jit
def block_scaled(a, b, sa, sb, c, K, n, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """A product of bytes with a scale for each block along K."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B):
        left = tl.load(a + rows[:, None] * K + (k + inner)[None, :])
        right = tl.load(b + columns[None, :] * K + (k + inner)[:, None])
        first, second = tl.load(sa + rows * (K // B) + k // B), tl.load(sb + (k // B) * n + columns)
        total += tl.dot(left, right).to(tl.float32) * first[:, None] * second[None, :]
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(c.dtype.element_ty))


@triton.jit
def rank_k_update(a, c, K, n, alpha, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """A matrix times its own transpose, added to what is there."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B):
        inside = k + inner < K
        left = tl.load(
            a + rows[:, None] * K + (k + inner)[None, :], mask=inside[None, :], other=0.0
        )
        right = tl.load(a + columns[None, :] * K + (k + inner)[:, None], mask=inside[:, None])
        total = tl.dot(left, right, total)
    place = c + rows[:, None] * n + columns[None, :]
    inside = columns[None, :] <= rows[:, None]
    own = tl.load(place, mask=inside).to(tl.float32) + alpha * total
    tl.store(place, own.to(c.dtype.element_ty), mask=inside)


@triton.jit
def key_gradient(
    q, k, v, dout, lse, dk, dv, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr
):
    """The gradients of keys and values: two sums in a loop over queries."""
    columns, depth = tl.program_id(0) * N + tl.arange(0, N), tl.arange(0, D)
    own = columns[:, None] * D + depth[None, :]
    key, value = tl.load(k + own), tl.load(v + own)
    first = tl.zeros((N, D), tl.float32)
    second = tl.zeros((N, D), tl.float32)
    for start in range(0, length, M):
        rows = start + tl.arange(0, M)
        query = tl.load(q + rows[:, None] * D + depth[None, :])
        change = tl.load(dout + rows[:, None] * D + depth[None, :])
        share = tl.exp2(tl.dot(key, tl.trans(query)) * scale - tl.load(lse + rows)[None, :])
        second = tl.dot(share.to(change.dtype), change, second)
        slope = share * tl.dot(value, tl.trans(change))
        first = tl.dot(slope.to(query.dtype), query, first)
    tl.store(dk + own, first.to(dk.dtype.element_ty))
    tl.store(dv + own, second.to(dv.dtype.element_ty))


SPACES = (
    Space(elu_backward, alike("y dy dx", alpha="fp32", count=INDEX), FLAT),
    Space(grey, alike("x y", ("*i8", HALF, FLOAT), count=INDEX), FLAT),
    Space(bilinear, alike("x y", height=INDEX, width=INDEX, factor="fp32"), ROWS),
    Space(momentum, alike("p g", m=FLOAT, rate="fp32", decay="fp32"), FLAT),
    Space(norm_to_bytes, alike("x w", y="*i8", s=FLOAT, width=INDEX), ROWS),
    Space(causal_softmax, alike("x y", width=INDEX, scale="fp32"), ROWS),
    Space(norm_gradient, alike("x w dy dx", mean=FLOAT, scale=FLOAT, width=INDEX), ROWS),
    Space(least_of_rows, alike("x", value=FLOAT, place="*i32", width=INDEX), ROWS),
    Space(segment_sums, alike("x", (HALF, FLOAT), flags="*i8", y=FLOAT, width=INDEX), ROWS),
    Space(sparse_row, alike("values x", index="*i32", starts="*i32", y=FLOAT), FLAT),
    Space(norm_in_pieces, alike("x w y", width=INDEX), ROWS),
    Space(joined_heads, alike("parts y", sizes=FLOAT, count=INDEX, width=INDEX), ROWS),
    Space(nibbles_times_vector, alike("x", a="*i8", s=FLOAT, y=FLOAT, width=INDEX), ROWS),
    Space(moving_average, alike("x", y=FLOAT, rate="fp32", length=INDEX, width=INDEX), FLAT),
    Space(batched_small, alike("a b c"), MATMUL, (2, 4, 8)),
    Space(low_rank, alike("x w down up y", (HALF, BRAIN), K=INDEX, n=INDEX), MATMUL, (4, 8)),
    Space(
        window_attention,
        alike("q k v out", (HALF, BRAIN), length=INDEX, window=INDEX),
        ATTENTION,
        (4, 8),
    ),
    Space(
        block_scaled,
        alike("a b", ("*i8", "*fp8e5"), sa=FLOAT, sb=FLOAT, c=HALF, K=INDEX, n=INDEX),
        MATMUL,
        (4, 8),
    ),
    Space(rank_k_update, alike("a c", K=INDEX, n=INDEX, alpha="fp32"), MATMUL, (4, 8)),
    Space(
        key_gradient,
        alike("q k v dout dk dv", (HALF, BRAIN), lse=FLOAT, length=INDEX, scale="fp32"),
        ATTENTION,
        (4, 8),
    ),
)
