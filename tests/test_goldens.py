"""Each case of the manifest prints the bytes of its golden files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tt_layout import parse_layout
from tt_layout.printing import print_view
from tt_layout.types import parse_type

GOLDENS = Path(__file__).parent / "goldens"
KEYS = {"name", "layout", "type", "views", "triton", "note"}


def load_cases() -> list[dict[str, Any]]:
    cases = yaml.safe_load((GOLDENS / "layouts.yaml").read_text(encoding="utf-8"))["cases"]
    assert isinstance(cases, list)
    return cases


CASES = load_cases()
VIEWS = [
    pytest.param(case, view, id=f"{case['name']}.{view}")
    for case in CASES
    for view in case.get("views", ["tensor"])
]


def printed(case: dict[str, Any], view: str) -> bytes:
    encoding = parse_layout(case["layout"], release=case.get("triton"))
    tensor = parse_type(case["type"])
    return b"".join(print_view(encoding, tensor, use_hw_view=view == "hardware").chunks())


@pytest.mark.parametrize(("case", "view"), VIEWS)
def test_prints_the_golden_bytes(case: dict[str, Any], view: str) -> None:
    golden = (GOLDENS / f"{case['name']}.{view}.txt").read_bytes()
    assert printed(case, view).decode() == golden.decode()


def test_cases_and_golden_files_are_the_same() -> None:
    names = [
        f"{case['name']}.{view}.txt" for case in CASES for view in case.get("views", ["tensor"])
    ]
    assert sorted(names) == sorted(path.name for path in GOLDENS.glob("*.txt"))


def test_manifest_has_known_keys_only() -> None:
    assert [case["name"] for case in CASES if not set(case) <= KEYS] == []
