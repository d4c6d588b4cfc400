"""The registers of the compiled kernel, where it is at hand, in place of the estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.registers.pressure import (
    RegisterPressure,
    limit_of,
    worst,
)
from tt_layout.ir.ssa.control_flow import not_called
from tt_layout.kernels.metadata import KernelMetadata


def compiled_registers(
    pressures: Sequence[RegisterPressure], audited: AuditedModule, known: KernelMetadata
) -> tuple[RegisterPressure, ...]:
    """Return the registers of a module with those of its compiled kernel.

    What was compiled is the kernel as a whole, with the partitions of its warps: it has one row, at
    the line where most is live.  Of a module with several kernels the estimates stay.

    Args:
        found: the estimates.
        audited: the module.
        known: what is known of its kernel.
    """
    stated = known.registers
    if stated is None and known.most_registers is None:
        return tuple(pressures)
    kernels, limit = not_called(audited.functions), limit_of(audited, known.most_registers)
    if len(kernels) != 1 or limit is None:
        return tuple(pressures)
    [kernel] = kernels
    mine = [
        replace(pressure, limit=min(pressure.limit, limit))
        for pressure in pressures
        if pressure.function == kernel.name
    ]
    rest = [pressure for pressure in pressures if pressure.function != kernel.name]
    if stated is None:
        return (*mine, *rest)
    largest = worst(mine)
    if largest is None:
        largest = RegisterPressure(kernel.name, None, kernel.line, 0, stated.used, limit, ())
    return (replace(largest, partition=None, limit=limit, compiled=stated), *rest)
