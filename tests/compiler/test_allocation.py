"""The allocation of shared memory against the compiler's own tests of it, and the wheel."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from compiler.agreement import Comparison
from compiler.test_analyses import Lowerer
from compiler.wheel import Question, Wheel
from tt_layout import parse_ir
from tt_layout.audit.allocation import shared_memory
from tt_layout.audit.allocation.liveness import FORK
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.hardware import find_target
from tt_layout.ir.ssa import SsaReader

REMARK = re.compile(r"//\s*expected-remark\s*@(?:below|\+(\d+))\s*\{\{(.*?)\}\}")
FILES = {
    "test/Analysis/test-allocation.mlir": (325, 0),
    "test/Analysis/test-allocation-partitioned.mlir": (37, 1 << 16),
}
"""Test of the compiler -> how many remarks it has at least, and its partitions' size."""

UNNAMED = re.compile(r"^( +)ttg(?=\.local_alloc)", re.M)
"""An allocation whose result has no name; the compiler prints one."""

NEUTRAL = find_target("sm70")
"""The tests name no GPU: no instruction is weighed against another."""


def remarks(text: str, partition_bytes: int) -> dict[int, list[str]]:
    """Return what the compiler's test pass says of each line."""
    target = replace(NEUTRAL, shared_partition_bytes=partition_bytes)
    found: dict[int, list[str]] = {}
    for module in parse_ir(text):
        functions = SsaReader().functions(module)
        for function in functions:
            found.setdefault(function.line, []).append(function.name)
        sizes = {function.name: 0 for function in functions}
        for memory in shared_memory(functions, PlacedLayouts(), target, rules=FORK):
            sizes[memory.function] = memory.bytes or -1
            for each in memory.allocations:
                kind = {"buffer": "", "call": "virtual "}.get(each.kind, "scratch ")
                said = f"{kind}offset = {each.offset}, size = {each.bytes}"
                found.setdefault(each.line, []).append(said)
        for function in functions:
            found[function.line].append(f"size = {sizes[function.name]}")
    return found


@pytest.mark.parametrize("name", FILES)
def test_remarks_of_the_compiler(source: Path, name: str, tally: Counter[str]) -> None:
    text = UNNAMED.sub(r"\1%unnamed = ttg", (source / name).read_text(encoding="utf-8"))
    lines = text.split("\n")
    least, partition_bytes = FILES[name]
    said = remarks(text, partition_bytes)
    wrong, expected = [], 0
    for number, line in enumerate(lines, 1):
        for match in REMARK.finditer(line):
            expected += 1
            target = number + int(match[1] or 1)
            while REMARK.search(lines[target - 1]) or lines[target - 1].lstrip().startswith("//"):
                target += 1
            agrees = any(match[2] in each for each in said.get(target, ()))
            tally["agree" if agrees else "differ"] += 1
            if not agrees:
                wrong.append(f"{target}: expected {match[2]!r}, got {said.get(target)}")
    assert not wrong, f"{len(wrong)} of {expected}\n" + "\n".join(wrong)
    assert expected >= least


# -- random kernels, as Triton 3.9.0 allocates them ---------------------------------------------

KERNELS = 100
LANES = {"sm80": 32, "sm90": 32, "gfx942": 64}
WARPS = 4


