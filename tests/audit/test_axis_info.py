"""What the axis analysis knows of values, an expectation behind each operation."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from tiers import slow
from work import calls_of

from tt_layout import parse_ir
from tt_layout.audit.axis import AxisInfo, SupposedInfo, axis_info
from tt_layout.audit.axis.info import join
from tt_layout.audit.axis.visitor import Visitor
from tt_layout.ir.ssa import SsaReader
from tt_layout.ir.ssa.control_flow import ControlFlow

EXPECTED = re.compile(r"//! (.*)")


def check(text: str) -> None:
    """Compare what is known of the results of each line with what stands behind ``//!``.

    Where that has a line of its own it is about the next line.
    It reads ``contiguity divisibility constancy [constant]``, dimensions separated by commas;
    ``Mi`` stands for 2^20 and ``max`` for 2^62.
    """
    [module] = parse_ir(text)
    functions = SsaReader().functions(module)
    found: dict[int, list[AxisInfo]] = {}
    for function in functions:
        known = axis_info(function, functions)
        for operation in function.walk():
            infos = [known[value] for value in operation.results]
            found.setdefault(operation.line, []).extend(infos)
    lines = text.split("\n")
    expected = {
        number + (not line[: match.start()].strip()): match.group(1)
        for number, line in enumerate(lines, 1)
        if (match := EXPECTED.search(line))
    }
    assert expected
    assert {n: [short(info) for info in found[n]] for n in expected} == {
        n: words.split("; ") for n, words in expected.items()
    }


def short(info: AxisInfo) -> str:
    """Return a record as `check` has it."""
    words = [",".join(map(number, vector)) for vector in info.vectors]
    return " ".join([*words, *([] if info.constant is None else [str(info.constant)])])


def number(value: int) -> str:
    if value == 1 << 62:
        return "max"
    return f"{value >> 20}Mi" if value and value % (1 << 20) == 0 else str(value)


def body(lines: str, arguments: str = "") -> str:
    return f"tt.func @f({arguments}) {{\n{lines}\n  tt.return\n}}\n"


RANGE = "%r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"


@pytest.mark.parametrize(
    "lines",
    [
        """
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>  //! 64 1024Mi 1
  %1 = tt.make_range {end = 40 : i32, start = 8 : i32} : tensor<32xi32>  //! 32 8 1
  %2 = arith.constant 24 : i32  //! 1 8 1 24
  %3 = arith.constant dense<24> : tensor<8x4xi32>  //! 1,1 8,8 8,4 24
  %4 = arith.constant dense<0> : tensor<8xi32>  //! 1 max 8 0
  %5 = arith.constant dense<[1, 2]> : tensor<2xi32>  //! 1 1 1
  %6 = arith.constant dense<[3, 3]> : tensor<2xi32>  //! 1 1 2 3
  %7 = arith.constant 1.0 : f32  //! 1 1 1
  %8 = arith.constant true  //! 1 1 1 -1
  %9 = arith.constant -9223372036854775808 : i64  //! 1 max 1 -9223372036854775808
  %10 = tt.get_program_id x : i32  //! 1 1 1
  %11 = ub.poison : tensor<4xi32>  //! max max max
  %12 = tt.make_range {end = 0 : i32, start = 0 : i32} : tensor<4xi32>  //! 1 1 1
""",
        f"""
  {RANGE}
  %c = arith.constant dense<16> : tensor<64xi32>
  %n = arith.constant dense<-4> : tensor<64xi32>
  %one = arith.constant dense<1> : tensor<64xi32>
  %0 = arith.addi %r, %c : tensor<64xi32>  //! 64 16 1
  %1 = arith.subi %r, %c : tensor<64xi32>  //! 64 16 1
  %2 = arith.subi %c, %r : tensor<64xi32>  //! 1 1 1
  %3 = arith.addi %r, %r : tensor<64xi32>  //! 1 2 1
  %4 = arith.subi %r, %r : tensor<64xi32>  //! 1 1024Mi 1
  %5 = arith.muli %r, %c : tensor<64xi32>  //! 1 16 1
  %6 = arith.muli %r, %one : tensor<64xi32>  //! 64 1024Mi 1
  %7 = arith.divsi %r, %c : tensor<64xi32>  //! 1 1 16
  %8 = arith.remsi %r, %c : tensor<64xi32>  //! 16 16 1
  %9 = arith.divsi %c, %n : tensor<64xi32>  //! 1 4 64 -4
  %10 = arith.remsi %n, %c : tensor<64xi32>  //! 1 4 64 -4
  %11 = arith.shli %c, %one : tensor<64xi32>  //! 1 32 64 32
  %12 = arith.shli %r, %one : tensor<64xi32>  //! 1 2 1
  %13 = arith.shrsi %r, %c : tensor<64xi32>  //! 1 1 1
  %14 = arith.andi %r, %c : tensor<64xi32>  //! 1 1 1
  %15 = arith.ori %c, %one : tensor<64xi32>  //! 1 1 64 17
  %16 = arith.minsi %r, %c : tensor<64xi32>  //! 1 1 1
  %17 = arith.maxsi %c, %n : tensor<64xi32>  //! 1 16 64 16
  %z = arith.constant dense<0> : tensor<64xi32>
  %18 = arith.divsi %r, %z : tensor<64xi32>  //! 1 1 64
  %19 = arith.muli %r, %z : tensor<64xi32>  //! 1 max 64 0
  %p = tt.get_program_id x : i64  //! 1 1 1
  %far = arith.constant 62 : i64
  %20 = arith.shli %p, %far : i64  //! 1 max 1
