"""Many small kernels for the estimate of registers: streams, rows, loops and products.

They were compiled to fit it; those of sealed.py were written beside them, to judge the fit once.
"""

# ruff: noqa: N803, C408 - constants are written as Triton's tutorials write them

from __future__ import annotations

import triton
import triton.language as tl
from families import Space


@triton.jit
def axpy(x, y, z, a, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    inside = places < count
    own = tl.load(x + places, mask=inside) * a + tl.load(y + places, mask=inside)
    tl.store(z + places, own, mask=inside)


@triton.jit
def copied(x, y, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    tl.store(y + places, tl.load(x + places).to(y.dtype.element_ty))


@triton.jit
def sum_of_four(a, b, c, d, y, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    inside = places < count
    total = tl.load(a + places, mask=inside).to(tl.float32)
    total += tl.load(b + places, mask=inside).to(tl.float32)
    total += tl.load(c + places, mask=inside).to(tl.float32)
    total += tl.load(d + places, mask=inside).to(tl.float32)
    tl.store(y + places, total.to(y.dtype.element_ty), mask=inside)


@triton.jit
def bias_gelu(x, bias, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)
    inside = (columns < width)[None, :]
    shift = tl.load(bias + columns, mask=columns < width).to(tl.float32)
    own = tl.load(x + rows * width + columns[None, :], mask=inside).to(tl.float32) + shift[None, :]
    own = 0.5 * own * (1 + tl.erf(own * 0.7071))
    tl.store(y + rows * width + columns[None, :], own.to(y.dtype.element_ty), mask=inside)


@triton.jit
def silu_backward(x, gate, dy, dx, dgate, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    inside = places < count
    own = tl.load(x + places, mask=inside, other=0.0).to(tl.float32)
    other = tl.load(gate + places, mask=inside, other=0.0).to(tl.float32)
    change = tl.load(dy + places, mask=inside, other=0.0).to(tl.float32)
    share = tl.sigmoid(other)
    tl.store(dx + places, (change * other * share).to(dx.dtype.element_ty), mask=inside)
    slope = share * (1 + other * (1 - share))
    tl.store(dgate + places, (change * own * slope).to(dx.dtype.element_ty), mask=inside)


@triton.jit
def polynomial(x, y, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    own = tl.load(x + places, mask=places < count).to(tl.float32)
    total = own * 0.3 + 1.7
    for power in tl.static_range(6):
        total = total * own + (power * 0.25 - 1)
    tl.store(y + places, total.to(y.dtype.element_ty), mask=places < count)


@triton.jit
def complex_product(a, b, c, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """Pairs of real and imaginary parts beside one another."""
    places = 2 * (tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS))
    inside = places < count
    first, second = tl.load(a + places, mask=inside), tl.load(a + places + 1, mask=inside)
    third, fourth = tl.load(b + places, mask=inside), tl.load(b + places + 1, mask=inside)
    tl.store(c + places, first * third - second * fourth, mask=inside)
    tl.store(c + places + 1, first * fourth + second * third, mask=inside)


@triton.jit
def strided_copy(x, y, sx, sy, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows, columns = tl.arange(0, ROWS)[:, None], tl.arange(0, WIDTH)[None, :]
    rows += tl.program_id(0) * ROWS
    tl.store(y + rows + columns * sy, tl.load(x + rows + columns * sx))


@triton.jit
def masked_fill(x, mask, y, value, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    place = rows.to(tl.int64) * width + columns
    own = tl.load(x + place, mask=columns < width)
    chosen = tl.load(mask + place, mask=columns < width)
    own = tl.where(chosen != 0, value, own.to(tl.float32))
    tl.store(y + place, own.to(y.dtype.element_ty), mask=columns < width)


@triton.jit
def outer_sum(a, b, y, stride, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, WIDTH)
    own = tl.load(a + rows)[:, None] + tl.load(b + columns)[None, :]
    tl.store(y + rows[:, None] * stride + columns[None, :], own)


@triton.jit
def hashed(x, y, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    key = tl.load(x + places, mask=places < count, other=0)
    key = (key ^ (key >> 16)) * 0x45D9F3B
    key = (key ^ (key >> 15)) * 0x2C1B3C6D
    tl.store(y + places, key ^ (key >> 12), mask=places < count)


@triton.jit
def rotary_pairs(x, cos, sin, y, stride, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """A rotary embedding of pairs that are neighbours, with a split of the loaded tensor."""
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns, half = tl.arange(0, WIDTH)[None, :], tl.arange(0, WIDTH // 2)[None, :]
    own = tl.load(x + rows * stride + columns).to(tl.float32)
    first, second = tl.split(tl.reshape(own, (ROWS, WIDTH // 2, 2)))
    along = tl.load(cos + rows * (WIDTH // 2) + half).to(tl.float32)
    across = tl.load(sin + rows * (WIDTH // 2) + half).to(tl.float32)
    turned = tl.join(first * along - second * across, second * along + first * across)
    turned = tl.reshape(turned, (ROWS, WIDTH))
    tl.store(y + rows * stride + columns, turned.to(y.dtype.element_ty))


@triton.jit
def unpacked4(x, scale, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Weights of four bits, two in a byte, to halves."""
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    word = tl.load(x + rows * width + columns)
    factor = tl.load(scale + rows * (width // 64) + columns // 64).to(tl.float32)
    low = ((word & 15).to(tl.float32) - 8) * factor
    high = (((word >> 4) & 15).to(tl.float32) - 8) * factor
    place = y + rows * width * 2 + columns * 2
    tl.store(place, low.to(y.dtype.element_ty))
    tl.store(place + 1, high.to(y.dtype.element_ty))


@triton.jit
def looked_up(table, index, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """A table of values for each element."""
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    inside = columns < width
    at = tl.load(index + rows * width + columns, mask=inside, other=0)
    tl.store(y + rows * width + columns, tl.load(table + at, mask=inside), mask=inside)


@triton.jit
def cache_write(k, v, slot, keys, values, stride, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)[None, :]
    at = tl.load(slot + rows)[:, None]
    own = rows[:, None] * WIDTH + columns
    tl.store(keys + at * stride + columns, tl.load(k + own), mask=at >= 0)
    tl.store(values + at * stride + columns, tl.load(v + own), mask=at >= 0)


@triton.jit
def max_pool(x, y, height, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    most = tl.full((ROWS, WIDTH), float("-inf"), tl.float32)
    for down in tl.static_range(3):
        for right in tl.static_range(3):
            inside = (rows + down < height) & (columns + right < width)
            place = (rows + down) * width + columns + right
            own = tl.load(x + place, mask=inside, other=float("-inf")).to(tl.float32)
            most = tl.maximum(most, own)
    tl.store(y + rows * width + columns, most.to(y.dtype.element_ty), mask=rows < height)


@triton.jit
def average_pool(x, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for tap in tl.static_range(4):
        total += tl.load(x + rows * width * 4 + columns * 4 + tap).to(tl.float32)
    tl.store(y + rows * width + columns, (total * 0.25).to(y.dtype.element_ty))


@triton.jit
def rms_norm(x, w, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    own = tl.load(x + rows * width + columns, mask=columns < width, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(own * own, 1) / width + 1e-6)[:, None]
    weight = tl.load(w + columns, mask=columns < width).to(tl.float32)
    result = (own * scale * weight).to(y.dtype.element_ty)
    tl.store(y + rows * width + columns, result, mask=columns < width)


@triton.jit
def added_norm(x, residual, w, b, y, sums, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    place, inside = rows * width + columns, columns < width
    own = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
    own += tl.load(residual + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(sums + place, own.to(sums.dtype.element_ty), mask=inside)
    mean = tl.sum(own, 1)[:, None] / width
    apart = tl.where(inside, own - mean, 0.0)
    scale = tl.rsqrt(tl.sum(apart * apart, 1)[:, None] / width + 1e-5)
    weight = tl.load(w + columns, mask=inside).to(tl.float32)
    shift = tl.load(b + columns, mask=inside).to(tl.float32)
    result = apart * scale * weight + shift
    tl.store(y + place, result.to(y.dtype.element_ty), mask=inside)


@triton.jit
def softmax_backward(y, dy, dx, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    place, inside = rows * width + columns, columns < width
    own = tl.load(y + place, mask=inside, other=0.0).to(tl.float32)
    change = tl.load(dy + place, mask=inside, other=0.0).to(tl.float32)
    total = tl.sum(own * change, 1)[:, None]
    tl.store(dx + place, (own * (change - total)).to(dx.dtype.element_ty), mask=inside)


@triton.jit
def log_softmax(x, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    inside = columns < width
    own = tl.load(x + rows * width + columns, mask=inside, other=float("-inf")).to(tl.float32)
    own -= tl.max(own, 1)[:, None]
    result = own - tl.log(tl.sum(tl.exp(own), 1))[:, None]
    tl.store(y + rows * width + columns, result.to(y.dtype.element_ty), mask=inside)


@triton.jit
def cosine(a, b, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)[None, :]
    place = rows[:, None] * width + columns
    first = tl.load(a + place, mask=columns < width, other=0.0).to(tl.float32)
    second = tl.load(b + place, mask=columns < width, other=0.0).to(tl.float32)
    size = tl.sum(first * first, 1) * tl.sum(second * second, 1)
    tl.store(y + rows, tl.sum(first * second, 1) * tl.rsqrt(size + 1e-6))


@triton.jit
def column_means(x, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows, columns = tl.arange(0, ROWS)[:, None], tl.arange(0, WIDTH)
    columns += tl.program_id(0) * WIDTH
    own = tl.load(x + rows * width + columns[None, :]).to(tl.float32)
    tl.store(y + columns, tl.sum(own, 0) / ROWS)


@triton.jit
def clipped_loss(x, target, y, limit, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    inside = places < count
    apart = tl.load(x + places, mask=inside, other=0.0).to(tl.float32)
    apart -= tl.load(target + places, mask=inside, other=0.0).to(tl.float32)
    size = tl.abs(apart)
    loss = tl.where(size < limit, 0.5 * apart * apart, limit * (size - 0.5 * limit))
    tl.store(y + tl.program_id(0), tl.sum(loss, 0))


@triton.jit
def running_sums(x, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    own = tl.load(x + rows * width + columns, mask=columns < width, other=0)
    tl.store(y + rows * width + columns, tl.cumsum(own, 1), mask=columns < width)


@triton.jit
def counted_keys(x, counts, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    places = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    key = tl.load(x + places, mask=places < count, other=0)
    tl.atomic_add(counts + (key & 255), 1, mask=places < count)


@triton.jit
def row_sums(x, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(0, width, WIDTH):
        columns = start + tl.arange(0, WIDTH)[None, :]
        total += tl.load(x + rows * width + columns, mask=columns < width, other=0.0)
    tl.store(y + tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.sum(total, 1))


@triton.jit
def weight_gradient(x, dy, dw, db, rows, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """The gradients of a norm's weights: sums over rows of a matrix."""
    columns = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    first = tl.zeros((ROWS, WIDTH), tl.float32)
    second = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(0, rows, ROWS):
        own = start + tl.arange(0, ROWS)[:, None]
        inside = (own < rows) & (columns[None, :] < width)
        place = own * width + columns[None, :]
        change = tl.load(dy + place, mask=inside, other=0.0).to(tl.float32)
        first += change * tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
        second += change
    tl.store(dw + columns, tl.sum(first, 0), mask=columns < width)
    tl.store(db + columns, tl.sum(second, 0), mask=columns < width)


@triton.jit
def variance(x, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Welford's sums, element by element of a piece, joined at the end."""
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    mean = tl.zeros((ROWS, WIDTH), tl.float32)
    square = tl.zeros((ROWS, WIDTH), tl.float32)
    seen = 0.0
    for start in range(0, width, WIDTH):
        columns = start + tl.arange(0, WIDTH)[None, :]
        own = tl.load(x + rows * width + columns).to(tl.float32)
        seen += 1
        apart = own - mean
        mean += apart / seen
        square += apart * (own - mean)
    total = tl.sum(square, 1)
    tl.store(y + tl.program_id(0) * ROWS + tl.arange(0, ROWS), total / width)


@triton.jit
def softmax_in_pieces(x, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    most = tl.full((ROWS,), float("-inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, width, WIDTH):
        columns = start + tl.arange(0, WIDTH)[None, :]
        own = tl.load(x + rows * width + columns, mask=columns < width, other=float("-inf"))
        own = own.to(tl.float32)
        higher = tl.maximum(most, tl.max(own, 1))
        total = total * tl.exp(most - higher) + tl.sum(tl.exp(own - higher[:, None]), 1)
        most = higher
    for start in range(0, width, WIDTH):
        columns = start + tl.arange(0, WIDTH)[None, :]
        own = tl.load(x + rows * width + columns, mask=columns < width).to(tl.float32)
        own = tl.exp(own - most[:, None]) / total[:, None]
        tl.store(y + rows * width + columns, own.to(y.dtype.element_ty), mask=columns < width)


@triton.jit
def bytes_times_vector(a, x, s, y, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(0, width, WIDTH):
        columns = start + tl.arange(0, WIDTH)
        own = tl.load(a + rows[:, None] * width + columns[None, :]).to(tl.float32)
        total += own * tl.load(x + columns).to(tl.float32)[None, :]
    tl.store(y + rows, tl.sum(total, 1) * tl.load(s + rows))


@triton.jit
def steps_in_time(a, x, h, length, width, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """A recurrence: one row of a matrix in each step."""
    columns = tl.program_id(0) * (WIDTH * ROWS) + tl.arange(0, WIDTH * ROWS)
    inside = columns < width
    state = tl.zeros((WIDTH * ROWS,), tl.float32)
    for step in range(0, length):
        decay = tl.load(a + step * width + columns, mask=inside, other=0.0).to(tl.float32)
        own = tl.load(x + step * width + columns, mask=inside, other=0.0).to(tl.float32)
        state = state * decay + own
        tl.store(h + step * width + columns, state.to(h.dtype.element_ty), mask=inside)


@triton.jit
def selective(x, dt, a, b, c, y, length, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """A state-space model in time: a state of ROWS channels by WIDTH."""
    rows, columns = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    state = tl.zeros((ROWS, WIDTH), tl.float32)
    rate = tl.load(a + rows[:, None] * WIDTH + columns[None, :])
    for step in range(0, length):
        delta = tl.load(dt + step * width + rows).to(tl.float32)
        own = tl.load(x + step * width + rows).to(tl.float32)
        entry = tl.load(b + step * WIDTH + columns).to(tl.float32)
        leave = tl.load(c + step * WIDTH + columns).to(tl.float32)
        state = state * tl.exp(delta[:, None] * rate) + (delta * own)[:, None] * entry[None, :]
        result = tl.sum(state * leave[None, :], 1)
        tl.store(y + step * width + rows, result.to(y.dtype.element_ty))


@triton.jit
def nearest(x, centres, place, count, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """The nearest of many centres, one after the other."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)
    own = tl.load(x + rows[:, None] * width + columns[None, :]).to(tl.float32)
    least = tl.full((ROWS,), float("inf"), tl.float32)
    chosen = tl.zeros((ROWS,), tl.int32)
    for number in range(0, count):
        centre = tl.load(centres + number * width + columns).to(tl.float32)
        apart = own - centre[None, :]
        distance = tl.sum(apart * apart, 1)
        chosen = tl.where(distance < least, number, chosen)
        least = tl.minimum(least, distance)
    tl.store(place + rows, chosen)


@triton.jit
def grid_stride(x, y, z, count, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """A persistent program that goes through a stream."""
    step = tl.num_programs(0) * (WIDTH * ROWS)
    for start in range(tl.program_id(0) * (WIDTH * ROWS), count, step):
        places = start + tl.arange(0, WIDTH * ROWS)
        inside = places < count
        own = tl.load(x + places, mask=inside).to(tl.float32)
        other = tl.load(y + places, mask=inside).to(tl.float32)
        own = tl.where(own > other, own * other, own - other)
        tl.store(z + places, own.to(z.dtype.element_ty), mask=inside)


@triton.jit
def neighbours(x, index, y, degree, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """The mean of a graph's neighbours."""
    node = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)[None, :]
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for edge in range(0, degree):
        other = tl.load(index + node * degree + edge)[:, None]
        total += tl.load(x + other * width + columns, mask=columns < width, other=0.0)
    tl.store(y + node[:, None] * width + columns, total / degree, mask=columns < width)


@triton.jit
def dot_once(a, b, c, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, B)
    left = tl.load(a + rows[:, None] * stride + inner[None, :])
    right = tl.load(b + inner[:, None] * stride + columns[None, :])
    total = tl.dot(left, right)
    place = c + rows[:, None] * stride + columns[None, :]
    tl.store(place, total.to(c.dtype.element_ty))


@triton.jit
def bias_product(a, b, bias, c, m, n, K, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B):
        left = tl.load(a + rows[:, None] * K + (k + inner)[None, :], mask=rows[:, None] < m)
        place = columns[None, :] * K + (k + inner)[:, None]
        total += tl.dot(left, tl.load(b + place, mask=columns[None, :] < n))
    total += tl.load(bias + columns, mask=columns < n)[None, :]
    total = total * tl.sigmoid(1.702 * total)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    place = c + rows[:, None] * n + columns[None, :]
    tl.store(place, total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def transposed_product(a, b, c, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    left = a + inner[:, None] * stride + rows[None, :]
    right = b + inner[:, None] * stride + columns[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, K, B):
        total = tl.dot(tl.trans(tl.load(left)), tl.load(right), total)
        left += B * stride
        right += B * stride
    place = c + rows[:, None] * stride + columns[None, :]
    tl.store(place, total.to(c.dtype.element_ty))


@triton.jit
def biased_attention(
    q, k, v, bias, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr
):
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
        scores += tl.load(bias + rows[:, None] * length + columns[None, :]).to(tl.float32)
        higher = tl.maximum(most, tl.max(scores, 1))
        shares = tl.exp2(scores - higher[:, None])
        decay = tl.exp2(most - higher)
        weight = weight * decay + tl.sum(shares, 1)
        values = tl.load(v + columns[:, None] * D + depth[None, :])
        total = tl.dot(shares.to(values.dtype), values, total * decay[:, None])
        most = higher
    result = total / weight[:, None]
    tl.store(out + rows[:, None] * D + depth[None, :], result.to(out.dtype.element_ty))


@triton.jit
def experts(a, b, order, c, K, stride, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """A product of rows that a list names."""
    tokens = tl.load(order + tl.program_id(0) * M + tl.arange(0, M))
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B):
        inside = k + inner < K
        left = tl.load(a + tokens[:, None] * stride + (k + inner)[None, :], mask=inside[None, :])
        right = tl.load(b + (k + inner)[:, None] * stride + columns[None, :], mask=inside[:, None])
        total = tl.dot(left, right, total)
    place = c + tokens[:, None] * stride + columns[None, :]
    tl.store(place, total.to(c.dtype.element_ty), mask=tokens[:, None] >= 0)


@triton.jit
def described_product(a, b, c, m, n, K, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """A product of tiles that descriptors name."""
    left = tl.make_tensor_descriptor(a, [m, K], [K, 1], [M, B])
    right = tl.make_tensor_descriptor(b, [n, K], [K, 1], [N, B])
    result = tl.make_tensor_descriptor(c, [m, n], [n, 1], [M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B):
        total = tl.dot(left.load([row, k]), right.load([column, k]).T, total)
    result.store([row, column], total.to(c.dtype.element_ty))


HALF, FLOAT, BRAIN, INDEX, LONG = "*fp16", "*fp32", "*bf16", "i32", "*i64"
FLAT = dict(WIDTH=(128, 256, 512, 1024, 2048, 4096), ROWS=(1, 2))
ROWS = dict(ROWS=(1, 2, 4, 8, 16, 32), WIDTH=(64, 128, 256, 512, 1024, 2048))
TILES = dict(ROWS=(8, 16, 32, 64), WIDTH=(16, 32, 64, 128))
MATMUL = dict(M=(16, 32, 64, 128, 256), N=(32, 64, 128, 256), B=(16, 32, 64, 128))
ATTENTION = dict(M=(16, 32, 64, 128), N=(16, 32, 64, 128), D=(32, 64, 128, 256))


def alike(
    names: str, types: tuple[str, ...] = (HALF, FLOAT, BRAIN), **others: str
) -> list[dict[str, str]]:
    """Return the types of arguments that have one type, which varies, beside others."""
    return [dict.fromkeys(names.split(), own) | others for own in types]


SPACES = (
    Space(axpy, alike("x y z", a="fp32", count=INDEX), FLAT),
    Space(copied, [*alike("x y"), dict(x=FLOAT, y=HALF), dict(x="*fp8e5", y=FLOAT)], FLAT),
    Space(sum_of_four, alike("a b c d y", count=INDEX), FLAT),
    Space(bias_gelu, alike("x bias y", width=INDEX), ROWS),
    Space(silu_backward, alike("x gate dy dx dgate", count=INDEX), FLAT),
    Space(polynomial, alike("x y", count=INDEX), FLAT),
    Space(complex_product, alike("a b c", (FLOAT,), count=INDEX), FLAT),
    Space(strided_copy, alike("x y", sx=INDEX, sy=INDEX), TILES),
    Space(masked_fill, alike("x y", mask="*i8", value="fp32", width=INDEX), ROWS),
    Space(outer_sum, alike("a b y", stride=INDEX), TILES),
    Space(hashed, alike("x y", ("*i32", LONG), count=INDEX), FLAT),
    Space(rotary_pairs, alike("x cos sin y", stride=INDEX), ROWS),
    Space(unpacked4, alike("scale y", x="*i8", width=INDEX), ROWS),
    Space(looked_up, alike("table y", index="*i32", width=INDEX), ROWS),
    Space(cache_write, alike("k v keys values", slot=LONG, stride=INDEX), ROWS),
    Space(max_pool, alike("x y", height=INDEX, width=INDEX), ROWS),
    Space(average_pool, alike("x y", width=INDEX), ROWS),
    Space(rms_norm, alike("x w y", width=INDEX), ROWS),
    Space(added_norm, alike("x residual w b y sums", width=INDEX), ROWS),
    Space(softmax_backward, alike("y dy dx", width=INDEX), ROWS),
    Space(log_softmax, alike("x y", width=INDEX), ROWS),
    Space(cosine, alike("a b", y=FLOAT, width=INDEX), ROWS),
    Space(column_means, alike("x", y=FLOAT, width=INDEX), ROWS),
    Space(clipped_loss, alike("x target", y=FLOAT, limit="fp32", count=INDEX), FLAT),
    Space(running_sums, alike("x y", (FLOAT, "*i32"), width=INDEX), ROWS),
    Space(counted_keys, [dict(x="*i32", counts="*i32", count=INDEX)], FLAT),
    Space(row_sums, alike("x", y=FLOAT, width=INDEX), ROWS),
    Space(weight_gradient, alike("x dy", dw=FLOAT, db=FLOAT, rows=INDEX, width=INDEX), ROWS),
    Space(variance, alike("x", y=FLOAT, width=INDEX), ROWS),
    Space(softmax_in_pieces, alike("x y", width=INDEX), ROWS),
    Space(bytes_times_vector, alike("x", a="*i8", s=FLOAT, y=FLOAT, width=INDEX), ROWS),
    Space(steps_in_time, alike("a x h", length=INDEX, width=INDEX), FLAT),
    Space(selective, alike("x dt b c y", a=FLOAT, length=INDEX, width=INDEX), TILES),
    Space(nearest, alike("x centres", place="*i32", count=INDEX, width=INDEX), ROWS),
    Space(grid_stride, alike("x y z", count=INDEX), FLAT),
    Space(neighbours, alike("x", index="*i32", y=FLOAT, degree=INDEX, width=INDEX), ROWS),
    Space(dot_once, alike("a b c", stride=INDEX), MATMUL, (2, 4, 8)),
    Space(bias_product, alike("a b c", bias=FLOAT, m=INDEX, n=INDEX, K=INDEX), MATMUL, (4, 8)),
    Space(transposed_product, alike("a b c", K=INDEX, stride=INDEX), MATMUL, (4, 8)),
    Space(
        biased_attention,
        alike("q k v bias out", (HALF, BRAIN), length=INDEX, scale="fp32"),
        ATTENTION,
        (4, 8),
    ),
    Space(
        experts, alike("a b c", (HALF, BRAIN), order="*i32", K=INDEX, stride=INDEX), MATMUL, (4, 8)
    ),
    Space(
        described_product, alike("a b c", (HALF, BRAIN), m=INDEX, n=INDEX, K=INDEX), MATMUL, (4, 8)
    ),
)
