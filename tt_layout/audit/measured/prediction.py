"""What the audit of a kernel predicts of Nsight Compute's counters, for one program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tt_layout.audit.audit import Audit
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.measured.counters import (
    ASYNC_COPY,
    GLOBAL_LOAD,
    GLOBAL_STORE,
    LDMATRIX,
    SHARED_LOAD,
    SHARED_STORE,
    TRAFFIC,
    Counter,
    counted_as,
)
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.cost import Cost
from tt_layout.ir.data_movements import LOCAL_ACCESSES, MovementKind

EXCHANGES = (
    MovementKind.CONVERSION,
    MovementKind.REDUCTION,
    MovementKind.SCAN,
    MovementKind.GATHER,
    MovementKind.HISTOGRAM,
    MovementKind.GLOBAL_ATOMIC,
)
"""Groups of data movements that may store to shared memory and load from it."""

ACCESSES: Mapping[str, tuple[str, ...]] = {
    MovementKind.GLOBAL_LOAD: (GLOBAL_LOAD,),
    MovementKind.GLOBAL_STORE: (GLOBAL_STORE,),
    MovementKind.LOCAL_LOAD: (SHARED_LOAD, LDMATRIX),
    MovementKind.LOCAL_STORE: (SHARED_STORE,),
    **dict.fromkeys(EXCHANGES, (SHARED_LOAD, LDMATRIX, SHARED_STORE)),
}
"""Group of data movements -> the accesses that it may be compiled to."""

COPIES = ("async_copy_global_to_local", "insert_slice_async")
"""Asynchronous copies, which have counters of their own."""

OTHERS = ("tmem_", "local_atomic")
"""How the names begin of what none of the counters counts, although its group has some."""


class Part(NamedTuple):
    """What one data movement adds to a counter.

    Attributes:
        counter: what is counted.
        number: in one program; None where that is not known.
        reason: why it is not known.
    """

    counter: Counter
    number: float | None
    reason: str = ""


class Prediction(NamedTuple):
    """What several data movements add up to.

    Attributes:
        number: in one program; None where that is not known.
        reason: why it is not known, of the first of which it is not.
    """

    number: float | None
    reason: str = ""


NOTHING = Prediction(0)


def predict(audit: Audit, rows: Iterable[MovementRow]) -> dict[Counter, Prediction]:
    """Return what data movements of a module add up to; what is missing is 0."""
    assert audit.audited is not None
    found: dict[Counter, Prediction] = {}
    for row in rows:
        for counter, number, reason in _parts(row, audit.audited):
            before = found.get(counter, NOTHING)
            if before.number is None:
                continue
            if number is None:
                found[counter] = Prediction(None, f"line {row.operation.line}: {reason}")
            else:
                found[counter] = Prediction(before.number + number)
    return found


def _parts(row: MovementRow, audited: AuditedModule) -> Iterator[Part]:
    """Yield what one data movement adds, in all its executions."""
    accesses = _accesses(row)
    if not accesses or row.executions.number == 0:
        return
    if row.cost is None:
        reason = row.refusal or row.cost_unknown or f"the cost of {row.operation.name} is not known"
        yield from _unknown(accesses, reason)
        return
    is_global = accesses[0] in (GLOBAL_LOAD, GLOBAL_STORE, ASYNC_COPY)
    parts = _of_global(row, audited, accesses[0]) if is_global else _of_shared(row, audited)
    yield from _executed(parts, row)


def _accesses(row: MovementRow) -> tuple[str, ...]:
    name = row.operation.name.rpartition(".")[2]
    if name.startswith(OTHERS):
        return ()
    return (ASYNC_COPY,) if name in COPIES else ACCESSES.get(row.operation.group, ())


def _unknown(accesses: Iterable[str], reason: str) -> Iterator[Part]:
    for access in accesses:
        for unit in ("instructions", *TRAFFIC, "wavefronts"):
            yield Part(counted_as(access, unit), None, reason)


def _executed(parts: Iterable[Part], row: MovementRow) -> Iterator[Part]:
    """Yield parts of one execution times their number; traffic is of all of them."""
    runs = row.executions.number
    for part in parts:
        if part.counter.unit in TRAFFIC or part.number in (0, None):
            yield part
        elif runs is None:
            yield Part(part.counter, None, f"it runs {row.executions.text} times")
        else:
            yield part._replace(number=part.number * runs)


def _warps(row: MovementRow, audited: AuditedModule) -> int:
    """Return the warps of a CTA that execute an operation."""
    for end in (*row.operation.types, row.operation.target):
        layout = audited.layouts.linear(end) if end is not None and end.kind == "tensor" else None
        if layout is not None:
            return layout.get_in_dim_size("warp")
    return audited.module.number("num-warps") or 1


# -- global memory ------------------------------------------------------------------------------


def _of_global(row: MovementRow, audited: AuditedModule, access: str) -> Iterator[Part]:
    """Yield what an access to global memory adds."""
    assert row.cost is not None
    details = row.cost.details
    if "total_sectors" not in details:
        yield from _unknown([access], row.cost.text)
        return
    instructions = details["instructions"] * _warps(row, audited)
    yield Part(Counter(access, "instructions"), instructions)
    reason = _way_out(details)
    for unit in TRAFFIC:
        yield Part(counted_as(access, unit), details[f"total_{unit}"], reason)
    if access == ASYNC_COPY:
        yield Part(Counter(access, "wavefronts"), details.get("wavefronts"), reason)


def _way_out(details: Mapping[str, Any]) -> str:
    names = details.get("unknown") or ["its addresses"]
    return f"it depends on {', '.join(names[:3])}"


# -- shared memory ------------------------------------------------------------------------------


class _Accesses(NamedTuple):
    """Accesses to shared memory of one instruction.

    Attributes:
        access: load or store.
        instruction: its name.
        instructions: of all warps of a CTA.
        wavefronts: of all warps of a CTA; None where they are not known.
    """

    access: str
    instruction: str
    instructions: int
    wavefronts: float | None

    def parts(self) -> Iterator[Part]:
        """Yield what they add: matrix instructions are counted by themselves, or not at all."""
        if self.instruction.startswith("ldmatrix"):
            yield Part(Counter(LDMATRIX, "instructions"), self.instructions)
        elif not self.instruction.startswith("stmatrix"):
            yield Part(Counter(self.access, "instructions"), self.instructions)
        reason = "its wavefronts are not known"
        yield Part(Counter(self.access, "wavefronts"), self.wavefronts, reason)


def _of_shared(row: MovementRow, audited: AuditedModule) -> Iterator[Part]:
    """Yield what accesses to shared memory add."""
    assert row.cost is not None
    found = _shared_accesses(row, row.cost, _warps(row, audited))
    if found is None:
        yield from _unknown(_accesses(row), f"{row.operation.name} is known as a bound only")
        return
    for accesses in found:
        yield from accesses.parts()


def _shared_accesses(row: MovementRow, cost: Cost, warps: int) -> list[_Accesses] | None:
    """Return the accesses that an operation is compiled to; None where they are not known."""
    details, group = cost.details, row.operation.group
    if group in LOCAL_ACCESSES:
        access = SHARED_LOAD if group is MovementKind.LOCAL_LOAD else SHARED_STORE
        count, each = details.get("instructions"), details.get("wavefronts_per_instruction")
        if count is None:
            return None
        total = None if each is None else count * each * warps
        return [_Accesses(access, details["instruction"], count * warps, total)]
    if group is MovementKind.CONVERSION:
        compiled = details.get("compiled")
        if compiled is None:
            return None if details.get("wavefronts") or "moved_bytes" not in details else []
        return _steps([compiled["store"]], [compiled["load"]], warps)
    if group is MovementKind.GLOBAL_ATOMIC:
        details = details.get("result") or {}
    return _steps(details.get("stores", ()), details.get("loads", ()), warps)


def _steps(stores: Any, loads: Any, warps: int) -> list[_Accesses] | None:
    """Return stores and loads as accesses; None where they are not known."""
    if stores is None or loads is None:
        return None
    both = [(SHARED_STORE, step) for step in stores] + [(SHARED_LOAD, step) for step in loads]
    return [
        _Accesses(access, step["instruction"], step["instructions"] * warps, step["wavefronts"])
        for access, step in both
        if step is not None
    ]
