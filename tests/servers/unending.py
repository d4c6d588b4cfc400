"""Questions that never end, for the processes of a server: they import this by its name."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from tt_layout.servers.agent_tools import AgentTools, answered

NEVER = "never"


def answered_or_never(tools: AgentTools, name: str, arguments: Mapping[str, Any]) -> object:
    """Return what a tool answers; of a tensor called so, nothing for ever."""
    while arguments.get("tensor") == NEVER:
        time.sleep(1)
    return answered(tools, name, arguments)
