"""Order in which a reduction adds along its axis, which determines the bits of a float sum.

A float sum depends on the order of additions, so two layouts of one tensor may give sums with
different bits.  Since Triton 3.8 each step of a reduction halves the number of terms: it adds the
pairs that differ in one bit of the axis, first the bits in registers, then those in lanes, then
those in warps, which lanes gather through shared memory.  Until 3.7 a thread adds its registers one
after the other, and lanes and warps go as later.

A step is therefore described by the distances along the axis of the terms that it adds to every
remaining sum, and the steps are the whole tree:

    step 1, offsets (0, 1)    s1(i) = x(i) + x(i+1)         registers
    step 2, offsets (0, 8)    s2(i) = s1(i) + s1(i+8)       lanes

Addition of two floats is commutative, so trees are equal if their steps are.

Source:
    Triton 3.9 and 3.6, lib/Conversion/TritonGPUToLLVM/ReduceOpToLLVM.cpp;
    third_party/amd/lib/TritonAMDGPUToLLVM/TargetInfo.cpp, warpReduce; for ``inner_tree``
    facebookexperimental/triton.  The trees of compiled kernels: tests/compiler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from tt_layout.algebra.arrays import all_values
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.conversion.conversion import with_inputs
from tt_layout.analyses.conversion.reduction import Combining, gathered, lane_instructions
from tt_layout.enums import INNER_TREE, UNORDERED
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target
from tt_layout.mlir.types import element_bits
from tt_layout.records import dataclass
from tt_layout.releases import Release
from tt_layout.tuples import NamedTuple

if TYPE_CHECKING:
    import numpy.typing as npt

REGISTERS, LANES, WARPS = "registers", "lanes", "warps"
"""Where a step takes place; of warps, lanes add what they have gathered."""

_ROW_BITS = (3, 2, 1, 0)
"""Bits of the lane within a row of AMD's, in the order in which rows are added."""

_PACKED = ("f16", "bf16", "f32", "i16")
"""Types of which some GPUs add two pairs by one instruction."""


class AddStep(NamedTuple):
    """Additions in which every remaining sum takes part.

    Attributes:
        place: ``registers``, ``lanes`` or ``warps``.
        offsets: distances along the axis of the added terms, in order; the first is 0.
        instruction: the instruction that brings the other terms to a lane; empty within a thread.
        is_packed: whether one instruction performs the additions of two sums.
    """

    place: str
    offsets: tuple[int, ...]
    instruction: str = ""
    is_packed: bool = False

    @property
    def bits(self) -> int:
        """The bits along the axis that the step eliminates."""
        return reduce(or_, self.offsets)


class OrderDifference(NamedTuple):
    """The first additions in which two trees differ.

    Attributes:
        step: the step of the first tree, from 1.
        terms: the elements that both have added up before.
        first, second: the elements that each tree adds to them next; none if it is finished.
    """

    step: int
    terms: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]


