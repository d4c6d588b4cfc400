"""What the analysing commands print, byte for byte: a golden file for each command line.

To accept a change, run this file as a script and look at the difference.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command import Run, runner

GOLDENS = Path(__file__).parent / "goldens" / "commands"
ROW = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
COLUMN = (
    "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], "
    "order = [0, 1]}>"
)
PAIRS = ROW.replace("[1, 4], threads", "[1, 2], threads")
MMA = (
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], "
    "instrShape = [16, 8]}>"
)
OPERAND = f"#ttg.dot_op<{{opIdx = 0, parent = {MMA}, kWidth = 2}}>"
SWIZZLED = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
PADDED = "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>"
TENSOR_MEMORY = "#ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>"
TYPE = ["-t", "tensor<64x64xf16>"]

COMMANDS = {
    "info-blocked": ["info", ROW, *TYPE],
    "info-mma-json": ["info", MMA, *TYPE, "--format", "json"],
    "info-padded": ["info", PADDED, *TYPE],
    "info-swizzled": ["info", SWIZZLED, *TYPE],
    "info-tensor-memory": ["info", TENSOR_MEMORY, "-t", "!ttg.memdesc<64x32xf32>"],
    "where-element": ["where", MMA, *TYPE, "--element", "3,5"],
    "where-thread": ["where", ROW, *TYPE, "--thread", "37", "--register", "2"],
    "where-offset": ["where", SWIZZLED, *TYPE, "--offset", "96"],
    "convert-nothing": ["convert", ROW, ROW, *TYPE],
    "convert-shuffles": ["convert", ROW, PAIRS, *TYPE],
    "convert-shared": ["convert", ROW, COLUMN, *TYPE],
    "convert-shared-json": ["convert", ROW, MMA, *TYPE, "--format", "json"],
    "suggest-blocked": ["suggest", "blocked", *TYPE, "--num-warps", "4"],
    "suggest-shared": ["suggest", "shared", OPERAND, *TYPE],
    "suggest-nvmma": ["suggest", "nvmma", *TYPE],
    "conflicts-plain": ["conflicts", COLUMN, SWIZZLED, *TYPE],
    "conflicts-json": ["conflicts", ROW, SWIZZLED, *TYPE, "--format", "json"],
    "swizzle-transposition": ["swizzle", ROW, COLUMN, *TYPE],
    "translate-json": ["translate", ROW, *TYPE, "--to", "json"],
}


def printed(arguments: list[str]) -> bytes:
    command = [sys.executable, "-m", "tt_layout", *arguments]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


@pytest.mark.parametrize("name", COMMANDS)
def test_prints_the_golden_bytes(name: str, run: Run) -> None:
    done = run(*COMMANDS[name])
    assert (done.status, done.out.encode()) == (0, (GOLDENS / f"{name}.out").read_bytes()), done.err


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_process_prints_the_golden_bytes(name: str) -> None:
    assert printed(COMMANDS[name]) == (GOLDENS / f"{name}.out").read_bytes()


def test_every_golden_has_a_command() -> None:
    assert {file.stem for file in GOLDENS.iterdir()} == set(COMMANDS)


if __name__ == "__main__":
    for case, command_line in COMMANDS.items():
        (GOLDENS / f"{case}.out").write_bytes(printed(command_line))
