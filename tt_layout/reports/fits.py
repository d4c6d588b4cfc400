"""Which GPUs a kernel's shared memory fits, and how deep its rings may be: ``audit --fits``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tt_layout.audit.fits import GpuFit, KernelFit, kernel_fits
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.ir.module import Module
from tt_layout.reports.audit import heading
from tt_layout.reports.audit_data import JSON_VERSION
from tt_layout.reports.fitted import Fitted, Table
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line

MORE_DEPTHS = 2
"""Depths of rings beyond the dump's that are listed as text."""


@dataclass(frozen=True, repr=False)
class FitsReport(Printed):
    """The shared memory of the kernels of a dump beside that of GPUs.

    Attributes:
        file: the name of the dump.
        modules: its modules, perhaps made as they are asked for.
    """

    file: str
    modules: Iterable[Module]

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield a table for each kernel."""
        for number, module in enumerate(self.modules):
            if number:
                yield Line()
            yield from heading(module, self.file)
            for found in _fits(module):
                yield Line()
                yield from _lines(found)

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/registers.md``."""
        modules = (
            {"line": module.line, "kernels": [_data(found) for found in _fits(module)]}
            for module in self.modules
        )
        return {"version": JSON_VERSION, "file": self.file, "modules": list(modules)}


def _fits(module: Module) -> list[KernelFit]:
    return kernel_fits(AuditedModule(module, SharedWork()))


def _lines(found: KernelFit) -> Iterator[Line | Fitted]:
    rings = f", rings of {found.depth} buffers at most" if found.depth is not None else ""
    yield Line(f"@{found.function}: {found.bytes} bytes of shared memory{rings}")
    for one in found.peak:
        what = one.value or (one.operation or "scratch")
        yield Line(f"  line {one.line}: {one.bytes} bytes of {what} at its peak")
    header = ["GPU", "needed", "allowed", "fits", "deepest ring"]
    rows = [_cells(found, gpu) for gpu in found.gpus]
    yield Table(header, rows, ["needed", "allowed", "deepest ring"])
    for depth, size in found.by_depth.items():
        if depth > (found.depth or 0) + MORE_DEPTHS:
            break
        mark = " (this dump)" if depth == found.depth else ""
        yield Line(f"  {depth} buffers: {size} bytes{mark}")


def _cells(found: KernelFit, gpu: GpuFit) -> list[str]:
    name = f"{gpu.gpu}, of this dump" if gpu.is_own else gpu.gpu
    depth = str(gpu.depth) if gpu.depth is not None else "-"
    return [name, str(found.bytes), str(gpu.limit), "yes" if gpu.fits else "no", depth]


def _data(found: KernelFit) -> dict[str, Any]:
    return {
        "function": found.function,
        "line": found.line,
        "bytes": found.bytes,
        "depth": found.depth,
        "by_depth": {str(depth): size for depth, size in found.by_depth.items()},
        "gpus": [gpu._asdict() for gpu in found.gpus],
        "peak": [
            {"kind": one.kind, "value": one.value, "line": one.line, "bytes": one.bytes}
            for one in found.peak
        ],
    }
