"""How long a kernel takes: the walk over a program, the launch, and what is said of it."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from command import Run, runner
from work import calls_of

import tt_layout
from tt_layout.audit.audit import audit_module
from tt_layout.audit.bounds import Bound, footprint
from tt_layout.audit.kernel import kernels_of
from tt_layout.audit.shares import Shares
from tt_layout.audit.time import estimate
from tt_layout.audit.time.constants import FITTED
from tt_layout.audit.time.demands import Pricing
from tt_layout.audit.time.estimate import Estimate
from tt_layout.audit.time.launch import LaunchTime, launch_time
from tt_layout.audit.time.steps import Step
from tt_layout.audit.values.given import parse_values
from tt_layout.audit.verdict import BoundGap
from tt_layout.errors import LayoutError
from tt_layout.hardware import find_target
from tt_layout.ir import parse_ir
from tt_layout.kernels.device import device_name
from tt_layout.kernels.metadata import KernelMetadata
from tt_layout.kernels.seen import CompiledKernel, Launch, SeenKernel
from tt_layout.library.autotuning import stopping_at_ttgir
from tt_layout.watching.report import report_of
from tt_layout.wording import durations

ROOT = Path(__file__).parents[2]
MATMUL = ROOT / "tests" / "data" / "h200-matmul.ttgir"

HEAD = """
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#m = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %block = arith.constant 512 : i32
    %id = tt.get_program_id x : i32
    %at = arith.muli %id, %block : i32
    %base = tt.addptr %p, %at : !tt.ptr<f32>, i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #b>
    %first = tt.splat %base : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
    %q = tt.addptr %first, %range : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %x = tt.load %q : tensor<512x!tt.ptr<f32>, #b>
