"""Layouts of shared memory for a conflicting access, over all accesses to its buffers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from math import inf, prod

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.shared_memory.candidates import SwizzleProblem
from tt_layout.analyses.shared_memory.direct_copies import DirectCopy, direct_layouts
from tt_layout.audit.conclusions import Conclusions
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.operations.multiplications import Multiplication, multiplications
from tt_layout.audit.suggestions.suggestion import EVERYWHERE, CostChange, Suggestion
from tt_layout.audit.suggestions.trial import LayoutExchange, Trial
from tt_layout.audit.values.executions import assumed_runs
from tt_layout.encodings import Encoding, SharedEncoding
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.encodings.swizzled_shared import SwizzledShared
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target, find_target
from tt_layout.ir.data_movements import LOCAL_ACCESSES, MovementKind
from tt_layout.ir.operations import MovementOperation, type_bytes
from tt_layout.ir.ssa import Function, Operation, Value
from tt_layout.ir.types import IRType
from tt_layout.tuples import NamedTuple

FOLLOWED = frozenset(
    {
        "async_copy_global_to_local",
        "async_wait",
        "barrier",
        "buffer_load_to_local",
        "condition",
        "fence_async_shared",
        "for",
        "if",
        "local_alloc",
        "local_dealloc",
        "local_load",
        "local_store",
        "memdesc_index",
        "memdesc_subslice",
        "memdesc_subview",
        "warp_group_dot",
        "warp_group_dot_wait",
        "while",
        "yield",
    }
)
"""Operations, without dialect, through which the accesses to a buffer are followed."""

COPIES = frozenset({"async_copy_global_to_local", "buffer_load_to_local"})
"""Operations, without dialect, that copy from global memory to a buffer."""

MATRIX_READERS = frozenset({"warp_group_dot"})
"""Operations that read shared memory themselves, in layouts of their own only."""

MAX_MEMBERS = 400  # layouts of a family that are tried

USUAL_BYTES = (16, 8)  # that a swizzle keeps together

PHASE_BYTES = 128  # of 32 banks


class _Access(NamedTuple):
    """An access to a buffer: registers over the whole of it, and how often it runs."""

    registers: LinearLayout
    is_store: bool
    runs: int


def better_buffers(conclusions: Conclusions, operation: MovementOperation) -> list[Suggestion]:
    """Return layouts that save cycles over all accesses, the best of each family, best first.

    Args:
        conclusions: conclusions about the module.
        operation: an access to the buffers whose layout is in question.
    """
    audited, memory = conclusions.audited, _memory(operation)
    if memory is None or audited.gpu is None:
        return []
    assert isinstance(memory.encoding, SharedEncoding)
    readers = _other_readers(audited, memory.encoding)
    size = type_bytes(memory)
    if readers is None or size is None or not memory.elements:
        return []
    suggestions = []
    shape = memory.tensor_type().shape
    accesses = _accesses(conclusions, memory.encoding, shape)
    gpu = find_target(audited.gpu)
    is_copied = _is_copied(audited, memory.encoding)
    families = ("nvmma",) if readers else _families(gpu, is_copied=is_copied)
    candidates: Iterable[SharedEncoding] = swizzling_widths(memory.encoding)
    element_bytes = size // memory.elements
    if is_copied and gpu.is_amd and not gpu.scatters_async_copies:
        copies = _direct_copies(conclusions, memory.encoding, element_bytes)
        candidates = _writable(accesses, shape, element_bytes, gpu, copies)
    elif accesses:
        candidates = _candidates(accesses, shape, element_bytes, gpu, families)
        if is_copied:
            copies = _direct_copies(conclusions, memory.encoding, element_bytes)
            whole = _undivided(accesses, shape, element_bytes, gpu, memory.encoding, copies)
            candidates = dict.fromkeys((*candidates, *whole))
    for encoding in candidates:
        suggestion = try_layout(conclusions, memory, encoding)
        if suggestion is not None:
            suggestions.append(suggestion)
    suggestions.sort(key=lambda suggestion: (-suggestion.saved, len(suggestion.worse)))
    return suggestions if accesses else suggestions[:1]


def usual_buffer(conclusions: Conclusions, operation: MovementOperation) -> Suggestion | None:
    """Return the usual swizzle that saves most over all accesses, of those that save in one.

    A few trials where :func:`better_buffers` searches; its arguments.
    """
    audited, memory = conclusions.audited, _memory(operation)
    size = type_bytes(memory) if memory is not None else None
    if memory is None or size is None or not memory.elements or audited.gpu is None:
        return None
    assert isinstance(memory.encoding, SharedEncoding)
    if _other_readers(audited, memory.encoding) or _is_copied(audited, memory.encoding):
        return next(iter(better_buffers(conclusions, operation)), None)
    usual = _usual_swizzles(memory.tensor_type().shape, size // memory.elements)
    tried = [
        try_layout(conclusions, memory, encoding)
        for encoding in usual
        if _saves(conclusions, memory.encoding, encoding, operation)
    ]
    return max(filter(None, tried), key=lambda suggestion: suggestion.saved, default=None)


def _saves(
    conclusions: Conclusions,
    old: Encoding,
    new: Encoding,
    operation: MovementOperation,
) -> bool:
    """Tell whether a layout saves cycles in one access."""
    row = conclusions.row_at(operation.position)
    before = row.cost if row is not None else None
    try:
        after = Trial(conclusions.audited, LayoutExchange({old: new})).cost(operation)
    except LayoutError:
        return False
    return before is not None and after is not None and after.cycles < before.cycles


def _usual_swizzles(shape: tuple[int, ...], element_bytes: int) -> Iterator[SwizzledShared]:
    """Yield the swizzles that compilers take, of each order of the last two dimensions.

    Pieces of 16 or 8 bytes; a phase is for as many rows as fill 32 banks.
    """
    last, *rest = range(len(shape))[::-1]
    for fast, *slow in ((last, *rest), (*rest[:1], last, *rest[1:])):
        per = max(1, PHASE_BYTES // (shape[fast] * element_bytes))
        rows = shape[slow[0]] if slow else 1
        for vec in dict.fromkeys(max(1, size // element_bytes) for size in USUAL_BYTES):
            most = PHASE_BYTES // (vec * element_bytes) // per
            phases = min(most, shape[fast] // vec, rows // per)
            if phases > 0:
                yield SwizzledShared(vec=vec, per_phase=per, max_phase=phases, order=(fast, *slow))


def swizzling_widths(encoding: SharedEncoding) -> Iterator[SharedEncoding]:
    """Yield replacements of a layout that only copies write and matrix instructions read."""
    if isinstance(encoding, NvmmaShared):
        for width in (128, 64, 32):
            yield replace(encoding, swizzling_byte_width=width, spelling=None)


def _memory(operation: MovementOperation) -> IRType | None:
    """Return the type of the buffer that is accessed."""
    memory = operation.memory
    return memory if memory is not None and isinstance(memory.encoding, SharedEncoding) else None


def _families(gpu: Target, *, is_copied: bool) -> tuple[str, ...]:
    """Return the families that a GPU's compiler uses, and the best linear layout.

    NVIDIA's does not lower an asynchronous copy into a padded buffer.
    """
    if gpu.is_nvidia:
        return ("swizzled", "nvmma", *(["padded"] if not is_copied else []), "linear")
    return ("swizzled", "padded", "linear")


def _is_copied(audited: AuditedModule, encoding: Encoding) -> bool:
    """Tell whether an asynchronous copy writes buffers of a layout."""
    for full in audited.chosen(_copies):
        types = map(full.function.type_of, full.operation.operands)
        if any(t is not None and t.encoding == encoding for t in types):
            return True
    return False


def _copies(operation: Operation) -> bool:
    return operation.name.rpartition(".")[2] in COPIES


def _direct_copies(
    conclusions: Conclusions, encoding: Encoding, element_bytes: int
) -> tuple[DirectCopy, ...]:
    """Return the copies to buffers of a layout; none where one is not known."""
    copies: dict[DirectCopy, None] = {}
    for row in conclusions.priced:
        operation, memory = row.operation, row.operation.memory
        if operation.group is not MovementKind.COPY_IN or memory is None:
            continue
        if memory.encoding == encoding:
            details = row.cost.details if row.cost is not None else None
            source, layouts = operation.source, conclusions.audited.layouts
            linear = layouts.linear(source) if source else None
            if linear is None or not isinstance(details, GlobalDetails):
                return ()
            copies[DirectCopy(linear, details.width_bytes // element_bytes)] = None
    return tuple(copies)


def _other_readers(audited: AuditedModule, encoding: Encoding) -> bool | None:
    """Tell whether matrix instructions read buffers of a layout; None where others do, too."""
    is_read = False
    for function in audited.functions:
        texts = _texts_of(function, encoding)
        for operation in function.operations if texts else ():
            if any(value.text in texts for value in (*operation.operands, *operation.results)):
                bare = operation.name.rpartition(".")[2]
                if bare not in FOLLOWED:
                    return None
                is_read |= bare in MATRIX_READERS
    return is_read


def _texts_of(function: Function, encoding: Encoding) -> set[str]:
    """Return the types of a function with a layout, as they are written."""
    values = function.once("values of each type", _by_text)
    types = [(value.text, function.type_of(value)) for value in values]
    return {text for text, t in types if t is not None and t.encoding == encoding}


def _by_text(function: Function) -> Sequence[Value]:
    """Return a value of each type of a function."""
    operands = (value for operation in function.operations for value in operation.operands)
    return [*{value.text: value for value in chain(function.values.values(), operands)}.values()]


def _accesses(
    conclusions: Conclusions, encoding: Encoding, shape: tuple[int, ...]
) -> tuple[_Access, ...]:
    """Return the accesses to buffers of a layout, of one shape, each kind once."""
    accesses = Counter[tuple[LinearLayout, bool]]()
    for row in conclusions.priced:
        operation = row.operation
        if operation.group not in LOCAL_ACCESSES:
            continue
        register, memory = operation.source, operation.target
        if operation.group is MovementKind.LOCAL_LOAD:
            register, memory = memory, register
        if register is None or memory is None or memory.encoding != encoding:
            continue
        registers = conclusions.audited.layouts.linear(register)
        if registers is None or registers.out_sizes != _sizes(shape, registers):
            buffer_layout = conclusions.audited.layouts.linear(memory)
            if registers is None or buffer_layout is None or memory.tensor_type().shape != shape:
                continue
            registers = LinearLayout(registers.in_bases, buffer_layout.out_sizes)
        key = registers, operation.group is MovementKind.LOCAL_STORE
        accesses[key] += assumed_runs(row.executions)
    return tuple(_Access(*key, runs) for key, runs in accesses.items())


def _sizes(shape: Sequence[int], registers: LinearLayout) -> tuple[tuple[str, int], ...]:
    names = registers.get_out_dim_names()
    return tuple(zip(names, shape)) if len(names) == len(shape) else ()


@lru_cache(maxsize=256)
def _candidates(
    accesses: tuple[_Access, ...],
    shape: tuple[int, ...],
    element_bytes: int,
    gpu: Target,
    families: tuple[str, ...],
) -> tuple[SharedEncoding, ...]:
    """Return the best layout of each family for some accesses, as far as any fits."""
    from tt_layout.analyses.layouts.shortest import shortest
    from tt_layout.analyses.shared_memory.optimum import linear_optimum

    if prod(shape) < 2:
        return ()
    problem, weights = _problem(accesses, shape, element_bytes, gpu)
    try:
        optimum = linear_optimum(problem)
    except LayoutError:
        return ()
    least = sum(w * a.wavefronts for w, a in zip(weights, optimum.accesses))
    candidates = [_best(problem, weights, least, name) for name in families if name != "linear"]
    chosen = [encoding for encoding in candidates if encoding is not None]
    if "linear" not in families:
        return tuple(chosen)
    named = shortest(optimum.encoding, shape, 8 * element_bytes)
    return (*chosen, named if isinstance(named, SharedEncoding) else optimum.encoding)


@lru_cache(maxsize=256)
def _writable(
    accesses: tuple[_Access, ...],
    shape: tuple[int, ...],
    element_bytes: int,
    gpu: Target,
    copies: tuple[DirectCopy, ...],
) -> tuple[SharedEncoding, ...]:
    """Return the best layout for some accesses of those that copies can write, if there is any."""
    if not accesses or not copies:
        return ()
    problem, weights = _problem(accesses, shape, element_bytes, gpu)
    candidate = _best_of(direct_layouts(copies, element_bytes), problem, weights, 0)
    return (candidate,) if candidate is not None else ()


@lru_cache(maxsize=256)
def _undivided(
    accesses: tuple[_Access, ...],
    shape: tuple[int, ...],
    element_bytes: int,
    gpu: Target,
    old: SharedEncoding,
    copies: tuple[DirectCopy, ...],
) -> tuple[SharedEncoding, ...]:
    """Return the best swizzle that leaves together what a copy moves at once, if there is any."""
    if not isinstance(old, SwizzledShared) or not copies:
        return ()
    together = max(copy.vector for copy in copies)
    problem, weights = _problem(accesses, shape, element_bytes, gpu)
    swizzles = (
        encoding
        for encoding in _members(problem, "swizzled")
        if isinstance(encoding, SwizzledShared)
        and encoding.order == old.order
        and encoding.vec >= together
    )
    best = _best_of(swizzles, problem, weights, 0)
    return (best,) if best is not None else ()


def _problem(
    accesses: tuple[_Access, ...], shape: tuple[int, ...], element_bytes: int, gpu: Target
) -> tuple[SwizzleProblem, list[int]]:
    """Return the search problem, and the number of runs of each access."""
    problem = SwizzleProblem([], [], shape, element_bytes, gpu)
    problem.registers = [(access.registers, access.is_store) for access in accesses]
    return problem, [access.runs for access in accesses]


def _best(
    problem: SwizzleProblem, weights: Sequence[int], least: float, family: str
) -> SharedEncoding | None:
    """Return the best layout of a family; the first that needs no more than the best of all."""
    return _best_of(_members(problem, family), problem, weights, least)


def _best_of(
    candidates: Iterable[SharedEncoding],
    problem: SwizzleProblem,
    weights: Sequence[int],
    least: float,
) -> SharedEncoding | None:
    """Return the cheapest of some layouts; the first that needs no more than the least."""
    best: SharedEncoding | None = None
    fewest: float = inf
    for encoding in candidates:
        try:
            cost = problem.wavefronts_below(fewest, encoding, weights)
        except LayoutError:
            continue
        if cost is not None:
            best, fewest = encoding, cost
            if cost <= least:
                break
    return best


def _members(problem: SwizzleProblem, family: str) -> Iterator[SharedEncoding]:
    """Yield the layouts of a family, those that are used most first."""
    from tt_layout.analyses.shared_memory.swizzle import members

    encodings = [encoding for encoding, _ in members(family, problem.shape, problem.elem_bytes)]
    size = problem.elem_bytes
    yield from sorted(encodings, key=lambda encoding: _oddity(encoding, size))[:MAX_MEMBERS]


def _oddity(encoding: SharedEncoding, element_bytes: int) -> tuple[int, ...]:
    """Return how far a layout is from those in use: 16 bytes together, eight phases."""
    if isinstance(encoding, SwizzledShared):
        phases = encoding.max_phase * encoding.per_phase
        return abs(encoding.vec * element_bytes - 16), abs(phases - 8)
    if isinstance(encoding, NvmmaShared):
        return (-encoding.swizzling_byte_width,)
    return tuple(abs(pad * element_bytes - 16) for _, pad in encoding.padding)


def try_layout(conclusions: Conclusions, memory: IRType, encoding: Encoding) -> Suggestion | None:
    """Return the savings of another layout in place of one; None without any."""
    assert isinstance(memory.encoding, Encoding)
    if encoding == memory.encoding:
        return None
    trial = Trial(conclusions.audited, LayoutExchange({memory.encoding: encoding}))
    changes: list[CostChange] = []
    for row in conclusions.priced:
        if trial.exchange.operation(row.operation) is row.operation:
            continue
        try:
            after = trial.price(row.operation)
        except LayoutError:
            return None
        if (after is None) != (row.cost is None) or is_narrowed(row.cost, after):
            return None
        changes.append(CostChange(row.operation, row.executions, row.cost, after))
    old = memory.encoding
    suggestion = Suggestion(EVERYWHERE, memory.layout or str(old), old, encoding, tuple(changes))
    is_better = suggestion.saved > 0 and _keeps_multiplications(conclusions, trial)
    return suggestion if is_better else None


def is_narrowed(before: Cost | None, after: Cost | None) -> bool:
    """Tell whether an access to global memory gets narrower, and its sectors are not known."""
    was, now = (cost.details if cost is not None else None for cost in (before, after))
    if not isinstance(was, GlobalDetails) or not isinstance(now, GlobalDetails):
        return False
    return now.sectors is None and now.width_bytes < was.width_bytes


def _keeps_multiplications(conclusions: Conclusions, trial: Trial) -> bool:
    """Tell whether the matrix instructions stay as they are."""
    before = conclusions.multiplications
    if not any(_is_exchanged(product, trial.exchange) for product in before):
        return True
    return list(map(_instruction, before)) == list(map(_instruction, multiplications(trial)))


def _is_exchanged(product: Multiplication, exchange: LayoutExchange) -> bool:
    """Tell whether an operand, the result or a scale has a layout that is exchanged."""
    matrices = product.a, product.b, product.d, *(product.scales or ())
    return any(exchange.encoding(matrix.encoding) != matrix.encoding for matrix in matrices)


def _instruction(product: Multiplication) -> tuple[object, ...]:
    """Return the key of a multiplication, without the swizzle of its descriptors."""
    ways = [
        descriptor.transposed if descriptor is not None else None
        for descriptor in product.descriptors
    ]
    return product.line, product.instruction, product.refusal, *ways
