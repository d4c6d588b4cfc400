"""Order of additions of a reduction over a placed layout, for the GPU of the layout."""

from __future__ import annotations

from tt_layout.analyses.conversion.reduction_order import ReductionTree, reduction_tree
from tt_layout.encodings import DistributedEncoding
from tt_layout.enums import UNORDERED
from tt_layout.errors import LayoutError
from tt_layout.hardware import DEFAULT_TARGET, Target, find_target, usual_target
from tt_layout.hardware.intel import OWN_SUB_GROUPS
from tt_layout.placement import PlacedLayout
from tt_layout.wording import count


def placed_reduction(
    placed: PlacedLayout,
    axis: int,
    target: Target | str | None,
    ordering: str = UNORDERED,
) -> ReductionTree:
    """Return the order in which a reduction of a tensor adds.

    Args:
        placed: the layout over its type; its release is the one that compiles the reduction.
        axis: the dimension; a negative one counts from the last.
        target: the GPU; None for the usual one with warps of that many lanes.
        ordering: ``inner_tree`` for the ordering of Meta's Triton.

        Raises:
            LayoutError: the layout is not a register layout, there is no such axis, the GPU has
                another warp size, or the order is not known.
    """
    if not isinstance(placed.encoding, DistributedEncoding):
        raise LayoutError(f"a reduction takes a register layout, got #{placed.encoding.name}")
    rank = len(placed.shape)
    if not -rank <= axis < rank:
        raise LayoutError(f"the axis must be a dimension of the tensor (0..{rank - 1}), got {axis}")
    lanes = placed.layout.get_in_dim_size("lane")
    named = find_target(target) if target is not None else None
    if named.is_intel if named is not None else lanes in OWN_SUB_GROUPS:
        whose = f"{named.name} is" if named is not None else f"warps of {lanes} lanes are"
        message = f"{whose} Intel's, whose SPIR-V compiler adds up a sub-group"
        raise LayoutError(f"{message}: no document gives its order")
    gpu = named or usual_target(lanes) or find_target(DEFAULT_TARGET)
    if lanes != gpu.lanes:
        message = f"the layout has {count(lanes, 'lane')} per warp, {gpu.name} has {gpu.lanes}"
        raise LayoutError(message)
    element, release = placed.tensor.element_type, placed.encoding.release
    return reduction_tree(placed.layout, axis % rank, element, gpu, release, ordering)
