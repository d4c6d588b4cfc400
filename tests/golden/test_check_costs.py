"""``tt-layout check`` on costs: the kinds ``info``, ``conflicts`` and ``convert``."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from command import Outcome, Run, runner

from tt_layout.encodings import Encoding
from tt_layout.encodings.parsing import parse_layout
from tt_layout.golden.costs import conflict_facts, conversion_facts, info_facts
from tt_layout.hardware import find_target
from tt_layout.mlir.types import TensorType, parse_type
from tt_layout.placement import place
from tt_layout.reports.conflicts import conflicts_report
from tt_layout.reports.convert import ConversionReport, conversion_report
from tt_layout.reports.info import info_of
from tt_layout.reports.report import plain_text

TYPE = "tensor<64x64xf16>"
AS_JSON = ("--format", "json")
LANES = "lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []}>"
LINEAR = f"#ttg.linear<{{register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], {LANES}"
PERMUTED = LINEAR.replace("[0, 1], [0, 2]", "[0, 2], [0, 1]")
ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
PAIRS = ROWS.replace("[1, 8], threadsPerWarp = [4, 8]", "[1, 2], threadsPerWarp = [1, 32]")
DOWN = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], "
    "order = [1, 0]}>"
)
COLUMNS = (
    "#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], "
    "order = [0, 1]}>"
)
SHARED = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
PADDED = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>"
KERNEL = f"""\
#rows = {ROWS}
#down = {DOWN}
#linear = {LINEAR}
#permuted = {PERMUTED}
#shared = {SHARED}
"""
MANIFEST = f"""\
defaults: {{file: kernel.mlir, type: {TYPE}, target: sm80}}
cases:
- name: load
  alias: down
  with: shared
  views: [info, conflicts]
- name: store
  layout: '{SHARED}'
  with: '{ROWS}'
  target: sm90
  views: [conflicts]
- name: epilogue
  alias: linear
  to: '#permuted'
  views: [convert]
"""


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: a manifest whose golden files are as printed."""
    monkeypatch.chdir(tmp_path)
    Path("kernel.mlir").write_text(KERNEL)
    Path("layouts.yaml").write_text(MANIFEST)
    assert run("check", "--update").status == 0
    assert run("check") == Outcome(0, "4 passed\n", "")
    return tmp_path


def edit(name: str, old: str, new: str) -> None:
    text = Path(name).read_text()
    assert old in text
    Path(name).write_text(text.replace(old, new))


def said(run: Run, name: str) -> list[str]:
    """Return what the report says of a changed check, in front of the diff."""
    outcome = run("check", "--only", name)
    assert outcome.status == 1, outcome.err
    heading, *lines = outcome.out.splitlines()
    assert heading.startswith(f"changed: {name} (layouts.yaml:")
    return [line[2:] for line in lines[: lines.index(f"  --- {name}.txt")]]


def test_goldens_are_what_the_commands_print(folder: Path, run: Run) -> None:
    over = ("-t", TYPE)
    assert Path("load.info.txt").read_text() == run("info", "kernel.mlir:down", *over).out
    printed = run("conflicts", DOWN, SHARED, *over, "--target", "sm80").out
    assert Path("load.conflicts.txt").read_text() == printed
    assert Path("store.conflicts.txt").read_text() == run("conflicts", SHARED, ROWS, *over).out
    printed = run("convert", LINEAR, PERMUTED, *over, "--target", "sm80").out
    assert Path("epilogue.convert.txt").read_text() == printed
    assert "a permutation of registers within each thread\n" in printed


def test_the_release_of_the_case_holds_for_both_layouts(folder: Path, run: Run) -> None:
    narrow = ROWS.replace("[1, 8]", "[4]").replace("[4, 8]", "[1]").replace("[4, 1]", "[1]")
    narrow = narrow.replace("[1, 0]", "[0]")
    Path("old.mlir").write_text(f"#narrow = {narrow}")
    Path("layouts.yaml").write_text(f"""\
defaults: {{type: 'tensor<2xf16>', triton: 3.8, views: [info, convert]}}
cases:
- {{name: written, layout: '{narrow}', to: '{narrow}'}}
- {{name: named, file: old.mlir, alias: narrow, to: narrow}}
""")
    assert run("check", "--update", "--only", "written", "--only", "named").status == 0
    over = ("-t", "tensor<2xf16>", "--triton", "3.8")
    printed = {"info": run("info", narrow, *over).out}
    assert "4, 2 of them distinct" in printed["info"]
    printed["convert"] = run("convert", narrow, narrow, *over).out
    for name in ("written", "named"):
        for kind, text in printed.items():
            assert Path(f"{name}.{kind}.txt").read_text() == text


