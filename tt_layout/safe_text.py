"""Sanitized text of files, which cannot act on terminals, notebooks or CI.

A terminal acts on control characters, a viewer on those that turn the direction of text, and the
log of a CI run on lines that begin with ``::`` or ``##[``.

Source:
    ECMA-48; Unicode, UAX 9; GitHub, "Workflow commands for GitHub Actions"; Azure, "Logging
    commands".
"""

from __future__ import annotations

import re

_COMMAND = re.compile(r"^(\s*)(?=::|##\[)(.)", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,32}m")


def safe(text: str) -> str:
    r"""Return a text on one line, with ``?`` for each unprintable character.

    Example:
        >>> safe("a\x1b]8;;x\x07b\nc\u202ed")
        'a?]8;;x?b?c?d'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c == "\t" else "?" for c in text)


def as_html(text: str) -> str:
    """Return a text as HTML for a notebook, with its lines kept.

    Example:
        >>> as_html("a <b>")
        '<pre>a &lt;b&gt;</pre>'
    """
    from html import escape

    return f"<pre>{escape(text)}</pre>"


def shortened(text: str, most: int) -> str:
    """Return a text, its middle cut out if it is longer than ``most`` characters.

    Example:
        >>> shortened("a" * 1000 + "b", 20)
        'aaaaaaaa ... aaaaaab'
    """
    if len(text) <= most:
        return text
    half = (most - len(" ... ")) // 2
    return f"{text[: most - len(' ... ') - half]} ... {text[-half:]}"


def abridged(text: str, most: int) -> str:
    """Return a sentence, whole words of its middle cut out if it is longer than ``most``.

    Example:
        >>> abridged("the layout of the registers is for 4 warps, and the module has 8", 40)
        'the layout of the ... the module has 8'
    """
    if len(text) <= most:
        return text
    half = (most - len(" ... ")) // 2
    start, end = text[: most - len(" ... ") - half], text[-half:]
    words, last_words = start.rpartition(" ")[0], end.partition(" ")[2]
    start = words if 2 * len(words) > len(start) else start
    end = last_words if 2 * len(last_words) > len(end) else end
    return f"{start} ... {end}"


def safe_lines(text: str, *, coloured: bool = False) -> str:
    r"""Return lines of a text, none of which CI takes for a command.

    Args:
        text: the lines.
        coloured: whether the colours in it are our own.

    Example:
        >>> safe_lines("a\x07\n  ::stop-commands::x\n##[group]y")
        'a?\n  ?:stop-commands::x\n?#[group]y'
        >>> safe_lines("\x1b[31ma\x07\x1b[0m\x1b[2J", coloured=True)
        '\x1b[31ma?\x1b[0m?[2J'
    """
    if not text.replace("\n", "").isprintable():
        text = "\n".join(_safe_line(line, coloured) for line in text.split("\n"))
    return _COMMAND.sub(r"\1?", text) if "::" in text or "##[" in text else text


def _safe_line(line: str, coloured: bool) -> str:
    if line.isprintable() or not coloured:
        return safe(line)
    parts = _COLOUR.split(line)
    colours = [*_COLOUR.findall(line), ""]
    return "".join(safe(part) + colour for part, colour in zip(parts, colours))
