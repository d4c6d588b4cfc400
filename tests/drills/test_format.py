"""A new output format: one file; ``audit``, ``watch``, help and the test of the docs know it."""

from __future__ import annotations

import csv
import subprocess
import sys

import pytest

from drills.conftest import Clone

pytestmark = pytest.mark.slow

MODULE = '''\
"""CSV: a row for each kernel, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from tt_layout.reports.format import Format
from tt_layout.reports.report import OfKernels


class Csv(Format):
    """A row for each kernel."""

    name = "csv"
    order = 45
    prints = "CSV of the kernels"
    needs = OfKernels
    scope = "the report of an audit"
    ending = ".csv"

    @classmethod
    def texts(cls, report: OfKernels) -> Iterator[str]:
        """Yield the header and the rows."""
        yield _row("kernel", "GPU", "cycles", "findings")
        for kernel in report.all_kernels():
            yield _row(kernel.function, kernel.target, kernel.cycles, len(kernel.findings))


def _row(*cells: object) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\\n").writerow(cells)
    return out.getvalue()
'''
KERNELS = "examples/kernels/matmul-sm80.ttgir", "examples/kernels/attention-sm90.ttgir"
WATCHED = f"""\
import tt_layout
from tt_layout.kernels.seen import CompiledKernel

with tt_layout.watch(out="kernels.csv") as seen:
    text = open({KERNELS[0]!r}, encoding="utf-8").read()
    seen.record.compiled(CompiledKernel("key", "matmul", text, "train.py:7"))
"""


@pytest.fixture
def tables(clone: Clone) -> Clone:
    """Return the copy with the format."""
    clone.add("tt_layout/reports/formats/csv.py", MODULE)
    assert len(clone.touched) == 1
    return clone


def test_audit_has_it(tables: Clone) -> None:
    assert "CSV of the kernels" in " ".join(tables.prints("audit", "--help").split())
    rows = list(csv.reader(tables.prints("audit", *KERNELS, "--format", "csv").splitlines()))
    assert rows[0] == ["kernel", "GPU", "cycles", "findings"]
    assert [row[:2] for row in rows[1:]] == [["matmul", "sm80"], ["attention", "sm90"]]
    assert all(float(row[2]) > 0 for row in rows[1:])
    refused = tables.refuses("audit", KERNELS[0], "--fits", "--format", "csv")
    assert "--format csv is for the report of an audit" in refused
    assert "csv" not in tables.prints("check", "--help")


def test_watch_writes_it_and_takes_its_place_again(tables: Clone) -> None:
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", WATCHED],
            cwd=tables.root,
            env=tables.environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
    lines = (tables.root / "kernels.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "kernel,GPU,cycles,findings"
    assert lines[1].startswith("matmul,sm80,")
    assert lines[2:] == ["# generator: tt-layout"]


def test_its_tests_say_what_is_missing(tables: Clone) -> None:
    """The table in the docs is written by the script that compares it."""
    name = "tests/reports/test_formats.py"
    missing = "test_the_table_in_the_docs_is_made_from_the_formats"
    assert f"FAILED {name}::{missing}" in tables.test(name, "-k", "table or found").stdout
    script = str(tables.root / name)
    subprocess.run([sys.executable, script], env=tables.environment(), check=True)
    written = (tables.root / "docs" / "formats.md").read_text(encoding="utf-8")
    assert "| `csv` | CSV of the kernels | `audit`, `.csv` of `watch` |" in written
    tables.passes(name, "-k", "table or found")