"""
TAIL = """
    tt.return
  }
}
"""


def kernel(body: str) -> str:
    """Return a kernel that loads a tensor and does something with it."""
    return HEAD + body + TAIL


def chain(length: int) -> str:
    """Return additions each of which waits for the last, and a store."""
    lines = ["%y0 = arith.addf %x, %x : tensor<512xf32, #b>"]
    lines += [f"%y{k} = arith.addf %y{k - 1}, %x : tensor<512xf32, #b>" for k in range(1, length)]
    return "\n".join([*lines, f"tt.store %q, %y{length - 1} : tensor<512x!tt.ptr<f32>, #b>"])


def loop(body: str, bound: str = "%n") -> str:
    return f"""
    %r = scf.for %i = %zero to {bound} step %one
        iter_args(%a = %x) -> (tensor<512xf32, #b>) : i32 {{
      {body}
      scf.yield %c : tensor<512xf32, #b>
    }}
    tt.store %q, %r : tensor<512x!tt.ptr<f32>, #b>
    """


ADD = "%c = arith.addf %a, %a : tensor<512xf32, #b>"


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def estimated(text: str, n: int | None = None, grid: tuple[int, ...] | None = (132,)) -> Estimate:
    return tt_layout.estimate(text, {"n": n} if n is not None else None, grid=grid)


class TestProgram:
    def test_dependences_add_up(self) -> None:
        short, long = (estimated(kernel(chain(length))) for length in (4, 104))
        grown = long.launch.latency - short.launch.latency
        assert grown == pytest.approx(100 * (4 + 4.65), rel=0.05)

    def test_a_loop_takes_its_trips(self) -> None:
        few, many = (estimated(kernel(loop(ADD)), n) for n in (20, 120))
        [iteration] = many.launch.walked.iterations
        assert (iteration.trips, iteration.loop.name) == (120, "scf.for")
        grown = many.launch.latency - few.launch.latency
        assert grown == pytest.approx(100 * iteration.cycles, rel=0.01)

    def test_an_iteration_knows_what_is_busy_when(self) -> None:
        body = """
        %e = math.exp2 %a : tensor<512xf32, #b>
        %c = arith.addf %e, %a : tensor<512xf32, #b>
        """
        [iteration] = estimated(kernel(loop(body)), 64).launch.walked.iterations
        begin, end = iteration.window
        assert end - begin == pytest.approx(iteration.cycles * iteration.passes, rel=0.25)
        lanes = {span.lane: span for span in iteration.spans}
        assert lanes["special"].step.name == "math.exp2"
        assert {"issue", "special"} == lanes.keys()
        assert all(0 <= span.begin < span.end <= end - begin for span in iteration.spans)
        issued = sum(span.end - span.begin for span in iteration.spans if span.lane == "issue")
        assert 0 < issued <= end - begin

    def test_a_program_without_loops_knows_what_is_busy_when(self) -> None:
        walked = estimated(kernel(chain(4))).launch.walked
        assert [span.step.name for span in walked.spans if span.lane == "loads"] == ["tt.load"]
        assert max(span.end for span in walked.spans) <= walked.cycles

    def test_the_tail_is_what_the_last_wave_adds(self) -> None:
        launch = estimated(kernel(chain(4)), grid=(132,)).launch
        full = 132 * launch.resident
        whole, more = (
            estimated(kernel(chain(400)), grid=(number,)).launch for number in (full, full + 1)
        )
        assert whole.tail == 0
        assert 0 < more.tail < more.seconds

    def test_an_iteration_names_what_it_waits_for(self) -> None:
        body = """
        %e = math.exp2 %a : tensor<512xf32, #b>
        %c = arith.addf %e, %a : tensor<512xf32, #b>
        """
        [iteration] = estimated(kernel(loop(body)), 64).launch.walked.iterations
        assert iteration.critical[0].step.name == "math.exp2"
        assert sum(one.cycles for one in iteration.critical) <= iteration.cycles * 1.01

    def test_copies_wait_for_all_that_read_what_they_replace(self) -> None:
        def waits(read: str) -> bool:
            both = "!ttg.memdesc<2x512xf32, #s, #m, mutable>"
            one = "!ttg.memdesc<512xf32, #s, #m, mutable>"
            body = f"""
            %t = ttg.async_wait {{num = 0 : i32}}
            %v = ttg.memdesc_index %{read}[%zero] : {both} -> {one}
            %l = ttg.local_load %v : {one} -> tensor<512xf32, #b>
            %c = arith.addf %a, %l : tensor<512xf32, #b>
            %w = ttg.memdesc_index %copied[%one] : {both} -> {one}
            %k = ttg.async_copy_global_to_local %q, %w : tensor<512x!tt.ptr<f32>, #b> -> {one}
            %g = ttg.async_commit_group tokens %k
            """
            buffers = "".join(
                f"%{name} = ttg.local_alloc : () -> {both}\n" for name in ("copied", "apart")
            )
            [iteration] = estimated(kernel(buffers + loop(body)), 64).launch.walked.iterations
            waiting = [span.step.name for span in iteration.spans if span.lane == "waits"]
            return "ttg.async_copy_global_to_local" in waiting

        assert (waits("copied"), waits("apart")) == (True, False)

    def test_nothing_begins_before_a_fence_of_what_was_stored(self) -> None:
        stored = (
            "%l = ttg.local_alloc %x : (tensor<512xf32, #b>) -> !ttg.memdesc<512xf32, #s, #m>\n"
        )
        fence = "ttng.fence_async_shared {bCluster = false}\n"
        plain, fenced = (
            estimated(kernel(f"{stored}{text}{chain(4)}")).launch for text in ("", fence * 10)
        )
        assert fenced.latency - plain.latency == pytest.approx(580, rel=0.05)

    def test_a_loop_that_never_runs_hands_on_what_it_began_with(self) -> None:
        assert estimated(kernel(loop(ADD)), 0).launch.walked.iterations == ()

    def test_a_load_that_constants_mask_out_takes_no_time(self) -> None:
        """The compiler drops it: what it gives is its other value."""
        masked = """
        %bound = arith.constant dense<COLUMNS> : tensor<512xi32, #b>
        %other = arith.constant dense<0.0> : tensor<512xf32, #b>
        %mask = arith.cmpi slt, %range, %bound : tensor<512xi32, #b>
        """
        load = "%v = tt.load %q, %mask, %other : tensor<512x!tt.ptr<f32>, #b>\n"
        add = "%c = arith.addf %a, %v : tensor<512xf32, #b>"
        never, always, without = (
            estimated(kernel(masked.replace("COLUMNS", columns) + loop(body)), 64).launch.seconds
            for columns, body in (
                ("0", load + add),
                ("512", load + add),
                ("0", add.replace("%v", "%other")),
            )
        )
        assert never == without < 0.6 * always

    def test_loops_in_loops(self) -> None:
        inner = """
        %c = scf.for %j = %zero to %n step %one iter_args(%d = %a) -> (tensor<512xf32, #b>) : i32 {
          %f = arith.addf %d, %d : tensor<512xf32, #b>
          scf.yield %f : tensor<512xf32, #b>
        }
        """
        text = kernel(loop(inner))
        small, large = (estimated(text, n).launch.latency for n in (20, 80))
        assert 10 < large / small < 18

    def test_a_branch_that_some_programs_take_counts_in_part(self) -> None:
        body = """
        %is = arith.cmpi eq, %id, %zero : i32
        scf.if %is {
        """
        text = kernel(body + chain(400) + "}")
        whole = estimated(text, grid=(1,)).launch.latency
        part = estimated(text, grid=(132,)).launch.latency
        assert part < 0.7 * whole

    def test_partitions_run_side_by_side(self) -> None:
        arguments = "%v: tensor<512xf32, #b>"
        work = "\n".join(
            ["%y0 = arith.addf %v, %v : tensor<512xf32, #b>"]
            + [f"%y{k} = arith.addf %y{k - 1}, %v : tensor<512xf32, #b>" for k in range(1, 200)]
        )
        both = f"""
        ttg.warp_specialize(%x) attributes {{partitionNumWarps = array<i32: 4>}}
        default {{
          {work.replace("%v", "%x")}
          ttg.warp_yield
        }}
        partition0({arguments}) num_warps(4) {{
          {work}
          ttg.warp_return
        }} : (tensor<512xf32, #b>) -> ()
        """
        alone = estimated(kernel(chain(200))).launch.latency
        beside = estimated(kernel(both)).launch.latency
        assert beside < 1.2 * alone


class TestLaunch:
    def test_memory_takes_the_time_of_what_moves_much(self) -> None:
        found = estimated(kernel(chain(1)), grid=(1 << 18,))
        assert found.limit == "DRAM"
        moved = 2 * 4 * 512 * (1 << 18)
        assert moved / 4.6e12 < found.seconds < 1.6 * moved / 4.05e12

    def test_waves_follow_from_the_grid(self) -> None:
        found = estimated(kernel(chain(4)), grid=(132 * 16 * 3,))
        assert found.launch.waves == pytest.approx(132 * 48 / 132 / found.launch.resident)

    def test_programs_on_a_multiprocessor_share_its_schedulers(self) -> None:
        adds = [f"%c{k} = arith.addf %c{k - 1}, %x : tensor<512xf32, #b>" for k in range(1, 40)]
        adds += ["%c = arith.addf %c39, %x : tensor<512xf32, #b>"]
        body = "\n".join(["%c0 = arith.addf %a, %x : tensor<512xf32, #b>", *adds])
        alone, together = (estimated(kernel(loop(body)), 50, (132 * n,)) for n in (1, 16))
        assert (alone.launch.waves, together.launch.waves) == (1 / 16, 1)
        issued = together.launch.terms["issue"]
        assert issued == pytest.approx(16 * alone.launch.terms["issue"])
        assert together.seconds > issued > 4 * alone.seconds

    def test_without_a_grid_it_is_of_one_full_wave(self) -> None:
        found = estimated(kernel(chain(4)), grid=None)
        assert found.launch.programs == 132 * found.launch.resident
        assert "for one full wave of" in found.text
        assert not found.is_of_grid
        assert any("grid" in doubt for doubt in found.doubts)

    def test_without_a_grid_the_trips_are_the_mean_over_its_wave(self) -> None:
        """Of a causal loop those of the first programs would be a sixteenth."""
        text = kernel(loop("%c = arith.addf %a, %x : tensor<512xf32, #b>", "%id"))
        assumed = estimated(text, grid=None)
        known = estimated(text, grid=(assumed.launch.programs,))
        means = [
            [one.trips for one in found.launch.walked.iterations] for found in (assumed, known)
        ]
        assert means == [[(assumed.launch.programs - 1) / 2]] * 2
        assert assumed.seconds == known.seconds

    def test_another_product_has_its_own_memory(self) -> None:
        text = kernel(chain(1))
        h200, h100 = (
            tt_layout.estimate(text, grid=(1 << 18,), gpu=gpu).seconds for gpu in ("h200", "h100")
        )
        assert 1.3 < h100 / h200 < 1.6

    def test_a_product_that_was_not_measured_says_so(self) -> None:
        text = kernel(chain(1)).replace("cuda:90", "cuda:80")
        found = tt_layout.estimate(text, grid=(1024,))
        assert not found.is_measured
        assert "rates not measured" in found.text
        assert "latencies and rates of the GPU were not measured" in found.doubts

    def test_more_doubts_widen_the_range(self) -> None:
        text = kernel(chain(4))
        known, unknown = estimated(text), estimated(text, grid=None)
        width = known.range[1] / known.range[0]
        assert width <= 2
        assert unknown.range[1] / unknown.range[0] > width


class TestShortRows:
    """A program that reads a square of floats: its rows are half lines of memory, or whole ones."""

    @staticmethod
    def square(columns: int, pitch: int) -> str:
        rows = 2048 // columns
        lanes = min(32, columns // 4)
        return f"""
        #b = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [{32 // lanes}, {lanes}],
                           warpsPerCTA = [4, 1], order = [1, 0]}}>
        #r = #ttg.slice<{{dim = 1, parent = #b}}>
        #c = #ttg.slice<{{dim = 0, parent = #b}}>
        module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
          tt.func public @f(%p: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
            %wide = arith.constant {rows * pitch} : i32
            %pitch = arith.constant dense<{pitch}> : tensor<{rows}x1xi32, #b>
            %id = tt.get_program_id x : i32
            %y = tt.get_program_id y : i32
            %columns = arith.constant {columns} : i32
            %down = arith.muli %id, %wide : i32
            %across = arith.muli %y, %columns : i32
            %at = arith.addi %down, %across : i32
            %base = tt.addptr %p, %at : !tt.ptr<f32>, i32
            %m = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32, #r>
            %m1 = tt.expand_dims %m {{axis = 1 : i32}}
              : tensor<{rows}xi32, #r> -> tensor<{rows}x1xi32, #b>
            %m2 = arith.muli %m1, %pitch : tensor<{rows}x1xi32, #b>
            %n = tt.make_range {{end = {columns} : i32, start = 0 : i32}}
              : tensor<{columns}xi32, #c>
            %n1 = tt.expand_dims %n {{axis = 0 : i32}}
              : tensor<{columns}xi32, #c> -> tensor<1x{columns}xi32, #b>
            %m3 = tt.broadcast %m2 : tensor<{rows}x1xi32, #b> -> tensor<{rows}x{columns}xi32, #b>
            %n2 = tt.broadcast %n1 : tensor<1x{columns}xi32, #b> -> tensor<{rows}x{columns}xi32, #b>
            %o = arith.addi %m3, %n2 : tensor<{rows}x{columns}xi32, #b>
            %s = tt.splat %base : !tt.ptr<f32> -> tensor<{rows}x{columns}x!tt.ptr<f32>, #b>
            %q = tt.addptr %s, %o
              : tensor<{rows}x{columns}x!tt.ptr<f32>, #b>, tensor<{rows}x{columns}xi32, #b>
            %x = tt.load %q : tensor<{rows}x{columns}x!tt.ptr<f32>, #b>
            tt.return
          }}
        }}"""

    @pytest.mark.parametrize(("columns", "part"), [(8, 0.75), (16, 0.75), (32, 1), (128, 1)])
    def test_memory_reads_half_lines_slower(self, columns: int, part: float) -> None:
        found = estimated(self.square(columns, 1024), grid=(1024, 1024 // columns))
        moved = 1024 * 2048 // columns * 1024 * 4
        replaced = 0.6 * min(50e6, moved - 50e6)  # of what was written before
        assert found.terms["DRAM"] == pytest.approx((moved / part + replaced) / 4.5e12)
        assert found.launch.floor == pytest.approx(moved / 4.5e12)


WRITTEN = """
        %w = scf.for %i = %zero to %n step %width
            iter_args(%a = %start) -> (tensor<512xf32, #b>) : i32 {
          %k = arith.addi %base, %i : i32
          %q = tt.addptr %out, %k : !tt.ptr<f32>, i32
          %s = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
          %t = tt.addptr %s, %lanes : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
          tt.store %t, %a : tensor<512x!tt.ptr<f32>, #b>
          scf.yield %a : tensor<512xf32, #b>
        }"""
"""A loop that stores as many floats as one of two passes loads."""


def two_passes(behind: str = "") -> str:
    """Return a kernel whose programs load rows of n floats in a loop, and in another one."""
    loops = "".join(
        f"""
        %r{number} = scf.for %i = %zero to %n step %width
            iter_args(%a = %start) -> (tensor<512xf32, #b>) : i32 {{
          %k = arith.addi %base, %i : i32
          %q = tt.addptr %p, %k : !tt.ptr<f32>, i32
          %s = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
          %t = tt.addptr %s, %lanes : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
          %x = tt.load %t : tensor<512x!tt.ptr<f32>, #b>
          %c = arith.addf %a, %x : tensor<512xf32, #b>
          scf.yield %c : tensor<512xf32, #b>
        }}"""
        for number in range(2)
    )
    return f"""
    #b = #ttg.blocked<{{
      sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
    module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
      tt.func public @f(%p: !tt.ptr<f32> {{tt.divisibility = 16 : i32}},
                        %n: i32 {{tt.divisibility = 16 : i32}},
                        %out: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
        %zero = arith.constant 0 : i32
        %width = arith.constant 512 : i32
        %start = arith.constant dense<0.0> : tensor<512xf32, #b>
        %lanes = tt.make_range {{end = 512 : i32, start = 0 : i32}} : tensor<512xi32, #b>
        %id = tt.get_program_id x : i32
        %base = arith.muli %id, %n : i32
        {loops}{behind}
        tt.return
      }}
    }}"""


def test_a_wave_hides_nothing_of_one_phase_in_another() -> None:
    length = 500
    together = estimated(kernel(loop(ADD) + chain(length)), 2, grid=(132 * 16,)).launch
    body = "%e = math.exp2 %a : tensor<512xf32, #b>\n%c = arith.addf %e, %e : tensor<512xf32, #b>"
    apart = estimated(kernel(loop(body) + chain(length)), 62, grid=(132 * 16,)).launch
    special, issue = apart.terms["special functions"], together.terms["issue"]
    assert 0.5 < special / issue < 2
    assert apart.seconds > 0.95 * (special + issue)


def copied(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return steps that copy to shared memory what some load."""
    return tuple(
        replace(
            step,
            regions=tuple(map(copied, step.regions)),
            access=replace(step.access, kind="copy to local")
            if step.access is not None and step.access.kind == "global load"
            else step.access,
        )
        for step in steps
    )


