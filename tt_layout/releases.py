"""Triton releases that differ in the spelling or meaning of layouts."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from tt_layout.errors import LayoutError, expect


class Release(IntEnum):
    """A release of Triton, oldest first; 2022 is the MLIR rewrite before 2.0.

    Example:
        >>> Release.parse("3.5.1") is Release.V3_5
        True
        >>> Release.V2_3 < Release.V3_0
        True
        >>> str(Release.V3_9)
        '3.9'
    """

    V2022 = 0
    V2_0 = 1
    V2_1 = 2
    V2_2 = 3
    V2_3 = 4
    V3_0 = 5
    V3_1 = 6
    V3_2 = 7
    V3_3 = 8
    V3_4 = 9
    V3_5 = 10
    V3_6 = 11
    V3_7 = 12
    V3_8 = 13
    V3_9 = 14

    @classmethod
    def parse(cls, text: str) -> Release:
        """Return the release named ``2022``, ``3.5`` or ``3.5.1``.

        Raises:
            LayoutError: no such release is known.
        """
        expect("the release", text, str)
        name = ".".join(text.strip().removeprefix("v").split(".")[:2])
        for release in cls:
            if str(release) == name:
                return release
        raise LayoutError(f"unknown Triton release {text!r}; known are {release_names()}")

    def __str__(self) -> str:
        return self.name.removeprefix("V").replace("_", ".")


LATEST = max(Release)
"""The newest release; what holds in it is taken to hold until a newer one differs."""


def in_words(releases: Sequence[Release]) -> str:
    """Format a run of releases by its ends.

    Example:
        >>> in_words([Release.V3_3, Release.V3_4, Release.V3_5]), in_words([Release.V3_6])
        ('Triton 3.3 to 3.5', 'Triton 3.6')
    """
    first, last = releases[0], releases[-1]
    return f"Triton {first}" if first == last else f"Triton {first} to {last}"


def release_names() -> str:
    """Return the names that ``--triton`` takes, short enough for the help.

    Example:
        >>> release_names().split(" to ")[0]
        '2022, 2.0'
    """
    return f"{Release.V2022}, {Release.V2_0} to {LATEST}"
