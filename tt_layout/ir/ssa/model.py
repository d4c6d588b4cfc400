"""A function of a dump as operations, blocks and values with their uses, as MLIR's bindings have.

MLIR uses a name again once the region that it was defined in has ended.  Here every value of
a function has a name of its own: the first keeps the name as written, a later one has its line
behind it, such as ``%weight@57``.

An object stands for what is at one place of the text: two of them are equal if they are the same.
What a reader has handed out never changes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import count
from typing import Any, TypeVar, overload

from tt_layout.ir.data_movements import OPERATIONS, DataMovement
from tt_layout.ir.operations import Location, MovedTypes
from tt_layout.ir.ssa.attributes import Attribute
from tt_layout.ir.ssa.graph import BlockGraph
from tt_layout.ir.ssa.types import ValueType, value_type
from tt_layout.ir.traits import traits_of
from tt_layout.ir.types import IRType
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

MAX_BONES = 1 << 14
"""Operations that are remembered, without names, layouts and places."""

T = TypeVar("T")

_numbers: dict[Hashable, int] = {}
_next = count()


class Use(NamedTuple):
    """An operand: the operation that takes a value, and as which of its operands."""

    owner: Operation
    operand_number: int


class Value:
    """The result of an operation, or an argument of a block.

    Attributes:
        name: such as ``%12``, ``%5#1``, ``%arg0``; of a second value that is so named ``%12@57``.
        text: the type as written, aliases in it; empty where the dump does not contain it.
        type: the type, but for the layout.
        owner: the operation that returns it, or the block whose argument it is; None where the
            dump leaves out the definition, or has it behind the use.
        uses: the operands that it is, in the order of the text.
    """

    __slots__ = ("name", "owner", "text", "type", "uses")

    def __init__(self, name: str, text: str = "") -> None:
        self.name = name
        self.give_type(text)
        self.owner: Operation | Block | None = None
        self.uses: list[Use] = []

    def __repr__(self) -> str:
        return f"Value({self.name!r}, {self.text!r})"

    def give_type(self, text: str) -> None:
        """Note its type, which the reader of a function may find behind its first use."""
        self.text = text
        self.type: ValueType = value_type(text)

    @property
    def definition(self) -> Operation | None:
        """The operation that returns it; None of an argument."""
        owner = self.owner
        return owner if isinstance(owner, Operation) else None

    @property
    def users(self) -> list[Operation]:
        """The operations that take it, each once, in the order of the text."""
        return list(dict.fromkeys(use.owner for use in self.uses))

    @property
    def is_defined(self) -> bool:
        """Whether the dump has its definition."""
        return self.owner is not None


class Successor(NamedTuple):
    """A block that a branch goes to, and the values that it hands over."""

    label: str
    operands: tuple[Value, ...]


class Block:
    """Operations in a row.

    Attributes:
        label: such as ``^bb1``; empty for the first block of a region, unless written.
        arguments: of the first block of a loop the induction variable and what is iterated.
        operations: in their order.
        region: that it is in.
    """

    __slots__ = ("arguments", "label", "operations", "region")

    def __init__(
        self, label: str, arguments: tuple[Value, ...], operations: tuple[Operation, ...]
    ) -> None:
        self.label = label
        self.arguments = arguments
        self.operations = operations
        self.region: Region = NO_BLOCKS

    @property
    def owner(self) -> Operation | None:
        """The operation around it; None in the body of a function."""
        return self.region.owner

    @property
    def successors(self) -> list[Block]:
        """The blocks of its region that it may branch to, as often as it names them."""
        labels = self.region.graph.after(self.label)
        return [block for block in map(self.region.labelled.get, labels) if block is not None]

    @property
    def predecessors(self) -> list[Block]:
        """The blocks of its region that may branch to it, each as often."""
        labels = self.region.graph.predecessors.get(self.label, ())
        return [self.region.labelled[label] for label in labels]

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)


class Region(Sequence[Block]):
    """Blocks of an operation, or of a function.

    Attributes:
        owner: the operation; None of the body of a function.
        number: which of the operation's regions it is.
        begin, end: positions of the operations in it, the end excluded.
    """

    __slots__ = ("_blocks", "_graph", "_labelled", "begin", "end", "number", "owner")

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = tuple(blocks)
        self._graph: BlockGraph | None = None
        self._labelled: dict[str, Block] | None = None
        self.owner: Operation | None = None
        self.number = 0
        self.begin = self.end = 0

    def __len__(self) -> int:
        return len(self._blocks)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks)

    @overload
    def __getitem__(self, index: int) -> Block: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Block]: ...

    def __getitem__(self, index: int | slice) -> Block | Sequence[Block]:
        return self._blocks[index]

    @property
    def labelled(self) -> Mapping[str, Block]:
        """Its blocks by their labels."""
        if self._labelled is None:
            self._labelled = {block.label: block for block in self._blocks}
        return self._labelled

    @property
    def graph(self) -> BlockGraph:
        """The branches between its blocks, found when they are first asked for."""
        if self._graph is None:
            self._graph = BlockGraph(
                {
                    block.label: [
                        s.label for last in block.operations[-1:] for s in last.successors
                    ]
                    for block in self._blocks
                }
            )
        return self._graph


NO_BLOCKS = Region(())
"""The body of a declaration, and of what is nested too deeply."""


class Operation:
    """An operation of a function.

    Attributes:
        name: with its dialect, such as ``arith.addi``.
        operands: the values that it takes, in the order written.
        results: the values that it returns.
        attributes: what stands in its dictionaries, ``key = value`` outside of them, and under
            a word that stands before an operand the name of that operand (``mask``, ``step``).
            Words of the assembly format have the name of the attribute that they stand for.
        regions: of the operation, each the blocks in it.
        successors: of a branch.
        line, column: where the name stands, from 1.
        location_text: what stands within ``loc(...)``; see `Function.location`.
        moved: the types in its text; None if it moves no data.
        block: that it is in; None of one that is in no function.
        position: how many operations of the function begin before it.
        end: the position behind the last operation in its regions.
        traits: the class of the operation, which many ask for.
    """

    __slots__ = (
        "attributes",
        "block",
        "column",
        "end",
        "line",
        "location_text",
        "moved",
        "name",
        "operands",
        "position",
        "regions",
        "results",
        "successors",
        "traits",
    )

    def __init__(
        self,
        name: str,
        operands: tuple[Value, ...] = (),
        results: tuple[Value, ...] = (),
        attributes: Mapping[str, Attribute] | None = None,
        regions: tuple[Region, ...] = (),
        successors: tuple[Successor, ...] = (),
        line: int = 1,
        column: int = 1,
        location_text: str = "",
        moved: MovedTypes | None = None,
    ) -> None:
        self.name = name
        self.traits = traits_of(name)
        self.operands = operands
        self.results = results
        self.attributes: Mapping[str, Attribute] = {} if attributes is None else attributes
        self.regions = regions
        self.successors = successors
        self.line = line
        self.column = column
        self.location_text = location_text
        self.moved = moved
        self.block: Block | None = None
        self.position = self.end = 0

    def __repr__(self) -> str:
        return f"Operation({self.name!r}, line={self.line})"

    @property
    def parent(self) -> Operation | None:
        """The operation around it; None in the body of a function."""
        return self.block.region.owner if self.block is not None else None

    @property
    def around(self) -> list[Region]:
        """The regions around it, the innermost first, the body of the function left out."""
        regions = []
        block = self.block
        while block is not None and block.region.owner is not None:
            regions.append(block.region)
            block = block.region.owner.block
        return regions

    @property
    def ancestors(self) -> list[Operation]:
        """The operations around it, the innermost first."""
        return [region.owner for region in self.around if region.owner is not None]

    def ancestor_in(self, region: Region) -> Operation | None:
        """Return the operation of a region that it is, or is in; None if there is none."""
        current: Operation | None = self
        while current is not None and current.block is not None:
            if current.block.region is region:
                return current
            current = current.parent
        return None

    def is_ancestor(self, other: Operation) -> bool:
        """Tell whether another operation of the function is in a region of it, or itself."""
        return self.position <= other.position < self.end

    def walk(self) -> Iterator[Operation]:
        """Yield the operation and all within it, in the order of the text."""
        yield self
        for region in self.regions:
            for block in region:
                for operation in block.operations:
                    yield from operation.walk()

    @property
    def movement(self) -> DataMovement | None:
        """The data movement of the operation; None if it moves nothing."""
        row = OPERATIONS.get(self.name.rpartition(".")[2])
        return row.movement if row is not None else None

    def integer(self, key: str) -> int | None:
        """Return an attribute that is a number; None where it is absent or something else."""
        value = self.attributes.get(key)
        return int(value) if isinstance(value, int) else None


class Alike:
    """What functions share whose texts differ in the names of values alone.

    Attributes:
        structure: what those share, by what it is, whose texts differ in constants, too; it names
            no value or operation of one of them.
    """

    def __init__(self, structure: dict[Hashable, Any]) -> None:
        self.structure = structure
        self._skeleton: tuple[int, ...] | None = None

    def skeleton(self, function: Function) -> Hashable:
        """Return the skeleton of one of them, and thereby of all."""
        if self._skeleton is None:
            first = self.structure.get("skeleton")
            self._skeleton = skeleton(function) if first is None else _like(first, function)
            self.structure.setdefault("skeleton", self._skeleton)
        return self._skeleton


def unresolved(text: str) -> None:
    """Return no type and no location: a function that is kept for others knows neither."""


@dataclass(frozen=True, eq=False)
class Function:
    """A function of a module.

    Attributes:
        name: without ``@``.
        arguments: its parameters; those of a declaration have no names.
        argument_attributes: the dictionary of each parameter, such as ``tt.divisibility``.
        body: its blocks; none for a declaration.
        line, column: where it begins, from 1.
        number: which of the functions of its module it is, from 0.
        resolve_type: from the text of a type to the type; None where it is unknown.
        resolve_location: from what stands within ``loc(...)`` to the location in the program.
        alike: what it shares with others; None where that is not known.
        plain: the function without layouts, of which those of one text at one place have the
            operations and values; None where it has its own.
        facts: what was concluded from these.
        originals: the operations for which copies stand in the body of a changed function; values
            and blocks are linked with these.
    """

    name: str
    arguments: tuple[Value, ...]
    argument_attributes: tuple[Mapping[str, Attribute], ...]
    body: Region
    line: int
    column: int
    number: int = 0
    resolve_type: Callable[[str], IRType | None] = unresolved
    resolve_location: Callable[[str], Location | None] = unresolved
    alike: Alike | None = None
    plain: Function | None = None
    facts: dict[Hashable, Any] = field(default_factory=dict)
    originals: Mapping[Operation, Operation] = field(default_factory=dict)

    def once(self, question: Hashable, conclude: Callable[[Function], T]) -> T:
        """Return a conclusion, found once for all functions of one text at one place.

        Args:
            question: what is asked.
            conclude: finds the answer, whatever the layouts of types; it must not change.
        """
        function = self.plain or self
        if question not in function.facts:
            function.facts[question] = conclude(function)
        answer: T = function.facts[question]
        return answer

    def walk(self) -> Iterator[Operation]:
        """Yield every operation, in the order of the text; what contains others first."""
        return iter(self.operations)

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """Every operation, in the order of the text."""
        return self.once("operations", Function._find_operations)

    def chosen(self, is_chosen: Callable[[Operation], bool]) -> list[Operation]:
        """Return the operations of one kind, in the order of the text.

        Functions that differ in names and constants alone are searched once.

        Args:
            is_chosen: a function of a module that tells by neither whether an operation is meant.
        """
        operations = self.operations
        if self.alike is None:
            return [operation for operation in operations if is_chosen(operation)]
        numbers: array[int] | None = self.alike.structure.get(is_chosen)
        if numbers is None:
            numbers = array("l", (n for n, each in enumerate(operations) if is_chosen(each)))
            self.alike.structure[is_chosen] = numbers
        return [operations[number] for number in numbers]

    def operation_at(self, line: int, column: int) -> Operation | None:
        """Return the operation whose name stands at a place; None without one."""
        number = bisect_left(self.operations, (line, column), key=_place)
        standing = self.operations[number : number + 1]
        return standing[0] if [*map(_place, standing)] == [(line, column)] else None

    def _find_operations(self) -> tuple[Operation, ...]:
        return tuple(
            [inner for block in self.body for outer in block.operations for inner in outer.walk()]
        )

    @cached_property
    def skeleton(self) -> Hashable:
        """All that it shares with functions that differ in names, layouts and places alone."""
        return self.alike.skeleton(self) if self.alike is not None else skeleton(self)

    @cached_property
    def values(self) -> Mapping[str, Value]:
        """Every value by its name: parameters, arguments of blocks, results."""
        return self.once("values", Function._find_values)

    def _find_values(self) -> Mapping[str, Value]:
        values = {value.name: value for value in self.arguments}
        for block in self.blocks():
            values.update((value.name, value) for value in block.arguments)
            for operation in block.operations:
                values.update((value.name, value) for value in operation.results)
        return values

    def blocks(self) -> Iterator[Block]:
        """Yield every block, in the order of the text."""
        yield from self.body
        for operation in self.walk():
            for region in operation.regions:
                yield from region

    @property
    def has_uniform_types(self) -> bool:
        """Whether values of one type as written have one layout: none of some has been changed."""
        return True

    def type_of(self, value: Value) -> IRType | None:
        """Return the type of a value with its layout; None for a scalar or an unknown value."""
        text, types = value.text, self._types
        if text not in types:
            types[text] = self.resolve_type(text) if text else None
        return types[text]

    @cached_property
    def _types(self) -> dict[str, IRType | None]:
        return {}

    def location(self, operation: Operation) -> Location | None:
        """Return the location in the user's program; None where the dump has none."""
        return self.resolve_location(operation.location_text) if operation.location_text else None


