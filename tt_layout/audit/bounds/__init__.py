"""Times that a launch cannot beat, from the counts of its audit and the peak rates of the GPU.

`kernel_bounds` gives them for a kernel, with a grid in seconds and without one in cycles.
"""

from __future__ import annotations

from tt_layout.audit.bounds.bounds import Bound, KernelBounds, kernel_bounds
from tt_layout.audit.bounds.sharing import Wave

__all__ = ["Bound", "KernelBounds", "Wave", "kernel_bounds"]
