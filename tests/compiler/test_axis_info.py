"""The axis analysis against the compiler's own tests of it, in a copy of Triton's sources."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tt_layout import parse_ir
from tt_layout.audit.axis import AxisInfo, axis_info
from tt_layout.ir.ssa import SsaReader

REMARK = re.compile(r"//\s*expected-remark\s*@(?:below|\+(\d+))\s*\{\{(.*?)\}\}")
FILES = {
    "test/Analysis/test-alignment.mlir": 300,
    "test/Analysis/test-transpose-axisinfo.mlir": 13,
    "test/Analysis/amd/test-alignment.mlir": 5,
}
"""Test of the compiler -> how many expectations it has at least."""


@pytest.mark.parametrize("name", FILES)
def test_expectations_of_the_compiler(source: Path, name: str, tally: Counter[str]) -> None:
    lines = (source / name).read_text(encoding="utf-8").split("\n")
    expected = []
    for number, line in enumerate(lines, 1):
        if match := REMARK.search(line):
            text = match.group(2).replace("<none>", "none").replace("_value", "")
            expected.append((number + int(match.group(1) or 1), text.replace("<", "")))
    for target in {target for target, _ in expected}:
        if not lines[target - 1].lstrip().startswith("%"):  # a result without a name
            lines[target - 1] = f"%unnamed{target} = {lines[target - 1].strip()}"
    known = infos_by_line("\n".join(lines))
    wrong = []
    for target, text in expected:
        agrees = any(text in str(info) for info in known.get(target, ()))
        tally["agree" if agrees else "differ"] += 1
        if not agrees:
            wrong.append(f"{target}: expected {text}, got {known.get(target)}")
    assert not wrong, "\n".join(wrong)
    assert len(expected) >= FILES[name]


def infos_by_line(text: str) -> dict[int, list[AxisInfo]]:
    """Return what is known of the results of each line."""
    found: dict[int, list[AxisInfo]] = {}
    for module in parse_ir(text):
        functions = SsaReader().functions(module)
        for function in functions:
            known = axis_info(function, functions)
            for operation in function.walk():
                infos = [known[value] for value in operation.results]
                found.setdefault(operation.line, []).extend(infos)
    return found


def test_every_use_in_the_compilers_tests_has_a_definition(
    source: Path, tally: Counter[str]
) -> None:
    """Every function of every test is read; one file names values with a blank in them."""
    undefined = []
    for path in sorted((source / "test").rglob("*.mlir")):
        for module in parse_ir(path.read_text(encoding="utf-8")):
            for function in SsaReader().functions(module):
                tally["functions"] += 1
                names = function.values.keys()
                for operation in function.walk():
                    tally["operations"] += 1
                    missing = set(operation.operands) - names
                    undefined += [f"{path.name}:{operation.line}: {name}" for name in missing]
    assert not [line for line in undefined if "load-mma-specialization" not in line]
    assert tally["operations"] > 40000
