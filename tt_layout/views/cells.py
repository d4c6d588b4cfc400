"""Cells of a view as numbers: hardware locations and elements, as arrays.

A view numbers its cells.  Its content maps any of these numbers to locations and an element, so
that a part of a huge view can be computed alone:

    ElementCells    numbered like the elements: the locations that hold each
    LocationCells   numbered like the locations: the element at each
    SlotCells       numbered like the slots of padded shared memory
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from tt_layout.algebra.arrays import F2Map, Ints, Preimages, all_values
from tt_layout.algebra.padding import Padding, padded, unpadded
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

if TYPE_CHECKING:
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]
else:
    Mask = np.ndarray

Sizes = tuple[tuple[str, int], ...]
"""The input dimensions of a layout with their sizes, the fastest first."""


NEVER = F2Map(())
"""0 for every number."""


class Cells(NamedTuple):
    """Some cells of a view.

    Attributes:
        locations: values of each coordinate of a location, such as ``lane``: a row per cell, a
            column per location of the cell's element.
        elements: the coordinates of the element: a row per cell, a column per dimension.
        are_mapped: whether a cell has both a location and an element; if not, only one of them is
            valid.

    Example:
        >>> from tt_layout.algebra.linear_layout import LinearLayout
        >>> from tt_layout.views.distributed import tensor_view
        >>> from tt_layout.views.view import BareLayout
        >>> layout = LinearLayout.from_bases([("register", [[1]]), ("lane", [[0]])], ["dim0"])
        >>> cells = next(tensor_view(BareLayout(layout)).cells())
        >>> cells.locations["register"].tolist(), cells.locations["lane"].tolist()
        ([[0, 0], [1, 1]], [[0, 1], [0, 1]])
        >>> cells.elements.tolist(), cells.are_mapped.tolist()
        ([[0], [1]], [True, True])
    """

    locations: dict[str, Ints]
    elements: Ints
    are_mapped: Mask

    def holders(self, number: int = 0) -> dict[str, Ints]:
        """Return the coordinates of one location of each cell, by default of the first."""
        return {name: coordinate[:, number] for name, coordinate in self.locations.items()}


class Content(Protocol):
    """Content of the cells of a view, by their number."""

    @property
    def shows_locations(self) -> bool:
        """Whether the text names locations rather than elements."""

    @property
    def holders_per_cell(self) -> int:
        """The number of locations of each cell."""

    def cells(self, numbers: Ints) -> Cells:
        """Return the cells with these numbers."""


def coordinates(numbers: Ints, sizes: Sequence[tuple[str, int]]) -> dict[str, Ints]:
    """Split the numbers of locations into coordinates.

    Example:
        >>> found = coordinates(np.arange(4), (("lane", 2), ("warp", 2)))
        >>> found["lane"].tolist(), found["warp"].tolist()
        ([0, 1, 0, 1], [0, 0, 1, 1])
    """
    parts = {}
    for name, size in sizes:
        numbers, parts[name] = np.divmod(numbers, size)
    return parts


@dataclass(frozen=True, eq=False, repr=False)
class ElementCells:
    """Cells numbered like the elements, row by row.

    Attributes:
        shape: the sizes of the tensor's dimensions.
        sizes: sizes of the input dimensions.
        holders: the locations of each element.
        padding: padding of shared memory.
    """

    shape: tuple[int, ...]
    sizes: Sizes
    holders: Preimages
    padding: Padding = ()

    shows_locations = True

    @property
    def holders_per_cell(self) -> int:
        """The number of locations that hold each element."""
        return 1 << len(self.holders.kernel)

    def cells(self, numbers: Ints) -> Cells:
        """Return the elements with these numbers, and all locations of each."""
        locations = self.holders.first(numbers)[:, np.newaxis] ^ all_values(self.holders.kernel)
        elements = np.stack(np.unravel_index(numbers, self.shape), axis=-1)
        slotted = with_slots(coordinates(locations, self.sizes), self.padding)
        return Cells(slotted, elements, self.holders.misses(numbers) == 0)


@dataclass(frozen=True, eq=False, repr=False)
class LocationCells:
    """Cells numbered like the locations.

    Attributes:
        sizes: sizes of the input dimensions.
        coordinates: each coordinate of the element as a function of the location's number.
        misses: not 0 for empty locations.
        padding: padding of shared memory.
    """

    sizes: Sizes
    coordinates: tuple[F2Map, ...]
    misses: F2Map = NEVER
    padding: Padding = ()

    shows_locations = False
    holders_per_cell = 1

    def cells(self, numbers: Ints) -> Cells:
        """Return the locations with these numbers, and the element of each."""
        locations = coordinates(numbers[:, np.newaxis], self.sizes)
        elements = np.stack([axis(numbers) for axis in self.coordinates], axis=-1)
        slotted = with_slots(locations, self.padding)
        return Cells(slotted, elements, self.misses(numbers) == 0)


@dataclass(frozen=True, eq=False, repr=False)
class SlotCells:
    """Cells numbered like the slots of padded shared memory.

    Attributes:
        elements: the elements in the buffers, numbered without padding.
        slots: the number of slots of a buffer.
    """

    elements: LocationCells
    slots: int

    shows_locations = False
    holders_per_cell = 1

    def cells(self, numbers: Ints) -> Cells:
        """Return the slots with these numbers, and the element in each."""
        size = dict(self.elements.sizes)["offset"]
        buffers, slots = np.divmod(numbers, max(1, self.slots))
        offsets = unpadded(slots, size, self.elements.padding)
        cells = self.elements.cells(buffers * size + offsets)
        are_mapped = cells.locations["slot"][:, 0] == slots
        cells.locations["slot"] = slots[:, np.newaxis]
        return Cells(cells.locations, cells.elements, are_mapped)


def with_slots(locations: dict[str, Ints], padding: Padding) -> dict[str, Ints]:
    """Add slots of shared memory to locations with offsets."""
    if "offset" in locations:
        locations["slot"] = padded(locations["offset"], padding)
    return locations
