"""Views of a dump's layouts over the types that use them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from tt_layout.encodings import Encoding
from tt_layout.encodings.alias_table import unknown_alias
from tt_layout.errors import FileLocation, LayoutError, TooLargeError
from tt_layout.grouping import grouped
from tt_layout.ir.file_aliases import whole_modules
from tt_layout.ir.module import Module
from tt_layout.ir.reader import check_lines
from tt_layout.ir.types import IRType
from tt_layout.mlir.languages import NO_ALIAS, no_mlir
from tt_layout.mlir.source import Source
from tt_layout.placement import PlacedLayout, place
from tt_layout.releases import Release
from tt_layout.safe_text import safe
from tt_layout.surface import argument
from tt_layout.views.kinds import ViewKind
from tt_layout.views.printed import PrintedView, print_view
from tt_layout.views.request import ViewRequest
from tt_layout.views.selection import Selection

MAX_VIEWS = 20_000


def file_views(
    source: Source,
    names: Sequence[str],
    *,
    module: int | None,
    release: Release | None,
    kind: ViewKind,
    selection: Selection,
) -> list[PrintedView]:
    """Return the view of every alias of a dump over every type that uses it.

    Repetitions in later modules are shown once, as are views that are equal for several element
    types.  A type that the layout does not fit has the reason in its heading, in place of a view.

    Args:
        source: the dump.
        names: only these aliases; all if there are none.
        module: only this module, from 1; None for all.
        release: the release whose rules hold.
        kind: the kind of view.
        selection: the part to show.

        Raises:
            LayoutError: an alias or the module is wrong or missing, or the dump is truncated.
    """
    check_lines(source)
    views: dict[tuple[str, str, str], PrintedView] = {}
    unused: dict[str, PrintedView] = {}
    order: dict[str, None] = dict.fromkeys(names)
    for part in whole_modules(source, release, module):
        fitting = (t for t in part.types.distinct if t.is_tensor or t.is_memory)
        types = grouped(fitting, lambda ir_type: ir_type.layout or "")
        for name in (n for n in names or part.aliases.attributes() if n in part.aliases):
            order.setdefault(name)
            alias = part.aliases[name]
            if isinstance(alias.encoding, LayoutError):
                raise alias.encoding
            encoding = alias.encoding
            if encoding is None:
                continue
            unused.setdefault(name, _note(name, encoding, "no type of the file"))
            for ir_type in types.get(f"#{name}", ()):
                key = name, str(encoding), ir_type.bare
                if key not in views:
                    views[key] = _view(name, encoding, ir_type, kind, selection)
            if len(views) + len(unused) > MAX_VIEWS:
                message = f"there are more than {MAX_VIEWS} views to show"
                message += f"; {argument('alias_names')} chooses some"
                raise TooLargeError(message, FileLocation(source.name))
    _check_names(source, names, unused, lambda: whole_modules(source, release, module))
    for name in {name for name, _, _ in views}:
        del unused[name]
    positions = {name: position for position, name in enumerate(order)}
    shown = [*_shared(views), *unused.items()]
    return [view for _, view in sorted(shown, key=lambda item: positions[item[0]])]


def _shared(views: dict[tuple[str, str, str], PrintedView]) -> Iterator[tuple[str, PrintedView]]:
    """Yield views with their alias; equal views are merged over all their types."""
    groups: dict[object, list[tuple[str, PrintedView, str]]] = {}
    for (name, text, bare), view in views.items():
        looks = bare if view.request is None else _looks(view.request.placed)
        groups.setdefault((name, text, looks), []).append((name, view, bare))
    for (name, view, bare), *rest in groups.values():
        if rest:
            types = ", ".join(safe(type_text) for _, _, type_text in ((name, view, bare), *rest))
            heading = view.heading.decode().replace(f" on {safe(bare)}", f" on {types}", 1)
            view = view._replace(heading=heading.encode())
        yield name, view


def _looks(placed: PlacedLayout) -> object:
    """Return a key of equal views, which in registers does not include the element width."""
    size = None if placed.is_distributed else placed.element_bytes
    return placed.memory_space, placed.layout, placed.padding, placed.buffers, size


def _check_names(
    source: Source,
    names: Sequence[str],
    shown: Collection[str],
    modules: Callable[[], Iterator[Module]],
) -> None:
    """Raise an error if nothing is shown, or a requested name is missing.

    Args:
        source: the dump.
        names: the requested aliases.
        shown: the aliases that are shown.
        modules: reads the modules again.
    """
    for name in (n for n in names if n not in shown):
        tables = [module.aliases for module in modules()]
        if any(name in table for table in tables):
            message = f"the alias #{name} is not a layout"
            raise LayoutError(message, FileLocation(source.name))
        layouts = (n for t in tables for n in t.attributes() if t[n].encoding is not None)
        raise LayoutError(unknown_alias(name, layouts), FileLocation(source.name))
    if not names and not shown:
        raise no_mlir(source, NO_ALIAS)


def _view(
    name: str, encoding: Encoding, ir_type: IRType, kind: ViewKind, selection: Selection
) -> PrintedView:
    try:
        placed = place(encoding, ir_type.tensor_type())
        printed = print_view(ViewRequest(placed, kind, selection), alias=name)
    except LayoutError as error:
        return _note(name, encoding, f"{ir_type.bare}: {error.message}")
    text = str(encoding)
    heading = printed.heading.decode().replace(text, f"{text} on {safe(ir_type.bare)}", 1)
    return printed._replace(heading=heading.encode())


def _note(name: str, encoding: Encoding, text: str) -> PrintedView:
    """Return a heading without a view."""
    heading = safe(f"Print layout attribute: #{name} = {encoding} on {text}") + "\n"
    return PrintedView(heading.encode())
