"""Lines with fields: written from values, and read back by the same definition.

A golden file holds nothing but the text of a report.  What it said is read back through the
templates that wrote it, so that there is one definition of each line.
"""

from __future__ import annotations

from string import Formatter


class Template:
    """A line: literals, and fields in braces.

    Example:
        >>> line = Template("  at least {shuffles} shuffles per {unit}")
        >>> line.write(shuffles=4, unit="warp")
        '  at least 4 shuffles per warp'
        >>> line.read("  at least 16 shuffles per warp")
        {'shuffles': '16', 'unit': 'warp'}
        >>> line.read("  no shuffles") is None
        True
    """

    def __init__(self, text: str) -> None:
        self.text = text
        parts = [(literal, field) for literal, field, _, _ in Formatter().parse(text)]
        self._start = parts[0][0]
        after = [literal for literal, _ in parts[1:]]
        self._fields = [
            (field, after[at] if at < len(after) else "")
            for at, (_, field) in enumerate(parts)
            if field is not None
        ]

    def write(self, **values: object) -> str:
        """Return the line with these values."""
        return self.text.format_map(values)

    def read(self, line: str) -> dict[str, str] | None:
        """Return the values in a line, each up to what follows it; None for another line."""
        if not line.startswith(self._start):
            return None
        values, rest = {}, line[len(self._start) :]
        for field, after in self._fields:
            value, found, rest = rest.partition(after) if after else (rest, "", "")
            if not value or found != after:
                return None
            values[field] = value
        return None if rest else values
