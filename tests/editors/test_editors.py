"""``editors``: each is loaded by the editor that it is for, and starts the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from edits import CONVERTED

ROOT = Path(__file__).parent.parent.parent
EDITORS = ROOT / "editors"
SCRIPT = Path(__file__).parent / "neovim_script.lua"
VSCE = ROOT / ".ci" / "vsce" / "node_modules" / ".bin" / "vsce"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what Neovim shows of a dump, as the script of this folder goes through it."""
    folder = tmp_path_factory.mktemp("neovim")
    (folder / "dump.ttgir").write_text(CONVERTED, encoding="utf-8")
    server = ", ".join(f'"{word}"' for word in (sys.executable, "-m", "tt_layout", "lsp"))
    command = [
        *("nvim", "--headless", "-u", "NONE", "-i", "NONE"),
        *("--cmd", f"lua vim.g.tt_layout_command = {{ {server} }}"),
        *("--cmd", f"luafile {EDITORS / 'neovim.lua'}"),
        *("dump.ttgir", "-c", f"luafile {SCRIPT}"),
    ]
    environment = {**os.environ, "SEEN": str(folder / "seen.json"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert (folder / "seen.json").exists(), done.stderr
    found: dict[str, Any] = json.loads((folder / "seen.json").read_text(encoding="utf-8"))
    assert found["failure"] is None, found["failure"]
    return found


def test_neovim_shows_findings_and_hints(seen: dict[str, Any]) -> None:
    [one] = seen["diagnostics"]
    assert (one["line"], one["code"]) == (5, "conversions")
    assert [hint.strip() for hint in seen["hints"]] == ["shuffles, 16 per warp"]
    [line] = [text for text in seen["first_screen"].split("\n") if "convert_layout" in text]
    assert line.startswith("W     %1 = ttg.convert_layout")
    assert "shuffles, 16 per warp" in line


def test_neovim_shows_what_a_word_is_and_where_it_is_defined(seen: dict[str, Any]) -> None:
    assert "shuffles, 16 per warp" in seen["hover"]
    assert "moves 8 KiB" in seen["hover"]
    assert seen["definition"].startswith("#b = #ttg.blocked<{sizePerThread = [1, 8]")


def test_neovim_carries_a_suggestion_out(seen: dict[str, Any]) -> None:
    [title] = seen["actions"]
    assert title.startswith("Drop the conversion: #a instead of #b")
    assert "removes 64 of" in title
    assert "convert_layout" not in seen["text"]
    assert "shuffles" not in seen["last_screen"]
    assert not any(line.startswith("W") for line in seen["last_screen"].split("\n"))


def test_emacs_shows_findings_and_words(tmp_path: Path) -> None:
    """Compiled without a warning, and with Eglot asked what a person would ask."""
    (tmp_path / "dump.ttgir").write_text(CONVERTED, encoding="utf-8")
    (tmp_path / "tt-layout.el").write_bytes((EDITORS / "emacs.el").read_bytes())
    warned = "(setq byte-compile-error-on-warn t)"
    emacs = ["emacs", "--batch", "--eval", "(package-initialize)"]
    compiling = [*emacs, "--eval", warned, "-f", "batch-byte-compile", "tt-layout.el"]
    subprocess.run(compiling, cwd=tmp_path, check=True)
    server = tmp_path / "bin" / "tt-layout"
    server.parent.mkdir()
    server.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tt_layout "$@"\n')
    server.chmod(0o755)
    path = f"{server.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*emacs, "-l", str(Path(__file__).parent / "emacs_script.el")],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "ttg.convert_layout from #a to #b takes shuffles, 16 per warp" in done.stdout
    assert "moves 8 KiB" in done.stdout


def test_the_extension_of_vs_code_is_packed(tmp_path: Path) -> None:
    package = json.loads((EDITORS / "vscode" / "package.json").read_text(encoding="utf-8"))
    packed = tmp_path / "tt-layout.vsix"
    command = [
        *(str(VSCE), "package", "--allow-missing-repository", "--skip-license"),
        *("--no-dependencies", "-o", str(packed)),
    ]
    subprocess.run(command, cwd=EDITORS / "vscode", check=True, capture_output=True)
    with ZipFile(packed) as archive:
        names = set(archive.namelist())
        assert {"extension/package.json", "extension/extension.js"} <= names
    [language] = package["contributes"]["languages"]
    assert language["extensions"] == [".mlir", ".ttir", ".ttgir"]
    assert package["activationEvents"] == [f"onLanguage:{language['id']}"]
