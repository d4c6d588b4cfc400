"""Why a counter differs from what is predicted, where that has a name."""

from __future__ import annotations

from collections.abc import Mapping

from tt_layout.audit.measured.counters import (
    ASYNC_COPY,
    GLOBAL_LOAD,
    GLOBAL_STORE,
    NO_LANE,
    SHARED_LOAD,
    SHARED_STORE,
    Counter,
)
from tt_layout.audit.measured.programs import Amount

IDLE = "warps branch around what none of their lanes does"

EQUAL = 0.02
"""Of what was measured: what is nearer is taken for equal."""


def cause(
    counter: Counter, measured: Mapping[Counter, float], predicted: Mapping[Counter, Amount]
) -> str:
    """Return a possible cause of a difference; empty if none is known.

    Args:
        counter: that differs.
        measured: of the launch, or of a line.
        predicted: of the same.

    Example:
        >>> loads, copies = (Counter(a, "instructions") for a in (SHARED_LOAD, ASYNC_COPY))
        >>> cause(loads, {loads: 30, copies: 20}, {loads: Amount(0), copies: Amount(20)})
        '@!PT LDS beside asynchronous copies'
    """
    has, expected = measured[counter], _number(predicted, counter)
    if counter.unit == "instructions":
        return _of_instructions(counter, has, expected, measured, predicted)
    if counter.unit == "wavefronts" and counter.access in (SHARED_LOAD, SHARED_STORE):
        instructions = Counter(counter.access, "instructions")
        number = measured.get(instructions)
        wanted = _number(predicted, instructions)
        if number is not None and wanted is not None and expected is not None:
            is_equal = abs(number - wanted) <= EQUAL * number
            copies = measured.get(Counter(ASYNC_COPY, "instructions"), 0)
            if has > expected and (is_equal or (copies and number > wanted)):
                return "arbitration with other traffic"
    return ""


def _of_instructions(
    counter: Counter,
    has: float,
    expected: float | None,
    measured: Mapping[Counter, float],
    predicted: Mapping[Counter, Amount],
) -> str:
    if expected is None:
        return ""
    copies = measured.get(Counter(ASYNC_COPY, "instructions"), 0)
    if counter.access == SHARED_LOAD and has > expected and copies:
        return f"{NO_LANE} beside asynchronous copies"
    is_less = has < expected
    if is_less and counter.access in (GLOBAL_LOAD, GLOBAL_STORE):
        counts = Counter(counter.access, "requests")
        requested = [measured.get(counts), _number(predicted, counts)]
        requests = min((number for number in requested if number is not None), default=None)
        return IDLE if requests is not None and requests * (1 - EQUAL) <= has else ""
    if is_less and counter.access == SHARED_LOAD:
        turns = Counter(counter.access, "wavefronts")
        wanted = _number(predicted, turns)
        is_equal = wanted is not None and abs(measured.get(turns, 0) - wanted) <= EQUAL * wanted
        return IDLE if is_equal else ""
    return ""


def _number(amounts: Mapping[Counter, Amount], counter: Counter) -> float | None:
    amount = amounts.get(counter)
    return 0 if amount is None else amount.number
