"""The arrangement of the CTAs of a cluster: the part of a layout that ``block`` moves in.

Today it is written as the basis vectors themselves (``CGALayout``); until 3.5 as three
lists.  Both lead to the bases.

Source:
    Triton, CGAEncodingAttr in TritonGPUAttrDefs.td (3.6 and later) and CTALayoutAttr
    (before); the order of the old triple's bases from its ``fromSplitParams``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout, is_power_of_two
from tt_layout.algebra.tiles import dim_names, identity, product, row_major, zeros
from tt_layout.encodings.base import Bases, Shape, Violation
from tt_layout.encodings.forms import BASES, INTEGERS, Form, Key, Values
from tt_layout.errors import LayoutError
from tt_layout.releases import Release

TRIPLE_NAMES = ("CTAsPerCGA", "CTASplitNum", "CTAOrder")

RankOf = Callable[[Values], int]


def rank_by(*names: str) -> RankOf:
    """Return the function that reads the rank off the first list given."""
    return lambda values: next((len(values[n]) for n in names if values.get(n)), 0)


CGA_LAYOUT = Key(
    "CGALayout", BASES, field="cga", default=(), hidden=lambda values: not values["CGALayout"]
)
"""Since 3.6: printed where there is more than one CTA."""

PRINTED_TRIPLE = tuple(Key(name, INTEGERS, default=()) for name in TRIPLE_NAMES)
"""Of 2.2 and 2.3: printed always, empty by default."""


def triple(rank_of: RankOf) -> tuple[Key, ...]:
    """Return the three keys of 3.0 to 3.5: all or none, unprinted for a single CTA."""

    def hidden(values: Values) -> bool:
        rank = rank_of(values)
        default = ((1,) * rank, (1,) * rank, tuple(row_major(rank)))
        return tuple(values[name] for name in TRIPLE_NAMES) == default

    ones = [Key(name, INTEGERS, default=None, hidden=hidden) for name in TRIPLE_NAMES[:2]]
    return (*ones, Key(TRIPLE_NAMES[2], INTEGERS, default=None, hidden=hidden))


def normalize_triple(rank_of: RankOf) -> Callable[[Values], Values]:
    """Return the function that fills in an absent triple and straightens a trivial order."""

    def normalize(values: Values) -> Values:
        given = [name for name in TRIPLE_NAMES if values[name] is not None]
        if given and len(given) < len(TRIPLE_NAMES):
            message = f"{', '.join(TRIPLE_NAMES)} must all be given or none of them"
            raise LayoutError(f"{message}, got only {', '.join(given)}")
        rank = len(values["CTAsPerCGA"]) if given else rank_of(values)
        if not given:
            return {**values, **_single_cta(rank)}
        check_triple(*(values[name] for name in TRIPLE_NAMES))
        if all(count == 1 for count in values["CTAsPerCGA"]):
            return {**values, "CTAOrder": tuple(row_major(rank))}
        return values

    return normalize


def _single_cta(rank: int) -> Values:
    ones = (1,) * rank
    return dict(zip(TRIPLE_NAMES, (ones, ones, tuple(row_major(rank)))))


def check_triple(per_cga: Shape, split: Shape, order: Shape) -> None:
    """Raise unless the three lists describe an arrangement of CTAs."""
    if not len(per_cga) == len(split) == len(order):
        ranks = [len(per_cga), len(split), len(order)]
        raise LayoutError(f"{', '.join(TRIPLE_NAMES)} must have one length, got {ranks}")
    if sorted(order) != list(range(len(order))):
        message = f"CTAOrder must be a permutation of 0..{len(order) - 1}, got {list(order)}"
        raise LayoutError(message)


def bases_of_triple(values: Values) -> Bases:
    """Return the bases of ``block`` for the old three lists.

    Per dimension, fastest first: the CTAs that split it, then those that repeat it.

    Example:
        >>> bases_of_triple({"CTAsPerCGA": (2, 2), "CTASplitNum": (2, 1), "CTAOrder": (0, 1)})
        ((1, 0), (0, 0))
    """
    per_cga, split, order = (values[name] for name in TRIPLE_NAMES)
    check_triple(per_cga, split, order)
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


def lift_triple(values: Values) -> Values:
    """Return the fields of today's classes that the old three lists fill."""
    try:
        return {"cga": bases_of_triple(values)}
    except LayoutError as error:
        return {"fault": error.message}


