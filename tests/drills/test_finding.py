"""A new kind of finding: one file; text, JSON, folders, annotations, ``--fail-on`` follow."""

from __future__ import annotations

import json

import pytest

from drills.conftest import Clone

pytestmark = pytest.mark.slow

RULE = '''\
"""``large-loads``: a load that brings more than 4 KiB.

What: loads from global memory of more than 4 KiB

Cost: the bytes beyond that, 64 in a cycle

Why: a drill needs something that occurs.

How to fix: load less.

When it does not pay: always.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tt_layout.audit.conclusions import Conclusions, MovementRow
from tt_layout.audit.findings import Counted, Finding, Occurrence
from tt_layout.ir.data_movements import MovementKind
from tt_layout.wording import size

MOST = 4096


@dataclass(frozen=True)
class LargeLoad(Occurrence):
    """A load of more than `MOST` bytes."""

    kind: ClassVar[str] = "large-loads"
    order: ClassVar[int] = 90
    heading: ClassVar[str] = "large"

    bytes: int

    @classmethod
    def find(cls, rows: Sequence[MovementRow], conclusions: Conclusions) -> Iterator[Finding]:
        """Yield the large loads of a module."""
        for row in rows:
            loaded = row.operation.bytes or 0
            if row.operation.group is MovementKind.GLOBAL_LOAD and loaded > MOST:
                yield Finding.of_movement(row, cls(loaded))

    @property
    def words(self) -> str:
        """How much it loads."""
        return f"loads {size(self.bytes)}"

    @property
    def counted(self) -> Counted:
        """Large loads."""
        return Counted("large load")

    @property
    def cost(self) -> float:
        """What is beyond the limit, in cycles."""
        return (self.bytes - MOST) / 64
'''

DUMP = """\
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32,
                   ttg.target = "cuda:90"} {
  tt.func public @f(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #b>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>, #b>
    %q = tt.addptr %s, %i : tensor<2048x!tt.ptr<f32>, #b>, tensor<2048xi32, #b>
    %x = tt.load %q : tensor<2048x!tt.ptr<f32>, #b>
    tt.return
  }
}
"""


@pytest.fixture
def large(clone: Clone) -> Clone:
    """Return the copy with the rule, and two dumps in which it occurs."""
    clone.add("tt_layout/audit/rules/large_loads.py", RULE)
    assert len(clone.touched) == 1
    (clone.root / "dumps").mkdir()
    for name in ("a", "b"):
        (clone.root / "dumps" / f"{name}.ttgir").write_text(DUMP, encoding="utf-8")
    return clone


def test_every_way_out_knows_it(large: Clone) -> None:
    dump = "dumps/a.ttgir"
    text = large.prints("audit", dump)
    assert "  1. line 8: tt.load loads 8 KiB\n     costs 64 of 64 global-memory cycles" in text
    [module] = json.loads(large.prints("audit", dump, "--format", "json"))["modules"]
    [finding] = [one for one in module["findings"] if one["kind"] == "large-loads"]
    assert (finding["function"], finding["line"], finding["cost"]) == ("f", 8, 64)
    assert module["summary"][0]["findings"]["large-loads"] == 1
    assert module["summary"][0]["text"].endswith(": 1 large load")
    assert "large" in large.prints("audit", "dumps").splitlines()[0]
    assert "title=large-loads" in large.prints("audit", dump, "--format", "github")
    failed = large.run("audit", dump, "--fail-on", "large-loads=64")
    assert (failed.status, "failed on large-loads" in failed.err) == (1, True)
    assert large.run("audit", dump, "--fail-on", "large-loads=65").status == 0
    help_text = " ".join(large.prints("audit", "--help").split())
    assert "large-loads, all." in help_text.replace("large- loads", "large-loads")


def test_its_tests_say_what_is_missing(large: Clone) -> None:
    """The table in the docs is written by the script that compares it."""
    told = large.test("tests/audit/test_rules.py").stdout
    assert (
        "FAILED tests/audit/test_rules.py::test_the_table_in_the_docs_is_made_from_the_rules"
        in told
    )
    assert "1 failed" in told
