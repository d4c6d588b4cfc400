"""``tt-layout where``: who holds an element, and what a place holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import click

from tt_layout.algebra.linear_layout import LinearLayout
from tt_layout.analyses.point import MAX_HOLDERS, Holders, Place, holders, locate, offset_of_slot
from tt_layout.cli.parameters import (
    echo,
    format_option,
    read_layout,
    read_order,
    read_release,
    read_type,
    release_option,
    type_option,
)
from tt_layout.encodings import Encoding, SharedEncoding
from tt_layout.errors import LayoutError
from tt_layout.mlir.source import Source
from tt_layout.placement import place

JSON_VERSION = 1
INPUTS = ("block", "warp", "lane", "thread", "register", "offset", "partition", "row", "column")
NAMES = {"column": "col"}
"""Option -> the input that it is, where it has another name."""

Given = Mapping[str, int]


@dataclass(frozen=True)
class Answer:
    """What was asked and found.

    Attributes:
        encoding: the layout.
        holders: of the element asked for; None where a place was asked for.
        places: those asked for, or those that hold the element.
        padding: the slot of shared memory asked for, where it is padding.
    """

    encoding: Encoding
    holders: Holders | None
    places: tuple[Place, ...]
    padding: int | None = None


def find_element(
    encoding: Encoding, layout: LinearLayout, element: list[int], limit: int
) -> Answer:
    """Return who holds an element."""
    found = holders(layout, element, limit=limit, padding=_padding(encoding))
    return Answer(encoding, found, found.places)


def _asked_element(encoding: Encoding, layout: LinearLayout, text: str, limit: int) -> Answer:
    """Return who holds the element of ``--element``; an error points at the option."""
    try:
        coordinates = read_order(text, "--element") or []
        return find_element(encoding, layout, coordinates, limit)
    except LayoutError as error:
        raise error.at(Source(text, "--element").span(0, max(1, len(text)))) from None


def find_place(encoding: Encoding, layout: LinearLayout, given: Given) -> Answer:
    """Return what a place holds; of a thread, what all its registers hold.

    Raises:
        LayoutError: this kind of memory has no such places.
    """
    place = _place(layout, given)
    padding = _padding(encoding)
    if padding and "offset" in place:
        slot, size = place["offset"], layout.get_in_dim_size("offset")
        offset = offset_of_slot(slot, size, padding)
        if offset is None:
            return Answer(encoding, None, (), slot)
        place["offset"] = offset
    if "register" in layout.get_in_dim_names() and "register" not in place:
        count = min(layout.get_in_dim_size("register"), MAX_HOLDERS)
        all_of_it = [{**place, "register": r} for r in range(count)]
    else:
        all_of_it = [place]
    return Answer(encoding, None, tuple(locate(layout, p, padding=padding) for p in all_of_it))


def _padding(encoding: Encoding) -> tuple[tuple[int, int], ...]:
    return encoding.padding if isinstance(encoding, SharedEncoding) else ()


def _place(layout: LinearLayout, given: Given) -> dict[str, int]:
    """Return input -> coordinate for the options given."""
    place = {NAMES.get(name, name): value for name, value in given.items() if name != "thread"}
    if "thread" in given:
        if "lane" in place or "warp" in place:
            raise LayoutError("--thread counts lanes over all warps; leave out --lane and --warp")
        lanes = layout.get_in_dim_size("lane")
        threads = lanes * layout.get_in_dim_size("warp")
        if "lane" in layout.get_in_dim_names() and given["thread"] >= threads:
            raise LayoutError(f"thread must be in 0..{threads - 1}, got {given['thread']}")
        place |= {"warp": given["thread"] // lanes, "lane": given["thread"] % lanes}
    for name in place:
        if name not in layout.get_in_dim_names():
            own = ", ".join(n.replace("col", "column") for n in layout.get_in_dim_names())
            option = next(o for o in given if NAMES.get(o, o) == name or o == "thread")
            raise LayoutError(f"this layout has no {option}; its places have {own}")
    return place


def as_text(answer: Answer) -> list[str]:
    """Return the lines of the answer."""
    if answer.padding is not None:
        return [f"offset {answer.padding} is padding"]
    found = answer.holders
    if found is None:
        return [str(place) for place in answer.places]
    element = f"({', '.join(map(str, found.element))})"
    if not found.count:
        return [f"{element} is held by none"]
    lines = [f"{element} is held by {found.count} place{'s' if found.count > 1 else ''}"]
    lines += [f"  {place}" for place in found.places]
    if found.count > len(found.places):
        lines.append(f"  and {found.count - len(found.places)} more; --limit shows more of them")
    return lines


def as_json(answer: Answer) -> dict[str, Any]:
    """Return the answer as plain data; documented in ``docs/analyses.md``."""
    found = answer.holders
    return {
        "version": JSON_VERSION,
        "layout": str(answer.encoding),
        "element": found.element if found else None,
        "count": found.count if found else len(answer.places),
        "is_padding": answer.padding is not None,
        "places": [{**asdict(place), "place": dict(place.place)} for place in answer.places],
    }


def _input_options(function: Any) -> Any:
    """Add an option for each part of a place."""
    helps = {"thread": "Lane counted over all warps.", "offset": "In elements, as views count."}
    for name in reversed(INPUTS):
        text = helps.get(name, f"The {name}.")
        kind = click.IntRange(min=0)
        function = click.option(f"--{name}", type=kind, metavar="N", help=text)(function)
    return function


@click.command("where")
@click.argument("layout", metavar="LAYOUT")
@type_option
@click.option("--element", metavar="I,J", help="Who holds this element?")
@_input_options
@click.option(
    "--limit",
    type=click.IntRange(min=1, max=1 << 20),
    default=MAX_HOLDERS,
    show_default=True,
    help="List this many places at most.",
)
@release_option
@format_option
def command(
    layout: str,
    tensor: str,
    element: str | None,
    limit: int,
    triton: str | None,
    form: str,
    **inputs: int | None,
) -> None:
    """Say who holds an element, or what a place holds, and by which bits.

    LAYOUT is an attribute, or FILE:ALIAS. Ask for an element with --element, or for a place:
    --thread (or --lane and --warp) and --register; --offset; --row and --column. Without
    --register, all registers of the thread are listed.
    """
    given = {name: value for name, value in inputs.items() if value is not None}
    if (element is None) == (not given):
        message = "ask for one element with --element 3,5, or for one place"
        raise LayoutError(f"{message}, such as --thread 37 --register 2 or --offset 96")
    tensor_type = read_type(tensor)
    encoding = read_layout(layout, read_release(triton), "LAYOUT")
    linear = place(encoding, tensor_type).layout
    if element is not None:
        answer = _asked_element(encoding, linear, element, limit)
    else:
        answer = find_place(encoding, linear, given)
    if form == "json":
        import json

        click.echo(json.dumps(as_json(answer), indent=2))
        return
    for line in as_text(answer):
        echo(line)
