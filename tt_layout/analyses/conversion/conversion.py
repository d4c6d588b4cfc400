"""Conversions of a tensor from one distributed layout to another, by class and cost.

A thread that needs an element under the new layout reads it from a location that holds it under
the old one.  That map, from new locations to old ones, is linear: ``composed`` below.  What it
leaves alone decides how far the data travels:

    ===============  ======================================================================
    class            what the map does
    ===============  ======================================================================
    nothing          every thread has every element, in the same register
    registers        every thread has every element, in other registers
    shuffles         elements change lanes within a warp; at most one bit changes between
                     register and lane, and both layouts are permutations of bits
    shared memory    elements change warps, or lanes where shuffles are not chosen
    across CTAs      elements change CTAs: distributed shared memory
    ===============  ======================================================================

Replication matters: where the old layout repeats an element over warps or CTAs, each reads its
own.  Everything is computed from basis vectors, so the cost does not grow with the tensor.

Source:
    Triton, lib/Analysis/Utility.cpp, minimalCvtLayout, cvtNeedsSharedMemory and
    cvtNeedsWarpShuffles; the rule is that of 3.9, confirmed by lowering conversions.
"""

from __future__ import annotations

from functools import lru_cache

from tt_layout.algebra.linear_layout import Basis, LinearLayout
from tt_layout.algebra.span import F2Span
from tt_layout.arguments import checks_arguments
from tt_layout.enums import TextEnum
from tt_layout.errors import LayoutError, expect
from tt_layout.hardware import DEFAULT_TARGET, Target, find_target
from tt_layout.records import dataclass

INPUTS = ("register", "lane", "warp", "block")
MAX_EXCHANGES = 1  # bits that may change between register and lane for shuffles to be chosen
_UNITS = {"lane": "lanes per warp", "warp": "warps", "block": "CTAs"}

Position = tuple[str, int]


class ConversionKind(TextEnum):
    """Classes of conversions, the cheapest first."""

    NOTHING = "nothing"
    REGISTERS = "registers"
    SHUFFLES = "shuffles"
    SHARED_MEMORY = "shared memory"
    ACROSS_CTAS = "across CTAs"


@dataclass(frozen=True, kw_only=True)
class BitMove:
    """A bit of the new location, and the bits of the old one that determine it.

    Attributes:
        to: input dimension and bit under the new layout.
        sources: dimensions and bits under the old layout; none where the new layout only
            repeats elements.

    Example:
        >>> print(BitMove(to=("lane", 2), sources=(("register", 0), ("warp", 1))))
        lane bit 2 <- register bit 0 ^ warp bit 1
    """

    to: Position
    sources: tuple[Position, ...]

    def __str__(self) -> str:
        sources = " ^ ".join(f"{dim} bit {bit}" for dim, bit in self.sources)
        return f"{self.to[0]} bit {self.to[1]} <- {sources or 'replicated'}"


@dataclass(frozen=True, kw_only=True)
class Conversion:
    """The class of a conversion and what decides it.

    Attributes:
        kind: its class.
        moves: the bits that are read from elsewhere.
        exchanges: number of bits that change between register and lane.
        composed: new location -> old location, without registers that repeat elements.

    Example:
        >>> src = LinearLayout.from_bases([("register", [[1]]), ("lane", [[2]])], ["dim0"])
        >>> dst = LinearLayout.from_bases([("register", [[2]]), ("lane", [[1]])], ["dim0"])
        >>> found = classify(src, dst)
        >>> found.kind, [str(move) for move in found.moves]
        ('shuffles', ['register bit 0 <- lane bit 0', 'lane bit 0 <- register bit 0'])
    """

    kind: ConversionKind
    moves: tuple[BitMove, ...]
    exchanges: int
    composed: LinearLayout

    @property
    def severity(self) -> int:
        """The rank of the class: the higher, the further the data travels."""
        return list(ConversionKind).index(self.kind)

    @property
    def needs_shared_memory(self) -> bool:
        """Whether the data goes through shared memory."""
        return self.kind in (ConversionKind.SHARED_MEMORY, ConversionKind.ACROSS_CTAS)


