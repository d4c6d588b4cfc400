"""Loads of which registers have the same address: the assembler makes one instruction of them.

A row of 512 elements that is broadcast to 64 rows is loaded by as many instructions as the row
alone, where it has no mask, or one that constants make true.

Source:
    ptxas merges equal loads that have no predicate: assembly of the wheels 3.6 and 3.9 for sm90,
    counters of an H200.  The PTX still has all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.audit.global_memory.width import AccessAnalysis
from tt_layout.ir.ssa import SsaOperation, Value


def are_merged(
    kernel: AccessAnalysis, operation: SsaOperation, roles: Mapping[str, Value], mask: Ints | None
) -> bool:
    """Tell whether equal instructions of an access become one.

    Args:
        kernel: that the access is in.
        operation: the access, in the form of today.
        roles: of its operands.
        mask: as far as constants tell it.
    """
    if not kernel.target.is_nvidia or operation.name != "tt.load":
        return False
    if operation.attributes.get("isVolatile") is True:
        return False
    return "mask" not in roles or (mask is not None and bool(mask.all()))


def merged_layout(
    kernel: AccessAnalysis, roles: Mapping[str, Value], layout: LinearLayout
) -> LinearLayout:
    """Return the layout of a load that is merged: registers that repeat an address lead nowhere.

    Args:
        kernel: that the load is in.
        roles: of its operands.
        layout: of the tensor of pointers.
    """
    sizes = [size for _, size in layout.out_sizes]
    infos = [kernel.known[roles[role]] for role in ("pointer", "mask") if role in roles]
    repeats = [all(info.constancy[d] >= size for info in infos) for d, size in enumerate(sizes)]
    if not any(repeats):
        return layout
    nowhere = (0,) * len(sizes)
    kept = tuple(
        vector if any(step and not same for step, same in zip(vector, repeats)) else nowhere
        for vector in layout.vectors("register")
    )
    bases = tuple(
        (name, kept if name == "register" else vectors) for name, vectors in layout.in_bases
    )
    return LinearLayout(bases, layout.out_sizes)
