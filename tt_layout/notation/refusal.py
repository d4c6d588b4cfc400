"""Refusals: reasons why a layout is not translated."""

from __future__ import annotations

from enum import Enum

from tt_layout.errors import LayoutError


class Reason(Enum):
    """Reasons for which a target cannot express a layout."""

    NO_ATTRIBUTE = "there is no such attribute"
    NO_PLACE = "the spelling has no place for it"
    REFUSED = "that release refuses the text"
    NO_LAYOUT = "that release gives the text no layout"
    OTHER_MEANING = "that release gives the text another layout"
    PADDING = "padding is not linear"
    NO_FORM = "the target has no form for such a layout"
    NEEDS_TYPE = "the type must be known"


class RefusedError(LayoutError):
    """A layout that a target cannot express exactly.

    Attributes:
        reason: the kind of reason, to count by; None where only the text is left.

    Example:
        >>> print(refused(Reason.PADDING, "give --to cute"))
        padding is not linear: give --to cute
    """

    reason: Reason | None = None


def refused(reason: Reason, details: str) -> RefusedError:
    """Return the error for a layout that is not translated, with details."""
    error = RefusedError(f"{reason.value}: {details}")
    error.reason = reason
    return error
