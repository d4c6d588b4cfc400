"""Data of a matrix multiplication for the page: each matrix with its basis vectors."""

from __future__ import annotations

from math import prod
from typing import Any

from tt_layout.analyses.multiplications.matrix_arrangement import Place
from tt_layout.errors import LayoutError
from tt_layout.figures.mma import DrawnProduct, MatrixPart, product_of
from tt_layout.page.embedded import embedded
from tt_layout.page.rules import MAX_CELLS
from tt_layout.placement import PlacedLayout


def check_multiplication(placed: PlacedLayout, element: str | None = None) -> None:
    """Raise an error for a layout that is not the result of a multiplication that a page shows.

    Args:
        placed: the layout of D, or a dot_op, over the shape of D.
        element: the element type of A and B; None for the usual one.

    Raises:
        LayoutError: it is not the result of a multiplication, or of one with too many elements.
    """
    if (count := prod(placed.shape)) > MAX_CELLS:
        raise LayoutError(f"a page shows multiplications of {MAX_CELLS} elements, got {count}")
    multiplication_data(product_of(placed, element))


def multiplication_data(product: DrawnProduct) -> dict[str, Any]:
    """Return a multiplication as data.

    Raises:
        LayoutError: a layout does not fit its matrix, or is too large for a browser.
    """
    return {
        "title": product.title,
        "about": "; ".join(product.notes),
        "colour": product.usual_colouring,
        "parts": [_part(*placed) for placed in product.placed_parts],
    }


def _part(part: MatrixPart, place: Place) -> dict[str, Any]:
    """Return a matrix as data; size, axes and place are in the order across, down."""
    return {
        "name": part.name,
        "title": part.title,
        "size": part.drawn_shape[::-1],
        "axes": part.axes[::-1],
        "place": place[::-1],
        "isTurned": part.is_turned,
        "step": part.k_step,
        "layout": embedded(part.drawn.placed) if part.drawn and part.has_rows else None,
    }
