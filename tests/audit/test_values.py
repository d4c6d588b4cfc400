"""``audit --value`` and ``--values``: what is taken, and what is refused with which message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Run, runner

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
MATMUL = str(KERNELS / "matmul-sm80.ttgir")


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def moves(run: Run, *options: str) -> list[dict[str, object]]:
    outcome = run("audit", MATMUL, "--format", "json", *options)
    assert (outcome.status, outcome.err) == (0, "")
    [module] = json.loads(outcome.out)["modules"]
    found: list[dict[str, object]] = module["data_movements"]
    return found


def test_a_loop_is_counted_once_its_bound_is_given(run: Run) -> None:
    unknown = [m for m in moves(run) if m["executions"] is None]
    assert {m["executions_text"] for m in unknown} == {"ceildiv(%K, 32)"}
    lines = {m["line"] for m in unknown}
    known = moves(run, "--value", "K=144")
    assert {m["executions"] for m in known if m["line"] in lines} == {5}
    assert {m["executions"] for m in known if m["line"] not in lines} == {1}


def test_movements_are_before_within_or_after_the_loop(run: Run) -> None:
    parts = [m["loop"]["part"] for m in moves(run)]  # type: ignore[index]
    assert parts == sorted(parts, key=["prologue", "body", "epilogue"].index)
    assert set(parts) == {"prologue", "body", "epilogue"}


def test_totals_count_every_run(run: Run) -> None:
    outcome = run("audit", MATMUL, "--format", "json", "--value", "K=64")
    [module] = json.loads(outcome.out)["modules"]
    for total in module["totals"]:
        own = [
            m for m in module["data_movements"] if m["operation"].endswith("." + total["operation"])
        ]
        assert total["executions"] == sum(m["executions"] for m in own)
        assert total["executed_bytes"] == sum(m["executions"] * m["bytes"] for m in own)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["K: 144", "{'%K': 144}", '{"K": 144}', "K: 0x90", "K: 5\n"])
def test_values_from_a_file(text: str, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(text, encoding="utf-8")
    options = ["--values", str(file)]
    if text == "K: 5\n":
        options += ["--value", "K=144"]  # goes first
    assert {m["executions"] for m in moves(run, *options)} == {1, 5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "maps the names of arguments to integers, got a list"),
        ("K: 1.5", "the value of K must be an integer, got '1.5'"),
        ("K: many", "the value of K must be an integer, got a text"),
        ("K: [1]", "the value of K must be an integer, got a list"),
        ("K: 1\nK: 2", "K"),
        ("", "the file is empty"),
        ("K: &a 1", "anchors are refused in a file of values"),
        ("K: {", "not YAML"),
    ],
)
def test_files_that_are_refused(text: str, message: str, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(text, encoding="utf-8")
    outcome = run("audit", MATMUL, "--values", str(file))
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("k=4", "no kernel has an argument 'k'; choose from a, b, c, K, stride_a, stride_b"),
        ("K=4.5", "the value of K must be an integer, got '4.5'"),
        ("K", "--value takes NAME=NUMBER such as stride=4096, got 'K'"),
        ("K=2147483648", "the value of K must be i32, in -2147483648..2147483647, got 2147483648"),
        ("a=-512", "the value of a must be an address"),
        ("stride_a=100", "the kernel was compiled for multiples of 16 of stride_a"),
        ("program_id_x=-1", "program_id_x must be at least 0, got -1"),
    ],
)
def test_values_that_are_refused(value: str, message: str, run: Run) -> None:
    outcome = run("audit", MATMUL, "--value", value)
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def test_a_negative_size_runs_no_loop(run: Run) -> None:
    assert {m["executions"] for m in moves(run, "--value", "K=-64")} == {0, 1}
