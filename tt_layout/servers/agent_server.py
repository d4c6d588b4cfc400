"""``tt-layout mcp``: the library for agents, over the Model Context Protocol."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer

from tt_layout.servers.agent_tools import AgentTools
from tt_layout.version import __version__

INSTRUCTIONS = (
    "Layouts of Triton GPU kernels and what they cost. Audit the .ttgir dump of a kernel first:"
    " findings name the line, the cost and a fix. Explain a line for its layouts; count"
    " conflicts, find a swizzle or the cost of a conversion for layouts of your own; carry a"
    " suggestion out with apply_suggestion and audit the result."
)

STRUCTURED = ("kernel_features",)
"""Tools whose answer is an object; that of the others is for reading."""


def make_server(root: str | None) -> MCPServer:
    """Return a server that can be started.

    Args:
        root: the folder below which dumps may be read; None for no file at all.
    """
    server = MCPServer("tt-layout", version=__version__, instructions=INSTRUCTIONS)
    for name, description, tool in AgentTools(root).named():
        server.add_tool(
            tool, name=name, description=description, structured_output=name in STRUCTURED
        )
    return server
