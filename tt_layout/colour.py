"""The palette of figures, terminals and the page.

Eight hues in four shades, light enough for black text, so that a cell looks the same on paper, on
a dark terminal and on a light one.  None is brown or olive, where black text is hard to read.  All
are among the 256 colours that every terminal numbers.  They were chosen by searching for the
largest least distance between any two, seen with full colour vision and without one of the three
kinds of cones; the first shades of the hues are further apart.

Source:
    WCAG 2.2, "contrast ratio"; Machado, Oliveira and Fernandes, A Physiologically-based Model
    for Simulation of Color Vision Deficiency, 2009; Ottosson, A perceptual color space for image
    processing (OKLab), 2020.
"""

from __future__ import annotations

GROUPINGS = ("warp", "lane", "thread", "register", "block", "bank", "chunk", "row", "column")
"""What ``--color-by`` takes."""

TERMINAL = (
    (69, 98, 140, 189),
    (215, 223, 202, 180),
    (159, 79, 50, 37),
    (133, 212, 219, 177),
    (227, 150, 193, 184),
    (45, 31, 39, 110),
    (167, 175, 209, 204),
    (249, 243, 251, 246),
)
"""The shades of each hue, as terminals number their colours."""

HUES, SHADES = len(TERMINAL), len(TERMINAL[0])
COLOURS = HUES * SHADES

THRESHOLD = 0.03
"""Any two colours are further apart than this in OKLab, however they are seen."""

HUE_THRESHOLD = 0.1
"""The first shades of any two hues are further apart than this."""

INK = "#000000"
"""The text on cells and on the page."""

PAGE = "#ffffff"
EMPTY = "#f4f4f4"
"""The fill of cells that hold nothing, below their hatching."""

RULE = "#5c5c5c"
"""Lines and lesser text on the page."""

MARK = "#b3001b"
"""The outline of what deserves attention."""

_CUBE = (0, 95, 135, 175, 215, 255)
_FIRST_GREY = 232

RESET = b"\x1b[0m"


PASTEL = (
    "#87f3ff", "#87e7ff", "#abffff", "#cfe7e7", "#abb7c3", "#9fb7db", "#b7c3cf", "#cfabab",
    "#9fcfff", "#b7dbe7", "#cfc3e7", "#b7cfcf", "#87b7ff", "#93c3ff", "#9fe7b7", "#9fdb87",
    "#f39f87", "#dbb79f", "#f39fe7", "#87c387", "#ffc39f", "#dbc3b7", "#ffdb87", "#cfdbcf",
    "#ffff87", "#f3f387", "#ffe79f", "#93ffab", "#c3ffdb", "#dbffc3", "#b7f3c3", "#cff3e7",
)  # fmt: skip
"""Light fills for talks and paper, with the text of each cell at a contrast of 10 and more."""


def rgb(colour: str) -> tuple[int, int, int]:
    """Return the components of a colour.

    Example:
        >>> rgb("#a6c8f0")
        (166, 200, 240)
    """
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue


def terminal_rgb(number: int) -> tuple[int, int, int]:
    """Return the components of a colour that terminals number from 16: a cube, then greys.

    Example:
        >>> terminal_rgb(27), terminal_rgb(232)
        ((0, 95, 255), (8, 8, 8))
    """
    if number >= _FIRST_GREY:
        grey = 8 + 10 * (number - _FIRST_GREY)
        return grey, grey, grey
    place = number - 16
    return _CUBE[place // 36], _CUBE[place // 6 % 6], _CUBE[place % 6]


CELLS = tuple(f"#{bytes(terminal_rgb(number)).hex()}" for hue in TERMINAL for number in hue)
"""The fills of cells: the shades of the first hue, then those of the next."""


PASTEL_THRESHOLD, PASTEL_HUE_THRESHOLD = 0.026, 0.067
"""What `THRESHOLD` and `HUE_THRESHOLD` are for `PASTEL`."""

PALETTES = {"strong": CELLS, "pastel": PASTEL}
"""What ``--palette`` takes, and the fills of cells."""


def colour_step(count: int) -> int:
    """Return the distance in `CELLS` between the colours of neighbouring groups.

    Up to eight groups each have a hue; up to sixteen share one in pairs, more in fours.

    Example:
        >>> [colour_step(count) for count in (2, 8, 16, 32, 128)]
        [4, 4, 2, 1, 1]
    """
    return 4 if count <= HUES else 2 if count <= 2 * HUES else 1


def style(place: int) -> bytes:
    """Return the escape sequence of a cell: black on a colour of `CELLS`, of constant length.

    Example:
        >>> style(0), style(33)
        (b'\\x1b[38;5;16;48;5;069m', b'\\x1b[38;5;16;48;5;098m')
    """
    hue, shade = divmod(place % COLOURS, SHADES)
    return b"\x1b[38;5;16;48;5;%03dm" % TERMINAL[hue][shade]
