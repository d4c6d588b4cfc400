"""What ptxas makes of accesses for sm90: instructions that no lane executes, and early ends."""

from __future__ import annotations

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.audit.measured.comparison import predict
from tt_layout.audit.measured.counters import MeasuredLaunch
from tt_layout.audit.measured.programs import Programs, no_lane_loads
from tt_layout.audit.values.given import GivenValues
from tt_layout.ir.reader import parse_ir as read_ir
from tt_layout.ir.ssa import read_functions
from tt_layout.releases import Release

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
    found = no_lane_loads(function, lambda operation: False)
    assert [loads.operation.results[0].name for loads in found] == ["%t0", "%t2", "%t4", "%t5"]


def predicted(text: str, programs: int, **values: int) -> dict[str, float | None]:
    [module] = parse_ir(text)
    audit = audit_module(module, given=GivenValues(values))
    launch = MeasuredLaunch("f", "0", programs, (programs, 1, 1))
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


FENCED = kernel(f"""
    %b = ttg.local_alloc : () -> {BUFFER}
    {copy("0", "%b", "%c0")}
    ttng.fence_async_shared {{bCluster = false}}
    scf.for %i = %c0 to %n step %c1 : i32 {{
      %w = ttg.async_wait {{num = 0 : i32}}
      ttng.fence_async_shared {{bCluster = false}}
    }}""")


def test_fences_have_such_loads_beside_copies() -> None:
    """One, and the three of the first copy where no copy had them since the barrier."""
    found = predicted(FENCED, 10, n=5)
    assert found["shared load instructions"] == 10 * 4 * (3 + 1 + 5 * (3 + 1))
    without = kernel("    ttng.fence_async_shared {bCluster = false}")
    assert predicted(without, 10).get("shared load instructions") is None


def test_reductions_within_warps_are_no_barriers() -> None:
    """The compiler puts none around what needs no scratch memory."""
    reduce = """
      %m = "tt.reduce"(%k) <{axis = 0 : i32}> ({
        ^bb0(%x: i32, %y: i32):
          %z = arith.maxsi %x, %y : i32
          tt.reduce.return %z : i32
      }) : (tensor<AxB>) -> i32
"""
    for layout, groups in (("128xi32, #a", 2), ("32xi32, #one", 1)):
        own = reduce.replace("AxB", layout)
        body = f"""
    %b = ttg.local_alloc : () -> {BUFFER}
    %d = ttg.local_alloc : () -> {BUFFER}
    %k = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<{layout}>
    {copy("0", "%b", "%c0")}{own}{copy("1", "%d", "%c0")}"""
        text = kernel(body).replace("#s =", f"{ONE_WARP}\n#s =", 1)
        [module] = parse_ir(text)
        audit = audit_module(module)
        [(_, first), *more] = Programs(
            audit, MeasuredLaunch("f", "0", 1, (1, 1, 1)), "f"
        ).no_lane_loads()
        assert first.number == 12
        assert 1 + len(more) == groups


ONE_WARP = (
    "#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], "
    "warpsPerCTA = [4], order = [0]}>"
)

REDUCED = """
    %m2 = arith.constant dense<1.0> : tensor<128xf32, #a>
    %t = "tt.reduce"(%m2) <{axis = 0 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        tt.reduce.return %z : f32
    }) : (tensor<128xf32, #a>) -> f32
"""


def test_loads_for_an_atomic_are_behind_its_branch() -> None:
    """One warp of four adds the sum: the other three do not load it, in each of 5 runs."""
    atomic = "%o = tt.atomic_rmw fadd, acq_rel, gpu, %p, %t : (!tt.ptr<f32>, f32) -> f32"
    loop = f"scf.for %i = %c0 to %n step %c1 : i32 {{{REDUCED}{atomic}\n}}"
    assert predicted(kernel(loop), 10, n=5)["shared load instructions"] == 10 * 5
    store = "tt.store %p, %o : !tt.ptr<f32>"
    taken = loop.replace(atomic, f"{atomic}\n{store}")
    assert predicted(kernel(taken), 10, n=5)["shared load instructions"] == 10 * 5 * (
        4 + 4
    )  # its result, too


def test_what_is_computed_with_another_value_is_loaded_before_the_branch() -> None:
    """ptxas takes a product with a constant behind it, a quotient of two values not."""
    last = "tt.store %p, %t2 : !tt.ptr<f32>"
    numbers = "%two = arith.constant 2.0 : f32\n%n2 = arith.sitofp %n : i32 to f32"
    loads = []
    for operation in ("arith.mulf %t, %two", "arith.divf %t, %n2", "math.log %t"):
        body = f"{numbers}\n{REDUCED}\n%t2 = {operation} : f32\n{last}"
        loads.append(predicted(kernel(body), 10, n=5)["shared load instructions"])
    assert loads == [10 * 1, 10 * 4, 10 * 4]


TWO_SUMS = """
    %y = arith.constant dense<1.0> : tensor<128xf32, #a>
    %t:2 = "tt.reduce"(%y, %y) <{axis = 0 : i32}> ({
      ^bb0(%a0: f32, %a1: f32, %b0: f32, %b1: f32):
        %z0 = arith.addf %a0, %b0 : f32
        %z1 = arith.mulf %a1, %b1 : f32
        tt.reduce.return %z0, %z1 : f32, f32
    }) : (tensor<128xf32, #a>, tensor<128xf32, #a>) -> (f32, f32)
"""


def test_partial_results_of_two_tensors_are_loaded_by_one_warp() -> None:
    """Until 3.7: a branch is around both loads, which one of four warps needs."""
    [old], [new] = (
        read_ir(kernel(TWO_SUMS), release=release) for release in (Release.V3_6, Release.V3_9)
    )
    found = []
    for module in (old, new):
        audit = audit_module(module)
        amounts = predict(
            Programs(audit, MeasuredLaunch("f", "0", 10, (10, 1, 1)), "f"), audit.movements
        )
        found.append({counter.name: amount.number for counter, amount in amounts.items()})
    assert found[0]["shared load instructions"] == 10 * (2 * 1 + 2 * 4)
    assert found[0]["shared load wavefronts"] == 10 * (2 * 1 + 2 * 4)
    assert found[1]["shared load instructions"] == 10 * 2 * 4


CONVERTED = """
    %y = arith.constant dense<1.0> : tensor<1024xf32, #wide>
    %x = ttg.convert_layout %y : tensor<1024xf32, #wide> -> tensor<1024xf32, #last>
    %k = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #last>
    %ks = tt.splat %n : i32 -> tensor<1024xi32, #last>
    %km = arith.cmpi slt, %k, %ks : tensor<1024xi32, #last>
    %kp = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #last>
    %kq = tt.addptr %kp, %k : tensor<1024x!tt.ptr<f32>, #last>, tensor<1024xi32, #last>
    tt.store %kq, %x, %km : tensor<1024x!tt.ptr<f32>, #last>
"""
LAYOUTS = """
#wide = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#last = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s ="""


def test_the_last_load_of_a_conversion_is_behind_the_last_store() -> None:
    """With 512 of 1024 elements no warp has any in the second of two stores."""
    text = kernel(CONVERTED).replace("#s =", LAYOUTS, 1)
    text = text.replace("%n: i32)", "%n: i32 {tt.divisibility = 16 : i32})", 1)
    loads = [predicted(text, 10, n=n)["shared load instructions"] for n in (1024, 512)]
    assert loads == [10 * 4 * 2, 10 * 4 * 1]
