"""The way from a layout to its text, which is made in a room above this one.

The package sets the renderer when it is imported, so that the rooms below it can offer text
without knowing who makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tt_layout.algebra.padding import Padding

Renderer = Callable[[Any, str, str, Padding], str]
"""From a linear layout, its memory space, the name of a view and padding to the view's text."""

_renderers: list[Renderer] = []


def set_renderer(renderer: Renderer) -> None:
    """Set who makes the text."""
    _renderers[:] = [renderer]


def render(layout: Any, memory_space: str, kind: str, padding: Padding = ()) -> str:
    """Return the text of a view of a linear layout."""
    (renderer,) = _renderers
    return renderer(layout, memory_space, kind, padding)
