"""Where suggestions and their words begin and end."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest
from small_modules import COLUMNS, ROWS, module_of, shared_cost_of

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.findings import Note
from tt_layout.audit.operations.cost import Cost
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.suggestions.adviser import is_risky
from tt_layout.audit.suggestions.buffers import is_narrowed
from tt_layout.audit.suggestions.context import SuggestionContext
from tt_layout.audit.suggestions.conversions import has_closed_side
from tt_layout.audit.suggestions.flow import Flow
from tt_layout.audit.suggestions.suggestion import CostChange, Suggestion
from tt_layout.audit.values.executions import Executions
from tt_layout.audit.values.structure import LoopPart, LoopStage
from tt_layout.ir.ssa import read_functions
from tt_layout.reports.advice_text import no_way_out, note_text
from tt_layout.reports.comparison import changes


def conversions(*rows: tuple[int, int]) -> Audit:
    """Return the audit of conversions of so many rows, each on a line of the program."""
    body = "\n".join(
        f"    %{number} = ttg.convert_layout %a : tensor<{size}x64xf32, #rows> -> "
        f'tensor<{size}x64xf32, {ROWS.replace("[1, 0]", "[0, 1]")}> loc("k.py":{line}:1)'
        for number, (size, line) in enumerate(rows)
    )
    return audit_module(module_of(body))


def test_what_two_audits_differ_in_comes_by_what_a_line_costs_more_or_less() -> None:
    """Line 1 saves 512 of its 1024 cycles; line 2, which is new, costs 2048."""
    before, after = conversions((512, 1)), conversions((256, 1), (1024, 2))
    found = [(each.sign, each.operation.location, each.cycles) for each in changes(before, after)]
    assert [(sign, place.line if place else None, cost) for sign, place, cost in found] == [
        ("+", 2, 2048),
        ("-", 1, 1024),
        ("+", 1, 512),
    ]


def cost_of(width: int, sectors: int | None) -> Cost:
    unknown = dict.fromkeys(("requests", "lines", "asked_bytes", "moved_bytes", "ideal_sectors"))
    passed = dict.fromkeys(("lsu_wavefronts", "total_lsu_wavefronts"))
    totals = dict.fromkeys(("total_requests", "total_sectors", "total_lines"))
    details = GlobalDetails(
        instruction=None,
        width_bytes=width,
        instructions=1,
        limited_by=None,
        sectors=sectors,
        sectors_per_request=None,
        sector_bytes=32,
        unknown=(),
        overflows=(),
        **unknown,
        **passed,
        **totals,
    )
    return Cost("", 1, details)


def test_a_narrower_access_counts_only_where_its_sectors_are_unknown() -> None:
    wide, narrow = cost_of(16, sectors=None), cost_of(8, sectors=None)
    assert is_narrowed(wide, narrow)
    assert not is_narrowed(narrow, wide)
    assert not is_narrowed(wide, wide)
    assert not is_narrowed(cost_of(16, sectors=8), cost_of(8, sectors=8))
    assert not is_narrowed(shared_cost_of(16), shared_cost_of(8))
    assert not is_narrowed(None, narrow)
    assert not is_narrowed(wide, None)


@pytest.mark.parametrize(("saved", "expected"), [(119, True), (120, False)])
def test_accesses_that_are_added_in_a_loop_are_worth_ten_times_that(
    saved: int, expected: bool
) -> None:
    operation: Any = None
    details: Any = None
    four = Executions(4, "4", LoopPart(1, LoopStage.BODY))
    added = CostChange(operation, four, None, Cost("", 3, details, requests=2))
    suggestion: Any = SimpleNamespace(saved=saved, changes=(added,))
    assert is_risky(suggestion) is expected


@pytest.mark.parametrize(("wavefronts", "is_unknown"), [(None, True), (4, False)])
def test_a_suggestion_names_copies_whose_wavefronts_are_unknown(
    wavefronts: int | None, is_unknown: bool
) -> None:
    names = {one.name: None for one in fields(GlobalDetails)}
    entry = SimpleNamespace(wavefronts=wavefronts)
    details = GlobalDetails(**{**names, "entry": entry})  # type: ignore[arg-type]
    some: Any = None
    copy = CostChange(some, Executions(1, "1", None), None, Cost("", 1, details))
    suggestion = Suggestion("", "", some, some, (copy,))
    assert suggestion.unknown == ((copy,) if is_unknown else ())


@pytest.mark.parametrize(("operations", "is_free"), [(255, True), (256, False)])
def test_what_many_operations_compute_is_not_computed_anew(operations: int, is_free: bool) -> None:
    body = "    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
    body += "".join(
        f"    %{n + 1} = arith.addi %{n}, %{n} : tensor<64xi32>\n" for n in range(operations)
    )
    [function] = read_functions(module_of(body))
    assert Flow(function).is_free(function.values[f"%{operations}"]) is is_free


@pytest.mark.parametrize(
    ("end", "is_closed"), [("math.exp2 %c : TILE", True), ('"my.own"(%c) : (TILE) -> i32', False)]
)
def test_a_side_of_a_conversion_is_closed_if_all_of_it_can_change(
    end: str, is_closed: bool
) -> None:
    source, target = (f"tensor<32x64xf32, {layout}>" for layout in ("#rows", COLUMNS))
    body = f"""    %a = "my.source"() : () -> {source}
    %b = ttg.convert_layout %a : {source} -> {target}
    %c = math.absf %b : {target}
    %d = {end.replace("TILE", target)}"""
    audit = audit_module(module_of(body))
    audited = audit.audited
    [full] = [one for one in audited.operations if one.operation.name == "ttg.convert_layout"]
    assert has_closed_side(SuggestionContext(audit), full) is is_closed


@pytest.mark.parametrize(
    ("consumers", "words"),
    [
        (("tt.store",), "is worth keeping: a direct store"),
        (("tt.atomic_rmw",), "is worth keeping: a direct atomic"),
        (("tt.store", "tt.dot"), "is worth keeping: the cheapest other way"),
        ((), "is worth keeping: the cheapest other way"),
    ],
)
def test_only_stores_make_an_epilogue(consumers: tuple[str, ...], words: str) -> None:
    anchors = tuple(SimpleNamespace(operation=name) for name in consumers)
    adviser: Any = SimpleNamespace(reason=lambda _: SimpleNamespace(consumers=anchors))
    finding: Any = SimpleNamespace(name="ttg.convert_layout", line=7)
    assert words in note_text(adviser, Note(finding, 4, 8), [finding])


def test_that_no_fix_was_found_says_what_was_tried() -> None:
    tried = "no layout that was tried takes fewer cycles"
    occurrences = [SimpleNamespace(no_way_out=""), SimpleNamespace(no_way_out=tried)]
    finding: Any = SimpleNamespace(occurrences=occurrences)
    assert no_way_out(finding) == f"no fix was found: {tried}"
