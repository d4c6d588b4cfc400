"""Dumps of passes: which module is meant, what each pass changed, and that a screen has room."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path

import pytest
from command import Run, runner

from tt_layout import audit_ir, parse_ir
from tt_layout.audit.passes import PassHistory, pass_history
from tt_layout.ir.passes import pass_runs

DUMP = Path(__file__).parents[1] / "data" / "matmul-sm80-passes.mlir.xz"
BLOCKED = (
    "#ttg.blocked<{{sizePerThread = [{}], threadsPerWarp = [{}], warpsPerCTA = [{}], order = {}}}>"
)
ROWS = BLOCKED.format("1, 8", "4, 8", "4, 1", "[1, 0]")
COLUMNS = BLOCKED.format("8, 1", "8, 4", "1, 4", "[0, 1]")
ATTRIBUTES = 'attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}'
CONVERSION = (
    "%0 = ttg.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>\n"
)
COST = 128
"""Cycles of the conversion."""
LOOP = f"scf.for %i = %a to %b step %c  : i32 {{\n      {CONVERSION}    }}\n"
BRANCHES = f"""cf.br ^bb1(%a : i32)
  ^bb1(%i: i32):  // 2 preds: ^bb0, ^bb2
    cf.cond_br %more, ^bb2, ^bb3
  ^bb2:
    {CONVERSION}    cf.br ^bb1(%i : i32)
  ^bb3:
"""


def module(header: str, body: str, aliases: bool = True, function: str = "tt.func") -> str:
    """Return a module that was printed around a pass."""
    layouts = f"#rows = {ROWS}\n#columns = {COLUMNS}\n" if aliases else ""
    attributes = ATTRIBUTES if aliases else ""
    arguments = "%x: tensor<64x64xf16, #rows>, " if aliases else ""
    return f"""\
