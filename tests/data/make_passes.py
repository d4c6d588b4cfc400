"""Make ``matmul-sm80-passes.mlir.xz``: what Triton prints around its passes for a small kernel.

    TRITON_PYTHON tests/data/make_passes.py

TRITON_PYTHON is the Python of an environment that has triton==3.9.0; no GPU is needed.
"""

# mypy: ignore-errors
# ruff: noqa: N803 - constants of kernels are written as Triton's tutorials write them

from __future__ import annotations

import lzma
import os
import subprocess
import sys
import tempfile
from pathlib import Path

OUTPUT = Path(__file__).parent / "matmul-sm80-passes.mlir.xz"
HEADER = "// -----// IR Dump"


def compile_kernel() -> None:
    """Compile a multiplication of matrices with a loop; Triton prints its passes."""
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    @triton.jit
    def matmul(a, b, c, K, stride_b, B: tl.constexpr):
        rows, inner = tl.arange(0, B), tl.arange(0, B)
        total = tl.zeros((B, B), tl.float32)
        for start in range(0, K, B):
            left = tl.load(a + rows[:, None] * K + start + inner[None, :])
            right = tl.load(b + (start + inner[:, None]) * stride_b + rows[None, :])
            total = tl.dot(left, right, total)
        tl.store(c + rows[:, None] * stride_b + rows[None, :], total.to(tl.float16))

    kinds = {**dict.fromkeys("abc", "*fp16"), "K": "i32", "stride_b": "i32", "B": "constexpr"}
    aligned = {(at,): [["tt.divisibility", 16]] for at in range(5)}
    source = ASTSource(matmul, kinds, constexprs={"B": 32}, attrs=aligned)
    triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 1})


def main() -> None:
    """Write the dump without what other programs print."""
    if len(sys.argv) > 1:
        compile_kernel()
        return
    with tempfile.TemporaryDirectory() as folder:
        more = {
            "MLIR_ENABLE_DUMP": "1",
            "TRITON_CACHE_DIR": folder,
            "TRITON_DISABLE_LINE_INFO": "1",
        }
        command = [sys.executable, __file__, "compile"]
        done = subprocess.run(command, env=os.environ | more, capture_output=True, check=True)
    text = done.stderr.decode()
    OUTPUT.write_bytes(lzma.compress(text[text.index(HEADER) :].encode(), preset=9))


if __name__ == "__main__":
    main()
