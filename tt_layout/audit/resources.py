"""Shared memory and occupancy of a kernel, from its metadata, its module and its buffers.

Every surface, bound and estimate starts from these.
"""

from __future__ import annotations

from functools import partial

from tt_layout.audit.audit import Audit
from tt_layout.audit.occupancy import Occupancy, kernel_occupancy
from tt_layout.audit.registers import worst


def shared_bytes_of(audit: Audit, function: str | None) -> int | None:
    """Return the bytes of shared memory of a kernel's CTA; None where they are not known.

    They are those of the kernel as compiled, else those that its module states, else those of
    its buffers and scratch.  What a module states is for the kernel that no other function calls.

    Args:
        audit: audit of the module.
        function: the kernel; None for operations outside of any.

    Example:
        >>> from tt_layout.audit.audit import audit_module
        >>> from tt_layout.ir import parse_ir
        >>> text = '''module attributes {ttg.shared = 2048 : i32, ttg.target = "cuda:90"} {
        ...   tt.func @f() {
        ...     tt.return
        ...   }
        ... }'''
        >>> [module] = parse_ir(text)
        >>> shared_bytes_of(audit_module(module), "f")
        2048
    """
    if audit.known.shared_bytes is not None:
        return audit.known.shared_bytes
    stated = audit.module.number("shared")
    is_only = all(entry.name == function for entry in audit.audited.entries)
    if stated is not None and (is_only or not audit.shared_memory):
        return stated
    memory = audit.memory_of(function)
    if memory is None:
        return None
    return memory.stated if memory.stated is not None else memory.bytes


def occupancy_of(audit: Audit, function: str | None) -> Occupancy | None:
    """Return the CTAs and warps of a kernel that a multiprocessor holds; None where not known."""
    registers = worst(audit.registers_of(function))
    if registers is None:
        return None
    shared_bytes, audited = shared_bytes_of(audit, function), audit.audited
    find = partial(kernel_occupancy, audit, registers, shared_bytes, audit.known)
    amounts = registers.taken, registers.range, registers.limit, registers.compiled
    memory = shared_bytes, audit.memory_of(function) is None  # of what it calls, too
    stated = audit.known.warps, audit.known.tensor_columns
    kernel, question = audited.functions_by_name.get(function), (amounts, memory, stated)
    return audited.once_for_equal(kernel, ("occupancy", question), find)
