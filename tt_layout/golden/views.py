"""The kinds ``tensor`` and ``hardware``: the output of ``tt-layout`` for a case."""

from __future__ import annotations

from typing import Any

from tt_layout.errors import TooLargeError, pointing_at
from tt_layout.golden.case import Case
from tt_layout.golden.facts import ATTRIBUTE, RELEASE, TYPE, CaseOutput
from tt_layout.golden.inputs import encoding, tensor_type
from tt_layout.placement import place
from tt_layout.views.kinds import find_kind
from tt_layout.views.printed import print_view
from tt_layout.views.request import ViewRequest
from tt_layout.views.selection import Selection, parse_selected
from tt_layout.wording import size

MAX_SIZE = 64 << 20  # bytes of a golden file


def printed(case: Case, view: str) -> CaseOutput:
    """Return the output of ``tt-layout`` for a case and a view."""
    placed, kind = place(encoding(case), tensor_type(case)), find_kind(view)
    alias = case.text("alias")
    name = alias.removeprefix("#") if alias is not None else None
    fields: dict[str, Any] = {}
    for key, written in case.texts(*kind.selects).items():
        with pointing_at(case.span(key)):
            fields |= parse_selected(key, written, name=key)
    text = print_view(ViewRequest(placed, kind, Selection(**fields)), alias=name)
    text = text._replace(ending=b"" if alias is None else b"\n")
    if text.size > MAX_SIZE:
        sizes = f"{size(text.size)}, more than the {size(MAX_SIZE)} of a golden file"
        message = f"the text would have {sizes}; show a part of it, such as slice: 0:16,0:16"
        raise TooLargeError(message)
    facts = {TYPE: placed.type_text, ATTRIBUTE: str(placed.encoding)}
    facts |= case.texts(*kind.selects, RELEASE) | ({"alias": f"#{name}"} if name else {})
    return CaseOutput(b"".join(text.chunks()), facts)
