"""The properties of a layout, in numbers: the report of ``tt-layout info``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Generic, TypeVar

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.global_memory.global_access import GlobalAccess, global_access
from tt_layout.analyses.layouts.properties import (
    LayoutInfo,
    SharedInfo,
    TensorMemoryInfo,
    TypedSize,
    layout_info,
    matrix_labels,
    shared_info,
    tensor_memory_info,
    typed_sizes,
)
from tt_layout.encodings import Encoding, SharedEncoding, TensorMemoryBase
from tt_layout.placement import PlacedLayout, alignment_of
from tt_layout.records import dataclass
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line
from tt_layout.wording import count

JSON_VERSION = 1
LABEL_WIDTH = 24

Info = LayoutInfo | SharedInfo | TensorMemoryInfo
InfoT = TypeVar("InfoT", bound=Info, covariant=True)
PLACES = {"size_per_thread": "element", "threads_per_warp": "lane", "warps_per_cta": "warp"}


@dataclass(frozen=True, repr=False)
class InfoReport(Printed, Generic[InfoT]):
    """The properties of one layout over one type.

    Attributes:
        placed: the layout over its type.
        info: the numbers, whose type depends on the memory space.
        access: the global access, for a tensor in registers with a known element width.
        typed: the sizes in the attribute, and how much of each is distinct over the tensor.
    """

    placed: PlacedLayout
    info: InfoT
    access: GlobalAccess | None
    typed: tuple[TypedSize, ...] = ()

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the report."""
        return map(Line, self._texts())

    def _texts(self) -> Iterator[str]:
        yield str(self.placed.encoding)
        info: Info = self.info
        if isinstance(info, LayoutInfo):
            yield from _register_lines(info, self.typed, self.placed.encoding)
        elif isinstance(info, SharedInfo):
            yield from _shared_lines(info)
        else:
            yield from _tensor_memory_lines(info)
        if self.access is not None:
            yield from _access_lines(self.access)
        yield ""
        yield from basis_table(self.placed.layout)
        yield ""
        yield from matrix_table(self.placed.layout)

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/analyses.md``."""
        layout, access = self.placed.layout, self.access
        rows, columns = matrix_labels(layout)
        typed = {size.name: _typed_data(size) for size in self.typed}
        return {
            "version": JSON_VERSION,
            "layout": str(self.placed.encoding),
            "memory": self.placed.memory_space,
            **asdict(self.info),
            **({"typed": typed} if isinstance(self.info, LayoutInfo) else {}),
            "global_access": asdict(access) | {"efficiency": access.efficiency} if access else None,
            "bases": dict(layout.bases),
            "matrix": {"rows": rows, "columns": columns, "values": layout.get_matrix_view()},
        }


def info_of(placed: PlacedLayout, memory_order: Sequence[int] | None = None) -> InfoReport[Info]:
    """Return the properties of a placed layout.

    Raises:
        LayoutError: the memory order does not fit.
    """
    encoding, layout, bits = placed.encoding, placed.layout, placed.element_bits
    if isinstance(encoding, SharedEncoding):
        info: Info = shared_info(
            layout,
            bits,
            padding=placed.padding,
            alignment=alignment_of(encoding),
            buffers=placed.buffers,
        )
        return InfoReport(placed, info, None)
    if isinstance(encoding, TensorMemoryBase):
        return InfoReport(placed, tensor_memory_info(layout, bits, buffers=placed.buffers), None)
    is_movable = bits is not None and -(-bits // 8) & -(-bits // 8) - 1 == 0
    access = global_access(layout, bits, memory_order) if is_movable and bits else None
    return InfoReport(placed, layout_info(layout, bits), access, typed_sizes(placed))


def _line(label: str, value: object) -> str:
    return f"{label:{LABEL_WIDTH}}{value}"


def _sizes(values: Sequence[int] | None) -> str:
    return (
        "not defined: a basis moves along several dimensions"
        if values is None
        else str(list(values))
    )


def elements_text(info: LayoutInfo) -> str:
    """Return the number of elements of a thread, and their size in bytes."""
    text = f"{info.registers}"
    if info.unique_registers < info.registers:
        text += f", {info.unique_registers} of them distinct"
    size = info.bytes_per_thread
    return text if size is None else f"{text} ({count(size, 'byte')})"


def replicated_text(info: LayoutInfo) -> str:
    """Return the replication of elements by each input."""
    repeats = [f"{name}s x {times}" for name, times in info.replication.items() if times > 1]
    return ", ".join(repeats) or "none"


def size_text(info: SharedInfo) -> str:
    """Return the size of a buffer in shared memory, padding included."""
    elements = count(info.padded_elements, "element")
    return elements if info.bytes is None else f"{count(info.bytes, 'byte')} ({elements})"


def padding_text(info: SharedInfo) -> str:
    """Describe the padding of a buffer in shared memory; empty without any."""
    pairs = ", ".join(f"{pad} after every {interval}" for interval, pad in info.padding)
    is_one = info.padding and info.padding[-1][0] == 1
    return f"{pairs} {'element' if is_one else 'elements'}" if pairs else ""


def _typed_data(size: TypedSize) -> dict[str, Any]:
    return {"typed": size.typed, "distinct": size.distinct, "needed": size.needed}


def typed_text(size: TypedSize, info: LayoutInfo) -> str:
    """Return a size in the attribute, how much of it is distinct over the tensor, and why.

    Example:
        >>> import tt_layout
        >>> report = tt_layout.info("gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])",
        ...                                "16x16xf16")
        >>> typed_text(report.typed[1], report.info).partition(": ")[2]
        '8 lanes along dim1 need 32 columns, the tensor has 16: 2 copies'
    """
    if size.typed == size.distinct:
        return _sizes(size.typed)
    reasons = [
        _reason(PLACES[size.name], d, size, info)
        for d in range(len(size.typed))
        if size.typed[d] != size.distinct[d]
    ]
    stated, distinct = _sizes(size.typed), _sizes(size.distinct)
    return f"{stated} typed, {distinct} distinct over this tensor: {'; '.join(reasons)}"


def _reason(place: str, d: int, size: TypedSize, info: LayoutInfo) -> str:
    axis = ("row", "column")[d] if len(info.shape) == 2 else "element"
    times = size.typed[d] // size.distinct[d]
    is_dropped = place == "element" and info.registers == info.unique_registers
    rest = "the rest is dropped" if is_dropped else f"{times} copies"
    needs = f"{count(size.typed[d], place)} along dim{d} need {count(size.needed[d], axis)}"
    return f"{needs}, the tensor has {info.shape[d]}: {rest}"


def _order_text(info: LayoutInfo, encoding: Encoding) -> str:
    """Return the orders of registers, lanes and warps, and the attribute's order if it differs."""
    others = f"lanes {list(info.thread_order)}, warps {list(info.warp_order)}"
    typed = getattr(encoding, "order", info.order)
    if tuple(typed) == info.order:
        return f"{list(info.order)}; {others}"
    return f"{list(typed)} typed; registers {list(info.order)}, {others}"


