"""Live ranges of a function's values, and the registers that they take.

Operations are counted in the order of the text, an operation with regions at its beginning and at
its end.  A value takes registers from behind the operation that defines it up to its last use, so
that what dies in an operation gives its registers to the results: the accumulator of a dot to the
sum, a tensor to what it is converted to.  What comes from outside of a loop is live to the loop's
end.

No registers are counted for

- constants and what is computed from ranges, program ids and arguments alone: addresses and
  indices, which the compilers keep as a base and constant offsets;
- masks (``i1``), which are in predicates or scalar registers;
- what only renames registers: broadcasts, transpositions, reshapes.

Beside the live ranges four kinds of values are told apart: accumulators of products, the addresses
of a tensor of pointers that no constant leads to from one another, narrow elements that a loop
hands to its next iteration, and 64-bit indices that comparisons rest on, or that a loop hands on:
a base and a constant offset do not replace them.

An operation that needs its operands whole has them all before it begins: what was moved down to a
scan is live there.  A scan within a warp may go row by row instead, its elements through it as
through elementwise operations.

Source:
    The rules were fitted to what ptxas and LLVM report of kernels compiled by Triton 3.9; see
    docs/registers.md.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import accumulate
from math import prod
from types import MappingProxyType
from typing import Protocol, TypeVar

from tt_layout.hardware.compiler import (
    MOST_COMPARED,
    CompilerModel,
    RegisterDemand,
    RegisterLine,
)
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.ssa import Function, Operation, Region, Value
from tt_layout.ir.ssa.control_flow import control_edges, last_operations
from tt_layout.ir.ssa.graph import reach
from tt_layout.lazy import lazy
from tt_layout.tuples import NamedTuple

SCAN = "tt.scan"
DOT = "tt.dot"
ASYNCHRONOUS_PRODUCT = "ttng.warp_group_dot"
TENSOR_PRODUCTS = ("ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled")
ADDEND = 2
"""Index of a product's accumulator operand."""

WHOLE_SLICES, WHOLE_PRODUCTS = 32, 1024
"""Slices along K, and products of a thread in a loop, from which compilers load operands whole.

They do so without matrix instructions.
"""

ROWS_OF_SLICE = 2
"""Products of an element in a slice of a product of single elements."""

WIDE_WORDS = 2
"""Registers of a global address or a 64-bit index."""

MOST_AHEAD = 128
"""The most registers of loads that are issued together with the first of them."""

EXCHANGES = (MovementKind.CONVERSION, MovementKind.REDUCTION)
"""Movements that need all elements of their operand before the first of their result."""

COMPARISONS = ("arith.cmpi", "arith.minsi", "arith.maxsi", "arith.select")
SCALINGS = ("arith.muli", "arith.shli")
OFFSETS = ("arith.subi", "arith.ori", "arith.xori")
DIVISIONS = ("arith.divf", "math.sqrt", "tt.precise_divf", "tt.precise_sqrt")
HIGH_WORDS = ("tt.mulhiui", "arith.mului_extended")


Key = TypeVar("Key", bound=Hashable)


class ValueSizes(Protocol):
    """Registers and elements that a thread has of a function's values."""

    def words(self, value: Value) -> int:
        """Return the registers of a value; 0 if it takes none."""

    def elements(self, value: Value) -> int:
        """Return the elements of a value; negative for a mask, 0 if not a tensor."""

    def masked_loads(self, value: Value) -> MaskedLoads:
        """Return the instructions of the masked load that gives a value; none of another value."""

    def slices(self, value: Value) -> float:
        """Return the slices along K of a product's operand; 0 for any other value."""

    def is_address(self, value: Value) -> bool:
        """Tell whether a value is a tensor of pointers."""

    def is_wide(self, value: Value) -> bool:
        """Tell whether a value is a tensor of 64-bit integers."""


class MaskedLoads(NamedTuple):
    """Instructions of a thread for a masked load of global memory.

    Attributes:
        instructions: their number.
        is_narrow: whether elements are narrower than a register.
        is_single: whether each loads a single element.
    """

    instructions: int = 0
    is_narrow: bool = False
    is_single: bool = False

    @property
    def singles(self) -> int:
        """Instructions that load a single element each."""
        return self.instructions if self.is_single else 0


