"""Findings: faults that the reader of an audit should look at, each of one or more kinds.

A kind of finding is a rule: a class under `Occurrence` in a file of `tt_layout.audit.rules`, which
finds its occurrences itself.  Nothing else names it.

Findings are in the order in which a reader acts: by `Urgency`, then by the cycles that they waste
in one program: those of one execution, times how often it runs.  That is a heuristic: a loop that
runs an unknown number of times counts as `ASSUMED_TRIPS`, and what `Cost.extra` counts of global
memory is compared with cycles of shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.operations.multiplications import Multiplication
from tt_layout.audit.values.executions import Executions, assumed_runs
from tt_layout.ir.operations import Location
from tt_layout.lazy import lazy
from tt_layout.records import dataclass
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count

if TYPE_CHECKING:
    from tt_layout.audit.suggestions.context import ConversionReason, SuggestionContext
    from tt_layout.audit.suggestions.suggestion import Suggestion


IN_PROGRAM = "in the program"
"""Words before a change of the program, which ``tt-layout apply`` does not make."""

MAY_PAY = 0.05
"""Share of a kernel's time below which a change paid only by chance."""


class Urgency(IntEnum):
    """How soon a reader acts on a finding; within one, the most expensive comes first."""

    ERROR = 0
    """The compiler refuses the kernel, or it cannot be launched."""
    SPILLS = 1
    """Registers are spilled, which costs more than any layout."""
    IDLE_TENSOR_CORES = 2
    """A multiplication does not use the instructions that the GPU has for it."""
    CYCLES = 3
    """A data movement costs more than it has to."""


class Counted(NamedTuple):
    """Words for a number of similar findings in the line of a kernel.

    Attributes:
        noun: noun in the singular; empty where occurrences are not counted.
        rest: words after the noun.

    Example:
        >>> Counted("load", " with bank conflicts").text(2)
        '2 loads with bank conflicts'
        >>> Counted("", "spills likely").text(1)
        'spills likely'
    """

    noun: str
    rest: str = ""

    def text(self, number: int) -> str:
        """Return the words for a number of findings."""
        if not self.noun:
            return self.rest
        return f"{count(number, self.noun)}{self.rest}"


@dataclass(frozen=True)
class Occurrence:
    """A place where a rule found a fault, with the facts behind it; base class of all rules.

    A rule is a frozen dataclass under this one, alone in a module of `tt_layout.audit.rules` that
    is called like its kind.  Its fields are the facts of an occurrence.  The docstring of the
    module is its documentation, under the headings that `tt_layout.audit.rules` names.

    Class attributes:
        kind: its key for ``--fail-on`` and in JSON.
        order: its position among the rules, in columns and in the line of a kernel.
        urgency: urgency of its findings.
        heading: heading of its column in the table of kernels.
        absence: adjective, perhaps empty, and plural noun for the sentence on a kernel without
            findings; None if that does not mention the kind.
        no_way_out: text where no cheaper alternative was found; empty for none.
        is_change_costed: whether `program_change` avoids what it costs.
    """

    kind: ClassVar[str]
    order: ClassVar[int]
    heading: ClassVar[str]
    urgency: ClassVar[Urgency] = Urgency.CYCLES
    absence: ClassVar[tuple[str, str] | None] = None
    no_way_out: ClassVar[str] = ""
    is_change_costed: ClassVar[bool] = True

    @classmethod
    def find(cls, rows: Sequence[MovementRow], conclusions: Conclusions) -> Iterator[Finding]:
        """Yield a finding, with one occurrence, for each place in a module.

        Args:
            rows: the data movements to judge: all of the module, or those of a line.
            conclusions: conclusions about the module.
        """
        raise NotImplementedError

    @property
    def words(self) -> str:
        """The fault, as words after the name of the operation, layout or kernel.

        Empty where another rule describes it in a finding of the same data movement.
        """
        raise NotImplementedError

    @property
    def link(self) -> str:
        """The separator between that name and the words."""
        return " "

    @property
    def program_change(self) -> str:
        """The change of the program that avoids it; empty where none is known."""
        return ""

    @property
    def change_subjects(self) -> tuple[str, ...]:
        """What that change is made to: findings of equal subjects need one change."""
        return (self.program_change,)

    @property
    def is_avoidable(self) -> bool:
        """Whether a change of the program avoids what it costs."""
        return self.is_change_costed and bool(self.program_change)

    @property
    def counted(self) -> Counted:
        """Its words in the line of a kernel."""
        raise NotImplementedError

    def headline(self, number: int, first: Finding) -> str:
        """Return the verdict's words for a number of such findings, given the first."""
        return f"{self.counted.text(number)}: see line {first.line}"

    @property
    def cost(self) -> float:
        """Cycles that all warps of a CTA waste in one execution; 0 where that is not known."""
        return 0

    def reason(self, finding: Finding, context: SuggestionContext) -> ConversionReason | None:
        """Return the operations that make the finding necessary; None if the rule has none."""
        return None

    def costlier(self, finding: Finding, context: SuggestionContext) -> Sequence[Suggestion]:
        """Return the alternatives, the cheapest first, if each of them costs more."""
        return ()

    def suggestions(self, finding: Finding, context: SuggestionContext) -> Sequence[Suggestion]:
        """Return cheaper alternatives, the best first."""
        return ()


