"""Functions that are cut, shuffled or otherwise wrong do no harm to what reads them."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from tiers import slow

from tt_layout import audit_ir, parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.audit.axis import axis_info
from tt_layout.audit.kernel import kernels_of
from tt_layout.audit.registers.pressure import worst
from tt_layout.ir.ssa import read_functions

EXAMPLES = Path(__file__).parents[2] / "examples"
KERNELS = sorted(EXAMPLES.glob("kernels/*.ttgir"))
NARROW = sorted(EXAMPLES.glob("narrow/*.ttgir"))
OPERAND = re.compile(r"%[\w#]+")
WORD = re.compile(r"%[\w#]+|[a-z]+\.\w+|\d+|[{}()<>\[\],:=]|->")


def broken(text: str, chance: random.Random) -> str:
    """Return a text in which a few words were left out, repeated or put in each other's place."""
    words = list(WORD.finditer(text, text.index("tt.func")))
    for match in sorted(chance.sample(words, 12), key=lambda match: -match.start()):
        other = chance.choice(("", match.group() * 2, chance.choice(words).group()))
        text = text[: match.start()] + other + text[match.end() :]
    return text


@pytest.mark.parametrize("seeds", [1, slow(20)])
@pytest.mark.parametrize("path", KERNELS[::4], ids=lambda path: path.stem)
@pytest.mark.slow
def test_broken_kernels_are_read_as_far_as_they_go(path: Path, seeds: int) -> None:
    text = path.read_text(encoding="utf-8")
    for seed in range(seeds):
        for module in parse_ir(broken(text, random.Random(seed))):
            for function in (functions := read_functions(module)):
                assert axis_info(function, functions).keys() >= {*function.values.values()}
            audit_module(module)


def with_other_operands(text: str, chance: random.Random) -> str:
    """Return a text in which three operations lack an operand, or have one too many."""
    lines = text.split("\n")
    operations = [
        at for at, line in enumerate(lines) if re.search(r"= (?:arith|math|ttg?)\.", line)
    ]
    for at in chance.sample(operations, min(3, len(operations))):
        result, operation = lines[at].split(" = ", 1)
        operands = OPERAND.findall(operation) or ["%none"]
        operand, second = chance.choice(operands), chance.choice(operands)
        others = ("", f"{operand}, {second}", "%nobody")
        changes = [(f", {operand}", ""), *((operand, other) for other in others)]
        old, new = chance.choice(changes)
        lines[at] = f"{result} = {operation.replace(old, new, 1)}"
    return "\n".join(lines)


@pytest.mark.parametrize("seeds", [1, slow(30)])
@pytest.mark.parametrize("path", KERNELS[::4], ids=lambda path: path.stem)
@pytest.mark.slow
def test_operations_with_other_operands_end_no_report(path: Path, seeds: int) -> None:
    text = path.read_text(encoding="utf-8")
    for seed in range(seeds):
        for module in parse_ir(with_other_operands(text, random.Random(seed))):
            assert all(kernel.verdict for kernel in kernels_of(audit_module(module)))


BROKEN = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {ttg.target = "cuda:90", "ttg.num-warps" = 4 : i32} {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32) {
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
    %s = tt.splat %n : i32 -> tensor<128xi32, #b>
    %o = SUM : tensor<128xi32, #b>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
    %a = ADDRESS : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
    %v = tt.load %a : tensor<128x!tt.ptr<f32>, #b>
    tt.store %a, %v : tensor<128x!tt.ptr<f32>, #b>
    tt.return
  }
}
"""


@pytest.mark.parametrize("sum_", ["arith.addi %r", "arith.minsi %r, %s, %r", "arith.divsi"])
@pytest.mark.parametrize("address", ["tt.addptr %q, %o", "tt.addptr %q", "tt.addptr %q, %o, %o"])
def test_broken_addresses_are_not_known(sum_: str, address: str) -> None:
    [module] = parse_ir(BROKEN.replace("SUM", sum_).replace("ADDRESS", address))
    [kernel] = kernels_of(audit_module(module))
    assert "loads 4 bytes per instruction" in kernel.findings[0].message
    assert kernel.verdict
    [function] = read_functions(module)
    assert any(operation.name.startswith('"') for operation in function.walk())


@pytest.mark.parametrize("path", NARROW, ids=lambda path: path.stem)
def test_comparisons_without_a_second_operand(path: Path) -> None:
    text = re.sub(r"(arith.cmpi slt, %\w+), %\w+", r"\1", path.read_text(encoding="utf-8"))
    for module in parse_ir(text):
        audit_module(module)


def test_a_branch_to_no_block_leads_nowhere() -> None:
    """As in a dump that ends in the middle of a function."""
    [module] = parse_ir(
        "module {\n  tt.func @f(%p: !tt.ptr<f32>, %c: i1) {\n    cf.cond_br %c, ^bb1, ^bb9\n"
        "  ^bb1:\n    %x = tt.load %p : !tt.ptr<f32>\n    tt.return\n  }\n}\n"
    )
    assert [row.operation.name for row in audit_module(module).movements] == ["tt.load"]


LOOP = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#c = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module {
  tt.func @f(%n: i32, %v: tensor<256xf32, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c63 = arith.constant 63 : i32
    %c64 = arith.constant 64 : i32
    %sum = arith.addi %n, %c63 : i32
    %times = arith.divsi %sum, %c64 : i32
    scf.for %i = %c0 to %times step %c1 : i32 {
      %w = ttg.convert_layout %v : tensor<256xf32, #b> -> tensor<256xf32, #c>
    }
    tt.return
  }
}
"""


