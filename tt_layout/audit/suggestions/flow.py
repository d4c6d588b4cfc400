"""Where the values of a function come from and go to, followed through loops and branches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from tt_layout.audit.suggestions.carried import Carried, Use
from tt_layout.ir.ssa import SsaFunction, SsaOperation
from tt_layout.ir.ssa.control_flow import ControlFlow

MAX_REGION = 256  # operations that take another layout, or are computed anew

_Step = Callable[[str], "tuple[list[str], list[SsaOperation]]"]


def is_elementwise(operation: SsaOperation) -> bool:
    """Tell whether an operation computes each element by itself, in one layout."""
    return operation.traits.elementwise and not operation.regions


def is_free(operation: SsaOperation) -> bool:
    """Tell whether an operation is as cheap in any layout, and may be computed anew."""
    traits = operation.traits
    return traits.pure and (traits.source or traits.repeats)


class Flow:
    """The uses of a function's values, and the anchors at both ends of one."""

    def __init__(self, function: SsaFunction) -> None:
        self.function = function

    @cached_property
    def uses(self) -> Mapping[str, Sequence[Use]]:
        """The operations that take each value."""
        found = defaultdict[str, list[Use]](list)
        for operation in self.function.walk():
            for number, name in enumerate(operation.operands):
                found[name].append(Use(operation, number))
        return dict(found)

    @cached_property
    def _control(self) -> ControlFlow:
        return ControlFlow(self.function)

    @cached_property
    def carried(self) -> Carried:
        """The values of loops and branches that are of one type together."""
        return Carried(self._control.ways)

    @cached_property
    def behind(self) -> Mapping[str, SsaOperation]:
        """The operation that stands behind the definition of each value, in the same block."""
        blocks = [block for block in self.function.blocks() if block.operations]
        begins = [(self.function.arguments, block) for block in blocks[:1]]
        begins += [(block.arguments, block) for block in blocks]
        found = {value.name: block.operations[0] for values, block in begins for value in values}
        for block in blocks:
            for before, after in pairwise(block.operations):
                found |= {value.name: after for value in before.results}
        return found

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
        return ir_type is not None and ir_type.is_tensor

    def is_free(self, name: str, budget: int = MAX_REGION) -> bool:
        """Tell whether a value can be computed anew in any layout, without a load or a loop."""
        seen, waiting = {name}, [name]
        while waiting:
            operation = self.function.definitions.get(waiting.pop())
            if operation is None or len(seen) > budget:
                return False
            if not is_free(operation) and not (is_elementwise(operation) and operation.traits.pure):
                return False
            fresh = [one for one in operation.operands if self.is_tensor(one) and one not in seen]
            seen.update(fresh)
            waiting += fresh
        return True

    def _before(self, name: str) -> tuple[list[str], list[SsaOperation]]:
        """Return the values that a value is computed from, or the operation that produces it."""
        sources = [edge.source for edge in self._control.into(name) if not edge.way.by_element]
        operation = self.function.definitions.get(name)
        if operation is None or sources:
            return sources, []
        if is_elementwise(operation) or operation.traits.repeats:
            return [one for one in operation.operands if self.is_tensor(one)], []
        at = [value.name for value in operation.results].index(name)
        if operation.traits.forwards:
            return [*operation.operands[at : at + 1]], []
        return [], [operation] if not is_free(operation) else []

    def _after(self, name: str) -> tuple[list[str], list[SsaOperation]]:
        """Return the values that are computed from a value, and the operations that take it."""
        onward = [edge for edge in self._control.out_of(name) if not edge.way.by_element]
        handed_on = {id(edge.way.by) for edge in onward}
        names = [edge.target for edge in onward]
        anchors = []
        for operation, number in self.uses.get(name, ()):
            if is_elementwise(operation) or operation.traits.repeats:
                names += [value.name for value in operation.results]
            elif operation.traits.forwards:
                names += [value.name for value in operation.results[number : number + 1]]
            elif id(operation) not in handed_on:
                anchors.append(operation)
        return names, anchors
