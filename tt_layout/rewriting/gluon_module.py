"""The layouts of a whole dump as a module of Gluon.

A named constant for each layout, after what it is used for; the allocations; a table of the
operations with their lines and layouts.  Each constructor was read back and is the same linear
layout over every type that the dump uses it with.  What Gluon has no class for is listed as such.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from typing import Any

from tt_layout.audit.modules.audited_module import AuditedModule, FullOperation, SharedWork
from tt_layout.encodings import Encoding, TensorMemoryBase
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir.module import Module
from tt_layout.ir.types import IRType
from tt_layout.notation.gluon.text import to_gluon
from tt_layout.notation.result import TensorSpec
from tt_layout.placement import place
from tt_layout.records import dataclass
from tt_layout.reports.fitted import Fitted
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line
from tt_layout.safe_text import safe
from tt_layout.tuples import NamedTuple

JSON_VERSION = 1

_DOTS = ("dot", "warp_group_dot", "tc_gen5_mma", "dot_scaled", "tc_gen5_mma_scaled")
"""Operations, without dialect, whose first operands are A, B and what is added to."""

_WMMA = "gl.amd.AMDWMMALayout"
"""A class whose parameters changed so that no call of it is of both forms."""

_ALLOCATIONS = ("local_alloc", "tmem_alloc")

_SLICE = re.compile(r"#\w+\.slice<\{dim = (\d+), parent = (.*)\}>")
_WORDS = re.compile(r"\w+")


class GluonLayout(NamedTuple):
    """A layout of a dump.

    Attributes:
        name: of the constant.
        encoding: the layout.
        call: its constructor; empty where Gluon has none.
        refusal: why it has none; empty where it has one.
    """

    name: str
    encoding: Encoding
    call: str
    refusal: str


class GluonUse(NamedTuple):
    """An operation and its layouts.

    Attributes:
        operation: with its dialect.
        line: of the dump.
        location: in the user's program; empty where the dump has none.
        value: its result, or what it stores.
        types: of its operands and results with layouts: each without, and the name of the layout.
    """

    operation: str
    line: int
    location: str
    value: str
    types: tuple[tuple[str, str], ...]


@dataclass(frozen=True, repr=False)
class GluonModule(Printed):
    """The layouts of a module of a dump, as Gluon constructs them."""

    file: str
    module: Module
    layouts: tuple[GluonLayout, ...]
    uses: tuple[GluonUse, ...]

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield the lines of the module."""
        yield Line(f'"""Layouts of {safe(self.file)}, written by tt-layout translate."""')
        yield Line()
        yield Line("from triton.experimental.gluon import language as gl")
        yield Line()
        if any(_WMMA in layout.call for layout in self.layouts):
            yield Line(f"# {_WMMA} needs Triton 3.7: 3.6 takes warps_per_cta, not warp_bases.")
        for layout in self.layouts:
            if layout.call:
                yield Line(f"{layout.name}: gl.constexpr = {layout.call}")
        for layout in self.layouts:
            if layout.refusal:
                yield Line(f"# {layout.name}: {layout.encoding}: {safe(layout.refusal)}")
        for title, uses in (
            ("ALLOCATIONS", [use for use in self.uses if _bare(use.operation) in _ALLOCATIONS]),
            ("OPERATIONS", [use for use in self.uses if _bare(use.operation) not in _ALLOCATIONS]),
        ):
            yield Line()
            yield Line(f"{title} = (")
            yield Line("    # operation, line of the dump, line of the program, value, types")
            yield from (Line(f"    {_row(use)},") for use in uses)
            yield Line(")")

    def data(self) -> dict[str, Any]:
        """Return the module as plain data."""
        return {
            "version": JSON_VERSION,
            "file": self.file,
            "layouts": [
                {**layout._asdict(), "encoding": str(layout.encoding), "call": layout.call or None}
                for layout in self.layouts
            ],
            "operations": [use._asdict() for use in self.uses],
        }


def _row(use: GluonUse) -> str:
    types = ", ".join(f'("{text}", "{name}")' for text, name in use.types)
    value = safe(use.value).replace('"', "'")
    return f'("{use.operation}", {use.line}, "{safe(use.location)}", "{value}", ({types},))'


def _bare(operation: str) -> str:
    return operation.rpartition(".")[2]


