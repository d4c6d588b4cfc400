"""CuTe layouts as text: modes, strides and a swizzle, written and read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tt_layout.algebra.linear_layout import log2
from tt_layout.errors import LayoutError

Nested = list["Nested | int"]

_TEXT = re.compile(r"(?:Swizzle<(\d+),(\d+),(-?\d+)> o )?([\d(),]+):([\d(),]+)")
_WORD = re.compile(r"\d+|[(),]")


class Mode(NamedTuple):
    """``size:stride``: i -> i * stride for i in range(size)."""

    size: int
    stride: int

    def __str__(self) -> str:
        return f"{self.size}:{self.stride}"


class Swizzle(NamedTuple):
    """``Swizzle<bits,base,shift>``: a number with some of its bits xored by others.

    Example:
        >>> [Swizzle(1, 0, 2)(offset) for offset in (0, 1, 4, 5)]
        [0, 1, 5, 4]
    """

    bits: int
    base: int
    shift: int

    def __call__(self, offset: int) -> int:
        """Return the offset with the bits from ``base`` on xored by those ``shift`` above."""
        mask = ((1 << self.bits) - 1) << (self.base + max(0, self.shift))
        selected = offset & mask
        return offset ^ (selected >> self.shift if self.shift >= 0 else selected << -self.shift)

    def __str__(self) -> str:
        return f"Swizzle<{self.bits},{self.base},{self.shift}>"


class Cute(NamedTuple):
    """A layout of a few top-level modes, each a tuple of modes, the first fastest.

    Attributes:
        parts: the top-level modes.
        swizzle: what is applied to the sum; None for nothing.

    Example:
        >>> print(Cute(((Mode(4, 8), Mode(2, 1)), (Mode(2, 2),))))
        ((4,2),2):((8,1),2)
    """

    parts: tuple[tuple[Mode, ...], ...]
    swizzle: Swizzle | None = None

    def __str__(self) -> str:
        sizes, strides = (
            [_listed([str(mode[k]) for mode in part]) for part in self.parts] for k in (0, 1)
        )
        is_plain = len(self.parts[0]) == 1  # else one part of several modes reads as several parts
        shape, stride = (
            _listed(own) if len(own) > 1 or is_plain else f"({own[0]})" for own in (sizes, strides)
        )
        front = f"{self.swizzle} o " if self.swizzle is not None else ""
        return f"{front}{shape}:{stride}"

    def bit_values(self) -> list[list[int]]:
        """Return, per top-level mode, the value at each bit of its coordinate."""
        swizzle = self.swizzle
        values = [[m.stride << b for m in part for b in range(log2(m.size))] for part in self.parts]
        return [[swizzle(v) if swizzle else v for v in part] for part in values]

    def __call__(self, *coordinates: int) -> int:
        """Return the value at a coordinate: one number per top-level mode."""
        total = 0
        for part, rest in zip(self.parts, coordinates):
            for mode in part:
                total += rest % mode.size * mode.stride
                rest //= mode.size
        return self.swizzle(total) if self.swizzle else total


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"({','.join(items)})"


def read_cute(text: str) -> Cute:
    """Return the layout that a text stands for, as `Cute` writes it.

    Raises:
        LayoutError: the text is not one.

    Example:
        >>> read_cute("Swizzle<2,0,3> o ((2,4),8):((4,8),1)")(7, 1)
        30
    """
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise LayoutError(f"expected a CuTe layout such as (8,4):(4,1), got {text!r}")
    swizzle = Swizzle(*map(int, match.group(1, 2, 3))) if match.group(1) else None
    sizes, strides = _tree(match.group(4)), _tree(match.group(5))
    tops = zip(_tops(sizes), _tops(strides), strict=True)
    return Cute(tuple(_modes(size, stride) for size, stride in tops), swizzle)


def _tops(tree: Nested | int) -> Nested:
    return tree if isinstance(tree, list) else [tree]


def _modes(sizes: Nested | int, strides: Nested | int) -> tuple[Mode, ...]:
    modes = []
    for size, stride in zip(_tops(sizes), _tops(strides), strict=True):
        if not isinstance(size, int) or not isinstance(stride, int):
            raise LayoutError("a CuTe layout is read up to two levels deep")
        modes.append(Mode(size, stride))
    return tuple(modes)


def _tree(text: str) -> Nested | int:
    """Return the nested lists of ``(2,(4,8))``."""
    root: Nested = []
    stack = [root]
    for word in _WORD.findall(text):
        if word == "(":
            stack.append([])
        elif word == ")" and len(stack) > 1:
            inner = stack.pop()
            stack[-1].append(inner)
        elif word.isdigit():
            stack[-1].append(int(word))
        elif word == ")":
            raise LayoutError(f"unexpected closing bracket in {text!r}")
    if len(stack) != 1 or len(root) != 1:
        raise LayoutError(f"the brackets of {text!r} do not match")
    return root[0]
