"""Compiles a kernel that spills, and one that does not; prints what the compilers' tools report.

It runs in the wheel's own Python.  Its argument is a folder, which gets each kernel's files.
"""

# mypy: ignore-errors

import json
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

CUOBJDUMP = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"

triton.runtime.cache.triton_key = lambda: ""  # the cache is new: hash no 0.4 GB for its names


@triton.jit
def twice(x, y, N: tl.constexpr):  # noqa: N803
    at = tl.arange(0, N)
    values = tl.load(x + at)
    tl.store(y + at, values * tl.sum(values, 0))


def reported(kernel, path):
    """Return the registers and the spilled registers that a tool reports."""
    if "cubin" in kernel.asm:
        command = [str(CUOBJDUMP), "-res-usage", str(path)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        [(used, stack)] = re.findall(r"REG:(\d+) STACK:(\d+)", text)
        return int(used), int(stack) // 4
    text = kernel.asm["amdgcn"]
    names = ("vgpr_count", "vgpr_spill_count")
    return tuple(int(re.search(rf"\.{name}: +(\d+)", text)[1]) for name in names)


found = {}
signature = {"x": "*fp32", "y": "*fp32", "N": "constexpr"}
for target, options in (
    (GPUTarget("cuda", 90, 32), {"maxnreg": 32}),
    (GPUTarget("hip", "gfx942", 64), {}),
):
    source = ASTSource(fn=twice, signature=signature, constexprs={"N": 2048})
    kernel = triton.compile(source, target=target, options={"num_warps": 1, **options})
    folder = Path(sys.argv[1]) / str(target.arch)
    files = [path for path in kernel.metadata_group.values() if "__grp__" not in str(path)]
    folder.mkdir()
    for path in files:
        shutil.copy(path, folder)
    binary = "cubin" if "cubin" in kernel.asm else "amdgcn"
    found[str(folder / "twice.ttgir")] = reported(kernel, folder / f"twice.{binary}")
sys.stdout.write(json.dumps(found))
