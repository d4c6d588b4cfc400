"""Time of what loaded numbers point at, and of partitions that hand data over at barriers."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tt_layout
from tt_layout.audit.time.estimate import Estimate
from tt_layout.audit.time.launch import FIRST, launch_time
from tt_layout.hardware import find_target

HEAD = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#m = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
"""


def timed(text: str, programs: int = 1 << 15) -> Estimate:
    return tt_layout.estimate(HEAD + text + "\ntt.return }}", grid=(programs,))


def indexed(access: str, factor: int = 1, programs: int = 1 << 15) -> Estimate:
    """Return the estimate of a kernel that loads numbers, and touches what they point at."""
    text = f"""
    tt.func public @f(%t: !tt.ptr<i32> {{tt.divisibility = 16 : i32}},
                      %p: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
      %block = arith.constant 128 : i32
      %some = arith.constant dense<{factor}> : tensor<128xi32, #b>
      %none = arith.constant dense<0> : tensor<128xi32, #b>
      %id = tt.get_program_id x : i32
      %at = arith.muli %id, %block : i32
      %base = tt.addptr %t, %at : !tt.ptr<i32>, i32
      %range = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<128xi32, #b>
      %first = tt.splat %base : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #b>
      %q = tt.addptr %first, %range : tensor<128x!tt.ptr<i32>, #b>, tensor<128xi32, #b>
      %x = tt.load %q : tensor<128x!tt.ptr<i32>, #b>
      %one = tt.load %base : !tt.ptr<i32>
      %all = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
      %apart = tt.addptr %all, %x : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
      %row = arith.muli %one, %block : i32
      %begin = tt.addptr %p, %row : !tt.ptr<f32>, i32
      %rows = tt.splat %begin : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
      %together = tt.addptr %rows, %range : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
      %v = arith.constant dense<1.0> : tensor<128xf32, #b>
      {access}"""
    return timed(text, programs)


LOAD = "%y = tt.load %{} : tensor<128x!tt.ptr<f32>, #b>"
ADD = (
    "%y = tt.atomic_rmw fadd, {}, gpu, %{}, %v : "
    "(tensor<128x!tt.ptr<f32>, #b>, tensor<128xf32, #b>) -> tensor<128xf32, #b>"
)
SUM = """
      {} = "tt.scan"({}) <{{axis = 0 : i32, reverse = false}}> ({{
      ^bb0(%l: i32, %r: i32):
        %s = arith.{} %l, %r : i32
        tt.scan.return %s : i32
      }}) : (tensor<128xi32, #b>) -> tensor<128xi32, #b>"""
COUNTED = """
      %kept = arith.cmpi sgt, %x, %none : tensor<128xi32, #b>
      %flags = arith.extui %kept : tensor<128xi1, #b> to tensor<128xi32, #b>""" + SUM.format(
    "%sum", "%flags", "addi"
)
STORE = """
      %to = tt.addptr %all, %place : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
      tt.store %to, %v{} : tensor<128x!tt.ptr<f32>, #b>"""
PROGRAMS = 1 << 15


