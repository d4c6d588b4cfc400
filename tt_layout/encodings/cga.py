"""Arrangement of the CTAs of a cluster: the bases of ``block``.

Today it is written as the basis vectors themselves (``CGALayout``); until 3.5 as three
lists.  Both lead to the bases.

Source:
    Triton, CGAEncodingAttr in TritonGPUAttrDefs.td (3.6 and later) and CTALayoutAttr
    (before); the order of the bases for the old split parameters from its ``fromSplitParams``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Protocol

from tt_layout.algebra.linear_layout import LinearLayout, is_power_of_two
from tt_layout.algebra.tiles import dim_names, identity, product, row_major, zeros
from tt_layout.encodings.base import Bases, Shape, Violation
from tt_layout.encodings.forms import BASES, INTEGERS, Form, Key, Spelling, Values, optional
from tt_layout.errors import LayoutError
from tt_layout.releases import Release

SPLIT_NAMES = ("CTAsPerCGA", "CTASplitNum", "CTAOrder")

RankOf = Callable[[Values], int]

CGA_LAYOUT = optional("CGALayout", BASES, (), "cga")
"""Since 3.6: printed where there is more than one CTA."""

PRINTED_SPLIT = tuple(Key(name, INTEGERS, part_of="cga", default=()) for name in SPLIT_NAMES)
"""Of 2.2 and 2.3: printed always, empty by default."""


class HasCga(Protocol):
    """An encoding with an arrangement of the CTAs of a cluster."""

    @property
    def spelling(self) -> Spelling | None:
        """The spelling in which it was written."""

    @property
    def cga(self) -> Bases:
        """The bases of ``block``."""

    def key(self, field: str) -> str:
        """Return the name of a field in messages."""


def rank_by(*names: str) -> RankOf:
    """Return the function that reads the rank off the first of these lists that is present."""
    return lambda values: next((len(values[n]) for n in names if values.get(n)), 0)


def own_rank(values: Values) -> int:
    """Return the rank of the CTA split parameters themselves."""
    return len(values[SPLIT_NAMES[0]])


def split_keys(rank_of: RankOf) -> tuple[Key, ...]:
    """Return the keys of the CTA split parameters of 3.0 to 3.5, unprinted for one CTA."""

    def is_default(values: Values) -> bool:
        rank = rank_of(values)
        default = ((1,) * rank, (1,) * rank, tuple(row_major(rank)))
        return tuple(values[name] for name in SPLIT_NAMES) == default

    return tuple(
        Key(name, INTEGERS, part_of="cga", default=None, omitted=is_default) for name in SPLIT_NAMES
    )


def normalize_split(rank_of: RankOf) -> Callable[[Values], Values]:
    """Return the function that fills in absent split parameters and normalizes a trivial order."""

    def normalize(values: Values) -> Values:
        written = [name for name in SPLIT_NAMES if values[name] is not None]
        if written and len(written) < len(SPLIT_NAMES):
            message = f"{', '.join(SPLIT_NAMES)} must all be given or none of them"
            raise LayoutError(f"{message}, got only {', '.join(written)}")
        rank = len(values["CTAsPerCGA"]) if written else rank_of(values)
        if not written:
            ones = (1,) * rank
            return {**values, **dict(zip(SPLIT_NAMES, (ones, ones, tuple(row_major(rank)))))}
        check_split(*(values[name] for name in SPLIT_NAMES))
        if all(count == 1 for count in values["CTAsPerCGA"]):
            return {**values, "CTAOrder": tuple(row_major(rank))}
        return values

    return normalize


def check_split(per_cga: Shape, split: Shape, order: Shape) -> None:
    """Raise an error unless the three lists describe an arrangement of CTAs."""
    if not len(per_cga) == len(split) == len(order):
        ranks = [len(per_cga), len(split), len(order)]
        raise LayoutError(f"{', '.join(SPLIT_NAMES)} must have one length, got {ranks}")
    if sorted(order) != list(range(len(order))):
        message = f"CTAOrder must be a permutation of 0..{len(order) - 1}, got {list(order)}"
        raise LayoutError(message)


def bases_of_split(values: Values) -> Bases:
    """Convert the three lists of 3.0 to 3.5 to the bases of ``block``.

    Per dimension, fastest first: the CTAs that split it, then those that repeat it.

    Example:
        >>> bases_of_split({"CTAsPerCGA": (2, 2), "CTASplitNum": (2, 1), "CTAOrder": (0, 1)})
        ((1, 0), (0, 0))
    """
    per_cga, split, order = (values[name] for name in SPLIT_NAMES)
    check_split(per_cga, split, order)
    if not order:
        return ()
    for d in order:
        sound = is_power_of_two(per_cga[d]) and is_power_of_two(split[d])
        if not sound or per_cga[d] % split[d]:
            raise LayoutError(
                "CTAsPerCGA and CTASplitNum must be powers of two, the second dividing the "
                f"first, got {list(per_cga)} and {list(split)}"
            )
    factors = [
        identity(split[d], "block", d) * zeros(per_cga[d] // split[d], "block", d) for d in order
    ]
    return product(factors).transpose_outs(dim_names(len(order))).vectors("block")


def split_to_fields(values: Values) -> Values:
    """Convert the three lists of 3.0 to 3.5 to fields of today's classes."""
    try:
        return {"cga": bases_of_split(values)}
    except LayoutError as error:
        return {"no_layout_reason": error.message}


