"""A session of VS Code with the extension, recorded by `tests/editors/vs_code_session.py`, again.

The messages of its client are sent, its capabilities, bursts of edits and cancellations among them,
and the server answers as it did.  Where words have changed the test leaves ``vs_code.jsonl.new``,
with the answers of now.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from servers.raw import Raw

pytestmark = pytest.mark.slow

TRACE = Path(__file__).parent / "vs_code.jsonl"
MESSAGES: list[tuple[str, dict[str, Any]]] = [
    (side, message)
    for side, message in map(json.loads, TRACE.read_text(encoding="utf-8").splitlines())
]
SENT = [message for side, message in MESSAGES if side == "client"]
CANCELLED = [m["params"]["id"] for m in SENT if m["method"] == "$/cancelRequest"]
"""Requests that an answer comes to or not."""

TOLD = [m for side, m in MESSAGES if side == "server" and "id" not in m]
"""The diagnostics; those of a text that is edited within a moment may be left out."""


def replayed() -> tuple[list[tuple[str, dict[str, Any]]], int]:
    """Return the messages with the answers of now, and the status with which the server ends."""
    raw = Raw("lsp")
    found = []
    try:
        for side, message in MESSAGES:
            if side == "client":
                raw.send(json.dumps(message).encode())
            elif "id" in message:  # VS Code had the answer before it sent what follows
                is_awaited = message["id"] not in CANCELLED
                message = raw.answer(message["id"]) if is_awaited else message
            elif message in (TOLD[0], TOLD[-1]):
                raw.note(message)
            found.append((side, message))
        return found, raw.process.wait(60)
    finally:
        raw.end()


def test_the_session_has_what_people_do_in_a_dump() -> None:
    methods = [message["method"] for message in SENT]
    assert methods[:3] == ["initialize", "initialized", "textDocument/didOpen"]
    assert methods[-2:] == ["shutdown", "exit"]
    assert methods.count("textDocument/didChange") > 20
    assert {"textDocument/hover", "textDocument/definition", "codeAction/resolve"} <= {*methods}
    assert {"textDocument/inlayHint", "textDocument/documentSymbol"} <= {*methods}
    assert len(CANCELLED) > 0
    assert {m["method"] for m in TOLD} == {"textDocument/publishDiagnostics"}
    assert [item["code"] for item in TOLD[0]["params"]["diagnostics"]] == ["conversions"]
    assert TOLD[-1]["params"]["diagnostics"] == []


def test_vs_code_is_answered_as_it_was() -> None:
    messages, status = replayed()
    assert status == 0
    if messages != MESSAGES:
        lines = [json.dumps(message) + "\n" for message in messages]
        TRACE.with_suffix(".jsonl.new").write_text("".join(lines), encoding="utf-8")
    for found, (_, recorded) in zip(messages, MESSAGES):
        assert found[1] == recorded, recorded.get("id")
