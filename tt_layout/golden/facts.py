"""Labelled facts behind a golden file, and descriptions of their changes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from tt_layout.encodings import Encoding
from tt_layout.encodings.parsing import parse_layout
from tt_layout.errors import LayoutError
from tt_layout.mlir.types import TensorType, parse_type
from tt_layout.tuples import NamedTuple

Facts = dict[str, str]
"""Label of a fact -> its value, the most telling first."""

NONE = "none"
CLAUSE = "; "
TYPE, ATTRIBUTE, RELEASE = "type", "attribute", "triton"
LAYOUTS = (ATTRIBUTE, "layout", "to")
"""Labels of facts that are attributes; the one layout of a case needs no name in front."""
SAME_FACTS = "the case is as it was: another version of tt-layout printed the golden file"


class CaseOutput(NamedTuple):
    """Output of a case.

    Attributes:
        text: the content of its golden file.
        facts: facts that explain a change; if the type is among them, they determine the text.
    """

    text: bytes
    facts: Facts


def differences(old: Facts, new: Facts) -> tuple[str, ...]:
    """Describe the differences between facts whose texts differ.

    Example:
        >>> differences({"replication": "none", "padding": "8"}, {"replication": "warps x 2"})
        ('replication: was none, is warps x 2', 'padding: was 8, is none')
        >>> differences({"verdict": "no fix was found"}, {"verdict": "no findings"})
        ('verdict: was "no fix was found", is "no findings"',)
    """
    labels = dict.fromkeys([*new, *old])
    differing = [label for label in labels if old.get(label) != new.get(label)]
    if not differing and TYPE in new:
        return (SAME_FACTS,)
    return tuple(chain.from_iterable(_changes(label, old, new) for label in differing))


def _changes(label: str, old: Facts, new: Facts) -> Iterator[str]:
    """Yield the meaning of a changed fact: for a layout its map and its keys."""
    layouts = [_layout(label, facts) for facts in (old, new)] if label in LAYOUTS else []
    before, after = layouts or (None, None)
    if before is None or after is None:
        was, becomes = _apart(old.get(label, NONE), new.get(label, NONE))
        if " was " in f"{was} {becomes}":  # a sentence, which would run into this one
            was, becomes = f'"{was}"', f'"{becomes}"'
        yield f"{label}: was {was}, is {becomes}"
        return
    if TYPE in new and old.get(TYPE) == new[TYPE]:
        yield _moves(before, after, parse_type(new[TYPE]))
    name = "" if label == ATTRIBUTE else f"{label}: "
    yield from (f"{name}{key}" for key in _changed_keys(before, after))


def _apart(before: str, after: str) -> tuple[str, str]:
    """Return two texts without the clauses that they share.

    Example:
        >>> _apart("1 fix found; 8 KiB; 40 registers", "1 fix found; 8 KiB; 50 registers")
        ('40 registers', '50 registers')
        >>> _apart("no findings; 8 KiB", "no findings")
        ('8 KiB', 'none')
    """
    old, new = before.split(CLAUSE), after.split(CLAUSE)
    apart = [
        CLAUSE.join(clause for clause in own if clause not in other)
        for own, other in ((old, new), (new, old))
    ]
    return (apart[0] or NONE, apart[1] or NONE) if any(apart) else (before, after)


def _layout(label: str, facts: Facts) -> Encoding | None:
    """Parse the layout of a case by the rules of its release; None without one."""
    try:
        return parse_layout(facts.get(label, ""), release=facts.get(RELEASE))
    except LayoutError:
        return None


def _moves(before: Encoding, after: Encoding, tensor: TensorType) -> str:
    """Describe the difference of two maps."""
    from tt_layout.analyses.layouts.encoding_difference import difference

    if before.memory_space != after.memory_space:
        return f"memory: was {before.memory_space}, is {after.memory_space}"
    try:
        result = difference(before, after, tensor)
    except LayoutError as error:
        return error.message
    if result.same_map:
        return "the attribute is written differently, the map is the same"
    return "; ".join(result.words())


def _changed_keys(before: Encoding, after: Encoding) -> Iterator[str]:
    """Yield the keys of an attribute whose values differ."""
    if before.name != after.name:
        yield f"attribute: was #{before.name}, is #{after.name}"
        return
    old, new = (_values(layout) for layout in (before, after))
    for key in dict.fromkeys([*old, *new]):
        if old.get(key) != new.get(key):
            yield f"{key}: was {old.get(key, 'absent')}, is {new.get(key, 'absent')}"


def _values(layout: Encoding) -> dict[str, str]:
    """Return the values of an attribute's keys as text."""
    form, values = layout.spelling or layout.respell()
    return {k.name: k.kind.show(values[k.name]) for k in form.keys if not k.omitted(values)}
