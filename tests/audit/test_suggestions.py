"""Every suggestion is applied to its dump, audited again, and saves what it said."""

# ruff: noqa: E501 - lines of dumps are long

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import Run, runner
from tiers import sampled

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.findings import MAY_PAY
from tt_layout.audit.kernel import kernels_of
from tt_layout.audit.suggestions import buffers, regions
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.carried_out import carried_out
from tt_layout.audit.suggestions.context import SuggestionContext
from tt_layout.audit.suggestions.conversions import has_closed_side, tried_sides
from tt_layout.audit.suggestions.suggestion import BACKWARD, EVERYWHERE, FORWARD, Suggestion
from tt_layout.audit.suggestions.trial import Trial
from tt_layout.errors import LayoutError
from tt_layout.hardware.compiler import BLOCK, ELEMENT
from tt_layout.ir import parse_ir
from tt_layout.ir.operations import MovementOperation
from tt_layout.reports.advice_text import in_triton
from tt_layout.rewriting.apply import cycles

EXAMPLES = Path(__file__).parents[2] / "examples"
DUMPS = sorted(EXAMPLES.glob("*/*.ttgir"), key=lambda path: path.name[::-1])

ALIASES = """\
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>
#c = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
"""
HEAD = """\
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
"""


def pointers(name: str, layout: str) -> str:
    """Return lines that make pointers to the rows of a tensor of 64x64."""
    tensor, of = "tensor<64x64x!tt.ptr<f16>, #L>", "#ttg.slice<{dim = 0, parent = #L}>"
    rows = "#ttg.slice<{dim = 1, parent = #L}>"
    return f"""\
    %{name}r = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, {rows}>
    %{name}re = tt.expand_dims %{name}r {{axis = 1 : i32}} : tensor<64xi32, {rows}> -> tensor<64x1xi32, #L>
    %{name}k = arith.constant dense<64> : tensor<64x1xi32, #L>
    %{name}rs = arith.muli %{name}re, %{name}k : tensor<64x1xi32, #L>
    %{name}c = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, {of}>
    %{name}ce = tt.expand_dims %{name}c {{axis = 0 : i32}} : tensor<64xi32, {of}> -> tensor<1x64xi32, #L>
    %{name}rb = tt.broadcast %{name}rs : tensor<64x1xi32, #L> -> tensor<64x64xi32, #L>
    %{name}cb = tt.broadcast %{name}ce : tensor<1x64xi32, #L> -> tensor<64x64xi32, #L>
    %{name}o = arith.addi %{name}rb, %{name}cb : tensor<64x64xi32, #L>
    %{name}s = tt.splat %x : !tt.ptr<f16> -> {tensor}
    %{name} = tt.addptr %{name}s, %{name}o : {tensor}, tensor<64x64xi32, #L>
""".replace("#L", f"#{layout}")


def typed(layout: str) -> str:
    return f"tensor<64x64xf16, #{layout}>"


def load(name: str, through: str, layout: str) -> str:
    return f"    %{name} = tt.load %{through} : tensor<64x64x!tt.ptr<f16>, #{layout}>\n"


def store(through: str, name: str, layout: str) -> str:
    return f"    tt.store %{through}, %{name} : tensor<64x64x!tt.ptr<f16>, #{layout}>\n"


def convert(name: str, of: str, source: str, target: str) -> str:
    return f"    %{name} = ttg.convert_layout %{of} : {typed(source)} -> {typed(target)}\n"


def double(name: str, of: str, layout: str) -> str:
    return f"    %{name} = arith.addf %{of}, %{of} : {typed(layout)}\n"


