"""The registers that a kernel needs, against what the tools of the compilers report."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from pathlib import Path

import pytest
from command import Run, runner
from work import calls_of

from tt_layout.analyses.multiplications.matrix_instructions import MatrixInstruction
from tt_layout.audit.audit import audit_module
from tt_layout.audit.kernel import kernels_of
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.occupancy import occupancy
from tt_layout.audit.operations.multiplications import register_refusal
from tt_layout.audit.registers import RegisterPressure, module_registers
from tt_layout.audit.registers.live_ranges import (
    Derivations,
    LiveRange,
    LiveRanges,
    MaskedLoads,
    Numbers,
    ValueSizes,
    live_ranges,
)
from tt_layout.hardware import find_target
from tt_layout.hardware.compiler import (
    HeldRegisters,
    RangeEnd,
    RegisterDemand,
    RegisterLine,
    Weights,
)
from tt_layout.ir import parse_ir
from tt_layout.ir.ssa import Value

HEAD = """
#a = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1],
                     order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "TARGET"} {
  tt.func @f(%p: tensor<4096x!tt.ptr<f32>, #a>, %n: i32, %q: tensor<512x128x!tt.ptr<f16>, #row>) {
"""
WIDE = HEAD.replace("512x128", "1024x128")
FOOT = "    tt.return\n  }\n}\n"


@pytest.fixture(name="run")
def fixture_run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def pressure(body: str, target: str = "cuda:90", head: str = HEAD) -> RegisterPressure:
    [module] = parse_ir(head.replace("TARGET", target) + body + FOOT)
    [found] = module_registers(AuditedModule(module, SharedWork()))
    return found


LOAD = "%x = tt.load %p : tensor<4096x!tt.ptr<f32>, #a>\n"
STORE = "tt.store %p, %{} : tensor<4096x!tt.ptr<f32>, #a>\n"


def test_what_dies_gives_its_registers_to_the_result() -> None:
    one = LOAD + "%y = math.exp %x : tensor<4096xf32, #a>\n" + STORE.format("y")
    assert pressure(one).live == 32
    both = LOAD + "%y = math.exp %x : tensor<4096xf32, #a>\nttg.barrier local\n"
    both += "%z = arith.mulf %x, %y : tensor<4096xf32, #a>\nttg.barrier local\n"
    assert pressure(both + STORE.format("z") + STORE.format("x") + STORE.format("y")).live == 96


def test_an_accumulator_counts_once() -> None:
    body = """
    %zero = arith.constant dense<0.0> : tensor<4096xf32, #a>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%t = %zero) -> (tensor<4096xf32, #a>) : i32 {
      %x = tt.load %p : tensor<4096x!tt.ptr<f32>, #a>
      %u = arith.addf %t, %x : tensor<4096xf32, #a>
      scf.yield %u : tensor<4096xf32, #a>
    }
    """
    assert pressure(body + STORE.format("sum")).live == 64


def test_what_a_product_gives_when_it_is_waited_for_is_in_the_same_registers() -> None:
    """A persistent loop waits once more in the branch that stores, and goes on behind it."""
    wait = "%y = ttng.warp_group_dot_wait %x {pendings = 0 : i32} : tensor<4096xf32, #a>\n"
    both = "".join(STORE.format(name) for name in "yx")
    assert pressure(LOAD + wait + both).live == pressure(LOAD + both.replace("%y", "%x")).live


@pytest.mark.parametrize(
    ("condition", "other", "live"),
    [("%c", "%x", 96), ("%d", "%x", 128), ("%c", "%y", 128)],
    ids=["again", "another condition", "another value"],
)
def test_a_choice_is_not_made_again_behind_its_branch(
    condition: str, other: str, live: int
) -> None:
    """Tensors take 32 registers each: the choice and two that are loaded behind the branch."""
    tensor = "tensor<4096xf32, #a>"
    body = f"""
      %x = tt.load %p : tensor<4096x!tt.ptr<f32>, #a>
      %y = tt.load %p : tensor<4096x!tt.ptr<f32>, #a>
      %c = arith.cmpi sgt, %n, %n : i32
      %d = arith.cmpi slt, %n, %n : i32
      %r = scf.if %c -> ({tensor}) {{
        %s = arith.addf %x, %y : {tensor}
        scf.yield %s : {tensor}
      }} else {{
        scf.yield %x : {tensor}
      }}
      %z = tt.load %p : tensor<4096x!tt.ptr<f32>, #a>
      %w = tt.load %p : tensor<4096x!tt.ptr<f32>, #a>
      %e = arith.select {condition}, %r, {other} : {tensor}
      %ez = arith.addf %e, %z : {tensor}
      %ezw = arith.addf %ez, %w : {tensor}
      tt.store %p, %ezw : tensor<4096x!tt.ptr<f32>, #a>
    """
    assert pressure(body).live == live


def test_what_a_loop_loads_streams_through_it() -> None:
    """A fifth of what a kernel without products loads in a loop is live at once."""
    body = """
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %p : tensor<4096x!tt.ptr<f32>, #a>
      ttg.barrier local
      tt.store %p, %x : tensor<4096x!tt.ptr<f32>, #a>
    }
    """
    outside = LOAD + "ttg.barrier local\n" + STORE.format("x")
    streamed, whole = pressure(body), pressure(outside)
    assert streamed.needed < whole.needed - 5
    assert streamed.range.high < whole.range.high


def test_what_comes_from_outside_is_live_to_the_end_of_the_loop() -> None:
    body = (
        LOAD
        + """
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %e = math.exp %x : tensor<4096xf32, #a>
      tt.store %p, %e : tensor<4096x!tt.ptr<f32>, #a>
      %y = tt.load %p : tensor<4096x!tt.ptr<f32>, #a>
      %z = tt.load %p : tensor<4096x!tt.ptr<f32>, #a>
      tt.store %p, %y : tensor<4096x!tt.ptr<f32>, #a>
      tt.store %p, %z : tensor<4096x!tt.ptr<f32>, #a>
    }
    """
    )
    assert pressure(body).live == 96


def test_indices_masks_and_constants_take_none() -> None:
    body = """
    %i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #a>
    %s = tt.splat %n : i32 -> tensor<4096xi32, #a>
    %m = arith.cmpi slt, %i, %s : tensor<4096xi32, #a>
    %j = arith.addi %i, %s : tensor<4096xi32, #a>
    %x = tt.load %p, %m : tensor<4096x!tt.ptr<f32>, #a>
    tt.store %p, %x, %m : tensor<4096x!tt.ptr<f32>, #a>
    """
    assert pressure(body).live == 32


def test_integers_that_were_loaded_take_theirs() -> None:
    body = """
    %b = tt.bitcast %p : tensor<4096x!tt.ptr<f32>, #a> -> tensor<4096x!tt.ptr<i32>, #a>
    %x = tt.load %b : tensor<4096x!tt.ptr<i32>, #a>
    ttg.barrier local
    tt.store %b, %x : tensor<4096x!tt.ptr<i32>, #a>
    """
    assert pressure(body).live == 32


def test_narrow_elements_share_registers() -> None:
    body = """
    %x = tt.load %q : tensor<512x128x!tt.ptr<f16>, #row>
    tt.store %q, %x : tensor<512x128x!tt.ptr<f16>, #row>
    """
    found = pressure(body)
    assert (found.live, found.spills, found.may_spill) == (256, False, True)
    assert [(value.name, value.layout, value.registers) for value in found.values] == [
        ("%x", "#row", 256)
    ]
    assert found.text.startswith("may spill: ")


@pytest.mark.parametrize(
    ("target", "limit"),
    [("cuda:80", 255), ("hip:gfx942", 512), ("hip:gfx1100", 256), ("hip:gfx1250", 1024)],
)
def test_limits(target: str, limit: int) -> None:
    assert pressure(LOAD + STORE.format("x"), target).limit == limit


@pytest.mark.parametrize(
    ("chip", "limits"),
    [
        ("gfx90a", {4: 512, 8: 256, 16: 128}),
        ("gfx942", {1: 512, 2: 512, 4: 512, 8: 256, 16: 128}),
        ("gfx1100", {8: 256, 16: 256, 32: 192}),
    ],
)
def test_the_warps_of_a_cta_share_the_registers_of_a_simd(
    chip: str, limits: dict[int, int]
) -> None:
    """The most that Triton 3.9 gave kernels that spill, by their warps."""
    file = find_target(chip).registers
    assert file is not None
    assert {warps: file.limit(warps) for warps in limits} == limits


@pytest.mark.parametrize(("chip", "most"), [("gfx942", 16), ("gfx1100", 32), ("sm90", 32)])
def test_a_multiprocessor_holds_no_cta_of_more_threads_than_one_may_have(
    chip: str, most: int
) -> None:
    held, refused = (
        occupancy(find_target(chip), warps, registers=32) for warps in (most, 2 * most)
    )
    assert held is not None
    assert held.ctas > 0
    assert refused is not None
    assert (refused.ctas, refused.limited_by) == (0, ("warps",))
    assert refused.next_step == f"1 CTA with at most {most} warps"


@pytest.mark.parametrize(
    ("registers", "shared_bytes", "step"),
    [
        (40, 0, "16 CTAs with at most 32 registers per thread"),  # registers come in eights
        (40, 16128, "13 CTAs with at most 32 registers per thread"),
        (255, 0, "3 CTAs with at most 168 registers per thread"),
        (32, 65536, "4 CTAs with at most 57344 bytes of shared memory"),
        (32, 0, None),  # all warps are held: smaller CTAs hold no more
    ],
)
def test_the_next_step_of_occupancy_is_one_with_more_warps(
    registers: int, shared_bytes: int, step: str | None
) -> None:
    found = occupancy(find_target("sm90"), 4, registers=registers, shared_bytes=shared_bytes)
    assert found is not None
    assert found.next_step == step


def test_a_stated_maximum_is_the_limit() -> None:
    text = HEAD.replace("TARGET", "cuda:90").replace('{"ttg', '{ttg.maxnreg = 96 : i32, "ttg')
    [module] = parse_ir(text + LOAD + STORE.format("x") + FOOT)
    [found] = audit_module(module).registers
    assert found.limit == 96


def test_partitions_have_their_own() -> None:
    body = """
    ttg.warp_specialize(%p) attributes {requestedRegisters = array<i32: 40>}
    default {
      %x = tt.load %p : tensor<4096x!tt.ptr<f32>, #a>
      tt.store %p, %x : tensor<4096x!tt.ptr<f32>, #a>
      ttg.warp_yield
    }
    partition0(%r: tensor<4096x!tt.ptr<f32>, #a>) num_warps(4) {
      %y = tt.load %r : tensor<4096x!tt.ptr<f32>, #a>
      tt.store %r, %y : tensor<4096x!tt.ptr<f32>, #a>
      ttg.warp_return
    } : (tensor<4096x!tt.ptr<f32>, #a>) -> ()
    """
    [module] = parse_ir(HEAD.replace("TARGET", "cuda:90") + body + FOOT)
    found = module_registers(AuditedModule(module, SharedWork()))
    assert [(one.partition, one.live, one.limit) for one in found] == [(None, 32, 255), (0, 32, 40)]
    assert audit_module(module).registers == tuple(found)


@pytest.mark.parametrize(
    ("warps", "stated", "ends"),
    [(4, "", (255, 255)), (8, "", (168, 168)), (4, '"ttg.maxnreg" = 128 : i32, ', (0, 128))],
)
def test_specialised_warps_start_with_all_registers(
    warps: int, stated: str, ends: tuple[int, int]
) -> None:
    """Of 4 warps and 3 in a partition each starts with 255, of 8 and 3 with 168, as compiled."""
    body = """
    ttg.warp_specialize(%p) attributes {requestedRegisters = array<i32: 40>}
    default {
      ttg.warp_yield
    }
    partition0(%r: tensor<4096x!tt.ptr<f32>, #a>) num_warps(3) {
      ttg.warp_return
    } : (tensor<4096x!tt.ptr<f32>, #a>) -> ()
    """
    head = HEAD.replace('"ttg.num-warps" = 4', f'{stated}"ttg.num-warps" = {warps}')
    head = head.replace("warpsPerCTA = [4", f"warpsPerCTA = [{warps}")
    found = pressure(body, head=head)
    assert (found.range.low if found.live or not stated else 0, found.range.high) == ends
    asked = body.replace(" attributes {requestedRegisters = array<i32: 40>}", "")
    [module] = parse_ir(head.replace("TARGET", "cuda:90") + asked + FOOT)
    assert not module_registers(AuditedModule(module, SharedWork())), "they are not handed on"


@pytest.mark.slow
def test_a_kernel_that_spills_is_a_finding_before_the_data_movements() -> None:
    body = """
    %x = tt.load %q : tensor<1024x128x!tt.ptr<f16>, #row>
    tt.store %q, %x : tensor<1024x128x!tt.ptr<f16>, #row>
    """
    [module] = parse_ir(WIDE.replace("TARGET", "cuda:90") + body + FOOT)
    first = audit_module(module).findings[0]
    assert (first.kind, first.function, first.line) == ("registers", "f", 8)
    assert first.message.startswith("@f: spills are likely: about 268 to 827 of 255 registers")
    assert (
        "%x alone takes all; in the program: use a smaller block, so that each has 8 to 32"
        in first.message
    )


def test_of_values_that_are_small_fewer_are_to_be_kept() -> None:
    """32 tensors of 32 registers each spill, too, and a block of 32 elements is small enough."""
    tensor = "tensor<4096x!tt.ptr<f32>, #a>"
    loads = "".join(f"%x{number} = tt.load %p : {tensor}\n" for number in range(32))
    stores = "".join(f"tt.store %p, %x{number} : {tensor}\n" for number in range(32))
    text = HEAD.replace("TARGET", "cuda:90") + loads + "ttg.barrier local\n" + stores + FOOT
    [module] = parse_ir(text)
    [spills] = [one for one in audit_module(module).findings if one.kind == "registers"]
    assert "in the program: keep fewer of these at once" in spills.message
    assert "smaller block" not in spills.message


@pytest.mark.slow
def test_fail_on_registers(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "kernel.ttgir"
    body = """
    %x = tt.load %q : tensor<1024x128x!tt.ptr<f16>, #row>
    tt.store %q, %x : tensor<1024x128x!tt.ptr<f16>, #row>
    """
    path.write_text(WIDE.replace("TARGET", "cuda:90") + body + FOOT, encoding="utf-8")
    failed = run("audit", str(path), "--fail-on", "registers")
    assert failed.status == 1
    assert "spills are likely" in failed.err
    path.write_text(WIDE.replace("TARGET", "hip:gfx1250") + body + FOOT, encoding="utf-8")
    assert run("audit", str(path), "--fail-on", "registers").status == 0


def test_a_shared_load_is_moved_down_past_what_only_renames_it() -> None:
    column = "#ttg.slice<{dim = 1, parent = #row}>"
    load = f"""
    %buffer = ttg.local_alloc : () -> !ttg.memdesc<512xf32, #ttg.swizzled_shared<{{vec = 1,
        perPhase = 1, maxPhase = 1, order = [0]}}>, #ttg.shared_memory, mutable>
    %v = ttg.local_load %buffer : !ttg.memdesc<512xf32, #ttg.swizzled_shared<{{vec = 1,
        perPhase = 1, maxPhase = 1, order = [0]}}>, #ttg.shared_memory, mutable>
        -> tensor<512xf32, {column}>
    """
    rename = f"""
    %e = tt.expand_dims %v {{axis = 1 : i32}}
        : tensor<512xf32, {column}> -> tensor<512x1xf32, #row>
    """
    wide = LOAD + "ttg.barrier local\n" + STORE.format("x")
    use = "%u = math.exp %e : tensor<512x1xf32, #row>\nttg.barrier local\n"
    use += """%w = "tt.reduce"(%u) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      tt.reduce.return %s : f32
    }) : (tensor<512x1xf32, #row>) -> tensor<512xf32, #ttg.slice<{dim = 1, parent = #row}>>
    """
    apart = pressure(load + rename + wide + use)
    together = pressure(load + wide + rename + use)
    assert apart.live == together.live


@pytest.mark.parametrize(("partition_warps", "total"), [(1, 8), (4, 8), (5, 12)])
def test_warps_of_partitions_come_in_groups_of_four(partition_warps: int, total: int) -> None:
    """As ``num_warps`` of Triton 3.9 has them, with a byte for each in ``shared``."""
    body = f"""
    ttg.warp_specialize(%p) attributes {{requestedRegisters = array<i32: 40>}}
    default {{
      %x = tt.load %p : tensor<4096x!tt.ptr<f32>, #a>
      tt.store %p, %x : tensor<4096x!tt.ptr<f32>, #a>
      ttg.warp_yield
    }}
    partition0(%r: tensor<4096x!tt.ptr<f32>, #a>) num_warps({partition_warps}) {{
      ttg.warp_return
    }} : (tensor<4096x!tt.ptr<f32>, #a>) -> ()
    """
    [module] = parse_ir(HEAD.replace("TARGET", "cuda:100") + body + FOOT)
    audit = audit_module(module)
    [summary] = kernels_of(audit)
    assert summary.occupancy is not None
    assert summary.occupancy.warps == summary.occupancy.ctas * total
    [memory] = audit.shared_memory
    assert [one.bytes for one in memory.allocations if one.kind == "warps"] == [total - 4]


@pytest.mark.parametrize(
    ("columns", "refused", "taken"), [(64, 56, 64), (128, 88, 96), (256, 152, 160)]
)
def test_wgmma_needs_registers_beside_its_result(columns: int, refused: int, taken: int) -> None:
    """The limits with which Triton 3.9 compiled matmuls for sm90, and those with C7602."""
    shape = (64, columns, 16)
    wide = MatrixInstruction(name="wgmma", shape=shape, instructions=1, issuer="warp group")
    assert register_refusal(wide, 32, refused) is not None
    assert register_refusal(wide, 32, taken) is None


def test_a_dot_without_its_registers_does_not_compile() -> None:
    path = Path(__file__).parents[2] / "examples" / "kernels" / "matmul-sm90.ttgir"
    text = path.read_text(encoding="utf-8")
    errors = []
    for most in (56, 64):
        few = text.replace("attributes {", f"attributes {{ttg.maxnreg = {most} : i32, ", 1)
        [module] = parse_ir(few)
        errors.append([one.message for one in audit_module(module).findings if one.is_error])
    assert errors[1] == []
    [message] = errors[0]
    assert "does not compile: wgmma of N = 64 needs 64 registers per thread" in message


SCAN = """
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [WARPS, 1],
                     order = [1, 0]}>
