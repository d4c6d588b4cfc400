"""The value of a CuTe expression: ``tt-layout cute``."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from tt_layout.errors import LayoutError
from tt_layout.notation.cute.algebra import Layout, leaves, written
from tt_layout.notation.cute.mma import Atom, TiledProduct
from tt_layout.notation.cute.parameters import Value
from tt_layout.notation.cute.values import Composed, LayoutPart, ThreadValue
from tt_layout.records import dataclass
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import GAP, Line

JSON_VERSION = 1
MAX_CELLS = 1 << 14
"""Integers of a table."""


@dataclass(frozen=True, repr=False)
class CuteReport(Printed):
    """The result of a CuTe expression.

    Attributes:
        value: the value.
        attribute: the equal Triton layout over a type; None where none was requested.
        has_table: whether all integers are printed.

    Raises:
        LayoutError: the requested table is too large, or the value has none.
    """

    value: Value
    attribute: str | None = None
    has_table: bool = False

    def __post_init__(self) -> None:
        if not self.has_table:
            return
        layout = layout_of(self.value)
        if layout is None or len(layout.modes) > 2:
            raise LayoutError("a table needs a layout of one or two modes")
        if layout.size > MAX_CELLS:
            raise LayoutError(f"a table has at most {MAX_CELLS} integers, got {layout.size}")

    def lines(self) -> Iterator[Line]:
        """Yield the value, its size, and what else was requested."""
        yield from map(Line, shown(self.value).splitlines())
        layout = layout_of(self.value)
        if layout is not None:
            yield Line(f"size {layout.size}, cosize {layout.cosize}")
        if self.attribute is not None:
            yield Line(self.attribute)
        if self.has_table and layout is not None:
            yield from map(Line, self._rows(layout))

    def _rows(self, layout: Layout) -> Iterator[str]:
        """Yield the integers, a line for each coordinate of the first mode."""
        function = self.value.layout if isinstance(self.value, LayoutPart) else self.value
        start = self.value.offset if isinstance(self.value, LayoutPart) else 0
        sizes = [mode.size for mode in layout.modes]
        rows = 1 if len(sizes) == 1 else sizes[0]
        numbers = [start + function(k) for k in range(prod(sizes))]
        width = max(len(str(number)) for number in numbers)
        for row in range(rows):
            yield GAP.join(f"{number:{width}}" for number in numbers[row::rows])

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/cute.md``."""
        layout = layout_of(self.value)
        return {
            "version": JSON_VERSION,
            "value": shown(self.value),
            "shape": layout.shape if layout is not None else None,
            "stride": layout.stride if layout is not None else None,
            "size": layout.size if layout is not None else None,
            "cosize": layout.cosize if layout is not None else None,
            "swizzle": [*_swizzle_of(self.value)] if _swizzle_of(self.value) else None,
            "offset": getattr(self.value, "offset", 0),
            "tile": [*leaves(self.value.tile)] if isinstance(self.value, ThreadValue) else None,
            "operands": _operands(self.value),
            "attribute": self.attribute,
        }


def shown(value: Value) -> str:
    """Format a value as CuTe prints it.

    Example:
        >>> shown((4, None)), shown(Layout((4, 8), (8, 1)))
        ('(4,_)', '(4,8):(8,1)')
    """
    if value is None:
        return "_"
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return f"({','.join(map(shown, value))})"
    return written(value) if isinstance(value, int) else getattr(value, "text", None) or str(value)


def _operands(value: Value) -> dict[str, str] | None:
    """Return the layouts of A, B and C in a product: thread and value to element."""
    if isinstance(value, Atom):
        return {"A": str(value.a), "B": str(value.b), "C": str(value.c)}
    if not isinstance(value, TiledProduct):
        return None
    return {name: str(value.operand(name).layout) for name in "ABC"}


def layout_of(value: Value) -> Layout | None:
    """Return the layout inside a composition, part or thread value; None for other values."""
    if isinstance(value, (Composed, LayoutPart, ThreadValue)):
        return layout_of(value.layout)
    return value if isinstance(value, Layout) else None


def _swizzle_of(value: Value) -> Any:
    if isinstance(value, LayoutPart):
        return _swizzle_of(value.layout)
    return value.swizzle if isinstance(value, Composed) else None