@dataclass(frozen=True, kw_only=True)
class ConversionCost:
    """Lower bound of the cost of a conversion by any instructions.

    Attributes:
        moved_bytes: bytes that threads need and do not hold, over all threads.
        shuffles: for the class ``shuffles``, instructions per warp: 32 bits to each lane at
            a time, until the lane that lacks the most elements has all of them.  Otherwise 0.
        store_wavefronts, load_wavefronts: for shared memory, per CTA: each different
            element stored once, each warp loading each different element that it needs
            once, 128 bytes at a time.  Otherwise 0.
    """

    moved_bytes: int
    shuffles: int
    store_wavefronts: int
    load_wavefronts: int


def with_inputs(layout: LinearLayout) -> LinearLayout:
    """Return the layout with the four inputs of register layouts, in their usual order.

    Raises:
        LayoutError: the layout has other inputs.
    """
    expect("the layout", layout, LinearLayout)
    unknown = [name for name in layout.get_in_dim_names() if name not in INPUTS]
    if unknown:
        message = "expected a layout of a tensor in registers, but one has the input"
        raise LayoutError(f"{message} {unknown[0]}")
    is_usual = layout.get_in_dim_names() == [*INPUTS]
    return layout if is_usual else layout.sublayout(INPUTS, layout.get_out_dim_names())


@lru_cache(maxsize=1024)
def without_replication(layout: LinearLayout) -> LinearLayout:
    """Return the layout without the registers that replicate elements."""
    return with_inputs(layout).remove_zero_bases("register")


def classify(src: LinearLayout, dst: LinearLayout) -> Conversion:
    """Classify the conversion between two layouts of one tensor; cached.

    Raises:
        LayoutError: the layouts are of different tensors or kernels, or not register layouts.
    """
    return _classified(src, dst)


@lru_cache(maxsize=4096)
def _classified(src: LinearLayout, dst: LinearLayout) -> Conversion:
    old, new = without_replication(src), without_replication(dst)
    if src.out_sizes != dst.out_sizes:
        shapes = ["x".join(str(size) for _, size in x.out_sizes) for x in (src, dst)]
        message = "a conversion is between two layouts of one tensor, got shapes"
        raise LayoutError(f"{message} {shapes[0]} and {shapes[1]}")
    for name in INPUTS[1:]:
        sizes = src.get_in_dim_size(name), dst.get_in_dim_size(name)
        if sizes[0] != sizes[1]:
            raise LayoutError(
                f"a conversion is within one kernel, but the layouts have {sizes[0]} and "
                f"{sizes[1]} {_UNITS[name]}"
            )
    composed = _prefer_own_replica(old, new.invert_and_compose(old))
    exchanges = count_exchanges(old, new)
    can_shuffle = exchanges <= MAX_EXCHANGES and all(map(is_permutation, (old, new)))
    return Conversion(
        kind=_kind(composed, can_shuffle),
        moves=_moves(src, dst, composed),
        exchanges=exchanges,
        composed=composed,
    )


def _prefer_own_replica(old: LinearLayout, composed: LinearLayout) -> LinearLayout:
    """Let each warp and CTA read its own replica, if the old layout replicates elements."""
    names = composed.get_out_dim_names()
    for dim in ("warp", "block"):
        replicated = [bit for bit, vector in enumerate(old.vectors(dim)) if not any(vector)]
        at = names.index(dim)
        for position in replicated:
            bases = tuple(
                (
                    n,
                    tuple(
                        _with_bit(v, at, position, (n, k) == (dim, position))
                        for k, v in enumerate(vs)
                    ),
                )
                for n, vs in composed.in_bases
            )
            composed = LinearLayout(bases, composed.out_sizes)
    return composed


def _with_bit(vector: Basis, at: int, bit: int, is_set: bool) -> Basis:
    value = vector[at] & ~(1 << bit) | is_set << bit
    return (*vector[:at], value, *vector[at + 1 :])


