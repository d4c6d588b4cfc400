"""Loads and stores of single numbers: rows with a cost, and chains of them."""

from __future__ import annotations

from typing import Any

import pytest
from work import calls_of

from tt_layout import parse_ir
from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.values.given import GivenValues

KERNEL = """
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "TARGET",
                   "ttg.threads-per-warp" = LANES : i32} {
tt.func public @f(%table: !tt.ptr<i64> {tt.divisibility = 16 : i32},
                  %x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %early = arith.cmpi slt, %i, %c7 : i32
    %p = tt.addptr %table, %i : !tt.ptr<i64>, i32
    %page = tt.load %p, %early : !tt.ptr<i64>
    %q = tt.addptr %x, %page : !tt.ptr<f32>, i64
    %v = tt.load %q : !tt.ptr<f32>
    %r = tt.addptr %x, %i : !tt.ptr<f32>, i32
    tt.store %r, %v : !tt.ptr<f32>
  }
  tt.return
}
}
"""


def audited(target: str = "cuda:90", given: GivenValues | None = None) -> Audit:
    lanes = "64" if target == "hip:gfx942" else "32"
    [module] = parse_ir(KERNEL.replace("TARGET", target).replace("LANES", lanes))
    return audit_module(module, given=given)


def costs(audit: Audit) -> list[dict[str, Any]]:
    assert all(row.cost is not None for row in audit.movements)
    return [row.cost.details.data(1) for row in audit.movements if row.cost is not None]


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("cuda:90", ["ld.global.b64", "ld.global.b32", "st.global.b32"]),
        ("hip:gfx942", ["global_load_dwordx2", "global_load_dword", "global_store_dword"]),
    ],
)
def test_an_access_to_a_number_is_one_instruction(target: str, names: list[str]) -> None:
    found = costs(audited(target))
    assert [(one["instruction"], one["instructions"]) for one in found] == [(n, 1) for n in names]


def test_every_warp_loads_a_number_and_one_thread_stores_one() -> None:
    pages, values, store = costs(audited(given=GivenValues({"n": 10})))
    assert (pages["requests"], pages["sectors"], pages["ideal_sectors"]) == (4, 4, 4)
    assert (pages["total_requests"], pages["total_sectors"]) == (4 * 7, 4 * 7)  # the mask
    assert values["requests"] is None  # the address is in memory
    assert values["sectors_per_request"] == [1, 1]
    assert (store["requests"], store["total_requests"], store["total_sectors"]) == (1, 10, 10)


def test_they_are_in_the_totals() -> None:
    totals = {total.operation: total for total in audited(given=GivenValues({"n": 10})).totals}
    assert (totals["load"].count, totals["load"].executed_bytes) == (2, 120)
    assert (totals["store"].count, totals["store"].executed_bytes) == (1, 40)


def test_they_are_no_findings() -> None:
    assert audited(given=GivenValues({"n": 10})).findings == ()


