"""Wrappers around a dump (colours, prefixes of logs, escapes), removed before it is read.

People paste what they have: a terminal's output, a page, a field of JSON, a line of a log in which
the compiler escaped the line breaks.  Each wrapper is a row of `WRAPPERS`.  A dump may be in
several: the fewest that lead to a text with lines of MLIR are removed.  They are found at the
beginning of a long text; the whole is then unwrapped once, in chunks, so that many escapes take
little more memory than the text itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from tt_layout.tuples import NamedTuple

MAX_LAYERS = 3
"""Wrappers that are taken off one after the other."""

BEGINNING = 1 << 20
"""Characters of a long text that show what is around it."""

MAX_WRAPPED = 1 << 25
"""Characters of a text: of a longer one only what costs no search is taken off."""

MAX_WORK = 1 << 25
"""Characters that are looked at, over all wrappers that are tried."""

MAX_QUOTATION_MARKS = 1 << 20
"""Of a line whose strings are looked for."""

CHUNK = 1 << 20
"""Characters that are decoded at once."""

_MLIR = r"""[ \t]*(?:
    (?:builtin\.)?module(?:[ ]@\S+)?[ ]*(?:attributes[ ]*\{[^\n\\&]*|\{[ \t]*)
  | tt\.func[ ][^\n\\&]*
  | [#!][\w$.-]+[ ]=[ ][#!][\w.]+<[^\n\\&]*
)$"""
_LINE = re.compile(f"^{_MLIR}", re.VERBOSE | re.MULTILINE)
"""A line of a dump that nothing is around."""
_WORDS = ("module", "func ", " = #", " = !")
"""What one of is in each such line."""
_LINE_OF_BYTES = re.compile(_LINE.pattern.encode(), re.VERBOSE | re.MULTILINE)

_ESCAPED = re.compile(
    r'(?<!\\)(?:\\+"[\w.-]+\\+" = |\\+22[\w.-]+\\+22 = )|&(?:amp;)*(?:lt|gt|quot|#x?\d\d);'
)
"""What is left in a text that is still wrapped."""

_LINES_IN_A_LINE = ("\\nmodule", "\\0Amodule")
"""What is in a line that has a module with its line breaks escaped, once or more often."""

_CALL = "stablehlo.custom_call"
"""What calls a kernel in a module of XLA's, with the kernel's module in a string."""

_COLOURS = re.compile(r"\x1b\[[\d;:]*[mK]")
"""What colours a text; what else a terminal would act on stays, to be shown as it is."""
_PAYLOAD = '"has_payload": "'
"""What is in an event of TORCH_TRACE whose payload is the lines below, behind tabs."""
_TAB = re.compile("^\t+", re.MULTILINE)
_LOG = r"""(?:
    (?:\[(?:rank|default|gw)\d+\]:?[ ]?)?                    # of several processes
    (?:
        \[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?:?[ ]?    # the time, of CI and of XLA
        (?:[IWEF][ ]\S+:\d+\][ ])?
      | [A-Z]\d{4}[ ][\d:.]+[ ]+(?:\d+[ ])?\S+:\d+\][ ]                     # glog, TORCH_LOGS
        (?:\[(?!rank|default|gw)[^\]\n]*\][ ]?)*
    )
  | \[(?:rank|default|gw)\d+\]:?[ ]?
)"""
_PREFIX = f"(?xm)^{_LOG}"
_PREFIXED = f"(?xm)^{_LOG}{_MLIR}"
_RECORD = rf"(?x)(?:{_LOG})?(?P<object>\{{.*\}})[ \t]*"
"""Patterns that are compiled when something is around a dump: few runs need them."""
_KEYS = ("log", "message", "msg", "textPayload")
"""Keys under which a log that has an object of JSON in each line, as containers' have, has it."""
_QUOTATION_MARK = re.compile(r'(?<!\\)\\*"')
_JSON_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_LLVM_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")
_LETTERS = {"n": "\n", '"': '"', "t": "\t", "/": "/", "r": "\r", "b": "\b", "f": "\f"}
_TAG = re.compile(
    r"</?(?:a|b|body|br|code|div|font|head|html|i|p|pre|span|table|tbody|td|th|tr)\b[^<>]*>"
)

_HALF_ESCAPED = re.compile(r"^[ \t]*[#!][\w$.-]+ = [#!][\w.]+&(?:amp;)*lt;", re.MULTILINE)
"""A layout whose angles are entities of HTML, in a text whose quotation marks need not be."""
_CURLY = str.maketrans("\u201c\u201d\u201e", '"""')
"""Quotation marks that programs for prose make of straight ones."""

_BEFORE_ESCAPE = re.compile(r"(?<!\\)(?=\\)")
_BEFORE_ENTITY = re.compile("(?=[&<])")
_BEFORE_COLOUR = re.compile("(?=\x1b)")
_BEHIND_LINE = re.compile("(?<=\n)")


class Wrapper(NamedTuple):
    """A kind of wrapper around a dump.

    Attributes:
        signs: texts of which any wrapped text contains one.
        remove: function that removes the wrapper.
    """

    signs: tuple[str, ...]
    remove: Callable[[str], str]


def _by_chunks(text: str, boundary: re.Pattern[str], change: Callable[[str], str]) -> str:
    """Change a text in chunks.

    Args:
        text: the text.
        boundary: pattern that matches the empty string where the text may be cut.
        change: function from a chunk to its new text.
    """

    def chunks() -> Iterator[str]:
        start = 0
        while start < len(text):
            cut = boundary.search(text, start + CHUNK)
            end = len(text) if cut is None else cut.end()
            yield change(text[start:end])
            start = end

    return change(text) if len(text) <= CHUNK else "".join(chunks())


def _unescaped(signs: tuple[str, ...], decode: Callable[[str], str]) -> Callable[[str], str]:
    """Make a function that decodes the strings of each line that have a sign, or else the line.

    The text before and after such a string goes on separate lines.
    """
    sign = re.compile("|".join(map(re.escape, signs)))

    def line(text: str) -> str:
        if text.count('"') > MAX_QUOTATION_MARKS:
            return text
        found = _QUOTATION_MARK.finditer(text)
        marks = [match.end() for match in found if (match.end() - match.start()) % 2]
        parts: list[str] = []
        done = 0
        for start, end in zip(marks[::2], [*marks[1::2], len(text) + 1]):
            if sign.search(text, start, end - 1) is None:
                continue
            before = text[done : start - 1]
            parts += [before, "\n" if start > 1 else "", decode(text[start : end - 1])]
            parts.append("\n" if end < len(text) else "")
            done = min(end, len(text))
        return "".join([*parts, text[done:]]) if parts else decode(text)

    def lines(text: str) -> str:
        parts: list[str] = []
        done = 0
        while (match := sign.search(text, done)) is not None:
            start = text.rfind("\n", done, match.start()) + 1 or done
            end = text.find("\n", match.end())
            end = len(text) if end < 0 else end
            parts += [text[done:start], line(text[start:end])]
            done = end
        return "".join([*parts, text[done:]])

    return lines


def _of_json(text: str) -> str:
    def decoded(chunk: str) -> str:
        """Decode the text between escaped backslashes, so that no escape begins in one."""
        parts = chunk.split("\\\\")
        for at, part in enumerate(parts):
            if "\\" in part:
                for letter, character in _LETTERS.items():
                    part = part.replace(f"\\{letter}", character)
                parts[at] = _JSON_CODE.sub(lambda match: chr(int(match[1], 16)), part)
        return "\\".join(parts)

    return _by_chunks(text, _BEFORE_ESCAPE, decoded)


def _of_records(text: str) -> str:
    import json

    def line(written: str) -> str:
        match = re.fullmatch(_RECORD, written) if any(key in written for key in _KEYS) else None
        if match is None:
            return written
        try:
            record = json.loads(match["object"])
        except (ValueError, RecursionError):
            return written
        texts = (record[key] for key in _KEYS if isinstance(record.get(key), str))
        return str(next(texts, written)).removesuffix("\n")

    return "\n".join(map(line, text.split("\n")))


def _of_llvm(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        return chr(int(match[1], 16))

    return _by_chunks(text, _BEFORE_ESCAPE, lambda chunk: _LLVM_ESCAPE.sub(character, chunk))


def _of_html(text: str) -> str:
    from html import unescape

    return _by_chunks(text, _BEFORE_ENTITY, lambda chunk: unescape(_TAG.sub(_break, chunk)))


def _break(tag: re.Match[str]) -> str:
    return "\n" if tag[0].startswith("<br") else ""


def _without_prefixes(text: str) -> str:
    return _by_chunks(text, _BEHIND_LINE, lambda chunk: re.sub(_PREFIX, "", chunk))


def _peeled(text: str) -> str:
    """Remove wrappers that need no search: colours, curly quotation marks, tabs of a payload."""
    if "\u201c" in text and '"' not in text:
        text = text.translate(_CURLY)
    if "\x1b" in text:
        text = _by_chunks(text, _BEFORE_COLOUR, lambda chunk: _COLOURS.sub("", chunk))
    if _PAYLOAD in text:
        text = _by_chunks(text, _BEHIND_LINE, lambda chunk: _TAB.sub("", chunk))
    return text


WRAPPERS = {
    "lines of JSON": Wrapper(tuple(f'"{key}"' for key in _KEYS), _of_records),
    "the prefixes of a log": Wrapper(("] ", "]:", "Z "), _without_prefixes),
    "a string of JSON": Wrapper(("\\n", "\\\\"), _unescaped(("\\n", "\\\\"), _of_json)),
    "a string of LLVM": Wrapper(("\\0A", "\\5C"), _unescaped(("\\0A", "\\5C"), _of_llvm)),
    "a page of HTML": Wrapper(("&",), _of_html),
}
"""The wrappers that are looked for; strings before HTML, whose quotation marks would end them."""


def unwrapped(text: str) -> str:
    r"""Remove the wrappers around a dump; a text without a dump is unchanged.

    Args:
        text: the text of a file or an argument.

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
    text = _peeled(text)
    if _has_line(text):
        for _ in range(MAX_LAYERS):
            if "lt;" in text and _HALF_ESCAPED.search(text):
                text = _of_html(text)
        return _with_lines_unwrapped(text)
    if len(text) > MAX_WRAPPED:
        return text
    if len(text) > BEGINNING and (found := _search(text[:BEGINNING])) is not None:
        for wrapper in found[1]:
            text = _peeled(wrapper.remove(text))
        return text
    found = _search(text)
    return text if found is None else found[0]


def is_wrapped(text: str) -> bool:
    """Tell whether a text contains a wrapped dump.

    Example:
        >>> is_wrapped('{"ttgir": "module {\\\\n}\\\\n"}'), is_wrapped('{"name": "a\\\\nb"}')
        (True, False)
    """
    text = _peeled(text)
    return _has_line(text) or _search(text) is not None


def has_bare_line(data: bytes) -> bool:
    """Tell whether a part of a file has a line of MLIR without wrappers."""
    return _LINE_OF_BYTES.search(data) is not None


def has_wrapped_part(data: bytes) -> bool:
    """Tell whether a part of a file has colours, or a module with escaped line breaks."""
    signs = ("\x1b", *_LINES_IN_A_LINE)
    return any(sign.encode() in data for sign in signs)


def _search(text: str) -> tuple[str, tuple[Wrapper, ...]] | None:
    """Find the fewest wrappers that lead to a dump; return it and them, outermost first."""
    seen, work = {text}, 0
    layer: list[tuple[str, tuple[Wrapper, ...]]] = [(text, ())]
    for _ in range(MAX_LAYERS):
        inner: list[tuple[str, tuple[Wrapper, ...]]] = []
        for outer, around in layer:
            for wrapper in _outermost_first(outer):
                if not any(sign in outer for sign in wrapper.signs):
                    continue
                work += len(outer)
                if work > MAX_WORK:
                    return None
                bare = _peeled(wrapper.remove(outer))
                if bare in seen:
                    continue
                if _is_bare(bare):
                    return bare, (*around, wrapper)
                seen.add(bare)
                inner.append((bare, (*around, wrapper)))
        layer = inner
    return None


def _with_lines_unwrapped(text: str) -> str:
    """Unwrap the lines that have a whole module each, in a text that has other lines, too.

    Of an XLA module that calls kernels only the kernels are kept.
    """
    if not any(sign in text for sign in _LINES_IN_A_LINE) or len(text) > MAX_WRAPPED:
        return text
    lines, is_called = text.split("\n"), _CALL in text
    for at, line in enumerate(lines):
        if any(sign in line for sign in _LINES_IN_A_LINE):
            found = _search(line)
            lines[at] = line if found is None else found[0]
        elif is_called:
            lines[at] = ""
    return "\n".join(lines)


def _is_bare(text: str) -> bool:
    """Tell whether a text has lines of MLIR without wrappers."""
    around = _ESCAPED.search(text) or re.search(_PREFIXED, text)
    return around is None and _has_line(text)


def _has_line(text: str) -> bool:
    return any(word in text for word in _WORDS) and _LINE.search(text) is not None


def _outermost_first(text: str) -> Iterable[Wrapper]:
    """Return the wrappers in search order: HTML without quotation marks comes last."""
    beginning = text[:BEGINNING]
    is_quoted = '"' in (_TAG.sub("", beginning) if "<" in beginning else beginning)
    return WRAPPERS.values() if is_quoted else reversed(WRAPPERS.values())
