"""A new subcommand: a module; tests fail until it is documented and has a golden."""

from __future__ import annotations

import subprocess
import sys

import pytest

from drills.conftest import Clone

pytestmark = pytest.mark.slow

MODULE = '''\
"""``tt-layout dims``: how many dimensions a layout is for."""

from __future__ import annotations

import click

from tt_layout.cli.parameters import LayoutParameter, release_option
from tt_layout.encodings import Encoding


@click.command("dims", help="Print how many dimensions a layout is for.")
@click.argument("layout", type=LayoutParameter(), metavar="LAYOUT")
@release_option
def command(layout: Encoding) -> None:
    """Print the rank of a layout."""
    click.echo(layout.rank)
'''
SECTION = """\
## `tt-layout dims`

```console
$ tt-layout dims kernel.mlir:rows
2
```

"""
GOLDEN = '    "dims": ["dims", "kernel.mlir:rows"],\n'
LAYOUT = "#ttg.linear<{register = [[1]], lane = [[2]], warp = [], block = []}>"
CHECKS = ("tests/cli/test_command_goldens.py", "-k", "dims or has_a_golden")


@pytest.fixture
def ranked(clone: Clone) -> Clone:
    """Return the copy with the command."""
    clone.add("tt_layout/cli/commands/dims.py", MODULE)
    assert len(clone.touched) == 1
    return clone


def test_it_runs_and_is_listed(ranked: Clone) -> None:
    assert ranked.prints("dims", LAYOUT) == "1\n"
    assert "  dims " in ranked.prints("--help")
    assert "--triton RELEASE" in ranked.prints("dims", "--help")
    assert "did you mean" in ranked.refuses("dims", LAYOUT.replace("linear", "linaer"))


def test_tests_fail_until_it_is_documented_and_has_a_golden(ranked: Clone) -> None:
    failed = ranked.test(*CHECKS).stdout
    assert "FAILED tests/cli/test_command_goldens.py::test_every_command_has_a_golden" in failed
    assert (
        "FAILED tests/cli/test_command_goldens.py::test_every_command_is_documented[dims]" in failed
    )
    ranked.insert("docs/analyses.md", "## `tt-layout suggest`", SECTION)
    ranked.insert("tests/cli/test_command_goldens.py", '    "audit": ["audit"', GOLDEN)
    script = str(ranked.root / "tests/cli/test_command_goldens.py")
    subprocess.run([sys.executable, script, "dims"], env=ranked.environment(), check=True)
    assert (ranked.root / "tests/goldens/commands/dims.out").read_text() == "2\n"
    ranked.passes(*CHECKS)
