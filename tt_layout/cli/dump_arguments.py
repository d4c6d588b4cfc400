"""Parameters inferred from a dump (types, targets, layouts of a line), and shell completion.

Missing parameters of a command that takes layouts are inferred before they are converted: from
``FILE:ALIAS`` a type that the alias is used with, and the target; from ``FILE:LINE`` also the
layouts of the data movement on that line.  ``plot`` also draws the multiplication on it, and
``reduce`` takes the layout and the axis of the reduction.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from tt_layout.cli.output import note
from tt_layout.encodings import Encoding
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir.data_movements import LOCAL_ACCESSES, MovementKind
from tt_layout.ir.file_aliases import FileAliases, split_module, whole_modules
from tt_layout.ir.movement_lines import movement_on_line
from tt_layout.mlir.source import read_source
from tt_layout.safe_text import safe, shortened
from tt_layout.tuples import NamedTuple
from tt_layout.wording import plural

if TYPE_CHECKING:
    from tt_layout.ir.module import Module
    from tt_layout.ir.operations import MovementOperation
    from tt_layout.ir.types import IRType

MAX_NAMED = 4  # types that a note names

_OF_PAIRS = ("conflicts", "convert", "diff")

MAX_HELP = 60
MAX_ALIASES = 200


class DumpName(NamedTuple):
    """An argument that names an alias or a line of a dump.

    Attributes:
        text: the argument as given.
        file: the dump, possibly with a module.
        what: an alias or a line.
    """

    text: str
    file: str
    what: str

    @property
    def line(self) -> int | None:
        """The line; None for an alias."""
        return int(self.what) if self.what.isdecimal() and len(self.what) < 10 else None

    def error(self, message: str) -> LayoutError:
        """Return an error that points at the alias or line."""
        return LayoutError(message, FileLocation(self.file, self.line))


class _Added(NamedTuple):
    """Layouts that replace an argument, and other parameters inferred from an operation."""

    places: Mapping[str, Sequence[str]]
    tensor: str | None
    target: str | None
    values: Mapping[str, Any] = {}
    others: Sequence[str] = ()


def inferred(context: click.Context, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of a command's parameters, with those inferred from a dump.

    Args:
        context: the context of the command.
        values: the given values, by parameter name.

    Raises:
        LayoutError: the dump has no such alias or operation.
        click.UsageError: there are more layouts than the command takes.
    """
    command = context.command
    if command.name in ("plot", "page") and _is_missing(values, "path"):
        dump = _whole_dump(values.get("layout"), command.name)
        if dump:
            return {**dump, **_replaced(context, values, {values["layout"]: ()})}
    names = list(_names(command, values))
    if not names:
        _refuse_languages(command, values)
        return values
    lines = [name for name in names if name.line is not None]
    if command.name == "plot" and lines:
        is_multiplication = _is_multiplication(lines[0])
        if is_multiplication or values.get("view") == "sectors":
            rest = _replaced(context, values, {lines[0].text: ()})
            place = {"path": lines[0].file, "line": lines[0].what}
            return {**({"view": "mma"} if is_multiplication else {}), **rest, **place}
    is_typed = not _is_missing(values, "tensor")
    added = _of_line(command, lines[0], values) if lines else _of_aliases(names, is_typed)
    found = {**_replaced(context, values, added.places), **added.values}
    if added.tensor is not None and not is_typed:
        found["tensor"] = added.tensor
        if added.others:
            note(f"the type is {added.tensor}; -t takes another: {', '.join(added.others)}")
    target = _target(command, added)
    if target is not None and _is_missing(values, "target"):
        found["target"] = target
    return found