def triple_of_bases(cga: Bases, rank: int) -> Values:
    """Return the old three lists for the bases of ``block``; the inverse of `bases_of_triple`.

    Raises:
        LayoutError: no three lists stand for these bases.

    Example:
        >>> triple_of_bases(((1, 0), (0, 0)), 2)
        {'CTAsPerCGA': (4, 1), 'CTASplitNum': (2, 1), 'CTAOrder': (0, 1)}
    """
    per_cga, split, order = [1] * rank, [1] * rank, list[int]()
    # A zero basis repeats the dimension before it; in front, one that no basis moves in.
    still = [d for d in row_major(rank) if not any(basis[d] for basis in cga)]
    dim = still[0] if still else 0
    for basis in cga:
        moved = [d for d, step in enumerate(basis) if step]
        dim = moved[0] if moved else dim
        order += [dim] if dim not in order else []
        per_cga[dim] *= 2
        split[dim] *= 2 if moved else 1
    order += [d for d in row_major(rank) if d not in order]
    values = dict(zip(TRIPLE_NAMES, (tuple(per_cga), tuple(split), tuple(order))))
    if bases_of_triple(values) != cga:
        bases = [list(basis) for basis in cga]
        raise LayoutError(f"{', '.join(TRIPLE_NAMES)} cannot say CGALayout = {bases}")
    return values


def lower_triple(encoding: Any, element_bits: int | None) -> Values:
    """Return the old three lists for an encoding with the field ``cga``."""
    return triple_of_bases(encoding.cga, encoding.rank)


def triple_form(
    name: str,
    since: Release,
    until: Release,
    keys: tuple[Key, ...],
    normalize: Callable[[Values], Values] = lambda values: values,
) -> Form:
    """Return a spelling in which the old three lists stand for the bases of ``block``."""
    return Form(name, since, until, keys, normalize=normalize, lift=lift_triple, lower=lower_triple)


def cga_layout(cga: Bases, rank: int) -> LinearLayout:
    """Return the layout from ``block`` to the tensor; one CTA where there are no bases."""
    return LinearLayout.from_bases([("block", cga)], dim_names(rank), require_surjective=False)


def without_dim(cga: Bases, dim: int) -> Bases:
    """Return the bases with one component set to 0, so that CTAs repeat along it."""
    return tuple((*basis[:dim], 0, *basis[dim + 1 :]) for basis in cga)


def cta_split_num(cga: Bases, rank: int) -> list[int]:
    """Return into how many parts the CTAs split each dimension."""
    return [1 << sum(basis[d] != 0 for basis in cga) for d in range(rank)]


def shape_per_cta(cga: Bases, shape: Sequence[int]) -> list[int]:
    """Return the part of a tensor that one CTA holds.

    Example:
        >>> shape_per_cta(((1, 0),), [64, 32])
        [32, 32]
    """
    split = cta_split_num(cga, len(shape))
    return [size // min(size, parts) for size, parts in zip(shape, split)]


def cga_violations(cga: Bases, rank: int) -> Iterator[Violation]:
    """Yield what is wrong with the bases of ``block`` for a layout of some rank."""
    keys = ("CGALayout", "CTAsPerCGA", "CTASplitM")
    for basis in cga:
        if len(basis) != rank:
            message = f"every entry of CGALayout must have {rank} numbers, got {list(basis)}"
            yield Violation(message, keys)
            return
    if not is_permutation_matrix(cga, rank):
        yield Violation(
            "CGALayout must be a permutation matrix but for zero vectors: per dimension the "
            f"steps 1, 2, 4, .. once each, got {[list(b) for b in cga]}",
            keys,
            Release.V3_8,
            has_meaning=True,
        )


def is_permutation_matrix(vectors: Sequence[Sequence[int]], rank: int) -> bool:
    """Tell whether the nonzero vectors are 1, 2, 4, .. in each dimension, once each."""
    steps: list[list[int]] = [[] for _ in range(rank)]
    for vector in vectors:
        moved = [(d, step) for d, step in enumerate(vector) if step]
        if len(moved) > 1:
            return False
        for d, step in moved:
            steps[d].append(step)
    return all(sorted(own) == [1 << bit for bit in range(len(own))] for own in steps)
