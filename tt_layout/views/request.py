"""What a view shows: a placed layout, seen from which side, and which part of it."""

from __future__ import annotations

from typing import NamedTuple

from tt_layout.placement import PlacedLayout
from tt_layout.views.selection import Selection
from tt_layout.views.view import View


class ViewRequest(NamedTuple):
    """What a view shows.

    Attributes:
        placed: the layout over its type.
        use_hw_view: whether hardware locations, rather than elements, are in order.
        selection: the part that is shown.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> from tt_layout.mlir.types import parse_type
        >>> from tt_layout.placement import place
        >>> text = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>"
        >>> request = ViewRequest(place(parse_layout(text), parse_type("!ttg.memdesc<2x2xf16>")))
        >>> request.selecting(Selection(slices=((1, 2), None))).view().text()
        '[[(1:1),(1:0)]]\\n'
    """

    placed: PlacedLayout
    use_hw_view: bool = False
    selection: Selection = Selection()

    def view(self) -> View:
        """Return the view: text that is made when it is asked for."""
        return self.placed.encoding.view(self.placed.layout, self.use_hw_view, self.selection)

    def selecting(self, selection: Selection) -> ViewRequest:
        """Return the same with another part shown."""
        return self._replace(selection=selection)