@pytest.mark.parametrize("fault", ["%n, %c63", "%sum, %c64"])
def test_arithmetic_of_a_loop_bound_without_a_second_operand(fault: str) -> None:
    assert counts(LOOP) == {"ceildiv(%n, 64)"}
    broken = LOOP.replace(fault, fault.partition(",")[0])
    assert all(count.startswith("%") for count in counts(broken))


def test_loops_and_branches_without_their_operands() -> None:
    assert counts(LOOP.replace("to %times", "to 5")) == {"unknown: scf.for on line 12"}
    assert counts(LOOP.replace("scf.for %i = %c0 to %times step %c1 : i32", "scf.if")) == {
        "unknown: scf.if on line 12"
    }


def counts(text: str) -> set[str]:
    """Return how often the data movements run, as text."""
    rows = [row for module in parse_ir(text) for row in audit_module(module).movements]
    return {row.executions.text for row in rows}


def test_a_dot_of_what_is_no_matrix() -> None:
    operand = "#ttg.dot_op<{opIdx = %d, parent = #b}>"
    text = f"""#b = #ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = [8, 4],
      warpsPerCTA = [4, 1], order = [1, 0]}}>
    module {{
      tt.func @f(%a: tensor<f16, {operand % 0}>, %b: tensor<16x16xf16, {operand % 1}>,
                 %c: tensor<16x16xf32, #b>) {{
        %d = tt.dot %a, %b, %c : tensor<f16, {operand % 0}> * tensor<16x16xf16, {operand % 1}>
          -> tensor<16x16xf32, #b>
        tt.return
      }}
    }}"""
    for module in parse_ir(text):
        assert not audit_module(module).multiplications


MUTATED = [
    ("ci/dumps/scale", '"ttg.num-warps" = 4', '"ttg.num-warps" = 65536'),
    (
        "workloads/layer_norm-gfx950",
        "{end = 2048 : i32, start = 0",
        "{end = 2048 : i32, start = -1",
    ),
    ("intel/matmul", "tt.expand_dims %m {axis = 1", "tt.expand_dims %é {axis = 64"),
    ("intel/matmul", "arith.muli %kb1, %ldb1", "arith.muli %kb1, %(ldb1"),
    ("workloads/scan-gfx950", "f32 loc(#loc26)", "f32 loc(sums_16, %sums_17 : f32 loc(#loc26)"),
    (
        "kernels/softmax-sm80",
        "tt.expand_dims %inside_10 {axis = 0",
        "tt.expand_dims %inside_10 {axis = 9",
    ),
    ("workloads/layer_norm-sm100", "tt.addptr %out, %values :", "tt.addptr % :"),
    ("workloads/scan-sm100", "arith.addi %place_8, %place_9", "arith.addi place_8, %place_9"),
    ("intel/matmul", "tt.addptr %bp, %bo : tensor<", "tt.addptr %bp, %bo : tensor<<"),
    ("kernels/matmul-gfx942", " step %", " step %step %"),
]
"""An example, and a part of it that a mutation made another: what the audit once failed at."""


@pytest.mark.parametrize(("name", "part", "other"), MUTATED, ids=lambda value: value[-12:])
def test_mutated_examples_are_audited(name: str, part: str, other: str) -> None:
    text = (EXAMPLES / f"{name}.ttgir").read_text(encoding="utf-8")
    assert part in text
    for module in parse_ir(text.replace(part, other)):
        worst(audit_module(module).registers)


def test_a_mask_of_another_shape_is_refused() -> None:
    pointers, mask = "tensor<64x!tt.ptr<f32>, #b>", "tensor<32xi1, #b>"
    report = str(
        audit_ir(f"""\
#b = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
  tt.func @f(%p: !tt.ptr<f32>) {{
    %m = arith.constant dense<true> : {mask}
    %s = tt.splat %p : !tt.ptr<f32> -> {pointers}
    %x = tt.load %s, %m : {pointers}
    tt.return
  }}
}}
""").whole
    )
    assert "its mask must have a truth value for each of 64 addresses, got 32" in report