def _place(operation: Operation) -> tuple[int, int]:
    return operation.line, operation.column


def connect(body: Region) -> None:
    """Give what is in the body of a function its surroundings: owners, uses and positions.

    A value that is used before its definition in one block, as in no valid dump, has none there:
    so no value is computed from itself.
    """
    count = 0
    forward: dict[Operation, None] = {}

    def enter(region: Region) -> None:
        nonlocal count
        region.begin = count
        for block in region:
            block.region = region
            for argument in block.arguments:
                argument.owner = block
            for operation in block.operations:
                operation.block, operation.position = block, count
                count += 1
                for number, operand in enumerate(operation.operands):
                    operand.uses.append(Use(operation, number))
                    if operand.owner is None:
                        forward[operation] = None
                for number, inner in enumerate(operation.regions):
                    inner.owner, inner.number = operation, number
                    enter(inner)
                operation.end = count
                for value in operation.results:
                    value.owner = operation
        region.end = count

    enter(body)
    for operation in forward:
        operation.operands = tuple(
            [_as_defined(Use(operation, number)) for number in range(len(operation.operands))]
        )


def _as_defined(use: Use) -> Value:
    """Return the value of an operand, or one without a definition if that does not precede it."""
    operation, number = use
    value = operation.operands[number]
    definition = value.definition
    if definition is None or definition.block is None:
        return value
    user = operation.ancestor_in(definition.block.region)
    if user is None or user.block is not definition.block or user.position > definition.position:
        return value
    value.uses.remove(use)
    undefined = Value(value.name, value.text)
    undefined.uses.append(use)
    return undefined