def _register_lines(
    info: LayoutInfo, typed: Sequence[TypedSize], encoding: Encoding
) -> Iterator[str]:
    stated = {size.name: typed_text(size, info) for size in typed}
    yield _line("elements per thread", elements_text(info))
    yield _line("  by dimension", _sizes(info.elements_per_thread))
    for name in PLACES:
        label = name.replace("_", " ").replace("cta", "CTA")
        yield _line(label, stated.get(name) or _sizes(getattr(info, name)))
    if info.ctas is None or max(info.ctas, default=1) > 1:
        yield _line("CTAs", f"{_sizes(info.ctas)}, splitting {_sizes(info.cta_split)}")
    yield _line("order", _order_text(info, encoding))
    yield _line("contiguity per thread", _sizes(info.contiguity_per_thread))
    yield _line("contiguity per warp", _sizes(info.contiguity_per_warp))
    locations = f"; {info.locations_per_element} locations per element"
    is_replicated = info.locations_per_element > 1
    yield _line("replication", replicated_text(info) + locations * is_replicated)


def _access_lines(access: GlobalAccess) -> Iterator[str]:
    yield _line("global memory order", list(access.memory_order))
    vector = f"{count(access.vector, 'element')}, {count(access.vector_bytes, 'byte')}"
    yield _line("  vector", vector)
    yield _line("  instructions per warp", access.instructions)
    lines = f"{count(access.lines, 'line')} of 128"
    sectors = f"{count(access.sectors, 'sector')} of 32 bytes in {lines}"
    least = f"at least {count(access.ideal_sectors, 'sector')}"
    used = f"{access.efficiency:.0%} of the bytes used"
    yield _line("  each of them", f"{sectors}; {least}; {used}")


