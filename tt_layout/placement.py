"""An encoding laid over a shape, and which view of it is shown: what a printed text is about."""

from __future__ import annotations

from typing import NamedTuple

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings import DistributedEncoding, Encoding, SharedEncoding
from tt_layout.views import Selection, View

ASSUMED_BITS = 32
"""The width of elements whose type does not tell it."""


class Subject(NamedTuple):
    """What a view shows.

    Attributes:
        encoding: the layout attribute.
        layout: its linear layout.
        element_bits: width of an element; None where the type does not tell it.
        use_hw_view: whether places, rather than elements, are in order.
        selection: the part that is shown.

    Example:
        >>> from tt_layout.encodings.parsing import parse_layout
        >>> text = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>"
        >>> encoding = parse_layout(text)
        >>> subject = Subject(encoding, encoding.to_linear_layout([2, 2]), element_bits=16)
        >>> subject.shape, subject.element_bytes, subject.is_shared
        ((2, 2), 2, True)
        >>> subject.selecting(Selection(slices=((1, 2), None))).view().text()
        '[[(1:1),(1:0)]]\\n'
    """

    encoding: Encoding
    layout: LinearLayout
    element_bits: int | None = None
    use_hw_view: bool = False
    selection: Selection = Selection()

    @property
    def element_bytes(self) -> int:
        """Bytes of an element: 1 where it is smaller."""
        return max(1, (self.element_bits or ASSUMED_BITS) // 8)

    @property
    def is_distributed(self) -> bool:
        """Whether the tensor is in registers."""
        return isinstance(self.encoding, DistributedEncoding)

    @property
    def is_shared(self) -> bool:
        """Whether the tensor is in shared memory."""
        return isinstance(self.encoding, SharedEncoding)

    @property
    def padding(self) -> tuple[tuple[int, int], ...]:
        """Pairs of an interval and the padding after it; none but in shared memory."""
        return self.encoding.padding if isinstance(self.encoding, SharedEncoding) else ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the tensor's dimensions."""
        return tuple(size for _, size in self.layout.out_sizes)

    def view(self) -> View:
        """Return the view: text that is made when it is asked for."""
        return self.encoding.view(self.layout, self.use_hw_view, self.selection)

    def selecting(self, selection: Selection) -> Subject:
        """Return the same with another part shown."""
        return self._replace(selection=selection)
