"""``tt-layout check`` and ``tt-layout init``: what is found, how it is named, what is left."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pytest
import yaml
from command import Outcome, Run, runner
from tiers import sampled
from work import calls_of

from tt_layout.encodings.alias_table import AliasTable
from tt_layout.golden import runner as golden_runner
from tt_layout.golden.facts import SAME_FACTS, differences
from tt_layout.golden.manifest import read_manifest
from tt_layout.golden.report import MAX_ALIGNED, MAX_LINES, WIDTH, cut_diff
from tt_layout.golden.runner import run_checks
from tt_layout.mlir.aliases import FileDefinitions
from tt_layout.mlir.source import read_source

EXAMPLES = Path(__file__).parents[2] / "examples"
GOLDENS = Path(__file__).parents[1] / "goldens"

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)
SWIZZLED = "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>"
LINEAR = (
    "#ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], "
    "warp = [[8, 0]], block = []}>"
)
MANIFEST = f"""\
defaults: {{type: tensor<16x16xf16>, views: [tensor, hardware]}}
cases:
- name: blocked
  layout: '{BLOCKED}'
- name: swizzled
  layout: '{SWIZZLED}'
- name: linear
  layout: '{LINEAR}'
- name: file
  file: kernel.mlir
  alias: kept
"""


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: a manifest whose golden files are as printed."""
    monkeypatch.chdir(tmp_path)
    Path("kernel.mlir").write_text(f"#kept = {BLOCKED}\n#other = {SWIZZLED}\n")
    Path("layouts.yaml").write_text(MANIFEST)
    assert run("check", "--update").status == 0
    assert run("check") == Outcome(0, "8 passed\n", "")
    return tmp_path


def edit(name: str, old: str, new: str) -> Callable[[], None]:
    def apply() -> None:
        content = Path(name).read_bytes()
        assert old.encode() in content
        Path(name).write_bytes(content.replace(old.encode(), new.encode()))

    return apply


def remove(name: str) -> Callable[[], None]:
    return lambda: Path(name).unlink()


def write(name: str, content: bytes) -> Callable[[], None]:
    def apply() -> None:
        Path(name).write_bytes(content)

    return apply


def both(*plants: Callable[[], None]) -> Callable[[], None]:
    def apply() -> None:
        for plant in plants:
            plant()

    return apply


MANIFEST_EDIT = "layouts.yaml"
UNEXPLAINED = "layouts.facts.json does not say what this "
PLANTED: dict[str, tuple[Callable[[], None], int, dict[str, tuple[str, ...]]]] = {
    "a parameter": (
        edit(MANIFEST_EDIT, "sizePerThread = [1, 2]", "sizePerThread = [1, 4]"),
        1,
        {
            "changed: blocked.tensor (layouts.yaml:3)": (
                "of 256 elements move",
                "registers per thread",
                "sizePerThread: was [1, 2], is [1, 4]",
            ),
            "changed: blocked.hardware (layouts.yaml:3)": ("sizePerThread: was [1, 2]",),
        },
    ),
    "an order": (
        edit(MANIFEST_EDIT, "[4, 1], order = [1, 0]", "[4, 1], order = [0, 1]"),
        1,
        {
            "changed: blocked.tensor": ("of 256 elements move", "order: was [1, 0], is [0, 1]"),
            "changed: blocked.hardware": ("order: was [1, 0], is [0, 1]",),
        },
    ),
    "a swizzle": (
        edit(MANIFEST_EDIT, "maxPhase = 4", "maxPhase = 2"),
        1,
        {
            "changed: swizzled.tensor": (
                "offset bit 5 was (2, 4), is (2, 0)",
                "128 of 256 elements move",
                "first: (2, 0) was offset 36, is offset 32",
                "maxPhase: was 4, is 2",
            ),
            "changed: swizzled.hardware": ("offset bit 5 was (2, 4), is (2, 0)",),
        },
    ),
    "a register order only": (
        edit(MANIFEST_EDIT, "register = [[0, 1], [0, 2]]", "register = [[0, 2], [0, 1]]"),
        1,
        {
            "changed: linear.tensor": (
                "register bits 0 and 1 swapped",
                "128 of 256 elements move",
                "first: (0, 1) was T0:1, is T0:2",
                "registers per thread unchanged",
                "only the order of registers differs",
            ),
            "changed: linear.hardware": ("register bits 0 and 1 swapped",),
        },
    ),
    "a lane order": (
        edit(MANIFEST_EDIT, "[0, 8], [1, 0]", "[1, 0], [0, 8]"),
        1,
        {
            "changed: linear.tensor": (
                "lane bits 1 and 2 swapped",
                "128 of 256 elements move",
                "first: (0, 8) was T2:0, is T4:0",
            ),
            "changed: linear.hardware": ("lane bits 1 and 2 swapped",),
        },
    ),
    "a type": (
        edit(MANIFEST_EDIT, "tensor<16x16xf16>", "tensor<32x16xf16>"),
        1,
        {
            f"changed: {name}.{view}": ("type: was tensor<16x16xf16>, is tensor<32x16xf16>",)
            for name in ("blocked", "swizzled", "linear", "file")
            for view in ("tensor", "hardware")
        },
    ),
    "a layout of another memory": (
        edit(MANIFEST_EDIT, SWIZZLED, BLOCKED),
        1,
        {
            f"changed: swizzled.{view}": (
                "memory: was shared memory, is registers",
                "attribute: was #ttg.swizzled_shared, is #ttg.blocked",
            )
            for view in ("tensor", "hardware")
        },
    ),
    "another alias of the same layout": (
        edit("kernel.mlir", "#other = ", f"#moved = {BLOCKED}\n#other = "),
        0,
        {},
    ),
    "an alias in the file": (
        edit("kernel.mlir", "threadsPerWarp = [4, 8]", "threadsPerWarp = [8, 4]"),
        1,
        {
            "changed: file.tensor (layouts.yaml:9)": ("threadsPerWarp: was [4, 8], is [8, 4]",),
            "changed: file.hardware": ("threadsPerWarp: was [4, 8], is [8, 4]",),
        },
    ),
    "a spelling only": (
        edit(MANIFEST_EDIT, SWIZZLED, SWIZZLED.replace("ttg.swizzled_shared", "triton_gpu.shared")
             .replace("}>", ", hasLeadingOffset = false}>")),
        1,
        {
            f"changed: swizzled.{view}": (
                "the attribute is written differently, the map is the same",
            )
            for view in ("tensor", "hardware")
        },
    ),
    "a slice": (
        edit(MANIFEST_EDIT, f"'{LINEAR}'", f"'{LINEAR}'\n  slice: '0:4,0:4'"),
        1,
        {"changed: linear.tensor": ("slice: was none, is 0:4,0:4",)},
    ),
    "a deleted golden": (
        remove("linear.tensor.txt"),
        1,
        {"no golden: linear.tensor (layouts.yaml:7)": ("the case has no golden file",)},
    ),
    "a case without golden": (
        edit(MANIFEST_EDIT, "- name: file", f"- {{name: new, layout: '{LINEAR}'}}\n- name: file"),
        1,
        {
            "no golden: new.tensor (layouts.yaml:9)": ("the case has no golden file",),
            "no golden: new.hardware": ("the case has no golden file",),
        },
    ),
    "a golden without a case": (
        write("gone.hardware.txt", b"x"),
        1,
        {
            "golden without a case: gone.hardware (gone.hardware.txt)": (
                "no case of the manifest owns this golden file",
            )
        },
    ),
    "an edited golden": (
        edit("blocked.tensor.txt", "T9:1", "T5:1"),
        1,
        {
            "changed: blocked.tensor": (
                "layouts.facts.json does not say what this blocked.tensor.txt was made from; "
                "--update writes it, and explains the next change",
            )
        },
    ),
    "a golden that is not text": (
        write("blocked.tensor.txt", b"\xff\x00"),
        1,
        {"changed: blocked.tensor": (UNEXPLAINED,)},
    ),
    "an empty golden": (
        write("blocked.tensor.txt", b""),
        1,
        {"changed: blocked.tensor": (UNEXPLAINED,)},
    ),
    "no line end": (
        edit("swizzled.tensor.txt", ")]]\n", ")]]"),
        1,
        {"changed: swizzled.tensor": (UNEXPLAINED,)},
    ),
    "another alias": (
        both(
            edit(MANIFEST_EDIT, "alias: kept", "alias: same"),
            edit("kernel.mlir", "#other = ", f"#same = {BLOCKED}\n#other = "),
        ),
        1,
        {
            f"changed: file.{view}": ("alias: was #kept, is #same",)
            for view in ("tensor", "hardware")
        },
    ),
    "CRLF": (
        edit("swizzled.hardware.txt", "\n", "\r\n"),
        1,
        {"changed: swizzled.hardware": ("the golden has CRLF line endings",)},
    ),
    "CRLF and an edit": (
        both(
            edit("swizzled.hardware.txt", "-> ( 0, 1)", "-> ( 1, 1)"),
            edit("swizzled.hardware.txt", "\n", "\r\n"),
        ),
        1,
        {
            "changed: swizzled.hardware": (
                "the golden has CRLF line endings",
                "layouts.facts.json does not say what this swizzled.hardware.txt was made from",
            )
        },
    ),
    "a case that cannot be run": (
        edit(MANIFEST_EDIT, "vec = 2", "vec = 3"),
        2,
        {
            f"cannot be run: swizzled.{view} (layouts.yaml:5)": ("layouts.yaml:6:",)
            for view in ("tensor", "hardware")
        },
    ),
    "an alias that is gone": (
        edit("kernel.mlir", "#kept", "#renamed"),
        2,
        {
            f"cannot be run: file.{view}": (
                "layouts.yaml:11:10: error: there is no alias #kept in kernel.mlir; "
                "the layouts are #renamed, #other",
            )
            for view in ("tensor", "hardware")
        },
    ),
    "an empty manifest": (write("layouts.yaml", b"cases: []\n"), 2, {}),
}  # fmt: skip