module attributes {"ttg.num-warps" = WARPS : i32, ttg.target = "TARGET"} {
  tt.func @f(%p: tensor<SIZExNUMBER, #row>, %q: tensor<SIZEx!tt.ptr<f32>, #row>) {
    %h = tt.load %p : tensor<SIZExNUMBER, #row>
    %x = arith.extf %h : tensor<SIZExf16, #row> to tensor<SIZExf32, #row>
    %s = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%l: f32, %r: f32):
      %a = arith.addf %l, %r : f32
      tt.scan.return %a : f32
    }) : (tensor<SIZExf32, #row>) -> tensor<SIZExf32, #row>
    %y = arith.addf %s, %x : tensor<SIZExf32, #row>
    tt.store %q, %y : tensor<SIZEx!tt.ptr<f32>, #row>
""".replace("NUMBER", "!tt.ptr<f16>")


@pytest.mark.parametrize(
    ("target", "rows", "warps", "live"),
    [
        ("hip:gfx1100", 16, 1, 256),  # of 512 elements of a thread the halves, a row at a time
        ("hip:gfx1100", 2, 1, 128),  # of 64 elements operand and result: there is room for them
        ("hip:gfx1250", 8, 1, 512),
        ("hip:gfx1100", 16, 4, 256),  # what is scanned by several warps waits for the others
        ("cuda:90", 16, 4, 256),
    ],
)
def test_a_scan_within_a_warp_goes_row_by_row_where_room_is_short(
    target: str, rows: int, warps: int, live: int
) -> None:
    """As 15 scans that Triton 3.9 compiled do: 256 elements a thread take 174 on gfx1100."""
    text = SCAN.replace("WARPS", str(warps)).replace("TARGET", target) + FOOT
    [module] = parse_ir(text.replace("SIZE", f"{rows}x1024"))
    [found] = module_registers(AuditedModule(module, SharedWork()))
    assert found.live == live


def test_what_is_not_named_of_a_demand_is_nothing() -> None:
    weights = Weights(*[10.0] * len(Weights._fields))
    assert weights.registers(RegisterDemand(7)) == 10 + 7 * 10
    assert Weights(1, 10).registers(RegisterDemand(*[7] * len(RegisterDemand._fields))) == 10 + 7


def test_what_a_dot_reads_from_shared_memory_is_loaded_during_the_dot_before() -> None:
    operand = "tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>"
    weight = "tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>"
    buffer = "!ttg.memdesc<64x16xf16, #shared, #ttg.shared_memory, mutable>"
    head = HEAD.replace(
        "\nmodule",
        """
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1],
                        instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module""",
    )
    body = f"%b = ttg.local_alloc : () -> {buffer}\n"
    body += f"%w = arith.constant dense<1.0> : {weight}\n"
    body += "%d = arith.constant dense<0.0> : tensor<64x64xf32, #mma>\n"
    body += "".join(f"%a{at} = ttg.local_load %b : {buffer} -> {operand}\n" for at in range(4))
    last = "%d"
    for at in range(4):
        body += f"%d{at} = tt.dot %a{at}, %w, {last} : {operand} * {weight}"
        body += " -> tensor<64x64xf32, #mma>\n"
        last = f"%d{at}"
    body += "%z = arith.truncf %d3 : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>\n"
    body += "ttg.local_store %z, %b : tensor<64x64xf16, #mma> -> " + buffer + "\n"
    [module] = parse_ir(head.replace("TARGET", "cuda:80") + body + FOOT)
    [found] = module_registers(AuditedModule(module, SharedWork()))
    assert found.live == 32 + 2 * 4  # the sum, and operands of two dots of four


def product_of_elements(rows: int, addend: str, target: str) -> RegisterPressure:
    """Return the registers of a product of rows x 64 with 64 x 64, without matrix instructions."""
    parent = "parent = #d}>>"
    left = f"tensor<{rows}x64xf32, #ttg.dot_op<{{opIdx = 0, {parent}"
    right = f"tensor<64x64xf32, #ttg.dot_op<{{opIdx = 1, {parent}"
    sums, memory = f"tensor<{rows}x64xf32, #d>", "#shared, #ttg.shared_memory, mutable>"
    first, second = f"!ttg.memdesc<{rows}x64xf32, {memory}", f"!ttg.memdesc<64x64xf32, {memory}"
    head = HEAD.replace(
        "\nmodule",
        """
