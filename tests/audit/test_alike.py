"""Prices of accesses that are computed alike, which edited texts of a kernel share."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from edits import edited
from tiers import slow

from tt_layout.audit.audit import Audit, audit_of
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.operations.details import GlobalDetails
from tt_layout.audit.suggestions.trial import LayoutExchange, Trial
from tt_layout.audit.values.given import GivenValues
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.ir import parse_ir
from tt_layout.ir.ssa.known_functions import KnownAnswers
from tt_layout.ir.ssa.reader import read_functions

EXAMPLES = Path(__file__).parents[2] / "examples"
VECTOR_ADD = (EXAMPLES / "narrow" / "vector_add.ttgir").read_text(encoding="utf-8")
WIDE = VECTOR_ADD.replace("%n: i32 ", "%n: i32 {tt.divisibility = 16 : i32} ")
DUMPS = sorted(EXAMPLES.rglob("*.ttgir"))

SCALARS = """\
module attributes {ttg.target = "hip:gfx942", "ttg.num-warps" = 4 : i32} {
  tt.func @f(%p: !tt.ptr<i32>, %q: !tt.ptr<i64>) {
    %c = arith.constant 1 : i32
    %r = tt.addptr %p, %c : !tt.ptr<i32>, i32
    %a = tt.load %p : !tt.ptr<i32>
    %b = tt.load %r : !tt.ptr<i32>
    %d = tt.load %q : !tt.ptr<i64>
    %e = arith.trunci %d : i64 to i32
    tt.return
  }
}
"""


def audits(text: str, prices: SharedWork, given: GivenValues | None = None) -> list[Audit]:
    """Return audits of a text that know the prices of others, and nothing else."""
    shared = SharedWork()
    shared.prices = prices.prices
    return [audit_of(AuditedModule(module, shared, given), given) for module in parse_ir(text)]


def told(audit: Audit, exchange: dict[Encoding, Encoding]) -> list[object]:
    """Return the price of each data movement with layouts exchanged."""
    trial = Trial(audit.audited, LayoutExchange(exchange))
    return [_price(trial, row.operation.line, audit) for row in audit.priced]


def _price(trial: Trial, line: int, audit: Audit) -> object:
    [operation, *_] = [row.operation for row in audit.priced if row.operation.line == line]
    try:
        cost = trial.price(operation)
    except LayoutError as error:
        return type(error)
    details = cost.details if cost is not None else None
    if cost is None or not isinstance(details, GlobalDetails):
        return cost
    counts = details.instruction, details.width_bytes, details.sectors, details.lines
    return cost.text, cost.cycles, cost.extra, cost.requests, *counts


def of_text(
    text: str, prices: SharedWork, given: GivenValues | None = None, exchange: object = None
) -> list[object]:
    exchanged = exchange if isinstance(exchange, dict) else {}
    return [told(audit, exchanged) for audit in audits(text, prices, given)]


CHANGES = {
    "constant": ("constant 1024 :", "constant 1021 :"),
    "attribute": ("start = 0 : i32}", "start = 1 : i32}"),
    "truth": ("tt.load %total_5, %inside_4 :", "tt.load %total_5, %inside_4 {isVolatile = true} :"),
    "operand": ("tt.splat %x :", "tt.splat %y :"),
    "mask": ("tt.load %total_5, %inside_4 :", "tt.load %total_5 :"),
    "divisibility": (
        "%x: !tt.ptr<f16> {tt.divisibility = 16",
        "%x: !tt.ptr<f16> {tt.divisibility = 4",
    ),
    "name": ("arith.addi %places_2", "arith.muli %places_2"),
    "alias": ("sizePerThread = [8]", "sizePerThread = [2]"),
    "warps": ('"ttg.num-warps" = 4', '"ttg.num-warps" = 8'),
    "target": ("cuda:90", "hip:gfx942"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_an_edit_changes_is_priced_anew(change: str) -> None:
    known, (old, new) = SharedWork(), CHANGES[change]
    assert old in WIDE
    edited_text = WIDE.replace(old, new, 1)
    before = of_text(WIDE, known)
    assert of_text(edited_text, known) == of_text(edited_text, SharedWork())
    assert of_text(WIDE, known) == before


def numbers(known: KnownAnswers[None], arguments: str, operation: str) -> list[int]:
    """Return the numbers of the operations of a function."""
    constants = "%c = arith.constant 1 : i32\n %d = arith.constant 2 : i32\n"
    [module] = parse_ir(
        f"module {{\n tt.func @f({arguments}) {{\n {constants} {operation}\n }}\n}}"
    )
    [function] = read_functions(module)
    return [*known.numbers(function).values()]


def test_operations_are_told_apart_by_all_that_is_written_of_them() -> None:
    known, operation = KnownAnswers[None](), "%e = my.op %c, %d {k = 1 : i32} : i32"
    [*_, number] = numbers(known, "", operation)
    assert numbers(known, "", operation.replace("%e", "%f"))[-1] == number
    others = [
        numbers(known, "", operation.replace(old, new))[-1]
        for old, new in (
            ("my.op", "my.other"),
            ("%c, %d", "%d, %c"),
            ("k = 1 : i32", "k = 2 : i32"),
            ("k = 1 : i32", "k = true"),
            ("k = 1 : i32", "j = 1 : i32"),
            (" {k = 1 : i32}", ""),
        )
    ]
    typed = f"{operation.removesuffix('i32')}i64"
    others.append(numbers(known, "", typed)[-1])
    assert len({number, *others}) == 8


def test_operations_are_told_apart_by_arguments_and_by_values_that_attributes_name() -> None:
    known, operation = KnownAnswers[None](), "%e = my.op %x : i32"
    told = [
        numbers(known, argument, operation)[-1]
        for argument in (
            "%x: i32",
            "%x: i64",
            "%x: i32 {tt.divisibility = 16 : i32}",
            "%x: i32 {tt.divisibility = 1 : i32}",
            "%y: i32, %x: i32",
        )
    ]
    assert len(set(told)) == len(told)
    made = "%m = my.made {} : i32\n %e = my.op %c step %m : i32"
    first, second = (numbers(known, "", made.format(name))[-1] for name in ("%c", "%d"))
    assert first != second
    assert numbers(known, "", made.format("%c").replace("%m", "%k"))[-1] == first


def test_what_is_in_a_region_or_of_one_has_no_number() -> None:
    text = "%e = my.region %c ({{\n %i = my.inner : i32\n }}) : i32\n %g = my.op %e : i32"
    assert len(numbers(KnownAnswers(), "", text.format())) == 2


def test_values_and_layouts_have_prices_of_their_own() -> None:
    known = SharedWork()
    of_text(VECTOR_ADD, known)
    given = GivenValues({"n": 1000})
    assert of_text(VECTOR_ADD, known, given) == of_text(VECTOR_ADD, SharedWork(), given)
    [module] = parse_ir(VECTOR_ADD.replace("[8]", "[1]", 1))
    new = module.aliases["blocked"].encoding
    [module] = parse_ir(VECTOR_ADD)
    old = module.aliases["blocked"].encoding
    assert isinstance(old, Encoding)
    assert isinstance(new, Encoding)
    exchange = {new: new, old: new}
    exchanged = of_text(VECTOR_ADD, known, exchange=exchange)
    assert exchanged == of_text(VECTOR_ADD, SharedWork(), exchange=exchange)
    assert exchanged != of_text(VECTOR_ADD, known)


CALLED = """\
#a = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
!t = tensor<1024x!tt.ptr<f16>, #a>
module attributes {ttg.target = "cuda:90", "ttg.num-warps" = 4 : i32} {
  tt.func private @g(%p: !tt.ptr<f16>) {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #a>
    %s = tt.splat %p : !tt.ptr<f16> -> !t
    %a = tt.addptr %s, %i : !t, tensor<1024xi32, #a>
    %l = tt.load %a : !t
    tt.return
  }
  tt.func public @f(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    tt.call @g(%x) : (!tt.ptr<f16>) -> ()
    tt.return
  }
}
"""


def test_what_a_caller_hands_over_and_a_type_alias_count() -> None:
    known, alone = SharedWork(), CALLED.replace(CALLED[CALLED.index("  tt.func public") : -2], "")
    changed = alone.replace(
        "!t = tensor<1024x!tt.ptr<f16>, #a>", "!t = tensor<1024x!tt.ptr<f32>, #a>"
    )
    for text in (CALLED, CALLED.replace("= 16 :", "= 4 :"), alone, changed):
        assert of_text(text, known) == of_text(text, SharedWork())
    assert of_text(alone, known) != of_text(changed, known)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("constant 1 :", "constant 2 :"),
        ("%b = tt.load %r", "%b = tt.load %q"),
        ("trunci %d", "addi %d"),
    ],
)
def test_numbers_that_are_joined_have_prices_of_their_own(old: str, new: str) -> None:
    """What AMD's backend joins and narrows follows from what stands around an access."""
    known, other = SharedWork(), SCALARS.replace(old, new)
    of_text(SCALARS, known)
    assert of_text(other, known) == of_text(other, SharedWork())


