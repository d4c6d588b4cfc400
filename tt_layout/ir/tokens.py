"""The few tokens of MLIR that show the structure of a dump, as one regular expression.

It does not depend on lines: as in MLIR itself, white space has no meaning.

Every alternative begins with a literal character, and the text before it is checked afterwards,
so that the matcher skips everything else in one tight loop.  None can backtrack over more than it
has matched, so that time stays linear.
"""

from __future__ import annotations

import re

from tt_layout.ir.data_movements import DIALECTS
from tt_layout.mlir.source import QUOTED

_DIALECTS = "|".join(DIALECTS)
DEPTH = 13
"""Levels of ``<...>`` in another: tl.topk takes slices of slices, one for each time that it halves
a tensor.  A type that nests deeper, or has more beside each other, is left to the parser."""

MAX_GROUPS = 200
MAX_BROKEN = 200
"""Characters of a type without an end that are looked at."""

_IN_NAME = r"[\w.$@%\#!^-]"
"""A character before a word that is only the end of a name."""


def rest_of_group(depth: int = DEPTH) -> str:
    """Return a pattern of the text after a ``<``, with others nested up to a depth."""
    inner = rf"(?:<{rest_of_group(depth - 1)}[^<>]*){{0,{MAX_GROUPS}}}" if depth else ""
    return rf"[^<>]*{inner}>"


def _after(*words: str) -> str:
    """Return a pattern of the position after one of several words, each a whole name."""
    return "(?:" + "|".join(rf"(?<={w})(?<!{_IN_NAME}{w})" for w in map(re.escape, words)) + ")"


_REST = rest_of_group()

TOKENS = re.compile(
    rf"""
        "(?P<generic_module>(?:builtin\.)?module)"\s*\(
      | "(?P<generic_function>(?:(?:tt|func|llvm)\.)?func)"\s*\(
      | "(?P<generic_operation>(?:{_DIALECTS})\.\w+)"\s*\(
      | /(?:/(?:[ ]-----(?P<split>[^\n]*)|[^\n]*))
      | {QUOTED}
      | \#(?P<definition>[A-Za-z_$][\w$-]*)\s*=(?!=)\s*
      | !(?P<type_definition>[A-Za-z_$][\w$-]*)\s*=(?!=)\s*
      | m{_after("m", "builtin.m")}odule(?P<module>)(?![\w.$-])(?=\s*(?:attributes\b|\{{|@))
      | f{_after("f", "tt.f", "func.f", "llvm.f")}unc(?P<function>)
        (?=(?:\s[^@{{}}()=:"]{{0,200}})?@)
      | \{{(?:[\w.$\s]+=[][\w.$\s=:,-]*\}}|(?P<open>))
      | \}}(?P<close>)
      | r(?<=tensor)(?<![\w.$-]tensor)\s*<(?:(?P<tensor>{_REST})|(?P<broken_tensor>))
      | <(?:(?<=!ttg\.memdesc<)|(?<=!tt\.memdesc<)|(?<=!triton_gpu\.memdesc<)
           |(?<=!tt\.tensordesc<)|(?<=!ttng\.tensordesc_im2col<)|(?<=!tt\.ptr<)(?=\s*tensor\b))
         (?:(?P<type>{_REST})|(?P<broken>))
      | !(?P<type_alias>[A-Za-z_$][\w$-]*)(?![\w$.<-])
      | ->\s*(?P<short><\s*(?=[\d?]+\s*x){_REST})
      | \.{_after(*(f"{dialect}." for dialect in DIALECTS))}(?!func\b)(?P<operation>\w+)(?![\w.$])
    """,
    re.VERBOSE | re.ASCII,
)
"""What the reader looks for; the name of the last group is the kind of what was found.

===================  ======================================================================
``split``            a comment ``// -----``; it may be a header
``definition``       the beginning of the definition of an alias, of an attribute or a type
``module``           the name of a module operation
``function``         that of a function
``operation``        what may be that of an operation that moves data, without its dialect
``generic_...``      these three in the generic form
``open``, ``close``  the ends of a region, or of a dictionary that is not plain
``tensor``           a tensor type
``type``             a type in memory, a descriptor, or a pointer to a tensor
``short``            a memdesc written without its name, after an arrow
``type_alias``       what may be the use of an alias of one
``broken_...``       the head of such a type that has no end
===================  ======================================================================

Strings and other comments are matched without a name, so that nothing is found in them;
dictionaries of words and numbers are too, so that their braces need not be counted.
"""

WORD = frozenset("_" + "".join(filter(str.isalnum, map(chr, range(128)))))
"""Characters of the name of a dialect."""

LOCATION = re.compile(r"loc\s*\(")
_BLANK, _HEADED = r"[^\S\n]*$", r".*\bIR Dump (Before|After):?[^\S\n]+([^\s:]\S*?):?(?=\s|$)"
"""What follows ``// -----``."""

SPLIT, HEADER = re.compile(_BLANK), re.compile(_HEADED)
ENDS = re.compile(rf"^[^\S\n]*// -----(?:{_BLANK}|{_HEADED})", re.MULTILINE)
"""A line that ends whatever a text could refer to."""


def broken_type(text: str, start: int) -> str:
    """Return what is kept of a type without an end: the rest of its line, if that is short."""
    line_end = text.find("\n", start, start + MAX_BROKEN)
    return text[start : line_end if line_end >= 0 else start + MAX_BROKEN]
