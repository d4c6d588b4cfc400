"""``tt-layout diff``: what changed between two layouts, in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import click

from tt_layout.arguments import (
    echo,
    format_option,
    lay_over,
    read_layout,
    read_release,
    read_type,
    release_option,
    type_option,
)
from tt_layout.comparison import Comparison, compare
from tt_layout.encodings import Encoding, SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.types import TensorType

JSON_VERSION = 1
LEVELS = ("text", "map", "registers", "lanes", "warps")
"""How equal two layouts may be asked to be; each of the last three only but for an order."""


@dataclass(frozen=True)
class Difference:
    """Two encodings over one type, compared as text and as functions.

    Attributes:
        before, after: the encodings.
        comparison: of their linear layouts.
    """

    before: Encoding
    after: Encoding
    comparison: Comparison

    @property
    def paddings(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The paddings of both, as far as they are shared memory."""
        both = self.before, self.after
        return tuple(e.padding if isinstance(e, SharedEncoding) else () for e in both)

    @property
    def same_map(self) -> bool:
        """Whether both put every element at the same places."""
        return self.comparison.same_map and self.paddings[0] == self.paddings[1]

    @property
    def verdict(self) -> str:
        """The strongest level at which both are equal, or ``different``."""
        if str(self.before) == str(self.after):
            return "text"
        if self.same_map:
            return "map"
        if self.paddings[0] == self.paddings[1]:
            for level in LEVELS[2:]:
                if level.removesuffix("s") in self.comparison.permutes:
                    return level
        return "different"

    def is_equal(self, level: str) -> bool:
        """Tell whether both are equal at a level, or at a stronger one."""
        if self.verdict in ("text", level):
            return True
        if level == "text":
            return False
        return self.same_map or (
            self.paddings[0] == self.paddings[1]
            and level.removesuffix("s") in self.comparison.permutes
        )

    def words(self) -> list[str]:
        """Return the difference in words, the most telling first."""
        words = self.comparison.words()
        if self.paddings[0] != self.paddings[1]:
            was, now = (_pairs(padding) for padding in self.paddings)
            words.insert(0, f"padding was {was}, is {now}")
        return words


def difference(before: Encoding, after: Encoding, tensor: TensorType) -> Difference:
    """Compare two encodings over one type.

    Raises:
        LayoutError: one of them does not fit the type, or they are of different memories.
    """
    return Difference(before, after, compare(lay_over(before, tensor), lay_over(after, tensor)))


def _pairs(padding: tuple[tuple[int, int], ...]) -> str:
    return "[" + ", ".join(f"{interval}:+{pad}" for interval, pad in padding) + "]"


VERDICTS = {
    "text": "same text",
    "map": "same map, written differently",
    "registers": "same but for the order of registers",
    "lanes": "same but for the order of lanes",
    "warps": "same but for the order of warps",
    "different": "different",
}


def as_text(result: Difference) -> list[tuple[str, str]]:
    """Return the lines of the report, each with the colour it has on a terminal."""
    colour = "red" if result.verdict == "different" else "green"
    lines = [
        (f"- {result.before}", "red"),
        (f"+ {result.after}", "green"),
        (VERDICTS[result.verdict], colour),
    ]
    lines += [(f"  {words}", "") for words in result.words()]
    others = result.comparison.first_moves[1:]
    return lines + [(f"  next: {move}", "") for move in others]


def as_json(result: Difference) -> dict[str, Any]:
    """Return the report as plain data; documented in ``docs/diff.md``."""
    return {
        "version": JSON_VERSION,
        "before": str(result.before),
        "after": str(result.after),
        "verdict": result.verdict,
        "words": result.words(),
        **asdict(result.comparison),
    }


@click.command("diff")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@type_option
@release_option
@click.option(
    "--equal",
    "level",
    type=click.Choice(LEVELS),
    default="map",
    show_default=True,
    help="What counts as same: the text, the map, or the map but for an order.",
)
@format_option
def command(
    before: str, after: str, tensor: str, triton: str | None, level: str, form: str
) -> int:
    """Say what changed between two layouts of one tensor.

    A and B are attributes, or FILE:ALIAS. Exits 0 if they are the same, 1 if they differ, 2 on
    trouble.
    """
    release, tensor_type = read_release(triton), read_type(tensor)
    encodings = read_layout(before, release, "A"), read_layout(after, release, "B")
    try:
        result = difference(*encodings, tensor_type)
    except LayoutError as error:
        raise error.at(tensor_type.span) from None
    if form == "json":
        import json

        click.echo(json.dumps(as_json(result), indent=2))
    else:
        for line, colour in as_text(result):
            echo(line, colour)
    return 0 if result.is_equal(level) else 1
