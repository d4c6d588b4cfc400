"""The few pieces of MLIR text that the reader looks for, as one regular expression.

Every alternative begins with a fixed character, so that the matcher can run over everything
else; none can backtrack over more than what it has matched, so that time stays linear.
"""

from __future__ import annotations

import re

from tt_layout.ir.data_movements import DIALECTS, MOVES

_DIALECTS = "|".join(sorted(DIALECTS, key=len, reverse=True))
_MOVES = "|".join(sorted(MOVES, key=len, reverse=True))
_DEPTH = 7  # of <...> in a type; what nests deeper is left to the parser


def _balanced(depth: int) -> str:
    """Return a pattern of ``<...>`` in which others are nested at most so deep."""
    inner = rf"(?:{_balanced(depth - 1)}[^<>]*)*" if depth else ""
    return rf"<[^<>]*{inner}>"


def _line(newline: str) -> str:
    """Return a pattern of the beginning of a line that means something to the reader."""
    return rf"""
        {newline}(?P<indent>[ \t]*)(?:
            (?P<alias>[\#!][A-Za-z_$][\w$-]*)[ \t]*=(?!=)
          | (?P<module>"?(?:builtin\.)?module(?![\w.$])"?)
          | (?P<func>"?(?:(?:tt|func|llvm)\.)?func(?![\w.$])"?)
          | (?P<close>\}})
          | (?P<operation>
                %[\w$.\#:,\t\ %-]*=(?!=)
              | (?="?[A-Za-z_]\w*\.)
              | \^
              | (?:return|call|br|cond_br)\b)
        )"""


_TYPE_HEAD = r"""(?:
    tensor(?<![\w.$-]tensor)
  | !ttg\.memdesc | !tt\.memdesc | !triton_gpu\.memdesc
  | !tt\.tensordesc | !ttng\.tensordesc_im2col
  | !tt\.ptr(?=<\s*tensor\b)
)"""


def _tokens(newline: str) -> re.Pattern[str]:
    return re.compile(
        rf"""
        (?P<comment>//[^\n]*)
      | {_line(newline)}
      | >[ \t]*(?P<next_alias>\#[A-Za-z_$][\w$-]*)[ \t]*=(?!=)
      | (?P<type>{_TYPE_HEAD}{_balanced(_DEPTH)})
      | (?P<broken>{_TYPE_HEAD}<)
      | ->[ \t]*(?P<short>(?=<[\d?]+x){_balanced(_DEPTH)})
      | (?P<arrow>->)
      | (?P<type_alias>![A-Za-z_$][\w$-]*)(?![\w$.<-])
      | (?P<move>(?:{_DIALECTS})\.(?:{_MOVES}))(?![\w.$])
      | "(?P<generic>(?:{_DIALECTS})\.(?:{_MOVES}))"[ \t]*\(
      | "[^"\\\n]*(?:\\.[^"\\\n]*)*"
        """,
        re.VERBOSE | re.ASCII,
    )


TOKENS = _tokens(r"\n")
"""What the reader looks for; the name of the last group says what was found.

=============  ============================================================================
``comment``    a comment; it may be a split or a header
``alias``      the beginning of an alias definition, of an attribute or a type
``next_alias`` another one on the same line
``module``     a module operation
``func``       a function
``close``      the end of a region
``operation``  the beginning of any operation, or of a block
``type``       a type, as a whole
``broken``     the head of a type that has no end
``short``      a memdesc written without its name, after an arrow
``arrow``      ``->``
``type_alias`` the use of a type alias
``move``       the name of an operation that moves data
``generic``    the same in the generic form
=============  ============================================================================

Strings are matched without a name, so that nothing is found in them.
"""

FIRST_LINE = _tokens("")
"""The same where the text begins."""

SPLIT = re.compile(r"//\s*-----\s*$")
HEADER = re.compile(r"//\s*-----.*\bIR Dump (Before|After):?\s+(\S+)")