KERNELS = {
    "needless": pointers("p", "a")
    + pointers("q", "b")
    + load("v", "p", "a")
    + convert("w", "v", "a", "b")
    + double("y", "w", "b")
    + store("q", "y", "b"),
    "there-and-back": pointers("p", "a")
    + load("v", "p", "a")
    + convert("w", "v", "a", "c")
    + double("y", "w", "c")
    + convert("z", "y", "c", "a")
    + store("p", "z", "a"),
    "two-inputs": pointers("p", "a")
    + pointers("q", "b")
    + load("v", "p", "a")
    + load("u", "q", "b")
    + convert("w", "v", "a", "b")
    + f"    %y = arith.addf %w, %u : {typed('b')}\n"
    + store("q", "y", "b"),
    "of-a-constant": pointers("q", "b")
    + f"    %v = arith.constant dense<1.0> : {typed('a')}\n"
    + convert("w", "v", "a", "b")
    + store("q", "w", "b"),
    "through-memory": pointers("p", "a")
    + load("v", "p", "a")
    + f"    %m = ttg.local_alloc %v : ({typed('a')}) -> !ttg.memdesc<64x64xf16, #s, #smem>\n"
    + f"    %w = ttg.local_load %m : !ttg.memdesc<64x64xf16, #s, #smem> -> {typed('t')}\n"
    + f"    %u = ttg.convert_layout %w : {typed('t')} -> {typed('a')}\n"
    + store("p", "u", "a"),
}
LOOP = """\
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r:2 = scf.for %i = %zero to %n step %one iter_args(%t = %w, %k = %zero) -> (tensor<64x64xf16, #c>, i32) : i32 {
      %d = arith.addf %t, %t : tensor<64x64xf16, #c>
      scf.yield %d, %i : tensor<64x64xf16, #c>, i32
    }
"""
BRANCH = """\
    %zero = arith.constant 0 : i32
    %is = arith.cmpi sgt, %n, %zero : i32
    %r = scf.if %is -> (tensor<64x64xf16, #c>) {
      %d = arith.addf %w, %w : tensor<64x64xf16, #c>
      scf.yield %d : tensor<64x64xf16, #c>
    } else {
      %none = arith.constant dense<0.0> : tensor<64x64xf16, #c>
      scf.yield %none : tensor<64x64xf16, #c>
    }
"""
WHILE = """\
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r:2 = scf.while (%t = %w, %k = %n) : (tensor<64x64xf16, #c>, i32) -> (tensor<64x64xf16, #c>, i32) {
      %is = arith.cmpi sgt, %k, %zero : i32
      scf.condition(%is) %t, %k : tensor<64x64xf16, #c>, i32
    } do {
    ^bb0(%v1: tensor<64x64xf16, #c>, %k1: i32):
      %d = arith.addf %v1, %v1 : tensor<64x64xf16, #c>
      %next = arith.subi %k1, %one : i32
      scf.yield %d, %next : tensor<64x64xf16, #c>, i32
    }
"""
REDUCTION = """\
    %r = "tt.reduce"(%w) <{axis = 1 : i32}> ({
    ^bb0(%g: f16, %h: f16):
      %add = arith.addf %g, %h : f16
      tt.reduce.return %add : f16
    }) : (tensor<64x64xf16, #c>) -> tensor<64xf16, #ttg.slice<{dim = 1, parent = #c}>>
    %e = tt.expand_dims %r {axis = 1 : i32} : tensor<64xf16, #ttg.slice<{dim = 1, parent = #c}>> -> tensor<64x1xf16, #c>
    %y = tt.broadcast %e : tensor<64x1xf16, #c> -> tensor<64x64xf16, #c>
"""
GROWN = """\
    %o = tt.reshape %v : tensor<64x64xf16, #a> -> tensor<64x64xf16, #a>
    %e = arith.extf %o : tensor<64x64xf16, #a> to tensor<64x64xf32, #a>
    %w = ttg.convert_layout %e : tensor<64x64xf32, #a> -> tensor<64x64xf32, #b>
    %g = tt.reshape %w : tensor<64x64xf32, #b> -> tensor<64x64xf32, #b>
    %y = arith.truncf %g : tensor<64x64xf32, #b> to tensor<64x64xf16, #b>
"""
BOTH = """\
    %o = tt.reshape %v : tensor<64x64xf16, #a> -> tensor<64x64xf16, #a>
    %e = arith.extf %o : tensor<64x64xf16, #a> to tensor<64x64xf32, #a>
    %f = arith.mulf %e, %e : tensor<64x64xf32, #a>
    %w = ttg.convert_layout %e : tensor<64x64xf32, #a> -> tensor<64x64xf32, #b>
    %g = ttg.convert_layout %f : tensor<64x64xf32, #a> -> tensor<64x64xf32, #b>
    %h = arith.truncf %f : tensor<64x64xf32, #a> to tensor<64x64xf16, #a>
    %k = tt.reshape %h : tensor<64x64xf16, #a> -> tensor<64x64xf16, #a>
    %j = arith.addf %w, %g : tensor<64x64xf32, #b>
    %y = arith.truncf %j : tensor<64x64xf32, #b> to tensor<64x64xf16, #b>
"""


