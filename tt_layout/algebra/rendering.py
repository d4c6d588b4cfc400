"""Renderers of layouts as text and as a figure, which are defined in packages above this one.

The package sets them when it is imported, so that methods of layouts can offer text without
knowing the module that formats it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tt_layout.algebra.padding import Padding
from tt_layout.enums import MemorySpace


class Renderers:
    """Functions that format a layout.

    Attributes:
        text: maps a linear layout, its memory space, the name of a view and padding to its text.
        svg: maps a placed layout to its figure.
    """

    text: ClassVar[Callable[[Any, MemorySpace, str, Padding], str]]
    svg: ClassVar[Callable[[Any], str]]
