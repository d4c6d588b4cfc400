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
from tt_layout.kernels.chosen_compiler import CompilerTarget
from tt_layout.kernels.metadata import CODE, KernelMetadata


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


def compiled_metadata(audited: AuditedModule, known: KernelMetadata) -> KernelMetadata:
    """Add the chosen compiler's numbers for a module to the metadata of its kernel.

    Where none is chosen, or the kernel was compiled by this program, it is as known.

    Args:
        audited: the module.
        known: what is known of its kernel.
    """
    compiler, stated = audited.shared.compiler, known.registers
    if compiler is None or (stated is not None and not stated.source.endswith(CODE)):
        return known
    target, reason = _compiler_target(audited, known)
    if target is None:
        return known._replace(compile_note=f"not compiled: {reason}")
    return compiler.metadata(audited.module.span.text, target, known)


def _compiler_target(
    audited: AuditedModule, known: KernelMetadata
) -> tuple[CompilerTarget | None, str]:
    """Return the target that a module is compiled for; None and the reason where there is none."""
    module = audited.module
    kind, _, chip = (module.target or "").partition(":")
    if not chip:
        return None, "it names no target"
    if not module.stands_alone:
        return None, "it uses aliases of modules above it: no text of its own has them"
    if module.error is not None:
        return None, "it is cut off"
    kernels = len(not_called(audited.functions))
    if kernels != 1:
        return None, f"it has {kernels} kernels, and Triton compiles one of a module"
    lanes = module.number("threads-per-warp") or 32
    most = module.number("maxnreg") or known.most_registers or 0
    return CompilerTarget(kind, chip, lanes, most), ""
