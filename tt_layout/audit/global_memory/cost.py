"""Costs of accesses to global memory: instructions, requests and sectors.

Where the addresses are known, they are assigned to the lanes and counted.  Where they are not,
the axis analysis still determines which elements are next to each other: within such a run the
addresses are known but for where it begins.  A request touches at least the sectors of one of
its runs, and at most those of all of them.

Registers that have the same address are loaded once: a row of 512 elements that is broadcast to
64 rows is loaded by as many instructions as the row alone, where it has no mask, or one that
constants make true.

Source:
    ptxas merges equal loads that have no predicate: assembly of the wheels 3.6 and 3.9 for sm90,
    counters of an H200.  The PTX still has all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from math import expm1, log, log1p, prod, sqrt

import numpy as np

from tt_layout.algebra.arrays import Ints
from tt_layout.algebra.linear_layout import LinearLayout, log2
from tt_layout.analyses.global_memory.global_access import LINE_BYTES, SECTOR_BYTES
from tt_layout.analyses.global_memory.sectors import Lanes, SectorCounts
from tt_layout.audit.axis import AxisInfo
from tt_layout.audit.global_memory.access_shape import AccessShape, Addresses, shape_lanes
from tt_layout.audit.global_memory.async_copies import (
    all_written,
    check_direct_copy,
    is_async_copy,
    swizzling_shuffles,
    written_wavefronts,
)
from tt_layout.audit.global_memory.constant_masks import kept_instructions
from tt_layout.audit.global_memory.joined_scalars import is_scalar
from tt_layout.audit.global_memory.limits import WidthLimit, limit_of
from tt_layout.audit.global_memory.operands import FORMS, address_of, in_todays_form, operands
from tt_layout.audit.global_memory.relative_addresses import relative_traffic
from tt_layout.audit.global_memory.scalars import scalar_layout, scalar_width
from tt_layout.audit.global_memory.traffic import (
    SectorBounds,
    Traffic,
    count_run,
    idle_warps,
    traffic,
)
from tt_layout.audit.global_memory.width import (
    AccessAnalysis,
    PlacedAccess,
    Width,
    access_width,
    address_info,
)
from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import EntryDetails, GlobalDetails
from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.executions import executions
from tt_layout.audit.values.given import PROGRAM_COUNTS, PROGRAM_IDS
from tt_layout.audit.values.unknown import Unknown, UnknownError, operation_text, unknowns
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.ir.data_movements import MovementKind
from tt_layout.ir.operations import MovementOperation
from tt_layout.ir.ssa import Function, Operation, Value
from tt_layout.releases import Release
from tt_layout.surface import values_of
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count

MAX_COSTS = 1 << 10
"""The most costs of a function's accesses that are cached, for trials of other layouts."""

LOOKED_UP = 3
"""Lines that the first-level cache looks up in a cycle: 32 words of 128 KB by chance took an H100
10.8 cycles, of 16, 8 and 4 lines 5.7, 3.7 and 2.6 (``benchmarks/hardware/rates.py``)."""

AMD_SECTOR_BYTES = 64
"""The smallest request of AMD's memory; its lines are of 128 bytes, as NVIDIA's."""


# -- requests and sectors --------------------------------------------------------------------------


class AccessTotal(NamedTuple):
    """Sum over all executions of an access in one program."""

    requests: int
    sectors: int
    lines: int
    wavefronts: int


class Sectors(NamedTuple):
    """Requests and sectors of an access, as far as they are known.

    Attributes:
        first: counts of its first execution in one program; None where unknown.
        most: counts with every lane active, where only the mask is unknown.
        total: sums over all executions in one program; None where unknown, or where programs
            differ in the number of executions.
        unknown: why something is unknown.
        bounds: bounds for a request, where the addresses are unknown.
        overflows: integer operations, and their lines, whose results did not fit their type.
    """

    first: SectorCounts | None
    most: SectorCounts | None
    total: AccessTotal | None
    unknown: Unknown | None
    bounds: SectorBounds | None
    overflows: tuple[str, ...] = ()


