"""The axis analysis: contiguity, divisibility and constancy, as the compiler computes them.

The values of a function are visited in the order of the text, loops until nothing changes any
more.  What is known of a value only ever becomes less, as the joins of the values that it may
have.

Source:
    Triton, lib/Analysis/AxisInfo.cpp (August 2026); MLIR, SparseForwardDataFlowAnalysis and
    DeadCodeAnalysis for what control flow makes of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from math import gcd

from tt_layout.audit.axis.info import MAX_DIVISOR, AxisInfo, pessimistic
from tt_layout.audit.axis.rules import rank_of
from tt_layout.audit.axis.visitor import BackwardSlice, Visitor, hinted
from tt_layout.ir.ssa import Attribute, Function, Value, integers
from tt_layout.ir.ssa.attributes import HINTS
from tt_layout.ir.ssa.control_flow import Call, ControlFlow, calls

MAX_FUNCTIONS = 1 << 9
"""Skeletons of functions whose AxisInfo is remembered."""

MANY_TIMES = 16
"""As many values of slices, for each of a function, are followed before all of it is visited."""

_infos: dict[Hashable, tuple[tuple[int, AxisInfo], ...]] = {}
"""Skeleton -> numbers of its values and their AxisInfo, in the order in which they are found."""

__all__ = ["AxisInfo", "SupposedInfo", "axis_info", "module_axis_info", "unhinted_axis_info"]


def axis_info(
    function: Function,
    functions: Sequence[Function] = (),
) -> Mapping[Value, AxisInfo]:
    """Return the compiler's AxisInfo of every value of a function.

    Args:
        function: as `tt_layout.read_functions` returns it.
        functions: all functions of the module, where some of them call the function: what they
            know of what they pass is known of the arguments.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa import read_functions
        >>> [module] = parse_ir('''
        ... tt.func @f(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
        ...   %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
        ...   %1 = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
        ...   %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
        ...   tt.return
        ... }''')
        >>> [function] = read_functions(module)
        >>> print(axis_info(function)[function.values["%2"]])
        contiguity = [64], divisibility = [16], constancy = [1], constant = none
    """
    for other, info in _analysed(functions, function):
        if other is function:
            return info
    # One of several of its name, or none of the functions.
    return axis_info(function, (function,))


class SupposedInfo(Mapping[Value, AxisInfo]):
    """AxisInfo of a function's values, given more precise ones of some; found when asked for.

    Args:
        flow: control flow of the function.
        known: AxisInfo of each value.
        supposed: supposed AxisInfo of some values, which is not changed.
    """

    def __init__(
        self, flow: ControlFlow, known: Mapping[Value, AxisInfo], supposed: Mapping[Value, AxisInfo]
    ) -> None:
        self._flow, self._known, self._supposed = flow, known, supposed
        self._infos: dict[Value, AxisInfo] = {}
        self._followed = 0

    def __getitem__(self, value: Value) -> AxisInfo:
        if value not in self._infos:
            known = self._known[value]
            if self._followed > MANY_TIMES * len(self._known):  # the whole function is no longer
                self._infos |= self._visited(None)
                return self._infos.setdefault(value, known)
            within = BackwardSlice(self._flow, value)
            self._followed += len(within.values)
            if within.values.keys().isdisjoint(self._supposed):
                self._infos[value] = known
            else:
                infos = self._visited(within)
                self._infos |= {value: infos[value] for value in within.values if value in infos}
        return self._infos[value]

    def _visited(self, within: BackwardSlice | None) -> Mapping[Value, AxisInfo]:
        """Return the AxisInfo of the values of a slice; None for the whole function."""
        function = self._flow.function
        arguments = (self._known[argument] for argument in function.arguments)
        return Visitor(function, self._supposed, within).run(arguments)

    def __contains__(self, value: object) -> bool:
        return value in self._known

    def __iter__(self) -> Iterator[Value]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def module_axis_info(
    functions: Sequence[Function],
) -> Mapping[Function, Mapping[Value, AxisInfo]]:
    """Return the AxisInfo of the values of all functions of a module."""
    infos = dict(_analysed(functions))
    return {f: infos[f] if f in infos else axis_info(f) for f in functions}


def _analysed(
    functions: Sequence[Function], last: Function | None = None
) -> Iterator[tuple[Function, Mapping[Value, AxisInfo]]]:
    """Yield the AxisInfo of each function, callers first, up to one of them."""
    attributes: dict[str, list[dict[str, Attribute]]] = {
        f.name: [dict(hints) for hints in f.argument_attributes] for f in functions
    }
    called: dict[str, list[Call]] = {}
    for call in calls(functions) if len(functions) > 1 else ():
        called.setdefault(call.caller.name, []).append(call)
    for caller in _callers_first(functions, called):
        arguments = [
            hinted(pessimistic(rank_of(value.type)), hints)
            for value, hints in zip(caller.arguments, attributes[caller.name])
        ]
        info = _known(caller, arguments)
        yield caller, info
        if caller is last:
            return
        for call in called.get(caller.name, ()):
            _pass_on(call, info, attributes)


def unhinted_axis_info(function: Function) -> Mapping[Value, AxisInfo]:
    """Return the AxisInfo that follows from operations alone, without hints.

    That is what LLVM, which sees none of them, can know.
    """
    arguments = [pessimistic(rank_of(value.type)) for value in function.arguments]
    return _known(function, arguments, takes_hints=False)


def _known(
    function: Function, arguments: Sequence[AxisInfo], *, takes_hints: bool = True
) -> Mapping[Value, AxisInfo]:
    """Return the AxisInfo of every value, found once for all functions of one skeleton."""
    question = "axis", tuple(arguments), takes_hints
    return function.once(
        question, lambda plain: _visited_values(plain, arguments, takes_hints=takes_hints)
    )


def _visited_values(
    function: Function, arguments: Sequence[AxisInfo], *, takes_hints: bool
) -> Mapping[Value, AxisInfo]:
    """Return the AxisInfo of every value, remembered by the skeleton of the function."""
    key = function.skeleton, tuple(arguments), takes_hints
    values, numbered = [*function.values.values()], _infos.get(key)
    if numbered is not None:
        return {values[number]: info for number, info in numbered}
    infos = Visitor(function, takes_hints=takes_hints).run(arguments)
    numbers = {value: number for number, value in enumerate(values)}
    if all(value in numbers for value in infos):  # unless names are defined twice
        if len(_infos) >= MAX_FUNCTIONS:
            _infos.clear()
        _infos[key] = tuple([(numbers[value], info) for value, info in infos.items()])
    return infos


def _callers_first(
    functions: Sequence[Function], called: Mapping[str, Sequence[Call]]
) -> list[Function]:
    """Return the functions, callers first."""
    order: list[Function] = []
    seen: set[str] = set()
    pending: list[tuple[Function, Iterator[Function]]] = []

    def enter(function: Function) -> None:
        if function.name not in seen:
            seen.add(function.name)
            callees = [call.callee for call in called.get(function.name, ())]
            pending.append((function, iter(callees)))

    for first in functions:
        enter(first)
        while pending:
            function, callees = pending[-1]
            callee = next(callees, None)
            if callee is not None:
                enter(callee)
            else:
                order.append(function)
                pending.pop()
    return order[::-1]


def _pass_on(
    call: Call,
    infos: Mapping[Value, AxisInfo],
    attributes: Mapping[str, Sequence[dict[str, Attribute]]],
) -> None:
    """Add the AxisInfo of one-dimensional operands of a call to the hints of its parameters."""
    for (value, _), hints in zip(call.passed, attributes[call.callee.name]):
        info = infos.get(value)
        if info is None or info.rank != 1:
            continue
        for hint, vector in zip(HINTS, info.vectors):
            before = integers(hints.get(hint)) or [MAX_DIVISOR]
            hints[hint] = gcd(vector[0], before[0])
