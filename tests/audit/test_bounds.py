"""Bounds of a launch, and what a multiprocessor holds of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tt_layout.audit.audit import audit_module
from tt_layout.audit.bounds import KernelBounds, kernel_bounds
from tt_layout.audit.bounds.footprint import footprint
from tt_layout.audit.kernel import kernels_of
from tt_layout.audit.occupancy import Occupancy, occupancy
from tt_layout.audit.values.given import GivenValues
from tt_layout.hardware import PRODUCTS, ROWS, find_target
from tt_layout.ir import parse_ir

EXAMPLES = Path(__file__).parents[2] / "examples"

COPY = """
#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                    %q: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                    %n: i32 {tt.divisibility = 16 : i32}) {
    %c = arith.constant 512 : i32
    %x = tt.get_program_id x : i32
    %b = arith.muli %x, %c : i32
    %s = tt.splat %b : i32 -> tensor<512xi32, #a>
    %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #a>
    %i = arith.addi %s, %r : tensor<512xi32, #a>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #a>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #a>
    %pa = tt.addptr %ps, READ : tensor<512x!tt.ptr<f32>, #a>, tensor<512xi32, #a>
    %qa = tt.addptr %qs, %i : tensor<512x!tt.ptr<f32>, #a>, tensor<512xi32, #a>
    %v = tt.load %pa : tensor<512x!tt.ptr<f32>, #a>
    %w = math.exp2 %v : tensor<512xf32, #a>
    %y = arith.addf %w, %v : tensor<512xf32, #a>
    tt.store %qa, %y : tensor<512x!tt.ptr<f32>, #a>
    tt.return
  }
}
"""


def bounds(read: str = "%i", grid: tuple[int, ...] | None = (1320,)) -> KernelBounds:
    [module] = parse_ir(COPY.replace("READ", read))
    found = kernel_bounds(audit_module(module, None, GivenValues()), "f", grid)
    assert found is not None
    return found


def cycles(found: KernelBounds) -> dict[str, float]:
    return {bound.resource: bound.cycles for bound in found.bounds}


LOADED_ROWS = """%rp = tt.addptr %rows, %x : !tt.ptr<i32>, i32
    %row = tt.load %rp : !tt.ptr<i32>
    %rb = arith.muli %row, %c : i32
    %rs = tt.splat %rb : i32 -> tensor<512xi32, #a>
    %ri = arith.addi %rs, %r : tensor<512xi32, #a>
    %pa"""
"""Each program reads the row of a table whose number it loads."""


def test_rows_that_may_repeat_are_no_bytes_of_a_bound() -> None:
    text = COPY.replace("%q: ", "%rows: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %q: ")
    audit = audit_module(parse_ir(text.replace("%pa", LOADED_ROWS, 1).replace("READ", "%ri"))[0])
    found, of_wave = kernel_bounds(audit, "f", (1320,)), kernel_bounds(audit, "f")
    assert found is not None
    assert of_wave is not None
    numbers, stored = 1320 * 4, 1320 * 2048
    assert found.memory.bytes == pytest.approx(numbers + stored, abs=32)
    assert of_wave.memory.fewest < of_wave.memory.bytes
    assert of_wave.memory.decided_by == "data"
    assert bounds().memory.bytes == 2 * stored
    assert found.work.l2_bytes == 32 + 2048  # L1 may hold the row


MASKED = (
    "%v = tt.load %pa :",
    """%ns = tt.splat %n : i32 -> tensor<512xi32, #a>
    %loaded = tt.load %qa : tensor<512x!tt.ptr<f32>, #a>
    %bits = arith.fptosi %loaded : tensor<512xf32, #a> to tensor<512xi32, #a>
    %kept = arith.cmpi slt, %bits, %ns : tensor<512xi32, #a>
    %v = tt.load %pa, %kept :""",
)
"""What is read by way of ``%p`` is masked by what is read by way of ``%q``."""


def test_what_data_may_mask_is_in_no_bound_of_a_launch() -> None:
    """False everywhere it took an H200 9.2 us, of 33.5 MB and 33.5 of which it stored half."""
    text = COPY.replace(*MASKED).replace("READ", "%i")
    audit = audit_module(parse_ir(text)[0])
    found, of_wave = kernel_bounds(audit, "f", (1320,)), kernel_bounds(audit, "f")
    assert found is not None
    assert of_wave is not None
    assert found.memory.bytes == 2 * 1320 * 2048
    assert found.work.l2_bytes == 2 * 2048
    assert cycles(found)["LSU"] == 10 * 32
    assert of_wave.memory.certain == pytest.approx(of_wave.memory.bytes * 2 / 3)
    assert of_wave.binding is not None
    assert of_wave.binding.cycles == pytest.approx(cycles(of_wave)["DRAM"] * 2 / 3)


@pytest.mark.parametrize(
    ("modifier", "loaded"),
    [("", 2048), ("cacheModifier = ca", 2048), ("cacheModifier = cg", 4 * (3 * 16 + 17) * 32)],
)
def test_repeated_sectors_of_an_execution_come_from_the_first_cache(
    modifier: str, loaded: int
) -> None:
    """Every second of 16-bit elements: 268 MB of sectors, of which L2 gave an H200 33.6."""
    text = COPY.replace("READ", "%i").replace(
        "%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}", "%p: !tt.ptr<f32>"
    )
    [module] = parse_ir(text.replace("tt.load %pa :", f"tt.load %pa {modifier} :"))
    found = kernel_bounds(audit_module(module, None, GivenValues({"p": 4})), "f", (1320,))
    assert found is not None
    assert found.work.l2_bytes == 2048 + loaded


SHARED = """
#w = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1],
                   order = [1, 0]}>
