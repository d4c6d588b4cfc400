"""Scratch: the shared memory that operations need while they run.

Source:
    Triton 3.9, lib/Analysis/Allocation.cpp, defaultAllocationAnalysisScratchSizeFn; of AMD's buffer
    operations third_party/amd/lib/Analysis/AMDGPUAllocation.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.conversion.conversion import memory_bytes
from tt_layout.analyses.conversion.scratch import scratch
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.operations.atomics import handed_on
from tt_layout.audit.operations.exchanges import exchange_of
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target
from tt_layout.ir.ssa import Function, Operation, Value
from tt_layout.mlir.types import element_bits
from tt_layout.tuples import NamedTuple

SCRATCH_ALIGNMENT = 128
DESCRIPTOR_BYTES = 128  # of a tensor map that a kernel makes
POINTER_BYTES = 8
DESCRIPTOR_WORDS = (12, 20)
"""32-bit words of a descriptor in gfx1250's registers: with two dimensions, and with more."""


class Surroundings(NamedTuple):
    """Context of an operation's scratch: function, layouts and GPU.

    Attributes:
        function: the function that contains it.
        layouts: placed layouts of the module's types.
        target: the GPU.
        warps: warps of a CTA.
    """

    function: Function
    layouts: PlacedLayouts
    target: Target
    warps: int

    def linear(self, value: Value) -> LinearLayout | None:
        """Return the linear layout of a value; None where it has none."""
        return self.layouts.linear(self.function.type_of(value))


ScratchRule = Callable[[Operation, Surroundings], "int | None"]


def scratch_bytes(operation: Operation, around: Surroundings) -> int | None:
    """Return the scratch of an operation in bytes; None where a type does not determine it."""
    rule = RULES.get(operation.name.rpartition(".")[2])
    if rule is None:
        return 0
    try:
        return rule(operation, around)
    except LayoutError:
        return None


def _conversion(operation: Operation, around: Surroundings) -> int | None:
    if not operation.operands or not operation.results:
        return None  # of a text that is not MLIR
    src, dst = around.linear(operation.operands[0]), around.linear(operation.results[0])
    bits = element_bits(operation.results[0].type.element)
    if src is None or dst is None or bits is None:
        return None
    if "offset" in (*src.get_in_dim_names(), *dst.get_in_dim_names()):
        return 0  # until 2.x a conversion could be a load or store of shared memory
    buffer = scratch(src, dst, bits, around.target)
    return buffer.bytes if buffer is not None else 0


def _exchange(operation: Operation, around: Surroundings) -> int | None:
    exchange = exchange_of(operation, around.function, around.layouts, around.target)
    return exchange.scratch_bytes if exchange is not None else None


def _atomic(operation: Operation, around: Surroundings) -> int | None:
    """Return the scratch that broadcasts an atomic's result to the other threads."""
    result = operation.results[0] if operation.results else None
    if result is None or not result.uses:
        return 0
    exchange = handed_on(operation, around.function, around.layouts, around.target, around.warps)
    return exchange.scratch_bytes if exchange is not None else None


def _buffer_atomic(operation: Operation, around: Surroundings) -> int | None:
    is_tensor = bool(operation.results) and operation.results[0].type.is_tensor
    return _atomic(operation, around) if is_tensor else 0


def _captures(operation: Operation, around: Surroundings) -> int | None:
    """Return the bytes of the values that partitions of warps capture."""
    if not operation.traits.partitions:
        return 0
    sizes = [_capture_bytes(value, around) for value in operation.operands]
    stated = [size for size in sizes if size is not None]
    return sum(stated) if len(stated) == len(sizes) else None


def _capture_bytes(value: Value, around: Surroundings) -> int | None:
    """Return the bytes of a captured value; memory is captured by its address."""
    ir_type = around.function.type_of(value)
    if not value.is_defined:
        return None
    kind = value.type
    if kind.is_memory:
        return POINTER_BYTES + 4 * len(kind.shape) * ("tensor_memory" not in value.text)
    if ir_type is not None and ir_type.is_descriptor:
        is_pointer = around.target.is_nvidia
        return POINTER_BYTES if is_pointer else DESCRIPTOR_WORDS[len(ir_type.shape) > 2] * 4
    if kind.is_tensor or kind.pointee is not None or "tensordesc" in value.text:
        return POINTER_BYTES
    bits = element_bits(kind.element)
    return memory_bytes(bits) if bits is not None else None


RULES: Mapping[str, ScratchRule] = {
    "convert_layout": _conversion,
    "reduce": _exchange,
    "scan": _exchange,
    "gather": _exchange,
    "histogram": _exchange,
    "atomic_rmw": _atomic,
    "atomic_cas": _atomic,
    "local_atomic_scatter_rmw": _atomic,
    "buffer_atomic_rmw": _buffer_atomic,
    "buffer_atomic_cas": _buffer_atomic,
    "tensormap_create": lambda operation, around: DESCRIPTOR_BYTES,
    "warp_specialize": _captures,
}
"""Name of an operation without its dialect -> function that returns its scratch."""
