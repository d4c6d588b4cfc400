"""Why a finding is there, and what to use instead, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tt_layout.audit.findings import Finding
from tt_layout.audit.suggestions.advice import Anchor
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.share import Share
from tt_layout.audit.suggestions.suggestion import EVERYWHERE, FORWARD, Suggestion
from tt_layout.errors import LayoutError
from tt_layout.reports.dump_text import short_layout, short_operation
from tt_layout.safe_text import safe
from tt_layout.wording import lines

MAX_SUGGESTIONS = 2  # that are shown of one finding, unless all are asked for
MAX_ANCHORS = 4  # operations that are named on one side of a conversion


def short_advice_lines(adviser: Adviser, finding: Finding) -> Iterator[str]:
    """Yield the best way out in two lines, where it pays, and then why a finding is there."""
    found: list[str] = []
    for best in adviser.suggestions(finding)[:1]:
        share = adviser.share(finding, best)
        if not share.is_small:
            found = [*_suggestion_lines(best, share)][:2]
    others = advice_lines(adviser, finding, is_whole=False)
    yield from found or others
    if found:
        yield from (line for line in others if line.startswith("why"))


def advice_lines(adviser: Adviser, finding: Finding, *, is_whole: bool) -> Iterator[str]:
    """Yield why a finding is there, and what would be better."""
    reason = adviser.reason(finding)
    if reason is not None:
        ends = [_anchors(end) for end in (reason.producers, reason.consumers)]
        if all(ends):
            yield f"why: the first layout is that of {ends[0]}, the other that of {ends[1]}"
    suggestions = adviser.suggestions(finding)
    shares = {id(one): adviser.share(finding, one) for one in suggestions}
    large = [one for one in suggestions if not shares[id(one)].is_small]
    shown = suggestions if is_whole else _apart(large)[:MAX_SUGGESTIONS]
    for suggestion in shown:
        yield from _suggestion_lines(suggestion, shares[id(suggestion)])
    if suggestions and not shown:
        share = shares[id(suggestions[0])]
        yield f"no change of layout pays here: the best saves {share.text}; --all shows it"
    if not suggestions:
        yield from (one.no_way_out for one in finding.occurrences if one.no_way_out)


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
    texts = [f"{safe(name)} ({lines(own)})" for name, own in places.items()]
    more = len(anchors) - MAX_ANCHORS
    return ", ".join(texts) + f" and {more} more" * (more > 0)


def _suggestion_lines(suggestion: Suggestion, share: Share) -> Iterator[str]:
    saved = f"saves {safe(suggestion.saved_text)} cycles in one program"
    saved += f", {share.text}" * bool(share.text)
    old = short_layout(suggestion.old)
    if suggestion.where == EVERYWHERE:
        yield f"instead of {old} ({saved}):"
    else:
        side = "source" if suggestion.where == FORWARD else "target"
        what = f"use it in place of {old} on {lines(suggestion.lines)}"
        what = what if suggestion.lines else f"compute the value in it, rather than in {old}"
        yield f"instead ({saved}): keep the {side} layout and {what}:"
    yield f"   {suggestion.encoding}"  # on a line of its own it can be copied
    constructor = gluon(suggestion)
    if constructor is not None:
        yield f"in Gluon: {constructor}"
    for worse in suggestion.worse:
        text = safe(worse.executions.text)
        times = "once" if text == "1" else f"{text} times"
        name = short_operation(worse.operation.name)
        added = (
            "a conversion before it" if worse.before is None else f"{-worse.saved:g} cycles more"
        )
        yield f"but: {name} of line {worse.operation.line} takes {added}, {times}"
    if suggestion.unknown:
        places = lines([one.operation.line for one in suggestion.unknown])
        yield f"not counted: how the copies of {places} enter shared memory"


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


def suggestion_data(suggestion: Suggestion, share: Share) -> dict[str, Any]:
    """Return a suggestion as plain data; documented in ``docs/audit-json.md``."""
    return {
        "where": suggestion.where,
        "old": suggestion.old,
        "layout": str(suggestion.encoding),
        "gluon": gluon(suggestion),
        "lines": list(suggestion.lines),
        "saved": suggestion.saved,
        "saved_text": suggestion.saved_text,
        "share": [share.low, share.high] if share.low is not None else None,
        "verdict": str(share.verdict),
        "worse": [
            {"line": one.operation.line, "cycles": -one.saved, "executions": one.executions.number}
            for one in suggestion.worse
        ],
        "unknown": [one.operation.line for one in suggestion.unknown],
    }
