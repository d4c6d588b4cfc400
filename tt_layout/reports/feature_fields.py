"""Table of a kernel's features, for ``docs/features.md`` and the JSON Schema.

A name keeps its meaning while `FEATURES_VERSION` is the same: a change of how something is counted
raises the version, which programs that learned from the old one can check.  New names may be added
at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from tt_layout.audit.conclusions import MovementRow
from tt_layout.audit.kernel import Kernel
from tt_layout.audit.operations.details import (
    ConversionDetails,
    ExchangeDetails,
    GlobalDetails,
    SharedDetails,
)
from tt_layout.audit.rules import kinds
from tt_layout.audit.time.estimate import Estimate
from tt_layout.audit.time.launch import TERMS
from tt_layout.ir.data_movements import MovementKind
from tt_layout.tuples import NamedTuple

FEATURES_VERSION = 2
"""Changes when a name changes its meaning or goes."""

Value = int | float | str | bool | None
NUMBER, INTEGER, TEXT, TRUTH = "number", "integer", "string", "boolean"

RESOURCES = ("DRAM", "L2", "LSU", "tensor cores", "FMA", "special functions")


class Feature(NamedTuple):
    """One field of the object of a kernel.

    Attributes:
        name: name of the field.
        kind: JSON Schema type of its values.
        meaning: description, with the unit and the cases in which it is null.
        of: function that computes it.
        is_known: whether it is never null.
    """

    name: str
    kind: str
    meaning: str
    of: Callable[[Kernel], Value]
    is_known: bool = False


def _name(kind: str) -> str:
    return kind.replace(" ", "_").replace("-", "_")


def _plural(kind: MovementKind) -> str:
    name = _name(kind)
    if kind in (MovementKind.COPY_IN, MovementKind.COPY_OUT, MovementKind.COPY_WITHIN):
        return name.replace("copy", "copies", 1)
    return f"{name}s"


def _count(kind: MovementKind, kernel: Kernel) -> int:
    return sum(row.operation.group is kind for row in kernel.rows)


def _bytes(kind: MovementKind, kernel: Kernel) -> float:
    rows = (row for row in kernel.rows if row.operation.group is kind)
    return sum((row.operation.bytes or 0) * kernel.runs(row) for row in rows)


def _cycles(family: type[object], kernel: Kernel) -> float:
    return sum(row.cost.cycles * kernel.runs(row) for row in kernel.costed(family) if row.cost)


def _conflicts(kernel: Kernel) -> float:
    rows = kernel.costed(SharedDetails)
    return sum(row.cost.extra * kernel.runs(row) for row in rows if row.cost)


def _share(family: type[object], kernel: Kernel) -> float | None:
    total = kernel.cycles
    return _cycles(family, kernel) / total if total else None


def _detail(name: str, rows: Iterable[MovementRow], kernel: Kernel) -> float:
    """Return the sum of a detail over the costs for which it is known."""
    return sum(
        (getattr(row.cost.details, name, None) or 0) * kernel.runs(row)
        for row in rows
        if row.cost is not None
    )


def _sectors(name: str, kernel: Kernel) -> float:
    return _detail(name, kernel.costed(GlobalDetails), kernel)


def _unknown_accesses(kernel: Kernel) -> int:
    all_details = (row.cost.details for row in kernel.costed(GlobalDetails) if row.cost)
    return sum(
        details.sectors is None for details in all_details if isinstance(details, GlobalDetails)
    )


def _shuffles(kernel: Kernel) -> float:
    return _detail("shuffles_per_warp", kernel.rows, kernel)


def _through_shared(kernel: Kernel) -> int:
    rows = kernel.costed(ConversionDetails)
    return sum(bool(getattr(row.cost.details, "wavefronts", None)) for row in rows if row.cost)


def _bound(resource: str, kernel: Kernel) -> float | None:
    bound = kernel.bounds.of(resource) if kernel.bounds is not None else None
    return bound.cycles if bound is not None else None


def _binding(kernel: Kernel) -> str | None:
    bounds = kernel.bounds
    return bounds.binding.resource if bounds is not None and bounds.binding is not None else None


def _of(path: str, kernel: Kernel) -> Any:
    """Follow a path of attributes; None if one of them is None."""
    value: Any = kernel
    for part in path.split("."):
        value = getattr(value, part) if value is not None else None
    return value


def _row(name: str, kind: str, path: str, meaning: str, *, is_known: bool = False) -> Feature:
    return Feature(name, kind, meaning, partial(_of, path), is_known)


def _total(name: str, kind: str, meaning: str, of: Callable[[Kernel], int | float]) -> Feature:
    """Return the row of a count or a sum, which is never null."""
    return Feature(name, kind, meaning, of, is_known=True)


def _identity() -> Iterator[Feature]:
    yield _total("version", INTEGER, "of these fields", lambda kernel: FEATURES_VERSION)
    yield _row("tt_layout", TEXT, "package", "release that computed the object", is_known=True)
    yield _row("file", TEXT, "file", "the dump, as it was named", is_known=True)
    yield _row("line", INTEGER, "audit.module.line", "where the module begins in it", is_known=True)
    yield _row("kernel", TEXT, "function", "null outside of functions")
    yield _row("target", TEXT, "audit.module.target", "as the module names it")
    yield _row("gpu", TEXT, "target", "the GPU whose costs are counted; null if unknown")
    yield _row("programs", INTEGER, "programs", "of the grid; null where none was given")


def _shape() -> Iterator[Feature]:
    yield _row("warps", INTEGER, "warps", "of a CTA")
    yield _row("threads_per_warp", INTEGER, "threads_per_warp", "null where it is not stated")
    yield _row("ctas", INTEGER, "ctas", "of a cluster; null where it is not stated")
    yield _total("layouts", INTEGER, "different layouts", lambda kernel: kernel.layouts)
    yield _total("data_movements", INTEGER, "operations", lambda kernel: len(kernel.rows))
    for kind in MovementKind:
        meaning = f"operations of the kind {str(kind)!r}"
        yield _total(f"{_plural(kind)}", INTEGER, meaning, partial(_count, kind))
    meaning = "conversions that take wavefronts of shared memory"
    yield _total("conversions_through_shared", INTEGER, meaning, _through_shared)
    products = "multiplications of matrices"
    yield _total("multiplications", INTEGER, products, lambda kernel: len(kernel.products))
    yield _total(
        "multiplications_without_instruction",
        INTEGER,
        "those without a matrix instruction",
        lambda kernel: sum(product.instruction is None for product in kernel.products),
    )


def _moved() -> Iterator[Feature]:
    for kind in MovementKind:
        if kind is not MovementKind.ALLOCATION:
            meaning = f"moved by {_plural(kind)} in one program, where types tell"
            yield _total(f"{_name(kind)}_bytes", NUMBER, meaning, partial(_bytes, kind))
    of_known = "of global memory, of all accesses of which they are known"
    yield _total("sectors", NUMBER, of_known, partial(_sectors, "sectors"))
    least = "that the same bytes need at least"
    yield _total("ideal_sectors", NUMBER, least, partial(_sectors, "ideal_sectors"))
    missing = "accesses to global memory whose sectors are not known"
    yield _total("unknown_accesses", INTEGER, missing, _unknown_accesses)
    yield _total(
        "wavefronts",
        NUMBER,
        "of loads and stores of shared memory",
        partial(_cycles, SharedDetails),
    )
    conflicts = "of these, from bank conflicts"
    yield _total("conflict_wavefronts", NUMBER, conflicts, _conflicts)
    yield _total("shuffles", NUMBER, "of a warp: conversions and exchanges", _shuffles)
    yield _row("flops", NUMBER, "flops", "of multiplications of matrices", is_known=True)


def _resources() -> Iterator[Feature]:
    registers = "registers"
    unknown = "null where the GPU is not known"
    text = f"registers that a thread is expected to need; {unknown}"
    yield _row("registers", INTEGER, f"{registers}.needed", text)
    for end, text in (("low", "least"), ("high", "most")):
        text = f"the {text} of the estimate; {unknown}"
        yield _row(f"registers_{end}", INTEGER, f"{registers}.range.{end}", text)
    text = f"of them, for tensors that are live at the peak; {unknown}"
    yield _row("live_registers", INTEGER, f"{registers}.live", text)
    yield _row("registers_limit", INTEGER, f"{registers}.limit", "that a thread may have")
    yield _row("spills", TRUTH, f"{registers}.is_over", f"whether spills are likely; {unknown}")
    text = f"whether a part of the estimate is over the limit, but not all of it; {unknown}"
    yield _row("may_spill", TRUTH, f"{registers}.may_spill", text)
    text = f"registers that are spilled: compiled, else what of the middle has no room; {unknown}"
    yield _row("spilled_registers", INTEGER, f"{registers}.expected_spills", text)
    compiled, missing = f"{registers}.compiled", "null where the compiled kernel is not at hand"
    text = f"registers of a thread as compiled; {missing}"
    yield _row("compiled_registers", INTEGER, f"{compiled}.used", text)
    text = f"registers of a thread that the compiled kernel spills; {missing}"
    yield _row("compiled_spills", INTEGER, f"{compiled}.spilled", text)
    text = "shared memory of a CTA, stated or allocated; null where it is not known"
    yield _row("shared_bytes", INTEGER, "shared_bytes", text)
    yield _row("shared_limit", INTEGER, "shared_limit", "that a CTA may have")
    yield _row("tensor_columns", INTEGER, "tensor_columns", "of tensor memory that it allocates")
    for name, path in (("ctas", "ctas"), ("warps", "warps"), ("most_warps", "most_warps")):
        text = f"`{name}` of one multiprocessor ([registers.md](registers.md))"
        yield _row(f"occupancy_{name}", INTEGER, f"occupancy.{path}", text)
    for name, end in (("low", "most"), ("high", "fewest")):
        text = f"`ctas` with the {end} registers of the estimate"
        yield _row(f"occupancy_ctas_{name}", INTEGER, f"occupancy.{name}", text)
    text = "what allows no more, joined by `+`"
    yield Feature("occupancy_limited_by", TEXT, text, lambda kernel: kernel.limited_by)


def _costs() -> Iterator[Feature]:
    for resource in RESOURCES:
        name = f"bound_{_name(resource.lower())}"
        text = f"{resource}: cycles that a launch takes at least ([bounds.md](bounds.md))"
        yield Feature(name, NUMBER, text, partial(_bound, resource))
    yield _row("bound_cycles", NUMBER, "bounds.cycles", "the largest of these")
    yield Feature("bound_by", TEXT, "the resource that binds; null where a grid decides", _binding)
    yield _row(
        "cycles", NUMBER, "cycles", "of all data movements, as findings count them", is_known=True
    )
    families = {
        "conversions": ConversionDetails,
        "exchanges": ExchangeDetails,
        "shared": SharedDetails,
        "global": GlobalDetails,
    }
    for name, family in families.items():
        text = f"of `cycles`, 0 to 1: {name}; null where there are none"
        yield Feature(f"{name}_share", NUMBER, text, partial(_share, family))
    text = "data movements without a known cost"
    yield _row("unknown_costs", INTEGER, "unknown_costs", text, is_known=True)
    text = "whether a loop whose trips are not known counts as 32"
    yield _row("is_assumed", TRUTH, "is_assumed", text, is_known=True)


def _time() -> Iterator[Feature]:
    missing = "null where there is none ([time.md](time.md))"
    text = f"estimated time of the launch in us, of one full wave without a grid; {missing}"
    yield Feature(
        "estimate_us", NUMBER, text, partial(_estimated, lambda estimate: estimate.seconds)
    )
    for name, end in (("least", 0), ("most", 1)):
        text = f"the {'shorter' if not end else 'longer'} end of its range, in us"
        yield Feature(f"estimate_{name}_us", NUMBER, text, partial(_end, end))
    text = "what takes most of it"
    yield Feature("estimate_limit", TEXT, text, lambda kernel: _in_launch("limit", kernel))
    for term in TERMS:
        text = f"{term}: the us that it would take alone; null where it takes none"
        yield Feature(f"estimate_{_name(term.lower())}_us", NUMBER, text, partial(_term, term))
    text = "waves of programs, the last perhaps not full"
    yield Feature("estimate_waves", NUMBER, text, partial(_in_launch, "waves"))
    text = "programs that a multiprocessor holds at once, for the estimate"
    yield Feature("estimate_resident", INTEGER, text, partial(_in_launch, "resident"))
    text = "cycles of one program that has a multiprocessor to itself"
    yield Feature("estimate_latency_cycles", NUMBER, text, partial(_in_launch, "latency"))
    text = "registers that are spilled, as compiled or as estimated"
    yield Feature("estimate_spilled", NUMBER, text, partial(_in_launch, "spilled"))
    text = "of the loop that takes most of the time: how often it runs"
    yield Feature("estimate_loop_trips", NUMBER, text, partial(_in_loop, "trips"))
    text = "of that loop: cycles of an iteration of a program alone"
    yield Feature("estimate_loop_cycles", NUMBER, text, partial(_in_loop, "cycles"))


def _estimate(kernel: Kernel) -> Estimate | None:
    return kernel.estimate if isinstance(kernel.estimate, Estimate) else None


def _estimated(seconds: Callable[[Estimate], float], kernel: Kernel) -> float | None:
    estimate = _estimate(kernel)
    return seconds(estimate) * 1e6 if estimate is not None else None


def _end(number: int, kernel: Kernel) -> float | None:
    return _estimated(lambda estimate: estimate.range[number], kernel)


def _term(term: str, kernel: Kernel) -> float | None:
    estimate = _estimate(kernel)
    seconds = estimate.terms.get(term) if estimate is not None else None
    return seconds * 1e6 if seconds is not None else None


def _in_launch(name: str, kernel: Kernel) -> Any:
    estimate = _estimate(kernel)
    return getattr(estimate.launch, name) if estimate is not None else None


def _in_loop(name: str, kernel: Kernel) -> Any:
    estimate = _estimate(kernel)
    loop = estimate.launch.walked.main if estimate is not None else None
    return getattr(loop, name) if loop is not None else None


def _findings() -> Iterator[Feature]:
    yield _row(
        "errors", INTEGER, "errors", "findings for which the compiler refuses it", is_known=True
    )
    for kind in kinds():
        meaning = f"findings of the kind `{kind}`"
        yield _total(f"findings_{_name(kind)}", INTEGER, meaning, partial(_findings_of, kind))
    yield _row("finding_cycles", NUMBER, "weight", "that findings waste", is_known=True)
    text = "of `cycles`, 0 to 1; null where there are none"
    yield _row("findings_share", NUMBER, "findings_share", text)


def _findings_of(kind: str, kernel: Kernel) -> int:
    return kernel.kinds.get(kind, 0)


def fields() -> tuple[Feature, ...]:
    """Return every field, in the order of the object."""
    groups = _identity(), _shape(), _moved(), _resources(), _costs(), _time(), _findings()
    return tuple(feature for group in groups for feature in group)