#m = #ttg.slice<{dim = 1, parent = #w}>
#n = #ttg.slice<{dim = 0, parent = #w}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @f(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %eight = arith.constant dense<8> : tensor<128x32xi32, #w>
    %thirty = arith.constant dense<32> : tensor<128x1xi32, #w>
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #m>
    %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #n>
    %rs = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32, #m> -> tensor<128x1xi32, #w>
    %cs = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32, #n> -> tensor<1x32xi32, #w>
    %ra = arith.muli %rs, %thirty : tensor<128x1xi32, #w>
    %rb = tt.broadcast %ra : tensor<128x1xi32, #w> -> tensor<128x32xi32, #w>
    %cb = tt.broadcast %cs : tensor<1x32xi32, #w> -> tensor<128x32xi32, #w>
    %at = arith.addi %rb, %cb : tensor<128x32xi32, #w>
    %word = arith.divsi %at, %eight : tensor<128x32xi32, #w>
    %ps = tt.splat %p : !tt.ptr<i32> -> tensor<128x32x!tt.ptr<i32>, #w>
    %q = tt.addptr %ps, %word : tensor<128x32x!tt.ptr<i32>, #w>, tensor<128x32xi32, #w>
    %v = tt.load %q : tensor<128x32x!tt.ptr<i32>, #w>
    tt.return
  }
}
"""
"""Loads of words that eight elements share: 32 instructions of a warp for 16 sectors."""


def test_words_that_elements_share_are_asked_for_once_of_the_second_cache() -> None:
    """An H200 takes 48 us for such a kernel, whose instructions ask for sectors of 69."""
    [module] = parse_ir(SHARED)
    found = kernel_bounds(audit_module(module), "f")
    assert found is not None
    assert cycles(found)["L2"] == pytest.approx(128 * 4 * 4 / 68)
    assert cycles(found)["LSU"] > 128 * 4 * 4 / 68


def test_each_resource_is_counted_by_its_rate() -> None:
    found = bounds()
    assert found.programs == 1320
    assert found.memory.bytes == 1320 * 2 * 2048
    seconds = found.seconds(found.bounds[0])
    assert found.bounds[0].resource == "DRAM"
    assert seconds == pytest.approx(1320 * 4096 / 4.6e12)
    counted = cycles(found)
    assert counted["LSU"] == 10 * 2 * 16
    assert counted["special functions"] == 10 * 512 / 16
    assert counted["FMA"] == 10 * 512 / 2 / 128
    assert counted["L2"] == pytest.approx(1320 * 4096 / 68 / 132)
    assert counted["tensor cores"] == 0


def test_what_programs_share_is_read_once() -> None:
    found = bounds("%r")
    assert found.memory.bytes == 2048 + 1320 * 2048
    assert cycles(found)["LSU"] == cycles(bounds())["LSU"]


def touched(text: str, **values: int) -> float:
    """Return the bytes that 1,320 programs touch."""
    [module] = parse_ir(text.replace("READ", "%i"))
    found = kernel_bounds(audit_module(module, None, GivenValues(values)), "f", (1320,))
    assert found is not None
    return found.memory.bytes


def test_programs_behind_the_last_row_touch_nothing() -> None:
    mask = """%ns = tt.splat %n : i32 -> tensor<512xi32, #a>
    %m = arith.cmpi slt, %i, %ns : tensor<512xi32, #a>
    %ps ="""
    text = COPY.replace("%ps =", mask, 1)
    text = text.replace("tt.load %pa", "tt.load %pa, %m").replace("%qa, %y", "%qa, %y, %m")
    assert touched(text, n=512 * 1000) == 1000 * 2 * 2048


def test_a_branch_that_a_loaded_value_decides_is_taken() -> None:
    begin = """%f = tt.load %p : !tt.ptr<f32>
    %z = arith.constant 0.0 : f32
    %t = arith.cmpf ogt, %f, %z : f32
    scf.if %t {
    tt.store"""
    text = COPY.replace("tt.store", begin).replace("    tt.return", "    }\n    tt.return")
    assert touched(text) == 1320 * 2 * 2048


def test_narrow_accesses_that_are_far_apart_touch_a_sector_each() -> None:
    """Elements of 4 bytes, 64 bytes apart."""
    far = """%e = arith.constant dense<16> : tensor<512xi32, #a>
    %k = arith.muli %i, %e : tensor<512xi32, #a>
    %pa ="""
    text = COPY.replace("%pa =", far, 1).replace("READ", "%k")
    assert touched(text) == 1320 * (512 * 32 + 2048)


@pytest.mark.parametrize(
    ("step", "sectors"), [("dense<16>", 512), ("dense<3>", 192), ("dense<-1>", 64)]
)
def test_wherever_an_array_begins_its_elements_are_as_far_apart(step: str, sectors: int) -> None:
    """A pointer that is not known to be aligned: as it is best, elements fill their sectors."""
    far = f"""%e = arith.constant {step} : tensor<512xi32, #a>
    %k = arith.muli %i, %e : tensor<512xi32, #a>
    %pa ="""
    text = COPY.replace("%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}", "%p: !tt.ptr<f32>")
    [module] = parse_ir(text.replace("%pa =", far, 1).replace("READ", "%k"))
    found = kernel_bounds(audit_module(module, None, GivenValues()), "f", (1320,))
    assert found is not None
    assert found.memory.bytes == 1320 * (sectors * 32 + 2048)


def test_under_an_unknown_mask_memory_moves_what_lanes_ask_for() -> None:
    """Eight instructions touch the same sectors, two bytes of each lane at a time."""
    text = (EXAMPLES / "narrow" / "vector_add.ttgir").read_text(encoding="utf-8")
    [module] = parse_ir(text)
    found = kernel_bounds(audit_module(module, None, GivenValues()), "vector_add", (4096,))
    assert found is not None
    assert found.memory.bytes == 4096 * 3 * 2048


def test_the_busiest_multiprocessor_counts() -> None:
    assert cycles(bounds(grid=(133,)))["LSU"] == 2 * cycles(bounds(grid=(132,)))["LSU"]
    assert cycles(bounds(grid=(1,)))["LSU"] == cycles(bounds(grid=(132,)))["LSU"]


def test_without_a_grid_it_is_one_program() -> None:
    found = bounds(grid=None)
    assert found.programs is None
    assert cycles(found)["LSU"] == 32
    assert cycles(found)["DRAM"] == pytest.approx(4096 * 132 / (4.6e12 / 1.98e9))


def test_without_a_grid_memory_moves_each_byte_once() -> None:
    """Each of four narrow requests of a warp touches all of its sectors, which L1 then holds."""
    text = COPY.replace("READ", "%i").replace(
        "%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}", "%p: !tt.ptr<f32>"
    )
    [module] = parse_ir(text)
    found = kernel_bounds(audit_module(module, None, GivenValues({"p": 4})), "f")
    assert found is not None
    assert found.work.asked == (4 * (3 * 16 + 17) * 32, 2048)
    assert found.work.l2_bytes == 2048 + 2048
    assert found.wave is not None
    assert found.memory.bytes == (2048 + 2048) * found.wave.programs


HALVED = """%f = arith.sitofp %i : tensor<512xi32, #a> to tensor<512xf32, #a>
    %half = arith.constant dense<5.000000e-01> : tensor<512xf32, #a>
    %g = arith.mulf %f, %half : tensor<512xf32, #a>
    %h = arith.fptosi %g : tensor<512xf32, #a> to tensor<512xi32, #a>"""
SHIFTED = """%one = arith.constant dense<1> : tensor<512xi32, #a>
    %h = arith.shrsi %i, %one : tensor<512xi32, #a>"""


@pytest.mark.parametrize("grid", [None, (1320,)])
def test_addresses_by_way_of_floats_are_known(grid: tuple[int, ...] | None) -> None:
    """An image of twice the size: each element is read by two neighbours."""

    def read(halved: str) -> KernelBounds:
        place = "    %ps = tt.splat"
        text = COPY.replace("READ", "%h").replace(place, f"    {halved}\n{place}")
        found = kernel_bounds(audit_module(parse_ir(text)[0], None, GivenValues()), "f", grid)
        assert found is not None
        return found

    by_floats, by_integers = read(HALVED), read(SHIFTED)
    assert by_floats.memory.bytes == by_integers.memory.bytes
    assert by_floats.work.l2_bytes == by_integers.work.l2_bytes
    assert not by_floats.work.assumed


def test_a_wave_holds_as_many_programs_as_the_report_says() -> None:
    """The module states shared memory of which the dump does not show what it is for."""
    text = COPY.replace("READ", "%i").replace('{"ttg', '{ttg.shared = 60000 : i32, "ttg')
    [kernel] = kernels_of(audit_module(parse_ir(text)[0]))
    assert kernel.occupancy is not None
    assert kernel.bounds is not None
    assert kernel.bounds.wave is not None
    assert kernel.bounds.wave.ctas == kernel.occupancy.ctas == 3


def test_without_a_grid_programs_share_what_no_address_of_theirs_tells_apart() -> None:
    """All of a wave read the same 2,048 bytes, and write 2,048 of their own each."""
    found = bounds("%r", grid=None)
    assert found.wave is not None
    programs = found.wave.programs
    assert (programs, found.wave.ctas) == (132 * 16, 16)
    assert found.memory.bytes == 2048 + programs * 2048
    assert found.memory.unshared == programs * 4096
    assert found.binding == found.largest == found.of("DRAM")
    assert found.assumption == "assuming 2112 programs, 16 on each of 132 multiprocessors"


DIVIDED = """%d = arith.divsi %x, %n : i32
    %b = arith.muli %d, %c : i32"""
REST = """%d = arith.divsi %x, %n : i32
    %o = arith.remsi %x, %n : i32
    %e = arith.addi %d, %o : i32
    %b = arith.muli %e, %c : i32"""
OF_FOUR = """%k = arith.constant 4 : i32
    %d = arith.divsi %x, %k : i32
    %b = arith.muli %d, %c : i32"""


@pytest.mark.parametrize(
    ("begin", "fewest", "most"),
    [
        (DIVIDED, 1, 1),
        (REST, 2112, 2112),
        (OF_FOUR, 528, 528),
        (DIVIDED.replace("divsi", "remsi"), 1, 1),
        (OF_FOUR.replace("divsi", "remsi"), 1, 4),
    ],
)
def test_what_a_divided_id_tells_of_sharing(begin: str, fewest: int, most: int) -> None:
    """Of a count that is not known nothing; a quotient and its remainder are the whole id."""
    text = COPY.replace("%b = arith.muli %x, %c : i32", begin).replace("READ", "%i")
    [module] = parse_ir(text)
    found = kernel_bounds(audit_module(module), "f")
    assert found is not None
    assert found.memory.fewest == fewest * 4096
    if most > 1:
        assert found.memory.bytes == most * 4096
    assert (found.binding is None) is (most == 1)
    assert found.within is not None
    assert found.within.resource in ("LSU", "special functions")


def test_with_a_grid_unknown_addresses_are_shared_by_what_they_depend_on() -> None:
    """Rows at a stride that is not known: DRAM moves those of each program all the same."""
    text = COPY.replace("%b = arith.muli %x, %c : i32", "%b = arith.muli %x, %n : i32")
    [module] = parse_ir(text.replace("READ", "%i"))
    audit = audit_module(module)
    found = kernel_bounds(audit, "f", (1320,))
    assert found is not None
    assert footprint(audit, "f", (1320,)).bytes == 0
    assert found.memory.bytes == 1320 * 2 * 2048


MASKED_LOAD = """%ns = tt.splat %n : i32 -> tensor<512xi32, #a>
    %k = arith.cmpi slt, %r, %ns : tensor<512xi32, #a>
    %v = tt.load %pa, %k : tensor<512x!tt.ptr<f32>, #a>"""


def test_a_mask_is_taken_as_true_only_where_it_is_unknown() -> None:
    text = COPY.replace("%v = tt.load %pa : tensor<512x!tt.ptr<f32>, #a>", MASKED_LOAD)
    [module] = parse_ir(text.replace("READ", "%i"))
    stored, loaded = 4 * 2048, []
    for given in GivenValues(), GivenValues({"n": 256}):
        audit = audit_module(module, None, given)
        bound = footprint(audit, "f", (4,)).bytes
        whole = footprint(audit, "f", (4,), is_taken_true=lambda _: True).bytes
        loaded.append((bound - stored, whole - stored))
    assert loaded == [(0, 4 * 2048), (4 * 1024, 4 * 1024)]


def test_needed_are_the_bytes_that_lanes_ask_for() -> None:
    """Elements of 4 bytes, 64 bytes apart: an eighth of their sectors."""
    far = """%e = arith.constant dense<16> : tensor<512xi32, #a>
    %k = arith.muli %i, %e : tensor<512xi32, #a>
    %pa ="""
    [module] = parse_ir(COPY.replace("%pa =", far, 1).replace("READ", "%k"))
    found = kernel_bounds(audit_module(module, None, GivenValues()), "f", (1320,))
    assert found is not None
    assert found.memory.bytes == 1320 * (512 * 32 + 2048)
    assert found.memory.used == 1320 * (512 * 4 + 2048)
    assert found.needed == pytest.approx(found.memory.used / found.rates.dram_per_cycle)
    assert found.needed < 0.25 * found.cycles  # the rest could be avoided


def test_no_bound_of_a_gpu_without_rates() -> None:
    [module] = parse_ir(COPY.replace("READ", "%i").replace("cuda:90", "hip:gfx1100"))
    assert kernel_bounds(audit_module(module), "f") is None


def test_every_rate_is_of_a_known_gpu_and_positive() -> None:
    for name, target in PRODUCTS.items():
        rates = target.product
        assert rates is not None
        assert find_target(name) == target
        assert min(rates.multiprocessors, rates.clock_hz, rates.dram_bytes, rates.fma) > 0
        assert all(rate > 0 for rate in rates.tensor.values())


def test_an_element_half_as_wide_is_multiplied_twice_as_fast_by_nvidia() -> None:
    widths = {"f8": 8, "f16": 16, "tf32": 32}
    for rates in (product for row in ROWS if row.is_nvidia for product in row.products):
        for family in {family for family, _ in rates.tensor}:
            own = [rates.tensor.get((family, element), 0) * n for element, n in widths.items()]
            assert max(own) <= min(x for x in own if x) * 1.001, (rates.name, family)
            assert all(own[family == "mma" :]), (rates.name, family)


DATA_SHEETS = [
    ("sm80", "mma", {"f16": 312, "tf32": 156, "i8": 624, "f64": 19.5}),
    ("gfx942", "mfma", {"f16": 1307.4, "f8": 2614.9, "i8": 2614.9, "f64": 163.4}),
    ("gfx950", "mfma", {"f16": 2516.6, "tf32": 157.3, "f8": 5033.2, "i8": 5033.2, "f64": 78.6}),
]
"""GPU, its matrix instructions, and element -> TFLOPS of all of it."""


@pytest.mark.parametrize(("name", "instruction", "sheet"), DATA_SHEETS)
def test_rates_are_those_of_the_data_sheet(
    name: str, instruction: str, sheet: dict[str, float]
) -> None:
    own = find_target(name).product
    assert own is not None
    for element, expected in sheet.items():
        rate = (own.tensor_rate(instruction, element) or 0) * own.multiprocessors * own.clock_hz
        assert rate / 1e12 == pytest.approx(expected, rel=1e-3), element


def test_rates_by_instruction_and_element() -> None:
    wgmma = "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16"
    h200, a100 = find_target("h200").product, find_target("a100-80gb").product
    assert h200 is not None
    assert a100 is not None
    assert h200.tensor_rate(wgmma, "bf16") == 4096
    assert a100.tensor_rate("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "i8") == 4096
    assert a100.tensor_rate(wgmma, "bf16") is None


def held(gpu: str, warps: int, registers: int, shared: int = 0) -> Occupancy:
    found = occupancy(find_target(gpu), warps, registers=registers, shared_bytes=shared)
    assert found is not None
    return found


LIMITS = [
    # warps, registers, shared bytes -> CTAs by registers, warps and CTAs, as Nsight Compute says
    (32, 64, 128, 1, 2, 32),
    (8, 38, 32, 6, 8, 32),
    (16, 53, 64, 2, 4, 32),
    (4, 255, 49408, 2, 16, 32),
    (4, 19, 0, 21, 16, 32),
    (4, 130, 16384, 3, 16, 32),
]


@pytest.mark.parametrize(
    ("warps", "registers", "shared", "by_registers", "by_warps", "ctas"), LIMITS
)
def test_limits_are_those_that_an_h200_reports(
    warps: int, registers: int, shared: int, by_registers: int, by_warps: int, ctas: int
) -> None:
    limits = {limit.resource: limit.ctas for limit in held("sm90", warps, registers, shared).limits}
    assert limits["registers"] == by_registers
    assert limits["warps"] == by_warps
    assert limits["CTAs"] == ctas


def test_the_next_step_is_the_most_that_lets_one_more_in() -> None:
    found = held("sm90", 4, 200)
    assert found.next_step == "3 CTAs with at most 168 registers per thread"
    assert held("sm90", 4, 168).ctas == 3
    assert held("sm90", 4, 169).ctas == 2
    by_memory = held("sm90", 4, 32, 100_000)
    assert by_memory.limited_by == ("shared memory",)
    most = by_memory.limits[0].most
    assert most is not None
    assert held("sm90", 4, 32, most).ctas == by_memory.ctas + 1
    assert held("sm90", 4, 32, most + 1).ctas == by_memory.ctas


@pytest.mark.parametrize(
    ("gpu", "registers", "waves"),
    [
        ("gfx942", 128, 4), ("gfx942", 512, 1), ("gfx950", 190, 2), ("gfx942", 64, 8),
        ("gfx1100", 159, 9), ("gfx1100", 255, 5), ("gfx1151", 159, 9), ("gfx1102", 157, 6),
        ("gfx1102", 255, 4), ("gfx1201", 92, 16), ("gfx1201", 164, 9), ("gfx1250", 134, 7),
        ("gfx1250", 269, 3), ("gfx1250", 45, 16),
    ],
)  # fmt: skip
def test_waves_of_amd(gpu: str, registers: int, waves: int) -> None:
    """Waves of a SIMD as LLVM prints them: ``; Occupancy: 9``."""
    assert held(gpu, 4, registers).ctas == waves


@pytest.mark.parametrize(
    ("gpu", "registers", "waves"),
    [("gfx1030", 120, 8), ("gfx1030", 20, 16), ("gfx1010", 20, 20), ("gfx1010", 100, 9)],
)
def test_waves_of_older_amd(gpu: str, registers: int, waves: int) -> None:
    """1,024 registers of a lane in units of 16 or 8, 16 or 20 waves: LLVM's AMDGPUBaseInfo.cpp."""
    assert held(gpu, 4, registers).ctas == waves


def test_ctas_of_one_warp_take_no_barrier() -> None:
    limits = [
        {limit.resource: limit.ctas for limit in held(gpu, warps, 16).limits}["CTAs"]
        for gpu, warps in (("gfx1201", 1), ("gfx1201", 2), ("gfx942", 1), ("gfx942", 2))
    ]
    assert limits == [64, 32, 32, 16]


def test_of_more_warps_than_fit_there_is_no_cta() -> None:
    held = occupancy(find_target("sm90"), 128, registers=16)
    assert held is not None
    assert (held.ctas, held.limited_by) == (0, ("warps",))


def test_occupancy_without_a_generation_is_not_known() -> None:
    assert occupancy(find_target("gfx10"), 4, registers=32) is None


LOOP = """
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %x = tt.get_program_id x : i32
    %bound = UPPER
    scf.for %i = %zero to %bound step %one : i32 {
      %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #a>
      %v = arith.sitofp %r : tensor<512xi32, #a> to tensor<512xf32, #a>
      %w = math.exp2 %v : tensor<512xf32, #a>
      %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #a>
      %pa = tt.addptr %ps, %r : tensor<512x!tt.ptr<f32>, #a>, tensor<512xi32, #a>
      tt.store %pa, %w : tensor<512x!tt.ptr<f32>, #a>
    }
    tt.return
  }
}
"""


@pytest.mark.parametrize(
    ("upper", "trips", "is_assumed"),
    [("arith.addi %x, %zero : i32", 4.5, False), ("arith.addi %n, %zero : i32", 32, True)],
)
def test_work_is_the_mean_of_the_programs(upper: str, trips: float, is_assumed: bool) -> None:
    text = COPY.partition("module")[0] + LOOP.replace("UPPER", upper)
    [module] = parse_ir(text)
    found = kernel_bounds(audit_module(module, None, GivenValues()), "f", (10,))
    assert found is not None
    assert found.work.special == trips * 512
    assert found.is_assumed is is_assumed


def test_the_traffic_of_an_access_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from tt_layout.audit.measured.programs import Programs

    asked: list[int] = []
    traffic = Programs.traffic

    def counted(self: Programs, row: Any) -> Any:
        asked.append(row.operation.line)
        return traffic(self, row)

    monkeypatch.setattr(Programs, "traffic", counted)
    bounds()
    assert len(asked) == len(set(asked)) == 2


ADDED = """
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %v: f32, %k: i1) {
    %t = arith.constant true
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %m = arith.cmpi slt, %x, %n : i32
    %h = scf.if %k -> (i32) {
      scf.yield %x : i32
    } else {
      scf.yield %n : i32
    }
    %at = tt.addptr %p, PLACE : !tt.ptr<f32>, i32
    %old = tt.atomic_rmw fadd, relaxed, gpu, %at, %v, MASK : (!tt.ptr<f32>, f32, i1) -> f32
    tt.return
  }
}
"""


COUNTED = """
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @f(%p: !tt.ptr<ELEMENT> {tt.divisibility = 16 : i32},
                    %v: tensor<128xELEMENT, #a>, %n: i32) {
    %x = tt.get_program_id x : i32
    %s = tt.splat %p : !tt.ptr<ELEMENT> -> tensor<128x!tt.ptr<ELEMENT>, #a>
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #a>
    %e = tt.splat BOUND : i32 -> tensor<128xi32, #a>
    %m = arith.cmpi slt, %r, %e : tensor<128xi32, #a>
    %old = tt.atomic_rmw ADD, relaxed, gpu, %s, %v, %m :
      (tensor<128x!tt.ptr<ELEMENT>, #a>, tensor<128xELEMENT, #a>, tensor<128xi1, #a>)
      -> tensor<128xELEMENT, #a>
    tt.return
  }
}
"""


@pytest.mark.parametrize(
    ("element", "kind", "bound", "cycles"),
    [
        ("f32", "fadd", "%n", 640 * 128 / 0.29),
        ("f16", "fadd", "%n", 640 * 128 / 0.66),
        ("i32", "add", "%n", 640 * 128 / (32 * 0.71)),
        ("i32", "max", "%n", None),
        ("f32", "fadd", "%x", None),
    ],
)
def test_lanes_that_add_to_one_address_are_counted(
    element: str, kind: str, bound: str, cycles: float | None
) -> None:
    """Measured on an H100: 0.57, 1.3 and 29 additions in a nanosecond at 1.98 GHz."""
    text = COUNTED.replace("ELEMENT", element).replace("ADD", kind).replace("BOUND", bound)
    for lanes in (128, 32):
        audit = audit_module(parse_ir(text)[0], None, GivenValues({"n": lanes}))
        found = kernel_bounds(audit, "f", (640,))
        assert found is not None
        contended = found.of("contended atomics")
        if cycles is None:
            assert contended is None
        else:
            assert contended is not None
            assert contended.cycles == pytest.approx(cycles * lanes / 128)


def test_exchanges_of_one_integer_follow_each_other() -> None:
    text = ADDED.replace("PLACE", "%n").replace("%v: f32", "%v: i32").replace("MASK", "%t")
    for line in (
        "tt.atomic_rmw exch, relaxed, gpu, %at, %v, %t : (!tt.ptr<f32>, i32, i1) -> i32",
        "tt.atomic_cas relaxed, gpu, %at, %v, %v : (!tt.ptr<f32>, i32, i32) -> i32",
    ):
        start, end = text.index("tt.atomic_rmw"), text.index("    tt.return")
        changed = (text[:start] + line + "\n" + text[end:]).replace("<f32>", "<i32>")
        found = kernel_bounds(audit_module(parse_ir(changed)[0]), "f", (100, 64))
        assert found is not None
        contended = found.of("contended atomics")
        assert contended is not None
        assert contended.cycles == pytest.approx(6400 / 0.71)


@pytest.mark.parametrize(
    ("place", "mask", "chip", "additions"),
    [
        ("%n", "%t", "90", 6400),
        ("%y", "%t", "90", 100),
        ("%x", "%t", "90", 64),
        ("%h", "%t", "90", 64),
        ("%n", "%m", "90", None),
        ("%n", "%k", "90", None),
        ("%n", "%t", "80", None),
    ],
)
def test_additions_to_one_address_follow_each_other(
    place: str, mask: str, chip: str, additions: int | None
) -> None:
    """Measured: 0.29 additions of floats to an address in a cycle, from all multiprocessors."""
    text = ADDED.replace("PLACE", place).replace("MASK", mask).replace(":90", f":{chip}")
    [module] = parse_ir(text)
    audit = audit_module(module)
    found, without = kernel_bounds(audit, "f", (100, 64)), kernel_bounds(audit, "f")
    assert found is not None
    assert without is not None
    assert without.of("contended atomics") is None
    bound = found.of("contended atomics")
    if additions is None:
        assert bound is None
    else:
        assert bound is not None
        assert bound.cycles == pytest.approx(additions / 0.29)
        assert found.largest == bound


def test_a_reversed_load_costs_the_same_wherever_it_begins() -> None:
    """Four wavefronts each of 16 requests: an H200 counted 156 for twice as many elements."""
    back = """%ns = tt.splat %n : i32 -> tensor<512xi32, #a>
    %back = arith.subi %ns, %i : tensor<512xi32, #a>
    %pa ="""
    [module] = parse_ir(COPY.replace("%pa =", back, 1).replace("READ", "%back"))
    costs = [
        audit_module(module, None, GivenValues(values)).movements[0].cost
        for values in ({}, {"n": 4096})
    ]
    assert [cost.cycles for cost in costs if cost is not None] == [64, 64]


IN_A_BRANCH = """
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @f(%label: !tt.ptr<i32> {tt.divisibility = 16 : i32},
             %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #b>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
    %py = tt.addptr %ys, %i : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %x = tt.load %py : tensor<512x!tt.ptr<f32>, #b>
    %l = tt.load %label : !tt.ptr<i32>
    %is = arith.cmpi eq, %l, %zero : i32
    scf.if %is {
      scf.for %k = %zero to %n step %one : i32 {
        tt.store %py, %x : tensor<512x!tt.ptr<f32>, #b>
      }
    }
    tt.return
  }
}
"""


@pytest.mark.parametrize(
    ("values", "condition", "other"),
    [
        ({}, "L2 if loops run 32 times", "branch"),
        ({"n": 3}, "L2: at least 46.3 ns if every branch is taken", "loops"),
    ],
)
def test_a_bound_says_whether_it_assumes_loops_or_branches_alone(
    values: dict[str, int], condition: str, other: str
) -> None:
    [module] = parse_ir(IN_A_BRANCH)
    [kernel] = kernels_of(audit_module(module, given=GivenValues(values)), (100,))
    assert condition in kernel.verdict
    assert other not in kernel.verdict


NESTED = IN_A_BRANCH.replace("%is = arith", "%unused = arith").replace(
    "scf.if %is {", "scf.for %j = %zero to %l step %one : i32 {"
)


@pytest.mark.parametrize(
    ("values", "condition"),
    [
        ({}, "if all that loops repeat runs 32 times"),
        ({"n": 3}, "if loops run 32 times"),
    ],
)
def test_a_bound_says_that_loops_in_loops_count_together(
    values: dict[str, int], condition: str
) -> None:
    [module] = parse_ir(NESTED)
    [kernel] = kernels_of(audit_module(module, given=GivenValues(values)), (100,))
    assert condition in kernel.verdict