""",
        f"""
  {RANGE}
  %c = arith.constant dense<16> : tensor<64xi32>
  %0 = arith.cmpi slt, %r, %c : tensor<64xi32>  //! 1 1 16
  %1 = arith.cmpi sle, %r, %c : tensor<64xi32>  //! 1 1 1
  %2 = arith.cmpi sgt, %c, %r : tensor<64xi32>  //! 1 1 16
  %3 = arith.cmpi eq, %c, %c : tensor<64xi32>  //! 1 1 64 1
  %4 = arith.select %0, %r, %c : tensor<64xi1>, tensor<64xi32>  //! 1 1 1
  %5 = arith.select %3, %r, %c : tensor<64xi1>, tensor<64xi32>  //! 64 1024Mi 1
  %6 = arith.select %b, %r, %r : i1, tensor<64xi32>  //! 64 1024Mi 1
""",
        f"""
  {RANGE}
  //! 1,64 1,1024Mi 1,1
  %0 = tt.expand_dims %r {{axis = 0 : i32}} : tensor<64xi32> -> tensor<1x64xi32>
  %1 = tt.broadcast %0 : tensor<1x64xi32> -> tensor<8x64xi32>  //! 1,64 1,1024Mi 8,1
  //! 64,1 1024Mi,1 1,8
  %2 = tt.trans %1 {{order = array<i32: 1, 0>}} : tensor<8x64xi32> -> tensor<64x8xi32>
  //! 1,1 1,1 1,1
  %12 = tt.trans %1 {{order = array<i32: 0>}} : tensor<8x64xi32> -> tensor<64x8xi32>
  //! 1,1 1,1 1,1
  %14 = tt.trans %1 {{order = array<i32: 1, 1>}} : tensor<8x64xi32> -> tensor<64x8xi32>
  %13 = tt.trans %1 : tensor<8x64xi32> -> tensor<64x8xi32>  //! 1,1 1,1 1,1
  %3 = tt.reshape %r : tensor<64xi32> -> tensor<4x16xi32>  //! 1,16 1,16 1,1
  %4 = ttg.convert_layout %2 : tensor<64x8xi32> -> tensor<64x8xi32>  //! 64,1 1024Mi,1 1,8
  %5 = arith.extsi %r : tensor<64xi32> to tensor<64xi64>  //! 64 1024Mi 1
  %6 = amdg.extract_slice %1 [0, 32] : tensor<8x64xi32> to tensor<8x32xi32>  //! 1,32 1,32 8,1
  //! 1,1,16 1,1,16 8,1,1
  %10 = tt.reshape %1 : tensor<8x64xi32> -> tensor<8x4x16xi32>
  %7 = my.unknown %r : (tensor<64xi32>) -> tensor<64xi32>  //! 1 1 1
  %8 = my.unknown %r {{tt.divisibility = 8 : i32}} : (tensor<64xi32>) -> tensor<64xi32>  //! 1 8 1
  %9 = arith.addi %r, %7 {{tt.contiguity = dense<4> : tensor<1xi32>}} : tensor<64xi32>  //! 4 1 1
  //! 1 2 1
  %11 = arith.addi %r, %r {{tt.contiguity = dense<[4, 4]> : tensor<2xi32>}} : tensor<64xi32>
""",
    ],
    ids=["sources", "arithmetic", "comparisons", "shapes"],
)
def test_operations(lines: str) -> None:
    check(body(lines, "%b: i1"))


def test_pointers_and_loads() -> None:
    check(
        body(
            f"""
  {RANGE}
  %s = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>  //! 1 16 64
  %0 = tt.addptr %s, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>  //! 64 16 1
  %1 = tt.splat %n : i32 -> tensor<64xi32>  //! 1 4 64
  %2 = tt.addptr %0, %1 : tensor<64x!tt.ptr<f16>>, tensor<64xi32>  //! 64 8 1
  %3 = tt.load %2 : tensor<64x!tt.ptr<f16>>  //! 1 1 1
  %4 = tt.load %s : tensor<64x!tt.ptr<f16>>  //! 1 1 64
  %5 = tt.load %s, %m : tensor<64x!tt.ptr<f16>>  //! 1 1 8
