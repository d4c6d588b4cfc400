"""What is true of values whatever the arguments are: trials, beside all of them in full."""

from __future__ import annotations

import numpy as np
import pytest
from work import calls_of

from tt_layout import parse_ir
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.values.given import GivenValues
from tt_layout.audit.values.trials import PROGRAMS, ElementFacts, Trials
from tt_layout.ir.ssa import SsaReader, Value

ARGUMENTS = [f"%a{number}" for number in range(12)]
BODY = """
  %one = arith.constant dense<1> : tensor<64xi32>
  %four = arith.constant dense<4> : tensor<64xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %id = tt.get_program_id x : i32
  %p = tt.splat %id : i32 -> tensor<64xi32>
  %shifted = arith.addi %r, %p : tensor<64xi32>
  %even = arith.addi %r, %r : tensor<64xi32>
  %groups = arith.divsi %r, %four : tensor<64xi32>
  %n = tt.splat %a0 : i32 -> tensor<64xi32>
  %wrapped = arith.remsi %r, %n : tensor<64xi32>
  %far = arith.muli %wrapped, %n : tensor<64xi32>
  %loaded = "test.load"() : () -> tensor<64xi32>
"""


def trials() -> Trials:
    products = [
        f"  %s{n} = tt.splat {name} : i32 -> tensor<64xi32>\n"
        f"  %x{n} = arith.muli %r, %s{n} : tensor<64xi32>\n"
        for n, name in enumerate(ARGUMENTS)
    ]
    head = ", ".join(f"{name}: i32 {{tt.divisibility = 16 : i32}}" for name in ARGUMENTS)
    text = f"tt.func @f({head}) {{\n{BODY}{''.join(products)}  tt.return\n}}\n"
    [function] = SsaReader().functions(parse_ir(text)[0])
    return Trials(function, GivenValues(), PlacedLayouts())


def value_of(found: Trials, name: str) -> Value:
    return found.function.values[name]


def test_what_divides_is_true_of_what_trials_know() -> None:
    found = trials()
    divided = [
        [found.always_divides(divisor, value_of(found, name), 0, run) for divisor in (2, 8)]
        for name, run in (("%even", 1), ("%even", 4), ("%r", 1), ("%loaded", 1))
    ]
    assert divided == [[True, False], [True, True], [False, False], [False, False]]


def test_neighbours_are_apart_by_the_argument_itself() -> None:
    found = trials()
    factors = [found.facts(value_of(found, f"%x{n}"), 0).factor for n in range(len(ARGUMENTS))]
    assert factors == ARGUMENTS


@pytest.mark.parametrize(
    "name", ["%one", "%r", "%shifted", "%even", "%groups", "%wrapped", "%far", "%x3"]
)
def test_facts_are_those_of_all_trials(name: str) -> None:
    found = trials()
    value = value_of(found, name)
    arrays = [array for t in found.trials_of({}) for array in found.values_in(t, value)]
    assert len(arrays) == len(PROGRAMS)

    def longest(holds: object) -> int:
        assert callable(holds)
        sizes = [1 << n for n in range(7)]
        whole = [s for s in sizes if all(holds(a.reshape(-1, s)) for a in arrays)]
        return max(s for s in whole if whole[: whole.index(s)] == sizes[: whole.index(s)])

    steps = [set(np.diff(array).tolist()) for array in arrays]
    assert (
        found.facts(value, 0)[:3]
        == ElementFacts(
            longest(
                lambda g: (
                    not ((g - g[:, :1] != np.arange(g.shape[1])) | (g[:, :1] % g.shape[1])).any()
                )
            ),
            longest(lambda g: (g == g[:, :1]).all()),
            steps[0].pop() if len(steps[0]) == 1 and all(s == steps[0] for s in steps) else None,
            "",
        )[:3]
    )


LOOP = """
tt.func @f(%n: i32, %m: i32) {
  %zero = arith.constant 0 : i32
  %two = arith.constant dense<2> : tensor<1x8xi32>
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %row = tt.expand_dims %r {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %column = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %s = tt.splat %n : i32 -> tensor<8x1xi32>
  %t = tt.splat %m : i32 -> tensor<8x8xi32>
  %far = arith.muli %column, %s : tensor<8x1xi32>
  %near = arith.muli %row, %two : tensor<1x8xi32>
  %a = tt.broadcast %far : tensor<8x1xi32> -> tensor<8x8xi32>
  %b = tt.broadcast %near : tensor<1x8xi32> -> tensor<8x8xi32>
  %sum = arith.addi %a, %b : tensor<8x8xi32>
  %product = arith.muli %a, %b : tensor<8x8xi32>
  %least = arith.minsi %a, %b : tensor<8x8xi32>
  %0:2 = scf.for %i = %zero to %n step %n iter_args(%x = %sum, %y = %b)
      -> (tensor<8x8xi32>, tensor<8x8xi32>)  : i32 {
    %moved = arith.addi %x, %t : tensor<8x8xi32>
    %grown = arith.addi %y, %y : tensor<8x8xi32>
    scf.yield %moved, %grown : tensor<8x8xi32>, tensor<8x8xi32>
  }
  tt.return
}
"""


@pytest.mark.parametrize("dim", [0, 1])
def test_what_operations_tell_is_what_trials_show(dim: int) -> None:
    [function] = SsaReader().functions(parse_ir(LOOP)[0])
    found = Trials(function, GivenValues(), PlacedLayouts())
    seen = {}
    for name in ("%a", "%b", "%sum", "%product", "%least", "%moved", "%grown"):
        value = function.values[name]
        seen[name] = found.facts_by_strides(value, dim, 1)
        assert found.facts(value, dim) == found.facts_by_trials(value, dim, {}, 1), name
    told = {name for name, facts in seen.items() if facts is not None}
    assert told == {"%a", "%b", "%sum", "%moved", *["%grown"] * (dim == 0)}
    assert seen["%moved"] == ElementFacts(1, 1, *((None, "%n"), (2, ""))[dim])


def test_trials_end_once_nothing_can_hold() -> None:
    found = trials(), trials()
    far, last = value_of(found[0], "%far"), value_of(found[1], "%x3")
    few = calls_of(lambda: found[0].facts(far, 0))
    assert few < calls_of(lambda: found[1].facts_by_trials(last, 0, {}, 1)) / 2
