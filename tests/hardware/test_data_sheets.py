"""Every number of every chip, beside the golden of its data sheet.

`tt_layout.hardware.timing` has those that one chip takes from another.  Nothing else says when a
number of a data sheet is changed by mistake: most of them move an estimate by little.  To accept a
change, run this file as a script, and look at the difference.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Mapping
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
GOLDENS = Path(__file__).parents[1] / "goldens" / "hardware"
VENDORS = {
    "NVIDIA": "tt_layout.hardware.nvidia",
    "AMD": "tt_layout.hardware.amd",
    "Intel": "tt_layout.hardware.intel",
}
"""Vendor -> the module with the rows of its chips."""


def lines(name: str, value: Any) -> Iterator[str]:
    """Yield a line for each number and text that a value is made of."""
    named = _named(value)
    if named is None:
        yield f"{name} = {_plain(value)}"
        return
    for key, part in named.items():
        yield from lines(f"{name}.{key}" if name else key, part)


def _named(value: Any) -> dict[str, Any] | None:
    """Return the parts of a record or a table by their names; None of what is a line."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):
        return dict(value._asdict())
    if isinstance(value, Mapping):
        return {_plain(key): part for key, part in value.items()}
    if isinstance(value, tuple) and any(_named(part) is not None for part in value):
        return {str(at): part for at, part in enumerate(value)}
    return None


def _plain(value: Any) -> str:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, frozenset):
        return _plain(tuple(sorted(value)))
    if isinstance(value, tuple):
        return " ".join(map(_plain, value)) or "()"
    return getattr(value, "__qualname__", str(value))


def data_sheets(vendor: str) -> str:
    """Return the data sheets of the chips of a vendor: of each what its predecessor does not say,
    and the names that are taken for those of chips."""
    from tt_layout.hardware import TARGETS

    text: list[str] = []
    before: set[str] = set()
    for chip in import_module(VENDORS[vendor]).ROWS:
        sheet = list(lines("", chip))
        text += [f"[{chip.name}]", *(line for line in sheet if line not in before), ""]
        before = set(sheet)
    aliases = {name: chip for name, chip in TARGETS.items() if chip.backend.vendor == vendor}
    text += [f"{name}: {chip.name}" for name, chip in aliases.items() if chip.name != name]
    return "\n".join(text) + "\n"


def golden(vendor: str) -> Path:
    return GOLDENS / f"{vendor.lower()}.txt"


@pytest.mark.parametrize("vendor", VENDORS)
def test_numbers_are_those_of_the_data_sheets(vendor: str) -> None:
    assert data_sheets(vendor) == golden(vendor).read_text(encoding="utf-8")


if __name__ == "__main__":
    GOLDENS.mkdir(exist_ok=True)
    for vendor in VENDORS:
        golden(vendor).write_text(data_sheets(vendor), encoding="utf-8")
