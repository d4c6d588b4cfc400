"""Hover texts of layouts, values and operations."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from tt_layout.audit.audit import Audit
from tt_layout.audit.kernel import Kernel
from tt_layout.audit.modules.audited_module import AuditedModule
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.editing.navigation import defined_at
from tt_layout.editing.piece import EditedPiece
from tt_layout.editing.place import LineRange, Word, word_at
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.ir.module import TypeUse
from tt_layout.ir.types import IRType
from tt_layout.mlir.source import in_file
from tt_layout.placement import PlacedLayout
from tt_layout.reports.explanation import layout_facts
from tt_layout.reports.first_screen import bound_texts, head_texts, registers_text
from tt_layout.safe_text import shortened
from tt_layout.tuples import NamedTuple
from tt_layout.views.kinds import KINDS, TENSOR
from tt_layout.views.selection import Selection

DRAWN, PRINTED = 16, 8
"""Rows and columns of the corner of a tensor that is drawn, and that is printed."""

MAX_PICTURE = 60_000
"""Characters of the SVG of a picture; a larger one is not shown."""

MAX_ATTRIBUTE = 400


class Section(NamedTuple):
    """Section of a hover text: heading, code, facts, picture.

    Attributes:
        title: a line of Markdown, with code between backquotes.
        code: MLIR code; empty for none.
        facts: facts, a line each.
        placed: the layout to draw; None for none.
    """

    title: str
    code: str = ""
    facts: tuple[str, ...] = ()
    placed: PlacedLayout | None = None

    def in_file(self, down: int) -> Section:
        """Return it with lines of the dump in place of lines of its piece."""
        return self._replace(facts=tuple([in_file(fact, down) for fact in self.facts]))


class Hover(NamedTuple):
    """Hover text of a word.

    Attributes:
        place: the place of the word in its piece.
        sections: the sections of the text.
    """

    place: LineRange
    sections: tuple[Section, ...]

    def markdown(self, *, has_pictures: bool) -> str:
        """Format it as Markdown, with pictures as data URLs or as a corner of the view in text."""
        return "\n\n".join(_markdown(section, has_pictures) for section in self.sections)

    @property
    def plain(self) -> str:
        """Format it as plain text."""
        return "\n\n".join(map(_plain, self.sections))


def hover(piece: EditedPiece, line: int, column: int) -> Hover | None:
    """Return the hover text of the word at a position of a piece; None without any.

    Args:
        piece: a piece of the dump.
        line: the line of the piece, from 1.
        column: an offset in the line.
    """
    return word_hover(piece, line, column) or operation_hover(piece, line, column)


def word_hover(piece: EditedPiece, line: int, column: int) -> Hover | None:
    """Return the hover text of a layout, a type or a value, which needs no audit.

    Args:
        piece, line, column: as in `hover`.
    """
    audited = piece.module_at(line)
    if audited is None:
        return None
    text = piece.line(line)
    word, use = word_at(text, column), _type_at(audited, line, column)
    sections: tuple[Section, ...] = ()
    if word is not None and word.text[0] == "#":
        sections = tuple(_alias(audited, word.text, use))
    elif word is not None and word.text[0] == "%":
        sections = tuple(_value(piece, audited, line, word.text))
    if not sections and use is not None:
        start = use.column - 1
        word = Word(use.type.text, start, start + len(use.type.text))
        sections = tuple(_type(audited, use.type))
    if not sections or word is None:
        return None
    return Hover(LineRange(line, word.start, word.end), sections)


def operation_hover(
    piece: EditedPiece, line: int, column: int, *, waits: bool = True
) -> Hover | None:
    """Return the hover text of an operation or kernel, which needs the audit.

    Args:
        piece, line, column: as in `hover`.
        waits: whether the reader waits for the full text on a large kernel.
    """
    word = word_at(piece.line(line), column)
    if word is None or word.text[0] in "#%":
        return None
    audit = piece.audit_at(line)
    if audit is None:
        return None
    is_whole = waits or not piece.is_large
    if is_whole:
        sections = [
            Section(f"`{kernel.who}`", facts=(*head_texts(kernel), *bound_texts(kernel)))
            for kernel in piece.kernels_on(line)
        ]
    else:
        sections = [*_large_kernels(audit, line)]
    sections += [
        Section(f"`{full.operation.name}`", facts=piece.explainer(audit).explanation(full))
        for full in piece.operations.get(line, ())
    ]
    return Hover(LineRange(line, word.start, word.end), tuple(sections)) if sections else None


def _type_at(audited: AuditedModule, line: int, column: int) -> TypeUse | None:
    """Return the type at a column of a line."""
    for use in audited.module.types.on_line(audited.module.own_line(line)):
        start = use.column - 1
        if start <= column < start + len(use.type.text):
            return use
    return None


# -- layouts ------------------------------------------------------------------------------------


def _alias(audited: AuditedModule, name: str, use: TypeUse | None) -> Iterator[Section]:
    """Yield the section on the layout of an alias, over the type around it if any."""
    alias = audited.module.aliases.get(name[1:])
    if alias is None or alias.encoding is None:
        return
    if isinstance(alias.encoding, LayoutError):
        yield Section(f"`{name}`", facts=(alias.encoding.message,))
        return
    types = [use.type] if use is not None and use.type.layout == name else []
    types += [ir_type for ir_type in audited.module.types.distinct if ir_type.layout == name]
    yield from _layout(audited, name, alias.encoding, types[0] if types else None)


def _type(audited: AuditedModule, ir_type: IRType) -> Iterator[Section]:
    if isinstance(ir_type.encoding, LayoutError):
        yield Section(f"`{ir_type.bare}`", facts=(ir_type.encoding.message,))
    elif ir_type.encoding is not None:
        yield from _layout(audited, ir_type.layout or "", ir_type.encoding, ir_type)


def _layout(
    audited: AuditedModule, name: str, encoding: Encoding, ir_type: IRType | None
) -> Iterator[Section]:
    code = shortened(str(encoding), MAX_ATTRIBUTE)
    title = f"`{shortened(name, 60)}`: {encoding.mnemonic}, in {encoding.memory_space}"
    placed = audited.layouts.of(ir_type) if ir_type is not None else None
    if ir_type is None or not isinstance(placed, PlacedLayout):
        facts = (placed.message,) if isinstance(placed, LayoutError) else ()
        yield Section(title, code, facts)
        return
    row = audited.layouts.row(ir_type)
    title += f", over `{ir_type.bare}`"
    yield Section(title, code, tuple(layout_facts(placed, row)), placed)


# -- values and operations ----------------------------------------------------------------------


def _value(piece: EditedPiece, audited: AuditedModule, line: int, name: str) -> Iterator[Section]:
    """Yield the sections on a value: its type, definition and layout."""
    value = defined_at(piece, line, name)
    if value is None:
        return
    ir_type = value.function.type_of(value.function.values[value.name])
    where = f"defined by `{value.by}`" if value.by is not None else "an argument"
    yield Section(f"`{name}`, {where}", shortened(value.text, MAX_ATTRIBUTE))
    if ir_type is not None:
        yield from _type(audited, ir_type)


def _large_kernels(audit: Audit, line: int) -> Iterator[Section]:
    """Yield the sections on the kernels of a line that need no costs of data movements."""
    for function in audit.audited.functions:
        if function.line != line:
            continue
        kernel, number = Kernel(Adviser(audit), function.name), len(function.operations)
        registers = kernel.registers
        facts = [f"takes {', '.join(value.text for value in function.arguments)}"]
        facts += [registers_text(registers)] if registers is not None else []
        facts += [kernel.memory]
        facts.append(f"findings and time take all of its {number} operations: run tt-layout audit")
        yield Section(f"`{kernel.who}`", facts=tuple(filter(None, facts)))


# -- as text ------------------------------------------------------------------------------------


def _markdown(section: Section, has_pictures: bool) -> str:
    parts = [section.title]
    parts += [f"```mlir\n{section.code}\n```"] if section.code else []
    parts += ["\n".join(f"- {fact}" for fact in section.facts)] if section.facts else []
    picture = _picture(section.placed) if has_pictures and section.placed is not None else ""
    if picture:
        parts.append(picture)
    elif section.placed is not None and (drawn := corner(section.placed)):
        parts.append(f"```text\n{drawn}\n```")
    return "\n\n".join(parts)


def _plain(section: Section) -> str:
    parts = [section.title.replace("`", ""), section.code, *section.facts]
    parts += [corner(section.placed)] if section.placed is not None else []
    return "\n".join(part for part in parts if part)


def _selection(placed: PlacedLayout, most: int) -> Selection:
    sizes = placed.shape
    ranges = [
        (0, min(extent, most if at >= len(sizes) - 2 else 1)) for at, extent in enumerate(sizes)
    ]
    return Selection(slices=tuple(ranges))


def corner(placed: PlacedLayout) -> str:
    """Format the holders of the first elements of a tensor."""
    try:
        text = KINDS[TENSOR].view(placed, _selection(placed, PRINTED)).text().rstrip("\n")
    except LayoutError:
        return ""
    is_whole = all(extent <= PRINTED for extent in placed.shape)
    return text if is_whole else f"{text}\nthe first {PRINTED} of each of the last dimensions"


def _picture(placed: PlacedLayout) -> str:
    """Return a picture of a corner of a tensor as Markdown; empty if it is too large."""
    from tt_layout.figures.drawing import draw
    from tt_layout.figures.drawn import DrawnLayout
    from tt_layout.figures.svg import to_svg

    try:
        svg = to_svg(draw(DrawnLayout(placed, _selection(placed, DRAWN))))
    except LayoutError:
        return ""
    if len(svg) > MAX_PICTURE:
        return ""
    data = base64.b64encode(svg.encode()).decode()
    return f"![who holds each element](data:image/svg+xml;base64,{data})"
