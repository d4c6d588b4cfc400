"""Printed view of a placed layout: heading and text."""

from __future__ import annotations

from collections.abc import Iterator

from tt_layout.tuples import NamedTuple
from tt_layout.views.request import ViewRequest
from tt_layout.views.view import View


class PrintedView(NamedTuple):
    """A view with its heading, and whether a blank line follows.

    Attributes:
        heading: the line above the view, with its newline.
        view: the text below it; None for a heading without a view.
        ending: the text after the view.
        request: the request of the view; None for a heading without a view.
    """

    heading: bytes
    view: View | None = None
    ending: bytes = b""
    request: ViewRequest | None = None

    @property
    def size(self) -> int:
        """The number of bytes in all."""
        size = self.view.size if self.view is not None else 0
        return len(self.heading) + size + len(self.ending)

    def chunks(self) -> Iterator[bytes | memoryview]:
        """Yield the bytes, generated on demand."""
        yield self.heading
        if self.view is not None:
            yield from self.view.chunks()
        yield self.ending


def print_view(request: ViewRequest, *, alias: str | None = None) -> PrintedView:
    """Return a view with its heading.

    Args:
        request: the request.
        alias: the name by which the layout was requested.

    Raises:
        LayoutError: the layout has no such part.
    """
    name = f"#{alias} = " if alias is not None else ""
    note, placed = "", request.placed
    if placed.is_multi_buffered:
        from tt_layout.wording import count

        buffers = count(placed.buffers, "buffer")
        note = f" (each of the {buffers} of a multi-buffered memdesc in {placed.memory_space})"
    heading = f"Print layout attribute: {name}{request.placed.encoding}{note}\n"
    return PrintedView(heading.encode(), request.view(), request=request)