#d = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1],
                   order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module""",
    )
    body = f"""
    %b = ttg.local_alloc : () -> {first}
    %e = ttg.local_alloc : () -> {second}
    %z = arith.constant dense<0.0> : {sums}
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> ({sums}) : i32 {{
      %l = ttg.local_load %b : {first} -> {left}
      %r = ttg.local_load %e : {second} -> {right}
      %s = tt.dot %l, %r, {addend} : {left} * {right} -> {sums}
      scf.yield %s : {sums}
    }}
    ttg.local_store %sum, %b : {sums} -> {first}
    """
    [module] = parse_ir(head.replace("TARGET", target) + body + FOOT)
    [found] = module_registers(AuditedModule(module, SharedWork()))
    return found


@pytest.mark.parametrize(("target", "spills"), [("cuda:80", True), ("cuda:86", False)])
def test_long_products_of_single_elements_in_loops_spill_on_sm80_alone(
    target: str, spills: bool
) -> None:
    """Of 32x64x64 ptxas for sm80 spills 26 of 255 registers; for sm90 it takes 79."""
    assert product_of_elements(32, "%t", target).spills is spills


@pytest.mark.parametrize(("rows", "addend", "spills"), [(64, "%z", True), (64, "%t", False)])
def test_long_products_of_single_elements_spill_where_they_are_added_to_a_constant(
    rows: int, addend: str, spills: bool
) -> None:
    """Of 64x64x64 ptxas for sm90 spills 120 of 255 registers; added to a loop's sum, 128 do."""
    assert product_of_elements(rows, addend, "cuda:90").spills is spills


