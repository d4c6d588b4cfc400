"""Back from a value that is not contiguous, divisible or constant enough to where that began.

A *trace* is what was wanted of a value along a dimension.  A step leads from the result of an
operation to the operand that lacks what the result lacks; where no operand lacks it, the
operation itself is where it was lost.

Some addresses are of numbers of the data, and lie next to each other: those that are *counted*, a
base and a running sum of flags.  What keeps some elements of a tensor, or sorts them by a bit,
stores each where that sum says, one further than the element before it, or at the same place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import ge

from tt_layout.audit.axis import AxisInfo
from tt_layout.audit.global_memory.operands import address_of
from tt_layout.ir.ssa import Function, Operation, Value, ValueType, integers, value_type
from tt_layout.ir.ssa.control_flow import ControlFlow, flow_of
from tt_layout.ir.ssa.dataflow import BackwardUnion, constant_of, lineage
from tt_layout.ir.ssa.graph import reach
from tt_layout.lazy import lazy
from tt_layout.tuples import NamedTuple

CONTIGUITY, DIVISIBILITY, CONSTANCY = range(3)
"""The properties, as they stand in `AxisInfo.vectors`."""

_CUTTING = ("arith.div", "arith.rem", "arith.shr", "arith.and", "arith.or", "arith.xor")
"""Operations that determine whether neighbours are equal, whatever their operands are."""

_CHOOSING = ("arith.select", "arith.minsi", "arith.maxsi")
"""Operations whose elements are each one of the last two operands'."""

_ARGUMENT, _LOADED, _ROUNDED = (1 << bit for bit in range(3))
"""Kinds of values: arguments, those that are computed from data, and rounded floats."""

HALF = 0.5
"""Assumed fraction of elements that flags keep, which no dump states."""


class Trace(NamedTuple):
    """Property required of a value.

    Attributes:
        wanted: the property, such as `CONTIGUITY`.
        value: the value.
        dim: the dimension.
        least: the required amount.
    """

    wanted: int
    value: Value
    dim: int
    least: int


class Origin(NamedTuple):
    """Origin of a lost property.

    Attributes:
        operation: the first operation without it; None if all have it.
        trace: the property required there.
        kind: ``argument``, ``join``, or the name of the operation that lost it.
        factor: the operand to blame: a stride, a divisor, a bound; or the argument.
        is_pointer: whether `factor` is a pointer.
        combined: for an argument, the operation that first combines it with others.
    """

    operation: Operation | None
    trace: Trace
    kind: str
    factor: Value | None
    is_pointer: bool = False
    combined: str = ""


def _is_data(operation: Operation) -> bool:
    """Tell whether an operation computes from data, and not only from the kernel's numbers."""
    return not (operation.traits.by_thread or operation.traits.same_elements)


def _is_passed_on(operation: Operation) -> bool:
    """Tell whether an operation passes its operand through, dimension by dimension."""
    traits = operation.traits
    is_cast = traits.integer_cast or operation.name == "tt.bitcast"
    return is_cast or traits.same_elements or (traits.repeats and "expand" not in operation.name)


def _is_copy(operation: Operation) -> bool:
    """Tell whether an operation repeats its operand, or casts it."""
    return _is_passed_on(operation) or operation.traits.repeats


def _combines(operation: Operation) -> bool:
    """Tell whether an operation computes something else than its operand."""
    return not (_is_copy(operation) or operation.name == "tt.trans")


