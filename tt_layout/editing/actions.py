"""Suggestions for findings as code actions, and their edits."""

from __future__ import annotations

from difflib import SequenceMatcher

from tt_layout.audit.audit import Audit
from tt_layout.audit.finding_groups import similar_findings
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.gains import gain, removed_by
from tt_layout.audit.suggestions.suggestion import EVERYWHERE
from tt_layout.editing.piece import EditedPiece
from tt_layout.encodings import Encoding
from tt_layout.ir.short_names import short_layout
from tt_layout.mlir.source import Source
from tt_layout.reports.advice_text import drawback_texts
from tt_layout.rewriting.apply import cure
from tt_layout.safe_text import shortened
from tt_layout.tuples import NamedTuple

MAX_TITLE = 160
"""Characters of a layout in the title of an action."""


class Action(NamedTuple):
    """A suggestion that can be applied.

    Attributes:
        title: its effect and gain.
        line: line of the finding, from 1.
        module: the number of the module in the piece, from 1.
        finding: number of the finding in the report of the module.
    """

    title: str
    line: int
    module: int
    finding: int


class LineEdit(NamedTuple):
    """Replacement of a range of lines.

    Attributes:
        first: the first line to replace, from 1.
        end: the line after the last one to replace.
        text: the replacement, in whole lines.
    """

    first: int
    end: int
    text: str


def actions(piece: EditedPiece, first: int, last: int) -> list[Action]:
    """Return the best suggestion for each finding of some lines."""
    offered: list[Action] = []
    for module, audit in enumerate(piece.audits if piece.is_read else (), 1):
        adviser = Adviser(audit)
        for number, group in enumerate(similar_findings(audit.findings), 1):
            chosen = next((finding for finding in group if first <= finding.line <= last), None)
            suggestions = adviser.suggestions(chosen) if chosen is not None else []
            if chosen is None or not suggestions:
                continue
            best = suggestions[0]
            new, old = _name(audit, best.encoding), short_layout(best.old)
            what = f"Replace {old} with {new}"
            if best.where != EVERYWHERE:
                what = f"Drop the conversion: {new} instead of {old}"
            removed = gain(audit, chosen.function, removed_by(best.changes)).text()
            drawbacks = drawback_texts(adviser, chosen, best)
            said = "; ".join([removed, *drawbacks])
            offered.append(Action(f"{what} ({said})", chosen.line, module, number))
    return offered


def _name(audit: Audit, encoding: Encoding) -> str:
    """Return an alias of a layout, or the layout itself without one."""
    aliases = audit.module.aliases
    named = (name for name in aliases.attributes() if aliases[name].encoding == encoding)
    alias = next(named, None)
    return f"#{alias}" if alias is not None else shortened(str(encoding), MAX_TITLE)


def carried_out(piece: EditedPiece, action: Action) -> list[LineEdit]:
    """Return the edits of a piece that apply a suggestion.

    Raises:
        LayoutError: it cannot be applied, or the audit of the new text does not confirm the gain.
    """
    cured = cure(Source(piece.text, "<dump>"), [action.finding], module=action.module)
    span = piece.audits[action.module - 1].module.span
    before = span.text
    down = piece.text.count("\n", 0, span.start)
    new = cured.text.split("\n")
    matcher = SequenceMatcher(None, before.split("\n"), new, autojunk=False)
    return [
        LineEdit(first + down + 1, end + down + 1, "".join(f"{line}\n" for line in new[start:stop]))
        for tag, first, end, start, stop in matcher.get_opcodes()
        if tag != "equal"
    ]
