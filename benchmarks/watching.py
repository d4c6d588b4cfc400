"""What watching costs: compiling kernels alone, and while they are collected, alternately.

    python benchmarks/watching.py --triton PYTHON

PYTHON is an interpreter with Triton 3.4 or later.  Each turn is a process with an empty cache; the
audit at the end, which is not part of compiling, is timed by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent

PROGRAM = """\
import contextlib, json, sys, time, warnings
warnings.simplefilter("ignore")
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

is_watched, size = sys.argv[1] == "watched", int(sys.argv[2])
if is_watched:
    from tt_layout.watching.session import collecting
    import tt_layout.dumps.audits
else:
    collecting = contextlib.nullcontext

@triton.jit
def multiply(a, b, c, N: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    product = tl.dot(tl.load(a + rows * N + columns), tl.load(b + rows * N + columns))
    tl.store(c + rows * N + columns, product)

started = time.perf_counter()
with collecting() as seen:
    for n in (16, 32, 64)[:size]:
        for capability in (80, 90):
            signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "N": "constexpr"}
            source = ASTSource(fn=multiply, signature=signature, constexprs={"N": n})
            triton.compile(source, target=GPUTarget("cuda", capability, 32))
compiled = time.perf_counter()
if is_watched:
    assert len(seen.report.kernels) == 2 * min(size, 3)
print(json.dumps([compiled - started, time.perf_counter() - compiled]))
"""


def run(python: str, kind: str, size: int) -> list[float]:
    """Return the seconds of compiling, and of the audit after it."""
    site = [path for path in sys.path if path.endswith("site-packages")]
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {
            "TRITON_CACHE_DIR": cache,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *site]),
        }
        # The kernel's source is read from the file that it is in.
        program = Path(cache) / "program.py"
        program.write_text(PROGRAM)
        command = [python, str(program), kind, str(size)]
        result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    return list(json.loads(result.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--triton", required=True, help="an interpreter that has Triton")
    parser.add_argument("--smoke", action="store_true", help="one small turn")
    options = parser.parse_args()
    turns, size = (1, 1) if options.smoke else (7, 3)
    ratios, audits = [], []
    for _ in range(turns):
        alone, _ = run(options.triton, "alone", size)
        watched, audit = run(options.triton, "watched", size)
        ratios.append(watched / alone)
        audits.append(audit / alone)
    print(f"compiling while watched / alone: {spread(ratios)}")
    print(f"the audit at the end / compiling: {spread(audits)}")


def spread(numbers: list[float]) -> str:
    return f"{min(numbers):.2f} to {max(numbers):.2f}, median {statistics.median(numbers):.2f}"


if __name__ == "__main__":
    main()