def there_and_back(lines: str, result: str) -> str:
    """Return a load, what takes its value in another layout, and the store of the result."""
    read = pointers("p", "a") + load("v", "p", "a") + convert("w", "v", "a", "c")
    return read + lines + convert("z", result, "c", "a") + store("p", "z", "a")


KERNELS |= {
    "through-a-loop": there_and_back(LOOP, "r#0"),
    "through-a-branch": there_and_back(BRANCH, "r"),
    "through-a-while": there_and_back(WHILE, "r#0"),
    "through-a-reduction": there_and_back(REDUCTION, "y"),
    "before-it-grows": pointers("p", "a")
    + pointers("q", "b")
    + load("v", "p", "a")
    + GROWN
    + store("q", "y", "b"),
    "wanted-in-both": pointers("p", "a")
    + pointers("q", "b")
    + load("v", "p", "a")
    + BOTH
    + store("q", "y", "b")
    + store("p", "k", "a"),
}
SHARED = """\
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#t = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
"""


def kernel(name: str) -> str:
    return f"{ALIASES}{SHARED}{HEAD}{KERNELS[name]}    tt.return\n  }}\n}}\n"


def audit_of(text: str) -> Audit:
    [module] = parse_ir(text)
    return audit_module(module)


def suggestions(audit: Audit) -> Iterator[tuple[int, Suggestion]]:
    adviser = Adviser(audit)
    for finding in audit.findings:
        for suggestion in adviser.suggestions(finding):
            yield finding.line, suggestion


def check(audit: Audit, line: int, suggestion: Suggestion) -> None:
    [full] = [one for one in audit.audited.operations if one.operation.line == line]
    again = audit_of(carried_out(audit, full, suggestion))
    assert not [finding for finding in again.findings if finding.kind == "refused"]
    assert cycles(audit) - cycles(again) == pytest.approx(suggestion.saved)
    assert suggestion.saved > 0
    costs = [row.cost.text for row in again.movements if row.cost is not None]
    for change in suggestion.changes:
        if change.after is not None:
            assert change.after.text in costs


