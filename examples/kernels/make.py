"""Make the dumps of this folder: real kernels, compiled on the CPU for many GPUs.

    TRITON_PYTHON examples/kernels/make.py

TRITON_PYTHON is the Python of an environment that holds triton==3.9.0; no GPU is needed.
What ``tt-layout audit`` says: ``PYTHONPATH=tests python tests/audit/test_audit.py`` writes it.
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
def matmul(
    a, b, c, K, stride_a, stride_b, stride_c, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr
):
    """Return a @ b, in half precision."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, B)
    a_ptrs = a + rows[:, None] * stride_a + inner[None, :]
    b_ptrs = b + inner[:, None] * stride_b + columns[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, K, B):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += B
        b_ptrs += B * stride_b
    tl.store(c + rows[:, None] * stride_c + columns[None, :], total.to(tl.float16))


@triton.jit
def attention(q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Attend to all keys, block by block; depth is D."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    depth = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + depth[None, :])
    best = tl.full((M,), float("-inf"), tl.float32)
    weight = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, D), tl.float32)
    for start in range(0, length, N):
        keys = start + tl.arange(0, N)
        scores = tl.dot(query, tl.load(k + keys[None, :] * D + depth[:, None])) * scale
        now = tl.maximum(best, tl.max(scores, 1))
        share = tl.exp2(scores - now[:, None])
        shrink = tl.exp2(best - now)
        weight = weight * shrink + tl.sum(share, 1)
        values = tl.load(v + keys[:, None] * D + depth[None, :])
        total = tl.dot(share.to(tl.float16), values, total * shrink[:, None])
        best = now
    total = total / weight[:, None]
    tl.store(out + rows[:, None] * D + depth[None, :], total.to(tl.float16))


@triton.jit
def softmax(x, y, stride, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Return the softmax of each row."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)
    places = rows[:, None] * stride + columns[None, :]
    inside = (columns < width)[None, :]
    values = tl.load(x + places, mask=inside, other=float("-inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, 1)[:, None])
    shares = powers / tl.sum(powers, 1)[:, None]
    tl.store(y + places, shares.to(tl.float16), mask=inside)


@triton.jit
def convolution(
    x, w, y, HEIGHT, WIDTH, C: tl.constexpr, F: tl.constexpr, P: tl.constexpr, S: tl.constexpr
):
    """Convolve an image of C channels with F filters of S x S, as a sum of matmuls."""
    pixels = tl.program_id(0) * P + tl.arange(0, P)
    row, column = pixels // WIDTH, pixels % WIDTH
    channels, filters = tl.arange(0, C), tl.arange(0, F)
    total = tl.zeros((P, F), tl.float32)
    for tap in range(S * S):
        place = (row + tap // S) * (WIDTH + S - 1) + column + tap % S
        patch = tl.load(x + place[:, None] * C + channels[None, :])
        taps = tl.load(w + (tap * C + channels[:, None]) * F + filters[None, :])
        total = tl.dot(patch, taps, total)
    inside = (pixels < HEIGHT * WIDTH)[:, None]
    tl.store(y + pixels[:, None] * F + filters[None, :], total.to(tl.float16), mask=inside)


def half(*names: str) -> dict[str, str]:
    """Return the types of arguments that point at half-precision numbers."""
    return dict.fromkeys(names, "*fp16")


def ints(*names: str) -> dict[str, str]:
    """Return the types of arguments that are integers."""
    return dict.fromkeys(names, "i32")


KERNELS: dict[str, tuple[Any, dict[str, str], dict[str, int]]] = {
    "matmul": (
        matmul,
        half("a", "b", "c") | ints("K", "stride_a", "stride_b", "stride_c"),
        {"M": 128, "N": 64, "B": 32},
    ),
    "attention": (
        attention,
        half("q", "k", "v", "out") | ints("length") | {"scale": "fp32"},
        {"M": 64, "N": 64, "D": 64},
    ),
    "softmax": (softmax, half("x", "y") | ints("stride", "width"), {"ROWS": 4, "WIDTH": 1024}),
    "convolution": (
        convolution,
        half("x", "w", "y") | ints("HEIGHT", "WIDTH"),
        {"C": 32, "F": 64, "P": 64, "S": 3},
    ),
}
"""Name -> the kernel, the types of its arguments, and its constants."""

TARGETS = {
    "sm80": GPUTarget("cuda", 80, 32),
    "sm90": GPUTarget("cuda", 90, 32),
    "sm100": GPUTarget("cuda", 100, 32),
    "gfx942": GPUTarget("hip", "gfx942", 64),
    "gfx950": GPUTarget("hip", "gfx950", 64),
    "gfx1250": GPUTarget("hip", "gfx1250", 32),
}


def compile_kernel(name: str, target: GPUTarget) -> str:
    """Return the IR of a kernel before it is lowered to LLVM."""
    kernel, signature, constants = KERNELS[name]
    whole = dict.fromkeys(constants, "constexpr")
    aligned = {
        (index,): [["tt.divisibility", 16]]
        for index, kind in enumerate(signature.values())
        if kind != "fp32"
    }
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