@pytest.mark.parametrize(("target", "is_ahead"), [("hip:gfx1250", True), ("hip:gfx1100", False)])
def test_loads_are_issued_ahead_up_to_a_barrier(target: str, is_ahead: bool) -> None:
    first = LOAD + LOAD.replace("%x", "%w") + "%s = arith.addf %x, %w : tensor<4096xf32, #a>\n"
    first += "%u = arith.truncf %s : tensor<4096xf32, #a> to tensor<4096xf16, #a>\n"
    second = LOAD.replace("%x", "%z")
    second += "%v = arith.extf %u : tensor<4096xf16, #a> to tensor<4096xf32, #a>\n"
    second += "%y = arith.addf %v, %z : tensor<4096xf32, #a>\n" + STORE.format("y")
    apart = pressure(first + "ttg.barrier local\n" + second, target)
    assert (pressure(first + second, target).needed > apart.needed) is is_ahead


def test_indices_and_masks_take_registers_up_to_a_limit() -> None:
    plain = pressure(LOAD + STORE.format("x"))
    body = "%i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #a>\n"
    body += "%n0 = tt.splat %n : i32 -> tensor<4096xi32, #a>\n"
    body += "%m = arith.cmpi slt, %i, %n0 : tensor<4096xi32, #a>\n"
    body += "%x = tt.load %p, %m : tensor<4096x!tt.ptr<f32>, #a>\nttg.barrier local\n"
    body += "tt.store %p, %x, %m : tensor<4096x!tt.ptr<f32>, #a>\n"
    masked = pressure(body)
    assert masked.live == plain.live == 32
    assert plain.needed < masked.needed <= plain.needed + 40


TRUTH = Path(__file__).parents[1] / "data" / "registers.jsonl.xz"


def test_near_the_limit_a_kernel_without_loops_spills() -> None:
    """From 0.85 of the limit on half of them do, from 1.4 on all did, as ptxas compiled them."""
    line = find_target("sm90").compiler
    assert line is not None
    calm, may, spills = (line.straight.range(RegisterDemand(live), 255) for live in (348, 354, 590))
    assert calm.needed < 0.85 * 255 <= may.needed < 1.4 * 255 <= spills.needed
    assert calm.high <= 255
    assert may.low <= 255 < may.high
    assert spills.low > 255
    assert line.straight.range(RegisterDemand(354), 512).high < 512


