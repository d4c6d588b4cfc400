"""The reason for a finding and its remedy, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tt_layout.audit.audit import Audit
from tt_layout.audit.finding_groups import led_by, sorted_groups
from tt_layout.audit.findings import IN_PROGRAM, Finding, Note, Urgency
from tt_layout.audit.kernel import Kernel
from tt_layout.audit.shares import Share
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.context import LayoutAnchor
from tt_layout.audit.suggestions.gains import gain, removed_by
from tt_layout.audit.suggestions.needs import Needs
from tt_layout.audit.suggestions.suggestion import EVERYWHERE, CostChange, Suggestion
from tt_layout.audit.values.executions import is_in_loop
from tt_layout.audit.verdict import NO_FIX
from tt_layout.errors import LayoutError
from tt_layout.grouping import grouped
from tt_layout.ir.short_names import short_layout, short_operation
from tt_layout.safe_text import safe
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count, lines, listed

MAX_SUGGESTIONS = 2  # that are shown of one finding, unless all are asked for
MAX_ANCHORS = 4  # operations that are named on one side of a conversion

_STORES = frozenset({"tt.store", "amdg.buffer_store", "tt.descriptor_store"})
_ATOMICS = frozenset(
    {"tt.atomic_rmw", "tt.atomic_cas", "amdg.buffer_atomic_rmw", "amdg.buffer_atomic_cas"}
)


class Remedy(NamedTuple):
    """Advice on a group of findings: one sentence for each of a reader's questions, or none.

    Attributes:
        ways: a fix that ``tt-layout apply`` applies, or else a change of the program.
        gain: the cycles that it removes; without a remedy, the cycles that the findings cost.
        triton: what a program in Triton can do about the layout.
        why: the operations that make a conversion necessary.
        is_fix: whether ``tt-layout apply`` carries it out.
        drawbacks: what a fix makes worse.
    """

    ways: str
    gain: str
    triton: str
    why: str
    is_fix: bool
    drawbacks: tuple[str, ...] = ()


def remedy(adviser: Adviser, group: Sequence[Finding]) -> Remedy:
    """Return the best remedy for a group of findings."""
    first, best = group[0], adviser.best(group[0])
    triton = in_triton(best, adviser.audit) if best is not None else ""
    ways = fix_text(best) if best is not None else way_out(first)
    why = why_text(adviser, first)
    drawbacks = dict.fromkeys(
        text
        for finding in group
        if (suggestion := adviser.best(finding)) is not None
        for text in drawback_texts(adviser, finding, suggestion)
    )
    return Remedy(ways, gain_text(adviser, group), triton, why, best is not None, tuple(drawbacks))


def first_cure(kernel: Kernel) -> str:
    """Return the fix of a kernel's first finding that has one, or a change of the program."""
    groups = led_by(kernel.findings, sorted_groups(kernel.adviser).large)
    ways = (remedy(kernel.adviser, group.findings).ways for group in groups)
    return next(filter(None, ways), "")


def drawback_texts(adviser: Adviser, finding: Finding, suggestion: Suggestion) -> Iterator[str]:
    """Yield the drawbacks of a fix: fewer CTAs per multiprocessor, a result that is refused."""
    yield from fewer_ctas(*adviser.needs(finding, suggestion))
    refusal = adviser.refusal(finding, suggestion)
    if refusal is not None:
        yield refused_text(refusal)


def fewer_ctas(before: Needs, after: Needs) -> Iterator[str]:
    """Yield a warning if a multiprocessor holds fewer CTAs after a change."""
    if before.ctas and after.ctas is not None and after.ctas < before.ctas:
        held = count(after.ctas, "CTA")
        yield f"but: a {before.multiprocessor} holds {held} instead of {before.ctas}"


def refused_text(refusal: str) -> str:
    """Return the warning that the compiler refuses the kernel with the fix, too."""
    return f"but: the result is refused, too: {refusal}"


def way_out(finding: Finding) -> str:
    """Return the change of the program that avoids a finding; empty where none is known."""
    return f"{IN_PROGRAM}: {finding.program_change}" if finding.program_change else ""


def no_way_out(finding: Finding) -> str:
    """Return the statement that a finding has no remedy, with the reason where it is known."""
    why = next(filter(None, (occurrence.no_way_out for occurrence in finding.occurrences)), "")
    return f"{NO_FIX}: {why}" if why else NO_FIX


def gain_text(adviser: Adviser, group: Sequence[Finding]) -> str:
    """Return the cost that a remedy removes from a group of findings; without one, their cost."""
    first = group[0]
    if adviser.best(first) is not None:
        return adviser.gain(group).text("removes")
    if first.program_change and first.is_avoidable:
        return adviser.gain(group).text("removes up to")
    text = adviser.gain(group).text("costs")
    if not text and first.cost and first.runs is not None:
        where = " an iteration" if is_in_loop(first.runs) else ""
        apiece = ", each" if len(group) > 1 else ""
        text = f"costs {count(round(first.cost, 1), 'cycle')}{where}{apiece}"
    if first.urgency != Urgency.CYCLES or first.program_change:
        return text
    return "; ".join(filter(None, [text, no_way_out(first)]))


