"""Width and number of the instructions of an access to global memory.

A thread moves several elements with one instruction where all of these allow it, along the
dimension that its registers follow first:

=================  ==========================================================================
``layout``         the elements that it holds next to each other
``contiguity``     the elements that are known to lie next to each other in memory
``divisibility``   the elements that the address is known to be a multiple of
``mask``           the elements over which the mask is known to be the same
``memory``         of a copy to or from shared memory, the elements next to each other there
``instruction``    the widest that there is
=================  ==========================================================================

Source:
    Triton, lib/Analysis/AxisInfo.cpp (getContiguity, getAlignment, getMaskAlignment) and
    LoadStoreOpToLLVM.cpp of third_party/nvidia and third_party/amd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.global_memory.global_access import (
    MAX_VECTOR_BYTES,
    fastest_dimension,
    neighbours_along,
)
from tt_layout.analyses.shared_memory.access import access_map, compiler_vector
from tt_layout.audit.axis import AxisInfo, SupposedInfo, unhinted_axis_info
from tt_layout.audit.global_memory.access_shape import AccessShape, Addresses
from tt_layout.audit.global_memory.constant_masks import ConstantMasks
from tt_layout.audit.global_memory.instructions import ThreadAccess, access_instruction
from tt_layout.audit.global_memory.joined_scalars import joined_scalars, narrowed_values
from tt_layout.audit.global_memory.operands import address_of, operands
from tt_layout.audit.global_memory.origins import Origins, Sources
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.values.given import GivenValues, plain_name
from tt_layout.audit.values.trials import Trials
from tt_layout.encodings import DistributedEncoding, Encoding, SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target
from tt_layout.ir.ssa import Function, Operation, Value, integers
from tt_layout.ir.ssa.attributes import DIVISIBILITY
from tt_layout.ir.types import IRType
from tt_layout.lazy import lazy
from tt_layout.records import dataclass
from tt_layout.releases import Release
from tt_layout.tuples import NamedTuple

_PACKED = ("f16", "bf16")

ALLOCATED_BYTES = 512
"""Bytes of which an allocator returns a multiple."""

MAX_SUPPOSED = 16
"""Suppositions about the values of a function whose consequences are kept, the last ones."""


class WidthBounds(NamedTuple):
    """Elements that each condition allows per instruction; None without the condition.

    Attributes:
        layout, contiguity, divisibility, mask, memory, instruction: see the table of the module.
        hint: the least contiguity that the operation itself states.
    """

    layout: int
    contiguity: int
    divisibility: int
    mask: int | None
    memory: int | None
    instruction: int
    hint: int


class Width(NamedTuple):
    """The instructions of an access.

    Attributes:
        instruction: mnemonic in PTX or AMD's assembly; None where not known.
        elements: elements that an instruction moves per thread.
        width_bytes: bytes that an instruction moves per thread.
        instructions: instructions that each warp executes.
        bounds: bounds of `elements`.
        dim: the dimension along which they are adjacent.
        element_bytes: bytes of an element in memory.
    """

    instruction: str | None
    elements: int
    width_bytes: int
    instructions: int
    bounds: WidthBounds
    dim: int
    element_bytes: int


class PlacedAccess(NamedTuple):
    """An access to global memory, with the inputs that determine the bytes of its lanes.

    Attributes:
        operation: the access, in today's form.
        roles: its operands by role.
        width: its instructions.
        shape: assignment of elements to its lanes.
        addresses: the values that determine the addresses.
    """

    operation: Operation
    roles: Mapping[str, Value]
    width: Width
    shape: AccessShape
    addresses: Addresses


@dataclass(frozen=True, eq=False)
class AccessAnalysis:
    """A function that accesses global memory, with the facts of its values.

    Attributes:
        function: the function.
        known: AxisInfo of each value.
        layouts: placed layouts of their types.
        target: the GPU.
        given: values of its arguments.
        functions: all functions of the module.
        warps: warps of a CTA.
        explains: whether to look for changes that would make accesses wider.
    """

    function: Function
    known: Mapping[Value, AxisInfo]
    layouts: PlacedLayouts
    target: Target
    given: GivenValues = field(default_factory=GivenValues)
    functions: Sequence[Function] = ()
    warps: int = 1
    explains: bool = True

    @lazy
    def origins(self) -> Origins:
        """Origins of the lost properties of its values."""
        return Origins(self.sources, self.known)

    @lazy
    def sources(self) -> Sources:
        """The values that each of its values is computed from."""
        return self.function.once("sources", Sources)

    @lazy
    def placed(self) -> dict[Operation, PlacedAccess]:
        """Cache of its accesses with known instructions."""
        return {}

    @lazy
    def constant_masks(self) -> ConstantMasks:
        """The masks of its accesses that constants determine."""
        return ConstantMasks(self.function, self.layouts)

    @lazy
    def trials(self) -> Trials:
        """Facts of its values that hold for any arguments."""
        return Trials(self.function, self.given, self.layouts)

    @lazy
    def narrowed(self) -> frozenset[Value]:
        """The 64-bit values of which AMD's backend loads 32 bits."""
        is_own = self.target.joins_global_accesses
        return self.function.once("narrowed", narrowed_values) if is_own else frozenset()

    @lazy
    def joined_scalars(self) -> Mapping[int, int]:
        """Count of scalars that AMD's backend joins to each access, by position."""
        if not self.target.joins_global_accesses:
            return {}
        narrowed = self.narrowed
        return self.function.once("joined scalars", lambda each: joined_scalars(each, narrowed))

    def warps_at(self, operation: Operation) -> int:
        """Return the warps that execute an operation: those of a partition are fewer."""
        warps = self.function.once("warps of partitions", _partition_warps)
        return warps.get(operation.position, self.warps)

    def is_narrowed(self, operation: Operation) -> bool:
        """Tell whether AMD's backend loads only half of the bits of each number."""
        results = operation.results
        return operation.name == "tt.load" and not self.narrowed.isdisjoint(results)

    def laid_out(self, function: Function) -> AccessAnalysis:
        """Return the analysis of the function with other layouts, without explanations."""
        return replace(self, function=function, explains=False)

    def supposing(self, supposed: Mapping[Value, AxisInfo]) -> AccessAnalysis:
        """Return the analysis with more precise AxisInfo of some values.

        Accesses that the same would help share it: each follows what the others did not.
        """
        key = frozenset(supposed.items())
        if key not in self._supposing:
            if len(self._supposing) >= MAX_SUPPOSED:
                del self._supposing[next(iter(self._supposing))]
            known = SupposedInfo(self.sources.flow, self.known, supposed)
            analysis = replace(self, known=known)
            vars(analysis).update(sources=self.sources)  # whatever is known, the same
            self._supposing[key] = analysis
        return self._supposing[key]

    @lazy
    def _supposing(self) -> dict[frozenset[tuple[Value, AxisInfo]], AccessAnalysis]:
        return {}

    @lazy
    def allocated(self) -> AccessAnalysis:
        """The analysis with aligned pointers that begin an allocation, as their values do."""
        whole = AxisInfo((1,), (ALLOCATED_BYTES,), (1,))
        pairs = zip(self.function.arguments, self.function.argument_attributes)
        aligned = (
            value
            for value, attributes in pairs
            if value.type.is_scalar
            and value.type.pointee is not None
            and DIVISIBILITY in attributes
        )
        return self.supposing(
            {v: whole for v in aligned if plain_name(v.name) not in self.given.values}
        )

    @lazy
    def unhinted(self) -> Mapping[Value, AxisInfo]:
        """AxisInfo of each value as far as LLVM can know it."""
        return unhinted_axis_info(self.function)