def test_a_bank_conflict_is_said_first(folder: Path, run: Run) -> None:
    edit("kernel.mlir", "maxPhase = 8", "maxPhase = 2")
    assert said(run, "load.conflicts") == [
        "store wavefronts per warp: was 16, is 64",
        "store wavefronts per instruction: was 4, is 16",
        "store wavefronts due to conflicts: was none, is 12",
        "load wavefronts per warp: was 16, is 64",
        "load wavefronts per instruction: was 4, is 16",
        "load wavefronts due to conflicts: was none, is 12",
    ]
    assert run("check", "--only", "store").status == 0


def test_another_instruction_and_target_are_said(folder: Path, run: Run) -> None:
    """Each instruction takes fewer turns, but there are more: what a warp does comes first."""
    edit(
        "layouts.yaml",
        "layout: '#ttg.swizzled_shared<{vec = 8",
        "layout: '#ttg.swizzled_shared<{vec = 1",
    )
    edit("layouts.yaml", "target: sm90", "target: sm75")
    assert said(run, "store.conflicts") == [
        "store wavefronts per warp: was 16, is 64",
        "store wavefronts per instruction: was 4, is 2",
        "store wavefronts due to conflicts: was none, is 1",
        "store instructions per warp: was 4 x st.shared.v4.b32, is 32 x st.shared.b16",
        "load wavefronts per warp: was 16, is 64",
        "load wavefronts per instruction: was 4, is 2",
        "load wavefronts due to conflicts: was none, is 1",
        "load instructions per warp: was 4 x ld.shared.v4.b32, is 32 x ld.shared.b16",
        "target: was sm90, is sm75",
    ]


def test_a_longer_way_of_a_conversion_is_said_first(folder: Path, run: Run) -> None:
    edit("kernel.mlir", f"#permuted = {PERMUTED}", f"#permuted = {COLUMNS}")
    assert said(run, "epilogue.convert") == [
        "conversion: was a permutation of registers within each thread, is through shared memory",
        "bytes between threads: was 0, is 8064",
        "compiled wavefronts of stores: was none, is 64",
        "compiled wavefronts of loads: was none, is 64",
        "wavefronts to store: was none, is 64",
        "wavefronts to load: was none, is 64",
        "scratch per CTA: was none, is 8192 bytes, one round of st.shared and ldmatrix.trans",
        "stores per warp: was none, is 4 x st.shared.v4.b32",
        "loads per warp: was none, is 4 x ldmatrix.x4.trans",
        "to: attribute: was #ttg.linear, is #ttg.blocked",
    ]


def test_the_layouts_that_changed_are_named(folder: Path, run: Run) -> None:
    edit("kernel.mlir", "[0, 1], [0, 2], [0, 4]", "[0, 1], [0, 4], [0, 2]")
    assert said(run, "epilogue.convert") == [
        "layout: register: was [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], "
        "is [[0, 1], [0, 4], [0, 2], [16, 0], [32, 0]]",
    ]


