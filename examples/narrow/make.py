"""Make the dumps of this folder: kernels of the tutorials, each with a usual mistake.

    TRITON_PYTHON examples/narrow/make.py

TRITON_PYTHON is the Python of an environment that holds triton==3.9.0; no GPU is needed.
The audits: ``PYTHONPATH=tests python tests/audit/test_narrow.py``; column_major is by hand.
"""

# ruff: noqa: N803 - constants of kernels are written as Triton's tutorials write them

from __future__ import annotations

from pathlib import Path
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

FOLDER = Path(__file__).parent


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    """The number of elements is not a multiple of 16: the mask may end anywhere."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    total = tl.load(x + places, mask=inside) + tl.load(y + places, mask=inside)
    tl.store(out + places, total, mask=inside)


@triton.jit
def softmax(x, out, stride, WIDTH: tl.constexpr):
    """The distance of the rows is not a multiple of 16: a row may begin anywhere."""
    columns = tl.arange(0, WIDTH)
    row = tl.load(x + tl.program_id(0) * stride + columns).to(tl.float32)
    power = tl.exp(row - tl.max(row, 0))
    tl.store(out + tl.program_id(0) * stride + columns, (power / tl.sum(power, 0)).to(tl.float16))


@triton.jit
def matmul(
    a, b, c, K, row_a, inner_a, row_b, row_c, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr
):
    """The inner stride of a is an argument that is not known to be 1."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    left = a + rows[:, None] * row_a + inner[None, :] * inner_a
    right = b + inner[:, None] * row_b + columns[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, K, B):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += B * inner_a
        right += B * row_b
    tl.store(c + rows[:, None] * row_c + columns[None, :], total.to(tl.float16))


@triton.jit
def grouped_matmul(
    a, b, c, m, n, K, row_a, row_b, row_c, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr
):
    """The columns of b are wrapped by % without a hint."""
    rows = (tl.program_id(0) * M + tl.arange(0, M)) % m
    columns = (tl.program_id(1) * N + tl.arange(0, N)) % n
    inner = tl.arange(0, B)
    left = a + rows[:, None] * row_a + inner[None, :]
    right = b + inner[:, None] * row_b + columns[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, K, B):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += B
        right += B * row_b
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    tl.store(c + rows[:, None] * row_c + columns[None, :], total.to(tl.float16))


@triton.jit
def layer_norm(x, weight, out, stride, n, BLOCK: tl.constexpr):
    """The length of a row masks the fast dimension, and is not a multiple of 16."""
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    row = tl.load(x + tl.program_id(0) * stride + columns, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(row, 0) / n
    centred = tl.where(inside, row - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / n + 1e-5)
    factor = tl.load(weight + columns, mask=inside)
    tl.store(out + tl.program_id(0) * stride + columns, centred * scale * factor, mask=inside)


@triton.jit
def attention(q, k, v, out, start, length, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """The queries begin at an offset that is not a multiple of 16."""
    rows, depth = tl.arange(0, M), tl.arange(0, D)
    query = tl.load(q + start + rows[:, None] * D + depth[None, :])
    best = tl.full((M,), float("-inf"), tl.float32)
    weight = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for first in range(0, length, N):
        keys = first + tl.arange(0, N)
        scores = tl.dot(query, tl.load(k + keys[None, :] * D + depth[:, None]))
        now = tl.maximum(best, tl.max(scores, 1))
        share, shrink = tl.exp2(scores - now[:, None]), tl.exp2(best - now)
        weight = weight * shrink + tl.sum(share, 1)
        values = tl.load(v + keys[:, None] * D + depth[None, :])
        total = tl.dot(share.to(tl.float16), values, total * shrink[:, None])
        best = now
    places = out + rows[:, None] * D + depth[None, :]
    tl.store(places, (total / weight[:, None]).to(tl.float16))


KERNELS: dict[str, tuple[Any, str, str, dict[str, int], str]] = {
    "vector_add": (vector_add, "x y out", "n", {"BLOCK": 1024}, "n"),
    "softmax": (softmax, "x out", "stride", {"WIDTH": 1024}, "stride"),
    "matmul": (
        matmul,
        "a b c",
        "K row_a inner_a row_b row_c",
        {"M": 64, "N": 64, "B": 32},
        "inner_a",
    ),
    "grouped_matmul": (
        grouped_matmul,
        "a b c",
        "m n K row_a row_b row_c",
        {"M": 64, "N": 64, "B": 32},
        "m n",
    ),
    "layer_norm": (layer_norm, "x weight out", "stride n", {"BLOCK": 1024}, "n"),
    "attention": (attention, "q k v out", "start length", {"M": 64, "N": 64, "D": 64}, "start"),
}
"""Name -> kernel, pointers, integers, constants, and the arguments that are no multiples of 16."""


def compile_kernel(name: str) -> str:
    """Return the IR of a kernel for sm90 before it is lowered to LLVM."""
    kernel, pointers, integers, constants, odd = KERNELS[name]
    signature = dict.fromkeys(pointers.split(), "*fp16") | dict.fromkeys(integers.split(), "i32")
    aligned = {
        (index,): [["tt.divisibility", 16]]
        for index, argument in enumerate(signature)
        if argument not in odd.split()
    }
    whole = dict.fromkeys(constants, "constexpr")
    source = ASTSource(kernel, signature | whole, constexprs=constants, attrs=aligned)
    text = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ttgir"]
    for folder in (FOLDER, Path(triton.__file__).parent.parent):
        text = text.replace(f"{folder}/", "")
    return str(text)


if __name__ == "__main__":
    for kernel_name in KERNELS:
        path = FOLDER / f"{kernel_name}.ttgir"
        path.write_text(compile_kernel(kernel_name), encoding="utf-8")
