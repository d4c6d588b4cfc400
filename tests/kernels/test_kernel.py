"""A kernel: one record that every report prints, each fact computed once when it is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from command import Run, runner
from terminals import ESCAPE, on_terminal

import tt_layout
from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds import Bound, KernelBounds
from tt_layout.audit.bounds import bounds as bounds_module
from tt_layout.audit.bounds.bounds import Grid
from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.occupancy import Occupancy, ResidencyLimit
from tt_layout.audit.registers import RegisterPressure
from tt_layout.editing.hover import hover
from tt_layout.editing.piece import EditedPiece, PieceCache
from tt_layout.kernels.seen import CompiledKernel, SeenKernel
from tt_layout.lazy import lazy
from tt_layout.library.features import features
from tt_layout.reports.first_screen import bound_texts
from tt_layout.watching.report import WatchReport, report_of

ROOT = Path(__file__).parents[2]
DUMP = str(ROOT / "examples/kernels/matmul-sm90.ttgir")
FIXED = str(ROOT / "examples/workloads/attention_backward-gfx950.ttgir")


def agent_tools() -> Any:
    """Return the tools of agents, which need an extra."""
    pytest.importorskip("pydantic")
    from tt_layout.servers.agent_tools import AgentTools

    return AgentTools()


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def first_kernel() -> Kernel:
    [audit] = tt_layout.audit_ir(DUMP).audits
    [kernel] = kernels_of(audit)
    return kernel


def test_a_fact_is_computed_once_and_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = bounds_module.kernel_bounds

    def counted(audit: Audit, function: str | None, grid: Grid | None) -> KernelBounds | None:
        calls.append(function)
        return real(audit, function, grid)

    monkeypatch.setattr("tt_layout.audit.shares.kernel_bounds", counted)
    kernel = first_kernel()
    assert not calls
    assert kernel.bounds is kernel.bounds
    assert len(calls) == 1


def test_threads_that_ask_different_objects_do_not_wait_for_each_other() -> None:
    meeting = Barrier(2, timeout=240)

    class Slow:
        @lazy
        def value(self) -> int:
            return meeting.wait()

    objects = Slow(), Slow()
    threads = [Thread(target=lambda one=one: one.value) for one in objects]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {vars(one)["value"] for one in objects} == {0, 1}


REGISTERS, CTAS, CYCLES, RESOURCE = 7173, 7177, 71797, "planted resource"


@pytest.fixture
def other(tmp_path: Path) -> str:
    """Return a dump whose kernel is the other one where facts are planted."""
    text = Path(DUMP).read_text(encoding="utf-8")
    (tmp_path / "other.ttgir").write_text(f"// other\n{text}", encoding="utf-8")
    return str(tmp_path / "other.ttgir")


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant registers, occupancy and a bound in every kernel, but for the other one."""
    real = {name: vars(Kernel)[name] for name in ("registers", "occupancy", "bounds")}

    def with_registers(kernel: Kernel) -> RegisterPressure:
        known: RegisterPressure = real["registers"].__get__(kernel, Kernel)
        return replace(known, needed=REGISTERS, low=None, high=None, limit=9999, compiled=None)

    def with_occupancy(kernel: Kernel) -> Occupancy:
        return Occupancy(CTAS, 4 * CTAS, 40000, (ResidencyLimit("registers", CTAS),))

    def with_bounds(kernel: Kernel) -> KernelBounds:
        known: KernelBounds = real["bounds"].__get__(kernel, Kernel)
        return replace(known, bounds=(Bound(RESOURCE, CYCLES, ""), *known.bounds))

    for name, plant in (
        ("registers", with_registers),
        ("occupancy", with_occupancy),
        ("bounds", with_bounds),
    ):
        monkeypatch.setattr(Kernel, name, _planted(plant, real[name]))


def _planted(plant: Callable[[Kernel], object], real: Any) -> property:
    def value(kernel: Kernel) -> object:
        is_other = kernel.audit.module.source.text.startswith("// other")
        return real.__get__(kernel, Kernel) if is_other else plant(kernel)

    return property(value)


def page_of(run: Run, tmp_path: Path) -> str:
    page = tmp_path / "page.html"
    assert run("page", DUMP, "-o", str(page)).status == 0
    return page.read_text(encoding="utf-8")


def hover_of() -> str:
    text = Path(DUMP).read_text(encoding="utf-8")
    piece = EditedPiece(text, PieceCache())
    line = next(at for at, one in enumerate(text.split("\n"), 1) if "tt.func" in one)
    found = hover(piece, line, piece.line(line).index("tt.func"))
    assert found is not None
    return found.plain


def watched() -> WatchReport:
    compiled = CompiledKernel("key", "matmul", Path(DUMP).read_text(encoding="utf-8"), "test")
    return report_of((SeenKernel(compiled),))


