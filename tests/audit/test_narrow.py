"""Narrow accesses to global memory: each of the usual mistakes is found and named.

``PYTHONPATH=tests python tests/audit/test_narrow.py`` writes what ``tt-layout audit`` says of
``examples/narrow``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "narrow"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ttgir"))

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
else:
    from command import Run, runner

    @pytest.fixture
    def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
        monkeypatch.chdir(FOLDER)
        return runner(capsysbinary, monkeypatch)


MISTAKES = {
    "attention": ("divisibility", "make.py:97", "make start a multiple of 16"),
    "column_major": ("layout", None, "a layout whose order begins with 0"),
    "grouped_matmul": (
        "contiguity",
        "make.py:66",
        "% breaks the run unless n is a multiple of 16: make n a",
    ),
    "layer_norm": ("mask", "make.py:84", "make n a multiple of 16"),
    "matmul": ("contiguity", "make.py:50", "pass inner_a as 1, or as a tl.constexpr"),
    "softmax": ("divisibility", "make.py:37", "make stride a multiple of 16"),
    "vector_add": ("mask", "make.py:28", "make n a multiple of 16"),
}
"""Kernel -> what limits its first narrow access, where that begins, and the way out."""


def test_every_mistake_is_there() -> None:
    assert list(MISTAKES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_mistake_is_named(name: str, run: Run) -> None:
    outcome = run("audit", f"{name}.ttgir", "--format", "json")
    [module] = json.loads(outcome.out)["modules"]
    limits = [(m["cost"] or {}).get("limited_by") for m in module["data_movements"]]
    limit = next(limit for limit in limits if limit is not None)
    what, place, advice = MISTAKES[name]
    assert limit["what"] == what
    assert advice in limit["advice"]
    location = limit["location"]
    assert (f"{location['file']}:{location['line']}" if location else None) == place


def golden(name: str) -> Path:
    return FOLDER / f"{name}.audit.txt"


@pytest.mark.parametrize("name", NAMES)
def test_goldens(name: str, run: Run) -> None:
    outcome = run("audit", f"{name}.ttgir")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == golden(name).read_text(encoding="utf-8")


def test_a_change_of_width_is_a_change(run: Run, tmp_path: Path) -> None:
    before = ROOT / "examples" / "kernels" / "softmax-sm90.ttgir"
    text = before.read_text(encoding="utf-8")
    after = tmp_path / "after.ttgir"
    after.write_text(text.replace("%stride: i32 {tt.divisibility = 16 : i32}", "%stride: i32"))
    outcome = run("audit", "--diff", str(before), str(after))
    assert outcome.status == 1
    assert "2 bytes" in outcome.out
    assert "16 bytes" in outcome.out
    assert outcome.out.endswith("2 removed, 2 added\n")
    outcome = run("audit", "--diff", str(before), str(after), "--format", "json")
    [comparison] = json.loads(outcome.out)["comparisons"]
    assert [move["width_bytes"] for move in comparison["removed"]] == [16, 16]
    assert [move["width_bytes"] for move in comparison["added"]] == [2, 2]


def test_axis_info(run: Run) -> None:
    outcome = run("audit", "--axis-info", "column_major.ttgir")
    assert outcome.status == 0
    row = next(line for line in outcome.out.splitlines() if line.split()[1:2] == ["%8"])
    assert row.split() == ["17", "%8", "64x1", "16x2", "1x1", "-"]
    outcome = run("audit", "--axis-info", "column_major.ttgir", "--format", "json")
    [module] = json.loads(outcome.out)["modules"]
    [function] = module["functions"]
    [value] = [value for value in function["values"] if value["value"] == "%3"]
    assert value == {
        "value": "%3", "line": 12, "contiguity": [1, 1], "divisibility": [16, 16],
        "constancy": [1, 1], "constant": None,
    }  # fmt: skip


def test_axis_info_of_two_files_is_refused(run: Run) -> None:
    outcome = run("audit", "--axis-info", "--diff", "softmax.ttgir", "matmul.ttgir")
    assert outcome.status == 2
    assert "exclude each other" in outcome.err


def write_goldens() -> None:
    for name in NAMES:
        command = [sys.executable, "-m", "tt_layout", "audit", f"{name}.ttgir"]
        done = subprocess.run(command, cwd=FOLDER, stdout=subprocess.PIPE, check=True)
        golden(name).write_bytes(done.stdout)


if __name__ == "__main__":
    write_goldens()
