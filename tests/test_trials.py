"""What is true of values whatever the arguments are: trials, beside all of them in full."""

from __future__ import annotations

import numpy as np
import pytest
from work import calls_of

from tt_layout import parse_ir
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.values.given import GivenValues
from tt_layout.audit.values.trials import PROGRAMS, Facts, Trials
from tt_layout.ir.ssa import SsaReader

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


def test_neighbours_are_apart_by_the_argument_itself() -> None:
    found = trials()
    factors = [found.facts(f"%x{n}", 0).factor for n in range(len(ARGUMENTS))]
    assert factors == ARGUMENTS


@pytest.mark.parametrize(
    "name", ["%one", "%r", "%shifted", "%even", "%groups", "%wrapped", "%far", "%x3"]
)
def test_facts_are_those_of_all_trials(name: str) -> None:
    found = trials()
    arrays = [array for t in found._trials({}) for array in found._values(t, name)]
    assert len(arrays) == len(PROGRAMS)

    def longest(holds: object) -> int:
        assert callable(holds)
        sizes = [1 << n for n in range(7)]
        whole = [s for s in sizes if all(holds(a.reshape(-1, s)) for a in arrays)]
        return max(s for s in whole if whole[: whole.index(s)] == sizes[: whole.index(s)])

    steps = [set(np.diff(array).tolist()) for array in arrays]
    assert (
        found.facts(name, 0)[:3]
        == Facts(
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


def test_trials_end_once_nothing_can_hold() -> None:
    found = trials(), trials()
    few = calls_of(lambda: found[0].facts("%far", 0))
    assert few < calls_of(lambda: found[1].facts("%x3", 0)) / 2
