"""What is published: one version, dependencies as old as is said, everything that is needed."""

from __future__ import annotations

import re
from pathlib import Path

import tt_layout

ROOT = Path(__file__).parent.parent
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


def test_ci_has_every_python_that_is_named() -> None:
    named = re.findall(r":: (3\.\d+)\"", PROJECT)
    script = (ROOT / ".ci" / "all-pythons").read_text(encoding="utf-8")
    assert f"for version in {' '.join(named)}; do" in script
