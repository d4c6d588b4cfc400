"""Skeleton of a function: all that two functions share which differ in names, layouts and places.

What is concluded from operations and types alone, such as the axis analysis, is the same for both.
Configurations of one kernel mostly differ in layouts, and specialisations in a few arguments.

    %a = tt.splat %n : i32 -> tensor<64xi32, #blocked>     as in one dump
    %7 = tt.splat %x : i32 -> tensor<64xi32, #blocked3>    as in another, of the same skeleton
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import count

from tt_layout.ir.ssa.attributes import Attribute
from tt_layout.ir.ssa.model import Block, SsaFunction, SsaOperation, Value

MAX_BONES = 1 << 14
"""Operations that are remembered, without names, layouts and places."""

_numbers: dict[Hashable, int] = {}
_next = count()


def skeleton(function: SsaFunction) -> Hashable:
    """Return a number for each operation of a function, equal for functions of one skeleton.

    Two functions whose skeletons are equal have as many values, each as `SsaFunction.values` has
    them in order, with the same types but for their layouts.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> from tt_layout.ir.ssa.reader import read_functions
        >>> def of(name: str, size: int, layout: str) -> object:
        ...     splat = f"%{name} = tt.splat %n : i32 -> tensor<{size}xi32, {layout}>"
        ...     [module] = parse_ir(f"tt.func @f(%n: i32) {{ {splat} }}")
        ...     [function] = read_functions(module)
        ...     return skeleton(function)
        >>> of("a", 8, "#a") == of("b", 8, "#b"), of("a", 8, "#a") == of("a", 4, "#a")
        (True, False)
    """
    numbers = {value: number for number, value in enumerate(function.values.values())}
    outside = tuple([value.type for value in function.arguments]), _blocks(function.body)
    return tuple([_number(bone) for bone in (outside, *_bones(function, numbers))])


def _number(bone: Hashable) -> int:
    number = _numbers.get(bone)
    if number is None:
        if len(_numbers) >= MAX_BONES:
            _numbers.clear()
        number = _numbers[bone] = next(_next)  # never again that of another
    return number


def _bones(function: SsaFunction, numbers: dict[Value, int]) -> Iterator[Hashable]:
    """Yield what is kept of each operation."""
    for operation in function.operations:
        operands = [numbers.setdefault(value, len(numbers)) for value in operation.operands]
        types = [value.type for value in operation.results]
        attributes = operation.attributes
        kept = tuple(_attributes(function, attributes, numbers)) if attributes else ()
        if operation.regions or operation.successors:
            kept += _surroundings(operation, numbers)
        yield operation.name, tuple(operands), tuple(types), kept


def _attributes(
    function: SsaFunction, attributes: Mapping[str, Attribute], numbers: Mapping[Value, int]
) -> Iterator[Hashable]:
    """Yield attributes; of one that names a value, its number."""
    for key, attribute in attributes.items():
        kept: Hashable = attribute
        if isinstance(attribute, str):
            value = function.values.get(attribute) if attribute[:1] == "%" else None
            kept = attribute if value is None else (numbers[value],)
        yield key, kept, attribute is True or attribute is False  # 1 is not True


def _surroundings(operation: SsaOperation, numbers: dict[Value, int]) -> tuple[Hashable, ...]:
    """Return the regions of an operation, and where it branches to."""
    handed = [
        (label, *[numbers.setdefault(value, len(numbers)) for value in values])
        for label, values in operation.successors
    ]
    return tuple([_blocks(region) for region in operation.regions]), tuple(handed)


def _blocks(blocks: Iterable[Block]) -> tuple[Hashable, ...]:
    """Return the labels, the types of the arguments and the lengths of blocks."""
    return tuple(
        [
            (block.label, tuple([v.type for v in block.arguments]), len(block.operations))
            for block in blocks
        ]
    )
