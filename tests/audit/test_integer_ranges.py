"""Ranges of integers, whatever is loaded."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tt_layout import parse_ir
from tt_layout.audit.values.ranges import IntegerRange, integer_range
from tt_layout.ir.ssa import read_functions
from tt_layout.ir.ssa.control_flow import ControlFlow


def range_of(body: str, name: str = "%x") -> IntegerRange | None:
    """Return the range of a value of a function that has loaded a byte, ``%b``, and a word."""
    text = f"""
    tt.func @f(%p: !tt.ptr<i8>, %q: !tt.ptr<i32>, %r: !tt.ptr<f32>,
               %n: i32) {{
      %b = tt.load %p : !tt.ptr<i8>
      %w = tt.load %q : !tt.ptr<i32>
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c8 = arith.constant 8 : i32
      %c15 = arith.constant 15 : i8
      %c4 = arith.constant 4 : i8
      %c255 = arith.constant 255 : i32
      %g = tt.load %r : !tt.ptr<f32>
      %f0 = arith.constant 0.000000e+00 : f32
      %f1 = arith.constant 1.000000e+00 : f32
      %f9 = arith.constant 9.500000e+00 : f32
      {body}
      tt.return }}"""
    [module] = parse_ir(f"module {{ {text} }}")
    [function] = read_functions(module)
    return integer_range(function.values[name], ControlFlow(function))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%x = arith.extui %b : i8 to i32", (0, 255)),
        ("%x = arith.extsi %b : i8 to i32", (-128, 127)),
        ("%h = arith.andi %b, %c15 : i8\n %x = arith.extui %h : i8 to i64", (0, 15)),
        ("%h = arith.shrui %b, %c4 : i8\n %x = arith.extui %h : i8 to i64", (0, 15)),
        ("%h = arith.shrsi %b, %c4 : i8\n %x = arith.extsi %h : i8 to i64", (-8, 7)),
        ("%x = arith.remsi %w, %c8 : i32", (-7, 7)),
        ("%x = arith.remui %w, %c8 : i32", (0, 7)),
        ("%h = arith.extui %b : i8 to i32\n %x = arith.remsi %h, %c8 : i32", (0, 7)),
        ("%h = arith.minsi %w, %c0 : i32\n %x = arith.remsi %h, %c8 : i32", (-7, 0)),
        ("%h = arith.extsi %b : i8 to i32\n %x = arith.muli %h, %c8 : i32", (-1024, 1016)),
        ("%h = arith.extsi %b : i8 to i32\n %x = arith.divsi %h, %c8 : i32", (-16, 15)),
        ("%h = arith.extui %b : i8 to i32\n %x = arith.subi %c8, %h : i32", (-247, 8)),
        ("%h = arith.extui %b : i8 to i32\n %x = arith.ori %h, %c8 : i32", (0, 255)),
        ("%h = arith.minsi %w, %c8 : i32\n %x = arith.maxsi %h, %c0 : i32", (0, 8)),
        ("%k = arith.cmpi slt, %w, %n : i32\n %x = arith.select %k, %c2, %c8 : i32", (2, 8)),
        (
            "%h = arith.andi %b, %c15 : i8\n%t = tt.splat %h : i8 -> tensor<32xi8>\n"
            "%m = ttg.convert_layout %t : tensor<32xi8> -> tensor<32xi8>\n"
            "%x = arith.extui %m : tensor<32xi8> to tensor<32xi32>",
            (0, 15),
        ),
        (
            "%h = arith.minnumf %g, %f9 : f32\n %k = arith.maxnumf %h, %f0 : f32\n"
            "%x = arith.fptosi %k : f32 to i32",
            (0, 9),
        ),
        (
            "%e = math.exp %g : f32\n %d = arith.addf %e, %f1 : f32\n"
            "%s = arith.divf %f1, %d : f32\n %m = arith.mulf %s, %f9 : f32\n"
            "%l = math.floor %m : f32\n %x = arith.fptosi %l : f32 to i32",
            (0, 9),
        ),
        ("%h = math.cos %g : f32\n %x = arith.fptosi %h : f32 to i32", (-1, 1)),
        ("%h = arith.minnumf %g, %f9 : f32\n %x = arith.fptosi %h : f32 to i32", None),
        (
            "%h = math.exp %g : f32\n %m = arith.mulf %h, %f0 : f32\n"
            "%x = arith.fptosi %m : f32 to i32",
            None,
        ),
        ("%h = arith.divf %f1, %g : f32\n %x = arith.fptosi %h : f32 to i32", None),
        ("%x = arith.addi %w, %c8 : i32", None),
        ("%h = arith.divsi %w, %n : i32\n %x = arith.addi %h, %c1 : i32", None),
    ],
)
def test_a_range_follows_from_types_and_constants(
    body: str, expected: tuple[int, int] | None
) -> None:
    assert range_of(body) == expected


def test_a_search_by_halves_stays_between_its_ends() -> None:
    found = range_of("""
      %r:2 = scf.for %i = %c0 to %c8 step %c1
          iter_args(%low = %c0, %high = %c255) -> (i32, i32) : i32 {
        %sum = arith.addi %low, %high : i32
        %x = arith.divsi %sum, %c2 : i32
        %k = arith.cmpi slt, %w, %x : i32
        %l = arith.select %k, %low, %x : i32
        %h = arith.select %k, %x, %high : i32
        scf.yield %l, %h : i32, i32
      }""")
    assert found is not None
    assert (found.low, found.high) in {(0, 254), (0, 255)}


def test_what_a_loop_adds_up_has_no_range() -> None:
    body = """
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0) -> (i32) : i32 {
        %y = arith.addi %x, %c1 : i32
        scf.yield %y : i32
      }"""
    assert range_of(body) is None


def test_the_variable_of_a_loop_is_below_its_end() -> None:
    body = """
      scf.for %i = %c0 to %c8 step %c1 : i32 {
        %x = arith.muli %i, %c2 : i32
      }"""
    assert range_of(body) == (0, 14)
    assert range_of(body.replace("%c8", "%n")) is None


def test_no_number_is_outside_its_range() -> None:
    """Compute expressions of two bytes, and see that their ranges hold them."""
    chosen = random.Random(5)
    functions: dict[str, Callable[[int, int], int]] = {
        "addi": lambda a, b: a + b,
        "subi": lambda a, b: a - b,
        "muli": lambda a, b: a * b,
        "minsi": min,
        "maxsi": max,
        "andi": lambda a, b: a & b,
        "ori": lambda a, b: a | b,
        "xori": lambda a, b: a ^ b,
    }
    for _ in range(60):
        lines = ["%v0 = arith.extsi %b : i8 to i64", "%v1 = arith.extui %b : i8 to i64"]
        steps = []
        for number in range(2, 6):
            name, (one, other) = chosen.choice([*functions]), chosen.choices(range(number), k=2)
            lines.append(f"%v{number} = arith.{name} %v{one}, %v{other} : i64")
            steps.append((functions[name], one, other))
        found = range_of("\n".join(lines), "%v5")
        for byte in range(-128, 128):
            values = [byte, byte % 256]
            for function, one, other in steps:
                values.append(function(values[one], values[other]))
            assert found is None or found.low <= values[-1] <= found.high
