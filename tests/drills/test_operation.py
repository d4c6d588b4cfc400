"""A new operation: a row of the table; reader, costs, totals and findings follow."""

from __future__ import annotations

import json

import pytest

from drills.conftest import Clone

pytestmark = pytest.mark.slow

ROW = '    "local_load_twice": OperationRow(_LOAD, Family.SHARED),\n'
BEFORE = '    "local_store": OperationRow(_STORE, Family.SHARED),'
DUMP = """
#rows = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4],
                      order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%m: !ttg.memdesc<64x64xf32, #shared, #ttg.shared_memory>) {
    %0 = ttg.local_load_twice %m : !ttg.memdesc<64x64xf32, #shared, #ttg.shared_memory> -> \
tensor<64x64xf32, #rows>
    tt.return
  }
}
"""


def test_all_that_knows_operations_follows(clone: Clone) -> None:
    clone.insert("tt_layout/ir/data_movements.py", BEFORE, ROW)
    assert len(clone.touched) == 1
    (clone.root / "dump.mlir").write_text(DUMP)
    data = json.loads(clone.prints("audit", "dump.mlir", "--format", "json"))
    [module] = data["modules"]
    [movement] = module["data_movements"]
    assert (movement["operation"], movement["group"]) == ("ttg.local_load_twice", "local load")
    assert movement["cost"]["instruction"].startswith("ld.shared")
    assert [total["operation"] for total in module["totals"]] == ["local_load_twice"]
    assert [finding["kind"] for finding in module["findings"]] == ["conflicts"]


def test_without_the_row_it_is_not_listed(clone: Clone) -> None:
    (clone.root / "dump.mlir").write_text(DUMP)
    [module] = json.loads(clone.prints("audit", "dump.mlir", "--format", "json"))["modules"]
    assert module["data_movements"] == []
