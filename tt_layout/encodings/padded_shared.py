"""``#ttg.padded_shared``: shared memory with gaps at regular intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.tiles import combine_cta_cga_with_shape, dim_names, identity_nd, row_major
from tt_layout.encodings.base import Bases, Shape, SharedEncoding, Violation
from tt_layout.encodings.cga import (
    cga_layout,
    normalize_split,
    rank_by,
    shape_per_cta,
    split_keys,
    split_of_bases,
    split_rank_violations,
    split_to_fields,
)
from tt_layout.encodings.forms import (
    BASES,
    INTEGERS,
    PADDINGS,
    PAIRS,
    Form,
    Key,
    Style,
    Values,
)
from tt_layout.encodings.rules import (
    check_basis_lengths,
    permutation_problem,
    powers_problem,
    violation_of,
)
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.releases import Release

_PADDINGS = Key(PADDINGS, PAIRS, field="paddings")
_RANK = rank_by("order")


def _by_order(values: Values) -> bool:
    return values["order"] is not None


def _by_bases(values: Values) -> bool:
    return values["order"] is None


def _normalize_component(values: Values) -> Values:
    """Normalize the linear component to order and shape if it is an identity, else to bases."""
    by_order = [values[name] for name in ("order", "shape")]
    by_bases = [values[name] for name in ("offset", "block")]
    if None not in by_order and by_bases == [None, None]:
        offset, block = _identity_bases(*by_order), ()
    elif None not in by_bases and by_order == [None, None]:
        offset, block = by_bases
    else:
        message = "a padded_shared is given either by order and shape or by offset and block"
        written = [name for name, value in values.items() if value is not None and name != PADDINGS]
        raise LayoutError(f"{message}, got {', '.join(written) or 'neither'}")
    rank = len(by_order[0] or next(iter(offset), ()))
    order, shape = _as_identity(offset, rank) if not block else (None, None)
    return {**values, "order": order, "shape": shape, "offset": offset, "block": block}


def _identity_bases(order: Shape, shape: Shape) -> Bases:
    if len(order) != len(shape):
        raise LayoutError(
            f"order and shape must have one length, got {list(order)} and {list(shape)}"
        )
    for problem in (permutation_problem("order", order), powers_problem("shape", shape)):
        if problem is not None:
            raise LayoutError(problem)
    tile = identity_nd("offset", shape, order).transpose_outs(dim_names(len(shape)))
    return tile.vectors("offset")


def _rank_to_fields(values: Values) -> Values:
    return {"rank_key": len(values["shape"]) if values["shape"] is not None else None}


def _component_from_fields(padded: PaddedShared, element_bits: int | None) -> Values:
    """Convert the linear component to keys: its bases, or the shape of a single element.

    Raises:
        LayoutError: there are no bases yet, only an order.
    """
    if padded.offset is None:
        raise LayoutError("the shape is a part of it since 3.6: give the type")
    if padded.offset != () or padded.block:
        return {}
    ones = (1,) * padded.rank
    return {"order": tuple(row_major(padded.rank)), "shape": ones, "offset": None, "block": None}


def _order_from_fields(padded: PaddedShared, element_bits: int | None) -> Values:
    """Convert bases that are an identity within each CTA to an order and the CTAs.

    Raises:
        LayoutError: they are not.
    """
    if padded.offset is None:
        return split_of_bases(padded.cga, padded.rank)
    order, shape = _as_identity(padded.offset, padded.rank)
    if order is None or shape is None:
        raise LayoutError("order cannot express the bases of offset, which are not an identity")
    cga = tuple(tuple(x // size for x, size in zip(basis, shape)) for basis in padded.block)
    return {"order": order, **split_of_bases(cga, padded.rank)}


def _as_identity(offset: Bases, rank: int) -> tuple[Shape | None, Shape | None]:
    """Return the order and shape of which these bases are the identity, if any.

    Dimensions of size 1 come last, the highest first.
    """
    if not rank or any(len(basis) != rank for basis in offset):
        return None, None
    moved = [d for basis in offset for d, step in enumerate(basis) if step]
    unmoved = [d for d in reversed(range(rank)) if d not in moved]
    order = tuple(dict.fromkeys([*moved, *unmoved]))
    shape = tuple(1 << moved.count(d) for d in range(rank))
    return (order, shape) if _identity_bases(order, shape) == offset else (None, None)


@dataclass(frozen=True, kw_only=True)
class PaddedShared(SharedEncoding):
    """Shared memory with gaps at regular intervals, so that a column changes its bank.

    Element ``i`` of the linear component is stored at ``i + sum(i // interval * padding)``.
    That is not linear, so the linear layout is of the component, by unpadded offset.

    Attributes:
        paddings: pairs of an interval and the padding after it, in elements.
        offset: bases of the linear component; None where only the order is known (3.5).
        block: bases of the CTAs, with ``offset``.
        order: dimensions from the fastest to the slowest, where ``offset`` is None.
        cga: bases of the CTAs, where ``offset`` is None.
        rank_key: the rank where the bases do not determine it, as for a single element.

    Example:
        >>> padded = PaddedShared(paddings=((2, 2),), offset=((1,), (2,)))
        >>> padded.to_linear_layout([4]).bases[0], padded.padding
        (('offset', [[1], [2]]), ((2, 2),))

    Source:
        Triton, TritonGPUAttrDefs.td, PaddedSharedEncodingAttr; addresses and size
        confirmed on lowered stores.
    """

    paddings: tuple[tuple[int, int], ...]
    offset: Bases | None = None
    block: Bases = ()
    order: Shape | None = None
    cga: Bases = ()
    rank_key: int | None = None

    mnemonic = "padded_shared"
    forms = (
        Form(
            f"ttg.{mnemonic}",
            Release.V3_5,
            (_PADDINGS, Key("order", INTEGERS, field="order"), *split_keys(_RANK)),
            style=Style.PADDED,
            normalize=normalize_split(_RANK),
            to_fields=split_to_fields,
            from_fields=_order_from_fields,
        ),
        Form(
            f"ttg.{mnemonic}",
            Release.V3_6,
            (
                _PADDINGS,
                Key("order", INTEGERS, default=None, omitted=_by_bases),
                Key("shape", INTEGERS, default=None, omitted=_by_bases),
                Key("offset", BASES, field="offset", default=None, omitted=_by_order),
                Key("block", BASES, field="block", default=None, omitted=_by_order),
            ),
            style=Style.PADDED,
            normalize=_normalize_component,
            to_fields=_rank_to_fields,
            from_fields=_component_from_fields,
            supports=lambda nodes: "shape" in nodes or "offset" in nodes,
        ),
    )

    @property
    def rank(self) -> int:
        """The number of dimensions of the linear component."""
        if self.offset is None:
            return len(self.order or ())
        return next((len(basis) for basis in (*self.offset, *self.block)), self.rank_key or 0)

    @property
    def own_shape(self) -> Shape | None:
        """The shape that the linear component spans; None if it fits any shape."""
        if self.offset is None:
            return None
        return tuple(size for _, size in self._component().out_sizes)

    @property
    def padding(self) -> tuple[tuple[int, int], ...]:
        """Pairs of an interval and the padding after it, in elements."""
        return self.paddings

    @property
    def offset_order(self) -> Shape | None:
        """Dimensions from the fastest to the slowest, if the offsets of a CTA are an identity."""
        return _as_identity(self.offset, self.rank)[0] if self.offset is not None else self.order

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        fields = ("paddings",)
        if not self.paddings:
            yield Violation("padded_shared needs at least one interval:+padding", fields)
        for name, values in zip(("intervals", "paddings"), zip(*self.paddings)):
            yield from violation_of(powers_problem(name, values), "paddings")
            if max(values) >= 1 << 32:
                yield Violation(f"{name} must fit into 32 bits, got {list(values)}", fields)
        intervals = [interval for interval, _ in self.paddings]
        if len(set(intervals)) < len(intervals):
            yield Violation(f"the intervals must differ from each other, got {intervals}", fields)
        if self.offset is None:
            order, key = self.order or (), self.key("order")
            yield from violation_of(permutation_problem(key, order), "order")
            if not order:
                yield Violation(f"{key} must name at least one dimension", ("order",))
            yield from split_rank_violations(self, self.rank, since=Release.V3_5)
        else:
            yield from self._component_violations(self.offset)

    def _component_violations(self, offset: Bases) -> Iterator[Violation]:
        if not self.rank:
            yield Violation(f"{self.key('offset')} must have at least one basis", ("offset",))
            return
        keys = {name: self.key(name) for name in ("offset", "block")}
        for name, bases in (("offset", offset), ("block", self.block)):
            yield from check_basis_lengths(self, name, self.rank)
            for basis in bases:
                moved = [step for step in basis if step]
                if len(moved) > 1 or any(step & (step - 1) for step in moved):
                    message = f"a basis of {keys[name]} must be one power of two, got {list(basis)}"
                    yield Violation(message, (name,))
        if not all(any(basis) for basis in offset):
            yield Violation(f"a basis of {keys['offset']} must not be zero", ("offset",))
        if not all(any(basis) for basis in self.block) and self.release == Release.V3_6:
            message = f"a basis of {keys['block']} must not be zero until 3.7"
            yield Violation(message, ("block",))
        if not any(len(basis) != self.rank for basis in (*offset, *self.block)):
            if not self._component().is_surjective():
                message = f"{keys['offset']} and {keys['block']} must reach every element"
                yield Violation(message, ("offset",))
            elif len(set(offset)) < len(offset):
                message = f"the bases of {keys['offset']} must differ from each other"
                yield Violation(message, ("offset",))

    def _component(self) -> LinearLayout:
        bases = [("offset", self.offset or ()), ("block", self.block)]
        return LinearLayout.from_bases(bases, dim_names(self.rank), require_surjective=False)

    def checked_shape(self, shape: Sequence[int]) -> Shape:
        """Return the shape; raise unless the linear component spans it."""
        sizes = super().checked_shape(shape)
        spanned = self.own_shape
        if spanned not in (None, sizes):
            message = f"this #{self.name} is for the shape {list(spanned or ())}, got {list(sizes)}"
            raise LayoutError(message)
        return sizes

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the linear component: unpadded offset to element."""
        if self.offset is not None:
            return self._component()
        order = self.order or ()
        tile = identity_nd("offset", shape_per_cta(self.cga, shape), order)
        return combine_cta_cga_with_shape(tile, cga_layout(self.cga, self.rank), shape, order)
