"""The tensor of a translation, and its result."""

from __future__ import annotations

from tt_layout.encodings.base import Encoding, Shape
from tt_layout.safe_text import as_html
from tt_layout.tuples import NamedTuple


class TensorSpec(NamedTuple):
    """The tensor of a translation, as far as it is known.

    Attributes:
        shape: the tensor's; None where no type is given.
        element_bits: width of an element; None where it is not known.
    """

    shape: Shape | None = None
    element_bits: int | None = None


class Translation(NamedTuple):
    """A layout in another spelling.

    Attributes:
        text: the spelling.
        shapes: over which it was found to be the same layout.
        notes: facts that the spelling leaves out although the layout is the same.
        encoding: the layout; where one is taken, so is its translation.
    """

    text: str
    shapes: tuple[Shape, ...]
    notes: tuple[str, ...] = ()
    encoding: Encoding | None = None

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return as_html("\n".join([self.text, *(f"note: {note}" for note in self.notes)]))