class LiveRange(NamedTuple):
    """A value that takes registers.

    Attributes:
        value: the value.
        begin: the number of the operation that defines it.
        end: the number of the operation that uses it last.
        words: registers of 32 bits that each thread needs for it.
        part: fraction of them that is live at once: less than 1 for values that are consumed as
            they arrive, or loaded in slices.
    """

    value: Value
    begin: int
    end: int
    words: int
    part: float


class _Range(NamedTuple):
    """A live range of a numbered value."""

    value: int
    begin: int
    end: int
    words: int
    part: float


class MovedTensors:
    """Operations of a body that move tensors; values are numbers.

    The live ranges of a dump follow its text.  The compilers issue loads ahead, keep what comes out
    of an exchange beside what goes in, and work on several elements of a long computation at once;
    how far they go depends on how many there are.
    """

    def __init__(self) -> None:
        self._loaded: list[tuple[tuple[int, ...], int]] = []
        self._stored: list[int] = []
        self._exchanged: list[int] = []
        self._functions: list[int] = []
        self._divisions: list[int] = []
        self._random: list[int] = []
        self._unpacked: list[tuple[int, int]] = []

    def add(
        self,
        operation: Operation,
        operands: Sequence[int],
        results: Sequence[int],
        loops: tuple[int, ...],
    ) -> None:
        """Add an operation, with its values and the loops that it is in."""
        traits = operation.traits
        if traits.is_global_load and results:
            self._loaded.append((loops, results[0]))
        elif traits.is_global_store:
            self._stored += operands[1:2]
        elif traits.same_elements or traits.shared_read:
            self._exchanged += results
        elif traits.long_function:
            self._functions += results
        elif operation.name in DIVISIONS:
            self._divisions += results
        elif operation.name in HIGH_WORDS:
            self._random += results
        elif traits.integer_to_float:
            self._unpacked += zip(operands, results)

    def words(
        self,
        words_of: Callable[[int], int],
        elements_of: Callable[[int], int],
        loads_of: Callable[[int], MaskedLoads],
    ) -> RegisterDemand:
        """Return the registers of moved tensors, without those of live ranges.

        Args:
            words_of: returns the registers of a value.
            elements_of: returns the elements of a thread; 0 if the value is not a tensor.
            loads_of: returns the instructions of the masked load that gives a value.
        """
        in_loops = Counter(loops for loops, value in self._loaded if elements_of(value))
        singles, ahead, guarded = Counter[tuple[int, ...]](), 0, 0
        for loops, value in self._loaded:
            masked, words = loads_of(value), words_of(value)
            beside = max(0, masked.instructions - words) if masked.is_narrow else 0
            guarded += beside
            singles[loops] += masked.singles
            ahead += words + beside if not loops else 0
        unpacked = [
            words_of(result)
            for value, result in self._unpacked
            if words_of(value) < words_of(result)
        ]
        return RegisterDemand(
            live=0,
            loads=max(in_loops.values(), default=0),
            loaded=sum(words_of(value) for _, value in self._loaded),
            stored=max(map(words_of, self._stored), default=0),
            exchanged=sum(map(words_of, self._exchanged)),
            functions=max(map(elements_of, self._functions), default=0),
            divisions=max(map(elements_of, self._divisions), default=0),
            random=max(map(elements_of, self._random), default=0),
            unpacked=max(unpacked, default=0),
            guarded=guarded,
            singles=max(singles.values(), default=0),
            ahead=ahead,
        )