def plain(text: str) -> str:
    """Return a text without the line breaks that fit it to a width."""
    return " ".join(text.split())


def test_planted_facts_are_in_every_report_of_a_kernel(
    run: Run, planted: None, other: str, tmp_path: Path
) -> None:
    texts = {
        "terminal": ESCAPE.sub(b"", on_terminal("audit", DUMP)[1]).decode(),
        "pipe": run("audit", DUMP).out,
        "all": run("audit", "--all", DUMP).out,
        "library": str(tt_layout.audit_ir(DUMP)),
        "page": page_of(run, tmp_path),
        "hover": hover_of(),
        "MCP": agent_tools().audit(Path(DUMP).read_text(encoding="utf-8")),
    }
    for surface, text in texts.items():
        said = plain(text)
        assert f"about {REGISTERS} of 9999 registers" in said, surface
        assert f"{CTAS} CTAs" in said, surface
        assert f" by {RESOURCE}" in said, surface
    [summary] = json.loads(run("audit", DUMP, "--format", "json").out)["modules"][0]["summary"]
    assert (summary["registers_per_thread"], summary["occupancy"]["ctas"]) == (REGISTERS, CTAS)
    assert summary["bounds"]["by_resource"][0]["cycles"] == CYCLES
    assert f" by {RESOURCE}" in summary["verdict"]
    own = features(DUMP)
    assert (own["registers"], own["occupancy_ctas"]) == (REGISTERS, CTAS)
    assert (own["bound_by"], own["bound_cycles"]) == (RESOURCE, CYCLES)
    rows = json.loads(run("audit", DUMP, other, "--format", "json").out)["kernels"]
    [row] = [row for row in rows if row["file"] != other]
    assert (row["facts"]["registers"], row["facts"]["ctas"]) == (REGISTERS, CTAS)


