"""Formulas of a report against its numbers: a text, evaluated, is the number of the same audit."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Run, runner
from tiers import sampled

ROOT = Path(__file__).parents[2]
DUMPS = sorted((ROOT / "examples" / "workloads").glob("*.ttgir"))
SAVED = ROOT / "tests" / "data" / "saved_formula.ttgir"


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


def ceildiv(dividend: int, divisor: int) -> int:
    return max(0, -(-dividend // divisor))


FUNCTIONS = {"ceildiv": ceildiv, "min": min, "max": max}


def evaluated(text: str, values: dict[str, int]) -> int | None:
    """Evaluate a formula; None if it has names that have no value."""
    names = set(re.findall(r"%(\w+)", text))
    if not names <= set(values) or re.search(r"program|unknown|executions|mod\(", text):
        return None
    code = re.sub(r"%(\w+)", r"v_\1", text.removeprefix("at most ")).replace("/", "//")
    return int(eval(code, FUNCTIONS | {f"v_{name}": value for name, value in values.items()}))


def formulas(report: Any, key: str) -> Iterator[tuple[str, int | None]]:
    """Yield each text and number of a pair of fields, in the order of the report."""
    if isinstance(report, dict):
        if f"{key}_text" in report:
            yield report[f"{key}_text"], report[key]
        report = list(report.values())
    if isinstance(report, list):
        for part in report:
            yield from formulas(part, key)


def audited(run: Run, dump: Path, values: dict[str, int]) -> Any:
    options = [option for n, v in values.items() for option in ("--value", f"{n}={v}")]
    return json.loads(run("audit", str(dump), "--format", "json", *options).out)


@pytest.mark.slow
@pytest.mark.parametrize("dump", sampled([SAVED, *DUMPS], 4), ids=lambda path: path.stem)
def test_a_formula_gives_the_number(run: Run, dump: Path, seed: int) -> None:
    """The texts of an audit without values, at values, are the numbers of the audit with them."""
    chance = random.Random(f"{seed} {dump.stem}")
    text = dump.read_text()
    names = set(re.findall(r"%(\w+): i32", text))
    open_formulas = dict.fromkeys(formulas(audited(run, dump, {}), "executions"))
    used = {n for formula, _ in open_formulas for n in re.findall(r"%(\w+)", formula or "")}
    values = {name: 64 * chance.randint(2, 40) for name in used & names}
    exact = [n for _, n in formulas(audited(run, dump, values), "executions")]
    texts = [text for text, _ in formulas(audited(run, dump, {}), "executions")]
    compared = 0
    for formula, number in zip(texts, exact, strict=True):
        result = evaluated(formula, values) if formula else None
        if result is not None and number is not None:
            bound = formula.startswith("at most")
            assert number <= result if bound else number == result, (formula, values)
            compared += bool(used)
    assert compared or not values


@pytest.mark.slow
def test_a_product_with_a_sum_has_parentheses(run: Run) -> None:
    values = {"K": 4096}
    texts = {text for text, _ in formulas(audited(run, SAVED, {}), "saved")}
    numbers = {number for _, number in formulas(audited(run, SAVED, values), "saved")}
    assert texts == {"112 * (ceildiv(%K, 32) - 2) + 224"}
    assert {evaluated(text, values) for text in texts} == numbers == {14336}
