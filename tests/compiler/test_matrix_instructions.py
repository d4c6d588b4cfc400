"""Matrix instructions, against the assembly of Triton 3.9.0."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from compiler import generate
from compiler.agreement import Comparison
from compiler.generate import split
from compiler.test_analyses import Lowerer
from compiler.wheel import Question, Wheel
from tt_layout import LayoutError, parse_layout
from tt_layout.analyses.multiplications.matrix_instructions import (
    Descriptor,
    Operand,
    matrix_descriptor,
    matrix_instruction,
)

QUESTIONS = 60


@pytest.fixture(scope="module")
def lowerer(wheel: Wheel) -> Lowerer:
    return Lowerer(wheel.python)


MMA_TYPES = [
    ("f16", "f16", "f32"),
    ("f16", "f16", "f16"),
    ("bf16", "bf16", "f32"),
    ("f32", "f32", "f32"),
    ("i8", "i8", "i32"),
    ("f64", "f64", "f64"),
    ("f8E5M2", "f8E4M3FN", "f32"),
]
MFMA_TYPES = {
    "gfx90a": ({"f16": 4, "bf16": 4, "f32": 1, "i8": 4}, 2),
    "gfx942": ({"f16": 4, "bf16": 4, "f32": 1, "i8": 8, "f8E4M3FNUZ": 8}, 3),
    "gfx950": ({"f16": 8, "bf16": 8, "f32": 1, "i8": 16, "f8E4M3FN": 8}, 4),
}
"""GPU -> K of one lane for each element, and the version of its MFMA."""


def mma_sync(r: Random) -> Question:
    target = r.choice(["sm75", "sm80", "sm89", "sm90"])
    types = r.choice(MMA_TYPES[:2] if target == "sm75" else MMA_TYPES)
    types = types if "f8" not in types[0] or target != "sm80" else MMA_TYPES[0]
    warps = split(r, 2, r.randint(0, 3))
    m, n, k = split(r, 3, r.randint(13, 16))
    minor = int(target == "sm75")
    mma = (
        f"#ttg.nvidia_mma<{{versionMajor = 2, versionMinor = {minor}, warpsPerCTA = {warps}, "
        "instrShape = [16, 8]}>"
    )
    width = {"f64": 1, "f32": 1, "i8": 4, "f8E5M2": 4}.get(types[0], 2) * r.choice([1, 1, 2])
    return question(r, mma, (m, n, k), types, (width if types[0] != "f64" else 1), target, warps)


def mfma(r: Random) -> Question:
    target = r.choice(list(MFMA_TYPES))
    bases, version = MFMA_TYPES[target]
    element = r.choice(list(bases))
    side, warps = r.choice([16, 32]), split(r, 2, r.randint(0, 3))
    k = bases[element] * 64 // side
    mma = (
        f"#ttg.amd_mfma<{{version = {version}, warpsPerCTA = {warps}, instrShape = "
        f"[{side}, {side}, {k}], isTransposed = {str(r.random() < 0.5).lower()}}}>"
    )
    types = (element, element, "i32" if element == "i8" else "f32")
    width = bases[element] * r.choice([1, 1, 2])
    return question(r, mma, split(r, 3, r.randint(13, 16)), types, width, target, warps)


def wmma(r: Random) -> Question:
    target, version, k = r.choice([("gfx1100", 1, 16), ("gfx1201", 2, 16), ("gfx1250", 3, 32)])
    element = r.choice(["f16", "bf16"])
    vectors = generate.unit_vectors(split(r, 2, r.randint(0, 3)))
    mma = (
        f"#ttg.amd_wmma<{{version = {version}, isTranspose = {str(r.random() < 0.5).lower()}, "
        f"ctaLayout = {{warp = {vectors}}}, instrShape = [16, 16, {k}]}}>"
    )
    types, width = (element, element, "f32"), {1: 16, 2: 8, 3: 8}[version]
    sizes = split(r, 3, r.randint(13, 16))
    return question(r, mma, sizes, types, width, target, [1 << len(vectors)])


def question(
    r: Random,
    mma: str,
    sizes: Any,
    types: tuple[str, str, str],
    width: int,
    target: str,
    warps: list[int],
) -> Question:
    m, n, k = (max(16, size) for size in sizes)
    attrs = [f"#ttg.dot_op<{{opIdx = {i}, parent = {mma}, kWidth = {width}}}>" for i in (0, 1)]
    shapes = [(m, k), (k, n), (m, n)]
    count = 1
    for warp in warps:
        count *= warp
    return {
        "multiply": [[*one] for one in zip([*attrs, mma], shapes, types)],
        "target": target,
        "warps": count,
        "threads": 64 if target.startswith("gfx9") else 32,
    }


def expected(asked: Question) -> dict[str, int] | LayoutError:
    operands = [
        Operand(parse_layout(attr, release="3.9"), tuple(shape), element)
        for attr, shape, element in asked["multiply"]
    ]
    try:
        found = matrix_instruction(*operands)
    except LayoutError as error:
        return error
    return {found.name: found.instructions}


@pytest.mark.parametrize("make", [mma_sync, mfma, wmma])
def test_instructions_of_dots(lowerer: Lowerer, seed: int, tally: Counter[str], make: Any) -> None:
    r = Random(seed)
    asked = [make(r) for _ in range(QUESTIONS // 3)]
    comparison = Comparison(tally)
    for one, answer in zip(asked, lowerer.ask(asked)):
        found = expected(one)
        if "operations" not in answer:
            comparison.agree("the wheel gives no code")
        elif found == answer["operations"]:
            comparison.agree(f"{one['target']}: same instructions")
        else:
            comparison.disagree(one["target"], one, f"{found}\n    {answer}")
    comparison.check()
    assert tally["the wheel gives no code"] < QUESTIONS // 10


# -- operands in shared memory ----------------------------------------------------------------

SWIZZLES = {0: 0, 3: 32, 2: 64, 1: 128}
"""How a descriptor encodes a swizzle -> its bytes."""


def shared(r: Random, bits: int, outer_dim: int) -> str:
    """Return a layout of shared memory, mostly one that a descriptor can express.

    Only matrices of 16 bits may have M or N along the rows of their core matrices.
    """
    width, is_transposed = r.choice([0, 32, 64, 128, 128]), bool(outer_dim)
    if bits == 16 and r.random() < 0.4:
        is_transposed = not is_transposed
    return (
        f"#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, "
        f"transposed = {str(is_transposed).lower()}, elementBitWidth = {bits}}}>"
    )


def in_memory(r: Random) -> Question | None:
    """Return a multiplication of matrices in shared memory, by wgmma or tcgen05."""
    elem, bits = r.choice([("f16", 16), ("f16", 16), ("f8E5M2", 8), ("f32", 32)])
    m, n, k = 64 << r.randint(0, 2), 16 << r.randint(0, 4), 16 << r.randint(0, 3)
    attrs = [shared(r, bits, outer_dim) for outer_dim in (0, 1)]
    is_hopper = bits < 32 and r.random() < 0.5
    wide = min(n, r.choice([16, 32, 64, 128, 256]))
    if is_hopper:
        warps = 4 << r.randint(0, int(m > 64))
        mma = f"instrShape = [16, {wide}, {256 // bits}]"
        result = f"warpsPerCTA = [{warps}, 1], {mma}"
        d = f"#ttg.nvidia_mma<{{versionMajor = 3, versionMinor = 0, {result}}}>"
    else:
        warps, rows = 4, r.choice([64, 128])
        d = f"#ttng.tensor_memory_encoding<blockM = {rows}, blockN = {wide}, colStride = 1>"
    try:
        for attr, shape in zip((*attrs, d), ((m, k), (k, n), (m, n))):
            parse_layout(attr).to_linear_layout(shape, element_bits=bits)
    except LayoutError:
        return None
    a, b = (
        f"!ttg.memdesc<{rows}x{columns}x{elem}, {attr}, #ttg.shared_memory>"
        for attr, (rows, columns) in zip(attrs, ((m, k), (k, n)))
    )
    memory = f"!ttg.memdesc<{m}x{n}xf32, {d}, #ttng.tensor_memory, mutable>"
    return {
        "descriptors": [a, b, f"tensor<{m}x{n}xf32, {d}>" if is_hopper else memory],
        "layouts of": [*attrs, d],
        "sizes": [m, n, k],
        "elem": elem,
        "target": "sm90" if is_hopper else "sm100",
        "warps": warps,
        "threads": 32,
    }


def instructions_in_memory(asked: Question) -> tuple[int, list[Descriptor]] | LayoutError:
    m, n, k = asked["sizes"]
    attrs = [parse_layout(attr) for attr in asked["layouts of"]]
    shapes = [(m, k), (k, n), (m, n)]
    operands = [
        Operand(attr, shape, element)
        for attr, shape, element in zip(attrs, shapes, (asked["elem"], asked["elem"], "f32"))
    ]
    try:
        found = matrix_instruction(*operands)
        tiles = [(found.shape[0], found.shape[2]), (found.shape[2], found.shape[1])]
        bits = operands[0].bits
        descriptors = [
            matrix_descriptor(attrs[i].to_linear_layout(shapes[i]), bits, tiles[i], outer_dim=i)
            for i in (0, 1)
        ]
    except LayoutError as error:
        return error
    return found.instructions, descriptors


def decoded(words: list[int]) -> tuple[int, int, int]:
    """Return swizzle, leading and stride offset of a descriptor, in bytes."""
    low, high = words[0] & 0xFFFFFFFF, words[1] & 0xFFFFFFFF
    return SWIZZLES[high >> 30], (low >> 16 & 0x3FFF) << 4, (high & 0x3FFF) << 4


def test_multiplications_in_memory(lowerer: Lowerer, seed: int, tally: Counter[str]) -> None:
    r = Random(seed)
    asked = [one for one in (in_memory(r) for _ in range(4 * QUESTIONS)) if one is not None]
    comparison = Comparison(tally)
    for one, answer in zip(asked, lowerer.ask(asked)):
        found, where = instructions_in_memory(one), one["target"]
        if isinstance(found, LayoutError) or "count" not in answer:
            is_same = isinstance(found, LayoutError) and "count" not in answer
            say = comparison.agree if is_same else comparison.disagree
            say(
                *((f"{where}: both refuse",) if is_same else (where, one, f"{found}\n    {answer}"))
            )
            continue
        own = {(d.swizzle_bytes, d.leading_bytes, d.stride_bytes) for d in found[1]}
        if (found[0], own) == (answer["count"], {decoded(words) for words in answer["words"]}):
            comparison.agree(f"{where}: same count and descriptors")
        else:
            comparison.disagree(where, one, f"{found}\n    {answer}")
    comparison.check()
    assert sum(count for said, count in tally.items() if "same" in said) > QUESTIONS
