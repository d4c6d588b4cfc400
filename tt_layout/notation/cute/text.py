"""Text of CuTe layouts: modes, strides and a swizzle.

    layout  ::= (swizzle `o` (offset `o`)?)? shape `:` stride
    swizzle ::= (`Swizzle` | `Sw` | `S`) `<` bits `,` base `,` shift `>`
    shape   ::= size | `(` shape (`,` shape)* `)`           stride likewise

Read are also the spellings of others: ``_8`` for a static 8 (C++), blanks, round brackets around
the parts and after ``Swizzle`` (tensor-layouts), ``Layout(shape, stride)``, the types of CUTLASS
(``Layout<Shape<_8,_8>,Stride<_8,_1>>``) and the calls that make layouts, in C++ and Python.

The swizzle of ``smem_ptr[16b]`` and of ``smem_ptr_flag_bits<16>`` is one of bytes.

Source:
    CUTLASS, include/cute/pointer_flagged.hpp, ``as_position_independent_swizzle_layout``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeGuard

from tt_layout.algebra.linear_layout import is_power_of_two, log2
from tt_layout.errors import LayoutError, quoted
from tt_layout.tuples import NamedTuple

Nested = Sequence["Nested | int"]

_NUMBERS = r"(\d{1,6}),(\d{1,6}),(-?\d{1,6})"
_SWIZZLE = re.compile(
    rf"\(?(?:Swizzle|Sw|S)(?:<{_NUMBERS}>|\({_NUMBERS}\))\)?"
    r"o(?:(?:0|smem_ptr\[(?P<bits>\d{1,3})b\]\(.*?\))o)?"
)
_BODY = re.compile(r"([\d(),-]+):([\d(),-]+)")
_CALL = re.compile(r"Layout\((.*)\)")
_COMPOSED = re.compile(
    rf"ComposedLayout\(Swizzle\({_NUMBERS}\),(?:(?:0|smem_ptr_flag_bits\((?P<bits>\d{{1,3}})\)),)?"
    r"(?P<layout>Layout\(.*\))(?:,offset=0)?\)"
)
_MODULE = re.compile(r"\b(?:cutlass|cute)(?:::|\.)")
_MAKERS = (
    (re.compile(r"\b(?:composition|make_composed_layout)(?=\()"), "ComposedLayout"),
    (re.compile(r"\bmake_layout(?=\()"), "Layout"),
    (re.compile(r"\bmake_swizzle(?=\()"), "Swizzle"),
    (re.compile(r"\b(?:Shape|Stride|Step|make_shape|make_stride|make_tuple|tuple)(?=\()"), ""),
    (re.compile(r"\b(?:Int|C|constant)\((\d+)\)"), r"\1"),
)
_ROWS = {"GenRowMajor", "LayoutRight"}
_COLUMNS = {"GenColMajor", "LayoutLeft"}
_WORD = re.compile(r"\d+|[(),]")
_STRANGE = re.compile(r"[^\d(),][^(),]*")
"""What is neither an integer nor a bracket of nested lists."""
NOT_NEGATIVE = "sizes and strides of CuTe are not negative here"
MAX_DIGITS = 18
BYTE_BITS = 3  # as a power of two
MAX_DEPTH = 64
MAX_WORDS = 1 << 12
"""Numbers, commas and brackets of a layout: compact strides grow with each."""

Paired = list["Paired | Mode"]


class Mode(NamedTuple):
    """``size:stride``: i -> i * stride for i in range(size)."""

    size: int
    stride: int

    def __str__(self) -> str:
        return f"{self.size}:{self.stride}"


class Swizzle(NamedTuple):
    """``Swizzle<bits,base,shift>``: an offset with some of its bits xored by others.

    Example:
        >>> [Swizzle(1, 0, 2)(offset) for offset in (0, 1, 4, 5)]
        [0, 1, 5, 4]
    """

    bits: int
    base: int
    shift: int

    def __call__(self, offset: int) -> int:
        """Xor the bits from ``base`` on with those ``shift`` above."""
        mask = ((1 << self.bits) - 1) << (self.base + max(0, self.shift))
        selected = offset & mask
        return offset ^ (selected >> self.shift if self.shift >= 0 else selected << -self.shift)

    def __str__(self) -> str:
        return f"Swizzle<{self.bits},{self.base},{self.shift}>"


class Cute(NamedTuple):
    """A layout of top-level modes, each a tuple of modes, the first fastest.

    Attributes:
        parts: the top-level modes.
        swizzle: the swizzle applied to the sum; None for none.

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
            _listed(texts) if len(texts) > 1 or is_plain else f"({texts[0]})"
            for texts in (sizes, strides)
        )
        front = f"{self.swizzle} o " if self.swizzle is not None else ""
        return f"{front}{shape}:{stride}"

    def bit_values(self) -> list[list[int]]:
        """Return, per top-level mode, the value of each bit of its coordinate."""
        swizzle = self.swizzle
        values = [[m.stride << b for m in part for b in range(log2(m.size))] for part in self.parts]
        return [[swizzle(v) if swizzle else v for v in part] for part in values]

    def __call__(self, *coordinates: int) -> int:
        """Return the value at a coordinate: one index per top-level mode."""
        total = 0
        for part, rest in zip(self.parts, coordinates):
            for mode in part:
                total += rest % mode.size * mode.stride
                rest //= mode.size
        return self.swizzle(total) if self.swizzle else total