def test_facts_and_keys_of_an_info_are_said(folder: Path, run: Run) -> None:
    edit("kernel.mlir", f"#down = {DOWN}", f"#down = {COLUMNS}")
    edit("layouts.yaml", f"type: {TYPE}", "type: tensor<64x16xf16>")
    assert said(run, "load.info") == [
        "elements per thread: was 32 (64 bytes), is 8 (16 bytes)",
        "global memory vector: was 8 elements, is 1 element",
        "global memory instructions per warp: was 4, is 8",
        "sectors per instruction: was 32, is 8",
        "touched bytes used: was 50%, is 25%",
        "sizePerThread: was [1, 8], is [8, 1]",
        "threadsPerWarp: was [32, 1], is [8, 4]",
        "order: was [1, 0], is [0, 1]",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("check", ["load.info", "load.conflicts", "epilogue.convert"])
@pytest.mark.parametrize(
    "text", ["", "x\n", "- x\n+ y\n", "#ttg.x<{}>\nreplication", "store: \n\n"]
)
def test_of_a_golden_that_was_edited_the_diff_is_shown_and_how_to_know_more(
    check: str, text: str, folder: Path, run: Run
) -> None:
    Path(f"{check}.txt").write_text(text)
    assert said(run, check) == [
        f"layouts.facts.json does not say what this {check}.txt was made from; "
        "--update writes it, and explains the next change"
    ]


def test_line_ends_are_told_from_costs(folder: Path, run: Run) -> None:
    golden = Path("load.conflicts.txt")
    golden.write_bytes(golden.read_bytes().replace(b"\n", b"\r\n"))
    outcome = run("check")
    assert "  the golden has CRLF line endings" in outcome.out
    assert "was" not in outcome.out


PLACED = {
    ROWS: TYPE,
    SHARED: "!ttg.memdesc<64x64xf16>",
    PADDED: TYPE,
    "#ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>":
        "!ttg.memdesc<64x32xf32>",
}  # fmt: skip


def _conversion(src: Encoding, dst: Encoding, tensor: TensorType) -> ConversionReport:
    report = conversion_report(src, dst, tensor)
    assert isinstance(report, ConversionReport)
    return report


def test_every_fact_is_known_of_some_layout_or_conversion() -> None:
    infos = [info_facts(info_of(place(parse_layout(a), parse_type(b)))) for a, b in PLACED.items()]
    assert infos[3]["tensor memory"] == "16384 bytes"
    tensor, rows = parse_type(TYPE), parse_layout(ROWS)
    others = (COLUMNS, ROWS.replace("[1, 8], threads", "[1, 4], threads"))
    conversions = [_conversion(rows, parse_layout(one), tensor) for one in others]
    for found in (infos, [conversion_facts(one) for one in conversions]):
        known = {label for facts in found for label, value in facts.items() if value}
        assert known == {label for facts in found for label in facts}


@pytest.mark.parametrize("shared", [SHARED, SHARED.replace("8, order", "2, order"), PADDED])
@pytest.mark.parametrize("register", [ROWS, PAIRS, DOWN, COLUMNS, LINEAR])
def test_facts_of_conflicts_are_in_the_text(register: str, shared: str) -> None:
    layouts = parse_layout(register), parse_layout(shared)
    report = conflicts_report(*layouts, parse_type(TYPE), find_target("sm90"))
    facts, lines = conflict_facts(report), plain_text(report).splitlines()
    assert lines[-1].startswith(f"target: {facts['target']}, ")
    for kind in ("store", "load"):
        instructions = facts[f"{kind} instructions per warp"]
        [at] = [n for n, x in enumerate(lines) if x.startswith(f"{kind}: {instructions} per warp")]
        cycles, extra = (
            facts[f"{kind} wavefronts {what}"] for what in ("per instruction", "due to conflicts")
        )
        assert lines[at + 1].startswith(f"  {cycles} wavefront")
        assert lines[at + 1].endswith("conflict-free") == (not extra)
        assert f": {extra} extra " in lines[at + 1] or not extra


@pytest.mark.parametrize("dst", [ROWS, COLUMNS, LINEAR, PERMUTED])
def test_facts_of_a_conversion_are_in_the_text(dst: str) -> None:
    report = _conversion(parse_layout(LINEAR), parse_layout(dst), parse_type(TYPE))
    facts, text = conversion_facts(report), plain_text(report)
    assert f"\n{facts['conversion']}\n" in text
    moved, load = facts["bytes between threads"], facts["wavefronts to load"]
    assert f"\n  moves {moved} bytes between threads\n" in text or moved == "0"
    assert f" to store and {load} to load, per CTA\n" in text or not load


# -- manifests --------------------------------------------------------------------------------


def case(rest: str) -> str:
    """Return a manifest of one case with these lines; the first is line 5."""
    return f"cases:\n- name: a\n  layout: '{ROWS}'\n  type: '{TYPE}'\n{rest}\n"


ROWS64 = ROWS.replace("threadsPerWarp = [4, 8]", "threadsPerWarp = [8, 8]")
COLUMNS64 = COLUMNS.replace("threadsPerWarp = [8, 4]", "threadsPerWarp = [8, 8]")
ROWS2 = ROWS.replace("warpsPerCTA = [4, 1]", "warpsPerCTA = [2, 1]")
RANK1 = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>"
ALIAS = f"defaults: {{file: kernel.mlir, type: {TYPE}}}\ncases:\n- {{name: a, alias: rows, "

RUN_ERRORS = {
    "no layout": (
        case("  with: '#ttg.blokked<{}>'\n  views: [conflicts]"),
        5, 10, "did you mean #ttg.blocked?", "#ttg.blokked",
    ),
    "a wrong layout": (
        case(f"  with: '{SHARED.replace('vec = 8', 'vec = 3')}'\n  views: [conflicts]"),
        5, 38, "vec must be a power of two", "3",
    ),
    "registers twice": (
        case(f"  with: '{ROWS}'\n  views: [conflicts]"),
        5, 9, "bank conflicts need a register layout and a shared layout", f"'{ROWS}'",
    ),
    "registers twice, by alias": (
        f"{ALIAS}with: linear, views: [conflicts]}}",
        3, 32, "a shared layout, got registers and registers", "linear",
    ),
    "no such alias": (
        f"{ALIAS}with: gone, views: [conflicts]}}",
        3, 32, "there is no alias #gone in kernel.mlir; the layouts are #rows", "gone",
    ),
    "an alias without a file": (
        case("  to: rows\n  views: [convert]"),
        5, 7, "to is the alias #rows, but the case has no file; write the attribute", "rows",
    ),
    "a layout that does not fit the type": (
        case(f"  with: '{RANK1}'\n  views: [conflicts]"),
        4, 10, "is for 1 dimension", TYPE,
    ),
    "an unknown target": (
        case(f"  with: '{SHARED}'\n  target: H800\n  views: [conflicts]"),
        6, 11, "unknown target 'H800'", "H800",
    ),
    "a target with other warps": (
        case(f"  with: '{SHARED}'\n  target: gfx942\n  views: [conflicts]"),
        6, 11, "the layout has 32 lanes per warp, but gfx942 has 64", "gfx942",
    ),
    "elements that are no bytes": (
        case(f"  with: '{SHARED}'\n  views: [conflicts]").replace("f16", "i4"),
        4, 10, "elements in shared memory must be whole bytes", "tensor<64x64xi4>",
    ),
    "to shared memory": (
        case(f"  to: '{SHARED}'\n  views: [convert]"),
        5, 7, "expected a layout of a tensor in registers", f"'{SHARED}'",
    ),
    "from shared memory": (
        case(f"  to: '{ROWS2}'\n  views: [convert]").replace(ROWS, SHARED),
        3, 11, "expected a layout of a tensor in registers", f"'{SHARED}'",
    ),
    "from shared memory, by alias": (
        f"{ALIAS.replace('rows', 'shared')}to: rows, views: [convert]}}",
        3, 20, "expected a layout of a tensor in registers", "shared",
    ),
    "to other warps": (
        case(f"  to: '{ROWS2}'\n  views: [convert]"),
        5, 7, "the layouts have 4 and 2 warps", f"'{ROWS2}'",
    ),
    "a conversion for an unknown target": (
        case(f"  to: '{COLUMNS}'\n  target: H800\n  views: [convert]"),
        6, 11, "unknown target 'H800'", "H800",
    ),
    "a conversion for a target with other warps": (
        case(f"  to: '{COLUMNS64}'\n  target: sm80\n  views: [convert]").replace(ROWS, ROWS64),
        6, 11, "sm80 has 32 lanes per warp, but the layouts have 64", "sm80",
    ),
    "an info that does not fit the type": (
        case("  views: [info]").replace("64x64", "64"),
        4, 10, "is for 2 dimensions", "tensor<64xf16>",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RUN_ERRORS)
def test_a_case_that_cannot_be_run_says_where(name: str, folder: Path, run: Run) -> None:
    text, line, column, message, marked = RUN_ERRORS[name]
    Path("layouts.yaml").write_text(text)
    outcome = run("check", "--only", "a")
    assert outcome.status == 2
    _, heading, quote, caret, *_ = outcome.out.splitlines()
    assert heading.startswith(f"  layouts.yaml:{line}:{column}: error: ")
    assert message in heading
    assert marked.startswith(quote[caret.index("^") : len(caret)])


def test_keys_come_from_defaults_and_take_a_matrix(folder: Path, run: Run) -> None:
    Path("layouts.yaml").write_text(f"""\
defaults: {{type: {TYPE}, with: '{SHARED}', views: [conflicts]}}
cases:
- {{name: default, layout: '{ROWS}'}}
- name: many
  layout: '{DOWN}'
  with: '{SHARED.replace("maxPhase = 8", "maxPhase = {phases}")}'
  target: sm{{sm}}
  matrix: {{phases: [1, 8], sm: [80, 90]}}
- {{name: view, layout: '{ROWS}', views: [tensor], slice: '0:1,0:4'}}
""")
    assert run("check", "--update").status == 1, "the earlier goldens have no case"
    goldens = {path.stem: path.read_text() for path in folder.glob("many-*.txt")}
    assert sorted(goldens) == [
        f"many-{phases}-{sm}.conflicts" for phases in (1, 8) for sm in (80, 90)
    ]
    assert "target: sm80" in goldens["many-1-80.conflicts"]
    assert "28 extra wavefronts" in goldens["many-1-90.conflicts"]
    assert "extra wavefronts" not in goldens["many-8-90.conflicts"]
    assert Path("view.tensor.txt").exists()


def test_a_golden_without_a_case_is_found(folder: Path, run: Run) -> None:
    Path("gone.convert.txt").write_text("x")
    outcome = run("check")
    assert outcome.status == 1
    assert "golden without a case: gone.convert (gone.convert.txt)" in outcome.out


def test_reports_for_machines_begin_with_the_cost(folder: Path, run: Run) -> None:
    edit("kernel.mlir", "maxPhase = 8", "maxPhase = 2")
    first = "store wavefronts per warp: was 16, is 64"
    only = ("check", "--only", "load.conflicts", "--format")
    assert json.loads(run(*only, "json").out)["outcomes"][0]["words"][0] == first
    ((failure,),) = ET.fromstring(run(*only, "junit").out)[0]
    assert (failure.get("message") or "").startswith(first)
    annotated = run(*only, "github").out
    where = "file=kernel.mlir,line=2,title=load.conflicts%3A changed"
    assert f"{where}::store wavefronts per warp: " in annotated, "at the alias that changed"


def test_texts_have_no_colours(folder: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    edit("kernel.mlir", "maxPhase = 8", "maxPhase = 1")
    assert run("check", "--update").status == 0
    assert not [path for path in folder.glob("*.txt") if b"\x1b" in path.read_bytes()]


def test_of_a_kernel_only_what_changed_is_said(tmp_path: Path, run: Run) -> None:
    """All that an audit says of a kernel was once said twice, before and after."""
    dump = Path(__file__).parents[2] / "examples" / "kernels" / "softmax-sm90.ttgir"
    text = dump.read_text(encoding="utf-8")
    (tmp_path / "k.ttgir").write_text(text, encoding="utf-8")
    (tmp_path / "layouts.yaml").write_text(
        "cases:\n- {name: k, file: k.ttgir, views: [audit]}\n", encoding="utf-8"
    )
    assert run("check", str(tmp_path / "layouts.yaml"), "--update").status == 0
    other = text.replace("%stride: i32 {tt.divisibility = 16 : i32}", "%stride: i32")
    (tmp_path / "k.ttgir").write_text(other, encoding="utf-8")
    checked = run("check", str(tmp_path / "layouts.yaml"))
    [said] = [line for line in checked.out.splitlines() if ": was " in line]
    was, _, becomes = said.partition(": was ")[2].partition(", is ")
    assert was != becomes
    assert not set(was.split("; ")) & set(becomes.split("; "))
