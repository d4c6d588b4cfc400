"""The standard streams: full, closed, or given up by their reader."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import BLOCKED, TYPE
from tiers import sampled, slow

from tt_layout.cli.main import standard_streams

ROOT = Path(__file__).parents[2]
DUMP = str(ROOT / "examples" / "kernels" / "matmul-sm80.ttgir")
COLUMNS = BLOCKED.replace("order = [1, 0]", "order = [0, 1]")
pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def shell(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a shell does, with streams redirected."""
    script = f'"$@" {redirection}'
    command = ["bash", "-c", script, "-", sys.executable, "-m", "tt_layout", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNDEFAULTENCODING": "0"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


COMMANDS = [("-l", BLOCKED, "-t", TYPE), ("info", BLOCKED, "-t", TYPE), ("audit", DUMP)]


@pytest.mark.slow
@pytest.mark.parametrize("redirection", ["> /dev/full", ">&-"])
@pytest.mark.parametrize("command", sampled(COMMANDS, 3), ids=lambda command: command[0])
def test_output_that_cannot_be_written_is_trouble(
    command: tuple[str, ...], redirection: str
) -> None:
    done = shell(redirection, *command)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write to standard output: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "status"),
    [
        *(slow(command, 0) for command in COMMANDS),
        slow(("diff", BLOCKED, BLOCKED, "-t", TYPE), 0),
        (("diff", BLOCKED, COLUMNS, "-t", TYPE), 1),
        slow(("--help",), 0),
    ],
)
def test_a_closed_pipe_is_no_error(command: tuple[str, ...], status: int) -> None:
    done = shell("| true; exit ${PIPESTATUS[0]}", *command)
    assert (done.returncode, done.stderr) == (status, "")


@pytest.mark.slow
def test_standard_input_that_is_closed_is_trouble() -> None:
    done = shell("<&-", "audit", "-")
    assert done.returncode == 2
    assert done.stderr == "<stdin>: error: cannot read: standard input is closed\n"


@pytest.mark.slow
@pytest.mark.parametrize("redirection", sampled(["2>&- <&-", "2>&-", "2> /dev/full"], 3))
def test_standard_error_does_not_matter(redirection: str) -> None:
    assert shell(redirection, "info", BLOCKED, "-t", TYPE).returncode == 0
    assert shell(redirection, "info", "#nothing", "-t", TYPE).returncode == 2


INTERRUPTED = f"""
import os, signal, sys
from tt_layout.__main__ import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it

class Interrupt:
    def find_spec(self, name, *others):
        if name == {{module!r}}:
            os.kill(os.getpid(), {int(signal.SIGINT)})

sys.meta_path.insert(0, Interrupt())
sys.argv = ["tt-layout", "audit", "-"]
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("module", ["tt_layout.cli.main", "tt_layout.cli.commands.audit"])
def test_an_interrupt_leaves_no_traceback(module: str) -> None:
    """Neither while the command line is imported nor later."""
    command = [sys.executable, "-c", INTERRUPTED.format(module=module)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr.strip()) == (130, "")


def test_text_has_the_encoding_of_the_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What that has no character for is escaped."""
    out = tmp_path / "out.txt"
    with out.open("w", encoding="latin-1") as stream:
        for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
            monkeypatch.setattr(sys, name, stream)
        with standard_streams():
            sys.stdout.write("\u00e9 \u4e2d\n")
            sys.stdout.flush()
    assert out.read_bytes() == b"\xe9 \\u4e2d\n"
