"""Kernels of asynchronous copies into shared memory of AMD, as text, made at random."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from compiler.exchange_kernels import SHAPES
from compiler.instruction_kernels import Kernel
from compiler.kernels import pointers, tensor
from compiler.shared_variants import BITS

WIDTHS = {"gfx942": (4,), "gfx950": (4, 16)}
"""GPU -> bytes that a lane may copy at once."""


def copied(kernel: Kernel) -> None:
    """Add a copy into swizzled shared memory, and a load of what it has copied."""
    r, body = kernel.r, kernel.body
    shape, element = tuple(r.choice(SHAPES)), r.choice(["f16", "i8", "f32"])
    vector = 8 * r.choice(WIDTHS[kernel.target]) // BITS[element]
    columns = min(64, shape[1] // vector)
    layout = (
        f"#ttg.blocked<{{sizePerThread = [1, {vector}], threadsPerWarp = "
        f"[{64 // columns}, {columns}], warpsPerCTA = [{kernel.warps}, 1], order = [1, 0]}}>"
    )
    memory = (
        f"#ttg.swizzled_shared<{{vec = {vector * r.choice([1, 1, 2])}, perPhase = "
        f"{1 << r.randint(0, 3)}, maxPhase = {1 << r.randint(0, 4)}, order = [1, 0]}}>"
    )
    place, kind = kernel.buffer(shape, element, memory)
    base, offsets = kernel.pointer(element), tensor(shape, "i32", layout)
    places = pointers(body, shape, layout, base, element)
    offset = body.lines[-1].split(",")[1].split(" : ")[0].strip()
    mask = ""
    if r.random() < 0.5:
        limit = body.add(f"tt.splat {kernel.argument('i32')} : i32 -> {offsets}")
        mask = body.add(f"arith.cmpi slt, {offset}, {limit} : {offsets}")
    attributes = f"{{contiguity = {vector} : i32}}"
    if r.random() < 0.5:
        own = tensor(shape, f"!tt.ptr<{element}>", layout)
        body.add(
            f"ttg.async_copy_global_to_local {places}, {place}{' mask ' * bool(mask)}{mask} "
            f"{attributes} : {own} -> {kind.removeprefix('!ttg.memdesc')}"
        )
    else:
        body.add(
            f"amdg.buffer_load_to_local {base}[{offset}]{' mask = ' * bool(mask)}{mask} into "
            f"{place} {attributes} : !tt.ptr<{element}>[{offsets}] -> {kind}"
        )
    found = body.add(f"ttg.local_load {place} : {kind} -> {tensor(shape, element, layout)}")
    kernel.store(found, shape, element, layout)


def copy_kernels(seed: int) -> Iterator[str]:
    """Yield kernels without end, the targets in turn."""
    r = Random(seed)
    while True:
        for target in WIDTHS:
            kernel = Kernel(r, target, 1 << r.randint(0, 2))
            for _ in range(r.randint(1, 2)):
                copied(kernel)
            yield kernel.text()
