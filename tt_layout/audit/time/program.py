"""A kernel of an audit, read into the steps of one of its programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds.bounds import Grid, programs_of
from tt_layout.audit.bounds.footprint import Footprint, footprint
from tt_layout.audit.bounds.work import Counts
from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.operations.details import GlobalDetails, TmaDetails
from tt_layout.audit.operations.multiplications import Multiplication
from tt_layout.audit.registers import RegisterPressure
from tt_layout.audit.time.steps import Access, Product, Program, Step, Way
from tt_layout.enums import MemorySpace
from tt_layout.ir.ssa import Block, Region, SsaFunction, SsaOperation, Value, integers
from tt_layout.ir.ssa.control_flow import ways
from tt_layout.ir.types import IRType

_PENDING = ("num", "pendings", "count")
"""Attributes that say how many groups or products a wait lets pending."""


def read_program(
    audit: Audit,
    symbol: str,
    grid: Grid,
    registers: RegisterPressure | None,
    shared_bytes: int | None,
    tensor_columns: int = 0,
) -> Program | None:
    """Return the program of a kernel; None where the dump does not have it whole.

    Args:
        audit: of its module.
        symbol: the kernel, as the module calls it.
        grid: programs along x, y and z.
        registers: where it comes closest to its limit; None where the GPU has no registers.
        shared_bytes: of a CTA.
        tensor_columns: of tensor memory.
    """
    audited = audit.audited
    if audited is None:
        return None
    function = next((one for one in audited.functions if one.name == symbol), None)
    warps = audit.module.number("num-warps") or audit.known.warps
    if function is None or warps is None or not function.body:
        return None
    programs = programs_of(audit, symbol, grid)
    touched = footprint(audit, symbol, grid, is_sampled=True)
    reader = _Reader(audit, audited, function, Counts(audited, programs), touched)
    steps = reader.region(function.body)
    compiled = registers.compiled if registers is not None else None
    return Program(
        steps=steps,
        warps=warps,
        threads=audit.module.number("threads-per-warp") or 32,
        programs=prod(grid),
        first_bytes=touched.bytes + reader.described,
        needed=registers.needed if registers is not None else 0,
        limit=registers.limit if registers is not None else 255,
        used=compiled.used if compiled is not None else None,
        spilled=compiled.spilled if compiled is not None else None,
        shared_bytes=shared_bytes or 0,
        tensor_columns=tensor_columns,
    )


class _Reader:
    """Reads the operations of a function."""

    def __init__(
        self,
        audit: Audit,
        audited: AuditedModule,
        function: SsaFunction,
        counts: Counts,
        touched: Footprint,
    ) -> None:
        self._audited, self._function = audited, function
        self._counts, self._touched = counts, touched.lines
        self._rows = audit.by_place
        own = audited.operations_of(function.name)
        self._full: dict[SsaOperation, FullOperation] = {one.operation: one for one in own}
        self._described: dict[tuple[Value, str], float] = {}
        self._products = {(one.line, one.column): one for one in audit.multiplications}

    def region(self, region: Region) -> tuple[Step, ...]:
        """Return the steps of a region, those of its blocks one behind the other."""
        return tuple(self._step(one) for block in region for one in block.operations)

    def _step(self, operation: SsaOperation) -> Step:
        runs = self._counts.runs_of(self._full[operation])
        row = self._rows.get((operation.line, operation.column))
        product = self._products.get((operation.line, operation.column))
        combines = operation.traits.combines
        location = self._function.location(operation)
        result, operand = self._first(operation.results), self._first(operation.operands)
        root, slots = self._buffer(operation)
        return Step(
            name=operation.name,
            line=operation.line,
            source=location.line if location is not None else None,
            operands=tuple(value.name for value in operation.operands),
            results=tuple(value.name for value in operation.results),
            registers=self._registers(result),
            inputs=self._registers(operand),
            element=_element(operation.results, result),
            input_element=_element(operation.operands, operand),
            number=next((n for key in _PENDING if (n := operation.integer(key)) is not None), 0),
            combines=tuple(_names(operation)) if combines else (),
            access=self._access(row, operation) if row is not None else None,
            product=_product(product) if product is not None else None,
            runs=runs.number,
            is_assumed=runs.is_assumed,
            regions=() if combines else tuple(self.region(one) for one in operation.regions),
            ways=() if combines else tuple(_ways(operation)),
            warps=tuple(integers(operation.attributes.get("partitionNumWarps"))),
            root=root,
            slots=slots,
        )

    def _first(self, values: Sequence[Value]) -> IRType | None:
        """Return the type of the first tensor of some values."""
        types = (self._function.type_of(value) for value in values)
        return next((one for one in types if one is not None and one.is_tensor), None)

    def _registers(self, ir_type: IRType | None) -> int:
        if ir_type is None:
            return 0
        return self._audited.layouts.distinct_registers(ir_type) or 1

    @property
    def described(self) -> float:
        """Bytes of the tensors that descriptors describe, read and written, each once."""
        return sum(self._described.values())

    def _tensor_bytes(self, operation: SsaOperation, kind: str) -> float | None:
        """Return the bytes of the tensor whose descriptor an operation takes, where it is made.

        The sizes of its dimensions are behind those of the box, in ``ttng.tensormap_create``.
        """
        for value in operation.operands:
            ir_type, made = self._function.type_of(value), value.definition
            if ir_type is None or not ir_type.is_descriptor or made is None:
                continue
            rank, bits = len(ir_type.shape), ir_type.element_bits or 8
            for maker in made.operands[0].users if made.operands else ():
                if maker.name.endswith("tensormap_create") and maker.operands[0] in made.operands:
                    sizes = maker.operands[2 + rank : 2 + 2 * rank]
                    found = map(self._audited.evaluator(self._function).scalar, sizes)
                    numbers = [one for one in found if isinstance(one, int)]
                    if len(numbers) == rank:
                        self._described[value, kind] = prod(numbers) * bits / 8
                        return self._described[value, kind]
        return None

    def _access(self, row: MovementRow, operation: SsaOperation) -> Access:
        details = row.cost.details if row.cost is not None else None
        sectors = wavefronts = None
        if isinstance(details, GlobalDetails):
            sectors = _mean(details.total_sectors, row.executions.number, details.sectors)
            wavefronts = _mean(
                details.total_lsu_wavefronts, row.executions.number, details.lsu_wavefronts
            )
            sectors = sectors * details.sector_bytes if sectors is not None else None
        kind = str(row.operation.group)
        touched = self._touched.get(row.operation.line)
        if touched is None and isinstance(details, TmaDetails):
            touched = self._tensor_bytes(operation, kind)
        return Access(
            kind=kind,
            details=details,
            bytes=row.operation.bytes or 0,
            sector_bytes=sectors,
            wavefronts=wavefronts,
            touched=touched,
        )

    def _buffer(self, operation: SsaOperation) -> tuple[str, int]:
        """Return the allocation that an operand in memory is part of, and how many parts it has."""
        for value in operation.operands:
            ir_type = self._function.type_of(value)
            if ir_type is not None and ir_type.is_memory and not operation.traits.memory_view:
                root = _root(value)
                whole = self._function.type_of(root)
                shape = whole.shape if whole is not None else ()
                return root.name, shape[0] if len(shape) > 1 else 1
        return "", 1


def _mean(total: float | None, runs: int | None, first: float | None) -> float | None:
    """Return what an execution does in the mean; without all of them what the first does."""
    return total / runs if total is not None and runs else first


def _root(value: Value) -> Value:
    """Return the allocation, or the argument, behind views of a buffer."""
    while (operation := value.definition) is not None and operation.traits.memory_view:
        value = operation.operands[0]
    owner = value.owner
    if isinstance(owner, Block) and owner.owner is not None and owner.owner.traits.partitions:
        number = owner.arguments.index(value)
        handed = owner.owner.operands
        return _root(handed[number]) if number < len(handed) else value
    return value


def _element(values: Sequence[Value], tensor: IRType | None) -> str:
    if tensor is not None:
        return tensor.element_type
    return values[0].type.element if values else ""


def _names(operation: SsaOperation) -> Iterator[str]:
    for inner in operation.walk():
        if inner is not operation and not inner.traits.terminator:
            yield inner.name


def _ways(operation: SsaOperation) -> Iterator[Way]:
    for way in ways(operation):
        if not isinstance(way.end, str):
            yield Way(
                begin=way.begin,
                end=way.end,
                passed=tuple(value.name for value in way.passed),
                received=tuple(value.name for value in way.received),
            )


def _product(found: Multiplication) -> Product:
    instruction = found.instruction
    return Product(
        instruction=instruction.name if instruction is not None else None,
        shape=found.first,
        flops=found.flops,
        element=found.a.element,
        a_in_registers=found.a.where is MemorySpace.REGISTERS,
        fma=found.fma.per_thread if found.fma is not None else 0,
    )
