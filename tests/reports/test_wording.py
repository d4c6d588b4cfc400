"""Counts, sizes and lines are spelled in one way wherever they are printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tt_layout
from tt_layout.wording import plural, size

PACKAGE = Path(tt_layout.__file__).parent
HAND_MADE = re.compile(r"""['"]s['"] ?(\*|if )""")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1 << 10, "1 KiB"),
        (35 << 10, "35 KiB"),
        (1 << 20, "1 MiB"),
        ((1 << 20) - 1, "1 MiB"),
        (3 << 69, "1536 EiB"),
    ],
)
def test_a_size_has_one_spelling(number: int, text: str) -> None:
    assert size(number) == text


def test_plurals_are_made_in_one_place() -> None:
    made = [
        f"{path.relative_to(PACKAGE)}:{at}: {line.strip()}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if HAND_MADE.search(line) and "removeprefix" not in line
    ]
    assert made == []
    assert [plural(noun, 2) for noun in ("warp", "launch", "access", "copy")] == [
        "warps", "launches", "accesses", "copies"
    ]  # fmt: skip
