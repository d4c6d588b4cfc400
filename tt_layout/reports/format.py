"""Output formats of reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

MARK = "# generator: tt-layout"
"""Last line of a file that has no other place for a mark."""


class Format(ABC):
    """Base of output formats; subclasses are found by their module in `tt_layout.reports.formats`.

    Attributes:
        name: what ``--format`` takes, and what its module is called.
        order: its place among the formats in help and docs.
        prints: its contents in a few words.
        needs: the protocol of `tt_layout.reports.report` that a report has to follow.
        scope: the reports that follow it, as an error message calls them.
        ending: suffix of the files that `tt_layout.watch` writes; None where it writes none.
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
        """Yield the text of a report in chunks."""

    @classmethod
    def marked(cls, report: Any) -> str:
        """Return the text with a mark that `is_marked` recognizes."""
        return f"{''.join(cls.texts(report))}{MARK}\n"

    @classmethod
    def is_marked(cls, start: bytes, end: bytes) -> bool:
        """Tell whether a file was written by `marked`, from its start and its end."""
        return end.endswith(f"\n{MARK}\n".encode())