@pytest.mark.slow
def test_an_estimate_of_registers_is_a_range_in_every_report(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real: Any = vars(Audit)["registers"]

    def with_range(audit: Audit) -> tuple[RegisterPressure, ...]:
        known: tuple[RegisterPressure, ...] = real.__get__(audit, Audit)
        return tuple(replace(one, low=150, needed=190, high=290, limit=255) for one in known)

    monkeypatch.setattr(Audit, "registers", property(with_range))
    for text in (run("audit", DUMP).out, page_of(run, tmp_path), hover_of()):
        assert "may spill: about 150 to 255 of 255 registers per thread (estimate)" in plain(text)
        assert "2 or 3 CTAs, 8 to 12 of 64 warps" in plain(text)
    [summary] = json.loads(run("audit", DUMP, "--format", "json").out)["modules"][0]["summary"]
    names = ["registers_low", "registers_per_thread", "registers_high", "spills"]
    assert [summary[name] for name in names] == [150, 190, 290, "may"]
    assert [summary["occupancy"][f"ctas{end}"] for end in ("_low", "", "_high")] == [2, 2, 3]
    names = ["registers_low", "registers", "registers_high", "spills", "may_spill"]
    assert [features(DUMP)[name] for name in names] == [150, 190, 290, False, True]
    ends = [features(DUMP)[f"occupancy_ctas{end}"] for end in ("_low", "", "_high")]
    assert ends == [2, 2, 3]


def test_planted_facts_are_in_tables_comparisons_and_budgets(
    run: Run, planted: None, other: str, tmp_path: Path
) -> None:
    table = plain(str(watched()))
    assert f" by {RESOURCE}" in table
    assert str(REGISTERS) in table
    [kernel] = watched().data()["kernels"]
    assert kernel["audit"]["facts"]["ctas"] == CTAS
    for command in (["--diff"], ["--baseline"]):
        compared = plain(run("audit", *command, other, DUMP).out)
        assert str(REGISTERS) in compared, command
        assert str(CTAS) in compared, command
        assert RESOURCE in compared, command
        assert str(CYCLES) in compared, command
    manifest = tmp_path / "layouts.yaml"
    limits = f"{{registers: {REGISTERS - 1}, bound_cycles: {CYCLES - 1}, empty_warps: 1}}"
    (tmp_path / "k.ttgir").write_bytes(Path(DUMP).read_bytes())
    case = f"- {{name: k, file: k.ttgir, at_most: {limits}, views: [budget, audit]}}"
    manifest.write_text(f"cases:\n{case}\n", encoding="utf-8")
    checked = run("check", str(manifest)).out
    assert f"registers: at most {REGISTERS - 1}, is {REGISTERS}" in checked
    assert f"bound_cycles: at most {CYCLES - 1}, is {CYCLES}" in checked
    assert f"empty_warps: at most 1, is {40000 - 4 * CTAS}" in checked
    assert run("check", str(manifest), "--update", "--force").status in (0, 1)
    golden = (tmp_path / "k.audit.txt").read_text(encoding="utf-8")
    assert f"lower bound: {CYCLES} cycles of {RESOURCE}" in plain(golden)
    assert f"about {REGISTERS} of 9999 registers" in plain(golden)


@pytest.mark.slow
def test_what_apply_changes_is_said_of_the_kernel(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Any = vars(Kernel)["registers"]

    def with_registers(kernel: Kernel) -> RegisterPressure:
        known: RegisterPressure = real.__get__(kernel, Kernel)
        is_new = "padded_shared<[64:+4]" in kernel.audit.module.source.text
        needed = REGISTERS + is_new
        return replace(known, needed=needed, low=None, high=None, limit=9999, compiled=None)

    monkeypatch.setattr(Kernel, "registers", property(with_registers))
    outcome = run("apply", FIXED)
    words = "registers per thread (estimate)"
    assert f"{words}: {REGISTERS} before, {REGISTERS + 1} after" in outcome.out


@pytest.mark.slow
def test_a_planted_verdict_is_in_every_report_with_one(
    run: Run, monkeypatch: pytest.MonkeyPatch, other: str, tmp_path: Path
) -> None:
    monkeypatch.setattr(Kernel, "verdict", property(lambda kernel: "a planted verdict"))
    text = Path(DUMP).read_text(encoding="utf-8")
    texts = {
        "pipe": run("audit", DUMP).out,
        "all": run("audit", "--all", DUMP).out,
        "JSON": run("audit", DUMP, "--format", "json").out,
        "page": page_of(run, tmp_path),
        "hover": hover_of(),
        "MCP": agent_tools().audit(text),
        "watch": str(watched()),
        "JSON of watch": json.dumps(watched().data()),
    }
    assert [name for name, text in texts.items() if "planted verdict" not in plain(text)] == []


NO_TENSORS = """module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @nothing(%x: !tt.ptr<f32>, %n: i32) {
    tt.return
  }
}
"""
NO_LAYOUTS = """module {
  tt.func public @early(%x: !tt.ptr<f32>) {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %q = tt.addptr %p, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %v = tt.load %q : tensor<1024x!tt.ptr<f32>>
    tt.store %q, %v : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
"""


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (NO_TENSORS, "nothing", "nothing in it moves or multiplies tensors"),
        (NO_LAYOUTS, "early", "this is TTIR, before layouts are chosen: give the .ttgir"),
    ],
)
def test_a_kernel_without_layouts_is_one_everywhere(
    run: Run, tmp_path: Path, text: str, name: str, said: str
) -> None:
    dump, page = tmp_path / "k.ttgir", tmp_path / "page.html"
    dump.write_text(text)
    audited = run("audit", str(dump))
    assert (audited.status, audited.err) == (0, "")
    assert said in plain(audited.out)
    assert said in plain(str(tt_layout.audit_ir(str(dump))))
    assert run("page", str(dump), "-o", str(page)).status == 0
    assert said in plain(re.sub("<[^>]*>", "", page.read_text(encoding="utf-8")))
    [row] = map(json.loads, run("audit", str(dump), "--format", "features").out.splitlines())
    assert row == features(str(dump))
    assert row["kernel"] == name
    assert f"@{name}" in run("audit", str(dump), str(dump)).out
    same = run("audit", "--diff", str(dump), str(dump))
    assert same.status == 0
    line = text.split("\n").index(next(one for one in text.split("\n") if "tt.func" in one)) + 1
    assert said in plain(agent_tools().explain(text, line))


def test_a_kernel_without_tensors_has_its_time_wherever_times_are(run: Run, tmp_path: Path) -> None:
    dump, page = tmp_path / "k.ttgir", tmp_path / "page.html"
    dump.write_text(NO_TENSORS)
    time = tt_layout.estimate(str(dump), grid=(64,)).text
    assert f"{time}; nothing in it" in plain(run("audit", str(dump), "--grid", "64").out)
    assert run("page", str(dump), "-o", str(page), "--grid", "64").status == 0
    assert time in plain(page.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["convolution-sm90", "matmul-sm80", "attention-gfx950"])
def test_surfaces_name_the_bound_of_the_verdict(name: str) -> None:
    [audit] = tt_layout.audit_ir(str(ROOT / f"examples/kernels/{name}.ttgir")).audits
    [kernel] = kernels_of(audit)
    assert kernel.bound is not None
    assert f" by {kernel.bound.resource}" in kernel.verdict
    assert kernel.facts.bound_by == kernel.bound.resource
    assert f"cycles of {kernel.bound.resource}" in "; ".join(bound_texts(kernel))


def test_a_kernel_whose_warps_are_not_known_is_told_without_them() -> None:
    found = tt_layout.audit_ir("module {\ntt.func @f(%x: i32) {\n  tt.return\n}\n}")
    assert "\n@f: nothing in it moves or multiplies tensors" in str(found)
