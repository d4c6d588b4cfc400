"""Costs of loads and stores of shared memory, also at data-dependent offsets."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.conversion.conversion import memory_bytes, with_inputs
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.buffer_parts import part_origin, part_start
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import IndexedDetails, SharedDetails
from tt_layout.encodings import SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.hardware import BANK_BYTES, Target, find_target
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.operations import MovementOperation
from tt_layout.ir.types import IRType
from tt_layout.placement import PlacedLayout
from tt_layout.wording import plural

MISALIGNED = (
    "is misaligned and traps: padding moves addresses by less than the width of its vector; make "
    "the padding a multiple of it"
)

FLOAT_ADDITION = 3.5
"""Cycles of an addition of 32-bit floats in NVIDIA's shared memory, which is a loop."""

ONE_WORD, ONE_BANK = 110, 590
"""`FLOAT_ADDITION` where all lanes of a warp add to one word, or to words of one bank.

Source:
    An H200, `red.shared.add.f32` by itself: 9.2 lanes a cycle without conflicts, 0.29, and 0.054;
    an addition of integers does 31.4 without conflicts and 1 with.
"""


def shared_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the instructions and cycles of an access to shared memory.

    Raises:
        LayoutError: they are not known, and why.
    """
    is_store = operation.group in (MovementKind.LOCAL_STORE, MovementKind.COPY_IN)
    register, memory = operation.source, operation.target
    if not is_store:
        register, memory = memory, register
    if register is None or memory is None or not isinstance(memory.encoding, SharedEncoding):
        return None
    target = audited.shared_gpu
    if target is None:
        raise LayoutError(audited.no_gpu)
    registers, buffer = (_linear(ir_type, audited) for ir_type in (register, memory))
    if memory.element_bits is None:
        raise LayoutError(f"the width of {memory.element_type} is not known")
    element_bytes = max(1, memory.element_bits // 8)
    padding = memory.encoding.padding
    shape = memory.shape[-buffer.num_out_dims :]
    # By whole words every address is displaced alike, which changes no conflict.
    start = _start(operation, memory, audited) % BANK_BYTES if padding else 0
    return _shared(registers, buffer, shape, element_bytes, padding, start, target, is_store)


def _start(operation: MovementOperation, memory: IRType, audited: AuditedModule) -> int:
    """Return the byte at which the accessed buffer or part of it begins; 0 if it is not known."""
    full = audited.in_full(operation)
    if full is None:
        return 0
    function, evaluator = full.function, audited.evaluator(full.function)
    values = (*full.operation.operands, *full.operation.results)
    value = next((value for value in values if function.type_of(value) == memory), None)
    place = part_origin(value, evaluator, audited.layouts) if value is not None else None
    placed = audited.layouts.of(memory)
    if place is None or not isinstance(placed, PlacedLayout):
        return 0
    return part_start(place, placed)


def _linear(ir_type: IRType, audited: AuditedModule) -> LinearLayout:
    """Return the linear layout of one end of an access.

    Raises:
        LayoutError: it has no layout.
    """
    linear = audited.layouts.linear(ir_type)
    if linear is None:
        raise LayoutError(ir_type.without_linear)
    return linear


@lru_cache(maxsize=4096)
def _shared(
    registers: LinearLayout,
    buffer: LinearLayout,
    shape: tuple[int, ...],
    element_bytes: int,
    padding: tuple[tuple[int, int], ...],
    start: int,
    target: str,
    is_store: bool,
) -> Cost:
    from tt_layout.analyses.shared_memory.access import access_map
    from tt_layout.analyses.shared_memory.addresses import part_mask
    from tt_layout.analyses.shared_memory.banks import cost

    widened = LinearLayout(registers.in_bases, buffer.out_sizes)
    part = part_mask(buffer, shape)
    offsets = replace(access_map(widened, buffer, element_bytes, padding, part), start=start)
    lanes = registers.get_in_dim_size("lane")
    gpu = find_target(target).of_lanes(lanes)
    if lanes != gpu.lanes:
        raise LayoutError(f"{lanes} threads per warp")
    access = cost(offsets, gpu, is_store=is_store)
    cycles, fewest = access.wavefronts_per_instruction, access.ideal_wavefronts_per_instruction
    words = f"{cycles:g} {plural(gpu.cycle, cycles)} each"
    text = f"{access.instructions} x {access.name}, {words}"
    if cycles != fewest:
        text += f", {cycles - fewest:g} from conflicts"
    details = SharedDetails(
        instruction=access.name,
        width_bytes=access.width_bytes,
        instructions=access.instructions,
        wavefronts_per_instruction=cycles,
        ideal_wavefronts_per_instruction=fewest,
        target=target,
    )
    finding = MISALIGNED if access.instruction.is_misaligned else None
    warps = registers.get_in_dim_size("warp")
    return Cost(text, access.wavefronts * warps, details, finding, access.extra_wavefronts * warps)


# -- data-dependent offsets ------------------------------------------------------------------------


def indexed_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the cost of a gather or scatter in shared memory: an access for each element.

    Raises:
        LayoutError: they are not known, and why.
    """
    is_load = operation.group is MovementKind.LOCAL_LOAD
    moved = operation.target if is_load else operation.source
    if moved is None or moved.element_bits is None:
        return None
    if audited.gpu is None:
        raise LayoutError(audited.no_gpu)
    layout = _linear(moved, audited)
    target, size = find_target(audited.gpu), memory_bytes(moved.element_bits)
    count = with_inputs(layout).remove_zero_bases("register").get_in_dim_size("register")
    is_atomic = "atomic" in operation.name
    name = _addition(operation, audited, target) if is_atomic else None
    name = name or target.instruction_name(size, is_store=not is_load)
    cycles, words = 1.0, f"the indices decide their {target.cycle}s"
    if is_atomic and _is_a_loop(operation, name, target):
        cycles = FLOAT_ADDITION
        words = (
            f"a loop of {cycles} cycles where lanes do not meet, {ONE_WORD} where all add to one "
            f"word, {ONE_BANK} to words of one bank"
        )
    details = IndexedDetails(instruction=name, width_bytes=size, instructions=count)
    cycles *= count * layout.get_in_dim_size("warp")
    return Cost(f"{count} x {name}, {words}", cycles, details)


def _is_a_loop(operation: MovementOperation, name: str, target: Target) -> bool:
    """Tell whether an atomic is an addition for which the GPU has no instruction."""
    moved = operation.source
    is_float = moved is not None and moved.element_type == "f32"
    return target.is_nvidia and is_float and "add" in name


def _addition(operation: MovementOperation, audited: AuditedModule, target: Target) -> str | None:
    """Return the instruction of an atomic in shared memory, without its type."""
    full = audited.in_full(operation)
    kind = full.operation.attributes.get("atomic_rmw_op") if full is not None else None
    return target.shared_addition.replace("add", str(kind or "add").removeprefix("f"))
