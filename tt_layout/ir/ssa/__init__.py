"""Functions of a dump as values and operations, for the analyses of addresses.

`parse_ir` finds the functions of a module, and the names of its data movements.  Here a function
is read as a whole, on demand, and the data movements are among its operations::

    for function in read_functions(module):
        for operation in function.walk():
            ...
"""

from __future__ import annotations

from tt_layout.ir.ssa.attributes import Attribute, integers
from tt_layout.ir.ssa.model import Block, Function, Operation, Region, Successor, Use, Value
from tt_layout.ir.ssa.reader import SsaReader, read_functions
from tt_layout.ir.ssa.types import ValueType, value_type

__all__ = [
    "Attribute",
    "Block",
    "Function",
    "Operation",
    "Region",
    "SsaReader",
    "Successor",
    "Use",
    "Value",
    "ValueType",
    "integers",
    "read_functions",
    "value_type",
]
