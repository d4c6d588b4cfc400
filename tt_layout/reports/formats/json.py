"""JSON, for programs: an object whose long lists are written item by item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tt_layout.reports.format import Format
from tt_layout.reports.report import Report

GENERATOR = {"generator": "tt-layout"}


class Json(Format):
    """The data of a report as one object."""

    name = "json"
    order = 10
    prints = "JSON"
    needs = Report
    scope = "reports"
    ending = ".json"

    @classmethod
    def texts(cls, report: Report) -> Iterator[str]:
        """Yield the text of the report's data."""
        return _object(report.data())

    @classmethod
    def marked(cls, report: Report) -> str:
        """Return the text of the data, with the generator as the first field."""
        return "".join(_object({**GENERATOR, **report.data()}))

    @classmethod
    def is_marked(cls, start: bytes, end: bytes) -> bool:
        """Tell whether the generator is a field at the beginning of an object."""
        return start.startswith(b"{") and _written(GENERATOR).strip("{}").encode() in start


def _object(data: dict[str, Any]) -> Iterator[str]:
    """Yield the text of an object; an iterator becomes a list, item by item."""
    separator = "{"
    for key, value in data.items():
        yield f"{separator}\n  {_written(key)}: "
        separator = ","
        if isinstance(value, Iterator):
            yield from _items(value)
        else:
            yield _written(value, indent=2).replace("\n", "\n  ")
    yield "\n}\n"


def _items(items: Iterator[Any]) -> Iterator[str]:
    separator = "["
    for item in items:
        yield f"{separator}\n    " + _written(item, indent=2).replace("\n", "\n    ")
        separator = ","
    yield "[]" if separator == "[" else "\n  ]"


def _written(value: object, indent: int | None = None) -> str:
    """Return a value as JSON."""
    import json

    return json.dumps(value, indent=indent)
