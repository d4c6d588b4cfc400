"""The kinds of pages there are: of a layout, a pair, an access, a multiplication, a dump, none.

The file of each is named alike in every clone, so that its looks are, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from scaled_dumps import DUMPS, LINE

from browser.kinds import KINDS
from tt_layout.audit.values.given import parse_values
from tt_layout.encodings.parsing import parse_layout
from tt_layout.mlir.source import Source
from tt_layout.mlir.types import parse_type
from tt_layout.page.dump import page_of, page_of_dump
from tt_layout.page.playground import playground
from tt_layout.placement import place

KERNELS = Path(__file__).parent.parent.parent / "examples" / "kernels"
_DUMP = KERNELS / "matmul-sm80.ttgir"
MATMUL = Source(_DUMP.read_text(encoding="utf-8"), _DUMP.name)
ROWS = (
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)
OPERAND = f"#ttg.dot_op<{{opIdx = 0, parent = {KINDS['nvidia_mma_v2'][0]}, kWidth = 2}}>"
TENSOR, BUFFER = "tensor<64x64xf16>", "!ttg.memdesc<64x64xf16>"


def _of(**layouts: tuple[str, str]) -> str:
    placed = {
        name: place(parse_layout(attribute), parse_type(over))
        for name, (attribute, over) in layouts.items()
    }
    return page_of(placed)


LONG = "x" * 120
"""A name that has no place to break."""


def with_long_names(dump: Source) -> Source:
    """Return a dump in which the file, functions, layouts and values have long names."""
    named = r"([@#%](?:matmul|blocked|shared|mma|rows|total))(?!_memory)"
    return Source(re.sub(named, rf"\1{LONG}", dump.text), f"/{LONG}/{dump.name}")


def with_passes(dump: Source, *names: str) -> Source:
    """Return a dump as it is before each of some passes, in one file."""
    headers = [f"// -----// IR Dump Before {name} ({name}) //----- //\n" for name in names]
    return Source("".join(header + dump.text for header in headers), dump.name)


_MADE: dict[str, Callable[[], str]] = {
    "layout": lambda: _of(layout=KINDS["nvidia_mma_v2"]),
    "pair": lambda: _of(before=(ROWS, TENSOR), after=(KINDS["nvidia_mma_v2"][0], TENSOR)),
    "access": lambda: _of(
        swizzled_shared=(KINDS["swizzled_shared"][0], BUFFER), dot_op=(OPERAND, TENSOR)
    ),
    "multiplication": lambda: page_of(
        {"layout": place(parse_layout(KINDS["amd_mfma"][0]), parse_type(KINDS["amd_mfma"][1]))},
        is_multiplied=True,
    ),
    "scaled": lambda: page_of_dump(Source(DUMPS["mfma"], "scaled.ttgir"), [], line=LINE).html,
    "playground": playground,
    "dump": lambda: page_of_dump(MATMUL, [], given=parse_values(["K=4096"])).html,
    "names": lambda: page_of_dump(with_long_names(MATMUL), []).html,
    "passes": lambda: page_of_dump(with_passes(MATMUL, "TritonGPUCoalesce", "CSE"), []).html,
}
PAGES = tuple(_MADE)


@cache
def page_named(name: str) -> str:
    """Return the text of a page, one of `PAGES`."""
    return _MADE[name]()
