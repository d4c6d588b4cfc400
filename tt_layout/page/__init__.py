"""Interactive pages: layouts in one HTML file that needs no network.

The templates beside this module do the work in the browser; here they are only filled in.  A layout
is embedded as its basis vectors, which the page evaluates and inverts itself.

    types.js         the types of values passed between scripts, for the type checker
    state.js         the file's data, the state in the address, and values derived from both
    algebra.js       linear layouts over F2
    syntax.js        attributes and types as MLIR writes them
    spellings.js     attributes in the spelling of a release
    checks.js        rules that many encodings share
    distributed.js   layouts in registers
    instructions.js  layouts of matrix instructions
    shared.js        layouts in shared memory
    tensor_memory.js layouts in tensor memory
    attributes.js    attribute texts as layouts
    calls.js         calls as Python writes them
    gluon.js         constructors of Gluon and TLX
    cute.js          CuTe layouts
    notations.js     the notation of a text, and its layout
    shortest.js      the attribute with parameters that equals a layout of bases
    compare.js       the data movement between two layouts, in words
    targets.js       the GPUs of the page
    access.js        the cost of loads and stores of shared memory
    layout.js        the locations of a layout, and groups of them: warps, banks, ...
    colour.js        the palette
    grid.js          a grid of cells on a canvas
    arrangement.js   the arrangement of grids in the window
    sources.js       the contents of the grids
    matrix.js        the matrix with labelled bits
    conflicts.js     the section about an access
    reduction.js     the section about the order of additions
    sectors.js       the chart of an access to global memory
    suggestion.js    the layout to use instead of one with bank conflicts
    cycles.js        the chart of an access: the lane that each bank serves in each cycle
    tile.js          the tile of one instruction
    multiplication.js  a multiplication: A on the left, B above, D in the corner
    text.js          a long text, of which only the visible lines are in the document
    layouts.js       the box in which a layout is chosen
    report.js        the findings and data movements of a dump
    dump.js          the dump's text, with links from its lines
    reading.js       a dump that is pasted or dropped
    playground.js    the texts of a page without a layout of its own
    page.js          controls, address
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field
from functools import cache
from importlib import resources
from typing import Any

from tt_layout.colour import CELLS, SHADES
from tt_layout.errors import LayoutError
from tt_layout.hardware import ROWS, USUAL_TARGETS, PhaseTable, Target, find_target
from tt_layout.notation.registry import NOTATIONS
from tt_layout.page.embedded import check_sizes, embedded
from tt_layout.page.rules import SCRIPTS_RELEASE, encoding_rules
from tt_layout.placement import PlacedLayout
from tt_layout.records import dataclass
from tt_layout.releases import Release
from tt_layout.safe_text import safe
from tt_layout.version import __version__

SCRIPTS = (
    "types.js",
    "state.js",
    "algebra.js",
    "syntax.js",
    "spellings.js",
    "checks.js",
    "distributed.js",
    "instructions.js",
    "shared.js",
    "tensor_memory.js",
    "attributes.js",
    "calls.js",
    "gluon.js",
    "cute.js",
    "notations.js",
    "shortest.js",
    "compare.js",
    "targets.js",
    "access.js",
    "layout.js",
    "colour.js",
    "grid.js",
    "arrangement.js",
    "sources.js",
    "matrix.js",
    "conflicts.js",
    "reduction.js",
    "suggestion.js",
    "cycles.js",
    "sectors.js",
    "operands.js",
    "multiplication.js",
    "tile.js",
    "text.js",
    "layouts.js",
    "report.js",
    "time.js",
    "assembly.js",
    "dump.js",
    "reading.js",
    "playground.js",
    "page.js",
)
OF_DUMPS = ("time.js", "assembly.js")
"""Scripts that only pages that embed a dump have."""

_COMMENTS = re.compile(
    r"^\s*(?://.*|/\*(?:(?!\*/)(?s:.))*\*/)\n"  # on lines of their own
    r"|(?<=[;,{}()\[\]]) (?://.*|/\*.*\*/)$"  # behind code
    r"|/\*\* @type (?:(?!\*/).)*\*/ ",  # before what they give a type
    re.MULTILINE,
)
_WHITE_SPACE = re.compile(r"^[ \n]+|[,;]?\n[ \n]*(?=[})\]])", re.MULTILINE)
"""Indentation, empty lines, and the ends of lines before a closing bracket."""
_CONTINUED = re.compile(r"(?<=[,;{(\[=?:])\n|(?<=&&|\|\||=>)\n|\n(?=[.?:]|&&|\|\|)")
"""The ends of lines behind or before which a script cannot end a statement."""
_SPACED = re.compile(
    r" (=>|===|!==|&&|\|\||\?\??|[-+]=) "
    r"|(?<=[({,=>t]\{) (?=[\w.])|(?<=[\w\])]) (?=\}(?:[)},;:]| = ))"  # in braces
    r"|(?:(?<=\))|(?<=\bif)|(?<=\bfor)|(?<=\bconst)|(?<=\breturn)) (?=[\[{(])"
)
"""Spaces around operators and before brackets, which end nothing."""
_DEFINED = re.compile(r"\b((?:const|let)(?: [\w$]+|\[[^\]=\n`]*\]|\{[^}=\n`]*\})) = ?")
"""Definitions, with the spaces around their sign."""
_PARAMETERS = re.compile(r"\bfunction\*? \w+\([\w, ={}\[\]]+\)|\([\w, {}\[\]]+\)=>")
"""Names of what functions take, between parentheses."""

_STYLE_SPACES = re.compile(r"\s*([{};,])\s*|(?<=:) ")
"""Spaces around signs of a style sheet, and behind the colon of a declaration."""


@dataclass(frozen=True)
class PageLayout:
    """A layout on a page.

    Attributes:
        placed: the layout over its type; the rules of its release hold when it is edited.
        name: its name on the page, such as the alias in a dump.
        line: the line of a dump that defines it, from 1.
        uses: the lines of the dump that use it.

    Raises:
        LayoutError: the layout is too large for a browser.
    """

    placed: PlacedLayout
    name: str
    line: int | None = None
    uses: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_sizes(self.placed)

    def embedded(self) -> dict[str, Any]:
        """Return the data of a page."""
        return {
            "name": self.name,
            **embedded(self.placed),
            "line": self.line,
            "uses": self.uses,
        }


@dataclass(frozen=True)
class EmbeddedDump:
    """The dump that the layouts of a page come from.

    Attributes:
        name: name of its file.
        text: the whole text.
        modules: the data of each module from `tt_layout.page.dump.module_data`.
        programs: file of the program -> pieces of its text, each with the number of its first line.
        line: the line that the page opens on; None for that of the first finding.
        passes: for a dump of passes, those that changed the cost.
        assembly: assembly of its kernel, if available: name, text, spills, places of the program,
            and first line, last line and place of each piece.
    """

    name: str
    text: str
    modules: Sequence[dict[str, Any]] = ()
    programs: Mapping[str, Sequence[tuple[int, str]]] = field(default_factory=dict)
    line: int | None = None
    passes: Sequence[dict[str, Any]] = ()
    assembly: dict[str, Any] | None = None


def build(
    layouts: Sequence[PageLayout],
    *,
    title: str = "tt-layout",
    dump: EmbeddedDump | None = None,
    target: str | None = None,
    is_pair: bool = False,
    is_multiplied: bool = False,
    operand: str | None = None,
) -> str:
    """Return the page that shows layouts, as the text of one HTML file.

    Args:
        layouts: at least one; the first is shown first.
        title: title of the page until a layout is shown.
        dump: the dump that the layouts come from.
        target: the GPU of shared memory, a name of `tt_layout.hardware.TARGETS`.
        is_pair: whether the two layouts are compared from the start.
        is_multiplied: whether multiplications are shown from the start.
        operand: the element type of their A and B; None for the usual one.

    Raises:
        LayoutError: there is no layout, or no such target.
    """
    if not layouts:
        message = "a page needs at least one layout"
        raise LayoutError(f"{message}; tt-layout page makes one in which layouts are typed")
    data = {
        "layouts": [layout.embedded() for layout in layouts],
        "dump": asdict(dump) if dump is not None else None,
        "isPair": is_pair,
        "isMultiplied": is_multiplied,
        "operand": operand,
        "playground": None,
    }
    return filled(data | known_data(target), title)


def known_data(target: str | None) -> dict[str, Any]:
    """Return the data of every page: GPUs, colours, releases, encodings, needs of notations.

    Args:
        target: the GPU of shared memory; None for the usual one.

    Raises:
        LayoutError: there is no such target.
    """
    chosen = [] if target is None else [find_target(target)]
    parameters: list[Any] = []
    return {
        "targets": list(_embedded_targets((*ROWS, *chosen))),
        "palette": {"cells": CELLS, "shades": SHADES},
        "usualTargets": list(dict.fromkeys(row.name for row in (*chosen, *USUAL_TARGETS))),
        "releases": [str(release) for release in Release],
        **encoding_rules(),
        **{
            name: notation.page(SCRIPTS_RELEASE, parameters)
            for name, notation in NOTATIONS.items()
            if notation.page is not None
        },
        "parameters": parameters,
    }


def filled(data: dict[str, Any], title: str) -> str:
    """Fill the template of the page with data."""
    script = page_script(has_dump=data["dump"] is not None)
    # the content security policy allows only this script
    digest = hashlib.sha256(script.encode()).digest()
    parts = {
        "title": html.escape(safe(title)),
        "version": html.escape(__version__),
        "style": _style(),
        "script": script,
        "script-hash": f"sha256-{base64.b64encode(digest).decode()}",
        "data": _embeddable(data),
    }
    template = _compact(template_text("page.html"))
    # In one pass, so that a marker in a name or an attribute stays what it is.
    return re.sub(r"\{\{([a-z-]+)\}\}", lambda match: parts[match[1]], template)


def _embedded_targets(rows: Iterable[Target]) -> Iterator[dict[str, Any]]:
    """Yield the data of GPUs; for one that equals another only its names."""
    first: dict[str, str] = {}
    for row in {row.name: row for row in rows}.values():
        names = {"name": row.name, "title": row.title, "chips": row.chips}
        facts = _embedded_target(row)
        like = first.setdefault(repr(facts), row.name)
        yield names | (facts if like == row.name else {"like": like})


def _embedded_target(target: Target) -> dict[str, Any]:
    """Return the data of a GPU, with phases of stores if they differ from those of loads."""
    stores = {"storePhases": _embedded_phases(target.store_phases)}
    return {
        "lanes": target.lanes,
        **({"otherLanes": target.other_lanes} if target.other_lanes else {}),
        "banks": target.banks,
        "bankBytes": target.bank_bytes,
        "maxVectorBytes": target.max_vector_bytes,
        "loadPhases": _embedded_phases(target.load_phases),
        **(stores if target.store_phases != target.load_phases else {}),
        "matrixPhase": target.matrix_phase._asdict(),
        "mergesWideLoads": target.merges_wide_loads,
        "pairsAccesses": target.pairs_accesses,
        "transposingReads": {
            size: {
                "name": read.name,
                "widthBytes": read.width_bytes,
                "addresses": read.addresses,
            }
            for size, read in target.transposing_reads.items()
        },
        "mnemonics": target.mnemonics,
        "cycle": target.cycle,
        "sums": _embedded_sums(target),
        "matrixInstructions": sorted(target.matrix_instructions),
        "source": target.source,
        "verified": target.verified,
        "standing": target.standing,
    }


def _embedded_sums(target: Target) -> list[int | str] | None:
    """Return how a reduction adds: element widths added in pairs, and instructions between lanes.

    None where it is not documented.
    """
    if target.is_intel:
        return None
    ways = {
        "rows": target.adds_rows,
        "swaps": bool(target.swapped_lanes),
        "redux": target.combines_lanes,
    }
    return [*target.packed_sums, *(way for way, is_there in ways.items() if is_there)]


def _embedded_phases(table: PhaseTable) -> dict[int, dict[str, Any]]:
    return {width: phase._asdict() for width, phase in table.items()}


def _embeddable(data: Any) -> str:
    """Return JSON that cannot end the element around it.

    Example:
        >>> _embeddable("</script>")
        '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def template_text(name: str) -> str:
    """Return a part of the page by the name of its file."""
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


@cache
def page_script(*, has_dump: bool) -> str:
    """Return the scripts in one function, so that they define no global names."""
    names = [name for name in SCRIPTS if has_dump or name not in OF_DUMPS]
    body = re.sub(_CONTINUED, "", _compact("\n".join(map(template_text, names))))
    body = re.sub(_SPACED, lambda match: match[1] or "", body)
    body = re.sub(_DEFINED, r"\1=", body)
    body = re.sub(_PARAMETERS, lambda match: match[0].replace(", ", ","), body)
    return f'(() => {{\n"use strict";\n{body}}})();\n'


@cache
def _style() -> str:
    """Return the style sheet without insignificant spaces, outside strings."""
    strings = re.split(r'("[^"]*")', _compact(template_text("page.css")))
    strings[::2] = [_STYLE_SPACES.sub(r"\1", part) for part in strings[::2]]
    return "".join(strings).replace(";}", "}")


def _compact(text: str) -> str:
    """Return a script, style or page without comments and indentation."""
    return re.sub(_WHITE_SPACE, "", re.sub(_COMMENTS, "", text))
