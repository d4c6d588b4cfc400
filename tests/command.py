"""Running the command in this process, as its tests do."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from tt_layout.cli import main as cli

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 2], "
    "warpsPerCTA = [2, 1], order = [1, 0]}>"
)
"""A layout whose views of a 4x4 tensor are small enough to read."""

TYPE = "tensor<4x4xf16>"


@dataclass(frozen=True)
class Outcome:
    """What a run of the command left behind."""

    status: int
    out: str
    err: str


Run = Callable[..., Outcome]


def runner(capture: pytest.CaptureFixture[bytes], patch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the command with arguments and perhaps standard input."""

    def run(*arguments: str, stdin: bytes = b"") -> Outcome:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        out, err = capture.readouterr()
        assert isinstance(ended.value.code, int)
        return Outcome(ended.value.code, out.decode(), err.decode())

    return run


def forked(arguments: Sequence[str], streams: Sequence[int], variables: Mapping[str, str]) -> int:
    """Run the command in a child of this process; return the child.

    Args:
        arguments: of the command.
        streams: descriptors of its standard input, output and error.
        variables: of its environment, over those that there are.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of xdist do nothing meanwhile
        child = os.fork()
    if child:
        return child
    status: object = 70
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.environ.update(variables)
        sys.stdin, sys.stdout, sys.stderr = map(open, range(3), ("r", "w", "w"))
        cli.main(arguments)
    except SystemExit as ended:
        status = ended.code
    finally:
        os._exit(status if isinstance(status, int) else 1)
