"""The page of one layout, of two, or of every layout of a dump."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

from tt_layout.audit.costs import shared_target
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.ir.module import Module
from tt_layout.ir.reader import check_lines, iterate_ir
from tt_layout.ir.types import IRType
from tt_layout.mlir.source import Source
from tt_layout.mlir.types import TensorType
from tt_layout.releases import Release

MAX_NAME = 64
"""Characters of a layout in a type that a page takes as its name."""
_LAID_OUT = ("tensor", "memdesc")


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


def page_of(named: list[tuple[str, Encoding, TensorType]], target: str | None = None) -> str:
    """Return the page of named layouts, each over a type; two of them are compared.

    Raises:
        LayoutError: one does not fit the type, or there is no such target.
    """
    page = _page()
    layouts = [page.page_layout(encoding, tensor, name=name) for name, encoding, tensor in named]
    return str(page.build(layouts, is_pair=len(layouts) == 2, target=target))


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
    found: dict[tuple[str, str, str], _Laid] = {}
    target = None
    for module in iterate_ir(source, release):
        if module.error is not None:
            raise module.error
        target = target or shared_target(module.target)
        for laid in _layouts(module, names):
            found.setdefault(laid.key, laid._replace(uses=set())).uses.update(laid.uses)
    layouts = []
    for name, line, encoding, tensor, uses in found.values():
        with suppress(LayoutError):  # the type is not one that the layout is for
            layouts.append(
                page.page_layout(encoding, tensor, name=name, line=line, uses=sorted(uses))
            )
    if not layouts:
        message = "no layout of the file is used with a type that it fits"
        raise LayoutError(f"{source.name}: error: {message}")
    text = page.build(layouts, source=source.text, source_name=source.name, target=target)
    return str(text)


class _Laid(NamedTuple):
    """A layout of a dump over a type, the line that defines it if any, and those that use it."""

    name: str
    line: int | None
    encoding: Encoding
    tensor: TensorType
    uses: set[int]

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it another entry of the page."""
        return self.name, str(self.encoding), self.tensor.span.text


def _layouts(module: Module, names: list[str]) -> Iterator[_Laid]:
    """Yield the aliases over each type, then the layouts that are written in the types."""
    lines: dict[int, set[int]] = {}
    for use in module.types:
        lines.setdefault(id(use.type), set()).add(use.line)
    types = [(t, lines.get(id(t), set())) for t in module.types.distinct if t.kind in _LAID_OUT]
    for alias in module.aliases.values():
        if isinstance(alias.encoding, LayoutError):
            raise alias.encoding
        if alias.encoding is None or (names and alias.name not in names):
            continue
        for one, uses in types:
            if one.layout == f"#{alias.name}":
                yield _Laid(f"#{alias.name}", alias.line, alias.encoding, _tensor(one), uses)
    for one, uses in () if names else types:
        is_alias = (one.layout or "").removeprefix("#") in module.aliases
        if isinstance(one.encoding, Encoding) and not is_alias:
            written = one.layout or ""
            name = written if len(written) <= MAX_NAME else one.encoding.mnemonic
            yield _Laid(name, None, one.encoding, _tensor(one), uses)


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
