"""Reports of the library are plain data, as often as they are asked for."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import tt_layout


def test_an_audit_is_plain_data_each_time() -> None:
    report = tt_layout.audit_ir("examples/narrow/softmax.ttgir")
    first = json.dumps(report.data())
    assert json.dumps(report.data()) == first
    assert len(json.loads(first)["modules"]) == 1


ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
BUFFER = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
TYPE = "tensor<64x64xf32>"
MADE: dict[str, Callable[[], object]] = {
    "bank_conflicts": lambda: tt_layout.bank_conflicts(ROWS, BUFFER, TYPE),
    "find_swizzle": lambda: tt_layout.find_swizzle([ROWS], [ROWS], TYPE),
    "audit_ir": lambda: tt_layout.audit_ir("examples/narrow/softmax.ttgir"),
}


@pytest.mark.parametrize("made", MADE)
def test_a_report_crosses_processes_and_equals_what_says_the_same(made: str) -> None:
    report = MADE[made]()
    assert pickle.loads(pickle.dumps(report)) == report == copy.deepcopy(report) == MADE[made]()


def test_modules_cross_processes() -> None:
    text = Path("examples/narrow/softmax.ttgir").read_text(encoding="utf-8")
    [module] = tt_layout.parse_ir(text, name="x", release=tt_layout.Release.V3_6)
    for again in (pickle.loads(pickle.dumps(module)), copy.deepcopy(module)):
        assert again.source.name == "x"
        assert again.meanings.release is tt_layout.Release.V3_6
        assert [o.line for o in again.operations] == [o.line for o in module.operations]


def test_figures_that_show_the_same_are_equal() -> None:
    one, same = (tt_layout.draw(ROWS, "tensor<8x8xf16>") for _ in range(2))
    assert one == same
    assert pickle.loads(pickle.dumps(one)) == one
    assert one != tt_layout.draw(ROWS, "tensor<8x16xf16>")


SEVERAL = """
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#loc1 = loc("/site-packages/triton/language/standard.py":40:2)
#loc2 = loc("/home/me/SECOND":12:2)
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
tt.func public @f(%x: !tt.ptr<f32>) {
  %o = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #b>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
  %q = tt.addptr %p, %o : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
  %v = tt.load %q : tensor<512x!tt.ptr<f32>, #b> loc(#loc1)
  tt.store %q, %v : tensor<512x!tt.ptr<f32>, #b> loc(#loc2)
  tt.return
}
}
"""


@pytest.mark.parametrize(
    ("second", "expected"),
    [("kernel.py", [" standard.py:40:2 ", " kernel.py:12:2 "]), ("standard.py", ["/home/me/"])],
)
def test_several_files_stand_by_their_names_while_these_differ(
    second: str, expected: list[str]
) -> None:
    report = replace(tt_layout.audit_ir(SEVERAL.replace("SECOND", second)), has_tables=True)
    assert all(text in str(report) for text in expected)
