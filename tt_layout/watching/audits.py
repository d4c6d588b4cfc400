"""The audit of kernels that were seen, each with the arguments of its launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tt_layout.audit.kernel import Kernel, kernels_of
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.time.estimate import Estimate, NoEstimate
from tt_layout.audit.values.given import GivenValues
from tt_layout.dumps.audits import PassedOver, audit_with
from tt_layout.errors import LayoutError
from tt_layout.ir.file_aliases import whole_modules
from tt_layout.ir.module import Module
from tt_layout.kernels.device import device_product
from tt_layout.kernels.seen import SeenKernel
from tt_layout.mlir.source import Source
from tt_layout.reports.advice_text import first_cure


class WatchedKernel(NamedTuple):
    """A kernel that was seen, and its audit.

    Attributes:
        seen: the kernel.
        audit: what there is to say of it; None where there is none.
        reason: why there is no audit, or why the arguments were not used; None without one.
        seconds: estimated, of all launches that were looked at; None without an estimate.
        gain: seconds of them that not every configuration of the kernel takes.
        cure: the first thing to do about its findings; empty where there is none.
        assumption: the product that the time is of, where the program did not tell it, and why.
    """

    seen: SeenKernel
    audit: Kernel | None
    reason: str | None = None
    seconds: float | None = None
    gain: float | None = None
    cure: str = ""
    assumption: str | None = None


def audited(kernels: Iterable[SeenKernel]) -> Iterator[WatchedKernel]:
    """Yield each kernel with its audit."""
    shared = SharedWork()
    for kernel in kernels:
        try:
            yield _audited(kernel, shared)
        except LayoutError as error:
            yield WatchedKernel(kernel, None, error.message)
        except Exception as error:  # the watched program must not end because of us
            yield WatchedKernel(kernel, None, f"{type(error).__name__}: {error}")


def worst_kernels(kernels: Iterable[SeenKernel]) -> Iterator[Kernel]:
    """Yield the worst kernel of each module, where the module is audited without an error."""
    shared = SharedWork()
    for kernel in kernels:
        yield _worst(_kernels(kernel, shared)[0], kernel)


def _audited(kernel: SeenKernel, shared: SharedWork) -> WatchedKernel:
    kernels, reason = _kernels(kernel, shared)
    worst = _worst(kernels, kernel)
    seconds, gain = _seconds(worst, kernel) or (None, None)
    assumption = _assumption(worst.estimate, kernel.compiled.known.device)
    settled = worst.settled("verdict")
    return WatchedKernel(kernel, settled, reason, seconds, gain, first_cure(worst), assumption)


def _assumption(estimate: Estimate | NoEstimate, device: str | None) -> str | None:
    """Return the product that a time is of and why, unless it is the one that runs the kernel."""
    if isinstance(estimate, NoEstimate):
        return None
    if device is None:
        return f"times are of {estimate.product}: the GPU of the program is not known"
    if device_product(device) != estimate.chip:
        return f"times are of {estimate.product}: no rates of {device} are known"
    return None


def _seconds(kernel: Kernel, seen: SeenKernel) -> tuple[float, float] | None:
    """Return the estimated time of all launches of a kernel, and what of it there is to gain.

    All have the arguments of the one that is audited, each its own grid.  None where it is not
    known.
    """
    estimate = kernel.estimate
    if not seen.launches or isinstance(estimate, NoEstimate) or not estimate.is_of_grid:
        return None
    launches = [
        (number, estimate.launching(launch.programs).launch)
        for launch, number in seen.launches.items()
    ]
    seconds = sum(number * timed.seconds for number, timed in launches)
    return seconds, seconds - sum(number * timed.floor for number, timed in launches)


def _kernels(kernel: SeenKernel, shared: SharedWork) -> tuple[Sequence[Kernel], str | None]:
    """Return the kernels of a module, and why the arguments of its launch were not used.

    Raises:
        LayoutError: the module is not there, or cannot be read.
    """
    compiled = kernel.compiled
    if compiled.text is None:
        raise LayoutError("Triton's cache keeps only its binary")
    module = _first(whole_modules(Source(compiled.text, f"{compiled.name}.ttgir")))
    metadata = compiled.known._replace(name=compiled.name)
    given = GivenValues(product=device_product(metadata.device))
    audit, reason = audit_with(module, shared, kernel.launch, given, known=metadata)
    place = compiled.place or f"{compiled.name}.ttgir"
    return kernels_of(audit, file=place), reason


def _first(modules: Iterable[Module]) -> Module:
    for module in modules:
        return module
    raise LayoutError("found no MLIR in it")


def _worst(kernels: Sequence[Kernel], seen: SeenKernel) -> Kernel:
    if not kernels:
        raise LayoutError(f"{seen.compiled.name} moves no data")
    return min(kernels, key=lambda kernel: kernel.rank)


def passed_over(kernels: Iterable[WatchedKernel]) -> tuple[PassedOver, ...]:
    """Return the kernels without an audit, and why."""
    return tuple(
        PassedOver(kernel.seen.compiled.name, kernel.reason or "")
        for kernel in kernels
        if kernel.audit is None
    )