""",
            "%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 4 : i32}, "
            "%m: tensor<64xi1> {tt.constancy = 8 : i32}",
        )
    )


@pytest.mark.parametrize(("other", "constant"), [(8, 8), (16, None)])
def test_a_constant_of_both_is_one_of_either(other: int, constant: int | None) -> None:
    """Also where the values differ in what else is known of them."""
    joined = join(AxisInfo((1,), (8,), (4,), 8), AxisInfo((1,), (8,), (2,), other))
    assert joined is not None
    assert joined.constant == constant


def test_loops_are_joined_until_nothing_changes() -> None:
    """The offset grows by 16 each time round; the second value alternates with the first."""
    check(
        body(
            """
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c16 = arith.constant 16 : i32
  %c6 = arith.constant 6 : i32
  //! 1 2 1; 1 2 1
  %r:2 = scf.for %i = %c64 to %n step %c16 iter_args(%a = %c0, %b = %c6) -> (i32, i32) : i32 {
    %0 = arith.addi %i, %c0 : i32  //! 1 16 1
    %1 = arith.addi %a, %c16 : i32  //! 1 2 1
    scf.yield %b, %1 : i32, i32
  }
  %w = scf.while (%x = %c64) : (i32) -> i32 {  //! 1 8 1
    %2 = arith.cmpi slt, %x, %n : i32
    scf.condition(%2) %x : i32
  } do {
  ^bb0(%y: i32):
    %c8 = arith.constant 8 : i32
    %3 = arith.addi %y, %c8 : i32  //! 1 8 1
    scf.yield %3 : i32
  }
""",
            "%n: i32",
        )
    )


def test_loops_with_a_known_number_of_trips() -> None:
    """A loop that runs for certain returns what it yields; one that never runs, what it got."""
    check(
        body("""
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c6 = arith.constant 6 : i32
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %c6) -> (i32) : i32 {  //! 1 4 1 4
    scf.yield %c4 : i32
  }
  %1 = scf.for %i = %c4 to %c0 step %c1 iter_args(%a = %c6) -> (i32) : i32 {  //! 1 2 1 6
    scf.yield %c4 : i32
  }
""")
    )


def test_branches_join_what_can_be_reached() -> None:
    check(
        body(
            """
  %c4 = arith.constant 4 : i32
  %c6 = arith.constant 6 : i32
  %true = arith.constant true
  %0 = scf.if %c -> (i32) {  //! 1 2 1
    scf.yield %c4 : i32
  } else {
    scf.yield %c6 : i32
  }
  %1 = scf.if %true -> (i32) {  //! 1 4 1 4
    scf.yield %c4 : i32
  } else {
    scf.yield %c6 : i32
  }
  cf.cond_br %c, ^bb1(%c4 : i32), ^bb2
^bb1(%x: i32):
  %2 = arith.addi %x, %c4 : i32  //! 1 4 1
  cf.cond_br %c, ^bb1(%2 : i32), ^bb2
^bb2:
""",
            "%c: i1",
        )
    )


def test_captures_of_specialised_warps() -> None:
    check(
        body(
            """
  ttg.warp_specialize(%n)
  default {
    %0 = arith.addi %n, %n : i32  //! 1 16 1
    ttg.warp_yield
  }
  partition0(%m: i32) num_warps(4) {
    %1 = arith.addi %m, %m : i32  //! 1 16 1
    ttg.warp_return
  } : (i32) -> ()
""",
            "%n: i32 {tt.divisibility = 16 : i32}",
        )
    )


def test_calls_pass_on_what_is_known_of_one_dimension() -> None:
    check("""
tt.func @caller(%n: i32 {tt.divisibility = 16 : i32}, %t: tensor<4x4xi32>) {
  %c = arith.constant 24 : i32
  tt.call @callee(%n, %t) : (i32, tensor<4x4xi32>) -> ()
  tt.call @callee(%c, %t) : (i32, tensor<4x4xi32>) -> ()
  tt.return
}
tt.func private @callee(%m: i32, %t: tensor<4x4xi32>) {
  %0 = arith.addi %m, %m : i32  //! 1 8 1
  %1 = arith.addi %t, %t : tensor<4x4xi32>  //! 1,1 1,1 1,1
  tt.return
}
""")


def test_functions_that_call_each_other_do_no_harm() -> None:
    check("""