def _shared_lines(info: SharedInfo) -> Iterator[str]:
    yield _line("size per CTA", size_text(info))
    if info.partitions > 1:
        yield _line("  in each of", f"{info.partitions} partitions")
    if info.buffers > 1:
        yield _line("  buffers", f"{info.buffers} of {count(info.elements, 'element')} each")
    if info.padding:
        yield _line("padding", padding_text(info))
    yield _line("alignment", f"{info.alignment} bytes")
    yield _line("order", list(info.order))
    if info.unused > 1:
        yield _line("holes", f"1 of {info.unused} slots holds an element of its own")
    if info.phases:
        yield _line("phases", f"rows along dim{info.row_dim}, columns along dim{info.column_dim}")
        yield from (_line("", phase) for phase in info.phases)
    else:
        yield _line("phases", "none: rows are not swizzled along one dimension")


def _tensor_memory_lines(info: TensorMemoryInfo) -> Iterator[str]:
    yield _line("rows", f"{info.rows}, {info.used_rows} of them distinct")
    words = "" if info.words is None else f" ({info.words} of 32 bits)"
    yield _line("columns", f"{info.columns}{words}")
    if info.buffers > 1:
        yield _line("  buffers", info.buffers)
    if info.bytes is not None:
        yield _line("reserved", f"{info.bytes} bytes")
    yield _line("replication", f"{count(info.locations_per_element, 'cell')} per element")


def basis_table(layout: LinearLayout) -> Iterator[str]:
    """Yield a line for each basis."""
    outs = ", ".join(layout.get_out_dim_names())
    yield f"{'bases':{LABEL_WIDTH}}({outs})"
    for name, vectors in layout.in_bases:
        if not vectors:
            yield _line(f"  {name}", "none")
        for bit, vector in enumerate(vectors):
            yield _line(f"  {name} bit {bit}", f"({', '.join(map(str, vector))})")


def matrix_table(layout: LinearLayout) -> Iterator[str]:
    """Yield the matrix over F2: a row for each output bit, a column for each input bit."""
    rows, columns = matrix_labels(layout)
    width = max(map(len, [*rows, "matrix"]))
    groups = [(n, [c for c in columns if c.startswith(f"{n}:")]) for n, _ in layout.in_bases]
    groups = [(name, members) for name, members in groups if members]
    cells = {name: max(len(str(len(members) - 1)), 1) for name, members in groups}
    spans = {name: max(len(name), len(members) * (cells[name] + 1) - 1) for name, members in groups}
    yield (f"{'matrix':{width}}  " + "  ".join(f"{n:{spans[n]}}" for n, _ in groups)).rstrip()
    numbers = [
        " ".join(f"{k:{cells[n]}}" for k in range(len(members))).ljust(spans[n])
        for n, members in groups
    ]
    yield (f"{'':{width}}  " + "  ".join(numbers)).rstrip()
    for label, row in zip(rows, layout.get_matrix_view()):
        parts, at = [], 0
        for name, members in groups:
            values = row[at : at + len(members)]
            shown = " ".join(f"{value or '.':>{cells[name]}}" for value in values)
            parts.append(shown.ljust(spans[name]))
            at += len(members)
        yield (f"{label:{width}}  " + "  ".join(parts)).rstrip()
