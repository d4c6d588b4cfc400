"""``tt-layout lsp``: dumps in an editor."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from tt_layout.errors import LayoutError


@click.command(
    "lsp",
    help="""\
    Serve an editor over standard input and output, by the Language Server Protocol.

    Editors start it; docs/editors.md says how. It needs pip install 'tt-layout[lsp]'.
    """,
)
def command() -> int:
    """Serve until the editor ends it."""
    try:
        from tt_layout.servers.language_server import make_server
        from tt_layout.servers.messages import Messages
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        raise LayoutError("the language server needs pip install 'tt-layout[lsp]'") from None
    messages: Any = Messages(sys.stdin.buffer)
    with os.fdopen(os.dup(1), "wb") as out:  # the server closes what it writes to
        make_server().start_io(messages, out)
    return 0