@dataclass(frozen=True)
class ReductionTree:
    """Tree of the additions of a reduction along an axis.

    Attributes:
        axis: the dimension.
        size: number of elements along it.
        element: their type, such as ``f32``.
        target: the GPU.
        release: the release that compiles the reduction.
        steps: the additions.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> from tt_layout.releases import Release
        >>> layout = LinearLayout.from_bases(
        ...     [("register", [[1], [2]]), ("lane", [[4], [8], [16], [32], [64]])], ["dim0"])
        >>> for release in (Release.V3_7, Release.V3_9):
        ...     tree = reduction_tree(layout, 0, "f32", find_target("sm90"), release)
        ...     print([step.offsets for step in tree.steps])
        [(0, 1, 2, 3), (0, 64), (0, 32), (0, 16), (0, 8), (0, 4)]
        [(0, 1), (0, 2), (0, 64), (0, 32), (0, 16), (0, 8), (0, 4)]
    """

    axis: int
    size: int
    element: str
    target: Target
    release: Release
    steps: tuple[AddStep, ...]

    @property
    def is_exact(self) -> bool:
        """Whether every order gives the same bits, as for integers."""
        return self.element.startswith("i")

    def sum(self, values: npt.ArrayLike) -> npt.NDArray[Any]:
        """Add numbers along the axis in the order of the tree, in their own type.

        Args:
            values: an array with ``size`` elements along the axis.

        Raises:
            LayoutError: the array has another size along the axis.

        Example:
            >>> import numpy as np
            >>> from tt_layout.hardware import find_target
            >>> layout = LinearLayout.from_bases([("register", [[1], [2]])], ["dim0"])
            >>> values = np.float32([1, 2**-24, 2**-24, 2**-24])
            >>> for release in (Release.V3_7, Release.V3_9):
            ...     tree = reduction_tree(layout, 0, "f32", find_target("sm90"), release)
            ...     print(tree.sum(values) == 1)
            True
            False
        """
        import numpy as np

        addends = np.asarray(values)
        if self.axis >= addends.ndim or addends.shape[self.axis] != self.size:
            message = f"expected {self.size} elements along dimension {self.axis}"
            raise LayoutError(f"{message}, got an array of the sizes {list(addends.shape)}")
        sums = np.moveaxis(addends, self.axis, 0).copy()
        left = np.arange(self.size)
        for step in self.steps:
            left = left[left & step.bits == 0]
            partial = sums[left]
            for offset in step.offsets[1:]:
                partial = partial + sums[left ^ offset]
            sums[left] = partial
        total: npt.NDArray[Any] = sums[0]
        return total

    def difference(self, other: ReductionTree) -> OrderDifference | None:
        """Return the first additions in which another tree differs; None if none do.

        Raises:
            LayoutError: the trees have different numbers of elements.

        Example:
            >>> from tt_layout.hardware import find_target
            >>> bases = [[1], [2], [4], [8], [16]]
            >>> before, after = (
            ...     reduction_tree(LinearLayout.from_bases([("lane", lanes)], ["dim0"]),
            ...                    0, "f32", find_target("sm90"), Release.V3_9)
            ...     for lanes in (bases, bases[::-1]))
            >>> before.difference(after)
            OrderDifference(step=1, terms=(0,), first=(16,), second=(1,))
        """
        if self.size != other.size:
            message = f"one reduction is of {self.size} elements, the other of {other.size}"
            raise LayoutError(f"{message}: their sums cannot be compared")
        done = 0
        for (step, mine), (_, its) in zip(self._additions(), other._additions()):
            if mine != its:
                return OrderDifference(step, _elements(0, done), _elements(*mine), _elements(*its))
            done |= mine[0] | mine[1]
        return None

    def _additions(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield the additions to the sum of element 0: step, offset, and bits summed so far.

        All other sums are added in the same order, each from its own first element.
        """
        done = 0
        for number, step in enumerate(self.steps, 1):
            for offset in step.offsets[1:]:
                yield number, (offset, done)
            done |= step.bits


def _elements(offset: int, bits: int) -> tuple[int, ...]:
    """Return the elements that differ from an offset in the given bits only.

    Example:
        >>> _elements(16, 0b101)
        (16, 17, 20, 21)
    """
    elements = [offset]
    for bit in range(bits.bit_length()):
        if bits >> bit & 1:
            elements += [element + (1 << bit) for element in elements]
    return tuple(elements)


def reduction_tree(
    layout: LinearLayout,
    axis: int,
    element: str,
    target: Target,
    release: Release,
    ordering: str = UNORDERED,
    *,
    is_plain: bool = True,
) -> ReductionTree:
    """Return the order in which a reduction adds the elements along an axis.

    Args:
        layout: the register layout of the tensor.
        axis: the reduced dimension.
        element: the type of an element, such as ``f32``.
        target: the GPU.
        release: the release of Triton.
        ordering: ``inner_tree`` for the ordering of Meta's Triton, which adds neighbours first.
        is_plain: whether one operation combines elements of one tensor, for which GPUs may have
            instructions of their own.

        Raises:
            LayoutError: the release cannot lower a reduction of the layout.
    """
    held = with_inputs(layout).remove_zero_bases("register")
    # no release reduces a bit that moves along the axis and another dimension
    for name, vectors in held.in_bases:
        for bit, vector in enumerate(vectors):
            value = vector[axis]
            if value & value - 1 or (value and sum(map(bool, vector)) > 1):
                message = f"bit {bit} of the {name} moves by {list(vector)}"
                raise LayoutError(f"{message}: a reduction takes single bits of one dimension")
    gpu = target if is_plain else replace(target, packed_sums=(), adds_rows=False, swapped_lanes=())
    if ordering == INNER_TREE:
        steps = _inner_tree(held, axis, gpu)
    elif release < Release.V3_8:
        steps = _one_by_one(held, axis, element, gpu)
    else:
        steps = _by_halves(held, axis, element, gpu)
    size = held.out_sizes[axis][1]
    return ReductionTree(axis, size, element, target, release, tuple(steps))


def _by_halves(layout: LinearLayout, axis: int, element: str, target: Target) -> Iterator[AddStep]:
    """Yield the steps of a reduction since Triton 3.8."""
    first, *_ = *layout.vectors("register"), (0,) * layout.num_out_dims
    offsets = _moving(layout, axis, "register")
    bits = element_bits(element)
    is_packed = element in _PACKED and bits in target.packed_sums and len(offsets) >= 2
    if is_packed and first[axis]:
        offsets.append(offsets.pop(0))  # the two that are packed are added last
    for at, (_, offset) in enumerate(offsets):
        is_last = bool(first[axis]) and at == len(offsets) - 1
        yield AddStep(REGISTERS, (0, offset), is_packed=is_packed and not is_last)
    held, place = _without(layout, axis, "register"), LANES
    while True:
        yield from _crossings(held, axis, place, element, target)
        held, place = _without(held, axis, "lane"), WARPS
        if not any(_moving(held, axis, name) for name in ("warp", "block")):
            return
        held = gathered(held, axis)


def _one_by_one(layout: LinearLayout, axis: int, element: str, target: Target) -> Iterator[AddStep]:
    """Yield the steps of a reduction until Triton 3.7."""
    if _moving(layout, axis, "block"):
        raise LayoutError("Triton before 3.8 does not reduce across CTAs")
    _check_together(layout, axis)
    offsets = _moving(layout, axis, "register")
    if offsets:
        yield AddStep(REGISTERS, _offsets(offsets))
    yield from _crossings(layout, axis, LANES, element, target)
    parts = [(at, step) for at, (_, step) in enumerate(_moving(layout, axis, "warp"))]
    yield from _steps(parts, WARPS, target, has_all=1 << len(parts) == target.lanes)


def _inner_tree(layout: LinearLayout, axis: int, target: Target) -> Iterator[AddStep]:
    """Yield the steps of Meta's ordering: neighbours of a thread, lanes, warps, other registers."""
    if _moving(layout, axis, "block"):
        raise LayoutError("an inner_tree reduction does not cross CTAs")
    steps = sorted(step for _, step in _moving(layout, axis, "register"))
    near = [step for at, step in enumerate(steps) if step == 1 << at]
    yield from (AddStep(REGISTERS, (0, step)) for step in near)
    _check_together(layout, axis)
    for place, name in ((LANES, "lane"), (WARPS, "warp")):
        for at, (bit, step) in enumerate(_moving(layout, axis, name)):
            mask = 1 << (bit if place == LANES else at)
            yield AddStep(place, (0, step), _shuffle(mask, target))
    yield from (AddStep(REGISTERS, (0, step)) for step in steps[len(near) :])


def _check_together(layout: LinearLayout, axis: int) -> None:
    """Reject bits of a dimension that are not consecutive, which these reductions mix up.

    Lanes exchange by halves.  Where warps hold parts of the axis, the numbers of lane and warp
    determine which of them stores a sum, and where, as if the bits of a dimension were consecutive.
    """
    crosses_warps = bool(_moving(layout, axis, "warp"))
    for name in ("lane", "warp"):
        dims = [next((d for d, x in enumerate(v) if x), None) for v in layout.vectors(name)]
        bits = [bit for bit, dim in enumerate(dims) if dim == axis]
        if not bits:
            continue
        before, between, behind = dims[: bits[0]], dims[bits[0] : bits[-1]], dims[bits[-1] + 1 :]
        skipped = {axis, None} if name == "warp" else {axis}
        is_cut = crosses_warps and bool({*before} & {*behind} - {None})
        if is_cut or not {*between} <= skipped:
            message = f"bits {bits} of the {name} move along dimension {axis}: this reduction adds"
            raise LayoutError(
                f"{message} wrong elements, unless the bits of a dimension are together"
            )


def _crossings(
    layout: LinearLayout, axis: int, place: str, element: str, target: Target
) -> Iterator[AddStep]:
    """Yield the steps by which the lanes of a warp add one value each."""
    moving = _moving(layout, axis, "lane")
    bits = element_bits(element) or 0
    is_one = element.startswith("i") and bits <= target.shuffle_bits and target.combines_lanes
    if is_one and lane_instructions(layout, axis, Combining.INSTRUCTION, target):
        yield AddStep(place, _offsets(moving), "redux.sync.add")
        return
    yield from _steps(moving, place, target, has_all=1 << len(moving) == target.lanes)


def _steps(
    moving: Sequence[tuple[int, int]], place: str, target: Target, *, has_all: bool
) -> Iterator[AddStep]:
    """Yield a step per lane bit, the highest first, but by rows if AMD reduces all lanes."""
    order = sorted(moving, reverse=True)
    if has_all and target.adds_rows:
        rank = {bit: at for at, bit in enumerate((*_ROW_BITS, *range(len(_ROW_BITS), 6)))}
        order.sort(key=lambda part: rank[part[0]])
        yield from (AddStep(place, (0, step), _row_step(bit, target)) for bit, step in order)
        return
    swaps = {bit for bit, _ in moving} in ({5}, {4, 5}) and bool(target.swapped_lanes)
    for bit, step in order:
        name = f"v_permlane{1 << bit}_swap" if swaps else _shuffle(1 << bit, target)
        yield AddStep(place, (0, step), name)


def _shuffle(mask: int, target: Target) -> str:
    """Return the instruction that reads the value of the lane whose number differs by a mask."""
    return f"shfl.sync.bfly {mask}" if target.is_nvidia else f"shuffle xor {mask}"


def _row_step(bit: int, target: Target) -> str:
    """Return the instruction that adds lanes of a row of 16, or rows, towards the last lane."""
    if bit in _ROW_BITS:
        return f"row_shr:{1 << bit}"
    return f"row_bcast:{(1 << bit) - 1}" if target.lanes == 64 else "v_permlanex16"


def _moving(layout: LinearLayout, axis: int, name: str) -> list[tuple[int, int]]:
    """Return the bits of an input that move along an axis, and their distances."""
    return [(bit, vector[axis]) for bit, vector in enumerate(layout.vectors(name)) if vector[axis]]


def _offsets(moving: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the distances between elements that differ in some bits of an input."""
    return tuple(all_values([step for _, step in moving]).tolist())


def _without(layout: LinearLayout, axis: int, name: str) -> LinearLayout:
    """Return a layout with one input removed from an axis."""
    bases = tuple(
        (dim, tuple((*v[:axis], 0, *v[axis + 1 :]) if dim == name else v for v in vectors))
        for dim, vectors in layout.in_bases
    )
    return LinearLayout(bases, layout.out_sizes)