class LiveRanges(NamedTuple):
    """Live ranges in a body: of a function, or of a partition of warps.

    Attributes:
        ranges: ranges of the values that take registers.
        operations: the operations, numbered from 1 on.
        partitions: the warp-specialising operations, in the order of the text.
        has_rows: whether there are scans of several rows.
        line: model of allocated registers from live ones, for a kernel of its kind.
        indices: ranges of indices, addresses and masks; their words are elements.
        accumulators: ranges of accumulators.
        addresses: ranges of addresses that do not differ from one another by constants.
        carried: ranges of loop-carried narrow elements, without accumulators.
        compared: ranges of compared or loop-carried 64-bit indices.
        traffic: elements that are loaded, stored, exchanged and computed step by step.
        whole: operations that need whole operands: number, results, whether it multiplies.
        recomputed: values that need not be held for these -> what is held instead; None for what is
            in shared memory.
    """

    ranges: tuple[LiveRange, ...]
    operations: tuple[Operation, ...]
    partitions: tuple[Operation, ...]
    has_rows: bool
    line: RegisterLine
    indices: Sequence[LiveRange | _Range] = ()
    accumulators: Sequence[LiveRange | _Range] = ()
    addresses: Sequence[LiveRange | _Range] = ()
    carried: Sequence[LiveRange | _Range] = ()
    compared: Sequence[LiveRange | _Range] = ()
    traffic: RegisterDemand = RegisterDemand(live=0)
    whole: tuple[tuple[int, tuple[Value, ...], bool], ...] = ()
    recomputed: Mapping[Value, Value | None] = MappingProxyType({})

    @property
    def lines(self) -> tuple[int, ...]:
        """The line of each number."""
        return (0, *[operation.line for operation in self.operations])

    def demand(self, needed: Sequence[int]) -> RegisterDemand:
        """Return the demand for registers where most are live.

        Args:
            needed: `needed` of the ranges.
        """
        groups = (self.accumulators, self.addresses, self.carried, self.compared)
        sums, addresses, carried, compared = (round(max(self.sums(group))) for group in groups)
        most = self.line.most_addresses
        return self.traffic._replace(
            live=max(needed),
            accumulators=sums,
            addresses=addresses if most is None else min(most, addresses),
            carried=carried,
            compared=min(MOST_COMPARED, compared),
        )

    @property
    def needed(self) -> list[int]:
        """The registers needed after each operation, with indices and masks."""
        most = self.line.most_indices
        pairs = zip(self.sums(self.ranges), self.sums(self.indices))
        return [round(data + min(indices, most)) for data, indices in pairs]

    @property
    def live(self) -> list[int]:
        """The registers of data tensors after each operation."""
        return [round(words) for words in self.sums(self.ranges)]

    def sums(self, ranges: Iterable[LiveRange | _Range]) -> Iterator[float]:
        """Yield the registers that ranges take, before the body and after each operation."""
        # A value may live to the end, in no valid dump.
        changes = [0.0] * (len(self.operations) + 2)
        for live_range in ranges:
            words = live_range.words * live_range.part
            changes[live_range.begin] += words
            changes[live_range.end] -= words
        return accumulate(changes[:-1])


def live_ranges(
    function: Function, body: Region, sizes: ValueSizes, model: CompilerModel, *, by_row: bool
) -> LiveRanges:
    """Return the live ranges that take registers in a body.

    Args:
        function: the function.
        body: the blocks of the function or of a partition.
        sizes: registers and elements of its values.
        model: rules by which the compiler moves operations.
        by_row: whether scans of several rows go through them one by one.
    """
    walk, operations, values = _walked(function, body, model, by_row=by_row)

    def words_of(number: int) -> int:
        return sizes.words(values[number])

    def elements_of(number: int) -> int:
        return sizes.elements(values[number])

    ranges, indices = walk.ranges(
        words_of, lambda number: sizes.slices(values[number]), elements_of
    )
    addresses = [index for index in indices if sizes.is_address(values[index.value])]
    separate = walk.derivations.separate([address.value for address in addresses], elements_of)

    return LiveRanges(
        ranges=tuple(
            [
                LiveRange(values[number], begin, end, words, part)
                for number, begin, end, words, part in ranges
            ]
        ),
        operations=tuple([operations[number] for number in walk.counted]),
        partitions=tuple([operations[number] for number in walk.partitions]),
        has_rows=walk.has_rows,
        line=walk.line,
        indices=indices,
        accumulators=[data for data in ranges if data.value in walk.accumulators],
        addresses=[
            address._replace(
                words=WIDE_WORDS * separate.get(address.value, address.words), part=1.0
            )
            for address in addresses
        ],
        carried=[
            data
            for data in ranges
            if data.value in walk.carried
            and data.value not in walk.accumulators
            and data.words < elements_of(data.value)
        ],
        compared=[
            index._replace(words=WIDE_WORDS * index.words, part=1.0)
            for index in indices
            if index.value in walk.compared and sizes.is_wide(values[index.value])
        ],
        traffic=walk.traffic.words(
            words_of, elements_of, lambda number: sizes.masked_loads(values[number])
        ),
        whole=tuple(
            [
                (number, tuple([values[result] for result in results]), multiplies)
                for number, results, multiplies in walk.whole
            ]
        ),
        recomputed={
            values[result]: values[source] if source is not None else None
            for result, source in walk.recomputed
        },
    )


