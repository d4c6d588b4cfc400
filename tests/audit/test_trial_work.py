"""A trial of other layouts: what does not depend on them is known already."""

from __future__ import annotations

import pytest
from work import calls_of

from tt_layout import parse_ir, parse_layout
from tt_layout.audit.global_memory.cost import global_cost, placed_access
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.suggestions.trial import LayoutExchange, Trial

BLOCKED = (
    "#ttg.blocked<{sizePerThread = [%d], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>"
)
KERNEL = f"""
#a = {BLOCKED % 1}
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942",
                   "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func @f(%p: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
    %r = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32, #a>
    LINE
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #a>
    %q = tt.addptr %s, %o : tensor<1024x!tt.ptr<f32>, #a>, tensor<1024xi32, #a>
    %v = tt.load %q : tensor<1024x!tt.ptr<f32>, #a>
    tt.store %q, %v : tensor<1024x!tt.ptr<f32>, #a>
    tt.return
  }}
}}
"""
SUM = "%o = arith.addi %r, %r : tensor<1024xi32, #a>"
REORDERED = "%o = tt.reshape %r allow_reorder : tensor<1024xi32, #a> -> tensor<1024xi32, #a>"


def both(line: str) -> tuple[AuditedModule, Trial]:
    """Return a module, and a trial of another layout in it."""
    [module] = parse_ir(KERNEL.replace("LINE", line))
    audited = AuditedModule(module, SharedWork())
    old, new = (parse_layout(BLOCKED % size) for size in (1, 4))
    return audited, Trial(audited, LayoutExchange({old: new, new: new}))


@pytest.mark.parametrize(("line", "is_shared"), [(SUM, True), (REORDERED, False)])
def test_values_are_shared_unless_layouts_determine_their_order(line: str, is_shared: bool) -> None:
    audited, trial = both(line)
    [load, _] = audited.module.operations
    full = trial.in_full(load)
    assert full is not None
    address = full.operation.operands[0]
    known = audited.evaluator(audited.functions[0]).value(address)
    evaluator = trial.evaluator(full.function)
    values: list[object] = []
    calls = calls_of(lambda: values.append(evaluator.value(address)))
    assert (calls < 40) == is_shared
    assert (values[0] is known) == is_shared


def test_an_access_is_placed_once_for_its_cost_and_its_bounds() -> None:
    audited, _ = both(SUM)
    [load, _] = audited.module.operations
    full, kernel = audited.in_full(load), audited.kernel(audited.functions[0])
    assert full is not None
    assert kernel is not None
    global_cost(load, audited)
    placed: list[object] = []
    assert calls_of(lambda: placed.append(placed_access(kernel, full.operation))) < 10
    assert placed == [placed_access(kernel, full.operation)]


def test_layouts_are_those_of_the_trial() -> None:
    audited, trial = both(SUM)
    [load, _] = audited.module.operations
    cost, full = trial.cost(load), trial.in_full(load)
    assert full is not None
    evaluator = trial.evaluator(full.function)
    ir_type = evaluator.function.type_of(full.operation.operands[0])
    assert ir_type is not None
    assert str(ir_type.encoding) == BLOCKED % 4
    assert cost is not None
    assert cost.finding == "loads 4 bytes per instruction instead of 16"
    assert cost.details.data(1)["limited_by"]["what"] == "contiguity"


def test_a_function_is_looked_through_once_for_all_trials() -> None:
    audited, trial = both(SUM)
    [load, _] = audited.module.operations
    full = trial.in_full(load)
    assert full is not None
    own, other = audited.kernel(audited.functions[0]), trial.kernel(full.function)
    assert own is not None
    assert other is not None
    assert trial.kernel(full.function) is other
    assert other.unhinted is own.unhinted
    assert other.narrowed is own.narrowed
    assert other.joined_scalars is own.joined_scalars
