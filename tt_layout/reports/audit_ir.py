"""Audits of a dump given as text, file, parsed modules or compiled kernel."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from tt_layout.audit.audit import Audit
from tt_layout.audit.values.given import GivenValues, parse_values
from tt_layout.dumps.audits import Auditor
from tt_layout.dumps.dump import TEXT, Dump, Reading, open_object
from tt_layout.errors import LayoutError, expect
from tt_layout.hardware import find_product
from tt_layout.ir.module import Module
from tt_layout.mlir.source import Source
from tt_layout.reports.audit import AuditReport


def audit_ir(
    source: Any, values: Mapping[str, int] | None = None, *, gpu: str | None = None
) -> AuditReport[tuple[Audit, ...]]:
    """Audit the kernels of a dump.

    Args:
        source: MLIR text or the path of a dump (``FILE@3`` selects a module; of the passes of a
            compilation, the last before the conversion to LLVM is taken); modules from
            `tt_layout.parse_ir`; or a compiled kernel: anything with ``asm["ttgir"]``.  Registers
            and shared memory of a compiled kernel (``n_regs``, ``n_spills``, ``metadata``, its
            binary), or of its files beside the dump, replace the estimates.
        values: kernel arguments by name; for a pointer, its address modulo 512.
        gpu: the product whose memory, clock and multiprocessors set the bounds, such as ``h100``;
            by default the first with the dump's chip.

    Returns:
        The report: ``str()`` of it is what ``tt-layout audit`` prints, ``whole`` the report with
        every finding and all tables, ``audits`` has an audit for each module, ``data()`` is the
        report as plain data.

    Raises:
        LayoutError: the dump cannot be read, no kernel has an argument of that name, or the GPU
            does not have the dump's chip.
        TypeError: the source is none of these.

    Example:
        >>> report = audit_ir('''
        ... #a = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4],
        ...                    order = [0]}>
        ... module attributes {"ttg.num-warps" = 8 : i32} {
        ...   %0 = tt.load %p : tensor<256x!tt.ptr<f16>, #a>
        ... }''')
        >>> [finding.line for finding in report.audits[0].findings]
        [5]
    """
    return audits_of(source, values, gpu, is_judged=True)


def audits_of(
    source: Any, values: Mapping[str, int] | None, gpu: str | None, *, is_judged: bool
) -> AuditReport[tuple[Audit, ...]]:
    """Audit the kernels of a dump, with or without findings.

    Args:
        source, values, gpu: as for `audit_ir`.
        is_judged: whether to look for findings, which takes as long as all the rest.
    """
    modules = _parsed(source)
    if modules is None:
        dump = open_object(source)
    else:
        dump = Dump(modules[0].source if modules else Source("", "<modules>"))
    is_path = isinstance(source, (str, os.PathLike)) and dump.source.name != TEXT
    name = str(source) if is_path else dump.source.name
    reading = Reading(is_partial=not is_path, given=given_values(values, gpu))
    auditor = Auditor(reading, explains=is_judged, is_judged=is_judged)
    audits = tuple(auditor.audits(dump, iter(modules) if modules is not None else None))
    if not audits:
        raise LayoutError(f"found no MLIR in {name}")
    auditor.check_given()
    return AuditReport(name, audits)


def given_values(values: Mapping[str, int] | None, gpu: str | None) -> GivenValues | None:
    """Return the argument values and the product of a caller; None without any.

    Raises:
        LayoutError: a value is not an integer, or the GPU is not a known product.
        TypeError: the values are not a mapping, or the GPU is not a string.
    """
    expect("values", values, Mapping, type(None))
    expect("gpu", gpu, str, type(None))
    if values is None and gpu is None:
        return None
    numbers = parse_values([f"{name}={number}" for name, number in (values or {}).items()], {})
    return numbers if gpu is None else replace(numbers, product=find_product(gpu))


def _parsed(source: Any) -> list[Module] | None:
    """Return the modules of a module or a sequence of modules; None for anything else."""
    if isinstance(source, Module):
        return [source]
    if not isinstance(source, Sequence) or isinstance(source, str):
        return None
    entries = islice(source, len(source))  # a class of its own may yield for ever
    modules = [module for module in entries if isinstance(module, Module)]
    return modules if len(modules) == len(source) else None
