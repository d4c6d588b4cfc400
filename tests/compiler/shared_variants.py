"""Random accesses to shared memory: registers, buffers and parts of buffers, by target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from compiler import generate
from compiler.generate import power, shuffled, split, unit_vectors
from tt_layout import LayoutError, parse_layout

Question = dict[str, Any]

BITS = {"i8": 8, "f16": 16, "f32": 32, "i64": 64}
NVIDIA = ("sm80", "sm90", "sm100")
AMD = ("gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")
TARGETS = (*NVIDIA, *AMD)

MFMA = {
    "gfx942": (3, {"i8": [32, 16], "f16": [16, 8], "f32": [4, 2]}),
    "gfx950": (4, {"i8": [64, 32], "f16": [32, 16], "f32": [4, 2]}),
}
"""Target -> version, and K of the instructions with 16 and with 32 rows, by element."""

WMMA = {
    "gfx1100": (1, {"i8": 16, "f16": 16}),
    "gfx1201": (2, {"i8": 16, "f16": 16}),
    "gfx1250": (3, {"i8": 64, "f16": 32, "f32": 4}),
}


def blocked(r: Random, element: str, target: str, warps: list[int]) -> str:
    lanes = 6 if target.startswith("gfx9") else 5
    return str(
        generate.Attr(
            "ttg.blocked",
            (
                ("sizePerThread", split(r, 2, r.choice([0, 1, 2, 3, 3, 4]))),
                ("threadsPerWarp", split(r, 2, lanes)),
                ("warpsPerCTA", warps),
                ("order", shuffled(r, range(2))),
            ),
        )
    )


def matrix(r: Random, element: str, target: str, warps: list[int]) -> str:
    """Return the layout of an operand or a result of the target's matrix instruction."""
    if target in MFMA:
        version, depths = MFMA[target]
        side = r.choice([0, 1])
        k = depths.get(element, [4, 2])[side]
        rows = [16, 32][side]
        transposed = str(r.random() < 0.5).lower()
        parent = (
            f"#ttg.amd_mfma<{{version = {version}, warpsPerCTA = {warps}, instrShape = "
            f"[{rows}, {rows}, {k}], isTransposed = {transposed}}}>"
        )
        width = max(1, k * rows // 64)
    elif target in WMMA:
        version, depth = WMMA[target]
        k = depth.get(element, 16)
        parent = (
            f"#ttg.amd_wmma<{{version = {version}, isTranspose = "
            f"{str(r.random() < 0.5).lower()}, ctaLayout = {{warp = {unit_vectors(warps)}}}, "
            f"instrShape = [16, 16, {k}]}}>"
        )
        width = {1: 16, 2: 8, 3: {"f32": 2, "i8": 16}.get(element, 8)}[version]
    else:
        parent = (
            f"#ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = {warps}, "
            "instrShape = [16, 8]}>"
        )
        width = max(1, 32 // BITS[element])
    if r.random() < 0.25:
        return parent
    width = max(1, width * r.choice([1, 1, 1, 2]))
    return f"#ttg.dot_op<{{opIdx = {r.randint(0, 1)}, parent = {parent}, kWidth = {width}}}>"


def linear(r: Random, element: str, target: str, warps: list[int]) -> str:
    """Return a permutation of the bits of a tensor of 4,096 elements."""
    vectors = shuffled(r, unit_vectors([64, 64]))
    count = 6 if target.startswith("gfx9") else 5
    own = (warps[0] * warps[1]).bit_length() - 1
    parts = {
        "register": vectors[count + own :],
        "lane": vectors[:count],
        "warp": vectors[count : count + own],
        "block": [],
    }
    inner = ", ".join(f"{name} = {value}" for name, value in parts.items())
    return f"#ttg.linear<{{{inner}}}>"


def swizzled(r: Random, shape: Sequence[int], element: str) -> str:
    vec = r.choice([1, 4, 8, 8, 16])
    per, most = r.choice([(1, 8), (1, 1), (2, 8), (2, 4), (1, 16), (4, 4)])
    order = r.choice([[1, 0], [1, 0], [0, 1]])
    return (
        f"#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per}, maxPhase = {most}, "
        f"order = {order}}}>"
    )


def nvmma(r: Random, shape: Sequence[int], element: str) -> str:
    return (
        f"#ttg.nvmma_shared<{{swizzlingByteWidth = {r.choice([0, 32, 64, 128])}, "
        f"transposed = {str(r.random() < 0.5).lower()}, elementBitWidth = {BITS[element]}}}>"
    )


def shared_linear(r: Random, shape: Sequence[int], element: str) -> str:
    vectors = unit_vectors(shape)
    for at in range(4, len(vectors)):
        if r.random() < 0.4:
            other = r.choice(vectors[:at])
            vectors[at] = [a ^ b for a, b in zip(vectors[at], other)]
    return f"#ttg.shared_linear<{{offset = {vectors}}}, alignment = 128>"


def padded(r: Random, shape: Sequence[int], element: str) -> str:
    pair = f"{power(r, 3, 9)}:+{power(r, 0, 4)}"
    order = r.choice([[1, 0], [1, 0], [0, 1]])
    return f"#ttg.padded_shared<[{pair}] {{order = {order}, shape = {list(shape)}}}>"


REGISTERS = (blocked, blocked, blocked, matrix, matrix, matrix, matrix, linear)
BUFFERS: dict[str, Sequence[Callable[..., str]]] = {
    "sm": (swizzled, swizzled, nvmma, nvmma, nvmma, shared_linear),
    "gf": (swizzled, swizzled, swizzled, swizzled, swizzled, shared_linear),
}


def variant(r: Random, target: str, *, is_padded: bool) -> Question | None:
    """Return a store to shared memory and a load from it; None where layouts do not fit."""
    element = r.choice(["f16", "f16", "f16", "i8", "i8", "f32", "i64"])
    shape = r.choice([[64, 64], [32, 64], [64, 32], [128, 32], [32, 128], [16, 64]])
    warps = split(r, 2, r.randint(0, 2))
    stored, loaded = (r.choice(REGISTERS) for _ in range(2))
    if linear in (stored, loaded):
        shape = [64, 64]
    whole, at = shape, [0, 0]
    if r.random() < 0.2:
        whole = [size * power(r, 0, 1) for size in shape]
        at = [r.randrange(0, w, s) for w, s in zip(whole, shape)]
    make = padded if is_padded else r.choice(BUFFERS[target[:2]])
    memory = make(r, whole, element)
    registers = [make_one(r, element, target, warps) for make_one in (stored, loaded)]
    try:
        linear_layouts = [
            parse_layout(attr).to_linear_layout(size, element_bits=BITS[element])
            for attr, size in zip((*registers, memory), (shape, shape, whole))
        ]
    except LayoutError:
        return None
    count = warps[0] * warps[1]
    if any(layout.get_in_dim_size("warp") != count for layout in linear_layouts[:2]):
        return None
    return {
        "through": [*registers, memory],
        "shape": shape,
        "element": element,
        "target": target,
        "warps": count,
        "threads": 64 if target.startswith("gfx9") else 32,
        **({"whole": whole, "at": at} if whole != shape else {}),
    }


def variants(seed: int, count: int, *, is_padded: bool = False) -> list[Question]:
    """Return accesses drawn at random, the targets in turn."""
    r = Random(seed)
    found: list[Question] = []
    while len(found) < count:
        question = variant(r, TARGETS[len(found) % len(TARGETS)], is_padded=is_padded)
        if question is not None:
            found.append(question)
    return found
