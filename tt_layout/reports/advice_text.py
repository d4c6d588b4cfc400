"""Why a finding is there, and what to use instead, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tt_layout.audit.findings import Finding, Note
from tt_layout.audit.shares import Share
from tt_layout.audit.suggestions.advice import Anchor
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.needs import Needs
from tt_layout.audit.suggestions.suggestion import EVERYWHERE, FORWARD, Recost, Suggestion
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target
from tt_layout.ir.short_names import short_layout, short_operation
from tt_layout.safe_text import safe
from tt_layout.wording import count, lines

MAX_SUGGESTIONS = 2  # that are shown of one finding, unless all are asked for
MAX_ENCODING = 160  # characters of a layout that stands in a sentence
MAX_ANCHORS = 4  # operations that are named on one side of a conversion

_STORES = frozenset({"tt.store", "tt.atomic_rmw", "amdg.buffer_store", "tt.descriptor_store"})


def short_advice(adviser: Adviser, group: Sequence[Finding]) -> list[list[str]]:
    """Return the best way out for findings alike, and why they are there; then less each time."""
    finding = group[0]
    best, reasons = adviser.best(finding), [*_reason_lines(adviser, finding)]
    if best is None:
        none = [one.no_way_out for one in finding.occurrences if one.no_way_out]
        return [[*reasons, *none], []]
    first = next(_suggestion_lines(best, _worth(adviser, group, best)))
    by_kind = f"{first} a {best.encoding.mnemonic} layout, which --all prints"
    encoding = best.encoding.written()
    fix = f"{first} {encoding}" if len(encoding) <= MAX_ENCODING else by_kind
    return [[fix, *reasons], [fix], [by_kind], []]


def _worth(adviser: Adviser, group: Sequence[Finding], best: Suggestion) -> str:
    """Return what a suggestion is worth; where those alike have their own, what all are."""
    own, every = adviser.share(group[0], best), adviser.share_of(group)
    if every is None or every.percent == own.percent:
        return own.text
    return f"{every.of_what} together: {every.verdict}"


def advice_lines(adviser: Adviser, finding: Finding, *, is_whole: bool = True) -> Iterator[str]:
    """Yield why a finding is there, and what would be better."""
    yield from _reason_lines(adviser, finding)
    suggestions = adviser.suggestions(finding)
    shares = {id(one): adviser.share(finding, one) for one in suggestions}
    large = [one for one in suggestions if not shares[id(one)].is_small]
    shown = suggestions if is_whole else _apart(large)[:MAX_SUGGESTIONS]
    for suggestion in shown:
        yield from _suggestion_lines(suggestion, shares[id(suggestion)].text)
        yield _in_triton(suggestion, adviser.target)
        before, after = adviser.needs(finding, suggestion)
        if before.ctas and after.ctas and after.ctas < before.ctas:
            yield f"but: a multiprocessor holds {count(after.ctas, 'CTA')} instead of {before.ctas}"
    if suggestions and not shown:
        yield f"{_small(shares[id(suggestions[0])])}; --all shows it"
    if not suggestions:
        yield from (one.no_way_out for one in finding.occurrences if one.no_way_out)


def _reason_lines(adviser: Adviser, finding: Finding) -> Iterator[str]:
    """Yield which operations make a conversion necessary."""
    reason = adviser.reason(finding)
    if reason is not None:
        ends = [_anchors(end) for end in (reason.producers, reason.consumers)]
        if all(ends):
            yield f"why: source layout from {ends[0]}, destination layout from {ends[1]}"


def _small(share: Share) -> str:
    return f"no change of layout pays here: the best saves {share.text}"


def note_text(adviser: Adviser, note: Note, alike: Sequence[Finding]) -> str:
    """Return why something stays as it is, with the lines of those alike."""
    return f"{lines([one.line for one in alike])}, {note_message(adviser, note)}"


def note_message(adviser: Adviser, note: Note) -> str:
    """Return why something stays as it is."""
    before, after = note.cycles, note.otherwise
    reason = adviser.reason(note.finding)
    ends = {one.operation for one in reason.consumers} if reason is not None else set()
    what, way = "needed", "the cheapest other way"
    if ends and all(name in _STORES for name in ends):
        what, way = "usual epilogue", "a direct store"
    compared = f"{after:g} cycles instead of {before:g}" if after > before else f"{after:g}, too"
    return f"{short_operation(note.finding.name)} ({what}): {way} would take {compared}"


def _apart(suggestions: Sequence[Suggestion]) -> list[Suggestion]:
    """Return the suggestions that save different numbers of cycles, the first of each."""
    first: dict[float, Suggestion] = {}
    for suggestion in suggestions:
        first.setdefault(suggestion.saved, suggestion)
    return list(first.values())


def _anchors(anchors: Sequence[Anchor]) -> str:
    """Return operations with their lines, those of one name together."""
    places: dict[str, list[int]] = {}
    for anchor in anchors[:MAX_ANCHORS]:
        places.setdefault(short_operation(anchor.operation), []).append(anchor.line)
    texts = [f"{safe(name)} ({', '.join(map(str, own))})" for name, own in places.items()]
    more = len(anchors) - MAX_ANCHORS
    return ", ".join(texts) + f" and {more} more" * (more > 0)


def _suggestion_lines(suggestion: Suggestion, worth: str) -> Iterator[str]:
    saved = f"saves {safe(suggestion.saved_text)} cycles in one program"
    saved += f", {worth}" * bool(worth)
    old = short_layout(suggestion.old)
    if suggestion.where == EVERYWHERE:
        yield f"fix ({saved}): instead of {old} use"
    else:
        side = "source" if suggestion.where == FORWARD else "target"
        what = f"use it in place of {old} on {lines(suggestion.lines)}"
        what = what if suggestion.lines else f"compute the value in it, rather than in {old}"
        yield f"fix ({saved}): keep the {side} layout and {what}:"
    yield f"   {suggestion.encoding.written()}"  # on a line of its own it can be copied
    constructor = gluon(suggestion)
    if constructor is not None:
        yield f"in Gluon: {constructor}"
    yield from map(_worse_line, suggestion.worse)
    if suggestion.unknown:
        places = lines([one.operation.line for one in suggestion.unknown])
        yield f"not counted: how the copies of {places} enter shared memory"


def _in_triton(suggestion: Suggestion, target: Target | None) -> str:
    """Return what a program in Triton, which names no layouts, can do."""
    moved = triton_knobs(suggestion, target)
    if moved is None:
        unknown = f"what moves it is not known for {target.name}" if target is not None else ""
        unknown = unknown or "what moves it is not known: no GPU is"
        return f"in Triton the compiler chooses it; {unknown}: try it with tt-layout apply"
    if moved:
        return f"in Triton the compiler chooses it; what moves it: {', '.join(moved)}"
    return "not settable in Triton: try it with tt-layout apply"


def triton_knobs(suggestion: Suggestion, target: Target | None) -> tuple[str, ...] | None:
    """Return what of a program in Triton moves the layout that a suggestion replaces.

    None where no trial on the GPU had the layout; empty where nothing that was tried moved it, or
    only one side of a conversion is meant.

    Example:
        >>> from tt_layout.hardware import find_target
        >>> find_target("sm80").knobs["nvidia_mma"]
        ('num_warps', 'the order of the operands')
    """
    if suggestion.where != EVERYWHERE:
        return ()
    knobs = target.knobs if target is not None else None
    return knobs.get(suggestion.replaced.mnemonic) if knobs is not None else None


def _worse_line(worse: Recost) -> str:
    """Return what a suggestion makes more expensive, or adds."""
    times, line = safe(worse.executions.times), worse.operation.line
    if worse.before is None:
        return f"but: a conversion of {-worse.saved:g} cycles is added before line {line}, {times}"
    name = short_operation(worse.operation.name)
    return f"but: {name} of line {line} takes {-worse.saved:g} cycles more, {times}"


def gluon(suggestion: Suggestion) -> str | None:
    """Return the layout of a suggestion as Gluon constructs it; None where it cannot."""
    from tt_layout.notation.gluon.text import constructor_call

    try:
        return constructor_call(suggestion.encoding)
    except LayoutError:
        return None


def reason_data(adviser: Adviser, finding: Finding) -> dict[str, Any] | None:
    """Return the anchors of a conversion as plain data; null of any other finding."""
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
    suggestion: Suggestion, share: Share, needs: tuple[Needs, Needs], target: Target | None
) -> dict[str, Any]:
    """Return a suggestion as plain data; documented in ``docs/audit-json.md``."""
    return {
        "where": suggestion.where,
        "old": suggestion.old,
        "layout": suggestion.encoding.written(),
        "gluon": gluon(suggestion),
        "triton": triton_knobs(suggestion, target),
        "lines": list(suggestion.lines),
        "saved": suggestion.saved,
        "saved_text": suggestion.saved_text,
        **share_data(share),
        "worse": [
            {"line": one.operation.line, "cycles": -one.saved, "executions": one.executions.number}
            for one in suggestion.worse
        ],
        "unknown": [one.operation.line for one in suggestion.unknown],
        "registers": [one.registers and one.registers.needed for one in needs],
        "shared_bytes": [one.memory.bytes if one.memory is not None else 0 for one in needs],
        "ctas": [one.ctas for one in needs],
    }


def share_data(share: Share | None) -> dict[str, Any]:
    """Return what part of a kernel something is, of what, and whether that pays."""
    if share is None:
        return {"share": None, "share_of": None, "verdict": None}
    known = share.part is not None
    return {
        "share": round(share.part, 6) if share.part is not None else None,
        "share_of": str(share.basis) if known else None,
        "verdict": str(share.verdict),
    }
