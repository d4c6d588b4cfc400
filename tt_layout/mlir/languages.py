"""Languages that are mistaken for a dump: detection, and advice on what to give instead."""

from __future__ import annotations

import re

from tt_layout.errors import FileLocation, LayoutError, NothingFoundError
from tt_layout.mlir.source import Source, read_source
from tt_layout.tuples import NamedTuple

MAX_BEGINNING = 1 << 16
"""Characters of a text in which the signs of a language are looked for."""

MAX_FIRST = 1 << 10
"""Characters in which most dumps of Triton have named it: the rest need not be searched."""


class Language(NamedTuple):
    """A language without layouts.

    Attributes:
        name: name of the language.
        sign: pattern of a line in it, compiled on use, since few runs need it.
        instead: what to give instead.
    """

    name: str
    sign: str
    instead: str

    def is_in(self, text: str) -> bool:
        """Tell whether a text has the sign."""
        return re.search(self.sign, text, re.MULTILINE) is not None


def _sign(pattern: str) -> str:
    """Keep the spaces before a sign on one line: many empty lines would take quadratic time."""
    return pattern.replace(r"^\s*", r"^[ \t]*")


BESIDE = "give the .ttgir beside it"
KERNELS = "give the .ttgir of its Triton kernels"
NO_TRITON = "it has no layouts of Triton's: give the .ttgir of a kernel"
LAYOUT = "give a layout of it: tt-layout LAYOUT"

LANGUAGES = (
    Language(
        "SPIR-V",
        _sign(
            r"^; SPIR-V\b|^\s*(?:%\w+ = )?Op(?:Capability|MemoryModel|EntryPoint|Type[A-Z]\w*)\b"
        ),
        BESIDE,
    ),
    Language("vISA", _sign(r"^\s*\.kernel \"|^\s*\.decl V\d+|\blsc_(?:load|store)\.\w"), BESIDE),
    Language(
        "PTX",
        _sign(
            r"^\s*\.version \d+\.\d+\s*$|^\s*\.target sm_\d+"
            r"|^\s*\.(?:visible )?\.?(?:entry|reg|func)\b"
            r"|^\s*(?:@!?%p\d+ )?[a-z][\w]*(?:\.[\w:]+)+[ \t]+[{[%][^=\n]*;"
            r"|\A\s*(?:w?g?mma|ldmatrix|stmatrix|tcgen05|cp|mbarrier)\.(?:\w|::)+(?:\.\w|\s|$)"
            r"|\A\s*(?:wgmma|ldmatrix|stmatrix|tcgen05|mbarrier)\s*\Z"
        ),
        BESIDE,
    ),
    Language(
        "CUDA Tile IR",
        _sign(r"^[^/\n]*\bcuda_tile\.\w"),
        "it has no layouts: give the .ttgir that Triton's own back end makes of the kernel",
    ),
    Language(
        "AMD assembly",
        _sign(
            r"^\s*\.amdgcn_target |^\s*\.amdhsa_kernel "
            r"|\A\s*(?:v_(?:mfma|wmma|smfmac)|ds_(?:read|write|load|store)|buffer_load)_\w+"
        ),
        BESIDE,
    ),
    Language(
        "SASS",
        _sign(
            r"^\s*/\*[0-9a-f]{4,}\*/\s+\S|^\s*Function : \S"
            r"|\A\s*(?:LDSM|STSM|LDGSTS|[HIQ]G?MMA|UTC[HIQO]MMA)(?:\.\w+)*(?:\s|$)"
        ),
        BESIDE,
    ),
    Language(
        "LLVM IR",
        _sign(
            r"^(?:target (?:triple|datalayout) = |define [^@\n]*@[^\s(]+\(|declare .*@|; ModuleID)"
            r"|^\s*(?:%\S+ = (?:tail )?[a-z]+ [^:\n]*$|store \S+ \S+, ptr )"
        ),
        BESIDE,
    ),
    Language(
        "HLO",
        _sign(
            r"^HloModule |^\s*ENTRY %?[\w.]+ (?:\(.*)?\{$"
            r"|^\s*(?:ROOT )?%?[\w.-]+ = \(?[a-z]+\d+\[[\d,]*\]\S* [\w-]+\("
        ),
        KERNELS,
    ),
    Language("StableHLO", _sign(r"^\s*(?:%\S+ = )?\"?(?:stablehlo|mhlo)\.\w+"), KERNELS),
    Language(
        "MLIR of IREE",
        _sign(r"(?:^|[\s#!\"])(?:hal|iree_codegen|iree_gpu)\.\w+"),
        KERNELS,
    ),
    Language("MLIR of linalg", _sign(r"^\s*(?:%\S+ = )?\"?linalg\.\w+"), KERNELS),
    Language(
        "Python",
        _sign(
            r"^\s*@(?:triton|gluon)\.(?:jit|autotune)|^(?:import|from) [a-z_]\w*"
            r"|^\s*def \w+\(|\A\s*lambda\b"
        ),
        "give the .ttgir that it compiles to, or run it under python -m tt_layout.watching",
    ),
    Language(
        "Metal",
        _sign(r"#include <metal_stdlib>|^\s*using namespace metal\b|\[\[thread_position_in_"),
        NO_TRITON,
    ),
    Language("OpenCL C", _sign(r"^\s*__kernel\b|\b__(?:global|local) \w+ ?\*"), NO_TRITON),
    Language("WGSL", _sign(r"^\s*@(?:group\(\d+\)|compute\b)"), NO_TRITON),
    Language(
        "CUDA C++",
        _sign(
            r"^\s*#(?:include\s*[<\"]|pragma |define )|^\s*__(?:global|device)__ |\bcutlass::"
            r"|^\s*using namespace (?:cute|cutlass)\b"
        ),
        LAYOUT,
    ),
    Language("a CuTe expression", _sign(r"\b(?:cute::|make_(?:layout|tiled_\w+)\()"), LAYOUT),
    Language(
        "CUDA C++", _sign(r"^\s*(?:template\s*<|using \w+\s*=|(?:const )?auto \w+\s*=)"), LAYOUT
    ),
    Language(
        "a type of HLO",
        _sign(r"\A\s*(?:pred|bf16|[fsuc]\d+)\[[\d,]*\]\{"),
        "it orders dimensions in memory; give the .ttgir of its Triton kernels",
    ),
    Language(
        "a type",
        _sign(r"\A\s*(?:tensor|memref|vector)<"),
        "give the layout in it, and it beside it",
    ),
    Language(
        "an attribute of XeGPU",
        _sign(r"\A\s*#?xegpu\.(?:slice|layout)\b"),
        "it spreads vectors of MLIR's over sub-groups; give the .ttgir of a kernel",
    ),
    Language(
        "the base class of TLX's layouts",
        _sign(r"\A\s*#?(?:\w+\.)*tlx\.layout_encoding\b"),
        "give one of its subclasses, such as tlx.swizzled_shared_layout_encoding(..)",
    ),
    Language("JSON", _sign(r"\A\s*[\[{]\s*(?:[\]}\"\[{\d-]|$)"), "give the dump in a field of it"),
)
"""The languages, the most telling signs first."""


