"""Demands of one execution of a step on the pipes of a multiprocessor.

Prices of instructions are in cycles for which a warp's instruction takes its scheduler's pipe: 128
over the lanes that a multiprocessor carries out in a cycle, as measured (``docs/time.md``).

Read next:    `tt_layout.audit.time.walk`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from tt_layout.algebra.linear_layout import is_power_of_two
from tt_layout.audit.operations.details import (
    ConversionDetails,
    ExchangeDetails,
    GlobalDetails,
    IndexedDetails,
    SharedDetails,
    SingleAtomicDetails,
    TmaDetails,
)
from tt_layout.audit.time.constants import Constants
from tt_layout.audit.time.steps import Step, StepTraffic
from tt_layout.hardware.product import Product
from tt_layout.hardware.timing import Timing
from tt_layout.ir.data_movements import GLOBAL_WRITES
from tt_layout.tuples import NamedTuple

SECTOR = 32
LINE = 128
STORED_AND_LOADED = 0.25
"""Cycles of the load/store unit for each instruction of a conversion, in addition to wavefronts.

64 x 64 words by instructions of one word each took 323 cycles for 270 wavefronts on an H200, by
those of four words 249 for 258.
"""

FENCE = "fence_async_shared"
"""Operation after which tensor cores see earlier stores."""

DESCRIBED = "tensormap_fenceproxy_acquire"
"""Operation after which the tensor memory accelerator sees a descriptor made by the program."""

DESCRIPTOR = 600
DESCRIBING = 130
"""Cycles until a descriptor is there that a program makes in memory, and those of the load-store
unit, which makes one behind the other for all programs.

Fitted on tiles that are turned on an H100, by programs that make two descriptors each and move 2 to
32 KB, and on products whose programs make three.
"""

SHUFFLED = 4
"""Cycles of a shuffle in reductions and scans: 32 lanes a cycle, CUDA's guide says."""

COUNTED = 8
"""Cycles in which a warp counts the bits of a register: 16 lanes a cycle, CUDA's guide says."""


class Demand(NamedTuple):
    """The demand of one execution of a step on each pipe.

    Attributes:
        issue: issue cycles of each warp's instructions, one after the other.
        logic, multiplied: part of `issue` for integer comparisons, selects and bitwise operations,
            and for integer multiplications; the two have pipes of their own.
        held: part of `issue` for which other instructions hold their pipe beyond one cycle.
        special: cycles of its special functions.
        lsu: wavefronts of all warps of the CTA.
        read, written: bytes read from, and written to, the second-level cache.
        spread: bytes of lines read in addition, where only parts of them are asked for.
        parts: bytes written to sectors that an instruction fills in part, as whole sectors.
        sectors: sectors of global memory that atomics add to.
        adding: cycles in which a multiprocessor adds to them while all do.
        tensor: cycles of the tensor cores, for the CTA.
        latency: cycles from the last of these to the result.
        hops: dependent exchanges, one after the other.
        barriers: number of barriers for all warps.
    """

    issue: float = 0
    logic: float = 0
    multiplied: float = 0
    held: float = 0
    special: float = 0
    lsu: float = 0
    read: float = 0
    spread: float = 0
    written: float = 0
    parts: float = 0
    sectors: float = 0
    adding: float = 0
    tensor: float = 0
    latency: float = 0
    hops: int = 0
    barriers: int = 0


NOTHING = Demand()


JOINED = 0.5
"""Least fraction of the sectors that stores to parts of them send to the second-level cache.

Neighbouring instructions of a warp that write to the same sectors are joined if each writes to
few lines: two of them as an H200 and its counters show, whether a sector takes four or eight.
"""

WRITE = 1.7
"""Time of a written byte in the second-level cache over a read one, as measured on an H200."""


def cached_cycles(demand: Demand, timing: Timing) -> float:
    """Return the cycles of the second-level cache's share for a multiprocessor.

    It takes 6 times as long for sectors that are added to, as an H200 was measured.
    """
    whole = demand.written - demand.parts
    moved = demand.read + demand.spread + WRITE * whole + 6 * SECTOR * demand.sectors
    return moved / timing.l2_bytes + demand.parts / timing.parts_bytes


