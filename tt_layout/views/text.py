"""Arrays of numbers as ASCII text, one row per number."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tt_layout.algebra.arrays import Ints

if TYPE_CHECKING:
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]
else:
    Bytes = np.ndarray

FILLER = 0  # a byte that stands for no text at all; a bitwise or leaves the other byte

GROUP = 4  # digits that are looked up at once


def digits(value: int) -> int:
    """Return the number of decimal digits.

    Example:
        >>> [digits(value) for value in (0, 9, 10, 128)]
        [1, 1, 2, 3]
    """
    return len(str(value))


def total_digits(start: int, stop: int) -> int:
    """Count the digits of all of ``range(start, stop)`` together.

    Example:
        >>> total_digits(8, 12)
        6
    """
    total, power = stop - start, 10
    while power < stop:
        total += stop - max(start, power)
        power *= 10
    return total


def digit_counts(values: Ints) -> npt.NDArray[np.uint8]:
    """Return the number of decimal digits of every value.

    Example:
        >>> digit_counts(np.array([0, 9, 10, 128])).tolist()
        [1, 1, 2, 3]
    """
    counts = np.ones(values.shape, np.uint8)
    largest, power = int(values.max(initial=0)), 10
    while power <= largest:
        counts += values >= power
        power *= 10
    return counts


def decimals(values: Ints, width: int, fill: int) -> Bytes:
    """Return the values in decimal, right-aligned in ``width`` bytes.

    Example:
        >>> [bytes(row) for row in decimals(np.array([7, 42]), 3, fill=ord(" "))]
        [b'  7', b' 42']
    """
    groups = -(-width // GROUP)
    text = np.empty((*values.shape, groups), np.uint32)
    rest = values.astype(np.uint32) if values.max(initial=0) < 1 << 32 else values
    for position in reversed(range(groups)):
        higher = rest // 10**GROUP
        group = rest - higher * 10**GROUP
        text[..., position] = _group_texts(fill)[group + (higher > 0) * np.uint32(10**GROUP)]
        rest = higher
    aligned = text.view(np.uint8)[..., GROUP * groups - width :]
    aligned[..., -1] |= ord("0")  # the last digit stands even in 0
    return aligned


@lru_cache
def _group_texts(fill: int) -> npt.NDArray[np.uint32]:
    """Return the digits of each group, packed into four bytes: leading and following groups."""
    groups, weights = np.arange(10**GROUP)[:, np.newaxis], 10 ** np.arange(GROUP)[::-1]
    behind = (groups // weights % 10 + ord("0")).astype(np.uint8)
    first = np.where(groups < weights, np.uint8(fill), behind)
    return np.concatenate([first, behind]).view(np.uint32).ravel()


def with_number(left: Bytes, mark: str, values: Ints, width: int) -> Bytes:
    """Return ``left`` followed by ``mark`` and a number of at most ``width`` digits.

    Like ``left`` the result is right-aligned, so ``left`` moves by the number's length.

    Example:
        >>> spaces = np.full((2, 2), ord(" "), np.uint8)
        >>> [bytes(row) for row in with_number(spaces, "T", np.array([7, 42]), 2)]
        [b'   T7', b'  T42']
    """
    number, counts = number_text(mark, values, width), digit_counts(values) + len(mark)
    wide = np.full((len(values), left.shape[1] + number.shape[1]), ord(" "), np.uint8)
    wide[:, number.shape[1] :] = left
    text = shift_left(wide, counts)
    text[:, left.shape[1] :] |= number
    return text


def number_text(mark: str, values: Ints, width: int) -> Bytes:
    """Return ``mark`` and the number, right-aligned, with fillers before it.

    Example:
        >>> bytes(number_text(":", np.array([7]), 3)[0])
        b'\\x00\\x00:7'
    """
    text = np.full((len(values), len(mark) + width), FILLER, np.uint8)
    text[:, len(mark) :] = decimals(values, width, FILLER)
    front = len(mark) + width - digit_counts(values).astype(np.int64)
    for position, letter in enumerate(mark.encode()):
        text[np.arange(len(values)), front - len(mark) + position] = letter
    return text


def shift_left(text: Bytes, by: npt.NDArray[np.uint8]) -> Bytes:
    """Shift row i left by ``by[i]`` bytes; fillers take the freed bytes.

    Example:
        >>> rows = np.frombuffer(b"  ab  cd", np.uint8).reshape(2, 4)
        >>> [bytes(row) for row in shift_left(rows, np.array([1, 2], np.uint8))]
        [b' ab\\x00', b'cd\\x00\\x00']
    """
    shifted = np.full(text.shape, FILLER, np.uint8)
    for distance in range(int(by.min()), int(by.max()) + 1):
        rows = by == distance
        shifted[rows, : text.shape[1] - distance] = text[rows, distance:]
    return shifted