class TestReadAgain:
    """Rows that a program loads in two loops, which caches hold in between, or do not."""

    @pytest.mark.parametrize("floats", [512, 4096, 16384, 131072])
    def test_memory_is_read_again_where_no_cache_holds_it(self, floats: int) -> None:
        programs = 131072 * 16384 // floats
        found = estimated(two_passes(), floats, (programs,))
        between = 132 * found.launch.resident * floats * 4
        again = max(0.0, 1 - 50e6 / between)
        moved = (1 + again) * 131072 * 16384 * 4
        replaced = 0.6 * 50e6  # of what was written before
        assert found.terms["DRAM"] == pytest.approx((moved + replaced) / 4.5e12)
        assert (again > 0) == (floats > 4096)

    @pytest.mark.parametrize("floats", [512, 16384, 131072])
    def test_copies_are_read_again_as_loads_are(self, floats: int) -> None:
        programs = 131072 * 16384 // floats
        found = estimated(two_passes(), floats, (programs,))
        rates = find_target("h200").product
        assert rates is not None
        assert rates.timing is not None
        copying = launch_time(
            replace(found.program, steps=copied(found.program.steps)),
            find_target("h200"), rates, rates.timing,
        )  # fmt: skip
        assert copying.terms["DRAM"] == pytest.approx(found.terms["DRAM"])
        assert copying.terms["L2"] >= found.terms["L2"]

    def test_the_first_cache_leaves_nothing_to_the_second(self) -> None:
        small, large = (estimated(two_passes(), floats, (100000,)) for floats in (512, 16384))
        assert large.terms["L2"] / small.terms["L2"] == pytest.approx(2 * 16384 / 512, rel=0.1)

    def test_stores_leave_what_the_first_cache_holds_of_loads(self) -> None:
        """Behind rows that it holds they add as much for each float as behind rows it does not."""
        added = []
        for floats in (512, 16384):
            kernels = two_passes(), two_passes(WRITTEN)
            read, both = (estimated(text, floats, (100000,)).terms["L2"] for text in kernels)
            added.append((both - read) / floats)
        assert added[0] == pytest.approx(added[1], rel=0.01)


def column_walk(step: int, rows: int = 128) -> str:
    """Return a kernel whose threads walk along 64 elements of their rows by so many floats."""
    return f"""
    #b = #ttg.blocked<{{
      sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
    module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
      tt.func public @f(%p: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        %step = arith.constant {step} : i32
        %trips = arith.constant 64 : i32
        %many = arith.constant {rows} : i32
        %length = arith.constant dense<{64 * step}> : tensor<{rows}xi32, #b>
        %start = arith.constant dense<0.0> : tensor<{rows}xf32, #b>
        %range = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32, #b>
        %id = tt.get_program_id x : i32
        %at = arith.muli %id, %many : i32
        %base = tt.splat %at : i32 -> tensor<{rows}xi32, #b>
        %row = arith.addi %base, %range : tensor<{rows}xi32, #b>
        %begin = arith.muli %row, %length : tensor<{rows}xi32, #b>
        %r = scf.for %i = %zero to %trips step %one
            iter_args(%a = %start) -> (tensor<{rows}xf32, #b>) : i32 {{
          %along = arith.muli %i, %step : i32
          %s = tt.splat %along : i32 -> tensor<{rows}xi32, #b>
          %k = arith.addi %begin, %s : tensor<{rows}xi32, #b>
          %q = tt.splat %p : !tt.ptr<f32> -> tensor<{rows}x!tt.ptr<f32>, #b>
          %t = tt.addptr %q, %k : tensor<{rows}x!tt.ptr<f32>, #b>, tensor<{rows}xi32, #b>
          %x = tt.load %t : tensor<{rows}x!tt.ptr<f32>, #b>
          %c = arith.addf %a, %x : tensor<{rows}xf32, #b>
          scf.yield %c : tensor<{rows}xf32, #b>
        }}
        tt.return
      }}
    }}
    """


class TestSectorsInParts:
    """Loops that take a word of a sector in each iteration, which caches hold meanwhile or not."""

    def test_the_next_iterations_find_the_sector_in_the_first_cache(self) -> None:
        next_to, apart = (estimated(column_walk(step), grid=(132 * 64,)).launch for step in (1, 8))
        near, far = (launch.walked.iterations[0].cycles for launch in (next_to, apart))
        assert near < far / 3

    @pytest.mark.parametrize("rows", [128, 256, 512])
    def test_more_lines_than_a_cache_holds_are_read_again(self, rows: int) -> None:
        found = estimated(column_walk(1, rows), grid=(132 * 64,))
        [access] = (step.access for step in found.program.walk() if step.access is not None)
        assert access.sector_bytes == rows * 32
        own, asked = rows * 64 * 4, rows * 64 * 32
        missed = max(0.0, 1 - 50e6 / (132 * found.launch.resident * rows * 128))
        assert (missed > 0) == (rows > 128)
        moved = own + missed * (asked - own)
        replaced = 0.6 * 50e6 / (132 * 64)  # of what was written before
        short = 0.75  # as fast as whole lines
        memory = found.terms["DRAM"] * 4.5e12 / (132 * 64) * short
        assert memory == pytest.approx(moved + replaced, rel=0.03)


def test_the_first_warps_compute_while_others_load() -> None:
    body = """
    %e = math.exp2 %x : tensor<512xf32, #b>
    tt.store %q, %e : tensor<512x!tt.ptr<f32>, #b>
    """
    spans = {span.lane: span for span in estimated(kernel(body)).launch.walked.spans}
    assert spans["loads"].begin < spans["special"].begin < spans["loads"].end
    assert spans["special"].end > spans["loads"].end


