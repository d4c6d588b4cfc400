"""``tt-layout mcp`` and the protocol's own client; its schemas are a golden.

Run this file as a script to write the golden.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.mcpserver import MCPServer

import tt_layout
from tt_layout.editing.dump import MAX_TEXT
from tt_layout.errors import LayoutError
from tt_layout.servers import agent_server
from tt_layout.servers.agent_server import make_server
from tt_layout.servers.agent_tools import AgentTools, FindingsPage
from tt_layout.surface import AGENT, shown_on

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
GOLDEN = Path(__file__).parent.parent / "goldens" / "agents" / "tools.json"
MATMUL = "kernels/matmul-sm90.ttgir"
TEXT = (ROOT / "examples" / MATMUL).read_text(encoding="utf-8")
COSTLY = (ROOT / "examples" / "kernels" / "attention-gfx942.ttgir").read_text(encoding="utf-8")
ROWS = "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])"
COLUMNS = "gl.BlockedLayout([8, 1], [8, 4], [1, 4], [0, 1])"


def with_agent(
    scene: Callable[[Client], Awaitable[None]], root: Path | None, *options: str
) -> None:
    """Let a client talk to the command."""
    given = [*(["--root", str(root)] if root is not None else []), *options]
    arguments = ["-m", "tt_layout", "mcp", *given]

    async def whole() -> None:
        server = StdioServerParameters(command=sys.executable, args=arguments)
        async with Client(stdio_client(server)) as client:
            await scene(client)

    anyio.run(whole)


async def answer(client: Client, tool: str, **arguments: Any) -> str:
    found: Any = await client.call_tool(tool, arguments)
    assert not found.is_error, found.content
    return str(found.content[0].text)


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    found: Any = await client.call_tool(tool, arguments)
    assert found.is_error
    assert len(found.content) == 1
    return str(found.content[0].text)


def test_every_tool_answers_as_the_library_does() -> None:
    async def scene(client: Client) -> None:
        assert "conversion through shared memory" in await answer(client, "audit", dump=MATMUL)
        line = next(at for at, text in enumerate(TEXT.split("\n"), 1) if "convert_layout" in text)
        told = await answer(client, "explain", dump=MATMUL, line=line)
        for fact in ("256 wavefronts", "#mma: nvidia_mma", "live registers", "defined by"):
            assert fact in told
        found: Any = await client.call_tool("kernel_features", {"dump": TEXT})
        assert found.structured_content == tt_layout.features(TEXT)
        report = tt_layout.conflicts(ROWS, "(64,64):(64,1)", "64x64xf16")
        asked = {"registers": ROWS, "shared": "(64,64):(64,1)", "tensor": "64x64xf16"}
        assert await answer(client, "conflicts", **asked) == str(report)
        best = tt_layout.swizzle([ROWS], [COLUMNS], "64x64xf16")
        both = {"writers": [ROWS], "readers": [COLUMNS]}
        assert await answer(client, "swizzle", **both, tensor="64x64xf16") == str(best)
        asked = {"source": ROWS, "target": COLUMNS, "tensor": "64x64xf16", "gpu": "sm80"}
        converted = tt_layout.convert(ROWS, COLUMNS, "64x64xf16", target="sm80")
        assert await answer(client, "convert", **asked) == str(converted)
        written = await answer(client, "translate_layout", layout=ROWS, to="3.4")
        assert written.startswith("#ttg.blocked<{")
        picture: Any = await client.call_tool("picture", {"layout": ROWS, "tensor": "16x64xf16"})
        assert base64.b64decode(picture.content[0].data).startswith(b"\x89PNG")

    with_agent(scene, ROOT / "examples")


def test_files_that_are_no_dumps_are_not_listed(tmp_path: Path) -> None:
    (tmp_path / "k.ttgir").write_text("module {\n}\n")
    (tmp_path / "notes.md").write_text("module {\n}\n")

    async def scene(client: Client) -> None:
        told = await answer(client, "dumps")
        assert "k.ttgir" in told
        assert "notes.md" not in told

    with_agent(scene, tmp_path)


WRONG = [
    "", "nonsense", "#foo", "#ttg.blocked<{", "(3,5):(1,3)", ".version 8.4", "{}", "$a",
    "k.ttgir:a", "tensor<64x64xf16>", "#ttg.auto<>", "#ttg.slice<{dim = 5, parent = #a}>",
]  # fmt: skip
LAYOUTS = [
    ROWS, ROWS.replace("[4, 8]", "[8, 8]"), ROWS.replace("[4, 8]", "[4, 4]"), "(64,64):(64,1)",
    "#ttg.padded_shared<[32:+1] {order = [1, 0], shape = [64, 64]}>",
    "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>",
]  # fmt: skip


def layout_texts() -> Iterator[tuple[str, str]]:
    """Yield what the tools of layouts say, answers and refusals, each with its tool."""
    tools = AgentTools()
    questions: list[tuple[str, dict[str, Any]]] = []
    for one, other in itertools.product([*LAYOUTS, *WRONG], LAYOUTS):
        for gpu in (None, "sm90", "foo"):
            for source, target in ((one, other), (other, one)):
                asked: dict[str, Any] = {"tensor": "64x64xf16", "gpu": gpu}
                questions.append(("convert", {"source": source, "target": target, **asked}))
                questions.append(("conflicts", {"registers": source, "shared": target, **asked}))
    for one in [*LAYOUTS, *WRONG]:
        asked = {"tensor": "64x64xf16"}
        questions.append(("swizzle", {"writers": [one], "readers": [], **asked}))
        for to in ("gluon", "cute", "tlx", "linear", "3.4", "2.1", "foo"):
            for tensor in (None, "64x64xf16"):
                questions.append(("translate_layout", {"layout": one, "to": to, "tensor": tensor}))
    for name, arguments in questions:
        with shown_on(AGENT):
            try:
                yield name, str(getattr(tools, name)(**arguments))
            except LayoutError as error:
                yield name, str(error)


def test_no_tool_of_layouts_names_an_option_or_an_argument_of_another_surface() -> None:
    option = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*\b|tt-layout |<(?:src|dst|register)>")
    texts = [*layout_texts()]
    assert len({text for _, text in texts}) > 150
    for tool, text in texts:
        told = [line for line in text.splitlines() if not line.startswith(("- ", "+ "))]
        assert option.search("\n".join(told)) is None, (tool, text)
        for word in ("shape_or_type", "target picks", "unknown option"):
            assert word not in text, (tool, text)


def test_findings_of_a_later_module_follow_those_before() -> None:
    dump = (ROOT / "examples" / "kernels" / "matmul-sm80.ttgir").read_text(encoding="utf-8")
    report = tt_layout.audit_ir(f"{dump}\n// -----\n{dump}")
    pages = [str(FindingsPage(report, first, 1)).splitlines() for first in (1, 2, 3)]
    second = dump.count("\n") + 2
    for page, begins in zip(pages, (0, second)):
        heading, finding, *_ = page
        assert heading == f"<text>:{begins + 15}"
        assert f"line {begins + 139}: ttg.convert_layout" in finding
    assert pages[0][-1] == "1 to 1 of 2 findings; the next: first=2"
    assert pages[1][-1] == "2 to 2 of 2 findings"
    assert str(FindingsPage(report)).splitlines() == [
        *pages[0][:-1],
        *pages[1][:-1],
        "1 to 2 of 2 findings",
    ]
    assert pages[2] == ["none from 3 on, of 2 findings"]


def test_an_answer_says_that_the_dump_is_truncated() -> None:
    async def scene(client: Client) -> None:
        cut = TEXT[: TEXT.index("scf.yield")]
        for tool in ("audit", "findings"):
            assert "  not all of it was read: the module that" in await answer(
                client, tool, dump=cut
            )
        assert "truncated" in await refusal(client, "kernel_features", dump=cut)

    with_agent(scene, None)


def test_a_conversion_is_for_warps_as_the_layouts_have_them() -> None:
    wide = ROWS.replace("[4, 8]", "[8, 8]")
    with shown_on(AGENT):
        report = AgentTools().convert(wide, COLUMNS.replace("[8, 4]", "[8, 8]"), "64x64xf16")
        with pytest.raises(LayoutError, match="sm90 has 32; gpu picks another"):
            AgentTools().conflicts(wide, "(64,64):(64,1)", "64x64xf16", gpu="sm90")
    assert "scratch per CTA on gfx942" in report


def test_a_suggestion_is_carried_out() -> None:
    async def scene(client: Client) -> None:
        dump = (ROOT / "examples" / "kernels" / "attention-gfx942.ttgir").read_text("utf-8")
        applied = tt_layout.apply(dump)
        assert (await answer(client, "apply_suggestion", dump=dump)).endswith(applied.text)
        assert "no finding 99" in await refusal(client, "apply_suggestion", dump=dump, finding=99)

    with_agent(scene, None)


def test_files_outside_of_the_folder_are_refused(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "kernel.ttgir").write_text(TEXT)
    (tmp_path / "secret.ttgir").write_text(TEXT)
    (inside / "link.ttgir").symlink_to(tmp_path / "secret.ttgir")

    async def scene(client: Client) -> None:
        for name in ("../secret.ttgir", "/etc/passwd", "link.ttgir", "x/../../secret.ttgir"):
            assert "only files below" in await refusal(client, "audit", dump=name)
        assert "No such file" in await refusal(client, "audit", dump="none.ttgir")
        assert await refusal(client, "audit", dump="\0") != ""
        assert await answer(client, "audit", dump="kernel.ttgir")
        assert await answer(client, "audit", dump=str(inside / "kernel.ttgir"))

    async def without(client: Client) -> None:
        assert "--root FOLDER" in await refusal(client, "audit", dump="kernel.ttgir")

    with_agent(scene, inside)
    with_agent(without, None)


def test_what_is_wrong_is_one_message_and_the_server_lives() -> None:
    async def scene(client: Client) -> None:
        assert "found no MLIR" in await refusal(client, "audit", dump="no\nMLIR\n")
        assert await client.call_tool("audit", {"dump": TEXT[: len(TEXT) // 2]})
        assert "no line" in await refusal(client, "explain", dump=TEXT, line=10**6)
        await refusal(client, "explain", dump=TEXT, line=-1)
        await refusal(client, "nothing")
        await refusal(client, "audit")
        told = await refusal(client, "conflicts", registers="x", shared="y", tensor="z")
        assert "Traceback" not in told
        large = " \n" * (MAX_TEXT // 2 + 1)
        assert "at most" in await refusal(client, "audit", dump=large)
        deep = "module {\n" + "scf.if %c {\n" * 20_000
        assert await client.call_tool("audit", {"dump": deep})
        async with anyio.create_task_group() as group:  # two and more at once
            for _ in range(6):
                group.start_soon(lambda: answer(client, "audit", dump=TEXT))
        with anyio.move_on_after(0.01):  # given up by the agent
            await answer(client, "audit", dump=TEXT)
        assert await answer(client, "audit", dump=TEXT)

    with_agent(scene, None)


# -- what a dump, or an agent, could ask for ------------------------------------------------------


@pytest.mark.attack
def test_no_answer_waits_for_another_and_what_is_given_up_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from servers.unending import NEVER, answered_or_never

    never = {"layout": ROWS, "to": "3.4", "tensor": NEVER}
    usual = {"layout": ROWS, "to": "3.4"}

    async def scene(server: MCPServer) -> None:
        async with Client(server) as client:
            before = len(children())
            async with anyio.create_task_group() as group:
                for _ in range(agent_server.MAX_PROCESSES - 1):
                    group.start_soon(lambda: client.call_tool("translate_layout", never))
                with anyio.fail_after(180):
                    while len(children()) - before < agent_server.MAX_PROCESSES - 1:
                        await anyio.sleep(0.05)
                with anyio.fail_after(180):
                    assert await answer(client, "translate_layout", **usual)
                group.cancel_scope.cancel()
            with anyio.fail_after(180):
                while len(children()) - before > 1:
                    await anyio.sleep(0.05)
            assert await answer(client, "translate_layout", **usual)
            monkeypatch.setattr(agent_server, "MAX_WAITING", 1)
            assert "more than 1 seconds" in await refusal(client, "translate_layout", **never)

    monkeypatch.setattr(agent_server, "answered", answered_or_never)
    monkeypatch.setattr(agent_server, "processors", lambda: agent_server.MAX_PROCESSES)
    anyio.run(scene, make_server(None))


def children() -> list[int]:
    """Return the processes that this one has started."""
    tasks = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return [int(number) for task in tasks for number in task.read_text().split()]


def schemas() -> list[dict[str, Any]]:
    tools = anyio.run(make_server(None).list_tools)
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "input": tool.input_schema,
            "output": tool.output_schema,
        }
        for tool in tools
    ]


def test_the_schemas_are_those_of_the_golden() -> None:
    assert json.loads(GOLDEN.read_text(encoding="utf-8")) == schemas()
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    assert all(f"`{tool['name']}`" in page for tool in schemas())


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(json.dumps(schemas(), indent=1) + "\n", encoding="utf-8")
