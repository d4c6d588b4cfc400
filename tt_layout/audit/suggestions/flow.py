"""Where the values of a function come from and go to, followed through loops and branches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from tt_layout.audit.values.structure import LOOPS
from tt_layout.ir.ssa import SsaFunction, SsaOperation

ELEMENTWISE = frozenset(
    {
        "tt.addptr",
        "tt.bitcast",
        "tt.clampf",
        "tt.extern_elementwise",
        "tt.fp_to_fp",
        "tt.int_to_ptr",
        "tt.mulhiui",
        "tt.precise_divf",
        "tt.precise_sqrt",
        "tt.ptr_to_int",
    }
)
"""Operations of each element by itself, besides those of the dialects arith and math."""

RESHAPING = frozenset({"tt.broadcast", "tt.expand_dims", "tt.splat"})
"""Operations whose result in another layout follows from operands in another layout."""

FREE = frozenset({"arith.constant", "tt.make_range", "tt.get_program_id", *RESHAPING})
"""Operations that are as cheap in any layout."""

_WAIT = "ttng.warp_group_dot_wait"  # whose results are its operands
_LOOP_BOUNDS = 3  # operands of scf.for before what it iterates


class Use(NamedTuple):
    """An operation that takes a value, and as which of its operands."""

    operation: SsaOperation
    number: int


_Step = Callable[[str], "tuple[list[str], list[SsaOperation]]"]


def is_elementwise(operation: SsaOperation) -> bool:
    """Tell whether an operation computes each element by itself, in one layout."""
    name = operation.name
    is_plain = name.startswith(("arith.", "math.")) or name in ELEMENTWISE
    return is_plain and name != "arith.constant" and not operation.regions


class Flow:
    """The uses of a function's values, and the anchors at both ends of one."""

    def __init__(self, function: SsaFunction) -> None:
        self.function = function

    @cached_property
    def uses(self) -> Mapping[str, Sequence[Use]]:
        """The operations that take each value."""
        found: dict[str, list[Use]] = {}
        for operation in self.function.walk():
            for number, name in enumerate(operation.operands):
                found.setdefault(name, []).append(Use(operation, number))
        return found

    @cached_property
    def _parents(self) -> Mapping[int, SsaOperation]:
        """The operation in whose region each operation is."""
        return {
            id(inner): operation
            for operation in self.function.walk()
            for region in operation.regions
            for block in region
            for inner in block.operations
        }

    @cached_property
    def _arguments(self) -> Mapping[str, tuple[SsaOperation, int]]:
        """The loop that each argument of a loop's body belongs to, and its number."""
        return {
            argument.name: (operation, number)
            for operation in self.function.walk()
            if operation.name in LOOPS
            for region in operation.regions
            for argument_block in region[:1]
            for number, argument in enumerate(argument_block.arguments)
        }

    def producers(self, name: str) -> list[SsaOperation]:
        """Return the operations that determine the layout of a value."""
        return self._anchors(name, self._before)

    def consumers(self, name: str) -> list[SsaOperation]:
        """Return the operations that determine in which layout a value is wanted."""
        return self._anchors(name, self._after)

    def _anchors(self, name: str, step: _Step) -> list[SsaOperation]:
        seen, waiting, anchors = {name}, [name], dict[int, SsaOperation]()
        while waiting:
            names, found = step(waiting.pop())
            anchors |= {id(operation): operation for operation in found}
            fresh = [one for one in names if one not in seen]
            seen.update(fresh)
            waiting += fresh
        return sorted(anchors.values(), key=lambda operation: operation.line)

    def is_tensor(self, name: str) -> bool:
        """Tell whether a value is a tensor in registers."""
        ir_type = self.function.type_of(name)
        return ir_type is not None and ir_type.kind == "tensor"

    def _before(self, name: str) -> tuple[list[str], list[SsaOperation]]:
        """Return the values that a value is computed from, or the operation that produces it."""
        operation = self.function.definitions.get(name)
        if operation is None:
            return self._before_argument(name), []
        if is_elementwise(operation) or operation.name in RESHAPING:
            return [one for one in operation.operands if self.is_tensor(one)], []
        at = [value.name for value in operation.results].index(name)
        if operation.name == _WAIT:
            return [*operation.operands[at : at + 1]], []
        if operation.regions and operation.name.startswith("scf."):
            inits = operation.operands[_LOOP_BOUNDS:] if operation.name == "scf.for" else ()
            return [*inits[at : at + 1], *self._yielded(operation, at)], []
        return [], [operation] if operation.name not in FREE else []

    def _before_argument(self, name: str) -> list[str]:
        if name not in self._arguments:
            return []
        loop, number = self._arguments[name]
        if loop.name != "scf.for" or number == 0:
            return []
        at = number - 1
        inits = loop.operands[_LOOP_BOUNDS:]
        return [*inits[at : at + 1], *self._yielded(loop, at)]

    def _yielded(self, operation: SsaOperation, at: int) -> Iterator[str]:
        for region in operation.regions:
            for block in region[-1:]:
                for last in block.operations[-1:]:
                    yield from last.operands[at : at + 1]

    def _after(self, name: str) -> tuple[list[str], list[SsaOperation]]:
        """Return the values that are computed from a value, and the operations that take it."""
        names: list[str] = []
        anchors = []
        for operation, number in self.uses.get(name, ()):
            if is_elementwise(operation) or operation.name in RESHAPING:
                names += [value.name for value in operation.results]
            elif operation.name == _WAIT:
                names += [value.name for value in operation.results[number : number + 1]]
            elif operation.name == "scf.yield":
                parent = self._parents.get(id(operation))
                names += self._received(parent, number) if parent is not None else []
            elif operation.name == "scf.for" and number >= _LOOP_BOUNDS:
                names += self._received(operation, number - _LOOP_BOUNDS)
            else:
                anchors.append(operation)
        return names, anchors

    def _received(self, operation: SsaOperation, at: int) -> list[str]:
        """Return the result and the loop argument that what is yielded becomes."""
        names = [value.name for value in operation.results[at : at + 1]]
        if operation.name == "scf.for":
            arguments = operation.regions[0][0].arguments
            names += [argument.name for argument in arguments[at + 1 : at + 2]]
        return names
