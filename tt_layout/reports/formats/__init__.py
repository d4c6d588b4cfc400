"""Output formats, one per file: a module of this package is a format.

A format is a subclass of `tt_layout.reports.format.Format` in a module of the same name.
``--format`` of ``audit`` and ``check``, the endings of the files that `tt_layout.watch` writes,
and the table in ``docs/formats.md`` follow from the class.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import cast

from tt_layout.reports.format import Format
from tt_layout.wording import listed


@cache
def formats() -> tuple[type[Format], ...]:
    """Return every format, in its order.

    Example:
        >>> [form.name for form in formats()][:2]
        ['text', 'json']
    """
    names = (module.name for module in iter_modules(__path__))
    return tuple(sorted(map(format_named, names), key=lambda form: form.order))


def format_named(name: str) -> type[Format]:
    """Return the format of a name, which must exist; no other module is loaded."""
    module = import_module(f"{__name__}.{name}")
    [form] = [item for item in vars(module).values() if _is_of(item, module.__name__)]
    return cast("type[Format]", form)


def _is_of(item: object, module: str) -> bool:
    """Tell whether an object is a format that a module defines."""
    is_format = isinstance(item, type) and issubclass(item, Format)
    return is_format and item.__module__ == module


def formats_of(*reports: type) -> tuple[str, ...]:
    """Return the names of the formats that any of some report classes can have."""
    return tuple(
        form.name for form in formats() if any(issubclass(report, form.needs) for report in reports)
    )


def in_words(names: Sequence[str]) -> str:
    """List the contents of formats in words.

    Example:
        >>> in_words(["text", "json", "html"])
        'text, JSON or a page'
    """
    return listed((format_named(name).prints for name in names), "or")


def format_of_file(path: str) -> type[Format]:
    """Return the format for a path's suffix; text if there is none.

    Example:
        >>> format_of_file("report.XML").name, format_of_file("report").name
        ('junit', 'text')
    """
    ending = os.path.splitext(path)[1].lower()
    chosen = (form for form in formats() if form.ending == ending)
    return next(chosen, format_named("text"))


def is_own(start: bytes, end: bytes) -> bool:
    """Tell from its start and its end whether a file is a report of ours, in any format."""
    return any(form.is_marked(start, end) for form in formats())
