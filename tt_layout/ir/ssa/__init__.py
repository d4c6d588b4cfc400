"""Functions of a dump as values and operations: what the analyses of addresses start from.

`parse_ir` keeps of a module what moves data.  Here a function is read as a whole, and only when
it is asked for::

    for function in read_functions(module):
        for operation in function.walk():
            ...
"""

from __future__ import annotations

from tt_layout.ir.ssa.attributes import Attribute, integers
from tt_layout.ir.ssa.model import Block, Region, SsaFunction, SsaOperation, Successor, Use, Value
from tt_layout.ir.ssa.reader import SsaReader, read_functions
from tt_layout.ir.ssa.types import ValueType, value_type

__all__ = [
    "Attribute",
    "Block",
    "Region",
    "SsaFunction",
    "SsaOperation",
    "SsaReader",
    "Successor",
    "Use",
    "Value",
    "ValueType",
    "integers",
    "read_functions",
    "value_type",
]
