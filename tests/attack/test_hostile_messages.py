"""Messages to the servers that no client of their protocols would send: each is answered."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from servers.raw import Raw, lsp, mcp

from tt_layout.servers.messages import MAX_MESSAGE

agent_tools = pytest.importorskip("tt_layout.servers.agent_tools")

pytestmark = [pytest.mark.attack, pytest.mark.skipif(os.name != "posix", reason="reads /proc")]

ROOT = Path(__file__).parent.parent.parent
MATMUL = (ROOT / "examples" / "kernels" / "matmul-sm90.ttgir").read_text(encoding="utf-8")
COSTLY = (ROOT / "examples" / "kernels" / "attention-gfx942.ttgir").read_text(encoding="utf-8")
OF_DUMPS = ("findings", "apply_suggestion", "kernel_features")
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


SHORT = f'"data": ["{URI}", 0, "a", 1]'
OF_EDITORS: dict[str, int | None] = {
    # seed 37 of `tests/attack/fuzz.py --readings`, tries 69, 127, 139 and 194, as they were then
    f'{{"id": 7, "method": "codeAction/resolve", "params": {{"title": "", {SHORT}}}}}': 7,
    '{"id": 8, "method": {"a": 1}, "params": {}}': 8,
    '{"id": 9, "method": -0.0, "params": {"textDocument": -1}}': 9,
    '{"id": {"a": 1}, "method": "textDocument/documentSymbol", "params": {}}': None,
    '{"id": 11, "method": "codeAction/resolve", "params": {"title": "x", "data": {"a": [1]}}}': 11,
    '{"id": 12, "method": "nothing", "params": []}': 12,
}
"""Messages of editors, and the number under which each is answered."""


def test_an_editor_is_answered_whatever_it_sends(tmp_path: Path) -> None:
    document = {"uri": URI, "languageId": "mlir", "version": 1, "text": MATMUL}
    with lsp(tmp_path / "errors") as server:
        server.tell("textDocument/didOpen", {"textDocument": document})
        for message, number in OF_EDITORS.items():
            server.send(f'{{"jsonrpc": "2.0", {message[1:]}'.encode())
            if number is not None:
                assert server.answer(number).get("error", {}).get("code") != -32603, message
        assert server.process.stdin is not None
        server.process.stdin.write(b"Content-Length: 99999999\r\n\r\n" + b"x" * 99999999)
        usual = {"textDocument": {"uri": URI}, "position": {"line": 30, "character": 20}}
        assert server.ask(99, "textDocument/hover", usual)["result"] is not None


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


def told(server: Raw, number: int, tool: str, **arguments: object) -> str:
    """Return all that a tool answers, also that it refuses."""
    return json.dumps(call(server, number, tool, arguments))


def test_arguments_beyond_their_limits_are_refused(tmp_path: Path) -> None:
    many: dict[str, object] = {"writers": [ROWS] * 17, "readers": [], "tensor": "64x64xf16"}
    beyond: tuple[tuple[str, dict[str, object], str], ...] = (
        ("swizzle", many, "at most 16"),
        ("swizzle", {**many, "writers": [ROWS], "readers": [ROWS] * 17}, "at most 16"),
        ("swizzle", {**many, "writers": [ROWS + " " * 100_000]}, "at most 65536"),
        ("swizzle", {**many, "writers": []}, "at least 1"),
        ("convert", {"source": " " * 100_000, "target": ROWS, "tensor": "64x64xf16"}, "at most 65"),
        ("audit", {"dump": MATMUL, "values": {f"n{at}": at for at in range(257)}}, "at most 256"),
        ("audit", {"dump": MATMUL, "values": {"n" * 1025: 1}}, "at most 1024"),
        ("audit", {"dump": MATMUL, "grid": [1, 1, 1, 1]}, "at most 3"),
        ("audit", {"dump": MATMUL, "grid": []}, "at least 1"),
        ("audit", {"dump": MATMUL, "grid": [0]}, "greater than or equal to 1"),
        ("audit", {"dump": MATMUL, "grid": [1 << 31]}, "less than 2147483648"),
        ("audit", {"dump": MATMUL, "gpu": "h" * 1025}, "at most 1024"),
        ("audit", {"dump": MATMUL, "release": "3" * 1025}, "at most 1024"),
        ("findings", {"dump": MATMUL, "first": 0}, "greater than or equal to 1"),
        ("findings", {"dump": MATMUL, "most": 1001}, "less than or equal to 1000"),
        ("dumps", {"most": 1001}, "less than or equal to 1000"),
        ("kernel_features", {"dump": MATMUL, "kernel": "k" * 1025}, "at most 1024"),
        ("translate_layout", {"layout": ROWS, "to": "3" * 1025}, "at most 1024"),
        ("picture", {"layout": ROWS, "tensor": "1x" * 2000 + "f16"}, "at most 1024"),
    )
    with mcp(errors=tmp_path / "errors") as server:
        for number, (tool, arguments, limit) in enumerate(beyond, 1):
            assert limit in told(server, number, tool, **arguments), (tool, limit)
        assert server.stop() == 0
    assert "Traceback" not in (tmp_path / "errors").read_text()


SECRET = "secret = 'of another'\n" * 9


def test_a_dump_brings_no_file_into_an_answer(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "program.py").write_text(SECRET)
    (inside / "link.py").symlink_to(outside / "program.py")
    (inside / "linked").symlink_to(outside)
    (inside / "masked.py").symlink_to("notes.txt")
    (inside / "notes.txt").write_text(SECRET)
    elsewhere = (
        outside / "program.py", inside / "link.py", inside / "linked" / "program.py",
        inside / ".." / "outside" / "program.py", inside / "masked.py", inside / "notes.txt",
    )  # fmt: skip

    def brings(server: Raw, file: Path, *tools: str) -> bool:
        """Tell whether the audit, or another tool, shows a line of a file that a dump names."""
        dump = re.sub(r'loc\("[^"]*":\d+:', f'loc("{file}":2:', COSTLY)
        assert str(file) in dump
        texts = [told(server, 1, tool, dump=dump) for tool in ("audit", *tools)]
        if tools:
            lines = dump.split("\n")
            line = next(at for at, text in enumerate(lines, 1) if "convert_layout" in text)
            texts.append(told(server, 2, "explain", dump=dump, line=line))
        return "secret" in "".join(texts)

    with mcp("--root", str(inside)) as below:
        assert brings(below, inside / "program.py")
        assert [file for file in elsewhere if brings(below, file)] == []
        assert not brings(below, elsewhere[0], *OF_DUMPS)
    with mcp() as without:
        assert not brings(without, inside / "program.py", *OF_DUMPS)
        assert not brings(without, inside / "link.py")
    with mcp("--source", str(outside)) as asked:
        assert brings(asked, outside / "program.py")
        assert brings(asked, inside / "program.py")  # a file of that name is there
        assert not brings(asked, inside / "other.py")


UNREADABLE: dict[bytes, tuple[int, object]] = {
    b"{": (-32700, None),
    b"no JSON": (-32700, None),
    b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list"': (-32700, None),
    b"\xff\xfe\x00": (-32700, None),
    b"[" * 100_000: (-32700, None),
    b"[" * 90_000 + b"]" * 90_000: (-32700, None),
    b"[]": (-32600, None),
    b"7": (-32600, None),
    b'{"jsonrpc": "1.0", "id": 8, "method": "tools/list"}': (-32600, 8),
    b'{"jsonrpc": "2.0", "id": "a", "method": 9}': (-32600, "a"),
    b'{"jsonrpc": "2.0", "id": 10, "method": "tools/list", "params": []}': (-32600, 10),
    b'{"id": true}': (-32600, None),
}
"""Messages, and the error of JSON-RPC with the number that each is answered by."""


def test_a_message_that_cannot_be_read_is_answered(tmp_path: Path) -> None:
    with mcp(errors=tmp_path / "errors") as server:
        for message, (code, number) in UNREADABLE.items():
            server.send(message)
            found = server.answer(number)
            assert found["error"]["code"] == code, message[:80]
            assert found["error"]["message"]
        server.send(b"  ")  # which is no message
        assert "tools" in server.ask(11, "tools/list", {})["result"]
        assert server.stop() == 0
    assert "Traceback" not in (tmp_path / "errors").read_text()


def test_a_message_without_an_end_is_answered(tmp_path: Path) -> None:
    with mcp(errors=tmp_path / "errors") as server:
        assert server.process.stdin is not None
        for _ in range(128):
            server.process.stdin.write(b"x" * (1 << 20))
        server.send(b"")
        assert server.answer(None)["error"]["code"] == -32700
        text = "x" * (MAX_MESSAGE - 1000)  # more than a text may have
        assert "at most" in str(call(server, 1, "audit", {"dump": text}))


def test_calls_that_are_cancelled_leave_the_others_alone(tmp_path: Path) -> None:
    """Of 40 calls at once each second one is given up, before it begins or while it is answered."""
    with mcp(errors=tmp_path / "errors") as server:
        numbers = range(100, 140)
        for number in numbers:
            dump = MATMUL.replace("matmul", f"kernel_{number}")
            server.request(number, "tools/call", {"name": "audit", "arguments": {"dump": dump}})
            if number % 2:
                server.tell("notifications/cancelled", {"requestId": number, "reason": "enough"})
        server.tell("notifications/cancelled", {"requestId": 999})
        server.tell("notifications/cancelled", {"requestId": []})
        server.tell("notifications/cancelled", {})
        for number in numbers[::2]:
            found = server.answer(number, 300)["result"]
            assert f"@kernel_{number}" in found["content"][0]["text"]
        assert not server.results(), "what is given up is not worked on"
        assert not call(server, 1, "audit", {"dump": MATMUL}).get("isError")
        assert server.stop() == 0
    assert "Traceback" not in (tmp_path / "errors").read_text()


def test_an_answer_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(self: object, dump: str) -> str:
        end = time.process_time() + 20  # so that the test ends also where nothing interrupts it
        while time.process_time() < end:
            try:
                len(dump)
            except Exception:
                continue
        return dump

    def large(self: object, dump: str) -> str:
        return str(dump * (agent_tools.MAX_MEMORY + 1))

    tools = agent_tools.AgentTools(None)
    limit_memory = agent_tools.limit_memory  # which is for good
    monkeypatch.setattr(agent_tools, "limit_memory", lambda: None)
    monkeypatch.setattr(agent_tools, "MAX_SECONDS", 0.2)
    monkeypatch.setattr(agent_tools.AgentTools, "audit", endless)
    refused = agent_tools.Refusal("it takes more than 0.2 seconds of the processor")
    assert agent_tools.answered(tools, "audit", {"dump": "x"}) == refused
    process = os.fork()
    if not process:
        monkeypatch.setattr(agent_tools, "limit_memory", limit_memory)
        monkeypatch.setattr(agent_tools.AgentTools, "audit", large)
        told = agent_tools.answered(tools, "audit", {"dump": "x"})
        os._exit(told != agent_tools.Refusal("it takes more than 600 MiB of memory"))
    assert os.waitpid(process, 0)[1] == 0


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


@pytest.mark.parametrize("count", [pytest.param(3_000, marks=pytest.mark.slow), 400])
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