def overlapping(groups: Iterable[Sequence[int]]) -> int | None:
    """Return a bit that two of these numbers share, as a number; None without one.

    Example:
        >>> overlapping([[1, 6], [4]]), overlapping([[1, 2, 4]])
        (4, None)
    """
    seen = 0
    for stride in chain.from_iterable(groups):
        if seen & stride:
            return seen & stride
        seen |= stride
    return None


def check_linear(groups: Iterable[Sequence[int]]) -> None:
    """Raise an error unless the sum of any of these numbers is their xor.

    Example:
        >>> check_linear([[1, 2], [7]])
        Traceback (most recent call last):
        tt_layout.errors.LayoutError: not linear over F2: two bits add to index 3, so sums carry
    """
    if (shared := overlapping(groups)) is not None:
        message = f"two bits add to index {shared}, so sums carry"
        raise LayoutError(f"not linear over F2: {message}")


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"({','.join(items)})"


def plain(text: str) -> str:
    """Return a text without blanks and marks of static integers.

    Example:
        >>> plain("(_8, _4) : (_4, _1)")
        '(8,4):(4,1)'
    """
    return re.sub(r"(?<![A-Za-z0-9_])_(?=\d)", "", re.sub(r"\s+", "", text))


def read_cute(text: str) -> Cute:
    """Parse a CuTe layout.

    Raises:
        LayoutError: the text is not one, or its sizes are not powers of two.

    Example:
        >>> read_cute("Swizzle<2,0,3> o ((2,4),8):((4,8),1)")(7, 1)
        30
        >>> print(read_cute("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"))
        Swizzle<3,3,3> o (8,64):(64,1)
        >>> print(read_cute("Layout((4, (2, 2)), (2, (1, 8)))"))
        (4,(2,2)):(2,(1,8))
    """
    rest = _as_calls(plain(text))
    swizzle = None
    if composed := _COMPOSED.fullmatch(rest):
        swizzle, rest = _swizzle_of(composed), composed["layout"]
    elif match := _SWIZZLE.match(rest):
        swizzle, rest = _swizzle_of(match), rest[match.end() :]
    if call := _CALL.fullmatch(rest):
        arguments, ending = _tree_and_order(call.group(1).replace("stride=", ""))
        if len(arguments) == 1 and ending is not None:
            return cute_of(arguments[0], _compact(arguments[0], by_rows=ending), swizzle)
        if len(arguments) != 2 or ending:
            raise LayoutError(f"expected Layout(shape, stride), got {quoted(text)}")
        sizes, strides = arguments
        return cute_of(sizes, strides, swizzle)
    is_wrapped = re.fullmatch(r"\(.*:.*\)", rest) and _closes_at_end(rest)
    body = _BODY.fullmatch(rest[1:-1] if is_wrapped else rest)
    if body is None:
        raise LayoutError(f"expected a CuTe layout such as (8,4):(4,1), got {quoted(text)}")
    return cute_of(_tree(body.group(1)), _tree(body.group(2)), swizzle)


def _as_calls(text: str) -> str:
    """Rewrite the types and calls of CUTLASS as ``Layout(..)`` and ``Swizzle(..)``.

    Example:
        >>> _as_calls("cute::composition(Swizzle<3,3,3>{},Layout<Shape<8,C<64>>,Stride<64,1>>{})")
        'ComposedLayout(Swizzle(3,3,3),Layout((8,64),(64,1)))'
    """
    text = _MODULE.sub("", text)
    if not re.match(r"(?:Layout|ComposedLayout|composition|make_\w+)[<(]", text):
        return text
    text = text.replace("{}", "").replace("<", "(").replace(">", ")")
    for pattern, name in _MAKERS:
        text = pattern.sub(name, text)
    return text


