"""Shared memory as the compiler allocates it: buffers, scratch, when each is live, and where.

Source:
    Triton, lib/Analysis/Allocation.cpp.
"""

from __future__ import annotations

from tt_layout.audit.allocation.module_memory import module_memory
from tt_layout.audit.allocation.shared_memory import (
    Allocation,
    AllocationKind,
    SharedMemory,
    shared_memory,
)

__all__ = ["Allocation", "AllocationKind", "SharedMemory", "module_memory", "shared_memory"]