@dataclass(frozen=True)
class Finding:
    """Something that the reader of an audit should look at.

    Attributes:
        line: line in the dump.
        name: its subject: an operation with its dialect, a layout, or ``@`` and a kernel.
        function: the kernel; None outside of any.
        occurrences: one for each rule that found it, in the rules' order; all rules share one
            finding for a data movement.
        location: location in the user's program; None where the dump has none.
        runs: executions in one program; None if its subject is not an operation.
        movement: the data movement that it is about; None for any other subject.
    """

    line: int
    name: str
    function: str | None
    occurrences: tuple[Occurrence, ...]
    location: Location | None = None
    runs: Executions | None = None
    movement: MovementRow | None = None

    def __hash__(self) -> int:
        return self._hash_of_fields

    @lazy
    def _hash_of_fields(self) -> int:
        """Its hash, which is asked for many times; a pickled record has no value of this name."""
        return hash((self.line, self.name, self.kinds))

    @staticmethod
    def of_movement(row: MovementRow, occurrence: Occurrence) -> Finding:
        """Return a finding about a data movement."""
        operation = row.operation
        place = operation.line, operation.name, operation.function
        return Finding(*place, (occurrence,), operation.location, row.executions, row)

    @staticmethod
    def of_multiplication(multiplication: Multiplication, occurrence: Occurrence) -> Finding:
        """Return a finding about a multiplication of matrices."""
        place = multiplication.line, multiplication.name, multiplication.function
        return Finding(*place, (occurrence,), multiplication.location, multiplication.executions)

    @lazy
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its occurrences, the main one first."""
        return tuple(occurrence.kind for occurrence in self.occurrences)

    @property
    def kind(self) -> str:
        """Its main kind."""
        return self.kinds[0]

    @lazy
    def urgency(self) -> Urgency:
        """How soon a reader acts on it."""
        return min(occurrence.urgency for occurrence in self.occurrences)

    @property
    def is_error(self) -> bool:
        """Whether the compiler refuses its subject, or the kernel cannot be launched."""
        return self.urgency == Urgency.ERROR

    @lazy
    def problem(self) -> str:
        """The fault alone, without the change that avoids it."""
        described = [occurrence for occurrence in self.occurrences if occurrence.words]
        link = described[0].link if described else ""
        words = "; it ".join(occurrence.words for occurrence in described)
        return f"{self.name}{link}{words}"

    @lazy
    def program_change(self) -> str:
        """The change of the program that avoids it; empty where none is known."""
        changes = (occurrence.program_change for occurrence in self.occurrences)
        return next(filter(None, changes), "")

    @property
    def change_subjects(self) -> tuple[str, ...]:
        """What that change is made to; empty where none is known."""
        changing = (occurrence for occurrence in self.occurrences if occurrence.program_change)
        return next((occurrence.change_subjects for occurrence in changing), ())

    @property
    def is_avoidable(self) -> bool:
        """Whether a change of the program avoids what it costs."""
        return any(occurrence.is_avoidable for occurrence in self.occurrences)

    @property
    def message(self) -> str:
        """The fault and the change of the program that avoids it, in one sentence."""
        change = self.program_change
        return f"{self.problem}; {IN_PROGRAM}: {change}" if change else self.problem

    @lazy
    def cost(self) -> float:
        """Cycles that all warps of a CTA waste in one execution; 0 where that is not known."""
        return max(occurrence.cost for occurrence in self.occurrences)

    @property
    def executions(self) -> int | None:
        """Executions in one program; None where they are unknown."""
        return self.runs.number if self.runs is not None else None

    @lazy
    def weight(self) -> float:
        """Cycles wasted in one program; findings of one urgency are sorted by it."""
        return self.cost * (assumed_runs(self.runs) if self.runs is not None else 1)


class Note(NamedTuple):
    """A finding to which every alternative is more expensive.

    Attributes:
        finding: the finding.
        cycles: cycles in one program of all operations that the cheapest alternative changes.
        alternative_cycles: their cycles with that alternative.
    """

    finding: Finding
    cycles: float
    alternative_cycles: float


class Judgement(NamedTuple):
    """The rules' conclusions about a module.

    Attributes:
        findings: the most urgent first.
        notes: findings without a cheaper alternative, in the same order.
    """

    findings: tuple[Finding, ...]
    notes: tuple[Note, ...]


class FindingLine(NamedTuple):
    """A finding as plain values.

    Attributes:
        kinds: keys from `tt_layout.audit.rules.kinds`.
        weight: cycles wasted in one program.
        below: its line, counted from the first line of its module.
        message: the fault.
        location: file, line and column in the program; None where the dump has none.
    """

    kinds: tuple[str, ...]
    weight: float
    below: int
    message: str
    location: tuple[str, int, int] | None

    @staticmethod
    def of(finding: Finding, first_line: int) -> FindingLine:
        """Return the plain values of a finding, given its module's first line."""
        place = finding.location
        location = (place.file, place.line, place.column) if place is not None else None
        below = finding.line - first_line
        return FindingLine(finding.kinds, finding.weight, below, finding.message, location)
