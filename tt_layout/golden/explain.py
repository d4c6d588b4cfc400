"""What a changed view means, in words: read back from the heading of its golden.

The golden's heading holds the attribute that made it, and its body shows the shape.  If that
attribute at that shape prints the golden again, then what changed is the type, the layout or
the options of the case, and they are compared as such.  If not, the golden file does not match
its heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from tt_layout.encodings import Encoding
from tt_layout.encodings.parsing import parse_layout
from tt_layout.errors import LayoutError
from tt_layout.golden.case import Case
from tt_layout.golden.inputs import encoding, release, tensor_type
from tt_layout.golden.views import selection, whole_view
from tt_layout.mlir.types import TensorType, parse_type
from tt_layout.placement import place
from tt_layout.views.kinds import ViewKind, find_kind
from tt_layout.views.request import ViewRequest
from tt_layout.views.selection import EVERYTHING

MAX_GOLDEN = 8 << 20  # characters of a golden that is looked into

_HEADING = re.compile(
    r"Print layout attribute: (?:#(?P<alias>[^\s=]+) = )?(?P<attribute>#.*?)"
    r"(?: \(each of the (?P<buffers>\d+) buffers? of a multi-buffered memdesc in [a-z ]+\))?"
)
_POINT = re.compile(r"\(([ \d]+(?:[,:][ \d]+)*)\)")


@dataclass(frozen=True)
class _Heading:
    """What the first line of a golden contains."""

    alias: str | None
    attribute: str
    buffers: int | None


def view(golden: str, case: Case, name: str) -> tuple[str, ...]:
    """Return what the difference between a golden view and that of the case means."""
    kind = find_kind(name)
    if len(golden) > MAX_GOLDEN:
        return ()
    heading = _heading(golden)
    if heading is None:
        return ("golden file does not match its heading: line 1 is not the heading of a view",)
    try:
        layout = old_layout(heading.attribute, case)
    except LayoutError as error:
        reason = error.message
        return (f"golden file does not match its heading: the layout cannot be read: {reason}",)
    first_wrong = 1
    for candidate in _candidates(golden, heading, layout, case, kind):
        text = _text(candidate, heading.alias)
        if text == golden:
            return tuple(_differences(candidate, heading, case, kind))
        first_wrong = max(first_wrong, _first_difference(text, golden))
    return (
        f"golden file does not match its heading: line {first_wrong} is not what that prints "
        "(if nobody edited it, other options or another version of tt-layout made it)",
    )


def _heading(golden: str) -> _Heading | None:
    """Return what the first line of a golden contains; None if it is not a heading.

    Example:
        >>> _heading("Print layout attribute: #a = #ttg.x<{}> (each of the 2 buffers of a \
multi-buffered memdesc in shared memory)\\n")
        _Heading(alias='a', attribute='#ttg.x<{}>', buffers=2)
    """
    match = _HEADING.fullmatch(golden.partition("\n")[0])
    if match is None:
        return None
    buffers = match["buffers"]
    return _Heading(match["alias"], match["attribute"], int(buffers) if buffers else None)


def old_layout(attribute: str, case: Case) -> Encoding:
    """Read an attribute of a golden by the case's release, or by the one that knows it."""
    try:
        return parse_layout(attribute, release=release(case), name="golden")
    except LayoutError:
        if case.text("triton") is None:
            raise
        return parse_layout(attribute, name="golden")


def _text(request: ViewRequest, alias: str | None) -> str:
    """Return the whole text of a view; nothing where the layout has no such part."""
    try:
        view = whole_view(request, alias)
    except LayoutError:
        return ""
    return b"".join(view.chunks()).decode() if view.size <= MAX_GOLDEN else ""