def fix_text(suggestion: Suggestion, label: str = "fix") -> str:
    """Return the layout to use and the layout that it replaces."""
    old, new = short_layout(suggestion.old), suggestion.encoding.written()
    if suggestion.where == EVERYWHERE:
        return f"{label}: replace {old} with {new}"
    what = lines(suggestion.lines) if suggestion.lines else "the value"
    return f"{label}: drop the conversion; compute {what} in {new} instead of {old}"


class DumpArgument(NamedTuple):
    """A dump as a command line names it, and the options it was read with.

    Attributes:
        file: with a module or a line, as ``tt-layout apply`` takes it.
        options: those that set the values, the grid, the GPU and the release of the audit.
    """

    file: str
    options: tuple[str, ...] = ()

    def command(self, number: int) -> str:
        """Return the command that applies the fix of a finding.

        Example:
            >>> DumpArgument("k.ttgir", ("--value", "K=4096")).command(1)
            'run: tt-layout apply k.ttgir --value K=4096 --finding 1 -o new.ttgir'
        """
        from shlex import join

        words = (self.file, *self.options, "--finding", str(number), "-o", "new.ttgir")
        return f"run: tt-layout apply {join(words)}"


def in_triton(suggestion: Suggestion, audit: Audit) -> str:
    """Return what decides the layout in a Triton program, which cannot name one."""
    knobs = triton_knobs(suggestion, audit)
    if knobs is None:
        where = f" for {audit.chip.name}" if audit.chip is not None else ""
        return f"cannot be set in Triton; it is not known what it depends on{where}"
    if not knobs:
        return "cannot be set in Triton"
    return f"cannot be set in Triton; it depends on {listed(knobs)}"


def advice_lines(adviser: Adviser, finding: Finding, *, is_whole: bool = True) -> Iterator[str]:
    """Yield the reason for a finding, its fixes, and the side effects of each.

    Args:
        adviser: the adviser of the audit.
        finding: the finding.
        is_whole: whether every fix and the sums over loops are shown.
    """
    yield why_text(adviser, finding)
    suggestions = adviser.suggestions(finding)
    large = [x for x in suggestions if not adviser.share_of_cycles(finding, x).is_small]
    shown = suggestions
    if not is_whole:  # the first for each number of cycles saved
        by_saving = grouped(large or suggestions, lambda suggestion: suggestion.saved)
        shown = [group[0] for group in by_saving.values()][:MAX_SUGGESTIONS]
    for number, suggestion in enumerate(shown):
        yield fix_text(suggestion, "or" if number else "fix")
        yield from _details(adviser, finding, suggestion, is_whole=is_whole)
    if not suggestions:
        yield way_out(finding)
    elif is_whole and finding.program_change:
        yield f"or {way_out(finding)}"


def _details(
    adviser: Adviser, finding: Finding, suggestion: Suggestion, *, is_whole: bool
) -> Iterator[str]:
    """Yield the costs that a fix removes and adds."""
    constructor = gluon(suggestion)
    if constructor is not None:
        yield f"in Gluon: {constructor}"
    removed = gain(adviser.audit, finding.function, removed_by(suggestion.changes))
    sums = f"; in one program {safe(suggestion.saved_text)} cycles"
    yield removed.text() + sums * (is_whole and removed.is_in_loop)
    yield change_text(adviser.share(finding, suggestion))
    yield from map(_worse_line, suggestion.worse)
    if suggestion.unknown:
        places = lines([change.operation.line for change in suggestion.unknown])
        yield f"not counted: how the copies of {places} enter shared memory"
    yield from drawback_texts(adviser, finding, suggestion)
    yield in_triton(suggestion, adviser.audit)


def time_text(adviser: Adviser, group: Sequence[Finding]) -> str:
    """Return the times before and after the best fix of a group of findings; empty without one."""
    best = adviser.best(group[0])
    text = change_text(adviser.share(group[0], best)) if best is not None else ""
    is_one = best is None or best.where == EVERYWHERE or len(group) == 1
    return text if is_one or not text else f"of the first of {len(group)} alone: {text}"


def change_text(share: Share) -> str:
    """Return the estimated times before and after a fix, and a verdict; empty without an estimate.

    Example:
        >>> from tt_layout.audit.shares import TimeChange
        >>> change_text(Share(0.4, change=TimeChange(210e-6, 178e-6)))
        'about 210 to 178 us: apply'
    """
    return f"{share.change.text}: {share.verdict}" if share.change is not None else ""


def why_text(adviser: Adviser, finding: Finding) -> str:
    """Return the operations that make a conversion necessary; empty for other kinds of findings."""
    reason = adviser.reason(finding)
    if reason is None:
        return ""
    ends = [_anchors(end) for end in (reason.producers, reason.consumers)]
    if not all(ends):
        return ""
    return f"why: source layout from {ends[0]}, destination layout from {ends[1]}"