def test_accesses_of_an_edited_text_are_not_costed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    costed: list[object] = []
    original = Trial.cost

    def noted(trial: Trial, operation: object) -> object:
        costed.append(operation)
        return original(trial, operation)  # type: ignore[arg-type]

    monkeypatch.setattr(Trial, "cost", noted)
    known = SharedWork()
    of_text(VECTOR_ADD, known)
    assert len(costed) == 3
    costed.clear()
    of_text("\n" + VECTOR_ADD.replace("%total_5", "%sum"), known)
    assert not costed
    of_text(VECTOR_ADD.replace("tt.splat %y", "tt.splat %x"), known)
    assert len(costed) == 1  # the load is the other once more; something else is stored
    costed.clear()
    of_text(VECTOR_ADD.replace("constant 1024 :", "constant 1022 :"), known)
    assert len(costed) == 3


@pytest.mark.parametrize("path", [*DUMPS[:2], *map(slow, DUMPS[2:])], ids=lambda path: path.name)
def test_prices_are_those_of_the_audit_whatever_was_priced_before(path: Path, seed: int) -> None:
    random, known, text = Random(seed), SharedWork(), path.read_text(encoding="utf-8")
    for _ in range(12):
        other = edited(text, random)
        of_text(other, known)
    for audit, fresh in zip(audits(text, known), audits(text, SharedWork())):
        for priced, row in zip(audit.priced, fresh.movements):
            assert (priced.cost is None) == (row.cost is None)
            if priced.cost is not None and row.cost is not None:
                assert priced.cost[1:2] + priced.cost[4:] == row.cost[1:2] + row.cost[4:]


def test_a_cost_that_names_a_line_is_told_of_the_line_of_now() -> None:
    loaded = "%v = tt.load %total_5 : tensor<1024x!tt.ptr<f16>, #blocked>\n"
    loaded += "%w = arith.fptosi %v : tensor<1024xf16, #blocked> to tensor<1024xi32, #blocked>\n"
    sum_of = "%total_8 = tt.addptr %total_7, %places_3"
    known, text = (
        SharedWork(),
        VECTOR_ADD.replace(sum_of, loaded + sum_of.replace("%places_3", "%w")),
    )
    assert "it depends on " in str(of_text(text, known))
    assert of_text("\n\n" + text, known) == of_text("\n\n" + text, SharedWork())
