"""Conversion of answers to values of the Language Server Protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types
from pygls.workspace import PositionCodec

from tt_layout.editing.actions import LineEdit
from tt_layout.editing.dump import Placed
from tt_layout.editing.hints import Hint
from tt_layout.editing.hover import Hover
from tt_layout.editing.outline import Symbol, SymbolKind
from tt_layout.editing.piece import Diagnosis, Severity
from tt_layout.editing.place import LineRange, operation_place
from tt_layout.mlir.source import in_file

SOURCE = "tt-layout"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_SYMBOLS = {
    SymbolKind.MODULE: types.SymbolKind.Module,
    SymbolKind.FUNCTION: types.SymbolKind.Function,
    SymbolKind.LOOP: types.SymbolKind.Namespace,
    SymbolKind.ALIAS: types.SymbolKind.Constant,
}


class Units:
    """The client's units of offsets in a line.

    Args:
        codec: converter for the encoding that client and server agreed on.
    """

    def __init__(self, codec: PositionCodec) -> None:
        self._codec = codec

    def column(self, line: str, character: int) -> int:
        """Return the offset in characters of a client's position, at most the end of the line."""
        if line.isascii():
            return min(character, len(line))
        place = types.Position(0, character)
        return self._codec.position_from_client_units([line], place).character

    def range(self, placed: Placed, place: LineRange) -> types.Range:
        """Convert a place of a piece to a range of the document."""
        text, line = placed.piece.line(place.line), place.line - 1 + placed.down
        start, end = (self._codec.client_num_units(text[:at]) for at in (place.start, place.end))
        return types.Range(types.Position(line, start), types.Position(line, end))


def diagnostic(diagnosis: Diagnosis, placed: Placed | None, units: Units) -> types.Diagnostic:
    """Convert a diagnosis; a finding is at the name of its operation."""
    line = diagnosis.line - (placed.down if placed is not None else 0)
    text = placed.piece.line(line) if placed is not None else ""
    place = (
        operation_place(text, line, diagnosis.name)
        if diagnosis.name
        else operation_place(text, line, text)
    )
    where = placed if placed is not None else None
    start = types.Position(max(0, diagnosis.line - 1), 0)
    return types.Diagnostic(
        range=units.range(where, place) if where is not None else types.Range(start, start),
        message=diagnosis.message,
        severity=_SEVERITIES[diagnosis.severity],
        code=diagnosis.kind,
        source=SOURCE,
    )


def hover(answer: Hover, placed: Placed, units: Units, content: str | None) -> types.Hover:
    """Convert a hover text to Markdown, or to plain text if ``content`` is None."""
    kind = types.MarkupKind.PlainText if content is None else types.MarkupKind.Markdown
    value = answer.plain if content is None else content
    value = in_file(value, placed.down)
    return types.Hover(types.MarkupContent(kind, value), units.range(placed, answer.place))


def inlay_hint(hint: Hint, placed: Placed, units: Units) -> types.InlayHint:
    """Convert a hint, placed after the text of an operation and before its location."""
    text = placed.piece.line(hint.line).rstrip()
    location = text.rfind(" loc(")
    end = location if location >= 0 else len(text)
    return types.InlayHint(
        position=units.range(placed, LineRange(hint.line, end, end)).start,
        label=in_file(hint.text, placed.down),
        tooltip=in_file("\n".join(hint.facts), placed.down) or None,
        padding_left=True,
    )


def document_symbol(symbol: Symbol) -> types.DocumentSymbol:
    """Convert a symbol with its children."""
    return types.DocumentSymbol(
        name=symbol.name,
        detail=symbol.detail or None,
        kind=_SYMBOLS[symbol.kind],
        range=_lines(symbol.line, symbol.last),
        selection_range=_lines(symbol.line, symbol.line),
        children=[document_symbol(child) for child in symbol.children],
    )


def flat_symbols(symbols: Iterable[Symbol], uri: str) -> Iterator[types.SymbolInformation]:
    """Yield symbols for a client that does not show trees."""
    for symbol in symbols:
        where = types.Location(uri, _lines(symbol.line, symbol.last))
        yield types.SymbolInformation(where, symbol.name, _SYMBOLS[symbol.kind])
        yield from flat_symbols(symbol.children, uri)


def _lines(first: int, last: int) -> types.Range:
    return types.Range(types.Position(first - 1, 0), types.Position(last, 0))


def folding_range(first: int, last: int) -> types.FoldingRange:
    """Return the folding range of a region, without its closing line."""
    return types.FoldingRange(first - 1, max(first - 1, last - 2), kind="region")


def workspace_edit(
    uri: str, version: int | None, edits: Sequence[LineEdit], down: int
) -> types.WorkspaceEdit:
    """Return edits of whole lines; with a version they apply to that version only."""
    texts = [
        types.TextEdit(
            types.Range(
                types.Position(edit.first - 1 + down, 0), types.Position(edit.end - 1 + down, 0)
            ),
            edit.text,
        )
        for edit in edits
    ]
    if version is None:
        return types.WorkspaceEdit(changes={uri: texts})
    document = types.OptionalVersionedTextDocumentIdentifier(uri, version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, list(texts))])
