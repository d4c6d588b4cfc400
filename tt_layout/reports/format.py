"""Output format: how what a report offers becomes text, and a file of ours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

MARK = "# generator: tt-layout"
"""Last line of a file that has no other place for a mark."""


class Format(ABC):
    """An output format; a subclass is one by its module in `tt_layout.reports.formats`.

    Attributes:
        name: what ``--format`` takes, and what its module is called.
        order: of the formats in help and docs.
        prints: what it prints, in a few words.
        needs: what a report has to offer, a protocol of `tt_layout.reports.report`.
        scope: the reports that offer it, as an error message calls them.
        ending: of the files that `tt_layout.watch` writes so; None where it writes none.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    prints: ClassVar[str]
    needs: ClassVar[type]
    scope: ClassVar[str]
    ending: ClassVar[str | None] = None

    @classmethod
    @abstractmethod
    def texts(cls, report: Any) -> Iterator[str]:
        """Yield the text of a report that offers what the format needs, as it is made."""

    @classmethod
    def marked(cls, report: Any) -> str:
        """Return the text with a mark by which `is_marked` knows it again."""
        return f"{''.join(cls.texts(report))}{MARK}\n"

    @classmethod
    def is_marked(cls, start: bytes, end: bytes) -> bool:
        """Tell whether a file that begins and ends so was written by `marked`."""
        return end.endswith(f"\n{MARK}\n".encode())
