"""Names of parameters where a text is read: options, arguments of Python, or members of a question.

A message or a report that tells its reader to give another value calls the parameter as the reader
does.  Each surface is a record here; the library is the rule, and whoever makes texts for another
surface says so for its own run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tt_layout.tuples import NamedTuple

_OPTIONS = {
    "shape_or_type": "-t",
    "release": "--triton",
    "max_candidates": "--max-search",
}
"""Arguments whose options have other names than theirs."""

_MEMBERS = {
    "function": "kernel", "target": "gpu", "shape_or_type": "tensor", "src": "source",
    "dst": "target", "register": "registers",
}  # fmt: skip
"""Arguments whose members of a question have other names than theirs."""


class Surface(NamedTuple):
    """What the texts of one surface call the things that their reader can ask for.

    Attributes:
        argument: a parameter and perhaps its value -> how it is given.
        values: names of arguments of a kernel -> how their values are given.
        everything: what shows all of an audit.
        has_commands: whether the reader types commands.
    """

    argument: Callable[[str, object], str]
    values: Callable[[Iterable[str]], str]
    everything: str
    has_commands: bool = False


def _option(name: str, value: object) -> str:
    from shlex import quote

    option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
    return option if value is None else f"{option} {quote(str(value))}"


def _keyword(name: str, value: object) -> str:
    return name if value is None else f"{name}={value!r}"


def _member(name: str, value: object) -> str:
    import json

    name = _MEMBERS.get(name, name)
    return name if value is None else f'"{name}": {json.dumps(value, default=str)}'


def _options(names: Iterable[str]) -> str:
    return " ".join(f"--value {name}=..." for name in names)


def _named(names: Iterable[str]) -> str:
    given = [*names]
    return f"the {'values' if len(given) > 1 else 'value'} of {', '.join(given)}"


def _mapping(names: Iterable[str]) -> str:
    return f"values={{{', '.join(f'{name!r}: ...' for name in names)}}}"


def _object(names: Iterable[str]) -> str:
    import json

    members = ", ".join(f"{json.dumps(name)}: ..." for name in names)
    return f'"values": {{{members}}}'


LIBRARY = Surface(_keyword, _mapping, ".whole")
COMMAND_LINE = Surface(_option, _options, "--all", has_commands=True)
PAGE = COMMAND_LINE._replace(values=_named)
"""A page has the commands to type, but its own texts have nothing to be typed into."""
AGENT = Surface(_member, _object, "the tool findings")

_SHOWN_ON = ContextVar("surface", default=LIBRARY)


@contextmanager
def shown_on(surface: Surface) -> Iterator[None]:
    """Have texts made meanwhile name things as a surface does."""
    token = _SHOWN_ON.set(surface)
    try:
        yield
    finally:
        _SHOWN_ON.reset(token)


def begin_command_line() -> None:
    """Have all texts of this process, which works for a command, name options."""
    _SHOWN_ON.set(COMMAND_LINE)


def is_command_line() -> bool:
    """Whether what is said now is read by someone who types commands."""
    return _SHOWN_ON.get().has_commands


def argument(name: str, value: object = None) -> str:
    """Return a parameter, perhaps with a value, as the reader gives it.

    Example:
        >>> argument("color_by"), argument("view", "mma"), argument("axis", 1)
        ('color_by', "view='mma'", 'axis=1')
        >>> with shown_on(COMMAND_LINE):
        ...     argument("color_by"), argument("view", "mma"), argument("release", "3.8")
        ('--color-by', '--view mma', '--triton 3.8')
        >>> with shown_on(AGENT):
        ...     argument("color_by"), argument("view", "mma"), argument("axis", 1)
        ('color_by', '"view": "mma"', '"axis": 1')
    """
    return _SHOWN_ON.get().argument(name, value)


def everything() -> str:
    """Return what the reader asks for to see all of an audit.

    Example:
        >>> everything()
        '.whole'
    """
    return _SHOWN_ON.get().everything


def values_of(names: Iterable[str]) -> str:
    """Return how values of the arguments of a kernel are given.

    Example:
        >>> values_of(["K", "stride"])
        "values={'K': ..., 'stride': ...}"
        >>> with shown_on(COMMAND_LINE):
        ...     values_of(["K", "stride"])
        '--value K=... --value stride=...'
        >>> with shown_on(PAGE):
        ...     values_of(["K", "stride"])
        'the values of K, stride'
        >>> with shown_on(AGENT):
        ...     values_of(["K", "stride"])
        '"values": {"K": ..., "stride": ...}'
    """
    return _SHOWN_ON.get().values(names)