def parts(report: str) -> dict[str, list[str]]:
    """Return the indented lines under each heading of a text report."""
    found: dict[str, list[str]] = {}
    for line in report.splitlines():
        if line.startswith("  "):
            found[list(found)[-1]].append(line[2:])
        elif re.match(r"[a-z ]+: [\w.]+ \(.*\)$", line):
            found[line] = []
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(PLANTED, 3))
def test_a_planted_change_is_found_and_named(name: str, folder: Path, run: Run) -> None:
    plant, status, expected = PLANTED[name]
    plant()
    outcome = run("check")
    assert outcome.status == status, outcome.out + outcome.err
    found = parts(outcome.out)
    named = {heading: "\n".join(lines) for heading, lines in found.items()}
    for start, words in expected.items():
        # What is one change of one layout is shown once, with the names of the others.
        others = f"the same change: {start.partition(': ')[2].partition(' ')[0]}"
        said = next(text for own, text in named.items() if own.startswith(start) or others in text)
        assert [word for word in words if word not in said] == []
    assert len(found) <= len(expected)


def test_the_meaning_comes_first_then_a_short_diff_then_how_to_accept(
    folder: Path, run: Run
) -> None:
    edit("layouts.yaml", "[0, 8], [1, 0]", "[1, 0], [0, 8]")()
    lines = run("check", "--only", "linear.tensor").out.splitlines()
    words = "lane bits 1 and 2 swapped; 128 of 256 elements move; first: (0, 8) was T2:0, is T4:0"
    assert lines[1].startswith(f"  {words}; registers per thread unchanged")
    assert lines[3:5] == ["  --- linear.tensor.txt", "  +++ linear.tensor.txt.new"]
    assert lines[5] == "  @@ -1,4 +1,4 @@"
    assert [line[2] for line in lines[6:14]] == ["-"] * 4 + ["+"] * 4
    assert "T2:0,  T2:1" in lines[7]
    assert "T4:0,  T4:1" in lines[11]
    assert lines[14:] == [
        "  13 more lines differ",
        "",
        "accept with: tt-layout check --only linear.tensor --update",
        "",
        "1 changed",
    ]


def test_goldens_are_what_the_command_prints(folder: Path, run: Run) -> None:
    type_ = ("-t", "tensor<16x16xf16>")
    printed = run("-l", BLOCKED, *type_).out
    assert Path("blocked.tensor.txt").read_text() == printed
    printed = run("-l", BLOCKED, *type_, "--use-hw-view").out
    assert Path("blocked.hardware.txt").read_text() == printed
    printed = run("-i", "kernel.mlir", "--alias-names", "kept", *type_).out
    assert Path("file.tensor.txt").read_text() == printed