class TestPrices:
    """What the assembler makes of operations, and what many programs do to the same places."""

    def test_a_product_that_is_added_is_one_instruction(self) -> None:
        both = """
        %d = arith.mulf %a, %a : tensor<512xf32, #b>
        %c = arith.addf %d, %x : tensor<512xf32, #b>
        """
        apart = both.replace("arith.addf", "arith.maximumf")
        joined, split = (estimated(kernel(loop(body)), 64).terms["issue"] for body in (both, apart))
        assert joined < 0.75 * split

    @pytest.mark.parametrize(
        ("name", "operand", "element", "issued", "special"),
        [
            ("sitofp", "i8", "bf16", 3, 0),
            ("sitofp", "i8", "f16", 3, 8),
            ("sitofp", "i8", "f32", 1.5, 8),
            ("uitofp", "i8", "f32", 4, 0),
            ("sitofp", "i32", "f32", 2, 0),
            ("extsi", "i8", "i32", 2, 0),
            ("trunci", "i32", "i8", 3, 0),
        ],
    )
    def test_casts_take_the_instructions_that_they_are_compiled_to(
        self, name: str, operand: str, element: str, issued: float, special: float
    ) -> None:
        rates = find_target("h200").product
        assert rates is not None
        assert rates.timing is not None
        at: dict[str, Any] = {"line": 1, "source": None, "registers": 4}
        cast = Step(
            name=f"arith.{name}", operands=("x",), results=("y",), element=element,
            input_element=operand, **at,
        )  # fmt: skip
        used = Step(name="math.exp", operands=("y",), results=("z",), element="f32", **at)
        demand = Pricing(rates.timing, rates, FITTED, 4, [cast, used]).of(cast)
        assert (demand.issue, demand.special) == (4 * issued, 4 * special)

    def test_divisions_by_one_number_take_its_reciprocal_once(self) -> None:
        value = "tensor<512xf32, #b>"
        shared = f"""
        %u = tt.splat %one_f : f32 -> {value}
        %c = arith.divf %a, %u : {value}
        """
        own = f"%c = arith.divf %x, %a : {value}"
        constant = "%one_f = arith.constant 3.0 : f32\n"
        terms = [estimated(kernel(constant + loop(body)), 64).terms for body in (shared, own)]
        assert terms[0]["special functions"] == pytest.approx(terms[1]["special functions"] / 4)

    def test_an_accumulator_larger_than_the_registers_is_spilled(self) -> None:
        def body(size: int) -> str:
            value = f"tensor<{size}xf32, #b>"
            return f"""
            %big = arith.constant dense<0.0> : {value}
            %sum = scf.for %i = %zero to %n step %one iter_args(%s = %big) -> ({value}) : i32 {{
              %t = arith.addf %s, %s : {value}
              scf.yield %t : {value}
            }}
            """

        def spilled(size: int) -> float:
            found = estimated(kernel(body(size)), 64)
            program = replace(found.program, fewest=200, needed=260, most=350, programs=1)
            return replace(found, program=program).launching(132).launch.spilled

        assert (spilled(8192), spilled(32768) > 100) == (0, True)

    def test_spills_move_in_every_iteration_of_the_inner_loop(self) -> None:
        inner = """
        %c = scf.for %j = %zero to %n step %one iter_args(%d = %a) -> (tensor<512xf32, #b>) : i32 {
          %f = arith.addf %d, %d : tensor<512xf32, #b>
          scf.yield %f : tensor<512xf32, #b>
        }
        """

        def spills(text: str) -> float:
            found = estimated(text, 40)
            program = replace(found.program, used=255, spilled=100, programs=1)
            return replace(found, program=program).launching(132).terms["spills"]

        single, nested = spills(kernel(loop(ADD))), spills(kernel(loop(inner)))
        assert nested == pytest.approx(40 * single, rel=0.01)

    @staticmethod
    def spilling(programs: int, used: int = 255, spilled: int = 100) -> LaunchTime:
        """Return a launch of programs that use and spill so many registers."""
        found = estimated(kernel(chain(4)))
        program = replace(
            found.program,
            used=used,
            spilled=spilled,
            programs=1,
            first_bytes=0,
            moved_bytes=0,
        )
        return replace(found, program=program).launching(programs).launch

    def test_nothing_hides_what_is_spilled(self) -> None:
        without, spilling = (self.spilling(132, spilled=number) for number in (0, 100))
        added = spilling.seconds - without.seconds
        assert added == pytest.approx(spilling.terms["spills"], rel=1e-3)
        # A store and a load of 4 bytes by each of 128 threads, at 31 bytes a cycle.
        assert added == pytest.approx(100 * 2 * 4 * 128 / 31 / 1.95e9, rel=1e-3)

    def test_spills_that_no_cache_holds_move_at_the_speed_of_memory(self) -> None:
        few, many = (self.spilling(132, 32, spilled=number) for number in (400, 4000))
        kept = 4000 * 4 * 128 * 132
        assert kept > 5 * 50e6
        assert many.terms["spills"] > 15 * few.terms["spills"]
        moved = 2 * 2.75 * (kept - 50e6)
        assert 4.05e12 > moved / many.terms["spills"] > 0.8 * 4.05e12

    def test_an_array_in_memory_is_no_spill_where_registers_are_left(self) -> None:
        assert self.spilling(132, 40, spilled=8).spilled == 0
        assert self.spilling(132, 255, spilled=8).spilled == 8

    @staticmethod
    def adding(per_thread: int) -> str:
        """Return a kernel that adds 512 numbers to the same addresses as all programs."""
        return kernel("""
        %ones = arith.constant dense<1> : tensor<512xi32, #b>
        %all = arith.constant dense<true> : tensor<512xi1, #b>
        %r = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>
        %rs = tt.splat %r : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #b>
        %rq = tt.addptr %rs, %range : tensor<512x!tt.ptr<i32>, #b>, tensor<512xi32, #b>
        %old = tt.atomic_rmw add, relaxed, gpu, %rq, %ones, %all
          : (tensor<512x!tt.ptr<i32>, #b>, tensor<512xi32, #b>, tensor<512xi1, #b>)
          -> tensor<512xi32, #b>
        """).replace("sizePerThread = [4]", f"sizePerThread = [{per_thread}]")

    def test_a_sector_is_added_to_by_each_instruction(self) -> None:
        dense, spread = (
            estimated(self.adding(count), grid=(1 << 16,)).terms["contended atomics"]
            for count in (1, 4)
        )
        assert spread == pytest.approx(4 * dense)

    def test_a_histogram_takes_longer_with_more_bins(self) -> None:
        def issue(bins: int) -> float:
            return estimated(
                kernel(f"""
            %whole = arith.fptosi %x : tensor<512xf32, #b> to tensor<512xi32, #b>
            %h = tt.histogram %whole : tensor<512xi32, #b> -> tensor<{bins}xi32, #b>
            """)
            ).terms["issue"]

        assert issue(2048) > 3 * issue(128)

    def test_programs_share_what_is_loaded_by_the_same_indices(self) -> None:
        body = """
        %index = arith.fptosi %x : tensor<512xf32, #b> to tensor<512xi32, #b>
        %s2 = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
        %q2 = tt.addptr %s2, %index : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
        %y = tt.load %q2 : tensor<512x!tt.ptr<f32>, #b>
        """
        alone = estimated(kernel(body), grid=(64, 1)).terms["DRAM"]
        shared, apart = (
            estimated(text, grid=(64, 64)).terms["DRAM"]
            for text in (
                kernel(body),
                kernel(body)
                .replace("arith.muli %id,", "arith.muli %far,")
                .replace(
                    "%at =",
                    "%y0 = tt.get_program_id y : i32\n%far = arith.addi %id, %y0 : i32\n%at =",
                ),
            )
        )
        assert shared == pytest.approx(alone)
        assert apart > 20 * alone


def test_a_program_of_the_grid_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[tuple[int, tuple[int, ...]]] = []
    reach = footprint.ProgramFootprints.reach

    def counted(programs: Any, full: Any, access: Any, at: tuple[int, ...]) -> Any:
        looked_at.append((full.operation.line, at))
        return reach(programs, full, access, at)

    monkeypatch.setattr(footprint.ProgramFootprints, "reach", counted)
    [audit] = tt_layout.audit_ir(kernel(chain(1))).audits
    assert footprint.footprint(audit, "f", (64, 64)).bytes == 2 * 64 * 2048
    assert len(looked_at) == len(set(looked_at)) == 2 * 4


def test_an_estimate_asks_for_no_program_that_a_bound_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    whole = footprint.ProgramFootprints.whole

    def counted(programs: Any, full: Any, access: Any, evaluator: Any) -> Any:
        asked.append(full.operation.line)
        return whole(programs, full, access, evaluator)

    monkeypatch.setattr(footprint.ProgramFootprints, "whole", counted)
    [audit] = tt_layout.audit_ir(kernel(chain(1)), {"num_programs_x": 64}).audits
    [found] = kernels_of(audit)
    assert found.bounds is not None
    before = len(asked)
    assert before == 2 * 2
    assert isinstance(found.estimate, Estimate)
    assert len(asked) == before


def test_an_estimate_does_no_more_for_a_loop_that_runs_longer() -> None:
    body = """
    %m = arith.muli %i, %block : i32
    %b2 = tt.addptr %base, %m : !tt.ptr<f32>, i32
    %s2 = tt.splat %b2 : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
    %q2 = tt.addptr %s2, %range : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %y = tt.load %q2 : tensor<512x!tt.ptr<f32>, #b>
    %c = arith.addf %a, %y : tensor<512xf32, #b>
    """
    text = kernel(loop(body))
    estimated(text, 64)
    few, many = (calls_of(partial(estimated, text, n)) for n in (64, 4096))
    assert many < 1.2 * few


class TestChanges:
    """Times before and after a suggestion: the difference of two estimates."""

    DUMP = ROOT / "examples" / "narrow" / "column_major.ttgir"
    OPTIONS = "--grid", "65536", "--value", "stride=64"

    def test_the_kernel_after_it_is_the_one_that_apply_writes(
        self, run: Run, tmp_path: Path
    ) -> None:
        changed = tmp_path / "changed.ttgir"
        run("apply", str(self.DUMP), *self.OPTIONS, "-o", str(changed))
        before, after = (
            tt_layout.estimate(path, {"stride": 64}, grid=(65536,)).seconds
            for path in (str(self.DUMP), str(changed))
        )
        out = run("audit", str(self.DUMP), *self.OPTIONS, "--format", "json").out
        finding = json.loads(out)["modules"][0]["findings"][0]
        [suggestion, *_] = finding["suggestions"]
        assert suggestion["seconds"] == pytest.approx([before, after])
        assert suggestion["verdict"] == "apply"

    def test_every_surface_has_the_same_times(self, run: Run, tmp_path: Path) -> None:
        said = {
            re.findall(r"about [\d.]+ to [\d.]+ us: \w+", " ".join(run(*words).out.split()))[0]
            for words in (
                ("audit", str(self.DUMP), *self.OPTIONS),
                ("audit", "--all", str(self.DUMP), *self.OPTIONS),
                ("apply", str(self.DUMP), *self.OPTIONS, "-o", str(tmp_path / "new.ttgir")),
            )
        }
        assert len(said) == 1
        assert said.pop().endswith("us: apply")

    def test_without_a_grid_there_are_none(self, run: Run) -> None:
        out = run("audit", str(self.DUMP), "--format", "json").out
        finding = json.loads(out)["modules"][0]["findings"][0]
        assert finding["suggestions"][0]["seconds"] is None
        assert ": apply" not in run("audit", str(self.DUMP)).out

    def test_a_compiled_kernel_is_changed_by_the_ratio_of_the_dumps(self) -> None:
        found = estimated(kernel(chain(4)), grid=(1 << 16,))
        single = found.launching(1).program
        program = replace(single, used=255, spilled=400)
        timed = replace(found, program=program).launching(1 << 16)
        assert timed.seconds > found.seconds
        assert timed.of_dump().seconds == pytest.approx(found.seconds, rel=0.02)
        assert found.of_dump() is found


