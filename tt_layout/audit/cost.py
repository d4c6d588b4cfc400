"""What an audit says of a move."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from tt_layout.errors import LayoutError


class Cost(NamedTuple):
    """What an analysis says of a move.

    Attributes:
        text: in a few words.
        weight: to sort by: turns of shared memory, shuffles, or 128 bytes of tensor memory, of all
            warps of a CTA.
        details: plain data for the JSON report.
    """

    text: str
    weight: float
    details: dict[str, Any]


class UnsupportedError(LayoutError):
    """The compiler has no instructions for an operation with such layouts."""


def chip(target: str | None) -> str | None:
    """Return the GPU of a module's target, such as ``sm90`` of ``cuda:90``.

    Example:
        >>> chip("cuda:90"), chip("hip:gfx942")
        ('sm90', 'gfx942')
    """
    match = re.fullmatch(r"(cuda|hip):(\w+)", target or "")
    if match is None:
        return None
    return f"sm{match.group(2)}" if match.group(1) == "cuda" else match.group(2)


@lru_cache(maxsize=64)
def shared_target(target: str | None) -> str | None:
    """Return the GPU whose shared memory is that of a module's target; None if unknown.

    Example:
        >>> shared_target("cuda:89"), shared_target("hip:gfx1201"), shared_target(None)
        ('sm80', 'gfx12', None)
        >>> shared_target("hip:gfx1250")
        'gfx1250'
    """
    from tt_layout.hardware import find_target

    name = chip(target)
    try:
        return find_target(name).name if name is not None else None
    except LayoutError:
        return None
