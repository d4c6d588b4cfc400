"""The axis analysis: contiguity, divisibility and constancy, as the compiler computes them."""

from __future__ import annotations

from tt_layout.audit.axis.analysis import (
    axis_info,
    axis_info_supposing,
    module_axis_info,
    unhinted_axis_info,
)
from tt_layout.audit.axis.info import AxisInfo

__all__ = ["AxisInfo", "axis_info", "axis_info_supposing", "module_axis_info", "unhinted_axis_info"]