class TestNoEstimate:
    @pytest.mark.parametrize(
        ("grid", "values", "words"),
        [
            ((0,), {}, "its grid of 0 has no programs"),
            ((4, -5), {}, "its grid of 4 x -5 has no programs"),
            ((), {}, "a grid has one to three sizes, and this has 0"),
            ((1, 2, 3, 4), {}, "a grid has one to three sizes, and this has 4"),
            ((1.5,), {}, "its grid of 1.5 has no programs"),
            ((64,), {"num_programs_x": 8}, "num_programs_x is 8, and the grid has 64 there"),
            ((64,), {"program_id_y": 1}, "program_id_y is 1, and the grid has 1 there"),
        ],
    )
    def test_a_grid_that_cannot_be(
        self, grid: tuple[Any, ...], values: dict[str, int], words: str
    ) -> None:
        with pytest.raises(LayoutError, match=re.escape(words)):
            tt_layout.estimate(kernel(chain(4)), values, grid=grid)

    def test_an_operation_that_nobody_knows(self) -> None:
        of_tensors = """
        %w = "foo.bar"(%x) : (tensor<512xf32, #b>) -> tensor<512xf32, #b>
        """
        with pytest.raises(LayoutError, match=r"line \d+: nobody knows how long foo.bar takes"):
            estimated(kernel(of_tensors))
        of_numbers = '%w = "foo.bar"(%n) : (i32) -> i32'
        plain, strange = (
            estimated(kernel(chain(4))),
            estimated(kernel(of_numbers + "\n" + chain(4))),
        )
        [doubt] = strange.doubts
        assert doubt.startswith("nobody knows how long foo.bar at line ")
        assert strange.range[1] / strange.seconds > plain.range[1] / plain.seconds

    def test_unknown_trips_are_named(self) -> None:
        with pytest.raises(LayoutError, match=r"without values=.*: the loop at line 19 runs %n "):
            estimated(kernel(loop(ADD)))

    def test_a_chip_without_rates(self) -> None:
        text = kernel(chain(4)).replace("cuda:90", "cuda:75")
        with pytest.raises(LayoutError, match="no rates of its GPU are known"):
            estimated(text)

    def test_addresses_that_depend_on_an_argument_name_it(self) -> None:
        found = tt_layout.estimate(MATMUL.read_text(encoding="utf-8"), {"K": 4096}, grid=(32, 32))
        assert found.doubts == ("the addresses at line 65 depend on N",)


def test_a_kernel_may_ask_how_many_programs_there_are() -> None:
    body = """
    %count = tt.get_num_programs x : i32
    %last = arith.subi %count, %one : i32
    %back = arith.subi %last, %id : i32
    %far = arith.muli %back, %block : i32
    %b2 = tt.addptr %p, %far : !tt.ptr<f32>, i32
    %s2 = tt.splat %b2 : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
    %q2 = tt.addptr %s2, %range : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %y = tt.load %q2 : tensor<512x!tt.ptr<f32>, #b>
    """
    text = kernel(body)
    by_grid = tt_layout.estimate(text, {}, grid=(4096,))
    told = tt_layout.estimate(text, {"num_programs_x": 4096}, grid=(4096,))
    compiled = CompiledKernel("1", "f", text, "f.py:1")
    seen = report_of((SeenKernel(compiled, {Launch((4096, 1, 1), ()): 1}),))
    [watched] = seen.data()["kernels"]
    assert by_grid.seconds == told.seconds == watched["seconds"]
    loads = [step.access for step in by_grid.program.walk() if step.name == "tt.load"]
    assert [access is not None and access.sector_bytes for access in loads] == [2048, 2048]


