"""Contention of atomics: additions to one address follow each other, from wherever they come.

Read next:    `tt_layout.audit.bounds.bounds`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds.footprint import Footprint
from tt_layout.audit.bounds.sharing import ProgramSharing
from tt_layout.audit.bounds.work import Counts
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.global_memory.operands import FORMS, in_todays_form, operands
from tt_layout.audit.measured.programs import Programs
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.values.unknown import Unknown
from tt_layout.hardware.product import Product
from tt_layout.hardware.timing import Timing
from tt_layout.ir.ssa import Value

ADDITIONS = ("add", "fadd")
"""Kinds of atomics whose price was measured."""


class Contention(NamedTuple):
    """Additions of a launch to one address.

    Attributes:
        line: of the atomic.
        additions: to an address, in the mean over those that it touches.
        cycles: in which the GPU carries them out, one after the other.
    """

    line: int
    additions: float
    cycles: float


def contentions(
    audit: Audit, function: str | None, programs: Programs, placed: Footprint, rates: Product
) -> Iterator[Contention]:
    """Yield the atomics of a launch that many programs direct at the same addresses.

    What is not known to be added, under masks or in loops, is left out, and so are atomics of
    other kinds than those that were measured: each is a lower bound.

    Args:
        audit, function: the kernel.
        programs: of the launch.
        placed: the bytes that each access touches.
        rates: of the product; nothing is yielded for one that nobody measured.
    """
    audited, timing = audit.audited, rates.timing
    if audited is None or timing is None or not timing.is_measured or not programs.number:
        return
    counts = Counts(audited, programs)
    for row in audit.movements_of(function):
        full = audited.in_full(row.operation)
        price = _price(audited, full, timing) if full is not None else None
        if full is None or price is None or counts.runs(row).is_assumed:
            continue
        additions = _additions(full, row, counts.runs(row).number, programs, placed, audited)
        if additions > 1:
            yield Contention(row.operation.line, additions, additions * price)


def _additions(
    full: FullOperation,
    row: MovementRow,
    runs: float,
    programs: Programs,
    placed: Footprint,
    audited: AuditedModule,
) -> float:
    """Return how many additions an address gets at least; 0 where that is not known."""
    number = programs.number or 0
    used = placed.used_of.get(row.operation.line)
    if used:
        return (row.operation.bytes or 0) * runs * number / used
    if full.operation.operands[0].type.is_tensor:
        return 0
    axes = ProgramSharing(audited.evaluator(full.function)).of(full.operation).axes
    if programs.grid is None:
        return 0
    addresses = prod(programs.grid.sizes[axis] for axis in axes)
    return number * min(runs, 1) / addresses


def _price(audited: AuditedModule, full: FullOperation, timing: Timing) -> float | None:
    """Return the cycles between two additions to an address; None where nobody measured them."""
    operation = full.operation
    if not operation.traits.atomic or operation.name not in FORMS:
        return None
    roles = operands(in_todays_form(operation))
    lanes = timing.added(roles["value"].type.element) if "value" in roles else None
    if lanes is None or operation.attributes.get("atomic_rmw_op") not in ADDITIONS:
        return None
    is_sure = "mask" not in roles or _is_true(audited, full, roles["mask"])
    return 1 / lanes if is_sure else None


def _is_true(audited: AuditedModule, full: FullOperation, mask: Value) -> bool:
    value = audited.evaluator(full.function).value(mask)
    return not isinstance(value, Unknown) and bool(np.all(value))