def skeleton(function: Function) -> tuple[int, ...]:
    """Return a number for each operation of a function, equal for functions of one skeleton.

    What is concluded from operations and types alone, such as the axis analysis, is the same for
    both.  Configurations of one kernel mostly differ in layouts, and specialisations in a few
    arguments.

        %a = tt.splat %n : i32 -> tensor<64xi32, #blocked>     as in one dump
        %7 = tt.splat %x : i32 -> tensor<64xi32, #blocked3>    as in another, of the same skeleton

    Two functions whose skeletons are equal have as many values, each as `Function.values` has
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
    bones = (_bone(function, operation, numbers) for operation in function.operations)
    return (_number(outside), *map(_number, bones))


def _like(first: tuple[int, ...], function: Function) -> tuple[int, ...]:
    """Return the skeleton of a function that differs from that of another in constants alone."""
    numbers = [*first]
    for operation in function.chosen(_is_its_own):
        if operation.traits.call:
            return skeleton(function)
        numbers[1 + operation.position] = _number(_bone(function, operation, {}))
    return tuple(numbers)


def _is_its_own(operation: Operation) -> bool:
    """Tell whether an operation may differ where texts do in names and constants alone."""
    return operation.traits.constant or operation.traits.call


def _number(bone: Hashable) -> int:
    number = _numbers.get(bone)
    if number is None:
        if len(_numbers) >= MAX_BONES:
            _numbers.clear()
        number = _numbers[bone] = next(_next)  # never again that of another
    return number


def _bone(
    function: Function, operation: Operation, numbers: dict[Value, int]
) -> tuple[Hashable, ...]:
    """Return what is kept of an operation."""
    operands = [numbers.setdefault(value, len(numbers)) for value in operation.operands]
    types = [value.type for value in operation.results]
    attributes = operation.attributes
    kept = tuple(_attributes(function, attributes, numbers)) if attributes else ()
    if operation.regions or operation.successors:
        kept += _surroundings(operation, numbers)
    return operation.name, tuple(operands), tuple(types), kept


def _attributes(
    function: Function, attributes: Mapping[str, Attribute], numbers: Mapping[Value, int]
) -> Iterator[Hashable]:
    """Yield attributes; of one that names a value, its number."""
    for key, attribute in attributes.items():
        kept: Hashable = attribute
        if isinstance(attribute, str):
            value = function.values.get(attribute) if attribute[:1] == "%" else None
            kept = attribute if value is None else (numbers[value],)
        yield key, kept, attribute is True or attribute is False  # 1 is not True


def _surroundings(operation: Operation, numbers: dict[Value, int]) -> tuple[Hashable, ...]:
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
