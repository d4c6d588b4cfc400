"""``tt-layout lsp``: dumps in an editor, over the Language Server Protocol.

Two threads work beside the one that talks to the client.  One audits, a few operations of a dump at
a time: between two steps other questions are answered, and outdated work is dropped after an edit.
The other answers questions that need no audit (layouts, types and values), even during an audit.

No request of the protocol tells which part of a document is visible.  The lines of the client's
last request (inlay hints, which editors request for visible lines, hover, actions) serve instead:
the pieces there, or the lines near them in a large piece, are diagnosed and published first.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from tt_layout.editing.actions import Action, actions, carried_out
from tt_layout.editing.dump import EditedDump, Placed
from tt_layout.editing.hints import hints
from tt_layout.editing.hover import Hover, operation_hover, word_hover
from tt_layout.editing.navigation import definition, references
from tt_layout.editing.outline import folds, symbols
from tt_layout.editing.piece import Diagnosis, EditedPiece, Severity
from tt_layout.editing.place import LineRange
from tt_layout.errors import LayoutError
from tt_layout.mlir.source import in_file
from tt_layout.servers import protocol_values as values
from tt_layout.tuples import NamedTuple
from tt_layout.version import __version__

T = TypeVar("T")

PAUSE = 0.2
"""Seconds without an edit after which a document is diagnosed."""

IDLE = 1.5
"""Seconds without an edit, after all is said, until memory is looked through for garbage."""

MAX_DIAGNOSTICS = 10_000
"""Diagnostics that a request for actions may come with."""

PICTURING = ("Visual Studio Code", "VSCodium", "Cursor")
"""How the names of clients begin that show pictures within what is said of a word."""


class WordPlace(NamedTuple):
    """A position in a document: the piece, its line from 1, and the offset in the line."""

    placed: Placed
    line: int
    column: int


class AnsweringProtocol(LanguageServerProtocol):
    """The protocol, with an answer to every request, even an unreadable one."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return a message as a value; a refused message is replaced by one without effect."""
        try:
            if "jsonrpc" in data and not _is_message(data):
                raise JsonRpcInvalidRequest
            if "jsonrpc" in data and "method" in data:
                data = {"params": None, **data}  # pygls wants some also of methods unknown to it
            return super().structure_message(data)
        except JsonRpcException as error:
            number = data.get("id")
            if "method" in data and isinstance(number, (int, str)):
                self._send_response(number, None, error.to_response_error())
            return types.CancelNotification(types.CancelParams(-1))


def _is_message(data: dict[str, Any]) -> bool:
    """Tell whether the method, the numbers and the diagnostics of a message have the right types.

    A string in place of a list would be iterated, with an error for each character.

    Example:
        >>> _is_message({"id": 7, "method": "exit"}), _is_message({"id": [], "method": "exit"})
        (True, False)
        >>> _is_message({"id": 7, "method": ""})
        False
        >>> _is_message({"method": "f", "params": {"context": {"diagnostics": "letters"}}})
        False
        >>> _is_message({"method": "$/cancelRequest", "params": {"id": []}})
        False
    """
    method, number = data.get("method", "exit"), data.get("id", 0)
    if not isinstance(method, str) or not method or not isinstance(number, (int, str)):
        return False
    if method == types.CANCEL_REQUEST:
        return isinstance(_member(data.get("params"), "id"), (int, str))
    context = _member(data.get("params"), "context")
    diagnostics = _member(context, "diagnostics")
    return diagnostics is None or (
        isinstance(diagnostics, list) and len(diagnostics) <= MAX_DIAGNOSTICS
    )


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


