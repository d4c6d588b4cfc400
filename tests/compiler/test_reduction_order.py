"""The order of additions in reductions, against what releases of Triton make of random ones.

The LLVM IR of each kernel, or its assembly, is carried out with trees for floats (`llvm_ir`,
`ptx`, `gcn`); what it stores for each result must be the tree that we
say.  Of integers, whose additions LLVM may put in another order, the sums are compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from compiler.exchange_kernels import registers
from compiler.gcn import GcnMachine
from compiler.instruction_kernels import Kernel
from compiler.kernels import tensor
from compiler.llvm_ir import Machine, Trees
from compiler.ptx import PtxMachine
from compiler.test_analyses import Lowerer
from compiler.wheel import Question, Wheel
from tt_layout import LayoutError, parse_layout
from tt_layout.analyses.conversion.reduction_order import ReductionTree, reduction_tree
from tt_layout.hardware import find_target
from tt_layout.mlir.types import element_bits
from tt_layout.releases import Release

TARGETS = ("sm80", "sm90", "sm100", "gfx942", "gfx950", "gfx1100", "gfx1250")
SHAPES = ((64, 64), (32, 64), (16, 128), (8, 256), (2, 1024), (128, 16), (4, 16))
ELEMENTS = ("f32", "f32", "f16", "f16", "i32")


@pytest.fixture(scope="module")
def lowerer(wheel: Wheel) -> Lowerer:
    return Lowerer(wheel.python)


def reductions(
    seed: int,
    targets: Sequence[str] = TARGETS,
    elements: Sequence[str] = ELEMENTS,
    stage: str = "llvm",
) -> Iterator[tuple[Question, dict[str, Any]]]:
    """Yield sums without end, the targets in turn: the question, and what it is of."""
    r = Random(seed)
    while True:
        for target in targets:
            kernel = Kernel(r, target, 1 << r.randint(0, 4))
            shape, element = r.choice(SHAPES), r.choice(elements)
            shape = shape if r.random() < 0.5 else shape[::-1]
            layout = registers(kernel, shape, element.replace("i", "f"))
            axis = r.randint(0, 1)
            add_sum(kernel, shape, element, layout, axis)
            facts = {"target": target, "shape": shape, "element": element, "axis": axis}
            yield {stage: kernel.text()}, {**facts, "layout": layout, "warps": kernel.warps}


def add_sum(kernel: Kernel, shape: tuple[int, ...], element: str, layout: str, axis: int) -> None:
    """Add a sum along an axis, and store it."""
    value, own = kernel.load(shape, element, layout), tensor(shape, element, layout)
    left = shape[:axis] + shape[axis + 1 :]
    result = f"#ttg.slice<{{dim = {axis}, parent = {layout}}}>"
    combiner = "addi" if element.startswith("i") else "addf"
    found = kernel.body.add(
        f'"tt.reduce"({value}) <{{axis = {axis} : i32}}> ({{\n'
        f"    ^bb0(%x: {element}, %y: {element}):\n"
        f"      %z = arith.{combiner} %x, %y : {element}\n"
        f"      tt.reduce.return %z : {element}\n"
        f"    }}) : ({own}) -> {tensor(left, element, result)}"
    )
    kernel.store(found, left, element, result)


def carried_out(answer: dict[str, Any], facts: dict[str, Any]) -> tuple[Any, Trees]:
    """Return what a kernel stores when the elements are the leaves 1, 2, .., and the trees."""
    target, shape, element = find_target(facts["target"]), facts["shape"], facts["element"]
    count, left = shape[0] * shape[1], shape[1 - facts["axis"]]
    kind = f"<u{(element_bits(element) or 0) // 8}"
    given = np.arange(1, count + 1).astype(kind)
    out, trees = np.zeros(left, kind).view(np.uint8), Trees(count)
    assembler = PtxMachine if facts["target"].startswith("sm") else GcnMachine
    stage, carries_out = ("llvm", Machine) if "llvm" in answer else ("assembly", assembler)
    machine = carries_out(
        facts["warps"] * target.lanes, target.lanes, [given.view(np.uint8).copy(), out], trees
    )
    machine.run(answer[stage])
    return machine.buffers[1].view(kind), trees


def expected(tree: ReductionTree, facts: dict[str, Any], trees: Trees) -> Any:
    """Return the node of each result; nodes that the kernel did not make are new."""
    bits = element_bits(facts["element"]) or 0
    leaves = np.arange(1, facts["shape"][0] * facts["shape"][1] + 1).reshape(facts["shape"])
    sums, left = np.moveaxis(leaves, facts["axis"], 0).copy(), np.arange(tree.size)
    for step in tree.steps:
        left = left[left & step.bits == 0]
        found = sums[left]
        for offset in step.offsets[1:]:
            found = trees.add(found, sums[left ^ offset], bits)
        sums[left] = found
    return sums[0]


def verdict(answer: dict[str, Any], facts: dict[str, Any], release: Release) -> str:
    """Return how what a kernel does compares with what we say."""
    if not answer.keys() & {"llvm", "assembly"}:
        return "the wheel gives no code"
    layout = parse_layout(facts["layout"], release=str(release))
    element, axis = facts["element"], facts["axis"]
    linear = layout.to_linear_layout(facts["shape"], element_bits=element_bits(element))
    try:
        tree = reduction_tree(linear, axis, element, find_target(facts["target"]), release)
    except LayoutError as error:
        return f"refused: {re.sub('[0-9]+', 'N', str(error))}"
    stored, trees = carried_out(answer, facts)
    if element.startswith("i"):
        leaves = np.arange(1, facts["shape"][0] * facts["shape"][1] + 1).reshape(facts["shape"])
        return "same sums" if (stored == leaves.sum(axis=axis)).all() else "other sums"
    made = len(trees.nodes)
    same = (stored == expected(tree, facts, trees)).all() and len(trees.nodes) == made
    return "same trees" if same else "other trees"


def test_trees_of_random_reductions(lowerer: Lowerer, seed: int, tally: Counter[str]) -> None:
    """What a kernel of any target stores is the tree that we say."""
    drawn = {"llvm": TARGETS[::3], "assembly": TARGETS}
    asked = [
        case
        for stage, targets in drawn.items()
        for case, _ in zip(reductions(seed, targets, stage=stage), targets)
    ]
    answers = lowerer.ask([question for question, _ in asked])
    for answer, (_, facts) in zip(answers, asked):
        found = verdict(answer, facts, Release.V3_9)
        tally[found] += 1
        assert not found.startswith(("other", "refused")), facts
    assert tally["same trees"] > 0