def _candidates(
    golden: str, heading: _Heading, layout: Encoding, case: Case, kind: ViewKind
) -> Iterator[ViewRequest]:
    """Yield what may have made the golden: the case's type and options, or as the text shows."""
    now, chosen = tensor_type(case), selection(case, kind)
    shape = _shape(golden.partition("\n")[2])
    types = [now]
    if shape and heading.buffers:
        types.append(_with_shape(now, (heading.buffers, *shape), "memdesc"))
    elif shape and now.kind == "memdesc" and len(now.shape) > len(shape):
        types.append(_with_shape(now, shape, "memdesc"))
    elif shape and shape != now.shape:
        types.append(_with_shape(now, shape, "tensor"))
    selections = [chosen] if chosen == EVERYTHING else [chosen, EVERYTHING]
    for one in types:
        for part in selections:
            with suppress(LayoutError):  # the layout is not for this type
                yield ViewRequest(place(layout, one), kind, part)


def _with_shape(like: TensorType, shape: tuple[int, ...], kind: str) -> TensorType:
    sizes = "x".join(map(str, shape))
    head = "tensor" if kind == "tensor" else "!ttg.memdesc"
    return parse_type(f"{head}<{sizes}x{like.element_type}>")


def _shape(body: str) -> tuple[int, ...]:
    """Return the shape of the tensor that a view shows; () where it cannot be determined.

    Where the cells are coordinates the largest ones determine it, else the brackets do.

    Example:
        >>> _shape("[[T0:0, T0:1]\\n[ T1:0, T1:1]]\\n")
        (2, 2)
        >>> _shape("Warp0:\\n( 0,0), ( 9,3)\\n")
        (16, 4)
    """
    points = set(_POINT.findall(body))
    if points:
        rows = [tuple(map(int, re.split("[,:]", point))) for point in points]
        if len({len(row) for row in rows}) > 1:
            return ()
        return tuple(1 << max(axis).bit_length() for axis in zip(*rows))
    return _bracket_shape(body.splitlines())


def _bracket_shape(lines: list[str]) -> tuple[int, ...]:
    """Return the shape by the number of cells in a line, and of lines to each bracket."""
    if not lines or not lines[0].startswith("["):
        return ()
    rank = len(lines[0]) - len(lines[0].lstrip("["))
    periods = [1]  # lines until this many brackets close
    for closed in range(2, rank + 1):
        ending = "]" * closed
        period = next((n for n, line in enumerate(lines, 1) if line.endswith(ending)), 0)
        if not period or period % periods[-1]:
            return ()
        periods.append(period)
    sizes = [lines[0].count(",") + 1, *(b // a for a, b in pairwise(periods))]
    return tuple(reversed(sizes))


def _first_difference(text: str, golden: str) -> int:
    """Return the number of the first line of the golden that is not in the text.

    Example:
        >>> _first_difference("a\\nb\\n", "a\\nc\\n"), _first_difference("a\\n", "a")
        (2, 1)
    """
    pairs = zip_longest(golden.splitlines(keepends=True), text.splitlines(keepends=True))
    return next((n for n, (old, new) in enumerate(pairs, 1) if old != new), 0)


def _differences(
    origin: ViewRequest, heading: _Heading, case: Case, kind: ViewKind
) -> Iterator[str]:
    """Yield in words what differs between what made the golden and the case."""
    layout, tensor = encoding(case), tensor_type(case)
    if origin.placed.tensor.shape != tensor.shape:
        yield f"type: was {_sizes(origin.placed.tensor.shape)}, is {_sizes(tensor.shape)}"
    elif str(origin.placed.encoding) != str(layout):
        yield _moves(origin.placed.encoding, layout, tensor)
    yield from changed_keys(origin.placed.encoding, layout)
    if origin.selection != selection(case, kind):
        yield "the golden shows the whole view, the case a part of it"
    alias = (case.text("alias") or "").removeprefix("#") or None
    if heading.alias != alias:
        yield f"alias: was {_alias(heading.alias)}, is {_alias(alias)}"


def _sizes(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def _alias(name: str | None) -> str:
    return "none" if name is None else f"#{name}"


def _moves(before: Encoding, after: Encoding, tensor: TensorType) -> str:
    """Return how the map differs, in words."""
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


def changed_keys(before: Encoding, after: Encoding) -> Iterator[str]:
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