// -----// IR Dump {header} ('builtin.module' operation) //----- //
{layouts}module {attributes} {{
  {function} @f({arguments}%a: i32, %b: i32, %c: i32, %more: i1) {{
    {body}    tt.return
  }}
}}
"""


PASSES = (
    module("Before ConvertTritonToTritonGPU: convert-triton", "", aliases=False),
    module("Before TritonGPURemoveLayoutConversions: remove", LOOP + CONVERSION),
    module("Before TritonGPUPipeline: pipeline", LOOP),
    module("After: LowerLoops", LOOP + LOOP),
    module("Before SCFToControlFlowPass: convert-scf-to-cf", LOOP + LOOP),
    module("Before ConvertTritonGPUToLLVM: convert-triton-gpu-to-llvm", BRANCHES),
    module("Before LLVMDIScope: enable-line-info", "", aliases=False, function="llvm.func"),
)
TEXT = "".join(PASSES)


@pytest.fixture
def run(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("p.mlir").write_text(TEXT)
    return runner(capfdbinary, monkeypatch)


def history(text: str) -> PassHistory:
    [run] = pass_runs(parse_ir(text))
    return pass_history(run)


def test_what_did_it_is_named() -> None:
    """Of a header that says before, the pass; of one that says after, that; else what was begun."""
    found = history(TEXT)
    steps = [(one.name, one.before.cycles, one.after.cycles) for one in found.of_cost]
    loop = 32 * COST
    assert steps == [
        ("ConvertTritonToTritonGPU", None, loop + COST),
        ("TritonGPURemoveLayoutConversions", loop + COST, loop),
        ("LowerLoops", loop, 2 * loop),
    ]
    assert [one.name for one in found.changes][-1] == "TritonGPUPipeline"
    assert found.end is not None
    assert (found.end.name, found.ends_loops) == ("SCFToControlFlowPass", True)


def test_the_conversion_to_llvm_ends_the_table_of_a_kernel_without_loops() -> None:
    text = "".join([PASSES[0], module("Before ConvertTritonGPUToLLVM: x", CONVERSION), PASSES[-1]])
    found = history(text)
    assert found.end is not None
    assert (found.end.name, found.ends_loops) == ("ConvertTritonGPUToLLVM", False)


def test_the_last_before_llvm_with_its_loops_is_meant(run: Run) -> None:
    said = "  module 5 of 7: the last before the conversion to LLVM whose loops are known"
    for file in ("p.mlir", "p.mlir@last"):
        lines = run("audit", file).out.splitlines()
        assert lines[0].endswith(", before SCFToControlFlowPass")
        assert lines[1] == said
    assert [audit.module.choice.number for audit in audit_ir(TEXT).audits] == [5]  # type: ignore[union-attr]
    other = run("audit", "p.mlir@6").out
    assert "ConvertTritonGPUToLLVM" in other
    assert "of 7" not in other


def test_loops_of_branches_run_an_unknown_number_of_times() -> None:
    [found] = audit_ir(PASSES[5]).audits
    [conversion] = (row for row in found.movements if "convert" in row.operation.name)
    assert conversion.executions.number is None
    assert conversion.executions.text == "unknown: branches that form a loop"


def test_each_compilation_has_a_module(run: Run) -> None:
    """Behind the LLVM of one kernel the passes of the next begin."""
    Path("two.mlir").write_text(TEXT + TEXT.replace("@f", "@g"))
    heads = re.findall(r"module \d+ of \d+", run("audit", "two.mlir").out)
    assert heads == ["module 5 of 7", "module 12 of 14"]
    kernels = json.loads(run("audit", "two.mlir", "p.mlir", "--format", "json").out)["kernels"]
    assert sorted(kernel["function"] for kernel in kernels) == ["f", "f", "g"]
    assert run("audit", "--diff", "two.mlir").out.count("LowerLoops") == 2


def test_the_audit_has_a_line_for_each_module(run: Run) -> None:
    def rows(*options: str) -> list[str]:
        _, _, table = run("audit", "p.mlir", *options).out.partition("\npasses\n")
        return [line.split()[0] for line in table.splitlines()[1:]]

    assert rows("--passes") == ["1", "2", "3", "4", "5", "6", "7"]
    assert rows() == ["1", "2", "3", "4-5", "6", "7"]


def test_diff_begins_with_the_passes_that_changed_the_cost(run: Run) -> None:
    outcome = run("audit", "--diff", "p.mlir")
    assert outcome.status == 1
    assert re.search(r"TritonGPURemoveLayoutConversions +4224 -> 4096 +-128", outcome.out)
    assert "SCFToControlFlowPass turns loops into branches" in outcome.out
    assert outcome.out.splitlines()[-1].startswith("3 of 4 passes changed the cost; --pass NAME")
    same = PASSES[1] + PASSES[1]
    Path("same.mlir").write_text(same)
    assert run("audit", "--diff", "same.mlir").status == 0


def test_details_of_one_pass_and_of_all(run: Run) -> None:
    one = run("audit", "p.mlir", "--pass", "tritongpuremovelayoutconversions").out
    assert "before TritonGPURemoveLayoutConversions" in one
    assert "after TritonGPURemoveLayoutConversions" in one
    assert "0 added" in one
    every = run("audit", "--diff", "p.mlir", "--passes").out
    assert len(re.findall("^--- ", every, re.MULTILINE)) == 3
    missing = run("audit", "p.mlir", "--pass", "Nothing")
    assert missing.status == 2
    assert "no pass Nothing is compared" in missing.err
    assert "LowerLoops" in missing.err


def test_passes_as_data(run: Run) -> None:
    data = json.loads(run("audit", "--diff", "p.mlir", "--format", "json").out)
    [passes] = data["passes"]
    assert [one["pass"] for one in passes["changes"]][-1] == "LowerLoops"
    assert passes["changes"][-1]["after"]["cycles"] == 2 * 32 * COST
    assert passes["end"] == {"pass": "SCFToControlFlowPass", "loops": True}
    assert len(data["comparisons"]) == 4
    audit = json.loads(run("audit", "p.mlir", "--format", "json").out)
    assert [one["number"] for one in audit["passes"][0]["modules"]] == [1, 2, 3, 4, 5, 6, 7]
    assert len(audit["modules"]) == 1


def test_two_dumps_are_compared_by_the_modules_that_are_meant(run: Run) -> None:
    Path("q.mlir").write_text("".join(PASSES[:3]))
    outcome = run("audit", "--diff", "p.mlir", "q.mlir")
    assert "8192 cycles before, 4096 after" in outcome.out


def test_kernels_without_a_function_in_common_are_of_other_compilations() -> None:
    text = "".join(PASSES[at].replace("@f", name) for at, name in ((1, "@f"), (2, "@f"), (2, "@g")))
    assert [len(run.modules) for run in pass_runs(parse_ir(text))] == [2, 1]


def test_passes_of_another_file(run: Run) -> None:
    Path("one.mlir").write_text(PASSES[1].partition("\n")[2])
    outcome = run("audit", "one.mlir", "--pass", "CSE")
    assert outcome.status == 2
    assert "--pass and --passes are for a dump of passes" in outcome.err


@pytest.mark.slow
def test_a_screen_has_room_for_a_dump_of_eighty_modules(run: Run) -> None:
    Path("kernel.mlir").write_bytes(lzma.decompress(DUMP.read_bytes()))
    whole = run("audit", "kernel.mlir").out
    assert len(whole.splitlines()) <= 30
    for text in (whole.partition("\npasses\n")[2], run("audit", "--diff", "kernel.mlir").out):
        assert len(text.splitlines()) <= 20
        assert max(map(len, text.splitlines())) <= 80
    changed = re.findall(r"(\w+) +(\d+|-) -> (\d+)", run("audit", "--diff", "kernel.mlir").out)
    assert changed[1] == ("TritonGPUCoalesce", "21664", "32064")
    assert len(changed) == 10
    assert run("plot", "-i", "kernel.mlir", "-o", "kernel.html").status == 0
    page = Path("kernel.html").read_text(encoding="utf-8")
    assert '"pass":"SCFToControlFlowPass"' in page
