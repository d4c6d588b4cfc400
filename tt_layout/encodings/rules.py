"""Rules that many encodings share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.algebra.linear_layout import is_power_of_two
from tt_layout.encodings.base import Violation
from tt_layout.releases import Release


def not_permutation(
    key: str, order: Sequence[int], since: Release | None = Release.V2022
) -> Iterator[Violation]:
    """Yield a violation unless ``order`` is a permutation of 0..rank-1."""
    if sorted(order) != list(range(len(order))):
        last = max(len(order) - 1, 0)
        message = f"{key} must be a permutation of 0..{last}, got {list(order)}"
        yield Violation(message, (key,), since)


def not_powers_of_two(
    key: str, values: Sequence[int], since: Release | None = Release.V2022
) -> Iterator[Violation]:
    """Yield a violation unless every value is 1, 2, 4, ..."""
    if not all(is_power_of_two(value) for value in values):
        message = f"every entry of {key} must be a power of two, got {list(values)}"
        yield Violation(message, (key,), since)


def not_power_of_two(
    key: str, value: int, since: Release | None = Release.V2022
) -> Iterator[Violation]:
    """Yield a violation unless the value is 1, 2, 4, ..."""
    if not is_power_of_two(value):
        yield Violation(f"{key} must be a power of two, got {value}", (key,), since)


def not_length(
    key: str, values: Sequence[object], length: int, since: Release | None = Release.V2022
) -> Iterator[Violation]:
    """Yield a violation unless a list has the length asked for."""
    if len(values) != length:
        message = f"{key} must have {length} entries, got {list(values)}"
        yield Violation(message, (key,), since)


def ragged(name: str, vectors: Sequence[Sequence[int]], rank: int) -> Iterator[Violation]:
    """Yield a violation unless every basis vector has ``rank`` numbers."""
    wrong = next((vector for vector in vectors if len(vector) != rank), None)
    if wrong is not None:
        message = f"every basis of {name} must have {rank} numbers, got {list(wrong)}"
        yield Violation(message, (name,))
