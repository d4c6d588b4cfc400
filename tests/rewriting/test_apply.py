"""``tt-layout apply``: the dump that it writes, what it prints, and what it refuses."""

# ruff: noqa: E501 - lines of dumps are long

from __future__ import annotations

import json
import lzma
import runpy
from pathlib import Path

import pytest
from command import Run, runner
from test_suggestions import KERNELS, kernel
from tiers import sampled

import tt_layout
from tt_layout import LayoutError
from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.finding_groups import similar_findings
from tt_layout.audit.findings import Finding
from tt_layout.audit.resources import shared_bytes_of
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.carried_out import carried_out
from tt_layout.audit.suggestions.needs import Needs, needs_of
from tt_layout.audit.suggestions.suggestion import Suggestion
from tt_layout.mlir.source import Source
from tt_layout.rewriting.apply import cure, cycles
from tt_layout.rewriting.report import override_path

EXAMPLES = Path(__file__).parents[2] / "examples"
DUMP = EXAMPLES / "kernels" / "attention-gfx950.ttgir"
DUMPS = sorted(EXAMPLES.glob("*/*.ttgir"))


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def test_the_first_suggestion_is_carried_out(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "new.ttgir"
    outcome = run("apply", str(DUMP), "-o", str(path))
    assert (outcome.status, outcome.err) == (0, "")
    first, *rest = outcome.out.splitlines()
    assert first.startswith("finding 1, line 152: replace #shared3 with #ttg.padded_shared<")
    assert rest[0] == (
        "  removes 192 of 588 shared-memory cycles an iteration, and 192 of 728 outside of loops"
    )
    assert any("6336 fewer in one program" in line for line in rest)
    assert f'ir_override="{path}"' in outcome.out.replace("\n  ", "")
    assert "TRITON_ALWAYS_COMPILE=1" in outcome.out.replace("\n  ", " ")
    text = path.read_text(encoding="utf-8")
    before = DUMP.read_text(encoding="utf-8")
    changed = [b for b, a in zip(before.splitlines(), text.splitlines()) if a != b]
    assert [line.split(" = ")[0] for line in changed] == ["#shared3"]


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_the_audit_of_the_result_has_what_was_promised(name: str, run: Run, tmp_path: Path) -> None:
    source, path = tmp_path / "k.ttgir", tmp_path / "new.ttgir"
    source.write_text(kernel(name))
    outcome = run("apply", str(source), "-o", str(path), "--format", "json")
    data = json.loads(outcome.out)
    assert data["saved"] == sum(step["saved"] for step in data["applied"])
    totals = data["comparison"]["totals"]
    assert sum(t["before"] - t["after"] for t in totals) == data["saved"]
    assert run("audit", str(path)).status == 0


def test_findings_have_the_number_that_the_report_prints(run: Run, tmp_path: Path) -> None:
    path = EXAMPLES / "workloads" / "attention_backward-gfx950.ttgir"
    [module] = json.loads(run("audit", str(path), "--format", "json").out)["modules"]
    text = run("audit", "--all", str(path)).out
    for finding in module["findings"]:
        lines = text.splitlines()
        line = next(one for one in lines if one.startswith(f"  {finding['number']}. "))
        assert str(finding["line"]) in line
    new = tmp_path / "new.ttgir"
    outcome = run("apply", str(path), "--finding", "2", "-o", str(new))
    second = next(f for f in module["findings"] if f["number"] == 2)
    assert outcome.out.startswith(f"finding 2, line {second['line']}: ")
    assert second["suggestion"] in new.read_text(encoding="utf-8")


def test_what_cannot_be_carried_out_writes_nothing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "new.ttgir"
    outcome = run("apply", str(DUMP), "--finding", "99", "-o", str(path))
    assert (outcome.status, outcome.out) == (2, "")
    assert "there is no finding 99: the report has" in outcome.err
    narrow = EXAMPLES / "narrow" / "layer_norm.ttgir"
    outcome = run("apply", str(narrow), "--finding", "1", "-o", str(path))
    assert (outcome.status, outcome.out, path.exists()) == (2, "", False)
    assert "finding 1 has no fix that can be applied: in the program: make n a" in outcome.err
    outcome = run("apply", str(DUMP), "--value", "missing=4", "-o", str(path))
    assert (outcome.status, outcome.out, path.exists()) == (2, "", False)
    assert "no kernel has an argument 'missing'" in outcome.err
    wrapped = kernel("through-a-loop").replace("-> (tensor", "\n-> (tensor")
    outcome = run("apply", "-", "-o", str(path), stdin=wrapped.encode())
    assert "found 0 types of 1 values" in outcome.err
    assert (outcome.status, path.exists()) == (2, False)


@pytest.mark.parametrize("name", ["kernels/softmax-sm90", "narrow/layer_norm"])
def test_a_batch_goes_on_where_nothing_is_to_apply(name: str, run: Run, tmp_path: Path) -> None:
    """It once exited with 2, without a file: a script stopped at the first good kernel."""
    dump, path = EXAMPLES / f"{name}.ttgir", tmp_path / "new.ttgir"
    outcome = run("apply", str(dump), "-o", str(path))
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith(f"nothing to apply: {dump}: ".replace("\n", " "))
    assert path.read_bytes() == dump.read_bytes()
    assert run("apply", str(dump)).status == 0
    for more in ([], ["--all"], ["-o", str(path)]):
        assert run("apply", str(dump), "--exit-code", *more).status == 1


@pytest.mark.slow
def test_without_a_file_the_changed_lines_are_shown(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "new.ttgir"
    outcome = run("apply", str(DUMP))
    assert (outcome.status, outcome.err) == (
        0,
        "note: nothing was written: -o FILE writes the new dump\n",
    )
    run("apply", str(DUMP), "-o", str(path))
    old, new = (one.read_text("utf-8").splitlines() for one in (DUMP, path))
    [changed] = [pair for pair in zip(old, new) if pair[0] != pair[1]]
    shown = outcome.out.splitlines()
    at = shown.index(f"-{changed[0]}")
    assert shown[at + 1] == f"+{changed[1]}"
    assert shown[at - 4 : at - 2] == [f"--- {DUMP}", "+++ new.ttgir"]
    assert any("6336 fewer in one program" in line for line in shown)
    assert run("apply", str(DUMP), "--exit-code").status == 0


@pytest.mark.slow
@pytest.mark.parametrize("path", sampled(DUMPS, 12), ids=lambda path: path.stem)
def test_what_an_audit_calls_a_fix_is_applied(path: Path, run: Run) -> None:
    for line in run("audit", str(path)).out.replace("\n        ", " ").splitlines():
        words = line.split()
        if words[:3] == ["run:", "tt-layout", "apply"]:
            number = words[words.index("--finding") + 1]
            outcome = run("apply", str(path), "--finding", number)
            assert outcome.status == 0
            assert outcome.out.startswith(f"finding {number}, line ")


def test_options_that_exclude_each_other(run: Run, tmp_path: Path) -> None:
    outcome = run("apply", str(DUMP), "-o", "a", "--override", "b")
    assert outcome.status == 2
    assert "-o and --override exclude each other" in outcome.err
    outcome = run("apply", str(DUMP), "-o", str(tmp_path / "a"), "--all", "--finding", "1")
    assert "--all and --finding exclude each other" in outcome.err


@pytest.mark.slow
def test_the_override_folder_is_that_of_the_kernel(run: Run, tmp_path: Path) -> None:
    name = "HXEYFL5BHZMMDC3GHHBCNQDKBEAL6BK3UDPR7P6JLGPVMVLYNNWQ"
    dumped = tmp_path / "dump" / name / "attention.ttgir"
    dumped.parent.mkdir(parents=True)
    dumped.write_text(DUMP.read_text(encoding="utf-8"))
    folder = tmp_path / "override"
    outcome = run("apply", str(dumped), "--override", str(folder))
    assert outcome.status == 0
    assert f"TRITON_KERNEL_OVERRIDE=1 TRITON_OVERRIDE_DIR={folder}" in " ".join(outcome.out.split())
    assert (folder / name / "attention.ttgir").exists()
    assert override_path(str(dumped), "x") == f"x/{name}/attention.ttgir"
    outcome = run("apply", str(DUMP), "--override", str(folder))
    assert outcome.status == 2
    assert "its folder is not the hash of a kernel" in outcome.err


def test_a_module_of_a_dump_is_named(run: Run, tmp_path: Path) -> None:
    both = tmp_path / "both.mlir"
    path = tmp_path / "new.ttgir"
    both.write_text(kernel("needless") + "// -----\n" + kernel("of-a-constant"))
    outcome = run("apply", str(both), "-o", str(path))
    assert "it has 2 modules: name one of them" in outcome.err
    outcome = run("apply", f"{both}@2", "-o", str(path))
    assert outcome.status == 0
    assert path.read_text().count("tt.func") == 1


def test_names_stay_valid() -> None:
    """A number is no beginning of a name, and a name that is there is not taken."""
    text = kernel("of-a-constant").replace("%v", "%0").replace("%q ", "%1 ").replace("%q,", "%1,")
    text = text.replace("tt.return", "%relaid_1 = arith.constant 1 : i32\n    tt.return")
    found = cure(Source(text)).text
    assert "%relaid_1_1 = tt.addptr" in found
    assert "loc(" not in found


def test_a_layout_of_one_warp_is_written_as_triton_reads_it() -> None:
    """Triton prints ``ctaLayout = {}`` for it, and does not read that."""
    mma = "#ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = []}}>"
    old, new = (f"#ttg.dot_op<{{opIdx = 1, parent = {mma}, kWidth = {k}}}>" for k in (8, 16))
    text = f"""\
module attributes {{ttg.target = "hip:gfx1201", "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func @f(%p: tensor<64x32x!tt.ptr<f16>, {new}>) {{
    %v = arith.constant dense<1.0> : tensor<64x32xf16, {old}>
    %w = ttg.convert_layout %v : tensor<64x32xf16, {old}> -> tensor<64x32xf16, {new}>
    tt.store %p, %w : tensor<64x32x!tt.ptr<f16>, {new}>
    tt.return
  }}
}}
"""
    assert f"#relaid = {new}\n" in cure(Source(text)).text
    [found] = tt_layout.audit_ir(text).data()["modules"]
    assert {finding["suggestion"] for finding in found["findings"]} == {None, new}


def test_locations_go_with_what_is_computed_anew() -> None:
    lines = kernel("two-inputs").splitlines()
    text = "\n".join(f"{line} loc(#loc7)" if " = " in line and "%" in line else line
                     for line in lines)  # fmt: skip
    text += '\n#loc7 = loc("k.py":3:5)\n'
    found = cure(Source(text)).text
    assert all("loc(#loc7)" in line for line in found.splitlines() if "%relaid" in line and "=" in
               line.split("%relaid")[1] and "store" not in line)  # fmt: skip


@pytest.mark.slow
def test_the_library_takes_text_and_a_kernel() -> None:
    text = DUMP.read_text(encoding="utf-8")
    applied = tt_layout.apply(text)
    assert applied.saved == 6336
    assert tt_layout.apply(text, 1).text == applied.text
    compiled = type("Kernel", (), {"asm": {"ttgir": text}})()
    assert tt_layout.apply(compiled).text == applied.text
    clean = (EXAMPLES / "kernels" / "softmax-sm90.ttgir").read_text(encoding="utf-8")
    assert tt_layout.apply(clean).text == clean
    with pytest.raises(LayoutError, match="there is no finding 9"):
        tt_layout.apply(text, 9)


def refused(path: Path) -> str:
    """Return a dump with a buffer that no CTA can have."""
    text = DUMP.read_text(encoding="utf-8")
    start = text.index("{\n", text.index("tt.func")) + 2
    layout = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>"
    buffer = f"!ttg.memdesc<1048576xi8, {layout}, #smem, mutable>"
    path.write_text(f"{text[:start]}    %huge = ttg.local_alloc : () -> {buffer}\n{text[start:]}")
    return str(path)


@pytest.mark.slow
def test_a_fix_of_a_refused_kernel_says_that_its_result_is_refused(
    run: Run, tmp_path: Path
) -> None:
    path = refused(tmp_path / "k.ttgir")
    word = "but: the result is refused, too: @"
    applied = run("apply", path)
    assert word in applied.out
    assert "bytes of shared memory" in applied.out.partition(word)[2].partition("---")[0]
    assert word in run("audit", path, "--all").out
    data = json.loads(run("apply", path, "--format", "json").out)
    assert len(data["refusals"]) == 1
    [module] = json.loads(run("audit", path, "--format", "json").out)["modules"]
    verdicts = {one["verdict"] for finding in module["findings"] for one in finding["suggestions"]}
    assert verdicts == {"refused"}
    assert word not in run("apply", str(DUMP)).out


FORETOLD = [
    *sampled(DUMPS, 6),
    EXAMPLES.parent / "tests/data/saved_formula.ttgir",
    *(EXAMPLES / "kernels" / f"{name}.ttgir" for name in ("attention-gfx942", "matmul-sm80")),
]


@pytest.mark.slow
@pytest.mark.parametrize("path", FORETOLD, ids=lambda path: path.stem)
def test_what_is_foretold_is_what_the_audit_of_the_new_text_says(path: Path) -> None:
    """Cycles, shared memory, CTAs, registers: of 1,000 dumps by benchmarks/suggestions.py."""
    sweep = runpy.run_path(str(EXAMPLES.parent / "benchmarks" / "suggestions.py"))
    [module] = tt_layout.parse_ir(path.read_text(encoding="utf-8"))
    audit = audit_module(module)
    adviser = Adviser(audit)
    for finding, suggestion in [*sweep["suggestions"](audit, adviser)][:4]:
        assert not [*sweep["differences"](audit, adviser, finding, suggestion)]


CONVERTED = """
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1],
                      order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4],
                         order = [0, 1]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @f(%p: tensor<64x64x!tt.ptr<f32>, #columns>, %x: tensor<64x64xf32, #rows>,
                    %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %kept = math.exp %x : tensor<64x64xf32, #rows>
    scf.for %i = %zero to %n step %one : i32 {
      %sum = arith.addf %x, %kept : tensor<64x64xf32, #rows>
      %first = ttg.convert_layout %sum : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
      %power = math.exp %sum : tensor<64x64xf32, #rows>
      %second = ttg.convert_layout %power : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
      tt.store %p, %first : tensor<64x64x!tt.ptr<f32>, #columns>
      tt.store %p, %second : tensor<64x64x!tt.ptr<f32>, #columns>
    }
    tt.return
  }
}
"""


def test_conversions_that_one_change_ends_count_once() -> None:
    [module] = tt_layout.parse_ir(CONVERTED)
    audit = audit_module(module)
    adviser = Adviser(audit)
    groups = enumerate(similar_findings(audit.findings), 1)
    [(number, group)] = [found for found in groups if adviser.best(found[1][0])]
    assert len(group) == 2
    [place] = [place for place in adviser.gain(group).places if place.loop is not None]
    assert place.removed <= place.whole
    cured = cure(module.source, [number])
    assert adviser.avoidable(group) == cycles(cured.before) - cycles(cured.after)


ENTANGLED = """
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1],
                      order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4],
                         order = [0, 1]}>
#pairs = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1],
                       order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @f(%p: tensor<64x64x!tt.ptr<f32>, #columns>, %x: tensor<64x64xf32, #rows>,
                    %y: tensor<64x64xf32, #pairs>) {
    %q = ttg.convert_layout %y : tensor<64x64xf32, #pairs> -> tensor<64x64xf32, #rows>
    %sum = arith.addf %x, %q : tensor<64x64xf32, #rows>
    %r = ttg.convert_layout %y : tensor<64x64xf32, #pairs> -> tensor<64x64xf32, #rows>
    %product = arith.mulf %sum, %r : tensor<64x64xf32, #rows>
    %first = ttg.convert_layout %sum : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    %second = ttg.convert_layout %product : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    tt.store %p, %first : tensor<64x64x!tt.ptr<f32>, #columns>
    tt.store %p, %second : tensor<64x64x!tt.ptr<f32>, #columns>
    tt.return
  }
}
"""


def test_changes_that_only_cost_beside_another_are_not_counted() -> None:
    [module] = tt_layout.parse_ir(ENTANGLED)
    audit = audit_module(module)
    adviser = Adviser(audit)
    groups = enumerate(similar_findings(audit.findings), 1)
    with_fix = [(number, group) for number, group in groups if adviser.best(group[0])]
    assert len(with_fix) == 2
    for number, group in with_fix:
        cured = cure(module.source, [number])
        assert adviser.avoidable(group) == cycles(cured.before) - cycles(cured.after) > 0


def test_registers_are_foretold_with_the_conversions_that_are_added() -> None:
    [module] = tt_layout.parse_ir(CONVERTED)
    audit = audit_module(module)
    adviser = Adviser(audit)
    finding = next(one for one in audit.findings if adviser.best(one))
    suggestion = adviser.suggestions(finding)[0]
    assert suggestion.conversions_added
    [foretold] = [one.registers for one in adviser.needs(finding, suggestion)[1:]]
    real = needs_of(carried_out_audit(audit, finding, suggestion), "f")
    assert foretold is not None
    assert real.registers is not None
    assert foretold.range == real.registers.range


HANDED_ON = """\
#from = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#to = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func public @f(%p: tensor<64x64x!tt.ptr<f16>, #from>, %q: tensor<64x64x!tt.ptr<f32>, #to>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = tt.load %p : tensor<64x64x!tt.ptr<f16>, #from>
    %b = tt.load %p : tensor<64x64x!tt.ptr<f16>, #from>
    %s = tt.load %q : tensor<64x64x!tt.ptr<f32>, #to>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b, %z = %s) -> (tensor<64x64xf16, #from>, tensor<64x64xf16, #from>, tensor<64x64xf32, #to>) : i32 {
      %l = tt.load %p : tensor<64x64x!tt.ptr<f16>, #from>
      %e = arith.extf %x : tensor<64x64xf16, #from> to tensor<64x64xf32, #from>
      %t = ttg.convert_layout %e : tensor<64x64xf32, #from> -> tensor<64x64xf32, #to>
      %m = arith.addf %z, %t : tensor<64x64xf32, #to>
      scf.yield %y, %l, %m : tensor<64x64xf16, #from>, tensor<64x64xf16, #from>, tensor<64x64xf32, #to>
    }
    %e0 = arith.extf %r#0 : tensor<64x64xf16, #from> to tensor<64x64xf32, #from>
    %t0 = ttg.convert_layout %e0 : tensor<64x64xf32, #from> -> tensor<64x64xf32, #to>
    %e1 = arith.extf %r#1 : tensor<64x64xf16, #from> to tensor<64x64xf32, #from>
    %t1 = ttg.convert_layout %e1 : tensor<64x64xf32, #from> -> tensor<64x64xf32, #to>
    %m0 = arith.addf %r#2, %t0 : tensor<64x64xf32, #to>
    %m1 = arith.addf %m0, %t1 : tensor<64x64xf32, #to>
    tt.store %q, %m1 : tensor<64x64x!tt.ptr<f32>, #to>
    tt.return
  }
}
"""


def with_three_conversions(adviser: Adviser) -> tuple[Finding, Suggestion]:
    """Return a finding with its suggestion that adds a conversion to the loop, and two behind."""
    findings = adviser.audit.findings
    tried = ((found, one) for found in findings for one in adviser.suggestions(found))
    return next((found, one) for found, one in tried if len(one.conversions_added) == 3)


def test_scratch_of_conversions_at_one_place_is_not_for_all_at_once() -> None:
    """Two conversions are added behind the loop, one after the other."""
    [module] = tt_layout.parse_ir(HANDED_ON)
    audit = audit_module(module)
    adviser = Adviser(audit)
    finding, suggestion = with_three_conversions(adviser)
    before, foretold = adviser.needs(finding, suggestion)
    real = needs_of(carried_out_audit(audit, finding, suggestion), "f")
    assert [one.memory and one.memory.bytes for one in (before, foretold, real)] == [
        16384,
        8192,
        8192,
    ]
    assert foretold.ctas == real.ctas


def test_what_a_module_states_of_its_memory_is_not_said_of_the_text_with_a_suggestion() -> None:
    place = '"ttg.num-ctas" = 1 : i32'
    for stated in ("ttg.shared = 16384 : i32", '"ttg.shared" = 16384 : i32'):
        for line in (f"{stated}, {place}", f"{place}, {stated}"):
            [module] = tt_layout.parse_ir(HANDED_ON.replace(place, line))
            audit = audit_module(module)
            finding, suggestion = with_three_conversions(Adviser(audit))
            after = carried_out_audit(audit, finding, suggestion)
            assert after.module.attributes.keys() == module.attributes.keys() - {"ttg.shared"}
            assert [shared_bytes_of(one, "f") for one in (audit, after)] == [16384, 8192]


def test_a_change_that_pays_at_both_ends_of_the_registers_is_to_be_applied() -> None:
    """The kernel may spill: by how much is not known, but without the conversions it has fewer."""
    folder = EXAMPLES.parent / "benchmarks" / "hardware"
    judged = runpy.run_path(str(folder / "judge_times.py"))["judged"]
    with lzma.open(folder / "suggested-h100.jsonl.xz", "rt") as lines:
        rows = {row["kernel"]: row for row in map(json.loads, lines)}
    row = rows["sinkhorn-0"]
    row["ttgir"] = row["ttgir"].replace(
        "module attributes {", 'module attributes {"ttg.maxnreg" = 168 : i32, '
    )
    [module] = tt_layout.parse_ir(row["ttgir"])
    assert any(one.may_spill for one in audit_module(module).registers)
    assert {str(one.verdict) for one in judged(row, "h100", is_cold=False)} == {"apply"}


def carried_out_audit(audit: Audit, finding: Finding, suggestion: Suggestion) -> Audit:
    """Return the audit of the text with a suggestion."""
    assert finding.movement is not None
    full = audit.audited.in_full(finding.movement.operation)
    assert full is not None
    [module] = tt_layout.parse_ir(carried_out(audit, full, suggestion))
    return audit_module(module)


def test_a_fix_that_lowers_the_ctas_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Adviser.needs

    def needs(self: Adviser, finding: Finding, suggestion: Suggestion) -> tuple[Needs, Needs]:
        before, after = real(self, finding, suggestion)
        return before._replace(ctas=4), after._replace(ctas=3)

    monkeypatch.setattr(Adviser, "needs", needs)
    assert "but: a compute unit holds 3 CTAs instead of 4" in run("audit", str(DUMP)).out
    [module] = json.loads(run("audit", str(DUMP), "--format", "json").out)["modules"]
    verdicts = {one["verdict"] for finding in module["findings"] for one in finding["suggestions"]}
    assert "apply" not in verdicts