def test_large_kernels_may_take_half_of_what_small_ones_suggest() -> None:
    """Ptxas issues loads later for a step of the occupancy: the least is no fixed part."""
    line = find_target("sm90").compiler
    assert line is not None
    small, large = (line.straight.range(RegisterDemand(live), 255, 32) for live in (24, 240))
    assert small.low >= 0.62 * small.needed
    assert large.low <= 0.52 * large.needed


def test_what_is_free_is_kept_where_more_is_needed() -> None:
    line = find_target("sm90").compiler
    assert line is not None
    some = RegisterDemand(80)
    few, many = (line.straight.range(some, 255, free) for free in (16, 48))
    assert few.needed == many.needed > 48
    assert few.low < many.low == round(0.92 * 48)


def test_registers_that_cost_no_occupancy_are_taken_and_more_are_avoided() -> None:
    """Four warps leave 32 free on sm90, one leaves 64."""
    model = find_target("sm90").compiler
    assert model is not None

    def needed(line: RegisterLine, free: int | None, **demand: int) -> int:
        return line.range(RegisterDemand(**demand), 255, free).needed

    plain = needed(model.straight, None, live=24)
    divided = [needed(model.straight, free, live=24, divisions=16) for free in (16, plain + 2, 64)]
    assert divided[0] <= plain < divided[1] == plain + 2 < divided[2] < 64
    loops = [needed(model.loops, 64, live=live) for live in (30, 40, 50, 80)]
    assert loops[0] < 64 == loops[1] == loops[2] < loops[3]
    assert needed(model.loops, 32, live=50) < 64


def test_a_range_begins_at_no_register_at_least() -> None:
    line = RegisterLine(Weights(1, 0), RangeEnd(0.5, -5), RangeEnd(2))
    assert line.range(RegisterDemand(4)) == (0, 4, 8)


def test_a_range_is_narrower_where_registers_are_free() -> None:
    """A compiler that needs to save none does as the dump says."""
    model = find_target("sm90").compiler
    assert model is not None
    small = RegisterDemand(30, loads=1, stored=8)
    free, pressed = (model.straight.range(small, 255, count) for count in (64, 16))
    assert free.low > pressed.low
    assert free.high - free.low < pressed.high - pressed.low


def test_products_of_wgmma_keep_the_addresses_that_a_loop_steps() -> None:
    model = find_target("sm90").compiler
    assert model is not None
    assert model.asynchronous is not None
    few, many = (model.asynchronous.range(RegisterDemand(64, 64, count)) for count in (8, 40))
    assert many.needed >= few.needed + 7
    assert many.high >= few.high + 9


