"""What reports look like on a narrow terminal and on a wide one: a golden for each width.

A golden has each command line and what it shows, colours and all.  To accept a change, run this
file as a script, and look at the difference.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "cli")]
EXAMPLES = ROOT / "examples"
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


@pytest.mark.parametrize("columns", [30, 64])
def test_reports_are_those_of_the_goldens(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert shown() == golden(columns).read_text(encoding="utf-8")


def golden(columns: int) -> Path:
    return GOLDENS / f"{columns}.txt"


def shown() -> str:
    """Return the command lines, each with what it shows; escapes are written as ``^``."""
    from test_outputs import printed

    screens = (
        f"$ tt-layout {line}\n{printed(shlex.split(line), is_terminal=True)}" for line in LINES
    )
    return "".join(screens).replace("\x1b[", "^")


if __name__ == "__main__":
    os.chdir(EXAMPLES)
    GOLDENS.mkdir(exist_ok=True)
    for width in (30, 64):
        os.environ["COLUMNS"] = str(width)
        golden(width).write_text(shown(), encoding="utf-8")
