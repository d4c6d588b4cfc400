"""Formatting of numbers, sizes, lines, bits and ranges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def shown(number: int | float) -> str:
    """Format a number with up to three digits after the point.

    Example:
        >>> shown(3), shown(2.5)
        ('3', '2.5')
    """
    return f"{number:.3f}".rstrip("0").rstrip(".") if isinstance(number, float) else str(number)


def plural(noun: str, number: int | float = 0) -> str:
    """Return a noun in the plural unless its number is 1; only its first word changes.

    Example:
        >>> plural("copy"), plural("key"), plural("reduction over lanes"), plural("fix", 1)
        ('copies', 'keys', 'reductions over lanes', 'fix')
    """
    first, space, rest = noun.partition(" over ")
    if number == 1:
        return noun
    if first.endswith(("ss", "ch", "x")):
        first += "es"
    elif first.endswith("y") and not first.endswith("ey"):
        first = f"{first[:-1]}ies"
    else:
        first += "s"
    return f"{first}{space}{rest}"


def count(number: int | float, noun: str) -> str:
    """Format a number with its noun.

    Example:
        >>> count(1, "wavefront"), count(2.5, "wavefront")
        ('1 wavefront', '2.5 wavefronts')
    """
    return f"{shown(number)} {plural(noun, number)}"


def listed(words: Iterable[str], conjunction: str = "and") -> str:
    """List words, of which there is at least one, with a conjunction before the last.

    Example:
        >>> listed(["8"]), listed(["1", "2", "4"], "or")
        ('8', '1, 2 or 4')
    """
    *first, last = words
    return f"{', '.join(first)} {conjunction} {last}" if first else last


def duration(seconds: float) -> str:
    """Format a time, in seconds, with a fitting unit.

    Example:
        >>> duration(0.00214), duration(3.2e-6), duration(4.2)
        ('2.14 ms', '3.2 us', '4.2 s')
    """
    unit, length = _unit(seconds)
    return f"{seconds / length:.3g} {unit}"


def durations(first: float, *others: float) -> tuple[str, ...]:
    """Format times, in seconds, with the unit of the first; only the first says it.

    Two digits, as estimates have no more.

    Example:
        >>> durations(0.00214, 0.0009, 0.123)
        ('2.1 ms', '0.9', '123')
    """
    unit, length = _unit(first)
    numbers = [_two_digits(seconds / length) for seconds in (first, *others)]
    return f"{numbers[0]} {unit}", *numbers[1:]


def _two_digits(number: float) -> str:
    return f"{number:.2g}" if number < 100 else f"{number:.0f}"


def _unit(seconds: float) -> tuple[str, float]:
    """Return the unit that a time is said in, and its length in seconds."""
    units = ("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)
    return next((one for one in units if seconds >= one[1]), units[-1])


def size(number: int) -> str:
    """Format a size in bytes with a fitting unit.

    Example:
        >>> size(1), size(512), size(1024), size(17920), size(1 << 20)
        ('1 byte', '512 bytes', '1 KiB', '17.5 KiB', '1 MiB')
    """
    if number < 1024:
        return count(number, "byte")
    value, unit = number / 1024, 0
    while round(value, 1) >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f}".removesuffix(".0") + f" {_UNITS[unit]}"


def lines(numbers: Sequence[int], most: int | None = None) -> str:
    """Format line numbers, with a count of those left out.

    Example:
        >>> lines([3]), lines([3, 5]), lines([3, 5, 8, 9], 2)
        ('line 3', 'lines 3, 5', 'lines 3, 5 and 2 more')
    """
    rest = f" and {len(numbers) - most} more" if most is not None and len(numbers) > most else ""
    return f"{plural('line', len(numbers))} {', '.join(map(str, numbers[:most]))}{rest}"


def bits_in_words(masks: Sequence[int], noun: str) -> str:
    """Format masks of bits: single bits first, then combinations.

    Example:
        >>> bits_in_words([1, 8, 6], "lane")
        'lane bits 0, 3; lane bits 1 and 2 together'
        >>> bits_in_words([1, 2, 4], "lane"), bits_in_words([8], "lane")
        ('lane bits 0-2', 'lane bit 3')
    """
    single = [mask.bit_length() - 1 for mask in masks if mask.bit_count() == 1]
    first = [f"{plural(f'{noun} bit', len(single))} {ranges(single)}"] if single else []
    together = (_mask_in_words(mask, noun) for mask in masks if mask.bit_count() > 1)
    return "; ".join([*first, *together])


def _mask_in_words(mask: int, noun: str) -> str:
    bits = (str(bit) for bit in range(mask.bit_length()) if mask >> bit & 1)
    return f"{noun} bits {listed(bits)} together"


def ranges(numbers: Sequence[int]) -> str:
    """Format ascending numbers, with runs of three or more as ranges.

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
