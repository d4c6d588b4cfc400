"""Time of sectors written in parts, of bytes that memory reads at once, and of divisions."""

from __future__ import annotations

import pytest

import tt_layout
from tt_layout.audit.time.estimate import Estimate
from tt_layout.audit.time.steps import StepTraffic

WORDS = 1024
TENSOR = f"tensor<{WORDS}x"

HEAD = """
#b = #ttg.blocked<{sizePerThread = [SIZE], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                    %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %block = arith.constant 1024 : i32
    %id = tt.get_program_id x : i32
    %first = arith.muli %id, %block : i32
    %firsts = tt.splat %first : i32 -> $i32, #b>
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : $i32, #b>
    %at = arith.addi %firsts, %range : $i32, #b>
    %ns = tt.splat %n : i32 -> $i32, #b>
    %inside = arith.cmpi slt, %at, %ns : $i32, #b>
    %zero = arith.constant dense<0.0> : $f32, #b>
    %xs = tt.splat %x : !tt.ptr<f32> -> $!tt.ptr<f32>, #b>
    %ys = tt.splat %y : !tt.ptr<f32> -> $!tt.ptr<f32>, #b>
"""


def timed(
    body: str, *, programs: int = 1 << 14, size: int = 1, values: dict[str, int] | None = None
) -> Estimate:
    """Return the estimate of a kernel whose programs have a range of 1024 numbers each, `%at`."""
    text = (HEAD + body + "\n    tt.return }}").replace("SIZE", str(size))
    return tt_layout.estimate(text.replace("$", TENSOR), values or {}, grid=(programs,))


def offsets(name: str, apart: int, behind: int = 0) -> str:
    """Return the text that makes numbers so many apart, and so many behind `%at`."""
    return f"""
    %{name}_s = arith.constant dense<{apart}> : $i32, #b>
    %{name}_b = arith.constant dense<{behind}> : $i32, #b>
    %{name}_m = arith.muli %at, %{name}_s : $i32, #b>
    %{name} = arith.addi %{name}_m, %{name}_b : $i32, #b>"""


def store(apart: int, behind: int = 0) -> str:
    name = f"w{behind}"
    return (
        offsets(name, apart, behind)
        + f"""
    %{name}_p = tt.addptr %ys, %{name} : $!tt.ptr<f32>, #b>, $i32, #b>
    tt.store %{name}_p, %zero : $!tt.ptr<f32>, #b>"""
    )


def load(apart: int, mask: str = "") -> str:
    return (
        offsets("r", apart)
        + f"""
    %r_p = tt.addptr %xs, %r : $!tt.ptr<f32>, #b>, $i32, #b>
    %r_v = tt.load %r_p{mask} : $!tt.ptr<f32>, #b>"""
    )


def moved(body: str) -> float:
    """Return the bytes that memory moves for each number of a program."""
    return timed(body).program.moved_bytes / WORDS / (1 << 14)


def test_memory_reads_sectors_that_are_written_in_parts() -> None:
    """An H200 takes 142 us for 268 MB of sectors with a word of each, and 77 us for half of it."""
    assert moved(store(1)) == pytest.approx(4, rel=0.01)
    assert moved(store(8)) == pytest.approx(2 * 32, rel=0.01)
    assert moved(store(4)) == pytest.approx(2 * 16, rel=0.01)


def test_sectors_that_several_stores_fill_are_not_read() -> None:
    assert moved(store(2) + store(2, 1)) == pytest.approx(8, rel=0.01)


def test_memory_reads_64_bytes_at_once() -> None:
    """An H200 takes as long for 32 of 64 bytes as for all of them, 183 and 93 us for 8 Mi words."""
    assert moved(load(8)) == pytest.approx(32, rel=0.01)
    assert moved(load(16)) == pytest.approx(64, rel=0.01)
    assert moved(load(32)) == pytest.approx(64, rel=0.01)


def test_memory_writes_half_of_a_line_in_more_than_half_the_time() -> None:
    assert moved(store(16)) == pytest.approx(0.7 * 64 + 32, rel=0.01)


def access(estimate: Estimate, name: str) -> StepTraffic:
    [found] = [step.access for step in estimate.program.walk() if step.name == name]
    assert found is not None
    return found