class _Product(NamedTuple):
    """A product without matrix instructions.

    Attributes:
        result: the sums.
        operands: what is multiplied.
        is_fresh: whether it is added to a constant: no order of the additions is given then.
        is_in_loop: whether it is in a loop.
    """

    result: int
    operands: Sequence[int]
    is_fresh: bool
    is_in_loop: bool


class Numbers(dict[Key, int]):
    """Numbers of hashable keys, in the order of first use."""

    def __init__(self, first: Iterable[Key] = ()) -> None:
        super().__init__((key, number) for number, key in enumerate(first))

    def __missing__(self, key: Key) -> int:
        number = self[key] = len(self)
        return number


def _walked(
    function: Function, body: Region, model: CompilerModel, *, by_row: bool
) -> tuple[_Walk, Sequence[Operation], Sequence[Value]]:
    """Return the walk through a body, and the operations and values that it numbers.

    Functions that differ only in names and constants share it.
    """
    alike, defined = function.alike, [*function.values.values()]
    key = "live ranges", body.begin, model, by_row
    if alike is not None and key in alike.structure:
        return alike.structure[key], function.operations, defined
    is_shared = alike is not None
    values = Numbers(defined if is_shared else ())
    operations = Numbers(function.operations if is_shared else ())
    walk = _Walk(model, values, operations, by_row=by_row)
    walk.enter(body)
    if alike is None or len(values) > len(defined):  # the dump leaves out definitions
        return walk, [*operations], [*values]
    walk.forget()
    alike.structure[key] = walk
    return walk, function.operations, defined


class Derivations:
    """Derivations of indices and addresses from one another; values are numbers."""

    def __init__(self) -> None:
        self._derivations: dict[int, _Derivation] = {}
        self._constants: set[int] = set()

    def add(
        self,
        operation: Operation,
        used: Sequence[int],
        results: Sequence[int],
        handed: Iterable[tuple[int, int]] = (),
    ) -> None:
        """Add an operation with its values and the pairs it passes; loops before their bodies."""
        derivations, constants = self._derivations, self._constants
        for passed, received in handed:
            if passed in derivations:  # what a loop begins with
                derivations.setdefault(received, _Derivation((passed,), is_bounded=False))
        traits = operation.traits
        if traits.constant or (traits.shape and constants.issuperset(used)):
            constants.update(results)
        is_scaled = operation.name in SCALINGS and not constants.isdisjoint(used)
        is_moved = traits.shape or traits.integer_cast or traits.same_elements
        is_sum = traits.integer_sum or traits.pointer_sum or operation.name in OFFSETS
        for result in results:
            if traits.source:
                derivations[result] = _Derivation((), is_bounded=False)
            elif (is_scaled or is_moved or is_sum) and used:
                derivations[result] = _Derivation(tuple(used))
            else:
                derivations.setdefault(result, _Derivation(None))

    def separate(self, values: Iterable[int], elements_of: Callable[[int], int]) -> dict[int, int]:
        """Return the number of elements of a thread that do not differ by constants.

        Args:
            values: indices or addresses.
            elements_of: returns the elements of a thread, of any sign; 0 if not a tensor.

        Returns:
            Value -> number, for these values and those that they are computed from.
        """

        def factors(value: int) -> Sequence[int]:
            derivation = self._derivations.get(value)
            return (derivation.factors or ()) if derivation is not None else ()

        needed, separate = set(reach(values, factors)), dict[int, int]()

        def elements(value: int) -> int:
            return max(1, abs(elements_of(value)))

        for value, (factors_of_value, is_bounded) in self._derivations.items():
            if value not in needed:
                continue
            if factors_of_value is None:
                separate[value] = elements(value)
                continue
            number = prod([separate.get(factor) or elements(factor) for factor in factors_of_value])
            separate[value] = min(elements(value), number) if is_bounded else number
        return separate


