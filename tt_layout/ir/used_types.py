"""The types that the layouts of a dump are used with, and its GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tt_layout.encodings import Encoding
from tt_layout.errors import LayoutError
from tt_layout.ir.file_aliases import named_modules
from tt_layout.ir.types import IRType
from tt_layout.mlir.types import TensorType
from tt_layout.tuples import NamedTuple


class UsedTypes(NamedTuple):
    """Layouts and types of a dump.

    Attributes:
        types: alias -> the types that it is used with: floats by frequency, then integers and
            pointers by size.
        target: the GPU of the dump, as ``--target`` takes it; None if there is none, or several.
    """

    types: Mapping[str, Sequence[TensorType]]
    target: str | None


def used_types(file: str) -> UsedTypes:
    """Return the types that the layouts of a dump are used with; none if the file is not a dump.

    Args:
        file: the dump, or ``FILE@2`` for its second module.
    """
    counts: dict[str, Counter[IRType]] = {}
    targets: set[str | None] = set()
    try:
        for module in named_modules(file):
            targets.add(module.target_option)
            for at, count in module.types.counts().items():
                ir_type = module.types.distinct[at]
                if ir_type.layout is not None and isinstance(ir_type.encoding, Encoding):
                    uses = counts.setdefault(ir_type.layout.removeprefix("#"), Counter())
                    uses[ir_type] += count
    except LayoutError:
        return UsedTypes({}, None)
    types = {alias: _ordered(uses) for alias, uses in counts.items()}
    return UsedTypes(types, targets.pop() if len(targets) == 1 else None)


def _ordered(counts: Counter[IRType]) -> list[TensorType]:
    def rank(item: tuple[IRType, int]) -> tuple[int, int, int]:
        """Return a sort key: floats first; larger integers first, since offsets have sizes of 1."""
        ir_type, count = item
        kind = 2 if ir_type.element_type.startswith("!") else ir_type.element_type.startswith("i")
        return kind, -ir_type.elements if kind else 0, -count

    ordered = (ir_type.tensor_type() for ir_type, _ in sorted(counts.items(), key=rank))
    return list({tensor_type.span.text: tensor_type for tensor_type in ordered}.values())
