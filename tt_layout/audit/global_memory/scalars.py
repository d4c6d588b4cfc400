"""Loads and stores of scalars: every warp loads one, one thread of a CTA stores one.

To count them, a number is a tensor of one element that all threads hold.  Page tables and lengths
of sequences are loaded so, one address from the other: each load of a chain waits for the last.

Source:
    Triton 3.9, LoadStoreOpToLLVM.cpp of both backends; counters of an H200.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.audit.global_memory.instructions import ThreadAccess, access_instruction
from tt_layout.audit.global_memory.joined_scalars import is_scalar
from tt_layout.audit.global_memory.operands import operands
from tt_layout.audit.global_memory.width import AccessAnalysis, Width, WidthBounds
from tt_layout.ir.ssa import Function, Operation, Value

MAX_CHAIN = 16
"""The most loads of a chain that are kept: the last ones."""

_UNBOUNDED = WidthBounds(1, 1, 1, None, None, 1, 1)


def scalar_width(kernel: AccessAnalysis, operation: Operation) -> Width:
    """Return the one instruction of a scalar load or store.

    For neighbours that AMD's backend joins, it belongs to the first load or the last store.
    """
    pointer = operands(operation)["pointer"].type
    size = max(1, (pointer.bits or 8) // 8)
    numbers = kernel.joined_scalars.get(operation.position, 1)
    width = size * max(1, numbers)
    if numbers < 2 and kernel.is_narrowed(operation):
        width //= 2
    name, attributes = operation.name, operation.attributes
    access = ThreadAccess(name, pointer.pointee or "", width, 1, attributes, kernel.target)
    bounds, instructions = _UNBOUNDED, min(1, numbers)
    return Width(access_instruction(access), 1, width, instructions, bounds, 0, width)


@lru_cache(maxsize=64)
def scalar_layout(lanes: int, warps: int) -> LinearLayout:
    """Return the layout of a tensor of one element that all threads of some warps hold.

    Example:
        >>> layout = scalar_layout(lanes=32, warps=2)
        >>> layout.get_in_dim_size("warp"), layout.out_sizes
        (2, (('dim0', 1),))
    """
    sizes = ("register", 1), ("lane", lanes), ("warp", warps), ("block", 1)
    bases = [(name, [[0]] * log2(size)) for name, size in sizes]
    return LinearLayout.from_bases(bases, ["dim0"], [1])


def load_chains(function: Function) -> Iterator[tuple[Operation, ...]]:
    """Yield the chains of scalar loads in which each address depends on the load before.

    A chain that is part of a longer one is not yielded.
    """
    longest: dict[Value, tuple[Operation, ...]] = {}
    chains: dict[Operation, tuple[Operation, ...]] = {}
    for operation in function.walk():
        behind = max((longest[o] for o in operation.operands if o in longest), key=len, default=())
        if operation.name == "tt.load" and is_scalar(operation):
            if behind:
                chains.pop(behind[-1], None)
            behind = (*behind, operation)[-MAX_CHAIN:]
            chains[operation] = behind
        if behind:
            longest.update(dict.fromkeys(operation.results, behind))
    yield from (chain for chain in chains.values() if len(chain) > 1)