def access_sectors(
    evaluator: Evaluator,
    operation: Operation,
    shape: AccessShape,
    addresses: Addresses,
    info: AxisInfo | None = None,
    *,
    is_brief: bool = False,
) -> Sectors:
    """Return the requests and sectors of an access.

    Args:
        evaluator: evaluator of its function.
        operation: the access.
        shape: assignment of elements to its lanes.
        addresses: the values that determine its addresses.
        info: AxisInfo of the pointers or offsets.
        is_brief: whether to leave out sums over all executions, and bounds.
    """
    sectors = _sectors(evaluator, operation, shape, addresses, info, is_brief=is_brief)
    if not evaluator.overflows:
        return sectors
    overflowed = set(evaluator.overflows)
    sources = evaluator.structure.sources(addresses.all)
    texts = sorted({operation_text(source) for source in sources if source in overflowed})
    return sectors._replace(overflows=tuple(texts))


def _sectors(
    evaluator: Evaluator,
    operation: Operation,
    shape: AccessShape,
    addresses: Addresses,
    info: AxisInfo | None,
    *,
    is_brief: bool,
) -> Sectors:
    if shape.too_large is not None:
        return Sectors(None, None, None, shape.too_large, None)
    values = [evaluator.value(value) for value in addresses.all]
    unknown = unknowns(values)
    if unknown is None:
        first = count_run(shape, addresses, values)
        if isinstance(first, Unknown):
            return Sectors(None, None, None, first, None)
        if operation.parent is None:
            once = AccessTotal(first.requests, first.sectors, first.lines, first.wavefronts)
            return Sectors(first, None, once, None, None)
        if is_brief:
            return Sectors(first, None, None, None, None)
        total = _all_executions(evaluator, operation, shape, addresses)
        return Sectors(first, None, total, None, None)
    if addresses.mask is not None and unknowns(values[:-1]) is None:
        most = count_run(shape, addresses._replace(mask=None), values[:-1])
        if isinstance(most, SectorCounts):
            return Sectors(None, most, None, unknown, None)
    bounds = run_bounds(shape, info) if info is not None and not is_brief else None
    if bounds is not None and addresses.mask is not None:
        bounds = bounds._replace(least=1)  # a single lane may be active
    return Sectors(None, None, None, unknown, bounds)


def _all_executions(
    evaluator: Evaluator, operation: Operation, shape: AccessShape, addresses: Addresses
) -> AccessTotal | None:
    """Sum up all executions; None if they are unknown, or programs differ in their number."""
    if executions(evaluator, operation).first is not None:
        return None
    try:
        total = traffic(evaluator, operation, shape, addresses)
    except UnknownError:
        return None
    requests, sectors, lines, wavefronts = total.counts
    if sectors is None or lines is None or wavefronts is None or total.assumed:
        return None
    return AccessTotal(requests, sectors, lines, wavefronts)


# -- without addresses ----------------------------------------------------------------------


@lru_cache(maxsize=256)
def wavefronts_apart(shape: AccessShape, info: AxisInfo) -> int:
    """Return the wavefronts of an execution whose runs are far apart and aligned.

    Rows of a tensor mostly are: their distance is a multiple of a line, so that all of them are in
    the same banks.

    Args:
        shape: assignment of elements to the lanes.
        info: AxisInfo of the pointers.

    Example:
        Each of 32 lanes reads 2 bytes, and what is between them is not known:

        >>> from tt_layout.algebra.linear_layout import LinearLayout
        >>> layout = LinearLayout.from_bases([("lane", [[1], [2], [4], [8], [16]])], ["dim0"])
        >>> wavefronts_apart(AccessShape(layout, 1, 2, False, False), AxisInfo((1,), (2,), (1,)))
        32
    """
    return _pieces_apart(shape, info, shape.line_bytes)