class RandomKernel:
    """A function of random operations that need shared memory, in loops and branches."""

    def __init__(self, seed: int, lanes: int) -> None:
        self.r = Random(seed)
        rows = lanes // 8
        self.blocked = (
            f"#ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [{rows}, 8], "
            f"warpsPerCTA = [2, 2], order = [1, 0]}}>"
        )
        self.columns = (
            f"#ttg.blocked<{{sizePerThread = [4, 1], threadsPerWarp = [8, {rows}], "
            f"warpsPerCTA = [1, 4], order = [0, 1]}}>"
        )
        self.names = 0
        self.lines: list[str] = []
        self.block([], 0)

    @property
    def text(self) -> str:
        return "\n".join(
            ["tt.func @f(%b: i1, %l: index, %u: index) {", *self.lines, "tt.return", "}"]
        )

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def shape(self) -> tuple[int, int]:
        return self.r.choice([16, 32, 64]), self.r.choice([16, 32, 64])

    def buffer(self, shape: tuple[int, int]) -> str:
        return f"!ttg.memdesc<{shape[0]}x{shape[1]}xf16, {SHARED}, #ttg.shared_memory, mutable>"

    def tensor(self, shape: tuple[int, int], layout: str | None = None) -> str:
        return f"tensor<{shape[0]}x{shape[1]}xf16, {layout or self.blocked}>"

    def block(self, live: list[tuple[str, tuple[int, int]]], depth: int) -> None:
        """Add operations; what is allocated here may be used until the block ends."""
        own = [*live]
        for _ in range(self.r.randint(2, 5)):
            draw = self.r.random()
            if draw < 0.35:
                name, shape = self.name(), self.shape()
                self.lines.append(f"{name} = ttg.local_alloc : () -> {self.buffer(shape)}")
                own.append((name, shape))
            elif draw < 0.55 and own:
                name, shape = self.r.choice(own)
                loaded = f"{self.buffer(shape)} -> {self.tensor(shape)}"
                self.lines.append(f"{self.name()} = ttg.local_load {name} : {loaded}")
            elif draw < 0.8:
                self.scratch()
            elif depth < 2:
                way = self.r.choice([self.branch, self.branch, self.loop, self.loop, self.split])
                way(own, depth)

    def scratch(self) -> None:
        """Add an operation that needs shared memory for itself."""
        shape, value = self.shape(), self.name()
        own = self.tensor(shape)
        self.lines.append(f"{value} = arith.constant dense<1.0> : {own}")
        kind, axis = self.r.choice(["convert", "reduce", "scan"]), self.r.randrange(2)
        if kind == "convert":
            types = f"{own} -> {self.tensor(shape, self.columns)}"
            self.lines.append(f"{self.name()} = ttg.convert_layout {value} : {types}")
            return
        reverse = ", reverse = false" * (kind == "scan")
        left = f"#ttg.slice<{{dim = {axis}, parent = {self.blocked}}}>"
        result = own if kind == "scan" else f"tensor<{shape[1 - axis]}xf16, {left}>"
        self.lines += [
            f'{self.name()} = "tt.{kind}"({value}) <{{axis = {axis} : i32{reverse}}}> ({{',
            "^bb0(%x: f16, %y: f16):",
            "%z = arith.addf %x, %y : f16",
            f"tt.{kind}.return %z : f16",
            f"}}) : ({own}) -> {result}",
        ]

    def branch(self, own: list[tuple[str, tuple[int, int]]], depth: int) -> None:
        self.lines.append("scf.if %b {")
        self.block(own, depth + 1)
        if self.r.random() < 0.5:
            self.lines.append("} else {")
            self.block(own, depth + 1)
        self.lines.append("}")

    def loop(self, own: list[tuple[str, tuple[int, int]]], depth: int) -> None:
        carried = self.r.choice(own) if own and self.r.random() < 0.6 else None
        head = f"scf.for {self.name()} = %l to %u step %l"
        if carried is None:
            self.lines.append(f"{head} {{")
            self.block(own, depth + 1)
            self.lines.append("}")
            return
        (first, shape), argument, result = carried, self.name(), self.name()
        own.append((result, shape))
        type_ = self.buffer(shape)
        self.lines.append(f"{result} = {head} iter_args({argument} = {first}) -> ({type_}) {{")
        self.block([*own[:-1], (argument, shape)], depth + 1)
        self.lines += [f"scf.yield {argument} : {type_}", "}"]

    def split(self, own: list[tuple[str, tuple[int, int]]], depth: int) -> None:
        """Add partitions of warps, or at the end of the function blocks that branch."""
        if depth:
            self.scratch()
        elif self.r.random() < 0.5:
            self.specialize(own)
        else:
            number = self.name()[1:]
            self.lines.append(f"cf.cond_br %b, ^{number}, ^{number}end")
            self.lines.append(f"^{number}:")
            self.block(own, 2)
            self.lines += [f"cf.br ^{number}end", f"^{number}end:"]

    def specialize(self, own: list[tuple[str, tuple[int, int]]]) -> None:
        """Add partitions: the default one sees all, the others what they are given."""
        given = self.r.choice(own) if own and self.r.random() < 0.7 else None
        argument, type_ = self.name(), self.buffer(given[1]) if given else ""
        name = given[0] if given else ""
        self.lines += [f"ttg.warp_specialize({name})", "default {"]
        self.block(own, 2)
        self.lines.append("ttg.warp_yield")
        for number in range(self.r.randint(1, 2)):
            inner = f"{argument}x{number}"
            passed = f"{inner}: {type_}" if given else ""
            self.lines += ["}", f"partition{number}({passed}) num_warps({WARPS}) {{"]
            self.block([(inner, given[1])] if given else [], 2)
            self.lines.append("ttg.warp_return")
        self.lines.append(f"}} : ({type_}) -> ()")


SHARED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"


def test_offsets_of_random_kernels(wheel: Wheel, seed: int, tally: Counter[str]) -> None:
    comparison = Comparison(tally)
    asked: list[Question] = []
    for number in range(KERNELS):
        target = Random(seed + number).choice(sorted(LANES))
        text = RandomKernel(seed + number, LANES[target]).text
        numbers = {"target": target, "warps": WARPS, "threads": LANES[target]}
        asked.append({"allocate": text, **numbers})
    for question, answer in zip(asked, Lowerer(wheel.python).ask(asked)):
        assert "offsets" in answer, (question, answer)
        [module] = parse_ir(question["allocate"])
        functions = SsaReader().functions(module)
        found = shared_memory(functions, PlacedLayouts(), find_target(question["target"]))
        offsets = [each.offset for memory in found for each in memory.allocations]
        total = max((memory.bytes or 0 for memory in found), default=0)
        if (offsets, total) == (answer["offsets"], answer["bytes"]):
            comparison.agree(f"{len(offsets) // 5 * 5} or more allocations, all alike")
        else:
            comparison.disagree("offsets", question["allocate"], (offsets, total, answer))
    comparison.check()