@pytest.mark.slow
@pytest.mark.parametrize("path", sampled(DUMPS, 12), ids=lambda path: path.stem)
def test_suggestions_for_the_examples_hold(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    audit = audit_of(text)
    for line, suggestion in suggestions(audit):
        check(audit, line, suggestion)


SIDES = {
    "needless": {FORWARD, BACKWARD},
    "there-and-back": {FORWARD, BACKWARD},
    "two-inputs": {BACKWARD},
    "of-a-constant": {BACKWARD},
    "through-memory": {EVERYWHERE},
    "through-a-loop": {FORWARD, BACKWARD},
    "through-a-branch": {FORWARD, BACKWARD},
    "through-a-while": {FORWARD, BACKWARD},
    "through-a-reduction": {FORWARD, BACKWARD},
    "before-it-grows": {BACKWARD},
    "wanted-in-both": {BACKWARD},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_suggestions_for_small_kernels_hold(name: str) -> None:
    text = kernel(name)
    audit = audit_of(text)
    found = list(suggestions(audit))
    for line, suggestion in found:
        check(audit, line, suggestion)
    assert {suggestion.where for _, suggestion in found} >= SIDES[name]


def test_an_operation_on_several_lines_is_not_changed() -> None:
    """Its text would be cut in the middle of a layout."""
    written = double("y", "w", "b")
    layout = ALIASES.partition("#b = ")[2].partition("\n")[0].replace(", warps", ",\n        warps")
    audit = audit_of(kernel("needless").replace(written, written.replace("#b", layout)))
    [line] = [number for number, one in suggestions(audit) if one.where == FORWARD]
    [full] = [one for one in audit.audited.operations if one.operation.line == line]
    [suggestion] = [one for _, one in suggestions(audit) if one.where == FORWARD]
    with pytest.raises(LayoutError, match=r"arith\.addf is written on several lines"):
        carried_out(audit, full, suggestion)


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsysbinary, monkeypatch)


CONVERTING = [path for path in DUMPS if "convert_layout" in path.read_text(encoding="utf-8")]


@pytest.mark.slow
@pytest.mark.parametrize("path", sampled(CONVERTING, 9), ids=lambda path: path.stem)
def test_a_side_without_another_conversion_hangs_together(path: Path) -> None:
    audit = audit_of(path.read_text(encoding="utf-8"))
    context = SuggestionContext(audit)
    for row in audit.movements:
        full = audit.audited.in_full(row.operation)
        if full is not None and row.operation.name == "ttg.convert_layout":
            may_do = has_closed_side(context, full)
            assert may_do or all(one.conversions_added for one in tried_sides(context, full))


def test_sides_of_which_none_may_do_are_not_tried_before_they_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(regions.Graph, "region", lambda graph: tried.append(graph.begin))
    [dump] = [path for path in DUMPS if path.stem == "matmul-sm80"]
    audit = audit_of(dump.read_text(encoding="utf-8"))
    assert any(finding.kind == "conversions" for finding in audit.findings)
    assert not tried


def test_narrow_accesses_that_take_little_are_not_searched_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def noted(conclusions: object, operation: MovementOperation) -> None:
        asked.append(operation.line)

    monkeypatch.setattr(buffers, "usual_buffer", noted)
    [dump] = [path for path in DUMPS if path.stem == "attention_backward-gfx942"]
    audit = audit_of(dump.read_text(encoding="utf-8"))
    whole = sum(row.cycles or 0 for row in audit.movements)
    known = {row.operation.line: row.cycles or 0 for row in audit.movements}
    assert asked
    assert all(known[line] >= MAY_PAY * whole for line in asked)


def test_products_are_not_compared_whose_operands_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A buffer's layout is exchanged; operands come from registers, equal but not one object."""
    [dump] = [path for path in DUMPS if path.stem == "attention_backward-gfx942"]
    audit = audit_of(dump.read_text(encoding="utf-8"))
    stores = [row for row in audit.movements if row.operation.name == "ttg.local_store"]
    assert audit.multiplications
    compared: list[object] = []
    monkeypatch.setattr(buffers, "multiplications", compared.append)
    assert buffers.better_buffers(audit, stores[0].operation)
    assert not compared


def test_a_side_is_not_tried_whose_end_has_no_exact_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sectors of a store are not known without its arguments, in any layout."""
    tried: list[str] = []
    monkeypatch.setattr(Trial, "cost", lambda self, operation: tried.append(operation.name))
    [dump] = [path for path in DUMPS if path.stem == "matmul-sm80"]
    list(suggestions(audit_of(dump.read_text(encoding="utf-8"))))
    assert "tt.store" not in tried


def test_the_report_says_why_and_what_instead(run: Run) -> None:
    outcome = run("audit", "-", stdin=kernel("needless").encode())
    why = r"why: source layout from load \(\d+\), destination layout from store \(\d+\)"
    assert re.search(why, outcome.out)
    assert len(re.findall(r"fix: drop the conversion; compute lines", outcome.out)) == 1
    assert re.search(r"removes \d+ of \d+ (shared-memory|data-movement) cycles\n", outcome.out)
    outcome = run("audit", "-", "--format", "json", stdin=kernel("through-memory").encode())
    finding = json.loads(outcome.out)["modules"][0]["findings"][0]
    assert finding["why"] is None
    assert finding["suggestion"] == finding["suggestions"][0]["layout"]
    assert finding["suggestions"][0]["gluon"].startswith("gl.")


def test_what_gets_worse_is_said(run: Run) -> None:
    path = EXAMPLES / "kernels" / "matmul-gfx950.ttgir"
    values = ["--value", "K=1024", "--value", "stride_a=1024", "--value", "stride_b=1024"]
    [module] = json.loads(run("audit", str(path), "--format", "json", *values).out)["modules"]
    worse = [
        one
        for finding in module["findings"]
        for suggestion in finding["suggestions"]
        for one in suggestion["worse"]
    ]
    text = run("audit", str(path), *values).out
    assert bool(worse) == ("     but: " in text)


def test_anchors_are_followed_through_loops(run: Run) -> None:
    path = EXAMPLES / "kernels" / "matmul-sm80.ttgir"
    [module] = json.loads(run("audit", str(path), "--format", "json").out)["modules"]
    [finding] = module["findings"]
    ends = {end: [one["operation"] for one in finding["why"][end]] for end in ("from", "to")}
    assert ends == {"from": ["tt.dot"], "to": ["tt.store"]}


COPIED = """\
    %c = ttg.async_copy_global_to_local %p, %m : tensor<64x64x!tt.ptr<f16>, #a> -> <64x64xf16, #s, #smem>
    %w = ttg.local_load %m : !ttg.memdesc<64x64xf16, #s, #smem> -> tensor<64x64xf16, #t>
    %u = ttg.convert_layout %w : tensor<64x64xf16, #t> -> tensor<64x64xf16, #a>
"""


@pytest.mark.parametrize(("target", "kinds"), [("cuda:90", True), ("hip:gfx950", False)])
def test_copies_are_written_as_the_compiler_can(target: str, kinds: bool) -> None:
    """NVIDIA's compiler lowers none into padding; gfx950 takes its own layouts only."""
    lines = pointers("p", "a") + COPIED + store("p", "u", "a")
    head = HEAD.replace("cuda:90", target).replace(
        "%n: i32", "%m: !ttg.memdesc<64x64xf16, #s, #smem>"
    )
    text = f"{ALIASES}{SHARED}{head}{lines}    tt.return\n  }}\n}}\n"
    audit = audit_of(text)
    found = [one.encoding.mnemonic for _, one in suggestions(audit) if one.where == EVERYWHERE]
    assert bool(found) == kinds
    assert "padded_shared" not in found


COLUMNS = (
    "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], "
    "order = [0, 1]}>"
)


def test_a_swizzle_leaves_together_what_a_copy_moves_at_once() -> None:
    """The best layout for the lanes, which read a column, would cut the copies into pieces."""
    stride = "%pk = tt.splat %n : i32 -> tensor<64x1xi32, #a>"
    lines = re.sub("%pk = arith.constant .*", stride, pointers("p", "a"))
    lines += COPIED.replace("#t", "#v") + store("p", "u", "a")
    head = HEAD.replace(
        "%n: i32", "%n: i32 {tt.divisibility = 16 : i32}, %m: !ttg.memdesc<64x64xf16, #s, #smem>"
    )
    plain = "#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"
    text = f"{ALIASES}{plain}#v = {COLUMNS}\n{head}{lines}    tt.return\n  }}\n}}\n"
    audit = audit_of(text)
    [(line, found)] = [pair for pair in suggestions(audit) if pair[1].where == EVERYWHERE]
    assert "vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]" in str(found.encoding)
    check(audit, line, found)


def test_what_moves_a_layout_in_triton_is_said(run: Run) -> None:
    """The compiler chooses it; nobody can set one side of a conversion."""
    text = run("audit", "-", "--all", stdin=kernel("through-memory").encode()).out
    assert "cannot be set in Triton\n" in text
    held = kernel("through-memory").replace("cuda:90", "cuda:80")
    outcome = run("audit", "-", "--format", "json", stdin=held.encode())
    [first, *_] = json.loads(outcome.out)["modules"][0]["findings"][0]["suggestions"]
    assert first["triton"] == [BLOCK, ELEMENT]  # it multiplies nothing
    text = " ".join(run("audit", "-", stdin=held.encode()).out.split())
    assert f"cannot be set in Triton; it depends on {BLOCK} and {ELEMENT}" in text


def test_no_word_of_knobs_where_no_trial_was_made() -> None:
    """A GPU without trials once had the word of those on which nothing moves the layout."""
    [suggestion, *_] = (one for _, one in suggestions(audit_of(kernel("through-memory"))))
    audit = audit_of(kernel("through-memory").replace("cuda:90", "cuda:75"))
    assert in_triton(suggestion, audit).endswith("it is not known what it depends on for sm75")


def test_a_register_layout_for_a_narrow_access_is_a_fix() -> None:
    """A layout was once printed behind "fix:" that nothing carried out."""
    audit = audit_of((EXAMPLES / "narrow" / "column_major.ttgir").read_text(encoding="utf-8"))
    found = [*suggestions(audit)]
    assert [line for line, _ in found] == [18, 19]
    assert {one.where for _, one in found} == {EVERYWHERE}
    for line, suggestion in found:
        check(audit, line, suggestion)


def test_a_register_layout_of_other_operations_is_no_fix() -> None:
    """What takes the old layout, and is not known to take another, keeps it."""
    text = (EXAMPLES / "narrow" / "column_major.ttgir").read_text(encoding="utf-8")
    odd = '    "my.op"(%9) : (tensor<64x32xf16, #blocked>) -> ()\n    tt.store'
    assert not [*suggestions(audit_of(text.replace("    tt.store", odd)))]


def test_a_movement_that_several_changes_remove_counts_once() -> None:
    text = (EXAMPLES / "intel" / "matmul.ttgir").read_text(encoding="utf-8")
    [module] = parse_ir(text)
    [kernel] = kernels_of(audit_module(module))
    [place] = kernel.adviser.gain(kernel.findings).places
    assert (place.removed, place.whole) == (1536, 2048)
    assert kernel.adviser.avoidable(kernel.findings) == 1536
