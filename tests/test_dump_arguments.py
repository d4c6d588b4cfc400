"""What a dump knows is not asked for: ``FILE:ALIAS`` without a type, and ``FILE:LINE``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner

KERNELS = Path(__file__).parent.parent / "examples" / "kernels"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(KERNELS)
    return runner(capfdbinary, monkeypatch)


def data(run: Run, *arguments: str) -> dict[str, Any]:
    outcome = run(*arguments, "--format", "json")
    assert outcome.status == 0, outcome.err
    found: dict[str, Any] = json.loads(outcome.out)
    return found


def test_an_alias_brings_its_type_and_its_target(run: Run) -> None:
    outcome = run("info", "matmul-sm90.ttgir:mma")
    assert outcome.out == run("info", "matmul-sm90.ttgir:mma", "-t", "tensor<128x64xf32>").out
    assert outcome.err == (
        "note: the type is tensor<128x64xf32>; -t takes another: tensor<128x64xf16>\n"
    )
    pair = ["attention-gfx942.ttgir:linear", "attention-gfx942.ttgir:shared2"]
    assert data(run, "conflicts", *pair)["target"] == "gfx942"
    assert data(run, "conflicts", *pair, "--target", "gfx950")["target"] == "gfx950"
    assert run("where", "matmul-sm90.ttgir@last:mma", "--element", "3,5").status == 0
    both = ["matmul-sm90.ttgir:mma", "matmul-sm90.ttgir:blocked1"]
    found = run("convert", *both)
    assert found.out == run("convert", *both, "-t", "tensor<128x64xf16>", "--target", "sm90").out


def test_of_integers_the_largest_type_is_taken(run: Run) -> None:
    """Not the offsets and pointers, which stand on the same layouts more often."""
    dump = "../workloads/int8_matmul-gfx942.ttgir"
    assert "the type is tensor<64x64xi32>;" in run("convert", f"{dump}:blocked", f"{dump}:mma").err


def test_a_line_is_its_data_movement(run: Run) -> None:
    [module] = data(run, "audit", "attention-gfx942.ttgir")["modules"]
    move = next(one for one in module["data_movements"] if one["line"] == 153)
    found = data(run, "conflicts", "attention-gfx942.ttgir:153")
    assert (found["target"], list(found)[3:]) == ("gfx942", ["store"])
    for key in ("instruction", "instructions", "wavefronts_per_instruction"):
        assert found["store"][key] == move["cost"][key]
    best = data(run, "swizzle", "attention-gfx942.ttgir:153", "--family", "padded")
    assert best["optimum"]["extra_wavefronts"] == 0
    [module] = data(run, "audit", "matmul-sm90.ttgir")["modules"]
    [line] = [m["line"] for m in module["data_movements"] if m["group"] == "conversion"]
    assert data(run, "convert", f"matmul-sm90.ttgir:{line}")["kind"] == "shared memory"
    assert run("diff", f"matmul-sm90.ttgir:{line}").status == 1
    assert run("info", f"matmul-sm90.ttgir:{line}").out.startswith("#ttg.blocked<")


def test_a_line_is_drawn_as_its_multiplication(run: Run, tmp_path: Path) -> None:
    dot = ["plot", "-i", "matmul-sm80.ttgir", "--line", "125", "--view", "mma", "-o"]
    for ending in ("svg", "html"):
        short, long = tmp_path / f"short.{ending}", tmp_path / f"long.{ending}"
        assert run("plot", "matmul-sm80.ttgir:125", "-o", str(short)) == run(*dot, str(long))
        assert short.read_bytes() == long.read_bytes()
    outcome = run("plot", "matmul-sm80.ttgir:126", "-o", str(short))
    assert (outcome.status, outcome.out) == (2, "")
    assert "no data movement stands on this line" in outcome.err


def test_a_line_is_drawn(run: Run, tmp_path: Path) -> None:
    figure = tmp_path / "banks.svg"
    assert run("plot", "attention-gfx942.ttgir:153", "-o", str(figure)).status == 0
    assert "bank" in figure.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convert", "matmul-sm90.ttgir:1"], "no data movement stands on this line; the nearest"),
        (["convert", "matmul-sm90.ttgir:62"], "has one layout, and convert takes two"),
        (["conflicts", "matmul-sm80.ttgir:97"], "the access is to a part of a buffer"),
        (["info", "matmul-sm90.ttgir:nothing"], "there is no alias #nothing"),
        (["info", "#ttg.blocked<{}>"], "-t"),
        (["convert", "matmul-sm90.ttgir@7:123"], "there is no module 7"),
    ],
)
def test_what_is_not_there(arguments: list[str], message: str, run: Run) -> None:
    outcome = run(*arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err
