"""Time of pipes that work beside each other, of what memory waits for, and of one address."""

from __future__ import annotations

import pytest

import tt_layout
from tt_layout.audit.time.constants import FITTED
from tt_layout.audit.time.estimate import Estimate
from tt_layout.audit.time.launch import CONTENDED, DRAM, FETCH, LATENCY, launch_time
from tt_layout.hardware import find_target

HEAD = """
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32>) {
    %block = arith.constant 512 : i32
    %id = tt.get_program_id x : i32
    %at = arith.muli %id, %block : i32
    %base = tt.addptr %p, %at : !tt.ptr<i32>, i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #b>
    %first = tt.splat %base : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #b>
    %q = tt.addptr %first, %range : tensor<512x!tt.ptr<i32>, #b>, tensor<512xi32, #b>
    %x = tt.load %q : tensor<512x!tt.ptr<i32>, #b>
"""


STORE = "tt.store %q, %{} : tensor<512x!tt.ptr<i32>, #b>"
ADD = """
    %true = arith.constant true
    %sum = "tt.reduce"(%{}) <{{axis = 0 : i32}}> ({{
    ^bb0(%l: i32, %r: i32):
      %s = arith.addi %l, %r : i32
      tt.reduce.return %s : i32
    }}) : (tensor<512xi32, #b>) -> i32
    %float = arith.sitofp %sum : i32 to f32
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %o, %float, %true :
      (!tt.ptr<f32>, f32, i1) -> f32
"""


def computed(*operations: str, programs: int = 1 << 15, last: str = STORE) -> Estimate:
    """Return the estimate of a kernel that applies operations one behind the other, and stores."""
    lines = [
        f"%x{at + 1} = arith.{name} %x{at or ''}, %x : tensor<512xi32, #b>"
        for at, name in enumerate(operations)
    ]
    end = last.format(f"x{len(operations) or ''}")
    text = "\n".join([HEAD, *lines, end, "tt.return }}"])
    return tt_layout.estimate(text, grid=(programs,))


def issued(*operations: str) -> float:
    return computed(*operations).terms["issue"] - computed().terms["issue"]


def test_bits_of_three_words_are_combined_by_one_instruction() -> None:
    assert issued(*["xori", "xori"] * 8) == pytest.approx(issued(*["shli"] * 8), rel=0.02)


def issued_floats(operation: str) -> float:
    """Return what eight operations on floats, one behind the other, add to what is issued."""
    cast = "%f = arith.bitcast %x : tensor<512xi32, #b> to tensor<512xf32, #b>"
    lines = [operation.format(f"f{at + 1}", f"f{at or ''}") for at in range(8)]
    back = "%y = arith.bitcast %{} : tensor<512xf32, #b> to tensor<512xi32, #b>"
    found = [
        tt_layout.estimate(
            "\n".join([HEAD, cast, *some, back.format(last), STORE.format("y"), "tt.return }}"]),
            grid=(1 << 15,),
        ).terms["issue"]
        for some, last in ((lines, "f8"), ([], "f"))
    ]
    return found[0] - found[1]


def test_the_larger_of_two_floats_is_compared_as_integers_are() -> None:
    largest, sums = (
        issued_floats(f"%{{}} = arith.{name} %{{}}, %f : tensor<512xf32, #b>")
        for name in ("maxnumf", "mulf")
    )
    assert largest == pytest.approx(2 * sums, rel=0.1)


def test_a_pipe_multiplies_while_another_shifts() -> None:
    products, shifts = issued(*["muli"] * 64), issued(*["shli"] * 64)
    both = issued(*["muli", "shli"] * 64)
    assert max(products, shifts) < both < 0.9 * (products + shifts)


def test_a_reduction_takes_the_time_of_the_functions_that_it_applies() -> None:
    reduced = """
    %float = arith.sitofp %x : tensor<512xi32, #b> to tensor<512xf32, #b>
    {}
    %sum = "tt.reduce"(%float) <{{{{axis = 0 : i32}}}}> ({{{{
    ^bb0(%l: f32, %r: f32):
      {}
      %s = arith.addf %l, %r : f32
      tt.reduce.return %s : f32
    }}}}) : (tensor<512xf32, #b>) -> f32
    tt.store %q, %{{}} : tensor<512x!tt.ptr<i32>, #b>
    """
    apart = "%e = math.exp2 %float : tensor<512xf32, #b>", ""
    inside = "", "%e = math.exp2 %r : f32"
    before, within = (computed(last=reduced.format(*place)) for place in (apart, inside))
    one, other = before.terms, within.terms
    assert one["special functions"] == pytest.approx(other["special functions"])
    assert one["issue"] == pytest.approx(other["issue"])
    each = 20  # cycles of an exponential, which five exchanges wait for one behind the other
    assert within.launch.latency > before.launch.latency + 4 * each


@pytest.mark.parametrize(("operations", "lost"), [(500, 0), (1000, 0.375), (2000, 0.6875)])
def test_instructions_that_the_cache_loses_are_fetched_again(operations: int, lost: float) -> None:
    programs = 1 << 15
    found = computed(*["shli"] * operations, programs=programs)
    bytes_run = operations * 4 * 16 * 4 * programs / 132
    assert found.terms.get(FETCH, 0) * 1.95e9 == pytest.approx(lost * bytes_run / 10, rel=0.05)


def test_a_loop_finds_its_own_instructions_where_all_are_more_than_the_cache_holds() -> None:
    loop = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %trips = arith.constant {} : i32
    %float = arith.sitofp %x : tensor<512xi32, #b> to tensor<512xf32, #b>
    %many = scf.for %i = %zero to %trips step %one iter_args(%s = %float)
        -> (tensor<512xf32, #b>) : i32 {{{{
      %t = arith.addf %s, %float : tensor<512xf32, #b>
      scf.yield %t : tensor<512xf32, #b>
    }}}}
    tt.store %q, %{{}} : tensor<512x!tt.ptr<i32>, #b>
    """
    once, often = (computed(*["shli"] * 1000, last=loop.format(n)).terms for n in (1, 1000))
    assert often["issue"] > 1.3 * once["issue"]
    assert often[FETCH] == pytest.approx(once[FETCH], rel=1e-6)


def test_memory_waits_for_a_program_to_ask_and_to_compute() -> None:
    target = find_target("h200")
    rates = target.product
    assert rates is not None
    assert rates.timing is not None
    sharp = FITTED._replace(power=60, launch=0)
    found = computed(programs=132 * 16 * 8)
    assert found.program is not None
    launch = launch_time(found.program, target, rates, rates.timing, sharp)
    assert launch.terms[DRAM] > 1.3 * launch.terms[LATENCY]
    one = launch.terms[LATENCY] / 8
    assert launch.seconds == pytest.approx(launch.terms[DRAM] + one, rel=0.01)


def test_programs_that_add_to_one_address_wait_for_each_other() -> None:
    found = computed(programs=1 << 16, last=ADD)
    rates = found.chip.product
    assert rates is not None
    assert rates.timing is not None
    cycles = (1 << 16) / rates.timing.address_floats
    assert found.terms[CONTENDED] == pytest.approx(cycles / rates.timing.clock_hz, rel=0.02)


def test_what_was_written_before_leaves_the_cache_where_a_launch_writes_nothing() -> None:
    few, many = (computed(programs=n, last=ADD).terms[DRAM] for n in (1 << 14, 1 << 17))
    assert many > 8.8 * few
    few, many = (computed(programs=n).terms[DRAM] for n in (1 << 14, 1 << 17))
    assert many == pytest.approx(8 * few, rel=0.01)
