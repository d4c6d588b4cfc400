"""Accesses to global memory: how wide their instructions are, and what keeps them narrow."""

from __future__ import annotations

from tt_layout.audit.global_memory.operands import FORMS
from tt_layout.audit.global_memory.width import Bounds, Kernel, Width, access_width

__all__ = ["FORMS", "Bounds", "Kernel", "Width", "access_width"]
