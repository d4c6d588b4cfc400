"""The data movement on a line of a dump."""

from __future__ import annotations

from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir.file_aliases import named_modules
from tt_layout.ir.module import Module
from tt_layout.ir.operations import MovementOperation


def movement_on_line(file: str, line: int) -> tuple[Module, MovementOperation]:
    """Return the data movement on a line, and its module.

    Args:
        file: the dump, possibly with a module: ``dump.mlir@2``.
        line: the line of the dump, from 1.

        Raises:
            LayoutError: there is none; the message names the nearest line with one.
    """
    for module in named_modules(file):
        for operation in module.operations_on(line):
            return module, operation
    near: int | None = None
    for module in named_modules(file):
        near = _nearest(module, line, near)
    hint = f"; the nearest is on line {near}" if near is not None else ""
    message = f"there is no data movement on this line{hint}"
    raise LayoutError(message, FileLocation(file, line))


def _nearest(module: Module, line: int, known: int | None) -> int | None:
    """Return the line nearest to one with a data movement, of a module and one that is known.

    The names of movements are looked at from the nearest on: those of scalars are none.
    """
    lines = dict.fromkeys(module.line_in_source(move.line) for move in module.moves)
    for near in sorted(lines, key=lambda other: abs(other - line)):
        if known is not None and abs(near - line) >= abs(known - line):
            return known
        if module.operations_on(near):
            return near
    return known