class Sources:
    """The operands of each value, direct and transitive.

    Attributes:
        function: the function.
    """

    def __init__(self, function: Function) -> None:
        self.function = function

    @lazy
    def arguments(self) -> frozenset[Value]:
        """The parameters of the function."""
        return frozenset(self.function.arguments)

    @lazy
    def flow(self) -> ControlFlow:
        """The control flow of the function."""
        return flow_of(self.function)

    @lazy
    def joined(self) -> Mapping[Value, tuple[Value, ...]]:
        """Value joined by control flow -> the values that it may be."""
        sources: dict[Value, list[Value]] = {}
        for edge in self.flow.control_edges:
            if (variable := edge.variable) is not None:
                sources[variable] = [edge.operation.operands[0], edge.operation.operands[2]]
        for source, target, control in self.flow.value_edges:
            if not control.by_element:
                sources.setdefault(target, []).append(source)
        return {value: tuple(dict.fromkeys(values)) for value, values in sources.items()}

    def before(self, value: Value) -> Sequence[Value]:
        """Return the direct operands of a value, or the values that it joins."""
        definition = value.definition
        operands: Sequence[Value] = definition.operands if definition is not None else ()
        return self.joined.get(value, operands)

    def undefined_source(self, value: Value) -> Value | None:
        """Return a value without definition on which a value depends; None without one."""
        return self._undefined_sources.get(value)

    @lazy
    def _undefined_sources(self) -> Mapping[Value, Value]:
        """Value -> the first value without definition on which it depends, where there is one."""
        operations = self.function.operations
        used = dict.fromkeys(v for operation in operations for v in operation.operands)
        undefined = [value for value in used if not value.is_defined]
        if not undefined:
            return {}
        following: dict[Value, list[Value]] = {}
        for value, values in self.joined.items():
            for source in values:
                following.setdefault(source, []).append(value)
        for operation in operations:
            results = [value for value in operation.results if value not in self.joined]
            for operand in operation.operands:
                following.setdefault(operand, []).extend(results)
        sources: dict[Value, Value] = {}

        def unseen(value: Value) -> Sequence[Value]:
            return [target for target in following.get(value, ()) if target not in sources]

        for missing in undefined:
            for value in reach([missing], unseen):
                sources.setdefault(value, missing)
        return sources

    @lazy
    def behind(self) -> BackwardUnion:
        """The kinds of values that each is computed from."""
        return BackwardUnion(self.before, self._kind)

    def _kind(self, value: Value) -> int:
        if value in self.arguments:
            return _ARGUMENT
        made = self.definition(value)
        if made is None:
            return 0
        return _LOADED * _is_data(made) | _ROUNDED * made.traits.float_to_integer

    def definition(self, value: Value) -> Operation | None:
        """Return the operation that computes a value; None where control flow passes it on."""
        return None if value in self.joined else value.definition


