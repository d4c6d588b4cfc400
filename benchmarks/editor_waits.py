"""How long a person waits for a hover in an editor: through the server, by the clock.

A kernel of 500 KB is open, diagnosed, and read for a moment.  An edit is sent with what an editor
asks for at once, the hints of the lines that are shown, and a hover some time later: at once, or
while the new text is diagnosed.  Measured is the time from the request to its answer.

    python benchmarks/editor_waits.py [DUMP ...]

The server is that of ``--server``, by default of this checkout.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from editing import ROOT, lines_of, repeated

URI = "file:///waits.ttgir"
SHOWN = 50
"""Lines that an editor shows."""

READING = 4
"""Seconds before the first edit."""

DELAYS = (0.0, 0.3, 0.6, 1.0)
"""Seconds from an edit to a hover; the server begins to diagnose .2 seconds after an edit."""


class Client:
    """An editor without a screen."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        pipe = subprocess.PIPE
        self._server = subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=folder)
        self._sent = 0
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.tell("initialized", {})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._server.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._server.stdin.flush()

    def tell(self, method: str, params: object) -> None:
        """Send a message that has no answer."""
        self._send({"method": method, "params": params})

    def request(self, method: str, params: object) -> int:
        """Send a request and return its number."""
        self._sent += 1
        self._send({"id": self._sent, "method": method, "params": params})
        return self._sent

    def messages(self) -> Iterator[dict[str, Any]]:
        """Yield what the server sends."""
        assert self._server.stdout is not None
        while length := self._server.stdout.readline():
            while self._server.stdout.readline().strip():
                pass
            yield json.loads(self._server.stdout.read(int(length.split(b":")[1])))

    def ask(self, method: str, params: object) -> Any:
        """Return the answer to a request."""
        number = self.request(method, params)
        return next(m["result"] for m in self.messages() if m.get("id") == number)

    def diagnosed(self, version: int) -> None:
        """Wait for the diagnostics of a version."""
        told = "textDocument/publishDiagnostics"
        for message in self.messages():
            if message.get("method") == told and message["params"].get("version") == version:
                return

    def end(self) -> None:
        """Let the server end."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        self._server.wait(60)


def at(line: int, column: int) -> dict[str, Any]:
    """Return a position of the document."""
    return {"textDocument": {"uri": URI}, "position": {"line": line, "character": column}}


def waits(
    client: Client, text: str, edits: int, random: Random
) -> Iterator[tuple[str, float, float]]:
    """Yield the kind of a line, the delay of the hover and the seconds that it takes."""
    lines, chosen, version = text.split("\n"), lines_of(text), 0
    document = {"uri": URI, "languageId": "mlir", "version": version, "text": text}
    client.tell("textDocument/didOpen", {"textDocument": document})
    client.diagnosed(version)
    time.sleep(READING)
    end = {"line": len(lines) - 3, "character": 0}
    for _ in range(edits):
        for kind, delay in ((k, d) for k in chosen if chosen[k] for d in DELAYS):
            line, version = random.choice(chosen[kind]), version + 1
            start = {"line": max(0, line - SHOWN // 2), "character": 0}
            shown = {"start": start, "end": {"line": line + SHOWN // 2, "character": 0}}
            change = [{"range": {"start": end, "end": end}, "text": "\n"}]
            named = {"uri": URI, "version": version}
            client.tell("textDocument/didChange", {"textDocument": named, "contentChanges": change})
            asked = {"textDocument": {"uri": URI}, "range": shown}
            client.request("textDocument/inlayHint", asked)
            time.sleep(delay)
            begun = time.perf_counter()
            client.ask("textDocument/hover", at(line, max(lines[line].find(" = ") + 3, 2)))
            yield kind, delay, time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", nargs="*", type=Path)
    parser.add_argument("--edits", type=int, default=5)
    parser.add_argument("--bytes", type=int, default=500_000)
    parser.add_argument("--server", type=Path, default=ROOT, help="a checkout")
    chosen = parser.parse_args()
    for path in chosen.dumps or sorted((ROOT / "examples" / "narrow").glob("*.ttgir")):
        text = repeated(path.read_text(encoding="utf-8"), chosen.bytes)
        client = Client([sys.executable, "-m", "tt_layout", "lsp"], chosen.server)
        found: dict[tuple[str, float], list[float]] = {}
        for kind, delay, seconds in waits(client, text, chosen.edits, Random(1)):
            found.setdefault((kind, delay), []).append(1e3 * seconds)
        client.end()
        for (kind, delay), times in found.items():
            middle, most = statistics.median(times), max(times)
            what = f"{path.stem:24} {kind:9} {delay:.1f} s after the edit"
            print(f"{what}  median {middle:6.1f} ms, most {most:6.1f}", flush=True)


if __name__ == "__main__":
    main()
