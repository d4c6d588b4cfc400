"""Variants of the kernels that access global memory: types, sizes, alignments, targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

Question = dict[str, Any]

TARGETS = ("sm80", "sm90", "sm100", "gfx942", "gfx950", "gfx1100", "gfx1250")
FLOATS = ("fp16", "bf16", "fp32")
INTEGERS = ("i8", "i16", "i32", "i64")
ELEMENTS = (*FLOATS, *INTEGERS, "fp64")


class Kernel(NamedTuple):
    """What a kernel takes.

    Attributes:
        pointers: arguments that point at elements.
        indices: arguments that point at i32.
        strides: integers that may be 1, which the language makes a constant.
        integers: arguments that are i32.
        sizes: constants -> what they may be.
        elements: types that the kernel is for.
    """

    pointers: str
    integers: str
    sizes: Mapping[str, tuple[int, ...]]
    elements: tuple[str, ...] = ELEMENTS
    indices: str = ""
    strides: str = ""


_LINE = {"BLOCK": (128, 256, 512, 1024, 2048)}
_TILE = {"M": (16, 32, 64), "N": (16, 32, 64, 128)}
_DOT = {"M": (32, 64, 128), "N": (32, 64, 128), "B": (32, 64)}

KERNELS: Mapping[str, Kernel] = {
    "vector_add": Kernel("x y z", "n", _LINE),
    "strided": Kernel("x y", "n", _LINE, strides="n"),
    "shifted": Kernel("x y", "n", _LINE),
    "wrapped": Kernel("x y", "n", _LINE),
    "hinted": Kernel("x y", "n", _LINE),
    "hinted_by_4": Kernel("x y", "n", _LINE),
    "quotients": Kernel("x y", "n", _LINE),
    "bits": Kernel("x y", "n", _LINE),
    "chosen": Kernel("x y", "n", _LINE),
    "gather": Kernel("x y", "n", _LINE, indices="indices"),
    "tile": Kernel("x y", "row col", _TILE, strides="row col"),
    "masked_tile": Kernel("x y", "row m n", _TILE, strides="row"),
    "masked_rows": Kernel("x y", "row m", _TILE, strides="row"),
    "transposed": Kernel("x y", "row col", _TILE, strides="row col"),
    "column_major": Kernel("x y", "row col", _TILE, strides="row col"),
    "broadcast_row": Kernel("x y", "row", _TILE, strides="row"),
    "row_sums": Kernel("x y", "row n", _TILE, FLOATS, strides="row"),
    "scalars": Kernel("x y", "n", {}),
    "modified": Kernel("x y", "n", _LINE),
    "walking": Kernel("x y", "n step", _LINE, strides="step"),
    "layer_norm": Kernel("x w b y", "stride n", _LINE, FLOATS),
    "atomic_add": Kernel("x y", "n", _LINE, (*FLOATS, "i32", "i64")),
    "atomic_add_used": Kernel("x y", "n", _LINE, (*FLOATS, "i32", "i64")),
    "atomic_max": Kernel("x y", "n", _LINE, ("i32", "i64")),
    "atomic_bits": Kernel("x y", "n", _LINE, ("i32", "i64")),
    "matmul": Kernel(
        "a b c", "K row_a row_b row_c", _DOT, ("fp16", "bf16"), strides="row_a row_b row_c"
    ),
    "masked_matmul": Kernel(
        "a b c", "m n k row_a row_b row_c", _DOT, ("fp16", "bf16"), strides="row_a row_b row_c"
    ),
}
"""Kernel of `access_kernels` -> what it takes."""


def variants(seed: int, count: int) -> Iterator[Question]:
    """Yield kernels with types, sizes and alignments drawn; each kernel for each target in turn."""
    r = Random(seed)
    pairs = [(name, target) for target in TARGETS for name in KERNELS]
    for index in range(count):
        if index % len(pairs) == 0:
            r.shuffle(pairs)
        yield variant(r, *pairs[index % len(pairs)])


def variant(r: Random, name: str, target: str) -> Question:
    kernel = KERNELS[name]
    element = r.choice(kernel.elements)
    constants = {size: r.choice(choices) for size, choices in kernel.sizes.items()}
    signature = dict.fromkeys(kernel.pointers.split(), f"*{element}")
    signature |= dict.fromkeys(kernel.indices.split(), "*i32")
    for argument in kernel.integers.split():
        if argument in kernel.strides.split() and r.random() < 0.15:
            constants[argument] = 1
        else:
            signature[argument] = "i32"
    likely = r.choice((0.3, 0.9))
    order = dict.fromkeys([*kernel.pointers.split(), *kernel.indices.split()])
    ordered = {a: signature[a] for a in order}
    ordered |= {a: signature.get(a, "constexpr") for a in kernel.integers.split()}
    return {
        "kernel": name,
        "target": target,
        "signature": ordered,
        "constants": constants,
        "warps": r.choice((1, 2, 4, 8)),
        "aligned": [a for a in signature if r.random() < likely],
    }
