"""Small dumps of which much could be made: what is read of them is bounded."""

from __future__ import annotations

import pytest
from hostile_dumps import CYCLE, DUMPS, last_two, shared_quotients, shared_values
from tiers import sampled
from work import calls_of

from tt_layout import LayoutError, LinearLayout, audit_ir, parse_layout
from tt_layout.audit.values.expressions import MAX_DEPTH, MAX_TEXT, trip_count_text
from tt_layout.hardware import find_target
from tt_layout.ir import parse_ir
from tt_layout.ir.ssa.reader import SsaReader
from tt_layout.notation.registry import read_layout


def trip_count(dump: str) -> str:
    """Return how often the one loop of a dump runs."""
    [module] = parse_ir(dump)
    [function] = SsaReader().functions(module)
    [loop] = [o for block in function.body for o in block.operations if o.name == "scf.for"]
    found = []
    assert calls_of(lambda: found.append(trip_count_text(loop).text)) < 20_000
    return found[0]


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, 60, 1000])
def test_values_that_share_operands_are_written_once(count: int) -> None:
    dumps = [shared_quotients(count), last_two(count)]
    dumps += [shared_values(f"arith.{name}", count) for name in ("addi", "muli", "divsi")]
    assert all(len(trip_count(dump)) <= MAX_TEXT for dump in dumps)


@pytest.mark.parametrize(("more", "text"), [(0, "%n"), (1, "%1")])
def test_a_count_is_written_as_deep_as_values_are_followed(more: int, text: str) -> None:
    """From the number of trips down: then a value stands under its own name."""
    casts = "\n".join(
        f"%{k + 1} = arith.index_cast %{k or 'n'} : i32 to i32" for k in range(MAX_DEPTH + 1 + more)
    )
    body = f"scf.for %i = %zero to %{MAX_DEPTH + 1 + more} step %one : i32 {{\n}}"
    head = "%zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32"
    assert trip_count(f"tt.func @f(%n: i32) {{\n{head}\n{casts}\n{body}\ntt.return\n}}") == text


def test_a_value_computed_from_itself_is_written_by_its_name() -> None:
    assert trip_count(CYCLE) == "%x + %x"


COMPUTED_FROM_THEMSELVES = {
    "a divisor": """
        %d = tt.splat %d : tensor<128xi32, #b> -> tensor<128xi32, #b>
        %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
        %r = arith.remsi %i, %d : tensor<128xi32, #b>
        %0 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
        %1 = tt.addptr %0, %r : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
        %2 = tt.load %1 : tensor<128x!tt.ptr<f32>, #b>""",
    "a pointer": """
        %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
        %q = tt.addptr %q, %i : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
        %2 = tt.load %q : tensor<128x!tt.ptr<f32>, #b>""",
    "pointers in a ring": """
        %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
        %q = tt.addptr %s, %i : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
        %s = tt.addptr %q, %i : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
        %2 = tt.load %s : tensor<128x!tt.ptr<f32>, #b>""",
    "a buffer": """
        %v = ttg.memdesc_trans %v {order = array<i32: 0>} : !ttg.memdesc<128xf32, #s, #m>
            -> !ttg.memdesc<128xf32, #s, #m>
        %2 = ttg.local_load %v : !ttg.memdesc<128xf32, #s, #m> -> tensor<128xf32, #b>""",
}


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
@pytest.mark.parametrize("kind", COMPUTED_FROM_THEMSELVES)
def test_a_value_computed_from_itself_has_an_end(kind: str, target: str) -> None:
    warp = 64 if target.startswith("hip") else 32
    dump = f"""
#b = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [{warp}], warpsPerCTA = [4],
  order = [0]}}>
#s = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#m = #ttg.shared_memory
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "{target}",
                   "ttg.threads-per-warp" = {warp} : i32}} {{
  tt.func public @k(%p: !tt.ptr<f32>) {{{COMPUTED_FROM_THEMSELVES[kind]}
    tt.return
  }}
}}"""
    reports = []
    assert calls_of(lambda: reports.append(str(audit_ir(dump)))) < 100_000
    assert "@k" in reports[0]


def test_a_value_has_no_definition_before_it() -> None:
    [module] = parse_ir(CYCLE)
    [function] = SsaReader().functions(module)
    value = function.values["%x"]
    assert value.definition is not None
    assert {operand.name for operand in value.definition.operands} == {"%x"}
    assert not any(operand.is_defined for operand in value.definition.operands)
    assert value.definition not in value.users


def test_shared_values_are_written_out_while_they_are_short() -> None:
    assert trip_count(shared_values("arith.addi", 2)) == "%s + %s + (%s + %s)"
    assert trip_count(shared_quotients(1)) == "%s / %s + %s"


@pytest.mark.slow
@pytest.mark.parametrize("kind", sampled(DUMPS, 5))
def test_an_audit_takes_work_in_proportion_to_the_dump(kind: str) -> None:
    def calls(size: int) -> int:
        return calls_of(lambda: audit_ir(DUMPS[kind](size)))

    calls(20)  # what is looked up once
    assert calls(240) < 30 * calls(20) + 20_000


def test_a_target_of_any_length_is_unknown() -> None:
    with pytest.raises(LayoutError, match=r"unknown target 'sm999.* \.\.\. .*999'; choose"):
        find_target("sm" + "9" * 4301)


def refused(text: str) -> None:
    with pytest.raises(LayoutError, match="rank 2 or more"):
        read_layout(text)


def test_slices_within_slices_take_work_in_proportion_to_them() -> None:
    def calls(depth: int) -> int:
        blocked = "gl.BlockedLayout([1], [32], [4], [0])"
        text = "gl.SliceLayout(0, " * depth + blocked + ")" * depth
        return calls_of(lambda: refused(text))

    calls(1)  # what is imported, and looked at once
    assert calls(60) < 30 * calls(6)


def test_more_bases_than_an_index_has_bits_are_refused() -> None:
    with pytest.raises(LayoutError, match="a list may have 64 entries at most, got 2500"):
        parse_layout(f"#ttg.linear<{{register = [{', '.join(['[0, 1]'] * 2500)}]}}>")
    with pytest.raises(LayoutError, match="register has 65 bases of up to 1 number; at most 64"):
        LinearLayout.from_bases({"register": [[1]] * 65}, ["dim0"])


def test_a_text_of_very_many_modules_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tt_layout.ir.reader.MAX_MODULES", 50)
    assert len(parse_ir("module {\n}\n" * 50)) == 50
    with pytest.raises(LayoutError, match=r"<ir>:\d+: .* more than 50 modules: give"):
        parse_ir("module {\n}\n" * 51)
