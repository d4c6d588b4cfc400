"""Dumps to measure the audit with: one of many modules, and folders of many kernels."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
KERNELS = EXAMPLES / "kernels"
USUAL_BYTES = range(10_000, 40_000)  # of a kernel in a folder: 20 kB on average

_KERNEL = re.compile(r"(?<=tt\.func public @)\w+")
_VALUE = re.compile(r"%([A-Za-z0-9_]+)")
_CONSTANT = re.compile(r"(arith\.constant (?:dense<)?)(\d{2,4})(?=>? : (?:tensor<[^,>]*x)?i32)")
_BLOCKED = re.compile(
    r"(?<=threadsPerWarp = )\[(\d+), (\d+)\], warpsPerCTA = \[(\d+), (\d+)\](?=, order)"
)
"""Threads and warps of a layout of two dimensions."""


def write_dump(path: Path, size: int, *, are_different: bool = False) -> int:
    """Write kernels again and again; return how many.

    Args:
        path: the dump.
        size: its bytes.
        are_different: whether no two are alike, as with autotuning; otherwise they are as before
            passes that change nothing.
    """
    kernels = [kernel.read_text() for kernel in sorted(KERNELS.glob("*.ttgir"))]
    count = 0
    with path.open("w") as file:
        while file.tell() < size:
            header = f"// -----// IR Dump Before Pass{count} (pass-{count})"
            file.write(f"{header} ('builtin.module' operation) //----- //\n")
            kernel = kernels[count % len(kernels)]
            file.write((variant(kernel, count) if are_different else kernel) + "\n\n")
            count += 1
    return count


def write_tuned(path: Path, size: int, kernels: str) -> int:
    """Write configurations of kernels; return how many.

    Args:
        path: the dump.
        size: its bytes.
        kernels: what `tuned_kernels.py` prints.  Each round of it has its own names of functions,
            so that no two modules are alike.
    """
    modules = re.split(r"(?m)^(?=#blocked = )", kernels)[1:]
    count = 0
    with path.open("w") as file:
        while file.tell() < size:
            text, turn = modules[count % len(modules)], count // len(modules)
            file.write(_KERNEL.sub(rf"\g<0>_{turn}", text))
            count += 1
    return count


def write_chain(path: Path, count: int) -> None:
    """Write functions of a load and a store, neither of them wide, each of which calls the next.

    Args:
        path: the dump.
        count: functions.
    """
    ints, pointers = "tensor<128xi32, #b>", "tensor<128x!tt.ptr<f32>, #b>"
    body = f"""    %r = tt.make_range {{end = 128 : i32, start = 0 : i32}} : {ints}
    %p = tt.splat %a : !tt.ptr<f32> -> {pointers}
    %q = tt.addptr %p, %r : {pointers}, {ints}
    %v = tt.load %q : {pointers}
    tt.store %q, %v : {pointers}
"""
    layout = "sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]"
    with path.open("w") as file:
        file.write(f"#b = #ttg.blocked<{{{layout}}}>\n")
        file.write('module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {\n')
        for number in range(count):
            access = "private" if number else "public"
            file.write(f"  tt.func {access} @f{number}(%a: !tt.ptr<f32>, %n: i32) {{\n{body}")
            if number + 1 < count:
                file.write(f"    tt.call @f{number + 1}(%a, %n) : (!tt.ptr<f32>, i32) -> ()\n")
            file.write("    tt.return\n  }\n")
        file.write("}\n")


def write_folder(folder: Path, count: int) -> int:
    """Write kernels of usual size, each into a file; return the bytes of all.

    They are those of the examples, no two alike: each has its own names of values, so that hardly
    a line comes twice, and its own constants and blocked layouts, as variants of a kernel for
    other sizes have.
    """
    texts = [path.read_text() for path in sorted(EXAMPLES.glob("*/*.ttgir"))]
    kernels = [text for text in texts if len(text) in USUAL_BYTES]
    written = 0
    for number in range(count):
        text = variant(kernels[number % len(kernels)], number)
        written += (folder / f"kernel{number}.ttgir").write_text(text)
    return written


def variant(kernel: str, number: int) -> str:
    """Return a kernel with the names, constants and layouts of this number."""
    chance = random.Random(number)
    factor = chance.choice((1, 2, 3, 4, 6, 8))
    text = _VALUE.sub(rf"%\g<1>v{number}", kernel)
    text = _CONSTANT.sub(lambda found: f"{found[1]}{factor * int(found[2])}", text)
    return _BLOCKED.sub(lambda found: _split(list(map(int, found.groups())), chance), text)


def _split(sizes: Sequence[int], chance: random.Random) -> str:
    """Return as many threads and warps, spread over the two dimensions in another way."""
    products = sizes[0] * sizes[1], sizes[2] * sizes[3]
    rows = [1 << chance.randrange(product.bit_length()) for product in products]
    threads, warps = ([row, product // row] for row, product in zip(rows, products))
    return f"{threads}, warpsPerCTA = {warps}"
