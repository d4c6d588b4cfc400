"""The kinds of views: what ``tt-layout`` prints for a case."""

from __future__ import annotations

from typing import Any

from tt_layout.errors import TooLargeError
from tt_layout.golden.case import Case
from tt_layout.golden.inputs import encoding, pointing_at, tensor_type
from tt_layout.placement import place
from tt_layout.views.kinds import ViewKind, find_kind
from tt_layout.views.printed import PrintedView, print_view
from tt_layout.views.request import ViewRequest
from tt_layout.views.selection import Selection, parse_selected
from tt_layout.wording import size

MAX_SIZE = 64 << 20  # bytes of a golden file


def printed(case: Case, view: str) -> bytes:
    """Return what ``tt-layout`` prints for a case when it is asked for a view."""
    placed, kind = place(encoding(case), tensor_type(case)), find_kind(view)
    request = ViewRequest(placed, kind, selection(case, kind))
    found = whole_view(request, case.text("alias"))
    if found.size > MAX_SIZE:
        sizes = f"{size(found.size)}, more than the {size(MAX_SIZE)} of a golden file"
        message = f"the text would have {sizes}; show a part of it, such as slice: 0:16,0:16"
        raise TooLargeError(message)
    return b"".join(found.chunks())


def whole_view(request: ViewRequest, alias: str | None) -> PrintedView:
    """Return what the command prints for an attribute, or for one alias of a file."""
    name = alias.removeprefix("#") if alias is not None else None
    view = print_view(request, alias=name)
    return view._replace(ending=b"" if alias is None else b"\n")


def selection(case: Case, kind: ViewKind) -> Selection:
    """Return the part of the view that a case shows."""
    fields: dict[str, Any] = {}
    for key in kind.selects:
        if (text := case.text(key)) is not None:
            with pointing_at(case, key):
                fields |= parse_selected(key, text, name=key)
    return Selection(**fields)
