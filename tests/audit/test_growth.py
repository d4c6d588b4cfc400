"""Functions twice as long take twice the work, whatever their shape; counted, not timed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from work import calls_of

from tt_layout import audit_ir, parse_ir
from tt_layout.analyses.shared_memory.buffer_placement import Buffer, place_buffers
from tt_layout.audit.global_memory.constant_masks import ConstantMasks
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.ir.dump_part import MAX_NESTING
from tt_layout.ir.ssa.reader import read_functions
from tt_layout.mlir.source import Source
from tt_layout.rewriting.apply import cure

MOST = 2.2
"""The most work of a function beside one half as long."""

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
)
OFFSETS = "tensor<512xi32, #b>"
POINTERS = "tensor<512x!tt.ptr<f32>, #b>"
STEP = f"tt.addptr %a{{}}, %o : {POINTERS}, {OFFSETS}"
"""The offsets are of the program: nothing is known of their alignment."""


def kernel(body: str) -> str:
    return f"""\
#b = {BLOCKED}
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
  tt.func public @k(%p: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %n: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %id = tt.get_program_id x : i32
    %r = tt.make_range {{end = 512 : i32, start = 0 : i32}} : {OFFSETS}
    %s = tt.splat %p : !tt.ptr<f32> -> {POINTERS}
    %d = tt.splat %id : i32 -> {OFFSETS}
    %o = arith.addi %r, %d : {OFFSETS}
    %a0 = tt.addptr %s, %o : {POINTERS}, {OFFSETS}
{body}
    tt.return
  }}
}}
"""


def chain(count: int) -> str:
    """Loads of one chain of pointers."""
    return "\n".join(
        f"%x{at} = tt.load %a{at} : {POINTERS}\n%a{at + 1} = {STEP.format(at)}"
        for at in range(count)
    )


def masks(count: int) -> str:
    """Loads that each add a condition to the mask of the one before."""
    mask, lines = "tensor<512xi1, #b>", [f"%e = tt.splat %n : i32 -> {OFFSETS}"]
    lines.append(f"%m0 = arith.cmpi slt, %r, %e : {OFFSETS}")
    lines.append(f"%z = tt.addptr %s, %r : {POINTERS}, {OFFSETS}")
    for at in range(count):
        lines += [
            f"%k{at} = arith.constant dense<{at}> : {OFFSETS}",
            f"%c{at} = arith.cmpi ne, %r, %k{at} : {OFFSETS}",
            f"%m{at + 1} = arith.andi %m{at}, %c{at} : {mask}",
            f"%x{at} = tt.load %z, %m{at + 1} : {POINTERS}",
        ]
    return "\n".join(lines)


def blocks(count: int) -> str:
    """Blocks with a load each, that hand a pointer on, or back to the first."""
    lines = [f"cf.br ^b0(%a0 : {POINTERS})"]
    for at in range(count):
        lines += [
            f"^b{at}(%q{at}: {POINTERS}):",
            f"%x{at} = tt.load %q{at} : {POINTERS}",
            f"%w{at} = tt.addptr %q{at}, %o : {POINTERS}, {OFFSETS}",
            f"%k{at} = arith.cmpi slt, %id, %n : i32",
            f"cf.cond_br %k{at}, ^b{at + 1}(%w{at} : {POINTERS}), ^b0(%w{at} : {POINTERS})",
        ]
    return "\n".join([*lines, f"^b{count}(%q{count}: {POINTERS}):"])


def nest(count: int) -> str:
    """Loops in loops that iterate one pointer, which the innermost moves."""
    lines, last = [], "%a0"
    for at in range(count):
        lines.append(
            f"%q{at} = scf.for %i{at} = %c0 to %n step %c1 iter_args(%u{at} = {last})"
            f" -> ({POINTERS}) : i32 {{"
        )
        last = f"%u{at}"
        lines.append(f"%x{at} = tt.load {last} : {POINTERS}")
    lines.append(f"%v = tt.addptr {last}, %o : {POINTERS}, {OFFSETS}")
    for name in ("%v", *(f"%q{at}" for at in reversed(range(1, count)))):
        lines += [f"scf.yield {name} : {POINTERS}", "}"]
    return "\n".join(lines)


def work_on(body: str) -> int:
    """Return the calls that a report takes."""
    text = kernel(body)
    return calls_of(lambda: str(audit_ir(text)))


@pytest.mark.parametrize("shape", [chain, blocks, masks])
def test_twice_as_much_takes_twice_the_work(shape: Callable[[int], str]) -> None:
    work_on(shape(1))  # imports
    few, many = (work_on(shape(count)) for count in (60, 120))
    assert many < MOST * few


def test_a_mask_is_the_conjunction_of_very_many() -> None:
    mask = "tensor<512xi1, #b>"
    joined = [f"%j{at + 1} = arith.andi %j{at}, %j{at} : {mask}" for at in range(1500)]
    first = f"%e = tt.splat %n : i32 -> {OFFSETS}\n%j0 = arith.cmpi slt, %r, %e : {OFFSETS}"
    load = f"%x = tt.load %a0, %j1500 : {POINTERS}"
    [module] = parse_ir(kernel("\n".join([first, *joined, load])))
    [function] = read_functions(module)
    [load_in_full] = [operation for operation in function.walk() if operation.name == "tt.load"]
    found = ConstantMasks(function, PlacedLayouts()).possible(load_in_full.operands[1])
    assert found is None


def test_loops_in_loops_do_not_multiply_their_iterations() -> None:
    """Eight loops of three iterations run 6,561 times, ten 59,049 times."""
    few, many = (work_on(nest(count)) for count in (8, 10))
    assert many < 2 * few


def test_a_loop_that_is_nested_too_deeply_is_not_evaluated() -> None:
    assert "tt.load" in str(audit_ir(kernel(nest(MAX_NESTING + 1))))


def test_more_divisions_of_the_program_than_numbers_can_tell() -> None:
    lines = ["%d0 = arith.muli %id, %n : i32"]
    for at in range(170):
        lines += [
            f"%e{at} = arith.constant {100 + at} : i32",
            f"%d{at + 1} = arith.divsi %d{at}, %e{at} : i32",
        ]
    lines += [
        f"%t = tt.splat %d170 : i32 -> {OFFSETS}",
        f"%w = tt.addptr %a0, %t : {POINTERS}, {OFFSETS}",
        f"%x = tt.load %w : {POINTERS}",
    ]
    assert "tt.load" in str(audit_ir(kernel("\n".join(lines))))


def test_buffers_that_follow_each_other_are_placed_in_one_pass() -> None:
    """Scratch of a chain of conversions: each is live with the next one."""

    def place(count: int) -> int:
        buffers = tuple(Buffer(512, 16, (2 * at, 2 * at + 3)) for at in range(count))
        return calls_of(lambda: place_buffers(buffers))

    place(2)
    assert place(400) < MOST * place(200)


def test_fixes_of_many_findings_are_applied_one_by_one() -> None:
    """Each looks at what is left once, and compares with sums of its loop that are known."""

    def work(count: int) -> int:
        source = Source(kernel(chain(count)), "k.ttgir")
        return calls_of(lambda: cure(source, is_all=True))

    work(1)
    assert work(120) < MOST * work(60)