_SPECIAL = {
    "math.exp2": (2, 1),
    "math.exp": (5, 1),
    "math.log2": (28, 0),
    "math.log": (26, 0),
    "math.rsqrt": (1, 1),
    "math.sqrt": (1, 1),
    "math.sin": (33, 1),
    "math.cos": (33, 1),
    "math.tanh": (10, 2),
    "math.erf": (29, 1),
    "arith.divf": (8, 1),
    "tt.precise_divf": (10, 1),
    "tt.approx_divf": (3, 1),
    "tt.precise_sqrt": (10, 1),
    "tt.extern_elementwise": (20, 1),
    "arith.remf": (20, 1),
}
"""Operation -> its instructions for an element, and those of them for special functions.

As Triton's ptxas compiles them for sm90: logarithms are polynomials, and so are sines where the
angle is not so large that another branch is taken.
"""

_REPEATING = ("tt.broadcast", "tt.splat")
"""Operations whose result has each element of their operand many times."""

_MULTIPLIED = 5
"""Instructions of a division whose divisor other divisions share."""

DIVISIONS = dict.fromkeys(("arith.divsi", "arith.divui", "arith.remsi", "arith.remui"), 20)
DIVISIONS |= dict.fromkeys(("arith.floordivsi", "arith.ceildivsi", "arith.ceildivui"), 24)
"""Divisions of integers -> cycles of an element, where the divisor is no constant."""

_BY_CONSTANT = {"arith.divsi": 4, "arith.divui": 4, "arith.remsi": 5, "arith.remui": 5}
_BY_POWER = {"arith.divsi": 3, "arith.divui": 1, "arith.remsi": 4, "arith.remui": 1}
"""Divisions -> instructions for an element, by a constant and by a power of two, as ptxas makes
them for sm90: a product, shifts and additions, or shifts alone."""

_REMAINING = 1.5
"""Cycles of the remainder, if the quotient of the same numbers is there, or the other way round."""

_TO_INTEGER = ("arith.fptosi", "arith.fptoui")
_FROM_INTEGER = ("arith.sitofp", "arith.uitofp")
_SUMS = ("arith.addi", "arith.subi")
_HALVES = ("f16", "bf16")
_MULTIPLICATIONS = ("arith.muli", "tt.mulhiui")
_BITWISE = ("arith.andi", "arith.ori", "arith.xori")
_PAIRED = ("arith.xori",)
_EXTREMES = ("arith.maxnumf", "arith.minnumf", "arith.maximumf", "arith.minimumf")
_LOGIC = (
    *_BITWISE, *_EXTREMES, "arith.shli", "arith.shrsi", "arith.shrui", "arith.cmpi", "arith.cmpf"
)  # fmt: skip


