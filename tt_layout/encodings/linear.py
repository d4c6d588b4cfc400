"""``#ttg.linear`` and ``#ttg.generic_linear``: a distributed layout given by its bases."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.span import F2Span
from tt_layout.algebra.tiles import (
    dim_names,
    ensure_layout_not_larger_than,
    ensure_layout_not_smaller_than,
    row_major,
)
from tt_layout.encodings.base import Bases, DistributedEncoding, Shape, Violation
from tt_layout.encodings.cga import is_permutation_matrix
from tt_layout.encodings.forms import BASES, Form, Key
from tt_layout.encodings.rules import check_basis_lengths
from tt_layout.records import dataclass
from tt_layout.releases import Release

_DIMS = ("register", "lane", "warp", "block")
_KEYS = tuple(Key(name, BASES, field=name) for name in _DIMS)


@dataclass(frozen=True, kw_only=True)
class GenericLinear(DistributedEncoding):
    """A distributed layout given by its bases, whose warps may be swizzled.

    For a tensor of another shape than the bases span, registers repeat the layout or bases
    fall away, as for a tile.

    Attributes:
        register, lane, warp, block: the basis vectors of each input, least significant
            first.  Those of ``warp`` may move in several dimensions at once.

    Example:
        >>> GenericLinear(register=((1,),), lane=((2,),), warp=(), block=()
        ...     ).to_linear_layout([8]).bases[0]
        ('register', [[1], [4]])

    Source:
        Triton, GenericLinearEncodingAttr in TritonGPUAttrDefs.td and
        lib/Dialect/TritonGPU/IR/Dialect.cpp.
    """

    register: Bases
    lane: Bases
    warp: Bases
    block: Bases

    mnemonic = "generic_linear"
    has_width = False
    ignores_unknown_keys = True
    forms = (Form(f"ttg.{mnemonic}", Release.V3_8, _KEYS),)

    @property
    def vectors(self) -> Bases:
        """All basis vectors."""
        return (*self.register, *self.lane, *self.warp, *self.block)

    @property
    def rank(self) -> int:
        """The length of the basis vectors."""
        return len(self.vectors[0]) if self.vectors else 0

    @cached_property
    def natural_layout(self) -> LinearLayout:
        """The layout of the shape that the bases span."""
        bases = [(name, getattr(self, name)) for name in _DIMS]
        return LinearLayout.from_bases(bases, dim_names(self.rank), require_surjective=False)

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the bases break."""
        if not self.rank:
            yield Violation(f"#{self.name} must have at least one basis vector")
            return
        broken = [
            violation for name in _DIMS for violation in check_basis_lengths(self, name, self.rank)
        ]
        yield from broken
        if not broken:
            yield from self.matrix_violations()

    def matrix_violations(self) -> Iterator[Violation]:
        """Yield violations of bases of equal length."""
        for name in ("register", "lane", "block"):
            yield from self._moving_in_several(name)
        yield from self._not_surjective()

    def _moving_in_several(self, name: str) -> Iterator[Violation]:
        for vector in getattr(self, name):
            if sum(map(bool, vector)) > 1:
                rule = f"a basis of {self.key(name)} may move in one dimension only"
                yield Violation(f"{rule}, got {list(vector)}", (name,))
                return

    def _not_surjective(self) -> Iterator[Violation]:
        if not self.natural_layout.is_surjective():
            yield Violation(
                f"the bases of #{self.name} must reach every element of the shape they span "
                f"({[size for _, size in self.natural_layout.out_sizes]}), but do not"
            )

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the bases, repeated or clipped to the shape."""
        sizes = dict(zip(dim_names(self.rank), shape))
        layout = self.natural_layout.transpose_outs([f"dim{d}" for d in self._order()])
        layout = ensure_layout_not_smaller_than(layout, sizes)
        layout = ensure_layout_not_larger_than(layout, sizes, drop_registers=True)
        return layout.transpose_outs(dim_names(self.rank))

    def _order(self) -> list[int]:
        """Return the dimensions by first appearance among the registers, then row-major."""
        moved = [d for vector in self.register for d, step in enumerate(vector) if step]
        return list(dict.fromkeys([*moved, *row_major(self.rank)]))


@dataclass(frozen=True, kw_only=True)
class Linear(GenericLinear):
    """A distributed layout given by its bases: a permutation matrix but for zero bases.

    Attributes:
        register, lane, warp, block: the basis vectors of each input, least significant
            first; each moves in one dimension, by a power of two, or is zero.

    Example:
        >>> print(Linear(register=((1,),), lane=((2,),), warp=((0,),), block=()))
        #ttg.linear<{register = [[1]], lane = [[2]], warp = [[0]], block = []}>

    Source:
        Triton, LinearEncodingAttr in TritonGPUAttrDefs.td and
        lib/Dialect/TritonGPU/IR/Dialect.cpp.
    """

    mnemonic = "linear"
    has_width = False
    forms = (Form(f"ttg.{mnemonic}", Release.V3_3, _KEYS),)

    def matrix_violations(self) -> Iterator[Violation]:
        """Yield violations of bases of equal length."""
        for name in _DIMS:
            yield from self._moving_in_several(name)
        yield from self._not_surjective()
        nonzero = [self.natural_layout.flatten(v) for v in self.vectors if any(v)]
        if F2Span(nonzero).rank < len(nonzero):
            message = "the nonzero bases of #ttg.linear must be independent of each other"
            yield Violation(message, since=Release.V3_7, has_meaning=True)
        if not is_permutation_matrix(self.vectors, self.rank):
            yield Violation(
                "#ttg.linear must be a permutation matrix but for zero bases: every vector one "
                "power of two, every step once",
                since=Release.V3_8,
                has_meaning=True,
            )
