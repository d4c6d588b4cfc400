"""The page of one layout, of two, or of every layout of a dump."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.ir.costs import shared_target
from tt_layout.ir.module import Module
from tt_layout.ir.reader import check_lines, iterate_ir
from tt_layout.ir.types import IRType
from tt_layout.releases import Release
from tt_layout.source import Source
from tt_layout.types import TensorType


def _page() -> Any:
    """Return the module that makes pages.

    Raises:
        LayoutError: this version has none.
    """
    try:
        return import_module("tt_layout.page")
    except ImportError:
        message = "this version cannot make pages; write an .svg or a .png"
        raise LayoutError(message) from None


def page_of(named: list[tuple[str, Encoding, TensorType]]) -> str:
    """Return the page of named layouts, each over a type; two of them are compared.

    Raises:
        LayoutError: one does not fit the type.
    """
    page = _page()
    layouts = [page.page_layout(encoding, tensor, name=name) for name, encoding, tensor in named]
    return str(page.build(layouts, is_pair=len(layouts) == 2))


def page_of_dump(source: Source, names: list[str], release: Release | None = None) -> str:
    """Return the page of the layouts of a dump, each over the types that it is used with.

    Args:
        source: the dump.
        names: only these aliases; all by default.
        release: whose rules hold.

    Raises:
        LayoutError: an alias is wrong or not used, or the dump is cut off.
    """
    page = _page()
    check_lines(source)
    layouts: dict[tuple[str, str, str], Any] = {}
    target = None
    for module in iterate_ir(source, release):
        if module.error is not None:
            raise module.error
        target = target or shared_target(module.target)
        for name, line, encoding, ir_type, uses in _uses(module):
            key = name, str(encoding), ir_type.bare
            if key in layouts or (names and name not in names):
                continue
            try:
                layouts[key] = page.page_layout(
                    encoding, _tensor(ir_type), name=f"#{name}", line=line, uses=uses
                )
            except LayoutError:
                continue  # the type is not one that the layout is for
    if not layouts:
        message = "no layout of the file is used with a type that it fits"
        raise LayoutError(f"{source.name}: error: {message}")
    text = page.build(
        list(layouts.values()), source=source.text, source_name=source.name, target=target
    )
    return str(text)


def _uses(module: Module) -> Iterator[tuple[str, int, Encoding, IRType, list[int]]]:
    """Yield alias, its line, encoding, type, and the lines that use it."""
    lines: dict[int, list[int]] = {}
    for use in module.types:
        found = lines.setdefault(id(use.type), [])
        if not found or found[-1] != use.line:
            found.append(use.line)
    for alias in module.aliases.values():
        if isinstance(alias.encoding, LayoutError):
            raise alias.encoding
        if alias.encoding is None:
            continue
        for ir_type in module.types.distinct:
            if ir_type.layout == f"#{alias.name}" and ir_type.kind in ("tensor", "memdesc"):
                used = lines.get(id(ir_type), [])
                yield alias.name, alias.line, alias.encoding, ir_type, used


def _tensor(ir_type: IRType) -> TensorType:
    """Return a type of a dump as the type of a view: of a part of a buffer, the buffer's."""
    shape = ir_type.shape
    if ir_type.allocation is not None:
        shape = ir_type.allocation[len(ir_type.allocation) - len(shape) :]
    sizes = "".join(f"{size}x" for size in shape)
    kind = "tensor" if ir_type.kind == "tensor" else "!ttg.memdesc"
    text = f"{kind}<{sizes}{ir_type.element_type}>"
    span = Source(text).span(0, len(text))
    return TensorType(ir_type.kind, shape, ir_type.element_type, None, span)
