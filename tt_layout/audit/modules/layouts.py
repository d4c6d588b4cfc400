"""The layouts of a module as a table: uses of each, and its registers of a thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.layouts.properties import contiguity_per_thread
from tt_layout.encodings import DistributedEncoding, Encoding
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.enums import TypeKind
from tt_layout.errors import LayoutError, PlaceholderError, UnmappedError
from tt_layout.ir.module import Module
from tt_layout.ir.types import IRType
from tt_layout.placement import PlacedLayout, place
from tt_layout.tuples import NamedTuple
from tt_layout.wording import count

UNITS = (
    ("lane", "threads-per-warp", "lane"),
    ("warp", "num-warps", "warp"),
    ("block", "num-ctas", "CTA"),
)
"""Input dimension, attribute of the module that must agree, and what both count."""

PLACEHOLDER = "placeholder"
UNMAPPED = "unmapped"
"""The kind of a layout that is yet to be chosen."""

NOT_CHOSEN = PlaceholderError, UnmappedError
"""Errors of attributes for which a later pass chooses a layout, or another dialect has one."""

GATHERED_ROWS = 8
"""Rows in each CTA for which a layout is tried that belongs to a descriptor of one row."""


class LayoutUse(NamedTuple):
    """First use of a type in a function: its name, None outside of any; the line of the module."""

    function: str | None
    line: int


class LayoutRow(NamedTuple):
    """A layout over one type.

    Attributes:
        layout: as written in the dump, such as ``#blocked``.
        kind: the mnemonic, such as ``blocked``; ``placeholder`` of an attribute that a later pass
            replaces by a layout; ``unmapped`` of one that has no linear layout here; empty where
            it has an error.
        type: the type without the layout.
        uses: number of occurrences of the type.
        line: line of the first use, counted from the first line of the module.
        encoding: the layout; None where it has an error, or is yet to be chosen.
        linear: its linear layout over the type; None where it has none.
        sizes: input dimension -> its size.
        error: why the layout, or its linear layout over the type, is refused.
        functions: functions that use it, in the order of the text.
    """

    layout: str
    kind: str
    type: str = ""
    uses: int = 0
    line: int = 0
    encoding: Encoding | None = None
    linear: LinearLayout | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    error: LayoutError | None = None
    functions: tuple[LayoutUse, ...] = ()

    @property
    def attribute(self) -> str:
        """The layout without aliases; as written where it has an error."""
        return str(self.encoding) if self.encoding is not None else self.layout

    @property
    def is_in_registers(self) -> bool:
        """Whether it is a layout of registers."""
        return self.size("register") is not None

    @property
    def registers(self) -> int | None:
        """Registers per thread; None for layouts in memory."""
        return self.size("register")

    @property
    def contiguity(self) -> tuple[int, ...] | None:
        """Adjacent elements that one thread holds along each dimension; None in memory."""
        if self.linear is None or not self.is_in_registers:
            return None
        return contiguity_per_thread(self.linear)

    @property
    def replication(self) -> tuple[tuple[str, int], ...]:
        """Input dimension -> number of its locations with the same element, where more than 1."""
        if self.linear is None:
            return ()
        free = self.linear.get_free_variable_masks()
        counts = ((dim, 1 << free[dim].bit_count()) for dim in self.linear.get_in_dim_names())
        return tuple((dim, count) for dim, count in counts if count > 1)

    def size(self, dim: str) -> int | None:
        """Return the size of an input dimension; None where the layout has none."""
        return next((size for name, size in self.sizes if name == dim), None)


class PlacedLayouts:
    """The layouts of types; each is placed and measured once for a whole dump."""

    def __init__(self) -> None:
        self._known: dict[
            tuple[object, ...], tuple[Encoding, PlacedLayout | LayoutError | None]
        ] = {}
        self._layouts: dict[tuple[object, ...], tuple[Encoding, LinearLayout | None]] = {}
        self._rows: dict[tuple[object, ...], LayoutRow] = {}
        self._distinct: dict[LinearLayout, int | None] = {}

    def of(self, ir_type: IRType) -> PlacedLayout | LayoutError | None:
        """Return the layout of a type over it, or the error that it has; None without a layout."""
        encoding = ir_type.encoding
        if not isinstance(encoding, Encoding):
            return encoding
        key = _key(ir_type)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = encoding, _place(encoding, ir_type)
        return known[1]

    def row(self, ir_type: IRType) -> LayoutRow:
        """Return the row of a type with a layout, independent of its uses."""
        key = _key(ir_type)
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = _row(ir_type, self.of(ir_type))
        return row

    def distinct_registers(self, ir_type: IRType) -> int | None:
        """Return the registers of a thread with elements that no other holds; None in memory."""
        linear = self.linear(ir_type)
        if linear is None:
            return None
        if linear not in self._distinct:
            self._distinct[linear] = _distinct_registers(linear)
        return self._distinct[linear]

    def linear(self, ir_type: IRType | None) -> LinearLayout | None:
        """Return the linear layout of a type; None if it has none, or there is no type."""
        layout = self.layout(ir_type)
        return None if layout is None or layout.is_modular else layout

    def layout(self, ir_type: IRType | None) -> LinearLayout | None:
        """Return the layout of a type, also over sizes that are no powers of two."""
        encoding = ir_type.encoding if ir_type is not None else None
        if ir_type is None or not isinstance(encoding, Encoding):
            return None
        is_in_registers = isinstance(encoding, DistributedEncoding) and ir_type.is_tensor
        key = _key(ir_type, is_of_any_width=is_in_registers and not encoding.depends_on_width)
        known = self._layouts.get(key)
        if known is None:
            placed = self.of(ir_type)
            layout = placed.layout if isinstance(placed, PlacedLayout) else None
            known = self._layouts[key] = encoding, layout
        return known[1]


def _distinct_registers(linear: LinearLayout) -> int | None:
    if "register" not in linear.get_in_dim_names():
        return None
    repeated = linear.get_free_variable_masks()["register"].bit_count()
    return linear.get_in_dim_size("register") >> repeated


def _key(ir_type: IRType, *, is_of_any_width: bool = False) -> tuple[object, ...]:
    """Return the key of a layout over a type.

    Args:
        ir_type: the type.
        is_of_any_width: whether the layout is the same for elements of any width, in registers.
    """
    key = id(ir_type.encoding), ir_type.shape
    if is_of_any_width:
        return key
    return *key, ir_type.kind, ir_type.allocation, ir_type.element_bits


def _place(encoding: Encoding, ir_type: IRType) -> PlacedLayout | LayoutError | None:
    fitted = _of_rank(encoding.rank, ir_type)
    if ir_type.is_descriptor and isinstance(encoding, DistributedEncoding):
        # Intel's loads bring it to registers at once.
        fitted = fitted._replace(kind=TypeKind.TENSOR)
    try:
        return place(encoding, fitted.tensor_type())
    except LayoutError as error:
        return None if _is_row_of(encoding, ir_type) else error


def _of_rank(rank: int | None, ir_type: IRType) -> IRType:
    """Return a type as its layout sees it.

    A descriptor may have more dimensions than the buffer that it is copied to: leading ones, of
    one element each.
    """
    extra = len(ir_type.shape) - rank if ir_type.is_descriptor and rank is not None else 0
    if extra <= 0 or any(size != 1 for size in ir_type.shape[:extra]):
        return ir_type
    return ir_type._replace(shape=ir_type.shape[extra:])


def _is_row_of(encoding: Encoding, ir_type: IRType) -> bool:
    """Return whether a type describes a row of a tensor, of which gathers fetch several.

    Its layout is that of the rows together.
    """
    is_row = ir_type.is_descriptor and ir_type.shape[:1] == (1,)
    if not is_row or not isinstance(encoding, NvmmaShared):
        return False
    ctas = 1 << len(encoding.cga)
    rows = ir_type._replace(shape=(GATHERED_ROWS * ctas, *ir_type.shape[1:]))
    try:
        place(encoding, rows.tensor_type())
    except LayoutError:
        return False
    return True


def layout_rows(module: Module, layouts: PlacedLayouts) -> Iterator[LayoutRow]:
    """Yield a row for each layout and type of a module, in the order of the text."""
    distinct = module.types.distinct
    grouped: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for number, uses in module.types.counts().items():
        ir_type = distinct[number]
        if ir_type.encoding is not None:
            key = ir_type.layout or "", ir_type.bare if ir_type.element_type else ir_type.text
            grouped.setdefault(key, []).append((number, uses))
    functions = sorted(module.functions, key=lambda function: function.line)
    names = [None, *(function.name for function in functions)]
    first = module.types.first_lines([function.line for function in functions])
    order: dict[str, int] = {}
    for layout, _ in grouped:
        order.setdefault(layout, len(order))
    for (layout, bare), members in sorted(grouped.items(), key=lambda item: order[item[0][0]]):
        ir_type = distinct[members[0][0]]
        uses = sum(count for _, count in members)
        used = tuple(_uses([number for number, _ in members], names, first))
        if isinstance(ir_type.encoding, Encoding):
            row = layouts.row(ir_type)
        elif isinstance(ir_type.encoding, PlaceholderError):
            row = LayoutRow(layout, PLACEHOLDER)
        elif isinstance(ir_type.encoding, UnmappedError):
            row = LayoutRow(layout, UNMAPPED)
        else:
            row = LayoutRow(layout, "", error=ir_type.encoding)
        yield row._replace(layout=layout, type=bare, uses=uses, line=used[0].line, functions=used)


def _uses(
    numbers: Sequence[int], names: Sequence[str | None], first: Sequence[Mapping[int, int]]
) -> Iterator[LayoutUse]:
    """Yield the functions that use any of some types, each with the line of the first use."""
    for name, lines in zip(names, first):
        uses = [lines[number] for number in numbers if number in lines]
        if uses:
            yield LayoutUse(name, min(uses))


def _row(ir_type: IRType, placed: PlacedLayout | LayoutError | None) -> LayoutRow:
    """Return the row of a type with a layout, without its uses."""
    encoding = ir_type.encoding
    assert isinstance(encoding, Encoding)
    if not isinstance(placed, PlacedLayout):
        return LayoutRow("", encoding.mnemonic, encoding=encoding, error=placed)
    linear = placed.layout
    sizes = tuple([(name, 1 << len(vectors)) for name, vectors in linear.in_bases])
    known = None if linear.is_modular else linear
    return LayoutRow("", encoding.mnemonic, encoding=encoding, linear=known, sizes=sizes)


def mismatches(row: LayoutRow, module: Module) -> Iterator[str]:
    """Yield the assumptions of a layout that the module does not state."""
    if not row.is_in_registers:
        return
    allowed = _allowed_sizes(module)
    for dim, attribute, unit in UNITS:
        assumed = row.size(dim)
        if assumed is not None and assumed not in allowed.get(dim, {assumed}):
            has = module.number(attribute)
            yield f"is for {count(assumed, unit)}, but the module has {has}"


def _allowed_sizes(module: Module) -> Mapping[str, Set[int]]:
    """Return the sizes that layouts of registers may have along each input dimension."""
    stated = {dim: module.number(attribute) for dim, attribute, _ in UNITS}
    allowed = {dim: {size} for dim, size in stated.items() if size is not None}
    if "warp" in allowed:
        allowed["warp"] |= set(module.partition_warps)
    return allowed


def are_accepted(module: Module, layouts: PlacedLayouts) -> bool:
    """Tell whether no layout of a module has an error, or assumes what the module does not state.

    That is quicker than the rows, which most modules need for nothing else.
    """
    allowed = _allowed_sizes(module)
    for ir_type in module.types.distinct:
        encoding = ir_type.encoding
        if isinstance(encoding, Encoding):
            layout = layouts.layout(ir_type)
            if layout is None and isinstance(layouts.of(ir_type), LayoutError):
                return False
            if layout is not None and not _is_for(layout, allowed):
                return False
        elif isinstance(encoding, LayoutError) and not isinstance(encoding, NOT_CHOSEN):
            return False
    return True


def _is_for(layout: LinearLayout, allowed: Mapping[str, Set[int]]) -> bool:
    """Tell whether a layout is in memory, or has an allowed size along each input dimension."""
    numbers = {dim: len(vectors) for dim, vectors in layout.in_bases}
    if "register" not in numbers:
        return True
    return all(dim not in numbers or 1 << numbers[dim] in allowed[dim] for dim in allowed)
