"""What many command lines print, byte for byte: a golden file for each group of them.

A golden has each command line, what it prints and its exit status; they run among the examples.  To
accept a change, look at the difference that this makes:

    PYTHONPATH=.:tests python tests/cli/test_outputs.py [GROUP]...
"""

from __future__ import annotations

import io
import os
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from transcripts import BEGIN, transcripts

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
GOLDENS = Path(__file__).parents[1] / "goldens" / "outputs"

ROWS = "'gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])'"
COLUMNS = "'gl.BlockedLayout([8, 1], [8, 4], [1, 4], [0, 1])'"
WAVES = "'gl.BlockedLayout([1, 8], [8, 8], [4, 1], [1, 0])'"
MMA = "'gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])'"
WGMMA = "'gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])'"
MFMA = "'gl.amd.AMDMFMALayout(3, [32, 32, 8], True, [2, 2])'"
OPERAND = f"'gl.DotOperandLayout(0, {MMA[1:-1]}, 2)'"
SWIZZLED = "'gl.SwizzledSharedLayout(8, 1, 8, [1, 0])'"
PLAIN = "'gl.SwizzledSharedLayout(1, 1, 1, [1, 0])'"
NVMMA = "'gl.NVMMASharedLayout(128, 16, 2)'"
LEADING = "'#triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], "
LEADING += "hasLeadingOffset = true}>'"
PADDED = "'#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>'"
TMEM = "'#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>'"
SMALL = "'gl.BlockedLayout([1, 2], [4, 8], [2, 1], [1, 0])'"
CUBES = "'gl.BlockedLayout([1, 1, 2], [2, 2, 2], [1, 2, 1], [2, 1, 0])'"
HALVES, FLOATS, SHARED = "-t 64x64xf16", "-t 64x64xf32", "-t '!ttg.memdesc<64x64xf16>'"

