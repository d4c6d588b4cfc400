"""What gfx1250's tensor data mover makes of copies, gathers and scatters."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tt_layout.audit.audited_module import AuditedModule
from tt_layout.audit.cost import Cost, UnsupportedError
from tt_layout.encodings.cga import shape_per_cta
from tt_layout.errors import LayoutError
from tt_layout.ir.operations import Operation
from tt_layout.placement import PlacedLayout

if TYPE_CHECKING:
    from tt_layout.analyses.tdm_messages import TdmMessages

LINE = 128  # bytes of a line of global memory


def tdm_cost(operation: Operation, audited: AuditedModule) -> Cost | None:
    """Return the instructions of a copy, a gather or a scatter by the tensor data mover.

    Raises:
        UnsupportedError: the mover cannot do it.
    """
    memory = operation.target or operation.source
    placed = audited.layouts.of(memory) if memory is not None else None
    warps = audited.module.number("num-warps")
    if memory is None or not isinstance(placed, PlacedLayout) or warps is None:
        return None
    try:
        found = _messages(operation, audited, placed, warps)
    except LayoutError as error:
        raise UnsupportedError(f"{memory.layout}: {error.message}") from None
    if found is None:
        return None
    box = "x".join(map(str, found.box))
    details = {
        "instruction": found.name,
        "instructions": found.instructions,
        "box": list(found.box),
        "warps": found.warps,
    }
    text = f"{found.instructions} x {found.name} of {box} per warp"
    text += f", of {found.warps} of {warps} warps" * (found.warps < warps)
    size = found.instructions * found.warps * prod(found.box) * placed.element_bytes
    return Cost(text, size / LINE, details)


def _messages(
    operation: Operation, audited: AuditedModule, placed: PlacedLayout, warps: int
) -> TdmMessages | None:
    from tt_layout.analyses.tdm_messages import hinted_warps, tdm_copy, tdm_rows

    bits = placed.element_bits
    if bits is None:
        return None
    block = [vector for vector in placed.layout.vectors("block") if any(vector)]
    shape = shape_per_cta(tuple(block), placed.shape)
    to_global = operation.target is None
    rows = next((each for each in operation.types if each.kind == "tensor"), None)
    if rows is None:
        hint = _hint(operation, audited)
        active = warps if hint is None else hinted_warps(hint, warps)
        found = tdm_copy(placed.encoding, shape, bits, active, is_store=to_global)
        if hint is not None and found.instructions > 1:
            message = "a copy with warp_used_hint must be one instruction of each warp"
            raise LayoutError(f"{message}, got {found.instructions}")
        return found
    indices = audited.layouts.linear(rows)
    if indices is None or rows.element_bits not in (16, 32):
        return None
    width = rows.element_bits
    return tdm_rows(placed.encoding, shape, indices, width, is_scatter=to_global)


def _hint(operation: Operation, audited: AuditedModule) -> int | None:
    """Return which warps may issue a copy, a bit for each; None where all may."""
    full = audited.in_full(operation)
    return full.operation.integer("warp_used_hint") if full is not None else None
