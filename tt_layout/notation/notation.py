"""The protocol of a notation: recognition, parsing, printing, and data for the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tt_layout.encodings import Encoding
from tt_layout.notation.context import Context
from tt_layout.notation.result import TensorSpec, Translation
from tt_layout.records import dataclass
from tt_layout.releases import Release


@dataclass(frozen=True)
class Notation:
    """A notation of layouts.

    Attributes:
        recognises: whether a text is meant to be in it.
        read: the layout of such a text; raises a `LayoutError` where it has none.
        write: the text of a layout over a tensor, read back before it is returned; raises a
            `RefusedError` where there is none.
        page: what the page's scripts need to read and write it, as plain data: of the release
            whose rules they have, with the parameters of constructors put into a list, each once.
        is_general: whether it takes texts of others, too, and is asked after them.
    """

    recognises: Callable[[str], bool]
    read: Callable[[str, Context], Encoding]
    write: Callable[[Encoding, TensorSpec], Translation]
    page: Callable[[Release, list[list[Any]]], dict[str, Any]] | None = None
    is_general: bool = False
