"""Limits on the width of an access to global memory: cause, source and remedy.

An access could move 16 bytes at once, or the most that its instruction can.  Where it moves
less, the tightest of its bounds is to blame: what is known of the addresses before the layout,
because the compiler chooses layouts by it.

A remedy is a hint or another argument.  A hint is offered where it is true of what the kernel
computes (`tt_layout.audit.values.trials`), or with the condition under which it is.  What the
compiler concludes from it is asked of the axis analysis; one remedy after the other is looked for
until the access is as wide as it can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from itertools import islice
from math import prod
from types import MappingProxyType
from typing import Any

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.global_memory.global_access import MAX_VECTOR_BYTES, fastest_dimension
from tt_layout.analyses.layouts.builders import default_blocked
from tt_layout.audit.axis import AxisInfo
from tt_layout.audit.global_memory import advice
from tt_layout.audit.global_memory.operands import address_of, operands
from tt_layout.audit.global_memory.origins import CONSTANCY, CONTIGUITY, DIVISIBILITY, Origin, Trace
from tt_layout.audit.global_memory.width import AccessAnalysis, Width, WidthBounds, bounds_along
from tt_layout.audit.operations.turned_operands import turned_dimension
from tt_layout.audit.values.trials import ElementFacts, Supposed
from tt_layout.encodings.blocked import Blocked
from tt_layout.errors import LayoutError
from tt_layout.ir.operations import Location
from tt_layout.ir.ssa import Operation, Value
from tt_layout.lazy import lazy
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

MAX_CURES = 3  # one after the other, of one access

AND = "; and "
"""Separator of remedies."""

_RUN_SIDE = {"lt": 0, "ge": 0, "gt": 1, "le": 1}
"""Comparisons of a run with a bound that come out the same over a part of the run -> its side."""


# -- cures -----------------------------------------------------------------------------------------


class Widening(NamedTuple):
    """A remedy: a hint, or another argument.

    Attributes:
        text: the remedy in words.
        known: AxisInfo that the compiler then has of some values; empty where that does not widen
            the access.
        arguments: values that it gives to arguments.
        subject: what it changes: an argument, or the value that lacks a property.
    """

    text: str
    known: Mapping[Value, AxisInfo] = MappingProxyType({})
    arguments: Supposed = MappingProxyType({})
    subject: str = ""


@dataclass(frozen=True)
class LimitedAccess:
    """An access that is narrower than it could be.

    Attributes:
        kernel: analysis of its function.
        operation: the access.
        width: its instructions, along the dimension that matters.
        wanted: elements that one instruction could move.
        layout: layout of its registers.
        is_blocked: whether the compiler chose the layout by the addresses' AxisInfo.
        known: supposed AxisInfo of some values.
        arguments: supposed values of arguments.
    """

    kernel: AccessAnalysis
    operation: Operation
    width: Width
    wanted: int
    layout: LinearLayout
    is_blocked: bool
    known: Mapping[Value, AxisInfo] = field(default_factory=dict)
    arguments: Supposed = field(default_factory=dict)

    @lazy
    def roles(self) -> dict[str, Value]:
        """The operands of the operation by role."""
        return operands(self.operation)

    @lazy
    def address(self) -> Value:
        """The value that determines the addresses of the elements."""
        return address_of(self.roles)

    @property
    def element_bytes(self) -> int:
        """Bytes of an element of the addresses: 1 for offsets."""
        return 1 if "offsets" in self.roles else self.width.element_bytes

    @lazy
    def most(self) -> int:
        """The elements that one instruction could move if the addresses were fully known."""
        if not self.is_blocked:
            return min(self.wanted, self.width.bounds.layout)
        per_thread = max(1, self.elements // self.threads)
        return min(self.wanted, 1 << per_thread.bit_length() - 1)

    @property
    def elements(self) -> int:
        """The elements of its tensor."""
        return prod(size for _, size in self.layout.out_sizes)

    @property
    def threads(self) -> int:
        """The threads of a CTA."""
        return self.layout.get_in_dim_size("lane") * self.layout.get_in_dim_size("warp")

    @lazy
    def reached(self) -> int:
        """The elements that one instruction moves with the known facts."""
        bounds = self.width.bounds
        return min(bounds.contiguity, bounds.divisibility, bounds.mask or self.most, self.most)

    def facts(self, value: Value, dim: int, unit: int = 1) -> ElementFacts:
        """Return the facts of a value."""
        return self.kernel.trials.facts(value, dim, self.arguments, unit)

    def after(self, widening: Widening) -> LimitedAccess:
        """Return the access with a remedy applied."""
        supposed, arguments = (
            {**self.known, **widening.known},
            {**self.arguments, **widening.arguments},
        )
        kernel = self.kernel.supposing(supposed)
        bounds = bounds_along(kernel, self.operation, self.roles, self.layout, self.width.dim)
        width = self.width._replace(bounds=bounds)
        return replace(self, kernel=kernel, width=width, known=supposed, arguments=arguments)


def cured(access: LimitedAccess) -> WidthLimit:
    """Return the limit of an access besides its layout, with its remedies as advice."""
    what, origin = _tightest(access)
    texts, best, current = dict[str, str](), access.reached, access
    for _ in range(MAX_CURES):
        if current.reached >= current.most:
            break
        widening = _widening(current)
        if widening.known and widening.known.items() <= current.known.items():
            break
        if texts and f": {advice.NO_FIX}" in widening.text:
            break
        texts[widening.text] = widening.subject
        if not widening.known:
            break
        current = current.after(widening)
    if not texts:
        return _of_few_elements(access, what, origin)
    gained = current.reached > best
    if not gained:
        texts = dict(islice(texts.items(), 1))
    text = AND.join(texts)
    if gained:
        text += f" (then {advice.bytes_text(current.reached * access.width.element_bytes)})"
    limit = _limit(access, what, text, origin.operation)
    return limit._replace(subjects=tuple(texts.values()))


def _of_few_elements(access: LimitedAccess, what: str, origin: Origin) -> WidthLimit:
    """Return the limit of an access with too few elements, whose tightest bound limits more.

    A larger block is not enough: its neighbours would have to be known, too.
    """
    widening = _widening(access)
    if f": {advice.NO_FIX}" in widening.text:
        return _limit(access, what, widening.text, origin.operation)
    larger = advice.element_count(access.elements, access.threads)
    text = AND.join([larger, widening.text])
    return _limit(access, "element count", text)


def limit_name(bounds: WidthBounds, wanted: int) -> str:
    """Return the name of the tightest bound among those that no layout changes."""
    tightest = min(bounds.contiguity, bounds.divisibility, bounds.mask or wanted)
    if bounds.contiguity == tightest:
        return "contiguity"
    return "divisibility" if bounds.divisibility == tightest else "mask"


def _tightest(access: LimitedAccess) -> tuple[str, Origin]:
    """Return the tightest bound, and the origin of it."""
    bounds, dim, wanted = access.width.bounds, access.width.dim, access.wanted
    what, origins = limit_name(bounds, wanted), access.kernel.origins
    if what == "contiguity":
        return what, origins.find(Trace(CONTIGUITY, access.address, dim, wanted))
    if what == "divisibility":
        return what, origins.find(_alignment(access))
    return what, origins.find(Trace(CONSTANCY, access.roles["mask"], dim, wanted))


def _alignment(access: LimitedAccess) -> Trace:
    """Return the required alignment of addresses, of pointers in bytes."""
    dim, wanted, pointer = access.width.dim, access.wanted, access.roles["pointer"]
    dimension = dim if access.address == pointer else 0
    bytes_ = Trace(DIVISIBILITY, pointer, dimension, wanted * access.width.element_bytes)
    if access.address == pointer or access.kernel.origins.lacks(bytes_):
        return bytes_
    return Trace(DIVISIBILITY, access.address, dim, wanted)


def _widening(access: LimitedAccess) -> Widening:
    what, origin = _tightest(access)
    cures = {"contiguity": _contiguity, "divisibility": _divisibility, "mask": _mask}
    widening = cures[what](access, origin)
    return widening._replace(subject=widening.subject or origin.trace.value.name)


# -- contiguity -----------------------------------------------------------------------------


def _contiguity(access: LimitedAccess, origin: Origin) -> Widening:
    """Return the remedy of neighbours that are not known to be contiguous."""
    trace, name = origin.trace, access.operation.name
    dimension = access.facts(access.address, access.width.dim, access.element_bytes)
    if dimension.apart == 0:
        return Widening(advice.one_address(access.width.dim, name))
    if dimension.is_even and dimension.apart != 1:
        return _apart(access, dimension)
    if dimension.constancy > 1:
        return Widening(advice.repeated(dimension.constancy, name))
    facts = access.facts(trace.value, trace.dim)
    holds = _holds(trace, facts)
    if holds > _seen(access, trace):
        text = advice.unseen(origin, holds)
        return Widening(text, {trace.value: _with(access, trace, holds)})
    if origin.factor in access.kernel.origins.sources.arguments:
        widening = _multiple_factor(access, origin)
        if widening is not None:
            return widening
    if access.kernel.origins.rests_on_data(trace.value):
        return _data(access, origin)
    return Widening(advice.no_run(origin))


def _multiple_factor(access: LimitedAccess, origin: Origin) -> Widening | None:
    """Return the remedy of a deciding argument; None if no multiple of it helps."""
    trace, factor = origin.trace, origin.factor
    assert factor is not None
    supposed = {**access.arguments, factor.name: (advice.SPECIALIZED, False)}
    holds = _holds(trace, access.kernel.trials.facts(trace.value, trace.dim, supposed))
    if holds == 1:
        return None
    supposed_factor = {factor: AxisInfo((1,), (advice.SPECIALIZED,), (1,))}
    hinted = {**supposed_factor, trace.value: _with(access, trace, holds)}
    by_argument, by_both = (
        access.after(Widening("", infos, supposed)).reached for infos in (supposed_factor, hinted)
    )
    suffices = by_argument == by_both
    text = advice.unseen_if(origin, holds, _given(access, factor), suffices=suffices)
    subject = factor.name if suffices else f"{factor.name} {trace.value.name}"
    return Widening(text, hinted, supposed, subject)


def _seen(access: LimitedAccess, trace: Trace) -> int:
    """Return how much of a required property the compiler knows."""
    vector = access.kernel.known[trace.value].vectors[trace.wanted]
    return vector[trace.dim] if trace.dim < len(vector) else 1


def _holds(trace: Trace, facts: ElementFacts) -> int:
    """Return how much of a required property is true."""
    has = facts.constancy if trace.wanted == CONSTANCY else facts.contiguity
    return min(has, trace.least)


def _data(access: LimitedAccess, origin: Origin) -> Widening:
    """Return the remedy of accesses that depend on data."""
    trace = origin.trace
    if origin.kind != "tt.load":
        is_loaded = access.kernel.origins.rests_on_loaded(trace.value)
        return Widening(advice.of_data(origin) if is_loaded else advice.of_floats(origin))
    return Widening(advice.of_loaded(origin), {trace.value: _with(access, trace, trace.least)})


def _apart(access: LimitedAccess, facts: ElementFacts) -> Widening:
    """Return the remedy of neighbours some elements apart."""
    factor, rank = facts.factor, access.layout.num_out_dims
    if facts.apart is not None and facts.apart < 0:
        return Widening(advice.backwards())
    if facts.apart is not None or not factor:
        return Widening(advice.apart(str(facts.apart), rank=rank))
    argument = access.kernel.function.values[factor]
    info = access.kernel.known.get(argument)
    is_more = info is not None and info.divisibility[0] > 1
    if is_more or _given(access, argument) not in (None, 1):
        return Widening(advice.apart(factor, rank=rank), subject=factor)
    supposed = {argument: AxisInfo((1,), (1,), (1,), 1)}
    text = advice.apart(factor, rank=rank, is_free=True)
    return Widening(text, supposed, {factor: (1, True)}, factor)


def _with(access: LimitedAccess, trace: Trace, number: int) -> AxisInfo:
    """Return the AxisInfo of a value with the property that a trace requires."""
    info = access.kernel.known[trace.value]
    if trace.dim >= info.rank:
        return info  # the dump is not a valid one
    vectors = [list(vector) for vector in info.vectors]
    vectors[trace.wanted][trace.dim] = number
    if trace.wanted == CONTIGUITY:
        divisor = vectors[DIVISIBILITY][trace.dim]
        vectors[DIVISIBILITY][trace.dim] = max(divisor, number)
    return AxisInfo.of_vectors(vectors)


# -- divisibility ---------------------------------------------------------------------------


def _divisibility(access: LimitedAccess, origin: Origin) -> Widening:
    """Return the remedy of a first address that is not known to be aligned."""
    trace = origin.trace
    if origin.kind == "argument":
        return _argument(access, origin, advice.argument)
    info = access.kernel.known[trace.value]
    run = info.contiguity[trace.dim] if trace.dim < info.rank else 1
    always = access.kernel.trials.always_divides(
        trace.least, trace.value, trace.dim, run, access.arguments
    )
    if always:
        return Widening(advice.undivided(origin), {trace.value: _with(access, trace, trace.least)})
    if access.kernel.origins.rests_on_data(trace.value):
        return _data(access, origin)
    is_number = trace.value.type.is_scalar and origin.operation is not None
    is_open = is_number and access.kernel.origins.rests_on_argument(trace.value)
    hinted = {trace.value: _with(access, trace, trace.least)} if is_open else {}
    return Widening(advice.misaligned(origin, is_open=is_open), hinted)


def _argument(
    access: LimitedAccess, origin: Origin, text: Callable[[Origin, int | None], str]
) -> Widening:
    """Return the remedy of an argument that is not known to be a multiple."""
    argument, divisor = origin.factor, max(advice.SPECIALIZED, origin.trace.least)
    assert argument is not None
    supposed = {argument: AxisInfo((1,), (divisor,), (1,))}
    advised, name = text(origin, _given(access, argument)), argument.name
    return Widening(advised, supposed, {name: (divisor, False)}, name)


def _given(access: LimitedAccess, argument: Value) -> int | None:
    """Return the value that an argument was given; None without one."""
    return access.kernel.given.values.get(argument.name.removeprefix("%"))


# -- masks ----------------------------------------------------------------------------------


def _mask(access: LimitedAccess, origin: Origin) -> Widening:
    """Return the remedy of a mask that is not known to be equal for neighbours."""
    trace = origin.trace
    holds = min(access.facts(trace.value, trace.dim).constancy, trace.least)
    holds = min(holds, _same_for_any_bound(access, origin))
    if holds > _seen(access, trace):
        return Widening(advice.same_mask(holds), {trace.value: _with(access, trace, holds)})
    cause = _bound(access, origin)
    if cause is not None and cause.kind == "argument":
        widening = _argument(access, cause, advice.bound)
        supposed = {**access.arguments, **widening.arguments}
        facts = access.kernel.trials.facts(trace.value, trace.dim, supposed)
        if facts.constancy > 1:
            return widening
    is_load = "load" in access.operation.name
    infos = {trace.value: _with(access, trace, trace.least)} if is_load else {}
    if cause is not None and cause.kind == "arith.constant":
        return Widening(advice.constant_bound(access.wanted, is_load=is_load), infos)
    is_data = access.kernel.origins.rests_on_data(trace.value)
    return Widening(advice.differing_mask(is_load=is_load, is_data=is_data), infos)


def _same_for_any_bound(access: LimitedAccess, origin: Origin) -> int:
    """Return the number of neighbours for which a comparison is equal, for any arguments.

    An argument may be any number between the neighbours' own.
    """
    operation, dim = origin.operation, origin.trace.dim
    holds = origin.trace.least
    if operation is None or origin.kind != "arith.cmpi":
        return holds
    if any(map(access.kernel.origins.rests_on_argument, operation.operands)):
        constancies = (access.facts(operand, dim).constancy for operand in operation.operands)
        holds = min(holds, *constancies)
    return holds


def _bound(access: LimitedAccess, origin: Origin) -> Origin | None:
    """Return the origin of the bound that a mask compares with; None for other masks."""
    operation, origins = origin.operation, access.kernel.origins
    if operation is None or origin.kind != "arith.cmpi" or len(operation.operands) != 2:
        return None
    side = _RUN_SIDE.get(str(operation.attributes.get("predicate"))[-2:])
    run, bound = operation.operands[side or 0], operation.operands[1 - (side or 0)]
    trace = origin.trace
    if side is None or origins.lacks(trace._replace(wanted=CONTIGUITY, value=run)):
        return None
    of_bound = trace._replace(wanted=DIVISIBILITY, value=bound)
    if not origins.lacks(of_bound):
        of_bound = of_bound._replace(value=run)
    return origins.find(of_bound)


# -- limits ----------------------------------------------------------------------------------------


class WidthLimit(NamedTuple):
    """A limit on the width of an access.

    Attributes:
        what: ``contiguity``, ``divisibility``, ``mask``, ``layout`` or ``element count``.
        above: lines from the operation at which the limit begins down to the access; 0 for a
            layout.
        location: location of that operation in the program; None where the dump has none.
        advice: the change to make, perhaps after a reason and a colon.
        wanted_bytes: bytes that the instruction could move.
        encoding: register layout with which it does; None where the layout is not the limit.
        subjects: what the change is made to, the same for accesses that one change widens.
    """

    what: str
    above: int
    location: Location | None
    advice: str
    wanted_bytes: int = MAX_VECTOR_BYTES
    encoding: Blocked | None = None
    subjects: tuple[str, ...] = ()

    @property
    def change(self) -> str:
        """The change of the program that lifts it; empty where nothing helps."""
        return "" if self._parts[1].startswith(advice.NO_FIX) else self._parts[1]

    @property
    def _parts(self) -> tuple[str, str]:
        """The reason, perhaps empty, and what to change: what the first of several remedies is."""
        first, further, others = self.advice.partition(AND)
        reason, colon, change = first.partition(": ")
        if not colon or change.startswith("#"):
            return "", self.advice
        return reason, f"{change}{further}{others}"

    def as_data(self, line: int) -> dict[str, Any]:
        """Return the limit of an access on a line as plain data."""
        place = self.location
        return {
            "what": self.what,
            "line": line - self.above,
            "location": place._asdict() if place is not None else None,
            "advice": self.advice,
            "wanted_bytes": self.wanted_bytes,
        }

    def why(self, line: int) -> str:
        """Return why an access on a line is narrow.

        Example:
            >>> limit = WidthLimit("contiguity", 71, None, "neighbours are n apart: pass n as 1")
            >>> limit.why(83)
            'contiguity (line 12), neighbours are n apart'
        """
        place = str(self.location) if self.location is not None else f"line {line - self.above}"
        where = f" ({place})" if self.above else ""
        reason, change = self._parts
        why = f"{self.what}{where}{', ' if reason else ''}{reason}"
        if change.startswith(advice.NO_FIX):
            because = change.removeprefix(advice.NO_FIX).removeprefix(", because ")
            why += f": {because}" if because else ""
        return why


def limit_of(kernel: AccessAnalysis, operation: Operation, width: Width) -> WidthLimit | None:
    """Return the limit that keeps an access narrow; None if it is as wide as it should be."""
    bounds = width.bounds
    wanted = min(max(1, MAX_VECTOR_BYTES // width.element_bytes), bounds.instruction)
    if width.elements >= wanted:
        return None
    ir_type = kernel.function.type_of(address_of(operands(operation)))
    layout = kernel.layouts.linear(ir_type)
    if layout is None or ir_type is None:
        return None
    is_blocked = isinstance(ir_type.encoding, Blocked)
    access = LimitedAccess(kernel, operation, width, wanted, layout, is_blocked)
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
        return _limit(access, "layout", _of_buffer(access, bounds.memory))
    if bounds.layout < min(provable, wanted):
        return _of_layout(access)
    return _of_knowledge(access)


def _limit(
    access: LimitedAccess, what: str, text: str, operation: Operation | None = None
) -> WidthLimit:
    operation = operation or access.operation
    place = access.kernel.function.location(operation)
    above = access.operation.line - operation.line
    return WidthLimit(what, above, place, text, access.wanted * access.width.element_bytes)


def _of_buffer(access: LimitedAccess, together: int) -> str:
    """Return the advice on a buffer that separates neighbours of a copy."""
    memory = access.kernel.function.type_of(operands(access.operation)["memory"])
    summed = turned_dimension(memory, access.layout) if memory is not None else None
    if memory is None or summed is None:
        return advice.shared_layout(together, access.wanted)
    return advice.turned_operand(summed, memory.element_bits or 0)


def _along_lanes(access: LimitedAccess) -> LimitedAccess:
    """Return an access along the dimension of the lanes.

    The compiler looks along the dimension of the registers.  Where these are no neighbours, or
    only the lanes follow memory, as where nothing lets a thread hold more than one element of a
    row, the dimension of the lanes is the one that the layout is meant to follow.
    """
    dim = fastest_dimension(access.layout, "lane")
    bounds = bounds_along(access.kernel, access.operation, access.roles, access.layout, dim)
    return replace(access, width=access.width._replace(dim=dim, bounds=bounds))


def _of_layout(access: LimitedAccess) -> WidthLimit:
    """Return the limit of a layout that gives a thread too few neighbours."""
    elements, threads = access.elements, access.threads
    is_small, dim = elements < threads * access.wanted, access.width.dim
    if is_small and access.is_blocked:
        return _limit(access, "element count", advice.element_count(elements, threads))
    encoding = _whole_layout(access, dim) if not is_small else None
    text = advice.neighbours(dim, access.wanted, _behind(encoding))
    if not access.is_blocked:
        text = advice.of_its_layout(access.width.bounds.layout)
    return _limit(access, "layout", text)._replace(encoding=encoding)


def _behind(encoding: Blocked | None) -> str:
    """Format a layout as the suffix of an advice; empty without one."""
    return f": {encoding}" if encoding is not None else ""


def _whole_layout(access: LimitedAccess, dim: int) -> Blocked | None:
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


def _of_knowledge(access: LimitedAccess) -> WidthLimit:
    """Return the limit by the known facts of the addresses, or of the mask."""
    bounds = access.width.bounds
    if not access.is_blocked and access.most <= access.width.elements:
        return _limit(access, "layout", advice.of_its_layout(bounds.layout))
    if not access.kernel.explains:
        return _limit(access, limit_name(bounds, access.wanted), "")
    return cured(access)