def test_slices_ranges_and_releases_are_those_of_the_command(folder: Path, run: Run) -> None:
    Path("layouts.yaml").write_text(f"""\
cases:
- name: part
  layout: '{BLOCKED}'
  type: tensor<16x16xf16>
  views: [tensor, hardware]
  slice: '0:2,:'
  lane: 3
  warp: 1:3
  triton: 3.5
""")
    assert run("check", "--update", "--only", "part").status == 0
    options = ("-l", BLOCKED, "-t", "tensor<16x16xf16>", "--triton", "3.5")
    assert Path("part.tensor.txt").read_text() == run(*options, "--slice", "0:2,:").out
    ranges = ("--use-hw-view", "--lane", "3", "--warp", "1:3")
    assert Path("part.hardware.txt").read_text() == run(*options, *ranges).out


def test_a_mismatch_writes_new_and_passing_removes_it(folder: Path, run: Run) -> None:
    golden = Path("blocked.tensor.txt")
    right = golden.read_bytes()
    edit(golden.name, "T9:1", "T5:1")()
    edited = golden.read_bytes()
    assert run("check").status == 1
    assert golden.read_bytes() == edited
    assert Path("blocked.tensor.txt.new").read_bytes() == right
    golden.write_bytes(right)
    assert run("check").status == 0
    assert list(folder.glob("*.new")) == []


def test_update_accepts_and_leaves_nothing_else(folder: Path, run: Run) -> None:
    edit("layouts.yaml", "maxPhase = 4", "maxPhase = 2")()
    Path("gone.tensor.txt").write_text("x")
    assert run("check").status == 1
    before = sorted(path.name for path in folder.iterdir() if path.suffix != ".new")
    outcome = run("check", "--update")
    assert outcome.status == 1, "the orphan is still there"
    assert "2 written" in outcome.out
    assert sorted(path.name for path in folder.iterdir()) == before
    Path("gone.tensor.txt").unlink()
    assert run("check").status == 0


