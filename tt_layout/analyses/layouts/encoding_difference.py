"""Comparison of two encodings over one type: as text, as functions, and with their padding."""

from __future__ import annotations

from tt_layout.algebra.padding import format_padding
from tt_layout.analyses.layouts.layout_difference import LayoutDifference, compare
from tt_layout.encodings import Encoding
from tt_layout.mlir.types import TensorType
from tt_layout.placement import place
from tt_layout.records import dataclass

LEVELS = ("text", "map", "registers", "lanes", "warps")
"""How equal two layouts may be asked to be; each of the last three up to an order."""


@dataclass(frozen=True)
class EncodingDifference:
    """Two encodings over one type, compared as text and as functions.

    Attributes:
        before, after: the encodings.
        comparison: comparison of their linear layouts.
    """

    before: Encoding
    after: Encoding
    comparison: LayoutDifference

    @property
    def paddings(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The paddings of both, if they are shared layouts."""
        return self.before.padding, self.after.padding

    @property
    def same_map(self) -> bool:
        """Whether both map every element to the same locations."""
        return self.comparison.same_map and self.paddings[0] == self.paddings[1]

    @property
    def verdict(self) -> str:
        """The strongest level at which both are equal, else ``different``."""
        if str(self.before) == str(self.after):
            return "text"
        if self.same_map:
            return "map"
        if self.paddings[0] == self.paddings[1]:
            for level in LEVELS[2:]:
                if level.removesuffix("s") in self.comparison.permuted_inputs:
                    return level
        return "different"

    def is_equal(self, level: str) -> bool:
        """Tell whether both are equal at a level or a stronger one."""
        if self.verdict in ("text", level):
            return True
        if level == "text":
            return False
        return self.same_map or (
            self.paddings[0] == self.paddings[1]
            and level.removesuffix("s") in self.comparison.permuted_inputs
        )

    def words(self) -> list[str]:
        """Describe the difference, the most important first."""
        words = self.comparison.words()
        if self.paddings[0] != self.paddings[1]:
            was, now = (format_padding(padding) for padding in self.paddings)
            words.insert(0, f"padding was {was}, is {now}")
        return words


def difference(before: Encoding, after: Encoding, tensor: TensorType) -> EncodingDifference:
    """Compare two encodings over one type.

    Raises:
        LayoutError: one of them does not fit the type, or they are in different memory spaces.
    """
    layouts = (place(encoding, tensor).layout for encoding in (before, after))
    return EncodingDifference(before, after, compare(*layouts))
