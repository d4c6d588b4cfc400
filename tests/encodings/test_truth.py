"""The package against stored answers of Triton 3.9.0; no Triton is needed."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from compiler.agreement import Comparison, ours
from compiler.generate import KINDS
from tiers import slow
from truth.make_truth import Row, read_rows

MNEMONICS = sorted({name.split()[0] for name in KINDS})


@cache
def rows_by_mnemonic() -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {name: [] for name in MNEMONICS}
    for row in read_rows():
        rows[row["attr"].split("<")[0].split(".")[1]].append(row)
    return rows


@pytest.mark.parametrize("step", [20, slow(1)])
@pytest.mark.parametrize("mnemonic", MNEMONICS)
def test_stored_answers_agree(mnemonic: str, step: int, tally: Counter[str]) -> None:
    comparison = Comparison(tally)
    for row in rows_by_mnemonic()[mnemonic][::step]:
        comparison.compare(row, row, ours(row, "3.9"), excuses={})
    comparison.check()


def test_every_attribute_has_enough_answers() -> None:
    """No attribute drops out of the stored answers unseen."""
    counts = {name: len(rows) for name, rows in rows_by_mnemonic().items()}
    assert sum(counts.values()) >= 1500
    assert min(counts.values()) >= 50, counts


@pytest.mark.parametrize(
    "mnemonic", [name for name in MNEMONICS if not name.startswith(("padded", "partit", "amd_rot"))]
)
def test_stored_answers_have_bases(mnemonic: str) -> None:
    """Of these attributes the wheel gives layouts, so most rows must hold bases."""
    rows = rows_by_mnemonic()[mnemonic]
    assert sum("bases" in row for row in rows) > len(rows) // 2