OTHER = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
"""
TRAFFIC = LOAD + "%y = OPERATION %x : tensor<4096xf32, #a>\nttg.barrier local\n" + STORE.format("y")


def traffic(body: str) -> RegisterDemand:
    """Return the demand of a body, without what its live ranges say."""
    [module] = parse_ir(OTHER + HEAD.replace("TARGET", "cuda:90") + body + FOOT)
    audited = AuditedModule(module, SharedWork())
    [function] = audited.functions
    target = find_target("sm90")
    assert target.compiler is not None

    class Sizes(ValueSizes):
        """An element of a tensor for each of its bits."""

        def words(self, value: Value) -> int:
            ir_type = function.type_of(value)
            if ir_type is None or tuple(ir_type.shape) != (4096,):
                return 0
            return ir_type.element_bits or 32

        def elements(self, value: Value) -> int:
            return self.words(value)

        def masked_loads(self, value: Value) -> MaskedLoads:
            is_one, words = value.name == "%single", self.words(value)
            return MaskedLoads(2 * words, is_narrow=True) if is_one else MaskedLoads()

        def slices(self, value: Value) -> float:
            return 0

        def is_address(self, value: Value) -> bool:
            return False

        def is_wide(self, value: Value) -> bool:
            return False

    ranges = live_ranges(function, function.body, Sizes(), target.compiler, by_row=False)
    return ranges.demand(ranges.needed)._replace(live=0, addresses=0, compared=0)


def test_what_is_loaded_stored_exchanged_and_computed_step_by_step_is_counted() -> None:
    plain = traffic(TRAFFIC.replace("OPERATION", "math.exp"))
    assert plain == RegisterDemand(0, loads=1, loaded=32, stored=32, ahead=32)
    assert traffic(TRAFFIC.replace("OPERATION", "math.erf")) == plain._replace(functions=32)
    twice = traffic(LOAD + LOAD.replace("%x", "%z") + STORE.format("x") + STORE.format("z"))
    assert twice == RegisterDemand(0, loads=2, loaded=64, stored=32, ahead=64)
    exchange = "%y = ttg.convert_layout %x : tensor<4096xf32, #a> -> tensor<4096xf32, #b>\n"
    back = "%z = ttg.convert_layout %y : tensor<4096xf32, #b> -> tensor<4096xf32, #a>\n"
    exchanged = traffic(LOAD + exchange + back + STORE.format("z"))
    assert exchanged == plain._replace(exchanged=64)


def test_divisions_and_the_rounds_of_a_random_generator_are_counted() -> None:
    plain = traffic(LOAD + STORE.format("x"))
    division = "%y = arith.divf %x, %x : tensor<4096xf32, #a>\n"
    assert traffic(LOAD + division + STORE.format("y")) == plain._replace(divisions=32)
    words = "%y = tt.mulhiui %k, %k : tensor<4096xi32, #a>\n"
    words = "%k = arith.constant dense<7> : tensor<4096xi32, #a>\n" + words
    assert traffic(LOAD + words + STORE.format("x")) == plain._replace(random=32)


def test_integers_that_are_unpacked_for_mma_take_registers_beside_them() -> None:
    bytes_loaded = LOAD.replace("f32", "i8")
    unpacked = "%y = arith.sitofp %x : tensor<4096xi8, #a> to tensor<4096xf16, #a>\n"
    store = STORE.format("y").replace("f32", "f16")
    assert traffic(bytes_loaded + unpacked + store).unpacked == 16
    words = unpacked.replace("i8", "i32").replace("f16", "f32")
    assert traffic(LOAD.replace("f32", "i32") + words + STORE.format("y")).unpacked == 0
    model = find_target("sm80").compiler
    assert model is not None
    some = RegisterDemand(80)
    plain, more = (model.products.range(some._replace(unpacked=count)) for count in (0, 32))
    assert plain.needed + 18 <= more.needed <= plain.needed + 20
    assert model.straight.range(some) == model.straight.range(some._replace(unpacked=32))


PIXELS = """
%base = tt.splat %n : i32 -> tensor<4096xi32, #a>
%m = arith.cmpi slt, %i, %base : tensor<4096xi32, #a>
%bytes = tt.splat %b : !tt.ptr<i8> -> tensor<4096x!tt.ptr<i8>, #a>
%at = tt.addptr %bytes, %i : tensor<4096x!tt.ptr<i8>, #a>, tensor<4096xi32, #a>
%x = tt.load %at, %m : tensor<4096x!tt.ptr<i8>, #a>
%y = arith.sitofp %x : tensor<4096xi8, #a> to tensor<4096xf32, #a>
"""
ONE_AFTER_THE_OTHER = """
%r = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #a>
%three = arith.constant dense<STEP> : tensor<4096xi32, #a>
%i = arith.muli %r, %three : tensor<4096xi32, #a>
"""


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942", "hip:gfx1201"])
def test_narrow_elements_that_are_loaded_one_by_one_take_a_register_each(target: str) -> None:
    """Every third byte, under a mask: 32 loads of a thread, whose bytes would fill 8 registers."""
    body = ONE_AFTER_THE_OTHER.replace("STEP", "3") + PIXELS + STORE.format("y")
    head = HEAD.replace("%n: i32", "%n: i32, %b: !tt.ptr<i8> {tt.divisibility = 16 : i32}")

    def needed(body: str) -> int:
        bits = "i32" if "xi8" not in body else "i8"
        return pressure(body, target, head.replace("ptr<i8>", f"ptr<{bits}>")).needed

    def unmasked(body: str) -> str:
        return body.replace("%at, %m", "%at")

    assert needed(unmasked(body)) + 12 <= needed(body) <= needed(unmasked(body)) + 36
    apart = body.replace("slt, %i, %base", "slt, %base, %base")
    together = apart.replace("dense<3>", "dense<1>")
    assert needed(together) <= needed(apart) - 12, "four bytes by one load"
    words = body.replace("i8", "i32")
    assert needed(words) <= needed(unmasked(words)) + 12, "each has a register anyway"


def test_what_narrow_loads_take_is_counted_beside_what_they_are_packed_to() -> None:
    load = LOAD.replace("%x", "%single")
    assert traffic(load + STORE.format("single")).guarded == 32
    assert traffic(LOAD + STORE.format("x")).guarded == 0


def test_products_by_mma_take_addresses_up_to_a_limit_and_what_is_held() -> None:
    model = find_target("sm80").compiler
    assert model is not None

    def needed(**more: int) -> int:
        return model.products.range(RegisterDemand(64, 32, **more)).needed

    assert needed(addresses=32) == needed() + 32
    assert needed(held=50) == needed() + 9
    assert model.asynchronous is not None
    body = parse_ir(HEAD.replace("TARGET", "cuda:80") + LOAD + STORE.format("x") + FOOT)[0]
    [function] = AuditedModule(body, SharedWork()).functions
    value = next(iter(function.values.values()))
    addresses = (LiveRange(value, 0, 2, 50, 1.0),)
    lines = model.products, model.asynchronous
    counted = [
        LiveRanges((), function.operations, (), False, line, addresses=addresses) for line in lines
    ]
    assert [ranges.demand(ranges.needed).addresses for ranges in counted] == [40, 50]


def test_loads_are_counted_of_the_loop_with_the_most() -> None:
    loop = "scf.for %i = %c0 to %n step %c1 : i32 {\n"
    body = "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
    body += LOAD + STORE.format("x") + loop
    for name in ("u", "v"):
        body += LOAD.replace("%x", f"%{name}") + STORE.format(name)
    assert traffic(body + "}\n").loads == 2


STEPPED = """
%c0 = arith.constant 0 : i32
%c1 = arith.constant 1 : i32
%r = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #a>
%w = tt.splat %n : i32 -> tensor<4096xi32, #a>
%step = arith.constant dense<1> : tensor<4096xi32, #a>
%scaled = arith.muli %r, %w : tensor<4096xi32, #a>
%first = tt.addptr %p, OFFSETS : tensor<4096x!tt.ptr<f32>, #a>, tensor<4096xi32, #a>
%end = scf.for %i = %c0 to %n step %c1 iter_args(%q = %first)
    -> (tensor<4096x!tt.ptr<f32>, #a>) : i32 {
  %x = tt.load %q : tensor<4096x!tt.ptr<f32>, #a>
  tt.store %q, %x : tensor<4096x!tt.ptr<f32>, #a>
  %more = tt.addptr %q, %step : tensor<4096x!tt.ptr<f32>, #a>, tensor<4096xi32, #a>
  scf.yield %more : tensor<4096x!tt.ptr<f32>, #a>
}
"""


def test_addresses_that_a_loop_steps_take_registers_where_no_constant_leads_to_them() -> None:
    """States apart by an argument: ptxas takes 128 registers of a kernel, side by side 32."""
    head = HEAD.replace("%p: tensor<4096x!tt.ptr<f32>, #a>", "%b: !tt.ptr<f32>")
    base = "%p = tt.splat %b : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>, #a>\n"
    apart, beside = (
        pressure(base + STEPPED.replace("OFFSETS", name), head=head) for name in ("%scaled", "%r")
    )
    assert apart.needed >= beside.needed + 16


def test_the_most_is_that_of_all_loads_issued_ahead() -> None:
    """Of a convolution of four rows of 32 masked elements ptxas takes 190 registers."""
    line = find_target("sm90").compiler
    assert line is not None
    few, many = (line.straight.range(RegisterDemand(70, ahead=ahead), 255) for ahead in (32, 148))
    assert few.needed == many.needed
    assert few.high < 150 < 190 <= many.high <= 255
    amd = find_target("gfx942").compiler
    assert amd is not None
    assert amd.loops.range(RegisterDemand(21, ahead=72), 512).high >= 90
    assert line.straight.range(RegisterDemand(70, ahead=2048), 255).high == 255, "it may not spill"


def test_loads_take_no_more_than_a_share_of_the_registers_ahead() -> None:
    """Of 128 loads of 16 registers each ptxas takes 48 registers."""
    loads = "".join(
        LOAD.replace("%x", f"%x{at}") + f"%s{at + 1} = arith.addf %s{at}, %x{at}"
        " : tensor<4096xf32, #a>\n"
        for at in range(64)
    )
    body = LOAD.replace("%x", "%s0") + loads + STORE.format("s64")
    assert not pressure(body).spills


@pytest.mark.parametrize(
    ("elements", "loads", "live", "may"),
    [
        (48, 4, 40, True),
        (48, 3, 40, False),
        (47, 9, 240, False),
        (48, 2, 240, True),
        (48, 2, 220, False),
        (48, 1, 240, False),
    ],
)
def test_elements_that_are_loaded_one_by_one_under_masks_may_spill(
    elements: int, loads: int, live: int, may: bool
) -> None:
    """To reach a step of the occupancy: ptxas spills 14 of such a kernel with 72 registers.

    Two loads are enough where many registers are needed: 14 to 27 of a cross entropy's 128.
    """
    model = find_target("sm90").compiler
    assert model is not None
    demand = RegisterDemand(live, singles=elements, loads=loads)
    assert (model.straight.range(demand, 255).high > 255) is may


def test_masked_loads_of_single_elements_in_loops_take_registers() -> None:
    """Every third word under a mask: ptxas takes 58 registers of a kernel, without the mask 40."""
    loop = ONE_AFTER_THE_OTHER.replace("STEP", "3") + PIXELS.replace("i8", "i32").replace(
        "%x = ",
        "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
        "scf.for %k = %c0 to %n step %c1 : i32 {\n%x = ",
    )
    loop += STORE.format("y") + "}\n"
    head = HEAD.replace("%n: i32", "%n: i32, %b: !tt.ptr<i32> {tt.divisibility = 16 : i32}")
    masked, unmasked = (
        pressure(body, head=head).needed for body in (loop, loop.replace("%at, %m", "%at"))
    )
    assert masked >= unmasked + 7


def test_addresses_of_gfx9_are_kept_or_computed_again() -> None:
    model = find_target("gfx942").compiler
    assert model is not None
    few, many = (
        model.products.range(RegisterDemand(61, addresses=addresses), 512) for addresses in (0, 72)
    )
    assert (few.low, few.needed) == (many.low, many.needed)
    assert many.high == few.high + 72


def test_exchanges_stores_and_functions_take_registers() -> None:
    """As ptxas takes them of kernels without loops and products."""
    plain = pressure(TRAFFIC.replace("OPERATION", "math.exp")).needed
    assert pressure(TRAFFIC.replace("OPERATION", "math.erf")).needed >= plain + 20
    reduced = (
        LOAD
        + """%y = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      tt.reduce.return %s : f32
    }) : (tensor<4096xf32, #a>) -> f32
    """
    )
    assert pressure(reduced).needed <= plain - 10


SUMMED = """%s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
^bb0(%l: f32, %r: f32):
  %t = arith.addf %l, %r : f32
  tt.reduce.return %t : f32
}) : (tensor<4096xf32, #a>) -> f32
"""
WIDENED = "%y = arith.extf %x : tensor<4096xf16, #a> to tensor<4096xf32, #a>\n"


def test_what_is_held_over_a_reduction_is_in_registers() -> None:
    """Of 256 elements that are summed and stored afterwards ptxas spills some."""
    body = LOAD + SUMMED + STORE.format("x")
    elements = {"4096": "32768", "512x128": "64x128"}

    def spills(body: str, target: str, head: str = HEAD) -> bool:
        text = head.replace("TARGET", target) + body + FOOT
        for before, after in elements.items():
            text = text.replace(before, after)
        [found] = module_registers(AuditedModule(parse_ir(text)[-1], SharedWork()))
        return found.spills

    assert spills(body, "cuda:90")
    assert not spills(LOAD + STORE.format("x") + SUMMED, "cuda:90"), "held by nobody"
    assert not spills(body, "hip:gfx942"), "it has 512"
    narrow = LOAD.replace("f32", "f16") + WIDENED + SUMMED.replace("%x", "%y") + STORE.format("y")
    head = HEAD.replace("4096x!tt.ptr<f32>", "4096x!tt.ptr<f16>")
    assert not spills(narrow, "cuda:90", head), "what was loaded is widened again"
    one_warp = HEAD.replace("warpsPerCTA = [4]", "warpsPerCTA = [1]").replace(
        'warps" = 4', 'warps" = 1'
    )
    elements["4096"] = "8192"
    assert not spills(body, "cuda:90", one_warp), "within a warp nothing waits"


def test_what_is_held_over_a_product_bounds_its_registers() -> None:
    loads = "".join(f"%{name} = tt.load %p : tensor<64x64x!tt.ptr<f32>, #mma>\n" for name in "xyz")
    store = "tt.store %p, {} : tensor<64x64x!tt.ptr<f32>, #mma>\n"
    dot = """%d = tt.dot %l, %r, %s : tensor<64x16xf16, #left> * tensor<16x64xf16, #right>
      -> tensor<64x64xf32, #mma>
    """
    head = PRODUCT[: PRODUCT.index("  tt.func")]
    head += """tt.func @f(%p: tensor<64x64x!tt.ptr<f32>, #mma>, %s: tensor<64x64xf32, #mma>,
                          %l: tensor<64x16xf16, #left>, %r: tensor<16x64xf16, #right>,
                          %m: !ttg.memdesc<64x16xf16, #shared, #ttg.shared_memory>) {
    """
    shared = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
    head = f"#shared = {shared}\n{head}"
    again = "%k = ttg.local_load %m : !ttg.memdesc<64x16xf16, #shared, #ttg.shared_memory>"
    again += " -> tensor<64x16xf16, #left>\n" + dot.replace("%d", "%c")
    again += dot.replace("%l", "%k").replace("%s", "%c")
    lows = []
    for body in (loads + dot, loads + again, dot + loads):
        text = head + body + "".join(store.format(f"%{name}") for name in "dxyz") + FOOT
        [found] = module_registers(AuditedModule(parse_ir(text)[-1], SharedWork()))
        lows.append(found.range.low)
    assert lows[0] == lows[1] == round(1.6 * 3 * 32) > lows[2]


def test_what_is_held_over_a_reduction_beside_mma_takes_registers() -> None:
    """One warp waits for no exchange: of tensors of the same registers it holds none."""
    store = "tt.store %p, {} : tensor<64x64x!tt.ptr<f32>, #mma>\n"
    loads = "".join(f"%{name} = tt.load %p : tensor<64x64x!tt.ptr<f32>, #mma>\n" for name in "xy")
    row = "tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>"
    summed = SUMMED.replace("axis = 0", "axis = 1").replace("4096xf32, #a", "64x64xf32, #mma")
    dot = """%d = tt.dot %l, %r, %x : tensor<64x16xf16, #left> * tensor<16x64xf16, #right>
      -> tensor<64x64xf32, #mma>
    """
    head = PRODUCT[: PRODUCT.index("  tt.func")]
    head += """tt.func @f(%p: tensor<64x64x!tt.ptr<f32>, #mma>, %l: tensor<64x16xf16, #left>,
                          %r: tensor<16x64xf16, #right>) {
    """
    text = head + loads + summed.replace("-> f32", f"-> {row}") + dot
    text += "".join(store.format(f"%{name}") for name in "xyd") + FOOT
    one = text.replace("warpsPerCTA = [4, 1]", "warpsPerCTA = [1, 1]")
    one = one.replace('num-warps" = 4', 'num-warps" = 1').replace("64x64x", "16x64x")
    one = one.replace("64x16x", "16x16x").replace("tensor<64xf32", "tensor<16xf32")
    many, single = (
        module_registers(AuditedModule(parse_ir(kernel)[-1], SharedWork()))[0]
        for kernel in (text, one)
    )
    assert many.live == single.live
    assert many.needed - single.needed == pytest.approx(0.18 * 64, abs=1)


def test_a_kernel_spills_if_what_it_holds_takes_more_than_there_are() -> None:
    model = find_target("sm90").compiler
    assert model is not None
    some = RegisterDemand(180)
    calm, spilled = (
        model.products.range(some, 255, held=HeldRegisters(held)) for held in (159, 160)
    )
    assert calm.low <= 255 < spilled.low
    assert spilled.needed >= spilled.low


PRODUCT = """
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1],
                        instrShape = [16, 8]}>
#left = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#right = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1],
                     order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80"} {
  tt.func @f(%n: i32, %p: tensor<64x32x!tt.ptr<f16>, #row>, %o: tensor<64x32xIX, #row>,
             %l: tensor<64x16xf16, #left>, %r: tensor<16x64xf16, #right>,
             %s: tensor<64x64xf32, #mma>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %t:2 = scf.for %i = %zero to %n step %one iter_args(%sum = %s, %k = %o)
        -> (tensor<64x64xf32, #mma>, tensor<64x32xIX, #row>) : i32 {
      %d = tt.dot %l, %r, %sum : tensor<64x16xf16, #left> * tensor<16x64xf16, #right>
        -> tensor<64x64xf32, #mma>
      %next = arith.addi %OF, %o : tensor<64x32xIX, #row>
      %m = arith.cmpi slt, %OF, %next : tensor<64x32xIX, #row>
      %q = tt.addptr %p, %next : tensor<64x32x!tt.ptr<f16>, #row>, tensor<64x32xIX, #row>
      %x = tt.load %q, %m : tensor<64x32x!tt.ptr<f16>, #row>
      scf.yield %d, %HANDED : tensor<64x64xf32, #mma>, tensor<64x32xIX, #row>
    }
    tt.return
  }
}"""
UNCOMPARED = "".join(
    line.replace(", %m :", " :")
    for line in PRODUCT.splitlines(keepends=True)
    if "arith.cmpi" not in line
)
HANDED_ON = UNCOMPARED.replace("%OF", "%k").replace("%HANDED", "%next")
ANEW = {"%OF": "%o", "%HANDED": "%o", ", %k = %o": "", "%t:2": "%t"}


def wider(text: str) -> int:
    """Return how many more registers a product needs with indices of 64 bits than of 32."""
    needed = []
    for width in ("i32", "i64"):
        [module] = parse_ir(text.replace("IX", width))
        [found] = module_registers(AuditedModule(module, SharedWork()))
        needed.append(found.needed)
    return needed[1] - needed[0]


def in_each_iteration(text: str) -> str:
    """Return a product whose loop hands no index on."""
    for before, after in ANEW.items():
        text = text.replace(before, after)
    return text.replace("#mma>, tensor<64x32xIX, #row>)", "#mma>)").replace(
        "scf.yield %d, %o : tensor<64x64xf32, #mma>, tensor<64x32xIX, #row>",
        "scf.yield %d : tensor<64x64xf32, #mma>",
    )


def test_indices_of_64_bits_take_two_registers_where_they_are_compared_or_handed_on() -> None:
    """A mask of rows and columns: ptxas takes 241 registers of a kernel that has such a one."""
    assert wider(in_each_iteration(UNCOMPARED)) == 0
    assert wider(HANDED_ON) >= 0.24 * 2 * 16 - 1
    assert wider(in_each_iteration(PRODUCT)) >= 0.24 * 2 * 2 * 16 - 1


def test_addresses_are_separate_where_no_constant_leads_to_them() -> None:
    """Rows of a width that is an argument; columns are beside each other."""
    text = """
