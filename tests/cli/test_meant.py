"""What people type, and what they mean by it: a line for each way to begin that went wrong."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from command import Run, runner

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
DUMP = "matmul-sm80.ttgir"
ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
GLUON = "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])"
COLUMNS = ROWS.replace("[1, 8], threads", "[8, 1], threads").replace("[1, 0]}", "[0, 1]}")


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(KERNELS)
    return runner(capfdbinary, monkeypatch)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.ttgir"], "error: no such file: 'nothing.ttgir'\n"),
        (["dumps/nothing"], "error: no such file: 'dumps/nothing'\n"),
        (["page", "nothing.ttgir"], "no such file: 'nothing.ttgir'"),
        (["plot", "nothing.ttgir", "-o", "x.html"], "no such file: 'nothing.ttgir'"),
        (["info", "nothing.ttgir", "-t", "tensor<4x4xf16>"], "no such file: 'nothing.ttgir'"),
        (
            ["info", DUMP, "-t", "tensor<4x4xf16>"],
            f"{DUMP} is a file: name one of its aliases or lines, as {DUMP}:ALIAS or {DUMP}:LINE",
        ),
        (["-l", ROWS, "-t", "64x64"], "-t lacks the element type: 64x64xf16?"),
        (["audit", DUMP, "--json"], "no such option '--json'; did you mean '--format json'?"),
        (["check", "--junit", "x.yaml"], "did you mean '--format junit'?"),
        (["where", "-l", ROWS], "no such option '-l': give LAYOUT without it; see"),
        (["convert", ROWS, "-l", ROWS], "no such option '-l': give SRC_LAYOUT without it; see"),
        (["audit", "-l", ROWS], "; see tt-layout audit --help\n"),
        (["audit", DUMP, "--jsonl"], "--sort"),  # as click says it, with quotes or without
        (
            ["conflicts", f"{DUMP}:139"],
            f"{DUMP}:139: error: this is a conversion between register layouts: use convert",
        ),
    ],
)
def test_a_message_names_what_is_meant(arguments: list[str], message: str, run: Run) -> None:
    outcome = run(*arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err


def test_nothing_that_was_not_typed_is_pointed_at(run: Run) -> None:
    assert "^" not in run("conflicts", f"{DUMP}:139").err


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [[DUMP], [ROWS, "-t", "16x64xf16"], [ROWS, COLUMNS, "-t", "64x64xf16"], [f"{DUMP}:mma"]],
)
def test_page_and_plot_make_the_same_page(words: list[str], run: Run, tmp_path: Path) -> None:
    pages = [tmp_path / f"{name}.html" for name in ("page", "plot")]
    for page in pages:
        assert run(page.stem, *words, "-o", str(page)).status == 0
    assert pages[0].read_bytes() == pages[1].read_bytes()


@pytest.mark.slow
def test_a_page_opens_on_the_line_that_was_named(run: Run) -> None:
    assert '"line":139' in run("page", f"{DUMP}:139").out
    assert run("page", "-i", DUMP, "--line", "139").out == run("page", f"{DUMP}:139").out


def test_a_page_is_of_one_thing(run: Run) -> None:
    assert "not both" in run("page", ROWS, "-i", DUMP, "-t", "16x64xf16").err
    assert "for the page of a dump" in run("page", "--line", "3").err
    assert "give -t" in run("page", ROWS).err


@pytest.mark.slow
def test_a_folder_is_put_under_test_as_its_audits(run: Run, tmp_path: Path) -> None:
    (tmp_path / "dumps").mkdir()
    for name in ("a", "b"):
        (tmp_path / "dumps" / f"{name}.ttgir").write_text(Path(DUMP).read_text())
    os.chdir(tmp_path)
    assert run("init", "dumps").out.startswith("wrote layouts.yaml: 1 case; ")
    assert 'file: "dumps/*.ttgir"\n' in Path("layouts.yaml").read_text()
    assert run("check", "--update").out.endswith("2 written\n")
    assert run("check").status == 0
    assert run("init", "dumps/a.ttgir", "--view", "audit", "-o", "one.yaml").status == 0
    assert "  - name: a\n" in Path("one.yaml").read_text()
    assert "leave out -t" in run("init", "dumps", "--view", "tensor", "-o", "x.yaml").err
    (tmp_path / "empty").mkdir()
    assert "found no dump" in run("init", "empty", "-o", "y.yaml").err


def test_the_help_has_commands_in_groups_and_says_things_once(run: Run) -> None:
    text = run("--help").out
    headings = ["Your kernel:", "A layout (", "Two layouts:", "In CI:"]
    assert [one for one in headings if f"\n{one}" in text] == headings
    first = [re.findall(rf"{re.escape(one)}[^\n]*\n  (\w+)", text)[0] for one in headings]
    assert first == ["audit", "where", "conflicts", "check"]
    assert text.count("or a range such as 0:4") == 1
    options = re.findall(r"^  (-[-\w]+)", text, re.MULTILINE)
    assert options.index("--use-hw-view") == options.index("--view") + 1
    assert max(map(len, text.splitlines())) <= 80


def test_a_swizzle_is_for_the_gpu_that_is_named(run: Run) -> None:
    wide, columns = (text.replace("[4, 8]", "[8, 8]") for text in (ROWS, COLUMNS))
    arguments = ["swizzle", wide, columns, "-t", "tensor<128x128xf16>"]
    told = [run(*arguments, "--target", chip).out for chip in ("gfx942", "gfx950")]
    assert "target: gfx942" in told[0]
    assert "target: gfx950" in told[1]


@pytest.mark.slow
def test_swizzles_are_written_in_gluon_too(run: Run) -> None:
    lines = run("swizzle", ROWS, COLUMNS, "-t", "tensor<128x128xf16>").out.splitlines()
    assert lines[0].startswith("#ttg.swizzled_shared<{vec = 8")
    assert lines[1].startswith("  gl.SwizzledSharedLayout(vec=8")


@pytest.mark.slow
def test_the_best_linear_layout_is_shown_where_it_is_better(run: Run) -> None:
    same = run("swizzle", ROWS, "-t", "tensor<64x64xf16>").out
    assert "no linear layout takes fewer wavefronts\n" in same
    assert "#ttg.shared_linear" not in same
    better = run("swizzle", ROWS, COLUMNS, "-t", "tensor<128x128xf16>").out
    assert "best linear layout:\n#ttg.shared_linear" in better
    assert "per warp fewer" in better


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        # Click writes the option after a colon, or quoted with what is meant, by its release.
        (["--foo"], "error: no such option:? '?--foo'?.*[;?] [Ss]ee tt-layout --help\n"),
        (["info"], "error: missing option '-t'; see tt-layout info --help\n"),
        (
            ["kernel.ttgir", "-t", "64x64xf16"],
            "kernel.ttgir: error: an audit takes no type: tt-layout -i FILE -t TYPE prints .*\n",
        ),
        (
            ["-l", "#ttg.shared<{vec = 1}>", "-t", "8x8xf16"],
            "-l:1:1: error: #ttg.shared is not .*; did you mean #ttg.swizzled_shared\\?\n.*\n.*\n",
        ),
        (
            ["conflicts", ROWS, ROWS, "-t", "64x64xf16"],
            "SHARED_LAYOUT:1:1: error: bank conflicts need a register layout and a shared .*\n"
            f"{re.escape(ROWS)}\n\\^+\n",
        ),
        (
            ["conflicts", GLUON, GLUON, "-t", "64x64xf16"],
            "SHARED_LAYOUT:1:1: error: bank conflicts need a register layout and a shared .*\n"
            f"{re.escape(GLUON)}\n\\^+\n",
        ),
    ],
)
def test_a_message_points_at_its_subject(
    arguments: list[str], message: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kernel.ttgir").write_text("module {}")
    outcome = run(*arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert re.fullmatch(message, outcome.err)