class TestScattered:
    @pytest.mark.parametrize("name", ["apart", "q"])
    def test_how_many_meet_at_an_address_is_doubted(self, name: str) -> None:
        """Unless the addresses are known: an H200 takes 16 times as long for few as for many."""
        if name == "q":
            add = ADD.replace("f32>", "i32>").replace("f32,", "i32,").replace("fadd", "add")
            found = indexed(add.replace("%v", "%none").format("relaxed", name))
        else:
            found = indexed(ADD.format("relaxed", name))
        is_open = "on many addresses" in found.assumption
        assert is_open is (name == "apart")
        assert any("how many numbers an address gets" in doubt for doubt in found.doubts) is is_open

    def test_each_element_asks_for_a_line_of_its_own(self) -> None:
        apart, together = (indexed(LOAD.format(name)).terms["L2"] for name in ("apart", "together"))
        without = indexed("").terms["L2"]
        assert (apart - without) / (together - without) == pytest.approx(32)

    def test_a_part_of_what_is_pointed_at_comes_from_memory(self) -> None:
        with_it, without = (indexed(text).terms["DRAM"] for text in (LOAD.format("together"), ""))
        moved = FIRST["global load"] * 512 * PROGRAMS
        assert with_it - without == pytest.approx(moved / 4.5e12, rel=0.03)

    def test_the_corners_of_a_cell_come_from_memory_once(self) -> None:
        corner = """
        %next = arith.addi %{0}, %some : tensor<128xi32, #b>
        %second = tt.addptr %all, %next : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
        %z = tt.load %second : tensor<128x!tt.ptr<f32>, #b>
        """
        other = "\n%w = tt.load %q : tensor<128x!tt.ptr<i32>, #b>\n"
        first = LOAD.format("apart")
        alone, both, others = (
            indexed(text).terms["DRAM"]
            for text in (first, first + corner.format("x"), first + other + corner.format("w"))
        )
        assert both == pytest.approx(alone)
        assert others > 1.5 * alone

    @pytest.mark.parametrize(
        "place",
        [
            "%place = arith.subi %sum, %some : tensor<128xi32, #b>",
            "%place = arith.subi %sum, %flags : tensor<128xi32, #b>",
            "%behind = arith.subi %sum, %some : tensor<128xi32, #b>\n"
            "%place = arith.andi %behind, %some : tensor<128xi32, #b>",
        ],
        ids=["before and itself", "before", "of a ring"],
    )
    def test_what_is_counted_is_next_to_each_other(self, place: str) -> None:
        found = (
            indexed(f"{COUNTED}\n{place}\n{STORE.format(mask)}", factor=1023)
            for mask in ("", ", %kept")
        )
        every, half = (
            step.access for one in found for step in one.program.walk() if step.name == "tt.store"
        )
        assert every is not None
        assert half is not None
        assert (every.bytes, every.sector_bytes, every.wavefronts) == (512, 512, 4)
        assert (half.bytes, half.sector_bytes, half.touched) == (256, 256, None)

    @pytest.mark.parametrize(
        "place",
        [
            "%place = arith.subi %flags, %sum : tensor<128xi32, #b>",
            "%place = arith.muli %sum, %some : tensor<128xi32, #b>",
            "%place = arith.addi %sum, %x : tensor<128xi32, #b>",
            "%byte = arith.trunci %x : tensor<128xi32, #b> to tensor<128xi8, #b>\n"
            "%wide = arith.extui %byte : tensor<128xi8, #b> to tensor<128xi32, #b>"
            + SUM.format("%place", "%wide", "addi"),
            SUM.format("%place", "%flags", "maxsi"),
        ],
        ids=["a difference", "a product", "with loaded numbers", "of numbers", "a maximum"],
    )
    def test_other_sums_say_nothing_of_what_is_next_to_each_other(self, place: str) -> None:
        found = indexed(f"{COUNTED}\n{place}\n{STORE.format('')}", factor=3)
        [access] = [step.access for step in found.program.walk() if step.name == "tt.store"]
        assert access is not None
        assert access.sector_bytes != 128 * 4

    def test_what_a_loop_adds_up_is_added_while_it_runs(self) -> None:
        loop = f"""
        %low = arith.constant 0 : i32
        %high = arith.constant 100 : i32
        %step = arith.constant 1 : i32
        scf.for %i = %low to %high step %step : i32 {{
          {ADD.format("relaxed", "apart")}
        }}
        """
        found = indexed(loop, programs=132 * 16)
        assert found.seconds < 1.5 * found.terms["atomics"]

    def test_nothing_comes_from_memory_of_what_is_added_up(self) -> None:
        text = ADD.format("relaxed", "apart")
        with_it, without = (indexed(one).terms["DRAM"] for one in (text, ""))
        assert with_it <= without * 4.5 / 4.05

    def test_an_argument_that_is_missing_is_no_loaded_number(self) -> None:
        text = """
        tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
          %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
          %s = tt.splat %n : i32 -> tensor<128xi32, #b>
          %far = arith.muli %range, %s : tensor<128xi32, #b>
          %all = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
          %q = tt.addptr %all, %far : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
          %y = tt.load %q : tensor<128x!tt.ptr<f32>, #b>
        """
        [step] = (step for step in timed(text).program.walk() if step.name == "tt.load")
        assert step.access is not None
        assert (step.access.is_scattered, step.access.sector_bytes) == (False, None)

    def test_atomics_that_order_memory_are_answered(self) -> None:
        product = find_target("h200").product
        assert product is not None
        timing = product.timing
        assert timing is not None
        answered, plain = (
            indexed(ADD.format(order, "apart")).terms["atomics"] for order in ("acq_rel", "relaxed")
        )
        assert plain == pytest.approx(128 * PROGRAMS / 132 / timing.atomic_sectors / 1.95e9)
        assert answered / plain == pytest.approx(timing.atomic_sectors / timing.atomic_answers)


