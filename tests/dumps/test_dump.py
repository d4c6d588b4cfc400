"""One way from a name or an object to kernels: what each surface that opens dumps says of it."""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import Run, runner

import tt_layout
from tt_layout.dumps.audits import Auditor
from tt_layout.dumps.dump import AS_IT_IS, open_dump, open_dumps, open_object
from tt_layout.mlir.source import UNPLACED

ROOT = Path(__file__).parents[2]
KERNEL = ROOT / "examples" / "kernels" / "matmul-sm90.ttgir"
PASSES = ROOT / "tests" / "data" / "matmul-sm80-passes.mlir.xz"
TRACE = ROOT / "tests" / "data" / "traces" / "kernels.ndjson"


@pytest.fixture
def run(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    monkeypatch.chdir(tmp_path)
    shutil.copy(KERNEL, "k.ttgir")
    return runner(capfdbinary, monkeypatch)


def test_a_text_a_path_and_a_kernel_are_one_dump() -> None:
    text = KERNEL.read_text(encoding="utf-8")
    kernel = SimpleNamespace(asm={"ttgir": text}, name="matmul")
    dumps = [open_object(each) for each in (text, KERNEL, str(KERNEL), kernel)]
    assert {dump.source.text for dump in dumps} == {text}
    assert [dump.source.name for dump in dumps] == [
        "<text>",
        str(KERNEL),
        str(KERNEL),
        "matmul.ttgir",
    ]
    costs = [[audit.totals for audit in Auditor(AS_IT_IS).audits(dump)] for dump in dumps]
    assert all(cost == costs[0] for cost in costs)


def test_the_library_takes_lines_and_logs_as_the_commands_do() -> None:
    assert open_object(f"{KERNEL}:13").number == 1
    assert tt_layout.audit_ir(f"{KERNEL}:13").audits == tt_layout.audit_ir(f"{KERNEL}@1").audits
    launched = open_object(f"{TRACE}@1").launch
    assert launched is not None
    assert launched == open_dumps(f"{TRACE}@1").dumps[0].launch


@pytest.mark.parametrize("opens", [tt_layout.audit_ir, tt_layout.explore_ir, tt_layout.apply])
def test_an_object_without_a_dump_is_of_a_wrong_type(opens: object) -> None:
    with pytest.raises(TypeError, match="expected MLIR text, a path"):
        opens(3)  # type: ignore[operator]


def test_the_way_out_of_a_dump_that_is_cut_off_is_named_by_every_report(run: Run) -> None:
    text = KERNEL.read_text(encoding="utf-8")
    Path("cut.ttgir").write_text(text[:3000], encoding="utf-8")
    way_out = "--partial audits what there is"
    assert way_out in run("audit", "cut.ttgir").err
    assert way_out in " ".join(run("audit", "cut.ttgir", "k.ttgir").out.split())
    assert way_out in run("audit", "cut.ttgir", "k.ttgir", "--format", "features").err
    assert way_out not in run("rank", "cut.ttgir", "k.ttgir").err


def test_a_text_that_looks_like_the_line_of_a_piece_stays_as_it_is(run: Run) -> None:
    place = f'loc("{UNPLACED}5.py":3:4)'
    text = """#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32],
      warpsPerCTA = [4], order = [0]}>
    module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
    tt.func public @f(%a: tensor<128x!tt.ptr<f32>, #b>) {
      %v = tt.load %a : tensor<128x!tt.ptr<f32>, #b> PLACE
      tt.return
    } }
    """.replace("PLACE", place)
    Path("marked.ttgir").write_text(text, encoding="utf-8")
    [module] = json.loads(run("audit", "marked.ttgir", "--format", "json").out)["modules"]
    assert module["data_movements"][0]["location"]["file"] == f"{UNPLACED}5.py"


def test_help_is_shown_whatever_the_dump_has(run: Run) -> None:
    assert run("info", "k.ttgir:nothing", "--help").out.startswith("Usage: tt-layout info")
    assert run("info", "k.ttgir:1", "--help").status == 0


def test_more_layouts_than_a_command_takes_are_refused(run: Run) -> None:
    outcome = run("convert", "k.ttgir:103", "k.ttgir:103")
    assert outcome.status == 2
    assert "unexpected extra arguments (" in outcome.err


def test_what_is_no_dump_is_told_by_every_command(run: Run) -> None:
    Path("nothing").mkdir()
    Path("words.ttgir").write_text("words\n", encoding="utf-8")
    for words in (["audit"], ["audit", "--format", "features"], ["rank"]):
        assert "found no dump in nothing" in run(*words, "nothing").err
        outcome = run(*words, "words.ttgir", "k.ttgir")
        assert "found no MLIR in it" in " ".join((outcome.out + outcome.err).split())


def test_features_are_of_the_module_that_is_meant(run: Run) -> None:
    Path("p.mlir").write_bytes(lzma.decompress(PASSES.read_bytes()))
    [line] = run("audit", "p.mlir", "--format", "features").out.splitlines()
    [module] = open_dump("p.mlir").meant()
    assert json.loads(line)["line"] == module.line
    assert json.loads(line)["layouts"] == tt_layout.features("p.mlir")["layouts"]
