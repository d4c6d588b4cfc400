"""The data that pages are made of, in goldens: a line for each entry.

    PYTHONPATH=.:tests:tests/cli python tests/page/test_page_data.py

writes them anew.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_outputs import printed

EXAMPLES = Path(__file__).parents[2] / "examples"
GOLDENS = Path(__file__).parents[1] / "goldens" / "pages"
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
ROWS = "'gl.BlockedLayout([1, 4], [4, 8], [2, 1], [1, 0])'"
SWIZZLED = "'gl.SwizzledSharedLayout(4, 1, 4, [1, 0])'"
PAGES = {
    "dump": "narrow/vector_add.ttgir",
    "findings": "narrow/matmul.ttgir --line 60",
    "playground": "",
    "two": f"{ROWS} {SWIZZLED} -t 8x32xf16",
}
COMMON = "playground"
"""The page of which everything is in a golden; of others what it does not have."""


def golden(name: str) -> Path:
    return GOLDENS / f"{name}.txt"


def entries(value: Any, path: str = "") -> Iterator[str]:
    """Yield a line for each entry of an object, of lists of objects one for each object."""
    is_long = len(json.dumps(value)) > 300
    if isinstance(value, dict) and is_long:
        for key, part in value.items():
            yield from entries(part, f"{path}.{key}")
    elif isinstance(value, list) and is_long and any(isinstance(part, dict) for part in value):
        for at, part in enumerate(value):
            yield from entries(part, f"{path}[{at}]")
    else:
        yield f"{path.lstrip('.')} = {json.dumps(value, ensure_ascii=False)}\n"


def lines_of(name: str) -> list[str]:
    """Return the entries of the data of a page."""
    found = DATA.search(printed(["page", *shlex.split(PAGES[name]), "-o", "-"]))
    assert found is not None
    return list(entries(json.loads(found.group(1))))


def written(name: str) -> str:
    """Return the golden of a page."""
    known = set(lines_of(COMMON)) if name != COMMON else set()
    return "".join(line for line in lines_of(name) if line not in known)


@pytest.mark.parametrize("name", PAGES)
def test_data_is_that_of_the_golden(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    assert written(name) == golden(name).read_text(encoding="utf-8")


if __name__ == "__main__":
    os.chdir(EXAMPLES)
    GOLDENS.mkdir(exist_ok=True)
    for page in PAGES:
        golden(page).write_text(written(page), encoding="utf-8")