@lru_cache(maxsize=256)
def sectors_apart(shape: AccessShape, info: AxisInfo) -> int:
    """Return the sectors of an execution whose runs are far apart and aligned.

    Args:
        shape: assignment of elements to the lanes.
        info: AxisInfo of the pointers.

    Example:
        Each of 32 lanes reads 2 bytes, and what is between them is not known:

        >>> from tt_layout.algebra.linear_layout import LinearLayout
        >>> layout = LinearLayout.from_bases([("lane", [[1], [2], [4], [8], [16]])], ["dim0"])
        >>> sectors_apart(AccessShape(layout, 1, 2, False, False), AxisInfo((1,), (2,), (1,)))
        32
    """
    apart = _pieces_apart(shape, info, shape.sector_bytes)
    return apart * max(1, shape.width_bytes // shape.sector_bytes)


def _pieces_apart(shape: AccessShape, info: AxisInfo, size: int) -> int:
    """Return the number of pieces of ``size`` bytes that runs far apart touch."""
    return int(_ordered_runs(shape, info).pieces(size).sum())


def gathered_wavefronts(shape: AccessShape, info: AxisInfo, lines: float) -> float:
    """Return the cycles in which the first-level cache serves an execution of a gather.

    It looks three lines up in a cycle, as an H100 does, and hands out a word of each bank: where
    places are those of chance, as many as the fullest of the banks has.

    Args:
        shape: assignment of elements to the lanes.
        info: AxisInfo of the pointers, whose runs begin at multiples of their divisibility.
        lines: lines that an execution touches.

    Example:
        32 lanes each look for a word, which may be anywhere; for a word of a line of their own:

        >>> from tt_layout.algebra.linear_layout import LinearLayout
        >>> layout = LinearLayout.from_bases([("lane", [[1], [2], [4], [8], [16]])], ["dim0"])
        >>> shape = AccessShape(layout, 1, 4, False, False)
        >>> [round(gathered_wavefronts(shape, AxisInfo((1,), (n,), (1,)), 32)) for n in (4, 128)]
        [11, 32]
    """
    requests = max(1, _request_count(shape))
    each = lines / requests
    places = max(1, shape.line_bytes // max(shape.width_bytes, *info.divisibility))
    fullest = each / places + sqrt(2 * each / places * log(places))
    return requests * max(1.0, each / LOOKED_UP, min(each, fullest))


def pieces_of_table(shape: AccessShape, info: AxisInfo, size: int, table: int) -> float:
    """Return the expected pieces of memory that an execution touches in a table.

    Args:
        shape: assignment of elements to the lanes.
        info: AxisInfo of the pointers.
        size: bytes of a piece: a sector or a line.
        table: bytes that the access can touch.

    Returns:
        The mean over all requests, if each piece of the table is equally likely.

    Example:
        32 lanes each look for one of 16 numbers of 4 bytes, which are a line, and two sectors:

        >>> from tt_layout.algebra.linear_layout import LinearLayout
        >>> layout = LinearLayout.from_bases([("lane", [[1], [2], [4], [8], [16]])], ["dim0"])
        >>> shape, info = AccessShape(layout, 1, 4, False, False), AxisInfo((1,), (4,), (1,))
        >>> pieces_of_table(shape, info, 128, 64), round(pieces_of_table(shape, info, 32, 64), 3)
        (1.0, 2.0)

        For any of 2^62 bytes, all of them are apart:

        >>> round(pieces_of_table(shape, info, 32, 1 << 62), 6)
        32.0
    """
    requests = _request_count(shape)
    each = _pieces_apart(shape, info, size) / max(1, requests)
    pieces = max(1, -(-table // size))
    hit = -expm1(each * log1p(-1 / pieces)) if pieces > 1 else 1.0
    return float(requests * min(each, pieces * hit))


@lru_cache(maxsize=256)
def run_bounds(shape: AccessShape, info: AxisInfo) -> SectorBounds:
    """Return bounds of the sectors of a request that hold for all arguments.

    Args:
        shape: assignment of elements to the lanes.
        info: AxisInfo of the pointers: contiguous runs, and divisors of their addresses.

    Example:
        Of 32 lanes with 4 elements of 2 bytes each, 16 move 128 bytes in a row, from a multiple
        of 16: 4 sectors, or 5; and the other 16 as many, or the same:

        >>> from tt_layout.algebra.linear_layout import LinearLayout
        >>> layout = LinearLayout.from_bases(
        ...     [("register", [[0, 1], [0, 2]]),
        ...      ("lane", [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]])], ["dim0", "dim1"])
        >>> run_bounds(AccessShape(layout, 4, 8, False, False), AxisInfo((1, 64), (16, 16), (1, 1)))
        SectorBounds(least=4, most=10)
    """
    ordered = _ordered_runs(shape, info)
    least = most = ordered.pieces(shape.sector_bytes)
    for begin in range(ordered.step, shape.sector_bytes, ordered.step):
        counts = ordered.pieces(shape.sector_bytes, begin)
        least, most = np.minimum(least, counts), np.maximum(most, counts)
    lanes = ordered.lanes * max(1, shape.width_bytes // shape.sector_bytes)
    return SectorBounds(
        int(np.maximum.reduceat(least, ordered.starts).min()),
        min(lanes, int(np.add.reduceat(most, ordered.starts).max())),
    )


@lru_cache(maxsize=2)  # of the access at hand: its arrays may be large
def _ordered_runs(shape: AccessShape, info: AxisInfo) -> _OrderedRuns:
    """Return the lanes of an access by the runs of its addresses."""
    sizes = [size for _, size in shape.layout.out_sizes]
    element_bytes = shape.width_bytes // shape.vector
    dim = max(range(len(sizes)), key=lambda d: info.contiguity[d])
    length = min(info.contiguity[dim], sizes[dim])
    elements = _active_elements(shape_lanes(shape))
    stride = prod(sizes[dim + 1 :])
    along = elements // stride % sizes[dim]
    inside = along % length
    step = max(element_bytes, min(shape.sector_bytes, info.divisibility[dim]))
    return _OrderedRuns(elements - inside * stride, inside * element_bytes, step)


@lru_cache(maxsize=256)
def _request_count(shape: AccessShape) -> int:
    return len(_active_elements(shape_lanes(shape)))


def _active_elements(lanes: Lanes) -> Ints:
    """Return the elements of each request, with an active lane's in place of an inactive one's."""
    width = lanes.elements.shape[-1]
    elements, active = lanes.elements.reshape(-1, width), lanes.active.reshape(-1, width)
    firsts = np.take_along_axis(elements, active.argmax(axis=1)[:, None], axis=1)
    requests: Ints = np.where(active, elements, firsts)[active.any(axis=1)]
    return requests


class _OrderedRuns:
    """The lanes of all requests, run by run and in each by their offsets.

    Args:
        firsts: the element at which the run of each lane begins, of shape ``[requests, lanes]``.
        offsets: offsets of the lanes in their runs, in bytes.
        step: the alignment of runs, a power of two.

    Attributes:
        step: the alignment of runs.
        lanes: lanes of a request.
        starts: the number of the first run of each request.
    """

    def __init__(self, firsts: Ints, offsets: Ints, step: int) -> None:
        requests, self.lanes = firsts.shape
        self.step = step
        last = int(firsts.max(initial=0)) + 1
        length = int(offsets.max(initial=0)) + 1
        runs = np.arange(requests)[:, None] * last + firsts
        places = np.sort(runs * length + offsets, axis=None)
        numbers = places // length
        self._offsets = places - numbers * length
        self._begins = np.ones(len(numbers), np.bool_)
        self._begins[1:] = numbers[1:] != numbers[:-1]
        self._firsts = np.flatnonzero(self._begins)
        self.starts = np.searchsorted(self._firsts, np.arange(requests) * self.lanes)

    def pieces(self, unit: int, begin: int = 0) -> Ints:
        """Return the number of pieces of memory that each run touches.

        Args:
            unit: bytes of a piece, a power of two.
            begin: bytes behind the beginning of a piece at which each run begins.
        """
        pieces = self._offsets + begin >> log2(unit)
        is_new = self._begins.copy()
        is_new[1:] |= pieces[1:] != pieces[:-1]
        counts: Ints = np.add.reduceat(is_new, self._firsts, dtype=np.int64)
        return counts


# -- repeated addresses ----------------------------------------------------------------------------


def _are_merged(kernel: AccessAnalysis, operation: Operation, roles: Mapping[str, Value]) -> bool:
    """Tell whether equal instructions of an access become one."""
    if not kernel.target.is_nvidia or operation.name != "tt.load":
        return False
    if operation.attributes.get("isVolatile") is True:
        return False
    if "mask" not in roles:
        return True
    mask = kernel.constant_masks.constant(roles["mask"])
    return mask is not None and bool(mask.all())


def _merged_layout(
    kernel: AccessAnalysis, roles: Mapping[str, Value], layout: LinearLayout
) -> LinearLayout:
    """Return the layout of a merged load, without the registers that repeat an address."""
    sizes = [size for _, size in layout.out_sizes]
    infos = [kernel.known[roles[role]] for role in ("pointer", "mask") if role in roles]
    repeats = [all(info.constancy[d] >= size for info in infos) for d, size in enumerate(sizes)]
    if not any(repeats):
        return layout
    zero = (0,) * len(sizes)
    registers = tuple(
        vector if any(step and not same for step, same in zip(vector, repeats)) else zero
        for vector in layout.vectors("register")
    )
    bases = tuple(
        (name, registers if name == "register" else vectors) for name, vectors in layout.in_bases
    )
    return LinearLayout(bases, layout.out_sizes)


# -- costs -----------------------------------------------------------------------------------------


def placed_access(kernel: AccessAnalysis, operation: Operation) -> PlacedAccess:
    """Return the placed access of an operation, cached for cost and bounds.

    Raises:
        LayoutError: its instructions are not known, with the reason.
    """
    if operation in kernel.placed:
        return kernel.placed[operation]
    access = in_todays_form(operation)
    roles = operands(access)
    is_single = is_scalar(access)
    width = scalar_width(kernel, access) if is_single else _known_width(kernel, access, roles)
    _check_mask(roles)
    layout = None
    if is_single:
        layout = scalar_layout(kernel.target.lanes, kernel.warps_at(access))
    is_merged = _are_merged(kernel, access, roles)
    shape = _shape(kernel, access, roles, width, layout, is_merged=is_merged)
    instructions = kept_instructions(kernel.constant_masks, access, roles, shape)
    if instructions is None and shape.too_large is None and is_merged:
        instructions = len(shape_lanes(shape).elements)
    if instructions is not None and instructions < width.instructions:
        width = width._replace(instructions=instructions)
    values = roles["pointer"], roles.get("offsets"), roles.get("mask")
    addresses = Addresses(*values, width.element_bytes)
    placed = kernel.placed[operation] = PlacedAccess(access, roles, width, shape, addresses)
    return placed


def _check_mask(roles: Mapping[str, Value]) -> None:
    """Check that a mask has an element for each address.

    Raises:
        LayoutError: it has another shape, as in a damaged dump.
    """
    mask = roles.get("mask")
    wanted = address_of(roles).type.shape
    if mask is not None and mask.type.shape and mask.type.shape != wanted:
        found, needed = ("x".join(map(str, sizes)) or "1" for sizes in (mask.type.shape, wanted))
        message = f"its mask must have a truth value for each of {needed} addresses, got {found}"
        raise LayoutError(message)


class WholeAccess(NamedTuple):
    """An access in all its runs, in several programs at once.

    Attributes:
        kernel: analysis of its function.
        operation: the access.
        placed: the inputs that determine its bytes.
        bounds: bounds for a request whose addresses are not known.
    """

    kernel: AccessAnalysis
    operation: Operation
    placed: PlacedAccess
    bounds: SectorBounds | None

    def traffic(self, evaluator: Evaluator) -> Traffic:
        """Return the traffic of all runs; raises as `traffic` does."""
        placed = self.placed
        return traffic(evaluator, self.operation, placed.shape, placed.addresses, self.bounds)

    def idle(self, evaluator: Evaluator) -> int:
        """Return the warps that do nothing in its last instruction; as `idle_warps` does."""
        return idle_warps(evaluator, self.operation, self.placed.shape, self.placed.addresses)

    def written(self, evaluator: Evaluator) -> int | None:
        """Return the shared-memory wavefronts of its runs' writes; None where unknown."""
        return all_written(evaluator, self.kernel, self.operation, self.placed)


def whole_access(audited: AuditedModule, full: FullOperation) -> WholeAccess | None:
    """Return an operation as an access to global memory; None if it is not one.

    Raises:
        LayoutError: its instructions are not known, and why.
    """
    kernel = audited.kernel(full.function)
    if full.operation.name not in FORMS or kernel is None:
        return None
    placed = placed_access(kernel, full.operation)
    info = address_info(kernel, placed.roles, placed.width)
    bounds = run_bounds(placed.shape, info) if info is not None else None
    return WholeAccess(kernel, full.operation, placed, bounds)


def global_cost(operation: MovementOperation, audited: AuditedModule) -> Cost | None:
    """Return the cost of an access to global memory: instructions, requests and sectors.

    Raises:
        LayoutError: they are not known, and why.
    """
    full = audited.in_full(operation)
    if full is None or full.operation.name not in FORMS:
        return None
    if full.function.plain is None or audited.shared.explains or not _is_of_text(full, audited):
        return audited.once_for_equal(
            full.function,
            ("cost", full.operation.position),
            lambda: _access_cost(operation, full, audited),
            lambda cost: names_no_line(cost, full.function),
        )
    costs = full.function.once("costs of accesses", lambda _: dict[Hashable, Cost]())
    key = audited.gpu, audited.module.number("num-warps"), operation.group, *_determining(full)
    cost = costs.get(key)
    if cost is None:
        if len(costs) >= MAX_COSTS:
            costs.clear()
        cost = costs[key] = _access_cost(operation, full, audited)
    return cost


def names_no_line(cost: Cost, function: Function) -> bool:
    """Tell whether the cost of an access does not depend on the lines of its function."""
    details = cost.details
    if not isinstance(details, GlobalDetails) or details.overflows:
        return False
    arguments = {value.name.removeprefix("%") for value in function.arguments}
    return arguments.union(PROGRAM_IDS, PROGRAM_COUNTS).issuperset(details.unknown)


def _is_of_text(full: FullOperation, audited: AuditedModule) -> bool:
    """Tell whether an access depends only on the text of its function and on layouts."""
    is_alone = len(audited.functions) == 1  # what others pass to it may be known, too
    if not is_alone or audited.given.product is not None:
        return False
    return audited.evaluator(full.function).depends_on_text_alone


def _determining(full: FullOperation) -> tuple[Hashable, ...]:
    """Return the key of an access in its function's text: its place and the layouts it depends on.

    For a copy to a buffer these include the layouts of all buffers.
    """
    function, operation = full.function, full.operation
    values = (*operation.operands, *operation.results)
    if any(value.type.is_memory for value in values):
        buffers = function.once("types of buffers", _buffers)
        values = (*values, *buffers)
    types = [function.type_of(value) for value in values]
    return operation, function.location(operation), *types


def _buffers(function: Function) -> tuple[Value, ...]:
    """Return a value of each type of buffers in a function."""
    values = {value.text: value for value in function.values.values() if value.type.is_memory}
    return tuple(values.values())


def _access_cost(operation: MovementOperation, full: FullOperation, audited: AuditedModule) -> Cost:
    """Return the cost of an access, as it is in the table of data movements and in full."""
    kernel, evaluator = audited.kernel(full.function), audited.evaluator(full.function)
    if kernel is None:
        raise LayoutError(audited.no_gpu)
    placed = placed_access(kernel, full.operation)
    access, roles, width, shape, addresses = placed
    check_direct_copy(kernel, access, shape)
    info = address_info(kernel, roles, width)
    sectors = access_sectors(
        evaluator, full.operation, shape, addresses, info, is_brief=audited.shared.is_brief
    )
    is_single = not shape.layout.total_out_bits
    if not width.instructions:
        details = _details(width, None, None, 0, sectors, shape)
        return Cost(f"0 x {width.instruction}: its mask is false for all lanes", 0, details)
    limit = limit_of(kernel, access, width) if not is_single else None
    written = written_wavefronts(evaluator, kernel, placed)
    bpermutes = swizzling_shuffles(kernel, access, width.instructions)
    text = f"{width.instructions} x {width.instruction or access.name}"
    if bpermutes:
        text += f", {bpermutes} x ds_bpermute_b32"
    if written is not None:
        conflicts = written.wavefronts - written.fewest
        text += f", {count(written.wavefronts, 'wavefront')}"
        if conflicts:
            text += f", {conflicts} from conflicts"
    text += f", limited by {limit.what}" if limit is not None else ""
    entry = None
    if is_async_copy(access, kernel):
        copied, fewest = written if written is not None else (None, None)
        entry = EntryDetails(wavefronts=copied, ideal_wavefronts=fewest)
    details = _details(width, limit, entry, bpermutes, sectors, shape)
    warps = shape.layout.get_in_dim_size("warp") * shape.layout.get_in_dim_size("block")
    counts = sectors.first or sectors.most
    lanes = shape.layout.get_in_dim_size("lane")
    all_bytes = width.instructions * warps * lanes * width.width_bytes
    price = _price(kernel, placed, sectors, info, all_bytes)
    finding = None
    if limit is not None:
        verbs = {MovementKind.GLOBAL_LOAD: "loads", MovementKind.GLOBAL_STORE: "stores"}
        moved = f"{count(width.width_bytes, 'byte')} per instruction"
        verb = verbs.get(operation.group, "moves")
        finding = f"{verb} {moved} instead of {limit.wanted_bytes}"
    text += sector_text(sectors, shape)
    requests = counts.requests if counts is not None else width.instructions * warps
    entering, fewest_entering = written if written is not None else (0, 0)
    asked = counts.asked_bytes if counts is not None else all_bytes
    cycles, fewest = max(price, entering), max(-(-asked // shape.line_bytes), fewest_entering)
    extra = 0 if is_single else max(0, cycles - fewest)
    return Cost(text, cycles, details, finding, extra, requests)


def _price(
    kernel: AccessAnalysis,
    placed: PlacedAccess,
    sectors: Sectors,
    info: AxisInfo,
    all_bytes: int,
) -> int:
    """Return the wavefronts of an execution.

    Where its addresses are not known its runs are taken to be far apart, unless the distances of
    its elements show that they are not.
    """
    counts = sectors.first or sectors.most
    if counts is not None:
        return counts.wavefronts
    if placed.shape.too_large is not None:
        return -(-all_bytes // placed.shape.line_bytes)
    apart = wavefronts_apart(placed.shape, info)
    if apart <= _request_count(placed.shape):  # a request takes one at least
        return apart
    relative = relative_traffic(kernel, placed)
    return min(apart, relative.counts.wavefronts) if relative is not None else apart


def _known_width(kernel: AccessAnalysis, operation: Operation, roles: Mapping[str, Value]) -> Width:
    """Return the instructions of an access.

    Raises:
        LayoutError: they are not known, and why.
    """
    for operand in roles.values():
        if (missing := kernel.origins.sources.undefined_source(operand)) is not None:
            raise LayoutError(f"{missing.name} is not defined in the dump")
    width = access_width(kernel, operation)
    if width is None:
        raise LayoutError(_reason_without_width(kernel, operation))
    return width


def _reason_without_width(kernel: AccessAnalysis, operation: Operation) -> str:
    """Return why the width of an access is not known, in a few words."""
    roles = operands(operation)
    if "pointer" not in roles:
        return "it has no pointer"
    address = address_of(roles)
    ir_type = kernel.function.type_of(address)
    if ir_type is None:
        return f"the type of {address.name} is not known"
    if not isinstance(ir_type.encoding, Encoding):
        return ir_type.without_linear
    return f"{ir_type.text} has no addresses whose elements are known"


def _shape(
    kernel: AccessAnalysis,
    operation: Operation,
    roles: Mapping[str, Value],
    width: Width,
    layout: LinearLayout | None,
    *,
    is_merged: bool,
) -> AccessShape:
    """Return the shape of an access; a scalar has a layout of one element."""
    ir_type = kernel.function.type_of(address_of(roles))
    if layout is None and ir_type is not None:
        layout = kernel.layouts.linear(ir_type)
    assert layout is not None
    is_amd = kernel.target.is_amd
    is_load = operation.name.endswith(("tt.load", "buffer_load"))
    encoding = ir_type.encoding if ir_type is not None else None
    is_old = isinstance(encoding, Encoding) and encoding.release < Release.V3_9
    is_repeated = operation.name == "tt.store" or (operation.name == "tt.load" and not is_merged)
    if is_merged:
        layout = _merged_layout(kernel, roles, layout)
    return AccessShape(
        layout=layout,
        vector=width.elements,
        width_bytes=width.width_bytes,
        one_holder=not is_load,
        repeats=is_old and is_repeated and not is_amd,
        sector_bytes=AMD_SECTOR_BYTES if is_amd else SECTOR_BYTES,
        line_bytes=LINE_BYTES,
        has_banks=not is_amd,
    )


def _details(
    width: Width,
    limit: WidthLimit | None,
    entry: EntryDetails | None,
    bpermutes: int,
    sectors: Sectors,
    shape: AccessShape,
) -> GlobalDetails:
    """Return the details of an access."""
    first, total, unknown = sectors.first, sectors.total, sectors.unknown
    names = [*sorted(unknown.names), *sorted(unknown.reasons)] if unknown is not None else []
    return GlobalDetails(
        instruction=width.instruction,
        width_bytes=width.width_bytes,
        instructions=width.instructions,
        limited_by=limit,
        entry=entry,
        bpermutes_per_warp=bpermutes or None,
        requests=first.requests if first is not None else None,
        sectors=first.sectors if first is not None else None,
        ideal_sectors=first.ideal_sectors if first is not None else None,
        lines=first.lines if first is not None else None,
        asked_bytes=first.asked_bytes if first is not None else None,
        moved_bytes=first.moved_bytes if first is not None else None,
        lsu_wavefronts=first.wavefronts if first is not None else None,
        total_requests=total.requests if total is not None else None,
        total_sectors=total.sectors if total is not None else None,
        total_lines=total.lines if total is not None else None,
        total_lsu_wavefronts=total.wavefronts if total is not None else None,
        sectors_per_request=sectors.bounds,
        sector_bytes=shape.sector_bytes,
        unknown=tuple(names),
        overflows=tuple(sectors.overflows),
    )


def sector_text(sectors: Sectors, shape: AccessShape) -> str:
    """Format sector counts as the suffix of a cost."""
    is_amd = shape.sector_bytes == AMD_SECTOR_BYTES
    unit = "64-byte transaction" if is_amd else "sector"
    counts, bounds = sectors.first or sectors.most, sectors.bounds
    text = ""
    if counts is not None:
        text = (
            f", {'at most ' if sectors.first is None else ''}{count(counts.requests, 'request')}, "
        )
        text += count(counts.sectors, unit)
        is_ideal = counts.sectors == counts.ideal_sectors
        if sectors.first is not None and not is_ideal:
            text += f" ({counts.ideal_sectors} ideal)"
        if sectors.total is not None and sectors.total.sectors != counts.sectors:
            text += f", {sectors.total.sectors} in all runs"
    elif bounds is not None:
        least, most = bounds
        text = f", {least} to {most} {unit}s" if least != most else f", {count(least, unit)}"
        text += " per request"
    if is_amd and text != "":
        text += ", not measured"
    if sectors.overflows:
        text += f"; {', '.join(sectors.overflows[:2])} overflows"
    if sectors.unknown is None:
        return text
    if sectors.unknown.reasons:
        return f"{text}; it depends on {', '.join(sorted(sectors.unknown.reasons)[:2])}"
    return f"{text}; exact with {values_of(sorted(sectors.unknown.names))}"