@pytest.mark.slow
@pytest.mark.parametrize(("value", "status"), [("true", 2), ("1", 2), ("", 0), ("false", 0)])
def test_update_is_refused_in_ci(
    value: str, status: int, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove("blocked.tensor.txt")()
    monkeypatch.setenv("CI", value)
    outcome = run("check", "--update")
    assert outcome.status == status
    assert Path("blocked.tensor.txt").exists() == (status == 0)
    if status:
        assert "--update is refused if CI is set" in outcome.err
        assert run("check", "--update", "--force").status == 0
        assert Path("blocked.tensor.txt").exists()


def test_only_picks_and_list_lists(folder: Path, run: Run) -> None:
    remove("blocked.tensor.txt")()
    Path("gone.tensor.txt").write_text("x")
    assert run("check", "--only", "sw*", "--only", "*.hardware").out == "5 passed\n"
    listed = run("check", "--list", "--only", "linear")
    assert listed == Outcome(
        0, "linear.tensor  layouts.yaml:7\nlinear.hardware  layouts.yaml:7\n", ""
    )
    nothing = run("check", "--only", "x*")
    assert (nothing.status, nothing.out) == (2, "")
    assert "no case matches --only 'x*'" in nothing.err


def test_manifests_of_one_folder_own_their_goldens(folder: Path, run: Run) -> None:
    text = f"cases:\n- {{name: mine, layout: '{LINEAR}', type: tensor<16x16xf16>}}\n"
    Path("other.layouts.yaml").write_text(text)
    assert run("check", "other.layouts.yaml", "--update").status == 0
    assert run("check", "other.layouts.yaml").status == 0
    assert run("check").status == 0
    remove("other.layouts.yaml")()
    assert "golden without a case: mine.tensor" in run("check").out


def test_a_broken_manifest_beside_another_may_own_any_golden(folder: Path, run: Run) -> None:
    Path("mine.tensor.txt").write_text("x")
    Path("other.layouts.yaml").write_text("cases: [")
    assert run("check") == Outcome(0, "8 passed\n", "")
    assert run("check", "other.layouts.yaml").status == 2


@pytest.mark.parametrize("form", ["json", "junit"])
def test_a_report_for_programs_says_why_a_manifest_cannot_be_read(
    folder: Path, run: Run, form: str
) -> None:
    Path("layouts.yaml").write_text("cases: [")
    outcome = run("check", "--format", form)
    assert outcome.status == 2
    assert "layouts.yaml" in outcome.err
    if form == "json":
        report = json.loads(outcome.out)
        assert (report["status"], report["counts"]["error"]) == (2, 1)
    else:
        assert ET.fromstring(outcome.out).find(".//error") is not None


def test_a_report_names_the_manifest_that_cannot_be_read(folder: Path, run: Run) -> None:
    Path("broken.yaml").write_text("cases: [")
    [outcome] = json.loads(run("check", "layouts.yaml", "broken.yaml", "--format", "json").out)[
        "outcomes"
    ]
    assert (outcome["state"], outcome["golden"]) == ("error", "broken.yaml")


# -- what golden files were made from -------------------------------------------------------

FACTS = Path("layouts.facts.json")


def test_facts_are_a_line_for_each_golden_file_in_order(folder: Path, run: Run) -> None:
    text = FACTS.read_text()
    known = json.loads(text)
    assert list(known) == sorted(path.stem for path in folder.glob("*.txt"))
    assert text.count("\n") == len(known) + 2
    assert known["file.tensor"][1] == {
        "type": "tensor<16x16xf16>", "attribute": BLOCKED, "alias": "#kept",
    }  # fmt: skip
    changed = FACTS.stat().st_mtime_ns
    assert run("check", "--update").status == 0
    assert FACTS.stat().st_mtime_ns == changed, "it is not written where nothing changed"


def test_an_update_of_some_keeps_what_is_known_of_others(folder: Path, run: Run) -> None:
    edit("layouts.yaml", "maxPhase = 4", "maxPhase = 2")()
    edit("layouts.yaml", f"- name: linear\n  layout: '{LINEAR}'\n", "")()
    before = json.loads(FACTS.read_text())
    assert run("check", "--update", "--only", "swizzled.tensor").status == 0
    after = json.loads(FACTS.read_text())
    assert before.keys() - after.keys() == {"linear.tensor", "linear.hardware"}
    assert [name for name in after if after[name] != before[name]] == ["swizzled.tensor"]
    assert "maxPhase: was 4, is 2" in run("check", "--only", "swizzled.hardware").out


DAMAGES = ("", "[", "[]", "{}", '{"swizzled.tensor": 5}', "\x00", "[" * 9999)


@pytest.mark.slow
@pytest.mark.parametrize("damage", sampled(DAMAGES, 4))
def test_without_facts_the_lines_are_shown_and_how_to_know_more(
    damage: str, folder: Path, run: Run
) -> None:
    """Golden files that are older than facts, and facts that were merged wrongly."""
    FACTS.write_text(damage)
    edit("layouts.yaml", "maxPhase = 4", "maxPhase = 2")()
    lines = run("check", "--only", "swizzled.tensor").out.splitlines()
    assert lines[1].startswith(f"  {UNEXPLAINED}swizzled.tensor.txt was made from; --update")
    assert lines[2] == "  --- swizzled.tensor.txt"
    edit("layouts.yaml", "maxPhase = 2", "maxPhase = 4")()
    assert run("check", "--update", "--only", "linear").out == "2 passed\n"
    assert run("check", "--update").out == "8 passed\n"
    edit("layouts.yaml", "maxPhase = 4", "maxPhase = 2")()
    assert "maxPhase: was 4, is 2" in run("check").out


@pytest.mark.slow
@pytest.mark.parametrize("kind", sampled(["link", "folder", "socket", "itself", "pipe"], 4))
def test_a_file_of_facts_that_is_none_is_not_read_and_not_replaced(
    kind: str, folder: Path, run: Run
) -> None:
    FACTS.unlink()
    if kind == "link":
        (folder.parent / "secret.json").write_text("{}")
        FACTS.symlink_to(folder.parent / "secret.json")
    else:
        make_special(kind, FACTS)
    edit("layouts.yaml", "maxPhase = 4", "maxPhase = 2")()
    assert UNEXPLAINED in run("check").out
    outcome = run("check", "--update")
    assert outcome.status == 2
    assert outcome.err.startswith("layouts.facts.json: error: cannot write: ")


def test_what_another_version_printed_is_told_from_a_change(folder: Path, run: Run) -> None:
    edit("blocked.tensor.txt", "T9:1", "T5:1")()
    known = json.loads(FACTS.read_text())
    known["blocked.tensor"][0] = blake2b(
        Path("blocked.tensor.txt").read_bytes(), digest_size=8
    ).hexdigest()
    FACTS.write_text(json.dumps(known))
    assert f"  {SAME_FACTS}\n  --- blocked.tensor.txt\n" in run("check").out


def test_layouts_of_facts_are_compared_key_by_key_where_they_can_be_read() -> None:
    packed = "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8"
    was, now = ({"to": f"{packed}{more}}}>"} for more in ("", ", fp4Padded = true"))
    assert differences(was, now) == ("to: fp4Padded: was absent, is true",)
    gone = "#ttg.gone<{}>"
    for old, new in ((gone, BLOCKED), (BLOCKED, gone)):
        said = differences({"attribute": old}, {"attribute": new})
        assert said == (f"attribute: was {old}, is {new}",)


def test_a_change_of_the_release_is_said(folder: Path, run: Run) -> None:
    """From 3.9 on a tensor smaller than the tile takes fewer registers."""
    narrow = "threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
    Path("layouts.yaml").write_text(
        f"cases:\n- {{name: a, layout: '#ttg.blocked<{{sizePerThread = [4], {narrow}',"
        " type: 'tensor<2xf16>', triton: 3.8}\n"
    )
    run("check", "--update")
    edit("layouts.yaml", "[4], threads", "[2], threads")()
    assert "registers per thread: 4, now 2;" in run("check", "--only", "a").out
    edit("layouts.yaml", "[2], threads", "[4], threads")()
    edit("layouts.yaml", "3.8", "3.9")()
    assert "\n  triton: was 3.8, is 3.9\n" in run("check", "--only", "a").out


def test_included_manifests_have_their_own_facts(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("below").mkdir()
    Path("layouts.yaml").write_text("include: [below/x.layouts.yaml]\n")
    case = f"cases:\n- {{name: a, layout: '{BLOCKED}', type: 'tensor<4x4xf16>'}}\n"
    Path("below/x.layouts.yaml").write_text(case)
    assert run("check", "--update").status == 0
    assert sorted(path.name for path in tmp_path.rglob("*.json")) == ["x.layouts.facts.json"]
    edit("below/x.layouts.yaml", "4x4", "8x4")()
    assert "type: was tensor<4x4xf16>, is tensor<8x4xf16>" in run("check").out
    assert "type: was tensor<4x4xf16>" in run("check", "below/x.layouts.yaml").out


def test_our_own_goldens_have_facts() -> None:
    known = json.loads((GOLDENS / FACTS).read_text())
    checks = read_manifest(str(GOLDENS / "layouts.yaml")).checks
    digests = {c.id: blake2b(c.golden.read_bytes(), digest_size=8).hexdigest() for c in checks}
    hint = "tt-layout check tests/goldens/layouts.yaml --update"
    assert {name: digest for name, (digest, _) in known.items()} == digests, hint


# -- formats --------------------------------------------------------------------------------


@pytest.fixture
def broken(folder: Path) -> Path:
    """Return the folder with a finding of each kind."""
    edit("layouts.yaml", "maxPhase = 4", "maxPhase = 2")()
    edit("layouts.yaml", "alias: kept", "alias: gone")()
    edit("blocked.hardware.txt", "Warp0", "War\x1bp,0%")()
    remove("linear.tensor.txt")()
    Path("gone.tensor.txt").write_text("x")
    return folder


STATES = {
    "blocked.tensor": "passed",
    "blocked.hardware": "changed",
    "swizzled.tensor": "changed",
    "swizzled.hardware": "changed",
    "linear.tensor": "missing",
    "linear.hardware": "passed",
    "file.tensor": "error",
    "file.hardware": "error",
    "gone.tensor": "orphan",
}


def test_json(broken: Path, run: Run) -> None:
    outcome = run("check", "--format", "json")
    assert (outcome.status, outcome.err) == (2, "")
    report = json.loads(outcome.out)
    assert (report["version"], report["manifest"], report["status"]) == (1, "layouts.yaml", 2)
    assert report["counts"] == {
        "passed": 2, "written": 0, "changed": 3, "missing": 1, "orphan": 1, "error": 2,
        "exceeded": 0,
    }  # fmt: skip
    found = report["outcomes"]
    assert {Path(one["golden"]).stem: one["state"] for one in found} == STATES
    swizzled = found[2]
    assert (swizzled["name"], swizzled["kind"], swizzled["line"]) == ("swizzled", "tensor", 5)
    assert swizzled["words"][1] == "maxPhase: was 4, is 2"
    assert swizzled["new"] == "swizzled.tensor.txt.new"
    assert swizzled["diff"][0] == "--- swizzled.tensor.txt"
    assert found[-1]["name"] is None
    assert "there is no alias #gone" in found[6]["error"]


def test_junit(broken: Path, run: Run) -> None:
    outcome = run("check", "--format", "junit", "-o", "report.xml")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith("2 passed, 3 changed")
    (suite,) = ET.parse("report.xml").getroot()
    assert {k: suite.get(k) for k in ("tests", "failures", "errors", "skipped")} == {
        "tests": "9", "failures": "5", "errors": "2", "skipped": "0",
    }  # fmt: skip
    states = {}
    for case in suite:
        result = next(iter(case), None)
        states[case.get("name")] = "passed" if result is None else result.get("type")
        if result is not None:
            assert result.tag == ("error" if result.get("type") == "error" else "failure")
    assert states == STATES
    assert suite[1][0].text is not None
    assert "War?p,0%" in suite[1][0].text
    assert suite[2].get("line") == "5"


def test_control_characters_reach_no_report(folder: Path, run: Run) -> None:
    edit("layouts.facts.json", "#kept", "#ke\\u001bt")()
    PLANTED["another alias"][0]()
    assert "alias: was #ke?t, is #same" in run("check").out
    assert "alias: was #ke?t, is #same" in run("check", "--format", "github").out
    report = run("check", "--format", "junit").out
    assert "alias: was #ke\ufffdt, is #same" in report
    assert len(ET.fromstring(report)[0]) == 8


def unescaped(text: str) -> str:
    """Undo GitHub's escapes, as its runner does."""
    for code, character in (("0D", "\r"), ("0A", "\n"), ("3A", ":"), ("2C", ","), ("25", "%")):
        text = text.replace(f"%{code}", character)
    return text


def test_github(broken: Path, run: Run) -> None:
    outcome = run("check", "--format", "github")
    assert outcome.status == 2
    *lines, counts = outcome.out.splitlines()
    assert counts.startswith("2 passed, 3 changed")
    found = {}
    for line in lines:
        match = re.fullmatch(r"::error ([^:]*)::([^\r\n]*)", line)
        assert match is not None
        options = dict(part.split("=") for part in match[1].split(","))
        found[unescaped(options["title"])] = options, unescaped(match[2])
    options, message = found["swizzled.tensor: changed"]
    assert (options["file"], options["line"]) == ("layouts.yaml", "5")
    assert message.splitlines()[1] == "maxPhase: was 4, is 2"
    assert "War?p,0%" in found["blocked.hardware: changed"][1]
    options, _ = found["gone.tensor: golden without a case"]
    assert (options["file"], "line" in options) == ("gone.tensor.txt", False)
    assert len(found) == 7


def test_github_annotates_an_error_of_the_manifest(folder: Path, run: Run) -> None:
    edit("layouts.yaml", "alias: kept", "alais: kept")()
    outcome = run("check", "--format", "github")
    assert outcome.status == 2
    assert outcome.out.startswith("::error file=layouts.yaml,line=11,title=manifest::a case has no")


def test_a_diff_is_short_whatever_differs() -> None:
    old = "".join(f"{n:05d}{'x' * 5000}\n" for n in range(300))
    lines = cut_diff(old, old.replace("x" * 2000, "y" * 2000), "a", "b")
    assert len(lines) == 2 + 1 + 2 * MAX_LINES + 1
    assert max(map(len, lines)) <= WIDTH + 8
    assert lines[-1] == f"{300 - MAX_LINES} more lines differ"


def test_lines_that_moved_do_not_differ_in_a_short_text() -> None:
    old = "store\none\nload\none\ntarget\n"
    new = "store\ntwo\nwhy\nload\none\ntarget\n"
    assert cut_diff(old, new, "a", "b")[2:] == ["@@ -2 +2,2 @@", "-one", "+two", "+why"]
    assert cut_diff(new, old, "a", "b")[2:] == ["@@ -2,2 +2 @@", "-two", "-why", "+one"]
    assert cut_diff("a\nc\n", "a\nb\nc\n", "a", "b")[2:] == ["@@ -1,0 +2 @@", "+b"]
    long = "line\n" * MAX_ALIGNED
    assert cut_diff(long, f"new\n{long}", "a", "b")[2:4] == ["@@ -1 +1 @@", "-line"]


# -- interruption, speed, processes ---------------------------------------------------------


@pytest.mark.slow
def test_processes_that_run_cases_leave_interrupts_to_the_first() -> None:
    """^C reaches all of them; the first reports it, though it came while they were started.

    A process of its own: only a main thread hears interrupts, and tests may run in others.
    """
    program = (
        "import os, signal, subprocess, sys\n"
        "from tt_layout.golden import runner\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "ended = 'import os, signal; os.kill(os.getpid(), signal.SIGINT); print(True)'\n"
        "try:\n"
        "    with runner.held_interrupts():\n"
        "        subprocess.run([sys.executable, '-c', ended], check=True)\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        print('held', flush=True)\n"
        "except KeyboardInterrupt:\n"
        "    print('told')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout == b"True\nheld\ntold\n"


def many_cases(count: int, size: int, order: str) -> str:
    layouts = [
        f"#ttg.blocked<{{sizePerThread = [1, {1 << n % 4}], threadsPerWarp = [4, 8], "
        f"warpsPerCTA = [{1 << n // 4 % 4}, 1], order = [{order}]}}>"
        for n in range(count)
    ]
    cases = [f"- {{name: c{n}, layout: '{text}'}}\n" for n, text in enumerate(layouts)]
    return f"defaults: {{type: tensor<{size}x{size}xf16>}}\ncases:\n" + "".join(cases)


@pytest.mark.slow
def test_a_case_more_is_little_work(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten milliseconds a case are some ten thousand calls."""
    monkeypatch.chdir(tmp_path)
    work = {}
    for count in (10, 25):
        Path("layouts.yaml").write_text(many_cases(count, 64, "1, 0"))
        assert run("check", "--update").status == 0
        outcomes: list[Outcome] = []
        work[count] = calls_of(lambda: outcomes.append(run("check")))  # noqa: B023
        assert outcomes[0].out == f"{count} passed\n"
    assert work[25] - work[10] < 15 * 10_000


@pytest.mark.slow
def test_processes_give_the_same_outcomes(broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = read_manifest("layouts.yaml").checks
    serial = list(run_checks(checks))
    monkeypatch.setattr(golden_runner, "TRIAL_SECONDS", -1.0)
    monkeypatch.setattr(golden_runner, "SHARED_SECONDS", -1.0)
    shared = list(run_checks(checks, jobs=2))
    assert [str(outcome.error) for outcome in shared] == [str(one.error) for one in serial]
    assert [(one.state, one.words, one.after) for one in shared] == [
        (one.state, one.words, one.after) for one in serial
    ]


@pytest.mark.slow
def test_our_own_goldens_pass(run: Run) -> None:
    outcome = run("check", str(GOLDENS / "layouts.yaml"))
    assert (outcome.status, outcome.err) == (0, "")


# -- init -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sampled(sorted(EXAMPLES.glob("*.mlir")), 4), ids=lambda path: path.stem
)
def test_init_writes_a_manifest_that_checks(
    path: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kernel.mlir").write_bytes(path.read_bytes())
    outcome = run("init", "kernel.mlir")
    assert outcome.status == 0
    assert outcome.out.startswith("wrote layouts.yaml: ")
    written = yaml.safe_load(Path("layouts.yaml").read_text())["cases"]
    cases = [case for case in written if "alias" in case]
    left_out = Path("layouts.yaml").read_text().count(" is left out: ")
    source = read_source("kernel.mlir")
    table = AliasTable(source, FileDefinitions(source))
    assert len(cases) + left_out == len(table.layout_names())
    assert run("check").status == 1
    assert run("check", "--update").status == 0
    assert run("check").status == 0


def test_init_with_a_type_leaves_out_what_does_not_fit_it(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rank1 = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>"
    Path("kernel.mlir").write_text(f"#a = {BLOCKED}\n#b$ = {rank1}\n#no = {BLOCKED}\n")
    assert run("init", "kernel.mlir", "-t", "tensor<8x8xf16>", "-o", "x.yaml").status == 0
    text = Path("x.yaml").read_text()
    assert "type: tensor<8x8xf16>" in text
    assert "# #b$ is left out: #ttg.swizzled_shared is for 1 dimension" in text
    assert [case["name"] for case in yaml.safe_load(text)["cases"]] == ["a", "no"]
    assert run("check", "x.yaml", "--update").status == 0


def test_init_offers_every_kind_that_a_layout_alone_has(folder: Path, run: Run) -> None:
    wanted = ("--view", "info", "--view", "tensor", "--view", "info")
    assert run("init", "kernel.mlir", *wanted, "-o", "x.layouts.yaml").status == 0
    assert "  views: [info, tensor]\n" in Path("x.layouts.yaml").read_text()
    assert run("check", "x.layouts.yaml", "--update").status == 0
    assert Path("other.info.txt").read_text().startswith(f"{SWIZZLED}\n")
    assert "'conflicts' is not one of" in run("init", "kernel.mlir", "--view", "conflicts").err


def test_init_refuses(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (tmp_path / "x.mlir").write_text(f"#a = {BLOCKED}")
    Path("y.mlir").write_text(f"#a = {BLOCKED}")
    Path("empty.mlir").write_text("module {}")
    assert "inside the manifest's folder" in run("init", "../x.mlir").err
    assert "no alias in the file is a layout" in run("init", "empty.mlir").err
    assert "needs the name of a file" in run("init", "-").err
    assert "no layout of the file fits" in run("init", "y.mlir", "-t", "tensor<8xf16>").err
    assert not Path("layouts.yaml").exists()
    assert run("init", "y.mlir").status == 0
    again = run("init", "y.mlir")
    assert again.status == 2
    assert "--force replaces it" in again.err
    assert run("init", "y.mlir", "--force").status == 0


# -- the guide ------------------------------------------------------------------------------


def test_the_guide_shows_what_happens(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    guide = (Path(__file__).parents[2] / "docs" / "check.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", guide, re.M | re.S)
    files = [text for kind, text in blocks if kind == "mlir"]
    files += [text for kind, text in blocks if kind == "yaml" and "tile.mlir" in text]
    for name, text in zip(("kernel.mlir", "tile.mlir", "costs.layouts.yaml"), files, strict=True):
        Path(name).write_text(text)
    steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(
        text for kind, text in blocks if kind == "console"
    ), re.M)  # fmt: skip
    assert len(steps) == 10
    for line, output in steps:
        program, *arguments = shlex.split(line)
        if program == "sed":
            subprocess.run([program, *arguments], check=True)
            continue
        outcome = run(*arguments)
        assert outcome.out == output
        assert outcome.status == (1 if "changed" in output else 0)


def test_the_guides_manifest_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    guide = (Path(__file__).parents[2] / "docs" / "check.md").read_text(encoding="utf-8")
    text = next(t for t in re.findall(r"^```yaml\n(.*?)^```$", guide, re.M | re.S) if "cases:" in t)
    Path("attention").mkdir()
    Path("attention/layouts.yaml").write_text(f"cases:\n- {{name: x, layout: '{LINEAR}', type: t}}")
    Path("kernel.mlir").write_text(f"#a = {BLOCKED}")
    Path("layouts.yaml").write_text(text)
    checks = read_manifest("layouts.yaml").checks
    outcomes = {outcome.id: outcome.state for outcome in run_checks(checks)}
    assert [name for name in outcomes if name.startswith("swizzle")] == [
        f"swizzle-{shape}-{vec}.{view}"
        for shape in ("16x16", "64x64")
        for vec in (2, 4)
        for view in ("tensor", "hardware")
    ]
    known = {name for name, state in outcomes.items() if state != "missing"}
    assert known == {"attention/x.tensor"}


# -- hostile folders --------------------------------------------------------------------------


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder within another, with a manifest of one case."""
    (tmp_path / "secret").write_text("a secret\n")
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    Path("layouts.yaml").write_text(
        f"cases:\n  - name: a\n    layout: '{BLOCKED}'\n    type: tensor<4x4xf16>\n"
        "    views: [tensor]\n"
    )
    return inside


def test_what_was_printed_never_goes_through_a_link(one: Path, run: Run) -> None:
    Path("a.tensor.txt").write_text("old\n")
    Path("a.tensor.txt.new").symlink_to("../secret")
    assert run("check").status == 1
    assert (one.parent / "secret").read_text() == "a secret\n"
    assert not Path("a.tensor.txt.new").is_symlink()
    assert "Print layout" in Path("a.tensor.txt.new").read_text()


@pytest.mark.parametrize("options", [(), ("--update",)])
def test_a_golden_that_is_a_link_out_of_the_folder_is_refused(
    options: tuple[str, ...], one: Path, run: Run
) -> None:
    Path("a.tensor.txt").symlink_to("../secret")
    outcome = run("check", *options)
    assert outcome.status == 2
    assert "a.tensor.txt: error: cannot read: it is a link out of the manifest's folder" in (
        outcome.out
    )
    assert "a secret" not in outcome.out + outcome.err
    assert (one.parent / "secret").read_text() == "a secret\n"


def test_a_link_within_the_folder_is_followed(one: Path, run: Run) -> None:
    Path("there").write_text("old\n")
    Path("a.tensor.txt").symlink_to("there")
    assert run("check", "--update").status == 0
    assert "Print layout" in Path("there").read_text()
    assert run("check").status == 0


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "itself"])
def test_a_golden_that_is_no_file_is_refused_at_once(kind: str, one: Path, run: Run) -> None:
    make_special(kind, Path("a.tensor.txt"))
    outcome = run("check")
    assert outcome.status == 2
    assert "a.tensor.txt: error: cannot read: " in outcome.out
    assert run("check", "--update").status == 2


def make_special(kind: str, path: Path) -> None:
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "itself":
        path.symlink_to(path.name)
    else:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(path.name)


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "itself"])
@pytest.mark.parametrize("key", ["file", "include"])
def test_a_file_of_a_case_that_is_none_is_refused(kind: str, key: str, one: Path, run: Run) -> None:
    make_special(kind, Path("x"))
    case = "cases: [{name: a, alias: b, file: x, type: tensor<4xf16>}]"
    Path("layouts.yaml").write_text(case if key == "file" else "include: [x]")
    outcome = run("check")
    assert outcome.status == 2
    assert outcome.err.startswith("layouts.yaml:1:")


