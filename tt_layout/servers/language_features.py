"""Features of the language server, registered."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lsprotocol import types

from tt_layout.editing.actions import Action, actions, carried_out
from tt_layout.editing.dump import Placed
from tt_layout.editing.hints import hints
from tt_layout.editing.hover import Hover, operation_hover, word_hover
from tt_layout.editing.navigation import definition, references
from tt_layout.editing.outline import folds, symbols
from tt_layout.editing.piece import Piece
from tt_layout.editing.place import Place
from tt_layout.errors import LayoutError
from tt_layout.servers import protocol_values as values
from tt_layout.servers.language_server import LayoutServer, WordPlace

PICTURING = ("Visual Studio Code", "VSCodium", "Cursor")
"""How the names of clients begin that show pictures within what is said of a word."""


def make_server() -> LayoutServer:
    """Return a server that can be started."""
    server = LayoutServer()
    _documents(server)
    _hover(server)
    _navigation(server)
    _pieces(server)
    _actions(server)
    return server


def _documents(server: LayoutServer) -> None:
    """Register what becomes of texts."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        chosen = params.initialization_options
        name = params.client_info.name if params.client_info is not None else ""
        chosen = chosen if isinstance(chosen, dict) else {}
        server.has_pictures = bool(chosen.get("pictures", name.startswith(PICTURING)))

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.open(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.open(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)


def _hover(server: LayoutServer) -> None:
    """Register what is said of the word at a place."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        where = server.word(params.text_document.uri, params.position)
        if where is None:
            return None
        chosen = where, server.markup, server.has_pictures
        answer = await server.look(_said, word_hover, *chosen)
        if answer is None:
            answer = await server.read(_said, operation_hover, *chosen)
        if answer is None:
            return None
        return values.hover(answer[0], where.placed, server.units, answer[1])


def _said(
    hover: Callable[[Piece, int, int], Hover | None],
    where: WordPlace,
    markup: Sequence[types.MarkupKind],
    has_pictures: bool,
) -> tuple[Hover, str | None] | None:
    """Return the hover of a word, and its Markdown if the client reads it."""
    text = hover(where.placed.piece, where.line, where.column)
    if text is None or types.MarkupKind.Markdown not in markup:
        return (text, None) if text is not None else None
    return text, text.markdown(has_pictures=has_pictures)


def _navigation(server: LayoutServer) -> None:
    """Register where a word is defined, and where else it stands."""

    def location(uri: str, where: WordPlace, place: Place) -> types.Location:
        return types.Location(uri, server.units.range(where.placed, place))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def defined(params: types.DefinitionParams) -> types.Location | None:
        uri = params.text_document.uri
        where = server.word(uri, params.position)
        if where is None:
            return None
        place = await server.look(definition, where.placed.piece, where.line, where.column)
        return location(uri, where, place) if place is not None else None

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def referred(params: types.ReferenceParams) -> list[types.Location]:
        uri = params.text_document.uri
        where = server.word(uri, params.position)
        if where is None:
            return []
        place = await server.look(references, where.placed.piece, where.line, where.column)
        kept = place if params.context.include_declaration else place[1:]
        return [location(uri, where, item) for item in kept]


def _pieces(server: LayoutServer) -> None:
    """Register what is asked of a range, or of a whole document."""

    def whole(uri: str) -> list[Placed]:
        dump = server.dumps.get(uri)
        return dump.placed if dump is not None else []

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hinted(params: types.InlayHintParams) -> list[types.InlayHint]:
        return [
            values.inlay_hint(item, placed, server.units)
            for placed in server.between(params.text_document.uri, params.range)
            for item in await server.read(hints, placed.piece, *_lines(params.range, placed))
        ]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def outlined(
        params: types.DocumentSymbolParams,
    ) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
        uri = params.text_document.uri
        items = [
            item.down(placed.down)
            for placed in whole(uri)
            for item in await server.read(symbols, placed.piece)
        ]
        if server.has_symbol_trees:
            return [values.document_symbol(item) for item in items]
        return [*values.flat_symbols(items, uri)]

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folded(params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        return [
            values.folding_range(first + placed.down, last + placed.down)
            for placed in whole(params.text_document.uri)
            for first, last in await server.look(folds, placed.piece)
        ]


def _actions(server: LayoutServer) -> None:
    """Register what can be carried out."""
    kinds = [types.CodeActionKind.QuickFix]
    options = types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)

    async def edit(uri: str, placed: Placed, action: Action) -> types.WorkspaceEdit | None:
        version = server.workspace.get_text_document(uri).version
        try:
            edits = await server.read(carried_out, placed.piece, action)
        except LayoutError as error:
            server.tell(f"that cannot be carried out: {error.message}")
            return None
        version = version if server.has_versioned_edits else None
        return values.workspace_edit(uri, version, edits, placed.down)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def asked(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri, all_actions = params.text_document.uri, list[types.CodeAction]()
        first, last = params.range.start.line + 1, params.range.end.line + 1
        dump = server.dumps.get(uri)
        for placed in dump.between(first, last) if dump is not None else ():
            span = first - placed.down, last - placed.down
            of_piece = await server.read(
                lambda piece, span: [*actions(piece, *span)], placed.piece, span
            )
            for action in of_piece:
                item = types.CodeAction(action.title, kind=types.CodeActionKind.QuickFix)
                if server.resolves_edits:
                    item.data = [uri, placed.down, *action]
                else:
                    item.edit = await edit(uri, placed, action)
                all_actions.append(item)
        return all_actions

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def chosen(params: types.CodeAction) -> types.CodeAction:
        match params.data:
            case [str(uri), int(down), str(title), int(line), int(module), int(finding)]:
                placed = server.at(uri, down + 1)
                action = Action(title, line, module, finding)
            case _:
                server.tell("that is no action of this server")
                return params
        if placed is None or placed.down != down:
            server.tell("that was suggested for a text that has changed since")
            return params
        params.edit = await edit(uri, placed, action)
        return params


def _lines(chosen: types.Range, placed: Placed) -> tuple[int, int]:
    """Return the first and the last line of a range, in a piece."""
    return chosen.start.line + 1 - placed.down, chosen.end.line + 1 - placed.down
