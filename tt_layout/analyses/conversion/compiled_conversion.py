"""Instructions and wavefronts of a conversion through shared memory, as the compiler emits it.

The source is stored to the conversion's buffer and the destination loaded from it, once per
round.  Both maps, from registers, lanes and warps to offsets in the buffer, are linear; from
them follow the instructions and their wavefronts as for any access to shared memory.

Read next:    `tt_layout.analyses.conversion.optimal_swizzling`,
              `tt_layout.analyses.shared_memory.banks`.

Source:
    Triton, third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/ConvertLayoutOpToLLVM.cpp and
    lib/Conversion/TritonGPUToLLVM/ConvertLayoutOpToLLVM.cpp; counters of an H100:
    docs/analyses.md.
"""

from __future__ import annotations

from functools import lru_cache

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.conversion import optimal_swizzling
from tt_layout.analyses.conversion.conversion import ConversionKind, classify, without_replication
from tt_layout.analyses.conversion.scratch import buffer
from tt_layout.analyses.conversion.shuffles import conversion_shuffles
from tt_layout.analyses.conversion.sub_groups import (
    SubGroupStep,
    shuffle_count,
    sub_group_step,
    transpose_accesses,
)
from tt_layout.analyses.shared_memory.access import (
    AccessKind,
    AccessMap,
    Instruction,
    matrix_instruction,
    vector_instruction,
)
from tt_layout.analyses.shared_memory.banks import cost
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target, find_target
from tt_layout.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """The stores or the loads of a conversion, over all rounds.

    Attributes:
        instruction: its name in assembly.
        instructions: how many each warp executes.
        wavefronts: wavefronts of all warps of a CTA; None if the loads reach into other CTAs,
            whose wavefronts were not measured, and for Intel's block stores and vectors, for
            which no document says how many lanes are served at once.
        extra_wavefronts: those that are due to bank conflicts.
    """

    instruction: str
    instructions: int
    wavefronts: int | None
    extra_wavefronts: int | None


@dataclass(frozen=True, kw_only=True)
class CompiledConversion:
    """The shared-memory accesses, or the shuffles, that a conversion compiles to.

    Attributes:
        store, load: both steps; None if the conversion has none.
        shuffles, bpermutes: per warp; see `Shuffles`.
    """

    store: Transfer | None = None
    load: Transfer | None = None
    shuffles: int = 0
    bpermutes: int = 0

    @property
    def wavefronts(self) -> int | None:
        """The wavefronts of both steps, per CTA; None if either is unknown."""
        steps = [step for step in (self.store, self.load) if step is not None]
        counts = [step.wavefronts for step in steps if step.wavefronts is not None]
        return sum(counts) if len(counts) == len(steps) else None


def compiled_conversion(
    src: LinearLayout, dst: LinearLayout, element_bits: int, target: Target | str
) -> CompiledConversion:
    """Compile a conversion to accesses to shared memory, or to shuffles.

    Args:
        src, dst: the layouts.
        element_bits: width of an element, a power of two; less than a byte counts as one.
        target: the GPU, or its name such as ``sm90``.

    Raises:
        LayoutError: such elements do not go through shared memory, the GPU has another warp
            size, or there is no such target.

    Example:
        >>> lanes = [[1], [2], [4], [8], [16]]
        >>> src = LinearLayout.from_bases([("lane", lanes), ("warp", [[32]])], ["dim0"])
        >>> lanes[4] = [32]
        >>> dst = LinearLayout.from_bases([("lane", lanes), ("warp", [[16]])], ["dim0"])
        >>> compiled_conversion(src, dst, 32, "sm80").load
        Transfer(instruction='ld.shared.b32', instructions=1, wavefronts=2, extra_wavefronts=0)
    """
    gpu = find_target(target).of_lanes(src.get_in_dim_size("lane"))
    return _compiled(src, dst, max(8, element_bits), gpu)


@lru_cache(maxsize=4096)
def _compiled(
    src: LinearLayout, dst: LinearLayout, bits: int, target: Target
) -> CompiledConversion:
    conversion = classify(src, dst)
    step = sub_group_step(src, dst, bits) if target.is_intel else None
    if step is not None:
        return _within_sub_groups(src, step)
    if conversion.kind is ConversionKind.SHUFFLES:
        return CompiledConversion(**conversion_shuffles(src, dst, bits, target)._asdict())
    if not conversion.needs_shared_memory:
        return CompiledConversion()
    layout = buffer(src, dst, bits, target)
    crosses = conversion.kind is ConversionKind.ACROSS_CTAS
    return CompiledConversion(
        store=_step(src, layout, bits // 8, target, is_store=True),
        load=_step(dst, layout, bits // 8, target, is_store=False, crosses=crosses),
    )


def _within_sub_groups(src: LinearLayout, step: SubGroupStep) -> CompiledConversion:
    """Return the instructions by which Intel's compiler converts within sub-groups."""
    if not step.takes_memory:
        return CompiledConversion(shuffles=shuffle_count(src))
    stores, loads, vector = transpose_accesses(src)
    names = ("sub-group block store", stores), (f"load of {vector} elements", loads)
    store, load = (
        Transfer(instruction=name, instructions=number, wavefronts=None, extra_wavefronts=None)
        for name, number in names
    )
    return CompiledConversion(store=store, load=load)


def _step(
    registers: LinearLayout,
    layout: optimal_swizzling.ConversionBuffer,
    element_bytes: int,
    target: Target,
    *,
    is_store: bool,
    crosses: bool = False,
) -> Transfer:
    """Return the store or the load of a tensor through a conversion buffer."""
    places = access_map(registers, layout, element_bytes)
    kind = layout.store if is_store else layout.load
    instruction = _instruction(kind, places, target, is_store=is_store)
    access = cost(places, target, is_store=is_store, instruction=instruction)
    rounds = 1 << len(layout.rounds)
    executions = rounds * access.instructions * registers.get_in_dim_size("warp")
    extra = access.extra_wavefronts_per_instruction
    return Transfer(
        instruction=access.name.replace(".shared", ".shared::cluster") if crosses else access.name,
        instructions=rounds * access.instructions,
        wavefronts=None if crosses else int(executions * access.wavefronts_per_instruction),
        extra_wavefronts=None if crosses else int(executions * extra),
    )


def access_map(
    registers: LinearLayout, layout: optimal_swizzling.ConversionBuffer, element_bytes: int
) -> AccessMap:
    """Return the offset in the buffer of each register location, within one round."""

    def locations(name: str) -> list[tuple[int, int, int]]:
        return [layout.location(column) for column in distinct.columns(name)]

    distinct = without_replication(registers)
    return AccessMap(
        register=tuple(
            offset for offset, in_round, _ in locations("register") if offset or not in_round
        ),
        lane=tuple(offset for offset, _, _ in locations("lane")),
        warp=tuple(offset for offset, _, _ in locations("warp")),
        element_bytes=element_bytes,
    )


def _instruction(
    kind: optimal_swizzling.LaneSplit, places: AccessMap, target: Target, *, is_store: bool
) -> Instruction:
    """Return an access as the instruction for which the buffer was made."""
    if kind.vector_lanes:
        is_transposed = kind.name.endswith(".trans")
        form = AccessKind.TRANSPOSED if is_transposed else AccessKind.MATRIX
        instruction = matrix_instruction(places, form)
        if instruction is None:  # warps of a generic_linear may swizzle within a row
            raise LayoutError(f"rows that {kind.name} moves do not begin where other warps' do")
        return instruction
    return vector_instruction(places, target, is_store=is_store)
