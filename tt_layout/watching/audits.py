"""The audit of kernels that were seen, each with the arguments of its launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.modules.kernel_metadata import KernelMetadata
from tt_layout.audit.summary import summaries
from tt_layout.audit.values.given import (
    PROGRAM_AXES,
    PROGRAM_COUNTS,
    GivenValues,
    plain_name,
)
from tt_layout.errors import LayoutError
from tt_layout.ir.file_aliases import whole_modules
from tt_layout.ir.module import Module
from tt_layout.mlir.source import Source
from tt_layout.reports.kernel_overview import KernelLine, PassedOver
from tt_layout.watching.seen import Launch, SeenKernel


class WatchedKernel(NamedTuple):
    """A kernel that was seen, and its audit.

    Attributes:
        seen: the kernel.
        line: its audit; None where there is none.
        reason: why there is no audit, or why the arguments were not used; None without one.
    """

    seen: SeenKernel
    line: KernelLine | None
    reason: str | None = None


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


def _audited(kernel: SeenKernel, shared: SharedWork) -> WatchedKernel:
    compiled = kernel.compiled
    if compiled.text is None:
        return WatchedKernel(kernel, None, "Triton's cache keeps only its binary")
    module = _first(whole_modules(Source(compiled.text, f"{compiled.name}.ttgir")))
    audit, reason = _with_values(module, kernel.launch, shared)
    known = KernelMetadata(compiled.name, compiled.warps, compiled.shared_bytes)
    lines = [KernelLine.of(compiled.place, module.line, one) for one in summaries(audit, known)]
    return WatchedKernel(kernel, _worst(lines, compiled.name), reason)


def _first(modules: Iterable[Module]) -> Module:
    for module in modules:
        return module
    raise LayoutError("found no MLIR in it")


def _worst(lines: Sequence[KernelLine], name: str) -> KernelLine:
    if not lines:
        raise LayoutError(f"{name} moves no data")
    return min(lines, key=lambda line: line.rank)


def _with_values(
    module: Module, launch: Launch | None, shared: SharedWork
) -> tuple[Audit, str | None]:
    """Return the audit with the values of a launch, or without any and the reason."""
    if launch is None:
        return audit_module(module, shared), None
    try:
        return audit_module(module, shared, values_of(module, launch)), None
    except LayoutError as error:
        return audit_module(module, shared), error.message


def values_of(module: Module, launch: Launch) -> GivenValues:
    """Return what a launch gives the arguments that a module has.

    What Triton took as a constant is no argument any more.
    """
    functions = AuditedModule(module, SharedWork(), None).functions
    names = {plain_name(value.name) for one in functions for value in one.arguments}
    known = {name: number for name, number in launch.values if name in names}
    counts = dict(zip(PROGRAM_COUNTS, launch.grid))
    assert len(counts) == len(PROGRAM_AXES)
    return GivenValues({**known, **counts})


def passed_over(kernels: Iterable[WatchedKernel]) -> tuple[PassedOver, ...]:
    """Return the kernels without an audit, and why."""
    return tuple(
        PassedOver(kernel.seen.compiled.name, kernel.reason or "")
        for kernel in kernels
        if kernel.line is None
    )