class _Derivation(NamedTuple):
    """Number of a value's elements in a thread that do not differ by constants.

    Attributes:
        factors: the values whose numbers are multiplied; None for all elements.
        is_bounded: whether the number of all elements is an upper bound.
    """

    factors: Sequence[int] | None
    is_bounded: bool = True


class _Walk:
    """The operations of a body, counted; values and operations are numbers.

    Args:
        model: rules by which the compiler moves operations.
        values, operations: their numbers.
        by_row: whether scans of several rows go through them one by one.
    """

    def __init__(
        self,
        model: CompilerModel,
        values: Numbers[Value],
        operations: Numbers[Operation],
        *,
        by_row: bool,
    ) -> None:
        self._values, self._operations = values, operations
        self.counted: list[int] = []
        self.partitions: list[int] = []
        self.has_rows = False
        self.carried: set[int] = set()
        self.derivations = Derivations()
        self.traffic = MovedTensors()
        self.whole: list[tuple[int, Sequence[int], bool]] = []
        self.recomputed: list[tuple[int, int | None]] = []
        self._sums: list[int] = []
        self._compared: list[int] = []
        self._sources: dict[int, Sequence[int]] = {}
        self._handed: dict[int, list[int]] = {}
        self._is_asynchronous = self._is_in_tensor_memory = False
        self._model = model
        self._by_row = by_row
        self._begins: dict[int, int] = {}
        self._homes: dict[int, tuple[int, ...]] = {}
        self._makers: dict[int, tuple[bool, int]] = {}
        self._uses: list[tuple[int, int, tuple[int, ...]]] = []
        self._renamed: dict[int, int] = {}
        self._loops: tuple[int, ...] = ()
        self._loop_ends: dict[int, int] = {}
        self._stretch = 0
        self._stretches: dict[int, int] = {}
        self._edges: dict[int, list[int]] = {}
        self._kept: list[int] = []
        self._sinkable: list[tuple[int, int, Sequence[int], bool]] = []
        self._scans: set[int] = set()
        self._dots: list[int] = [0]
        self._products: list[_Product] = []
        self._has_products = self._has_accesses_in_loops = False
        self._streamed: set[int] = set()
        self._from_shared: set[int] = set()
        self._stores = 0
        self._first_loads: dict[tuple[tuple[int, ...], int, int], int] = {}
        self._gathered: dict[int, tuple[int, Sequence[int]]] = {}

    def forget(self) -> None:
        """Drop the values and operations behind the numbers, so that functions share the walk."""
        self._values, self._operations = Numbers(), Numbers()

    def enter(self, region: Region) -> None:
        for block in region:
            for operation in block.operations:
                self._visit(operation)

    def _visit(self, operation: Operation) -> None:
        name, traits, values = operation.name, operation.traits, self._values
        operands = [values[value] for value in operation.operands]
        results = [values[value] for value in operation.results]
        handed = [
            (values[passed], values[received])
            for edge in control_edges(operation)
            for passed, received in zip(edge.passed, edge.received)
        ]
        self.derivations.add(operation, operands, results, handed)
        self.traffic.add(operation, operands, results, self._loops)
        if name in COMPARISONS:
            self._compared += operands
        if not (traits.pointer_sum or traits.is_global_load):
            self._sources.update(dict.fromkeys(results, operands))
        goes_by_row = name == SCAN and self._scans_rows(operation)
        is_elementwise = goes_by_row or traits.by_thread
        is_barrier = not is_elementwise and not traits.streams
        self._stretch += is_barrier
        number = self._count(operation)
        self._stretches[number] = self._stretch
        renamed, used = self._renamed_by(operation, operands)
        self._uses += [(value, number, self._loops) for value in used]
        if name == SCAN and not goes_by_row:
            self._scans.add(number)
        elif name == DOT:
            self._dots.append(number)
            addends = [value.definition for value in operation.operands[ADDEND:]]
            is_fresh = all(addend is not None and addend.traits.constant for addend in addends)
            self._products += [
                _Product(result, operands[:ADDEND], is_fresh, bool(self._loops))
                for result in results[:1]
            ]
        self._note_recomputed(operation, operands, results)
        self._has_products |= traits.multiplies or name in TENSOR_PRODUCTS
        self._is_asynchronous |= name == ASYNCHRONOUS_PRODUCT
        self._is_in_tensor_memory |= name in TENSOR_PRODUCTS
        if traits.multiplies:
            self._sums += (*results, *operands[ADDEND : ADDEND + 1])
        if self._loops and (traits.is_global_load or traits.is_global_store):
            self._has_accesses_in_loops = True
        if traits.partitions:
            self.partitions.append(self._operations[operation])
        if operation.regions and traits.is_structured:
            self._enter_regions(operation, handed)
        if renamed is not None:
            self._renamed[results[0]] = self._root(renamed)
        self._define_results(operation, operands, results, number, is_elementwise)
        self._stretch += is_barrier

    def _note_recomputed(
        self, operation: Operation, operands: Sequence[int], results: Sequence[int]
    ) -> None:
        if operation.traits.by_thread and len(operands) == 1:
            self.recomputed += [(result, operands[0]) for result in results]
        elif operation.traits.shared_read:
            self.recomputed += [(result, None) for result in results]

    def _scans_rows(self, operation: Operation) -> bool:
        """Tell whether a scan goes row by row."""
        has_rows = any(len(result.type.shape) > 1 for result in operation.results)
        self.has_rows |= has_rows
        return has_rows and self._by_row

    def _renamed_by(
        self, operation: Operation, operands: Sequence[int]
    ) -> tuple[int | None, Sequence[int]]:
        """Return the operand that an operation only renames, if any, and those that it needs.

        Users of the result need the renamed operand instead.
        """
        renamed, used = None, operands
        if operation.results and _chooses_again(operation):
            renamed, used = operands[1], ()
        elif operation.results and _is_renaming(operation) and operands:
            renamed, used = operands[0], operands[1:]
        # What is defined before: names form no circle.
        return (renamed, used) if renamed in self._begins else (None, operands)

    def _define_results(
        self,
        operation: Operation,
        operands: Sequence[int],
        results: Sequence[int],
        number: int,
        is_elementwise: bool,
    ) -> None:
        name, traits = operation.name, operation.traits
        self._stores += traits.is_global_store
        for value in results:
            self._define(value, is_elementwise)
        if traits.is_global_load and results:
            place = self._loops, self._stretch, self._stores
            first = self._first_loads.setdefault(place, number)
            self._gathered[results[0]] = first, operands
            if self._loops:
                self._streamed.add(results[0])
        if _reads_shared(operation):
            self._from_shared.update(results)
        if traits.by_thread and not traits.integer_to_float:
            if name != "tt.splat":
                self._relate(operands, results)
        elif not traits.is_structured:
            self._kept += results
        if results and self._sinks(operation, is_elementwise):
            self._sinkable.append((results[0], number, operands, _reads_shared(operation)))

    def _sinks(self, operation: Operation, is_elementwise: bool) -> bool:
        """Tell whether the compiler sinks an operation; scans are sunk only if done row by row."""
        if operation.name == SCAN:
            return is_elementwise and self._model.sinks_scans
        return is_elementwise or (self._model.sinks_shared_loads and _reads_shared(operation))

    def _enter_regions(self, operation: Operation, handed: Iterable[tuple[int, int]]) -> None:
        outer, at = self._loops, self._operations[operation]
        if operation.traits.loop:
            self._loops = (*outer, at)
        regions = operation.regions[:1] if operation.traits.partitions else operation.regions
        for region in regions:
            for block in region:
                arguments = [self._values[argument] for argument in block.arguments]
                for argument in arguments:
                    self._define(argument, is_elementwise=False)
                if operation.traits.loop:
                    self.carried.update(arguments)
            self.enter(region)
        self._loop_ends[at] = self._count(operation)
        self._loops = outer
        self._stretch += 1
        for passed, received in handed:
            self._relate((passed,), (received,))
            self._handed.setdefault(passed, []).append(received)
            self._handed.setdefault(received, []).append(passed)

    def _count(self, operation: Operation) -> int:
        self.counted.append(self._operations[operation])
        number, multiplies = len(self.counted), operation.traits.multiplies
        movement = operation.movement
        if multiplies or (movement is not None and movement.kind in EXCHANGES):
            results = [self._values[result] for result in operation.results]
            self.whole.append((number, results, multiplies))
        return number

    def _define(self, value: int, is_elementwise: bool) -> None:
        self._begins[value] = len(self.counted)
        self._homes[value] = self._loops
        self._makers[value] = is_elementwise, self._stretch

    def _relate(self, passed: Sequence[int], received: Sequence[int]) -> None:
        """Note that values are data if their sources are."""
        for value in passed:
            self._edges.setdefault(value, []).extend(received)

    @property
    def line(self) -> RegisterLine:
        """The model of allocated registers from live ones, for a kernel of its kind."""
        model = self._model
        if self._is_in_tensor_memory:
            return model.tensor_memory or model.products
        if self._is_asynchronous:
            return model.asynchronous or model.products
        if self._has_products:
            return model.products
        return model.loops if self._has_accesses_in_loops else model.straight

    @lazy
    def accumulators(self) -> Set[int]:
        """The accumulators, including the loop-carried ones."""
        seeds = [self._root(value) for value in self._sums]
        return {*reach(seeds, lambda value: self._handed.get(value, ()))}

    @lazy
    def compared(self) -> Set[int]:
        """The values behind comparisons of integers, and loop-carried ones."""
        return {*reach(self._compared, lambda value: self._sources.get(value, ())), *self.carried}

    def ranges(
        self,
        words_of: Callable[[int], int],
        slices_of: Callable[[int], float],
        elements_of: Callable[[int], int],
    ) -> tuple[list[_Range], list[_Range]]:
        """Return the live ranges of the values that take registers, and those of indices."""
        ends, data = dict(self._ends), self._data
        begins = self._sunk(ends, words_of)
        for_products = self._for_products - self._loaded_whole(words_of, slices_of)
        line, ranges, indices = self.line, list[_Range](), list[_Range]()
        ahead = Counter[int]()
        for value in self._begins:
            begin, end = begins[value], ends.get(value, 0)
            if end <= begin or value in self._renamed:
                continue
            words = words_of(value) if value in data else 0
            if words:
                slices = slices_of(value) if value in for_products else 0
                part = self._part(value, end, slices)
                ranges.append(_Range(value, begin, end, words, part))
                first = self._first_load(value, data) if line.together else None
                if first is not None and first < begin and value not in self._streamed:
                    early = min(round(words * line.together), MOST_AHEAD - ahead[first])
                    ahead[first] += early
                    ranges.append(_Range(value, first, begin, early, part))
            elif (line.most_indices or value in self.carried) and (elements := elements_of(value)):
                part = line.indices if elements > 0 else line.masks
                indices.append(_Range(value, begin, end, abs(elements), part))
        return ranges, indices

    @lazy
    def _data(self) -> frozenset[int]:
        """Return the values that depend on more than indices."""
        return frozenset(reach(self._kept, lambda value: self._edges.get(value, ())))

    @lazy
    def _ends(self) -> Mapping[int, int]:
        """Return the number of the last operation that needs each value."""
        ends: dict[int, int] = {}
        for used, number, loops in self._uses:
            value = self._root(used)
            home = self._homes.get(value, ())
            # Beyond the loops that both are in, the value is needed in every iteration.
            for loop in loops[len(home) :][:1]:
                number = self._loop_ends[loop]
            if number > ends.get(value, 0):
                ends[value] = number
        return ends

    @lazy
    def _sinking(self) -> Sequence[tuple[int, int, Sequence[int], bool]]:
        """The operations that may be sunk, the last first.

        Each is its result, number, the operand that would have to live longer, if any, and whether
        it reads memory.
        """
        sinking: list[tuple[int, int, Sequence[int], bool]] = []
        for result, number, taken, reads_memory in reversed(self._sinkable):
            # What reads memory has its operands there by then.
            operands = () if reads_memory else self._data.intersection(map(self._root, taken))
            if len(operands) <= 1 and result not in self._renamed:
                sinking.append((result, number, tuple(operands), reads_memory))
        return sinking

    def _sunk(self, ends: dict[int, int], words_of: Callable[[int], int]) -> dict[int, int]:
        """Return the begin of each value, sunk to its first use if that saves registers.

        It does if at most one operand has to live longer for it, and takes no more registers.
        """
        begins = dict(self._begins)
        first = dict(self._first_uses)
        for result, number, operands, reads_memory in self._sinking:
            use = first.get(result)
            if use is None or use <= number:
                continue
            words = words_of(result)
            if not words:
                continue
            for used in operands:
                if used not in self._begins or words_of(used) > words:
                    break
                ends[used] = max(ends.get(used, 0), use)
                first[used] = min(first.get(used, use), use) if first.get(used) != number else use
            else:
                begins[result] = self._moved_to(use, number, reads_memory)
        return begins

    def _moved_to(self, use: int, number: int, reads_memory: bool) -> int:
        """Return the begin of a value that is sunk to its first use."""
        if not reads_memory:
            return use - (use in self._scans)
        at = bisect_left(self._dots, use)
        if at < len(self._dots) and self._dots[at] == use:  # loaded during the dot before
            return max(number, self._dots[at - 1] - 1)
        return use - 1

    def _first_load(self, value: int, data: Set[int]) -> int | None:
        """Return the first load that a load can be issued together with; None without one."""
        first, used = self._gathered.get(value, (None, ()))
        return None if data & set(map(self._root, used)) else first

    @lazy
    def _first_uses(self) -> Mapping[int, int]:
        """Return the number of the first operation that needs each value, in its own loop."""
        first: dict[int, int] = {}
        for used, number, loops in self._uses:
            value = self._root(used)
            if loops != self._homes.get(value):
                number = 0
            first[value] = min(first.get(value, number), number)
        return first

    def _root(self, value: int) -> int:
        return self._renamed.get(value, value)

    def _part(self, value: int, end: int, slices: float) -> float:
        """Return the fraction of a value that is live at once.

        Args:
            value: the value.
            end: the operation that uses it last.
            slices: slices along K that a product reads in turn; 0 if it is not such an operand.
        """
        if slices:
            return min(1.0, self._model.slices / slices)
        if value in self._streamed and not self._has_products:
            return self.line.streamed
        is_elementwise, stretch = self._makers[value]
        last = self._stretches.get(end)
        is_passing = is_elementwise and last is not None and last - stretch in (0, 1)
        return self.line.passing if is_passing else 1.0

    @lazy
    def _for_products(self) -> Set[int]:
        """Return the values that are loaded from shared memory for products alone."""
        if not (self._model.slices and len(self._dots) > 1):
            return set()
        dots = set(self._dots[1:])
        others = {self._root(used) for used, number, _ in self._uses if number not in dots}
        return self._from_shared - others

    def _loaded_whole(
        self, words_of: Callable[[int], int], slices_of: Callable[[int], float]
    ) -> Set[int]:
        """Return the operands of products of single elements that are loaded whole."""
        model, whole = self._model, set[int]()
        for product in self._products:
            sums = words_of(product.result)
            for operand in product.operands:
                slices = slices_of(operand)
                products = ROWS_OF_SLICE * slices * sums
                is_many = product.is_fresh and 0 < model.whole_sums <= sums
                if model.whole_in_loops and product.is_in_loop:
                    is_many |= products >= WHOLE_PRODUCTS
                if is_many and slices >= WHOLE_SLICES:
                    whole.add(self._root(operand))
        return whole


def _chooses_again(operation: Operation) -> bool:
    """Tell whether a select repeats the branch before it, so that compilers drop it.

        %sum = scf.if %c { .. scf.yield %more } else { scf.yield %so_far }
        %chosen = arith.select %c, %sum, %so_far

    AMD's pipeliner writes it behind its loops.
    """
    if not operation.traits.select or len(operation.operands) != 3:
        return False
    condition, chosen, other = operation.operands
    branch = chosen.definition
    if branch is None or branch.operands != (condition,) or len(branch.regions) != 2:
        return False
    number, (_, otherwise) = branch.results.index(chosen), branch.regions
    handed = [last.operands[number : number + 1] for last in last_operations(otherwise)]
    return (other,) in handed


def _reads_shared(operation: Operation) -> bool:
    """Tell whether an operation reads shared memory, itself or within a conversion."""
    return operation.traits.shared_read or operation.traits.same_elements


def _is_renaming(operation: Operation) -> bool:
    return operation.traits.renames or operation.traits.forwards
