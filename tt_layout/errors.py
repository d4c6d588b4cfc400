"""The one kind of error that this package raises for bad input.

Inner code says what it knows: the subject, the rule, what was found.  Whoever holds the
text adds where (a `Span`), and the command line prints it with a caret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tt_layout.mlir.source import Span


class LayoutError(ValueError):
    """Something asked of a layout that cannot be answered, and why.

    Attributes:
        message: subject, rule, what was found and the way out, on one line.
        span: the text at fault, or None where there is no text.

    Example:
        >>> str(LayoutError("order must be a permutation of 0..1, got [1, 1]"))
        'order must be a permutation of 0..1, got [1, 1]'
    """

    def __init__(self, message: str, span: Span | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span

    def at(self, span: Span | None) -> LayoutError:
        """Return the same error pointing at ``span``, unless it points somewhere already."""
        if self.span is None and span is not None:
            return type(self)(self.message, span)
        return self

    def hint(self, text: str) -> LayoutError:
        """Return the same error with a way out appended."""
        return type(self)(f"{self.message}; {text}", self.span)

    def __str__(self) -> str:
        return self.message if self.span is None else self.span.quote(self.message)


class UnknownKeyError(LayoutError):
    """A key that the release in force does not know."""


class TooLargeError(LayoutError):
    """An answer larger than the limit on it; raised before any of it is computed."""
