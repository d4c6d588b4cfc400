"""What a changed cost means, in words: the leading facts of two texts, one against the other.

The golden and the text printed now are read in the same way.  Of a golden in which no fact is
found nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from tt_layout.errors import LayoutError
from tt_layout.golden import costs
from tt_layout.golden.explain import changed_keys, old_layout
from tt_layout.golden.inputs import encoding, other_encoding
from tt_layout.reports.conflicts import KINDS
from tt_layout.reports.convert import MEANINGS

if TYPE_CHECKING:
    from tt_layout.encodings import Encoding
    from tt_layout.golden.case import Case

Facts = dict[str, str]
"""Label of a fact -> its value, the most telling first."""

Patterns = dict[str, str]
"""Label of a fact -> where a text says it; the groups are the value."""

INFO: Patterns = {
    "elements per thread": r"^elements per thread +(.+)$",
    "copies": r"^copies +([^;\n]+)",
    "global memory vector": r"^  vector +(\d+ elements?),",
    "global memory instructions per warp": r"^  instructions per warp +(\d+)$",
    "sectors per instruction": r"^  each of them +(\d+) sectors",
    "touched bytes used": r"(\d+%) of the bytes used$",
    "size per CTA": r"^size per CTA +(.+)$",
    "padding": r"^padding +(.+)$",
    "tensor memory": r"^reserved +(.+)$",
}

CONVERT: Patterns = {
    "conversion": f"^({'|'.join(map(re.escape, MEANINGS.values()))})$",
    "bytes between threads": r"^  moves (\d+) bytes between threads$",
    "shuffles per warp": r"^  at least (\d+) shuffles per warp$",
    "compiled wavefronts of stores": r"^  store: .*, (\d+) wavefronts per CTA",
    "compiled wavefronts of loads": r"^  load: .*, (\d+) wavefronts per CTA",
    "wavefronts to store": r"^  at least (\d+) wavefronts to store ",
    "wavefronts to load": r"^  at least .* and (\d+) to load, per CTA$",
    "scratch per CTA": r"^  (\d+ bytes) of scratch per CTA on \w+, (.+)$",
    "stores per warp": r"^  store: (\d+ x \S+) per warp",
    "loads per warp": r"^  load: (\d+ x \S+) per warp",
}

ACCESS = (
    r"^{kind}: ((\d{{1,18}}) x \S+) per warp, .*\n"
    r"  (\d{{1,18}}(?:\.\d+)?) wavefronts? per instruction(?:.* (\S+) too many)?"
)
"""Where a text tells of storing or loading: the instructions, how many, their turns, excess."""

NONE = "none"


def info(golden: str, case: Case) -> tuple[str, ...]:
    """Return what the difference between a golden ``info`` and the case means."""
    words = _changes(info_facts(golden), info_facts(costs.info(case).decode()))
    return (*words, *_keys(golden.partition("\n")[0], encoding(case), case))


def conflicts(golden: str, case: Case) -> tuple[str, ...]:
    """Return what the difference between golden ``conflicts`` and the case means."""
    return _changes(conflict_facts(golden), conflict_facts(costs.conflicts(case).decode()))


def convert(golden: str, case: Case) -> tuple[str, ...]:
    """Return what the difference between a golden ``convert`` and the case means."""
    words = _changes(convert_facts(golden), convert_facts(costs.convert(case).decode()))
    if (pair := re.match(r"- (.*)\n\+ (.*)\n", golden)) is None:
        return words
    src = (f"layout: {key}" for key in _keys(pair[1], encoding(case), case))
    dst = (f"to: {key}" for key in _keys(pair[2], other_encoding(case, "to"), case))
    return (*words, *src, *dst)


def info_facts(text: str) -> Facts:
    """Return what an ``info`` says of costs.

    Example:
        >>> info_facts("#ttg.x<{}>\\ncopies                  warps x 2; 2 of each element\\n")
        {'copies': 'warps x 2'}
    """
    return _found(INFO, text)


def conflict_facts(text: str) -> Facts:
    """Return what ``conflicts`` say of both accesses, and for which target.

    Example:
        >>> for label, value in conflict_facts(
        ...     "load: 8 x ld.shared.b32 per warp, 4 bytes a lane\\n"
        ...     "  2 wavefronts per instruction, 1 at least: 1 too many\\n"
        ... ).items():
        ...     print(f"{label}: {value}")
        load wavefronts per warp: 16
        load wavefronts per instruction: 2
        load wavefronts due to conflicts: 1
        load instructions per warp: 8 x ld.shared.b32
    """
    facts: Facts = {}
    for kind in KINDS:
        if match := re.search(ACCESS.format(kind=kind), text, re.MULTILINE):
            instructions, times, turns, excess = match.groups()
            facts |= {
                f"{kind} wavefronts per warp": _product(times, turns),
                f"{kind} wavefronts per instruction": turns,
                f"{kind} wavefronts due to conflicts": excess or NONE,
                f"{kind} instructions per warp": instructions,
            }
    return facts | _found({"target": r"^target: (\w+),"}, text)


def convert_facts(text: str) -> Facts:
    """Return what a ``convert`` says of costs.

    Example:
        >>> convert_facts("shuffles within warps\\n  at least 16 shuffles per warp\\n")
        {'conversion': 'shuffles within warps', 'shuffles per warp': '16'}
    """
    return _found(CONVERT, text)


def _product(times: str, turns: str) -> str:
    return f"{int(times) * float(turns):.1f}".removesuffix(".0")


def _found(patterns: Patterns, text: str) -> Facts:
    matches = {label: re.search(known, text, re.MULTILINE) for label, known in patterns.items()}
    return {label: ", ".join(match.groups()) for label, match in matches.items() if match}


def _changes(old: Facts, new: Facts) -> tuple[str, ...]:
    """Return in words which facts differ; nothing where there are no old ones.

    Example:
        >>> _changes({"copies": "none", "padding": "8"}, {"copies": "warps x 2"})
        ('copies: was none, is warps x 2', 'padding: was 8, is none')
    """
    labels = dict.fromkeys([*new, *old]) if old else {}
    pairs = ((label, old.get(label, NONE), new.get(label, NONE)) for label in labels)
    return tuple(f"{label}: was {was}, is {now}" for label, was, now in pairs if was != now)


def _keys(attribute: str, layout: Encoding, case: Case) -> Iterator[str]:
    """Yield the keys in which a layout differs from an attribute of a golden, if that is one."""
    with suppress(LayoutError):
        yield from changed_keys(old_layout(attribute, case), layout)
