"""Location of a compilation: the running test, or else a line of the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

_PACKAGES = ("triton", "torch", "tt_layout", "pytest", "_pytest", "pluggy")
"""Packages whose frames are never the program's."""

_STANDARD = os.path.dirname(os.__file__)

_test: list[str] = []


@contextmanager
def in_test(name: str) -> Iterator[None]:
    """Attribute compilations inside the block to a test."""
    _test.append(name)
    try:
        yield
    finally:
        _test.pop()


def place_of(function: Any) -> str:
    """Return the running test, or the innermost line of the program on the stack; or "".

    Args:
        function: the kernel, whose own line is the answer if the program is not on this thread's
            stack (compiled in the background); None if there is none.
    """
    if _test:
        return _test[-1]
    frame = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if module not in _PACKAGES and not _is_standard(frame.f_code):
            return f"{_short(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    code = getattr(getattr(function, "fn", function), "__code__", None)
    return f"{_short(code.co_filename)}:{code.co_firstlineno}" if code is not None else ""


def _is_standard(code: CodeType) -> bool:
    name = code.co_filename
    return name.startswith(("<frozen", _STANDARD)) and "site-packages" not in name


def _short(path: str) -> str:
    """Return a path relative to the current folder, if it is inside.

    Example:
        >>> _short(os.path.join(os.getcwd(), "train.py"))
        'train.py'
    """
    folder = os.getcwd() + os.sep
    return path.removeprefix(folder)
