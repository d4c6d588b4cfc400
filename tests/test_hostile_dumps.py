"""Small dumps of which much could be made: what is read of them is bounded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from work import calls_of

from tt_layout.audit.values.expressions import MAX_TEXT, trip_count_text
from tt_layout.ir import parse_ir
from tt_layout.ir.ssa.reader import SsaReader

sys.path.insert(0, str(Path(__file__).parent / "attack"))
from hostile_dumps import CYCLE, last_two, shared_quotients, shared_values


def trip_count(dump: str) -> str:
    """Return how often the one loop of a dump runs."""
    [module] = parse_ir(dump)
    [function] = SsaReader().functions(module)
    [loop] = [o for block in function.body for o in block.operations if o.name == "scf.for"]
    found = []
    assert calls_of(lambda: found.append(trip_count_text(function, loop).text)) < 20_000
    return found[0]


@pytest.mark.parametrize("count", [12, 60, 1000])
def test_values_that_share_operands_are_written_once(count: int) -> None:
    dumps = [shared_quotients(count), last_two(count)]
    dumps += [shared_values(f"arith.{name}", count) for name in ("addi", "muli", "divsi")]
    assert all(len(trip_count(dump)) <= MAX_TEXT for dump in dumps)


def test_a_value_computed_from_itself_is_written_by_its_name() -> None:
    assert trip_count(CYCLE) == "%x + %x"


def test_shared_values_are_written_out_while_they_are_short() -> None:
    assert trip_count(shared_values("arith.addi", 2)) == "%s + %s + (%s + %s)"
    assert trip_count(shared_quotients(1)) == "%s / %s + %s"
