"""The command in the first line of each example works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command import Run, runner

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.mlir"))
PROMPT = "// tt-layout "


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(ROOT)
    return runner(capfdbinary, monkeypatch)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_command_prints_every_alias(path: Path, run: Run) -> None:
    text = path.read_text(encoding="utf-8")
    first = text.splitlines()[0]
    assert first.startswith(f"{PROMPT}-i examples/{path.name} ")
    arguments = shlex.split(first.removeprefix(PROMPT))
    done = run(*arguments)
    assert (done.status, done.err) == (0, "")
    names = next(a for a in arguments if a.startswith("--alias-names="))
    views = re.split(r"^Print layout attribute: #(\w+) = .*\n", done.out, flags=re.MULTILINE)
    assert views[1::2] == names.removeprefix("--alias-names=").split(",")
    assert all(view.strip() for view in views[2::2])
