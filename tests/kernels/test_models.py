"""What the models of time and registers make of real kernels, number by number.

A golden of a kernel has the registers that its values take, the time of its launches with its terms
and critical steps, and the demand of each step.  Rates, latencies and fitted constants are fixed
ones, and so are the registers of the launches: a golden moves when the model does, and not when its
numbers are fitted anew (those are in ``goldens/hardware``).

    PYTHONPATH=tests python tests/kernels/test_models.py

writes the goldens anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from spelled import fields_of, spelled
from tiers import sampled

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
if TYPE_CHECKING:
    from tt_layout.audit.kernel import Kernel
    from tt_layout.hardware.compiler import RegisterDemand

GOLDENS = Path(__file__).parents[1] / "goldens" / "models"
GRID = (48, 4)
DUMPS = (
    "kernels/attention-sm80",
    "kernels/attention-sm100",
    "kernels/convolution-gfx950",
    "kernels/matmul-sm90",
    "kernels/softmax-sm90",
    "narrow/attention",
    "workloads/attention_backward-sm90",
    "workloads/int8_matmul-sm80",
    "workloads/layer_norm-sm90",
    "workloads/scan-sm80",
    "workloads/split_k-sm90",
)

TIMING: dict[str, Any] = {
    "clock_hz": 1.1e9,
    "matrix_clock_hz": 1.3e9,
    "dram_read": 1.7e12,
    "dram_mixed": 1.9e12,
    "dram_short": 0.7,
    "l2_bytes": 61,
    "l2_capacity": 29e6,
    "spilled": 37,
    "special": 7,
    "integer": 2.3,
    "alu": 4.7,
    "special_latency": 19,
    "shared": 21,
    "shuffle": 26,
    "l1": 31,
    "l2": 271,
    "dram": 563,
    "matrix": 27,
    "atomic": 401,
    "barrier": 13,
    "barrier_warp": 2.1,
    "fence": 59,
    "atomic_sectors": 0.31,
    "atomic_answers": 0.23,
    "line_lanes": 7.3,
    "address_floats": 0.27,
    "address_halves": 0.67,
    "address_integers": 0.73,
    "program_seconds": 0.7e-9,
    "source": "none: numbers that a golden can tell apart",
}
CONSTANTS: dict[str, float] = {
    "dram": 1009,
    "cap": 19,
    "unroll": 37,
    "indexing": 0.31,
    "power": 4.1,
    "beside": 4.7,
    "launch": 2.9,
    "start": 307,
    "tail": 0.61,
    "spill": 2.1,
    "collapse": 2.77,
    "wait": 41,
    "boxes": 397,
    "pointers": 1.1,
    "loads": 23,
}
LAUNCHES: dict[str, dict[str, Any]] = {
    "compiled": {"used": 96, "spilled": 0},
    "compiled, spilling": {"used": 255, "spilled": 40},
    "compiled, collapsed": {"used": 32, "spilled": 900},
    "expected": {"used": None, "spilled": None, "needed": 100, "fewest": 60, "most": 180},
    "expected to spill": {"used": None, "spilled": None, "needed": 290, "fewest": 240, "most": 390},
    "one program": {"used": 96, "spilled": 0, "programs": 1},
    "many programs": {"used": 96, "spilled": 0, "programs": 5000},
}
"""Launch -> what of the program is other than in the dump."""


PARTS = (
    *("seconds", "terms", "floor", "programs", "resident", "waves", "tail", "latency", "spilled"),
)
SHOWN = (
    *("line", "name", "results", "registers", "inputs", "element", "input_element", "number"),
    *("combines", "access", "product", "runs", "is_assumed", "warps", "root", "slots", "barrier"),
)
"""Fields of a launch, and of a step, in a golden."""


def golden(name: str) -> Path:
    return GOLDENS / f"{name.rpartition('/')[2]}.txt"


def kernels_with_demands(name: str) -> tuple[list[Kernel], list[RegisterDemand]]:
    """Return the kernels of a dump, and the demands of which their registers are estimated."""
    from tt_layout import parse_ir
    from tt_layout.audit.audit import audit_module
    from tt_layout.audit.kernel import kernels_of
    from tt_layout.audit.values.given import GivenValues, program_counts
    from tt_layout.hardware.compiler import RegisterLine

    demands: list[RegisterDemand] = []
    estimated = RegisterLine.range

    def recorded(line: RegisterLine, demand: RegisterDemand, *known: Any) -> Any:
        demands.append(demand)
        return estimated(line, demand, *known)

    text = (ROOT / "examples" / f"{name}.ttgir").read_text(encoding="utf-8")
    [module] = parse_ir(text)
    values = dict.fromkeys(scalars(text), 384) | program_counts(GRID)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RegisterLine, "range", recorded)
        kernels = list(kernels_of(audit_module(module, given=GivenValues(values))))
        for kernel in kernels:
            assert kernel.registers is not None
    return kernels, demands


def scalars(text: str) -> Iterator[str]:
    """Yield the integers among the arguments of a kernel."""
    arguments = text.partition("tt.func public @")[2].partition("(")[2].partition(" attributes")[0]
    for argument in arguments.split("%")[1:]:
        name, _, kind = argument.partition(": ")
        if kind.startswith(("i32", "i64")):
            yield name


def model(name: str) -> str:
    """Return what the models make of a dump."""
    kernels, demands = kernels_with_demands(name)
    times = (line for kernel in kernels for line in time(kernel))
    return "\n".join([*registers(kernels, demands), *times, ""])


def registers(kernels: list[Kernel], demands: list[RegisterDemand]) -> Iterator[str]:
    from tt_layout.audit.registers import live_by_line

    yield from (f"registers: {spelled(demand)}" for demand in demands)
    for kernel in kernels:
        found = kernel.registers
        assert found is not None
        values = " ".join(f"{value.name}:{value.registers}" for value in found.values)
        yield f"at its peak in line {found.line}: {found.live} of {found.limit}: {values}"
    live = live_by_line(kernels[0].audit.audited)
    numbers = (f"{line}:{number}" for line, number in live.items() if number)
    yield f"live in lines: {' '.join(numbers)}"


def time(kernel: Kernel) -> Iterator[str]:
    from tt_layout.audit.time.constants import Constants
    from tt_layout.audit.time.demands import Pricing
    from tt_layout.audit.time.estimate import NoEstimate
    from tt_layout.audit.time.launch import full_wave, launch_time
    from tt_layout.hardware.timing import Timing

    found = kernel.estimate
    if isinstance(found, NoEstimate):
        yield found.text
        return
    program, chip = found.program, found.chip
    timing, constants, rates = Timing(**TIMING), Constants(**CONSTANTS), chip.product
    assert rates is not None
    yield f"program: {spelled(replace(program, steps=(), needed=0, fewest=0, most=0))}"
    yield f"a full wave: {full_wave(replace(program, used=96, spilled=0), chip, rates, constants)}"
    for case, other in LAUNCHES.items():
        launched = launch_time(replace(program, **other), chip, rates, timing, constants)
        yield f"{case}: {fields_of(launched, PARTS)}"
    launched = launch_time(replace(program, used=96, spilled=0), chip, rates, timing, constants)
    for iteration in launched.walked.iterations:
        yield f"iteration: {spelled(iteration)}"
    yield f"walked: {spelled(replace(launched.walked, iterations=()))}"
    steps = list(program.walk())
    pricing = Pricing(timing, rates, constants, program.warps, steps)
    for step in steps:
        edges = (
            f"{edge.begin}>{edge.end} {','.join(edge.passed)}>{','.join(edge.received)}"
            for edge in step.edges
        )
        parts = [*edges, *filter(None, [spelled(pricing.of(step))])]
        if parts or step.access is not None:
            yield " | ".join([fields_of(step, SHOWN), *parts])


@pytest.mark.parametrize("name", sampled(DUMPS, 3))
def test_numbers_of_the_models(name: str) -> None:
    assert model(name) == golden(name).read_text(encoding="utf-8")


if __name__ == "__main__":
    GOLDENS.mkdir(exist_ok=True)
    for dump in sys.argv[1:] or DUMPS:
        golden(dump).write_text(model(dump), encoding="utf-8")
