"""The attributes of a module operation."""

from __future__ import annotations

import re

from tt_layout.ir.dump_part import Part
from tt_layout.ir.module import AttributeValue
from tt_layout.mlir.source import Source

_HEAD = re.compile(r'"?[\w.]+"?\s*(?:@(?:[\w$.-]+|"[^"\n]*")\s*)?attributes\s*\{', re.ASCII)
_TAIL = re.compile(r"\}\s*\)\s*\{")
MAX_LENGTH = 1 << 16  # characters of a module's attributes


def module_attributes(source: Source, part: Part) -> dict[str, AttributeValue]:
    """Return the attributes of the module of a part: numbers, strings and truth values.

    Values of other kinds are kept as text.  The generic form has them at its end.
    """
    if part.module is None:
        return {}
    text = source.text
    head = _HEAD.match(text, part.module)
    begin = head.end() if head is not None else None
    for offset in part.closed if begin is None else ():
        tail = _TAIL.match(text, offset)
        if tail is not None:
            begin = tail.end()
            break
    if begin is None:
        return {}
    from tt_layout.ir.ssa.attributes import parse_dictionary

    return parse_dictionary(text[begin - 1 : begin + MAX_LENGTH], 0)[0]
