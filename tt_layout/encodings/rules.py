"""Rules of single fields that many encodings share, with messages in terms of their keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.algebra.linear_layout import is_power_of_two
from tt_layout.encodings.base import Encoding, Violation
from tt_layout.releases import Release
from tt_layout.wording import count


def permutation_problem(key: str, order: Sequence[int]) -> str | None:
    """Return the message for a list that is not a permutation of 0..rank-1, else None."""
    if sorted(order) == list(range(len(order))):
        return None
    last = max(len(order) - 1, 0)
    return f"{key} must be a permutation of 0..{last}, got {list(order)}"


def powers_problem(key: str, values: Sequence[int]) -> str | None:
    """Return the message for a list with an entry that is not a power of two, else None."""
    if all(is_power_of_two(value) for value in values):
        return None
    return f"every entry of {key} must be a power of two, got {list(values)}"


def power_problem(key: str, value: int) -> str | None:
    """Return the message for a value that is not a power of two, else None."""
    return None if is_power_of_two(value) else f"{key} must be a power of two, got {value}"


def violation_of(
    problem: str | None, field: str, since: Release | None = Release.V2022
) -> Iterator[Violation]:
    """Yield the violation of a field, if it has a problem."""
    if problem is not None:
        yield Violation(problem, (field,), since)


def check_length(
    encoding: Encoding, field: str, length: int, since: Release | None
) -> Iterator[Violation]:
    """Yield a violation unless a list has this length."""
    values = getattr(encoding, field)
    if len(values) != length:
        message = f"{encoding.key(field)} must have {count(length, 'entry')}, got {list(values)}"
        yield Violation(message, (field,), since)


def basis_length_problem(name: str, vectors: Sequence[Sequence[int]], rank: int) -> str | None:
    """Return the message for a basis vector without ``rank`` numbers, else None."""
    wrong = next((vector for vector in vectors if len(vector) != rank), None)
    if wrong is None:
        return None
    return f"every basis of {name} must have {count(rank, 'number')}, got {list(wrong)}"


def check_basis_lengths(encoding: Encoding, field: str, rank: int) -> Iterator[Violation]:
    """Yield a violation unless every basis vector of a field has ``rank`` numbers."""
    problem = basis_length_problem(encoding.key(field), getattr(encoding, field), rank)
    yield from violation_of(problem, field)
