"""Request for a view: a placed layout, the kind of view, and the selected part."""

from __future__ import annotations

from tt_layout.placement import PlacedLayout
from tt_layout.tuples import NamedTuple
from tt_layout.views.kinds import KINDS, TENSOR, ViewKind
from tt_layout.views.selection import Range, Selection
from tt_layout.views.view import View


class ViewRequest(NamedTuple):
    """A layout, a kind of view, and the selected part.

    Attributes:
        placed: the layout over its type.
        kind: the kind of view.
        selection: the part that is shown.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> from tt_layout.mlir.types import parse_type
        >>> from tt_layout.placement import place
        >>> text = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>"
        >>> request = ViewRequest(place(parse_layout(text), parse_type("!ttg.memdesc<2x2xf16>")))
        >>> request.choosing({"dim0": (1, 2)}).view().text()
        '[[(1:1),(1:0)]]\\n'
    """

    placed: PlacedLayout
    kind: ViewKind = KINDS[TENSOR]
    selection: Selection = Selection()

    def view(self) -> View:
        """Return the view, whose text is generated on demand."""
        return self.kind.view(self.placed, self.selection)

    def choosing(self, ranges: dict[str, Range]) -> ViewRequest:
        """Return the request with these ranges of the named axes."""
        return self._replace(selection=self.view().axes.selecting(self.selection, ranges))
