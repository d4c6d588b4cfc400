"""Operations that move data between layouts: their types, sources and destinations."""

from __future__ import annotations

from collections.abc import Sequence

from tt_layout.encodings import Encoding, SharedEncoding
from tt_layout.enums import MemorySpace
from tt_layout.ir.data_movements import (
    DATA_MOVEMENTS,
    EITHER,
    GLOBAL,
    MEMORY,
    OPERATIONS,
    REGISTERS,
    DataMovement,
    Family,
    MovementKind,
    OperationRow,
)
from tt_layout.ir.types import IRType
from tt_layout.mlir.types import POINTER_BITS, element_bits
from tt_layout.tuples import NamedTuple


class Location(NamedTuple):
    """A location in the user's program."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class MovedTypes(NamedTuple):
    """The types in the text of an operation that moves data, operands' before results'.

    Attributes:
        texts: as written, in their order.
        before: how many of them stand before the last arrow; all of them without one.
    """

    texts: tuple[str, ...]
    before: int


class OperationPosition(NamedTuple):
    """Position of an operation in its module, which equal modules share wherever they stand.

    Attributes:
        function: which of the module's functions it is in; None outside of any.
        number: how many operations of the function begin before it; outside of functions, how
            many names of data movements of the module.
    """

    function: int | None
    number: int


class MovementOperation(NamedTuple):
    """An operation that moves data.

    Attributes:
        name: its name with the dialect, such as ``ttg.convert_layout``.
        function: the function that it is in; None outside any.
        position: its position in the module.
        line, column: where its name stands in the source, from 1.
        location: the location in the user's program; None where the dump has none.
        types: types of its operands and results, in the order written.
        source: the type whose data moves; None for global memory, or nothing.
        target: the type that receives it; None for global memory.

        The source of a copy from global to shared memory is the type of its pointers.
    """

    name: str
    function: str | None
    position: OperationPosition
    line: int
    column: int
    location: Location | None
    types: tuple[IRType, ...]
    source: IRType | None
    target: IRType | None

    @property
    def movement(self) -> DataMovement:
        """The data movement of the operation."""
        movement = self.row.movement
        assert movement is not None
        return movement

    @property
    def row(self) -> OperationRow:
        """The table row of its name."""
        return OPERATIONS[self.name.rpartition(".")[2]]

    @property
    def family(self) -> Family | None:
        """Its cost family; layouts take precedence over the name."""
        family = self.row.family
        if family is Family.CONVERSION and self.group is not MovementKind.CONVERSION:
            return Family.SHARED
        is_bare = family is Family.SHARED and self.group is MovementKind.ALLOCATION
        return None if is_bare else family

    @property
    def group(self) -> MovementKind:
        """Its category in totals; layouts take precedence over the name."""
        movement = self.movement
        if movement.kind is MovementKind.LOCAL_STORE and self.source is None:
            return MovementKind.ALLOCATION
        if movement.kind is MovementKind.LOCAL_STORE and is_pointer(self.source):
            return MovementKind.COPY_IN  # insert_slice of 2022 and 2.0 loads what it stores
        if movement.kind is MovementKind.CONVERSION:
            memories = in_memory(self.source), in_memory(self.target)
            if memories == (False, True):
                return MovementKind.LOCAL_STORE
            if memories == (True, False):
                return MovementKind.LOCAL_LOAD
        return movement.kind

    @property
    def memory(self) -> IRType | None:
        """The type in shared or tensor memory of a local load or store, or of a copy."""
        return self.source if self.group is MovementKind.LOCAL_LOAD else self.target

    @property
    def moved(self) -> IRType | None:
        """The type that determines the amount of data: that of the tensor, or else of memory."""
        if self.group is MovementKind.ALLOCATION:
            return None
        types = self.source, self.target
        return next((t for t in types if t is not None and t.is_tensor), types[1] or types[0])

    @property
    def bytes(self) -> int | None:
        """Bytes moved in one execution; None where the element type does not determine it."""
        if self.group is MovementKind.ALLOCATION:
            return 0
        if self.movement.is_fused:
            sizes = [type_bytes(ir_type) for ir_type in self.types if ir_type.is_memory]
            determined = [size for size in sizes if size is not None]
            return sum(determined) if len(determined) == len(sizes) else None
        if self.moved is not None and self.group is MovementKind.CONVERSION:
            bits = moved_bits(self.moved)
            return None if bits is None else self.moved.elements * max(1, bits // 8)
        return type_bytes(self.moved) if self.moved is not None else None


def moved_bits(ir_type: IRType) -> int | None:
    """Return the width of an element in registers, for a pointer its own width; None if unknown."""
    return POINTER_BITS if is_pointer(ir_type) else ir_type.element_bits


def is_pointer(ir_type: IRType | None) -> bool:
    """Tell whether the elements of a type are pointers."""
    return ir_type is not None and ir_type.element_type.startswith("!tt.ptr")


def in_memory(ir_type: IRType | None) -> bool:
    """Tell whether a value of the type is in shared or tensor memory."""
    return ir_type is not None and (
        ir_type.is_memory or isinstance(ir_type.encoding, SharedEncoding)
    )


def type_bytes(ir_type: IRType) -> int | None:
    """Return the size of a value in bytes; for pointers, that of the elements they point to.

    Elements narrower than a byte count as one byte.
    """
    bits = element_bits(ir_type.moved_element)
    return None if bits is None else ir_type.elements * max(1, bits // 8)


def source_and_target(
    name: str, types: Sequence[IRType], arrow: int
) -> tuple[IRType | None, IRType | None]:
    """Return source and target of an operation from its types.

    Args:
        name: its name without the dialect.
        types: types of operands and results, in the order written.
        arrow: the number of types before the last arrow; all of them without one.
    """
    movement = DATA_MOVEMENTS[name]
    before, after = list(types[:arrow]), list(types[arrow:])
    if movement.source == EITHER:
        return (before[0] if before else None), (types[-1] if types else None)
    if movement.source == movement.target:  # a barrier's type may stand behind theirs
        memories = [t for t in types if in_memory(t)]
        return (memories[0], memories[1]) if len(memories) > 1 else (None, None)
    # Behind the arrow of 3.9's buffer_store stands the value that is stored, no result.
    stores = movement.source == REGISTERS and movement.target == GLOBAL
    source = _source(movement, types if stores else before)
    target = _target(movement, before, after)
    return source, target


def _source(movement: DataMovement, operands: Sequence[IRType]) -> IRType | None:
    tensors = [t for t in operands if t.is_tensor and not in_memory(t)]
    if movement.source == REGISTERS:
        if tensors and movement.is_indexed:
            return tensors[min(1, len(tensors) - 1)]  # a mask may follow
        if movement.target == GLOBAL and len(tensors) > 1 and "ptr" in tensors[0].element_type:
            return tensors[1]
        return tensors[0] if tensors else None
    if movement.source == MEMORY:
        return _moved_memory(operands)
    # What is fetched from global memory into shared memory is named by a tensor of pointers.
    has_pointers = movement.target == MEMORY and not movement.is_indexed
    return tensors[0] if tensors and has_pointers else None


def _target(
    movement: DataMovement, before: Sequence[IRType], after: Sequence[IRType]
) -> IRType | None:
    if movement.target == REGISTERS:
        # Until 3.9 the one type of a load is that of the pointers, or of the result.
        return next((t for t in (*after, *before) if t.is_tensor), None)
    if movement.target == MEMORY:
        return _moved_memory([*before, *after])
    return None


def _moved_memory(types: Sequence[IRType]) -> IRType | None:
    """Return the last memdesc type; that of a barrier only if there is no other."""
    memories = [t for t in types if in_memory(t)]
    data = [t for t in memories if t.element_type != "i64" or len(t.shape) > 1]
    return next(reversed(data or memories), None)


def layout_of(ir_type: IRType | None) -> str:
    """Return the name in reports of the layout at one end of a data movement."""
    if ir_type is None:
        return str(MemorySpace.GLOBAL)
    return ir_type.layout or ("no layout" if ir_type.shape else "scalar")


def attribute_of(ir_type: IRType | None) -> str:
    """Return the layout with aliases expanded, so that two dumps can be compared."""
    if ir_type is None:
        return str(MemorySpace.GLOBAL)
    if isinstance(ir_type.encoding, Encoding):
        return str(ir_type.encoding)
    return layout_of(ir_type)
