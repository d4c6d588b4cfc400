"""Which GPUs a kernel's shared memory fits, and how deep its rings may be: ``audit --fits``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tt_layout.audit.fits import GpuFit, KernelFit, kernel_fits
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.stages import PIPELINED
from tt_layout.ir.module import Module
from tt_layout.kernels.metadata import NO_METADATA, KernelMetadata
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
    """The shared memory of the kernels of a dump beside that of GPUs.

    Attributes:
        file: the name of the dump.
        modules: its modules, perhaps made as they are asked for.
        known: what is known of the compiled kernel.
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
            for found in self._fits(module):
                yield Line()
                yield from _lines(found, self.known)

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/registers.md``."""
        modules = (
            {
                "line": module.line,
                "kernels": [_data(found, self.known) for found in self._fits(module)],
            }
            for module in self.modules
        )
        return {"version": JSON_VERSION, "file": self.file, "modules": list(modules)}

    def _fits(self, module: Module) -> list[KernelFit]:
        return kernel_fits(AuditedModule(module, SharedWork()), self.known)


def _lines(found: KernelFit, known: KernelMetadata) -> Iterator[Line | Table]:
    rings = f", rings of {count(found.depth, 'buffer')} at most" if found.depth is not None else ""
    stages = f", num_stages {known.stages}" if known.stages is not None else ""
    yield Line(f"@{found.function}: {found.bytes} bytes of shared memory{rings}{stages}")
    for allocation in found.peak:
        what = allocation.value or (allocation.operation or "scratch")
        yield Line(f"  line {allocation.line}: {allocation.bytes} bytes of {what} at its peak")
    if found.unknown is not None:
        yield Line(f"  the shared memory of a CTA is not known for {found.unknown}, of this dump")
    header = ["GPU", "needed", "allowed", "fits", "deepest ring"]
    rows = [_cells(found, gpu) for gpu in found.gpus]
    yield Table(header, rows, ["needed", "allowed", "deepest ring"])
    yield Line("  for other GPUs the compiler chooses other layouts: needed is this dump's")
    for depth, size in found.by_depth.items():
        if depth > (found.depth or 0) + MORE_DEPTHS:
            break
        mark = " (this dump)" if depth == found.depth else ""
        yield Line(f"  {_rings_text(found, known, depth)}: {size} bytes{mark}")
    for note in found.pipelining.notes:
        yield Line(f"  {note}")


def _rings_text(found: KernelFit, known: KernelMetadata, depth: int) -> str:
    """Return how deep rings are, and how many stages make them so where that is known."""
    text = count(depth, "buffer")
    if known.stages is None or found.depth is None:
        return text
    more, rule = depth - found.depth, found.pipelining
    stages = known.stages + more
    is_known = stages >= PIPELINED and rule.refusal(stages, known.stages) is None
    if not is_known or rule.buffers_more(stages, known.stages) != more:
        return text
    return f"{text}, num_stages {stages}"


def fit_text(found: KernelFit) -> str:
    """Return in a line how deep the rings of a kernel may be, and which GPUs it does not fit."""
    own = next((gpu for gpu in found.gpus if gpu.is_own), None)
    text = f"@{found.function}: {found.bytes} bytes of shared memory"
    if own is not None and own.depth is not None:
        text += f"; rings of up to {count(own.depth, 'buffer')} fit {own.gpu}"
    if found.unknown is not None:
        text += f"; what a CTA may have is not known for {found.unknown}"
    others = [gpu.gpu for gpu in found.gpus if not gpu.fits]
    return f"{text}; too much for {', '.join(others)}" if others else text


def _cells(found: KernelFit, gpu: GpuFit) -> list[str]:
    name = f"{gpu.gpu}, of this dump" if gpu.is_own else gpu.gpu
    depth = str(gpu.depth) if gpu.depth is not None else "-"
    return [name, str(found.bytes), str(gpu.limit), "yes" if gpu.fits else "no", depth]


def _data(found: KernelFit, known: KernelMetadata) -> dict[str, Any]:
    return {
        "function": found.function,
        "line": found.line,
        "bytes": found.bytes,
        "num_stages": known.stages,
        "depth": found.depth,
        "by_depth": {str(depth): size for depth, size in found.by_depth.items()},
        "gpus": [gpu._asdict() for gpu in found.gpus],
        "peak": [
            {
                "kind": allocation.kind,
                "value": allocation.value,
                "line": allocation.line,
                "bytes": allocation.bytes,
            }
            for allocation in found.peak
        ],
        "notes": list(found.pipelining.notes),
    }
