"""Sizes that a layout states over a tensor, and numbers with their nouns in every report."""

from __future__ import annotations

import itertools
import math
import re
import shutil
from pathlib import Path

import pytest
from command import Run, runner
from test_command_goldens import COMMANDS, GOLDENS, MMA, ROW
from tiers import sampled

import tt_layout
from tt_layout.analyses.layouts.properties import LayoutInfo
from tt_layout.encodings.blocked import Blocked
from tt_layout.reports.info import typed_text

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


@pytest.fixture
def run(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    shutil.copytree(GOLDENS / "given", tmp_path / "given")
    monkeypatch.chdir(tmp_path / "given")
    monkeypatch.setenv("CI", "true")
    return runner(capfdbinary, monkeypatch)


def test_info_says_what_was_typed_and_why_less_is_distinct(run: Run) -> None:
    printed = run("info", ROW, "-t", "tensor<16x16xf16>").out
    line = "threads per warp        [4, 8] typed, [4, 4] distinct over this tensor: "
    assert line + "8 lanes along dim1 need 32 columns, the tensor has 16: 2 copies\n" in printed
    assert "size per thread         [1, 4]\n" in printed
    report = tt_layout.info(ROW, "16x16xf16")
    assert report.data()["typed"]["threads_per_warp"] == {
        "typed": (4, 8),
        "distinct": (4, 4),
        "needed": (16, 32),
    }
    mma = MMA.replace("[2, 2]", "[4, 2]")
    printed = run("info", mma, "-t", "tensor<32x8xf16>").out
    assert "4 warps along dim0 need 64 rows, the tensor has 32: 2 copies; 2 warps along" in printed


def test_info_says_which_order_was_typed(run: Run) -> None:
    """A thread of one element at a time walks down the column first, whatever is typed."""
    rows = "gl.BlockedLayout([1, 1], [1, 32], [2, 2], [1, 0])"
    printed = run("info", rows, "-t", "tensor<64x64xf32>").out
    line = "order                   [1, 0] typed; registers [0, 1], lanes [1, 0], warps [1, 0]\n"
    assert line in printed
    assert "order                   [1, 0]; lanes " in run("info", ROW, "-t", "64x64xf32").out


def test_registers_beyond_the_tensor_are_dropped_or_copies() -> None:
    wide = ROW.replace("[1, 4], threads", "[1, 32], threads")
    said = {}
    for release in ("3.8", "3.9"):
        layout = tt_layout.parse_layout(wide, release=release)
        report = tt_layout.info(layout, "16x16xf16")
        assert isinstance(report.info, LayoutInfo)
        said[release] = typed_text(report.typed[0], report.info)
    assert said["3.8"].endswith(
        "32 elements along dim1 need 32 columns, the tensor has 16: 2 copies"
    )
    assert said["3.9"].endswith("the tensor has 16: the rest is dropped")


@pytest.mark.parametrize(("release", "is_said"), [("2.0", False), ("2.1", True)])
def test_sizes_per_thread_are_said_since_2_1(release: str, is_said: bool) -> None:
    text = ROW.replace("#ttg.", "#triton_gpu.")
    layout = tt_layout.parse_layout(text, release=release)
    typed = tt_layout.info(layout, "16x16xf16").typed
    assert ("size_per_thread" in [one.name for one in typed]) is is_said


def test_what_is_needed_is_the_smallest_tensor_without_copies() -> None:
    for size, lanes, warps in itertools.product([(1, 2), (4, 1)], [(8, 4), (2, 16)], [(2, 2)]):
        blocked = Blocked(
            size_per_thread=size, threads_per_warp=lanes, warps_per_cta=warps, order=(1, 0)
        )
        for shape in itertools.product((2, 8, 64), (4, 16, 128)):
            sizes = {one.name: one for one in tt_layout.info(blocked, shape).typed}
            tile = [math.prod(parts) for parts in zip(size, lanes)]
            assert sizes["threads_per_warp"].needed == tuple(map(max, tile, shape))
            tile = [math.prod(parts) for parts in zip(size, lanes, warps)]
            assert sizes["warps_per_cta"].needed == tuple(map(max, tile, shape))
            for one in sizes.values():
                again = tt_layout.info(blocked, one.needed).typed
                assert next(t for t in again if t.name == one.name).distinct == one.typed


# -- one of a thing ---------------------------------------------------------------------------

ONE_LANE = "#ttg.linear<{register = [], lane = [[1, 0]], warp = [], block = []}>"
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
ONE_ELEMENT = ROW.replace("[4, 1]", "[1, 1]")
ONE = "tensor<2x1xi8>"
PLURAL = re.compile(
    r"(?<![\w.,:/x=<*^+-])(?<!\d )1 (?!(is|as|has|was|less|holds|ms|us|across)\b)[a-z]{2,}s\b"
)
REPORTS = {
    **{name: line for name, line in COMMANDS.items() if "json" not in line},
    **{
        f"one-{command}": [command, ONE_LANE, *rest, "-t", ONE]
        for command, rest in {
            "info": [],
            "where": ["--element", "0,0"],
            "convert": [ONE_LANE],
            "diff": [ONE_LANE],
        }.items()
    },
    **{
        f"one-{command}": [command, ONE_ELEMENT, *rest, "-t", "tensor<1x1xi8>"]
        for command, rest in {
            "conflicts": [PLAIN],
            "reduce": ["--axis", "0"],
        }.items()
    },
    **{
        f"one-{view}": ["-l", ONE_LANE, "-t", ONE, "--header", "--view", view]
        for view in ("tensor", "hardware")
    },
    "one-memory": [
        "info",
        "#ttng.tensor_memory_encoding<blockM = 64, blockN = 1, colStride = 1>",
        "-t",
        "!ttg.memdesc<64x1xf32>",
    ],
    "one-swizzle": ["swizzle", ROW, ROW, "-t", "tensor<32x1xi8>"],
    "one-element": ["info", ROW, "-t", "tensor<1x1xi8>"],
    "one-shared": [
        "info",
        "#ttg.padded_shared<[1:+1] {order = [0], shape = [1]}>",
        "-t",
        "!ttg.memdesc<1xi8>",
    ],
    **{
        f"audit-{path.stem}": ["audit", "--all", str(path)]
        for path in sorted(KERNELS.glob("*.ttgir"))
    },
    "audit-folder": ["audit", str(KERNELS)],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *[n for n in REPORTS if not n.startswith("audit-")],
        *sampled([n for n in REPORTS if n.startswith("audit-")], 7),
    ],
)
def test_one_of_a_thing_has_no_plural(name: str, run: Run) -> None:
    done = run(*REPORTS[name])
    assert done.status < 2, done.err
    assert [line for line in (done.out + done.err).splitlines() if PLURAL.search(line)] == []
