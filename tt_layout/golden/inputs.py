"""Inputs of a case: its layouts, its type and its release."""

from __future__ import annotations

from functools import lru_cache

from tt_layout.encodings import Encoding
from tt_layout.encodings.alias_table import AliasTable
from tt_layout.encodings.parsing import parse_layout
from tt_layout.encodings.registry import begins_as_attribute
from tt_layout.enums import MemorySpace
from tt_layout.errors import LayoutError, pointing_at
from tt_layout.files import stamp_of
from tt_layout.golden.case import Case
from tt_layout.ir.file_aliases import FileAliases, split_module
from tt_layout.ir.movement_lines import movement_on_line
from tt_layout.mlir.aliases import is_alias_name
from tt_layout.mlir.source import Span, read_source
from tt_layout.mlir.types import TensorType, parse_type
from tt_layout.notation.context import Context
from tt_layout.notation.registry import read_layout
from tt_layout.releases import Release
from tt_layout.tuples import NamedTuple

MAX_DIGITS = 9  # of the number of a line

SPACES = {"with": MemorySpace.SHARED}
"""Key of a case -> the memory space of its layout, where that is not open."""


def layout_key(case: Case) -> str:
    """Return the key that holds the layout of a case: ``layout``, ``alias`` or ``line``."""
    return next((key for key in ("layout", "line") if case.get(key) is not None), "alias")


def encoding(case: Case) -> Encoding:
    """Return the layout of a case, from its attribute, or an alias or a line of its file."""
    key = layout_key(case)
    if key == "line":
        return moved_on_line(case).before
    return _attribute(case, key) if key == "layout" else _alias(case, key)


def other_encoding(case: Case, key: str) -> Encoding:
    """Return the layout of a key with an attribute, or an alias in the case's file.

    For a case with a line it is the layout after the data movement.
    """
    if layout_key(case) == "line":
        return moved_on_line(case).after
    return _alias(case, key) if is_alias_name(case.text(key) or "") else _attribute(case, key)


def _attribute(case: Case, key: str) -> Encoding:
    text, name = case.text(key) or "", case.label(key)
    if begins_as_attribute(text):
        return parse_layout(text, release=release(case), name=name)
    tensor = tensor_type(case) if case.get("type") is not None else None
    context = Context(name=name, release=release(case), memory_space=SPACES.get(key))
    return read_layout(text, context.over(tensor))


def _alias(case: Case, key: str) -> Encoding:
    file, alias = case.text("file"), (case.text(key) or "").removeprefix("#")
    if file is None:
        message = f"{key} is the alias #{alias}, but the case has no file; write the attribute"
        raise LayoutError(message, case.span(key))
    table = _table(case, file, alias)
    if alias not in table.definitions:
        message = table.unknown(alias, f" in {table.source.name}")
        raise LayoutError(message, case.span(key))
    return table.layout(alias, release(case))


def _table(case: Case, file: str, alias: str) -> AliasTable:
    path, module = split_module(str(case.folder / file))
    return _aliases(path, stamp_of(path)).choose([alias], module).table


def defined_at(case: Case) -> Span:
    """Return the span that defines the layout of a case: its alias in its file, or the case."""
    file, alias = case.text("file"), (case.text("alias") or "").removeprefix("#")
    if file is None or not alias:
        return case.place
    try:
        return _table(case, file, alias).definitions.value_span(alias)
    except (LayoutError, OSError, LookupError):
        return case.place


@lru_cache(maxsize=8)
def _aliases(path: str, stamp: tuple[int, ...]) -> FileAliases:
    """Return a file's aliases; cached for all cases of the file."""
    return FileAliases(read_source(path))


def release(case: Case) -> Release | None:
    """Return the release of a case, if it names one."""
    text = case.text("triton")
    with pointing_at(case.span("triton")):
        return Release.parse(text) if text is not None else None


def tensor_type(case: Case) -> TensorType:
    """Return the type of a case, or of the data movement on its line."""
    if layout_key(case) == "line":
        return moved_on_line(case).tensor
    return parse_type(case.text("type") or "", name=case.label("type"))


class Moved(NamedTuple):
    """A data movement of a dump.

    Attributes:
        before, after: the layouts of the moved tensor.
        tensor: its type.
        target: the GPU of the dump; None where it names none.
    """

    before: Encoding
    after: Encoding
    tensor: TensorType
    target: str | None


def moved_on_line(case: Case) -> Moved:
    """Return the data movement on the line of a case's file.

    Raises:
        LayoutError: there is none, or it is not between two layouts.
    """
    file, line = str(case.folder / (case.text("file") or "")), case.text("line") or ""
    if not line.isdecimal() or len(line) > MAX_DIGITS:
        raise LayoutError(f"line must be the number of a line, got {line}", case.span("line"))
    module, operation = movement_on_line(file, int(line))
    ends = [end.encoding for end in (operation.source, operation.target) if end is not None]
    layouts = [end for end in ends if isinstance(end, Encoding)]
    moved = operation.moved or operation.target
    if len(layouts) != 2 or moved is None:
        message = f"line {line} is {operation.name}, which is not between two layouts"
        raise LayoutError(message, case.span("line"))
    tensor = parse_type(f"tensor<{moved.plain}>", name=case.label("line"))
    return Moved(layouts[0], layouts[1], tensor, module.target_option)


def target_name(case: Case) -> str | None:
    """Return the GPU of a case: its own, or that of its line's dump."""
    if case.get("target") is None and layout_key(case) == "line":
        return moved_on_line(case).target
    return case.text("target")