def test_neighbouring_stores_to_one_sector_are_joined() -> None:
    """Each of four instructions writes to all sectors; half as many arrive in the cache."""
    wide, narrow = timed(store(1)), timed(masked(store(1)), size=4, values={"n": 1 << 24})
    assert access(narrow, "tt.store").sector_bytes == 4 * 4096
    assert access(narrow, "tt.store").once == 4096
    timing = narrow.chip.product.timing if narrow.chip.product is not None else None
    assert timing is not None
    per = (1 << 14) / 132 / timing.clock_hz
    assert narrow.terms["L2"] == pytest.approx(2 * 4096 / timing.parts_bytes * per)
    assert wide.terms["L2"] == pytest.approx(4096 * 1.7 / timing.l2_bytes * per)


def masked(body: str) -> str:
    """Return the text with a mask that keeps single elements apart."""
    return body.replace("tt.store %w0_p, %zero", "tt.store %w0_p, %zero, %inside")


def test_the_first_level_cache_has_what_an_execution_loads_again() -> None:
    mask = ", %inside"
    wide = timed(load(1), values={"n": 1 << 24})
    narrow = timed(load(1, mask), size=4, values={"n": 1 << 24})
    assert access(narrow, "tt.load").sector_bytes == 4 * 4096
    assert narrow.terms["L2"] == pytest.approx(wide.terms["L2"])


def test_programs_beyond_a_length_move_nothing() -> None:
    body = masked(store(1))
    whole, quarter = (timed(body, values={"n": n}) for n in (1 << 24, 1 << 22))
    for name in ("L2", "LSU"):
        assert quarter.terms[name] == pytest.approx(whole.terms[name] / 4, rel=0.01)


def test_any_number_of_32_bits_selects_from_no_table() -> None:
    body = """
    %i = tt.addptr %x, %first : !tt.ptr<f32>, i32
    %j = tt.load %i : !tt.ptr<f32>
    %bits = tt.bitcast %j : f32 -> i32
    %row = arith.extsi %bits : i32 to i64
    %many = arith.constant 1024 : i64
    %begin = arith.muli %row, %many : i64
    %p = tt.addptr %y, %begin : !tt.ptr<f32>, i64
    %ps = tt.splat %p : !tt.ptr<f32> -> $!tt.ptr<f32>, #b>
    %q = tt.addptr %ps, %range : $!tt.ptr<f32>, #b>, $i32, #b>
    %v = tt.load %q : $!tt.ptr<f32>, #b>"""
    found = timed(body)
    rows = [step.access for step in found.program.walk() if step.name == "tt.load"][-1]
    assert rows is not None
    assert (rows.is_table, rows.touched, rows.sector_bytes) == (False, None, 4096)
    assert found.terms["DRAM"] > 0.5 * 4096 * (1 << 14) / 4.5e12


def issued(operations: str) -> float:
    """Return the time of the instructions that make `%d` of loaded numbers `%v`."""

    def terms(text: str) -> float:
        body = """
        %eight = arith.constant dense<8> : $i32, #b>
        %seven = arith.constant dense<7> : $i32, #b>
        %xi = tt.bitcast %xs : $!tt.ptr<f32>, #b> -> $!tt.ptr<i32>, #b>
        %p = tt.addptr %xi, %at : $!tt.ptr<i32>, #b>, $i32, #b>
        %v = tt.load %p : $!tt.ptr<i32>, #b>"""
        return timed(f"{body}\n{text}\ntt.store %p, %e : $!tt.ptr<i32>, #b>").terms["issue"]

    made = terms(f"{operations} : $i32, #b>\n%e = arith.addi %d, %v : $i32, #b>")
    return made - terms("%e = arith.addi %v, %v : $i32, #b>")


def test_divisions_by_constants_take_less() -> None:
    """As ptxas makes them: 14 instructions, four for a constant, three for a power of two."""
    unknown, seven, eight, last_bits = (
        issued(f"%d = arith.{division}")
        for division in (
            "divsi %v, %ns",
            "divsi %v, %seven",
            "divsi %v, %eight",
            "remsi %at, %eight",
        )
    )
    assert unknown > 2 * seven > 2 * eight > 2 * last_bits > 0


def test_numbers_are_divided_once_for_quotient_and_remainder() -> None:
    quotient = "%q = arith.divsi %v, %ns : $i32, #b>\n"
    once = issued(quotient + "%d = arith.addi %q, %ns")
    both = issued(quotient + "%r = arith.remsi %v, %ns : $i32, #b>\n%d = arith.addi %q, %r")
    assert once < both < 1.2 * once
