"""``tt-layout diff``: verdicts, words, exit statuses and formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tt_layout.cli.main import main

ROWS = (
    "#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
COLUMNS = ROWS.replace("order = [1, 0]", "order = [0, 1]")
SAME_MAP = (
    "#ttg.linear<{register = [[0, 1], [1, 0]], lane = [[0, 2], [0, 4], [0, 8], [2, 0], [4, 0]], "
    "warp = [[8, 0], [16, 0]], block = []}>"
)
OTHER_REGISTERS = SAME_MAP.replace("[[0, 1], [1, 0]]", "[[1, 0], [0, 1]]")
OTHER_LANES = SAME_MAP.replace("[0, 2], [0, 4]", "[0, 4], [0, 2]")
OTHER_WARPS = SAME_MAP.replace("[8, 0], [16, 0]", "[16, 0], [8, 0]")
PADDED = "#ttg.padded_shared<[64:+4] {order = [1, 0], shape = [32, 16]}>"
SHARED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(["diff", *arguments])
    out, err = capsys.readouterr()
    return int(exit_.value.code or 0), out, err


@pytest.mark.parametrize(
    ("after", "verdict", "words", "equal_at"),
    [
        (ROWS, "same text", [], {"text", "map", "registers", "lanes", "warps"}),
        (SAME_MAP, "same map", [], {"map", "registers", "lanes", "warps"}),
        (
            OTHER_REGISTERS,
            "same up to the order of registers",
            ["register bits 0 and 1 swapped", "256 of 512 elements", "(0, 1) was T0:1, is T0:2"],
            {"registers"},
        ),
        (
            OTHER_LANES,
            "same up to the order of lanes",
            ["lane bits 0 and 1 swapped", "256 of 512 elements move", "(0, 2) was T1:0, is T2:0"],
            {"lanes"},
        ),
        (
            OTHER_WARPS,
            "same up to the order of warps",
            ["warp bits 0 and 1 swapped", "(8, 0) was T32:0, is T64:0"],
            {"warps"},
        ),
        (COLUMNS, "different", ["register bits 0 and 1 swapped"], set()),
    ],
)
def test_verdict(
    capsys: pytest.CaptureFixture[str],
    after: str,
    verdict: str,
    words: list[str],
    equal_at: set[str],
) -> None:
    for level in ("text", "map", "registers", "lanes", "warps"):
        status, out, _ = run(capsys, ROWS, after, "-t", "tensor<32x16xf16>", "--equal", level)
        assert status == (0 if level in equal_at else 1), level
        assert verdict in out
        for phrase in words:
            assert phrase in out


def test_padding_counts_as_a_difference(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, SHARED, PADDED, "-t", "tensor<32x16xf16>")
    assert status == 1
    assert "padding was [], is [64:+4]" in out


def test_aliases_of_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "two.mlir"
    file.write_text(f"#a = {ROWS}\n#b = {COLUMNS}\n")
    status, out, _ = run(capsys, f"{file}:a", f"{file}:#b", "-t", "tensor<32x16xf16>")
    assert status == 1
    assert out.startswith(f"- {ROWS}\n+ {COLUMNS}\ndifferent\n")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, ROWS, OTHER_LANES, "-t", "tensor<32x16xf16>", "--format", "json")
    result = json.loads(out)
    assert status == 1
    assert result["version"] == 1
    assert result["verdict"] == "lanes"
    assert result["moved"] == 256
    assert result["changes"][0]["kind"] == "swapped"
    assert result["changes"][0]["positions"] == [["lane", 0], ["lane", 1]]
    assert result["first_moves"][0] == {"element": [0, 2], "before": "T1:0", "after": "T2:0"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ROWS, SHARED, "-t", "tensor<32x16xf16>"), "layouts in different memory spaces"),
        ((ROWS, "blocked", "-t", "tensor<32x16xf16>"), "FILE:ALIAS"),
        ((ROWS, "absent.mlir:a", "-t", "tensor<32x16xf16>"), "cannot read"),
        ((ROWS, ROWS, "-t", "tensor<32xf16>"), "is for 2 dimensions"),
        ((ROWS, ROWS), "missing option '-t'"),
    ],
)
def test_trouble(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err