class Origins:
    """Search for the operations at which values of a function lose properties.

    Attributes:
        sources: the sources of its values.
        known: AxisInfo of each value.
    """

    def __init__(self, sources: Sources, known: Mapping[Value, AxisInfo]) -> None:
        self.sources = sources
        self.known = known
        self._found: dict[Trace, Origin] = {}

    def find(self, trace: Trace) -> Origin:
        """Return the origin at which a required property was lost."""
        way: list[tuple[Trace, Operation | None]] = []
        seen: set[Trace] = set()
        is_kept, origin = True, self._found.get(trace)
        while origin is None:
            seen.add(trace)
            operation = self.sources.definition(trace.value)
            if trace.value in self.sources.arguments:
                is_pointer = trace.value.type.pointee is not None
                origin = Origin(None, trace, "argument", trace.value, is_pointer)
                break
            if operation is None:
                lacking = self._joined(trace)
                following = next((t for t in lacking if t not in seen), None)
                is_kept &= lacking[:1] == [following] if following is not None else not lacking
            else:
                following = self._step(trace, operation)
                if following is None:
                    constants = [v for v in operation.operands if self._is_constant(v, trace.dim)]
                    factor = self.root(constants[-1]) if constants else None
                    origin = Origin(operation, trace, operation.name, factor)
                    break
            if following is None:
                origin = Origin(None, trace, "join", trace.value)
                break
            way.append((trace, operation))
            trace = following
            if trace in seen:
                is_kept, origin = False, Origin(None, trace, "join", trace.value)
            elif is_kept:  # else a kept way could lead back to what is seen
                origin = self._found.get(trace)
        return self._passed_back(way, trace, origin, is_kept=is_kept)

    def _passed_back(
        self,
        way: Sequence[tuple[Trace, Operation | None]],
        last: Trace,
        origin: Origin,
        *,
        is_kept: bool,
    ) -> Origin:
        """Return the origin found at the end of a way, as it is at its beginning.

        Args:
            way: the traces before the last, each with the operation that it was passed through.
            last: the last trace.
            origin: the origin as it is there.
            is_kept: whether the way does not depend on where it began.
        """
        for trace, operation in ((last, None), *reversed(way)):
            if operation is not None and origin.operation is None:
                origin = origin._replace(operation=operation)
            is_combined = origin.combined or origin.kind != "argument"
            if operation is not None and not is_combined and _combines(operation):
                origin = origin._replace(combined=operation.name)
            if is_kept:
                self._found[trace] = origin
        return origin

    def lacks(self, trace: Trace) -> bool:
        """Tell whether a value has less of a property than a trace wants."""
        return self._has(trace) < trace.least

    def _has(self, trace: Trace) -> int:
        info = self.known.get(trace.value)
        if info is None or trace.dim >= info.rank:
            return 1
        return info.vectors[trace.wanted][trace.dim]

    def _first_type(self, operation: Operation) -> ValueType:
        """Return the type of the first operand, which a damaged operation lacks."""
        first = next(iter(operation.operands), None)
        return first.type if first is not None else value_type("")

    def _joined(self, trace: Trace) -> Sequence[Trace]:
        """Return those of the values that a value may be that lack the property, too.

        One whose elements are all equal makes no neighbours apart where another does.
        """
        values = self.sources.joined.get(trace.value, ())
        lacking = [t for t in (trace._replace(value=v) for v in values) if self.lacks(t)]
        if trace.wanted == CONTIGUITY:
            lacking = [*filter(self._varies, lacking)] or lacking
        return lacking

    def _most_limiting(self, traces: Iterable[Trace]) -> Trace | None:
        """Return the trace whose value falls short most; None if none does."""
        lacking = [trace for trace in traces if self.lacks(trace)]
        return min(lacking, key=lambda trace: self._has(trace) / trace.least, default=None)

    def _moved(self, trace: Trace, operation: Operation) -> Trace | None:
        """Return the trace before an operation that moves dimensions; None where it is another."""
        source, dim = next(iter(operation.operands), None), trace.dim
        if source is None:
            return None
        if operation.name == "tt.expand_dims":
            axis = operation.integer("axis") or 0
            return trace._replace(value=source, dim=max(0, dim - (dim >= axis)))
        if operation.name == "tt.trans":
            order = integers(operation.attributes.get("order"))
            return trace._replace(value=source, dim=order[dim]) if dim < len(order) else None
        if not _is_passed_on(operation):
            return None
        return trace._replace(value=source, dim=0 if operation.name == "tt.splat" else dim)

    def _is_constant(self, value: Value, dim: int) -> bool:
        info = self.known.get(value)
        return info is not None and (dim >= info.rank or info.constancy[dim] > 1 or info.rank == 1)

    def root(self, value: Value) -> Value:
        """Return the argument that a value is a copy of; the value itself if it is none."""
        for _ in range(len(self.sources.function.values)):
            operation = self.sources.definition(value)
            joined = self.sources.joined.get(value, ())
            if operation is not None and _is_copy(operation) and operation.operands:
                value = operation.operands[0]
            elif len(joined) == 1:
                [value] = joined
            else:
                break
        return value

    def rests_on_data(self, value: Value) -> bool:
        """Tell whether a value is computed from more than arguments and the program's number."""
        return bool(self.sources.behind.of(value) & (_LOADED | _ROUNDED))

    def rests_on_loaded(self, value: Value) -> bool:
        """Tell whether a value is computed from data, and not from arguments and floats alone."""
        return bool(self.sources.behind.of(value) & _LOADED)

    def rests_on_argument(self, value: Value) -> bool:
        """Tell whether a value is computed from a number that is passed to the kernel."""
        return bool(self.sources.behind.of(value) & _ARGUMENT)

    def _step(self, trace: Trace, operation: Operation) -> Trace | None:
        """Return the trace before an operation; None if the property is lost there."""
        moved = self._moved(trace, operation)
        if moved is not None:
            return None if self._is_lost(trace, operation, moved) else moved
        operands = [trace._replace(value=operand) for operand in operation.operands]
        steps = self._contiguity, self._divisibility, self._constancy
        return steps[trace.wanted](operation, operands)

    def _is_lost(self, trace: Trace, operation: Operation, moved: Trace) -> bool:
        """Tell whether a property is lost at an operation that passes its operand on.

        A run of rows is divisible by what its first row is; each row by itself, by what all are.
        """
        if trace.wanted == DIVISIBILITY:
            return not self.lacks(moved)
        return trace.wanted == CONTIGUITY and self._is_same_along(trace, operation)

    # -- contiguity -------------------------------------------------------------------------

    def _contiguity(self, operation: Operation, operands: Sequence[Trace]) -> Trace | None:
        if operation.name in ("tt.addptr", "arith.addi", "arith.subi"):
            return self._run_of_sum(operands)
        if operation.name == "arith.muli":
            has_run = any(not self.lacks(t) for t in operands)
            return None if has_run else self._varying(operands)
        if operation.name in ("arith.remsi", "arith.remui", "arith.divsi", "arith.divui"):
            return self._most_limiting(filter(self._varies, operands[:1]))
        if operation.name in _CHOOSING:
            return self._run_of_choice(operation, operands)
        return None

    def _is_same_along(self, trace: Trace, operation: Operation) -> bool:
        """Tell whether an operation makes all elements along a dimension equal."""
        if operation.name == "tt.splat":
            return True
        before = self._first_type(operation).shape
        return operation.name == "tt.broadcast" and before[trace.dim : trace.dim + 1] == (1,)

    def _run_of_sum(self, operands: Sequence[Trace]) -> Trace | None:
        """Return the addend that is not a run, or that is not constant where the other is a run."""
        runs = [trace for trace in operands if not self.lacks(trace)]
        if runs:
            constants = [t._replace(wanted=CONSTANCY) for t in operands if t is not runs[0]]
            return self._most_limiting(constants)
        return self._varying(operands)

    def _run_of_choice(self, operation: Operation, operands: Sequence[Trace]) -> Trace | None:
        """Return the operand that varies and is no run; None if the choice itself is to blame.

        Neighbours are apart where one is chosen for some of them and another for the rest.
        """
        varying = self._most_limiting(t for t in operands[-2:] if self._varies(t))
        if varying is not None:
            return varying
        *conditions, _, _ = operation.operands
        is_for_all = all(
            not value.type.is_tensor or not self._varies(trace)
            for value, trace in zip(conditions, operands)
        )
        return self._most_limiting(operands[-2:]) if conditions and is_for_all else None

    def _varying(self, operands: Sequence[Trace]) -> Trace | None:
        """Return the operand that varies along the dimension, if there is one."""
        varying = [trace for trace in operands if self._varies(trace)]
        return self._most_limiting(varying or operands)

    def _varies(self, trace: Trace) -> bool:
        return self.lacks(trace._replace(wanted=CONSTANCY))

    # -- divisibility -----------------------------------------------------------------------

    def _divisibility(self, operation: Operation, operands: Sequence[Trace]) -> Trace | None:
        if operation.name == "tt.addptr":
            size = max(1, (self._first_type(operation).bits or 8) // 8)
            offsets = [t._replace(least=max(1, t.least // size)) for t in operands[1:]]
            return self._most_limiting([*operands[:1], *offsets])
        if operation.name == "arith.muli":
            return self._factor_of_product(operands)
        if operation.name in ("arith.addi", "arith.subi", "arith.remsi", "arith.remui"):
            return self._most_limiting(operands)
        if operation.name in _CHOOSING:
            return self._most_limiting(operands[-2:])
        return None

    def _factor_of_product(self, operands: Sequence[Trace]) -> Trace | None:
        """Return the factor to make divisible: an argument or a stride rather than a row."""
        lacking = [trace for trace in operands if self.lacks(trace)]
        arguments = [t for t in lacking if self.root(t.value) in self.sources.arguments]
        strides = [trace for trace in lacking if self._is_same_everywhere(trace.value)]
        return next(iter(arguments or strides or lacking), None)

    def _is_same_everywhere(self, value: Value) -> bool:
        info = self.known.get(value)
        return info is not None and all(map(ge, info.constancy, value.type.shape))

    # -- constancy --------------------------------------------------------------------------

    def _constancy(self, operation: Operation, operands: Sequence[Trace]) -> Trace | None:
        if operation.name == "arith.cmpi" or not operation.traits.elementwise:
            return None
        if operation.name.startswith(_CUTTING) and operation.results[0].type.integer_bits != 1:
            return None
        return self._most_limiting(operands)


# -- places that are counted -----------------------------------------------------------------


class CountedPlaces(NamedTuple):
    """Adjacency of the elements of an access whose addresses are running counts.

    Attributes:
        info: AxisInfo of its addresses with every flag set: one run along the counted dimension.
        kept: fraction of the elements that moves.
    """

    info: AxisInfo
    kept: float


def counted_places(roles: Mapping[str, Value], element_bytes: int) -> CountedPlaces | None:
    """Return the adjacency of an access indexed by a running sum of flags; None for any other.

    Args:
        roles: operands of the access by role.
        element_bytes: bytes of an element in memory.
    """
    address = address_of(roles)
    made = address.definition
    if "offsets" not in roles:
        if made is None or not made.traits.pointer_sum or not _is_uniform(made.operands[0]):
            return None
        address = made.operands[1]
    scan = _running_sum(address)
    flags = _flags(scan.operands[0]) if scan is not None else None
    if scan is None or flags is None:
        return None
    axis, shape = scan.integer("axis") or 0, scan.operands[0].type.shape
    runs = tuple(size if dim == axis else 1 for dim, size in enumerate(shape))
    ones = (1,) * len(shape)
    info = AxisInfo(runs, (element_bytes,) * len(shape), ones)
    mask = roles.get("mask")
    is_kept = mask is not None and _unmoved(mask) is flags
    return CountedPlaces(info, HALF if is_kept else 1)


def _running_sum(value: Value) -> Operation | None:
    """Return the scan from which a value differs only by a uniform term."""
    *_, last = reach([value], _varying)
    made = last.definition
    return made if made is not None and _is_sum(made) else None


def _varying(value: Value) -> Sequence[Value]:
    """Return the operand from which a value differs only by a uniform term; none without one."""
    made = value.definition
    if made is None or not made.operands or made.traits.combines:
        return ()
    left, *others = made.operands
    if made.name == "arith.addi":
        if _is_uniform(left):
            return others
        return (left,) if _is_uniform(others[0]) else ()
    if made.name == "arith.subi":
        return (left,) if _is_uniform(others[0]) or _flags(others[0]) is not None else ()
    return (left,) if _keeps_numbers(made) or _is_ring(made) else ()


def _keeps_numbers(operation: Operation) -> bool:
    """Tell whether an operation changes only the width or layout of its operand."""
    return operation.traits.integer_cast or operation.traits.same_elements


def _is_ring(operation: Operation) -> bool:
    """Tell whether an operation takes numbers modulo a power of two."""
    if operation.name != "arith.andi":
        return False
    size = (constant_of(operation.operands[1]) or 0) + 1
    return size > 1 and size & (size - 1) == 0


def _is_sum(operation: Operation) -> bool:
    inner = {other.name for other in operation.walk() if other is not operation}
    return operation.name == "tt.scan" and inner == {"arith.addi", "tt.scan.return"}


def _flags(value: Value) -> Value | None:
    """Return the bits from which a tensor of zeros and ones is made."""
    for made in (passed.definition for passed in lineage(value, _keeps_numbers)):
        if made is not None and made.name == "arith.extui":
            bits = made.operands[0]
            if bits.type.integer_bits == 1:
                return _unmoved(bits)
    return None


def _unmoved(value: Value) -> Value:
    return lineage(value, lambda operation: operation.traits.same_elements)[-1]


def _is_uniform(value: Value) -> bool:
    """Tell whether all elements are the same."""
    made = _unmoved(value).definition
    return constant_of(value) is not None or (made is not None and made.name == "tt.splat")