OTHER_MLIR = ("StableHLO", "MLIR of IREE", "MLIR of linalg")
"""Names of languages that are dialects of MLIR."""
_OTHER_WORDS = ("hlo.", "hal.", "iree_", "linalg.")
"""What one of is in each text in one of them."""

DUMPS = (
    Language(
        "a dump",
        _sign(r"#(?:ttg|triton_gpu)\.|^#\w+ = |\"?(?:ttg|triton_gpu)\."),
        "write it into a file: tt-layout FILE",
    ),
    Language("TTIR", _sign(r"\btt\.(?:func|load|store|dot|reduce|splat|addptr)\b"), BESIDE),
    Language(
        "MLIR",
        _sign(r"^\s*(?:builtin\.)?module\b|^\s*(?:%\S+ = )?\"?[a-z_]+\.[a-z_]\w*\"?[ (]"),
        BESIDE,
    ),
)
"""Languages with layouts of their own, or before layouts, the most telling signs first."""


def language_of(text: str) -> Language | None:
    """Return the language without layouts that a text is in; None if it has the sign of none.

    Example:
        >>> language_of(".version 8.4\\n.target sm_90a\\n").name
        'PTX'
    """
    beginning = text[:MAX_BEGINNING]
    return next((language for language in LANGUAGES if language.is_in(beginning)), None)


NO_ALIAS = "no alias in the file is a layout"
NO_MLIR = "found no MLIR in it: no module, function, layout alias or tensor type"


def no_mlir(source: Source, message: str = NO_MLIR) -> NothingFoundError:
    """Return the error for a text without MLIR, with its language where that is known.

    Args:
        source: the text.
        message: the message for an unknown language.

    Example:
        >>> print(no_mlir(Source("define void @f() {\\n}", "f.llir")))
        f.llir: error: this is LLVM IR: give the .ttgir beside it
    """
    language = _other_language(source.text) or _other_mlir(source.text)
    if language is not None:
        message = f"this is {language.name}: {language.instead}"
    return NothingFoundError(message, FileLocation(source.name))


def read_mlir(path: str) -> Source:
    """Read a file that should have MLIR in it.

    Args:
        path: the file, or ``-`` for standard input.

        Raises:
            LayoutError: it cannot be read.
            NothingFoundError: it is in another language, and has nothing of Triton's.
    """
    source = read_source(path)
    refuse_file(source)
    return source


def refuse_file(source: Source) -> None:
    """Raise an error for a file in another language where MLIR is expected.

    Raises:
        NothingFoundError: it is in one, and has nothing of Triton's.

    Example:
        >>> refuse_file(Source(".version 8.4\\n.target sm_90a\\n", "f.ptx"))
        Traceback (most recent call last):
        tt_layout.errors.NothingFoundError: f.ptx: error: this is PTX: give the .ttgir beside it
    """
    if _other_language(source.text) is not None:
        raise no_mlir(source)