#a = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1],
                   order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #a}>
#columns = #ttg.slice<{dim = 0, parent = #a}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @f(%p: !tt.ptr<f32>, %n: i32) {
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #rows>
    %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #columns>
    %e = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32, #rows> -> tensor<128x1xi32, #a>
    %s = tt.splat %n : i32 -> tensor<128x1xi32, #a>
    %m = arith.muli %e, %s : tensor<128x1xi32, #a>
    %d = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32, #columns> -> tensor<1x16xi32, #a>
    %w = tt.broadcast %m : tensor<128x1xi32, #a> -> tensor<128x16xi32, #a>
    %v = tt.broadcast %d : tensor<1x16xi32, #a> -> tensor<128x16xi32, #a>
    %o = arith.addi %w, %v : tensor<128x16xi32, #a>
    tt.return
  }
}"""
    [module] = parse_ir(text)
    [function] = AuditedModule(module, SharedWork()).functions
    [block] = function.body
    elements = {"%m": 4, "%w": 16, "%o": 16}
    numbers, derivations = Numbers[str](), Derivations()
    for operation in block.operations:
        used, results = (
            [numbers[v.name] for v in vs] for vs in (operation.operands, operation.results)
        )
        derivations.add(operation, used, results)
    names = [*numbers]
    separate = derivations.separate(numbers.values(), lambda number: elements.get(names[number], 4))
    assert [separate[numbers[name]] for name in ("%r", "%m", "%w", "%v", "%o")] == [1, 4, 4, 1, 4]


@pytest.mark.slow  # a third of the kernels: each is read and its live ranges are found
def test_the_range_holds_what_the_compilers_took() -> None:
    """Kernels of 126 families for nine GPUs, as benchmarks/registers compiled them."""
    judge = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks/registers/judge.py"))
    found = judge["figures"](list(judge["rows_of"](TRUTH, 3)))
    assert found.kernels >= 400
    assert found.held >= 0.95
    assert found.width <= 0.8
    assert found.right == found.said >= 1
    assert found.right + found.too >= 0.5 * found.spill
    assert found.may - found.too <= 0.05 * (found.kernels - found.spill)


def test_functions_that_differ_in_names_alone_are_walked_once() -> None:
    path = Path(__file__).parents[2] / "examples" / "kernels" / "attention-sm90.ttgir"
    shared, text = SharedWork(), path.read_text()
    [first] = parse_ir(text)
    [second] = parse_ir(re.sub(r"%([\w-]+)", r"%other_\g<1>", text))
    known = module_registers(AuditedModule(first, shared))
    audited = AuditedModule(second, shared)
    alone = [replace(function, alike=None) for function in audited.functions]
    found = module_registers(audited)
    assert found == module_registers(audited, alone)
    assert [item.name for item in found[0].values] != [item.name for item in known[0].values]
    anew, again = (lambda: module_registers(audited, alone)), (lambda: module_registers(audited))
    assert calls_of(again) < 0.6 * calls_of(anew)
