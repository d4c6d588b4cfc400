"""Encodings as data for the page's scripts: spellings, rules, and instructions.

They come from the tables of the encodings, so that nothing is written twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from tt_layout.analyses.layouts import shortest
from tt_layout.analyses.multiplications import instruction_operands as operands
from tt_layout.analyses.multiplications.matrix_arrangement import AXES, NAMES, PLACES, STRONG_LINES
from tt_layout.analyses.multiplications.matrix_instructions import K_BITS, MATRIX_LANES
from tt_layout.encodings import FORMS, Encoding
from tt_layout.encodings import instruction_tiles as tiles
from tt_layout.encodings.dot_op import wmma_widths
from tt_layout.encodings.forks import PLACEHOLDERS, WRAPPERS
from tt_layout.encodings.forms import (
    BASES,
    BOOLEAN,
    INTEGER,
    INTEGERS,
    LAYOUT,
    PAIRS,
    REQUIRED,
    BasesByDimKind,
    Form,
    Key,
    Kind,
    Style,
    WordKind,
)
from tt_layout.encodings.nvmma_shared import NvmmaShared
from tt_layout.encodings.stated_rules import Rule
from tt_layout.placement import DEFAULT_ALIGNMENT
from tt_layout.releases import Release

SCRIPTS_RELEASE = Release.V3_9
"""The release by whose names the scripts call the keys of attributes."""

MAX_CELLS = 1 << 18
"""Elements of D that the page shows as a multiplication."""

_KINDS: dict[Kind, str] = {
    INTEGER: "integer",
    BOOLEAN: "boolean",
    INTEGERS: "integers",
    BASES: "bases",
    PAIRS: "pairs",
    LAYOUT: "layout",
}


@cache
def encoding_rules() -> dict[str, Any]:
    """Return the spellings of all attributes in all releases, and the tiles of instructions."""
    keys: list[Any] = []
    return {
        "encodings": spellings(keys),
        "keys": keys,
        "wrappers": sorted(WRAPPERS),
        "placeholders": sorted(PLACEHOLDERS),
        "styles": {style.name: style.value for style in Style},
        "tiles": _tiles(),
        "multiplying": _multiplying(),
        "shortest": _shortest(),
    }


def _shortest() -> dict[str, Any]:
    """Return the candidates for an attribute with parameters that equals a layout of bases."""
    return {
        "maxRank": shortest.MAX_RANK,
        "alignment": DEFAULT_ALIGNMENT,
        "swizzles": [[width, _core_alignment(width)] for width in shortest.SWIZZLE_BYTES],
        "coreBits": shortest.CORE_BITS,
        "wgmmaColumns": shortest.WGMMA_COLUMNS,
        "mfmaShapes": shortest.MFMA_SHAPES,
        "mfmaTiles": shortest.MFMA_TILES,
        "kWidths": {cls.mnemonic: widths for cls, widths in shortest.K_WIDTHS.items()},
    }


def _core_alignment(width: int) -> int:
    """Return the alignment of core matrices of a swizzle, in bytes."""
    cores = NvmmaShared(swizzling_byte_width=width, element_bit_width=8, transposed=False)
    return cores.alignment


def spellings(keys: list[Any]) -> list[dict[str, Any]]:
    """Return every encoding with its rules of refusal and its forms, oldest first.

    Args:
        keys: filled with the distinct keys of forms, which refer to them by index.  A key is its
            name, its kind, its name in the scripts, and the meaning of its absence; the last is
            left out if the key is required.
    """
    classes = dict.fromkeys(cls for forms in FORMS.values() for _, cls in forms)
    return [
        {
            "mnemonic": cls.mnemonic,
            "memory": cls.memory_space,
            "rules": [_rule(rule, _names(cls)) for rule in cls.rules],
            "forms": [_form(form, cls, keys) for form in cls.forms],
        }
        for cls in classes
    ]


def _names(cls: type[Encoding]) -> dict[str, str]:
    """Return the names of fields in the scripts."""
    form = cls.form_in(SCRIPTS_RELEASE) or cls.forms[-1]
    return {key.field: key.name for key in form.keys if key.field is not None}


def _rule(rule: Rule, names: Mapping[str, str]) -> list[Any]:
    """Return a rule of refusal, with the names of fields in the scripts."""
    when = [names[rule.when[0]], rule.when[1]] if rule.when is not None else None
    releases = [str(rule.first), str(rule.last)]
    return [names[rule.field], rule.must, rule.allowed, releases, when]


def _form(form: Form, cls: type[Encoding], keys: list[Any]) -> dict[str, Any]:
    names = _names(cls)
    own_keys = [_key(key, names.get(key.field or "", key.name)) for key in form.keys]
    keys += [key for key in own_keys if key not in keys]
    return {
        "name": form.name,
        "since": str(form.since),
        "style": form.style.name,
        "keys": [keys.index(key) for key in own_keys],
    }


def _key(key: Key, own_name: str) -> list[Any]:
    absent = [] if key.default is REQUIRED else [key.default]
    return [key.name, _kind(key.kind), own_name, *absent]


def _kind(kind: Kind) -> Any:
    if isinstance(kind, WordKind):
        return {"words": dict(kind.symbols)}
    if isinstance(kind, BasesByDimKind):
        return {"inputs": kind.dims}
    return _KINDS[kind]


def _with_releases(instructions: Mapping[Any, Release]) -> list[Any]:
    """Return pairs of an instruction and the first release that has it."""
    return [[shape, str(since)] for shape, since in instructions.items()]


def _multiplying() -> dict[str, Any]:
    """Return how the operands of an instruction follow from its result, and how they are drawn."""
    matrices = {
        name: {"axes": AXES[name][::-1], "place": place[::-1]} for name, place in PLACES.items()
    }
    return {
        "matrices": matrices,
        "names": NAMES,
        "strongLines": STRONG_LINES,
        "maxCells": MAX_CELLS,
        "elements": operands.ELEMENTS,
        "kBits": K_BITS,
        "lanes": MATRIX_LANES,
        "registerBits": operands.REGISTER_BITS,
        "widestBits": operands.WIDEST_BITS,
        "width": operands.UNSCALED_WIDTH,
        "scaledWidth": operands.SCALED_WIDTH,
    }


def _tiles() -> dict[str, Any]:
    """Return the tiles of instructions, and the instructions of the releases."""
    return {
        "mma": {
            "result": tiles.MMA_RESULT,
            "operands": tiles.MMA_OPERANDS,
            "operandsOf8Rows": tiles.MMA_OPERANDS_OF_8_ROWS,
            "volta": tiles.VOLTA_RESULT,
            "voltaReads": tiles.VOLTA_READS,
        },
        "mfma": {
            "instructions": _with_releases(tiles.MFMA_INSTRUCTIONS),
            "lanes": tiles.MFMA_LANES,
            "runs": tiles.MFMA_RUNS,
            "result": tiles.MFMA_RESULT,
            "operand": tiles.MFMA_OPERAND,
            "longOperand": tiles.MFMA_LONG_OPERAND,
        },
        "wmma": {
            "instructions": {
                version: _with_releases(instructions)
                for version, instructions in tiles.WMMA_INSTRUCTIONS.items()
            },
            "widths": {
                str(r): [wmma_widths(v, r) for v in tiles.WMMA_INSTRUCTIONS] for r in Release
            },
            "results": tiles.WMMA_RESULTS,
            "operands": tiles.WMMA_OPERANDS,
        },
        "dpas": {"result": tiles.DPAS_RESULT, "operands": tiles.DPAS_OPERANDS},
        "blockLoad": tiles.BLOCK_LOAD,
        "tensorMemory": tiles.TENSOR_MEMORY,
        "scales": tiles.SCALES,
    }