def gluon_module(module: Module, file: str, function: str | None = None) -> GluonModule:
    """Return the layouts of a module of a dump, as Gluon constructs them.

    Args:
        module: of the dump.
        file: the name of the dump.
        function: whose layouts are meant; None for all of the module.

    Raises:
        LayoutError: the module has no such function.
    """
    audited = AuditedModule(module, SharedWork())
    operations = [o for o in audited.operations if function in (None, o.function.name)]
    if not operations and function is not None:
        names_ = ", ".join(dict.fromkeys(one.name for one in audited.functions)) or "none"
        raise LayoutError(f"it has no function {function}: it has {names_}", FileLocation(file))
    texts = {ir_type.text for full in operations for ir_type in _types(full)}
    used: dict[Encoding, list[IRType]] = {}
    for ir_type in module.types.distinct:
        if isinstance(ir_type.encoding, Encoding) and (function is None or ir_type.text in texts):
            used.setdefault(ir_type.encoding, []).append(ir_type)
    names = _names(operations, used)
    layouts = tuple(_layout(names[one], one, types) for one, types in used.items())
    uses = [use for full in operations if (use := _use(full, names)) is not None]
    return GluonModule(file, module, layouts, tuple(uses))


def _layout(name: str, encoding: Encoding, types: list[IRType]) -> GluonLayout:
    """Return the constructor of a layout, checked over every type that it is used with."""
    try:
        specs = [
            TensorSpec(place(encoding, ir_type.tensor_type()).shape, ir_type.element_bits)
            for ir_type in types
        ]
        calls = {_portable(to_gluon(encoding, spec).text) for spec in specs}
        if len(calls) > 1:  # the shortest of one shape is another layout over the next
            calls = {_portable(to_gluon(encoding, spec, over_shape=False).text) for spec in specs}
        [call] = calls
    except LayoutError as error:
        return GluonLayout(name, encoding, "", error.message)
    return GluonLayout(name, encoding, call, "")


def _portable(call: str) -> str:
    """Return a call that every release takes: one of its parameters had another name until 3.7.

    Example:
        >>> _portable("gl.PaddedSharedLayout(interval_padding_pairs=[[8, 1]], shape=[64])")
        'gl.PaddedSharedLayout([[8, 1]], [64])'
    """
    return re.sub(r"\b[a-z_]+=", "", call) if call.startswith("gl.PaddedSharedLayout(") else call


def _types(full: FullOperation) -> Iterator[IRType]:
    """Yield the types of the operands and results of an operation."""
    values = (*full.operation.operands, *full.operation.results)
    return filter(None, map(full.function.type_of, values))


def _names(
    operations: Sequence[FullOperation], used: dict[Encoding, list[IRType]]
) -> dict[Encoding, str]:
    """Return a name for each layout: what it is in a multiplication, or its alias."""
    wanted: dict[Encoding, str] = {}
    for full in operations:
        if _bare(full.operation.name) in _DOTS:
            for role, value in zip(("a", "b", "acc"), full.operation.operands):
                ir_type = full.function.type_of(value)
                if ir_type is not None and isinstance(ir_type.encoding, Encoding):
                    place = "_smem" if ir_type.is_memory else ""
                    if isinstance(ir_type.encoding, TensorMemoryBase):
                        place = "_tmem"
                    wanted.setdefault(ir_type.encoding, role + place)
    for encoding, types in used.items():
        wanted.setdefault(encoding, _plain_name(types[0].layout or encoding.mnemonic))
    taken: dict[str, int] = {"gl": 1}
    names: dict[Encoding, str] = {}
    for encoding in used:
        name = wanted[encoding]
        count = taken[name] = taken.get(name, 0) + 1
        names[encoding] = name if count == 1 else f"{name}_{count}"
    return names


def _plain_name(layout: str) -> str:
    """Return a name for a layout as the dump writes it.

    Example:
        >>> _plain_name("#blocked1"), _plain_name("#ttg.slice<{dim = 1, parent = #mma}>")
        ('blocked1', 'mma_slice1')
    """
    if match := _SLICE.fullmatch(layout):
        return f"{_plain_name(match[2])}_slice{match[1]}"
    if layout.startswith("#ttg.dot_op") and (parent := re.search(r"parent = #(\w+)", layout)):
        index = re.search(r"opIdx = (\d)", layout)
        return f"{parent[1]}_operand{index[1] if index is not None else ''}"
    name = "_".join(_WORDS.findall(layout)[: 2 if "." in layout else 1])
    return f"{name}_" if keyword.iskeyword(name) or not name.isidentifier() else name


def _use(full: FullOperation, names: dict[Encoding, str]) -> GluonUse | None:
    """Return an operation with its layouts; None where it has none."""
    function, operation = full.function, full.operation
    texts: dict[tuple[str, str], None] = {}
    for ir_type in _types(full):
        if isinstance(ir_type.encoding, Encoding):
            texts[ir_type.bare.replace('"', "'"), names[ir_type.encoding]] = None
    if not texts:
        return None
    location = function.location(operation)
    values = [*operation.results, *operation.operands]
    return GluonUse(
        operation.name,
        operation.line,
        str(location) if location is not None else "",
        values[0].name,
        tuple(texts),
    )
