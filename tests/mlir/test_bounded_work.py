"""What would take for ever or all memory is refused, or needs neither."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Run, runner
from work import bytes_of, calls_of

from tt_layout.analyses.shared_memory import swizzle
from tt_layout.analyses.shared_memory.banks import bank_conflicts
from tt_layout.audit.audit import audit_module
from tt_layout.audit.suggestions import regions
from tt_layout.audit.suggestions.trial import Trial
from tt_layout.encodings.parsing import parse_layout
from tt_layout.ir import parse_ir
from tt_layout.ir.operations import MovementOperation

HUGE = "tensor<1048576x1048576xf16>"
BLOCKED = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>"
)
SWIZZLED = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"


@pytest.fixture
def run(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    monkeypatch.chdir(tmp_path)
    return runner(capsysbinary, monkeypatch)


@pytest.mark.parametrize(
    "shape", [(8,), (128, 32), (4, 8, 16), (2, 2, 2, 2, 2), (4, 2, 4, 2, 8, 2)]
)
@pytest.mark.parametrize("family", swizzle.FAMILIES)
@pytest.mark.parametrize("elem_bytes", [1, 4, 16])
def test_a_search_knows_how_much_it_tries(
    family: str, shape: tuple[int, ...], elem_bytes: int
) -> None:
    tried = sum(1 for _ in swizzle.MEMBERS[family](shape, elem_bytes))
    assert swizzle.COUNTS[family](shape, elem_bytes) == tried


def test_a_search_without_an_end_is_refused(run: Run) -> None:
    outcome = run("swizzle", BLOCKED, "-t", HUGE)
    assert (outcome.status, outcome.out) == (2, "")
    assert "the search would try 5742 layouts, more than the limit of 3750" in outcome.err
    assert run("swizzle", BLOCKED, "-t", "tensor<64x64xf16>", "--max-search", "9").status == 2


@pytest.mark.parametrize("pad", [4, 1])
def test_padded_costs_look_at_one_period_of_the_padding(pad: int) -> None:
    def padded(size: int) -> str:
        return f"#ttg.padded_shared<[64:+{pad}] {{order = [1, 0], shape = [{size}, {size}]}}>"

    def conflicts(size: int) -> object:
        layouts = parse_layout(BLOCKED), parse_layout(padded(size))
        found = bank_conflicts(*layouts, [size, size], elem_bytes=2)
        return found.store.wavefronts_per_instruction, found.load.wavefronts_per_instruction

    assert bytes_of(lambda: conflicts(1 << 20)) < 16 << 20
    assert conflicts(1 << 20) == conflicts(1 << 10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plot", SWIZZLED, "-t", HUGE, "--view", "banks", "-o", "x.svg"], "figure shows up to"),
        (["-l", BLOCKED, "-t", HUGE], "--max-text raises the limit"),
        (["check"], "the text would have 17 TiB"),
        (["check", "--max-cases", "99"], "more than 99 cases; --max-cases allows more"),
    ],
)
def test_too_much_is_refused(arguments: list[str], message: str, run: Run) -> None:
    axis = ", ".join(map(str, range(100 if "--max-cases" in arguments else 1)))
    Path("layouts.yaml").write_text(
        f"cases:\n  - name: a{{n}}\n    layout: '{BLOCKED}'\n    type: '{HUGE}'\n"
        f"    views: [tensor]\n    matrix: {{n: [{axis}]}}\n"
    )
    outcome = run(*arguments)
    assert outcome.status == 2
    assert message in outcome.err + outcome.out


def test_json_may_not_nest_without_bound(run: Run) -> None:
    Path("deep.json").write_text("[" * 100_000)
    outcome = run("translate", "deep.json", "--to", "linear")
    assert outcome.status == 2
    assert "its brackets nest too deep" in outcome.err


def test_a_refusal_is_soon(run: Run) -> None:
    assert calls_of(lambda: run("swizzle", BLOCKED, "-t", HUGE)) < 200_000


# -- many findings of one function ----------------------------------------------------------------

_TILE = "tensor<16x16xf16, #a>"
_OTHER = "tensor<16x16xf16, #b>"
_POINTERS = "tensor<16x16x!tt.ptr<f16>, #b>"
_HEAD = """\
#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 1], \
order = [0, 1]}>
#b = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], \
order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
  tt.func @f(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %p = tt.splat %base : !tt.ptr<f16> -> POINTERS
    %q = tt.splat %base : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>, #a>
    %o0 = arith.constant dense<1.0> : tensor<16x16xf16, #b>
    %x = tt.load %q : tensor<16x16x!tt.ptr<f16>, #a>
""".replace("POINTERS", _POINTERS)


def _kernel(count: int, body: str) -> str:
    """Return a kernel with as many copies of some lines, each with its own names."""
    texts = (body.replace("@", f"{at}").replace("$", f"{at + 1}") for at in range(count))
    return f"{_HEAD}{''.join(texts)}    tt.return\n  }}\n}}\n"


ONE_SOURCE = f"""\
    %v@ = ttg.convert_layout %x : {_TILE} -> {_OTHER}
    %y@ = arith.addf %v@, %v@ : {_OTHER}
    tt.store %p, %y@ : {_POINTERS}
"""
"""Conversions of one value, each stored."""

CHAIN = f"""\
    %o$ = arith.addf %o@, %o@ : {_OTHER}
    tt.store %p, %o$ : {_POINTERS}
"""
"""Stores of values each of which is computed from the last."""


@pytest.mark.slow
@pytest.mark.parametrize("body", [ONE_SOURCE, CHAIN], ids=["one source", "chain"])
def test_findings_take_work_that_grows_with_their_number(
    body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regions, "MAX_REGION", 8)

    def calls(count: int) -> int:
        [module] = parse_ir(_kernel(count, body))
        return calls_of(lambda: audit_module(module))

    calls(2)
    assert calls(80) < 2.12 * calls(40)


def test_conversions_between_the_same_layouts_share_what_operations_cost_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    costed: list[object] = []
    cost = Trial.cost

    def counted(self: Trial, operation: MovementOperation) -> object:
        costed.append((operation.line, self.exchange))
        return cost(self, operation)

    monkeypatch.setattr(Trial, "cost", counted)
    [module] = parse_ir(_kernel(8, ONE_SOURCE))
    audit_module(module)
    assert costed
    assert len(set(costed)) == len(costed)
