"""The kinds ``tensor`` and ``hardware``: what ``tt-layout`` prints for a case."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tt_layout.document import Document
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.parsing import parse_layout
from tt_layout.printing import PrintedView, print_view
from tt_layout.releases import Release
from tt_layout.source import read_source
from tt_layout.types import TensorType, parse_type
from tt_layout.views.selection import PLACES, Selection, parse_range, parse_slices

if TYPE_CHECKING:
    from tt_layout.golden.manifest import Case

def tensor(case: Case) -> bytes:
    """Return who holds each element, as ``tt-layout`` prints it."""
    return _printed(case, use_hw_view=False)


def hardware(case: Case) -> bytes:
    """Return what each place holds, as ``tt-layout --use-hw-view`` prints it."""
    return _printed(case, use_hw_view=True)


def _printed(case: Case, use_hw_view: bool) -> bytes:
    view = whole_view(
        encoding(case),
        tensor_type(case),
        use_hw_view=use_hw_view,
        alias=case.text("alias"),
        selection=selection(case, use_hw_view),
    )
    return b"".join(view.chunks())


def whole_view(
    layout: Encoding,
    tensor: TensorType,
    *,
    use_hw_view: bool,
    alias: str | None,
    selection: Selection,
) -> PrintedView:
    """Return what the command prints for an attribute, or for one alias of a file."""
    name = alias.removeprefix("#") if alias is not None else None
    view = print_view(layout, tensor, use_hw_view=use_hw_view, alias=name, selection=selection)
    return view._replace(ending=b"" if alias is None else b"\n")


def encoding(case: Case) -> Encoding:
    """Return the layout of a case: of its attribute, or of an alias in its file."""
    rules = release(case)
    layout = case.text("layout")
    if layout is not None:
        return parse_layout(layout, release=rules, name=case.label("layout"))
    path = case.folder / (case.text("file") or "")
    alias = (case.text("alias") or "").removeprefix("#")
    document = _document(str(path), os.stat(path).st_mtime_ns)
    if alias not in document.definitions:
        defined = ", ".join(f"#{name}" for name in document.definitions) or "none"
        message = f"there is no alias #{alias} in {document.source.name}; defined are {defined}"
        raise LayoutError(message, case.span("alias"))
    return document.layout(alias, rules)


@lru_cache(maxsize=8)
def _document(path: str, changed: int) -> Document:
    """Return a file's aliases; read once, however many cases are about it."""
    return Document(read_source(path))


def release(case: Case) -> Release | None:
    """Return the release whose rules hold, if the case names one."""
    text = case.text("triton")
    try:
        return Release.parse(text) if text is not None else None
    except LayoutError as error:
        raise error.at(case.span("triton")) from None


def tensor_type(case: Case) -> TensorType:
    """Return the type of a case."""
    return parse_type(case.text("type") or "", name=case.label("type"))


def selection(case: Case, use_hw_view: bool) -> Selection:
    """Return the part of the view that a case shows."""
    if not use_hw_view:
        text = case.text("slice")
        return Selection() if text is None else Selection(_checked(case, "slice", parse_slices))
    given = [key for key in PLACES if case.text(key) is not None]
    return Selection(**{PLACES[key]: _checked(case, key, parse_range) for key in given})


def _checked(case: Case, key: str, parse: Callable[[str, str], Any]) -> Any:
    """Return what the text of a key stands for; a fault in it points there."""
    try:
        return parse(key, case.text(key) or "")
    except LayoutError as error:
        raise error.at(case.span(key)) from None
