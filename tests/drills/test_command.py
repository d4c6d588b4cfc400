"""A new subcommand: a module; tests fail until it is documented and has a golden."""

from __future__ import annotations

import subprocess
import sys

import pytest

from drills.conftest import Clone

pytestmark = pytest.mark.slow

MODULE = '''\
"""``tt-layout rank``: how many dimensions a layout is for."""

from __future__ import annotations

import click

from tt_layout.cli.parameters import LayoutParameter, release_option
from tt_layout.encodings import Encoding


@click.command("rank", help="Print how many dimensions a layout is for.")
@click.argument("layout", type=LayoutParameter(), metavar="LAYOUT")
@release_option
def command(layout: Encoding) -> None:
    """Print the rank of a layout."""
    click.echo(layout.rank)
'''
SECTION = """\
## `tt-layout rank`

```console
$ tt-layout rank kernel.mlir:rows
2
```

"""
GOLDEN = '    "rank": ["rank", "kernel.mlir:rows"],\n'
LAYOUT = "#ttg.linear<{register = [[1]], lane = [[2]], warp = [], block = []}>"
CHECKS = ("tests/test_command_goldens.py", "-k", "rank or has_a_golden")


@pytest.fixture
def ranked(clone: Clone) -> Clone:
    """Return the copy with the command."""
    clone.add("tt_layout/cli/commands/rank.py", MODULE)
    assert len(clone.touched) == 1
    return clone


def test_it_runs_and_is_listed(ranked: Clone) -> None:
    assert ranked.prints("rank", LAYOUT) == "1\n"
    assert "  rank " in ranked.prints("--help")
    assert "--triton RELEASE" in ranked.prints("rank", "--help")
    assert "did you mean" in ranked.refuses("rank", LAYOUT.replace("linear", "linaer"))


def test_tests_fail_until_it_is_documented_and_has_a_golden(ranked: Clone) -> None:
    failed = ranked.test(*CHECKS).stdout
    assert "FAILED tests/test_command_goldens.py::test_every_command_has_a_golden" in failed
    assert "FAILED tests/test_command_goldens.py::test_every_command_is_documented[rank]" in failed
    ranked.insert("docs/analyses.md", "## `tt-layout suggest`", SECTION)
    ranked.insert("tests/test_command_goldens.py", '    "audit": ["audit"', GOLDEN)
    script = str(ranked.root / "tests" / "test_command_goldens.py")
    subprocess.run([sys.executable, script, "rank"], env=ranked.environment(), check=True)
    assert (ranked.root / "tests/goldens/commands/rank.out").read_text() == "2\n"
    ranked.passes(*CHECKS)