def _is_identity(composed: LinearLayout, dim: str) -> bool:
    """Return whether component ``dim`` of the old location equals that of the new one."""
    at = composed.get_out_dim_names().index(dim)
    return all(
        vector[at] == (1 << bit if name == dim else 0)
        for name, vectors in composed.in_bases
        for bit, vector in enumerate(vectors)
    )


def is_permutation(layout: LinearLayout) -> bool:
    """Return whether every input bit moves to an output bit of its own, or to none.

    Example:
        >>> is_permutation(LinearLayout.from_bases([("lane", [[2], [0], [1]])], ["dim0"]))
        True
        >>> is_permutation(LinearLayout.from_bases([("lane", [[1], [3]])], ["dim0"]))
        False
    """
    moved = [layout.flatten(v) for _, vectors in layout.in_bases for v in vectors if any(v)]
    return len(set(moved)) == len(moved) and all(x & x - 1 == 0 for x in moved)


def _kind(composed: LinearLayout, can_shuffle: bool) -> ConversionKind:
    register = composed.get_out_dim_names().index("register")
    picks = [v for name in ("warp", "block") for v in composed.vectors(name) if v[register]]
    if not _is_identity(composed, "block"):
        return ConversionKind.ACROSS_CTAS
    if not _is_identity(composed, "warp") or picks:
        return ConversionKind.SHARED_MEMORY
    if _is_identity(composed, "lane"):
        sizes = composed.get_in_dim_size("register"), composed.get_out_dim_size("register")
        is_same = _is_identity(composed, "register") and sizes[0] == sizes[1]
        return ConversionKind.NOTHING if is_same else ConversionKind.REGISTERS
    return ConversionKind.SHUFFLES if can_shuffle else ConversionKind.SHARED_MEMORY


def count_exchanges(old: LinearLayout, new: LinearLayout) -> int:
    """Count the bits that change between register and lane, if both layouts are permutations.

    Example:
        >>> old = LinearLayout.from_bases([("register", [[1], [2]]), ("lane", [[4]])], ["dim0"])
        >>> new = LinearLayout.from_bases([("register", [[4], [2]]), ("lane", [[1]])], ["dim0"])
        >>> count_exchanges(old, new)
        1
    """
    return sum(1 for was, now in bit_moves(old, new) if (was[0], now[0]) == ("register", "lane"))


def bit_moves(old: LinearLayout, new: LinearLayout) -> list[tuple[Position, Position]]:
    """Return the moves of the bits of register and lane, if both layouts are permutations.

    Bits that repeat elements on both sides stay; those of one side are matched with the other's.

    Example:
        >>> old = LinearLayout.from_bases([("register", [[1]]), ("lane", [[2], [0]])], ["dim0"])
        >>> new = LinearLayout.from_bases([("register", [[2]]), ("lane", [[0], [1]])], ["dim0"])
        >>> bit_moves(old, new)
        [(('register', 0), ('lane', 1)), (('lane', 0), ('register', 0)), (('lane', 1), ('lane', 0))]
    """
    before, after = _padded_positions(old, new), _padded_positions(new, old)
    places = {vector: place for place, vector in reversed(after) if any(vector)}
    moves = [(place, places[v]) for place, v in before if any(v) and v in places]
    zero_before = [place for place, vector in before if not any(vector)]
    zero_after = [place for place, vector in after if not any(vector)]
    rest_before = [place for place in zero_before if place not in zero_after]
    rest_after = [place for place in zero_after if place not in zero_before]
    return [*moves, *zip(rest_before, rest_after)]


def _padded_positions(layout: LinearLayout, other: LinearLayout) -> list[tuple[Position, Basis]]:
    """Return registers, then lanes, with their bases, padded to the longer of both layouts."""
    zero = (0,) * layout.num_out_dims
    positions: list[tuple[Position, Basis]] = []
    for name in ("register", "lane"):
        missing = max(0, len(other.vectors(name)) - len(layout.vectors(name)))
        vectors = (*layout.vectors(name), *(zero,) * missing)
        positions += [((name, bit), vector) for bit, vector in enumerate(vectors)]
    return positions