class TestReports:
    @staticmethod
    def verdict(run: Run, text: str, path: Path, *options: str) -> str:
        """Return the verdict on a kernel as the report says it."""
        path.write_text(text)
        lines = run("audit", str(path), *options).out.splitlines()
        at = next(at for at, line in enumerate(lines) if line.startswith("@f"))
        whole = [lines[at], *takewhile(lambda line: line.startswith("    "), lines[at + 1 :])]
        return " ".join(" ".join(whole).split()).partition(": ")[2]

    def test_a_launch_near_its_bound_has_nothing_to_gain(self, run: Run, tmp_path: Path) -> None:
        said = self.verdict(run, kernel(chain(4)), tmp_path / "k", "--grid", "65536")
        assert re.fullmatch(
            r"about \d+ us on H200 \(\d+ to \d+\); [\d.]+ us at best by DRAM; nothing to gain", said
        )

    def test_without_a_grid_it_is_of_a_wave(self, run: Run, tmp_path: Path) -> None:
        said = self.verdict(run, kernel(chain(4)), tmp_path / "k")
        assert re.match(r"about [\d.]+ us on H200 for one full wave of \d+ programs \(", said)
        assert "; the launch itself takes the rest; no findings" in said

    def test_far_above_its_bound_it_says_what_takes_the_rest(
        self, run: Run, tmp_path: Path
    ) -> None:
        body = "%e = math.exp2 %a : tensor<512xf32, #b>"
        text = kernel(loop(f"{body}\n%c = arith.addf %e, %a : tensor<512xf32, #b>"))
        options = "--grid", "132", "--value", "n=4000"
        said = self.verdict(run, text, tmp_path / "k", *options)
        assert re.search(r"; exposed latency of the loop at line \d+ takes the rest: \d+ CTA", said)
        assert "nothing" not in said

    def test_all_names_the_critical_path_of_an_iteration(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "k.ttgir"
        body = "%e = math.exp2 %a : tensor<512xf32, #b>"
        path.write_text(kernel(loop(f"{body}\n%c = arith.addf %e, %a : tensor<512xf32, #b>")))
        line = next(at for at, text in enumerate(path.read_text().split("\n"), 1) if "exp2" in text)
        said = run("audit", str(path), "--value", "n=64").out
        assert "an iteration" not in said
        said = " ".join(run("audit", "--all", str(path), "--value", "n=64").out.split())
        path_text = rf"takes \d+ cycles, 64 times: math.exp2 \(line {line}\) \d+"
        assert re.search(rf"an iteration of the loop at line \d+ {path_text}", said)
        assert "a program takes" not in said
        path.write_text(kernel(chain(4)))
        said = run("audit", "--all", str(path)).out
        assert re.search(r"a program takes \d+ cycles: ", said)
        assert "each alone would take: " in said

    def test_its_absence_is_named(self, run: Run, tmp_path: Path) -> None:
        said = self.verdict(run, kernel(loop(ADD)), tmp_path / "k")
        assert said.startswith("bound by ")
        below = run("audit", str(tmp_path / "k")).out.partition("registers per thread")[2]
        assert re.search(
            r"\n  no estimate of its time without --value n=...: "
            r"the loop at line \d+ runs %n times\n",
            below,
        )

    def test_no_program_is_read_where_a_loop_is_open(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """That is why nothing more is asked of it, such as the bytes that its programs touch."""
        read: list[str] = []

        def noted(*arguments: Any, **options: Any) -> Any:
            read.append(arguments[1])
            return footprint.footprint(*arguments, **options)

        monkeypatch.setattr(estimate, "footprint", noted)
        audit = audit_module(parse_ir(kernel(loop(ADD)))[0])
        unknown = estimate.kernel_estimate(audit, "f", (1320, 1, 1))
        assert "runs %n times" in unknown.text
        assert read == []
        given = audit_module(parse_ir(kernel(loop(ADD)))[0], given=parse_values(("n=8",)))
        assert isinstance(estimate.kernel_estimate(given, "f", (1320, 1, 1)), Estimate)
        assert read == ["f"]

    def test_only_values_that_are_not_given_are_named(self, run: Run, tmp_path: Path) -> None:
        text = kernel("%nk = arith.muli %n, %k : i32\n" + loop(ADD, "%nk"))
        path = tmp_path / "k"
        path.write_text(text.replace("%n: i32)", "%n: i32, %k: i32)"))

        def missing(*options: str) -> str:
            said = " ".join(run("audit", "--all", str(path), *options).out.split())
            return said.partition("no estimate of its time without ")[2].partition(":")[0]

        assert missing() == "--value k=... --value n=..."
        assert missing("--value", "k=8") == "--value n=..."
        assert missing("--value", "k=8", "--value", "n=8") == ""
        [found] = kernels_of(tt_layout.audit_ir(path.read_text()).audits[0])
        assert found.untimed is not None
        assert found.untimed.short.endswith(" without values={'k': ...} and 1 more value")

    def test_arguments_are_named_where_programs_share_a_loop(
        self, run: Run, tmp_path: Path
    ) -> None:
        """A persistent kernel has the tiles from the number of its program on."""
        text = kernel(loop(ADD).replace("%zero to", "%first to").replace("step %one", "step %many"))
        first = "%first = tt.get_program_id x : i32\n%many = arith.constant 132 : i32\n"
        path = tmp_path / "k"
        path.write_text(text.replace("%r = scf", f"{first}%r = scf"))
        said = " ".join(run("audit", "--all", str(path)).out.split())
        assert "no estimate of its time without --value n=...: the loop at line" in said
        for grid in ([], ["--grid", "132"]):
            said = run("audit", str(path), "--value", "n=4096", *grid).out
            assert " us on H200 " in said

    def test_no_argument_is_named_where_data_decides(self, run: Run, tmp_path: Path) -> None:
        loaded = "%m = tt.load %base : !tt.ptr<f32>\n%k = arith.fptosi %m : f32 to i32\n"
        (tmp_path / "k").write_text(kernel(loaded + loop(ADD, "%k")))
        said = run("audit", str(tmp_path / "k")).out
        assert "no estimate of its time: it is not known how often the loop at line" in said
        found = run("audit", str(tmp_path / "k"), "--format", "json", "--grid", "1320").out
        [kernel_data] = json.loads(found)["modules"][0]["summary"]
        assert kernel_data["time"]["needs"] == []

    def test_a_function_that_is_called_has_no_launch_of_its_own(
        self, run: Run, tmp_path: Path
    ) -> None:
        tensor, other = "tensor<512xf32, #b>", "tensor<512xf32, #c>"
        moved = f"%m = ttg.convert_layout %y : {tensor} -> {other}"
        part = f"tt.func private @part(%y: {tensor}) {{\n{moved}\ntt.return\n}}\n}}"
        whole = kernel(f"tt.call @part(%x) : ({tensor}) -> ()").rstrip()
        columns = "threadsPerWarp = [32], warpsPerCTA = [4], order = [0]"
        path = tmp_path / "k"
        path.write_text(
            f"#c = #ttg.blocked<{{sizePerThread = [1], {columns}}}>\n"
            + whole.removesuffix("}")
            + part
        )
        own, called = run("audit", str(path), "--grid", "132").out.split("\n@part")
        assert re.search(r"no estimate of its time: line \d+: a function that is called", own)
        assert "no estimate of its time: it is not a kernel: @f calls it" in called

    @pytest.mark.parametrize("resource", ["L2", "LSU", "DRAM"])
    def test_a_bound_that_the_estimate_is_far_below_is_none(self, resource: str) -> None:
        """It counts what the first-level cache holds, or lanes that may be inactive."""
        found = estimated(kernel(chain(4)), grid=(65536,))
        [audit] = tt_layout.audit_ir(kernel(chain(4))).audits
        bounds = Shares(audit, grid=(65536,)).bounds("f")
        assert bounds is not None
        planted = replace(bounds, bounds=(Bound(resource, 1e9, "planted"), *bounds.bounds))
        assert BoundGap(found, planted).bound == bounds.bounds[0]
        cycles = found.seconds * 1.05 * bounds.rates.clock_hz
        near = replace(bounds, bounds=(Bound(resource, cycles, "planted"), *bounds.bounds))
        assert (BoundGap(found, near).bound == near.bounds[0]) is (resource != "L2")

    def test_what_may_spill_is_not_said_to_have_nothing_to_gain(self) -> None:
        found = estimated(kernel(chain(4)), grid=(65536,))
        [audit] = tt_layout.audit_ir(kernel(chain(4))).audits
        bounds = Shares(audit, grid=(65536,)).bounds("f")
        assert BoundGap(found, bounds).is_closed
        assert not BoundGap(
            replace(found, program=replace(found.program, most=300)), bounds
        ).is_closed

    @pytest.mark.parametrize(("fewest", "is_spilled"), [(200, False), (256, True)])
    def test_spills_are_those_of_the_registers(self, fewest: int, is_spilled: bool) -> None:
        found = estimated(kernel(chain(4)))
        program = replace(found.program, needed=300, fewest=fewest, most=400, programs=100)
        again = replace(found, program=program).launching(132)
        assert (again.launch.spilled > 0) is is_spilled

    def test_an_end_of_the_range_that_spills_takes_time(self) -> None:
        found = estimated(kernel(chain(4)))
        program = replace(found.program, needed=240, fewest=200, programs=100)
        fits, spills = (
            replace(found, program=replace(program, most=most)).launching(132).launch
            for most in (250, 330)
        )
        assert fits.spilled == spills.spilled == 0
        assert spills.seconds > fits.seconds

    def test_memory_has_the_pace_that_other_multiprocessors_leave(self) -> None:
        """A program waits longer for its bytes where all multiprocessors load all the time."""
        waits = []
        for length in (4, 400):
            launch = estimated(kernel(chain(length)), grid=(65536,)).launch
            cycles = {one.step.name: one.cycles for one in launch.walked.critical}
            waits.append(cycles["tt.load"])
        assert waits[0] > waits[1] + 10

    def test_stages_are_the_buffers_of_copies_in_a_loop(self) -> None:
        values = {"K": 4096, "N": 4096}
        found = tt_layout.estimate(MATMUL.read_text(encoding="utf-8"), values, grid=(32, 32))
        assert found.program.stages == 3
        assert estimated(kernel(loop(ADD)), 8).program.stages == 1

    def test_json_has_the_terms_and_the_critical_path(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "k.ttgir"
        path.write_text(kernel(loop(ADD)))
        out = run("audit", str(path), "--grid", "65536", "--value", "n=64", "--format", "json").out
        [summary] = json.loads(out)["modules"][0]["summary"]
        found = summary["time"]
        assert found["range"][0] < found["seconds"] < found["range"][1]
        assert found["loops"][0]["trips"] == 64
        assert found["loops"][0]["critical"]

    def test_json_has_the_reason_where_there_is_none(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "k.ttgir"
        path.write_text(kernel(loop(ADD)))
        out = run("audit", str(path), "--grid", "65536", "--format", "json").out
        [summary] = json.loads(out)["modules"][0]["summary"]
        assert summary["time"]["seconds"] is None
        assert "runs" in summary["time"]["reason"]

    def test_the_rest_is_no_part_of_the_bound(self) -> None:
        report = tt_layout.audit_ir(kernel(chain(60)), {"num_programs_x": 65536})
        [found] = kernels_of(report.audits[0])
        assert isinstance(found.estimate, Estimate)
        assert found.estimate.limit == "DRAM"
        assert "at best by DRAM; the issue of instructions takes the rest" in found.verdict

    def test_features_have_it(self) -> None:
        row: dict[str, Any] = tt_layout.features(kernel(chain(4)), grid=(65536,))
        assert row["estimate_least_us"] < row["estimate_us"] < row["estimate_most_us"]
        found = estimated(kernel(chain(4)), grid=(65536,))
        assert row["estimate_limit"] == found.limit == "DRAM"
        assert row["estimate_us"] == pytest.approx(1e6 * found.seconds)
        launch, names = found.launch, ("waves", "resident", "spilled")
        assert [row[f"estimate_{name}"] for name in names] == [
            pytest.approx(getattr(launch, name)) for name in names
        ]
        assert row["estimate_latency_cycles"] == pytest.approx(launch.latency)
        for term, seconds in found.terms.items():
            name = term.lower().replace(" ", "_")
            assert row[f"estimate_{name}_us"] == pytest.approx(1e6 * seconds), term


def test_the_estimate_of_a_matrix_product_knows_its_stages() -> None:
    values = {"K": 4096, "N": 4096}
    text = MATMUL.read_text(encoding="utf-8")
    found = tt_layout.estimate(text, values, grid=(32, 32))
    assert {one.loop.name for one in found.launch.walked.iterations} == {"scf.for"}
    waits = text.replace("{num = 2 : i32}", "{num = 0 : i32}")
    assert waits != text
    slower = tt_layout.estimate(waits, values, grid=(32, 32))
    assert slower.launch.latency > 1.2 * found.launch.latency


class TestRanking:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for length in (400, 4, 100):
            (tmp_path / f"{length}.ttgir").write_text(kernel(chain(length)))
        (tmp_path / "loop.ttgir").write_text(kernel(loop(ADD)))
        (tmp_path / "empty.ttgir").write_text("nothing")
        return tmp_path

    def test_configurations_are_ordered_by_time(self, run: Run, folder: Path) -> None:
        done = run("rank", str(folder), "--grid", "1320")
        head, *rows = done.out.splitlines()
        assert head.split()[:3] == ["time", "range", "registers"]
        assert [Path(row.split()[-1]).stem for row in rows[:3]] == ["4", "100", "400"]
        assert "the loop at line 19 runs %n times" in rows[3]
        assert len(rows) == 4

    def test_top_leaves_out_the_slow_ones(self, run: Run, folder: Path) -> None:
        lines = run("rank", str(folder), "--grid", "1320", "--top", "1").out.splitlines()
        assert lines[2] == "and 2 configurations: without --top all are listed"

    def test_json_has_the_terms(self, run: Run, folder: Path) -> None:
        out = run("rank", str(folder), "--grid", "1320", "--format", "json").out
        found = json.loads(out)
        assert [one["place"] for one in found["configurations"]] == [1, 2, 3]
        assert all(one["terms"]["exposed latency"] > 0 for one in found["configurations"])
        assert len(found["without_estimate"]) == 1

    @pytest.mark.slow
    def test_without_a_grid_as_much_is_stored(self, run: Run, folder: Path) -> None:
        found = json.loads(run("rank", str(folder), "--format", "json").out)
        assert not found["has_grid"]
        assert len({one["programs"] for one in found["configurations"]}) == 1
        assert "as many programs as store the same bytes" in run("rank", str(folder)).out

    @pytest.mark.slow
    def test_many_dumps_are_read_by_several_processes(self, run: Run, tmp_path: Path) -> None:
        for length in range(1, 30):
            (tmp_path / f"{length}.ttgir").write_text(kernel(chain(length)))
        rows = run("rank", str(tmp_path), "--grid", "1320").out.splitlines()[1:]
        times = [int(Path(row.split()[-1]).stem) for row in rows]
        assert len(times) == 29
        assert times[0] < times[-1]

    def test_what_has_no_configuration_is_named(self, run: Run, folder: Path) -> None:
        (folder / "without.ttgir").write_text("module {\n}\n")
        told = run("rank", str(folder), "--grid", "1320").err
        assert f"{folder / 'without.ttgir'}: it has no kernel\n" in told
        assert f"{folder / 'empty.ttgir'}: found no MLIR in it" in told

    def test_a_value_that_no_kernel_has_is_refused(self, run: Run, folder: Path) -> None:
        done = run("rank", str(folder), "--value", "m=4")
        assert (done.status, done.out) == (2, "")
        assert "no kernel has an argument 'm'" in done.err


class TestPerfModel:
    def test_a_configuration_is_compiled_once(self) -> None:
        calls = []

        def compiled(**arguments: Any) -> str:
            calls.append(arguments["LENGTH"])
            return kernel(chain(arguments["LENGTH"]))

        model = tt_layout.perf_model(compiled, lambda given: (given["n"] // 512,))
        times = [model(n=1 << 20, LENGTH=length) for length in (4, 400, 4)]
        assert times[0] == times[2] < times[1]
        assert calls == [4, 400]

    def test_what_does_not_compile_comes_last(self) -> None:
        def refused(**arguments: Any) -> str:
            raise RuntimeError("out of resources")

        assert tt_layout.perf_model(refused, (1,))(n=4) == float("inf")
        with pytest.raises(TypeError, match="unexpected keyword argument 'n'"):
            tt_layout.perf_model(lambda block: "", (1,))(n=4)

    def test_mistakes_of_a_program_are_raised(self) -> None:
        def mistaken(**arguments: Any) -> str:
            return str(arguments["block"])

        with pytest.raises(KeyError, match="block"):
            tt_layout.perf_model(mistaken, (1,))(n=4)

    def test_compilations_of_other_threads_go_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        runtime = SimpleNamespace(add_stages_inspection_hook=None)
        module = SimpleNamespace(knobs=SimpleNamespace(runtime=runtime))
        monkeypatch.setitem(sys.modules, "triton", module)
        stages: dict[str, object] = {"ttgir": "whole"}
        keys: list[object] = []

        def compile_beside() -> None:
            hook = runtime.add_stages_inspection_hook
            assert hook is not None
            keys.append(hook())
            hook(None, stages, None, None, None)

        def fail() -> None:
            with stopping_at_ttgir():
                thread = Thread(target=compile_beside)
                thread.start()
                thread.join()
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        assert (keys, stages) == ([("", "")], {"ttgir": "whole"})
        assert runtime.add_stages_inspection_hook is None

    def test_triton_stops_behind_ttgir(self, monkeypatch: pytest.MonkeyPatch) -> None:
        runtime = SimpleNamespace(add_stages_inspection_hook=None)
        module = SimpleNamespace(knobs=SimpleNamespace(runtime=runtime))
        monkeypatch.setitem(sys.modules, "triton", module)
        passed = []

        def launch(**arguments: Any) -> None:
            hook = runtime.add_stages_inspection_hook
            assert hook is not None
            assert hook() == hook()
            stages = {"ttgir": lambda source, metadata: kernel(chain(4))}
            hook(None, stages, None, None, None)
            passed.append("ttgir")
            stages["ttgir"]("", {})
            passed.append("llir")

        jit = SimpleNamespace(run=launch)
        # As Triton's autotuner calls it: with what the kernel was launched with.
        assert 0 < tt_layout.perf_model(jit, (132,))(n=4, grid=(132,), warmup=False) < 100
        assert passed == ["ttgir"]
        assert runtime.add_stages_inspection_hook is None


class TestOfManyKernels:
    """Watched kernels, budgets and baselines, which compare kernels by their estimated time."""

    @staticmethod
    def seen(name: str, text: str, *launches: tuple[int, int]) -> SeenKernel:
        """Return a kernel with the programs of its launches, and how often each occurred."""
        times = {Launch((programs, 1, 1), ()): number for programs, number in launches}
        return SeenKernel(CompiledKernel(name, "f", text, f"test_{name}.py:1"), times)

    def test_watched_kernels_are_sorted_by_what_there_is_to_gain(self) -> None:
        streaming, waiting = kernel(chain(1)), kernel(chain(4000))
        report = report_of(
            (self.seen("copy", streaming, (1 << 17, 1)), self.seen("chain", waiting, (132, 1)))
        )
        chained, copy = report.data()["kernels"]
        assert (chained["hash"], copy["hash"]) == ("chain", "copy")
        assert copy["seconds"] > 2 * chained["seconds"]
        timed = estimated(streaming, grid=(1 << 17,)).launch
        assert timed.limit == "DRAM"
        assert copy["gain"] == pytest.approx(timed.seconds - timed.terms["DRAM"], rel=1e-9)
        assert chained["gain"] == pytest.approx(chained["seconds"], rel=0.1)
        header, first = str(report).splitlines()[:2]
        assert header.split()[:3] == ["time", "to", "gain"]
        assert durations(chained["gain"])[0] in first

    def test_the_time_of_a_watched_kernel_is_that_of_its_launches(self) -> None:
        quick, slow = kernel(chain(1)), kernel(chain(400))
        report = report_of(
            (
                self.seen("idle", slow),
                self.seen("once", slow, (132, 1)),
                self.seen("often", quick, (132, 40), (264, 2)),
            )
        )
        often, once, idle = report.data()["kernels"]
        assert [one["name"] for one in (often, once, idle)] == ["f"] * 3
        assert [one["hash"] for one in (often, once, idle)] == ["often", "once", "idle"]
        single, double = (estimated(quick, grid=(n,)).seconds for n in (132, 264))
        assert often["seconds"] == pytest.approx(40 * single + 2 * double, rel=1e-3)
        assert (idle["seconds"], idle["share"], idle["gain"]) == (None, None, None)
        assert often["share"] + once["share"] == pytest.approx(1)
        table = str(report)
        assert f", {100 * often['share']:.0f} %" in table
        assert "takes the rest" in " ".join(table.split())

    @pytest.mark.parametrize(
        ("device", "product", "words"),
        [
            ("NVIDIA H100 80GB HBM3", "H100", None),
            ("NVIDIA H200", "H200", None),
            (None, "H200", "times are of H200: the GPU of the program is not known"),
            ("NVIDIA L40S", "H200", "times are of H200: no rates of NVIDIA L40S are known"),
        ],
    )
    def test_times_are_of_the_gpu_of_the_program(
        self, device: str | None, product: str, words: str | None
    ) -> None:
        text = kernel(chain(4))
        known = KernelMetadata(device=device)
        compiled = CompiledKernel("1", "f", text, "test.py:1", known)
        report = report_of((SeenKernel(compiled, {Launch((4096, 1, 1), ()): 1}),))
        [only] = report.data()["kernels"]
        wanted = tt_layout.estimate(text, grid=(4096,), gpu=product).seconds
        assert only["seconds"] == pytest.approx(wanted, rel=1e-9)
        assert only["assumption"] == words
        assert (words or "times are of") in str(report) or words is None

    def test_the_gpu_is_asked_of_a_pytorch_that_runs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        cuda = SimpleNamespace(is_initialized=lambda: True, get_device_name=lambda: "NVIDIA H100")
        assert device_name() is None
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
        assert device_name() == "NVIDIA H100"
        text = kernel(chain(4))
        model = tt_layout.perf_model(lambda **_: text, (4096,))
        wanted = tt_layout.estimate(text, grid=(4096,), gpu="h100").seconds * 1e6
        assert model() == pytest.approx(wanted, rel=1e-9)
        cuda.is_initialized = lambda: False
        assert device_name() is None

    def test_the_first_cure_of_a_watched_kernel_is_said(self) -> None:
        text = (ROOT / "examples" / "narrow" / "column_major.ttgir").read_text(encoding="utf-8")
        report = report_of((self.seen("turned", text, (512, 1)),))
        [only] = report.data()["kernels"]
        assert only["cure"].startswith("fix: replace #blocked with ")
        assert "first cure" in str(report)

    def test_a_baseline_is_by_time_where_the_grid_is_known(self, run: Run, tmp_path: Path) -> None:
        for folder, length in (("before", 4), ("after", 400)):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "k.ttgir").write_text(kernel(chain(length)))
        ends = str(tmp_path / "before"), str(tmp_path / "after")
        found = run("audit", "--baseline", *ends, "--grid", "132", "--format", "json")
        [changed] = json.loads(found.out)["kernels"]
        assert (found.status, changed["verdict"]) == (1, "more expensive")
        assert changed["facts"]["estimate_us"][0] < changed["facts"]["estimate_us"][1]
        without = run("audit", "--baseline", *ends, "--format", "json")
        assert "estimate_us" not in json.loads(without.out)["kernels"][0]["facts"]

    def test_a_budget_is_of_the_estimated_time(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "k.ttgir").write_text(kernel(chain(400)))
        manifest = tmp_path / "layouts.yaml"
        start = "cases:\n  - {name: k, file: k.ttgir, values: num_programs_x=132, "
        for limit, status in ((100, 0), (1, 1)):
            manifest.write_text(f"{start}at_most: {{estimate_us: {limit}}}}}\n")
            assert run("check", str(manifest)).status == status


STRIDED = """\
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @strided(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                   %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %s: i32) {
    %size = arith.constant 1024 : i32
    %pid = tt.get_program_id x : i32
    %base = arith.muli %pid, %size : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %bases = tt.splat %base : i32 -> tensor<1024xi32, #b>
    %i = arith.addi %bases, %range : tensor<1024xi32, #b>
    %ends = tt.splat %n : i32 -> tensor<1024xi32, #b>
    %mask = arith.cmpi slt, %i, %ends : tensor<1024xi32, #b>
    %strides = tt.splat %s : i32 -> tensor<1024xi32, #b>
    %at = arith.muli %i, %strides : tensor<1024xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %px = tt.addptr %xs, %at : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    %v = tt.load %px, %mask : tensor<1024x!tt.ptr<f32>, #b>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %py = tt.addptr %ys, %i : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    tt.store %py, %v, %mask : tensor<1024x!tt.ptr<f32>, #b>
    tt.return
  }
}
"""
"""Every s-th element is copied, as far as n."""


@pytest.mark.parametrize("stride", [1, 2, 8])
def test_a_mask_that_arguments_leave_open_is_taken_as_true(stride: int) -> None:
    left_open = tt_layout.estimate(STRIDED, {"s": stride}, grid=(10000,))
    told = tt_layout.estimate(STRIDED, {"s": stride, "n": 10240000}, grid=(10000,))
    assert left_open.seconds == pytest.approx(told.seconds)
    assert left_open.range[1] > told.range[1]
    assert "; with n masking nothing)" in str(left_open)
    assert "with " not in str(told)


@pytest.mark.parametrize(
    ("grid", "said"), [(None, "; with num_programs_z = 1)"), ((16, 8, 4), ")")]
)
def test_no_mask_is_said_to_be_open_that_the_launch_decides(
    grid: tuple[int, ...] | None, said: str
) -> None:
    """Prefetches of a loop whose step is the number of programs have such a mask."""
    path = Path(__file__).parents[2] / "examples" / "workloads" / "split_k-sm90.ttgir"
    text = str(tt_layout.estimate(path.read_text("utf-8"), {"K": 4096}, grid=grid))
    [rest] = re.findall(r"\([\d.]+ to [\d.]+(.*)", text)
    assert rest == said


def test_an_unknown_stride_is_said_to_be_taken_as_1() -> None:
    assert "; with s = 1 and n masking nothing)" in str(tt_layout.estimate(STRIDED, grid=(100,)))
    known_mask = tt_layout.estimate(STRIDED, {"n": 102400}, grid=(100,))
    assert known_mask.text.endswith("; with s = 1)")


BEGINS = {
    "a pointer": ("%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}", "%x: !tt.ptr<f32>"),
    "a number": (
        "%xs = tt.splat %x ",
        "%xn = tt.addptr %x, %n : !tt.ptr<f32>, i32\n    %xs = tt.splat %xn ",
    ),
}
"""What may be unknown of where the array begins that is read with a stride, and the text for it."""


@pytest.mark.parametrize("begin", list(BEGINS))
@pytest.mark.parametrize("stride", [1, 2, 8])
def test_elements_apart_take_their_sectors_wherever_they_begin(begin: str, stride: int) -> None:
    """Strides of 2 and 8 took an H200 30 and 93 us; from one element further on 33 and 78."""
    text = STRIDED.replace(*BEGINS[begin]).replace(
        "%strides = tt.splat %s : i32 -> tensor<1024xi32, #b>",
        f"%strides = arith.constant dense<{stride}> : tensor<1024xi32, #b>",
    )
    aligned = tt_layout.estimate(STRIDED, {"s": stride}, grid=(8192,))
    assert tt_layout.estimate(text, grid=(8192,)).seconds == pytest.approx(aligned.seconds, rel=0.2)


PAIRS = """\
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1],
                   order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @pairs(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %s: i32, %n: i32) {
    %k = tt.make_range {end = 64 : i32, start = 0 : i32}
        : tensor<64xi32, #ttg.slice<{dim = 0, parent = #b}>>
    %k1 = tt.expand_dims %k {axis = 0 : i32}
        : tensor<64xi32, #ttg.slice<{dim = 0, parent = #b}>> -> tensor<1x64xi32, #b>
    %two = arith.constant dense<2> : tensor<1x64xi32, #b>
    %k2 = arith.muli %k1, %two : tensor<1x64xi32, #b>
    %h = tt.make_range {end = 16 : i32, start = 0 : i32}
        : tensor<16xi32, #ttg.slice<{dim = 1, parent = #b}>>
    %h1 = tt.expand_dims %h {axis = 1 : i32}
        : tensor<16xi32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<16x1xi32, #b>
    %ss = tt.splat %s : i32 -> tensor<16x1xi32, #b>
    %hs = arith.muli %h1, %ss : tensor<16x1xi32, #b>
    %rows = tt.broadcast %hs : tensor<16x1xi32, #b> -> tensor<16x64xi32, #b>
    %columns = tt.broadcast %k2 : tensor<1x64xi32, #b> -> tensor<16x64xi32, #b>
    %at = arith.addi %rows, %columns : tensor<16x64xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<16x64x!tt.ptr<f16>, #b>
    %p = tt.addptr %xs, %at : tensor<16x64x!tt.ptr<f16>, #b>, tensor<16x64xi32, #b>
    %ns = tt.splat %n : i32 -> tensor<16x1xi32, #b>
    %inside = arith.cmpi slt, %h1, %ns : tensor<16x1xi32, #b>
    %mask = tt.broadcast %inside : tensor<16x1xi1, #b> -> tensor<16x64xi1, #b>
    %v = tt.load %p, %mask : tensor<16x64x!tt.ptr<f16>, #b>
    %w = arith.addf %v, %v : tensor<16x64xf16, #b>
    tt.store %p, %w, %mask : tensor<16x64x!tt.ptr<f16>, #b>
    tt.return
  }
}
"""
"""The first of each pair, of rows that are s apart."""


def test_a_stride_is_taken_as_1_only_between_neighbours() -> None:
    assert "with n masking nothing)" in str(tt_layout.estimate(PAIRS, grid=(100,)))


def test_addresses_by_a_float_are_said_to_be_taken_as_contiguous() -> None:
    """Places that a float scales took an H200 17 us, 21, 30 and 84 by 0.5, 1, 2 and 7.3."""
    text = STRIDED.replace("%s: i32", "%s: f32").replace(
        """    %strides = tt.splat %s : i32 -> tensor<1024xi32, #b>
    %at = arith.muli %i, %strides : tensor<1024xi32, #b>""",
        """    %scales = tt.splat %s : f32 -> tensor<1024xf32, #b>
    %f = arith.sitofp %i : tensor<1024xi32, #b> to tensor<1024xf32, #b>
    %scaled = arith.mulf %f, %scales : tensor<1024xf32, #b>
    %at = arith.fptosi %scaled : tensor<1024xf32, #b> to tensor<1024xi32, #b>""",
    )
    found = tt_layout.estimate(text, {"n": 8388608}, grid=(8192,))
    assert "; with contiguous addresses at line 19)" in str(found)


def test_a_mask_by_data_is_said_to_mask_nothing() -> None:
    """Loads took an H200 15 us with a mask that was false everywhere, and 23 with a true one."""
    text = STRIDED.replace("%n: i32, %s: i32", "%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}")
    text = text.replace(
        "%ends = tt.splat %n : i32 -> tensor<1024xi32, #b>",
        """%ps = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #b>
    %pp = tt.addptr %ps, %i : tensor<1024x!tt.ptr<i32>, #b>, tensor<1024xi32, #b>
    %ends = tt.load %pp : tensor<1024x!tt.ptr<i32>, #b>""",
    ).replace(
        "tt.splat %s : i32 -> tensor<1024xi32, #b>",
        "arith.constant dense<1> : tensor<1024xi32, #b>",
    )
    found = tt_layout.estimate(text, grid=(8192,))
    assert "; with masks by data at line 19 and 1 other masking nothing)" in str(found)
    assert found.doubts == ("the mask at line 19 depends on tt.load on line 13",)


def test_rows_that_an_argument_is_apart_have_the_sectors_of_their_elements() -> None:
    """The first of each pair of 16-bit elements: a row of 64 is in 8 sectors of 32 bytes."""
    accesses = [step.access for step in tt_layout.estimate(PAIRS, grid=(100,)).program.walk()]
    assert [access.sector_bytes for access in accesses if access] == 2 * [16 * 8 * 32]