class LayoutServer(LanguageServer):
    """The server of one client.

    Attributes:
        dumps: the open documents, by URI.
    """

    def __init__(self) -> None:
        super().__init__("tt-layout", __version__, protocol_cls=AnsweringProtocol)
        self.dumps: dict[str, EditedDump] = {}
        self.has_pictures = False
        self._reader = ThreadPoolExecutor(1, "tt-layout")
        self._looker = ThreadPoolExecutor(1, "tt-layout-words")
        self._shown: dict[str, types.Range] = {}
        self._diagnosing: dict[str, asyncio.Task[None]] = {}

    # -- texts ------------------------------------------------------------------------------

    async def read(self, question: Callable[..., T], *arguments: Any) -> T:
        """Return the answer of the thread that audits."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._reader, partial(question, *arguments))

    async def look(self, question: Callable[..., T], *arguments: Any) -> T:
        """Return the answer to a question that needs no audit, and waits for none."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._looker, partial(question, *arguments))

    def open(self, uri: str) -> None:
        """Take the current text of a document, and start its diagnosis."""
        text = self.workspace.get_text_document(uri).source
        before = self.dumps.get(uri)
        dump = before.edited(text) if before is not None else EditedDump(text)
        self.dumps[uri] = dump
        self._stop_diagnosing(uri)
        self._diagnosing[uri] = asyncio.ensure_future(self._diagnose(uri, dump))

    def close(self, uri: str) -> None:
        """Forget a document."""
        self.dumps.pop(uri, None)
        self._shown.pop(uri, None)
        self._stop_diagnosing(uri)
        self._publish(uri, None, [])

    def _stop_diagnosing(self, uri: str) -> None:
        """Stop the diagnosis of a text, which waits for the current step."""
        if (old := self._diagnosing.pop(uri, None)) is not None:
            old.cancel()

    async def _diagnose(self, uri: str, dump: EditedDump) -> None:
        version = self.workspace.get_text_document(uri).version
        await asyncio.sleep(PAUSE)
        try:
            if (shown := self._shown.get(uri)) is not None and dump.is_long:
                lines = shown.start.line + 1, shown.end.line + 1
                diagnoses = await self.all_of(dump.first_steps(*lines))
                self._publish_of(uri, version, dump, diagnoses)
            diagnoses = await self.all_of(dump.steps())
        except Exception as error:
            message = f"tt-layout fails on this dump: {type(error).__name__}: {error}"
            diagnoses = [Diagnosis(1, "", message, "text", Severity.ERROR)]
        self._publish_of(uri, version, dump, diagnoses)
        with suppress(Exception):  # a hover says what fails
            await self.all_of(dump.ahead())
        await asyncio.sleep(IDLE)
        await self.read(gc.collect)  # what texts before held, while nobody waits

    async def all_of(self, steps: Iterator[Sequence[Diagnosis]]) -> list[Diagnosis]:
        """Return the diagnoses of all steps; other questions are answered between two of them."""
        diagnoses = list[Diagnosis]()
        while (step := await self.read(next, steps, None)) is not None:
            diagnoses += step
        return diagnoses

    def _publish_of(
        self, uri: str, version: int | None, dump: EditedDump, diagnoses: Sequence[Diagnosis]
    ) -> None:
        units = self.units
        places = ((diagnosis, dump.at(diagnosis.line)) for diagnosis in diagnoses)
        self._publish(uri, version, [values.diagnostic(*place, units) for place in places])

    def _publish(self, uri: str, version: int | None, diagnostics: list[types.Diagnostic]) -> None:
        what = types.PublishDiagnosticsParams(uri, diagnostics, version)
        self.text_document_publish_diagnostics(what)

    @property
    def units(self) -> values.Units:
        """The client's units of offsets in a line."""
        return values.Units(self.workspace.position_codec)

    @property
    def markup(self) -> Sequence[types.MarkupKind]:
        """The text formats that the client shows, the best first; none for old clients."""
        document = self.client_capabilities.text_document
        asked = document.hover if document is not None else None
        return (asked.content_format if asked is not None else None) or ()

    @property
    def has_symbol_trees(self) -> bool:
        """Whether the client shows nested symbols."""
        document = self.client_capabilities.text_document
        asked = document.document_symbol if document is not None else None
        return bool(asked is not None and asked.hierarchical_document_symbol_support)

    @property
    def has_versioned_edits(self) -> bool:
        """Whether edits may be for one version of a document."""
        workspace = self.client_capabilities.workspace
        asked = workspace.workspace_edit if workspace is not None else None
        return bool(asked is not None and asked.document_changes)

    @property
    def resolves_edits(self) -> bool:
        """Whether the client requests the edits of an action when it is chosen."""
        document = self.client_capabilities.text_document
        asked = document.code_action if document is not None else None
        support = asked.resolve_support if asked is not None else None
        return support is not None and "edit" in support.properties

    def at(self, uri: str, line: int) -> Placed | None:
        """Return the piece of a line of a document, from 1."""
        dump = self.dumps.get(uri)
        return dump.at(line) if dump is not None else None

    def word(self, uri: str, position: types.Position) -> WordPlace | None:
        """Return the piece of a position, its line there from 1, and the offset."""
        self._shown[uri] = types.Range(position, position)
        placed = self.at(uri, position.line + 1)
        if placed is None:
            return None
        line = position.line + 1 - placed.down
        column = self.units.column(placed.piece.line(line), position.character)
        return WordPlace(placed, line, column)

    def between(self, uri: str, chosen: types.Range) -> list[Placed]:
        """Return the pieces of a range of a document."""
        dump = self.dumps.get(uri)
        if dump is None:
            return []
        self._shown[uri] = chosen
        return dump.between(chosen.start.line + 1, chosen.end.line + 1)

    def tell(self, message: str) -> None:
        """Show a message to the user."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))


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
    """Register the handlers of open, changed and closed documents."""

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
    """Register the handler of hovers."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        where = server.word(params.text_document.uri, params.position)
        if where is None:
            return None
        chosen = where, server.markup, server.has_pictures
        answer = await server.look(_said, word_hover, *chosen)
        if answer is None:
            answer = await server.read(_said, partial(operation_hover, waits=False), *chosen)
        if answer is None:
            return None
        return values.hover(answer[0], where.placed, server.units, answer[1])


