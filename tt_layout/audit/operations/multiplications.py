"""The multiplications of matrices in a module: instructions, operands, and arithmetic.

Where no matrix instruction carries one out, each thread multiplies and adds for the elements of the
result that it holds, one pair at a time: tensor cores are many times as fast.

The assembler does not spill what ``wgmma`` works on: without the registers for the result of one
instruction, and 32 more, it ends with C7602, "insufficient registers".

Of a product of which only a triangle is kept, or only the columns that there are, AMD's backend
makes fewer matrix instructions: LLVM drops those whose results nothing reads.  NVIDIA's are opaque
to it.

Source:
    Triton 3.9, AccelerateMatmul.cpp and AccelerateAMDMatmul.cpp; PTX ISA, "Matrix fragments".
    Matmuls compiled by Triton 3.9 for sm90: with 32, 64 and 128 registers of a thread for the
    result it refuses limits of 56, 88 and 152 and takes 64, 96 and 160.
    Assembly of Triton 3.9 for gfx942, gfx950 and gfx1250: with a mask that an argument decides
    all instructions are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import reduce
from itertools import chain
from math import prod
from operator import and_, or_
from typing import TYPE_CHECKING, Any

from tt_layout.algebra.arrays import all_values
from tt_layout.analyses.multiplications.matrix_instructions import Operand
from tt_layout.audit.global_memory.operands import in_todays_form, operands
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.registers.pressure import limit_of
from tt_layout.encodings import Encoding, SharedEncoding
from tt_layout.encodings.blocked import Blocked
from tt_layout.encodings.tensor_memory import TensorMemory
from tt_layout.errors import LayoutError
from tt_layout.ir.data_movements import OPERATIONS, Family
from tt_layout.ir.names import stated
from tt_layout.ir.operations import Location, OperationPosition
from tt_layout.ir.types import IRType
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple

if TYPE_CHECKING:
    from tt_layout.algebra.arrays import Ints
    from tt_layout.algebra.linear_layout import LinearLayout
    from tt_layout.analyses.multiplications.matrix_instructions import Descriptor, MatrixInstruction
    from tt_layout.audit.global_memory.width import AccessAnalysis
    from tt_layout.audit.values.executions import Executions
    from tt_layout.ir.ssa import Operation, Value

NAMES = frozenset(n for n, row in OPERATIONS.items() if row.family is Family.MULTIPLICATION)
"""Operations that multiply matrices, without their dialect."""

PACKED = "e2m1"
"""The format with two elements in a byte."""

Descriptors = tuple["Descriptor | None", "Descriptor | None"]

BITS_ALONG_K = 256
"""Bits of a row of A that one instruction takes: 16 elements of 16 bits."""
LEAST_ROWS, LEAST_COLUMNS = 16, 8
MULTIPLIED = frozenset({"f16", "bf16", "f32", "f64", "i8", "ui8"})
IEEE = ("None", "ieee", "2")
"""Spellings of the precision of f32 that no matrix instruction has."""

WARP_GROUP = "warp group"
THREADS = 128
SPARE = 32
"""Registers of a thread that the instruction needs in addition to its result."""

WORD_BITS = 32

MAX_STEPS = 32
"""The most operations after a product that are followed."""


@dataclass(frozen=True)
class Multiplication:
    """A multiplication of matrices.

    Attributes:
        function: the kernel.
        name: name of the operation, with its dialect.
        position: its position in the module.
        line, column: its place in the dump.
        location: location in the program; None where the dump has none.
        sizes: batch, M, N and K.
        a, b, d: operands and result.
        instruction: its matrix instruction; None where none is known.
        descriptors: descriptors of A and B; None for one that is not in shared memory or not known.
        executions: executions in one program.
        refusal: why the compiler has no instruction or no registers for it; None if it has.
        fma: its cost without an instruction; None if it has one, or if not known.
        scales: types of the scales of A and B; None without scales of both.
    """

    function: str
    name: str
    position: OperationPosition
    line: int
    column: int
    location: Location | None
    sizes: tuple[int, int, int, int]
    a: Operand
    b: Operand
    d: Operand
    instruction: MatrixInstruction | None
    descriptors: tuple[Descriptor | None, Descriptor | None]
    executions: Executions
    refusal: str | None = None
    scales: tuple[Operand, Operand] | None = None
    fma: FusedMultiplyAdds | None = None

    @property
    def flops(self) -> int:
        """Additions and multiplications of one execution, two for each pair of elements."""
        return 2 * prod(self.sizes)

    @property
    def packing(self) -> tuple[int, int]:
        """Elements along K in a stored element of A, and of B."""
        depth = self.sizes[3]
        return max(1, depth // self.a.shape[-1]), max(1, depth // self.b.shape[-2])

    @property
    def text(self) -> str:
        """Sizes and element types of the multiplication."""
        batch, *sizes = self.sizes
        product = "x".join(map(str, ([batch] if batch > 1 else []) + sizes))
        return f"{product} {self.a.element} x {self.b.element} -> {self.d.element}"

    @property
    def first(self) -> tuple[int, int, int]:
        """M, N and K of its first instruction; the whole product where none is known."""
        most = self.instruction.shape if self.instruction is not None else self.sizes[1:]
        m, n, k = (min(pair) for pair in zip(most, self.sizes[1:]))
        return m, n, k

    @property
    def title(self) -> tuple[str, str]:
        """Title of a picture of its first instruction."""
        name = f", {self.instruction.name}" if self.instruction is not None else ""
        m, n, k = self.first
        what = f"{self.name}, line {self.line}: {self.text}{name}"
        return what, f"the first M = {m}, N = {n}, K = {k}"


def multiplications(audited: AuditedModule) -> Iterator[Multiplication]:
    """Yield the multiplications of a module whose operands are known, in the order of the text."""
    for full in audited.chosen(_multiplies):
        product = _multiplication(full, audited)
        if product is not None:
            yield product


def _multiplies(operation: Operation) -> bool:
    return operation.name.rpartition(".")[2] in NAMES


def _multiplication(full: FullOperation, audited: AuditedModule) -> Multiplication | None:
    types = _types(full)
    if types is None:
        return None
    operation, function = full.operation, full.function
    a, b, d = (_operand(ir_type) for ir_type in types)
    *batch, rows, columns = d.shape
    is_packed = operation.attributes.get("lhs") == PACKED and not _is_transposed(a)
    depth = a.shape[-1] * (2 if is_packed else 1)
    instruction, descriptors, refusal = _instruction(full, audited, (a, b, d), types, depth)
    instruction = _without_unused(instruction, full, audited, types[2])
    if refusal is None and not any(outer.traits.partitions for outer in operation.ancestors):
        refusal = register_refusal(instruction, types[2].element_bits, limit_of(audited))
    sizes = (prod(batch), rows, columns, depth)
    precision = str(operation.attributes.get("inputPrecision"))
    return Multiplication(
        function=function.name,
        name=operation.name,
        position=full.position,
        line=operation.line,
        column=operation.column,
        location=function.location(operation),
        sizes=sizes,
        a=a,
        b=b,
        d=d,
        instruction=instruction,
        descriptors=descriptors,
        executions=audited.runs(full),
        refusal=refusal,
        scales=_scales_of_both(full, d),
        fma=fused_multiply_adds(a, b, d, sizes, precision) if instruction is None else None,
    )


def _types(full: FullOperation) -> tuple[IRType, IRType, IRType] | None:
    """Return the types of A, B and the result; None where one has no layout or is not a matrix."""
    from tt_layout.encodings.dot_op import DotOperand

    operation, type_of = full.operation, full.function.type_of
    all_types = [type_of(value) for value in operation.operands]
    operands = [t for t in all_types if t is not None and isinstance(t.encoding, Encoding)]
    results = [type_of(value) for value in operation.results]
    if operation.name.endswith("dot_scaled"):  # among whose operands are the scales, too
        operands = [t for t in operands if isinstance(t.encoding, DotOperand)]
    in_memory = "tc_gen5" in operation.name
    if len(operands) < (3 if in_memory else 2):
        return None
    d = operands[2] if in_memory else next(iter(results), None)
    if d is None or not isinstance(d.encoding, Encoding):
        return None
    types = operands[0], operands[1], d
    return types if all(len(t.shape) >= 2 for t in types) else None


def _operand(ir_type: IRType) -> Operand:
    assert isinstance(ir_type.encoding, Encoding)
    return Operand(ir_type.encoding, ir_type.shape, ir_type.element_type)


def _is_transposed(operand: Operand) -> bool:
    return bool(getattr(operand.encoding, "transposed", False))


def _instruction(
    full: FullOperation,
    audited: AuditedModule,
    operands: tuple[Operand, Operand, Operand],
    types: Sequence[IRType],
    depth: int,
) -> tuple[MatrixInstruction | None, Descriptors, str | None]:
    """Return the instruction, the descriptors of its operands, and the reason without one."""
    from tt_layout.analyses.multiplications.matrix_instructions import matrix_instruction

    is_stated = full.operation.attributes.get("two_ctas") is True
    ctas = 2 if is_stated or stated(audited.module.attributes, "ttng.two-ctas") is True else 1
    try:
        if full.operation.name.endswith("tc_gen5_mma_scaled"):
            return _scaled(full, operands, depth, ctas), (None, None), None
        if full.operation.name.endswith("dot_scaled"):
            return _scaled_dot(full, operands[2], depth), (None, None), None
        instruction = matrix_instruction(*operands, ctas=ctas)
    except LayoutError:
        return None, (None, None), None
    if ctas > 1 and operands[1].shape[-1] != operands[2].shape[-1]:
        return instruction, (None, None), None  # of a fork that writes the part of each CTA
    try:
        return instruction, _descriptors(instruction, operands, types, audited, ctas), None
    except LayoutError as error:
        return instruction, (None, None), error.message


def _scaled(
    full: FullOperation, operands: tuple[Operand, Operand, Operand], depth: int, ctas: int
) -> MatrixInstruction | None:
    """Return the instruction of a multiplication with scales."""
    from tt_layout.analyses.multiplications.matrix_instructions import scaled_matrix_instruction

    a, b, d = operands
    scales = _scales(full, d)
    if not isinstance(d.encoding, TensorMemory) or len(scales) < 2 or not scales[0].shape:
        return None
    return scaled_matrix_instruction(
        d,
        d.encoding,
        formats=_formats(full),
        scale=scales[0].element_type,
        scales_along_k=scales[0].shape[-1],
        depth=depth,
        ctas=ctas,
        is_transposed=_is_transposed(a) or not _is_transposed(b),
    )


def _without_unused(
    instruction: MatrixInstruction | None,
    full: FullOperation,
    audited: AuditedModule,
    ir_type: IRType,
) -> MatrixInstruction | None:
    """Return an instruction without repetitions whose results AMD's backend drops as unused."""
    kernel, layout = audited.kernel(full.function), audited.layouts.linear(ir_type)
    is_own = kernel is not None and kernel.target.is_amd and full.operation.name == "tt.dot"
    if instruction is None or layout is None or kernel is None or not is_own:
        return instruction
    is_needed = _needed_elements(kernel, full.operation.results[0])
    if is_needed is None:
        return instruction
    rows, columns, _ = instruction.shape
    needed, tiles = needed_tiles(is_needed, layout, rows * columns // kernel.target.lanes)
    return replace(instruction, instructions=max(1, instruction.instructions * needed // tiles))


def _scaled_dot(full: FullOperation, d: Operand, depth: int) -> MatrixInstruction:
    """Return the instruction of a multiplication with scales in registers.

    Raises:
        LayoutError: no instruction exists.
    """
    from tt_layout.analyses.multiplications.matrix_instructions import Scaling, scaled_dot

    scales = _scales(full, d)
    if not scales:
        return scaled_dot(d, Scaling(_formats(full)), depth)
    block = depth // max(1, scales[0].shape[-1])
    return scaled_dot(d, Scaling(_formats(full), scales[0].element_type, block), depth)


def _formats(full: FullOperation) -> tuple[str, str]:
    """Return the formats of the elements of A and B that a multiplication with scales states."""
    return str(full.operation.attributes.get("lhs")), str(full.operation.attributes.get("rhs"))


def _scales(full: FullOperation, d: Operand) -> list[IRType]:
    """Return the types of the scales, A's before B's."""
    from tt_layout.encodings.dot_op import DotOperand

    types = [full.function.type_of(name) for name in full.operation.operands]
    if full.operation.name.endswith("tc_gen5_mma_scaled"):
        return [t for t in types if t is not None and t.is_memory][3:5]
    if not full.operation.name.endswith("dot_scaled"):
        return []
    laid_out = [t for t in types if t is not None and isinstance(t.encoding, Encoding)]
    scales = [t for t in laid_out if not isinstance(t.encoding, DotOperand)]
    return [t for t in scales if t.encoding != d.encoding]


def _scales_of_both(full: FullOperation, d: Operand) -> tuple[Operand, Operand] | None:
    scales = [t for t in _scales(full, d) if isinstance(t.encoding, Encoding) and len(t.shape) == 2]
    return (_operand(scales[0]), _operand(scales[1])) if len(scales) == 2 else None


def _descriptors(
    instruction: MatrixInstruction,
    operands: tuple[Operand, Operand, Operand],
    types: Sequence[IRType],
    audited: AuditedModule,
    ctas: int,
) -> Descriptors:
    """Return the descriptors of A and B.

    Raises:
        LayoutError: no descriptor expresses the layout of one of them.
    """
    from tt_layout.analyses.multiplications.matrix_instructions import matrix_descriptor

    m, n, k = instruction.shape
    tiles = (m, k), (k, n // ctas)
    descriptors: list[Descriptor | None] = [None, None]
    for index in (0, 1):
        operand, shared = operands[index], audited.layouts.linear(types[index])
        if isinstance(operand.encoding, SharedEncoding) and shared is not None:
            try:
                descriptors[index] = matrix_descriptor(
                    shared, operand.bits, tiles[index], outer_dim=index
                )
            except LayoutError as error:
                raise LayoutError(f"{types[index].layout}: {error.message}") from None
    return descriptors[0], descriptors[1]


@dataclass(frozen=True)
class Intensity:
    """Arithmetic intensity of a kernel: FLOPs per byte of global memory.

    Attributes:
        function: the kernel.
        flops: FLOPs of its multiplications of matrices in one program; None where a number of
            executions is not known.
        global_bytes: bytes that it moves from and to global memory; None likewise.
    """

    function: str
    flops: int | None
    global_bytes: int | None

    @property
    def flops_per_byte(self) -> float | None:
        """The arithmetic intensity; None where it is not known."""
        if self.flops is None or not self.global_bytes:
            return None
        return self.flops / self.global_bytes


def intensity(
    function: str, products: Sequence[Multiplication], moved: Sequence[int | None]
) -> Intensity:
    """Return the arithmetic intensity of a kernel.

    Args:
        function: the kernel.
        products: its multiplications.
        moved: bytes of each movement from or to global memory, over all executions.
    """
    flops = [
        product.flops * product.executions.number if product.executions.number is not None else None
        for product in products
    ]
    return Intensity(function, _sum(flops), _sum(moved))


def _sum(numbers: Sequence[int | None]) -> int | None:
    present = [number for number in numbers if number is not None]
    return sum(present) if len(present) == len(numbers) else None


def multiplication_data(product: Multiplication) -> dict[str, Any]:
    """Return a multiplication as plain data; documented in ``docs/audit-json.md``."""
    instruction = product.instruction
    return {
        "operation": product.name,
        "function": product.function,
        "line": product.line,
        "column": product.column,
        "location": product.location._asdict() if product.location is not None else None,
        **dict(zip(("batch", "m", "n", "k"), product.sizes)),
        "a": _operand_data(product.a, product.descriptors[0]),
        "b": _operand_data(product.b, product.descriptors[1]),
        "d": _operand_data(product.d, None),
        "instruction": instruction.name if instruction is not None else None,
        "instructions": instruction.instructions if instruction is not None else None,
        "issuer": instruction.issuer if instruction is not None else None,
        "fma_per_thread": product.fma.per_thread if product.fma is not None else None,
        "no_instruction": product.fma.reason if product.fma is not None else None,
        "flops": product.flops,
        "executions": product.executions.number,
        "executions_text": product.executions.text,
    }


def _operand_data(operand: Operand, descriptor: Descriptor | None) -> dict[str, Any]:
    return {
        "element": operand.element,
        "from": operand.where,
        "attribute": str(operand.encoding),
        "descriptor": asdict(descriptor) if descriptor is not None else None,
    }


# -- without a matrix instruction ------------------------------------------------------------------


class FusedMultiplyAdds(NamedTuple):
    """Cost of a multiplication without a matrix instruction.

    Attributes:
        per_thread: multiply-adds of a thread.
        reason: why no instruction executes it, and what would change that.
    """

    per_thread: int
    reason: str

    @property
    def text(self) -> str:
        """Number and reason in a few words."""
        return f"FMA, {self.per_thread} per thread: {self.reason}"


def fused_multiply_adds(
    a: Operand, b: Operand, d: Operand, sizes: tuple[int, int, int, int], precision: str
) -> FusedMultiplyAdds | None:
    """Return the cost of a multiplication with a blocked result; None for any other.

    Args:
        a, b, d: operands and result.
        sizes: batch, M, N and K.
        precision: precision of f32 operands, as the operation spells it.

    Example:
        >>> from tt_layout import parse_layout
        >>> blocked = parse_layout("#ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 8], "
        ...                        "warpsPerCTA = [4, 1], order = [1, 0]}>")
        >>> a = b = d = Operand(blocked, (64, 64), "f32")
        >>> print(fused_multiply_adds(a, b, d, (1, 64, 64, 64), "ieee").text)
        FMA, 2048 per thread: f32 with input_precision ieee, give tf32 or operands of 16 bits
    """
    if not isinstance(d.encoding, Blocked):
        return None
    registers = d.encoding.to_linear_layout(d.shape).get_in_dim_size("register")
    return FusedMultiplyAdds(registers * sizes[3], _reason(a, b, sizes, precision))


def _reason(a: Operand, b: Operand, sizes: tuple[int, int, int, int], precision: str) -> str:
    _, rows, columns, depth = sizes
    are_supported = all(
        operand.element in MULTIPLIED or operand.element.startswith("f8") for operand in (a, b)
    )
    if not are_supported:
        return f"{a.element} x {b.element} has none, give operands of 8 or 16 bits"
    if a.element == "f32" and precision in IEEE:
        return "f32 with input_precision ieee, give tf32 or operands of 16 bits"
    if rows < LEAST_ROWS or columns < LEAST_COLUMNS:
        least = f"{LEAST_ROWS}x{LEAST_COLUMNS}"
        return f"{rows}x{columns} is less than an instruction has, give {least} or more"
    if depth * a.bits < BITS_ALONG_K:
        return f"K = {depth} is too small, give {BITS_ALONG_K // a.bits} or more"
    return "the layout of its result is that of no instruction"


# -- registers of an instruction -------------------------------------------------------------------


def register_refusal(
    instruction: MatrixInstruction | None, result_bits: int | None, limit: int | None
) -> str | None:
    """Return why an instruction is refused for lack of registers; None if it is not.

    Args:
        instruction: the matrix instruction.
        result_bits: width of an element of the result.
        limit: the most registers of a thread.

    Example:
        >>> from tt_layout.analyses.multiplications.matrix_instructions import MatrixInstruction
        >>> wide = MatrixInstruction(
        ...     name="wgmma", shape=(64, 256, 16), instructions=4, issuer="warp group")
        >>> register_refusal(wide, 32, 160)
        >>> register_refusal(wide, 32, 128).partition(";")[0]
        'does not compile: wgmma of N = 256 needs 160 registers per thread, and there are 128'
    """
    if instruction is None or instruction.issuer != WARP_GROUP or not result_bits or not limit:
        return None
    rows, columns, _ = instruction.shape
    needed = rows * columns * result_bits // WORD_BITS // THREADS + SPARE
    if needed <= limit:
        return None
    return (
        f"does not compile: wgmma of N = {columns} needs {needed} registers per thread, "
        f"and there are {limit}; use fewer warps, a higher maxnreg, or a smaller N"
    )


# -- elements that are needed ----------------------------------------------------------------------


def _needed_elements(kernel: AccessAnalysis, value: Value, steps: int = MAX_STEPS) -> Ints | None:
    """Return whether each element of a value, the last dimension first, is needed; None for all.

    The demand of its users is propagated backward through so many operations.
    """
    demands = []
    for user in value.users:
        demand = _demand(kernel, user, value, steps - 1) if steps else None
        if demand is None:
            return None
        demands.append(demand)
    return reduce(or_, demands) if demands else None


def _demand(kernel: AccessAnalysis, user: Operation, value: Value, steps: int) -> Ints | None:
    """Return whether each element of a value is needed by one of its users; None for all."""
    if user.operands.count(value) > 1 or user.regions:
        return None
    masks = [_constant_mask(kernel, user, value)]
    if _is_elementwise(user, value):
        masks.append(_needed_elements(kernel, user.results[0], steps))
    determined = [mask for mask in masks if mask is not None]
    size = prod(value.type.shape)
    if not determined or any(mask.size != size for mask in determined):
        return None
    return reduce(and_, determined)


def _constant_mask(kernel: AccessAnalysis, user: Operation, value: Value) -> Ints | None:
    """Return the elements of a value that a constant mask leaves to a user; None for all."""
    if user.traits.select and user.operands[1] is value:
        return kernel.constant_masks.possible(user.operands[0])
    if user.traits.is_global_store:
        roles = operands(in_todays_form(user))
        if roles.get("value") is value and "mask" in roles:
            return kernel.constant_masks.possible(roles["mask"])
    return None


def _is_elementwise(user: Operation, value: Value) -> bool:
    """Tell whether each element of a result depends only on the same element of a value."""
    if len(user.results) != 1 or user.results[0].type.shape != value.type.shape:
        return False
    is_sum = user.traits.multiplies and user.operands[2:3] == (value,)
    return is_sum or user.traits.elementwise or user.traits.same_elements


def needed_tiles(needed: Ints, layout: LinearLayout, registers: int) -> tuple[int, int]:
    """Return the number of a product's tiles with a needed element, and of all tiles.

    Args:
        needed: whether each element is needed, the last dimension first.
        layout: layout of the product.
        registers: registers of a thread that one instruction writes: a tile.

    Example:
        A thread has four rows of 16 elements, of which two are needed:

        >>> import numpy as np
        >>> from tt_layout.algebra.linear_layout import LinearLayout
        >>> bases = [("register", [[1, 0], [2, 0]]), ("lane", [[0, 1 << bit] for bit in range(4)])]
        >>> layout = LinearLayout.from_bases(bases, ["dim0", "dim1"])
        >>> needed_tiles(np.repeat(np.array([1, 1, 0, 0]), 16), layout, 1)
        (2, 4)
    """
    tile_bits = registers.bit_length() - 1
    turned = layout.transpose_outs(layout.get_out_dim_names()[::-1])
    register_columns, *threads = map(turned.columns, ("register", "lane", "warp", "block"))
    inside = all_values([*register_columns[:tile_bits], *chain(*threads)])
    tiles = all_values(register_columns[tile_bits:])
    return int((needed[tiles[:, None] ^ inside] != 0).any(axis=1).sum()), len(tiles)
