"""A program that compiles three kernels; it runs in the wheel's own Python, and is watched.

Its argument is the target beside sm90: Triton 3.4 needs a linker of its own for AMD's.
"""

# mypy: ignore-errors

import sys
import warnings

warnings.simplefilter("ignore")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton import knobs  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

heard = []
knobs.compilation.listener = (lambda before: lambda **named: (heard.append(1), before(**named)))(
    knobs.compilation.listener
)


@triton.jit
def copy(x, y, s, BLOCK: tl.constexpr):  # noqa: N803
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at * s))


@triton.jit
def multiply(a, b, c, N: tl.constexpr):  # noqa: N803
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    product = tl.dot(tl.load(a + rows * N + columns), tl.load(b + rows * N + columns))
    tl.store(c + rows * N + columns, product)


def compiled(kernel, types, constants, target):
    """Compile a kernel; a second time it comes from the cache."""
    signature = {**types, **dict.fromkeys(constants, "constexpr")}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
    triton.compile(source, target=target)


SM90 = GPUTarget("cuda", 90, 32)
OTHER = GPUTarget("hip", "gfx942", 64) if sys.argv[1] == "gfx942" else GPUTarget("cuda", 80, 32)
for target in (SM90, OTHER, SM90):
    compiled(copy, {"x": "*fp16", "y": "*fp16", "s": "i32"}, {"BLOCK": 1024}, target)
compiled(multiply, {"a": "*fp16", "b": "*fp16", "c": "*fp32"}, {"N": 64}, SM90)
try:
    compiled(multiply, {"a": "*fp16", "b": "*fp16", "c": "*fp32"}, {"N": 48}, SM90)
except Exception:
    sys.stdout.write("refused\n")
sys.stdout.write(f"heard {len(heard)}\n")
