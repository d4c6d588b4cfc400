"""Options that choose the view of a layout, and the part of it that is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tt_layout.errors import LayoutError

if TYPE_CHECKING:
    from tt_layout.views.kinds import ViewKind
    from tt_layout.views.selection import Selection

_LOCATIONS = ("warp", "lane", "register", "block", "offset", "row", "column")


class ViewName(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """The name of a view; the table of views is read only where an option has one."""

    name = "view"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return all names."""
        from tt_layout.views.kinds import KINDS

        return f"[{'|'.join(KINDS)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the kind of view."""
        from tt_layout.views.kinds import ViewKind, find_kind

        if isinstance(value, ViewKind):
            return value
        try:
            return find_kind(value)
        except LayoutError as error:
            self.fail(error.message, param, ctx)


def view_kind(view: ViewKind | None, use_hw_view: bool) -> ViewKind:
    """Return the view chosen by ``--view`` or ``--use-hw-view``.

    Raises:
        LayoutError: the two contradict each other.
    """
    from tt_layout.views.kinds import HARDWARE, KINDS, TENSOR

    kind = KINDS[HARDWARE if use_hw_view else TENSOR]
    if use_hw_view and view not in (None, kind):
        raise LayoutError(f"--use-hw-view is --view {HARDWARE}: leave one of the two out")
    return view or kind


class LocationOption(click.Option):
    """An option that chooses a part of a hardware view; all of them share one line of the help."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the shared line for the first, and None for the others."""
        if self.name != _LOCATIONS[0]:
            return None
        names = ", ".join(f"--{name}" for name in _LOCATIONS)
        text = "Show only this part of the hardware view, by number or a range such as 0:4."
        return f"{names} N[:M]", text


def selection_options(function: Any) -> Any:
    """Add ``--slice``, and an option for each part of a hardware view."""
    for name in reversed(_LOCATIONS):
        function = click.option(f"--{name}", cls=LocationOption, metavar="N[:M]")(function)
    text = "Show only this part of the tensor view."
    return click.option("--slice", "slices", metavar="A:B,C:D", help=text)(function)


def read_selection(options: dict[str, Any]) -> Selection:
    """Remove the options of `selection_options` from a command's options, and return the selection.

    Raises:
        LayoutError: a range cannot be read.
    """
    from tt_layout.views.selection import SLICE, Selection, parse_selected

    texts = {name: options.pop(name) for name in _LOCATIONS}
    texts[SLICE] = options.pop("slices")
    fields: dict[str, Any] = {}
    for name, text in texts.items():
        if text is not None:
            fields |= parse_selected(name, text, f"--{name}")
    return Selection(**fields)
