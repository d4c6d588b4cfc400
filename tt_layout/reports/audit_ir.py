"""The audit of whatever holds a dump: its text, its file, its modules, a compiled kernel."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from tt_layout.audit.audit import Audit, audit_module, check_product
from tt_layout.audit.modules.audited_module import SharedWork
from tt_layout.audit.values.given import GivenValues, check_names, parse_values
from tt_layout.errors import LayoutError, expect
from tt_layout.hardware import find_product
from tt_layout.ir import parse_ir
from tt_layout.ir.file_aliases import split_module, whole_modules
from tt_layout.ir.module import Module
from tt_layout.ir.passes import chosen_modules
from tt_layout.kernels.metadata import (
    NO_METADATA,
    KernelMetadata,
    metadata_beside,
    metadata_of_kernel,
)
from tt_layout.mlir.languages import no_mlir
from tt_layout.mlir.source import Source, read_source
from tt_layout.mlir.wrappers import unwrapped
from tt_layout.reports.audit import AuditReport

STAGE = "ttgir"
"""What a compiled kernel calls the text in which layouts stand."""


def audit_ir(
    source: Any, values: Mapping[str, int] | None = None, *, gpu: str | None = None
) -> AuditReport[tuple[Audit, ...]]:
    """Audit the kernels of a dump.

    Args:
        source: MLIR text or the path of a dump (``FILE@3`` means one of its modules; of the
            passes of a compilation the last before the conversion to LLVM is taken); modules as
            `tt_layout.parse_ir` returns them; or a compiled kernel: anything with
            ``asm["ttgir"]``.  Registers and shared memory of a compiled kernel (``n_regs``,
            ``n_spills``, ``metadata``, its binary), or of the files of one beside the dump, go
            before what is estimated.
        values: what arguments of the kernels are, by name; of a pointer its address modulo 512.
        gpu: the product whose memory, clock and multiprocessors bounds are of, such as ``h100``;
            by default the first of the dump's chip.

    Returns:
        The report: ``str()`` of it is what ``tt-layout audit`` prints, ``whole`` the report with
        every finding and all tables, ``audits`` has an audit for each module, ``data()`` is the
        report as plain data.

    Raises:
        LayoutError: the dump cannot be read, a value is of an argument that no kernel has, or the
            GPU is not of the dump's chip.
        TypeError: the source is nothing of all that.

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
    """Return what `audit_ir` does; findings are looked for where that is wanted.

    Args:
        source, values, gpu: as for `audit_ir`.
        is_judged: whether findings are looked for, which takes as long as all the rest.
    """
    name, modules, known = _opened(source)
    given = given_values(values, gpu)
    shared = SharedWork(explains=is_judged)
    audits = tuple(
        audit_module(module, shared, given, known, is_judged=is_judged) for module in modules
    )
    if not audits:
        if isinstance(source, str):
            path = split_module(source).path
            raise no_mlir(Source(source, name) if "\n" in source else read_source(path))
        raise LayoutError(f"found no MLIR in {name}")
    if given is not None:
        check_names(given, {argument: None for audit in audits for argument in audit.arguments})
        check_product(given, [audit.chip for audit in audits])
    return AuditReport(name, audits)


def given_values(values: Mapping[str, int] | None, gpu: str | None) -> GivenValues | None:
    """Return the values of arguments and the product that a caller gives; None without any.

    Raises:
        LayoutError: a value is no integer, or the GPU no product.
        TypeError: the values are no mapping, or the GPU is no text.
    """
    expect("values", values, Mapping, type(None))
    expect("gpu", gpu, str, type(None))
    if values is None and gpu is None:
        return None
    numbers = parse_values([f"{name}={number}" for name, number in (values or {}).items()], {})
    return numbers if gpu is None else replace(numbers, product=find_product(gpu))


def _opened(source: Any) -> tuple[str, Iterable[Module], KernelMetadata]:
    """Return the name of a dump, its modules, and what is known of the compiled kernel."""
    if isinstance(source, Module):
        return source.source.name, [source], NO_METADATA
    if isinstance(source, Sequence) and not isinstance(source, str):
        entries = islice(source, len(source))  # a class of its own may yield for ever
        modules = [module for module in entries if isinstance(module, Module)]
        if len(modules) == len(source):
            return modules[0].source.name if modules else "<modules>", modules, NO_METADATA
    texts = getattr(source, "asm", None)
    if texts is not None:
        return _of_kernel(source, texts)
    if isinstance(source, str) and "\n" in source:
        return "<text>", chosen_modules(parse_ir(unwrapped(source))), NO_METADATA
    if isinstance(source, (str, os.PathLike)):
        file = split_module(os.fspath(source))
        opened = whole_modules(read_source(file.path), None, file.module)
        opened = chosen_modules(opened) if file.module is None else opened
        return str(source), opened, metadata_beside(file.path)
    message = 'expected MLIR text, a path, modules, or a compiled kernel with asm["ttgir"]'
    raise TypeError(f"{message}, got {type(source).__name__}")


def _of_kernel(kernel: Any, texts: Any) -> tuple[str, Iterable[Module], KernelMetadata]:
    try:
        text = texts[STAGE]
    except (KeyError, TypeError):
        raise LayoutError(f"the kernel has no {STAGE}: it was not compiled for a GPU") from None
    name = getattr(kernel, "name", None)
    title = f"{name}.{STAGE}" if isinstance(name, str) else f"<{STAGE}>"
    return title, parse_ir(text), metadata_of_kernel(kernel)
