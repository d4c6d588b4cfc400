"""Texts around a dump: colours, prefixes of logs, and escapes, taken off before it is read.

People paste what they have: a terminal's output, a page, a field of JSON, a line of a log in which
the compiler escaped the line breaks. Each wrapper is a row of `WRAPPERS`. A dump may be in several:
the fewest that lead to a text with lines of MLIR are taken off.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

MAX_LAYERS = 3
"""Wrappers that are taken off one after the other."""

MAX_WORK = 1 << 27
"""Characters that are looked at: of a longer text only what costs no search is taken off."""

_MLIR = r"""[ \t]*(?:
    (?:builtin\.)?module(?:[ ]@\S+)?[ ]*(?:attributes[ ]*\{[^\n\\&]*|\{[ \t]*)
  | tt\.func[ ][^\n\\&]*
  | [#!][\w$.-]+[ ]=[ ][#!][\w.]+<[^\n\\&]*
)$"""
_LINE = re.compile(f"^{_MLIR}", re.VERBOSE | re.MULTILINE)
"""A line of a dump that nothing is around."""

_ESCAPED = re.compile(r'\\+"[\w.-]+\\+" = |\\+22[\w.-]+\\+22 = |&(?:amp;)*(?:lt|gt|quot|#x?\d\d);')
"""What is left in a text that is still wrapped."""

_COLOURS = re.compile(r"\x1b\[[\d;:]*[mK]")
"""What colours a text; what else a terminal would act on stays, to be shown as it is."""
_LOG = r"""(?:
    \d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?:?[ ]?    # the time, of CI and of XLA
    (?:[IWEF][ ]\S+:\d+\][ ])?
  | [A-Z]\d{4}[ ][\d:.]+[ ]+(?:\d+[ ])?\S+:\d+\][ ](?:\[[^\]\n]*\][ ]?)*  # glog, TORCH_LOGS
)"""
_PREFIX = re.compile(f"^{_LOG}", re.VERBOSE | re.MULTILINE)
_PREFIXED = re.compile(f"^{_LOG}{_MLIR}", re.VERBOSE | re.MULTILINE)
_QUOTED = re.compile(r'"((?:[^"\\\n]|\\.)*)(?:"|$)')
_JSON_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_LLVM_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Wrapper(NamedTuple):
    """One kind of text around a dump.

    Attributes:
        signs: texts one of which is in whatever is wrapped so.
        remove: the text without it.
    """

    signs: tuple[str, ...]
    remove: Callable[[str], str]


def _unescaped(signs: tuple[str, ...], decode: Callable[[str], str]) -> Callable[[str], str]:
    """Make a function that decodes the strings of each line that have a sign, or else the line.

    What is before and after such a string goes on lines of its own.
    """

    def string(match: re.Match[str]) -> str:
        if not any(sign in match[1] for sign in signs):
            return match[0]
        start, end = match.span()
        before = "" if start == 0 else "\n"
        after = "" if end == len(match.string) else "\n"
        return f"{before}{decode(match[1])}{after}"

    def line(text: str) -> str:
        if not any(sign in text for sign in signs):
            return text
        decoded = _QUOTED.sub(string, text)
        return decoded if decoded != text else decode(text)

    return lambda text: "\n".join(map(line, text.split("\n")))


def _of_json(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        code, letter = match.groups()
        return chr(int(code, 16)) if code else _LETTERS.get(letter, letter)

    return _JSON_ESCAPE.sub(character, text)


def _of_llvm(text: str) -> str:
    return _LLVM_ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def _of_html(text: str) -> str:
    from html import unescape

    return unescape(text)


WRAPPERS = {
    "the prefixes of a log": Wrapper(("] ", "Z "), lambda text: _PREFIX.sub("", text)),
    "a string of JSON": Wrapper(("\\n", "\\\\"), _unescaped(("\\n", "\\\\"), _of_json)),
    "a string of LLVM": Wrapper(("\\0A", "\\5C"), _unescaped(("\\0A", "\\5C"), _of_llvm)),
    "a page of HTML": Wrapper(("&",), _of_html),
}
"""The wrappers besides colours; strings before HTML, whose quotation marks would end them."""


def unwrapped(text: str) -> str:
    r"""Take off what is around a dump; a text in which no dump is found stays as it is.

    Args:
        text: of a file or an argument.

    Example:
        >>> print(unwrapped('"#a = #ttg.slice<..>\\nmodule {\\n}"'))
        #a = #ttg.slice<..>
        module {
        }
        >>> print(unwrapped("I0000 triton:\"#a = #ttg.slice<..>\\0Amodule {\\0A}\""))
        I0000 triton:
        #a = #ttg.slice<..>
        module {
        }
    """
    text = _without_colours(text)
    if _LINE.search(text) is not None:
        return text
    seen, layer, work = {text}, [text], 0
    for _ in range(MAX_LAYERS):
        inner: list[str] = []
        for outer, wrapper in ((o, w) for o in layer for w in _outermost_first(o)):
            work += len(outer)
            if work > MAX_WORK:
                return text
            if not any(sign in outer for sign in wrapper.signs):
                continue
            bare = _without_colours(wrapper.remove(outer))
            if bare in seen:
                continue
            if _is_bare(bare):
                return bare
            seen.add(bare)
            inner.append(bare)
        layer = inner
    return text


def _is_bare(text: str) -> bool:
    """Tell whether a text has lines of MLIR, and nothing is left around them."""
    around = _ESCAPED.search(text) or _PREFIXED.search(text)
    return around is None and _LINE.search(text) is not None


def _outermost_first(text: str) -> Iterable[Wrapper]:
    """Order the wrappers: HTML without a quotation mark has those of its strings inside."""
    return WRAPPERS.values() if '"' in text else reversed(WRAPPERS.values())


def _without_colours(text: str) -> str:
    return _COLOURS.sub("", text) if "\x1b" in text else text
