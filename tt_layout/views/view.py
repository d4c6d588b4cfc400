"""A printed view: its size is known before any of its text is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tt_layout.views.text import Bytes

Block = Bytes | bytes


@dataclass(frozen=True)
class View:
    """The text of a layout, made piece by piece.

    Attributes:
        size: the number of bytes, computed without making the text.
        blocks: makes the text in pieces, whose size does not depend on the tensor's.

    Example:
        >>> from tt_layout.algebra.linear_layout import LinearLayout
        >>> from tt_layout.views import distributed_view
        >>> view = distributed_view(LinearLayout.identity_1d(4, "lane", "dim0"), False)
        >>> view.size
        25
        >>> view.text()
        '[T0:0, T1:0, T2:0, T3:0]\\n'
    """

    size: int
    blocks: Callable[[], Iterator[Block]]

    def chunks(self) -> Iterator[bytes | memoryview]:
        """Return the text in pieces, each made when it is asked for."""
        for block in self.blocks():
            yield block if isinstance(block, bytes) else block.data

    def text(self) -> str:
        """Return the whole text."""
        text = ""
        for block in self.blocks():
            # The text grows in place, so that no byte of it is copied twice.
            text += str(block if isinstance(block, bytes) else block.data, "ascii")
        return text
