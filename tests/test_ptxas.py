"""What ptxas makes of accesses for sm90: instructions that no lane executes, and early ends."""

from __future__ import annotations

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.audit.measured.copies import first_copies
from tt_layout.audit.measured.launch import Launch
from tt_layout.audit.measured.prediction import predict
from tt_layout.audit.measured.programs import Programs
from tt_layout.audit.values.given import GivenValues
from tt_layout.ir.ssa import read_functions

HEAD = """
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #a>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #a>
    %q = tt.addptr %ps, %r : tensor<128x!tt.ptr<f32>, #a>, tensor<128xi32, #a>
    %c = arith.constant dense<40> : tensor<128xi32, #a>
    %m = arith.cmpi slt, %r, %c : tensor<128xi32, #a>
"""
BUFFER = "!ttg.memdesc<2x128xf32, #s, #smem, mutable>"
STAGE = "!ttg.memdesc<128xf32, #s, #smem, mutable>"


def copy(name: str, buffer: str, stage: str) -> str:
    return f"""
    %v{name} = ttg.memdesc_index {buffer}[{stage}] : {BUFFER} -> {STAGE}
    %t{name} = ttg.async_copy_global_to_local %q, %v{name} : tensor<128x!tt.ptr<f32>, #a> -> {STAGE}
    %g{name} = ttg.async_commit_group tokens %t{name}
"""


def kernel(body: str) -> str:
    return f"{HEAD}{body}\n    tt.return\n  }}\n}}\n"


PIPELINED = kernel(f"""
    %b = ttg.local_alloc : () -> {BUFFER}
    %d = ttg.local_alloc : () -> {BUFFER}
    {copy("0", "%b", "%c0")}{copy("1", "%d", "%c0")}{copy("2", "%b", "%c1")}{copy("3", "%d", "%c1")}
    scf.for %i = %c0 to %n step %c1 : i32 {{
      %w = ttg.async_wait {{num = 2 : i32}}
      %v = ttg.memdesc_index %b[%c0] : {BUFFER} -> {STAGE}
      %x = ttg.local_load %v : {STAGE} -> tensor<128xf32, #a>
      {copy("4", "%d", "%c0")}{copy("5", "%b", "%c0")}
    }}""")


def test_copies_behind_barriers() -> None:
    """Of each stage the first; and that into a buffer which was read since the last barrier."""
    [module] = parse_ir(PIPELINED)
    [function] = read_functions(module)
    found = [copy.results[0].name for copy in first_copies(function)]
    assert found == ["%t0", "%t2", "%t4", "%t5"]


def predicted(text: str, programs: int, **values: int) -> dict[str, float | None]:
    [module] = parse_ir(text)
    audit = audit_module(module, given=GivenValues(values))
    launch = Launch("f", "0", programs, (programs, 1, 1))
    found = predict(Programs(audit, launch, "f"), audit.movements)
    return {counter.name: amount.number for counter, amount in found.items()}


def test_loads_that_no_lane_executes_are_counted() -> None:
    """Three for each first copy, of each of 4 warps."""
    found = predicted(PIPELINED, 10, n=5)
    assert found["shared load instructions"] == 10 * 4 * 3 * (2 + 2 * 5)
    assert found["asynchronous copy instructions"] == 10 * 4 * (4 + 2 * 5)


STORES = """
    %y = arith.constant dense<1.0> : tensor<128xf32, #a>
    tt.store %q, %y, %m : tensor<128x!tt.ptr<f32>, #a>
"""


def test_the_last_store_ends_warps_that_store_nothing() -> None:
    """40 elements are of two warps of four: of two stores the other two execute the first."""
    assert predicted(kernel(STORES), 10)["global store instructions"] == 20
    twice = STORES + STORES.replace("%y", "%z")
    assert predicted(kernel(twice), 10)["global store instructions"] == 60
    found = predicted(kernel(STORES), 10)
    assert found["global store requests"] == 20
