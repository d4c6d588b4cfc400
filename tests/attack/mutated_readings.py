"""What is read in this process, mutated: dumps, entries of a cache, logs, messages to servers.

Each is told in a line, and tried by a call that returns how it ended and what is wrong with that.
"""

from __future__ import annotations

import asyncio
import atexit
import gzip
import json
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "attack")]
from harness import DUMP, fault_of
from hostile_dumps import DUMPS, SIZES
from mutated_inputs import dumps
from mutations import mutated

from tt_layout.errors import LayoutError

if TYPE_CHECKING:
    from tt_layout.dumps.cache import ResultCache

LONGEST = 6000  # characters of a dump: a longer one is read by the same code
STRANGE: tuple[object, ...] = (
    None, True, -1, 1 << 80, 1e308, -0.0, float("nan"), "", "\x1b[31m", "\ud800", [], {}, [[]],
    {"a": 1}, "9" * 5000, 9 * 10**4200, "x" * 100_000,
)  # fmt: skip


class Reading(NamedTuple):
    """Something to read.

    Attributes:
        name: what it is counted as.
        shown: what it is, in a line.
        read: returns what is wrong with how it ends; None for nothing.
    """

    name: str
    shown: str
    read: Callable[[], str | None]


def mutated_reading(r: Random) -> Reading:
    """Return something to read of which a text, a value, or a few have been changed."""
    return r.choice(KINDS)(r)


def _changed(r: Random, plain: Any) -> Any:
    """Return plain data with a value somewhere in it replaced, left out or said twice."""
    plain = json.loads(json.dumps(plain))
    place, keys = plain, []
    while isinstance(place, (list, dict)) and place and r.random() < 0.9:
        key = r.choice([*place] if isinstance(place, dict) else range(len(place)))
        keys.append((place, key))
        place = place[key]
    if not keys:
        return r.choice(STRANGE)
    holder, key = keys[-1]
    change = r.choice(["strange", "strange", "text", "without", "again"])
    if change == "without":
        del holder[key]
    elif change == "again" and isinstance(holder, list):
        holder.extend(holder * r.choice([1, 3]))
    elif change == "text" and isinstance(holder[key], str):
        holder[key] = mutated(r, holder[key])
    else:
        holder[key] = r.choice(STRANGE)
    return plain


def _as_json(r: Random, plain: Any) -> str:
    """Return plain data as JSON: changed as data, as text, or both."""
    for _ in range(r.choice([0, 1, 1, 1, 2])):
        plain = _changed(r, plain)
    try:
        text = json.dumps(plain)
    except ValueError:  # a number of more digits than Python writes
        text = json.dumps(plain, default=str) if r.random() < 0.5 else f"[{'9' * 5000}]"
    return mutated(r, text) if r.random() < 0.25 else text


@cache
def _small_dumps() -> list[str]:
    return [DUMP, *(text for text in dumps() if len(text) < LONGEST)]


# -- dumps, entries, logs ------------------------------------------------------------------------


def _of_a_dump(r: Random) -> Reading:
    text = mutated(r, r.choice(_small_dumps()) if r.random() < 0.3 else DUMP)

    def read() -> str | None:
        from tt_layout.reports.audit_ir import audit_ir

        try:
            return fault_of(0, str(audit_ir(text)), "")
        except LayoutError as error:
            return None if error.message else "no message"

    return Reading("a dump", repr(text[:200]), read)


@cache
def _folder() -> str:
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    return folder


@cache
def _entry() -> Any:
    from tt_layout.dumps.audits import KernelReader
    from tt_layout.dumps.cache import to_plain
    from tt_layout.dumps.dump import AS_IT_IS

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.ttgir")
        Path(path).write_text(DUMP)
        found: Any = KernelReader(AS_IT_IS).read(path)
        return to_plain(found, path)


@cache
def _cache() -> ResultCache:
    from tt_layout.dumps.cache import ResultCache
    from tt_layout.dumps.dump import AS_IT_IS

    return ResultCache(os.path.join(_folder(), "kept"), AS_IT_IS)


def _of_an_entry(r: Random) -> Reading:
    text = _as_json(r, _entry())

    def read() -> str | None:
        from tt_layout.reports.kernel_overview import KernelOverview
        from tt_layout.reports.report import plain_text

        kept = _cache()
        kept._folder.write("0" * 64, text.encode("utf-8", "surrogatepass"))
        found = kept.find("0" * 64, "k.ttgir")
        if found is None:
            return None
        kernels = sorted(found.kernels, key=lambda kernel: kernel.rank)
        plain_text(KernelOverview(kernels, found.unread, None))
        return None

    return Reading("an entry of a cache", repr(text[:200]), read)


