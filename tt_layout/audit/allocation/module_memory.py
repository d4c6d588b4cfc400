"""The shared memory of an audited module, with what the module states and the GPU's limit."""

from __future__ import annotations

from collections.abc import Sequence

from tt_layout.audit.allocation.liveness import FORK, UPSTREAM, Rules
from tt_layout.audit.allocation.shared_memory import SharedMemory, shared_memory
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.hardware import Target, find_target, intel
from tt_layout.ir.module import gpu_of
from tt_layout.ir.ssa import Function

SINGLE = "ttg.single-warp-specialize"


def module_memory(
    audited: AuditedModule,
    functions: Sequence[Function] | None = None,
) -> list[SharedMemory]:
    """Return the shared memory of the functions of a module that have any.

    Args:
        audited: the module.
        functions: replacements of its functions, perhaps with other types; its own if None.

    Empty for a module before layouts are chosen, or of a dialect whose memory was allocated by
    other rules.  The rules of a fork are used if they give the bytes that the module states.
    """
    module = audited.module
    if module.is_intel:  # what it states is of its own functions
        return _stated(audited) if functions is None else []
    target = find_target(audited.gpu) if audited.gpu is not None else None
    if "ttg.num-warps" not in module.attributes or target is None:
        return []
    stated = module.number("shared")
    rules = UPSTREAM
    if stated is not None:
        rules = audited.once("allocation", lambda: _rules(audited, target), has_lines=False)
    chosen = audited.functions if functions is None else functions
    memories = _allocated(chosen, audited, target, rules)
    gpu, most = gpu_of(module.target), _most_bytes(memories)
    limit, note = (gpu.shared_bytes, gpu.target.shared_note) if gpu is not None else (None, "")
    limited = (memory._replace(limit=limit, limit_note=note) for memory in memories)
    # What the module states may be of any kernel with as many bytes.
    return [
        memory._replace(stated=stated)
        if not memory.is_called and (most is None or memory.bytes == most)
        else memory
        for memory in limited
    ]


def _stated(audited: AuditedModule) -> list[SharedMemory]:
    """Return the shared memory that a module for Intel's GPUs states.

    Its allocation is not modelled.  It belongs to the first function that no other calls.  The
    limit is that of all GPUs with a row.
    """
    stated = audited.module.number("shared")
    first = next(iter(audited.entries), None)
    if not stated or first is None:
        return []
    limit = max(row.most_shared_bytes for row in intel.GPUS)
    return [
        SharedMemory(
            function=first.name,
            allocations=(),
            bytes=None,
            is_called=False,
            line=first.line,
            stated=stated,
            limit=limit,
        )
    ]


def _rules(audited: AuditedModule, target: Target) -> Rules:
    """Return the rules that give the bytes that a module states."""
    memories = _allocated(audited.functions, audited, target, UPSTREAM)
    return UPSTREAM if audited.module.number("shared") == _most_bytes(memories) else FORK


def _allocated(
    functions: Sequence[Function],
    audited: AuditedModule,
    target: Target,
    rules: Rules,
) -> list[SharedMemory]:
    return shared_memory(
        functions,
        audited.layouts,
        target,
        warps=audited.module.number("num-warps") or 1,
        rules=rules,
        dispatches_by_warp=audited.module.attributes.get(SINGLE) is True,
    )


def _most_bytes(memories: list[SharedMemory]) -> int | None:
    """Return the most bytes of a kernel; None where those of one are not known."""
    sizes = [memory.bytes for memory in memories if not memory.is_called]
    stated = [size for size in sizes if size is not None]
    return max(stated, default=0) if len(stated) == len(sizes) else None
