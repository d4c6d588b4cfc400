"""Triton GPU layouts: who holds which element of a tensor, and what that costs.

Example:
    >>> import tt_layout
    >>> swizzled = tt_layout.parse_layout(
    ...     "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>")
    >>> print(swizzled.format_tensor_view([2, 2]), end="")
    [[(0:0),(0:1)]
    [ (1:1),(1:0)]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tt_layout.algebra.rendering import set_renderer
from tt_layout.errors import LayoutError
from tt_layout.version import __version__

if TYPE_CHECKING:
    from tt_layout.algebra.linear_layout import LinearLayout
    from tt_layout.algebra.padding import Padding
    from tt_layout.analyses.banks import bank_conflicts
    from tt_layout.analyses.builders import (
        coalesced_blocked,
        default_blocked,
        default_nvmma,
        operand_shared,
    )
    from tt_layout.analyses.conversion import conversion, conversion_cost
    from tt_layout.analyses.global_access import global_access
    from tt_layout.analyses.point import holders, locate
    from tt_layout.analyses.properties import (
        layout_info,
        shared_info,
        tensor_memory_info,
    )
    from tt_layout.analyses.scratch import scratch
    from tt_layout.analyses.swizzle import find_swizzle
    from tt_layout.audit.axis import axis_info
    from tt_layout.encodings import Encoding
    from tt_layout.encodings.parsing import parse_layout
    from tt_layout.ir import parse_ir
    from tt_layout.ir.ssa import read_functions
    from tt_layout.releases import Release
    from tt_layout.reports.audit_ir import audit_ir
    from tt_layout.translation import translate

_HOMES = {
    "audit_ir": "tt_layout.reports.audit_ir",
    "axis_info": "tt_layout.audit.axis",
    "coalesced_blocked": "tt_layout.analyses.builders",
    "conversion": "tt_layout.analyses.conversion",
    "conversion_cost": "tt_layout.analyses.conversion",
    "default_blocked": "tt_layout.analyses.builders",
    "default_nvmma": "tt_layout.analyses.builders",
    "global_access": "tt_layout.analyses.global_access",
    "holders": "tt_layout.analyses.point",
    "layout_info": "tt_layout.analyses.properties",
    "locate": "tt_layout.analyses.point",
    "operand_shared": "tt_layout.analyses.builders",
    "scratch": "tt_layout.analyses.scratch",
    "shared_info": "tt_layout.analyses.properties",
    "tensor_memory_info": "tt_layout.analyses.properties",
    "bank_conflicts": "tt_layout.analyses.banks",
    "find_swizzle": "tt_layout.analyses.swizzle",
    "Encoding": "tt_layout.encodings",
    "LinearLayout": "tt_layout.algebra.linear_layout",
    "Release": "tt_layout.releases",
    "parse_ir": "tt_layout.ir",
    "parse_layout": "tt_layout.encodings.parsing",
    "read_functions": "tt_layout.ir.ssa",
    "translate": "tt_layout.translation",
}

__all__ = [
    "Encoding",
    "LayoutError",
    "LinearLayout",
    "Release",
    "__version__",
    "audit_ir",
    "axis_info",
    "bank_conflicts",
    "coalesced_blocked",
    "conversion",
    "conversion_cost",
    "default_blocked",
    "default_nvmma",
    "find_swizzle",
    "global_access",
    "holders",
    "layout_info",
    "locate",
    "operand_shared",
    "parse_ir",
    "parse_layout",
    "read_functions",
    "scratch",
    "shared_info",
    "tensor_memory_info",
    "translate",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package is cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def _render(layout: LinearLayout, memory_space: str, kind: str, padding: Padding) -> str:
    """Return the text of a view for the methods of layouts, importing the views when asked."""
    from tt_layout.views.kinds import text_of

    return text_of(layout, memory_space, kind, padding)


set_renderer(_render)
