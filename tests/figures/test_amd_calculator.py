"""AMD's matrix layouts, and the figures of them, against AMD's own matrix instruction calculator.

Runs with ``--amd-calculator DIR``, a copy of github.com/ROCm/amd_matrix_instruction_calculator.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tt_layout import LinearLayout, parse_layout
from tt_layout.figures.drawing import draw
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.figures.model import Grid
from tt_layout.mlir.types import parse_type
from tt_layout.placement import place

BITS = {"fp64": 64, "fp32": 32, "xf32": 32, "fp16": 16, "bf16": 16, "int32": 32, "iu4": 4}
"""Type of an element -> its bits; all others have 8."""

VERSIONS = {"cdna1": 1, "cdna2": 2, "cdna3": 3, "rdna3": 1, "rdna4": 2}
CLASSES = {"c": "InstCalcGfx9", "rdna3": "InstCalcGfx11", "rdna4": "InstCalcGfx12"}
Held = frozenset[tuple[int, int, int, int]]
"""Register, lane, and the two coordinates of the element that is there."""


@pytest.fixture(scope="module")
def calculator(request: pytest.FixtureRequest) -> ModuleType:
    path = Path(request.config.getoption("--amd-calculator"), "matrix_calculator.py")
    if importlib.util.find_spec("tabulate") is None:
        stub = ModuleType("tabulate")  # which draws the tables that nobody asks for here
        stub.__dict__["tabulate"] = None
        sys.modules["tabulate"] = stub
    spec = importlib.util.spec_from_file_location("matrix_calculator", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def dense(calculator: ModuleType) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield GPU, name and description of each instruction that multiplies dense matrices."""
    for gpu, instructions in calculator.dict_insts.items():
        for name, found in instructions.items():
            if not found["sparse"]:
                yield gpu, name, found


