"""``tt-layout mcp``: the library for agents, over the Model Context Protocol.

Each question is answered by a process of its own: a question that is cancelled, or takes too long
or too much memory, ends with its process, and no other waits for it.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

import anyio
from anyio import to_process
from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from tt_layout.kernels.chosen_compiler import Compiler
from tt_layout.servers.agent_tools import AgentTools, Refusal, answered
from tt_layout.servers.messages import Lines, Messages
from tt_layout.version import __version__
from tt_layout.worker import processors

INSTRUCTIONS = (
    "Layouts of Triton GPU kernels and what they cost. List the dumps, or have the text of one."
    " Audit the .ttgir dump of a kernel first: it names the worst findings with the line, the cost"
    " and a fix; findings lists all. Explain a line for its layouts; count"
    " conflicts, find a swizzle or the cost of a conversion for layouts of your own; carry a"
    " suggestion out with apply_suggestion and audit the result."
)

STRUCTURED = ("kernel_features",)
"""Tools whose answer is an object; that of the others is for reading."""

MAX_WAITING = 60
"""Seconds until one answer, however much else the machine does."""

MAX_PROCESSES = 4
"""That answer at once; further questions wait."""


class AgentServer(MCPServer):
    """The server for one agent."""

    async def run_stdio_async(self) -> None:
        """Serve over standard input and output, with messages that can all be answered."""
        lines: Any = Lines(Messages(sys.stdin.buffer))
        server = self._lowlevel_server
        async with stdio_server(anyio.wrap_file(lines)) as (asked, told):
            await server.run(Readable(asked, told), told, server.create_initialization_options())


class Readable:
    """The readable messages of a client; others are answered with an error.

    Args:
        asked: the client's messages, and the reasons why others cannot be read.
        told: the destination of the errors.
    """

    def __init__(self, asked: Any, told: Any) -> None:
        self._asked, self._told = asked, told

    async def __aenter__(self) -> Readable:
        await self._asked.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._asked.__aexit__(*error)

    def __aiter__(self) -> Readable:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> SessionMessage:
        """Return the next message that can be read.

        Raises:
            anyio.EndOfStream: there is none.
        """
        while isinstance(received := await self._asked.receive(), Exception):
            if (error := refusal_of(received)) is not None:
                await self._told.send(SessionMessage(error))
        message: SessionMessage = received
        return message

    async def aclose(self) -> None:
        """Read no more."""
        await self._asked.aclose()


def refusal_of(error: Exception) -> JSONRPCError | None:
    """Return the answer to an unreadable message; None for an empty one."""
    if not isinstance(error, ValidationError):  # it is nested too deeply, or too large
        told = ErrorData(code=PARSE_ERROR, message=f"it cannot be read: {type(error).__name__}")
        return JSONRPCError(jsonrpc="2.0", id=None, error=told)
    problems = error.errors(include_url=False)
    first = problems[0]
    if first["type"] != "json_invalid":
        # Where a member of the message is missing, the input is the message.
        inputs = (problem["input"] for problem in problems if problem["type"] == "missing")
        identity = next((problem.get("id") for problem in inputs), None)
        number = (
            identity
            if isinstance(identity, (int, str)) and not isinstance(identity, bool)
            else None
        )
        told = ErrorData(code=INVALID_REQUEST, message="it is JSON, but no message of JSON-RPC 2.0")
        return JSONRPCError(jsonrpc="2.0", id=number, error=told)
    if not str(first["input"]).strip():
        return None
    told = ErrorData(code=PARSE_ERROR, message=f"it cannot be read: {first['msg']}")
    return JSONRPCError(jsonrpc="2.0", id=None, error=told)


def make_server(
    root: str | None, source: str | None = None, compiler: Compiler | None = None
) -> AgentServer:
    """Return a server that can be started.

    Args:
        root: the folder below which dumps, and lines of programs, may be read; None for no file.
        source: the folder below which lines of programs are found; None for the root.
        compiler: compiles dumps, for exact registers; None for none.
    """
    server = AgentServer("tt-layout", version=__version__, instructions=INSTRUCTIONS)
    tools = AgentTools(root, source, compiler)
    room = anyio.CapacityLimiter(min(MAX_PROCESSES, max(2, processors())))
    for name, description, tool in tools.named():
        server.add_tool(
            _in_a_process(tools, tool, room),
            name=name,
            description=description,
            structured_output=name in STRUCTURED,
        )
    return server


def _in_a_process(
    tools: AgentTools, tool: Callable[..., object], room: anyio.CapacityLimiter
) -> Callable[..., Awaitable[Any]]:
    """Return a tool that runs in a process of its own; its errors are one message."""

    @wraps(tool)
    async def answer(**arguments: Any) -> Any:
        try:
            with anyio.fail_after(MAX_WAITING):
                found = await to_process.run_sync(
                    answered, tools, tool.__name__, arguments, cancellable=True, limiter=room
                )
        except TimeoutError:
            raise ToolError(f"it takes more than {MAX_WAITING} seconds") from None
        except anyio.BrokenWorkerProcess:
            raise ToolError("the process that worked on it was ended by the system") from None
        if isinstance(found, Refusal):
            raise ToolError(found.message)
        return Image(data=found, format="png") if isinstance(found, bytes) else found

    return answer
