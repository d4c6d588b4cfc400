"""The kinds ``tensor`` and ``hardware``: what ``tt-layout`` prints for a case."""

from __future__ import annotations

import os
import re
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
from tt_layout.views import Selection

if TYPE_CHECKING:
    from tt_layout.golden.manifest import Case

_PLACES = {
    "warp": "warps",
    "lane": "lanes",
    "register": "registers",
    "block": "blocks",
    "offset": "offsets",
    "row": "rows",
    "column": "columns",
}
"""Key of a case -> the field of `Selection` that it fills."""

_RANGE = re.compile(r"\s*(\d{1,18})\s*(?::\s*(\d{1,18})\s*)?")


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
    return PrintedView(view.heading, view.view, b"" if alias is None else b"\n")


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
    if use_hw_view:
        given = {key: text for key in _PLACES if (text := case.text(key)) is not None}
        ranges: dict[str, Any] = {_PLACES[k]: _range(case, k, text) for k, text in given.items()}
        return Selection(**ranges)
    text = case.text("slice")
    if text is None:
        return Selection()
    whole = {"", ":"}
    parts = (None if p.strip() in whole else _range(case, "slice", p) for p in text.split(","))
    return Selection(tuple(parts))


def _range(case: Case, key: str, text: str) -> tuple[int, int]:
    match = _RANGE.fullmatch(text)
    if match is None:
        message = f"{key} takes a number or a range such as 0:16, got {text!r}"
        raise LayoutError(message, case.span(key))
    first = int(match.group(1))
    return first, int(match.group(2)) if match.group(2) else first + 1