@pytest.mark.parametrize("name", ['"a\\0b"', "a" * 100_000, '"\\x80"', "a" * 300, "../secret"])
@pytest.mark.parametrize("key", ["file", "include"])
@pytest.mark.parametrize("form", ["text", "json", "junit", "github"])
def test_names_of_files_that_cannot_be(form: str, key: str, name: str, one: Path, run: Run) -> None:
    case = f"cases: [{{name: a, alias: b, file: {name}, type: tensor<4xf16>}}]"
    Path("layouts.yaml").write_text(case if key == "file" else f"include: [{name}]")
    outcome = run("check", "--format", form)
    assert outcome.status == 2
    assert "layouts.yaml:1:" in outcome.err
    assert len(outcome.err + outcome.out) < 5000


@pytest.mark.parametrize("key", ["file", "include"])
def test_a_name_that_the_system_cannot_write_has_its_place(
    key: str, one: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def realpath(path: Path) -> str:
        return str(path.name.encode("ascii"))

    monkeypatch.setattr(os.path, "realpath", realpath)
    case = "cases: [{name: a, alias: b, file: é, type: tensor<4xf16>}]"
    text = case if key == "file" else "include: [é]"
    Path("layouts.yaml").write_text(text, encoding="utf-8")
    outcome = run("check")
    assert outcome.status == 2
    assert outcome.err.startswith("layouts.yaml:1:")
    assert "there is no file 'é'" in outcome.err


def test_in_ci_nothing_is_written_unless_asked(
    one: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("a.tensor.txt").write_text("old\n")
    monkeypatch.setenv("CI", "true")
    assert run("check").status == 1
    assert sorted(os.listdir()) == ["a.tensor.txt", "layouts.yaml"]
    assert run("check", "--keep-actual", "kept/here").status == 1
    assert "Print layout" in Path("kept/here/a.tensor.txt").read_text()
    assert sorted(os.listdir()) == ["a.tensor.txt", "kept", "layouts.yaml"]


def test_lines_of_a_golden_are_no_commands_to_ci(one: Path, run: Run) -> None:
    Path("a.tensor.txt").write_text(
        "::stop-commands::x\n##[group]y\n\x1b]0;z\x07\u202e\n", encoding="utf-8"
    )
    for form in ("text", "github", "junit"):
        out = run("check", "--format", form).out
        assert not re.search(r"^\s*(::(?!error )|##\[)", out, re.MULTILINE)
        assert not set("\x1b\x07\u202e") & set(out)


@pytest.mark.parametrize("name", ["CON", "nul", "aux.x", "COM1"])
def test_names_that_windows_reserves_are_refused(name: str, one: Path, run: Run) -> None:
    path = Path("layouts.yaml")
    path.write_text(path.read_text().replace("name: a", f"name: {name}"))
    outcome = run("check")
    assert outcome.status == 2
    assert "is a device, no file, on Windows" in outcome.err


def test_the_list_as_json(one: Path, run: Run) -> None:
    checks = json.loads(run("check", "--list", "--format", "json").out)["checks"]
    assert checks == [{"name": "a", "kind": "tensor", "file": "layouts.yaml", "line": 2}]


# -- budgets, patterns of files, several errors ------------------------------------------------

DUMP_CASES = """\
cases:
  - name: kernels
    file: "dumps/*.ttgir"
    at_most: {cycles: 100000, errors: 0, extra_wavefronts: 0}
"""


@pytest.fixture
def dumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from test_baseline import dump

    monkeypatch.chdir(tmp_path)
    Path("dumps").mkdir()
    for name, wide in (("one", 4), ("two", 8)):
        Path(f"dumps/{name}.ttgir").write_text(dump(name, wide=wide))
    Path("layouts.yaml").write_text(DUMP_CASES)
    return tmp_path


def test_a_pattern_is_a_case_for_each_file(dumps: Path, run: Run) -> None:
    listed = run("check", "--list").out
    assert "kernels-dumps-one.budget" in listed
    assert "kernels-dumps-two.budget" in listed
    outcome = run("check")
    assert (outcome.status, outcome.out) == (0, "2 passed\n")
    edit("layouts.yaml", "*.ttgir", "*.mlir")()
    assert "no file matches 'dumps/*.mlir'" in run("check").err
    edit("layouts.yaml", "dumps/*.mlir", "../*.ttgir")()
    assert "a pattern of files is inside the manifest's folder" in run("check").err


def test_a_budget_lets_improvements_pass_and_names_what_exceeds_it(dumps: Path, run: Run) -> None:
    edit("layouts.yaml", "cycles: 100000", "cycles: 1")()
    outcome = run("check", "--only", "kernels-dumps-one")
    assert outcome.status == 1
    assert "over its budget: kernels-dumps-one.budget (layouts.yaml:2)" in outcome.out
    assert "  cycles: at most 1, is " in outcome.out
    assert run("check", "--update").status == 1, "no golden file makes it pass"
    assert sorted(os.listdir()) == ["dumps", "layouts.yaml"]
    edit("layouts.yaml", "cycles: 1,", "regsters: 1,")()
    outcome = run("check")
    assert outcome.status == 2
    choices = "choose from bound_cycles, cost, cycles, empty_warps, errors"
    assert f"has no number 'regsters' here; {choices}" in outcome.out
    edit("layouts.yaml", "regsters: 1", "cycles: x")()
    assert "the limit of cycles must be a whole number" in run("check").out


def test_a_value_that_the_dump_of_a_case_has_no_argument_for_is_refused(
    dumps: Path, run: Run
) -> None:
    """Of a pattern, or as a default, it may be for another dump."""
    case = "{name: one, file: dumps/one.ttgir, values: missing=4, at_most: {cycles: 100000}}"
    Path("layouts.yaml").write_text(f"cases:\n- {case}\n")
    outcome = run("check")
    assert outcome.status == 2
    assert "layouts.yaml:2:46: error: no kernel has an argument 'missing'" in outcome.out
    edit("layouts.yaml", "dumps/one.ttgir", '"dumps/o*.ttgir"')()
    assert run("check").status == 0
    defaults = "defaults: {values: missing=4}\ncases:\n"
    Path("layouts.yaml").write_text(defaults + f"- {case}\n".replace("values: missing=4, ", ""))
    assert run("check").status == 0


def test_the_sum_of_costs_of_which_one_is_not_known_exceeds_every_budget(
    dumps: Path, run: Run
) -> None:
    intel = Path(__file__).parents[2] / "examples" / "intel" / "matmul.ttgir"
    shutil.copy(intel, "dumps/intel.ttgir")
    edit("layouts.yaml", "*.ttgir", "intel.ttgir")()
    edit("layouts.yaml", "errors: 0", "cost: 100000")()
    outcome = run("check")
    assert outcome.status == 1
    for name, limit in (("cycles", 100000), ("cost", 100000), ("extra_wavefronts", 0)):
        assert f"  {name}: at most {limit}, but it is not known\n" in outcome.out


ACCESS = """\
cases:
  - name: access
    layout: "gl.BlockedLayout([1, 1], [32, 1], [4, 1], [0, 1])"
    with: "(128,32):(32,1)"
    type: tensor<128x32xf32>
    at_most: {extra_wavefronts: 447}
  - name: conversion
    layout: "gl.BlockedLayout([1, 1], [32, 1], [4, 1], [0, 1])"
    to: "gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])"
    type: tensor<128x32xf32>
    at_most: {scratch_bytes: 2048, shuffles: 0}
"""


def test_a_budget_of_an_access_and_of_a_conversion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """Of the access each of 8 stores and 8 loads takes 28 wavefronts too many."""
    monkeypatch.chdir(tmp_path)
    Path("layouts.yaml").write_text(ACCESS)
    outcome = run("check")
    assert outcome.status == 1
    assert "extra_wavefronts: at most 447, is 448" in outcome.out
    edit("layouts.yaml", "447", "448")()
    assert run("check").out == "2 passed\n"
    edit("layouts.yaml", "2048", "2047")()
    assert "scratch_bytes: at most 2047, is 2048" in run("check").out


def test_all_errors_of_a_manifest_are_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("layouts.yaml").write_text(
        "cases:\n- name: a\n- {name: b, colour: red}\n- {name: c, layout: x, views: [none]}\n"
    )
    outcome = run("check")
    assert outcome.status == 2
    lines = [line for line in outcome.err.splitlines() if ": error: " in line]
    assert [line.partition(": error:")[0] for line in lines] == [
        "layouts.yaml:2:9",
        "layouts.yaml:3:13",
        "layouts.yaml:4:32",
    ]


def test_junit_has_times(folder: Path, run: Run) -> None:
    [suite] = ET.fromstring(run("check", "--format", "junit").out)
    assert all(float(case.get("time") or -1) >= 0 for case in suite)
    assert float(suite.get("time") or -1) >= 0


LINES = """\
cases:
  - name: load
    file: int8_matmul-gfx942.ttgir
    line: 74
    views: [conflicts]
    at_most: {extra_wavefronts: 224}
  - name: conversion
    file: attention-sm80.ttgir
    line: CONVERSION
    views: [convert]
"""


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("999999999", "999999999: error: there is no data movement on this line; the nearest is"),
        ("9999999999", "yaml:1:43: error: line must be the number of a line, got 9999999999"),
    ],
)
def test_a_line_is_a_number_of_nine_digits_at_most(
    line: str, error: str, one: Path, run: Run
) -> None:
    dump = Path(__file__).parents[2] / "examples" / "kernels" / "attention-sm80.ttgir"
    Path("dump.ttgir").write_text(dump.read_text())
    case = f"{{name: a, file: dump.ttgir, line: {line}, views: [convert]}}"
    Path("layouts.yaml").write_text(f"cases: [{case}]")
    assert error in run("check").out


