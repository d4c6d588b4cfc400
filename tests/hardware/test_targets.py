"""The GPU that a module names: known, newer than every row, or of a vendor without any."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command import Run, runner

from tt_layout import audit_ir, hardware
from tt_layout.audit.audit import audit_module, check_product
from tt_layout.audit.occupancy import occupancy
from tt_layout.audit.values.given import GivenValues
from tt_layout.cli.values import read_values
from tt_layout.errors import LayoutError
from tt_layout.hardware import PRODUCTS, ROWS, TARGETS, find_gpu, find_target
from tt_layout.hardware.target import Evidence
from tt_layout.ir import parse_ir
from tt_layout.ir.module import gpu_of

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


@pytest.fixture
def dump(tmp_path: Path) -> str:
    path = tmp_path / "dump.ttgir"
    path.write_text(module("cuda:90", 32))
    return str(path)


UNKNOWN = (("xpu", 16), ("xpu", 32), ("foo:bar", 64), ("hip:gfx1300", 32), ("hip:gfx803", 64))


@pytest.mark.parametrize(("target", "lanes"), UNKNOWN)
def test_nothing_is_costed_for_a_gpu_that_is_unknown(audit: Any, target: str, lanes: int) -> None:
    text, data = audit(target, lanes)
    assert data["target_note"] in text
    said = "Intel: shared memory has the banks" if target == "xpu" else f"{target} is unknown"
    assert data["target_note"].startswith(said)
    assert data["costed_for"] is None or data["costed_for"] not in text
    for word in ("wavefront", "sm90", "gfx942", "LDG", "st.shared"):
        assert word not in text, word
    assert ("cycles each" in text) == (target == "xpu")
    for movement in data["data_movements"]:
        if movement["group"] == "conversion" and target != "xpu":
            assert movement["cost"]["class"] == movement["cost"]["text"] == "shared memory"
            assert set(movement["cost"]) == {"text", "class", "moved_bytes"}
        elif movement["group"] in ("conversion", "local store") and target == "xpu":
            assert " x store.slm.d32" in movement["cost"]["text"] or "shared memory, " in str(
                movement
            )
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


@pytest.mark.slow
def test_commands_over_a_line_refuse_an_unknown_gpu_and_note_a_newer_one(
    run: Run, tmp_path: Any
) -> None:
    dump = tmp_path / "dump.ttgir"
    dump.write_text(module("npu", 32))
    lines = dump.read_text().splitlines()
    store, conversion = (
        1 + next(k for k, line in enumerate(lines) if name in line)
        for name in ("local_alloc", "convert_layout")
    )
    for command, line in (("conflicts", store), ("swizzle", store), ("convert", conversion)):
        refused = run(command, f"{dump}:{line}")
        assert refused.status == 2
        assert "unknown target 'npu'" in refused.err
        assert run(command, f"{dump}:{line}", "--target", "sm90").status == 0
    assert run("plot", f"{dump}:{conversion}", "-o", str(tmp_path / "a.svg")).status == 0
    dump.write_text(module("cuda:95", 32))
    for command, line in (("conflicts", store), ("swizzle", store), ("convert", conversion)):
        noted = run(command, f"{dump}:{line}")
        assert noted.status == 0
        assert "note: sm95 is unknown; costed as sm90" in noted.err


# -- a chip is one row ----------------------------------------------------------------------------

CHIPS = ("cuda:86", "cuda:120", "cuda:121", "hip:gfx1201", "hip:gfx1103", "cuda:90")


@pytest.mark.slow
@pytest.mark.parametrize("target", CHIPS)
def test_a_heading_names_the_chip_that_the_module_names(audit: Any, target: str) -> None:
    text, data = audit(target, 32)
    vendor, _, name = target.partition(":")
    chip = f"sm{name}" if vendor == "cuda" else name
    product = find_target(chip).product
    named = f"{chip} ({product.name})" if product is not None else chip
    assert f"@f, {named}, 4 warps: " in text
    assert [one["target"] for one in data["summary"]] == [chip]
    assert data["target_note"] is None


@pytest.mark.slow
def test_what_no_source_gives_is_said_to_be_unknown(audit: Any) -> None:
    assert "; bounds not known for gfx1201\n" in audit("hip:gfx1201", 32)[0]
    assert "; bounds not known for sm120\n" in audit("cuda:120", 32)[0]
    assert "not known for" not in audit("cuda:90", 32)[0]


def test_a_workgroup_processor_holds_waves_by_their_registers() -> None:
    """The compiler says 6 waves of a SIMD for 239 registers: ``; Occupancy: 6``."""
    found = occupancy(find_target("gfx1201"), 4, registers=239, shared_bytes=16384)
    assert found is not None
    assert (found.ctas, found.warps, found.limited_by) == (6, 24, ("registers",))


@pytest.mark.parametrize(
    ("target", "grid", "refused"),
    [
        ("cuda:90", "2147483647,65535,65535", ""),
        ("cuda:90", "1,65536", "has 65536 programs along y; sm90 starts at most 65535"),
        ("cuda:90", "1,1,70000", "has 70000 programs along z; sm90 starts at most 65535"),
        ("hip:gfx942", "1,70000", ""),
        ("hip:gfx942", "16777216", "has 16777216 programs along x; gfx942 starts at most 16777215"),
    ],
)
def test_a_grid_that_the_gpu_does_not_start_is_an_error(
    target: str, grid: str, refused: str
) -> None:
    """CUDA limits programs along each axis, HIP programs times threads."""
    lanes = 64 if target.startswith("hip") else 32
    attributes = f'"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = {lanes} : i32'
    text = (
        f'module attributes {{{attributes}, ttg.target = "{target}"}} {{\n'
        "  tt.func @f() {\n    tt.return\n  }\n}\n"
    )
    [module] = parse_ir(text)
    found = audit_module(module, given=read_values((), None, grid)).findings
    assert [one.message for one in found] == [f"@f {refused}"] * bool(refused)


def test_a_cluster_that_the_gpu_does_not_start_is_an_error() -> None:
    for target, refusals in (
        ("cuda:80", ["has 2 CTAs in a cluster; sm80 has no clusters"]),
        ("cuda:90", []),
        ("hip:gfx942", ["has 2 CTAs in a cluster; gfx942 has no clusters"]),
        ("hip:gfx1250", []),
    ):
        attributes = f'"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "{target}"'
        attributes += f', "ttg.threads-per-warp" = {64 if target == "hip:gfx942" else 32} : i32'
        text = (
            f"module attributes {{{attributes}}} {{\n  tt.func @f() {{\n    tt.return\n  }}\n}}\n"
        )
        [found] = audit_ir(text).audits
        assert [one.message for one in found.findings] == [f"@f {words}" for words in refusals]


EMPTY = replace(
    find_target("sm90"), registers=None, residence=None, products=(), compiler=None, knobs=None
)
"""A chip of which no source gives more than how shared memory is accessed."""


@pytest.fixture
def without_sources(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take everything from the row of sm90 that a source may leave out."""
    vendor = SimpleNamespace(BACKEND=EMPTY.backend, ROWS=(EMPTY,))
    monkeypatch.setattr(hardware, "TARGETS", {**hardware.TARGETS, "sm90": EMPTY})
    monkeypatch.setattr(hardware, "VENDORS", (vendor,))
    for known in (find_gpu, gpu_of):
        known.cache_clear()
    yield
    monkeypatch.undo()
    for known in (find_gpu, gpu_of):
        known.cache_clear()