ONE_ELEMENT = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func @f(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %k: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<1xi32, #s, #smem, mutable>
    %s = tt.splat %p : !tt.ptr<i32> -> tensor<1x!tt.ptr<i32>, #b>
    %i = tt.splat %k : i32 -> tensor<1xi32, #b>
    %q = tt.addptr %s, %i : tensor<1x!tt.ptr<i32>, #b>, tensor<1xi32, #b>
    %t = ttg.async_copy_global_to_local %q, %m
        : tensor<1x!tt.ptr<i32>, #b> -> <1xi32, #s, #smem, mutable>
    tt.return
  }
}
"""
"""A pipelined load of a number of a table, such as the page of a cache."""


def test_a_tensor_of_one_element_cannot_be_moved_wider() -> None:
    audit = audit_module(parse_ir(ONE_ELEMENT)[0])
    assert not audit.findings
    [said] = [
        row.cost.text for row in audit.movements if row.cost is not None and "cp" in row.cost.text
    ]
    assert "limited by" not in said
    assert "1 sector" in said
    assert "1 sectors" not in said


def test_a_load_whose_address_is_loaded_waits_for_that() -> None:
    audit = audited()
    loads = [row.operation.line for row in audit.movements if row.operation.name == "tt.load"]
    assert list(audit.load_chains) == [("f", tuple(loads))]
    [alone] = parse_ir(KERNEL.replace("%q = tt.addptr %x, %page", "%q = tt.addptr %x, %c7"))
    assert not list(audit_module(alone).load_chains)


NEIGHBOURS = """
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "TARGET",
                   "ttg.threads-per-warp" = LANES : i32} {
tt.func public @f(%ends: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %i: i32,
                  %x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %c1 = arith.constant 1 : i32
  %p = tt.addptr %ends, %i : !tt.ptr<i32>, i32
  %begin = tt.load %p : !tt.ptr<i32>
  %q = tt.addptr %p, %c1 : !tt.ptr<i32>, i32
  %end = tt.load %q : !tt.ptr<i32>
  %n = arith.subi %end, %begin : i32
  %f = arith.sitofp %n : i32 to f32
  tt.store %x, %f : !tt.ptr<f32>
  %again = tt.load %q : !tt.ptr<i32>
  tt.return
}
}
"""


@pytest.mark.parametrize(
    ("target", "lanes", "expected"),
    [
        ("cuda:90", 32, [(4, 1), (4, 1), (4, 1), (4, 1)]),
        ("hip:gfx942", 64, [(8, 1), (4, 0), (4, 1), (4, 1)]),  # not across the store
    ],
)
def test_amd_loads_neighbours_at_once(
    target: str, lanes: int, expected: list[tuple[int, int]]
) -> None:
    [module] = parse_ir(NEIGHBOURS.replace("TARGET", target).replace("LANES", str(lanes)))
    found = costs(audit_module(module))
    assert [(one["width_bytes"], one["instructions"]) for one in found] == expected


def test_loads_between_keep_no_neighbours_apart() -> None:
    """As LLVM's vectorizer has it: only what writes does."""
    step = "  %q = tt.addptr %p"
    text = NEIGHBOURS.replace(step, f"  %other = tt.load %x : !tt.ptr<f32>\n{step}")
    [module] = parse_ir(text.replace("TARGET", "hip:gfx942").replace("LANES", "64"))
    found = [(one["width_bytes"], one["instructions"]) for one in costs(audit_module(module))]
    assert found == [(8, 1), (4, 1), (4, 0), (4, 1), (4, 1)]


def test_neighbours_on_one_line_of_the_dump_are_joined_like_others() -> None:
    step, load = "  %q = tt.addptr %p, %c1 : !tt.ptr<i32>, i32\n", "  %begin = tt.load %p"
    text = NEIGHBOURS.replace(step, "").replace(load, f"{step}{load}")
    text = text.replace("i32>\n  %end", "i32> %end")
    [module] = parse_ir(text.replace("TARGET", "hip:gfx942").replace("LANES", "64"))
    audit = audit_module(module)
    assert audit.movements[0].operation.line == audit.movements[1].operation.line
    found = [(one["width_bytes"], one["instructions"]) for one in costs(audit)]
    assert found == [(8, 1), (4, 0), (4, 1), (4, 1)]


INDICES = """
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "TARGET",
                   "ttg.threads-per-warp" = LANES : i32} {
tt.func public @f(%index: !tt.ptr<i64>, %x: !tt.ptr<f32>, %h: !tt.ptr<f16>, %i: i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %p = tt.addptr %index, %i : !tt.ptr<i64>, i32
  %chunk = tt.load %p : !tt.ptr<i64>
  %place = arith.trunci %chunk : i64 to i32
  %half = tt.load %h : !tt.ptr<f16>
  %h1 = tt.addptr %h, %c1 : !tt.ptr<f16>, i32
  %other = tt.load %h1 : !tt.ptr<f16>
  %a = arith.sitofp %place : i32 to f32
  %b = arith.extf %half : f16 to f32
  %c = arith.extf %other : f16 to f32
  %x1 = tt.addptr %x, %c1 : !tt.ptr<f32>, i32
  %x2 = tt.addptr %x, %c2 : !tt.ptr<f32>, i32
  %u = tt.load %x : !tt.ptr<f32>
  %v = tt.load %x1 : !tt.ptr<f32>
  %w = tt.load %x2 : !tt.ptr<f32>
  tt.store %x, %a : !tt.ptr<f32>
  tt.store %x1, %b : !tt.ptr<f32>
  tt.store %x2, %c : !tt.ptr<f32>
  tt.return
}
}
"""