@pytest.mark.slow
def test_a_case_is_a_data_movement_on_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """What is kept is what the commands print of ``FILE:LINE``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    examples = Path(__file__).parents[2] / "examples"
    for path in ("workloads/int8_matmul-gfx942.ttgir", "kernels/attention-sm80.ttgir"):
        Path(Path(path).name).write_text((examples / path).read_text())
    dump = Path("attention-sm80.ttgir").read_text().splitlines()
    at = next(at for at, text in enumerate(dump, 1) if "ttg.convert_layout" in text)
    Path("layouts.yaml").write_text(LINES.replace("CONVERSION", str(at)))
    assert run("check", "--update").status == 0
    assert run("check").out == "3 passed\n"
    kept = Path("conversion.convert.txt").read_text()
    assert kept == run("convert", f"attention-sm80.ttgir:{at}").out
    load = run("conflicts", "int8_matmul-gfx942.ttgir:74").out.splitlines()[0]
    assert load in Path("load.conflicts.txt").read_text()
    edit("layouts.yaml", "at_most: {extra_wavefronts: 224}", "at_most: {extra_wavefronts: 1}")()
    assert "extra_wavefronts: at most 1, is" in run("check").out
    edit("layouts.yaml", "line: 74", "line: 75")()
    assert run("check", "--only", "load").status == 2
    edit("layouts.yaml", "line: 75", "line: 74\n    type: tensor<4xf16>")()
    assert "has its layouts and type from there, and no type" in run("check").err
