"""A session of VS Code, with the packed extension, whose messages are kept as a trace.

    python tests/editors/vs_code_session.py CODE_SERVER FOLDER

CODE_SERVER is what ``npm install --ignore-scripts code-server@4.100.3`` makes, whose ``lib/vscode``
has got its packages in the same way: VS Code with its extension host, shown by a browser.  FOLDER
gets the trace, ``vs_code.jsonl``, and pictures of the window.  `tests/servers/test_vs_code.py`
replays the trace; a new one is copied beside it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zipfile import ZipFile

from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from edits import CONVERTED  # noqa: E402  from the folder of the tests

VSCE = ROOT / ".ci" / "vsce" / "node_modules" / ".bin" / "vsce"
PORT = 9123
SECONDS = 120
"""Until something is there, on a machine that does much else."""

LISTENER = """\
import json, subprocess, sys, threading

process = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
log, lock = open(sys.argv[1], "a"), threading.Lock()

def pass_on(source, target, side):
    while head := source.readline():
        size = 0
        while head.strip():
            name, _, value = head.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
            head = source.readline()
        body = source.read(size)
        with lock:
            print(json.dumps([side, json.loads(body)]), file=log, flush=True)
        target.write(b"Content-Length: %d\\r\\n\\r\\n" % size + body)
        target.flush()

client = threading.Thread(target=pass_on, args=(sys.stdin.buffer, process.stdin, "client"))
client.daemon = True
client.start()
pass_on(process.stdout, sys.stdout.buffer, "server")
sys.exit(process.wait())
"""
"""A process between the editor and the server, which keeps each message with its side."""


def prepare(folder: Path) -> None:
    """Put the dump, the packed extension and the settings below a folder."""
    (folder / "project").mkdir(parents=True)
    (folder / "project" / "dump.ttgir").write_text(CONVERTED, encoding="utf-8")
    source = folder / "extension"
    shutil.copytree(ROOT / "editors" / "vscode", source)
    npm = ["npm", "install", "--no-audit", "--no-fund", "--silent"]
    subprocess.run(npm, cwd=source, check=True)
    packing = ["package", "--allow-missing-repository", "--skip-license", "-o", "packed.vsix"]
    subprocess.run([str(VSCE), *packing], cwd=source, check=True, capture_output=True)
    with ZipFile(source / "packed.vsix") as archive:
        archive.extractall(folder / "unpacked")
    (folder / "extensions").mkdir()
    (folder / "unpacked" / "extension").rename(folder / "extensions" / "tt-layout.tt-layout-0.1.0")
    (folder / "listener.py").write_text(LISTENER, encoding="utf-8")
    python = sys.executable
    listener = [python, str(folder / "listener.py"), str(folder / "messages.jsonl")]
    machine = folder / "data" / "data" / "Machine"
    machine.mkdir(parents=True)
    settings = {"tt-layout.command": [*listener, python, "-m", "tt_layout", "lsp"]}
    (machine / "settings.json").write_text(json.dumps(settings), encoding="utf-8")


@contextmanager
def server_of(code_server: Path, folder: Path) -> Iterator[None]:
    """Run VS Code's server."""
    command = [
        *("node", str(code_server / "lib" / "vscode" / "out" / "server-main.js")),
        *("--host", "127.0.0.1", "--port", str(PORT), "--without-connection-token"),
        *("--accept-server-license-terms", "--telemetry-level", "off"),
        *("--extensions-dir", str(folder / "extensions")),
        *("--server-data-dir", str(folder / "data")),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            while "listening" not in (folder / "server.log").read_text():
                time.sleep(0.5)
            yield
            time.sleep(3)  # the extension host stops what it started
        finally:
            process.terminate()
            process.wait()


def go_to(page: Page, line: int, column: int) -> None:
    """Set the cursor, both from 1."""
    page.keyboard.press("Control+g")
    page.keyboard.type(f"{line}:{column}")
    page.keyboard.press("Enter")


def visit(page: Page, folder: Path) -> None:
    """Do in the window of VS Code what a person does in a dump."""
    page.get_by_text("Yes, I trust the authors").click(timeout=SECONDS * 1000)
    editor = page.locator(".monaco-editor .view-lines").first
    expect(page.locator(".squiggly-warning")).to_have_count(1, timeout=SECONDS * 1000)
    expect(editor).to_contain_text("shuffles, 16 per warp", timeout=SECONDS * 1000)
    page.screenshot(path=folder / "findings.png")
    go_to(page, 6, 15)
    page.keyboard.press("Control+k")
    page.keyboard.press("Control+i")
    hover = page.locator(".monaco-hover", has_text="moves 8 KiB").first
    expect(hover).to_be_visible(timeout=SECONDS * 1000)
    page.screenshot(path=folder / "hover.png")
    page.keyboard.press("Escape")
    go_to(page, 6, CONVERTED.split("\n")[5].index("#b") + 2)
    page.keyboard.press("F12")
    expect(page.locator(".statusbar")).to_contain_text("Ln 2", timeout=SECONDS * 1000)
    go_to(page, 5, 1)
    page.keyboard.press("End")
    page.keyboard.type("\n// a note that is typed fast", delay=15)
    expect(page.locator(".statusbar")).to_contain_text("Ln 6", timeout=SECONDS * 1000)
    page.wait_for_timeout(2000)
    go_to(page, 7, 15)
    page.keyboard.press("Control+.")
    menu = page.locator(".action-widget", has_text="Drop the conversion")
    expect(menu).to_be_visible(timeout=SECONDS * 1000)
    page.screenshot(path=folder / "actions.png")
    page.keyboard.press("Enter")
    expect(page.locator(".squiggly-warning")).to_have_count(0, timeout=SECONDS * 1000)
    expect(editor).not_to_contain_text("convert_layout", timeout=SECONDS * 1000)
    page.screenshot(path=folder / "carried_out.png")


def trace(folder: Path) -> Iterator[list[Any]]:
    """Yield each message with its side; paths and the process are those of no machine."""
    for line in (folder / "messages.jsonl").read_text(encoding="utf-8").splitlines():
        side, message = json.loads(line.replace(str(folder), ""))
        if message.get("method") == "initialize":
            message["params"]["processId"] = None
        yield [side, message]


def main() -> None:
    """Record a session."""
    code_server, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    prepare(folder)
    file = f"vscode-remote://127.0.0.1:{PORT}{folder}/project/dump.ttgir"
    payload = quote(json.dumps([["openFile", file]]))
    with server_of(code_server, folder), sync_playwright() as playwright:
        executable = shutil.which(os.environ.get("CHROMIUM", "chromium-headless-shell"))
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 800})
        page.goto(f"http://127.0.0.1:{PORT}/?folder={folder}/project&payload={payload}")
        visit(page, folder)
        page.goto("about:blank")
        browser.close()
    lines = [json.dumps(message) + "\n" for message in trace(folder)]
    (folder / "vs_code.jsonl").write_text("".join(lines), encoding="utf-8")
    sys.stdout.write(f"{len(lines)} messages\n")


if __name__ == "__main__":
    main()