@pytest.mark.parametrize(
    ("target", "lanes", "expected"),
    [
        ("cuda:90", 32, [(8, 1), *[(2, 1)] * 2, *[(4, 1)] * 6]),
        # of the index 32 bits; two halves; three loads; three stores, at the last of them
        (
            "hip:gfx950",
            64,
            [(4, 1), (4, 1), (2, 0), (12, 1), (4, 0), (4, 0), (4, 0), (4, 0), (12, 1)],
        ),
    ],
)
def test_amd_narrows_an_index_and_joins_halves_and_three_words(
    target: str, lanes: int, expected: list[tuple[int, int]]
) -> None:
    """As the wheel 3.9 compiles them for gfx942, gfx950 and gfx1250."""
    [module] = parse_ir(INDICES.replace("TARGET", target).replace("LANES", str(lanes)))
    found = costs(audit_module(module))
    assert [(one["width_bytes"], one["instructions"]) for one in found] == expected


LANES = """
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32,
                   ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
tt.func public @f(%index: !tt.ptr<i64>) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #a>
  %s = tt.splat %index : !tt.ptr<i64> -> tensor<256x!tt.ptr<i64>, #a>
  %p = tt.addptr %s, %r : tensor<256x!tt.ptr<i64>, #a>, tensor<256xi32, #a>
  %v = tt.load %p : tensor<256x!tt.ptr<i64>, #a>
  %t = arith.trunci %v : tensor<256xi64, #a> to tensor<256xi32, #a>
  tt.return
}
}
"""


def test_amd_narrows_the_index_of_each_lane() -> None:
    whole = LANES.replace(
        "arith.trunci %v : tensor<256xi64, #a> to tensor<256xi32, #a>",
        "arith.addi %v, %v : tensor<256xi64, #a>",
    )
    audits = [audit_module(parse_ir(text)[0]) for text in (LANES, whole)]
    widths = [one["width_bytes"] for audit in audits for one in costs(audit)]
    assert widths == [4, 8]


PARTITIONS = """
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100",
                   "ttg.threads-per-warp" = 32 : i32} {
tt.func public @f(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  ttg.warp_specialize(%p) attributes {warpGroupStartIds = array<i32: 4, 5>}
  default {
    %a = tt.load %p : !tt.ptr<i32>
    ttg.warp_yield
  }
  partition0(%p0: !tt.ptr<i32>) num_warps(1) {
    %b = tt.load %p0 : !tt.ptr<i32>
    ttg.warp_return
  }
  partition1(%p1: !tt.ptr<i32>) num_warps(2) {
    %c = tt.load %p1 : !tt.ptr<i32>
    ttg.warp_return
  } : (!tt.ptr<i32>) -> ()
  tt.return
}
}
"""


def test_only_the_warps_of_a_partition_load_a_number() -> None:
    [module] = parse_ir(PARTITIONS)
    assert [one["requests"] for one in costs(audit_module(module))] == [4, 1, 2]


def test_the_work_for_a_function_is_the_same_in_a_module_of_many() -> None:
    def calls(length: int) -> int:
        functions = "".join(
            f"tt.func {'private' if number else 'public'} @f{number}(%x: !tt.ptr<f32>) {{\n"
            f"  %v = tt.load %x : !tt.ptr<f32>\n  tt.store %x, %v : !tt.ptr<f32>\n"
            f"  tt.call @f{number + 1}(%x) : (!tt.ptr<f32>) -> ()\n  tt.return\n}}\n"
            for number in range(length)
        )
        [module] = parse_ir(
            KERNEL.partition("tt.func")[0].replace("TARGET", "cuda:90").replace("LANES", "32")
            + functions
            + "}\n"
        )
        return calls_of(lambda: audit_module(module))

    calls(2)  # what is known of all modules
    short, long = calls(20), calls(60)
    assert (long - short) / 40 < 2000
