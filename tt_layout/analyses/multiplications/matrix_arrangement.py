"""Arrangement of a multiplication in figures: A on the left, B above, D in the corner."""

from __future__ import annotations

Place = tuple[int, int]
"""Row and column of a matrix in the drawing."""

OF_A, OF_B = "scales of A", "scales of B"
PLACES: dict[str, Place] = {"A": (1, 0), "B": (0, 1), "D": (1, 1)}
PLACES_WITH_SCALES: dict[str, Place] = {
    "A": (2, 1),
    "B": (1, 2),
    "D": (2, 2),
    OF_A: (2, 0),
    OF_B: (0, 2),
}
AXES = {
    "A": ("m", "k"),
    "B": ("k", "n"),
    "D": ("m", "n"),
    OF_A: ("m", "block"),
    OF_B: ("block", "n"),
}
"""What rows and columns of each matrix are, as it is drawn."""

NAMES, STRONG_LINES = "T<thread>:<matrix><register>", "thick lines separate K groups"
"""What stands below: how registers are named, and what the lines mean."""
