"""What the commands write, byte for byte: a golden file for each command line.

They run among the files of ``goldens/commands/given``.  To accept a change, run this file as a
script, with names or for all, and look at the difference.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import pytest
from command import Run, runner

from tt_layout.cli.main import cli

ROOT = Path(__file__).parents[2]
GOLDENS = Path(__file__).parents[1] / "goldens" / "commands"
ROW = (
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
COLUMN = (
    "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], "
    "order = [0, 1]}>"
)
SMALL = "#ttg.linear<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [], block = []}>"
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

OUTPUT = "written"
"""What a command writes to a file of this name is part of its golden."""

COMMANDS = {
    "apply": ["apply", "--help"],
    "audit": ["audit", "kernel.mlir"],
    "check": ["check", "layouts.yaml"],
    "diff": ["diff", "kernel.mlir:rows", "kernel.mlir:columns", *TYPE],
    "explain": ["explain", "kernel.mlir:7"],
    "init": ["init", "kernel.mlir", "-o", OUTPUT],
    "lsp": ["lsp", "--help"],
    "mcp": ["mcp", "--help"],
    "page": ["page", "--help"],
    "rank": ["rank", "--help"],
    "plot": ["plot", SMALL, "-t", "tensor<2x4xf16>", "-o", f"{OUTPUT}.svg"],
    "info-blocked": ["info", ROW, *TYPE],
    "info-mma-json": ["info", MMA, *TYPE, "--format", "json"],
    "info-padded": ["info", PADDED, *TYPE],
    "info-swizzled": ["info", SWIZZLED, *TYPE],
    "info-tensor-memory": ["info", TENSOR_MEMORY, "-t", "!ttg.memdesc<64x32xf32>"],
    "reduce": ["reduce", ROW, "-t", "tensor<16x64xf32>", "--axis", "1"],
    "reduce-before-3.8": [
        *["reduce", ROW, "-t", "tensor<64x64xf32>", "--axis", "0", "--triton", "3.6"],
        *["--format", "json"],
    ],
    "diff-reduce": ["diff", ROW, PAIRS, "-t", "tensor<64x64xf32>", "--reduce", "1"],
    "cute": ["cute", "zipped_divide((8,6):(1,8), (4, 3))", "--table"],
    "where-element": ["where", MMA, *TYPE, "--element", "3,5"],
    "where-thread": ["where", ROW, *TYPE, "--thread", "37", "--register", "2"],
    "where-offset": ["where", SWIZZLED, *TYPE, "--offset", "96"],
    "convert-nothing": ["convert", ROW, ROW, *TYPE],
    "convert-shuffles": ["convert", ROW, PAIRS, *TYPE],
    "convert-shared": ["convert", ROW, COLUMN, *TYPE],
    "convert-shared-json": ["convert", ROW, MMA, *TYPE, "--format", "json"],
    "suggest-blocked": ["suggest", "blocked", *TYPE, "--num-warps", "4"],
    "suggest-shared": ["suggest", "shared", OPERAND, *TYPE],
    "suggest-tmem": ["suggest", "tmem", TENSOR_MEMORY, "-t", "!ttg.memdesc<64x32xf32>"],
    "suggest-tmem-json": [
        *["suggest", "tmem", TENSOR_MEMORY, "-t", "!ttg.memdesc<128x64xf32>", "--num-warps", "8"],
        *["--format", "json"],
    ],
    "suggest-nvmma": ["suggest", "nvmma", *TYPE],
    "conflicts-plain": ["conflicts", COLUMN, SWIZZLED, *TYPE],
    "conflicts-json": ["conflicts", ROW, SWIZZLED, *TYPE, "--format", "json"],
    "swizzle-transposition": ["swizzle", ROW, COLUMN, *TYPE],
    "translate-json": ["translate", ROW, *TYPE, "--to", "json"],
}


def golden(name: str) -> bytes:
    return (GOLDENS / f"{name}.out").read_bytes()


def written(folder: Path) -> bytes:
    """Return the text of the file that a command has written in a folder, if there is one."""
    return b"".join(path.read_bytes() for path in folder.glob(f"{OUTPUT}*"))


def printed(arguments: list[str], folder: Path) -> bytes:
    """Return what a process writes."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CI": "true"}
    done = subprocess.run(
        [sys.executable, "-m", "tt_layout", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode < 2, done.stderr.decode()
    return done.stdout + written(folder)


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """Return a folder with the files that the commands read."""
    return Path(shutil.copytree(GOLDENS / "given", tmp_path / "given"))


@pytest.fixture
def run(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, given: Path
) -> Run:
    monkeypatch.chdir(given)
    monkeypatch.setenv("CI", "true")
    return runner(capfdbinary, monkeypatch)


@pytest.mark.parametrize("name", COMMANDS)
def test_writes_the_golden_bytes(name: str, run: Run, given: Path) -> None:
    done = run(*COMMANDS[name])
    assert done.status < 2, done.err
    assert done.out.encode() + written(given) == golden(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_process_writes_the_golden_bytes(name: str, given: Path) -> None:
    assert printed(COMMANDS[name], given) == golden(name)


def test_every_golden_has_a_command() -> None:
    assert {file.stem for file in GOLDENS.glob("*.out")} == set(COMMANDS)


def all_commands() -> list[str]:
    return cli.list_commands(click.Context(cli))


def test_every_command_has_a_golden() -> None:
    """Add a command line to the table above, and run this file as a script."""
    assert {arguments[0] for arguments in COMMANDS.values()} == set(all_commands())


@pytest.mark.parametrize("name", all_commands())
def test_every_command_is_documented(name: str) -> None:
    """A heading of the README or of a page in ``docs`` names it, and an example calls it."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert re.search(rf"^#.*`(tt-layout )?{name}`", text, re.MULTILINE), "no heading names it"
    assert re.search(rf"^[$>] tt-layout {name}\b", text, re.MULTILINE), "no example calls it"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        for case in sys.argv[1:] or COMMANDS:
            place = Path(shutil.copytree(GOLDENS / "given", Path(temporary) / case))
            (GOLDENS / f"{case}.out").write_bytes(printed(COMMANDS[case], place))