def slot(text: str, bits: int) -> int:
    """Return the number of an element among those of a lane, from a name such as v1.[31:16]."""
    match = re.fullmatch(r"v(?:\[\d+:(\d+)\]|(\d+)(?:\.\[\d+:(\d+)\])?)", text)
    assert match is not None, text
    if match.group(1) is not None:
        return int(match.group(1)) // 2
    return int(match.group(2)) * (32 // bits) + int(match.group(3) or 0) // bits


def said(calculator: ModuleType, gpu: str, name: str, found: dict[str, Any], matrix: str) -> Held:
    """Return where the calculator says that the elements of a matrix are.

    Several products stand side by side, those of A along K.  On RDNA3 a result of 16 bits has a
    register of its own.
    """
    kind = CLASSES.get(gpu, CLASSES["c"])
    asked = getattr(calculator, kind)(name, found, 64 if gpu.startswith("c") else 32)
    types = {"a": "in_type", "b": "in_type_src1", "d": "out_type"}
    bits = BITS.get(found[types[matrix]], 8)
    m, n, k = (found[size] for size in "mnk")
    sizes = {"a": (m, k), "b": (k, n), "d": (m, n)}[matrix]
    held = set()
    for (x, y), block in product(product(*map(range, sizes)), range(found["blocks"])):
        i, j, deep = {"a": (x, 0, y), "b": (0, y, x), "d": (x, y, 0)}[matrix]
        _, register, lanes = asked._get_reg_lanes(matrix, i, j, deep, block, 0, 0, 0, 0)
        at = slot(register, bits if matrix != "d" or gpu != "rdna3" else 32)
        beside = block * (k if matrix == "a" else n)
        held |= {(at, lane, x, y + beside) for lane in lanes}
    return frozenset(held)


def ours(layout: LinearLayout) -> Held:
    """Return where a layout has the elements of a matrix, of the first warp."""
    names = [name for name in layout.get_in_dim_names() if name in ("register", "lane")]
    sizes = [layout.get_in_dim_size(name) for name in names]
    found = set()
    for register, lane in product(*map(range, sizes)):
        at = layout.apply({"register": register, "lane": lane, "warp": 0, "block": 0})
        found.add((register, lane, at["dim0"], at["dim1"]))
    return frozenset(found)


def encoding(gpu: str, found: dict[str, Any], *, is_transposed: bool) -> str:
    """Return the attribute of the result."""
    m, n, k = (found[size] for size in "mnk")
    wide = ", elementBitWidth = 64" * (found["out_type"] == "fp64")
    flag = str(is_transposed).lower()
    if gpu.startswith("c"):
        rows, columns = (m, n) if found["blocks"] == 1 else (64, 4) if is_transposed else (4, 64)
        return (
            f"#ttg.amd_mfma<{{version = {VERSIONS[gpu]}, warpsPerCTA = [1, 1], instrShape = "
            f"[{rows}, {columns}, {k * found['blocks']}], isTransposed = {flag}{wide}}}>"
        )
    return (
        f"#ttg.amd_wmma<{{version = {VERSIONS[gpu]}, isTranspose = {flag}, ctaLayout = {{}}, "
        f"instrShape = [16, 16, {k}]}}>"
    )


def swapped(held: Held) -> Held:
    return frozenset((register, lane, y, x) for register, lane, x, y in held)


def is_known(gpu: str, found: dict[str, Any]) -> bool:
    """Tell whether Triton has a layout for the instruction: one tile, or sixteen of 4 x 4."""
    return found["blocks"] == 1 or (found["blocks"], found["m"]) == (16, 4)


def test_results(calculator: ModuleType, tally: Counter[str]) -> None:
    for gpu, name, found in dense(calculator):
        if not is_known(gpu, found):
            tally["no layout in Triton: several tiles of 16 or 32"] += 1
            continue
        theirs = said(calculator, gpu, name, found, "d")
        for is_transposed in (False, True):
            # Transposed means that A and B change places.
            expected = swapped(theirs) if is_transposed else theirs
            attr = encoding(gpu, found, is_transposed=is_transposed)
            shape = [1 + max(at[2] for at in expected), 1 + max(at[3] for at in expected)]
            if ours(parse_layout(attr).to_linear_layout(shape)) != expected:
                tally[f"OTHER {gpu} {name} {is_transposed}"] += 1
            else:
                tally[f"same result on {gpu}"] += 1
    assert not [one for one in tally if one.startswith("OTHER")]


def k_width(found: dict[str, Any], held: Held) -> int:
    """Return how many elements of a row of A a lane has."""
    return len({at[0] for at in held})


def test_operands(calculator: ModuleType, tally: Counter[str]) -> None:
    for gpu, name, found in dense(calculator):
        if found["blocks"] > 1:
            continue
        parent = encoding(gpu, found, is_transposed=False)
        theirs = [said(calculator, gpu, name, found, matrix) for matrix in "ab"]
        shapes = (found["m"], found["k"]), (found["k"], found["n"])
        mine = []
        for index, held in enumerate(theirs):
            width = k_width(found, held)
            attr = f"#ttg.dot_op<{{opIdx = {index}, parent = {parent}, kWidth = {width}}}>"
            mine.append(ours(parse_layout(attr).to_linear_layout(shapes[index])))
        if mine == theirs:
            tally[f"same operands on {gpu}"] += 1
        elif order(mine[0], theirs[0], 3) == order(mine[1], theirs[1], 2) is not None:
            tally[f"{gpu}: another order of K, the same in A and B ({name})"] += 1
        else:
            tally[f"OTHER {gpu} {name}"] += 1
    assert not [one for one in tally if one.startswith("OTHER")]


def order(mine: Held, theirs: Held, along: int) -> dict[int, int] | None:
    """Return how K of one is to be renumbered to give that of the other; None if no way is."""
    at = {held[:2]: held for held in theirs}
    found: dict[int, int] = {}
    for held in mine:
        other = at.get(held[:2])
        if other is None or found.setdefault(held[along], other[along]) != other[along]:
            return None
        if held[5 - along] != other[5 - along]:
            return None
    return found


# -- figures --------------------------------------------------------------------------------

ELEMENTS = {"fp64": "f64", "fp32": "f32", "xf32": "f32", "fp16": "f16", "bf16": "bf16",
            "int32": "i32", "fp8": "f8E4M3FN", "bf8": "f8E5M2"}  # fmt: skip
"""Type of an element -> how a tensor type spells it; the others are integers such as ``iu8``."""


def element(name: str) -> str:
    return ELEMENTS.get(name) or f"i{BITS.get(name, 8)}"


def shown(grid: Grid) -> Held:
    """Return where a matrix of a figure has its elements, from the names in its cells."""
    assert grid.labels is not None
    found = set()
    for row, labels in enumerate(grid.labels):
        for column, label in enumerate(labels):
            names = re.findall(r"T(\d+):[abd](\d+)", label)
            assert len(names) == 1 + label.count("|"), label
            found |= {(int(register), int(lane), row, column) for lane, register in names}
    return frozenset(found)


def test_figures(calculator: ModuleType, tally: Counter[str]) -> None:
    """Cell by cell; of a transposed result A and B have changed places."""
    for gpu, name, found in dense(calculator):
        if not is_known(gpu, found):
            continue
        theirs = [said(calculator, gpu, name, found, matrix) for matrix in "abd"]
        for is_transposed in (False, True):
            a, b, d = map(swapped, (theirs[1], theirs[0], theirs[2])) if is_transposed else theirs
            attr = encoding(gpu, found, is_transposed=is_transposed)
            sizes = "x".join(str(1 + max(at[axis] for at in d)) for axis in (2, 3))
            tensor = parse_type(f"tensor<{sizes}x{element(found['out_type'])}>")
            operand = element(found["in_type"])
            drawn = DrawnLayout(place(parse_layout(attr), tensor))
            figure = draw(drawn, view="mma", operand=operand)
            mine = [shown(grid) for grid in figure.grids]
            if found["blocks"] > 1:  # of the matrix across the products, the part of the first
                across, along = (0, 3) if is_transposed else (1, 2)
                mine[across] = frozenset(h for h in mine[across] if h[along] < found["k"])
            if mine == [a, b, d]:
                tally[f"same figure on {gpu}"] += 1
            elif mine[2] == d and order(mine[0], a, 3) == order(mine[1], b, 2) is not None:
                tally[f"{gpu}: another order of K, the same in A and B ({name})"] += 1
            else:
                tally[f"OTHER {gpu} {name} {is_transposed}"] += 1
    assert not [one for one in tally if one.startswith("OTHER")]
