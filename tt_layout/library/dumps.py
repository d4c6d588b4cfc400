"""Pages of a dump or of a compiled kernel, and dumps with other layouts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tt_layout.audit.axis import axis_info as axis_info_of
from tt_layout.dumps.dump import open_object
from tt_layout.errors import LayoutError, expect, shown
from tt_layout.ir.module import Module
from tt_layout.ir.ssa import Function, Value, read_functions
from tt_layout.library.pictures import Page
from tt_layout.releases import Release
from tt_layout.reports.audit_ir import given_values
from tt_layout.rewriting.apply import cure
from tt_layout.rewriting.report import AppliedReport

if TYPE_CHECKING:
    from tt_layout.audit.axis import AxisInfo


def explore_ir(
    source: Any,
    *,
    values: Mapping[str, int] | None = None,
    release: Release | None = None,
) -> Page:
    """Return the page of every layout of a dump over each type that uses it.

    The page has the program's lines of data movements, if its files are below the working directory
    or the folder of the dump.

    Args:
        source: MLIR text, the path of a dump (``FILE@3`` means one of its modules), or a
            compiled kernel: anything with ``asm["ttgir"]``.
        values: kernel arguments by name; ``num_programs_x`` is part of the grid.
        release: the Triton release whose rules hold.

    Raises:
        LayoutError: the dump cannot be read, or no layout of it is used with a type that it fits.
        TypeError: the source is none of these.

    Example:
        >>> explore_ir('''module {
        ...   %0 = my.op : tensor<4xf32, #ttg.linear<{register = [[1], [2]], lane = [],
        ...     warp = [], block = []}>>
        ... }''')
        <Page: <text>>
    """
    from tt_layout.page.dump import page_of_dump
    from tt_layout.reports.program_source import near

    dump = open_object(source)
    name = dump.source.name
    program = near(name if os.path.isfile(name) else None)
    given = given_values(values or None, None)
    page = page_of_dump(
        dump.source, [], release, dump.number, program, known=dump.known, given=given
    )
    return Page(page.html, name)


def apply(
    source: Any,
    finding: int | None = None,
    *,
    values: Mapping[str, int] | None = None,
    release: Release | None = None,
    gpu: str | None = None,
) -> AppliedReport:
    """Return a dump with the suggestion for a finding applied.

    Args:
        source: MLIR text, the path of a dump (``FILE@3`` means one of its modules), or a
            compiled kernel: anything with ``asm["ttgir"]``.
        finding: its number in the report of `audit_ir`; by default the first with a suggestion.
        values: kernel arguments by name.
        release: the Triton release whose rules hold.
        gpu: the product for shares, such as ``h100``; by default the first with the chip.

    Returns:
        The report: ``text`` is the new dump, ``saved`` the cycles that it saves in one program,
        ``str()`` of it what ``tt-layout apply`` prints.

    Raises:
        LayoutError: it has no suggestion, or the suggestion cannot be applied.
        TypeError: the source is none of these.

    Example:
        >>> a, b = (f"#ttg.blocked<{{sizePerThread = [1, {n}], threadsPerWarp = [4, 8], "
        ...         "warpsPerCTA = [4, 1], order = [1, 0]}>" for n in (4, 8))
        >>> applied = apply(f'''
        ... #a = {a}
        ... #b = {b}
        ... module attributes {{ttg.target = "cuda:90", "ttg.num-warps" = 4 : i32}} {{
        ...   tt.func @f(%p: tensor<64x64x!tt.ptr<f16>, #b>) {{
        ...     %0 = arith.constant dense<1.0> : tensor<64x64xf16, #a>
        ...     %1 = ttg.convert_layout %0 : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b>
        ...     tt.store %p, %1 : tensor<64x64x!tt.ptr<f16>, #b>
        ...     tt.return
        ...   }}
        ... }}''')
        >>> applied.saved
        64
        >>> print(applied.text.splitlines()[6].strip())
        %relaid_0 = arith.constant dense<1.0> : tensor<64x64xf16, #b>
    """
    expect("finding", finding, int, type(None))
    dump = open_object(source)
    given_numbers = given_values(values or None, gpu)
    numbers = [finding] if finding is not None else []
    change = cure(
        dump.source,
        numbers,
        module=dump.number,
        release=release,
        given=given_numbers,
        known=dump.known,
    )
    return AppliedReport(change, dump.source.name)


def axis_info(
    source: Function | Module | Sequence[Module],
    functions: Sequence[Function] = (),
    *,
    function: str | None = None,
) -> Mapping[str, AxisInfo]:
    """Return the compiler's AxisInfo of every value of a function, by name.

    Args:
        source: a function from `read_functions`, a module, or the result of `parse_ir`.
        functions: all functions of the module if some of them call the function, so that its
            arguments inherit their knowledge.  Not needed with a module.
        function: the name of the function, if a module has several.

        Raises:
            LayoutError: the function is ambiguous.

    Example:
        >>> from tt_layout import parse_ir
        >>> text = '''tt.func @f(%n: i32 {tt.divisibility = 16 : i32}) {
        ...   %0 = tt.splat %n : i32 -> tensor<64xi32>
        ... }'''
        >>> print(axis_info(parse_ir(text))["%0"])
        contiguity = [1], divisibility = [16], constancy = [64], constant = none
    """
    if not isinstance(functions, Sequence) or not all(
        isinstance(item, Function) for item in functions
    ):
        raise TypeError(f"functions must be functions of a module, got {shown(functions)}")
    if isinstance(source, Function):
        return _by_name(axis_info_of(source, functions))
    modules = [source] if isinstance(source, Module) else source
    if not isinstance(modules, Sequence) or not all(isinstance(item, Module) for item in modules):
        raise TypeError(f"source must be a function or modules, got {shown(source)}")
    every = [(of, group) for group in map(read_functions, modules) for of in group]
    matching = [(of, group) for of, group in every if function in (None, of.name)]
    if len(matching) != 1:
        names = ", ".join(f"@{of.name}" for of, _ in every) or "none"
        raise LayoutError(f"which function is meant? There are {names}: choose by function=")
    return _by_name(axis_info_of(*matching[0]))


def _by_name(infos: Mapping[Value, AxisInfo]) -> Mapping[str, AxisInfo]:
    return {value.name: info for value, info in infos.items()}
