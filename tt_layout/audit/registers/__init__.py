"""The registers that a kernel needs, estimated from its dump.

`module_registers` gives the peak of live registers of each function, `live_by_line` those of each
line; `compiled_metadata` asks the chosen compiler, and `compiled_registers` puts the numbers
of the compiled kernel in place of the estimate.
"""

from __future__ import annotations

from tt_layout.audit.registers.pressure import (
    LiveValue,
    RegisterPressure,
    compiled_metadata,
    compiled_registers,
    live_by_line,
    module_registers,
    worst,
)

__all__ = [
    "LiveValue",
    "RegisterPressure",
    "compiled_metadata",
    "compiled_registers",
    "live_by_line",
    "module_registers",
    "worst",
]
