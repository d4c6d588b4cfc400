"""Sizes that are no powers of two: whether they are taken, as Meta's fork of Triton takes them.

A switch of the process rather than an argument of every function: the fork has it so, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

VARIABLE = "TRITON_ALLOW_NPOT"
"""Environment variable of the fork, which is read here, too."""

_IS_TAKEN = ContextVar("npot_is_taken", default=False)
_TRUE = ("1", "true", "on", "yes", "y")


def is_taken() -> bool:
    """Whether layouts may be over sizes that are no powers of two."""
    return _IS_TAKEN.get() or os.environ.get(VARIABLE, "").lower() in _TRUE


@contextmanager
def npot() -> Iterator[None]:
    """Take sizes that are no powers of two meanwhile, as ``TRITON_ALLOW_NPOT=1`` does.

    Example:
        >>> from tt_layout import parse_layout
        >>> lanes = parse_layout("#ttg.linear<{register = [[4]], lane = [[1], [2]], warp = [], \
block = []}>")
        >>> with npot():
        ...     print(lanes.format_tensor_view((6,)), end="")
        [T0:0|T2:1, T1:0|T3:1, T2:0, T3:0, T0:1, T1:1]
    """
    token = _IS_TAKEN.set(True)
    try:
        yield
    finally:
        _IS_TAKEN.reset(token)
