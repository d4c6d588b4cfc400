"""The GPU that a module names: known, newer than every row, or of a vendor without any."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Run, runner

from tt_layout.hardware import ROWS

MODULE = """
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [LANES8, 8], warpsPerCTA = [4, 1],
                      order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, LANES8],
                         warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "TARGET",
                   "ttg.threads-per-warp" = LANES : i32} {
  tt.func public @f(%p: tensor<64x64x!tt.ptr<f32>, #rows>,
                    %q: tensor<64x64x!tt.ptr<f32>, #columns>) {
    %0 = tt.load %p : tensor<64x64x!tt.ptr<f32>, #rows>
    %1 = ttg.convert_layout %0 : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    %2 = ttg.local_alloc %1 : \
(tensor<64x64xf32, #columns>) -> !ttg.memdesc<64x64xf32, #shared, #smem>
    %3 = "tt.reduce"(%1) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<64x64xf32, #columns>) -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #columns}>>
    %4 = tt.atomic_rmw fadd, relaxed, gpu, %q, %1 : (tensor<64x64x!tt.ptr<f32>, #columns>, \
tensor<64x64xf32, #columns>) -> tensor<64x64xf32, #columns>
    tt.store %q, %1 : tensor<64x64x!tt.ptr<f32>, #columns>
    tt.return
  }
}
"""


def module(target: str, lanes: int) -> str:
    text = MODULE.replace("LANES8", str(lanes // 8)).replace("LANES", str(lanes))
    return text.replace("TARGET", target)


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


@pytest.fixture
def audit(run: Run, tmp_path: Any) -> Any:
    """Return what ``audit`` prints of a module for a target, as text and as JSON."""

    def audited(target: str, lanes: int) -> tuple[str, dict[str, Any]]:
        path = tmp_path / "dump.ttgir"
        path.write_text(module(target, lanes))
        [data] = json.loads(run("audit", str(path), "--format", "json").out)["modules"]
        return run("audit", "--tables", str(path)).out, data

    return audited


UNKNOWN = (("xpu", 16), ("xpu", 32), ("foo:bar", 64), ("hip:gfx1300", 32), ("hip:gfx803", 64))


@pytest.mark.parametrize(("target", "lanes"), UNKNOWN)
def test_nothing_is_costed_for_a_gpu_that_is_unknown(audit: Any, target: str, lanes: int) -> None:
    text, data = audit(target, lanes)
    assert data["target_note"] in text
    said = "Intel: no document gives the cost" if target == "xpu" else f"{target} is unknown"
    assert data["target_note"].startswith(said)
    assert data["costed_for"] is None or data["costed_for"] not in text
    for word in ("wavefront", "cycles each", "sm90", "gfx942", "LDG", "st.shared"):
        assert word not in text, word
    for movement in data["data_movements"]:
        if movement["group"] == "conversion":
            assert movement["cost"]["class"] == movement["cost"]["text"] == "shared memory"
            assert set(movement["cost"]) == {"text", "class", "moved_bytes"}
        else:
            assert movement["cost"] is None
            no_row = "no document says what it costs on Intel's GPUs"
            unknown = no_row if target == "xpu" else f"unknown target {target}"
            assert movement["cost_unknown"] == unknown, movement
    assert not data["shared_memory"]
    assert all(one["target"] is None for one in data["summary"])


NEWEST = max((row.name for row in ROWS if row.is_nvidia), key=lambda name: int(name[2:]))
NEWER = (("cuda:999", "sm999", NEWEST, "NVIDIA"), ("hip:gfx999", "gfx999", "gfx950", "AMD"))


@pytest.mark.parametrize(("target", "chip", "row", "vendor"), NEWER)
def test_a_newer_gpu_is_said_to_be_costed_as_another(
    audit: Any, target: str, chip: str, row: str, vendor: str
) -> None:
    text, data = audit(target, 64 if vendor == "AMD" else 32)
    said = f"{chip} is unknown; costed as {row}, the newest {vendor} GPU known before it"
    assert data["target_note"] == said
    assert f"  {said}\n" in text
    assert data["costed_for"] == row
    assert ("wavefront" in text) == (vendor == "NVIDIA")
    assert [memory["limit_bytes"] for memory in data["shared_memory"]] == [None]


def test_of_rubin_no_limit_of_a_cta_is_invented(audit: Any) -> None:
    text, data = audit("cuda:107", 32)
    assert data["target_note"] is None
    assert [one["shared_limit"] for one in data["summary"]] == [None]
    assert "227 KiB" not in text
    assert "the GPU has 328 KB per SM" in text


def test_the_page_says_what_is_assumed(run: Run, tmp_path: Any) -> None:
    (tmp_path / "dump.ttgir").write_text(module("cuda:95", 32))
    page = tmp_path / "page.html"
    assert run("plot", "-i", str(tmp_path / "dump.ttgir"), "-o", str(page)).status == 0
    assert "sm95 is unknown; costed as sm90" in page.read_text()


def test_commands_over_a_line_refuse_an_unknown_gpu_and_note_a_newer_one(
    run: Run, tmp_path: Any
) -> None:
    dump = tmp_path / "dump.ttgir"
    dump.write_text(module("xpu", 32))
    lines = dump.read_text().splitlines()
    store, conversion = (
        1 + next(k for k, line in enumerate(lines) if name in line)
        for name in ("local_alloc", "convert_layout")
    )
    for command, line in (("conflicts", store), ("swizzle", store), ("convert", conversion)):
        refused = run(command, f"{dump}:{line}")
        assert refused.status == 2
        assert "unknown target 'xpu'" in refused.err
        assert run(command, f"{dump}:{line}", "--target", "sm90").status == 0
    assert run("plot", f"{dump}:{conversion}", "-o", str(tmp_path / "a.svg")).status == 0
    dump.write_text(module("cuda:95", 32))
    for command, line in (("conflicts", store), ("swizzle", store), ("convert", conversion)):
        noted = run(command, f"{dump}:{line}")
        assert noted.status == 0
        assert "note: sm95 is unknown; costed as sm90" in noted.err
