"""Reports of the library are plain data, as often as they are asked for."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tiers import slow

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
COLUMNS = ROWS.replace("[4, 1], order", "[1, 4], order")
MEMORY = "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>"
DUMP = "examples/narrow/softmax.ttgir"
MADE: dict[str, Callable[[], object]] = {
    "AppliedReport": lambda: tt_layout.apply("examples/kernels/attention-gfx942.ttgir"),
    "AuditReport": lambda: tt_layout.audit_ir(DUMP),
    "ConflictsReport": lambda: tt_layout.conflicts(ROWS, BUFFER, TYPE),
    "ConversionReport": lambda: tt_layout.convert(ROWS, COLUMNS, TYPE),
    "DifferenceReport": lambda: tt_layout.diff(ROWS, COLUMNS, TYPE),
    "Drawing": lambda: tt_layout.plot(ROWS, "tensor<8x8xf16>"),
    "Encoding": lambda: tt_layout.parse_layout(ROWS),
    "InfoReport": lambda: tt_layout.info(ROWS, TYPE),
    "LayoutInfo": lambda: tt_layout.info(ROWS, TYPE).info,
    "LinearLayout": lambda: tt_layout.to_linear_layout(ROWS, TYPE),
    "Module": lambda: next(iter(tt_layout.parse_ir(Path(DUMP).read_text(encoding="utf-8")))),
    "Page": lambda: tt_layout.explore(ROWS, TYPE),
    "PlacedLayout": lambda: tt_layout.place(ROWS, TYPE),
    "ReductionReport": lambda: tt_layout.reduce(ROWS, TYPE, 1),
    "SharedInfo": lambda: tt_layout.info(BUFFER, TYPE).info,
    "SwizzleReport": lambda: tt_layout.swizzle([ROWS], [ROWS], TYPE),
    "TensorMemoryInfo": lambda: tt_layout.info(MEMORY, "tensor<128x64xf32>").info,
    "TransferReport": lambda: tt_layout.convert(ROWS, BUFFER, TYPE),
    "Translation": lambda: tt_layout.translate(ROWS, TYPE, to="cute"),
    "WatchReport": lambda: tt_layout.WatchReport((), ()),
    "WhereReport": lambda: tt_layout.elements_at(ROWS, TYPE, thread=3),
}
LONG = ("AppliedReport", "Page")


@pytest.mark.slow
@pytest.mark.parametrize("made", [slow(one) if one in LONG else one for one in MADE])
def test_a_report_crosses_processes_and_equals_what_says_the_same(made: str) -> None:
    report = MADE[made]()
    assert isinstance(report, getattr(tt_layout, made))
    assert pickle.loads(pickle.dumps(report)) == report == copy.deepcopy(report) == MADE[made]()


def test_every_report_of_the_library_is_tried() -> None:
    assert {name for name in tt_layout.__all__ if name.endswith(("Report", "Info"))} <= {
        *MADE,
        "AxisInfo",  # a tuple of numbers
    }


def test_modules_cross_processes() -> None:
    text = Path("examples/narrow/softmax.ttgir").read_text(encoding="utf-8")
    [module] = tt_layout.parse_ir(text, name="x", release=tt_layout.Release.V3_6)
    for again in (pickle.loads(pickle.dumps(module)), copy.deepcopy(module)):
        assert again.source.name == "x"
        assert again.symbols.release is tt_layout.Release.V3_6
        assert [o.line for o in again.operations] == [o.line for o in module.operations]


def test_each_module_of_a_file_crosses_processes() -> None:
    text = "".join(f"module {{\n  tt.func @{name}() {{\n    tt.return\n  }}\n}}\n" for name in "fg")
    modules = tt_layout.parse_ir(text)
    again = pickle.loads(pickle.dumps(modules))
    assert [module.line for module in again] == [module.line for module in modules] == [1, 6]


def test_figures_that_show_the_same_are_equal() -> None:
    one, same = (tt_layout.plot(ROWS, "tensor<8x8xf16>") for _ in range(2))
    assert one == same
    assert pickle.loads(pickle.dumps(one)) == one
    assert one != tt_layout.plot(ROWS, "tensor<8x16xf16>")


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
