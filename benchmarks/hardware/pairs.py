"""Store and load tensors through shared memory with Gluon, for a profiler to count.

usage: pairs.py PAIRS RESULTS                  (under ncu, see README.md)

A line of PAIRS is JSON with register, shared, shape and elem (i8, f16, f32, i64).  Each pair
is one launch of `move`, in order: 17 stores and 16 loads of the tensor by 4 warps.  A line of
RESULTS is the pair with its shared-memory operations in PTX, or with the error that kept it
from being launched.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

TYPES = {"i8": torch.int8, "f16": torch.float16, "f32": torch.float32, "i64": torch.int64}


@gluon.jit
def move(
    source, target, register: gl.constexpr, shared: gl.constexpr, m: gl.constexpr, n: gl.constexpr
):
    i = gl.arange(0, m, gl.SliceLayout(1, register))
    j = gl.arange(0, n, gl.SliceLayout(0, register))
    offsets = i[:, None] * n + j[None, :]
    x = gl.load(source + offsets)
    memory = gl.allocate_shared_memory(x.dtype, [m, n], shared)
    memory.store(x)
    for _ in range(16):
        x = memory.load(register)
        memory.store(x)  # last, so that no load is left to the lanes whose result is kept
    gl.store(target + offsets, x)


def value(text: str, key: str) -> object:
    """Return the JSON value of a key of an attribute, an empty list where it is missing."""
    match = re.search(rf"\b{key} = (\[\[.*?\]\]|\[.*?\]|\w+)", text)
    return json.loads(match[1]) if match else []


def layout(text: str, shape: list[int]) -> object:
    """Return the Gluon layout of an attribute text."""

    def get(*keys: str) -> list[object]:
        return [value(text, key) for key in keys]

    if "blocked" in text:
        return gl.BlockedLayout(*get("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order"))
    if "swizzled_shared" in text:
        return gl.SwizzledSharedLayout(*get("vec", "perPhase", "maxPhase", "order"))
    if "nvmma_shared" in text:
        width, bits, transposed = get("swizzlingByteWidth", "elementBitWidth", "transposed")
        return gl.NVMMASharedLayout(width, bits, 2, transposed)
    if "padded_shared" in text:
        pairs = [[int(a), int(b)] for a, b in re.findall(r"(\d+):\+(\d+)", text)]
        return gl.PaddedSharedLayout.with_identity_for(pairs, shape, value(text, "order"))
    if "shared_linear" in text:
        return gl.SharedLinearLayout(value(text, "offset"))
    return gl.DistributedLinearLayout(*get("register", "lane", "warp", "block"), shape)


def run(pair: dict[str, object]) -> dict[str, int]:
    """Launch one pair, check that the tensor comes through, count the operations in PTX."""
    shape, dtype = pair["shape"], TYPES[pair["elem"]]
    source = torch.arange(shape[0] * shape[1], device="cuda").to(dtype).reshape(shape)
    target = torch.zeros_like(source)
    kernel = move[(1,)](
        source, target, layout(pair["register"], shape), layout(pair["shared"], shape), *shape
    )
    torch.cuda.synchronize()
    assert torch.equal(source, target), "the tensor did not come through"
    pattern = r"\b((?:st|ld)\.shared[\w.:]*|(?:ld|st)matrix[\w.]*)"
    return dict(Counter(re.findall(pattern, kernel.asm["ptx"])))


def main(pairs: str, results: str) -> None:
    with open(pairs) as lines, open(results, "w") as file:
        for line in lines:
            pair = json.loads(line)
            try:
                pair["ptx_ops"] = run(pair)
            except Exception as error:
                pair["error"] = f"{type(error).__name__}: {error}"[:200]
            file.write(json.dumps(pair) + "\n")
            file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
