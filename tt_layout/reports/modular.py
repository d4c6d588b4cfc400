"""Reports of layouts over sizes that are not all powers of two: properties and conversions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tt_layout.algebra.linear_layout import is_power_of_two
from tt_layout.algebra.modular_layout import ModularLayout
from tt_layout.analyses.conversion.conversion import ConversionKind
from tt_layout.analyses.conversion.modular_conversion import classify_modular, cover_elements
from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.mlir.types import TensorType
from tt_layout.placement import PlacedLayout, place
from tt_layout.records import dataclass
from tt_layout.reports.convert import ConversionReport, TransferReport, conversion_report
from tt_layout.reports.info import Info, InfoReport, basis_table, info_of
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line, lines_of_both
from tt_layout.wording import count

JSON_VERSION = 1
LABEL_WIDTH = 24


_MEANINGS = {
    ConversionKind.NOTHING: "nothing to do: every thread has its elements in place",
    ConversionKind.REGISTERS: "a permutation of registers within each thread",
    ConversionKind.SHARED_MEMORY: "through shared memory, also within a warp: shuffles are for "
    "sizes that are powers of two",
    ConversionKind.ACROSS_CTAS: "across CTAs, through distributed shared memory",
}


def modular_of(placed: PlacedLayout) -> ModularLayout:
    """Return the layout of a placed one over sizes that are not all powers of two.

    Raises:
        LayoutError: all sizes are powers of two.
    """
    if not isinstance(placed.layout, ModularLayout):
        raise LayoutError("all sizes are powers of two")
    return placed.layout


@dataclass(frozen=True, repr=False)
class ModularInfo(Printed):
    """The properties of a layout over sizes that are not all powers of two.

    Attributes:
        placed: the layout over its type.
    """

    placed: PlacedLayout

    @property
    def copies(self) -> dict[int, int]:
        """Number of holders -> number of elements that have so many, ascending."""
        layout = modular_of(self.placed)
        total = int(np.prod([size for _, size in layout.out_sizes]))
        holders, elements = np.unique(
            np.bincount(layout.elements, minlength=total), return_counts=True
        )
        return dict(zip(holders.tolist(), elements.tolist()))

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the report."""
        return map(Line, self._texts())

    def _texts(self) -> Iterator[str]:
        layout = modular_of(self.placed)
        yield str(self.placed.encoding)
        for name, size in layout.out_sizes:
            rule = "xor" if is_power_of_two(size) else f"sum modulo {size}"
            yield f"{name:{LABEL_WIDTH}}{size}, {rule} of the bases"
        for name in layout.get_in_dim_names():
            yield f"{f'{name}s':{LABEL_WIDTH}}{layout.get_in_dim_size(name)}"
        parts = (
            f"{elements} in {count(held, 'location')}" for held, elements in self.copies.items()
        )
        yield f"{'elements':{LABEL_WIDTH}}{', '.join(parts)}"
        yield ""
        yield from basis_table(layout)

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/analyses.md``."""
        layout = modular_of(self.placed)
        return {
            "version": JSON_VERSION,
            "layout": str(self.placed.encoding),
            "memory": self.placed.memory_space,
            "sizes": dict(layout.out_sizes),
            "inputs": {name: layout.get_in_dim_size(name) for name in layout.get_in_dim_names()},
            "elements_by_holders": {str(held): number for held, number in self.copies.items()},
            "bases": dict(layout.bases),
        }


@dataclass(frozen=True, repr=False)
class ModularConversion(Printed):
    """Conversion between two layouts over sizes that are not all powers of two.

    Attributes:
        src, dst: the layouts.
        kind: the least kind of conversion that suffices.
        scratch_bytes: upper bound on the size of the buffer; None if none is needed or the element
            width is not known.
    """

    src: Encoding
    dst: Encoding
    kind: ConversionKind
    scratch_bytes: int | None

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the report."""
        yield from lines_of_both(self.src, self.dst)
        yield Line(_MEANINGS[self.kind])
        if self.scratch_bytes is not None:
            yield Line(f"  at most {count(self.scratch_bytes, 'byte')} of shared memory")
            yield Line("  the wavefronts are not known: no measurement has such sizes")

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; documented in ``docs/analyses.md``."""
        return {
            "version": JSON_VERSION,
            "src": str(self.src),
            "dst": str(self.dst),
            "kind": self.kind,
            "scratch_bytes": self.scratch_bytes,
        }


def modular_conversion(src: Encoding, dst: Encoding, tensor: TensorType) -> ModularConversion:
    """Return the report of converting a tensor with sizes that are not all powers of two.

    Raises:
        LayoutError: a layout does not fit the type, or they cannot be in one kernel.
    """
    before, after = (modular_of(place(layout, tensor)) for layout in (src, dst))
    kind = classify_modular(before, after)
    is_moved = kind in (ConversionKind.SHARED_MEMORY, ConversionKind.ACROSS_CTAS)
    bits = tensor.element_bits
    size = cover_elements(before) * max(8, bits) // 8 if is_moved and bits else None
    return ModularConversion(src, dst, kind, size)


def info_over_any_sizes(
    encoding: Encoding, tensor: TensorType, memory_order: Sequence[int] | None = None
) -> InfoReport[Info] | ModularInfo:
    """Return the properties of a layout over a type of any sizes.

    Raises:
        LayoutError: the layout does not fit the type, or the memory order does not.
    """
    placed = place(encoding, tensor)
    return ModularInfo(placed) if placed.layout.is_modular else info_of(placed, memory_order)


def conversion_over_any_sizes(
    src: Encoding, dst: Encoding, tensor: TensorType, target: str | None = None
) -> ConversionReport | TransferReport | ModularConversion:
    """Return the report of converting a tensor type of any sizes.

    Raises:
        LayoutError: a layout does not fit the type, or they cannot be in one kernel.
    """
    if all(map(is_power_of_two, tensor.shape)):
        return conversion_report(src, dst, tensor, target)
    return modular_conversion(src, dst, tensor)
