"""An editor without a screen: pygls' own client, talking to ``tt-layout lsp``."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

T = TypeVar("T")

MODERN = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown]),
        document_symbol=types.DocumentSymbolClientCapabilities(
            hierarchical_document_symbol_support=True
        ),
        code_action=types.CodeActionClientCapabilities(
            data_support=True,
            resolve_support=types.ClientCodeActionResolveOptions(properties=["edit"]),
        ),
    ),
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    ),
)
URI = "file:///work/dump.ttgir"

UNANSWERED = 240
"""Seconds after which a scene waits for an answer that does not come."""


class Editor:
    """A client with one document open.

    Attributes:
        client: of the protocol.
        messages: what the server has shown.
        versions: of the texts whose diagnoses were published, in that order.
    """

    def __init__(self) -> None:
        self.client = LanguageClient("tests", "1")
        self.messages: list[str] = []
        self.versions: list[int | None] = []
        self._version = 0
        self._told: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def tell(params: types.PublishDiagnosticsParams) -> None:
            self._told.put_nowait(params)
            self.versions.append(params.version)

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)  # type: ignore[untyped-decorator]
        def note(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)

    async def start(
        self, capabilities: types.ClientCapabilities, options: object = None
    ) -> types.InitializeResult:
        await self.client.start_io(sys.executable, "-m", "tt_layout", "lsp")
        found = await self.client.initialize_async(
            types.InitializeParams(capabilities=capabilities, initialization_options=options)
        )
        self.client.initialized(types.InitializedParams())
        return found

    async def open(self, text: str) -> list[types.Diagnostic]:
        """Open a text; return what is wrong with it."""
        self._version += 1
        item = types.TextDocumentItem(URI, "mlir", self._version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.told()

    async def edit(self, *changes: types.TextDocumentContentChangeEvent) -> list[types.Diagnostic]:
        """Edit the text; return what is wrong with it then."""
        self._version += 1
        document = types.VersionedTextDocumentIdentifier(self._version, URI)
        params = types.DidChangeTextDocumentParams(document, list(changes))
        self.client.text_document_did_change(params)
        return await self.told()

    async def told(self) -> list[types.Diagnostic]:
        """Return what is wrong with the newest version."""
        while True:
            found = await asyncio.wait_for(self._told.get(), 120)
            if found.version == self._version:
                return list(found.diagnostics)

    async def hover(self, line: int, column: int) -> str | None:
        """Return what is said of the word at a place, both from 0."""
        params = types.HoverParams(DOCUMENT, types.Position(line, column))
        found = await self.client.text_document_hover_async(params)
        if found is None:
            return None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    def kill(self) -> None:
        """End a server that does not answer."""
        server = self.client._server
        assert server is not None
        server.kill()

    async def stop(self) -> int | None:
        """End the server; return its exit status."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        server = self.client._server
        assert server is not None
        status = await asyncio.wait_for(server.wait(), 30)
        await self.client.stop()  # type: ignore[no-untyped-call]
        return status


DOCUMENT = types.TextDocumentIdentifier(URI)


def in_editor(
    scene: Callable[[Editor], Awaitable[T]],
    capabilities: types.ClientCapabilities = MODERN,
    options: Any = None,
) -> T:
    """Return what happens in an editor that is started for it; the server ends as it should."""

    async def whole() -> T:
        editor = Editor()
        await editor.start(capabilities, options)
        try:
            found = await asyncio.wait_for(scene(editor), UNANSWERED)
        except asyncio.TimeoutError:
            editor.kill()
            raise
        assert await editor.stop() == 0
        return found

    return asyncio.run(whole())


def range_of(*numbers: int) -> types.Range:
    """Return a range from the line and column of its start and its end."""
    first, column, last, end = numbers
    return types.Range(types.Position(first, column), types.Position(last, end))


def change(text: str, *numbers: int) -> types.TextDocumentContentChangePartial:
    """Return the change that puts a text into a range."""
    return types.TextDocumentContentChangePartial(range_of(*numbers), text)
