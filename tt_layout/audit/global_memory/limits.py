"""What keeps an access to global memory narrow, where that comes from, and the way out.

An access could move 16 bytes at once, or the most that its instruction can.  Where it moves
less, the tightest of its bounds is to blame: what is known of the addresses before the layout,
because the compiler chooses layouts by it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.global_memory.global_access import MAX_VECTOR_BYTES, fastest_dimension
from tt_layout.audit.global_memory import advice
from tt_layout.audit.global_memory.operands import operands
from tt_layout.audit.global_memory.origins import (
    CONSTANCY,
    CONTIGUITY,
    DIVISIBILITY,
    Origin,
    Trace,
)
from tt_layout.audit.global_memory.width import Kernel, Width, bounds_along
from tt_layout.encodings.blocked import Blocked
from tt_layout.ir.operations import Location
from tt_layout.ir.ssa import SsaOperation


class Limit(NamedTuple):
    """What keeps an access narrow.

    Attributes:
        what: ``contiguity``, ``divisibility``, ``mask``, ``layout`` or ``element count``.
        line: of the first operation without what it takes; the access's own of a layout.
        location: the place of that operation in the program; None where the dump does not tell.
        advice: the way out, in a sentence.
    """

    what: str
    line: int
    location: Location | None
    advice: str

    def as_data(self) -> dict[str, Any]:
        """Return the limit as plain data."""
        place = self.location
        return {**self._asdict(), "location": place._asdict() if place is not None else None}

    def finding(self, width_bytes: int, line: int) -> str:
        """Return the finding about an access on a line, which moves ``width_bytes`` at once."""
        place = str(self.location) if self.location is not None else f"line {self.line}"
        where = f" of {place}" if self.line != line else ""
        plural = "s" if width_bytes != 1 else ""
        moved = f"moves {width_bytes} byte{plural} at a time"
        return f"{moved}, limited by {self.what}{where}: {self.advice}"


class _Access(NamedTuple):
    kernel: Kernel
    operation: SsaOperation
    width: Width
    wanted: int
    layout: LinearLayout
    is_blocked: bool

    def limit(self, what: str, operation: SsaOperation | None, text: str) -> Limit:
        operation = operation or self.operation
        return Limit(what, operation.line, self.kernel.function.location(operation), text)


def limit_of(kernel: Kernel, operation: SsaOperation, width: Width) -> Limit | None:
    """Return what keeps an access narrow; None of one that is as wide as it should be."""
    bounds = width.bounds
    wanted = min(max(1, MAX_VECTOR_BYTES // width.element_bytes), bounds.instruction)
    roles = operands(operation)
    address = roles.get("offsets", roles["pointer"])
    ir_type = kernel.function.type_of(address)
    layout = kernel.layouts.linear(ir_type) if ir_type is not None else None
    if width.elements >= wanted or layout is None:
        return None
    is_blocked = ir_type is not None and isinstance(ir_type.encoding, Blocked)
    access = _Access(kernel, operation, width, wanted, layout, is_blocked)
    runs = list(kernel.known[address].contiguity[: layout.num_out_dims])
    if bounds.layout == 1 or runs[width.dim] < wanted <= runs[fastest_dimension(layout, "lane")]:
        access = _along_lanes(access)
    width, bounds = access.width, access.width.bounds
    others = [0 if d == width.dim else run for d, run in enumerate(runs)]
    if bounds.contiguity < wanted <= max(others):
        text = advice.other_order(others.index(max(others)), width.dim)
        return access.limit("layout", operation, text)
    known = min(bounds.contiguity, bounds.divisibility, bounds.mask or wanted)
    if bounds.memory is not None and bounds.memory < min(wanted, bounds.layout, known):
        return access.limit("layout", operation, advice.shared_layout(bounds.memory, wanted))
    if bounds.layout < min(known, wanted):
        return _of_layout(access)
    return _of_knowledge(access, address, roles)


def _along_lanes(access: _Access) -> _Access:
    """Return an access along the dimension of the lanes.

    The compiler looks along the dimension of the registers.  Where these are no neighbours, or
    only the lanes follow memory, as where nothing lets a thread hold more than one element of a
    row, the dimension of the lanes is the one that the layout is meant to follow.
    """
    dim = fastest_dimension(access.layout, "lane")
    bounds = bounds_along(access.kernel, access.operation, access.layout, dim)
    return access._replace(width=access.width._replace(dim=dim, bounds=bounds))


def _of_layout(access: _Access) -> Limit:
    """Return the limit of a layout that gives a thread too few neighbours."""
    threads = access.layout.get_in_dim_size("lane") * access.layout.get_in_dim_size("warp")
    elements = 1
    for _, size in access.layout.out_sizes:
        elements *= size
    if elements < threads * access.wanted:
        text = advice.element_count(elements, threads)
        return access.limit("element count", access.operation, text)
    text = advice.neighbours(access.width.dim, access.wanted, is_blocked=access.is_blocked)
    return access.limit("layout", access.operation, text)


def _of_knowledge(access: _Access, address: str, roles: dict[str, str]) -> Limit:
    """Return the limit by what is known of the addresses, or of the mask."""
    bounds, dim, wanted = access.width.bounds, access.width.dim, access.wanted
    tightest = min(bounds.contiguity, bounds.divisibility, bounds.mask or wanted)
    if bounds.contiguity == tightest:
        origin = access.kernel.origins.find(Trace(CONTIGUITY, address, dim, wanted))
        factor = access.kernel.known.get(origin.factor)
        apart = factor.constant if factor is not None else None
        text = advice.contiguity(origin, access.operation.name, apart)
        return access.limit("contiguity", origin.operation, text)
    if bounds.divisibility == tightest:
        origin = access.kernel.origins.find(_alignment(access, address, roles["pointer"]))
        return access.limit("divisibility", origin.operation, advice.divisibility(origin))
    return _of_mask(
        access, access.kernel.origins.find(Trace(CONSTANCY, roles["mask"], dim, wanted))
    )


def _alignment(access: _Access, address: str, pointer: str) -> Trace:
    """Return what is wanted of the alignment of addresses: of pointers in bytes."""
    dim, wanted, size = access.width.dim, access.wanted, access.width.element_bytes
    bytes_ = Trace(DIVISIBILITY, pointer, dim if address == pointer else 0, wanted * size)
    if address == pointer or access.kernel.origins.lacks(bytes_):
        return bytes_
    return Trace(DIVISIBILITY, address, dim, wanted)


_RUN_SIDE = {"lt": 0, "ge": 0, "gt": 1, "le": 1}
"""Comparisons of a run with a bound that come out the same over a part of the run -> its side."""


def _of_mask(access: _Access, origin: Origin) -> Limit:
    """Return the limit by a mask: by its bound, where a run is compared with one."""
    operation = origin.operation
    is_comparison = origin.kind == "arith.cmpi"
    if operation is None or not is_comparison or len(operation.operands) != 2:
        return access.limit("mask", operation, advice.mask(origin))
    side = _RUN_SIDE.get(str(operation.attributes.get("predicate"))[-2:])
    run, bound = operation.operands[side or 0], operation.operands[1 - (side or 0)]
    trace = origin.trace
    if side is None or access.kernel.origins.lacks(trace._replace(wanted=CONTIGUITY, name=run)):
        return access.limit("mask", operation, advice.predicate(origin))
    of_bound = trace._replace(wanted=DIVISIBILITY, name=bound)
    if not access.kernel.origins.lacks(of_bound):
        of_bound = of_bound._replace(name=run)
    cause = access.kernel.origins.find(of_bound)
    return access.limit("mask", operation, advice.bound(cause, access.wanted))
