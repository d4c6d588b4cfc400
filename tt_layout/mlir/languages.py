"""Languages that people take for a dump: which one a text is in, and what to give instead."""

from __future__ import annotations

import re
from typing import NamedTuple

from tt_layout.errors import FileLocation, NothingFoundError
from tt_layout.mlir.source import Source

MAX_BEGINNING = 1 << 16
"""Characters of a text in which the signs of a language are looked for."""


class Language(NamedTuple):
    """A language that has no layouts.

    Attributes:
        name: of the language.
        sign: a line that texts in it have.
        instead: what to give instead.
    """

    name: str
    sign: re.Pattern[str]
    instead: str


def _sign(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


BESIDE = "give the .ttgir beside it"
KERNELS = "give the .ttgir of its Triton kernels"
LAYOUT = "give a layout of it: tt-layout LAYOUT"

LANGUAGES = (
    Language("PTX", _sign(r"^\s*\.version \d+\.\d+\s*$|^\s*\.target sm_\d+"), BESIDE),
    Language("AMD assembly", _sign(r"^\s*\.amdgcn_target |^\s*\.amdhsa_kernel "), BESIDE),
    Language("SASS", _sign(r"^\s*/\*[0-9a-f]{4,}\*/\s+\S|^\s*Function : \S"), BESIDE),
    Language(
        "LLVM IR", _sign(r"^(?:target (?:triple|datalayout) = |define .*@\S+\(.*\{$)"), BESIDE
    ),
    Language("HLO", _sign(r"^HloModule |^\s*ENTRY %?[\w.]+ (?:\(.*)?\{$"), KERNELS),
    Language("StableHLO", _sign(r"^\s*(?:%\S+ = )?\"?(?:stablehlo|mhlo)\.\w+"), KERNELS),
    Language(
        "Python",
        _sign(r"^\s*@(?:triton|gluon)\.(?:jit|autotune)|^(?:import|from) (?:triton|torch)\b"),
        "give the .ttgir that it compiles to, or run it under python -m tt_layout.watching",
    ),
    Language(
        "CUDA C++",
        _sign(r"^\s*#include\s*[<\"]|^\s*__global__ |^\s*using namespace (?:cute|cutlass)\b"),
        LAYOUT,
    ),
    Language("a CuTe expression", _sign(r"\b(?:cute::|make_(?:layout|tiled_\w+)\()"), LAYOUT),
    Language("JSON", _sign(r"\A\s*[\[{]\s*(?:[\]}\"\[{\d-]|$)"), "give the dump in a field of it"),
)
"""The languages, the most telling signs first."""


def language_of(text: str) -> Language | None:
    """Tell which language without layouts a text is in; None where no sign of one is in it.

    Example:
        >>> language_of(".version 8.4\\n.target sm_90a\\n").name
        'PTX'
    """
    beginning = text[:MAX_BEGINNING]
    return next((language for language in LANGUAGES if language.sign.search(beginning)), None)


def no_mlir(source: Source) -> NothingFoundError:
    """Return the error for a text without MLIR, which says what it is where that is known.

    Example:
        >>> print(no_mlir(Source("define void @f() {\\n}", "f.llir")))
        f.llir: error: this is LLVM IR: give the .ttgir beside it
    """
    language = language_of(source.text)
    if language is None:
        message = "found no MLIR in it: no module, function, layout alias or tensor type"
    else:
        message = f"this is {language.name}: {language.instead}"
    return NothingFoundError(message, FileLocation(source.name))
