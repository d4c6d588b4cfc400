"""A line of a dump in words, the same on every surface."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command import Run, runner

from tt_layout.editing.explained import explained_line
from tt_layout.editing.hover import hover
from tt_layout.editing.piece import EditedPiece, PieceCache
from tt_layout.errors import LayoutError
from tt_layout.ir.traits import Traits
from tt_layout.mlir.source import in_file
from tt_layout.reports.explanation import CLASSES

EXAMPLES = Path(__file__).parents[2] / "examples"
KERNELS = EXAMPLES / "kernels"
MATMUL = KERNELS / "matmul-sm90.ttgir"
TEXT = MATMUL.read_text(encoding="utf-8")


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def line_of(part: str, text: str = TEXT) -> int:
    return next(at for at, line in enumerate(text.split("\n"), 1) if part in line)


def words_of(part: str) -> tuple[str, ...]:
    """Return the facts of the operation on the first line with a text."""
    return explained_line("x", TEXT, line_of(part)).sections[0].facts


def test_a_conversion_says_who_wants_which_layout() -> None:
    said = words_of("ttg.convert_layout")
    assert said[0].startswith("it gives a tensor another layout")
    assert "#mma of %7 comes from warp_group_dot (94)" in said
    assert "store (124) wants %8 in #blocked1" in said
    assert "shared memory, 256 wavefronts, 8192 bytes of scratch" in said
    assert any(fact.startswith("why it is there: ") for fact in said)


def test_a_value_says_which_uses_change_it() -> None:
    [said] = [fact for fact in words_of("ttng.warp_group_dot ") if "line 123" in fact]
    assert said == (
        "warp_group_dot (94) wants %total_75 in #mma; line 123 changes it to #blocked1"
        " for store (124)"
    )


CHANGED = """\
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32} {
  tt.func @f(%p: tensor<32x!tt.ptr<f32>, #a>) {
    %v = tt.load %p : tensor<32x!tt.ptr<f32>, #a>
"""


@pytest.mark.parametrize(
    ("count", "more"),
    [(6, "#b"), (7, "#b and 1 more conversion"), (8, "#b and 2 more conversions")],
)
def test_of_many_conversions_of_a_value_the_first_are_named(count: int, more: str) -> None:
    conversions = "".join(
        f"%c{n} = ttg.convert_layout %v : tensor<32xf32, #a> -> tensor<32xf32, #b>\n"
        for n in range(count)
    )
    text = f"{CHANGED}{conversions}tt.return\n  }}\n}}\n"
    facts = explained_line("x", text, line_of("tt.load", text)).sections[0].facts
    [said] = [fact for fact in facts if "changes it to" in fact]
    assert said.count("changes it to") == 6
    assert said.endswith(f"line 11 changes it to {more}")


def test_lines_and_names_are_those_of_the_dump_wherever_a_module_stands() -> None:
    header = "// -----// IR Dump After P (p) //----- //\n"
    above = f"{header}module {{\n}}\n{header}"
    again = TEXT.replace("%8 = ttg.convert", "%7 = ttg.convert").replace("%8", "%7")
    below = explained_line("x", above + again, line_of("ttg.convert_layout", above + again))
    alone = "\n" * above.count("\n") + again
    assert below == explained_line("x", alone, below.line)
    facts = [fact for section in below.sections for fact in section.facts]
    assert f"store ({line_of('tt.store', alone)}) wants %7@{below.line} in #blocked1" in facts


@pytest.mark.slow
def test_what_moves_a_layout_is_said_of_every_operation_without_a_finding() -> None:
    said = words_of("tt.store")
    assert any(fact.startswith("in Triton #blocked1 depends on ") for fact in said)
    assert any("Triton's pass that coalesces" in fact for fact in said)


def test_every_class_is_a_trait() -> None:
    assert set(CLASSES) <= set(Traits._fields)


@pytest.mark.slow
def test_every_surface_has_the_same_lines(run: Run) -> None:
    line = line_of("ttg.convert_layout")
    said = words_of("ttg.convert_layout")
    column = TEXT.split("\n")[line - 1].index("convert_layout")
    found = hover(EditedPiece(TEXT, PieceCache()), line, column)
    assert found is not None
    markdown = in_file(found.markdown(has_pictures=False), 0)
    assert all(f"- {fact}" in markdown for fact in said)
    shown = run("explain", f"{MATMUL}:{line}", "--format", "json")
    assert json.loads(shown.out)["parts"][0]["facts"] == list(said)
    assert run("explain", f"{MATMUL}:{line}").out.splitlines()[0] == f"{MATMUL}:{line}"


@pytest.mark.slow
def test_a_page_and_an_agent_have_the_same_lines() -> None:
    pytest.importorskip("pydantic")
    from tt_layout.audit.audit import audit_module
    from tt_layout.ir import parse_ir
    from tt_layout.page.dump import module_data
    from tt_layout.servers.agent_tools import AgentTools

    said = words_of("ttg.convert_layout")
    line = line_of("ttg.convert_layout")
    [module] = parse_ir(TEXT)
    movements = module_data(audit_module(module), 1, lambda _: None)["movements"]
    [explained] = [one["explained"] for one in movements if one["line"] == line]
    assert explained == said
    answer = AgentTools(str(EXAMPLES)).explain("kernels/matmul-sm90.ttgir", line)
    folded = re.sub(r"\n +", " ", answer)
    assert all(fact in folded for fact in said)


def test_what_is_no_line_is_refused(run: Run) -> None:
    assert "a line is FILE:LINE" in run("explain", "k.ttgir").err
    result = run("explain", f"{MATMUL}:9999")
    assert (result.status, result.out) == (2, "")
    assert f"the dump has no line 9999: it has {TEXT.count(chr(10)) + 1}" in result.err
    with pytest.raises(LayoutError):
        explained_line("x", TEXT, 0)
    assert "nothing is known of it" in str(explained_line("x", "// words\n", 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.name for path in KERNELS.glob("*.ttgir")))
def test_every_operation_has_words(name: str) -> None:
    piece = EditedPiece((KERNELS / name).read_text(encoding="utf-8"), PieceCache())
    without = []
    for audit in piece.audits:
        explainer = piece.explainer(audit)
        for full in audit.audited.operations:
            said = explainer.explanation(full)
            if not said or not said[0].startswith("it "):
                without.append(full.operation.name)
    assert not without
