"""``tt-layout swizzle``: the layout of shared memory with the fewest turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from tt_layout.analyses.candidates import SwizzleCandidate
from tt_layout.analyses.swizzle import FAMILIES, SwizzleSearch, find_swizzle
from tt_layout.cli.commands.conflicts import target_option
from tt_layout.cli.parameters import (
    echo,
    format_option,
    read_layout,
    read_release,
    read_type,
    release_option,
    type_option,
)
from tt_layout.errors import LayoutError
from tt_layout.hardware import Target, find_target
from tt_layout.reports.conflicts import access_json, count, element_bytes, evidence

JSON_VERSION = 1


def as_text(search: SwizzleSearch, show_all: bool) -> Iterator[tuple[str, str]]:
    """Yield the lines of the report with their colours."""
    if search.best is None:
        yield f"no layout of the family {search.family} fits this tensor", "red"
    else:
        yield from _in_words(search.best)
        if not search.free_of_conflicts:
            family = "no family is" if search.family == "all" else "none in this family is"
            tried = "" if search.is_whole else ", of the orders that were tried"
            yield f"{family} free of conflicts{tried}", "red"
    yield "", ""
    yield "best of all linear layouts:", ""
    yield from _in_words(search.optimum)
    if search.best is not None:
        more = search.best.wavefronts - search.optimum.wavefronts
        left = f"{count(more, 'wavefront')} per warp" if more > 0 else "nothing"
        yield f"  the family leaves {left} on the table", "yellow" if more > 0 else "green"
    if show_all:
        yield "", ""
        yield "wavefronts  excess   bytes", ""
        for candidate in search.ranking:
            yield _row(candidate), ""


def _in_words(candidate: SwizzleCandidate) -> Iterator[tuple[str, str]]:
    yield str(candidate.encoding), "green" if not candidate.excess else "yellow"
    turns = count(candidate.wavefronts, "wavefront")
    excess = "none" if not candidate.excess else count(candidate.excess, "").split()[0]
    yield (
        f"  {turns} per warp, {excess} of them due to conflicts; {candidate.memory_bytes} bytes",
        "",
    )
    for access in candidate.accesses:
        kind = "store" if access.is_store else "load"
        each = count(access.wavefronts_per_instruction, "wavefront")
        yield f"  {kind}: {access.instructions} x {access.name}, {each} each", ""


def _row(candidate: SwizzleCandidate) -> str:
    numbers = (_short(candidate.wavefronts), _short(candidate.excess), candidate.memory_bytes)
    return "{:>10}  {:>6}  {:>6}  ".format(*numbers) + str(candidate.encoding)


def _short(number: int | float) -> str:
    return count(number, "").split()[0]


def candidate_json(candidate: SwizzleCandidate) -> dict[str, Any]:
    """Return a candidate as plain data."""
    return {
        "layout": str(candidate.encoding),
        "wavefronts": candidate.wavefronts,
        "excess": candidate.excess,
        "memory_bytes": candidate.memory_bytes,
    }


def as_json(search: SwizzleSearch, target: Target, show_all: bool) -> dict[str, Any]:
    """Return the report as plain data; documented in ``docs/bank-conflicts.md``."""
    report: dict[str, Any] = {
        "version": JSON_VERSION,
        "target": target.name,
        "verified": target.verified,
        "family": search.family,
        "best": None,
        "free_of_conflicts": search.free_of_conflicts,
        "optimum": candidate_json(search.optimum),
    }
    if search.best is not None:
        accesses = [
            {"access": "store" if access.is_store else "load", **access_json(access)}
            for access in search.best.accesses
        ]
        report["best"] = {**candidate_json(search.best), "accesses": accesses}
    if show_all:
        report["ranking"] = [candidate_json(candidate) for candidate in search.ranking]
    return report


@click.command("swizzle")
@click.argument("writer", metavar="WRITER")
@click.argument("readers", metavar="[READER]...", nargs=-1)
@type_option
@click.option("--writer", "more_writers", multiple=True, metavar="WRITER", help="One more writer.")
@target_option
@click.option(
    "--family", type=click.Choice([*FAMILIES, "all"]), default="swizzled", show_default=True
)
@click.option("--all", "show_all", is_flag=True, help="Show the whole ranking.")
@release_option
@format_option
def command(
    writer: str,
    readers: tuple[str, ...],
    tensor: str,
    more_writers: tuple[str, ...],
    target_name: str,
    family: str,
    show_all: bool,
    triton: str | None,
    form: str,
) -> int:
    """Find the shared layout with the fewest turns for a writer and its readers.

    WRITER and READERs are layouts of registers, as attributes or FILE:ALIAS. With no reader the
    writer reads the tensor back. Exits 0; 2 on trouble.
    """
    release, tensor_type, target = read_release(triton), read_type(tensor), find_target(target_name)
    writers = [read_layout(text, release, "WRITER") for text in (writer, *more_writers)]
    loaders = [read_layout(text, release, "READER") for text in readers] or writers
    size = element_bytes(tensor_type)
    try:
        search = find_swizzle(
            writers, loaders, tensor_type.shape, elem_bytes=size, target=target, family=family
        )
    except LayoutError as error:
        raise error.at(tensor_type.span) from None
    if form == "json":
        import json

        click.echo(json.dumps(as_json(search, target, show_all), indent=2))
    else:
        for line, colour in as_text(search, show_all):
            echo(line, colour)
        echo(evidence(target))
    return 0
