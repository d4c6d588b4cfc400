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

from tt_layout.errors import LayoutError

if TYPE_CHECKING:
    from tt_layout.analyses.banks import bank_conflicts
    from tt_layout.analyses.swizzle import find_swizzle
    from tt_layout.encodings import Encoding
    from tt_layout.ir import parse_ir
    from tt_layout.linear_layout import LinearLayout
    from tt_layout.parsing import parse_layout
    from tt_layout.releases import Release
    from tt_layout.translation import translate

__version__ = "0.1.0"

_HOMES = {
    "bank_conflicts": "tt_layout.analyses.banks",
    "find_swizzle": "tt_layout.analyses.swizzle",
    "Encoding": "tt_layout.encodings",
    "LinearLayout": "tt_layout.linear_layout",
    "Release": "tt_layout.releases",
    "parse_ir": "tt_layout.ir",
    "parse_layout": "tt_layout.parsing",
    "translate": "tt_layout.translation",
}

__all__ = [
    "Encoding",
    "LayoutError",
    "LinearLayout",
    "Release",
    "__version__",
    "bank_conflicts",
    "find_swizzle",
    "parse_ir",
    "parse_layout",
    "translate",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package is cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
