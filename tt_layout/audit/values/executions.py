"""Executions of an operation in one program: the product of the trip counts around it."""

from __future__ import annotations

from math import prod

from tt_layout.audit.values.evaluator import Evaluator
from tt_layout.audit.values.expressions import ATOM, PRODUCT, Expression, trip_count_text
from tt_layout.audit.values.given import PROGRAM_COUNTS, PROGRAM_IDS, program_value
from tt_layout.audit.values.kinds import kinds_of_runs
from tt_layout.audit.values.paths import is_optional, is_repeated
from tt_layout.audit.values.spread import SplitError
from tt_layout.audit.values.structure import LoopPart
from tt_layout.audit.values.unknown import Unknown, UnknownError, operation_text
from tt_layout.ir.ssa.control_flow import BOUNDS
from tt_layout.ir.ssa.model import Operation, Region, Value
from tt_layout.tuples import NamedTuple
from tt_layout.wording import plural

UNKNOWN = "unknown"
"""Start of the text where there is no expression."""


class Executions(NamedTuple):
    """Number of executions of an operation in one program.

    Attributes:
        number: number of executions; None where it is not known, or programs differ.
        text: the number, or an expression over the arguments.
        loop: position of the operation inside, before or after a loop of the kernel.
        programs: unknown program ids in the text.
        binding: precedence of the last operation of the text, as in `Expression`.
        first: number in the first program, in which a causal loop may run least; None where not
            known, or equal to `number`.
        unknown: why the number is not known; None where it is, or programs differ.
        open_loops: loops around it whose length is not known, or differs between programs.
    """

    number: int | None
    text: str
    loop: LoopPart | None
    programs: tuple[str, ...] = ()
    binding: int = ATOM
    first: int | None = None
    unknown: Unknown | None = None
    open_loops: int = 0

    @property
    def is_once(self) -> bool:
        """Whether it runs exactly once."""
        return self.text == "1"

    @property
    def is_unknown(self) -> bool:
        """Whether there is not even an expression; the text has the reason."""
        return self.text.startswith(UNKNOWN)

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the arguments whose values would make the number of each program known.

        Empty where no value would, as where data decides it.

        Example:
            >>> runs = Executions(None, "ceildiv(%n, 64)", None, unknown=Unknown(frozenset(["n"])))
            >>> runs.missing, UNPLACED.missing
            (('n',), ())
        """
        if self.unknown is None or self.unknown.reasons:
            return ()
        if self.text.startswith((UNKNOWN, AT_MOST)):
            return ()
        return tuple(sorted(self.unknown.names.difference(PROGRAM_COUNTS, PROGRAM_IDS)))

    @property
    def times(self) -> str:
        """The number in words.

        Example:
            >>> Executions(1, "1", None).times, Executions(None, "%n", None).times, UNPLACED.times
            ('once', '%n times', 'an unknown number of times: it is in no function')
        """
        if self.is_unknown:
            return f"an unknown number of times{self.text.removeprefix(UNKNOWN)}"
        times = plural("time", self.text == "at most 1")
        return "once" if self.is_once else f"{self.text} {times}"


AT_MOST = "at most "
"""Start of the text where it is an upper bound."""

ASSUMED_TRIPS = 32
"""Assumed runs of what loops of unknown length repeat, to compare costs: in all, however many such
loops are around it.  Their product would have memory move the bytes of an inner loop anew in each
run of the outer one, where caches mostly have them."""


def assumed_runs(executions: Executions) -> int:
    """Return the number of executions, assumed where not known, to compare costs.

    Example:
        >>> assumed_runs(Executions(7, "7", None)), assumed_runs(Executions(None, "%n", None))
        (7, 1)
    """
    if assumes_trips(executions):
        return ASSUMED_TRIPS
    number = executions.number if executions.number is not None else executions.first
    return number if number is not None else 1


def assumes_trips(executions: Executions) -> bool:
    """Tell whether that number is `ASSUMED_TRIPS`: the length of a loop is not known."""
    is_open = executions.number is None and executions.first is None
    return is_in_loop(executions) and (is_open or bool(executions.programs))


def is_in_loop(executions: Executions) -> bool:
    """Tell whether something is in the body of a loop."""
    return executions.loop is not None and executions.loop.is_body


UNPLACED = Executions(None, f"{UNKNOWN}: it is in no function", None)
"""Executions of an operation outside of any function."""


class _Factor(NamedTuple):
    """Number of runs of the region around an operation.

    Attributes:
        number: number of runs; None where not known.
        expression: number of runs as text; None without one.
        at_most: whether it is only an upper bound.
        reason: why there is no expression.
        unknown: why it is not known whether a branch is taken.
        is_loop: whether it is the length of a loop.
    """

    number: int | None
    expression: Expression | None
    at_most: bool = False
    reason: str = ""
    unknown: Unknown | None = None
    is_loop: bool = False

    def is_open(self, programs: tuple[str, ...]) -> bool:
        """Tell whether it is a loop whose length is not known, or depends on some programs."""
        text = self.expression.text if self.expression is not None else ""
        return self.is_loop and (self.number is None or any(name in text for name in programs))


class Count(NamedTuple):
    """Number of runs of an operation in all of some programs.

    Attributes:
        number: number of runs; None where not known.
        assumed: why it is not known whether branches to it are taken; the number assumes that
            they are.
    """

    number: int | None
    assumed: tuple[Unknown, ...] = ()


def executions(evaluator: Evaluator, operation: Operation) -> Executions:
    """Return how often an operation of a function runs."""
    factors = _factors(evaluator, operation)
    number, unknown = _product([factor.number for factor in factors]), None
    if number is None:
        try:
            kinds = kinds_of_runs(evaluator, operation, (), lambda values: None)
            number = sum(runs for runs, _ in kinds)
        except UnknownError as error:
            unknown = error.unknown
    text, arguments = _text(factors), evaluator.given.values
    programs = tuple(name for name in PROGRAM_IDS if name in text.text and name not in arguments)
    part = evaluator.structure.loop_part(operation)
    loops = sum(factor.is_open(programs) for factor in factors)
    first = None
    if programs or _differs(evaluator, operation):
        number, first = None, number
    return Executions(number, text.text, part, programs, text.binding, first, unknown, loops)


def _differs(evaluator: Evaluator, operation: Operation) -> bool:
    """Tell whether a branch around an operation depends on the id of the program."""
    branches = [branch for branch in operation.ancestors if branch.traits.conditional]
    sources = evaluator.structure.sources(v for branch in branches for v in branch.operands[:1])
    asked = {program_value(source) for source in sources if source.traits.by_program}
    return not asked <= evaluator.given.values.keys()


def run_count(evaluator: Evaluator, operation: Operation) -> Count:
    """Count the runs of an operation in all programs that are evaluated.

    Raises:
        UnknownError: nothing can be said about it.
        SplitError: not as often in each of them.
    """
    try:
        factors = _factors(evaluator, operation)
    except SplitError as split:
        try:
            return _counted(evaluator, operation)
        except UnknownError:
            raise split from None  # those of programs alike may be known
    assumed = [factor.unknown for factor in factors if factor.unknown is not None]
    number = _product([1 if factor.unknown else factor.number for factor in factors])
    if number is None:
        return _counted(evaluator, operation)
    return Count(number * evaluator.count, tuple(dict.fromkeys(assumed)))


def _counted(evaluator: Evaluator, operation: Operation) -> Count:
    """Count the executions, where loops and branches differ between iterations or programs."""
    assumed: list[Unknown] = []
    kinds = kinds_of_runs(evaluator, operation, (), lambda values: None, assumed)
    return Count(sum(runs for runs, _ in kinds), tuple(dict.fromkeys(assumed)))


def _factors(evaluator: Evaluator, operation: Operation) -> list[_Factor]:
    around, owners = operation.around, operation.ancestors
    loops = [owner for owner in owners if owner.traits.loop]
    factors = [_region_factor(evaluator, region, loops) for region in reversed(around)]
    within = [operation, *owners]
    return factors + [_block_factor(evaluator, inner, bool(loops)) for inner in within]


def _product(numbers: list[int | None]) -> int | None:
    """Return the product of numbers; None where one is unknown and none is 0."""
    if 0 in numbers:
        return 0
    stated = [number for number in numbers if number is not None]
    return prod(stated) if len(stated) == len(numbers) else None


def _text(factors: list[_Factor]) -> Expression:
    reasons = [factor.reason for factor in factors if factor.expression is None]
    if reasons:
        return Expression(f"{UNKNOWN}: {', '.join(reasons)}")
    expressions = [factor.expression for factor in factors if factor.expression is not None]
    product = prod(e.constant for e in expressions if e.constant is not None)
    names = [e for e in expressions if e.constant is None]
    if len(names) == 1 and product == 1:
        [result] = names
    elif names:
        texts = ([str(product)] if product != 1 else []) + [e.within(PRODUCT) for e in names]
        result = Expression(" * ".join(texts), PRODUCT)
    else:
        result = Expression(str(product))
    if any(factor.at_most for factor in factors):
        return result._replace(text=f"{AT_MOST}{result.text}")
    return result


def _region_factor(evaluator: Evaluator, region: Region, loops: list[Operation]) -> _Factor:
    operation = region.owner
    assert operation is not None, "the body of a function runs once"
    traits = operation.traits
    if len(operation.operands) < (BOUNDS if traits.counted else traits.conditional):
        return _Factor(None, None, reason=operation_text(operation), is_loop=traits.loop)
    if traits.counted:
        text = trip_count_text(operation)
        if _varies(evaluator, operation, operation.operands[:BOUNDS], loops):
            return _Factor(None, text, is_loop=True)
        count = evaluator.trip_count(operation)
        return _Factor(None if isinstance(count, Unknown) else count, text, is_loop=True)
    once = Expression("1", constant=1)
    if traits.conditional:
        condition = evaluator.scalar(operation.operands[0])
        if _varies(evaluator, operation, operation.operands[:1], loops):
            return _Factor(None, once, at_most=True)
        if isinstance(condition, Unknown):
            return _Factor(None, once, at_most=True, unknown=condition)
        return _Factor(int((condition != 0) == (region.number == 0)), once, at_most=True)
    if operation.traits.once:
        return _Factor(1, once)
    return _Factor(None, None, reason=operation_text(operation), is_loop=traits.loop)


def _block_factor(evaluator: Evaluator, operation: Operation, is_in_loop: bool) -> _Factor:
    """Return how often the block of an operation runs when its region does."""
    home, once = operation.block, Expression("1", constant=1)
    if home is None or len(home.region) < 2:
        return _Factor(1, once)
    if is_in_loop and home.region is not evaluator.function.body:
        return _Factor(None, once, at_most=True)
    if is_repeated(home.region, home.label):
        return _Factor(None, None, reason="branches that form a loop", is_loop=True)
    path = evaluator.path(evaluator.top, home.region)
    runs, is_sure = path.runs(home.label), not is_optional(home.region, home.label)
    unknown = path.unknown if runs is None else None
    number = None if runs is None else int(runs)
    return _Factor(number, once, at_most=not is_sure, unknown=unknown)


def _varies(
    evaluator: Evaluator,
    operation: Operation,
    values: tuple[Value, ...],
    loops: list[Operation],
) -> bool:
    """Tell whether operands of an operation differ between the iterations of loops around it."""
    return any(
        evaluator.structure.depends_on(value, loop)
        for value in values
        for loop in loops
        if loop is not operation
    )