def test_bits_that_are_read_as_another_type_cost_nothing() -> None:
    casts = "\n".join(
        f"%c{k} = tt.bitcast %v : tensor<128xf32, #b> -> tensor<128xi32, #b>" for k in range(99)
    )
    assert indexed(casts).terms["issue"] == pytest.approx(indexed("").terms["issue"])


TILE = "!ttg.memdesc<64x64xf16, #n, #m, mutable>"
BARRIER = "!ttg.memdesc<1xi64, #s, #m, mutable>"
RING = "!ttg.memdesc<3x1xi64, #s, #m, mutable>"
DESCRIPTOR = "!tt.tensordesc<tensor<64x64xf16, #n>>"
COPY = (
    f"ttng.async_tma_copy_global_to_local %d[%zero, %zero] %tile, %full, %true : {DESCRIPTOR}, "
    f"{BARRIER} -> {TILE}\n"
)
WAIT = f"ttng.wait_barrier %full, %zero : {BARRIER}\n"


def boxed(body: str, made: str = "") -> float:
    """Return the latency of a program that copies a box, whose descriptor it takes or makes."""
    taken = "" if made else f"%d: {DESCRIPTOR}"
    found = timed(
        f"""
    tt.func public @f({taken}) {{
      {made}
      %zero = arith.constant 0 : i32
      %true = arith.constant true
      %tile = ttg.local_alloc : () -> {TILE}
      %full = ttg.local_alloc : () -> {BARRIER}
      ttng.init_barrier %full, 1 : {BARRIER}
      ttng.barrier_expect %full, 8192, %true : {BARRIER}
      {body}""",
        132,
    )
    return found.launch.walked.cycles


def test_a_descriptor_that_is_made_of_nothing_is_copied_by_like_one_that_is_taken() -> None:
    made = f'%d = "test.descriptor"() : () -> {DESCRIPTOR}'
    assert boxed(COPY + WAIT, made) == boxed(COPY + WAIT)


def partitioned(
    consumers: int, attributes: str = "", iterations: int = 64, work: str = ""
) -> Estimate:
    """Return the estimate of warps that copy boxes, and others that wait for each of them.

    Every consumer hands its buffers back at a ring of its own, and the last has work to do then.
    """
    frees = [f"%free{k}" for k in range(consumers)]
    types = ", ".join([DESCRIPTOR, RING, *(RING for _ in frees)])
    emptied = "".join(f", %emptied{k}: {RING}" for k in range(consumers))
    loop = "scf.for %i = %z to %end step %one : i32 {"
    numbers = f"""
      %z = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %end = arith.constant {iterations} : i32
      %true = arith.constant true"""
    parts = "\n".join(
        f"""
      partition{k}(%x: {DESCRIPTOR}, %filled: {RING}{emptied}) num_warps(4) {{ {numbers}
        {loop}
          %f = ttg.memdesc_index %filled[%z] : {RING} -> {BARRIER}
          ttng.wait_barrier %f, %z : {BARRIER}
          %e = ttg.memdesc_index %emptied{k}[%z] : {RING} -> {BARRIER}
          ttng.arrive_barrier %e, 128 : {BARRIER}
        }}
        {work * (k + 1 == consumers)}
        ttg.warp_return
      }}"""
        for k in range(consumers)
    )
    waits = "\n".join(
        f"""
          %e{k} = ttg.memdesc_index {free}[%z] : {RING} -> {BARRIER}
          ttng.wait_barrier %e{k}, %one : {BARRIER}"""
        for k, free in enumerate(frees)
    )
    rings = "\n".join(f"{name} = ttg.local_alloc : () -> {RING}" for name in ("%ring", *frees))
    warps = f"partitionNumWarps = array<i32: {', '.join(['4'] * consumers)}>{attributes}"
    return timed(
        f"""
    tt.func public @f(%dd: {DESCRIPTOR}) {{
      {rings}
      %tile = ttg.local_alloc : () -> {TILE}
      ttg.warp_specialize(%dd, %ring, {", ".join(frees)}) attributes {{{warps}}}
      default {{ {numbers}
        {loop} {waits}
          %full = ttg.memdesc_index %ring[%z] : {RING} -> {BARRIER}
          ttng.barrier_expect %full, 8192, %true : {BARRIER}
          {COPY.replace("%d[%zero, %zero]", "%dd[%z, %z]")}
        }}
        ttg.warp_yield
      }}
      {parts} : ({types}) -> ()
      """,
        132,
    )


