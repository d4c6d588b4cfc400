"""``tt-layout audit``: the layouts of a dump, and the moves of data between them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import click

from tt_layout.audit.audit import SORTS, Audit, Change, audit_module, changes, sort_moves
from tt_layout.audit.audited_module import SharedWork
from tt_layout.audit.values.given import GivenValues, check_names
from tt_layout.cli.parameters import format_option, read_release, release_option
from tt_layout.cli.values import read_values, value_option, values_option
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir import Module, iterate_ir
from tt_layout.ir.reader import check_lines
from tt_layout.mlir.source import Source, read_source
from tt_layout.releases import Release
from tt_layout.reports.output import write

PROGRESS_FROM = 4 << 20  # characters of a dump from which a terminal is shown how far it is


class Options(NamedTuple):
    """What the command line asks for, but for the files."""

    release: Release | None
    is_partial: bool
    sort: str
    form: str
    given: GivenValues | None


def read_modules(source: Source, options: Options) -> Iterator[Module]:
    """Yield the modules of a dump, a terminal being shown how far it is.

    Raises:
        LayoutError: there is no IR in it, or it is cut off.
    """
    check_lines(source)
    is_empty = True
    with _progress(len(source.text)) as report:
        for module in iterate_ir(source, options.release, report):
            if module.error is not None and not options.is_partial:
                raise module.error.hint("--partial audits what there is")
            is_empty = False
            yield module
    if is_empty:
        message = "found no MLIR in it: no module, function, layout alias or tensor type"
        raise LayoutError(message, FileLocation(source.name))


@contextmanager
def _progress(size: int) -> Iterator[Callable[[int], None] | None]:
    if size < PROGRESS_FROM or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    columns = BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=size)
        yield lambda done: progress.update(task, completed=done)


def _emit(chunks: Sequence[bytes]) -> None:
    write(chunks, None, size=sum(len(chunk) for chunk in chunks))


def _document(head: dict[str, Any], key: str, items: Iterator[dict[str, Any]]) -> list[bytes]:
    """Return the text of ``{**head, key: [*items]}``, made item by item: a dump has many."""
    import json

    chunks, separator = [json.dumps(head, indent=2)[:-2].encode()], f',\n  "{key}": ['
    for item in items:
        text = json.dumps(item, indent=2).replace("\n", "\n    ")
        chunks.append(f"{separator}\n    {text}".encode())
        separator = ","
    empty = separator != ","
    return [*chunks, (separator + "]\n}\n" if empty else "\n  ]\n}\n").encode()]


def _audit(source: Source, options: Options) -> int:
    """Audit a dump module by module; nothing is written until all of it has been read."""
    from tt_layout.audit.data import JSON_VERSION, audit_data
    from tt_layout.audit.text import audit_lines

    modules = read_modules(source, options)
    audits = _audits(modules, options)
    if options.form == "json":
        head = {"version": JSON_VERSION, "file": source.name}
        _emit(_document(head, "modules", (audit_data(audit) for audit in audits)))
        return 0
    lines = ("\n".join(audit_lines(audit, source.name)) + "\n" for audit in audits)
    reports = [report.encode("utf-8", "backslashreplace") for report in lines]
    _emit([(b"\n" if number else b"") + report for number, report in enumerate(reports)])
    return 0


def _audits(modules: Iterator[Module], options: Options) -> Iterator[Audit]:
    """Yield the audit of each module.

    Raises:
        LayoutError: a value is given for an argument that no module has.
    """
    shared = SharedWork()
    arguments: dict[str, None] = {}
    for module in modules:
        audit = audit_module(module, shared, options.given)
        arguments.update(dict.fromkeys(audit.arguments))
        yield sort_moves(audit, options.sort)
    if options.given is not None:
        check_names(options.given, arguments)


# -- comparison -------------------------------------------------------------------------------

Pair = tuple[tuple[str, Module], tuple[str, Module]]


def pairs(sources: Sequence[Source], options: Options) -> list[Pair]:
    """Return the modules to compare.

    Of one dump each module with the next; of two, module by module where both have equally
    many, and otherwise the last of each.

    Raises:
        LayoutError: there is only one module.
    """
    read = [[(s.name, m) for m in read_modules(s, options)] for s in sources]
    if len(read) == 1:
        [modules] = read
        if len(modules) < 2:
            message = "--diff of one file compares its modules, but it has only one"
            raise LayoutError(message, FileLocation(sources[0].name))
        return list(pairwise(modules))
    before, after = read
    return list(zip(before, after)) if len(before) == len(after) else [(before[-1], after[-1])]


def _compare(sources: Sequence[Source], options: Options) -> int:
    found = [(b, a, changes(b[1], a[1])) for b, a in pairs(sources, options)]
    if options.form == "json":
        from tt_layout.audit.data import JSON_VERSION

        items = (_comparison_data(*one) for one in found)
        _emit(_document({"version": JSON_VERSION}, "comparisons", items))
    else:
        texts = ("\n".join(_comparison_lines(*one)) + "\n" for one in found)
        _emit(["\n".join(texts).encode("utf-8", "backslashreplace")])
    return 1 if any(moves for _, _, moves in found) else 0


def _comparison_lines(
    before: tuple[str, Module], after: tuple[str, Module], found: Sequence[Change]
) -> Iterator[str]:
    from tt_layout.audit.text import change_lines, heading

    for sign, (name, module) in (("---", before), ("+++", after)):
        yield f"{sign} {next(heading(module, name))}"
    removed = sum(1 for change in found if change.sign == "-")
    if not found:
        yield "the same moves"
        return
    yield from change_lines(found)
    yield f"{removed} removed, {len(found) - removed} added"


def _comparison_data(
    before: tuple[str, Module], after: tuple[str, Module], found: Sequence[Change]
) -> dict[str, Any]:
    from tt_layout.audit.data import change_data

    data: dict[str, Any] = {
        label: {"file": name, "line": m.line, "pass": m.pass_name, "stage": m.stage}
        for label, (name, m) in (("before", before), ("after", after))
    }
    for label, sign in (("removed", "-"), ("added", "+")):
        data[label] = [change_data(change) for change in found if change.sign == sign]
    return data


@click.command("audit")
@click.argument("files", nargs=-1, required=True, metavar="FILE")
@click.option(
    "--diff", "is_diff", is_flag=True, help="Compare the moves of two files, or of one's modules."
)
@click.option("--partial", is_flag=True, help="Take a dump that is cut off.")
@click.option(
    "--sort", type=click.Choice(SORTS), default="line", show_default=True, help="Order of moves."
)
@value_option
@values_option
@release_option
@format_option
def command(
    files: tuple[str, ...],
    is_diff: bool,
    partial: bool,
    sort: str,
    values: tuple[str, ...],
    values_file: str | None,
    triton: str | None,
    form: str,
) -> int:
    """Show the layouts of a .ttgir file or dump, and the moves of data between them.

    FILE is MLIR text, whatever operations are in it; - is stdin. With several modules in it,
    each is audited. Exits 0, with --diff 1 if moves were added or removed, 2 on trouble.
    """
    if len(files) > 1 + is_diff:
        takes = "two files at most with --diff" if is_diff else "one file, or two with --diff"
        raise LayoutError(f"audit takes {takes}, got {len(files)}")
    sources = [read_source(path) for path in files]
    given = read_values(values, values_file) if values or values_file is not None else None
    options = Options(read_release(triton), partial, sort, form, given)
    return _compare(sources, options) if is_diff else _audit(sources[0], options)