def _moves(src: LinearLayout, dst: LinearLayout, composed: LinearLayout) -> tuple[BitMove, ...]:
    """Return the bits that are not read from themselves, numbered as in the layouts."""
    old, new = ([k for k, v in enumerate(x.vectors("register")) if any(v)] for x in (src, dst))
    names = composed.get_out_dim_names()
    moves = []
    for name, vectors in composed.in_bases:
        for bit, vector in enumerate(vectors):
            place = (name, new[bit] if name == "register" else bit)
            sources = tuple(
                (out, old[k] if out == "register" else k)
                for out, component in zip(names, vector)
                for k in range(component.bit_length())
                if component >> k & 1
            )
            if sources != (place,):
                moves.append(BitMove(to=place, sources=sources))
    return tuple(moves)


# -- lower bounds -----------------------------------------------------------------------------


@checks_arguments
def conversion_cost(
    src: LinearLayout,
    dst: LinearLayout,
    element_bits: int,
    target: Target | str = DEFAULT_TARGET,
) -> ConversionCost:
    """Return the lower bound of a conversion's cost.

    Args:
        src, dst: the layouts.
        element_bits: width of an element; less than a byte counts as one.
        target: the GPU, or its name.

    Example:
        >>> src = LinearLayout.from_bases([("register", [[1]]), ("lane", [[2]])], ["dim0"])
        >>> dst = LinearLayout.from_bases([("register", [[2]]), ("lane", [[1]])], ["dim0"])
        >>> cost = conversion_cost(src, dst, 32)
        >>> cost.moved_bytes, cost.shuffles
        (8, 1)
    """
    gpu = find_target(target)
    conversion = classify(src, dst)
    element_bytes = memory_bytes(element_bits)
    moved, most = _missing_elements(without_replication(src), without_replication(dst))
    shuffles = stores = loads = 0
    if conversion.kind is ConversionKind.SHUFFLES:
        shuffles = -(-most * max(8, element_bits) // gpu.shuffle_bits)
    if conversion.needs_shared_memory:
        stores = _wavefronts(src, ("register", "lane", "warp"), element_bytes, gpu.row_bytes)
        warps = dst.get_in_dim_size("warp")
        loads = warps * _wavefronts(dst, ("register", "lane"), element_bytes, gpu.row_bytes)
    return ConversionCost(
        moved_bytes=moved * element_bytes,
        shuffles=shuffles,
        store_wavefronts=stores,
        load_wavefronts=loads,
    )


def memory_bytes(element_bits: int) -> int:
    """Return the size of an element in memory, in bytes.

    Example:
        >>> memory_bytes(1), memory_bytes(16)
        (1, 2)
    """
    return -(-element_bits // 8)


def _wavefronts(
    layout: LinearLayout, dims: tuple[str, ...], element_bytes: int, wavefront_bytes: int
) -> int:
    """Count the wavefronts that the distinct elements along some inputs fill."""
    distinct = F2Span([column for dim in dims for column in layout.columns(dim)]).rank
    return -(-(element_bytes << distinct) // wavefront_bytes)


def _missing_elements(old: LinearLayout, new: LinearLayout) -> tuple[int, int]:
    """Count the elements that all threads lack, and the most that one thread lacks.

    A thread holds a coset of the span of the registers, and needs another.  Two cosets meet
    in as many elements as the spans do, or not at all; the threads for which they meet form
    a subspace.
    """
    had, needed = (x.columns("register") for x in (old, new))
    counts = F2Span(had).rank, F2Span(needed).rank, F2Span([*had, *needed]).rank
    elements = 1 << counts[1]
    in_common = 1 << counts[0] + counts[1] - counts[2]
    threads = [a ^ b for dim in INPUTS[1:] for a, b in zip(old.columns(dim), new.columns(dim))]
    apart = F2Span([*had, *needed, *threads]).rank - counts[2]
    meeting = 1 << len(threads) - apart
    total = (elements << len(threads)) - meeting * in_common
    return total, elements if apart else elements - in_common