GROUPS = {
    "properties": [
        *(f"info {layout} {HALVES}" for layout in (ROWS, COLUMNS, MMA, WGMMA, OPERAND, WAVES)),
        *(f"info {layout} {SHARED}" for layout in (SWIZZLED, NVMMA, PADDED)),
        f"info {MFMA} {FLOATS} --format json",
        *(
            f"info '{layout}' -t 32x32xf16"
            for layout in (
                "#ttg.amd_wmma<{version = 2, ctaLayout = {warp = [[1, 0]]}, isTranspose = false, "
                "instrShape = [16, 16, 16]}>",
                "#ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 1, 4], "
                "threadsPerWarp = [4, 1, 8], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>}>",
                "#triton_gpu.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], "
                "warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [2, 1], CTASplitNum = [1, 1], "
                "CTAOrder = [1, 0]}>",
                "#ttg.dot_op<{opIdx = 1, parent = #ttg.amd_mfma<{version = 4, warpsPerCTA = "
                "[2, 2], instrShape = [16, 16, 32], isTransposed = true}>, kWidth = 8}>",
            )
        ),
        f"info {TMEM} -t '!ttg.memdesc<128x64xf32>'",
        f"info {ROWS} -t 8x8xf8E5M2 --memory-order 0,1",
        f"info {ROWS} -t 4096xf32",
        f"where {MMA} {HALVES} --element 17,9",
        f"where {OPERAND} {HALVES} --warp 1 --lane 5 --limit 3",
        f"where {NVMMA} {SHARED} --offset 515 --format json",
        f"where {ROWS} {HALVES} --thread 4000",
    ],
    "banks": [
        f"conflicts {ROWS} {SWIZZLED} {HALVES}",
        f"conflicts {COLUMNS} {PLAIN} {FLOATS}",
        f"conflicts {COLUMNS} {NVMMA} {HALVES} --access store --format json",
        f"conflicts {WAVES} {PLAIN} {HALVES} --target gfx942",
        f"conflicts {WAVES} {PADDED} {HALVES} --target gfx950 --access load",
        f"conflicts {OPERAND} {SWIZZLED} {HALVES} --target sm80 --fail-on-conflict",
        f"conflicts {ROWS} {PLAIN} {HALVES} --target gfx942",
        f"swizzle {ROWS} {COLUMNS} {HALVES}",
        f"swizzle {ROWS} {COLUMNS} {FLOATS} --family padded --all --max-search 60",
        f"swizzle {ROWS} {OPERAND} {HALVES} --family all --format json --max-search 90",
    ],
    "conversions": [
        f"convert {ROWS} {COLUMNS} {HALVES}",
        f"convert {ROWS} {OPERAND} {HALVES} --target sm80",
        f"convert {MMA} {OPERAND} {HALVES} --target sm80 --format json",
        f"convert {WGMMA} {ROWS} {FLOATS} --target sm90",
        f"convert {WAVES} {MFMA} {HALVES} --target gfx942",
        f"convert {WAVES} {MFMA} {FLOATS} --target gfx950 --format json",
        f"convert {ROWS} {ROWS.replace('[1, 8], [4, 8]', '[1, 4], [4, 8]')} {HALVES}",
        f"convert {ROWS} {WAVES} {HALVES}",
        f"diff {ROWS} {COLUMNS} {HALVES}",
        f"diff {ROWS} {MMA} {FLOATS} --reduce 1 --target sm80",
        f"diff {ROWS} {ROWS.replace('[4, 1]', '[1, 4]')} {HALVES} --equal warps --format json",
        f"diff {ROWS} {ROWS.replace('[4, 1]', '[1, 4]')} -t 16x64xf16",
        f"diff {ROWS.replace('[4, 1]', '[1, 4]')} {ROWS} -t 16x64xf16 --format json",
        f"diff {ROWS} {ROWS} {HALVES}",
        f"reduce {ROWS} {FLOATS} --axis 1",
        f"reduce {COLUMNS} {HALVES} --axis -1 --triton 3.6",
        f"reduce {WAVES} {FLOATS} --axis 0 --target gfx942 --format json",
        f"reduce {MMA} {FLOATS} --axis 1 --ordering inner_tree",
    ],
    "suggestions": [
        f"suggest blocked {HALVES} --num-warps 8",
        "suggest blocked -t 128xf32 --num-warps 4 --format json",
        f"suggest shared {OPERAND} {HALVES}",
        f"suggest nvmma {FLOATS}",
        "suggest nvmma -t 64x16xf8E5M2",
        f"suggest tmem {TMEM} -t '!ttg.memdesc<128x64xf32>' --num-warps 4",
        "suggest coalesced -t 64x64xf16 --contiguity 8",
        *(
            f"translate {ROWS} {HALVES} --to {form}"
            for form in ("3.4", "bases", "cute", "json", "linear", "linear-layout", "mosaic", "tlx")
        ),
        f"translate {NVMMA} {SHARED} --to cute",
        f"translate 'Swizzle<3,3,3> o (64,64):(64,1)' {SHARED} --to gluon",
        f"translate {MMA} --to 2.0",
        "cute 'logical_divide((8,6):(1,8), (4, 3))' --table",
        "cute 'composition((6,2):(8,2), (4,3):(3,1))' --format json",
        "cute 'complement((2,2):(1,6), 24)'",
    ],
    "audits": [
        "audit kernels/matmul-sm90.ttgir --sort cost --all",
        "audit kernels/attention-gfx942.ttgir --format github",
        "audit kernels/softmax-sm80.ttgir --fits",
        "audit kernels/convolution-sm80.ttgir --fits --format json",
        "audit kernels/softmax-sm90.ttgir --axis-info",
        "audit --diff kernels/matmul-sm80.ttgir kernels/matmul-sm90.ttgir",
        "audit --diff --bits kernels/softmax-sm80.ttgir kernels/softmax-sm90.ttgir",
        "audit narrow/softmax.ttgir narrow/matmul.ttgir kernels/attention-gfx942.ttgir --top 2",
        "audit narrow/softmax.ttgir --baseline narrow/vector_add.ttgir",
        "audit narrow/softmax.ttgir --baseline narrow/softmax.ttgir --format markdown",
        "audit narrow/layer_norm.ttgir --source narrow --fail-on narrow-loads=2",
        "audit workloads/layer_norm-sm90.ttgir --grid 264 --gpu h100 --format json",
        "audit intel/matmul.ttgir --tables",
        "audit ../tests/data/h200-transpose.ttgir --ncu ../tests/data/h200-source-page.csv",
        "explain kernels/matmul-sm90.ttgir:94",
        "explain kernels/softmax-gfx942.ttgir:30 --format json",
        "rank kernels/matmul-sm80.ttgir kernels/matmul-sm90.ttgir --grid 64,64",
        "apply kernels/attention-gfx942.ttgir",
        "apply kernels/attention-gfx1250.ttgir --finding 1",
        "apply intel/matmul.ttgir",
        "apply narrow/attention.ttgir --all --format json",
    ],
    "times": [
        "rank kernels/softmax-sm90.ttgir --format json",
        "audit kernels/matmul-sm90.ttgir --tables --grid 64,2 --value K=1024",
    ],
    "views": [
        f"{SMALL} -t 8x8xf16 --threads-per-warp 8 --header --legend",
        f"{SMALL} -t 8x8xf16 --compact",
        f"{SMALL} -t 8x8xf16 --use-hw-view --lane 0:4 --header --legend",
        f"{SMALL} -t 8x8xf16 --color always --color-by register --slice 2:6,0:4",
        f"{SMALL} -t 4x4xf16 --header",
        f"{CUBES} -t 2x4x4xf16 --header --color always",
        "'gl.SwizzledSharedLayout(2, 1, 4, [1, 0])' -t '!ttg.memdesc<4x8xf16>' --legend",
        "'gl.SwizzledSharedLayout(2, 1, 4, [1, 0])' -t '!ttg.memdesc<4x8xf16>' "
        "--view hardware --color always --color-by bank --legend",
        "'gl.NVMMADistributedLayout([2, 0], [1, 1], [16, 8])' -t 16x8xf32 --color always "
        "--color-by lane --legend",
        f"{TMEM} -t '!ttg.memdesc<128x64xf32>' --view hardware --row 0:2 --column 3 --legend",
        "-i blocked.mlir -t 8x16xf16 --slice 0:2,0:16 --header",
        "-i swizzled_shared.mlir -t 8x16xf16 --slice 0:2,0:16 --use-hw-view --offset 0:3",
        "-i amd_mfma.mlir -t 32x32xf32 --alias-names mfma16 --slice 0:4,0:4",
        "-i kernels/softmax-sm90.ttgir --slice 0:1,0:4 --legend",
        f"{SMALL} -t 8x8xf16 --slice 0:9",
        f"{SMALL} -t 8x8xf16 --lane 3",
        f"{SMALL} -t 8x8xf16 --color-by bank --color always",
        f"{SMALL} -t 8x8xf16 --view hardware --offset 3",
        "-i blocked.mlir -t 8x16xf16 --alias-names nothing",
    ],
    "refusals": [
        "audit kernels/nowhere.ttgir",
        "audit kernels/matmul-sm90.ttgir --grid 0",
        "audit kernels/matmul-sm90.ttgir --grid 1,2,3,4",
        "audit kernels/matmul-sm90.ttgir --value Q=1",
        "audit kernels/matmul-sm90.ttgir --value M=x",
        "audit kernels/matmul-sm90.ttgir --gpu mi300x",
        "audit kernels/matmul-sm90.ttgir --gpu nothing",
        "audit kernels/matmul-sm90.ttgir --fail-on conflict",
        "audit kernels/matmul-sm90.ttgir --triton 9.9",
        "audit kernels/matmul-sm90.ttgir@7",
        "audit kernels/matmul-sm90.ttgir --pass coalesce",
        "audit kernels/matmul-sm90.ttgir --bits",
        "audit kernels/matmul-sm90.ttgir --compiled kernels/softmax-sm90.audit.txt",
        "audit kernels/matmul-sm90.ttgir --ncu kernels/softmax-sm90.audit.txt",
        "explain kernels/matmul-sm90.ttgir",
        "explain kernels/matmul-sm90.ttgir:9999",
        "explain kernels/matmul-sm90.ttgir:20",
        "apply kernels/softmax-sm90.ttgir --finding 9",
        "apply kernels/softmax-sm90.ttgir --exit-code",
        f"convert {ROWS} {SWIZZLED} {HALVES}",
        f"convert {ROWS} {ROWS.replace('[4, 1]', '[2, 1]')} {HALVES}",
        f"conflicts {ROWS} {MMA} {HALVES}",
        f"conflicts {ROWS} {SWIZZLED} {HALVES} --target sm999",
        f"info {ROWS} -t 64x64",
        f"info {ROWS} -t 63x64xf16",
        f"info {ROWS.replace('[1, 8]', '[1, 3]')} {HALVES}",
        f"info {ROWS.replace('[1, 0]', '[1, 1]')} {HALVES}",
        f"info {ROWS.replace('Blocked', 'Bloked')} {HALVES}",
        f"info {ROWS} {HALVES} --memory-order 0,2",
        f"info {LEADING} -t '!ttg.memdesc<8x64xf16>'",
        f"info {LEADING} -t '!ttg.memdesc<4x64xf16>'",
        f"info {LEADING} -t '!ttg.memdesc<8x16xf16>'",
        f"where {ROWS} {HALVES} --element 64,0",
        f"where {ROWS} {HALVES} --element 1",
        f"where {ROWS} {HALVES} --offset 3",
        f"where {ROWS} {HALVES}",
        f"reduce {ROWS} {HALVES} --axis 2",
        f"reduce {SWIZZLED} {HALVES} --axis 0",
        f"swizzle {ROWS} {COLUMNS} {HALVES} --max-search 0",
        f"translate {ROWS} --to nothing",
        f"translate {NVMMA} {SHARED} --to mosaic",
        "cute 'composition((4,3):(3,1), (5,2):(7,2))'",
        "cute 'complement((2,2):(1,1), 24)'",
        "cute 'logical_divide('",
        "suggest nvmma -t 64x1xf16",
        f"suggest blocked {HALVES} --num-warps 3",
        f"plot {ROWS} {HALVES} --view banks -o -",
        f"plot {ROWS} {HALVES} --view mma -o -",
        f"plot {ROWS} {HALVES} -o figure.gif",
        "check ci/nowhere.yaml",
        "check ci/layouts.yaml --max-cases 0",
        "page kernels/nowhere.ttgir -o -",
    ],
}
"""Group -> command lines."""


