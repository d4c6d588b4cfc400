"""What loads and stores of shared memory cost."""

from __future__ import annotations

from functools import lru_cache

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.audit.audited_module import AuditedModule
from tt_layout.audit.cost import Cost
from tt_layout.encodings import SharedEncoding
from tt_layout.ir.operations import Operation, type_bytes


def shared_cost(operation: Operation, audited: AuditedModule) -> Cost | None:
    """Return the instructions and cycles of an access to shared memory."""
    is_store = operation.group == "local store"
    register, memory = operation.source, operation.target
    if not is_store:
        register, memory = memory, register
    if register is None or memory is None or not isinstance(memory.encoding, SharedEncoding):
        return None
    registers, buffer = (audited.layouts.linear(end) for end in (register, memory))
    size, target = type_bytes(memory), audited.module.gpu
    if registers is None or buffer is None or size is None or target is None or not memory.elements:
        return None
    element_bytes = size // memory.elements
    return _shared(registers, buffer, element_bytes, memory.encoding.padding, target, is_store)


@lru_cache(maxsize=4096)
def _shared(
    registers: LinearLayout,
    buffer: LinearLayout,
    element_bytes: int,
    padding: tuple[tuple[int, int], ...],
    target: str,
    is_store: bool,
) -> Cost:
    from tt_layout.analyses.access import access_map
    from tt_layout.analyses.banks import cost
    from tt_layout.hardware import find_target

    # A part of a buffer is stored as the buffer's first elements are, but for where it begins.
    whole = LinearLayout(registers.in_bases, buffer.out_sizes)
    offsets = access_map(whole, buffer, element_bytes, padding)
    gpu = find_target(target)
    access = cost(offsets, gpu, is_store=is_store)
    cycles, fewest = access.wavefronts_per_instruction, access.ideal_wavefronts_per_instruction
    each = f"{cycles:g} {gpu.cycle}{'s' * (cycles != 1)} each"
    text = f"{access.instructions} x {access.name}, {each}"
    text += f", {cycles - fewest:g} from conflicts" * (cycles != fewest)
    details = {
        "instruction": access.name,
        "width_bytes": access.width_bytes,
        "instructions": access.instructions,
        "wavefronts_per_instruction": cycles,
        "ideal_wavefronts_per_instruction": fewest,
        "target": target,
    }
    return Cost(text, access.wavefronts * registers.get_in_dim_size("warp"), details)