tt.func @f(%n: i32) {
  %0 = arith.addi %n, %n : i32  //! 1 1 1
  tt.call @g(%n) : (i32) -> ()
  tt.return
}
tt.func @g(%n: i32) {
  %0 = arith.addi %n, %n : i32  //! 1 1 1
  tt.call @f(%n) : (i32) -> ()
  tt.return
}
""")


def test_undefined_values_are_unknown() -> None:
    check(body("  %0 = arith.addi %nothing, %nothing : i32  //! 1 1 1"))


def test_functions_of_one_name() -> None:
    """No valid dump has them, and of each is known what it says itself."""
    [module] = parse_ir(body(RANGE) * 2)
    functions = SsaReader().functions(module)
    assert [axis_info(f, functions)[f.values["%r"]].contiguity for f in functions] == [(64,), (64,)]


# -- what would follow if more were known --------------------------------------------------------

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
BRANCHES = body(
    """
  %0 = arith.constant 0 : i32
  %4 = arith.constant 4 : i32
  %16 = arith.constant 16 : i32
  %l:2 = scf.for %i = %0 to %n step %4 iter_args(%a = %0, %b = %16) -> (i32, i32) : i32 {
    %d = arith.cmpi slt, %i, %n : i32
    %s = scf.if %d -> (i32) {
      scf.yield %a : i32
    } else {
      %y = arith.muli %b, %16 : i32
      scf.yield %y : i32
    }
    %j = arith.addi %i, %s : i32
    %w = scf.while (%v = %j) : (i32) -> i32 {
      %u = arith.muli %v, %4 : i32
      %g = arith.cmpi slt, %v, %n : i32
      scf.condition(%g) %u : i32
    } do {
    ^bb0(%v2: i32):
      %h = arith.muli %v2, %16 : i32
      scf.yield %h : i32
    }
    scf.yield %b, %w : i32, i32
  }
  cf.cond_br %c, ^yes(%l#0 : i32), ^no
^yes(%x: i32):
  %z = arith.muli %x, %4 : i32
  cf.br ^end(%z : i32)
^no:
  cf.br ^end(%l#1 : i32)
^end(%e: i32):
  %r = arith.addi %e, %16 : i32
""",
    "%n: i32, %c: i1",
)


def supposed(info: AxisInfo, random: Random) -> AxisInfo:
    constant = random.choice((info.constant, 0, 1))
    vectors = [[number * random.choice((1, 4)) for number in vector] for vector in info.vectors]
    return AxisInfo.of_vectors(vectors, constant)


@pytest.mark.parametrize("path", [None, *map(slow, sorted(KERNELS.glob("*.ttgir")))], ids=str)
def test_what_follows_of_a_value_alone_is_what_follows_of_the_whole(
    path: Path | None, seed: int
) -> None:
    random, text = Random(seed), BRANCHES if path is None else path.read_text(encoding="utf-8")
    [module] = parse_ir(text)
    for function in SsaReader().functions(module):
        known, values = axis_info(function), [*function.values.values()]
        for _ in range(100 if path is None else 3):
            chosen = random.sample(values, random.choice((1, 1, 3)))
            given = {value: supposed(known[value], random) for value in chosen}
            whole = Visitor(function, given).run(known[value] for value in function.arguments)
            alone = SupposedInfo(ControlFlow(function), known, given)
            random.shuffle(values)
            assert {value: alone[value] for value in values} == {v: whole[v] for v in values}


RESULT = "  %r = arith.addi %a0, %n : i32"


def test_what_would_follow_is_found_of_what_is_asked_for_alone() -> None:
    def work(times: int) -> int:
        steps = [f"  %a{at} = arith.muli %n, %n : i32" for at in range(times)]
        [module] = parse_ir(body("\n".join([*steps, RESULT]), "%n: i32"))
        [function] = SsaReader().functions(module)
        n, known, flow = function.values["%n"], axis_info(function), ControlFlow(function)
        given = {n: AxisInfo.of((1,), (16,), (1,))}
        assert not flow.into(n)  # the ways of the function are found once
        return calls_of(lambda: SupposedInfo(flow, known, given)[function.values["%r"]])

    work(10)  # what follows of one operation is remembered
    assert work(400) == work(10)


def test_suppositions_about_a_long_chain_take_as_long_as_the_chain() -> None:
    """Each value of it depends on all before: slices would be half of the square of its length."""

    def work(times: int) -> int:
        steps = [f"  %a{at + 1} = arith.addi %a{at}, %n : i32" for at in range(times)]
        [module] = parse_ir(body("\n".join(steps), "%n: i32, %a0: i32"))
        [function] = SsaReader().functions(module)
        even = AxisInfo.of((1,), (2,), (1,))
        given = dict.fromkeys(function.arguments, even)
        alone = SupposedInfo(ControlFlow(function), axis_info(function), given)
        calls = calls_of(lambda: [alone[value] for value in alone])
        assert {alone[value].divisibility for value in alone} == {(2,)}
        return calls

    assert work(2000) < 3 * work(1000)