def shown(line: str) -> str:
    """Return a command line with what it prints."""
    return f"{BEGIN}{line}\n{printed(shlex.split(line))}"


class Stream(io.TextIOWrapper):
    """A standard stream that keeps what is written.

    Args:
        is_terminal: whether it says that it is one.
    """

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(), "utf-8", write_through=True)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    @property
    def text(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


def printed(arguments: list[str], *, is_terminal: bool = False) -> str:
    """Return what a command line prints, and its exit status."""
    from tt_layout.cli import main as cli

    out, errors = Stream(is_terminal=is_terminal), Stream(is_terminal=is_terminal)
    with redirect_stdout(out), redirect_stderr(errors):
        try:
            cli.main(arguments)
        except SystemExit as ended:
            status = ended.code
    exit_status = f"(exit {status})\n" if status else ""
    return f"{out.text}{errors.text}{exit_status}\n"


def golden(group: str) -> Path:
    return GOLDENS / f"{group}.txt"


LINES = [(group, line) for group, lines in GROUPS.items() for line in lines]


@pytest.mark.parametrize(("group", "line"), LINES, ids=[f"{g}: {line}" for g, line in LINES])
def test_output_is_that_of_the_golden(
    group: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setenv("CI", "true")
    assert shown(line) == transcripts(golden(group)).get(line), (
        "if right, run this file as a script"
    )


def test_goldens_have_no_other_lines() -> None:
    for group, lines in GROUPS.items():
        assert list(transcripts(golden(group))) == list(lines)


if __name__ == "__main__":
    os.chdir(EXAMPLES)
    os.environ["CI"] = "true"
    GOLDENS.mkdir(exist_ok=True)
    for name in sys.argv[1:] or GROUPS:
        golden(name).write_text("".join(map(shown, GROUPS[name])), encoding="utf-8")
