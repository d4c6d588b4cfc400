"""Skeletons: what functions share that differ in names, layouts and places alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from work import calls_of

from tt_layout import parse_ir
from tt_layout.audit.axis import axis_info
from tt_layout.ir.ssa import Function, SsaReader

KERNEL = Path(__file__).parents[2] / "examples" / "kernels" / "attention-sm90.ttgir"


def read(text: str) -> Function:
    """Return the only function of a text."""
    [module] = parse_ir(text)
    [function] = SsaReader().functions(module)
    return function


def renamed(text: str) -> str:
    """Return a kernel with other names of values and layouts, in other places."""
    text = re.sub(r"%([\w-]+)", r"%other_\g<1>", text)
    return "\n\n\n" + re.sub(r"#blocked(\d*)", r"#layout\g<1>", text).replace(" loc(", "  loc(")


def body(lines: str, arguments: str = "%n: i32, %m: i32") -> Function:
    """Return a function with these operations."""
    return read(f"tt.func @f({arguments}) {{\n{lines}\n  tt.return\n}}\n")


def test_names_layouts_and_places_are_no_part_of_it() -> None:
    text = KERNEL.read_text()
    assert read(text).skeleton == read(renamed(text)).skeleton


@pytest.mark.parametrize(
    "pair",
    [
        ("%0 = arith.subi %n, %m : i32", "%0 = arith.subi %m, %n : i32"),
        ("%0 = arith.addi %n, %m : i32", "%0 = arith.subi %n, %m : i32"),
        ("%0 = arith.constant 4 : i32", "%0 = arith.constant 5 : i32"),
        ("%0 = arith.constant 4 : i32", "%0 = arith.constant 4 : i64"),
        ("%0 = arith.constant true", "%0 = arith.constant 1 : i1"),
        ("%0 = arith.addi %n, %unknown : i32", "%0 = arith.addi %n, %m : i32"),
        (
            "%0 = tt.load %n, %m : i32",
            "%0 = tt.load %n, %m {tt.divisibility = 16 : i32} : i32",
        ),
        (
            "%0 = scf.if %n -> i32 {\n scf.yield %n : i32\n} else {\n scf.yield %m : i32\n}",
            "%0 = scf.if %n -> i32 {\n scf.yield %m : i32\n} else {\n scf.yield %n : i32\n}",
        ),
        ("cf.br ^a(%n : i32)\n^a(%k: i32):", "cf.br ^a(%m : i32)\n^a(%k: i32):"),
        ("cf.br ^a(%n : i32)\n^a(%k: i32):", "cf.br ^b(%n : i32)\n^a(%k: i32):"),
    ],
)
def test_whatever_else_differs_is_part_of_it(pair: tuple[str, str]) -> None:
    assert body(pair[0]).skeleton == body(pair[0]).skeleton
    assert body(pair[0]).skeleton != body(pair[1]).skeleton


def test_types_of_arguments_are_part_of_it() -> None:
    line = "%0 = arith.addi %n, %n : i32"
    assert body(line, "%n: i32").skeleton != body(line, "%n: i64").skeleton


def test_the_axis_analysis_visits_functions_of_one_skeleton_once() -> None:
    text = KERNEL.read_text().replace("64 : i32", "4160 : i32")  # of no other test
    first, second = read(text), read(renamed(text))
    assert first.skeleton == second.skeleton  # which is found once of each
    known: list[object] = []
    calls = [
        calls_of(lambda function=function: known.append(axis_info(function)))  # type: ignore[misc]
        for function in (first, second)
    ]
    assert calls[1] < calls[0] / 5
    of_first, of_second = (axis_info(function) for function in (first, second))
    assert [*of_first.values()] == [*of_second.values()]
    renamed_values = [f"%other_{value.name[1:]}" for value in of_first]
    assert renamed_values == [value.name for value in of_second]


def test_hints_of_arguments_are_asked_for_apart() -> None:
    line = "%0 = arith.addi %n, %n : i32"
    [bare, hinted] = [
        body(line, f"%n: i32{hint}") for hint in ("", " {tt.divisibility = 16 : i32}")
    ]
    assert bare.skeleton == hinted.skeleton
    values = [function.values["%0"] for function in (bare, hinted)]
    [less, more] = [axis_info(f)[value] for f, value in zip((bare, hinted), values)]
    assert (less.divisibility, more.divisibility) == ((1,), (16,))
