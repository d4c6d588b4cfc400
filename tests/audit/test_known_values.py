"""Values that a dump makes known, and how often its operations are executed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command import Run, runner
from small_modules import ROWS, module_of

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.audit.axis import axis_info
from tt_layout.audit.axis.info import AxisInfo
from tt_layout.audit.global_memory.first_request import first_request
from tt_layout.audit.global_memory.width import address_info
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.executions import executions
from tt_layout.audit.values.given import GivenValues
from tt_layout.audit.values.rules import Application
from tt_layout.audit.values.spread import ProgramTensor, advanced_by, fits, remainder, selected
from tt_layout.audit.values.trials import common_step
from tt_layout.audit.values.unknown import Unknown
from tt_layout.encodings.cga import rank_by
from tt_layout.enums import TypeKind
from tt_layout.ir.module import Module
from tt_layout.ir.ssa import Value, read_functions
from tt_layout.ir.ssa.types import ValueType


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def test_a_constant_keeps_its_divisor_in_another_shape() -> None:
    module = module_of(
        "    %c = arith.constant dense<12> : tensor<8x4xi32>\n"
        "    %r = tt.reshape %c : tensor<8x4xi32> -> tensor<2x16xi32>"
    )
    [function] = read_functions(module)
    info = axis_info(function, [function])[function.values["%r"]]
    assert info.vectors == ((1, 1), (4, 4), (2, 16))
    assert info.constant == 12


def test_axis_info_names_the_function(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.ttir"
    path.write_text("tt.func @first(%n: i32) {\n}\ntt.func @second(%m: i32) {\n}\n")
    lines = run("audit", str(path), "--axis-info").out.splitlines()
    assert [line for line in lines if line.startswith("values")] == [
        "values of @first",
        "values of @second",
    ]


def test_a_slice_beyond_its_tensor_is_unknown() -> None:
    text = (
        "    %i = tt.make_range {{end = 4 : i32, start = 0 : i32}} : tensor<4xi32>\n"
        "    %r = amdg.extract_slice %i [{}] : tensor<4xi32> to tensor<2xi32>"
    )
    within, beyond = (evaluated(text.format(first)) for first in (2, 3))
    assert within == [2, 3]
    assert beyond is None


def evaluated(body: str) -> Any:
    """Return the elements of ``%r``, or its number; None where they are not known."""
    [function] = read_functions(module_of(body))
    found = Evaluator(function, GivenValues()).value(function.values["%r"])
    return None if isinstance(found, Unknown) else found.tolist()


def test_truth_values_have_all_bits_or_none() -> None:
    words = ("true", "false", "1 : i32", "-1 : i32")
    assert [evaluated(f"    %r = arith.constant {w}") for w in words] == [-1, 0, 1, -1]


def test_a_difference_of_constants_is_known() -> None:
    body = (
        "    %a = arith.constant 12 : i32\n    %b = arith.constant 5 : i32\n"
        "    %r = arith.subi %a, %b : i32"
    )
    [function] = read_functions(module_of(body))
    assert axis_info(function, [function])[function.values["%r"]].constant == 7


def test_a_loop_of_many_trips_is_not_counted_one_by_one() -> None:
    body = """    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %end = arith.constant 1000000007 : i64
    scf.for %i = %c0 to %end step %c1 : i64 {
      %v = arith.addi %i, %c1 : i64
    }"""
    [function] = read_functions(module_of(body))
    [loop] = [one for one in function.body[0].operations if one.name == "scf.for"]
    [inner] = [one for one in loop.regions[0][0].operations if one.name == "arith.addi"]
    assert executions(Evaluator(function, GivenValues()), inner).number == 1000000007


def shared_values(base: list[int], pattern: list[int]) -> ProgramTensor:
    return ProgramTensor(np.array(base), np.array(pattern))


def test_one_of_two_values_of_each_program() -> None:
    yes, no = shared_values([0, 5], [0, 1]), shared_values([7, 9], [2, 2])
    assert selected(np.array([1, 1]), yes, no) is yes
    assert selected(np.array([0, 0]), yes, no) is no
    mixed = selected(np.array([True]), np.array([3]), np.array([4]))
    assert isinstance(mixed, np.ndarray)
    assert mixed.tolist() == [3]


def test_values_fit_a_width_with_their_signs() -> None:
    assert fits(np.array([-128, 127]), 8)
    assert not fits(np.array([128]), 8)
    assert fits(shared_values([100, -128], [0, 27]), 8)
    assert not fits(shared_values([100], [0, 28]), 8)


def divided(name: str, values: ProgramTensor, divisor: int) -> Any:
    """Return what an operation on integers makes of values of several programs."""
    body = f"    %c = arith.constant {divisor} : i32\n    %r = {name} %x, %c : i32"
    [function] = read_functions(module_of(body))
    [operation] = [one for one in function.body[0].operations if one.name == name]
    integer = ValueType(TypeKind.SCALAR, (), "i32", None)
    application = Application(operation, (), (), integer, 0, lambda _: None)
    return remainder(application, (values, np.array([divisor])))


def test_the_remainder_by_one_number() -> None:
    """Programs whose bases leave the same remainder agree, whatever holds the divisor."""
    found = divided("arith.remsi", shared_values([3, 6], [0, 1]), 3)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [0, 1]


def test_the_quotient_by_one_number() -> None:
    """Programs that pass a multiple of it at the same element differ in their bases alone."""
    found = divided("arith.divsi", shared_values([4, 12], [0, 2, 4, 6]), 8)
    assert isinstance(found, ProgramTensor)
    assert (found.base[:, None] + found.pattern).tolist() == [[0, 0, 1, 1], [1, 1, 2, 2]]


def test_the_first_list_given_has_the_rank() -> None:
    values = {"sizePerThread": [], "order": [1, 0]}
    assert rank_by("sizePerThread", "order")(values) == 2
    assert rank_by("warpsPerCTA", "sizePerThread")(values) == 0


def test_the_first_request_is_the_first_that_takes_part() -> None:
    line = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [2], "
    body = """
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #a>
    %c = arith.constant dense<96> : tensor<128xi32, #a>
    %m = arith.cmpi sge, %r, %c : tensor<128xi32, #a>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #a>
    %a = tt.addptr %s, %r : tensor<128x!tt.ptr<f32>, #a>, tensor<128xi32, #a>
    %x = tt.load %a, %m : tensor<128x!tt.ptr<f32>, #a>
    tt.return"""
    argument = "%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}"
    head = 'module attributes {"ttg.num-warps" = 2 : i32, ttg.target = "cuda:90"}'
    text = f"#a = {line}order = [0]}}>\n{head} {{\n  tt.func @f({argument}) {{{body}\n  }}\n}}"
    [module] = parse_ir(text)
    request = first_request(module.operations[0], AuditedModule(module, SharedWork()))
    assert request is not None
    assert request.starts == tuple(range(0, 128, 4))


def reduced(axis: int) -> Module:
    source = f"tensor<32x64xf32, {ROWS}>"
    result = f"tensor<32xf32, #ttg.slice<{{dim = 1, parent = {ROWS}}}>>"
    return module_of(f"""    %a = arith.constant dense<1.0> : {source}
    %r = "tt.reduce"(%a) <{{axis = {axis} : i32}}> ({{
    ^bb0(%m: f32, %n: f32):
      %s = arith.addf %m, %n : f32
      tt.reduce.return %s : f32
    }}) : ({source}) -> {result}""")


@pytest.mark.parametrize(("axis", "is_known"), [(1, True), (2, False)])
def test_a_reduction_goes_along_one_of_its_dimensions(axis: int, is_known: bool) -> None:
    [row] = audit_module(reduced(axis)).movements
    assert (row.cost is not None) == is_known


def test_what_a_reduction_hands_over_is_unknown() -> None:
    [function] = read_functions(reduced(1))
    found = Evaluator(function, GivenValues()).value(function.values["%m"])
    assert isinstance(found, Unknown)
    assert ["tt.reduce" in one for one in found.reasons] == [True]


@pytest.mark.parametrize(
    ("values", "step"),
    [([[3, 7]], 4), ([[3]], None), ([[3, 7, 11], [1, 5]], 4), ([[3, 7, 8]], None)],
)
def test_neighbours_are_a_step_apart(values: list[list[int]], step: int | None) -> None:
    assert common_step(list(map(np.array, values)), 0) == step


def test_axis_info_names_what_regions_are_given(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.ttir"
    path.write_text(
        "tt.func @f(%n: i32) {\n  scf.for %i = %n to %n step %n : i32 {\n"
        "    %j = arith.addi %i, %n : i32\n  }\n  tt.return\n}\n"
    )
    lines = run("audit", str(path), "--axis-info").out.splitlines()
    assert [line.split()[:2] for line in lines if "%" in line] == [
        ["1", "%n"],
        ["2", "%i"],
        ["3", "%j"],
    ]


def test_a_function_may_take_a_function() -> None:
    body = "tt.func @f(%g: (i32, i64) -> i1, %n: i32) {\n  tt.return\n}\n"
    [module] = parse_ir(body)
    [function] = read_functions(module)
    assert [value.name for value in function.arguments] == ["%g", "%n"]


@pytest.mark.parametrize("steps", [[[3, 3]], [[3, 5]]], ids=["of one size", "of two sizes"])
def test_an_advance_counts_in_units(steps: list[list[int]]) -> None:
    times = np.array([7, 7])
    value, step = np.array([[100, 200]]), np.array(steps)
    found = advanced_by(value, times, ProgramTensor(np.array([0, 1]), step), 4)
    assert isinstance(found, ProgramTensor)
    everywhere = found.base[:, None] + found.pattern.reshape(1, -1)
    expected = value + 7 * 4 * (step + np.array([[0], [1]]))
    assert everywhere.tolist() == expected.tolist()


@pytest.mark.parametrize(("base", "expected"), [(64, (16, 8)), (8, (8, 8))])
def test_offsets_of_buffers_are_divisible_in_bytes_as_their_base_is(
    base: int, expected: tuple[int, ...]
) -> None:
    offsets, pointer = Value("%o"), Value("%p")
    known = {
        offsets: AxisInfo((1, 8), (8, 4), (1, 1)),
        pointer: AxisInfo((1,), (base,), (1,)),
    }
    kernel: Any = SimpleNamespace(known=known)
    width: Any = SimpleNamespace(element_bytes=2)
    found = address_info(kernel, {"pointer": pointer, "offsets": offsets}, width)
    assert (found.divisibility, found.contiguity) == (expected, (1, 8))


def test_pointers_are_divisible_in_bytes_as_they_are() -> None:
    pointer = Value("%p")
    known = AxisInfo((1, 8), (4, 16), (1, 1))
    kernel: Any = SimpleNamespace(known={pointer: known})
    width: Any = SimpleNamespace(element_bytes=2)
    assert address_info(kernel, {"pointer": pointer}, width) == known
