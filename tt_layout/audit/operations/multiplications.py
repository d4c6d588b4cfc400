"""The multiplications of matrices in a module: instructions, operands, and arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.operations.instruction_registers import register_refusal
from tt_layout.audit.registers.pressure import limit_of
from tt_layout.encodings import Encoding, SharedEncoding
from tt_layout.encodings.tensor_memory import TensorMemory
from tt_layout.errors import LayoutError
from tt_layout.ir.data_movements import OPERATIONS, Family
from tt_layout.ir.names import stated
from tt_layout.ir.operations import Location
from tt_layout.ir.types import IRType

if TYPE_CHECKING:
    from tt_layout.analyses.multiplications.matrix_descriptors import Descriptor
    from tt_layout.analyses.multiplications.matrix_instructions import MatrixInstruction, Operand
    from tt_layout.audit.operations.fused_multiply_adds import FusedMultiplyAdds
    from tt_layout.audit.values.executions import Executions

NAMES = frozenset(n for n, row in OPERATIONS.items() if row.family is Family.MULTIPLICATION)
"""Operations that multiply matrices, without their dialect."""

PACKED = "e2m1"
"""The format of which a byte holds two elements."""

Descriptors = tuple["Descriptor | None", "Descriptor | None"]


@dataclass(frozen=True)
class Multiplication:
    """A multiplication of matrices.

    Attributes:
        function: the kernel.
        name: of the operation, with its dialect.
        line, column: where it stands.
        location: in the program; None where the dump has none.
        sizes: batch, M, N and K.
        a, b, d: operands and result.
        instruction: None where none is known.
        descriptors: of A and B; None where one is not in shared memory, or not known.
        executions: how often it runs in one program.
        refusal: why the compiler has no instruction for it, or no registers; None where it has.
        fma: what it is without an instruction; None of one that has one, or where it is not known.
        scales: of A and of B; None where there are none, or of one of them alone.
    """

    function: str
    name: str
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
        """The elements along K in one of A as it is stored, and of B."""
        depth = self.sizes[3]
        return max(1, depth // self.a.shape[-1]), max(1, depth // self.b.shape[-2])

    @property
    def text(self) -> str:
        """Sizes and element types of the multiplication."""
        batch, *sizes = self.sizes
        product = "x".join(map(str, [batch] * (batch > 1) + sizes))
        return f"{product} {self.a.element} x {self.b.element} -> {self.d.element}"

    @property
    def first(self) -> tuple[int, int, int]:
        """M, N and K of its first instruction; all of it where none is known."""
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
    for full in audited.operations:
        if full.operation.name.rpartition(".")[2] in NAMES:
            product = _multiplication(full, audited)
            if product is not None:
                yield product


def _multiplication(full: FullOperation, audited: AuditedModule) -> Multiplication | None:
    from tt_layout.audit.operations.fused_multiply_adds import fused_multiply_adds

    types = _types(full)
    if types is None:
        return None
    operation, function = full.operation, full.function
    a, b, d = (_operand(ir_type) for ir_type in types)
    *batch, rows, columns = d.shape
    depth = a.shape[-1] * (2 if _is_packed(full, "lhs") and not _is_transposed(a) else 1)
    instruction, descriptors, refusal = _instruction(full, audited, (a, b, d), types, depth)
    instruction = _needed(instruction, full, audited, types[2])
    if refusal is None and not any(outer.traits.partitions for outer, _ in full.within):
        refusal = register_refusal(instruction, types[2].element_bits, limit_of(audited))
    sizes = (prod(batch), rows, columns, depth)
    precision = str(operation.attributes.get("inputPrecision"))
    return Multiplication(
        function=function.name,
        name=operation.name,
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
    from tt_layout.analyses.multiplications.matrix_instructions import Operand

    assert isinstance(ir_type.encoding, Encoding)
    return Operand(ir_type.encoding, ir_type.shape, ir_type.element_type)


def _is_packed(full: FullOperation, side: str) -> bool:
    return full.operation.attributes.get(side) == PACKED


def _is_transposed(operand: Operand) -> bool:
    return bool(getattr(operand.encoding, "transposed", False))


def _instruction(
    full: FullOperation,
    audited: AuditedModule,
    operands: tuple[Operand, Operand, Operand],
    types: Sequence[IRType],
    depth: int,
) -> tuple[MatrixInstruction | None, Descriptors, str | None]:
    """Return the instruction, the descriptors of its operands, and why there are none."""
    from tt_layout.analyses.multiplications.matrix_instructions import matrix_instruction

    ctas = 2 if _takes_two_ctas(full, audited) else 1
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


def _takes_two_ctas(full: FullOperation, audited: AuditedModule) -> bool:
    is_stated = full.operation.attributes.get("two_ctas") is True
    return is_stated or stated(audited.module.attributes, "ttng.two-ctas") is True


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
        formats=(
            str(full.operation.attributes.get("lhs")),
            str(full.operation.attributes.get("rhs")),
        ),
        scale=scales[0].element_type,
        scales_along_k=scales[0].shape[-1],
        depth=depth,
        ctas=ctas,
        is_transposed=_is_transposed(a) or not _is_transposed(b),
    )


def _needed(
    instruction: MatrixInstruction | None,
    full: FullOperation,
    audited: AuditedModule,
    ir_type: IRType,
) -> MatrixInstruction | None:
    """Return the instructions whose results are needed: AMD's backend drops the others."""
    kernel, layout = audited.kernel(full.function), audited.layouts.linear(ir_type)
    is_own = kernel is not None and kernel.target.is_amd and full.operation.name == "tt.dot"
    if instruction is None or layout is None or kernel is None or not is_own:
        return instruction
    from tt_layout.audit.operations.needed_elements import NeededElements, needed_tiles

    needed = NeededElements(kernel).of(full.operation.results[0])
    if needed is None:
        return instruction
    rows, columns, _ = instruction.shape
    kept, tiles = needed_tiles(needed, layout, rows * columns // kernel.target.lanes)
    return replace(instruction, instructions=max(1, instruction.instructions * kept // tiles))


def _scaled_dot(full: FullOperation, d: Operand, depth: int) -> MatrixInstruction:
    """Return the instruction of a multiplication with scales in registers.

    Raises:
        LayoutError: there is none.
    """
    from tt_layout.analyses.multiplications.scaled_dots import Scaling, scaled_dot

    attributes, scales = full.operation.attributes, _scales(full, d)
    formats = str(attributes.get("lhs")), str(attributes.get("rhs"))
    if not scales:
        return scaled_dot(d, Scaling(formats), depth)
    block = depth // max(1, scales[0].shape[-1])
    return scaled_dot(d, Scaling(formats, scales[0].element_type, block), depth)


def _scales(full: FullOperation, d: Operand) -> list[IRType]:
    """Return the types of the scales, that of A before that of B."""
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
    from tt_layout.analyses.multiplications.matrix_descriptors import matrix_descriptor

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
        flops: of its multiplications of matrices, in one program; None where a number of
            executions is not known.
        global_bytes: what it moves from and to global memory; None in the same way.
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
        found: its multiplications.
        moved: the bytes of each movement from or to global memory, of all executions.
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
