"""A client that sends bytes, whatever they are, and reads what is answered.

Each answer is held within 10 seconds of the processor and 600 MB, those of the processes that the
server starts included.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

SECONDS = 240
"""Until an answer, on a machine that does much else."""

CPU_SECONDS, MEGABYTES = 60, 600
"""What an answer may take."""


def processes_of(process: int) -> Iterator[int]:
    """Yield a process and all that it started, and so on, as far as they are there."""
    yield process
    with suppress(OSError):
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            for child in children.read_text().split():
                yield from processes_of(int(child))


def taken(process: int) -> tuple[float, int]:
    """Return the seconds of the processor that a process has used, and its most bytes so far."""
    try:
        used = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
        peak = Path(f"/proc/{process}/status").read_text().partition("VmHWM:")[2]
    except OSError:  # it has ended, or this is not Linux
        return 0.0, 0
    ticks = sum(map(int, used))
    return ticks / os.sysconf("SC_CLK_TCK"), int((peak.split() or ["0"])[0]) << 10


class Raw:
    """A server, and what it has sent.

    Args:
        command: of the server: ``lsp`` or ``mcp``.

    Attributes:
        notes: what the server sent unasked, as far as it was read.
    """

    def __init__(self, command: str, *options: str, errors: BinaryIO | None = None) -> None:
        self.has_headers = command == "lsp"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tt_layout", command, *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
        )  # fmt: skip
        self._found: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.notes: list[dict[str, Any]] = []
        self._known: dict[object, dict[str, Any]] = {}
        self._used: dict[int, float] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, message: bytes) -> None:
        """Send the bytes of a message."""
        assert self.process.stdin is not None
        head = b"Content-Length: %d\r\n\r\n" % len(message) if self.has_headers else b""
        self.process.stdin.write(head + message + (b"" if self.has_headers else b"\n"))
        self.process.stdin.flush()

    def tell(self, method: str, params: object) -> None:
        """Send a notification."""
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def ask(self, number: int, method: str, params: str | object) -> dict[str, Any]:
        """Return the answer to a request; its parameters may be given as JSON."""
        self.request(number, method, params)
        return self.answer(number)

    def request(self, number: int, method: str, params: str | object) -> None:
        """Send a request."""
        given = params if isinstance(params, str) else json.dumps(params)
        text = f'{{"jsonrpc": "2.0", "id": {number}, "method": "{method}", "params": {given}}}'
        self.send(text.encode())

    def answer(self, number: object, seconds: float = SECONDS) -> dict[str, Any]:
        """Return the answer to the request of a number."""
        while number not in self._known:
            self._take(seconds)
        self.check_bounds()
        return self._known.pop(number)

    def results(self) -> set[object]:
        """Return the numbers of the requests with a result that nobody has asked for yet."""
        return {number for number, found in self._known.items() if "result" in found}

    def note(self, note: dict[str, Any]) -> None:
        """Wait until the server sends this unasked."""
        while note not in self.notes:
            self._take(SECONDS)

    def _take(self, seconds: float) -> None:
        """Read one message."""
        found = self._found.get(timeout=seconds)
        assert found is not None, "the server has ended"
        self._known[found.get("id")] = found
        if "id" not in found:
            self.notes.append(found)

    def check_bounds(self) -> None:
        """See that no process has taken too much since this was seen last."""
        for process in processes_of(self.process.pid):
            used, peak = taken(process)
            assert used - self._used.get(process, 0.0) < CPU_SECONDS, "it takes too long"
            assert peak < MEGABYTES << 20, "it takes too much memory"
            self._used[process] = used

    def stop(self) -> int:
        """End the server by the end of its input; return its status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(SECONDS)

    def end(self) -> None:
        """End the server, whatever it does."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()

    def _read(self) -> None:
        out = self.process.stdout
        assert out is not None
        while line := out.readline():
            if self.has_headers:
                size = int(line.partition(b":")[2])
                while out.readline().strip():
                    pass
                line = out.read(size)
            self._found.put(json.loads(line))
        self._found.put(None)


@contextmanager
def lsp(errors: Path | None = None) -> Iterator[Raw]:
    """Start the server of an editor."""
    with _started("lsp", (), errors) as raw:
        raw.ask(0, "initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        raw.tell("initialized", {})
        yield raw


@contextmanager
def mcp(*options: str, errors: Path | None = None) -> Iterator[Raw]:
    """Start the server of an agent."""
    with _started("mcp", options, errors) as raw:
        client = {"name": "raw", "version": "1"}
        given = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        raw.ask(0, "initialize", given)
        raw.tell("notifications/initialized", {})
        yield raw


@contextmanager
def _started(command: str, options: tuple[str, ...], errors: Path | None) -> Iterator[Raw]:
    with (errors or Path("/dev/null")).open("wb") as file:
        raw = Raw(command, *options, errors=file)
        try:
            yield raw
        finally:
            raw.end()
