"""A copy of the project to make additions in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent.parent
PARTS = ("tt_layout", "tests", "docs", "examples", "benchmarks", ".ci", "README.md", "CHANGELOG.md",
         "CONTRIBUTING.md", "pyproject.toml")  # fmt: skip
UNWANTED = shutil.ignore_patterns("artefacts", "venv-*")

WORKER = """
import contextlib, io, json, sys
from tt_layout.cli.main import main

for line in sys.stdin:
    out, err = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(json.loads(line))
        except SystemExit as ended:
            status = ended.code
    for stream in (out, err):
        stream.flush()
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))
    print(json.dumps([status, *texts]), flush=True)
"""
"""Runs the command with the arguments of each line, all in one process."""


class Outcome(NamedTuple):
    """What a run of the command left behind."""

    status: int
    out: str
    err: str


class Clone:
    """A copy of the project, and which of its files were touched.

    Attributes:
        root: where it lies.
        touched: the files added or changed, as paths from the root.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.touched: list[str] = []
        self._worker: subprocess.Popen[str] | None = None
        for part in filter(lambda part: (ROOT / part).exists(), PARTS):
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, root / part, ignore=UNWANTED)
            else:
                shutil.copy(ROOT / part, root / part)

    def add(self, path: str, text: str) -> None:
        """Add a file that is not there."""
        assert not (self.root / path).exists()
        self._touch(path).write_text(text, encoding="utf-8")

    def insert(self, path: str, before: str, text: str) -> None:
        """Insert text in front of the one place where ``before`` stands."""
        file = self._touch(path)
        old = file.read_text(encoding="utf-8")
        assert old.count(before) == 1, f"{path} has {before!r} {old.count(before)} times"
        file.write_text(old.replace(before, text + before), encoding="utf-8")

    def _touch(self, path: str) -> Path:
        assert self._worker is None, "what runs does not see what is added now"
        if path not in self.touched:
            self.touched.append(path)
        return self.root / path

    def environment(self) -> dict[str, str]:
        """Return the variables under which Python takes the copy."""
        left_out = ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER")
        kept = {name: text for name, text in os.environ.items() if name not in left_out}
        return {**kept, "PYTHONPATH": f"{self.root}{os.pathsep}{self.root / 'tests'}"}

    def run(self, *arguments: str) -> Outcome:
        """Run the command of the copy."""
        if self._worker is None:
            self._worker = subprocess.Popen(
                [sys.executable, "-c", WORKER],
                cwd=self.root,
                env=self.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._worker.stdin is not None
        assert self._worker.stdout is not None
        self._worker.stdin.write(json.dumps(arguments) + "\n")
        self._worker.stdin.flush()
        return Outcome(*json.loads(self._worker.stdout.readline()))

    def prints(self, *arguments: str) -> str:
        """Run the command of the copy; return what it prints if all is well."""
        status, out, err = self.run(*arguments)
        assert (status, err) == (0, ""), err
        return out

    def refuses(self, *arguments: str) -> str:
        """Run the command of the copy; return its message if it is one for people."""
        status, out, err = self.run(*arguments)
        assert (status, out) == (2, ""), out
        assert "error: " in err.lower()
        return err

    def test(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run tests of the copy."""
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
            cwd=self.root,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    def passes(self, *arguments: str) -> None:
        """Run tests of the copy, and see them pass."""
        done = self.test(*arguments)
        assert done.returncode == 0, done.stdout

    def end(self) -> None:
        """End what runs in the copy."""
        if self._worker is not None:
            self._worker.communicate()


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Clone]:
    clone = Clone(tmp_path)
    yield clone
    clone.end()
