"""``tt-layout lsp`` and a client of the protocol: what is answered, and that nothing ends it."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from threading import Event

import pytest
from edits import CONVERTED
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from servers.editor import DOCUMENT, MODERN, URI, Editor, change, in_editor, range_of
from tt_layout.editing.dump import AROUND, MAX_TEXT, EditedDump
from tt_layout.editing.piece import LARGE
from tt_layout.servers.language_server import LayoutServer, make_server

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
MATMUL = (ROOT / "examples" / "kernels" / "matmul-sm90.ttgir").read_text(encoding="utf-8")
LINES = MATMUL.split("\n")
CONVERSION = next(at for at, line in enumerate(LINES) if "ttg.convert_layout" in line)
WHOLE = range_of(0, 0, len(LINES), 0)


def place(word: str) -> tuple[int, int]:
    line = next(at for at, text in enumerate(LINES) if word in text)
    return line, LINES[line].index(word) + 1


def test_the_answers_are_those_of_the_protocol() -> None:
    async def scene(editor: Editor) -> None:
        [told] = await editor.open(MATMUL)
        assert (told.code, told.source) == ("conversions", "tt-layout")
        start = LINES[CONVERSION].index("ttg.convert_layout")
        end = start + len("ttg.convert_layout")
        assert told.range == range_of(CONVERSION, start, CONVERSION, end)
        assert "shared memory, 256 wavefronts" in str(await editor.hover(CONVERSION, start + 2))
        assert "nvidia_mma, in registers" in str(await editor.hover(*place("#mma>")))
        client = editor.client
        hints = await client.text_document_inlay_hint_async(types.InlayHintParams(DOCUMENT, WHOLE))
        [hint] = [one for one in hints or () if one.position.line == CONVERSION]
        assert str(hint.label).startswith("shared memory, 256 wavefronts")
        assert LINES[CONVERSION][hint.position.character :].startswith(" loc(")
        for first, last in ((CONVERSION - 2, CONVERSION - 1), (CONVERSION + 1, CONVERSION + 2)):
            beside = types.InlayHintParams(DOCUMENT, range_of(first, 0, last, 0))
            hints = await client.text_document_inlay_hint_async(beside) or ()
            assert all(first <= one.position.line <= last for one in hints)
        position = types.Position(CONVERSION, LINES[CONVERSION].index("%7") + 1)
        found = await client.text_document_definition_async(
            types.DefinitionParams(DOCUMENT, position)
        )
        assert isinstance(found, types.Location)
        assert LINES[found.range.start.line].lstrip().startswith("%7 = ")
        for declares, count in ((True, 2), (False, 1)):
            context = types.ReferenceContext(declares)
            params = types.ReferenceParams(context, DOCUMENT, position)
            assert len(await client.text_document_references_async(params) or ()) == count
        [module] = (
            await client.text_document_document_symbol_async(types.DocumentSymbolParams(DOCUMENT))
            or ()
        )
        assert isinstance(module, types.DocumentSymbol)
        assert [child.name for child in module.children or ()][-1] == "@matmul"
        folds = await client.text_document_folding_range_async(types.FoldingRangeParams(DOCUMENT))
        assert len(folds or ()) == 3

    in_editor(scene)


def test_lines_are_those_of_the_document_wherever_a_module_stands() -> None:
    header = "// -----// IR Dump After P (p) //----- //\n"
    folder = ROOT / "examples" / "workloads"
    texts = [MATMUL, (folder / "grouped_matmul-sm80.ttgir").read_text(encoding="utf-8")]
    above = f"{header}module {{\n}}\n{header}"
    down = above.count("\n")

    async def scene(editor: Editor, before: str, text: str) -> list[object]:
        told = await editor.open(before + text)
        lines = (before + text).split("\n")
        whole = range_of(down, 0, len(lines), 0)
        params = types.InlayHintParams(DOCUMENT, whole)
        hints = await editor.client.text_document_inlay_hint_async(params) or ()
        texts = [(hint.position, hint.label, hint.tooltip) for hint in hints]
        asked = types.CodeActionParams(DOCUMENT, whole, types.CodeActionContext(told))
        actions = await editor.client.text_document_code_action_async(asked) or ()
        moved = [(at, line.index("ttg.")) for at, line in enumerate(lines) if " = ttg." in line]
        hovers = [await editor.hover(at, column + 5) for at, column in moved[:12]]
        return [told, texts, [action.title for action in actions], hovers]

    for text in texts:
        below, alone = (
            in_editor(partial(scene, before=before, text=text)) for before in (above, "\n" * down)
        )
        assert below == alone
        assert re.search(r"line \d|\(\d", str(below))


def test_pictures_are_for_clients_that_show_them() -> None:
    async def scene(editor: Editor) -> str:
        await editor.open(MATMUL)
        return str(await editor.hover(*place("#mma>")))

    assert "data:image/svg+xml;base64," in in_editor(scene, options={"pictures": True})
    assert "data:image" not in in_editor(scene)


def test_an_older_client_is_answered_in_its_words() -> None:
    """One that says nothing of what it can do: plain text, flat symbols, edits at once."""

    async def scene(editor: Editor) -> None:
        [told] = await editor.open(CONVERTED)
        text = str(await editor.hover(5, 12))
        assert "ttg.convert_layout" in text
        assert "`" not in text
        params = types.DocumentSymbolParams(DOCUMENT)
        symbols = await editor.client.text_document_document_symbol_async(params)
        assert all(isinstance(one, types.SymbolInformation) for one in symbols or ())
        context = types.CodeActionContext([told])
        [action] = (
            await editor.client.text_document_code_action_async(
                types.CodeActionParams(DOCUMENT, told.range, context)
            )
            or ()
        )
        assert isinstance(action, types.CodeAction)
        assert action.edit is not None
        assert action.edit.changes is not None

    in_editor(scene, types.ClientCapabilities())


def test_a_suggestion_is_carried_out_when_it_is_chosen() -> None:
    async def scene(editor: Editor) -> None:
        [told] = await editor.open(CONVERTED)
        asked = types.CodeActionParams(DOCUMENT, told.range, types.CodeActionContext([told]))
        [action] = await editor.client.text_document_code_action_async(asked) or ()
        assert isinstance(action, types.CodeAction)
        assert action.edit is None
        assert "removes 64 of" in action.title
        chosen = await editor.client.code_action_resolve_async(action)
        assert chosen.edit is not None
        [edits] = chosen.edit.document_changes or ()
        assert isinstance(edits, types.TextDocumentEdit)
        changes = [
            types.TextDocumentContentChangePartial(edit.range, edit.new_text)
            for edit in reversed(edits.edits)
            if isinstance(edit, types.TextEdit)
        ]
        assert await editor.edit(*changes) == []
        await editor.edit(types.TextDocumentContentChangeWholeDocument("module {\n}\n"))
        stale = await editor.client.code_action_resolve_async(action)
        assert stale.edit is None
        assert len(editor.messages) == 1

    in_editor(scene)


@pytest.mark.parametrize("count", [30])
def test_after_edits_of_parts_the_same_is_told(count: int, seed: int) -> None:
    """Each edit is sent as the part that changes; what is told is what the whole text has."""
    random = Random(seed)

    async def scene(editor: Editor) -> None:
        lines = list(LINES)
        await editor.open(MATMUL)
        for _ in range(count):
            at = random.randrange(len(lines) - 1)
            if random.random() < 0.5:
                new = lines[random.randrange(len(lines))]
                found = await editor.edit(change(new + "\n", at, 0, at, 0))
                lines.insert(at, new)
            else:
                found = await editor.edit(change("", at, 0, at + 1, 0))
                del lines[at]
            expected = EditedDump("\n".join(lines)).diagnoses()
            assert [one.message for one in found] == [one.message for one in expected]
            assert [one.range.start.line + 1 for one in found] == [one.line for one in expected]

    in_editor(scene)


# -- bad input ----------------------------------------------------------------------------------


def test_edits_out_of_range_do_not_end_it() -> None:
    async def scene(editor: Editor) -> None:
        await editor.open(MATMUL)
        await editor.edit(change("\n", 10**6, 10**6, 10**6 + 1, 0))
        await editor.edit(change("", 3, 10**6, 3, 10**6))
        await editor.edit(change("x", 9, 5, 2, 1))
        whole = types.TextDocumentContentChangeWholeDocument(MATMUL)
        assert len(await editor.edit(whole)) == 1
        assert await editor.hover(10**6, 10**6) is None
        far = types.InlayHintParams(DOCUMENT, range_of(10**6, 0, 10**6 + 5, 0))
        assert not await editor.client.text_document_inlay_hint_async(far)

    in_editor(scene)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int main() { return 0; }\n", "found no MLIR in it"),
        ("\0\1\2", "found no MLIR in it"),
        (" " * (MAX_TEXT + 1), "tt-layout audit reads it"),
        (MATMUL[: len(MATMUL) // 3] + "\U0001f600 é", "has no end"),
    ],
    ids=["no MLIR", "binary", "large", "cut off"],
)
def test_texts_that_cannot_be_read(text: str, message: str) -> None:
    async def scene(editor: Editor) -> None:
        told = await editor.open(text)
        assert message in told[0].message
        assert len(told) == 1 or message == "has no end"
        await editor.hover(0, 0)
        whole = types.TextDocumentContentChangeWholeDocument(MATMUL)
        assert len(await editor.edit(whole)) == 1

    in_editor(scene)


def test_a_dump_of_50_mb_is_one_message() -> None:
    async def scene(editor: Editor) -> None:
        large = MATMUL * (50_000_000 // len(MATMUL))
        [told] = await editor.open(large)
        assert "tt-layout audit reads it" in told.message
        assert await editor.hover(CONVERSION, 12) is None

    in_editor(scene)


def test_columns_are_those_of_the_client() -> None:
    """In UTF-16, in which a character may be two."""
    text = MATMUL.replace(
        LINES[CONVERSION], LINES[CONVERSION].replace("    %8", '    "\U0001f600" %8')
    )

    async def scene(editor: Editor) -> None:
        told = await editor.open(text)
        [one] = [each for each in told if each.code == "conversions"]
        line = text.split("\n")[CONVERSION]
        start = line.index("ttg.convert_layout")
        assert one.range.start.character == start + 1
        assert "wavefronts" in str(await editor.hover(CONVERSION, start + 4))

    in_editor(scene)


def test_requests_that_are_cancelled_and_many_at_once() -> None:
    async def scene(editor: Editor) -> None:
        await editor.open(MATMUL)
        client = editor.client
        where = types.Position(CONVERSION, LINES[CONVERSION].index("ttg.convert_layout"))
        asked = [
            client.text_document_hover_async(types.HoverParams(DOCUMENT, where)) for _ in range(30)
        ]
        future = client.protocol.send_request(
            types.TEXT_DOCUMENT_HOVER, types.HoverParams(DOCUMENT, where), msg_id="gone"
        )
        client.protocol.notify(types.CANCEL_REQUEST, types.CancelParams("gone"))
        found = await asyncio.gather(*asked)
        assert len({str(one) for one in found}) == 1
        assert found[0] is not None
        with suppress(JsonRpcException):  # it was done before the word came, or it is given up
            await asyncio.wait_for(asyncio.wrap_future(future), 20)
        assert await editor.hover(where.line, where.character) is not None

    in_editor(scene)


def test_documents_that_are_not_open_and_requests_that_nobody_knows() -> None:
    async def scene(editor: Editor) -> None:
        await editor.open(MATMUL)
        other = types.TextDocumentIdentifier("file:///work/other.ttgir")
        client = editor.client
        asked = types.HoverParams(other, types.Position(0, 0))
        assert await client.text_document_hover_async(asked) is None
        assert await client.text_document_document_symbol_async(
            types.DocumentSymbolParams(other)
        ) in ([], None)
        client.text_document_did_close(types.DidCloseTextDocumentParams(other))
        with pytest.raises(JsonRpcException):
            await asyncio.wrap_future(client.protocol.send_request("x/unknown", {}))
        bad = types.CodeAction("of nobody", data=[URI, 77, "x", 1, 1, 1])
        assert (await client.code_action_resolve_async(bad)).edit is None
        other_data = types.CodeAction("of another", data={"of": "another"})
        resolved = client.code_action_resolve_async(other_data)
        assert await asyncio.wait_for(resolved, 30) == other_data
        assert await editor.hover(*place("#mma>")) is not None

    in_editor(scene)


def test_a_deep_text_and_one_of_many_edits() -> None:
    async def scene(editor: Editor) -> None:
        await editor.open("module {\n" + "scf.if %c {\n" * 20_000)
        for at in range(40):  # all are sent before the first is answered
            editor._version += 1
            document = types.VersionedTextDocumentIdentifier(editor._version, URI)
            text = MATMUL if at % 2 else CONVERTED
            whole = types.TextDocumentContentChangeWholeDocument(text)
            params = types.DidChangeTextDocumentParams(document, [whole])
            editor.client.text_document_did_change(params)
        assert len(await editor.told()) == 1

    in_editor(scene, MODERN)


def test_what_is_shown_is_diagnosed_first() -> None:
    """The lines that hints were asked for last stand for what is shown."""
    passes = [f"// -----// IR Dump After P{n} (p) //----- //\n{CONVERTED}" for n in range(9)]
    first = sum(text.count("\n") for text in passes[:6])

    async def scene(editor: Editor) -> None:
        item = types.TextDocumentItem(URI, "mlir", 0, "".join(passes))
        editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        shown = types.InlayHintParams(DOCUMENT, range_of(first + 2, 0, first + 5, 0))
        await editor.client.text_document_inlay_hint_async(shown)
        [told] = await editor.told()
        assert first < told.range.start.line < first + passes[6].count("\n")
        assert len(await editor.told()) == len(passes)

    in_editor(scene)


def large_kernel() -> str:
    body = CONVERTED[CONVERTED.index("    %0 =") : CONVERTED.index("    tt.return")]
    bodies = (re.sub(r"%(\d)", rf"%n{at}_\1", body) for at in range(LARGE // len(body) + 9))
    return CONVERTED.replace(body, "".join(bodies))


def test_a_hover_goes_before_the_actions_of_a_large_kernel() -> None:
    """They take all of its findings; between two steps of these it is answered."""

    async def scene(editor: Editor) -> None:
        item = types.TextDocumentItem(URI, "mlir", 0, large_kernel())
        editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        asked = types.CodeActionParams(DOCUMENT, range_of(5, 0, 6, 0), types.CodeActionContext([]))
        actions = asyncio.ensure_future(editor.client.text_document_code_action_async(asked))
        assert "ttg.convert_layout" in str(await editor.hover(5, 12))
        assert not actions.done()
        assert len(await actions or ()) == 1

    in_editor(scene)


def test_of_a_large_kernel_is_diagnosed_first_what_is_shown() -> None:
    large = large_kernel()
    first = large.count("\n") // 2

    async def scene(editor: Editor) -> None:
        item = types.TextDocumentItem(URI, "mlir", 0, large)
        editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        shown = types.InlayHintParams(DOCUMENT, range_of(first, 0, first + 40, 0))
        await editor.client.text_document_inlay_hint_async(shown)
        told = [one.range.start.line for one in await editor.told()]
        assert first - AROUND <= min(told) <= max(told) <= first + 40 + AROUND
        assert {at for at in range(first, first + 40) if "ttg.conv" in large.split("\n")[at]} <= {
            *told
        }
        assert len(await editor.told()) == large.count("ttg.convert_layout")
        line = large[: large.index("tt.func")].count("\n")
        assert "run tt-layout audit" in str(await editor.hover(line, 3))

    in_editor(scene)


@pytest.mark.parametrize("pause", [0.0, 0.6])
def test_what_is_wrong_with_an_older_text_is_not_told(pause: float) -> None:
    """Neither of one that is edited before it is diagnosed, nor of one that is edited meanwhile."""
    passes = [f"// -----// IR Dump After P{n} (p) //----- //\n{MATMUL}" for n in range(120)]
    steps = [*EditedDump("".join(passes)).steps()]

    async def scene(editor: Editor) -> None:
        item = types.TextDocumentItem(URI, "mlir", 0, "".join(passes))
        editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await asyncio.sleep(pause)
        whole = types.TextDocumentContentChangeWholeDocument(CONVERTED)
        assert len(await editor.edit(whole)) == 1
        again = types.TextDocumentContentChangeWholeDocument(CONVERTED + "\n")
        assert len(await editor.edit(again)) == 1
        for _ in steps:  # between two answers one is taken of all that is under way
            await editor.hover(5, 12)
        assert editor.versions == [1, 2]

    in_editor(scene)


def test_words_are_answered_while_a_dump_is_audited() -> None:
    async def scene() -> str:
        server, is_answered = LayoutServer(), Event()
        audit = asyncio.ensure_future(server.read(is_answered.wait, 60))
        answer = await server.look(str.upper, "word")
        assert not audit.done()
        is_answered.set()
        assert await audit
        return answer

    assert asyncio.run(scene()) == "WORD"


def test_a_layout_is_hovered_while_a_dump_is_audited() -> None:
    """So is where a value is defined: neither waits for the thread that audits."""

    async def scene() -> tuple[types.Hover, types.Location]:
        server, is_answered = make_server(), Event()
        protocol = server.protocol
        next(protocol.lsp_initialize(types.InitializeParams(capabilities=MODERN)))
        server.dumps[URI] = EditedDump(MATMUL)
        audit = asyncio.ensure_future(server.read(is_answered.wait, 60))
        hovered = protocol.fm.features[types.TEXT_DOCUMENT_HOVER]
        defined = protocol.fm.features[types.TEXT_DOCUMENT_DEFINITION]
        try:
            at = types.Position(*place("#mma>"))
            hover = await asyncio.wait_for(hovered(types.HoverParams(DOCUMENT, at)), 30)
            found = await asyncio.wait_for(defined(types.DefinitionParams(DOCUMENT, at)), 30)
            assert not audit.done()
        finally:
            is_answered.set()
            await audit
        return hover, found

    hover, found = asyncio.run(scene())
    assert "nvidia_mma, in registers" in str(hover)
    assert LINES[found.range.start.line].startswith("#mma = ")
