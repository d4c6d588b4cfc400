"""``refused``: what the compiler, or the GPU, does not accept.

What: errors: refused layouts, layouts for another number of warps, lanes or CTAs than the module
    has, operations without an instruction for such layouts, more threads or shared memory than a
    CTA may have, more programs than a grid may have

Cost: not counted

Why: the kernel does not compile, or cannot be launched.  In a dump that a compiler wrote it
    means a pass that went wrong, or a dialect of a fork.

How to fix: the message names the rule that is broken and what was found.

When it does not pay: a dump between two passes may break a rule that the next pass mends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.findings import Counted, Finding, Occurrence, Urgency
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.modules.layouts import LayoutRow, are_accepted, mismatches
from tt_layout.audit.values.given import PROGRAM_AXES, PROGRAM_COUNTS
from tt_layout.errors import LayoutError
from tt_layout.records import dataclass
from tt_layout.safe_text import abridged
from tt_layout.wording import count

MAX_HEADLINE = 120  # characters of an error that stand in a verdict
MAX_UNUSED = 1000  # aliases of a module that are read although no type uses them


@dataclass(frozen=True)
class Refused(Occurrence):
    """An error.

    Attributes:
        refusal: why it is refused.
        is_predicate: whether that continues the name, rather than follows its colon.
    """

    kind = "refused"
    order = 0
    heading = "errors"
    urgency = Urgency.ERROR

    refusal: str
    is_predicate: bool = False

    @classmethod
    def find(cls, rows: Sequence[MovementRow], conclusions: Conclusions) -> Iterator[Finding]:
        """Yield the errors of launches, layouts, data movements, memory and multiplications."""
        audited = conclusions.audited
        yield from _launch_findings(audited)
        yield from _alias_findings(audited)
        if not are_accepted(audited.module, audited.layouts):
            for row in conclusions.layouts:
                yield from _layout_findings(row, audited)
        for movement in rows:
            if movement.refusal is not None:
                yield Finding.of_movement(movement, cls(movement.refusal))
        for memory in conclusions.shared_memory:
            if memory.refusal is not None:
                why = (cls(memory.refusal, is_predicate=True),)
                yield Finding(memory.line, f"@{memory.function}", memory.function, why)
        for product in conclusions.multiplications:
            if product.refusal is not None:
                yield Finding.of_multiplication(product, cls(product.refusal))

    @property
    def words(self) -> str:
        """Why it is refused."""
        return self.refusal

    @property
    def link(self) -> str:
        """A colon, or nothing but a space."""
        return " " if self.is_predicate else ": "

    @property
    def counted(self) -> Counted:
        """Errors, of whatever they are."""
        return Counted("error")

    def headline(self, number: int, first: Finding) -> str:
        """Return the number of errors, and the first fault."""
        which = ", the first" if number > 1 else ""
        what = abridged(first.message, MAX_HEADLINE)
        return f"{self.counted.text(number)}{which} on line {first.line}: {what}"


def _launch_findings(audited: AuditedModule) -> Iterator[Finding]:
    """Yield the functions of a module that the GPU does not start, with the reasons."""
    refusals = [*_thread_refusals(audited), *_cluster_refusals(audited), *_grid_refusals(audited)]
    module = audited.module
    for function in module.functions if refusals else ():
        why = tuple(Refused(refusal, is_predicate=True) for refusal in refusals)
        line = module.line_in_source(function.line)
        yield Finding(line, f"@{function.name}", function.name, why)


def _warps_and_lanes(audited: AuditedModule) -> tuple[int | None, int | None]:
    """Return the warps of a CTA, and the lanes of a warp."""
    module, target = audited.module, audited.target
    warps = module.number("total-num-warps") or module.number("num-warps")
    return warps, module.number("threads-per-warp") or (target.lanes if target else None)


def _thread_refusals(audited: AuditedModule) -> Iterator[str]:
    """Yield the error of a CTA with more threads than the GPU starts."""
    target = audited.target
    warps, lanes = _warps_and_lanes(audited)
    if target is None or warps is None or lanes is None or warps * lanes <= target.most_threads:
        return
    has = f"{count(warps, 'warp')} of {lanes} lanes, {warps * lanes} threads in a CTA"
    yield f"has {has}; {target.name} starts at most {target.most_threads}"


def _grid_refusals(audited: AuditedModule) -> Iterator[str]:
    """Yield the errors of a given grid with more programs along an axis than the GPU starts."""
    target = audited.target
    warps, lanes = _warps_and_lanes(audited)
    if target is None or warps is None or lanes is None:
        return
    for axis, name in enumerate(PROGRAM_COUNTS):
        programs, most = audited.given.program(name) or 0, target.grid.most(axis, warps * lanes)
        if programs > most:
            along = PROGRAM_AXES[axis]
            yield f"has {programs} programs along {along}; {target.name} starts at most {most}"


def _cluster_refusals(audited: AuditedModule) -> Iterator[str]:
    """Yield the error of a cluster with more CTAs than the GPU starts at once."""
    target, ctas = audited.target, audited.module.number("num-ctas") or 1
    if target is None or ctas <= target.most_ctas:
        return
    most = f"starts at most {target.most_ctas}" if target.most_ctas > 1 else "has no clusters"
    yield f"has {ctas} CTAs in a cluster; {target.name} {most}"


def _layout_findings(row: LayoutRow, audited: AuditedModule) -> Iterator[Finding]:
    """Yield the faults of a layout, in each function that uses it."""
    name = f"{row.layout} on {row.type}" if row.layout else row.type
    wrong = [Refused(text, is_predicate=True) for text in mismatches(row, audited.module)]
    if row.error is not None:
        wrong.insert(0, Refused(row.error.message))
    for refusal in wrong:
        for use in row.functions:
            line = audited.module.line_in_source(use.line)
            yield Finding(line, name, use.function, (refusal,))


def _alias_findings(audited: AuditedModule) -> Iterator[Finding]:
    """Yield the faults of aliases that no type uses, up to a limit."""
    module = audited.module
    used = {ir_type.layout for ir_type in module.types.distinct}
    aliases, functions = module.aliases, module.functions
    function = functions[0].name if len(functions) == 1 else None
    unused = (name for name in aliases.attributes() if f"#{name}" not in used)
    for name in islice(unused, MAX_UNUSED):
        alias = aliases[name]
        if isinstance(alias.encoding, LayoutError):
            line = module.line_in_source(alias.line)
            yield Finding(line, f"#{name}", function, (Refused(alias.encoding.message),))
    first = next(unused, None)
    if first is not None:
        message = f"of the aliases that no type uses, only the {MAX_UNUSED} before it were read"
        line = module.line_in_source(aliases[first].line)
        yield Finding(line, f"#{first}", function, (Refused(message),))
