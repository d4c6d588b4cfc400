"""What reports look like on a narrow terminal and on a wide one: a golden for each width.

A golden has each command line and what it shows, colours and all.

    PYTHONPATH=.:tests:tests/cli python tests/terminal/test_widths.py

writes them anew.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from test_outputs import printed
from tiers import sampled
from transcripts import BEGIN, transcripts

EXAMPLES = Path(__file__).parents[2] / "examples"
GOLDENS = Path(__file__).parents[1] / "goldens" / "terminal"
ROWS = "'gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])'"
COLUMNS = "'gl.BlockedLayout([8, 1], [8, 4], [1, 4], [0, 1])'"
TYPE = "-t 64x64xf16"
LINES = (
    "audit kernels/attention-gfx942.ttgir",
    "audit kernels/matmul-sm90.ttgir --tables",
    "audit kernels/convolution-sm80.ttgir --fits",
    "audit narrow/softmax.ttgir narrow/matmul.ttgir kernels/attention-gfx942.ttgir",
    "audit narrow/softmax.ttgir --baseline narrow/vector_add.ttgir",
    "audit kernels/matmul-sm90.ttgir --baseline kernels/matmul-sm80.ttgir",
    "audit --diff kernels/softmax-sm80.ttgir kernels/softmax-sm90.ttgir",
    "audit kernels/softmax-sm90.ttgir --axis-info",
    "explain kernels/matmul-sm90.ttgir:94",
    "apply narrow/attention.ttgir --all",
    f"convert {ROWS} {COLUMNS} {TYPE}",
    f"diff {ROWS} {COLUMNS} {TYPE}",
    f"info {ROWS} {TYPE}",
    f"where {ROWS} {TYPE} --warp 1 --limit 3",
    f"{ROWS} {TYPE} --slice 0:4,0:16 --header --legend",
    "audit kernels/matmul-sm90.ttgir --fail-on conflict",
)


WIDTHS = (30, 64)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("line", sampled(LINES, 3))
def test_a_report_is_that_of_the_golden(
    line: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert shown(line) == transcripts(golden(columns))[line]


def golden(columns: int) -> Path:
    return GOLDENS / f"{columns}.txt"


def shown(line: str) -> str:
    """Return a command line with what it shows; escapes are written as ``^``."""
    screen = printed(shlex.split(line), is_terminal=True).replace("\x1b[", "^")
    return f"{BEGIN}{line}\n{screen}"


if __name__ == "__main__":
    os.chdir(EXAMPLES)
    for width in WIDTHS:
        os.environ["COLUMNS"] = str(width)
        golden(width).write_text("".join(map(shown, LINES)), encoding="utf-8")
