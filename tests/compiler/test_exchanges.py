"""What reductions and scans move between threads, against what Triton 3.9.0 makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

import tt_layout
from compiler import generate
from compiler.agreement import Comparison
from compiler.test_analyses import Lowerer, drawn, laid, threads
from compiler.test_conversions import plain
from compiler.wheel import Answer, Question, Wheel
from tt_layout.analyses.conversion.exchange import Exchange
from tt_layout.audit.modules.layouts import PlacedLayouts
from tt_layout.audit.operations.atomics import handed_on
from tt_layout.audit.operations.exchanges import exchange_of
from tt_layout.hardware import find_target
from tt_layout.ir.ssa import SsaReader

REDUCTIONS, SCANS, ATOMICS, GATHERS = 60, 30, 30, 30
MAX_REGISTERS = 64  # of a thread; what is larger takes the wheel long
GPUS = ("sm75", "sm80", "sm90", "sm100", "sm120")
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64")


@pytest.fixture(scope="module")
def combiner(wheel: Wheel) -> Lowerer:
    return Lowerer(wheel.python)


def elements(r: Random) -> tuple[list[str], str]:
    """Return the element types of the operands, and what combines them."""
    if r.random() < 0.4:
        return [r.choice(INTEGERS)], r.choice(["addi", "maxsi", "minui", "xori"])
    if r.random() < 0.2:
        return [r.choice(["f16", "f32"])], "maxnumf"
    return r.sample(FLOATS, r.choice([1, 1, 1, 2])), "addf"


def question(r: Random, operation: str, attr: str, shape: tuple[int, ...]) -> Question | None:
    layout = laid(attr, shape)
    if layout is None or layout.get_in_dim_size("register") > MAX_REGISTERS:
        return None
    lanes, warps, ctas = threads(layout)
    if warps > 32 or ctas > 2 or (ctas > 1 and (lanes == 64 or "scan" in operation)):
        return None
    target = "gfx942" if lanes == 64 else "sm90" if ctas > 1 else r.choice(GPUS)
    combined = [operation, attr, list(shape), r.randrange(len(shape)), *elements(r)]
    numbers = {"target": target, "warps": warps, "threads": lanes, "ctas": ctas}
    return {"combine": combined, **numbers}


def reductions(seed: int) -> Iterator[Question]:
    r = Random(seed)
    for attr, shape, _ in drawn(r):
        found = question(r, "reduce", attr, shape) if "generic_linear" not in attr else None
        if found is not None:
            yield found


def scans(seed: int) -> Iterator[Question]:
    r = Random(seed)
    while True:
        draft = generate.KINDS["blocked"](r)
        operation = r.choice(["scan", "scan", "reversed scan"])
        layout = laid(str(draft.attr), draft.shape)
        if layout is None or layout.get_in_dim_size("lane") not in (32, 64):
            continue
        found = question(r, operation, str(draft.attr), draft.shape)
        if found is not None:
            yield found


NAMES = ("reduce", "scan", "gather", "histogram", "atomic_rmw", "atomic_cas")
OPERATIONS = frozenset(f"tt.{name}" for name in NAMES)


def exchange(answer: Answer, target: str) -> Exchange:
    """Return what we say of the one operation in a kernel."""
    [module] = tt_layout.parse_ir(answer["text"])
    [function] = SsaReader().functions(module)
    [operation] = [o for o in function.walk() if o.name in OPERATIONS]
    if "atomic" in operation.name:
        warps = module.number("num-warps") or 1
        found = handed_on(operation, function, PlacedLayouts(), find_target(target), warps)
    else:
        found = exchange_of(operation, function, PlacedLayouts(), find_target(target))
    assert found is not None
    return found


def expected(found: Exchange) -> Counter[str]:
    assert found.stores is not None
    assert found.loads is not None
    counts: Counter[str] = Counter()
    for step in (*found.stores, *found.loads):
        counts[plain(step.instruction)] += step.instructions
    return +(counts + Counter({"shfl": found.shuffles, "redux": found.reductions}))


def emitted(answer: Answer) -> Counter[str]:
    """Return the instructions in the PTX; a load may extend its sign."""
    counts: Counter[str] = Counter()
    for name, count in answer["operations"].items():
        stem = name.partition(".")[0]
        access = name.replace("::cta", "").replace(".s", ".b").replace(".u", ".b")
        access = access.replace(".bhared", ".shared").replace(".bync", ".sync")
        if stem == "atom":
            access = "atom.shared.add.u32"
        counts[stem if stem in ("shfl", "redux") else plain(access)] += count
    return counts


def atomics(seed: int) -> Iterator[Question]:
    r = Random(seed)
    for attr, shape, _ in drawn(r):
        found = question(r, "add", attr, shape) if "generic_linear" not in attr else None
        if found is None or found["ctas"] > 1:
            continue
        operation, element = r.choice([("add", "f32"), ("add", "i64"), ("cas", "i32")])
        sizes = [] if r.random() < 0.15 else list(shape)
        yield {**found, "combine": [operation, attr, sizes, element]}


def gathers(seed: int) -> Iterator[Question]:
    """Yield gathers between blocked layouts, and histograms."""
    r, lines = Random(seed), Random(seed)
    while True:
        draft = generate.KINDS["blocked"](r)
        attr, shape = str(draft.attr), draft.shape
        found = question(r, "gather", attr, shape)
        if found is None or found["ctas"] > 1:
            continue
        axis, layout, element = r.randrange(len(shape)), attr, r.choice(["f16", "f32", "f64"])
        if r.random() < 0.4:  # of other warps than the tensor, but as many
            layout = attr.replace("order = [0, 1]", "order = [1, 0]")
        sizes = [size * 2 if d == axis else size for d, size in enumerate(shape)]
        combined = ["gather", attr, list(shape), axis, element, [layout, sizes]]
        if len(shape) == 1 and lines.random() < 0.7:
            bins = lines.choice([16, 64, 256, 1024])
            combined = ["histogram", attr, list(shape), 0, "i32", [attr, [bins]]]
        yield {**found, "combine": combined}


DRAWS = [(gathers, GATHERS), (reductions, REDUCTIONS), (scans, SCANS), (atomics, ATOMICS)]


@pytest.mark.parametrize(("draw", "count"), DRAWS)
def test_exchanges_of_random_kernels(
    combiner: Lowerer, seed: int, tally: Counter[str], draw: object, count: int
) -> None:
    """LLVM splits or joins a few accesses of 16-bit elements; nothing else differs."""
    assert callable(draw)
    drawing = draw(seed)
    asked = [next(drawing) for _ in range(count)]
    comparison, split = Comparison(tally), []
    for each, answer in zip(asked, combiner.ask(asked)):
        if "operations" not in answer:
            comparison.agree("the wheel gives no code")
            continue
        found = exchange(answer, each["target"])
        if found.scratch_bytes != answer["scratch"]:
            comparison.disagree(
                "scratch", each["combine"], (found.scratch_bytes, answer["scratch"])
            )
        elif not each["target"].startswith("sm"):
            comparison.agree("AMD: same scratch")
        elif expected(found) == emitted(answer):
            comparison.agree("same shuffles, stores, loads and scratch")
        else:
            split.append((each["combine"], expected(found), emitted(answer)))
            comparison.agree("LLVM splits or joins accesses")
    comparison.check()
    assert len(split) <= 0.03 * count, split
    assert tally["same shuffles, stores, loads and scratch"] > 0.5 * count
