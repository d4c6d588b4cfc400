"""Resources of a program, as it is and with a suggestion applied.

A layout that saves cycles of an access may take more registers or more shared memory: then a
multiprocessor holds fewer CTAs, registers are spilled, or the kernel does not start at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tt_layout.audit.allocation import SharedMemory, module_memory
from tt_layout.audit.conclusions import Conclusions
from tt_layout.audit.occupancy import kernel_occupancy
from tt_layout.audit.registers import RegisterPressure, module_registers, worst
from tt_layout.audit.suggestions.rewiring import RewiredBody
from tt_layout.audit.suggestions.suggestion import Suggestion
from tt_layout.audit.suggestions.trial import exchanged
from tt_layout.encodings import SharedEncoding
from tt_layout.ir.ssa import Function, Value
from tt_layout.tuples import NamedTuple


class Needs(NamedTuple):
    """Resources of a program.

    Attributes:
        registers: registers of its threads where pressure is highest; None for an unknown GPU.
        memory: its shared memory; None where it has none.
        ctas: CTAs that a multiprocessor holds at once; None where that is not known.
        multiprocessor: the vendor's word for a multiprocessor.
    """

    registers: RegisterPressure | None
    memory: SharedMemory | None
    ctas: int | None
    multiprocessor: str = "multiprocessor"

    def exceeds(self, before: Needs) -> str | None:
        """Return the limit that it exceeds by more than the program before; None without one."""
        memory, was = self.memory, before.memory
        is_larger = memory is not None and (memory.bytes or 0) > (
            was.bytes or 0 if was is not None else 0
        )
        if memory is not None and memory.refusal is not None and is_larger:
            return memory.refusal
        if self.registers is None or not self.registers.spills:
            return None
        is_more = before.registers is None or self.registers.needed > before.registers.needed
        return self.registers.text if is_more else None


def needs_of(conclusions: Conclusions, name: str | None) -> Needs:
    """Return the resources of a kernel's program."""
    return _needs(
        conclusions,
        worst(conclusions.registers_of(name)),
        conclusions.memory_of(name),
    )


def _needs(
    conclusions: Conclusions,
    registers: RegisterPressure | None,
    memory: SharedMemory | None,
) -> Needs:
    audited = conclusions.audited
    if registers is None:
        return Needs(registers, memory, None)
    bytes_ = memory.bytes if memory is not None else 0
    occupancy = kernel_occupancy(conclusions, registers, bytes_)
    if occupancy is None or audited.target is None:
        return Needs(registers, memory, None)
    return Needs(registers, memory, occupancy.ctas, audited.target.backend.multiprocessor)


def needs_with(
    suggestion: Suggestion,
    conclusions: Conclusions,
    name: str | None,
    rewired: RewiredBody | None = None,
) -> Needs:
    """Return the resources of a kernel's program with a suggestion applied.

    Args:
        suggestion: the change.
        conclusions: conclusions about the module.
        name: the kernel.
        rewired: its body where a conversion is dropped.
    """
    audited = conclusions.audited
    before = needs_of(conclusions, name)
    exchange = suggestion.exchange
    if isinstance(suggestion.encoding, SharedEncoding):
        everywhere = [exchanged(function, exchange) for function in audited.functions]
        memory = _memory_of(module_memory(audited, everywhere), name)
        return _needs(conclusions, before.registers, memory)
    function = audited.functions_by_name[name]
    if rewired is not None:
        in_new = exchanged(function, exchange, rewired.values)
        new = replace(
            in_new, body=rewired.body, originals=rewired.originals, plain=None, alike=None, facts={}
        )
    else:
        new = exchanged(function, exchange, _changed(suggestion, function))
    functions: list[Function] = [new if other is function else other for other in audited.functions]
    memory = _memory_of(module_memory(audited, functions), name)
    return _needs(conclusions, worst(module_registers(audited, [new])), memory)


def _changed(suggestion: Suggestion, function: Function) -> frozenset[Value] | None:
    """Return the values of a function that a suggestion is about; None for all."""
    names = suggestion.values
    if names is None:
        return None
    return frozenset(value for name, value in function.values.items() if name in names)


def _memory_of(memories: Sequence[SharedMemory], name: str | None) -> SharedMemory | None:
    """Return the shared memory of a changed function, of which the module states nothing."""
    changed = {memory.function: memory for memory in memories}.get(name or "")
    return changed._replace(stated=None) if changed is not None else None
