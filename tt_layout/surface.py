"""Names of parameters where a text is read: options of the command line, or arguments of Python.

A message or a report that tells its reader to give another value calls the parameter as he does.
The library is the rule; the command line says for its own run that it is the reader's surface.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ON_COMMAND_LINE = ContextVar("on_command_line", default=False)

_OPTIONS = {
    "shape_or_type": "-t",
    "release": "--triton",
    "max_candidates": "--max-search",
}
"""Arguments whose options have other names than theirs."""


@contextmanager
def command_line() -> Iterator[None]:
    """Have texts made meanwhile name options of the command line."""
    token = _ON_COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _ON_COMMAND_LINE.reset(token)


def begin_command_line() -> None:
    """Have all texts of this process, which works for a command, name options."""
    _ON_COMMAND_LINE.set(True)


def is_command_line() -> bool:
    """Whether what is said now is read by someone who types commands."""
    return _ON_COMMAND_LINE.get()


def argument(name: str, value: object = None) -> str:
    """Return a parameter, perhaps with a value, as the reader gives it.

    Example:
        >>> argument("color_by"), argument("view", "mma"), argument("axis", 1)
        ('color_by', "view='mma'", 'axis=1')
        >>> with command_line():
        ...     argument("color_by"), argument("view", "mma"), argument("release", "3.8")
        ('--color-by', '--view mma', '--triton 3.8')
    """
    if is_command_line():
        from shlex import quote

        option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
        return option if value is None else f"{option} {quote(str(value))}"
    return name if value is None else f"{name}={value!r}"


def everything() -> str:
    """Return the option or attribute that shows all of an audit."""
    return "--all" if is_command_line() else ".whole"


def values_of(names: Iterable[str]) -> str:
    """Return how values of the arguments of a kernel are given.

    Example:
        >>> values_of(["K", "stride"])
        "values={'K': ..., 'stride': ...}"
        >>> with command_line():
        ...     values_of(["K", "stride"])
        '--value K=... --value stride=...'
    """
    if is_command_line():
        return " ".join(f"--value {name}=..." for name in names)
    return f"values={{{', '.join(f'{name!r}: ...' for name in names)}}}"
