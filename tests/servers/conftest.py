"""Servers need packages that a plain install has not: without them nothing here is collected.

``tests/project/test_packaging.py`` sees to it that the slow tier, to which all of this belongs,
has them.
"""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [
    *(["editor.py", "test_language_server.py"] if find_spec("pygls") is None else []),
    *(["test_agents.py"] if find_spec("mcp") is None else []),
]
