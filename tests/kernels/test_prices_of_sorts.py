"""Prices of what sorts, scans and descriptors are made of, by their steps."""

from __future__ import annotations

import pytest

from tt_layout.audit.time.constants import FITTED
from tt_layout.audit.time.demands import Demand, Pricing
from tt_layout.audit.time.steps import Step
from tt_layout.hardware import find_target


def prices(*steps: Step) -> list[Demand]:
    """Return the demands of steps on an H100, by four warps."""
    rates = find_target("h100").product
    assert rates is not None
    assert rates.timing is not None
    pricing = Pricing(rates.timing, rates, FITTED, 4, steps)
    return [pricing.of(step) for step in steps]


def step(name: str, operands: str, result: str, element: str = "i32", **given: object) -> Step:
    """Return a step of eight elements of a thread; a letter names a value."""
    of_eight = {"registers": 8, "inputs": 8, "input_element": element, "combines": (), **given}
    return Step(
        name=name, line=1, source=None, operands=tuple(operands), results=tuple(result),
        element=element, **of_eight,  # type: ignore[arg-type]
    )  # fmt: skip


def exchanged(reduced: str, other: str) -> list[Demand]:
    """Return the demands of the other one of each pair, and of what keeps it from being unused."""
    return prices(
        step("tt.reduce", reduced, "r", registers=4, combines=("arith.xori",)),
        step("tt.expand_dims", "r", "e"),
        step("tt.broadcast", "e", "b"),
        step("arith.xori", f"b{other}", "o"),
        step("arith.sitofp", "o", "f", "f32", input_element="i32"),
    )


def test_the_other_one_of_a_pair_is_no_instruction() -> None:
    *_, other, _ = exchanged("x", "x")
    *_, both, _ = exchanged("x", "y")
    assert other.issue == 0
    assert both.issue == 16


@pytest.mark.parametrize(("name", "element"), [("cmpf", "f32"), ("cmpi", "i32")])
def test_a_comparison_of_data_takes_its_pipe_for_two_cycles(name: str, element: str) -> None:
    used = step("arith.sitofp", "x", "f", "f32", input_element="i32")
    found, _ = prices(step(f"arith.{name}", "xy", "p", "i1", input_element=element), used)
    assert (found.issue, found.logic) == (16, 16)


def test_words_of_64_bits_are_compared_and_chosen_in_two() -> None:
    used = step("arith.sitofp", "xc", "f", "f32", input_element="i64")
    compared = step("arith.cmpi", "xy", "p", "i1", input_element="i64")
    found = prices(compared, step("arith.select", "pxy", "c", "i64", input_element="i1"), used)
    assert [demand.issue for demand in found[:2]] == [32, 32]


def test_a_comparison_that_is_turned_round_is_one() -> None:
    compared = step("arith.cmpf", "xy", "p", "i1", input_element="f32")
    wide = step("arith.extui", "p", "w", input_element="i1")
    turned = step("arith.cmpi", "wt", "q", "i1", input_element="i32")
    assert [demand.issue for demand in prices(compared, wide, turned)] == [16, 0, 0]
    again = (
        step("arith.addi", "wt", "s"),
        step("arith.sitofp", "s", "f", "f32", input_element="i32"),
    )
    assert all(demand.issue for demand in prices(compared, wide, turned, *again))


def test_a_descriptor_that_a_program_makes_is_waited_for() -> None:
    [made] = prices(step("ttng.tensormap_fenceproxy_acquire", "x", "", ""))
    assert made.latency > 0
    assert made.lsu > 0