def _of_a_log(r: Random) -> Reading:
    text = r.choice(_small_dumps()) if r.random() < 0.1 else DUMP  # auditing takes most of the time
    payload = {
        "metadata": {"hash": "k", "name": "f", "num_warps": 4, "shared": 1024, "num_stages": 3},
        "file_content": {"f.ttgir": text, "f.amdgcn": ".vgpr_count: 7\n"},
        "python_source": {"file_path": "/a/b.py", "start_line": 3, "code": "x = 1\n"},
    }
    arguments = {"n": {"type": "int", "value": 64}, "p": {"type": "tensor", "data_ptr": "0x7f00"}}
    events: list[Any] = [
        {"event_type": "compilation", "payload": payload},
        *[{
            "event_type": "launch", "grid": [4, 1, 1], "compilation_metadata": {"hash": "k"},
            "extracted_args": arguments,
        }] * 2,
    ]  # fmt: skip
    lines = [_as_json(r, event) if r.random() < 0.6 else json.dumps(event) for event in events]
    content = "\n".join(lines).encode("utf-8", "surrogatepass")
    is_compressed = r.random() < 0.3
    if is_compressed:
        packed = bytearray(gzip.compress(content, 1, mtime=0))
        for _ in range(r.choice([0, 1, 3])):
            packed[r.randrange(len(packed))] = r.randrange(256)
        content = bytes(packed[: r.choice([None, None, r.randrange(len(packed))])])

    def read() -> str | None:
        from tt_layout.dumps.audits import FileKernels, KernelReader
        from tt_layout.dumps.dump import AS_IT_IS
        from tt_layout.reports.kernel_overview import KernelOverview
        from tt_layout.reports.report import plain_text

        path = os.path.join(_folder(), f"a.ndjson{'.gz' * is_compressed}")
        Path(path).write_bytes(content)
        try:
            found: Any = KernelReader(AS_IT_IS).read(path)
        except LayoutError as error:
            return None if error.message else "no message"
        if not isinstance(found, FileKernels):
            return None if fault_of(0, f"{found}", "") is None else "an unprintable reason"
        kernels = sorted(found.kernels, key=lambda kernel: kernel.rank)
        text = plain_text(KernelOverview(kernels, found.unread, None))
        return fault_of(0, text, "")

    return Reading("a log", repr(content[:200]), read)


# -- messages ------------------------------------------------------------------------------------


