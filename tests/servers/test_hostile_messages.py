"""Messages to the servers that no client of their protocols would send: each is answered."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from servers.raw import Raw, lsp, mcp

pytestmark = [pytest.mark.attack, pytest.mark.skipif(os.name != "posix", reason="reads /proc")]

ROOT = Path(__file__).parent.parent.parent
MATMUL = (ROOT / "examples" / "kernels" / "matmul-sm90.ttgir").read_text(encoding="utf-8")
URI = "file:///work/dump.ttgir"
ROWS = "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])"
DIGITS = "9" * 5000
FAR = (-1, 1 << 31, 1 << 40, 10**30, DIGITS, "-" + DIGITS, "1e999", "1.5", "null", '"1"', "[]")
"""Numbers that are no line and no column."""


def test_an_editor_is_answered_wherever_it_points(tmp_path: Path) -> None:
    document = {"uri": URI, "languageId": "mlir", "version": 1, "text": MATMUL}
    with lsp(tmp_path / "errors") as server:
        server.tell("textDocument/didOpen", {"textDocument": document})
        number = 0
        for method in ("hover", "definition"):
            for far in FAR:
                for place in (f'"line": {far}, "character": 0', f'"line": 9, "character": {far}'):
                    number += 1
                    given = f'{{"textDocument": {{"uri": "{URI}"}}, "position": {{{place}}}}}'
                    assert "id" in server.ask(number, f"textDocument/{method}", given)
        usual = {"textDocument": {"uri": URI}, "position": {"line": 30, "character": 20}}
        assert server.ask(99, "textDocument/hover", usual)["result"] is not None
        server.ask(100, "shutdown", None)
        server.tell("exit", None)
        assert server.process.wait(30) == 0


def call(server: Raw, number: int, tool: str, arguments: str | object) -> dict[str, Any]:
    """Return what a tool answers."""
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    found = server.ask(number, "tools/call", f'{{"name": "{tool}", "arguments": {given}}}')
    return dict(found.get("result") or found["error"])


def test_an_agent_is_answered_whatever_its_numbers(tmp_path: Path) -> None:
    dump = json.dumps(MATMUL)
    with mcp(errors=tmp_path / "errors") as server:
        for number, far in enumerate(FAR):
            for tool, key in (("explain", "line"), ("apply_suggestion", "finding")):
                assert call(server, number + 1, tool, f'{{"dump": {dump}, "{key}": {far}}}')
            values = f'{{"dump": {dump}, "values": {{"K": {far}}}}}'
            assert call(server, number + 1, "audit", values)
        digits = f"tensor<{DIGITS}xf16>"
        found = call(server, 90, "picture", {"layout": ROWS, "tensor": digits})
        assert "at most 1024" in found["content"][0]["text"]
        large = f"#ttg.blocked<{{sizePerThread = [{DIGITS}]}}>"
        found = call(server, 91, "picture", {"layout": large, "tensor": "64xf16"})
        assert found["isError"]
        many = {"writers": [ROWS] * 2000, "readers": [], "tensor": "64x64xf16"}
        assert "at most 16" in call(server, 92, "swizzle", many)["content"][0]["text"]
        assert not call(server, 93, "audit", {"dump": MATMUL}).get("isError")
        assert server.stop() == 0
    assert "Traceback" not in (tmp_path / "errors").read_text()


def memory_of(process: int) -> int:
    """Return the bytes that a process and those that it started have in memory."""
    found = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(status.parent.name) == process or int(lines["PPid"]) == process:
            found += int(lines.get("VmRSS", "0 kB").split()[0]) << 10
    return found


@pytest.mark.parametrize("count", [pytest.param(10_000, marks=pytest.mark.slow), 400])
def test_calls_leave_no_memory_behind(count: int) -> None:
    """Of calls that are all different, each half takes as much as the other."""
    with mcp() as server:
        sizes = []
        for number in range(1, count + 1):
            shape = f"{64 << number % 3}x{number + 63}xf16"
            call(server, number, "translate_layout", {"layout": ROWS, "to": "3.4", "tensor": shape})
            if number % 50 == 0:
                name = f"kernel_{number}"
                call(server, number, "audit", {"dump": MATMUL.replace("matmul", name)})
            if number in (count // 2, count):
                sizes.append(memory_of(server.process.pid))
        assert sizes[1] < 600 << 20
        assert sizes[1] - sizes[0] < 60 << 20
