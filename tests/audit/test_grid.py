"""What all programs of a grid do, against each of them evaluated by itself."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from work import calls_of

from tt_layout import parse_ir
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.global_memory.sectors import SectorCounts
from tt_layout.audit.global_memory.access_shape import AccessShape, Addresses
from tt_layout.audit.global_memory.traffic import count_run, traffic, values_of_all
from tt_layout.audit.measured.programs import LaunchGrid
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.executions import executions, run_count
from tt_layout.audit.values.given import GivenValues
from tt_layout.audit.values.kinds import MAX_PARTS, kinds_of_runs
from tt_layout.audit.values.runs import each_run
from tt_layout.audit.values.unknown import UnknownError
from tt_layout.ir.ssa import Function, Operation, SsaReader

HEAD = """
tt.func @f(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %t: i1) {
  %x = tt.get_program_id x : i32
  %y = tt.get_program_id y : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c64 = arith.constant 64 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
"""
STORE = """
  %os = tt.splat %o : i32 -> tensor<64xi32>
  %a = arith.addi %os, %r : tensor<64xi32>
  %m = arith.cmpi slt, %a, %ns : tensor<64xi32>
  %q = tt.addptr %ps, %a : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  "test.store"(%q, %m) : (tensor<64x!tt.ptr<f16>>, tensor<64xi1>) -> ()
"""
UNSIGNED = """
  %w = arith.subi {} : i32
  %ws = tt.splat %w : i32 -> tensor<64xi32>
  %s = arith.addi %ws, %r : tensor<64xi32>
  %a = arith.extui %s : tensor<64xi32> to tensor<64xi64>
  %nl = arith.extsi %ns : tensor<64xi32> to tensor<64xi64>
  %m = arith.cmpi sge, %a, %nl : tensor<64xi64>
  %q = tt.addptr %ps, %a : tensor<64x!tt.ptr<f16>>, tensor<64xi64>
  "test.store"(%q, %m) : (tensor<64x!tt.ptr<f16>>, tensor<64xi1>) -> ()
"""
BODIES = {
    "in a region that runs once": f"""
  %o = arith.muli %x, %c64 : i32
  scf.execute_region {{
    {STORE}
    scf.yield
  }}
""",
    "a block of a row each, the last one cut": f"""
  %o = arith.muli %x, %c64 : i32
  {STORE}
""",
    "rows of an odd length": f"""
  %k = arith.muli %y, %n : i32
  %w = arith.muli %x, %c64 : i32
  %o = arith.addi %k, %w : i32
  {STORE}
""",
    "causal": f"""
  scf.for %i = %y to %x step %c1 : i32 {{
    %o = arith.muli %i, %c64 : i32
    {STORE}
  }}
""",
    "pointers that a loop advances": """
  %b = tt.addptr %p, %x : !tt.ptr<f16>, i32
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %first = tt.addptr %bs, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %step = tt.splat %n : i32 -> tensor<64xi32>
  %end = scf.for %i = %c0 to %c3 step %c1 iter_args(%q = %first) -> (tensor<64x!tt.ptr<f16>>)
      : i32 {
    %is = tt.splat %i : i32 -> tensor<64xi32>
    %m = arith.cmpi sle, %r, %is : tensor<64xi32>
    "test.store"(%q, %m) : (tensor<64x!tt.ptr<f16>>, tensor<64xi1>) -> ()
    %next = tt.addptr %q, %step : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
    scf.yield %next : tensor<64x!tt.ptr<f16>>
  }
""",
    "wrapped around": """
  %w = arith.muli %x, %c64 : i32
  %ws = tt.splat %w : i32 -> tensor<64xi32>
  %s = arith.addi %ws, %r : tensor<64xi32>
  %a = arith.remsi %s, %ns : tensor<64xi32>
  %d = arith.divsi %s, %ns : tensor<64xi32>
  %m = arith.cmpi sle, %d, %a : tensor<64xi32>
  %q = tt.addptr %ps, %a : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  "test.store"(%q, %m) : (tensor<64x!tt.ptr<f16>>, tensor<64xi1>) -> ()
""",
    "the later of two blocks": """
  %w = arith.muli %x, %c64 : i32
  %ws = tt.splat %w : i32 -> tensor<64xi32>
  %s = arith.addi %ws, %r : tensor<64xi32>
  %a = arith.maxsi %s, %r : tensor<64xi32>
  %m = arith.cmpi slt, %a, %ns : tensor<64xi32>
  %q = tt.addptr %ps, %a : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  "test.store"(%q, %m) : (tensor<64x!tt.ptr<f16>>, tensor<64xi1>) -> ()
""",
    "grouped": f"""
  %g = arith.divsi %x, %c3 : i32
  %h = arith.remsi %x, %c3 : i32
  %l = arith.minsi %g, %y : i32
  %k = arith.muli %l, %c64 : i32
  %e = arith.muli %h, %n : i32
  %o = arith.addi %k, %e : i32
  {STORE}
""",
    "an early return": f"""
  %z = arith.muli %x, %c64 : i32
  %e = arith.cmpi sge, %z, %n : i32
  cf.cond_br %e, ^bb1, ^bb2(%z : i32)
^bb1:
  tt.return
^bb2(%o: i32):
  {STORE}
""",
    "a branch of some programs": f"""
  %e = arith.cmpi eq, %x, %y : i32
  scf.if %e {{
    %o = arith.muli %y, %c3 : i32
    {STORE}
  }}
""",
    "a choice": f"""
  %e = arith.cmpi slt, %x, %c3 : i32
  %u = arith.select %e, %y, %n : i32
  %v = arith.maxsi %u, %x : i32
  %o = arith.addi %v, %c1 : i32
  {STORE}
""",
    "a product of what differs": """
  %xs = tt.splat %x : i32 -> tensor<64xi32>
  %a = arith.muli %xs, %r : tensor<64xi32>
  %lo = arith.maxsi %a, %r : tensor<64xi32>
  %m = arith.cmpi ne, %lo, %ns : tensor<64xi32>
  %q = tt.addptr %ps, %lo : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  "test.store"(%q, %m) : (tensor<64x!tt.ptr<f16>>, tensor<64xi1>) -> ()
""",
    "offsets that a loop triples": f"""
  %end = scf.for %i = %c0 to %c3 step %c1 iter_args(%o = %x) -> (i32) : i32 {{
    {STORE}
    %next = arith.muli %o, %c3 : i32
    scf.yield %next : i32
  }}
""",
    "unsigned, some below zero": "%z = arith.muli %x, %c64 : i32" + UNSIGNED.format("%z, %n"),
}
TILES = f"""
  scf.for %tile = %x to %n step %c3 : i32 {{
    %row = arith.divsi %tile, %c3 : i32
    %end = arith.addi %row, %c1 : i32
    scf.for %i = %c0 to %end step %c1 : i32 {{
      %k = arith.addi %row, %i : i32
      %o = arith.muli %k, %c64 : i32
      {STORE}
    }}
  }}
"""
"""A persistent kernel: a loop over tiles, and one within it whose length differs by tile."""

SHAPE = AccessShape(
    LinearLayout.from_bases([("lane", [[1], [2], [4], [8], [16]]), ("warp", [[32]])], ["dim0"]),
    1, 2, False, False,
)  # fmt: skip


def addresses(function: Function) -> Addresses:
    return Addresses(function.values["%q"], None, function.values["%m"], 2)


def function_of(body: str) -> Function:
    [module] = parse_ir(f"{HEAD}{body}\n  tt.return\n}}")
    return SsaReader().functions(module)[0]


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("n", [100, 333])
def test_a_grid_is_the_sum_of_its_programs(body: str, n: int) -> None:
    function = function_of(body)
    [store] = [o for o in function.walk() if o.name == "test.store"]
    runs, totals = 0, np.zeros(4, np.int64)
    for x, y in product(range(9), range(4)):
        given = GivenValues({"n": n, "program_id_x": x, "program_id_y": y})
        alone = Evaluator(function, given)
        runs += executions(alone, store).number or 0
        totals += np.array(traffic(alone, store, SHAPE, addresses(function)).counts)
    grid = LaunchGrid(function, GivenValues({"n": n}), (9, 4, 1))
    found = list(grid.answers(lambda e: run_count(e, store)))
    assert sum(count for count, _ in found) == 36
    assert sum(answer.number or 0 for _, answer in found) == runs
    asked = list(grid.answers(lambda e: traffic(e, store, SHAPE, addresses(function))))
    sums = [sum(a.counts[at] or 0 for _, a in asked) for at in range(4)]
    assert sums == totals.tolist()
    assert not any(answer.assumed or answer.unknown for _, answer in asked)


@pytest.mark.parametrize(
    "body",
    [
        BODIES["a block of a row each, the last one cut"],
        "%z = arith.muli %x, %c64 : i32" + UNSIGNED.format("%z, %c0"),
    ],
    ids=["signed", "unsigned"],
)
def test_programs_that_are_alike_are_evaluated_once(body: str) -> None:
    function = function_of(body)
    [store] = [o for o in function.walk() if o.name == "test.store"]
    ids = np.indices((1 << 12, 16, 1)).reshape(3, -1)
    evaluator = Evaluator(function, GivenValues({"n": 100_000}), programs=ids)
    where = addresses(function)
    asked = kinds_of_runs(
        evaluator, store, where.all, lambda values: values_of_all(values, SHAPE, where)
    )
    # Whole blocks, the one that is cut, and those behind the end.
    assert sorted(count for count, _ in asked) == [16, 16 * 1562, 16 * (4096 - 1563)]


@pytest.mark.parametrize(
    "question",
    [
        lambda e, store: traffic(e, store, SHAPE, addresses(e.function)),
        lambda e, store: values_of_all(
            [e.value(value) for value in store.operands], SHAPE, addresses(e.function)
        ),
    ],
    ids=["of all executions", "of the values"],
)
def test_too_many_kinds_of_programs_are_refused(
    question: Callable[[Evaluator, Operation], object],
) -> None:
    function = function_of(BODIES["a product of what differs"])
    [store] = [o for o in function.walk() if o.name == "test.store"]
    grid = LaunchGrid(function, GivenValues({"n": 1}), (2 * MAX_PARTS, 1, 1))
    with pytest.raises(UnknownError) as error:
        list(grid.answers(lambda e: question(e, store)))
    assert error.value.unknown.reasons == {f"more than {MAX_PARTS} kinds of programs"}


def test_what_data_decides_is_a_bound() -> None:
    function = function_of(f"""
  cf.cond_br %t, ^bb1, ^bb2
^bb1:
  %o = arith.muli %x, %c64 : i32
  {STORE}
  cf.br ^bb2
^bb2:
  "test.last"() : () -> ()
""")
    [store] = [o for o in function.walk() if o.name == "test.store"]
    [last] = [o for o in function.walk() if o.name == "test.last"]
    alone = Evaluator(function, GivenValues({"n": 64}))
    assert executions(alone, store)[:2] == (None, "at most 1")
    assert executions(alone, last)[:2] == (1, "1")
    count = run_count(alone, store)
    assert count.number == 1
    assert [unknown.names for unknown in count.assumed] == [frozenset({"t"})]
    assert traffic(alone, store, SHAPE, addresses(function)).counts == (2, 4, 2, 2)


def test_a_loop_of_any_length_in_what_data_decides_is_a_bound() -> None:
    function = function_of(f"""
  cf.cond_br %t, ^bb1, ^bb2
^bb1:
  scf.for %i = %c1 to %n step %c1 : i32 {{
    %o = arith.muli %i, %c64 : i32
    {STORE}
  }}
  cf.br ^bb2
^bb2:
""")
    [store] = [o for o in function.walk() if o.name == "test.store"]
    count = run_count(Evaluator(function, GivenValues({"n": 1 << 30})), store)
    assert count.number == (1 << 30) - 1
    assert [unknown.names for unknown in count.assumed] == [frozenset({"t"})]


@pytest.mark.parametrize(("flag", "number"), [(1, 0), (0, 1)])
def test_an_early_return_is_decided_by_what_is_given(flag: int, number: int) -> None:
    function = function_of(f"""
  cf.cond_br %t, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  %o = arith.muli %x, %c64 : i32
  {STORE}
""")
    [store] = [o for o in function.walk() if o.name == "test.store"]
    alone = Evaluator(function, GivenValues({"t": flag, "n": 64}))
    assert executions(alone, store)[:2] == (number, "at most 1")


@pytest.mark.parametrize("body", [*BODIES.values(), TILES], ids=[*BODIES, "tiles"])
def test_kinds_of_runs_are_the_runs_one_by_one(body: str) -> None:
    function = function_of(body)
    [store] = [o for o in function.walk() if o.name == "test.store"]
    where = addresses(function)
    for x, y in product((0, 2, 8), (0, 3)):
        alone = Evaluator(function, GivenValues({"n": 47, "program_id_x": x, "program_id_y": y}))
        totals, runs = np.zeros(4, np.int64), 0
        for values in each_run(alone, store, where.all):
            count = count_run(SHAPE, where, values_of_all(values, SHAPE, where))
            assert isinstance(count, SectorCounts)
            totals += [count.requests, count.sectors, count.lines, count.wavefronts]
            runs += 1
        assert traffic(alone, store, SHAPE, where).counts == tuple(totals.tolist())
        assert run_count(alone, store).number == runs


def test_work_of_a_persistent_kernel_is_that_of_its_kinds_of_runs() -> None:
    function = function_of(TILES)
    [store] = [o for o in function.walk() if o.name == "test.store"]

    def work(n: int) -> int:
        grid = LaunchGrid(function, GivenValues({"n": n}), (3, 1, 1))
        return calls_of(
            lambda: list(grid.answers(lambda e: traffic(e, store, SHAPE, addresses(function))))
        )

    work(48)  # what is cached for good
    # Four times the tiles have sixteen times the runs, of as many kinds.
    assert work(192) < 1.5 * work(48)
