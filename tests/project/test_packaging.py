"""What is published: one version, dependencies as old as is said, everything that is needed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tt_layout

ROOT = Path(__file__).parents[2]
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_version_is_written_once() -> None:
    """The docs name one in the example of a pre-commit hook."""
    assert 'dynamic = ["version"]' in PROJECT
    assert not re.search(r"^version = \"", PROJECT, re.MULTILINE)
    text = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    assert re.findall(r"rev: v(\S+)", text) == [tt_layout.__version__]


def test_ci_tries_the_oldest_dependencies_that_are_allowed() -> None:
    said = re.findall(r'"([A-Za-z-]+)>=([\d.]+)"', PROJECT.split("browser =")[0])
    tried = re.findall(r"^([A-Za-z-]+)==([\d.]+)$", (ROOT / ".ci" / "oldest.txt").read_text(), re.M)
    assert sorted(tried) == sorted(own for own in said if own[0] != "setuptools")


HELPS = """
import contextlib, io, click
from tt_layout.cli.main import cli

def show(command, path):
    with contextlib.suppress(SystemExit):
        command.main(["--help"], prog_name=path)
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            show(command.get_command(click.Context(command), name), f"{path} {name}")

show(cli, "tt-layout")
"""


@pytest.mark.slow
def test_without_docstrings_every_help_is_the_same() -> None:
    """Which is how PYTHONOPTIMIZE=2 runs."""
    told = [
        subprocess.run(
            [sys.executable, *options, "-c", HELPS],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for options in ((), ("-OO",))
    ]
    assert "Count the shared-memory bank conflicts" in told[0]
    assert told[1] == told[0]


def test_ci_has_every_python_that_is_named() -> None:
    named = re.findall(r":: (3\.\d+)\"", PROJECT)
    scripts = {"packages": named, "pythons-between": named[1:-1]}
    for name, versions in scripts.items():
        script = (ROOT / ".ci" / name).read_text(encoding="utf-8")
        assert f"for version in {' '.join(versions)}; do" in script


@pytest.mark.slow
def test_the_slow_tier_has_what_servers_need() -> None:
    """Without these packages ``tests/servers`` would be left out in silence."""
    from importlib.util import find_spec

    assert find_spec("pygls") is not None
    assert find_spec("mcp") is not None


@pytest.mark.slow
def test_a_plain_install_says_what_a_server_needs() -> None:
    """Nothing but its own command imports it."""
    script = (
        "import sys\nsys.modules['pygls'] = sys.modules['lsprotocol'] = None\n"
        "from tt_layout.cli.main import main\nmain(['lsp'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: the language server needs pip install 'tt-layout[lsp]'\n"
    other = script.replace("pygls", "mcp").replace("lsprotocol", "pydantic").replace("lsp", "mcp")
    done = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: the server for agents needs pip install 'tt-layout[mcp]'\n"