def refuse_other_mlir(source: Source) -> None:
    """Raise an error for a text in an MLIR dialect that is not part of Triton's compiler.

    Raises:
        NothingFoundError: it is in one of `OTHER_MLIR`.

    Example:
        >>> refuse_other_mlir(Source("%0 = stablehlo.add %a, %b : tensor<8xf32>", "f.mlir"))
        Traceback (most recent call last):
        tt_layout.errors.NothingFoundError: f.mlir: error: this is StableHLO: give the .ttgir of \
its Triton kernels
    """
    if _other_mlir(source.text) is not None:
        raise no_mlir(source)


def _other_mlir(text: str) -> Language | None:
    """Return the foreign MLIR dialect of a text without anything of Triton's; None for none."""
    if _NAMED_BY_TRITON.search(text, 0, MAX_FIRST) is not None:
        return None
    beginning = text[:MAX_BEGINNING]
    if not any(word in beginning for word in _OTHER_WORDS):  # found sooner than signs
        return None
    others = (language for language in LANGUAGES if language.name in OTHER_MLIR)
    found = next((language for language in others if language.is_in(beginning)), None)
    return found if found is not None and _NAMED_BY_TRITON.search(text) is None else None


def _other_language(text: str) -> Language | None:
    """Return the language of a text without anything of Triton's; None if it is unknown."""
    return None if _is_of_triton(text) else language_of(text)


def _is_of_triton(text: str) -> bool:
    """Tell whether a text has signs of a Triton dump; most other texts have none of its words."""
    return any(word in text for word in _WORDS) and _OF_TRITON.search(text) is not None


_DIALECTS = ("tt", "ttg", "ttng", "triton_gpu", "ttig", "amdg")
_WORDS = (*(f"{dialect}." for dialect in _DIALECTS), " = #")
_NAMED_BY_TRITON = re.compile(rf"(?:^|[\s\"#!])(?:{'|'.join(_DIALECTS)})\.\w", re.M)
_OF_TRITON = re.compile(rf"{_NAMED_BY_TRITON.pattern}|^#\w+ = #", re.M)
"""What dumps of Triton have, of any era."""


_FOREIGN_NUMBER_SIGN = re.compile(
    rf"\s*#(?:\s|(?:include|pragma|define|if|ifdef)\b|(?!(?:{'|'.join(_DIALECTS)})\.)\w+\.\w)"
)
"""The beginning of a line of a preprocessor, a comment, or an attribute that is not Triton's."""


def refuse_language(text: str, name: str) -> None:
    """Raise an error for a text in another language where a layout is expected.

    Raises:
        LayoutError: it is in one; the message says what to give instead.

    Example:
        >>> refuse_language("#include <cuda.h>", "-l")
        Traceback (most recent call last):
        tt_layout.errors.LayoutError: -l:1:1: error: this is CUDA C++, no layout: give a layout \
of it: tt-layout LAYOUT
        #include <cuda.h>
        ^
    """
    if not text.lstrip().startswith("#") or _FOREIGN_NUMBER_SIGN.match(text):
        _refuse(_language_or_mlir(text), Source(text, name), "layout")


def refuse_foreign(source: Source, expected: str, *, has_cute: bool) -> None:
    """Raise an error for a text in another language.

    Args:
        source: the text.
        expected: description of the expected text.
        has_cute: whether the expected text may contain CuTe expressions.

    Raises:
        LayoutError: it is in one; the message says what to give instead.

    Example:
        >>> ptx = Source(".version 8.4\\n.target sm_90a\\n", "EXPRESSION")
        >>> refuse_foreign(ptx, "expression of CuTe", has_cute=True)
        Traceback (most recent call last):
        tt_layout.errors.LayoutError: EXPRESSION:1:1: error: this is PTX, no expression of CuTe: \
give the .ttgir beside it
        .version 8.4
        ^
    """
    language = _language_or_mlir(source.text)
    if language is None or not (has_cute and language.instead == LAYOUT):
        _refuse(language, source, expected)


def _language_or_mlir(text: str) -> Language | None:
    beginning = text[:MAX_BEGINNING]
    mlir = (language for language in DUMPS if language.is_in(beginning))
    return next(mlir, None) if _IN_MLIR.search(beginning) else language_of(text)


def _refuse(language: Language | None, source: Source, expected: str) -> None:
    """Raise an error for the language of a text, except for JSON, which layouts may be in."""
    if language is not None and language.name != "JSON":
        start = len(source.text) - len(source.text.lstrip())
        message = f"this is {language.name}, no {expected}: {language.instead}"
        raise LayoutError(message, source.span(start, start + 1))


_IN_MLIR = re.compile(
    r"^\s*(?:builtin\.)?module\b.*\{"
    r"|^\s*(?:%\S+(?:, %\S+)* = )?\"?(?:tt|ttg|ttng|triton_gpu|scf|arith|func|amdg)\.[\w.]+[\"\s(]",
    re.MULTILINE,
)
"""What texts of MLIR have that Triton prints."""
