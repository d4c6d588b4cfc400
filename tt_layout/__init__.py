"""Triton GPU layouts: who holds which element of a tensor, and what that costs.

    tt_layout.FUNCTION(layout, ..., shape_or_type, ...)

A *layout* is text in any notation (an attribute, Gluon, CuTe, TLX, a printed linear layout, JSON of
bases) or an object: an `Encoding` of this package, a `LinearLayout` of it or of ``triton.tools``, a
layout of Gluon from any Triton that is installed, a CuTe layout.  The tensor is a *shape* such as
``[64, 64]`` or ``"64x64"``, or a *type* such as ``"64x64xf16"`` or ``"!ttg.memdesc<64x64xf16>"``
where the width of an element counts.  Bad input raises `LayoutError`, whose text shows where.

Layouts:
    parse_layout                the attribute that a text or an object stands for
    place                       an attribute over a tensor, which a notebook draws
    to_linear_layout            its bases: which bit of a location moves the element by how much
    translate                   the same layout in another notation or release
    info                        registers, contiguity, replication and more, in numbers
    locations_of, elements_at   where an element is, and which element is at a location
    diff                        what changed between two layouts

What they cost, and better ones:
    conflicts                   of a store and a load of shared memory
    reduce                      the order in which a reduction adds, and so the bits of its sums
    convert                     the cost of a conversion from one layout to another
    swizzle                     the shared layout with the fewest cycles
    default_blocked, coalesced_blocked, operand_shared, default_nvmma
                                the layouts that the compiler would choose

Kernels, from a dump or compiled:
    audit_ir                    what is slow in them, and what to use instead
    features                    their numbers as flat objects, for autotuners and models
    estimate                    how long a launch takes, with its range
apply                       the dump with a suggestion applied
    explore_ir                  the page of all their layouts
    parse_ir, read_functions, axis_info
                                their types, values and addresses as data
    perf_model                  a model of their time for triton.autotune
    autotune_prune              the configurations of an autotuned kernel that fit
    compiling                   compile dumps with an installed Triton inside a block
    watch                       audit every kernel that the program compiles or launches

Pictures:
    plot                        a figure: ``.svg``, ``.png``, ``.save(path)``
    explore, playground         a page of layouts, and one into which you type them

The classes of results are names of the package, too: `Translation`, `LayoutInfo`, `Drawing`,
`Page`, `Target` and the reports.

``str`` of a report is the output of the corresponding command.  A notebook shows a report, which
has its numbers as attributes.  See ``docs/library.md``.

Example:
    >>> import tt_layout
    >>> swizzled = tt_layout.parse_layout(
    ...     "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>")
    >>> print(swizzled.format_tensor_view([2, 2]), end="")
    [[(0:0),(0:1)]
    [ (1:1),(1:0)]]
    >>> print(tt_layout.conflicts("gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])",
    ...                           "(64,64):(64,1)", "64x64xf16", access="store"))
    store: 4 x st.shared.v4.b32 per warp, 16 bytes per lane
      4 wavefronts per instruction, conflict-free
    target: sm90, NVIDIA Hopper; measured
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from tt_layout.algebra.rendering import Renderers
from tt_layout.errors import LayoutError
from tt_layout.version import __version__

if TYPE_CHECKING:
    from tt_layout.algebra.linear_layout import LinearLayout
    from tt_layout.algebra.padding import Padding
    from tt_layout.analyses.layouts.builders import (
        coalesced_blocked,
        default_blocked,
        default_nvmma,
    )
    from tt_layout.analyses.layouts.properties import LayoutInfo, SharedInfo, TensorMemoryInfo
    from tt_layout.audit.axis import AxisInfo
    from tt_layout.audit.time.estimate import Estimate
    from tt_layout.encodings import Encoding
    from tt_layout.enums import MemorySpace
    from tt_layout.hardware import Target
    from tt_layout.ir import parse_ir
    from tt_layout.ir.module import Module
    from tt_layout.ir.ssa import Function, read_functions
    from tt_layout.kernels.compiling import compiling
    from tt_layout.library.autotuning import autotune_prune, perf_model
    from tt_layout.library.dumps import apply, axis_info, explore_ir
    from tt_layout.library.features import estimate, features
    from tt_layout.library.inputs import parse_layout, place, to_linear_layout
    from tt_layout.library.layouts import (
        convert,
        diff,
        elements_at,
        info,
        locations_of,
        reduce,
        translate,
    )
    from tt_layout.library.memory import conflicts, operand_shared, swizzle
    from tt_layout.library.pictures import Drawing, Page, explore, playground, plot
    from tt_layout.mlir.types import TensorType
    from tt_layout.notation.refusal import RefusedError
    from tt_layout.notation.result import Translation
    from tt_layout.placement import PlacedLayout
    from tt_layout.releases import Release
    from tt_layout.reports.audit import AuditReport
    from tt_layout.reports.audit_ir import audit_ir
    from tt_layout.reports.conflicts import ConflictsReport
    from tt_layout.reports.convert import ConversionReport, TransferReport
    from tt_layout.reports.difference import DifferenceReport
    from tt_layout.reports.info import InfoReport
    from tt_layout.reports.reduce import ReductionReport
    from tt_layout.reports.swizzle import SwizzleReport
    from tt_layout.reports.where import WhereReport
    from tt_layout.rewriting.report import AppliedReport
    from tt_layout.watching.report import WatchReport
    from tt_layout.watching.session import watch

    bank_conflicts, find_swizzle, draw = conflicts, swizzle, plot
    compare_layouts, convert_layout, layout_info, reduction_order = diff, convert, info, reduce

_HOMES = {
    name: f"tt_layout.{home}"
    for home, names in {
        "algebra.linear_layout": "LinearLayout",
        "analyses.layouts.builders": "coalesced_blocked default_blocked default_nvmma",
        "analyses.layouts.properties": "LayoutInfo SharedInfo TensorMemoryInfo",
        "audit.axis": "AxisInfo",
        "audit.time.estimate": "Estimate",
        "encodings": "Encoding",
        "hardware": "Target",
        "ir": "parse_ir",
        "ir.module": "Module",
        "ir.ssa": "Function read_functions",
        "kernels.compiling": "compiling",
        "library.autotuning": "autotune_prune perf_model",
        "library.dumps": "apply axis_info explore_ir",
        "library.features": "estimate features",
        "library.inputs": "parse_layout place to_linear_layout",
        "library.layouts": "diff convert elements_at info locations_of reduce translate",
        "library.memory": "conflicts swizzle operand_shared",
        "library.pictures": "Drawing Page explore playground plot",
        "mlir.types": "TensorType",
        "notation.refusal": "RefusedError",
        "notation.result": "Translation",
        "placement": "PlacedLayout",
        "releases": "Release",
        "reports.audit": "AuditReport",
        "reports.audit_ir": "audit_ir",
        "reports.conflicts": "ConflictsReport",
        "reports.convert": "ConversionReport TransferReport",
        "reports.difference": "DifferenceReport",
        "reports.info": "InfoReport",
        "reports.reduce": "ReductionReport",
        "reports.swizzle": "SwizzleReport",
        "reports.where": "WhereReport",
        "rewriting.report": "AppliedReport",
        "watching.report": "WatchReport",
        "watching.session": "watch",
    }.items()
    for name in names.split()
}
"""Public name -> the module that it is imported from when it is first used."""

OLD_NAMES = {
    "bank_conflicts": "conflicts",
    "compare_layouts": "diff",
    "convert_layout": "convert",
    "draw": "plot",
    "find_swizzle": "swizzle",
    "layout_info": "info",
    "reduction_order": "reduce",
}
"""Names of before -> the names of the commands, which the functions have now."""

__all__ = [
    "AppliedReport",
    "AuditReport",
    "AxisInfo",
    "ConflictsReport",
    "ConversionReport",
    "DifferenceReport",
    "Drawing",
    "Encoding",
    "Estimate",
    "Function",
    "InfoReport",
    "LayoutError",
    "LayoutInfo",
    "LinearLayout",
    "Module",
    "Page",
    "PlacedLayout",
    "ReductionReport",
    "RefusedError",
    "Release",
    "SharedInfo",
    "SwizzleReport",
    "Target",
    "TensorMemoryInfo",
    "TensorType",
    "TransferReport",
    "Translation",
    "WatchReport",
    "WhereReport",
    "__version__",
    "apply",
    "audit_ir",
    "autotune_prune",
    "axis_info",
    "coalesced_blocked",
    "compiling",
    "conflicts",
    "convert",
    "default_blocked",
    "default_nvmma",
    "diff",
    "elements_at",
    "estimate",
    "explore",
    "explore_ir",
    "features",
    "info",
    "locations_of",
    "operand_shared",
    "parse_ir",
    "parse_layout",
    "perf_model",
    "place",
    "playground",
    "plot",
    "read_functions",
    "reduce",
    "swizzle",
    "to_linear_layout",
    "translate",
    "watch",
]


if not TYPE_CHECKING:  # a checker knows every name, and that there is no other

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used, so that importing the package is cheap."""
        if name in OLD_NAMES:
            return _by_old_name(name)
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value

    def _by_old_name(name: str) -> Any:
        import warnings

        newer = OLD_NAMES[name]
        message = f"tt_layout.{name} is tt_layout.{newer}, like the command; the old name will go"
        warnings.warn(message, DeprecationWarning, stacklevel=3)
        return getattr(sys.modules[__name__], newer)


def __dir__() -> list[str]:
    """Return the public names, for completion and ``help``, whether imported yet or not."""
    return [*__all__, "__doc__", "__file__", "__name__", "__path__"]


def _text_of(layout: LinearLayout, memory_space: MemorySpace, kind: str, padding: Padding) -> str:
    """Return the text of a view for the methods of layouts, importing the views when asked."""
    from tt_layout.views.kinds import text_of

    return text_of(layout, memory_space, kind, padding)


def _svg_of(placed: PlacedLayout) -> str:
    """Return the figure of a placed layout, for notebooks."""
    from tt_layout.library.pictures import plot

    return plot(placed, placed.tensor).svg


Renderers.text, Renderers.svg = _text_of, _svg_of


def _renew_locks() -> None:
    from tt_layout.worker import renew_locks

    renew_locks()


if sys.version_info < (3, 12) and hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
