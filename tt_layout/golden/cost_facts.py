"""What a changed cost means, in words: the leading facts of two texts, one against the other.

The golden and the text printed now are read through the templates that the reports are written
with.  Nothing is said of a golden in which no fact is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tt_layout.errors import LayoutError
from tt_layout.golden import costs
from tt_layout.golden.explain import changed_keys, old_layout
from tt_layout.golden.inputs import encoding, other_encoding
from tt_layout.reports import conflicts as conflict_lines
from tt_layout.reports.convert import (
    CONFLICTING_STEP,
    COUNTED_STEP,
    DST,
    LEAST,
    MEANINGS,
    MOVED,
    SCRATCH,
    SHUFFLES,
    SRC,
    STEP,
)
from tt_layout.reports.info import (
    ELEMENTS,
    INSTRUCTIONS,
    NO_REPLICATION,
    PADDING,
    REPLICATION,
    RESERVED,
    SECTORS,
    SIZE,
    VECTOR,
)
from tt_layout.reports.template import Template

if TYPE_CHECKING:
    from tt_layout.encodings import Encoding
    from tt_layout.golden.case import Case

Facts = dict[str, str]
"""Label of a fact -> its value, the most telling first."""
NONE = "none"


class Fact(NamedTuple):
    """Where a fact stands in a report.

    Attributes:
        templates: the lines that may hold it.
        fields: the names of its parts in them; none for the whole line.
        where: values that other fields of the line must have.
    """

    templates: tuple[Template, ...]
    fields: tuple[str, ...] = ("value",)
    where: Mapping[str, str] = {}

    def read(self, lines: Sequence[str]) -> str | None:
        """Return the fact in the lines of a report; None where it has none."""
        for line in lines:
            for template in self.templates:
                values = template.read(line)
                if values is not None and self.where.items() <= values.items():
                    return ", ".join(values[field] for field in self.fields) or line
        return None


INFO = {
    "elements per thread": Fact((ELEMENTS,)),
    "replication": Fact((REPLICATION, NO_REPLICATION), ("inputs",)),
    "global memory vector": Fact((VECTOR,), ("elements",)),
    "global memory instructions per warp": Fact((INSTRUCTIONS,)),
    "sectors per instruction": Fact((SECTORS,), ("sectors",)),
    "touched bytes used": Fact((SECTORS,), ("used",)),
    "size per CTA": Fact((SIZE,)),
    "padding": Fact((PADDING,)),
    "tensor memory": Fact((RESERVED,)),
}
"""Label -> where ``info`` has the fact, the most telling first."""

_COUNTED = CONFLICTING_STEP, COUNTED_STEP
_STEPS = *_COUNTED, STEP
CONVERT = {
    "conversion": Fact(tuple(map(Template, MEANINGS.values())), ()),
    "bytes between threads": Fact((MOVED,), ("bytes",)),
    "shuffles per warp": Fact((SHUFFLES,), ("shuffles",)),
    "compiled wavefronts of stores": Fact(_COUNTED, ("cycles",), {"kind": "store"}),
    "compiled wavefronts of loads": Fact(_COUNTED, ("cycles",), {"kind": "load"}),
    "wavefronts to store": Fact((LEAST,), ("store",)),
    "wavefronts to load": Fact((LEAST,), ("load",)),
    "scratch per CTA": Fact((SCRATCH,), ("size", "rounds")),
    "stores per warp": Fact(_STEPS, ("instructions",), {"kind": "store"}),
    "loads per warp": Fact(_STEPS, ("instructions",), {"kind": "load"}),
}
"""The same of ``convert``."""

CONFLICTS = {"target": Fact((conflict_lines.TARGET,), ("name",))}
"""The same of ``conflicts``, besides what each access has."""


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
    heads = zip((SRC, DST), golden.splitlines())
    layouts = [head["layout"] for template, line in heads if (head := template.read(line))]
    if len(layouts) < 2:
        return words
    src = (f"layout: {key}" for key in _keys(layouts[0], encoding(case), case))
    dst = (f"to: {key}" for key in _keys(layouts[1], other_encoding(case, "to"), case))
    return (*words, *src, *dst)


def info_facts(text: str) -> Facts:
    """Return the costs that an ``info`` contains.

    Example:
        >>> info_facts("#ttg.x<{}>\\nreplication             warps x 2; 2 locations per element\\n")
        {'replication': 'warps x 2'}
    """
    return _found(INFO, text)


def conflict_facts(text: str) -> Facts:
    """Return the costs of both accesses that ``conflicts`` contain, and the target.

    Example:
        >>> for label, value in conflict_facts(
        ...     "load: 8 x ld.shared.b32 per warp, 4 bytes per lane\\n"
        ...     "  2 wavefronts per instruction, at least 1: 1 extra wavefront\\n"
        ... ).items():
        ...     print(f"{label}: {value}")
        load wavefronts per warp: 16
        load wavefronts per instruction: 2
        load wavefronts due to conflicts: 1
        load instructions per warp: 8 x ld.shared.b32
    """
    lines = text.splitlines()
    facts: Facts = {}
    for line, following in pairwise(lines):
        if (instructions := conflict_lines.INSTRUCTIONS.read(line)) is not None:
            facts |= _access_facts(instructions, following)
    return facts | _found(CONFLICTS, text)


def _access_facts(instructions: Mapping[str, str], following: str) -> Facts:
    """Return the facts of an access, of its line and of the one that follows."""
    free = conflict_lines.CONFLICT_FREE.read(following)
    cost = free or conflict_lines.CONFLICTS.read(following)
    times = instructions["times"]
    if cost is None or not times.isdecimal():
        return {}
    kind, unit = instructions["kind"], cost["unit"].removesuffix("s")
    return {
        f"{kind} {unit}s per warp": _product(times, cost["cycles"]),
        f"{kind} {unit}s per instruction": cost["cycles"],
        f"{kind} {unit}s due to conflicts": cost.get("extra", NONE),
        f"{kind} instructions per warp": f"{times} x {instructions['name']}",
    }


def convert_facts(text: str) -> Facts:
    """Return the costs that a ``convert`` contains.

    Example:
        >>> convert_facts("shuffles within warps\\n  at least 16 shuffles per warp\\n")
        {'conversion': 'shuffles within warps', 'shuffles per warp': '16'}
    """
    return _found(CONVERT, text)


def _product(times: str, cycles: str) -> str:
    return f"{int(times) * float(cycles):.1f}".removesuffix(".0")


def _found(known: Mapping[str, Fact], text: str) -> Facts:
    lines = text.splitlines()
    found = ((label, fact.read(lines)) for label, fact in known.items())
    return {label: value for label, value in found if value is not None}


def _changes(old: Facts, new: Facts) -> tuple[str, ...]:
    """Return in words which facts differ; nothing where there are no old ones.

    Example:
        >>> _changes({"replication": "none", "padding": "8"}, {"replication": "warps x 2"})
        ('replication: was none, is warps x 2', 'padding: was 8, is none')
    """
    labels = dict.fromkeys([*new, *old]) if old else {}
    pairs = ((label, old.get(label, NONE), new.get(label, NONE)) for label in labels)
    return tuple(f"{label}: was {was}, is {now}" for label, was, now in pairs if was != now)


def _keys(attribute: str, layout: Encoding, case: Case) -> Iterator[str]:
    """Yield the keys in which a layout differs from an attribute of a golden, if that is one."""
    with suppress(LayoutError):
        yield from changed_keys(old_layout(attribute, case), layout)
