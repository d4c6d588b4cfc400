"""What figures are drawn from: the cells of a placed layout, and how they are called."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.encodings import Encoding
from tt_layout.figures.model import check_cells
from tt_layout.placement import PlacedLayout
from tt_layout.views import shared
from tt_layout.views.axes import Axes, tensor_axes
from tt_layout.views.cells import Cells, ElementCells
from tt_layout.views.groups import grouping
from tt_layout.views.kinds import KINDS, TENSOR
from tt_layout.views.selection import EVERYTHING, Selection


@dataclass(frozen=True)
class DrawnLayout:
    """A placed layout, and which part of it is drawn.

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
        """The locations that hold each element; of shared memory the first one."""
        if self.placed.is_shared:
            return shared.element_cells(self.placed)
        content = KINDS[TENSOR].view(self.placed).content
        assert isinstance(content, ElementCells)
        return content

    @property
    def kernel(self) -> tuple[int, ...]:
        """What leads from the first location of an element to its others, by xor."""
        return self.holders.holders.kernel

    @cached_property
    def axes(self) -> Axes:
        """The part of the tensor that is drawn.

        Raises:
            LayoutError: it is not a part of the tensor.
        """
        self.selection.check_options("a tensor figure", "slices")
        return tensor_axes(self.layout, self.selection)

    @cached_property
    def numbers(self) -> Ints:
        """The numbers of the elements that are drawn, row by row.

        Raises:
            LayoutError: they exceed the limit of a figure.
        """
        check_cells(self.axes.count)
        return self.axes.numbers(0, self.axes.count)

    @cached_property
    def cells(self) -> Cells:
        """The elements that are drawn, each with the first location that holds it."""
        first = replace(self.holders.holders, kernel=())
        return replace(self.holders, holders=first).cells(self.numbers)


def cell_groups(placed: PlacedLayout, name: str, cells: Cells) -> Ints:
    """Return the number of each cell's colour: that of its first location, or of its element.

    Args:
        placed: the layout that is drawn.
        name: a group of locations, or ``row`` or ``column`` of the tensor.
        cells: what is drawn.

    Raises:
        LayoutError: the layout has no such groups.
    """
    if name == "column":
        return cells.elements[:, -1]
    if name == "row":
        return cells.elements[:, max(-2, -cells.elements.shape[1])]
    return grouping(placed, name)(cells.holders())


def element_labels(cells: Cells) -> list[str]:
    """Return elements as coordinates, such as ``3,12``; nothing where none is mapped."""
    points = zip(cells.elements.tolist(), cells.are_mapped.tolist())
    return [",".join(map(str, point)) if is_mapped else "" for point, is_mapped in points]


def location_labels(placed: PlacedLayout, cells: Cells, number: int = 0) -> list[str]:
    """Return a location of each cell as the views write it; nothing where none holds the element.

    Args:
        placed: the layout that is drawn.
        cells: what is drawn.
        number: which of the locations of each cell.
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
