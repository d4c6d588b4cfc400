"""The figure of ``tt-layout plot`` as the peers draw it: with matplotlib, cell by cell.

usage: matplotlib_figure.py ATTRIBUTE TYPE FILE

Every cell is a rectangle with a text, in the same colours and with the same labels.
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.patches import Rectangle

from tt_layout.colour import CELLS
from tt_layout.encodings.parsing import parse_layout
from tt_layout.figures.drawing import draw
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.mlir.types import parse_type
from tt_layout.placement import place

INCHES = 0.45  # the width of a cell
POINTS = 6


def main() -> None:
    """Draw and save."""
    attribute, type_, path = sys.argv[1:]
    grid = draw(DrawnLayout(place(parse_layout(attribute), parse_type(type_)))).grids[0]
    rows, columns = grid.shape
    figure, axes = pyplot.subplots(figsize=(columns * INCHES, rows * INCHES))
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    axes.set_axis_off()
    labels = grid.labels or [[""] * columns] * rows
    for y, (colours, texts) in enumerate(zip(grid.colours.tolist(), labels)):
        for x, (colour, text) in enumerate(zip(colours, texts)):
            fill = CELLS[colour % len(CELLS)]
            axes.add_patch(Rectangle((x, y), 1, 1, facecolor=fill, edgecolor="black"))
            axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=POINTS)
    figure.savefig(path)


if __name__ == "__main__":
    main()
