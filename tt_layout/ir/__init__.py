"""Reading real IR: every alias, tensor type and data movement of a dump.

The reader is tolerant: it looks only for what it knows and skips the rest, so that
operations of unknown dialects, locations, comments and strings do no harm.
"""

from __future__ import annotations

from tt_layout.ir.module import Module, PlacedName, TypeUse
from tt_layout.ir.operations import MovementOperation
from tt_layout.ir.reader import iterate_ir, parse_ir
from tt_layout.ir.scope import Alias
from tt_layout.ir.types import IRType

__all__ = [
    "Alias",
    "IRType",
    "Module",
    "MovementOperation",
    "PlacedName",
    "TypeUse",
    "iterate_ir",
    "parse_ir",
]
