"""The options that say which part of a layout is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tt_layout.views.selection import Selection

_PLACES = ("warp", "lane", "register", "block", "offset", "row", "column")


def selection_options(function: Any) -> Any:
    """Add ``--slice``, and an option for each part of a hardware view."""
    for name in reversed(_PLACES):
        text = f"Hardware view: only this {name}, or a range such as 0:4."
        function = click.option(f"--{name}", metavar="N[:M]", help=text)(function)
    text = "Tensor view: only this part."
    return click.option("--slice", "slices", metavar="A:B,C:D", help=text)(function)


def read_selection(options: dict[str, Any]) -> Selection:
    """Take what `selection_options` added out of a command's options, and return the part.

    Raises:
        LayoutError: a range cannot be read.
    """
    from tt_layout.views.selection import PLACES, Selection, parse_range, parse_slices

    slices = options.pop("slices")
    given = {name: text for name in _PLACES if (text := options.pop(name)) is not None}
    fields: dict[str, Any] = {PLACES[n]: parse_range(f"--{n}", t) for n, t in given.items()}
    if slices is not None:
        fields["slices"] = parse_slices("--slice", slices)
    return Selection(**fields)