def _replaced(
    context: click.Context, values: Mapping[str, Any], places: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return values with the texts of some arguments replaced.

    Raises:
        click.UsageError: there are more than the command takes.
    """
    arguments = [
        parameter for parameter in context.command.params if isinstance(parameter, click.Argument)
    ]
    texts = [
        new
        for parameter in arguments
        for text in _texts(values.get(parameter.name or ""))
        for new in places.get(text, [text])
    ]
    left = dict(values)
    for parameter in arguments:
        name = parameter.name or ""
        number = len(texts) if parameter.nargs < 0 else 1
        taken, texts = texts[:number], texts[number:]
        left.pop(name, None)
        if taken:
            left[name] = tuple(taken) if parameter.nargs < 0 else taken[0]
    if texts:
        nouns = plural("argument", len(texts))
        context.fail(f"Got unexpected extra {nouns} ({' '.join(texts)})")
    return left


def _texts(value: Any) -> Iterator[str]:
    """Yield the given texts of an argument; none where it is missing."""
    for text in value if isinstance(value, (tuple, list)) else (value,):
        if isinstance(text, str):
            yield text


def _whole_dump(text: object, command: str) -> dict[str, Any]:
    """Return the values for a dump given in place of a layout, if there is one."""
    from tt_layout.ir.file_aliases import split_line, split_module

    if not isinstance(text, str):
        return {}
    file, line = split_line(text) if command == "page" else (text, None)
    path = split_module(file).path
    if not os.path.isfile(path) or path.endswith(".json"):
        return {}
    return {"path": file, "line": line} if line is not None else {"path": file}


def _target(command: click.Command, added: _Added) -> str | None:
    """Return the GPU of a dump; for plots without an access, None if it is unknown."""
    from tt_layout.hardware import find_target

    if added.target is None or command.name != "plot" or "access" in added.values:
        return added.target
    try:
        return find_target(added.target).name
    except LayoutError:
        return None


def _is_multiplication(name: DumpName) -> bool:
    """Tell whether a line has a matrix multiplication, and no data movement."""
    from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
    from tt_layout.audit.operations.multiplications import multiplications
    from tt_layout.ir.file_aliases import named_modules

    for module in named_modules(name.file):
        if module.operations_on(name.line or 0):
            return False
        products = multiplications(AuditedModule(module, SharedWork()))
        if any(product.line == name.line for product in products):
            return True
    return False


def _is_missing(values: Mapping[str, Any], name: str) -> bool:
    """Tell whether an option is missing; newer versions of click have a sentinel for that."""
    return not isinstance(values.get(name), str)


def _refuse_languages(command: click.Command, values: Mapping[str, Any]) -> None:
    """Refuse a file in another language, before missing options are reported.

    Raises:
        NothingFoundError: an argument is one.
    """
    for text in _arguments(command, values):
        if not text.endswith(".json") and os.path.isfile(text):
            from tt_layout.mlir.languages import read_mlir

            read_mlir(text)


def _arguments(command: click.Command, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arguments that may name a file."""
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            for text in _texts(values.get(parameter.name or "")):
                if not text.lstrip().startswith("#"):
                    yield text


def _names(command: click.Command, values: Mapping[str, Any]) -> Iterator[DumpName]:
    """Yield the arguments that name an alias or a line of a dump."""
    from tt_layout.ir.file_aliases import split_module

    for text in _arguments(command, values):
        file, separator, what = text.rpartition(":")
        if separator and what and os.path.isfile(split_module(file).path):
            yield DumpName(text, file, what.removeprefix("#"))


def _of_aliases(names: Sequence[DumpName], is_typed: bool) -> _Added:
    """Return the common type of aliases, or else that of the first, and the target.

    Raises:
        LayoutError: no type is given, and the file lacks the alias or never uses it in a type.
    """
    from tt_layout.ir.used_types import used_types

    used_by_file = {file: used_types(file) for file in dict.fromkeys(name.file for name in names)}
    types = [[t.span.text for t in used_by_file[n.file].types.get(n.what, ())] for n in names]
    targets = {used.target for used in used_by_file.values()}
    target = targets.pop() if len(targets) == 1 else None
    if not types[0]:
        if not is_typed:
            from tt_layout.ir.file_aliases import FileAliases, split_module
            from tt_layout.mlir.languages import read_mlir

            name = names[0]
            path, number = split_module(name.file)
            FileAliases(read_mlir(path)).choose([name.what], number).table.layout(name.what)
            raise name.error(f"the file has #{name.what} on no type: give one with -t")
        return _Added({}, None, target)
    shared = [t for t in types[0] if all(_bare(t) in map(_bare, texts) for texts in types[1:])]
    chosen = (shared or types[0])[0]
    rest = [text for text in types[0] if text != chosen][:MAX_NAMED]
    return _Added({}, chosen, target, others=rest)


def _bare(text: str) -> str:
    """Return the sizes and the element of a type.

    Example:
        >>> _bare("!ttg.memdesc<64x64xf16>"), _bare("tensor<64x64xf16>")
        ('64x64xf16', '64x64xf16')
    """
    return text.partition("<")[2].removesuffix(">")


def _of_line(command: click.Command, name: DumpName, values: Mapping[str, Any]) -> _Added:
    """Return the layouts, the type and the target of the operation on a line.

    Raises:
        LayoutError: there is none, or its layouts are not those that the command takes.
    """
    if command.name == "reduce":
        return _of_reduction(name, values)
    module, operation = movement_on_line(name.file, name.line or 0)
    both = operation.source, operation.target
    ends = [end for end in both if end is not None and _has_layout(end)]
    moved = operation.moved or operation.target
    if not ends or moved is None:
        raise name.error(f"{operation.name} has no layouts")
    is_access = operation.group in LOCAL_ACCESSES
    if command.name == "conflicts" and operation.group is MovementKind.CONVERSION:
        raise name.error("this is a conversion between register layouts: use convert")
    if is_access and command.name == "swizzle":
        return _accesses(module, operation, name, _texts(values.get("more_writers")))
    if command.name in _OF_PAIRS and len(ends) < 2:
        raise name.error(f"{operation.name} has one layout, and {command.name} takes two")
    layouts = [str(end.encoding) for end in ends]
    if command.name not in (*_OF_PAIRS, "plot"):
        layouts = layouts[-1:]
    told: dict[str, Any] = {}
    if is_access and command.name in ("conflicts", "plot"):
        told["access"] = operation.group.partition(" ")[2]
        _refuse_parts(operation, name)
        if command.name == "plot" and _is_missing(values, "view") and _conflicts(module, operation):
            told["view"] = "cycles"
    return _Added({name.text: layouts}, f"tensor<{moved.plain}>", module.target_option, told)


def _of_reduction(name: DumpName, values: Mapping[str, Any]) -> _Added:
    """Return the layout, the type, the axis and the target of the reduction on a line.

    Raises:
        LayoutError: there is none.
    """
    from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
    from tt_layout.ir.file_aliases import named_modules

    for module in named_modules(name.file):
        for full in AuditedModule(module, SharedWork()).operations:
            operation = full.operation
            if operation.line != name.line or not operation.name.endswith(".reduce"):
                continue
            held = full.function.type_of(operation.operands[0])
            if held is not None and _has_layout(held):
                ordering = operation.attributes.get("reduction_ordering")
                said = {"axis": operation.integer("axis"), "ordering": ordering}
                told = {
                    option: value
                    for option, value in said.items()
                    if value is not None and _is_missing(values, option)
                }
                tensor = f"tensor<{held.plain}>"
                layouts = {name.text: [str(held.encoding)]}
                return _Added(layouts, tensor, module.target_option, told)
    raise name.error("no reduction is on that line")


def _conflicts(module: Module, operation: MovementOperation) -> bool:
    """Tell whether an access has bank conflicts; False for an unknown GPU."""
    from tt_layout.hardware import find_target
    from tt_layout.mlir.types import parse_type
    from tt_layout.reports.conflicts import conflicts_report

    source, target = operation.source, operation.target
    if source is None or target is None or not module.target_option:
        return False
    if not isinstance(source.encoding, Encoding) or not isinstance(target.encoding, Encoding):
        return False
    kind = operation.group.partition(" ")[2]
    held = parse_type(f"tensor<{(operation.moved or target).plain}>")
    try:
        gpu = find_target(module.target_option)
        report = conflicts_report(source.encoding, target.encoding, held, gpu, (kind,))
    except LayoutError:
        return False
    return any(access.extra_wavefronts for access in report.accesses)


def _has_layout(end: IRType) -> bool:
    return isinstance(end.encoding, Encoding)


def _refuse_parts(operation: MovementOperation, name: DumpName) -> None:
    """Refuse an access to a part of a buffer, since the layout describes the whole buffer."""
    for end in (operation.source, operation.target):
        if end is not None and end.allocation is not None and end.is_memory:
            shape = end.tensor_type().shape
            if shape != end.shape:
                raise name.error("the access is to a part of a buffer; tt-layout audit costs it")


def _accesses(
    module: Module, operation: MovementOperation, name: DumpName, more_writers: Iterator[str]
) -> _Added:
    """Return the layouts of all accesses to buffers of a layout, writers first."""
    memory = operation.memory
    assert memory is not None
    sides: dict[str, dict[str, None]] = {MovementKind.LOCAL_STORE: {}, MovementKind.LOCAL_LOAD: {}}
    for access in module.operations:
        if access.group in sides:
            ends = access.source, access.target
            register, buffer = ends if access.group is MovementKind.LOCAL_STORE else ends[::-1]
            is_same = buffer is not None and buffer.encoding == memory.encoding
            if is_same and register is not None and register.shape == memory.shape:
                sides[access.group][str(register.encoding)] = None
    writers, readers = list(sides[MovementKind.LOCAL_STORE]), list(sides[MovementKind.LOCAL_LOAD])
    if not writers:
        writers = readers
    told = {"more_writers": [*more_writers, *writers[1:]]} if writers[1:] else {}
    tensor = f"tensor<{memory.plain}>"
    return _Added({name.text: [writers[0], *readers]}, tensor, module.target_option, told)


def of_dump(incomplete: str) -> list[CompletionItem]:
    """Return the completions ``FILE:ALIAS`` and ``FILE:LINE`` of an incomplete argument.

    There are none for a file that cannot be read: a shell has no place for messages.
    """
    name, _, begun = incomplete.rpartition(":")
    try:
        path, number = split_module(name)
        source = read_source(path)
        table = FileAliases(source).choose((), number).table
        completions = [
            (alias, str(table.definitions.text(alias) or ""))
            for alias in table.layout_names(MAX_ALIASES)
        ]
        if begun.isdecimal():
            completions += [
                (str(operation.line), operation.name)
                for module in whole_modules(source, None, number, is_partial=True)
                for operation in module.operations
            ]
    except (LayoutError, OSError):
        return []
    wanted = begun.removeprefix("#")
    return [
        CompletionItem(f"{name}:{what}", help=safe(shortened(text, MAX_HELP)))
        for what, text in completions
        if what.startswith(wanted)
    ]
