"""Values followed to where they come from."""

from __future__ import annotations

import pytest

from tt_layout.ir import parse_ir
from tt_layout.ir.ssa import Function
from tt_layout.ir.ssa.dataflow import constant_of, lineage, repeated
from tt_layout.ir.ssa.reader import read_functions

BODY = """
tt.func @f(%n: i32) {
  %eight = arith.constant 8 : i32
  %true = arith.constant true
  %dense = arith.constant dense<4> : tensor<64xi32, #a>
  %mixed = arith.constant dense<[4, 5]> : tensor<2xi32, #a>
  %splat = tt.splat %eight : i32 -> tensor<64xi32, #a>
  %wide = arith.extsi %splat : tensor<64xi32, #a> to tensor<64xi64, #a>
  %moved = ttg.convert_layout %dense : tensor<64xi32, #a> -> tensor<64xi32, #b>
  %column = tt.expand_dims %moved {axis = 1 : i32} : tensor<64xi32, #b> -> tensor<64x1xi32, #c>
  %square = tt.broadcast %column : tensor<64x1xi32, #c> -> tensor<64x64xi32, #c>
  %flag = arith.extsi %true : i1 to i32
  %short = arith.trunci %eight : i32 to i8
  %sum = arith.addi %dense, %dense : tensor<64xi32, #a>
  %size = arith.index_cast %n : i32 to index
  %sizes = tt.splat %size : index -> tensor<64xindex, #a>
}"""


def function_of(body: str) -> Function:
    [module] = parse_ir(body)
    [function] = read_functions(module)
    return function


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        *[("%eight", 8), ("%dense", 4), ("%mixed", None), ("%splat", 8), ("%wide", 8)],
        *[("%moved", 4), ("%square", 4), ("%true", 1), ("%flag", None), ("%short", None)],
        *[("%sum", None), ("%sizes", None)],
    ],
)
def test_a_constant_is_known_through_what_keeps_its_number(name: str, constant: int | None) -> None:
    assert constant_of(function_of(BODY).values[name]) == constant


def test_an_argument_is_the_one_number_of_what_repeats_it() -> None:
    values = function_of(BODY).values
    assert repeated(values["%sizes"]) is values["%n"]
    assert repeated(values["%sum"]) is values["%sum"]


def test_a_value_is_followed_as_long_as_it_is_passed_on() -> None:
    values = function_of(BODY).values
    followed = lineage(values["%square"], lambda operation: operation.traits.shape)
    assert [value.name for value in followed] == ["%square", "%column", "%moved"]