def _partition_warps(function: Function) -> Mapping[int, int]:
    """Return the warps that execute the operations of partitions, by their positions."""
    return {
        operation.position: warps
        for specialized in function.walk()
        if specialized.traits.partitions
        for warps, region in zip(
            integers(specialized.attributes.get("partitionNumWarps")), specialized.regions[1:]
        )
        for block in region
        for outer in block.operations
        for operation in outer.walk()
    }


def access_width(kernel: AccessAnalysis, operation: Operation) -> Width | None:
    """Return the instructions that an operation becomes.

    None of a scalar, and where an operand or the layout is missing.
    """
    roles = operands(operation)
    if "pointer" not in roles or not kernel.known.keys() >= set(roles.values()):
        return None
    element = roles["pointer"].type
    address = address_of(roles)
    ir_type = kernel.function.type_of(address)
    is_tensor = ir_type is not None and isinstance(ir_type.encoding, DistributedEncoding)
    layout = kernel.layouts.linear(ir_type) if is_tensor and ir_type is not None else None
    if element.bits is None or layout is None or not layout.num_out_dims:
        return None
    dimensioned = (address, roles.get("mask", address))
    if any(kernel.known[value].rank != layout.num_out_dims for value in dimensioned):
        return None  # the dump is not a valid one
    dim, element_bytes = fastest_dimension(layout), max(1, element.bits // 8)
    bounds = bounds_along(kernel, operation, roles, layout, dim)
    vector = _joined(kernel, operation, roles, bounds, dim, _vector(operation, bounds))
    repeats = ir_type is not None and _repeats(kernel, operation, ir_type)
    registers = 1 << len(layout.vectors("register"))
    registers = registers if repeats else _registers(kernel, operation, roles, layout)
    width = vector * element_bytes
    if vector == 1 and kernel.is_narrowed(operation):
        width //= 2
    name, attributes = operation.name, operation.attributes
    access = ThreadAccess(name, element.pointee or "", width, vector, attributes, kernel.target)
    return Width(
        instruction=access_instruction(access),
        elements=vector,
        width_bytes=width,
        instructions=max(1, registers // vector),
        bounds=bounds,
        dim=dim,
        element_bytes=element_bytes,
    )


def address_info(kernel: AccessAnalysis, roles: Mapping[str, Value], width: Width) -> AxisInfo:
    """Return the AxisInfo of the addresses, with divisibility in bytes."""
    info = kernel.known[address_of(roles)]
    if "offsets" not in roles:
        return info
    base = kernel.known[roles["pointer"]].divisibility[0]
    divisibility = tuple(min(d * width.element_bytes, base) for d in info.divisibility)
    return info._replace(divisibility=divisibility)


def bounds_along(
    kernel: AccessAnalysis,
    operation: Operation,
    roles: Mapping[str, Value],
    layout: LinearLayout,
    dim: int,
) -> WidthBounds:
    """Return the bounds of an access along a dimension."""
    pointer, address = roles["pointer"], address_of(roles)
    bits = pointer.type.bits or 8
    element_bytes = max(1, bits // 8)
    info = kernel.known[address]
    aligned = info.divisibility[dim]
    if address == pointer:
        aligned //= element_bytes
    else:
        aligned = min(aligned, kernel.known[pointer].divisibility[0] // element_bytes)
    mask = kernel.known[roles["mask"]] if "mask" in roles else None
    return WidthBounds(
        layout=neighbours_along(layout, dim),
        contiguity=info.contiguity[dim],
        divisibility=max(1, aligned),
        mask=mask.constancy[dim] if mask is not None else None,
        memory=_memory_bound(kernel, roles, layout, element_bytes),
        instruction=_widest(kernel.target, operation, pointer.type.pointee or "", bits),
        hint=operation.integer("contiguity") or 1,
    )


def _vector(operation: Operation, bounds: WidthBounds) -> int:
    """Return the elements that one instruction moves.

    The contiguity that the operation states takes precedence over the analysis, and for copies to
    and from shared memory also over the mask.
    """
    vector = min(bounds.layout, bounds.contiguity, bounds.divisibility, bounds.instruction)
    masked = min(vector, bounds.mask or vector)
    if bounds.memory is not None:
        return min(max(masked, bounds.hint), bounds.instruction, bounds.memory)
    if bounds.hint > 1:
        vector = max(vector, bounds.hint)
        return min(vector, bounds.mask or vector)
    return masked


def _widest(target: Target, operation: Operation, element: str, bits: int) -> int:
    """Return the elements that the widest instruction moves."""
    kind = operation.name.rpartition(".")[2]
    bytes_ = target.global_vector_bytes if kind in ("load", "store") else MAX_VECTOR_BYTES
    most = max(1, 8 * bytes_ // max(8, bits))
    if "atomic" not in kind:
        return most
    if kind.endswith("cas"):
        return 1
    if target.is_amd:
        return 2 if element in _PACKED else 1
    is_float_sum = operation.attributes.get("atomic_rmw_op") == "fadd"
    if target.has_vector_atomics and is_float_sum and element in (*_PACKED, "f32"):
        return most
    return 2 if element == "f16" else 1


def _memory_bound(
    kernel: AccessAnalysis, roles: Mapping[str, Value], layout: LinearLayout, element_bytes: int
) -> int | None:
    """Return the adjacent elements in the destination of a copy to shared memory."""
    memory = kernel.function.type_of(roles["memory"]) if "memory" in roles else None
    if memory is None or not isinstance(memory.encoding, SharedEncoding):
        return None
    shared = kernel.layouts.linear(memory)
    if shared is None:
        return None
    return _together(layout, shared, element_bytes, memory.encoding.padding)


@lru_cache(maxsize=4096)
def _together(
    layout: LinearLayout,
    shared: LinearLayout,
    element_bytes: int,
    padding: tuple[tuple[int, int], ...],
) -> int | None:
    """Return the number of elements adjacent in registers, in their order, and in a buffer."""
    try:
        placed = LinearLayout(layout.in_bases, shared.out_sizes)
        offsets = access_map(placed, shared, element_bytes, padding)
        together = compiler_vector(offsets, MAX_VECTOR_BYTES)
    except LayoutError:
        return None
    steps = (number for number, offset in enumerate(offsets.register) if offset != 1 << number)
    return min(together, 1 << next(steps, len(offsets.register)))


# -- what LLVM makes of AMD's loads and stores -----------------------------------------------


def _joined(
    kernel: AccessAnalysis,
    operation: Operation,
    roles: Mapping[str, Value],
    bounds: WidthBounds,
    dim: int,
    vector: int,
) -> int:
    """Return the elements of an instruction after the backend has joined what it can.

    AMD's loads and stores are LLVM's own: neighbours are joined, whatever the alignment of the
    pointer, where no branch is between them (as between loads with a mask, or stores with
    different ones) and LLVM can see that they are neighbours: the offsets of 32 bits must not
    overflow on the way, so the lowest bits of the first one have to be zero.
    """
    is_plain = operation.name == "tt.store" or (operation.name == "tt.load" and not bounds.mask)
    if not is_plain or not kernel.target.joins_global_accesses:
        return vector
    run = _run_of_offsets(kernel, roles["pointer"], dim)
    if run is None:
        return vector
    longest = min(run.contiguity[dim], run.divisibility[dim])
    return max(vector, min(bounds.layout, longest, bounds.mask or longest, bounds.instruction))


def _run_of_offsets(kernel: AccessAnalysis, value: Value, dim: int) -> AxisInfo | None:
    """Return LLVM's AxisInfo of the offsets that make a pointer's elements contiguous."""
    infos = kernel.unhinted
    while True:
        operation = value.definition
        if operation is None or operation.name not in ("tt.addptr", "tt.broadcast"):
            return None
        value = operation.operands[0]
        for offsets in operation.operands[1:2]:
            info = infos.get(offsets)
            if info is not None and dim < info.rank and info.contiguity[dim] > 1:
                return info


def _repeats(kernel: AccessAnalysis, operation: Operation, ir_type: IRType) -> bool:
    """Tell whether registers that repeat an element are moved again, as on NVIDIA up to 3.8."""
    encoding = ir_type.encoding
    is_old = isinstance(encoding, Encoding) and encoding.release < Release.V3_9
    is_copy = operation.name == "ttg.async_copy_global_to_local"
    return is_old and not is_copy and not kernel.target.joins_global_accesses


def _registers(
    kernel: AccessAnalysis,
    operation: Operation,
    roles: Mapping[str, Value],
    layout: LinearLayout,
) -> int:
    """Return the number of distinct elements that a thread moves.

    Of AMD's loads LLVM also leaves out those whose address another register is known to have, and
    of its stores those that another one overwrites, with no branch of another mask between them.
    """
    equal: tuple[int, ...] = (1,) * layout.num_out_dims
    is_plain = operation.name.endswith(("tt.load", "buffer_load", "tt.store"))
    if kernel.target.joins_global_accesses and is_plain:
        values = [address_of(roles), *[roles[r] for r in ("mask",) if r in roles]]
        infos = [kernel.known[value] for value in values]
        equal = tuple(min(info.constancy[d] for info in infos) for d in range(len(equal)))
    is_branching = operation.name == "tt.store" and "mask" in roles
    return _moved_registers(layout, equal, is_branching)


@lru_cache(maxsize=4096)
def _moved_registers(layout: LinearLayout, equal: tuple[int, ...], is_branching: bool) -> int:
    """Return the number of registers that a thread moves.

    Args:
        layout: layout of the registers.
        equal: the lengths of runs of equal addresses along each dimension, of which one is moved.
        is_branching: whether branches are between the registers behind the first that moves.
    """
    moves = [
        any(step and step >= run for step, run in zip(vector, equal))
        for vector in layout.vectors("register")
        if any(vector)
    ]
    if is_branching and True in moves:
        moves[moves.index(True) :] = [True] * (len(moves) - moves.index(True))
    return 1 << sum(moves)