@pytest.mark.usefixtures("without_sources")
def test_a_chip_without_sources_loses_nothing_without_a_word(run: Run, dump: str) -> None:
    text = " ".join(run("audit", "--all", dump).out.split())
    assert "registers, occupancy and bounds not known for sm90" in text
    assert "cannot be set in Triton; it is not known what it depends on for sm90" in text
    [module] = json.loads(run("audit", dump, "--format", "json").out)["modules"]
    found = [one for finding in module["findings"] for one in finding["suggestions"]]
    assert {one["where"]: one["triton"] for one in found}["everywhere"] is None


# -- products of one chip -------------------------------------------------------------------------


def bounds(run: Run, dump: str, *options: str) -> dict[str, Any]:
    out = run("audit", dump, "--format", "json", "--grid", "4096", *options).out
    [summary] = json.loads(out)["modules"][0]["summary"]
    return dict(summary["bounds"])


@pytest.mark.slow
def test_a_product_is_chosen_and_named(run: Run, dump: str) -> None:
    first, slower = bounds(run, dump), bounds(run, dump, "--gpu", "h100")
    assert (first["rates_of"], slower["rates_of"]) == ("H200", "H100")
    faster, fewer = (
        next(bound["cycles"] for bound in found["by_resource"] if bound["resource"] == "DRAM")
        for found in (first, slower)
    )
    assert fewer == pytest.approx(faster * 4.6 / 3.35)
    assert "@f, sm90 (H200), 4 warps: " in run("audit", dump).out
    assert "@f, sm90 (H100), 4 warps: " in run("audit", dump, "--gpu", "H100").out


def test_a_product_is_of_the_chip_of_the_dump(run: Run, dump: str) -> None:
    outcome = run("audit", dump, "--gpu", "mi300x")
    assert (outcome.status, outcome.err) == (
        2,
        "error: --gpu MI300X is of gfx942: the dump is for sm90\n",
    )
    outcome = run("audit", dump, "--gpu", "sm90")
    assert outcome.status == 2
    assert "unknown GPU 'sm90'; choose from a100-80gb, a100-40gb, h200, h100" in outcome.err


def test_a_dump_that_names_no_chip_is_costed_for_the_product(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "dump.ttgir"
    path.write_text(module("TARGET", 32).replace(', ttg.target = "TARGET"', ""))
    assert "costed for sm80" in run("audit", str(path), "--gpu", "a100-40gb").out


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_target_may_be_a_product(name: str) -> None:
    found = find_gpu(name.upper())
    assert found.target.product is not None
    assert found.target.product.key == name
    assert found.target == replace(find_target(found.chip), products=(found.target.product,))


@pytest.mark.parametrize("name", TARGETS)
def test_a_source_says_what_is_only_taken_to_be_so(name: str) -> None:
    """Also where a chip has the rest from another."""
    target = TARGETS[name]
    if target.load_evidence is not target.store_evidence is Evidence.ASSUMED:
        assert "; of stores: " in target.source
    if target.load_evidence is Evidence.ASSUMED:
        assert "taken to be" in target.source or "assumed" in target.source


def test_a_product_is_held_against_the_chips_that_are_known() -> None:
    given = GivenValues(product=find_target("h100"))
    with pytest.raises(LayoutError, match=r"is of sm90: the dump is for sm80$"):
        check_product(given, [None, find_target("sm80")])
    with pytest.raises(LayoutError, match=r"the dump is for no GPU that is known$"):
        check_product(given, [None])
