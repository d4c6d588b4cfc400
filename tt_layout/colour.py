"""Distinct, legible colours for the cells of figures and for text on terminals.

Figures put dark text on light cells, so a colour must be light.  A terminal's background is
dark or light and unknown, so a colour must be neither: on both its contrast is at most 4.58.
Those of `TERMINAL` have at least 3.6 on black and on white, and every second style is bold, so
that neighbours differ in more than hue.

Both sets were chosen by searching for the largest least distance between any two, seen with
full colour vision and without one of the three kinds of cones.

Source:
    WCAG 2.2, "contrast ratio"; Machado, Oliveira and Fernandes, A Physiologically-based Model
    for Simulation of Color Vision Deficiency, 2009.
"""

from __future__ import annotations

CELLS = (
    "#baf7ce",
    "#9488d1",
    "#f7c088",
    "#6fe1f7",
    "#e6e667",
    "#e67e7e",
    "#6f86f7",
    "#a87ea1",
)
"""The fills of cells, by number modulo their count."""

INK = "#111111"
"""The text on cells and on the page."""

PAGE = "#ffffff"
EMPTY = "#f4f4f4"
"""The fill of cells that hold nothing."""

RULE = "#5c5c5c"
"""Lines and lesser text on the page."""

MARK = "#b3001b"
"""The outline of what deserves attention."""

TERMINAL = (27, 161, 100, 133, 66, 98)
"""Foregrounds of the 256 colours of terminals, by number modulo their count."""

STYLES = 2 * len(TERMINAL)
"""The number of styles: each colour regular and bold."""

_CUBE = (0, 95, 135, 175, 215, 255)

RESET = b"\x1b[0m"


def rgb(colour: str) -> tuple[int, int, int]:
    """Return the components of a colour.

    Example:
        >>> rgb("#a6c8f0")
        (166, 200, 240)
    """
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue


def terminal_rgb(number: int) -> tuple[int, int, int]:
    """Return the components of one of the 216 colours that terminals number from 16.

    Example:
        >>> terminal_rgb(27)
        (0, 95, 255)
    """
    place = number - 16
    return _CUBE[place // 36], _CUBE[place // 6 % 6], _CUBE[place % 6]


def luminance(colour: tuple[int, int, int]) -> float:
    """Return the relative luminance of a colour, 0 for black and 1 for white."""
    linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    """Return the contrast ratio of two colours, from 1 to 21.

    Example:
        >>> round(contrast((0, 0, 0), (255, 255, 255)), 2)
        21.0
    """
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def style(number: int) -> bytes:
    """Return what begins the text of a group on a terminal; neighbours differ in weight.

    Example:
        >>> style(0), style(1), style(6)
        (b'\\x1b[38;5;27m', b'\\x1b[1;38;5;161m', b'\\x1b[1;38;5;27m')
    """
    place = number % STYLES
    turn, hue = divmod(place, len(TERMINAL))
    weight = b"1;" if (hue + turn) % 2 else b""
    return b"\x1b[%b38;5;%dm" % (weight, TERMINAL[hue])
