"""AxisInfo of each value of a dump: the report of ``audit --axis-info``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tt_layout.audit.axis import AxisInfo, axis_info
from tt_layout.ir.module import Module
from tt_layout.ir.ssa import Function, Operation, Value, read_functions
from tt_layout.records import dataclass
from tt_layout.reports.audit import heading
from tt_layout.reports.audit_data import JSON_VERSION
from tt_layout.reports.fitted import Fitted, Table
from tt_layout.reports.printed import Printed
from tt_layout.reports.report import Line
from tt_layout.tuples import NamedTuple


class KnownValue(NamedTuple):
    """An integer or pointer value of a function, its definition and its AxisInfo."""

    line: int
    name: str
    info: AxisInfo


@dataclass(frozen=True, repr=False)
class AxisInfoReport(Printed):
    """The values of a dump's modules.

    Attributes:
        file: the name of the dump.
        modules: its modules, possibly made on demand.
    """

    file: str
    modules: Iterable[Module]

    def lines(self) -> Iterator[Line | Fitted]:
        """Yield a line for each value, grouped by function, with an empty line between modules."""
        for number, module in enumerate(self.modules):
            if number:
                yield Line()
            yield from heading(module, self.file)
            for function, values in known_values(module):
                yield Line()
                yield Line(f"values of @{function.name}")
                yield _table(values)

    def data(self) -> dict[str, Any]:
        """Return the report as plain data; the schema is in ``docs/global-memory.md``."""
        modules = (
            {
                "line": module.line,
                "pass": module.pass_name,
                "stage": module.stage,
                "functions": [
                    {"function": function.name, "values": [_value(value) for value in values]}
                    for function, values in known_values(module)
                ],
            }
            for module in self.modules
        )
        return {"version": JSON_VERSION, "file": self.file, "modules": modules}


def known_values(module: Module) -> Iterator[tuple[Function, list[KnownValue]]]:
    """Yield the functions of a module with their integer and pointer values, in text order.

    Example:
        >>> from tt_layout.ir import parse_ir
        >>> [module] = parse_ir('tt.func @f(%n: i32) { %0 = arith.muli %n, %n : i32 }')
        >>> [(_, values)] = known_values(module)
        >>> [value.name for value in values]
        ['%n', '%0']
    """
    functions = read_functions(module)
    for function in functions:
        infos = axis_info(function, functions)
        values = [
            KnownValue(line, value.name, infos[value])
            for line, value in _defined(function)
            if value.type.is_integer or value.type.pointee is not None
        ]
        yield function, values


def _defined(function: Function) -> Iterator[tuple[int, Value]]:
    """Yield the values of a function with the lines that define them."""
    yield from ((function.line, value) for value in function.arguments)
    for number, block in enumerate(function.body):
        if number:
            yield from ((function.line, value) for value in block.arguments)
        for operation in block.operations:
            yield from _of_operation(operation)


def _of_operation(operation: Operation) -> Iterator[tuple[int, Value]]:
    yield from ((operation.line, value) for value in operation.results)
    for region in operation.regions:
        for block in region:
            yield from ((operation.line, value) for value in block.arguments)
            for inner in block.operations:
                yield from _of_operation(inner)


def _table(values: Iterable[KnownValue]) -> Table:
    header = ["line", "value", "contiguity", "divisibility", "constancy", "constant"]
    rows = [
        [
            str(value.line),
            value.name,
            *("x".join(map(str, vector)) or "-" for vector in value.info.vectors),
            "-" if value.info.constant is None else str(value.info.constant),
        ]
        for value in values
    ]
    return Table(header, rows, ["line"])


def _value(value: KnownValue) -> dict[str, Any]:
    info = value.info
    return {
        "value": value.name,
        "line": value.line,
        "contiguity": list(info.contiguity),
        "divisibility": list(info.divisibility),
        "constancy": list(info.constancy),
        "constant": info.constant,
    }
