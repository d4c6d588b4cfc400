"""What is drawn in figures: their sizes, texts and colours, in a golden.

    PYTHONPATH=.:tests:tests/cli python tests/figures/test_drawn.py

writes the golden anew.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest
from test_outputs import printed
from transcripts import BEGIN, transcripts

EXAMPLES = Path(__file__).parents[2] / "examples"
GOLDEN = Path(__file__).parents[1] / "goldens" / "figures" / "drawn.txt"
ROWS = "'gl.BlockedLayout([1, 4], [4, 8], [2, 1], [1, 0])'"
COLUMNS = "'gl.BlockedLayout([4, 1], [8, 4], [1, 2], [0, 1])'"
MMA = "'gl.NVMMADistributedLayout([2, 0], [1, 1], [16, 8])'"
SWIZZLED = "'gl.SwizzledSharedLayout(4, 1, 4, [1, 0])'"
PLAIN = "'gl.SwizzledSharedLayout(1, 1, 1, [1, 0])'"
PADDED = "'#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 32]}>'"
MFMA = "'#ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [16, 16, 32], "
MFMA += "isTransposed = true}>'"
COPIED = "'#ttg.linear<{register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [4, 0], "
COPIED += "[8, 0], [16, 0]], warp = [], block = []}>'"
TYPE, SHARED = "-t 8x32xf16", "-t '!ttg.memdesc<8x32xf16>'"
FIGURES = (
    f"{ROWS} {TYPE}",
    f"{ROWS} {TYPE} --color-by lane --palette pastel",
    f"{ROWS} {TYPE} --slice 0:4,0:8",
    f"{ROWS} {TYPE} --view hardware",
    f"{SWIZZLED} {SHARED} --view hardware",
    f"{SWIZZLED} {SHARED} --view swizzle",
    f"{ROWS} {TYPE} --view matrix",
    f"{ROWS} -t 2x8xf32 --view reduce --axis 1",
    f"{MMA} -t 16x8xf32 --view mma --operand f16",
    f"{MFMA} -t 16x16xf32 --view mma --operand f16",
    f"{SWIZZLED} {ROWS} {TYPE} --view banks",
    f"{PLAIN} {COLUMNS} {TYPE} --view banks --access store",
    f"{PADDED} {COLUMNS} {TYPE} --view cycles --target sm80",
    f"{PLAIN} {COLUMNS} {TYPE} --view cycles --access store",
    f"{PADDED} {ROWS} {TYPE} --view copy --access store",
    f"{SWIZZLED} {ROWS} {TYPE} --view copy",
    f"{ROWS} {COLUMNS} {TYPE}",
    f"{ROWS} {COLUMNS} {TYPE} --view compare",
    "-i kernels/softmax-sm80.ttgir --view sectors --line 38",
    "-i kernels/matmul-sm80.ttgir --view mma --line 100",
    f"{ROWS} -t 512x512xf16 --fit paper",
)
ELEMENT = re.compile(r"<(\w+)([^>]*)>")
SHOWN = re.compile(r' (d|fill|stroke|stroke-width|class|width|height)="([^"]*)"')
"""Attributes of an element in the golden, the beginning of each."""


def drawn(line: str) -> str:
    """Return what a figure has: its size, its elements by kind and colour, its texts."""
    figure = printed(["plot", *shlex.split(line), "-o", "-"])
    if not figure.startswith(("<svg", "<?xml")):
        return figure
    [box] = re.findall(r'viewBox="([^"]*)"', figure)
    kinds = Counter(
        " ".join([tag, *(f"{name}={value[:60]}" for name, value in SHOWN.findall(attributes))])
        for tag, attributes in ELEMENT.findall(figure)
        if tag not in ("text", "tspan")
    )
    elements = "\n".join(f"{number} x {kind}" for kind, number in kinds.items())
    texts = filter(str.strip, re.findall(r">([^<>]+)<", figure))
    return f"{box}\n{elements}\n{' | '.join(texts)}\n"


@pytest.mark.parametrize("line", FIGURES)
def test_a_figure_is_that_of_the_golden(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    assert shown(line) == transcripts(GOLDEN)[f"plot {line}"]


def shown(line: str) -> str:
    """Return a command line with what it draws."""
    return f"{BEGIN}plot {line}\n{drawn(line)}\n"


if __name__ == "__main__":
    os.chdir(EXAMPLES)
    GOLDEN.write_text("".join(map(shown, FIGURES)), encoding="utf-8")
