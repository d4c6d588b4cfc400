"""Runs of the command as processes of their own, made by a process that has all modules loaded.

A run begins where the imports end; those are attacked by the runs that a shell starts.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent


class Ended(NamedTuple):
    """How a run ended; the status is negative for a signal."""

    status: int
    out: bytes
    err: bytes


class Limits(NamedTuple):
    """What a run may take."""

    seconds: int
    megabytes: int


class Server:
    """A process that forks a run for each line that it reads."""

    def __init__(self, limits: Limits) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
        for name in ("CI", "PYTHONDEVMODE"):
            environment.pop(name, None)
        self._process = subprocess.Popen(
            [sys.executable, __file__, *map(str, limits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )

    def run(
        self,
        arguments: Sequence[str],
        *,
        beside: Sequence[str] | None = None,
        kill_after: float | None = None,
        file_bytes: int | None = None,
    ) -> Ended:
        """Run the command with arguments, in the folder that this process is in.

        Args:
            arguments: of the run.
            beside: of another at the same time, which is not told of.
            kill_after: seconds after which the run is killed.
            file_bytes: what a file may have; more is refused as by a full disk.
        """
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answers is not None
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            paths = [f"/proc/{os.getpid()}/fd/{file.fileno()}" for file in (out, err)]
            runs = [[arguments, *paths], *([[beside, os.devnull, os.devnull]] if beside else [])]
            line = json.dumps([os.getcwd(), file_bytes, kill_after, runs])
            asked.write(line.encode() + b"\n")
            asked.flush()
            status = int(answers.readline())
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read())
        return Ended(status, *texts)


@cache
def server(limits: Limits) -> Server:
    """Return the server of this process."""
    return Server(limits)


# -- in the process itself ------------------------------------------------------------------------


def _serve(limits: Limits) -> None:
    for path in sorted((ROOT / "tt_layout").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if path.name not in ("__main__.py", "pytest_plugin.py"):
            import_module(name.removesuffix(".__init__"))
    for line in sys.stdin:
        folder, file_bytes, kill_after, runs = json.loads(line)
        started = []
        for arguments, *outputs in runs:
            started.append(os.fork())
            if not started[-1]:
                _limit(limits, file_bytes)
                _run(folder, outputs, arguments)
        if kill_after is not None:
            time.sleep(kill_after)
            os.kill(started[0], signal.SIGKILL)
        statuses = [_awaited(run, limits) for run in started]
        sys.stdout.write(f"{statuses[0]}\n")
        sys.stdout.flush()


def _awaited(run: int, limits: Limits) -> int:
    """Return the status of a run; one that sleeps for ever is killed."""
    idle = Idle(run)
    while True:
        ended, status = os.waitpid(run, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if idle.seconds() > 3 * limits.seconds:
            os.kill(run, signal.SIGKILL)
        time.sleep(0.002)


class Idle:
    """How long a process has used no processor, however busy the machine is with others.

    Args:
        process: of this one's children, not waited for yet.
    """

    def __init__(self, process: int) -> None:
        self._stat = Path(f"/proc/{process}/stat")
        self._used: list[str] = []
        self._since = 0.0

    def seconds(self) -> float:
        """Return the seconds since it was last seen to have used some."""
        used = self._stat.read_text().rpartition(")")[2].split()[11:13]
        if used != self._used:
            self._used, self._since = used, time.monotonic()
        return time.monotonic() - self._since


def _limit(limits: Limits, file_bytes: int | None) -> None:
    """Limit what this process takes."""
    resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds))
    resource.setrlimit(resource.RLIMIT_AS, (limits.megabytes << 20, limits.megabytes << 20))
    if file_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))


def _run(folder: str, outputs: Sequence[str], arguments: Sequence[str]) -> None:
    """Run the command in this process, which ends with it."""
    from tt_layout.__main__ import main

    status = 1
    try:
        os.chdir(folder)
        for descriptor, path in enumerate([os.devnull, *outputs]):
            os.dup2(os.open(path, os.O_RDWR), descriptor)
        sys.argv = ["tt-layout", *arguments]
        main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve(Limits(*map(int, sys.argv[1:])))
