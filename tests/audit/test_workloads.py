"""Six kernels for five GPUs each: what is found first, on one screen.

``PYTHONPATH=tests python tests/audit/test_workloads.py`` writes the goldens anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tiers import sampled

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
FOLDER = ROOT / "examples" / "workloads"
DUMPS = sorted(FOLDER.glob("*.ttgir"))
SCREEN = 50


def head(path: Path) -> str:
    """Return the report down to the findings."""
    from tt_layout import audit_ir

    text = str(audit_ir(path.read_text(encoding="utf-8")))
    return text.partition("\n\ndata movements")[0] + "\n"


def golden(path: Path) -> Path:
    return path.with_suffix(".findings.txt")


def test_every_kernel_is_there_for_every_target() -> None:
    kernels = (
        "attention_backward",
        "grouped_matmul",
        "int8_matmul",
        "layer_norm",
        "scan",
        "split_k",
    )
    targets = ("gfx942", "gfx950", "sm100", "sm80", "sm90")
    names = [f"{kernel}-{target}" for kernel in kernels for target in targets]
    assert [path.stem for path in DUMPS] == names


@pytest.mark.parametrize("path", sampled(DUMPS, 3), ids=[path.stem for path in DUMPS])
def test_findings_are_on_the_first_screen(path: Path) -> None:
    found = head(path)
    assert found == golden(path).read_text(encoding="utf-8")
    assert len(found.splitlines()) <= SCREEN
    assert max(map(len, found.splitlines())) <= 120


def test_those_of_the_examples_are_too() -> None:
    for path in (ROOT / "examples" / "kernels").glob("*.audit.txt"):
        lines = path.read_text(encoding="utf-8").partition("\n\ndata movements")[0].splitlines()
        assert len(lines) <= SCREEN, path
        assert max(map(len, lines)) <= 120, path


if __name__ == "__main__":
    for dump in DUMPS:
        golden(dump).write_text(head(dump), encoding="utf-8")