def _swizzle_of(match: re.Match[str]) -> Swizzle:
    """Return the swizzle of a match in elements; its text may count bytes."""
    numbers = [int(text) for text in match.groups() if _is_number(text)]
    bits, base, shift = numbers[:3]
    width = match["bits"]
    if width is not None:
        if not is_power_of_two(int(width)):
            raise LayoutError(f"elements have a power of two of bits, got {width}")
        base -= log2(int(width)) - BYTE_BITS
        if base < 0:
            raise LayoutError(f"the swizzle moves parts of elements of {width} bits")
    return Swizzle(bits, base, shift)


def _is_number(text: str | None) -> TypeGuard[str]:
    return text is not None and text.lstrip("-").isdigit()


def _tree_and_order(text: str) -> tuple[Nested, bool | None]:
    """Return the arguments of a call, and whether its last, a word, makes rows compact.

    None says that there is a stride.
    """
    head, _, word = text.rpartition(",")
    is_order = word.removesuffix("()") in _ROWS | _COLUMNS
    tree = _tree(f"({head if is_order else text})")
    arguments = (tree,) if isinstance(tree, int) else tree
    if is_order:
        return arguments, word.removesuffix("()") in _ROWS
    return arguments, False if len(arguments) == 1 else None


def _compact(sizes: Nested | int, *, by_rows: bool) -> Nested | int:
    """Return compact strides, with the first mode the fastest, or the last.

    Example:
        >>> _compact([4, [2, 8]], by_rows=False), _compact([4, [2, 8]], by_rows=True)
        ([1, [4, 8]], [16, [8, 1]])
    """
    step = 1

    def strides(nested: Nested | int) -> Nested | int:
        nonlocal step
        if isinstance(nested, int):
            stride, step = step, step * nested
            return stride
        parts = [strides(part) for part in (reversed(nested) if by_rows else nested)]
        return parts[::-1] if by_rows else parts

    return strides(sizes)


def cute_of(sizes: Nested | int, strides: Nested | int, swizzle: Swizzle | None = None) -> Cute:
    """Return the layout of a shape and a stride.

    Raises:
        LayoutError: they are not nested alike, or a size is not a power of two.

    Example:
        >>> print(cute_of([4, [2, 2]], [2, [1, 8]]))
        (4,(2,2)):(2,(1,8))
    """
    pairs = _paired(sizes, strides)
    parts = tuple(tuple(_flat(part)) for part in pairs) if isinstance(pairs, list) else ((pairs,),)
    return Cute(parts, swizzle)


def _closes_at_end(text: str) -> bool:
    depth = 0
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth:
            return at == len(text) - 1
    return False


def _paired(sizes: Nested | int, strides: Nested | int) -> Paired | Mode:
    """Return the modes of a shape and a stride with the same nesting."""
    if isinstance(sizes, int) and isinstance(strides, int):
        if not is_power_of_two(sizes):
            raise LayoutError(f"every size must be a power of two, got {sizes}")
        return Mode(sizes, strides)
    if isinstance(sizes, int) or isinstance(strides, int) or len(sizes) != len(strides):
        raise LayoutError("the shape and the stride of a CuTe layout must be nested alike")
    return [_paired(size, stride) for size, stride in zip(sizes, strides)]


def _flat(tree: Paired | Mode) -> Iterator[Mode]:
    if isinstance(tree, Mode):
        yield tree
        return
    for part in tree:
        yield from _flat(part)


def _words(text: str) -> list[str]:
    """Split the text of nested lists into its numbers, commas and brackets.

    Raises:
        LayoutError: a number is negative or none, or there are more than `MAX_WORDS` of them.
    """
    if strange := _STRANGE.search(text):
        if strange[0].startswith("-"):
            raise LayoutError(f"{NOT_NEGATIVE}, got {quoted(strange[0])}")
        raise LayoutError(f"expected an integer, got {quoted(strange[0])}")
    words = _WORD.findall(text)
    if len(words) > MAX_WORDS:
        raise LayoutError(f"a layout has at most {MAX_WORDS} numbers and brackets here")
    return words


def _tree(text: str) -> Nested | int:
    """Parse the nested lists of ``(2,(4,8))``.

    Raises:
        LayoutError: the brackets do not match, or a word is no number.
    """
    root: list[Any] = []
    stack = [root]
    for word in _words(text):
        if word == "(":
            stack.append([])
        elif word == ")" and len(stack) > 1:
            inner = stack.pop()
            stack[-1].append(inner)
        elif word.isdigit():
            stack[-1].append(int(word[:MAX_DIGITS]))
        elif word == ")":
            raise LayoutError(f"unexpected closing bracket in {quoted(text)}")
        if len(stack) > MAX_DEPTH:
            raise LayoutError(f"brackets nest deeper than {MAX_DEPTH}")
    if len(stack) != 1 or len(root) != 1:
        raise LayoutError(f"the brackets of {quoted(text)} do not match")
    tree: Nested | int = root[0]
    return tree