def _said(
    hover: Callable[[EditedPiece, int, int], Hover | None],
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
    """Register the handlers of definitions and references."""

    def location(uri: str, where: WordPlace, place: LineRange) -> types.Location:
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
        places = await server.look(references, where.placed.piece, where.line, where.column)
        named = places if params.context.include_declaration else places[1:]
        return [location(uri, where, place) for place in named]


def _pieces(server: LayoutServer) -> None:
    """Register the handlers of requests about a range or a whole document."""

    def whole(uri: str) -> list[Placed]:
        dump = server.dumps.get(uri)
        return dump.placed if dump is not None else []

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hinted(params: types.InlayHintParams) -> list[types.InlayHint]:
        return [
            values.inlay_hint(hint, placed, server.units)
            for placed in server.between(params.text_document.uri, params.range)
            for hint in await server.read(hints, placed.piece, *_lines(params.range, placed))
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
    """Register the handlers of code actions."""
    kinds = [types.CodeActionKind.QuickFix]
    options = types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)

    async def edit(uri: str, placed: Placed, action: Action) -> types.WorkspaceEdit | None:
        version = server.workspace.get_text_document(uri).version
        try:
            edits = await server.read(carried_out, placed.piece, action)
        except LayoutError as error:
            server.tell(f"the fix cannot be applied: {error.message}")
            return None
        version = version if server.has_versioned_edits else None
        return values.workspace_edit(uri, version, edits, placed.down)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def asked(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri, all_actions = params.text_document.uri, list[types.CodeAction]()
        first, last = params.range.start.line + 1, params.range.end.line + 1
        dump = server.dumps.get(uri)
        for placed in dump.between(first, last) if dump is not None else ():
            await server.all_of(placed.piece.steps())
            span = first - placed.down, last - placed.down
            of_piece = await server.read(
                lambda piece, span: [*actions(piece, *span)], placed.piece, span
            )
            for action in of_piece:
                title = in_file(action.title, placed.down)
                item = types.CodeAction(title, kind=types.CodeActionKind.QuickFix)
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
                server.tell("that is not an action of this server")
                return params
        if placed is None or placed.down != down:
            server.tell("that was suggested for a text that has changed since")
            return params
        params.edit = await edit(uri, placed, action)
        return params


def _lines(chosen: types.Range, placed: Placed) -> tuple[int, int]:
    """Return the first and the last line of a range, in a piece."""
    return chosen.start.line + 1 - placed.down, chosen.end.line + 1 - placed.down
