"""The kinds ``tensor`` and ``hardware``: what ``tt-layout`` prints for a case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tt_layout.golden.case import Case
from tt_layout.golden.inputs import encoding, pointing_at, tensor_type
from tt_layout.placement import place
from tt_layout.views.printed import PrintedView, print_view
from tt_layout.views.request import ViewRequest
from tt_layout.views.selection import PLACES, Selection, parse_range, parse_slices


def tensor(case: Case) -> bytes:
    """Return who holds each element, as ``tt-layout`` prints it."""
    return _printed(case, use_hw_view=False)


def hardware(case: Case) -> bytes:
    """Return what each place holds, as ``tt-layout --use-hw-view`` prints it."""
    return _printed(case, use_hw_view=True)


def _printed(case: Case, use_hw_view: bool) -> bytes:
    placed = place(encoding(case), tensor_type(case))
    request = ViewRequest(placed, use_hw_view, selection(case, use_hw_view))
    return b"".join(whole_view(request, case.text("alias")).chunks())


def whole_view(request: ViewRequest, alias: str | None) -> PrintedView:
    """Return what the command prints for an attribute, or for one alias of a file."""
    name = alias.removeprefix("#") if alias is not None else None
    view = print_view(request, alias=name)
    return view._replace(ending=b"" if alias is None else b"\n")


def selection(case: Case, use_hw_view: bool) -> Selection:
    """Return the part of the view that a case shows."""
    if not use_hw_view:
        text = case.text("slice")
        return Selection() if text is None else Selection(_checked(case, "slice", parse_slices))
    given = [key for key in PLACES if case.text(key) is not None]
    return Selection(**{PLACES[key]: _checked(case, key, parse_range) for key in given})


def _checked(case: Case, key: str, parse: Callable[[str, str], Any]) -> Any:
    """Return what the text of a key stands for; a fault in it points there."""
    with pointing_at(case, key):
        return parse(key, case.text(key) or "")