def note_text(adviser: Adviser, note: Note, group: Sequence[Finding]) -> str:
    """Return why operations are worth keeping, with their lines."""
    return f"{lines([finding.line for finding in group])}, {note_message(adviser, note)}"


def note_message(adviser: Adviser, note: Note) -> str:
    """Return why an operation is worth keeping: the cost of the alternative."""
    before, after = note.cycles, note.alternative_cycles
    reason = adviser.reason(note.finding)
    ends = {anchor.operation for anchor in reason.consumers} if reason is not None else set()
    way = "the cheapest other way"
    if ends and ends <= _STORES | _ATOMICS:
        way = "a direct atomic" if ends & _ATOMICS else "a direct store"
    compared = f"{after:g} cycles instead of {before:g}" if after > before else f"{after:g}, too"
    return f"{short_operation(note.finding.name)} is worth keeping: {way} would take {compared}"


def _anchors(anchors: Sequence[LayoutAnchor]) -> str:
    return operations_text([(anchor.operation, anchor.line) for anchor in anchors], MAX_ANCHORS)


def operations_text(operations: Sequence[tuple[str, int]], most: int) -> str:
    """Return operations with their lines, grouped by name.

    Args:
        operations: name and line of each.
        most: how many are named; the rest are counted.

    Example:
        >>> operations_text([("tt.load", 3), ("tt.dot", 5), ("tt.load", 4), ("tt.store", 9)], 3)
        'load (3, 4), dot (5) and 1 more'
    """
    by_name = grouped(operations[:most], lambda operation: short_operation(operation[0]))
    texts = [
        f"{safe(name)} ({', '.join(str(line) for _, line in operations)})"
        for name, operations in by_name.items()
    ]
    further = len(operations) - most
    return ", ".join(texts) + (f" and {further} more" if further > 0 else "")


def triton_knobs(suggestion: Suggestion, audit: Audit) -> tuple[str, ...] | None:
    """Return the parts of a Triton program that set the layout which a suggestion replaces.

    None if no trial on the GPU had the layout; empty if nothing that was tried changed it, or if
    the suggestion is for one side of a conversion only.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> find_target("sm80").knobs["nvidia_mma"]
        ('num_warps', 'the order of the operands')
    """
    if suggestion.where != EVERYWHERE:
        return ()
    knobs = audit.knobs
    return knobs.get(suggestion.replaced.mnemonic) if knobs is not None else None


def _worse_line(worse: CostChange) -> str:
    """Return a cost that a suggestion raises or adds."""
    times, line = safe(worse.executions.times), worse.operation.line
    if worse.before is None:
        conversion = f"a conversion of {count(-worse.saved, 'cycle')}"
        return f"but: {conversion} is added before line {line}, {times}"
    name = short_operation(worse.operation.name)
    return f"but: {name} of line {line} takes {count(-worse.saved, 'cycle')} more, {times}"


def gluon(suggestion: Suggestion) -> str | None:
    """Return the Gluon constructor of a suggestion's layout; None if Gluon has none."""
    from tt_layout.notation.gluon.text import constructor_call

    try:
        return constructor_call(suggestion.encoding)
    except LayoutError:
        return None


def reason_data(adviser: Adviser, finding: Finding) -> dict[str, Any] | None:
    """Return the anchors of a conversion as plain data; None for other kinds of findings."""
    reason = adviser.reason(finding)
    if reason is None:
        return None
    return {
        name: [
            {
                "operation": anchor.operation,
                "line": anchor.line,
                "location": anchor.location._asdict() if anchor.location is not None else None,
            }
            for anchor in end
        ]
        for name, end in (("from", reason.producers), ("to", reason.consumers))
    }


def suggestion_data(
    suggestion: Suggestion, share: Share, needs: tuple[Needs, Needs], audit: Audit
) -> dict[str, Any]:
    """Return a suggestion as plain data; documented in ``docs/audit-json.md``."""
    return {
        "where": suggestion.where,
        "old": suggestion.old,
        "layout": suggestion.encoding.written(),
        "gluon": gluon(suggestion),
        "triton": triton_knobs(suggestion, audit),
        "lines": list(suggestion.lines),
        "saved": suggestion.saved,
        "saved_text": suggestion.saved_text,
        **share_data(share),
        "seconds": list(share.change[:2]) if share.change is not None else None,
        "worse": [
            {
                "line": change.operation.line,
                "cycles": -change.saved,
                "executions": change.executions.number,
            }
            for change in suggestion.worse
        ],
        "unknown": [change.operation.line for change in suggestion.unknown],
        "registers": [need.registers and need.registers.needed for need in needs],
        "shared_bytes": [need.memory.bytes if need.memory is not None else 0 for need in needs],
        "ctas": [need.ctas for need in needs],
    }


def share_data(share: Share | None) -> dict[str, Any]:
    """Return a share of a kernel's cost as plain data, and whether saving it pays."""
    if share is None:
        return {"share": None, "share_of": None, "verdict": None}
    is_known = share.part is not None
    return {
        "share": round(share.part, 6) if share.part is not None else None,
        "share_of": str(share.basis) if is_known else None,
        "verdict": str(share.verdict),
    }
