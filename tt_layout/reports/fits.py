"""GPUs that a kernel's shared memory fits, and the depth of its buffer rings: ``audit --fits``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tt_layout.audit.fits import GpuFit, KernelFit, kernel_fits
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.stages import PIPELINED
from tt_layout.ir.module import Module
from tt_layout.kernels.metadata import NO_METADATA, KernelMetadata
from tt_layout.records import dataclass
from tt_layout.reports.audit import heading
from tt_layout.reports.audit_data import JSON_VERSION
from tt_layout.reports.fitted import Fitted, Table
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line
from tt_layout.wording import count

MORE_DEPTHS = 2
"""Depths of rings beyond the dump's that are listed as text."""


@dataclass(frozen=True, repr=False)
class FitsReport(Printed):
    """The shared memory of a dump's kernels compared with that of GPUs.

    Attributes:
        file: the name of the dump.
        modules: its modules, possibly made on demand.
        known: metadata of the compiled kernel.
    """

    file: str
    modules: Iterable[Module]
    known: KernelMetadata = NO_METADATA

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield a table for each kernel."""
        for number, module in enumerate(self.modules):
            if number:
                yield Line()
            yield from heading(module, self.file)
            for fit in self._fits(module):
                yield Line()
                yield from _lines(fit, self.known)

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/registers.md``."""
        modules = (
            {
                "line": module.line,
                "kernels": [_data(fit, self.known) for fit in self._fits(module)],
            }
            for module in self.modules
        )
        return {"version": JSON_VERSION, "file": self.file, "modules": list(modules)}

    def _fits(self, module: Module) -> list[KernelFit]:
        return kernel_fits(AuditedModule(module, SharedWork()), self.known)


def _lines(fit: KernelFit, known: KernelMetadata) -> Iterator[Line | Table]:
    rings = f", rings of {count(fit.depth, 'buffer')} at most" if fit.depth is not None else ""
    stages = f", num_stages {known.stages}" if known.stages is not None else ""
    yield Line(f"@{fit.function}: {fit.bytes} bytes of shared memory{rings}{stages}")
    for allocation in fit.peak:
        what = allocation.value or (allocation.operation or "scratch")
        yield Line(f"  line {allocation.line}: {allocation.bytes} bytes of {what} at its peak")
    if fit.unknown is not None:
        yield Line(f"  the shared memory of a CTA is not known for {fit.unknown}, of this dump")
    header = ["GPU", "needed", "allowed", "fits", "deepest ring"]
    rows = [_cells(fit, gpu) for gpu in fit.gpus]
    yield Table(header, rows, ["needed", "allowed", "deepest ring"])
    yield Line("  for other GPUs the compiler chooses other layouts: needed is this dump's")
    for depth, size in fit.by_depth.items():
        if depth > (fit.depth or 0) + MORE_DEPTHS:
            break
        mark = " (this dump)" if depth == fit.depth else ""
        yield Line(f"  {_rings_text(fit, known, depth)}: {size} bytes{mark}")
    for note in fit.pipelining.notes:
        yield Line(f"  {note}")


def _rings_text(fit: KernelFit, known: KernelMetadata, depth: int) -> str:
    """Return the depth of rings, and the num_stages that gives it where that is known."""
    text = count(depth, "buffer")
    if known.stages is None or fit.depth is None:
        return text
    deeper, rule = depth - fit.depth, fit.pipelining
    stages = known.stages + deeper
    is_known = stages >= PIPELINED and rule.refusal(stages, known.stages) is None
    if not is_known or rule.buffers_more(stages, known.stages) != deeper:
        return text
    return f"{text}, num_stages {stages}"


def fit_text(fit: KernelFit) -> str:
    """Return a line on the possible depth of rings, and the GPUs that the kernel does not fit."""
    dump_gpu = next((gpu for gpu in fit.gpus if gpu.is_own), None)
    text = f"@{fit.function}: {fit.bytes} bytes of shared memory"
    if dump_gpu is not None and dump_gpu.depth is not None:
        text += f"; rings of up to {count(dump_gpu.depth, 'buffer')} fit {dump_gpu.gpu}"
    if fit.unknown is not None:
        text += f"; the shared memory of a CTA is unknown for {fit.unknown}"
    too_small = [gpu.gpu for gpu in fit.gpus if not gpu.fits]
    return f"{text}; too much for {', '.join(too_small)}" if too_small else text


def _cells(fit: KernelFit, gpu: GpuFit) -> list[str]:
    name = f"{gpu.gpu}, of this dump" if gpu.is_own else gpu.gpu
    depth = str(gpu.depth) if gpu.depth is not None else "-"
    return [name, str(fit.bytes), str(gpu.limit), "yes" if gpu.fits else "no", depth]


def _data(fit: KernelFit, known: KernelMetadata) -> dict[str, Any]:
    return {
        "function": fit.function,
        "line": fit.line,
        "bytes": fit.bytes,
        "num_stages": known.stages,
        "depth": fit.depth,
        "by_depth": {str(depth): size for depth, size in fit.by_depth.items()},
        "gpus": [gpu._asdict() for gpu in fit.gpus],
        "peak": [
            {
                "kind": allocation.kind,
                "value": allocation.value,
                "line": allocation.line,
                "bytes": allocation.bytes,
            }
            for allocation in fit.peak
        ],
        "notes": list(fit.pipelining.notes),
    }
