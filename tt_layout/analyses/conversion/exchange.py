"""Traffic of an operation between the threads of a CTA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tt_layout.algebra.linear_layout import LinearLayout, next_power_of_two
from tt_layout.analyses.conversion.compiled_conversion import Transfer
from tt_layout.analyses.shared_memory.access import BASE_ALIGNMENT, AccessMap, vector_instruction
from tt_layout.analyses.shared_memory.banks import cost
from tt_layout.analyses.shared_memory.joined_accesses import join_neighbours, pair_up
from tt_layout.hardware import Target


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """Traffic of an operation between the threads of a CTA.

    Attributes:
        shuffles: instructions per warp that move 32 bits between lanes.
        bpermutes: how many of them are AMD's ``ds_bpermute_b32``.
        reductions: instructions per warp that combine a value of every lane.
        stores, loads: accesses to shared memory.
        scratch_bytes: shared memory that the compiler sets aside for it, per CTA.
    """

    shuffles: int = 0
    bpermutes: int = 0
    reductions: int = 0
    stores: tuple[Transfer, ...] = ()
    loads: tuple[Transfer, ...] = ()
    scratch_bytes: int = 0

    @property
    def wavefronts(self) -> int | None:
        """The wavefronts of all accesses, per CTA; None if any is unknown."""
        counts = [step.wavefronts for step in (*self.stores, *self.loads)]
        counted = [count for count in counts if count is not None]
        return sum(counted) if len(counted) == len(counts) else None


def scalar_step(
    lanes: tuple[int, ...],
    element_bytes: int,
    count: int,
    warps: int,
    target: Target,
    *,
    is_store: bool,
) -> Transfer:
    """Return accesses to shared memory that move one element per lane.

    Args:
        lanes: offsets of single bits of the lane, in elements.
        element_bytes: bytes of an element.
        count: accesses of each warp.
        warps: warps that make them.
        target: the GPU.
        is_store: whether they are stores.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> scalar_step((32, 64), 4, 2, 4, find_target("sm90"), is_store=False)
        Transfer(instruction='ld.shared.b32', instructions=2, wavefronts=32, extra_wavefronts=24)
    """
    places = AccessMap((), lanes, (), element_bytes)
    instruction = vector_instruction(places, target, is_store=is_store)
    access = cost(places, target, is_store=is_store, instruction=instruction)
    executions = count * warps
    return Transfer(
        instruction=access.name,
        instructions=count,
        wavefronts=int(executions * access.wavefronts_per_instruction),
        extra_wavefronts=int(executions * access.extra_wavefronts_per_instruction),
    )


def paired_steps(
    lanes: tuple[int, ...],
    element_bytes: int,
    distances: Sequence[int],
    warps: int,
    target: Target,
    *,
    is_store: bool,
) -> Iterator[Transfer]:
    """Yield the accesses of a lane at several distances from its base, as AMD joins them.

    Those of three words are taken to be as long as those of four.

    Args:
        lanes: offsets of single bits of the lane, in elements.
        element_bytes: bytes of an element.
        distances: in bytes, in ascending order.
        warps: warps that make them.
        target: the GPU.
        is_store: whether they are stores.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> steps = paired_steps((1, 2), 8, [0, 64, 128], 4, find_target("gfx950"), is_store=True)
        >>> [(step.instructions, step.instruction) for step in steps]
        [(1, 'ds_write2_b64'), (1, 'ds_write_b64')]
    """
    alignment = element_bytes if is_store or any(lanes) else BASE_ALIGNMENT
    pieces = join_neighbours(distances, element_bytes, alignment, pairs=True)
    for (width, form), count in pair_up(pieces, pairs=True).items():
        accesses = count * (2 if form else 1)
        step = scalar_step(
            lanes, next_power_of_two(width - 1), accesses, warps, target, is_store=is_store
        )
        name = target.instruction_name(width, is_store, form=form)
        yield replace(step, instruction=name, instructions=count)


def dense_step(
    layout: LinearLayout,
    element_bytes: int,
    target: Target,
    order: Sequence[int] | None = None,
    *,
    is_store: bool,
) -> Transfer:
    """Return an access to a tensor stored in shared memory without swizzle or padding.

    Args:
        layout: of the tensor in registers.
        element_bytes: bytes of an element.
        target: the GPU.
        order: the dimensions, the one that is contiguous in memory first; by default the first.
        is_store: whether it is a store.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> row = LinearLayout.from_bases([("register", [[1], [2]]), ("lane", [[4]])], ["dim0"])
        >>> dense_step(row, 4, find_target("sm90"), is_store=True).instruction
        'st.shared.v4.b32'
    """
    dense = layout.remove_zero_bases("register")
    names = dense.get_out_dim_names()
    if order is not None:
        dense = dense.transpose_outs([names[dim] for dim in order])
    register, lane, warp = (
        tuple(dense.flatten(vector) for vector in dense.vectors(name))
        for name in ("register", "lane", "warp")
    )
    places = AccessMap(register, lane, warp, element_bytes)
    instruction = vector_instruction(places, target, is_store=is_store)
    access = cost(places, target, is_store=is_store, instruction=instruction)
    executions = instruction.count << len(places.warp)
    return Transfer(
        instruction=access.name,
        instructions=instruction.count,
        wavefronts=int(executions * access.wavefronts_per_instruction),
        extra_wavefronts=int(executions * access.extra_wavefronts_per_instruction),
    )


def through_memory(
    layout: LinearLayout, element_bytes: int, order: Sequence[int], target: Target
) -> Exchange:
    """Broadcast values through shared memory to all threads that hold the same elements.

    One of them stores each element, and all load theirs.  What only some threads store, the
    assembler of AMD does not pair.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> twice = LinearLayout.from_bases([("lane", [[1], [2]]), ("warp", [[0]])], ["dim0"])
        >>> found = through_memory(twice, 4, [0], find_target("sm90"))
        >>> found.stores[0].instruction, found.scratch_bytes
        ('st.shared.b32', 16)
    """
    blocks = sum(1 for vector in layout.vectors("block") if any(vector))
    alone = replace(target, pairs_accesses=False)
    return Exchange(
        stores=(dense_step(layout, element_bytes, alone, order, is_store=True),),
        loads=(dense_step(layout, element_bytes, target, order, is_store=False),),
        scratch_bytes=element_bytes << layout.total_out_bits - blocks,
    )
