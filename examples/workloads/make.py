"""Make the dumps of this folder: six kernels with what the others lack, for five GPUs.

    TRITON_PYTHON examples/workloads/make.py

TRITON_PYTHON is the Python of an environment that holds triton==3.9.0; no GPU is needed.  The
audits of them are written by ``PYTHONPATH=tests python tests/audit/test_workloads.py``.
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
def layer_norm(x, weight, bias, out, stride, width, WIDTH: tl.constexpr):
    """Normalize a row to mean 0 and variance 1."""
    row = tl.program_id(0)
    columns = tl.arange(0, WIDTH)
    inside = columns < width
    values = tl.load(x + row * stride + columns, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, 0) / width
    apart = tl.where(inside, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(apart * apart, 0) / width + 1e-5)
    scaled = apart * scale * tl.load(weight + columns, mask=inside)
    result = scaled + tl.load(bias + columns, mask=inside)
    tl.store(out + row * stride + columns, result.to(tl.float16), mask=inside)


@triton.jit
def grouped_matmul(
    a, b, c, sizes, K, N_WHOLE, count, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr
):
    """Multiply the rows of each group by the matrix of the group."""
    columns = tl.program_id(0) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    first = 0
    for group in range(count):
        size = tl.load(sizes + group)
        for start in range(0, size, M):
            rows = first + start + tl.arange(0, M)
            total = tl.zeros((M, N), tl.float32)
            for k in range(0, K, B):
                left = tl.load(a + rows[:, None] * K + (k + inner)[None, :])
                place = (group * K + k + inner)[:, None] * N_WHOLE + columns[None, :]
                total = tl.dot(left, tl.load(b + place), total)
            mask = (rows < first + size)[:, None]
            tl.store(c + rows[:, None] * N_WHOLE + columns[None, :], total.to(tl.float16), mask)
        first += size


@triton.jit
def attention_backward(
    q, k, v, dout, weight, delta, dk, dv, length, scale, M: tl.constexpr, D: tl.constexpr
):
    """Return the derivatives of keys and values, for one block of them."""
    keys = tl.program_id(0) * M + tl.arange(0, M)
    depth = tl.arange(0, D)
    key = tl.load(k + keys[:, None] * D + depth[None, :])
    value = tl.load(v + keys[:, None] * D + depth[None, :])
    key_total = tl.zeros((M, D), tl.float32)
    value_total = tl.zeros((M, D), tl.float32)
    for start in range(0, length, M):
        rows = start + tl.arange(0, M)
        query = tl.load(q + rows[:, None] * D + depth[None, :])
        error = tl.load(dout + rows[:, None] * D + depth[None, :])
        scores = tl.dot(key, tl.trans(query)) * scale
        share = tl.exp2(scores - tl.load(weight + rows)[None, :])
        value_total = tl.dot(share.to(tl.float16), error, value_total)
        change = tl.dot(value, tl.trans(error)) - tl.load(delta + rows)[None, :]
        key_total = tl.dot((share * change).to(tl.float16), query, key_total)
    tl.store(dk + keys[:, None] * D + depth[None, :], (key_total * scale).to(tl.float16))
    tl.store(dv + keys[:, None] * D + depth[None, :], value_total.to(tl.float16))


@triton.jit
def int8_matmul(a, b, c, scales, K, stride_c, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """Return a @ b.T of 8-bit integers, scaled by column."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    total = tl.zeros((M, N), tl.int32)
    for k in range(0, K, B):
        left = tl.load(a + rows[:, None] * K + (k + inner)[None, :])
        right = tl.load(b + columns[:, None] * K + (k + inner)[None, :])
        total = tl.dot(left, tl.trans(right), total)
    result = total.to(tl.float32) * tl.load(scales + columns)[None, :]
    tl.store(c + rows[:, None] * stride_c + columns[None, :], result.to(tl.float16))


@triton.jit
def scan(x, out, stride, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """Return the running sums along the columns of a block."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)
    place = rows[:, None] * stride + columns[None, :]
    sums = tl.cumsum(tl.load(x + place).to(tl.float32), 0)
    tl.store(out + place, sums.to(tl.float16))


@triton.jit
def split_k(a, b, c, K, stride_c, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """Add the product of a part of the inner dimension to c."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.program_id(2) * B + tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B * tl.num_programs(2)):
        left = tl.load(a + rows[:, None] * K + (k + inner)[None, :])
        right = tl.load(b + (k + inner)[:, None] * stride_c + columns[None, :])
        total = tl.dot(left, right, total)
    tl.atomic_add(c + rows[:, None] * stride_c + columns[None, :], total)


KERNELS: dict[str, tuple[Any, str, dict[str, int]]] = {
    "layer_norm": (
        layer_norm,
        "x:*fp16 weight:*fp16 bias:*fp16 out:*fp16 stride:i32 width:i32",
        {"WIDTH": 2048},
    ),
    "grouped_matmul": (
        grouped_matmul,
        "a:*fp16 b:*fp16 c:*fp16 sizes:*i32 K:i32 N_WHOLE:i32 count:i32",
        {"M": 64, "N": 64, "B": 32},
    ),
    "attention_backward": (
        attention_backward,
        "q:*fp16 k:*fp16 v:*fp16 dout:*fp16 weight:*fp32 delta:*fp32 dk:*fp16 dv:*fp16 "
        "length:i32 scale:fp32",
        {"M": 64, "D": 64},
    ),
    "int8_matmul": (
        int8_matmul,
        "a:*i8 b:*i8 c:*fp16 scales:*fp32 K:i32 stride_c:i32",
        {"M": 64, "N": 64, "B": 64},
    ),
    "scan": (scan, "x:*fp16 out:*fp16 stride:i32", {"WIDTH": 64, "ROWS": 128}),
    "split_k": (
        split_k,
        "a:*fp16 b:*fp16 c:*fp32 K:i32 stride_c:i32",
        {"M": 64, "N": 64, "B": 32},
    ),
}
"""Name -> the kernel, the types of its arguments, and its constants."""

TARGETS = {
    "sm80": GPUTarget("cuda", 80, 32),
    "sm90": GPUTarget("cuda", 90, 32),
    "sm100": GPUTarget("cuda", 100, 32),
    "gfx942": GPUTarget("hip", "gfx942", 64),
    "gfx950": GPUTarget("hip", "gfx950", 64),
}


def compile_kernel(name: str, target: GPUTarget) -> str:
    """Return the IR of a kernel before it is lowered to LLVM."""
    kernel, arguments, constants = KERNELS[name]
    signature = dict(argument.split(":") for argument in arguments.split())
    aligned = {
        (index,): [["tt.divisibility", 16]]
        for index, (argument, kind) in enumerate(signature.items())
        if kind != "fp32" and argument != "count"
    }
    whole = dict.fromkeys(constants, "constexpr")
    source = ASTSource(kernel, signature | whole, constexprs=constants, attrs=aligned)
    text = triton.compile(source, target=target).asm["ttgir"]
    for folder in (FOLDER, Path(triton.__file__).parent.parent):
        text = text.replace(f"{folder}/", "")
    return str(text)


if __name__ == "__main__":
    for kernel_name in KERNELS:
        for target_name, gpu in TARGETS.items():
            path = FOLDER / f"{kernel_name}-{target_name}.ttgir"
            path.write_text(compile_kernel(kernel_name, gpu), encoding="utf-8")
