"""``tt-layout mcp``: the library for agents, over the Model Context Protocol.

Each question is answered by a process beside the one that talks to the agent: one that is given up,
takes too long or too much memory ends with its process, and no other waits for it.
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

from tt_layout.servers.agent_tools import AgentTools, Refusal, answered
from tt_layout.servers.messages import Lines, Messages
from tt_layout.version import __version__
from tt_layout.worker import processors

INSTRUCTIONS = (
    "Layouts of Triton GPU kernels and what they cost. Audit the .ttgir dump of a kernel first:"
    " findings name the line, the cost and a fix. Explain a line for its layouts; count"
    " conflicts, find a swizzle or the cost of a conversion for layouts of your own; carry a"
    " suggestion out with apply_suggestion and audit the result."
)

STRUCTURED = ("kernel_features",)
"""Tools whose answer is an object; that of the others is for reading."""

MAX_SECONDS = 60
"""Of one answer."""

MAX_PROCESSES = 4
"""That answer at once; further questions wait."""


class AgentServer(MCPServer):
    """The server of one agent."""

    async def run_stdio_async(self) -> None:
        """Serve over standard input and output, with messages that can all be answered."""
        lines: Any = Lines(Messages(sys.stdin.buffer))
        server = self._lowlevel_server
        async with stdio_server(anyio.wrap_file(lines)) as (asked, told):
            await server.run(asked, told, server.create_initialization_options())


def make_server(root: str | None, source: str | None = None) -> AgentServer:
    """Return a server that can be started.

    Args:
        root: the folder below which dumps, and lines of programs, may be read; None for no file.
        source: the folder below which lines of programs are looked for; None for the root.
    """
    server = AgentServer("tt-layout", version=__version__, instructions=INSTRUCTIONS)
    tools = AgentTools(root, source)
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
    """Return a tool that is answered in a process of its own; its errors are one message."""

    @wraps(tool)
    async def answer(**arguments: Any) -> Any:
        try:
            with anyio.fail_after(MAX_SECONDS):
                found = await to_process.run_sync(
                    answered, tools, tool.__name__, arguments, cancellable=True, limiter=room
                )
        except TimeoutError:
            raise ToolError(f"it takes more than {MAX_SECONDS} seconds") from None
        except anyio.BrokenWorkerProcess:
            raise ToolError("the process that worked on it was ended by the system") from None
        if isinstance(found, Refusal):
            raise ToolError(found.message)
        return Image(data=found, format="png") if isinstance(found, bytes) else found

    return answer
