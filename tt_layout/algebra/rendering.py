"""The way from a layout to its text and its figure, which are made in rooms above this one.

The package sets the renderers when it is imported, so that the rooms below it can offer text
without knowing who makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tt_layout.algebra.padding import Padding
from tt_layout.enums import MemorySpace

Renderer = Callable[[Any, MemorySpace, str, Padding], str]
"""From a linear layout, its memory space, the name of a view and padding to the view's text."""

SvgRenderer = Callable[[Any], str]
"""From a placed layout to its figure."""

_renderers: list[tuple[Renderer, SvgRenderer]] = []


def set_renderers(text: Renderer, svg: SvgRenderer) -> None:
    """Set who makes texts and figures."""
    _renderers[:] = [(text, svg)]


def render(layout: Any, memory_space: MemorySpace, kind: str, padding: Padding = ()) -> str:
    """Return the text of a view of a linear layout."""
    ((text, _),) = _renderers
    return text(layout, memory_space, kind, padding)


def render_svg(placed: Any) -> str:
    """Return the figure of a placed layout."""
    ((_, svg),) = _renderers
    return svg(placed)
