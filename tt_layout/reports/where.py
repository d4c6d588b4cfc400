"""The locations of an element, and the element of a location: ``tt-layout where``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tt_layout.analyses.layouts.point import (
    MAX_HOLDERS,
    ElementLocations,
    HardwareLocation,
    holders,
    locate,
    offset_of_slot,
)
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.placement import PlacedLayout
from tt_layout.records import dataclass
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line
from tt_layout.surface import argument
from tt_layout.wording import count

JSON_VERSION = 1
INPUTS = ("block", "warp", "lane", "thread", "register", "offset", "partition", "row", "column")
"""What a location may be asked for by."""
_DIMENSIONS = {"column": "col"}


@dataclass(frozen=True, repr=False)
class WhereReport(Printed):
    """A query of a location or an element, and its answer.

    Attributes:
        encoding: the layout.
        locations: the queried ones, or the first of those that hold the element.
        element: the queried element; None if a location was queried.
        count: the number of all locations.
        padding: the queried slot of shared memory, if it is padding.
    """

    encoding: Encoding
    locations: tuple[HardwareLocation, ...]
    element: tuple[int, ...] | None = None
    count: int = 0
    padding: int | None = None

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the report."""
        if self.padding is not None:
            yield Line(f"offset {self.padding} is padding")
        elif self.element is None:
            yield from (Line(str(location)) for location in self.locations)
        else:
            yield from self._element_lines(f"({', '.join(map(str, self.element))})")

    def _element_lines(self, element: str) -> Iterator[Line]:
        if not self.count:
            yield Line(f"no location holds {element}")
            return
        verb = "holds" if self.count == 1 else "hold"
        yield Line(f"{count(self.count, 'location')} {verb} {element}")
        yield from (Line(f"  {location}") for location in self.locations)
        if self.count > len(self.locations):
            rest = self.count - len(self.locations)
            yield Line(f"  and {rest} more; {argument('limit')} shows more of them")

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/analyses.md``."""
        return {
            "version": JSON_VERSION,
            "layout": str(self.encoding),
            "element": self.element,
            "count": self.count,
            "is_padding": self.padding is not None,
            "locations": [
                {**asdict(location), "location": dict(location.location)}
                for location in self.locations
            ],
        }


def element_report(placed: PlacedLayout, element: Sequence[int], limit: int) -> WhereReport:
    """Return the report of the locations that hold an element.

    Args:
        placed: the layout.
        element: its coordinates.
        limit: the maximum number of locations to list.

    Raises:
        LayoutError: the tensor has no such element.
    """
    locations: ElementLocations = holders(
        placed.layout, element, limit=limit, padding=placed.padding
    )
    return WhereReport(placed.encoding, locations.locations, locations.element, locations.count)


def location_report(placed: PlacedLayout, query: Mapping[str, int]) -> WhereReport:
    """Return the report of the elements at a location, or in all registers of a thread.

    Args:
        placed: the layout.
        query: the coordinates of `INPUTS` that are given.

    Raises:
        LayoutError: the memory space has no such locations.
    """
    layout, padding = placed.layout, placed.padding
    location = _location(placed, query)
    if padding and "offset" in location:
        slot, size = location["offset"], layout.get_in_dim_size("offset")
        offset = offset_of_slot(slot, size, padding)
        if offset is None:
            return WhereReport(placed.encoding, (), padding=slot)
        location["offset"] = offset
    wanted = [location]
    if "register" in layout.get_in_dim_names() and "register" not in location:
        registers = min(layout.get_in_dim_size("register"), MAX_HOLDERS)
        wanted = [{**location, "register": register} for register in range(registers)]
    locations = tuple(locate(layout, point, padding=padding) for point in wanted)
    return WhereReport(placed.encoding, locations, count=len(locations))


def _location(placed: PlacedLayout, query: Mapping[str, int]) -> dict[str, int]:
    """Return input -> coordinate for the given inputs."""
    layout = placed.layout
    location = {_DIMENSIONS.get(n, n): value for n, value in query.items() if n != "thread"}
    if "thread" in query:
        if "lane" in location or "warp" in location:
            thread, lane, warp = map(argument, ("thread", "lane", "warp"))
            message = f"{thread} counts lanes over all warps; leave out {lane} and {warp}"
            raise LayoutError(message)
        lanes = layout.get_in_dim_size("lane")
        threads = lanes * layout.get_in_dim_size("warp")
        if "lane" in layout.get_in_dim_names() and query["thread"] >= threads:
            raise LayoutError(f"thread must be in 0..{threads - 1}, got {query['thread']}")
        location |= {"warp": query["thread"] // lanes, "lane": query["thread"] % lanes}
    for name in location:
        if name not in layout.get_in_dim_names():
            names = ", ".join(n.replace("col", "column") for n in layout.get_in_dim_names())
            option = next(o for o in query if _DIMENSIONS.get(o, o) == name or o == "thread")
            raise LayoutError(f"this layout has no {option}; its locations have {names}")
    return location