class Pricing:
    """Demands of the steps of a program.

    Args:
        timing, rates: measurements and rates of the GPU.
        constants: fitted constants.
        warps: warps of the CTA.
        steps: steps of the program.
    """

    def __init__(
        self,
        timing: Timing,
        rates: Product,
        constants: Constants,
        warps: int,
        steps: Sequence[Step],
    ) -> None:
        self._timing, self._rates, self._constants = timing, rates, constants
        self._warps = warps
        self._index, self._fused = index_values(steps), fused_values(steps)
        self._partners, self._divided = partner_values(steps), divided_again(steps)
        self._repeated = {
            step.results[0]: max(1, step.inputs) for step in steps if step.name in _REPEATING
        }

    def of(self, step: Step) -> Demand:
        """Return the demand of one execution of a step."""
        if step.product is not None:
            return self._product(step)
        if step.access is not None:
            demand = self._access(step, step.access)
            counts = step.name == "tt.histogram"
            return self._counting(step, demand) if counts else demand
        traits = step.traits
        if traits.elementwise and step.registers:
            return self._elementwise(step)
        if traits.synchronizes:
            return Demand(barriers=1)
        if step.name.endswith(FENCE):
            return Demand(latency=self._timing.fence)
        if step.name.endswith(DESCRIBED):
            return Demand(lsu=DESCRIBING, latency=DESCRIPTOR)
        return NOTHING

    # -- computing ------------------------------------------------------------------------------

    def _elementwise(self, step: Step) -> Demand:
        timing, count = self._timing, step.registers
        if step.name in _SPECIAL:
            issue, special = map(float, _SPECIAL[step.name])
            apart = self._repeated.get(step.operands[-1]) if step.name == "arith.divf" else None
            if apart is not None and apart < count:  # one reciprocal for all with this divisor
                issue, special = _MULTIPLIED, apart / count
            latency = timing.special_latency + timing.alu * (issue - 1)
            return Demand(
                issue=issue * count, special=special * timing.special * count, latency=latency
            )
        if step.name.endswith(".bitcast"):
            return Demand()
        if step.traits.cast and not self._is_addressing(step):
            issue, special = _cast(step.name, step.input_element, step.element, timing.integer)
            latency = timing.special_latency if special else timing.alu
            return Demand(
                issue=issue * count, special=special * timing.special * count, latency=latency
            )
        cycles = self._price(step) * count
        apart = not self._is_addressing(step)
        return Demand(
            issue=cycles,
            logic=cycles if apart and (step.name in _LOGIC or step.traits.select) else 0,
            multiplied=cycles if apart and step.name in _MULTIPLICATIONS else 0,
            latency=timing.alu,
        )

    def _price(self, step: Step) -> float:
        """Return the cycles of an element."""
        traits, name = step.traits, step.name
        integer, element = self._timing.integer, step.element
        if step.results[0] in self._partners:
            return 0
        if self._is_addressing(step):
            return self._constants.indexing
        if step.results[0] in self._fused:
            return 0
        if traits.select or name.startswith("arith.cmp"):
            wide = step.element if traits.select else step.input_element
            return integer * (2 if wide == "i64" else 1)
        if element in _HALVES:
            return 0.5 * (integer if name in _EXTREMES else 1)
        if name in _EXTREMES:
            return integer
        if element == "f64":
            return 2
        if element.startswith("i"):
            each = self._division(step) if name in DIVISIONS else 1.5 if name in _SUMS else integer
            return each * (2 if element == "i64" else 1)
        return 1

    def _division(self, step: Step) -> float:
        """Return the cycles of an element of a division of integers.

        Of numbers that count up the assembler knows the last bits.
        """
        if step.results[0] in self._divided:
            return _REMAINING
        if not step.divisor:
            return DIVISIONS[step.name]
        if not is_power_of_two(step.divisor):
            return self._timing.integer * _BY_CONSTANT.get(step.name, 6)
        return self._timing.integer * (1 if step.contiguity > 1 else _BY_POWER.get(step.name, 4))

    def _is_addressing(self, step: Step) -> bool:
        """Tell whether a step computes pointers, masks, or values that only these use."""
        if step.name.startswith("arith.cmp"):
            return step.name != "arith.cmpf" and not self._is_data(step)
        is_index = bool(step.results) and all(name in self._index for name in step.results)
        return "ptr" in step.element or step.element in ("i1", "index") or is_index

    def _is_data(self, step: Step) -> bool:
        """Tell whether a comparison takes integers that are also stored."""
        is_word = step.input_element in ("i8", "i16", "i32", "i64")
        return is_word and step.operands[0] not in self._index

    # -- memory ---------------------------------------------------------------------------------

    def _access(self, step: Step, access: StepTraffic) -> Demand:
        details, timing = access.details, self._timing
        kind = access.kind
        if isinstance(details, GlobalDetails) or kind.startswith("global"):
            return self._global(step, access)
        if isinstance(details, TmaDetails):
            written = access.bytes if "from local" in kind else 0
            read = access.bytes - written
            return Demand(
                issue=2 / self._warps,
                lsu=access.bytes / LINE,
                read=read,
                written=written,
                latency=timing.l2,
            )
        if kind == "copy to local":
            return self._global(step, access)
        if isinstance(details, SharedDetails):
            lsu = details.instructions * details.wavefronts_per_instruction * self._warps
            is_read = kind == "local load"
            return Demand(
                issue=details.instructions,
                lsu=lsu,
                latency=timing.shared if is_read else 0,
                barriers=0 if is_read else 1,
            )
        if isinstance(details, IndexedDetails):
            apiece = 32 if "atom" in details.instruction or "red" in details.instruction else 2
            return Demand(
                issue=2 * details.instructions,
                lsu=apiece * details.instructions * self._warps,
                latency=timing.shared,
                barriers=1,
            )
        if isinstance(details, ConversionDetails):
            return self._conversion(details)
        if isinstance(details, ExchangeDetails):
            return self._exchange(step, details)
        return NOTHING

    def _counting(self, step: Step, demand: Demand) -> Demand:
        """Add the cycles in which a warp counts the elements of each bin to a demand.

        For each element every bit is voted on; every lane then counts the votes for its bins.
        """
        bins = max(2, step.registers * 32 * self._warps)
        bits = (bins - 1).bit_length()
        each = max(0, bits - 5) / 2 + COUNTED
        cycles = step.inputs * (2 * bits + 5 + bins / 32 * each)
        held = step.inputs * bins / 32 * (COUNTED - 1)
        return demand._replace(issue=demand.issue + cycles, held=demand.held + held)

    def _global(self, step: Step, access: StepTraffic) -> Demand:
        details, constants = access.details, self._constants
        count: float = getattr(details, "instructions", 0) or max(
            1.0, access.bytes / (LINE * self._warps)
        )
        lanes = 1 if isinstance(details, SingleAtomicDetails) or not step.registers else self._warps
        asked = access.sector_bytes if access.sector_bytes is not None else access.bytes
        asked = max(asked, SECTOR)
        lsu = access.wavefronts if access.wavefronts is not None else count * lanes
        if isinstance(details, GlobalDetails) and details.entry is not None:
            lsu = max(lsu, details.entry.wavefronts or 0)
        issue = count * (1 + 2 * constants.indexing)
        if access.kind == "global atomic":
            # One that orders memory waits until what was before it has arrived.
            orders = "acq" in (getattr(details, "instruction", None) or "")
            waits = count if orders else 1.0 if step.results else 0.0
            rate = self._timing.atomic_answers if orders else self._timing.atomic_sectors
            return Demand(
                issue=2 * count,
                lsu=lsu,
                sectors=asked / SECTOR,
                adding=asked / SECTOR / rate,
                latency=self._timing.atomic * waits,
            )
        if access.kind in GLOBAL_WRITES:
            if access.bytes >= asked:
                return Demand(issue=issue, lsu=lsu, written=asked)
            least = JOINED if access.is_joined else 1
            joined = max(asked * least, min(asked, access.once or asked))
            return Demand(issue=issue, lsu=lsu, written=joined, parts=joined)
        # The first-level cache has what instructions of an execution load again.
        read = min(asked, access.once or asked) if access.kind == "global load" else asked
        return Demand(
            issue=issue, lsu=lsu, read=read, spread=access.spread, latency=self._timing.l2
        )

    def _conversion(self, details: ConversionDetails) -> Demand:
        timing, compiled = self._timing, details.compiled
        if details.wavefronts:
            steps = (compiled.store, compiled.load) if compiled is not None else ()
            count = sum(access.instructions for access in steps if access is not None) or 2
            return Demand(
                issue=count,
                lsu=details.wavefronts + STORED_AND_LOADED * count * self._warps,
                latency=timing.shared,
                hops=1,
                barriers=1,
            )
        shuffles = details.shuffles_per_warp or 0
        if not shuffles:
            return NOTHING
        return Demand(
            issue=2 * shuffles,
            held=shuffles,
            lsu=shuffles * self._warps,
            latency=timing.shuffle,
        )

    def _exchange(self, step: Step, details: ExchangeDetails) -> Demand:
        timing, count = self._timing, max(1, step.inputs)
        is_pair = step.results[0] in self._partners
        combined = NOTHING if is_pair else _combined(step.combines, ("cmp", "select", "max"))
        times = count * (2 if step.name == "tt.scan" else 1)
        shuffles, results = details.shuffles_per_warp, max(1, step.registers)
        hops = min(5.0, max(1.0, shuffles / results)) if shuffles else 0.0
        each = self._function_latency(step.combines)
        chain = each * min(6.0, max(1, count.bit_length() - 1))
        wavefronts = details.wavefronts or 0
        return Demand(
            issue=combined.issue * times + SHUFFLED * shuffles,
            held=combined.held * times + (SHUFFLED - 1) * shuffles,
            special=combined.special * timing.special * times,
            lsu=shuffles * self._warps + wavefronts,
            latency=chain
            + hops * (timing.shuffle + each)
            + (2 * timing.shared + 3 * timing.shuffle if wavefronts else 0),
            barriers=2 if wavefronts else 0,
        )

    def _function_latency(self, names: Sequence[str]) -> float:
        """Return the cycles in which a reduction or scan applies its function once.

        Its operations wait for each other, but for the comparisons and choices of several values.
        """
        timing = self._timing
        special = [_SPECIAL[name] for name in names if name in _SPECIAL]
        if not special:
            return timing.alu
        return timing.alu * (len(names) - len(special)) + sum(
            timing.special_latency + timing.alu * (issue - 1) for issue, _ in special
        )

    # -- matrices -------------------------------------------------------------------------------

    def _product(self, step: Step) -> Demand:
        product, timing = step.product, self._timing
        assert product is not None
        name = product.instruction
        if name is None:
            return Demand(issue=product.fma or step.registers, latency=timing.alu)
        rate = self._rates.tensor_rate(name, product.element)
        m, n, k = product.shape
        if "wgmma" in name:
            count = product.flops / (2.0 * m * n * k)
            groups = max(1, self._warps // 4)
            busy = 2.0 * m * n * k / (rate or 4096)
            lsu = (0 if product.a_in_registers else 16) + n / 4
            taken = max(busy, lsu) + (5 if groups == 1 else 0)
            return Demand(
                issue=2 * count / groups,
                lsu=count * lsu,
                tensor=count * taken,
                latency=self._constants.wait,
            )
        if "tcgen05" in name:
            return Demand(issue=1 / self._warps, tensor=product.flops / (rate or 8192), latency=100)
        use = min(1.0, self._warps / timing.schedulers)
        return Demand(
            issue=product.flops / 4096 / self._warps,
            tensor=product.flops / (rate or 2048) / use,
            latency=timing.matrix,
        )


def _combined(names: Sequence[str], slow: Sequence[str]) -> Demand:
    """Return the demand of a reduction's or scan's function per element, at least one addition.

    Args:
        names: operations of the function.
        slow: parts of the names of operations that take their pipe for two cycles.
    """
    special = [_SPECIAL[name] for name in names if name in _SPECIAL]
    held = sum(any(part in name for part in slow) for name in names)
    issue = len(names) - len(special) + held + sum(cycles for cycles, _ in special)
    return Demand(issue=max(1, issue), held=held, special=sum(number for _, number in special))


def _cast(name: str, operand: str, element: str, integer: float) -> tuple[float, float]:
    """Return the cycles of a cast per element, and its special-function instructions.

    As ptxas compiles them for sm90: bytes are spread by permutations, those with a sign become
    bf16 by masks and a subtraction; other conversions between integers and floats take the unit of
    special functions, but those of 32 bits to f32.
    """
    if "f8" in operand:
        return (1.1 + integer * (element == "f32")), 0
    if "f8" in element:
        return 2.1, 0
    if name in _TO_INTEGER:
        return 0, 1
    if name in _FROM_INTEGER:
        if (name, operand, element) == ("arith.sitofp", "i8", "bf16"):
            return 1.5 * integer, 0
        if element == "f32" and (operand == "i32" or name == "arith.uitofp"):
            return integer * (1 if operand == "i32" else 2), 0
        spread = 0.0 if operand not in ("i8", "i16") else 1.5 if element != "f32" else 0.75
        return spread * integer, 1
    if element == "f16" or operand == "bf16" or element == "bf16":
        return 1, 0
    if element.startswith("i") and operand.startswith("i"):
        return (1.5 if element == "i8" else 1) * integer, 0
    return integer, 0


def fused_values(steps: Iterable[Step]) -> frozenset[str]:
    """Return the names of values that the assembler fuses into the instruction that uses them.

    Triton lets it make a product and an addition one; of two products that are added one is left.
    Any function of three words, bit by bit, is one instruction.
    """
    steps = list(steps)
    made = {step.results[0]: step.name for step in steps if step.results}
    uses = Counter(name for step in steps for name in step.operands)
    fused: set[str] = set()
    full: set[str] = set()
    for step in steps:
        if step.name in ("arith.addf", "arith.subf"):
            taken: Sequence[str] = ("arith.mulf",)
        elif step.name in _BITWISE:
            taken = _BITWISE
        else:
            continue
        free = (
            name
            for name in step.operands
            if made.get(name) in taken and uses[name] == 1 and name not in full
        )
        for name in islice(free, 1):
            fused.add(name)
            full.update(step.results)
    return frozenset(fused)


def divided_again(steps: Iterable[Step]) -> frozenset[str]:
    """Return the names of quotients and remainders of numbers that were divided before.

    The assembler divides them once: the remainder is what the quotient's product leaves.
    """
    seen: set[tuple[str, ...]] = set()
    found: set[str] = set()
    for step in steps:
        if step.name in DIVISIONS:
            if step.operands in seen:
                found.update(step.results)
            seen.add(step.operands)
    return frozenset(found)


def partner_values(steps: Iterable[Step]) -> frozenset[str]:
    """Return the names of values that are folded where sorts compare the elements of a pair.

    The exclusive or of both, and of it and one of them, is the other one; a comparison that is
    turned round for some elements takes their predicates, and is one instruction.
    """
    steps = list(steps)
    made = {step.results[0]: step for step in steps if step.results}
    uses = Counter(name for step in steps for name in step.operands)
    found: set[str] = set()
    for step in steps:
        if step.name == "arith.xori":
            for one, other in (step.operands, step.operands[::-1]):
                pair = _repeated_by(made, other)
                if pair is not None and pair.operands == (one,) and pair.combines == _PAIRED:
                    found |= {step.results[0], pair.results[0]}
        elif step.name == "arith.cmpi":
            wide = made.get(step.operands[0])
            if (
                wide is not None
                and (wide.name, wide.input_element) == ("arith.extui", "i1")
                and uses[wide.results[0]] == 1
            ):
                found |= {step.results[0], wide.results[0]}
    return frozenset(found)


def _repeated_by(made: Mapping[str, Step], name: str) -> Step | None:
    """Return the step whose result a value repeats along axes; None of an argument."""
    step = made.get(name)
    while step is not None and step.name in ("tt.broadcast", "tt.expand_dims"):
        step = made.get(step.operands[0])
    return step


def index_values(steps: Iterable[Step]) -> frozenset[str]:
    """Return the names of integers that only addresses, masks and bounds are computed from.

    The assembler folds most of what computes them: constants are added to an address once.
    """
    everything = list(steps)
    data: set[str] = set()
    for step in reversed(everything):
        is_integer = step.element.startswith(("i", "!tt.ptr")) or not step.results
        is_address = "ptr" in step.element and step.name == "tt.addptr"
        if step.name in ("scf.yield", "scf.for", "scf.while", "scf.if", "scf.condition"):
            continue
        if is_address or step.name.startswith("arith.cmp"):
            continue
        if step.access is not None and step.access.kind.startswith(("global", "copy")):
            if not step.results and len(step.operands) > 1:
                data.add(step.operands[1])  # what is stored
            continue
        if is_integer and step.results and not any(name in data for name in step.results):
            continue
        data.update(step.operands)
    integers = {n for s in everything if s.element.startswith("i") for n in s.results}
    return frozenset(integers - data)
