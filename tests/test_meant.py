"""What people type, and what they mean by it: a line for each way to begin that went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Run, runner

KERNELS = Path(__file__).parent.parent / "examples" / "kernels"
DUMP = "matmul-sm80.ttgir"
ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
COLUMNS = ROWS.replace("[1, 8], threads", "[8, 1], threads").replace("[1, 0]}", "[0, 1]}")


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(KERNELS)
    return runner(capfdbinary, monkeypatch)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.ttgir"], "No such file: 'nothing.ttgir', and no such command."),
        (["plot", "nothing.ttgir", "-o", "x.html"], "no such file: 'nothing.ttgir'"),
        (["info", "nothing.ttgir", "-t", "tensor<4x4xf16>"], "no such file: 'nothing.ttgir'"),
        (
            ["info", DUMP, "-t", "tensor<4x4xf16>"],
            f"{DUMP} is a file: name one of its aliases or lines, as {DUMP}:ALIAS or {DUMP}:LINE",
        ),
        (["-l", ROWS, "-t", "64x64"], "-t lacks the element type: 64x64xf16?"),
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


def test_a_file_is_plotted_as_the_page_of_its_layouts(run: Run, tmp_path: Path) -> None:
    pages = [tmp_path / name for name in ("a.html", "b.html")]
    assert run("plot", DUMP, "-o", str(pages[0])).status == 0
    assert run("plot", "-i", DUMP, "-o", str(pages[1])).status == 0
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_swizzles_are_written_in_gluon_too(run: Run) -> None:
    lines = run("swizzle", ROWS, COLUMNS, "-t", "tensor<128x128xf16>").out.splitlines()
    assert lines[0].startswith("#ttg.swizzled_shared<{vec = 8")
    assert lines[1].startswith("  gl.SwizzledSharedLayout(vec=8")


def test_the_best_linear_layout_is_shown_where_it_is_better(run: Run) -> None:
    same = run("swizzle", ROWS, "-t", "tensor<64x64xf16>").out
    assert "no linear layout takes fewer wavefronts\n" in same
    assert "#ttg.shared_linear" not in same
    better = run("swizzle", ROWS, COLUMNS, "-t", "tensor<128x128xf16>").out
    assert "best linear layout:\n#ttg.shared_linear" in better
    assert "per warp fewer" in better
