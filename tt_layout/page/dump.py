"""The page of one layout, of two, or of every layout of a dump."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from tt_layout.encodings import Encoding
from tt_layout.encodings.alias_table import unknown_alias
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir.file_aliases import whole_modules
from tt_layout.ir.module import Module
from tt_layout.ir.reader import check_lines
from tt_layout.ir.types import IRType
from tt_layout.mlir.source import Source
from tt_layout.page import PageLayout, build
from tt_layout.placement import PlacedLayout, place
from tt_layout.releases import Release

MAX_NAME = 64
"""Characters of a layout in a type that a page takes as its name."""
_PLACED = ("tensor", "memdesc")


def page_of(named: dict[str, PlacedLayout], target: str | None = None) -> str:
    """Return the page of named layouts; two of them are compared.

    Raises:
        LayoutError: one is too large for a browser, or there is no such target.
    """
    layouts = [PageLayout(placed, name) for name, placed in named.items()]
    return build(layouts, is_pair=len(layouts) == 2, target=target)


def page_of_dump(
    source: Source,
    names: list[str],
    release: Release | None = None,
    number: int | None = None,
) -> str:
    """Return the page of the layouts of a dump, each over the types that it is used with.

    Args:
        source: the dump.
        names: only these aliases; all by default.
        release: whose rules hold.
        number: only this module, counted from 1; all by default.

    Raises:
        LayoutError: an alias is wrong or not used, there is no such module, or the dump is cut
            off.
    """
    check_lines(source)
    found: dict[tuple[str, str, str], _Used] = {}
    target, missing = None, dict.fromkeys(names)
    others: dict[str, None] = {}
    for module in whole_modules(source, release, number):
        missing = {name: None for name in missing if name not in module.aliases}
        if missing:
            others |= dict.fromkeys(module.aliases.attributes())
        target = target or module.gpu
        for used in _layouts(module, names):
            found.setdefault(used.key, used._replace(lines=set())).lines.update(used.lines)
    if missing:
        raise LayoutError(unknown_alias(next(iter(missing)), others), FileLocation(source.name))
    layouts = []
    for used in found.values():
        with suppress(LayoutError):  # the type is not one that the layout is for
            placed = place(used.encoding, used.type.tensor_type())
            layouts.append(PageLayout(placed, used.name, used.line, tuple(sorted(used.lines))))
    if not layouts:
        message = "no layout of the file is used with a type that it fits"
        raise LayoutError(message, FileLocation(source.name))
    return build(layouts, source=source.text, source_name=source.name, target=target)


class _Used(NamedTuple):
    """A layout of a dump on a type, the line that defines it if any, and those that use it."""

    name: str
    line: int | None
    encoding: Encoding
    type: IRType
    lines: set[int]

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it another entry of the page."""
        return self.name, str(self.encoding), self.type.tensor_type().span.text


def _layouts(module: Module, names: list[str]) -> Iterator[_Used]:
    """Yield the aliases over each type, then the layouts that are written in the types."""
    lines: dict[int, set[int]] = {}
    for use in module.types:
        lines.setdefault(id(use.type), set()).add(use.line)
    types = [(t, lines.get(id(t), set())) for t in module.types.distinct if t.kind in _PLACED]
    for alias in module.aliases.values():
        if isinstance(alias.encoding, LayoutError):
            raise alias.encoding
        if alias.encoding is None or (names and alias.name not in names):
            continue
        for one, uses in types:
            if one.layout == f"#{alias.name}":
                yield _Used(f"#{alias.name}", alias.line, alias.encoding, one, uses)
    for one, uses in () if names else types:
        is_alias = (one.layout or "").removeprefix("#") in module.aliases
        if isinstance(one.encoding, Encoding) and not is_alias:
            written = one.layout or ""
            name = written if len(written) <= MAX_NAME else one.encoding.mnemonic
            yield _Used(name, None, one.encoding, one, uses)
