"""Limits on the width of an access to global memory: cause, source and cure.

An access could move 16 bytes at once, or the most that its instruction can.  Where it moves
less, the tightest of its bounds is to blame: what is known of the addresses before the layout,
because the compiler chooses layouts by it.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

from tt_layout.analyses.global_memory.global_access import MAX_VECTOR_BYTES, fastest_dimension
from tt_layout.analyses.layouts.builders import default_blocked
from tt_layout.audit.global_memory import advice
from tt_layout.audit.global_memory.cures import Access, cured, limit_name
from tt_layout.audit.global_memory.operands import address_of, operands
from tt_layout.audit.global_memory.width import AccessAnalysis, Width, bounds_along
from tt_layout.encodings.blocked import Blocked
from tt_layout.errors import LayoutError
from tt_layout.ir.operations import Location
from tt_layout.ir.ssa import SsaOperation
from tt_layout.wording import count


class Limit(NamedTuple):
    """A limit on the width of an access.

    Attributes:
        what: ``contiguity``, ``divisibility``, ``mask``, ``layout`` or ``element count``.
        line: of the first operation without what it takes; the access's own of a layout.
        location: the place of that operation in the program; None where the dump has none.
        advice: what to change, perhaps behind a reason and a colon.
        wanted_bytes: that the instruction could move.
        encoding: a layout of the registers with which it does; None where that is not the limit.
    """

    what: str
    line: int
    location: Location | None
    advice: str
    wanted_bytes: int = MAX_VECTOR_BYTES
    encoding: Blocked | None = None

    @property
    def change(self) -> str:
        """The change of the program that lifts it; empty where nothing helps."""
        return "" if self._parts[1].startswith(advice.NO_FIX) else self._parts[1]

    @property
    def _parts(self) -> tuple[str, str]:
        """The reason, perhaps empty, and what to change."""
        reason, colon, change = self.advice.partition(": ")
        return (reason, change) if colon and not change.startswith("#") else ("", self.advice)

    def as_data(self) -> dict[str, Any]:
        """Return the limit as plain data."""
        data = self._asdict()
        del data["encoding"]
        place = self.location
        return {**data, "location": place._asdict() if place is not None else None}

    def finding(self, verb: str, width_bytes: int, line: int) -> str:
        """Describe the fault of an access on a line that moves ``width_bytes`` at once.

        Example:
            >>> limit = Limit("contiguity", 12, None, "neighbours are n apart: pass n as 1")
            >>> limit.finding("loads", 2, 83)
            'loads 2 bytes per instruction instead of 16; why: contiguity (line 12), neighbours \
are n apart'
        """
        place = str(self.location) if self.location is not None else f"line {self.line}"
        where = f" ({place})" if self.line != line else ""
        moved = f"{verb} {count(width_bytes, 'byte')} per instruction instead of "
        reason, change = self._parts
        why = f"{self.what}{where}{', ' * bool(reason)}{reason}"
        if change.startswith(advice.NO_FIX):
            because = change.removeprefix(advice.NO_FIX).removeprefix(", because ")
            why += f": {because}" if because else ""
        return f"{moved}{self.wanted_bytes}; why: {why}"


def limit_of(kernel: AccessAnalysis, operation: SsaOperation, width: Width) -> Limit | None:
    """Return the limit that keeps an access narrow; None if it is as wide as it should be."""
    bounds = width.bounds
    wanted = min(max(1, MAX_VECTOR_BYTES // width.element_bytes), bounds.instruction)
    roles = operands(operation)
    ir_type = kernel.function.type_of(address_of(roles))
    layout = kernel.layouts.linear(ir_type)
    if width.elements >= wanted or layout is None or ir_type is None:
        return None
    is_blocked = isinstance(ir_type.encoding, Blocked)
    access = Access(kernel, operation, width, wanted, layout, is_blocked)
    runs = list(kernel.known[access.address].contiguity[: layout.num_out_dims])
    if bounds.layout == 1 or runs[width.dim] < wanted <= runs[fastest_dimension(layout, "lane")]:
        access = _along_lanes(access)
    width, bounds = access.width, access.width.bounds
    elsewhere = [0 if d == width.dim else run for d, run in enumerate(runs)]
    if bounds.contiguity < wanted <= max(elsewhere):
        dim = elsewhere.index(max(elsewhere))
        encoding = _whole_layout(access, dim)
        text = advice.other_order(dim, width.dim, _behind(encoding))
        return _limit(access, "layout", text)._replace(encoding=encoding)
    provable = min(bounds.contiguity, bounds.divisibility, bounds.mask or wanted)
    if bounds.memory is not None and bounds.memory < min(wanted, bounds.layout, provable):
        return _limit(access, "layout", advice.shared_layout(bounds.memory, wanted))
    if bounds.layout < min(provable, wanted):
        return _of_layout(access)
    return _of_knowledge(access)


def _limit(access: Access, what: str, text: str, operation: SsaOperation | None = None) -> Limit:
    operation = operation or access.operation
    place = access.kernel.function.location(operation)
    return Limit(what, operation.line, place, text, access.wanted * access.width.element_bytes)


def _along_lanes(access: Access) -> Access:
    """Return an access along the dimension of the lanes.

    The compiler looks along the dimension of the registers.  Where these are no neighbours, or
    only the lanes follow memory, as where nothing lets a thread hold more than one element of a
    row, the dimension of the lanes is the one that the layout is meant to follow.
    """
    dim = fastest_dimension(access.layout, "lane")
    bounds = bounds_along(access.kernel, access.operation, access.layout, dim)
    return replace(access, width=access.width._replace(dim=dim, bounds=bounds))


def _of_layout(access: Access) -> Limit:
    """Return the limit of a layout that gives a thread too few neighbours."""
    threads = access.layout.get_in_dim_size("lane") * access.layout.get_in_dim_size("warp")
    elements = prod(size for _, size in access.layout.out_sizes)
    if elements < threads * access.wanted:
        return _limit(access, "element count", advice.element_count(elements, threads))
    dim = access.width.dim
    encoding, is_blocked = _whole_layout(access, dim), access.is_blocked
    text = advice.neighbours(dim, access.wanted, _behind(encoding), is_blocked=is_blocked)
    return _limit(access, "layout", text)._replace(encoding=encoding)


def _behind(encoding: Blocked | None) -> str:
    """Return a layout as it follows an advice; empty without one."""
    return f": {encoding}" if encoding is not None else ""


def _whole_layout(access: Access, dim: int) -> Blocked | None:
    """Return a blocked layout of neighbours along a dimension; None where none fits."""
    shape = [size for _, size in access.layout.out_sizes]
    size = [access.wanted if d == dim else 1 for d in range(len(shape))]
    order = [dim, *(d for d in reversed(range(len(shape))) if d != dim)]
    warps, lanes, ctas = map(access.layout.get_in_dim_size, ("warp", "lane", "block"))
    try:
        return default_blocked(
            shape,
            num_warps=warps,
            threads_per_warp=lanes,
            size_per_thread=size,
            order=order,
            num_ctas=ctas,
        )
    except LayoutError:
        return None


def _of_knowledge(access: Access) -> Limit:
    """Return the limit by what is known of the addresses, or of the mask."""
    bounds = access.width.bounds
    if not access.is_blocked and access.most <= access.width.elements:
        return _limit(access, "layout", advice.of_its_layout(bounds.layout))
    if not access.kernel.explains:
        return _limit(access, limit_name(bounds, access.wanted), "")
    cause = cured(access)
    return _limit(access, cause.what, cause.advice, cause.operation)
