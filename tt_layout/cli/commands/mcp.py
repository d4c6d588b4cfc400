"""``tt-layout mcp``: the library for agents."""

from __future__ import annotations

import click

from tt_layout.cli.compiling import compile_options
from tt_layout.cli.parameters import FileParameter
from tt_layout.errors import LayoutError


@click.command(
    "mcp",
    help="""\
    Serve an agent over standard input and output, by the Model Context Protocol.

    Agents start it; docs/agents.md says how. It needs pip install 'tt-layout[mcp]'.
    """,
)
@click.option(
    "--root",
    type=FileParameter(),
    metavar="FOLDER",
    help="Let the agent read dumps in this folder and below it; by default none.",
)
@click.option(
    "--source",
    type=FileParameter(),
    metavar="FOLDER",
    help="Show lines of the programs that dumps name, from files below this folder; by default"
    " below --root.",
)
@compile_options
def command(root: str | None, source: str | None) -> int:
    """Serve until the agent ends it."""
    from tt_layout.kernels.chosen_compiler import chosen_compiler

    try:
        from tt_layout.servers.agent_server import make_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "pydantic", "anyio"):
            raise
        raise LayoutError("the server for agents needs pip install 'tt-layout[mcp]'") from None
    make_server(root, source, chosen_compiler()).run("stdio")
    return 0
