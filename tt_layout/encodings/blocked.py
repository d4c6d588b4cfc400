"""``#ttg.blocked``: registers tile a block, lanes tile blocks, warps tile those."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.algebra.tiles import combine_cta_cga_with_shape, dim_names, identity_nd
from tt_layout.encodings.base import Bases, DistributedEncoding, Shape, Violation
from tt_layout.encodings.cga import (
    CGA_LAYOUT,
    PRINTED_SPLIT,
    SPLIT_NAMES,
    cga_layout,
    cga_violations,
    normalize_split,
    rank_by,
    split_form,
    split_keys,
    split_rank_violations,
)
from tt_layout.encodings.forms import INTEGERS, Form, Key
from tt_layout.encodings.stated_rules import Must, Rule
from tt_layout.mlir.syntax import ListNode, Node
from tt_layout.mlir.types import sizes_of
from tt_layout.records import dataclass
from tt_layout.releases import Release

if TYPE_CHECKING:
    from tt_layout.mlir.types import ShapeOrType

_KEYS = (
    Key("sizePerThread", INTEGERS, field="size_per_thread", silent_default=()),
    Key("threadsPerWarp", INTEGERS, field="threads_per_warp", silent_default=()),
    Key("warpsPerCTA", INTEGERS, field="warps_per_cta", silent_default=()),
    Key("order", INTEGERS, field="order", silent_default=()),
)
_RANK = rank_by("sizePerThread")
_SPLIT_KEYS = _KEYS + split_keys(_RANK)
_NORMALIZE = normalize_split(_RANK)


def _has_no_empty_split(nodes: Mapping[str, Node]) -> bool:
    lists = (nodes[name] for name in SPLIT_NAMES if name in nodes)
    return all(not isinstance(node, ListNode) or bool(node.items) for node in lists)


@dataclass(frozen=True, kw_only=True)
class Blocked(DistributedEncoding):
    """Registers tile a block, lanes tile blocks, warps tile those, each along ``order``.

    A tensor larger than the whole tile repeats it in further registers.  A tensor smaller
    than it leaves lanes and warps that repeat elements; registers that fall outside are
    dropped since 3.9 and repeat elements before.

    Attributes:
        size_per_thread: elements one thread holds along each dimension, in one tile.
        threads_per_warp: lanes along each dimension; their product is the warp size.
        warps_per_cta: warps along each dimension.
        order: dimensions from the fastest varying to the slowest.
        cga: the bases of ``block``; none for one CTA.

    Example:
        Eight elements under a 64-element tile: lane bit 1 and both warp bits are free.

        >>> Blocked(size_per_thread=(4,), threads_per_warp=(4,), warps_per_cta=(4,),
        ...         order=(0,)).to_linear_layout([8]).bases[1:3]
        [('lane', [[4], [0]]), ('warp', [[0], [0]])]

    Source:
        Triton, lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp,
        BlockedEncodingAttr::toLinearLayout.
    """

    size_per_thread: Shape
    threads_per_warp: Shape
    warps_per_cta: Shape
    order: Shape
    cga: Bases = ()

    mnemonic = "blocked"
    has_width = False
    rules = (
        Rule("order", Must.PERMUTATION, since=Release.V2_2),
        Rule("size_per_thread", Must.POWERS, since=Release.V3_5),
        Rule("threads_per_warp", Must.POWERS, since=Release.V3_5),
        Rule("warps_per_cta", Must.POWERS, since=Release.V3_5),
    )
    forms = (
        Form(f"triton_gpu.{mnemonic}", Release.V2022, _KEYS),
        split_form(f"triton_gpu.{mnemonic}", Release.V2_2, _KEYS + PRINTED_SPLIT),
        split_form(f"triton_gpu.{mnemonic}", Release.V3_0, _SPLIT_KEYS, _NORMALIZE),
        split_form(f"ttg.{mnemonic}", Release.V3_3, _SPLIT_KEYS, _NORMALIZE),
        split_form(f"ttg.{mnemonic}", Release.V3_4, _SPLIT_KEYS, _NORMALIZE)._replace(
            supports=_has_no_empty_split
        ),
        Form(f"ttg.{mnemonic}", Release.V3_6, (*_KEYS, CGA_LAYOUT)),
    )

    @property
    def rank(self) -> int:
        """The length of ``order``."""
        return len(self.order)

    def violations(self) -> Iterator[Violation]:
        """Yield the rules that the fields break."""
        yield from super().violations()
        lists = ("size_per_thread", "threads_per_warp", "warps_per_cta")
        lengths = {self.key(name): len(getattr(self, name)) for name in (*lists, "order")}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
            message = f"the lists of #{self.name} must have one length, got {shown}"
            yield Violation(message, since=Release.V2_2)
            return
        yield from cga_violations(self, self.rank)
        # until 3.3 the parameters of the CTA split may be empty
        values = self.spelling.values if self.spelling else {}
        may_be_empty = self.release <= Release.V3_3
        if not may_be_empty or values.get(SPLIT_NAMES[0]):
            yield from split_rank_violations(self, self.rank, since=Release.V2_2)

    def to_linear_layout(
        self, shape: ShapeOrType, *, element_bits: int | None = None
    ) -> LinearLayout:
        """Return the linear layout; see `Encoding.to_linear_layout`."""
        layout = super().to_linear_layout(shape, element_bits=element_bits)
        if self.release > Release.V2_0:
            return layout
        return self._wrapped(layout, sizes_of(shape)[0])

    def _wrapped(self, layout: LinearLayout, shape: Shape) -> LinearLayout:
        """Return the layout of 2.0, whose excess registers wrap into the next row.

        2.0 did not clip them: their address continues in the following rows.
        """
        strides = [math.prod(shape[d + 1 :]) for d in range(self.rank)]

        def wrapped(step: Shape) -> Shape:
            address = sum(x * stride for x, stride in zip(step, strides)) % math.prod(shape)
            return tuple(address // stride % size for stride, size in zip(strides, shape))

        tile = identity_nd("register", self.size_per_thread, self.order)
        steps = tile.transpose_outs(dim_names(self.rank)).vectors("register")
        fitted = layout.vectors("register")[len(steps) :]
        return layout.with_vectors("register", (*map(wrapped, steps), *fitted))

    def layout_for(self, shape: Shape, element_bits: int | None = None) -> LinearLayout:
        """Return the tile of registers, lanes and warps, repeated over the tensor."""
        return combine_cta_cga_with_shape(
            _tile(self.size_per_thread, self.threads_per_warp, self.warps_per_cta, self.order),
            cga_layout(self.cga, self.rank),
            shape,
            self.order,
            drop_registers=self.release >= Release.V3_9,
        )


@lru_cache(maxsize=1024)
def _tile(registers: Shape, lanes: Shape, warps: Shape, order: Shape) -> LinearLayout:
    """Return the tile of registers, lanes and warps, which several tensors repeat."""
    return (
        identity_nd("register", registers, order)
        * identity_nd("lane", lanes, order)
        * identity_nd("warp", warps, order)
    )
