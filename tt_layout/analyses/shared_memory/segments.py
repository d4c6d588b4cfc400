"""Segments of a partitioned buffer that each warp reads per step.

On gfx1250 each partition of a ``partitioned_shared`` is in a segment of 64 KiB of its own, and
pairs of SIMDs share the ports to them: warps that read one segment at a time wait for each other.

Source:
    Documented, not measured: ROCm/rocm-libraries#9388; Triton, PartitionedSharedEncodingAttr.
"""

from __future__ import annotations

from tt_layout.algebra.arrays import all_values
from tt_layout.algebra.linear_layout import LinearLayout

Steps = tuple[tuple[int, ...], ...]
"""Step -> the partition that each warp reaches."""

MAX_STEPS = 64


def segments(register: LinearLayout, shared: LinearLayout) -> Steps:
    """Return the partitions that warps reach, for each step in which any warp changes its own.

    Args:
        register: from register, lane and warp to the elements.
        shared: from offset, block and partition to the elements.

    Returns:
        Nothing where the buffer has one partition, or the lanes of an access reach several.

    Example:
        >>> rows = LinearLayout.from_bases(
        ...     [("register", [[1]]), ("lane", []), ("warp", [[2]])], ["dim0"])
        >>> dealt = LinearLayout.from_bases(
        ...     [("offset", [[1]]), ("block", []), ("partition", [[2]])], ["dim0"])
        >>> segments(rows, dealt)
        ((0, 1),)
    """
    if shared.get_in_dim_size("partition") == 1:
        return ()
    places = register.remove_zero_bases("register").invert_and_compose(shared)
    at = places.get_out_dim_names().index("partition")
    registers, lanes, warps = (
        [vector[at] for vector in places.vectors(name)] for name in ("register", "lane", "warp")
    )
    moving = [step for step in registers if step]
    if any(lanes) or 1 << len(moving) > MAX_STEPS:
        return ()
    steps = all_values(moving)[:, None] ^ all_values(warps)
    return tuple(tuple(step) for step in steps.tolist())
