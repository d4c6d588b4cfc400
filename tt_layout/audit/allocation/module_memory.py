"""The shared memory of a module that is audited, beside what the module says and the GPU has."""

from __future__ import annotations

from tt_layout.audit.allocation.liveness import FORK, UPSTREAM
from tt_layout.audit.allocation.shared_memory import SharedMemory, shared_memory
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.hardware import Target, find_target, usual_target

SINGLE = "ttg.single-warp-specialize"


def module_memory(audited: AuditedModule) -> list[SharedMemory]:
    """Return the shared memory of the functions of a module that have any.

    None of a module before layouts are chosen, or of a dialect whose memory was allocated by
    other rules.  Where the module says how much a kernel takes, and that is what the rules of a
    fork give, they are followed.
    """
    module = audited.module
    target = _target(audited)
    if "ttg.num-warps" not in module.attributes or target is None:
        return []
    single = module.attributes.get(SINGLE) is True
    stated, found = module.number("shared"), []
    for rules in (UPSTREAM, FORK):
        found = shared_memory(
            audited.functions,
            audited.layouts,
            target,
            warps=module.number("num-warps") or 1,
            rules=rules,
            dispatches_by_warp=single,
        )
        if stated is None or stated == _whole(found):
            break
    limit = target.shared_bytes(_chip(module.target)) if module.gpu is not None else None
    most = _whole(found)
    return [
        memory._replace(stated=stated if _takes(memory, most) else None, limit=limit)
        for memory in found
    ]


def _takes(memory: SharedMemory, most: int | None) -> bool:
    """Tell whether a function may be the kernel that takes what the module states."""
    return not memory.is_called and (most is None or memory.bytes == most)


def _whole(found: list[SharedMemory]) -> int | None:
    sizes = [memory.bytes for memory in found if not memory.is_called]
    known = [size for size in sizes if size is not None]
    return max(known, default=0) if len(known) == len(sizes) else None


def _target(audited: AuditedModule) -> Target | None:
    """Return the GPU; where the module names none, a usual one with such warps."""
    module = audited.module
    if module.gpu is not None:
        return find_target(module.gpu)
    return usual_target(module.number("threads-per-warp") or 32)


def _chip(target: str | None) -> str:
    """Return a GPU as `tt_layout.hardware` spells it: ``sm86`` of ``cuda:86``."""
    backend, _, chip = (target or "").partition(":")
    return f"sm{chip}" if backend == "cuda" else chip