FENCES = "ttng.fence_async_shared {bCluster = false}\n" * 20


def looked_up(kind: str) -> Estimate:
    """Return the estimate of a kernel that looks numbers up in a table by indices of some type."""
    wide = "tensor<128xi64, #b>"
    extended = f"%w = arith.extui %x : tensor<128x{kind}, #b> to {wide}"
    return timed(f"""
    tt.func public @f(%t: !tt.ptr<{kind}> {{tt.divisibility = 16 : i32}},
                      %p: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
      %none = arith.constant dense<0> : {wide}
      %range = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<128xi32, #b>
      %first = tt.splat %t : !tt.ptr<{kind}> -> tensor<128x!tt.ptr<{kind}>, #b>
      %q = tt.addptr %first, %range : tensor<128x!tt.ptr<{kind}>, #b>, tensor<128xi32, #b>
      %x = tt.load %q : tensor<128x!tt.ptr<{kind}>, #b>
      {extended if kind != "i64" else ""}
      %all = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
      %at = arith.addi {"%w" if kind != "i64" else "%x"}, %none : {wide}
      %apart = tt.addptr %all, %at : tensor<128x!tt.ptr<f32>, #b>, {wide}
      %y = tt.load %apart : tensor<128x!tt.ptr<f32>, #b>""")


class TestTables:
    def test_what_a_byte_points_at_is_a_table_of_256(self) -> None:
        byte, short, long = (
            [step.access for step in looked_up(kind).program.walk() if step.access is not None][-1]
            for kind in ("i8", "i16", "i64")
        )
        assert [access.touched for access in (byte, short, long)] == [256 * 4, 65536 * 4, None]
        assert [access.is_scattered for access in (byte, short, long)] == [False, False, True]

    def test_few_lines_are_asked_for_one_by_one(self) -> None:
        byte, long = (looked_up(kind) for kind in ("i8", "i64"))
        lines, far = (
            [step.access for step in one.program.walk() if step.access is not None][-1]
            for one in (byte, long)
        )
        assert lines.wavefronts == pytest.approx(4 * 8 * (1 - (7 / 8) ** 32) / 3)
        assert far.wavefronts == pytest.approx(4 * 32 / 3)  # measured: 10.8 cycles for 32 lines
        assert lines.sector_bytes == pytest.approx(4 * 32 * 32 * (1 - (31 / 32) ** 32))
        assert far.sector_bytes == 128 * 32
        assert far.spread == 128 * (128 - 32)

    def test_every_multiprocessor_reads_what_its_cache_does_not_keep_of_a_table(self) -> None:
        byte, short, long = (looked_up(kind).terms.get("L2", 0.0) for kind in ("i8", "i16", "i64"))
        kept = find_target("h200").residence
        assert kept is not None
        assert short == pytest.approx((1 - kept.shared_bytes / 262144) * long, rel=0.05)
        assert byte == 0


class TestBarriers:
    def test_a_wait_is_for_the_copy_that_arrives_there(self) -> None:
        without, with_it = boxed(COPY + FENCES), boxed(COPY + WAIT + FENCES)
        assert with_it - without > 500

    def test_a_wait_is_for_all_copies_that_are_expected_there(self) -> None:
        one, many = boxed(COPY + WAIT), boxed(COPY * 9 + WAIT)
        assert many > one + 8 * 8192 / 68 / 2

    def test_a_barrier_that_begins_anew_has_nothing_left_over(self) -> None:
        again = f"ttng.init_barrier %full, 1 : {BARRIER}\n"
        again += f"ttng.barrier_expect %full, 8192, %true : {BARRIER}\n"
        anew = boxed(COPY + again + COPY * 9 + WAIT + FENCES)
        assert anew == pytest.approx(boxed(COPY * 10 + WAIT + FENCES), rel=0.01)

    def test_every_partition_waits_for_the_same_data(self) -> None:
        plain, busy = (
            partitioned(2, iterations=1, work=work).launch.walked.cycles for work in ("", FENCES)
        )
        assert busy - plain == pytest.approx(20 * 58, rel=0.1)

    def test_partitions_go_on_at_the_pace_of_the_copies(self) -> None:
        one, two = (partitioned(number).launch.walked.cycles for number in (1, 2))
        assert two == pytest.approx(one, rel=0.15)

    def test_a_ring_lets_as_many_copies_fly_as_it_has_parts(self) -> None:
        few, many = (partitioned(1, iterations=n).launch.walked.cycles for n in (64, 128))
        each = (many - few) / 64
        latency = boxed(COPY + WAIT)
        assert latency / 4 < each < latency / 2

    def test_partitions_that_share_out_registers_take_all_of_them(self) -> None:
        pooled = partitioned(2, ", requestedRegisters = array<i32: 232, 232>")
        assert (pooled.launch.resident, partitioned(2).launch.resident > 1) == (1, True)


