"""Cells of a placed layout for figures, and their labels."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.colour import COLOURS
from tt_layout.encodings import Encoding
from tt_layout.figures.model import PLAIN, Legend, check_cells
from tt_layout.placement import PlacedLayout
from tt_layout.records import dataclass
from tt_layout.views import shared
from tt_layout.views.axes import Axes, tensor_axes
from tt_layout.views.cells import Cells, ElementCells
from tt_layout.views.groups import coloured, group_count, group_title, grouping
from tt_layout.views.kinds import KINDS, TENSOR
from tt_layout.views.selection import EVERYTHING, Selection


@dataclass(frozen=True)
class DrawnLayout:
    """A placed layout, and the selected part of it.

    Attributes:
        placed: the layout over its type.
        selection: the part that is drawn.
    """

    placed: PlacedLayout
    selection: Selection = EVERYTHING

    @property
    def layout(self) -> LinearLayout:
        """The linear layout."""
        return self.placed.layout

    @property
    def encoding(self) -> Encoding:
        """The attribute."""
        return self.placed.encoding

    @property
    def title(self) -> tuple[str, str]:
        """The attribute and the type."""
        return str(self.encoding), self.placed.type_text

    @cached_property
    def holders(self) -> ElementCells:
        """The locations of each element; for shared memory only the first."""
        if self.placed.is_shared:
            return shared.element_cells(self.placed)
        content = KINDS[TENSOR].view(self.placed).content
        assert isinstance(content, ElementCells)
        return content

    @property
    def kernel(self) -> tuple[int, ...]:
        """Xor masks from the first location of an element to its others."""
        return self.holders.holders.kernel

    @cached_property
    def axes(self) -> Axes:
        """The drawn part of the tensor.

        Raises:
            LayoutError: it is not a part of the tensor.
        """
        self.selection.check_options("a tensor figure", "slices")
        return tensor_axes(self.layout, self.selection)

    @cached_property
    def numbers(self) -> Ints:
        """The numbers of the drawn elements, row by row.

        Raises:
            LayoutError: they exceed the limit of a figure.
        """
        check_cells(self.axes.count)
        return self.axes.numbers(0, self.axes.count)

    @cached_property
    def cells(self) -> Cells:
        """The drawn elements, each with its first location."""
        first = replace(self.holders.holders, kernel=())
        return replace(self.holders, holders=first).cells(self.numbers)


@dataclass(frozen=True)
class Colouring:
    """Grouping of cells by colour, with its legend.

    Attributes:
        placed: the layout that is drawn.
        name: one of `tt_layout.colour.GROUPINGS`.
    """

    placed: PlacedLayout
    name: str

    def groups(self, cells: Cells, *, of_elements: bool = False) -> Ints:
        """Return the group of each cell: that of its first location, or of its element.

        Args:
            cells: the drawn cells.
            of_elements: whether they are in the order of the memory.

        Raises:
            LayoutError: the layout has no such groups.
        """
        return grouping(self.placed, self.name, of_elements=of_elements)(cells)[:, 0]

    def colours(self, groups: Ints) -> Ints:
        """Return the palette indices of groups; negative groups are unchanged."""
        count = group_count(self.placed, self.name)
        return np.where(groups < 0, groups, coloured(groups, count))

    def legend(self, groups: Ints) -> tuple[tuple[int, str], ...]:
        """Return the legend of the drawn groups."""
        numbers = np.unique(groups[groups >= 0])
        colours, title = self.colours(numbers).tolist(), group_title(self.placed, self.name)
        return named_colours(title, numbers.tolist(), colours)


def lane_legend(lanes: Ints, title: str = "lane") -> Legend:
    """Return the legend of lanes, coloured by number."""
    shown: list[int] = np.unique(lanes).tolist()
    return named_colours(title, shown, [lane % COLOURS for lane in shown])


def named_colours(title: str, numbers: list[int], colours: list[int]) -> Legend:
    """Return the legend of numbered groups: one entry per colour, the first with the title.

    Example:
        >>> named_colours("lane", [0, 1, 32], [4, 8, 4])
        ((4, 'lane 0'), (8, '1'), (-2, '... 32; colours repeat'))
    """
    entries: dict[int, str] = {}
    for number, colour in zip(numbers, colours):
        entries.setdefault(colour, str(number) if entries else f"{title} {number}")
    rest = ((PLAIN, f"... {numbers[-1]}; colours repeat"),) if len(entries) < len(numbers) else ()
    return (*entries.items(), *rest)


def element_labels(cells: Cells) -> list[str]:
    """Format elements as coordinates, such as ``3,12``; empty if none is mapped."""
    points = zip(cells.elements.tolist(), cells.are_mapped.tolist())
    return [",".join(map(str, point)) if is_mapped else "" for point, is_mapped in points]


def location_labels(placed: PlacedLayout, cells: Cells, number: int = 0) -> list[str]:
    """Format a location of each cell as the views do; empty if none holds the element.

    Args:
        placed: the layout that is drawn.
        cells: the drawn cells.
        number: index of the location of each cell.
    """
    size_of = placed.layout.get_in_dim_size
    parts = {name: part.tolist() for name, part in cells.holders(number).items()}
    blocks = parts["block"]
    fronts = [f"B{b}:" for b in blocks] if size_of("block") > 1 else [""] * len(blocks)
    if "offset" in parts:
        is_parted = size_of("partition") > 1
        inner = [f"{p}/" if is_parted else "" for p in parts["partition"]]
        texts = [f"{p}{offset}" for p, offset in zip(inner, parts["offset"])]
    elif "row" in parts:
        texts = [f"R{row}:C{column}" for row, column in zip(parts["row"], parts["col"])]
    else:
        lanes = size_of("lane")
        threads = (w * lanes + t for w, t in zip(parts["warp"], parts["lane"]))
        texts = [f"T{thread}:{r}" for thread, r in zip(threads, parts["register"])]
    return [
        front + text if is_mapped else ""
        for front, text, is_mapped in zip(fronts, texts, cells.are_mapped.tolist())
    ]