class _Logged(logging.Handler):
    """Exceptions that a server writes into its log, where nobody looks."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and "tt_layout" in _places(error):
            self.found.append(f"{type(error).__name__}: {error}")

    def taken(self) -> str | None:
        found, self.found = self.found, []
        return f"logs {found[0][:200]}" if found else None


def _places(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_tb(error.__traceback__)[-1:])


@cache
def _logged() -> _Logged:
    logger, handler = logging.getLogger(), _Logged()
    logger.addHandler(handler)
    return handler


URI = "file:///work/dump.ttgir"
PLACE = {"textDocument": {"uri": URI}, "position": {"line": 7, "character": 12}}
RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 40, "character": 0}}
SPAN = {"textDocument": {"uri": URI}, "range": RANGE}
CHANGE = {"range": RANGE, "text": "x"}
OF_EDITORS: Mapping[str, Any] = {
    "textDocument/hover": PLACE,
    "textDocument/definition": PLACE,
    "textDocument/references": {**PLACE, "context": {"includeDeclaration": True}},
    "textDocument/inlayHint": SPAN,
    "textDocument/documentSymbol": {"textDocument": {"uri": URI}},
    "textDocument/foldingRange": {"textDocument": {"uri": URI}},
    "textDocument/codeAction": {**SPAN, "context": {"diagnostics": []}},
    "codeAction/resolve": {"title": "x", "data": [URI, 0, "x", 7, 1, 1]},
    "textDocument/didChange": {
        "textDocument": {"uri": URI, "version": 2}, "contentChanges": [CHANGE],
    },
    "textDocument/didClose": {"textDocument": {"uri": URI}},
    "initialize": {"processId": None, "rootUri": None, "capabilities": {}},
    "$/cancelRequest": {"id": 3},
}  # fmt: skip


class _Editor:
    """A language server whose messages go nowhere but here."""

    def __init__(self) -> None:
        from tt_layout.servers.language_server import make_server

        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.server = make_server()
        self.sent: list[dict[str, Any]] = []
        self.server.protocol.set_writer(self)
        self.tell({"id": 0, "method": "initialize", "params": OF_EDITORS["initialize"]})
        self.tell({"method": "initialized", "params": {}})

    def write(self, content: bytes) -> None:
        self.sent.append(json.loads(content.partition(b"\r\n\r\n")[2]))

    def close(self) -> None:
        """Do nothing: the stream is no file."""

    def tell(self, message: Mapping[str, Any]) -> None:
        self.receive(json.dumps({"jsonrpc": "2.0", **message}))

    def receive(self, text: str) -> None:
        """Take a message as `pygls.io_` does."""
        from tt_layout.servers.messages import with_short_numbers

        body = with_short_numbers(text.encode("utf-8", "surrogatepass"))
        protocol = self.server.protocol

        async def handled() -> None:
            try:
                protocol.handle_message(json.loads(body, object_hook=protocol.structure_message))
            except (ValueError, RecursionError, AttributeError):
                return  # it is no message, which the server notes
            for _ in range(20):
                await asyncio.sleep(0)
                waiting = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
                if waiting:
                    await asyncio.wait(waiting, timeout=9)

        self.loop.run_until_complete(handled())

    def fault(self, numbers: set[object]) -> str | None:
        """Return what is wrong with what was sent, of which an answer has each number."""
        sent, self.sent = self.sent, []
        for message in sent:
            if message.get("error", {}).get("code") == -32603:
                return f"internal error: {message['error']['message'][:200]}"
            numbers.discard(message.get("id"))
        return f"no answer to {numbers}" if numbers else None


@cache
def _editor() -> _Editor:
    return _Editor()


def _request(text: str) -> dict[str, Any]:
    """Return the message that a server reads in a text; an empty one where it reads none.

    A number of too many digits is a text by then.
    """
    from tt_layout.servers.messages import with_short_numbers

    with suppress(ValueError, RecursionError):
        found = json.loads(with_short_numbers(text.encode("utf-8", "surrogatepass")))
        if isinstance(found, dict):
            return found
    return {}


def _is_read_by_agents(line: str) -> bool:
    """Tell whether the server of agents can read a line: JSON without half a surrogate."""
    from pydantic_core import from_json

    with suppress(ValueError):
        from_json(line)
        return True
    return False


def _of_an_editor(r: Random) -> Reading:
    method = r.choice([*OF_EDITORS])
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": OF_EDITORS[method]}
    if "/did" in method or method.startswith("$"):
        del message["id"]
    text, dump = _as_json(r, message), DUMP
    if r.random() < 0.1:
        dump = mutated(r, dump)
    return to_editor(text, dump)


def to_editor(text: str, dump: str = DUMP) -> Reading:
    """Return the reading of a message of an editor that has a dump open."""

    def read() -> str | None:
        editor = _editor()
        document = {"uri": URI, "languageId": "mlir", "version": 1, "text": dump}
        editor.server.protocol._shutdown = False
        editor.tell({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        editor.sent.clear()
        _logged().taken()
        editor.receive(text)
        found = _request(text)
        is_asked = found.get("jsonrpc") == "2.0" and isinstance(found.get("method"), str)
        number = found.get("id")
        asked = {number} if is_asked and type(number) in (int, str) else set()
        if (fault := editor.fault(asked)) is not None:
            return fault
        editor.tell({"id": 99, "method": "textDocument/hover", "params": PLACE})
        return editor.fault({99}) or _logged().taken()

    return Reading("a message of an editor", repr(text[:300]), read)


class _Agent:
    """A server of agents that answers in this process, and whose messages go nowhere but here."""

    def __init__(self) -> None:
        from anyio import to_process

        from tt_layout.servers import agent_server, agent_tools

        self.loop = asyncio.new_event_loop()
        self.lines: asyncio.Queue[str] = asyncio.Queue()
        self.sent: list[dict[str, Any]] = []
        self.failed: list[str] = []
        # The limits are those of `fuzz`.
        agent_tools.limit_memory = lambda: None  # type: ignore[assignment]
        agent_tools._limited_time = nullcontext  # type: ignore[assignment]

        async def in_this_process(
            question: Callable[..., object], *given: Any, **how: Any
        ) -> object:
            try:
                return question(*given)
            except Exception as error:
                self.failed.append(f"{type(error).__name__}: {error}")
                raise

        to_process.run_sync = in_this_process  # type: ignore[assignment]
        self.server = agent_server.make_server(None)
        logging.getLogger().handlers[:] = [_logged()]  # the server of agents adds one that prints
        logging.getLogger().setLevel(logging.ERROR)
        self.loop.create_task(self._serve())
        client = {"name": "raw", "version": "1"}
        given = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.tell({"id": 0, "method": "initialize", "params": given})
        self.tell({"method": "notifications/initialized", "params": {}})

    async def _serve(self) -> None:
        from mcp.server.stdio import stdio_server

        from tt_layout.servers.agent_server import Readable

        server = self.server._lowlevel_server
        async with stdio_server(self, self) as (asked, told):  # type: ignore[arg-type]
            options = server.create_initialization_options()
            await server.run(Readable(asked, told), told, options)

    def __aiter__(self) -> _Agent:
        return self

    async def __anext__(self) -> str:
        return await self.lines.get()

    async def write(self, text: str) -> None:
        self.sent.append(json.loads(text))

    async def flush(self) -> None:
        """Do nothing: the stream is no file."""

    def tell(self, message: Mapping[str, Any]) -> None:
        self.receive(json.dumps({"jsonrpc": "2.0", **message}))

    def receive(self, text: str) -> None:
        """Take a message, and a ping after it, which is answered when the first one has been."""
        from io import BytesIO

        from tt_layout.servers.messages import Lines, Messages

        body = text.encode("utf-8", "surrogatepass").replace(b"\n", b" ") + b"\n"
        line = Lines(Messages(BytesIO(body))).readline()
        self.sent.clear()
        self.loop.run_until_complete(self._answered(line))

    def _has(self, number: object) -> bool:
        return any(message.get("id") == number for message in self.sent)

    async def _answered(self, line: str) -> None:
        await self.lines.put(line)
        found = _request(line)
        is_read = isinstance(found.get("method"), str) and _is_read_by_agents(line)
        asked = found.get("id") if is_read else None
        for turn in range(210):
            if turn == 20:
                await self.lines.put('{"jsonrpc": "2.0", "id": "end", "method": "ping"}\n')
            await asyncio.sleep(0 if turn < 200 else 0.01)
            if turn > 20 and self._has("end") and (type(asked) is not int or self._has(asked)):
                return


@cache
def _agent() -> _Agent:
    return _Agent()


def _of_an_agent(r: Random) -> Reading:
    rows = "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])"
    given = {
        "audit": {"dump": DUMP, "values": {"n": 7}},
        "explain": {"dump": DUMP, "line": 7},
        "kernel_features": {"dump": DUMP},
        "apply_suggestion": {"dump": DUMP, "finding": 1},
        "conflicts": {"registers": rows, "shared": "(64,64):(64,1)", "tensor": "64x64xf16"},
        "swizzle": {"writers": [rows], "readers": [], "tensor": "32x32xf16"},
        "convert": {"source": rows, "target": rows, "tensor": "32x32xf16", "gpu": "sm80"},
        "translate_layout": {"layout": rows, "to": "3.4", "tensor": "32x32xf16"},
        "picture": {"layout": rows, "tensor": "8x8xf16"},
    }
    tool = r.choices([*given], [4, 4, 4, 4, 4, 1, 4, 4, 1])[0]
    message: Any = {
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": tool, "arguments": given[tool]},
    }  # fmt: skip
    return to_agent(_as_json(r, message))


QUESTIONS: Mapping[str, Mapping[str, Any]] = {
    "audit": {"values": {"s": 3}}, "findings": {}, "kernel_features": {},
    "apply_suggestion": {"finding": 1}, "explain": {"line": 7},
}  # fmt: skip
"""Tools that take a dump, and what else they are asked."""


def hostile_question(r: Random) -> Reading:
    """Return a question of an agent about a small dump of which much could be made."""
    name, size, tool = r.choice([*DUMPS]), r.choice(SIZES), r.choice([*QUESTIONS])
    params = {"name": tool, "arguments": {"dump": DUMPS[name](size), **QUESTIONS[tool]}}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    return to_agent(json.dumps(message))._replace(name=tool, shown=f"{name} of {size}")


def to_agent(text: str) -> Reading:
    """Return the reading of a message of an agent."""

    def read() -> str | None:
        agent = _agent()
        agent.failed.clear()
        agent.receive(text)
        if agent.failed:
            return agent.failed[0][:300]
        if not agent._has("end"):
            return "the server answers no more"
        found = _request(text) if _is_read_by_agents(text) else {}
        if found.get("jsonrpc") == "2.0" and found.get("method") == "tools/call":
            number = found.get("id")
            if type(number) in (str, int) and not agent._has(number):
                return "no answer"
        return None

    return Reading("a message of an agent", repr(text[:300]), read)


KINDS: list[Callable[[Random], Reading]] = [
    _of_a_dump, _of_an_entry, _of_an_entry, _of_a_log, _of_a_log, _of_an_editor, _of_an_agent,
]  # fmt: skip
