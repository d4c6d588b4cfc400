"""The estimate of a kernel's time: the number, its range, what it rests on.

An estimate is none of the bounds: about half of all launches take longer.  Its range is a factor
that was chosen, and then checked on timed kernels (``docs/time.md``).

Read next:    `tt_layout.audit.time.launch`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from tt_layout.audit.audit import Audit
from tt_layout.audit.bounds.bounds import Grid
from tt_layout.audit.registers import RegisterPressure
from tt_layout.audit.time.launch import LaunchTime, full_wave, launch_time
from tt_layout.audit.time.program import read_program
from tt_layout.audit.time.steps import Program
from tt_layout.hardware import Target
from tt_layout.hardware.timing import Timing
from tt_layout.ir.data_movements import GLOBAL_KINDS
from tt_layout.wording import count, duration

ERROR = 1.4
"""Factor up and down; within it 85 % of the 17 kernels of the sweeps lay, and 77 % of 15 others."""

WIDER = 1.25
"""Factor by which each thing that is not known widens the range."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The estimated time of a launch.

    Attributes:
        launch: the time, and what it is made of.
        product: the GPU that it is of.
        is_measured: whether such a GPU was asked for its latencies and rates.
        is_of_grid: whether the grid is known; else it is of one full wave.
        doubts: what is not known, and widens the range.
        program: that is launched.
        chip: that it is launched on.
    """

    launch: LaunchTime
    program: Program = field(repr=False)
    chip: Target = field(repr=False)
    product: str
    is_measured: bool
    is_of_grid: bool
    doubts: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """The time of the launch."""
        return self.launch.seconds

    @property
    def range(self) -> tuple[float, float]:
        """The seconds between which about four of five kernels lie."""
        factor = ERROR * WIDER ** len(self.doubts)
        return self.seconds / factor, self.seconds * factor

    @property
    def terms(self) -> Mapping[str, float]:
        """What is busy, or waited for -> the seconds that it would take alone."""
        return self.launch.terms

    def storing(self, stored: float) -> Estimate:
        """Return the estimate of as many programs as store some bytes; the same with a grid."""
        rates = self.chip.product
        if self.is_of_grid or not self.program.stored or rates is None or rates.timing is None:
            return self
        program = self.program.launched(max(1, round(stored / self.program.stored)))
        return replace(self, launch=launch_time(program, self.chip, rates, rates.timing))

    @property
    def limit(self) -> str:
        """What takes most of the time."""
        return self.launch.limit

    @property
    def text(self) -> str:
        """The estimate in a few words."""
        low, high = (duration(seconds) for seconds in self.range)
        launch = self.launch
        of = "" if self.is_of_grid else f" for one full wave of {count(launch.programs, 'program')}"
        made = "" if self.is_measured else ", rates not measured"
        about = f"about {duration(self.seconds)} on {self.product}{of}"
        return f"{about} ({low} to {high}), an estimate{made}"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True)
class NoEstimate:
    """Why there is no estimate.

    Attributes:
        reason: in words.
    """

    reason: str

    @property
    def text(self) -> str:
        """The reason in a few words."""
        return f"no estimate of its time: {self.reason}"


def kernel_estimate(
    audit: Audit,
    symbol: str | None,
    grid: Grid | None,
    registers: RegisterPressure | None,
    shared_bytes: int | None,
    tensor_columns: int = 0,
) -> Estimate | NoEstimate:
    """Return the estimated time of a kernel's launch, or why there is none.

    Args:
        audit: of its module, with the values of its arguments where they are known.
        symbol: the kernel; None for what is in none.
        grid: programs along x, y and z; None where it is not known.
        registers: where it comes closest to its limit.
        shared_bytes: of a CTA.
        tensor_columns: of tensor memory.
    """
    target = audit.chip
    rates = target.product if target is not None else None
    if target is None or rates is None or rates.timing is None:
        return NoEstimate(reason="no rates of its GPU are known")
    if symbol is None:
        return NoEstimate(reason="it is in no function")
    if (audit.module.number("num-ctas") or 1) > 1:
        return NoEstimate(reason="programs of several CTAs were not measured")
    # Without a grid the programs of a wave are along x: what they share is what those share.
    along = (*(grid or (rates.multiprocessors,)), 1, 1)[:3]
    program = read_program(audit, symbol, along, registers, shared_bytes, tensor_columns)
    if program is None:
        return NoEstimate(reason="the dump does not have it whole")
    if grid is None:
        program = program.launched(full_wave(program, target, rates))
    unknown = next(_unknown_runs(program), None)
    if unknown is not None:
        return NoEstimate(reason=unknown)
    launch = launch_time(program, target, rates, rates.timing)
    if launch.walked.unknown:
        return NoEstimate(reason=launch.walked.unknown[0])
    return Estimate(
        launch=launch,
        program=program,
        chip=target,
        product=rates.name,
        is_measured=rates.timing.is_measured,
        is_of_grid=grid is not None,
        doubts=tuple(_doubts(program, has_grid=grid is not None, timing=rates.timing)),
    )


def _unknown_runs(program: Program) -> Iterator[str]:
    """Yield the loops of which it is not known how often they run."""
    for step in program.walk():
        if step.traits.loop and any(
            inner.is_assumed for region in step.regions for inner in region
        ):
            yield f"it is not known how often the loop at line {step.line} runs"


def _doubts(program: Program, *, has_grid: bool, timing: Timing) -> Iterator[str]:
    if not has_grid:
        yield "without a grid it is of one full wave"
    if not timing.is_measured:
        yield "latencies and rates of the GPU were not measured"
    unknown = [
        (step.line, getattr(step.access.details, "unknown", ()))
        for step in program.walk()
        if step.access is not None
        and step.access.kind in GLOBAL_KINDS
        and step.access.touched is None
    ]
    if unknown:
        line, inputs = unknown[0]
        why = f"depend on {', '.join(inputs[:3])}" if inputs else "are not known"
        yield f"the addresses at line {line} {why}"
    if program.spilled is None and program.needed > program.limit:
        yield "how much is spilled is not known before it is compiled"