class TestRange:
    """A kernel that is not compiled, whose registers are a range."""

    @staticmethod
    def seconds(needed: int, fewest: int, most: int, used: int | None = None) -> float:
        found = indexed(LOAD.format("apart"))
        rates = found.chip.product
        assert rates is not None
        assert rates.timing is not None
        program = replace(
            found.program, needed=needed, fewest=fewest, most=most, used=used, spilled=None
        )
        return launch_time(program, found.chip, rates, rates.timing).seconds

    def test_the_time_is_the_mean_where_its_ends_hold_other_programs(self) -> None:
        few, middle, many = (self.seconds(number, number, number) for number in (24, 100, 250))
        assert few < middle < many
        mean = middle**0.63 * (few * many) ** 0.185
        assert self.seconds(100, 24, 250) == pytest.approx(mean, rel=0.001)

    def test_a_range_within_a_step_of_the_occupancy_changes_nothing(self) -> None:
        assert self.seconds(26, 25, 27) == self.seconds(26, 26, 26)

    def test_a_compiled_kernel_has_no_range(self) -> None:
        assert self.seconds(100, 24, 250, 32) == self.seconds(100, 100, 100, 32)


def test_addresses_that_come_from_floats_are_scattered() -> None:
    body = """
      %h = arith.constant dense<2.0> : tensor<128xf32, #b>
      %bits = arith.sitofp %x : tensor<128xi32, #b> to tensor<128xf32, #b>
      %scaled = arith.mulf %bits, %h : tensor<128xf32, #b>
      %whole = arith.fptosi %scaled : tensor<128xf32, #b> to tensor<128xi32, #b>
      %hashed = tt.addptr %all, %whole : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
    """
    steps = indexed(body + LOAD.format("hashed")).program.walk()
    access = [step.access for step in steps if step.name == "tt.load"][-1]
    assert access is not None
    assert (access.is_scattered, access.sector_bytes) == (True, 128 * 32)


def stores(words: int, apart: int) -> Estimate:
    """Return the estimate of a kernel whose programs store words so many words apart."""
    tensor = f"tensor<{words}x"
    return timed(f"""
    tt.func public @f(%p: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
      %size = arith.constant {words * apart} : i32
      %step = arith.constant dense<{apart}> : {tensor}i32, #b>
      %zero = arith.constant dense<0.0> : {tensor}f32, #b>
      %id = tt.get_program_id x : i32
      %at = arith.muli %id, %size : i32
      %base = tt.addptr %p, %at : !tt.ptr<f32>, i32
      %range = tt.make_range {{end = {words} : i32, start = 0 : i32}} : {tensor}i32, #b>
      %far = arith.muli %range, %step : {tensor}i32, #b>
      %all = tt.splat %base : !tt.ptr<f32> -> {tensor}!tt.ptr<f32>, #b>
      %to = tt.addptr %all, %far : {tensor}!tt.ptr<f32>, #b>, {tensor}i32, #b>
      tt.store %to, %zero : {tensor}!tt.ptr<f32>, #b>
    """)


def test_sectors_that_are_written_in_parts_take_the_cache_longer() -> None:
    whole, parts = stores(1024, 1), stores(128, 8)
    rates = parts.chip.product
    assert rates is not None
    assert rates.timing is not None
    ratio = rates.timing.l2_bytes / 1.7 / rates.timing.parts_bytes
    assert ratio > 3
    assert parts.launch.terms["L2"] / whole.launch.terms["L2"] == pytest.approx(ratio)
