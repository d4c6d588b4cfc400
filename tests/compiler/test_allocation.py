"""The allocation of shared memory against the compiler's own tests of it, and the wheel."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tt_layout import parse_ir
from tt_layout.audit.allocation import shared_memory
from tt_layout.audit.allocation.liveness import BARRIERS, REMOTE
from tt_layout.audit.layouts import PlacedLayouts
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
        for memory in shared_memory(functions, PlacedLayouts(), target, kept=REMOTE | BARRIERS):
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