def split_of_bases(cga: Bases, rank: int) -> Values:
    """Convert the bases of ``block`` to the three lists; the inverse of `bases_of_split`.

    Raises:
        LayoutError: no three lists express these bases.

    Example:
        >>> split_of_bases(((1, 0), (0, 0)), 2)
        {'CTAsPerCGA': (4, 1), 'CTASplitNum': (2, 1), 'CTAOrder': (0, 1)}
    """
    per_cga, split, order = [1] * rank, [1] * rank, list[int]()
    # A zero basis repeats the dimension before it; in front, one that no basis moves in.
    unmoved = [d for d in row_major(rank) if not any(basis[d] for basis in cga)]
    dim = unmoved[0] if unmoved else 0
    for basis in cga:
        moved = [d for d, step in enumerate(basis) if step]
        dim = moved[0] if moved else dim
        order += [dim] if dim not in order else []
        per_cga[dim] *= 2
        split[dim] *= 2 if moved else 1
    order += [d for d in row_major(rank) if d not in order]
    values = dict(zip(SPLIT_NAMES, (tuple(per_cga), tuple(split), tuple(order))))
    if bases_of_split(values) != cga:
        bases = [list(basis) for basis in cga]
        raise LayoutError(f"{', '.join(SPLIT_NAMES)} cannot express CGALayout = {bases}")
    return values


def split_from_fields(encoding: Any, element_bits: int | None) -> Values:
    """Convert the field ``cga`` of an encoding to the three lists."""
    return split_of_bases(encoding.cga, encoding.rank)


def split_form(
    name: str,
    since: Release,
    keys: tuple[Key, ...],
    normalize: Callable[[Values], Values] = lambda values: values,
) -> Form:
    """Return a form with the three lists in place of the bases of ``block``."""
    return Form(
        name,
        since,
        keys,
        normalize=normalize,
        to_fields=split_to_fields,
        from_fields=split_from_fields,
    )


@lru_cache(maxsize=256)
@lru_cache(maxsize=256)
def cga_layout(cga: Bases, rank: int) -> LinearLayout:
    """Return the layout from ``block`` to the tensor; one CTA without bases."""
    return LinearLayout.from_bases([("block", cga)], dim_names(rank), require_surjective=False)


def without_dim(bases: Bases, dim: int) -> Bases:
    """Return bases with one component set to 0, so that CTAs are replicated along it."""
    return tuple((*basis[:dim], 0, *basis[dim + 1 :]) for basis in bases)


def cta_split_num(cga: Bases, rank: int) -> list[int]:
    """Return the number of parts into which CTAs split each dimension."""
    return [1 << sum(basis[d] != 0 for basis in cga) for d in range(rank)]


def shape_per_cta(cga: Bases, shape: Sequence[int]) -> list[int]:
    """Return the shape of the part of a tensor that one CTA holds.

    Example:
        >>> shape_per_cta(((1, 0),), [64, 32])
        [32, 32]
    """
    split = cta_split_num(cga, len(shape))
    return [size // min(size, parts) for size, parts in zip(shape, split)]


def cga_violations(encoding: HasCga, rank: int) -> Iterator[Violation]:
    """Yield violations of the bases of ``block`` for a layout of this rank."""
    cga, key = encoding.cga, encoding.key("cga")
    for basis in cga:
        if len(basis) != rank:
            from tt_layout.wording import count

            message = f"every entry of {key} must have {count(rank, 'number')}, got {list(basis)}"
            yield Violation(message, ("cga",), Release.V3_6)
            return
    if not is_permutation_matrix(cga, rank):
        yield Violation(
            f"{key} must be a permutation matrix but for zero vectors: per dimension the "
            f"steps 1, 2, 4, .. once each, got {[list(b) for b in cga]}",
            ("cga",),
            Release.V3_8,
            has_meaning=True,
        )


def split_rank_violations(encoding: HasCga, rank: int, since: Release) -> Iterator[Violation]:
    """Yield a violation if the CTA split parameters do not have this rank.

    Many attributes accept any number of them, and ignore those beyond their rank.
    """
    values = encoding.spelling.values if encoding.spelling else {}
    entries = len(values.get(SPLIT_NAMES[0], (0,) * rank))
    if entries != rank:
        from tt_layout.wording import count

        message = f"{', '.join(SPLIT_NAMES)} must have {count(rank, 'entry')} each, got {entries}"
        yield Violation(message, ("cga",), since, has_meaning=True)


def is_permutation_matrix(vectors: Sequence[Sequence[int]], rank: int) -> bool:
    """Return whether the nonzero vectors are 1, 2, 4, .. in each dimension, once each."""
    steps: list[list[int]] = [[] for _ in range(rank)]
    for vector in vectors:
        moved = [(d, step) for d, step in enumerate(vector) if step]
        if len(moved) > 1:
            return False
        for d, step in moved:
            steps[d].append(step)
    return all(sorted(sizes) == [1 << bit for bit in range(len(sizes))] for sizes in steps)
