"""Signatures of Gluon's constructors by release.

A class of Gluon has been called with other parameters: ``ctas_per_cga, cta_split_num,
cta_order`` became ``cga_layout`` in 3.6, for one.  Each older list is a `Signature` that leads
to today's arguments, or to the encoding itself where no arguments of today express it.

Source:
    Triton 3.4.0, 3.5.1, 3.6.0, 3.7.1, 3.8.0 and 3.9.0, triton/experimental/gluon/language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tt_layout.encodings import Encoding
from tt_layout.encodings.amd_wmma import cta_layout_of
from tt_layout.encodings.cga import SPLIT_NAMES, bases_of_split
from tt_layout.encodings.padded_shared import PaddedShared
from tt_layout.encodings.parsing import parse_layout
from tt_layout.notation.gluon.constructors import CONSTRUCTORS, Arguments, Constructor
from tt_layout.releases import LATEST, Release
from tt_layout.tuples import NamedTuple

SPLIT = ("ctas_per_cga", "cta_split_num", "cta_order")
CGA = "cga_layout"
REQUIRED: Any = object()

_NESTED = (CGA, "offset_bases", "block_bases", "warp_bases", "reg_bases", "lane_bases")
_FLAT = (*SPLIT, "order", "warps_per_cta", "tiles_per_warp", "size_per_thread", "threads_per_warp")
KINDS: Mapping[str, str] = {
    **dict.fromkeys((*_NESTED, "interval_padding_pairs"), "lists of numbers"),
    **dict.fromkeys((*_FLAT, "instr_shape", "shape", "block", "cta_split_num"), "numbers"),
    **dict.fromkeys(("transposed", "fp4_padded", "two_ctas", "unpacked"), "a boolean"),
    **dict.fromkeys(("parent", "partition_layout"), "a layout"),
    **dict.fromkeys(("elem_type", "block_rep_order"), "a word"),
    "version": "a number, or numbers",
}
"""Parameter -> what it takes; any other takes a number."""
_MFMA = ("version", "instr_shape", "transposed", "warps_per_cta")


class Signature(NamedTuple):
    """Parameters of a class of Gluon.

    Attributes:
        defaults: parameter -> default, or `REQUIRED`, in order.
        last: the newest release that has it.
        update: maps its arguments to those of today, or to the encoding.
    """

    defaults: Mapping[str, Any]
    last: Release
    update: Callable[[Arguments], Arguments | Encoding] = lambda arguments: arguments


def own_name(name: str) -> str:
    """Return the name of a class without its module.

    Example:
        >>> own_name("gl.amd.AMDMFMALayout")
        'AMDMFMALayout'
    """
    return name.rpartition(".")[2]


def constructors_of(name: str) -> list[tuple[type[Encoding], Constructor]]:
    """Return the constructors of a class of Gluon, of any module."""
    return [pair for pair in CONSTRUCTORS if own_name(pair[1].name) == own_name(name)]


def signatures_of(constructor: Constructor) -> Iterator[Signature]:
    """Yield the signatures of a class, the newest first."""
    defaults = {word: constructor.optional.get(word, REQUIRED) for word in constructor.arguments}
    yield Signature(defaults, LATEST)
    yield from _OLDER.get(own_name(constructor.name), ())
    if CGA in constructor.optional and own_name(constructor.name) not in _OLDER:
        kept = {word: default for word, default in defaults.items() if word != CGA}
        yield Signature({**kept, **dict.fromkeys(SPLIT)}, Release.V3_5, _with_cga)


def _with_cga(arguments: Arguments) -> Arguments:
    """Convert the three lists of CTAs to bases."""
    rest = {word: value for word, value in arguments.items() if word not in SPLIT}
    lists_given = [arguments.get(word) for word in SPLIT]
    rank = next((len(value) for value in lists_given if value), 0)
    defaults = (1,) * rank, (1,) * rank, tuple(reversed(range(rank)))
    lists = [value or default for value, default in zip(lists_given, defaults)]
    return {**rest, CGA: bases_of_split(dict(zip(SPLIT_NAMES, lists))) if rank else ()}


def _padded_by_order(arguments: Arguments) -> Encoding:
    pairs = ", ".join(f"{n}:+{padding}" for n, padding in arguments["interval_padding_pairs"])
    written = {"order": arguments["order"]}
    written |= {key: arguments[word] for key, word in zip(SPLIT_NAMES, SPLIT) if arguments[word]}
    keys = ", ".join(f"{key} = {list(value)}" for key, value in written.items())
    text = f"#ttg.padded_shared<[{pairs}] {{{keys}}}>"
    return parse_layout(text, release=Release.V3_5, name="PaddedSharedLayout")


def _padded_by_bases(arguments: Arguments) -> Encoding:
    return PaddedShared(
        paddings=arguments["interval_padding_pairs"],
        offset=arguments["offset_bases"],
        block=arguments["block_bases"],
        rank_key=len(arguments["shape"]),
    )


def _mfma_by_type(arguments: Arguments) -> Arguments:
    """Convert the element type to its width, of which only the name is known."""
    rest = {word: value for word, value in arguments.items() if word != "elem_type"}
    is_wide = str(arguments["elem_type"]).endswith("64")
    return _with_cga({**rest, "element_bitwidth": 64 if is_wide else 32})


def _wmma_by_lists(arguments: Arguments) -> Arguments:
    warps, tiles = arguments["warps_per_cta"], arguments["tiles_per_warp"] or ()
    rest = {w: v for w, v in arguments.items() if w not in ("warps_per_cta", "tiles_per_warp")}
    register, warp = cta_layout_of(warps, tiles)
    return {**rest, "reg_bases": register, "warp_bases": warp, "rank": len(warps)}


def _tensor_memory(arguments: Arguments) -> Encoding:
    """Return the encoding of a block until 3.7, when CTAs were two numbers."""
    block_m, block_n = arguments["block"]
    keys = [f"blockM = {block_m}", f"blockN = {block_n}"]
    if "unpacked" in arguments:
        release = Release.V3_5
        keys.append(f"unpacked = {str(arguments['unpacked']).lower()}")
    else:
        release = Release.V3_7
        keys.append(f"colStride = {arguments['col_stride']}")
    keys += _splits(arguments)
    if arguments.get("two_ctas"):
        keys.append("twoCTAs = true")
    text = f"#ttng.tensor_memory_encoding<{', '.join(keys)}>"
    return parse_layout(text, release=release, name="TensorMemoryLayout")


def _scales(arguments: Arguments) -> Encoding:
    text = f"#ttng.tensor_memory_scales_encoding<{', '.join(_splits(arguments))}>"
    return parse_layout(text, release=Release.V3_7, name="TensorMemoryScalesLayout")


def _splits(arguments: Arguments) -> list[str]:
    split_m, split_n = arguments["cta_split_num"] or (1, 1)
    return [f"CTASplitM = {split_m}", f"CTASplitN = {split_n}"]


_OLDER: Mapping[str, tuple[Signature, ...]] = {
    "PaddedSharedLayout": (
        Signature(
            dict.fromkeys(
                ("interval_padding_pairs", "offset_bases", "block_bases", "shape"), REQUIRED
            ),
            Release.V3_6,
            _padded_by_bases,
        ),
        Signature(
            {"interval_padding_pairs": REQUIRED, "order": REQUIRED, **dict.fromkeys(SPLIT)},
            Release.V3_5,
            _padded_by_order,
        ),
    ),
    "AMDMFMALayout": (
        Signature(
            {
                **dict.fromkeys(_MFMA, REQUIRED),
                "elem_type": "float32",
                "tiles_per_warp": (),
                **dict.fromkeys(SPLIT),
            },
            Release.V3_5,
            _mfma_by_type,
        ),
    ),
    "AMDWMMALayout": (
        Signature(
            {
                "version": REQUIRED,
                "transposed": REQUIRED,
                "warps_per_cta": REQUIRED,
                "instr_shape": None,
                "tiles_per_warp": None,
                CGA: (),
            },
            Release.V3_6,
            _wmma_by_lists,
        ),
    ),
    "TensorMemoryLayout": (
        Signature(
            {"block": REQUIRED, "col_stride": REQUIRED, "cta_split_num": None, "two_ctas": False},
            Release.V3_7,
            _tensor_memory,
        ),
        Signature(
            {"block": REQUIRED, "unpacked": REQUIRED, "cta_split_num": None},
            Release.V3_5,
            _tensor_memory,
        ),
    ),
    "TensorMemoryScalesLayout": (Signature({"cta_split_num": None}, Release.V3_7, _scales),),
}
"""Class -> what it was called with before, the newest first."""
