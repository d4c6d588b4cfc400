"""The few tokens of MLIR that the reader looks for, as two regular expressions.

`TOKENS` finds the structure of a dump, `OPERATION` the types of an operation that moves data.
Neither depends on lines: as in MLIR itself, white space has no meaning.

Every alternative begins with a literal character, and the text before it is checked afterwards,
so that the matcher skips everything else in one tight loop.  None can backtrack over more than it
has matched, so that time stays linear.
"""

from __future__ import annotations

import re
from string import ascii_letters, digits

from tt_layout.ir.data_movements import DATA_MOVEMENTS, DIALECTS
from tt_layout.mlir.source import QUOTED

_DIALECTS = "|".join(sorted(DIALECTS, key=len, reverse=True))
_MOVES = "|".join(sorted(DATA_MOVEMENTS, key=len, reverse=True))
DEPTH = 7  # of <...> in a type; what nests deeper is left to the parser
MAX_GROUPS = 200  # of <...> beside each other in a type, for the same reason

_IN_NAME = r"[\w.$@%\#!^-]"
"""A character before a word that is only the end of a name."""


def rest_of_group(depth: int = DEPTH) -> str:
    """Return a pattern of the text after a ``<``, with others nested up to a depth."""
    inner = rf"(?:<{rest_of_group(depth - 1)}[^<>]*){{0,{MAX_GROUPS}}}" if depth else ""
    return rf"[^<>]*{inner}>"


def _after(*words: str) -> str:
    """Return a pattern of the position after one of several words, each a whole name."""
    return "(?:" + "|".join(rf"(?<={w})(?<!{_IN_NAME}{w})" for w in map(re.escape, words)) + ")"


_SKIPPED = rf"""
        /(?:/(?:[ ]-----(?P<split>[^\n]*)|[^\n]*))
      | {QUOTED}
"""

_REST = rest_of_group()
_TYPES = rf"""
        r(?<=tensor)(?<![\w.$-]tensor)\s*<(?:(?P<tensor>{_REST})|(?P<broken_tensor>))
      | <(?:(?<=!ttg\.memdesc<)|(?<=!tt\.memdesc<)|(?<=!triton_gpu\.memdesc<)
           |(?<=!tt\.tensordesc<)|(?<=!ttng\.tensordesc_im2col<)|(?<=!tt\.ptr<)(?=\s*tensor\b))
         (?:(?P<type>{_REST})|(?P<broken>))
"""

_SHORT = rf">\s*(?P<short><\s*(?=[\d?]+\s*x){_REST})"

_DEFINITION = r"""
        \#(?P<definition>[A-Za-z_$][\w$-]*)\s*=(?!=)\s*
      | !(?P<type_definition>[A-Za-z_$][\w$-]*)\s*=(?!=)\s*
"""

TOKENS = re.compile(
    rf"""
        "(?P<generic_module>(?:builtin\.)?module)"\s*\(
      | "(?P<generic_function>(?:(?:tt|func|llvm)\.)?func)"\s*\(
      | "(?P<generic_move>(?:{_DIALECTS})\.(?:{_MOVES}))"\s*\(
      | {_SKIPPED}
      | {_DEFINITION}
      | m{_after("m", "builtin.m")}odule(?P<module>)(?![\w.$-])(?=\s*(?:attributes\b|\{{|@))
      | f{_after("f", "tt.f", "func.f", "llvm.f")}unc(?P<function>)
        (?=(?:\s[^@{{}}()=:"]{{0,200}})?@)
      | \{{(?:[\w.$\s]+=[][\w.$\s=:,-]*\}}|(?P<open>))
      | \}}(?P<close>)
      | {_TYPES}
      | -{_SHORT}
      | \.{_after(*(f"{dialect}." for dialect in DIALECTS))}(?P<move>{_MOVES})(?![\w.$])
    """,
    re.VERBOSE | re.ASCII,
)
"""What the reader looks for; the name of the last group is the kind of what was found.

===================  ======================================================================
``split``            a comment ``// -----``; it may be a header
``definition``       the beginning of the definition of an alias, of an attribute or a type
``module``           the name of a module operation
``function``         that of a function
``move``             that of an operation that moves data
``generic_...``      these three in the generic form
``open``, ``close``  the ends of a region, or of a dictionary that is not plain
``tensor``           a tensor type
``type``             a type in memory, a descriptor, or a pointer to a tensor
``short``            a memdesc written without its name, after an arrow
``broken_...``       the head of such a type that has no end
===================  ======================================================================

Strings and other comments are matched without a name, so that nothing is found in them;
dictionaries of words and numbers are too, so that their braces need not be counted.
"""

OPERATION = re.compile(
    rf"""
        "(?P<generic>[A-Za-z_]\w*\.[\w.$]*)"\s*\(
      | {_SKIPPED}
      | {_DEFINITION}
      | %(?P<result>[\w$.-]+(?::\d+)?\s*=)(?!=)
      | \^(?P<block>)
      | \.(?<=\w.)(?P<name>[A-Za-z_][\w.$]*(?![\w.$])(?!\s*[=,}}]))
      | r{_after("r")}(?P<return>eturn)\b
      | b{_after("b")}(?P<branch>r)\b
      | c{_after("c")}(?P<call>all|ond_br)\b
      | m{_after("m")}(?P<module>odule)\b
      | f{_after("f")}(?P<function>unc)\b
      | l{_after("l")}oc\s*\((?P<location>)
      | \{{(?P<open>)
      | \}}(?P<close>)
      | {_TYPES}
      | -{_SHORT}
      | -(?P<arrow>>)
      | !(?P<type_alias>[A-Za-z_$][\w$-]*)(?![\w$.<-])
    """,
    re.VERBOSE | re.ASCII,
)
"""What is looked for behind the name of an operation that moves data.

==================================  =======================================================
``tensor``, ``type``, ``short``..   types, as above
``type_alias``                      the use of a type alias
``arrow``                           ``->``
``open``, ``close``                 the ends of a dictionary; a region that ends, ends it
``location``                        where it comes from, which is the last part of it
others                              the beginning of the next operation, or of a block
==================================  =======================================================
"""

_WITHIN = {"type_alias", "arrow", "open", "close", "location", "name"}
TYPES = frozenset({"tensor", "type", "short", "broken_tensor", "broken"})
"""What stands for the use of a type."""

NEXT = frozenset(OPERATION.groupindex) - TYPES - _WITHIN
"""What of `OPERATION` ends an operation; so does ``name``, if no value or type has it."""

DEPTHS = {"open": 1, "close": -1}
"""What changes the depth, and how."""

WORD = frozenset(ascii_letters + digits + "_")
"""Characters of the name of a dialect."""

BEFORE_NAME = frozenset("$.@%#!^-")
"""Characters before a word that is not a name of a dialect."""

LOCATION = re.compile(r"loc\s*\(")
_BLANK, _HEADED = r"[^\S\n]*$", r".*\bIR Dump (Before|After):?[^\S\n]+([^\s:]\S*?):?(?=\s|$)"
"""What follows ``// -----``."""

SPLIT, HEADER = re.compile(_BLANK), re.compile(_HEADED)
ENDS = re.compile(rf"^[^\S\n]*// -----(?:{_BLANK}|{_HEADED})", re.MULTILINE)
"""A line that ends whatever a text could refer to."""
