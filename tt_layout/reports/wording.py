"""Numbers, bits and ranges in words."""

from __future__ import annotations

from collections.abc import Sequence


def shown(number: int | float) -> str:
    """Return a number with up to three digits behind the point.

    Example:
        >>> shown(3), shown(2.5)
        ('3', '2.5')
    """
    return f"{number:.3f}".rstrip("0").rstrip(".") if isinstance(number, float) else str(number)


def count(number: int | float, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not 1.

    Example:
        >>> count(1, "wavefront"), count(2.5, "wavefront")
        ('1 wavefront', '2.5 wavefronts')
    """
    return f"{shown(number)} {noun}{'s' if number != 1 else ''}"


def bits_in_words(masks: Sequence[int], noun: str) -> str:
    """Return masks of bits in words: single bits first, then those that go together.

    Example:
        >>> bits_in_words([1, 8, 6], "lane")
        'lane bit 0; lane bit 3; lane bits 1 and 2 together'
    """
    return "; ".join(_mask_in_words(mask, noun) for mask in masks)


def _mask_in_words(mask: int, noun: str) -> str:
    *first, last = (str(bit) for bit in range(mask.bit_length()) if mask >> bit & 1)
    return f"{noun} bits {', '.join(first)} and {last} together" if first else f"{noun} bit {last}"


def ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers with runs of three or more written as ranges.

    Example:
        >>> ranges([0, 1, 2, 3, 8, 9, 20])
        '0-3, 8, 9, 20'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    short = [[f"{r[0]}-{r[-1]}"] if len(r) > 2 else [str(n) for n in r] for r in runs]
    return ", ".join(text for run in short for text in run)
